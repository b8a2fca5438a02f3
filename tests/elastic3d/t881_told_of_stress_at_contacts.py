#!/usr/bin/env python3
"""3D: what is told before the first shot of receivers of stress, strain and rotation beside contacts. Of a flat contact of rock along the
axes nothing: it is heeded (t636). Of one that dips, and of one with the free surface in reach, how many, the first of them, and by how much
they may be off. At a sea floor those of pressure in rock are told of, of strain on both sides (t631 has the figures), of stress across it
none; pressure and velocity right above a sea floor within a cell, too. Media and places are drawn at random."""
import re

import numpy as np
from netCDF4 import Dataset

from check import claim, done, given_seed
from mini3d import run

SEED = given_seed()
rng = np.random.default_rng(SEED)
WORDS = re.compile(r"warning:? +((\d+) receiver\(s\) of stress, pressure, strain or rotation stand within two cells, 200 m, of a contact of "
                   r"rock, the first of them channel (\d+) of shot record 1 at x = [0-9.]+, y = -?[0-9.]+, z = [0-9.]+ m \(it dips or ends, "
                   r"a fluid or the surface is within 7 cells, or the model stays on disk\): .* may be off by some ([0-9.]+) % and more; .*)")
H, VS, TOP = 100.0, 2000.0, 1000.0
CELLS = np.array([-4.5, *rng.uniform(-2.6, -0.1, 3), rng.uniform(-0.6, -0.1), rng.uniform(0.1, 0.6), *rng.uniform(0.1, 2.6, 3), 4.5])
KINDS = ("vx", "vy", "vz", "sxx", "syz", "exz", "wx", "p")
BASE = {"keymap": "near.keymap", "layers": "two.layers", "dx": H, "dy": H, "dz": H, "half_length": 2, "aperture": 250, "depth": 2300, "npml": 6, "top": "pml",
        "source": "moment", "wavelet": "gauss", "sigma": 0.2, "delay": 1, "tmax": 1.6, "dt_out": 0.01, "dispersion": "warn",
        "threads": 2, "overwrite": "y"}
BASE.update({f"m{a}": f"{v:.4g}" for a, v in zip(("xx", "yy", "zz", "xy", "xz", "yz"), 1e17 * rng.uniform(-1, 1, 6))})


def write(deck):
    with open("job.par", "w", encoding="ascii") as par:
        par.writelines(f"{k} = {v}\n" for k, v in {**BASE, **deck}.items())


def planned(**deck):
    """What plan says, which is what a run would say."""
    write(deck)
    r = run("plan", "par=job.par", "output=x.nc", "forecast=0")
    if r.returncode:
        claim(False, f"plan: exit status {r.returncode}: {r.stderr[-300:]}")
    return r.stdout + r.stderr


def traces(name, **deck):
    write(deck)
    r = run("par=job.par", f"output={name}")
    if r.returncode:
        claim(False, f"exit status {r.returncode}: {r.stderr[-300:]}")
        done()
    with Dataset(name) as ds:
        return [ds["pressure" if c == "p" else c][0].filled(0).astype(float) for c in KINDS if c in deck.get("components", "")], r.stderr


def write_spread(name, top, source, slope=0.0):
    """Stations so many cells from a contact, which at x = 700 is at depth `top`, falls by slope along x and half of it along y."""
    with open(f"{name}.stations", "w", encoding="ascii") as stations:
        for i, c in enumerate(CELLS):
            x, y = 650 + 19 * i, 90 - 27 * i
            z = top + slope * (x - 700) + slope / 2 * y + c * H * np.sqrt(1 + 1.25 * slope**2)
            stations.write(f"{i + 1} {x} {z:.6f} {y}\n")
    with open(f"{name}.keymap", "w", encoding="ascii") as keymap:
        keymap.write(f"spread near list {name}.stations\nshot 1 700 {source} near\n")


def write_layers(name, top, stiff):
    with open(name, "w", encoding="ascii") as table:
        table.write(f"0 {2 * VS} {VS} 2400\n{top} {2 * VS * stiff} {VS * stiff} 2600\n")


stiff = rng.uniform(1.2, 1.6)
write_layers("two.layers", TOP, stiff)
write_spread("near", TOP, 2000)
write_layers("shallow.layers", 500, stiff)
write_spread("shallow", 500, 1500)
slope = rng.uniform(0.2, 1)
write_spread("dips", 1200, 2200, slope)
x, y, z = 12.5 + 25 * np.arange(60), -640 + 25 * np.arange(52), 12.5 + 25 * np.arange(100)
below = z > (1200 + slope * (x[:, None, None] - 700) + slope / 2 * y[:, None])                     # (x, y, z)
for name, upper, lower in (("vp", 2 * VS, 2 * VS * stiff), ("vs", VS, VS * stiff), ("rho", 2400, 2600)):
    np.where(below, lower, upper).transpose(2, 1, 0).astype("<f4").tofile(f"{name}.raw")

said = planned(components=",".join(KINDS))
claim(not WORDS.search(said), f"nothing is told of a flat contact, vs 1 : {stiff:.2f} (seed {SEED})")
near = np.abs(CELLS) <= 2
for how, words in (("one below a free surface", {"top": "free", "layers": "shallow.layers", "keymap": "shallow.keymap"}),
                   ("one that dips", {"layers": "", "vp": "vp.raw", "vs": "vs.raw", "rho": "rho.raw", "model_nx": 60, "model_ny": 52, "model_nz": 100,
                                      "model_dx": 25, "model_dy": 25, "model_dz": 25, "model_format": "raw32", "model_x0": 12.5, "model_y0": -640,
                                      "model_z0": 12.5, "aperture": -1, "depth": 0, "keymap": "dips.keymap"})):
    said = planned(components=",".join(KINDS), **words)
    told = WORDS.search(said)
    n, first, most = (int(told[2]), int(told[3]), float(told[4])) if told else (0, 1, 0)
    claim((np.abs(CELLS) < 0.7).sum() <= n <= near.sum() and near[first - 1] and most > 5, f"{how}: {n} receivers are told of, at most the "
          f"{near.sum()} within two cells, off by {most:g} % and more: {told and told[1]}")
said = planned(components="vx,vz", **words)
claim(not WORDS.search(said), "nothing is told of velocity there")
with open("aside.keymap", "w", encoding="ascii") as keymap:
    keymap.write("spread near list near.stations\nshot 1 200 2000 near\n")
coarse, fine = (np.array(traces(f"{h:.0f}.nc", components="vx,vy,vz", keymap="aside.keymap", dx=h)[0]) for h in (H, H / 3))
velocity = 100 * (np.linalg.norm(coarse - fine, axis=2) / np.linalg.norm(fine, axis=2).max(0)).max()
claim(velocity < 3.5, f"velocity beside the flat contact is at most {velocity:.1f} % from that on a grid three times finer, bound 3.5 %")
with open("two.layers", "w", encoding="ascii") as table:
    table.write(f"0 1500 0 1000\n{TOP} {2 * VS} {VS} 2400\n")
SEA = re.compile(r"(\d+) receiver\(s\) of pressure, stress along the floor, strain or rotation stand within two cells, 200 m, of a sea floor")
rock, both = ((CELLS > 0) & (CELLS <= 2)).sum(), (np.abs(CELLS) <= 2).sum()
for components, half_length, n in (("p,szz", 2, rock), ("szz,sxz,vx", 2, 0), ("exz", 4, both), ("wy,p,exx", 1, 0)):
    said = planned(components=components, half_length=half_length, tmax=0.1, sigma=0.4, delay=1.8)
    told = SEA.search(said)
    claim(not WORDS.search(said) and (int(told[1]) if told else 0) == n, f"{components}, half-length {half_length}, a sea floor on a face: "
          f"{n} receivers are told of, {told and told[0]}")
within = H * rng.uniform(0.25, 0.8)
with open("two.layers", "w", encoding="ascii") as table:
    table.write(f"0 1500 0 1000\n{TOP + within} 2600 1300 2000\n")
said = planned(components="p,vx", tmax=0.1, sigma=0.3, delay=1.4)
told = re.search(r"(\d+) receiver\(s\) of pressure stand in a cell that a sea floor lies in, or within two above it, the first of them channel (\d+) .* by up "
                 r"to (10|30) %", said)
above = np.flatnonzero((CELLS >= -1.25) & (CELLS <= within / H))      # wherever the face is
n, first = (int(told[1]), int(told[2])) if told else (0, 0)
claim(told and CELLS[first - 1] >= -2.25 and n >= (above.size and (CELLS[above] < 0).sum()) and (np.abs(CELLS - 0.5) < 2.75).sum() >= n,
      f"a floor {within / H:.2f} of a cell below a face: {told and told[0]} (seed {SEED})")
told = re.search(r"(\d+) receiver\(s\) of velocity, strain or rotation stand in the water within four cells above a sea floor that lies in a cell, the "
                 r"first of them channel (\d+) ", said)
above = np.flatnonzero((CELLS >= -3.25) & (CELLS < 0))                # wherever the face is
n, first = (int(told[1]), int(told[2])) if told else (0, 0)
claim(told and -4.25 <= CELLS[first - 1] <= 1 and above.size <= n <= ((CELLS >= -4.25) & (CELLS <= 1)).sum(), f"and of velocity: {told and told[0]}")
BASE = {k: v for k, v in BASE.items() if k[0] != "m"}             # no tensor
UP = (0.25, 1.25, 1.75, 3.5)
with open("near.stations", "w", encoding="ascii") as stations:
    stations.writelines(f"{i + 1} {x} {TOP - c * H} 0\n" for i, (c, x) in enumerate((c, x) for c in UP for x in (750, 800, 850)))
with open("near.keymap", "w", encoding="ascii") as keymap:
    keymap.write("spread near list near.stations\nshot 1 0 600 near\n")
off = []
for within in (0.0, 0.5):
    with open("two.layers", "w", encoding="ascii") as table:
        table.write(f"0 1500 0 1000\n{TOP + within * H} 2600 1300 2100\n")
    (vx, p), _ = traces("in.nc", components="p,vx", source="volume", wavelet="ricker", fpeak=0.8, delay=1.6, tmax=3.2)
    rate, force = np.gradient(vx[1::3], 0.01, axis=1), (p[::3] - p[2::3]) / H / 1000     # of water, which has 1000 kg/m3
    off.append(np.linalg.norm(rate - force, axis=1) / np.linalg.norm(force, axis=1))
claim(off[1][:3].max() > 0.8 and max(off[0].max(), off[1][3]) < 0.1, "and so it is: by the slope of pressure, which is right, vx is off by "
      f"{off[1].round(2)} of it {UP} cells above the face, and {off[0].round(2)} where the floor is on it")
done()
