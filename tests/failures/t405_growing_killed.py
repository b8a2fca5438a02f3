#!/usr/bin/env python3
"""Killed before any write, sync or renaming while it grows, a survey loses no finished shot: the same command makes the file of one
run at once and models only what was never committed, and the command of before goes on with what there was."""
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

from badfs import BadFs
from check import ALL, PATIENCE, claim, done, given_seed, unsanitized
from jobs import line_with, wait_until
from minisurvey import command, differences, make, run, write_keymap
from shims import preload, shim
from spltools.gathers.gathers import Gathers
from spltools.report.standing import Standing

unsanitized()
seed = given_seed()
rng = random.Random(seed)
make(shots=3, tmax=0.05, npml=8, aperture=60)
write_keymap(3, dx=5)
before = Path("line.keymap").read_text()
run("par=job.par", "output=before.nc")
after = before + "spread wide streamer first=50 interval=21.7 channels=24 depth=17.3\nshot 7 590 13.1 wide\nshot 200 650 13.1 cable\n"
Path("line.keymap").write_text(after)
run("par=job.par", "output=whole.nc")
bad = BadFs()
hit = Path(f"{bad.control}.hit")


def start(name):
    for end in ("", ".journal"):
        shutil.copy("before.nc" + end, name + end)


def whole(name):
    """Finished shots that read whole."""
    file = Gathers(name)
    return {int(file.record[slot]) for slot in range(file.nshots) if not file.fault(slot)}


def dealt(name):
    return [int(line.split()[2]) for line in Path(name + ".journal").read_text().splitlines() if line.split()[1] == "deal"]


wrong, kills, n, steps = [], 0, 1, 0
while n < 5000:
    name = f"one{n}.nc"
    start(name)
    hit.unlink(missing_ok=True)
    bad.say(f"die {n}")
    first = run("par=job.par", f"output={name}", env=bad.env)
    if not hit.exists():
        break
    kills += 1
    kept = whole(name) >= {101, 102, 103}
    twice = rng.random() < 0.3
    if twice:                                           # and its next run too
        bad.say(f"die {rng.randrange(1, 40)}")
        run("par=job.par", f"output={name}", env=bad.env)
        kept = kept and whole(name) >= {101, 102, 103}
    bad.say("")
    back = rng.random() < 0.25 and not whole(name) & {7, 200}
    if back:                                            # the key-map of before: the new shots, unfinished, are dropped again
        Path("line.keymap").write_text(before)
        r = run("par=job.par", f"output={name}")
        kept = kept and r.returncode == 0 and "shots to do: 0 of 3" in r.stderr and differences("before.nc", name) == []
        Path("line.keymap").write_text(after)
    r = run("par=job.par", f"output={name}")
    left = {p.name for p in Path(".").glob(name + "*")} - {name + end for end in ("", ".journal", ".log", ".par")}
    if not kept or first.returncode != -9 or r.returncode != 0 or differences("whole.nc", name) or "modelled again" in r.stderr \
            or {101, 102, 103} & set(dealt(name)[3:]) or left:
        wrong.append((n, twice, back, kept, first.returncode, r.returncode, left, r.stderr.strip()[-200:]))
    for p in Path(".").glob(name + "*"):
        p.unlink()
    n += 1 if ALL else rng.randrange(4, 12)
claim(kills > 4 and not wrong, f"killed before step {n} at the latest, {kills} places, seed {seed}: the finished shots are there at once, "
      f"are never modelled again, and the file is that of one run {wrong[:2] if wrong else ''}")

# Every write that fails on the way leaves the old files as they were, or the new ones whole.
wrong, n = [], 1
while n < 5000:
    start("nth.nc")
    hit.unlink(missing_ok=True)
    bad.say(f"nth {n}")
    first = run("par=job.par", "output=nth.nc", env=bad.env)
    if not hit.exists():
        break
    bad.say("")
    if whole("nth.nc") < {101, 102, 103}:
        wrong.append((n, first.stderr[-200:]))
    r = run("par=job.par", "output=nth.nc")
    if r.returncode or differences("whole.nc", "nth.nc") or {101, 102, 103} & set(dealt("nth.nc")[3:]):
        wrong.append((n, r.stderr[-200:]))
    n += 1 if ALL else rng.randrange(8, 20)
bad.say("")
claim(n > 10 and not wrong, f"a write that fails, up to the {n}th: nothing is lost {wrong[:2] if wrong else ''}")

# One that sleeps as it begins to grow, while another takes the output over, does all there is to do and ends, replaces nothing of it. There
# are twice as many shots then: their slots are in pieces as large as before.
Path("line.keymap").write_text(after + "shot 300 640 13.1 cable\n")
run("par=job.par", "output=whole6.nc")
here, lock, log = Path("here").resolve(), Path("slept.nc.lock"), Path("slept.err")


def sleeper(name, place):
    """A job, and whether it stands still at a place: see wait.c."""
    p = subprocess.Popen(command("par=job.par", f"output={name}"), stdin=subprocess.DEVNULL, stderr=log.open("w"),
                         env=preload(os.environ, {"LD_PRELOAD": shim("wait"), "WAIT_HERE": str(here), **place}))
    return p, wait_until(here.exists, process=p)


start("slept.nc")
first, began = sleeper("slept.nc", {"WAIT_AT": ".half"})
told = run("status", "output=slept.nc").stdout
claim(f"process {first.pid}" in told and "complete" not in told and Standing("slept.nc").running,
      f"while it grows, status says that it runs, and so do the tools: {told.strip()}")
gone = subprocess.Popen(["true"])
gone.wait()
lock.write_text(re.sub(r" pid=\d+", f" pid={gone.pid}", lock.read_text()))     # so that the other need not wait for its silence
r = run("par=job.par", "output=slept.nc")
left = [Path("slept.nc" + end).read_bytes() for end in ("", ".journal")]
here.unlink()
status = first.wait(timeout=PATIENCE)
same = left == [Path("slept.nc" + end).read_bytes() for end in ("", ".journal")]
claim(began and r.returncode == 0 and status == 1 and same and not differences("whole6.nc", "slept.nc") and not lock.exists(),
      f"one that slept as it began to grow, until another had done all: exit statuses {r.returncode} and {status}, must be 0 and 1; output and "
      f"journal {'stay' if same else 'do not stay'}: {line_with('another run', log.read_text())}")

# The same of one that sleeps when its output has grown, as it makes the journal that follows, or when that is there: no line of it is
# lost, or comes twice.
for place, began_at in ({"WAIT_RENAMED": "slept.nc"}, "it had grown"), ({"WAIT_AT": "slept.nc.journal."}, "its journal was to follow"), \
        ({"WAIT_RENAMED": "slept.nc.journal"}, "its journal had followed"):
    start("slept.nc")
    first, began = sleeper("slept.nc", place)
    told = run("status", "output=slept.nc").stdout
    lock.write_text(re.sub(r" pid=\d+", f" pid={gone.pid}", lock.read_text()))
    dead = run("status", "output=slept.nc").stdout
    claim(f"process {first.pid}" in told and ", killed" in dead and "complete" not in told + dead,
          f"when {began_at}, status says that it runs: {told.strip()}; and that it was killed, once its process is gone: {dead.strip()}")
    r = run("par=job.par", "output=slept.nc")
    left = [Path("slept.nc" + end).read_bytes() for end in ("", ".journal")]
    here.unlink()
    status = first.wait(timeout=PATIENCE)
    now = [Path("slept.nc" + end).read_bytes() for end in ("", ".journal")]
    again = run("par=job.par", "output=slept.nc")
    claim(began and r.returncode == 0 and again.returncode == 0 and now[0] == left[0] and now[1].startswith(left[1])
          and now[1].count(b" grow ") == 1 and "to do: 0 of 6" in again.stderr and not lock.exists(),
          f"one that slept as {began_at}: exit statuses {r.returncode}, {status}, and run again {again.returncode}, the journal "
          f"{'stays' if now[1].startswith(left[1]) else 'does not stay'}, {now[1].count(b' grow ')} line(s) grow: {again.stderr.strip()[:200]}")

# A survey that has grown before it had done any shot, and whose output is gone, begins anew, and goes on after that like any other.
for text, removed in ((before, False), (after, True), (after, False)):
    Path("line.keymap").write_text(text)
    p, began = sleeper("lost.nc", {"WAIT_AT": "lost.nc.log"})
    p.kill()
    p.wait()
    here.unlink(missing_ok=True)
    if removed:
        os.remove("lost.nc")
r = run("par=job.par", "output=lost.nc")
claim(began and " grow " in Path("lost.nc.journal").read_text() and r.returncode == 0 and not differences("whole.nc", "lost.nc"),
      f"one that has grown and lost its output with nothing in it: exit status {r.returncode}"
      + (f" {r.stderr.strip()[-200:]}" if r.returncode else ""))
done()
