#!/usr/bin/env python3
"""Every command of the page from Gmsh to seismograms does what it says, as printed. Where there is no Gmsh the mesh that its input
describes is written by meshio. The demo of spectral elements is there, as its page says."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import meshio
import numpy as np

from check import PATIENCE, claim, done
from spltools.gathers.gathers import Gathers

ROOT = Path(os.environ["ROOT"])
PAGE = (ROOT / "inputs" / "gmsh.md").read_text()
ENV = {**os.environ, "PATH": f"{os.environ['B']}/bin:{ROOT / 'tools'}:{os.environ['PATH']}"}
for folder in ("inputs", "keymaps"):
    Path(folder).symlink_to(ROOT / folder)


def as_gmsh(path):
    """Soil of 400 m over rock: hexahedra of 200 m with physical groups, as gmsh_box.geo says."""
    x, y, z = np.arange(16) * 200.0, np.arange(13) * 200.0, np.arange(9) * 200.0 - 1600
    points = np.stack(np.meshgrid(x, y, z, indexing="ij"), -1).reshape(-1, 3)
    i, j, k = (a.ravel() for a in np.meshgrid(*map(np.arange, (15, 12, 8)), indexing="ij"))

    def node(a, b, c):
        return (a * 13 + b) * 9 + c

    cube = np.stack([node(i + a, j + b, k + c) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))], 1)
    top = cube[k == 7][:, 4:]
    tags = [np.where(k < 6, 1, 2), np.full(len(top), 3)]
    mesh = meshio.Mesh(points, [("hexahedron", cube), ("quad", top)], cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
                       field_data={"rock": np.array([1, 3]), "soil": np.array([2, 3]), "free": np.array([3, 2])})
    meshio.write(path, mesh, file_format="gmsh22", binary=False)


commands = [line.split("#")[0].strip() for line in PAGE.splitlines() if line.startswith("    ")]
claim(len(commands) == 8 and len(PAGE.splitlines()) <= 35, f"the page has {len(commands)} commands and {len(PAGE.splitlines())} lines")
said = {}
for command in commands:
    if command.startswith("gmsh ") and not shutil.which("gmsh"):
        as_gmsh("gmsh_box.msh")
        continue
    r = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, env=ENV)
    said[command] = r.stdout + r.stderr
    claim(r.returncode == 0, f"{command}: exit status {r.returncode}{(': ' + said[command][-500:]) * bool(r.returncode)}")
plan = next(text for command, text in said.items() if " plan " in command)
claim(all(re.search(rf"\b{b}: \d+ elements", plan) for b in ("rock", "soil")) and "points per wavelength" in plan, "plan tells the blocks")
claim("180 sides are free" in plan, "the physical surface is free")
file = Gathers("gmsh_box.nc")
traces = file.gather(file.chosen(None, done_only=True)[0][0], "vz").traces
first = [file.time[np.argmax(np.abs(t) > 0.02 * np.abs(t).max())] for t in traces]
claim(np.isfinite(traces).all() and first[0] < first[1] < first[2], f"waves arrive in the order of distances: {np.round(first, 2)} s")
claim(Path("mesh.png").stat().st_size > 10000 and Path("stations.png").stat().st_size > 5000, "figures are there")
r = subprocess.run(["make", "-C", ROOT, "-n", "show-demosem", f"B={os.environ['B']}"], capture_output=True, text=True, timeout=PATIENCE)
claim("tools/demosem" in r.stdout and "make demosem" in PAGE, f"make demosem draws the demo: {r.stdout.strip()[-60:]}")
done()
