#!/usr/bin/env python3
"""`plan` foretells how long a run takes, for many tiny shots and for a few larger ones, in one process and with workers, and does not
take long for that. As other work on the machine comes and goes, the best of some tries counts, or that they miss on both sides."""
import os
import re
import resource
from pathlib import Path

from check import claim, done
from minisurvey import SLOW, run, write_deck, write_keymap, write_model

TRIES = 8
write_model()


def seconds(text):
    """Of 'about 0:01:05' or 'about 4.9 s', the last of them in a text."""
    found = re.findall(r"about (?:(\d+):(\d\d):(\d\d)|([\d.]+) s)", text)
    h, m, s, plain = found[-1]
    return float(plain) if plain else 3600 * int(h) + 60 * int(m) + int(s)


def forecast(what, *words, ranks=1, bound=1.3):
    """The forecast against the run that follows it, within a factor."""
    said = []
    for _ in range(TRIES):
        r = run("plan", "par=job.par", "forecast=1.5", *words, ranks=ranks)
        lines = r.stdout[r.stdout.index("\n  time   ") + 1:].splitlines()
        foretold = seconds(lines[0] if ranks == 1 else lines[1])
        if run("par=job.par", "overwrite=y", *words, ranks=ranks).returncode != 0:
            return claim(False, f"{what}: the run failed")
        took = float([line.split()[6] for line in Path("out.nc.journal").read_text().splitlines() if line.split()[1] == "stop"][-1])
        said.append(foretold / took)
        if 1 / bound <= said[-1] <= bound:
            break
    claim(1 / bound <= said[-1] <= bound or min(said) < 1 < max(said), f"{what}: {took:.1f} s, foretold {foretold:.3g} s, within {bound:g} times (tries: "
          f"{', '.join(f'{x:.2f}' for x in said)} of the time)")


write_keymap(150, dx=3.2)
write_deck(threads=None)
before = resource.getrusage(resource.RUSAGE_CHILDREN)
r = run("plan", "par=job.par", "forecast=1.5")
after = resource.getrusage(resource.RUSAGE_CHILDREN)
used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
claim(r.returncode == 0 and used < 10 * SLOW, f"a plan takes {used:.1f} s of processor time, bound 10")
claim("time       about" in r.stdout, f"which tells the time: {r.stdout.splitlines()[-1].strip()}")
quick = run("plan", "par=job.par", "forecast=0")
claim(quick.returncode == 0 and "time       not measured: forecast = 0" in quick.stdout and "memory" in quick.stdout,
      f"forecast=0 models nothing: exit status {quick.returncode}, {quick.stdout.splitlines()[-1].strip()}")
claim(f"1 of {os.cpu_count()} threads" in r.stdout or os.cpu_count() == 1, "tiny shots: it says that they get one thread")
forecast("150 tiny shots, one process")
for workers in (1, 2):                # ranks that share cores, with others too, wait for each other as long as tiny shots take
    forecast(f"150 tiny shots, {workers} worker(s)", ranks=1 + workers, bound=1.3 if os.cpu_count() > 3 else 2.5)
write_keymap(4, dx=10)
write_deck(threads=None, dx=2.5, dz=2.5, tmax=0.5)
forecast("4 larger shots, one process")
claim(not [p for p in Path(".").iterdir() if p.name.startswith("#") or ".tmp" in p.name], "nothing is left behind")
done()
