"""The reader of the modelling's output: one CDF-5 file of gathers, checked before it is believed.

    file = Gathers('gathers.nc')            # length and sealed header are checked here
    slots = file.chosen('1-12', done_only=False)
    g = file.gather(slots[0], 'p')          # its checksum is checked here
    g.traces                                # (nrec, nt) float32, in g.units, sample j at file.time[j]

Whatever is wrong becomes one sentence (cli.Failure). Positions are those used by the modelling unless 'asked' is wanted.
"""
from __future__ import annotations

import os
import re
import zlib
from typing import List, Optional, Tuple, Union

import numpy as np

from spltools.cli import check_input, fail
from spltools.gathers import cdf5

TODO, DONE, PARKED = 0, 1, 2
STATE = {TODO: 'not modelled yet', DONE: 'done', PARKED: 'given up'}
COMPONENTS = 'p vx vz vy sxx syy szz sxy sxz syz exx eyy ezz exy exz eyz wx wy wz ux uy uz ax ay az'.split()
VARIABLES = {c: 'pressure' if c == 'p' else c for c in COMPONENTS}
NEEDED = ('record status nrec checksum header_bytes header_crc32 time source_x source_y source_z receiver_x receiver_y '
          'receiver_z channel source_x_used source_z_used receiver_x_used receiver_z_used').split()

NAVIGATION = ('line_name source_easting source_northing source_height shot_point source_line receiver_easting receiver_northing '
              'receiver_height receiver_line receiver_station').split()
DIMENSIONS = {'time': ('time',), 'header_bytes': (), 'header_crc32': (),
              **dict.fromkeys('record status nrec checksum run_checksum source_x source_y source_z source_x_used source_z_used '
                              'source_y_used seconds steps cells finished'.split(), ('shot',)),
              **dict.fromkeys('receiver_x receiver_y receiver_z channel receiver_x_used receiver_z_used receiver_y_used'.split(),
                              ('shot', 'receiver')),
              **dict.fromkeys('source_easting source_northing source_height shot_point source_line'.split(), ('shot',)),
              **dict.fromkeys('receiver_easting receiver_northing receiver_height receiver_line receiver_station'.split(),
                              ('shot', 'receiver')),
              'line_name': ('line', 'words'),
              **dict.fromkeys(('variant', 'device'), ('shot', 'words')),
              **dict.fromkeys(VARIABLES.values(), ('shot', 'receiver', 'time'))}


def unquoted(word: str) -> str:
    """A value of a parameter as it is meant: a quote inside of quotes is written twice."""
    if word[:1] not in ('"', "'"):
        return word
    return word[1:-1].replace(2 * word[0], word[0])


def points_left(file: 'Gathers') -> bool:
    """Whether y of a file of gathers points to the left of +x, seen from above: by the rule of its navigation, which knows where
    its y comes from, else by the axes of its mesh."""
    return (file.text('navigation_y') or {'up': 'left'}.get(file.text('mesh_z'))) == 'left'


class Gather:
    """One shot: record, traces (nrec, nt) with units, source sx, sy, sz, receivers rx, ry, rz (nrec) [m, z down], channel (nrec).
    raw: the traces as they stand in the file, big-endian. three_d: whether the modelling saw y. navigation: None where the file has
    none."""

    record: int
    nrec: int
    component: str
    units: str
    time: np.ndarray
    dt: float
    three_d: bool
    sx: float
    sy: float
    sz: float
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray
    channel: np.ndarray
    raw: np.ndarray
    navigation: Optional[Navigation]

    @property
    def traces(self) -> np.ndarray:
        return np.asarray(self.raw, np.float32)

    @property
    def source(self) -> np.ndarray:
        """x, y, z of the source [m]."""
        return np.array([self.sx, self.sy, self.sz])

    @property
    def receivers(self) -> np.ndarray:
        """x, y, z of the receivers [m], (nrec, 3)."""
        return np.column_stack([self.rx, self.ry, self.rz])

    def offset(self) -> np.ndarray:
        """Signed offset that was modelled [m], (nrec): horizontal distance from source to receiver, in 2D along x alone; negative
        where the receiver is on the side of smaller x."""
        dx = self.rx - self.sx
        return np.where(dx < 0, -1.0, 1.0) * np.hypot(dx, self.across()) if self.three_d else dx

    def across(self) -> np.ndarray:
        """Distance of receivers from their source along y [m], (nrec), positive to the right of +x; 2D modelling ignores it."""
        return self.ry - self.sy


class Navigation:
    """Of a shot: source at se, sn, sh, receivers at re, rn, rh (nrec): easting, northing, height [m]; shot point and stations as
    the survey numbered them, NaN where not known; names of lines, '' where not known."""

    se: float
    sn: float
    sh: float
    point: float
    line: str
    re: np.ndarray
    rn: np.ndarray
    rh: np.ndarray
    stations: np.ndarray
    lines: List[str]

    def offset(self) -> np.ndarray:
        """True distances of receivers from their source [m], (nrec)."""
        return np.hypot(self.re - self.se, self.rn - self.sn)


class Gathers:
    """A file of gathers. slots count from 0, in the order of record numbers.

    record, status, nrec (nshots); time (nt) [s]; nt, dt [s]; nrec_max; components, any of VARIABLES; attributes {name: value};
    three_d: of a 3D job.
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        check_input(path)
        self.path = str(path)
        self._header = cdf5.read_header(path)
        missing = [name for name in NEEDED if name not in self._header.variables]
        if missing:
            fail(f"{path} is no file of gathers: it has no variable '{missing[0]}'; give the file that the modelling wrote")
        self._check_shapes()
        self._map = np.memmap(path, np.uint8, 'r')
        cdf5.check_seal(self.path, self._header, self._map)
        self.attributes = self._header.attributes
        self.record, self.time = self._numbers('record'), self._numbers('time')
        self.nt, self.nrec_max, self.nshots = (self._header.dimensions[d] for d in ('time', 'receiver', 'shot'))
        self.dt = float(self.time[1] - self.time[0]) if self.nt > 1 else 0.0
        self.three_d = 'receiver_y_used' in self._header.variables
        self.navigated = all(name in self._header.variables for name in NAVIGATION)
        self.lines = self._lines() if self.navigated else []
        self.components = [c for c, name in VARIABLES.items() if name in self._header.variables]

    def _lines(self):
        """Names of lines: number i of a shot or receiver is name i - 1."""
        return [bytes(row.tobytes()).split(b'\0')[0].decode('utf-8', 'replace').strip() for row in self._array('line_name')]

    def _check_shapes(self):
        """Every variable lies on the dimensions it must have: what is read later relies on it."""
        for name, v in self._header.variables.items():
            want = DIMENSIONS.get(name)
            if want is not None and (v.dims != want or v.dtype.kind == 'S' and
                                     name not in ('variant', 'device', 'line_name')):
                fail(f"{self.path} is no file of gathers: its variable '{name}' must hold numbers on ({', '.join(want)}), it is on "
                     f"({', '.join(v.dims)}); give the file that the modelling wrote")
            if not isinstance(v.attributes.get('order', ''), str) or not isinstance(v.attributes.get('units', ''), str):
                fail(f"{self.path} is no file of gathers: variable '{name}' has an attribute that is no text; give the file that "
                     'the modelling wrote')

    @property
    def status(self) -> np.ndarray:
        """Status of all slots as it is now: a running job changes it."""
        return self._numbers('status')

    @property
    def nrec(self) -> np.ndarray:
        """Receivers of all slots as it is now: a shot has none before it is done."""
        return self._numbers('nrec')

    def numbers(self, name: str) -> np.ndarray:
        """A variable of numbers that every shot has one of, such as seconds or checksum; zeros in a file that has none."""
        return self._numbers(name) if name in self._header.variables else np.zeros(self.nshots)

    def _array(self, name):
        return cdf5.array(self._header, self._map, name)

    def _numbers(self, name, slot=slice(None)):
        a = self._array(name)[slot]
        return np.asarray(a, a.dtype.newbyteorder('='))

    # --- what the file says about itself ---

    def text(self, name: str, default: str = '') -> str:
        """A global attribute or a parameter of the job as text."""
        value = self.attributes.get(name)
        if value is None:
            return self.parameters().get(name, default)
        return value if isinstance(value, str) else ', '.join(f'{x:.10g}' for x in np.atleast_1d(value))

    def parameters(self) -> dict:
        """The resolved parameters {name: value}: the lines "name = value  # origin; meaning" of the texts in the header."""
        found = {}
        for text in self.attributes.values():
            if isinstance(text, str) and '\n' in text:
                for line in text.splitlines():
                    m = re.match(r"\s*(\w+)\s*=\s*('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^#]*)", line)
                    if m:
                        found[m.group(1)] = unquoted(m.group(2).strip())
        return found

    def units(self, component: str) -> str:
        return self._header.variables[VARIABLES[component]].attributes.get('units', '')

    def words(self, name: str, slot: int) -> str:
        """Text of a shot: variant or device."""
        if name not in self._header.variables:
            return ''
        return bytes(self._array(name)[slot].tobytes()).split(b'\0')[0].decode('utf-8', 'replace').strip()

    # --- shots ---

    def chosen(self, records: Optional[str] = None, done_only: bool = False) -> Tuple[List[int], List[str]]:
        """(slots, left out): the shots of `records`, text such as '1-12,20' (None: all), which must all be whole.

        With done_only those that are not are left out and told as sentences.
        """
        slots = self.slots(records)
        status = self.status
        good, bad = [], []
        for slot in slots:
            why = self.fault(slot, status[slot])
            if why:
                bad.append(f'shot record {self.record[slot]}: {why}')
            else:
                good.append(slot)
        if bad and not done_only:
            more = f' (and {len(bad) - 1} more)' if len(bad) > 1 else ''
            fail(f'{self.path}: {bad[0]}{more}; model the rest by repeating the job, or take only the finished shots with '
                 '--done-only')
        if not good:
            among = f' among records {records}' if records else ''
            fail(f'{self.path} has no finished shot{among}' + (f': {bad[0]}' if bad else ''))
        return good, bad

    def slots(self, records: Optional[str] = None) -> List[int]:
        """The places of shot records, text as for chosen(), whatever their state."""
        return list(range(self.nshots)) if records is None else self._slots_of(records)

    def _slots_of(self, records):
        at = {int(r): i for i, r in enumerate(self.record)}
        wanted = []
        for part in str(records).split(','):
            m = re.fullmatch(r'\s*(\d+)\s*(?:-\s*(\d+)\s*(?::\s*(\d+)\s*)?)?', part)
            if not m:
                fail(f"'{records}' are no shot records: give numbers and ranges joined by commas, such as 1-12,20 or 1-100:10")
            first, last, step = int(m.group(1)), int(m.group(2) or m.group(1)), int(m.group(3) or 1)
            if step < 1 or last < first:
                fail(f"'{part.strip()}' is no range of shot records: give first-last or first-last:step with first <= last and "
                     'step >= 1')
            inside = [r for r in at if first <= r <= last and (r - first) % step == 0]
            if not inside:
                fail(f'{self.path} has no shot record {part.strip()}; its records are {self.record[0]} .. {self.record[-1]}')
            wanted += inside
        return [at[r] for r in sorted(set(wanted))]

    def fault(self, slot: int, status: Optional[int] = None) -> str:
        """Why a shot cannot be believed: a sentence, or '' if it can."""
        status = self.status[slot] if status is None else status
        if status != DONE:
            return STATE.get(int(status), f'status {status}, must be 0, 1 or 2')
        if not 0 <= self.nrec[slot] <= self.nrec_max:
            return f'damaged: nrec is {self.nrec[slot]}, must be 0 .. {self.nrec_max}'
        for name in ('checksum', 'run_checksum'):
            if name in self._header.variables:
                found, stored = self._sum(name, slot), int(self._array(name)[slot])
                if found != stored:
                    return f'damaged: its {name} is {found:08x}, must be {stored:08x}'
        return ''

    def _sum(self, name, slot):
        """CRC-32 of the slot's bytes, variable after variable in the order that the file states."""
        crc = 0
        for part in self._header.variables[name].attributes.get('order', '').split():
            if part not in self._header.variables:
                fail(f"{self.path} is damaged: the order of {name} names '{part}', which the file does not have")
            crc = zlib.crc32(self._array(part)[slot:slot + 1].reshape(-1).view(np.uint8), crc)
        return crc

    def gather(self, slot: int, component: str = 'p', positions: str = 'used', check: bool = False) -> Gather:
        """The gather of a slot. check: compare its checksum first (chosen() has done so already)."""
        if component not in self.components:
            fail(f"{self.path} has no component '{component}'; it has {', '.join(self.components)}")
        why = self.fault(slot) if check else ''
        if why:
            fail(f'{self.path}: shot record {self.record[slot]}: {why}')
        g, n = Gather(), int(self._numbers('nrec', slot))
        suffix = '_used' if positions == 'used' else ''
        g.record, g.nrec, g.component, g.units = int(self.record[slot]), n, component, self.units(component)
        g.time, g.dt, g.three_d = self.time, self.dt, self.three_d
        along_y = suffix if self.three_d else ''
        g.sx, g.sy, g.sz = (float(self._numbers(f'source_{name}', slot)) for name in ('x' + suffix, 'y' + along_y, 'z' + suffix))
        g.rx, g.ry, g.rz = (self._numbers(f'receiver_{name}', slot)[:n] for name in ('x' + suffix, 'y' + along_y, 'z' + suffix))
        g.channel = self._numbers('channel', slot)[:n]
        g.raw = self._array(VARIABLES[component])[slot, :n]
        g.navigation = self._navigation(slot, n) if self.navigated else None
        return g

    def _navigation(self, slot, n):
        v = Navigation()
        v.se, v.sn, v.sh, v.point = (float(self._numbers(name, slot)) for name in
                                     ('source_easting', 'source_northing', 'source_height', 'shot_point'))
        v.re, v.rn, v.rh, v.stations = (self._numbers('receiver_' + name, slot)[:n] for name in
                                        ('easting', 'northing', 'height', 'station'))
        v.line = self._line_of(int(self._numbers('source_line', slot)))
        v.lines = [self._line_of(int(i)) for i in self._numbers('receiver_line', slot)[:n]]
        return v

    def _line_of(self, number):
        if not 0 <= number <= len(self.lines):
            fail(f'{self.path} names line {number} of {len(self.lines)}: it was not made by this program')
        return self.lines[number - 1] if number else ''

    def rule(self) -> Optional[Tuple[float, float, float, bool]]:
        """(easting, northing of x = y = 0 [m], azimuth of +x [degrees], y to the left of +x), None where positions on the map
        and those of the modelling have no rule."""
        origin, azimuth = (self.attributes.get('navigation_' + name) for name in ('origin_m', 'azimuth_degrees'))
        if not self.navigated or origin is None or azimuth is None:
            return None
        return float(origin[0]), float(origin[1]), float(np.atleast_1d(azimuth)[0]), self.attributes.get('navigation_y') == 'left'
