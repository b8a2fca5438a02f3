#!/usr/bin/env python3
"""Pictures of real surveys: uneven spreads without stripes, near-trace, common-offset and midpoint sections, surveys in models, titles."""
import os
import subprocess

import numpy as np

from check import claim, claim_fails, done
from synthetic import make_gathers, marine_model
from toolrun import Tool

from spltools.gathers.gathers import Gathers
from spltools.plot import figures, plot, sections
from spltools.plot.plot import main, parse

tool = Tool('spl-plot', 'x.png')
SEED = 518
rng = np.random.default_rng(SEED)

# --- columns ---------------------------------------------------------------------------------------------------------
for name, at in (('uneven stations', np.cumsum(rng.exponential(40.0, 300)) + 5000.3), ('a cable that stretches', -100 - 12.5 * np.arange(240) *
                                                                                       (1 + 0.004 * np.arange(240))),
                 ('two cables of different interval', np.r_[np.arange(100) * 12.5, 1250 + np.arange(50) * 25.0])):
    order = rng.permutation(len(at))
    first, step, image = figures.on_regular_axis(np.arange(len(at), dtype='f4')[order, None] * np.ones((1, 2), 'f4'), at[order])
    rising = np.sort(at)
    label = np.argsort(at)
    x = first + step * np.arange(len(image))
    wrong = blank = 0
    for i, v in enumerate(image[:, 0]):
        nearest = np.abs(rising - x[i]).min()
        if np.isnan(v):
            blank += 1
        elif np.abs(at[int(v)] - x[i]) > nearest + step:
            wrong += 1
    claim(wrong == 0 and blank / len(image) < 0.12, f'{name}: each column is its nearest trace, {100 * blank / len(image):.1f} % blank, bound 12 (seed {SEED})')
holes = np.r_[np.arange(60) * 25.0, 3500 + np.arange(60) * 25.0] + rng.uniform(-8, 8, 120)
first, step, image = figures.on_regular_axis(np.ones((120, 2), 'f4'), holes)
width = step * np.isnan(image[:, 0]).sum()
claim(1900 < width < 2000, f'a hole of {3500 - 59 * 25} m in an uneven spread stays one: {width:.0f} m, neighbours reach no farther than half a usual gap')
missing = np.delete(np.arange(100) * 12.5, [40, 41, 70])
claim(np.isnan(figures.on_regular_axis(np.ones((97, 2), 'f4'), missing)[2][:, 0]).sum() == 3, 'three dead channels of a regular cable: three blank columns')

measured = -120 - 12.5 * np.arange(480) + rng.uniform(-1, 1, 480)
first, step, image = figures.on_regular_axis(measured[:, None] * np.ones((1, 2)), measured)
off = np.abs(first + step * np.arange(len(image)) - image[:, 0]).max() if len(image) == 480 else np.inf
claim(off < 0.25 * 12.5, f'a cable of 480 channels measured to 1 m: a column a channel, {off:.2f} m off at most, bound a quarter of the interval')

# --- sections: the first sample of each trace is its shot, the second its channel ------------------------------------
shots = []
for i in range(20):
    sx = 2000.0 + 50.0 * i + rng.uniform(-3, 3)
    rx = sx - 120.0 - 25.0 * np.arange(24)
    traces = np.zeros((24, 40), 'f4')
    traces[:, 0], traces[:, 1], traces[:, 2:] = 101 + i, np.arange(24), rng.standard_normal((24, 38))
    if i == 7:
        rx, traces = rx[4:], traces[4:]                                    # its nearest channels are missing
    shots.append({'record': 101 + i, 'sx': sx, 'sz': 6.0, 'rx': rx, 'rz': np.full(len(rx), 8.0), 'traces': {'pressure': traces}})
make_gathers('line $a_1$.nc', shots, nt=40, attributes={'parameters': "keymap = 'maps/north_4.map'  # deck; key-map\n"})
file = Gathers('line $a_1$.nc')
slots, _ = file.chosen()


def chosen(*words):
    return sections.choose(file, slots, 'p', parse(['section', file.path, '-o', 'x.png', *words]))


near = chosen()
claim(near.traces[:, 0].tolist() == list(range(101, 121)) and (near.traces[:, 1] == [4 if i == 7 else 0 for i in range(20)]).all()
      and np.allclose(near.at, [s['sx'] - (110.0 if i == 7 else 60.0) for i, s in enumerate(shots)]),
      'near traces: of each shot the nearest there is, at its midpoint')
one = chosen('--kind', 'offset', '--offset', '-201')
claim(one.traces[:, 0].tolist() == [r for r in range(101, 121) if r != 108] and (one.traces[:, 1] == 3).all() and '1 of 20' in one.told,
      f'offset -201 m: channel at -195 m of each shot that has it; {one.told}')
cmp_ = chosen('--kind', 'cmp')
midpoint = np.array([0.5 * (shots[int(t[0]) - 101]['sx'] + shots[int(t[0]) - 101]['sx'] - 120 - 25 * t[1]) for t in cmp_.traces])
bins = np.floor(midpoint / 12.5 + 0.5)
same = np.diff(bins) == 0
claim(len(cmp_.traces) == 20 * 24 - 4 and (np.diff(bins) >= 0).all() and (np.diff(cmp_.traces[:, 1])[same] >= 0).all() and same.sum() > 100,
      f'sorted by midpoint: all {len(cmp_.traces)} traces, in {len(np.unique(bins))} bins that rise, in a bin by offset')
names_drawn = []
make_gathers('long.nc', [{'record': 1 + i, 'sx': 18.75 * i, 'sz': 6.0, 'rx': 18.75 * i + 1110 + 12.5 * np.arange(120), 'rz': np.full(120, 8.0),
                          'traces': {'pressure': rng.standard_normal((120, 8)).astype('f4')}} for i in range(24)], nt=8)
true_put, plot.put = plot.put, lambda figure, a: names_drawn.append([t.get_window_extent() for t in (
    figure.canvas.draw(), figure.axes[0].get_xticklabels())[1] if t.get_text()])
main(['section', 'long.nc', '-o', 'x.png', '--kind', 'cmp'])
plot.put = true_put
apart = min(b.x0 - a.x1 for a, b in zip(names_drawn[0], names_drawn[0][1:]))
claim(apart > 4 and len(names_drawn[0]) > 4, f'24 shots into a cable of 120 channels, bins of few traces at both ends: the {len(names_drawn[0])} '
      f'names of midpoints below them stand {apart:.0f} pixels apart at least, bound 4')
part = chosen('--kind', 'cmp', '--from', '2200', '--to', '2300', '--bin', '50')
x = [0.5 * (2 * shots[int(t[0]) - 101]['sx'] - 120 - 25 * t[1]) for t in part.traces]
claim(min(x) >= 2200 and max(x) <= 2300 and len(x) == ((midpoint >= 2200) & (midpoint <= 2300)).sum(), f'{len(x)} traces with midpoints from 2200 to 2300 m')
for words, kind in (([], 'near'), (['--kind', 'offset'], 'offset'), (['--kind', 'cmp', '--gain', '1'], 'cmp')):
    tool.fine(f'a picture of kind {kind}', 'section', file.path, '-o', f'{kind}.svg', *words)
    svg = open(f'{kind}.svg', encoding='utf-8').read()
    claim('<!-- survey north_4   20 records 101 .. 120   file line $a_1$.nc -->' in svg, 'its title has survey, records and file, as they are spelt')
tool.fine('a gather', 'gather', file.path, '--record', 103, '-o', 'gather.svg')
claim('<!-- survey north_4   record 103   file line $a_1$.nc -->' in open('gather.svg', encoding='utf-8').read(), 'and so does that of a gather')
for words, told in ((['--kind', 'near', '--offset', '5'], '--offset is of --kind offset'), (['--bin', '5'], '--bin is of --kind cmp'),
                    (['--from', '5', '--to', '2'], '--from must be less'), (['--kind', 'offset', '--offset', '9000'], 'offsets from -695 to -120'),
                    (['--kind', 'cmp', '--from', '9000'], 'they reach from')):
    claim_fails(lambda: main(['section', file.path, '-o', 'x.png', *words]), told, ' '.join(words))

# --- 50,000 traces ---------------------------------------------------------------------------------------------------
n, nt = 50000, 60
base = {'record': 1, 'sx': 0.0, 'sz': 6.0, 'rx': 10.0 + np.cumsum(rng.uniform(0.5, 2.0, n)), 'rz': np.full(n, 8.0)}
p = np.exp(-0.5 * ((np.arange(nt) - nt * base['rx'][:, None] / base['rx'][-1]) / 2.0) ** 2).astype('f4')
make_gathers('many.nc', [{**base, 'traces': {'pressure': p}}], nt=nt)
tool.fine(f'a gather of {n:,} traces', 'gather', 'many.nc', '-o', 'many.svg')
text = open('many.svg', encoding='utf-8').read()
claim('one in 13 of 50,000 traces' in text and os.path.getsize('many.svg') < 2e6,
      f'its title says that one in 13 is drawn; {os.path.getsize("many.svg") / 1e6:.2f} MB')
figure, ax = figures.plt.subplots(figsize=(6, 6), dpi=100)
figures.draw_gather(ax, Gathers('many.nc').gather(0), 1.0)
figure.canvas.draw()
pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3] / 255.0
away = []
for t in (0.2, 0.5, 0.8):
    column, row = ax.transData.transform((t * base['rx'][-1], t * nt * 0.004))
    dark = pixels[:, int(round(column))].mean(axis=1)
    away.append(abs(int(np.argmin(dark[80:520])) + 80 - (600 - row)))
claim(max(away) < 6, f'what is drawn lies where it belongs: off by {max(away):.0f} pixels, bound 6')
gap = np.abs(pixels[100:500, 100:500] - figures.matplotlib.colors.to_rgb(figures.GAP)).max(axis=2) < 0.02
claim(gap.mean() < 0.001, f'and without stripes: {100 * gap.mean():.2f} % in the colour of gaps, bound 0.1')
figures.plt.close(figure)

# --- models ----------------------------------------------------------------------------------------------------------
marine_model('model.nc')
spread = ''.join(f'shot {i + 1} {2600 + 20 * i} 6 c\n' for i in range(200))
open('plan.map', 'w').write('spread c streamer first=150 interval=25 channels=40 depth=8\n' + spread)
tool.fine('the survey of a key-map in a model', 'model', 'model.nc', '--keymap', 'plan.map', '--record', 7, '-o', 'model.svg')
svg = open('model.svg', encoding='utf-8').read()
claim('<!-- 200 sources -->' in svg and '<!-- 40 receivers of record 7 -->' in svg and '<!-- survey plan   record 7   file model.nc -->' in svg,
      'sources, the receivers of a record, survey and file are named')
np.linspace(1500, 4500, 41 * 23).astype('<f4').tofile('vp.raw')
tool.fine('a raw model with the survey', 'model', 'vp.raw', '--nx', 41, '--nz', 23, '--dx', 200, '--dz', 100, '--keymap', 'plan.map', '-o', 'raw.png')
tool.refused('no shot record 999', 'a record that is not in the key-map', 'model', 'model.nc', '--keymap', 'plan.map', '--record', 999, '-o', 'x.png')
tool.refused('give one of them', 'two surveys', 'model', 'model.nc', '--keymap', 'plan.map', '--gathers', file.path, '-o', 'x.png')
for name, (_, colours) in figures.MODEL.items():
    rgb = figures.matplotlib.colormaps[colours](np.linspace(0, 1, 64))[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    y = linear @ [0.2126, 0.7152, 0.0722]
    lightness = np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)
    steps = np.diff(lightness)
    claim(steps.min() > 0 and steps.max() / steps.mean() < 2, f'{name}: lightness of its colours rises evenly, {steps.min():.2f} to {steps.max():.2f} a step')
claim(subprocess.run(['sh', '-c', 'ls *.tmp'], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode != 0, 'no temporary files are left behind')
done()
