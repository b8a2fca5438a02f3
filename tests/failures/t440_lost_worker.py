#!/usr/bin/env python3
"""A lost worker does not lose the job: its shot is dealt again, each is written once, and the file is the undisturbed one."""
import signal
import time

from check import claim, done
from jobs import RECOVERY, Job, Pace, count, cpu, done_once, events, kick, line_with, slow_machine
from minisurvey import differences, run, statuses

LEASE, SHORT, LONG = 1, 3, 6      # seconds: LONG keeps one worker busy for some leases
CALM = "lease=100"                # where nobody is to be missed who stands still at a gate, or has no core for a while
pace = Pace(lease=LEASE)


def whole(job, status, what):
    claim(status == 0 and statuses(job.output) == [1] * N and done_once(job.output, N) and not differences(WHOLE, job.output),
          f"{what}: exit status {status}, {count(job.output, 'done')} of {N} shots written, each once, the undisturbed file"
          + ("" if status == 0 else "; it said " + job.said()[-600:]))


N, WHOLE = pace.survey(SHORT)

# --- killed: the launcher lets the others live --------------------------------------------------------------------------

job = Job(CALM, output="kill.nc", ranks=4, options=RECOVERY, gate=0.5)
record = job.until_dealt(2)
begin = time.time()
kick(job.pid(2))
status = job.end()
whole(job, status, f"worker 2 killed in shot {record}, {time.time() - begin:.1f} s to the end")
claim("is dead: process" in job.said(), "it is seen: " + line_with("is dead", job.said()))
claim(any(e == "done" and r == record and w != 2 for e, r, w in events("kill.nc")), f"shot {record} comes from another worker")

job = Job(CALM, output="two.nc", ranks=4, options=RECOVERY, gate=0.5)
for worker in (1, 3):
    job.until_dealt(worker)
    kick(job.pid(worker))
status = job.end()
whole(job, status, "two of three workers killed")

# --- all workers: nobody is left, and what is done is kept --------------------------------------------------------------

job = Job(CALM, output="all.nc", ranks=3, options=RECOVERY, gate=1.5)
job.until(lambda: count("all.nc", "done") >= 2)
for worker in (1, 2):
    kick(job.pid(worker))
status = job.end()
n = count("all.nc", "done")
claim(status is not None and "run the same command again to continue" in job.said() and 2 <= n < N,
      f"both workers killed: the master ends by itself with {n} shots done")
r = run("par=job.par", "output=all.nc", ranks=3)
claim(r.returncode == 0 and done_once("all.nc", N) and not differences(WHOLE, "all.nc"),
      f"run again: exit status {r.returncode}, the undisturbed file")

# --- the master is dead: the workers do not wait for ever ---------------------------------------------------------------

job = Job(CALM, output="dead.nc", ranks=3, options=RECOVERY, gate=1.5)
job.until(lambda: count("dead.nc", "done") >= 2)
begin = time.time()
kick(job.pid(0))
status = job.end()
claim(status is not None and job.said().count("rank 0 is dead") >= 1 and "nothing was heard" not in job.said(),
      f"the master killed: its workers see it, and end after {time.time() - begin:.1f} s: " + line_with("rank 0 is", job.said()))
r = run("par=job.par", "output=dead.nc", ranks=3)
claim(r.returncode == 0 and done_once("dead.nc", N) and not differences(WHOLE, "dead.nc"),
      f"run again: exit status {r.returncode}, the undisturbed file")

# A launcher that does the same and does not say so: srun.
job = Job(CALM, output="bare.nc", ranks=3, options=(*RECOVERY, "-x", "OMPI_MCA_orte_enable_recovery=0"), gate=1.5)
job.until(lambda: count("bare.nc", "done") >= 1)
begin = time.time()
kick(job.pid(0))
status = job.end()
took = time.time() - begin
claim(status is not None and "rank 0 is dead" in job.said() and took < 40,
      f"the same where nobody tells that the launcher lets ranks live: they end after {took:.1f} s, for a dead rank 0 ends nothing")

job = Job(output="mute.nc", ranks=3, options=RECOVERY, gate=1.5)
job.until(lambda: count("mute.nc", "done") >= 2)
kick(job.pid(0), sig=signal.SIGSTOP)
job.gate.open()
gone = job.until(lambda: job.said().count("nothing was heard of rank 0") == 2)
kick(job.pid(0))
status = job.end()
claim(gone and status is not None, "the master stands still: its workers end by themselves: " + line_with("was heard of rank 0", job.said()))
r = run("par=job.par", "output=mute.nc", ranks=3)
claim(r.returncode == 0 and done_once("mute.nc", N) and not differences(WHOLE, "mute.nc"),
      f"run again: exit status {r.returncode}, the undisturbed file")

N, WHOLE = pace.survey(LONG)

# --- stands still for twice the lease, then goes on ---------------------------------------------------------------------

job = Job(output="stop.nc", ranks=3, gate=0.5, machine=slow_machine(rank1=4))     # worker 1 alone takes long for the others
record = job.until_dealt(2)
pid = job.pid(2)
kick(pid, sig=signal.SIGSTOP)
job.gate.open()
missed = job.until(lambda: ("lost", record, 2) in events("stop.nc"))
time.sleep(LEASE)
claim(missed, "a worker that stands still is taken for lost: " + line_with("is taken for lost", job.said()))
kick(pid, sig=signal.SIGCONT)
status = job.end()
whole(job, status, f"worker 2 stood still in shot {record} for more than twice the lease of {LEASE} s")
claim("is back after" in job.said(), "and goes on: " + line_with("is back after", job.said()))

# --- has left, then is not heard of and comes back -----------------------------------------------------------------------

job = Job(output="left.nc", ranks=3, gate=0.5)
job.until_dealt(1)
pid = job.pid(1)
kick(pid, sig=signal.SIGUSR1)
job.gate.open()
job.until(lambda: "it finishes what it has and leaves" in job.said())
record = max(r for e, r, w in events("left.nc") if e == "deal" and w == 1)
job.until(lambda: any(e == "done" and r == record for e, r, _ in events("left.nc")))
time.sleep(0.5)
kick(pid, sig=signal.SIGSTOP)
time.sleep(2.5 * LEASE)
kick(pid, sig=signal.SIGCONT)
status = job.end()
whole(job, status, "worker 1, which had left, stood still for a while")

# --- stands still for good: the others end without it -------------------------------------------------------------------

job = Job(output="still.nc", ranks=3, gate=0.5)
record = job.until_dealt(1)
kick(job.pid(1), sig=signal.SIGSTOP)
status = job.end()
whole(job, status, f"worker 1 stands still in shot {record} for good")

# This launcher ends nothing, and would wait for it.
job = Job(output="alive.nc", ranks=3, options=RECOVERY, gate=0.5)
record = job.until_dealt(1)
pid = job.pid(1)
kick(pid, sig=signal.SIGSTOP)
status = job.end()
whole(job, status, f"worker 1 stands still in shot {record} for good, and the launcher lets ranks live")
claim("rank 1 was still there" in job.said() and cpu(pid) == 0, "rank 0 kills it at the end: " + line_with("still there", job.said()))
done()
