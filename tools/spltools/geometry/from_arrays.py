"""Key-maps from arrays of positions, as files that the modelling reads."""
from __future__ import annotations

import datetime
import os
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from spltools.cli import counted, fail
from spltools.geometry.keymap_writer import write_map
from spltools.geometry.shots import Shot
from spltools.geometry.navigation import CRS_MAX, Rule, is_no_code

NUMBERS_MAX = 2147483647


def write_keymap(path: Union[str, os.PathLike[str]], sources: Any, receivers: Any, *, records: Optional[Sequence[int]] = None,
                 channels: Optional[Any] = None, crs: Optional[str] = None, origin: Optional[Tuple[float, float]] = None,
                 azimuth: Optional[float] = None, overwrite: bool = False) -> List[str]:
    """Writes the key-map of a survey, and NAME.receivers beside it where shots have receivers of their own. Returns the paths.

    sources: (shots, 2) x, z or (shots, 3) x, y, z [m, z down]. receivers: (n, 2 or 3), the same for every shot, or one such array
    for each shot, of any lengths. Positions need not lie on grid nodes; the file keeps whole millimetres.
    records: numbers of the shots, default 1, 2, ...; channels: numbers of the receivers (n), or an array for each shot, default
    1, 2, ... crs, origin, azimuth: the rule that leads to the map: x is the distance along `azimuth` (degrees clockwise from north)
    from `origin` (easting, northing) in `crs`, such as 'EPSG:32618', and y the distance to its right; the output then carries
    eastings and northings.
    """
    places = _places('sources', sources)
    if not len(places):
        fail('sources: there is none; give one row for each shot')
    each = _per_shot(receivers, len(places))
    spreads = [_places(f'receivers of shot {i + 1}', r) for i, r in enumerate(each)] if each else \
        [_places('receivers', receivers)] * len(places)
    numbers = _records(records, len(places))
    own = channels is not None and (_ragged(channels) or _dimensions(channels) != 1)
    if channels is None:
        counts = {len(s): np.arange(1, len(s) + 1) for s in spreads}
        channel = [counts[len(s)] for s in spreads]
    else:
        channel = [_channels(c) for c in channels] if own else [_channels(channels)] * len(places)
    if len(channel) != len(places):
        fail(f'channels are given for {counted(len(channel), "shot")}, and there are {len(places)}')
    shots = []
    for i, (place, spread) in enumerate(zip(places, spreads)):
        if len(channel[i]) != len(spread):
            fail(f'shot {i + 1} has {counted(len(channel[i]), "channel")} but {counted(len(spread), "receiver")}: '
                 'give a channel for each')
        x, y, z = (float(v) for v in place)
        shots.append(Shot(numbers[i], x, y, z, channel[i], spread[:, 0], spread[:, 1], spread[:, 2]))
    shots.sort(key=lambda shot: shot.record)
    comments = [f'{counted(len(shots), "shot")} by spltools.write_keymap on {datetime.date.today()}']
    return write_map(os.fspath(path), shots, comments, overwrite, _rule(crs, origin, azimuth))


def _numbers(what: str, values: Any) -> np.ndarray:
    if np.iscomplexobj(values):
        fail(f'{what}: the numbers are complex; give rows of x, z or x, y, z [m]')
    try:
        return np.ma.filled(values.astype(float), np.nan) if np.ma.isMaskedArray(values) else np.asarray(values, float)
    except (TypeError, ValueError):
        fail(f'{what}: give rows of x, z or x, y, z [m]')


def _places(what: str, values: Any) -> np.ndarray:
    """x, y, z [m], (n, 3)."""
    found = _numbers(what, values)
    if found.ndim != 2 or found.shape[1] not in (2, 3):
        fail(f'{what}: the array has the shape {found.shape}; give rows of x, z or x, y, z [m]')
    if not np.isfinite(found).all():
        fail(f'{what}: row {int(np.argwhere(~np.isfinite(found))[0][0]) + 1} is not finite')
    if found.shape[1] == 2:
        found = np.column_stack([found[:, 0], np.zeros(len(found)), found[:, 1]])
    return np.ascontiguousarray(found)


def _ragged(values: Any) -> bool:
    """True of a list of arrays, whatever their lengths."""
    return isinstance(values, (list, tuple)) and len(values) > 0 and all(_dimensions(v) == 1 for v in values)


def _dimensions(values: Any) -> int:
    """Of an array, -1 of lists that are none."""
    try:
        return int(np.ndim(values))
    except ValueError:
        return -1


def _per_shot(receivers: Any, shots: int) -> Optional[List[Any]]:
    """The arrays of receivers where each shot has its own, else None."""
    if isinstance(receivers, np.ndarray):
        each = list(receivers) if receivers.ndim == 3 else None
    else:
        try:
            receivers = list(receivers)
        except TypeError:
            fail(f'receivers = {receivers!r}: give rows of x, z or x, y, z [m], or such an array for each shot')
        each = receivers if receivers and _dimensions(receivers[0]) == 2 else None
    if each is not None and len(each) != shots:
        fail(f'receivers are given for {counted(len(each), "shot")}, and there are {shots}')
    return each


def _records(records: Optional[Sequence[int]], shots: int) -> List[int]:
    if records is None:
        return list(range(1, shots + 1))
    found = np.asarray(records)
    if found.shape != (shots,) or found.dtype.kind not in 'iu':
        fail(f'records: give {shots} whole numbers, one for each shot')
    return [int(record) for record in found]


def _channels(values: Any) -> np.ndarray:
    found = np.asarray(values) if _dimensions(values) == 1 else np.empty((0, 0))
    if found.ndim != 1 or found.dtype.kind not in 'iu' or (len(found) and (found.min() < 1 or found.max() > NUMBERS_MAX)):
        fail(f'channels: give whole numbers from 1 to {NUMBERS_MAX}, one for each receiver')
    return found.astype(np.int64)


def _rule(crs: Optional[str], origin: Optional[Tuple[float, float]], azimuth: Optional[float]) -> Optional[Rule]:
    if crs is None and origin is None and azimuth is None:
        return None
    if crs is None or origin is None or azimuth is None:
        fail('a rule that leads to the map needs crs=, origin= and azimuth=, all three')
    place = _numbers('origin', origin)
    if place.shape != (2,) or not np.isfinite(place).all() or np.abs(place).max() > 1e9:
        fail(f'origin = {origin!r}: give easting and northing [m], at most 1e9')
    try:
        degrees = float(azimuth)
    except (TypeError, ValueError):
        degrees = np.nan
    if not abs(degrees) <= 360:
        fail(f'azimuth = {azimuth}: must be -360 .. 360 degrees')
    if not isinstance(crs, str):
        fail(f"crs = {crs!r}: must be a text, such as 'EPSG:32618'")
    if len(crs) > CRS_MAX:
        fail(f'crs has {len(crs)} characters, at most {CRS_MAX} are kept: give an EPSG code, such as EPSG:32618')
    if is_no_code(crs):
        fail(f"crs = '{crs}': an EPSG code is written EPSG:1024 .. EPSG:32767")
    return Rule(crs, float(place[0]), float(place[1]), degrees)
