"""Pictures of the free sides or of all elements of a mesh as VTU files, through meshio, and the PVD file that tells their times."""
import contextlib
import os
from xml.sax.saxutils import quoteattr

import meshio
import numpy as np

from spltools import cli
from spltools.earth.modelfile import coordinate
from spltools.gathers import cdf5
from spltools.netcdf import open_dataset

ALONG = 5                                        # points of an element along an axis
VECTORS = {'v': 'velocity', 'u': 'displacement'}


def export(path, output, overwrite):
    """Writes OUT.pvd and OUT_KIND_NUMBER.vtu. Returns what was written, in words."""
    cdf5.check_sealed(path)
    stem = os.path.splitext(output)[0]
    with open_dataset(path) as ds, contextlib.ExitStack() as stack:      # all files, or none
        kinds = [k for k in ('surface', 'volume') if f'{k}_x' in ds.variables]
        if not kinds:
            cli.fail(f'{path} has no picture of a surface or volume; model with snapshot_planes=surface, or volume, and '
                     'snapshot=SECONDS (spl-plot map draws planes)')
        times = coordinate(ds, 'time')
        width = len(str(len(times)))
        names = {(k, i): f'{stem}_{k}_{i + 1:0{width}d}.vtu' for k in kinds for i in range(len(times))}
        for name in (output, *names.values()):
            cli.check_output(name, overwrite)
        up = getattr(ds, 'mesh_z', 'down') == 'up'
        for kind in kinds:
            points, cells = grid(ds, kind, up)
            for i in range(len(times)):
                name = stack.enter_context(cli.new_file(names[kind, i], overwrite))
                meshio.write(name, meshio.Mesh(points, cells, point_data=fields(ds, kind, i, up)), file_format='vtu')
        with open(stack.enter_context(cli.new_file(output, overwrite)), 'w', encoding='utf-8') as file:
            file.write('<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n<Collection>\n')
            for (kind, i), vtu in names.items():
                part = kinds.index(kind)
                file.write(f'<DataSet timestep="{times[i]:.12g}" part="{part}" file={quoteattr(os.path.basename(vtu))}/>\n')
            file.write('</Collection>\n</VTKFile>\n')
    return (f"{output}: {cli.counted(len(times), 'time')} of {' and '.join(kinds)}, "
            f"z points {'up, and so do components along z' if up else 'down'}")


def grid(ds, kind, up):
    """Points (n, 3) and cells: between the points of a side or element lie 16 quadrilaterals or 64 hexahedra."""
    places = [np.asarray(ds[f'{kind}_{c}'][:], float) for c in 'xyz']
    many, per = places[0].shape
    points = np.stack([p.reshape(-1) for p in places], axis=1)
    if up:
        points[:, 2] *= -1
    at = np.arange(per).reshape([ALONG] * (2 if kind == 'surface' else 3))       # last axis: along xi
    if kind == 'surface':
        corners = [at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]]
    else:
        corners = [at[k:k + ALONG - 1, j:j + ALONG - 1, i:i + ALONG - 1]
                   for k in (0, 1) for j, i in ((0, 0), (0, 1), (1, 1), (1, 0))]
        if up:                                                                   # else they would be inside out
            corners = corners[4:] + corners[:4]
    small = np.stack([c.reshape(-1) for c in corners], axis=1)
    cells = (small[None] + per * np.arange(many)[:, None, None]).reshape(-1, len(corners))
    return points, [('quad' if kind == 'surface' else 'hexahedron', cells)]


def fields(ds, kind, i, up):
    """Of one time: three components of a motion are a vector."""
    found = {n[:-len(kind) - 1]: v for n, v in ds.variables.items() if n.endswith('_' + kind) and v.ndim == 3}
    out = {}
    for name, v in found.items():
        out[name] = np.asarray(v[i], np.float32).reshape(-1) * np.float32(-1 if up and name.endswith('z') else 1)
    for letter, vector in VECTORS.items():
        if all(letter + c in out for c in 'xyz'):
            out[vector] = np.stack([out.pop(letter + c) for c in 'xyz'], axis=1)
    return out
