#!/usr/bin/env python3
"""`plan` of a job of spectral elements counts the time of its pictures and of its map of peak ground velocity, which may take longer
than the steps themselves. Both are figures of one plan: how fast the machine is, and how busy, counts for little."""
import re
from pathlib import Path

from check import claim, done
from minisem import run

Path("line.keymap").write_text("spread st fixed x0=100 interval=100 channels=5 depth=0 y=500\n"
                               "shots first_record=1 n=1 x0=1500 dx=100 z=400 y=1500 spread=st\n")
Path("two.layers").write_text("soft 0\nhard 600\n")
Path("two.materials").write_text("soft 2000 1000 2000\nhard 4000 2300 2500\n")
Path("job.par").write_text("""keymap = line.keymap
mesh = layers
layers = two.layers
materials = two.materials
output = out.nc
mesh_x0 = -1000
mesh_x1 = 3000
mesh_y0 = -1000
mesh_y1 = 3000
mesh_bottom = 1400
mesh_dx = 200
mesh_dy = 200
mesh_dz = 200
mesh_z = down
fpeak = 2
fmax = 5
tmax = 1
dt_out = 0.01
dispersion = warn
threads = 1
overwrite = y
""")


def seconds(found):
    """Of '7.8 s' or, from 20 s on, of '0:01:05'; 0 where there is none."""
    text = found[1].removesuffix(" s") if found else "0"
    return sum(60**n * float(part) for n, part in enumerate(reversed(text.split(":"))))


def foretold(*words):
    """Seconds of the whole and of pictures, by the plan."""
    said = run("plan", "par=job.par", "forecast=1.5", *words).stdout
    lasts = r" +(?:about )?([\d.:]+(?: s)?) "
    return seconds(re.search(r"\n  time" + lasts, said)), seconds(re.search(r"\n" + lasts + "of it in one process for pictures", said))


claim(foretold()[1] == 0, "a job without pictures: the plan speaks of none")
for what, words in (("a map", ("pgv=y", "snapshot_dx=25")),
                    ("planes", ("snapshot=0.05", "snapshot_dx=25", "snapshot_planes=top,y1500,x1500", "snapshot_fields=vx,vy,vz"))):
    for _ in range(5):                             # other work on the machine comes and goes, within a trial too
        whole, pictures = foretold(*words)
        steps = whole - pictures
        if whole > 1.4 * steps > 0:
            break
    claim(whole > 1.4 * steps > 0, f"a job with {what}: foretold {whole:.1f} s, {pictures:.1f} s of it for them, so that it lasts "
          f"{whole / max(steps, 1e-9):.1f} times as long as its steps, bound 1.4")
done()
