#!/usr/bin/env python3
"""spl-merge and spl-split: two half surveys merged equal one, and the program goes on with them; the parts of a file merged are that
file, byte for byte in all variables; what is not of one survey, or differs, or is damaged is refused by name."""
import fcntl
import os
import shutil
import signal
import sys
import zlib
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

sys.path[:0] = [os.path.join(os.environ["ROOT"], "tests", room) for room in ("survey",)]
from check import claim, done  # noqa: E402
from minisurvey import make, run, statuses  # noqa: E402
from toolrun import Tool  # noqa: E402
from spltools.gathers import cdf5, merge as mergemodule, slots, split as splitmodule  # noqa: E402
from spltools.gathers.gathers import Gathers  # noqa: E402

merge, split = Tool("spl-merge", "bad.nc"), Tool("spl-split", "bad.nc")
OWN = {"parameters", "history", "fingerprint", "keymap_hash", "split_from", "split_shots", "grown", "grown_from"}
SUMS = {"header_bytes", "header_crc32"}
TIMES = SUMS | {"seconds", "finished", "run_checksum", "device"}


def differ(a, b, but=TIMES, attributes=OWN):
    """Variables and attributes that differ, read by the NetCDF library."""
    wrong = []
    with Dataset(a) as one, Dataset(b) as two:
        for ds in (one, two):
            ds.set_auto_mask(False)
        wrong += sorted({*one.variables} ^ {*two.variables})
        for name in {*one.variables} & {*two.variables}:
            v, w = one[name], two[name]
            if name not in but and (v.shape != w.shape or v[...].tobytes() != w[...].tobytes()):
                wrong.append(name)
            wrong += [f"{name}:{k}" for k in {*v.ncattrs(), *w.ncattrs()} if str(v.__dict__.get(k)) != str(w.__dict__.get(k))]
        wrong += [k for k in {*one.ncattrs(), *two.ncattrs()} - attributes if str(one.__dict__.get(k)) != str(two.__dict__.get(k))]
        if list(one.variables) != list(two.variables):
            wrong.append("order of variables")
    return sorted(wrong)


def dealt(output):
    return [int(line.split()[2]) for line in Path(output + ".journal").read_text().splitlines() if line.split()[1] == "deal"]


CABLE = "spread cable streamer first=50 interval=21.7 channels=20 depth=17.3\nspread wide streamer first=50 interval=21.7 channels=24 depth=17.3\n"
LINE = CABLE + "shots first_record=101 n=6 x0=600 dx=5 z=13.1 spread=cable\nshot 7 590 13.1 wide\n"
make(tmax=0.1, npml=8, aperture=60)
Path("line.keymap").write_text(LINE)
Path("north.keymap").write_text(LINE + "skip 7 104-106\n")
Path("south.keymap").write_text(LINE + "skip 101-103 106\n")
r = [run("par=job.par", f"output={name}.nc", *([f"keymap={name}.keymap"] if name != "whole" else [])) for name in ("whole", "north", "south")]
claim(all(x.returncode == 0 for x in r), "a survey, and two parts of it at two sites")

inputs = [Path(p).read_bytes() for p in ("whole.nc", "north.nc", "south.nc")]

# --- joined ----------------------------------------------------------------------------------------------------------------
told = merge.fine("two parts are joined", "north.nc", "south.nc", "-o", "both.nc")
claim("6 shots of 2 files, 6 done, 0 to do" in told and Gathers("both.nc").chosen()[1] == [], f"all six read whole: {told.strip()}")
status = run("status", "output=both.nc").stdout
claim("6 of 6 shots done" in status and "complete" in status, f"status believes it: {status.strip()}")
r = run("par=job.par", "output=both.nc")
wrong = differ("whole.nc", "both.nc")
claim(r.returncode == 0 and dealt("both.nc") == [106] and not wrong,
      f"the program goes on with it, models the one shot that nobody had ({dealt('both.nc')}), and the file is that of one run {wrong}")
Path("rest.keymap").write_text(LINE + "skip 7 101-105\n")
run("par=job.par", "output=rest.nc", "keymap=rest.keymap")
inputs.append(Path("rest.nc").read_bytes())
os.remove("south.nc.journal")
merge.fine("three parts, one without its journal", "rest.nc", "north.nc", "south.nc", "-o", "three.nc")
wrong = differ("whole.nc", "three.nc")
claim(not wrong, f"two half surveys merged equal one {wrong}")
shutil.copy("north.nc", "twin.nc")
os.rename("north.nc.journal", "away")
merge.fine("an output whose journal is lost with a copy of itself", "north.nc", "twin.nc", "-o", "kept.nc")
os.rename("away", "north.nc.journal")
r = run("par=job.par", "output=kept.nc", "keymap=north.keymap")
claim(r.returncode == 0 and dealt("kept.nc") == [] and not differ("north.nc", "kept.nc"), "it has a journal again, and all its shots")
before = Path("three.nc").read_bytes()
r = run("par=job.par", "output=three.nc")
claim(r.returncode == 0 and "shots to do: 0 of 7" in r.stderr and Path("three.nc").read_bytes() == before, "and the program leaves it as it is")
run("par=job.par", "output=reference.nc", "keymap=rest.keymap", "variant=fortran")
told += merge.fine("two parts by two variants", "north.nc", "reference.nc", "-o", "mixed.nc")
claim(told.count("shots are by cpu, fortran") == 1 and "variants cpu, fortran" in Dataset("mixed.nc").history,
      f"are told as such, once joined and in the history: {told.strip().splitlines()[-1]}")

# --- split and joined again --------------------------------------------------------------------------------------------------
split.fine("a survey is split into three", "whole.nc", "--parts", 3, "-o", "part.nc")
claim([list(Gathers(f"part{i}.nc").record) for i in (1, 2, 3)] == [[7, 101, 102], [103, 104], [105, 106]], "all shots, as many in each")
merge.fine("and joined in any order", "part2.nc", "part3.nc", "part1.nc", "-o", "again.nc")
wrong = differ("whole.nc", "again.nc", SUMS, {"history"})
claim(not wrong, f"every byte of every variable and attribute is back, the history grown {wrong}")
r = run("par=job.par", "output=again.nc")
claim(r.returncode == 0 and "shots to do: 0 of 7" in r.stderr and "left as it is" not in r.stderr, "the key-map's fingerprint too")
split.fine("records are chosen", "whole.nc", "--records", "101-106:2,7", "-o", "odd.nc")
split.fine("or left out", "whole.nc", "--without", "101-106:2,7", "-o", "even.nc")
claim([list(Gathers(n).record) for n in ("odd.nc", "even.nc")] == [[7, 101, 103, 105], [102, 104, 106]], "they are those")
slots.BLOCK = 3000                                         # less than a gather: some receivers at a time
one = slots.Input("whole.nc")
some = slots.Output("some.nc", one, [103, 104], [(one, 3), (one, 4)])
some.name("0" * 16)
slots.write([some])
slots.BLOCK = 64 << 20
split.fine("the same two shots", "whole.nc", "--records", "103,104", "-o", "same.nc")
wrong = differ("some.nc", "same.nc", SUMS)
claim(not wrong and not Gathers("some.nc").fault(0), f"a gather that is written in pieces is the same {wrong}")

# --- unfinished shots, redo ------------------------------------------------------------------------------------------------------
shutil.copy("north.nc", "half.nc")
lines = Path("north.nc.journal").read_text().splitlines(True)
event = [line for line in lines if " done 102 " in line][0][9:].replace("done 102", "todo 102").rstrip("\n")
redone = [line for line in lines if " done 101 " in line][0][9:].rstrip("\n").rstrip() + " redo=2"
Path("half.nc.journal").write_text("".join([*lines, *(f"{zlib.crc32(x.encode()):08x} {x}\n" for x in (event, redone))]))
told = merge.fine("a shot that its journal calls damaged", "half.nc", "rest.nc", "-o", "todo.nc")
claim("4 shots of 2 files, 3 done, 1 to do" in told and "checksum=" in Path("todo.nc.journal").read_text()
      and Path("todo.nc.journal").read_text().count("redo=2") == 1, "is to do again, and how often a shot was asked for again is kept")
status = run("status", "output=todo.nc").stdout
claim("3 of 4 shots done, 0 parked, 1 left" in status and "1 shot(s) are to do" in status, f"status says so: {status.strip()}")
Path("todo.keymap").write_text(LINE + "skip 7 104-105\nredo 101\nredo 101\n")
r = run("par=job.par", "output=todo.nc", "keymap=todo.keymap")
claim(r.returncode == 0 and dealt("todo.nc") == [102] and statuses("todo.nc") == [1] * 4, f"a run models that one alone {dealt('todo.nc')}")

# --- lines of navigation in another order -------------------------------------------------------------------------------------------
MAP = CABLE + "navigation crs=EPSG:32618 e0=400000 n0=5000000 azimuth=90\n"
first, second = "shot 1 600 13 cable point=5 line=A\n", "shot 2 610 13 cable point=6 line=B\n"
Path("line.keymap").write_text(MAP + first + second)
run("par=job.par", "output=ab.nc")
Path("line.keymap").write_text(MAP + first + second + "skip 2\n")
run("par=job.par", "output=a.nc")
Path("line.keymap").write_text(MAP + second)
run("par=job.par", "output=b.nc")
merge.fine("two lines, each the first of its file", "a.nc", "b.nc", "-o", "lines.nc")
wrong = differ("ab.nc", "lines.nc", attributes=OWN | {"navigation_hash"})
claim(not wrong, f"are numbered as in one run {wrong}")
Path("line.keymap").write_text(MAP + first + second)
before = Path("lines.nc").read_bytes()
r = run("par=job.par", "output=lines.nc")
claim(r.returncode == 0 and "shots to do: 0" in r.stderr and Path("lines.nc").read_bytes() == before,
      f"and the program knows it for that survey {r.stderr.strip()[-200:]}")

# --- killed -----------------------------------------------------------------------------------------------------------------------


def killed(module, name, n, *words):
    """A call that is killed before its n-th os.`name`; False if it had none so many."""
    pid = os.fork()
    if not pid:
        real, left = getattr(os, name), iter(range(n - 1))
        setattr(os, name, lambda *a, **k: real(*a, **k) if next(left, None) is not None else os.kill(os.getpid(), signal.SIGKILL))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        module.main(list(words))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) < 0


for module, tool, words, names in ((mergemodule, merge, ("north.nc", "rest.nc", "-o", "cut.nc"), ["cut"]),
                                   (splitmodule, split, ("whole.nc", "--parts", "3", "-o", "cut.nc"), ["cut1", "cut2", "cut3"])):
    wrong, kills, whole = [], 0, None
    for name in ("link", "unlink"):
        for n in range(1, 20):
            if not killed(module, name, n, *words):
                whole = [Gathers(f"{one}.nc").chosen()[0] for one in names]
                break
            kills += 1
            halves = [p.name for p in Path(".").glob(".*.tmp")]
            alone = [one for one in names if os.path.exists(f"{one}.nc") and not os.path.exists(f"{one}.nc.journal")]
            before = {p: p.read_bytes() for p in Path(".").glob("cut*.nc")}
            status, said = tool(*words)
            made = [one for one in names if Gathers(f"{one}.nc").chosen()[1] == [] and " exit=" in Path(f"{one}.nc.journal").read_text()]
            halves = [name for name in halves if os.path.exists(name)]
            if alone or halves or made != names or any(p.read_bytes() != text for p, text in before.items()) or status and len(before) < len(names):
                wrong.append((name, n, alone, made, status, said))
            for p in Path(".").glob("*cut*.nc*"):
                p.unlink()
        for p in Path(".").glob("*cut*.nc*"):
            p.unlink()
    claim(kills >= 4 * len(names) and whole and not wrong, f"{tool.path[-9:]} killed at {kills} places of its end: no file is without its journal, the same "
          f"command goes on, what it had made stays, what was not whole goes {wrong[:2]}")
killed(splitmodule, "link", 2, "whole.nc", "--without", "7", "-o", "bad.nc")
split.refused("bad.nc.journal lies there", "the journal that a kill left, for a call of other shots", "whole.nc", "--records", "7", "-o", "bad.nc")
for p in Path(".").glob("*bad.nc*"):
    p.unlink()

# --- refused -----------------------------------------------------------------------------------------------------------------------
Path("line.keymap").write_text(LINE)
run("par=job.par", "output=other.nc", "keymap=rest.keymap", "fpeak=13")
Path("shift.keymap").write_text(LINE.replace("590", "592") + "skip 101-106\n")
run("par=job.par", "output=shift.nc", "keymap=shift.keymap")
merge.refused("fpeak = 13 there, 12 here", "another parameter", "north.nc", "other.nc", "-o", "bad.nc")
merge.refused("shot record 7 is finished in whole.nc and in shift.nc with other source_x", "a shot at another place", "whole.nc", "shift.nc",
              "-o", "bad.nc")
merge.refused("only one of them has navigation", "navigation in one", "north.nc", "ab.nc", "-o", "bad.nc")
merge.refused("give two or more", "one file alone", "north.nc", "-o", "bad.nc")
merge.refused("both.nc exists already", "an output that is there", "north.nc", "south.nc", "-o", "both.nc")
Path("bad.nc.journal").write_text("")
merge.refused("bad.nc.journal lies there", "the journal of another output", "north.nc", "south.nc", "-o", "bad.nc")
os.remove("bad.nc.journal")
merge.refused("no file of gathers", "another file", "north.nc", "vp.raw", "-o", "bad.nc")
split.refused("has no shot record 300", "a record that is not there", "whole.nc", "--records", "300", "-o", "bad.nc")
split.refused("no shot of whole.nc is left", "all left out", "whole.nc", "--without", "1-200", "-o", "bad.nc")
split.refused("has 7 shots", "more parts than shots", "whole.nc", "--parts", 8, "-o", "bad.nc")
with Dataset("even.nc") as ds:
    raw = np.asarray(ds["pressure"][1, :2], ">f4").tobytes()
data = bytearray(Path("even.nc").read_bytes())
data[data.index(raw) + 2] ^= 8
Path("even.nc").write_bytes(data)
merge.refused("even.nc: shot record 104: damaged", "a damaged gather", "odd.nc", "even.nc", "-o", "bad.nc")
claim(not [p for p in Path(".").iterdir() if "bad.nc" in p.name], "nothing of a refused output stays")
journal = Path("north.nc.journal").read_text().splitlines(True)
Path("north.nc.journal").write_text("".join(line for line in journal if " stop " not in line))
with open("north.nc.journal") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
    merge.refused("a job is writing it", "an output in use", "north.nc", "south.nc", "-o", "bad.nc")
claim([Path(p).read_bytes() for p in ("whole.nc", "north.nc", "south.nc", "rest.nc")] == inputs, "the inputs are as they were")

# headers of any length: the library writes in blocks, and leaves some files longer than they are
lengths = []
for n in range(0, 24000, 1500):
    output = splitmodule.part(slots.Input("whole.nc"), f"long{n}.nc", [0, 2])
    output.attributes["comment"] = "x" * n
    slots.write([output])
    lengths.append(os.path.getsize(f"long{n}.nc") - cdf5.read_header(f"long{n}.nc").total)
claim(lengths == [0] * 16, f"comments of 0 to 22,500 characters: bytes behind the end that the header tells {lengths}")
done()
