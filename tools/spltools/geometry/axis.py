"""From map coordinates to the line: x along it, y across it (to the right of +x); what the geometry is."""

import math
from dataclasses import replace

import numpy as np

from spltools.cli import counted, fail, warn
from spltools.geometry.shots import stacks
from spltools.geometry.navigation import Rule

FEATHERED = 10.0  # degrees between spread and line from which we warn
SHORTEST = 1e-3  # length of a spread that has a direction [m]
CROOKED = 0.1  # sources that stray further from the line than this part of its length are no 2D line


class Axis:
    """x = distance along `azimuth` (degrees clockwise from north) from `origin` (easting, northing)."""

    def __init__(self, azimuth, origin):
        self.azimuth = azimuth % 360.0
        self.origin = origin
        a = math.radians(azimuth)
        self.along = (math.sin(a), math.cos(a))

    def project(self, easting, northing):
        e, n = np.asarray(easting) - self.origin[0], np.asarray(northing) - self.origin[1]
        return e * self.along[0] + n * self.along[1], e * self.along[1] - n * self.along[0]


def project_shots(shots, azimuth=None, origin=None, keep=False):
    """Turns map coordinates (held in sx, sy, rx, ry as easting, northing) of all shots into x and y.

    azimuth None: best fit through the sources, from the first to the last; origin None: x = 0 at the
    smallest x; keep: receivers move along x to their true offset. Coordinates with constant y stay as they
    are. Returns sentences that say what was done, and the rule from map to model.
    """
    e = np.array([s.sx for s in shots])
    n = np.array([s.sy for s in shots])
    receivers = np.concatenate([np.column_stack([s.rx, s.ry]) for s in shots])
    if azimuth is None and origin is None and np.ptp(np.append(n, receivers[:, 1])) < 1e-3:
        _keep_numbered(shots)
        return [f'x is the x of the file; y = {n[0]:.2f} m everywhere'], Rule(azimuth=90.0, left=True)
    how = 'as given'
    if azimuth is None:
        azimuth = best_azimuth(e, n, receivers)
        how = 'best fit through the sources' if len(shots) > 1 else 'from the receivers to the source'
    axis = Axis(azimuth, origin or (float(e.mean()), float(n.mean())))
    for shot in shots:
        shot.map_source = (shot.sx, shot.sy)
        shot.map_receivers = np.column_stack([shot.rx, shot.ry])
        shot.sx, shot.sy = (float(v) for v in axis.project(shot.sx, shot.sy))
        shot.rx, shot.ry = axis.project(shot.rx, shot.ry)
    moved = keep_offsets(shots) if keep else []
    if origin is None:
        axis.origin = _start_at_zero(shots, axis)
    told = [
        f'azimuth of +x: {axis.azimuth:.3f} degrees ({how}){_straightness(shots)}',
        (
            f'x = 0, y = 0 at easting {axis.origin[0]:.2f}, northing {axis.origin[1]:.2f} m; y positive to'
            ' the right of +x'
        ),
    ] + moved
    return told, Rule(e0=axis.origin[0], n0=axis.origin[1], azimuth=axis.azimuth, kept=keep)


def keep_map(shots, origin=None, keep=False):
    """Leaves easting and northing as x and y, counted from `origin`. Returns sentences that say so, and the rule."""
    if keep:
        fail('--keep-offset moves receivers along a line, but --azimuth none asks for no line: leave one of them out')
    e, n = origin or (0.0, 0.0)
    _keep_numbered(shots)
    for shot in shots:
        shot.sx, shot.sy = shot.sx - e, shot.sy - n
        shot.rx, shot.ry = shot.rx - e, shot.ry - n
    told = f'x = easting - {e:.2f} m, y = northing - {n:.2f} m: no line was looked for; y is positive to the left of +x'
    return [told], Rule(e0=e, n0=n, azimuth=90.0, left=True)


def _keep_numbered(shots):
    """Keeps the map coordinates of receivers that have lines or stations beside these; of others they follow by the rule."""
    for shot in shots:
        if shot.lines is not None or shot.stations is not None:
            shot.map_source = (shot.sx, shot.sy)
            shot.map_receivers = np.column_stack([shot.rx, shot.ry])


def _start_at_zero(shots, axis):
    """Shifts x so that the smallest is 0. Returns the origin that belongs to it."""
    shift = min(min(s.sx for s in shots), min(s.rx.min() for s in shots))
    for shot in shots:
        shot.sx -= shift
        shot.rx = shot.rx - shift
    return axis.origin[0] + shift * axis.along[0], axis.origin[1] + shift * axis.along[1]


def _straightness(shots):
    """Distance of sources from the line; a warning where it is no line."""
    across = np.array([s.sy for s in shots])
    across -= across.mean()
    length = float(np.ptp([s.sx for s in shots]))
    rms = float(np.sqrt(np.mean(across**2)))
    if len(shots) > 2 and rms > CROOKED * length:
        warn(
            f'sources stray {rms:.0f} m rms from a line of {length:.0f} m: this is no 2D line; y is dropped'
            ' by 2D modelling'
        )
    return f'; sources lie {rms:.2f} m rms off the line, {np.abs(across).max():.2f} m at most'


def best_azimuth(e, n, receivers):
    """Azimuth of the total-least-squares line through the sources, from the first to the last [degrees]."""
    points = np.column_stack([e, n])
    ahead = points[-1] - points[0]
    if len(e) == 1 or np.ptp(points, axis=0).max() < 1e-3:
        points = np.vstack([receivers, points])
        ahead = points[-1] - receivers.mean(axis=0)
    if np.ptp(points, axis=0).max() < 1e-3:
        fail('all sources and receivers have the same map coordinates: no line runs through them')
    direction = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][0]
    if direction @ ahead < 0:
        direction = -direction
    return math.degrees(math.atan2(direction[0], direction[1]))


def keep_offsets(shots):
    """Moves receivers onto the line along x through their source, to their true distance from it. Returns sentences that say
    what they were and how far they moved."""
    told, largest = _feathering(shots, max(float(np.abs(s.ry - s.sy).max()) for s in shots), kept=True), 0.0
    for shot in shots:
        inline = shot.rx - shot.sx
        offset = np.hypot(inline, shot.ry - shot.sy) * np.where(inline < 0, -1.0, 1.0)
        largest = max(largest, float(np.abs(offset - inline).max()))
        shot.rx, shot.ry = shot.sx + offset, np.full_like(shot.ry, shot.sy)
    return [*told, f'receivers moved along x to their true offset, by {largest:.2f} m at most, and to the y of their source']


def describe(shots, groups=None, line=True):
    """Sentences on shots, offsets, gaps, feathering and depths. `groups`: channels the file announces. line: x runs along one."""
    sx = np.array([s.sx for s in shots])
    counts = np.array([len(s.channel) for s in shots])
    offsets, rx, rz, across, steps = [], [], [], 0.0, []
    for k in stacks(shots):
        along, aside = _unlike(k.rx - k.sx), _unlike(k.ry - k.sy)
        offsets.append(_ends(np.hypot(along, aside)))
        rx.append(_ends(k.rx))
        rz.append(_ends(k.rz))
        across = max(across, float(np.abs(aside).max()))
    for k in stacks(_by_receiver_line(shots)):
        if k.rx.shape[1] > 1:
            steps.append(_steps(_as_they_stand(k.rx, k.sx), _as_they_stand(k.ry, k.sy)))
    lines = [
        f'{counted(len(shots), "shot")}, records {shots[0].record} .. {shots[-1].record}, x {sx.min():.1f} ..'
        f' {sx.max():.1f} m'
        + (f', {_spread(np.abs(np.diff(sx)))} m apart' if len(shots) > 1 else '')
    ]
    of = f' of {groups}' if groups and groups != counts.max() else ''
    lines.append(
        f'{_range(counts)}{of} {"channels" if counts.max() > 1 else "channel"} a shot, {counted(counts.sum(), "trace")};'
        f' offsets {np.min(offsets):.1f} .. {np.max(offsets):.1f} m;'
        f' receivers x {np.min(rx):.1f} .. {np.max(rx):.1f} m'
    )
    if len(counts) > 2 and np.ptp(counts[:-1]) == 0 and counts[-1] < counts[0]:
        warn(f'the last shot, record {shots[-1].record}, has {counted(counts[-1], "channel")}, each before it {counts[0]}: was a'
             ' file cut?')
    lines += _gaps(steps, 'receiver line' if any(len(set(s.lines or ())) > 1 for s in shots) else 'shot')
    lines += _feathering(shots, across) if line else []
    sz = np.array([s.sz for s in shots])
    lines.append(f'source depth {_range(sz)} m; receiver depth {_range(rz)} m')
    return lines


def _by_receiver_line(shots):
    """The shots, those with several receiver lines (as the survey names them) once for each: neighbours are those of one line."""
    for shot in shots:
        names = sorted(set(shot.lines or ()))
        if len(names) < 2:
            yield shot
            continue
        line = np.array(shot.lines)
        for at in (line == name for name in names):
            yield replace(shot, channel=shot.channel[at], rx=shot.rx[at], ry=shot.ry[at], rz=shot.rz[at], lines=None)


def _ends(values):
    return values.min(), values.max()


def _gaps(steps, where):
    """Group interval and holes, of neighbours along x, since channels need not be in order."""
    every = np.concatenate([s.ravel() for s in steps]) if steps else np.zeros(0)
    every = every[every > 0.01]  # components of one station share its position
    if len(every) == 0:
        return []
    usual = float(np.median(every))
    holes = np.concatenate([np.count_nonzero(s > 1.5 * usual, axis=1) for s in steps])
    told = f'groups {usual:.2f} m apart'
    if holes.sum() == 0:
        return [told + ', no gaps']
    return [f'{told}; {_range(holes)} gaps a {where}, the largest {every.max():.1f} m']


def _unlike(rows):
    """The rows, or the first alone where all are alike, as of a spread that moves with its source."""
    return rows[:1] if rows.strides[0] == 0 or (np.abs(rows - rows[0]) < 1e-6).all() else rows


def _as_they_stand(receivers, sources):
    """Coordinates by which distances of receivers are told: one row where they move with the source, or stay."""
    moving = _unlike(receivers - sources)
    return moving if len(moving) == 1 else _unlike(receivers)


def _steps(rx, ry):
    """From one receiver to its neighbour along x, (shots, receivers - 1), or one row for all shots."""
    along = np.diff(rx, axis=1)
    if not ((along >= 0).all(axis=1) | (along <= 0).all(axis=1)).all():
        rx, ry = np.broadcast_arrays(rx, ry)
        order = np.argsort(rx, axis=1)
        rx, ry = np.take_along_axis(rx, order, 1), np.take_along_axis(ry, order, 1)
        along = np.diff(rx, axis=1)
    return np.hypot(along, np.diff(ry, axis=1))


def _feathering(shots, across, kept=False):
    """Angle of the spreads to the line, and how far receivers are off it, `across` [m] at most.
    kept: offsets are going to be kept."""
    if across < 0.05:
        return []
    angles, bends = [], []
    for s in _by_receiver_line(shots):
        if len(s.rx) > 2 and np.ptp(s.rx) > SHORTEST:
            x = s.rx - s.rx.mean()
            slope, middle = np.polyfit(x, s.ry, 1)
            angles.append(math.degrees(math.atan(slope)))
            bends.append(np.abs(s.ry - middle - slope * x).max() * math.cos(math.atan(slope)))
    shortened = max(float((np.hypot(s.rx - s.sx, s.ry - s.sy) - np.abs(s.rx - s.sx)).max()) for s in shots)
    told = [
        f'receivers up to {across:.1f} m across from their source, which shortens x offsets by up to'
        f' {shortened:.2f} m' + ('' if kept else ': 2D modelling ignores y (--keep-offset keeps offsets)')
    ]
    if angles:
        told.insert(
            0,
            f'feathering {_range(np.round(angles, 2) + 0.0)} degrees; spreads bend up to {min(bends):.1f}'
            f' .. {max(bends):.1f} m off a straight line',
        )
    if angles and max(map(abs, angles)) > FEATHERED and not kept:
        warn(
            f'spreads lie up to {max(map(abs, angles)):.1f} degrees off the line: consider --azimuth or'
            ' --keep-offset'
        )
    return told


def _range(values):
    low, high = np.min(values), np.max(values)
    form = 'd' if np.issubdtype(np.asarray(values).dtype, np.integer) else '.2f'
    return f'{low:{form}}' if low == high else f'{low:{form}} .. {high:{form}}'


def _spread(values):
    return f'{np.median(values):.2f} (from {values.min():.2f} to {values.max():.2f})'
