#!/usr/bin/env python3
"""LOH.3, a layer over a half-space of Q = 40 to 156, by spectral elements of 2 km at 0.65 Hz, as the deck says: against the exact motion
of layers of a constant Q, which spl-reference finds; without attenuation it is off."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check import PATIENCE, claim, done
from minisem import run

ROOT = Path(os.environ["ROOT"])
for path in [*(ROOT / "keymaps").glob("loh1.*"), *(ROOT / "inputs").glob("loh?_sem.*")]:
    shutil.copy(path, ".")
WORDS = re.search(r"# To 0\.65 Hz in seconds: (.*)\.$", Path("loh3_sem.par").read_text(), re.MULTILINE).group(1).split()


def misfit(*words):
    r = run("par=loh3_sem.par", "threads=2", *WORDS, "tmax=7", "mesh_x0=-10000", "mesh_x1=16000", "mesh_y0=-10000", "mesh_y1=18000",
            "mesh_bottom=12000", *words)
    claim(r.returncode == 0, f"loh3_sem.par {' '.join(words)}: exit status {r.returncode}{r.stderr[-300:] * bool(r.returncode)}")
    Path("rows.layers").write_text("0 4000 2000 2600 120 40\n1000 6000 3464 2700 155.9 69.3\n")
    r = subprocess.run([sys.executable, str(ROOT / "tools/spl-reference"), "loh3_sem.nc", "--layers", "rows.layers"], capture_output=True,
                       text=True, timeout=PATIENCE)
    found = [[float(x) for x in re.findall(r"([\d.]+)%", line)] for line in r.stdout.splitlines() if "%" in line]
    claim(r.returncode == 0 and len(found) == 1, f"spl-reference: exit status {r.returncode} {r.stderr[-300:]}")
    return found[0] if found else [100.0] * 4


each = misfit()
claim(each[3] <= 2, f"LOH.3: radial, transverse, vertical {each[:3]} %, all three {each[3]} %, bound 2 %")
each = misfit("materials=loh1_sem.materials", "overwrite=y")
claim(each[3] > 6, f"without attenuation it is off: {each[3]} % > 6 %")
done()
