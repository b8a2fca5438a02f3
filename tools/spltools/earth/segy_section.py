"""Depth sections in SEG-Y and SU, a trace a column: their axes by the trace headers, and their samples."""
import numpy as np

from spltools.cli import warn
from spltools.geometry import segy_layout


MAP_MOST = 1e8   # [m]; northings end at 1e7, eastings with the number of their zone before them at 1e8


def warn_of_headers(path, layout, options):
    """Tells of feet beside metres that were given, and of delays, where some programs write the depth of the first sample."""
    if layout.feet and options.lengths == 'm' and options.dz is not None:
        warn(f'{path}: lengths of the file are feet, and --dz {options.dz:g} is taken in metres: give --lengths ft if it is'
             ' in feet')
    delay = segy_layout.column(path, layout, 'delay', {'delay': (109, 2)})
    if delay.any() and options.z0 is None:
        warn(
            f'{path}: the trace headers have delays of {delay.min()} .. {delay.max()} (bytes 109-110), which are not'
            ' used: if the first samples lie at a depth give it with --z0'
        )


def su_axes(path, layout, notes):
    """dx, x0, dz, z0 by the header words d2, f2, d1, f1 of SU (None where they are empty); x never falls."""
    raw = segy_layout.headers(path, layout)[0]
    d1, f1, d2, f2 = (float(v) for v in np.frombuffer(raw[180:196].tobytes(), dtype=layout.order + 'f4'))
    if not all(np.isfinite(v) and abs(v) < 1e6 for v in (d1, f1, d2, f2)):
        notes.append('d1, f1, d2, f2 of the trace headers are no sensible numbers: not used')
        return None, None, None, None, False
    notes.append(f'trace headers: d1 = {d1:g}, f1 = {f1:g}, d2 = {d2:g}, f2 = {f2:g}')
    return d2 if d2 > 0 else None, f2 if d2 > 0 else None, d1 if d1 > 0 else None, f1 if d1 > 0 else None, False


def segy_axes(path, layout, notes, options):
    """dx, x0 by the coordinates of the traces, if they lie on a regular line, and whether x falls; depths are not in SEG-Y. Warns
    where a given dx hides that they do not."""
    fields = dict(segy_layout.FIELDS, cx=(181, 4), cy=(185, 4))
    scalars = segy_layout.column(path, layout, 'scalco', fields)
    metre = segy_layout.metre(layout, options.lengths)
    places = {xy: segy_layout.scaled(segy_layout.column(path, layout, xy, fields), scalars)
              for xy in ('cx', 'cy', 'sx', 'sy', 'gx', 'gy')}
    largest = max(np.abs(v).max() for v in places.values())
    no_lengths, what = segy_layout.angles(segy_layout.column(path, layout, 'units', fields), largest)
    if no_lengths:
        notes.append(f'coordinates in the trace headers are {what}: not used')
        return None, None, None, None, False
    if what:
        notes.append(f'coordinates are called {what}, but reach {largest:g}: taken as lengths')
    if largest * metre > MAP_MOST:
        warn(f'{path}: coordinates reach {largest * metre:g} m, more than those of any map: is their scalar (bytes 71-72) wrong?')
    whole = metre * float(segy_layout.scaled(np.ones(len(scalars)), scalars).max())  # coordinates are whole numbers of this
    for name, x, y in (('CDP', 'cx', 'cy'), ('source', 'sx', 'sy'), ('group', 'gx', 'gy')):
        e, n = places[x] * metre, places[y] * metre
        steps = np.hypot(np.diff(e), np.diff(n))
        length, away = float(steps.sum()), np.hypot(e[-1] - e[0], n[-1] - n[0])
        step = float(away) / len(steps)
        if step > 0 and np.abs(steps - step).max() <= max(0.01 * step, min(1.5 * whole, 0.2 * step)):
            if abs(away - length) <= 0.01 * length:
                feet = segy_layout.feet_words(layout, largest, '--lengths', options.lengths)
                return _line_axes(name, e, n, step, feet, notes)
    e, n = places['cx'] * metre, places['cy'] * metre
    if not np.ptp(e) and not np.ptp(n):
        notes.append('coordinates in the trace headers are empty or all the same: not used')
    elif options.dx is None:
        notes.append(_irregular(e, n))
    else:
        warn(f'{path}: {_irregular(e, n)}; --dx takes them as {options.dx:g} m apart in the order of the file')
    return None, None, None, None, False


def _irregular(e, n):
    """Why eastings and northings of the traces [m] are of no use."""
    along = (e - e[0]) * (e[-1] - e[0]) + (n - n[0]) * (n[-1] - n[0])
    if (np.diff(along) < 0).any():
        return 'by their CDP coordinates the traces go back and forth: sort them first'
    steps = np.hypot(np.diff(e), np.diff(n))
    odd = int(np.abs(steps - np.median(steps)).argmax())
    if steps[odd] == 0:
        return f'by CDP coordinates traces {odd + 1} and {odd + 2} stand at the same place: keep one of them'
    return (f'by CDP coordinates the traces are not regular, {np.median(steps):g} m apart, but {steps[odd]:g} m from trace'
            f' {odd + 1} to {odd + 2}: bring them to a regular line, or fill the gap')


def _line_axes(name, e, n, step, feet, notes):
    """The same for one kind of coordinates, eastings and northings [m]. Along x they are x, as spl-keymap takes them."""
    told = f'{name} coordinates: traces {step:g} m apart'
    if np.ptp(n) > 0:
        azimuth = np.degrees(np.arctan2(e[-1] - e[0], n[-1] - n[0])) % 360
        notes.append(
            f'{told}, along {azimuth:.3f} degrees from the first one{feet}, which is x = 0: give spl-keymap --azimuth'
            f' {azimuth:.3f} --origin {e[0]:.2f} {n[0]:.2f} for shots and receivers in this x'
        )
        return step, 0.0, None, None, False
    falls = bool(e[-1] < e[0])
    first = float(min(e[0], e[-1]))
    turned = ': x falls along the file, so they are turned round (not with --x0)' if falls else ''
    notes.append(f'{told}, the first at x = {first:g} m{feet}{turned}')
    return step, first, None, None, falls


def samples(path, layout):
    """Samples of all traces as float32, (traces, samples)."""
    stride = 240 + layout.ns * layout.sample
    mapped = np.memmap(path, dtype=np.uint8, mode='r', offset=layout.start, shape=(layout.traces, stride))
    raw = np.ascontiguousarray(mapped[:, 240:])
    values = raw.view(layout.order + segy_layout.KINDS[layout.code])
    with np.errstate(over='ignore', invalid='ignore'):  # what float32 cannot hold becomes infinite, and is refused
        return _from_ibm(values) if layout.code == 1 else values.astype(np.float32)


def _from_ibm(words):
    """IBM hexadecimal floats: sign, exponent of 16 with excess 64, 24-bit fraction."""
    words = words.astype(np.uint32)
    fraction = (words & 0x00FFFFFF).astype(np.float64) / 2.0**24
    exponent = ((words >> 24) & 0x7F).astype(np.int32) - 64
    return (np.where(words >> 31, -1.0, 1.0) * np.ldexp(fraction, 4 * exponent)).astype(np.float32)
