#!/usr/bin/env python3
"""A rank that dies while the ranks find each other does not keep the others waiting for ever."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests"))
from check import claim, done, skip  # noqa: E402
from minisurvey import PROGRAM, make  # noqa: E402

if "debug" in os.environ["B"]:
    skip("the shim and the address sanitizer do not go together")
    done()
# Two minutes are too long for a test: forty seconds of the alarm pass in one.
with open("haste.c", "w") as f:
    f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\nunsigned alarm(unsigned n) {\n"
            "    unsigned (*real)(unsigned) = (unsigned (*)(unsigned))dlsym(RTLD_NEXT, \"alarm\");\n"
            "    return real((n + 39) / 40);\n}\n")
subprocess.run(["gcc", "-shared", "-fPIC", "-o", "haste.so", "haste.c", "-ldl"], check=True)
make()
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
done()
