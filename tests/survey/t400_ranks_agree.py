#!/usr/bin/env python3
"""Any number of processes gives the same file; more ranks than shots, one shot, and nothing left to do behave."""
import os
import subprocess

from check import claim, done, skip
from jobs import two_programs
from minisurvey import PROGRAM, command, contents, differences, make, run, statuses, write_keymap

make(shots=6)
for ranks in (1, 2, 5, 9):
    r = run("par=job.par", f"output=r{ranks}.nc", ranks=ranks)
    claim(r.returncode == 0, f"{ranks} process(es): exit status {r.returncode}, must be 0" + ("" if r.returncode == 0 else r.stderr[-600:]))
    claim(statuses(f"r{ranks}.nc") == [1] * 6, f"{ranks} process(es): all 6 shots done")
    if ranks > 1:
        claim(differences("r1.nc", f"r{ranks}.nc") == [], f"{ranks} processes: every byte of traces and geometry as with one process")
# Open MPI as users have it: it looks for network cards and other devices, and gives a process without mpirun a daemon (tests/run and
# launch.py).
plain = {name: value for name, value in os.environ.items() if name not in ("OMPI_MCA_pml", "OMPI_MCA_btl") and not name.startswith("HWLOC_")}
for ranks in (1, 3):
    r = subprocess.run(command("par=job.par", f"output=plain{ranks}.nc", ranks=ranks), stdin=subprocess.DEVNULL, env=plain)
    claim(r.returncode == 0 and differences("r1.nc", f"plain{ranks}.nc") == [], f"{ranks} process(es), Open MPI without the settings that "
          f"shorten its start in tests: exit status {r.returncode}, the same bytes")
claim(any(bytes(contents("r1.nc")[0]["pressure"])), "the traces are not all zero")

r = run("par=job.par", "output=r5.nc", ranks=5)
claim(r.returncode == 0 and "6 shots are done already" in r.stderr, "nothing left to do: exit status 0 and it says so")

write_keymap(shots=1)
words = ("par=job.par", "output=mixed.nc")
if not two_programs():
    skip("this mpirun cannot start two programs in one job")
else:
    r = run(*words, ":", "-n", "1", str(PROGRAM), *words, "threads=2", ranks=2)
    claim(r.returncode == 0 and statuses("mixed.nc") == [1] and "rank 2 was started with other words than rank 0, whose words hold" in r.stderr,
          f"a rank of other words is told of: {r.stderr[:300]}")
    r = run(*words, "overwrite=y", ":", "-n", "1", str(PROGRAM.with_name("SplFd3dmod")), *words, ranks=2)
    claim(r.returncode == 1 and "rank 2 runs another program" in r.stderr and statuses("mixed.nc") == [1],
          f"a rank of another program is refused, on all ranks: exit status {r.returncode} {r.stderr[:300]}")

write_keymap(shots=1)
r = run("par=job.par", "output=one.nc", ranks=4)
claim(r.returncode == 0 and statuses("one.nc") == [1], "one shot on four processes")

write_keymap(shots=300)
text = open("line.keymap").read().replace("dx=40.0", "dx=0.5").replace("channels=20", "channels=2")
open("line.keymap", "w").write(text)
r = run("par=job.par", "output=many.nc", "tmax=0.02", "delay=0.02", ranks=3)
claim(r.returncode == 0 and statuses("many.nc") == [1] * 300, "300 shots on three processes")
done()
