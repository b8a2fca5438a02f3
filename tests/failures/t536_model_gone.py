#!/usr/bin/env python3
"""A model that rank 0 reads from disk while shots are modelled goes away (its folder is renamed, as an unmounted one): the job waits for
it, with shots in flight, and ends with the file of an undisturbed run; where it does not come back no shot is lost or parked, the job
says why it ends, and the same command goes on. A rank that dies in MPI_Finalize under --enable-recovery keeps the others for ten seconds, not for a minute."""
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

import jobs
import mini3d
from check import claim, done, skip
from minisurvey import differences
from shims import preload, shim

jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
N, SHOTS = (30, 26, 22), 5

Path("meminfo").write_text("MemTotal: 100000000 kB\nMemAvailable: 100 kB\n")
random = np.random.default_rng(536)
Path("model").mkdir()
for name, (low, high) in {"vp": (2800, 4000), "vs": (1400, 1900), "rho": (2000, 2600)}.items():
    random.uniform(low, high, N).astype("<f4").transpose(2, 1, 0).tofile(f"model/{name}.raw")
DECK = {"layers": None, "depth": None, "aperture": 150, "tmax": 0.12, "dispersion": "warn", "dy": 40, "dz": 40, "retries": 0,
        **{f"model_n{a}": n for a, n in zip("xyz", N)}, **{f"model_d{a}": d for a, d in zip("xyz", (25, 28, 22))},
        "model_x0": -50, "model_y0": -330, "source": "explosion", "m0": 1e15, **{v: f"model/{v}.raw" for v in ("vp", "vs", "rho")}}
GONE, BACK = "it was read when the job began: dealing pauses", "the model can be read again after"


def begin(output, ranks, *words):
    """A job whose model is gone since its first shot was dealt."""
    small = {"LD_PRELOAD": shim("lessmem"), "MEMINFO": str(Path("meminfo").resolve())}
    gate = 1.5 if ranks < 3 else None         # a shot has 20 loops, of a group so many that there is time enough
    job = jobs.Job(*words, output=output, ranks=ranks, env=small, machine=jobs.slow_machine(loop=2000), gate=gate)
    job.until(lambda: jobs.count(output, "done") >= 1)
    os.rename("model", "elsewhere")
    if gate:
        job.gate.open()
    noticed = job.until(lambda: GONE in job.said())
    claim(noticed, f"{output}: it is told: {jobs.line_with(GONE, job.said())[:260]}")
    return job, small


def judge(sentence, status, said, output, must=0):
    parked, lost = (jobs.count(output, e) for e in ("parked", "lost"))
    wrong = differences("whole.nc", output) if must == 0 else []
    claim(status == must and not parked and not lost and "lost on" not in said and not wrong,
          f"{sentence}: exit status {status}, must be {must}; {jobs.count(output, 'done')} shots done, {parked} parked, {lost} lost {wrong or ''}")


def models():
    mini3d.write_keymap()
    Path("line.keymap").write_text(Path("line.keymap").read_text().splitlines()[0] + "\n"       # each shot has a window of its own
                                   f"shots first_record=11 n={SHOTS} x0=390.3 dx=41.1 z=111.7 y=-12.3 spread=cable\n")
    mini3d.write_deck(**DECK)
    whole = mini3d.run("par=job.par", "output=whole.nc")
    claim(whole.returncode == 0, f"the model in memory: exit status {whole.returncode} {whole.stderr[-300:] if whole.returncode else ''}")
    for output, ranks, words in (("alone.nc", 1, ()), ("group.nc", 3, ("group=2",))):
        job, _ = begin(output, ranks, *words)
        time.sleep(1)
        before = jobs.count(output, "deal")
        time.sleep(1)
        claim(jobs.count(output, "deal") == before and job.process.poll() is None, f"{output}: nothing is dealt meanwhile")
        os.rename("elsewhere", "model")
        status, said = job.end(), job.said()
        judge(f"{output}: it comes back ({jobs.line_with(BACK, said)[:90]})", status, said, output)
    job, small = begin("never.nc", 2, "disk_wait=2")
    status, said = job.end(), job.said()
    judge(f"never.nc: it stays away longer than disk_wait ({jobs.line_with('no more shots are dealt', said)[:200]})", status, said, "never.nc", 3)
    r = mini3d.run("par=job.par", "output=never.nc", env=small)
    claim(r.returncode == 1 and "model/vp.raw" in r.stderr, f"the same command says so at its start: {r.stderr.strip()[:160]}")
    os.rename("elsewhere", "model")
    r = mini3d.run("par=job.par", "output=never.nc", env=small)
    judge("never.nc: with it the same command goes on", r.returncode, r.stderr, "never.nc")
    job, _ = begin("term.nc", 1, "grace=1")
    begun = time.monotonic()
    jobs.kick(job.process.pid, sig=signal.SIGTERM)
    status, said = job.end(), job.said()
    os.rename("elsewhere", "model")
    judge(f"term.nc: SIGTERM while it is away, {time.monotonic() - begun:.1f} s", status, said, "term.nc", 3)


def finalize():
    """A library in which rank 1 dies instead of ending MPI."""
    library = shim("dies", """#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
void mpi_finalize_f08_(int *error) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && *rank == '1')
        raise(SIGKILL);
    ((void (*)(int *))dlsym(RTLD_NEXT, "mpi_finalize_f08_"))(error);
}
""")
    mini3d.make(shots=2)
    begun = time.monotonic()
    r = subprocess.run(mini3d.command("par=job.par", "output=end.nc", ranks=2, options=("--enable-recovery",)), capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, env=preload(os.environ, {"LD_PRELOAD": library}))
    seconds = time.monotonic() - begun
    claim(seconds < 45 and jobs.done_once("end.nc", 2),
          f"a rank that dies in MPI_Finalize: all end after {seconds:.1f} s, exit status {r.returncode} {r.stderr[-200:] if r.returncode else ''}")


if "debug" in os.environ["B"]:
    skip("the shim and the address sanitizer do not go together")
else:
    models()
    finalize()
done()
