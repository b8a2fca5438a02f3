"""Gathers of a survey by their record numbers: as arrays with geometry, and as ObsPy streams."""
from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Iterable, Iterator, Optional, Tuple, Union

import numpy as np

from spltools.cli import fail
from spltools.gathers.gathers import DONE, Gather, Gathers

if TYPE_CHECKING:
    from obspy import Stream

Path = Union[str, 'os.PathLike[str]']


def read_gather(path: Path, record: int, component: Optional[str] = None, *, positions: str = 'used') -> Gather:
    """One shot: `traces` (nrec, nt) float32 in `units`, `time` [s], `source` (3) and `receivers` (nrec, 3) [m, z down], `channel`,
    `offset()`, `navigation`. It is compared with its checksum first.

    component: p, vx, vz, ...; None: p, or the first that was recorded. positions: those used by the modelling, or 'asked' for.
    """
    return next(read_gathers(path, [record], component, positions=positions))


def read_gathers(path: Path, records: Union[None, str, Iterable[int]] = None, component: Optional[str] = None, *,
                 positions: str = 'used', done_only: bool = False) -> Iterator[Gather]:
    """The same for many shots, one at a time: `records` are numbers, text such as '1-12,20', or None for all.

    Shots that are not done are an error before the first is given out, a damaged one when its turn comes; with `done_only` both are
    left out.
    """
    if positions not in ('used', 'asked'):
        fail(f"positions '{positions}': must be used or asked")
    if records is not None and not isinstance(records, str):
        records = ','.join(map(_number, records)) or fail('no records are given: give numbers, or None for all')
    file = Gathers(path)
    slots = file.slots(records)
    if component is None:
        component = 'p' if 'p' in file.components else file.components[0]
    todo = [slot for slot in slots if file.status[slot] != DONE]
    if todo and not done_only:
        fail(f'{file.path}: shot record {file.record[todo[0]]}: {file.fault(todo[0])}'
             + (f' (and {len(todo) - 1} more)' if len(todo) > 1 else '')
             + '; model the rest by repeating the job, or take only the finished shots with done_only=True')
    return (file.gather(slot, component, positions, check=not done_only) for slot in slots
            if not done_only or not file.fault(slot))


def _number(record: int) -> str:
    try:
        if int(record) == record:
            return str(int(record))
    except (TypeError, ValueError, OverflowError):
        pass
    fail(f'shot record {record!r}: must be a whole number')


def read_stream(path: Path, record: int, *, motion: Optional[str] = None, turn: bool = False,
                reference: Optional[Tuple[float, float]] = None, x_azimuth: Optional[float] = None, y_left: bool = False,
                origin_time: str = '2000-01-01T00:00:00', network: str = 'SY', location: str = '',
                stations: Optional[Path] = None, positions: str = 'used') -> Stream:
    """One shot as an ObsPy Stream, as `spl-export` writes it to miniSEED: velocity [m/s], displacement, acceleration or pressure.

    motion: v, u, a or p; None: the first that was recorded. Channels are N, E and Z, up; with `turn` R, off the source, and T.
    reference: longitude and latitude of x = y = 0. Each trace has `stats.spl`: x, y, z of the station and sx, sy, sz of the source
    [m, z down]. Needs ObsPy: pip install 'spltools[obspy]'.
    """
    try:
        from spltools.gathers import seismograms
    except ModuleNotFoundError as missing:
        if (missing.name or '').split('.')[0] != 'obspy':
            raise
        fail('read_stream needs ObsPy, which is not installed: pip install obspy; read_gather does without it')
    if motion is not None and motion not in seismograms.MOTIONS:
        fail(f"motion '{motion}': must be v, u, a or p")
    file = Gathers(path)
    slots, _ = file.chosen(_number(record))
    a = SimpleNamespace(motion=motion, turn='zrt' if turn else None, reference=reference, x_azimuth=x_azimuth, y_left=y_left,
                        origin_time=origin_time, network=network, location=location,
                        stations=None if stations is None else os.fspath(stations), positions=positions)
    motion, names = seismograms.recorded(file, a)
    shot = seismograms.Shot(file, slots[0], names, motion, seismograms.Frame(file, a), seismograms.Codes(a), a)
    stream = shot.stream()
    for trace, (station, _) in zip(stream, shot.all()):
        places = np.array([station.x, station.y, station.z, *shot.source], float)
        trace.stats.spl = dict(zip(('x', 'y', 'z', 'sx', 'sy', 'sz'), map(float, places)))
    return stream
