"""Hexahedra of 8, 20 and 27 nodes: in which order other programs number their nodes, their sides, shape functions and Jacobians.

Corners 1..8 are those of Exodus II (Schoof & Yarberry 1994, SAND92-2137): 1 2 3 4 around zeta = -1, 5 6 7 8 above them; xi from 1
to 2, eta from 1 to 4, zeta from 1 to 5. Sides 1..6: eta = -1, xi = +1, eta = +1, xi = -1, zeta = -1, zeta = +1."""
import numpy as np

CORNERS = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)])
SIDES = np.array([(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7)])   # seen from outside

# Further nodes, each as the corners in whose middle it is.
_BOTTOM, _UPRIGHT, _TOP = ('12', '23', '34', '41'), ('15', '26', '37', '48'), ('56', '67', '78', '85')
_S, _E, _N, _W, _B, _T = ('1265', '2376', '3487', '1584', '1432', '5678')
_CENTRE = '12345678'
FURTHER = {
    # Exodus II manual, table of sides of HEX27
    'exodus': (*_BOTTOM, *_UPRIGHT, *_TOP, _CENTRE, _B, _T, _W, _E, _S, _N),
    # vtkTriQuadraticHexahedron; meshio numbers so what it reads of Gmsh
    'vtk': (*_BOTTOM, *_TOP, *_UPRIGHT, _W, _E, _S, _N, _B, _T, _CENTRE),
    # Gmsh reference manual, node ordering
    'gmsh': ('12', '14', '15', '23', '26', '34', '37', '48', '56', '58', '67', '78', _B, _S, _W, _E, _N, _T, _CENTRE),
    # SPECFEM3D, hex_nodes.f90
    'specfem': (*_BOTTOM, *_UPRIGHT, *_TOP, _B, _S, _E, _N, _W, _T, _CENTRE),
    # C3D27: the centre, then the faces S1..S6
    'abaqus': (*_BOTTOM, *_TOP, *_UPRIGHT, _CENTRE, _B, _T, _S, _E, _N, _W),
    # MED's HEXA27, whose corners are numbered upside down
    'med': (*_BOTTOM, *_TOP, *_UPRIGHT, _B, _S, _E, _N, _W, _T, _CENTRE),
}

EDGES = np.array([[int(corner) - 1 for corner in pair] for pair in FURTHER['exodus'][:12]])     # the ends of nodes 9..20 of Exodus
SIDE_MIDDLES = [25, 24, 26, 23, 21, 22]                     # of each side, in the order of Exodus


def _places(order):
    middles = [np.mean([CORNERS[int(corner) - 1] for corner in corners], axis=0) for corners in FURTHER[order]]
    return np.rint(np.vstack([CORNERS, *middles])).astype(int)


PLACES = {order: _places(order) for order in FURTHER}       # (27, 3), of -1, 0, 1
# Numbers of the nodes of an element that is turned upside down: a left-handed one becomes right-handed.
MIRROR = {n: [int(np.flatnonzero((PLACES['exodus'] == place * (1, 1, -1)).all(1))[0]) for place in PLACES['exodus'][:n]]
          for n in (8, 27)}


def exodus_from(order):
    """Of each node in the order of Exodus its number in the other order: elements[:, exodus_from(order)] is in that of Exodus."""
    return [int(np.flatnonzero((PLACES[order] == place).all(1))[0]) for place in PLACES['exodus']]


def straight(corners):
    """The 27 places, in the order of Exodus, of elements with straight edges: (n, 27, 3) of the corners (n, 8, 3)."""
    return np.einsum('pc,ncx->npx', shape(PLACES['exodus'], 8)[0], corners)


def add_middles(nodes, elements):
    """Elements of 27 nodes that have the shape of those of 20, and the nodes with those in the middles of faces and elements: shape
    functions of 20 nodes lie in the space of those of 27. `elements` (n, 20) are in the order in which those of Exodus begin."""
    along = {frozenset(corners): 8 + i for i, corners in enumerate(FURTHER['exodus'][:12])}
    found, faces = [], []
    for corners in FURTHER['exodus'][13:]:
        edges = [along[pair] for pair in (frozenset(corners[i] + corners[(i + 1) % 4]) for i in range(4))]
        corners = [int(c) - 1 for c in corners]
        faces.append(np.sort(elements[:, corners], axis=1))
        found.append(nodes[elements[:, edges]].sum(1) / 2 - nodes[elements[:, corners]].sum(1) / 4)
    n = len(elements)
    _, first, face = np.unique(np.concatenate(faces), axis=0, return_index=True, return_inverse=True)
    centre = nodes[elements[:, 8:20]].sum(1) / 4 - nodes[elements[:, :8]].sum(1) / 4
    numbers = len(nodes) + face.reshape(6, n).T
    centres = len(nodes) + len(first) + np.arange(n)[:, None]
    return np.vstack([nodes, np.concatenate(found)[first], centre]), np.hstack([elements, centres, numbers])


def shape(places, per):
    """Shape functions (points, per) of elements of `per` = 8 or 27 nodes and their derivatives (3, points, per)."""
    places = np.atleast_2d(np.asarray(places, float))
    nodes = PLACES['exodus'][:per]
    value, slope = [], []
    for x, node in zip(places.T, nodes.T):
        x = x[:, None]
        if per == 8:
            value.append((1 + x * node) / 2)
            slope.append(np.broadcast_to(node / 2, (len(x), per)))
        else:           # Lagrange polynomials of -1, 0, 1
            value.append(np.where(node == 0, 1 - x * x, x * (x + node) / 2))
            slope.append(np.where(node == 0, -2 * x, x + node / 2))
    functions = value[0] * value[1] * value[2]
    return functions, np.stack([slope[0] * value[1] * value[2], value[0] * slope[1] * value[2], value[0] * value[1] * slope[2]])


GLL = np.array([-1, -np.sqrt(3 / 7), 0, np.sqrt(3 / 7), 1])        # where the solver has its points, degree 4
GLL_WEIGHTS = np.array([1 / 10, 49 / 90, 32 / 45, 49 / 90, 1 / 10])


def at_points(x):
    """All places (len(x)**3, 3) that have the given coordinates; the first coordinate runs fastest."""
    return np.stack(np.meshgrid(x, x, x, indexing='ij'), -1).reshape(-1, 3)[:, ::-1]


def _slopes(nodes, elements, places, most=1024):
    """Derivatives of x, y, z along each of the three axes, three of (3, points, elements), of parts of the elements, one after the
    other."""
    slope = shape(places, elements.shape[1])[1].reshape(-1, elements.shape[1])
    for first in range(0, len(elements), most):
        x = nodes[elements[first:first + most]].transpose(1, 2, 0)
        d = (slope @ x.reshape(len(x), -1)).reshape(3, len(places), 3, -1)
        yield tuple(d[axis].transpose(1, 0, 2) for axis in range(3))


def _determinant(u, v, w):
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])


def jacobians(nodes, elements, places):
    """Determinants of the Jacobian [m3] at the places, (points, elements), of parts of the elements, one after the other."""
    for slopes in _slopes(nodes, elements, places):
        yield _determinant(*slopes)


def flatness(nodes, elements):
    """Of each element the least, over the points of the solver, of the Jacobian in parts of the product of the lengths of its
    columns, 1 where edges are at right angles; and in parts of the largest one of the element."""
    tiny, found = np.finfo(float).tiny, []
    for slopes in _slopes(nodes, elements, at_points(GLL)):
        j = _determinant(*slopes)
        angle = j / np.maximum(np.sqrt(np.prod([(one * one).sum(axis=0) for one in slopes], axis=0)), tiny)
        found.append((angle.min(axis=0), j.min(axis=0) / np.maximum(j.max(axis=0), tiny)))
    return tuple(np.concatenate(part) for part in zip(*found))


def quadrature(nodes, elements):
    """Of each element its volume [m3], exact, as determinants are of degree 5 in each coordinate and the quadrature is right to
    degree 7; and the least determinant at the points of the solver in parts of the mean of their absolute values: those of an
    element that is partly inside out may sum to nothing."""
    points, weight = at_points(GLL), np.prod(at_points(GLL_WEIGHTS), axis=1)
    found = [(weight @ j, j.min(axis=0), weight @ np.abs(j)) for j in jacobians(nodes, elements, points)]
    volume, least, size = (np.concatenate(part) for part in zip(*found))
    return volume, least / np.maximum(size / 8, np.finfo(float).tiny)


def inside_out(nodes, element):
    """Part of the volume of one element that is inside out, 0 .. 1; none of an element without volume."""
    weight = np.prod(at_points(GLL_WEIGHTS), axis=1)
    j = next(jacobians(nodes, element[None], at_points(GLL)))[:, 0]
    return float(weight @ np.maximum(-j, 0)) / max(float(weight @ np.abs(j)), np.finfo(float).tiny)


def scaled_jacobian(nodes, elements):
    """Of each element the least, over its corners, of the triple product of the directions of the edges there: 1 is a brick, <= 0
    cannot be used (Knupp 2000, doi:10.1016/S0168-874X(99)00070-6)."""
    corners = nodes[elements[:, :8]]
    least = np.full(len(elements), np.inf)
    for corner, place in enumerate(CORNERS):
        edges = []
        for axis in range(3):
            to = int(np.flatnonzero((CORNERS == place * np.where(np.arange(3) == axis, -1, 1)).all(1))[0])
            edge = (corners[:, to] - corners[:, corner]) * -place[axis]
            length = np.linalg.norm(edge, axis=1, keepdims=True)
            edges.append(np.divide(edge, length, out=np.zeros_like(edge), where=length > 0))
        least = np.minimum(least, np.einsum('nx,nx->n', edges[0], np.cross(edges[1], edges[2])))
    return least


def edge_lengths(nodes, elements):
    """Lengths [m] of the twelve straight edges, (n, 12)."""
    corners = nodes[elements[:, :8]]
    return np.linalg.norm(corners[:, EDGES[:, 0]] - corners[:, EDGES[:, 1]], axis=2)
