"""spl-model basin: a 3D model made for demonstrations: a sedimentary basin in layered rock, and a hill beside it."""
import datetime

import numpy as np

from spltools.cli import check_output, fail, new_dataset, number, say

# depth of the upper side [m], vp, vs [m/s], rho [kg/m3], Qs; Qp = 2 Qs
ROCK = ((0.0, 3200.0, 1850.0, 2350.0, 120.0), (1200.0, 4600.0, 2650.0, 2550.0, 200.0), (3200.0, 5600.0, 3250.0, 2700.0, 300.0))
SEDIMENT = ((0.0, 1900.0, 800.0, 2000.0, 50.0), (0.5, 2300.0, 1100.0, 2150.0, 70.0))   # depth in parts of the basin's


def options(verbs, output_options):
    verb = verbs.add_parser('basin', help='a 3D basin in layered rock, with a hill', description=__doc__)
    verb.add_argument('--length', type=number(2000.0, 1e6, 'm'), default=10000.0, metavar='M', help='along x and y, default 10000')
    verb.add_argument('--depth', type=number(1000.0, 1e5, 'm'), default=5000.0, metavar='M', help='below sea level, default 5000')
    verb.add_argument('--spacing', type=number(1.0, 1000.0, 'm'), default=125.0, metavar='M', help='of the cells, default 125')
    output_options(verb)
    verb.set_defaults(action=write)


def basin_model(length, depth, spacing):
    """{name: values (nz, ny, nx)}, and the depth of the first row's centre; the hill is at z < 0, air above the ground."""
    n, height = int(round(length / spacing)), 0.05 * length
    rows = int(np.ceil(height / spacing))
    x = (np.arange(n) + 0.5) * spacing
    z = (np.arange(-rows, int(round(depth / spacing))) + 0.5) * spacing
    zz, yy, xx = np.meshgrid(z, x, x, indexing='ij')
    hill = -height * np.exp(-((xx - 0.28 * length) ** 2 + (yy - 0.62 * length) ** 2) / (0.09 * length) ** 2)
    bowl = 1 - ((xx - 0.62 * length) / (0.26 * length)) ** 2 - ((yy - 0.45 * length) / (0.2 * length)) ** 2
    floor = 0.09 * length * np.clip(bowl, 0, None) ** 0.6
    model = np.zeros((5, *zz.shape), np.float32)
    for top, *medium in ROCK:
        model[:, zz > top - (height + spacing if top == 0 else 0)] = np.array([*medium, 2 * medium[3]])[:, None]
    for top, *medium in SEDIMENT:
        model[:, (zz > top * floor) & (zz < floor)] = np.array([*medium, 2 * medium[3]])[:, None]
    model[:, zz < hill] = 0
    return dict(zip(('vp', 'vs', 'rho', 'qs', 'qp'), model)), float(z[0])


def write(a):
    if (a.length / a.spacing) ** 2 * a.depth / a.spacing > 2e8:
        fail('the model would have more than 2e8 samples: take a larger --spacing')
    check_output(a.output, a.overwrite)
    model, top = basin_model(a.length, a.depth, a.spacing)
    nz, ny, nx = model['vp'].shape
    with new_dataset(a.output, a.overwrite, format='NETCDF3_64BIT_DATA') as file:
        file.Conventions = 'CF-1.8'
        file.title = 'Basin and hill; samples are centres of cells; 0 is air'
        file.history = (f'{datetime.date.today()} spl-model basin --length {a.length:g} --depth {a.depth:g} '
                        f'--spacing {a.spacing:g}')
        for name, n, first in (('z', nz, top), ('y', ny, a.spacing / 2), ('x', nx, a.spacing / 2)):
            file.createDimension(name, n)
            axis = file.createVariable(name, 'f8', (name,))
            axis.units, axis.axis = 'm', name.upper()
            if name == 'z':
                axis.positive = 'down'
            axis[:] = first + a.spacing * np.arange(n)
        units = {'vp': 'm/s', 'vs': 'm/s', 'rho': 'kg/m3'}
        for name, values in model.items():
            variable = file.createVariable(name, 'f4', ('z', 'y', 'x'))
            if name in units:
                variable.units = units[name]
            variable[:] = values
    say(f'grid: {nx} x {ny} x {nz} (x, y, z), spacing {a.spacing:g} m, from z = {top - a.spacing / 2:g} m')
    say(f'written: {a.output}')
    return 0
