#!/usr/bin/env python3
"""Windows of a million numbers and more come to a worker, and to each rank of a group, in parts through two memories that take turns:
the traces are those of a process that has the whole window. Cells along each axis are drawn, so that parts end anywhere."""
import os
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from check import claim, done, given_seed  # noqa: E402
from gpujob import make_3d, traces_3d  # noqa: E402
from launch import run  # noqa: E402
import numpy as np  # noqa: E402
from spltools.gathers.gathers import Gathers  # noqa: E402

program = Path(os.environ["B"]) / "bin" / "SplFd3dmod"
SEED = given_seed()
luck = random.Random(SEED)
spacing = round(luck.uniform(11.2, 11.9), 2)
make_3d(1, tmax=0.1, fpeak=16, fmax=32, dx=spacing, aperture=round(luck.uniform(260, 300), 1), npml=6)


def traces(name, ranks, *words):
    said = run(program, "par=job.par", f"output={name}.nc", "gpn=0", *words, ranks=ranks)
    if said.returncode:
        return said.stderr[-600:]
    return traces_3d(Gathers(f"{name}.nc"), 0)


whole = traces("whole", 1)
for name, ranks, words in (("worker", 2, ("group=1",)), ("group", 3, ("group=2",))):
    there = traces(name, ranks, *words)
    same = isinstance(whole, np.ndarray) and isinstance(there, np.ndarray) and np.array_equal(whole, there) and bool(whole.any())
    claim(same, f"seed {SEED}, cells of {spacing} m, {ranks} ranks, {words[0]}: the traces of one process"
          + ("" if same else f": {there if isinstance(there, str) else whole if isinstance(whole, str) else 'they differ'}"))
done()
