#!/usr/bin/env python3
"""Manual pages hold what --help tells and are sound roff; a real bash completes verbs, names, values and files by them."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from check import PATIENCE, claim, done, skip
from toolrun import call

ROOT, PROGRAMS = Path(os.environ['ROOT']), Path(os.environ['B']) / 'bin'
NAMES = sorted(p.name for p in PROGRAMS.glob('Spl*')) + sorted(p.name for p in (ROOT / 'tools').glob('spl-*'))
os.environ.update(COLUMNS='400', LC_ALL='C')
env = {**os.environ}


def said(name, *words):
    if name.startswith('Spl'):
        ran = subprocess.run([PROGRAMS / name, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, timeout=PATIENCE)
    else:
        ran = call(ROOT / 'tools' / name, *words, together=True)
    claim(ran.returncode == 0, f'{name} {" ".join(words)}: exit status {ran.returncode}') if ran.returncode else None
    return ran.stdout


# --- the installed files are what the programs print ---
subprocess.run([str(ROOT / 'tools/build/install'), str(PROGRAMS.parent), 'p'], check=True, stdout=subprocess.DEVNULL, env=env, timeout=PATIENCE)
man, words = Path('p/share/man/man1'), Path('p/share/bash-completion/completions')
claim(sorted(p.stem for p in man.iterdir()) == sorted(p.name for p in words.iterdir()) == sorted([*NAMES, 'run-until-done']),
      f'make install brings {len(NAMES) + 1} pages and as many files for completion')

# --- pages ---
viewer = shutil.which('man') and subprocess.run(['man', '-l', str(man / 'SplFd2dmod.1')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                env={**env, 'MANWIDTH': '400'}, text=True).stdout.count('\n') > 100
if not viewer:
    skip('man is not here, or shows no pages: their looks are not tested')
for name in [*NAMES, 'run-until-done']:
    text = (man / f'{name}.1').read_text()
    if name.startswith('Spl'):
        wanted = re.findall(r'(?m)^\| `(\w+)` \|', said(name, '--markdown'))
        got = re.findall(r'(?m)^\.TP\n\\fB(\w+)\\fR=', text)
        claim(got == wanted and len(wanted) > 40, f'{name}.1: all {len(wanted)} parameters, in the order of the table')
    elif name.startswith('spl-'):
        verbs = sorted(set(re.findall(r'(?m)^    ([a-z0-9]+)(?:  | \(|$)', said(name, '--help').split('positional arguments:')[-1])) - {'file'})
        sections = re.findall(r'(?m)^\.SS "' + name.replace('-', r'\\-') + ' ([a-z0-9]+)"', text)
        missing = [v for v in verbs if v not in sections]
        options = set()
        for verb in sections or ['']:
            options |= set(re.findall(r'--[a-z][\w-]+', said(name, *([verb] if verb else []), '--help').split('ptions:')[-1]))
        missing += [o for o in options if o.replace('-', '\\-') not in text]
        claim(not missing and len(options) > 3, f'{name}.1: {len(sections)} verbs and {len(options)} options of --help (missing: {missing})')
    if viewer:
        ran = subprocess.run(['man', '--warnings', '-l', str(man / f'{name}.1')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**env, 'MANWIDTH': '100'})
        faults = [line for line in ran.stderr.splitlines() if 'break line' not in line]
        claim(ran.returncode == 0 and not faults and 'NAME\n' in ran.stdout, f'{name}.1: man shows it without complaint {faults[:2]}')
if viewer:
    page = subprocess.run(['man', 'SplFd2dmod'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**{k: v for k, v in env.items() if k != 'MANPATH'}, 'PATH': f"{os.path.abspath('p/bin')}:{os.environ['PATH']}",
                               'MANWIDTH': '400'}).stdout
    meaning = re.search(r'(?m)^\| `variant` \| `auto` \| [^|]* \| ([^|]*) \|', said('SplFd2dmod', '--markdown')).group(1)
    claim(meaning in page and 'variant=auto, fortran, cpu' in page, 'man SplFd2dmod finds the page where p/bin is on PATH, words and all')


# --- completion, at a prompt: what is typed, Tab, then what bash makes of the line ---
def at_prompt(lines):
    """What the shell hands to the program for each line typed, in which Tab stands for itself."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(PS1='> ', TERM='dumb', INPUTRC=os.devnull, HISTFILE=os.devnull)
        os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
    seen = b''

    def wait_for(mark, limit=100):
        nonlocal seen
        end = time.time() + limit
        while mark not in seen and time.time() < end:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    seen += os.read(fd, 65536)
                except OSError:
                    return
    os.write(fd, b"bind 'set enable-bracketed-paste off'; show() { printf '<%s>' \"$@\"; echo; }\n"
             b"for f in p/share/bash-completion/completions/*; do . $f; done; echo rea''dy\n")
    wait_for(b'ready\r\n')
    found = []
    for number, line in enumerate(lines):
        name = line.split()[0]
        seen = b''
        # the words that the shell would run are shown in place of being run
        os.write(fd, f'{name}() {{ show "$@"; }}\n'.encode() + line.encode())
        time.sleep(0.4)
        os.write(fd, f'\necho done{number}\n'.encode())
        wait_for(f'\r\ndone{number}\r\n'.encode())
        told = re.findall(rb'\r\n(<.*>)\r\n', seen)
        found.append(told[-1].decode()[1:-1].split('><') if told else [])
    os.close(fd)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return found


Path('line.keymap').touch()
Path('velocity model.nc').touch()
Path('folder').mkdir()
Path('folder/inside.nc').touch()
TRIED = [
    ('SplFd2dmod pl\t par=x', ['plan', 'par=x'], 'a verb, with a blank after it'),
    ('SplFd2dmod varia\tcp\t', ['variant=cpu'], 'a name without a blank after =, then its word'),
    ('SplFd2dmod plan keym\tli\t', ['plan', 'keymap=line.keymap'], 'a file after ='),
    ('SplFd2dmod vp=fol\tins\t', ['vp=folder/inside.nc'], 'a folder, then a file in it'),
    ('SplFd2dmod overw\tye\t', ['overwrite=yes'], 'yes or no'),
    ('SplFd2dmod --ver\t', ['--version'], 'an option'),
    ('SplFd2dmod --help varia\t', ['--help', 'variant'], 'a name for help'),
    ('SplFd3dmod memory_var\tcoarse2\t', ['memory_variables=coarse2001'], 'a word of 3D'),
    ('SplSemmod mes\t', ['mesh'], 'several words: as far as they agree'),
    ('SplFd2dmod nosuch\t', ['nosuch'], 'what is unknown stays'),
    ('spl-model np\tfolder/\t --ax\txz\t', ['npy', 'folder/inside.nc', '--axes', 'xz'], 'a verb of a tool, a file, an option, its value'),
    ('spl-model npy --var\tv\t', ['npy', '--variable', 'v'], 'values that agree in one letter: no further'),
    ('spl-model segy --un\tkm\t', ['segy', '--unit', 'km/s'], 'a unit'),
    ('spl-report --wa\t', ['--watch'], 'a tool without verbs'),
    ('run-until-done --fru\t', ['--fruitless'], 'the runner'),
]
for (line, want, what), got in zip(TRIED, at_prompt([line for line, _, _ in TRIED])):
    claim(got == want, f'{what}: {line!r} becomes {" ".join(got)!r}' + ('' if got == want else f', must be {" ".join(want)!r}'))
for name in NAMES[:4]:
    claim(said(name, '--completion') == (words / name).read_text(), f'{name} --completion prints what is installed')
done()
