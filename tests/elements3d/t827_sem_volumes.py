#!/usr/bin/env python3
"""Media of spectral elements by point, from volumes: volumes of two even media give the traces of a table of them, whichever way they
come, and by ranks the same file; a gradient gives the time that its rays take; what does not fit is refused with a sentence."""
import functools
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, claim_refused, done, given_seed
from launch import settings
from minisem import MESH, run
from minisurvey import differences

N = (14, 14, 14)
seed = given_seed()
DECK = dict(keymap="line.keymap", mesh="box.exo", components="p,vx,vz", fpeak=3.5, tmax=0.4, threads=2)
words = functools.partial(settings, DECK)
GRID = dict(model_nx=N[0], model_ny=N[1], model_nz=N[2], model_dx=50, model_dy=50, model_dz=50, model_x0=25, model_y0=25, model_z0=25)
VOLUMES = dict(vp="vp.bin", vs="vs.bin", rho="rho.bin", **GRID)


def put(name, values):
    np.ascontiguousarray(np.broadcast_to(values, N[::-1]), dtype="<f4").tofile(name)          # (z, y, x)


def traces(name):
    with Dataset(name) as ds:
        return np.stack([ds[c][...].filled(np.nan).astype(float) for c in ("pressure", "vx", "vz")])


def job(sentence, name, *decks, ranks=1, **changes):
    r = run(*words(*decks, output=name, **changes), ranks=ranks)
    claim(r.returncode == 0, f"{sentence}: exit status {r.returncode} {(r.stderr + r.stdout)[-400:] if r.returncode else ''}")
    return traces(name) if r.returncode == 0 else None


def apart(a, b):
    return max(np.linalg.norm(x - y) / np.linalg.norm(y) for x, y in zip(a, b))


def refused(sentence, *expected, **changes):
    r = run(*words(VOLUMES, output="bad.nc", **changes))
    claim_refused(r, "bad.nc", sentence, *expected)


subprocess.run([MESH, "box", "-o", "box.exo", "--x", "0", "700", "--y", "0", "700", "--z", "-700", "0", "--elements", "7", "7", "7",
                "--shake", "0.1", "--seed", "3", "--block", "water:top", "--block", "rock:-300", "--overwrite"], check=True,
               capture_output=True)
Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=143.7 channels=4 depth=190.7 y=341.7\n"
                               "shots first_record=11 n=1 x0=353.3 dx=71.1 z=151.7 y=512.3 spread=cable\n")
z = (25 + 50 * np.arange(N[2]))[:, None, None]
sea = z < 300
put("vp.bin", np.where(sea, 1500, 2600))
put("vs.bin", np.where(sea, 0, 1400))
put("rho.bin", np.where(sea, 1000, 2100))
put("qp.bin", np.where(sea, 0, 80))
junk = np.random.default_rng(seed).choice([0, -1, 2, 9999, np.nan])                            # in water Qs says nothing
put("qs.bin", np.where(sea, junk, 40))
Path("box.materials").write_text("water 1500 0 1000 0 0\nrock 2600 1400 2100 80 40\n")
Path("half.materials").write_text("water 1500 0 1000\nrock volume\n")
table = job("a table", "table.nc", materials="box.materials", attenuation="n")
volume = job("volumes", "volume.nc", VOLUMES)
half = job("the table's water over volumes of rock", "half.nc", VOLUMES, materials="half.materials")
claim(apart(volume, table) <= 1e-5 and apart(half, table) <= 1e-5,
      f"volumes, and volumes below a table's water, give the traces of the table: {apart(volume, table):.1e}, {apart(half, table):.1e} <= 1e-5")
said = ["all that vp.bin tells of is a fluid" in run("plan", *words(VOLUMES, output="bad.nc", dispersion="warn", **more)).stdout
        for more in (dict(vs=None), dict(vs=None, vp_vs=2), {})]
claim(said == [True, False, False], f"rock without S waves is told of, with them it is not: {said}")
lossy = job("a table with Q", "lossy.nc", materials="box.materials")
quality = job("volumes with Q", "quality.nc", VOLUMES, qp="qp.bin", qs="qs.bin")
claim(apart(quality, lossy) <= 1e-5 and apart(quality, table) > 5e-4,
      f"volumes of Q ({junk:g} in water, SEED={seed}) give the traces of the table with Q: "
      f"{apart(quality, lossy):.1e} <= 1e-5, which are others: {apart(quality, table):.1e}")
job("volumes, three ranks", "ranks.nc", VOLUMES, qp="qp.bin", qs="qs.bin", ranks=3)
wrong = differences("quality.nc", "ranks.nc")
claim(not wrong, f"three ranks make the same file {wrong}")

# Qp = 2 Qs by default where vp/vs = 1.5: waves that only compress would gain energy.
put("vs.bin", np.where(sea, 0, 2600 / 1.5))
r = run(*words(VOLUMES, output="passive.nc", qs="qs.bin"))
same = job("the largest Qp that there can be", "most.nc", VOLUMES, qs="qs.bin", qp_qs=0.75 * 1.5**2)
claim(r.returncode == 0 and "in 196 of 343 elements Qp is too large beside Qs" in r.stderr and apart(traces("passive.nc"), same) <= 1e-5,
      f"a Qp that no rock beside Qs has is told of, and the largest that one has taken: exit status {r.returncode}: {r.stderr.strip()[:500]}")

# a deep fluid of velocity a + b z: the time from source to receiver below it is log(v2/v1)/b
put("vp.bin", 1500 + 2.0 * z)
put("vs.bin", 0)
put("rho.bin", 1000)
Path("line.keymap").write_text("spread cable fixed x0=450 interval=10 channels=1 depth=560 y=400\n"
                               "shots first_record=1 n=1 x0=450 dx=10 z=160 y=400 spread=cable\n")
r = run(*words(VOLUMES, output="slow.nc", components="p", fpeak=3.5, tmax=0.8, dt_out=0.001))
put("vp.bin", 1500)
s = run(*words(VOLUMES, output="even.nc", components="p", fpeak=3.5, tmax=0.8, dt_out=0.001))
if r.returncode == 0 and s.returncode == 0:
    p = []
    for name in ("slow.nc", "even.nc"):
        with Dataset(name) as ds:
            p.append(ds["pressure"][0, 0].filled(0).astype(float))
    k = np.arange(1 - p[0].size, p[0].size)
    c = np.correlate(p[1] / np.abs(p[1]).max(), p[0] / np.abs(p[0]).max(), "full")
    delay = k[np.argmax(c)] * 0.001
    exact = 400 / 1500 - np.log((1500 + 2 * 560) / (1500 + 2 * 160)) / 2
    claim(abs(delay - exact) <= 0.003, f"a gradient of velocity is earlier by {delay:.4f} s, rays tell {exact:.4f} s, bound 0.003 s")
else:
    claim(False, f"gradient: {r.stderr[-300:]} {s.stderr[-300:]}")

put("vp.bin", np.where(sea, 1500, 2600))
put("vs.bin", np.where(z < 350, 0, 1400))
put("rho.bin", 2000)
refused("an element partly of fluid", "element", "fluid", "of 27 points", "volume solid")
Path("say.materials").write_text("water volume fluid\nrock volume solid\n")
told = job("a table that says what is fluid", "told.nc", VOLUMES, materials="say.materials", tmax=0.1)
refused("a volume that is too small", "from x", "larger volume", model_dx=45)
Path("gas.materials").write_text("* volume gas\n")
refused("another word after volume", "gas", "line 1", materials="gas.materials")
refused("a table that asks for volumes which are not there", "vp=FILE", materials="half.materials", vp=None, vs=None, rho=None)
put("rho.bin", np.where(sea, 1000, 2200))
for name, water, rock in (("vp.bin", 4921, 8530), ("vs.bin", 0, 4593)):                         # in ft/s
    put(name, np.where(sea, water, rock))
refused("velocities of volumes in ft/s", "look like ft/s", "nothing as light as 1000 kg/m3 is so fast", "model_check=warn")
Path("feet.materials").write_text("water 4921 0 1000\nrock 8530 4593 2200\n")
refused("velocities of a table in ft/s", "look like ft/s", "model_check=warn", materials="feet.materials", **dict.fromkeys(VOLUMES))
refused("neither table nor volumes", "materials=FILE", vp=None, vs=None, rho=None)
done()
