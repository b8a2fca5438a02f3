"""Sources and stations as SPECFEM has them: CMTSOLUTION, FORCESOLUTION, STATIONS. Moments there are in dyne cm along r, t, p: up,
south, east; forces in N along east, north, up."""
import math
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Optional

import numpy as np

from spltools.cli import check_input, fail, warn
from spltools.geometry.globe import offset_of

DYNE_CM = 1e-7                                   # N m
GAUSS = 1.628                                    # moment rate exp(-(1.628 t / half duration)**2)
PARTS = ('Mrr', 'Mtt', 'Mpp', 'Mrt', 'Mrp', 'Mtp')
PLACE = ('lat', 'lon', 'depth')
WANTED = ('time shift', 'half duration') + PLACE + PARTS
FORCE = ('time shift', 'hdurorf0') + PLACE + ('factor force', 'component dir vect source e', 'component dir vect source n',
                                              'component dir vect source z_up')
HISTORY = 'source time function'
TITLES = {'lat': 'latitude', 'lon': 'longitude'}
HEADER = r'\s*[A-Za-z]{2,8}\s*(\d{4})((?:\s+\d+){4})\s+(\d[\d.]*)\s'     # catalogue, year, month, day, hour, minute, second
LARGEST = 1e30                                   # N m, that the modelling takes


@dataclass
class Station:
    name: str
    network: str
    latitude: float                              # or y [m]
    longitude: float                             # or x [m]
    burial: float                                # [m]


@dataclass
class Event:
    """depth [m]; moment [N m] along r, t, p, or force [N] along north, east, down; time: of the centroid, None of a force; ricker:
    the peak frequency [Hz] of a history that is one, 0: a Gaussian."""
    latitude: float
    longitude: float
    depth: float
    shift: float
    half_duration: float
    name: str = ''
    moment: dict = field(default_factory=dict)
    time: Optional[datetime] = None
    force: Optional[np.ndarray] = None
    ricker: float = 0.0

    def sigma(self):
        return self.half_duration / (GAUSS * math.sqrt(2))

    def north_east_down(self):
        """The tensor (3, 3) along north, east, down: r is -down, t is -north, p is east."""
        turn = np.array([[0, 0, -1], [-1, 0, 0], [0, 1, 0]], float)          # rows: r, t, p
        m = self.moment
        rtp = np.array([[m['Mrr'], m['Mrt'], m['Mrp']], [m['Mrt'], m['Mtt'], m['Mtp']], [m['Mrp'], m['Mtp'], m['Mpp']]])
        return turn.T @ rtp @ turn


class Axes:
    """x points `azimuth` degrees clockwise from north, y 90 degrees to its left or right, z down."""

    def __init__(self, azimuth, left):
        ax, ay = math.radians(azimuth), math.radians(azimuth + (-90 if left else 90))
        rows = np.array([[math.cos(ax), math.sin(ax), 0], [math.cos(ay), math.sin(ay), 0], [0, 0, 1]])
        self.rows = np.where(np.abs(rows - np.rint(rows)) < 1e-12, np.rint(rows), rows)

    def tensor(self, north_east_down):
        return self.rows @ north_east_down @ self.rows.T

    def place(self, north, east):
        return tuple(float(v) for v in self.rows[:2, :2] @ (north, east))


def read_events(path):
    """The sources of a CMTSOLUTION or FORCESOLUTION file."""
    found, lines = [], _lines(path)
    for number, line in lines:
        key, colon, value = line.partition(':')
        key = key.strip().lower()
        if re.match(HEADER, line) or re.match(r'\s*FORCE\s*\d*\s*$', line):
            found.append({'': line})
            continue
        if not found:
            fail(f'{path}:{number}: the file begins with no line of the time and place of an event, nor with FORCE')
        if not colon:
            warn(f"{path}:{number}: '{line.strip()}' is left out: the history is a Gaussian of the half duration")
            continue
        known = next((w for w in (*WANTED, *FORCE, HISTORY) if key.startswith(w.lower())), None)
        if known in found[-1]:
            fail(f"{path}:{number}: '{key}' stands there twice")
        if known:
            found[-1][known] = _number(path, number, key, value)
        elif key == 'event name':
            found[-1]['name'] = value.strip()
    if not found:
        fail(f'{path} holds no source')
    return [_force(path, e) if 'FORCE' in e[''] else _event(path, e) for e in found]


def _complete(path, e, wanted):
    missing = [TITLES.get(w, w) for w in wanted if w not in e]
    if missing:
        fail(f"{path}: '{missing[0]}' is missing: it must hold {', '.join(TITLES.get(w, w) for w in wanted)}")


def _force(path, e):
    _complete(path, e, FORCE)
    east, north, up = (e[w] for w in FORCE[-3:])
    length, factor, history = math.hypot(east, north, up), e['factor force'], e.get(HISTORY, 0)
    if not 1 / LARGEST < length < LARGEST or not 0 < abs(factor) <= LARGEST:
        fail(f'{path}: the force is {factor:g} N along a vector of length {length:g}: there is none, or it is too large')
    if history not in (0, 1):
        fail(f'{path}: {HISTORY} {history:g}: only 0, a Gaussian, and 1, a Ricker wavelet, are taken')
    if e['hdurorf0'] < 0 or history == 1 and not e['hdurorf0'] > 0:
        fail(f"{path}: hdurorf0 is {e['hdurorf0']:g}, must be above 0")
    return Event(e['lat'], e['lon'], e['depth'] * 1000, e['time shift'], 0.0 if history == 1 else e['hdurorf0'], 'force',
                 force=factor * (np.array([north, east, -up]) / length), ricker=e['hdurorf0'] if history == 1 else 0.0)


def _event(path, e):
    _complete(path, e, WANTED)
    moment = {w: e[w] * DYNE_CM for w in PARTS}
    if not any(moment.values()) or max(map(abs, moment.values())) > LARGEST:
        fail(f'{path}: the moment is {max(map(abs, moment.values())):g} N m at most, must be above 0 and up to {LARGEST:g}')
    if e['half duration'] < 0:
        fail(f"{path}: the half duration {e['half duration']:g} s is negative")
    event = Event(e['lat'], e['lon'], e['depth'] * 1000, e['time shift'], e['half duration'], e.get('name', ''), moment)
    date = re.match(HEADER, e[''])
    try:
        begin = datetime(int(date.group(1)), *map(int, date.group(2).split()), tzinfo=timezone.utc)
        event.time = begin + timedelta(seconds=float(date.group(3)) + event.shift)
    except (ValueError, OverflowError):
        fail(f"{path}: '{e[''].strip()}' holds no date and time")
    return event


def read_stations(path):
    """The lines of a STATIONS file: name, network, latitude or y, longitude or x, elevation, burial [m]."""
    stations = []
    for number, line in _lines(path):
        words = line.split()
        if words[0].startswith('#'):
            continue
        if len(words) < 6:
            fail(f'{path}:{number}: {len(words)} words, a line of STATIONS has six: name, network, latitude or y, longitude or x, '
                 'elevation, burial')
        if not re.fullmatch('[A-Za-z0-9_-]{1,32}', words[0]) or not re.fullmatch('[A-Za-z0-9_-]{1,8}', words[1]):
            fail(f'{path}:{number}: {words[0]!r} and {words[1]!r} are no names of a station and its network: letters and digits')
        names = ('latitude', 'longitude', 'elevation', 'burial')
        lat, lon, _, burial = (_number(path, number, what, w) for what, w in zip(names, words[2:6]))
        stations.append(Station(words[0], words[1], lat, lon, burial))
    if not stations:
        fail(f'{path} holds no station')
    return stations


def _lines(path):
    check_input(path)
    with open(path, encoding='utf-8-sig', errors='replace') as file:
        text = file.read()
    if '\0' in text:
        fail(f'{path} is not plain text; is this the right file?')
    return [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]


def _number(path, number, what, text):
    try:
        value = float(text.split()[0].lower().replace('d', 'e'))
    except (ValueError, IndexError):
        value = math.nan
    if not math.isfinite(value):
        fail(f"{path}:{number}: {what.strip()}: '{text.strip()}' is no number")
    return value


class Projection:
    """From latitude and longitude to north and east [m]."""

    def __init__(self, reference=None, utm=None):
        self.reference, self.utm = reference, utm
        if utm is not None:
            from pyproj import Proj
            self.proj = Proj(proj='utm', zone=abs(utm), ellps='WGS84', south=utm < 0)

    @property
    def measured(self):
        """Whether places are in degrees."""
        return self.reference is not None or self.utm is not None

    def __call__(self, latitude, longitude):
        if not self.measured:
            return latitude, longitude
        if abs(latitude) > 90 or abs(longitude) > 360:
            fail(f'latitude {latitude:g}, longitude {longitude:g} are no degrees: leave out --reference and --utm where the files '
                 'are in metres')
        if self.utm is not None:
            east, north = self.proj(longitude, latitude)
            return north, east
        return offset_of(longitude, latitude, *self.reference)

    def words(self):
        if self.utm is not None:
            return f'UTM zone {abs(self.utm)} {"south" if self.utm < 0 else "north"}, WGS84'
        if self.reference is not None:
            return 'a plane along meridian and parallel of WGS84 at longitude {:g}, latitude {:g}'.format(*self.reference)
        return 'metres as in the files: latitude is northing, longitude easting'
