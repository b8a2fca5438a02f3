"""Exodus II, the field's NetCDF file of meshes (Schoof & Yarberry 1994, SAND92-2137): hexahedra of 8 and 27 nodes in blocks,
side sets, with names."""
import re

import numpy as np

from spltools.cli import fail, new_dataset, warn
from spltools.mesh.mesh import Raw
from spltools.netcdf import open_dataset

NAME = 256              # letters of a name, with the zero at its end
KINDS = re.compile('HEX(A(HEDRON)?)?[0-9]*$')       # what programs call them; the nodes are counted
LISTS_MAX = 100000      # blocks, side sets
FOUR_GIB = 2**32 - 2**20


def write(path, mesh, title, overwrite=False):
    """CDF-2, which every reader takes; CDF-5 where a variable is too large for it."""
    largest = max(mesh.nodes.shape[0] * 8, 4 * mesh.elements.size)
    kind = 'NETCDF3_64BIT_OFFSET' if largest < FOUR_GIB else 'NETCDF3_64BIT_DATA'
    with new_dataset(path, overwrite, format=kind) as file:
        file.api_version = file.version = np.float32(5.1)
        file.floating_point_word_size, file.file_size = np.int32(8), np.int32(1)
        file.maximum_name_length, file.int64_status = np.int32(NAME - 1), np.int32(0)
        file.title = title[:80]
        for name, size in (('len_string', 33), ('len_name', NAME), ('len_line', 81), ('four', 4), ('time_step', None),
                           ('num_dim', 3), ('num_nodes', len(mesh.nodes)), ('num_elem', len(mesh.elements)),
                           ('num_el_blk', len(mesh.blocks))):
            file.createDimension(name, size)
        file.createVariable('time_whole', 'f8', ('time_step',))
        for x, values in zip('xyz', mesh.nodes.T):
            file.createVariable('coord' + x, 'f8', ('num_nodes',))[:] = values
        _names(file, 'coor_names', 'num_dim', list('xyz'))
        _ids(file, 'eb', 'num_el_blk', mesh.blocks)
        for n, _ in enumerate(mesh.blocks, 1):
            elements = mesh.elements[mesh.block == n - 1]
            sizes = (f'num_el_in_blk{n}', f'num_nod_per_el{n}')
            for name, size in zip(sizes, elements.shape):
                file.createDimension(name, size)
            variable = file.createVariable(f'connect{n}', 'i4', sizes)
            variable.elem_type = f'HEX{mesh.per_element()}'
            variable[:] = elements + 1
        if mesh.side_sets:
            file.createDimension('num_side_sets', len(mesh.side_sets))
            _ids(file, 'ss', 'num_side_sets', mesh.side_sets)
        for n, one in enumerate(mesh.side_sets, 1):
            file.createDimension(f'num_side_ss{n}', len(one.sides))
            for name, values in zip(('elem_ss', 'side_ss'), one.sides.T + 1):
                file.createVariable(f'{name}{n}', 'i4', (f'num_side_ss{n}',))[:] = values


def _ids(file, what, dimension, things):
    """Status, numbers and names of blocks or side sets."""
    file.createVariable(what + '_status', 'i4', (dimension,))[:] = 1
    prop = file.createVariable(what + '_prop1', 'i4', (dimension,))
    prop.setncattr('name', 'ID')
    prop[:] = [thing.id for thing in things]
    _names(file, what + '_names', dimension, [thing.name for thing in things])


def _names(file, variable, dimension, names):
    letters = np.zeros((len(names), NAME), 'S1')
    for row, name in zip(letters, names):
        text = name.encode()[:NAME - 1]
        row[:len(text)] = np.frombuffer(text, 'S1')
    file.createVariable(variable, 'S1', (dimension, 'len_name'))[:] = letters


# --- reading ---------------------------------------------------------------------------------------------------------

def read(path):
    with open_dataset(path, 'give a mesh in Exodus II, which is NetCDF') as file:
        file.set_auto_mask(False)
        if 'num_nodes' not in file.dimensions or 'num_el_blk' not in file.dimensions:
            fail(f'{path} is a NetCDF file, but no mesh of Exodus II: it has no dimension num_nodes or num_el_blk')
        for name in ('num_el_blk', 'num_side_sets'):
            if name in file.dimensions and len(file.dimensions[name]) > LISTS_MAX:
                fail(f'{path}: {name} is {len(file.dimensions[name])}, at most {LISTS_MAX}; the file is damaged')
        raw = Raw(path, _nodes(file, path))
        blocks = len(file.dimensions['num_el_blk'])
        for n, (id_, name) in enumerate(zip(_different(file, path, 'eb_prop1', blocks), _read_names(file, 'eb_names', blocks)), 1):
            if f'connect{n}' in file.variables:         # blocks may be empty
                _block(raw, file, path, n, int(id_), name)
        sets = len(file.dimensions['num_side_sets']) if 'num_side_sets' in file.dimensions else 0
        for n, (id_, name) in enumerate(zip(_different(file, path, 'ss_prop1', sets), _read_names(file, 'ss_names', sets)), 1):
            if f'elem_ss{n}' in file.variables:
                sides = [_numbers(file, path, f'{what}_ss{n}') - 1 for what in ('elem', 'side')]
                if len(sides[0]) != len(sides[1]):
                    fail(f'{path}: side set {id_} has {len(sides[0])} elements, but {len(sides[1])} sides')
                raw.sides.append((int(id_), name, np.stack(sides, axis=1)))
    return raw


def _nodes(file, path):
    if 'coord' in file.variables:
        nodes = _array(path, file.variables['coord'], 'fiu', 'of numbers').astype(float).T
    else:
        missing = [x for x in 'xyz' if 'coord' + x not in file.variables]
        if missing:
            fail(f"{path} has no variable 'coord{missing[0]}'; give a mesh in three dimensions")
        along = [_array(path, file.variables['coord' + x], 'fiu', 'of numbers').astype(float) for x in 'xyz']
        if len({part.shape for part in along}) > 1:
            fail(f'{path} has ' + ', '.join(f'{part.size} {x}' for x, part in zip('xyz', along)) + ' of nodes: it is damaged')
        nodes = np.stack(along, axis=1)
    return nodes


def _block(raw, file, path, n, id_, name):
    variable = file.variables[f'connect{n}']
    kind = str(getattr(variable, 'elem_type', '')).strip('\0 ').upper()
    if not KINDS.match(kind) or variable.ndim != 2 or variable.shape[1] not in (8, 20, 27):
        raw.others[f'{kind or "of a kind that is not told"} (block {name or id_})'] += len(variable) if variable.ndim else 1
        return
    raw.add_elements(_integers(path, variable) - 1, id_)
    raw.blocks[id_] = name


def _array(path, variable, kinds, what):
    if getattr(variable.dtype, 'kind', '') not in kinds:           # types that a file defines have none
        fail(f"{path}: the variable '{variable.name}' is of type {variable.dtype}, must be {what}")
    return np.asarray(variable[:])


def _integers(path, variable):
    return _array(path, variable, 'iu', 'of whole numbers').astype(np.int64)


def _numbers(file, path, name, n=None):
    """Whole numbers; without such a variable 1, 2, ... n."""
    if name not in file.variables:
        if n is None:
            fail(f"{path} has no variable '{name}', which its side sets need; the file is damaged")
        return np.arange(1, n + 1)
    values = _integers(path, file.variables[name]).ravel()
    if n is not None and len(values) != n:
        fail(f'{path}: {name} has {len(values)} numbers, must have {n}')
    return values


def _different(file, path, name, n):
    """Numbers of blocks or side sets, which would be one where they are equal: then 1, 2, ... n."""
    values = _numbers(file, path, name, n)
    different, times = np.unique(values, return_counts=True)
    if len(different) == n:
        return values
    warn(f'{path}: {name} has {different[times > 1][0]} twice: taken as 1 .. {n}')
    return np.arange(1, n + 1)


def _read_names(file, variable, n):
    if variable not in file.variables or file.variables[variable].ndim != 2:
        return [''] * n
    rows = np.asarray(file.variables[variable][:], 'S1')
    names = [b''.join(row).split(b'\0')[0].decode(errors='replace').strip() for row in rows]
    return (names + [''] * n)[:n]
