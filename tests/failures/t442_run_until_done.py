#!/usr/bin/env python3
"""tools/run-until-done launches a job until it is done, stops where that is in vain, and drops bad hosts from the list."""
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from check import PATIENCE, claim, done
from jobs import Gate, count, done_once, kick, ranks_here, slow_machine, wait_until
from minisurvey import PROGRAM, differences, make, run, statuses, write_keymap
from shims import preload, shim

TOOL = [sys.executable, os.path.join(os.environ["ROOT"], "tools", "run-until-done")]
N = 8
make(shots=N)
ENV = preload(os.environ, slow_machine())
claim(run("par=job.par", "output=whole.nc").returncode == 0, "undisturbed run")


def until_done(*words, env=None):
    return subprocess.run([*TOOL, "--wait", "0.2", *words], capture_output=True, text=True, timeout=PATIENCE, env={**ENV, **(env or {})})


def said(r):
    lines = r.stderr.replace("\0", "").splitlines()         # mpirun without its help texts ends its complaints with such a byte
    return [line for line in lines if line.startswith("run-until-done")]


def script(name, text):
    Path(name).write_text("#!/usr/bin/env python3\n" + text)
    os.chmod(name, 0o755)
    return [sys.executable, name]


# --- a launcher that ends everything where a rank is killed -------------------------------------------------------------

def killer(output, times, gate):
    """Kills a worker each time another two shots are done, which stands still then."""
    for n in range(times):
        wait_until(lambda: count(output, "done") >= 2 * n + 1)
        wait_until(lambda: ranks_here(output).get(1) is not None)
        kick(ranks_here(output).get(1))
    gate.open()


Path("anew.par").write_text(Path("job.par").read_text() + "Overwrite = Yes   # of the survey before\n")
gate = Gate("killed", 1.5)
thread = threading.Thread(target=killer, args=("killed.nc", 2, gate), daemon=True)
thread.start()
r = until_done("mpirun", "-n", "3", str(PROGRAM), "par=anew.par", "output=killed.nc", env=gate.env)
thread.join(timeout=PATIENCE)
claim(r.returncode == 0 and statuses("killed.nc") == [1] * N and done_once("killed.nc", N) and not differences("whole.nc", "killed.nc"),
      f"a worker killed in two launches: exit status {r.returncode}, each shot once, the undisturbed file"
      + ("" if r.returncode == 0 else r.stderr[-600:]))
claim(count("killed.nc", "start") > 2, f"overwrite=yes of its deck is for the first launch: {count('killed.nc', 'start')} runs in the journal")
claim(sum("again in" in line for line in said(r)) >= 1, "launched again: " + "; ".join(said(r))[:300])

# --- in vain ------------------------------------------------------------------------------------------------------------

begin = time.time()
r = until_done("--fruitless", "3", "--output", "none.nc", "false")
claim(r.returncode == 1, f"a first launch with exit status 1 is an input error: {r.returncode}")
r = until_done("--fruitless", "3", "--output", "none.nc", *script("vain.py", "import sys; sys.exit(137)"))
waits = [line.split("again in")[1].strip() for line in said(r) if "again in" in line]
claim(r.returncode == 4 and len(waits) == 2, f"nothing is ever committed: exit status {r.returncode}, launched again after {waits}")
r = until_done(str(PROGRAM), "par=job.par", "output=bad.nc", "fpeak=none")
claim(r.returncode == 1 and len(said(r)) == 0, f"an input error is not tried again: exit status {r.returncode}")
r = until_done("--output", "x.nc", "/no/such/launcher")
claim(r.returncode == 1 and "cannot launch" in r.stderr, "a launcher that is not there: " + r.stderr.strip()[:120])

# --- a few at a time: launches that are used up, and a signal -----------------------------------------------------------

Path("long.par").write_text(Path("job.par").read_text().replace("out.nc", '"with blank.nc"'))
gate = Gate("long", 1.5)
p = subprocess.Popen([*TOOL, "mpirun", "-n", "3", str(PROGRAM), "par=long.par"], stderr=subprocess.PIPE, text=True, env={**ENV, **gate.env})
wait_until(lambda: count("with blank.nc", "done") >= 1, process=p)
p.send_signal(signal.SIGTERM)
wait_until(lambda: "no more shots are dealt" in Path("with blank.nc.log").read_text(), process=p)
gate.open()
err = p.communicate(timeout=PATIENCE)[1]
n = count("with blank.nc", "done")
claim(p.returncode == 3 and 1 <= n < N and "signal 10" in err and "stopped as asked" in err,
      f"SIGTERM is handed on as SIGUSR1: exit status {p.returncode}, {n} of {N} shots done" + ("" if p.returncode == 3 else err[-500:]))
r = until_done("--launches", "1", "mpirun", "-n", "3", str(PROGRAM), "par=long.par")
claim(r.returncode == 0 and not differences("whole.nc", "with blank.nc"), f"the same again: exit status {r.returncode}, the undisturbed file")

for what, output in (("a quote, which decks write twice", "'it''s.nc'"), ("a path from the root", Path("root.nc").absolute()),
                     ("blanks", "a long name.nc  # of a survey")):
    make(shots=2, output=output)
    r = until_done("--fruitless", "1", str(PROGRAM), "par=job.par")
    claim(r.returncode == 0 and "2 of 2 shots are done" in r.stderr, f"an output whose name has {what}: {'; '.join(said(r))[-200:]}")
make(shots=2, output=None)
rows = [line.split(" = ") for line in Path("job.par").read_text().splitlines()]
Path("job.par").write_text("# a deck\n&job\n" + ", ".join(f"{name} = '{value}'" for name, value in rows) + ", Output='list.nc' ! output = no.nc\n/\n")
r = until_done("--fruitless", "1", str(PROGRAM), "par=job.par")
claim(r.returncode == 0 and "2 of 2 shots are done" in r.stderr, f"a namelist in one line: {'; '.join(said(r))[-200:]}")
r = until_done("--fruitless", "1", str(PROGRAM), "Par= 'job.par'", "OUTPUT='capitals.nc'")
claim(r.returncode == 0 and "2 of 2 shots are done" in r.stderr, f"names in capitals, values in quotes: {'; '.join(said(r))[-200:]}")
make(shots=N)

# --- killed while the output of a finished survey grows: its journal, all done, says nothing of this launch ------------------------

Path("line.keymap").write_text(Path("line.keymap").read_text() + "shot 900 610 13.1 cable\n")
for end in ("", ".journal"):
    shutil.copy("whole.nc" + end, "grows.nc" + end)
growing = script("growing.py", f"""
import os, subprocess, sys, time
words = [{str(PROGRAM)!r}, 'par=job.par', 'output=grows.nc']
if os.path.exists('once'):
    sys.exit(subprocess.run(words).returncode)
open('once', 'w').close()
p = subprocess.Popen(words, env={{**os.environ, 'LD_PRELOAD': {shim("wait")!r}, 'WAIT_AT': '.half', 'WAIT_HERE': 'here'}})
while not os.path.exists('here') and p.poll() is None:
    time.sleep(0.01)
p.kill()
p.wait()
sys.exit(137)
""")
r = until_done("--output", "grows.nc", *growing)
claim(r.returncode == 0 and statuses("grows.nc") == [1] * (N + 1),
      f"one that grows is launched again: exit status {r.returncode}, {sum(statuses('grows.nc'))} of {N + 1} shots done; " + "; ".join(said(r)))
write_keymap(N)

# --- hosts --------------------------------------------------------------------------------------------------------------

Path("nodes").write_text("# the cluster\nn1 slots=2\nn2.site.org slots=2\nn3\n")
fake = script("fake.py", """
import sys
print('HOSTS', open(sys.argv[1]).read().split('\\n'), flush=True)
print('mpirun noticed that process rank 3 with PID 0 on node n2 exited on signal 9 (Killed).', file=sys.stderr)
print('mpirun noticed that process rank 5 with PID 0 on node n2 exited on signal 9 (Killed).', file=sys.stderr)
print('warning: node n3 is quarantined after 3 losses: worker 5 gets no more shots', file=sys.stderr)
print('mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 11.', file=sys.stderr)
sys.exit(137)
""")
r = until_done("--hosts", "nodes", "--output", "h.nc", "--fruitless", "4", *fake, "{hosts}")
lists = [line for line in r.stdout.splitlines() if line.startswith("HOSTS")]
claim(r.returncode == 4 and len(lists) == 4 and "n3" in lists[0] and "n3" not in lists[1] and "n2" in lists[1],
      "a quarantined host is dropped at once, one with losses in a single launch is not")
claim(lists[2:] == ["HOSTS ['n2.site.org slots=2', '']"] * 2 or lists[2:] == ["HOSTS ['n1 slots=2', '']"] * 2,
      f"after two launches with losses it is; the last host stays: {lists[2:]}")
claim(Path("nodes").read_text().count("\n") == 4, "the user's list is left alone")

# --- what the journal says counts, not the launcher ---------------------------------------------------------------------

parked = script("parked.py", """
import sys, zlib
def line(text):
    return b'%08x %s\\n' % (zlib.crc32(text), text)
with open('p.nc.journal', 'wb') as f:
    t = b'2026-01-01T00:00:00Z'
    f.write(line(b'journal 1 abc 2 ' + t) + line(b'start 0 0 0 h 0 ' + t + b' ') + line(b'done 1 1 1 h 1 ' + t + b' checksum=00000000 ')
            + line(b'parked 2 3 1 h 0 ' + t + b' why') + line(b'stop 0 0 0 h 1 ' + t + b' '))
sys.exit(0)
""")
r = until_done("--output", "p.nc", *parked)
claim(r.returncode == 2, f"all but a parked shot: exit status {r.returncode}, must be 2; " + "; ".join(said(r)))
hung = script("hung.py", f"""
import subprocess, time
subprocess.run([{str(PROGRAM)!r}, 'par=job.par', 'output=hung.nc'])
time.sleep(1000)
""")
r = until_done("--linger", "1", "--output", "hung.nc", *hung)
claim(r.returncode == 0 and "does not end" in r.stderr, f"a launcher that does not end after the last shot is stopped: exit status "
      f"{r.returncode}")
loader = SourceFileLoader("until", TOOL[1])
until = module_from_spec(spec_from_loader("until", loader))
loader.exec_module(until)
reads = []
until.Journal = lambda output: reads.append(output)
until.Launch.closed = lambda launch, output, before: until.Journal(output)
begun = script("begun.py", "import pathlib, time; pathlib.Path('idle.nc.journal').write_text('a'); time.sleep(1.5)")
until.Launch(begun, None).wait("idle.nc", None, 0.3, 0, 0)
claim(len(reads) == 1, f"a journal that does not change for long, of shots that take long, is read once, and not five times a second: {len(reads)}")
stalled = script("stalled.py", "import time; time.sleep(1000)")
r = until_done("--stall", "1", "--fruitless", "2", "--output", "stall.nc", *stalled)
claim(r.returncode == 4 and r.stderr.count("nothing was written") == 2, f"so is one that stalls: exit status {r.returncode}")
Path("nobody.txt").write_text("# n1 is under repair\n\n")
r = until_done("--hosts", "nobody.txt", "mpirun", "--hostfile", "{hosts}", str(PROGRAM), "par=job.par")
claim(r.returncode == 1 and "names no host" in r.stderr, f"a host list without hosts is refused: {r.stderr.strip()[-100:]}")
r = until_done("--begin", "1", "--fruitless", "1", "--output", "mute.nc", *script("mute.py", "import time; time.sleep(100)"))
claim(r.returncode == 4 and "has not begun after" in r.stderr, f"a launch that does not begin is stopped: {r.stderr.strip()[:100]}")
done()
