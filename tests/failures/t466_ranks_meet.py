#!/usr/bin/env python3
"""A rank that dies while the ranks find each other, before the first shot is dealt, or as they part, does not keep the others
waiting for ever."""
import os
import random
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from check import ALL, PATIENCE, claim, done, drawn, given_seed, skip, unsanitized
from jobs import RECOVERY, Job, count, kick, line_with, ranks_here, two_programs, wait_until
from minisurvey import PROGRAM, differences, make, run
from shims import shim

unsanitized()
# Two minutes are too long for a test: forty seconds of the alarm pass in one, or HASTE; or all take PATIENT times as long. And rank DIE_RANK dies at its
# barrier number DIE_AT, before it enters it or just after; or as it starts MPI, so many microseconds after it came (DIE_YOUNG), and the others come
# so much later (COME_LATE). With STOP_YOUNG it is stopped then instead. Rank STILL_RANK is stopped as it starts MPI in any case.
LIBRARY = shim("haste", r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static int number(const char *name) { return getenv(name) ? atoi(getenv(name)) : -1; }
unsigned alarm(unsigned n) {
    unsigned (*real)(unsigned) = (unsigned (*)(unsigned))dlsym(RTLD_NEXT, "alarm");
    int by = number("HASTE") > 0 ? number("HASTE") : 40;
    return real(getenv("PATIENT") ? n * number("PATIENT") : (n + by - 1) / by);
}
int usleep(useconds_t n) {                   // MPI's start looks 10,000 times a second for the others, a third of a core's time a rank
    struct timespec time = {n / 1000000, (n < 5000 ? 5000 : n % 1000000) * 1000L};
    return nanosleep(&time, NULL);
}
__attribute__((constructor)) static void come(void) {
    if (getenv("COME_LATE") && getenv("OMPI_COMM_WORLD_RANK") && number("OMPI_COMM_WORLD_RANK") != number("DIE_RANK"))
        usleep(number("COME_LATE"));
}
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int (*real)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))dlsym(RTLD_NEXT, "PMPI_Init_thread");
    if (number("STILL_RANK") >= 0 && number("OMPI_COMM_WORLD_RANK") == number("STILL_RANK"))
        raise(SIGSTOP);
    if (getenv("DIE_YOUNG") && number("OMPI_COMM_WORLD_RANK") == number("DIE_RANK")) {
        usleep(number("DIE_YOUNG"));
        raise(getenv("STOP_YOUNG") ? SIGSTOP : SIGKILL);
    }
    return real(argc, argv, required, provided);
}
int PMPI_Finalize(void) {
    int (*real)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PMPI_Finalize");
    if (number("STOP_RANK") >= 0 && number("OMPI_COMM_WORLD_RANK") == number("STOP_RANK"))
        raise(SIGSTOP);
    return real();
}
int PMPI_Ibarrier(void *comm, void *request) {
    static int n;
    int (*real)(void *, void *) = (int (*)(void *, void *))dlsym(RTLD_NEXT, "PMPI_Ibarrier");
    int last = ++n == number("DIE_AT") && number("OMPI_COMM_WORLD_RANK") == number("DIE_RANK");
    if (last && write(STDERR_FILENO, "dies here\n", 10) < 0)
        return 1;
    if (last && !number("DIE_INSIDE"))
        raise(SIGKILL);
    int status = real(comm, request);
    if (last)
        raise(SIGKILL);
    return status;
}
""")
make(lease=2)
# One that stands still as it starts MPI hears no alarm, and its launcher would wait for it for ever. That takes a minute: see the end.
still = [Job(output=f"still{rank}.nc", ranks=3, options=RECOVERY, machine={},
             env={"LD_PRELOAD": LIBRARY, "DIE_RANK": str(rank), "DIE_YOUNG": "500000", "STOP_YOUNG": "1", "PATIENT": "5"})
         for rank in (0, 2)]
both = Job(output="both.nc", ranks=4, options=RECOVERY, machine={},
           env={"LD_PRELOAD": LIBRARY, "DIE_RANK": "1", "DIE_YOUNG": "500000", "STILL_RANK": "2", "PATIENT": "5"})
if not two_programs():
    skip("this mpirun cannot start two programs in one job, of which one never becomes a rank")
else:
    words = ["mpirun", "-x", f"LD_PRELOAD={LIBRARY}", "-n", "1", str(PROGRAM), "par=job.par",
             ":", "-n", "1", "sleep", "200"]      # a rank that never comes
    begin = time.monotonic()
    try:
        r = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, text=True)
        status, said = r.returncode, r.stderr
    except subprocess.TimeoutExpired:
        status, said = None, ""
    claim(status not in (None, 0, 1, 2), f"a rank that never comes: the job ends after {time.monotonic() - begin:.0f} s, exit status {status}, "
          "which means: run again")
    claim("the ranks did not find each other" in said, "and says: " + next((s for s in said.splitlines() if s.startswith("error")), said[-200:]))
    claim(not os.path.exists("out.nc.lock") and not os.path.exists("out.nc"), "and has touched nothing")

# The others are inside MPI's start then; if the launcher lets them live, they know of each other by the system alone.
for rank, late in ((0, 0), (2, 0), (1, 1)):
    begin = time.monotonic()
    job = Job(output=f"young{rank}.nc", ranks=4, options=RECOVERY, machine={},
              env={"LD_PRELOAD": LIBRARY, "DIE_RANK": str(rank), "DIE_YOUNG": "1" if late else "500000",
                   "COME_LATE": str(800000 * late), "PATIENT": "1"})
    wait_until(lambda: len(ranks_here(job.output)) >= 3 + (not late), 30, job.process)
    ended = wait_until(lambda: not ranks_here(job.output), 60)
    took = time.monotonic() - begin
    job.end(10)
    claim(ended and "has ended before the ranks had found each other" in job.said(),
          f"rank {rank} dies as it starts MPI{', before any other has seen it' * late}: the others end after {took:.0f} s, not by the alarm of two "
          f"minutes: {line_with('error', job.said())}")

# --- killed at any moment of the first second, where the launcher lets the others live ---------------------------------------

KILLS = 40 if ALL else 6
SEED = given_seed()
random.seed(SEED)
run("par=job.par", "output=whole.nc")
hung, stuck, wrong, killed, met, dead = 0, 0, [], 0, 0, 0
for n in range(5 * KILLS):                     # on a fast machine some are over before
    if killed == KILLS:
        break
    rank = n % 4
    job = Job(output=f"early{n}.nc", ranks=4, options=RECOVERY, env={"LD_PRELOAD": LIBRARY})
    wait_until(lambda: rank in ranks_here(job.output), 30, job.process)
    time.sleep(random.uniform(0, 0.5))
    pid = job.pid(rank)
    killed += pid is not None
    kick(pid)
    time.sleep(0.3)
    hung += not wait_until(lambda: not ranks_here(job.output))
    stuck += job.end(10) is None                # the launcher: seen where a rank was killed while it said hello to it
    met += "did not find each other" in job.said()
    dead += "rank 0 is dead" in job.said()
    r = run("par=job.par", f"output={job.output}")
    if r.returncode or differences("whole.nc", job.output):
        wrong.append((n, r.returncode, r.stderr[-200:]))
claim(not hung and killed == KILLS, f"{killed} ranks killed in the first second: {hung} jobs hung (and {stuck} times mpirun, alone); {met} ended by the "
      f"alarm, {dead} as rank 0 was seen to be dead, the others without that rank")
claim(not wrong, f"run again: always the undisturbed file {wrong[:2] if wrong else ''}")

# --- killed at every barrier of the whole run: the last ones are those of the end --------------------------------------------


def dies(rank, barrier, inside):
    """True if the ranks ended by themselves; true if this one died; the shots that are done; seconds until they had ended."""
    begin = time.monotonic()
    env = {"LD_PRELOAD": LIBRARY, "DIE_RANK": str(rank), "DIE_AT": str(barrier), "DIE_INSIDE": str(inside), "HASTE": "10"}
    job = Job(output=f"dies{rank}{barrier}{inside}.nc", ranks=4, options=RECOVERY, env=env)
    came, hung = False, True
    while hung and time.monotonic() < begin + 300:
        time.sleep(0.2)
        here = bool(ranks_here(job.output))
        hung = here or (not came and job.process.poll() is None)    # the launcher may be stuck by itself, see above, or end first
        came = came or here
    took = time.monotonic() - begin
    job.end(1)
    return not hung, "dies here" in job.said(), count(job.output, "done"), took


BARRIERS, NEVER = range(1, 7), 99
# Before it or inside, in turns; which begins is drawn.
cases = drawn(2 * len(BARRIERS), ((rank, barrier, (barrier + rank // 2 + turn) % 2) for turn in (0, 1) for rank in (0, 2) for barrier in BARRIERS), SEED)
calm = [(3, NEVER, 0), (3, NEVER, 1)]
with ThreadPoolExecutor(8) as pool:
    ends = dict(zip(cases + calm, pool.map(lambda case: dies(*case), cases + calm)))
undisturbed = max(ends[case][3] for case in calm)
for rank in (0, 2):
    deaths = [case for case, (_, died, _, _) in ends.items() if case[0] == rank and died]
    hung = [case for case in deaths if not ends[case][0]]
    late = [case for case in deaths if ends[case][2] == 6]
    claim(len(late) >= len(cases) // 6 and len(deaths) < len(cases) // 2, f"rank {rank} dies at any of its barriers: {len(deaths)} jobs, "
          f"{len(late)} of them when all shots are done")
    claim(not hung, f"none of them hangs {hung}")
    longest = max(ends[case][3] for case in late)
    claim(longest < undisturbed + 45, f"when all shots are done nobody waits a minute for who is dead: {longest:.0f} s at most, "
          f"{undisturbed:.0f} s undisturbed")

# --- stopped as the job ends ----------------------------------------------------------------------------------------------------

job = Job(output="parts.nc", ranks=4, options=RECOVERY, gate=0.5)
job.until_dealt(2)
kick(job.pid(2), sig=signal.SIGSTOP)
kick(job.pid(0))
status, said = job.end(), job.said()
claim(status is not None and "was stopped for 5 s as the job ended: it is killed" in said,
      f"rank 2 is stopped and rank 0 killed: mpirun ends, exit status {status}: {line_with('was stopped', said)}")
job = Job(output="ends.nc", ranks=4, options=RECOVERY, machine={},
          env={"LD_PRELOAD": LIBRARY, "STOP_RANK": "2", "PATIENT": "3"})
status, said = job.end(), job.said()
claim(status is not None and "was stopped for 5 s as the job ended: it is killed" in said and count("ends.nc", "done") == 6,
      f"rank 2 is stopped as it ends MPI: mpirun ends, exit status {status}, all shots are done: {line_with('was stopped', said)}")

# --- stopped as it starts MPI ---------------------------------------------------------------------------------------------------

status, said = both.end(), both.said()
claim(status is not None and "was stopped for 5 s as the job ended: it is killed" in said
      and "has ended before the ranks had found each other" in said,
      f"rank 2 is stopped as it starts MPI, rank 1 killed there: mpirun ends, exit status {status}: {line_with('was stopped', said)}")
for rank, job in zip((0, 2), still):
    status = job.end()
    said = job.said()
    claim(status is not None and "was stopped for 60 s while the ranks found each other: it is killed" in said
          and "has ended before the ranks had found each other" in said and "may say 0 all the same" in said,
          f"rank {rank} is stopped as it starts MPI: mpirun ends, exit status {status}: {line_with('was stopped', said)}")
done()
