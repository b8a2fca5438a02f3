"""spl-model: models as NetCDF: from SEG-Y, SU, raw, NumPy, HDF5 and RSF files, a demo; info."""

import datetime
import os

import numpy as np

from spltools.cli import Parser, fail, number, say, warn
from spltools.earth import arrayfiles, basin, layer_cells
from spltools.earth.modelfile import of_numbers
from spltools.earth.modelgrid import LENGTHS, SECTIONS, UNITS, VARIABLES, check_axis, checked, grid_text, range_text, write_grid
from spltools.earth.rawmodel import SPACING, raw_options, read_raw
from spltools.geometry import segy_geometry
from spltools.netcdf import open_dataset

ABOUT = """Makes and shows model files: NetCDF with vp [m/s] and rho [kg/m3] on the coordinates z, x [m].

  spl-model segy VP.segy --variable vp --unit m/s --dz 5 -o vp.nc        depth section in SEG-Y (or SU: *.su)
  spl-model raw VP.bin --nx 500 --nz 174 --dx 20 --dz 20 \\
                --variable vp --unit m/s -o vp.nc                         plain float32 or float64
  spl-model npy VP.npy --axes xz --dx 10 --dz 10 --variable vp --unit km/s -o vp.nc         NumPy, as Devito has it
  spl-model hdf5 MODEL.h5 --dataset vs --axes zyx --dx 82 --dy 82 --dz 41 --lengths ft \\
                --variable vs --unit ft/s -o vs.nc                        HDF5, here a volume in feet
  spl-model rsf VP.rsf --variable vp --unit km/s -o vp.nc                 RSF of Madagascar
  spl-model demo -o demo.nc                                               a marine model with salt, vp and rho
  spl-model basin -o basin.nc                                             a 3D basin beside a hill, vp, vs, rho, Q
  spl-model layers LAKE.layers --materials LAKE.materials --x 0 9e3 \\
                   --y 0 8e3 --z -400 4e3 --spacing 50 -o lake.nc         what SplSemmod meshes, as cells
  spl-model info FILE.nc                                                  grid, units and ranges

Units and spacings are never guessed: what the file does not say must be given, and what was taken is told."""

VELOCITIES_AND_DENSITIES = tuple(u for u in UNITS if UNITS[u][0] in {VARIABLES[v][2] for v in SECTIONS})


def main(arguments):
    parser = Parser(prog='spl-model', description=ABOUT)
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', parser_class=Parser)
    _segy_options(verbs)
    _raw_options(verbs)
    arrayfiles.options(verbs, _output_options)
    _demo_options(verbs)
    basin.options(verbs, _output_options)
    layer_cells.options(verbs, _output_options)
    verb = verbs.add_parser(
        'info', help='what a model file holds', description='Prints grid, units and ranges of a NetCDF model.'
    )
    verb.add_argument('file', metavar='FILE')
    verb.set_defaults(action=_info)
    options = parser.parse_args(arguments)
    if not options.verb:
        parser.print_help()
        return 0
    return options.action(options)


# --- options ------------------------------------------------------------------------------------------------


def _common_options(verb):
    verb.add_argument('--variable', choices=SECTIONS, required=True, help='what the samples are')
    verb.add_argument('--unit', choices=VELOCITIES_AND_DENSITIES, required=True, help='unit of the samples')
    verb.add_argument('--x0', type=number(-1e8, 1e8, 'm'), metavar='M', help='x of the first trace or column')
    verb.add_argument(
        '--z0', type=number(-1e6, 1e6, 'm'), metavar='M', help='depth of the first sample; default 0'
    )
    arrayfiles.lengths_option(verb)
    _output_options(verb)


def _output_options(verb):
    verb.add_argument('-o', '--output', metavar='FILE', required=True, help='NetCDF file to write')
    verb.add_argument('--overwrite', action='store_true', help='replace a file that exists')


def _segy_options(verbs):
    verb = verbs.add_parser(
        'segy',
        aliases=['su'],
        help='from a SEG-Y or SU depth section',
        description='Model from a depth section, a trace a column. Files named *.su are SU, others SEG-Y.',
    )
    segy_geometry.file_options(verb)
    verb.add_argument(
        '--dx',
        type=SPACING,
        metavar='M',
        help='trace spacing; default: by CDP (else source) coordinates, or d2 of SU',
    )
    verb.add_argument(
        '--dz',
        type=SPACING,
        metavar='M',
        help='sample spacing; default: d1 of SU; SEG-Y holds none (its dt is a time)',
    )
    _common_options(verb)
    verb.set_defaults(action=_segy)


def _raw_options(verbs):
    verb = verbs.add_parser(
        'raw', help='from a raw binary file', description='Model from plain numbers without a header.'
    )
    verb.add_argument('file', metavar='FILE')
    raw_options(verb, required=True)
    _common_options(verb)
    verb.set_defaults(action=_raw)


def _demo_options(verbs):
    verb = verbs.add_parser(
        'demo',
        help='a marine model with faulted layers and salt',
        description=(
            'Writes a marine model: water, '
            'undulating sea floor, dipping faulted layers, a salt body; vp and rho independent of each other.'
        ),
    )
    verb.add_argument(
        '--length', type=number(500.0, 1e6, 'm'), default=6000.0, metavar='M', help='along x, default 6000'
    )
    verb.add_argument(
        '--depth', type=number(200.0, 1e5, 'm'), default=2400.0, metavar='M', help='along z, default 2400'
    )
    verb.add_argument(
        '--spacing', type=number(0.1, 1000.0, 'm'), default=10.0, metavar='M', help='of the grid, default 10'
    )
    _output_options(verb)
    verb.set_defaults(action=_demo)


# --- verbs --------------------------------------------------------------------------------------------------


def _in_metres(options):
    """What was given in the unit of --lengths."""
    for name in ('dx', 'dz', 'x0', 'z0'):
        if getattr(options, name) is not None:
            setattr(options, name, getattr(options, name) * LENGTHS[options.lengths])


def _segy(options):
    _in_metres(options)
    path = options.file
    su = segy_geometry.is_su(path, 'su' if options.verb == 'su' else options.format)
    layout = segy_geometry.su_layout(path, options.endian) if su else segy_geometry.segy_layout(path)
    notes = [f'{layout.traces} traces of {layout.ns} samples'] + list(layout.notes)
    if layout.traces < 2 or layout.ns < 2:
        fail(
            f'{path}: {layout.traces} traces of {layout.ns} samples are no section: 2 of each are needed at'
            ' least'
        )
    dx, x0, dz, z0, falls = _su_axes(path, layout, notes) if su else _segy_axes(path, layout, notes)
    if options.dz is None and dz is None:
        fail(
            f'{path} does not say its depth spacing: give --dz'
            + ('' if su else ' (the sample interval of SEG-Y is a time)')
        )
    if options.dx is None and dx is None:
        fail(f'{path} does not say its trace spacing ({notes[-1]}): give --dx, that of the traces as they stand in the file')
    _warn_of_delay(path, layout, options)
    values = samples(path, layout).T
    if falls and options.x0 is None:  # --x0 is the x of the first trace
        values = values[:, ::-1]
    x0 = x0 if options.x0 is None else options.x0
    z0 = z0 if options.z0 is None else options.z0
    return _finish(options, values, options.dx or dx, options.dz or dz, x0 or 0.0, z0 or 0.0, notes)


def _warn_of_delay(path, layout, options):
    """Some programs write the depth of the first sample where SEG-Y has a delay."""
    delay = segy_geometry.column(path, layout, 'delay', {'delay': (109, 2)})
    if delay.any() and options.z0 is None:
        warn(
            f'{path}: the trace headers have delays of {delay.min()} .. {delay.max()} (bytes 109-110), which are not'
            ' used: if the section begins at a depth give it with --z0'
        )


def _su_axes(path, layout, notes):
    """dx, x0, dz, z0 by the header words d2, f2, d1, f1 of SU (None where they are empty); x never falls."""
    raw = segy_geometry.headers(path, layout)[0]
    d1, f1, d2, f2 = (float(v) for v in np.frombuffer(raw[180:196].tobytes(), dtype=layout.order + 'f4'))
    if not all(np.isfinite(v) and abs(v) < 1e6 for v in (d1, f1, d2, f2)):
        notes.append('d1, f1, d2, f2 of the trace headers are no sensible numbers: not used')
        return None, None, None, None, False
    notes.append(f'trace headers: d1 = {d1:g}, f1 = {f1:g}, d2 = {d2:g}, f2 = {f2:g}')
    return d2 if d2 > 0 else None, f2 if d2 > 0 else None, d1 if d1 > 0 else None, f1 if d1 > 0 else None, False


def _segy_axes(path, layout, notes):
    """dx, x0 by the coordinates of the traces, if they lie on a regular line, and whether x falls; depths are not in SEG-Y."""
    fields = dict(segy_geometry.FIELDS, cx=(181, 4), cy=(185, 4))
    scalars = segy_geometry.column(path, layout, 'scalco', fields)
    metre = segy_geometry.FOOT if layout.feet else 1.0
    whole = metre * float(segy_geometry.scaled(np.ones(len(scalars)), scalars).max())  # coordinates are whole numbers of this
    for name, x, y in (('CDP', 'cx', 'cy'), ('source', 'sx', 'sy'), ('group', 'gx', 'gy')):
        e, n = (
            segy_geometry.scaled(segy_geometry.column(path, layout, f, fields), scalars) * metre
            for f in (x, y)
        )
        steps = np.hypot(np.diff(e), np.diff(n))
        length, away = float(steps.sum()), np.hypot(e[-1] - e[0], n[-1] - n[0])
        step = float(away) / len(steps)
        if step > 0 and np.abs(steps - step).max() <= max(0.01 * step, min(1.5 * whole, 0.2 * step)):
            if abs(away - length) <= 0.01 * length:
                return _line_axes(name, e, n, step, ' (feet converted)' if layout.feet else '', notes)
    notes.append(_irregular(path, layout, fields))
    return None, None, None, None, False


def _irregular(path, layout, fields):
    """Why the coordinates of the traces are of no use."""
    e, n = (segy_geometry.column(path, layout, f, fields).astype(float) for f in ('cx', 'cy'))
    if not np.ptp(e) and not np.ptp(n):
        return 'coordinates in the trace headers are empty or all the same: not used'
    along = (e - e[0]) * (e[-1] - e[0]) + (n - n[0]) * (n[-1] - n[0])
    if (np.diff(along) < 0).any():
        return 'by their CDP coordinates the traces go back and forth: sort them first'
    return 'CDP coordinates in the trace headers are not regular: not used'


def _line_axes(name, e, n, step, feet, notes):
    """The same for one kind of coordinates, eastings and northings [m]. Along x they are x, as spl-keymap takes them."""
    told = f'{name} coordinates: traces {step:g} m apart'
    if np.ptp(n) > 0:
        azimuth = np.degrees(np.arctan2(e[-1] - e[0], n[-1] - n[0])) % 360
        notes.append(
            f'{told}, along {azimuth:.3f} degrees from the first one{feet}, which is x = 0: give spl-keymap --azimuth'
            f' {azimuth:.3f} --origin {e[0]:.2f} {n[0]:.2f} for shots and receivers in this x'
        )
        return step, 0.0, None, None, False
    falls = bool(e[-1] < e[0])
    first = float(min(e[0], e[-1]))
    turned = ': x falls along the file, so they are turned round (not with --x0)' if falls else ''
    notes.append(f'{told}, the first at x = {first:g} m{feet}{turned}')
    return step, first, None, None, falls


def samples(path, layout):
    """Samples of all traces as float32, (traces, samples)."""
    stride = 240 + layout.ns * layout.sample
    mapped = np.memmap(path, dtype=np.uint8, mode='r', offset=layout.start, shape=(layout.traces, stride))
    raw = np.ascontiguousarray(mapped[:, 240:])
    kind = {1: 'u4', 2: 'i4', 3: 'i2', 5: 'f4', 6: 'f8', 8: 'i1'}[layout.code]
    values = raw.view(layout.order + kind)
    with np.errstate(over='ignore', invalid='ignore'):  # what float32 cannot hold becomes infinite, and is refused
        return _from_ibm(values) if layout.code == 1 else values.astype(np.float32)


def _from_ibm(words):
    """IBM hexadecimal floats: sign, exponent of 16 with excess 64, 24-bit fraction."""
    words = words.astype(np.uint32)
    fraction = (words & 0x00FFFFFF).astype(np.float64) / 2.0**24
    exponent = ((words >> 24) & 0x7F).astype(np.int32) - 64
    return (np.where(words >> 31, -1.0, 1.0) * np.ldexp(fraction, 4 * exponent)).astype(np.float32)


def _raw(options):
    _in_metres(options)
    values = read_raw(options.file, options)
    return _finish(options, values, options.dx, options.dz, options.x0 or 0.0, options.z0 or 0.0, [])


def _finish(options, values, dx, dz, x0, z0, notes):
    """Checks, converts and writes one variable, and tells what was done."""
    first, step = {'x': x0, 'z': z0}, {'x': dx, 'z': dz}
    for axis in 'xz':
        check_axis(options.file, axis, first[axis], step[axis])
    values = checked(options.file, values, options.variable, options.unit)
    history = f'{datetime.date.today()} spl-model {options.verb} {os.path.basename(options.file)}'
    write_grid(options.output, {options.variable: values}, first, step, history, options.overwrite)
    for note in notes:
        say(note)
    say(grid_text(values.shape, first, step))
    say(range_text(options.variable, values, f' (from {options.unit})' if UNITS[options.unit][1] != 1.0 else ''))
    say(f'written: {options.output}')
    return 0


def _info(options):
    with open_dataset(options.file) as file, np.errstate(all='ignore'):      # it tells what it finds, infinite values too
        names = [n for n, v in file.variables.items() if v.ndim in (2, 3) and of_numbers(v) and v.size]
        if not names:
            fail(
                f'{options.file} has no variable of numbers in two or three dimensions; it has '
                + (', '.join(file.variables) or 'none at all')
            )
        say(f'{options.file}: {getattr(file, "title", "no title")}')
        for dimension in file.variables[names[0]].dimensions:
            say('  ' + _axis_text(file, dimension))
        for name in names:
            values = np.ma.filled(file.variables[name][:].astype(float), np.nan)
            if np.isnan(values).all():
                say(f'  {name} ({", ".join(file.variables[name].dimensions)}): all {values.size} missing!')
                continue
            unit = getattr(file.variables[name], 'units', 'no unit!')
            say(
                f'  {name} ({", ".join(file.variables[name].dimensions)}): {np.nanmin(values):g} ..'
                f' {np.nanmax(values):g} {unit}, mean {np.nanmean(values):g}'
                + (f'; {np.isnan(values).sum()} missing!' if np.isnan(values).any() else '')
            )
    return 0


def _axis_text(file, name):
    n = len(file.dimensions[name])
    if name not in file.variables:
        return f'{name}: {n} nodes, no coordinates!'
    if file.variables[name].dimensions != (name,) or not of_numbers(file.variables[name]):
        return f'{name}: {n} nodes, coordinates that are no numbers along it!'
    values = np.asarray(file.variables[name][:], dtype=float)
    unit = getattr(file.variables[name], 'units', 'no unit!')
    steps = np.diff(values)
    regular = n > 1 and np.abs(steps - steps.mean()).max() <= 1e-3 * abs(steps.mean())
    return f'{name}: {n} nodes, {values[0]:g} .. {values[-1]:g} {unit}, ' + (
        f'spacing {steps.mean():g}' if regular else 'NOT regular!'
    )


# --- the demo model -----------------------------------------------------------------------------------------

WATER = (1480.0, 1020.0)
SALT = (4500.0, 2160.0)  # lighter than the sediments around it, though much faster
LAYERS = (  # thickness in parts of the depth, vp and rho at its top, gradient of vp with depth [1/s]
    (0.06, 1650.0, 1950.0, 0.60),
    (0.09, 1900.0, 2230.0, 0.50),
    (0.05, 2250.0, 2180.0, 0.30),  # faster, but lighter than above: porous sand
    (0.10, 2200.0, 2310.0, 0.50),
    (0.08, 2750.0, 2260.0, 0.30),
    (0.12, 2600.0, 2420.0, 0.45),  # slower, but heavier
    (0.10, 3300.0, 2360.0, 0.30),
    (0.12, 3150.0, 2500.0, 0.30),
    (9.99, 4100.0, 2620.0, 0.15),
)
FAULTS = (
    (0.27, 0.30, 0.045),
    (0.43, -0.25, 0.030),
)  # x at the surface (of the length), slope dx/dz, throw (of the depth)


def demo_model(length, depth, spacing):
    """vp and rho, (nz, nx), of the demo model."""
    nx, nz = int(round(length / spacing)) + 1, int(round(depth / spacing)) + 1
    x, z = np.meshgrid(
        np.arange(nx) * spacing / length, np.arange(nz) * spacing
    )  # x in parts of the length, z in metres
    floor = depth * (
        0.135 + 0.035 * x + 0.010 * np.sin(2 * np.pi * 2.3 * x) + 0.004 * np.sin(2 * np.pi * 7.1 * x + 1.0)
    )
    level = (
        z
        - floor
        - depth
        * (0.10 * (x - 0.5) + 0.018 * np.sin(2 * np.pi * 1.3 * x + 0.7))
        * np.clip((z - floor) / (0.3 * depth), 0, 1)
    )
    for start, slope, throw in FAULTS:
        beyond = x > start + slope * z / length
        fade = np.clip((z - floor) / (0.12 * depth), 0, 1)  # growth faults: no step at the sea floor
        level = level - np.where(beyond, throw * depth * fade, 0.0) * (1 if slope > 0 else -1)
    vp, rho = np.empty(z.shape), np.empty(z.shape)
    top = 0.0
    for thickness, v, r, gradient in LAYERS:
        inside = level >= top
        vp[inside] = v + gradient * (level[inside] - top)
        rho[inside] = r + 0.04 * (level[inside] - top)
        top += thickness * depth
    young = level < 0
    vp[young], rho[young] = LAYERS[0][1], LAYERS[0][2]
    salt = salt_body(x, z / depth)
    vp[salt], rho[salt] = SALT
    water = z < floor
    vp[water], rho[water] = WATER
    return vp.astype(np.float32), rho.astype(np.float32)


def salt_body(x, z):
    """True in salt: a rugged pillow on a stem that leans. x and z in parts of the length and depth."""
    angle = np.arctan2((z - 0.46) / 0.13, (x - 0.66) / 0.125)
    edge = 1.0 + 0.10 * np.sin(3 * angle + 0.4) + 0.05 * np.sin(7 * angle)
    pillow = ((x - 0.66) / 0.125) ** 2 + ((z - 0.46) / 0.13) ** 2 < edge**2
    width = 0.028 + 0.06 * np.clip(z - 0.55, 0, 1) ** 1.5
    stem = (np.abs(x - 0.68 - 0.10 * (z - 0.5)) < width) & (z > 0.5)
    return pillow | stem


def _demo(options):
    cells = (options.length / options.spacing + 1) * (options.depth / options.spacing + 1)
    if cells > 2e8:
        fail(f'the demo model would have {cells:.3g} samples, more than 2e8: take a larger --spacing')
    if options.spacing > options.depth / 40:
        warn(
            f'spacing {options.spacing:g} m is coarse for a depth of {options.depth:g} m: thin layers will be'
            ' lost'
        )
    vp, rho = demo_model(options.length, options.depth, options.spacing)
    history = (
        f'{datetime.date.today()} spl-model demo --length {options.length:g} --depth {options.depth:g}'
        f' --spacing {options.spacing:g}'
    )
    spacing = {'x': options.spacing, 'z': options.spacing}
    write_grid(options.output, {'vp': vp, 'rho': rho}, {'x': 0.0, 'z': 0.0}, spacing, history, options.overwrite)
    say(f'grid: {vp.shape[1]} x {vp.shape[0]} (x, z), spacing {options.spacing:g} m')
    say(range_text('vp', vp))
    say(range_text('rho', rho))
    say(f'written: {options.output}')
    return 0
