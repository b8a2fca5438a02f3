#!/usr/bin/env python3
"""spl-mesh box makes boxes whose elements fill them, with named blocks and sides; describe and draw tell of them what is so."""
import os

import netCDF4
import numpy as np
from check import claim, done, given_seed
from toolrun import Tool

tool = Tool('spl-mesh', 'bad.exo')
SEED = given_seed()
BOX = ['--x', 100, 500, '--y', -30, 270, '--z', -200, 50]


def number_after(text, words):
    return float(text.split(words)[1].split()[0])


def test_box(per):
    name = f'box{per}.exo'
    tool.fine(f'a box of 4 x 3 x 5 elements of {per} nodes, shaken by 0.1, seed {SEED}', 'box', *BOX, '--elements', 4, 3, 5, '--nodes', per,
              '--shake', 0.1, '--seed', SEED, '--block', 'sea:top', '--block', 'rock:-50', '-o', name)
    said = tool.fine('described', 'describe', name)
    volume = sum(number_after(line, 'volume') for line in said.splitlines() if line.startswith('sizes in block'))
    claim(abs(volume / (400 * 300 * 250) - 1) < 1e-7, f'{per} nodes: its elements fill it, {volume:.9g} m3 of {400 * 300 * 250}')
    claim('block 1 sea: 24 elements' in said and 'block 2 rock: 36 elements' in said, 'layers by their tops')
    claim('x 100 .. 500 m, y -30 .. 270 m, z -200 .. 50 m (z up)' in said and 'outside: 94 sides, 0 of them in no side set' in said,
          'extent and sides')
    tool.fine('checked', 'check', name)
    with netCDF4.Dataset(name) as file:
        nodes = np.stack([file['coord' + x][:] for x in 'xyz'], axis=1)
        elements = np.concatenate([file['connect1'][:], file['connect2'][:]]) - 1
        corners = np.array([(1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (1, 5, 8, 4), (1, 4, 3, 2), (5, 6, 7, 8)]) - 1
        good, names = True, [b''.join(row).strip(b'\0').decode() for row in file['ss_names'][:]]
        for n, (side, axis, at) in enumerate((('xmin', 0, 100), ('xmax', 0, 500), ('ymin', 1, -30), ('ymax', 1, 270), ('zmin', 2, -200),
                                              ('zmax', 2, 50)), 1):
            e, s = file[f'elem_ss{n}'][:] - 1, file[f'side_ss{n}'][:] - 1
            good = good and names[n - 1] == side and np.all(nodes[elements[e[:, None], corners[s]], axis] == at)
    claim(good, f'{per} nodes: side sets {", ".join(names)} lie in their planes')
    inner = np.all((nodes > [100, -30, -200]) & (nodes < [500, 270, 50]), axis=1)
    step = 1 if per == 8 else 2
    grid = np.array([100, 100, 50]) / step
    off = np.abs((nodes - [100, -30, -200]) / grid - np.rint((nodes - [100, -30, -200]) / grid))[inner]
    claim(0.05 < off.max() <= 0.1 + 1e-9 and off.mean() > 0.03, f'{per} nodes: inner nodes are off by {off.mean():.3f} of their spacing, '
          f'at most {off.max():.3f}')


def test_refused():
    small = ['--elements', 2, 2, 2, '-o', 'bad.exo']
    tool.refused('the second must be larger', 'a box inside out', 'box', '--x', 1, 0, '--y', 0, 1, '--z', 0, 1, *small)
    tool.refused('give a smaller one', 'too large a shake', 'box', *BOX, '--elements', 6, 6, 6, '--shake', 0.5, '--nodes', 27, '-o', 'bad.exo')
    tool.refused('each with a lower top', 'layers upwards', 'box', *BOX, *small, '--block', 'a:0', '--block', 'b:10')
    tool.refused('each layer must have elements', 'a layer without elements', 'box', *BOX, *small, '--block', 'a:top', '--block', 'b:-190')
    tool.refused("'sea' is no NAME:TOP", 'a layer without a top', 'box', *BOX, *small, '--block', 'sea')
    tool.refused('at most 20000000', 'a box without end', 'box', *BOX, '--elements', 1000, 1000, 1000, '-o', 'bad.exo')


def test_figures():
    from matplotlib import image
    for more in ([], ['--sides']):
        tool.fine(f'a figure {" ".join(more)}', 'draw', 'box8.exo', '-o', 'box.png', '--dpi', 80, '--overwrite', *more)
        pixels = image.imread('box.png')[..., :3]
        colours = len(np.unique(np.rint(pixels.reshape(-1, 3) * 15), axis=0))
        claim(pixels.shape[:2] == (480, 880) and colours > 20, f'{pixels.shape[1]} x {pixels.shape[0]} pixels of {colours} colours')
    tool.refused('the ending tells the format', 'a figure without an ending', 'draw', 'box8.exo', '-o', 'box')
    claim(not [name for name in os.listdir('.') if name.endswith('.tmp')], 'no temporary file is left behind')


for nodes_each in (8, 27):
    test_box(nodes_each)
test_refused()
test_figures()
done()
