#!/usr/bin/env python3
"""Two half-spaces against the integral over wavenumber: reflection, head wave, transmission. Layers thinner than the grid."""

import numpy as np

from check import claim, done
from exact import Frequencies, error, shoot, two_half_spaces


def contact(what, lower, receivers, bound, h=5.0, fmax=60.0, upper=(1500.0, 1000.0)):
    """The contact is midway between nodes, where a step from one node to the next puts it."""
    zi, n = 202.5, (int(800 / h) + 1, int(450 / h) + 1)
    below = np.broadcast_to(np.arange(n[1]) * h > zi, n)
    fpeak = fmax / 2.777
    t0 = 1.3 / fpeak
    source = np.array([166.5, 101.3])
    receivers = np.array(receivers) + [source[0], 0]
    t, *got = shoot(np.where(below, lower[0], upper[0]), np.where(below, lower[1], upper[1]), h, source, receivers,
                    tmax=0.55, dt_out=0.002, fpeak=fpeak, delay=t0)
    f = Frequencies(0.55, 2.2 * fmax, fpeak, t0)
    exact = two_half_spaces(f, upper, lower, zi, source, receivers, length=lower[0] * 0.9 + 800, kmax=0.7)
    worst = [error(a, f.traces(s, t)) for a, s in zip(got, exact)]
    claim(max(worst) < bound, f"two half-spaces, {what}: pressure {worst[0]:.2f}, vx {worst[1]:.2f}, vz {worst[2]:.2f} % of the "
          f"exact traces, at most {bound} %")


near = [(30.0, 120.0), (150.0, 100.0)]
wide = [(400.0, 150.0), (600.0, 150.0)]  # behind the critical angle, the head wave first
through = [(100.0, 330.0), (300.0, 300.0)]
contact("near reflection at 5 points per wavelength", (2800.0, 2200.0), near, 0.6)
contact("transmission at 5 points per wavelength", (2800.0, 2200.0), through, 0.6)
contact("head wave at 5 points per wavelength", (2800.0, 2200.0), wide, 4.0)
contact("head wave at 10 points per wavelength", (2800.0, 2200.0), wide, 1.0, fmax=30.0)
contact("contrast of density alone", (1500.0, 2200.0), near + through, 2.5)
contact("contrast of density alone, 1 to 10", (1500.0, 10000.0), near + through, 7.0)
contact("contrast of density alone, 1 to 10, at 10 points", (1500.0, 10000.0), near + through, 3.0, fmax=30.0)

# 150 m of layers 1 m thick, on a grid of 5 m: what a long wave sees is the mean of compressibility and of density.
layer = np.random.default_rng(0).random(401) < 0.5
layer &= np.abs(np.arange(401) - 225) < 75
vp, rho = np.tile(np.where(layer, 2900.0, 2200.0), (501, 1)), np.tile(np.where(layer, 2400.0, 2100.0), (501, 1))
job = {"source": (150.3, 60.2), "receivers": [(250.0, 350.0), (350.0, 350.0)],
       "tmax": 0.35, "dt_out": 0.002, "fpeak": 30, "delay": 0.05}
fine = shoot(vp, rho, 1.0, **job)[1]
coarse = {rule: error(shoot(vp, rho, 1.0, dx=5, dz=5, regrid=rule, **job)[1], fine) for rule in ("effective", "average", "nearest")}
claim(coarse["effective"] < 3, f"layers of 1 m on a grid of 5 m, regrid=effective: {coarse['effective']:.1f} % of the traces of "
      f"the 1 m grid, at most 3 % (average {coarse['average']:.0f} %, nearest {coarse['nearest']:.0f} %)")

# Contacts everywhere: squares of 4 samples, as they are and on a grid three times finer. Their sides run between the same nodes.
draw = np.random.default_rng(3).random((2, 31, 23))
vp, rho = (low + 1500 * np.kron(part, np.ones((4, 4))) for low, part in zip((1500, 1000), draw))
job = {"source": (362.0, 86.0), "receivers": [(362.0, 64.0), (480.0, 120.0), (602.0, 180.0), (300.0, 422.0)], "tmax": 0.4, "dt_out": 0.002,
       "delay": 0.1, "regrid": "nearest"}
for fpeak, points, bound in ((18.0, 5, 6.0), (9.0, 10, 3.0)):
    fine = shoot(vp, rho, 6.0, fpeak=fpeak, dx=2, dz=2, **job)[1]
    off = error(shoot(vp, rho, 6.0, fpeak=fpeak, **job)[1], fine)
    claim(off < bound, f"squares of 4 cells of vp 1500 .. 3000 m/s, rho 1000 .. 2500 kg/m3, at {points} points per wavelength: pressure "
          f"{off:.1f} % of the traces of a grid three times finer, at most {bound} %")
done()
