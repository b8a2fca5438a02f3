#!/usr/bin/env python3
"""Jobs on meshes whose elements double their width downwards: waves that cross a doubling layer agree with the exact motion at five points
to the shortest wavelength below it; LOH.1 with its source in a doubling layer too. The verb mesh and plan tell where elements double and
how many that saves; water, hills, a sponge, attenuation, source and receivers at random places around two doubling layers have the bits
of one rank in groups of ranks; bad depths are refused."""
import functools
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check import PATIENCE, claim, done, drawn, given_seed
from launch import settings
from minisem import run
from minisurvey import differences

ROOT = Path(os.environ["ROOT"])
SEED = given_seed()
random.seed(SEED)

# --- exact ----------------------------------------------------------------------------------------------------------------

for path in [*(ROOT / "keymaps").glob("loh1.*"), *(ROOT / "inputs").glob("loh1_sem.*")]:
    shutil.copy(path, ".")
Path("half.layers").write_text("half 0\n")
Path("half.materials").write_text("half 6000 3464 2700\n")
Path("half.rows").write_text("0 6000 3464 2700\n")
Path("half.keymap").write_text("spread station list near.stations\nshot 1 0 6000 station\n")
Path("near.stations").write_text("1 3000 0 4000\n")


def misfit(output, *words, rows=()):
    """% of all components off the exact motion, and what the log says."""
    r = run("par=loh1_sem.par", f"output={output}", "threads=2", *words)
    claim(r.returncode == 0, f"{' '.join(words)}: exit status {r.returncode}{r.stderr[-300:] * bool(r.returncode)}")
    s = subprocess.run([sys.executable, str(ROOT / "tools/spl-reference"), output, *rows], capture_output=True, text=True, timeout=PATIENCE)
    found = re.findall(r"([\d.]+)%", s.stdout)
    return float(found[3]) if s.returncode == 0 and len(found) == 4 else 100, Path(output + ".log").read_text()


half = ("keymap=half.keymap", "layers=half.layers", "materials=half.materials", "sigma=0.222", "fmax=1.385", "tmax=4.3", "mesh_x0=-9000",
        "mesh_x1=13000", "mesh_y0=-9000", "mesh_y1=13000", "mesh_bottom=15000", "mesh_dx=1000", "mesh_dy=1000", "mesh_dz=2000")
tried = drawn(1, ("half", "layer"), SEED)
if "half" in tried:
    off, log = misfit("half.nc", *half, "mesh_doubling=2000", rows=("--layers", "half.rows"))
    ppw = float(re.search(r"([\d.]+) points per shortest wavelength", log).group(1))
    claim(off <= 1 and 4.99 < ppw < 5.01, f"a half-space, source below a doubling layer, station above, {ppw} points per wavelength: {off} % off, bound 1 %")
layer = ("sigma=0.24", "fmax=1.3", "tmax=5.2", "mesh_x0=-7000", "mesh_x1=13000", "mesh_y0=-7000", "mesh_y1=15000", "mesh_bottom=11000",
         "mesh_dx=1000", "mesh_dy=1000", "mesh_dz=2000")
if "layer" in tried:
    off, log = misfit("layer.nc", *layer, "mesh_doubling=1000")
    claim(off <= 1 and "in halfspace at 1000 m" in log,
          f"LOH.1, a doubling layer below its layer, the source in it, the first 5.2 s: {off} % off, bound 1 %")

# --- groups ---------------------------------------------------------------------------------------------------------------

DECK = dict(keymap="line.keymap", mesh="layers", layers="deep.layers", materials="deep.materials", components="vx,vz", fpeak=1.6, tmax=0.1, delay=0.2,
            mesh_x0=0, mesh_x1=800, mesh_y0=0, mesh_y1=800, mesh_bottom=4500, mesh_per_wave=1.4,  mesh_doubling="600,1900", sponge=150, threads=1, pgv="y",
            snapshot_dx=150)
words = functools.partial(settings, DECK)


Path("deep.layers").write_text("lake 0\nclay 200-260*exp(-((x-300)^2+(y-500)^2)/500^2)\nrock 450+60*sin(x/300)\nmantle 1400\n")
Path("deep.materials").write_text("lake 1450 0 1000\nclay 1900 900 1900 60 40\nrock 3600 1900 2400\nmantle 6500 3800 2900\n")
Path("points.receivers").write_text("".join(f"{c} {random.uniform(50, 750):.1f} {random.choice([160, 400, 550, 750, 1950, 2500])} "
                                            f"{random.uniform(50, 750):.1f}\n" for c in range(1, 13)))
Path("line.keymap").write_text("spread points list points.receivers\n"
                               f"shot 11 {random.uniform(250, 550):.1f} {random.uniform(400, 700):.1f} points y={random.uniform(250, 550):.1f}\n")
r = run("mesh", *words(mesh_out="deep.exo"))
told = re.search(r"elements double their width in rock at ([\d.]+) m and in mantle at ([\d.]+) m, worst shape there ([\d.]+) of 1, and are "
                 r"(\d+) in place of (\d+)", r.stdout)
claim(r.returncode == 0 and told and int(told[4]) < int(told[5]), f"the verb mesh, seed {SEED}: {told and told[0]} {r.stderr[-300:]}")
plan = run("plan", *words())
claim(told and told[0] in plan.stdout, "plan tells the same")
check = subprocess.run([sys.executable, str(ROOT / "tools" / "spl-mesh"), "check", "deep.exo"], capture_output=True, text=True)
claim(check.returncode == 0 and "no fault" in check.stdout, f"spl-mesh check finds it sound: {check.stdout.strip()[-200:]} {check.stderr[-200:]}")
r = run(*words(output="one.nc", threads=2))
claim(r.returncode == 0, f"one rank: exit status {r.returncode} {r.stderr[-300:] if r.returncode else ''}")
for n in (2, 5):
    s = run(*words(output=f"cut{n}.nc", group=n), ranks=n + 1)
    differs = differences("one.nc", f"cut{n}.nc") if s.returncode == 0 else ["all"]
    claim(not differs, f"group={n}: the bits of one rank {differs or ''} {s.stderr[-300:] if s.returncode else ''}")
# --- refused --------------------------------------------------------------------------------------------------------------

for sentence, expected, changes in (
        ("words", "must be auto, none, or depths [m] joined by commas", dict(mesh_doubling="deep")),
        ("depths that fall", "must hold depths that rise", dict(mesh_doubling="900,500")),
        ("a layer that ends", "layer lake is", dict(mesh_doubling=20)),
        ("a mesh that is read", "has no effect", dict(mesh="deep.exo"))):
    r = run("plan", *words(**changes))
    claim(r.returncode == 1 and expected in r.stdout + r.stderr, f"{sentence}: refused, '{expected}': {(r.stdout + r.stderr)[-250:]}")
done()
