#!/usr/bin/env python3
"""The program as people use it: help, plan, status, restart from the recorded parameters, and settings that must not change the
physics."""
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import xarray as xr
from netCDF4 import Dataset

from check import PATIENCE, claim, done
from jobs import Gate, slow_machine
from minisurvey import NX, NZ, PROGRAM, command, contents, differences, make, run, statuses
from minisurvey import write_deck, write_keymap
from shims import preload

make(shots=3)


def files():
    return sorted(p.name for p in Path(".").iterdir())


def says(r, *words):
    """True if a finished process printed all of the words; the first that is missing."""
    missing = [w for w in words if w not in r.stdout + r.stderr]
    return not missing, "" if not missing else f", lacks '{missing[0]}' in: {(r.stdout + r.stderr)[:400]}"


def told(r, status, sentence, *words):
    ok, why = says(r, *words)
    claim(ok and r.returncode == status, f"{sentence}: exit status {r.returncode}, must be {status}{why}")


def model(output, *words, ranks=1):
    """Models into `output`; claims nothing but success."""
    r = run("par=job.par", f"output={output}", *words, ranks=ranks)
    if r.returncode != 0:
        claim(False, f"{output}: exit status {r.returncode}: {r.stderr[-400:]}")
    return output


def traces(path, name="pressure"):
    with Dataset(path) as ds:
        return ds[name][...].filled(np.nan).astype(float)


def off(a, b):
    """Largest relative L2 difference of a trace."""
    return float((np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)).max())


# --- words that only ask ----------------------------------------------------------------------------------------------

before = files()
told(run("job.par"), 1, "a parameter file without par=", "a parameter file is given as par=job.par")
told(run("line.nc"), 1, "an output alone", "the output of a run is given as output=line.nc")
told(run("status", "line.nc"), 1, "status of an output alone", "the output of a run is given as output=line.nc")
told(run(), 0, "no arguments: what it is, verbs, a first run", "models the shots", "verbs", "plan", "a first run:", "exit status:")
told(run("--help"), 0, "--help: every parameter", "verbs", "half_length", "wavelet", "par=FILE")
told(run("--help", "fpeak"), 0, "--help NAME: kind, default, range, unit", "25 Hz", "range", "peak frequency")
told(run("plan", "--help"), 0, "--help behind a verb", "verbs", "half_length")
told(run("status", "-h", "fpeak"), 0, "and -h NAME there", "25 Hz", "range")
told(run("--help", "fpek"), 1, "--help of a misspelt name", "fpek", "did you mean fpeak?")
told(run("--help", "fpe"), 1, "--help of the begin of a name", "did you mean fpeak?")
told(run("--version"), 0, "--version", "SplFd2dmod ", "variants: auto, fortran, cpu")
told(run("--markdown"), 0, "--markdown: a table", "| name | default | values | meaning |", "| `fpeak` |")
told(run("--help", ranks=2), 0, "--help on two processes", "verbs")
r = run("--help", ranks=2)
claim(r.stdout.count("a first run:") == 1, f"--help on two processes is printed once, found {r.stdout.count('a first run:')} times")
r = run("--template")
open("all.par", "w").write(r.stdout)
names = [line[1:].split("=")[0].strip() for line in r.stdout.splitlines() if line[:1] == "#" and line[1:2].isalpha()]
r = run("--help")
claim(len(names) > 40 and all(n in r.stdout for n in names), f"--template holds {len(names)} parameters, all of them in --help")
claim(files() == sorted([*before, "all.par"]), f"none of this left a file: {set(files()) - set(before)}")

# --- plan -------------------------------------------------------------------------------------------------------------

before = files()
told(run("plan", "par=job.par", "snapshot=0.01"), 0, "plan counts the disk for snapshots", "for snapshots of 1 shot(s)")
r = run("plan", "par=job.par", "forecast=0.05")
told(r, 0, "plan: model, grid, step, limit, points per wavelength, shots, margins, window, memory, disk, time", "121 x 61",
     "10 x 10 m", "time step", "stability limit", "points per shortest wavelength", "records 101 .. 103", "margins", "window",
     "memory", "disk", "time", "Mcell/s")
claim(files() == before, f"plan makes no file: {set(files()) - set(before)}")
Path("bad.keymap").write_text("spread cable streamer first=50 interval=20 channels=10 depth=17\nshot 1 600 13 cable\n"
                              "shot 2 5000 13 cable\nshot 3 600 -13 cable\nshot 4 100 13 cable\nshot 5 600 900 cable\n")
told(run("plan", "par=job.par", "keymap=bad.keymap"), 1, "plan tells every fault of geometry at once", "4 faults in the geometry",
     "record 2", "x = 5000 m", "record 3", "z = -13 m", "record 4", "receiver 4 of 10", "record 5", "z = 900 m")

# --- the recorded parameters repeat the run; other ways to write them ----------------------------------------------------

model("a.nc")
r = run("par=a.nc.par", "output=b.nc")
claim(r.returncode == 0 and differences("a.nc", "b.nc") == [], f"par=a.nc.par output=b.nc repeats the run bit for bit: "
      f"{differences('a.nc', 'b.nc')}")
with Dataset("a.nc") as ds:
    Path("from_file.par").write_text(ds.parameters)
run("par=from_file.par", "output=b2.nc")
claim(differences("a.nc", "b2.nc") == [], "so do the parameters that stand in the file of gathers")
own = contents("a.nc")[1], contents("b.nc")[1]
changed = sorted(k for k in own[0] if not np.array_equal(own[0][k], own[1][k]))
claim(set(changed) <= {"parameters"}, f"attributes that differ between the two: {changed}; only the parameters may, "
      "with the output's name")
deck = dict(line.split(" = ") for line in Path("job.par").read_text().splitlines())
model("never.nc", "checkpoint=0")
r = run("par=never.nc.par")
claim(r.returncode == 0 and "shots to do: 0 of 3" in r.stderr, f"and those of a job with checkpoint=0: {r.stderr.strip()[-100:]}")
quoted = {"keymap", "vp", "rho", "output"}
Path("list.par").write_text("&job  ! a namelist\n" + ",\n".join(
    f"  {k} = '{v}'" if k in quoted else f"  {k} = {v}" for k, v in deck.items()) + "\n/\n")
run("par=list.par", "output=c.nc")
claim(differences("a.nc", "c.nc") == [], "the same job as a namelist: bit for bit")
r = run("run", *[f"{k}={v}" for k, v in deck.items() if k != "output"], "output=d.nc")
claim(r.returncode == 0 and differences("a.nc", "d.nc") == [], "and on the command line alone")
r = run("par=all.par", *[f"{k}={v}" for k, v in deck.items() if k != "output"], "output=e.nc")
claim(r.returncode == 0 and differences("a.nc", "e.nc") == [],
      f"and over the file that --template writes: {r.stderr[-200:] if r.returncode else ''}")
log = Path("a.nc.log").read_text()
claim("fpeak            = 12" in log and "job.par:" in log and "SplFd2dmod " in log
      and "shots to do: 3 of 3" in log and "3 shots in" in log,
      "the log holds version, resolved parameters with their origin, and the summary")

# --- ranks and threads --------------------------------------------------------------------------------------------------

for ranks, threads in ((1, 2), (1, 0), (3, 1), (3, 2), (2, 3)):
    model("t.nc", f"threads={threads}", "overwrite=y", ranks=ranks)
    d = differences("a.nc", "t.nc")
    claim(d == [], f"{ranks} process(es) of {threads or 'all'} threads: every byte as with one thread {d or ''}")
fine_grid = ("dx=3", "dz=3", "overwrite=y")          # of 67,000 cells: enough for two threads
for threads in (1, 2, 5):
    model(f"g{threads}.nc", f"threads={threads}", *fine_grid)
d = differences("g1.nc", "g2.nc") + differences("g1.nc", "g5.nc")
claim(d == [], f"a finer grid, 1, 2 and 5 threads: the same bytes {d or ''}")
r = run("par=job.par", "output=g2.nc", "threads=2", *fine_grid, env={"OMP_WAIT_POLICY": "active"})       # tests/run says passive
claim(r.returncode == 0 and differences("g1.nc", "g2.nc") == [], f"2 threads that do not sleep while they wait: exit status {r.returncode}, "
      "the same bytes")
model("f.nc", "variant=fortran")
e = off(traces("f.nc"), traces("a.nc"))
claim(e < 1e-5, f"variant=fortran agrees to {e:.1e}, bound 1e-5")

# --- wavelets, components, sampling ----------------------------------------------------------------------------------------

t = np.arange(-200, 201) * 1e-3
a = (np.pi * 12 * t) ** 2
np.savetxt("ricker.txt", np.column_stack([t, (1 - 2 * a) * np.exp(-a)]), fmt="%.6f %.9f")
np.savetxt("one.txt", (1 - 2 * a) * np.exp(-a), fmt="%.9f")
model("w0.nc", "delay=0.15")
model("w1.nc", "delay=0.15", "wavelet=file", "wavelet_file=ricker.txt")
model("w2.nc", "delay=-0.0", "wavelet=file", "wavelet_file=one.txt", "wavelet_dt=0.001", "tmax=0.45")
e = off(traces("w1.nc"), traces("w0.nc"))
claim(e < 1e-4, f"wavelet=file with a Ricker wavelet's samples agrees with wavelet=ricker to {e:.1e}, bound 1e-4")
n = 50                                       # 0.2 s, where the one-column file has its centre, less the delay of 0.15 s
w2 = traces("w2.nc")[..., :113]
shift = round((0.2 - 0.15) / 0.004, 6)
fine = model("w3.nc", "delay=0.2", "tmax=0.45")
e = off(w2, traces(fine)[..., :113])
claim(e < 1e-4, f"a file of one column begins at time zero: agrees with delay=0.2 to {e:.1e}, bound 1e-4")

model("v.nc", "components=p,vx,vz")
with Dataset("v.nc") as ds:
    units = [ds[n].units for n in ("pressure", "vx", "vz")]
claim(traces("v.nc").tobytes() == traces("a.nc").tobytes(), "components=p,vx,vz: pressure as with p alone, bit for bit")
claim(units == ["Pa", "m s-1", "m s-1"], f"units {units}")
model("vz.nc", "components=vz")
with Dataset("vz.nc") as ds:
    only = "pressure" not in ds.variables and ds["vz"][...].tobytes()
claim(only == Dataset("v.nc")["vz"][...].tobytes(), "components=vz: that alone, the same bytes")

model("dt1.nc", "dt_out=0.001")
x1, x4 = traces("dt1.nc"), traces("a.nc")
claim(x1.shape[-1] == 401 and x4.shape[-1] == 101, f"samples: {x1.shape[-1]} of 1 ms, {x4.shape[-1]} of 4 ms, must be 401 and 101")
e = off(x1[..., ::4], x4)
claim(e < 1e-4, f"every fourth sample of dt_out=0.001 agrees with dt_out=0.004 to {e:.1e}, bound 1e-4")
model("dtodd.nc", "dt_out=0.003", "tmax=0.3999")
claim(traces("dtodd.nc").shape[-1] == 134, f"tmax no multiple of dt_out: {traces('dtodd.nc').shape[-1]} samples, must be 134")

# --- uniform medium: physics known by heart -----------------------------------------------------------------------------------

np.full(NX * NZ, 2000.0, "<f4").tofile("uvp.raw")
np.full(NX * NZ, 1500.0, "<f4").tofile("urho.raw")
UNIFORM = ("vp=uvp.raw", "rho=urho.raw", "npml=20")
Path("far.keymap").write_text("spread far fixed x0=500 interval=83 channels=6 depth=300\nshot 1 103.3 297.1 far\n")
model("u.nc", *UNIFORM, "components=p,vx,vz", "tmax=0.8", "keymap=far.keymap", "aperture=-1")
p, vx, vz = (traces("u.nc", n)[0] for n in ("pressure", "vx", "vz"))
ratio = np.sqrt((vx ** 2 + vz ** 2).sum(1)) / np.sqrt((p ** 2).sum(1)) * 1500 * 2000
claim(abs(ratio - 1).max() < 0.02 and (vx * p).sum() > 0,
      f"far from the source rho c |v| / |p| is {ratio.min():.4f} .. {ratio.max():.4f}, must be 1 to 2 %; vx has the sign "
      "of p to the right of it")
model("fine.nc", *UNIFORM, "dx=5", "dz=5", "tmax=0.8", "keymap=far.keymap", "aperture=-1")
e = off(traces("fine.nc")[0], p)
claim(e < 2e-3, f"half the spacing gives the same direct wave to {e:.1e}, bound 2e-3")
model("coarse.nc", *UNIFORM, "dx=20", "dz=12.5", "tmax=0.8", "fpeak=6", "keymap=far.keymap", "aperture=-1")
model("norm.nc", *UNIFORM, "tmax=0.8", "fpeak=6", "keymap=far.keymap", "aperture=-1")
e = off(traces("coarse.nc")[0], traces("norm.nc")[0])
claim(e < 1e-2, f"spacings of 20 x 12.5 m from a model of 10 x 10 m agree to {e:.1e}, bound 1e-2")
model("layers.nc", "tmax=0.8")
model("layers5.nc", "tmax=0.8", "dx=5", "dz=5")
e = off(traces("layers5.nc"), traces("layers.nc"))
claim(1e-4 < e < 0.3, f"the layered model on half the spacing: {e:.2f} off, bound 0.3 (the spacing staircases a dipping interface)")

# --- aperture: a window is as good as the whole model while nothing can come back from its edges -------------------------------

write_keymap(shots=2, channels=6)
model("whole.nc", "aperture=-1", "npml=20", "tmax=0.3")
model("narrow.nc", "aperture=260", "npml=20", "tmax=0.3")
e = off(traces("narrow.nc"), traces("whole.nc"))
claim(e < 1e-5, f"aperture=260 against the whole model, before anything can come back from the edges: {e:.1e}, bound 1e-5")
model("whole.nc", "aperture=-1", "npml=20", "tmax=0.8", "overwrite=y")
for aperture in (260, 60):
    model("narrow.nc", f"aperture={aperture}", "npml=20", "tmax=0.8", "overwrite=y")
    e = off(traces("narrow.nc"), traces("whole.nc"))
    claim(1e-6 < e < 0.12, f"with the reflection of the dipping layer, aperture={aperture}: {e:.1e}, bound 0.12 "
          "(beyond the window the layer goes on level)")
model("whole.nc", *UNIFORM, "aperture=-1", "tmax=0.8", "overwrite=y")
model("narrow.nc", *UNIFORM, "aperture=60", "tmax=0.8", "overwrite=y")
e = off(traces("narrow.nc"), traces("whole.nc"))
claim(e < 1e-4, f"in a uniform model, where only the edges of the window could tell, aperture=60: {e:.1e}, bound 1e-4")
with Dataset("narrow.nc") as ds:
    cells = ds["cells"][...]
nx = (cells[0] / (NZ + 48)) - 48
claim(20 < nx < 40, f"the window of aperture=60 has {nx:.0f} of {NX} columns")

# --- positions ---------------------------------------------------------------------------------------------------------

model("near.nc", "positions=nearest", "snapshot=0.1")
with Dataset("near.nc") as ds, Dataset("whole.nc") as exact:
    asked = ds["source_x"][0], ds["source_z"][0], ds["receiver_x"][0, 0], ds["receiver_z"][0, 0]
    used = ds["source_x_used"][0], ds["source_z_used"][0], ds["receiver_x_used"][0, 0], ds["receiver_z_used"][0, 0]
    honoured = exact["receiver_x_used"][0, 0]
claim(asked == (600, 13.1, 550, 17.3) and used == (600, 10, 550, 20) and honoured == 550,
      f"positions=nearest: asked {tuple(map(float, asked))}, used {tuple(map(float, used))}, "
      "must be the nearest nodes (600, 10, 550, 20)")
with Dataset("near.nc.snap101.nc") as ds:
    claim((ds.source_x_used, ds.source_z_used) == (600, 10),
          f"and the snapshots say so too: {ds.source_x_used}, {ds.source_z_used}")

# --- snapshots ---------------------------------------------------------------------------------------------------------

model("s.nc", "snapshot=0.05", "snapshot_step=2", "snapshot_shots=102,101", "aperture=150")
snaps = sorted(Path(".").glob("s.nc.snap*.nc"))
claim([s.name for s in snaps] == ["s.nc.snap101.nc", "s.nc.snap102.nc"],
      f"snapshots of the shots asked for: {[s.name for s in snaps]}")
with xr.open_dataset(snaps[0]) as ds, xr.open_dataset(snaps[1]) as other, xr.open_dataset("s.nc") as g:
    claim(ds.pressure.dims == ("time", "z", "x") and ds.pressure.shape == other.pressure.shape and ds.sizes["z"] == 31,
          f"xarray reads them, shapes {ds.pressure.shape} and {other.pressure.shape} (time, z, x)")
    claim(np.allclose(ds.time, np.arange(9) * 0.05),
          f"times {ds.time.values[0]:g} .. {ds.time.values[-1]:g} s every {ds.time.values[1]:g} s")
    claim(np.allclose(np.diff(ds.x), 20) and np.allclose(np.diff(ds.z), 20) and ds.z[0] == 0, "nodes every 20 m")
    late = ds.pressure[-1].values
    claim(np.isfinite(ds.pressure.values).all() and abs(late).max() > 0,
          f"the field is there at {float(ds.time[-1]):g} s, largest {abs(late).max():.3g} Pa")
    claim(dict(g.sizes) == {"shot": 2, "receiver": 6, "time": 101} and g.pressure.units == "Pa",
          f"xarray reads the gathers: {dict(g.sizes)}")
model("nosnap.nc", "aperture=150")
late = run("par=job.par", "output=nosnap.nc", "aperture=150", "snapshot=0.05", "snapshot_shots=102,101")
told(late, 0, "snapshots of shots that are done already", "of 2 shot(s) that are done already without, the first of them 102")
claim(traces("nosnap.nc").tobytes() == traces("s.nc").tobytes(), "snapshots change no bit of the traces")

# --- status while a run lives, when it is killed, when it ends ------------------------------------------------------------

SHOTS = 16
write_keymap(shots=SHOTS, channels=6, dx=4.0)
write_deck()


def status(output="live.nc"):
    r = run("status", "par=job.par", f"output={output}", "--json")
    return json.loads(r.stdout) if r.returncode == 0 else {"state": r.stderr.strip(), "done": -1}


gate = Gate("live", 1.5)                            # it stands still in its second shot
p = subprocess.Popen(command("par=job.par", "output=live.nc", ranks=2), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     start_new_session=True, env=preload(os.environ, slow_machine(loop=20000), gate.env))
limit = time.time() + PATIENCE
seen = status()
while not (seen["state"] == "running" and seen["done"] > 0) and time.time() < limit and p.poll() is None:
    time.sleep(0.05)
    seen = status()
claim(seen["state"] == "running" and seen["running"] is True and 0 < seen["done"] < SHOTS and seen["total"] == SHOTS,
      f"status of a living run: {seen}")
table = run("status", "par=job.par", "output=live.nc")
told(table, 0, "the table too", f"of {SHOTS} shots done", "running", "shots/h", "left")
r = run("par=job.par", "output=live.nc")
told(r, 1, "the same command while it runs is refused", "in use by another run")
r = run("par=job.par", "output=live.nc", "overwrite=y")
told(r, 1, "even with overwrite=y", "in use by another run")
os.killpg(p.pid, signal.SIGKILL)
p.wait()
seen = status()
while seen["running"] and time.time() < limit:     # the ranks have to notice that mpirun is gone
    time.sleep(0.1)
    seen = status()
gate.open()
claim(seen["state"] == "killed" and seen["running"] is False and seen["dealt"] == [] and 0 < seen["done"] < SHOTS,
      f"status after kill -9: {seen}")
kept = statuses("live.nc").count(1)
r = run("par=job.par", "output=live.nc", ranks=3)
seen = status()
claim(r.returncode == 0 and seen["state"] == "complete" and seen["done"] == SHOTS and seen["left"] == 0 and seen["runs"] == 2
      and statuses("live.nc") == [1] * SHOTS, f"run again: {kept} kept, all done, status {seen}")
told(run("status", "output=live.nc"), 0, "status needs nothing but the output's name", f"{SHOTS} of {SHOTS} shots done", "complete")

# --- verify ------------------------------------------------------------------------------------------------------------

before = files()
for ranks in (1, 3):
    r = run("verify", ranks=ranks)
    told(r, 0, f"verify on {ranks} process(es): {' / '.join(r.stdout.split(chr(10))[:-1])}", "every check passed",
         "analytic solution", "cpu against fortran")
    claim("FAIL" not in r.stdout, "no check failed")
claim(files() == before, f"verify leaves nothing: {set(files()) - set(before)}")

# --- nothing survives ----------------------------------------------------------------------------------------------------

left = []
for entry in Path("/proc").iterdir():
    try:
        if entry.name.isdigit() and os.readlink(entry / "exe") == str(PROGRAM.resolve()):
            left += [entry.name] if os.readlink(entry / "cwd") == os.getcwd() else []
    except OSError:
        pass
claim(left == [], f"no process of the program is left in this folder: {left}")
done()
