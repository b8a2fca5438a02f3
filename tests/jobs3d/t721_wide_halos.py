#!/usr/bin/env python3
"""halo_wide: groups whose halos are wide write the file of one rank, through shared memory and by messages; the log has the bytes and
messages of velocities alone; states are those of wide pieces; what cannot be is refused with a sentence."""
import re
from pathlib import Path

import jobs
import mini3d
from check import claim, done, drawn, given_seed, told
from jobs import PATIENCE, Job, slow_machine
from mini3d import make, run
from minisurvey import differences

SEED = given_seed()
jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
LENGTH = 2
COARSE = {"half_length": LENGTH, "dispersion": "warn"}
FILMS = {"snapshot": 0.1, "snapshot_planes": "top,y20,x300,z250", "snapshot_fields": "vz,p", "pgv": "y"}
ROCK = "0 3000 1700 2200 60 30\n150 3500 2000 2300 200 100\n"


def differ(one, two):
    films = [p.name for p in Path(".").glob(one + ".snap*")]
    return [w for a in (one, *films) for w in differences(a, a.replace(one, two))]


def expected(n, parts, steps=1):
    """Bytes and messages of a step: three velocities of four bytes, 2 LENGTH deep, over a plane that is wider at cuts of the axes before."""
    across, total, messages = list(n), 0, 0
    for a in range(3):
        face = across[(a + 1) % 3] * across[(a + 2) % 3]
        pieces = parts[0] * parts[1] * parts[2] // parts[a]
        total += 2 * (parts[a] - 1) * face * 2 * LENGTH * 3 * 4
        messages += 2 * (parts[a] - 1) * pieces
        across[a] += 4 * LENGTH * (parts[a] - 1)
    return total * steps, messages * steps


# --- the file of one rank -------------------------------------------------------------------------------------------------

make(shots=2, layers=ROCK, components="vx,vy,vz,p,sxz,exy,wz", tmax=0.15, **COARSE, **FILMS)
told(run("par=job.par", "output=one.nc"), 0, "one rank")
for cut, halo in (("1x1x2", "mpi"), *drawn(2, (("3x1x1", "host"), ("2x2x1", "auto"), ("2x2x2", "mpi")), SEED)):
    parts = [int(x) for x in cut.split("x")]
    ranks, name = parts[0] * parts[1] * parts[2], f"cut{cut}.nc"
    r = run("par=job.par", f"output={name}", f"group={ranks}", f"decomposition={cut}", f"halo={halo}", "halo_wide=y", ranks=1 + ranks)
    wrong = [] if r.returncode else differ("one.nc", name)
    claim(r.returncode == 0 and not wrong and "halos are wide" in r.stderr,
          f"wide halos, cut {cut}, halo={halo}: the file and films of one rank: {wrong}{r.stderr[-800:] if r.returncode or wrong else ''}")
    said = re.findall(r"exchanged:\n(\d+) steps; a step: (\d+) bytes, (\d+) messages", Path(name + ".log").read_text())
    if cut == "1x1x2":
        few = re.search(r"pieces of (\d+) x (\d+) x (\d+)(?: to \d+ x \d+ x (\d+))? cells; halos are wide", r.stderr)
        low, high = int(few.group(3)), int(few.group(4) or few.group(3))
        n = [int(few.group(1)), int(few.group(2)), low + high]
    claim(len(said) == 2 and {tuple(int(x) for x in s[1:]) for s in said} == {expected(n, parts)},
          f"bytes and messages of a step, of {n} cells: {said}, must be {expected(n, parts)}")
r = run("par=job.par", "output=auto.nc", "group=2", "halo=mpi", ranks=3)
told(r, 0, "auto")
claim(differ("one.nc", "auto.nc") == [], f"auto by messages, {'wide' if 'halos are wide' in r.stderr else 'narrow'}: the file of one rank")
told(run("par=job.par", "output=ring.nc", "sides=periodic"), 0, "periodic sides, one rank")
told(run("par=job.par", "output=rings.nc", "sides=periodic", "group=2", "halo_wide=y", ranks=3), 0, "periodic sides", "shots cut 1x1x2, ", "halos are wide")
claim(differ("ring.nc", "rings.nc") == [], "periodic sides: the file of one rank")

# --- states ---------------------------------------------------------------------------------------------------------------

make(shots=1, tmax=3, **COARSE, **FILMS)
told(run("par=job.par", "output=whole.nc", "checkpoint=0"), 0, "a longer shot on one rank")


def stopped(output):
    """A group that is told to stop amid the shot keeps its state."""
    job = Job("group=2", "halo_wide=y", "checkpoint=10000", "grace=0", "progress=0.1", "lease=200", output=output, ranks=3,
              machine=slow_machine(loop=1000))
    job.until(lambda: re.search(r"slowest: shot \d+ on \S+, [1-9]", job.said()), PATIENCE)
    Path(output + ".stop").touch()
    status = job.end(PATIENCE)
    Path(output + ".stop").unlink(missing_ok=True)
    return status, sorted(p.name for p in Path(output + ".states").glob("*.state"))


for output, word, goes_on in (("same.nc", "halo_wide=y", True), ("other.nc", "halo_wide=n", False)):
    status, left = stopped(output)
    r = run("par=job.par", f"output={output}", "group=2", word, ranks=3)
    claim(status == 3 and len(left) == 2 and r.returncode == 0 and ("goes on after step" in r.stderr) == goes_on and differ("whole.nc", output) == [],
          f"stopped with wide halos (exit status {status}, {left}), continued with {word}: {'goes on' if goes_on else 'begins anew'}, the file of "
          f"one rank: {[w for w in r.stderr.splitlines() if 'state' in w or 'goes on' in w][:2]}")

# --- refusals -------------------------------------------------------------------------------------------------------------

make(shots=1)
told(run("plan", "par=job.par", "group=2", "halo_wide=y"), 0, "plan", " cells, halos are wide; expected: ")
told(run("plan", "par=job.par", "halo_wide=y"), 1, "one rank a shot", "halo_wide", "each shot has one rank")
told(run("plan", "par=job.par", "halo_wide=y", "halo=host", "group=1"), 0, "a deck for groups with one rank asked for")
told(run("plan", "par=job.par", "group=2", "halo_wide=y", "halo=ipc"), 1, "kernels have narrow halos", "cannot be with halo = ipc", "leave one of them out")
told(run("plan", "par=job.par", "group=4", "decomposition=1x1x4", "halo_wide=y"), 1, "pieces that are too thin for wide halos",
     "of at least 8 cells along a cut axis", "or halo_wide=n")
told(run("plan", "par=job.par", "group=2", "decomposition=2x1x1", "sides=periodic", "halo_wide=y"), 1, "a periodic axis that is cut",
     "wide halos leave periodic axes whole")
told(run("plan", "par=job.par", "group=2", "halo_wide=perhaps"), 1, "another word", "halo_wide", "auto, y, n")
done()
