#!/usr/bin/env python3
"""Stairs: a slope in samples as large as the cells of the grid, under a free surface, against the same blocks on a grid three times
finer. Slope, depth and places are drawn at random."""

import numpy as np

from check import claim, done, given_seed
from exact import shoot

H = 10.0
SEED = given_seed()
rng = np.random.default_rng(SEED)
ROCK = {"sea floor": (1800.0, 1900.0), "strong": (2500.0, 2200.0)}


def blocks(a, n=3):
    """The cells of samples on a grid n times finer, from the first sample to the last."""
    return np.kron(a, np.ones((n, n)))[n // 2:-(n // 2), n // 2:-(n // 2)]


def stairs(name, points, top, depth):
    fpeak = 1500 / (points * H) / 2.777
    slope = np.tan(np.radians(rng.uniform(3, 25)))
    x, z = np.arange(101) * H, np.arange(41) * H
    below = z > np.minimum(depth + rng.uniform(0, H) + x * slope, 300)[:, None]
    vp, rho = np.where(below, ROCK[name][0], 1500.0), np.where(below, ROCK[name][1], 1000.0)
    sx = 250 + rng.uniform(0, H)
    source, receivers = (sx, 6.0), np.array([(sx + d, 8.0) for d in (60, 150, 300, 500)] + [(sx + 100, 90.0), (sx + 400, 150.0)])
    deck = {"tmax": 0.8, "dt_out": 0.004, "fpeak": fpeak, "delay": 1.3 / fpeak, "top": top}
    fine = shoot(blocks(vp), blocks(rho), H / 3, source, receivers, half_length=4, **deck)[1]
    own = shoot(vp, rho, H, source, receivers, **deck)[1]
    return 100 * np.max(np.linalg.norm(own - fine, axis=1) / np.linalg.norm(fine, axis=1))


for points, bounds in ((5, (5.5, 5.5)), (10, (2.2, 2.2))):
    for top, bound in zip(("free", "pml"), bounds):
        worst = [stairs(name, points, top, depth) for name, depth in (("sea floor", 60), ("strong", 60), ("sea floor", 15))]
        claim(max(worst) <= bound, f"stairs of single cells, top={top}, {points} points per shortest wavelength: sea floor {worst[0]:.2f}, "
              f"strong {worst[1]:.2f}, sea floor from two cells deep {worst[2]:.2f} % of the worst trace, at most {bound} % (seed {SEED})")
done()
