#!/usr/bin/env python3
"""A slow worker does not keep a survey waiting: it is not dealt the end of it, what it cannot finish is taken over, and whoever
answers first is heard, once."""
import os
import signal
import subprocess
from pathlib import Path

import numpy as np

from check import PATIENCE, claim, done
from jobs import LOOPS, Gate, events, kick, ranks_here, slow_machine, wait_until
from minisurvey import command, differences, make, run, statuses, write_keymap
from shims import preload


def start(*words, ranks, env=None):
    return subprocess.Popen(command(*words, ranks=ranks), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=preload(os.environ, env or {}))


def all_begin(output, words, slowness):
    """A survey on three workers, each of which has a shot before one is done; exit status and log."""
    gate = Gate("begin", 0.5)
    p = start("par=job.par", f"output={output}", *words, ranks=4, env={**slow_machine(rank3=slowness), **gate.env})
    wait_until(lambda: {w for e, _, w in events(output) if e == "deal"} == {1, 2, 3}, process=p)
    gate.open()
    said = p.communicate(timeout=PATIENCE)[1]
    return p.returncode, said


# --- a worker sixty times slower than two others -----------------------------------------------------------------------------

N, LAME = 16, 3
make(shots=N)
status, said = all_begin("slow.nc", (), 60)
log = Path("slow.nc.log").read_text()
seen = events("slow.nc")
dealt = [w for e, _, w in seen if e == "deal"]
claim(status == 0 and statuses("slow.nc") == [1] * N, f"exit status {status}, all {N} shots done" + (
    "" if status == 0 else said[-600:]))
answers = [r for e, r, _ in seen if e == "done"]
claim(sorted(answers) == sorted(set(answers)) and len(answers) == N, f"{len(answers)} answers written for {N} shots, each once")
last = max((i for i, w in enumerate(dealt) if w == LAME), default=-1)
claim(0 <= last < len(dealt) - N // 2, f"the slow worker got deal(s) {[i + 1 for i, w in enumerate(dealt) if w == LAME]} of "
      f"{len(dealt)}, none in the second half of the survey")
claim(f"goes from worker {LAME} to worker" in log, "its shot is taken over: " + next(
    (line for line in log.splitlines() if "goes from worker" in line), "not found"))
moved = {r for i, (e, r, w) in enumerate(seen) if e == "deal" and any(s[:2] == ("deal", r) for s in seen[:i])}
claim(moved and all(w != LAME for e, r, w in seen if e == "done" and r in moved),
      f"shot(s) {sorted(moved)} came from another worker")
claim(not any(e == "lost" for e, _, _ in seen), "a shot given up for another worker is no loss")
claim("CPU worker(s) got no more shots for the last" in said, "the summary says so: " + next(
    (line.strip() for line in said.splitlines() if "got no more shots" in line), "not found"))
r = run("par=job.par", "output=one.nc", ranks=1)
claim(r.returncode == 0 and differences("slow.nc", "one.nc") == [], "the traces are those of one process, bit for bit")

# --- a worker four times slower than two others: it does a part, not the end ---------------------------------------------

N = 24
write_keymap(N, dx=20)
for attempt in range(1, 7):                      # on a busy machine the others may be slow too: the next try may show it
    status, said = all_begin(f"part{attempt}.nc", (), 4)
    seen = events(f"part{attempt}.nc")
    done_lines = [line.split() for line in Path(f"part{attempt}.nc.journal").read_text().splitlines() if line.split()[1] == "done"]
    pace = {lame: [float(w[6]) for w in done_lines if (int(w[4]) == LAME) == lame] for lame in (True, False)}
    if status != 0 or (pace[True] and np.mean(pace[True]) > 3 * np.mean(pace[False])):
        break
dealt = [w for e, _, w in seen if e == "deal"]
last = max((i for i, w in enumerate(dealt) if w == LAME), default=-1)
claim(status == 0 and statuses(f"part{attempt}.nc") == [1] * N, f"exit status {status}, all {N} shots done" + (
    "" if status == 0 else said[-600:]))
claim(("done", LAME) in [(e, w) for e, _, w in seen] and last < len(dealt) - 3, f"a worker four times slower got deal(s) "
      f"{[i + 1 for i, w in enumerate(dealt) if w == LAME]} of {len(dealt)}, did one or more, and got none of the last 3, try "
      f"{attempt} of 6")

# --- two answers for one shot -----------------------------------------------------------------------------------------

# A worker that hears too late that its shot is taken over delivers it all the same: one that has begun its last turn of the time
# loop. Two are stopped there, so that the third is still at work on the shot of one when the answer of the other comes; nobody would
# wait for it else.
make(shots=3)


def of_worker(output, event):
    """{record: worker} of the first such event of each shot."""
    found = {}
    for e, r, w in events(output):
        if e == event:
            found.setdefault(r, w)
    return found


def stand_still(output, loops):
    """A survey on three workers; two stand still in their first shots, after so many loops, until the other has done the shot of one
    of them, which goes on then."""
    gate = Gate(output.removesuffix(".nc"), loops=loops)
    p = start("par=job.par", "output=" + output, ranks=4, env={**slow_machine(0), **gate.env})
    wait_until(lambda: all(gate.reached(w) for w in (1, 2, 3)), process=p)
    pids = {w: pid for w, pid in ranks_here().items() if w > 1}
    for pid in pids.values():
        kick(pid, sig=signal.SIGSTOP)
    gate.open()
    dealt = of_worker(output, "deal")
    wait_until(lambda: any(dealt[r] != w for r, w in of_worker(output, "done").items()), process=p)
    for r, w in of_worker(output, "done").items():
        if dealt[r] != w:
            kick(pids.pop(dealt[r], None), sig=signal.SIGCONT)
    wait_until(lambda: len(of_worker(output, "done")) == 3, process=p)
    for pid in pids.values():
        kick(pid, sig=signal.SIGCONT)
    said = p.communicate(timeout=PATIENCE)[1]
    return p.returncode, said


attempt, late = 0, False
while not late and attempt < 8:
    attempt += 1
    output = f"late{attempt}.nc"
    status, said = stand_still(output, LOOPS - attempt)
    answers = [r for e, r, _ in events(output) if e == "done"]
    late = "came late with it; its gather is not used" in said
    claim(status == 0 and statuses(output) == [1] * 3 and sorted(answers) == sorted(set(answers)),
          f"two of three workers stand still in their first shots: exit status {status}, {len(answers)} answers for 3 shots" + (
          "" if status == 0 else said[-600:]))
claim(late, f"an answer comes late (attempt {attempt}): " + next(
    (line for line in said.splitlines() if "came late" in line), "not found " + said[-800:]))
done()
