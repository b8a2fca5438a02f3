"""A mesh of bent hexahedra, known by formula, and the same mesh in the files of other programs. Orders of nodes are written here as
the manuals of the formats have them, sharing nothing with the tools."""
import numpy as np

CORNERS = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
# Places (xi, eta, zeta) of the nodes after the corners, a digit each: 0 is -1, 1 is 0, 2 is +1.
EXODUS = ('100 210 120 010 001 201 221 021 102 212 122 012 111 110 112 011 211 101 121')   # Exodus II manual, HEX27
VTK = ('100 210 120 010 102 212 122 012 001 201 221 021 011 211 101 121 110 112 111')      # vtkTriQuadraticHexahedron
GMSH = ('100 010 001 210 201 120 221 021 102 012 212 122 110 101 011 211 121 112 111')     # Gmsh, node ordering
SPECFEM = ('100 210 120 010 001 201 221 021 102 212 122 012 110 101 211 121 011 112 111')  # SPECFEM3D manual, 27-node elements
ABAQUS = ('100 210 120 010 102 212 122 012 001 201 221 021 111 110 112 101 211 121 011')   # C3D27: centre, then faces 1..6
MED = ('100 210 120 010 102 212 122 012 001 201 221 021 110 101 211 121 011 112 111')       # HEXA27, seen by its own corners
UNV20 = '000 100 200 210 220 120 020 010 001 201 221 021 002 102 202 212 222 122 022 012'   # I-DEAS 116: along the edges
SIDES = {'ymin': (1, -1), 'xmax': (0, 1), 'ymax': (1, 1), 'xmin': (0, -1), 'zmin': (2, -1), 'zmax': (2, 1)}
N = (3, 4, 2)                       # elements along the angle, the radius and z
SPLIT = 2                           # elements along the radius that are 'outer rock'; those within are 'inner'
R0, R1, H, ANGLE = 1000.0, 2600.0, 900.0, 1.1


def places(order, per):
    """Places of the nodes of an element, (per, 3), of -1, 0, 1."""
    further = [tuple(int(d) - 1 for d in word) for word in order.split()]
    return np.array((CORNERS + further)[:per])


class Bent:
    """A part of a thick tube: angle, radius and height along xi, eta, zeta. Of the grid of nodes those are there that elements of
    `per` nodes have."""

    def __init__(self, per):
        self.per = per
        grid = [2 * n + 1 for n in N]
        self.number, self.grid = {}, []
        for k in range(grid[2]):
            for j in range(grid[1]):
                for i in range(grid[0]):
                    odd = i % 2 + j % 2 + k % 2
                    if odd <= {8: 0, 20: 1, 27: 3}[per]:
                        self.number[i, j, k] = len(self.grid)
                        self.grid.append((i, j, k))
        self.nodes = np.array([self.place(*g) for g in self.grid])
        self.cells = [(i, j, k) for k in range(N[2]) for j in range(N[1]) for i in range(N[0])]
        self.block = np.array([1 if j < SPLIT else 2 for _, j, _ in self.cells])

    @staticmethod
    def place(i, j, k):
        """[m]; the radius falls with j, so that elements are right-handed."""
        angle, radius = ANGLE * i / (2 * N[0]), R1 - (R1 - R0) * j / (2 * N[1])
        return radius * np.cos(angle), radius * np.sin(angle), H * k / (2 * N[2]) - H + 0.02 * radius

    def around(self, cell, at):
        """[m], of places (n, 3) of -1 .. 1 in a cell."""
        return np.stack(self.place(*(2 * np.array(cell) + 1 + np.asarray(at)).T), axis=1)

    def elements(self, order):
        """Numbers of the nodes from 0, (cells, per), in an order of nodes."""
        if isinstance(order, str):
            order = places(order, self.per)
        return np.array([[self.number[tuple(2 * np.array(cell) + 1 + p)] for p in order] for cell in self.cells])

    def faces(self, name, nodes):
        """Quadrilaterals of a side of the whole, (n, nodes), corner nodes first: 4, 8 or 9."""
        axis, sign = SIDES[name]
        a, b = [x for x in range(3) if x != axis]
        ring = [(-1, -1), (1, -1), (1, 1), (-1, 1), (0, -1), (1, 0), (0, 1), (-1, 0), (0, 0)][:nodes]
        at = []
        for p in ring:
            place = np.empty(3, int)
            place[axis], place[a], place[b] = sign, *p
            at.append(place)
        outer = [cell for cell in self.cells if cell[axis] == (0 if sign < 0 else N[axis] - 1)]
        return np.array([[self.number[tuple(2 * np.array(cell) + 1 + p)] for p in at] for cell in outer])

    def of_face(self, name):
        """Numbers of the cells that a side of the whole has."""
        axis, sign = SIDES[name]
        return [n for n, cell in enumerate(self.cells) if cell[axis] == (0 if sign < 0 else N[axis] - 1)]

    def volume(self, block):
        """[m3], of the bent shape itself."""
        middle = R1 - (R1 - R0) * SPLIT / N[1]
        outer, inner = (R1, middle) if block == 1 else (middle, R0)
        return 0.5 * ANGLE * (outer**2 - inner**2) * H


BLOCKS = {1: 'outer rock', 2: 'inner'}
SURFACES = {11: ('free', 'zmax'), 12: ('absorbing', 'zmin'), 13: ('inner wall', 'ymax'), 14: ('outer wall', 'ymin'), 15: ('begin', 'xmin'),
            16: ('end', 'xmax')}


# --- files -----------------------------------------------------------------------------------------------------------

def quad_nodes(per):
    return {8: 4, 20: 8, 27: 9}[per]


def gmsh_parts(mesh):
    """(dimension, physical number, Gmsh's type, node numbers from 1) of each group."""
    types = {8: (5, 3), 20: (17, 16), 27: (12, 10)}[mesh.per]
    parts = [(2, id_, types[1], mesh.faces(side, quad_nodes(mesh.per)) + 1) for id_, (_, side) in SURFACES.items()]
    elements = mesh.elements(GMSH if mesh.per == 27 else GMSH[:47] if mesh.per == 20 else '') + 1
    return parts + [(3, id_, types[0], elements[mesh.block == id_]) for id_ in BLOCKS]


def physical_names():
    names = [(2, id_, name) for id_, (name, _) in SURFACES.items()] + [(3, id_, name) for id_, name in BLOCKS.items()]
    return f'$PhysicalNames\n{len(names)}\n' + ''.join(f'{d} {i} "{n}"\n' for d, i, n in names) + '$EndPhysicalNames\n'


def text_of(numbers):
    return ' '.join(map(str, numbers))


def write_msh22(path, mesh, binary):
    parts = gmsh_parts(mesh)
    with open(path, 'wb') as file:
        file.write(f'$MeshFormat\n2.2 {int(binary)} 8\n'.encode())
        file.write((np.array([1], 'i4').tobytes() + b'\n' if binary else b'') + b'$EndMeshFormat\n' + physical_names().encode())
        file.write(f'$Nodes\n{len(mesh.nodes)}\n'.encode())
        for n, x in enumerate(mesh.nodes, 1):
            file.write(np.array([n], 'i4').tobytes() + x.tobytes() if binary else f'{n} {x[0]} {x[1]} {x[2]}\n'.encode())
        file.write((b'\n' if binary else b'') + b'$EndNodes\n' + f'$Elements\n{sum(len(p[3]) for p in parts)}\n'.encode())
        n = 0
        for _, id_, kind, rows in parts:
            if binary:
                file.write(np.array([kind, len(rows), 2], 'i4').tobytes())
            for row in rows:
                n += 1
                file.write(np.array([n, id_, id_, *row], 'i4').tobytes() if binary else f'{n} {kind} 2 {id_} {id_} {text_of(row)}\n'.encode())
        file.write((b'\n' if binary else b'') + b'$EndElements\n')


def write_msh41(path, mesh, binary, ungrouped=False, group=lambda id_: [id_]):
    """`ungrouped`: a side in no physical group, too, as Gmsh writes it where all elements are to be saved. `group`: physical groups of an
    entity."""
    parts = gmsh_parts(mesh)
    if ungrouped:
        parts.insert(0, (2, 99, parts[0][2], mesh.faces('xmin', quad_nodes(mesh.per)) + 1))
    low, high = mesh.nodes.min(0), mesh.nodes.max(0)

    def words(kind, *values):
        return np.array(values, kind).tobytes() if binary else (' '.join(repr(float(v)) if kind == 'f8' else str(v) for v in values) + ' ').encode()

    end = b'' if binary else b'\n'
    with open(path, 'wb') as file:
        file.write(f'$MeshFormat\n4.1 {int(binary)} 8\n'.encode())
        file.write((np.array([1], 'i4').tobytes() + b'\n' if binary else b'') + b'$EndMeshFormat\n' + physical_names().encode())
        file.write(b'$Entities\n' + words('u8', 0, 0, len(parts) - len(BLOCKS), len(BLOCKS)) + end)
        for _, id_, *_ in parts:
            groups = [] if id_ == 99 else group(id_)
            file.write(words('i4', id_) + words('f8', *low, *high) + words('u8', len(groups)) + words('i4', *groups) + words('u8', 0) + end)
        file.write((b'\n' if binary else b'') + b'$EndEntities\n$Nodes\n' + words('u8', 1, len(mesh.nodes), 1, len(mesh.nodes)) + end)
        file.write(words('i4', 3, 1, 0) + words('u8', len(mesh.nodes)) + end + words('u8', *range(1, len(mesh.nodes) + 1)) + end)
        for x in mesh.nodes:
            file.write(words('f8', *x) + end)
        total = sum(len(p[3]) for p in parts)
        file.write((b'\n' if binary else b'') + b'$EndNodes\n$Elements\n' + words('u8', len(parts), total, 1, total) + end)
        n = 0
        for dimension, id_, kind, rows in parts:
            file.write(words('i4', dimension, id_, kind) + words('u8', len(rows)) + end)
            for row in rows:
                n += 1
                file.write(words('u8', n, *row) + end)
        file.write((b'\n' if binary else b'') + b'$EndElements\n')


def write_abaqus(path, mesh, surfaces='elements'):
    """Side sets as element faces ('elements'), or as shells in sets ('shells'). Numbers of nodes and elements have gaps."""
    order = {8: '', 20: ABAQUS[:47], 27: ABAQUS}[mesh.per]
    faces = {'zmin': 'S1', 'zmax': 'S2', 'ymin': 'S3', 'xmax': 'S4', 'ymax': 'S5', 'xmin': 'S6'}
    rows = mesh.elements(order) * 10 + 7
    with open(path, 'w') as file:
        file.write('*HEADING\n made by a test\n** comment\n*Node\n')
        file.writelines(f'{10 * n + 7}, {x[0]}, {x[1]}, {x[2]}\n' for n, x in enumerate(mesh.nodes))
        for id_, name in BLOCKS.items():
            file.write(f'*ELEMENT, type=C3D{mesh.per}R, ELSET={name}\n')
            for e in np.flatnonzero(mesh.block == id_):
                words = [str(100 + 3 * e), *map(str, rows[e])]
                file.write(',\n'.join(', '.join(words[i:i + 16]) for i in range(0, len(words), 16)) + '\n')
        for id_, (name, side) in SURFACES.items():
            if surfaces == 'elements':
                members = ', '.join(str(100 + 3 * e) for e in mesh.of_face(side))
                file.write(f'*ELSET, ELSET=_{id_}\n{members}\n*SURFACE, TYPE=ELEMENT, NAME={name}\n_{id_}, {faces[side]}\n')
            else:
                file.write(f'*ELEMENT, TYPE={"S4" if mesh.per == 8 else "S8R"}, ELSET=shell{id_}\n')
                quads = mesh.faces(side, 4 if mesh.per == 8 else 8) * 10 + 7
                file.writelines(f'{10000 * id_ + n}, {", ".join(map(str, row))}\n' for n, row in enumerate(quads))
                file.write(f'*ELSET, ELSET={name}, GENERATE\n{10000 * id_}, {10000 * id_ + len(quads) - 1}, 1\n')


def write_unv(path, mesh):
    order = [tuple(int(d) - 1 for d in word) for word in UNV20.split()] if mesh.per == 20 else ''
    lines = ['    -1', '   164', '         1', '    -1', '    -1', '  2411']
    for n, x in enumerate(mesh.nodes, 1):
        lines += [f'{n:10d}{1:10d}{1:10d}{11:10d}', ''.join(f'{v:25.16E}' for v in x).replace('E', 'D')]
    lines += ['    -1', '    -1', '  2412']

    def element(number, kind, nodes):
        lines.append(''.join(f'{v:10d}' for v in (number, kind, 2, 1, 7, len(nodes))))
        lines.extend(''.join(f'{v:10d}' for v in nodes[i:i + 8]) for i in range(0, len(nodes), 8))

    lines += [''.join(f'{v:10d}' for v in (9000, 21, 2, 1, 7, 2)), f'{0:10d}{1:10d}{1:10d}', f'{1:10d}{2:10d}']     # a beam
    groups = []
    for n, row in enumerate(mesh.elements(order) + 1, 1):
        element(n, 115 if mesh.per == 8 else 116, row)
    groups += [(id_, name, np.flatnonzero(mesh.block == id_) + 1) for id_, name in BLOCKS.items()]
    number = 1000
    for id_, (name, side) in SURFACES.items():
        quads = mesh.faces(side, 4 if mesh.per == 8 else 8) + 1
        for n, row in enumerate(quads):
            element(number + n, 94 if mesh.per == 8 else 95, row if mesh.per == 8 else row[[0, 4, 1, 5, 2, 6, 3, 7]])
        groups.append((id_, name, np.arange(number, number + len(quads))))
        number += 1000
    lines += ['    -1', '    -1', '  2467']
    for id_, name, members in groups:
        lines += [''.join(f'{v:10d}' for v in (id_, 0, 0, 0, 0, 0, 0, len(members))), name]
        words = [f'{8:10d}{m:10d}{0:10d}{0:10d}' for m in members]
        lines += [''.join(words[i:i + 2]) for i in range(0, len(words), 2)]
    with open(path, 'w') as file:
        file.write('\n'.join(lines + ['    -1']) + '\n')


SPECFEM_FILES = {'zmax': 'free_or_absorbing_surface_file_zmax', 'zmin': 'absorbing_surface_file_bottom'}


def write_specfem(mesh, put):
    """`put(name, text)` writes a file of the folder."""
    rows = mesh.elements(SPECFEM if mesh.per == 27 else '') + 1

    def table(lines):
        return '\n'.join([str(len(lines)), *lines]) + '\n'

    put('nodes_coords_file', table([f'{n} {x[0]} {x[1]} {x[2]}' for n, x in enumerate(mesh.nodes, 1)]))
    put('mesh_file', table([f'{n} {text_of(row)}' for n, row in enumerate(rows, 1)]))
    put('materials_file', ''.join(f'{n} {id_}\n' for n, id_ in enumerate(mesh.block, 1)))
    put('nummaterial_velocity_file', '1 1 1020.0 1500.0 0.0 9999.0 9999.0 0\n2 2 2500.0 3000.0 1700.0 200.0 100.0 0\n'
        '1 3 1030.0 1510.0 0.0 400.0 9999.0 0\n\n! note\n')
    for _, side in SURFACES.values():
        file = SPECFEM_FILES.get(side, f'absorbing_surface_file_{side}')
        quads = mesh.faces(side, quad_nodes(mesh.per)) + 1
        put(file, table([f'{e + 1} {text_of(row)}' for e, row in zip(mesh.of_face(side), quads)]))


def vtk_cells(mesh):
    """(node numbers, VTK's type, number of the block) of each cell: hexahedra, then quadrilaterals."""
    types = {8: (12, 9), 20: (25, 23), 27: (29, 28)}[mesh.per]
    rows = mesh.elements({8: '', 20: VTK[:47], 27: VTK}[mesh.per])
    cells = [(row, types[0], id_) for row, id_ in zip(rows, mesh.block)]
    for id_, (_, side) in SURFACES.items():
        cells += [(row, types[1], id_) for row in mesh.faces(side, quad_nodes(mesh.per))]
    return cells


def write_vtk(path, mesh):
    cells = vtk_cells(mesh)
    with open(path, 'w') as file:
        file.write(f'# vtk DataFile Version 2.0\ntest\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {len(mesh.nodes)} double\n')
        file.writelines(f'{x[0]} {x[1]} {x[2]}\n' for x in mesh.nodes)
        file.write(f'CELLS {len(cells)} {sum(len(row) + 1 for row, *_ in cells)}\n')
        file.writelines(f'{len(row)} {text_of(row)}\n' for row, *_ in cells)
        file.write(f'CELL_TYPES {len(cells)}\n' + '\n'.join(str(kind) for _, kind, _ in cells) + '\n')
        file.write(f'CELL_DATA {len(cells)}\nSCALARS CellEntityIds int 1\nLOOKUP_TABLE default\n')
        file.write('\n'.join(str(id_) for *_, id_ in cells) + '\n')


def write_vtu(path, mesh):
    cells = vtk_cells(mesh)

    def array(name, kind, values, more=''):
        return f'<DataArray type="{kind}" Name="{name}" format="ascii"{more}>\n{values}\n</DataArray>\n'

    points = '\n'.join(f'{x[0]} {x[1]} {x[2]}' for x in mesh.nodes)
    ends = np.cumsum([len(row) for row, *_ in cells])
    with open(path, 'w') as file:
        file.write('<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian">\n<UnstructuredGrid>\n'
                   f'<Piece NumberOfPoints="{len(mesh.nodes)}" NumberOfCells="{len(cells)}">\n<Points>\n'
                   + array('Points', 'Float64', points, ' NumberOfComponents="3"') + '</Points>\n<Cells>\n'
                   + array('connectivity', 'Int64', '\n'.join(text_of(row) for row, *_ in cells)) + array('offsets', 'Int64', text_of(ends))
                   + array('types', 'UInt8', text_of(kind for _, kind, _ in cells)) + '</Cells>\n<CellData>\n'
                   + array('block', 'Int64', text_of(id_ for *_, id_ in cells))
                   + '</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n')


def write_med(path, mesh):
    """MED 3, an HDF5 file; its elements are left-handed, as those of Salome are: xi and eta change places."""
    import h5py

    order = places({8: '', 20: MED[:47], 27: MED}[mesh.per], mesh.per)
    cells = {{8: 'HE8', 20: 'H20', 27: 'H27'}[mesh.per]: (mesh.elements(order[:, [1, 0, 2]]), -mesh.block)}
    quads = [(mesh.faces(side, quad_nodes(mesh.per)), -id_) for id_, (_, side) in SURFACES.items()]
    cells[{8: 'QU4', 20: 'QU8', 27: 'QU9'}[mesh.per]] = (np.vstack([q for q, _ in quads]), np.concatenate([[i] * len(q) for q, i in quads]))
    with h5py.File(path, 'w') as file:
        whole = file.create_group('ENS_MAA/mesh')
        whole.attrs['ESP'] = whole.attrs['DIM'] = 3
        step = whole.create_group('-0000000000000000001-0000000000000000001')
        place = step.create_dataset('NOE/COO', data=mesh.nodes.flatten(order='F'))
        place.attrs['NBR'] = len(mesh.nodes)
        for name, (rows, family) in cells.items():
            nodes = step.create_dataset(f'MAI/{name}/NOD', data=(rows + 1).flatten(order='F'))
            nodes.attrs['NBR'] = len(rows)
            step.create_dataset(f'MAI/{name}/FAM', data=np.asarray(family))
        for id_, name in [*BLOCKS.items(), *((id_, name) for id_, (name, _) in SURFACES.items())]:
            group = file.create_group(f'FAS/mesh/ELEME/FAM_{-id_}_{name}')
            group.attrs['NUM'] = -id_
            names = np.zeros((1, 80), 'i1')
            names[0, :len(name)] = np.frombuffer(name.encode(), 'i1')
            group.create_dataset('GRO/NOM', data=names)
            group['GRO'].attrs['NBR'] = 1
