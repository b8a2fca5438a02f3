"""Models on regular grids: their properties, units and limits, and how they are written as the modelling reads them."""
import numpy as np

from spltools.cli import check_output, fail, named, new_dataset, warn

# Long name, SI unit, kind, smallest and largest value. In volumes 0 is air (vp, rho), a fluid (vs), or no attenuation (qp, qs).
VARIABLES = {
    'vp': ('P wave velocity', 'm/s', 'velocity', 100.0, 15000.0),
    'vs': ('S wave velocity', 'm/s', 'velocity', 20.0, 15000.0),
    'rho': ('density', 'kg/m3', 'density', 1.0, 30000.0),
    'qp': ('quality factor of P waves', '1', 'quality', 1.0, 1e30),
    'qs': ('quality factor of S waves', '1', 'quality', 1.0, 1e30),
}
SECTIONS = ('vp', 'rho')  # what 2D modelling reads
UNITS = {
    'm/s': ('velocity', 1.0),
    'km/s': ('velocity', 1000.0),
    'ft/s': ('velocity', 0.3048),
    'kft/s': ('velocity', 304.8),
    'kg/m3': ('density', 1.0),
    'g/cm3': ('density', 1000.0),
    'lb/ft3': ('density', 0.45359237 / 0.3048**3),
    '1': ('quality', 1.0),
}
LENGTHS = {'m': 1.0, 'km': 1000.0, 'ft': 0.3048, 'us-ft': 1200 / 3937}  # metres; us-ft: the foot of the US survey
SHORTEST, LONGEST = 0.001, 1e5  # spacings [m]; finer ones would be lost in the coordinates
FARTHEST = {'x': 1e8, 'y': 1e8, 'z': 1e6}  # first samples [m]
SLOW = 1000.0  # a model has a P wave faster than this [m/s], be it sea or rock
LIGHT = 30.0  # and no model but one of gas is all so light [kg/m3]; in g/cm3 nothing is heavier
AXES = ('zx', 'xz', 'zyx', 'zxy', 'yzx', 'yxz', 'xzy', 'xyz')


def on_grid(path, values, axes):
    """Values as the modelling has them, (z, x) or (z, y, x), of an array whose axes, slowest first, are `axes`, such as 'xz'."""
    if axes not in AXES:
        fail(f"axes '{axes}': name those of the array, slowest first, as one of {', '.join(AXES)}")
    if np.ndim(values) != len(axes):
        fail(f'{path} has {np.ndim(values)} dimensions, {" x ".join(map(str, np.shape(values)))}, but axes {axes} are {len(axes)}')
    if min(np.shape(values)) < 2:
        fail(f'{path} has {" x ".join(map(str, np.shape(values)))} samples: each axis needs 2 at least')
    return np.transpose(values, [axes.index(axis) for axis in 'zyx' if axis in axes])


def check_axis(path, name, first, step):
    """Fails where a first sample or a spacing [m] is out of range."""
    if not SHORTEST <= step <= LONGEST:
        fail(f'{path}: d{name} would be {step:g} m, must be {SHORTEST:g} .. {LONGEST:g} m: check the spacing and its unit')
    if not abs(first) <= FARTHEST[name]:
        fail(f'{path}: {name}0 would be {first:g} m, at most {FARTHEST[name]:g} m from 0: check the origin and its unit')


def checked(path, values, variable, unit):
    """Values (z, x) or (z, y, x) in SI units as float32; refuses what cannot be this variable in this unit."""
    name, si, kind, low, high = VARIABLES[variable]
    of, factor = UNITS[unit]
    if of != kind:
        fail(f'{path}: {unit} is no unit of {variable}: give one of ' + ', '.join(u for u in UNITS if UNITS[u][0] == kind))
    if variable not in SECTIONS and values.ndim == 2:
        fail(f'{path}: {variable} of a section is of no use, 2D modelling is acoustic: give a volume or {" or ".join(SECTIONS)}')
    bad = ~np.isfinite(values)
    if bad.any():
        fail(f'{path}: {bad.sum()} of {values.size} samples are not finite; the first in {_place(bad)} (wrong byte order or'
             ' format?)')
    with np.errstate(over='ignore'):  # infinite is outside every range
        values = (values * factor).astype(np.float32)
    bad = (values < low) | (values > high)
    if values.ndim == 3:                # 0 is air, or a fluid
        empty = np.argwhere(~values.any(axis=0)) if variable in ('vp', 'rho') else ()
        if len(empty):
            fail(f'{path}: {name} is 0, as of air, from top to bottom in {len(empty)} of {values[0].size} columns, the first at '
                 f'x sample {empty[0][1] + 1}, y sample {empty[0][0] + 1}: fill them')
        bad &= values != 0
    if bad.any():
        _fail_range(path, values, bad, name, si, low, high)
    if variable == 'vp' and values.max() < SLOW:
        warn(
            f'{path}: the fastest P wave has {values.max():g} m/s, slower than any sea or rock: is this a slowness, an S'
            ' velocity, or are the samples IBM floats that are called IEEE?'
        )
    if variable == 'rho' and values.max() < LIGHT:
        warn(f'{path}: the largest density is {values.max():g} kg/m3, lighter than any rock or fluid by far: '
             f'{named("--unit g/cm3", "units g/cm3")}?')
    return values


def _place(bad):
    """The first sample of those that are True, in words."""
    at = np.argwhere(bad)[0] + 1
    return f'column {at[1]}, sample {at[0]}' if bad.ndim == 2 else f'x sample {at[2]}, y sample {at[1]}, z sample {at[0]}'


def _fail_range(path, values, bad, name, si, low, high):
    where = f'{bad.sum()} of {values.size} samples, the first in {_place(bad)}'
    dead = np.flatnonzero((values == 0).all(axis=0)) if values.ndim == 2 else ()
    if len(dead):
        where = f'{len(dead)} of {values.shape[1]} columns are all zero, the first of them column {dead[0] + 1}'
    advice = f'check {named("--unit", "units=")}, the byte order, the format of samples (IBM or IEEE floats) and the shape'
    if 0 < bad.mean() < 0.5:
        advice = 'fill them'
    zero = ' and not 0' if values.ndim == 3 else ''
    fail(f'{path}: {name} would be {values.min():g} .. {values.max():g}, outside {low:g} .. {high:g} {si}{zero} ({where}): '
         f'{advice}')


def range_text(variable, values, more=''):
    name, unit = VARIABLES[variable][:2]
    return f'{variable}: {name}, {values.min():g} .. {values.max():g}{"" if unit == "1" else " " + unit}{more}'


def grid_text(shape, first, step):
    """The grid in words; shape (z, x) or (z, y, x), first and step {axis: [m]}."""
    names = 'zyx' if len(shape) == 3 else 'zx'
    sizes, order = dict(zip(names, shape)), names[::-1]
    return (
        f'grid: {" x ".join(str(sizes[a]) for a in order)} ({", ".join(order)}), '
        + ', '.join(f'd{a} = {step[a]:g} m' for a in order)
        + ', from '
        + ', '.join(f'{a} = {first[a]:g} m' for a in order)
    )


def write_grid(path, variables, first, step, history, overwrite=False):
    """Writes checked variables {name: (z, x) or (z, y, x)} on the grid first + i step, {axis: [m]}."""
    check_output(path, overwrite)
    shape = next(iter(variables.values())).shape
    axes = ('z', 'y', 'x') if len(shape) == 3 else ('z', 'x')
    with new_dataset(path, overwrite, format='NETCDF3_64BIT_DATA') as file:
        file.Conventions = 'CF-1.8'
        file.title = 'Model for seismic modelling: ' + ', '.join(VARIABLES[v][0] for v in variables)
        file.history = history
        for name, n in zip(axes, shape):
            file.createDimension(name, n)
            axis = file.createVariable(name, 'f8', (name,))
            axis.units, axis.axis = 'm', name.upper()
            axis.long_name = {'z': 'depth', 'y': 'distance across the line', 'x': 'distance along the line'}[name]
            if name == 'z':
                axis.positive = 'down'
            axis[:] = first[name] + step[name] * np.arange(n)
        for name, values in variables.items():
            variable = file.createVariable(name, 'f4', axes)
            variable.long_name, variable.units = VARIABLES[name][:2]
            variable[:] = values
