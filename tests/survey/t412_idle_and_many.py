#!/usr/bin/env python3
"""Master and waiting workers sleep; thousands of shots are dealt, skipped and resumed without the framework showing."""
import os
import subprocess
import time
from pathlib import Path

import numpy as np

from check import ALL, PATIENCE, claim, done, unsanitized
from jobs import cpu, ranks_here, slow_machine
from minisurvey import command, make, run, statuses, write_deck
from shims import preload


def start(*words, ranks, env=None):
    return subprocess.Popen(command(*words, ranks=ranks), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env=preload(os.environ, env or {}))


def wait_for(text, path, seconds):
    """Until `text` stands in a file; the time it took, or None."""
    begin = time.time()
    while time.time() - begin < seconds:
        if os.path.exists(path) and text in Path(path).read_text(errors="replace"):
            return time.time() - begin
        time.sleep(0.01)
    return None


def watch(p, output, ranks, seconds):
    """CPU use of every rank [cores] over some seconds of computing, or as many as two ranks need for WORK, {rank: use}, and the seconds
    of processor time of each."""
    wait_for(" deal ", output + ".journal", PATIENCE)
    pids = {}
    while len(pids) < ranks and p.poll() is None:
        pids = ranks_here()
        time.sleep(0.05)
    time.sleep(0.7)
    before, begin = {r: cpu(pid) for r, pid in pids.items()}, time.time()
    time.sleep(seconds)
    while sum(cpu(pid) - before[r] > WORK for r, pid in pids.items()) < 2 and p.poll() is None and time.time() < begin + PATIENCE:
        time.sleep(0.1)
    spent, took = {r: cpu(pid) - before[r] for r, pid in pids.items()}, time.time() - begin
    return {r: s / took for r, s in spent.items()}, spent


# --- idle cost --------------------------------------------------------------------------------------------------------

unsanitized("CPU use and speed are those of an optimised build")
make(shots=2)
write_deck(tmax=600.0, dt_out=0.04, dx=4, dz=4, aperture=-1)
RANKS, WORK = 7, 0.06                                   # WORK: 2 % of three seconds
p = start("par=job.par", "output=idle.nc", ranks=RANKS, env=slow_machine())     # leaves the cores to other tests
use, spent = watch(p, "idle.nc", RANKS, 3.0)
claim(p.poll() is None, "two workers computed all the while")
claim(set(use) == set(range(RANKS)) and use[0] < 0.02, f"the master uses {100 * use.get(0, 9):.2f} % of a core "
      "while two workers compute, bound 2 %")
claim(sum(s > WORK for s in spent.values()) >= 2,
      "the workers compute: " + ", ".join(f"rank {r} {s:.2f} s" for r, s in sorted(spent.items())) + f", two or more above {WORK} s")
# On a busy machine a worker without a shot may take one over meanwhile: then it is not idle, but others are.
dealt = {int(line.split()[4]) for line in Path("idle.nc.journal").read_text().splitlines() if " deal " in line}
idle = {r: u for r, u in use.items() if r not in dealt}
claim(len(idle) == RANKS - len(dealt) > 1 and max(idle.values()) < 0.02, "workers without a shot wait asleep too: "
      f"{', '.join(f'rank {r} {100 * u:.2f} %' for r, u in sorted(idle.items()))}, bound 2 %")
p.terminate()
p.communicate(timeout=PATIENCE)
gone = time.time() + PATIENCE                              # mpirun does not wait until those it ended are gone
while ranks_here() and time.time() < gone:
    time.sleep(0.1)
claim(p.returncode != 0 and ranks_here() == {}, f"stopped: exit status {p.returncode}, processes left: {ranks_here()}")

# --- thousands of shots ------------------------------------------------------------------------------------------------

N = 10000 if ALL else 3000
np.full(21 * 11, 1500.0, "<f4").tofile("vp.raw")            # a shot is as little work as it can be: what is left is the framework's
write_deck(rho=None, model_nx=21, model_nz=11, npml=4, half_length=4, positions="nearest", tmax=0.008, dt_out=0.004, delay=0.02,
           aperture=-1)
Path("line.keymap").write_text("spread node fixed x0=100 interval=50 channels=2 depth=20\n"
                               f"shots first_record=1 n={N} x0=50 dx=0.01 z=13 spread=node\n")
begin = time.time()
r = run("par=job.par", "output=many.nc", ranks=3)
took = time.time() - begin
claim(r.returncode == 0 and statuses("many.nc") == [1] * N, f"{N} shots on 3 processes: exit status {r.returncode}, "
      f"all done in {took:.1f} s, {1000 * took / N:.2f} ms a shot {r.stderr[-300:] if r.returncode else ''}")

begin = time.time()
r = run("par=job.par", "output=many.nc", ranks=3)
took = time.time() - begin
claim(r.returncode == 0 and f"{N} shots are done already" in r.stderr,
      f"all done: the same command verifies and ends, in {took:.1f} s (of which mpirun itself takes 1)")
begin = time.time()
r = run("status", "output=many.nc")
claim(r.returncode == 0 and f"{N} of {N}" in r.stdout, f"status reads its journal in {time.time() - begin:.2f} s")

# Ten of them are lost again: their lines are cut off the journal, as if the power had gone.


def lose_ten():
    """A run after it; (seconds to the first shot dealt, events of the journal in order, log, exit status)."""
    lines = Path("many.nc.journal").read_text().splitlines(keepends=True)
    finished = [i for i, line in enumerate(lines) if " done " in line]
    Path("many.nc.journal").write_text("".join(lines[:finished[-10]]))
    size = os.path.getsize("many.nc.journal")
    begin = time.time()
    p = start("par=job.par", "output=many.nc", ranks=3)
    first = None
    while first is None and p.poll() is None and time.time() - begin < PATIENCE:
        with open("many.nc.journal", "rb") as f:
            f.seek(size)
            if b" deal " in f.read():
                first = time.time() - begin
        time.sleep(0.005)
    said = p.communicate(timeout=PATIENCE)[1]
    events = [line.split()[1] for line in Path("many.nc.journal").read_text()[size:].splitlines()]
    return first, list(dict.fromkeys(events)), said, p.returncode


def dealt_first(events):
    return "verified" in events and "deal" in events[:events.index("verified")]


# Where workers come late on a busy machine, the reading is over before one asks: the next try may show it.
for attempt in range(1, 7):
    first, events, said, status = lose_ten()
    if status != 0 or dealt_first(events):
        break
claim("deal" in events, f"{N - 10} of {N} done: the first new shot is dealt after {first or 99:.2f} s (of which mpirun takes 1)")
claim(dealt_first(events), f"before the finished ones are read: {said.count('verified by checksum')} time verified, events in order "
      f"{' '.join(events)}, try {attempt} of 6")
claim(status == 0 and f"{N - 10} shots are done already" in said and statuses("many.nc") == [1] * N,
      f"and all are done, exit status {status}")
claim(ranks_here() == {}, f"no process is left: {ranks_here()}")
done()
