"""A mesh of hexahedra as the solver takes it, made from what a file has: nodes of elements in one order and right-handed, sides by
their corners."""
import collections

import numpy as np

from spltools.cli import counted, fail, say, warn
from spltools.mesh import hexahedron

Block = collections.namedtuple('Block', 'id name')
SideSet = collections.namedtuple('SideSet', 'id name sides')        # sides: (n, 2), element and side, both from 0


class Mesh:
    """nodes (n, 3) [m], z as in the file; elements (n, 8 or 27), nodes from 0 in the order of Exodus, elements in that of their
    blocks; block (n) of each; blocks; side_sets."""

    def __init__(self, nodes, elements, block, blocks, side_sets):
        self.nodes, self.elements, self.block, self.blocks, self.side_sets = nodes, elements, block, blocks, side_sets

    def per_element(self):
        return self.elements.shape[1]


class Raw:
    """A mesh as a reader finds it. `order` is that of the nodes of elements with more than 8; other shapes by name and
    number; sides where the file tells them by element, surfaces where by nodes."""

    def __init__(self, path, nodes, order='exodus'):
        self.path, self.nodes, self.order = path, nodes, order
        self.elements, self.block, self.blocks = [], [], {}         # blocks: id -> name
        self.surfaces, self.sides, self.others = [], [], collections.Counter()

    def add_elements(self, elements, block):
        """`block`: an id of each, or one of all; 0 is none."""
        self.elements.append(np.asarray(elements, dtype=np.int64))
        self.block.append(np.broadcast_to(np.asarray(block, dtype=np.int64), len(elements)))
        for one in np.unique(self.block[-1]):
            self.blocks.setdefault(int(one), '')


class Numbers:
    """Places in their order of things that a file numbers as it likes."""

    def __init__(self, path, numbers, what):
        try:
            numbers = np.asarray(numbers, np.int64)
        except OverflowError:
            fail(f'{path} has {what}s of numbers beyond 64 bits, such as {max(numbers, key=abs)}; the file is damaged')
        self.path, self.what = path, what
        self.order = np.argsort(numbers, kind='stable')
        self.numbers = numbers[self.order]
        twice = np.flatnonzero(np.diff(self.numbers) == 0)
        if len(twice):
            fail(f'{path} has {what} {self.numbers[twice[0]]} twice')

    def has(self, wanted):
        if not len(self.numbers):
            return np.zeros(np.shape(wanted), bool)
        return self.numbers[np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)] == wanted

    def places(self, wanted, path=None):
        """Of each number its place from 0; `path`: the file that names it."""
        wanted = np.asarray(wanted).astype(np.int64)
        lost = ~self.has(wanted)
        if lost.any():
            fail(f'{path or self.path} names {self.what} {wanted[lost][0]}, which is not there')
        return self.order[np.searchsorted(self.numbers, wanted)]


def build(raw, tell=True, tidy=True):
    """The mesh of what was read. `tidy`: nodes that no element uses are left out, and elements that are numbered upside down
    turned; both are told."""
    path, nodes, note = raw.path, _finite(raw), say if tell else _silent
    if raw.others:
        fail(f'{path} has elements that are no hexahedra of 8, 20 or 27 nodes: '
             + ', '.join(f'{n} {name}' for name, n in sorted(raw.others.items()))
             + '; mesh with hexahedra alone, of first or second order')
    found = collections.Counter({e.shape[1]: sum(len(a) for a in raw.elements if a.shape[1] == e.shape[1]) for e in raw.elements})
    if not sum(found.values()):
        fail(f'{path} has no hexahedra; mesh volumes with hexahedra (and, in Gmsh, put the volumes into a physical group)')
    if len(found) > 1:
        fail(f'{path} has hexahedra of different kinds: ' + ' and '.join(f'{n} of {per} nodes' for per, n in sorted(found.items()))
             + '; mesh all with the same order')
    elements, block = np.concatenate(raw.elements), np.concatenate(raw.block)
    _in_range(path, elements, len(nodes), 'hexahedra')
    if elements.shape[1] > 8:
        elements = _ordered(path, nodes, elements, raw.order)
    if elements.shape[1] == 20:
        nodes, elements = hexahedron.add_middles(nodes, elements)
        note('nodes: hexahedra of 20 nodes became those of 27 of the same shape')
    turned = np.zeros(len(elements), bool)
    if tidy:
        turned = _corner_volume(nodes, elements) < 0
        elements = elements.copy()
        elements[turned] = elements[turned][:, hexahedron.MIRROR[elements.shape[1]]]
        if turned.any():
            note(f'turned: {turned.sum()} of {len(elements)} elements were numbered upside down (left-handed)')
    free = _free(raw.blocks)
    if (block == 0).any() and block.any():
        note(f'blocks: {counted((block == 0).sum(), "element")} of number 0, or in no group, became block {free}')
    block = np.where(block == 0, free, block)
    ids, block = np.unique(block, return_inverse=True)
    order = np.argsort(block, kind='stable')
    blocks = _distinct([Block(int(i), raw.blocks.get(int(i), '')) for i in ids])
    changed = [f'{i} became {one.id}' for i, one in zip(ids, blocks) if i != one.id]
    if changed:
        note('blocks: number ' + ', '.join(changed[:10]) + (' ...' if len(changed) > 10 else ''))
    mesh = Mesh(nodes, elements[order], block[order], blocks, [])
    mesh.side_sets = _side_sets(raw, mesh, order, turned)
    if tidy:
        _drop_loose(mesh, note)
    return mesh


def _silent(_):
    pass


def _finite(raw):
    nodes = np.asarray(raw.nodes, dtype=float)
    if nodes.ndim != 2 or nodes.shape[1] != 3 or not len(nodes):
        fail(f'{raw.path} has no nodes with three coordinates; give a mesh in three dimensions')
    bad = ~np.isfinite(nodes).all(axis=1)
    if bad.any():
        fail(f'{raw.path}: {bad.sum()} of {len(nodes)} nodes have coordinates that are not finite, the first is node '
             f'{bad.argmax() + 1}')
    largest = np.abs(nodes).max()
    if largest > 1e9:
        fail(f'{raw.path}: a coordinate is {largest:g} m, at most 1e9 m; check the unit')
    return nodes


def _in_range(path, elements, n, what):
    bad = ((elements < 0) | (elements >= n)).any(axis=1)
    if bad.any():
        fail(f'{path}: {bad.sum()} of {len(elements)} {what} have nodes that are not in the file, the first is number '
             f'{bad.argmax() + 1}; the file is damaged, or its writer left nodes out')


def _ordered(path, nodes, elements, order):
    """Elements of 20 or 27 nodes in the order of Exodus. Programs and libraries differ in it, so it is seen from the places of the
    nodes, too: in the right order they are nearest the middles of the corners, in most elements."""
    per = elements.shape[1]
    some = elements[::max(1, len(elements) // 2000)]
    straight = hexahedron.straight(nodes[some[:, :8]])[:, :per]
    off = {name: float(np.median(np.square(nodes[some[:, hexahedron.exodus_from(name)[:per]]] - straight).sum(axis=(1, 2))))
           for name in hexahedron.FURTHER}
    best = min(off, key=off.get)
    if off[best] < 0.999 * off[order]:
        warn(f'{path}: its {per} nodes lie in the order of {best}, not of {order} as its format has it; taken as {best}')
        order = best
    return elements[:, hexahedron.exodus_from(order)[:per]]


def _corner_volume(nodes, elements):
    """Volume [m3] of the element with straight edges."""
    places = hexahedron.at_points(np.array([-1, 1]) / np.sqrt(3))
    return np.concatenate([j.sum(axis=0) for j in hexahedron.jacobians(nodes, elements[:, :8], places)])


def _drop_loose(mesh, note):
    used = np.zeros(len(mesh.nodes), bool)
    used[mesh.elements] = True
    if not used.all():
        note(f'left out: {(~used).sum()} of {len(used)} nodes belong to no element')
        mesh.elements = (np.cumsum(used) - 1)[mesh.elements]
        mesh.nodes = mesh.nodes[used]


# --- sides -----------------------------------------------------------------------------------------------------------

def faces(elements):
    """The four corners of each side, sorted: (6 n, 4); side s of element e is row 6 e + s."""
    return np.sort(elements[:, hexahedron.SIDES].reshape(-1, 4), axis=1)


def outer_faces(elements):
    """Rows of faces() that no other element has, and the largest number of elements that have a face."""
    number = numbered(faces(elements))
    count = np.bincount(number)
    return np.flatnonzero(count[number] == 1), int(count.max(initial=0))


def numbered(rows):
    """A number of each row of two or four node numbers: equal rows have the same."""
    words = [rows[:, i] << 32 | rows[:, i + 1] for i in range(0, rows.shape[1], 2)]
    order = np.lexsort(words)
    differs = np.any([np.diff(word[order]) != 0 for word in words], axis=0)
    number = np.empty(len(rows), np.int64)
    number[order] = np.concatenate([[0], np.cumsum(differs)])[:len(rows)]
    return number


def _side_sets(raw, mesh, order, turned):
    where = np.empty(len(order), np.int64)
    where[order] = np.arange(len(order))
    mirrored = np.array([0, 1, 2, 3, 5, 4])
    found = []
    for id_, name, sides in raw.sides:
        sides = np.asarray(sides, np.int64).reshape(-1, 2)
        bad = (sides[:, 0] < 0) | (sides[:, 0] >= len(order)) | (sides[:, 1] < 0) | (sides[:, 1] > 5)
        if bad.any():
            e, s = sides[bad.argmax()] + 1
            fail(f"{raw.path}: surface {named(id_, name)} has side {s} of element {e}, of {len(order)} elements with 6 sides each")
        side = np.where(turned[sides[:, 0]], mirrored[sides[:, 1]], sides[:, 1])
        found.append(SideSet(int(id_), name, np.stack([where[sides[:, 0]], side], axis=1)))
    if raw.surfaces:
        found += _match(raw, mesh)
    merged = {}
    for one in found:       # several parts of a file may have the same surface
        key = (one.id, one.name)
        merged[key] = one if key not in merged else SideSet(*key, np.concatenate([merged[key].sides, one.sides]))
    sets = [SideSet(s.id, s.name, np.unique(s.sides, axis=0)) for s in merged.values() if len(s.sides)]
    return _distinct(sorted(sets, key=lambda s: (s.id, s.name)))


def _match(raw, mesh):
    """Surfaces as sides of elements; of a face between elements the one of lower number has it."""
    parts = [np.asarray(corners, np.int64) for _, _, corners in raw.surfaces]
    for corners in parts:
        _in_range(raw.path, corners, len(mesh.nodes), 'quadrilaterals')
    number = numbered(np.concatenate([faces(mesh.elements), np.sort(np.concatenate(parts), axis=1)]))
    n = 6 * len(mesh.elements)
    row = np.full(number.max() + 1, -1)
    row[number[:n][::-1]] = np.arange(n)[::-1]
    rows = np.split(row[number[n:]], np.cumsum([len(corners) for corners in parts])[:-1])
    for (id_, name, _), corners, found in zip(raw.surfaces, parts, rows):
        lost = found < 0
        if lost.any():
            fail(f'{raw.path}: {lost.sum()} of {len(corners)} quadrilaterals of surface {named(id_, name)} are the face of no '
                 f'hexahedron, the first at {at(mesh.nodes[corners[lost.argmax()]].mean(axis=0))}; mesh the volume and its surface '
                 'together')
    return [SideSet(int(id_), name, np.stack([found // 6, found % 6], axis=1))
            for (id_, name, _), found in zip(raw.surfaces, rows)]


def _free(ids):
    """An id beyond those of blocks, or in between where the largest has more than 32 bits."""
    return max(ids) + 1 if max(ids) < 2**31 else min(set(range(1, len(ids) + 2)) - set(ids))


def _distinct(things):
    """Blocks or side sets with positive ids of their own of 32 bits, which Exodus wants."""
    most = 2**31 - 1 - len(things)
    taken, result, fit = set(), [], {s.id for s in things if 0 < s.id <= most}
    for one in things:
        id_ = one.id if one.id in fit and one.id not in taken else max(taken | fit | {0}) + 1
        taken.add(id_)
        result.append(one._replace(id=id_))
    return result


def named(id_, name):
    return f"'{name}'" if name else str(id_)


def at(x):
    return f'x, y, z = {x[0]:g}, {x[1]:g}, {x[2]:g} m'
