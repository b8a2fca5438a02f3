"""Navigation by UKOOA P1/90."""

import bisect
import re

import numpy as np

from spltools.cli import counted, fail
from spltools.geometry.columns import Columns, read_lines, unit_factor
from spltools.geometry.faults import Faults
from spltools.geometry.shots import Shot


ALL = 'all'  # streamers


def read_p190(path, source_depth, depth=None, source=None, streamer=None, renumber=False):
    """Shots of a P1/90 file, with easting and northing in x and y, and sentences on what was found.

    Source records "S" (or those of the given source ID) are the shots, "R" records after them the receivers. Lines of one file may
    have the same points only if the shots get other numbers (`renumber`).
    """
    if re.match('I?OGP,', read_lines(path)[0]):
        fail(f'{path} is a P1/11 file, of columns with commas, which is not read: write it as P1/90, or give its positions to'
             ' spltools.write_keymap (tools/spltools/README.md)')
    faults = Faults()
    events, headers = _p190_events(path, faults)
    events = _one_source(path, events, source, faults)
    ids = sorted({r[4] for e in events for r in e[5]})
    if len(ids) > 1 and streamer is None:       # before groups of the same number are told as faults
        faults.tell()
        if '' in ids:
            line = next(n for n, text in enumerate(read_lines(path), 1) if text[:1] == 'R' and not text[79:80].strip())
            fail(f'{path}, line {line}: the streamer (column 80) is blank, and of other lines it is {ids[1]}: is the line cut?')
        fail(f"{path} holds the streamers {', '.join(ids)}: choose one with --streamer, or for modelling in 3D --streamer {ALL}")
    if streamer == ALL:
        streamer, told = None, _number_through(events, ids)
    else:
        told = []
    scale, depth_scale, notes = _p190_units(headers)
    notes += told
    shots = []
    for line, point, easting, northing, _, receivers, name in events:
        chosen = [r for r in receivers if streamer is None or r[4] == streamer]
        table = np.array([r[:4] for r in chosen], dtype=float).reshape(-1, 4)
        record = int(point) if re.fullmatch('[0-9]+', point) else 0  # not '²', which isdigit() takes
        if not record:
            faults.add(path, line, f"point number '{point}' (columns 20-25) is no positive whole number")
        if not chosen:
            faults.add(
                path,
                line,
                f'source point {point} has no receivers (R records)'
                + (f' of streamer {streamer}' if streamer else ''),
            )
        _same_group_twice(path, line, point, table[:, 0], faults)
        shots.append(
            Shot(record, easting * scale, northing * scale, source_depth, table[:, 0].astype(int), table[:, 1] * scale,
                 table[:, 2] * scale, table[:, 3] * depth_scale, point=float(record), line=name,
                 lines=[r[4] for r in chosen])
        )
    _points_twice(path, events, renumber, faults)
    faults.tell()
    if not shots:
        fail(f'{path}: no source records (S in column 1) with receivers: is this a P1/90 file?')
    groups = None if told else _p190_groups(headers)     # which some write of a streamer, others of all
    return shots, groups, notes + fill_depths(shots, depth)


def _p190_events(path, faults):
    """Source events [line, point, easting, northing, source ID, receivers, name of the line], and header lines."""
    events, headers, orphans = [], [], 0
    for number, line in enumerate(read_lines(path), 1):
        kind = line[:1]
        if kind == 'H':
            headers.append(line)
            continue
        columns = Columns(path, number, line, faults)
        if kind == 'S':
            point = columns.text(20, 25)
            shared = events[-1][5] if events and events[-1][1] == point and not events[-1][5] else []
            events.append(
                [
                    number,
                    point,
                    columns.real(47, 55, 'easting'),
                    columns.real(56, 64, 'northing'),
                    columns.text(18, 18),
                    shared,
                    columns.text(2, 13),
                ]
            )  # sources of one point share the receivers that follow
        elif kind == 'R':
            receivers = _p190_receivers(columns, len(line))
            if events:
                events[-1][5].extend(receivers)
            elif not orphans:
                orphans = number
                faults.add(path, number, 'receivers (R) before any source record (S)')
        elif line.strip(' \x1a\r') and not 'A' <= kind <= 'Z':
            faults.add(path, number, f"unknown record '{line[:20]}': column 1 holds a capital (H, S, V, E, T, R ...)")
    return events, headers


def _p190_receivers(columns, length):
    """Up to three groups of an R record: number, easting, northing, depth (nan where blank), streamer ID."""
    groups = []
    for start in (2, 28, 54):
        if not columns.text(start, start + 21):
            continue
        if length < start + 21:
            columns.faults.add(columns.path, columns.number,
                               f'the line ends in column {length}, within a receiver group')
            break
        depth = columns.real(start + 22, start + 25, 'receiver depth', blank=-9999.0)
        groups.append(
            (
                columns.whole(start, start + 3, 'receiver group'),
                columns.real(start + 4, start + 12, 'easting'),
                columns.real(start + 13, start + 21, 'northing'),
                np.nan if depth == -9999.0 else depth,
                columns.text(80, 80),
            )
        )
    return groups


def _one_source(path, events, source, faults):
    """The events of one source ID where a point has several (say, two guns at once and their centre)."""
    ids = sorted({e[4] for e in events})
    if source is not None:
        chosen = [e for e in events if e[4] == source]
        if not chosen:
            faults.tell()
            fail(f"{path} has no source '{source}' (column 18): it has {', '.join(ids)}")
        return chosen
    several = len({(e[6], e[1]) for e in events}) < len(events)
    if several and len(ids) > 1:
        faults.tell()
        fail(f"{path} has points with several sources, {', '.join(ids)}: choose one with --source")
    return events


def _number_through(events, ids):
    """Numbers the groups of all streamers through, where two streamers have the same; tells of it."""
    if len(ids) < 2:
        return []
    told = f"streamers {', '.join(ids)}"
    if all(len({r[0] for r in receivers}) == len({(r[0], r[4]) for r in receivers}) for *_, receivers, _ in events):
        return [f'{told}: all their groups have numbers of their own, which are the channels']
    most = max((r[0] for e in events for r in e[5]), default=0)
    first = {name: k * most for k, name in enumerate(ids)}
    done = set()
    for *_, receivers, _ in events:
        if id(receivers) not in done:           # sources of one point share theirs
            done.add(id(receivers))
            receivers[:] = [(r[0] + first[r[4]], *r[1:]) for r in receivers]
    return [f'{told}: channels are their groups, plus {", ".join(f"{first[name]} for {name}" for name in ids[1:])}']


def _points_twice(path, events, renumber, faults):
    seen, other = {}, {}
    for line, point, _, _, _, _, name in events:
        if (name, point) in seen:
            faults.add(path, line,
                       f'source point {point} stands in line {seen[name, point]} already: remove one of them')
        elif point in other and not renumber:
            faults.add(
                path,
                line,
                f"source point {point} of line '{name}' stands in line {other[point][0]} as one of line '{other[point][1]}':"
                ' give --renumber, or make a key-map of each line',
            )
        seen.setdefault((name, point), line)
        other.setdefault(point, (line, name))


def _same_group_twice(path, line, point, groups, faults):
    values, counts = np.unique(groups, return_counts=True)
    if np.any(counts > 1):
        faults.add(path, line, f'source point {point} has receiver group {values[counts > 1][0]:.0f} more than once')


def _p190_units(headers):
    """Factors to metres of map and depth, as the headers state them, and the sentences that say so."""
    factors, notes = {}, []
    for code, name in (('H2000', 'map'), ('H2001', 'depth')):
        line = next((h for h in headers if h.startswith(code)), '')
        factors[name] = unit_factor(code, line[33:], other=line[32:33] == '2')
        if not line[32:].strip():
            notes.append(f'{name} units are not stated (header {code}): taken as metres')
        elif factors[name] != 1.0:
            notes.append(f'{name} units: multiplied by {factors[name]} to give metres (header {code})')
    for code in ('H1400', 'H1800', 'H1900'):
        notes += [' '.join(h[5:].split()) for h in headers if h.startswith(code)][:1]
    return factors['map'], factors['depth'], notes


def _p190_groups(headers):
    """Receiver groups a shot as announced by H1100, None if it is not."""
    line = next((h for h in headers if h.startswith('H1100')), '')
    numbers = re.findall(r'[0-9]+', line[32:])
    return int(numbers[0]) if numbers and len(numbers[0]) < 10 else None


def fill_depths(shots, depth):
    """Fills blank receiver depths (nan): `depth`, else same group in the nearest shot, else the median."""
    blank = [int(np.isnan(s.rz).sum()) for s in shots]
    total = sum(blank)
    if total == 0:
        return []
    where = f'{counted(total, "blank receiver depth")} in {np.count_nonzero(blank)} of {counted(len(shots), "shot")}'
    if depth is not None:
        for s in shots:
            s.rz = np.where(np.isnan(s.rz), depth, s.rz)
        return [f'{where}: filled with --depth {depth:g} m']
    known = np.concatenate([s.rz[~np.isnan(s.rz)] for s in shots])
    if len(known) == 0:
        fail('no receiver has a depth in this file: give --depth')
    median = float(np.median(known))
    tables = [dict(zip(s.channel[~np.isnan(s.rz)], s.rz[~np.isnan(s.rz)])) for s in shots]
    full = [i for i, table in enumerate(tables) if table]
    by_median = 0
    for i, s in enumerate(shots):
        if not blank[i]:
            continue
        at = bisect.bisect(full, i)
        nearest = sorted(full[max(0, at - 5) : at + 5], key=lambda j, i=i: abs(j - i))
        for r in np.flatnonzero(np.isnan(s.rz)):
            value = next((tables[j][s.channel[r]] for j in nearest[:5] if s.channel[r] in tables[j]), None)
            by_median += value is None
            s.rz[r] = median if value is None else value
        s.notes.append('receiver depths filled')
    told = f'{where}: filled from the same group of the nearest shot that has it'
    return [told + (f'; {by_median} of them with the median of all, {median:g} m' if by_median else '')]
