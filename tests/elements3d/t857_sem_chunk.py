#!/usr/bin/env python3
"""spl-mesh chunk: slices of a cubed sphere whose elements double their width twice with depth fill the slice, match, have the isotropic
PREM; those of the sizes of Komatitsch, Michea & Erlebacher (2009, J. Parallel Distrib. Comput. 69, 451-460) are taken by SplSemmod."""
import functools
import math
from pathlib import Path

from check import claim, done
from minisem import run

from spltools.mesh import chunk
from toolrun import Tool

tool = Tool('spl-mesh', 'bad.exo')
plan = functools.partial(run, 'plan')
# Table of PREM: depth [km] of an upper side of a layer, vp, vs [m/s], rho [kg/m3], Qs
TABLE = {24.4: (8110.61, 4490.94, 3380.76, 600), 220.0: (8558.96, 4643.91, 3435.78, 143), 400.0: (9133.97, 4932.59, 3723.78, 143),
         670.0: (10751.31, 5945.08, 4380.71, 312)}


def number_after(text, words):
    return float(text.split(words)[1].split()[0])


def test_shape(per, within):
    said = tool.fine(f'8 x 8 x 14 steps of 40 degrees, {per} nodes', 'chunk', '--elements', 8, '--rows', 3, 1, 1, '--angle', 40, '--nodes', per,
                     '-o', f'{per}.exo')
    volume = sum(number_after(line, 'volume') for line in tool.fine('described', 'describe', f'{per}.exo').splitlines()
                 if line.startswith('sizes in block'))
    exact = 4 * math.asin(math.sin(math.radians(20))**2) * (6371e3**3 - 3480e3**3) / 3
    claim(abs(volume / exact - 1) <= within, f'{per} nodes: its elements fill the slice to {abs(volume / exact - 1):.1e}, bound {within:g}')
    claim('side set 1 free: 64 sides' in said and '0 of them in no side set' in said, f'{per} nodes: the surface is free')
    tool.fine('elements match', 'check', f'{per}.exo')


def test_paper():
    elements = 7424
    said = tool.fine('the smallest mesh of the paper', 'chunk', '--elements', 16, '--rows', 22, 12, 19, '--angle', 3, '-o', 'paper.exo',
                     '--materials', 'paper.materials')
    claim(f'mesh: {elements} hexahedra of 27 nodes' in said, f'it has {elements} elements')
    depths = [int(line.split()[0][5:]) for line in Path('paper.materials').read_text().splitlines()]
    claim(depths == sorted(depths) and 0 < depths[0] < 25 and 2800 < depths[-1] < 2891 and len(set(depths)) == len(depths), 'its blocks are named by depth')
    Path('k.map').write_text('spread net list st\nshot 1 0 10000 net y=0\n')
    Path('st').write_text('1 20000 0 10000\n')
    r = plan('mesh=paper.exo', 'materials=paper.materials', 'keymap=k.map', 'receiver_z=surface', 'source=explosion', 'm0=1e18',
             'fpeak=0.015', 'tmax=10', 'dt_out=0.5', 'output=paper.nc', 'threads=1')
    claim(r.returncode == 0 and f'{elements} elements' in r.stdout and '256 sides are free, 2328 absorb' in r.stdout,
          f'SplSemmod plan takes it: exit status {r.returncode} {r.stderr[-300:]}')


def test_media():
    worst = 0.0
    for depth, want in TABLE.items():
        vp, vs, rho, _, q = map(float, chunk.material('', 6371e3 - 1e3 * depth - 2).split())
        worst = max(worst, *(abs(one / other - 1) for one, other in zip((vp, vs, rho, q), want)))
    claim(worst <= 1e-4, f'PREM below its discontinuities differs by {worst:.1g} from its table, bound 1e-4')


def test_refused():
    tool.refused('multiple of 8', 'a number of elements that cannot be halved twice', 'chunk', '--elements', 12, '--rows', 1, 1, 1, '--angle', 4,
                 '-o', 'bad.exo')
    tool.refused('at most 20000000', 'a slice without end', 'chunk', '--elements', 2000, '--rows', 9, 1, 1, '--angle', 40, '-o', 'bad.exo')


test_shape(8, 0.05)
test_shape(27, 2e-4)
test_paper()
test_media()
test_refused()
done()
