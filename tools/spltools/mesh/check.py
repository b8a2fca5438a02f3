"""Faults of a mesh: sentences, each with an element and a place, of what the program refuses as well (mesh_check.f90)."""
import numpy as np

from spltools.mesh import hexahedron
from spltools.mesh.mesh import at, faces, numbered, outer_faces

LEAST_ANGLE = 1e-2      # of the Jacobian at a point, in parts of the product of the lengths of its columns: half a degree
LEAST_PART = 1e-4       # of the same, in parts of the largest one of its element
NEAR = 1e-3             # nodes nearer than this part of the shortest edge of either are at one place
INSIDE = 1e-3           # a node nearer to a face than this part of its size lies on it


def check(mesh):
    """Sentences, most serious first; none: the mesh can be used."""
    tests = _volumes, _twice, _double_nodes, _shared, _hanging, _middles, _parts, _loose
    return [sentence for test in tests for sentence in test(mesh)]


def place(mesh, element):
    return f'element {element + 1} at {at(mesh.nodes[mesh.elements[element]].mean(axis=0))}'


def _volumes(mesh):
    least = hexahedron.quadrature(mesh.nodes, mesh.elements)[1]
    bad = least <= 0
    if bad.any():
        e = least.argmin()
        yield (f'{bad.sum()} of {len(bad)} elements are inverted or have no volume: the worst is {place(mesh, e)}, '
               f'{_turned(mesh, e)}')
    angle, part = hexahedron.flatness(mesh.nodes, mesh.elements)
    worst = _thickness(angle, part)
    bad = (least > 0) & (worst < 1)
    if bad.any():
        e = np.where(bad, worst, np.inf).argmin()
        yield (f'{bad.sum()} of {len(bad)} elements are nearly flat somewhere: the worst is {place(mesh, e)}, where volume (the '
               f'Jacobian) falls to {angle[e]:.3g} of that of edges at right angles, must be at least {LEAST_ANGLE:g}, and to '
               f'{part[e]:.3g} of its largest in the element, must be at least {LEAST_PART:g}; move its nodes apart')


def _thickness(angle, part):
    return np.minimum(angle / LEAST_ANGLE, part / LEAST_PART)


def thickness(mesh):
    """Of each element how far it is from what is refused: at 1; below 0 it is inside out somewhere."""
    return _thickness(*hexahedron.flatness(mesh.nodes, mesh.elements))


def _turned(mesh, e):
    part = hexahedron.inside_out(mesh.nodes, mesh.elements[e])
    if part > 1 - 1e-9:
        return ('all of which is inside out: its nodes are numbered like those of its mirror image, or two of its sides are '
                'crossed; spl-mesh convert renumbers elements that are mirrored')
    if part > 1e-9:
        return f'{max(100 * part, 0.1):.2g} % of whose volume is inside out: move the nodes that lie beyond the opposite side'
    return 'which is flat somewhere, as its nodes lie in a plane, on a line or at one place there: move them apart'


def _twice(mesh):
    for what, nodes in (('corner', mesh.elements[:, :8]), ('node', mesh.elements)):
        bad = (np.diff(np.sort(nodes, axis=1), axis=1) == 0).any(axis=1)
        if bad.any():
            yield f'{bad.sum()} elements have a {what} twice, the first is {place(mesh, bad.argmax())}'
            break
    number = numbered(np.sort(mesh.elements[:, :8], axis=1))
    count = np.bincount(number)
    if (count > 1).any():
        first, second = np.flatnonzero(number == np.argmax(count > 1))[:2]
        yield (f'{(count - 1).sum()} elements are there twice, the first is {place(mesh, second)}, with the corners of element '
               f'{first + 1}; is a volume in two physical groups?')


def _double_nodes(mesh):
    """Nodes at one place."""
    near = np.maximum(NEAR * _shortest_edges(mesh), float(np.ptp(mesh.nodes, axis=0).max()) * 1e-12 + 1e-15)
    box, node = _near(mesh.nodes, np.arange(len(mesh.nodes)), mesh.nodes - near[:, None], mesh.nodes + near[:, None])
    first, second = np.minimum(box, node), np.maximum(box, node)
    apart = np.linalg.norm(mesh.nodes[first] - mesh.nodes[second], axis=1)
    same = (first != second) & (apart <= np.minimum(near[first], near[second]))
    first, second = first[same], second[same]
    if len(second):
        b = second.min()
        a = first[second == b].min()
        yield (f'{len(np.unique(second))} nodes are at the place of another one, the first are nodes {a + 1} and {b + 1} at '
               f'{at(mesh.nodes[b])}, where elements are not joined; merge them in the mesher (Gmsh: Coherence)')


def _shortest_edges(mesh):
    """Of each node the shortest edge [m] of its elements that ends there, of one in the middle of something half their shortest."""
    shortest = np.full(len(mesh.nodes), np.inf)
    lengths = hexahedron.edge_lengths(mesh.nodes, mesh.elements)
    for length, ends in zip(lengths.T, hexahedron.EDGES):
        for end in ends:
            np.minimum.at(shortest, mesh.elements[:, end], length)
    for middle in mesh.elements[:, 8:].T:
        np.minimum.at(shortest, middle, lengths.min(axis=1) / 2)
    return np.where(np.isfinite(shortest), shortest, 0)       # of loose nodes


def _shared(mesh):
    most = outer_faces(mesh.elements)[1]
    if most > 2:
        number = numbered(faces(mesh.elements))
        row = np.flatnonzero(np.bincount(number)[number] > 2)[0]
        yield f'a face belongs to {most} elements, the first to {place(mesh, row // 6)}; must be one or two'


def _hanging(mesh):
    """Corners of the outside that lie on a face there without being its corner."""
    rows = outer_faces(mesh.elements)[0]
    if not len(rows):                           # every element is there twice, which another test tells
        return
    corner = mesh.elements[rows // 6][np.arange(len(rows))[:, None], hexahedron.SIDES[rows % 6]]
    x = mesh.nodes[corner]
    size = np.maximum(np.ptp(x, axis=1).max(axis=1), np.finfo(float).tiny)
    margin = INSIDE * size[:, None]
    face, node = _near(mesh.nodes, np.unique(corner), x.min(axis=1) - margin, x.max(axis=1) + margin)
    other = (corner[face] != node[:, None]).all(axis=1)
    face, node = face[other], node[other]
    on = _on_face(mesh.nodes[node], x[face], size[face])
    face, node = face[on], node[on]
    if len(face):
        yield (f'{len(np.unique(face))} faces have hanging nodes (faces of neighbours do not match): the first is one of '
               f'{place(mesh, rows[face[0]] // 6)}, on which node {node[0] + 1} lies, {at(mesh.nodes[node[0]])}; mesh the volumes '
               'conformally')


def _near(places, nodes, low, high):
    """Pairs of box and node in it: of the boxes from `low` to `high` (n, 3), by buckets as large as the largest box."""
    width = float((high - low).max())
    first = places[nodes].min(axis=0) - width
    count = (np.ptp(places[nodes], axis=0) / width).astype(np.int64) + 4
    weight = np.array([1, count[0], count[0] * count[1]])
    of_node = np.floor((places[nodes] - first) / width).astype(np.int64) @ weight
    order = np.argsort(of_node, kind='stable')
    of_node, nodes = of_node[order], nodes[order]
    begin, end = (np.floor((edge - first) / width).astype(np.int64) for edge in (low, high))
    pairs = []
    for shift in np.ndindex(2, 2, 2):           # no box is larger than a bucket, so it lies in two along each axis
        box = np.flatnonzero((begin + shift <= end).all(axis=1))
        bucket = (begin[box] + shift) @ weight
        start, stop = np.searchsorted(of_node, bucket), np.searchsorted(of_node, bucket, side='right')
        box = np.repeat(box, stop - start)
        run = np.arange(len(box)) - np.repeat(np.cumsum(stop - start) - (stop - start), stop - start)
        node = nodes[np.repeat(start, stop - start) + run]
        inside = ((places[node] >= low[box]) & (places[node] <= high[box])).all(axis=1)
        pairs.append(np.stack([box[inside], node[inside]]))
    pairs = np.concatenate(pairs, axis=1)
    return pairs[:, np.lexsort(pairs[::-1])]


def _on_face(points, x, size):
    """True for the points (n, 3) that lie on their faces of corners x (n, 4, 3), edges included: on one of the four triangles that
    the diagonals make. Nodes at the place of a corner are told as double ones."""
    on = np.zeros(len(points), bool)
    for a, b, c in ((0, 1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3)):
        u, v, w = x[:, b] - x[:, a], x[:, c] - x[:, a], points - x[:, a]
        uu, uv, vv, wu, wv = (np.einsum('nx,nx->n', p, q) for p, q in ((u, u), (u, v), (v, v), (w, u), (w, v)))
        square = uu * vv - uv * uv
        flat = square <= 1e-12 * size**4
        square[flat] = 1
        s, t = (vv * wu - uv * wv) / square, (uu * wv - uv * wu) / square
        off = np.linalg.norm(w - s[:, None] * u - t[:, None] * v, axis=1)
        on |= ~flat & (np.minimum(s, t) >= -INSIDE) & (s + t <= 1 + INSIDE) & (off <= INSIDE * size)
    corner = (np.linalg.norm(points[:, None] - x, axis=2) <= INSIDE * size[:, None]).any(axis=1)
    return on & ~corner


def _middles(mesh):
    """Edges and sides that elements share have one node in their middle, else the elements part or overlap there."""
    if mesh.per_element() != 27:
        return
    edges = np.sort(mesh.elements[:, hexahedron.EDGES].reshape(-1, 2), axis=1)
    for what, rows, middle in (('edge', edges, mesh.elements[:, 8:20]),
                               ('side', faces(mesh.elements), mesh.elements[:, hexahedron.SIDE_MIDDLES])):
        number, middle, per = numbered(rows), middle.ravel(), middle.shape[1]
        _, first = np.unique(number, return_index=True)
        other = middle[first][number]
        differs = middle != other
        if differs.any():
            row = differs.argmax()
            a, b = middle[row], other[row]
            yield (f'{differs.sum()} {what}s have another node in their middle than in the neighbour: the first is of '
                   f'{place(mesh, row // per)}, with node {a + 1} at {at(mesh.nodes[a])}, where another element has node {b + 1} '
                   f'at {at(mesh.nodes[b])}; merge them in the mesher')


def _parts(mesh):
    """Elements that share sides, by way of others too, are a part: no wave goes from one part to another."""
    number = numbered(faces(mesh.elements))
    row = np.argsort(number, kind='stable')
    joined = np.diff(number[row]) == 0
    one, two = row[:-1][joined] // 6, row[1:][joined] // 6
    part = np.arange(len(mesh.elements))        # of each element the first one of its part, as far as is known
    while True:
        low, before = np.minimum(part[one], part[two]), part.copy()
        np.minimum.at(part, before[one], low)
        np.minimum.at(part, before[two], low)
        while not np.array_equal(part, part[part]):
            part = part[part]
        if np.array_equal(part, before):
            break
    if part.any():
        yield (f'the mesh is in {len(np.unique(part))} parts that share no sides, {np.count_nonzero(part == 0)} of {len(part)} '
               f'elements in the first; the next begins with {place(mesh, (part != 0).argmax())}; join them in the mesher so that '
               'neighbours share faces, or give one part alone')


def _loose(mesh):
    used = np.zeros(len(mesh.nodes), bool)
    used[mesh.elements] = True
    if not used.all():
        node = int((~used).argmax())
        yield (f'{(~used).sum()} of {len(used)} nodes belong to no element, the first is node {node + 1} at '
               f'{at(mesh.nodes[node])}; spl-mesh convert leaves them out')
