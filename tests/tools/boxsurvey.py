"""A small survey of SplSemmod for tests of the tools: two explosions in a box of rock, five stations, pictures."""
import os
from pathlib import Path

import launch
from check import claim
from toolrun import Tool

PROGRAM = Path(os.environ["B"]) / "bin" / "SplSemmod"
STATIONS = [(400.0, 310.0, 0.0), (150.0, 300.0, 20.0), (310.0, 520.0, 0.0), (110.0, 90.0, 0.0), (480.0, 150.0, 0.0)]
SHOTS = {7: (300.0, 300.0, 200.0), 9: (260.0, 330.0, 240.0)}


def survey():
    """Writes g.nc and g.nc.snap7.nc."""
    rows = "\n".join(f"{c} {x} {z} {y}" for c, (x, y, z) in enumerate(STATIONS, 1))
    Path("net.receivers").write_text(rows + "\n")
    Path("net.keymap").write_text("spread net list net.receivers\n" +
                                  "".join(f"shot {r} {x} {z} net y={y}\n" for r, (x, y, z) in SHOTS.items()))
    Path("m.materials").write_text("* 3000 1700 2300\n")
    Tool("spl-mesh", "bad.exo").fine("a box", "box", "-o", "m.exo", "--x", "0", "600", "--y", "0", "600", "--z", "-500", "0", "--elements", "6", "6", "5")
    r = launch.run(PROGRAM, "keymap=net.keymap", "mesh=m.exo", "materials=m.materials", "source=explosion", "m0=1e13", "fpeak=5",
                   "tmax=0.6", "dt_out=0.004", "components=vx,vy,vz,ux,p", "threads=2", "output=g.nc", "snapshot=0.2",
                   "snapshot_planes=surface,volume", "snapshot_fields=vx,vy,vz,p")
    claim(r.returncode == 0, f"a job: exit status {r.returncode} {r.stderr[-300:] if r.returncode else ''}")
