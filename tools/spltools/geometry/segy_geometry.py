"""Geometry from the trace headers of SEG-Y and SU files: shots, positions and depths."""

from dataclasses import dataclass
from typing import Optional

import numpy as np

from spltools.cli import counted, fail, warn
from spltools.geometry.axis import best_azimuth
from spltools.geometry.faults import Faults
from spltools.geometry.segy_layout import (FIELDS, FOOT, US_FOOT, angles, column, feet_words, headers, is_su, metre, scaled,
                                           segy_layout, su_layout)
from spltools.geometry.shots import Shot

# trace identification: dummy, time break, uphole, sweep, timing, water break, gun signatures near and far; signals of vibrators,
# pairs of time and velocity
SKIPPED_KINDS = (*range(3, 11), *range(18, 23))


@dataclass
class Options:
    """Choices of the user where headers are silent."""

    order: str = 'auto'
    kind: str = 'auto'
    unit: str = 'auto'  # auto, m, ft, us-ft
    record: str = 'record'  # field that tells shots apart: record or source_point
    positions: tuple = ()  # ('sx', 201, 4): other byte positions
    source_depth: Optional[float] = None
    depth: Optional[float] = None
    first_x: float = 0.0
    shot_interval: Optional[float] = None
    direction: int = -1
    made_up: bool = False  # found: positions are not those of a map, for the headers hold none


def read_geometry(path, options):
    """Shots of a SEG-Y or SU file, with the file's coordinates in metres, and sentences on what was found."""
    layout = su_layout(path, options.order) if is_su(path, options.kind) else segy_layout(path)
    fields = dict(FIELDS)
    fields.update({name: (first, length) for name, first, length in options.positions})
    raw = headers(path, layout)
    h = {name: column(path, layout, name, fields, raw) for name in fields}
    notes = [
        f'{counted(layout.traces, "trace")} of {counted(layout.ns, "sample")} at {layout.dt or int(h["dt"][0]) & 0xffff} us'
    ] + list(layout.notes)
    if is_su(path, options.kind) and not any(name == 'point' for name, _, _ in options.positions):
        h['point'] = np.zeros_like(h['point'])  # other matters stand there
    unit = _metre(layout, options.unit, h, notes)
    h = _drop_other_kinds(h, notes)
    numbers = np.arange(1, len(h['kind']) + 1) if 'trace' not in h else h['trace']
    place = _coordinates(path, h, unit, options, notes)
    place.update(_depths(h, unit, options, notes))
    return _shots(path, h, place, numbers, options, notes), notes


def _metre(layout, unit, h, notes):
    """Metres of one unit of length of the file."""
    if unit != 'auto':
        return {'m': 1.0, 'ft': FOOT, 'us-ft': US_FOOT}[unit]
    if layout.feet is None:
        notes.append('the file does not say metres or feet: taken as metres (--unit ft if not)')
        return 1.0
    largest = max(np.abs(scaled(h[name], h['scalco'])).max() for name in ('sx', 'sy', 'gx', 'gy'))
    notes.append(f'lengths are in {"feet" if layout.feet else "metres"}' + feet_words(layout, largest, '--unit', unit))
    return metre(layout, unit)


def _drop_other_kinds(h, notes):
    """Leaves out traces that are no seismic data."""
    h = dict(h, trace=np.arange(1, len(h['kind']) + 1))
    other = np.isin(h['kind'], SKIPPED_KINDS)
    if not other.any():
        return h
    notes.append(
        f"{counted(other.sum(), 'trace')} left out: identification codes {sorted(set(h['kind'][other].tolist()))} "
        "are no seismic data"
    )
    if other.all():
        fail('no trace is seismic data (identification code, bytes 29-30)')
    return {name: values[~other] for name, values in h.items()}


def _coordinates(path, h, metre, options, notes):
    """Source and receiver coordinates [m] of each trace; from offsets where the headers hold none."""
    xy = {name: scaled(h[name], h['scalco']) for name in ('sx', 'sy', 'gx', 'gy')}
    largest = max(np.abs(v).max() for v in xy.values())
    _check_units(path, h, largest, options, notes)
    scalars = sorted(set(h['scalco'].tolist()))
    notes.append(f'coordinate scalar {scalars[0]}' if len(scalars) == 1 else f'coordinate scalars {scalars}')
    if 0 in scalars:
        notes.append('coordinate scalar 0 stands for 1')
    xy = {name: v * metre for name, v in xy.items()}
    offset = h['offset'] * metre
    no_source = not np.any(xy['sx']) and not np.any(xy['sy'])
    no_group = not np.any(xy['gx']) and not np.any(xy['gy'])
    if no_source and no_group:
        return _from_offsets(path, h, offset, options, notes)
    if options.shot_interval is not None:
        warn(f'{path}: the trace headers hold coordinates of sources or groups: --shot-interval and --first-x are not used')
    if no_group:
        if not np.any(offset):
            fail(
                f'{path}: neither group coordinates nor offsets are in the trace headers; give their byte'
                ' positions with --byte'
            )
        _place_by_offsets(xy, h[options.record], _signed(offset, options, notes), notes)
    elif np.any(offset):
        true = np.hypot(xy['gx'] - xy['sx'], xy['gy'] - xy['sy'])
        worst = int(np.argmax(np.abs(true - np.abs(offset))))
        differs = abs(true[worst] - abs(offset[worst]))
        notes.append(
            f'offsets in headers and from coordinates differ by at most {differs:.2f} m'
            + (
                f' (trace {h["trace"][worst]}: {offset[worst]:.1f} and {true[worst]:.1f} m): coordinates are'
                ' used'
                if differs > 1
                else ''
            )
        )
        _check_scale(path, true, np.abs(offset))
    return xy


def _check_scale(path, true, offset):
    """Warns of coordinates that are 10, 100, ... times as large as offsets tell, as where their scalar is wrong."""
    known = (true > 0) & (offset > 0)
    ratio = float(np.median(true[known] / offset[known])) if known.any() else 1.0
    power = round(np.log10(ratio))
    if power and abs(ratio / 10.0**power - 1) < 0.05:
        warn(f'{path}: by their coordinates receivers are {10.0**power:g} times as far from the source as by the offsets of their'
             ' headers: is the coordinate scalar (bytes 71-72) wrong?')


def _place_by_offsets(xy, records, offset, notes):
    """Receivers at their offsets from the sources, along x or, where y differs, along the line of the sources."""
    _, first = np.unique(records, return_index=True)
    e, n = xy['sx'][first], xy['sy'][first]
    azimuth = 90.0 if np.ptp(n) < 1e-3 else best_azimuth(e, n, None)
    xy['gx'] = xy['sx'] + offset * np.sin(np.radians(azimuth))
    xy['gy'] = xy['sy'] + offset * np.cos(np.radians(azimuth)) * (azimuth != 90.0)
    way = 'x' if azimuth == 90.0 else f'the line of the sources, azimuth {azimuth % 360:.2f} degrees'
    notes.append(f'group coordinates are empty: receivers at their offsets along {way}')


def _check_units(path, h, largest, options, notes):
    """Degrees cannot be used as lengths."""
    if options.unit != 'auto':
        return
    no_lengths, what = angles(h['units'], largest)
    if no_lengths:
        fail(f'{path}: coordinates are {what}, which must be projected to a map first; if they are lengths, say so with --unit m')
    if what:
        notes.append(f'coordinates are called {what}, but reach {largest:g}: taken as lengths')


def _signed(offset, options, notes):
    """Offsets with the sign of x; unsigned ones take the direction given."""
    if np.any(offset < 0):
        return offset
    side = 'smaller' if options.direction < 0 else 'larger'
    notes.append(f'offsets have no sign: receivers lie at {side} x than the source (--direction {options.direction})')
    return options.direction * offset


def _from_offsets(path, h, offset, options, notes):
    """No coordinates at all: a regular line of shots, receivers by their offsets."""
    if not np.any(offset):
        fail(
            f'{path}: coordinates and offsets are all zero in the trace headers; give their byte positions'
            ' with --byte, or make a regular line with spl-keymap line'
        )
    if options.shot_interval is None:
        fail(
            f'{path}: the trace headers hold offsets but no coordinates: give --shot-interval (and --first-x)'
            ' to place the shots'
        )
    _, order = np.unique(h[options.record], return_inverse=True)
    sx = options.first_x + order * options.shot_interval
    notes.append(
        f'no coordinates: shots {options.shot_interval:g} m apart from x = {options.first_x:g} m, receivers'
        ' by offset'
    )
    options.made_up = True
    zero = np.zeros(len(sx))
    return dict(sx=sx, sy=zero, gx=sx + _signed(offset, options, notes), gy=zero.copy())


def _depths(h, metre, options, notes):
    """Depths below z = 0 [m]: source depth minus its elevation, minus the elevation of the group."""
    sz = scaled(h['sdepth'] - h['selev'], h['scalel']) * metre
    gz = scaled(-h['gelev'], h['scalel']) * metre
    for name, given, values in (('source', options.source_depth, sz), ('receiver', options.depth, gz)):
        if given is not None:
            values[:] = given
            notes.append(f'{name} depth {given:g} m as given')
        elif not np.any(values):
            option = '--source-depth' if name == 'source' else '--depth'
            notes.append(f'{name} depths are all zero in the trace headers: z = 0 (give {option} if that is not meant)')
    return dict(sz=sz, gz=gz)


def _shots(path, h, place, numbers, options, notes):
    """Traces gathered to shots by record number, channels in order."""
    faults = Faults()
    records = h[options.record]
    channel = h['channel']
    if not np.any(records):
        fail(
            f'{path}: the field that numbers shots is zero in every trace; choose another: --record-field'
            ' source_point, or --byte'
        )
    if not np.any(channel):
        channel = np.zeros(len(records), dtype=np.int64)
        for record in np.unique(records):
            at = records == record
            channel[at] = np.arange(1, at.sum() + 1)
        notes.append('channel numbers are zero: numbered in the order of the traces')
    order = np.lexsort((numbers, channel, records))
    if np.any(np.diff(order) < 0):
        notes.append('traces are not sorted by record and channel: sorted')
    order = _once(order, records, channel, place, notes)
    points = _points(h)
    starts = np.flatnonzero(np.r_[True, np.diff(records[order]) != 0])
    shots = []
    for part in np.split(order, starts[1:]):
        record = int(records[part[0]])
        _check_shot(path, record, part, channel, place, numbers, faults)
        i = part[0]
        shots.append(
            Shot(record, float(place['sx'][i]), float(place['sy'][i]), float(place['sz'][i]), channel[part],
                 place['gx'][part], place['gy'][part], place['gz'][part], point=_point(points[part]))
        )
    faults.tell()
    return shots


def _once(order, records, channel, place, notes):
    """The order without traces that repeat one of their record and channel in the same place, as copies and components do."""
    again = np.flatnonzero((np.diff(records[order]) == 0) & (np.diff(channel[order]) == 0)) + 1
    here, before = order[again], order[again - 1]
    again = again[np.all([values[here] == values[before] for values in place.values()], axis=0)]
    if len(again):
        i = order[again[0]]
        notes.append(f'{counted(len(again), "trace")} of the same record, channel and place as another left out, the first of'
                     f' them of record {records[i]}, channel {channel[i]}')
    return np.delete(order, again)


def _points(h):
    """Shot points of traces: of bytes 17-20, with the fractions that bytes 197-202 have of the same points."""
    exact = scaled(h['point'], h['scalpt'])
    return np.where(np.abs(exact - h['source_point']) < 1, exact, h['source_point'])


def _point(points):
    """Shot point of a record, None where its traces name none or several."""
    return float(points[0]) if points[0] != 0 and np.all(points == points[0]) else None


def _check_shot(path, record, part, channel, place, numbers, faults):
    """A record has one source and each channel once."""
    again = np.flatnonzero(np.diff(channel[part]) == 0)
    if len(again):
        a, b = part[again[0]], part[again[0] + 1]
        faults.add(
            path,
            0,
            f'record {record} has channel {channel[a]} twice (traces {numbers[a]} and {numbers[b]}); if the'
            ' channel or record field is another one, give it with --byte or --record-field',
        )
    for name in ('sx', 'sy', 'sz'):
        values = place[name][part]
        if np.ptp(values) > 0.01:
            far = part[int(np.argmax(np.abs(values - values[0])))]
            faults.add(
                path,
                0,
                f'record {record} has two source positions: {name} = {values[0]:g} m (trace'
                f' {numbers[part[0]]}) and {place[name][far]:g} m (trace {numbers[far]}); another'
                ' --record-field may tell its shots apart' + (', or give --source-depth' if name == 'sz' else ''),
            )
            return
