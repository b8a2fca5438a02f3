#!/usr/bin/env python3
"""A job that must end keeps the state of the shot it gives up, and the next run goes on from there."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from check import PATIENCE, claim, done
from jobs import slow_machine
from minisurvey import command, differences, make, run
from shims import preload

make(shots=1, tmax=8)
r = run("par=job.par", "output=whole.nc", "checkpoint=0")
claim(r.returncode == 0, f"undisturbed: exit status {r.returncode}")


def stopped_after(seconds, output, ranks):
    """SIGTERM, or under mpirun a stop file, so long after the shot was dealt, with no time of grace; exit status and log."""
    p = subprocess.Popen(command("par=job.par", f"output={output}", "checkpoint=10000", "grace=0", "overwrite=y", ranks=ranks),
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=preload(os.environ, slow_machine()))
    journal, limit = Path(output + ".journal"), time.time() + PATIENCE
    while time.time() < limit and p.poll() is None and not (journal.exists() and " deal " in journal.read_text()):
        time.sleep(0.01)
    time.sleep(seconds)
    if ranks == 1:
        p.send_signal(signal.SIGTERM)
    else:
        Path(output + ".stop").touch()
    said = p.communicate(timeout=PATIENCE)[1]
    Path(output + ".stop").unlink(missing_ok=True)
    return p.returncode, said


for ranks in (1, 2):
    output = f"given_up{ranks}.nc"
    for wait in (0.3, 0.6, 1.2, 0.15, 2.4):       # until the signal comes in the midst of the time loop
        status, said = stopped_after(wait, output, ranks)
        kept = list(Path(output + ".states").glob("*.state"))
        if status == 3 and kept:
            break
    claim(status == 3 and len(kept) == 1, f"{ranks} process(es), told to stop {wait} s after the deal: exit status {status}, must be 3; "
          f"{len(kept)} state(s) though the interval is a week, must be 1" + ("" if kept else said[-300:]))
    r = run("par=job.par", f"output={output}", ranks=3 - ranks)
    step = re.search(r"goes on after step (\d+)", r.stderr)
    claim(r.returncode == 0 and step and differences("whole.nc", output) == [],
          f"run again with {3 - ranks} process(es): goes on after step {step and step.group(1)}, the undisturbed traces")
done()
