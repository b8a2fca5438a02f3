#!/usr/bin/env python3
"""A shot that fails in its worker is dealt again, then parked and named; the rest finish; a later run tries it anew."""
import json

from check import claim, done, unsanitized
from minisurvey import make, run, statuses
from shims import shim

# A library that makes large allocations fail: the one shot with a wide spread needs a window larger than the others'.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
static size_t limit(void) { const char *s = getenv("ALLOC_LIMIT"); return s ? strtoul(s, 0, 10) : (size_t)-1; }
void *aligned_alloc(size_t a, size_t n) {
    static void *(*real)(size_t, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "aligned_alloc");
    if (n > limit()) { errno = ENOMEM; return 0; }
    return real(a, n);
}
int posix_memalign(void **p, size_t a, size_t n) {
    static int (*real)(void **, size_t, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "posix_memalign");
    return n > limit() ? ENOMEM : real(p, a, n);
}
"""
unsanitized("the allocation shim and the address sanitizer do not go together")
LIBRARY = shim("shim", SHIM)

make(aperture=60, dx=2.5, dz=2.5)
open("line.keymap", "w").write("""spread short streamer first=20 interval=20 channels=4 depth=20
spread long  fixed x0=10 interval=20 channels=59 depth=20
shot 1 600 10 short
shot 2 640 10 long
shot 3 660 10 short
shot 4 700 10 short
""")
for ranks in (1, 3):
    name = f"lost{ranks}.nc"
    env = {"LD_PRELOAD": LIBRARY, "ALLOC_LIMIT": "2621440"}
    r = run("par=job.par", f"output={name}", "retries=2", ranks=ranks, env=env)
    claim(r.returncode == 2, f"{ranks} process(es): exit status {r.returncode}, must be 2" + ("" if r.returncode == 2 else r.stderr[-800:]))
    claim(r.stderr.count("it is dealt again") == 2 and "parked" in r.stderr, "the shot was dealt three times, then parked")
    claim("shot 2 lost" in r.stderr and "memory" in r.stderr.lower(), "the message names shot and cause: " + next(
        (line for line in r.stderr.splitlines() if "shot 2 lost" in line), "none")[:200])
    claim(statuses(name) == [1, 2, 1, 1], f"the others are done, status {statuses(name)}")
    s = json.loads(run("status", f"output={name}", "--json").stdout)
    claim(s["parked"] == 1 and s["done"] == 3 and s["total"] == 4 and s["left"] == 0 and s["parked_records"] == [2]
          and (s["state"], s["exit_status"]) == ("parked", 2), f"status knows: {s}")
    r = run("par=job.par", f"output={name}", "retries=2", ranks=ranks)
    claim(r.returncode == 0 and statuses(name) == [1] * 4, f"run again without the fault: exit status {r.returncode}, all done")
done()
