"""spl-model segy3d: volumes in SEG-Y. The numbers of inline and crossline tell where in the grid a trace belongs, in whatever order
they stand; coordinates, where there are any, tell spacings and where x and y point."""
import numpy as np

from spltools.cli import fail
from spltools.earth import arrayfiles, segy_section
from spltools.geometry import segy_layout

FIELDS = {'inline': (189, 4), 'crossline': (193, 4), 'x': (181, 4), 'y': (185, 4), 'scalco': (71, 2), 'units': (89, 2)}
SKEW = 1e-3         # cosine of the angle between inlines and crosslines, at most
ROUNDED = 1.5       # steps of whole numbers in headers that a position may be off its grid, at most; and
UNEVEN = 0.01       # of a spacing


def options(verbs, output_options):
    verb = verbs.add_parser(
        'segy3d', help='from a SEG-Y volume in depth',
        description='Volume from a trace a column, placed by the numbers of inline (bytes 189-192) and crossline (193-196); '
        'spacings, origin and direction by CDP coordinates (181-188). Inlines and crosslines along east and north: x is easting, '
        'y northing, as with spl-keymap --azimuth none; else x points along one of them and y to its right.')
    verb.add_argument('file', metavar='FILE')
    verb.add_argument('--byte', action='append', default=[], metavar='FIELD=POS[:LEN]',
                      help='other byte position of a field, e.g. inline=9; fields: ' + ', '.join(FIELDS))
    across = dict.fromkeys('xy', ' (default: by coordinates)')
    arrayfiles.grid_options(verb, dict(across, z=', which SEG-Y does not say'), dict.fromkeys('xy', 'by coordinates') | {'z': '0'})
    arrayfiles.lengths_option(verb)
    arrayfiles.sample_options(verb)
    output_options(verb)
    verb.set_defaults(action=_volume)


def places(path, layout, fields):
    """Row of each trace among inlines, and among crosslines; numbers of the first ones and their steps."""
    found = []
    for name in ('inline', 'crossline'):
        numbers = segy_layout.column(path, layout, name, fields)
        first = int(numbers.min())
        step = int(np.gcd.reduce(numbers - first))
        found.append((np.zeros_like(numbers) if step == 0 else (numbers - first) // step, first, step))
    return found


def is_volume(path, layout):
    """Whether traces of a file are those of a volume: more of them than a line through its grid has."""
    rows, columns = (row for row, _, _ in places(path, layout, FIELDS))
    return rows.max() > 0 and columns.max() > 0 and layout.traces > 2 * (rows.max() + columns.max() + 1)


def _volume(a):
    path = a.file
    layout = segy_layout.segy_layout(path)
    fields = dict(FIELDS, **{name: place for name, *place in (segy_layout.position(text, FIELDS) for text in a.byte)})
    (i, inline, step_i), (j, crossline, step_j) = places(path, layout, fields)
    n_i, n_j = int(i.max()) + 1, int(j.max()) + 1
    notes = [f'{layout.traces} traces of {layout.ns} samples', *layout.notes,
             f'inlines {inline} .. {inline + (n_i - 1) * step_i}, crosslines {crossline} .. {crossline + (n_j - 1) * step_j}']
    if n_i < 2 or n_j < 2:
        fail(f'{path}: {notes[-1]} are no volume: name the bytes of their numbers with --byte inline=9 --byte crossline=21, for '
             'instance; a section is read by spl-model segy')
    _check_complete(path, i * n_j + j, (n_i, n_j), lambda row, column: f'inline {inline + row * step_i}, crossline '
                    f'{crossline + column * step_j}')
    values = np.empty((n_i, n_j, layout.ns), np.float32)
    segy_section.warn_of_headers(path, layout, a)
    values[i, j] = segy_section.samples(path, layout)
    values, first, step = _laid(path, layout, fields, (i, j), values, a.lengths, notes)
    unknown = [axis for axis in 'xy' if axis not in step and getattr(a, 'd' + axis) is None]
    if unknown:
        fail(f'{path} does not say its spacing along {unknown[0]} ({notes[-1]}): give --d{unknown[0]}')
    a.axes = 'yxz'
    return arrayfiles.finish(a, values, first, step, arrayfiles.LENGTHS[a.lengths], notes)


def _check_complete(path, cells, shape, named):
    """Fails where a place of the grid has no trace, or several."""
    places_taken = np.unique(cells)
    total = shape[0] * shape[1]
    more, missing = len(cells) - len(places_taken), total - len(places_taken)
    if more:
        found = np.sort(cells)
        first, what = found[1:][np.diff(found) == 0][0], f'{more} traces stand at places of others'
        advice = 'keep one of each'
    elif missing:
        odd = np.flatnonzero(places_taken != np.arange(len(places_taken)))
        first = odd[0] if len(odd) else len(places_taken)
        what = f'{missing} of the {shape[0]} x {shape[1]} traces of the volume are missing'
        advice = 'fill them'
    else:
        return
    fail(f'{path}: {what}, the first at {named(*divmod(int(first), shape[1]))}: {advice}')


def _laid(path, layout, fields, index, values, lengths, notes):
    """Values [y, x, z], first samples and steps {axis: [m]} (those that are known), by the coordinates of the traces."""
    metre = segy_layout.metre(layout, lengths)
    scalars = segy_layout.column(path, layout, 'scalco', fields)
    e, n = (segy_layout.scaled(segy_layout.column(path, layout, name, fields), scalars) * metre for name in 'xy')
    if not np.ptp(e) and not np.ptp(n):
        notes.append('coordinates in the trace headers are empty or all the same: x runs with crosslines, y with inlines')
        return values, {}, {}
    largest = max(np.abs(e).max(), np.abs(n).max()) / metre
    no_lengths, what = segy_layout.angles(segy_layout.column(path, layout, 'units', fields), largest)
    if no_lengths:
        notes.append(f'coordinates in the trace headers are {what}: not used; x runs with crosslines, y with inlines')
        return values, {}, {}
    if what:
        notes.append(f'coordinates are called {what}, but reach {largest:g}: taken as lengths')
    whole = metre * float(segy_layout.scaled(np.ones(len(scalars)), scalars).max())
    origin, along_i, along_j = _fitted(path, index, e, n, whole)
    feet = segy_layout.feet_words(layout, largest, '--lengths', lengths)
    slack = [max(ROUNDED * whole, UNEVEN * np.hypot(*step)) / (count - 1) for step, count in zip((along_i, along_j), values.shape)]
    for x, y in ((0, 1), (1, 0)):       # crosslines run east or west and inlines north or south; or the other way round
        if abs(along_j[y]) <= slack[1] and abs(along_i[x]) <= slack[0]:
            return _in_map(values, origin, along_i, along_j, x, notes, feet)
    if along_j[1] * along_i[0] - along_j[0] * along_i[1] > 0:        # inlines follow each other to the right of crosslines
        step_x, step_y, runs = along_j, along_i, 'crosslines'
    else:
        step_x, step_y, runs = along_i, along_j, 'inlines'
        values = values.transpose(1, 0, 2)
    azimuth = np.degrees(np.arctan2(*step_x)) % 360
    notes.append(f'x runs with the numbers of {runs}, along {azimuth:.4f} degrees from the first trace{feet}, y to its right:'
                 f' give spl-keymap --azimuth {azimuth:.4f} --origin {origin[0]:.2f} {origin[1]:.2f} for shots and receivers')
    return values, {'x': 0.0, 'y': 0.0}, {'x': float(np.hypot(*step_x)), 'y': float(np.hypot(*step_y))}


def _fitted(path, index, e, n, whole):
    """Easting and northing of the first place of the grid, and their steps from inline to inline and crossline to crossline."""
    matrix = np.column_stack([np.ones(len(e)), *index]).astype(float)
    (e0, n0), along_i, along_j = np.linalg.lstsq(matrix, np.column_stack([e, n]), rcond=None)[0]
    off = np.hypot(*(np.column_stack([e, n]) - matrix @ np.array([(e0, n0), along_i, along_j])).T)
    steps = np.hypot(*along_i), np.hypot(*along_j)
    worst, limit = int(off.argmax()), max(ROUNDED * whole, UNEVEN * min(steps))
    if min(steps) < 2 * whole or off[worst] > limit:
        fail(f'{path}: coordinates of inlines and crosslines are not regular, trace {worst + 1} is {off[worst]:.3g} m off (at most '
             f'{limit:.3g}): give --byte x= y= where coordinates stand elsewhere, or bring the model to a regular grid first')
    if abs(along_i @ along_j) > SKEW * steps[0] * steps[1]:
        angle = np.degrees(np.arccos(along_i @ along_j / (steps[0] * steps[1])))
        fail(f'{path}: inlines and crosslines cross at {angle:.2f} degrees: bring the model to a grid of right angles first')
    return (e0, n0), along_i, along_j


def _in_map(values, origin, along_i, along_j, which, notes, feet):
    """The same where one of the two runs east or west, the other north or south: x is easting, y northing."""
    step = {'x': along_j[0], 'y': along_i[1]}
    if which:
        values, step = values.transpose(1, 0, 2), {'x': along_i[0], 'y': along_j[1]}
    count = {'x': values.shape[1], 'y': values.shape[0]}
    first = {axis: float(at + min(0.0, step[axis] * (count[axis] - 1))) for axis, at in zip('xy', origin)}
    values = values[:: -1 if step['y'] < 0 else 1, :: -1 if step['x'] < 0 else 1]
    runs = 'inlines' if which else 'crosslines'
    notes.append(f'x is easting and runs with {runs}, y is northing{feet}: give spl-keymap --azimuth none')
    return values, first, {axis: abs(float(value)) for axis, value in step.items()}
