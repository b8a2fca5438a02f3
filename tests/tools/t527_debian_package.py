#!/usr/bin/env python3
"""make deb: the package is installed by dpkg below a folder, against the packages that this system has, run, verified, and removed."""
import os
import shutil
import subprocess
from pathlib import Path

from check import PATIENCE, claim, done, skip
from minisurvey import make, statuses

ROOT, B = Path(os.environ['ROOT']), Path(os.environ['B'])
env = {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'SPL_BIN')}


def call(*words, **more):
    ran = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
                         env={**env, **more})
    return ran.returncode, ran.stdout


missing = [p for p in ('dpkg', 'dpkg-deb', 'dpkg-shlibdeps', 'strip') if not shutil.which(p)]
if missing or 'debug' in B.name:
    skip(f'no Debian package is made here: {", ".join(missing)} missing (apt-get install dpkg-dev)' if missing else 'a build with sanitizers')
    done()
status, said = call(ROOT / 'tools/package/deb', B, 'out', DPKG_DEB_COMPRESSOR_TYPE='gzip', DPKG_DEB_COMPRESSOR_LEVEL='1')       # quickly
packages = list(Path('out').glob('*.deb'))
claim(status == 0 and len(packages) == 1, f'it is built: {said.strip()[-300:]}')
package = packages[0]
fields = dict(line.split(': ', 1) for line in call('dpkg-deb', '--field', package)[1].splitlines() if ': ' in line and line[0] != ' ')
claim('libnetcdf' in fields['Depends'] and 'libgfortran' in fields['Depends'] and 'openmpi-bin' in fields['Depends']
      and 'python3-numpy' in fields['Recommends'], f"it depends on {fields['Depends']}")

# dpkg with a root folder and a list of packages of its own, that of this system to begin with: nothing outside is touched
top, state = Path('top').absolute(), Path('state').absolute()
for folder in ('info', 'updates', 'triggers'):
    (state / folder).mkdir(parents=True)
top.mkdir()
shutil.copy('/var/lib/dpkg/status', state / 'status')
PATHS = {'PATH': os.environ['PATH'] + ':/usr/sbin:/sbin'}
dpkg = ['dpkg', f'--instdir={top}', f'--admindir={state}', '--force-not-root', f'--log={state}/log']
if os.getuid() and shutil.which('fakeroot'):
    dpkg.insert(0, 'fakeroot')
status, said = call(*dpkg, '-i', package, **PATHS)
if status and 'dependency problems' in said:
    skip('it is not installed, for this system did not get its libraries by packages: ' + ' '.join(said.split())[-300:])
    done()
files = [p for p in top.rglob('*') if not p.is_dir()]
claim(status == 0 and len(files) > 100, f'it is installed: {len(files)} files' if status == 0 else said[-400:])
status, said = call(*dpkg, '--verify', 'splfd2dmod', **PATHS)
claim(status == 0 and not said.strip(), f'every file has its checksum {said[:200]}')

paths = {'PATH': f"{top}/usr/bin:{os.environ['PATH']}"}
make(shots=2)
status, said = call('SplFd2dmod', 'par=job.par', 'output=g.nc', **paths)
claim(status == 0 and statuses('g.nc') == [1, 1], f'its program models a survey: exit status {status} {said[-300:] if status else ""}')
status, said = call('spl-export', 'g.nc', '-o', 'g.segy', **paths)
claim(status == 0 and Path('g.segy').stat().st_size > 3600, f'its tool exports it: {said.strip()[-200:]}')
status, said = call('/usr/bin/python3', '-c', 'import spltools; print(spltools.__file__, spltools.status("g.nc").done)',
                    PYTHONPATH=f'{top}/usr/lib/python3/dist-packages', **paths)
claim(status == 0 and said.startswith(str(top)) and said.split()[-1] == '2', f'Python imports its package, which calls its program: {said.strip()[-200:]}')
claim((top / 'usr/share/man/man1/SplFd3dmod.1.gz').exists() and (top / 'usr/share/bash-completion/completions/spl-model').exists()
      and (top / 'usr/share/doc/splfd2dmod/copyright').exists(), 'manual pages, completion and copyright are there')

for cache in top.rglob('__pycache__'):
    shutil.rmtree(cache)                                # those of a system are removed by its Python
status, said = call(*dpkg, '--purge', 'splfd2dmod', **PATHS)
left = [str(p.relative_to(top)) for p in top.rglob('*') if not p.is_dir()]
claim(status == 0 and not left, f'it is removed without a rest {left[:3]} {said[-200:] if status else ""}')
done()
