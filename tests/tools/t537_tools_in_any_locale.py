#!/usr/bin/env python3
"""Tools in a locale whose encoding is ASCII, though Python is forbidden UTF-8, and with streams that the caller has closed: files have
the names that they were given, and what cannot be shown is told by its code. A Python program gets a sentence."""
import os
import subprocess
import sys
from pathlib import Path

from check import claim, done
from minisurvey import make, run

TOOLS = os.path.join(os.environ['ROOT'], 'tools')
PYTHON = os.environ.get('PYTHON', sys.executable)
ASCII = dict(os.environ, LC_ALL='C', PYTHONUTF8='0', PYTHONCOERCECLOCALE='0', PYTHONIOENCODING='ascii',
             PYTHONPATH=TOOLS, SPL_BIN=os.path.join(os.environ['B'], 'bin'))

make(2)
ran = run('par=job.par', 'output=sjøen.nc', 'overwrite=y')
claim(ran.returncode == 0, f'a survey of two shots whose name is not ASCII {ran.stderr[-200:] if ran.returncode else ""}')


def tool(name, *words, **streams):
    return subprocess.run([PYTHON, os.path.join(TOOLS, name), *words], env=ASCII, **(streams or {'capture_output': True}))


LINE = ('line --shots 2 --first-x 500 --shot-interval 100 --source-depth 6 --first-offset 0 --interval 25 --channels 9 --depth 8 '
        '-o').split()
for name, words, made in (('spl-keymap', [*LINE, 'løp.keymap'], 'løp.keymap'),
                          ('spl-keymap', ['info', 'løp.keymap'], None),
                          ('spl-model', ['demo', '-o', 'dypt hav å.nc'], 'dypt hav å.nc'),
                          ('spl-export', ['sjøen.nc', '-o', 'sjøen.segy'], 'sjøen.segy'),
                          ('spl-keymap', ['segy', 'sjøen.segy', '-o', 'til bake ø.keymap'], 'til bake ø.keymap'),
                          ('spl-split', ['sjøen.nc', '--records', '101', '-o', 'én.nc'], 'én.nc'),
                          ('spl-plot', ['gathers', 'sjøen.nc', '-o', 'sjøen.png'], 'sjøen.png')):
    ran = tool(name, *words)
    said = (ran.stdout + ran.stderr).decode('ascii', 'replace').strip()
    claim(ran.returncode == 0 and (made is None or os.path.exists(made)),
          f'{name} {words[0]} in ASCII makes {ascii(made)}{": " + said if ran.returncode else ""}')
ran = tool('spl-keymap', 'info', 'løp.keymap')
claim(ran.stdout.startswith(b'l\\xf8p.keymap: 2 shots'), f'a name that stdout cannot show is told by its code: {ran.stdout[:40]}')
ran = tool('spl-keymap', 'info', 'ørret.keymap')
claim(ran.returncode == 1 and b'\\xf8rret.keymap: no such file' in ran.stderr, f'and so is one that is missing: {ran.stderr}')

program = Path('ascii.py')
program.write_text('''import spltools as spl
for action in (lambda: spl.open_survey('sj\\xf8en.nc'), lambda: spl.write_keymap('\\xf8.keymap', [[1, 1]], [[2, 2]]),
               lambda: spl.status('sj\\xf8en.nc'), lambda: spl.status('a\\0b')):
    try:
        action()
        print('no error')
    except spl.Error as problem:
        print(ascii(str(problem)))
''', encoding='ascii')
ran = subprocess.run([PYTHON, program], env=ASCII, capture_output=True, text=True)
told = ran.stdout.splitlines()
claim(len(told) == 4 and all('PYTHONUTF8=1' in line for line in told[:2]) and all('cannot be started' in line for line in told[2:]),
      f'a Python program whose names are ASCII gets sentences: {told} {ran.stderr[-300:]}')

for closed in ('>&-', '>&- 2>&-', '<&- >&- 2>&-'):
    Path('closed.keymap').unlink(missing_ok=True)
    status = subprocess.run(['bash', '-c', f'exec "$@" {closed}', 'bash', PYTHON, os.path.join(TOOLS, 'spl-keymap'), *LINE,
                             'closed.keymap']).returncode
    claim(status == 0 and os.path.exists('closed.keymap'), f'with {closed} a key-map is made (exit status {status})')
done()
