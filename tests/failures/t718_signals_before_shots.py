#!/usr/bin/env python3
"""A signal that asks a job to stop before its first shot is dealt, whatever it reads or opens then: exit status 3, a sentence, and
nothing is damaged."""
import os
import signal
import subprocess
import time
from pathlib import Path

import jobs
import mini3d
import minisurvey
from check import PATIENCE, claim, done, unsanitized
from jobs import RECOVERY, Job, closed, count, kick, line_with, ranks_here, wait_until
from minisurvey import differences, make, run
from shims import shim

unsanitized()
HERE = Path("here").resolve()
EARLY = "stopped before the first shot was dealt; run the same command again"


def stopped(output, at, sig, *words, ranks=1, options=()):
    """A job whose rank 0 opens a certain file when the signal comes: the exit status, the log, and whether it came so far."""
    HERE.unlink(missing_ok=True)
    job = Job(*words, output=output, ranks=ranks, options=options, machine={},
              env={"LD_PRELOAD": shim("wait"), "WAIT_AT": at, "WAIT_HERE": str(HERE)})
    reached = job.until(HERE.exists)
    kick(job.pid(0) if ranks > 1 else job.process.pid, sig=sig)
    if at.endswith(".journal"):                   # which is opened when the signal counts as one in the midst of a run
        HERE.unlink(missing_ok=True)
    status = job.end()
    wait_until(lambda: not ranks_here(output))
    HERE.unlink(missing_ok=True)
    return status, job.said(), reached


def left(output):
    return sorted(p.name for p in Path(".").glob(output + "*"))


make()
r = run("par=job.par", "output=whole.nc")
claim(r.returncode == 0, f"nothing disturbs: exit status {r.returncode}")
signal.signal(signal.SIGHUP, signal.SIG_DFL)                      # whoever runs this may ignore it
for sig, ranks, at in ((signal.SIGTERM, 1, "line.keymap"), (signal.SIGUSR1, 1, "vp.raw"), (signal.SIGINT, 3, "vp.raw"),
                       (signal.SIGTERM, 3, "line.keymap"), (signal.SIGUSR1, 3, "vp.raw"), (signal.SIGUSR2, 1, "vp.raw"),
                       (signal.SIGXCPU, 1, "vp.raw")):
    status, said, reached = stopped("early.nc", at, sig, ranks=ranks)
    claim(reached and status == 3 and f"{sig.name}: {EARLY}" in said and left("early.nc") == [],
          f"{sig.name} to {ranks} process(es) as {at} is opened: exit status {status}, no files {left('early.nc')}: {line_with(EARLY, said)}")

# --- the output is opened already ---------------------------------------------------------------------------------------------

for sig, ranks in ((signal.SIGTERM, 1), (signal.SIGHUP, 1), (signal.SIGTERM, 3)):
    output = f"opened{sig.name}{ranks}.nc"
    status, said, reached = stopped(output, output + ".journal", sig, ranks=ranks)
    claim(reached and status == 3 and closed(output) and count(output, "deal") == 0 and not Path(output + ".lock").exists()
          and f"signal {int(sig)} ({sig.name})" in said,
          f"{sig.name} to {ranks} process(es) as the journal is opened: exit status {status}, the journal is closed, no shot was dealt, the lock "
          f"is gone: {line_with('no more shots', said)}")
    if sig == signal.SIGHUP:
        continue
    status, said, reached = stopped(output, "vp.raw", signal.SIGUSR1, ranks=ranks)
    r = run("par=job.par", f"output={output}", ranks=ranks)
    claim(reached and status == 3 and EARLY in said and r.returncode == 0 and not differences("whole.nc", output),
          f"and SIGUSR1 in its second run: exit status {status}; run again, {r.returncode}: the undisturbed file")

signal.signal(signal.SIGHUP, signal.SIG_IGN)                      # as nohup has it
takes = shim("takes", """#include <signal.h>
static void heard(int number) { (void)number; }
__attribute__((constructor)) static void take(void) { signal(SIGHUP, heard); }
""")
for name, library in (("nohup", ""), ("nohup_taken", f":{takes}")):
    HERE.unlink(missing_ok=True)
    job = Job(output=f"{name}.nc", ranks=1, machine={},
              env={"LD_PRELOAD": shim("wait") + library, "WAIT_AT": f"{name}.nc.journal", "WAIT_HERE": str(HERE)})
    reached = job.until(HERE.exists)
    kick(job.process.pid, sig=signal.SIGHUP)
    HERE.unlink(missing_ok=True)
    status = job.end()
    claim(reached and status == 0 and not differences("whole.nc", f"{name}.nc"), "SIGHUP that is ignored ends nothing"
          + (", though a library has taken it for itself, as UCX does" if library else "") + f": exit status {status}")
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# --- it looks whether another run lives ----------------------------------------------------------------------------------------

LOCK = "lock 1 user=ann host=far since=2026-11-21T09:00:00Z pid=4711 here=elsewhere/1 token=0123456789abcdef does=deals beat=000000000001\n"
Path("held.nc.lock").write_text(LOCK)
job = Job(output="held.nc", ranks=1, machine={})
looks = job.until(lambda: "is locked from elsewhere" in job.said())
kick(job.process.pid, sig=signal.SIGTERM)
status = job.end()
claim(looks and status == 3 and EARLY in job.said() and left("held.nc") == ["held.nc.lock"] and Path("held.nc.lock").read_text() == LOCK,
      f"as it looks whether another run lives: exit status {status}, that one's lock is untouched, {left('held.nc')}")

# --- a launcher that lets the other ranks live; ranks that wait for the size of their groups ----------------------------------

status, said, reached = stopped("others.nc", "vp.raw", signal.SIGTERM, ranks=3, options=RECOVERY)
claim(reached and status is not None and EARLY in said and not ranks_here("others.nc") and left("others.nc") == [],
      f"the launcher lets the other ranks live: they end as well: {line_with('rank 0 is dead', said)}")


def far(output, at, *words):
    """Three ranks, none of which sees another, get the signal as rank 0 opens a file."""
    job = Job(*words, output=output, ranks=3, options=RECOVERY, machine={},
              env={"LD_PRELOAD": shim("wait"), "WAIT_AT": at, "WAIT_HERE": str(HERE), "SPACES": "1"})
    reached = job.until(HERE.exists)
    time.sleep(0.5)                              # until the others wait as well; what is claimed holds if they do not yet
    kick(job.pid(1), job.pid(2), job.pid(0), sig=signal.SIGTERM)
    status, said = job.end(), job.said()
    HERE.unlink(missing_ok=True)
    told = said.count("a signal asked this rank to end, and nothing was heard of rank 0")
    claim(reached and status is not None and EARLY in said and told == 2 and not ranks_here(output) and left(output) == [],
          f"and where none of them sees rank 0, {' '.join(words)}: {line_with('SIGTERM', said)}; {told} of the 2 others say why they end")


far("far.nc", "vp.raw")
jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
mini3d.make(shots=1)
for options in ((), RECOVERY):
    status, said, reached = stopped("sized.nc", "earth.layers", signal.SIGTERM, "group=auto", ranks=3, options=options)
    claim(reached and (status == 3 or options and status == 0) and EARLY in said and left("sized.nc") == [] and not ranks_here("sized.nc"),
          f"ranks that wait for the size of their groups {' '.join(options)}: exit status {status}, all ended")
far("farther.nc", "earth.layers", "group=auto")

# --- what is no run ends as other programs do ----------------------------------------------------------------------------------

minisurvey.make()
HERE.unlink(missing_ok=True)
signal.signal(signal.SIGINT, signal.SIG_DFL)                      # whoever runs this may ignore it
p = subprocess.Popen([minisurvey.PROGRAM, "plan", "par=job.par"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                     env={**os.environ, "LD_PRELOAD": shim("wait"), "WAIT_AT": "vp.raw", "WAIT_HERE": str(HERE)})
reached = wait_until(HERE.exists, process=p)
kick(p.pid, sig=signal.SIGINT)
status = p.wait(PATIENCE)
claim(reached and status == -signal.SIGINT, f"SIGINT ends plan as it ends any program: {status}")
done()
