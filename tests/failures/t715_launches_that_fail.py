#!/usr/bin/env python3
"""run-until-done where the launcher cannot start the program, as srun after a lost node: that is no fault of the input, and once in a row
costs no try; and where clocks jump: a newer state counts as progress whatever its time."""
import os
import subprocess
import sys
from pathlib import Path

from check import PATIENCE, claim, done

TOOL = [sys.executable, os.path.join(os.environ["ROOT"], "tools", "run-until-done")]


def until_done(name, text, *options):
    Path(name).write_text("import os, sys, time, zlib\n" + text)
    r = subprocess.run([*TOOL, "--wait", "0.1", "--output", name + ".nc", *options, sys.executable, name], capture_output=True, text=True,
                       timeout=PATIENCE)
    said = [line for line in r.stderr.splitlines() if line.startswith("run-until-done")]
    return r.returncode, said, [line.rpartition("again in ")[2] for line in said if "again in " in line]


JOURNAL = """
def line(text):
    text = text.encode()
    return b'%08x %s\\n' % (zlib.crc32(text), text)
T = '2026-01-01T00:00:00Z'
path = sys.argv[0] + '.nc.journal'
def note(*lines):
    if not os.path.exists(path):
        open(path, 'wb').write(line('journal 1 abc 1 ' + T))
    with open(path, 'ab') as f:
        f.write(b''.join(line(text) for text in lines))
START = 'start 0 0 0 h 0 ' + T + ' launch=' + os.environ['SPL_LAUNCH']
DONE = 'done 1 1 1 h 1 ' + T + ' checksum=00000000 '
count = int(open('count').read()) if os.path.exists('count') else 0
open('count', 'w').write(str(count + 1))
"""
SAYS = ("srun: error: task 4 launch failed: Duplicate job id", "srun: error: Application launch failed: Duplicate job id",
        "srun: launch/slurm: launch_p_step_launch: StepId=24.0 aborted before step completely launched.")
for text in SAYS:
    Path("count").unlink(missing_ok=True)
    status, said, waits = until_done(f"once{SAYS.index(text)}.py", JOURNAL + f"""
if count == 0:
    print({text!r}, file=sys.stderr)
    sys.exit(1)
note(START, DONE, 'stop 0 0 0 h 1 ' + T + ' exit=0')
""", "--fruitless", "1")
    claim(status == 0 and waits == ["0.1 s"], f"'{text[:60]}' and status 1 at the first launch: launched again after {waits}, which is all that was "
          f"lacking: exit status {status} {said if status else ''}")
status, said, waits = until_done("ever.py", f"print({SAYS[0]!r}, file=sys.stderr)\nsys.exit(1)\n", "--fruitless", "2")
claim(status == 4 and len(waits) == 2, f"where that never ends it is given up: exit status {status}, launched again after {waits}")

CLOCKS = {"back": "1000 - count", "still": "1000", "forth": "1000 + count"}
for name, clock in CLOCKS.items():
    Path("count").unlink(missing_ok=True)
    status, said, waits = until_done(f"{name}.py", JOURNAL + f"""
folder = sys.argv[0] + '.nc.states'
os.makedirs(folder, exist_ok=True)
state = folder + '/shot1.' + 'ab'[count % 2] + '.state'
open(state + '.new', 'w').write('state of a shot')
os.utime(state + '.new', (({clock}), ({clock})))
os.rename(state + '.new', state)
note(START)
if count == 3:
    note(DONE, 'stop 0 0 0 h 1 ' + T + ' exit=0')
sys.exit(137 if count < 3 else 0)
""", "--fruitless", "2")
    claim(status == 0 and waits == 3 * ["0.1 s"], f"four launches that each leave a newer state, the clock goes {name}: exit status {status}, launched again "
          f"after {waits}")
Path("count").unlink(missing_ok=True)
status, said, waits = until_done("half.py", JOURNAL + """
folder = sys.argv[0] + '.nc.states'
os.makedirs(folder, exist_ok=True)
open(folder + f'/shot1.a.state.h.{count}.half', 'w').write('state of a shot')
note(START)
sys.exit(137)
""", "--fruitless", "2")
claim(status == 4 and len(waits) == 1, f"a state that was not written to its end is no progress: exit status {status}, launched again after {waits}")
done()
