#!/usr/bin/env python3
"""3D: receivers of velocity, strain or rotation in water right above a source in rock are told of before the first shot, where the half-length
is above 1; not those of pressure, in the rock, far beside the source or high above the floor, nor of a source in the water."""
import re
from pathlib import Path

from check import claim, done
from mini3d import run, write_deck

WORDS = re.compile(r"(\d+) receiver\(s\) of velocity, strain or rotation stand in the water within 10 cells above rock, right above a source in it, "
                   r"the first of them channel (\d+) of shot record 1 ")
FLOOR, H = 600.0, 20.0
PLACES = ((0, -11.5), (3, -9.5), (0, -1.3), (-6, -0.5), (25, -1.3), (0, 0.0), (0, 1.2))       # cells: beside the source, below the floor
Path("water.layers").write_text(f"0 1500 0 1000\n{FLOOR} 2600 1300 2100\n")
Path("nodes.txt").write_text("".join(f"{i + 1} {x * H} {FLOOR + z * H}\n" for i, (x, z) in enumerate(PLACES)))


def told(depth=FLOOR + 15 * H, **deck):
    Path("water.map").write_text(f"spread nodes list nodes.txt\nshot 1 0 {depth} nodes\n")
    write_deck(**{"keymap": "water.map", "layers": "water.layers", "dx": H, "depth": 1200, "half_length": 2, "components": "p,vz", "tmax": 1,
                  "dispersion": "warn", **deck})
    r = run("plan", "par=job.par")
    claim(r.returncode == 0, f"plan, {deck or 'half-length 2'}: {r.stderr.strip()[-200:] or 'no error'}")
    return [tuple(int(v) for v in m.groups()) for m in WORDS.finditer(" ".join(r.stdout.split()))]


for deck in ({}, {"half_length": 4}, {"components": "exx,p"}, {"components": "wz"}):
    got = told(**deck)
    claim(got == [(3, 2)], f"{deck or 'half-length 2'}: number and first {got}, must be 3 of 7 and channel 2")
for deck in ({"half_length": 1}, {"components": "p,szz"}, {"depth": FLOOR - 5 * H}):
    got = told(**deck) if "depth" not in deck else told(deck["depth"])
    claim(not got, f"nothing is told with {deck}: {got}")
done()
