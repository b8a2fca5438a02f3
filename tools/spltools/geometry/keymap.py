"""Reads key-maps (keymaps/README.md) as the modelling does (fortran/geometry/keymap.f90). keymap_writer.py writes them."""

import bisect
from dataclasses import dataclass
from typing import Optional

import numpy as np

from spltools.cli import counted, fail
from spltools.geometry import navigation
from spltools.geometry.faults import Faults
from spltools.geometry.mapline import did_you_mean, read_lines, short, shown
from spltools.geometry.shots import RECORD_MAX, SHOTS_MAX, TRACES_MAX, X_MAX, Z_MAX, Shot
from spltools.geometry.spreads import Spreads


def read_map(path):
    """The shots of a key-map by record, skipped ones too."""
    return read_navigated(path)[0]


def read_navigated(path):
    """(shots, rule): the same, and the rule of its navigation, None where it has none."""
    found = _Map(path)
    for line in read_lines(path, found.faults):
        found.take(line)
    found.check()
    return [_expand(row, found.spreads.named[row.spread], found.rule) for row in found.rows], found.rule


@dataclass
class _Row:
    """A shot as its line gives it."""

    line: int
    record: int
    sx: float
    sy: float
    sz: float
    spread: str
    skip: bool
    redo: int
    e: Optional[float] = None
    n: Optional[float] = None
    h: Optional[float] = None
    point: Optional[float] = None
    from_line: str = ''

    @property
    def navigated(self):
        return bool(self.from_line) or any(v is not None for v in (self.e, self.h, self.point))


class _Map:
    """Contents of the lines of a key-map, and their faults."""

    def __init__(self, path):
        self.path, self.faults = path, Faults()
        self.rows, self.skips, self.redos = [], [], []
        self.spreads = Spreads(path, self.faults)
        self.rule = None

    def take(self, line):
        readers = {'spread': self.spreads.take, 'lists': self.spreads.take_file, 'shot': self._shot, 'shots': self._shots,
                   'skip': lambda line: self._ranges(line, self.skips), 'redo': lambda line: self._ranges(line, self.redos),
                   'navigation': self._navigation}
        kind = line.first.lower()
        if kind in readers:
            readers[kind](line)
        else:
            line.fault(f'unknown word {shown(line.first)}{did_you_mean(kind, list(readers))}: a line begins with spread,'
                       ' lists, shot, shots, skip, redo or navigation')

    def check(self):
        """Checks of all lines together; then all faults are told."""
        self.spreads.check()
        self.rows.sort(key=lambda row: row.record)
        for before, row in zip(self.rows, self.rows[1:]):
            if row.record == before.record:
                self.faults.add(self.path, row.line, f'record {row.record} is in line {before.line} already: each shot needs'
                                ' a record number of its own')
        self._apply('skip', self.skips)
        self._apply('redo', self.redos)
        if not self.rows:
            self.faults.add_if_none(self.path, 'the key-map has no shots: add lines "shot RECORD SX SZ SPREAD"')
        elif len(self.rows) > SHOTS_MAX:
            self.faults.add_if_none(self.path, f'the key-map has {len(self.rows)} shots, at most {SHOTS_MAX}: split the survey')
        elif all(row.skip for row in self.rows):
            self.faults.add_if_none(self.path, f'each of the {len(self.rows)} shot(s) is marked skip: nothing is left to model')
        if not self.faults.count:
            navigation.check(self.rule, self.rows, self.spreads.named, self.faults, self.path)
        self.faults.tell()
        todo = [row for row in self.rows if not row.skip]
        traces = sum(len(self.spreads.named[row.spread].channel) for row in todo)
        if traces > TRACES_MAX:
            fail(f'{self.path}: {counted(len(todo), "shot")} with {traces} receivers together, at most {TRACES_MAX}: '
                 'split the survey')

    def _apply(self, word, ranges):
        """Marks the shots of lines of skip or redo."""
        records = [row.record for row in self.rows]
        for number, low, high in ranges:
            shots = self.rows[bisect.bisect_left(records, low) : bisect.bisect_right(records, high)]
            for row in shots:
                row.skip = row.skip or word == 'skip'
                row.redo += word == 'redo'
            if not shots:
                told = f'{low}-{high}' if high > low else str(low)
                self.faults.add(self.path, number, f'{word} {told}: there is no such shot')

    def _navigation(self, line):
        if self.rule is not None:
            line.fault(f'the line navigation stands in line {self.rule.line} already: a key-map has one')
        else:
            self.rule = navigation.read_rule(line) or navigation.Rule(line=line.number)

    # --- lines of shots ---

    def _shot(self, line):
        """A line "shot RECORD SX SZ SPREAD ..."."""
        before = self.faults.count
        line.read()
        if len(line.words) not in (4, 5):
            line.fault(f'{len(line.words)} column(s) after the word shot; the line is written: shot RECORD SX SZ SPREAD [todo|'
                       'skip|redo] [y=SY]')
            return
        record = line.whole(line.words[0], 'record', 1, RECORD_MAX)
        sx = line.real(line.words[1], 'sx', -X_MAX, X_MAX)
        sz = line.real(line.words[2], 'sz', -Z_MAX, Z_MAX)
        line.check_keys('a shot', (), ('y', 'e', 'n', 'h', 'point', 'line'))
        sy = line.real_of('y', -X_MAX, X_MAX, 0.0)
        limits = {'e': navigation.MAP_MAX, 'n': navigation.MAP_MAX, 'h': navigation.HEIGHT_MAX, 'point': navigation.POINT_MAX}
        numbers = [line.real_of(key, -limit, limit) for key, limit in limits.items()]
        from_line = navigation.line_name(line, line.keys.get('line') or '')
        if bool(line.keys.get('e')) != bool(line.keys.get('n')):
            line.fault('e= and n= belong together: easting and northing of the source [m]')
        status = self._status(line, line.words[4:])
        if self.faults.count == before:
            self.rows.append(_Row(line.number, record, sx, sy, sz, self.spreads.use(line.words[3], line), *status, *numbers,
                                  from_line))

    def _shots(self, line):
        """A line "shots first_record= ...", a row of them."""
        before = self.faults.count
        line.read()
        line.check_keys('a line of shots', ('first_record', 'n', 'x0', 'dx', 'z', 'spread'), ('step', 'y'))
        record = line.whole_of('first_record', 1, RECORD_MAX)
        n = line.whole_of('n', 1, SHOTS_MAX)
        step = line.whole_of('step', 1, RECORD_MAX, 1)
        x0, dx = (line.real_of(key, -X_MAX, X_MAX) for key in ('x0', 'dx'))
        z = line.real_of('z', -Z_MAX, Z_MAX)
        y = line.real_of('y', -X_MAX, X_MAX, 0.0)
        status = self._status(line, line.words)
        if self.faults.count == before:
            self._check_shots(line, record + (n - 1) * step, n, x0 + (n - 1) * dx, dx)
        if self.faults.count > before:
            return
        spread = self.spreads.use(line.keys['spread'], line)
        self.rows += [_Row(line.number, record + i * step, x0 + i * dx, y, z, spread, *status) for i in range(n)]

    def _check_shots(self, line, last, n, x, dx):
        """Limits of a line of shots: record numbers, positions, and shots in all."""
        if last > RECORD_MAX:
            line.fault(f'the last record would be {last}, above the limit {RECORD_MAX}: lower first_record, n or step')
        if abs(x) > X_MAX:
            line.fault(f'the last shot would be at x = {x:g} m, beyond {short(X_MAX)} m: check x0, dx and n')
        if dx == 0 and n > 1:
            line.fault(f'dx = 0 puts {n} shots at the same place: give the distance from one shot to the next')
        if len(self.rows) + n > SHOTS_MAX:
            line.fault(f'more than {SHOTS_MAX} shots: split the survey')

    def _status(self, line, words):
        """Whether the shots of a line are marked skip, and whether redo."""
        status = words[0].lower() if words else 'todo'
        if status not in ('todo', 'skip', 'redo'):
            line.fault(f'unknown status {shown(words[0])}: must be todo, skip or redo')
        if len(words) > 1:
            line.fault(f'unexpected word {shown(words[1])}')
        return status == 'skip', int(status == 'redo')

    def _ranges(self, line, ranges):
        """A line of skip or redo: record numbers, and ranges of them."""
        words = line.closed_rest()
        for word in words:
            before = self.faults.count
            dash = word.find('-', 1)  # a first one is a sign
            first = last = line.whole(word if dash < 0 else word[:dash], 'record', 1, RECORD_MAX)
            if dash > 0 and first:
                last = line.whole(word[dash + 1 :], 'record', 1, RECORD_MAX)
            if self.faults.count > before:
                continue
            if last < first:
                line.fault(f'{line.first.lower()} {word}: the first record is above the last')
            else:
                ranges.append((line.number, first, last))
        if not words:
            line.fault('{0} needs record numbers: {0} 12 20-25'.format(line.first.lower()))


def _expand(row, spread, rule):
    x, y = (row.sx + spread.x, row.sy + spread.y) if spread.moves else (spread.x, spread.y)
    shot = Shot(row.record, row.sx, row.sy, row.sz, spread.channel, x, y, spread.z, skip=row.skip, redo=row.redo)
    if rule is None:
        return shot
    shot.map_source = (row.e, row.n) if row.e is not None else tuple(float(v) for v in rule.to_map(row.sx, row.sy))
    known = spread.known == len(x)
    shot.map_receivers = np.column_stack((spread.e, spread.n) if known else rule.to_map(x, y))
    shot.height = -row.sz if row.h is None else row.h
    shot.heights = np.where(np.isnan(spread.h), -spread.z, spread.h) if known else -spread.z
    shot.point, shot.line = row.point, row.from_line
    shot.lines, shot.stations = (spread.lines, spread.stations) if known else ([''] * len(x), np.full(len(x), np.nan))
    return shot
