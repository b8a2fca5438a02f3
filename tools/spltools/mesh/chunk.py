"""spl-mesh chunk: a slice of a cubed sphere through crust and mantle, whose elements double their width twice with depth, with the
isotropic PREM."""
import numpy as np

from spltools.cli import fail, number
from spltools.mesh import hexahedron
from spltools.mesh.mesh import Block, Mesh, SideSet, outer_faces

EARTH, CORE = 6371e3, 3480e3                               # radii [m]
MOST = 20000000
# Isotropic PREM (Dziewonski & Anderson 1981, Phys. Earth Planet. Inter. 25, 297-356): radius of the top [km], polynomials of
# rho [g/cm3], vp, vs [km/s] in radius/6371 km, Q of mu; Q of the bulk modulus is 57823. There is no ocean. Upper boundaries to
# which levels of nodes are moved are marked.
LOWER = (7.9565, -6.4761, 5.5283, -3.0807)
PREM = [(3630, 0, LOWER, (15.3891, -5.3181, 5.5242, -2.5514), (6.9254, 1.4672, -2.0834, 0.9783), 312),
        (5600, 0, LOWER, (24.9520, -40.4673, 51.4832, -26.6419), (11.1671, -13.7818, 17.4575, -9.2777), 312),
        (5701, 1, LOWER, (29.2766, -23.6027, 5.5242, -2.5514), (22.3459, -17.2473, -2.0834, 0.9783), 312),
        (5771, 0, (5.3197, -1.4836), (19.0957, -9.8672), (9.9839, -4.9324), 143),
        (5971, 1, (11.2494, -8.0298), (39.7027, -32.6166), (22.3512, -18.5856), 143),
        (6151, 1, (7.1089, -3.8045), (20.3926, -12.2569), (8.9496, -4.4597), 143),
        (6291, 0, (2.6910, 0.6924), (4.1875, 3.9382), (2.1519, 2.3481), 80),
        (6346.6, 1, (2.6910, 0.6924), (4.1875, 3.9382), (2.1519, 2.3481), 600),
        (6356, 0, (2.900,), (6.800,), (3.900,), 600),
        (6371, 0, (2.600,), (5.800,), (3.200,), 600)]


def options(verb):
    verb.add_argument('--elements', type=number(4, 2000, whole=True), required=True, metavar='N',
                      help='along each side of the surface, a multiple of 8')
    verb.add_argument('--rows', type=number(1, 2000, whole=True), nargs=3, required=True, metavar=('A', 'B', 'C'),
                      help='of elements: above the first doubling, between both, below the second')
    verb.add_argument('--angle', type=number(0.1, 90), required=True, metavar='DEGREES', help='width of the slice along each side')
    verb.add_argument('--nodes', type=int, choices=(8, 27), default=27, help='of an element, default 27: sides are curved')
    verb.add_argument('--materials', metavar='TABLE', help='PREM in the middle of each block to write, for materials=')


def make(a):
    if a.elements % 8:
        fail(f'--elements {a.elements}: the slice is halved twice in bricks of four, give a multiple of 8')
    count = a.elements**2 * (16 * a.rows[0] + 4 * a.rows[1] + a.rows[2] + 45) // 16
    if count > MOST:
        fail(f'the slice would have {count} elements, at most {MOST}: give fewer --elements or --rows')
    corners, heights = bricks(a.elements, a.rows)
    radius = radii(heights, a.rows)
    middle = np.interp(corners[..., 2].mean(axis=1), np.arange(len(radius)), radius)
    depths, block = np.unique(np.rint((EARTH - middle) / 10), return_inverse=True)
    order = np.argsort(block, kind='stable')
    corners, block = corners[order], block[order]
    more = hexahedron.FURTHER['exodus'] if a.nodes == 27 else ()
    places = [corners[:, i] for i in range(8)] + [corners[:, [int(c) - 1 for c in name]].mean(axis=1) for name in more]
    keys, elements = np.unique(np.rint(4 * np.stack(places, axis=1)).astype(np.int64).reshape(-1, 3), axis=0, return_inverse=True)
    nodes = on_sphere(keys / 4, a.elements, np.radians(a.angle), radius)
    blocks = [Block(i, f'depth{round(depth / 100)}') for i, depth in enumerate(depths, 1)]
    mesh = Mesh(nodes, elements.reshape(len(corners), -1), block, blocks, [])
    mesh.side_sets = sides(mesh, keys)
    return mesh, [material(block.name, EARTH - 10 * depth) for block, depth in zip(blocks, depths)]


def bricks(n, rows):
    """Corners (element, 8, 3) in steps of an element of the surface and in levels of nodes, from 0 at the surface down; heights of
    levels in such steps."""
    found, heights, step = [], [], 1
    for count, doubles in zip(rows, (True, True, False)):
        for _ in range(count):
            brick = np.array([[(0, 1), (1, 1), (1, 0), (0, 0)]]) * (step, 1)
            found.append(extruded(brick, step, n, step, len(heights), False))
            heights += [step]
        if doubles:
            found.append(extruded(half_as_many(step), 4 * step, n, step, len(heights), True))
            heights += [step, step]
            found.append(extruded(half_as_many(step), 4 * step, n, 2 * step, len(heights), False))
            heights += [1.5 * step, 1.5 * step]
            step *= 2
    return np.concatenate(found), heights


def half_as_many(step):
    """Quadrilaterals (along, level) with four sides above and two below, over two levels."""
    x = {f'{name}{i}': (i * step, level) for level, name in enumerate('tmb') for i in range(5)}
    names = ('b0 m1 t1 t0', 'b0 b2 m2 m1', 'm1 m2 t2 t1', 'b2 b4 m3 m2', 'm2 m3 t3 t2', 'b4 t4 t3 m3')
    return np.array([[x[name] for name in quad.split()] for quad in names])


def extruded(quads, period, n, across, level, turned):
    """Hexahedra from quadrilaterals (along, level), numbered counter-clockwise where levels go down, repeated every `period` and
    drawn out across in steps: (element, 8, x y level). `turned`: along y, across x."""
    along = np.concatenate([quads + (start, level) for start in range(0, n, period)])
    found = []
    for start in range(0, n, across):
        back, front = np.insert(along.astype(float), 1, start + across, axis=2), np.insert(along.astype(float), 1, start, axis=2)
        found.append(np.concatenate([front, back] if turned else [back, front], axis=1))
    return np.concatenate(found)[..., [1, 0, 2] if turned else [0, 1, 2]]


def radii(heights, rows):
    """Of levels from the surface down: the largest discontinuities fall on the nearest levels that are in no doubling."""
    level = np.concatenate([[0], np.cumsum(heights)])
    radius = EARTH - level / level[-1] * (EARTH - CORE)
    doubles = {i + k for i in (rows[0], rows[0] + 4 + rows[1]) for k in (1, 2, 3)}
    held = {0: EARTH, len(level) - 1: CORE}
    for top, marked, *_ in PREM:
        nearest = int(np.abs(radius - 1e3 * top).argmin())
        if marked and nearest not in held and nearest not in doubles:
            held[nearest] = 1e3 * top
    at = sorted(held)
    return np.interp(level, level[at], [held[i] for i in at])


def on_sphere(x, n, angle, radius):
    """Places [m] of points x (along, along, level); z up from the middle of the surface."""
    tangent = np.tan((x[:, :2] / n - 0.5) * angle)
    r = np.interp(x[:, 2], np.arange(len(radius)), radius) / np.sqrt(1 + np.square(tangent).sum(axis=1))
    return np.column_stack([tangent * r[:, None], r]) - (0, 0, EARTH)


def sides(mesh, keys):
    """free: the surface; absorbing: the others."""
    rows, _ = outer_faces(mesh.elements)
    at = np.stack([rows // 6, rows % 6], axis=1)
    level = keys[mesh.elements[at[:, :1], hexahedron.SIDES[at[:, 1]]], 2]
    free = (level == 0).all(axis=1)
    return [SideSet(1, 'free', at[free]), SideSet(2, 'absorbing', at[~free])]


def material(name, radius):
    """A line of materials=: vp, vs, rho, Qp, Qs at a radius [m]."""
    x = radius / EARTH
    top, _, rho, vp, vs, q = next(row for row in PREM if radius <= 1e3 * row[0] + 1)
    rho, vp, vs = (1e3 * np.polynomial.polynomial.polyval(x, c) for c in (rho, vp, vs))
    share = 4 / 3 * (vs / vp)**2
    return f'{name} {vp:.2f} {vs:.2f} {rho:.2f} {1 / (share / q + (1 - share) / 57823):.2f} {q}'
