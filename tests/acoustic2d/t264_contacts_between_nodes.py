#!/usr/bin/env python3
"""A contact anywhere between the nodes, by default: what it reflects and lets through against the integral over wavenumber. The model
has samples of a quarter of the grid's spacing or less; of three media the contact is flat, upright and dipping. Samples make stairs of a
contact that dips, which is what such a model means: 2.5 m high they shift what comes back by 0.12 ms, 1.25 m high by 0.06, 0.6 m by 0.03.

CONTACTS=FILE tests/run t264 goes through all media, places, distances and points per wavelength and writes a table into FILE (half an
hour)."""
import itertools
import os

import numpy as np

from check import claim, done, drawn, given_seed
from exact import Frequencies, full_space, shoot, two_half_spaces

MEDIA = {"strong": ((1500.0, 1000.0), (2500.0, 2200.0)), "sea floor": ((1500.0, 1000.0), (1800.0, 1900.0)),
         "density alone": ((1500.0, 1000.0), (1500.0, 2200.0))}
H = 10.0
SEED = given_seed()
rng = np.random.default_rng(SEED)
TABLE = os.environ.get("CONTACTS")
# Distance along the contact and beyond it, of 400 m or what the source is away: near, wide, beyond the critical angle, two below.
RECEIVERS = np.array([[0.1, -0.8], [0.7, -0.6], [1.6, -0.5], [2.4, -0.3], [0.3, 0.5], [0.9, 0.4]])
KINDS = {"reflection": slice(0, 2), "wide angle, head wave": slice(2, 4), "transmission": slice(4, 6)}


def contact(medium, place, points, away=400.0, dip=0.0, rule="cell", sample=2.5, aside=0.0):
    """Errors of the six traces [%], of what is reflected or let through, and of their times [ms], as the part of the error that a
    shift in time would make; the source is `away` [m] above a contact that lies `place` [m] beyond a node, and `aside` [m] along it."""
    upper, lower = MEDIA[medium]
    fmax = upper[0] / (points * H)
    fpeak = fmax / 2.777
    delay = 1.3 / fpeak
    along, beyond = (np.array(v) for v in ((np.cos(dip), np.sin(dip)), (-np.sin(dip), np.cos(dip))))
    source, receivers = np.array([0.0, -away]), RECEIVERS * max(away, 400.0)
    points_of = np.vstack([source, receivers])
    tmax = float(np.hypot(receivers[:, 0], away + np.abs(receivers[:, 1])).max() / 1500 + 2.6 / fpeak + 0.1)     # echoes end in it
    world = points_of[:, :1] * along + points_of[:, 1:] * beyond
    margin = 1500 if 0 < abs(dip) < 1 else 200           # beyond its edges a model goes on level: a bend there would be heard
    node = -np.floor((world.min(0) - margin) / H) * H
    world += node + place * beyond + aside * along
    x, z = (np.arange(int(np.ceil((world[:, a].max() + margin) / sample)) + 1) * sample for a in (0, 1))
    depth = (x[:, None] - node[0]) * beyond[0] + (z - node[1]) * beyond[1] - place
    vp, rho = (np.where(depth > 1e-6 * H, b, a) for a, b in zip(upper, lower))
    grid = {"dx": H, "dz": H, "regrid": rule} if rule else {"dx": H, "dz": H}
    t, p, *_ = shoot(vp, rho, sample, world[0], world[1:], tmax=tmax, dt_out=0.004, fpeak=fpeak, fmax=fmax, delay=delay, **grid)
    f = Frequencies(tmax, 2.2 * fmax, fpeak, delay)
    length, kmax = 6250 * tmax + 2 * max(away, 400.0), 1.05 * 2 * np.pi * 2.2 * fmax / 1500 + 0.02
    exact = f.traces(two_half_spaces(f, upper, lower, 0.0, source, receivers, length, kmax)[0], t)
    echo = exact.copy()
    above = receivers[:, 1] < 0
    echo[above] -= f.traces(full_space(f, *upper, receivers[above, 0], receivers[above, 1] + away)[0], t)
    slope = np.gradient(echo, t, axis=1)
    late = -1000 * ((p - exact) * slope).sum(1) / (slope**2).sum(1)
    return 100 * np.linalg.norm(p - exact, axis=1) / np.linalg.norm(echo, axis=1), np.abs(late)


def shallow(cells, points):
    """Errors of pressure and velocity [%], worst of receivers 6 to 35 cells away, where a sea floor lies so many cells below a free
    surface, against cells as small as samples."""
    n, sample = (181, 81), 2.5
    below = np.broadcast_to(np.arange(n[1]) * sample > cells * H, n)
    vp, rho = (np.where(below, b, a) for a, b in ((1500.0, 2200.0), (1000.0, 2000.0)))
    source = np.array([82.0 + rng.uniform(0, H), rng.uniform(0.3, 0.7) * H])
    receivers = source + [[90, 0], [160, 4], [-60, 2], [350, -1], [120, 33], [250, 80]]
    fpeak = 1500 / (points * H) / 2.777
    deck = {"top": "free", "tmax": 0.5, "dt_out": 0.004, "fpeak": fpeak, "delay": 1.3 / fpeak}
    fine, own = (shoot(vp, rho, sample, source, receivers, dx=h, dz=h, **deck)[1:] for h in (sample, H))
    off, size = (np.linalg.norm(a, axis=2) for a in (np.array(own) - fine, np.array(fine)))
    return 100 * (off[0] / size[0]).max(), 100 * (np.hypot(*off[1:]) / np.hypot(*size[1:])).max()


def words(off, late):
    return ", ".join(f"{kind} {off[part].max():.2f} % {late[part].max():.3f} ms" for kind, part in KINDS.items())


def check(what, off, late, points):
    bounds = {"reflection": 2.5 if points == 5 else 1.0, "wide angle, head wave": 2.0, "transmission": 1.1}
    good = all(off[part].max() <= bounds[kind] for kind, part in KINDS.items()) and late.max() <= 0.1
    claim(good, f"{what} at {points} points per shortest wavelength: {words(off, late)}, at most "
          + ", ".join(f"{b} %" for b in bounds.values()) + ", 0.1 ms")
    if TABLE:
        with open(TABLE, "a", encoding="ascii") as table:
            table.write(f"{what}, {points} points: {words(off, late)}\n")


def all_cases():
    """A sample's cell ends half a sample beyond it, so contacts lie there."""
    places = [(2.5, p) for p in (1.25, 3.75, 6.25, 8.75)] + [(1.25, p) for p in (0.625, 3.125, 5.625, 9.375)]
    for away, (dip, name), medium in itertools.product(
            (400.0, 3.0, 2000.0), ((0.0, "flat"), (np.pi / 2, "upright"), (np.radians(10), "dips by 10 degrees")), MEDIA):
        for points in (5, 10):
            level = dip in (0.0, np.pi / 2)
            rows = [contact(medium, place, points, away, dip, sample=sample if level else 1.25) for sample, place in places]
            off, late = (np.max([row[i] for row in rows], axis=0) for i in (0, 1))
            check(f"{medium}, {name}, source {away:g} m away, worst of {len(places)} places", off, late, points)


if TABLE:
    all_cases()
else:
    check("density alone, flat, 6.25 m beyond a node", *contact("density alone", 6.25, 5, rule=None), 5)
    check("density alone, flat, 6.25 m beyond a node", *contact("density alone", 6.25, 10), 10)
    check("strong, flat, 8.75 m beyond a node", *contact("strong", 8.75, 5), 5)
    check("sea floor, upright, 6.25 m beyond a node", *contact("sea floor", 6.25, 5, dip=np.pi / 2), 5)
    check("strong, dips by 10 degrees", *contact("strong", 3.75, 5, dip=np.radians(10), sample=1.25), 5)
    for points, medium, (dip, name) in drawn(3, itertools.product((5, 10), MEDIA, ((0.0, "flat"), (np.pi / 2, "upright"))), SEED):
        sample = rng.choice([2.5, 1.25])
        place, aside = (rng.integers(H / sample) + 0.5) * sample, rng.uniform(0, H)
        check(f"{medium}, {name}, {place:g} m beyond a node, source 3 m from it (seed {SEED})",
              *contact(medium, place, points, 3.0, dip, sample=sample, aside=aside), points)
    off, late = contact("density alone", 3.75, 10, dip=np.radians(-20))
    claim(off.max() <= 1 and late.max() <= 0.2, f"density alone, rises by 20 degrees, at 10 points: {words(off, late)}, at most 1 %, 0.2 ms")
    for points, bound in ((6, 6.0), (10, 5.0)):
        cells = (rng.integers(5, 17) + 0.5) / 4
        p, v = shallow(cells, points)
        claim(max(p, v) <= bound, f"sea floor {cells:g} cells below a free surface, at {points} points: pressure within {p:.1f} %, velocity within "
              f"{v:.1f} %, at most {bound} %")
    old = contact("sea floor", 1.25, 5, rule="average")[0][0]
    claim(old > 10, f"regrid=average goes on to make {old:.0f} % of the reflection of a sea floor, more than 10 %")
done()
