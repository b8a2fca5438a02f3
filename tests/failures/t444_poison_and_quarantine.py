#!/usr/bin/env python3
"""A shot that kills its workers is parked, the others are done; a node that loses workers gets no more shots."""
import os
import subprocess
import sys

from check import PATIENCE, claim, done, unsanitized
from jobs import RECOVERY, Job, Pace, events, kick, line_with
from minisurvey import make, run, statuses
from shims import shim

# A library that kills a rank which allocates much (the shot with a wide spread needs a larger window than the others), and gives
# the ranks other host names; Open MPI asks for these with shorter buffers.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void check(size_t n) {
    const char *s = getenv("DEADLY"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (s && n > strtoul(s, 0, 10) && rank && strcmp(rank, "0")) kill(getpid(), SIGKILL);
}
void *aligned_alloc(size_t a, size_t n) {
    static void *(*real)(size_t, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    check(n);
    return real(a, n);
}
int posix_memalign(void **p, size_t a, size_t n) {
    static int (*real)(void **, size_t, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    check(n);
    return real(p, a, n);
}
int gethostname(char *name, size_t n) {
    static int (*real)(char *, size_t);
    const char *first = getenv("BAD_FROM"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "gethostname");
    if (n != 256 || !first || !rank) return real(name, n);
    snprintf(name, n, "%s", atoi(rank) >= atoi(first) ? "badnode" : "goodnode");
    return 0;
}
"""
unsanitized()
SHIMMED = {"LD_PRELOAD": shim("shim", SHIM)}


# --- poison: the second of six shots ------------------------------------------------------------------------------------

make(aperture=60, dx=2.5, dz=2.5)
open("line.keymap", "w").write("""spread short streamer first=20 interval=20 channels=4 depth=20
spread long  fixed x0=10 interval=20 channels=59 depth=20
shot 1 600 10 short
shot 2 640 10 long
shot 3 660 10 short
shot 4 700 10 short
shot 5 720 10 short
shot 6 740 10 short
""")
job = Job("retries=2", output="poison.nc", ranks=5, options=RECOVERY, env={**SHIMMED, "DEADLY": "2621440"})
status = job.end()
seen = events("poison.nc")
claim(status is not None and statuses("poison.nc") == [1, 2, 1, 1, 1, 1], f"shot 2 kills its workers: parked, the others are done, "
      f"status {statuses('poison.nc')}")
died = {w for e, r, w in seen if e == "lost"}
claim(len(died) == 2 and ("parked", 2) in [s[:2] for s in seen], f"it cost {len(died)} workers with retries=2: "
      + line_with("may have killed", job.said()))
r = run("par=job.par", "output=poison.nc", "retries=2", ranks=3)
claim(r.returncode == 0 and statuses("poison.nc") == [1] * 6, f"run again without the fault: exit status {r.returncode}, all done")

# --- under a launcher that ends everything: the deadly shot goes last ---------------------------------------------------

tool = os.path.join(os.environ["ROOT"], "tools", "run-until-done")
words = [sys.executable, tool, "--wait", "0.1", "--fruitless", "2", "mpirun", "-n", "3", os.environ["B"] + "/bin/SplFd2dmod",
         "par=job.par", "output=last.nc"]
r = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **SHIMMED, "DEADLY": "2621440"}, timeout=PATIENCE)
done_or_not = statuses("last.nc")
claim(done_or_not[:1] + done_or_not[2:] == [1] * 5 and (r.returncode, done_or_not[1]) in ((4, 0), (2, 2)),
      f"each launch ends where it is dealt: run-until-done does the others, and gives up (4) unless a launcher was so slow that the shot "
      f"killed two workers of a launch and was parked (2): exit status {r.returncode}, status {done_or_not}")

# --- a bad node: two of its three workers are killed --------------------------------------------------------------------

N = Pace().shots(5, least=24)
job = Job("quarantine=2", output="node.nc", ranks=6, options=RECOVERY, env={**SHIMMED, "BAD_FROM": "3"}, gate=0.5)
for worker in (3, 4):
    job.until_dealt(worker)
    kick(job.pid(worker))
status = job.end()
text = job.said()
claim(status is not None and statuses("node.nc") == [1] * N, f"two workers of a node killed: all {N} shots done")
claim("node badnode is quarantined after 2 losses: worker 5 gets no more shots" in text, line_with("quarantined", text))
seen = events("node.nc")
last = max(i for i, s in enumerate(seen) if s[0] == "lost")
late = [s for s in seen[last + 1:] if s[0] == "deal"]
claim(late and all(w in (1, 2) for _, _, w in late), f"{len(late)} shots dealt after the second loss, all to the other node")
done()
