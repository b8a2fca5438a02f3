#!/usr/bin/env python3
"""Names that tools cannot write to or read from are refused before any work, and what lies there stays: devices and pipes, empty names,
names that are no text, one name for two files. Help and wrong words wait for no library of figures."""
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [os.path.join(os.environ['ROOT'], 'tests', room) for room in ('survey',)]
from check import claim, done  # noqa: E402
from minisurvey import make, run  # noqa: E402
from toolrun import Tool  # noqa: E402

TOOLS = Path(os.environ['ROOT']) / 'tools'
PYTHON = os.environ.get('PYTHON', sys.executable)
HEAVY = ('matplotlib', 'netCDF4', 'scipy', 'xarray', 'obspy', 'meshio', 'h5py')

# --- help and wrong words ---
for path in sorted(TOOLS.glob('spl-*')):
    for words in (['--help'], ['--nonsense']):
        told = subprocess.run([PYTHON, '-X', 'importtime', path, *words], capture_output=True, text=True).stderr
        names = {line.rpartition('|')[2].strip() for line in told.splitlines() if line.startswith('import time:')}
        found = [n for n in HEAVY if n in names]
        claim('spltools.cli' in names and not found, f'{path.name} {words[0]} imports none of {", ".join(HEAVY)} (found: {found or "none"})')

# --- outputs ---
make(2)
ran = run('par=job.par', 'overwrite=y')
claim(ran.returncode == 0, f'a survey of two shots to try the tools on {ran.stderr[-200:] if ran.returncode else ""}')
OUT = 'out.nc'
os.mkfifo('pipe')
os.mkfifo('pipe.png')


def refused(name, words, what, *arguments):
    Tool(name, 'bad.nc').refused(words, what, *arguments)


for name, arguments in (('spl-report', [OUT, '-o', 'pipe']), ('spl-plot', ['gather', OUT, '-o', 'pipe.png', '--overwrite']),
                        ('spl-model', ['demo', '-o', 'pipe', '--overwrite']),
                        ('spl-split', [OUT, '--records', '101', '-o', 'pipe'])):
    refused(name, 'a device or a pipe', f'{name} does not take the place of a pipe', *arguments)
claim(all(stat.S_ISFIFO(os.stat(n).st_mode) for n in ('pipe', 'pipe.png')), 'pipes stay pipes')
Path('here.nc').write_text('mine')
for name, arguments in (('spl-split', [OUT, '--records', '101', '-o', 'here.nc']), ('spl-merge', [OUT, OUT, '-o', 'here.nc'])):
    status, text = Tool(name, 'bad.nc')(*arguments)
    claim(status == 1 and 'exists already; give another name' in text and '--overwrite' not in text,
          f'{name} names no option that it has not: {text.strip()}')
refused('spl-model', 'the name of the output is empty', 'an empty name', 'demo', '-o', '')
refused('spl-report', 'the name of the output is empty', 'an empty name of a page', OUT, '-o', '')
Path('folder').mkdir()
for name in ('', 'folder/', '..'):
    refused('spl-split', 'is no name of a file', f"parts of '{name}'", OUT, '--parts', '2', '-o', name)
claim(not os.listdir('folder') and not os.path.exists('1'), 'and no parts are left there')
refused('spl-model', 'is no text in UTF-8', 'a name of bytes that are no text', 'demo', '-o', os.fsdecode(b'caf\xe9.nc'))
refused('spl-plot', "cannot be written as '.xyz'", 'the ending of a figure, before the file is read', 'gather', 'none.nc', '-o', 'a.xyz')
box = ['--x', '0', '1', '--y', '0', '1', '--z', '0', '1', '--elements', '1', '1', '1']
refused('spl-mesh', 'give two names', 'one name for a mesh and its table', 'chunk', '--elements', '8', '--rows', '1', '1', '1', '--angle', '3',
        '-o', 'bad.nc', '--materials', './bad.nc')
Tool('spl-mesh', 'bad.nc').fine('spl-mesh box', 'box', *box, '-o', 'box.exo')
refused('spl-mesh', 'figures cannot be written', 'the ending of a figure of a mesh', 'draw', 'box.exo', '-o', 'bad.txt')

# --- inputs ---
refused('spl-model', 'is a pipe or a device', 'a pipe to read', 'info', 'pipe')
refused('spl-mesh', 'no such file', 'no mesh', 'check', 'none')
Path('bytes').write_bytes(bytes(range(128, 256)))
status, text = Tool('spl-plot', 'bad.png')('spectrum', 'bytes', '-o', 'bad.png')
claim(status == 1 and 'codec' not in text and 'no text of a wavelet' in text, f'bytes for a wavelet: {text.strip()}')


# --- columns parted by commas ---
Path('commas.receivers').write_text('1;100;5\n2,200,5\n')
Path('commas.keymap').write_text('spread A list commas.receivers\nspread B streamer first=100 interval=12,5 channels=10 depth=8\n'
                                 'shot 1,600,6,A\nshot 2 600 6 A\nshot 3 600 6 "A,B"\nshot 4 600 6 C,D\n')
status, text = Tool('spl-keymap', 'bad')('info', 'commas.keymap')
faults = text.splitlines()
told = [line for line in faults if 'columns are parted by blanks, not by commas or semicolons, and decimals have a point' in line]
claim(status == 1 and len(told) >= 4 and any('"A,B"' in line or "'A,B'" in line for line in faults)
      and not any(name in line for line in told for name in ('A,B', 'C,D')),
      f'commas in key-map and list get their advice, in quotes and names none: {faults}')

Path('long.keymap').write_text('spread B streamer first=100 interval=12 channels=10 depth=8\nshot 1 600 6 B\nskip ' + '7, '*100000 + '\n')
before = os.times().children_user                # processor time, whatever else the machine does
status, text = Tool('spl-keymap', 'bad')('info', 'long.keymap')
took = os.times().children_user - before
claim(status == 1 and '100000 faults' in text and 'columns are parted by blanks' in text and took < 10,
      f'a line of 100000 words, each at fault, is refused after {took:.1f} s (up to 10)')

# --- a tool that is ended leaves nothing of a file in the making ---
Path('endless.py').write_text("""import time
from spltools import cli


def main(_):
    with cli.new_file('whole.txt'):
        print('begun', flush=True)
        while True:                   # a signal right before one long sleep would be heard after it
            time.sleep(0.1)
""")
for number, wanted in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
    job = subprocess.Popen([PYTHON, '-c', "from spltools.cli import run; run('endless')"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, env={**os.environ, 'PYTHONPATH': f'{TOOLS}:.'})
    job.stdout.readline()
    begun = [p.name for p in Path('.').glob('.whole.txt*')]
    job.send_signal(number)
    text = job.communicate()[1]
    left = [p.name for p in Path('.').glob('*whole.txt*')]
    claim(job.returncode == wanted and len(begun) == 1 and not left and text.startswith('error: stopped by'),
          f'{number.name} amid a new file: exit status {job.returncode}, {wanted} wanted, {len(left)} files left: {text.strip()}')

# --- a file that comes meanwhile stays, where there are no hard links too ---
Path('meanwhile.py').write_text("""import errno
import os
import sys
from spltools import cli


def link(*_):
    raise OSError(errno.EPERM, 'no links here')


def main(words):
    if words[0] == 'nolinks':
        os.link = link
    with cli.new_file('new.txt') as name:
        open(name, 'w').write('mine')
        if words[1] == 'meanwhile':
            open('new.txt', 'w').write('yours')
""")
for links in 'links', 'nolinks':
    for when, wanted, kept in ('alone', 0, 'mine'), ('meanwhile', 1, 'yours'):
        Path('new.txt').unlink(missing_ok=True)
        job = subprocess.run([PYTHON, '-c', "from spltools.cli import run; run('meanwhile')", links, when], capture_output=True, text=True,
                             env={**os.environ, 'PYTHONPATH': f'{TOOLS}:.'})
        left = [p.name for p in Path('.').glob('*new.txt*')]
        claim(job.returncode == wanted and Path('new.txt').read_text() == kept and left == ['new.txt'] and ('appeared' in job.stderr) == (wanted > 0),
              f"a new file, {links}, {when}: exit status {job.returncode}, it holds '{Path('new.txt').read_text()}': {job.stderr.strip()}")


# --- the runner ---
def runner(*words):
    ran = subprocess.run([PYTHON, TOOLS / 'run-until-done', *words], capture_output=True, text=True)
    return ran.returncode, ran.stderr.strip()


for words, wanted in (([], 'no command to launch'), (['--wait', 'nan', 'true'], 'out of range'), (['--wait', '-1', 'true'], 'out of range'),
                      (['--fruitless', '0', 'true'], 'out of range'), (['--strikes', 'x', 'true'], 'no whole number'),
                      (['--nonsense', 'true'], 'unrecognized')):
    status, text = runner(*words)
    claim(status == 1 and wanted in text and '\n' not in text, f'run-until-done {" ".join(words)}: exit status {status}, 1 wanted: {text}')
Path('gathers.nc.hosts').write_text('n1\nn2\n')
status, text = runner('--hosts', 'gathers.nc.hosts', '--launches', '1', '--wait', '0', 'true', '{hosts}')
claim(status == 1 and 'another name' in text, f'a host list that has the name of its copy is refused: {text}')
for wanted, kept, text in ('no copy', True, 'n1\nmine\n'), ('no journal', False, 'n2\n'), ('no journal', False, None):
    Path('nodes').write_text('n1\nn2\n' if text else 'n3\n')             # the last time what the run before has left
    if text:
        Path('gathers.nc.hosts').write_text(text)
    status, said = runner('--hosts', 'nodes', '--launches', '1', '--wait', '0', 'true', '{hosts}')
    claim(wanted in said and (Path('gathers.nc.hosts').read_text() == text) == kept,
          f"a file {'of the user' if kept else 'that is its own copy'} with the name of the copy {'stays' if kept else 'is replaced'}: {said}")

# --- words of one ---
Path('one.keymap').write_text('spread far fixed x0=700 interval=10 channels=1 depth=10\nshot 7 590 13.1 far\n')
ran = run('par=job.par', 'keymap=one.keymap', 'output=one.nc')
again = run('par=job.par', 'keymap=one.keymap', 'output=one.nc')
said = [ran.stderr, again.stderr, run('plan', 'par=job.par', 'keymap=one.keymap', 'output=two.nc').stdout]
for name, arguments in (('spl-keymap', ['info', 'one.keymap']), ('spl-split', ['one.nc', '--records', '7', '-o', 'one7.nc']),
                        ('spl-export', ['one.nc', '-o', 'one.segy']), ('spl-plot', ['gathers', 'one.nc', '-o', 'one.png']),
                        ('spl-mesh', ['box', *box, '-o', 'one.exo']), ('spl-mesh', ['describe', 'one.exo'])):
    status, text = Tool(name, 'bad.nc')(*arguments)
    said.append(text if status == 0 else f'1 faults: {name}: {text}')
odd = [m.group() for text in said for m in re.finditer(r'(?<![0-9.,] )\b1 (finished |other |more )?(\w+s|hexahedra)\b.*', text)
       if m.group(2) not in ('as', 'is', 'was', 's', 'ms', 'processes')]
claim(len(said) == 9 and any('1 shot ' in text for text in said) and not odd, f'what there is one of is told as one {odd}')
done()
