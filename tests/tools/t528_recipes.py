#!/usr/bin/env python3
"""Module file, Spack recipe and containers: they name what the sources have, and do what they say as far as they can be run here."""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

from check import PATIENCE, claim, done, skip

ROOT, B = Path(os.environ['ROOT']), Path(os.environ['B'])
PACKAGE = ROOT / 'tools/package'
version = re.search(r"__version__ = '([^']+)'", (ROOT / 'tools/spltools/__init__.py').read_text()).group(1)

# --- Spack: its part is played here; directives are noted, the steps are run ---
noted = []


def directive(name):
    return lambda *words, **more: noted.append((name, words, more))


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words):
        subprocess.run([str(ROOT / self.path), *words], check=True, cwd=ROOT, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


names = ('conflicts', 'depends_on', 'license', 'variant', 'version')
module('spack')
module('spack.package', Executable=Executable, mkdirp=lambda p: Path(str(p)).mkdir(parents=True), **{n: directive(n) for n in names})
for name in ('spack_repo', 'spack_repo.builtin', 'spack_repo.builtin.build_systems'):
    module(name)
module('spack_repo.builtin.build_systems.cuda', CudaPackage=type('CudaPackage', (), {}))
module('spack_repo.builtin.build_systems.makefile', MakefilePackage=type('MakefilePackage', (), {}))
repository = PACKAGE / 'spack/spack_repo/splfd2dmod'
found = importlib.util.spec_from_file_location('recipe', repository / 'packages/splfd2dmod/package.py')
recipe = importlib.util.module_from_spec(found)
found.loader.exec_module(recipe)
claim('namespace: splfd2dmod' in (repository / 'repo.yaml').read_text() and recipe.Splfd2dmod.git == f'file://{ROOT}',
      f'Spack: the repository is named as its folder, its sources are {recipe.Splfd2dmod.git}')
needs = {words[0].split('@')[0] for kind, words, _ in noted if kind == 'depends_on'}
claim({'mpi', 'netcdf-c', 'zlib-api', 'fortran', 'cuda', 'py-numpy'} <= needs, f'Spack: it depends on {", ".join(sorted(needs))}')


class Spec(dict):
    def __init__(self, cuda, archs=()):
        super().__init__(mpi=types.SimpleNamespace(mpifc='mpifort'))
        self.cuda, self.variants = cuda, {'cuda_arch': types.SimpleNamespace(value=archs)}

    def satisfies(self, what):
        return {'+cuda': self.cuda}[what]


os.environ['CC'] = 'gcc'
built = recipe.Splfd2dmod()
built.spec = Spec(True, ('80', '90'))
claim(built.folder == 'build/gpu' and 'ARCH=sm_80 sm_90' in built.build_targets, f'Spack: with CUDA it calls make {" ".join(built.build_targets)}')
built.spec = Spec(False)
dry = subprocess.run(['make', '-n', *built.build_targets], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
claim(dry.returncode == 0 and 'build/cpu' == built.folder, f'Spack: make {" ".join(built.build_targets)} is a call that make understands')
type(built).folder = str(B)
place = Path('cellar').absolute()
built.install(built.spec, place)
ran = subprocess.run([place / 'bin/SplFd2dmod', '--version'], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
claim(ran.returncode == 0 and f' {version} ' in ran.stdout, f'Spack: what it installs runs: {ran.stdout.splitlines()[0]}')

# --- scripts for Slurm: when the job ends, by squeue ---
bin_folder = Path('slurm').absolute()
bin_folder.mkdir()


def slurm_ends(script, said, **env):
    """SLURM_JOB_END_TIME as run-until-done gets it, where squeue says so."""
    for name, text in (('squeue', said), ('scontrol', 'echo KillWait = 30'), ('run-until-done', 'echo "[$SLURM_JOB_END_TIME]"')):
        (bin_folder / name).write_text(f'#!/bin/sh\n{text}\n')
        (bin_folder / name).chmod(0o755)
    env = {**os.environ, 'PATH': f'{bin_folder}:{os.environ["PATH"]}', 'SLURM_JOB_ID': '7', 'TZ': 'UTC', **env}
    return subprocess.run(['bash', str(ROOT / 'inputs/slurm' / script)], env=env, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout.strip()


for script in ('line.sbatch', 'mixed.sbatch'):
    ends = [slurm_ends(script, said) for said in ('echo 2033-05-18T03:33:20', 'echo N/A', 'exit 1')] + [slurm_ends(script, 'exit 1', SLURM_JOB_END_TIME='5')]
    claim(ends == ['[2000000000]', '[]', '[]', '[5]'], f'{script}: the end of the job by squeue, none where it has none or squeue fails, as Slurm says: {ends}')

# --- the module file that was installed, read by Tcl ---
file = place / f'share/modulefiles/splfd2dmod/{version}'
claim(file.exists() and '@' not in file.read_text() and file.read_text().startswith('#%Module'), f'the module file is {file.relative_to(place)}')
tcl = shutil.which('tclsh')
if not tcl:
    skip('tclsh is not here: the module file is not run')
else:
    Path('read.tcl').write_text('''foreach word {prepend-path setenv module-whatis conflict} { proc $word {args} [list apply {{word} {
    upvar 1 args args
    puts "$word $args"}} $word] }
source [lindex $argv 0]
ModulesHelp
''')
    for data, want in (('', f'setenv XDG_DATA_DIRS {place}/share:/usr/local/share:/usr/share'),
                       ('/usr/share', f'prepend-path XDG_DATA_DIRS {place}/share')):
        ran = subprocess.run([tcl, 'read.tcl', str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, 'XDG_DATA_DIRS': data})
        lines = ran.stdout.splitlines()
        claim(ran.returncode == 0 and f'prepend-path PATH {place}/bin' in lines and f'setenv SPL_BIN {place}/bin' in lines and want in lines
              and version in ran.stderr, f'Tcl reads it, with XDG_DATA_DIRS={data!r}: {len(lines)} settings {ran.stderr[-200:] if ran.returncode else ""}')
    path = re.search(r'prepend-path PYTHONPATH (\S+)', ran.stdout).group(1)
    claim((Path(path) / 'spltools/__init__.py').exists(), 'what it adds to PYTHONPATH holds spltools')

# --- containers: the same base and steps, of files that are there ---
docker, apptainer = (PACKAGE / 'Dockerfile').read_text(), (PACKAGE / 'apptainer.def').read_text()
base = re.search(r'ARG CUDA=(\S+)\nARG SYSTEM=(\S+)', docker).groups()
claim(re.findall(r'(?m)^FROM (\S+)', docker) == [f'nvidia/cuda:${{CUDA}}-{kind}-${{SYSTEM}}' for kind in ('devel', 'base')]
      and re.findall(r'(?m)^From: (\S+)', apptainer) == [f'nvidia/cuda:{base[0]}-{kind}-{base[1]}' for kind in ('devel', 'base')],
      f'Docker and Apptainer begin with CUDA {base[0]} on {base[1]}')
copied = set(re.search(r'COPY ([^/]*) /source/\n', docker).group(1).split()) | set(re.findall(r'COPY (\w+) /source/\w', docker))
listed = set(re.findall(r'(?m)^    (\S+) /source/$', apptainer))
claim(copied == listed and all((ROOT / name).exists() for name in copied),
      f'both take {len(copied)} files and folders, all of them there: {sorted(copied ^ listed)}')


def packages(text):
    return [sorted(re.findall(r'(?<!\S)[a-z][a-z0-9+.-]+[a-z0-9](?!\S)', words))
            for words in re.findall(r'--no-install-recommends \\\n((?: +.*\\\n)* +[^\n]*?)(?= &&|\n)', text)]


a, b = packages(docker), packages(apptainer)
claim(a == b and len(a) == 2 and {'gfortran', 'libopenmpi-dev', 'libnetcdf-dev', 'dpkg-dev', 'python3-numpy'} <= set(a[0]),
      f'both install the same {len(a[0])} packages to build and {len(a[1])} to run')
steps = [re.sub(r'[${}" ]', '', s) for s in re.findall(r'make -j.* programs', docker) + re.findall(r'make -j.* programs', apptainer)]
claim(len(steps) == 2 and steps[0] == steps[1] and all('tools/package/deb build/gpu /package' in t for t in (docker, apptainer)),
      f'both build by {steps[0]}, then the Debian package')
if shutil.which('docker') and subprocess.run(['docker', 'buildx', 'version'], capture_output=True).returncode == 0:
    ran = subprocess.run(['docker', 'build', '--check', '-f', str(PACKAGE / 'Dockerfile'), str(ROOT)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, timeout=PATIENCE)
    if 'daemon' in ran.stdout:
        skip('the daemon of Docker does not run: the Dockerfile is not checked by it')
    else:
        claim(ran.returncode == 0, f'docker build --check: {ran.stdout.strip()[-200:]}')
else:
    skip('no docker: the Dockerfile is not checked by it')
done()
