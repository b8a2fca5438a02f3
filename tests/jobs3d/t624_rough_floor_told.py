#!/usr/bin/env python3
"""A sea floor with steps in layers of PML is told of before a record long enough for what grows there, by plan and run in the same
words; with layer_differences=auto differences along layers are narrow there, as plan, log and output say. Neither where the floor is
level, the half-length 1 or the layers a sponge; the bits are then those of full differences, which nobody need ask for. How far off
such a floor makes waves is told below 20 points per wavelength."""
import re

import numpy as np
from netCDF4 import Dataset

from check import claim, done, given_seed
from mini3d import run, traces, write_deck, write_keymap

SEED = given_seed()
rng = np.random.default_rng(SEED)
N, H = (14, 12, 16), 40.0
DECK = {"layers": None, "vp": "vp.raw", "vs": "vs.raw", "rho": "rho.raw", "model_format": "raw32", "model_order": "xyz", "model_nx": N[0],
        "model_ny": N[1], "model_nz": N[2], "model_dx": H, "model_dy": H, "model_dz": H, "depth": None, "dx": H, "aperture": 100,
        "half_length": 4, "npml": 6, "fpeak": 1.7}


def model(floor):
    """Volumes with the first rock at sample `floor` (nx, ny)."""
    wet = np.arange(N[2])[:, None, None] < np.broadcast_to(floor, N[:2]).T
    for name, water, rock in (("vp", 1500, 6000), ("vs", 0, 3400), ("rho", 1000, 2600)):
        np.where(wet, water, rock).astype("<f4").tofile(f"{name}.raw")


def said(*verb, **changes):
    """What plan or run says: warnings of the floor; narrow differences or not; the rest."""
    write_deck(**{**DECK, "layer_differences": "auto", **changes})
    r = run(*verb, "par=job.par", "overwrite=y")
    text = r.stdout + r.stderr
    warnings = [line.split("the sea floor has steps, and", 1)[1] for line in text.splitlines() if "the sea floor has steps, and" in line]
    return warnings, "have half-length 1 in them (layer_differences)" in text, r


def modelled(**changes):
    """Traces of a short record, whether they were told to be narrow, and by the output."""
    words, narrow, r = said(tmax=0.4, **changes)
    with Dataset("out.nc") as ds:
        noted = getattr(ds, "layer_differences", "") == "narrow"
    return [traces("out.nc", name) for name in ("vx", "vy", "vz")], narrow, noted, r


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b))


write_keymap(1)
rough = np.full(N[:2], 7)
rough[rng.integers(0, N[0]), rng.integers(0, N[1])] += 1
model(rough)
for tmax in (0.4, 7):
    words, narrow, r = said("plan", tmax=tmax)
    claim(narrow and not words, f"one step, a record of {tmax} s: narrow, no warning {words} {r.stderr[-200:]}")
plan, narrow, r = said("plan", tmax=5.1, layer_differences=None)
told = all(word in "".join(plan) for word in ("tenfold in 667 steps", "more than 2000;", "layer_differences=narrow"))
claim(len(plan) == 1 and told and not narrow, f"full: {plan} {r.stderr[-200:]}")
words, narrow, r = said(tmax=5.1, layer_differences="full")
claim(words[:1] == plan and r.returncode == 0, f"run says the same, exit status {r.returncode} {r.stderr[-200:] if r.returncode else ''}")
told = [line for line in r.stdout.splitlines() + r.stderr.splitlines() if "the sea floor is made of stairs" in line]
points = float(re.search(r"grid .* ([\d.]+) points per shortest wavelength", r.stdout + r.stderr)[1])
claim(len(told) == 1 and f"at {points:.3g} points" in told[0] and f"a spacing of {points * H / 20:.3g} m" in told[0], f"stairs: {told}")
words, narrow, r = said("plan", tmax=0.4, fpeak=1.7 * points / 20.5)
claim("stairs of cells" not in r.stdout + r.stderr and r.returncode == 0, f"20.5 points: nothing said of stairs {r.stderr[-200:]}")
for what, changes in (("half-length 1", {"half_length": 1, "dispersion": "warn"}), ("a sponge", {"absorb": "sponge", "layer_differences": None}),
                      ("full, a record of 2 s", {"tmax": 2, "layer_differences": "full"})):
    words, narrow, r = said("plan", **{"tmax": 7, **changes})
    claim(not words and not narrow and r.returncode == 0, f"{what}: neither {words} {r.stderr[-200:]}")
words, narrow, r = said("plan", absorb="sponge", layer_differences="narrow")
claim(r.returncode != 0 and "layer_differences" in r.stderr, f"narrow beside a sponge is refused: {r.stderr[-200:]}")

auto, narrow, noted, r = modelled()
claim(narrow and noted and r.returncode == 0, f"run: log says narrow: {narrow}, the output: {noted}")
r = run("par=job.par", "layer_differences=full")
claim(r.returncode != 0 and "fingerprint" in r.stderr, f"an output begun with narrow differences does not go on with full ones: {r.stderr[-300:]}")
asked, narrow, noted, r = modelled(layer_differences="narrow")
claim(same(auto, asked) and narrow and noted, "narrow as asked: the same bits")
full, narrow, noted, r = modelled(layer_differences=None)
claim(not same(auto, full) and not narrow and not noted, "nothing said: full, other traces")

model(7)
words, narrow, r = said("plan", tmax=7)
claim(not words and not narrow and "stairs" not in r.stdout + r.stderr and r.returncode == 0, f"a level floor: neither {words} {r.stderr[-200:]}")
auto, narrow, noted, r = modelled()
full, *_ = modelled(layer_differences="full")
claim(same(auto, full) and not narrow and not noted, "a level floor: the bits of full differences")
done()
