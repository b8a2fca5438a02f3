#!/usr/bin/env python3
"""Rank 0 that a signal has stopped while it reads its input ends the job after five leases, not after the hour that it has for reading,
alone on its machine too, and so it ends verify; one that is merely slow does not, nor does a job all of whose ranks stand still for as long, as a suspended one
does."""
import signal
import time
from pathlib import Path

import jobs
import mini3d
from check import claim, done, unsanitized
from jobs import MPIRUN, RECOVERY, Job, kick, line_with, ranks_here, wait_until
from minisurvey import make
from shims import shim

unsanitized()
LEASE = 1                                         # seconds
STOPPED = "rank 0 has been stopped (SIGSTOP) for"
SILENT = "it gave no sign of life for"
ALONE = {"SPACES": "1"}                           # no rank sees processes of the others


class Reading(Job):
    """A job on three ranks whose rank 0 stands in the middle of its input until it is let go."""

    def __init__(self, *words, output, at, options=(), env=None, verb="run"):
        self.here = Path(output + ".here").resolve()
        super().__init__(f"lease={LEASE}", *words, output=output, ranks=3, options=options, machine={}, verb=verb,
                         env={"LD_PRELOAD": shim("wait"), "WAIT_AT": at, "WAIT_HERE": str(self.here), **(env or {})})
        self.reached = self.until(self.here.exists)

    def goes_on(self):
        self.here.unlink(missing_ok=True)
        self.until(lambda: "shots to do" in self.said())
        going = self.process.poll() is None or "shots to do" in self.said()
        kick(*ranks_here(self.output).values(), self.process.pid)
        self.end()
        return going and "this rank ends" not in self.said()


def stopped(*words, output, at, options=(), env=None, verb="run"):
    """Rank 0 is stopped for good: the job must end by itself, and nobody stay."""
    job = Reading(*words, output=output, at=at, options=options, env=env, verb=verb)
    sentence = SILENT if "SPACES" in (env or {}) else STOPPED
    begin = time.monotonic()
    kick(job.pid(0), sig=signal.SIGSTOP)
    status = job.end()
    wait_until(lambda: not ranks_here(output))
    alone = ", alone on its machine," if sentence == SILENT else ""
    claim(job.reached and status == (0 if options and MPIRUN < 5 else 2 if verb == "verify" else 3) and sentence in job.said() and not ranks_here(output) and
          not list(Path().glob(output + ".lock")),
          f"rank 0{alone} is stopped as it opens {at} {' '.join((verb, *words, *options))}: the job ends after "
          f"{time.monotonic() - begin:.0f} s, exit status {status}, nobody is left: {line_with(sentence, job.said())}")


make(shots=2)
slow = Reading(output="slow.nc", at="vp.raw", env=ALONE)
suspended = Reading(output="suspended.nc", at="vp.raw", env=ALONE)
claim(slow.reached and suspended.reached, "two jobs whose rank 0 reads for long")
ranks = ranks_here("suspended.nc")
kick(*(ranks[r] for r in sorted(ranks, reverse=True)), sig=signal.SIGSTOP)
begin = time.monotonic()
stopped(output="plain.nc", at="vp.raw")
stopped(output="recovery.nc", at="vp.raw", options=RECOVERY)
stopped(output="alone.nc", at="vp.raw", env=ALONE)
stopped(output="both.nc", at="vp.raw", options=RECOVERY, env=ALONE)
for n, (after, env) in enumerate(((0, {}), (1, {}), (0, ALONE), (1, ALONE))):      # as it writes, as it reads
    stopped(output=f"verify{n}.nc", at="layers.vp", env={**env, "WAIT_AFTER": str(after)}, verb="verify")
wait_until(lambda: time.monotonic() - begin > 7*LEASE)
claim(slow.goes_on(), f"a rank 0 that is slow is waited for: after {time.monotonic() - begin:.0f} s it goes on")
kick(*ranks.values(), sig=signal.SIGCONT)
claim(suspended.goes_on(), "and so does a job all of whose ranks were stopped meanwhile")
jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
mini3d.make(shots=1)
stopped("group=auto", output="sized.nc", at="earth.layers")
stopped("group=auto", output="aloof.nc", at="earth.layers", env=ALONE)
done()
