#!/usr/bin/env python3
"""Killed before any single write, sync, renaming or removing, in whatever state that leaves output, journal and lock, the same
command goes on: each shot is written once, and the file is the undisturbed one."""
from pathlib import Path

from badfs import BadFs
from check import ALL, claim, done, unsanitized
from minisurvey import differences, make, run, write_keymap

unsanitized()
SHOTS = 4
make(shots=SHOTS, tmax=0.2)
write_keymap(SHOTS, dx=5)
run("par=job.par", "output=whole.nc")
bad = BadFs()
hit = Path(f"{bad.control}.hit")


def dones(output):
    lines = Path(output + ".journal").read_text().splitlines()
    return sorted(int(line.split()[2]) for line in lines if line.split()[1] == "done")


# Once before step n of an undisturbed start, and then again before step m of the start that goes on.
for title, second in (("killed once", False), ("killed, and its next run too", True)):
    wrong, kills, n = [], 0, 1 if ALL else 2
    while n < 5000:
        name = f"{'two' if second else 'one'}{n}.nc"
        hit.unlink(missing_ok=True)
        bad.say(f"die {n}")
        first = run("par=job.par", f"output={name}", env=bad.env)
        if not hit.exists():
            break
        kills += 1
        if second:
            bad.say(f"die {1 + n * 7 % 30}")
            run("par=job.par", f"output={name}", env=bad.env)
        bad.say("")
        r = run("par=job.par", f"output={name}")
        if first.returncode != -9 or r.returncode != 0 or differences("whole.nc", name) != [] or "modelled again" in r.stderr \
                or dones(name) != list(range(101, 101 + SHOTS)):
            wrong.append((n, first.returncode, r.returncode, r.stderr.strip()[-200:]))
        left = {p.name for p in Path(".").glob(name + "*")} - {name + end for end in ("", ".journal", ".log", ".par")}
        if left:
            wrong.append((n, left))
        n += 1 if ALL else 9 if second else 4
    claim(kills > 4 and not wrong, f"{title}: before step {n} at the latest, {kills} places; always the undisturbed file, each shot "
          f"written once {wrong[:2] if wrong else ''}")
done()
