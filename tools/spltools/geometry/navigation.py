"""Navigation in key-maps (fortran/geometry/navigation.f90): map coordinates beside positions of the modelling, and their rule."""

import math
import re
from dataclasses import dataclass
from typing import Optional

import numpy as np

from spltools.geometry.mapline import shown
from spltools.geometry.shots import NAME_MAX

MAP_MAX, HEIGHT_MAX, POINT_MAX = 1e9, 1e6, 1e12
CRS_MAX = 400
FARTHEST = 2e6  # [m] of a receiver from the first one
AGREES = 0.01  # [m] that map and model may differ by


@dataclass
class Rule:
    """x = distance along `azimuth` (degrees clockwise from north) from e0, n0; y to its right, or left. No azimuth: no rule."""

    crs: str = 'not told'
    e0: float = 0.0
    n0: float = 0.0
    azimuth: Optional[float] = None
    left: bool = False
    kept: bool = False
    line: int = 0

    @property
    def ruled(self):
        return self.azimuth is not None

    def to_map(self, x, y):
        a = math.radians(self.azimuth)
        right = -np.asarray(y) if self.left else np.asarray(y)
        return self.e0 + x * math.sin(a) + right * math.cos(a), self.n0 + x * math.cos(a) - right * math.sin(a)

    def to_model(self, e, n):
        a = math.radians(self.azimuth)
        e, n = np.asarray(e) - self.e0, np.asarray(n) - self.n0
        x, y = e * math.sin(a) + n * math.cos(a), e * math.cos(a) - n * math.sin(a)
        return x, -y if self.left else y

    def text(self):
        """The line of a key-map."""
        words = f"navigation crs={quoted(self.crs)}"
        if self.ruled:
            words += f' e0={self.e0:.4f} n0={self.n0:.4f} azimuth={self.azimuth:.10f} y={"left" if self.left else "right"}'
            words += f' offset={"kept" if self.kept else "projected"}'
        return words


def quoted(word):
    """A word that a key-map reads as one; quotes within it are left out."""
    word = re.sub('[\\0-\x1f"\']', '', word) or '-'
    return f'"{word}"' if re.search(r'[\s=#]', word) else word


def is_no_code(crs):
    """Whether the name of a system of coordinates begins as an EPSG code and is none."""
    return crs[:4].lower() == 'epsg' and not (re.fullmatch('.{4}:[0-9]{4,5}', crs) and 1024 <= int(crs[5:]) <= 32767)


def line_name(row, name):
    """The name of a line, '' for -."""
    if len(name.encode('utf-8', 'surrogateescape')) > NAME_MAX:
        row.fault(f'the name of the line {shown(name)} is longer than {NAME_MAX} characters')
    return '' if name == '-' else name


def read_rule(line):
    """The rule of a line "navigation crs=...", None where it is faulty."""
    before = line.faults.count
    line.read()
    if line.words:
        line.fault(f'unexpected word {shown(line.words[0])}: values are written name=value')
    line.check_keys('navigation', ('crs',), ('e0', 'n0', 'azimuth', 'y', 'offset'))
    e0, n0 = (line.real_of(key, -MAP_MAX, MAP_MAX, 0.0) for key in ('e0', 'n0'))
    azimuth = line.real_of('azimuth', -360.0, 360.0)
    sides = [_either(line, *words) for words in (('y', 'right', 'left'), ('offset', 'projected', 'kept'))]
    crs = line.keys.get('crs') or ''
    if len(crs) > CRS_MAX:
        line.fault(f'crs= has {len(crs)} characters, at most {CRS_MAX} are kept: give an EPSG code, such as crs=EPSG:32618')
    if is_no_code(crs):
        line.fault(f'crs is {shown(crs)}: an EPSG code is written EPSG:1024 .. EPSG:32767')
    given = [key for key in ('e0', 'n0', 'azimuth') if line.keys.get(key)]
    if len(given) in (1, 2):
        line.fault('a rule from map to model needs e0= n0= azimuth=, all three')
    if not given and (line.keys.get('y') or line.keys.get('offset')):
        line.fault('y= and offset= belong to a rule: give e0= n0= azimuth= too, or leave them out')
    if line.faults.count > before:
        return None
    return Rule(crs, e0, n0, azimuth if given else None, *sides, line=line.number)


def _either(line, key, first, second):
    word = (line.keys.get(key) or '').lower()
    if word not in ('', first, second):
        line.fault(f'{key} is {shown(line.keys[key])}: must be {first} or {second}')
    return word == second


def check(rule, rows, spreads, faults, path):
    """Faults of navigation that is not whole, or disagrees with the positions. rows: of shots; spreads: by name."""
    looked = set()
    for row in rows:
        spread = spreads[row.spread]
        if rule is None:
            if row.navigated or spread.known:
                faults.add(path, row.line, f'shot record {row.record} or its receivers have navigation (e, n, point ...), but the '
                           'key-map has no line navigation: add "navigation crs=EPSG:CODE"')
                return
            continue
        if not rule.ruled and row.e is None:
            faults.add(path, row.line, f'shot record {row.record} has no e= n=, and navigation no rule to find them by: give them, '
                       'or e0= n0= azimuth=')
        if rule.ruled and row.e is not None:
            _compare(f'shot record {row.record}', (row.sx, row.sy), rule.to_model(row.e, row.n), rule, faults, path, row.line)
        if row.spread not in looked:
            _check_list(rule, row, spread, faults, path)
        if rule.ruled and spread.known == len(spread.x) and (rule.kept or row.spread not in looked):
            _check_receivers(rule, row, spread, faults)
        looked.add(row.spread)


def _check_list(rule, row, spread, faults, path):
    if 0 < spread.known < len(spread.x):
        faults.add(spread.path, spread.line, f'list {shown(row.spread)} gives e and n of {spread.known} of its {len(spread.x)} '
                   'receivers: give them for all, or for none')
    elif spread.known == 0 and not rule.ruled:
        faults.add(path, row.line, f'the receivers of {shown(row.spread)} have no e and n, and navigation no rule to find them by: '
                   'give them in a list, or e0= n0= azimuth=')


def _check_receivers(rule, row, spread, faults):
    if rule.kept:
        e, n = (row.e, row.n) if row.e is not None else rule.to_map(row.sx, row.sy)
        x = row.sx + np.copysign(np.hypot(spread.e - e, spread.n - n), spread.x - row.sx)
        y = np.full(len(x), row.sy)
    else:
        x, y = rule.to_model(spread.e, spread.n)
    r = int(np.argmax(np.hypot(x - spread.x, y - spread.y)))
    what = f'channel {spread.channel[r]} of list {shown(row.spread)}'
    _compare(what, (spread.x[r], spread.y[r]), (x[r], y[r]), rule, faults, spread.path, spread.line)


def _compare(what, place, mapped, rule, faults, path, line):
    if math.hypot(place[0] - mapped[0], place[1] - mapped[1]) > AGREES:
        faults.add(path, line, f'{what} is at x {place[0]:.3f} y {place[1]:.3f} m, but by navigation, line {rule.line} of the '
                   f'key-map, at x {mapped[0]:.3f} y {mapped[1]:.3f} m; they may differ by {AGREES} m: make the key-map anew, or '
                   'leave e0=, n0= and azimuth= out')
