#!/usr/bin/env python3
"""A model that takes long to be read is told of meanwhile, with its file and how much of it is there; one that does not is not."""
import os
import subprocess
import time
from pathlib import Path

from check import PATIENCE, claim, done, unsanitized
from jobs import line_with, wait_until
from minisurvey import command, make, run
from shims import shim

unsanitized()
LONG = 6               # seconds that the file is held: it is told of after five


def slowly(verb):
    """Exit status and words of the program whose model is held as it is opened."""
    here = Path(verb + ".here").resolve()
    process = subprocess.Popen(command(verb, "par=job.par"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "LD_PRELOAD": shim("wait"), "WAIT_AT": "vp.raw", "WAIT_HERE": str(here)})
    wait_until(here.exists, process=process)
    time.sleep(LONG)
    here.unlink(missing_ok=True)
    return process.communicate(timeout=PATIENCE)[0], process.returncode


make(shots=1)
quick = run("plan", "par=job.par")
claim(quick.returncode == 0 and "% of vp.raw" not in quick.stderr + quick.stdout, "a plan whose model is read at once tells nothing of that")
for verb in ("plan", "run"):
    said, status = slowly(verb)
    claim(status == 0 and "% of vp.raw is read" in said, f"{verb}: exit status {status}: {line_with('% of vp.raw', said)}")
done()
