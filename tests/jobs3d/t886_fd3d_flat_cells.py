#!/usr/bin/env python3
"""Beneath a free surface of rock the largest time step that a job takes is stable in flat cells too, whose uppermost rows are stiffer than
inner ones at half-lengths 1 and 2: in soft rock, and where densities change from cell to cell. It is that of inner rows in cubes, at longer
half-lengths, and beneath water."""
import re
from pathlib import Path

import numpy as np

from check import claim, done
from mini3d import run, traces, write_deck

ROCK = "0 1732 500 2000\n"
SHEETS = "".join(f"{10 * i} 1732 700 {rho}\n" for i, rho in enumerate([1000, 4000, 1000, 1000, 4000, 1000]))
SEA = "0 1732 0 1000\n50 1732 700 2000\n"
WEIGHTS = {1: 1, 2: 7 / 6, 3: 149 / 120}                       # sums of absolute values


def job(layers, half_length, wide, **more):
    Path("earth.layers").write_text(layers)
    Path("line.keymap").write_text("spread net fixed x0=203 interval=60 channels=2 depth=7 y=191\nshot 1 203 23 net y=191\n")
    write_deck(layers="earth.layers", dx=wide, dy=wide, dz=10, aperture=3 * wide, depth=90, npml=4, half_length=half_length, dispersion="warn",
               fpeak=60 / wide, components="vx,vz", dt_out=0.1 * wide / 60, source="moment", mxx=1e12, mzz=-1e12, mxz=7e11, mxy=0, myy=0, myz=0, **more)


def limit(*case):
    """The largest step that is not refused [s]; in cells of inner rows alone, less the reserve."""
    job(*case, tmax=4 * case[2] / 60, dt=0.5)
    said = run("plan", "par=job.par").stderr
    inside = 0.99 / (1732 * WEIGHTS[case[1]] * np.sqrt(2 / case[2]**2 + 1 / 10**2))
    found = re.search(r"the limit is ([0-9.e-]+) s", said)
    if not found:
        claim(False, f"the limit is not told: {said[-300:]}")
        return np.nan, inside
    return float(found[1]), inside


def stable(what, *case):
    step, inside = limit(*case)
    tmax = 4 * case[2] / 60
    job(*case, tmax=tmax, dt=0.99999 * step)
    r = run("par=job.par", "overwrite=y")
    if r.returncode:
        claim(False, f"{what}: step {step:.5g} s: {r.stderr[-300:]}")
        return
    v = np.abs(traces("out.nc", "vz")[0])
    n = v.shape[-1] // 4
    claim(v[:, -n:].max() < 0.02 * v.max(), f"{what}: step {step:.5g} s, {step / inside:.3f} times that of inner rows, leaves "
          f"{100 * v[:, -n:].max() / v.max():.2g} <= 2 % after {tmax / step:.0f} steps")


stable("half-length 1, cells ten times as wide as high", ROCK, 1, 100)
stable("half-length 1, four times, sheets of one cell", SHEETS, 1, 40)
stable("half-length 2, four times, sheets", SHEETS, 2, 40)
stable("half-length 3, four times, sheets", SHEETS, 3, 40)
for what, case in (("cubes, half-length 1", (ROCK, 1, 10)), ("cubes, half-length 2", (ROCK, 2, 10)), ("half-length 3", (ROCK, 3, 40)),
                   ("beneath water, half-length 1", (SEA, 1, 40)), ("beneath water, half-length 2", (SEA, 2, 40))):
    step, inside = limit(*case)
    claim(abs(step / inside - 1) < 1e-4, f"{what}: the largest step is {step / inside:.5f} times that of inner rows")
done()
