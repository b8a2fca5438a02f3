"""spl-model: models as NetCDF: from SEG-Y, SU, raw, NumPy, HDF5 and RSF files, a demo; info."""

import datetime
import os

import numpy as np

from spltools.cli import Parser, fail, number, say, warn
from spltools.earth import arrayfiles, basin, layer_cells, segy_section, segy_volume
from spltools.earth.modelfile import of_numbers
from spltools.earth.modelgrid import LENGTHS, SECTIONS, UNITS, VARIABLES, check_axis, checked, grid_text, range_text, write_grid
from spltools.earth.rawmodel import SPACING, raw_options, read_raw
from spltools.geometry import segy_layout
from spltools.netcdf import open_dataset

ABOUT = """Makes and shows model files: NetCDF with vp [m/s] and rho [kg/m3] on the coordinates z, x [m].

  spl-model segy VP.segy --variable vp --unit m/s --dz 5 -o vp.nc        depth section in SEG-Y (or SU: *.su)
  spl-model segy3d VS.sgy --variable vs --unit m/s --dz 5 -o vs.nc       volume in SEG-Y, by inline and crossline
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

DIFFER = 0.01   # a spacing that is given may differ so much from that of the headers untold
VELOCITIES_AND_DENSITIES = tuple(u for u in UNITS if UNITS[u][0] in {VARIABLES[v][2] for v in SECTIONS})


def main(arguments):
    parser = Parser(prog='spl-model', description=ABOUT)
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', parser_class=Parser)
    _segy_options(verbs)
    segy_volume.options(verbs, _output_options)
    _raw_options(verbs)
    arrayfiles.options(verbs, _output_options)
    _demo_options(verbs)
    basin.options(verbs, _output_options)
    layer_cells.options(verbs, _output_options)
    verb = verbs.add_parser('info', help='what a model file holds',
                            description='Prints grid, units and ranges of a NetCDF model.')
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
    verb.add_argument('--z0', type=number(-1e6, 1e6, 'm'), metavar='M', help='depth of the first sample; default 0')
    arrayfiles.lengths_option(verb)
    _output_options(verb)


def _output_options(verb):
    verb.add_argument('-o', '--output', metavar='FILE', required=True, help='NetCDF file to write')
    verb.add_argument('--overwrite', action='store_true', help='replace a file that exists')


def _segy_options(verbs):
    verb = verbs.add_parser('segy', aliases=['su'], help='from a SEG-Y or SU depth section',
                            description='Model from a depth section, a trace a column. Files named *.su are SU, others SEG-Y.')
    segy_layout.file_options(verb)
    verb.add_argument('--dx', type=SPACING, metavar='M',
                      help='trace spacing; default: by CDP (else source) coordinates, or d2 of SU')
    verb.add_argument('--dz', type=SPACING, metavar='M',
                      help='sample spacing; default: d1 of SU; SEG-Y holds none (its dt is a time)')
    _common_options(verb)
    verb.set_defaults(action=_segy)


def _raw_options(verbs):
    verb = verbs.add_parser('raw', help='from a raw binary file',
                            description='Model from plain numbers without a header.')
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
    verb.add_argument('--length', type=number(500.0, 1e6, 'm'), default=6000.0, metavar='M',
                      help='along x, default 6000')
    verb.add_argument('--depth', type=number(200.0, 1e5, 'm'), default=2400.0, metavar='M',
                      help='along z, default 2400')
    verb.add_argument('--spacing', type=number(0.1, 1000.0, 'm'), default=10.0, metavar='M',
                      help='of the grid, default 10')
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
    su = segy_layout.is_su(path, 'su' if options.verb == 'su' else options.format)
    layout = segy_layout.su_layout(path, options.endian) if su else segy_layout.segy_layout(path)
    notes = [f'{layout.traces} traces of {layout.ns} samples'] + list(layout.notes)
    if layout.traces < 2 or layout.ns < 2:
        fail(
            f'{path}: {layout.traces} traces of {layout.ns} samples are no section: 2 of each are needed at'
            ' least'
        )
    dx, x0, dz, z0, falls = (segy_section.su_axes(path, layout, notes) if su
                             else segy_section.segy_axes(path, layout, notes, options))
    if options.dz is None and dz is None:
        fail(
            f'{path} does not say its depth spacing: give --dz'
            + ('' if su else ' (the sample interval of SEG-Y is a time)')
        )
    if not su and segy_volume.is_volume(path, layout):
        fail(f'{path} is a volume of inlines and crosslines: spl-model segy3d reads it')
    if options.dx is None and dx is None:
        fail(f'{path} does not say its trace spacing ({notes[-1]}): give --dx, that of the traces as they stand in the file')
    if options.dx is not None and dx is not None and abs(options.dx - dx) > DIFFER * dx:
        warn(f'{path}: traces are {dx:g} m apart by their headers, and {options.dx:g} m by --dx, which is used')
    segy_section.warn_of_headers(path, layout, options)
    values = segy_section.samples(path, layout).T
    if falls and options.x0 is None:  # --x0 is the x of the first trace
        values = values[:, ::-1]
    x0 = x0 if options.x0 is None else options.x0
    z0 = z0 if options.z0 is None else options.z0
    return _finish(options, values, options.dx or dx, options.dz or dz, x0 or 0.0, z0 or 0.0, notes)


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
                + (', '.join(file.variables) or 'none' + ' outside of groups' * bool(file.groups))
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
    x, z = np.meshgrid(np.arange(nx) * spacing / length,
                       np.arange(nz) * spacing)  # x in parts of the length, z in metres
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
