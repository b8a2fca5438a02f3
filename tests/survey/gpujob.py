"""The begin of a test of a whole job on a GPU: it ends where the job cannot be run here; and a survey in 3D for it."""
import os
import subprocess
import sys
from pathlib import Path

from check import done, skip


def able_or_end(program, device):
    """Ends the test, and says why, where the program, the GPU or numpy is missing. `device` is a kernel test, which knows of the GPU.
    To be called before numpy and the tools that need it are imported: a machine that has a GPU need not have them."""
    if not os.access(program, os.X_OK):
        skip(f"{program.name} is not built here: it takes NetCDF")
        done()
    said = subprocess.run([device, "device"], capture_output=True, text=True).stdout.strip()
    if said:
        print(said, flush=True)
        done()
    try:
        import numpy  # noqa: F401
    except ImportError:
        skip(f"{sys.executable} has no numpy, by which gathers are read")
        done()


COMPONENTS = ("p", "vx", "vy", "vz")
DECK_3D = dict(keymap="line.keymap", layers="earth.layers", dx=25, aperture=300, depth=1000, npml=10, half_length=2, fpeak=4, fmax=8,
               tmax=1.0, dt_out=0.004, components=",".join(COMPONENTS), dispersion="warn", threads=1)


def make_3d(shots, **changes):
    """Water over rock that attenuates; a cable beside the line of shots, so that no component vanishes by symmetry."""
    Path("earth.layers").write_text("0 1500 0 1000 10000 10000\n150 2400 1100 2000 80 40\n500 3200 1800 2300 200 100\n")
    Path("line.keymap").write_text("spread cable fixed x0=763.4 interval=31.7 channels=12 depth=67.3 y=163.7\n"
                                   f"shots first_record=101 n={shots} x0=1000.0 dx=60.0 z=33.1 y=11 spread=cable\n")
    Path("job.par").write_text("".join(f"{k} = {v}\n" for k, v in {**DECK_3D, **changes}.items()))


def traces_3d(file, slot):
    """Traces of all components, as one array."""
    import numpy as np
    return np.concatenate([file.gather(slot, c).traces.astype("f8") for c in COMPONENTS])
