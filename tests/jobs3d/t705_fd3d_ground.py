#!/usr/bin/env python3
"""Ground made of cells of air above rock: stations on it, the map of peak ground velocity and the films of the top are those of a
free surface. Maps and films of the top are what stations at their points record, on level ground, on a hill, beside water and deep down,
with every variant on CPU cores."""
import random
from pathlib import Path

import numpy as np
import xarray as xr

from check import claim, done, drawn, given_seed
from mini3d import run, traces

H, N, DEEP, AIR = 40.0, 30, 20, 6
x = (np.arange(N) + 0.5) * H
xx, yy = np.meshgrid(x, x)


def model(name, ground, rows):
    """Rock below z = ground(y, x); `rows` rows of cells above z = 0."""
    z = (np.arange(-rows, DEEP) + 0.5) * H
    rock = z[:, None, None] > ground
    axes = {"z": ("z", z, {"units": "m", "positive": "down", "axis": "Z"}), "y": ("y", x, {"units": "m", "axis": "Y"}),
            "x": ("x", x, {"units": "m", "axis": "X"})}
    values = {"vp": (3000.0, "m/s"), "vs": (1732.0, "m/s"), "rho": (2200.0, "kg/m3")}
    xr.Dataset({k: (("z", "y", "x"), np.where(rock, v, 0).astype("f4"), {"units": u}) for k, (v, u) in values.items()},
               coords=axes).to_netcdf(name, format="NETCDF3_64BIT")


STATIONS = ((820.0, 540.0, 0.0), (633.3, 877.7, 0.0), (300.0, 711.1, 0.0), (460.0, 260.0, 0.0))   # x, y, z


def job(name, stations=STATIONS, at="560.0 290.0", **more):
    Path("s.stations").write_text("".join(f"{n + 1} {a} {c} {b}\n" for n, (a, b, c) in enumerate(stations)))
    Path("s.keymap").write_text(f"spread s list s.stations\nshot 1 {at} s y=610\n")
    words = dict(keymap="s.keymap", vp=name + ".model", vs=name + ".model", rho=name + ".model", model_format="netcdf", source="moment",
                 mxx=1e15, mzz=-4e14, mxz=8e14, mxy=5e14, wavelet="gauss", sigma=0.09, fmax=2.7, tmax=1.2, dt_out=0.01, npml=8,
                 half_length=2, dispersion="warn", components="vx,vy,vz", pgv="y", snapshot=0.3, snapshot_fields="vx,vz,p",
                 output=name + ".nc", overwrite="y", threads=1)
    words.update(more)
    r = run(*[f"{k}={v}" for k, v in words.items()])
    claim(r.returncode == 0, f"{name}: exit status {r.returncode}{r.stderr[-400:] * bool(r.returncode)}")
    with xr.open_dataset(name + ".nc.snap1.nc") as ds:
        return np.stack([traces(name + ".nc", c)[0] for c in ("vx", "vy", "vz")]), ds.load()


def differ(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


model("free.model", np.zeros((N, N)), 0)
model("flat.model", np.zeros((N, N)), AIR)
free, free_maps = job("free", top="free")
flat, flat_maps = job("flat", top="pml")
for c, name in enumerate(("vx", "vy", "vz")):
    off = differ(flat[c], free[c])
    claim(off < 0.03, f"{name} of stations on flat ground below air, 16 points to the shortest S wavelength, off the grid: "
                      f"{off:.1%} from a free surface, bound 3 %")
for name in ("pgv_horizontal", "pgv_vertical", "vx_top", "vz_top"):
    off = differ(flat_maps[name].values, free_maps[name].values)
    claim(off < 0.03, f"{name}: {off:.1%} from that of a free surface, bound 3 %")
claim("below the air" in flat_maps["pgv_vertical"].long_name and "z = 0 m" in free_maps["pgv_vertical"].long_name,
      f"the maps tell where they are: {flat_maps['pgv_vertical'].long_name}; {free_maps['pgv_vertical'].long_name}")
claim(flat_maps["p_top"].values.any(), "pressure below the air is recorded")

# --- maps and films are what stations at their points record --------------------------------------------------------------------

SEED = given_seed()
LEVELS = {"pgv_horizontal": lambda v: np.hypot(v[0], v[1]), "pgv_vertical": lambda v: np.abs(v[2]),
          "pgv_vector": lambda v: np.sqrt((v**2).sum(0))}
chance = random.Random(SEED)


def points(maps, count=24):
    """Some of the map's points, x, y, z, where its file says that they are; those at its corners among them."""
    last = [n - 1 for n in maps["pgv_vertical"].shape]
    cells = [(0, 0), tuple(last)] + [(chance.randrange(last[0] + 1), chance.randrange(last[1] + 1)) for _ in range(count)]
    depth = maps["ground"].values if "ground" in maps else np.full(maps["pgv_vertical"].shape, maps["pgv_vertical"].plane_m)
    return cells, [(maps.x.values[i].item(), maps.y.values[j].item(), depth[j, i].item()) for j, i in cells]


def same(name, what, bound, **more):
    """Stations at points of the map, whose places are learned by a first run, record what it shows, whatever layers send back."""
    more = {"npml": 4, **more}
    cells, places = points(job(name, **{**more, "tmax": 0.02, "snapshot": 0.01})[1])
    found, maps = job(name, places, **{"snapshot": 0.3, "dt_out": 0.002, "tmax": 1.2, **more})
    off, fewest = {}, len(cells)
    for kind, level in LEVELS.items():
        shown = np.array([maps[kind].values[j, i] if kind in maps else 0.0 for j, i in cells])
        seen = level(found)
        passed = seen.argmax(1) < 0.98 * seen.shape[1]       # else it still grows when the record ends
        off[kind] = np.abs(shown / seen.max(1) - 1)[passed].max()
        fewest = min(fewest, passed.sum())
    claim(max(off.values()) < bound and fewest >= 10, f"{what}, {fewest} random points or more (seed {SEED}): the map of "
          + ", ".join(f"{k[4:]} {v:.2%}" for k, v in off.items()) + f" from the largest velocity recorded there, bound {bound:.1%}")
    for c, kind in ((0, "vx_top"), (2, "vz_top")):
        if "pgv_depth" in more:
            break
        at = np.round(maps.time.values / 0.002).astype(int)
        keep = (np.abs(maps.time.values - 0.002 * at) < 0.0004) & (at < found.shape[2])
        film = np.array([maps[kind].values[:, j, i] for j, i in cells])[:, keep]
        off = np.abs(film - found[c][:, at[keep]]).max() / np.abs(found[c]).max()
        claim(keep.any() and off < 0.03, f"{what}: the film {kind} at {keep.sum()} times is within {off:.2%} of the peak of what is "
                                         "recorded there, bound 3 %")
    return found, maps


def hill(a, b):
    return -180 * np.exp(-((a - 600) ** 2 + (b - 600) ** 2) / 250**2)


model("hill.model", hill(xx, yy), AIR)
for name, what, bound, more in drawn(2, (("free", "under a free surface", 0.01, dict(top="free")),
                                         ("flat", "on level ground below air", 0.01, dict(top="pml")),
                                         ("flat", "in the plane z = 93.7 m", 0.01, dict(top="pml", pgv_depth=93.7)),
                                         ("hill", "every third point of a hill, no layers, time dispersion left in", 0.004,
                                          dict(top="pml", npml=0, snapshot_step=3, time_correction="n"))), SEED):
    same(name, what, bound, **more)
_, high_maps = same("hill", "on a hill", 0.01, top="pml")
exact = dict(top="pml", time_correction="n", half_length=1)
_, by_cpu = same("hill", "on a hill, time dispersion left in", 0.004, **exact)
_, by_fortran = same("hill", "on a hill, variant=fortran, time dispersion left in", 0.004, variant="fortran", **exact)
off = max(differ(by_cpu[k].values, by_fortran[k].values) for k in LEVELS)
claim(off < 1e-5, f"the maps of cpu and fortran differ by {off:.1e}, bound 1e-5")

lowest = (high_maps["pgv_vertical"] / high_maps["pgv_vertical"].median()).min().item()
claim(lowest > 0.1, f"every column of the hill has moved, the least {lowest:.2f} of the median")
faces = H * np.ceil(hill(xx, yy) / H - 0.5)
claim(np.array_equal(high_maps["ground"].values, faces), "the file has the depth of the hill's ground, the faces of its cells")

# --- a source some cells below -------------------------------------------------------------------------------------------------

near = [(540.0, 620.0, 0.0), (580.0, 580.0, 0.0), (500.0, 700.0, 0.0), (537.3, 611.9, 0.0)]
for depth in drawn(1, (270.0, 310.0, 350.0), SEED):
    free, _ = job("free", near, f"560.0 {depth}", top="free", tmax=0.8)
    flat, _ = job("flat", near, f"560.0 {depth}", top="pml", tmax=0.8)
    off = np.abs(flat - free).max() / np.abs(free).max()
    claim(off < 0.06, f"stations on level ground below air, {depth / H:.1f} cells above the source: within {off:.1%} of the peak of those "
                      "of a free surface, bound 6 %")
done()
