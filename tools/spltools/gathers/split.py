"""spl-split: some shots of an output become an output of their own."""
import os

import numpy as np

from spltools import cli
from spltools.gathers import slots

ABOUT = """Makes outputs of some shots of an output, each with its journal.

  spl-split survey.nc --records 101-200,305 -o part.nc
  spl-split survey.nc --without 117 -o rest.nc
  spl-split survey.nc --parts 4 -o part.nc                 # part1.nc ... part4.nc, as many shots each

Shots that are not done stay to do. Each finished shot is compared with its checksums before it is taken. The file stays as it is,
and so do snapshots beside it. spl-merge joins parts again; of all parts of a file it makes that file."""


def main(words):
    p = cli.Parser(prog='spl-split', description=ABOUT)
    p.add_argument('file', help='output of a survey')
    p.add_argument('-o', '--output', required=True, metavar='OUT', help='the new output; OUT.journal is made beside it')
    which = p.add_mutually_exclusive_group(required=True)
    which.add_argument('--records', metavar='LIST', help='the shot records of the new output, such as 1-12,20 or 1-100:10')
    which.add_argument('--without', metavar='LIST', help='all shot records but these')
    which.add_argument('--parts', type=cli.number(2, whole=True), metavar='N', help='all shots, in N outputs OUT1 ... OUTN')
    a = p.parse_args(words)
    one = slots.Input(a.file)
    outputs = [part(one, path, chosen) for path, chosen in parts(one, a)]
    there = [output for output in outputs if output.made_before()]
    if len(there) < len(outputs):                              # those that a call which was killed has made
        for output in there:
            cli.say(f'{output.path}: is there already, with these shots')
        outputs = [output for output in outputs if output not in there]
    for output in outputs:
        slots.check_new(output, [one])
    slots.write(outputs)
    for output in outputs:
        left = output.done.count(False)
        cli.say(f'{output.path}: {cli.counted(len(output.records), "shot")}, {len(output.records) - left} done, {left} to do')


def parts(one, a):
    """(path, slots) of each new output."""
    every = range(one.file.nshots)
    if a.parts:
        if not os.path.basename(a.output).strip('.'):
            cli.fail(f"'{a.output}' is no name of a file; give one, such as part.nc, which becomes part1.nc ...")
        if a.parts > len(every):
            cli.fail(f'--parts {a.parts}: {one.path} has {cli.counted(len(every), "shot")}')
        stem, ending = os.path.splitext(a.output)
        return [(f'{stem}{i + 1}{ending}', list(map(int, some))) for i, some in enumerate(np.array_split(every, a.parts))]
    chosen = one.file.slots(a.records or a.without)
    if a.without:
        chosen = sorted(set(every) - set(chosen))
    if not chosen:
        cli.fail(f'--without {a.without}: no shot of {one.path} is left')
    return [(a.output, chosen)]


def part(one, path, chosen):
    records = [int(one.file.record[slot]) for slot in chosen]
    output = slots.Output(path, one, records, [(one, slot) if slot in one.done else None for slot in chosen])
    output.name(slots.keymap_hash(output.chosen, records))
    output.attributes['split_from'] = one.file.attributes['fingerprint']
    output.attributes['split_shots'] = np.array([float(one.file.nshots)])
    output.tell(f'{len(records)} of {cli.counted(one.file.nshots, "shot")}, '
                f'split from a file of {one.file.attributes.get("source")}')
    return output
