#!/usr/bin/env python3
"""What an earthquake leaves: integrated velocities come to rest at Mindlin's displacements of a half-space (Physics 7, 195, 1936) within
PML; sides of other kinds let that go, which plan and log tell; of a wavelet that leaves nothing they do not."""
import os
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import launch
from check import claim, done

BIN = Path(os.environ["B"]) / "bin"
VP, VS, RHO = 3000.0, 1700.0, 2200.0
MOMENT = np.array([[1.0, 0.6, -0.4], [0.6, -0.5, 0.8], [-0.4, 0.8, 0.3]]) * 1e14
SOURCE = (13.0, -21.0, 520.0)
STATIONS = ((610.0, 230.0, 0.0), (-320.0, 560.0, 140.0), (700.0, -90.0, 410.0), (-480.0, -310.0, 880.0))
WORDS = dict(keymap="quake.keymap", source="moment", mxx=1e14, myy=-0.5e14, mzz=0.3e14, mxy=0.6e14, mxz=-0.4e14, myz=0.8e14,
             wavelet="gauss", sigma=0.3, tmax=7, dt_out=0.05, threads=1)
CELLS = dict(layers="rock.layers", dx=100, dz=80, aperture=500, depth=1700, npml=10, half_length=2, output="cells.nc")
SIDE = 2500.0
BOX = dict(mesh="layers", layers="rock.surfaces", materials="rock.materials", mesh_z="down", mesh_x0=-SIDE, mesh_x1=SIDE, mesh_y0=-SIDE,
           mesh_y1=SIDE, mesh_bottom=SIDE, mesh_dx=500, mesh_dy=500, mesh_dz=500, output="box.nc")


def by_force(x, source, axis):
    """Displacement at x of a unit force along axis at the source, z down, the free surface at z = 0."""
    mu, nu = RHO * VS**2, (VP**2 - 2 * VS**2) / (2 * (VP**2 - VS**2))
    d, c, z = x - source, source[2], x[2]
    near, far, deep = np.linalg.norm(d), np.hypot(np.hypot(d[0], d[1]), z + c), z + c
    k, m = 3 - 4 * nu, 4 * (1 - nu) * (1 - 2 * nu)
    u = np.empty(3)
    if axis == 2:
        u[:2] = d[:2] * ((z - c) / near**3 + k * (z - c) / far**3 - m / (far * (far + deep)) + 6 * c * z * deep / far**5)
        u[2] = k / near + (8 * (1 - nu)**2 - k) / far + (z - c)**2 / near**3 + (k * deep**2 - 2 * c * z) / far**3 \
            + 6 * c * z * deep**2 / far**5
    else:
        u[:2] = d[axis] * d[:2] * (1 / near**3 + k / far**3 - 6 * c * z / far**5 - m / (far * (far + deep)**2))
        u[axis] += k / near + 1 / far + 2 * c * z / far**3 + m / (far + deep)
        u[2] = d[axis] * ((z - c) / near**3 + k * (z - c) / far**3 - 6 * c * z * deep / far**5 + m / (far * (far + deep)))
    return u / (16 * np.pi * mu * (1 - nu))


def at_rest():
    """Displacements of the stations when all waves have left, by differences of Mindlin's solution."""
    step = np.eye(3)
    return np.array([sum(MOMENT[p, q] * (by_force(np.array(x), SOURCE + step[q], p) - by_force(np.array(x), SOURCE - step[q], p)) / 2
                         for p in range(3) for q in range(3)) for x in STATIONS])


def off(program, *verbs, **words):
    """Integrated velocities at the end over what they should be, the same of each station, and what the run told."""
    words = {**WORDS, **(BOX if program == "SplSemmod" else CELLS), "overwrite": "yes", **words}
    r = launch.run(BIN / program, *verbs, *(f"{k}={v}" for k, v in words.items() if v is not None))
    claim(r.returncode == 0, f"{program} models the earthquake: {r.stderr[-500:] if r.returncode else ''}")
    if verbs:
        return None, None, r.stdout + r.stderr
    with Dataset(words["output"]) as ds:
        u = np.stack([ds[c][0].astype(float).sum(1) for c in ("vx", "vy", "vz")], 1) * WORDS["dt_out"]
    rest = at_rest()
    return (np.linalg.norm(u - rest) / np.linalg.norm(rest), np.linalg.norm(u - rest, axis=1) / np.linalg.norm(rest, axis=1),
            r.stdout + r.stderr)


TOLD = "leaves a displacement that stays"
Path("quake.stations").write_text("".join(f"{i} {x} {z} {y}\n" for i, (x, y, z) in enumerate(STATIONS, 1)))
Path("quake.keymap").write_text(f"spread net list quake.stations\nshot 1 {SOURCE[0]} {SOURCE[2]} net y={SOURCE[1]}\n")
Path("rock.layers").write_text(f"0 {VP} {VS} {RHO}\n")
Path("rock.surfaces").write_text("rock 0\n")
Path("rock.materials").write_text(f"rock {VP} {VS} {RHO}\n")

e, each, said = off("SplFd3dmod", absorb="pml")
claim(e < 0.01 and TOLD not in said, f"within PML displacements come to rest {100 * e:.2f} % (< 1) from Mindlin's, "
      f"worst station {100 * each.max():.2f} %")
for words in (dict(absorb="damped"), dict(absorb="sponge"), dict(bottom="one-way")):
    e, each, said = off("SplFd3dmod", **words)
    claim(TOLD in said, f"{words}: told; {100 * e:.1f} % off, worst station {100 * each.max():.1f} %")
near, each, said = off("SplSemmod")
far, more, _ = off("SplSemmod", **{k: 2 * v for k, v in BOX.items() if isinstance(v, float)})
claim(far < 0.5 * near and TOLD not in said, f"elements, sides 2.5 and 5 km away: {100 * near:.1f}, {100 * far:.1f} % off, worst station "
      f"{100 * each.max():.1f}, {100 * more.max():.1f} %")
for components in ("vx,vy,vz", "ux"):
    said = off("SplSemmod", "plan", components=components)[2]
    claim((TOLD in said) == (components == "ux"), f"on a mesh it is told where {components} is recorded: {TOLD in said}")
for words in (dict(absorb="sponge", wavelet="ricker", fpeak=0.7, sigma=None), dict(absorb="sponge", source="force", fz=1e9)):
    gone = ("mxx", "myy", "mzz", "mxy", "mxz", "myz") if "source" in words else ()
    said = off("SplFd3dmod", "plan", **{k: v for k, v in words.items()}, **{k: 0 for k in gone})[2]
    claim(TOLD not in said, f"{words}: nothing stays, nothing is told")

done()
