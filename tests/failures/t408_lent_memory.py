#!/usr/bin/env python3
"""Gathers reach rank 0 through memory that workers on its machine lend, else as messages: the files are alike. A worker that is killed
once rank 0 knows of its gather takes nothing with it; memory is used again."""
import os
import re
from pathlib import Path

from check import claim, done
from jobs import RECOVERY, Job, closed, count, done_once, events, kick, slow_machine
from minisurvey import differences, make, run, statuses
from shims import shim

SHOTS, CHANNELS, BIG = 12, 60, ("tmax=1.2", "dt_out=0.002")        # gathers of 144 kB
HOLD = Path("hold").resolve()
QUICK = {}                                                         # no slow machine


def survey(shots=SHOTS, channels=CHANNELS):
    Path("line.keymap").write_text(f"spread cable streamer first=50 interval=5.7 channels={channels} depth=17.3\n"
                                   f"shots first_record=101 n={shots} x0=600 dx={400 / shots} z=13.1 spread=cable\n")


def held(**words):
    """Environment of a job whose ranks do as `rank2="alone"` says."""
    for old in HOLD.parent.glob("hold.[0-9]*"):
        old.unlink()
    for rank, word in words.items():
        HOLD.with_suffix("." + rank.removeprefix("rank")).write_text(word)
    return {"LD_PRELOAD": shim("hold"), "HOLD": str(HOLD), "ASAN_OPTIONS": "verify_asan_link_order=0"}


def ways(output):
    """How many gathers rank 0 read in lent memory, and how many came as messages."""
    found = re.findall(r"gathers: (\d+) read in memory of their workers, (\d+) came as messages", Path(output + ".log").read_text())
    return tuple(map(int, found[-1])) if found else (-1, -1)


def once_each(output):
    """All gathers came, each once, but for those of shots that its log says another worker took over at the end: these may come twice."""
    taken = re.findall(r"[(](\d+) were taken over[)]", Path(output + ".log").read_text())
    return SHOTS <= sum(ways(output)) <= SHOTS + (int(taken[-1]) if taken else 0)


def shared_by(pid):
    """Pieces of shared memory that a process holds open, and those that it has mapped; its own are both."""
    try:
        links = [os.readlink(f) for f in Path(f"/proc/{pid}/fd").iterdir() if f.is_symlink()]
        return (sum("/memfd:shared" in link for link in links), Path(f"/proc/{pid}/maps").read_text().count("/memfd:shared"))
    except OSError:
        return 0, 0


make()
survey()
alone = run("par=job.par", *BIG, "output=alone.nc")
claim(alone.returncode == 0, f"one process: exit status {alone.returncode} {alone.stderr[-300:] if alone.returncode else ''}")

# --- both ways, and both at once ---------------------------------------------------------------------------------------

for what, words, least, most in (("all lend", {}, SHOTS - 4, SHOTS), ("workers have none", {"rank1": "alone", "rank2": "alone"}, 0, 0),
                                 ("rank 0 cannot open it", {"rank0": "blind"}, 0, 0), ("worker 2 has none", {"rank2": "alone"}, 1, SHOTS - 1)):
    job = Job(*BIG, "overwrite=y", output="way.nc", ranks=3, env=held(**words), gate=0.5)
    for rank in (1, 2):                                            # so that each has a shot, however late it comes
        job.until(lambda: job.gate.reached(rank))
    status = job.end()
    read, sent = ways("way.nc")
    claim(status == 0 and done_once("way.nc", SHOTS) and not differences("alone.nc", "way.nc") and least <= read <= most
          and once_each("way.nc"), f"{what}: exit status {status}, {read} of {SHOTS} gathers read there, {sent} came as messages; the file "
          "of one process")

survey(channels=2)
job = Job("overwrite=y", output="small.nc", ranks=3, machine=QUICK)
claim(job.end() == 0 and ways("small.nc")[0] == 0 and once_each("small.nc"), f"gathers of 800 bytes come as messages: {ways('small.nc')}")

# --- memory is used again ----------------------------------------------------------------------------------------------

survey(2 * SHOTS)
seen = [(0, 0)] * 3


def look():
    for rank in range(3):
        now = shared_by(job.pid(rank))
        seen[rank] = tuple(map(max, zip(seen[rank], now)))
    return False


job = Job(*BIG, "overwrite=y", output="again.nc", ranks=3, machine=slow_machine(2000), gate=SHOTS / 3)
job.until(lambda: look() or (job.gate.reached(1) and job.gate.reached(2)))
look()                                                             # if not before, then as they stand there
job.gate.open()
job.until(look)
status = job.end()
claim(status == 0 and ways("again.nc")[0] >= 2 * SHOTS - 4 and 1 <= max(seen[1][0], seen[2][0]) <= 16 and seen[0][0] == 0
      and 1 <= seen[0][1] <= 32, f"exit status {status}, {ways('again.nc')[0]} gathers in at most {seen[1][0]} and {seen[2][0]} pieces of memory of "
      f"the workers; rank 0 had {seen[0][1]} of them, and none open")

# --- a worker is killed, its gather not yet written -----------------------------------------------------------------------

survey()
job = Job(*BIG, output="killed.nc", ranks=2, options=RECOVERY, env=held(), gate=5)      # these have 25 loops: three are done
job.until(lambda: count("killed.nc", "done") >= 3)
HOLD.with_suffix(".0").write_text("put")
job.gate.open()
reached = job.until(HOLD.with_suffix(".0.here").exists)
record = [r for e, r, _ in events("killed.nc") if e == "deal"][-1]      # the next one is not dealt before this is written
mapped, pid = shared_by(job.pid(0))[1], job.pid(1)
kick(pid)
job.until(lambda: job.pid(1) is None)
HOLD.with_suffix(".0").unlink()
status = job.end()
mine = [e for e, r, _ in events("killed.nc") if r == record and e in ("done", "lost")]
claim(reached and mapped > 0 and closed("killed.nc") and mine == ["done"] and ways("killed.nc")[1] <= 1,
      f"the worker is killed as rank 0 is about to write its gather of shot {record} (exit status {status}): {ways('killed.nc')[0]} gathers "
      f"read in its memory, the journal says {mine} of that one")
again = run("par=job.par", *BIG, "output=killed.nc")
claim(again.returncode == 0 and statuses("killed.nc") == [1] * SHOTS and done_once("killed.nc", SHOTS)
      and not differences("alone.nc", "killed.nc"), f"the next run models the others alone: exit status {again.returncode}, the same file")
done()
