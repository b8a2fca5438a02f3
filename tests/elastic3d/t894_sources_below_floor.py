#!/usr/bin/env python3
"""Moments right below a sea floor: a tensor that shears along it makes the waves of the exact sum over plane waves, and with half-length 1 an
explosion does; plan and log tell of what is off with longer differences, and where a sea floor lies in a cell."""
import os
import re
import sys
from pathlib import Path

import numpy as np
from check import claim, done
from mini3d import run, write_deck
from netCDF4 import Dataset
from scipy.special import jv

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tools"))
from spltools.reference.layered_motion import DAMPING, ORDERS, PERIODS, RANGE, Waves, forces, wavenumbers  # noqa: E402

H, FLOOR, C, RHO0, VP, VS, RHO = 10.0, 150.0, 1500.0, 1000.0, 2600.0, 1300.0, 2000.0
FMAX = VS / (10 * H)
FPEAK = FMAX / 2.777
X, Y = 3.3, 7.1
STATIONS = np.array([(90, 20, 100), (-30, 80, 85), (5, 0, 100), (70, 20, -75)], float)          # from the foot of the source on the floor
SHEAR, PUSH = np.array([0, 0, 0, 0, 1e12, 0]), np.array([1e12, 1e12, 1e12, 0, 0, 0])
WORDS = re.compile(r"1 source\(s\) of moment or volume lie in rock within (\d) cells of water, the first of them that of shot record 1 at z = ")


def motion(deep, zr, m, k, omega):
    """(order, u w v p, k) at zr below the floor, of a moment m so deep in the rock."""
    rock = Waves(k, omega, VP + 0j, VS + 0j, RHO)
    f, decay = forces(m, k), np.stack([rock.decay[0], rock.decay[1], rock.decay[1]])
    up = rock.direct(f, False) * np.exp(-decay * deep)
    come = np.einsum("owk,wpk->opk", up[:, :2], rock.psv[1])
    g, scale = np.sqrt(k**2 - (omega / C) ** 2), RHO * VS * abs(omega)
    a, b = np.zeros((len(k), 3, 3), complex), np.zeros((len(k), 3, 5), complex)
    for row, part, unit in ((0, 1, 1), (1, 3, 1 / scale), (2, 2, 1 / scale)):       # motion across, pressure, no shear
        a[:, row, :2] = rock.psv[0][:, part].T * unit
        b[:, row] = -come[:, part].T * unit
    a[:, 0, 2], a[:, 1, 2] = -g / (RHO0 * omega**2) * scale, 1
    x = np.linalg.solve(a, b).transpose(1, 2, 0)
    out = np.zeros((5, 4, len(k)), complex)
    if zr < 0:
        p = x[2] * scale * np.exp(g * zr)
        out[:, 0], out[:, 1], out[:, 3] = 1j * k * p / (RHO0 * omega**2), g * p / (RHO0 * omega**2), p
        return out
    d = 0 if zr > deep else 1
    direct = rock.direct(f, d == 0) * np.exp(-decay * abs(zr - deep))
    out[:, :2] = np.einsum("wok,wpk->opk", x[:2] * np.exp(-decay[:2] * zr)[:, None], rock.psv[0][:, :2])
    out[:, :2] += np.einsum("owk,wpk->opk", direct[:, :2], rock.psv[d][:, :2])
    back = -np.einsum("owk,wpk->opk", up[:, 2:], rock.sh[1])[:, 1] / rock.sh[0][0, 1]
    out[:, 2] = back * np.exp(-decay[2] * zr) * rock.sh[0][0, 0] + direct[:, 2] * rock.sh[d][0, 0]
    return out


def exact(deep, m, t, zero):
    """(station, vx vy vz p, time)."""
    far, azimuth = np.hypot(STATIONS[:, 0], STATIONS[:, 1]), np.arctan2(STATIONS[:, 1], STATIONS[:, 0])
    df = 1 / (PERIODS * t[-1])
    dk = 2 * np.pi / (1.1 * VP * t[-1] + 2 * far.max())
    out = np.zeros((len(STATIONS), 4, len(t)))
    for n in range(int(np.ceil(3.2 * FMAX / df)) + 1):
        omega = 2 * np.pi * n * df - 1j * DAMPING * df
        f = omega / (2 * np.pi)
        k, area = wavenumbers(int((1.3 * abs(omega) / VS + RANGE / 70) / dk) + 2, dk)
        wave = 2 / np.sqrt(np.pi) * f**2 / FPEAK**3 * np.exp(-((f / FPEAK) ** 2) + 1j * omega * (t - zero)) * (1 if n == 0 else 2) * df
        for s, (_, _, z) in enumerate(STATIONS):
            u, w, v, p = motion(deep, z, m, k, omega).transpose(1, 0, 2)
            bessel = {q: 1j ** float(q) * jv(q, k * far[s]) * area * np.exp(1j * q * azimuth[s]) for q in range(-3, 4)}
            plus, minus = (sum((u[i] + d * 1j * v[i]) @ bessel[q + d] for i, q in enumerate(ORDERS)) for d in (1, -1))
            down, press = (sum(c[i] @ bessel[q] for i, q in enumerate(ORDERS)) for c in (w, p))
            for c, value in enumerate(((plus + minus) / 2, (plus - minus) / 2j, down, press / (1j * omega))):
                out[s, c] += (value * wave).real
    return out


def shot(verb, deep, half_length, source, floor=FLOOR):
    Path("sea.layers").write_text(f"0 {C} 0 {RHO0}\n{floor} {VP} {VS} {RHO}\n")
    Path("nodes.txt").write_text("".join(f"{i + 1} {X + x} {FLOOR + z} {Y + y}\n" for i, (x, y, z) in enumerate(STATIONS)))
    Path("sea.map").write_text(f"spread net list nodes.txt\nshot 1 {X} {floor + deep * H} net y={Y}\n")
    write_deck(keymap="sea.map", layers="sea.layers", dx=H, aperture=42, depth=300, npml=9, half_length=half_length, top="pml", fpeak=FPEAK, fmax=FMAX,
               tmax=0.65, dt_out=0.005, components="vx,vy,vz,p", dispersion="warn", forecast=0, overwrite="y", **source)
    r = run(*verb, "par=job.par")
    claim(r.returncode == 0, f"{deep} cells below the floor, half-length {half_length}: {r.stderr.strip()[-200:] if r.returncode else 'no error'}")
    return r.stdout + r.stderr


def off(deep, half_length, source, m):
    """Per cent of the motion in rock, and of the pressure; what was said."""
    said = shot((), deep, half_length, source)
    with Dataset("out.nc") as d:
        got = np.stack([d[c][0].filled(np.nan).astype(float) for c in ("vx", "vy", "vz", "pressure")], 1)
        want = exact(deep * H, m, 0.005 * np.arange(got.shape[2]), float(d.wavelet_time_zero))
    return [100 * float(np.linalg.norm(got[s] - want[s]) / np.linalg.norm(want[s])) for s in (np.s_[:3, :3], np.s_[3, 3])], said


EXPLOSION, TENSOR = {"source": "explosion", "m0": 1e12}, {"source": "moment", "mxz": 1e12}
for name, deep, half_length, source, m, most, told in (
        ("shear along the floor", 0.1, 2, TENSOR, SHEAR, (15, 40), True), ("an explosion", 0.2, 1, EXPLOSION, PUSH, (7, 4), False)):
    errors, said = off(deep, half_length, source, m)
    claim(all(e <= b for e, b in zip(errors, most)), f"{name} {deep} cells below the floor, half-length {half_length}: motion in rock and pressure "
          f"{errors[0]:.1f}, {errors[1]:.1f} % from the exact sum, at most {most[0]}, {most[1]}")
    claim(bool(WORDS.search(said)) is told, f"the log {'tells' if told else 'does not tell'} of it")
for deep, half_length, source, floor, cells in (
        (1.9, 2, EXPLOSION, FLOOR, "2"), (0.3, 4, {"source": "volume"}, FLOOR, "2"), (2.1, 2, TENSOR, FLOOR, None),
        (0.3, 2, {"source": "force", "fx": 1}, FLOOR, None), (2.2, 1, TENSOR, FLOOR + 5, "3"),
        (3.3, 2, TENSOR, FLOOR + 5, None), (-1, 2, EXPLOSION, FLOOR, None)):
    said = " ".join(shot(("plan",), deep, half_length, source, floor).split())
    found = WORDS.search(said)
    claim((found.group(1) if found else None) == cells and (not found or "contact of rock" not in said),
          f"{source['source']} {deep} cells below a floor {'on a face' if floor == FLOOR else 'in a cell'}, half-length {half_length}: plan tells of "
          f"{cells + ' cells' if cells else 'nothing'}")
done()
