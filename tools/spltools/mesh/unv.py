"""Universal files of I-DEAS (.unv), as Salome, Gmsh and others write them: data sets 164 (units), 2411 (nodes), 2412 (elements)
and 2467, 2477, 2452, 2435 (groups with names)."""
import re

import numpy as np

from spltools.cli import fail, warn
from spltools.mesh.mesh import Numbers, Raw

BEAMS = {11, 21, 22, 23, 24}                # their records have a line more
QUADRILATERALS = {44, 45, 54, 55, 64, 65, 74, 75, 84, 85, 94, 95, 122, 300}
HEXAHEDRA = {115, 116}                      # of 8 and 20 nodes; Gmsh writes those of 27 as the former, in its order
TRIANGLES = {41, 42, 51, 52, 61, 62, 71, 72, 81, 82, 91, 92}
OTHER_SOLIDS = {111: 'tetrahedra', 118: 'tetrahedra', 112: 'wedges', 113: 'wedges', 114: 'pyramids', 312: 'pyramids'}
# Nodes of I-DEAS run along the edges, corner and middle in turn: those of corners, then of the edges below, upright, above.
PARABOLIC = [0, 2, 4, 6, 12, 14, 16, 18, 1, 3, 5, 7, 8, 9, 10, 11, 13, 15, 17, 19]
GROUPS = {2467, 2477, 2452, 2435}
ELEMENT = 8                                 # kind of a member of a group


def read(path):
    sets = _data_sets(path)
    if 2411 not in sets or 2412 not in sets:
        fail(f'{path} has no data set {2411 if 2411 not in sets else 2412}: it is no universal file with a mesh, or an old one '
             '(781, 780)')
    _metres(path, [line for part in sets.get(164, []) for line in part])
    numbers, nodes = _nodes(path, [line for part in sets[2411] for line in part])
    node = Numbers(path, numbers, 'node')
    raw = Raw(path, nodes, 'gmsh')
    found = _elements(path, [line for part in sets[2412] for line in part], raw)
    hexahedra, quads = ([e for e in found if e[1] == kind] for kind in ('hexahedron', 'quadrilateral'))
    groups = [g for number in sorted(GROUPS & set(sets)) for part in sets[number] for g in _groups(path, part)]
    block = _blocks(path, np.array([e[0] for e in hexahedra], np.int64), groups, raw)
    if any(len(e[2]) == 20 for e in hexahedra):
        raw.order = 'exodus'                # in which PARABOLIC has put them
    for per in sorted({len(e[2]) for e in hexahedra}):
        rows = [i for i, e in enumerate(hexahedra) if len(e[2]) == per]
        raw.add_elements(node.places(np.array([hexahedra[i][2] for i in rows])), block[rows])
    if quads:
        quad = Numbers(path, [e[0] for e in quads], 'element')
        corners = node.places(np.array([e[2] for e in quads]))
        for id_, name, members in groups:
            members = members[quad.has(members)]
            if len(members):
                raw.surfaces.append((id_, name, corners[quad.places(members)]))
    return raw


def _metres(path, lines):
    """Fails where the data set of units has another length than the metre: its second line tells how many of it are one."""
    words = lines[1].split() if len(lines) > 1 else []
    try:
        per_metre = float(words[0].upper().replace('D', 'E')) if words else 1.0
    except ValueError:
        fail(f"{path}: data set 164 says '{words[0][:40]}' lengths a metre, must be a number")
    if per_metre != 1:
        fail(f'{path} has lengths of which {per_metre:g} are a metre (data set 164): write it in metres')


def _blocks(path, numbers, groups, raw):
    """The block of each hexahedron: the first group that has it."""
    element = Numbers(path, numbers, 'element')
    block, twice = np.zeros(len(numbers), np.int64), 0
    for id_, name, members in groups:
        rows = element.places(members[element.has(members)])
        twice += np.count_nonzero(block[rows])
        block[rows[block[rows] == 0]] = id_
        if len(rows):
            raw.blocks[id_] = name
    if twice:
        warn(f'{path}: {twice} hexahedra are in more than one group; the first one is taken')
    return block


def _data_sets(path):
    """Number of data set -> its lines, a list for each time that it is there."""
    with open(path, encoding='utf-8-sig', errors='replace') as file:
        lines = file.read().splitlines()
    sets, inside = {}, None
    for line in lines:
        if line.strip() == '-1':
            inside = None if inside is not None else 'number'
        elif inside == 'number':
            inside = []
            if re.fullmatch(r'\s*\d{1,6}[bB]?(\s.*)?', line):
                sets.setdefault(int(re.match(r'\s*(\d+)', line).group(1)), []).append(inside)
        elif inside is not None:
            inside.append(line)
    return sets


def _words(path, line, n, kind=int):
    try:
        words = [kind(word) for word in line.replace('D', 'E').replace('d', 'e').split()[:n]]
    except ValueError:
        fail(f"{path}: '{line.strip()[:60]}' are not {n} numbers")
    if kind is int and any(abs(word) >= 2**63 for word in words):
        fail(f"{path}: '{line.strip()[:60]}' has a number beyond 64 bits; the file is damaged")
    return words


def _nodes(path, lines):
    if len(lines) % 2 or not lines:
        fail(f'{path}: data set 2411 has {len(lines)} lines, must have two of each node')
    numbers = [_words(path, line, 1) for line in lines[0::2]]
    places = [_words(path, line, 3, float) for line in lines[1::2]]
    bad = next((i for i, (number, x) in enumerate(zip(numbers, places)) if len(number) != 1 or len(x) != 3), None)
    if bad is not None:
        fail(f'{path}: node {bad + 1} of data set 2411 has no number, or no three coordinates')
    return np.array(numbers)[:, 0], np.array(places)


def _elements(path, lines, raw):
    """(number, hexahedron or quadrilateral, nodes) of those that are wanted; others are counted."""
    found, at = [], 0
    while at < len(lines):
        head = _words(path, lines[at], 6)
        if len(head) < 6 or not 0 < head[5] < 1000:
            fail(f"{path}: '{lines[at].strip()[:60]}' is no head of an element of data set 2412")
        number, kind, n = head[0], head[1], head[5]
        at += 2 if kind in BEAMS else 1
        nodes = []
        while len(nodes) < n and at < len(lines):
            words = _words(path, lines[at], 8)
            if not words:
                break
            nodes += words
            at += 1
        if len(nodes) != n:
            fail(f'{path}: element {number} has {len(nodes)} nodes, must have {n}')
        if kind in HEXAHEDRA and n in (8, 20, 27):
            found.append((number, 'hexahedron', [nodes[i] for i in PARABOLIC] if n == 20 else nodes))
        elif kind in QUADRILATERALS and n in (4, 8, 9):
            found.append((number, 'quadrilateral', nodes[0:8:2] if n == 8 else nodes[:4]))
        elif kind not in BEAMS | TRIANGLES and n > 3:
            raw.others[OTHER_SOLIDS.get(kind, f'of kind {kind} with {n} nodes')] += 1
    return found


def _groups(path, lines):
    """(number, name, numbers of its elements)."""
    groups, at = [], 0
    while at < len(lines):
        head = _words(path, lines[at], 8)
        if len(head) < 8 or head[7] < 0 or at + 1 >= len(lines):
            fail(f"{path}: '{lines[at].strip()[:60]}' is no head of a group")
        name, n, members = lines[at + 1].strip(), head[7], []
        at += 2
        while len(members) < 4 * n and at < len(lines):
            words = _words(path, lines[at], 8)
            if len(words) not in (4, 8):
                fail(f"{path}: '{lines[at].strip()[:60]}' are not four or eight numbers of members of group {name}")
            members += words
            at += 1
        if len(members) != 4 * n:
            fail(f'{path}: group {name} has {len(members) // 4} members, must have {n}')
        members = np.array(members, np.int64).reshape(-1, 4)
        groups.append((head[0], name, members[members[:, 0] == ELEMENT, 1]))
    return groups
