#!/usr/bin/env python3
"""A 3D survey as people run it: template, help, plan, run, ranks, restart, a shot killed in its midst; files, films and maps as they
are said to be."""
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import segyio
import xarray as xr
from netCDF4 import Dataset

from check import claim, done  # noqa: E402
from mini3d import command, make, run, traces  # noqa: E402
from minisurvey import PROGRAM, differences  # noqa: E402

FILMS = dict(snapshot=0.1, snapshot_planes="top,y20,x300,z5", snapshot_fields="vz,p", pgv="y")
make(shots=2, components="vx,vy,vz,p,szz,exy,wz", **FILMS)


def told(r, status, sentence, *words):
    missing = [w for w in words if w not in r.stdout + r.stderr]
    claim(r.returncode == status and not missing, f"{sentence}: exit status {r.returncode}, must be {status}"
          + (f", lacks '{missing[0]}' in: {(r.stdout + r.stderr)[:600]}" if missing else ""))


# --- words that only ask ----------------------------------------------------------------------------------------------

told(run(), 0, "no arguments", "SplFd3dmod", "verbs", "source=dc")
told(run("--help", "strike"), 0, "--help of a 3D parameter", "Aki & Richards")
told(run("--help", "positions"), 1, "--help of a parameter of 2D alone", "positions")
told(run("--version"), 0, "--version", "SplFd3dmod", "fortran")
template = run("--template").stdout
names = set(re.findall(r"^#(\w+) =", template, re.M))
claim({"layers", "vs", "qs", "mw", "fault", "dy", "pgv", "keymap", "lease"} <= names and "positions" not in names,
      f"--template holds {len(names)} parameters, those of 3D and of the framework")
told(run("plan", "par=job.par"), 0, "plan", "2 flat layers", "slowest wave 1500", "40 x 40 x 40 m", "Mcells", "MB a worker rank", "time")

# --- bad words ---------------------------------------------------------------------------------------------------------

told(run("par=job.par", "positions=nearest"), 1, "a parameter of 2D alone", "'positions' (command line): it is one of SplFd2dmod")
r = subprocess.run([str(PROGRAM), "plan", "par=job.par", "pgv_depht=3"], capture_output=True, text=True)
told(r, 1, "a deck of 3D given to 2D", "'layers' (job.par:2): it is one of SplFd3dmod", "'pgv' (job.par:", "unknown parameter 'pgv_depht'")
told(run("par=job.par", "source=dc"), 1, "a double couple without moment", "needs a moment")
told(run("par=job.par", "source=dc", "mw=4", "m0=1e15"), 1, "two moments", "tells the moment a second time")
told(run("par=job.par", "source=fault"), 1, "no fault", "give fault=FILE", "give fmax")
told(run("par=job.par", "components=vx,vw"), 1, "an unknown component", "'vw'", "sxx .. syz")
told(run("par=job.par", "dx=150"), 1, "a grid too coarse", "too coarse", "where v = 1500")
told(run("par=job.par", "dt=0.02"), 1, "a step too long", "unstable")
told(run("par=job.par", "aperture=-1"), 1, "layers without an end", "give aperture")
told(run("par=job.par", "depth=100"), 1, "a source below the bottom", "lies outside the model")
told(run("par=job.par", "group=2"), 1, "two ranks a shot, and no other process", "start at least 3 processes")
told(run("par=job.par", "snapshot_planes=top,w3", "snapshot_fields=vw"), 1, "a plane and a field that are none", "holds 'w3'", "holds 'vw'")

# --- one rank and three ------------------------------------------------------------------------------------------------

r = run("par=job.par", "output=one.nc")
told(r, 0, "one process", "2 shots in")
r = run("par=job.par", "output=three.nc", ranks=3)
told(r, 0, "three processes")
claim(differences("one.nc", "three.nc") == [] and differences("one.nc.snap11.nc", "three.nc.snap11.nc") == [],
      f"the same bits: {differences('one.nc', 'three.nc')}")
r = run("par=one.nc.par", "output=one.nc")
told(r, 0, "the same again: nothing to do", "shots to do: 0 of 2")

# --- the file of gathers -----------------------------------------------------------------------------------------------

with Dataset("one.nc") as ds:
    claim(ds["wz"].long_name == "rate of rotation about z, (dvy/dx - dvx/dy)/2", f"rotation tells its hand: {ds['wz'].long_name}")
    claim(ds["vy"].units == "m s-1" and ds["szz"].units == "Pa" and ds["exy"].units == "s-1" and ds["wz"].units == "s-1"
          and ds["vx"].dimensions == ("shot", "receiver", "time"), "components with units on shot, receiver, time")
    claim(np.allclose(ds["receiver_y_used"][...], 41.7) and np.allclose(ds["source_y_used"][...], -12.3), "y of sources and receivers")
    claim("SplFd3dmod" in ds.source and "volume" in ds.source_term and list(ds.grid_spacing_m) == [40, 40, 40],
          "the file says what made it, what acted, and the grid")
    ds.set_auto_mask(False)
    crc = 0
    for name in ds["checksum"].order.split():
        data = np.asarray(ds[name][0])
        crc = zlib.crc32(data.astype(data.dtype.newbyteorder(">")).tobytes(), crc)
    claim(crc == int(ds["checksum"][0]), "the checksum, as the file says it is made, y included")

# --- SEG-Y --------------------------------------------------------------------------------------------------------------

for component, unit in (("szz", 1), ("vy", 6), ("exy", -1)):
    r = subprocess.run([sys.executable, os.path.join(os.environ["ROOT"], "tools", "spl-export"), "one.nc", "--component", component,
                        "-o", "one.segy", "--overwrite"], capture_output=True, text=True)
    with segyio.open("one.segy", ignore_geometry=True) as f:
        text, h = segyio.tools.wrap(f.text[0]), f.header[0]
        same = np.array_equal(f.trace.raw[:].reshape(2, 5, -1), traces("one.nc", component).astype("f4"))
        claim(r.returncode == 0 and same and h[203] == unit and h[85] == -4170 and h[77] == 1230 and "3D ELASTIC" in text
              and "(M3/S)" in text and "DX, DY, DZ 40, 40, 40 M" in text,
              f"spl-export of {component}: traces bit for bit, unit {h[203]}, y of group {h[85]} and source {h[77]} cm, 3D in words {r.stderr}")

r = subprocess.run([sys.executable, os.path.join(os.environ["ROOT"], "tools", "spl-keymap"), "segy", "one.segy", "--azimuth", "none",
                    "-o", "back.keymap"], capture_output=True, text=True)
from spltools.geometry.keymap import read_map  # noqa: E402
back, asked = (read_map(name)[0] for name in ("back.keymap", "line.keymap"))
claim(r.returncode == 0 and abs(back.sx - asked.sx) < 0.01 and abs(back.sy - 12.3) < 0.01 and np.allclose(back.rx, asked.rx, atol=0.01)
      and np.allclose(back.ry, -41.7, atol=0.01) and np.allclose(back.rz, asked.rz, atol=0.01),
      f"a key-map from that SEG-Y with --azimuth none has x of the job and, as on a map, -y {r.stderr.strip()[-200:]}")

# --- films and maps ----------------------------------------------------------------------------------------------------

with xr.open_dataset("one.nc.snap11.nc") as ds:
    claim(ds["vz_top"].dims == ("time", "y", "x") and ds["p_y20"].dims == ("time", "z", "x") and ds["vz_x300"].dims == ("time", "z", "y")
          and ds["pgv_vertical"].dims == ("y", "x"), "xarray opens the planes and maps, each on its axes")
    steps = np.diff(ds["time"].values)
    claim(len(ds["time"]) == 3 and np.allclose(steps, steps[0]) and abs(steps[0] - 0.1) < 0.006 and 0 <= ds["time"].values[0] < 0.012,
          f"{len(ds['time'])} pictures from t = {ds['time'].values[0]:.4f} s, every {steps[0]:.4f} s")
    claim(np.allclose(np.diff(ds["x"].values), 40) and ds["z"].values[0] == 20, "coordinates are centres of cells")
    claim(float(ds["pgv_vertical"].max()) >= float(np.abs(ds["vz_top"]).max()) > 0, "no picture of the top exceeds the map")
    claim(np.array_equal(ds["vz_z20"], ds["vz_top"]), "the plane z5 in the uppermost cells stands beside the top, as z20")
    claim(zlib.crc32(ds["vz_top"].values.astype(">f4").tobytes()) == int(ds["vz_top_checksum"]), "the checksum of a film")

# --- killed in the midst -----------------------------------------------------------------------------------------------

make(shots=1, tmax=2, snapshot=0.1, snapshot_fields="vz,p", pgv="y", checkpoint=0, variant="fortran")    # slow enough to be killed
told(run("par=job.par", "output=whole.nc"), 0, "undisturbed")


def stamps():
    """States and their times; none where the job has just removed them."""
    try:
        return {q: q.stat().st_mtime_ns for q in Path(".").glob("cut.nc.states/*.state")}
    except FileNotFoundError:
        return {}


kills = 0
for attempt in range(6):
    before = stamps()
    p = subprocess.Popen(command("par=job.par", "output=cut.nc", "checkpoint=0.002"), stdin=subprocess.DEVNULL,
                         stderr=open("cut.said", "a"), start_new_session=True)
    while p.poll() is None and stamps() == before:
        time.sleep(0.005)
    time.sleep(0.1)
    if p.poll() is not None:
        if kills:
            break
        for path in Path(".").glob("cut.nc*"):     # it was done before it could be killed: from the start again
            path.unlink()
        continue
    p.send_signal(signal.SIGKILL)
    p.wait()
    kills += 1
    if kills == 2:
        break
r = run("par=job.par", "output=cut.nc", "checkpoint=0.002")
after = [int(s) for s in re.findall(r"goes on after step (\d+)", Path("cut.said").read_text() + r.stderr)]
claim(kills >= 1 and len(after) >= kills and after == sorted(after) and differences("whole.nc", "cut.nc") == []
      and differences("whole.nc.snap11.nc", "cut.nc.snap11.nc") == [],
      f"killed {kills} times, gone on after steps {after}: traces, films and map are the undisturbed ones")
claim(float(np.abs(traces("whole.nc", "vz")).max()) > 0, "and there is something in them")
done()
