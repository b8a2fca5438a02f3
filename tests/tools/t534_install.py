#!/usr/bin/env python3
"""make install: for all users whatever the umask, into folders of any name, from a build folder that is not written to again."""
import hashlib
import os
import re
import subprocess
from pathlib import Path

from check import PATIENCE, claim, done

ROOT, B = Path(os.environ['ROOT']), Path(os.environ['B'])
MAKEFILE = (ROOT / 'Makefile').read_text()


def call(*words, **more):
    ran = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, **more)
    return ran.returncode, ran.stdout


def module_root(prefix):
    text = next(Path(prefix).glob('share/modulefiles/splfd2dmod/*')).read_text()
    return re.search(r'(?m)^set root \{(.*)\}$', text).group(1)


# --- an administrator whose files are closed to others installs for all ---
top = Path('Füße & "Köpfe", it\'s').absolute()
SHARE = 'share/splfd2dmod'
old = {f'{SHARE}/tools/spl-gone': 'exit 1', f'{SHARE}/tools/spltools/gone/gone.py': '', f'{SHARE}/inputs/edited.par': 'dx = 5',
       f'{SHARE}/keymaps/README.md': 'older', 'share/modulefiles/splfd2dmod/0.0.1': 'set root', '../outside': 'of the folder'}
foreign = {'bin/spl-other': 'exit 1', f'{SHARE}/tools/spltools/mine.py': '', 'share/modulefiles/other/1.0': 'set root'}
for name, text in {**old, **foreign}.items():
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text)
    (top / name).chmod(0o755)
os.symlink(f'../{SHARE}/tools/spl-gone', top / 'bin/spl-gone')
(top / SHARE / 'installed').write_text(''.join(f'{hashlib.sha256(text.encode()).hexdigest()}  {name}\n' for name, text in old.items())
                                       + f'->../{SHARE}/tools/spl-gone  bin/spl-gone\n')
(top / SHARE / 'inputs/edited.par').write_text('dx = 10')
status, said = call('bash', '-c', 'umask 077; exec "$@"', '-', ROOT / 'tools/build/install', B, top.name)
claim(status == 0, f'it is installed in {top.name}: {said.strip()[-200:]}')
files = [p for p in top.rglob('*') if not p.is_symlink()]
closed = [str(p.relative_to(top)) for p in files if p.stat().st_mode & 0o5 != 0o5 and (p.is_dir() or not p.stat().st_mode & 0o4)]
claim(len(files) > 100 and not closed, f'others may read all {len(files)} files and folders under umask 077 (not {closed[:3]})')
left = [n for n in [*old, 'bin/spl-gone', f'{SHARE}/tools/spltools/gone'] if os.path.lexists(top / n)]
claim(left == [f'{SHARE}/inputs/edited.par', f'{SHARE}/keymaps/README.md', '../outside'] and (top / SHARE / 'inputs/edited.par').read_text() == 'dx = 10'
      and (top / SHARE / 'keymaps/README.md').read_text() != 'older', f'of an older version what this one lacks is gone; what was edited, replaced or '
      f'lies outside is there: {left}')
claim(all((top / n).read_text() == text for n, text in foreign.items()), 'and so are files of others')
listed = dict(reversed(line.split('  ', 1)) for line in (top / SHARE / 'installed').read_text().splitlines())
claim(set(listed) == {str(p.relative_to(top)) for p in top.rglob('*') if p.is_symlink() or p.is_file()} - {*foreign, f'{SHARE}/inputs/edited.par',
      f'{SHARE}/installed'}, f'the list has all {len(listed)} files that were installed')
claim(module_root(top) == str(top), f'the module file names that folder: {module_root(top)}')
dead = [f'{page.parent.name}/{page.name}: {link}' for folder in ('inputs', 'keymaps', 'tools') for page in (top / SHARE / folder).rglob('*.md')
        for link in re.findall(r'\]\(([^)\s#]+)', page.read_text()) if '://' not in link and not (page.parent / link).exists()]
dead += [f'{page.parent.name}/{page.name}: {link}' for page in (top / SHARE / 'fortran').rglob('*.md')    # beside it; the rest is not installed
         for link in re.findall(r'\]\(([^)\s#]+)', page.read_text()) if '/' not in link and not (page.parent / link).exists()]
claim(not dead, f'links of the pages that are installed lead to what is installed: {dead[:3]}')
status, said = call(top / 'bin/spl-model', '--help')
claim(status == 0 and 'usage: spl-model' in said, f'a tool runs from there: exit status {status}')

# --- what the Makefile hands over: words as they are, and the final folder where it is another ---
recipe = re.search(r'(?m)^\t@tools/build/install (.*)$', MAKEFILE).group(1)
quoted = re.search(r'(?m)^quoted = .*$', MAKEFILE).group(0)
Path('Makefile').write_text(f"B := built\n{quoted}\ninstall:\n\t@printf '%s\\n' {recipe}\n")
plain = {k: v for k, v in os.environ.items() if not k.startswith('MAKE') and k not in ('DESTDIR', 'PREFIX')}
for words, wanted in ((["PREFIX=it's here"], ['built', "it's here"]), (['PREFIX=/opt/s w', 'DESTDIR=packed'], ['built', 'packed/opt/s w', '/opt/s w'])):
    said = call('make', '-s', 'install', *words, env=plain)[1].splitlines()
    claim(said == wanted, f'make install {" ".join(words)}: the words {said}')
for word in ('~/spl', ''):
    status, said = call(ROOT / 'tools/build/install', B, word)
    claim(status == 1 and 'must be a folder' in said and not Path('~').exists(), f'PREFIX={word} is refused: {said.splitlines()[0]}')

# --- make writes nothing where nothing has changed: others install from a folder in which they may not write ---
build = ['make', '-C', ROOT, 'GPU=0', 'COMMIT=12345678', f'B={os.getcwd()}/b', f'{os.getcwd()}/b/commit.inc']
status, said = call(*build, env=plain)
text, before = Path('b/commit.inc').read_text(), Path('b').stat().st_mtime_ns
again = call(*build, env=plain)
claim(status == again[0] == 0 and '12345678' in text and Path('b').stat().st_mtime_ns == before,
      f'the record of the commit is written once: {text.split()[-1]}')
build[4] = 'COMMIT=87654321'
claim(call(*build, env=plain)[0] == 0 and '87654321' in Path('b/commit.inc').read_text(), 'and again for another commit')
said = call(*build[:-1], '-n', f'{os.getcwd()}/b/fortran/base/text.o', env=plain)[1]
claim(0 <= said.find('checked.f90') < said.find('text.f90'), 'in a build folder outside of the sources too a module is compiled after those it uses')
needs = re.findall(r'(?m)^\$\(B\)/fortran/(\S+)\.o: \$\(B\)/commit\.inc$', MAKEFILE)
rules = (Path(B) / 'deps.mk').read_text().splitlines()
others = [rule.split(':')[0] for rule in rules for name in needs if rule.split(':')[1].find(f'/{name}.o') >= 0]
claim(len(needs) == 1 and not others, f'with another commit {", ".join(needs)} alone is compiled again (with it: {len(others)})')

# --- make help ---
told = {line.split()[1] for line in call('make', '-s', '-C', ROOT, 'help', env=plain)[1].splitlines() if line.startswith('  make ')}
wanted = set(re.findall(r'(?m)^([a-z0-9-]+): +## ', MAKEFILE))
claim(told == wanted, f'make help lists all {len(wanted)} targets (not {wanted - told})')
done()
