#!/usr/bin/env python3
"""A fault of many points on a group of four ranks: each rank keeps the histories of the points that act on its cells alone, and the
traces are those of one rank. POINTS=100000 takes ten times as long."""
import os
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, skip
from mini3d import PROGRAM
from minisurvey import differences
from peaks import peaks, run_watched

POINTS, NT, DX = int(os.environ.get("POINTS") or 10000), 30, 100.0
Path("earth.layers").write_text("0 6000 3464 2700\n")
Path("quake.keymap").write_text("spread line fixed x0=1000 interval=6000 channels=4 depth=500 y=1000\n"
                                "shots first_record=1 n=1 x0=0 dx=10 z=0 spread=line y=0\n")
# A vertical fault along x, five points at each place between cells: mxy acts on one edge there, so that its weights take no memory.
random = np.random.default_rng(713)
place = np.arange(POINTS) // 5
with Dataset("quake.nc", "w", format="NETCDF3_64BIT_DATA") as f:
    f.createDimension("point", POINTS)
    f.createDimension("time", NT)
    columns = {"x": ("m", DX * (place % 200)), "y": ("m", 0 * place), "z": ("m", 500 + DX * (place // 200) + DX / 2),
               "onset": ("s", random.uniform(0, 1.5, POINTS))}
    columns.update({"m" + p: ("N m", np.full(POINTS, 1e13 if p == "xy" else 0.0)) for p in ("xx", "yy", "zz", "xy", "xz", "yz")})
    for name, (units, values) in {**columns, "time": ("s", 0.1 * np.arange(NT))}.items():
        v = f.createVariable(name, "f8", ("time" if name == "time" else "point",))
        v.units = units
        v[:] = values
    v = f.createVariable("rate", "f4", ("point", "time"))
    v.units = "s-1"
    v[:] = random.uniform(0.1, 1, (POINTS, NT)) / (0.055 * NT)
DECK = ("keymap=quake.keymap", "layers=earth.layers", f"dx={DX}", "aperture=1000", f"depth={1500 + DX * (POINTS // 1000)}", "source=fault", "fault=quake.nc",
        "fmax=9", "dispersion=warn", "npml=8", "tmax=0.1", "dt_out=0.02", "threads=1", "variant=cpu")


def taken(ranks, *words):
    """The most memory of each rank [MB]."""
    r = run_watched(PROGRAM, *DECK, *words, ranks=ranks)
    claim(r.returncode == 0, f"{' '.join(words)}: exit status {r.returncode} {r.stderr[-400:] * bool(r.returncode)}")
    return peaks(ranks) if r.returncode == 0 else [0.0] * ranks


if "san" in os.environ.get("LD_PRELOAD", "") or "debug" in str(PROGRAM):
    skip("a sanitized build takes what it likes")
else:
    one = taken(2, "output=one.nc")[1]
    four = taken(5, "output=four.nc", "group=4", "decomposition=4x1x1")[1:]
    claim(0 < max(four) < 0.65 * one, f"{POINTS} points: one rank takes {one:.0f} MB, those of four {', '.join(f'{p:.0f}' for p in four)} MB, "
          "at most 65 % of it")
    claim(differences("one.nc", "four.nc") == [], f"the same file as from one rank: {differences('one.nc', 'four.nc')}")
done()
