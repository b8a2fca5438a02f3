#!/usr/bin/env python3
"""Every command of the README runs as printed, and its survey comes out at the navigation's coordinates; every link leads somewhere.

The commands come from the text of README.md, and so does what Open MPI is told, of which a newcomer has nothing else. Targets of make
are looked up in the Makefile instead: CI and other tests run them.
"""
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import segyio

sys.path[:0] = [os.path.join(os.environ['ROOT'], 'tests', 'support'), os.path.join(os.environ['ROOT'], 'tools')]
from check import claim, done  # noqa: E402
from spltools import cli  # noqa: E402

ROOT = Path(os.environ['ROOT'])
B = Path(os.environ['B'])
F = segyio.TraceField
README = (ROOT / 'README.md').read_text()


def blocks(text):
    """The indented blocks, without their indentation."""
    return [re.sub(r'^    ', '', block, flags=re.M) for block in re.findall(r'(?<=\n\n)((?:    .*\n)+)', text)]


def commands(block):
    """The commands of a block: a line each, or several where a quotation goes on."""
    whole = ''
    for line in block.splitlines():
        whole += line
        if re.sub(r'#.*', '', whole).count('"') % 2 == 0:
            yield whole
            whole = ''
        else:
            whole += '\n'


def p190():
    """{shot point: (source, {group: position})} of the README's navigation, easting and northing in metres."""
    survey = {}
    for line in (ROOT / 'keymaps/line7a.p190').read_text().splitlines():
        if line[0] == 'S':
            groups = {}
            survey[int(line[19:25])] = (float(line[46:55]), float(line[55:64])), groups
        for start in (1, 27, 53) if line[0] == 'R' else ():
            if line[start : start + 4].strip():
                groups[int(line[start : start + 4])] = float(line[start + 4 : start + 13]), float(line[start + 13 : start + 22])
    return survey


for folder in ('inputs', 'keymaps', 'tools'):
    os.symlink(ROOT / folder, folder)
path = os.pathsep.join([str(B / 'bin'), str(ROOT / 'tools'), str(Path(sys.executable).parent), os.environ['PATH']])
told = dict(word.split('=') for word in re.search(r'`export (OMPI_[^`]+)`', README)[1].split())
newcomer = {**{k: v for k, v in os.environ.items() if not k.startswith(('OMPI_', 'PRTE_'))}, **told, 'PATH': path}
targets = set(re.findall(r'^([a-z0-9-]+):', (ROOT / 'Makefile').read_text(), re.M))
ran = 0
for block in blocks(README):
    for command in commands(block):
        if command.startswith('make '):
            claim(command.split()[1] in targets, f'the Makefile has what the README says: {command.split("  ")[0]}')
            continue
        r = subprocess.run(['bash', '-c', command], env=newcomer, capture_output=True, text=True)
        ran += 1
        claim(r.returncode == 0, f'{command.split("#")[0].strip()[:100]}' + (f': {r.stderr[-300:]}' if r.returncode else ''))
claim(ran == 10, f'the README has ten commands beside those of make: {ran}')

navigation = p190()
worst, seen = 0, set()
with segyio.open('line7a.segy', ignore_geometry=True) as f:
    for h in f.header:
        scalar = h[F.SourceGroupScalar]
        scale = -1 / scalar if scalar < 0 else max(1, scalar)
        point = h[F.ShotPoint] or h[F.EnergySourcePoint]
        source, groups = navigation[point]
        at = [h[k] * scale for k in (F.SourceX, F.SourceY, F.GroupX, F.GroupY)]
        worst = max(worst, *(abs(a - b) for a, b in zip(at, [*source, *groups[h[F.TraceNumber]]])))
        seen.add((point, h[F.TraceNumber]))
claim(len(seen) == sum(len(g) for _, g in navigation.values()) == 480, f'{len(seen)} traces, one for each group of the navigation')
claim(worst <= 0.01, f'eastings and northings of SEG-Y are those of the navigation, within {worst:.3f} m')

for page in sorted(p for p in ROOT.rglob('*.md') if p.relative_to(ROOT).parts[0] not in ('build', 'shared')):
    bad = []
    for link in re.findall(r'\]\(([^)\s]+)\)', page.read_text()):
        target, _, anchor = link.partition('#')
        if '://' in link:
            continue
        file = page if not target else page.parent / target
        heads = re.findall(r'^#+ (.*)', file.read_text(), re.M) if file.suffix == '.md' and file.exists() else []
        if not file.exists() or (anchor and anchor not in [re.sub(r'[^\w -]', '', h.lower()).replace(' ', '-') for h in heads]):
            bad.append(link)
    claim(bad == [], f'links of {page.relative_to(ROOT)}' + (f' that lead nowhere: {bad}' if bad else ''))
# --- commands of tools in all pages: understood, not run ------------------------------------------------------------------------------


class Understood(BaseException):
    pass


def understand(self, *words, parse=cli.Parser.parse_args):
    parse(self, *words)
    raise Understood


cli.Parser.parse_args = understand
whole = 0
for page in sorted(p for p in ROOT.rglob('*.md') if p.relative_to(ROOT).parts[0] not in ('build', 'shared')):
    text = page.read_text().replace('\\\n', ' ')
    for command in re.findall(r'^    (spl-[a-z]+ .*)$', text, re.M) + re.findall(r'`(spl-[a-z]+ [^`]+ [^`]+)`', text):
        words = shlex.split(re.split(r'\s#\s|[>|;]|&&', command)[0])
        if '...' in command:
            continue
        program = re.search(r"run\('(.*?)'\)", (ROOT / 'tools' / words[0]).read_text())[1]
        try:
            importlib.import_module(program).main(words[1:])
        except (Understood, SystemExit):
            whole += 1
        except cli.Failure as failure:
            claim('are required' in str(failure), f'{page.relative_to(ROOT)}: {" ".join(words)}: {failure}')
claim(whole > 25, f'{whole} commands of tools in all pages are understood')
done()
