"""The page: HTML that needs no other file and no network. Whatever comes from files is escaped, and the page allows no script but
its own: what a name could bring in would not run."""
import base64
import hashlib
import os
import re
import time
from html import escape
from urllib.parse import quote

MARK = '<!DOCTYPE html>\n<!-- spl-report page 1 -->\n'
STYLE = """
:root { --ink: #16232e; --soft: #5b6b78; --line: #d9e0e5; --done: #0b6e4f; --bad: #c8102e; --run: #b86e00 }
body { font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); margin: 0 auto;
  max-width: 1580px; padding: 0 20px 60px; background: #f6f8f9 } header { padding: 22px 0 8px }
h1 { font-size: 25px; margin: 0; overflow-wrap: anywhere } h1 + p { margin: 4px 0; color: var(--soft) }
h2 { font-size: 19px; margin: 34px 0 10px; border-bottom: 2px solid var(--line); padding-bottom: 4px }
nav a { margin-right: 14px; color: #1d5c99 } .state { font-weight: 700 } .complete { color: var(--done) }
.running { color: var(--run) } .parked, .killed, .stopped, .unknown, .warn { color: var(--bad) }
.cards { display: flex; flex-wrap: wrap; gap: 10px; margin: 14px 0 }
.cards div { background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 8px 14px }
.cards b { display: block; font-size: 19px } .cards span { color: var(--soft); font-size: 13px }
.bar { height: 10px; background: #e3e8ec; border-radius: 5px; overflow: hidden; display: flex }
.bar i { background: var(--done) } .bar i + i { background: var(--bad) }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); gap: 16px }
figure { margin: 0; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: 10px 14px }
figure img { width: 100%; height: auto } figure h3 { margin: 0 0 4px; font-size: 15px }
figcaption { color: var(--soft); font-size: 13px } table { border-collapse: collapse; background: #fff; font-size: 13.5px }
th { text-align: left; background: #eef2f5 }
th, td { border: 1px solid var(--line); padding: 3px 9px; vertical-align: top; overflow-wrap: break-word; max-width: 46em }
td.r { text-align: right; white-space: nowrap } .wide { overflow-x: auto }
tr.changed td { background: #fff8e6; font-weight: 600 } summary { cursor: pointer; margin: 8px 0 }
#gathers .tools { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 8px }
#gathers input[type=range] { flex: 1; min-width: 160px; max-width: 600px } .leaf { max-width: 900px; margin-bottom: 12px }
.one .leaf { display: none } .one .leaf.shown { display: block } svg { width: 100%; height: auto; display: block }
svg text { font: 13px "DejaVu Sans", sans-serif; fill: var(--ink) } svg .t { font-weight: 700 }
svg .n { fill: var(--soft); font-size: 12px } svg .f { fill: none; stroke: #333; stroke-width: 0.8 }
svg .w { fill: none; stroke: #111; stroke-width: 0.9 }
"""
SCRIPT = """'use strict';
(function () {
  var box = document.getElementById('gathers'), stale = document.getElementById('stale');
  function recall(key) { try { return sessionStorage.getItem(key); } catch (e) { return null; } }
  function keep(key, value) { try { sessionStorage.setItem(key, value); } catch (e) { /* a browser that keeps nothing */ } }
  if (stale) {
    var limit = 1000 * (3 * Number(stale.dataset.every) + 30);
    var look = function () { stale.hidden = Date.now() - 1000 * Number(stale.dataset.written) < limit; };
    look();
    setInterval(look, 5000);
  }
  if (!box || !box.querySelector('.leaf')) { return; }
  var leaves = Array.prototype.slice.call(box.querySelectorAll('.leaf'));
  var slider = box.querySelector('input'), records = box.querySelector('.record'), component = box.querySelector('.component');
  var told = box.querySelector('.told'), shown = [], at = 0, name = location.pathname;
  function show(i) {
    at = Math.max(0, Math.min(shown.length - 1, i));
    leaves.forEach(function (leaf) { leaf.classList.toggle('shown', leaf === shown[at]); });
    slider.value = at;
    records.value = shown[at].dataset.record;
    told.textContent = (at + 1) + ' of ' + shown.length;
    keep(name + ' record', records.value);
  }
  function choose() {
    var record = records.value || recall(name + ' record');
    shown = leaves.filter(function (leaf) { return !component || leaf.dataset.component === component.value; });
    slider.max = shown.length - 1;
    if (component) { keep(name + ' component', component.value); }
    show(Math.max(0, shown.findIndex(function (leaf) { return leaf.dataset.record === record; })));
  }
  function turn(by) { return function () { show(at + by); }; }
  box.querySelector('.tools').hidden = false;
  box.classList.add('one');
  box.querySelector('.before').addEventListener('click', turn(-1));
  box.querySelector('.after').addEventListener('click', turn(1));
  slider.addEventListener('input', function () { show(Number(slider.value)); });
  records.addEventListener('change', choose);
  document.addEventListener('keydown', function (e) {
    if (e.target.closest('input, select') || e.altKey || e.ctrlKey || e.metaKey) { return; }
    if (e.key === 'ArrowLeft') { show(at - 1); }
    if (e.key === 'ArrowRight') { show(at + 1); }
  });
  if (component) {
    if (Array.prototype.some.call(component.options, function (o) { return o.value === recall(name + ' component'); })) {
      component.value = recall(name + ' component');
    }
    component.addEventListener('change', choose);
  }
  var last = recall(name + ' record');
  records.value = leaves.some(function (leaf) { return leaf.dataset.record === last; }) ? last : leaves[0].dataset.record;
  choose();
}());
"""
PARAMETER = re.compile(r"\s*(\w+)\s*=\s*('(?:[^']|'')*'|\"[^\"]*\"|[^#]*?)\s*(?:#\s*(.*?)(?:;\s*(.*))?)?$")


def html(r):
    """The whole page of a report.Report."""
    parts = [head(r), section('survey', 'Geometry', charts(r.geometry)),
             section('quality', 'Quality by shot', outliers(r) + charts(r.quality)), gathers(r),
             section('timing', 'Timing', workers(r) + charts(r.timing)), parked(r), parameters(r), files(r)]
    told = f'<footer><p>Written {escape(stamp(r.written))} by spl-report in {r.seconds:.1f} s.</p></footer>'
    return ''.join([MARK, '<html lang="en">\n<head>\n', meta(r), '</head>\n<body>\n', *parts, told,
                    f'<script>{SCRIPT}</script>\n</body>\n</html>\n'])


def meta(r):
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    again = f'<meta http-equiv="refresh" content="{r.every:g}">\n' if r.live else ''
    return (f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n{again}'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
            f'<title>{escape(r.state)}: {escape(r.name)}</title>\n<style>{STYLE}</style>\n')


def stamp(seconds):
    return time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds)) + ' UTC'


def section(name, title, body):
    return f'<section id="{name}">\n<h2>{title}</h2>\n{body or "<p>Nothing yet: no shot is done.</p>"}\n</section>\n'


def head(r):
    cards = ''.join(f'<div><b>{escape(value)}</b><span>{escape(what)}</span></div>' for value, what in r.cards)
    live = (f'<p id="stale" class="warn" data-every="{r.every:g}" data-written="{r.written:.0f}" hidden>This page is no '
            'longer rewritten: spl-report --watch has ended.</p>') if r.live else ''
    warnings = ''.join(f'<p class="warn">{escape(w)}</p>' for w in r.warnings)
    done, bad = (100 * n / max(1, r.total) for n in (r.done, len(r.parked)))
    names = (('survey', 'Geometry'), ('quality', 'Quality'), ('gathers', 'Gathers'), ('timing', 'Timing'),
             ('parked', 'Parked shots'), ('parameters', 'Parameters'), ('files', 'Files'))
    links = ''.join(f'<a href="#{a}">{b}</a>' for a, b in names)
    return (f'<header><h1>{escape(r.name)}</h1><p>{escape(r.title)}</p>'
            f'<p><span class="state {escape(r.state)}">{escape(r.state)}</span>: {escape(r.words)}</p>{live}{warnings}'
            f'<div class="bar"><i style="width:{done:.2f}%"></i><i style="width:{bad:.2f}%"></i></div>'
            f'<div class="cards">{cards}</div><nav>{links}</nav></header>\n')


def charts(found):
    if not found:
        return ''
    one = ''.join(f'<figure id="chart-{c.name}"><h3>{escape(c.title)}</h3><img src="{c.image}" alt="{escape(c.title)}">'
                  f'<figcaption>{escape(c.caption)}</figcaption></figure>\n' for c in found)
    return f'<div class="figures">{one}</div>'


def table(names, rows, numbers=()):
    """Cells are text, escaped here; `numbers`: columns set to the right."""
    top = ''.join(f'<th>{escape(n)}</th>' for n in names)
    body = ''.join('<tr>' + ''.join(f'<td{right(i in numbers)}>{escape(str(v))}</td>' for i, v in enumerate(row)) + '</tr>\n'
                   for row in rows)
    return f'<div class="wide"><table><tr>{top}</tr>\n{body}</table></div>'


def right(yes):
    return ' class="r"' if yes else ''


def outliers(r):
    if not r.quality:
        return ''
    if not r.outliers:
        return '<p>No shot stands out: all are whole, no trace is silent, amplitudes and spectra are alike.</p>'
    most = 20
    more = f'<p>and {len(r.outliers) - most} more</p>' if len(r.outliers) > most else ''
    return (f'<p>{len(r.outliers)} of the shots stand{"s" * (len(r.outliers) == 1)} out:</p>'
            + table(('record', 'how'), r.outliers[:most], (0,)) + more + '<p></p>')


def gathers(r):
    if not r.leaves:
        return section('gathers', 'Gathers', '')
    names = list(dict.fromkeys(one.component for one in r.leaves))
    records = list(dict.fromkeys(one.record for one in r.leaves))
    component = ('<label>component <select class="component">' + ''.join(f'<option>{escape(n)}</option>' for n in names)
                 + '</select></label>') if len(names) > 1 else ''
    tools = ('<div class="tools" hidden><button class="before" type="button">◀ before</button>'
             '<button class="after" type="button">next ▶</button>'
             '<input type="range" min="0" max="0" value="0" aria-label="gather"><label>record <select class="record">'
             + ''.join(f'<option>{n}</option>' for n in records) + f'</select></label>{component}<span class="told"></span></div>')
    body = ''.join(f'<figure class="leaf" data-record="{one.record}" data-component="{escape(one.component)}">{one.svg}</figure>\n'
                   for one in r.leaves)
    text = f'One in {r.every_leaf} of the shots done. ' if r.every_leaf > 1 else ''
    return section('gathers', 'Gathers', f'<p>{text}Arrow keys turn the leaves.</p>{tools}{body}')


def workers(r):
    if not r.workers:
        return ''
    names = ('worker', 'host', 'device', 'variant', 'shots', 'lost', 'mean time [s]', 'least', 'most', 'Mcell·steps/s')
    return table(names, r.workers, range(4, 10)) + '<p></p>'


def parked(r):
    if not r.parked:
        return section('parked', 'Parked shots', '<p>None.</p>')
    most = 500
    rows = list(r.parked.items())
    more = f'<p>and {len(rows) - most} more</p>' if len(rows) > most else ''
    return section('parked', 'Parked shots', f'<p>Lost too often and given up ({len(rows)}); the next run deals them again.</p>'
                   + table(('record', 'why'), rows[:most], (0,)) + more)


def parameters(r):
    rows, given = [], []
    for line in r.parameters.splitlines():
        m = PARAMETER.match(line)
        if not m:
            if line.startswith('# ') and ';' not in line:
                rows.append(f'<tr><th colspan="4">{escape(line[2:])}</th></tr>\n')
            continue
        name, value, origin, meaning = (w or '' for w in m.groups())
        changed = origin not in ('', 'default')
        cells = ''.join(f'<td>{escape(w)}</td>' for w in (name, value, meaning, origin))
        rows.append(f'<tr class="changed">{cells}</tr>\n' if changed else f'<tr>{cells}</tr>\n')
        if changed:
            given.append((name, value, meaning, origin))
    names = ('name', 'value', 'meaning', 'origin')
    top = ''.join(f'<th>{n}</th>' for n in names)
    body = table(names, given) if given else '<p>All are defaults.</p>'
    body += ('<details><summary>All parameters as they were resolved</summary><div class="wide">'
             f'<table><tr>{top}</tr>\n{"".join(rows)}</table></div></details>'
             '<details><summary>What the file says of itself</summary>'
             + table(('attribute', 'value'), r.attributes) + '</details>')
    return section('parameters', 'Parameters', '<p>Those that were given:</p>' + body if given else body)


def files(r):
    rows = ''
    for what, path, there in r.files:
        near = os.path.relpath(path, os.path.dirname(os.path.abspath(r.page)))
        shown = escape(shown_path(path if near.startswith('../..') else near))
        link = f'<a href="{escape(relative(path, r.page))}">{shown}</a>' if there else f'{shown} (not there)'
        rows += (f'<tr><td>{escape(what)}</td><td>{link}</td><td class="r">{size_words(path) if there else ""}</td>'
                 f'<td>{stamp(os.path.getmtime(path)) if there else ""}</td></tr>\n')
    return section('files', 'Files', '<div class="wide"><table><tr><th>what</th><th>file</th><th>size</th><th>changed</th></tr>\n'
                   f'{rows}</table></div>')


def shown_path(path):
    """Text of a path, bytes that are no UTF-8 included."""
    return os.fsencode(path).decode('utf-8', 'replace')


def relative(path, page):
    """A link from the page to a file."""
    return quote(os.fsencode(os.path.relpath(path, os.path.dirname(os.path.abspath(page)))), safe="/") if path else ''


def size_words(path):
    if os.path.isdir(path):
        return 'folder'
    n = float(os.path.getsize(path))
    for unit in ('bytes', 'kB', 'MB', 'GB'):
        if n < 1000:
            break
        n /= 1000
    else:
        unit = 'TB'
    return f'{n:.3g} {unit}' if n < 1000 else f'{n:.0f} {unit}'
