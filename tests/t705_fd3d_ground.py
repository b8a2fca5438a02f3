#!/usr/bin/env python3
"""Ground made of cells of air above rock: stations on it, the map of peak ground velocity and the films of the top are those of a
free surface; on a hill the map follows the ground."""
import os
import sys
from pathlib import Path

import numpy as np
import xarray as xr

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests"))
from check import claim, done  # noqa: E402
from mini3d import run, traces  # noqa: E402

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


STATIONS = ((820.0, 540.0), (633.3, 877.7), (300.0, 711.1), (460.0, 260.0))


def job(name, ground=lambda x, y: 0.0, lift=0.0, **more):
    Path("s.stations").write_text("".join(f"{n + 1} {a} {ground(a, b) + lift} {b}\n" for n, (a, b) in enumerate(STATIONS)))
    Path("s.keymap").write_text("spread s list s.stations\nshot 1 560.0 290.0 s y=610\n")
    words = dict(keymap="s.keymap", vp=name + ".model", vs=name + ".model", rho=name + ".model", model_format="netcdf", source="moment",
                 mxx=1e15, mzz=-4e14, mxz=8e14, mxy=5e14, wavelet="gauss", sigma=0.09, fmax=2.7, tmax=1.2, dt_out=0.01, npml=8,
                 half_length=2, dispersion="warn", components="vx,vy,vz", pgv="y", snapshot=0.3, snapshot_fields="vx,vz,p",
                 output=name + ".nc", threads=1, **more)
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
claim("below the air" in flat_maps["pgv_vertical"].long_name and "z = 20 m" in free_maps["pgv_vertical"].long_name,
      f"the maps tell where they are: {flat_maps['pgv_vertical'].long_name}; {free_maps['pgv_vertical'].long_name}")
claim(flat_maps["p_top"].values.any(), "pressure below the air is recorded")

_, plane = job("flat", top="pml", pgv_depth=30, overwrite="y")
claim(differ(plane["pgv_vertical"].values, flat_maps["pgv_vertical"].values) < 0.1
      and "z = 20 m" in plane["pgv_vertical"].long_name, f"pgv_depth=30 is a plane: {plane['pgv_vertical'].long_name}")


def hill(a, b):
    return -180 * np.exp(-((a - 600) ** 2 + (b - 600) ** 2) / 250**2)


def face(a, b):
    """Upper face of the uppermost cell of rock."""
    return H * np.ceil(hill(a, b) / H - 0.5)


STATIONS = [(x[np.abs(x - a).argmin()], x[np.abs(x - b).argmin()]) for a, b in STATIONS]
model("hill.model", hill(xx, yy), AIR)
high, high_maps = job("hill", face, top="pml")
lowest = (high_maps["pgv_vertical"] / high_maps["pgv_vertical"].median()).min().item()
claim(lowest > 0.1, f"every column of the hill has moved, the least {lowest:.2f} of the median")
here = [high_maps["pgv_vertical"].sel(x=a, y=b).item() for a, b in STATIONS]
there = np.abs(high[2]).max(1)
off = np.abs(np.array(here) / there - 1).max()
claim(off < 0.1, f"the map at stations on the hill's cells: within {off:.0%} of the largest vz recorded, bound 10 %")
done()
