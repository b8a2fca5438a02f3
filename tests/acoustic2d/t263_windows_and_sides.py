#!/usr/bin/env python3
"""A piece of the model answers as the whole does: windows, sides that cut layers; and invariances of traces."""

import numpy as np

from check import claim, done
from exact import COMPONENTS, shoot

H = 10.0
JOB = {"fpeak": 9, "tmax": 1.2, "dt_out": 0.004, "top": "free", "delay": 0.15}


def medium(x, z):
    """A dipping contact and stripes across it."""
    below = z > 150 + 0.25 * np.abs(x - 900)
    stripe = 300 * np.sin(x / 37) * np.sin(z / 23 + x / 91)
    return np.where(below, 2800.0, 1500 + 0.3 * z) + np.maximum(stripe, 0), np.where(below, 2200.0, 1000.0) + stripe / 3


def grid(left, right, bottom, clip=None):
    """Medium on nodes left..right, 0..bottom; with clip = (left, right, bottom) its values there go on outside."""
    x, z = np.meshgrid(np.arange(left, right + 1, H), np.arange(0, bottom + 1, H), indexing="ij")
    return medium(*(x, z) if clip is None else (np.clip(x, clip[0], clip[1]), np.minimum(z, clip[2])))


def decibels(a, b):
    return 10 * np.log10(np.max(np.sum((a - b)**2, axis=-1) / np.sum(b**2, axis=-1)))


# Sides and bottom cut dip and stripes; the edge values go on outside. In the big model nothing comes back in time.
source, receivers = (500.0, 47.0), [(300.0 + 100 * i, z) for i in range(14) for z in (113.0, 310.0)]
sides = (0, 1800, 600)
big = shoot(*grid(-1400, 3200, 2100, sides), H, source, receivers, model_x0=-1400, **JOB)
small = shoot(*grid(*sides), H, source, receivers, **JOB)
for name, a, b in zip(COMPONENTS, small[1:], big[1:]):
    claim(decibels(a, b) < -60, f"absorbing sides cut a dipping contact, a free surface meets them: {name} {decibels(a, b):.0f} dB "
          "from the model that goes on, at most -60 dB")

# Windows, on the model's grid and on a finer and a coarser one.
vp, rho = grid(-400, 3200, 700)
source, receivers = (1403.7, 8.0), [(1403.7 + 50 * i, 9.0) for i in range(-6, 7)]
for dx in (10.0, 7.0, 12.5):
    job = {**JOB, "dx": dx, "dz": dx, "model_x0": -400, "dispersion": "warn"}
    whole = shoot(vp, rho, H, source, receivers, **job)
    part = shoot(vp, rho, H, source, receivers, aperture=333, **job)
    first = 2 * 333 / vp.max() + 0.15 - 1.3 / 9             # sooner nothing has been to the window's side and back
    difference = np.max(np.abs(part[1] - whole[1])[:, part[0] < first]) / np.max(np.abs(whole[1]))
    late = np.max(np.abs(part[1] - whole[1])) / np.max(np.abs(whole[1]))
    claim(difference < 1e-6 < late, f"window of 333 m aperture, grid of {dx:g} m: {difference:.1e} of the largest pressure from "
          f"the whole model before its sides can tell, at most 1e-6 (after: {late:.0e})")

# No layers: the energy of the closed box stays, within the band of its modes.
rng = np.random.default_rng(1)
t, p, *_ = shoot(rng.uniform(1500, 4500, (51, 41)), rng.uniform(1000, 3000, (51, 41)), H, (213.0, 57.0),
                 [(333.0, 117.0), (20.0, 33.0)], fpeak=9, tmax=6, dt_out=0.005, top="free", npml=0)
ratio = np.mean(p[:, t > 4.5]**2) / np.mean(p[:, (t > 1.5) & (t < 3)]**2)
claim(0.7 < ratio < 1.4, f"npml=0: power late in the record {ratio:.2f} of that before, 0.7 to 1.4")

# Invariances: traces keep their shape.
vp, rho = grid(0, 1000, 700)
source, receivers = (203.7, 12.9), np.array([(811.1, 433.3), (300.0, 50.0), (503.0, 8.0)])
t, *base = shoot(vp, rho, H, source, receivers, **JOB)


def same(what, others, bound=1e-5):
    worst = max(np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(others, base))
    claim(worst < bound, f"{what}: {worst:.1e} relative, at most {bound:.0e}")


later = shoot(vp, rho, H, source, receivers, **{**JOB, "delay": 0.15 + 7 * 0.004, "tmax": 1.2 + 7 * 0.004})
same("the wavelet 7 samples later: traces 7 samples later", [a[:, 7:] for a in later[1:]])
for amplitude in (1e-20, -1e20):
    louder = shoot(vp, rho, H, source, receivers, amplitude=amplitude, **JOB)[1:]
    same(f"amplitude={amplitude:g}: traces times that", [a / amplitude for a in louder])
mirror = shoot(vp[::-1], rho[::-1], H, (1000 - source[0], source[1]), receivers * [-1, 1] + [1000, 0], **JOB)[1:]
same("mirrored left to right", [mirror[0], -mirror[1], mirror[2]])
coarse = {**JOB, "dx": 12.5, "dz": 12.5, "top": "pml"}
own, base = base, shoot(vp, rho, H, source, receivers, **coarse)[1:]
mirror = shoot(vp[::-1], rho[::-1], H, (1000 - source[0], source[1]), receivers * [-1, 1] + [1000, 0], **coarse)[1:]
same("mirrored left to right, grid of 12.5 m", [mirror[0], -mirror[1], mirror[2]])
mirror = shoot(vp[:, ::-1], rho[:, ::-1], H, (source[0], 700 - source[1]), receivers * [1, -1] + [0, 700], **coarse)[1:]
same("the same, top to bottom, where the source is next to the layer", [mirror[0], mirror[1], -mirror[2]], 5e-5)
base = own
same("all densities times 7", [a / f for a, f in zip(shoot(vp, 7 * rho, H, source, receivers, **JOB)[1:], (7, 1, 1))])
for top in ("free", "pml"):
    one, two = (shoot(vp, rho, H, a, [b], **{**JOB, "top": top})[1] for a, b in ((source, receivers[0]), (receivers[0], source)))
    base = [two]
    same(f"source and receiver exchanged, top={top}", [one], 2e-5)

# Air above rock asks for a smaller step than the velocities do, which the program finds by itself; it reflects as a free surface.
shape = (101, 61)
rock = np.broadcast_to(np.arange(shape[1]) * H > 195, shape)
job = {**JOB, "source": (500.0, 262.0), "receivers": [(560.0, 300.0), (700.0, 350.0)], "tmax": 0.8, "fpeak": 6, "delay": 0.23,
       "dispersion": "warn"}
for half_length, bound in ((4, -24), (1, -55)):
    job["half_length"] = half_length
    air = shoot(np.full(shape, 1500.0), np.where(rock, 2000.0, 1.2), H, **{**job, "top": "pml"})[1]
    free = shoot(np.full(shape, 1500.0), np.full(shape, 2000.0), H, model_z0=195, **job)[1]
    off = decibels(air[None], free[None])
    claim(off < bound, f"air of 1.2 kg/m3 above rock against a free surface, half-length {half_length}, 9 points per wavelength: "
          f"{off:.0f} dB, bound {bound} dB")
job["half_length"] = 4
try:
    shoot(np.full(shape, 1500.0), np.where(rock, 2000.0, 1.2), H, dt=0.003, **{**job, "top": "pml"})
    claim(False, "a step too large for the contrast is refused")
except RuntimeError as refusal:
    told = str(refusal).strip()
    claim("make dt = 0.003 s unstable" in told and "parked" not in told, f"a step too large for it: {told[-160:]}")
done()
