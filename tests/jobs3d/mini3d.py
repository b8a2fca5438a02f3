"""A 3D survey so small that the readable Fortran models it in seconds, and ways to run and read it."""
import functools
import os
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import launch

PROGRAM = Path(os.environ["B"]) / "bin" / "SplFd3dmod"
command = functools.partial(launch.command, PROGRAM)
run = functools.partial(launch.run, PROGRAM)

DECK = {
    "keymap": "line.keymap", "layers": "earth.layers", "dx": 40, "aperture": 100, "depth": 440, "npml": 6, "half_length": 4,
    "fpeak": 3, "tmax": 0.3, "dt_out": 0.004, "components": "vx,vy,vz,p", "output": "out.nc", "threads": 1,
}
LAYERS = "0 1500 0 1000\n200 3000 1500 2200\n"


def write_keymap(shots=3, channels=5, folder="."):
    text = f"spread cable fixed x0=203.4 interval=43.7 channels={channels} depth=52.3 y=41.7\n"
    text += f"shots first_record=11 n={shots} x0=253.3 dx=31.1 z=111.7 y=-12.3 spread=cable\n"
    (Path(folder) / "line.keymap").write_text(text)


def write_deck(**changes):
    deck = {**DECK, **changes}
    Path("job.par").write_text("".join(f"{k} = {v}\n" for k, v in deck.items() if v is not None))


def make(shots=3, layers=LAYERS, **changes):
    Path("earth.layers").write_text(layers)
    write_keymap(shots)
    write_deck(**changes)


def traces(path, name):
    with Dataset(path) as ds:
        return ds[name][...].filled(np.nan).astype(float)
