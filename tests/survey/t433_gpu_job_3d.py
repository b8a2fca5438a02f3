#!/usr/bin/env python3
"""A 3D survey on a GPU rank with CPU ranks beside it gives the gathers, films and maps that CPU ranks alone give, with every variant; a
shot killed in its midst goes on from the state of the GPU with the same bits; what does not fit into the GPU is computed on cores."""
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
from check import PATIENCE, claim, done  # noqa: E402
from gpuhog import gpu_memory_left  # noqa: E402
from gpujob import able_or_end, make_3d, traces_3d  # noqa: E402

build = Path(os.environ["B"])
program, device = build / "bin" / "SplFd3dmod", build / "tests" / "t670_fd3d_gpu"
able_or_end(program, device)
import numpy as np  # noqa: E402
from spltools.gathers import cdf5  # noqa: E402
from spltools.gathers.gathers import Gathers  # noqa: E402

BOUND, SHOTS = 1e-5, 8
FILMS = dict(snapshot=0.25, snapshot_planes="top,y20", snapshot_fields="vz,p", pgv="y")


def command(ranks, *words):
    return [*(["mpirun", "-n", str(ranks)] if ranks > 1 else []), str(program), "par=job.par", *words]


def model(ranks, *words):
    r = subprocess.run(command(ranks, *words), capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    claim(r.returncode == 0, f"{ranks} ranks, {' '.join(words)}: exit status {r.returncode}, must be 0"
          + ("" if r.returncode == 0 else ": " + r.stderr[-800:]))
    return r


def largest_difference(a, b, slots):
    """Largest relative RMS difference of a trace, over all components of all shots."""
    worst = 0.0
    for slot in slots:
        one, two = traces_3d(a, slot), traces_3d(b, slot)
        size, differs = np.sqrt((two**2).sum(axis=1)), np.sqrt(((one - two)**2).sum(axis=1))
        worst = max(worst, float((differs / np.maximum(size, 1e-30)).max()))
    return worst


def films_differ(a, b):
    """Largest difference of a film or map of two files, in parts of its largest value."""
    worst = 0.0
    one, two = cdf5.read_header(a), cdf5.read_header(b)
    m, n = (np.memmap(path, np.uint8, "r") for path in (a, b))
    for name, v in one.variables.items():
        if "x" in v.dims[1:]:
            x, y = (np.asarray(cdf5.array(h, raw, name), "f8") for h, raw in ((one, m), (two, n)))
            worst = max(worst, float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return worst


def gpu_variants():
    """Names of the variants for GPUs, as the program lists them: all behind cpu."""
    said = subprocess.run([program, "plan", "variant=none"], capture_output=True, text=True).stderr
    names = re.search(r"must be one of ([\w, ]+)", said).group(1).replace(" ", "").split(",")
    return [name for name in names if name not in ("auto", "fortran", "cpu")]


def the_survey():
    cpu, gpu = Gathers("cpu.nc"), Gathers("gpu.nc")
    slots, bad = gpu.chosen()
    claim(len(slots) == SHOTS and not bad, f"{len(slots)} of {SHOTS} shots are done and whole")
    used = Counter(gpu.words("variant", slot) for slot in slots)
    on_gpu = [slot for slot in slots if gpu.words("variant", slot) != "cpu"]
    told = ", ".join(f"{n} by {name}" for name, n in used.items())
    claim(on_gpu, f"shots were modelled on the GPU: {told}; e.g. {gpu.words('device', (on_gpu or slots)[0])}")
    claim(set(cpu.words("variant", slot) for slot in slots) == {"cpu"}, "without GPUs all shots are modelled by cpu")
    worst = largest_difference(gpu, cpu, slots)
    claim(worst <= BOUND, f"traces of the two surveys differ by {worst:.1e} relative RMS at most, <= {BOUND:g}")
    worst = films_differ("gpu.nc.snap101.nc", "cpu.nc.snap101.nc")
    claim(worst <= BOUND, f"films and maps differ by {worst:.1e} of their largest value at most, <= {BOUND:g}")


def each_variant():
    cpu = Gathers("cpu.nc")
    for name in gpu_variants():
        if model(2, "gpn=1", f"variant={name}", f"output={name}.nc").returncode == 0:
            file = Gathers(f"{name}.nc")
            names = {file.words("variant", slot) for slot in range(SHOTS)}
            worst = largest_difference(file, cpu, range(SHOTS))
            claim(names == {name} and worst <= BOUND, f"variant={name}: modelled by {', '.join(names)}, traces within {worst:.1e} of "
                  f"those of cpu, <= {BOUND:g}")


def killed():
    """A long shot on the GPU, killed when a state is on disk."""
    make_3d(1, tmax=300, dt_out=0.1, aperture=600, time_correction="no")
    model(2, "gpn=1", "output=whole.nc", "checkpoint=0")
    p = subprocess.Popen(command(2, "gpn=1", "output=cut.nc", "checkpoint=0.004"), stdin=subprocess.DEVNULL, start_new_session=True,
                         stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while p.poll() is None and not list(Path(".").glob("cut.nc.states/*.state")):
        time.sleep(0.005)
    time.sleep(0.2)
    claim(p.poll() is None, "the job still runs when its first state is on disk")
    if p.poll() is None:
        os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    time.sleep(1)
    r = model(2, "gpn=1", "output=cut.nc", "checkpoint=0.004")
    after = re.findall(r"goes on after step (\d+)", r.stderr)
    claim(len(after) == 1 and int(after[0]) > 0, f"killed, then the shot goes on after step {after}")
    if r.returncode == 0:
        one, two = traces_3d(Gathers("whole.nc"), 0), traces_3d(Gathers("cut.nc"), 0)
        claim(np.array_equal(one, two) and np.abs(one).max() > 0, "traces are those of the undisturbed run, bit for bit")


def too_large():
    """With 1.2 GB of the GPU's memory left by somebody else: a grid that does not fit is computed on cores, which is said."""
    make_3d(1, dx=14, aperture=1500, depth=2500, fpeak=25, fmax=25, tmax=0.02, dt_out=0.004, threads=0)
    with gpu_memory_left(1.2e9):
        r = subprocess.run([program, "plan", "par=job.par", "gpn=1"], capture_output=True, text=True, timeout=PATIENCE)
        claim(r.returncode == 0 and "1 of 1 shots do not fit" in r.stdout, f"plan says so: {re.findall('GPU memory.*', r.stdout)}")
        r = model(2, "gpn=1", "output=large.nc")
    claim("it is computed on CPU cores" in r.stderr, f"the log says so: {re.findall('shot 101 on .*', r.stderr)}")
    if r.returncode == 0:
        claim(Gathers("large.nc").words("variant", 0) == "cpu", "by cpu")


make_3d(SHOTS, **FILMS)
alone = model(3, "gpn=0", "variant=cpu", "output=cpu.nc")
mixed = model(4, "gpn=1", "variant=auto", "output=gpu.nc")
if alone.returncode == 0 and mixed.returncode == 0:
    the_survey()
    each_variant()
killed()
too_large()
done()
