#!/usr/bin/env python3
"""A dead process is noticed at once, on the machine of rank 0 or of any rank that lives; nobody is waited for whose shots are all done;
and where a silence is all that is seen, the lease follows the pace of the shots. All with the lease that jobs have by default."""
import random
import re
import signal
import time
from pathlib import Path

from check import claim, done, given_seed, unsanitized
from jobs import RECOVERY, Job, Pace, count, done_once, events, kick, line_with
from minisurvey import differences, statuses, write_keymap
from shims import shim

LEASE, NEAR = 120, 10.0
SHORT, LONG = 2, 4                # seconds on three workers, if the machine is as busy as now: LONG outlasts a pause of 5 s on one
SEED = given_seed()
random.seed(SEED)
pace = Pace(ranks=4, tried=12)


def silences(text):
    """Seconds of silence after which workers were taken for lost."""
    return [float(s) for s in re.findall(r"was not heard of for ([\d.]+) s", text)]


def whole(job, status, what):
    claim(status == 0 and statuses(job.output) == [1] * N and done_once(job.output, N) and not differences(f"whole{N}.nc", job.output),
          f"{what}: exit status {status}, {count(job.output, 'done')} of {N} shots written, each once, the undisturbed file"
          + ("" if status == 0 else "; it said " + job.said()[-600:]))


def calm(output, ranks=4):
    begin = time.monotonic()
    job = Job("overwrite=y", output=output, ranks=ranks, options=RECOVERY)
    return job, job.end(), time.monotonic() - begin


def survey(seconds):
    """A survey of so long from now on: the number of its shots, and how long it takes."""
    n = pace.shots(seconds)
    job, status, undisturbed = calm(f"whole{n}.nc")
    claim(status == 0 and count(job.output, "done") == n, f"undisturbed run of {n} shots: exit status {status}")
    return n, undisturbed


# --- a worker that stands still for a while is not lost ---------------------------------------------------------------------

N, _ = survey(LONG)
job = Job(output="pause.nc", ranks=3, gate=0.5)
record = job.until_dealt(1)
kick(job.pid(1), sig=signal.SIGSTOP)
job.gate.open()
time.sleep(5)
kick(job.pid(1), sig=signal.SIGCONT)
status = job.end()
whole(job, status, "worker 1 stood still for 5 s")
claim("lost" not in job.said() and count("pause.nc", "lost") == 0, "nobody was taken for lost")

# --- a worker is killed at a random moment -------------------------------------------------------------------------------

N, undisturbed = survey(SHORT)
told = []
for n in range(3):                              # both take long on a busy machine, and not always alike: the best of three counts
    if n:
        job, _, undisturbed = calm(f"calm{n}.nc")
    victim, wait = random.randint(1, 3), random.uniform(0, 0.8 * undisturbed)
    begin = time.monotonic()
    job = Job(output=f"kill{n}.nc", ranks=4, options=RECOVERY)
    job.until_dealt(victim)
    job.until(lambda: time.monotonic() - begin > wait)
    over = job.process.poll() is not None or count(job.output, "done") == N
    kick(job.pid(victim))
    status = job.end()
    took, said = time.monotonic() - begin, job.said()
    told.append((round(undisturbed, 1), round(took, 1)))
    if over:
        continue
    whole(job, status, f"worker {victim} killed after {wait:.1f} s (seed {SEED})")
    claim(f"worker {victim} on" in said and "is dead: process" in said, "it is seen: " + line_with("is dead", said))
    claim(not silences(said), "no lease was waited for")
    if took < undisturbed + NEAR:
        break
claim(took < undisturbed + NEAR, f"{took:.1f} s, {undisturbed:.1f} s undisturbed: within {NEAR:g} s {told if n else ''}")

# --- all workers are killed ----------------------------------------------------------------------------------------------

job = Job(output="all.nc", ranks=3, options=RECOVERY, gate=1.5)
job.until(lambda: count("all.nc", "done") >= 2)
for worker in (1, 2):
    kick(job.pid(worker))
begin = time.monotonic()
status = job.end(100)
claim(status is not None and not silences(job.said()) and "run the same command again to continue" in job.said(),
      f"all workers killed: the master ends by itself after {time.monotonic() - begin:.1f} s, without a lease of {LEASE} s or five of them")

# --- one that stands still is not dead; nobody waits for it once others have done its shots --------------------------------

job = Job(output="still.nc", ranks=3, gate=0.5)
record = job.until_dealt(1)
pid = job.pid(1)
kick(pid, sig=signal.SIGSTOP)
status = job.end(300)
whole(job, status, f"worker 1 stands still in shot {record} for good")
long = silences(job.said())
claim(len(long) == 1 and long[0] < LEASE / 2 and "is dead" not in job.said(),
      f"it is not dead, and when nothing is left to do not waited for: {long} s of silence, the lease is {LEASE} s")

# --- several machines ----------------------------------------------------------------------------------------------------

unsanitized()
# Ranks with different letters in MACHINES take themselves for processes of different machines.
LIBRARY = shim("machines", r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
ssize_t readlink(const char *path, char *to, size_t n) {
    ssize_t (*real)(const char *, char *, size_t) = (ssize_t (*)(const char *, char *, size_t))dlsym(RTLD_NEXT, "readlink");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *machines = getenv("MACHINES");
    if (!rank || !machines || n < 8 || strcmp(path, "/proc/self/ns/pid"))
        return real(path, to, n);
    memcpy(to, "pid:[x]", 7);
    to[5] = machines[atoi(rank)];
    return 7;
}
""")


def spread(machines, output, gate):
    return Job(output=output, ranks=len(machines), options=RECOVERY, gate=gate, env={"LD_PRELOAD": LIBRARY, "MACHINES": machines})


job = spread("AABBB", "told.nc", 0.5)
record = job.until_dealt(2)
kick(job.pid(2))
status = job.end()
whole(job, status, f"worker 2, on another machine, killed in shot {record}")
claim("worker 2 on" in job.said() and "is dead: process" in job.said() and not silences(job.said()),
      "another rank there told rank 0: " + line_with("is dead", job.said()))

job = spread("AABBB", "chief.nc", 1.5)
job.until(lambda: count("chief.nc", "done") >= 2)
kick(job.pid(0))
status = job.end(100)
claim(status is not None and "rank 0 is dead" in job.said() and "nothing was heard" not in job.said(),
      "rank 0 killed: rank 1, on its machine, told all others")

# So many shots that the worker that is left cannot finish them before the other one is missed, even if the machine gets twice as fast.
fastest = min(float(w[6]) for w in (line.split() for line in Path("told.nc.journal").read_text().splitlines()) if w[1] == "done")
many = min(500, max(3 * N, int(90 / fastest)))
write_keymap(many, dx=400.0 / many)
job = spread("ABC", "alone.nc", 1.5)
record = job.until_dealt(2)
job.until(lambda: ("done", record, 2) in events("alone.nc") and job.gate.reached(2))
kick(job.pid(2))
job.gate.open()
job.until(lambda: silences(job.said()), 200)
left = many - count("alone.nc", "done")
Path("alone.nc.stop").touch()
status = job.end(100)
long = silences(job.said())
claim(status is not None and left > 1 and len(long) == 1 and 19 < long[0] < LEASE / 2 and "is dead" not in job.said(),
      f"a worker killed where nobody sees it: shots take a second or two, so the lease is {long} s, with {left} shots left, and not {LEASE} s")
done()
