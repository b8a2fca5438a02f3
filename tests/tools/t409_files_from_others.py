#!/usr/bin/env python3
"""Files as others write them, which no other test has: SEG-Y of revision 2, with text behind the traces, with blanks for a revision, with traces of
several lengths or a wrong count of samples with which the size of the file agrees all the same; NetCDF with text where a model has numbers; arrays
with masks; scripts of Gmsh that are called meshes; meshes of Abaqus that are not where *NODE has them; universal files in millimetres. And tools
whose output has no room: each says which file that is, and ends in order."""
import os
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import minisurvey
import spltools as spl
import xarray
from check import claim, claim_fails, done, given_seed
from netCDF4 import Dataset
from spltools.gathers.gathers import Gathers
from toolrun import Tool


seed = given_seed()
rng = np.random.default_rng(seed)
TOOLS = Path(os.environ['ROOT']) / 'tools'

# --- SEG-Y ---


def segy(path, traces, in_file=None, order='>', revision=(0, 0), file_header=(), between=b'', extra=b''):
    """float32 traces, x 12.5 m apart; file_header: (byte, format, value); between: before the first trace; extra: behind each header."""
    head = bytearray(3600)

    def put(header, first, byte, kind, value):
        struct.pack_into(order + kind, header, byte - first, value)

    for byte, kind, value in ((3221, 'H', in_file or len(traces[0])), (3225, 'h', 5), (3255, 'h', 1), *file_header):
        put(head, 1, byte, kind, value)
    head[3500:3502] = bytes(revision)
    with open(path, 'wb') as file:
        file.write(head + between)
        for i, trace in enumerate(traces):
            header = bytearray(240)
            for byte, kind, value in ((9, 'i', 7), (13, 'i', i + 1), (71, 'h', -10), (73, 'i', 5000), (81, 'i', 5000 + 125 * i),
                                      (115, 'H', len(trace) & 0xffff), (181, 'i', 125 * i)):
                put(header, 1, byte, kind, value)
            file.write(header + extra + np.asarray(trace, order + 'f4').tobytes())


def rock(*shape):
    return rng.uniform(1500, 4500, shape).astype('f4')


model, keymap = Tool('spl-model', 'bad.nc'), Tool('spl-keymap', 'bad.keymap')


def read(what, path, expected):
    model.fine(f'{what} are read', 'segy', path, '--variable', 'vp', '--unit', 'm/s', '--dx', 12.5, '--dz', 5, '-o', 'good.nc', '--overwrite')
    with Dataset('good.nc') as file:
        claim(np.array_equal(file['vp'][:].T, expected), f'{what}: {file["vp"].shape[::-1]} samples as they were written')


def refused(words, what, path):
    model.refused(words, f'as a model, {what}', 'segy', path, '--variable', 'vp', '--unit', 'm/s', '--dx', 12.5, '--dz', 5, '-o', 'bad.nc')
    keymap.refused(words, f'as geometry, {what}', 'segy', path, '-o', 'bad.keymap')


# n traces of `long` samples have the size of m traces of `short` ones: 240 + 4 long = p q, 240 + 4 short = p r
short = 4 * int(rng.integers(5, 40))
long = 2 * (short + 60) - 60                                    # a trace of twice the bytes
lines = rock(int(rng.integers(4, 9)), long)
segy('wrong.segy', lines, in_file=short)
read(f'traces of {long} samples, {short} by the file header, whose size agrees with both,', 'wrong.segy', lines)
longer, shorter = long + 20, long - 20
segy('uneven.segy', [*lines, rock(longer), rock(shorter)], in_file=long)
refused(f'trace {len(lines) + 1} should be {longer}', f'traces of {shorter} .. {longer} samples, of {long} on the average', 'uneven.segy')
for order in '><':
    version = (2, 0) if order == '>' else (0, 2)
    many = rock(3, 70001)
    segy('many.segy', many, in_file=1, order=order, revision=version, file_header=[(3269, 'i', 70001), (3297, 'i', 16909060)])
    read(f'70001 samples a trace by bytes 3269-3272 of revision 2, {"big" if order == ">" else "little"} endian,', 'many.segy', many)
texts = [(3505, 'h', -1), (3521, 'q', 3600 + 2 * 3200)]
segy('texts.segy', lines, revision=(2, 0), file_header=texts, between=b' ' * 6400)
read('traces behind text headers that nobody counted', 'texts.segy', lines)
segy('texts.segy', lines, revision=(1, 0), file_header=texts[:1], between=b' ' * 6400)
refused('-1 in bytes 3505-3506', 'text headers that nobody counted, of revision 1', 'texts.segy')
segy('more.segy', lines, revision=(2, 1), file_header=[(3507, 'i', 1)], extra=bytes(240))
refused('additional headers', 'traces with two headers', 'more.segy')
segy('far.segy', lines, revision=(2, 0), file_header=[(3521, 'q', 2**62)])
refused('cannot be', 'a first trace beyond the end', 'far.segy')
behind = int(rng.integers(1, 4))
for order in '><':
    segy('behind.segy', lines, order=order, revision=(2, 0), file_header=[(3297, 'i', 16909060), (3529, 'i', behind)])
    with open('behind.segy', 'ab') as file:
        file.write(b' ' * 3200 * behind)
    read(f'traces before {behind} stanzas of text, {"big" if order == ">" else "little"} endian,', 'behind.segy', lines)
for count in (-1, 2**30):
    segy('behind.segy', lines, revision=(2, 0), file_header=[(3529, 'i', count)])
    refused('stanzas of 3200 bytes', f'{count} stanzas behind the traces', 'behind.segy')
segy('blank.segy', lines, file_header=[(byte, 'h', 0x2020) for byte in range(3261, 3600, 2) if byte != 3501], revision=(0x20, 0x20))
read('traces of revision 0, whose header has blanks where later ones have numbers,', 'blank.segy', lines)

# --- NetCDF ---

figure = Tool('spl-plot', 'bad.png')


def netcdf(path, kind='f4', along=('z', 'x'), samples=3, value=1500, x=('x',), at=None):
    with Dataset(path, 'w') as file:
        for name in 'zx':
            file.createDimension(name, samples)
        v = file.createVariable('vp', kind, along)
        v[:] = np.full(v.shape, value, object if kind is str else kind)
        c = file.createVariable('x', str if at == 'text' else 'f8', x)
        c[:] = np.array(['a'] * samples, object) if at == 'text' else np.full(c.shape, np.nan if at == 'nan' else 0.0)


for what, shown, words in (('text for velocities', dict(kind=str, value='fast'), 'holds no numbers'),
                           ('text for x', dict(at='text'), 'coordinate x is no series of numbers'),
                           ('x that is NaN', dict(at='nan'), 'coordinate x is no series of numbers'),
                           ('x of two dimensions', dict(x=('z', 'x')), 'coordinate x is no series of numbers'),
                           ('one sample', dict(samples=1), 'are no section'),
                           ('no sample', dict(samples=0), 'holds no numbers')):
    netcdf('odd.nc', **shown)
    figure.refused(words, f'a figure of a model with {what}', 'model', 'odd.nc', '-o', 'bad.png')
    status, text = model('info', 'odd.nc')
    claim(status in (0, 1) and 'fault in this tool' not in text, f'spl-model info of it says: {text.strip().splitlines()[-1]}')

with Dataset('groups.nc', 'w') as file:
    group = file.createGroup('model')
    for name in 'zx':
        group.createDimension(name, 3)
    group.createVariable('vp', 'f4', ('z', 'x'))[:] = 1500
status, text = model('info', 'groups.nc')
claim(status == 1 and 'it has none outside of groups' in text, f'variables in groups: {text.strip()}')

# --- arrays that say more than numbers ---

section = np.ma.masked_less(rock(20, 30), 2500)
hidden = np.count_nonzero(section.mask)
claim_fails(lambda: spl.write_model('bad.nc', vp=section, axes='xz', spacing=10), f'{hidden} of 600 samples are masked', 'samples that are masked')
claim_fails(lambda: spl.write_keymap('bad.keymap', [[5.0, 5.0]], np.ma.masked_less([[9.0, 8.0], [1.0, 8.0]], 2)), 'row 2 is not finite',
            'a receiver that is masked')
claim_fails(lambda: spl.write_model('bad.nc', vp=xarray.DataArray(rock(20, 30), dims=('z', 'x')), axes='xz', spacing=10),
            "axes 'xz': vp says that its are zx", 'axes that are not those of the array')

# --- scripts of Gmsh ---

os.makedirs('fake', exist_ok=True)
Path('fake/gmsh.py').write_text("""
class option:
    setNumber = staticmethod(lambda *_: None)
def initialize(**_): pass
def finalize(): pass
def open(path):
    with __builtins__['open']('opened', 'a') as file:
        file.write(path)
    raise Exception('the fake has seen it')
""")
os.environ['PYTHONPATH'] = os.pathsep.join(['fake', os.environ.get('PYTHONPATH', '')])
mesh = Tool('spl-mesh', 'bad.exo')
Path('script.msh').write_text('SystemCall "touch called";\n')
mesh.refused('cannot be read as gmsh', 'a script that is called a mesh', 'convert', 'script.msh', '-o', 'bad.exo')
claim(not os.path.exists('opened'), 'Gmsh never sees it')
Path('old.msh').write_text('$MeshFormat\n4 0 8\n$EndMeshFormat\n')
mesh.refused('the fake has seen it', 'a mesh of a version that meshio does not know goes to Gmsh', 'convert', 'old.msh', '-o', 'bad.exo')

# --- meshes of Abaqus that are not where *NODE has them ---

subprocess.run([sys.executable, TOOLS / 'spl-mesh', 'box', '--x', '0', '1', '--y', '0', '1', '--z', '0', '1', '--elements', '9', '9', '9', '-o',
                'box.exo'], check=True, capture_output=True)
CUBE = '*NODE\n' + ''.join(f'{i + 1}, {9 * (i in (1, 2, 5, 6))}, {9 * (i in (2, 3, 6, 7))}, {9 * (i > 3)}\n' for i in range(8)) + \
    '*ELEMENT, TYPE=C3D8, ELSET=rock\n1, 1,2,3,4,5,6,7,8\n'
Path('cube.inp').write_text(f'*PART, NAME=p\n{CUBE}*END PART\n*INSTANCE, NAME=i, PART=p\n*END INSTANCE\n')
mesh.fine('a part with one instance in its place is read', 'convert', 'cube.inp', '-o', 'cube.exo')
for what, text in (('moved by its instance', f'*PART, NAME=p\n{CUBE}*END PART\n*INSTANCE, NAME=i, PART=p\n500., 0., 0.\n*END INSTANCE\n'),
                   ('that stands twice', f'*PART, NAME=p\n{CUBE}*END PART\n' + 2 * '*INSTANCE, NAME=i, PART=p\n*END INSTANCE\n'),
                   ('in a turned system', f'*SYSTEM\n0, 0, 0, 0, 1, 0\n{CUBE}'),
                   ('in cylindrical coordinates', CUBE.replace('*NODE', '*NODE, SYSTEM=C')),
                   ('whose nodes are in another file', CUBE.replace('*NODE', '*NODE, INPUT=nodes.txt')),
                   ('whose elements are generated', CUBE + '*ELGEN\n1, 5\n')):
    Path('cube.inp').write_text(text)
    mesh.refused('write the mesh into one file without parts', f'a mesh of Abaqus {what}', 'convert', 'cube.inp', '-o', 'bad.exo')

# --- a universal file in millimetres ---

nodes = ''.join(f'{i + 1:10d}         1         1        11\n   {9 * (i in (1, 2, 5, 6))}.D+00   {9 * (i in (2, 3, 6, 7))}.D+00   {9 * (i > 3)}.D+00\n'
                for i in range(8))
UNIT = '    -1\n   164\n         {}                   2\n  {}    1.0D+00    1.0D+00\n    2.7315D+02\n    -1\n'
UNV = ('{}' + f'    -1\n  2411\n{nodes}    -1\n    -1\n  2412\n' +
       ''.join(f'{n:10d}' for n in (1, 115, 1, 1, 7, 8)) + '\n' + ''.join(f'{n:10d}' for n in range(1, 9)) + '\n    -1\n')
Path('cube.unv').write_text(UNV.format(UNIT.format('1SI: Meter (newton)', '1.0D+00')))
mesh.fine('a universal file in metres is read', 'convert', 'cube.unv', '-o', 'metres.exo')
Path('cube.unv').write_text(UNV.format(UNIT.format('5MM: mm (milli-newton)', '1.0D+03')))
mesh.refused('1000 are a metre', 'a universal file in millimetres', 'convert', 'cube.unv', '-o', 'bad.exo')

# --- no room ---

minisurvey.make(shots=12)
ran = minisurvey.run('par=job.par')
claim(ran.returncode == 0 and len(Gathers('out.nc').record) == 12, 'a survey to write from')
ran = minisurvey.run('plan', 'par=job.par', 'vp=groups.nc')
claim(ran.returncode == 1 and 'unless in groups, which are not read' in ran.stderr, f'a model in a group: {ran.stderr.strip()[-250:]}')
os.makedirs('full')
with open('sources.py', 'w') as f:          # 900 sources and one list of receivers: a map that is longer than its lists
    f.write(f"""import sys
sys.path.insert(0, {str(TOOLS)!r})
from spltools import cli
from spltools.geometry.from_arrays import write_keymap
try:
    write_keymap('full/a.keymap', [[10.5 * i, 5] for i in range(900)], [[0, 5], [13.7, 5], [91.1, 7]])
except cli.Failure as failure:
    print('error: ' + str(failure), file=sys.stderr)
    sys.exit(1)
""")
for limit, words in (
        (9000, 'spl-export out.nc -o full/a.segy'), (9000, 'spl-export out.nc -o full/a.mseed'), (9000, 'spl-export out.nc -o full/a.sac'),
        (9000, 'spl-plot gathers out.nc -o full/a.png'), (900, 'spl-plot gathers out.nc -o full/a.pdf'),
        (9000, 'spl-report out.nc -o full/a.html'), (9000, 'spl-merge out.nc out.nc -o full/a.nc'),
        (9000, 'spl-split out.nc --records 101-111 -o full/a.nc'), (9000, 'spl-model demo -o full/a.nc'),
        (9000, 'spl-mesh convert box.exo -o full/a.exo'), (9000, f'{os.getcwd()}/sources.py -'),
        (9000, 'spl-keymap line --shots 900 --first-x 0 --shot-interval 9 --source-depth 5 --first-offset 9 --interval 9 --channels 4 --depth 5'
         ' -o full/a.keymap')):
    tool, *arguments = words.split()
    ran = subprocess.run([sys.executable, TOOLS / tool, *arguments], capture_output=True, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    told = [line for line in ran.stderr.splitlines() if not line.startswith('warning: ')]
    left = os.listdir('full')
    claim(ran.returncode == 1 and len(told) == 1 and told[0].startswith('error: full/a') and not left
          and f'cannot be written: File too large: this process may write {limit / 1e6:g} MB a file (ulimit -f)' in told[0],
          f'{os.path.basename(tool)} {arguments[0]}: {" / ".join(told) or "nothing said"}; exit status {ran.returncode}, left behind: '
          f'{left or "nothing"}')

# --- the output of a job that was killed ---

job = subprocess.Popen([minisurvey.PROGRAM, 'par=job.par', 'tmax=100', 'output=killed.nc'], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while job.poll() is None and not (os.path.exists('killed.nc.journal') and 'start' in Path('killed.nc.journal').read_text()):
    time.sleep(0.05)
split = Tool('spl-split', 'part.nc')
split.refused('a job is writing it', 'an output that a job is writing is not split', 'killed.nc', '--records', '101', '-o', 'part.nc')
job.kill()
job.wait()
split.fine('it is as soon as the job is dead', 'killed.nc', '--records', '101', '-o', 'part.nc')
done()
