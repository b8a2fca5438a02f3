#!/usr/bin/env python3
"""A contact of rock inside a cell: LOH.1 and a general tensor, its layer ending at random places in a cell, against the exact motion of
the layers, which spl-reference finds by a sum over wavenumbers. On the face of a cell the same grid has the error to compare with."""
import os
import re
import shutil
from pathlib import Path

import numpy as np

from check import claim, done, drawn, given_seed
from mini3d import run
from toolrun import call

ROOT = Path(os.environ["ROOT"])
for path in (ROOT / "keymaps").glob("loh1.*"):
    shutil.copy(path, ".")
SEED = given_seed()
PLACES = len(drawn(4, range(8), SEED))


def misfits(top, *words):
    """{channel: (radial, transverse, vertical, all)} [%] with the layer's end at `top` [m]."""
    Path("loh1.layers").write_text(f"0 4000 2000 2600\n{top} 6000 3464 2700\n")
    r = run(f"par={ROOT}/inputs/loh1.par", "output=out.nc", "overwrite=y", *words)
    if r.returncode == 0:
        r = call(ROOT / "tools/spl-reference", "out.nc")
    found = {int(m[1]): [float(x) for x in re.findall(r"([\d.]+)%", m[0])] for m in re.finditer(r"^\s+(\d+) .*%.*$", r.stdout, re.M)}
    if r.returncode or not found:
        claim(False, f"the layer ends at {top} m: exit status {r.returncode} {r.stderr[-300:]}")
        return {1: [np.inf] * 4}
    return found


# --- LOH.1, 10 km away ----------------------------------------------------------------------------------------------------

flush, inside = misfits(1000.0)[1], misfits(935.0)[1]
claim(inside[3] <= 1.1 * flush[3], f"LOH.1 at 200 m, the layer 935 m thick: radial, transverse, vertical {inside[:3]} %, all {inside[3]} %; "
                                   f"1000 m, on a face: {flush[:3]} %, all {flush[3]} %, bound 1.1 times that")

# --- places in a cell, the worst of three stations ------------------------------------------------------------------

Path("near.stations").write_text("1 2400 0 1300\n2 -1500 0 1250\n3 750 0 -2600\n")
Path("near.keymap").write_text("spread near list near.stations\nshot 1 0 2000 near\n")
NEAR = ("keymap=near.keymap", "aperture=1400", "depth=3600", "tmax=4", "mxx=3e17", "myy=-5e17", "mzz=4e17", "mxz=-6e17", "myz=7e17")


def overall(top):
    each = misfits(top, *NEAR)
    return float(np.sqrt(np.mean([e[3] ** 2 for e in each.values()]))), max(e[1] for e in each.values())


aligned = [overall(top) for top in (1000.0, 800.0)]
all_three, transverse = (float(np.mean([a[i] for a in aligned])) for i in (0, 1))
for place in (np.arange(PLACES) + np.random.default_rng(SEED).random(PLACES)) / PLACES:
    top = 1000 - 200 * round(float(place), 4)
    here = overall(top)
    claim(here[0] <= 1.25 * all_three and here[1] <= 1.25 * transverse,
          f"the layer ends at {top:.6g} m, {place:.3f} of a cell above a face: all components {here[0]:.2f} %, transverse at most "
          f"{here[1]:.2f} %; on faces {all_three:.2f}, {transverse:.2f} %, bound 1.25 times that")
done()
