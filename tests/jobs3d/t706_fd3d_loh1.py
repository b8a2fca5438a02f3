#!/usr/bin/env python3
"""Flat layers below a free surface: LOH.1 on a coarse grid, and a general moment tensor, against the exact motion of the layers, which
spl-reference finds by a sum over wavenumbers; what it cannot do it says."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from check import PATIENCE, claim, claim_fails, done, given_seed
from mini3d import run
from spltools.gathers.gathers import Gathers
from spltools.reference.layered_motion import Layers, layered_velocity

ROOT = Path(os.environ["ROOT"])
SEED = given_seed()
rng = np.random.default_rng(SEED)
for path in [*(ROOT / "keymaps").glob("loh1.*"), ROOT / "inputs/loh1.layers"]:
    shutil.copy(path, ".")


def reference(*words):
    return subprocess.run([sys.executable, str(ROOT / "tools/spl-reference"), *words], capture_output=True, text=True, timeout=PATIENCE)


def misfits(*words):
    """{channel: (radial, transverse, vertical, all)} [%]."""
    r = reference(*words)
    found = {int(m[1]): [float(x) for x in re.findall(r"([\d.]+)%", m[0])] for m in re.finditer(r"^\s+(\d+) .*%.*$", r.stdout, re.M)}
    claim(r.returncode == 0 and found, f"spl-reference {' '.join(words)}: exit status {r.returncode} {r.stderr[-300:]}")
    return found


def model(*words):
    r = run(f"par={ROOT}/inputs/loh1.par", *words)
    claim(r.returncode == 0, f"loh1.par {' '.join(words)}: exit status {r.returncode}{r.stderr[-300:] * bool(r.returncode)}")


# --- LOH.1 as the deck has it ---------------------------------------------------------------------------------------------

model()
each = misfits("loh1.nc", "-o", "exact.csv")[1]
claim(each[3] <= 6, f"LOH.1 at 200 m, 7.7 points to the shortest wavelength at 1.3 Hz: radial, transverse, vertical {each[:3]} %, "
                    f"all three {each[3]} %, bound 6 %")
again = misfits("loh1.nc", "--series", "exact.csv")[1]
claim(np.abs(np.subtract(again, each)).max() <= 0.02, f"written and read again as a series: {again} %")
low = misfits("loh1.nc", "--high", "0.8")[1]
claim(low[3] <= 3, f"below 0.8 Hz: {low[3]} %, bound 3 %")

# --- what it must not do --------------------------------------------------------------------------------------------------

os.symlink("loh1.nc", "link.csv")
for name, words in (("loh1.nc", []), ("link.csv", []), ("loh1.layers", ["--layers", "loh1.layers"]), ("loh1.layers", []),
                    ("exact.csv", ["--series", "exact.csv"])):
    before = Path(name).read_bytes()
    r = reference("loh1.nc", *words, "-o", name, "--overwrite")
    claim(r.returncode == 1 and f"{name} would overwrite an input: choose another name" in r.stderr and Path(name).read_bytes() == before,
          f"-o {name} {' '.join(words)} --overwrite: exit status {r.returncode}: {r.stderr.strip()}")
nyquist = 0.5 / Gathers("loh1.nc").dt
for words, hints in ((["--low", "5", "--high", "1"], ["--low 5 Hz", "--high 1 Hz", "lower --low or raise --high"]),
                     (["--low", "1", "--high", "1"], ["band is empty"]),
                     (["--low", f"{nyquist * 1.5:g}"], [f"--low {nyquist * 1.5:g} Hz", f"below {nyquist:g} Hz", "Nyquist", "lower it"])):
    r = reference("loh1.nc", "--series", "exact.csv", *words)
    claim(r.returncode == 1 and not r.stdout and all(h in r.stderr for h in hints),
          f"{' '.join(words)}: exit status {r.returncode}: {r.stderr.strip()}")

# --- all parts of a tensor ------------------------------------------------------------------------------------------------

Path("near.stations").write_text("1 2400 0 1300\n2 -1500 0 1250\n3 750 0 -2600\n")
Path("near.keymap").write_text("spread near list near.stations\nshot 1 0 2000 near\n")
model("keymap=near.keymap", "output=near.nc", "aperture=1400", "depth=4000", "tmax=4", "half_length=4", "mxx=3e17", "myy=-5e17",
      "mzz=4e17", "mxz=-6e17", "myz=7e17")
for channel, each in misfits("near.nc").items():
    claim(each[3] <= 3, f"six parts of a tensor, half-length 4, station {channel}: {each[:3]} %, all {each[3]} %, bound 3 %")

# --- layers that are no longer those of the run ---------------------------------------------------------------------------

LAYERS = Path("loh1.layers").read_text()
for what, text in (("one velocity changed by a metre a second", LAYERS.replace("3464", "3465")), ("a layer more", LAYERS + "9000 6500 3700 2800\n")):
    Path("loh1.layers").write_text(text)
    r = reference("loh1.nc")
    claim(text != LAYERS and r.returncode == 1 and "does not hold the layers of the run" in r.stderr and "--layers" in r.stderr,
          f"{what} since the run: exit status {r.returncode}: {r.stderr.strip()[-220:]}")
r = reference("loh1.nc", "--layers", "loh1.layers")
claim(r.returncode == 0 and "warning: loh1.layers does not hold the layers of the run" in r.stderr, "asked for with --layers they are told of")
Path("loh1.layers").write_text("# other words, same numbers\n" + LAYERS)
r = reference("loh1.nc", "--high", "0.8")
claim(r.returncode == 0 and r.stderr == "", f"a comment more changes nothing: {r.stderr.strip()[-200:]}")
plain = r.stdout
Path("loh1.layers").write_bytes(b"\xef\xbb\xbf# H\xf6he\r\n" + LAYERS.replace("3464", "3.464d3").encode())
r = reference("loh1.nc", "--high", "0.8")
claim(r.returncode == 0 and r.stdout == plain, f"nor do the mark of UTF-8, other letters in comments and 3.464d3: {r.stderr.strip()[-200:]}")

Path("loh1.layers").write_text(LAYERS)

# --- Q by a rule in place of the file -------------------------------------------------------------------------------------

model("output=rule.nc", "qs_vs=0.02", "qp_qs=1.7")
each = misfits("rule.nc", "--high", "0.8")[1]
claim(each[3] <= 3, f"Qs = 0.02 vs, Qp = 1.7 Qs by rule, below 0.8 Hz: {each[3]} %, bound 3 %")

# --- the sum itself -------------------------------------------------------------------------------------------------------

ROCK, T = [4000.0, 2000.0, 2600.0], np.arange(0, 2, 0.01)
M = [3e17, -5e17, 4e17, 1e18, -6e17, 7e17]


def exact(rows, zs=1300.0, where=((700.0, 900.0, 0.0),)):
    return layered_velocity(Layers(rows), zs, M, where, lambda w: np.exp(-((0.08 * w) ** 2) / 2 - 0.5j * w), 10.0, T)[0]


one = exact([[0, *ROCK]])
off = np.linalg.norm(exact([[0, *ROCK], [400, *ROCK], [1500, *ROCK]]) - one) / np.linalg.norm(one)
claim(off < 1e-6, f"a rock cut into three layers is the rock: {off:.1e}, bound 1e-6")
turned = exact([[0, *ROCK]], where=((-900.0, 700.0, 0.0),))
M = [-5e17, 3e17, 4e17, -1e18, -7e17, -6e17]                    # the same tensor after a quarter turn from y to -x
quarter = exact([[0, *ROCK]], where=((-900.0, 700.0, 0.0),))
back = np.stack([quarter[1], -quarter[0], quarter[2]])
off = np.linalg.norm(back - one) / np.linalg.norm(one)
claim(off < 1e-6 and np.linalg.norm(turned - quarter) > 0.1 * np.linalg.norm(one), f"source and station turned together: {off:.1e}, bound 1e-6")


def layered():
    """One to four layers at random, some of no thickness, with Q from 5 on."""
    n = rng.integers(1, 5)
    tops = np.sort(rng.uniform(50, 1500, n - 1))
    if n > 2 and rng.random() < 0.5:
        tops[-1] = tops[-2]
    vs, q = rng.uniform(500, 3000, n), rng.choice([1e9, 5, 20, 100], n)
    return np.column_stack([[0, *tops], vs * rng.uniform(1.5, 3, n), vs, rng.uniform(1500, 3000, n), 1.6 * q, q])


def rate(layers, source, m, place, along):
    """Rate of strain at `place` contracted with the tensor `along`, by differences over 2 m, of the moment m at `source`."""
    away = np.array([*(place - source)[:2], place[2]]) + np.vstack([np.eye(3), -np.eye(3)])
    v = layered_velocity(layers, source[2], m, away, lambda w: np.exp(-((0.12 * w) ** 2) / 2 - 0.6j * w), 6.5, T)
    slope = (v[:3] - v[3:]) / 2
    return sum(a * (slope[i, j] + slope[j, i]) / (2 if i == j else 1) for a, (i, j) in zip(along, ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))


for _ in range(4):
    rows, m, other = layered(), *rng.uniform(-1, 1, (2, 6))
    upper, lower = rng.uniform(100, 800), rng.uniform(1100, 1800)
    places = np.array([[0, 0, upper], [*rng.choice([0, 1]) * rng.uniform(-1500, 1500, 2), lower]])
    for place in places:                                            # differences over 2 m must not cross a contact
        place[2] += 5 * (np.abs(place[2] - rows[1:, 0]) < 2).any()
    layers = Layers(rows, True, rng.uniform(0.5, 5))
    there, back = rate(layers, places[0], m, places[1], other), rate(layers, places[1], other, places[0], m)
    off = np.linalg.norm(there - back) / np.linalg.norm(there)
    claim(off < 3e-4, f"moments change places, {len(rows)} layers, Qs {rows[:, 5]}: {off:.1e}, bound 3e-4")

two, deep = Layers([[0, 2000, 1000, 2000], [300, 4000, 2200, 2500]]), rng.uniform(900, 1200)
short, long = (layered_velocity(two, deep, M, [[3000, 100, 0]], lambda w: np.exp(-((0.08 * w) ** 2) / 2 - 0.5j * w), 10, np.arange(0, end, 0.01))[:, :, :200]
               for end in (2, 7))
off = np.linalg.norm(short - long) / np.linalg.norm(long)
claim(off < 5e-4, f"3 km away the first 2 s, as waves begin to come, are those of a sum for 7 s: {off:.1e}, bound 5e-4")

# --- what it cannot do ----------------------------------------------------------------------------------------------------

claim_fails(lambda: exact([[0, *ROCK]], where=((700.0, 900.0, 1299.0),)), ["differ in depth by 1 m", "--channels"], "a station beside the source")
Path("sea.layers").write_text("0 1500 0 1000\n500 4000 2000 2600\n")
Path("risen.layers").write_text("0 4000 2000 2600\n-100 6000 3464 2700\n")
Path("low.layers").write_text("100 4000 2000 2600\n1000 6000 3464 2700\n")
Path("mixed.layers").write_text("0 4000 2000 2600 100 50\n1000 6000 3464 2700\n")
Path("nan.layers").write_text("0 4000 nan 2600\n")
for words, why in ((["loh1.nc", "--layers", "sea.layers"], "is a fluid"), (["loh1.nc", "--layers", "risen.layers"], "line 2: top = -100 m, must be below"),
                   (["loh1.nc", "--layers", "low.layers"], "above the free surface"), (["loh1.nc", "--layers", "mixed.layers"], "in every line alike"),
                   (["loh1.nc", "--layers", "nan.layers"], "line 1: a number is not finite"), (["loh1.nc", "--layers", "no.layers"], "no such file"),
                   (["near.nc", "-o", "x.csv"], "give its channel"), (["loh1.nc", "--series", "near.keymap"], "four numbers"),
                   (["loh1.layers"], "gathers")):
    r = reference(*words)
    claim(r.returncode == 1 and why in r.stderr and "fault in this tool" not in r.stderr, f"refused: {r.stderr.strip()[-160:]}")
done()
