"""Writes key-maps (keymaps/README.md) with their receiver lists, in the shortest form that loses nothing."""

import contextlib
import functools
import hashlib
import os
import re

import numpy as np

from spltools.cli import check_output, fail, named, new_file
from spltools.geometry import navigation
from spltools.geometry.faults import Faults
from spltools.geometry.mapline import short
from spltools.geometry.shots import NAME_MAX, RECORD_MAX, X_MAX, Z_MAX, stacks

SAME = 5e-4  # positions closer than this [m] are the same: maps are written in millimetres


def metres(value):
    """A position as text: millimetres, no needless zeros, no -0."""
    text = f'{value:.3f}'.rstrip('0')
    text = text + '0' if text.endswith('.') else text
    return '0.0' if text == '-0.0' else text


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
    seen, renumber = set(seen), named('--renumber', 'records=None')
    for shot in shots:
        if not 1 <= shot.record <= RECORD_MAX:
            faults.add(where, 0,
                       f'record {shot.record} is out of range 1..{RECORD_MAX}; {renumber} numbers shots 1, 2, ...')
        if shot.record in seen:
            faults.add(where, 0, f'record {shot.record} comes more than once; {renumber} numbers shots 1, 2, ...')
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
                faults.add(where, 0,
                           f'record {shot.record} has a {what} beyond {short(limit)} m or none at all; check units and --origin')


def _as_word(name):
    """The name of a file as a key-map reads it."""
    if not re.search('[\\s=#"\']', name):
        return name
    quote = next((q for q in '"\'' if q not in name), None)
    if quote is None or re.search('[\0-\x1f]', name):
        fail(f'{name!r} cannot be named in a key-map, as it holds both kinds of quotes or a control character: choose another')
    return quote + name + quote


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
            spread = f'lists {_as_word(os.path.basename(paths[1]))}'
        with open(stack.enter_context(new_file(path, overwrite)), 'w', encoding='utf-8') as file:
            for line in comments:
                file.write(re.sub('[\0-\x1f]', ' ', f'# {line}').rstrip() + '\n')       # of headers and names of files, too
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
        file.write('# Receivers [m]: x along the line, z down, y across; e, n: map coordinates; h: height, - where it is -z.\n')
        for shot in shots:
            mapped = rule and shot.map_receivers is not None
            numbers = _receiver_numbers(shot) if mapped else None
            key = _receivers_key(shot, numbers)
            if key not in known:
                known[key] = 'receivers' if kind == 'list' else f's{shot.record}'
                file.write(f'list {known[key]}\n#  channel           x         z         y')
                file.write('          e            n  h  line  station\n' if mapped else '\n')
                file.writelines(_receiver_lines(shot, numbers))
            names.append(known[key])
    return names


def _receiver_lines(shot, numbers):
    """Lines of a list; with map coordinates where there are `numbers`."""
    x, z, y = (map(metres, values.tolist()) for values in (shot.rx, shot.rz, shot.ry))
    lines = [f'{channel:10d} {x:>11s} {z:>9s} {y:>9s}' for channel, x, z, y in zip(shot.channel.tolist(), x, z, y)]
    if numbers is not None:
        places = shot.map_receivers.tolist()
        lines = [f'{line}  {metres(e)} {metres(n)}{more}' for line, (e, n), more in zip(lines, places, numbers)]
    return [line + '\n' for line in lines]


def _receiver_numbers(shot):
    """The columns h, line and station of each receiver, as far as any is known."""
    heights, lines, stations = [['-'] * len(shot.channel)] * 3
    if shot.heights is not None:
        high = np.abs(shot.heights + shot.rz) >= SAME
        heights = [metres(value) if told else '-' for value, told in zip(shot.heights.tolist(), high.tolist())]
    if shot.lines:
        lines = [_line_word(line) if line else '-' for line in shot.lines]
    if shot.stations is not None:
        stations = ['-' if np.isnan(value) else f'{value:.15g}' for value in shot.stations.tolist()]
    return [_known(f' {height} {line} {station}') for height, line, station in zip(heights, lines, stations)]


@functools.lru_cache(maxsize=1000)
def _line_word(line):
    return navigation.quoted(line[:NAME_MAX])


def _known(text):
    while text.endswith(' -'):
        text = text[:-2]
    return text


def _receivers_key(shot, numbers):
    """A digest of all that the list of a shot holds, with its `numbers`: of many shots it takes less memory than that."""
    digest = hashlib.blake2b(str(len(shot.channel)).encode(), digest_size=32)
    for values in (shot.channel.astype(np.int64), *(np.round(v, 3) + 0.0 for v in (shot.rx, shot.rz, shot.ry))):
        digest.update(values.tobytes())
    if numbers is not None:
        digest.update(shot.map_receivers.tobytes())
        digest.update('\n'.join(numbers).encode())
    return digest.digest()


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
        and abs(steps[0]) >= 0.001
        and _close(first.rx, first.rx[0] + steps[0] * np.arange(n))  # steps that are almost alike may add up to metres
        and _on_millimetres(steps[0], first.rx[0] - first.sx)
    )
    moves = all(_close(k.rx - k.sx, first.rx - first.sx) and _close(k.ry, k.sy) and _close(k.rz, first.rz) for k in stacks(shots))
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
