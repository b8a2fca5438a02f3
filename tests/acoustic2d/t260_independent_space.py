#!/usr/bin/env python3
"""Full space, and half-space under a free surface, against sums over frequency: absolute amplitude, time zero, any position."""
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from exact import COMPONENTS, Frequencies, error, full_space, shoot

C, RHO, H = 1800.0, 1234.0, 10.0
FMAX = C / (5 * H)                       # 5 points per shortest wavelength
FPEAK = FMAX / 2.777                     # where the spectrum of a Ricker wavelet is at 1 %


def space(what, bound, t0=0.12, dz=H, **deck):
    """Receivers at ten generic azimuths, none on a node."""
    n = (121, int(1200 / dz) + 1)
    source = np.array([441.3, 507.7])
    angle = np.radians([3, 17, 38, 45, 61, 77, 100, 133, 200, 290])
    r = np.array([60, 150, 300, 400, 450, 300, 200, 350, 250, 400])
    away = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    t, *got = shoot(np.full(n, C), np.full(n, RHO), H, source, source + away,
                    **{"tmax": 0.6, "dt_out": 0.002, "fpeak": FPEAK, "delay": t0, "model_dz": dz, **deck})
    f = Frequencies(0.7, 5 * FMAX, FPEAK, t0)
    exact = [f.traces(s, t) for s in full_space(f, C, RHO, *away.T)]
    worst = [error(np.array([a.ravel()]), np.array([b.ravel()])) for a, b in zip(got, exact)]
    claim(max(worst) < bound, f"full space, {what}: {', '.join(f'{n} {e:.3f}' for n, e in zip(COMPONENTS, worst))} % of the exact "
          f"traces at 5 points per wavelength, at most {bound} %")


def surface(zs, zr, h=5.0, c=1500.0):
    n = (141, 81)
    fpeak = c / (5 * h) / 2.777
    t0 = 1.3 / fpeak
    source = np.array([151.9, zs])
    receivers = np.array([(151.9 + x, z) for x in (100, 200, 400) for z in zr])
    t, *got = shoot(np.full(n, c), np.full(n, RHO), h, source, receivers, top="free", tmax=0.5, dt_out=0.001, fpeak=fpeak, delay=t0)
    f = Frequencies(0.6, 5 * c / (5 * h), fpeak, t0)
    dx, z = receivers[:, 0] - source[0], receivers[:, 1]
    pair = zip(full_space(f, c, RHO, dx, z - zs), full_space(f, c, RHO, dx, z + zs))
    worst = [error(a, f.traces(direct - image, t)) for a, (direct, image) in zip(got, pair)]
    claim(max(worst) < 0.6, f"free surface, source {zs} m and receivers {zr} m deep, cells of {h:g} m: "
          f"{', '.join(f'{n} {e:.2f}' for n, e in zip(COMPONENTS, worst))} % of source and image, at most 0.6 %")


def snapshots():
    """At every 17th node further than 6 cells from the source, where nothing is singular."""
    n, source, t0 = (101, 91), np.array([403.1, 457.7]), 0.12
    shoot(np.full(n, C), np.full(n, RHO), H, source, [source + 200], fpeak=FPEAK, delay=t0, tmax=0.3, dt=0.0005, snapshot=0.15,
          snapshot_step=3)
    with Dataset(next(Path().glob("run*/out.nc.snap1.nc"))) as ds:
        p, x, z, t = (np.array(ds[name][:], float) for name in ("pressure", "x", "z", "time"))
        removed = ds.time_dispersion_removed
    dx, dz = (a.ravel() for a in np.meshgrid(x - source[0], z - source[1]))
    some = np.flatnonzero(np.hypot(dx, dz) > 6 * H)[::17]
    f = Frequencies(0.5, 3.5 * FMAX, FPEAK, t0)
    exact = f.traces(full_space(f, C, RHO, dx[some], dz[some])[0], t[1:]).T
    worst = error(p.reshape(len(t), -1)[1:, some], exact)
    claim(worst < 1 and removed == "no",
          f"snapshots at dt = 0.5 ms, {len(some)} nodes: {worst:.2f} % of the exact field, at most 1; "
          f"time_dispersion_removed = {removed}, must be no")


space("defaults", 0.1)
space("half-length 4", 0.2, half_length=4)
space("cells of 10 x 4 m", 0.2, dz=4.0)
space("time zero at the first sample", 0.1, t0=0.0)
space("samples of 1.37 ms", 0.1, dt_out=0.00137)
surface(6.0, [8.0])
surface(1.1, [1.7, 4.9])                 # less than half a cell deep
surface(5.0, [5.0, 10.0])                # on nodes in depth
snapshots()
done()
