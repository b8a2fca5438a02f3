#!/usr/bin/env python3
"""3D: soft ground on hard rock holds waves that grow in layers of absorb=pml; with absorb=damped they fade, on any number of
ranks alike, and it sends back less than a sponge. The default takes it for long records of such ground, and of no other; plan tells of both."""
from pathlib import Path

import numpy as np
from check import claim, done
from mini3d import run, write_deck
from netCDF4 import Dataset

H, DT = 10.0, 0.00161655
SOFT, EVEN, FIRM = "0 1600 300 1800\n60 3000 1700 2300\n", "0 1400 300 1800\n", "0 1600 800 1800\n60 3000 1700 2300\n"
MUD, WET = "0 1700 150 1700\n", "0 1500 0 1000\n40 1700 150 1700\n"
Path("nodes.txt").write_text("1 243 0 211\n2 180 41 160\n3 230 12 230\n")
Path("ground.map").write_text("spread nodes list nodes.txt\nshot 1 203 53 nodes y=191\n")


def deck(layers, steps, **more):
    Path("ground.layers").write_text(layers)
    write_deck(**{"keymap": "ground.map", "layers": "ground.layers", "dx": H, "aperture": 20, "depth": 100, "half_length": 2, "npml": 8, "top": "free",
                  "dispersion": "warn", "source": "moment", "mxx": 1e12, "myy": 5e11, "mzz": -1e12, "mxz": 7e11, "myz": 2e11, "fpeak": 1.34, "fmax": 3.75,
                  "tmax": round(steps * DT, 2), "dt_out": round(steps * DT / 300, 4), "components": "vx,vy,vz", "retries": 0, "overwrite": "y",
                  "output": "out.nc", "threads": 1, **more})


def traces(layers, steps, ranks=1, **more):
    deck(layers, steps, **more)
    r = run("par=job.par", ranks=ranks) if ranks > 1 else run("par=job.par")
    claim(r.returncode == 0, f"{more or 'one rank'}: {r.stderr.strip()[-200:] or 'no error'}")
    with Dataset("out.nc") as d:
        return np.array([d[c][0].filled(np.nan) for c in ("vx", "vy", "vz")], dtype=float)


def parts(t):
    return [float(np.abs(p).max()) for p in np.array_split(t, 8, axis=2)]


pml, damped = parts(traces(SOFT, 3200, absorb="pml")), parts(traces(SOFT, 5600))
with Dataset("out.nc") as d:
    claim(d.absorb == "damped", f"with the default the output says absorb = {d.absorb}")
claim(pml[7] > 10 * pml[4], f"absorb=pml, largest velocity in eighths of the record: {' '.join(f'{x:.1e}' for x in pml)} m/s, which grows")
claim(damped[7] < 0.02 * max(damped) and damped[7] < damped[5] < damped[3], f"the default: {' '.join(f'{x:.1e}' for x in damped)} m/s, which must fade")
s = 0.13                                                                                # a moment rate, whose spectrum has its peak at 0
Path("rate.txt").write_text("".join(f"{i * s / 80} {np.exp(-0.5 * (i / 80) ** 2)}\n" for i in range(-440, 441)))
rate = parts(traces(SOFT, 4000, wavelet="file", wavelet_file="rate.txt", fpeak=None))
claim(rate[7] < 0.02 * max(rate) and rate[7] < rate[1], f"of a moment rate in a file: {' '.join(f'{x:.1e}' for x in rate)} m/s, which must fade")
back = {}
early = traces(SOFT, 500, npml=12, absorb="pml")                                        # of which 1e-4 % come back, before anything has grown
for kind in ("damped", "sponge"):
    off = traces(SOFT, 500, npml=12, absorb=kind) - early
    back[kind] = 100 * float(np.sqrt((off ** 2).sum() / (early ** 2).sum()))
claim(back["damped"] < 2 and back["sponge"] > 3 * back["damped"],
      f"layers of 12 cells 4 cells away: absorb=damped sends back {back['damped']:.2g} %, at most 2, a sponge {back['sponge']:.2g} %, over three times as much")
fortran = traces(SOFT, 300, absorb="damped", variant="fortran")
one = traces(SOFT, 300, absorb="damped", variant="cpu")
off = float(np.sqrt(((one - fortran) ** 2).sum() / (fortran ** 2).sum()))
claim(off < 1e-5, f"fortran and cpu: {off:.1e} of the traces apart, must be below 1e-5")
for cut in ("2x1x1", "1x2x1", "1x1x2"):
    pieces = traces(SOFT, 300, ranks=3, absorb="damped", variant="cpu", group=2, decomposition=cut)
    claim(np.abs(one).max() > 0 and np.array_equal(one, pieces), f"group=2, {cut}: the bits of one rank")
for layers, more, damped in ((SOFT, {}, True), (SOFT, {"absorb": "damped"}, True), (SOFT, {"absorb": "pml"}, False), (SOFT, {"absorb": "sponge"}, False),
                             (SOFT, {"top": "pml"}, True), (SOFT, {"tmax": 0.5}, False), (EVEN, {}, False), (FIRM, {}, False),
                             (MUD, {}, False), (WET, {}, True)):
    deck(layers, 3000, **more)
    words = " ".join(run("plan", "par=job.par").stdout.split())
    claim(("they damp along themselves too" in words) is damped and ("give absorb=damped" in words) is (more == {"absorb": "pml"}),
          f"{layers.split(chr(10))} with {more or 'defaults'}: layers {'damp' if damped else 'do not damp'} along themselves, plan says so")
done()
