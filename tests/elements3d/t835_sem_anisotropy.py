#!/usr/bin/env python3
"""Anisotropic blocks of spectral elements, from the table of materials to traces: 21 constants of an isotropic medium give its traces;
Thomsen's parameters with tilt and azimuth give those of constants that this test turns by itself, with z of the mesh up and down;
a table that is of no medium is refused; plan tells the slowest and the fastest wave; where such rock attenuates volumes are reciprocal.
The weight of an ocean, from its parameter on."""
import re
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from minisem import MESH, run

FIELDS = ("vx", "vy", "vz", "sxx", "syz", "p", "exy")
NAMES = ("vx", "vy", "vz", "sxx", "syz", "pressure", "exy")
DECK = dict(keymap="line.keymap", mesh="box.exo", components=",".join(FIELDS), source="force", fx=1, fy=-0.6, fz=0.8, fpeak=2, tmax=0.8, threads=2)
VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])


def traces(**changes):
    r = run(*[f"{k}={v}" for k, v in {**DECK, "output": "shot.nc", "overwrite": "y", **changes}.items() if v is not None])
    if not claim(r.returncode == 0, f"{changes}: exit status {r.returncode} {r.stderr[-400:] if r.returncode else ''}"):
        return [np.zeros(1)] * len(NAMES)
    with Dataset("shot.nc") as ds:
        return [ds[c][...].filled(np.nan).astype(float) for c in NAMES if c in ds.variables]


def materials(path, line):
    Path(path).write_text(f"* {line}\n")
    return path


def cij(rho, c):
    return f"cij {rho} " + " ".join(f"{c[i, j]:.10g}" for i in range(6) for j in range(i, 6))


def isotropic(rho, vp, vs):
    c = np.zeros((6, 6))
    c[:3, :3] = rho * (vp**2 - 2 * vs**2)
    return c + rho * vs**2 * np.diag([2, 2, 2, 1, 1, 1])


def turned(c, a):
    """By the tensor of fourth order."""
    full = np.array([[[[c[VOIGT[i, j], VOIGT[k, m]] for m in range(3)] for k in range(3)] for j in range(3)] for i in range(3)])
    full = np.einsum("ip,jq,kr,ls,pqrs->ijkl", a, a, a, a, full)
    pair = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    return np.array([[full[p + q] for q in pair] for p in pair])


def thomsen(vp, vs, rho, epsilon, delta, gamma):
    """Along z, by the definitions of the parameters; delta tells c13."""
    c33, c44 = rho * vp**2, rho * vs**2
    c11, c66 = c33 * (1 + 2 * epsilon), c44 * (1 + 2 * gamma)
    c13 = np.sqrt(2 * delta * c33 * (c33 - c44) + (c33 - c44)**2) - c44
    c = np.diag([c11, c11, c33, c44, c44, c66])
    c[0, 1] = c[1, 0] = c11 - 2 * c66
    c[0, 2] = c[2, 0] = c[1, 2] = c[2, 1] = c13
    return c


def axis_to(tilt, azimuth, up):
    """A rotation that brings z to the axis, along x, y, z of the mesh, z up or down."""
    t, a = np.radians([tilt, azimuth])
    axis = np.array([np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), np.cos(t) * (1 if up else -1)])
    across = np.cross(axis, [0.3, -0.2, 0.9])
    across /= np.linalg.norm(across)
    return np.column_stack([np.cross(across, axis), across, axis])


def same(what, a, b, bound=1e-5):
    worst = max(np.linalg.norm(x - y) / np.linalg.norm(x) for x, y in zip(a, b))
    claim(len(a) == len(b) == len(NAMES) and worst <= bound, f"{what}: worst of {len(a)} components differs by {worst:.2g}, bound {bound:g}")


def refused(what, line, *expected):
    r = run("plan", *[f"{k}={v}" for k, v in {**DECK, "materials": materials("bad.materials", line)}.items()])
    said = r.stderr + r.stdout
    claim(r.returncode == 1 and all(w in said for w in (*expected, "bad.materials, line 1", "block *")), f"{what} is refused: {said.strip()[-260:]}")


def box(path, *more):
    r = subprocess.run([MESH, "box", "-o", path, "--x", "0", "800", "--y", "0", "700", "--z", *more, "--elements", "5", "5", "5", "--shake", "0.1",
                        "--overwrite"], capture_output=True, text=True)
    claim(r.returncode == 0, f"spl-mesh box makes {path} {r.stderr}")


Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=143.7 channels=4 depth=190.7 y=341.7\n"
                               "shots first_record=11 n=1 x0=353.3 dx=1 z=251.7 y=412.3 spread=cable\n")
box("box.exo", "-700", "0")
box("down.exo", "0", "700")

rho, vp, vs = 2100, 2600, 1500
for q in ("", " 60 40"):
    plain = traces(materials=materials("plain.materials", f"{vp} {vs} {rho}{q}"))
    constants = traces(materials=materials("cij.materials", cij(rho, turned(isotropic(rho, vp, vs), axis_to(35, 110, True))) + q))
    same(f"21 constants of an isotropic medium{', which attenuates' * bool(q)}", plain, constants)

shale = (2600, 1350, 2200, 0.18, 0.07, 0.15)
numbers = " ".join(map(str, shale))
vti = traces(materials=materials("vti.materials", f"vti {numbers}"))
same("a vertical axis, by Thomsen's parameters and by constants", vti, traces(materials=materials("cij.materials", cij(shale[2], thomsen(*shale)))))
tilt, azimuth = 35, 110
tti = traces(materials=materials("tti.materials", f"tti {numbers} {tilt} {azimuth}"))
apart = np.linalg.norm(tti[0] - vti[0]) / np.linalg.norm(vti[0])
claim(apart > 0.05, f"an axis that leans makes other traces: {apart:.2g} > 0.05")
up = cij(shale[2], turned(thomsen(*shale), axis_to(tilt, azimuth, True)))
same("a leaning axis, and constants turned in the test, z up", tti, traces(materials=materials("cij.materials", up)))
tti = traces(materials="tti.materials", mesh="down.exo", mesh_z="down")
down = cij(shale[2], turned(thomsen(*shale), axis_to(tilt, azimuth, False)))
same("the same, z of the mesh down", tti, traces(materials=materials("cij.materials", down), mesh="down.exo", mesh_z="down"))
apart = np.linalg.norm(tti[0] - traces(materials=materials("cij.materials", up), mesh="down.exo", mesh_z="down")[0]) / np.linalg.norm(tti[0])
claim(apart > 0.02, f"constants of a mesh whose z points up are others for one whose z points down: {apart:.2g} > 0.02")

# A volume injected here has the pressure there that it would have here, injected there: what relaxes is the same of both.
places, pressure = ((180.3, 511.7, 421.1), (522.9, 187.2, 297.4)), []
lossy = dict(materials=materials("lossy.materials", f"tti {numbers} 35 110 60 40"), components="p", source="volume", tmax=1.2, fx=None, fy=None, fz=None)
for (x, y, z), (to_x, to_y, to_z) in (places, places[::-1]):
    Path("two.keymap").write_text(f"spread one fixed x0={to_x} interval=1 channels=1 depth={to_z} y={to_y}\n"
                                  f"shots first_record=1 n=1 x0={x} dx=1 z={z} y={y} spread=one\n")
    pressure.append(traces(keymap="two.keymap", **lossy)[0])
apart = np.linalg.norm(pressure[0] - pressure[1]) / np.linalg.norm(pressure[0])
claim(apart <= 1e-5, f"in anisotropic rock that attenuates, pressure of a volume there and back again differs by {apart:.2g}, bound 1e-5")

r = run("plan", *[f"{k}={v}" for k, v in {**DECK, "materials": "vti.materials"}.items()])
told = [float(x) for x in re.findall(r"slowest wave ([\d.]+) m/s, fastest ([\d.]+) m/s", r.stdout + r.stderr)[0]]
fast = shale[0] * np.sqrt(1 + 2 * shale[3])
claim(abs(told[0] / shale[1] - 1) < 1e-3 and abs(told[1] / fast - 1) < 1e-3, f"plan tells velocities of {told} m/s, must be {shale[1]}, {fast:.1f}")

dry = traces(materials="plain.materials", tmax=0.6)
wet = traces(materials="plain.materials", tmax=0.6, ocean_load="60")
apart = np.linalg.norm(wet[2] - dry[2]) / np.linalg.norm(dry[2])
claim(apart > 0.01, f"60 m of water move the receivers: vz changes by {apart:.2g} > 0.01")
same("60 m of water by number and by formula", wet, traces(materials="plain.materials", tmax=0.6, ocean_load="60 + 0*x"))
r = run("plan", *[f"{k}={v}" for k, v in {**DECK, "ocean_load": "topography", "materials": "plain.materials"}.items()])
claim(r.returncode == 1 and "has water above it" in r.stderr + r.stdout, f"no water over a mesh that begins at z = 0: {r.stderr.strip()[-200:]}")

wrong = isotropic(rho, vp, vs)
wrong[3, 4] = wrong[4, 3] = 1.01 * wrong[4, 4]
refused("a table of no stable medium", cij(rho, wrong), "positive definite")
refused("a table in GPa", cij(rho, isotropic(rho, vp, vs) / 1e9), "Pa")
refused("a table with 20 constants", cij(rho, isotropic(rho, vp, vs)).rsplit(" ", 1)[0], "21 numbers", "22 or 24")
for line in ("vti 2600 1e200 2200 0.1 0.05 0.1", "tti 3000 1e299 2300 0.1 0.05 0.08 30 45"):
    refused("vs that is no number of a rock", line, "must be 50 .. 15000, above 0 up to 15000")
refused("constants beyond all rocks", cij(rho, isotropic(rho, vp, vs) * 1e280), "must be 1e6 .. 1e14")
refused("a delta that no medium has", "vti 2600 1350 2200 0.1 -0.5 0.1", "delta")
done()
