"""Models of plain numbers without a header: what must be known of them, and how they are read."""

import numpy as np

from spltools.cli import check_input, fail, number

CELLS_MAX = 2000000000
SPACING = number(0.001, 1e5, 'm')  # finer ones would be lost in the coordinates


def raw_options(verb, required):
    """Shape, spacings and layout of a raw model; `required`: the verb reads raw models only."""
    samples = number(2, CELLS_MAX, whole=True)
    verb.add_argument('--nx', type=samples, required=required, metavar='N', help='columns of a raw model')
    verb.add_argument('--nz', type=samples, required=required, metavar='N', help='samples of a column')
    verb.add_argument('--dx', type=SPACING, required=required, metavar='M')
    verb.add_argument('--dz', type=SPACING, required=required, metavar='M')
    verb.add_argument(
        '--order', choices=('zfast', 'xfast'), default='zfast', help='index that runs fastest in the file'
    )
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
    if options.order == 'zfast':
        return values.reshape(options.nx, options.nz).T
    return values.reshape(options.nz, options.nx)
