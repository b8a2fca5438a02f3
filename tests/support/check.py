"""Claims of Python tests: one line a claim, "ok - ..." or "FAIL - ...", and an exit status."""
import os
import random
import sys

# Seconds after which a test takes a program for hung and ends it. No bound of speed: others may share the machine. Shorter than what
# tests/run allows, so that the test itself can say what hangs.
PATIENCE = 1500 if "debug" in os.environ.get("B", "") else 500

ALL = os.environ.get("DRAWS") == "all"     # of cases that are alike, try every one

_failed = 0


def claim(ok, sentence):
    """Prints the claim and remembers a failure. Put the measured number and the bound in the sentence."""
    global _failed
    _failed += not ok
    print(f"{'ok   -' if ok else 'FAIL -'} {sentence}", flush=True)
    return bool(ok)


def claim_fails(action, words, sentence):
    """Claims that action() raises an error whose sentence contains words (one, or a list of them)."""
    words = [words] if isinstance(words, str) else words
    try:
        action()
    except Exception as e:  # noqa: any kind; the words tell whether it is the right one
        said = str(e)
        missing = [w for w in words if w not in said]
        claim(not missing, f"{sentence}: {said}" + (f" (lacks '{missing[0]}')" if missing else ""))
    else:
        claim(False, f"{sentence}: no error")


def told(r, status, sentence, *words):
    """Claims that a finished process ended with this exit status and said these words."""
    said = r.stdout + r.stderr
    missing = [w for w in words if w not in said]
    claim(r.returncode == status and not missing, f"{sentence}: exit status {r.returncode}, must be {status}"
          + (f", lacks '{missing[0]}' in: {said[-800:]}" if missing else ""))


def claim_refused(r, output, sentence, *words):
    """Claims that a finished process ended with exit status 1, said these words, and made no output."""
    said = r.stderr + r.stdout
    claim(r.returncode == 1 and all(w in said for w in words) and not os.path.exists(output),
          f"{sentence}: refused, naming {', '.join(words)}: {said.strip()[-300:]}")


def given_seed():
    """SEED of the environment, or a number drawn by chance; printed, so that a failure can be drawn again."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
    print(f"SEED={seed}", flush=True)
    return seed


def drawn(few, cases, seed):
    """Those of the cases that this run tries: `few` in a ring, from the place that the seed says; all of them where DRAWS=all."""
    cases = list(cases)
    return cases if ALL else [c for i, c in enumerate(cases) if (i - seed) % len(cases) < few]


def skip(why):
    print(f"SKIP - {why}", flush=True)


def unsanitized(why="the shim and the address sanitizer do not go together"):
    """Ends a test here, skipped, where the build has sanitizers."""
    if "debug" in os.environ["B"]:
        skip(why)
        done()


def done():
    """Last call of a test: exit status 1 if any claim failed."""
    sys.exit(1 if _failed else 0)
