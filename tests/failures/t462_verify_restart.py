#!/usr/bin/env python3
"""When a job goes on every finished shot is read and compared, while new ones are dealt already; verify=last reads those that no
run read before; a damaged one is named, dealt again, and stands in the file once."""
import os
import struct
from pathlib import Path

from check import claim, done
from minisurvey import differences, make, run
from spltools.netcdf import Header

SHOTS = 8
make(shots=SHOTS, tmax=0.6)
run("par=job.par", "output=whole.nc")


def flip(path, record, variable="pressure"):
    """One bit in the middle of what a variable says of a shot."""
    with open(path, "r+b") as f:
        v = Header(f.read(1 << 20)).variables[variable]
        slot = v.bytes // SHOTS
        f.seek(v.begin + slot * (record - 101) + slot // 2)
        byte = f.read(1)
        f.seek(-1, os.SEEK_CUR)
        f.write(struct.pack("B", byte[0] ^ 16))


def cut(output, n):
    """Cuts the journal after its n-th shot done: the rest is to do, as after a kill."""
    path = Path(output + ".journal")
    lines = path.read_text().splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if line.split()[1] == "done"]
    path.write_text("".join(lines[:ends[n - 1] + 1]))


def events(output):
    return [(w[1], int(w[2])) for w in map(str.split, Path(output + ".journal").read_text().splitlines()[1:])]


def again(output, *words, ranks=1):
    r = run("par=job.par", f"output={output}", *words, ranks=ranks)
    return r, [line for line in r.stderr.splitlines() if "modelled again" in line]


# --- all --------------------------------------------------------------------------------------------------------------

for ranks in (1, 3):
    name = f"all{ranks}.nc"
    run("par=job.par", f"output={name}")
    cut(name, 6)
    for record in (102, 105):
        flip(name, record)
    flip(name, 103, "seconds")
    r, named = again(name, ranks=ranks)
    claim(r.returncode == 0 and len(named) == 3 and all(f"shot record {n}" in line for n, line in zip((102, 103, 105), named)),
          f"{ranks} process(es), three damaged of 6 done: named {len(named)} times: {named[0] if named else r.stderr[-300:]}")
    claim(differences("whole.nc", name) == [], "and modelled again: the undisturbed file")
    now = events(name)
    now = now[len(now) - now[::-1].index(("start", 0)):]
    claim(sorted(n for e, n in now if e == "done") == [102, 103, 105, 107, 108] and ("verified", 0) in now,
          f"just these and the two that were left: {now}")
    r, named = again(name, ranks=ranks)
    claim(r.returncode == 0 and named == [] and f"{SHOTS} finished shots verified by checksum" in r.stderr,
          f"once more: exit status {r.returncode}, all are whole")

# --- last -------------------------------------------------------------------------------------------------------------

run("par=job.par", "output=last.nc")
cut("last.nc", 5)
r, named = again("last.nc", "verify=last")
claim(r.returncode == 0 and "5 of them are read" in r.stderr and named == [], "verify=last: those of the run before are read")
r, named = again("last.nc", "verify=last")
claim(r.returncode == 0 and "8 shots are done already; 3 of them are read" in r.stderr and named == [],
      "verify=last once more: only those that no run has read yet")
flip("last.nc", 102)
r, named = again("last.nc", "verify=last")
claim(r.returncode == 0 and named == [], "a shot damaged after it was read is not looked at")
flip("last.nc", 104, "checksum")
r, named = again("last.nc", "verify=last")
claim(r.returncode == 0 and len(named) == 1 and "104" in named[0], f"unless the file says otherwise than the journal: {named}")
r, named = again("last.nc")
claim(r.returncode == 0 and len(named) == 1 and "102" in named[0] and differences("whole.nc", "last.nc") == [],
      f"verify=all finds it: {named}; then the undisturbed file")
done()
