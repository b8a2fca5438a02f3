"""spl-model npy, hdf5, rsf: sections and volumes as programs of arrays keep them: NumPy, HDF5, and RSF of Madagascar."""
import datetime
import os
import re
import sys
import tokenize

import numpy as np

from spltools.cli import check_input, fail, number, say
from spltools.earth.modelgrid import (AXES, LENGTHS, UNITS, VARIABLES, check_axis, checked, grid_text, on_grid, range_text,
                                      write_grid)

SPACING_GIVEN = number(1e-9, 1e9, above=True)
PLACE_GIVEN = number(-1e10, 1e10)
# RSF: texts of unit1 .., bytes of a sample, and what parts a header from data in the same file
RSF_UNITS = {'m': 'm', 'meter': 'm', 'meters': 'm', 'metre': 'm', 'metres': 'm', 'km': 'km', 'ft': 'ft', 'feet': 'ft', 'kft': 'kft'}
RSF_TYPES = {('float', 4): 'f4', ('float', 8): 'f8', ('double', 8): 'f8', ('int', 4): 'i4', ('short', 2): 'i2'}
RSF_END = b'\x0c\x0c\x04'
HEADER_MAX = 1 << 24
DEPTHS, TIMES = ('depth', 'z'), ('time', 't', 'twt')
NAMES = {'x': ('x', 'distance', 'lateral', 'position', 'inline', 'offset', 'midpoint'), 'y': ('y', 'crossline', 'cross-line')}


def options(verbs, output_options):
    for name, action, about, words in (
        ('npy', _npy, 'from a NumPy array (.npy)', 'Model from an array that numpy.save wrote.'),
        ('hdf5', _hdf5, 'from a dataset of an HDF5 file', 'Model from a dataset of an HDF5 file.'),
        ('rsf', _rsf, 'from RSF (Madagascar)', 'Model from an RSF file: axes, spacings and their units by its header.'),
    ):
        verb = verbs.add_parser(name, help=about, description=words + ' Two axes are a section, three a volume.')
        verb.add_argument('file', metavar='FILE')
        if name == 'hdf5':
            verb.add_argument('--dataset', metavar='NAME', help='the dataset, where the file has several, such as model/vp')
        told = ' (default: by label1 .., else depth fastest)' if name == 'rsf' else ''
        verb.add_argument('--axes', choices=AXES, required=name != 'rsf', metavar='AXES',
                          help=f'axes of the array, slowest first: {", ".join(AXES)}{told}')
        by_header = ' (default: by the header)' if name == 'rsf' else ''
        grid_options(verb, dict.fromkeys('xyz', by_header), dict.fromkeys('xyz', 'by the header' if name == 'rsf' else '0'))
        lengths_option(verb, default=None if name == 'rsf' else 'm')
        sample_options(verb)
        output_options(verb)
        verb.set_defaults(action=action)


def grid_options(verb, steps, firsts):
    """Spacings and first samples; what is told of the former, the defaults of the latter, {axis: text}."""
    for axis, told in steps.items():
        verb.add_argument(f'--d{axis}', type=SPACING_GIVEN, metavar='L', help=f'spacing along {axis}{told}')
    for axis, told in firsts.items():
        verb.add_argument(f'--{axis}0', type=PLACE_GIVEN, metavar='L', help=f'{axis} of the first sample (default: {told})')


def sample_options(verb):
    verb.add_argument('--variable', choices=tuple(VARIABLES), required=True, help='what the samples are')
    verb.add_argument('--unit', choices=tuple(UNITS), help='unit of the samples; qp and qs have none')


def lengths_option(verb, default='m'):
    told = 'default: by the header' if default is None else 'default m'
    verb.add_argument('--lengths', choices=tuple(LENGTHS), default=default,
                      help=f'unit of spacings and first samples ({told}); ft: 0.3048 m, us-ft: 1200/3937 m. Of coordinates '
                      'in SEG-Y it tells which feet, and whether feet where the file does not say')


def _npy(a):
    check_input(a.file)
    try:
        values = np.load(a.file, mmap_mode='r', allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError, tokenize.TokenError) as problem:
        fail(f'{a.file} is no .npy file of numbers ({str(problem).splitlines()[0]}): write it by numpy.save')
    if not isinstance(values, np.ndarray):
        values.close()
        fail(f'{a.file} is an archive of arrays (.npz): save the one wanted by numpy.save')
    return finish(a, values, {}, {}, LENGTHS[a.lengths], [])


def _hdf5(a):
    import h5py

    check_input(a.file)
    if not h5py.is_hdf5(a.file):
        fail(f'{a.file} is no HDF5 file; check the name')
    try:
        with h5py.File(a.file, 'r') as file:
            name = _dataset_of(a, file, h5py)
            _check_kind(f'{a.file}: {name}', file[name].dtype)
            values = file[name][()]
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as problem:  # h5py has no kind of its own for damage
        fail(f'{a.file} is damaged, or misses a part ({problem}): restore it from a copy')
    return finish(a, values, {}, {}, LENGTHS[a.lengths], [f'dataset {name}, {" x ".join(map(str, values.shape))}'])


def _dataset_of(a, file, h5py):
    """The name of the dataset that is meant."""
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) and item.ndim in (2, 3) else None)
    if a.dataset is None and len(found) == 1:
        return found[0]
    told = ', '.join(found[:20]) or 'none of two or three dimensions'
    if a.dataset is None:
        fail(f'{a.file} holds {len(found)} datasets of two or three dimensions ({told}): choose one with --dataset')
    if a.dataset not in file or not isinstance(file[a.dataset], h5py.Dataset):
        fail(f"{a.file} has no dataset '{a.dataset}'; it has {told}")
    return a.dataset


def _check_kind(path, dtype):
    if dtype.kind not in 'fiu':
        fail(f'{path} holds {dtype}, must be real numbers: convert it first')


def finish(a, values, first, step, metre, notes):
    """Checks, converts and writes; first and step {axis: [m]} by the file, `metre` the unit of what was given."""
    _check_kind(a.file, values.dtype)
    unit = a.unit or ('1' if VARIABLES[a.variable][2] == 'quality' else None)
    if unit is None:
        fail(f'--unit of {a.variable} is missing: give ' + ', '.join(u for u in UNITS if UNITS[u][0] == VARIABLES[a.variable][2]))
    values = on_grid(a.file, values, a.axes)
    for axis in sorted(a.axes):
        given, place = getattr(a, 'd' + axis), getattr(a, axis + '0')
        step[axis] = step.get(axis) if given is None else given * metre
        first[axis] = first.get(axis, 0.0) if place is None else place * metre
        if step[axis] is None:
            fail(f'{a.file} does not say its spacing along {axis}: give --d{axis}')
        check_axis(a.file, axis, first[axis], step[axis])
    if 'y' not in a.axes and (a.dy is not None or a.y0 is not None):
        fail(f'--dy and --y0 belong to a volume; axes {a.axes} are a section')
    values = checked(a.file, np.asarray(values), a.variable, unit)
    history = f'{datetime.date.today()} spl-model {a.verb} {os.path.basename(a.file)}'
    write_grid(a.output, {a.variable: values}, first, step, history, a.overwrite)
    for note in notes:
        say(note)
    say(grid_text(values.shape, first, step))
    say(range_text(a.variable, values, f' (from {unit})' if UNITS[unit][1] != 1.0 else ''))
    say(f'written: {a.output}')
    return 0


# --- RSF ----------------------------------------------------------------------------------------------------


def _rsf(a):
    check_input(a.file)
    words, end = rsf_header(a.file)
    shape, first, step, units = [], [], [], []
    for i in range(1, 10):
        n = _whole(a.file, words, f'n{i}', 1)
        shape.append(n)
        first.append(_real(a.file, words, f'o{i}', 0.0))
        step.append(_real(a.file, words, f'd{i}', None))
        units.append(words.get(f'unit{i}', '').strip().lower())
    used = max((i + 1 for i in range(9) if shape[i] > 1), default=0)
    if used not in (2, 3):
        fail(f'{a.file} has {" x ".join(map(str, shape[:max(used, 1)]))} samples, n1 first: a model has 2 or 3 axes')
    if a.axes is None:
        a.axes = _axes_of(a.file, words, used)
    if len(a.axes) != used:
        fail(f'{a.file} has {used} axes, {" x ".join(map(str, shape[:used]))}, n1 first, but --axes {a.axes} are {len(a.axes)}')
    names = a.axes[::-1]  # n1 runs fastest
    metres = [_metres(a, axis, units[i], i + 1) for i, axis in enumerate(names)]
    values = rsf_samples(a.file, words, end, shape[:used])
    notes = ['header: ' + ', '.join(f'n{i + 1} = {shape[i]} is {axis}' for i, axis in enumerate(names))]
    return finish(a, values, {x: first[i] * metres[i] for i, x in enumerate(names)},
                  {x: step[i] * metres[i] for i, x in enumerate(names) if step[i] is not None}, LENGTHS[a.lengths or 'm'], notes)


def _metres(a, axis, unit, i):
    """Metres in the unit of an axis; of what is given on the command line --lengths tells."""
    if unit and unit not in RSF_UNITS:
        fail(f"{a.file}: unit{i} is '{unit}', must be m, km, ft or kft: give a model of depth, or correct the header")
    if unit in ('ft', 'feet') and a.lengths == 'us-ft':
        return LENGTHS[a.lengths]
    if unit and a.lengths and RSF_UNITS[unit] != a.lengths:
        fail(f"{a.file}: unit{i} is '{unit}', but --lengths says {a.lengths}: leave --lengths out, or correct the header")
    if not unit and not a.lengths:
        given = [getattr(a, 'd' + axis), getattr(a, axis + '0')]
        fail(f'{a.file} does not say the unit of axis {i}' + (', nor was it given' if None not in given else '')
             + ': give --lengths m, km, ft or us-ft')
    return 304.8 if unit == 'kft' else LENGTHS[RSF_UNITS[unit] if unit else a.lengths]


def _axes_of(path, words, used):
    """Axes by their labels, slowest first; depth fastest, then x, where there are none."""
    labels = [words.get(f'label{i}', '').strip().lower() for i in range(1, used + 1)]
    if any(label in TIMES for label in labels):
        fail(f"{path}: label{[label in TIMES for label in labels].index(True) + 1} says time: a model of depth is needed")
    names = []
    for label in labels:
        names.append('z' if label in DEPTHS else next((axis for axis in NAMES if label in NAMES[axis]), ''))
    free = [axis for axis in 'zxy'[:used] if axis not in names]
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        fail(f'{path}: two axes are called {" and ".join(labels)}: give --axes')
    names = [name or free.pop(0) for name in names]
    if sorted(names) != sorted('zxy'[:used]):
        fail(f'{path}: axes called {", ".join(labels)} are no section of x and depth: give --axes')
    return ''.join(names[::-1])


def rsf_header(path):
    """{name: text} of an RSF header, the last value of a name, and where data begin in the same file (None: elsewhere)."""
    with open(path, 'rb') as file:
        data = file.read(HEADER_MAX)
    end = data.find(RSF_END)
    text = data if end < 0 else data[:end]
    if b'\0' in text:
        fail(f'{path} is no RSF header, which is text: give the .rsf file, not its data')
    words = {}
    for m in re.finditer(r'#.*|(?<!\S)(\w[\w-]*)=("[^"]*"|\'[^\']*\'|[^\s#]*)', text.decode('utf-8', 'replace')):
        if m.group(1):                              # else a remark; what stands in quotes may hold #
            words[m.group(1)] = m.group(2).strip('"\'')
    if 'n1' not in words or 'in' not in words:
        missing = 'in' if 'n1' in words else 'n1'
        fail(f'{path} is no RSF header, which is text: it has no {missing}=; give the .rsf file, not its data')
    return words, None if end < 0 else end + len(RSF_END)


def rsf_samples(path, words, end, shape):
    """Samples, slowest axis first."""
    form, size = words.get('data_format', 'native_float'), _whole(path, words, 'esize', 4)
    coding, _, kind = form.partition('_')
    if coding not in ('native', 'xdr', 'ascii') or (coding != 'ascii' and (kind, size) not in RSF_TYPES):
        fail(f'{path}: data_format is {form} with esize = {size}: must be native, xdr or ascii, _float, _double, _int or _short')
    source, start = (path, end) if words['in'] in ('stdin', '-') else (_data_of(path, words['in']), 0)
    if start is None:
        fail(f'{path}: in="{words["in"]}", but no data follow the header: give the whole file')
    check_input(source)
    count = int(np.prod([float(n) for n in shape]))
    if coding == 'ascii':
        with open(source, 'rb') as file:
            file.seek(start)
            numbers = file.read().split()
        values = _ascii(source, numbers)
        found, wanted, what = len(values), count, 'numbers'
    else:
        dtype = np.dtype(('>' if coding == 'xdr' else '<' if sys.byteorder == 'little' else '>') + RSF_TYPES[kind, size])
        found, wanted, what = os.path.getsize(source) - start, count * dtype.itemsize, 'bytes'
        values = np.memmap(source, dtype, 'r', start, (count,)) if found == wanted else None
    if found != wanted:
        fail(f'{source} has {found} {what} of data, but {" x ".join(map(str, shape))} samples of {form} are {wanted}: the file is '
             'cut, or n1, n2, n3, data_format or esize are wrong')
    return np.reshape(values, shape[::-1])


def _ascii(path, numbers):
    try:
        return np.array([float(word) for word in numbers])
    except ValueError as problem:
        fail(f'{path} holds what is no number ({problem}): check data_format')


def _data_of(path, name):
    """Where the data are: as the header says, or beside the header, where both were moved."""
    beside = os.path.join(os.path.dirname(path) or '.', name)
    moved = os.path.join(os.path.dirname(path) or '.', os.path.basename(name))
    for place in (name if os.path.isabs(name) else beside, moved, name):
        if os.path.exists(place):
            return place
    fail(f'{path}: its data, in="{name}", are not there, nor beside it as {moved}: bring them, or correct in=')


def _whole(path, words, name, default):
    text = words.get(name, str(default))
    if not re.fullmatch(r'\d{1,10}', text) or int(text) < 1:
        fail(f"{path}: {name} is '{text}', must be a whole number above 0")
    return int(text)


def _real(path, words, name, default):
    text = words.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        fail(f"{path}: {name} is '{text}', must be a number")
    return value
