"""Key-maps (keymaps/README.md): shots in memory, writing a map with its receiver lists, reading one back."""

import bisect
import contextlib
import os
import re
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from spltools.cli import Failure, check_output, fail, new_file
from spltools.geometry import navigation
from spltools.geometry.mapline import did_you_mean, read_lines, short, shown

# limits of the modelling (fortran/geometry/keymap.f90, fortran/geometry/spread.f90)
RECORD_MAX = 2147483647
SHOTS_MAX, CHANNELS_MAX, TRACES_MAX = 1000000, 1000000, 1000000000
X_MAX, Z_MAX = 1e8, 1e6  # [m]; X_MAX for y too
NAME_MAX = 64
FAULTS_SHOWN = 20
STACK = 4000000  # numbers of many shots that are looked at together
SAME = 5e-4  # positions closer than this [m] are the same: maps are written in millimetres


@dataclass
class Shot:
    """One shot [m]: x along the line, y across it, z down; map_* are easting and northing where known, heights count up.
    Points and lines are those of the survey; stations NaN and lines '' where they are not known."""

    record: int
    sx: float
    sy: float
    sz: float
    channel: np.ndarray
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray
    map_source: Optional[tuple] = None
    map_receivers: Optional[np.ndarray] = None  # (nrec, 2)
    skip: bool = False
    redo: int = 0  # how often it is to be modelled again
    notes: list = field(default_factory=list)
    height: Optional[float] = None  # None: -z
    point: Optional[float] = None
    line: str = ''
    heights: Optional[np.ndarray] = None
    lines: Optional[list] = None
    stations: Optional[np.ndarray] = None


@dataclass
class Stack:
    """Some shots with as many receivers each: sx, sy, sz (shots, 1) and channel, rx, ry, rz (shots, receivers)."""

    shots: list
    sx: np.ndarray
    sy: np.ndarray
    sz: np.ndarray
    channel: np.ndarray
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray


def stacks(shots):
    """Stacks of neighbouring shots, of at most STACK numbers: what is asked of every receiver is asked of many at once."""
    start = 0
    while start < len(shots):
        n = len(shots[start].channel)
        most = start + max(1, STACK // max(1, n))
        end = start + 1
        while end < min(len(shots), most) and len(shots[end].channel) == n:
            end += 1
        some = shots[start:end]
        yield Stack(
            some,
            *(np.array([getattr(s, name) for s in some], dtype=float)[:, None] for name in ('sx', 'sy', 'sz')),
            *(_rows([getattr(s, name) for s in some]) for name in ('channel', 'rx', 'ry', 'rz')),
        )
        start = end


def _rows(arrays):
    """Arrays of one length as the rows of one; the same array again and again is kept once."""
    first = arrays[0]
    if all(a is first for a in arrays):
        return np.broadcast_to(first, (len(arrays), len(first)))
    return np.array(arrays)


class Faults:
    """Faults of input files, told all at once: the first twenty with their lines, and how many more."""

    def __init__(self):
        self.count = 0
        self.lines = []

    def add(self, path, line, sentence):
        self.count += 1
        if self.count <= FAULTS_SHOWN:
            place = f'{path}, line {line}' if line else f'{path}'
            self.lines.append(f'{place}: {sentence}')

    def add_if_none(self, path, sentence):
        """A fault of a whole file that would only be noise beside others."""
        if not self.count:
            self.add(path, 0, sentence)

    def tell(self):
        if self.count == 1:
            fail(self.lines[0])
        if self.count > 1:
            rest = self.count - len(self.lines)
            more = [f'... and {rest} more'] if rest else []
            fail('\n'.join([f'{self.count} faults:'] + self.lines + more))


def metres(value):
    """A position as text: millimetres, no needless zeros, no -0."""
    text = f'{value:.3f}'.rstrip('0')
    text = text + '0' if text.endswith('.') else text
    return '0.0' if text == '-0.0' else text


# --- writing ------------------------------------------------------------------------------------------------


def check_shots(shots, where):
    """Refuses what no importer may write: no shots, records out of range or twice, channels twice."""
    faults = Faults()
    seen = set()
    for stack in stacks(shots):
        if not (_sound(stack) and _all_new(stack, seen)):
            _tell_shots(stack.shots, where, seen, faults)
        seen.update(s.record for s in stack.shots)
    if not shots:
        faults.add(where, 0, 'no shots were found')
    faults.tell()


def _all_new(stack, seen):
    """Checks that records are in range, and of these shots alone."""
    records = [s.record for s in stack.shots]
    return len(set(records)) == len(records) and seen.isdisjoint(records) and 1 <= min(records) and max(records) <= RECORD_MAX


def _sound(stack):
    """Checks that each shot has receivers, each channel once, and positions in range."""
    if stack.channel.size == 0 or stack.channel.min() < 1:
        return False
    rows = stack.channel[:1] if (stack.channel == stack.channel[0]).all() else stack.channel
    if not (np.diff(np.sort(rows, axis=1), axis=1) > 0).all():
        return False
    across = max(np.abs(values).max() for values in (stack.sx, stack.sy, stack.rx, stack.ry))
    down = max(np.abs(values).max() for values in (stack.sz, stack.rz))
    return across <= X_MAX and down <= Z_MAX


def _tell_shots(shots, where, seen, faults):
    """The faults of each shot; `seen`: records of shots before."""
    seen = set(seen)
    for shot in shots:
        if not 1 <= shot.record <= RECORD_MAX:
            faults.add(
                where,
                0,
                f'record {shot.record} is out of range 1..{RECORD_MAX}; --renumber numbers shots 1, 2, ...',
            )
        if shot.record in seen:
            faults.add(
                where, 0, f'record {shot.record} comes more than once; --renumber numbers shots 1, 2, ...'
            )
        seen.add(shot.record)
        if len(shot.channel) == 0:
            faults.add(where, 0, f'record {shot.record} has no receivers')
        elif len(np.unique(shot.channel)) < len(shot.channel):
            values, counts = np.unique(shot.channel, return_counts=True)
            faults.add(where, 0, f'record {shot.record} has channel {values[counts > 1][0]} more than once')
        elif shot.channel.min() < 1:
            faults.add(where, 0, f'record {shot.record} has channel {shot.channel.min()}: must be 1 or more')
        across = np.concatenate([[shot.sx, shot.sy], shot.rx, shot.ry])
        down = np.concatenate([[shot.sz], shot.rz])
        for values, what, limit in ((across, 'position', X_MAX), (down, 'depth', Z_MAX)):
            if not np.all(np.abs(values) <= limit):
                faults.add(
                    where,
                    0,
                    f'record {shot.record} has a {what} beyond {short(limit)} m or none at all; check units and --origin',
                )


def write_map(path, shots, comments, overwrite=False, rule=None):
    """Writes the key-map, and NAME.receivers where shots have receivers of their own; with their navigation where there is a
    `rule`. Returns the paths."""
    check_shots(shots, path)
    kind, spread = classify(shots)
    paths = [path]
    if kind in ('lists', 'list'):
        paths.append(os.path.splitext(path)[0] + '.receivers')
        if paths[1] == path:
            fail(f'{path}: this name is wanted for the receiver lists; name the key-map NAME.keymap')
    for each in paths:
        check_output(each, overwrite)
    names = ['cable' if kind == 'streamer' else 'receivers'] * len(shots)
    with contextlib.ExitStack() as stack:       # both files, or none
        if len(paths) == 2:
            names = _write_lists(stack.enter_context(new_file(paths[1], overwrite)), shots, kind, rule)
            quoted = os.path.basename(paths[1])
            spread = f'lists "{quoted}"' if re.search(r'[\s=#]', quoted) else f'lists {quoted}'
        with open(stack.enter_context(new_file(path, overwrite)), 'w', encoding='utf-8') as file:
            for line in comments:
                file.write(f'# {line}'.rstrip() + '\n')
            file.write(f'\n{rule.text()}' if rule else '')
            file.write(f'\n{spread}\n\n#     record          sx        sz  spread\n')
            for shot, name in zip(shots, names):
                file.write(_shot_line(shot, name, rule))
            file.writelines(f'redo {shot.record}\n' * (shot.redo - (not shot.skip)) for shot in shots if shot.redo)
    return paths


def _shot_line(shot, name, rule):
    line = f'shot {shot.record:>10d} {metres(shot.sx):>11s} {metres(shot.sz):>9s}  {name}'
    line += '  skip' if shot.skip else '  redo' if shot.redo else ''
    line += f'  y={metres(shot.sy)}' if abs(shot.sy) >= SAME else ''
    if rule and shot.map_source is not None:
        line += f'  e={metres(shot.map_source[0])} n={metres(shot.map_source[1])}'
    if rule and shot.height is not None and abs(shot.height + shot.sz) >= SAME:
        line += f' h={metres(shot.height)}'
    if rule and shot.point is not None:
        line += f' point={shot.point:.15g}'
    if rule and shot.line:
        line += f' line={navigation.quoted(shot.line[:NAME_MAX])}'
    return line + '\n'


def _write_lists(path, shots, kind, rule):
    """Writes the lists, equal ones once. Returns the name of the list of each shot."""
    names, known = [], {}
    with open(path, 'w', encoding='utf-8') as file:
        file.write(
            '# Receivers [m]: x along the line, z down, y across; e, n: map coordinates; h: height, - where it is -z.\n'
        )
        for shot in shots:
            key = _receivers_key(shot, rule)
            if key not in known:
                known[key] = 'receivers' if kind == 'list' else f's{shot.record}'
                mapped = rule and shot.map_receivers is not None
                file.write(f'list {known[key]}\n#  channel           x         z         y')
                file.write('          e            n  h  line  station\n' if mapped else '\n')
                file.writelines(_receiver_lines(shot, mapped))
            names.append(known[key])
    return names


def _receiver_lines(shot, mapped):
    for i in range(len(shot.channel)):
        line = (
            f'{shot.channel[i]:10d} {metres(shot.rx[i]):>11s} {metres(shot.rz[i]):>9s}'
            f' {metres(shot.ry[i]):>9s}'
        )
        if mapped:
            line += f'  {metres(shot.map_receivers[i, 0])} {metres(shot.map_receivers[i, 1])}' + _receiver_numbers(shot, i)
        yield line + '\n'


def _receiver_numbers(shot, i):
    """The columns h, line and station of a receiver, as far as any is known."""
    high = shot.heights is not None and abs(shot.heights[i] + shot.rz[i]) >= SAME
    numbers = [
        metres(shot.heights[i]) if high else '-',
        navigation.quoted(shot.lines[i][:NAME_MAX]) if shot.lines and shot.lines[i] else '-',
        f'{shot.stations[i]:.15g}' if shot.stations is not None and not np.isnan(shot.stations[i]) else '-',
    ]
    while numbers and numbers[-1] == '-':
        numbers.pop()
    return ''.join(f' {number}' for number in numbers)


def _receivers_key(shot, rule):
    """All that the list of a shot holds."""
    mapped = rule and shot.map_receivers is not None
    beside = (tuple(_receiver_numbers(shot, i) for i in range(len(shot.channel))), shot.map_receivers.tobytes()) if mapped else ()
    return beside + tuple(
        a.tobytes()
        for a in (
            shot.channel.astype(np.int64),
            np.round(shot.rx, 3) + 0.0,
            np.round(shot.rz, 3) + 0.0,
            np.round(shot.ry, 3) + 0.0,
        )
    )


def classify(shots):
    """The shortest honest form: ('streamer'|'fixed', its line), ('list', '') one for all, or ('lists', '').

    Where map coordinates are known they are kept beside each receiver, so that positions stay as lists.
    """
    first = shots[0]
    n = len(first.channel)
    same = all(s.channel is first.channel or np.array_equal(s.channel, first.channel) for s in shots)
    if not same or any(s.map_receivers is not None for s in shots):
        return 'lists', ''
    steps = np.diff(first.rx)
    regular = (
        np.array_equal(first.channel, np.arange(1, n + 1))
        and np.ptp(first.rz) < SAME
        and n > 1
        and np.ptp(steps) < SAME
        and abs(steps[0]) >= 0.001
        and _on_millimetres(steps[0], first.rx[0] - first.sx)
    )
    moves = all(
        _close(k.rx - k.sx, first.rx - first.sx) and _close(k.ry, k.sy) and _close(k.rz, first.rz) for k in stacks(shots)
    )
    if regular and moves and (len(shots) > 1 or first.rx[0] != 0):
        direction = 1 if steps[0] > 0 else -1
        near = direction * (first.rx[0] - first.sx)
        return (
            'streamer',
            (
                f'spread cable streamer first={metres(near)} interval={metres(abs(steps[0]))} channels={n} '
                f'depth={metres(first.rz[0])} direction={direction}'
            ),
        )
    stays = all(_close(k.rx, first.rx) and _close(k.ry, first.ry) and _close(k.rz, first.rz) for k in stacks(shots))
    if regular and stays and steps[0] > 0 and np.ptp(first.ry) < SAME:
        across = f' y={metres(first.ry[0])}' if abs(first.ry[0]) >= SAME else ''
        return (
            'fixed',
            (
                f'spread receivers fixed x0={metres(first.rx[0])} interval={metres(steps[0])} channels={n} '
                f'depth={metres(first.rz[0])}{across}'
            ),
        )
    return ('list', '') if stays else ('lists', '')


def _close(a, b):
    return bool((np.abs(a - b) <= SAME).all())


def _on_millimetres(*values):
    """True where these lose nothing in millimetres (an interval's error would add up along the spread)."""
    return all(abs(v - round(v, 3)) < 1e-9 * max(1.0, abs(v)) for v in values)


# --- reading ------------------------------------------------------------------------------------------------


def read_map(path):
    """Reads a key-map as the modelling does (fortran/geometry/keymap.f90). Returns its shots by record, skipped ones too."""
    return read_navigated(path)[0]


def read_navigated(path):
    """(shots, rule): the same, and the rule of its navigation, None where it has none."""
    found = _Map(path)
    for line in read_lines(path, found.faults):
        found.take(line)
    found.check()
    return [_expand(row, found.spreads[row.spread], found.rule) for row in found.rows], found.rule


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


@dataclass
class _Spread:
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


class _Map:
    """Contents of the lines of a key-map, and their faults."""

    def __init__(self, path):
        self.path, self.faults = path, Faults()
        self.rows, self.skips, self.redos = [], [], []
        self.spreads, self.defined, self.used = {}, {}, {}
        self.rule = None
        self.place = []  # easting and northing of the first receiver that has them
        self.incomplete = False  # a name could not be defined: others would seem unknown

    def take(self, line):
        readers = {'spread': self._spread, 'lists': self._lists, 'shot': self._shot, 'shots': self._shots,
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
        self._check_spreads()
        self.rows.sort(key=lambda row: row.record)
        for before, row in zip(self.rows, self.rows[1:]):
            if row.record == before.record:
                self.faults.add(self.path, row.line, f'record {row.record} is in line {before.line} already: each shot needs'
                                ' a record number of its own')
        self._apply('skip', self.skips)
        self._apply('redo', self.redos)
        if not self.rows:
            self.faults.add_if_none(self.path, 'the key-map has no shots: add lines "shot RECORD SX SZ SPREAD"')
        elif all(row.skip for row in self.rows):
            self.faults.add_if_none(self.path, f'each of the {len(self.rows)} shot(s) is marked skip: nothing is left to model')
        if not self.faults.count:
            navigation.check(self.rule, self.rows, self.spreads, self.faults, self.path)
        self.faults.tell()
        todo = [row for row in self.rows if not row.skip]
        traces = sum(len(self.spreads[row.spread].channel) for row in todo)
        if traces > TRACES_MAX:
            fail(f'{self.path}: {len(todo)} shots with {traces} receivers together, at most {TRACES_MAX}: split the survey')

    def _check_spreads(self):
        if self.incomplete:
            return
        for name, (first, times) in self.used.items():
            if name not in self.defined:
                several = f' (in {times} lines)' if times > 1 else ''
                near = did_you_mean(name, list(self.defined))
                self.faults.add(self.path, first, f'unknown spread {shown(name)}{several}{near}: define it in a line "spread'
                                ' NAME ..." or read it with "lists FILE"')

    def _apply(self, word, ranges):
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
        from_line = _line_name(line, line.keys.get('line') or '')
        if bool(line.keys.get('e')) != bool(line.keys.get('n')):
            line.fault('e= and n= belong together: easting and northing of the source [m]')
        status = self._status(line, line.words[4:])
        if self.faults.count == before:
            self.rows.append(_Row(line.number, record, sx, sy, sz, self._use(line.words[3], line), *status, *numbers,
                                  from_line))

    def _shots(self, line):
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
        spread = self._use(line.keys['spread'], line)
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
        for word in line.rest():
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
        if not line.rest():
            line.fault('{0} needs record numbers: {0} 12 20-25'.format(line.first.lower()))

    def _use(self, name, line):
        """A name that a line of shots gives; it may be defined later."""
        first, times = self.used.get(name, (line.number, 0))
        self.used[name] = first, times + 1
        return name

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

    def _spread(self, line):
        line.read()
        name, kind = (line.words + ['', ''])[:2]
        if not self._define(name, line):
            self.incomplete = True
        elif kind.lower() in ('streamer', 'fixed'):
            self.spreads[name] = self._regular(line, kind.lower())
        elif kind.lower() != 'list':
            near = did_you_mean(kind.lower(), ['streamer', 'fixed', 'list'])
            line.fault(f'unknown kind of spread {shown(kind)}{near}: must be streamer, fixed or list')
        elif len(line.words) != 3 or line.keys:
            line.fault('a list is written: spread NAME list FILE')
        else:
            self._read_lists(line, line.words[2], name)

    def _lists(self, line):
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
        return _Spread(kind == 'streamer', c + 1, direction * (start + c * interval), np.full(n, y), np.full(n, depth))

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
        elif only is not None and only not in self.spreads:
            line.fault(f'no list {shown(only)} in {path}: its lists have other names, give the spread one of these')

    def _next_list(self, row, only):
        """The list that a line "list NAME" begins, None where it is faulty or not wanted."""
        words = row.rest()
        name = words[0] if words else ''
        if len(words) > 1:
            row.fault(f'unexpected word {shown(words[1])} after list NAME')
        if only is None:
            return _List(name, row.path, row.number) if self._define(name, row) else None
        if name == only and only in self.spreads:
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
        self.spreads[one.name] = _Spread(False, channel, table[:, 1], table[:, 3], table[:, 2], one.path, one.line,
                                         *np.round(table[:, 4:7].T, 3), one.lines, table[:, 7])


def _line_name(row, name):
    """The name of a line, '' for -."""
    if len(name.encode('utf-8', 'surrogateescape')) > NAME_MAX:
        row.fault(f'the name of the line {shown(name)} is longer than {NAME_MAX} characters')
    return '' if name == '-' else name


def _receiver(row, one, place):
    """A line "channel x z [y [e n [h [line [station]]]]]"; it goes to the list `one`, if there is one."""
    before, words = row.faults.count, row.rest()
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
        return numbers, _line_name(row, words[3])
    place[:] = place or numbers[:2]
    if max(abs(numbers[0] - round(place[0])), abs(numbers[1] - round(place[1]))) > navigation.FARTHEST:
        row.fault(f'E {numbers[0]:.12g} N {numbers[1]:.12g} is farther than {navigation.FARTHEST / 1000:g} km from '
                  f'E {place[0]:.12g} N {place[1]:.12g} of the first receiver: one of them is wrong')
    return numbers, _line_name(row, words[3])


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
