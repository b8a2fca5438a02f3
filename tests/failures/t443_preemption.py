#!/usr/bin/env python3
"""Signals, the stop file, grace and deadlines: no more shots are dealt, what is in flight finishes or is given up, the journal is
closed, exit status 3; the same command goes on."""
import os
import signal
import time
from pathlib import Path

from check import claim, done
from jobs import MPIRUN, Job, Pace, closed, count, done_once, events, kick, line_with, ranks_here, slow_machine
from minisurvey import differences, run, statuses, write_keymap

SHORT, LONG = 3, 6                # seconds: LONG outlasts a Slurm job of two, on two workers too
pace = Pace()


def goes_on(output, ranks):
    """The same command does the rest; the file is the undisturbed one. Outputs of the long job below have no such file."""
    r = run("par=job.par", f"output={output}", ranks=ranks)
    return r.returncode == 0 and done_once(output, N) and not differences(WHOLE, output)


N, WHOLE = pace.survey(SHORT)

# --- a signal to one worker: it finishes its shot and leaves, the others go on ------------------------------------------

job = Job(output="one.nc", ranks=3, gate=0.5)
record = job.until_dealt(2)
kick(job.pid(2), sig=signal.SIGTERM)
status = job.end()
claim(status == 0 and done_once("one.nc", N) and not differences(WHOLE, "one.nc"),
      f"SIGTERM to worker 2: exit status {status}, all {N} shots done")
claim("worker 2 on" in job.said() and "it finishes what it has and leaves" in job.said() and count("one.nc", "lost") == 0,
      "nothing is lost: " + line_with("leaves", job.said()))
mine = [r for e, r, w in events("one.nc") if e == "deal" and w == 2]
claim(len(mine) <= 2 and set(mine) <= {r for e, r, _ in events("one.nc") if e == "done"}, f"worker 2 got shot(s) {mine}, no more")

# --- to all, as Slurm does ----------------------------------------------------------------------------------------------

for sig in (signal.SIGTERM, signal.SIGUSR1):
    name = f"all{sig}.nc"
    job = Job(output=name, ranks=3, gate=1.5)
    job.until(lambda: count(name, "done") >= 1)
    for rank in (1, 2, 0):
        kick(job.pid(rank), sig=sig)
    status = job.end()
    n = count(name, "done")
    claim(status == 3 and 1 <= n < N and closed(name) and count(name, "lost") == 0,
          f"signal {sig.name} to all ranks: exit status {status}, must be 3; {n} of {N} shots done, the journal is closed")
    claim(goes_on(name, 3), "run again: the undisturbed file")

# --- grace: shots that would take for ever ------------------------------------------------------------------------------

FOR_EVER = ("tmax=4000", "dt_out=0.05")
for ranks, how in ((3, "signal"), (1, "signal"), (3, "stop file")):
    name = f"grace{ranks}{how[:4]}.nc"
    job = Job(*FOR_EVER, "grace=1", output=name, ranks=ranks)
    job.until(lambda: count(name, "deal") == max(1, ranks - 1))
    time.sleep(0.5)
    begin = time.time()
    if how == "signal":
        kick(job.pid(0) if ranks > 1 else job.process.pid, sig=signal.SIGTERM)
    else:
        open(name + ".stop", "w").close()
    status = job.end()
    claim(status == 3 and closed(name) and count(name, "todo") == max(1, ranks - 1) and count(name, "lost") == 0,
          f"{how}, {ranks} process(es), grace=1: shots in flight are given up, exit status {status} after {time.time() - begin:.1f} s, "
          f"the journal is closed" + ("" if status == 3 else job.said()[-600:]))

# Where the first state could not be written only the second of the two files is there.
os.mkdir("one")
write_keymap(1, folder="one")
ONE = (*FOR_EVER, "grace=0", "keymap=one/line.keymap")
job = Job(*ONE, output="one_b.nc", ranks=1, gate=0.5)
job.until(job.gate.reached)
kick(job.process.pid, sig=signal.SIGTERM)
job.end()
Path("one_b.nc.states/shot101.a.state").rename("one_b.nc.states/shot101.b.state")
job = Job(*ONE, output="one_b.nc", ranks=1)
on = job.until(lambda: "goes on after step" in job.said())
kick(job.process.pid, sig=signal.SIGTERM)
status = job.end()
claim(on and status == 3, f"a shot goes on from its only state, the second: exit status {status}: " + line_with("goes on after", job.said()))

job = Job(*FOR_EVER, "grace=1000", output="press.nc", ranks=3)
job.until(lambda: count("press.nc", "deal") == 2)
kick(job.pid(0), sig=signal.SIGUSR1)
job.until(lambda: "no more shots are dealt" in job.said())
time.sleep(3)
running = job.process.poll() is None
kick(job.pid(0), sig=signal.SIGTERM)
status = job.end()
claim(running and status == 3 and closed("press.nc"), f"SIGTERM some seconds after SIGUSR1 ends the grace: exit status {status}: "
      + line_with("another signal", job.said()))

job = Job(*FOR_EVER, "grace=1000", output="twice.nc", ranks=1, gate=0.5)
job.until(job.gate.reached)
job.gate.open()
kick(job.process.pid, sig=signal.SIGTERM)
job.until(lambda: "no more shots are dealt" in job.said())
kick(job.process.pid, sig=signal.SIGTERM)
time.sleep(4)
running = job.process.poll() is None
kick(job.process.pid, sig=signal.SIGTERM)
status = job.end()
claim(running and status == 3 and closed("twice.nc") and job.said().count("another signal") == 1,
      f"SIGTERM twice at once, as launchers hand it on, is one; another some seconds later ends the grace: exit status {status}: "
      + line_with("another signal", job.said()))

job = Job(*FOR_EVER, "grace=1", output="stuck.nc", ranks=3)
job.until_dealt(1)
kick(job.pid(1), sig=signal.SIGSTOP)
kick(job.pid(0), sig=signal.SIGTERM)
status = job.end()
claim(status == 3 and closed("stuck.nc"), f"a worker that stands still meanwhile is not waited for: exit status {status}: "
      + line_with("the job ends without", job.said()))

# --- how long shots in flight really have -------------------------------------------------------------------------------

SLURM = {"SLURM_JOB_ID": "4711", "SPL_KILL_WAIT": "4"}
for name, signals, words, env, truth, cut in (
        ("killwait", [signal.SIGTERM], ["grace=1000"], SLURM, "have 2 s to finish, for Slurm may kill the job 4 s after SIGTERM", True),
        ("both", [signal.SIGUSR1, signal.SIGTERM], ["grace=1000"], SLURM, "for Slurm may kill the job 4 s after SIGTERM", True),
        ("shorter", [signal.SIGTERM], ["grace=1"], SLURM, "have 1 s to finish\n", True),
        ("default", [signal.SIGTERM], ["grace=1000"], {"SLURM_JOB_ID": "4711"}, "have 25 s to finish, for Slurm may kill the job 30 s", False),
        ("asked", [signal.SIGUSR1], ["grace=1000"], SLURM, "have 1000 s to finish\n", False),
        ("ends", [signal.SIGUSR1], ["grace=1000", "deadline=6"], {}, "s to finish, for then the job ends", True)):
    name += ".nc"
    job = Job(*FOR_EVER, *words, output=name, ranks=1, env=env, gate=0.5)
    job.until(job.gate.reached)                   # it has begun its steps: there is a state to keep
    job.gate.open()
    for n, sig in enumerate(signals, 1):
        kick(job.process.pid, sig=sig)
        job.until(lambda: job.said().count("in flight have") >= n)
    told = job.until(lambda: truth in job.said())
    if not cut:
        kick(job.process.pid)
    status = job.end()
    claim(told and (not cut or (status == 3 and closed(name) and count(name, "todo") == 1 and list(Path(name + ".states").iterdir()))),
          f"{[s.name for s in signals]}, {words}, {env}: exit status {status}, " + ("the state is kept: " if cut else "")
          + line_with("no more shots", job.said()))
job = Job(*FOR_EVER, "grace=1000", output="mpirun.nc", ranks=3)
job.until_dealt(1)
kick(job.process.pid, sig=signal.SIGTERM)
job.end()
kept = job.said() if MPIRUN < 5 else Path("mpirun.nc.log").read_text()    # that of Open MPI 5 shows nothing any more
claim("have 0 s to finish, for mpirun ends the job" in kept, "SIGTERM to mpirun: " + line_with("no more shots", kept))

# --- a batch system that suspends a job gives it as much time more --------------------------------------------------------

end = int(time.time()) + 30
jobs = [Job(output=f"suspended{ranks}.nc", ranks=ranks, env={"SLURM_JOB_END_TIME": str(end)}, gate=1.5) for ranks in (3, 1)]
for job in jobs:
    job.until(lambda: count(job.output, "done") >= 1)
pids = [pid for job in jobs for pid in (*ranks_here(job.output).values(), job.process.pid)]
kick(*pids, sig=signal.SIGSTOP)
time.sleep(max(1, end + 1 - time.time()))
for job in jobs:
    job.gate.open()
kick(*pids, sig=signal.SIGCONT)
for ranks, job in zip((3, 1), jobs):
    status = job.end()
    claim(status == 0 and done_once(job.output, N) and not differences(WHOLE, job.output),
          f"suspended until after its Slurm job was to end, {ranks} process(es): exit status {status}, all {N} shots done: "
          + line_with("was stopped (SIGSTOP)", job.said()) + line_with("before the deadline", job.said()))

# --- no shot that would outlast the allocation --------------------------------------------------------------------------

N, WHOLE = pace.survey(LONG)
job = Job(output="slurm.nc", ranks=3, env={"SLURM_JOB_END_TIME": str(int(time.time()) + 2)}, machine=slow_machine(loop=60000))
status = job.end()
n = count("slurm.nc", "done")
claim(status == 3 and n < N and closed("slurm.nc") and count("slurm.nc", "lost") == 0,
      f"the Slurm job ends in 2 s: exit status {status}, {n} of {N} shots done: " + line_with("before the deadline", job.said()))
r = run("par=job.par", "output=slurm.nc", ranks=3, env={"SLURM_JOB_END_TIME": str(int(time.time()) - 10)})
claim(r.returncode == 3 and count("slurm.nc", "done") == n, f"it has ended: exit status {r.returncode}, no shot is dealt")
claim(goes_on("slurm.nc", 3), "a later job does the rest: the undisturbed file")
again = {"SLURM_JOB_ID": "4711", "SLURM_RESTART_COUNT": "1"}
first = run("par=job.par", "output=slurm.nc", "overwrite=y", env=again)
second = run("par=job.par", "output=slurm.nc", "overwrite=y", env=again)
claim(f"to do: {N} of {N}" in first.stderr and f"to do: 0 of {N}" in second.stderr,
      "overwrite=y of a Slurm job that was started again spares what it has done itself: " + line_with("started again and", second.stderr))

r = run("par=job.par", "output=alone.nc", "deadline=1", env=slow_machine())
n = count("alone.nc", "done")
claim(r.returncode == 3 and n < N and statuses("alone.nc").count(1) == n, f"deadline=1 and one process: exit status {r.returncode}, "
      f"{n} of {N} shots done")
done()
