#!/usr/bin/env python3
"""A sea floor with steps in layers of PML is told of before a record long enough for what grows there, by plan and run in the same
words; not where the floor is level, the half-length 1, the layers a sponge or the record short."""
import os

import numpy as np

from check import claim, done
from mini3d import run, write_deck, write_keymap

SEED = int(os.environ.get("SEED", np.random.default_rng().integers(1, 1 << 31)))
print(f"SEED={SEED}")
rng = np.random.default_rng(SEED)
N, H = (14, 12, 16), 40.0
DECK = {"layers": None, "vp": "vp.raw", "vs": "vs.raw", "rho": "rho.raw", "model_format": "raw32", "model_order": "xyz", "model_nx": N[0],
        "model_ny": N[1], "model_nz": N[2], "model_dx": H, "model_dy": H, "model_dz": H, "depth": None, "dx": H, "aperture": 100,
        "half_length": 4, "npml": 6, "fpeak": 1.7}


def model(floor):
    """Volumes with the first rock at sample `floor` (nx, ny)."""
    wet = np.arange(N[2])[:, None, None] < np.broadcast_to(floor, N[:2]).T
    for name, water, rock in (("vp", 1500, 6000), ("vs", 0, 3400), ("rho", 1000, 2600)):
        np.where(wet, water, rock).astype("<f4").tofile(f"{name}.raw")


def said(verb=(), **changes):
    """Warnings of the floor, and what else was said."""
    write_deck(**{**DECK, **changes})
    r = run(*verb, "par=job.par", "overwrite=y")
    text = r.stdout + r.stderr
    return [line.split("the sea floor has steps", 1)[1] for line in text.splitlines() if "the sea floor has steps" in line], r


write_keymap(1)
rough = np.full(N[:2], 7)
rough[rng.integers(0, N[0]), rng.integers(0, N[1])] += 1
model(rough)
plan, r = said(("plan",), tmax=7)
claim(len(plan) == 1 and "tenfold in 667 steps" in plan[0] and "more than 2000;" in plan[0], f"plan, one step: {plan} {r.stderr[-200:]}")
for what, changes in (("half-length 1", {"half_length": 1, "dispersion": "warn"}), ("a sponge", {"absorb": "sponge"}), ("a record of 2 s", {"tmax": 2})):
    words, r = said(("plan",), **{"tmax": 7, **changes})
    claim(not words and r.returncode == 0, f"{what}: nothing of it {words} {r.stderr[-200:]}")
words, r = said(tmax=7)
claim(words[:1] == plan and r.returncode == 0, f"run says the same, exit status {r.returncode} {r.stderr[-200:] if r.returncode else ''}")
model(7)
words, r = said(("plan",), tmax=7)
claim(not words and r.returncode == 0, f"a level floor: nothing of it {words} {r.stderr[-200:]}")
done()
