#!/usr/bin/env python3
"""Models and shots that are larger than the memory: a model that rank 0 cannot hold is read in parts, and gives the same file; a shot
that a rank cannot hold is refused before the first one, with the ranks that would do; plan tells what 1472 x 1472 x 1472 cells take."""
import re
from pathlib import Path

import numpy as np

from check import claim, done, skip, told
from mini3d import PROGRAM, run, write_keymap
from minisurvey import differences
from shims import shim

N = (30, 26, 22)
Path("meminfo").write_text("MemTotal: 100000000 kB\nMemAvailable: 100 kB\n")
SMALL = {"LD_PRELOAD": shim("lessmem"), "MEMINFO": str(Path("meminfo").resolve())}


# --- a model larger than the memory ---------------------------------------------------------------------------------------

write_keymap()
random = np.random.default_rng(711)
volumes = {"vp": (2800, 4000), "vs": (1400, 1900), "rho": (2000, 2600), "qp": (80, 200), "qs": (30, 70)}
deck = ["keymap=line.keymap", "components=vx,vy,vz,p", "half_length=4", "npml=6", "fpeak=3", "tmax=0.2", "dt_out=0.004", "threads=1",
        "dispersion=warn", *(f"model_n{a}={n}" for a, n in zip("xyz", N)),
        *(f"model_d{a}={d}" for a, d in zip("xyz", (25, 28, 22))), "model_x0=-50", "model_y0=-330", "model_z0=0", "dx=40", "dy=40", "dz=40"]
ground = random.integers(1, 3, N[:2])
for name, (low, high) in volumes.items():
    a = random.uniform(low, high, N).astype("f4")
    if name in ("vp", "vs", "rho"):
        a[np.arange(N[2])[None, None, :] < ground[:, :, None]] = 0                     # air above a rough ground
    a.transpose(2, 1, 0).tofile(name + ".raw")                                          # x fastest
    a.tofile(name + ".zyx")
    deck.append(f"{name}={name}.raw")
if "debug" in str(PROGRAM):
    skip("the shim and the address sanitizer do not go together")
else:
    sources = ["source=explosion", "m0=1e15", "model_order=xyz"]
    told(run(*deck, *sources, "output=memory.nc"), 0, "a model in memory")
    r = run(*deck, *sources, "output=disk.nc", env=SMALL)
    told(r, 0, "a model on disk", "more than rank 0 has memory for: parts are read from disk as shots need them")
    claim(differences("memory.nc", "disk.nc") == [], f"gives the same file: {differences('memory.nc', 'disk.nc')}")
    told(run(*deck, *sources, "output=group.nc", "group=2", ranks=3, env=SMALL), 0, "a group and a model on disk")
    claim(differences("memory.nc", "group.nc") == [], f"give the same file: {differences('memory.nc', 'group.nc')}")
    r = run(*[w.replace(".raw", ".zyx") for w in deck], *sources[:2], "model_order=zyx", "output=slow.nc", env=SMALL)
    told(r, 1, "a model on disk whose slowest index is x", "can be read in parts only where its slowest index is z", "order xyz")

# --- a shot larger than the memory ----------------------------------------------------------------------------------------

Path("earth.layers").write_text("0 1500 0 1000\n200 3000 1500 2200\n")
Path("big.keymap").write_text("spread one fixed x0=7000 interval=10 channels=1 depth=50 y=40\n"
                              "shots first_record=11 n=1 x0=7000 dx=10 z=110 y=40 spread=one\n")
BIG = ("keymap=big.keymap", "layers=earth.layers", "dx=10", "aperture=7120", "depth=14480", "npml=20", "fpeak=5", "tmax=1",
       "output=big.nc", "half_length=2")
machine = {**SMALL}
Path("meminfo").write_text("MemTotal: 128000000 kB\nMemAvailable: 120000000 kB\n")
if "debug" not in str(PROGRAM):
    needs = {}
    for group in (1, 2, 4):
        r = run("plan", *BIG, f"group={group}", env=machine)
        found = re.search(r"memory +([\d.]+) GB a worker rank, ([\d.]+) [MG]B rank 0", r.stdout)
        cells = re.search(r"largest (\d+) Mcells", r.stdout)
        needs[group] = float(found[1]) if found else 0
        claim(r.returncode == 0 and cells and abs(float(cells[1]) - 3190) < 1 and needs[group] > 90 / group,
              f"plan group={group}: {cells and cells[1]} million cells take {needs[group]} GB a rank")
    claim(0.3 * needs[1] < needs[2] < 0.6 * needs[1], "two ranks take about half as much each as one")
    r = run(*BIG, env=machine)
    told(r, 1, "one rank", "one worker needs ", "has 131 GB of memory", "ranks share a shot, group=")
    would = re.search(r"let (\d+) ranks share a shot, group=(\d+)", r.stderr)
    claim(would and would[1] == would[2], f"{would and would[0]} would do")
    if would:
        need = [re.search(r"memory +([\d.]+) GB a worker", run("plan", *BIG, f"group={int(would[1]) - less}", env=machine).stdout)
                for less in (0, 1)]
        claim(float(need[0][1]) <= 131.1 < float(need[1][1]), f"which need {need[0][1]} GB each, one rank less {need[1][1]} GB each")
    r = run(*BIG, "group=auto", ranks=3, env=machine)
    told(r, 1, "auto, two ranks", "group = auto: shot record 11 (1424 x 1424 x 1448 cells and layers) needs ", " on each of 2 ranks, but a ",
         "ranks with as much each would do; start as many")
claim(not list(Path().glob("big.nc*")), "nothing is begun")
done()
