#!/usr/bin/env python3
"""3D, half-lengths above 1, a flat sea floor on a face of the cells: receivers of velocity in the water within 2 cells above it, of half-lengths
3 and 4 within 4 and 5, are told of before the first shot, with sources in water and in rock, and so are forces along it in rock within two
cells; a grid three times finer, half-length 1, confirms it: what is told is off, what is not told, velocity higher up, a force across the
floor or deeper, is not, nor is motion in rock. Nothing is told with half-length 1. Rock, places and directions are drawn at random."""
import re
from pathlib import Path

import numpy as np
from check import claim, done, given_seed
from mini3d import run
from netCDF4 import Dataset

SEED = given_seed()
rng = np.random.default_rng(SEED)
H, FLOOR, X, Y = 10.0, 90.0, 3.3, 7.1
VS = rng.uniform(1100, 1800)
ROCK = (VS * rng.uniform(1.8, 2.1), VS, rng.uniform(1900, 2400))
FMAX = min(VS, 1500) / (10 * H)
UP = np.concatenate((rng.uniform(0.05, 0.25, 4), rng.uniform(0.3, 0.9, 2), rng.uniform(1.15, 1.9, 2), rng.uniform(2.15, 3.9, 2),
                     [rng.uniform(4.1, 4.9)], rng.uniform(5.1, 7.5, 2), [-6, -4]))     # cells above the floor, or in rock
LOW, TOLD, FAR, HIGH, DEEP = np.s_[:4], np.s_[:6], np.s_[8:11], {2: np.s_[8:13], 4: np.s_[11:13]}, np.s_[13:]
RECEIVERS = re.compile(r"(\d+) receiver\(s\) of velocity, strain or rotation stand in the water within (\d) cell\(s\) above rock, the first of them channel "
                       r"1 of shot record 1 ")
FORCES = re.compile(r"(\d+) force\(s\) along a sea floor act on rock within 2 cells of water, the first of them that of shot record 1 ")

Path("sea.layers").write_text(f"0 1500 0 1000\n{FLOOR} {ROCK[0]} {ROCK[1]} {ROCK[2]}\n")
far, azimuth = rng.uniform(105, 130, UP.size), rng.uniform(-0.15, 0.15, UP.size)
Path("sea.stations").write_text("".join(f"{i + 1} {X + d * np.cos(a):.3f} {FLOOR - u * H:.3f} {Y + d * np.sin(a):.3f}\n"
                                        for i, (d, a, u) in enumerate(zip(far, azimuth, UP))))


def job(verb, depths, half_length, dx=H, **source):
    Path("sea.keymap").write_text("spread net list sea.stations\n" + "".join(
        f"shot {i + 1} {X} {FLOOR + d * H:.3f} net y={Y}\n" for i, d in enumerate(depths)))
    deck = {"keymap": "sea.keymap", "layers": "sea.layers", "dx": dx, "aperture": 15, "depth": FLOOR + 75, "npml": 6 if dx == H else 9,
            "half_length": half_length, "top": "pml", "fpeak": FMAX / 2.777, "fmax": FMAX, "tmax": 2.1 * 2.777 / FMAX, "dt_out": 0.005,
            "components": "vx,vy,vz,p", "dispersion": "warn", "threads": 2, "output": "sea.nc", "overwrite": "y", **source}
    r = run(*verb, *(f"{k}={v}" for k, v in deck.items()))
    claim(r.returncode == 0, f"{source}, half-length {half_length}, {dx:.3g} m: {r.stderr.strip()[-200:] if r.returncode else 'no error'}")
    return " ".join((r.stdout + r.stderr).split())


def traces(depths, half_length, dx=H, **source):
    """(shot, receiver, vx vy vz p, time), and what was said."""
    said = job((), depths, half_length, dx, **source)
    with Dataset("sea.nc") as ds:
        return np.stack([ds[c][:].filled(0).astype(float) for c in ("vx", "vy", "vz", "pressure")], 2), said


def off(got, fine, shot, of, parts):
    """Per cent of some receivers together."""
    a, b = (t[shot, of][:, parts] for t in (got, fine))
    return 100 * float(np.linalg.norm(a - b) / np.linalg.norm(b))


def number(pattern, said):
    found = pattern.search(said)
    return int(found[1]) if found else 0


MOTION, PRESSURE = np.s_[:3], np.s_[3:]
depths = (-rng.uniform(3, 5), rng.uniform(4, 7))
fine, _ = traces(depths, 1, H / 3, source="volume")
for half, cells, n, least, most in ((2, 2, 16, (2.5, 6), 12), (4, 5, 22, (5, 12), 16)):
    got, said = traces(depths, half, source="volume")
    water, rock = (off(got, fine, s, LOW, MOTION) for s in (0, 1))
    high = max(off(got, fine, s, HIGH[half], MOTION) for s in (0, 1))
    deep = max(off(got, fine, s, DEEP, MOTION) for s in (0, 1))
    found = RECEIVERS.search(said)
    claim(found and [int(w) for w in found.groups()] == [n, cells] and water > least[0] and rock > least[1],
          f"half-length {half}: told of are {found and found[0]}, must be {n} within {cells}; below a quarter of a cell above the floor velocity is off by "
          f"{water:.1f} and {rock:.1f} %, source in water and in rock, at least {least[0]}, {least[1]}")
    if half == 4:
        far = max(off(got, fine, s, FAR, MOTION) for s in (0, 1))
        claim(far > 2.5, f"2 to 5 cells above the floor it is off by {far:.1f} %, at least 2.5")
    claim(high < most and deep < 9, f"higher up by at most {high:.1f} %, bound {most}, in rock {deep:.1f} %, bound 9")
for half, told in ((3, 20), (1, 0)):
    said = job(("plan",), depths, half, source="volume", forecast=0)
    n = number(RECEIVERS, said)
    claim(n == told and (not told or "within 4 cell(s)" in said), f"half-length {half}: told of are {n}, must be {told}")

angle, depths = rng.uniform(0, 2 * np.pi), (rng.uniform(0.1, 0.35), rng.uniform(3, 4))
ALONG = {"source": "force", "fx": 1e6 * np.cos(angle), "fy": 1e6 * np.sin(angle), "fz": 1e5 * rng.uniform(-1, 1)}
ACROSS = {"source": "force", "fz": 1e6}
if abs(np.cos(angle)) < 0.5:                               # receivers lie along x
    ALONG["fx"], ALONG["fy"] = ALONG["fy"], ALONG["fx"]
fine, _ = traces(depths, 1, H / 3, **ALONG)
got, said = traces(depths, 2, **ALONG)
water, deep, rock = (off(got, fine, s, of, p) for s, of, p in ((0, TOLD, PRESSURE), (1, TOLD, PRESSURE), (0, DEEP, MOTION)))
claim(number(FORCES, said) == 1 and water > 2 and deep < 12 and rock < 6, f"{number(FORCES, said)} of two forces along the floor are told of, must be one: "
      f"{depths[0]:.2f} cells below it pressure is off by {water:.1f} %, at least 2, motion in rock {rock:.1f}, bound 6, {depths[1]:.2f} cells below "
      f"it pressure {deep:.1f}, bound 12")
said = job(("plan",), depths, 1, forecast=0, **ALONG)
claim(not number(FORCES, said), "half-length 1: nothing is told")
fine, _ = traces(depths[:1], 1, H / 3, **ACROSS)
got, said = traces(depths[:1], 2, **ACROSS)
water = off(got, fine, 0, TOLD, PRESSURE)
claim(not number(FORCES, said) and water < 8, f"nor of a force across it: pressure {water:.1f} % off, bound 8")
done()
