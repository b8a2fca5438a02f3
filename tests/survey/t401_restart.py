#!/usr/bin/env python3
"""Stopped after any shot and run again, the file is the undisturbed one; finished output is never overwritten unasked."""
import glob
import os
import re
import signal
import subprocess
import time

import numpy as np
from netCDF4 import Dataset

from check import PATIENCE, claim, done
from jobs import Gate, slow_machine, wait_until
from minisurvey import command, differences, make, run, statuses, write_keymap
from shims import preload

SHOTS = 24          # of a third of a second on a slow machine: they must not all be done when a kill comes
make()
write_keymap(SHOTS, dx=400.0 / SHOTS)
r = run("par=job.par", "output=whole.nc")
claim(r.returncode == 0, f"undisturbed run: exit status {r.returncode}")


def finished(path):
    try:
        return statuses(path).count(1)
    except OSError:
        return 0


def stop_after(n, ranks, how, output, *words, env=None):
    """Starts the job, waits for n shots in the journal, stops it as `how` says; its exit status."""
    p = subprocess.Popen(command("par=job.par", f"output={output}", *words, ranks=ranks), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         start_new_session=True, env=preload(os.environ, slow_machine(), env or {}))
    wait_until(lambda: os.path.exists(output + ".journal") and open(output + ".journal").read().count(" done ") >= n, process=p)
    how(p)
    return p.wait(timeout=PATIENCE)


def stop_next(n, how):
    """The same for another shot than n done already; a second one is not done before it is asked to stop."""
    gate = Gate("soft", 1.5)
    return stop_after(n + 1, 1, lambda p: (how(p), gate.open()), "soft.nc", env=gate.env)


def ranks_of(output):
    """Processes of the job with this output in this folder: mpirun gives each rank a process group of its own."""
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            words = open(folder + "/cmdline", "rb").read().split(b"\0")
            if f"output={output}".encode() in words and os.readlink(folder + "/cwd") == os.getcwd():
                yield int(os.path.basename(folder))
        except OSError:
            continue


def kill(p):
    """Everything at once, ranks too; back when the last one is gone."""
    output = next(word for word in p.args if word.startswith("output=")).partition("=")[2]
    os.killpg(p.pid, signal.SIGKILL)
    limit = time.time() + PATIENCE
    while time.time() < limit and (left := [pid for pid in ranks_of(output) if pid != p.pid]):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def numbers(text):
    """Those of '101-103, 107'."""
    ends = [part.split("-") for part in text.split(", ")]
    return [n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)]


def stop_file(p):
    open("soft.nc.stop", "w").close()


for n in range(0, 8, 2):
    name = f"cut{n}.nc"
    stop_after(n, 1 if n % 4 == 0 else 3, kill, name)
    left = SHOTS - finished(name)
    r = run("par=job.par", f"output={name}", ranks=1 if n % 4 else 3)
    claim(r.returncode == 0 and differences("whole.nc", name) == [],
          f"killed after {n} shots or more ({left} left) and run again: the same file, exit status {r.returncode}")

status = stop_next(0, stop_file)
n = finished("soft.nc")
claim(status == 3 and 1 <= n < SHOTS, f"stop file: exit status {status}, must be 3; {n} shots done")
os.remove("soft.nc.stop")
status = stop_next(n, lambda p: p.send_signal(signal.SIGTERM))
claim(status == 3, f"SIGTERM: exit status {status}, must be 3; {finished('soft.nc')} shots done")
r = run("par=job.par", "output=soft.nc")
claim(r.returncode == 0 and differences("whole.nc", "soft.nc") == [], "run again: the undisturbed file")

# Another variant than the one an output was begun with: what each has done is told, and noted.
stop_after(3, 1, kill, "mixed.nc", "variant=fortran")
before = finished("mixed.nc")
again = run("par=job.par", "output=mixed.nc", "variant=fortran", "deadline=0.001")
r = run("par=job.par", "output=mixed.nc", "variant=cpu")
told = re.search(r"warning: done with variant fortran by earlier runs: (\d+) shots \(([-0-9, ]+)\); the (\d+) left are modelled with cpu", r.stderr)
with Dataset("mixed.nc") as ds, Dataset("whole.nc") as whole:
    by = np.array([b"".join(v).decode().rstrip("\0") for v in ds["variant"][...].filled(b"")])
    off = float(np.max(np.abs(ds["pressure"][...] - whole["pressure"][...]))/np.max(np.abs(whole["pressure"][...])))
records = [100 + i + 1 for i in np.flatnonzero(by == "fortran")]
claim(r.returncode == 0 and told and numbers(told[2]) == records and int(told[3]) == SHOTS - len(records) == np.sum(by == "cpu") and off < 1e-5,
      f"begun with variant=fortran ({before} shots), gone on with cpu: {told[0] if told else r.stderr[-300:]}; traces are {off:.1e} off")
notes = [re.search(r"variant=(\S+)", line)[1] for line in open("mixed.nc.journal").read().splitlines() if line.split()[1] == "start"]
claim(notes == ["fortran", "fortran", "cpu"], f"the journal has the variant of each run: {notes}")
r = run("par=job.par", "output=mixed.nc", "variant=fortran")
claim("done with variant" not in again.stderr + r.stderr, "nothing is told where the variant is the same, or no shot is left")

# A damaged shot is found and modelled anew.
with open("soft.nc", "r+b") as f:
    f.seek(-5000, 2)
    byte = f.read(1)
    f.seek(-5000, 2)
    f.write(bytes([byte[0] ^ 64]))
r = run("par=job.par", "output=soft.nc")
claim(r.returncode == 0 and "damaged" in r.stderr and differences("whole.nc", "soft.nc") == [],
      "a flipped bit in a finished gather: named, and the shot modelled again")

# Sines and exponentials differ in their last bits from one kind of processor to the other; the job is the same.
r = run("par=job.par", "output=ormsby.nc", "wavelet=ormsby")
claim(r.returncode == 0, "another wavelet, another output")
r = run("par=job.par", "output=ormsby.nc", "wavelet=ormsby", env={"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"})
claim(r.returncode == 0 and "shots to do: 0" in r.stdout + r.stderr, f"a processor without FMA goes on with it {r.stderr.strip()[-200:]}")

# Killed between the first line of its journal and its output, a run has begun nothing that another job could spoil.
lines = open("whole.nc.journal", "rb").read().splitlines(True)
for n in 1, 2:
    open(f"begun{n}.nc.journal", "wb").write(b"".join(lines[:n]))
    r = run("par=job.par", f"output=begun{n}.nc", "fpeak=13", f"deadline={0.001 if n == 1 else 0}")
    claim(r.returncode == (3 if n == 1 else 1) and ("other here: parameters" in r.stderr) == (n == 2),
          f"a journal of {n} lines without its output, and another wavelet: exit status {r.returncode} {r.stderr.strip()[-120:] if n == 2 else ''}")

# Files that the user has are not lost.
before = open("soft.nc", "rb").read()
r = run("par=job.par", "output=soft.nc", "fpeak=13")
claim(r.returncode == 1 and "overwrite=y" in r.stderr and open("soft.nc", "rb").read() == before,
      "another wavelet on the same output is refused and nothing is touched: " + r.stderr.strip().splitlines()[0][:160])
claim("other here: parameters (fpeak = 13, was" in r.stderr, "what is other is told: " + r.stderr.strip()[-80:])
r = run("par=job.par", "output=soft.nc", "fpeak=13", "forecast=0.25", "lease=77")
claim("(fpeak = 13, was" in r.stderr and "forecast" not in r.stderr and "lease" not in r.stderr,
      "but not what changes no trace: " + r.stderr.strip()[-80:])
os.rename("soft.nc.journal", "away")
r = run("par=job.par", "output=soft.nc")
claim(r.returncode == 1 and open("soft.nc", "rb").read() == before, "an output without its journal is refused: " + r.stderr.strip()[:160])
open("soft.nc.journal", "w").close()
r = run("par=job.par", "output=soft.nc")
claim(r.returncode == 1 and "journal 'soft.nc.journal' is empty" in r.stderr and open("soft.nc", "rb").read() == before
      and os.path.getsize("soft.nc.journal") == 0, "so is one whose journal was emptied: " + r.stderr.strip()[:160])
lines = [line for line in open("away", "rb").read().splitlines(True) if b" done " not in line or line.split()[2] == b"101"]
open("soft.nc.journal", "wb").write(b"".join(lines))
r = run("par=job.par", "output=soft.nc")
told = re.search(r"warning: (\d+) shots are done by 'soft.nc', not by its journal, which was cut", r.stderr)
claim(r.returncode == 0 and told and differences("whole.nc", "soft.nc") == [],
      f"a journal that lacks shots of its output: exit status {r.returncode}, {told[1] if told else 'no'} shots are told and modelled again")

# A run that is killed between output and journal leaves shots that only the output calls done: no journal was cut, also if the next run ends before
# it has modelled them.
lines = open("soft.nc.journal", "rb").read().splitlines(True)
last = max(i for i, line in enumerate(lines) if b" start " in line)
torn = [line.split()[2] for line in lines[last:] if b" done " in line][:2]
kept = [line for line in lines[last:] if b" stop " not in line and not (b" done " in line and line.split()[2] in torn)]
open("soft.nc.journal", "wb").write(b"".join(lines[:last] + kept))
said = [run("par=job.par", "output=soft.nc", "deadline=0.001") for _ in range(2)] + [run("par=job.par", "output=soft.nc")]
claim(len(torn) == 2 and [r.returncode for r in said] == [3, 3, 0] and not any("not by its journal" in r.stderr for r in said)
      and differences("whole.nc", "soft.nc") == [], f"shots {torn} in flight at a kill: exit status {[r.returncode for r in said]}, modelled "
      f"again without a word of a cut journal: {[line for r in said for line in r.stderr.splitlines() if 'warning' in line]}")
r = run("par=job.par", "output=soft.nc", "overwrite=y", "fpeak=13")
claim(r.returncode == 0 and differences("whole.nc", "soft.nc") != [], "overwrite=y starts anew")
done()
