#!/usr/bin/env python3
"""Every reader of the tools behind one door: any bytes in, read or refused out.

    tests/fuzz/toolreaders.py READER [LIBFUZZER OPTION]... CORPUS...    fuzzed with atheris, guided by coverage
    tests/fuzz/toolreaders.py --mutate ROUNDS SEED READER CORPUS...    random changes of the corpus, without atheris

What is not read must end in cli.Failure, one sentence; any other exception, and what contradicts itself, is a finding. Inputs hold
several files one behind the other, parted by a byte 1.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import random
import shutil
import sys
import tempfile
import types
import warnings
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tools')]


def imported():
    """The modules under test; atheris has to be there before them."""
    global np, abaqus, axis, cdf5, cli, foreign, gathers, keymap, keymap_writer, launcher, mesh, mesh_tool, model_tool, read_p190, \
        read_sps, segy_geometry, segy_layout, segy_section, specfem, specfem_source, unv
    import h5py  # noqa: F401
    import meshio  # noqa: F401
    import netCDF4  # noqa: F401
    import numpy as np
    from spltools import cli
    from spltools.earth import model_tool, segy_section
    from spltools.gathers import cdf5, gathers
    from spltools.geometry import axis, keymap, keymap_writer, segy_geometry, segy_layout, specfem_source
    from spltools.geometry.p190 import read_p190
    from spltools.geometry.sps import read_sps
    from spltools.mesh import abaqus, foreign, mesh, mesh_tool, specfem, unv
    path = str(ROOT / 'tools' / 'run-until-done')
    launcher = importlib.util.module_from_spec(importlib.util.spec_from_loader(
        'launcher', importlib.machinery.SourceFileLoader('launcher', path)))
    launcher.__spec__.loader.exec_module(launcher)


class Contradiction(Exception):
    """A reader took something that cannot be."""


class Place:
    """The folder of the inputs."""

    def __init__(self):
        base = os.environ.get('TMPDIR') or ('/dev/shm' if os.access('/dev/shm', os.W_OK) else None)
        self.folder = tempfile.mkdtemp(prefix='spl-fuzz-', dir=base)

    def put(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as file:
            file.write(data)
        return path

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def parts(data, n):
    found = data.split(b'\1', n - 1)
    return found + [b''] * (n - len(found))


def written(place, shots, groups=None):
    """Geometry that was read becomes a key-map, which gives the same shots again."""
    axis.project_shots(shots)
    axis.describe(shots, groups)
    path = os.path.join(place.folder, 'out.keymap')
    cli.inputs.clear()  # the map before this one was read under the same name
    keymap_writer.write_map(path, sorted(shots, key=lambda s: s.record), ['made by a test'], True)
    back = keymap.read_map(path)
    if [s.record for s in back] != sorted(s.record for s in shots):
        raise Contradiction('records of the key-map written are not those read')
    for one, two in zip(sorted(shots, key=lambda s: s.record), back):
        if len(one.rx) != len(two.rx) or np.abs(one.rx - two.rx).max() > 2e-3 or abs(one.sx - two.sx) > 2e-3:
            raise Contradiction(f'positions of record {one.record} are not those read')


def p190(place, data):
    shots, groups, _ = read_p190(place.put('in.p190', data), 6.0)
    written(place, shots, groups)


def sps(place, data):
    s, r, x = parts(data, 3)
    shots, _ = read_sps(place.put('in.s', s), place.put('in.r', r), place.put('in.x', x))
    written(place, shots)


def cmt(place, data):
    source, stations = parts(data, 2)
    events = specfem_source.read_events(place.put('CMTSOLUTION', source))
    for s in specfem_source.read_stations(place.put('STATIONS', stations)):
        if not np.isfinite([s.latitude, s.longitude, s.burial]).all():
            raise Contradiction('a station at no place')
    for event in events:
        axes = specfem_source.Axes(33.0, True)
        m = axes.tensor(np.diag(axes.rows @ event.force) if event.force is not None else event.north_east_down())
        if not np.isfinite(m).all() or abs(m - m.T).max() > 1e-9 * abs(m).max() or not np.isfinite(event.sigma()):
            raise Contradiction('no moment tensor')


def segy(place, data):
    shots, _ = segy_geometry.read_geometry(place.put('in.segy', data), segy_geometry.Options())
    written(place, shots)


def su(place, data):
    shots, _ = segy_geometry.read_geometry(place.put('in.su', data), segy_geometry.Options(shot_interval=25.0))
    written(place, shots)


def section(place, data):
    """A depth section in SEG-Y, or behind a first '+' in SU; behind '3' a volume in SEG-Y."""
    if data[:1] == b'3':
        return model_of(place, ['segy3d', place.put('in.segy', data[1:])])
    su = data[:1] == b'+'
    path = place.put('in.su', data[1:]) if su else place.put('in.segy', data)
    layout = segy_layout.su_layout(path) if su else segy_layout.segy_layout(path)
    if layout.traces < 2 or layout.ns < 2:
        cli.fail('no section')
    if su:
        segy_section.su_axes(path, layout, [])
    else:
        segy_section.segy_axes(path, layout, [], types.SimpleNamespace(lengths='m', dx=None))
    values = model_tool.checked(path, segy_section.samples(path, layout).T, 'vp', 'm/s')
    if values.min() < 100 or values.max() > 15000:
        raise Contradiction('no velocity')


def maps(place, data):
    text, lists = parts(data, 2)
    place.put('own.txt', lists)
    shots = keymap.read_map(place.put('k.map', text))
    written(place, [s for s in shots if not s.skip][:50] or cli.fail('nothing left'))


def seismograms(place, data):
    """A file of gathers; behind a first '+' its header is sealed anew, behind '#' its shots too."""
    path = place.put('g.nc', data[1:] if data[:1] in b'+#' else data)
    if data[:1] and data[:1] in b'+#':
        seal(path, data[:1] == b'#')
    file = gathers.Gathers(path)
    file.parameters()
    slots, _ = file.chosen(done_only=True)
    for slot in slots[:20]:
        for component in file.components:
            g = file.gather(slot, component)
            if g.traces.shape != (g.nrec, file.nt) or len(g.offset()) != g.nrec:
                raise Contradiction('traces and receivers differ in number')


def seal(path, shots):
    with contextlib.suppress(cli.Failure, KeyError, ValueError, IndexError, TypeError, OverflowError, Warning):
        header = cdf5.read_header(path)
        mapped = np.memmap(path, np.uint8, 'r+')
        if shots:
            for name in ('checksum', 'run_checksum'):
                stored = cdf5.array(header, mapped, name)
                for slot in range(min(len(stored), 20)):
                    crc = 0
                    for part in header.variables[name].attributes['order'].split():
                        crc = zlib.crc32(cdf5.array(header, mapped, part)[slot:slot + 1].reshape(-1).view(np.uint8), crc)
                    stored[slot] = crc
        begin = header.variables['header_bytes'].begin
        cdf5.array(header, mapped, 'header_bytes')[...] = begin
        cdf5.array(header, mapped, 'header_crc32')[...] = zlib.crc32(mapped[:begin])


def launches(place, data):
    """Inputs of run-until-done: host list, journal (behind '+' its lines are sealed), parameter file, words of launchers."""
    listed, journal, parameters, said = parts(data, 4)
    if journal[:1] == b'+':
        journal = b''.join(b'%08x ' % zlib.crc32(line) + line + b'\n' for line in journal[1:].split(b'\n'))
    place.put('out.nc.journal', journal)
    now = launcher.Journal(os.path.join(place.folder, 'out.nc'))
    if now.status() == 0 and not 0 < now.done <= journal.count(b'done'):
        raise Contradiction('done without a shot, or more shots than are told')
    if not launcher.output_of(['par=' + place.put('job.par', parameters)]):
        raise Contradiction('an output without a name')
    try:
        hosts = launcher.Hosts(place.put('hosts', listed), 2)
    except OSError as error:
        cli.fail(f'cannot read the host list: {error.strerror}')
    before = len(hosts.lines)
    for line in said.split(b'\n'):
        hosts.judge(*launcher.judged(line.decode(errors='replace')))
    if not hosts.lines or before - len(hosts.lines) < len(hosts.bad):
        raise Contradiction('more hosts dropped than there were')
    hosts.write(os.path.join(place.folder, 'out.nc.hosts'))
    if launcher.Hosts(os.path.join(place.folder, 'out.nc.hosts'), 2).lines != hosts.lines:
        raise Contradiction('a host list that does not read back')


def meshes(place, data):
    """A mesh: behind a first 'a' of Abaqus, 'u' of UNV, 's' the five files of a folder of SPECFEM."""
    if data[:1] == b's':
        names = ('nodes_coords_file', 'mesh_file', 'materials_file', 'absorbing_surface_file_bottom', 'nummaterial_velocity_file')
        for name, part in zip(names, parts(data[1:], len(names))):
            place.put(name, part)
        with contextlib.suppress(cli.Failure):
            specfem.materials(place.folder)
        raw = specfem.read(place.folder)
    else:
        read = abaqus.read if data[:1] == b'a' else unv.read
        raw = read(place.put('mesh.txt', data[1:]))
    built = mesh.build(raw, tell=False)
    if built.elements.min() < 0 or built.elements.max() >= len(built.nodes) or len(built.block) != len(built.elements):
        raise Contradiction('an element has a node that is not there')
    if sum(len(one.sides) == 0 or one.sides.max() >= 6 * len(built.elements) for one in built.side_sets):
        raise Contradiction('a side set without sides')
    if len({one.id for one in built.blocks}) != len(built.blocks) or min(one.id for one in built.blocks) < 1:
        raise Contradiction('blocks are not numbered')


def described(path, kind):
    """A mesh as `spl-mesh` describes and checks it."""
    with contextlib.redirect_stdout(io.StringIO()):
        mesh_tool.main(['describe', path, '--format', kind])
        mesh_tool.main(['check', path, '--format', kind])


def foreign_meshes(place, data):
    """What meshio reads: behind 'g' of Gmsh, 'v' VTK, 'x' VTU."""
    described(place.put('mesh', data[1:]), {b'g': 'gmsh', b'v': 'vtk', b'x': 'vtu'}.get(data[:1], 'gmsh'))


def exodus_meshes(place, data):
    described(place.put('mesh.exo', data), 'exodus')


def arrays(place, data):
    """Models as arrays: behind 'n' of NumPy, 'h' HDF5, 'r' RSF with its data in the same file."""
    verb = {b'n': ['npy', '--axes', 'xz'], b'h': ['hdf5', '--axes', 'xz'], b'r': ['rsf']}.get(data[:1], ['npy', '--axes', 'xz'])
    model_of(place, [verb[0], place.put('array', data[1:]), *verb[1:], '--dx', '10'])


def model_of(place, words):
    cli.inputs.clear()
    with contextlib.redirect_stdout(io.StringIO()):
        model_tool.main([*words, '--variable', 'vp', '--unit', 'm/s', '--lengths', 'm', '--dz', '10', '--overwrite', '-o',
                         os.path.join(place.folder, 'model.nc')])


def models(place, data):
    path = place.put('model.nc', data)
    with contextlib.redirect_stdout(io.StringIO()):
        model_tool.main(['info', path])


# reader: (procedure, folder of its corpus)
READERS = {'p190': (p190, 'p190'), 'sps': (sps, 'sps'), 'segy': (segy, 'segy'), 'su': (su, 'su'), 'section': (section, 'section'),
           'tool-keymap': (maps, 'keymap'), 'tool-gathers': (seismograms, 'gathers'), 'launches': (launches, 'launches'),
           'tool-mesh': (meshes, 'mesh'), 'cmt': (cmt, 'cmt'), 'foreign': (foreign_meshes, 'foreign'),
           'tool-exodus': (exodus_meshes, 'exodus'), 'arrays': (arrays, 'arrays'), 'tool-netcdf': (models, 'netcdf'),
           'tool-netcdf3d': (models, 'netcdf3d')}


def one(reader, place, data):
    """True if the bytes were read, False if they were refused with a sentence."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter('error')       # numpy tells of NaNs that became numbers by warnings
        try:
            READERS[reader][0](place, data)
            return True
        except cli.Failure as failure:
            if len(str(failure)) < 10:
                raise Contradiction(f"'{failure}' is no sentence") from failure
            return False


def changed(data, other, rng):
    """One to four random changes: bytes, digits, cuts, repeats, pieces of another input."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        to = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 80)))
        kind = rng.randint(0, 6)
        if kind == 0 and at < len(data):
            data[at] = rng.randint(0, 255)
        elif kind == 1 and at < len(data):
            data[at] = rng.choice(b'0123456789-+.eE \n\r#="\xff\x00\x01')
        elif kind == 2:
            del data[at:to]
        elif kind == 3:
            data[at:at] = data[at:to] * rng.randint(1, 5)
        elif kind == 4:
            data[at:at] = bytes(rng.choice(b' 0123456789.-\xff\x00') for _ in range(rng.randint(1, 9)))
        elif kind == 5 and other:
            start = rng.randint(0, len(other) - 1)
            data[at:to] = other[start:start + rng.randint(1, 80)]
        elif rng.randint(0, 9) == 0:
            del data[at:]
    return bytes(data)


def corpus_of(paths):
    files = []
    for path in map(Path, paths):
        files += sorted(path.iterdir()) if path.is_dir() else [path]
    return files


def mutate(reader, rounds, paths, seed=1):
    """Goes through the corpus, then through random changes of it. (read, refused)"""
    imported()
    rng, place = random.Random(seed), Place()
    inputs = [p.read_bytes() for p in corpus_of(paths)]
    count = [0, 0]
    try:
        for i in range(len(inputs) + rounds):
            data = inputs[i] if i < len(inputs) else changed(rng.choice(inputs), rng.choice(inputs), rng)
            try:
                count[not one(reader, place, data)] += 1
            except Exception:
                name = f'crash-{reader}-{zlib.crc32(data):08x}.in'
                Path(name).write_bytes(data)
                print(f'{reader}: finding, the input is in {name}', file=sys.stderr)
                raise
    finally:
        place.remove()
    return tuple(count)


def main(words):
    if words[:1] == ['--mutate'] and len(words) > 4 and words[3] in READERS:
        read, refused = mutate(words[3], int(words[1]), words[4:], int(words[2]))
        print(f'{words[3]}: {read + refused} inputs, {read} read, {refused} refused, seed {words[2]}')
        return 0
    if not words or words[0] not in READERS:
        print(__doc__ + '\nReaders: ' + ' '.join(READERS))
        return 2
    import atheris
    with atheris.instrument_imports(include=['spltools']):
        imported()
    place = Place()
    import atexit
    atexit.register(place.remove)
    atheris.Setup([sys.argv[0]] + words[1:], lambda data: one(words[0], place, data) and None)
    atheris.Fuzz()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
