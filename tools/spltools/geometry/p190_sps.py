"""Navigation files with fixed columns, counted from 1: UKOOA P1/90 and SPS (revision 0 and 2.1)."""

import re

import numpy as np

from spltools.cli import check_input, counted, fail
from spltools.geometry.faults import Faults
from spltools.geometry.shots import RECORD_MAX, Shot

LARGEST = 1e15  # of any number in these columns
CRS = ('H1500', 'H1800', 'H1900', 'H2200', 'H12', 'H18 ', 'H19 ', 'H220 ')  # datum, projection, zone, central meridian


def read_lines(path):
    """Lines of a text file without their ends; old files may hold any 8-bit characters in comments."""
    check_input(path)
    with open(path, encoding='latin-1', newline=None) as file:
        text = file.read()
    if '\0' in text:
        fail(f'{path} is not a text file of fixed columns; is this the right file?')
    return text.split('\n')


class Columns:
    """Fields of one line by their columns; a field that is no number becomes a fault with its line."""

    def __init__(self, path, number, line, faults):
        self.path, self.number, self.line, self.faults = path, number, line, faults

    def text(self, first, last):
        return self.line[first - 1 : last].strip()

    def real(self, first, last, name, blank=None):
        """Number in these columns; `blank` where they are empty, which is a fault where it is None."""
        word = self.text(first, last)
        if not word and blank is not None:
            return blank
        try:
            value = float(word)
            if abs(value) <= LARGEST and not re.search('[a-df-zA-DF-Z_]', word):
                return value
        except ValueError:
            pass
        what = f"'{word}' is no number up to {LARGEST:g}" if word else 'is blank'
        self.faults.add(self.path, self.number, f'{name} (columns {first}-{last}): {what}')
        return np.nan

    def whole(self, first, last, name, blank=None):
        value = self.real(first, last, name, blank)
        if np.isnan(value) or (value == int(value) and abs(value) <= RECORD_MAX):
            return 0 if np.isnan(value) else int(value)
        self.faults.add(
            self.path,
            self.number,
            f"{name} (columns {first}-{last}): '{self.text(first, last)}' is no whole number up to {RECORD_MAX}",
        )
        return 0


def read_crs(path):
    """System of coordinates by the headers of a P1/90 or SPS file, as words; '' where they tell none."""
    headers = [line for line in read_lines(path) if line[:1] == 'H']
    words = [' '.join(next((h[32:] for h in headers if h.startswith(code)), '').split()) for code in CRS]
    return ', '.join(word for word in words if word)


# --- P1/90 --------------------------------------------------------------------------------------------------


def read_p190(path, source_depth, depth=None, source=None, streamer=None):
    """Shots of a P1/90 file, with easting and northing in x and y, and sentences on what was found.

    Source records "S" (or those of the given source ID) are the shots, "R" records after them the receivers.
    """
    if re.match('I?OGP,', read_lines(path)[0]):
        fail(f'{path} is a P1/11 file, of columns with commas, which is not read: write it as P1/90, or give its positions to'
             ' spltools.write_keymap (tools/spltools/README.md)')
    faults = Faults()
    events, headers = _p190_events(path, faults)
    events = _one_source(path, events, source)
    ids = sorted({r[4] for e in events for r in e[5]})
    if len(ids) > 1 and streamer is None:       # before groups of the same number are told as faults
        faults.tell()
        fail(f"{path} holds the streamers {', '.join(ids)}: choose one with --streamer")
    scale, depth_scale, notes = _p190_units(headers)
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
            Shot(
                record,
                easting * scale,
                northing * scale,
                source_depth,
                table[:, 0].astype(int),
                table[:, 1] * scale,
                table[:, 2] * scale,
                table[:, 3] * depth_scale,
                point=float(record),
                line=name,
                lines=[r[4] for r in chosen],
            )
        )
    _points_twice(path, events, faults)
    faults.tell()
    if not shots:
        fail(f'{path}: no source records (S in column 1) with receivers: is this a P1/90 file?')
    return shots, _p190_groups(headers), notes + fill_depths(shots, depth)


def _p190_events(path, faults):
    """Source events [line, point, easting, northing, source ID, receivers, name of the line], and header lines."""
    events, headers, orphans = [], [], 0
    for number, line in enumerate(read_lines(path), 1):
        kind = line[:1]
        columns = Columns(path, number, line, faults)
        if kind == 'H':
            headers.append(line)
        elif kind == 'S':
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
        elif line.strip(' \x1a\r') and not kind.isalpha():
            faults.add(
                path, number, f"unknown record '{line[:20]}': column 1 holds a letter (H, S, V, E, T, R ...)"
            )
    return events, headers


def _p190_receivers(columns, length):
    """Up to three groups of an R record: number, easting, northing, depth (nan where blank), streamer ID."""
    groups = []
    for start in (2, 28, 54):
        if not columns.text(start, start + 21):
            continue
        if length < start + 21:
            columns.faults.add(
                columns.path, columns.number, f'the line ends in column {length}, within a receiver group'
            )
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


def _one_source(path, events, source):
    """The events of one source ID where a point has several (say, two guns at once and their centre)."""
    ids = sorted({e[4] for e in events})
    if source is not None:
        chosen = [e for e in events if e[4] == source]
        if not chosen:
            fail(f"{path} has no source '{source}' (column 18): it has {', '.join(ids)}")
        return chosen
    several = len({e[1] for e in events}) < len(events)
    if several and len(ids) > 1:
        fail(f"{path} has points with several sources, {', '.join(ids)}: choose one with --source")
    return events


def _points_twice(path, events, faults):
    seen = {}
    for line, point, *_ in events:
        if point in seen:
            faults.add(
                path, line, f'source point {point} stands in line {seen[point]} already: remove one of them'
            )
        seen.setdefault(point, line)


def _same_group_twice(path, line, point, groups, faults):
    values, counts = np.unique(groups, return_counts=True)
    if np.any(counts > 1):
        faults.add(
            path, line, f'source point {point} has receiver group {values[counts > 1][0]:.0f} more than once'
        )


def _p190_units(headers):
    """Factors to metres of map and depth, as the headers state them, and the sentences that say so."""
    factors, notes = {}, []
    for code, name in (('H2000', 'map'), ('H2001', 'depth')):
        line = next((h for h in headers if h.startswith(code)), '')
        numbers = re.findall(r'\d+\.\d+', line[33:])
        factors[name] = float(numbers[-1]) if numbers else 1.0
        if not 0 < factors[name] < 10:
            fail(
                f"header {code} gives the factor {factors[name]} to metres, which cannot be: '{line.strip()}'"
            )
        if not numbers:
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
        nearest = sorted(full, key=lambda j, i=i: abs(j - i))
        for r in np.flatnonzero(np.isnan(s.rz)):
            value = next((tables[j][s.channel[r]] for j in nearest[:5] if s.channel[r] in tables[j]), None)
            by_median += value is None
            s.rz[r] = median if value is None else value
        s.notes.append('receiver depths filled')
    told = f'{where}: filled from the same group of the nearest shot that has it'
    return [told + (f'; {by_median} of them with the median of all, {median:g} m' if by_median else '')]


# --- SPS ----------------------------------------------------------------------------------------------------

# Columns of the point records, from easting on equal in both revisions, and of the relation records.
POINT = {
    '2.1': dict(line=(2, 11), point=(12, 21), index=(24, 24), depth=(31, 34)),
    '0': dict(line=(2, 17), point=(18, 25), index=(26, 26), depth=(33, 36)),
}
CHANNELS_MAX = 99999  # five columns
RELATION = {
    '2.1': dict(
        record=(8, 15),
        line=(18, 27),
        point=(28, 37),
        index=(38, 38),
        channels=((39, 43), (44, 48)),
        step=(49, 49),
        rline=(50, 59),
        receivers=((60, 69), (70, 79)),
        rindex=(80, 80),
    ),
    '0': dict(
        record=(8, 11),
        line=(14, 29),
        point=(30, 37),
        index=(38, 38),
        channels=((39, 42), (43, 46)),
        step=(47, 47),
        rline=(48, 63),
        receivers=((64, 71), (72, 79)),
        rindex=(80, 80),
    ),
}


def read_sps(source_file, receiver_file, relation_file, revision=None, elevation=True):
    """Shots of an SPS survey, with easting and northing in x and y, and sentences on what was found.

    Depth below the datum is point depth minus surface elevation; elevation=False leaves the latter out.
    """
    faults = Faults()
    revision = revision or _sps_revision(source_file)
    sources = _sps_points(source_file, 'S', revision, elevation, faults)
    receivers = _sps_points(receiver_file, 'R', revision, elevation, faults)
    faults.tell()
    shots, unused = _sps_relations(relation_file, revision, sources, receivers, faults)
    faults.tell()
    if not shots:
        fail(f'{relation_file}: no relation records (X in column 1): is this the relation file?')
    notes = [f'SPS revision {revision}: {counted(len(sources), "source point")}, {counted(len(receivers), "receiver point")}']
    if unused:
        notes.append(counted(unused, 'source point has no relation record and is left out',
                             'source points have no relation record and are left out'))
    notes.append(
        'depth = point depth - surface elevation' if elevation else 'depth = point depth; elevations left out'
    )
    return shots, notes


def _sps_revision(path):
    """Revision from header H00; without it we would have to guess columns."""
    line = next((s for s in read_lines(path) if s.startswith('H00')), None)
    if line is None:
        fail(f'{path} has no header H00 that tells the SPS revision: give --revision 0 or 2.1')
    version = re.search(r'SPS[\s.REV]*(\d)', line[3:], re.IGNORECASE)
    if version is None:
        fail(f"{path}: header H00 names no SPS revision: '{line[32:].strip()}': give --revision 0 or 2.1")
    return '2.1' if version[1] == '2' else '0'


def _sps_factor(lines):
    """Factor to metres (header H201), 1 if not given."""
    line = next((s for s in lines if s.startswith('H201')), '')
    numbers = re.findall(r'[0-9]*\.?[0-9]+', line[32:])
    factor = float(numbers[0]) if numbers else 1.0
    if not 0 <= factor < 10:
        fail(f"header H201 gives the factor {factor} to metres, which cannot be: '{line.strip()}'")
    return factor or 1.0


def _sps_points(path, kind, revision, elevation, faults):
    """Points of an S or R file: {(line, point, index): (easting, northing, depth, height, line, point)} in metres."""
    at = POINT[revision]
    lines = read_lines(path)
    factor = _sps_factor(lines)
    points = {}
    for number, line in enumerate(lines, 1):
        if line[:1] == 'H' or not line.strip(' \x1a\r'):
            continue
        if line[:1] != kind:
            faults.add(
                path, number, f"column 1 is '{line[:1]}': only H and {kind} records belong into this file"
            )
            continue
        c = Columns(path, number, line, faults)
        depth = c.real(*at['depth'], 'point depth', blank=0.0)
        surface = c.real(66, 71, 'surface elevation', blank=0.0) if elevation else 0.0
        key = _point_key(c, at['line'], at['point'], at['index'])
        place = (
            c.real(47, 55, 'easting') * factor,
            c.real(56, 65, 'northing') * factor,
            (depth - surface) * factor,
            (c.real(66, 71, 'surface elevation', blank=0.0) - depth) * factor,
            c.text(*at['line']),
            np.nan if key[1] is None else key[1] / 100,
        )
        if points.setdefault(key, place) != place:
            faults.add(path, number, f'{_point_name(key)} stands in this file before with another position')
    if not points and not faults.count:
        fail(
            f'{path}: no {kind} records (column 1): is this the {"source" if kind == "S" else "receiver"}'
            ' file?'
        )
    return points


def _point_key(columns, line, point, index):
    """Line, point (in hundredths) and index; 101 and 101.00 are the same point."""
    number = columns.real(*point, 'point number')
    return (
        _plain(columns.text(*line)),
        None if np.isnan(number) else round(100 * number),
        columns.text(*index) or '1',
    )


def _plain(word):
    try:
        return f'{float(word):.2f}'
    except ValueError:
        return word


def _point_name(key):
    point = '?' if key[1] is None else f'{key[1] / 100:g}'
    return f'line {key[0]} point {point} index {key[2]}'


def _sps_relations(path, revision, sources, receivers, faults):
    """Shots by the relation records, and how many source points have none."""
    at = RELATION[revision]
    places, rows, used = {}, {}, {}
    for number, line in enumerate(read_lines(path), 1):
        if line[:1] == 'H' or not line.strip(' \x1a\r'):
            continue
        if line[:1] != 'X':
            faults.add(path, number, f"column 1 is '{line[:1]}': only H and X records belong into this file")
            continue
        c = Columns(path, number, line, faults)
        before = faults.count
        record = c.whole(*at['record'], 'field record number')
        key = _point_key(c, at['line'], at['point'], at['index'])
        if key[1] is not None and key not in sources:
            faults.add(path, number, f'source {_point_name(key)} is not in the source file')
        elif faults.count == before and used.setdefault(record, key) != key:
            faults.add(
                path,
                number,
                f'field record {record} has another source point before: {_point_name(used[record])}',
            )
        channels = _channels(c, at)
        spread = _relation_receivers(c, at, len(channels), receivers) if faults.count == before else []
        if faults.count == before:
            places[record] = sources[key]
            rows.setdefault(record, []).extend((n,) + place for n, place in zip(channels, spread))
    shots = []
    for record in sorted(rows):
        spread = sorted(rows[record])
        table = np.array([row[:5] + row[6:] for row in spread])
        e, n, z, height, line, point = places[record]
        shot = Shot(record, e, n, z, table[:, 0].astype(int), *table[:, 1:4].T, height=height, point=point, line=line)
        shot.heights, shot.lines, shot.stations = table[:, 4], [row[5] for row in spread], table[:, 5]
        shots.append(shot)
    return shots, len(set(sources) - set(used.values()))


def _channels(columns, at):
    first, last = (columns.whole(*where, 'channel') for where in at['channels'])
    step = columns.whole(*at['step'], 'channel increment', blank=1) or 1
    if last < first or first < 1 or last > CHANNELS_MAX or step < 1 or (last - first) % step:
        columns.faults.add(
            columns.path,
            columns.number,
            f'channels {first} to {last} by {step}: must rise and come out even, up to {CHANNELS_MAX}',
        )
        return []
    return list(range(first, last + 1, step))


def _relation_receivers(columns, at, n, receivers):
    """Positions of the receivers of a relation record, one for each of its n channels."""
    first, last = (columns.real(*where, 'receiver') for where in at['receivers'])
    line, index = _plain(columns.text(*at['rline'])), columns.text(*at['rindex']) or '1'
    if np.isnan(first + last) or n < 1:
        return []
    found = []
    for point in np.linspace(first, last, n) if n > 1 else [first]:
        key = (line, round(100 * float(point)), index)
        if key not in receivers:
            columns.faults.add(
                columns.path,
                columns.number,
                f'receiver {_point_name(key)} is not in the receiver file '
                f'({n} channels on points {first:g} to {last:g})',
            )
            return []
        found.append(receivers[key])
    if n == 1 and last != first:
        columns.faults.add(columns.path, columns.number, f'one channel, but receivers {first:g} to {last:g}')
    return found
