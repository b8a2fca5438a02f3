"""Key-maps (keymaps/README.md): shots in memory, writing a map with its receiver lists, reading one back."""

import math
import os
import re
from dataclasses import dataclass, field

import numpy as np

from spltools.cli import check_input, check_output, fail, new_file

RECORD_MAX = 2147483647
SHOTS_MAX, CHANNELS_MAX = 1000000, 10000000  # as the modelling
FAULTS_SHOWN = 20
SAME = 5e-4  # positions closer than this [m] are the same: maps are written in millimetres


@dataclass
class Shot:
    """One shot [m]: x along the line, y across it, z down; map_* are easting and northing where known."""

    record: int
    sx: float
    sy: float
    sz: float
    channel: np.ndarray
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray
    map_source: tuple = None
    map_receivers: np.ndarray = None  # (nrec, 2)
    skip: bool = False
    notes: list = field(default_factory=list)


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
        values = np.concatenate([[shot.sx, shot.sy, shot.sz], shot.rx, shot.ry, shot.rz])
        if not np.all(np.isfinite(values)) or np.abs(values).max() > 1e8:
            faults.add(
                where,
                0,
                f'record {shot.record} has a position beyond 1e8 m or none at all; check units and --origin',
            )
    if not shots:
        faults.add(where, 0, 'no shots were found')
    faults.tell()


def write_map(path, shots, comments, overwrite=False):
    """Writes the key-map, and NAME.receivers where shots have receivers of their own. Returns the paths."""
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
    if len(paths) == 2:
        names = _write_lists(paths[1], shots, kind, overwrite)
        quoted = os.path.basename(paths[1])
        spread = f'lists "{quoted}"' if re.search(r'[\s=#]', quoted) else f'lists {quoted}'
    with new_file(path, overwrite) as temporary, open(temporary, 'w', encoding='utf-8') as file:
        for line in comments:
            file.write(f'# {line}'.rstrip() + '\n')
        file.write(f'\n{spread}\n\n#     record          sx        sz  spread\n')
        for shot, name in zip(shots, names):
            file.write(_shot_line(shot, name))
    return paths


def _shot_line(shot, name):
    line = f'shot {shot.record:>10d} {metres(shot.sx):>11s} {metres(shot.sz):>9s}  {name}'
    line += '  skip' if shot.skip else ''
    line += f'  y={metres(shot.sy)}' if abs(shot.sy) >= SAME else ''
    if shot.map_source is not None:
        line += f'   # E {shot.map_source[0]:.2f} N {shot.map_source[1]:.2f}'
    return line + '\n'


def _write_lists(path, shots, kind, overwrite):
    """Writes the lists, equal ones once. Returns the name of the list of each shot."""
    names, known = [], {}
    with new_file(path, overwrite) as temporary, open(temporary, 'w', encoding='utf-8') as file:
        file.write(
            '# Receivers [m]: x along the line, z down, y across; E, N: map coordinates where known.\n'
        )
        for shot in shots:
            key = _receivers_key(shot)
            if key not in known:
                known[key] = 'receivers' if kind == 'list' else f's{shot.record}'
                file.write(f'list {known[key]}\n#  channel           x         z         y\n')
                file.writelines(_receiver_lines(shot))
            names.append(known[key])
    return names


def _receiver_lines(shot):
    for i in range(len(shot.channel)):
        line = (
            f'{shot.channel[i]:10d} {metres(shot.rx[i]):>11s} {metres(shot.rz[i]):>9s}'
            f' {metres(shot.ry[i]):>9s}'
        )
        if shot.map_receivers is not None:
            line += f'   # E {shot.map_receivers[i, 0]:.2f} N {shot.map_receivers[i, 1]:.2f}'
        yield line + '\n'


def _receivers_key(shot):
    return tuple(
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
    same = all(len(s.channel) == n and np.array_equal(s.channel, first.channel) for s in shots)
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
        np.allclose(s.rx - s.sx, first.rx - first.sx, rtol=0, atol=SAME)
        and np.allclose(s.ry, s.sy, rtol=0, atol=SAME)
        and np.allclose(s.rz, first.rz, rtol=0, atol=SAME)
        for s in shots
    )
    stays = all(
        np.allclose(s.rx, first.rx, rtol=0, atol=SAME)
        and np.allclose(s.ry, first.ry, rtol=0, atol=SAME)
        and np.allclose(s.rz, first.rz, rtol=0, atol=SAME)
        for s in shots
    )
    if regular and moves and (len(shots) > 1 or not stays or first.rx[0] != 0):
        direction = 1 if steps[0] > 0 else -1
        near = direction * (first.rx[0] - first.sx)
        return (
            'streamer',
            (
                f'spread cable streamer first={metres(near)} interval={metres(abs(steps[0]))} channels={n} '
                f'depth={metres(first.rz[0])} direction={direction}'
            ),
        )
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


def _on_millimetres(*values):
    """Whether these lose nothing in millimetres (an interval's error would add up along the spread)."""
    return all(abs(v - round(v, 3)) < 1e-9 * max(1.0, abs(v)) for v in values)


# --- reading ------------------------------------------------------------------------------------------------

WORD = re.compile(r'"[^"]*"|\'[^\']*\'|#.*|[^\s=#]+(?:\s*=\s*(?:"[^"]*"|\'[^\']*\'|[^\s=#]+))?')


def read_map(path):
    """Reads a key-map as the modelling program does. Returns its shots by record, skipped ones too."""
    faults = Faults()
    spreads, rows, skips = {}, [], []
    for number, words, keys in _lines(path):
        try:
            _map_line(path, number, words, keys, spreads, rows, skips)
        except (ValueError, IndexError, KeyError) as problem:
            missing = f'{problem.args[0]}= is missing' if isinstance(problem, KeyError) else str(problem)
            faults.add(path, number, f"{' '.join(words)}: {missing}")
    for number, row in rows:
        if row['spread'] not in spreads:
            faults.add(path, number, f"unknown spread '{row['spread']}'")
    faults.tell()
    shots = sorted((_expand(row, spreads[row['spread']]) for _, row in rows), key=lambda s: s.record)
    for low, high in skips:
        for shot in shots:
            shot.skip |= low <= shot.record <= high
    check_shots(shots, path)
    return shots


def _lines(path):
    """Line number, plain words and key=value pairs of each line that holds something."""
    check_input(path)
    try:
        with open(path, encoding='utf-8-sig') as file:
            text = file.read()
    except UnicodeDecodeError:
        fail(f'{path} is not plain text (ASCII or UTF-8); is this the right file?')
    if '\0' in text:
        fail(f'{path} is not plain text; is this the right file?')
    for number, line in enumerate(text.splitlines(), 1):
        words, keys = [], {}
        for token in WORD.findall(line):
            if token[0] == '#':
                break
            name, equals, value = token.partition('=')
            if token[0] in '"\'' or not equals:
                words.append(token.strip('"\''))
            else:
                keys[name.strip().lower()] = value.strip().strip('"\'')
        if words or keys:
            yield number, words, keys


def _map_line(path, number, words, keys, spreads, rows, skips):
    kind = words[0].lower()
    if kind == 'shot':
        if len(words) not in (5, 6):
            raise ValueError('is written: shot RECORD SX SZ SPREAD [todo|skip] [y=SY]')
        rows.append(
            (
                number,
                dict(
                    record=_whole(words[1]),
                    sx=_real(words[2]),
                    sz=_real(words[3]),
                    sy=_real(keys.get('y', '0')),
                    spread=words[4],
                    skip=words[5:] == ['skip'],
                ),
            )
        )
    elif kind == 'shots':
        n = _whole(keys['n'])
        if not 1 <= n <= SHOTS_MAX:
            raise ValueError(f'n = {n} is out of range 1..{SHOTS_MAX}')
        for i in range(n):
            rows.append(
                (
                    number,
                    dict(
                        record=_whole(keys['first_record']) + i * _whole(keys.get('step', '1')),
                        sx=_real(keys['x0']) + i * _real(keys['dx']),
                        sz=_real(keys['z']),
                        sy=_real(keys.get('y', '0')),
                        spread=keys['spread'],
                        skip=words[1:] == ['skip'],
                    ),
                )
            )
    elif kind == 'skip':
        for word in words[1:]:
            low, _, high = word.partition('-')
            skips.append((_whole(low), _whole(high or low)))
    elif kind == 'lists':
        spreads.update(_read_lists(os.path.join(os.path.dirname(path), words[1]), None))
    elif kind == 'spread' and words[2].lower() == 'list':
        lists = _read_lists(os.path.join(os.path.dirname(path), words[3]), words[1])
        if words[1] not in lists:
            raise ValueError(f"no list '{words[1]}' in {words[3]}")
        spreads[words[1]] = lists[words[1]]
    elif kind == 'spread':
        spreads[words[1]] = _regular_spread(words[2].lower(), keys)
    else:
        raise ValueError('a line begins with spread, lists, shot, shots or skip')


def _real(word):
    try:
        value = float(word.lower().replace('d', 'e'))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"'{word}' is no finite number")
    return value


def _whole(word):
    if not re.fullmatch(r'[+-]?[0-9]{1,18}', word):
        raise ValueError(f"'{word}' is no whole number")
    return int(word)


def _regular_spread(kind, keys):
    """(moves with the source, channel, x, y, z)"""
    n = _whole(keys['channels'])
    if n > CHANNELS_MAX:
        raise ValueError(f'channels = {n} is out of range 1..{CHANNELS_MAX}')
    if kind not in ('streamer', 'fixed') or n < 1 or _real(keys['interval']) <= 0:
        raise ValueError('a spread is a streamer, fixed or list; channels and interval are positive')
    c = np.arange(n)
    z = np.full(n, _real(keys['depth']))
    if kind == 'fixed':
        return (
            False,
            c + 1,
            _real(keys['x0']) + c * _real(keys['interval']),
            np.full(n, _real(keys.get('y', '0'))),
            z,
        )
    direction = _whole(keys.get('direction', '-1'))
    return True, c + 1, direction * (_real(keys['first']) + c * _real(keys['interval'])), np.zeros(n), z


def _read_lists(path, name):
    """Receiver lists of a file; rows before any "list NAME" belong to `name`."""
    rows = {}
    for number, words, _ in _lines(path):
        if words[0].lower() == 'list' and len(words) == 2:
            name = words[1]
            continue
        try:
            values = [_whole(words[0])] + [_real(w) for w in words[1:]]
            if len(values) not in (3, 4) or name is None:
                raise ValueError('a receiver is written: channel x z [y], after a line "list NAME"')
        except ValueError as problem:
            fail(f'{path}, line {number}: {problem}')
        rows.setdefault(name, []).append(values + [0.0] * (4 - len(values)))
    lists = {}
    for key, values in rows.items():
        table = np.array(values)
        lists[key] = (False, table[:, 0].astype(int), table[:, 1], table[:, 3], table[:, 2])
    return lists


def _expand(row, spread):
    moves, channel, x, y, z = spread
    if moves:
        x, y = row['sx'] + x, row['sy'] + y
    return Shot(row['record'], row['sx'], row['sy'], row['sz'], channel, x, y, z, skip=row['skip'])
