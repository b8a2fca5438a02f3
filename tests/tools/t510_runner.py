#!/usr/bin/env python3
"""The test runner counts claims, and takes crashes, silence and overtime for failures."""
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from check import claim, done

ROOT = Path(os.environ["ROOT"])
HERE = Path.cwd()
(HERE / "tree/tests").mkdir(parents=True)
shutil.copy(ROOT / "tests/run", HERE / "tree/tests/run")


def add(name, body):
    (HERE / "tree/tests" / name).write_text(body)


def run(*args, **env):
    """Exit status, output and kept scratch folders of the runner on the small tree."""
    kept = HERE / "tree/build/cpu/scratch"
    shutil.rmtree(kept, ignore_errors=True)
    env = {**os.environ, "B": str(HERE / "tree/build/cpu"), "NEED_GPU": "0", "JOBS": "1", "TEST_LIMIT": "60", **env}
    r = subprocess.run(["python3", "tree/tests/run", *args], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return r.returncode, r.stdout, sorted(p.name.split(".")[0] for p in kept.iterdir()) if kept.exists() else []


def last(out):
    return out.rstrip().split("\n")[-1]


add("t901_good.sh", 'echo "ok   - one"; echo "talk"; echo "ok   - two"; test -z "$(ls -A)" && echo "ok   - empty folder"\n'
    '[ "$PWD" = "$TMP_TEST" ] && [ -x "$PYTHON" ] && [ -d "$ROOT" ] && [ -n "$B" ] && echo "ok - environment"\n')
status, out, kept = run("good")
claim(status == 0 and last(out) == "4 passed, 0 failed, 0 skipped", f"a good test: exit 0, four claims: {last(out)}")
claim(kept == [] and "talk" not in out, "its scratch folder is removed and its chatter not shown")

add("t902_fail.sh", 'echo "ok   - one"; echo "FAIL - 3.2 is above 3.0"; exit 1\n')
status, out, kept = run("t902")
claim(status == 1 and last(out) == "1 passed, 1 failed, 0 skipped", f"a failed claim: exit 1: {last(out)}")
claim("FAIL - 3.2 is above 3.0" in out and kept == ["t902_fail"], "its sentence is shown and its folder kept")

add("t903_crash.sh", 'echo "ok   - one"; echo "before the end" >&2; kill -SEGV $$\n')
status, out, _ = run("crash")
claim(status == 1 and last(out) == "1 passed, 1 failed, 0 skipped" and "SIGSEGV" in out and "before the end" in out,
      f"a crash after a good claim is a failure that names the signal and shows the last lines: {last(out)}")

add("t904_silent.sh", "true\n")
status, out, _ = run("silent")
claim(status == 1 and last(out) == "0 passed, 1 failed, 0 skipped" and "made no claim" in out,
      "exit 0 without a claim is a failure")

add("t905_liar.sh", 'echo "FAIL - no"; exit 0\n')
status, out, _ = run("liar")
claim(status == 1 and "in spite of a FAIL" in out, "exit 0 after a FAIL is a failure and said")

add("t906_status.sh", 'echo "ok   - one"; exit 7\n')
status, out, _ = run("t906*")
claim(status == 1 and "exit status 7" in out, "exit 7 without a FAIL is a failure that says 7")

add("t907_skip.sh", 'echo "SKIP - no GPU on this machine"\n')
status, out, _ = run("skip")
claim(status == 0 and last(out) == "0 passed, 0 failed, 1 skipped" and "no GPU on this machine" in out,
      f"a skip: exit 0: {last(out)}")
status, out, _ = run("skip", NEED_GPU="1")
claim(status == 1 and last(out) == "0 passed, 1 failed, 0 skipped", f"NEED_GPU=1 makes it a failure: {last(out)}")

add("t908_unbuilt.f90", "end\n")
status, out, _ = run("unbuilt")
claim(status == 1 and "make tests" in out, "a compiled test that was not built is a failure that says what to do")

# a test that overstays, with a child in another process group, a deaf one and one in a session of its own
add("t909_late.sh", 'set -m; sleep 321 & echo $! > ../pids; trap "" TERM; '
    '(trap "" TERM; while :; do sleep 0.1; done) & echo $! >> ../pids; '
    'setsid bash -c \'echo $$ >> ../pids; exec sleep 323\' & wait\n')
PIDS = HERE / "tree/build/cpu/scratch/pids"
for limit in ("0.5", "3", "20"):               # a busy machine begins it late
    PIDS.unlink(missing_ok=True)
    status, out, _ = run("late", TEST_LIMIT=limit)
    pids = [int(p) for p in PIDS.read_text().split()] if PIDS.exists() else []
    if len(pids) == 3:
        break


def alive(pid):
    """True while the process runs; one that is dead but not yet collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


end = time.monotonic() + 60                     # far less than they would sleep
while any(alive(p) for p in pids) and time.monotonic() < end:
    time.sleep(0.05)
claim(status == 1 and f"no claim for {limit} s" in out, "a test over its limit is a failure that says the limit")
claim(len(pids) == 3 and not any(alive(p) for p in pids), f"it and its {len(pids)} children are ended")

# the limit counts from the last claim, on a machine that is busy too; talk is no claim
add("t912_steady.sh", 'for i in 1 2 3 4; do sleep 1.5; echo "ok   - $i"; done\n')
status, out, _ = run("steady", TEST_LIMIT="4")
claim(status == 0 and last(out) == "4 passed, 0 failed, 0 skipped", f"6 s with a claim every 1.5 s, limit 4 s: {last(out)}")
add("t913_talker.sh", 'echo "ok   - one"; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.5; echo "still there"; done; echo "ok   - two"\n')
status, out, _ = run("talker", TEST_LIMIT="1.5")
claim(status == 1 and last(out) == "1 passed, 1 failed, 0 skipped", f"6 s of talk after a claim, limit 1.5 s: {last(out)}")
(HERE / "tree/tests/t912_steady.sh").unlink()
(HERE / "tree/tests/t913_talker.sh").unlink()

add("t910_slow_a.sh", 'sleep 1; echo "ok   - a"\n')
add("t911_slow_b.sh", 'sleep 1; echo "ok   - b"\n')
runner = subprocess.Popen(["python3", "tree/tests/run", "slow", "good"], env={**os.environ, "B": str(HERE / "tree/stopped"), "JOBS": "1"},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while runner.poll() is None and not list((HERE / "tree").glob("stopped/scratch/*.log")):
    time.sleep(0.05)
runner.send_signal(signal.SIGTERM)
status, left = runner.wait(), os.listdir(HERE / "tree/stopped/scratch")
claim(status == 128 + signal.SIGTERM and not left, f"SIGTERM amid a test: exit status {status}, nothing is left: {left}")
status, out, _ = run("slow", JOBS="2")
together = [float(x) for x in re.findall(r"([\d.]+) s$", out, re.M)]
claim(status == 0 and last(out) == "2 passed, 0 failed, 0 skipped" and len(together) == 2, f"JOBS=2 runs both: {last(out)}")

# Each waits until all four run: two at a time, and beside them two of those that mostly wait.
(HERE / "tree/tests/failures").mkdir()
for name, others in (("t914_meets_a", "b c d"), ("t915_meets_b", "a c d"), ("failures/t916_meets_c", "a b d"), ("failures/t917_meets_d", "a b c")):
    add(name + ".sh", f'touch "{HERE}/here.{name[-1]}"; for other in {others}; do for i in {{1..600}}; do [ -e "{HERE}/here.$other" ] && break; '
        f'sleep 0.1; done; done; [ $i -lt 600 ] && echo "ok   - {name}"\n')
status, out, _ = run("meets", JOBS="2")
claim(status == 0 and last(out) == "4 passed, 0 failed, 0 skipped", f"JOBS=2 runs two of failures beside two others: {last(out)}")
shutil.rmtree(HERE / "tree/tests/failures")
for name in ("t914_meets_a", "t915_meets_b"):
    (HERE / f"tree/tests/{name}.sh").unlink()

status, out, _ = run("nothing_like_it")
claim(status != 0 and "nothing_like_it" in out, f"a pattern without a test is refused: {out.strip()}")
status, out, _ = run("good", JOBS="two")
claim(status != 0 and "JOBS=two" in out, f"a bad JOBS is refused: {out.strip()}")
status, out, _ = run("--list", "slow")
claim(status == 0 and out.split() == ["t910_slow_a", "t911_slow_b"], "--list names the tests that match")
(HERE / "tree/tests/t909_late.sh").unlink()
status, out, _ = run()
closing = re.findall(r"^\d+ passed, \d+ failed, \d+ skipped$", out, re.M)
claim(status == 1 and len(closing) == 1 and last(out) == closing[0], f"all together: one closing line, the last: {last(out)}")
done()
