"""Figure of a mesh: its outside by blocks or side sets, seen from outside, and how large and how good its elements are."""
import numpy as np

from spltools.cli import counted, new_file, say, warn
from spltools.mesh import hexahedron
from spltools.mesh.mesh import outer_faces
from spltools.plot import figures
from spltools.plot.figures import plt

MOST = 200000           # faces that are drawn; of more, every n-th
NO_SET = '#d9d9d9'


def draw(mesh, a):
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    rows, _ = outer_faces(mesh.elements)
    x = mesh.nodes[mesh.elements[rows // 6][np.arange(len(rows))[:, None], hexahedron.SIDES[rows % 6]]]
    kind, names, palette = sets_of(mesh, rows) if a.sides else blocks_of(mesh, rows)
    seen = faces_the_eye(x, a.view)
    if seen.sum() > MOST:
        warn(f'{seen.sum()} faces are seen: every {-(-seen.sum() // MOST)}-th is drawn')
        seen[np.flatnonzero(seen)[np.arange(seen.sum()) % -(-seen.sum() // MOST) > 0]] = False
    figure = plt.figure(figsize=(11, 6), constrained_layout=True)
    grid = figure.add_gridspec(2, 2, width_ratios=(2.4, 1))
    ax = figure.add_subplot(grid[:, 0], projection='3d', computed_zorder=False)
    shade = shaded(x[seen])
    colour = palette[kind[seen]].copy()
    colour[:, :3] *= shade[:, None]
    ax.add_collection3d(Poly3DCollection(x[seen], facecolors=colour, edgecolors=(0, 0, 0, 0.35), linewidths=line_width(seen.sum())))
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]), xlabel='x [m]', ylabel='y [m]', zlabel='z [m]')
    ax.set_box_aspect(np.maximum(high - low, 0.02 * (high - low).max()))
    ax.view_init(*a.view)
    patches = [figures.matplotlib.patches.Patch(color=palette[i], label=name) for i, name in enumerate(names) if (kind == i).any()]
    ax.legend(handles=patches, loc='upper left', fontsize=8)
    edges = hexahedron.edge_lengths(mesh.nodes, mesh.elements)
    histogram(figure.add_subplot(grid[0, 1]), edges.mean(axis=1), 'mean edge of an element [m]')
    quality = hexahedron.scaled_jacobian(mesh.nodes, mesh.elements)
    histogram(figure.add_subplot(grid[1, 1]), quality, 'scaled Jacobian (1 is a brick)')
    figure.suptitle(f'{counted(len(mesh.elements), "hexahedron", "hexahedra")} of {mesh.per_element()} nodes, '
                    f'{len(mesh.nodes)} nodes', fontsize=10)
    ending = a.output.rsplit('.', 1)[-1].lower()
    with new_file(a.output, a.overwrite) as name:
        figures.save(figure, name, format=ending, dpi=a.dpi)
    say(a.output)


def blocks_of(mesh, rows):
    return mesh.block[rows // 6], [one.name or f'block {one.id}' for one in mesh.blocks], colours(len(mesh.blocks))


def sets_of(mesh, rows):
    """The side set of each face, the last one that has it; 0 is none."""
    kind = np.zeros(len(rows), np.int64)
    for i, one in enumerate(mesh.side_sets, 1):
        kind[np.isin(rows, one.sides @ (6, 1))] = i
    palette = np.vstack([figures.matplotlib.colors.to_rgba(NO_SET), colours(len(mesh.side_sets))])
    return kind, ['no side set', *(one.name or f'side set {one.id}' for one in mesh.side_sets)], palette


def colours(n):
    return np.array([plt.get_cmap('tab20')((2 * i + i // 10) % 20) for i in range(n)]).reshape(-1, 4)


def normals(x):
    """Outward normals [m2] of faces with corners x (n, 4, 3)."""
    return np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])


def faces_the_eye(x, view):
    elevation, azimuth = np.radians(view)
    eye = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    return normals(x) @ eye > 0


def shaded(x):
    """Light from above and the side, 0.6 .. 1."""
    n = normals(x)
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), np.finfo(float).tiny)
    return 0.8 + 0.2 * (n @ np.array([0.25, -0.45, 0.86]))


def line_width(faces):
    return 0.4 if faces < 5000 else 0.15 if faces < 50000 else 0.0


def histogram(ax, values, label):
    spread = float(np.ptp(values))
    middle = float(values.mean())
    width = max(spread, 0.02 * abs(middle), 1e-9)
    ax.hist(values, bins=40, range=(values.min() - 0.02 * width, values.min() + 1.02 * width), color='#4878a8')
    ax.set(xlabel=label, ylabel='elements')
