"""Models of plain numbers without a header: what must be known of them, and how they are read."""

import numpy as np

from spltools.cli import check_input, fail, number, warn

CELLS_MAX = 2000000000
CLEAR, NOTICED, LOOKS = 5, 1e-3, 4096  # jumps are so many times as large as other changes; of the mean number; places looked at
SPACING = number(0.001, 1e5, 'm')  # finer ones would be lost in the coordinates


def raw_options(verb, required):
    """Shape, spacings and layout of a raw model; `required`: the verb reads raw models only."""
    samples = number(2, CELLS_MAX, whole=True)
    verb.add_argument('--nx', type=samples, required=required, metavar='N', help='columns of a raw model')
    verb.add_argument('--nz', type=samples, required=required, metavar='N', help='samples of a column')
    verb.add_argument('--dx', type=SPACING, required=required, metavar='M')
    verb.add_argument('--dz', type=SPACING, required=required, metavar='M')
    verb.add_argument('--order', choices=('zfast', 'xfast'), default='zfast',
                      help='index that runs fastest in the file')
    verb.add_argument('--type', choices=('float32', 'float64'), default='float32')
    verb.add_argument('--endian', choices=('little', 'big'), default='little')


def read_raw(path, options):
    """Samples (nz, nx) of a raw model of exactly the shape that the options give."""
    size = check_input(path)
    itemsize = int(options.type[5:]) // 8
    wanted = options.nx * options.nz * itemsize
    if size != wanted:
        fail(
            f'{path} has {size} bytes, but nx = {options.nx} times nz = {options.nz} samples of'
            f' {options.type} are {wanted}'
        )
    values = np.fromfile(path, dtype={'little': '<', 'big': '>'}[options.endian] + f'f{itemsize}')
    line, other = (options.nz, options.nx) if options.order == 'zfast' else (options.nx, options.nz)
    if mixed(values, line, other):
        warn(
            f'the axes of {path} seem to be mixed up: its numbers jump every {other} and not every {line}; exchange --nx and'
            f' --nz, or give --order {"xfast" if options.order == "zfast" else "zfast"}'
        )
    if options.order == 'zfast':
        return values.reshape(options.nx, options.nz).T
    return values.reshape(options.nz, options.nx)


def mixed(values, line, other):
    """Whether the numbers of a file jump every `other` and not every `line`, as raw_layout.f90 has it: after the end of a line
    comes the number of another place."""
    if line == other or not np.isfinite(values).all():
        return False

    def changes(period, *apart):
        n = (len(values) - 1) // period
        at = np.arange(1, n + 1, max(1, n // LOOKS)) * period
        at = at[(at[:, None] % np.array(apart) != 0).all(axis=1)]
        return np.abs(values[at].astype(float) - values[at - 1])

    along, ends, jumps = changes(1, line, other), changes(line, other), changes(other, line)
    mean = float(np.abs(values[:: max(1, len(values) // LOOKS)].astype(float)).mean())
    much = max([CLEAR * float(c.mean()) for c in (along, ends) if len(c)] + [NOTICED * mean])
    return len(jumps) >= 4 and np.count_nonzero(jumps > much) > len(jumps) / 2
