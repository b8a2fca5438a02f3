#!/usr/bin/env python3
"""A whole survey on a GPU rank with CPU ranks beside it gives the gathers that CPU ranks alone give."""
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.environ["ROOT"], "tests"), os.path.join(os.environ["ROOT"], "tools")]
from check import claim, done, skip  # noqa: E402
from spltools.gathers import Gathers  # noqa: E402

BOUND, SHOTS = 1e-5, 24
NX, NZ, DX = 401, 151, 10.0
build = Path(os.environ["B"])
program, device = build / "bin" / "SplFd2dmod", build / "tests" / "t241_fd2d_gpu"


def unable():
    """Whether the survey cannot be run here, which is then said."""
    if not os.access(program, os.X_OK):
        skip(f"{program.name} is not built here: it takes NetCDF")
        return True
    said = subprocess.run([device, "device"], capture_output=True, text=True).stdout.strip()
    if said:
        print(said, flush=True)
    return said


def make():
    """Two layers with a dip; a streamer line over it."""
    x, z = np.meshgrid(np.arange(NX) * DX, np.arange(NZ) * DX, indexing="ij")
    below = z > 500 + 0.1 * x
    np.where(below, 2600.0, 1600.0).astype("<f4").tofile("vp.raw")
    np.where(below, 1900.0, 1100.0).astype("<f4").tofile("rho.raw")
    Path("line.keymap").write_text("spread cable streamer first=50 interval=21.7 channels=40 depth=17.3\n"
                                   f"shots first_record=101 n={SHOTS} x0=1000.0 dx=80.0 z=13.1 spread=cable\n")
    deck = dict(keymap="line.keymap", vp="vp.raw", rho="rho.raw", model_nx=NX, model_nz=NZ, model_dx=DX, model_dz=DX, fpeak=12,
                tmax=1.5, dt_out=0.004, npml=20, aperture=500, components="p,vx,vz")
    Path("job.par").write_text("".join(f"{k} = {v}\n" for k, v in deck.items()))


def model(ranks, *words):
    r = subprocess.run(["mpirun", "-n", str(ranks), str(program), "par=job.par", *words], capture_output=True, text=True,
                       timeout=140, stdin=subprocess.DEVNULL)
    claim(r.returncode == 0, f"{ranks} ranks, {' '.join(words)}: exit status {r.returncode}, must be 0"
          + ("" if r.returncode == 0 else ": " + r.stderr[-800:]))
    return r


def largest_difference(a, b, component):
    """Largest relative RMS difference of a trace, over all shots."""
    worst = 0.0
    for slot in range(SHOTS):
        one, two = (f.gather(slot, component).traces.astype("f8") for f in (a, b))
        size, differs = np.sqrt((two**2).sum(axis=1)), np.sqrt(((one - two)**2).sum(axis=1))
        worst = max(worst, float((differs / np.maximum(size, 1e-30)).max()))
    return worst


def compare():
    cpu, gpu = Gathers("cpu.nc"), Gathers("gpu.nc")
    slots, bad = gpu.chosen()
    claim(len(slots) == SHOTS and not bad, f"{len(slots)} of {SHOTS} shots are done and whole")
    used = Counter(gpu.words("variant", slot) for slot in slots)
    told = ", ".join(f"{n} by {name}" for name, n in used.items())
    claim(used["tuned"] > 0, f"shots were modelled on the GPU: {told}; e.g. {gpu.words('device', slots[0])}")
    claim(set(cpu.words("variant", slot) for slot in slots) == {"cpu"}, "without GPUs all shots are modelled by cpu")
    for component in ("p", "vx", "vz"):
        worst = largest_difference(gpu, cpu, component)
        claim(worst <= BOUND, f"{component}: traces of the two surveys differ by {worst:.1e} relative RMS at most, <= {BOUND:g}")


if not unable():
    make()
    alone = model(3, "gpn=0", "variant=cpu", "threads=1", "output=cpu.nc")
    mixed = model(4, "gpn=1", "variant=auto", "threads=1", "output=gpu.nc")
    if alone.returncode == 0 and mixed.returncode == 0:
        compare()
done()
