#!/usr/bin/env python3
"""Shots of SplSemmod on several ranks: water over rock with attenuation and a layer that damps, source and receivers at random places, maps
and pictures, have the file of one rank, whichever the variant and however many pieces the mesh is cut into; plan and log tell the cut and
what travels; a group that loses a rank deals the shot again and goes on from the parts of a state; what a group cannot do is refused
before anything is computed."""
import functools
import random
import re
import subprocess
import time
from pathlib import Path

import numpy as np

import jobs
import launch
from check import claim, done, drawn, given_seed
from launch import settings
from minisem import MESH, PROGRAM, run
from minisurvey import differences
from shims import shim
from spltools.mesh import exodus
from spltools.mesh.mesh import Block, Mesh

jobs.PROGRAM, jobs.command = PROGRAM, functools.partial(launch.command, PROGRAM)
SEED = given_seed()
random.seed(SEED)
DECK = dict(keymap="line.keymap", mesh="box.exo", materials="box.materials", components="vx,vz,szz,uy", fpeak=3.5, tmax=0.3, threads=1,
            sponge=100, receiver_z="surface", snapshot=0.1, snapshot_dx=70, pgv="y", snapshot_planes="top,y210,surface", snapshot_fields="vx,p")
words = functools.partial(settings, DECK)
SOON = 100                                        # seconds in which a disturbed job must have ended


def make():
    r = subprocess.run([MESH, "box", "-o", "box.exo", "--x", "0", "700", "--y", "0", "600", "--z", "-600", "0",
                        "--elements", "7", "6", "7", "--shake", "0.1", "--seed", str(SEED), "--block", "water:top", "--block", "rock:-200"],
                       capture_output=True, text=True)
    claim(r.returncode == 0, f"seed {SEED}: spl-mesh box makes box.exo {r.stderr}")
    Path("box.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100 80 60\n")
    rows = [f"{c} {random.uniform(60, 640):.1f} {random.choice([0, 30, 150, 200, 260, 420])} {random.uniform(60, 540):.1f}" for c in range(1, 13)]
    Path("points.receivers").write_text("\n".join(rows) + "\n")
    at = [(random.uniform(150, 550), random.uniform(260, 420), random.uniform(150, 450)) for _ in range(2)]
    shots = [f"shot {11 + i} {x:.1f} {z:.1f} points y={y:.1f}\n" for i, (x, z, y) in enumerate(at)]
    Path("line.keymap").write_text("spread points list points.receivers\n" + "".join(shots))
    Path("first.keymap").write_text("spread points list points.receivers\n" + shots[0])


def films(name):
    return sorted(str(p) for p in Path().glob(name + ".snap*.nc"))


def same(name, whole="one.nc"):
    """Names of what differs, in the file and its pictures."""
    pairs = [(whole, name)] + [(f, f.replace(whole, name)) for f in films(whole)]
    return [d for a, b in pairs for d in differences(a, b)]


make()
r = run(*words(output="one.nc"))
claim(r.returncode == 0 and len(films("one.nc")) == 1, f"one rank: exit status {r.returncode} {r.stderr[-500:] if r.returncode else ''}")
brief = dict(fpeak=6, dispersion="warn")         # so that the filter of traces needs fewer steps beyond tmax
bare = dict(brief, tmax=0.04, snapshot=0, snapshot_dx=None, pgv="n", snapshot_planes=None, snapshot_fields=None)
for n in (2, 3, 5):
    r = run("plan", *words(group=n, **bare))
    told = re.search(rf"group +{n} ranks a shot; the largest is cut into {n} pieces of (\d+) to (\d+) elements(?:, by METIS)?; expected: ([\d.]+) times as "
                     r"fast as one rank, ([\d.]+) % of a step", r.stdout)
    least, most, gain, swaps = (float(x) for x in told.groups()) if told else (0, 0, 0, 0)
    claim(r.returncode == 0 and n * least < 294 < n * most and 1 < gain < n and 0 < swaps < 60,
          f"plan, group={n}: pieces of {least:.0f} to {most:.0f} of 294 elements, {gain} times as fast, {swaps} % to talk")
    if n == 3:                                     # the variant fortran below
        continue
    r = run(*words(output=f"cut{n}.nc", group=n), ranks=n + 1)
    off = same(f"cut{n}.nc") if r.returncode == 0 else ["all"]
    claim(not off and f"shots cut into {n} pieces of " in r.stderr, f"group={n}: the bits of one rank in traces, films and maps {off or ''} "
          f"{r.stderr[-500:] if r.returncode else ''}")
log = Path("cut2.nc.log").read_text()
told = re.findall(r"^(\d+) steps; a step: (\d+) bytes, 4 messages, \S+ us where most\npiece 1 to 2: (\d+) bytes, 2 messages, \S+ us\n"
                  r"piece 2 to 1: (\d+) bytes, 2 messages, \S+ us$", log, re.M)
claim(len(told) == 2 and all(int(a) == int(b) + int(c) > 0 and int(a) % 4 == 0 for _, a, b, c in told),
      f"the log tells what travelled in a step of each shot: {told}")

small = dict(brief, keymap="first.keymap", tmax=0.04, snapshot=0.02, variant="fortran", pgv="y", snapshot_planes="top", snapshot_fields="p")
r = run(*words(output="plain.nc", **small))
s = run(*words(output="plain3.nc", group=3, **small), ranks=4)
off = same("plain3.nc", "plain.nc") if r.returncode == s.returncode == 0 else ["all"]
claim(not off, f"variant fortran, group=3: the bits of one rank {off or ''} {s.stderr[-500:] if s.returncode else ''}")

# Places that elements of several pieces have: nodes, and the middle of sides; depths from the sea floor.
r = subprocess.run([MESH, "box", "-o", "even.exo", "--x", "0", "700", "--y", "0", "600", "--z", "-700", "0",
                    "--elements", "7", "6", "7", "--block", "water:top", "--block", "rock:-200"], capture_output=True, text=True)
Path("nodes.receivers").write_text("".join(f"{i + 1} {100 * (i % 8)} {[0, 100, 250][i % 3]} {50 * (i % 13)}\n" for i in range(40)))
Path("nodes.keymap").write_text("spread nodes list nodes.receivers\nshot 1 300 100 nodes y=300\n")
even = dict(brief, keymap="nodes.keymap", mesh="even.exo", source_z="seafloor", receiver_z="seafloor", tmax=0.1, snapshot=0.05, pgv_depth=100,
            snapshot_planes="top,z100,volume")
r = run(*words(output="even.nc", **even))
for n in drawn(1, (2, 5), SEED):
    s = run(*words(output=f"even{n}.nc", group=n, **even), ranks=n + 1)
    off = same(f"even{n}.nc", "even.nc") if r.returncode == s.returncode == 0 else ["all"]
    claim(not off, f"places on nodes and sides, depths from the sea floor, a map in water, group={n}: the bits of one rank {off or ''} "
          f"{(r.stderr + s.stderr)[-500:] if r.returncode + s.returncode else ''}")

# A tunnel below the sea: its floor looks up as the surface does, and ranks may have the one without the other.
node, corners = np.arange(7 * 7 * 9).reshape(9, 7, 7), [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
at = [(k, j, i) for k in range(8) for j in range(6) for i in range(6) if not (k == 2 and j < 4 and i in (2, 3))]
elements = np.array([[node[k + c, j + b, i + a] for c, b, a in corners] for k, j, i in at])
sea = np.array(at)[:, 0] >= 6
exodus.write("tunnel.exo", Mesh(np.stack([100.0 * n.ravel() for n in np.meshgrid(range(-8, 1), range(7), range(7), indexing="ij")][::-1], 1),
                                elements, np.where(sea, 0, 1), [Block(1, "water"), Block(2, "rock")], []), "tunnel", True)
Path("tunnel.receivers").write_text("".join(f"{i + 1} {random.uniform(205, 395):.1f} {random.uniform(20, 180):.1f} {random.uniform(5, 395):.1f}\n"
                                            for i in range(9)))
Path("tunnel.keymap").write_text("spread tunnel list tunnel.receivers\nshot 1 433 120 tunnel y=250\n")
tunnel = dict(brief, keymap="tunnel.keymap", mesh="tunnel.exo", components="vz,p", tmax=0.15, snapshot=0.1, pgv="y", snapshot_planes="top", sponge=None)
r = run(*words(output="tunnel.nc", **tunnel))
for n in (3, *drawn(1, (2, 4), SEED)):
    s = run(*words(output=f"tunnel{n}.nc", group=n, **tunnel), ranks=n + 1)
    off = same(f"tunnel{n}.nc", "tunnel.nc") if r.returncode == s.returncode == 0 else ["all"]
    claim(not off, f"places above a tunnel below the sea, group={n}: the bits of one rank {off or ''} "
          f"{(r.stderr + s.stderr)[-500:] if r.returncode + s.returncode else ''}")

# --- a rank is killed -----------------------------------------------------------------------------------------------------

slow = dict(tmax=1.2, snapshot=0.3, pgv="n")
r = run(*words(output="long.nc", checkpoint=0, **slow))
Path("job.par").write_text("".join(f"{w}\n" for w in words(checkpoint=0.0015, group=2, lease=200, **slow)))
for attempt in range(6):                          # until the kill comes before the shot is done
    job = jobs.Job("overwrite=y", output="killed.nc", ranks=3, options=jobs.RECOVERY, machine=jobs.slow_machine(loop=4000))
    parts = Path("killed.nc.states")
    there = job.until(lambda: len(list(parts.glob("*.state"))) == 4)
    time.sleep(random.uniform(0, 0.1))
    jobs.kick(job.pid(random.choice([1, 2])))
    ended = jobs.wait_until(lambda: job.process.poll() is not None and not jobs.ranks_here("killed.nc"), SOON)
    status = job.end(SOON if ended else 1)
    if jobs.count("killed.nc", "done") == 0:
        break
claim(there and ended and "has ended" in job.said(), f"a rank is killed: the job ends by itself, exit status {status}")
s = run("par=job.par", "output=killed.nc", ranks=3)
steps = re.findall(r"goes on after step (\d+)", s.stderr)
off = same("killed.nc", "long.nc") if r.returncode == s.returncode == 0 else ["all"]
claim(not off and steps, f"and goes on after step {steps}: the file of one rank {off or ''} {s.stderr[-500:] if s.returncode else ''}")

# In the midst of the second set-up less is there than the shot before has told, and no state could be kept of it.
job = jobs.Job("checkpoint=0.00001", "pgv=y", output="early.nc", ranks=3, options=jobs.RECOVERY, machine=jobs.slow_machine(loop=4000),
               env={"LD_PRELOAD": shim("hold"), "HOLD": str(Path("hold").resolve()), "ASAN_OPTIONS": "verify_asan_link_order=0"})
there = job.until(lambda: list(Path("early.nc.states").glob("*.2of2.*")), SOON)
Path("hold.2").write_text("setup")
there = there and job.until(Path("hold.2.here").exists, SOON)
jobs.kick(job.pid(2))
ended = jobs.wait_until(lambda: job.process.poll() is not None and not jobs.ranks_here("early.nc"), SOON)
job.end(SOON if ended else 1)
# The other rank sees it, or rank 0 does, which ends both.
seen = re.search(r"rank 2, which worker 1 needs, is dead|of rank 2 has ended", job.said())
claim(there and ended and seen and "signal" not in job.said(), "a rank is killed in its set-up: that is seen, and the other ends without a fault: "
      f"{seen[0] if seen else 'not seen'}{'' if seen and 'signal' not in job.said() else job.said()[-900:]}")

# --- refused --------------------------------------------------------------------------------------------------------------

for sentence, expected, changes in (
        ("pieces on GPUs that stream", "must be all or auto where group > 1", dict(group=2, gpn=1, resident="fields")),
        ("pieces on GPUs with atomic sums", "must be gather or colour where group > 1", dict(group=2, gpn=1, variant="global", sum="atomic")),
        ("more pieces than bricks", "cannot be cut into 40 pieces", dict(group=40))):
    r = run("plan", *words(**changes))
    claim(r.returncode == 1 and expected in r.stdout + r.stderr, f"{sentence}: refused, '{expected}': {(r.stdout + r.stderr)[-300:]}")
done()
