#!/usr/bin/env python3
"""A group of ranks on two machines loses one: the machine of the dead rank is told and blamed, in log, journal and by
run-until-done, not that of the rank that speaks for the group."""
import os
import subprocess
import sys
from pathlib import Path

import jobs
import mini3d
from check import claim, done, unsanitized
from jobs import RECOVERY, Job, kick, line_with, slow_machine
from minisurvey import differences
from shims import shim

unsanitized()
jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
# Each rank has a machine by its name: n0, n1, ...
ELSEWHERE = {"LD_PRELOAD": shim("hosts", r"""
#include <stdio.h>
#include <stdlib.h>
int gethostname(char *name, size_t n) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    snprintf(name, n, "n%s", rank ? rank : "0");
    return 0;
}
""")}
mini3d.make(shots=2, tmax=1)
r = mini3d.run("par=job.par", "output=whole.nc")
claim(r.returncode == 0, f"undisturbed run: exit status {r.returncode}")
for victim in (1, 2):                             # the one that speaks for the group, and the other
    out = f"lost{victim}.nc"
    job = Job("group=2", "quarantine=1", output=out, ranks=5, options=RECOVERY, env=ELSEWHERE, machine=slow_machine(500), gate=6)
    dealt = job.until_dealt(1)
    job.until(lambda: job.gate.reached(1) or job.gate.reached(2))
    kick(job.pid(victim))
    status = job.end()
    said = job.said()
    lost = [line for line in Path(out + ".journal").read_text().splitlines() if " lost " in line]
    claim(dealt is not None and status is not None and f"worker 1 on n{victim} is dead: process" in said and f"of rank {victim} has ended" in said,
          f"rank {victim} on n{victim} dies: {line_with('is dead', said)[:140]}")
    claim(len(lost) == 1 and lost[0].split()[5] == f"n{victim}", f"the journal names n{victim}: {[line.split()[5] for line in lost]}")
    claim(differences("whole.nc", out) == [], "the other group does the rest: the undisturbed file")
    judged = subprocess.run([sys.executable, "-c", "import runpy, sys; m = runpy.run_path(sys.argv[1]); "
                             "print(sorted(set().union(*(m['judged'](l)[0] for l in open(sys.argv[2], errors='replace')))))",
                             os.environ["ROOT"] + "/tools/run-until-done", str(job.log)], capture_output=True, text=True)
    claim(f"'n{victim}'" in judged.stdout and f"'n{3 - victim}'" not in judged.stdout, f"run-until-done blames {judged.stdout.strip()}")
done()
