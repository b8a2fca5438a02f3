#!/usr/bin/env python3
"""Groups of ranks as people meet them: which ranks are idle, how a shot is cut and what that takes is told before and while it is
modelled; a shot that cannot be cut is refused; the files are those of single ranks."""
import json
import re
from pathlib import Path

from check import claim, done, told
from mini3d import make, PROGRAM, run
from minisurvey import differences
from shims import shim

make(shots=3, npml=6)


# --- plan -------------------------------------------------------------------------------------------------------------

GROUP = re.compile(r"^  group +(\d+) ranks a shot; the largest is cut (\d+)x(\d+)x(\d+), pieces of (\d+) x (\d+) x (\d+)"
                   r"(?: to (\d+) x (\d+) x (\d+))? cells; expected: ([\d.e-]+) times as fast as one rank, ([\d.e-]+) % of a step", re.M)


def plan(*words):
    r = run("plan", "par=job.par", *words)
    found = GROUP.search(r.stdout)
    return r, [float(x) if x else None for x in found.groups()] if found else None


r, cut = plan()
claim(r.returncode == 0 and cut is None and "group" not in r.stdout.replace("group velocity", ""), "plan says nothing of groups on single ranks")
whole = float(re.search(r"largest ([\d.]+) Mcells", r.stdout).group(1)) * 1e6
single = float(re.search(r"([\d.]+) MB a worker rank", run("plan", "par=job.par", "dx=20").stdout).group(1))
for n in (2, 4, 6):
    r, cut = plan(f"group={n}")
    ok = cut is not None and cut[0] == n and cut[1] * cut[2] * cut[3] == n
    least, most = cut[4:7], cut[7:10] if ok and cut[7] else cut[4:7]
    cells = [a[0] * a[1] * a[2] for a in (least, most)]
    claim(ok and n * cells[0] <= 1.001 * whole and n * cells[1] >= 0.999 * whole,
          f"group={n}: the smallest of {n} pieces has {cells[0]:.0f}, the largest {cells[1]:.0f} of {whole:.0f} cells")
    claim(ok and 1 < cut[10] < n and 0 < cut[11] < 100, f"and {cut[10]:g} times the speed is expected, {cut[11]:g} % of a step to talk")
r, cut = plan("group=3", "decomposition=1x3x1")
claim(cut is not None and cut[1:4] == [1, 3, 1], "a cut that is asked for is the one that is planned")
piece = float(re.search(r"([\d.]+) MB a worker rank", run("plan", "par=job.par", "dx=20", "group=4").stdout).group(1))
claim(30 < piece < single, f"a rank of four needs {piece} MB, one alone {single} MB")

# --- what cannot be cut -------------------------------------------------------------------------------------------------

for verb in ("plan", "run"):
    told(run(verb, "par=job.par", "group=6", "decomposition=1x1x6", ranks=1 if verb == "plan" else 7), 1,
         f"{verb}: more pieces than fit along z", "shot record 11", "cannot be cut into 6 pieces, 1x1x6, of at least 4 cells", "smaller group")
claim(not list(Path().glob("out.nc*")), "nothing is begun")
told(run("par=job.par", "group=4", "decomposition=2x1x1"), 1, "a decomposition of another number of ranks", "makes 2 pieces for group = 4")

# --- runs ---------------------------------------------------------------------------------------------------------------

told(run("par=job.par", "output=one.nc"), 0, "single rank")
r = run("par=job.par", "group=2", "output=two.nc", ranks=6)
told(r, 0, "two groups of two of five ranks", "rank 5 is idle: 5 ranks compute on CPU cores, and groups of 2 leave 1 over", "rank 5 idle",
     "on 2 worker(s) of 2 ranks each")
for worker in (1, 2):
    lines = re.findall(rf"^worker {worker}, 2 ranks: shots cut (\S+), pieces of .* cells; 2 sides through shared memory$", r.stderr, re.M)
    claim(len(lines) <= 1 and (lines or worker == 2), f"worker {worker} tells its cut and its ways once: {lines}")
log = Path("two.nc.log").read_text()
cuts = re.findall(r"^worker (\d), 2 ranks: shots cut (\d)x(\d)x(\d), pieces of (\d+) x (\d+) x (\d+)(?: to (\d+) x (\d+) x (\d+))? ", log, re.M)
paces = re.findall(r"^worker (\d), ways:\npieces 1 and 2, (?:right|back|bottom): through shared memory, (\S+) us and (\S+) GB/s$", log, re.M)
claim(len(cuts) == len(paces) > 0 and all(0 < float(x) < 1e6 for p in paces for x in p[1:]), f"the log tells what was measured of each way: {paces}")
told_bytes = re.findall(r"^shot record (\d+), worker (\d) exchanged:\n(\d+) steps; a step: (\d+) bytes, (\d+) messages, (\S+) us where most\n"
                        r"piece 1, (?:right|back|bottom): (\d+) bytes, 2 messages, \S+ us\n"
                        r"piece 2, (?:left|front|top): (\d+) bytes, 2 messages, \S+ us$", log, re.M)
for worker, *cut in cuts:
    a = [int(x) for x in cut[:3]].index(2)                # the cut axis: its face gives 6 fields of 4 cells of 4 bytes each way
    face = (int(cut[3]) * int(cut[4]) * int(cut[5])) // int(cut[3 + a])
    said = {t[3:5] + t[6:] for t in told_bytes if t[1] == worker}
    claim(said == {(str(2 * face * 96), "4", str(face * 96), str(face * 96))}, f"worker {worker}: {said} of a face of {face} cells a step")
claim(len(told_bytes) == 3 and all(0 < float(t[5]) < 1e6 for t in told_bytes), f"each shot's exchange stands in the log: {told_bytes}")
claim(differences("one.nc", "two.nc") == [], f"the same file as on one rank: {differences('one.nc', 'two.nc')}")
r = run("par=job.par", "group=4", "output=few.nc", ranks=4)
told(r, 1, "three ranks, groups of four", "group = 4 ranks a shot, but the job has 3 worker rank(s); start at least 5 processes")

# --- group=auto: machines with less memory ------------------------------------------------------------------------------

FINE = ("par=job.par", "dx=10", "fpeak=10", "tmax=0.02", "group=auto")


def machine(megabytes):
    """The environment of a machine with so much memory available."""
    Path("meminfo").write_text(f"MemTotal: 100000000 kB\nMemAvailable: {int(megabytes * 1000 / 1.024)} kB\n")
    return {"LD_PRELOAD": shim("lessmem"), "MEMINFO": str(Path("meminfo").resolve())}


def needs(*words):
    r = run("plan", *FINE[:-1], *words)
    return [float(x) for x in re.search(r"memory +([\d.]+) MB a worker rank, ([\d.]+) MB rank 0", r.stdout).groups()]


if "debug" not in str(PROGRAM):                 # the shim and the address sanitizer do not go together
    one, master = needs("group=1")
    two, _ = needs("group=2")
    claim(two < 0.95 * one, f"a shot needs {one} MB on one rank, {two} MB on each of two")
    r = run(*FINE, "output=roomy.nc", ranks=5)
    told(r, 0, "auto, enough memory", f"group    auto: shot record 11 (38 x 27 x 44 cells and layers) needs {one:g} MB, a rank has ",
         ": one rank a shot", "on 4 worker(s)")
    share = (one + two) / 2
    r = run(*FINE, "output=tight.nc", ranks=5, env=machine(4 * share + master))
    told(r, 0, f"auto, {share:.3g} MB for each of four ranks", f"needs {one:g} MB, a rank has {share:.3g}"[:-1],
         f": groups of 2 ranks, {two:g} MB each", "on 2 worker(s) of 2 ranks each")
    claim(differences("roomy.nc", "tight.nc") == [], f"the same file: {differences('roomy.nc', 'tight.nc')}")
    r = run(*FINE, "output=none.nc", ranks=2, env=machine(share + master))
    told(r, 1, "auto, one rank with too little", f"needs {one:g} MB, but a rank has ", "2 ranks with as much each would do; start as many, lower")
    r = run(*FINE, "output=none.nc", ranks=4, env=machine(3 * 20 + master))
    told(r, 1, "auto, less than any rank needs", f"needs {one:g} MB, ", " MB on each of 3 ranks, but a rank has 20 MB: lower")
    claim(not list(Path().glob("none.nc*")), "nothing is begun")
    told(run("plan", *FINE, env=machine(share + master)), 0, "plan, auto", "group      auto: 2 rank(s) hold the largest shot",
         "2 ranks a shot; the largest is cut")
    r = run("plan", *FINE, env=machine(master / 2))
    told(r, 0, "plan, auto, less than rank 0 needs", f"group      auto: no group holds the largest shot, {one:g} MB, where a rank has the 0 MB of here")
    claim("GPU" not in r.stdout, "nothing is said of GPUs, which were not asked for")
told(run(*FINE, "decomposition=2x1x1"), 1, "auto and a decomposition", "group = auto finds their number: give group=2")
told(run(*FINE, "tmax=-1", ranks=3), 1, "auto and another fault", "tmax = -1")
told(run(*FINE, "depth=1", ranks=3), 1, "auto and a survey that is at fault", "11")

# --- status, verify -------------------------------------------------------------------------------------------------------

told(run("status", "output=two.nc"), 0, "status", "with groups of 2 ranks, complete")
said = [json.loads(run("status", "--json", f"output={name}.nc").stdout)["group"] for name in ("one", "two")]
claim(said == [1, 2], f"status --json tells the ranks of a group: {said}")
claim("group" not in run("status", "output=one.nc").stdout, "status says nothing of groups of one")
r = run("verify", "group=2", ranks=4)
told(r, 0, f"verify group=2 of three ranks: {' / '.join(r.stdout.splitlines())}",
     "a group of 2 ranks against one rank: largest relative RMS of a trace 0, bound 0", "every check passed")
done()
