#!/usr/bin/env python3
"""A rank that dies while the ranks find each other, or before the first shot is dealt, does not keep the others waiting for ever."""
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests"))
from check import claim, done, skip  # noqa: E402
from jobs import RECOVERY, Job, kick, ranks_here, wait_until  # noqa: E402
from minisurvey import PROGRAM, differences, make, run  # noqa: E402

if "debug" in os.environ["B"]:
    skip("the shim and the address sanitizer do not go together")
    done()
# Two minutes are too long for a test: forty seconds of the alarm pass in one.
with open("haste.c", "w") as f:
    f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\nunsigned alarm(unsigned n) {\n"
            "    unsigned (*real)(unsigned) = (unsigned (*)(unsigned))dlsym(RTLD_NEXT, \"alarm\");\n"
            "    return real((n + 39) / 40);\n}\n")
subprocess.run(["gcc", "-shared", "-fPIC", "-o", "haste.so", "haste.c", "-ldl"], check=True)
make(lease=2)
words = ["mpirun", "-x", f"LD_PRELOAD={os.path.abspath('haste.so')}", "-n", "1", str(PROGRAM), "par=job.par",
         ":", "-n", "1", "sleep", "200"]      # a rank that never comes
begin = time.monotonic()
try:
    r = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=150, text=True)
    status, said = r.returncode, r.stderr
except subprocess.TimeoutExpired:
    status, said = None, ""
claim(status not in (None, 0, 1, 2), f"a rank that never comes: the job ends after {time.monotonic() - begin:.0f} s, exit status {status}, "
      "which means: run again")
claim("the ranks did not find each other" in said, "and says: " + next((s for s in said.splitlines() if s.startswith("error")), said[-200:]))
claim(not os.path.exists("out.nc.lock") and not os.path.exists("out.nc"), "and has touched nothing")

# --- killed at any moment of the first second, where the launcher lets the others live ---------------------------------------

KILLS = 40 if os.environ.get("LONG") else 8
random.seed(5)
run("par=job.par", "output=whole.nc")
hung, stuck, wrong, killed, met, dead = 0, 0, [], 0, 0, 0
for n in range(5 * KILLS):                     # on a fast machine some are over before
    if killed == KILLS:
        break
    rank = n % 4
    job = Job(output=f"early{n}.nc", ranks=4, options=RECOVERY, env={"LD_PRELOAD": os.path.abspath("haste.so")})
    wait_until(lambda: rank in ranks_here(job.output), 30, job.process)
    time.sleep(random.uniform(0, 0.5))
    pid = job.pid(rank)
    killed += pid is not None
    kick(pid)
    time.sleep(0.3)
    hung += not wait_until(lambda: not ranks_here(job.output), 60)
    stuck += job.end(10) is None                # the launcher: seen where a rank was killed while it said hello to it
    met += "did not find each other" in job.said()
    dead += "rank 0 is dead" in job.said()
    r = run("par=job.par", f"output={job.output}")
    if r.returncode or differences("whole.nc", job.output):
        wrong.append((n, r.returncode, r.stderr[-200:]))
claim(not hung and killed == KILLS, f"{killed} ranks killed in the first second: {hung} jobs hung (and {stuck} times mpirun, alone); {met} ended by the "
      f"alarm, {dead} as rank 0 was seen to be dead, the others without that rank")
claim(not wrong, f"run again: always the undisturbed file {wrong[:2] if wrong else ''}")
done()
