#!/usr/bin/env python3
"""Files without a mesh of hexahedra, and broken meshes, are refused by spl-mesh with one sentence that says where and why; random changes of
good files, too, are read or refused."""
import contextlib
import io
import os
import random
import re
import resource
import shutil

import meshfiles
import netCDF4
import numpy as np
from check import claim, done, given_seed
from meshfiles import Bent
from spltools import cli
from spltools.mesh import mesh_tool
from spltools.mesh.mesh import faces, numbered
from toolrun import Tool

SEED = given_seed()
ROUNDS = 25


def call(*words):
    """Output of spl-mesh, and the sentence of a failure or None."""
    cli.inputs.clear()
    said, failure = io.StringIO(), None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            mesh_tool.main(list(map(str, words)))
        except cli.Failure as problem:
            failure = str(problem)
    return said.getvalue(), failure


def refused(words, what, *arguments):
    if arguments[0] == 'convert':
        arguments += ('-o', 'bad.exo')
    _, failure = call(*arguments)
    claim(failure is not None and words in failure and '\n' not in failure and not os.path.exists('bad.exo'), f'{what}: {failure}')


def changed(path, target, *changes):
    """The text of a file with each (old, new) once."""
    with open(path) as file:
        text = file.read()
    for old, new in changes:
        assert old in text, (path, old)
        text = text.replace(old, new, 1)
    with open(target, 'w') as file:
        file.write(text)
    return target


def lines_of(path):
    with open(path) as file:
        return file.read().splitlines()


def put(path, lines):
    with open(path, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    return path


# --- files -----------------------------------------------------------------------------------------------------------

def test_gmsh():
    lines = lines_of('good.msh')
    at = lines.index('$Elements') + 2
    rows = [line.split() for line in lines[at:-1]]
    first = next(i for i, row in enumerate(rows) if row[1] == '5')

    def with_rows(rows):
        return put('broken.msh', [*lines[:at - 1], str(len(rows)), *map(' '.join, rows), '$EndElements'])

    tetrahedron = [rows[0][0], '4', '2', '1', '1', *rows[first][5:9]]
    refused('no hexahedra of 8, 20 or 27 nodes: 1 tetra', 'a tetrahedron', 'convert', with_rows([*rows, tetrahedron]))
    refused('has no hexahedra', 'surfaces alone', 'convert', with_rows(rows[:first]))
    refused("quadrilaterals of surface 'free' are the face of no hexahedron, the first at x, y, z =", 'a surface off the volume', 'convert',
            with_rows([[*rows[0][:7], str(int(rows[0][7]) + 1), rows[0][8]], *rows[1:]]))
    refused('have nodes that are not in the file, the first is number 1;', 'a node that is not there', 'convert',
            put('broken.msh', [*lines[:lines.index('$Nodes') + 1], str(len(Bent(8).nodes) - 1), *lines[lines.index('$Nodes') + 3:]]))
    refused('are not finite, the first is node 2', 'a coordinate that is no number', 'convert',
            put('broken.msh', [line if i != lines.index('$Nodes') + 3 else '2 nan 0 0' for i, line in enumerate(lines)]))
    refused('cannot be read as gmsh', 'a file cut off', 'convert', put('broken.msh', lines[:at + 5]))
    refused('cannot be read as gmsh', 'another file', 'convert', put('broken.msh', ['hello']))
    open('empty.msh', 'w').close()
    refused('is empty', 'an empty file', 'convert', 'empty.msh')
    refused('no such file', 'no file', 'convert', 'none.msh')
    refused('the ending does not tell the format', 'an unknown ending', 'convert', shutil.copy('good.msh', 'good.dat'))
    _, failure = call('convert', 'good.dat', '--format', 'gmsh', '-o', 'dat.exo')
    claim(failure is None, 'the same with --format')
    refused("cannot be read as nonsense: ReadError: Unknown file format 'nonsense'", 'an unknown format', 'convert', 'good.msh', '--format', 'nonsense')
    refused("has no variable 'sort' of cells; it has", 'an unknown variable', 'convert', 'good.vtk', '--blocks', 'sort')


def test_abaqus():
    refused('names node 1000007, which is not there', 'Abaqus: an unknown node', 'convert', changed('good.inp', 'broken.inp', (', 37,', ', 1000007,')))
    refused("names the element set '_99', which is not there", 'Abaqus: an unknown set', 'convert',
            changed('good.inp', 'broken.inp', ('\n_11, S2', '\n_99, S2')))
    refused('write the mesh into one file without parts', 'Abaqus: a file within', 'convert',
            changed('good.inp', 'broken.inp', ('*Node', '*INCLUDE, INPUT=/etc/passwd\n*Node')))
    refused('must have 9 of each element', 'Abaqus: an element cut off', 'convert', changed('good.inp', 'broken.inp', ('100, ', '')))
    refused('has node 7 twice', 'Abaqus: a node twice', 'convert', changed('good.inp', 'broken.inp', ('\n17, ', '\n7, ')))
    refused('1 C3D4', 'Abaqus: a tetrahedron', 'convert',
            changed('good.inp', 'broken.inp', ('*ELSET', '*ELEMENT, TYPE=C3D4\n5000, 7, 17, 27, 37\n*ELSET')))
    refused('is this an input file of Abaqus?', 'Abaqus: another file', 'convert', put('broken.inp', ['a = 1']))


def test_unv():
    lines = lines_of('good.unv')
    refused('no data set 2412', 'UNV: without elements', 'convert', put('broken.unv', lines[:lines.index('  2412')]))
    refused('must have 8', 'UNV: an element cut off', 'convert', put('broken.unv', lines[:lines.index('  2412') + 5]))
    refused('members, must have', 'UNV: a group cut off', 'convert', put('broken.unv', lines[:-3]))
    refused('no universal file with a mesh', 'UNV: another file', 'convert', put('broken.unv', ['a']))


def test_specfem():
    for name, old, new, told in (
            ('nodes_coords_file', '60\n', '61\n', 'says that it has 61 lines'), ('nodes_coords_file', '\n2 ', '\n1 ', 'has node 1 twice'),
            ('mesh_file', '\n2 ', '\n2 9', 'which is not there'), ('mesh_file', '24\n', '24\n7 ', 'must be 9 or 28 a line'),
            ('materials_file', '2 1\n', '', 'has no material of 1 elements, the first is element 2'),
            ('materials_file', '2 1\n', '25 1\n', 'names element 25, which is not there'),
            ('absorbing_surface_file_bottom', '\n1 ', '\n99 ', 'names element 99, which is not there'),
            ('mesh_file', '\n3 ', '\n3 x', 'has words that are no numbers'), ('absorbing_surface_file_xmin', None, ' \n', 'nothing but blanks')):
        shutil.rmtree('broken', ignore_errors=True)
        shutil.copytree('good', 'broken')
        if old is None:
            put(f'broken/{name}', [new])
        else:
            changed(f'good/{name}', f'broken/{name}', (old, new))
        refused(told, f'SPECFEM: {name}', 'convert', 'broken')
    for line, told in (('2 1 0 2000 1000 9999 9999 0', 'rho = 0 kg/m3'), ('2 1 2000 1000 1000 9999 9999 0', 'vs = 1000 m/s from 0 to vp'),
                       ('3 1 2000 2000 1000 9999 9999 0', 'domain 3 must be 1'), ('2 1 2000', 'is not: domain material rho'),
                       ('2 1 2000 3000 1000 -5 100 0', 'Q_kappa = -5')):
        put('good/nummaterial_velocity_file', [line])
        refused(told, f'SPECFEM: material {line}', 'convert', 'good', '--materials', 'table.txt')
    os.remove('good/mesh_file')
    refused("it has no file 'mesh_file'", 'SPECFEM: a folder without a mesh', 'convert', 'good')
    refused('only there are materials', '--materials of Gmsh', 'convert', 'good.msh', '--materials', 'table.txt')


def test_odd():
    """A byte-order mark is no fault; one node far away spoils its elements, and not the order of nodes of all."""
    for name in ('good.inp', 'good.unv', 'good/mesh_file'):
        with open(name, 'rb') as file:
            data = file.read()
        target = name.replace('good', 'marked')
        if '/' in name:
            shutil.copytree('good', 'marked')
        with open(target, 'wb') as file:
            file.write(b'\xef\xbb\xbf' + data)
        _, failure = call('convert', target.split('/')[0], '-o', 'marked.exo', '--overwrite')
        claim(failure is None, f'{target}: a text that begins with a byte-order mark {failure or ""}')
    rng = random.Random(SEED)
    meshfiles.write_msh22('far.msh', Bent(27), False)
    lines = lines_of('far.msh')
    at = lines.index('$Nodes') + 2 + rng.randrange(len(Bent(27).nodes))
    lines[at] = lines[at].split()[0] + rng.choice((' 1e5 1e5 1e5', ' -1e7 3 3', ' 0 0 -3e4'))
    told, failure = call('convert', put('far.msh', lines), '-o', 'far.exo')
    _, fault = call('check', 'far.exo')
    bad = re.search(r': (\d+) of 24 elements are inverted', fault or '')
    claim(failure is None and 'order of' not in told and bad and int(bad[1]) <= 8, f'node {lines[at]} of 27-node elements: {fault}')


def test_large_numbers():
    """Of nodes, members of groups, blocks: neither memory nor an overflow."""
    lines = lines_of('good.msh')
    at = lines.index('$Nodes') + 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = resource.getrlimit(resource.RLIMIT_AS)
    refused('more memory than a file of its size needs', 'a node of number 999999999 among 60', 'convert',
            put('broken.msh', [line if i != at else ' '.join(['999999999', *line.split()[1:]]) for i, line in enumerate(lines)]))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    claim(grown < 500 and resource.getrlimit(resource.RLIMIT_AS) == limits, f'it took {grown:.0f} MB, and the limit is what it was')
    lines = lines_of('good.unv')
    for sort, at in (('of an element', lines.index('  2412') + 5), ('of a group', len(lines) - 2)):
        words = lines[at].split()
        refused('beyond 64 bits', f'UNV: a number {sort} of 2**64', 'convert',
                put('broken.unv', [line if i != at else ' '.join([*words[:1], str(2**64), *words[2:]]) for i, line in enumerate(lines)]))
    with open('good.vtu') as file:
        text = file.read()
    head, _, blocks = text.rpartition('format="ascii">\n')
    with open('broken.vtu', 'w') as file:
        file.write(head + 'format="ascii">\n' + blocks.replace('2', '0', 1).replace('1', str(2**63 - 1), 1))
    told, failure = call('convert', 'broken.vtu', '-o', 'large.exo')
    found = re.findall(r'block (\d+) .*: (\d+) element', told)
    claim(failure is None and sum(int(n) for _, n in found) == 24 and len(found) == 4 and max(int(i) for i, _ in found) < 2**31,
          f'VTU: a block of number 2**63 - 1 and one without: blocks {found} {failure or ""}')


def test_exodus():
    refused('give a mesh in Exodus II, which is NetCDF', 'another file as Exodus', 'convert', shutil.copy('good.msh', 'broken.exo'))
    with netCDF4.Dataset('broken.exo', 'w') as file:
        file.createDimension('x', 3)
    refused('but no mesh of Exodus II', 'another NetCDF file', 'convert', 'broken.exo')

    def broken(change):
        shutil.copy('good.exo', 'broken.exo')
        with netCDF4.Dataset('broken.exo', 'r+') as file:
            change(file)
        return 'broken.exo'

    refused('12 TETRA', 'Exodus: tetrahedra', 'check', broken(lambda f: f['connect1'].setncattr('elem_type', 'TETRA')))
    refused('12 of 8 nodes and 1 of 27 nodes', 'Exodus: hexahedra of two kinds', 'check', broken(other_kind))
    refused('has side 7 of element 7, of 24 elements with 6 sides each', 'Exodus: a side that no element has', 'check',
            broken(lambda f: put_at(f['side_ss1'], 0, 7)))
    refused('of 24 hexahedra have nodes that are not in the file, the first is number 3', 'Exodus: a node that is not there', 'check',
            broken(lambda f: put_at(f['connect1'], (2, 5), 10**6)))
    refused('a coordinate is 1e+20 m', 'Exodus: far away', 'check', broken(lambda f: put_at(f['coordx'], 5, 1e20)))


def other_kind(file):
    """The second block becomes one element of 27 nodes."""
    file.renameVariable('connect2', 'old')
    file.createDimension('one', 1)
    file.createDimension('per', 27)
    variable = file.createVariable('connect2', 'i4', ('one', 'per'))
    variable.elem_type = 'HEX27'
    variable[:] = np.arange(1, 28)


def put_at(variable, where, value):
    variable[where] = value


def test_outputs():
    before = open('good.exo', 'rb').read()
    _, failure = call('convert', 'good.exo', '-o', 'good.exo', '--overwrite')
    claim('would overwrite an input' in (failure or '') and open('good.exo', 'rb').read() == before, f'an output that is the input: {failure}')
    _, failure = call('convert', 'good.msh', '-o', 'good.exo')
    claim('exists already' in (failure or ''), f'an output that is there: {failure}')
    tool = Tool('spl-mesh', 'bad.exo')
    tool.refused('invalid choice', 'as a program: an unknown verb', 'covnert', 'good.msh')
    tool.refused('cannot be read as gmsh', 'as a program: a damaged file', 'convert', 'broken.msh', '-o', 'bad.exo')


# --- meshes ----------------------------------------------------------------------------------------------------------

def write_exodus(path, nodes, elements):
    """One block, nothing more than Exodus II needs."""
    with netCDF4.Dataset(path, 'w', format='NETCDF3_CLASSIC') as file:
        for name, size in (('num_nodes', len(nodes)), ('num_dim', 3), ('num_el_blk', 1), ('n', len(elements)), ('per', elements.shape[1])):
            file.createDimension(name, size)
        for x, values in zip('xyz', nodes.T):
            file.createVariable('coord' + x, 'f8', ('num_nodes',))[:] = values
        variable = file.createVariable('connect1', 'i4', ('n', 'per'))
        variable.elem_type = 'HEX'
        variable[:] = elements + 1
    return path


def _mirror(per):
    """Exodus order of the nodes of an element whose first axis is turned round."""
    places = [tuple(p) for p in meshfiles.places('' if per == 8 else meshfiles.EXODUS, per).tolist()]
    return [places.index((-a, b, c)) for a, b, c in places]


def twisted():
    """A cube whose upper side is a mirror image of the lower one: half of it is inside out, and its volume sums to 0."""
    cube = np.array(meshfiles.CORNERS, float) * 50
    cube[4:, 0] *= -1
    refused('50 % of whose volume is inside out', 'a cube crossed until its volume sums to nothing', 'check',
            write_exodus('bad_mesh.exo', cube, np.arange(8)[None]))
    cube = np.array(meshfiles.CORNERS, float) * 50
    cube[:, 2] = 0
    refused('which is flat somewhere', 'a cube pressed to nothing', 'check', write_exodus('bad_mesh.exo', cube, np.arange(8)[None]))


def test_meshes():
    twisted()
    for per in (8, 27):
        mesh = Bent(per)
        nodes, elements = mesh.nodes, mesh.elements('' if per == 8 else meshfiles.EXODUS)
        _, failure = call('check', write_exodus('ok.exo', nodes, elements))
        claim(failure is None, f'{per} nodes: a good mesh passes' + (f': {failure}' if failure else ''))
        bad = elements.copy()
        bad[4, [0, 4]] = bad[4, [4, 0]]
        refused('1 of 24 elements are inverted or have no volume: the worst is element 5 at x, y, z = ', f'{per} nodes: two corners changed',
                'check', write_exodus('bad_mesh.exo', nodes, bad))
        refused('% of whose volume is inside out: move the nodes that lie beyond the opposite side', 'and how much of it is inside out', 'check',
                'bad_mesh.exo')
        mirrored = elements.copy()
        mirrored[2] = elements[2][_mirror(per)]
        refused('all of which is inside out', f'{per} nodes: an element of mirrored numbers', 'check',
                write_exodus('bad_mesh.exo', nodes, mirrored))
        told = call('describe', 'bad_mesh.exo')[0]
        least = [float(v) for v in re.findall(r'least Jacobian over its mean: .*, at least (\S+)', told)]
        claim(len(least) == 1 and -20 < least[0] < 0, f'{per} nodes: its Jacobian over its mean is {least}')
        flat = nodes.copy()
        flat[elements[0, 4:8]] = flat[elements[0, :4]] + [0, 0, 1e-4]
        if per == 8:
            refused('elements are nearly flat somewhere: the worst is element', 'an element almost without height', 'check',
                    write_exodus('bad_mesh.exo', flat, elements))
        refused('elements are there twice, the first is element 25', f'{per} nodes: an element twice', 'check',
                write_exodus('bad_mesh.exo', nodes, np.vstack([elements, elements[2:3, :]])))
        refused(f'{len(elements)} elements are there twice, the first is element {len(elements) + 1} at', f'{per} nodes: all elements twice, as of '
                'volumes in two groups', 'check', write_exodus('bad_mesh.exo', nodes, np.vstack([elements, elements])))
        refused(f'1 of {len(nodes) + 1} nodes belong to no element, the first is node {len(nodes) + 1} at x, y, z = 1, 2, 3 m',
                f'{per} nodes: a loose node', 'check', write_exodus('bad_mesh.exo', np.vstack([nodes, [[1, 2, 3]]]), elements))
        shared = np.intersect1d(elements[mesh.block == 1], elements[mesh.block == 2])
        used, second = np.unique(elements[mesh.block == 2], return_inverse=True)
        first, rows = np.unique(elements[mesh.block == 1], return_inverse=True)
        apart = np.concatenate([rows, len(first) + second]).reshape(-1, per)
        refused(f'{len(shared)} nodes are at the place of another one', f'{per} nodes: blocks that are not joined', 'check',
                write_exodus('bad_mesh.exo', np.vstack([nodes[first], nodes[used]]), apart))
    parted()
    hanging()


def parted():
    """What the program refuses: nodes in the middle of an edge or a side that are not those of the neighbour, or stand twice in an element,
    nodes a thousandth of an edge apart, and edges at less than half a degree."""
    mesh = Bent(27)
    nodes, elements = mesh.nodes, mesh.elements(meshfiles.EXODUS)
    number = numbered(faces(elements)).reshape(-1, 6)
    e, side = np.argwhere(np.bincount(number.ravel())[number] == 2)[0]
    for middle, words in ((8, '1 edges have another node in their middle than in the neighbour: the first is of element '),
                          ([25, 24, 26, 23, 21, 22][side], '1 sides have another node in their middle than in the neighbour: the first is of ')):
        other = elements.copy()
        other[e if middle > 20 else 3, middle] = len(nodes)
        moved = np.vstack([nodes, nodes[elements[e if middle > 20 else 3, middle]] + 4])
        refused(words, f'27 nodes: one in a middle, {words[2:6]}, 4 m from that of the neighbour', 'check', write_exodus('bad_mesh.exo', moved, other))
    other = elements.copy()
    other[4, 10] = other[4, 11]
    told, failure = call('check', write_exodus('bad_mesh.exo', nodes, other))
    claim(failure and '1 elements have a node twice, the first is element 5' in told, '27 nodes: a node in the middle of two edges')
    nodes, elements = Bent(8).nodes, Bent(8).elements('')
    other = elements.copy()
    other[3, 6] = len(nodes)
    refused('1 nodes are at the place of another one', 'two nodes 0.01 m apart, of edges of hundreds of metres', 'check',
            write_exodus('bad_mesh.exo', np.vstack([nodes, nodes[elements[3, 6]] + [0.01, 0, 0]]), other))
    refused('falls to 0.000', 'all elements sheared until edges are at less than half a degree', 'check',
            write_exodus('bad_mesh.exo', nodes + np.outer(nodes[:, 2], [300, 0, 0]), elements))


def hanging():
    """One brick beside four: a corner of them lies in the middle of its face, others on the edges that it shares with four faces."""
    def brick(x0, x1, y0, y1, z0, z1):
        return np.array([[(x0, x1)[a > 0], (y0, y1)[b > 0], (z0, z1)[c > 0]] for a, b, c in meshfiles.CORNERS], float)

    bricks = [brick(0, 2, 0, 2, 0, 2)] + [brick(2, 3, y, y + 1, z, z + 1) for y in (0, 1) for z in (0, 1)]
    nodes, number = np.unique(np.concatenate(bricks), axis=0, return_inverse=True)
    refused('5 faces have hanging nodes (faces of neighbours do not match): the first is one of element 1 at x, y, z = 1, 1, 1 m',
            'a brick beside four', 'check', write_exodus('bad_mesh.exo', nodes, number.reshape(-1, 8)))


# --- random changes --------------------------------------------------------------------------------------------------

def test_changes():
    rng, total = random.Random(SEED), [0, 0]
    for name in ('good.msh', 'good41.msh', 'goodbin.msh', 'good.vtk', 'good.vtu', 'good.inp', 'good.unv', 'good/mesh_file', 'good/materials_file'):
        with open(name, 'rb') as file:
            data = file.read()
        count, fault = [0, 0], None
        for _ in range(ROUNDS):
            cut = bytearray(data)
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(cut))
                kind = rng.randrange(4)
                if kind == 0:
                    cut[at] = rng.randrange(256)
                elif kind == 1:
                    cut[at] = rng.choice(b'0123456789-+.eE \n,*$')
                elif kind == 2:
                    del cut[at:at + rng.choice((1, 4, 50))]
                else:
                    cut[at:at] = cut[at:at + rng.choice((1, 8, 80))]
            target = name.replace('good', 'random')
            with open(target, 'wb') as file:
                file.write(cut)
            try:
                _, failure = call('convert', target if '/' not in target else 'random', '-o', 'random.exo', '--overwrite')
                count[failure is not None] += 1
                fault = fault or (failure if failure is not None and (len(failure) < 20 or '\n' in failure) else None)
            except Exception as problem:
                fault = fault or f'{type(problem).__name__}: {problem}'
                shutil.copy(target, os.path.basename(target) + '.finding')
        if '/' in name:
            shutil.copy(name, name.replace('good', 'random'))
        total = [a + b for a, b in zip(total, count)]
        claim(fault is None, f'{name}, {ROUNDS} random changes, seed {SEED}: {count[0]} read, {count[1]} refused'
              + (f'; {fault}' if fault else ''))
    claim(min(total) > 0, f'of all random changes {total[0]} were read, {total[1]} refused')


def make():
    mesh = Bent(8)
    meshfiles.write_msh22('good.msh', mesh, False)
    meshfiles.write_msh41('good41.msh', mesh, False)
    meshfiles.write_msh22('goodbin.msh', mesh, True)
    meshfiles.write_vtk('good.vtk', mesh)
    meshfiles.write_vtu('good.vtu', mesh)
    meshfiles.write_abaqus('good.inp', mesh)
    meshfiles.write_unv('good.unv', mesh)
    os.mkdir('good')
    meshfiles.write_specfem(mesh, lambda name, text: put(f'good/{name}', text.splitlines()))
    shutil.copytree('good', 'random')
    call('convert', 'good.msh', '-o', 'good.exo')


make()
test_changes()
test_gmsh()
test_abaqus()
test_unv()
test_odd()
test_large_numbers()
test_exodus()
test_outputs()
test_specfem()
test_meshes()
done()
