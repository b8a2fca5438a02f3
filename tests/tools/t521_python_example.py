#!/usr/bin/env python3
"""The Python example of the documentation runs as printed: arrays as Devito has them to a gather with the right arrivals."""
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import netCDF4
import numpy as np
from check import PATIENCE, claim, done

ROOT, PROGRAMS = Path(os.environ['ROOT']), Path(os.environ['B']) / 'bin'
text = (ROOT / 'tools/spltools/README.md').read_text()
blocks = re.findall(r'(?ms)^```python\n(.*?)^```$', text)
claim(len(blocks) == 1 and len(blocks[0].splitlines()) == 10, f'the page has one example, of {len(blocks[0].splitlines())} lines (10)')
Path('example.py').write_text(blocks[0] + "np.save('shot.npy', shot.values)\nprint(shot.dims, shot.units, float(shot.source_x))\n")
env = dict(os.environ, PATH=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", PYTHONPATH=str(ROOT / 'tools'))
ran = subprocess.run([os.environ.get('PYTHON', sys.executable), 'example.py'], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     text=True, timeout=PATIENCE)
claim(ran.returncode == 0, f'it runs as printed: {ran.stdout.strip()[-600:]}')
claim(ran.stdout.strip().endswith("('receiver', 'time') Pa 1000.0"), 'its gather is (receiver, time), in Pa, of the shot at 1000 m')

shot = np.load('shot.npy')
with netCDF4.Dataset('two_shots.nc') as ds:             # what the library reads, without code of ours
    ds.set_auto_mask(False)
    time, stored, zero = ds['time'][:], ds['pressure'][1], float(ds.wavelet_time_zero)
    crc = 0
    for name in ds['checksum'].order.split():
        crc = zlib.crc32(np.asarray(ds[name][1], ds[name].dtype.newbyteorder('>')).tobytes(), crc)
    claim(crc == ds['checksum'][1], f'its bytes have the checksum of the file, {crc:08x}')
    claim(list(ds['status'][:]) == [1, 1, 1] and shot.tobytes() == np.asarray(stored, shot.dtype).tobytes(),
          'three shots are done, and the gather is that of the file, bit for bit')

x = np.linspace(0, 2000, 101)
offset = np.hypot(x - 1000, 10)
far = (abs(x - 1000) > 200) & (abs(x - 1000) < 700)
first = np.array([time[np.argmax(abs(trace) > 0.2 * abs(trace[:int((offset[i] / 1500 + zero + 0.1) / 0.004)]).max())]
                  for i, trace in enumerate(shot)])
claim(first.shape == (101,), 'every receiver has a trace')
onset = first - offset / 1500
worst = float(np.ptp(onset[far]))
claim(worst <= 0.012, f'first arrivals move out with 1500 m/s: they differ by {worst * 1e3:.0f} ms from 200 to 700 m, at most 12 '
      '(three samples)')
# the layer 500 m below the surface (the contact half-way between nodes at 490 and 500 m): reflected at 2 (495 - z) / 1500 s
near = shot[50].astype(float)
direct = time[np.argmax(abs(near))]
later = time > direct + 0.3
reflected = time[later][np.argmax(abs(near[later]))]
want = (2 * 495 - 20 - 30) / 1500 - offset[50] / 1500
claim(abs(reflected - direct - want) <= 0.03, f'the second layer reflects {reflected - direct:.3f} s after the direct wave, '
      f'{want:.3f} s by its depth (within 0.03 s, a third of a period)')
mirror = float(abs(shot - shot[::-1]).max() / abs(shot).max())
claim(mirror <= 2e-5, f'the gather of a shot in the middle is its own mirror image to {mirror:.1e} of its largest sample (2e-5)')
done()
