#!/usr/bin/env python3
"""Rough contacts that run into absorbing layers on all sides: traces against those of a model so large that nothing comes back from
its sides, in which the earth goes on as it does in the layers. The contacts are drawn at random."""

import numpy as np

from check import claim, done, given_seed
from exact import COMPONENTS, shoot

H, MORE = 10.0, 170
SEED = given_seed()
rng = np.random.default_rng(SEED)


def rough(nx, nz, level):
    """Two contacts of which each column has its own depth, steps of up to three cells, and rock that differs from cell to cell."""
    z = np.arange(nz)
    vp, rho = np.full((nx, nz), 1500.0), np.full((nx, nz), 1000.0)
    for depth, (c, r) in zip((20, 36), ((1900.0, 1900.0), (2600.0, 2300.0))):
        below = z > (depth + np.cumsum(rng.integers(-3, 4, nx)).clip(-10, 10))[:, None]
        vp[below], rho[below] = c, r
    if not level:
        vp *= rng.uniform(0.9, 1.1, vp.shape)
        rho *= rng.uniform(0.9, 1.1, rho.shape)
    return vp, rho


def back(what, level, npml, bounds, **deck):
    vp, rho = rough(81, 61, level)
    source = np.array([400 + rng.uniform(0, H), 100 + rng.uniform(0, H)])
    receivers = np.array([(30.0, 40.0), (60.0, 250.0), (777.0, 333.0), (400.0, 580.0), (200.0, 120.0), (700.0, 25.0)])
    deck = {"tmax": 1.3, "dt_out": 0.004, "fpeak": 10.8, "npml": npml, **deck}
    _, *small = shoot(vp, rho, H, source, receivers, **deck)
    wide = [np.pad(a, MORE, mode="edge") for a in (vp, rho)]
    _, *large = shoot(*wide, H, source + MORE * H, receivers + MORE * H, **{**deck, "npml": 20})
    energy = [20 * np.log10(np.linalg.norm(a - b) / np.linalg.norm(b)) for a, b in zip(small, large)]
    worst = [20 * np.log10(np.max(np.linalg.norm(a - b, axis=1) / np.linalg.norm(b, axis=1))) for a, b in zip(small, large)]
    claim(max(energy) <= bounds[0] and max(worst) <= bounds[1], f"{what}, {npml} cells of layers: "
          + ", ".join(f"{n} {e:.0f} dB, worst trace {w:.0f} dB" for n, e, w in zip(COMPONENTS, energy, worst))
          + f" of the gather and of the trace, at most {bounds[0]} and {bounds[1]} dB (seed {SEED})")


back("two rough contacts", True, 20, (-105, -95))
back("two rough contacts, rock from cell to cell", False, 20, (-105, -95))
back("two rough contacts", True, 10, (-65, -60))
done()
