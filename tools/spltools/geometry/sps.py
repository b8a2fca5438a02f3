"""Navigation by SPS, revision 0 and 2.1: files of sources, receivers and the relations between them."""

import re
from array import array

import numpy as np

from spltools.cli import counted, fail, warn
from spltools.geometry.columns import Columns, read_lines, unit_factor
from spltools.geometry.faults import Faults
from spltools.geometry.shots import Shot

# Columns of the point records, from easting on equal in both revisions, and of the relation records.
POINT = {
    '2.1': dict(line=(2, 11), point=(12, 21), index=(24, 24), depth=(31, 34), water=(41, 46)),
    '0': dict(line=(2, 17), point=(18, 25), index=(26, 26), depth=(33, 36), water=(43, 46)),
}
CHANNELS_MAX = 99999  # five columns
PARTS = 10000  # points differ by no less than 1/PARTS
RELATION = {
    '2.1': dict(record=(8, 15), line=(18, 27), point=(28, 37), index=(38, 38), channels=((39, 43), (44, 48)),
                step=(49, 49), rline=(50, 59), receivers=((60, 69), (70, 79)), rindex=(80, 80)),
    '0': dict(record=(8, 11), line=(14, 29), point=(30, 37), index=(38, 38), channels=((39, 42), (43, 46)),
              step=(47, 47), rline=(48, 63), receivers=((64, 71), (72, 79)), rindex=(80, 80)),
}


def read_sps(source_file, receiver_file, relation_file, revision=None, elevation=True, skip_missing=False, on_floor=False):
    """Shots of an SPS survey, with easting and northing in x and y, and sentences on what was found.

    Depth below the datum is point depth minus surface elevation; elevation=False leaves the latter out. skip_missing leaves out
    relations of sources, and channels of receivers, that the other two files lack. on_floor: the depth of receivers is the water
    depth there, as of nodes and cables on the sea floor.
    """
    faults = Faults()
    revision = revision or _sps_revision(source_file)
    sources = _sps_points(source_file, 'S', revision, elevation, faults)
    receivers = _sps_points(receiver_file, 'R', revision, elevation, faults, on_floor)
    faults.tell()
    water = 0.0 if any(place[2] for place in receivers.values()) else _deepest_water(receiver_file, revision)
    if water > 0:
        warn(f'{receiver_file}: all receivers are at depth 0, in water of up to {water:g}: give --on-floor if they lie on the sea'
             ' floor')
    factors = [_sps_factor(read_lines(path)) for path in (source_file, receiver_file)]
    if factors[0] != factors[1]:
        fail(f'{source_file} gives the factor {factors[0]:.12g} to metres and {receiver_file} {factors[1]:.12g} (header H201): '
             'write the same into both')
    missing = _Missing(skip_missing, receivers)
    shots, unused = _sps_relations(relation_file, revision, sources, receivers, missing, faults)
    faults.tell()
    if not shots:
        fail(f'{relation_file}: no relation records (X in column 1): is this the relation file?')
    notes = [f'SPS revision {revision}: {counted(len(sources), "source point")}, {counted(len(receivers), "receiver point")}']
    notes += missing.told()
    if unused:
        notes.append(counted(unused, 'source point has no relation record and is left out',
                             'source points have no relation record and are left out'))
    notes.append(
        ('depth = point depth - surface elevation' if elevation else 'depth = point depth; elevations left out')
        + ('; of receivers = water depth' if on_floor else '')
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
    """Factor to metres (headers H20, which some write H200, and H201), 1 if not given."""
    unit, factor = (next((s[32:] for s in lines if s.startswith(codes)), '') for codes in (('H20 ', 'H200'), ('H201',)))
    return unit_factor('H201', f'{re.sub("[0-9.,]", " ", unit)} {factor}')


def _sps_points(path, kind, revision, elevation, faults, on_floor=False):
    """Points of an S or R file: {(line, point, index): (easting, northing, depth, height, line, point)} in metres."""
    at = POINT[revision]
    lines = read_lines(path)
    factor = _sps_factor(lines)
    points = {}
    for number, line in enumerate(lines, 1):
        if line[:1] == 'H' or line.strip(' \x1a\r') in ('', 'EOF'):
            continue
        if line[:1] != kind:
            faults.add(path, number, f"column 1 is '{line[:1]}': only H and {kind} records belong into this file")
            continue
        c = Columns(path, number, line, faults)
        if on_floor:
            depth, height = c.real(*at['water'], 'water depth'), 0.0
        else:
            depth, height = c.real(*at['depth'], 'point depth', blank=0.0), c.real(66, 71, 'surface elevation', blank=0.0)
        surface = height if elevation else 0.0
        key = _point_key(c, at['line'], at['point'], at['index'])
        place = (
            c.real(47, 55, 'easting') * factor,
            c.real(56, 65, 'northing') * factor,
            (depth - surface) * factor,
            (height - depth) * factor,
            c.text(*at['line']),
            np.nan if key[1] is None else key[1] / PARTS,
        )
        if points.setdefault(key, place) != place:
            faults.add(path, number, f'{_point_name(key)} stands in this file before with another position')
    if not points and not faults.count:
        fail(
            f'{path}: no {kind} records (column 1): is this the {"source" if kind == "S" else "receiver"}'
            ' file?'
        )
    return points


def _deepest_water(path, revision):
    """The largest water depth of a file of points, which else is not used, in its unit; 0 where it holds none."""
    first, last = POINT[revision]['water']
    words = (line[first - 1 : last].strip() for line in read_lines(path) if line[:1] == 'R')
    return max((float(word) for word in words if re.fullmatch(r'[0-9]+\.?[0-9]*', word)), default=0.0)


def _point_key(columns, line, point, index):
    """Line, point (in PARTS of 1) and index; 101 and 101.00 are the same point."""
    number = columns.real(*point, 'point number')
    return (
        _plain(columns.text(*line)),
        None if np.isnan(number) else round(PARTS * number),
        columns.text(*index) or '1',
    )


def _plain(word):
    try:
        number = float(word)
    except ValueError:
        return word
    return f'{number:.2f}' if number == round(number, 2) else f'{number:.12g}'


def _point_name(key):
    point = '?' if key[1] is None else f'{key[1] / PARTS:.12g}'
    return f'line {key[0]} point {point} index {key[2]}'


class _Missing:
    """What relations name and the files of points lack, where that is left out."""

    def __init__(self, skip, receivers):
        self.skip, self.relations, self.channels, self.first = skip, 0, 0, {}
        lines = {}
        for line, point, _ in receivers if skip else ():
            lines.setdefault(line, []).append(point)
        self.steps = {line: (points[0], int(np.gcd.reduce(np.array(points) - points[0]))) for line, points in lines.items()}

    def on_line(self, key):
        """Whether a receiver that is missing could be one of its line, by the step of the numbers there."""
        first, step = self.steps.get(key[0], (key[1], 1))
        return self.skip and (step == 0 or (key[1] - first) % step == 0)

    def takes(self, what, key, channels=0):
        """Whether it may be left out; counts it."""
        if self.skip:
            self.first.setdefault(what, _point_name(key))
            self.channels += channels
            self.relations += what == 'source'
        return self.skip

    def told(self):
        for what, number, noun in (('source', self.relations, 'relation record'), ('receiver', self.channels, 'channel')):
            if number:
                yield f'{counted(number, noun)} left out whose {what} is not in the {what} file, the first: {self.first[what]}'


def _sps_relations(path, revision, sources, receivers, missing, faults):
    """Shots by the relation records, and how many source points have none."""
    at = RELATION[revision]
    table = _Points(receivers)
    places, rows, used = {}, {}, {}
    for number, line in enumerate(read_lines(path), 1):
        if line[:1] == 'H' or line.strip(' \x1a\r') in ('', 'EOF'):
            continue
        if line[:1] != 'X':
            faults.add(path, number, f"column 1 is '{line[:1]}': only H and X records belong into this file")
            continue
        c = Columns(path, number, line, faults)
        before = faults.count
        record = c.whole(*at['record'], 'field record number')
        key = _point_key(c, at['line'], at['point'], at['index'])
        if key[1] is not None and key not in sources:
            if missing.takes('source', key):
                continue
            faults.add(path, number, f'source {_point_name(key)} is not in the source file')
        elif faults.count == before and used.setdefault(record, key) != key:
            faults.add(path, number,
                       f'field record {record} has another source point before: {_point_name(used[record])}')
        channels = _channels(c, at)
        spread = _relation_receivers(c, at, len(channels), table.row, missing) if faults.count == before else []
        if faults.count == before:
            places[record] = sources[key]
            pairs = (pair for pair in zip(channels, spread) if pair[1] is not None)
            rows.setdefault(record, array('i')).extend(n for pair in pairs for n in pair)
    taken = sum(len(pairs) for pairs in rows.values()) // 2
    if missing.channels > taken:
        fail(f'{path}: {missing.channels} of {missing.channels + taken} channels are on receivers that the receiver file lacks,'
             f" the first on {missing.first['receiver']}: does it belong to this survey?")
    shots = []
    for record in sorted(record for record in rows if rows[record]):
        pairs = np.array(rows.pop(record)).reshape(-1, 2)
        channel, spread = pairs[np.argsort(pairs[:, 0], kind='stable')].T
        e, n, z, height, line, point = places[record]
        shot = Shot(record, e, n, z, table.alike(channel.astype(int)), *(values[spread] for values in table.places[:3]),
                    height=height, point=point, line=line)
        shot.heights, shot.stations = (values[spread] for values in table.places[3:])
        shot.lines = table.lines_of(spread)
        shots.append(shot)
    return shots, len(set(sources) - set(used.values()))


class _Points:
    """Receiver points as columns, which shots hold rows of: many shots fit into memory so. `row`: of a point's key."""

    def __init__(self, points):
        self.row = {key: i for i, key in enumerate(points)}
        self.places = [np.array([place[i] for place in points.values()]) for i in (0, 1, 2, 3, 5)]  # e, n, z, height, point
        self.names = list(dict.fromkeys(place[4] for place in points.values()))
        number = {name: i for i, name in enumerate(self.names)}
        self.name = np.array([number[place[4]] for place in points.values()])
        self.known = {}

    def alike(self, values):
        """The same array for all shots where it is equal."""
        return self.known.setdefault(values.tobytes(), values)

    def lines_of(self, spread):
        """The line of each receiver, one list for all shots where it is equal."""
        names = self.name[spread]
        key = b'line' + names.tobytes()
        if key not in self.known:
            self.known[key] = [self.names[i] for i in names]
        return self.known[key]


def _channels(columns, at):
    first, last = (columns.whole(*where, 'channel') for where in at['channels'])
    step = columns.whole(*at['step'], 'channel increment', blank=1) or 1
    if last < first or first < 1 or last > CHANNELS_MAX or step < 1 or (last - first) % step:
        columns.faults.add(columns.path, columns.number,
                           f'channels {first} to {last} by {step}: must rise and come out even, up to {CHANNELS_MAX}')
        return []
    return list(range(first, last + 1, step))


def _relation_receivers(columns, at, n, receivers, missing):
    """What `receivers` has for the points of a relation record, one for each of its n channels; None for those that may lack."""
    first, last = (columns.real(*where, 'receiver') for where in at['receivers'])
    line, index = _plain(columns.text(*at['rline'])), columns.text(*at['rindex']) or '1'
    if np.isnan(first + last) or n < 1:
        return []
    found, absent = [], []
    for point in np.linspace(first, last, n) if n > 1 else [first]:
        key = (line, round(PARTS * float(point)), index)
        if key not in receivers:
            absent.append(key)
            if missing.on_line(key):
                found.append(None)
                continue
            columns.faults.add(
                columns.path,
                columns.number,
                f'receiver {_point_name(key)} is not in the receiver file '
                f'({n} channels on points {first:g} to {last:g})',
            )
            return []
        found.append(receivers[key])
    for key in absent:
        missing.takes('receiver', key, 1)
    if n == 1 and last != first:
        columns.faults.add(columns.path, columns.number, f'one channel, but receivers {first:g} to {last:g}')
    return found
