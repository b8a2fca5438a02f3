#!/usr/bin/env python3
"""Jobs of SplSemmod: water over rock from a mesh of shaken elements gives the same file by one process, by ranks and by any number of
threads, by the same mesh in Exodus files of other kinds, and by a job that was stopped and goes on; a receiver is where it was asked
for; what cannot be modelled is refused with a sentence."""
import functools
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import launch
from check import claim, claim_refused, done
from launch import settings
from minisem import MESH, PROGRAM, run
from minisurvey import differences

DECK = dict(keymap="line.keymap", mesh="box.exo", materials="box.materials", components="p,vx,vz,uz,ax,szz", fpeak=3.5, tmax=0.7, threads=2)
words = functools.partial(settings, DECK)


def box(path, seed=3):
    r = subprocess.run([MESH, "box", "-o", path, "--x", "0", "700", "--y", "0", "700", "--z", "-700", "0", "--elements", "7", "7", "7",
                        "--shake", "0.1", "--seed", str(seed), "--block", "water:top", "--block", "rock:-300", "--overwrite"],
                       capture_output=True, text=True)
    claim(r.returncode == 0, f"spl-mesh box makes {path} {r.stderr}")


def another_kind(source, target, kind):
    with Dataset(source) as a, Dataset(target, "w", format=kind) as b:
        b.setncatts({k: a.getncattr(k) for k in a.ncattrs()})
        for name, dim in a.dimensions.items():
            b.createDimension(name, len(dim))
        for name, v in a.variables.items():
            v.set_auto_maskandscale(False)
            w = b.createVariable(name, v.dtype, v.dimensions)
            w.setncatts({k: v.getncattr(k) for k in v.ncattrs()})
            w.set_auto_maskandscale(False)
            w[...] = v[...]


def keymap(depth=190.7, shots=3, z=151.7):
    Path("line.keymap").write_text(f"spread cable fixed x0=203.4 interval=143.7 channels=4 depth={depth} y=341.7\n"
                                   f"shots first_record=11 n={shots} x0=353.3 dx=71.1 z={z} y=512.3 spread=cable\n")


def same(name, sentence, *more, ranks=1, **changes):
    r = run(*words(output=name, **changes), *more, ranks=ranks)
    wrong = differences("one.nc", name) if r.returncode == 0 else r.stderr[-500:]
    claim(r.returncode == 0 and not wrong, f"{sentence}: the same file {wrong}")


def refused(sentence, *expected, ranks=1, **changes):
    r = run(*words(output="bad.nc", **changes), ranks=ranks)
    claim_refused(r, "bad.nc", sentence, *expected)


def stopped():
    job = subprocess.Popen(launch.command(PROGRAM, *words(output="stopped.nc")), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 100
    while time.monotonic() < until and job.poll() is None:
        if Path("stopped.nc.journal").exists() and "done" in Path("stopped.nc.journal").read_text(errors="replace"):
            break
        time.sleep(0.02)
    job.send_signal(signal.SIGKILL)
    job.wait()
    same("stopped.nc", "a job that was killed and goes on")


keymap()
box("box.exo")
Path("box.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100\n")
r = run(*words(output="one.nc"))
claim(r.returncode == 0, f"one process: exit status {r.returncode} {r.stderr[-500:] if r.returncode else ''}")
with Dataset("one.nc") as ds:
    p, vz, ax, vx, szz = (ds[c][...].filled(np.nan).astype(float) for c in ("pressure", "vz", "ax", "vx", "szz"))
    dt = float(ds["time"][1] - ds["time"][0])
    rx = ds["receiver_x_used"][0].filled(np.nan)
    claim(ds["ax"].units == "m s-2" and ds["uz"].units == "m", "units of acceleration and displacement stand in the file")
claim(np.all(np.isfinite(p)) and np.abs(p).max() > 0 and np.abs(p + szz).max() <= 1e-6 * np.abs(p).max(),
      "traces are numbers; in water pressure is minus any stress")
claim(np.allclose(rx, 203.4 + 143.7 * np.arange(4), atol=1e-4), f"receivers are where they were asked for: {rx}")
slope = np.gradient(vx, dt, axis=-1)[..., 5:-5]
misfit = np.linalg.norm(slope - ax[..., 5:-5]) / np.linalg.norm(slope)
claim(misfit <= 0.02, f"acceleration is the derivative of velocity: {100 * misfit:.2g} % <= 2 % by differences of samples")
same("ranks.nc", "three ranks", ranks=3)
same("threads.nc", "one thread", threads=1)
stopped()
r = run("plan", *words(sponge=250, tmax=0.1))
claim(r.returncode == 0 and "lie in the layer that damps waves, sponge = 250 m" in r.stdout and "channel 1" in r.stdout,
      f"plan warns of receivers in the layer that damps {r.stderr[-300:]}")
keymap(shots=1)
another_kind("box.exo", "cdf5.exo", "NETCDF3_64BIT_DATA")
another_kind("box.exo", "four.exo", "NETCDF4")
for kind in ("cdf5", "four"):
    r = run(*words(output=f"{kind}.nc", mesh=f"{kind}.exo"))
    with Dataset(f"{kind}.nc") as ds:
        equal = r.returncode == 0 and all(np.array_equal(ds[c][0].filled(0), a[0]) for c, a in (("pressure", p), ("vz", vz)))
    claim(equal, f"the same mesh in {kind}: the same traces")
short = {}
keymap(shots=1, depth=290.7, z=271.7)                   # beside the sea floor, so that waves have been in the rock
for variant in ("cpu", "fortran"):
    r = run(*words(output=f"{variant}.nc", variant=variant, tmax=0.5))
    with Dataset(f"{variant}.nc") as ds:
        short[variant] = [ds[c][0].filled(np.nan) for c in ("pressure", "vz")]
misfit = max(np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(short["fortran"], short["cpu"]))
keymap()
claim(misfit <= 1e-5, f"fortran and cpu agree: {misfit:.2g} <= 1e-5")

Path("few.materials").write_text("water 1500 0 1000\n")
refused("a block without a medium", "rock", "few.materials", materials="few.materials")
Path("few.materials").write_text("water 1500 0 1000\nrokc 2600 1500 2100\n")
refused("a misspelt block", "rock", "few.materials (its line rokc names no block: did you mean this one?): add one", materials="few.materials")
Path("few.materials").write_text("water 1500 0 1000\nbasalt 2600 1500 2100\n")
refused("a block of another name", "rock", "few.materials: add one, or one of * for all others", materials="few.materials")
Path("q.materials").write_text("* 2600 1500 2100 80 0.5\n")
refused("a quality factor below 1", "quality", "q.materials", materials="q.materials")
Path("q.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100 200 40\n")
refused("a Qp that no rock beside its Qs has", "q.materials, line 2", "Qp = 200 is too large beside Qs = 40", "at most 90.13", materials="q.materials")
Path("few.materials").write_text("water 1500 0 1000 5 5\nsand 1800 900 2000 30 20\nRock 2000 999 2000\n* 2600 1501 2100 90 40\n")
r = run("plan", *words(materials="few.materials"))
claim(r.returncode == 0 and "the mesh has no block sand, Rock (did you mean rock?), of which few.materials has a line" in r.stdout
      and "Q from 40 on" in r.stdout,
      f"lines for blocks that the mesh has not are told of; Q of water is nothing; Qp at its limit but for rounding is taken {r.stderr[-300:]}")
claim("fluids do not attenuate: Q of block water in few.materials" in r.stdout, "a fluid's Q is told to be without effect")
Path("few.materials").write_text("water 1500 0 1000 9999 -1\n* 2600 1501 2100 90 40\n")
r = run("plan", *words(materials="few.materials"))
claim(r.returncode == 0 and "fluids do not" not in r.stdout, "a Q that stands for none is not")
for q, memory, takes in ((24, "coarse", "coarse"), (24, "all", "all"), (26, "coarse", "coarse"), (24, "auto", "all"), (26, "auto", "coarse")):
    Path("few.materials").write_text(f"water 1500 0 1000\nrock 2600 1500 2100 {q} {q}\n")
    r = run("plan", *words(materials="few.materials", memory_variables=memory))
    told = f"Q = {q} of the bulk modulus or of mu is below 25" in r.stdout + r.stderr
    claim(r.returncode == 0 and told == (q == 24 and memory == "coarse") and f"Hz; memory_variables={takes}" in r.stdout,
          f"Q = {q} by {memory} takes {takes} and is {'' if told else 'not '}told of")
Path("few.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100 0 0\n")
r = run("plan", *words(materials="few.materials"))
claim(r.returncode == 0 and "quality" not in r.stdout, "quality factors of 0 are none")
Path("odd.materials").write_text("* 2600 2500 2100\n")
refused("a medium of no rock", "vs = 2500", "odd.materials", "line 1", materials="odd.materials")
for columns, numbers in (("vp rho Qkappa", "2600 2100 80"), ("vp vs Qkappa", "2600 1500 80"), ("Qkappa", "80"), ("vp vs rho Qp", "2600 1500 2100 80"),
                         ("vp vs rho Qp Qs Qmu Qkappa", "2600 1500 2100 80 60 90 50")):
    Path("odd.materials").write_text(f"block {columns}\n* {numbers}\n")
    refused(f"a table of {columns}", "columns must be vp, vs, rho", "odd.materials, line 1", materials="odd.materials")
refused("a mesh that is none", "box.materials", mesh="box.materials")
refused("a mesh too coarse", "fmax", "edge", fpeak=9)
keymap(depth=710)
refused("receivers below the mesh", "channel 1", "outside of the mesh")
keymap()
refused("a force in water", "fluid", source="force", fz=1)
refused("rates of strain in water", "exx", components="exx")
done()
