#!/usr/bin/env python3
"""Two jobs on one output: the second refuses and touches nothing; a lock left behind is taken over; an owner that slept while its
lock was taken over writes nothing more."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from badfs import BadFs
from check import PATIENCE, claim, done, skip
from jobs import Gate, kick, slow_machine
from minisurvey import command, differences, make, run, statuses
from shims import preload, shim

SHOTS = 6
make(shots=SHOTS)
run("par=job.par", "output=whole.nc")
LOCK = Path("out.nc.lock")


def start(*words, ranks=1, env=None):
    """A job that stands still in its second shots until the gate is opened."""
    gate = Gate("job", 1.5)
    return gate, subprocess.Popen(command("par=job.par", *words, ranks=ranks), stdin=subprocess.DEVNULL, stderr=open("job.err", "w"),
                                  env=preload(os.environ, slow_machine(2000), env or {}, gate.env))


def until(condition, seconds=PATIENCE):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and not condition():
        time.sleep(0.005)
    return condition()


def dones():
    journal = Path("out.nc.journal")
    return journal.read_text().count(" done ") if journal.exists() else 0


def master():
    """Process of the job that has the lock."""
    found = re.search(r" pid=(\d+) ", LOCK.read_text())
    return int(found.group(1)) if found else None


def files():
    return {p.name: p.read_bytes() for p in Path(".").iterdir() if p.name.startswith("out.nc") and p.suffix != ".lock"}


# --- a second job -----------------------------------------------------------------------------------------------------

for ranks in (1, 3):
    gate, p = start("output=out.nc", "progress=86400", ranks=ranks)
    until(lambda: dones() >= 1)
    pid = master()
    kick(pid, sig=signal.SIGSTOP)                  # so that it is still there in a while, and its files stand still
    gate.open()
    before = files()
    r = run("par=job.par", "output=out.nc", ranks=ranks)
    claim(r.returncode == 1 and "in use by another run" in r.stderr and f"process {pid}" in r.stderr,
          f"{ranks} process(es): a second job on the same output: exit status {r.returncode}: {r.stderr.strip()[:200]}")
    r = run("par=job.par", "output=out.nc", "overwrite=y")
    claim(r.returncode == 1 and files() == before and LOCK.exists(), f"with overwrite=y too: exit status {r.returncode}; nothing is touched")
    os.kill(pid, signal.SIGCONT)
    status = p.wait(timeout=PATIENCE)
    claim(status == 0 and differences("whole.nc", "out.nc") == [] and not LOCK.exists(),
          f"the first one ends undisturbed: exit status {status}; no lock stays")
    for name in files():
        os.remove(name)

# --- a lock that cannot be read -----------------------------------------------------------------------------------------

EXISTING = sorted(p.name for p in Path(".").iterdir())


def refused(what, *words, **how):
    r = subprocess.run(command("par=job.par", "output=dark.nc"), capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **how)
    claim(r.returncode == 1 and all(word in r.stderr for word in words),
          f"{what}: exit status {r.returncode}: {r.stderr.strip()[:200]}")


DARK = Path("dark.nc.lock")
DARK.mkdir()
refused("a folder in place of the lock", "dark.nc.lock", "is a folder: move it away")
DARK.rmdir()
DARK.symlink_to("nowhere")
refused("a link to nowhere in its place", "dark.nc.lock", "is a link that leads nowhere: move it away")
DARK.unlink()
if os.getuid() == 0:
    folder = Path(tempfile.mkdtemp())                    # one that another user reaches
    for name in ("job.par", "line.keymap", "vp.raw", "rho.raw"):
        shutil.copy(name, folder)
    folder.chmod(0o777)
    (folder / DARK).write_text("somebody's\n")
    (folder / DARK).chmod(0o600)
    try:
        refused("the lock of another user that nobody else may read", "cannot read the lock", "Permission denied", "remove it",
                cwd=folder, user=65534, group=65534, extra_groups=[])
    except PermissionError:
        skip("the lock of another user: another user may not run the program here")
    shutil.rmtree(folder)
claim(sorted(p.name for p in Path(".").iterdir()) == EXISTING, "nothing is left behind")

# --- no locks in the file system ------------------------------------------------------------------------------------------

bad = BadFs() if "debug" not in os.environ["B"] else None
for word in ("noflock", "nolink") if bad else ():
    bad.say(word)
    gate, p = start("output=out.nc", "progress=86400", env=bad.env)
    until(lambda: dones() >= 1)
    kick(p.pid, sig=signal.SIGSTOP)
    gate.open()
    r = run("par=job.par", "output=out.nc", env=bad.env)
    told = r.returncode == 1 and "in use by another run" in r.stderr
    os.kill(p.pid, signal.SIGCONT)
    status = p.wait(timeout=PATIENCE)
    claim(told and status == 0 and differences("whole.nc", "out.nc") == [] and not LOCK.exists(),
          f"{word}: the second job is refused by the lock file alone (exit status {r.returncode}), the first one ends with {status}")
    for name in files():
        os.remove(name)
    bad.say("")

# --- a job that comes while the first one makes its files, and gets the lock when that one has ended ----------------------------

if bad:
    here = Path("here").resolve()
    late = subprocess.Popen(command("par=job.par", "output=out.nc", "fpeak=13"), stdin=subprocess.DEVNULL, stderr=open("job.err", "w"),
                            env=preload(os.environ, {"LD_PRELOAD": shim("wait"), "WAIT_AT": "out.nc.lock", "WAIT_HERE": str(here)}))
    began = until(here.exists)
    r = run("par=job.par", "output=out.nc")
    before = files()
    here.unlink()
    status = late.wait(timeout=PATIENCE)
    said = Path("job.err").read_text()
    claim(began and r.returncode == 0 and status == 1 and "belongs to another job" in said and files() == before and "out.nc.journal" in before,
          f"one of other parameters, which looked before the first one had a journal, is refused: exit status {status}; nothing is touched: "
          f"{sorted(set(before) - set(files()))} {said.strip()[:150]}")
    for name in files():
        os.remove(name)

# --- a job that slept while it opened its files, until another one has taken them over, done all and ended -------------------------

if bad:
    bad.say("noflock")                             # as others are seen from another machine
    line = Path("line.keymap").read_text()
    Path("line.keymap").write_text(line + "redo 102\n")
    here, gone, held = Path("here").resolve(), subprocess.Popen(["true"]), []
    gone.wait()
    for opened in range(100):                      # until it has its journal
        for end in ("", ".journal"):
            shutil.copy("whole.nc" + end, "out.nc" + end)
        late = subprocess.Popen(command("par=job.par", "output=out.nc"), stdin=subprocess.DEVNULL, stderr=open("job.err", "w"),
                                env=preload(os.environ, bad.env, {"LD_PRELOAD": shim("wait"), "WAIT_AT": "out.nc", "WAIT_AFTER": str(opened),
                                                                  "WAIT_HERE": str(here)}))
        until(lambda: here.exists() or late.poll() is not None)
        held = [os.path.realpath(fd) for fd in Path(f"/proc/{late.pid}/fd").glob("*")]
        if late.poll() is not None or os.path.realpath("out.nc.journal") in held:
            break
        late.kill()
        late.wait()
        for name in [*files(), "here", LOCK]:
            Path(name).unlink(missing_ok=True)
    began = late.poll() is None
    LOCK.write_text(re.sub(r" pid=\d+", f" pid={gone.pid}", LOCK.read_text()))
    r = run("par=job.par", "output=out.nc", env=bad.env)
    size = os.path.getsize("out.nc.journal")
    here.unlink()
    status = late.wait(timeout=PATIENCE)
    grown = Path("out.nc.journal").read_text()[size:]
    claim(began and r.returncode == 0 and grown.count(" todo ") == 0 and statuses("out.nc") == [1] * SHOTS,
          f"a shot that the other one has modelled again stays done: exit statuses {r.returncode} and {status}, {statuses('out.nc')} {grown}")
    Path("line.keymap").write_text(line)
    bad.say("")
    for name in files():
        os.remove(name)

# --- one that begins anew and slept before it had its journal, until another one has done so, too, and ended -------------------------

if bad:
    def sleeper(opened):
        """A job that sleeps as it opens its journal for the time of that number, and whether it had opened it for good before."""
        for end in ("", ".journal"):
            shutil.copy("whole.nc" + end, "out.nc" + end)
        p = subprocess.Popen(command("par=job.par", "output=out.nc", "overwrite=y"), stdin=subprocess.DEVNULL, stderr=open("job.err", "w"),
                             env=preload(os.environ, {"LD_PRELOAD": shim("wait"), "WAIT_AT": "out.nc.journal", "WAIT_AFTER": str(opened),
                                                      "WAIT_HERE": str(here)}))
        until(lambda: here.exists() or p.poll() is not None)
        return p, p.poll() is not None or os.path.realpath("out.nc.journal") in map(os.path.realpath, Path(f"/proc/{p.pid}/fd").glob("*"))

    for opened in range(100):
        late, opens = sleeper(opened)
        late.kill()
        late.wait()
        for name in [*files(), here, LOCK]:
            Path(name).unlink(missing_ok=True)
        if opens:
            break
    late, opens = sleeper(opened - 1)
    began = LOCK.exists() and not opens
    LOCK.write_text(re.sub(r" pid=\d+", f" pid={gone.pid}", LOCK.read_text()))
    r = run("par=job.par", "output=out.nc", "overwrite=y")
    before = files()
    here.unlink()
    status = late.wait(timeout=PATIENCE)
    said = Path("job.err").read_text()
    claim(began and r.returncode == 0 and status == 1 and "taken 'out.nc' over" in said and files() == before and not LOCK.exists(),
          f"with overwrite=y, what another one has made meanwhile stays: exit statuses {r.returncode} and {status}: {said.strip()[-200:]}")
    for name in files():
        os.remove(name)

# --- a lock left behind -------------------------------------------------------------------------------------------------

gate, p = start("output=out.nc")
until(lambda: dones() >= 1)
p.kill()
p.wait()
gate.open()
claim(LOCK.exists(), "kill -9 leaves the lock")
begin = time.monotonic()
r = run("par=job.par", "output=out.nc")
claim(r.returncode == 0 and "takes over" in r.stderr and differences("whole.nc", "out.nc") == [],
      f"the next run takes it over, after {time.monotonic() - begin:.2f} s in all: {r.stderr.strip().splitlines()[0][:160]}")
for name in files():
    os.remove(name)

# --- an owner that slept ------------------------------------------------------------------------------------------------

gate, p = start("output=out.nc")
until(lambda: dones() >= 1)
kick(p.pid, sig=signal.SIGSTOP)
gate.open()
text = LOCK.read_text()
LOCK.write_text(re.sub(r"token=\w+", "token=" + 16 * "f", text))     # as if another machine had taken it over meanwhile
size = os.path.getsize("out.nc.journal")
time.sleep(5.5)                                   # an owner looks again after 5 s at the latest
os.kill(p.pid, signal.SIGCONT)
status = p.wait(timeout=PATIENCE)
said = Path("job.err").read_text()
claim(status == 3 and "taken 'out.nc' over" in said, f"an owner whose lock is another's: exit status {status}: "
      + next((line for line in said.splitlines() if "over" in line), "nothing")[:200])
grown = Path("out.nc.journal").read_text()[size:]
claim(" done " not in grown and " stop " not in grown and 16 * "f" in LOCK.read_text(),
      f"it wrote no shot more, and the lock of the other one stays {grown}")
LOCK.unlink()
r = run("par=job.par", "output=out.nc")
claim(r.returncode == 0 and differences("whole.nc", "out.nc") == [], f"run again: exit status {r.returncode}, the undisturbed file")

# --- eight at once after a dead one, on a file system so slow that they get in each other's way -----------------------------


def race():
    bad = BadFs(only="out.nc")
    bad.say("slow 15")
    taker = [Path(os.environ["B"]) / "tests" / "t332_lock"]
    for turn in range(8):
        Path("ledger").unlink(missing_ok=True)
        subprocess.run([*taker, "die"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        racers = [subprocess.Popen([*taker, "race"], env={**os.environ, **bad.env}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL) for _ in range(8)]
        for p in racers:
            p.wait(timeout=PATIENCE)
        ledger = Path("ledger").read_text()
        if ledger != 8 * "<>":
            break
    claim(ledger == 8 * "<>", f"each of eight had the lock of a dead one alone, {turn + 1} times: {ledger}")


if "debug" not in os.environ["B"]:                    # the shim and the address sanitizer do not go together
    race()

# --- what a failed start leaves -------------------------------------------------------------------------------------------

r = run("par=job.par", "output=out.nc", "fpeak=13")
claim(r.returncode == 1 and not LOCK.exists(), f"a refused start leaves no lock: exit status {r.returncode}")
left = [p.name for p in Path(".").iterdir() if ".lock" in p.name]
claim(left == [], f"no lock and no part of one is left: {left}")
done()
