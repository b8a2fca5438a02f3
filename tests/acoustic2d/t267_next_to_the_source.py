#!/usr/bin/env python3
"""Receivers a twentieth of a cell to some cells from the source, in the full space and below a free surface, against the exact field."""
import numpy as np

from check import claim, done
from exact import Frequencies, full_space, shoot

H, C, RHO, FMAX = 10.0, 1500.0, 1000.0, 30.0
FPEAK = FMAX / 2.777
T0 = 1.3 / FPEAK


def field(f, source, receivers):
    return np.array(full_space(f, C, RHO, receivers[:, 0] - source[0], receivers[:, 1] - source[1]))


def near(what, source, distances, bounds, free=False):
    """The same direction, 34 degrees below x, at which vx and vz are of one size; bounds of p and of v [%]."""
    source = np.array(source)
    receivers = source + H * np.outer(distances, [np.cos(0.6), np.sin(0.6)])
    medium = np.full((61, 61), C), np.full((61, 61), RHO)
    t, *got = shoot(*medium, H, source, receivers, tmax=0.5, dt_out=0.002, fpeak=FPEAK, fmax=FMAX, delay=T0,
                    top="free" if free else "pml")
    f = Frequencies(0.5, 3 * FMAX, FPEAK, T0)
    exact = field(f, source, receivers)
    if free:
        exact -= field(f, source * [1, -1], receivers)
    off = [100 * np.linalg.norm(a - f.traces(s, t), axis=1) / np.linalg.norm(f.traces(s, t), axis=1) for a, s in zip(got, exact)]
    worst = off[0].max(), max(off[1].max(), off[2].max())
    claim(worst[0] <= bounds[0] and worst[1] <= bounds[1], f"{what}, {min(distances)} to {max(distances)} cells from the source: pressure "
          f"within {worst[0]:.2f} % and velocities within {worst[1]:.2f} % of the exact field, at most {bounds[0]} and {bounds[1]} %")


near("full space", (303.7, 296.2), [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 1.2, 3.0], (1.0, 2.0))
near("full space, source on a node", (300.0, 300.0), [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 1.2, 3.0], (1.0, 2.0))
near("below a free surface", (303.7, 12.3), [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.8, 1.2, 3.0], (1.0, 2.0), free=True)
done()
