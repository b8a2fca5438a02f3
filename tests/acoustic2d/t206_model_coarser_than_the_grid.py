#!/usr/bin/env python3
"""A model coarser than the grid, by default: traces on 10 m against those on 2.5 m with another half-length and another rule of
averages. The model is drawn at random: layers with faults and lenses, velocity and density unrelated, below a flat sea.

MARMOUSI=FOLDER tests/run t206 does the same with marmousi_II_marine.vp and .rho in that folder, on 10 and 5 m (ten minutes)."""
import os
from pathlib import Path

import numpy as np

from check import claim, done, given_seed
from exact import shoot

SEED = given_seed()
rng = np.random.default_rng(SEED)


def layers(nx, nz):
    """Samples of 20 m: beds of one to four samples that step up or down at faults; water above."""
    beds = np.repeat(np.arange(nz), rng.integers(1, 5, nz))
    throw = np.cumsum(rng.choice([0, 0, 0, 0, -2, -1, 1, 2], nx))
    bed = beds[np.clip(np.arange(nz)[None, :] + throw[:, None] - throw.min(), 0, len(beds) - 1)]
    bed += nz * (rng.random((nx, nz)) < 0.01)
    vp, rho = rng.uniform(1600, 3200, 2 * nz)[bed % (2 * nz)], rng.uniform(1400, 2600, 2 * nz)[bed % (2 * nz)]
    sea = int(rng.integers(3, 7))
    vp[:, :sea], rho[:, :sea] = 1500, 1000
    return vp, rho


def compare(what, vp, rho, source, receivers, bounds, least, **deck):
    """Gathers on 10 m and 5 m against 2.5 m: relative difference at most bounds [%], and `least` times less than by regrid=average."""
    def on(h, **more):
        return shoot(vp, rho, 20.0, source, receivers, dx=h, dz=h, dt_out=0.004, top="free", **deck, **more)[1]

    def off(a):
        return 100 * np.linalg.norm(a - fine) / np.linalg.norm(fine), 100 * np.max(
            np.linalg.norm(a - fine, axis=1) / np.linalg.norm(fine, axis=1))

    fine = on(2.5, half_length=4, regrid="average")
    for h, bound in bounds:
        (gather, worst), (before, _) = off(on(h)), off(on(h, regrid="average"))
        claim(gather <= bound and gather * least <= before, f"{what}, {h:g} m against 2.5 m: gather within {gather:.2f} %, worst trace "
              f"{worst:.2f} %, at most {bound} % of the gather and 1/{least} of what regrid=average makes, {before:.2f} % (seed {SEED})")


x0 = rng.uniform(500, 700)
cable = np.array([(x0 + d, 8.0) for d in (60, 150, 250, 400, 600)])
for fpeak, bound in ((10.8, 4.0), (5.4, 1.0)):
    compare(f"layers, faults and lenses in samples of 20 m, {54 / fpeak:.0f} points per shortest wavelength", *layers(71, 41),
            (x0, 6.3), cable, ((10.0, bound),), 2, fpeak=fpeak, tmax=0.9)
if "MARMOUSI" in os.environ:
    folder = Path(os.environ["MARMOUSI"])
    vp, rho = (np.fromfile(folder / f"marmousi_II_marine.{name}", "<f4").reshape(500, 174) for name in ("vp", "rho"))
    streamer = np.array([(6000.0 - 150 - 12.5 * i, 8.0) for i in range(160)])
    compare("Marmousi-II, Ricker of 15 Hz, 160 receivers to 2140 m", vp, rho, (6000.0, 6.0), streamer, ((10.0, 2.5), (5.0, 0.5)), 3,
            fpeak=15, tmax=4, aperture=1500)
done()
