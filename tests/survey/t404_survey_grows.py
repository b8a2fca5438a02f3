#!/usr/bin/env python3
"""A survey grows: shots added to a finished output are modelled alone and the file is that of one run at once; what would change
finished shots is refused by name and nothing is touched; shots marked redo are modelled again, once."""
import os
import shutil
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from minisurvey import contents, differences, make, run, statuses

OWN = {"parameters", "history", "grown", "grown_from"}       # attributes that tell how a file came to be; the first has its name
CABLE = "spread cable streamer first=50 interval=21.7 channels=20 depth=17.3\n"
WIDE = "spread wide streamer first=50 interval=21.7 channels=25 depth=17.3\n"


def keymap(text, name="line.keymap"):
    Path(name).write_text(text)


def lines(n, first=101, x0=600.0, dx=2.0):
    return f"shots first_record={first} n={n} x0={x0} dx={dx} z=13.1 spread=cable\n"


def events(output, event):
    return [int(line.split()[2]) for line in Path(output + ".journal").read_text().splitlines() if line.split()[1] == event]


def bytes_of(*paths):
    return [Path(p).read_bytes() for p in paths]


def same_as_once(output, once="once.nc"):
    """What differs from the file of one run at once."""
    a, b = contents(once)[1], contents(output)[1]
    return differences(once, output) + [k for k in sorted({*a, *b} - OWN) if str(a.get(k)) != str(b.get(k))]


# --- twelve of 200 -------------------------------------------------------------------------------------------------------
make(tmax=0.05, npml=8, aperture=60)
INFILL = range(5, 197, 16)                                                      # between the others, twelve of them
every = [f"shot {2 * i} {600 + i} 13.1 cable\n" for i in range(1, 201)]
keymap(CABLE + "".join(line for i, line in enumerate(every) if i not in INFILL))
r = run("par=job.par")
claim(r.returncode == 0 and len(statuses("out.nc")) == 188, f"188 shots: exit status {r.returncode} {r.stderr[-200:]}")
keymap(CABLE + "".join(every))
plan = run("plan", "par=job.par").stdout
claim("188 of 200 shots are finished and kept, 12 are added" in plan, "plan tells that 188 are kept and 12 added")
plan = run("plan", "par=job.par", "tmax=0.06")
claim(plan.returncode == 0 and "of other parameters, or of another model, and a run refuses to go on with it: give overwrite=y" in plan.stdout,
      "plan tells of an output that a run of other parameters would refuse")
claim("refuses" not in run("plan", "par=job.par", "tmax=0.06", "overwrite=y").stdout, "and not where it may be replaced")
before = {event: len(events("out.nc", event)) for event in ("deal", "done")}
r = run("par=job.par", ranks=3)
dealt, modelled = (events("out.nc", event)[before[event]:] for event in ("deal", "done"))    # an idle worker may take a shot over
added = [2 * (i + 1) for i in INFILL]
claim(r.returncode == 0 and sorted(modelled) == added and sorted(set(dealt)) == added, f"twelve shots added to 188: {len(modelled)} are modelled, "
      f"exit status {r.returncode}")
run("par=job.par", "output=once.nc")
wrong = same_as_once("out.nc")
claim(not wrong and statuses("out.nc") == [1] * 200, f"the file is that of one run at once {wrong}")
status = run("status", "output=out.nc").stdout
claim("200 of 200 shots done" in status and "grown 1 time(s), last from 188 to 200 shots" in status, "status tells of it")
history = contents("out.nc")[1]["history"]
claim("grown from 188 to 200 shots, 188 finished ones taken over" in history, f"so does the file: {history}")
files = bytes_of("out.nc")
r = run("par=job.par")
claim(r.returncode == 0 and "shots to do: 0 of 200" in r.stderr and bytes_of("out.nc") == files, "again: nothing is left to do")

# --- a longer cable, a longer line, a record before all others --------------------------------------------------------------
for name in ("out.nc", "once.nc"):
    for p in Path(".").glob(name + "*"):
        p.unlink()
keymap(CABLE + lines(4))
run("par=job.par")
LONGER = CABLE + WIDE + lines(6) + "shot 7 590 13.1 wide\n"
keymap(LONGER)
r = run("par=job.par")
run("par=job.par", "output=once.nc")
wrong = same_as_once("out.nc")
claim(r.returncode == 0 and not wrong and sorted(events("out.nc", "kept")) == [101, 102, 103, 104],
      f"a longer line, and a longer cable that moves every slot: that of one run at once {wrong}")

# --- what would change finished shots --------------------------------------------------------------------------------------
files = bytes_of("out.nc", "out.nc.journal")
for title, text, words in (
        ("a source moved", LONGER.replace("590", "591"), ["shot record 7 is finished", "source x 590 m, which is 591 m", "redo"]),
        ("a receiver less", LONGER.replace("channels=25", "channels=24"), ["record 7", "25 receivers, which are 24"]),
        ("receivers lower", LONGER.replace("depth=17.3\n", "depth=17.4\n", 1), ["6 faults", "record 101", "z of channel 1 17.3 m"]),
        ("a shot skipped", LONGER + "skip 103\n", ["shot record 103 is finished", "is not to be modelled", "spl-split"]),
        ("shots left out, others added", LONGER.replace("n=6", "n=5") + "shot 9 600 13 cable\n", ["record 106 is finished"]),
        ("a source 2 um off", LONGER.replace("590", "590.000002"), ["record 7"])):
    keymap(text)
    r, p = run("par=job.par"), run("plan", "par=job.par")
    lacks = [w for w in words if w not in r.stderr or w not in p.stderr]
    claim(r.returncode == 1 and p.returncode == 1 and not lacks and bytes_of("out.nc", "out.nc.journal") == files,
          f"{title}: refused by run and plan, nothing is touched: {r.stderr.strip()[:150]} {lacks}")
keymap(LONGER)
r = run("par=job.par", "fpeak=13")
claim(r.returncode == 1 and "other here: parameters (fpeak" in r.stderr, "another parameter is another job")

# --- the same in other words -------------------------------------------------------------------------------------------------
keymap("# the same\n" + CABLE + WIDE + "shot 7 590 13.1 wide\n"
       + "".join(f"shot {101 + i} {600 + 2 * i + 1e-9 * i:.9f} 13.1 cable\n" for i in range(6)))
r = run("par=job.par")
claim(r.returncode == 0 and "left as it is" in r.stderr and "shots to do: 0" in r.stderr and bytes_of("out.nc") == files[:1],
      "positions within a nanometre are the same: the file is left as it is")

# --- redo ----------------------------------------------------------------------------------------------------------------------
keymap(LONGER + "skip 7 101-102 105-106\n")
run("par=job.par", "output=snap.nc", "snapshot=0.02", "snapshot_shots=103,104")
for record in (103, 104):
    shutil.copy(f"snap.nc.snap{record}.nc", f"out.nc.snap{record}.nc")
keymap(LONGER + "redo 102-103\n")
plan = run("plan", "par=job.par").stdout
claim("5 of 7 shots are finished and kept, 2 are modelled again" in plan, "plan tells of shots to redo")
before = len(events("out.nc", "deal"))
r = run("par=job.par")
claim(r.returncode == 0 and sorted(events("out.nc", "deal")[before:]) == [102, 103] and not same_as_once("out.nc"),
      f"two shots marked redo are modelled again: {events('out.nc', 'deal')[before:]}")
claim(not os.path.exists("out.nc.snap103.nc") and os.path.exists("out.nc.snap104.nc"), "their old snapshots go, others stay")
r = run("par=job.par")
claim("shots to do: 0" in r.stderr and "2 shots were modelled again already" in r.stderr and "'redo 102'" in r.stderr,
      "and not once more by the same command, which says how they would be")
keymap(LONGER + "redo 102-103\nredo 103\n")
before = len(events("out.nc", "deal"))
run("par=job.par")
claim(events("out.nc", "deal")[before:] == [103], "a further line models one of them once more")
MOVED = LONGER.replace("shot 7 590 13.1 wide", "shot 7 592 13.1 wide redo") + "redo 102-103\nredo 103\n"
keymap(MOVED)
before = len(events("out.nc", "deal"))
r = run("par=job.par")
for p in Path(".").glob("once.nc*"):
    p.unlink()
run("par=job.par", "output=once.nc")
wrong = same_as_once("out.nc")
claim(r.returncode == 0 and events("out.nc", "deal")[before:] == [7] and not wrong, f"a shot moved and marked redo is modelled anew {wrong}")
keymap(MOVED.replace("592", "593"))
r = run("par=job.par")
claim(r.returncode == 1 and "record 7 is finished" in r.stderr, "moved again under the same redo it is refused")

# --- a damaged gather is not taken over; links are not replaced ---------------------------------------------------------------
keymap(MOVED + "shot 500 640 13.1 cable\n")
with Dataset("out.nc") as ds:
    raw = np.asarray(ds["pressure"][3, :3], ">f4").tobytes()
data = bytearray(Path("out.nc").read_bytes())
data[data.index(raw) + 5] ^= 4
Path("out.nc").write_bytes(data)
before = len(events("out.nc", "deal"))
os.rename("out.nc", "real.nc")
os.symlink("real.nc", "out.nc")
r = run("par=job.par")
claim(r.returncode == 1 and "is a link" in r.stderr and Path("real.nc").read_bytes() == data, f"an output that is a link stays: {r.stderr[:200]}")
os.replace("real.nc", "out.nc")
r = run("par=job.par")
run("par=job.par", "output=once2.nc")
wrong = same_as_once("out.nc", "once2.nc")
claim(r.returncode == 0 and "damaged" in r.stderr and sorted(events("out.nc", "deal")[before:]) == [103, 500] and not wrong,
      f"a damaged gather is named and modelled again {events('out.nc', 'deal')[before:]} {wrong}")
done()
