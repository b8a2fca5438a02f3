"""A mesh folder of SPECFEM3D: text files of nodes, elements, materials and surfaces."""
import os

import numpy as np

from spltools.cli import check_input, fail, warn
from spltools.mesh.mesh import Numbers, Raw

NEEDED = ('nodes_coords_file', 'mesh_file', 'materials_file')
MATERIALS = 'nummaterial_velocity_file'
NO_LOSS = 9999          # Q of what does not attenuate
# Beginnings of names of files of surfaces, and what is put before the rest to name the surface.
SURFACES = {'absorbing_surface_file_': 'absorbing_', 'free_or_absorbing_surface_file_': '', 'free_surface_file': 'free'}


def read(folder):
    missing = [name for name in NEEDED if not os.path.exists(os.path.join(folder, name))]
    if missing:
        fail(f"{folder} is no mesh folder of SPECFEM: it has no file '{missing[0]}'")
    path = os.path.join(folder, NEEDED[0])
    table = _table(path, (4,))
    raw = Raw(folder, np.empty((len(table), 3)), 'specfem')
    node = Numbers(path, table[:, 0], 'node')
    raw.nodes[:] = table[:, 1:]
    path = os.path.join(folder, 'mesh_file')
    table = _table(path, (9, 28)).astype(np.int64)
    element = Numbers(path, table[:, 0], 'element')
    path = os.path.join(folder, 'materials_file')
    material = _rows(path, _numbers(path), 2).astype(np.int64)
    block = np.zeros(len(table), np.int64)
    has = element.places(material[:, 0], path)
    block[has] = material[:, 1]
    lacks = np.setdiff1d(np.arange(len(table)), has)
    if len(lacks):
        fail(f'{path} has no material of {len(lacks)} elements, the first is element {table[lacks[0], 0]}')
    raw.add_elements(node.places(table[:, 1:], os.path.join(folder, 'mesh_file')), _positive(block))
    for name in sorted(os.listdir(folder)):
        if 'surface_file' in name:
            _surface(raw, os.path.join(folder, name), node, element)
    return raw


def _positive(block):
    """Materials -1, -2, ... are those whose values come from a tomography file; Exodus wants positive numbers."""
    if (block < 0).any():
        warn(f'materials {", ".join(map(str, np.unique(block[block < 0])))} (from tomography files) become blocks '
             f'{", ".join(str(block.max(initial=0) - b) for b in np.unique(block[block < 0]))}')
        block = np.where(block < 0, block.max(initial=0) - block, block)
    return block


def _surface(raw, path, node, element):
    """A file of faces: element and its 4 or 9 nodes. Its name tells the surface."""
    base = os.path.basename(path)
    start = next((s for s in SURFACES if base.startswith(s)), None)
    if start is None:
        warn(f'{path} is left out: its name begins with none of {", ".join(SURFACES)}')
        return
    if _numbers(path)[0] == 0:
        return
    table = _table(path, (5, 10)).astype(np.int64)
    element.places(table[:, 0], path)
    name = SURFACES[start] + base[len(start):]
    raw.surfaces.append((len(raw.surfaces) + 1, name, node.places(table[:, 1:5], path)))


def _numbers(path):
    check_input(path)
    with open(path, encoding='utf-8-sig', errors='replace') as file:
        words = file.read().split()
    if not words:
        fail(f'{path} has nothing but blanks')
    try:
        return np.array(words, float)
    except ValueError as problem:
        fail(f'{path} has words that are no numbers: {problem}')


def _rows(path, numbers, width):
    if len(numbers) % width:
        fail(f'{path} has {len(numbers)} numbers, must have {width} in each of its lines')
    _whole(path, numbers.reshape(-1, width))
    return numbers.reshape(-1, width)


def _table(path, widths):
    """The rows of a file that begins with their number; as many numbers in each as one of `widths` says."""
    numbers = _numbers(path)
    n, rest = numbers[0], len(numbers) - 1
    width = next((w for w in widths if n >= 1 and n * w == rest), None)
    if width is None:
        fail(f'{path} says that it has {n:g} lines and has {rest} numbers in them, must be {" or ".join(map(str, widths))} a line')
    table = numbers[1:].reshape(-1, width)
    _whole(path, table[:, :1] if width == 4 else table)
    return table


def _whole(path, numbers):
    bad = ~((numbers == np.rint(numbers)) & (np.abs(numbers) < 2**31)).all(axis=1)
    if bad.any():
        fail(f'{path}: line {bad.argmax() + 2} has a number that is not whole, or is larger than {2**31 - 1}')


# --- materials -------------------------------------------------------------------------------------------------------

def materials(folder):
    """Lines of a table of materials: the names of the columns, then block, vp, vs [m/s], rho [kg/m3], and Q where the file has it
    (0 is none)."""
    path = os.path.join(folder, MATERIALS)
    check_input(path)
    lines = []
    with open(path, encoding='utf-8-sig', errors='replace') as file:
        for number, line in enumerate(file, 1):
            words = line.split('!')[0].split()
            if not words:
                continue
            if len(words) > 2 and words[2] == 'tomography' or words[1:2] and words[1].startswith('-'):
                warn(f'{path}: line {number} names a tomography file: give that medium as a volume, it is not in the table')
                continue
            lines.append(_material(path, number, words))
    if not lines:
        fail(f'{path} has no material with numbers')
    return ['block vp vs rho' + (' Qkappa Qmu' if any(len(line.split()) > 4 for line in lines) else ''), *lines]


def _material(path, number, words):
    try:
        domain, id_ = int(words[0]), int(words[1])
        rho, vp, vs = (float(word) for word in words[2:5])
        quality = [float(word) for word in words[5:7]]
        anisotropy = float(words[7]) if len(words) > 7 else 0
    except (ValueError, IndexError):
        fail(f'{path}: line {number} is not: domain material rho vp vs Q_kappa Q_mu anisotropy')
    if domain not in (1, 2):
        fail(f'{path}: line {number}: domain {domain} must be 1, acoustic, or 2, elastic')
    if not (0 < rho < np.inf and 0 < vp < np.inf and 0 <= vs < vp):
        fail(f'{path}: line {number}: rho = {rho:g} kg/m3 and vp = {vp:g} m/s must be > 0, vs = {vs:g} m/s from 0 to vp')
    if domain == 1:
        vs = 0.0
    if anisotropy != 0:
        warn(f'{path}: line {number} has anisotropy_flag {anisotropy:g}, a medium whose constants only SPECFEM has: in the '
             'table it is isotropic; make its line one of vti, tti or cij')
    text = f'{id_} {vp:.10g} {vs:.10g} {rho:.10g}'
    if len(quality) == 2 and min(quality) < NO_LOSS:
        if not min(quality) > 0:
            fail(f'{path}: line {number}: Q_kappa = {quality[0]:g} and Q_mu = {quality[1]:g} must be > 0')
        text += ''.join(f' {q if q < NO_LOSS else 0:.10g}' for q in quality)
    return text
