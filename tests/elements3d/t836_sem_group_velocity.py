#!/usr/bin/env python3
"""In a transversely isotropic medium whose axis leans, and with the word `more` in a triclinic one, waves of spectral elements travel with the
group velocities that Christoffel's equation has: P waves of an explosion along five rays, and S waves of a force across the axis of
symmetry, along three rays across the force that are far from the axis, around which the two S waves do not part.

The reference: phase velocities by eigenvalues of Christoffel's matrix, whose gradient by wavenumber is the group velocity. The
measurement: what two receivers on a ray are apart in time, by the phase of their cross-spectrum around its peak. Pressure is
recorded of P and rotation of S, each of which has no near field in an isotropic medium but that of a dipole, which the force's
rotation is divided by."""
import subprocess
import sys
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from minisem import MESH, run

BOUND = 0.005
VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
SIZE, N, START, NEAR, FAR = 1700.0, 17, 450.0, 700.0, 1350.0
RHO = 2300.0


def slow_to_fast(c, k):
    """omega of three waves with wavenumbers k (n, 3), rising."""
    g = np.array([[sum(c[VOIGT[i, j], VOIGT[m, n]] * k[:, j] * k[:, n] for j in range(3) for n in range(3)) for m in range(3)] for i in range(3)])
    return np.sqrt(np.linalg.eigvalsh(np.moveaxis(g, 2, 0)) / RHO)


def group(c, ray, wave):
    """The speed along a ray of the wave (0, 1, 2 rising), of the normal whose group velocity has that direction."""
    def velocity(k):
        h = 1e-4
        return np.stack([(slow_to_fast(c, k + h * e)[:, wave] - slow_to_fast(c, k - h * e)[:, wave]) / (2 * h) for e in np.eye(3)], 1)
    n = ray / np.linalg.norm(ray)
    for _ in range(200):                 # the normal is turned until its group velocity has the direction of the ray
        v = velocity(n[None])[0]
        off = ray - v / np.linalg.norm(v)
        if np.linalg.norm(off) < 1e-6:
            return np.linalg.norm(v)
        n = n + 0.5 * off
        n /= np.linalg.norm(n)
    raise AssertionError(f"no normal found of the ray {ray}")


def apart(near, far, dt, expected, window, dipole=None):
    """Seconds from `near` to `far`: the slope of phase at their dominant frequencies, each cut out around its expected time."""
    n = 8192
    spectra = []
    for trace, (t, r) in zip((near, far), expected):
        time = np.arange(trace.size) * dt
        cut = np.clip(1 - ((time - t) / window)**2, 0, None)**2
        s = np.fft.rfft(trace * cut, n)
        f = np.fft.rfftfreq(n, dt)
        if dipole:
            s[1:] /= 1 + dipole / (2j * np.pi * f[1:] * r)
        spectra.append(s)
    cross = spectra[0] * np.conj(spectra[1])
    weight = np.abs(cross)
    some = weight > 0.3 * weight.max()
    guess = expected[1][0] - expected[0][0]
    turn = np.angle(cross[some] * np.exp(-2j * np.pi * f[some] * guess))
    return guess + np.sum(weight[some] * turn) / np.sum(weight[some] * 2 * np.pi * f[some])


def rays(c, directions, wave, source, component, fpeak, what, force=None):
    at = START
    lines = [f"{2 * m + i + 1} {at + r * d[0]:.6f} {at + r * d[2]:.6f} {at + r * d[1]:.6f}"
             for m, d in enumerate(directions) for i, r in enumerate((NEAR, FAR))]
    Path("rays.stations").write_text("\n".join(lines) + "\n")
    Path("rays.keymap").write_text(f"spread rays list rays.stations\nshot 1 {at} {at} rays y={at}\n")
    Path("rock.materials").write_text(f"* cij {RHO} " + " ".join(f"{c[i, j]:.12g}" for i in range(6) for j in range(i, 6)) + "\n")
    speeds = [group(c, d, wave) for d in directions]
    delay = 1.2 / fpeak
    r = run("keymap=rays.keymap", "mesh=box.exo", "mesh_z=down", "materials=rock.materials", f"components={','.join(component)}", *source,
            "wavelet=ricker", f"fpeak={fpeak}", f"delay={delay}",
            f"tmax={FAR / min(speeds) + delay + 1 / fpeak}", "dispersion=warn", "output=rays.nc", "overwrite=y",
            "threads=2")
    if not claim(r.returncode == 0, f"{what}: exit status {r.returncode} {r.stderr[-400:] if r.returncode else ''}"):
        return
    with Dataset("rays.nc") as ds:
        time = ds["time"][...].filled(0).astype(float)
        traces = [ds["pressure" if x == "p" else x][0].filled(np.nan).astype(float) for x in component]
    for m, (d, v) in enumerate(zip(directions, speeds)):
        pick = [1.0] if force is None else np.cross(d, force)           # the rotation of an S wave that moves along the force
        near, far = (sum(p * t[2 * m + i] for p, t in zip(pick, traces)) for i in range(2))
        expected = [(x / v + delay - time[0], x) for x in (NEAR, FAR)]
        measured = (FAR - NEAR) / apart(near, far, time[1] - time[0], expected, 0.9 / fpeak, None if force is None else v)
        claim(abs(measured / v - 1) <= BOUND, f"{what} along {np.round(d, 2)}: {measured:.1f} m/s, Christoffel's equation has {v:.1f} "
                                              f"({100 * (measured / v - 1):+.2f} %, bound {100 * BOUND} %)")


def leaning(axis):
    """Thomsen's vp 3000, vs 1700, epsilon 0.2, delta 0.05, gamma 0.2, turned; z down."""
    c33, c44 = RHO * 3000**2, RHO * 1700**2
    c11, c66 = c33 * 1.4, c44 * 1.4
    c13 = np.sqrt(0.1 * c33 * (c33 - c44) + (c33 - c44)**2) - c44
    c = np.diag([c11, c11, c33, c44, c44, c66])
    c[0, 1] = c[1, 0] = c11 - 2 * c66
    c[0, 2] = c[2, 0] = c[1, 2] = c[2, 1] = c13
    across = np.cross(axis, [0.3, 0.1, 0.8])
    across /= np.linalg.norm(across)
    a = np.column_stack([np.cross(across, axis), across, axis])
    full = np.array([[[[c[VOIGT[i, j], VOIGT[k, m]] for m in range(3)] for k in range(3)] for j in range(3)] for i in range(3)])
    full = np.einsum("ip,jq,kr,ls,pqrs->ijkl", a, a, a, a, full)
    pair = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    return np.array([[full[p + q] for q in pair] for p in pair])


r = subprocess.run([MESH, "box", "-o", "box.exo", "--x", "0", str(SIZE), "--y", "0", str(SIZE), "--z", "0", str(SIZE), "--elements", str(N), str(N),
                    str(N), "--shake", "0.05", "--seed", "836"], capture_output=True, text=True)
claim(r.returncode == 0, f"spl-mesh box {r.stderr}")
unit = [np.array(d) / np.linalg.norm(d) for d in ([1, 0.5, 0.5], [0.5, 1, 0.45], [0.45, 0.55, 1], [1, 0.9, 1.1], [1, 0.6, 0.9])]
c = leaning(np.array([0.663, 0.383, 0.643]))
rays(c, unit, 2, ["source=explosion", "m0=1e14"], ["p"], 8, "P in a leaning medium")
axis = np.array([0.75, -0.6, -0.2794])
axis /= np.linalg.norm(axis)
force = np.cross(axis, [1, 1, 1])
force /= np.linalg.norm(force)
fan = [np.cos(x) * axis + np.sin(x) * np.cross(force, axis) for x in np.radians([76, 90, 104])]
rays(leaning(axis), fan, 1, ["source=force", *(f"f{x}={f}" for x, f in zip("xyz", force))], ["wx", "wy", "wz"], 6, "S in a leaning medium", force)
if "more" in sys.argv:
    more = 0.06 * c[3, 3] * np.random.default_rng(836).uniform(-1, 1, (6, 6))
    rays(c + more + more.T, unit, 2, ["source=explosion", "m0=1e14"], ["p"], 8, "P in a triclinic medium")
done()
