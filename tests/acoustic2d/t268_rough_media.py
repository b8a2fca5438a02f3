#!/usr/bin/env python3
"""The step that the program chooses is stable for thousands of steps in the roughest media: velocity and density of each sample by chance,
on grids coarser than the model, finer, as fine, coarser along one axis and finer along the other; under a free surface and an absorbing
layer, in the whole model and in windows cut from it, at all half-lengths. ROUGH=N tests/run t268 takes N media (default 12), SEED=N
begins with another."""
import os

import numpy as np

from check import claim, done
from exact import shoot

SEED, MEDIA = int(os.environ.get("SEED", 20261123)), int(os.environ.get("ROUGH", 12))
GRIDS = [(2.5, 2.5), (1.0, 1.0), (1.7, 0.6), (0.6, 1.9), (1.0, 2.2), (0.45, 0.7)]            # spacing over that of the model, x and z
STEPS = 4000


def rough(seed):
    """One of MEDIA; returns what it is and the last tenth of its traces over the first half, root mean square."""
    rng = np.random.default_rng(seed)
    ratio_x, ratio_z = GRIDS[seed % len(GRIDS)]
    half_length = 1 + seed % 8
    top = ("pml", "free")[seed // 2 % 2]
    h, blocks = 10.0, int(rng.integers(1, 4))                    # samples of one value side by side
    n = (int(64 * ratio_x), int(48 * ratio_z))
    density = (1000.0, (2000.0, 3900.0, 10000.0)[seed % 3])

    def field(low, high):
        small = rng.uniform(size=(n[0] // blocks + 1, n[1] // blocks + 1))
        if rng.integers(2):
            small = np.round(small)                              # one of two
        return np.kron(low + (high - low) * small, np.ones((blocks, blocks)))[:n[0], :n[1]]

    vp, rho = field(1500.0, 6000.0), field(*density)
    length = (n[0] - 1) * h, (n[1] - 1) * h
    source = 0.41 * length[0], 0.52 * length[1]
    receivers = [[0.57 * length[0], 0.31 * length[1]], [0.33 * length[0], 0.66 * length[1]]]
    dx, dz = ratio_x * h, ratio_z * h
    aperture = -1 if seed % 5 else 0.1 * length[0]
    tmax = STEPS * 0.35 * min(dx, dz) / 6000
    fpeak = 1500 / (2.777 * 2.5 * max(dx, dz))
    t, p, *_ = shoot(vp, rho, h, source, receivers, tmax=tmax, dt_out=tmax / 1000, fpeak=fpeak, dispersion="warn", dx=dx, dz=dz, top=top,
                     half_length=half_length, aperture=aperture, npml=10)
    early, late = (np.sqrt((p[:, part]**2).mean()) for part in (slice(0, 500), slice(900, None)))
    what = (f"seed {seed}: grid of {ratio_x} x {ratio_z} samples, {blocks} of one value, density to {density[1]:g}, half-length "
            f"{half_length}, {top}{', a window' if aperture > 0 else ''}")
    return what, late / early


for one in range(SEED, SEED + MEDIA):
    try:
        said, left = rough(one)
        claim(left < 2, f"{said}: the last tenth has {left:.2g} of the first half, less than 2")
    except RuntimeError as why:
        claim(False, f"seed {one}: {str(why).strip()[-400:]}")
done()
