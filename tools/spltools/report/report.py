"""spl-report: a survey on one HTML page, once or again and again while it is modelled."""
import glob
import os
import time

import numpy as np

from spltools import cli
from spltools.gathers.gathers import DONE, Gathers, PARKED, TODO
from spltools.plot import figures
from spltools.report import charts, coverage, page, panels, quality, standing

ABOUT = """Writes one HTML page that holds all it shows: map of shots and receivers, coverage, fold and offsets, amplitude and
spectrum of each shot, gathers to leaf through, timing by worker and device, parked shots and why, the resolved
parameters, links to the files. It needs no network and no other file. For 2D, 3D and meshes, whether the survey is complete
or not.

  spl-report survey.nc
  spl-report survey.nc --watch 60        # rewritten every minute until the job ends

Every sample of every shot done is read, once, and compared with its checksum. With --watch the page in the browser
loads itself anew. A page that spl-report made is replaced; any other file is left alone."""
SHOWN = ('source', 'wavelet', 'model', 'source_term', 'time_zero')     # attributes shown first
COMPONENTS_MOST = 3


class Report:
    """All that the page shows: name, title, state, words, warnings, cards, total, done, parked {record: why}, geometry, quality and
    timing (charts), outliers, leaves and every_leaf, workers, parameters, attributes, files [(what, path, is there)], live, every,
    written, seconds, page."""


class Still(Gathers):
    """A file as it was when it was opened: a running job adds shots, which would be done here and not yet there."""

    def __init__(self, path):
        self._still = None
        super().__init__(path)
        status = self._numbers('status')
        self._still = np.where((status == DONE) | (status == PARKED), status, TODO)     # of a slot not written yet it is anything
        self._receivers = self._numbers('nrec')         # after the status, which is written last

    @property
    def status(self):
        return self._still

    @property
    def nrec(self):
        return self._receivers


def main(words):
    a = parse(words)
    a.output = a.file + '.report.html' if a.output is None else a.output
    figures.load()
    survey = quality.Survey()
    if a.watch is None:
        check_page(a)
        write(a, survey, live=False)
        cli.say(told(a))
        return 0
    return watch(a, survey)


def parse(words):
    p = cli.Parser(prog='spl-report', description=ABOUT)
    p.add_argument('file', help='file of gathers')
    p.add_argument('-o', '--output', metavar='PAGE', help='page to write (default: FILE.report.html)')
    p.add_argument('--overwrite', action='store_true', help='replace PAGE even if spl-report did not make it')
    p.add_argument('--component', metavar='NAME', help='of amplitudes and spectra (default: p, or vz, or the first recorded)')
    p.add_argument('--watch', nargs='?', const=30.0, type=cli.number(1, 86400, 's'), metavar='SECONDS',
                   help='write the page again every SECONDS (default 30) until the job has ended')
    return p.parse_args(words)


def check_page(a):
    """Fails where the page may not be written: no file of others is replaced."""
    cli.inputs.update([a.file, *beside(a.file)])
    if os.path.isfile(a.output) and not a.overwrite:
        with open(a.output, 'rb') as f:
            if f.read(len(page.MARK)) != page.MARK.encode():
                cli.fail(f'{a.output} exists already and is no page of spl-report; give another name, or --overwrite')
    cli.check_output(a.output, True)


def beside(path):
    """Files of the job, which the page must not replace."""
    return [path + ending for ending in ('.journal', '.log', '.par', '.lock')]


def watch(a, survey):
    """Rewrites the page until no job has the output."""
    check_page(a)
    if not os.path.exists(a.file):
        cli.warn(f'{a.file} is not there yet: the page begins when it is')
    while not os.path.exists(a.file):
        if not os.path.isdir(os.path.dirname(a.file) or '.'):
            cli.fail(f'{a.file}: no such folder; check the name')
        time.sleep(min(1.0, a.watch))
    first = True
    try:
        while True:
            begin = time.monotonic()
            live = standing.Standing(a.file).running
            check_page(a)
            write(a, survey, live)
            if first or not live:
                cli.say(told(a) + (f', rewritten every {a.watch:g} s' if live else ''))
            if not live:
                return 0
            first = False
            time.sleep(max(0.0, a.watch - (time.monotonic() - begin)))
    except KeyboardInterrupt as stop:
        by, status = cli.stopped_by(stop)
        cli.warn(f'stopped by {by}; {a.output} stays as it was written last')
        return status


def told(a):
    return f'{a.output}: {page.size_words(a.output)}'


def write(a, survey, live):
    begin = time.monotonic()
    r = look(a, survey)
    r.live, r.every, r.written, r.page = live, a.watch or 0.0, time.time(), a.output
    r.seconds = time.monotonic() - begin
    with cli.new_file(a.output, overwrite=True) as name:
        with open(name, 'w', encoding='utf-8', errors='replace') as f:
            f.write(page.html(r))


# --- what is shown ---------------------------------------------------------------------------------------------------

def look(a, survey):
    file, s, r = Still(a.file), standing.Standing(a.file), Report()
    component = component_of(file, a.component)
    status = file.status
    r.file_path = a.file
    r.name, r.title = page.shown_path(os.path.basename(a.file)), file.text('title', 'Shot gathers')
    r.total, r.done = file.nshots, int((status == DONE).sum())
    r.parked = dict(sorted(s.parked.items()))
    for record in coverage.tally(file)[1]:
        if not s.events:
            r.parked.setdefault(record, 'the journal is not there to say why')
    r.state, r.words = s.words(r.done, r.total)
    r.warnings = [s.damage] if s.damage else []
    r.folder = next((run.folder for run in reversed(s.runs) if os.path.isdir(run.folder)), os.path.dirname(os.path.abspath(a.file)))
    qualities = survey.look(file, component)
    r.outliers = quality.stand_out(file, qualities)
    damaged = sum(1 for q in qualities.values() if q.fault)
    if damaged:
        r.warnings.append(f'{damaged} of the shots done {"is" if damaged == 1 else "are"} damaged, see below; '
                          'the next run models them again')
    map_shots, note = (survey.map_shots(lambda: coverage.planned(found(r, file.text('keymap')))) if r.done < r.total else ({}, ''))
    r.geometry = charts.geometry(coverage.look(file, map_shots, note))
    r.quality = charts.amplitude(file, qualities, component)
    whole = [slot for slot, q in qualities.items() if not q.fault]
    names = [component] + [c for c in file.components if c != component and c[0] in 'pv']
    r.leaves, r.every_leaf = panels.leaves(file, whole, names[:COMPONENTS_MOST])
    r.timing, r.workers = charts.timing(file, s), list(worker_rows(file, s))
    r.parameters = str(file.attributes.get('parameters', ''))
    r.attributes = [(n, file.text(n)) for n in sorted(file.attributes, key=lambda n: (n not in SHOWN, n)) if n != 'parameters']
    r.cards = cards(file, r, s)
    r.files = list(files(a.file, r, file))
    return r


def component_of(file, wanted):
    if wanted and wanted not in file.components:
        cli.fail(f"{file.path} has no component '{wanted}'; it has {', '.join(file.components)}")
    return wanted or next((c for c in ('p', 'vz') if c in file.components), file.components[0])


def cards(file, r, s):
    yield f'{r.done:,} of {r.total:,}', 'shots done'
    if r.parked:
        yield f'{len(r.parked):,}', 'parked'
    if s.running:
        yield f'{len(s.dealt()):,}', 'with workers now'
    yield f'{int(file.nrec[file.status == DONE].sum()):,}', 'traces done'
    yield ', '.join(file.components), 'recorded'
    yield f'{file.nt:,} × {file.dt * 1000:.6g} ms', 'samples of a trace'
    yield page.size_words(file.path), 'output'
    if s.runs:
        yield standing.span(sum(max(0.0, run.end - run.begin) for run in s.runs)), \
            f'of {len(s.runs)} run{"s" * (len(s.runs) > 1)}, begun {standing.text(s.runs[0].begin)}'
        ranks = s.runs[-1].ranks
        yield f'{ranks or "?"}', f'rank{"s" * (ranks != "1")} in the last run, on {s.runs[-1].host}'


def worker_rows(file, s):
    """A row a worker, host and device."""
    at = {int(record): slot for slot, record in enumerate(file.record)}
    seconds, steps, cells = (file.numbers(n) for n in ('seconds', 'steps', 'cells'))
    rows, lost, status = {}, {}, file.status
    for e in s.events:
        slot = at.get(e.record)
        if e.event == 'lost':
            lost[e.worker, e.host] = lost.get((e.worker, e.host), 0) + 1
        if e.event == 'done' and slot is not None and status[slot] == DONE:
            key = e.worker, e.host, charts.device_of(file, slot), file.words('variant', slot)
            speed = steps[slot] * cells[slot] / seconds[slot] / 1e6 if seconds[slot] > 0 else 0.0
            rows.setdefault(key, []).append((e.seconds, speed))
    for key in lost:
        if not any(k[:2] == key for k in rows):
            rows[(*key, '', '')] = []
    for key, of in sorted(rows.items()):
        t, v = np.array(of).T if of else (np.zeros(0), np.zeros(0))
        times = [f'{x:.4g}' for x in (t.mean(), t.min(), t.max(), v.mean())] if of else [''] * 4
        yield (*key, len(of), lost.pop(key[:2], 0), *times)


def found(r, name):
    """The path of a file that the job names: from where it ran, or from where the output is. None if it is not there."""
    for folder in (r.folder, os.path.dirname(os.path.abspath(r.file_path))) if name else ():
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def files(output, r, file):
    yield 'gathers', output, True
    for what, ending in (('journal', '.journal'), ('resolved parameters', '.par'), ('log', '.log')):
        yield what, output + ending, os.path.exists(output + ending)
    for what, ending in (('lock of the job', '.lock'), ('states of shots in flight', '.states')):
        if os.path.exists(output + ending):
            yield what, output + ending, True
    films = sorted(glob.glob(glob.escape(output) + '.snap*.nc'))
    for path in films[:100]:
        yield 'snapshots', path, True
    seen = set()
    for name, value in file.parameters().items():
        path = found(r, value) if name != 'output' else None
        if path and os.path.realpath(path) not in seen:
            seen.add(os.path.realpath(path))
            yield name, path, True
