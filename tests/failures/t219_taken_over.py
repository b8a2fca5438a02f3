#!/usr/bin/env python3
"""A job that sleeps while another one takes its output over, finishes it and is gone: when it wakes there is neither a lock nor another
run, but it writes nothing more, models nothing again, removes nothing but its states of shots. On a file system without locks, as others are
seen from another machine."""
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import mini3d
from badfs import BadFs
from check import PATIENCE, claim, done, given_seed, unsanitized
from jobs import Gate, kick, line_with, slow_machine, wait_until
from minisurvey import differences
from shims import preload, shim

unsanitized()
SEED = given_seed()
random.seed(SEED)
SHOTS = 3
# Over two kinds of rock nothing is computed for receivers close to the source, which would be loops too.
mini3d.make(shots=SHOTS, layers=mini3d.LAYERS + "280 4000 2300 2500\n", tmax=2, snapshot=0.4, snapshot_planes="top", snapshot_fields="vz", pgv="y")
r = mini3d.run("par=job.par", "output=whole.nc")
claim(r.returncode == 0, f"undisturbed run: exit status {r.returncode}")
bad = BadFs()
bad.say("noflock")
LOCK, JOURNAL, STATES = Path("out.nc.lock"), Path("out.nc.journal"), Path("out.nc.states")


def gone():
    """The number of a process that has ended."""
    p = subprocess.Popen(["true"])
    p.wait()
    return p.pid


def events(word):
    return [line for line in JOURNAL.read_text().splitlines() if f" {word} " in line]


def job(loop, log, gate=None, words=(), **env):
    return subprocess.Popen(mini3d.command("par=job.par", "output=out.nc", "checkpoint=0.0003", *words), stdin=subprocess.DEVNULL, stderr=open(log, "w"),
                            env=preload(os.environ, slow_machine(loop), bad.env, gate.env if gate else {}, env))


for turn, dones in enumerate((0, 1)):
    for path in Path(".").glob("out.nc*"):
        path.unlink()
    # The first shot, with what is set up before it, has 185 loops, the next 51, the last ten or so those of its steps.
    gate = Gate("first", loops=185 + 51*dones - random.randrange(2, 8))
    first = job(5000, "first.err", gate)
    began = wait_until(lambda: gate.reached() and len(events("done")) == dones and any(STATES.glob("*.state")), process=first)
    kick(first.pid, sig=signal.SIGSTOP)
    gate.open()
    LOCK.write_text(re.sub(r" pid=\d+", f" pid={gone()}", LOCK.read_text()))     # so that the other need not wait for its silence
    had = len(events("done"))
    other = job(0, "other.err")
    taken = other.wait(timeout=PATIENCE) == 0 and "takes over" in Path("other.err").read_text()
    written = JOURNAL.read_bytes()
    claim(began and taken and not LOCK.exists() and had < SHOTS, f"seed {SEED}: the first job sleeps with {had} of {SHOTS} shots done, another takes over "
          f"and ends {'' if taken else Path('other.err').read_text()[-300:]}")
    os.kill(first.pid, signal.SIGCONT)
    status = first.wait(timeout=PATIENCE)
    said = Path("first.err").read_text()
    claim(status == 3 and "another run has taken 'out.nc' over" in said, f"the first one wakes: exit status {status}, must be 3: {said[-200:]}")
    claim(JOURNAL.read_bytes() == written, f"the journal is left alone {JOURNAL.read_bytes()[len(written):].decode()[:300]}")
    films = [p.name for p in Path(".").glob("whole.nc.snap*")]
    off = [n for n in ["whole.nc", *films] if differences(n, n.replace("whole.nc", "out.nc"))]
    left = sorted(str(p) for pattern in ("out.nc.lock*", "out.nc.states*", "*.half") for p in Path(".").glob(pattern))
    claim(not off and films and not left, f"output and pictures are the undisturbed ones, nothing is left behind {off} {left}")

# The same while it makes its files, or is about to: they are another's when it wakes, which it neither disturbs nor removes.
for place, after, loop, words in ((".half", "0", 0, ()), (".half", "1", 0, ()), ("out.nc.journal", "0", 6000, ()),
                                  ("out.nc.journal", "2", 6000, ("overwrite=y",))):
    for path in Path(".").glob("out.nc*"):
        path.unlink()
    if words:
        JOURNAL.touch()                            # which is looked at twice before the lock, and before it is opened to be written to
    here = Path("here").resolve()
    first = job(0, "first.err", None, words, LD_PRELOAD=shim("wait"), WAIT_AT=place, WAIT_AFTER=after, WAIT_HERE=str(here))
    began = wait_until(here.exists, process=first)
    LOCK.write_text(re.sub(r" pid=\d+", f" pid={gone()}", LOCK.read_text()))
    gate = Gate("other", loops=120) if loop else None
    other = job(loop, "other.err", gate)
    if loop:
        began = began and wait_until(gate.reached, process=other)
        kick(other.pid, sig=signal.SIGSTOP)        # lest it ends before the first one wakes
        gate.open()
        time.sleep(6)                              # one that slept for no more than 5 s does not look at its lock
        began = began and other.poll() is None
    else:
        other.wait(timeout=PATIENCE)
    here.unlink()
    status = first.wait(timeout=PATIENCE)
    kick(other.pid, sig=signal.SIGCONT)
    statuses = status, other.wait(timeout=PATIENCE)
    there = Path("out.nc").exists() and JOURNAL.exists() and not differences("whole.nc", "out.nc") and len(events("start")) == 1
    claim(began and statuses == (1, 0) and there, f"taken over while it opens {place}: exit statuses {statuses}, must be 1 and 0, and all is there: "
          f"{line_with('another run', Path('first.err').read_text())}")
done()
