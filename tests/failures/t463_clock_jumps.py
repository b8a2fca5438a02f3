#!/usr/bin/env python3
"""The clock of the day may jump: no shot is lost or done twice for it, the lock holds, and status stays sensible."""
import json
import os
import subprocess
import time
from pathlib import Path

from badfs import BadFs
from check import claim, done, unsanitized
from jobs import slow_machine
from minisurvey import command, differences, make, run
from shims import preload

unsanitized()
SHOTS = 24
make(shots=2)
Path("line.keymap").write_text("spread cable streamer first=50 interval=21.7 channels=20 depth=17.3\n"
                               f"shots first_record=101 n={SHOTS} x0=600 dx=1 z=13.1 spread=cable\n")
run("par=job.par", "output=whole.nc")
bad = BadFs()
p = subprocess.Popen(command("par=job.par", "output=out.nc", "progress=0.1", ranks=3), stdin=subprocess.DEVNULL,
                     stderr=open("job.err", "w"), env=preload(os.environ, slow_machine(), bad.env))
jumps, seen = 0, []
while p.poll() is None:
    bad.say(f"clock {(3600, -3600, 0, 86400)[jumps % 4]}")
    jumps += 1
    r = run("status", "output=out.nc", "--json")
    seen += [json.loads(r.stdout)] if r.returncode == 0 else []
    time.sleep(0.05)
log = Path("job.err").read_text()
lines = [line.split() for line in Path("out.nc.journal").read_text().splitlines()]
claim(p.returncode == 0 and differences("whole.nc", "out.nc") == [], f"{jumps} jumps of an hour back and forth and a day: exit status "
      f"{p.returncode}, the undisturbed file {log[-300:] if p.returncode else ''}")
claim(sorted(int(w[2]) for w in lines if w[1] == "done") == list(range(101, 101 + SHOTS)) and " lost " not in log,
      f"{SHOTS} shots, each done once, none lost")
claim("over" not in log and not os.path.exists("out.nc.lock"), "the lock was held to the end, and given back")
claim(len({w[7] for w in lines if w[1] == "done"}) > 1 and all(0 <= s["shots_per_hour"] < 1e9 and (s["seconds_left"] or 0) >= 0
      for s in seen), f"the journal's times jump, status was sensible all the {len(seen)} times it was asked")
bad.say("")
r = run("par=job.par", "output=out.nc")
claim(r.returncode == 0 and f"{SHOTS} shots are done already" in r.stderr, f"run again: exit status {r.returncode}, all are there")
done()
