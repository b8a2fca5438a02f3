#!/usr/bin/env python3
"""A 3D survey grows as one in 2D does, by finite differences and by spectral elements: the framework asks no physics."""
import functools
import os
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [os.path.join(os.environ["ROOT"], "tests", room) for room in ("survey", "tools")]
import launch  # noqa: E402
import mini3d  # noqa: E402
from check import claim, done  # noqa: E402
from minisurvey import differences, statuses  # noqa: E402
from toolrun import Tool  # noqa: E402

sem = functools.partial(launch.run, Path(os.environ["B"]) / "bin" / "SplSemmod")
merge, split = Tool("spl-merge", "bad.nc"), Tool("spl-split", "bad.nc")


def dealt(output):
    return [int(line.split()[2]) for line in Path(output + ".journal").read_text().splitlines() if line.split()[1] == "deal"]


def grows(title, run, base, more, moved):
    """`base`, `more`: key-maps before and after; `moved`: one that would move a receiver of the finished shots along y."""
    Path("line.keymap").write_text(base)
    r = run("par=job.par")
    first = dealt("out.nc") if r.returncode == 0 else r.stderr
    Path("line.keymap").write_text(more)
    r = run("par=job.par")
    run("par=job.par", "output=once.nc")
    wrong = differences("once.nc", "out.nc")
    claim(r.returncode == 0 and not wrong and statuses("out.nc") == [1, 1] and dealt("out.nc") == [*first, 12],
          f"{title}: one shot is added, modelled alone, and the file is that of one run at once {wrong} {r.stderr[-200:] * (r.returncode > 0)}")
    Path("line.keymap").write_text(moved)
    r = run("par=job.par")
    claim(r.returncode == 1 and "shot record 11 is finished" in r.stderr and "y of channel" in r.stderr,
          f"{title}: a receiver moved along y is refused: {r.stderr.strip()[:140]}")
    split.fine(f"{title}: it is split", "out.nc", "--parts", 2, "-o", "part.nc")
    merge.fine(f"{title}: and joined again", "part1.nc", "part2.nc", "-o", "joined.nc")
    wrong = differences("once.nc", "joined.nc")
    claim(not wrong, f"{title}: to the same {wrong}")
    for p in {*Path(".").glob("*.nc"), *Path(".").glob("*.nc.*")}:
        p.unlink()


mini3d.make(npml=4, tmax=0.1, snapshot=0.05)
base = "spread net fixed x0=203.4 interval=43.7 channels=3 depth=52.3 y=41.7\nshot 11 253.3 111.7 net y=-12.3\n"
more = base + "spread far fixed x0=203.4 interval=43.7 channels=4 depth=52.3 y=41.7\nshot 12 283.3 111.7 far y=-2.3\n"
grows("finite differences", mini3d.run, base, more, more.replace("y=41.7", "y=41.8"))

made = subprocess.run([str(Path(os.environ["ROOT"]) / "tools" / "spl-mesh"), "box", "-o", "box.exo", "--x", "0", "600", "--y", "0", "600",
                       "--z", "-600", "0", "--elements", "4", "4", "4", "--block", "rock:top"], capture_output=True, text=True)
claim(made.returncode == 0, f"a mesh {made.stderr}")
Path("box.materials").write_text("rock 3000 1700 2200\n")
Path("job.par").write_text("keymap = line.keymap\nmesh = box.exo\nmaterials = box.materials\ncomponents = vx,vz\nfpeak = 2\ntmax = 0.1\n"
                           "threads = 1\noutput = out.nc\n")
base, more = (text.replace("203.4", "223.4").replace("-12.3", "312.3").replace("-2.3", "322.3").replace("41.7", "241.7") for text in (base, more))
grows("spectral elements", sem, base, more, more.replace("241.7", "241.8"))
done()
