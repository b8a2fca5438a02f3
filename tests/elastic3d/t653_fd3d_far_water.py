#!/usr/bin/env python3
"""3D: water far below changes no trace before its echo comes, whatever is recorded: derivatives that reach above a free surface or beyond
a periodic side read there what they read in rock alone. Half-length, places and the tensor are drawn at random."""

import numpy as np
from check import claim, done, given_seed
from mini3d import run
from netCDF4 import Dataset

seed = given_seed()
rng = np.random.default_rng(seed)
KINDS = ("vx", "vz", "p", "exx", "ezz", "exy", "exz", "wx", "wy", "wz")
H, ROCK = 100.0, "4000 2300 2400"
TENSOR = [f"m{a}={v:.4g}" for a, v in zip(("xx", "yy", "zz", "xy", "xz", "yz"), 1e17 * rng.uniform(-1, 1, 6))]


def traces(model, *words):
    r = run("keymap=far.keymap", f"layers={model}.layers", f"dx={H}", "depth=3000", "npml=6", "source=moment", *TENSOR, "wavelet=gauss", "sigma=0.15",
            "delay=0.7", "tmax=0.85", "dt_out=0.01", "dispersion=warn", f"components={','.join(KINDS)}", f"output={model}.nc", "overwrite=y", *words)
    if r.returncode:
        raise RuntimeError(r.stderr[-500:])
    with Dataset(f"{model}.nc") as file:
        return np.array([file["pressure" if k == "p" else k][0] for k in KINDS], dtype=float)


with open("rock.layers", "w", encoding="ascii") as table:
    table.write(f"0 {ROCK}\n")
with open("sea.layers", "w", encoding="ascii") as table:
    table.write(f"0 {ROCK}\n2500 1500 0 1000\n2700 {ROCK}\n")
for sides, top, aperture in (("absorb", "free", 300), ("periodic", "pml", 0)):
    x, y, z = rng.uniform(0, 1500, (3, 10))
    if top == "free":
        z = np.concatenate([[0.0], H * rng.uniform(0, 4, 9)])
    else:
        x[1:5], y[5:9], z = 1500 - H * rng.uniform(0, 1, 4), H * rng.uniform(0, 1, 4), 300 + z / 4
    x[0], x[9], y[0], y[9] = 0, 1500, 0, 1500                  # the window is as wide as the spread
    with open("far.stations", "w", encoding="ascii") as stations:
        stations.writelines(f"{i + 1} {a:.2f} {c:.2f} {b:.2f}\n" for i, (a, b, c) in enumerate(zip(x, y, z)))
    with open("far.keymap", "w", encoding="ascii") as keymap:
        keymap.write("spread far list far.stations\nshot 1 {:.1f} {:.1f} far y={:.1f}\n".format(*rng.uniform(700, 800, 3)))
    length = int(rng.integers(3, 5))
    words = (f"half_length={length}", f"sides={sides}", f"top={top}", f"aperture={aperture}")
    rock, sea = traces("rock", *words), traces("sea", *words)
    off = np.linalg.norm(rock - sea, axis=2) / np.linalg.norm(rock, axis=2).max(1, keepdims=True)
    k, r = np.unravel_index(off.argmax(), off.shape)
    claim(off.max() < 5e-5 and np.all(np.linalg.norm(rock, axis=2).max(1) > 0),
          f"seed {seed}: top={top}, sides={sides}, half-length {length}: traces beside water differ by {off.max():.1e} of the largest, {KINDS[k]} at "
          f"({x[r]:.0f}, {y[r]:.0f}, {z[r]:.0f}) m most; must be 5e-5")
done()
