#!/usr/bin/env python3
"""3D: contacts of rock inside cells beside the outermost ones of a window, along its sides, edges and corners, with the stiffer rock outside: the
outermost cells go on in the absorbing layers, and no field grows there. Flat layers that end right below a contact, and volumes with one through
random places of random cells. Nor does one grow where cells are longer across a contact than along it: stiffened cells are a sheet there, the waves
along which see little else."""
import numpy as np
from netCDF4 import Dataset

from check import claim, done, given_seed
from mini3d import run

SEED = given_seed()
rng = np.random.default_rng(SEED)
H, N, FINE = 100.0, 12, 4                     # cells, of so many samples
KINDS = ("vx", "vy", "vz")
TENSOR = {f"m{a}": repr(float(v)) for a, v in zip(("xx", "yy", "zz", "xy", "xz", "yz"), 1e17 * rng.uniform(-1, 1, 6))}
BASE = {"keymap": "near.keymap", "npml": 8, "top": "pml", "source": "moment", "wavelet": "gauss", "sigma": 0.15, "delay": 0.75, "tmax": 6, "dt_out": 0.02,
        "dispersion": "warn", "threads": 1, "retries": 0, "components": ",".join(KINDS), "output": "out.nc", "overwrite": "y", **TENSOR}


def left(what, **deck):
    """Claims that a job does not blow up, and that nothing is left after the waves if it is long enough."""
    r = run(*(f"{k}={v}" for k, v in {**BASE, **deck}.items()))
    if not claim(r.returncode == 0, f"{what} (seed {SEED}): {r.stderr[-300:] if r.returncode else 'a job'}"):
        return
    if "tmax" in deck:
        return
    with Dataset("out.nc") as ds:
        traces = np.array([ds[c][0].filled(0).astype(float) for c in KINDS])
    most, rest = np.abs(traces).max(), np.abs(traces[:, :, -75:]).max()
    claim(0 < rest < 2e-4 * most, f"of the waves {rest / most:.1e} is left after 4.5 s, bound 2e-4")


def rock():
    """vp, vs, rho of upper and lower rock, of which the lower is stiffer."""
    stiff, kinds = rng.uniform(1.3, 1.7), rng.uniform(1.65, 2.1, 2)
    return (kinds[0] * 2000, 2000, 2400), (kinds[1] * 2000 * stiff, 2000 * stiff, 2500)


half = N * H / 2
with open("near.stations", "w", encoding="ascii") as f:
    f.writelines(f"{i + 1} {x!r} {z!r} {y!r}\n" for i, (x, y, z) in enumerate(rng.uniform(3 * H, 9 * H, (4, 3)).tolist()))
with open("near.keymap", "w", encoding="ascii") as f:
    f.write(f"spread near list near.stations\nshot 1 {half + 40} {half - 30} near y={half}\n")
upper, lower = rock()
within, half_length = rng.uniform(0.2, 0.8), int(rng.choice([1, 2, 4]))
with open("two.layers", "w", encoding="ascii") as f:
    f.writelines(" ".join(map(repr, map(float, row))) + "\n" for row in ((0, *upper), ((N - 2 + within) * H, *lower)))
left(f"flat layers that end {2 - within:.2f} cells below a contact, vs 1 : {lower[1] / upper[1]:.2f}, half-length {half_length}", layers="two.layers", dx=H,
     aperture=2 * H, depth=N * H, half_length=half_length)

wide = rng.choice([H / 4, H], 2)
wide[rng.integers(2)] = H / 4
rows = ((0, *upper), ((N // 2 + within) * H, *lower), ((N - 3 + within) * H, *upper))
with open("two.layers", "w", encoding="ascii") as f:
    f.writelines(" ".join(map(repr, map(float, row))) + "\n" for row in rows)
left(f"cells of {wide[0]:g} x {wide[1]:g} x {H:g} m around contacts {within:.2f} of a cell below a face, vs 1 : {lower[1] / upper[1]:.2f}, half-length "
     f"{half_length}", layers="two.layers", dx=wide[0], dy=wide[1], dz=H, aperture=H, depth=N * H, half_length=half_length, tmax=1.5)

x = H / FINE * (np.arange(N * FINE) + 0.5)
DECK = {"vp": "vp.raw", "vs": "vs.raw", "rho": "rho.raw", "model_format": "raw32", **{f"model_n{a}": N * FINE for a in "xyz"},
        **{f"model_d{a}": H / FINE for a in "xyz"}, **{f"model_{a}0": H / FINE / 2 for a in "xyz"}, **{f"d{a}": H for a in "xyz"}}
for axes in ("x", "yz", "xz", "xyz"):
    upper, lower = rock()
    along = np.array([a in axes for a in "xyz"])
    end = rng.choice([0, 1], 3)               # of the window, along each axis
    end[2] = 1
    n = np.where(along, rng.uniform(0.5, 1, 3), 0) * (2 * end - 1)
    place = np.where(end == 1, N - 2 + rng.uniform(0.2, 0.8, 3), 1 + rng.uniform(0.2, 0.8, 3)) * H
    beyond = sum(c * (g - p) for c, g, p in zip(n, np.meshgrid(x, x, x, indexing="ij"), place)) > 0
    for name, above, below in zip(("vp", "vs", "rho"), upper, lower):
        np.where(beyond, below, above).transpose(2, 1, 0).astype("<f4").tofile(f"{name}.raw")
    half_length = int(rng.choice([1, 2, 4]))
    left(f"volumes with a contact across {axes} in a cell beside the outermost, vs 1 : {lower[1] / upper[1]:.2f}, half-length {half_length}",
         half_length=half_length, **DECK)
done()
