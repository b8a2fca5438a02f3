#!/usr/bin/env python3
"""A sea floor inside cells of volumes: flat, the traces are those of the layers; dipping and rough, those of two pieces
have the bits of the whole, and what is left long after the waves have gone decays, at the step chosen for the fastest medium."""
from pathlib import Path

import numpy as np

from check import claim, done, given_seed
from mini3d import run, traces, write_deck, write_keymap

SEED = given_seed()
H, FINE, N = 40.0, 10.0, (112, 96, 80)                           # samples along x, y, z
LOW = (-80.0, -480.0)                                             # corner of the earth
DECK = {"dx": H, "dy": H, "dz": H, "aperture": 160, "half_length": 2, "fpeak": 1.7, "tmax": 1.0, "npml": 8}
WATER, ROCK = (1500.0, 0.0, 1000.0), (3600.0, 2000.0, 2400.0)


def model(depth, **changes):
    """Volumes with the floor at `depth` [m] (nx, ny), and the deck."""
    z = (np.arange(N[2]) + 0.5) * FINE
    wet = z[:, None, None] < np.broadcast_to(depth, N[:2]).T
    for name, water, rock in zip(("vp", "vs", "rho"), WATER, ROCK):
        np.where(wet, water, rock).astype("<f4").tofile(f"{name}.raw")
    write_deck(layers=None, vp="vp.raw", vs="vs.raw", rho="rho.raw", model_format="raw32", model_order="xyz",
               model_nx=N[0], model_ny=N[1], model_nz=N[2], model_dx=FINE, model_dy=FINE, model_dz=FINE,
               model_x0=LOW[0] + FINE / 2, model_y0=LOW[1] + FINE / 2, model_z0=FINE / 2, depth=None, **{**DECK, **changes})


def shot(what, *words, ranks=1):
    r = run("par=job.par", "overwrite=y", *words, ranks=ranks)
    if r.returncode:
        claim(False, f"{what}: exit status {r.returncode}: {r.stderr[-300:]}")
        return np.full((2, 2), np.inf)
    return np.stack([traces("out.nc", c)[0] for c in ("pressure", "vx", "vz")])


write_keymap(1)
rng = np.random.default_rng(SEED)
floor = (6 + rng.integers(1, 3) / 4) * H
model(floor)
volumes = shot("flat volumes")
Path("earth.layers").write_text(f"0 {WATER[0]} 0 {WATER[2]}\n{floor} {ROCK[0]} {ROCK[1]} {ROCK[2]}\n")
write_deck(depth=N[2] * FINE, **DECK)
layers = shot("layers")
off = np.linalg.norm(volumes - layers) / np.linalg.norm(layers)
claim(off <= 1e-5, f"floor {floor / H:g} cells deep: volumes within {off:.2g} of layers, at most 1e-5")

x, y = np.meshgrid(np.arange(N[0]), np.arange(N[1]), indexing="ij")
dipping = 5 * H + np.tan(np.radians(10)) * x * FINE + 0.03 * y * FINE + FINE * rng.integers(0, 3, N[:2])
model(dipping)
whole, pieces = shot("dipping"), shot("dipping, in pieces", "group=2", ranks=3)
claim(np.array_equal(whole, pieces), "dipping by 10 degrees and rough: two pieces have the bits of the whole")
model(dipping, tmax=4)
pressure = np.abs(shot("dipping, long")[0]).max(0)
left = pressure[-len(pressure) // 4:].max() / pressure.max()
claim(left <= 1e-3, f"pressure in the last quarter of 4 s is {left:.2g} of the largest, at most 1e-3")
done()
