#!/usr/bin/env python3
"""A long shot killed at any step goes on from its last state, on whatever rank: the file is the undisturbed one, bit for bit."""
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from check import ALL, PATIENCE, claim, done, given_seed
from minisurvey import SLOW, command, differences, make, run
from shims import shim

OFTEN = f"checkpoint={0.0004 * SLOW}"              # minutes: 24 ms
KILLS = 20 if ALL else 10
SEED = given_seed()
random.seed(SEED)
make(shots=1, tmax=12 / SLOW, dx=5, dz=5, components="p,vx,vz", snapshot=2.6 / SLOW, snapshot_step=4)
r = run("par=job.par", "output=whole.nc", "checkpoint=0")
claim(r.returncode == 0 and not os.path.exists("whole.nc.states"), f"undisturbed, checkpoint=0: exit status {r.returncode}, no states")
SNAP = next(str(p) for p in Path(".").glob("whole.nc.snap*"))


def states(output):
    folder = Path(output + ".states")
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def stamps(output):
    """Names and times of the states; none where the job has just removed their folder."""
    try:
        with os.scandir(output + ".states") as entries:
            return sorted((e.name, e.stat().st_mtime_ns) for e in entries if e.name.endswith(".state"))
    except FileNotFoundError:
        return []


def ended(pid):
    """True if a process is gone, or only waits to be asked how it ended."""
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def kill_all(p, output):
    """mpirun and its ranks, which have process groups of their own, at once; back when all are gone."""
    mine = [p.pid]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"output={output}".encode() in (folder / "cmdline").read_bytes().split(b"\0") and \
                    os.readlink(folder / "cwd") == os.getcwd():
                mine.append(int(folder.name))
        except OSError:
            continue
    for pid in mine:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    p.wait()
    limit = time.time() + PATIENCE
    while time.time() < limit and not all(ended(pid) for pid in mine[1:]):
        time.sleep(0.005)


def kill_amid(output, more, ranks=1, words=()):
    """Starts the job; when `more` states were written since, and a random moment later, kills it. False if the shot was done before."""
    with open(output + ".said", "a") as log:
        p = subprocess.Popen(command("par=job.par", f"output={output}", OFTEN, *words, ranks=ranks), stdin=subprocess.DEVNULL,
                             stderr=log, start_new_session=True)
        last, seen, limit = stamps(output), 0, time.time() + PATIENCE
        while seen < more and p.poll() is None and time.time() < limit:
            time.sleep(0.002)
            now = stamps(output)
            seen, last = seen + (now != last and now != []), now
        time.sleep(random.uniform(0, 0.05))
        kill_all(p, output)
    return " done " not in Path(output + ".journal").read_text()


def cut_short(output, more, **how):
    """The same of a shot from its start, tried until the kill comes before it is done."""
    for _ in range(8):
        if kill_amid(output, more, **how):
            return True
        shutil.rmtree(output + ".states", ignore_errors=True)
        for path in Path(".").glob(output + "*"):
            path.unlink()
    return False


# A shot that ends before enough kills is followed by another file with the same shot.
kills, steps, wrong, files = 0, [], [], 0
while kills < KILLS and files < 8:
    output = f"cut{files}.nc"
    files += 1
    own = 0
    while kills + own < KILLS and kill_amid(output, 2):
        own += 1
    r = run("par=job.par", f"output={output}", OFTEN)
    mine = [int(s) for s in re.findall(r"goes on after step (\d+)", open(output + ".said").read() + r.stderr)]
    snap = SNAP.replace("whole.nc", output)
    if r.returncode or len(mine) < own or mine != sorted(mine) or differences("whole.nc", output) or differences(SNAP, snap):
        wrong.append(output)
    kills, steps = kills + own, steps + mine
claim(kills >= KILLS and not wrong, f"one shot killed {kills} times, must be {KILLS}, in {files} file(s), gone on each time, after steps "
      f"{min(steps)} .. {max(steps)}: traces and snapshots are the undisturbed ones but in {wrong}")
claim(not os.path.exists("cut0.nc.states"), "the states are gone when the shot is done")

# Another rank is dealt the shot.
claim(cut_short("moved.nc", 3, ranks=3) and len([s for s in states("moved.nc") if s.endswith(".state")]) == 2,
      f"three processes killed; two generations are there: {states('moved.nc')}")
r = run("par=job.par", "output=moved.nc", OFTEN, ranks=2)
claim(r.returncode == 0 and "goes on after step" in r.stderr and differences("whole.nc", "moved.nc") == [],
      "two processes finish it: the same bits")

# States that are not right are not used, and that is said.
cut_short("bad.nc", 4)
path = {n: Path("bad.nc.states") / n for n in states("bad.nc") if n.endswith(".state")}


def step_of(p):
    return int(re.search(rb"\nstep (\d+)\n", p.read_bytes()[:4096]).group(1))


old, new = sorted(path.values(), key=step_of)
spare = new.read_bytes()
older = step_of(old)


def flip(p, at):
    data = bytearray(p.read_bytes())
    data[at] ^= 16
    p.write_bytes(data)


flip(new, len(spare) // 2)
copy = {p: p.read_bytes() for p in (old, new)}
r = run("par=job.par", "output=bad.nc", "checkpoint=auto")
claim(r.returncode == 0 and f"goes on after step {older}" in r.stderr and "damaged" in r.stderr and differences("whole.nc", "bad.nc") == [],
      f"one bit of the newest state is wrong: the one before, of step {older}, is used, the same bits: " +
      next((s for s in r.stderr.splitlines() if "damaged" in s), "nothing is said")[:170])


def again(change, *words):
    """The states of before with a change, and the shot not done: run it with other words; the log."""
    for name in ("bad.nc", "bad.nc.journal"):
        if os.path.exists(name):
            os.remove(name)
    os.makedirs("bad.nc.states", exist_ok=True)
    for p, data in copy.items():
        p.write_bytes(spare if p == new else data)
    change()
    r = run("par=job.par", "output=bad.nc", *words)
    return r, next((s for s in r.stderr.splitlines() if "begins at the first step" in s), r.stderr[-300:])[:200]


def nothing():
    pass


def cut_both():
    for p in (old, new):
        with open(p, "r+b") as f:
            f.truncate(p.stat().st_size * 2 // 3)


r, said = again(cut_both)
claim(r.returncode == 0 and "begins at the first step" in r.stderr and differences("whole.nc", "bad.nc") == [], f"both cut short: {said}")
r, said = again(nothing, "fpeak=12.5")
claim(r.returncode == 0 and "another times" in r.stderr or "another medium" in r.stderr, f"another wavelet: {said}")
if SLOW == 1:
    make_slow = ("variant=fortran", "tmax=0.4", "snapshot=0")
    r, said = again(nothing, *make_slow)
    claim(r.returncode == 0 and "another variant, cpu, than fortran here" in r.stderr, f"another variant: {said}")
r, said = again(nothing)
claim(f"goes on after step {step_of(new) if new.exists() else 0}" in r.stderr or "goes on after step" in r.stderr, "as they were: used")

# A file where the folder of states should be is told before the shot.
Path("none.nc.states").write_text("in the way")
r = run("par=job.par", "output=none.nc", OFTEN)
claim(r.returncode == 1 and "'none.nc.states'" in r.stderr and "is no folder" in r.stderr and not os.path.exists("none.nc"),
      f"a file where the folder should be: exit status {r.returncode}: {r.stderr.strip()[:150]}")
# Where states cannot be kept the shot goes on without: no folder can be made, or the disk is full, or fails, for states alone.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int half(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = 0;
    return n > 5 && strstr(path, ".states/") && !strcmp(path + n - 5, ".half");
}
ssize_t write(int fd, const void *bytes, size_t n) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (getenv("FULL") && n > 100000 && half(fd)) { errno = ENOSPC; return -1; }
    return real(fd, bytes, n);
}
int mkdir(const char *path, mode_t mode) {
    static int (*real)(const char *, mode_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "mkdir");
    if (getenv("NOFOLDER") && strstr(path, ".states")) { errno = EACCES; return -1; }
    return real(path, mode);
}
int fsync(int fd) {
    static int (*real)(int);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    if (getenv("FAULTY") && half(fd)) { errno = EIO; return -1; }
    return real(fd);
}
"""
if SLOW == 1:
    library = shim("shim", SHIM)
    for fault, words in (("FULL", "No space left on device"), ("FAULTY", "Input/output error"), ("NOFOLDER", "Permission denied")):
        name = fault.lower() + ".nc"
        r = run("par=job.par", f"output={name}", OFTEN, env={"LD_PRELOAD": library, fault: "1"})
        claim(r.returncode == 0 and r.stderr.count("no state of shot") == 1 and words in r.stderr and states(name) == [] and
              differences("whole.nc", name) == [], f"{words} for states: said once, nothing half-written stays, the shot is done")

r = run("par=job.par", "output=x.nc", "checkpoint=often")
claim(r.returncode == 1 and "neither auto nor a number of minutes" in r.stderr, f"checkpoint=often: {r.stderr.strip().splitlines()[0][:120]}")
done()
