"""Models for the figures, NetCDF or raw: vp, rho (z, x) with coordinates x, z, which is depth: heights are turned, as the programs
do. (The modelling has its own, stricter reader.)"""
import numpy as np

from spltools.cli import fail
from spltools.earth.layer_cells import is_x_axis, metres, points_up
from spltools.earth.rawmodel import read_raw
from spltools.netcdf import open_dataset

SHAPE = ('nx', 'nz', 'dx', 'dz')            # what a raw model needs
UNIT = {'vp': 'm/s', 'rho': 'kg/m3'}        # of raw models, as the modelling takes them


class Model:
    """values {vp, rho: (nz, nx)}, units {vp, rho}, x (nx), z (nz) [m]."""


def is_raw(options):
    """True where a raw model is meant: then its shape must be complete."""
    missing = [name for name in SHAPE if getattr(options, name) is None]
    if 0 < len(missing) < len(SHAPE):
        fail(f'a raw model needs --nx, --nz, --dx and --dz; --{missing[0]} is missing')
    return not missing


def raw_model(path, name, options):
    """A raw model of vp or rho, x and z from 0."""
    m = Model()
    m.values, m.units = {name: read_raw(path, options).astype(float)}, {name: UNIT[name]}
    m.x, m.z = np.arange(options.nx) * options.dx, np.arange(options.nz) * options.dz
    return m


def read_model(path, names=None, **words):
    """Reads vp and rho, those of them that are there; `names`: those that must be; words: of open_dataset."""
    m = Model()
    m.values, m.units = {}, {}
    with open_dataset(path, **words) as ds:
        for name in names or [n for n in ('vp', 'rho') if n in ds.variables]:
            if name not in ds.variables:
                fail(f"{path} has no variable '{name}'; it has {', '.join(ds.variables)}")
            v = ds[name]
            if v.ndim != 2:
                fail(f'{path}: {name} has {v.ndim} dimensions, must have 2: z and x')
            if not of_numbers(v) or not v.size:
                fail(f'{path}: {name} holds no numbers; give a model of numbers')
            a = np.ma.filled(v[:].astype(float), np.nan)
            x_first = is_x_axis(ds, v.dimensions[0]) or v.dimensions[0].lower() == 'nx'
            m.values[name], m.units[name] = (a.T if x_first else a), getattr(v, 'units', '?')
            dims = v.dimensions[::-1] if x_first else v.dimensions
        if not m.values:
            fail(f'{path} has no variable vp or rho; it has {", ".join(ds.variables) or "none"}')
        m.z, m.x = (coordinate(ds, d) for d in dims)
        if dims[0] in ds.variables and points_up(ds[dims[0]]):
            turn = slice(None, None, -1 if m.z[-1] > m.z[0] else 1)          # the deepest came first
            m.z, m.values = 0.0 - m.z[turn], {name: a[turn] for name, a in m.values.items()}
    if min(len(m.x), len(m.z)) < 2:
        fail(f'{path}: {len(m.x)} x {len(m.z)} samples (x, z) are no section: 2 along each are needed at least')
    if len({a.shape for a in m.values.values()}) > 1:
        fail(f'{path}: vp and rho differ in shape: {" and ".join(str(a.shape) for a in m.values.values())}')
    return m


def of_numbers(variable):
    """False for text and for types that a file defines; netCDF4 gives those a dtype without a kind."""
    return getattr(variable.dtype, 'kind', 'none') in ('i', 'u', 'f')


def coordinate(ds, name):
    """Coordinate of a dimension in metres, times in seconds; sample numbers where the file gives none."""
    if name not in ds.variables:
        return np.arange(len(ds.dimensions[name]), dtype=float)
    known = ds[name].dimensions == (name,) and of_numbers(ds[name])
    if not known or not np.isfinite(np.ma.filled(ds[name][:].astype(float), np.nan)).all():
        fail(f'{ds.filepath()}: the coordinate {name} is no series of numbers along {name}; give one in m or km')
    return np.asarray(ds[name][:], float) * (1.0 if getattr(ds[name], 'units', '') == 's' else metres(ds[name]))
