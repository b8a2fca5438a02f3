"""spl-mesh: meshes of hexahedra: converted to Exodus II, checked, described, drawn; boxes, slices of the globe."""
import contextlib
import os

import numpy as np

from spltools import cli
from spltools.cli import check_input, check_output, counted, fail, new_file, say
from spltools.mesh import abaqus, box, check, chunk, exodus, foreign, hexahedron, mesh as meshes, specfem, unv

ABOUT = """Makes meshes of hexahedra for SplSemmod: Exodus II, which ParaView and other programs open, made from
those of mesh generators.

  spl-mesh convert MODEL.msh -o model.exo            Gmsh, Abaqus, VTK, MED, UNV, a folder of SPECFEM ...
  spl-mesh box --x 0 4000 --y 0 3000 --z -2000 0 --elements 20 15 10 -o box.exo
  spl-mesh chunk --elements 16 --rows 22 12 19 --angle 3 -o slice.exo --materials slice.materials
  spl-mesh describe MESH                             numbers, sizes, quality, blocks, side sets
  spl-mesh check MESH                                exit status 1 where it cannot be used, and why
  spl-mesh draw MESH -o mesh.png

Blocks of hexahedra and surfaces of quadrilaterals keep their names (Gmsh: physical groups). Hexahedra have 8 or 27
nodes; those of 20 become 27 of the same shape. z stays as it is in the file, upwards."""

# Endings of files and their formats; those that are not in OWN meshio reads, and any other that it knows by --format.
FORMATS = {'.exo': 'exodus', '.e': 'exodus', '.ex2': 'exodus', '.g': 'exodus', '.gen': 'exodus', '.msh': 'gmsh', '.inp': 'abaqus',
           '.vtk': 'vtk', '.vtu': 'vtu', '.med': 'med', '.unv': 'unv'}
OWN = {'exodus': exodus.read, 'abaqus': abaqus.read, 'unv': unv.read, 'specfem': specfem.read}
UNITS = {'m': 1.0, 'km': 1000.0, 'ft': 0.3048, 'mm': 0.001}


def main(words):
    a = parse(words)
    return a.action(a)


def parse(words):
    p = cli.Parser(prog='spl-mesh', description=ABOUT)
    verbs = p.add_subparsers(dest='verb', required=True, metavar='VERB', parser_class=cli.Parser)

    def verb(name, action, meaning, reads=True):
        q = verbs.add_parser(name, help=meaning, description=meaning)
        q.set_defaults(action=action)
        if reads:
            q.add_argument('file', metavar='MESH', help='file of a mesh, or a mesh folder of SPECFEM')
            known = ', '.join(sorted({*FORMATS.values(), *OWN}))
            q.add_argument('--format', metavar='NAME', help=f'default: by the ending; {known}, or what else meshio reads, by the '
                           'name that meshio gives it')
            q.add_argument('--blocks', metavar='NAME', help='VTK and the like: the variable of cells that numbers the blocks')
            q.add_argument('--unit', choices=tuple(UNITS), default='m', help="of the file's coordinates, default m")
        return q

    q = verb('convert', convert, 'a mesh of another program as Exodus II')
    output(q)
    q.add_argument('--materials', metavar='TABLE', help='SPECFEM: the table of its materials to write, a line a block')
    verb('describe', describe, 'numbers, sizes, quality, blocks and side sets')
    verb('check', check_, 'whether the mesh can be used')
    q = verb('draw', draw, 'a figure of the outside of the mesh, by blocks, and of its sizes and quality')
    output(q, 'figure to write: .png, .pdf, .svg')
    q.add_argument('--view', type=cli.number(-360, 360), nargs=2, default=(25.0, -60.0), metavar=('ELEVATION', 'AZIMUTH'),
                   help='from where, in degrees; default 25 -60')
    q.add_argument('--sides', action='store_true', help='colours by side set instead of block')
    q.add_argument('--dpi', type=cli.number(20, 1200), default=150, help='dots per inch (default 150)')
    q = verb('box', box_, 'a box of hexahedra, for tests and first steps', reads=False)
    output(q)
    box.options(q)
    q = verb('chunk', chunk_, 'a slice of a cubed sphere through crust and mantle, with PREM', reads=False)
    output(q)
    chunk.options(q)
    return p.parse_args(words)


def output(q, meaning='Exodus II to write'):
    q.add_argument('-o', '--output', required=True, metavar='OUT', help=meaning)
    q.add_argument('--overwrite', action='store_true', help='replace OUT if it exists')


# --- reading ---------------------------------------------------------------------------------------------------------

def read(a, tell=True, tidy=True):
    """The mesh that the options name."""
    kind = a.format or (FORMATS.get(os.path.splitext(a.file)[1].lower()) if not os.path.isdir(a.file) else 'specfem')
    if kind != 'specfem':
        check_input(a.file)
    if kind is None:
        fail(f"{a.file}: the ending does not tell the format; give --format, such as {', '.join(sorted(set(FORMATS.values())))}")
    if a.blocks and kind in OWN:
        fail(f'--blocks {a.blocks}: {kind} tells its blocks itself; leave it out')
    raw = OWN[kind](a.file) if kind in OWN else foreign.read(a.file, kind, a.blocks)
    raw.nodes = np.asarray(raw.nodes, float) * UNITS[a.unit]
    return meshes.build(raw, tell, tidy)


# --- verbs -----------------------------------------------------------------------------------------------------------

def convert(a):
    check_output(a.output, a.overwrite)
    table = None
    if a.materials:
        if not os.path.isdir(a.file):
            fail(f'--materials: {a.file} is no folder of SPECFEM; only there are materials')
        check_table(a)
        table = specfem.materials(a.file)
    mesh = read(a)
    write(a, mesh, f'spl-mesh convert {os.path.basename(os.path.abspath(a.file))}', table)
    for sentence in check.check(mesh):
        cli.warn(sentence)
    return 0


def box_(a):
    check_output(a.output, a.overwrite)
    words = ' '.join(f'--{x} {low:g} {high:g}' for x, (low, high) in zip('xyz', (a.x, a.y, a.z)))
    mesh = box.make(a)
    write(a, mesh, f'spl-mesh box {words} --elements {" ".join(map(str, a.elements))} --shake {a.shake:g} --seed {a.seed}')
    return 0


def chunk_(a):
    check_output(a.output, a.overwrite)
    if a.materials:
        check_table(a)
    mesh, table = chunk.make(a)
    write(a, mesh, f'spl-mesh chunk --elements {a.elements} --rows {" ".join(map(str, a.rows))} --angle {a.angle:g}',
          table if a.materials else None)
    return 0


def check_table(a):
    check_output(a.materials, a.overwrite)
    if os.path.realpath(a.materials) == os.path.realpath(a.output):
        fail(f'{a.materials} is to be the mesh and the table of materials: give two names')


def write(a, mesh, title, table=None):
    """The mesh and, where there is one, the table of its materials: both, or none."""
    with contextlib.ExitStack() as stack:
        if table:
            with open(stack.enter_context(new_file(a.materials, a.overwrite)), 'w') as file:
                file.write('\n'.join(table) + '\n')
        exodus.write(a.output, mesh, title, a.overwrite)
    numbers(mesh)
    say('written: ' + a.output + (f', {a.materials}' if table else ''))


def numbers(mesh):
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    say(f'mesh: {counted(len(mesh.elements), "hexahedron", "hexahedra")} of {mesh.per_element()} nodes, {len(mesh.nodes)} nodes')
    say('extent: ' + ', '.join(f'{x} {a:g} .. {b:g} m' for x, a, b in zip('xyz', low, high)) + ' (z up)')
    for i, one in enumerate(mesh.blocks):
        say(f'block {one.id} {one.name or "(no name)"}: {counted(np.count_nonzero(mesh.block == i), "element")}')
    for one in mesh.side_sets:
        say(f'side set {one.id} {one.name or "(no name)"}: {counted(len(one.sides), "side")}')
    rows, _ = meshes.outer_faces(mesh.elements)
    named = np.concatenate([one.sides @ (6, 1) for one in mesh.side_sets] or [np.zeros(0, np.int64)])
    say(f'outside: {counted(len(rows), "side")}, {len(np.setdiff1d(rows, named))} of them in no side set')
    inner = np.setdiff1d(named, rows)
    if len(inner):
        say(f'inside: {len(inner)} sides of side sets lie between two elements')


def describe(a):
    mesh = read(a, tidy=False)
    numbers(mesh)
    edges = hexahedron.edge_lengths(mesh.nodes, mesh.elements)
    volume, least = hexahedron.quadrature(mesh.nodes, mesh.elements)
    scaled = hexahedron.scaled_jacobian(mesh.nodes, mesh.elements)
    for i, one in enumerate(mesh.blocks):
        rows = np.flatnonzero(mesh.block == i)
        if len(rows):
            say(f'sizes in block {one.name or one.id}: edges {edges[rows].min():.6g} .. {edges[rows].max():.6g} m (mean '
                f'{edges[rows].mean():.6g}), volume {volume[rows].sum():.9g} m3')
    with np.errstate(over='ignore'):               # an edge may have no length
        ratio = edges.max(axis=1) / np.maximum(edges.min(axis=1), np.finfo(float).tiny)
    say(f'longest over shortest edge: {ratio.mean():.3g}, at most {ratio.max():.4g} ({check.place(mesh, ratio.argmax())})')
    say(f'scaled Jacobian (1 is a brick): {scaled.mean():.3g}, at least {scaled.min():.4g} ({check.place(mesh, scaled.argmin())})')
    say(f'least Jacobian over its mean: {least.mean():.3g}, at least {least.min():.4g} ({check.place(mesh, least.argmin())})')
    return 0


def check_(a):
    mesh = read(a, tidy=False)
    found = check.check(mesh)
    for sentence in found[1:]:
        cli.warn(sentence)
    if found:
        fail(f'{a.file}: {found[0]}')
    say(f'{a.file}: {counted(len(mesh.elements), "hexahedron", "hexahedra")}, no fault found')
    return 0


def draw(a):
    from spltools.mesh import draw as figure
    from spltools.plot import figures

    check_output(a.output, a.overwrite)
    figures.check_ending(a.output)
    figure.draw(read(a), a)
    return 0
