#!/usr/bin/env python3
"""Pressure and velocity some nodes from the source with positions=nearest, in flat cells too, against the exact field; receivers on
their source, where the field is infinite, are told of by plan and run, and no others."""
from pathlib import Path

import numpy as np

from check import claim, done
from exact import Frequencies, full_space, shoot
from minisurvey import run

C, RHO, FMAX, T0 = 1500.0, 1000.0, 30.0, 0.12
FPEAK = FMAX / 2.777
MEDIUM = np.full((61, 61), C), np.full((61, 61), RHO)
SHOT = {"tmax": 0.4, "dt_out": 0.002, "fpeak": FPEAK, "fmax": FMAX, "delay": T0}
WORDS = "receiver(s) stand on their source"


def told(what, number, **deck):
    """The last shot's log, and what plan says of it."""
    here = max(Path().glob("run*"), key=lambda p: int(p.name[3:]))
    said = (here / "out.nc.log").read_text(), run("plan", f"par={here / 'job.par'}", "overwrite=y").stdout
    want = f"{number} {WORDS}, the first of them channel 1 of shot record 1" if number else WORDS
    claim(all((want in s) == (number > 0) for s in said), f"{what}: log and plan tell of {number} receiver(s) on their source")


def off(got, source, receivers, t, free):
    f = Frequencies(SHOT["tmax"], 3 * FMAX, FPEAK, T0)
    exact = np.array(full_space(f, C, RHO, receivers[:, 0] - source[0], receivers[:, 1] - source[1]))
    if free:
        exact -= full_space(f, C, RHO, receivers[:, 0] - source[0], receivers[:, 1] + source[1])
    exact = np.array([f.traces(s, t) for s in exact])
    away = np.linalg.norm(np.array(got) - exact, axis=2)
    return (100 * away[0] / np.linalg.norm(exact[0], axis=1)).max(), \
        (100 * np.hypot(*away[1:]) / np.hypot(*np.linalg.norm(exact[1:], axis=2))).max()


NODES = np.array([[1, 0], [0, 1], [1, 1], [-2, 0], [2, -1], [0, -3], [4, 2], [-6, 1]])
for dz, k, free in ((10.0, 31, False), (6.0, 31, False), (10.0, 4, True)):
    cell = np.array([10.0, dz])
    source = cell * [30, k]
    t, *got = shoot(*MEDIUM, 10.0, source + cell * [0.31, -0.27], source + cell * (NODES + [-0.22, 0.36]), positions="nearest",
                    top="free" if free else "pml", model_dz=dz, **SHOT)
    p, v = off(got, source, source + cell * NODES, t, free)
    claim(p <= 1 and v <= 2, f"{'below a free surface' if free else 'full space'}, cells of 10 x {dz:g} m, 1 to 6 nodes away: pressure "
          f"within {p:.2f} % and velocity within {v:.2f} % of the exact field, at most 1 and 2 %")
told("all receivers apart", 0)

here = np.array([303.7, 296.2])
shoot(*MEDIUM, 10.0, here, here + [[0, 0], [0.005, 0], [0.02, 0], [30, 0]], **SHOT)
told("0, 0.0005, 0.002 and 3 cells away", 2)
shoot(*MEDIUM, 10.0, here, here + [[0.9, 3.1], [1.9, 0]], positions="nearest", **SHOT)
told("positions=nearest, one of two receivers moved onto its source", 1)
done()
