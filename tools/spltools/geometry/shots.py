"""Shots of a survey in memory, and the limits that the modelling sets for them."""

from dataclasses import dataclass, field
from typing import Optional

import numpy as np

# fortran/geometry/keymap.f90, keymap_reader.f90, spread.f90
RECORD_MAX = 2147483647
SHOTS_MAX, CHANNELS_MAX, TRACES_MAX = 1000000, 1000000, 1000000000
X_MAX, Z_MAX = 1e8, 1e6  # [m]; X_MAX for y too
NAME_MAX = 64
STACK = 250000  # numbers of many shots that are looked at together


@dataclass
class Shot:
    """One shot [m]: x along the line, y across it, z down; map_* are easting and northing where known, heights count up.
    Points and lines are those of the survey; stations NaN and lines '' where they are not known."""

    record: int
    sx: float
    sy: float
    sz: float
    channel: np.ndarray
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray
    map_source: Optional[tuple] = None
    map_receivers: Optional[np.ndarray] = None  # (nrec, 2)
    skip: bool = False
    redo: int = 0  # how often it is to be modelled again
    notes: list = field(default_factory=list)
    height: Optional[float] = None  # None: -z
    point: Optional[float] = None
    line: str = ''
    heights: Optional[np.ndarray] = None
    lines: Optional[list] = None
    stations: Optional[np.ndarray] = None


@dataclass
class Stack:
    """Some shots with as many receivers each: sx, sy, sz (shots, 1) and channel, rx, ry, rz (shots, receivers)."""

    shots: list
    sx: np.ndarray
    sy: np.ndarray
    sz: np.ndarray
    channel: np.ndarray
    rx: np.ndarray
    ry: np.ndarray
    rz: np.ndarray


def stacks(shots):
    """Stacks of neighbouring shots, of at most STACK numbers: what is asked of every receiver is asked of many at once."""
    some = []
    for shot in shots:
        n = len(shot.channel)
        if some and (n != len(some[0].channel) or len(some) >= max(1, STACK // max(1, n))):
            yield _stack(some)
            some = []
        some.append(shot)
    if some:
        yield _stack(some)


def _stack(some):
    return Stack(some,
                 *(np.array([getattr(s, name) for s in some], dtype=float)[:, None] for name in ('sx', 'sy', 'sz')),
                 *(_rows([getattr(s, name) for s in some]) for name in ('channel', 'rx', 'ry', 'rz')))


def _rows(arrays):
    """Arrays of one length as the rows of one; the same array again and again is kept once."""
    first = arrays[0]
    if all(a is first for a in arrays):
        return np.broadcast_to(first, (len(arrays), len(first)))
    return np.array(arrays)
