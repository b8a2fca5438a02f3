#!/usr/bin/env python3
"""pip install ./tools: package, types, commands and metadata arrive in an environment of their own, from the sources and without a network."""
import ast
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from check import PATIENCE, claim, done, skip

ROOT = Path(os.environ['ROOT'])
PYTHON = os.environ.get('PYTHON', sys.executable)


def call(*words, **more):
    ran = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, **more)
    return ran.returncode, ran.stdout.strip()


def contents(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in Path(folder).rglob('*')
            if p.is_file() and '__pycache__' not in p.parts}


if call(PYTHON, '-m', 'pip', '--version')[0]:
    skip('pip is not here: tools/setup test')
    sys.exit(0)
clean = {k: v for k, v in os.environ.items() if not k.startswith(('PYTHON', 'PIP_'))}
sources = contents(ROOT / 'tools')

# the wheel: as pip builds it, with nothing fetched
status, said = call(PYTHON, '-m', 'pip', 'wheel', '--no-index', '--no-deps', '-w', '.', ROOT / 'tools', env=clean)
wheels = list(Path().glob('*.whl'))
claim(status == 0 and len(wheels) == 1, f'pip builds a wheel without a network: {wheels[0] if wheels else said[-300:]}')
with zipfile.ZipFile(wheels[0]) as wheel:
    names = set(wheel.namelist())
    metadata = wheel.read(next(n for n in names if n.endswith('/METADATA'))).decode()
wanted = {str(p.relative_to(ROOT / 'tools')) for p in (ROOT / 'tools/spltools').rglob('*.py')} | {'spltools/py.typed', 'spltools/README.md'}
claim(wanted <= names, f'it holds all {len(wanted)} files of the package (missing: {sorted(wanted - names)[:3]})')
claim(contents(ROOT / 'tools') == sources, 'the build left no file in the sources')

# installed into an environment that sees the modules of the system
status, said = call(PYTHON, '-m', 'venv', '--system-site-packages', '--without-pip', 'env')
python = Path('env/bin/python').absolute()
folder = Path(call(python, '-c', 'import sysconfig; print(sysconfig.get_path("purelib"))', env=clean)[1])
status, said = call(PYTHON, '-m', 'pip', '--python', python, 'install', '--no-index', '--no-deps', '--ignore-installed', ROOT / 'tools', env=clean)
if 'no such option: --python' in said:
    status, said = call(PYTHON, '-m', 'pip', 'install', '--no-index', '--no-deps', '--target', folder, ROOT / 'tools', env=clean)
claim(status == 0, f'pip install ./tools: {said.splitlines()[-1] if said else ""}')
status, said = call(python, '-c', 'import spltools, inspect; print(spltools.__version__, spltools.__file__); '
                    'print(*[n for n in spltools.__all__ if not (inspect.getdoc(getattr(spltools, n)) or "").strip()])', env=clean, cwd='/')
lines = said.splitlines()
claim(status == 0 and str(folder) in lines[0], f'it is imported from there: {lines[0]}')
claim(len(lines) == 1 or not lines[1], f'every name of the package has its documentation (without: {lines[1] if len(lines) > 1 else "none"})')
version = lines[0].split()[0]
program = Path(os.environ['B']) / 'bin/SplFd2dmod'
claim(f'Version: {version}\n' in metadata and f' {version}' in call(program, '--version')[1], f'wheel, package and programs are one version, {version}')

# every tool is a command, which works from any folder
tools = sorted(p.name for p in (ROOT / 'tools').glob('spl-*'))
bad = [t for t in tools if call(python.parent / t, '--help', env=clean, cwd='/') != call(PYTHON, ROOT / 'tools' / t, '--help', env=clean, cwd='/')]
claim(len(tools) >= 7 and not bad, f'{len(tools)} commands say what tools/spl-* say (not so: {bad})')
claim(call(python.parent / 'run-until-done', '--help', env=clean)[0] == 0, 'run-until-done came along')
refused = call(python.parent / 'spl-export', 'none.nc', '-o', 'x.sgy', env=clean)
claim(refused[0] != 0 and 'Traceback' not in refused[1] and 'error: ' in refused[1], f'a fault is a sentence: {refused[1].splitlines()[-1]}')
status, said = call(PYTHON, '-m', 'pip', '--python', python, 'uninstall', '-y', 'spltools', env=clean)
left = [p for p in [*folder.glob('spltools*'), *python.parent.glob('spl-*')] if '__pycache__' not in str(p)]
claim(status == 0 and not left, f'pip uninstall leaves nothing (left: {[p.name for p in left][:3]})')

# typed: each public procedure names its types; a type checker, where there is one, agrees
untyped = []
for module in ('programs', 'earth/from_arrays', 'geometry/from_arrays', 'gathers/dataset', 'gathers/read', 'gathers/gathers'):
    for node in ast.walk(ast.parse((ROOT / f'tools/spltools/{module}.py').read_text())):
        if isinstance(node, ast.FunctionDef) and not re.match('_', node.name):
            a = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            untyped += [f'{module}.{node.name}'] * (node.returns is None or any(x.annotation is None and x.arg not in ('self', 'cls') for x in a))
claim(not untyped, f'public procedures without types: {untyped or "none"}')
if call(PYTHON, '-m', 'mypy', '--version')[0]:
    skip('mypy is not here: types are not checked by it')
else:
    Path('user.py').write_text('import spltools as spl\nplan: spl.Plan = spl.plan(fpeak=10)\nn: int = spl.status("a.nc").done\n'
                               'reveal: str = spl.read_gather("a.nc", 1).units\n')
    status, said = call(PYTHON, '-m', 'mypy', '--ignore-missing-imports', 'user.py', env=dict(clean, MYPYPATH=str(ROOT / 'tools')))
    claim(status == 0, f'mypy: {said.splitlines()[-1]}')
done()
