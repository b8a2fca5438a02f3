#!/usr/bin/env python3
"""Two blocks of anisotropic rock, one far below, that have the same constants over mu, but another Q or other velocities: what no wave
reaches changes no trace, and groups of any number of ranks record the same bits."""
import os
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from minisem import MESH, run

SEED = int(os.environ.get("SEED", 849))
RANDOM = np.random.default_rng(SEED)
DECK = dict(keymap="line.keymap", mesh="box.exo", materials="two.materials", source="force", fx=1, fy=-0.6, fz=0.8, fpeak=2, tmax=0.8, dt=0.004,
            dt_out=0.008, dispersion="warn", threads=1, overwrite="y")


def traces(top, below, name="shot.nc", ranks=1, **changes):
    Path("two.materials").write_text(f"rock {top}\nbelow {below}\n")
    r = run(*[f"{k}={v}" for k, v in {**DECK, "output": name, **changes}.items()], ranks=ranks)
    if not claim(r.returncode == 0, f"{top} over {below}: exit status {r.returncode} {r.stderr[-400:] if r.returncode else ''}"):
        return np.full((3, 1), np.nan)
    with Dataset(name) as ds:
        return np.array([ds[c][...].filled(np.nan).ravel() for c in ("vx", "vy", "vz")], float)


def same(what, a, b, bound=5e-6):
    worst = np.max(np.linalg.norm(a - b, axis=1) / np.linalg.norm(a, axis=1)) if a.shape == b.shape else np.nan
    claim(worst <= bound, f"{what}: worst component differs by {worst:.2g}, bound {bound:g}")


def rock(times=1.0):
    return f"tti {2600 * times:.10g} {1350 * times:.10g} 2200 {thomsen}"


print(f"seed {SEED}")
thomsen = " ".join(f"{x:.3f}" for x in (*RANDOM.uniform(0.1, 0.2, 3), *RANDOM.uniform(5, 85, 2)))
Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=143.7 channels=4 depth=190.7 y=341.7\n"
                               "shots first_record=11 n=1 x0=353.3 dx=1 z=251.7 y=412.3 spread=cable\n")
r = subprocess.run([MESH, "box", "-o", "box.exo", "--x", "0", "800", "--y", "0", "700", "--z", "-2100", "0", "--elements", "6", "5", "15",
                    "--shake", "0.1", "--seed", str(SEED), "--block", "rock:top", "--block", "below:-1400"], capture_output=True, text=True)
claim(r.returncode == 0, f"spl-mesh box {r.stderr}")

elastic = traces(rock(), rock())
lossy = traces(rock() + " 30 20", rock() + " 30 20")
apart = np.linalg.norm(lossy - elastic) / np.linalg.norm(elastic)
claim(apart > 0.05, f"Q of 20 makes other traces: {apart:.2g} > 0.05")
same("Q of 20 below elastic rock", elastic, traces(rock(), rock() + " 30 20"))
same("elastic rock below Q of 20", lossy, traces(rock() + " 30 20", rock()))
same("Q of 100 below Q of 20", lossy, traces(rock() + " 30 20", rock() + " 200 100"))
same("rock with half the velocities below", elastic, traces(rock(), rock(0.5)))
one = traces(rock() + " 30 20", rock(0.6) + " 80 50", "one.nc", tmax=1.2)
group = traces(rock() + " 30 20", rock(0.6) + " 80 50", "group.nc", ranks=4, group=3, tmax=1.2)
claim(np.array_equal(one, group), f"a group of three ranks records the bits of one: differs by {np.max(np.abs(one - group)):.2g}")
done()
