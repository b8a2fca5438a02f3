"""Positions that navigation left blank, which files hold as zeros."""

import numpy as np

from spltools.cli import counted, fail
from spltools.geometry.shots import stacks

FAR, APART = 1e5, 2e4  # [m]: a source and its receiver; each coordinate: a line along an axis may well begin at 0, 0


def refuse_blanks(shots):
    """Fails where a source or receiver lies at easting 0, northing 0 exactly, far from the other, or all lie there."""
    count, first, everywhere = 0, '', True
    for s in stacks(shots):
        source, group = (s.sx == 0) & (s.sy == 0), (s.rx == 0) & (s.ry == 0)
        away = np.minimum(np.abs(s.rx - s.sx), np.abs(s.ry - s.sy)) > APART
        odd = (source != group) & away & (np.hypot(s.rx - s.sx, s.ry - s.sy) > FAR)
        everywhere &= bool(np.all(source & group))
        if odd.any() and not first:
            i, r = np.argwhere(odd)[0]
            what = 'the source' if np.broadcast_to(source, odd.shape)[i, r] else f'channel {s.channel[i, r]:.0f}'
            first = f'{what} of record {s.shots[i].record}'
        count += int(odd.sum())
    if everywhere:
        fail('all sources and receivers lie at easting 0, northing 0: the file holds no positions of a map')
    if count:
        fail(f'{counted(count, "trace")} with a source or receiver at easting 0, northing 0, which navigation holds where a '
             f'position is not known, the first {first}: write the positions, or leave these traces out')
