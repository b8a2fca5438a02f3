"""A survey as an xarray Dataset whose numbers are read when they are asked for, and compared with their checksums then."""
from __future__ import annotations

import os
from typing import Any, Hashable, Union

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from spltools.cli import fail
from spltools.gathers.gathers import DONE, Gathers

DIMENSION = {'shot': 'record'}                          # shots are found by their record numbers
LEFT_OUT = ('header_bytes', 'header_crc32', 'time', 'record', 'line_name', 'words')
ATTRIBUTES_LEFT_OUT = ('_FillValue', 'coordinates', 'order', 'comment')     # true of the file, not of what is read from it


class _Lazy(BackendArray):
    """A variable that has a row for each shot. A shot that is not done, and receivers that a shot does not have, are NaN (-1 of
    whole numbers, '' of text); a damaged shot is an error."""

    def __init__(self, survey: _Survey, name: str) -> None:
        v = survey.file._header.variables[name]
        self.survey, self.name = survey, name
        self.text = v.dtype.kind == 'S'
        self.shape = v.shape[:1] if self.text else v.shape
        self.dtype = np.dtype(f'U{v.shape[1]}') if self.text else v.dtype.newbyteorder('=')

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple) -> Any:
        slots = np.arange(self.shape[0])[key[0]]
        rest = key[1:]
        rows = [self._row(int(slot), rest) for slot in np.atleast_1d(slots)]
        if np.ndim(slots) == 0:
            return rows[0]
        if not rows:
            return np.empty((0, *np.shape(self._blank(rest))), self.dtype)
        return np.stack(rows)

    def _blank(self, rest: tuple) -> Any:
        nothing = '' if self.text else np.nan if self.dtype.kind == 'f' else -1 if self.dtype.kind == 'i' else 0
        return _outer(np.full(self.shape[1:], nothing, self.dtype), rest)

    def _row(self, slot: int, rest: tuple) -> Any:
        file = self.survey.file
        if self.name == 'status':
            return np.asarray(file.status[slot], self.dtype)
        if not self.survey.believed(slot):
            return self._blank(rest)
        if self.text:
            return np.asarray(file.words(self.name, slot), self.dtype)
        row, n = file._array(self.name)[slot], int(file.nrec[slot])
        if row.ndim == 0 or n == self.shape[1]:
            return np.asarray(_outer(row, rest), self.dtype)
        whole = np.full(self.shape[1:], self._blank((0,) * (row.ndim)), self.dtype)
        whole[:n] = row[:n]
        return _outer(whole, rest)


def _outer(a: Any, key: tuple) -> Any:
    """a[key], each part of the key for an axis of its own."""
    for axis in reversed(range(len(key))):
        a = a[(slice(None),) * axis + (key[axis],)]
    return a


class _Survey:
    """The file, and which of its shots were compared with their checksums."""

    def __init__(self, path: str, verify: bool) -> None:
        self.path, self.verify, self.verified = path, verify, set()     # type: str, bool, set[int]
        self.file = Gathers(path)

    def __reduce__(self) -> tuple:
        return _Survey, (self.path, self.verify)

    def believed(self, slot: int) -> bool:
        """True for a shot that is done and whole, False for one that is not done; a damaged one is an error."""
        if slot in self.verified:
            return True
        if self.file.status[slot] != DONE:
            return False
        why = self.file.fault(slot) if self.verify else ''
        if why:
            fail(f'{self.path}: shot record {self.file.record[slot]}: {why}; model it again by repeating the job')
        self.verified.add(slot)
        return True


def open_survey(path: Union[str, os.PathLike[str]], *, verify: bool = True) -> xr.Dataset:
    """The gathers of a survey as a Dataset on (record, receiver, time), with the names, units and attributes of the file.

    Nothing but the header is read, and its checksum compared, before values are asked for; then of those shots alone, and each shot
    is compared with its checksums before its first value is given out (not with `verify=False`). What is wrong is a
    `spltools.Error`. Shots that are not done, and receivers that a shot does not have, are NaN (whole numbers -1, text ''). A
    running job may fill the file meanwhile: `status` (0 to do, 1 done, 2 parked) is that of the moment in which it is read.

    `ds.pressure.sel(record=101)` is a gather (receiver, time); `ds.receiver_x_used.sel(record=101)` its positions [m]. Lengths in
    m, z down, time in s. With dask, `ds.chunk(record=1)` computes on many shots at once.
    """
    name = os.fspath(path)
    survey = _Survey(name, verify)
    file = survey.file
    header = file._header
    data: dict[Hashable, Any] = {}
    for v in header.variables.values():
        if v.name in LEFT_OUT or 'shot' not in v.dims:
            continue
        lazy = _Lazy(survey, v.name)
        dims = tuple(DIMENSION.get(d, d) for d in v.dims if d != 'words')
        attributes = {k: _plain(x) for k, x in v.attributes.items() if k not in ATTRIBUTES_LEFT_OUT}
        data[v.name] = xr.Variable(dims, indexing.LazilyIndexedArray(lazy), attributes)
    coordinates = {
        'record': ('record', file.record, {'long_name': 'shot record number'}),
        'time': ('time', file.time, {'units': 's', 'long_name': 'time since time zero of the source'}),
    }
    ds = xr.Dataset(data, coordinates, {k: _plain(v) for k, v in header.attributes.items()})
    ds = ds.set_coords([n for n in data if str(n).startswith(('source_', 'receiver_')) or n in ('channel', 'shot_point')])
    if file.navigated:
        ds.attrs['line_names'] = ', '.join(file.lines)
    ds.encoding['source'] = name
    return ds


def done(survey: xr.Dataset) -> xr.Dataset:
    """The shots of a survey that are done."""
    return survey.isel(record=np.flatnonzero(survey.status.values == DONE))


def _plain(value: Any) -> Any:
    """An attribute as other programs write it again."""
    if isinstance(value, str):
        return value
    a: np.ndarray = np.asarray(value)
    a = a.astype(a.dtype.newbyteorder('='))
    return a.reshape(-1)[0].item() if a.size == 1 else a
