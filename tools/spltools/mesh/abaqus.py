"""Input files of Abaqus (.inp): nodes, hexahedra, shells as surfaces, element sets and surfaces by element and face."""
import re

import numpy as np

from spltools.cli import fail, warn
from spltools.mesh.mesh import Numbers, Raw

HEXAHEDRON = re.compile(r'(?:C3D|DC3D|AC3D)(8|20|27)[A-Z]*$')
QUADRILATERAL = re.compile(r'(?:S|DS|CPS|CPE|M3D|SFM3D|R3D)(4|8|9)[A-Z0-9]*$')
SOLID = re.compile(r'(?:DC|AC|C)3D|CC3D|CIN3D|COH3D|SC')          # other types do not matter
SIDES = {f'S{face}': side for face, side in zip(range(1, 7), (4, 5, 0, 1, 2, 3))}   # Abaqus' faces of a brick as sides from 0


class _File:
    """Contents of the file: number of its letters, elements [(set, table)], sets {name: [numbers or a set's name]}, surfaces {name:
    [(set or number, side from 0)]}."""

    def __init__(self, path, letters):
        self.path, self.letters, self.nodes, self.hexahedra, self.quads = path, letters, [], [], []
        self.sets, self.surfaces, self.sections, self.others = {}, {}, [], {}
        self.spelt = {}

    def name(self, word):
        """Names differ by letters, not by capitals: as it was written first."""
        return self.spelt.setdefault(word.upper(), word)


def read(path):
    file = _parse(path)
    if not file.nodes:
        fail(f'{path} has no *NODE with nodes')
    table = np.concatenate(file.nodes)
    node = Numbers(path, table[:, 0], 'node')
    raw = Raw(path, table[:, 1:], 'abaqus')
    raw.others.update(file.others)
    numbers = [rows[:, 0] for _, rows in file.hexahedra]
    element = Numbers(path, np.concatenate(numbers or [np.zeros(0, np.int64)]), 'element')
    block = _blocks(file, element, raw)
    first = 0
    for _, rows in file.hexahedra:
        raw.add_elements(node.places(rows[:, 1:]), block[first:first + len(rows)])
        first += len(rows)
    _shells(file, node, raw)
    for id_, (name, parts) in enumerate(file.surfaces.items(), 1):
        sides = []
        for what, side in parts:
            members = _members(file, what)
            sides.append(np.stack([element.places(members, f'{path}, surface {name},'), np.full(len(members), side)], axis=1))
        raw.sides.append((id_, name, np.concatenate(sides)))
    return raw


def _blocks(file, element, raw):
    """The block of each hexahedron: the sets of *SOLID SECTION; else those of *ELSET that no surface uses and that share no
    element; else the set that *ELEMENT names."""
    used = {what for parts in file.surfaces.values() for what, _ in parts}
    names = file.sections or [name for name in file.sets if name not in used]
    rows = {}
    for name in names:
        members = _members(file, name)
        inside = members[element.has(members)]
        if len(inside):
            rows[name] = element.places(inside)
    every = np.concatenate(list(rows.values()) or [np.zeros(0, np.int64)])
    shared = len(every) - len(np.unique(every))
    if shared and file.sections:
        warn(f'{file.path}: {shared} hexahedra are in more than one section; the first one is taken')
    elif shared:
        rows = {}
    block, first = np.zeros(len(element.numbers), np.int64), 0
    for name, found in rows.items():
        raw.blocks[len(raw.blocks) + 1] = name
        block[found[block[found] == 0]] = len(raw.blocks)
    ids = {name: id_ for id_, name in raw.blocks.items()}
    for name, table in file.hexahedra:
        part = block[first:first + len(table)]
        if (part == 0).any():
            raw.blocks[ids.setdefault(name, len(raw.blocks) + 1)] = name
            part[part == 0] = ids[name]
        first += len(table)
    return block


def _shells(file, node, raw):
    """Quadrilaterals as surfaces: by the sets of *ELSET, those in none by the set of their *ELEMENT."""
    if not file.quads:
        return
    quad = Numbers(file.path, np.concatenate([rows[:, 0] for _, rows in file.quads]), 'element')
    corners = node.places(np.concatenate([rows[:, 1:5] for _, rows in file.quads]))
    left = np.ones(len(corners), bool)
    found = {}
    for name in file.sets:
        members = _members(file, name)
        members = members[quad.has(members)]
        if len(members):
            found[name] = quad.places(members)
            left[found[name]] = False
    first = 0
    for name, rows in file.quads:
        alone = first + np.flatnonzero(left[first:first + len(rows)])
        first += len(rows)
        if len(alone) and name:
            found[name] = np.concatenate([found.get(name, np.zeros(0, np.int64)), alone])
    raw.surfaces += [(len(file.surfaces) + i, name, corners[rows]) for i, (name, rows) in enumerate(found.items(), 1)]


def _members(file, what, depth=0):
    """Numbers of elements of a set, which may have sets, or of one element."""
    if isinstance(what, int):
        return np.array([what], np.int64)
    if what not in file.sets and any(name == what for name, _ in file.hexahedra):
        return np.concatenate([rows[:, 0] for name, rows in file.hexahedra if name == what])
    if what not in file.sets or depth > 20:
        fail(f"{file.path} names the element set '{what}', which is not there" + (' (sets within sets)' if depth > 20 else ''))
    parts = [_members(file, one, depth + 1) if isinstance(one, str) else one for one in file.sets[what]]
    return np.unique(np.concatenate(parts or [np.zeros(0, np.int64)]))


# --- the text --------------------------------------------------------------------------------------------------------

def _parse(path):
    with open(path, encoding='utf-8-sig', errors='replace') as text:
        letters = text.read()
    lines = [line for line in letters.splitlines() if line.strip() and not line.startswith('**')]
    file, at, seen = _File(path, len(letters)), 0, set()
    while at < len(lines):
        head, at = lines[at], at + 1
        if not head.startswith('*'):
            fail(f"{path}: '{head[:60]}' stands before any keyword, such as *NODE; is this an input file of Abaqus?")
        first = at
        while at < len(lines) and not lines[at].startswith('*'):
            at += 1
        word, options = _keyword(head)
        _flat(path, word, options, lines[first:at], word in seen)
        seen.add(word)
        if word in READERS:
            READERS[word](file, options, lines[first:at])
    return file


def _flat(path, word, options, lines, again):
    """Fails where nodes and elements are not all in the file, or not where *NODE has them: it is written flat."""
    odd = ''
    if again and word in ('PART', 'INSTANCE'):
        odd = f'several *{word}'
    elif word in ELSEWHERE or (word in READERS and 'INPUT' in options):
        odd = f'*{word}' + (', INPUT=' if word in READERS else '')
    elif word in ('INSTANCE', 'SYSTEM') and lines:
        odd = f'*{word} with numbers, which moves or turns nodes'
    elif word == 'NODE' and options.get('SYSTEM', 'R').upper() != 'R':
        odd = f"*NODE, SYSTEM={options['SYSTEM']}, coordinates that are not x, y, z"
    if odd:
        fail(f'{path} has {odd}; write the mesh into one file without parts, with x, y, z of each node')


def _keyword(line):
    words = [word.strip() for word in line[1:].split(',')]
    return words[0].upper(), {key.strip().upper(): value.strip() for key, _, value in (word.partition('=') for word in words[1:])}


def _numbers(file, lines, what):
    try:
        return np.array(','.join(line.strip().rstrip(',') for line in lines).replace(',', ' ').split(), float)
    except ValueError as problem:
        fail(f'{file.path}: {what} has words that are no numbers: {problem}')


def _node(file, options, lines):
    numbers = _numbers(file, lines, '*NODE')
    if len(numbers) % 4:
        fail(f'{file.path}: *NODE has {len(numbers)} numbers, must have four of each node: number, x, y, z')
    if len(numbers):
        _whole(file, numbers[::4])
        file.nodes.append(numbers.reshape(-1, 4))


def _element(file, options, lines):
    kind, name = options.get('TYPE', '').upper(), file.name(options.get('ELSET', ''))
    hexahedron, quadrilateral = HEXAHEDRON.match(kind), QUADRILATERAL.match(kind)
    if not (hexahedron or quadrilateral):
        if SOLID.match(kind):
            file.others[kind] = file.others.get(kind, 0) + len(lines)
        return
    width = int((hexahedron or quadrilateral).group(1)) + 1
    numbers = _whole(file, _numbers(file, lines, f'*ELEMENT of type {kind}'))
    if len(numbers) % width:
        fail(f'{file.path}: *ELEMENT of type {kind} has {len(numbers)} numbers, must have {width} of each element')
    if len(numbers):
        (file.hexahedra if hexahedron else file.quads).append((name, numbers.reshape(-1, width)))


def _whole(file, numbers):
    bad = (numbers != np.rint(numbers)) | (np.abs(numbers) >= 2**31)
    if bad.any():
        fail(f'{file.path}: {numbers[bad][0]:g} is no number of a node or an element')
    return numbers.astype(np.int64)


def _elset(file, options, lines):
    name = file.name(options.get('ELSET', ''))
    members = file.sets.setdefault(name, [])
    if 'GENERATE' in options:
        for line in lines:
            words = _whole(file, _numbers(file, [line], f'*ELSET {name}'))
            if len(words) not in (2, 3) or (len(words) == 3 and words[2] < 1):
                fail(f"{file.path}: '{line[:60]}' of *ELSET {name} is not: first, last, step")
            every = range(words[0], words[1] + 1, words[2] if len(words) == 3 else 1)
            if len(every) > file.letters:           # an element takes more than one
                fail(f"{file.path}: '{line[:60]}' of *ELSET {name} are {len(every)} elements, more than the file can hold")
            members.append(np.array(every, np.int64))
        return
    words = [word.strip() for line in lines for word in line.split(',') if word.strip()]
    digits = [word for word in words if word.isdigit()]
    if digits:
        members.append(_whole(file, np.array(digits, float)))
    members += [file.name(word) for word in words if not word.isdigit()]


def _surface(file, options, lines):
    if options.get('TYPE', 'ELEMENT').upper() != 'ELEMENT':
        return
    for line in lines:
        what, _, face = (word.strip() for word in line.partition(','))
        if face.upper() not in SIDES:
            warn(f"{file.path}: surface {options.get('NAME', '')}: '{line.strip()[:60]}' is left out, its face is none of S1..S6")
            continue
        part = int(what) if what.isdigit() else file.name(what), SIDES[face.upper()]
        file.surfaces.setdefault(options.get('NAME', ''), []).append(part)


def _section(file, options, lines):
    if options.get('ELSET'):
        file.sections.append(file.name(options['ELSET']))


ELSEWHERE = ('INCLUDE', 'NGEN', 'NFILL', 'NCOPY', 'NMAP', 'ELGEN', 'ELCOPY')
READERS = {'NODE': _node, 'ELEMENT': _element, 'ELSET': _elset, 'SURFACE': _surface, 'SOLID SECTION': _section}
