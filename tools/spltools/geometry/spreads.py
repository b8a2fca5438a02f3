"""Spreads of a key-map (fortran/geometry/spread.f90): streamers, fixed lines, and files of receiver lists."""

import os
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from spltools.cli import Failure
from spltools.geometry import navigation
from spltools.geometry.mapline import did_you_mean, read_lines, short, shown
from spltools.geometry.shots import CHANNELS_MAX, NAME_MAX, RECORD_MAX, X_MAX, Z_MAX


@dataclass
class Spread:
    """Receivers [m]; of a spread that moves, x is from the source and y is that of the source."""

    moves: bool
    channel: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    path: str = ''
    line: int = 0
    e: Optional[np.ndarray] = None  # nan where not known, as are n, h, stations
    n: Optional[np.ndarray] = None
    h: Optional[np.ndarray] = None
    lines: Optional[list] = None
    stations: Optional[np.ndarray] = None

    @property
    def known(self):
        return 0 if self.e is None else int(np.count_nonzero(~np.isnan(self.e)))


@dataclass
class _List:
    """A receiver list while its lines are read: (channel, x, z, y, e, n, h, station) and lines of those without fault."""

    name: str
    path: str
    line: int
    begun: int = 0
    rows: list = field(default_factory=list)
    lines: list = field(default_factory=list)


class Spreads:
    """The spreads that lines of a key-map define, by name, and those that its shots use."""

    def __init__(self, path, faults):
        self.path, self.faults = path, faults
        self.named, self.defined, self.used = {}, {}, {}
        self.place = []  # easting and northing of the first receiver that has them
        self.incomplete = False  # a name could not be defined: others would seem unknown

    def use(self, name, line):
        """A name that a line of shots gives; it may be defined later."""
        first, times = self.used.get(name, (line.number, 0))
        self.used[name] = first, times + 1
        return name

    def check(self):
        """Faults of names that shots use and no line defines."""
        if self.incomplete:
            return
        for name, (first, times) in self.used.items():
            if name not in self.defined:
                several = f' (in {times} lines)' if times > 1 else ''
                near = did_you_mean(name, list(self.defined))
                self.faults.add(self.path, first, f'unknown spread {shown(name)}{several}{near}: define it in a line "spread'
                                ' NAME ..." or read it with "lists FILE"')

    # --- lines of spreads ---

    def _define(self, name, line):
        """True where the spread `name` is new; the fault is told."""
        if not name:
            line.fault('a name is missing: spread NAME KIND ..., or list NAME')
        elif len(name.encode('utf-8', 'surrogateescape')) > NAME_MAX:
            line.fault(f'the name {shown(name)} is longer than {NAME_MAX} characters')
        elif name in self.defined:
            line.fault(f'spread {shown(name)} is defined already ({self.defined[name]}): give one of them another name')
        else:
            self.defined[name] = f'{line.path}, line {line.number}'
            return True
        return False

    def take(self, line):
        """A line "spread NAME KIND ..."."""
        line.read()
        name, kind = (line.words + ['', ''])[:2]
        if not self._define(name, line):
            self.incomplete = True
        elif kind.lower() in ('streamer', 'fixed'):
            self.named[name] = self._regular(line, kind.lower())
        elif kind.lower() != 'list':
            near = did_you_mean(kind.lower(), ['streamer', 'fixed', 'list'])
            line.fault(f'unknown kind of spread {shown(kind)}{near}: must be streamer, fixed or list')
        elif len(line.words) != 3 or line.keys:
            line.fault('a list is written: spread NAME list FILE')
        else:
            self._read_lists(line, line.words[2], name)

    def take_file(self, line):
        """A line "lists FILE"."""
        before = self.faults.count
        line.read()
        if len(line.words) != 1 or line.keys:
            line.fault('the file of receiver lists is written: lists FILE (in quotes if it has blanks or =)')
        else:
            self._read_lists(line, line.words[0], None)
        self.incomplete |= self.faults.count > before

    def _regular(self, line, kind):
        """The receivers of a streamer or a fixed line, None where there are faults."""
        before, first = self.faults.count, 'first' if kind == 'streamer' else 'x0'
        if len(line.words) > 2:
            line.fault(f'unexpected word {shown(line.words[2])}: values are written name=value')
        line.check_keys(f'a {kind}' if kind == 'streamer' else 'a fixed spread', (first, 'interval', 'channels', 'depth'),
                        ('direction',) if kind == 'streamer' else ('y',))
        start = line.real_of(first, -X_MAX, X_MAX)
        interval = line.real_of('interval', 0.001, 1e6)
        n = line.whole_of('channels', 1, CHANNELS_MAX)
        depth = line.real_of('depth', -Z_MAX, Z_MAX)
        y = line.real_of('y', -X_MAX, X_MAX, 0.0)
        direction = line.whole_of('direction', -1, 1, -1 if kind == 'streamer' else 1)
        if direction == 0:
            line.fault('direction = 0: must be -1 (receivers at smaller x than the source) or 1 (larger x)')
        if self.faults.count == before and abs(start + (n - 1) * interval) > X_MAX:
            line.fault(f'{n} channels {interval:g} m apart end beyond {short(X_MAX)} m: check channels= and interval=')
        if self.faults.count > before:
            return None
        c = np.arange(n)
        return Spread(kind == 'streamer', c + 1, direction * (start + c * interval), np.full(n, y), np.full(n, depth))

    # --- files of receiver lists ---

    def _read_lists(self, line, name, only):
        """Reads all lists of a file, named relative to the folder of the key-map, or the one called `only`."""
        path, before = os.path.join(os.path.dirname(self.path), name), self.faults.count
        try:
            rows = read_lines(path, self.faults)
        except Failure as failure:
            line.fault(f'receiver list {failure}')
            return
        lists, current = 0, None
        for row in rows:
            if row.first.lower() == 'list':
                self._end_list(current)
                current = self._next_list(row, only)
                lists += 1
                continue
            if not lists:  # a file of bare rows is the one list asked for
                if only is None:
                    row.fault('receivers before the first line "list NAME": whose are they?')
                    return
                lists, current = 1, _List(only, path, row.number)
            _receiver(row, current, self.place)
        self._end_list(current)
        if self.faults.count > before:
            return
        if not lists:
            self.faults.add(path, 0, 'holds no receivers: lines "list NAME", then "channel x z [y]"')
        elif only is not None and only not in self.named:
            line.fault(f'no list {shown(only)} in {path}: its lists have other names, give the spread one of these')

    def _next_list(self, row, only):
        """The list that a line "list NAME" begins, None where it is faulty or not wanted."""
        words = row.closed_rest()
        name = words[0] if words else ''
        if len(words) > 1:
            row.fault(f'unexpected word {shown(words[1])} after list NAME')
        if only is None:
            return _List(name, row.path, row.number) if self._define(name, row) else None
        if name == only and only in self.named:
            row.fault(f'list {shown(name)} stands in this file twice')
            return None
        return _List(name, row.path, row.number) if name == only else None

    def _end_list(self, one):
        """Checks a list that ends, not empty, no channel twice, and makes a spread of it."""
        if one is None:
            return
        table = np.array(one.rows, dtype=float).reshape(-1, 8)
        channel = table[:, 0].astype(int)
        values, counts = np.unique(channel, return_counts=True)
        if not one.begun:
            self.faults.add(one.path, one.line, f'list {shown(one.name)} has no receivers')
        elif one.begun > CHANNELS_MAX:
            self.faults.add(one.path, one.line, f'list {shown(one.name)} has {one.begun} receivers, at most {CHANNELS_MAX}: split'
                            ' it, and its shots')
        elif (counts > 1).any():
            self.faults.add(one.path, one.line, f'list {shown(one.name)} has channel {values[counts > 1][0]} more than once')
        self.named[one.name] = Spread(False, channel, table[:, 1], table[:, 3], table[:, 2], one.path, one.line,
                                      *np.round(table[:, 4:7].T, 3), one.lines, table[:, 7])


def _receiver(row, one, place):
    """A line "channel x z [y [e n [h [line [station]]]]]"; it goes to the list `one`, if there is one."""
    before, words = row.faults.count, row.closed_rest()
    values = [row.whole(row.first, 'channel', 1, RECORD_MAX)]
    for word, name, limit in zip(words, 'xzy', (X_MAX, Z_MAX, X_MAX)):
        values.append(row.real(word, name, -limit, limit))
    fine = row.faults.count == before
    if fine and len(words) not in (2, 3, 5, 6, 7, 8):
        row.fault(f'{len(words) + 1} columns; a receiver has 3 or 4: channel x z [y], or up to 9 with navigation: channel x z y e n'
                  ' [h [line [station]]]')
        fine = False
    if one is not None:
        beside, name = _receiver_map(row, words[3:], place) if fine and len(words) > 4 else ([np.nan] * 4, '')
        fine = row.faults.count == before
        one.begun += 1
        one.rows += [values + [0.0] * (4 - len(values)) + beside] if fine else []
        one.lines += [name] if fine else []


def _receiver_map(row, words, place):
    """([e, n, h, station], line) of a receiver, nan or '' where not known."""
    words = words + ['-'] * (5 - len(words))
    limits = (navigation.MAP_MAX, navigation.MAP_MAX, navigation.HEIGHT_MAX, navigation.POINT_MAX)
    numbers = []
    for word, name, limit in zip(words[:3] + words[4:], ('e', 'n', 'h', 'station'), limits):
        value = np.nan if word == '-' and name in ('h', 'station') else row.real(word, name, -limit, limit)
        numbers.append(np.nan if value is None else value)
    if np.isnan(numbers[:2]).any():            # told already
        return numbers, navigation.line_name(row, words[3])
    place[:] = place or numbers[:2]
    if max(abs(numbers[0] - round(place[0])), abs(numbers[1] - round(place[1]))) > navigation.FARTHEST:
        row.fault(f'E {numbers[0]:.12g} N {numbers[1]:.12g} is farther than {navigation.FARTHEST / 1000:g} km from '
                  f'E {place[0]:.12g} N {place[1]:.12g} of the first receiver: one of them is wrong')
    return numbers, navigation.line_name(row, words[3])
