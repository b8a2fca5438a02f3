#!/usr/bin/env python3
"""spl-export makes VTU files of pictures of the free sides and of all elements: their cells fill the mesh, values are those of the file;
SEG-Y of a mesh has its y."""
import contextlib
import io
import os
import resource
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import meshio
import numpy as np
import segyio
from netCDF4 import Dataset

import boxsurvey
from boxsurvey import STATIONS
from check import claim, done
from spltools.gathers import export
from toolrun import Tool

tool = Tool("spl-export", "bad.pvd")
boxsurvey.survey()
tool.fine("VTU", "g.nc.snap7.nc", "-o", "wave.pvd")
files = [(float(e.get("timestep")), e.get("file")) for e in xml.etree.ElementTree.parse("wave.pvd").iter("DataSet")]
with Dataset("g.nc.snap7.nc") as ds:
    times = ds["time"][:]
    claim(len(files) == 2 * len(times) and np.allclose(sorted(t for t, _ in files), np.sort(np.repeat(times, 2))), f"{len(files)} files")
    for kind, cells, per, size in (("surface", 16 * 36, "quad", 600.0 ** 2), ("volume", 64 * 180, "hexahedron", 600.0 ** 2 * 500)):
        mesh = meshio.read([f for _, f in files if kind in f][-1])
        got = np.stack([ds[f"v{c}_{kind}"][-1].ravel() for c in "xyz"], axis=1) * [1, 1, -1]
        block = mesh.cells_dict[per]
        x = mesh.points[block]
        if kind == "volume":
            whole = np.einsum("ij,ij->i", x[:, 1] - x[:, 0], np.cross(x[:, 3] - x[:, 0], x[:, 4] - x[:, 0]))
        else:
            whole = np.abs(np.cross(x[:, 1] - x[:, 0], x[:, 3] - x[:, 0])[:, 2])
        claim(len(block) == cells and abs(whole.sum() / size - 1) < 1e-6 and whole.min() > 0, f"{kind}: {cells} cells fill it, none inside out")
        claim(np.array_equal(mesh.point_data["velocity"], got.astype("f4")) and np.abs(mesh.point_data["p"]).max() >= 0
              and abs(mesh.points[:, 2].max()) < 1e-3 and np.abs(got).max() > 0, f"{kind}: velocities as a vector, z up")
before, small = sorted(Path(".").iterdir()), max(p.stat().st_size for p in Path(".").glob("wave_surface*"))
ran = subprocess.run([sys.executable, Path(os.environ["ROOT"]) / "tools" / "spl-export", "g.nc.snap7.nc", "-o", "room.pvd"], capture_output=True,
                     text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (small, small)))
claim(ran.returncode == 1 and ran.stderr.startswith("error: room_volume_") and sorted(Path(".").iterdir()) == before,
      f"no room for volumes leaves no surfaces either: {ran.stderr.strip()[:120]}")
tool.refused("file of gathers", "a file without pictures", "g.nc", "-o", "bad.pvd")
claim(not list(Path(".").glob("bad*")), "what is refused leaves no file")
with contextlib.redirect_stdout(io.StringIO()):
    export.main(["g.nc", "-o", "g.segy", "--component", "vz", "--records", "7"])
with segyio.open("g.segy", ignore_geometry=True) as f:
    y = [f.header[i][segyio.TraceField.GroupY] / -f.header[i][segyio.TraceField.SourceGroupScalar] for i in range(5)]
    claim(y == [s[1] for s in STATIONS] and "SPECTRAL ELEMENTS" in segyio.tools.wrap(f.text[0]), f"SEG-Y: y of a mesh is that of a map, {y}")
done()
