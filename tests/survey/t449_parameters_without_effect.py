#!/usr/bin/env python3
"""All programs tell of parameters of a wavelet that is not modelled, and of Q beside a model without it, and of nothing else: those at
their defaults, as a template has them, are no mistake, nor is Q that attenuation=n leaves out."""
import functools
import os
import re
from pathlib import Path

import numpy as np

import launch
from check import claim, done

BIN = Path(os.environ["B"]) / "bin"
RUNS = {name: functools.partial(launch.run, BIN / name) for name in ("SplFd2dmod", "SplFd3dmod", "SplSemmod")}
ROCK, LOSSY = " 3000 1500 2200\n", " 3000 1500 2200 90 40\n"
np.full(60 * 50, 2000, "<f4").tofile("vp.raw")
Path("wave.txt").write_text("0 0\n0.02 0.5\n0.04 1\n0.06 0\n0.08 -1\n0.1 -0.5\n0.12 0\n")
Path("line.keymap").write_text("spread c fixed x0=250 interval=20 channels=3 depth=110 y=250\nshot 1 240 200 c y=240\n")
Path("box.layers").write_text("rock 0\n")
for kind, medium in (("rock", ROCK), ("lossy", LOSSY)):
    Path(f"{kind}.layers").write_text("0" + medium + "200" + medium)
    Path(f"{kind}.materials").write_text("rock" + medium)
SHARED = dict(keymap="line.keymap", tmax=0.6, dt_out=0.01, output="out.nc", threads=1, forecast=0, dispersion="warn")
OWN = {"SplFd2dmod": dict(vp="vp.raw", model_nx=60, model_nz=50, model_dx=10, model_dz=10),
       "SplFd3dmod": dict(layers="rock.layers", dx=20, aperture=200, depth=600),
       "SplSemmod": dict(mesh="layers", layers="box.layers", materials="rock.materials", mesh_z="down", mesh_x0=200, mesh_x1=400, mesh_y0=200,
                         mesh_y1=400, mesh_bottom=400, mesh_dx=100, mesh_dy=100, mesh_dz=100)}
LOSES = {"SplFd3dmod": dict(layers="lossy.layers"), "SplSemmod": dict(materials="lossy.materials")}


def told(program, **words):
    """Names that `plan` says to have no effect, and all that it says."""
    r = RUNS[program]("plan", *(f"{k}={v}" for k, v in {**SHARED, **OWN[program], **words}.items()))
    return sorted(re.findall(r"warning +(\w+) = .* has no effect: ", r.stdout)) if r.returncode == 0 else None, (r.stdout + r.stderr).strip()


def tells(program, names, what, **words):
    found, text = told(program, **words)
    claim(found == sorted(names), f"{program}, {what}: {', '.join(names) or 'nothing'} told"
          + ("" if found == sorted(names) else f", but {found}: {text[-600:]}"))


CORNERS = dict(f1=1, f2=2, f3=6, f4=9)
OTHER = dict(wavelet_file="wave.txt", wavelet_dt=0.02)
for program in RUNS:
    gauss = {} if program == "SplFd2dmod" else dict(sigma=0.2)
    tells(program, [], "a Ricker wavelet", fpeak=5)
    tells(program, [*CORNERS, *OTHER, *gauss], "a Ricker wavelet with those of others", wavelet="ricker", fpeak=5, **CORNERS, **OTHER, **gauss)
    tells(program, ["fpeak", *OTHER, *gauss], "Ormsby", wavelet="ormsby-rounded", fpeak=5, **CORNERS, **OTHER, **gauss)
    tells(program, ["fpeak", *CORNERS, *gauss], "a file", wavelet="file", fpeak=5, **CORNERS, **gauss, wavelet_file="wave.txt", delay=0)
    tells(program, [], "defaults", wavelet="ormsby", fpeak=25, **CORNERS, wavelet_file="''")
    if gauss:
        tells(program, ["fpeak", *CORNERS, *OTHER], "Gauss", wavelet="gauss", fpeak=5, **CORNERS, **OTHER, **gauss)
    found, text = told(program, fpeak=5, f2=4)
    claim(found is None and "give wavelet=ormsby too" in text, f"{program}: where no wavelet is chosen they are refused: {text}")
Q = dict(q_f1=0.5, q_f2=9, q_ref=2, qp_qs=1.5, memory_variables="all")
for program, lossy in LOSES.items():
    if program == "SplSemmod":
        del Q["qp_qs"]              # of volumes, beside a table of materials refused
    tells(program, Q, "Q of nothing", fpeak=5, **Q)
    tells(program, [], "Q of nothing at its defaults", fpeak=5, q_f1=0, q_f2=0, q_ref=0, memory_variables="auto")
    tells(program, [], "Q of something", fpeak=5, **Q, **lossy)
    tells(program, [], "Q left out", fpeak=5, **Q, **lossy, attenuation="n")
    away, beside = "waves are strongest at 5 Hz", "the band must span a factor of 2 to 1000"
    for band in ((0.004, 0.4), (7, 150)):
        text = told(program, fpeak=5, q_f1=band[0], q_f2=band[1], **lossy)[1]
        claim(away in text, f"{program}: Q constant from {band[0]} to {band[1]} Hz is told not to hold the wavelet: {text[-400:]}")
        text = told(program, fpeak=5, q_f1=band[0], q_f2=band[1])[1]
        claim(away not in text, f"{program}: not so where nothing attenuates")
    for band in (Q, dict(fmax=5)):
        claim("waves are strongest" not in told(program, fpeak=5, **band, **lossy)[1], f"{program}: nor of a band that holds it")
    for band in (dict(q_f1=10), dict(q_f1=1e-3), dict(q_f2=0.9, q_f1=0.5)):
        text = told(program, fpeak=5, **band, **lossy)[1]
        claim(beside in text or "less than twice" in text, f"{program}: {band} is refused: {text[-200:]}")
    wide = " %: a band of a factor of 50"
    text = told(program, fpeak=5, q_f1=0.1, q_f2=90, **lossy)[1]
    claim((wide in text) == (program == "SplSemmod"), f"{program}: a band of a factor of 900 is told of where few mechanisms cannot hold Q")
    claim(wide not in told(program, fpeak=5, q_f1=0.2, q_f2=10, **lossy)[1], f"{program}: one of 50 is not")
text = told("SplFd3dmod", fpeak=5, qs_vs=0.03, **LOSES["SplFd3dmod"])[1]
claim("qs_vs = 0.03 s/m has no effect" in text, f"Q by rule beside layers that tell it is refused: {text[-200:]}")
claim("Q from 45 on" in told("SplFd3dmod", fpeak=5, qs_vs=0.03)[1], "and gives that of layers that do not")
Path("slip.fault").write_text("dc 0 0 300 30 60 90 1e15 0 0.05 4\n0 10 10 0\n")
FAULT = dict(source="fault", fault="slip.fault", fmax=6)
tells("SplFd3dmod", [], "a fault", **FAULT)
tells("SplFd3dmod", ["fpeak", "amplitude", "delay"], "a fault with a wavelet", **FAULT, fpeak=5, amplitude=2, delay=0.3)
Path("deck.par").write_text("wavelet = ormsby\nfpeak = 5 # Hz\n" + "".join(f"{k} = {v}\n" for k, v in {**SHARED, **OWN["SplFd2dmod"]}.items()))
r = RUNS["SplFd2dmod"]("par=deck.par")
claim(r.returncode == 0 and "warning: fpeak = 5 Hz (deck.par:2) has no effect: " in r.stderr,
      "a run says it too, with the line of the deck" + ("" if r.returncode == 0 else ": " + r.stderr))
done()
