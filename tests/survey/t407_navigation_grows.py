#!/usr/bin/env python3
"""Navigation of a survey that grows: lines between others get their numbers and names, an output without navigation gets it with the
new file, and what would change it of a finished shot is refused by name."""
from pathlib import Path

from netCDF4 import Dataset

from check import claim, done
from minisurvey import contents, differences, make, run

MAP = "navigation crs=EPSG:32618 e0=400000 n0=5000000 azimuth=90\n"
CABLE = "spread cable streamer first=50 interval=21.7 channels=4 depth=17.3\n"


def shot(record, x, line, point):
    return f"shot {record} {x} 13 cable point={point} line={line}\n"


def dealt(output):
    return [int(line.split()[2]) for line in Path(output + ".journal").read_text().splitlines() if line.split()[1] == "deal"]


def keymap(text):
    Path("line.keymap").write_text(text)


make(tmax=0.05, npml=8, aperture=60)
keymap(MAP + CABLE + shot(1, 600, "A", 11) + shot(3, 620, "C", 13))
run("par=job.par")
more = MAP + CABLE + shot(1, 600, "A", 11) + shot(2, 610, "'B 7'", 12) + shot(3, 620, "C", 13)
keymap(more)
r = run("par=job.par")
run("par=job.par", "output=once.nc")
wrong = differences("once.nc", "out.nc")
one, two = contents("once.nc")[1], contents("out.nc")[1]
claim(r.returncode == 0 and dealt("out.nc") == [1, 3, 2] and not wrong and one["navigation_hash"] == two["navigation_hash"],
      f"a line between two others: one shot is modelled, names and numbers of lines are those of one run at once {wrong}")
with Dataset("out.nc") as ds:
    claim(ds["source_line"][:].tolist() == [1, 2, 3], f"lines {ds['source_line'][:].tolist()}")

before = Path("out.nc").read_bytes(), Path("out.nc.journal").read_bytes()
for title, text, words in (
        ("another shot point", more.replace("point=13", "point=14"), "record 3 is finished in 'out.nc' with shot point 13, which is 14"),
        ("another line", more.replace("line=A", "line=D"), "record 1 is finished in 'out.nc' with line of the source 'A', which is 'D'"),
        ("another map", more.replace("32618", "32619"), "has navigation_crs 'EPSG:32618', the key-map 'EPSG:32619'"),
        ("another origin", more.replace("e0=400000", "e0=400001"), "navigation_rule"),
        ("no navigation", CABLE + "".join(f"shot {i} {590 + 10 * i} 13 cable\n" for i in (1, 2, 3)), "none any more")):
    keymap(text)
    r = run("par=job.par")
    after = Path("out.nc").read_bytes(), Path("out.nc.journal").read_bytes()
    claim(r.returncode == 1 and words in r.stderr and before == after, f"{title} is refused: {r.stderr.strip()[:200]}")
keymap(more.replace("point=13", "point=14") + "redo 3\n")
r = run("par=job.par")
with Dataset("out.nc") as ds:
    claim(r.returncode == 0 and dealt("out.nc")[3:] == [3] and ds["shot_point"][:].tolist() == [11, 12, 14], "with redo it is taken")

for p in {*Path(".").glob("*.nc"), *Path(".").glob("*.nc.*")}:
    p.unlink()
plain = CABLE + "shot 1 600 13 cable\nshot 3 620 13 cable\n"
keymap(plain)
run("par=job.par")
keymap(more)
r = run("par=job.par")
run("par=job.par", "output=once.nc")
wrong = differences("once.nc", "out.nc")
claim(r.returncode == 0 and dealt("out.nc") == [1, 3, 2] and not wrong, f"an output begun without navigation has it of all shots {wrong}")
done()
