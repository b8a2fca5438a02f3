#!/usr/bin/env python3
"""Each rank takes the memory that the program says it will need; and a survey too large for the machine is told so before its first
shot."""
import importlib
import os
import re
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, drawn, given_seed, skip
from minisurvey import PROGRAM, make, run
from peaks import peaks, run_watched
from shims import shim

LOW, HIGH = 0.75, 1.3
make(shots=1, aperture=-1)


def megabytes(text):
    number, unit = text.split()
    return float(number) * {"MB": 1, "GB": 1000}[unit]


SEED = given_seed()


def compare(what, *words, program=PROGRAM, alone=True):
    """The forecasts of both ranks against what they took; of rank 0 only where it is about its many shots."""
    r = run_watched(program, "par=job.par", "overwrite=y", *words, ranks=2)
    said = re.search(r"memory +([\d.]+ .B) a worker, ([\d.]+ .B) rank 0", r.stderr)
    if r.returncode not in (0, 3 if "deadline" in " ".join(words) else 0) or not said:
        claim(False, f"{what}: exit status {r.returncode}, {r.stderr[-400:]}")
        return
    for rank, name, words in ((1, "a worker", said[1]), (0, "rank 0", said[2]))[0 if alone else 1:]:
        taken = peaks(2)[rank]
        ratio = megabytes(words) / taken
        claim(LOW < ratio < HIGH, f"{what}: {name} was to need {words} and took {taken:.0f} MB: {ratio:.2f} of it, "
              f"must be {LOW} .. {HIGH}")


if "san" in os.environ.get("LD_PRELOAD", "") or "debug" in str(PROGRAM):
    skip("a sanitized build takes what it likes")
else:
    short = ("tmax=0.004", "dt_out=0.001", "fpeak=60")       # a shot goes on for some samples beyond its record
    compare("cpu, 1.1 Mcells", "dx=0.8", "dz=0.8", *short, "variant=cpu")
    compare("fortran, 0.3 Mcells", "dx=1.6", "dz=1.6", *short, "variant=fortran")
    compare("snapshots", "dx=2", "dz=2", "snapshot=0.01", "variant=cpu")
    few = ("npml=8", "half_length=4", "aperture=50", "tmax=0.02", "fpeak=10", "dx=20", "dz=20", "delay=0", "depth=200", "variant=cpu", "dispersion=warn")
    line = "spread c fixed x0=100 interval={} channels={} depth=17\nshots first_record=1 n={} x0=300 dx=0.01 z=13 spread=c\n"
    Path("line.keymap").write_text(line.format(0.02, 30000, 1))
    compare("30,000 receivers", *few)
    deep = [word for word in few if word != "depth=200"]
    for names in drawn(1, ("p", "vz", "p,vx,vz"), SEED):
        Path("line.keymap").write_text(line.replace("x0=100", "x0=600").replace("depth=17", "depth=317.3").format(0.005, 12000, 1))
        compare(f"12,000 receivers of {names} beside a contact", *deep, f"components={names}")
    Path("line.keymap").write_text(line.format(0.02, 30000, 1))
    compare("30,000 receivers of velocity in water above one", *few, "components=vz")
    Path("line.keymap").write_text(line.format(0.2, 2500, 1))
    compare("2500 receivers of three components, many samples", *few[:3], "tmax=1", *few[4:], "components=p,vx,vz", "dt_out=0.0005")
    Path("line.keymap").write_text(line.format(1, 2, 1))
    compare("a record of 500 periods, the largest step", "npml=8", "half_length=4", "aperture=50", "depth=200", "fpeak=10", "dx=20", "dz=20",
            "tmax=30", "dt_out=0.004", "components=p,vx", "dispersion=warn", "variant=cpu")
    Path("line.keymap").write_text(line.format(1, 2, 30000))
    compare("30,000 shots", *few, "deadline=0.01", alone=False)
    lists = "".join(f"list s{i}\n" + "".join(f"{c} {100 + c % 900}.{i % 10} 17\n" for c in range(1, 301)) for i in range(3000))
    Path("line.receivers").write_text(lists)
    Path("line.keymap").write_text("lists line.receivers\n" + "".join(f"shot {i + 1} {300 + 0.01 * i:.2f} 13 s{i}\n" for i in range(3000)))
    compare("3000 shots with receiver lists of their own", *few, "deadline=0.01", alone=False)
    taken = []
    for shots in (20, 200):                               # each has 60 receivers along a contact: 1 kB for one of them would show
        Path("line.keymap").write_text("spread c fixed x0=600.1 interval=3.2 channels=60 depth=317.3\n"
                                       f"shots first_record=1 n={shots} x0=703.3 dx=0.1 z=33 spread=c\n")
        r = run_watched(PROGRAM, "par=job.par", "overwrite=y", *few[1:2], "npml=8", "dx=20", "dz=20", "fpeak=10", "delay=0", "dispersion=warn",
                        "tmax=0.01", "aperture=50", "components=p,vz", ranks=2)
        taken.append([*peaks(2), r.returncode, r.stderr[-300:]])
    growth = [taken[1][rank] - taken[0][rank] for rank in (0, 1)]
    claim(taken[1][2] == 0 and max(growth) < 10, f"180 shots more take {growth[0]:.1f} MB more on rank 0, {growth[1]:.1f} on a worker, must be "
          f"less than 10 (exit status {taken[1][2]}, {taken[1][3] if taken[1][2] else ''})")
    make(shots=1, aperture=-1)
    compare("long traces of three components", "dt=2e-5", "dt_out=2e-5", "components=p,vx,vz", "variant=cpu",
            "aperture=50", "depth=200")

if "debug" not in str(PROGRAM):
    small = importlib.import_module("mini3d")
    two_layers = "0 2500 1200 2000 {q}\n200 3000 1500 2200 {q}\n"
    words = ("dx=5.5", "fpeak=30", "dispersion=warn", "dt_out=0.002", "threads=1", "components=vx")
    small.make(shots=1, layers=two_layers.format(q=""), output="three.nc")
    compare("3D, 0.8 Mcells", *words, "tmax=0.02", program=small.PROGRAM)
    compare("3D, films", *words, "tmax=0.04", "snapshot=0.001", "snapshot_planes=top,y20,z100", "snapshot_fields=vx,vy,vz,p", program=small.PROGRAM)
    with Dataset("hill.nc", "w") as ds:                   # of 300 m, on which no two points of a map have the same surroundings
        for axis, n, first in (("z", 90, -400), ("y", 61, -300), ("x", 81, -100)):
            ds.createDimension(axis, n)
            ds.createVariable(axis, "f8", axis)[:] = first + 10 * np.arange(n)
            ds[axis].units = "m"
        z, y, x = (ds[axis][:].data.reshape(shape) for axis, shape in (("z", (-1, 1, 1)), ("y", (-1, 1)), ("x", -1)))
        rock = z > -300 * np.exp(-((x - 260)**2 + y**2) / 150**2) + 15 * np.sin(x / 9) * np.sin(y / 11)
        for name, unit, value in (("vp", "m/s", 2500), ("vs", "m/s", 1200), ("rho", "kg/m3", 2000)):
            ds.createVariable(name, "f4", ("z", "y", "x"))[:] = np.where(rock, value, 0)
            ds[name].units = unit
    small.write_deck(layers=None, vp="hill.nc", vs="hill.nc", rho="hill.nc", depth=700, output="three.nc")
    compare("3D, a map and films of a hill", *words, "dy=5.5", "dz=5.5", "top=pml", "tmax=0.02", "pgv=y", "snapshot=0.01",
            "snapshot_fields=vx,vy,vz", program=small.PROGRAM)
    small.make(shots=1, layers=two_layers.format(q=""), output="three.nc")
    small.write_keymap(shots=1, channels=500)
    text = Path("line.keymap").read_text().replace("interval=43.7", "interval=0.1").replace("depth=52.3", "depth=152.3")
    Path("line.keymap").write_text(text)
    compare("3D, 500 receivers of velocity, pressure and strain", "dx=20", "fpeak=8", "dispersion=warn",
            "tmax=0.02", "components=vx,p,exy", program=small.PROGRAM)
    beside = ("dx=20", "fpeak=8", "dispersion=warn", "tmax=0.02")
    for names in drawn(1, ("vx,exy", "sxx", "p"), SEED):
        Path("line.keymap").write_text(text.replace("depth=152.3", "depth=203.1").replace("channels=500", "channels=1000"))
        compare(f"3D, 1000 receivers of {names} beside a contact", *beside, f"components={names}", program=small.PROGRAM)
    Path("well.receivers").write_text("list well\n" + "".join(f"{c + 1} 203.4 {20 + 0.36*c:.2f} 41.7\n" for c in range(1000)))
    Path("line.keymap").write_text("lists well.receivers\nshot 11 253.3 111.7 well y=-12.3\n")
    compare("3D, a well of 1000 receivers through a contact", *beside, "components=vx,sxx", program=small.PROGRAM)
    Path("line.keymap").write_text("spread net fixed x0=203.4 interval=43.7 channels=2 depth=203.1 y=41.7\nshot 11 253.3 191.7 net y=12.3\n")
    compare("3D, receivers and a source beside a flat contact", *beside, "components=vx", program=small.PROGRAM)
    small.make(shots=1, layers=two_layers.format(q="80 40"), output="three.nc")
    compare("3D with attenuation", *words, "tmax=0.02", program=small.PROGRAM)
    make(shots=1, aperture=-1)

# On a machine of 1 GB, so that little time goes into the time step of what it cannot hold.
Path("meminfo").write_text("MemTotal: 1000000 kB\nMemAvailable: 900000 kB\n")
little = {"LD_PRELOAD": shim("lessmem"), "MEMINFO": str(Path("meminfo").resolve()), "ASAN_OPTIONS": "verify_asan_link_order=0"}
before = sorted(os.listdir("."))
huge = ("dx=0.19", "dz=0.19")                        # a fourth more than there is
r = run("par=job.par", *huge, "output=huge.nc", env=little)
claim(r.returncode == 1 and re.search(r"one worker needs 1\.[\d]+ GB \(shot record 101, .* has 1.02 GB of memory: lower aperture", r.stderr)
      and sorted(os.listdir(".")) == before, f"a window with cells of 0.19 m on 1 GB: exit status {r.returncode}, no file, "
      f"{r.stderr.strip()[:300]}")
r = run("plan", "par=job.par", *huge, env=little)
claim(r.returncode == 0 and re.search(r"one worker needs [\d.]+ GB", r.stdout) and "time       not measured" in r.stdout
      and "disk" in r.stdout, f"plan says so too and does not try it: exit status {r.returncode}, {r.stdout[-300:]}")
Path("meminfo").write_text("MemTotal: 100000 kB\nMemAvailable: 90000 kB\n")
Path("rock.layers").write_text("rock 0\n")
Path("rock.materials").write_text("rock 3000 1500 2200\n")
Path("mesh.keymap").write_text("spread c fixed x0=300 interval=20 channels=2 depth=110 y=250\nshot 1 240 200 c y=240\n")
r = subprocess.run([PROGRAM.parent / "SplSemmod", "plan", "keymap=mesh.keymap", "mesh=layers", "layers=rock.layers", "materials=rock.materials",
                    "mesh_x1=600", "mesh_y1=600", "mesh_bottom=600", "mesh_dx=25", "mesh_dy=25", "mesh_dz=25", "fpeak=5", "output=mesh.nc"],
                   capture_output=True, text=True, env={**os.environ, **little})
claim(r.returncode == 0 and re.search("one worker needs .* of memory: use a mesh of fewer elements", r.stdout),
      f"a mesh on 100 MB: {r.stdout[-300:]} {r.stderr[-200:]}")
done()
