#!/usr/bin/env python3
"""Python: status while a survey runs, a run that is interrupted, one with a parked shot, verify, and a shot as an ObsPy Stream."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy as np

import boxsurvey
import spltools as spl
from check import PATIENCE, claim, claim_fails, done, skip
from jobs import Gate, slow_machine, wait_until
from minisurvey import make
from shims import preload, shim

PROGRAMS = Path(os.environ['B']) / 'bin'
os.environ['SPL_BIN'] = str(PROGRAMS)

# --- an interrupt lets the shots in flight finish, is raised then, and the same call goes on to the same file ---
make(shots=8)
spl.run(par='job.par', output='whole.nc')
Path('caller.py').write_text('import sys\nimport spltools as spl\ntry:\n    spl.run(par="job.par", output="stopped.nc", ranks=int(sys.argv[1]))\n'
                             'except KeyboardInterrupt:\n    print("interrupted")\n')
for ranks in (1, 2):
    for old in Path('.').glob('stopped.nc*'):
        old.unlink()
    gate = Gate('stopped', 1.5)                   # each process stands still in its second shot
    caller = subprocess.Popen([sys.executable, 'caller.py', str(ranks)], stdout=subprocess.PIPE, text=True,
                              env=preload(dict(os.environ, PYTHONPATH=f"{os.environ['ROOT']}/tools"), slow_machine(), gate.env))
    limit, seen = time.time() + PATIENCE, spl.status('stopped.nc')
    while seen.done < 1 and caller.poll() is None and time.time() < limit:
        time.sleep(0.02)
        seen = spl.status('stopped.nc')
    caller.send_signal(signal.SIGINT)
    if ranks > 1:                                 # one process alone hears it when it goes on
        wait_until(lambda: 'no more shots are dealt' in Path('stopped.nc.log').read_text(), process=caller)
    gate.open()
    said = caller.communicate(timeout=PATIENCE)[0]
    after = spl.status('stopped.nc')
    claim(seen.running and seen.state == 'running' and seen.total == 8, f'{ranks} rank(s): status tells of a run: {seen.done} of {seen.total} done')
    claim(said.strip() == 'interrupted' and not after.running and after.state == 'stopped' and after.cause == 'signal' and after.exit_status == 3,
          f'the interrupt is raised ({said.strip()!r}) when the run has ended: {after.state} by {after.cause}, {after.done} of 8 done')
    claim(1 <= after.done < 8 and after.left == 8 - after.done, f'it ends early: {after.left} shots are left')
    part = spl.open_survey('stopped.nc')
    statuses = list(part.status.values)
    claim(sorted(set(statuses)) == [0, 1] and statuses.count(1) == after.done
          and [not np.isnan(row).any() for row in part.pressure.values] == [status == 1 for status in statuses],
          f'the Dataset has those that are done, and NaN for the others: {statuses}')
    spl.run(par='job.par', output='stopped.nc')
    one, other = spl.open_survey('whole.nc'), spl.open_survey('stopped.nc')
    claim(np.array_equal(one.pressure.values, other.pressure.values) and not np.isnan(one.pressure.values).any(),
          'the same call goes on, and its gathers are those of a run at once')

# --- a parked shot: the library that allocates fails for the one with a wide spread ---
SHIM = r"""
#include <errno.h>
#include <stddef.h>
#define LIMIT 2621440
void *__libc_memalign(size_t, size_t);
int posix_memalign(void **p, size_t a, size_t n) { if (n > LIMIT) return ENOMEM; *p = __libc_memalign(a, n); return *p ? 0 : ENOMEM; }
void *aligned_alloc(size_t a, size_t n) { if (n > LIMIT) { errno = ENOMEM; return 0; } return __libc_memalign(a, n); }
"""
if 'debug' in os.environ['B']:
    skip('the allocation shim and the address sanitizer do not go together')
else:
    library = shim('shim', SHIM)
    make(aperture=60, dx=2.5, dz=2.5)
    near = [[x + 20.0, 20.0] for x in range(0, 80, 20)]
    spl.write_keymap('line.keymap', [[600, 10], [640, 10], [660, 10]],
                     [np.array(near) + [600, 0], np.column_stack([np.arange(10, 1190, 20.0), np.full(59, 20.0)]), np.array(near) + [660, 0]],
                     overwrite=True)
    os.environ['LD_PRELOAD'] = library
    claim_fails(lambda: spl.run(par='job.par', output='parked.nc', retries=0), ['parked', 'check=False'], 'a parked shot is an error')
    ran = spl.run(par='job.par', output='parked.nc', retries=0, check=False)
    del os.environ['LD_PRELOAD']
    claim(ran.exit_status == 2 and ran.status.state == 'parked' and ran.status.parked_records == [2] and ran.status.done == 2
          and 'shot 2 lost' in ran.text, f'check=False returns: exit status {ran.exit_status}, parked {ran.status.parked_records}')
    survey = spl.open_survey('parked.nc')
    claim(list(survey.status.values) == [1, 2, 1] and np.isnan(survey.pressure.sel(record=2).values).all()
          and list(spl.done(survey).record.values) == [1, 3], 'in the Dataset a parked shot is NaN, with status 2')
    claim(spl.run(par='job.par', output='parked.nc').status.state == 'complete' and np.isfinite(survey.pressure.sel(record=2, receiver=0).values).all(),
          'run again without the fault all are done, in a Dataset that was open meanwhile too')

# --- verify ---
found = spl.verify()
claim(bool(found) and found.passed and len(found.checks) >= 2 and all(ok and sentence for ok, sentence in found.checks),
      f'verify: {len(found.checks)} checks passed, such as "{found.checks[0][1]}"')
claim_fails(lambda: spl.verify(no_such=1), 'no_such', 'verify with an unknown name')

# --- ObsPy ---
try:
    import obspy
except ModuleNotFoundError:
    skip('this Python has no obspy: tools/setup test')
    claim_fails(lambda: spl.read_stream('whole.nc', 1), ['ObsPy', 'pip install obspy', 'read_gather'], 'read_stream without ObsPy')
    done()
boxsurvey.survey()
with netCDF4.Dataset('g.nc') as file:
    v = {c: np.asarray(file[c][:], np.float32) for c in ('vx', 'vy', 'vz')}
    pressure, zero = np.asarray(file['pressure'][:], np.float32), float(file.wavelet_time_zero)
stream = spl.read_stream('g.nc', 9, origin_time='2009-04-06T01:32:41.5')
wrong = []
for c, place in enumerate(boxsurvey.STATIONS):
    for code, name, sign in (('E', 'vx', 1), ('N', 'vy', 1), ('Z', 'vz', -1)):
        trace = stream.select(station=f'S{c + 1:04d}', channel='CX' + code)[0]
        at = [trace.stats.spl[n] for n in ('x', 'y', 'z', 'sx', 'sy', 'sz')]
        good = [np.array_equal(trace.data, sign * v[name][1, c]), np.allclose(at, (*place, *boxsurvey.SHOTS[9]), atol=1e-3),
                abs(trace.stats.starttime - (obspy.UTCDateTime('2009-04-06T01:32:41.5') - zero)) < 1e-5, abs(trace.stats.delta - 0.004) < 1e-9]
        wrong += [f'{trace.id}: {i}' for i, ok in enumerate(good) if not ok]
claim(len(stream) == 15 and not wrong, f'a Stream of 15 traces: samples, places, times {wrong[:4] or "as in the file"}')
claim({t.stats.channel[-1] for t in spl.read_stream('g.nc', 9, turn=True)} == {'R', 'T', 'Z'}, 'turned to the source: R, T, Z')
claim(np.array_equal(spl.read_stream('g.nc', 7, motion='p')[2].data, pressure[0, 2]), 'pressure')
claim_fails(lambda: spl.read_stream('g.nc', 8), '8', 'a record that is not there')
claim_fails(lambda: spl.read_stream('g.nc', 7, motion='w'), "motion 'w'", 'a motion that is none')
done()
