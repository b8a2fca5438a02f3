#!/usr/bin/env python3
"""A rank of a group takes the memory of its piece of a mesh of elements, not of the mesh, and as much as the program says: what ranks hold
beyond an idle one, of a mesh cut into 4 and into 2, against one rank; of rank 0 what it holds when it holds most."""
import os
import random
import re
import subprocess
import sys
from pathlib import Path

from check import claim, done, given_seed, skip
from minisem import MESH, PROGRAM
from peaks import peaks, run_watched

SEED = given_seed()
IDLE = 30                                         # MB of a rank that does nothing, as the program counts
LOW, HIGH = 0.75, 1.3                             # of what is told, as in t414
N = 24                                            # elements along an edge of the box

if "san" in os.environ.get("LD_PRELOAD", "") or "debug" in str(PROGRAM):
    skip("a sanitized build takes what it likes")
    done()
    sys.exit()

random.seed(SEED)
r = subprocess.run([MESH, "box", "-o", "box.exo", "--x", "0", f"{N}00", "--y", "0", f"{N}00", "--z", f"-{N}00",
                    "0", "--elements", str(N), str(N), str(N), "--shake", "0.1", "--seed", str(SEED)], capture_output=True, text=True)
claim(r.returncode == 0, f"seed {SEED}: spl-mesh box makes {N**3} elements {r.stderr}")
Path("box.materials").write_text("* 3000 1700 2200\n")
Path("a.receivers").write_text(f"1 {random.uniform(200, 2200):.1f} 10 {random.uniform(200, 2200):.1f}\n")
Path("a.keymap").write_text(f"spread a list a.receivers\nshot 1 {random.uniform(900, 1500):.1f} 1000 a y=1200\n")
DECK = ("keymap=a.keymap", "mesh=box.exo", "materials=box.materials", "source=volume", "components=vz", "fpeak=7.5", "tmax=0.01",
        "dt_out=0.01", "threads=1", "dispersion=warn")


def megabytes(number, unit):
    return float(number) * {"MB": 1, "GB": 1000}[unit]


def run(ranks):
    """What a worker took, the largest, and rank 0, and what they were to take [MB]."""
    r = run_watched(PROGRAM, *DECK, f"group={ranks}", f"output=of{ranks}.nc", ranks=ranks + 1)
    said = re.search(r"memory +([\d.]+) (.B) a worker, ([\d.]+) (.B) rank 0", r.stderr)
    if r.returncode or not said:
        claim(False, f"{ranks} ranks: exit status {r.returncode}, {r.stderr[-400:]}")
        done()
        sys.exit(1)
    first, *workers = peaks(ranks + 1)
    return max(workers), first, megabytes(said[1], said[2]), megabytes(said[3], said[4])


took = {}
for ranks in (1, 2, 4):
    took[ranks], first, told, told_first = run(ranks)
    claim(LOW < told / took[ranks] < HIGH, f"{ranks} rank(s): a worker was to need {told:.0f} MB and took {took[ranks]:.0f}: "
          f"{told / took[ranks]:.2f} of it, must be {LOW} .. {HIGH}")
    claim(LOW < told_first / first < HIGH, f"{ranks} rank(s): rank 0 was to need {told_first:.0f} MB and took {first:.0f}: "
          f"{told_first / first:.2f} of it, must be {LOW} .. {HIGH}")
for ranks, most in ((2, 0.75), (4, 0.45)):
    part = (took[ranks] - IDLE) / (took[1] - IDLE)
    claim(part < most, f"of a mesh cut into {ranks} a rank holds {part:.3f} of what one rank holds of all, bound {most}")


def planned(edge):
    """What plan tells of rank 0, for a cube of so many elements along an edge, and what it takes itself to find out [MB]."""
    box = (f"mesh_{a}={edge}00" for a in ("x1", "y1"))
    r = run_watched(PROGRAM, "plan", *(w for w in DECK if not w.startswith("mesh=")), "mesh=layers", "layers=a.layers", *box, f"mesh_bottom={edge}00",
                    "mesh_dx=100", "mesh_dy=100", "mesh_dz=100", "group=4", "forecast=0", f"output=of{edge}.nc", ranks=1)
    said = re.search(r"memory .* a worker rank, ([\d.]+) (.B) rank 0", r.stdout)
    claim(r.returncode == 0 and said, f"plan of {edge}**3 elements: exit status {r.returncode} {r.stderr[-400:] if r.returncode else ''}")
    return (megabytes(said[1], said[2]) if said else 0), peaks(1)[0]


Path("a.layers").write_text("rock 0\n")
Path("box.materials").write_text("rock 3000 1700 2200\n")
(told, large), (told_few, few) = planned(40), planned(24)
part = (told - told_few) / (large - few)
claim(LOW < part < HIGH, f"rank 0 of a group of 4 was to need {told - told_few:.0f} MB more for 64,000 elements than for 13,824, and plan took "
      f"{large - few:.0f} more: {part:.2f} of it, must be {LOW} .. {HIGH}")
done()
