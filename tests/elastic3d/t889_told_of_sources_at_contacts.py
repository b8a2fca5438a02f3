#!/usr/bin/env python3
"""A moment beside a flat contact of rock is not told of, as its waves are right (t636), nor one where rock changes as much, but evenly over some
cells: its waves are those on a finer grid. Where the free surface is in reach of a contact, such a source is told of before the first shot, as
the contact is not heeded there; a force is not, nor a moment farther away. One right below a sea floor is told of in words of its own (t894)."""
from pathlib import Path

import numpy as np

from check import claim, done
from mini3d import run, traces, write_deck

WORDS = "source(s) of moment are within two cells, 40 m, of a contact of rock, the first of them that of shot record 1 at z = "
ROCK = "0 2600 1400 2000\n200 3800 2200 2400\n"
SHALLOW, SHALLOW_SEA = ROCK.replace("\n200", "\n100"), "0 1500 0 1000\n100 3800 2200 2400\n"
EVEN = "0 2600 1400 2000\n" + "".join(f"{z} {2600 + 1200 * f:.1f} {1400 + 800 * f:.1f} {2000 + 400 * f:.1f}\n"          # the same over 8 cells
                                      for z in range(120, 280, 2) for f in [(z + 1 - 120) / 160]) + "280 3800 2200 2400\n"
TENSOR = dict(source="moment", mxx=1e12, mzz=-6e11, mxz=8e11)


def shot(z, verb, h=20, layers=ROCK, **words):
    Path("earth.layers").write_text(layers)
    Path("line.keymap").write_text(f"spread net fixed x0=360 interval=270 channels=2 depth=129 y=80\nshot 1 503 {z} net y=7\n")
    write_deck(layers="earth.layers", dx=h, aperture=30, depth=360, npml=6, half_length=2, fpeak=2.5, fmax=7, tmax=0.5, dt_out=0.01,
               dispersion="warn", components="vx,vy,vz", **{"top": "pml", **words})
    r = run(*verb, "par=job.par", "overwrite=y")
    if r.returncode:
        claim(False, f"exit status {r.returncode}: {r.stderr[-300:]}")
    return r.stdout + r.stderr


def compared(z, layers):
    """What is said of a moment in cells of 20 m, and by how many % its waves are off those in cells of 10 m."""
    found = []
    for h in (20, 10):
        said = shot(z, (), h, layers, **TENSOR)
        found += [(said, np.stack([traces("out.nc", c)[0] for c in ("vx", "vy", "vz")]))]
    (said, coarse), (_, fine) = found
    return said, 100 * np.linalg.norm(coarse - fine) / np.linalg.norm(fine)


claim(WORDS not in shot(204, ("plan",), **TENSOR), "a moment 0.2 cells from a flat contact is not told of (t636)")
said, off = compared(204, EVEN)
claim(WORDS not in said and off < 1, f"one where the same change takes 8 cells is not told of; its waves are {off:.2f} % off, less than 1 %")
for z, words, sentence, told in ((70, TENSOR, "a moment 1.5 cells above one", True), (104, dict(source="explosion", m0=1e12), "an explosion", True),
                                 (20, TENSOR, "a moment 4 cells away", False), (104, dict(source="force", fx=1e6), "a force beside it", False),
                                 (104, {**TENSOR, "layers": SHALLOW_SEA}, "a moment at a sea floor, in these words,", False)):
    said = shot(z, ("plan",), **{"layers": SHALLOW, "top": "free", **words})
    claim((WORDS in said) == told, f"{sentence} with the free surface in reach is {'' if told else 'not '}told of by plan")
claim("1 source(s) of moment or volume lie in rock within 2 cells of water" in said, "the last is told of in words of its own")
done()
