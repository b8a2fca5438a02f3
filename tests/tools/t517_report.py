#!/usr/bin/env python3
"""spl-report: a page that a browser shows without complaint or network, with right numbers, whatever the names; live during a job."""
import fcntl
import os
import re
import resource
import subprocess
import sys
import time
import urllib.parse
import zlib

import netCDF4
import numpy as np

import browser
import synthetic
from check import ALL, PATIENCE, claim, done, skip
from synthetic import line_of_shots, make_gathers, marine_line
from toolrun import Tool

from spltools.gathers.gathers import Gathers
from spltools.report import coverage, page, quality

tool = Tool('spl-report', 'bad.html')
STAMP = '2026-11-23T10:%02d:%02dZ'


def journal(path, events, shots, began='program=SplFd2dmod ranks=3 nodes=1', stop='exit=0 cause='):
    """A journal of these events (words after the event's name, time [s], note)."""
    def clock(s):
        return STAMP % divmod(s, 60)
    lines = [f'journal 1 ABC {shots} {clock(0)}', f'start 0 0 0 n7 0 {clock(0)} {began}']
    lines += [f'{event} {record} 1 {worker} n7 {seconds} {clock(at)} {note}' for event, record, worker, seconds, at, note in events]
    lines += [f'stop 0 0 0 n7 1 {clock(events[-1][4] + 1 if events else 1)} {stop}'] if stop else []
    with open(path, 'wb') as f:
        for text in lines:
            f.write(b'%08x %s\n' % (zlib.crc32(text.encode()), text.encode()))


def body(path):
    return open(path, encoding='utf-8').read()


def cells(shots, seconds=9):
    return [(e, s['record'], 1 + i % 2, t, 10 * i + t, n) for i, s in enumerate(shots)
            for e, t, n in (('deal', 0, ''), ('done', seconds, 'checksum=00000000 '))]


# --- a survey of hostile names, parts of it lost, damaged, silent, loud -----------------------------------------------
HOSTILE = "a <b>\"q\" 'x' & $y% #é.nc"
shots, sampling = marine_line(n=14, nrec=40, nt=376, dt=0.008)
for s in shots:
    s['traces']['pressure'] = s['traces']['pressure'].copy()
shots[3]['traces']['pressure'] *= 50
shots[5]['traces']['pressure'][7:9] = 0
slow = np.array([np.interp(np.arange(376) / 2.5, np.arange(376), p) for p in shots[9]['traces']['pressure']], 'f4')
shots[9]['traces']['pressure'] = slow
shots[6]['traces']['pressure'][2, 100] = np.inf
shots[12]['status'], shots[13]['status'] = 2, 1480938595           # of a slot that was never written any number may stand there
os.makedirs('in <i>side')
path = os.path.join('in <i>side', HOSTILE)
hostile = "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
parameters = (synthetic.PARAMETERS + f"keymap = 'k<b>.map'  # <u>deck</u>:1; key-map {hostile}\n# Last\nother = 'it''s #1'  # default; quotes\n")
make_gathers(path, shots, attributes={'parameters': parameters, 'title': hostile}, **sampling)
open(os.path.join('in <i>side', 'k<b>.map'), 'w').write(
    'spread c streamer first=150 interval=25 channels=40 depth=8\n' +
    ''.join(f"shot {s['record']} {s['sx']} 6 c\n" for s in shots))
lost = [('lost', 1013, 2, 3, 150, hostile), ('parked', 1013, 2, 0, 151, 'lost too often')]
journal(path + '.journal', cells(shots[:12]) + lost, 14, stop='exit=2 cause=')
with netCDF4.Dataset(path, 'r+') as ds:
    ds['pressure'][8, 3, 5] += 1.0
tool.fine('a survey of 14 shots, names with <b>, quotes and %', path)
report = path + '.report.html'
html = body(report)
claim(html.startswith(page.MARK) and html.endswith('</html>\n') and '<b>"q' not in html and hostile not in html and '<u>' not in html,
      f'{len(html) / 1e6:.2f} MB, nothing that came from files stands there unescaped')
claim('http:' not in html.replace('http-equiv', '') and 'https:' not in html and '<link rel="icon" href="data:,">' in html, 'no address of a network')
claim(not re.search('http-equiv="refresh"', html), 'a page of a survey at rest does not load itself anew')
claim('>1013</td><td>&lt;script&gt;' in html, 'the parked shot is named, with why it was lost')
claim(re.search(r'>1004</td><td>root mean square \d\d\.?\d* times', html) is not None, 'a shot that is 50 times too loud stands out')
claim('>1006</td><td>2 of 40 traces are zero at every sample' in html and '>1007</td><td>1 of 40 traces have samples that are no numbers' in html,
      'silent and broken traces are told')
claim(re.search(r'>1010</td><td>[^<]*mean frequency [\d.]+ Hz, of the median shot', html) is not None, 'a shot of low frequencies stands out')
claim('>1009</td><td>damaged: its checksum' in html, 'a damaged shot is told')

file = Gathers(path)
worst = [0.0, 0.0]
for slot in (0, 1, 5):
    q, p = quality.of_shot(file, slot, 'p'), shots[slot]['traces']['pressure'].astype(float)
    worst[0] = max(worst[0], abs(q.rms / np.sqrt(np.mean(p ** 2)) - 1), abs(q.peak / np.abs(p).max() - 1))
    f, per = quality.frequencies(376, 0.008)
    rows = p[np.unique(np.linspace(0, 39, quality.SPECTRA).astype(int))]
    rows[:, -19:] *= np.cos(np.pi / 2 * np.arange(1, 20) / 19) ** 2                   # 5 % of the record
    t = np.arange(376) * 0.008
    lines = (np.arange(512 // 2)[:per * len(f)] + 1) / (512 * 0.008)
    direct = np.abs(np.exp(-2j * np.pi * np.outer(lines, t)) @ rows.T) * 0.008
    level = np.sqrt((direct ** 2).mean(axis=1).reshape(len(f), per).mean(axis=1))
    worst[1] = max(worst[1], np.abs(q.spectrum - level).max() / level.max())
    claim(np.allclose(f, lines.reshape(len(f), per).mean(axis=1)), f'shot {slot}: frequencies are those of the lines in each bin')
claim(worst[0] < 1e-5 and worst[1] < 1e-5, f'amplitudes and spectra are those of sums written out: off by {worst[0]:.1e} and {worst[1]:.1e}, bound 1e-5')

# --- waves that the end of the record cuts off ------------------------------------------------------------------------
cut = line_of_shots(n=1, nrec=12, nt=1000)
late = 3.85 + 0.02 * np.arange(12)[:, None]
cut[0]['traces']['pressure'] = synthetic.ricker(np.arange(1000) * 0.004 - late, 8.0).astype('f4')
make_gathers('cut.nc', cut, 1000)
q, (f, _) = quality.of_shot(Gathers('cut.nc'), 0, 'p'), quality.frequencies(1000, 0.004)
high = 20 * np.log10(q.spectrum[f > 60].max() / q.spectrum.max())
claim(high < -60 and 7 < q.middle < 9, f'cut-off waves of 8 Hz have {high:.0f} dB above 60 Hz, bound -60, a mean frequency of {q.middle:.1f} Hz, bounds 7, 9')

n, ds_, dr = 30, 50.0, 12.5
regular = [{**s, 'sx': 1000.25 + ds_ * i, 'rx': 1000.25 + ds_ * i - 100 - dr * np.arange(48), 'rz': np.full(48, 8.0),
            'traces': {'pressure': np.ones((48, 5), 'f4')}} for i, s in enumerate(line_of_shots(n, 48, 5))]
make_gathers('regular.nc', regular, nt=5)
c = coverage.look(Gathers('regular.nc'), {})
x, fold, _, _ = coverage.fold_2d(c)
claim(fold.max() == 48 * dr / (2 * ds_) and fold.sum() == n * 48 and abs(x[0] - c.x.min()) <= dr / 4 and c.interval == dr,
      f'fold is channels times interval over twice the shot interval: {fold.max():g}, of {fold.sum():g} traces')

# --- refusals --------------------------------------------------------------------------------------------------------
before = {f: open(f, 'rb').read() for f in (path, path + '.journal', 'regular.nc')}
open('mine.html', 'w').write('<!DOCTYPE html>\n<p>mine')
tool.refused('no page of spl-report', 'a page of somebody else', 'regular.nc', '-o', 'mine.html')
tool.refused('would overwrite an input', 'the gathers themselves', 'regular.nc', '-o', 'regular.nc', '--overwrite')
tool.refused('would overwrite an input', 'the journal', path, '-o', path + '.journal', '--overwrite')
tool.refused("no component 'vz'", 'a component that was not recorded', 'regular.nc', '-o', 'bad.html', '--component', 'vz')
tool.refused('no such file', 'no file', 'nothere.nc', '-o', 'bad.html')
tool.refused('out of range', 'a watch of no seconds', 'regular.nc', '-o', 'bad.html', '--watch', '0')
claim(body('mine.html').endswith('mine') and all(open(f, 'rb').read() == b for f, b in before.items()), 'all of them are as they were')
tool.fine('--overwrite replaces the page of somebody else', 'regular.nc', '-o', 'mine.html', '--overwrite')
tool.fine('a page of its own is replaced without a word', 'regular.nc', '-o', 'mine.html')
claim(body('mine.html').startswith(page.MARK) and 'there is no journal' in body('mine.html'), 'a file without a journal has a page that says so')
open('torn.nc.journal', 'wb').write(open(path + '.journal', 'rb').read()[:-30].replace(b'deal 1003', b'deal 1033'))
os.link('regular.nc', 'torn.nc')
tool.fine('a damaged journal', 'torn.nc')
claim('damaged in line 7' in body('torn.nc.report.html'), 'the line of the damage is told')

# --- live ------------------------------------------------------------------------------------------------------------
line = line_of_shots(4, 30, 60)
for s in line[2:]:
    s['status'] = 0
make_gathers('live.nc', line, nt=60)
journal('live.nc.journal', cells(line[:2]), 4, stop='')
holder = open('live.nc.journal', 'rb+')
fcntl.flock(holder, fcntl.LOCK_EX)
watch = subprocess.Popen([sys.executable, tool.path, 'live.nc', '--watch', '1'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
seen, whole, pages = [], True, 0


def wait_for(words):
    """Looks at the page until the words stand in it; every state of it must be a whole page."""
    global whole, pages
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and watch.poll() is None:
        if os.path.exists('live.nc.report.html'):
            text = body('live.nc.report.html')
            whole, pages = whole and text.startswith(page.MARK) and text.endswith('</html>\n'), pages + 1
            if words in text:
                return text
        time.sleep(0.02)
    return ''


text = wait_for('<b>2 of 4</b>')
claim('class="state running"' in text and 'http-equiv="refresh" content="1"' in text,
      'while a job runs: running, 2 of 4, the page loads itself anew every second')
live_page = text
with netCDF4.Dataset('live.nc', 'r+') as ds:
    ds['status'][2] = 1
text = wait_for('<b>3 of 4</b>')
claim(bool(text), 'a shot that is done meanwhile is there')
with open('live.nc.journal', 'ab') as f:
    stop = b'stop 0 0 0 n7 1 2026-11-23T10:09:00Z exit=3 cause=deadline the end of the job'
    f.write(b'%08x %s\n' % (zlib.crc32(stop), stop))
holder.close()
said = watch.communicate(timeout=PATIENCE)[0]
text = body('live.nc.report.html')
claim(watch.returncode == 0 and 'class="state stopped"' in text and 'by deadline' in text and 'http-equiv="refresh"' not in text,
      f'when the job has stopped so has --watch, and the page says by what: {said.splitlines()[-1]}')
claim(whole and pages > 1 and not [n for n in os.listdir('.') if n.endswith('.tmp')], f'{pages} looks at the page found it whole each time')

# --- many shots ------------------------------------------------------------------------------------------------------
many = 10000 if ALL else 2500
make_gathers('many.nc', line_of_shots(2, 24, 125), nt=125)
one = Gathers('many.nc')
dims = dict(one._header.dimensions, shot=many)
with netCDF4.Dataset('many.nc', 'w', format='NETCDF3_64BIT_DATA') as ds:
    ds.set_fill_off()
    ds.setncatts({k: v for k, v in one.attributes.items()})
    for name, length in dims.items():
        ds.createDimension(name, length)
    synthetic.define(ds, ('pressure',))
    for name in ('checksum', 'run_checksum'):                   # of no variables: 0
        ds[name].delncattr('order')
    sx = 1000 + 12.5 * np.arange(many)
    rx = sx[:, None] - 100 - 12.5 * np.arange(24)
    rng = np.random.default_rng(517)
    ds['time'][:], ds['record'][:], ds['status'][:], ds['nrec'][:] = np.arange(125) * 0.004, 1 + np.arange(many), 1, 24
    ds['checksum'][:], ds['run_checksum'][:], ds['channel'][:] = 0, 0, np.arange(1, 25)
    for name, v in (('source_x', sx), ('source_y', 0 * sx), ('source_z', 0 * sx + 6), ('source_x_used', sx), ('source_z_used', 0 * sx + 6),
                    ('receiver_x', rx), ('receiver_y', 0 * rx), ('receiver_z', 0 * rx + 8), ('receiver_x_used', rx),
                    ('receiver_z_used', 0 * rx + 8), ('seconds', 0 * sx + 1), ('steps', 100), ('cells', 1e4), ('finished', 1.8e9)):
        ds[name][:] = v
    ds['variant'][:] = np.frombuffer(b'cpu'.ljust(80, b'\0'), 'S1')
    ds['device'][:] = np.frombuffer(b'a processor'.ljust(80, b'\0'), 'S1')
    ds['pressure'][:] = rng.standard_normal((many, 24, 125), 'f4')
synthetic.seal('many.nc')
journal('many.nc.journal', [('done', 1 + i, 1 + i % 64, 2, i // 5, 'checksum=0 ') for i in range(many)], many)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
tool.fine(f'{many} shots', 'many.nc')
now = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
size = os.path.getsize('many.nc.report.html') / 1e6
claim(spent < 0.003 * many and size < 5, f'{many} shots: {spent:.1f} s of processor time, bound {0.003 * many:g}; {size:.2f} MB, bound 5')

# --- in a browser ----------------------------------------------------------------------------------------------------
found = browser.program()
if not found:
    skip('no browser (apt-get install chromium): the page was not opened in one')
    done()
b = browser.Browser(found)
open('wrong.html', 'w').write('<!DOCTYPE html><img src="http://127.0.0.1:9/x.png"><script>console.error("bad"); nothing();</script>')
b.open('wrong.html')
claim(any('bad' in c for c in b.complaints) and any('exception' in c for c in b.complaints) and any(':9/' in r for r in b.requests),
      f'a page with errors is found out: {len(b.complaints)} complaints')
FIGURES = {'map', 'stacking', 'fold', 'offsets', 'coverage', 'amplitude', 'spectrum', 'workers', 'seconds'}
DRAWN = 'Promise.all(Array.from(document.querySelectorAll("figure img")).map(i => i.decode().then(() => i.naturalWidth > 300 && i.clientWidth > 200)))'
LEAF = 'Array.from(document.querySelectorAll(".leaf")).filter(l => l.offsetHeight > 0).map(l => l.dataset.record)'
for name in (report, 'many.nc.report.html', 'mine.html'):
    b.open(name)
    charts = set(b.value('Array.from(document.querySelectorAll("figure[id]")).map(f => f.id.replace("chart-", ""))'))
    drawn = b.value(DRAWN)
    expected = FIGURES if name != 'mine.html' else FIGURES - {'workers', 'seconds', 'spectrum'} | (charts & {'spectrum'})
    claim(charts == expected and all(drawn) and len(drawn) == len(expected), f'{name}: {len(drawn)} figures are drawn ({expected ^ charts or "all"})')
    foreign = [r for r in b.requests if not r.startswith(('file:', 'data:'))]
    claim(not b.complaints and not foreign and len([r for r in b.requests if r.startswith('file:')]) == 1,
          f'no complaint {b.complaints[:2]}, no request but the page itself {foreign[:2]}')
b.open(report)
claim(b.value('document.querySelector("h1").textContent') == HOSTILE and b.value('window.hacked') is None and
      b.value('document.querySelectorAll("table img, table script, table u, table b, h1 *").length') == 0,
      'hostile names are text, and no script of theirs runs')
links = b.value('Array.from(document.querySelectorAll("#files a")).map(a => a.href)')
there = [os.path.exists(urllib.parse.unquote(urllib.parse.urlparse(a).path)) for a in links]
claim(len(links) >= 3 and all(there) and any('k%3Cb%3E.map' in a for a in links), f'{len(links)} links lead to files that are there, the key-map among them')
first = b.value(LEAF)
b.value('document.querySelector(".after").click()')
second = b.value(LEAF)
b.key('ArrowRight')
third = b.value(LEAF)
b.key('ArrowLeft')
back = b.value(LEAF)
claim([first, second, third, back] == [['1001'], ['1002'], ['1003'], ['1002']],
      f'gathers are leafed through by button and key: {first} {second} {third} {back}')
b.value('(function () { var s = document.querySelector("select.record"); s.value = "1008"; s.dispatchEvent(new Event("change")); })()')
claim(b.value(LEAF) == ['1008'] and b.value('document.querySelector("#gathers input").value') == '7', 'and by record')
b.value('(function () { var s = document.querySelector("#gathers input"); s.value = 9; s.dispatchEvent(new Event("input")); })()')
slid = b.value(LEAF)
b.open(report)
claim(slid == b.value(LEAF) == ['1011'], f'the slider turns to {slid} (damaged shots have no leaf), which is shown again after a reload')
b.value('document.querySelectorAll("details").forEach(d => { d.open = true; })')
claim("it''s #1" in b.value('document.querySelector("#parameters").innerText'), 'all parameters are there, quotes and # in values too')
with open('stale.html', 'w') as f:
    f.write(re.sub('content="1">', 'content="1000">', live_page, count=1))
b.open('stale.html')
fresh = b.value('document.getElementById("stale").hidden')
with open('stale.html', 'w') as f:
    f.write(re.sub(r'data-written="\d+"', 'data-written="1000"', re.sub('content="1">', 'content="1000">', live_page, count=1)))
b.open('stale.html')
claim(b.value('document.getElementById("stale").offsetHeight') > 0, f'a live page that nobody rewrites any more says so (a fresh one: {fresh})')
b.close()
done()
