#!/usr/bin/env python3
"""3D: what is recorded within a few cells of an air gun or explosion below a free surface of water, and farther away, is that of the source and its
negative image, in closed form; so it is with even weights, which a Q of 900 asks for, and where the surface is far above. Receivers close to a force
there, and in water above layers of rock are told of; those in rock alone and in water above one rock are not, as what the grid lacks there is added too
(t638, t639). Water that is told in several thin layers has the same surface."""
from pathlib import Path

import numpy as np
from check import claim, done, drawn, given_seed
from mini3d import run, traces, write_deck

SEED = given_seed()
rng = np.random.default_rng(SEED)
C, RHO, H, POINTS = 1480.0, 1020.0, 10.0, 8
FMAX = C / (POINTS * H)
FPEAK, DELAY = FMAX / 2.777, 1.2 * 2.777 / FMAX
KINDS = {"p": ("p", "sxx", "szz"), "v": ("vx", "vy", "vz"), "e": ("exx", "eyy", "ezz", "exz")}
NAMES = sum(KINDS.values(), ())
TOLD = "receiver(s) are closer than"


def ricker(t):
    """The wavelet and two derivatives."""
    a = np.pi * FPEAK
    x = a * (t - DELAY)
    e = np.exp(-x**2)
    return (1 - 2 * x**2) * e, a * (4 * x**3 - 6 * x) * e, a**2 * (-6 + 24 * x**2 - 8 * x**4) * e


def full_space(x, t):
    """Of a rate of volume: pressure rho Q'(t - r/c)/(4 pi r), v = -grad of Q(t - r/c)/(4 pi r), the gradient of v."""
    r = np.linalg.norm(x)
    q, q1, q2 = (d / (4 * np.pi) for d in ricker(t - r / C))
    slope, bend = -q / r**2 - q1 / (C * r), 2 * q / r**3 + 2 * q1 / (C * r**2) + q2 / (C**2 * r)
    n = x / r
    return RHO * q1 / r, -np.multiply.outer(n, slope), -np.multiply.outer(np.outer(n, n), bend - slope / r) - np.multiply.outer(np.eye(3), slope / r)


def exact(source, place, t):
    above = source * [1, 1, -1]
    p, v, g = (a - b for a, b in zip(full_space(place - source, t), full_space(place - above, t)))
    of = dict(p=p, sxx=-p, szz=-p, **{"v" + a: v[i] for i, a in enumerate("xyz")},
              **{"e" + a + b: g[i, j] for i, a in enumerate("xyz") for j, b in enumerate("xyz")})
    return np.stack([of[n] for n in NAMES])


def shoot(verb, layers, at, places, **words):
    Path("line.keymap").write_text(f"spread net list stations\nshot 1 {at[0]} {at[2]} net y={at[1]}\n")
    Path("stations").write_text("".join(f"{i + 1} {x} {z} {y}\n" for i, (x, y, z) in enumerate(places.tolist())))
    Path("earth.layers").write_text(layers)
    write_deck(**{**dict(dx=H, aperture=40, depth=150, npml=8, half_length=2, fpeak=FPEAK, fmax=FMAX, delay=DELAY, tmax=2.2 * DELAY, dt_out=0.1 / FMAX,
                         components=",".join(NAMES), top="free", dispersion="warn", overwrite="y", threads=2), **words})
    r = run(*verb, "par=job.par")
    if r.returncode:
        claim(False, f"exit status {r.returncode}: {r.stderr[-500:]}")
        done()
    return r.stdout + r.stderr


def around(at, n, deepest, furthest):
    """Places so many cells below the surface and beside the source, at any azimuth; two are far away."""
    depth, offset, way = rng.uniform(0.3, deepest, n), rng.uniform(0.3, furthest, n), rng.uniform(0, 2 * np.pi, n)
    depth[0] = 0.3                                                  # where pressure is weak
    offset[1:3] = 10, 11
    return np.stack([at[0] + H * offset * np.cos(way), at[1] + H * offset * np.sin(way), H * depth], 1)


def compare(what, at, places, bounds, q="", **words):
    said = shoot((), f"0 {C} 0 {RHO} {q} {q}\n", at, places, **words)
    got = np.stack([traces("out.nc", "pressure" if n == "p" else n)[0] for n in NAMES], 1)
    t = np.arange(got.shape[-1]) * 0.1 / FMAX
    want = np.stack([exact(at, x, t) for x in places]) * (1e9 / (RHO * C**2) if words.get("source") == "explosion" else 1)
    worst = []
    for names in KINDS.values():
        c = [NAMES.index(n) for n in names]
        worst.append(float((100 * np.linalg.norm((got - want)[:, c], axis=(1, 2)) / np.linalg.norm(want[:, c], axis=(1, 2))).max()))
    claim(all(w <= b for w, b in zip(worst, bounds)) and TOLD not in said,
          f"{what}, {at[2] / H:.2f} cells deep: {', '.join(f'{k} {w:.2g}' for k, w in zip(KINDS, worst))} % from source and image, bounds {bounds}"
          f"{'; told of' if TOLD in said else ''}")


def place(depth):
    return np.array([*rng.uniform(-0.5, 0.5, 2), depth]) * H


for half, deepest in drawn(3, [(half, deepest) for half in (1, 2, 3, 4) for deepest in (1, 4)], SEED):
    middle = place(rng.uniform(0.3, deepest))
    kind = {"source": "volume"} if rng.integers(2) else {"source": "explosion", "m0": 1e9}
    bounds = (4.5, 3.5, 4) if half == 1 else (0.8, 0.3, 0.4)
    compare(f"{kind['source']}, half-length {half}", middle, around(middle, 12, 4, 4.2), bounds, half_length=half, **kind)
middle = place(rng.uniform(0.6, 3))
compare("volume, even weights", middle, around(middle, 12, 4, 4.2), (2.5, 1.5, 1.5), q="900")
middle = place(rng.uniform(23, 25))                                 # half a period of the sum
ways = rng.normal(size=(8, 3))
places = middle + H * rng.uniform(0.3, 4, 8)[:, None] * ways / np.linalg.norm(ways, axis=1)[:, None]
compare("volume, half-length 1", middle, places, (4, 4, 4), half_length=1, depth=320)

middle = place(1.3)
places = around(middle, 5, 4, 3)
thick, thin = (np.stack([traces("out.nc", c)[0] for c in ("vx", "vz", "pressure")]) for tops in ((0, 90), (0, 20, 30, 70, 90))
               if shoot((), "".join(f"{z} {C} 0 {RHO}\n" for z in tops) + "110 3000 1700 2300\n", middle, places,
                        components="vx,vz,p", half_length=1))
claim(np.array_equal(thick, thin), f"water in layers of 20, 10, 40 m on cells of 10 m is that of one layer: {np.abs(thick - thin).max():.3g} off, must be 0")
water, rock = f"0 {C} 0 {RHO}\n", "0 3000 1700 2300\n"
for what, layers, told, words in (("volume in water", water, False, {}), ("a force in water", water, True, {"source": "force", "fz": 1.0}),
                                  ("volume in rock", rock, False, {}), ("water of 5 cells over rock", water + rock.replace("0", "50", 1), False, {}),
                                  ("the same over two kinds of rock", water + rock.replace("0", "50", 1) + "80 4000 2300 2500\n", True, {})):
    said = shoot(("plan",), layers, middle, places, components="p,vx,vz", **words)
    claim((f"3 {TOLD} 6 cells" in " ".join(said.split())) is told, f"{what}: receivers are {'' if told else 'not '}told of")
done()
