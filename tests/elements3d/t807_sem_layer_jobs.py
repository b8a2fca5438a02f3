#!/usr/bin/env python3
"""Jobs with mesh=layers: a hill, a lake and a basin from a NetCDF grid. The mesh that the verb mesh writes is the one that is modelled,
bit for bit, and ranks agree; plan tells its blocks; spl-model layers has the same earth; bad input is refused with a sentence."""
import functools
import os
import random
import resource
import shutil
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, claim_refused, done, given_seed
from launch import settings
from minisem import PROGRAM, run
from minisurvey import differences
from spltools.mesh import exodus, mesh as meshes

TOOLS = Path(os.environ["ROOT"]) / "tools"
DECK = dict(keymap="line.keymap", mesh="layers", layers="lake.layers", materials="lake.materials", components="vx,vy,vz", mesh_x0=0,
            mesh_x1=900, mesh_y0=0, mesh_y1=800, mesh_bottom=700, mesh_thinnest=0.5, fpeak=1.6, tmax=0.5, source="explosion", m0=1e12,
            threads=2)
words = functools.partial(settings, DECK)
LAYERS = "lake 20\nsediment 10+80*exp(-((x-500)^2+(y-400)^2)/250^2)-60*exp(-((x-100)^2+y^2)/300^2)\nrock floor.nc\n"


def refused(sentence, *expected, verb=(), **changes):
    r = run(*verb, *words(output="bad.nc", **changes))
    claim_refused(r, "bad.nc", sentence, *expected)


def grid(path, up=False, fill=False):
    with Dataset(path, "w", format="NETCDF3_64BIT_DATA") as f:
        for name, n in (("y", 10), ("x", 11)):
            f.createDimension(name, n)
            axis = f.createVariable(name, "f8", (name,))
            axis.units = "km"
            axis[:] = np.arange(n) * 0.09
        z = f.createVariable("basement", "f4", ("y", "x"), fill_value=-999.0)
        z.units = "m"
        depth = 350 + 0.1 * 90 * np.arange(11)[None, :] + np.zeros((10, 1))
        z[:] = -depth if up else depth
        if up:
            z.positive = "up"
        if fill:
            z[3, 4] = -999.0


Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=143.7 channels=4 depth=190.7 y=341.7\n"
                               "shots first_record=11 n=2 x0=353.3 dx=71.1 z=251.7 y=512.3 spread=cable\n")
Path("lake.layers").write_text(LAYERS)
Path("lake.materials").write_text("lake 1450 0 1000\nsediment 2000 1100 2000\nrock 3400 1900 2400\n")
grid("floor.nc")

r = run("mesh", *words(mesh_out="lake.exo"))
claim(r.returncode == 0 and all(f" {name}: " in r.stdout for name in ("lake", "sediment", "rock")) and "points per wavelength" in r.stdout,
      f"the verb mesh: exit status {r.returncode}: {r.stdout.strip()[-500:]} {r.stderr.strip()[-300:]}")
mesh = meshes.build(exodus.read("lake.exo"), tell=False)
claim([b.name for b in mesh.blocks] == ["lake", "sediment", "rock"] and {s.name for s in mesh.side_sets} == {"free", "absorbing"},
      f"it has blocks {[b.name for b in mesh.blocks]}, side sets {[s.name for s in mesh.side_sets]}")
claim(abs(mesh.nodes[:, 2].min() + 700) < 1e-6 and 40 < mesh.nodes[:, 2].max() < 60, "z of the file points up, hills too")
again = run("mesh", *words(mesh_out="again.exo"))
claim(again.returncode == 0 and Path("again.exo").read_bytes() == Path("lake.exo").read_bytes(), "made again it is the same file")
check = subprocess.run([TOOLS / "spl-mesh", "check", "lake.exo"], capture_output=True, text=True)
claim(check.returncode == 0, f"spl-mesh check finds it sound: {check.stdout.strip()[-200:]} {check.stderr.strip()[-200:]}")

r = run(*words(output="one.nc"))
claim(r.returncode == 0 and "sides join fluid and solid" in r.stdout + r.stderr + Path("one.nc.log").read_text(),
      f"modelled: exit status {r.returncode} {r.stderr.strip()[-300:] if r.returncode else ''}")
r = run(*words(output="ranks.nc"), ranks=3)
claim(r.returncode == 0 and not differences("one.nc", "ranks.nc"), "three ranks give the same file")
own = {k: None for k in DECK if k.startswith("mesh_")}
r = run(*words(output="file.nc", mesh="lake.exo", layers=None, **own))
with Dataset("one.nc") as a, Dataset("file.nc") as b:
    claim(r.returncode == 0 and all(np.array_equal(a[c][...], b[c][...]) for c in ("vx", "vy", "vz")) and np.abs(a["vz"][...]).max() > 0,
          f"the mesh read from the file gives the same traces {r.stderr.strip()[-300:]}")
with Dataset("one.nc") as a:
    claim(a.model_hash == Dataset("file.nc").model_hash, "and the same hash of the model")
plan = run("plan", *words(output="plan.nc"))
claim(plan.returncode == 0 and "worst shape" in plan.stdout and "sets the time step" in plan.stdout, "plan tells blocks and what sets dt")
Path("thin.keymap").write_text("spread cable fixed x0=353.4 interval=43.7 channels=4 depth=190.7 y=341.7\nshot 11 453.3 251.7 cable y=412.3\n")
plan = run("plan", *words(output="plan.nc", keymap="thin.keymap", sponge=255, forecast=0))
claim(plan.returncode == 0, f"elements of a sponge of 1.4 elements are no larger than fmax bears {plan.stderr.strip()[-200:]}")
grid("up.nc", up=True)
Path("up.layers").write_text(LAYERS.replace("floor.nc", "up.nc"))
up = run("mesh", *words(layers="up.layers", mesh_out="up.exo"))
other = meshes.build(exodus.read("up.exo"), tell=False) if up.returncode == 0 else mesh
claim(up.returncode == 0 and np.array_equal(other.nodes, mesh.nodes), f"a grid of heights gives the same mesh {up.stderr.strip()[-200:]}")

# --- the same earth as cells ----------------------------------------------------------------------------------------------

r = subprocess.run([TOOLS / "spl-model", "layers", "lake.layers", "--materials", "lake.materials", "--x", "0", "900", "--y", "0", "800",
                    "--z", "-60", "700", "--spacing", "20", "-o", "cells.nc"], capture_output=True, text=True)
claim(r.returncode == 0, f"spl-model layers: {r.stderr.strip()[-300:]}")
with Dataset("cells.nc") as f:
    vp, (z, y, x) = f["vp"][...].filled(), (f[c][...].filled() for c in "zyx")
middle = mesh.nodes[mesh.elements[:, :8]].mean(axis=1) * (1, 1, -1)
of = np.array([1450.0, 2000.0, 3400.0])[mesh.block]
at = vp[tuple(np.clip(((middle[:, a] - c[0]) / 20 + 0.5).astype(int), 0, len(c) - 1) for a, c in ((2, z), (1, y), (0, x)))]
off = np.mean(at != of)
claim(off <= 0.05 and (vp == 0).any(), f"cells of 20 m have the medium of the element that they lie in: {100 * off:.2g} % do not, at most 5 %")

# Quality factors, where only some media have them: rock without keeps its waves, and fluids have none.
Path("q.layers").write_text("lake 0\nsediment 100\nrock 300\n")
Path("q.materials").write_text("lake 1450 0 1000 30 20\nsediment 2000 1100 2000 60 30\nrock 3400 1900 2400\n")
r = subprocess.run([TOOLS / "spl-model", "layers", "q.layers", "--materials", "q.materials", "--x", "0", "200", "--y", "0", "200", "--z", "0",
                    "540", "--spacing", "100", "-o", "q.nc"], capture_output=True, text=True)
claim(r.returncode == 0 and "warning: --z 0 540 is no whole number of cells of 100 m: the volumes end at 500 m" in r.stderr
      and "--x" not in r.stderr, f"sides that are no whole number of cells apart are told of: {r.stderr.strip()}")
with Dataset("q.nc") as f:
    found = {name: f[name][:, 0, 0].tolist() if name in f.variables else None for name in ("qp", "qs")}
claim(found == {"qp": [0, 60, 60, 1e9, 1e9], "qs": [0, 30, 30, 1e9, 1e9]}, f"quality factors of a lake, sediment and rock without loss: {found}")

# Names with blanks, a text grid as editors under Windows save it, heights by standard name, x by its attribute.


def cells(layers, output):
    r = subprocess.run([TOOLS / "spl-model", "layers", layers, "--materials", "lake.materials", "--x", "0", "900", "--y", "0", "800", "--z",
                        "-60", "700", "--spacing", "20", "-o", output], capture_output=True, text=True)
    if r.returncode:
        return None, r.stderr.strip()
    with Dataset(output) as f:
        return f["vp"][...].filled(), ""


def turned(path):
    """The basement as heights on (easting, northing), which attributes tell."""
    with Dataset("floor.nc") as a, Dataset(path, "w", format="NETCDF3_64BIT_DATA") as b:
        for name, old in (("e", "x"), ("n", "y")):
            b.createDimension(name, len(a.dimensions[old]))
            axis = b.createVariable(name, "f8", (name,))
            axis.units, axis.axis = "km", old.upper()
            axis[:] = a[old][:]
        h = b.createVariable("ground", "f4", ("e", "n"))
        h.units, h.standard_name = "m", "altitude"
        h[:] = -a["basement"][:].T


def told(change):
    """What spl-model layers says of the basement changed so."""
    Path("changed_cells.nc").unlink(missing_ok=True)
    shutil.copy("floor.nc", "changed.nc")
    with Dataset("changed.nc", "r+") as f:
        change(f)
    Path("changed.layers").write_text(LAYERS.replace("floor.nc", "changed.nc"))
    return cells("changed.layers", "changed_cells.nc")[1]


for phrase, change in (("the units of basement are 'ft', must be m or km", lambda f: f["basement"].setncattr("units", "ft")),
                       ("the units of y are 'feet', must be m or km", lambda f: f["y"].setncattr("units", "feet")),
                       ("dimension x has no coordinate variable", lambda f: f.renameVariable("x", "where")),
                       ("cannot tell x from y by the coordinates north and x", lambda f: (f.renameDimension("y", "north"), f.renameVariable("y", "north")))):
    sentence = told(change)
    claim(phrase in sentence, f"spl-model layers refuses a grid as SplSemmod does: {sentence[-150:]}")
with Dataset("floor.nc") as f:
    rows = [f"{1000 * x:.1f} {1000 * y:.1f} {f['basement'][j, i]:.4f}" for j, y in enumerate(f["y"][:]) for i, x in enumerate(f["x"][:])]
Path("the basin").mkdir()
Path("the basin/fl\u00f6or.xyz").write_bytes(b"\xef\xbb\xbf# x y depth\r\n" + "\r\n".join(rows).encode())
turned("turned.nc")
for what, grid_name in (("a text grid of a name with blanks", '"the basin/fl\u00f6or.xyz"'), ("heights on turned axes", "turned.nc")):
    Path("odd.layers").write_text(LAYERS.replace("floor.nc", grid_name))
    found, why = cells("odd.layers", "odd.nc")
    mesh_too = run("mesh", *words(layers="odd.layers", mesh_out="odd.exo", overwrite="y"))
    claim(found is not None and np.mean(found != vp) < 1e-4 and mesh_too.returncode == 0,
          f"spl-model and SplSemmod take {what} {why} {mesh_too.stderr[-300:]}")
    Path("odd.nc").unlink(missing_ok=True)
Path("bad.xyz").write_text("0 0 1\n0 one 2\n")
with Dataset("floor.nc") as a, Dataset("south.nc", "w", format="NETCDF3_64BIT_DATA") as b:
    for name in ("y", "x"):
        b.createDimension(name, len(a.dimensions[name]))
        axis = b.createVariable(name, "f8", (name,))
        axis.units = "km"
        axis[:] = a[name][::-1]
    b.createVariable("basement", "f4", ("y", "x"))[:] = a["basement"][::-1, ::-1]
Path("odd.layers").write_text(LAYERS.replace("floor.nc", "south.nc"))
mesh_too = run("mesh", *words(layers="odd.layers", mesh_out="odd.exo", overwrite="y"))
claim("turn the grid round" in cells("odd.layers", "odd2.nc")[1] and "turn the model round" in mesh_too.stderr,
      "a grid from north to south is refused by both")
Path("odd.layers").write_text(LAYERS.replace("floor.nc", "300+sqrt(x-450)"))
mesh_too = run("mesh", *words(layers="odd.layers", mesh_out="odd.exo", overwrite="y"))
claim("'300+sqrt(x-450)' has no value" in cells("odd.layers", "odd2.nc")[1] and "has no value there" in mesh_too.stderr,
      "a formula that has no value somewhere is refused by both, where it was air")
Path("odd.layers").write_text(LAYERS.replace("floor.nc", "bad.xyz"))
claim(cells("odd.layers", "odd.nc")[1].endswith("bad.xyz, line 2: must hold x, y and depth [m]"), "a line of a grid that is none is named")

# --- refused --------------------------------------------------------------------------------------------------------------

refused("no layers", "layers=FILE", layers=None)
refused("volumes in place of the table of materials", "materials=FILE", "not from volumes", materials=None, vp="vp.nc")
refused("a box without extent", "mesh_x1", "mesh_x0", mesh_x1=0)
refused("another number of nodes", "mesh_nodes", "8 or 27", mesh_nodes=20)
refused("parameters of the mesher for a mesh that is read", "mesh_bottom", "no effect", mesh="lake.exo")
Path("few.materials").write_text("lake 1450 0 1000\nsediment 2000 1100 2000\n")
refused("a layer without medium", "rock", "few.materials", materials="few.materials")
refused("a box beyond its grid", "at x = 1000", "rock, floor.nc, ends at x = 0 .. 900", mesh_x1=1000)
refused("elements too many", "mesh_dx", "smaller box", mesh_dx=0.01, mesh_dy=0.01)
refused("a mesh too coarse for the waves", "fmax", "edge", mesh_dx=450)
refused("a mesh that is there", "lake.exo is there already", "overwrite=y", verb=("mesh",), mesh_out="lake.exo")
shutil.copy("floor.nc", "kept.nc")
refused("a file that is no mesh", "kept.nc", "no mesh", verb=("mesh",), mesh_out="kept.nc", overwrite="y")
claim(Path("kept.nc").read_bytes() == Path("floor.nc").read_bytes(), "it stays")
grid("hole.nc", fill=True)
Path("hole.layers").write_text(LAYERS.replace("floor.nc", "hole.nc"))
refused("a grid with a hole", "hole.nc", "missing", layers="hole.layers")
grid("hole.nc")
with Dataset("hole.nc", "a") as f:
    f["basement"].valid_max = np.float32(430)
refused("a grid with a depth beyond its valid range", "hole.nc", "point 10 of row 1 of basement is missing", "431", "valid_max 430",
        layers="hole.layers")
Path("odd.layers").write_text(LAYERS.replace("floor.nc", "350+sine(x)"))
refused("an unknown function", "line 3", "'sine' is unknown", layers="odd.layers")

# What cannot be written leaves nothing, and what was there as it was.
shutil.copy("lake.exo", "old.exo")
for what, more in (("a mesh that is too large for its disk", {}), ("the same in place of another", {"overwrite": "y", "mesh_out": "old.exo"})):
    before = sorted(p.name for p in Path(".").iterdir())
    r = subprocess.run([PROGRAM, "mesh", *words(**{"mesh_out": "large.exo", **more})], capture_output=True, text=True,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)))
    claim(r.returncode == 1 and "File too large" in r.stderr and sorted(p.name for p in Path(".").iterdir()) == before
          and Path("old.exo").read_bytes() == Path("lake.exo").read_bytes(), f"{what}: {r.stderr.strip()[-200:]}")
refused("a folder that is not there", "nowhere/x.exo cannot be written", "no directory nowhere", verb=("mesh",), mesh_out="nowhere/x.exo")

# A film between thick layers: the mesher takes it, or tells it; what it takes has no fault of a mesh.
SEED = given_seed()
random.seed(SEED)
FILM = dict(layers="film.layers", materials="film.materials", mesh_x0=0, mesh_x1=500, mesh_y0=0, mesh_y1=400, mesh_bottom=600, mesh_dx=100,
            mesh_dy=100, dispersion="warn", overwrite="y", mesh_out="film.exo")
Path("film.materials").write_text("top 2000 1000 2000\nfilm 1800 900 2000\nrock 2600 1500 2100\n")


def film(thick, **more):
    Path("film.layers").write_text(f"top 5*x/500 100\nfilm 100 100\nrock {100 + thick} 250\n")
    return run("mesh", *words(**{**FILM, **more}))


def told(r, part):
    """The film is refused, by its name and height, and that of the layer below, of which it must have a thousandth."""
    return r.returncode == 1 and f"elements of layer film are {part:.3g} m high beside those of rock, 250 m" in r.stderr and "0.25 m" in r.stderr


r = film(0.01)
claim(told(r, 0.01) and "leave layer film out of film.layers" in r.stderr, f"a layer of a centimetre: {r.stderr.strip()}")
wrong, taken = [], 0
for thick in [0.2495, 0.2505] + [round(10 ** random.uniform(-2.9, 1), 6) for _ in range(10)]:
    r = film(thick, mesh_nodes=random.choice([8, 27]))
    taken += r.returncode == 0
    if r.returncode != (thick < 0.25) or "whole faces" in r.stderr:
        wrong.append((thick, r.returncode, r.stderr.strip()[-200:]))
claim(not wrong and 0 < taken < 12, f"films of 1 mm .. 10 m, seed {SEED}: {taken} of 12 are taken, those from 0.25 m up {wrong[:2] if wrong else ''}")

# --- a mesh that takes some seconds is told of at once ----------------------------------------------------------------------

Path("flat.layers").write_text("lake 0\nrock 20\n")
r = run("plan", *words(output="bad.nc", layers="flat.layers", mesh_dx=10, mesh_dy=10, mesh_dz=8, fpeak=300))
claim(r.returncode == 1 and " elements: they are checked" in r.stderr.splitlines()[0], f"before it is checked: {r.stderr.splitlines()[0]}")
r = run("plan", *words(output="bad.nc", layers="flat.layers"))
claim("they are checked" not in r.stderr, "a small one is not")

done()
