"""A survey so small that a test can run it many times, and ways to run and read it."""
import functools
import os
from pathlib import Path

import numpy as np

import launch

PROGRAM = Path(os.environ["B"]) / "bin" / "SplFd2dmod"
command = functools.partial(launch.command, PROGRAM)
run = functools.partial(launch.run, PROGRAM)
SLOW = 6 if "debug" in os.environ["B"] else 1       # the sanitizers make a step so much slower
NX, NZ, DX = 121, 61, 10.0

DECK = {
    "keymap": "line.keymap", "vp": "vp.raw", "rho": "rho.raw", "model_nx": NX, "model_nz": NZ, "model_dx": DX, "model_dz": DX,
    "fpeak": 12, "tmax": 0.4, "dt_out": 0.004, "npml": 10, "aperture": 150, "output": "out.nc", "threads": 1,
}


def write_model(folder="."):
    """Two layers with a dip; density not a function of velocity. Raw float32, z fastest."""
    x, z = np.meshgrid(np.arange(NX) * DX, np.arange(NZ) * DX, indexing="ij")
    below = z > 250 + 0.1 * x
    np.where(below, 2600.0, 1600.0).astype("<f4").tofile(Path(folder) / "vp.raw")
    np.where(below, 1900.0, 1100.0).astype("<f4").tofile(Path(folder) / "rho.raw")


def write_keymap(shots=6, folder=".", first=101, channels=20, x0=600.0, dx=40.0):
    text = f"spread cable streamer first=50 interval=21.7 channels={channels} depth=17.3\n"
    text += f"shots first_record={first} n={shots} x0={x0} dx={dx} z=13.1 spread=cable\n"
    (Path(folder) / "line.keymap").write_text(text)


def write_deck(folder=".", **changes):
    deck = {**DECK, **changes}
    (Path(folder) / "job.par").write_text("".join(f"{k} = {v}\n" for k, v in deck.items() if v is not None))


def make(shots=6, **changes):
    write_model()
    write_keymap(shots)
    write_deck(**changes)


# Variables that differ from run to run: times and hosts; and the header, which holds the parameters and so the output's own name.
TIMES = {"seconds", "finished", "run_checksum", "device", "header_crc32", "header_bytes"}


def contents(path):
    """Every variable's bytes but those that tell when, how fast and where; and the attributes."""
    from netCDF4 import Dataset                     # not where only the job is wanted: a GPU machine need not have it
    with Dataset(path) as ds:
        ds.set_auto_mask(False)
        data = {name: v[...].tobytes() for name, v in ds.variables.items() if name not in TIMES}
        return data, {name: ds.getncattr(name) for name in ds.ncattrs()}


def differences(a, b):
    """Names of the variables that differ between two files of gathers."""
    one, two = contents(a)[0], contents(b)[0]
    return sorted(set(one) ^ set(two) | {name for name in one if one.get(name) != two.get(name)})


def statuses(path):
    from netCDF4 import Dataset
    with Dataset(path) as ds:
        return ds["status"][...].tolist()
