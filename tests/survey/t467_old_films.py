#!/usr/bin/env python3
"""overwrite=y takes the snapshots of the old output with it, of whatever shots, and nothing else of what lies there; new snapshots take
the place of old ones only."""
import os
from pathlib import Path

import mini3d
from check import claim, done
from minisurvey import make, run, write_keymap


def films():
    return sorted(p.name for p in Path(".").glob("**/*.snap*"))


def told(r, status, sentence, word=""):
    claim(r.returncode == status and word in r.stderr, f"{sentence}: exit status {r.returncode}, must be {status}"
          + (f": {r.stderr[-400:]}" if r.returncode != status or word not in r.stderr else ""))


make(shots=4, tmax=0.1)
SNAPS = ("snapshot=0.05", "snapshot_step=4")
told(run("par=job.par", *SNAPS, "snapshot_shots=101,103,104"), 0, "a job with snapshots of three shots")
told(run("par=job.par", *SNAPS, "output=out.nc.snap7.nc"), 0, "and one with an output named like snapshots of the first")
Path("out.nc.snap9.nc").write_text("a note\n")
Path("out.nc.snap0103.nc").write_bytes(Path("out.nc.snap103.nc").read_bytes())
Path("out.nc.snap103.nc.bak").write_bytes(Path("out.nc.snap103.nc").read_bytes())
os.symlink("out.nc.snap103.nc.bak", "out.nc.snap12.nc")
KEPT = ["out.nc.snap0103.nc", "out.nc.snap103.nc.bak", "out.nc.snap12.nc", "out.nc.snap7.nc", "out.nc.snap7.nc.journal",
        "out.nc.snap7.nc.log", "out.nc.snap7.nc.par", "out.nc.snap7.nc.snap101.nc", "out.nc.snap9.nc"]
before = films()

told(run("par=job.par", "dx=9"), 1, "another job on that output is refused", "overwrite=y")
told(run("par=job.par", "overwrite=y", "vp=none.raw"), 1, "a fault of the input, with overwrite=y")
claim(films() == before, "both leave all snapshots")
told(run("par=job.par"), 0, "the same job again, without snapshots", "shots to do: 0 of 4")
claim(films() == before, "leaves them too: they are of these gathers")

write_keymap(shots=2, first=102)
told(run("par=job.par", *SNAPS, "snapshot_shots=102", "overwrite=y"), 0, "overwrite=y with other shots", "removed with the old output: 3 file(s) of snapshots")
claim(films() == sorted([*KEPT, "out.nc.snap102.nc"]), f"what is left beside: {films()}")
told(run("par=job.par", "overwrite=y"), 0, "overwrite=y without snapshots", "1 file(s) of snapshots")
claim(films() == sorted(KEPT), f"what is left beside: {films()}")

SECOND = ("par=job.par", *SNAPS, "output=new.nc")
Path("new.nc.snap103.nc").mkdir()
told(run(*SECOND, "snapshot_shots=103"), 1, "a folder in the place of snapshots is told before any shot is dealt",
     "has the name of the snapshots of shot record 103")
Path("new.nc.snap103.nc").rmdir()
Path("new.nc.snap103.nc").write_text("a note\n")
told(run(*SECOND, "snapshot_shots=103", "overwrite=y"), 1, "so is somebody's file", "move it away")
claim(Path("new.nc.snap103.nc").read_text() == "a note\n" and not Path("new.nc").exists(), "which is as it was, and nothing is begun")
told(run(*SECOND, "snapshot_shots=102"), 0, "snapshots of another shot go beside it")
told(run(*SECOND, "snapshot_shots=102", "overwrite=y"), 0, "and their place is taken by new ones")
for old in Path(".").glob("new.nc*"):
    old.unlink()

Path("deep").mkdir()
mini3d.make(shots=1, snapshot=0.1, pgv="y")
told(mini3d.run("par=job.par", "output=deep/map.nc"), 0, "a 3D job with a film and a map, in a folder")
told(mini3d.run("par=job.par", "output=deep/map.nc", "overwrite=y", "snapshot=0", "pgv=n"), 0, "overwritten without", "1 file(s) of snapshots")
claim(films() == sorted(KEPT), f"what is left beside: {films()}")
done()
