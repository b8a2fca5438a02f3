#!/usr/bin/env python3
"""A double couple in rock of Q = 30 and 60, in absolute amplitude, against the exact solution for a constant Q (Aki & Richards 2002,
eq. 4.29, with the velocities of Kjartansson 1979, J. Geophys. Res. 84, 4737-4748): wherever source and stations stand in the pattern of
mechanisms, of which each cell has one of eight, pressure too, of films as well."""
import re
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, drawn, given_seed
from exact import Frequencies, constant_q, force_in_rock
from mini3d import run, traces, write_deck

VP, VS, RHO, QP, QS = 3000.0, 1700.0, 2300.0, 60.0, 30.0
D = np.array([30.0, 33.0, 36.0])
FPEAK, DELAY, F1, F2, TMAX, DT_OUT = 1.8, 0.65, 0.2, 6.0, 1.4, 0.005
BOUND = {"velocity": 1.5, "pressure": 2.5, "pressure of a film": 2.5}   # per cent
CELL = np.array([20, 19, 16])                                   # of the source, from the corner of the earth
STATIONS = np.array([[46.0, 24.5, 11.5], [45.5, 15.0, 20.0], [19.9, 41.7, 16.5], [20.5, 40.5, 30.5], [41.3, 37.6, 18.2]]) * D
TENSOR = np.array([[-0.8, 0.5, 0.2], [0.5, 0.9, -0.4], [0.2, -0.4, -0.1]]) * 1e15
FREQUENCIES = Frequencies(TMAX, 4 * FPEAK, FPEAK, DELAY)
W = FREQUENCIES.w
CP, CS = (constant_q(c, q, W, np.sqrt(F1 * F2)) for c, q in ((VP, QP), (VS, QS)))


def green(x):
    return force_in_rock(x, CP, CS, RHO, W)


def slope(f, x, k, h):
    e = np.eye(3)[k] * h
    return (8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * h)


def moved(x):
    """Spectra of the velocity (3, frequency) at x from TENSOR at 0, whose rate has the history of the wavelet."""
    return -sum(np.einsum("ijw,j->iw", slope(green, x, k, 5.0), TENSOR[:, k]) for k in range(3)) * FREQUENCIES.q


def exact(x, t):
    """vx, vy, vz, p (4, time)."""
    divergence = sum(slope(moved, x, k, 10.0)[k] for k in range(3))
    pressure = RHO * (CP**2 - 4 / 3 * CS**2) * divergence / (1j * W)
    return FREQUENCIES.traces(np.vstack([moved(x), pressure]).T, t)


def film(source):
    """The worst of eight cells together, of all mechanisms, far from the source."""
    off = []
    with Dataset("out.nc") as ds:
        late = ds.time_step_s / 2                                # pressure of films is, after their times
    with Dataset("out.nc.snap1.nc") as ds:
        x, y, t = (ds[name][:].data for name in ("x", "y", "time"))
        planes = [name for name in ds.variables if re.fullmatch(r"p_z\d+", name)]
        for name in planes:
            for i in (np.argmin(abs(x - source[0] - far * D[0])) for far in (24, 25)):
                for j in (np.argmin(abs(y - source[1] - far * D[1])) for far in (4, 5)):
                    want = exact(np.array([x[i], y[j], ds[name].plane_m]) - source, t + late)[3]
                    off.append(100 * np.linalg.norm(ds[name][:, j, i] - want) / np.linalg.norm(want))
    return max(off)


def compare(what, cells):
    """The source so many cells from the corner."""
    source = cells * D
    Path("line.keymap").write_text(f"spread net list stations\nshot 1 {source[0]} {source[2]} net y={source[1]}\n")
    r = run("par=job.par", "overwrite=y")
    if r.returncode:
        claim(False, f"{what}: exit status {r.returncode}: {r.stderr[-500:]}")
        return
    got = np.stack([traces("out.nc", c)[0] for c in ("vx", "vy", "vz", "pressure")], 1)
    t = np.arange(got.shape[-1]) * DT_OUT
    worst = dict.fromkeys(BOUND, 0.0)
    worst["pressure of a film"] = film(source)
    for i, s in enumerate(STATIONS):
        want = exact(s - source, t)
        for kind, part in (("velocity", slice(3)), ("pressure", slice(3, 4))):
            worst[kind] = max(worst[kind], 100 * np.linalg.norm(got[i, part] - want[part]) / np.linalg.norm(want[part]))
    for kind, bound in BOUND.items():
        claim(worst[kind] < bound, f"source {what}, {kind} at {len(STATIONS)} stations: relative L2 at most {worst[kind]:.2f} %, "
              f"bound {bound} %")


Path("stations").write_text("".join(f"{i + 1} {s[0]} {s[2]} {s[1]}\n" for i, s in enumerate(STATIONS)))
Path("rock.layers").write_text(f"0 {VP} {VS} {RHO} {QP} {QS}\n")
tensor = {"m" + "xyz"[i] + "xyz"[j]: TENSOR[i, j] for i in range(3) for j in range(i, 3)}
write_deck(layers="rock.layers", dx=D[0], dy=D[1], dz=D[2], aperture=200, depth=1260, npml=8, half_length=2, top="pml", fpeak=FPEAK,
           delay=DELAY, tmax=TMAX, dt_out=DT_OUT, components="vx,vy,vz,p", source="moment", snapshot=0.02, snapshot_planes="z500,z530",
           snapshot_fields="p", q_f1=F1, q_f2=F2, **tensor)


def weak():
    """Hardly any attenuation is none: the same weights of source and stations, the same traces."""
    got = []
    for name, q in (("none", ""), ("weak", " 1e7 1e7")):
        Path("rock.layers").write_text(f"0 {VP} {VS} {RHO}{q}\n")
        r = run("par=job.par", "overwrite=y")
        if r.returncode:
            claim(False, f"attenuation {name}: exit status {r.returncode}: {r.stderr[-500:]}")
            return
        got.append(np.stack([traces("out.nc", c)[0] for c in ("vx", "vy", "vz", "pressure")], 1))
    off = max(np.linalg.norm(got[1][:, c] - got[0][:, c]) / np.linalg.norm(got[0][:, c]) for c in range(4))
    claim(off <= 1e-5, f"Q = 1e7 against no attenuation: traces differ by {off:.1e}, bound 1e-5")


SEED = given_seed()
for what, place in drawn(2, (("in the centre of a cell", 0.5), ("one cell along x", [1.5, 0.5, 0.5]), ("between cells", [1.23, 0.81, 1.0])), SEED):
    compare(what, CELL + place)
weak()
done()
