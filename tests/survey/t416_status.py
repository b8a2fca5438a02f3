#!/usr/bin/env python3
"""status tells how a survey stands, why, and what to type next: complete, parked, running, waiting for its disk, stopped and by what,
killed, silent, not begun; from anywhere, on torn, read-only and left over files; a stop file left over is told before anything is made."""
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from badfs import BadFs
from check import ALL, PATIENCE, claim, done, given_seed, skip
from jobs import Job, count, kick, ranks_here, slow_machine
from minisurvey import PROGRAM, SLOW, differences, make, run, statuses

N = 8
FOREVER = ("tmax=4000", "dt_out=0.05", "grace=0", "checkpoint=0")
make(shots=N)
PAGE = (Path(os.environ["ROOT"]) / "inputs/running.md").read_text()
STATES = re.findall(r"^\| `(\w+)` \|", PAGE[PAGE.index("| `state` | what it means |"):PAGE.index("| field of `--json`")], re.M)[1:]
FIELDS = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in PAGE[PAGE.index("| field of `--json`"):].split("\n\n")[0].splitlines()[2:]))
CAUSES = set(re.findall(r"`(\w+)`", next(line for line in PAGE.splitlines() if line.startswith("| `stopped` |")))) - {"stopped", "cause", "mpirun"}
seen_states, seen_causes, tabled = set(), set(), set()


def status(output, cwd=None, program=PROGRAM, **how):
    """The JSON of status, its exit status and the table added; that once a state, as it takes a second call."""
    words = [str(program), "status", f"output={output}"]
    r = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, cwd=cwd, **how)
    s = json.loads(r.stdout)
    if list(s) != FIELDS or s["state"] not in STATES or s["cause"] not in CAUSES | {None}:
        claim(False, f"fields and words are those of inputs/running.md: {set(s) ^ set(FIELDS)}, state {s['state']}, cause {s['cause']}")
    s["code"], s["table"] = r.returncode, None
    if (s["state"], s["cause"]) not in tabled:
        table = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, cwd=cwd, **how)
        s["table"] = table.stdout + table.stderr
        tabled.add((s["state"], s["cause"]))
    seen_states.add(s["state"])
    seen_causes.add(s["cause"])
    return s


def stands(s, state, sentence, **fields):
    """Claims state and fields; whether the rest hangs together."""
    wrong = {k: s[k] for k, v in fields.items() if s[k] != v}
    whole = (s["seconds_left"] is None or state == "running") and (s["cause"] is not None) == (state == "stopped" and s["cause"] is not None) \
        and (s["table"] is None or (s["next"] or "") in s["table"])
    return claim(s["state"] == state and not wrong and whole and s["code"] == (state in ("not_begun", "unreadable")),
                 f"{sentence}: {s['state']}, must be {state}; cause {s['cause']}, exit status {s['exit_status']}, {s['done']} done, "
                 f"{s['left']} left; reason: {s['reason']}; next: {s['next']}" + (f"; wrong: {wrong}" if wrong else ""))


def types(command):
    """Runs a command that status says to type."""
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})


def line(text):
    return b"%08x %s\n" % (zlib.crc32(text.encode()), text.encode())


def before(output):
    return sorted(p.name for p in Path(".").iterdir() if p.name.startswith(output))


# --- not begun, failed start -------------------------------------------------------------------------------------------------

stands(status("none.nc"), "not_begun", "no run has begun", total=None, left=None, exit_status=None, next=None)
claim(before("none.nc") == [], "status makes nothing")
for name, head in (("empty.nc", b""), ("torn.nc", b"0123abcd journal 1 f-f"), ("head.nc", line("journal 1 f-f-f 8 2026-01-01T00:00:00Z"))):
    Path(name + ".journal").write_bytes(head)
    stands(status(name), "failed_start", f"a run that was ended while it made its files ({len(head)} bytes of a journal)", exit_status=None)
for head in (None, b"", b"0123abcd journal 1 f-f"):
    Path("lone.nc").write_bytes(b"CDF")
    Path("lone.nc.journal").unlink(missing_ok=True)
    if head is not None:
        Path("lone.nc.journal").write_bytes(head)
    s = status("lone.nc")
    stands(s, "unreadable", f"an output, and {'no journal' if head is None else f'{len(head)} bytes of one'}", exit_status=None, total=None, left=None)
    claim("exists but its journal" in s["reason"], "it says so: " + s["reason"])
Path("bad.nc.journal").write_bytes(line("journal 1 f-f-f 8 2026-01-01T00:00:00Z") + b"00000000 start 0 0 0 h 0 2026-01-01T00:00:00Z \n")
stands(status("bad.nc"), "unreadable", "a damaged journal", next=None)

# --- stopped: what to type goes on ------------------------------------------------------------------------------------------

r = run("par=job.par", "output=whole.nc")
s = status("whole.nc")
stands(s, "complete", "an undisturbed run", exit_status=0, done=N, left=0, cause=None, next=None, seconds_left=None, running=False)
claim("complete" in s["table"] and "stopped" not in s["table"], "the table says so: " + s["table"].strip())

ODD = "it's a 'line' \"of\" $shots.nc"
for output, ranks in (("signal.nc", 3), (ODD, 1)):
    job = Job("grace=0", "overwrite=y", output=output, ranks=ranks, gate=1.5)
    job.until(lambda: count(output, "done") >= 1)
    kick(job.pid(0) or job.process.pid, sig=signal.SIGUSR1)
    job.end()
    s = status(output)
    stands(s, "stopped", f"SIGUSR1, {ranks} process(es)", exit_status=3, cause="signal", running=False, dealt=[], total=N)
    claim("(SIGUSR1)" in s["reason"] and 0 < s["left"] == N - s["done"] and "exit status 3" in (s["table"] or "exit status 3") and s["ended"] >= s["started"],
          f"its signal is named, {s['left']} left, from {s['started']} to {s['ended']}")
    r = types(s["next"])
    claim(r.returncode == 0 and not differences("whole.nc", output) and re.search(r"\b(1 shot is|\d+ shots are) done already", r.stderr),
          f"what it says to type goes on, though the run had overwrite=y: exit status {r.returncode}: {s['next']}")
    stands(status(output), "complete", "then it is complete", exit_status=0, runs=2)

job = Job(*FOREVER, output="file.nc", ranks=3)
job.until_dealt(1)
Path("file.nc.stop").touch()
job.end()
s = status("file.nc")
stands(s, "stopped", "the stop file", exit_status=3, cause="stop_file", stop_file=True, left=N)
claim(s["next"].startswith("rm file.nc.stop && mpirun -n 3 "), "it is to be removed first")
journal = Path("file.nc.journal").read_bytes()
r = run("par=job.par", "output=file.nc", *FOREVER)
claim(r.returncode == 1 and "'file.nc.stop'" in r.stderr and "remove it" in r.stderr and Path("file.nc.journal").read_bytes() == journal,
      f"a run with the stop file still there: exit status {r.returncode}: {r.stderr.strip()[:160]}")
for ranks in (1, 3):
    Path("fresh.nc.stop").touch()
    r = run("par=job.par", "output=fresh.nc", ranks=ranks)
    claim(r.returncode == 1 and "'fresh.nc.stop'" in r.stderr and "remove it" in r.stderr and before("fresh.nc") == ["fresh.nc.stop"],
          f"and one that lies there before the first run, {ranks} process(es): exit status {r.returncode}, files {before('fresh.nc')}")

r = run("par=job.par", "output=deadline.nc", "deadline=1", f"tmax={20 / SLOW}", "keymap=line.keymap", env=slow_machine())
s = status("deadline.nc")
stands(s, "stopped", "the deadline", exit_status=3, cause="deadline")

# --- its disk ----------------------------------------------------------------------------------------------------------------

if "debug" in os.environ["B"]:
    skip("the shim and the address sanitizer do not go together: waiting for the disk")
    seen_states.add("waiting_for_disk")
    seen_causes.add("disk")
else:
    bad = BadFs(only=".nc.journal")           # a lock is written in place, which needs no room on a disk
    for ranks in (1, 3):
        output = f"disk{ranks}.nc"
        job = Job("disk_wait=1000", output=output, ranks=ranks, env=bad.env, gate=1.5)
        job.until(lambda: count(output, "done") >= 1)
        bad.say("full")
        job.gate.open()
        job.until(lambda: "dealing pauses" in job.said())
        job.until(lambda: status(output)["state"] == "waiting_for_disk")
        stands(status(output), "waiting_for_disk", f"a full disk, {ranks} process(es)", running=True, exit_status=None, next=None,
               seconds_left=None)
        bad.say("")
        job.until(lambda: "dealing goes on" in job.said())
        job.until(lambda: status(output)["state"] in ("running", "complete"))
        claim(status(output)["state"] in ("running", "complete"), f"when it is back: {status(output)['state']}")
        claim(job.end() == 0 and not differences("whole.nc", output), "and the survey is done")
    job = Job("disk_wait=0", output="disk.nc", ranks=3, env=bad.env, gate=1.5)
    job.until(lambda: count("disk.nc", "done") >= 1)
    bad.say("full")
    job.gate.open()
    job.until(lambda: "run again to resume" in job.said())
    bad.say("")                                   # there is room again when the last word is written
    code = job.end()
    s = status("disk.nc")
    stands(s, "stopped", f"a disk that was full for too long, exit status {code}", exit_status=3, cause="disk")
    claim("No space left" in s["reason"], "the reason is named: " + s["reason"])

# --- killed ------------------------------------------------------------------------------------------------------------------

for ranks in (1, 3):
    job = Job(*FOREVER, output="killed.nc", ranks=ranks)
    job.until(lambda: count("killed.nc", "deal") >= max(1, ranks - 1))
    s = status("killed.nc")
    stands(s, "running", f"while it runs, {ranks} process(es)", running=True, exit_status=None, next=None, total=N)
    kick(job.pid(0) or job.process.pid, sig=signal.SIGSTOP)
    os.utime("killed.nc.lock", (time.time() - 500, time.time() - 500))
    late = status("killed.nc")
    silent = re.search(r"last written (\d+) s ago", late["reason"])
    claim(late["state"] == "running" and silent and 500 <= int(silent[1]) <= 620, "one that stands still: " + late["reason"])
    claim(f"process {job.pid(0) or job.process.pid}" in s["reason"] and s["started"] and s["ended"] is None, "and where: " + s["reason"])
    os.killpg(job.process.pid, signal.SIGKILL)
    kick(*ranks_here("killed.nc").values())
    job.end()
    stands(status("killed.nc"), "killed", f"kill -9 of everything, {ranks} process(es): the lock is left over, its process is dead",
           exit_status=None, cause=None, running=False, dealt=[])
    whole = Path("killed.nc.journal").read_bytes()
    Path("killed.nc.journal").write_bytes(whole + b"0123abcd done 101 1 1 h")
    stands(status("killed.nc"), "killed", "with a torn last line", done=0)
    if ALL and ranks == 1:                     # reading it takes 2 GB of memory
        os.truncate("killed.nc.journal", 2**31 + 5)
        stands(status("killed.nc"), "killed", "with so many zeros behind it that places in it are no default integers", done=0)
    Path("killed.nc.journal").write_bytes(whole)
    for name in before("killed.nc"):
        if ranks == 1:
            Path(name).unlink()

# From elsewhere, read-only, by somebody else.
here = Path.cwd()
away = Path(tempfile.mkdtemp())
s = status(here / "killed.nc", cwd=away)
stands(s, "killed", "from another folder, by the whole path")
claim(s["next"].startswith("cd " + shlex.quote(str(here)) + " && "), "what to type leads to the folder of the run: " + s["next"])
s = status(os.path.relpath(here / "killed.nc", away), cwd=away)
stands(s, "killed", "from another folder, by a relative path")
par = re.search(r"par=(\S+)", s["next"]).group(1)
claim(par.startswith("/") and os.path.samefile(par, "killed.nc.par"), "its parameters are named by their whole path")
s = status(here / "whole.nc", cwd=away, program=Path(os.path.relpath(PROGRAM, away)))
stands(s, "complete", "and a complete one")
if os.getuid() == 0:
    for name in before("killed.nc"):
        if Path(name).is_file():
            shutil.copy(name, away)
    away.chmod(0o555)
    try:
        s = status("killed.nc", cwd=away, user=65534, group=65534, extra_groups=[])
        stands(s, "killed", "by another user, who may not write there")
    except PermissionError:
        skip("another user may not run the program here")
    away.chmod(0o700)
claim(before("killed.nc") == sorted(p.name for p in here.iterdir() if p.name.startswith("killed.nc")) and Path("killed.nc.lock").exists(),
      "status leaves the lock as it is")
shutil.rmtree(away)

# Another machine's: only the count in the lock tells.
lock = Path("killed.nc.lock")
text = re.sub(r" here=\S{8}", " here=ffffffff", re.sub(r" host=\S+", " host=n7", lock.read_text()))
lock.write_text(text)
os.utime(lock, (time.time() - 3600, time.time() - 3600))
s = status("killed.nc")
stands(s, "silent", "a job of another machine that gives no sign of life", exit_status=None, running=False)
heard = int(re.search(r"for (\d+) s", s["reason"]).group(1))
claim("on n7, process" in s["reason"] and 3600 <= heard <= 3720, f"where, and since when: {heard} s, its lock was written 3600 s ago")
beats = subprocess.Popen([sys.executable, "-c", f"""
import time
text = open({str(lock)!r}).read()
for n in range(10000):
    open({str(lock)!r}, 'r+').write(text.replace('beat=0', f'beat={{n % 10}}'))
    time.sleep(0.2)
"""])
for attempt in range(6):                       # it may begin late, or have no core for a while
    s = status("killed.nc")
    if s["state"] == "running":
        break
stands(s, "running", f"one whose count moves, look {attempt + 1} of 6", running=True)
beats.kill()
beats.wait()
lock.unlink()
stands(status("killed.nc"), "killed", "no lock and no word of an end")

# --- parked, and what older programs wrote --------------------------------------------------------------------------------------

T = "2026-01-01T00:00:00Z"
DONE = "done {0} 1 1 h 1 " + T + " checksum=00000000 "
for name, events, state, fields in (
        ("parked.nc", ["start 0 0 0 h 0 {t} program=SplFd2dmod ranks=2 nodes=1 folder=/", DONE.format(1), "parked 2 3 1 h 0 {t} why",
                       "stop 0 0 0 h 9 {t} exit=2"], "parked", dict(exit_status=2, parked=1, left=0, parked_records=[2])),
        ("anew.nc", ["start 0 0 0 h 0 {t} ", DONE.format(1), "parked 2 3 1 h 0 {t} why", "stop 0 0 0 h 9 {t} exit=2", "start 0 0 0 h 0 {t} "],
         "killed", dict(parked=0, left=1, parked_records=[])),
        ("lost.nc", ["start 0 0 0 h 0 {t} slurm=4711 launch=ab", DONE.format(1), "stop 0 0 0 h 9 {t} exit=3 cause=workers no worker was left"],
         "stopped", dict(cause="workers", reason="no worker was left")),
        ("ended.nc", ["start 0 0 0 h 0 {t} ", "stop 0 0 0 h 9 {t} exit=3 cause=launcher signal 15"], "stopped", dict(cause="launcher", left=2)),
        ("old.nc", ["start 0 0 0 h 0 {t} ", DONE.format(1), "stop 0 0 0 h 9 {t} "], "stopped", dict(cause=None, exit_status=3, left=1)),
        ("old0.nc", ["start 0 0 0 h 0 {t} ", DONE.format(1), DONE.format(2), "stop 0 0 0 h 9 {t} "], "complete", dict(exit_status=0)),
        ("old2.nc", ["start 0 0 0 h 0 {t} ", DONE.format(1), "parked 2 3 1 h 0 {t} why", "stop 0 0 0 h 9 {t} "], "parked", dict(exit_status=2)),
        ("odd.nc", ["start 0 0 0 h 0 {t} ranks=-3 program=", "stop 0 0 0 h 9 {t} exit=99999999999 cause=mood bad"], "stopped",
         dict(cause=None, exit_status=3))):
    Path(name + ".journal").write_bytes(b"".join(line(text.format(t=T)) for text in ["journal 1 f-f-f 2 {t}", *events]))
    stands(status(name), state, f"a journal that ends with '{events[-1].format(t=T)}'", **fields)
claim("Slurm job 4711" in status("lost.nc")["next"], "of a Slurm job: its script is to be submitted again")
claim(seen_states == set(STATES) and seen_causes == CAUSES | {None},
      f"every state and cause of inputs/running.md was met: not {set(STATES) - seen_states or 'one'}, {CAUSES - seen_causes or 'one'} is missing")
claim(len(statuses("whole.nc")) == N, "the outputs are as they were")
# --- names of any bytes: what is no text in UTF-8 is marked byte by byte, as Python's own decoder finds it ---
seed = given_seed()
draw = random.Random(seed)
parts = [b"a", "\u00f8".encode(), "\u4e2d".encode(), "\U0001f30d".encode(), b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe4\xb8", b"\x80",
         b"\xf0\x8f\xbf\xbf", b"\xff"]
names = [b"caf\xe9"] + [b"n" + b"".join(draw.choices(parts, k=draw.randint(1, 5))) for _ in range(20)]
wrong = []
for name in names:
    said = subprocess.run([os.fsencode(PROGRAM), b"status", b"output=" + name, b"--json"], capture_output=True, timeout=PATIENCE).stdout
    wanted = re.sub("[\udc80-\udcff]", "\ufffd", name.decode("utf-8", "surrogateescape"))
    try:
        wrong += [] if json.loads(said.decode())["output"] == wanted else [name]
    except ValueError:
        wrong.append(name)
claim(not wrong, f"seed {seed}: status --json is UTF-8 for {len(names)} names of any bytes (not for {wrong[:3]})")
done()
