"""spl-merge: outputs of one survey, made by several jobs or at several sites, become one."""
import os

import numpy as np

from spltools import cli
from spltools.gathers import slots
from spltools.gathers.gathers import VARIABLES

ABOUT = """Joins the outputs of one survey, each with some of its shots, to one output.

  spl-merge north.nc south.nc -o survey.nc

All must be of the same model and parameters (their fingerprints tell), of the same map, and a shot that is finished in several of
them must be the same in all, bit for bit. Each finished shot is compared with its checksums before it is taken. Journals beside
the inputs are heeded, but need not be there: of a file alone the shots count that it calls done. Shots that no input has finished
are to do: the programs go on with the new output and its journal under a key-map of all shots, as if one run had made them.
The inputs stay as they are, and so do snapshots beside them. spl-split is the way back."""


def main(words):
    p = cli.Parser(prog='spl-merge', description=ABOUT)
    p.add_argument('files', nargs='+', metavar='FILE', help='outputs of the survey')
    p.add_argument('-o', '--output', required=True, metavar='OUT', help='the new output; OUT.journal is made beside it')
    a = p.parse_args(words)
    if len(a.files) < 2:
        cli.fail(f'there is one file, {a.files[0]}: give two or more to join')
    inputs = [slots.Input(path) for path in a.files]
    cli.check_output(a.output, None)                           # before shots are compared, which takes long
    for one in inputs[1:]:
        check_same(inputs[0], one)
    output = join(a.output, inputs)
    slots.check_new(output, inputs)
    slots.write([output])
    left = output.done.count(False)
    cli.say(f'{a.output}: {cli.counted(len(output.records), "shot")} of {len(inputs)} files, {len(output.records) - left} done, '
            f'{left} to do')
    if len(variants(output)) > 1:
        cli.say(f'variants differ, which agree to 1e-5, not bit for bit: shots are by {", ".join(variants(output))}, as the '
                'variable variant tells of each')
    films = [one.path for one in inputs if has_films(one.path)]
    if films:
        cli.say(f'snapshots stay beside {", ".join(films)}: they have the names of these')


def check_same(first, one):
    """Fails where two files cannot be of one survey."""
    a, b = first.file, one.file
    names = f'{one.path} is not of the survey of {first.path}: '
    if first.physics() != one.physics():
        mine, theirs = a.parameters(), b.parameters()
        other = [f'{n} = {theirs.get(n, "not given")} there, {mine.get(n, "not given")} here' for n in sorted({*mine, *theirs})
                 if mine.get(n) != theirs.get(n) and n not in ('output', 'keymap')]
        cli.fail(names + 'its model or parameters are others' + (f' ({"; ".join(other[:4])})' if other else
                 ' (all parameters are the same: then a file that they name, or the program)'))
    if set(first.header.variables) != set(one.header.variables) or first.file.nt != one.file.nt:
        odd = set(first.header.variables) ^ set(one.header.variables)
        navigation = 'source_easting' in odd
        cli.fail(names + ('only one of them has navigation: model with key-maps that have it both or neither' if navigation else
                          f'their variables differ ({", ".join(sorted(odd)) or "time"})'))
    for name in ('navigation_crs', 'navigation_rule'):
        if a.attributes.get(name) != b.attributes.get(name):
            cli.fail(f"{names}{name} is '{b.attributes.get(name)}', there it is '{a.attributes.get(name)}'")


def join(path, inputs):
    at = {}
    for one in inputs:
        for slot, record in enumerate(map(int, one.file.record)):
            before = at.get(record)
            if slot not in one.done:
                at.setdefault(record, None)
            elif not before:
                at[record] = (one, slot)
            else:
                check_equal(before, (one, slot), record)
    records = sorted(at)
    output = slots.Output(path, inputs[0], records, [at[r] for r in records])
    for one in inputs:
        output.lines += [name for name in one.file.lines if name and name not in output.lines]
        output.nrec_max = max(output.nrec_max, one.file.nrec_max)
        for name, value in one.file.attributes.items():
            if name.startswith('ignored_'):
                output.attributes[name] = np.maximum(output.attributes.get(name, value), value)
    output.name(slots.keymap_hash(output.chosen, records), whole_again(inputs, records))
    maps = {one.file.attributes.get('navigation_hash') for one in inputs}
    if len(maps) > 1:
        output.attributes['navigation_hash'] = output.attributes['keymap_hash']
    programs = sorted({str(i.file.attributes.get('source')) for i in inputs})
    output.tell(f'merged from {len(inputs)} files, by {", ".join(programs)}, variants {", ".join(variants(output))}')
    return output


def variants(output):
    """Names of those that computed its shots."""
    return sorted({one.file.words('variant', slot) for one, slot in filter(None, output.chosen)})


def whole_again(inputs, records):
    """The fingerprint of the file that was split into these, if they are all of it; else None."""
    came = [one.file.attributes for one in inputs]
    fingerprint = came[0].get('split_from')
    if not fingerprint or any(c.get('split_from') != fingerprint for c in came) or len(records) != int(came[0]['split_shots'][0]):
        return None
    return fingerprint


def check_equal(one, other, record):
    """Fails where a shot that two files have finished is not the same."""
    (a, i), (b, j) = one, other
    n = int(a.file.nrec[i])
    both = f'shot record {record} is finished in {a.path} and in {b.path} with other '
    cure = 'leave it out of one of them (spl-split --without), or give one of them'
    if n != int(b.file.nrec[j]):
        cli.fail(f'{both}receivers, {n} and {int(b.file.nrec[j])}: {cure}')
    for name in a.header.variables['checksum'].attributes['order'].split():
        x, y = a.raw(name, i), b.raw(name, j)
        if 'receiver' in a.header.variables[name].dims:
            x, y = x[:n], y[:n]
        if name in ('source_line', 'receiver_line'):
            x, y = (np.array([f.line(k) for k in np.atleast_1d(numbers)]) for f, numbers in ((a, x), (b, y)))
            same = np.array_equal(x, y)
        else:
            same = x.tobytes() == y.tobytes()
        if not same:
            what = 'traces' if name in VARIABLES.values() else name
            cli.fail(f'{both}{what}: {cure}')


def has_films(path):
    folder, name = os.path.split(path)
    return any(f.startswith(name + '.snap') and f.endswith('.nc') for f in os.listdir(folder or '.'))
