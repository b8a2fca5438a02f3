"""Meshes of other programs through meshio: Gmsh .msh 2.2, 4.0 and 4.1 (text and binary), VTK, VTU, MED and what else it reads."""
import collections
import contextlib
import io
import os
import resource

import numpy as np

from spltools.cli import fail, warn
from spltools.mesh import gmsh_module
from spltools.mesh.mesh import Raw

HEXAHEDRA = {'hexahedron': 8, 'hexahedron20': 20, 'hexahedron27': 27}
QUADRILATERALS = ('quad', 'quad8', 'quad9')
SMALLER = ('vertex', 'line', 'empty')           # and all of their kinds: boundaries of boundaries
# Names that programs give to the number of a block, in the files that have no names of their own for it.
TAGS = ('gmsh:physical', 'CellEntityIds', 'ElementBlockIds', 'ObjectId', 'material', 'Material', 'block', 'medium', 'region')


def read(path, kind, blocks=None):
    """`kind` as meshio calls it. `blocks`: the integer variable of cells that tells the blocks, where the file has several."""
    try:
        mesh = _read(path, kind)
    except _NotForMeshio:
        return gmsh_module.read(path)
    points = np.asarray(mesh.points, float)
    raw = Raw(path, points, 'med' if kind == 'med' else 'vtk')      # meshio turns the order of Gmsh into that of VTK
    groups_of = _med_groups(mesh) if getattr(mesh, 'cell_tags', None) else _tag_groups(path, mesh, blocks)
    twice, triangles = 0, 0
    for k, cells in enumerate(mesh.cells):
        if cells.type in HEXAHEDRA:
            block = np.zeros(len(cells.data), np.int64)
            for id_, name, rows in groups_of(k, 3):
                twice += np.count_nonzero(block[rows])
                block[rows[block[rows] == 0]] = id_
                raw.blocks[id_] = name
            raw.add_elements(cells.data, block)
        elif cells.type in QUADRILATERALS:
            raw.surfaces += [(id_, name, cells.data[rows][:, :4]) for id_, name, rows in groups_of(k, 2) if len(rows)]
        elif cells.type.startswith('triangle'):
            triangles += len(cells.data)
        elif not cells.type.startswith(SMALLER):
            raw.others[cells.type] += len(cells.data)
    if twice:
        warn(f'{path}: {twice} hexahedra are in more than one group; the first one is taken')
    if triangles and not raw.others:
        warn(f'{path}: {triangles} triangles are left out; only quadrilaterals are sides of hexahedra')
    return raw


class _NotForMeshio(Exception):
    """A file of Gmsh which meshio cannot read: of another version than 2.2 or 4.1, cut into partitions, with elements in no
    physical group beside such in one, or damaged. The module of Gmsh, which is there, can or tells why."""


# What to do about a file that meshio cannot read.
ADVICE = {'gmsh': '; save it again with all elements in physical groups, as version 4.1 or 2.2, or install the Python module gmsh',
          'vtk': '; save it again as text (ASCII), or as .vtu'}


def _is_msh(path):
    """Whether Gmsh takes the file for a mesh: others it runs as a script, which may call any program."""
    with open(path, 'rb') as file:
        return file.read(11).startswith((b'$MeshFormat', b'$NOD'))


def _read(path, kind):
    import meshio

    told = io.StringIO()
    if kind == 'med':           # what meshio lacks of it
        with contextlib.suppress(AttributeError):
            meshio.med._med.med_to_meshio_type.update(H27='hexahedron27', QU9='quad9')
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told), np.errstate(all='ignore'), _bounded(path):
            return meshio.read(path, file_format=kind)
    except ModuleNotFoundError:
        raise
    except MemoryError as problem:
        reason = (f'it asks for more memory than a file of its size needs, or than there is ({problem}): a count in it, or the '
                  'number of a node, is far too large')
    except SystemExit:
        reason = ' '.join(told.getvalue().split()) or 'no reason told'
    except OSError as problem:
        reason = problem.strerror or str(problem)
    except Exception as problem:        # readers of meshio end in all kinds of ways on a file that they do not expect
        reason = f'{type(problem).__name__}: {problem}'
    if kind == 'gmsh' and gmsh_module.is_there() and _is_msh(path):
        raise _NotForMeshio
    fail(f'{path} cannot be read as {kind}: {reason[:300].rstrip(". ")}{ADVICE.get(kind, "")}')


@contextlib.contextmanager
def _bounded(path):
    """Less memory than there may be: one damaged number in a small file makes meshio ask for any."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        with open('/proc/self/statm', encoding='ascii') as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:                     # another system than Linux
        yield
        return
    most = now + 2**30 + 100 * os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_AS, (min([most] + [one for one in (soft, hard) if one != resource.RLIM_INFINITY]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _tag_groups(path, mesh, blocks):
    """Groups by a number of each cell, with the names and memberships that Gmsh gives."""
    integers = {name: values for name, values in mesh.cell_data.items()
                if all(np.asarray(v).dtype.kind in 'iu' or name in TAGS and np.array_equal(v, np.rint(v)) for v in values)}
    if blocks is not None and blocks not in mesh.cell_data:
        fail(f"{path} has no variable '{blocks}' of cells; it has {', '.join(mesh.cell_data) or 'none'}")
    tag = blocks or next((name for name in TAGS if name in integers), None)
    if tag is None and len(integers) == 1:
        tag = next(iter(integers))
    names, sets = {}, {}
    of_entities = tag == 'gmsh:geometrical'     # physical groups, which have the names, are other numbers
    if of_entities:
        warn(f'{path}: no element is in a physical group; blocks and side sets have the numbers of entities, and no names')
    for name, value in mesh.field_data.items():
        if np.asarray(value).shape == (2,) and not of_entities:
            id_, dimension = (int(v) for v in value)
            names[dimension, id_] = name
            sets[dimension, id_] = mesh.cell_sets.get(name)

    def groups(k, dimension):
        of = np.zeros(len(mesh.cells[k].data)) if tag is None else np.asarray(mesh.cell_data[tag][k])
        if tag == 'gmsh:physical':
            of = np.abs(of)                     # the sign tells how an entity lies
        if not np.array_equal(of, np.rint(of)):
            fail(f"{path}: the variable '{tag}' of cells is no whole number everywhere; give --blocks another one")
        found = collections.OrderedDict((int(one), np.flatnonzero(of == one)) for one in np.unique(of) if one != 0)
        for (of_dimension, id_), rows in sets.items():
            if of_dimension == dimension and rows is not None and rows[k] is not None and len(rows[k]):
                found[id_] = np.union1d(found.get(id_, np.zeros(0, np.int64)), np.asarray(rows[k], np.int64))
        return [(id_, names.get((dimension, id_), ''), rows) for id_, rows in found.items()]

    return groups


def _med_groups(mesh):
    """Groups of MED: families of cells, each in groups with names, which are numbered in the order of the alphabet."""
    names = sorted({name for of_family in mesh.cell_tags.values() for name in of_family})

    def groups(k, _):
        of = np.asarray(mesh.cell_data['cell_tags'][k])
        rows = [np.flatnonzero(np.isin(of, [family for family, has in mesh.cell_tags.items() if name in has])) for name in names]
        return [(i, name, found) for i, (name, found) in enumerate(zip(names, rows), 1) if len(found)]

    return groups
