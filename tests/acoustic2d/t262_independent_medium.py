#!/usr/bin/env python3
"""Smooth medium, velocity and density unrelated, against a pseudospectral solver in double precision."""
from pathlib import Path

import numpy as np

from check import claim, done
from exact import COMPONENTS, error, pseudospectral, ricker, shoot

N, H, FMAX = 128, 10.0, 30.0
FPEAK, T0 = FMAX / 2.777, 0.12
x, z = np.meshgrid(np.arange(N) * H, np.arange(N) * H, indexing="ij")
rng = np.random.default_rng(11)


def bumps(size):
    """Gaussians in the middle of the model, so that its edges are homogeneous."""
    a = np.zeros((N, N))
    for _ in range(14):
        cx, cz = 640 + rng.uniform(-230, 230, 2)
        a += size * rng.choice([-1, 1]) * np.exp(-((x - cx)**2 + (z - cz)**2) / (2 * rng.uniform(60, 90)**2))
    return a


vp = np.maximum(1900 * np.exp(bumps(0.2)), 1400).astype("f4").astype(float)
vp = 1500 / vp.min() * vp
rho = (1500 * np.exp(bumps(0.3))).astype("f4").astype(float)
source = np.array([643.7, 611.1])
angle = np.arange(8) * np.pi / 4 + 0.2
away = np.linspace(110, 330, 8)
receivers = source + np.stack([away * np.cos(angle), away * np.sin(angle)], axis=1)
exact = pseudospectral(vp, rho, H, source, receivers, lambda t: ricker(t, FPEAK, T0), 0.001, 440, 4)
for half_length, bound in ((8, 1.0), (3, 1.0)):
    _, *got = shoot(vp, rho, H, source, receivers, tmax=0.44, dt_out=0.004, fpeak=FPEAK, delay=T0, half_length=half_length)
    worst = [error(a, b) for a, b in zip(got, exact)]
    claim(max(worst) < bound, f"vp {vp.min():.0f}..{vp.max():.0f} m/s, rho {rho.min():.0f}..{rho.max():.0f} kg/m3, half-length "
          f"{half_length}: {', '.join(f'{n} {e:.2f}' for n, e in zip(COMPONENTS, worst))} % of the pseudospectral traces at 5 "
          f"points per wavelength, at most {bound} %")

# Allowed, for the group velocity is right to 1 %, but the program must say what that comes to at the end of a long record.
for half_length, warns in ((2, True), (8, False)):
    shoot(np.full((31, 31), 1500.0), np.full((31, 31), 1000.0), H, (150, 150), [(200, 200)], tmax=4, fpeak=FPEAK,
          half_length=half_length)
    log = max(Path().glob("run*/out.nc.log"), key=lambda path: int(path.parent.name[3:])).read_text()
    claim(("periods of fmax" in log) == warns, f"half-length {half_length} at 5 points per wavelength for 4 s: "
          f"{'a' if warns else 'no'} warning of dispersion")
done()
