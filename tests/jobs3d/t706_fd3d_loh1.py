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

from check import PATIENCE, claim, done
from mini3d import run
from spltools.gathers.gathers import Gathers
from spltools.reference.layered_motion import Layers, layered_velocity

ROOT = Path(os.environ["ROOT"])
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

# --- what it cannot do ----------------------------------------------------------------------------------------------------

Path("sea.layers").write_text("0 1500 0 1000\n500 4000 2000 2600\n")
for words, why in ((["loh1.nc", "--layers", "sea.layers"], "is a fluid"), (["loh1.nc", "--layers", "no.layers"], "no such file"),
                   (["near.nc", "-o", "x.csv"], "give its channel"), (["loh1.nc", "--series", "near.keymap"], "four numbers"),
                   (["loh1.layers"], "gathers")):
    r = reference(*words)
    claim(r.returncode == 1 and why in r.stderr and "fault in this tool" not in r.stderr, f"refused: {r.stderr.strip()[-160:]}")
done()
