#!/usr/bin/env python3
"""spl-mesh makes the same mesh of hexahedra of the files of other programs: every node of 8, 20 and 27 at its place, blocks and side
sets with their names."""
import contextlib
import importlib.util
import io
import os

import meshfiles
import netCDF4
import numpy as np
from check import claim, claim_fails, done, skip
from meshfiles import BLOCKS, Bent, SIDES, SURFACES
from spltools import cli
from spltools.mesh import mesh_tool
from toolrun import Tool

SIDE_OF = {1: 'ymin', 2: 'xmax', 3: 'ymax', 4: 'xmin', 5: 'zmin', 6: 'zmax'}       # Exodus II manual: sides of HEX8 and HEX27


def convert(source, target, *words):
    """Output of spl-mesh; its errors end the test."""
    cli.inputs.clear()
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        mesh_tool.main(['convert', str(source), '-o', target, '--overwrite', *words])
    return said.getvalue()


def text(rows):
    return [b''.join(row).rstrip(b'\0').decode() for row in np.asarray(rows)]


class Exodus:
    """blocks {name: (id, elements from 0, kind)}, sets {name: [(element, side)]}."""

    def __init__(self, path):
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            self.format = file.data_model
            self.nodes = np.stack([file['coord' + x][:] for x in 'xyz'], axis=1)
            self.blocks = {}
            for n, (id_, name) in enumerate(zip(file['eb_prop1'][:], text(file['eb_names'][:])), 1):
                variable = file[f'connect{n}']
                self.blocks[name or str(id_)] = (int(id_), variable[:] - 1, variable.elem_type)
            self.elements = np.concatenate([rows for _, rows, _ in self.blocks.values()])
            self.sets = {}
            for n, (id_, name) in enumerate(zip(file['ss_prop1'][:], text(file['ss_names'][:])), 1):
                self.sets[name or str(id_)] = np.stack([file[f'elem_ss{n}'][:] - 1, file[f'side_ss{n}'][:]], axis=1)


def right(mesh, path, what, blocks, surfaces, off=1e-9):
    """Every element of each block is one of the mesh, its nodes at the places that Exodus wants, its sides where they should be."""
    got, per = Exodus(path), 27 if mesh.per > 8 else 8
    reference = meshfiles.places(meshfiles.EXODUS, per)
    worst, good = 0.0, len(got.nodes) == len(Bent(per).nodes) and set(got.blocks) == set(blocks.values())
    cell_of = {}
    ids = {name: id_ for id_, name in blocks.items()}
    for name, (_, rows, kind) in got.blocks.items():
        wanted = {cell for cell, block in zip(mesh.cells, mesh.block) if block == ids.get(name)}
        found = set()
        for row in rows:
            x = got.nodes[row]
            cell, error = match(mesh, x, reference)
            worst, cell_of[len(cell_of)] = max(worst, error), cell
            found.add(cell)
        good = good and found == wanted and kind == f'HEX{per}'
    claim(good and worst <= off, f'{what}: {len(cell_of)} elements of {per} nodes in blocks {", ".join(got.blocks)}, every node at its '
          f'place to {worst:.1e} m, at most {off:g}')
    good = set(got.sets) == set(surfaces)
    for name, side in surfaces.items():
        axis, sign = SIDES[side]
        wanted = {cell for cell in mesh.cells if cell[axis] == (0 if sign < 0 else meshfiles.N[axis] - 1)}
        found = {cell_of[e] for e, s in got.sets.get(name, ()) if side_at(got.nodes[got.elements[e]], mesh, cell_of[e], s) == side}
        good = good and found == wanted and len(got.sets[name]) == len(wanted)
    claim(good, f'{what}: side sets {", ".join(got.sets)}')
    return got


def match(mesh, x, reference):
    """The cell of the mesh whose nodes are at x (per, 3), the element turned in any way that leaves it right-handed; and how far a
    node is from its place [m]."""
    cell = mesh.cells[np.square(CENTRES - x[:8].mean(axis=0)).sum(axis=1).argmin()]
    best = np.inf
    for turn in TURNS:
        want = mesh.around(cell, reference @ turn)
        if len(x) == 27 and mesh.per == 20:
            want = serendipity(want)
        best = min(best, float(np.abs(want - x).max()))
    return cell, best


def serendipity(x):
    """The middles of faces and element as the 20 other nodes give them."""
    places = meshfiles.places(meshfiles.EXODUS, 27)
    kinds = np.count_nonzero(places == 0, axis=1)
    x = x.copy()
    for n in range(20, 27):
        on = np.all((places == places[n]) | (places[n] == 0), axis=1)
        corners, edges = x[on & (kinds == 0)], x[on & (kinds == 1)]
        x[n] = edges.sum(axis=0) / (2 if len(edges) == 4 else 4) - corners.sum(axis=0) / 4
    return x


def side_at(x, mesh, cell, side):
    """The side of the cell that is side 1..6 of the element with nodes x, by the place of its middle."""
    axis, sign = SIDES[SIDE_OF[side]]
    at = x[:8][CORNERS[:, axis] == sign].mean(axis=0)
    middles = {name: mesh.around(cell, CORNERS[CORNERS[:, axis] == sign]).mean(axis=0) for name, (axis, sign) in SIDES.items()}
    return min(middles, key=lambda name: np.square(middles[name] - at).sum())


CORNERS = np.array(meshfiles.CORNERS)
CENTRES = np.array([Bent(8).around(cell, CORNERS).mean(axis=0) for cell in Bent(8).cells])
TURNS = [t for t in (np.eye(3, dtype=int)[list(columns)] * (1 - 2 * np.array(signs)) for columns in
                     ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)) for signs in np.ndindex(2, 2, 2))
         if np.linalg.det(t) > 0]
NAMES = {name: side for name, side in SURFACES.values()}
NUMBERS = {str(id_): side for id_, (_, side) in SURFACES.items()}
FOLDER = {'zmax': 'zmax', 'absorbing_bottom': 'zmin', **{f'absorbing_{side}': side for side in ('xmin', 'xmax', 'ymin', 'ymax')}}
PLAIN = {id_: str(id_) for id_ in BLOCKS}


def same(one, other):
    return (np.array_equal(one.nodes, other.nodes) and np.array_equal(one.elements, other.elements)
            and {n: b[0] for n, b in one.blocks.items()} == {n: b[0] for n, b in other.blocks.items()}
            and list(one.sets) == list(other.sets) and all(np.array_equal(s, other.sets[n]) for n, s in one.sets.items()))


def test_gmsh(mesh):
    got = []
    for version, write in (('2.2', meshfiles.write_msh22), ('4.1', meshfiles.write_msh41)):
        for binary in (False, True):
            path = f'{mesh.per}_{version}_{int(binary)}.msh'
            write(path, mesh, binary)
            convert(path, 'gmsh.exo')
            got.append(right(mesh, 'gmsh.exo', f'Gmsh {version}, {"binary" if binary else "text"}, {mesh.per} nodes', BLOCKS, NAMES))
    convert('gmsh.exo', 'again.exo')
    got.append(Exodus('again.exo'))
    claim(all(same(got[0], other) for other in got[1:]), f'{mesh.per} nodes: the same bits from 2.2 and 4.1, text and binary, and Exodus')
    claim(got[0].format == 'NETCDF3_64BIT_OFFSET', f'written as {got[0].format}')


def test_ungrouped(mesh):
    """meshio cannot read a file of 4.1 some of whose elements are in no physical group; the module of Gmsh can, where it is there."""
    meshfiles.write_msh41('some.msh', mesh, False, ungrouped=True)
    if importlib.util.find_spec('gmsh'):
        convert('some.msh', 'some.exo')
        right(mesh, 'some.exo', f'Gmsh 4.1 with elements in no group, {mesh.per} nodes', BLOCKS, NAMES)
    else:
        skip('elements in no group: this Python has no gmsh')
        claim_fails(lambda: convert('some.msh', 'some.exo'), ['save it again with all elements in physical groups', 'install the Python module'],
                    'elements in no group, without the module of Gmsh')


def test_groups_of_entities(mesh):
    """Surfaces that lie the other way round are in a group by its negative number. Entities in no group have none of the names."""
    meshfiles.write_msh41('turned.msh', mesh, mesh.per == 27, group=lambda id_: [id_ if id_ in BLOCKS else -id_])
    convert('turned.msh', 'turned.exo')
    right(mesh, 'turned.exo', f'Gmsh 4.1 with groups of negative numbers, {mesh.per} nodes', BLOCKS, NAMES)
    meshfiles.write_msh41('bare.msh', mesh, False, group=lambda id_: [])
    said = convert('bare.msh', 'bare.exo')
    claim('no element is in a physical group' in said and not any(name in said for name in BLOCKS.values()),
          f'entities in no group have no names: {said.splitlines()[-1]}')


def test_others(mesh):
    per = mesh.per
    for surfaces in ('elements', 'shells'):
        meshfiles.write_abaqus('mesh.inp', mesh, surfaces)
        convert('mesh.inp', 'abaqus.exo')
        right(mesh, 'abaqus.exo', f'Abaqus, surfaces as {surfaces}, {per} nodes', BLOCKS, NAMES)
    if per < 27:
        meshfiles.write_unv('mesh.unv', mesh)
        convert('mesh.unv', 'unv.exo')
        right(mesh, 'unv.exo', f'UNV, {per} nodes', BLOCKS, NAMES)
    meshfiles.write_vtk('mesh.vtk', mesh)
    convert('mesh.vtk', 'vtk.exo')
    right(mesh, 'vtk.exo', f'VTK, {per} nodes', PLAIN, NUMBERS)
    meshfiles.write_vtu('mesh.vtu', mesh)
    convert('mesh.vtu', 'vtu.exo', '--blocks', 'block')
    right(mesh, 'vtu.exo', f'VTU, {per} nodes', PLAIN, NUMBERS)
    try:
        meshfiles.write_med('mesh.med', mesh)
    except ModuleNotFoundError:
        skip('MED: this Python has no h5py')
    else:
        said = convert('mesh.med', 'med.exo')
        right(mesh, 'med.exo', f'MED, {per} nodes', BLOCKS, NAMES)
        claim('turned: 24 of 24 elements' in said, 'that its elements were left-handed is told')


def test_specfem(mesh):
    folder = f'specfem{mesh.per}'
    os.mkdir(folder)

    def put(name, text):
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)

    meshfiles.write_specfem(mesh, put)
    convert(folder, 'specfem.exo', '--materials', 'table.txt')
    got = right(mesh, 'specfem.exo', f'SPECFEM, {mesh.per} nodes', PLAIN, FOLDER)
    convert(f'{mesh.per}_2.2_0.msh', 'gmsh.exo')
    gmsh = Exodus('gmsh.exo')
    claim(np.array_equal(got.nodes, gmsh.nodes) and np.array_equal(got.elements, gmsh.elements),
          f'{mesh.per} nodes: the same bits from SPECFEM and from Gmsh')
    with open('table.txt') as file:
        table = file.read()
    claim(table.splitlines() == ['block vp vs rho Qkappa Qmu', '1 1500 0 1020', '2 3000 1700 2500 200 100', '3 1510 0 1030 400 0'],
          f'its table of materials: {table!r}')


def test_tomography(mesh):
    """Blocks whose media come from a volume have negative numbers there, which Exodus has not."""
    path = f'specfem{mesh.per}/materials_file'
    with open(path) as file:
        text = file.read()
    with open(path, 'w') as file:
        file.write(text.replace(' 2\n', ' -1\n'))
    with open(f'specfem{mesh.per}/nummaterial_velocity_file', 'w') as file:
        file.write('2 1 2300 2800 1500 9999 9999 0\n2 -1 tomography elastic tomo.xyz 1\n')
    said = convert(f'specfem{mesh.per}', 'tomography.exo', '--materials', 'table.txt')
    right(mesh, 'tomography.exo', f'SPECFEM with a tomography file, {mesh.per} nodes', PLAIN, FOLDER)
    with open('table.txt') as file:
        table = file.read().splitlines()
    claim('materials -1 (from tomography files) become blocks 2' in said and 'line 2 names a tomography file' in said
          and table == ['block vp vs rho', '1 2800 1500 2300'], f'that is told, and its table has the others: {table}')
    claim('anisotropy_flag' not in said, 'no word of anisotropy where its flag is 0')
    with open(f'specfem{mesh.per}/nummaterial_velocity_file', 'w') as file:
        file.write('2 1 2300 2800 1500 9999 9999 0\n2 2 2300 2900 1600 9999 9999 3\n')
    said = convert(f'specfem{mesh.per}', 'flagged.exo', '--materials', 'flagged.txt')
    claim('line 2 has anisotropy_flag 3' in said and 'line 1' not in said, 'a material that SPECFEM makes anisotropic is told of')


def test_odd_numbers(mesh):
    """Names of Abaqus without regard to capitals, hexahedra by other words in Exodus, blocks of equal numbers there, numbers of blocks as
    floats in VTK, and those that Exodus cannot have."""
    meshfiles.write_abaqus('mesh.inp', mesh)
    with open('mesh.inp') as file:
        text = file.read()
    sections = ''.join(f'*Solid section, elset={name.swapcase()}\n' for name in BLOCKS.values())
    with open('capitals.inp', 'w') as file:
        file.write(text.replace('ELSET=_', 'ELSET=face').replace('\n_', '\nFACE') + sections)
    convert('capitals.inp', 'odd.exo')
    right(mesh, 'odd.exo', 'Abaqus with names in other capitals', BLOCKS, NAMES)
    convert('mesh.inp', 'odd.exo')
    with netCDF4.Dataset('odd.exo', 'r+') as file:
        file['connect1'].elem_type, file['connect2'].elem_type = 'HEXAHEDRON8', 'hexa8'
        file['eb_prop1'][:] = 7
    said = convert('odd.exo', 'again.exo')
    right(mesh, 'again.exo', 'Exodus with hexahedra by other words, blocks of equal numbers', BLOCKS, NAMES)
    claim('eb_prop1 has 7 twice: taken as 1 .. 2' in said, f'which is told: {said.splitlines()[0]}')
    meshfiles.write_vtk('mesh.vtk', mesh)
    with open('mesh.vtk') as file:
        head, _, numbers = file.read().partition('SCALARS CellEntityIds int 1\nLOOKUP_TABLE default\n')
    with open('floats.vtk', 'w') as file:
        file.write(f'{head}SCALARS material double 1\nLOOKUP_TABLE default\n' + numbers.replace('\n', '.0\n'))
    convert('floats.vtk', 'odd.exo')
    right(mesh, 'odd.exo', 'VTK with numbers of blocks as floats', PLAIN, NUMBERS)
    with open('zero.vtk', 'w') as file:
        file.write(f'{head}SCALARS material int 1\nLOOKUP_TABLE default\n'
                   + ''.join(str({1: -1, 2: 0}.get(int(n), n)) + '\n' for n in numbers.split()))
    said = convert('zero.vtk', 'odd.exo')
    claim(f'{sum(mesh.block == 2)} elements of number 0, or in no group, became block 1' in said and 'number -1 became 2' in said,
          f'numbers of blocks that Exodus cannot have: {said.splitlines()[:2]}')


def test_unit():
    convert('mesh.vtk', 'm.exo')
    convert('mesh.vtk', 'km.exo', '--unit', 'km')
    claim(np.array_equal(Exodus('km.exo').nodes, 1000 * Exodus('m.exo').nodes), 'coordinates in km become metres')


def test_orders(mesh):
    """Nodes of 27 in the order of another program, as some scripts write them."""
    order, meshfiles.VTK = meshfiles.VTK, meshfiles.GMSH
    meshfiles.write_vtk('wrong.vtk', mesh)
    meshfiles.VTK = order
    said = convert('wrong.vtk', 'wrong.exo')
    right(mesh, 'wrong.exo', 'VTK with nodes in the order of Gmsh', PLAIN, NUMBERS)
    claim('lie in the order of gmsh, not of vtk' in said, said.splitlines()[0])


def test_volumes(mesh):
    """The curved shape is kept: volumes of blocks against those of the tube."""
    tool = Tool('spl-mesh', 'bad.exo')
    said = tool.fine('spl-mesh describe, as a program', 'describe', f'{mesh.per}_4.1_1.msh')
    bound = 3e-2 if mesh.per == 8 else 2e-4
    for id_, name in BLOCKS.items():
        line = next(line for line in said.splitlines() if line.startswith(f'sizes in block {name}:'))
        off = abs(float(line.split('volume')[1].split()[0]) / mesh.volume(id_) - 1)
        claim(off < bound and (mesh.per > 8 or off > 5e-3), f'{mesh.per} nodes: volume of {name} off by {off:.1e}, at most {bound:g}')


for nodes in (8, 20, 27):
    bent = Bent(nodes)
    test_gmsh(bent)
    test_others(bent)
    if nodes != 20:
        test_specfem(bent)
        test_volumes(bent)
        test_tomography(bent)
test_orders(Bent(27))
test_unit()
test_ungrouped(Bent(27))
test_odd_numbers(Bent(8))
test_groups_of_entities(Bent(8))
test_groups_of_entities(Bent(27))
done()
