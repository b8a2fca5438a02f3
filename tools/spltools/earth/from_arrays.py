"""Models from arrays, as files that the modelling reads."""
from __future__ import annotations

import datetime
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from spltools.cli import fail
from spltools.earth.modelgrid import AXES, LENGTHS, UNITS, VARIABLES, check_axis, checked, on_grid, write_grid


def write_model(path: Union[str, os.PathLike[str]], *, spacing: Union[float, Sequence[float]], axes: str,
                origin: Union[float, Sequence[float]] = 0.0, lengths: str = 'm', units: Optional[Mapping[str, str]] = None,
                overwrite: bool = False, vp: Any = None, vs: Any = None, rho: Any = None, qp: Any = None, qs: Any = None) -> str:
    """Writes a section (vp, rho) or a volume (vp, vs, rho, qp, qs) as NetCDF for the programs' vp=, vs=, rho=, qp=, qs=.

    axes: those of the arrays, slowest first: 'zx', 'xz' (as Devito and most programs of arrays have it), 'zyx', 'xyz', ...
    spacing, origin: one number for all axes, or one for each in the order of `axes`, in `lengths` (m, km, ft, us-ft); z down.
    units: of each array that is not in SI, such as {'vp': 'km/s', 'rho': 'g/cm3'}. In volumes 0 is air (vp, rho), a fluid (vs), or
    no attenuation (qp, qs). Values that cannot be what they are called are refused; but any number may stand for qs in fluids and
    air (vs or vp, given too, 0) and for qp in air, as in the programs, and 0 is written there. Returns the path.
    """
    name = os.fspath(path)
    given = {'vp': vp, 'vs': vs, 'rho': rho, 'qp': qp, 'qs': qs}
    arrays = {key: _array(key, value) for key, value in given.items() if value is not None}
    if not arrays:
        fail('no array is given: give vp=, and rho=, vs=, qp= or qs= where the model has them')
    if axes not in AXES:
        fail(f"axes '{axes}': name those of the arrays, slowest first, as one of {', '.join(AXES)}")
    if lengths not in LENGTHS:
        fail(f"lengths '{lengths}': must be {', '.join(LENGTHS)}")
    step, first = _of_axes('spacing', spacing, axes, lengths), _of_axes('origin', origin, axes, lengths)
    for axis in axes:
        check_axis(name, axis, first[axis], step[axis])
    if units is not None and not isinstance(units, Mapping):
        fail(f"units = {units!r}: name the array of each, such as {{'vp': 'km/s'}}")
    units = dict(units or {})
    values = {}
    for key, array in arrays.items():                                   # vp and vs come before qp and qs
        if array.dtype.kind not in 'fiu':
            fail(f'{key} holds {array.dtype}, must be real numbers')
        hidden = np.count_nonzero(np.ma.getmaskarray(given[key]))
        if hidden:
            fail(f'{key}: {hidden} of {array.size} samples are masked: fill the holes')
        dims = ''.join(map(str, getattr(given[key], 'dims', '')))       # of an xarray.DataArray
        if dims != axes and sorted(dims) == sorted(axes):
            fail(f"axes '{axes}': {key} says that its are {dims}")
        unit = units.pop(key, VARIABLES[key][1])
        if unit not in UNITS:
            fail(f"{key}: the unit '{unit}' is not known: give one of {', '.join(UNITS)}")
        values[key] = checked(key, _heeded(key, on_grid(key, array, axes), values), key, unit)
    if units:
        fail(f"units names '{next(iter(units))}', of which there is no array; the arrays are {', '.join(arrays)}")
    shapes = {key: array.shape for key, array in arrays.items()}
    if len(set(shapes.values())) > 1:
        fail('the arrays differ in shape: ' + ', '.join(f'{key} {" x ".join(map(str, shape))}' for key, shape in shapes.items()))
    write_grid(name, values, first, step, f'{datetime.date.today()} spltools.write_model', overwrite)
    return name


def _array(key: str, value: Any) -> np.ndarray:
    try:
        return np.asarray(value)
    except ValueError:
        fail(f'{key}: its rows differ in length: give an array')


def _heeded(key: str, array: np.ndarray, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """Quality factors with 0 where nothing is made of them: programs differ in what they write there. Other arrays as they are."""
    for velocity in {'qp': ('vp',), 'qs': ('vp', 'vs')}.get(key, ()):
        if velocity in values and values[velocity].shape == array.shape:
            array = np.where((values[velocity] == 0) & np.isfinite(array), 0, array)
    return array


def _of_axes(what: str, numbers: Union[float, Sequence[float]], axes: str, lengths: str) -> dict:
    """{axis: [m]}"""
    try:
        found = np.asarray(numbers, float)
    except (TypeError, ValueError):
        fail(f'{what} = {numbers!r}: give one number, or one for each of the axes {axes}')
    if found.ndim == 0:
        found = np.full(len(axes), found)
    if found.shape != (len(axes),) or not np.isfinite(found).all():
        fail(f'{what} = {numbers!r}: give one number, or one for each of the {len(axes)} axes {axes}')
    return {axis: float(value) * LENGTHS[lengths] for axis, value in zip(axes, found)}
