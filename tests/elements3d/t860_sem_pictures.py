#!/usr/bin/env python3
"""Pictures of SplSemmod on a mesh with a hill: maps of peak ground velocity and planes show what receivers at their points record, the
ground is where the mesh has it, points outside are missing; free sides and elements have the same values at the same points; ranks and
threads change no bit; what cannot be drawn is refused."""
import functools
import os
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, claim_refused, done
from launch import settings
from minisem import run
from minisurvey import differences

ROOT = Path(os.environ["ROOT"])
DX, DEEP, HIGH = 60, 400, 100
DECK = dict(keymap="line.keymap", mesh="hill.exo", materials="box.materials", components="vx,vy,vz,p,ux", fpeak=3.5, tmax=0.56, threads=2,
            time_correction="n", dt=0.0019, dt_out=0.0019, receiver_z="surface", snapshot=0.1, snapshot_dx=DX, pgv="y",
            snapshot_planes="top,y180,x240,surface,volume", snapshot_fields="vx,vz,ux,p")
words = functools.partial(settings, DECK)
SNAPS = "{}.nc.snap11.nc"


def hill(x, y):
    return HIGH * np.exp(-((x - 300) ** 2 + (y - 240) ** 2) / 150**2)


def make_mesh():
    """Nodes at multiples of 60 m, raised towards a hill."""
    r = subprocess.run([ROOT / "tools" / "spl-mesh", "box", "-o", "hill.exo", "--x", "0", "600", "--y", "0", "480", "--z", str(-DEEP), "0",
                        "--elements", "10", "8", "7", "--block", "soil:top", "--block", "melt:-170", "--block", "rock:-280"], capture_output=True, text=True)
    claim(r.returncode == 0, f"spl-mesh box makes hill.exo {r.stderr}")
    with Dataset("hill.exo", "a") as ds:
        x, y, z = (ds["coord" + c][:] for c in "xyz")
        ds["coordz"][:] = z + (z + DEEP) / DEEP * hill(x, y)


def keymap(points, depth=180):
    rows = [f"{c} {x} {z} {y}" for c, (x, y, z) in enumerate(points, 1)]
    Path("points.receivers").write_text("\n".join(rows) + "\n")
    Path("line.keymap").write_text(f"spread points list points.receivers\nshot 11 270 {depth} points y=210\n")


def pictures(name):
    with Dataset(SNAPS.format(name)) as ds:
        return {n: v[...] for n, v in ds.variables.items() if not n.endswith("checksum")}


def at(times, trace, step):
    """A trace between its samples, by the polynomial through the four around."""
    n = np.clip(np.floor(times / step).astype(int), 1, len(trace) - 3)
    f = times / step - n
    w = [-f * (f - 1) * (f - 2) / 6, (f + 1) * (f - 1) * (f - 2) / 2, -(f + 1) * f * (f - 2) / 2, (f + 1) * f * (f - 1) / 6]
    return sum(w[k] * trace[n + k - 1] for k in range(4))


def relative(a, b):
    return float(np.linalg.norm(np.ma.filled(a, np.nan) - b) / np.linalg.norm(b))


def refused(sentence, *expected, **changes):
    r = run(*words(output="bad.nc", materials="even.materials", **changes))         # where no fluid is the time step is found sooner
    claim_refused(r, "bad.nc", sentence, *expected)


make_mesh()
Path("box.materials").write_text("soil 2200 1200 2000\nmelt 1500 0 2000\nrock 2600 1500 2100\n")
TOP = [(240, 180), (300, 240), (120, 300), (420, 120), (480, 420)]
INSIDE = [(300, 180, 60), (360, 180, 240), (240, 360, 300), (240, 120, 120)]         # of y180, y180, x240, x240; soil, melt, rock, soil
keymap([(x, y, 0) for x, y in TOP] + [(x, y, z + hill(x, y)) for x, y, z in INSIDE])
r = run(*words(output="one.nc"))
claim(r.returncode == 0, f"a job with pictures: exit status {r.returncode} {r.stderr[-500:] if r.returncode else ''}")
got = pictures("one")
with Dataset("one.nc") as ds:
    trace = {n: ds["pressure" if n == "p" else n][0] for n in ("vx", "vy", "vz", "p", "ux")}
    step, depth = float(ds["time"][1] - ds["time"][0]), ds["receiver_z_used"][0]
x, y, z, times = (got[n] for n in ("x", "y", "z", "time"))
claim(np.array_equal(x, np.arange(0, 601, DX)) and np.array_equal(y, np.arange(0, 481, DX)) and z[0] == -60,
      "points of pictures are the multiples of the spacing in the mesh")
off = np.abs(got["ground"] + hill(x[None, :], y[:, None])).max()
claim(off < 1e-3, f"the ground is where the nodes have it: within {off:.1e} m")
wanted = np.array([-hill(x, y) for x, y in TOP] + [z for _, _, z in INSIDE])
claim(np.abs(depth - wanted).max() < 1e-6, f"depths of receivers count from the surface: within {np.abs(depth - wanted).max():.1e} m")

place = [(int(y // DX), int(x // DX)) for x, y in TOP]
v = np.stack([trace[n][:len(TOP)] for n in ("vx", "vy", "vz")])
for name, peak in (("horizontal", np.hypot(v[0], v[1])), ("vertical", np.abs(v[2])), ("vector", np.sqrt((v**2).sum(0)))):
    e = relative([got["pgv_" + name][p] for p in place], peak.max(-1))
    claim(e <= 0.01, f"the map of {name} velocity has what receivers record: {100 * e:.2g} % <= 1 %")
for name, late in (("vx", 0), ("vz", 0), ("ux", step / 2), ("p", step / 2)):
    whole = np.abs(trace[name]).max()
    e = max(np.abs(at(times + late, trace[name][i], step) - got[name + "_top"][:, p[0], p[1]]).max() for i, p in enumerate(place))
    if name != "p":                   # a slope, and the ground has an edge at these points
        claim(e <= 0.01 * whole, f"{name} of the top is that of receivers: {100 * e / whole:.2g} % <= 1 % of the largest")
    e = 0
    for i, (px, py, pz) in enumerate(INSIDE, len(TOP)):
        k = int(pz - z[0]) // DX
        shown = got[name + "_y180"][:, k, px // DX] if py == 180 else got[name + "_x240"][:, k, py // DX]
        e = max(e, np.abs(at(times + late, trace[name][i], step) - shown).max())
    claim(e <= 0.01 * whole, f"{name} of planes in rock and fluid is that of receivers: {100 * e / whole:.2g} % <= 1 % of the largest")
air = z[:, None] < -hill(x[None, :], 180) - 1e-6
missing = np.ma.getmaskarray(got["vz_y180"])
claim(air.any() and all(np.array_equal(m, air) for m in missing), f"{air.sum()} points above the ground are missing, no others")

sx, sy, sz = (got["surface_" + c].ravel() for c in "xyz")
corner = [int(np.argmin((sx - px) ** 2 + (sy - py) ** 2)) for px, py in TOP]
claim(got["vz_surface"].shape[1:] == (80, 25) and got["vz_volume"].shape[1:] == (560, 125)
      and max(abs(sz[c] + hill(*p)) for c, p in zip(corner, TOP)) < 1e-3, "80 free sides, 560 elements, at their places")
for name in ("vz", "ux"):
    flat = got[name + "_surface"].reshape(len(times), -1)
    e = max(relative(flat[:, c], got[name + "_top"][:, p[0], p[1]]) for c, p in zip(corner, place))
    claim(e <= 2e-3, f"{name} of the free sides is that of the top where both have a point: {e:.1e} <= 2e-3")
vx, vy, vz = (got["volume_" + c].ravel() for c in "xyz")
for name in ("vz", "p"):
    flat, e = got[name + "_volume"].reshape(len(times), -1), 0
    for px, py, pz in INSIDE:
        c = int(np.argmin((vx - px) ** 2 + (vy - py) ** 2 + (vz - pz) ** 2))
        k = int(pz - z[0]) // DX
        shown = got[name + "_y180"][:, k, px // DX] if py == 180 else got[name + "_x240"][:, k, py // DX]
        far = np.sqrt((vx[c] - px) ** 2 + (vy[c] - py) ** 2 + (vz[c] - pz) ** 2)
        e = max(e, relative(flat[:, c], shown)) if far < 0.5 else e
    claim(e <= 1e-2, f"{name} of elements is that of planes where both have a point: {e:.1e}")

# Pressure in rock that attenuates: a picture takes waves to be of the peak frequency, a receiver knows better.
Path("lossy.materials").write_text("soil 2200 1200 2000 40 20\nmelt 1500 0 2000\nrock 2600 1500 2100 40 20\n")
r = run(*words(output="lossy.nc", materials="lossy.materials", components="p", pgv="n", snapshot=0.05, snapshot_planes="y180,x240", snapshot_fields="p",
               memory_variables="all"))
claim(r.returncode == 0, f"the same in rock that attenuates: exit status {r.returncode} {r.stderr[-500:] if r.returncode else ''}")
lossy = pictures("lossy")
with Dataset("lossy.nc") as ds:
    p, step = ds["pressure"][0], float(ds["time"][1] - ds["time"][0])
for i, (px, py, pz) in enumerate(INSIDE, len(TOP)):
    k = int(pz - z[0]) // DX
    shown = lossy["p_y180"][:, k, px // DX] if py == 180 else lossy["p_x240"][:, k, py // DX]
    e = np.abs(at(lossy["time"] + step / 2, p[i], step) - shown).max() / np.abs(p[i]).max()
    claim(e <= 0.02, f"p of planes where Qp is 40, at {pz} m of depth: {100 * e:.2g} % <= 2 % of the largest of the receiver")

r = run(*words(output="ranks.nc", threads=1), ranks=3)
other = pictures("ranks") if r.returncode == 0 else {}
claim(r.returncode == 0 and all(np.array_equal(np.ma.filled(a, 0), np.ma.filled(other[n], 0)) for n, a in got.items() if "header" not in n),
      f"three ranks of a thread: the same pictures {r.stderr[-300:] if r.returncode else ''}")
Path("sea.materials").write_text("soil 1500 0 1000\n* 2600 1500 2100\n")
r = run(*words(output="deep.nc", materials="sea.materials", pgv_depth=240, snapshot=0, source_z="seafloor", tmax=0.1, dispersion="warn"))
floor = 400 * 3 / 7 - 4 / 7 * np.mean([hill(x, y) for x in (240, 300) for y in (180, 240)])
with Dataset("deep.nc") as ds, Dataset(SNAPS.format("deep")) as snap:
    claim(abs(ds["source_z_used"][0] - 180 - floor) < 1e-6 and not snap["pgv_vector"][...].mask.any()
          and snap["pgv_vector"].plane_m == 240, f"a source below the sea floor, at z = {ds['source_z_used'][0]:.4f} m; a map of a plane")
r = run(*words(output="plain.nc", snapshot=0, pgv="n", snapshot_planes=None, snapshot_fields=None, snapshot_dx=None))
same = differences("one.nc", "plain.nc") if r.returncode == 0 else r.stderr[-300:]
claim(not same, f"pictures change no trace {same}")

r = subprocess.run([os.environ["PYTHON"], ROOT / "tools" / "spl-plot", "map", SNAPS.format("one"), "--variable", "vz_y180", "-o", "y.png"],
                   capture_output=True, text=True)
claim(r.returncode == 0 and Path("y.png").stat().st_size > 5000, f"spl-plot draws a plane with missing points {r.stderr[-300:]}")

Path("even.materials").write_text("* 2600 1500 2100\n")
refused("a plane beside the mesh", "x700", "600", snapshot_planes="x700")
refused("maps alone, of too many points", "numbers, which are too large", "take coarser ones (snapshot_dx)", snapshot=0, snapshot_planes=None,
        snapshot_fields=None, snapshot_dx=0.005)
refused("a plane twice", "y180", "same plane", snapshot_planes="y180,y180.0001")
refused("a field that is none", "snapshot_fields", "sxx", snapshot_fields="sxx")
Path("high.keymap").write_text("spread one fixed x0=100 interval=10 channels=1 depth=-5 y=100\nshot 11 270 180 one y=210\n")
refused("a receiver above the surface", "channel 1", "outside", keymap="high.keymap")
done()
