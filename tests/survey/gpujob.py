"""The begin of a test of a whole job on a GPU: it ends where the job cannot be run here."""
import os
import subprocess
import sys

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
