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


def given_seed():
    """SEED of the environment, or a number drawn by chance: print it, so that a failure can be drawn again."""
    return int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))


def drawn(few, cases, seed):
    """Those of the cases that this run tries: `few` in a ring, from the place that the seed says; all of them where DRAWS=all."""
    cases = list(cases)
    return cases if ALL else [c for i, c in enumerate(cases) if (i - seed) % len(cases) < few]


def skip(why):
    print(f"SKIP - {why}", flush=True)


def done():
    """Last call of a test: exit status 1 if any claim failed."""
    sys.exit(1 if _failed else 0)
