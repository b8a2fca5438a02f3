#!/usr/bin/env python3
"""A whole survey on a GPU rank with CPU ranks beside it gives the gathers that CPU ranks alone give; one whose GPU fails in the midst of
shots gives them too: its rank goes on with cores or leaves the job. So does one of which a rank with a GPU is killed, at once."""
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
from check import PATIENCE, claim, done  # noqa: E402
from gpujob import able_or_end  # noqa: E402

build = Path(os.environ["B"])
program, device = build / "bin" / "SplFd2dmod", build / "tests" / "t241_fd2d_gpu"
able_or_end(program, device)
import numpy as np  # noqa: E402
from jobs import RECOVERY, Job, count, done_once, kick  # noqa: E402
from spltools.gathers.gathers import Gathers  # noqa: E402

BOUND, SHOTS, DT_OUT, WAVES = 1e-5, 24, 0.004, 1.5           # waves pass the receivers within WAVES [s]
NX, NZ, DX = 401, 151, 10.0


def make(**changes):
    """Two layers with a dip; a streamer line over it."""
    x, z = np.meshgrid(np.arange(NX) * DX, np.arange(NZ) * DX, indexing="ij")
    below = z > 500 + 0.1 * x
    np.where(below, 2600.0, 1600.0).astype("<f4").tofile("vp.raw")
    np.where(below, 1900.0, 1100.0).astype("<f4").tofile("rho.raw")
    Path("line.keymap").write_text("spread cable streamer first=50 interval=21.7 channels=40 depth=17.3\n"
                                   f"shots first_record=101 n={SHOTS} x0=1000.0 dx=80.0 z=13.1 spread=cable\n")
    deck = dict(keymap="line.keymap", vp="vp.raw", rho="rho.raw", model_nx=NX, model_nz=NZ, model_dx=DX, model_dz=DX, fpeak=12,
                tmax=WAVES, dt_out=DT_OUT, npml=20, aperture=500, components="p,vx,vz")
    Path("job.par").write_text("".join(f"{k} = {v}\n" for k, v in {**deck, **changes}.items()))


def model(ranks, *words):
    r = subprocess.run(["mpirun", "-n", str(ranks), str(program), "par=job.par", *words], capture_output=True, text=True,
                       timeout=PATIENCE, stdin=subprocess.DEVNULL)
    claim(r.returncode == 0, f"{ranks} ranks, {' '.join(words)}: exit status {r.returncode}, must be 0"
          + ("" if r.returncode == 0 else ": " + r.stderr[-800:]))
    return r


def largest_differences(a, b, component):
    """Largest difference of a trace, over all shots: relative RMS while waves pass, and of its peak at any time. Velocities are sums of
    increments: what rounding left of them stays after the waves, alike in all variants, and is most of the RMS of a long silence."""
    passing, at_any_time = 0.0, 0.0
    for slot in range(SHOTS):
        one, two = (f.gather(slot, component).traces.astype("f8") for f in (a, b))
        n = round(WAVES / DT_OUT)
        size, differs = (np.sqrt((x[:, :n]**2).sum(axis=1)) for x in (two, one - two))
        passing = max(passing, float((differs / np.maximum(size, 1e-30)).max()))
        peak, differs = (np.abs(x).max(axis=1) for x in (two, one - two))
        at_any_time = max(at_any_time, float((differs / np.maximum(peak, 1e-30)).max()))
    return passing, at_any_time


def compare():
    cpu, gpu = Gathers("cpu.nc"), Gathers("gpu.nc")
    slots, bad = gpu.chosen()
    claim(len(slots) == SHOTS and not bad, f"{len(slots)} of {SHOTS} shots are done and whole")
    used = Counter(gpu.words("variant", slot) for slot in slots)
    told = ", ".join(f"{n} by {name}" for name, n in used.items())
    claim(used["tuned"] > 0, f"shots were modelled on the GPU: {told}; e.g. {gpu.words('device', slots[0])}")
    claim(set(cpu.words("variant", slot) for slot in slots) == {"cpu"}, "without GPUs all shots are modelled by cpu")
    same_traces(cpu, gpu)


def same_traces(cpu, gpu):
    for component in ("p", "vx", "vz"):
        passing, at_any_time = largest_differences(gpu, cpu, component)
        claim(passing <= BOUND, f"{component}: traces of the two surveys differ by {passing:.1e} relative RMS at most, <= {BOUND:g}")
        claim(at_any_time <= BOUND, f"{component}: and at any time by {at_any_time:.1e} of their peak at most, <= {BOUND:g}")


def gpu_fails(ranks, response, told):
    """A fault of the GPU, see gpufault.c, when the state of a shot that is half done is on disk."""
    output, fault = f"fails_{response}.nc", Path("fault.now")
    fault.unlink(missing_ok=True)
    preload = ["-x", f"LD_PRELOAD={build / 'tests' / 'gpufault.so'}", "-x", f"GPUFAULT={fault.resolve()}"]
    with open(f"{response}.log", "w") as log:
        p = subprocess.Popen(["mpirun", *preload, "-n", str(ranks), str(program), "par=job.par", "gpn=1", f"output={output}", "threads=0",
                              "checkpoint=0.001", f"on_gpu_error={response}"], stdin=subprocess.DEVNULL, stderr=log)
        while p.poll() is None and not list(Path(".").glob(f"{output}.states/*.state")):
            time.sleep(0.002)
        claim(p.poll() is None, "the job still runs when the state of its first shot is on disk")
        fault.touch()
        claim(p.wait(timeout=PATIENCE) == 0, f"the GPU fails, on_gpu_error={response}: exit status {p.returncode}, must be 0")
    log = Path(f"{response}.log").read_text()
    said = re.findall(rf"the GPU of worker 1 .* failed.*{told}", log)
    again = len(re.findall("is dealt again", log))
    claim(len(said) == 1 and "gpufault:" not in log, f"the log says so: {said or log[-800:]}")
    claim(again > 0, f"{again} shots are dealt again, must be 1 or more")
    if p.returncode == 0:
        file = Gathers(output)
        used = Counter(file.words("variant", slot) for slot in file.chosen()[0])
        claim(sum(used.values()) == SHOTS and used["cpu"] >= again, f"all {SHOTS} shots came, by {dict(used)}")
        same_traces(Gathers("calm.nc"), file)


def gpu_fails_in_mid_shot():
    """Long shots: tens of thousands of steps."""
    make(tmax=20)
    if model(5, "gpn=0", "variant=cpu", "threads=0", "output=calm.nc").returncode == 0:
        gpu_fails(2, "cpu", "goes on with CPU cores")
        gpu_fails(3, "retire", "leaves the job")
        worker_is_killed("gpn=1", "ranks_per_gpu=2", "shots_per_gpu=2", "threads=0")


def worker_is_killed(*words):
    """One of two ranks that compute on a GPU is killed; the lease is the one that jobs have by default."""
    begin = time.monotonic()
    job = Job(*words, output="calm_two.nc", ranks=3, options=RECOVERY, machine={})
    status, undisturbed = job.end(), time.monotonic() - begin
    claim(status == 0 and done_once(job.output, SHOTS), f"two workers, {' '.join(words)}: {undisturbed:.1f} s")
    begin = time.monotonic()
    job = Job(*words, output="killed.nc", ranks=3, options=RECOVERY, machine={})
    job.until_dealt(1)
    job.until(lambda: count(job.output, "done") > 0)
    left = SHOTS - count(job.output, "done")
    kick(job.pid(1))
    status, took, said = job.end(), time.monotonic() - begin, job.said()
    claim(status == 0 and left > 0 and done_once(job.output, SHOTS), f"worker 1 killed with {left} shots left: exit status {status}, each of {SHOTS} "
          f"shots is done once: {re.findall('is dead: .*', said) or said[-800:]}")
    claim("is dead: process" in said and "not heard of" not in said, "it is seen to be dead, no lease is waited for")
    claim(took < undisturbed + 10, f"{took:.1f} s, {undisturbed:.1f} s undisturbed: within 10 s")
    same_traces(Gathers("calm.nc"), Gathers(job.output))


make()
alone = model(3, "gpn=0", "variant=cpu", "threads=1", "output=cpu.nc")
mixed = model(4, "gpn=1", "variant=auto", "threads=1", "output=gpu.nc")
if alone.returncode == 0 and mixed.returncode == 0:
    compare()
gpu_fails_in_mid_shot()
done()
