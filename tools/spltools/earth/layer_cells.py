"""spl-model layers: the layers that SplSemmod meshes (mesh=layers) as volumes of cells, which SplFd3dmod takes."""
import ast
import datetime
import os

import numpy as np

from spltools.cli import check_output, fail, new_dataset, number, say, warn
from spltools.geometry.mapline import number_of, read_lines
from spltools.netcdf import open_dataset

FUNCTIONS = {'sin': np.sin, 'cos': np.cos, 'tan': np.tan, 'atan': np.arctan, 'tanh': np.tanh, 'exp': np.exp, 'log': np.log,
             'sqrt': np.sqrt, 'abs': np.abs, 'min': np.minimum, 'max': np.maximum}
PAIRS = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power}
COLUMNS = ('vp', 'vs', 'rho', 'qp', 'qs')
NO_LOSS = 1e9           # quality factor of rock that does not attenuate
FARTHEST = 1e7          # depths [m]
METRES = {'': 1.0, **{name: 1.0 for name in 'm meter meters metre metres'.split()},
          **{name: 1000.0 for name in 'km kilometer kilometers kilometre kilometres'.split()}}      # in units of lengths


def options(verbs, output_options):
    verb = verbs.add_parser('layers', help='the layers of a mesh of SplSemmod as cells for SplFd3dmod', description=__doc__)
    verb.add_argument('table', metavar='LAYERS', help='table of layers, as layers= of SplSemmod')
    verb.add_argument('--materials', metavar='TABLE', required=True, help='as materials= of SplSemmod')
    for axis in 'xy':
        verb.add_argument(f'--{axis}', type=number(-1e7, 1e7, 'm'), nargs=2, required=True, metavar=('FROM', 'TO'), help='sides')
    verb.add_argument('--z', type=number(-1e7, 1e7, 'm'), nargs=2, required=True, metavar=('TOP', 'BOTTOM'), help='depths')
    verb.add_argument('--spacing', type=number(0.01, 1e5, 'm'), required=True, metavar='M', help='of the cells')
    output_options(verb)
    verb.set_defaults(action=write)


def words_of(path):
    """[(number, words)] of the lines of a text; what stands in quotes is a word."""
    return [(line.number, [line.first, *line.rest()]) for line in read_lines(path, None)]


def surface(word, x, y, where):
    """Depths at x, y: a depth, a formula or a grid, as mesh_surface.f90 reads them."""
    with np.errstate(all='ignore'):                     # a formula may have no value somewhere
        z = depths(word, x, y, where)
    bad = ~(np.abs(z) <= FARTHEST)
    if bad.any():
        j, i = np.argwhere(bad)[0]
        fail(f"{where}: at x = {x[j, i]:g}, y = {y[j, i]:g} m '{word[:60]}' has no value, or one beyond {FARTHEST:g} m")
    return z


def depths(word, x, y, where):
    sign = 1.0
    if word.lower().startswith('up:'):
        sign, word = -1.0, word[3:]
    depth = number_of(word)
    if depth is not None:
        return sign * np.full(x.shape, depth)
    if os.path.isfile(word):
        return sign * grid(word, x, y, where)
    try:
        tree = ast.parse(word.strip().lower().replace('^', '**'), mode='eval')
        return sign * (value(tree.body, {'x': x, 'y': y, 'pi': np.pi}) + np.zeros(x.shape))
    except (SyntaxError, LookupError, TypeError, ValueError, RecursionError):
        fail(f"{where}: '{word[:60]}' is no depth, no file that is there, and no formula of x and y")


def value(node, names):
    """Of a formula; LookupError where it has something else than numbers, names and functions known."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return -value(node.operand, names) if isinstance(node.op, ast.USub) else value(node.operand, names)
    if isinstance(node, ast.BinOp):
        return PAIRS[type(node.op)](value(node.left, names), value(node.right, names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if len(node.args) != (2 if node.func.id in ('min', 'max') else 1):
            raise LookupError
        return FUNCTIONS[node.func.id](*(value(part, names) for part in node.args))
    raise LookupError


def grid(path, x, y, where):
    with open(path, 'rb') as f:
        head = f.read(4)
    if head[:3] == b'CDF' or head[1:4] == b'HDF':
        with open_dataset(path) as file:
            found = [v for v in file.variables.values() if v.ndim == 2 and getattr(v.dtype, 'kind', '') in ('i', 'u', 'f')]
            if len(found) != 1:
                fail(f'{path}: has {len(found)} variables of numbers on x and y, must be one')
            v = found[0]
            for dimension in v.dimensions:
                if dimension not in file.variables or file.variables[dimension].dimensions != (dimension,):
                    fail(f'{path}: dimension {dimension} has no coordinate variable of its name: add one in m or km')
            gy, gx = (metres(file[d]) * np.asarray(file[d][:], float) for d in v.dimensions)
            z = metres(v) * np.ma.filled(v[:].astype(float), np.nan)
            if points_up(v):
                z = -z
            if {'x' if is_x_axis(file, d) else 'y' if is_y_axis(file, d) else d for d in v.dimensions} != {'x', 'y'}:
                fail(f'{path}: cannot tell x from y by the coordinates {" and ".join(v.dimensions)}: name them x and y, or give '
                     'them the attribute axis = X and Y')
            if is_x_axis(file, v.dimensions[0]):
                gx, gy, z = gy, gx, z.T
            if not all((np.diff(g) > 0).all() for g in (gx, gy)):
                fail(f'{path}: its coordinates must rise, as SplSemmod wants them: turn the grid round')
    else:
        lines = words_of(path)
        points = [[number_of(word) for word in words] for _, words in lines]
        for (n, _), point in zip(lines, points):
            if len(point) != 3 or None in point:
                fail(f'{path}, line {n}: must hold x, y and depth [m]')
        points = np.array(points, float).reshape(-1, 3)
        gx, gy = np.unique(points[:, 0]), np.unique(points[:, 1])
        z = np.full((len(gy), len(gx)), np.nan)
        z[np.searchsorted(gy, points[:, 1]), np.searchsorted(gx, points[:, 0])] = points[:, 2]
    if np.isnan(z).any() or min(z.shape) < 2:
        fail(f'{path}: must hold each point of a regular grid')
    if min(x.min() - gx[0], gx[-1] - x.max(), y.min() - gy[0], gy[-1] - y.max()) < -1e-3:
        fail(f'{where}: grid {path} ends at x = {gx[0]:g} .. {gx[-1]:g}, y = {gy[0]:g} .. {gy[-1]:g} m')
    i = np.clip(np.searchsorted(gx, x, 'right') - 1, 0, len(gx) - 2)
    j = np.clip(np.searchsorted(gy, y, 'right') - 1, 0, len(gy) - 2)
    p, q = (x - gx[i]) / (gx[i + 1] - gx[i]), (y - gy[j]) / (gy[j + 1] - gy[j])
    return (1 - q) * ((1 - p) * z[j, i] + p * z[j, i + 1]) + q * ((1 - p) * z[j + 1, i] + p * z[j + 1, i + 1])


def points_up(variable):
    """Whether its numbers are heights, as netcdf_axes.f90 tells it."""
    positive, name = (str(getattr(variable, key, '')).lower() for key in ('positive', 'standard_name'))
    return positive == 'up' or name in ('height', 'altitude')


def is_x_axis(file, dimension):
    """Whether a dimension of a grid is x, as netcdf_axes.f90 tells it."""
    variable = file.variables.get(dimension)
    axis = str(getattr(variable, 'axis', '')).lower()
    if axis in ('x', 'y'):
        return axis == 'x'
    if str(getattr(variable, 'standard_name', '')).lower() in ('projection_x_coordinate', 'distance'):
        return True
    return dimension.lower() in ('x', 'distance', 'offset', 'easting', 'inline')


def is_y_axis(file, dimension):
    """The same of y."""
    variable = file.variables.get(dimension)
    axis, name = (str(getattr(variable, key, '')).lower() for key in ('axis', 'standard_name'))
    return axis == 'y' or name == 'projection_y_coordinate' or dimension.lower() in ('y', 'northing', 'crossline')


def metres(variable):
    """Metres in the unit of a length, which is m where none is told."""
    unit = str(getattr(variable, 'units', '')).strip()
    if unit.lower() not in METRES:
        fail(f"{variable.group().filepath()}: the units of {variable.name} are '{unit}', must be m or km")
    return METRES[unit.lower()]


def media_of(path, names):
    """{layer: vp, vs, rho[, Qp, Qs]}, by its name or *."""
    table = {words[0]: words[1:] for _, words in words_of(path)}
    if 'block' in table:
        fail(f'{path}: a line of column names is not understood here: give vp vs rho and, where layers attenuate, Qp Qs')
    media = {}
    for name in names:
        media[name] = [number_of(w) for w in table.get(name, table.get('*', ()))]
        if len(media[name]) not in (3, 5) or None in media[name]:
            fail(f'{path}: layer {name} needs vp vs rho and, where it attenuates, Qp Qs')
    return media


def quality(medium):
    """Qp and Qs as SplFd3dmod takes what SplSemmod makes of a medium: fluids do not attenuate, nor does rock whose factors are left
    out or 0."""
    if medium[1] == 0:
        return 0.0, 0.0
    return medium[3:] if len(medium) == 5 and max(medium[3:]) > 0 else (NO_LOSS, NO_LOSS)


def cells(table, materials, x, y, z):
    """{name: values (nz, ny, nx)} at the middles of cells; 0 is air. An upper surface cuts those below; a floor above its water is
    land."""
    lines = words_of(table)
    if any(len(words) < 2 for _, words in lines):
        fail(f'{table}: a line is the name of a layer and its upper side')
    names = [words[0] for _, words in lines]
    media = media_of(materials, names)
    yy, xx = np.meshgrid(y, x, indexing='ij')
    tops = [surface(words[1], xx, yy, f'{table}, line {n}') for n, words in lines]
    fluid = [media[name][1] == 0 for name in names]
    for k in range(1, len(tops)):
        if all(fluid[:k]) and not fluid[k]:
            tops[:k] = [np.minimum(top, tops[k]) for top in tops[:k]]
        else:
            tops[k] = np.maximum(tops[k], tops[k - 1])
    media = {name: (*m[:3], *quality(m)) for name, m in media.items()}
    attenuates = any(0 < m[4] < NO_LOSS for m in media.values())
    values = np.zeros((5 if attenuates else 3, len(z), len(y), len(x)), np.float32)
    for name, top in zip(names, tops):
        values[:, z[:, None, None] > top] = np.array(media[name][:len(values)])[:, None]
    return dict(zip(COLUMNS, values))


def write(a):
    ends = (a.x, a.y, a.z)
    n = [int(round((high - low) / a.spacing)) for low, high in ends]
    if min(n) < 1 or np.prod(n, dtype=float) > 2e8:
        fail(f'the volumes would have {n[0]} x {n[1]} x {n[2]} cells, must be 1 .. 2e8 in all: check sides and --spacing')
    check_output(a.output, a.overwrite)
    for axis, (low, high), m in zip('xyz', ends, n):
        if abs(low + a.spacing * m - high) > 1e-6 * a.spacing:
            warn(f'--{axis} {low:g} {high:g} is no whole number of cells of {a.spacing:g} m: the volumes end at '
                 f'{low + a.spacing * m:g} m')
    x, y, z = (low + a.spacing * (np.arange(m) + 0.5) for (low, _), m in zip(ends, n))
    model = cells(a.table, a.materials, x, y, z)
    with new_dataset(a.output, a.overwrite, format='NETCDF3_64BIT_DATA') as file:
        file.Conventions = 'CF-1.8'
        file.title = f'Layers of {a.table}; samples are centres of cells; 0 is air'
        file.history = f'{datetime.date.today()} spl-model layers {a.table} --materials {a.materials} --spacing {a.spacing:g}'
        for name, values in (('z', z), ('y', y), ('x', x)):
            file.createDimension(name, len(values))
            axis = file.createVariable(name, 'f8', (name,))
            axis.units, axis.axis = 'm', name.upper()
            if name == 'z':
                axis.positive = 'down'
            axis[:] = values
        for name, values in model.items():
            variable = file.createVariable(name, 'f4', ('z', 'y', 'x'))
            variable[:] = values
            if name in ('vp', 'vs', 'rho'):
                variable.units = 'kg/m3' if name == 'rho' else 'm/s'
    say(f'grid: {n[0]} x {n[1]} x {n[2]} (x, y, z), spacing {a.spacing:g} m, {", ".join(model)}')
    say(f'written: {a.output}')
    return 0
