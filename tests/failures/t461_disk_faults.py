#!/usr/bin/env python3
"""A disk that is full, read-only, away, or fails to sync: a sentence, dealing pauses, nothing finished is lost, and the survey goes
on when the disk is back: the file comes out as if nothing had happened."""
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

from badfs import BadFs
from check import claim, done, drawn, given_seed, skip, unsanitized
from jobs import Job, done_once, events, kick
from minisurvey import command, differences, make, run, statuses, write_keymap
from shims import shim

unsanitized()
SHOTS = 6
SEED = given_seed()
make(shots=SHOTS)
claim(run("par=job.par", "output=whole.nc").returncode == 0, "undisturbed run")
bad = BadFs()


class Watched(Job):
    """A run on the bad file system whose log is read while it runs. Its workers stand still in their second shots until the disk has its
    fault."""

    def __init__(self, output, *words, ranks=1):
        super().__init__(*words, output=output, ranks=ranks, env=bad.env, gate=1.5)

    def suffers(self, word):
        bad.say(word)
        self.gate.open()

    def tells(self, words):
        return words in self.said()

    def line(self, words):
        return next((line for line in self.said().splitlines() if words in line), "nothing")[:200]

    def records(self, event):
        return [record for e, record, _ in events(self.output) if e == event]

    def dones(self):
        return len(self.records("done"))

    def master(self):
        return self.pid(0) or self.process.pid


# --- away for a while -------------------------------------------------------------------------------------------------

for ranks in (1, 3):
    for word, reason in (("full", "No space left"), ("readonly", "Read-only file system"), ("sync", "Input/output error"),
                         ("gone", "")):
        job = Watched(f"{word}{ranks}.nc", ranks=ranks)
        job.until(lambda: job.dones() >= 1)
        job.suffers(word)
        paused = job.until(lambda: job.tells("dealing pauses"))
        time.sleep(1.0)                          # attempts that fail in between
        alive, before = job.process.poll() is None, job.dones()
        bad.say("")
        status = job.end()
        line = job.line("dealing pauses")
        claim(paused and alive and reason in line and job.said().count("dealing pauses") == 1,
              f"{word}, {ranks} process(es), {before} shots done: one sentence: {line}")
        claim(status == 0 and job.tells("dealing goes on") and differences("whole.nc", job.output) == []
              and "modelled again" not in job.said(),
              f"{word}: back again it goes on: exit status {status}, {job.line('can be written again')}; the undisturbed file")

# --- away between a gather that is written and its commit ----------------------------------------------------------------

job = Watched("between.nc", ranks=3)
bad.say("slowsync 100")                          # the next gathers wait for each other before they are committed
job.until(lambda: job.dones() >= 1)
job.suffers("nodeal 100")
paused = job.until(lambda: job.tells("dealing pauses"))
bad.say("")
status = job.end()
claim(paused and status == 0 and differences("whole.nc", job.output) == [] and done_once(job.output, SHOTS),
      f"a deal that cannot be noted while gathers wait for their commit: exit status {status}, {job.dones()} of {SHOTS} shots done, "
      "each once, the undisturbed file")

# --- away from the start ----------------------------------------------------------------------------------------------

for word, reason in (("full", "No space left"), ("readonly", "Read-only file system")):
    bad.say(word)
    r = run("par=job.par", "output=never.nc", env=bad.env)
    left = [p.name for p in Path(".").glob("never.nc*")]
    claim(r.returncode == 1 and reason in r.stderr and "'never.nc" in r.stderr and not left,
          f"{word} from the start: exit status {r.returncode}: {r.stderr.strip()[-160:]}; files left: {left}")
    bad.say("")

# --- away for good ----------------------------------------------------------------------------------------------------

for name, words in (("at once", ["disk_wait=0"]), ("after disk_wait", ["disk_wait=1"])):
    job = Watched("end.nc", *words)
    n = job.dones()
    job.until(lambda: job.dones() >= n + 1)
    job.suffers("full")
    status = job.end()
    claim(status == 3 and job.tells("run again to resume"), f"{name}: exit status {status}, must be 3: {job.line('run again')}")
    bad.say("")
kept = job.dones()
r = run("par=job.par", "output=end.nc")
claim(r.returncode == 0 and differences("whole.nc", "end.nc") == [] and done_once("end.nc", SHOTS) and "modelled again" not in r.stderr,
      f"run again with {kept} shots done: exit status {r.returncode}, each shot once, the undisturbed file")

# --- back after it was given up, with a shot still in flight ---------------------------------------------------------------

job = Watched("kept.nc", "disk_wait=1", ranks=3)
job.until_dealt(2)
kick(job.pid(2), sig=signal.SIGSTOP)
job.until(lambda: job.dones() >= 1)
job.suffers("full")
job.until(lambda: job.tells("run again to resume"))
bad.say("")
flying = [r for e, r, w in events("kept.nc") if e == "deal" and w == 2 and r not in job.records("done")]
os.kill(job.pid(2), signal.SIGCONT)
status = job.end()
claim(status == 3 and flying and set(flying) <= set(job.records("done")),
      f"the disk is back after disk_wait: exit status {status}, what was in flight is written: shot {flying}: "
      f"{job.line('can be written again')}")
r = run("par=job.par", "output=kept.nc")
claim(r.returncode == 0 and differences("whole.nc", "kept.nc") == [] and done_once("kept.nc", SHOTS),
      f"run again: exit status {r.returncode}, each shot once, the undisturbed file")

# --- asked to end while it is away ------------------------------------------------------------------------------------------

for ranks in (1, 3):
    for grace, word in ((2, "over"), (60, "back")):
        job = Watched(f"{word}{ranks}.nc", f"grace={grace}", ranks=ranks)
        job.until(lambda: job.dones() >= 1)
        job.suffers("full")
        job.until(lambda: job.tells("dealing pauses"))
        os.kill(job.master(), signal.SIGTERM)
        job.until(lambda: job.tells("no more shots are dealt"))
        time.sleep(0.7)                          # attempts that fail in between
        before = job.dones()
        if word == "back":
            bad.say("")
        status = job.end()
        bad.say("")
        told = [int(line.split()[2]) for line in job.said().splitlines() if "the next run models it again" in line]
        if word == "over":
            claim(status == 3 and told and job.dones() == before and not set(told) & set(job.records("done")),
                  f"SIGTERM in the pause, {ranks} process(es), grace over: exit status {status}, shots {told} are named")
        else:
            claim(status == 3 and not told and job.dones() > before and set(job.records("deal")) <= set(job.records("done"))
                  and "goes on" not in job.line("can be written again"),
                  f"back within the grace: exit status {status}, {job.dones() - before} shots written that were kept in memory, "
                  f"all that were dealt: {job.line('can be written again')}")
        r = run("par=job.par", f"output={job.output}")
        claim(r.returncode == 0 and differences("whole.nc", job.output) == [] and done_once(job.output, SHOTS),
              f"run again: exit status {r.returncode}, each shot once, the undisturbed file")

# --- the output goes away under a running job ---------------------------------------------------------------------------

job = Watched("moved.nc")
job.until(lambda: job.dones() >= 1)
os.rename("moved.nc", "elsewhere")
job.gate.open()
paused = job.until(lambda: job.tells("dealing pauses"))
os.rename("elsewhere", "moved.nc")
status = job.end()
claim(paused and "gone" in job.line("dealing pauses") and status == 0 and differences("whole.nc", "moved.nc") == [],
      f"output moved away and back: {job.line('dealing pauses')}; exit status {status}, the undisturbed file")

# --- every write once ---------------------------------------------------------------------------------------------------

make(shots=4, tmax=0.2)
write_keymap(4, dx=5)
run("par=job.par", "output=whole2.nc")
wrong, refused, paused, hits, last = [], 0, 0, 0, []
hit = Path(f"{bad.control}.hit")
for n in drawn(1, range(1, 6), SEED):
    while n < 2000:
        name = f"nth{n}.nc"
        bad.say(f"nth {n}")
        hit.unlink(missing_ok=True)
        r = run("par=job.par", f"output={name}", env=bad.env)
        paused += "dealing goes on" in r.stderr
        if r.returncode == 1:
            refused += 1
            r = run("par=job.par", f"output={name}", env={**bad.env, "BADFS": "/nowhere"})
        if r.returncode != 0 or differences("whole2.nc", name) != []:
            wrong.append((n, r.returncode, r.stderr.strip()[-150:]))
        if not hit.exists():
            break
        hits += 1
        n += 5
    last.append(n)
claim(wrong == [] and paused > 3 and max(last) < 2000, f"EIO at one write, at {hits} places up to the {max(last)}th: {refused} before the first shot (refused, "
      f"then run again), {paused} pauses, all end with the undisturbed file {wrong[:3] if wrong else ''}")
bad.say("")

# --- no file may be so large ---------------------------------------------------------------------------------------------

run("par=job.par", "output=sized.nc")
for most in (os.path.getsize("sized.nc") - 100, 1000):         # bytes: more than the header, less
    r = subprocess.run(command("par=job.par", "output=large.nc"), capture_output=True, text=True,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    left = [p.name for p in Path(".").glob("large.nc*")]
    claim(r.returncode == 1 and "ulimit -f" in r.stderr and "are free" not in r.stderr and not left,
          f"a file of more than the {most} bytes that a process may write: exit status {r.returncode}: {r.stderr.strip()[-200:]}; files left: {left}")

# --- room that a file system gives back later ---------------------------------------------------------------------------------

LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
static int removed;
int unlink(const char *path) {
    REAL(unlink);
    removed |= strcmp(path, "late.nc") == 0;
    return real(path);
}
int statvfs(const char *path, struct statvfs *s) {
    REAL(statvfs);
    const int rc = real(path, s);
    s->f_bavail = removed ? 1 : s->f_bavail;
    return rc;
}
int syncfs(int fd) {
    REAL(syncfs);
    removed = 0;
    return real(fd);
}
"""
run("par=job.par", "output=late.nc")
r = run("par=job.par", "output=late.nc", "overwrite=y", env={"LD_PRELOAD": shim("late", LATE)})
claim(r.returncode == 0 and differences("sized.nc", "late.nc") == [], "overwrite=y where what was removed is free after the next commit of the file "
      f"system, as of Btrfs: exit status {r.returncode} {r.stderr.strip()[-200:] if r.returncode else ''}")

# --- a real one ---------------------------------------------------------------------------------------------------------

os.mkdir("small")
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", "small"], capture_output=True).returncode:
    skip("a small file system of its own: mounting is not allowed here")
    done()
try:
    make(shots=SHOTS)
    job = Watched("small/out.nc", ranks=3)
    job.until(lambda: job.dones() >= 1)
    with open("small/filler", "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 512):
                pass
        except OSError:
            pass
    free = os.statvfs("small").f_bavail
    status = job.end()
    claim(free == 0 and status == 0 and differences("whole.nc", "small/out.nc") == [],
          f"a tmpfs filled up by somebody else ({free} blocks free): exit status {status}; output and journal have their space")
    os.remove("small/filler")
    os.truncate("small/out.nc.journal", os.path.getsize("small/out.nc.journal") - 1)
    r = run("par=job.par", "output=small/out.nc")
    claim(r.returncode == 0 and statuses("small/out.nc") == [1] * SHOTS, f"and goes on there: exit status {r.returncode}")
    with open("small/filler", "wb", buffering=0) as f:
        try:
            while f.write(b"x" * 512):
                pass
        except OSError:
            pass
    r = run("par=job.par", "output=small/other.nc")
    claim(r.returncode == 1 and "No space left" in r.stderr and not os.path.exists("small/other.nc"),
          f"a new output there is refused: exit status {r.returncode}: {r.stderr.strip()[-160:]}")
    claim(re.search("No space left on device: (make room|choose a larger disk)", r.stderr) is not None, "the sentence says what to do")
    os.truncate("small/filler", os.path.getsize("small/filler") - 65536)
    before = {name: Path(f"small/{name}").read_bytes() for name in ("out.nc", "out.nc.journal")}
    r = run("par=job.par", "output=small/out.nc", "overwrite=y", "tmax=30")
    claim(r.returncode == 1 and "which is kept" in r.stderr and all(Path(f"small/{n}").read_bytes() == b for n, b in before.items()),
          f"overwrite=y with longer traces than there is room for loses nothing: exit status {r.returncode}: {r.stderr.strip()[-200:]}")
    os.remove("small/filler")
    r = run("par=job.par", "output=small/out.nc", "overwrite=y")
    claim(r.returncode == 0 and differences("whole.nc", "small/out.nc") == [], f"one of its size replaces it: exit status {r.returncode}")
finally:
    subprocess.run(["umount", "small"])
done()
