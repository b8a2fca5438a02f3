#!/usr/bin/env python3
"""Every command of the page on shots larger than a GPU does what it says, as printed; those for GPUs where there are some. The demo
gives the same figures on a group of ranks."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import PATIENCE, claim, done
from mini3d import PROGRAM
from minisurvey import differences

ROOT = Path(os.environ["ROOT"])
PAGE = (ROOT / "inputs" / "large_shots.md").read_text()
ENV = {**os.environ, "PATH": f"{PROGRAM.parent}:{ROOT / 'tools'}:{os.environ['PATH']}"}
for folder in ("inputs", "keymaps"):
    Path(folder).symlink_to(ROOT / folder)


def shell(command, limit=PATIENCE, **env):
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL, env={**ENV, **env})


commands = [line.split("#")[0].strip() for line in PAGE.splitlines() if line.startswith("    ")]
gpus = any("par=large3d.par" in c and "gpn=0" not in c for c in commands)
claim(len(commands) == 9 and gpus, f"the page has {len(commands)} commands, two of them for GPUs")
said = {}
for command in commands:
    if command.startswith("make") or ("SplFd3dmod" in command and "gpn=0" not in command):
        continue
    r = shell(command)
    said[command] = r.stdout + r.stderr
    claim(r.returncode == 0, f"{command}: exit status {r.returncode}{(': ' + said[command][-500:]) * bool(r.returncode)}")
plan = next(text for command, text in said.items() if " plan " in command)
claim("2 ranks a shot; the largest is cut 1x2x1, pieces of 1472 x 736 x 1472 cells" in plan and "a worker rank" in plan,
      "plan tells cut and memory of 1472 x 1472 x 1472 cells")
two = next(text for command, text in said.items() if "two.nc" in command and "mpirun" in command)
claim("on 1 worker(s) of 2 ranks each" in two and re.search(r"2 ranks: shots cut \dx\dx\d", two), "the group tells its cut")
claim(differences("one.nc", "two.nc") == [], f"one rank and two give the same file: {differences('one.nc', 'two.nc')}")
Path("again").mkdir()                                                    # a figure names its file
shutil.copy("two.nc", "again/one.nc")
r = shell("spl-plot stations again/one.nc -o again.png")
claim(r.returncode == 0 and Path("one.png").read_bytes() == Path("again.png").read_bytes(), f"and the same figure {r.stderr[-300:]}")
log = Path("one.nc.log").read_text()
claim("warning" not in log, f"nothing is warned of: {re.findall('warning.*', log)}")
with Dataset("one.nc") as ds:
    traces = np.sqrt(sum(np.asarray(ds[c][0], float)**2 for c in ("vx", "vy", "vz")))
ends = traces[:, -1] / traces.max(1)
claim(ends.max() < 0.05 and (traces.argmax(1) < 0.8 * traces.shape[1]).all(), f"the record holds the waves: at its end {100 * ends.max():.0f} % of "
      "the largest motion are left at most, bound 5 %")
r = shell(f"{PROGRAM} plan par=large3d.par")
claim("GPU" in r.stdout + r.stderr, f"plan on GPUs, or why not: {(r.stdout + r.stderr).strip().splitlines()[-1]}")

# --- make demo3d RANKS=4, coarse and short ----------------------------------------------------------------------------------

r = shell(f"make -C {ROOT} -n show-demo3d RANKS=4 B={os.environ['B']}")
claim("tools/demo3d" in r.stdout and "make demo3d RANKS=4" in commands, f"make demo3d draws the demo: {r.stdout.strip()[-60:]}")
for ranks in ("1", "4"):
    r = shell(f"{ROOT}/tools/demo3d {os.environ['B']} 364 dispersion=warn tmax=3", RANKS=ranks, FOLDER=f"demo{ranks}")
    claim(r.returncode == 0, f"the demo on {ranks} rank(s): exit status {r.returncode} {r.stderr[-300:] * bool(r.returncode)}")
    claim(("2 ranks" in r.stderr or "4 ranks: shots cut" in r.stderr) == (ranks == "4"), f"on {ranks} rank(s) indeed")
figures = sorted(p.name for p in Path("demo1").glob("*.png"))
other = [n for n in figures if Path("demo1", n).read_bytes() != Path("demo4", n).read_bytes()]
claim(len(figures) == 3 and not other, f"{len(figures)} figures, the same on four ranks: {other}")
wrong = [n for n in ("basin3d.nc", "basin3d.nc.snap1.nc") if differences(f"demo1/{n}", f"demo4/{n}")]
claim(not wrong, f"the files too: {wrong}")
shutil.rmtree("demo1")
shutil.rmtree("demo4")
done()
