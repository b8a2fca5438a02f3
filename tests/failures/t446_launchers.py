#!/usr/bin/env python3
"""run-until-done goes by the journal where a launcher hangs, lies or says nothing: it heeds a stop, ends a hung launcher at once, tells
another run's progress from its own, and ends where another run has the output or a stop file lies there."""
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check import PATIENCE, claim, done
from jobs import Gate, count, kick, slow_machine, wait_until
from minisurvey import PROGRAM, SLOW, differences, make, run
from shims import preload

TOOL = [sys.executable, os.path.join(os.environ["ROOT"], "tools", "run-until-done")]
make(shots=8)
claim(run("par=job.par", "output=whole.nc").returncode == 0, "undisturbed run")
ENV = preload(os.environ, slow_machine())


def until_done(*words):
    return subprocess.run([*TOOL, "--wait", "0.2", *words], capture_output=True, text=True, timeout=PATIENCE, env=ENV)


def said(r):
    return [line for line in r.stderr.splitlines() if line.startswith("run-until-done")]


def last_word(r):
    return (said(r) or ["run-until-done said nothing"])[-1]


def script(name, text):
    Path(name).write_text("#!/usr/bin/env python3\n" + text)
    return [sys.executable, name]


# --- a launcher that hangs: how the program ended stands in the journal --------------------------------------------------------

LONG = ("tmax=4000", "dt_out=0.05")


def launcher(name, output, words=(), after="", quiet=False, status="0"):
    """A launcher of the program on `output` with `words` that does `after`, hides what it says if `quiet`, and ends with a status."""
    hide = ", stderr=subprocess.DEVNULL" if quiet else ""
    return script(name, f"""
import signal, subprocess, sys, time
open('launched.txt', 'a').write('{name}\\n')
p = subprocess.Popen([{str(PROGRAM)!r}, 'par=job.par', 'output={output}', *{list(words)!r}]{hide})
signal.signal(signal.SIGTERM, lambda *_: None)      # as deaf as srun can be
signal.signal(signal.SIGUSR1, lambda *_: p.send_signal(signal.SIGUSR1))
code = p.wait()
{after}
sys.exit({status})
""")


def launches(name):
    log = Path("launched.txt")
    return log.read_text().count(name + "\n") if log.exists() else 0


FOREVER = "time.sleep(1000)"


def deaf(how):
    """A launcher that hangs after its program was ended by `how`: seconds from then to the end of run-until-done, its status and words."""
    name, words = "deaf_" + how.split()[0], ("deadline=1", f"tmax={20 / SLOW}") if how == "deadline" else ("grace=1", *LONG)
    output = name + ".nc"
    p = subprocess.Popen([*TOOL, "--heed-stop", "--wait", "0.2", "--output", output, *launcher(name, output, words, after=FOREVER)],
                         stderr=subprocess.PIPE, text=True, env=ENV)
    wait_until(lambda: count(output, "deal") >= 1)
    if how == "signal":
        pids = [int(w.split("=")[1]) for w in Path(output + ".lock").read_text().split() if w.startswith("pid=")]
        os.kill(pids[0], signal.SIGUSR1)               # as scancel does: the launcher hears nothing of it
    elif how == "stop file":
        Path(output + ".stop").touch()
    wait_until(lambda: count(output, "stop") >= 1)
    at = time.monotonic()
    err = p.communicate(timeout=PATIENCE)[1]
    return name, output, time.monotonic() - at, p.returncode, err


def taken(name, **more):
    """A launch while another run has the output."""
    return until_done("--output", "taken.nc", "--fruitless", "2", *launcher("taken_" + name, "taken.nc", **more))


gate = Gate("taken", 1.5)
other = subprocess.Popen([str(PROGRAM), "par=job.par", "output=taken.nc"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         env={**ENV, **gate.env})
wait_until(lambda: count("taken.nc", "done") >= 1)
kick(other.pid, sig=signal.SIGSTOP)
gate.open()
WAYS = ("signal", "stop file", "deadline")
with ThreadPoolExecutor(len(WAYS) + 1) as pool:         # each waits some 14 s for its launcher
    hangs = pool.submit(taken, "hangs", after=FOREVER)
    ends = list(pool.map(deaf, WAYS))
for how, (name, output, seconds, status, err) in zip(WAYS, ends):
    claim(seconds < 30 and "does not end: the launcher is stopped" in err and launches(name) == 1,
          f"{how}: a launcher that hangs and is deaf to SIGTERM is ended {seconds:.0f} s after the program, 14 at an idle machine, must be "
          f"below 30; {launches(name)} launch(es)")
    gained = count(output, "done") or list(Path(output + ".states").glob("*"))       # a shot, or the state of one
    expected = 3 if gained and how != "stop file" else 4
    claim(status == expected and f"cause={how.replace(' ', '_')}" in Path(output + ".journal").read_text(),
          f"{how}: the journal says so, that is heeded: exit status {status}, must be {expected}: {err.strip()[-200:]}")

journal = """
import sys, zlib, os
def line(text):
    text = text.encode()
    return b'%08x %s\\n' % (zlib.crc32(text), text)
new = not os.path.exists({output!r} + '.journal')
with open({output!r} + '.journal', 'ab') as f:
    t = '2026-01-01T00:00:00Z'
    if new:
        f.write(line('journal 1 abc 9 ' + t))
    f.write(line('start 0 0 0 h 0 ' + t + ' launch=' + {launch} + ' folder=/a launch=b'))
    for record in {records!r}:
        f.write(line(f'done {{record}} 1 1 h 1 ' + t + ' checksum=00000000 '))
    if {ended!r}:
        f.write(line('stop 0 0 0 h 1 ' + t + ' ' + {ended!r}))
print({says!r}, file=sys.stderr)
sys.exit({status})
"""
OWN = "os.environ.get('SPL_LAUNCH', '')"


def fake(output, records=(), ended="", says="", status=0, launch=OWN):
    """A launcher that writes the journal of a run itself."""
    return script("fake_" + output + ".py", journal.format(output=output, records=list(records), ended=ended, says=says, status=status,
                                                           launch=launch))


for ended, status, last in (
        ("exit=3 cause=signal signal 10 (SIGUSR1)", 0, True), ("exit=3 cause=stop_file stop file", 137, True),
        ("exit=3 cause=deadline no time", 1, True), ("exit=3", 3, True), ("", 3, True), ("exit=3 cause=workers no worker was left", 3, False),
        ("exit=3 cause=launcher signal 15", 137, False), ("exit=3 cause=disk full", 3, False), ("", 137, False)):
    Path("heed.nc.journal").unlink(missing_ok=True)
    r = until_done("--heed-stop", "--fruitless", "2", "--output", "heed.nc", *fake("heed.nc", [1, 2] if last else [], ended, "", status))
    again = sum("again in" in line for line in said(r))
    claim(r.returncode == (3 if last else 4) and again == (0 if last else 1),
          f"--heed-stop, the journal says '{ended}', the launcher {status}: exit status {r.returncode}, launched again {again} time(s), "
          f"must be {0 if last else 1}")
    claim(not last or "2 shot(s) done in it, 7 of 9 left" in last_word(r), "what it did is counted: " + last_word(r))

# --- another run has the output: that is no progress of this one, and there is nothing to wait for ---------------------------------

WAIT = "import os; n = os.path.getsize('taken.nc.journal')"
GROWS = f"""{WAIT}
os.kill({other.pid}, signal.SIGCONT)
while os.path.getsize('taken.nc.journal') == n:
    time.sleep(0.01)
os.kill({other.pid}, signal.SIGSTOP)"""
for name, more in (("plain", {"status": "code"}), ("masked", {"status": "137"}), ("hangs", {}),
                   ("silent", {"after": GROWS, "quiet": True, "status": "1"})):
    n = count("taken.nc", "done")
    r = taken(name, **more) if more else hangs.result()
    err = " ".join(said(r))
    claim(r.returncode == 1 and launches("taken_" + name) == 1 and "another run has 'taken.nc'" in err
          and f"{count('taken.nc', 'done') - n} shot(s) done in it, " not in err.replace(" 0 shot(s)", ""),
          f"{name}: refused, {count('taken.nc', 'done') - n} shot(s) done meanwhile by the other: exit status {r.returncode}, "
          f"{launches('taken_' + name)} launch(es): {err[:200]}")
    claim(name == "silent" or f"process {other.pid}" in err, f"{name}: and told who has it")
os.kill(other.pid, signal.SIGCONT)
claim(other.wait(timeout=PATIENCE) == 0 and not differences("whole.nc", "taken.nc"), "the other one ends undisturbed")
Path("over.nc.journal").unlink(missing_ok=True)
r = until_done("--output", "over.nc", *fake("over.nc", [1], "", "error: another run has taken 'over.nc' over, as this one", 3))
claim(r.returncode == 1 and "another run has 'over.nc'" in r.stderr and "again in" not in r.stderr,
      f"an output that was taken over is left to the other: exit status {r.returncode}: {last_word(r)[:150]}")

# --- a launch that dies before its run has begun is none that was refused --------------------------------------------------------

early = script("early.py", """
import os, sys, zlib
text = b'journal 1 abc 9 2026-01-01T00:00:00Z'
if not os.path.exists('early.nc.journal'):
    open('early.nc.journal', 'wb').write(b'%08x %s\\n' % (zlib.crc32(text), text))
sys.exit(137)
""")
r = until_done("--output", "early.nc", "--fruitless", "2", *early)
claim(r.returncode == 4 and "another run" not in r.stderr, f"killed before its run began: exit status {r.returncode}: {last_word(r)}")

# --- a stop file ----------------------------------------------------------------------------------------------------------------

Path("left.nc.stop").touch()
r = until_done(str(PROGRAM), "par=job.par", "output=left.nc")
claim(r.returncode == 1 and "'left.nc.stop'" in r.stderr and "remove it" in r.stderr and not Path("left.nc").exists(),
      f"a stop file left over: nothing is launched, exit status {r.returncode}: {r.stderr.strip()[:150]}")
done()
