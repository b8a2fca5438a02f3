#!/usr/bin/env python3
"""3D: within a few cells of an air gun beside a flat sea floor, on a face of the cells or in one, below a free surface of the water or without, what is
recorded in water and in rock is the exact field of a volume in water over rock (exact_floor.py), and its differences over 0.6 m. Rock, places, half-lengths and
wavelets are drawn at random. Errors are of all components of a kind together. Ranks that share a shot agree, and receivers are not told of, but of a
source in the rock."""
import numpy as np

from check import ALL, claim, done, given_seed
from exact_floor import floor_components
from exact_layers import SLOPES, STRESS, VELOCITY as V
from near_shot import TOLD, near_shot

SEED = given_seed()
rng = np.random.default_rng(SEED)
H, TIMES, WATER = 10.0, 231, (1500.0, 1000.0)
# The kind, its components, whether in rock, bounds [%] of the worst and of the average for a wavelet that leaves a volume, and for one that leaves none
KINDS = (("velocity", V, False, (12, 5), (9, 4)), ("pressure", ("p",), False, (12, 5), (9, 4)), ("strain and rotation", SLOPES, False, (35, 12), (20, 8)),
         ("velocity", V, True, (15, 8), (10, 5)), ("stress", STRESS, True, None, (35, 15)), ("strain and rotation", SLOPES, True, (60, 25), (30, 12)))


def modelled(rock, floor, place, stations, components, half_length, dt, **changes):
    words = {"dx": H, "half_length": half_length, "depth": floor + 100, "tmax": dt * (TIMES - 1), "dt_out": dt}
    return near_shot([(0, WATER[0], 0, WATER[1]), (floor, *rock)], place, stations, components, **{**words, **changes})


def around(place, floor):
    """Three stations in the water and three in the rock, where the exact sum converges."""
    found = []
    while len(found) < 6:
        way = rng.normal(size=3)
        station = place + way * H * rng.uniform(0.4, 6.4) / np.linalg.norm(way)
        rock = station[2] > floor
        if max(1, floor - 4 * H) < station[2] < floor + 3 * H and abs(station[2] - floor) > 1 and sum((s[2] > floor) == rock for s in found) < 3:
            found.append(station)
    return np.array(sorted(found, key=lambda s: s[2]))


def compare(free):
    within = 0.0 if free or rng.integers(2) else rng.uniform(0.05, 0.8)
    vs = rng.uniform(1300 if within else 600, 2800)                                      # over softer rock a floor in a cell goes to a face
    rock = (max(vs * rng.uniform(1.65, 2.2), 1600), vs, rng.uniform(1800, 2700))
    floor = H * int(rng.integers(5, 9)) if free else 90.0 + within * H
    up = rng.uniform(0.05, 4)
    place = np.array([*rng.uniform(-5, 5, 2), floor - (within + up) * H])               # a source in the floor's cell is told of
    half_length = int(rng.choice([1, 2, 2, 2 if within else 4]))                         # beside a floor in a cell long ones are told of
    stays = half_length <= 2 and bool(rng.integers(2))
    stations = around(place, floor)
    sigma = (2 if half_length == 1 else 1) * 4.2 * H / min(vs, WATER[0])                 # 2 % of the spectrum is left at 9 points, 18 of half-length 1
    T = round((12.5 * sigma + 0.12) / (TIMES - 1), 5) * np.arange(TIMES)
    delay, peak = 5.4 * sigma, 1 / (2**0.5 * np.pi * sigma)
    words = {"wavelet": "gauss", "sigma": sigma} if stays else {"wavelet": "ricker", "fpeak": peak}

    def spectrum(w):
        """Of exp(-t**2/(2 sigma**2))/sqrt(2 pi)/sigma, or of its second derivative times -sigma**2."""
        return np.exp(-0.5 * (w * sigma) ** 2 - 1j * w * delay) * (1 if stays else (w * sigma) ** 2 * sigma * (2 * np.pi) ** 0.5)

    right = floor_components(WATER, rock, floor, place[2], stations - [place[0], place[1], 0], spectrum, 1.4 / sigma, T, free)
    got = modelled(rock, floor, place, stations, V + STRESS + ("p",) + SLOPES, half_length, T[1], source="volume", delay=delay,
                   top="free" if free else "pml", **words)
    for kind, names, solid, bounds, others in KINDS:
        of, limit = (stations[:, 2] > floor) == solid, bounds if stays else others
        if limit is None or (solid and kind != "velocity" and (half_length == 4 or within)):             # these may be off by tens of per cent
            continue
        limit = [(4 if within else 2.5 if half_length == 4 else 1) * most for most in limit]
        size = np.sqrt(sum(np.linalg.norm(right[c][of], axis=1) ** 2 for c in names))
        errors = 100 * np.sqrt(sum(np.linalg.norm(got[c][of] - right[c][of], axis=1) ** 2 for c in names)) / size
        claim(errors.max() < limit[0] and errors.mean() < limit[1], f"{kind} at three receivers in {'rock' if solid else 'water'}, half-length "
              f"{half_length}, air gun {up + within:.2f} cells above rock of vs {vs:.0f}, {'a free surface, ' if free else ''}"
              f"{f'floor {within:.2f} of a cell below a face, ' if within else ''}{words['wavelet']}: at most "
              f"{errors.max():.2f}, on average {errors.mean():.2f} %, bounds {limit[0]} and {limit[1]} (seed {SEED})")


for draw in range(12 if ALL else 1):
    for surface in (False, True):
        compare(surface)
CASE = ((3500, 2000, 2300), 90, (3, 4, 79), [(20, -11, 95), (-7, 9, 86)], ("vx", "vz", "p", "exz"), 2, 0.002)
one, two = (modelled(*CASE, ranks=ranks, group=group, source="volume", wavelet="gauss", sigma=0.03, delay=0.16, top="pml", decomposition=cut)
            for ranks, group, cut in ((1, 1, "auto"), (3, 2, "2x1x1")))
claim(all(np.array_equal(one[c], two[c]) and np.abs(one[c]).max() > 0 for c in one), "two ranks that share a shot beside a sea floor record the same bits")
SOFT = (1600, 700, 2000)                          # a floor in a cell goes to a face
for what, rock, floor, z, told in (("an air gun beside a sea floor", CASE[0], 90, 79, False), ("an explosion in the rock below", CASE[0], 90, 97, True),
                                   ("an air gun beside a sea floor in a cell", CASE[0], 94, 79, False), ("the same over soft rock", SOFT, 97.7, 79, True),
                                   ("an air gun in the floor's cell", CASE[0], 97, 95, True)):
    said = modelled(rock, floor, (3, 4, z), *CASE[3:], verb=("plan",), source="volume", wavelet="gauss", sigma=0.03, delay=0.16, top="pml")
    claim((f"2 {TOLD} 6 cells" in said) == told, f"receivers close to {what} are {'' if told else 'not '}told of")
done()
