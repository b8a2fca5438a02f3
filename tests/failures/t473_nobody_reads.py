#!/usr/bin/env python3
"""Output that is asked for is whole, or the exit status says that it is not; a run needs nobody who reads its log, nor any of the
standard files."""
import os
import subprocess
import sys
from pathlib import Path

from check import PATIENCE, claim, done
from jobs import Gate, slow_machine
from minisurvey import command, differences, make, run
from shims import preload

make(shots=3)
claim(run("par=job.par", "output=whole.nc").returncode == 0, "undisturbed run")


def full(*words):
    """What a program says that prints to a full disk, and its exit status."""
    with open("/dev/full", "w") as disk:
        r = subprocess.run(command(*words), stdin=subprocess.DEVNULL, stdout=disk, stderr=subprocess.PIPE, text=True,
                           timeout=PATIENCE)
    return r.returncode, r.stderr


for words in (("--help",), ("--template",), ("--version",), ("plan", "par=job.par", "forecast=0"), ("status", "output=whole.nc"),
              ("status", "--json", "output=whole.nc")):
    status, said = full(*words)
    claim(status == 1 and said.count("error: cannot write to standard output: No space left on device") == 1,
          f"{' '.join(words)} onto a full disk: exit status {status}: {said.strip()[-120:]}")

for words in (["info", "line.keymap"], ["--help"], ["--man"]):
    with open("/dev/full", "w") as disk:
        r = subprocess.run([sys.executable, os.environ["ROOT"] + "/tools/spl-keymap", *words], stdout=disk, stderr=subprocess.PIPE, text=True,
                           timeout=PATIENCE)
    claim(r.returncode == 1 and r.stderr == "error: cannot write to standard output: No space left on device\n",
          f"spl-keymap {' '.join(words)} onto a full disk: exit status {r.returncode}: {r.stderr.strip()[-120:]}")

reader, writer = os.pipe()                     # nobody reads from the first line on
os.close(reader)
r = subprocess.run(command("par=job.par", "output=alone.nc"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=writer, timeout=PATIENCE)
os.close(writer)
claim(r.returncode == 0 and differences("whole.nc", "alone.nc") == [] and "3 shots in" in Path("alone.nc.log").read_text(),
      f"the reader of the log is gone: exit status {r.returncode}, the same gathers, the log whole")

gate = Gate("closed", 1.5)                     # it stands still in its second shot until it was looked at
shell = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', *command("par=job.par", "output=closed.nc")],
                         env=preload(os.environ, slow_machine(2000), gate.env))
numbers = {}
while shell.poll() is None and "/dev/null" not in numbers.values():
    try:
        numbers = {n: os.readlink(f"/proc/{shell.pid}/fd/{n}") for n in "012" if Path("closed.nc.log").exists()}
    except OSError:
        pass
gate.open()
status = shell.wait(timeout=PATIENCE)
claim(status == 0 and set(numbers.values()) == {"/dev/null"},
      f"standard files closed: exit status {status}, they are {sorted(set(numbers.values()))}, must be /dev/null alone")
done()
