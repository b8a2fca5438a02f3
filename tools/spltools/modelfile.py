"""Models in NetCDF for the figures: vp, rho (z, x) with coordinates x, z. (The modelling has its own, stricter reader.)"""
import netCDF4
import numpy as np

from .cli import check_input, fail


class Model:
    """values {vp, rho: (nz, nx)}, units {vp, rho}, x (nx), z (nz) [m]."""


def open_dataset(path):
    check_input(path)
    try:
        return netCDF4.Dataset(path)
    except OSError as problem:
        fail(f'{path} is no NetCDF file ({problem.strerror or problem}); give a NetCDF file')


def read_model(path, names=None):
    """Reads vp and rho, those of them that are there; `names`: those that must be."""
    m = Model()
    m.values, m.units = {}, {}
    with open_dataset(path) as ds:
        for name in names or [n for n in ('vp', 'rho') if n in ds.variables]:
            if name not in ds.variables:
                fail(f"{path} has no variable '{name}'; it has {', '.join(ds.variables)}")
            v = ds[name]
            if v.ndim != 2:
                fail(f'{path}: {name} has {v.ndim} dimensions, must have 2: z and x')
            a = np.ma.filled(v[:].astype(float), np.nan)
            m.values[name], m.units[name] = (a.T if is_x(v.dimensions[0]) else a), getattr(v, 'units', '?')
            dims = v.dimensions[::-1] if is_x(v.dimensions[0]) else v.dimensions
        if not m.values:
            fail(f'{path} has no variable vp or rho; it has {", ".join(ds.variables) or "none"}')
        m.z, m.x = (coordinate(ds, d) for d in dims)
    if len({a.shape for a in m.values.values()}) > 1:
        fail(f'{path}: vp and rho differ in shape: {" and ".join(str(a.shape) for a in m.values.values())}')
    return m


def is_x(dimension):
    return dimension.lower() in ('x', 'distance', 'nx')


def coordinate(ds, name):
    """Coordinate of a dimension in metres; sample numbers where the file gives none."""
    if name not in ds.variables:
        return np.arange(len(ds.dimensions[name]), dtype=float)
    scale = 1000.0 if getattr(ds[name], 'units', 'm') == 'km' else 1.0
    return np.asarray(ds[name][:], float) * scale
