#!/usr/bin/env python3
"""A survey takes the disk that plan says it will take, whether shots are many, large, of many receivers, with snapshots or with
states; and a refusal for want of disk tells that number. Receivers beyond all measure are refused before they cost time."""
import os
import re
import resource
import signal
import subprocess
from pathlib import Path

import mini3d
import minisurvey
from check import claim, done, skip
from jobs import Gate, slow_machine, wait_until
from minisurvey import SLOW, command, make, run
from shims import preload

UNIT = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
BYTES = r"([\d.e+]+) (.B)"


def number(match):
    return float(match[1]) * UNIT[match[2]]


def taken(pattern):
    """Length of files, and the disk that they have."""
    files = [p.stat() for p in Path(".").glob(pattern)]
    return sum(s.st_size for s in files), sum(512 * s.st_blocks for s in files)


def forecast(text):
    """Bytes by plan or log: output, what lies beside it, snapshots."""
    two = re.search(rf"disk +{BYTES} for \S+, {BYTES} for journal", text)
    films = re.search(rf"{BYTES} for (?:snapshots|pictures) of", text)
    return [number(two), float(two[3]) * UNIT[two[4]], number(films) if films else 0]


def compare(what, keymap, *words, program=run):
    """Models a survey; its files against what plan said."""
    for p in Path(".").glob("d.nc*"):
        p.unlink()
    if keymap:
        Path("line.keymap").write_text(keymap)
    words = ("par=job.par", "output=d.nc", "forecast=0.05", *words)      # both parameters alike, to the letter
    planned = program("plan", *words)
    r = program(*words)
    if planned.returncode != 0 or r.returncode != 0:
        claim(False, f"{what}: exit status {planned.returncode} and {r.returncode}: {(planned.stderr + r.stderr)[-300:]}")
        return
    said = forecast(planned.stdout)
    claim(said == forecast(r.stderr), f"{what}: plan and log say the same: {said}")
    length, _ = taken("d.nc")
    claim(abs(said[0] / length - 1) < 0.006, f"{what}: the output was to take {said[0]:.0f} bytes and took {length}: three digits of it")
    (length, disk), (snaps, _) = [taken(f"d.nc.{end}") for end in ("[jlp]*", "snap*")]
    # a block each beside what was said; where the file system reserves nothing for the journal it is shorter
    blocks = 3 * os.statvfs(".").f_bsize
    claim(length < 1.05 * said[1] and (disk < length + blocks or 0.95 * said[1] - 1000 < disk < 1.05 * said[1] + blocks),
          f"{what}: journal, record and log were to take {said[1]:.0f} bytes and took {length}, on the disk {disk}: to 5 % and a block each")
    claim(0.97 * snaps - 2000 <= said[2] <= 1.03 * snaps + 2000, f"{what}: snapshots were to take {said[2]:.0f} bytes and took {snaps}: "
          "to 3 % and 2 kB")


LINE = "spread c fixed x0=100 interval={:g} channels={} depth=17\nshots first_record=1 n={} x0=300 dx=0.01 z=13 spread=c\n"
SMALL = ("npml=8", "half_length=4", "aperture=50", "tmax=0.02", "fpeak=5", "dx=20", "dz=20", "delay=0", "depth=200")
make()
compare("400 small shots", LINE.format(1, 3, 400), *SMALL)
compare("one small shot", LINE.format(1, 3, 1), *SMALL)
compare("few large shots", LINE.format(4, 200, 3), *SMALL[:3], "tmax=2", *SMALL[4:], "dt_out=0.001")
compare("many receivers", LINE.format(0.05, 10000, 2), *SMALL)
compare("three components and snapshots of 2 shots", LINE.format(2, 31, 4), "components=p,vx,vz", "snapshot=0.02", "snapshot_step=3",
        "snapshot_shots=2,4")
mini3d.make(shots=2, tmax=0.1, dx=55, output="d.nc")
compare("3D with films and a map", None, "dispersion=warn", "fpeak=2", "snapshot=0.02", "pgv=y", "snapshot_planes=top,y0,z100",
        "snapshot_fields=vx,vz", program=mini3d.run)

# --- states -----------------------------------------------------------------------------------------------------------

make(shots=1)
LONG = ("par=job.par", "output=s.nc", "tmax=30", "dt_out=0.1", "fpeak=10", "checkpoint=0.0005", "grace=0")
planned = run("plan", *LONG, "forecast=0.05")
said = re.search(rf"up to {BYTES} for the states of a shot in flight", planned.stdout)
gate = Gate("states", 6)                                         # it stands still after a hundred loops of more, each of which takes 5 ms
p = subprocess.Popen(command(*LONG), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     env=preload(os.environ, slow_machine(5000), gate.env))
wait_until(gate.reached, process=p)
p.send_signal(signal.SIGTERM)
gate.open()
p.wait()
steps = int(re.search(r"(\d+) steps", planned.stdout)[1])
states = [q.read_bytes() for q in Path(".").glob("s.nc.states/*.state")]
last = sum(len(s) + 4 * 20 * (steps - int(re.search(rb"\nstep (\d+)\n", s)[1])) for s in states)   # 20 samples more a step
claim(said and len(states) == 2 and 0.97 < number(said) / last < 1.03, f"two states of a shot: {said and said[0][6:]}; those of the last step "
      f"would take {last} bytes")
r = run("plan", *LONG[:5], "checkpoint=0")
claim(r.returncode == 0 and "states" not in r.stdout, "none where none are kept")

# --- no room ----------------------------------------------------------------------------------------------------------

Path("line.keymap").write_text(LINE.format(0.5, 1000, 10012))       # whose traces alone would be told as 4 TB
words = ("par=job.par", "output=huge.nc", *SMALL[:3], "tmax=10", *SMALL[4:], "dt_out=0.0001")
free = os.statvfs(".").f_bavail * os.statvfs(".").f_frsize
if free > 3.9e12:
    skip(f"{free / 1e12:.1f} TB are free here: no survey is too large")
else:
    r = run(*words)
    told = re.findall(BYTES, r.stderr)
    need = float(told[0][0]) * UNIT[told[0][1]] if told else 0
    exact = 4e0 * 10012 * 1000 * 100001
    claim(r.returncode == 1 and len(told) == 2 and 1 < need / exact < 1.01 and not re.search(r"\d{7}", r.stderr) and
          not list(Path(".").glob("huge*")), f"a survey of {exact / 1e12:.4g} TB of traces: one number for the need, one for the room, and "
          f"nothing is left: {r.stderr.strip()}")
    r = run("plan", *words, "forecast=0")
    said = re.search(rf"warning +{BYTES} of disk are free here where huge.nc is to be: .*", r.stdout)
    claim(r.returncode == 0 and said and 0.5 < number(said) / free < 2, f"plan warns: {said[0] if said else r.stdout[-300:]}")
    Path("line.keymap").write_text(LINE.format(0.5, 5, 2))
    r = run("plan", *words, "forecast=0")
    claim(r.returncode == 0 and "are free" not in r.stdout, "and does not where there is room")

# --- beyond all measure -----------------------------------------------------------------------------------------------


def seconds(*words):
    """The finished process and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = run(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


minisurvey.make(shots=3)
_, usual = min((seconds("par=job.par", "fpeak=-1") for _ in range(3)), key=lambda x: x[1])
Path("many.keymap").write_text(LINE.format(0.001, 10000000, 3))
r, spent = seconds("plan", "par=job.par", "keymap=many.keymap")
claim(r.returncode == 1 and "channels = 10000000 is out of range 1..1000000" in r.stderr, f"ten million channels: {r.stderr.strip()[:150]}")
claim(spent < 5 * usual + 0.2, f"refused in {spent:.2f} s of processor time, as quickly as a bad parameter ({usual:.2f} s)")
Path("many.keymap").write_text(LINE.format(0.001, 1000000, 500))
r, spent = seconds("run", "par=job.par", "keymap=many.keymap", "tmax=0.9", "dt_out=0.0001")
claim(r.returncode == 1 and "a gather of 1000000 receivers x 9001 samples" in r.stderr and spent < 2 * SLOW, "gathers too large for a message, "
      f"of 500 shots of a million receivers: told before each shot is looked at, in {spent:.2f} s of processor time, bound {2 * SLOW} s")
done()
