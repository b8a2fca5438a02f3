#!/usr/bin/env python3
"""A job that must end keeps the state of the shot it gives up, and the next run goes on from there."""
import os
import re
import signal
import subprocess
from pathlib import Path

from check import PATIENCE, claim, done
from jobs import Gate, slow_machine, wait_until
from minisurvey import command, differences, make, run
from shims import preload

make(shots=1, tmax=8)
r = run("par=job.par", "output=whole.nc", "checkpoint=0")
claim(r.returncode == 0, f"undisturbed: exit status {r.returncode}")


def stopped(output, ranks):
    """SIGTERM, or under mpirun a stop file, in the midst of the time loop, with no time of grace; exit status and log."""
    gate = Gate("given_up", 2)                    # it stands still in a third of its loops
    p = subprocess.Popen(command("par=job.par", f"output={output}", "checkpoint=10000", "grace=0", ranks=ranks),
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=preload(os.environ, slow_machine(), gate.env))
    wait_until(lambda: gate.reached(ranks - 1), process=p)
    if ranks == 1:
        p.send_signal(signal.SIGTERM)
    else:
        Path(output + ".stop").touch()
        wait_until(lambda: "no more shots" in Path(output + ".log").read_text(), process=p)
    gate.open()
    said = p.communicate(timeout=PATIENCE)[1]
    Path(output + ".stop").unlink(missing_ok=True)
    return p.returncode, said


for ranks in (1, 2):
    output = f"given_up{ranks}.nc"
    status, said = stopped(output, ranks)
    kept = list(Path(output + ".states").glob("*.state"))
    claim(status == 3 and len(kept) == 1, f"{ranks} process(es), told to stop amid a shot: exit status {status}, must be 3; "
          f"{len(kept)} state(s) though the interval is a week, must be 1" + ("" if kept else said[-300:]))
    r = run("par=job.par", f"output={output}", ranks=3 - ranks)
    step = re.search(r"goes on after step (\d+)", r.stderr)
    claim(r.returncode == 0 and step and differences("whole.nc", output) == [],
          f"run again with {3 - ranks} process(es): goes on after step {step and step.group(1)}, the undisturbed traces")
done()
