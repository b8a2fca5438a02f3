#!/usr/bin/env python3
"""Names of 4,000 characters, with blanks, quotes, commands and letters of all the world; line ends of all systems; empty files;
numbers beyond every integer: a survey is modelled as ever, or refused with a sentence, and nothing of a name is ever executed."""
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy as np

ROOT = os.environ['ROOT']
import minisurvey as ms  # noqa: E402
from check import PATIENCE, claim, done  # noqa: E402

RUNTIME = re.compile(r'backtrace|at line \d+ of file|fortran runtime|segmentation|sigsegv|sigabrt|sigfpe|error termination|'
                     r'sanitizer|runtime error|core dumped|traceback|fault in this tool', re.I)


def listing():
    """Every file below, but what the tests of names make."""
    return sorted(str(p) for p in Path('.').rglob('*') if p.is_file())


def fine(what, *words):
    r = ms.run(*words)
    claim(r.returncode == 0, f'{what}: exit status {r.returncode}' + ('' if r.returncode == 0 else ': ' + r.stderr[-300:]))
    return r.returncode == 0


def refused(what, hints, *words, verb='plan'):
    """Exit status 1, a sentence with all of `hints`, nothing of the language's runtime, no file made."""
    before, start = listing(), time.time()
    try:
        r = ms.run(verb, 'par=job.par', *words)
        status, said = r.returncode, r.stderr
    except subprocess.TimeoutExpired:
        status, said = 'none, it hangs', ''
    hints = [hints] if isinstance(hints, str) else hints
    lacks = [h for h in hints if h not in said]
    told = (said.strip().splitlines() or ['nothing'])[0]
    told = told if len(told) < 260 else told[:120] + ' ... ' + told[-120:]
    wrong = [f'lacks {lacks}'] if lacks else []
    wrong += ['speaks of the runtime'] if RUNTIME.search(said) else []
    wrong += ['changed the folder'] if listing() != before else []
    claim(status == 1 and not wrong, f'{what}: exit status {status}, {time.time() - start:.1f} s: {told}' + '; '.join([''] + wrong))


def tool(name, *words):
    return subprocess.run([os.environ.get('PYTHON', sys.executable), os.path.join(ROOT, 'tools', name), *map(str, words)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)


def names():
    """The same survey under hostile names gives the same gathers."""
    folder = 'a b;touch pwned;$(touch pwned)`touch pwned`|touch pwned&'
    odd = "'x' \"y\" ü日本語 * ? \\ %s #1 = $HOME ~ -n"
    os.mkdir(folder)
    for name in ('line.keymap', 'vp.raw', 'rho.raw'):
        shutil.copy(name, f'{folder}/{odd}{name}')
    at = f'{folder}/{odd}'
    words = [f'keymap={at}line.keymap', f'vp={at}vp.raw', f'rho={at}rho.raw', f'output={at}out.nc']
    if fine('names with blanks, quotes, commands and letters of all the world', 'run', 'par=job.par', *words):
        claim(not ms.differences('out.nc', f'{at}out.nc'), 'the same gathers as under plain names')
        fine('... and the run is found again under its own record', 'run', f'par={at}out.nc.par')
    quoted = {k: "'" + v.replace("'", "''") + "'" for k, v in (w.split('=', 1) for w in words)}
    Path('odd.par').write_text(Path('job.par').read_text().replace('keymap = line.keymap\n', '').replace('vp = vp.raw\n', '')
                               .replace('rho = rho.raw\n', '').replace('output = out.nc\n', '')
                               + ''.join(f'{k} = {v}\n' for k, v in quoted.items()))
    fine('... and in a parameter file, in quotes', 'status', 'par=odd.par')
    Path(f'{at}own.txt').write_text('list mine\n1 500 20\n2 550 20\n')
    Path('odd.keymap').write_text('spread mine list "' + (f'{folder}/own list;touch pwned.txt') + '"\nshot 7 600 13 mine\n')
    shutil.copy(f'{at}own.txt', f'{folder}/own list;touch pwned.txt')
    fine('... and a list of receivers', 'plan', 'par=job.par', 'keymap=odd.keymap', 'output=other.nc')
    for name, *arguments in (('spl-keymap', 'info', f'{at}line.keymap'), ('spl-export', f'{at}out.nc', '-o', f'{at}out.segy'),
                             ('spl-keymap', 'segy', f'{at}out.segy', '-o', f'{at}again.keymap'),
                             ('spl-plot', 'gather', f'{at}out.nc', '-o', f'{at}out.png')):
        r = tool(name, *arguments)
        claim(r.returncode == 0, f'{name} {arguments[0][:8]} takes such names: exit status {r.returncode}'
              + ('' if r.returncode == 0 else ': ' + r.stdout[-200:]))
    found = [str(p) for p in Path('.').rglob('pwned*')]
    claim(not found, f'{len(found)} files made by commands in names, must be 0')
    shutil.rmtree(folder)


def long_names():
    """4,000 characters are a name like any other; more are refused with the reason."""
    deep = '/'.join(['d' * 199] * 19)
    for i in range(1, 20):
        os.mkdir('/'.join(['d' * 199] * i))
    long = [f'{deep}/' + name.rjust(4000 - len(deep) - 1, 'n') for name in ('line.keymap', 'vp.raw', 'rho.raw', 'out.nc')]
    for path, name in zip(long, ('line.keymap', 'vp.raw', 'rho.raw')):
        shutil.copy(name, path)
    if fine(f'paths of {len(long[0])} characters', 'run', 'par=job.par', *(f'{k}={v}' for k, v in zip(('keymap', 'vp', 'rho', 'output'), long))):
        claim(not ms.differences('out.nc', long[3]), 'the same gathers as under short names')
        r = tool('spl-export', long[3], '-o', f'{deep}/x.su')
        claim(r.returncode == 0, f'spl-export reads it: exit status {r.returncode}')
    gone = f'{deep}/' + 'g' * 190
    refused('a key-map that is not there', 'there is no such file', f'keymap={gone}')
    Path('far.keymap').write_text(f'lists {gone}\nshot 7 600 13 mine\n')
    refused('a list of receivers that is not there', 'No such file', 'keymap=far.keymap')
    refused('a name of 300 characters', 'too long', 'keymap=' + 'k' * 300)
    refused('a path of 5000 characters', 'too long', 'vp=' + 'v/' * 2500)
    refused('an output whose journal would not fit', 'too long', f'output={deep}/' + 'o' * (4094 - len(deep) - 1), verb='run')
    shutil.rmtree('d' * 199)


def longest_name():
    """A name of as many characters as are allowed leaves room for all that lies beside it, as a dead job's lock is taken over and as the
    survey grows too."""
    name = 212 * 'o' + '.nc'
    refused('a name of 216 characters', ['too long', 'at most', '215'], f'output=o{name}', verb='run')
    if fine('a name of 215 characters', 'run', 'par=job.par', f'output={name}'):
        gone = subprocess.Popen(['true'])
        gone.wait()
        here = Path('/proc/sys/kernel/random/boot_id').read_text().strip() + '/' + os.readlink('/proc/self/ns/pid') + '/1'
        for end, token in ('', '0123456789abcdef'), ('.0123456789abcdef.dead', 'fedcba9876543210'):    # and of one that died over it
            Path(f'{name}.lock{end}').write_text(f'lock 1 user=ann host=n7 since=2026-11-21T09:00:00Z pid={gone.pid} here={here} token={token} '
                                                 'does=deals beat=000000000012\n')
        Path('more.keymap').write_text(Path('line.keymap').read_text() + 'shot 900 610 13.1 cable\n')
        if fine('it grows, and takes over from two dead jobs, of which one had the right to', 'run', 'par=job.par', f'output={name}',
                'keymap=more.keymap'):
            claim(ms.statuses(name) == [1, 1, 1], f'all shots are done: {ms.statuses(name)}')
    left = sorted(p.name.replace(name, 'NAME') for p in Path('.').glob('ooo*'))
    claim(left == ['NAME', 'NAME.journal', 'NAME.log', 'NAME.par'], f'nothing else is left: {left}')
    for path in Path('.').glob('ooo*'):
        path.unlink()


def line_ends():
    """CR LF, CR, byte-order marks and UTF-8 in comments change nothing."""
    mark = b'\xef\xbb\xbf'
    for what, end in (('CR LF', b'\r\n'), ('CR', b'\r')):
        for name in ('job.par', 'line.keymap'):
            data = Path(name).read_bytes()
            Path('w-' + name).write_bytes(mark + '# größer als ½ km · 日本\n'.encode().replace(b'\n', end) + data.replace(b'\n', end))
        if fine(f'{what}, a byte-order mark and UTF-8', 'run', 'par=w-job.par', 'keymap=w-line.keymap', 'output=w.nc'):
            claim(not ms.differences('out.nc', 'w.nc'), f'the same gathers with {what}')
        for path in Path('.').glob('w.nc*'):
            path.unlink()


def empty_files():
    for name in ('e.par', 'e.keymap', 'e.raw', 'e.nc', 'e.txt'):
        Path(name).write_bytes(b'')
    refused('an empty key-map', 'empty', 'keymap=e.keymap')
    refused('an empty raw model', 'empty', 'vp=e.raw')
    refused('an empty NetCDF model', 'empty', 'vp=e.nc')
    refused('an empty wavelet file', 'empty', 'wavelet=file', 'wavelet_file=e.txt')
    Path('l.keymap').write_text('lists e.txt\nshot 7 600 13 mine\n')
    refused('an empty list of receivers', 'empty', 'keymap=l.keymap')
    os.mkfifo('e.pipe')
    Path('l.keymap').write_text('lists e.pipe\nshot 7 600 13 mine\n')
    refused('a list of receivers from a pipe that nobody writes', 'is a pipe or a device', 'keymap=l.keymap')
    r = ms.run('plan', 'par=e.par')
    claim(r.returncode == 1 and 'empty' in r.stderr, f'an empty parameter file: exit status {r.returncode}: {r.stderr[:120].strip()}')
    Path('e1.nc').write_bytes(b'')
    refused('an empty file in the place of the output', 'journal', 'output=e1.nc', verb='run')
    shutil.copy('out.nc.journal', 'e1.nc.journal')
    refused('the same with its journal', 'header', 'output=e1.nc', verb='run')
    for name in ('spl-keymap', 'spl-model'):
        r = tool(name, 'info', 'e.nc')
        claim(r.returncode == 1 and 'is empty' in r.stdout, f'{name} info of an empty file: {r.stdout.strip()}')


def key_map(text):
    Path('h.keymap').write_text(text)
    return 'keymap=h.keymap'


def numbers():
    spread = 'spread c fixed x0=100 interval=0.001 channels=%d depth=10\n'
    shots = 'shots first_record=%d n=%d x0=200 dx=1e-4 z=10 spread=c\n'
    for what, hints, words in (
            ('2**31 shots', ['n = 2147483648', '1000000'], [key_map_of(spread % 10 + shots % (1, 2 ** 31))]),
            ('-1 shots', ['n = -1', '1..1000000'], [key_map_of(spread % 10 + shots % (1, -1))]),
            ('2**63 shots', ['out of range'], [key_map_of(spread % 10 + shots % (1, 2 ** 63))]),
            ('records up to 2**31', ['2147483648', '2147483647'], [key_map_of(spread % 10 + shots % (2 ** 31 - 1, 2))]),
            ('record 2**31', ['record = 2147483648'], [key_map_of(spread % 10 + 'shot 2147483648 200 10 c\n')]),
            ('2**31 channels', ['channels = 2147483648'], [key_map_of(spread % 2 ** 31 + shots % (1, 2))]),
            ('-5 channels', ['channels = -5'], [key_map_of(spread % -5 + shots % (1, 2))]),
            ('10**11 receivers', ['100000000000', '1000000000'], [key_map_of(spread % 10 ** 5 + shots % (1, 10 ** 6))]),
            ('10**6 channels of 9*10**6 samples', ['2e9 samples'],
             [key_map_of(spread.replace('0.001', '1e-3') % 10 ** 6 + shots % (1, 1)), 'tmax=0.9', 'dt_out=1e-7']),
            ('a raw model of 10**7 x 10**7', ['400000000000000'], ['model_nx=10000000', 'model_nz=10000000']),
            ('a raw model of 2**31 samples along x', ['model_nx = 2147483648', '10000000'], ['model_nx=2147483648']),
            ('a raw model of -5 samples', ['model_nx = -5'], ['model_nx=-5']),
            ('10**60 threads', ['threads'], ['threads=1' + 60 * '0']),
            ('1e400 s', ['tmax'], ['tmax=1e400']),
            ('10**10 samples', ['dt_out'], ['tmax=1000', 'dt_out=1e-7']),
            ('a snapshot of record 2**31', ['2147483648'], ['snapshot=0.1', 'snapshot_shots=2147483648'])):
        words = [key_map(w.text) if isinstance(w, key_map_of) else w for w in words]
        refused(what, hints, *words)


class key_map_of:
    """A key-map to be written just before it is read."""

    def __init__(self, text):
        self.text = text


def claimed_sizes():
    """Models of a few hundred bytes that promise gigabytes."""
    with netCDF4.Dataset('m.nc', 'w', format='NETCDF3_64BIT_DATA') as d:
        for n, length in (('z', 3), ('x', 4)):
            d.createDimension(n, length)
            v = d.createVariable(n, 'f8', (n,))
            v.units, v[:] = 'm', np.arange(length) * 10.0
        v = d.createVariable('vp', 'f4', ('z', 'x'))
        v.units, v[:] = 'm/s', 2000.0
    good = Path('m.nc').read_bytes()
    for what, hint, old, new in (
            ('10**7 nodes along x', 'cut short', (4,), (10 ** 7,)), ('2**62 nodes along x', 'does not read', (4,), (2 ** 62,)),
            ('-4 nodes along x', 'does not read', (4,), (-4,))):
        data = good.replace(b'x\0\0\0' + struct.pack('>q', *old), b'x\0\0\0' + struct.pack('>q', *new), 1)
        Path('h.nc').write_bytes(data)
        refused(f'a NetCDF model that claims {what}', hint, 'vp=h.nc', 'rho=', 'model_nx=0', 'model_nz=0', 'model_dx=0', 'model_dz=0')
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    n = int((3 * memory / 4) ** 0.5) + 1
    with netCDF4.Dataset('h.nc', 'w') as d:            # NetCDF-4 stores nothing of what was never written
        for name in 'zx':
            d.createDimension(name, n)
            v = d.createVariable(name, 'f8', (name,), zlib=True, shuffle=True)
            v.units, v[:] = 'm', np.arange(n) * 10.0
        d.createVariable('vp', 'f4', ('z', 'x'), chunksizes=(1, n), fill_value=2000.0).units = 'm/s'
    refused(f'a NetCDF-4 model of {os.path.getsize("h.nc")} bytes that claims {4e-9 * n * n:.0f} GB', 'of memory here', 'vp=h.nc',
            'rho=', 'model_nx=0', 'model_nz=0', 'model_dx=0', 'model_dz=0')
    at = good.index(b'\0\0\0\x0b') + 4
    Path('h.nc').write_bytes(good[:at] + struct.pack('>q', 2 ** 40) + good[at + 8:])
    refused('one of 2**40 variables', 'does not read', 'vp=h.nc', 'rho=', 'model_nx=0', 'model_nz=0', 'model_dx=0', 'model_dz=0')


def kinds():
    """The header walker takes what the library writes: each classic kind, with variables that grow beside the model."""
    for kind in ('NETCDF3_CLASSIC', 'NETCDF3_64BIT_OFFSET', 'NETCDF3_64BIT_DATA'):
        with netCDF4.Dataset('k.nc', 'w', format=kind) as d:
            for n, length in (('z', ms.NZ), ('x', ms.NX), ('t', None)):
                d.createDimension(n, length)
            for n, length in (('z', ms.NZ), ('x', ms.NX)):
                v = d.createVariable(n, 'f4', (n,))
                v.units, v[:] = 'm', np.arange(length) * ms.DX
            v = d.createVariable('vp', 'f4', ('z', 'x'))
            v.units, v.note, v.numbers, v[:] = 'm/s', 'odd', np.arange(5, dtype='i2'), 2000.0
            for i in range(2):
                d.createVariable(f'grows{i}', 'i2', ('t', 'x'))[:3] = np.ones((3, ms.NX))
            d.createVariable('scalar', 'f8', ())
        fine(f'a model in {kind} with records beside it', 'plan', 'par=job.par', 'vp=k.nc', 'rho=', 'model_nx=0', 'model_nz=0',
             'model_dx=0', 'model_dz=0', 'output=k-out.nc')


def links():
    """The target of a link under the name of a temporary file is not written, and the links stay."""
    Path('precious').write_text('precious')
    names = ('l.nc.tmp', 'l.nc.0123456789abcdef.half', 'l.nc.par.0123456789abcdef.half')
    for name in names:
        os.symlink('precious', name)
    if fine('links under the names of temporary files', 'run', 'par=job.par', 'output=l.nc'):
        claim(Path('precious').read_text() == 'precious', 'the file they point to is as it was')
        claim(not os.path.islink('l.nc') and not os.path.islink('l.nc.par'), 'output and parameters are files of their own')
        claim(all(os.path.islink(name) for name in names), 'the links are there')


ms.make(2)
if fine('the survey under plain names', 'run', 'par=job.par'):
    names()
    long_names()
    longest_name()
    line_ends()
    empty_files()
    numbers()
    claimed_sizes()
    kinds()
    links()
done()
