#!/usr/bin/env python3
"""The 3D decks that are shipped are sound; the basin's goes through model, program and figures, with attenuation, air and water."""
import os
import shutil
from pathlib import Path

import numpy as np
import xarray as xr

from check import claim, done
from mini3d import run, traces
from toolrun import call

ROOT = Path(os.environ["ROOT"])
for name in ("loh1", "marine3d", "basin3d"):
    for path in [*(ROOT / "keymaps").glob(name + ".*"), *(ROOT / "inputs").glob(name + ".layers")]:
        shutil.copy(path, ".")


def tool(*words):
    return call(ROOT / "tools" / words[0], *words[1:])


r = tool("spl-model", "basin", "--spacing", "250", "-o", "basin.nc")
claim(r.returncode == 0, f"spl-model basin: {r.stdout.strip().splitlines()[:1]} {r.stderr[-300:]}")
with xr.open_dataset("basin.nc") as ds:
    air = ds.vp.values == 0
    claim(air.any() and not ds.vs.values[air].any() and (ds.vp.values[~air] > 1.2 * ds.vs.values[~air]).all()
          and not air[ds.z.values > 0].any(), f"air ({air.mean():.0%}) stands above sea level only, rock resists compression")

for name, words in (("loh1", []), ("marine3d", []), ("basin3d", ["dispersion=warn"])):
    r = run("plan", f"par={ROOT}/inputs/{name}.par", *words)
    claim(r.returncode == 0 and "Mcells" in r.stdout, f"plan of {name}.par: exit status {r.returncode}: {r.stderr[-400:]}")

r = run(f"par={ROOT}/inputs/basin3d.par", "dispersion=warn", "tmax=4", "snapshot=1", "snapshot_step=2", "output=b.nc")
claim(r.returncode == 0, f"the basin, coarse and short: exit status {r.returncode}{r.stderr[-400:] * bool(r.returncode)}")
peak = np.abs(np.stack([traces("b.nc", c)[0] for c in ("vx", "vy", "vz")])).max((0, 2))
claim((peak > 0).all() and peak.max() < 1 and peak[0] > 2 * peak[1], f"peak velocities {peak} m/s: the basin shakes more than its edge")
with xr.open_dataset("b.nc.snap1.nc") as ds:
    pgv = ds["pgv_horizontal"]
    claim(0 < float(pgv.max()) < 1 and pgv.shape == (20, 20) and "below the air" in pgv.long_name, f"map of {pgv.shape}: {pgv.long_name}")
    films = [n for n in ds.data_vars if n.startswith("vz_") and ds[n].ndim == 3]
for words in (["stations", "b.nc"], ["map", "b.nc.snap1.nc", "--gathers", "b.nc"], ["map", "b.nc.snap1.nc", "--variable", films[1]],
              ["gather", "b.nc", "--component", "vy"]):
    out = f"{words[0]}_{words[-1]}.png"
    r = tool("spl-plot", *words, "-o", out)
    claim(r.returncode == 0 and Path(out).stat().st_size > 10000, f"spl-plot {' '.join(words)}: exit status {r.returncode} {r.stderr[-300:]}")
stations = Path("basin3d.stations").read_text()
Path("basin3d.stations").write_text(stations + "        4  2800.0  -420.0  2000.0\n")
r = run(f"par={ROOT}/inputs/basin3d.par", "dispersion=warn", "tmax=1", "output=air.nc")
claim(r.returncode != 0 and "channel 4 at x = 2800" in r.stderr and "stand in the air" in r.stderr,
      f"a station in the air, exit status {r.returncode}: {r.stderr.strip()[-200:]}")
Path("basin3d.stations").write_text(stations)
r = tool("spl-plot", "map", "b.nc.snap1.nc", "--variable", "vq_top", "-o", "no.png")
claim(r.returncode != 0 and "pgv_horizontal" in r.stderr, f"a variable that is not there: {r.stderr.strip()[-200:]}")
for figure in ("map", "snapshots"):
    r = tool("spl-plot", figure, "b.nc", "-o", "no.png")
    claim(r.returncode == 1 and "is a file of gathers: give the file of the snapshots of a shot, b.nc.snapRECORD.nc" in r.stderr,
          f"{figure} of a file of gathers: {r.stderr.strip()[-220:]}")
r = run(f"par={ROOT}/inputs/basin3d.par", "dispersion=warn", "tmax=0.1", "snapshot=0", "output=air.nc")
r = tool("spl-plot", "snapshots", "air.nc.snap1.nc", "-o", "no.png")
claim(r.returncode == 1 and "drawn by spl-plot map" in r.stderr, f"snapshots of a file of maps: {r.stderr.strip()[-120:]}")
film = bytearray(Path("b.nc.snap1.nc").read_bytes())
film[-100] ^= 16
Path("bent.nc").write_bytes(film)
r = tool("spl-plot", "map", "bent.nc", "-o", "no.png")
claim(r.returncode == 1 and "bent.nc is damaged: the checksum of" in r.stderr, f"a wrong bit in a map or film: {r.stderr.strip()[-160:]}")
claim(not Path("no.png").exists(), "nothing is drawn of any of these")
r = tool("spl-plot", "stations", "b.nc", "--components", "vx,sxx", "-o", "no.png")
claim(r.returncode != 0 and "no component 'sxx'" in r.stderr, f"a component that was not recorded: {r.stderr.strip()[-200:]}")
done()
