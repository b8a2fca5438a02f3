"""spl-mesh box: a box of hexahedra, for tests and first steps."""
import argparse

import numpy as np

from spltools.cli import fail, number
from spltools.mesh import check, hexahedron
from spltools.mesh.mesh import Block, Mesh, SideSet, outer_faces

NAMES = ('ymin', 'xmax', 'ymax', 'xmin', 'zmin', 'zmax')        # of the box's sides, numbered as those of an element
MOST = 20000000


def options(verb):
    metres = number(-1e8, 1e8, 'm')
    for x, n in zip('xyz', 'XYZ'):
        verb.add_argument(f'--{x}', type=metres, nargs=2, required=True, metavar=(f'{n}0', f'{n}1'),
                          help=f'from and to [m], {x}0 < {x}1')
    verb.add_argument('--elements', type=number(1, 100000, whole=True), nargs=3, required=True, metavar=('NX', 'NY', 'NZ'))
    verb.add_argument('--nodes', type=int, choices=(8, 27), default=8, help='of an element, default 8')
    verb.add_argument('--shake', type=number(0, 0.5), default=0.0, metavar='F',
                      help='moves nodes at random by up to F of their spacing, those outside within their sides; default 0')
    verb.add_argument('--seed', type=number(0, 2**31 - 1, whole=True), default=1, metavar='N',
                      help='of the random numbers, default 1')
    verb.add_argument('--block', type=layer, action='append', metavar='NAME:TOP',
                      help='elements whose centres lie below z = TOP, in metres or "top"; again for each lower layer')


def layer(text):
    name, colon, top = text.rpartition(':')
    if not colon or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is no NAME:TOP")
    return name, np.inf if top == 'top' else number(-1e8, 1e8, 'm')(top)


def make(a):
    for x in 'xyz':
        low, high = getattr(a, x)
        if not low < high:
            fail(f'--{x} {low:g} {high:g}: the second must be larger')
    n = np.array(a.elements)
    step = 1 if a.nodes == 8 else 2
    if np.prod(n) > MOST:
        fail(f'the box would have {np.prod(n)} elements, at most {MOST}: give fewer --elements')
    mesh = box([a.x, a.y, a.z], n, a.nodes, a.block or [('', np.inf)])
    if a.shake:
        mesh.nodes = shaken(mesh.nodes, [a.x, a.y, a.z], n * step, a.shake, a.seed)
        left = check.thickness(mesh)
        if left.min() < 1:
            fail(f'--shake {a.shake:g} turns {np.count_nonzero(left < 1)} elements inside out, the worst is '
                 f'{check.place(mesh, left.argmin())}; give a smaller one')
    return mesh


def box(limits, n, per, layers):
    """A regular mesh: `limits` ((x0, x1), ...), `n` elements along x, y, z; `layers` (name, top) downwards."""
    step = 1 if per == 8 else 2
    along = [np.linspace(low, high, step * count + 1) for (low, high), count in zip(limits, n)]
    nodes = np.stack(np.meshgrid(*along, indexing='ij'), -1).transpose(2, 1, 0, 3).reshape(-1, 3)
    sizes = np.array([len(x) for x in along])
    weight = np.array([1, sizes[0], sizes[0] * sizes[1]])
    first = np.stack(np.meshgrid(*map(np.arange, n), indexing='ij'), -1).transpose(2, 1, 0, 3).reshape(-1, 3) * step @ weight
    offsets = (hexahedron.PLACES['exodus'][:per] + 1) * step // 2 @ weight
    elements = first[:, None] + offsets
    tops = np.array([top for _, top in layers])
    if (np.diff(tops) >= 0).any():
        fail('--block: give the layers downwards, each with a lower top')
    depth = nodes[elements[:, :8], 2].mean(axis=1)
    block = (depth[:, None] < tops).sum(axis=1) - 1
    if block.min() < 0 or len(np.unique(block)) < len(layers):
        fail('--block: each layer must have elements, and each element a layer; the first can be NAME:top')
    order = np.argsort(block, kind='stable')
    blocks = [Block(i, name) for i, (name, _) in enumerate(layers, 1)]
    mesh = Mesh(nodes, elements[order], block[order], blocks, [])
    rows, _ = outer_faces(mesh.elements)
    mesh.side_sets = [SideSet(i, NAMES[side], np.stack([rows // 6, rows % 6], axis=1)[rows % 6 == side])
                      for i, side in enumerate((3, 1, 0, 2, 4, 5), 1)]
    return mesh


def shaken(nodes, limits, n, fraction, seed):
    """Nodes moved by up to `fraction` of the spacing along each axis, those on a side of the box within it."""
    random = np.random.default_rng(seed).uniform(-fraction, fraction, nodes.shape)
    limits = np.array(limits, float)
    spacing = np.ptp(limits, axis=1) / n
    inside = np.minimum(nodes - limits[:, 0], limits[:, 1] - nodes) > 0.25 * spacing
    return nodes + np.where(inside, random * spacing, 0.0)

