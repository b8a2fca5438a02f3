#!/usr/bin/env python3
"""A group of ranks that loses one of them, whenever that is: the shot is dealt again, other groups go on, and the group that gets it
goes on from its last whole state: always the undisturbed file. A state is whole where each rank has its part."""
import os
import random
import re
import shutil
import signal
import time
from pathlib import Path

import jobs
import mini3d
from check import claim, done, given_seed, unsanitized
from jobs import RECOVERY, Job, closed, done_once, events, kick, line_with, noted, ranks_here, slow_machine, wait_until
from minisurvey import differences
from shims import shim

unsanitized()
jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
LEASE, CALM, SOON = 2, 200, 150                   # seconds: of a worker, of one that a busy machine may keep silent, and in which any job must have ended
OFTEN = "checkpoint=0.0015"                       # minutes: 90 ms
GROUP = ("group=2", f"lease={CALM}", OFTEN)
SEED = given_seed()
random.seed(SEED)
HOLD = Path("hold").resolve()
MACHINE = slow_machine(loop=1000)
ENV = {"LD_PRELOAD": shim("hold"), "HOLD": str(HOLD)}


def parts(output):
    return sorted(p.name for p in Path(output + ".states").glob("*.state"))


def hold(rank, word):
    for end in ("", ".here"):
        Path(f"{HOLD}.{rank}{end}").unlink(missing_ok=True)
    if word:
        Path(f"{HOLD}.{rank}").write_text(word)


def group_job(output, *words, ranks=3, gate=None):
    given = {w.split("=")[0] for w in words}
    usual = [w for w in GROUP if w.split("=")[0] not in given]
    return Job(*usual, *words, output=output, ranks=ranks, options=RECOVERY, env=ENV, machine=MACHINE, gate=gate)


def ended(job):
    """The exit status, None if it had to be killed; with all ranks gone by themselves."""
    status = job.end(SOON) if wait_until(lambda: job.process.poll() is not None and not ranks_here(job.output), SOON) else None
    if status is None:
        job.end(1)
    return status


def undisturbed(output, whole="whole.nc"):
    """The file and its films and maps have the bits of one rank that nothing disturbs."""
    films = [p.name for p in Path(".").glob(whole + ".snap*")]
    return all(differences(name, name.replace(whole, output)) == [] for name in (whole, *films))


def again(output, *words, ranks=3):
    return mini3d.run("par=job.par", f"output={output}", *(words or GROUP), ranks=ranks)


# --- one shot, killed in set-up, in its time loop and while a state is written, each of its ranks ---------------------------

mini3d.make(shots=1, tmax=4, snapshot=0.4, snapshot_planes="top,y0", snapshot_fields="vz,p", pgv="y")
r = again("whole.nc", "checkpoint=0", ranks=1)
films = len(list(Path(".").glob("whole.nc.snap*")))
claim(r.returncode == 0 and films == 1, f"one rank that nothing disturbs: exit status {r.returncode}, {films} file of films and maps")
steps, wrong, cut = [], [], "cut.nc"
for place in ("setup", "loop", "state 2"):
    for victim in (1, 2):
        hold(victim, "" if place == "loop" else place)
        before = parts(cut)
        job = group_job(cut)
        if place == "loop":
            reached = job.until(lambda: len(parts(cut)) == 4 and (not before or "goes on after" in job.said()), SOON)
            time.sleep(random.uniform(0, 0.1))
        else:
            reached = job.until(Path(f"{HOLD}.{victim}.here").exists, SOON)
        kick(job.pid(victim))
        status = ended(job)
        said = job.said()
        steps += [int(s) for s in re.findall(r"goes on after step (\d+)", said)]
        if not reached or status is None or not closed(cut) or f"of rank {victim} has ended" not in said or "not heard of" in said:
            wrong.append((place, victim, reached, status, said[-500:]))
        hold(victim, "")
left = parts(cut)
claim(not wrong, f"one group of two, each rank killed in set-up, in the loop and while a state is written: the job ends by itself and says "
      f"who is dead {wrong[:2] if wrong else ''}")
r = again(cut)
steps += [int(s) for s in re.findall(r"goes on after step (\d+)", r.stderr)]
claim(r.returncode == 0 and len(steps) >= 3 and steps == sorted(steps) and undisturbed(cut),
      f"continued to its end, gone on after steps {steps} (seed {SEED}): the file of one rank, exit status {r.returncode}")
claim(not Path(cut + ".states").exists() and {"shot11.1of2", "shot11.2of2"} == {n.rsplit(".", 2)[0] for n in left},
      f"the states, {left}, are gone when the shot is done")

# --- a rank stands still as its group is made, until the other has gone ------------------------------------------------------

hold(2, "group")
job = group_job("made.nc", f"lease={LEASE}")
reached = job.until(lambda: "this rank ends" in job.said(), SOON)
hold(2, "")
status = ended(job)
claim(reached and status is not None and "signal" not in job.said(), "a rank stands still as its group is made, until the other has gone: it ends "
      f"as well, exit status {status}: {line_with('this rank ends', job.said())[:160]}{job.said()[-800:] if 'signal' in job.said() else ''}")

# --- the job is about to end --------------------------------------------------------------------------------------------------


def told_to_stop(output, checkpoint, enough):
    """A group keeps the state of the shot that it gives up."""
    job = Job("group=2", f"lease={CALM}", checkpoint, "grace=0", "progress=0.1", output=output, ranks=3, machine=MACHINE)
    job.until(lambda: re.search(r"slowest: shot \d+ on \S+, [1-9]", job.said()) and enough(output), SOON)
    Path(output + ".stop").touch()
    status = job.end(SOON)
    Path(output + ".stop").unlink(missing_ok=True)
    return status


status = told_to_stop("week.nc", "checkpoint=10000", lambda _: True)
left = parts("week.nc")
r = again("week.nc")
claim(status == 3 and left == ["shot11.1of2.a.state", "shot11.2of2.a.state"] and "goes on after step" in r.stderr
      and r.returncode == 0 and undisturbed("week.nc"),
      f"told to stop: exit status {status}, {left} kept though the interval is a week, the undisturbed file: {line_with('goes on', r.stderr)}")

# --- which states are used ----------------------------------------------------------------------------------------------------

status = told_to_stop("often.nc", OFTEN, lambda output: len(parts(output)) == 4)
Path("often.nc.states").rename("kept")


def step_of(p):
    return int(re.search(rb"\nstep (\d+)\n", p.read_bytes()[:4096]).group(1))


def with_states(change, words, *more, ranks=3):
    """The states of the killed job with a change, and the shot to be done: the log."""
    for p in Path(".").glob("again.nc*"):
        shutil.rmtree(p) if p.is_dir() else p.unlink()
    shutil.copytree("kept", "again.nc.states")
    change(Path("again.nc.states"))
    r = again("again.nc", *(more or GROUP), ranks=ranks)
    claim(r.returncode == 0 and re.search(words, r.stderr) and undisturbed("again.nc")
          and not Path("again.nc.states").exists(),
          f"{change.__doc__} The undisturbed file, exit status {r.returncode}; the log: "
          + next((s for s in r.stderr.splitlines() if re.search("goes on after|begins at the first", s)), r.stderr[-300:])[:220])


steps = [sorted(step_of(p) for p in Path("kept").glob(f"*.{rank}of2.*.state")) for rank in (1, 2)]
claim(status == 3 and len(steps[0]) == 2 and steps[0] == steps[1], f"each rank has its parts of the same two steps: {steps}")


def flip(folder):
    """A bit of a rank's newest part is wrong."""
    path = max(folder.glob("*.2of2.*.state"), key=step_of)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 16
    path.write_bytes(data)


def lose(folder, rank=2):
    """The parts of a rank are gone."""
    for p in folder.glob(f"*.{rank}of2.*"):
        p.unlink()


def lose_first(folder):
    """The parts of the first rank are gone."""
    lose(folder, 1)


def apart(folder):
    """A rank has the newer step alone, the other the older one."""
    for rank, which in ((1, max), (2, min)):
        which(folder.glob(f"*.{rank}of2.*.state"), key=step_of).unlink()


def cut(folder):
    """The newest part of a rank ends early, the one before is of one rank alone."""
    new, old = sorted(folder.glob("*.2of2.*.state"), key=step_of, reverse=True)
    os.truncate(new, new.stat().st_size // 2)
    old.unlink()


def swap(folder):
    """Two ranks have each other's parts."""
    for turn in "ab":
        one, two = (folder / f"shot11.{rank}of2.{turn}.state" for rank in (1, 2))
        one.rename(folder / "away")
        two.rename(one)
        (folder / "away").rename(two)


def mix(folder):
    """A rank has its older part under both names."""
    new, old = sorted(folder.glob("*.2of2.*.state"), key=step_of, reverse=True)
    shutil.copy(old, new)


def edit(folder):
    """The number of the step was changed by hand in a rank's newest part."""
    path = max(folder.glob("*.1of2.*.state"), key=step_of)
    path.write_bytes(re.sub(rb"\nstep (\d)", rb"\nstep 9", path.read_bytes(), count=1))


def rename(folder):
    """States of one rank, and a group that models the shot."""
    for p in folder.glob("*.state"):
        p.rename(folder / p.name.replace(".1of2", "")) if "1of2" in p.name else p.unlink()


def nothing(folder):
    """The same group."""


def other_cut(folder):
    """Another cut."""


def single(folder):
    """States of a group, and one rank that models the shot."""


with_states(nothing, f"goes on after step {steps[0][1]}", *GROUP)
with_states(flip, f"goes on after step {steps[0][0]}.*damaged")
for lost, rank in ((lose, 2), (lose_first, 1)):
    with_states(lost, f"begins at the first step: its state lacks the part of rank {rank} of 2: there is neither "
                f"'again.nc.states/shot11.{rank}of2.a.state' nor 'again.nc.states/shot11.{rank}of2.b.state'")
with_states(apart, f"begins at the first step: its state lacks the part of rank 2 of 2 after step {steps[0][0]}: neither .*"
            "shot11.2of2.a.state' nor .* is of that step")
with_states(cut, "begins at the first step")
with_states(swap, "begins at the first step: its state was made with another grid, or another cut of it")
with_states(mix, f"goes on after step {steps[0][0]}")
with_states(edit, f"goes on after step {steps[0][0]}")
with_states(rename, "its state was made by one rank, and a group of 2 ranks models it now")
with_states(other_cut, "begins at the first step: its state was made with another grid, or another cut of it", *GROUP, "decomposition=2x1x1")
with_states(single, "its state was made by a group of 2 ranks, and one rank models it now", OFTEN, ranks=1)

# --- one rank alone cannot write its part -------------------------------------------------------------------------------------

hold(2, "full")
job = group_job("full.nc")
job.until(lambda: "no state of shot" in job.said() and parts("full.nc"), SOON)
kick(job.pid(1))
status = ended(job)
left = parts("full.nc")
claim(status is not None and job.said().count("no state of shot 11 is kept") == 1 and "No space left on device" in job.said(),
      f"no room for the part of rank 2 alone: {line_with('no state of shot', job.said())[:150]}")
hold(2, "")
r = again("full.nc")
claim(r.returncode == 0 and left and "lacks the part of rank 2 of 2" in r.stderr and undisturbed("full.nc"),
      f"parts of rank 1 alone, {left}, are of no use: exit status {r.returncode}, the undisturbed file")

# --- the disk holds the part of one rank as a shot begins that has a state -------------------------------------------------------

Path("two.keymap").write_text(Path("line.keymap").read_text() + "shot 5 250 110 cable y=-12\n")
r = again("two.nc", "keymap=two.keymap", "snapshot_shots=11", ranks=1)
for lease in (3, 24):                               # on a busy machine ranks may be silent for as long
    for p in Path(".").glob("held.nc*"):
        shutil.rmtree(p) if p.is_dir() else p.unlink()
    shutil.copytree("kept", "held.nc.states")
    hold(2, "state 1")
    job = group_job("held.nc", "keymap=two.keymap", "snapshot_shots=11", f"lease={lease}")
    begun = job.until(lambda: Path(f"{HOLD}.2.here").exists() and len(events("held.nc")) == 4, SOON)    # 5 is done, 11 dealt
    time.sleep(1.7 * lease)
    hold(2, "")
    status = ended(job)
    if begun and status == 0 and "lost" not in job.said():
        break
claim(r.returncode == 0 and begun and status == 0 and "shot 11 goes on after step" in job.said() and undisturbed("held.nc", "two.nc"),
      f"the disk holds the part of rank 2 of a state for {1.7 * lease:.1f} s at a lease of {lease} s, as a shot begins that has one: exit status "
      f"{status}, the undisturbed file: {line_with('goes on after', job.said())[:150]}")

# --- two groups beside each other -----------------------------------------------------------------------------------------------

SHOTS = 3
mini3d.make(shots=SHOTS, tmax=2)
again("three.nc", "checkpoint=0", ranks=1)


def beside(output, fault, words, *more, busy=None):
    """Two groups; a fault in one of them while it has a shot: each rank stands still amid its first one, of some 1100 loops. `busy`: of a job,
    true where the machine was too busy for it, which is no more than that."""
    job = group_job(output, *more, ranks=5, gate=6)
    fault(job)
    job.gate.open()
    status = ended(job) if job.process.poll() is None else job.end(1)
    if busy and busy(job):
        return None
    told = noted(output)
    claim(status is not None and told == 0 and done_once(output, SHOTS) and undisturbed(output, "three.nc") and words in job.said(),
          f"{fault.__doc__} Exit status {told}, all {SHOTS} shots once, the undisturbed file: {line_with(words, job.said())[:160]}"
          + ("" if told == 0 else job.said()[-600:]))
    return job


def killed(job):
    """Two groups: the first rank of the second is killed in a shot."""
    job.until_dealt(2)
    kick(job.pid(3))


def stands_still(rank, lease):
    """Two groups: a rank of the first stands still for longer than two leases, then goes on."""
    def fault(job):
        job.until_dealt(1)
        pid = job.pid(rank)
        kick(pid, sig=signal.SIGSTOP)
        job.gate.open()
        time.sleep(2.5 * lease)
        kick(pid, sig=signal.SIGCONT)
    fault.__doc__ = stands_still.__doc__.replace("a rank", f"rank {rank}")
    return fault


def no_memory(job):
    """Two groups: one rank has no memory for its piece, for a while."""
    job.gate.open()
    job.until(lambda: any(e == "lost" for e, _, _ in events(job.output)), SOON)
    hold(4, "")


def leaves(job):
    """Two groups: SIGTERM for one rank, which is not the first of its group."""
    job.until_dealt(2)
    kick(job.pid(4), sig=signal.SIGTERM)


beside("killed.nc", killed, "is dead: process")
for rank in (1, 2):
    for lease in (LEASE, 4*LEASE, 16*LEASE):       # on a busy machine the other group may be silent for as long
        if beside(f"still{rank}_{lease}.nc", stands_still(rank, lease), "was not heard of for", f"lease={lease}",
                  busy=lease < 16*LEASE and (lambda job: any(e == "lost" and w == 2 for e, _, w in events(job.output)))):
            break
hold(4, "memory")
job = beside("memory.nc", no_memory, "no memory", "retries=100")
claim("dead" not in job.said() and "not heard of" not in job.said(), "nobody was taken for lost then")
beside("leaves.nc", leaves, "it finishes what it has and leaves")
done()
