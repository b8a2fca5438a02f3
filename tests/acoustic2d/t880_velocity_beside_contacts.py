#!/usr/bin/env python3
"""Velocity beside a contact is right by the default rule of averages, as the integral over wavenumber confirms. By other rules, whose
grids do not know what they lack, receivers there are told of before the first shot, by plan and run in the same words: how many, the
first of them, and by how much they may be off. So are sources beside a contact. Media, places, spacing and points per wavelength are
drawn at random. Contacts too strong for the rule, of air or of ground a hundred times softer than rock, leave no more than they
would without it."""
import re
from pathlib import Path

import numpy as np

from check import claim, done, given_seed
from exact import Frequencies, shoot, two_half_spaces
from minisurvey import run

H, AWAY, CHANNELS = 10.0, 400.0, 8
SEED = given_seed()
rng = np.random.default_rng(SEED)
WORDS = re.compile(r"warning:? +((\d+) receiver\(s\) of velocity stand within two cells, 20 m, of a contact, the first of them channel (\d+) "
                   r"of shot record 1 at x = ([0-9.]+), z = ([0-9.]+) m: .* is off by ([0-9.]+) % and more; take regrid=cell.*)")
SOURCE = re.compile(r"warning:? +((\d+) receiver\(s\) are within 5.5 cells of a source that is nearer than "
                    r"(?:a cell|2.5 cells|a cell .below a free surface 1.5 cells.) to a contact of densities, the first of them channel (\d+) .*)")
BEYOND = re.compile(r"warning:? +((\d+) receiver\(s\) of velocity are within 5.5 cells of a source and beyond a contact of densities less than 2.5 "
                    r"cells from it .* the first of them channel (\d+) .*)")


class Case:
    """A contact of two media at depth `zi`, or, upright, at that x; receivers at some cells from it."""

    def __init__(self, media, cells, away, sideways, sample=0.0):
        self.sample, self.points, self.upright = sample or float(rng.choice([2.5, 10.0])), float(rng.uniform(5, 9)), bool(rng.integers(2))
        self.media, self.zi = media, 600 + self.sample * (rng.integers(4) + 0.5)
        self.slow = min(c for c, _ in media)
        self.fmax = self.slow / (self.points * H)
        self.fpeak = self.fmax / 2.777
        self.t0 = 1.3 / self.fpeak
        self.source = np.array([203 + rng.uniform(0, H), self.zi - away])
        self.receivers = np.stack([self.source[0] + sideways, self.zi + np.asarray(cells) * H], 1)
        self.tmax = 1000 / self.slow + 2.6 / self.fpeak
        self.told, self.said = None, ""

    def model(self):
        n = int(1100 / self.sample) + 1
        below = np.broadcast_to(np.arange(n) * self.sample > self.zi, (n, n))
        return [np.where(below.T if self.upright else below, *b) for b in zip(*self.media[::-1])]

    def turned(self, a):
        return np.asarray(a)[..., ::-1] if self.upright else np.asarray(a)

    def shot(self, **deck):
        """Traces of p, v along the contact and across it; what the log told stays in self.said."""
        before = set(Path().glob("run*"))
        t, p, *v = shoot(*self.model(), self.sample, self.turned(self.source), self.turned(self.receivers), tmax=self.tmax, dt_out=0.002,
                         fpeak=self.fpeak, fmax=self.fmax, delay=self.t0, dx=H, dz=H, **deck)
        here = (set(Path().glob("run*")) - before).pop()
        self.said = (here / "out.nc.log").read_text()
        self.plan = run("plan", f"par={here / 'job.par'}", "overwrite=y").stdout
        return t, [p, *(v[::-1] if self.upright else v)]

    def pair(self, **deck):
        """Traces of p, v along and v across, and what they should be."""
        t, got = self.shot(**deck)
        f = Frequencies(self.tmax, 2.2 * self.fmax, self.fpeak, self.t0)
        exact = two_half_spaces(f, *self.media, self.zi, self.source, self.receivers, 6250 * self.tmax + 800,
                                13.8 * self.fmax / self.slow + 0.02)
        return got, [f.traces(s, t) for s in exact]

    def errors(self, **deck):
        """Of p, v along and v across [%], by channel."""
        got, exact = self.pair(**deck)
        return np.array([100 * np.linalg.norm(a - e, axis=1) / np.linalg.norm(e, axis=1) for a, e in zip(got, exact)])

    def words(self):
        kind = "upright" if self.upright else "flat"
        return (f"vp 1 : {self.media[1][0] / self.media[0][0]:.2f}, rho 1 : {self.media[1][1] / self.media[0][1]:.2f}, {kind}, samples of "
                f"{self.sample:g} m, {self.points:.1f} points")


def media():
    two = [(1500.0, 1000.0), (1500 * rng.uniform(1.0, 1.7), 1000 * rng.uniform(1.1, 2.3))]
    return two[::-1] if rng.integers(2) else two


for _ in range(4):
    case = Case(media(), rng.uniform(-3, 3, CHANNELS), AWAY, rng.uniform(250, 600, CHANNELS))
    p, along, across = case.errors().max(1)
    claim(along < p + 1 and across < 5 and p < 13 and not WORDS.search(case.said), f"{case.words()}: velocity across the contact within "
          f"{across:.1f} %, at most 5, along it {along:.1f} %, p {p:.1f} %, at most 1 of each other; nothing told")

many = Case([(1500.0, 1000.0), (2000.0, 2200.0)], np.linspace(2, 4, 21), AWAY, np.full(21, 300.0), 2.5)
p, along, across = many.errors().max(1)
claim(along < p + 0.5 and across < 5, f"{many.words()}, 21 receivers two to four cells away, some where all that the grid lacks is naught by "
      f"chance: velocity along the contact within {along:.1f} %, p {p:.1f} %, at most 0.5 of each other")
rock = Case([(6000.0, 2900.0), (300.0, 1500.0)], np.linspace(-3, -0.1, CHANNELS), 120, rng.uniform(20, 250, CHANNELS), 2.5)
p, along, across = rock.errors(dispersion="warn").max(1)
claim(across < 15 and along < 15 and p < 10, f"{rock.words()}, rock beside soft ground: velocity across the contact within {across:.1f} %, "
      f"along it {along:.1f} %, at most 15, p {p:.1f} %, at most 10")
for sample in (2.5, 10.0):
    air = Case([(340.0, 1.2), (2000.0, 2000.0)], rng.uniform(-3, 3, CHANNELS), 7, rng.uniform(0, 60, CHANNELS), sample)
    got, exact = air.pair(dispersion="warn")
    p, v = (np.abs(a).max() / np.abs(e).max() for a, e in zip((got[0], np.hypot(*got[1:])), (exact[0], np.hypot(*exact[1:]))))
    claim(v < 3 and p < 100, f"{air.words()}, a source in air 0.7 cells from rock: the largest velocity is {v:.2f} of what it should be, at "
          f"most 3, pressure {p:.1f}, at most 100")

seen = 0
for _ in range(3):
    case = Case(media(), rng.uniform(-3, 3, CHANNELS), AWAY, rng.uniform(250, 600, CHANNELS), 2.5)
    off = case.errors(regrid="average")
    p, worst = off[0].max(), off[1:].max(0)
    w, near = WORDS.search(case.said), np.abs(case.receivers[:, 1] - case.zi) <= 2 * H
    n, first, most = (int(w[2]), int(w[3]), float(w[6])) if w else (0, 0, 0.0)
    seen += n
    good = (worst > 20).sum() <= n <= near.sum() and worst.max() < 3 * most + 20
    if w:
        at = case.turned(case.receivers[first - 1])
        good = good and near[first - 1] and np.allclose([float(w[4]), float(w[5])], at, atol=1e-3) and w[1] in case.plan
    claim(good, f"{case.words()}, regrid=average: {(worst > 20).sum()} of {CHANNELS} receivers of velocity are more than 20 % off, at most "
          f"{worst.max():.1f} %, p {p:.1f} %; told: {n}, first {first}, {most:g} % and more, must be as many, a third of what it is above 20 %, "
          f"and at most the {near.sum()} within two cells")
claim(seen > 0, f"{seen} receivers told of in all (seed {SEED})")

two = [(1500.0, 1000.0), (2000.0, 2000.0)]
far = Case(two, [-2.6, 2.6, -5, 7], AWAY, np.full(4, 300.0), 2.5)
far.shot(regrid="average")
claim(not WORDS.search(far.said) and not SOURCE.search(far.said), "nothing is told of receivers 2.6 cells and more away")
here = Case(two, [-1.0, 0.4], AWAY, np.full(2, 300.0), 2.5)
here.shot(regrid="average")
words = WORDS.search(here.said)
quiet = run("plan", f"par={sorted(Path().glob('run*'), key=lambda a: a.stat().st_mtime)[-1] / 'job.par'}", "overwrite=y", "components=p")
claim(words and not WORDS.search(quiet.stdout) and quiet.returncode == 0, "nor where p alone is recorded: "
      f"{quiet.stdout.count('warning')} warning(s)")

for away, told, half_length in ((0.7, True, 8), (2.2, False, 8), (2.2, True, 1), (2.8, False, 1)):
    cells = np.array([-away - 30, -away + 0.3, -away - 3, -away - 5.4, -away - 5.6])
    case = Case(two, cells, away * H, np.zeros(5))
    case.shot(half_length=half_length, dispersion="warn")
    w = SOURCE.search(case.said)
    claim((w is not None) == told and (not told or (w[2], w[3]) == ("3", "2") and w[1] in case.plan),
          f"half-length {half_length}, a source {away} cells from a contact, three receivers within 5.5 cells of it: {w[1] if w else 'nothing told'}")
for floor, above, top, told in ((1.75, 1.2, "free", True), (1.75, 1.2, "pml", False), (3.25, 1.2, "free", False)):
    at = np.array([203.0, (floor - above) * H])
    deep = np.broadcast_to(np.arange(81) * 2.5 > floor * H + 1, (161, 81))
    shoot(*(np.where(deep, b, a) for a, b in zip(*two)), 2.5, at, at + [[20, 0], [70, 0]], top=top, tmax=0.02, dt_out=0.004, fpeak=9, delay=0.02,
          dx=H, dz=H)
    log = max(Path().glob("run*/out.nc.log"), key=lambda a: a.stat().st_mtime).read_text()
    w = SOURCE.search(log)
    claim((w is not None) == told and (not told or (w[2], w[3]) == ("1", "1") and "below a free surface 1.5 cells" in w[1]), f"top={top}, a "
          f"source {above} cells above a sea floor {floor} cells deep, one of two receivers within 5.5 cells: {w[1] if w else 'nothing told'}")
for more, told in ((7, True), (14, False)):
    case = Case(two, [-2.5, 0.3, 1.0], 2.2 * H, np.zeros(3), 2.5)
    vp, rho = case.model()
    deeper = np.arange(len(rho)) * case.sample > case.zi + more * H
    case.model = lambda vp=vp, rho=rho * (1 + 0.1 * (deeper[:, None] if case.upright else deeper)): [vp, rho]
    case.shot()
    w = BEYOND.search(case.said)
    claim((w is not None) == told and (not told or (w[2], w[3]) == ("2", "2") and w[1] in case.plan), f"a source 2.2 cells from a contact that "
          f"has another {more} cells behind it, two receivers beyond: {w[1] if w else 'nothing told'}")
done()
