#!/usr/bin/env python3
"""A limit of the stack that is too low is raised where it may be, and else refused in a sentence; above it a job runs."""
import os
import resource
import subprocess
from pathlib import Path

import minisurvey
from check import claim, done

PROGRAMS = [Path(os.environ["B"]) / "bin" / name for name in ("SplFd2dmod", "SplFd3dmod", "SplSemmod")]
K = 1024


def under(soft, hard, program, *words):
    """The program where the stack is limited to so many kB, and may be raised to `hard`."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (soft * K, hard * K))
    return subprocess.run([program, *words], preexec_fn=limit, capture_output=True, text=True, env={**os.environ, "OMP_STACKSIZE": "64k"})


minisurvey.make(shots=1)
for program in PROGRAMS:
    r = under(100, 100, program, "par=job.par")
    claim(r.returncode == 1 and "error: the stack is limited to 100 kB, at least 512 kB are needed: raise the limit (ulimit -s 8192)" in r.stderr,
          f"{program.name}, 100 kB: exit status {r.returncode}: {r.stderr.strip()[:300]}")
for soft, hard in ((512, 512), (100, 8192)):
    r = under(soft, hard, PROGRAMS[0], "par=job.par", "overwrite=y")
    claim(r.returncode == 0, f"{soft} kB that may be {hard}: exit status {r.returncode}{'' if r.returncode == 0 else ': ' + r.stderr.strip()[-300:]}")
r = under(100, 100, PROGRAMS[0], "status", "output=out.nc")
claim(r.returncode == 0 and "1 of 1 shots done" in r.stdout, f"status needs no more: {r.stdout.strip()}{r.stderr.strip()[:200]}")
done()
