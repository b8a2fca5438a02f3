#!/usr/bin/env python3
"""A group of two ranks on GPUs, one that both share or one each, of which a rank is killed, stands still, or has a GPU that fails, at a
random time, or one without memory from the start: the job ends by itself, and started again it goes on. At the end all shots have the
bits of a job that nothing disturbed, and no process or shared memory is left behind.

    SEED=7 ROUNDS=20 t437_gpu_group_faults.py
"""
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from check import claim, done, given_seed  # noqa: E402
from gpujob import able_or_end, make_3d, traces_3d  # noqa: E402

build = Path(os.environ["B"])
program, device = build / "bin" / "SplFd3dmod", build / "tests" / "t670_fd3d_gpu"
able_or_end(program, device)
import functools  # noqa: E402

import jobs  # noqa: E402
import launch  # noqa: E402
import numpy as np  # noqa: E402
from jobs import RECOVERY, Job, count, done_once, kick, ranks_here  # noqa: E402
from spltools.gathers.gathers import Gathers  # noqa: E402

jobs.PROGRAM, jobs.command = program, functools.partial(launch.command, program)
SHOTS, LEASE, SECONDS = 3, 2, 6.0                # of the undisturbed job, about
SOON = 45                                        # seconds beyond that in which a disturbed job must have ended
SEED = given_seed()
ROUNDS = int(os.environ.get("ROUNDS") or 6)
luck = random.Random(SEED)
visible = os.environ.get("CUDA_VISIBLE_DEVICES") or subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.strip().replace("\n", ",")
gpus = min(2, visible.count(",") + 1)
WORDS = (f"gpn={gpus}", f"ranks_per_gpu={2 // gpus}", "group=2", f"lease={LEASE}", "checkpoint=0.005", "on_gpu_error=retire")
SAYS = (r"goes on after step \d+|is dealt again|is dead: process|not heard of|GPU .* failed|no GPU memory"
        r"|stays and computes on CPU cores")
COUNTED = ("goes on after", "dealt again", "dead", "not heard", "failed", "no GPU memory", "on CPU cores")
ENV = {"LD_PRELOAD": str(build / "tests" / "gpufault.so"), "GPUFAULT": str(Path("fault").resolve())}


def group_job(output):
    return Job(*WORDS, output=output, ranks=3, options=RECOVERY, env=ENV, machine={})


def undisturbed(tmax):
    """Seconds from the first deal to the end of such a job."""
    make_3d(SHOTS, tmax=tmax, dt_out=0.004 * tmax)
    for p in Path(".").glob("whole.nc*"):
        p.unlink() if p.is_file() else None
    job = group_job("whole.nc")
    job.until_dealt(1)
    begin = time.monotonic()
    status = job.end(120)
    return status, time.monotonic() - begin, job.said()


def killed(job, rank):
    kick(job.pid(rank))


def stands_still(job, rank):
    pid = job.pid(rank)
    kick(pid, sig=signal.SIGSTOP)
    time.sleep(2.5 * LEASE)
    kick(pid, sig=signal.SIGCONT)


def gpu_fails(job, rank):
    Path(f"fault.{rank}").touch()
    job.until(lambda: False, 3 * LEASE)
    Path(f"fault.{rank}").unlink()


def gpu_is_full(job, rank):
    """No memory is left from the time on at which the rank has a GPU; its shots do not fit."""
    job.until(lambda: False, 3 * LEASE)


def shared_memory():
    return {p.name for p in Path("/dev/shm").iterdir()}


def others(one, two, s, cores):
    """How a shot's traces differ from those of the other file, and who made both; empty where they do not. `cores`: the only
    worker went on without its GPU; such shots have other bits."""
    x, y = traces_3d(one, s), traces_3d(two, s)
    near = 1e-5 * np.abs(x).max() if cores and two.words("variant", s) == "cpu" else 0
    if np.abs(y - x).max() <= near and x.any():
        return ""
    return f"shot {s}: {np.abs(y - x).max():.2e} of {np.abs(x).max():.2e}, by " + " and ".join(
        f"{g.words('variant', s)} on {g.words('device', s)}" for g in (one, two))


status, took, said = undisturbed(1.0)
if status == 0:
    status, took, said = undisturbed(round(max(1.0, SECONDS / max(took, 0.2)), 2))
claim(status == 0 and done_once("whole.nc", SHOTS), f"{SHOTS} shots by a group of two ranks on {gpus} GPU that nothing disturbs, {took:.1f} s: exit "
      f"status {status}, {jobs.line_with('shots cut', said)[:200]}")
kinds = luck.sample((killed, stands_still, gpu_fails, gpu_is_full), 4)
before, rounds, stuck, told = shared_memory(), [], [], []
for n in range(ROUNDS if status == 0 else 0):
    what, rank = kinds[n % len(kinds)], luck.choice((1, 1, 2, 2, 0))
    if rank == 0 and what in (gpu_fails, gpu_is_full):
        rank = 2
    deals, full = count("out.nc", "deal"), Path(f"fault.full.{rank}")
    if what is gpu_is_full:
        full.touch()
    job = group_job("out.nc")
    if what is not gpu_is_full:
        job.until(lambda: count("out.nc", "deal") > deals)      # ranks that have not met yet wait for two minutes (t466)
        time.sleep(luck.uniform(0, took))
    rounds.append(f"rank {rank} {what.__name__}")
    if job.process.poll() is None:
        what(job, rank)
    ended = job.end(took + SOON)
    full.unlink(missing_ok=True)
    if ended is None:
        stuck.append((rounds[-1], job.said()[-600:]))
    told += re.findall(SAYS, job.said())
counts = ", ".join(f"{word} {sum(word in t for t in told)}" for word in COUNTED)
claim(not stuck, f"seed {SEED}, {', '.join(rounds)}: each launch ends by itself {stuck}; said: {counts}")
if status == 0:
    job = group_job("out.nc")
    last = job.end(took + SOON)
    one, two = Gathers("whole.nc"), Gathers("out.nc")
    cores = "stays and computes on CPU cores" in told
    other = [o for o in (others(one, two, s, cores) for s in range(SHOTS if last == 0 else 0)) if o]
    claim(last == 0 and not other and done_once("out.nc", SHOTS), f"at the end all {SHOTS} shots are there once, with the bits of the undisturbed "
          f"job: exit status {last} {other or ''} {'' if last == 0 else job.said()[-600:]}")
    left = shared_memory() - before
    claim(not ranks_here() and not left, f"no process is left, and no shared memory: {ranks_here()}, {sorted(left)}")
done()
