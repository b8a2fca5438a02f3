#!/usr/bin/env python3
"""3D: receivers in water of a few cells below a free surface, or right below it, are told of before the first shot, by layers and by volumes;
not those in deeper water, on land or deep in the rock, nor under an absorbing top. Half the spacing confirms it: traces told of change by
more than those in deeper water, and by no more than is told. Depth of the water and rock are drawn at random."""
import re
from pathlib import Path

import numpy as np
from check import claim, done, given_seed
from mini3d import run
from netCDF4 import Dataset

seed = given_seed()
rng = np.random.default_rng(seed)
H = 10.0
VS = rng.uniform(1200, 1700)
ROCK = (2 * VS, VS, 2100.0)
WORDS = re.compile(r"(\d+) receiver\(s\) stand in water of a few cells below a free surface, or within three cells below its floor, the first of them "
                   r"channel (\d+) .*? are off by some (\d+) % and more, motion along it by twice")
DECK = ("keymap=sea.keymap", "half_length=2", "source=volume", "wavelet=ricker", "fpeak=6", "fmax=15", "tmax=0.4", "dt_out=0.004",
        "depth=100", "aperture=40", "dispersion=warn", "components=p", "overwrite=y")


def survey(places, sz):
    Path("sea.stations").write_text("".join(f"{i + 1} {x:.2f} {z:.2f} 2.3\n" for i, (x, z) in enumerate(places)))
    Path("sea.keymap").write_text(f"spread sea list sea.stations\nshot 1 40.7 {sz:.2f} sea y=1.1\n")


def told(*words):
    r = run("plan", *DECK, "npml=8", *words)
    claim(r.returncode == 0, f"plan {' '.join(words)}: {r.stderr.strip()[-200:] or 'no error'}")
    return [tuple(int(v) for v in m.groups()) for m in WORDS.finditer(" ".join(r.stdout.split()))]


def pressure(depth, dx):
    r = run("layers=sea.layers", *DECK, f"dx={dx}", f"npml={round(60 / dx)}", "top=free", "output=sea.nc")
    claim(r.returncode == 0, f"{depth} m of water, {dx} m: {r.stderr.strip()[-200:] if r.returncode else 'modelled'}")
    with Dataset("sea.nc") as ds:
        return ds["pressure"][0].filled(0).astype(float)


def layers(depth):
    Path("sea.layers").write_text(f"0 1500 0 1000\n{depth} {ROCK[0]} {ROCK[1]} {ROCK[2]}\n")


shallow = 0.0
for cells in (int(rng.integers(2, 4)), 4, 6):
    layers(cells * H)
    survey([(x, z) for x in (120, 150, 170) for z in (0.3 * cells * H, 0.8 * cells * H, cells * H + 25)], 0.45 * cells * H)
    said = told("layers=sea.layers", f"dx={H}", "top=free")
    coarse, fine = pressure(cells * H, H), pressure(cells * H, H / 2)
    size = np.linalg.norm(fine, axis=1).reshape(3, 3).max(0)              # of the largest trace at a depth
    off = float(100 * (np.linalg.norm(coarse - fine, axis=1).reshape(3, 3) / size).max())
    if cells < 5:
        claim(len(said) == 1 and said[0][:2] == (9, 1) and 1 < off < said[0][2],
              f"seed {seed}: {cells} cells of water over rock of {VS:.0f} m/s: half the spacing changes traces by up to {off:.1f} %, told {said}")
        claim(not told("layers=sea.layers", f"dx={H}", "top=pml"), "nothing is told under an absorbing top")
    else:
        claim(not said and off < 0.7 * shallow, f"seed {seed}: {cells} cells of water: by up to {off:.1f} %, must be below 0.7 of {shallow:.1f} %; "
              f"told {said or 'nothing'}")
    shallow = max(off, shallow)

layers(6.4 * H)                                              # suffices on a face only
said = told("layers=sea.layers", f"dx={H}", "top=free")
claim(len(said) == 1 and said[0][0] == 9, f"6.4 cells of water: told {said}")

survey([(40, 5), (90, 5), (140, 5), (190, 5), (90, 90)], 5)  # land, shallow, six cells, shallow and deep in the rock
n = (25, 12, 14)
sea = np.array([0, 3, 6, 3])[np.clip(np.arange(n[0]) * H // 50, 0, 3).astype(int)]


def volumes(sea, first):
    """So many samples of water above rock."""
    for name, w, r in zip(("vp", "vs", "rho"), (1500, 0, 1000), ROCK):
        with Dataset(f"{name}.nc", "w") as ds:
            for axis, size in zip("xyz", n):
                ds.createDimension(axis, size)
                ds.createVariable(axis, "f8", (axis,))[:] = (np.arange(size) + first) * H
                ds[axis].units = "m"
            ds.createVariable(name, "f4", ("x", "y", "z"))[:] = np.where(np.arange(n[2]) < sea[:, None, None], w, r) * np.ones(n)
            ds[name].units = "kg/m3" if name == "rho" else "m/s"


volumes(sea, 0.5)
said = told("vp=vp.nc", "vs=vs.nc", "rho=rho.nc", "top=free")
claim(len(said) == 1 and said[0][:2] == (2, 2), f"a volume with shores: told {said}, must be two, channel 2 first")
volumes(np.full(n[0], 7), 0)                                # from node to node half a sample less, and the floor in a cell
survey([(90, 9), (140, 20)], 25)
for at, least in (("centres", 0), ("nodes", 2)):
    said = told("vp=vp.nc", "vs=vs.nc", "rho=rho.nc", "top=free", f"model_at={at}")
    claim(sum(m[0] for m in said) == least, f"seven samples of water that are {at} of cells: told {said or 'nothing'}, must be of {least}")
done()
