#!/usr/bin/env python3
"""What else is recorded does not change a trace: pressure, stress and velocity a few cells from a source in anelastic rock, near enough to
a contact that rates of strain, which take more cells, cannot be freed of the grid's spread there; half-lengths and places drawn at random."""
import os
from pathlib import Path

import launch
import numpy as np
from check import claim, done, given_seed
from netCDF4 import Dataset

seed = given_seed()
rng = np.random.default_rng(seed)
PROGRAM = Path(os.environ['B']) / 'bin' / 'SplFd3dmod'
DX, DY, DZ = 20.0, 18.0, 14.0
CONTACT = 18 * DZ


def gathers(length, components):
    ran = launch.run(PROGRAM, 'layers=q.layers', 'keymap=q.keymap', f'dx={DX}', f'dy={DY}', f'dz={DZ}', f'half_length={length}', 'npml=6',
                     'fpeak=4', 'tmax=0.4', 'dt_out=0.02', f'depth={40 * DZ}', f'aperture={8 * DX}', 'source=volume', 'q_f1=0.3', 'q_f2=12',
                     'dispersion=warn', f'components={components}', 'output=q.nc', 'overwrite=y')
    if ran.returncode:
        raise RuntimeError(ran.stderr[-500:])
    with Dataset('q.nc') as file:
        return {name: file[name][0] for name in ('pressure', 'szz', 'vx')}


Path('q.layers').write_text(f'0 2400 1290 2020 64 45\n{CONTACT} 3540 2460 2270 87 48\n')
for length in (2, 4):
    depth = CONTACT + DZ * (4.2 + rng.uniform(0, length - 0.5))             # even for the weights, not for differences of them
    source = np.array([500.0, depth, 500.0]) + rng.uniform(0, 1, 3) * [DX, 0, DY]
    away = rng.uniform(-1, 1, (4, 3)) * [2 * DX, 0, 2 * DY] + np.linspace(2, 6, 4)[:, None] * [0, DZ, 0]
    Path('near.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, z, y) in enumerate((source + away).tolist())))
    Path('q.keymap').write_text('spread near list near.list\nshot 1 {0} {1} near y={2}\n'.format(*source.tolist()))
    few, more = gathers(length, 'p,szz,vx'), gathers(length, 'p,szz,vx,exx,wx')
    off = {name: float(np.abs(few[name] - more[name]).max() / np.abs(few[name]).max()) for name in few}
    claim(all(v == 0 for v in off.values()) and all(np.any(few[n]) for n in few),
          f'half-length {length}, source {(depth - CONTACT) / DZ:.1f} cells below a contact: with exx and wx beside them p, szz, vx differ by '
          + ', '.join(f'{v:.1g}' for v in off.values()))
done()
