"""Files of gathers made of slots of others, each with the journal that goes with it: what spl-merge and spl-split have in common.

A new file has the variables of fortran/files/fiocreate.f90 in their order, and the journal is one that a run could have left, so
that the programs go on with both. Shots keep their bytes; the room for receivers that a shot does not have, the numbers of lines
and so the checksums may be others.
"""
import contextlib
import hashlib
import os
import socket
import time
import zlib

import numpy as np

from spltools import __version__, cli
from spltools.gathers import cdf5
from spltools.gathers.gathers import DONE, Gathers
from spltools.report.standing import FORM, Standing, word

BLOCK = 64 << 20  # bytes of a variable written at once, or one slot
BESIDE = ('journal', 'lock', 'log', 'par', 'states', 'stop')  # fortran/base/sides.f90
OWN = ('grown', 'grown_from', 'split_from', 'split_shots')  # attributes of how a file came to be
GEOMETRY = 'nrec source_x source_y source_z receiver_x receiver_y receiver_z channel'.split()


class Input:
    """An output of a job, with what its journal adds where that lies beside it: done {slot: last event, or None}."""

    def __init__(self, path):
        self.file = Gathers(path)
        self.path, self.header = self.file.path, self.file._header
        unknown = set(self.header.dimensions) - {'shot', 'receiver', 'time', 'words', 'line'}
        if unknown or 'fingerprint' not in self.file.attributes:
            odd = f'the dimension {unknown.pop()}' if unknown else 'no fingerprint'
            cli.fail(f'{self.path} was not made by this program: it has {odd}')
        events, self.journal = {}, os.path.exists(self.path + '.journal')
        if self.journal:
            standing = Standing(self.path)
            if standing.running:
                cli.fail(f'{self.path}: a job is writing it: wait for its end')
            if standing.damage:
                cli.fail(f'{self.path}: {standing.damage}: restore the journal from a copy, or move it away: '
                         'the file alone will do')
            for e in standing.events:
                if e.event in ('done', 'kept', 'todo', 'parked'):
                    events[e.record] = e
        self.done = {}
        for slot in np.flatnonzero(self.file.status == DONE):
            event = events.get(int(self.file.record[slot]))
            if not self.journal:
                self.done[int(slot)] = None
            elif event and event.event in ('done', 'kept'):
                self.done[int(slot)] = event

    def raw(self, name, slot):
        """The bytes of a slot as an array in the byte order of the file."""
        return cdf5.array(self.header, self.file._map, name)[slot]

    def physics(self):
        """The parts of the fingerprint for the model and the parameters."""
        return self.file.attributes['fingerprint'].partition('-')[2]

    def line(self, number):
        return self.file._line_of(int(number))


def check_new(output, inputs):
    """Fails where a new output cannot have its name, or a file of another one lies beside it."""
    path = output.path
    cli.check_output(path, None)
    for ending in BESIDE:
        if os.path.lexists(f'{path}.{ending}') and not (ending == 'journal' and output.left_alone()):
            cli.fail(f'{path}.{ending} lies there, of another output of that name: move it away, or give another name')
    for one in inputs:
        if os.path.abspath(path) == os.path.abspath(one.path):
            cli.fail(f'{path} is an input: give another name')


class Output:
    """A file to be made: records (rising), of each its (Input, slot) or None, which is to do."""

    def __init__(self, path, model, records, chosen):
        """`model`: the Input whose attributes it has."""
        self.path, self.model, self.records, self.chosen = path, model, records, chosen
        self.attributes = {name: value for name, value in model.file.attributes.items() if name not in OWN}
        self.lines = [name for name in model.file.lines if name]
        self.nrec_max = model.file.nrec_max
        self.done = [bool(c) for c in chosen]
        self.checksum = np.zeros(len(records), np.uint32)

    def tell(self, what):
        """Adds a line to the history."""
        stamp = time.strftime(FORM, time.gmtime())
        before = self.attributes.get('history')
        self.attributes['history'] = (before + '\n' if before else '') + f'{stamp} {__version__}: {what}'

    def name(self, keymap, fingerprint=None):
        """Gives it the fingerprint of a key-map, and of the model's model and parameters."""
        self.attributes['fingerprint'] = fingerprint or f'{keymap}-{self.model.physics()}'
        self.attributes['keymap_hash'] = self.attributes['fingerprint'].partition('-')[0]

    def shape(self, v):
        sizes = {'shot': len(self.records), 'receiver': self.nrec_max, 'line': max(1, len(self.lines))}
        return tuple(sizes.get(d, n) for d, n in zip(v.dims, v.shape))

    # --- the file ---

    def write(self, temporary):
        v = self.model.header.variables
        with cli.dataset(temporary, 'w', format='NETCDF3_64BIT_DATA') as ds:
            ds.set_fill_off()
            self._define(ds)
            ds['time'][:] = self.model.file.time
            ds['record'][:] = np.array(self.records, np.int32)
            if 'line_name' in v:
                for i, text in enumerate(self.lines or ['']):
                    ds['line_name'][i] = np.frombuffer(text.encode().ljust(v['line_name'].shape[1], b'\0'), 'S1')
            self._slots(ds)
        self._seal(temporary)

    def _define(self, ds):
        variables = self.model.header.variables
        for name, n in self.model.header.dimensions.items():
            ds.createDimension(name, {'shot': len(self.records), 'receiver': self.nrec_max,
                                      'line': max(1, len(self.lines))}.get(name, n))
        for name, value in self.attributes.items():
            ds.setncattr(name, _native(value))
        for name, v in variables.items():
            out = ds.createVariable(name, v.dtype.newbyteorder('='), v.dims, fill_value=False)
            out.set_auto_maskandscale(False)
            out.set_auto_chartostring(False)
            for attribute, value in v.attributes.items():       # _FillValue may not be given afterwards, unless it is renamed
                out.setncattr(attribute.replace('_FillValue', 'FillValue_'), _native(value))
                if attribute == '_FillValue':
                    out.renameAttribute('FillValue_', attribute)

    def _slots(self, ds):
        """Writes all slots, some at a time, variable after variable, and sums them up."""
        variables = self.model.header.variables
        order = {name: variables[name].attributes['order'].split() for name in ('checksum', 'run_checksum')}
        largest = max(int(np.prod(self.shape(v)[1:])) * v.dtype.itemsize for v in variables.values() if v.dims[:1] == ('shot',))
        step = max(1, BLOCK // largest)
        some = self.nrec_max if step > 1 else max(1, BLOCK * self.nrec_max // largest)      # receivers of a shot at once
        for begin in range(0, len(self.records), step):
            slots = range(begin, min(begin + step, len(self.records)))
            self._check(slots)
            for kind, names in order.items():
                sums = np.zeros(len(slots), np.uint32)
                for name in names:
                    v = variables[name]
                    for first in range(0, self.nrec_max if 'receiver' in v.dims else 1, some):
                        block = self._block(v, slots, first, first + some)
                        sums = [zlib.crc32(block[i:i + 1].tobytes(), int(crc)) for i, crc in enumerate(sums)]
                        part = (slice(first, first + block.shape[1]),) if 'receiver' in v.dims else ()
                        if name != 'record':
                            ds[name][(slice(slots.start, slots.stop), *part)] = block.astype(block.dtype.newbyteorder('='))
                sums = np.where([self.done[i] for i in slots], sums, 0).astype(np.uint32)
                ds[kind][slots.start:slots.stop] = sums
                if kind == 'checksum':
                    self.checksum[slots.start:slots.stop] = sums
            ds['status'][slots.start:slots.stop] = np.array([DONE * self.done[i] for i in slots], np.int32)

    def _check(self, slots):
        for i in slots:
            if self.done[i]:
                one, slot = self.chosen[i]
                why = one.file.fault(slot, DONE)
                if why:
                    cli.fail(f'{one.path}: shot record {self.records[i]}: {why}; model it again there, or leave it out')

    def _block(self, v, slots, first, last):
        """A variable in these slots, of receivers first .. last - 1, in the byte order of the file. Where there is no receiver
        stands what is missing, of shots that are not done 0."""
        shape = (len(slots), *self.shape(v)[1:])
        if 'receiver' not in v.dims:
            block = np.zeros(shape, v.dtype)
        else:
            shape = (len(slots), min(last, self.nrec_max) - first, *shape[2:])
            block = np.full(shape, v.attributes.get('_FillValue', [0])[0], v.dtype)
            block[[not self.done[i] for i in slots]] = 0
        for row, i in enumerate(slots):
            if v.name == 'record':
                block[row] = self.records[i]
            elif self.done[i]:
                one, slot = self.chosen[i]
                data = one.raw(v.name, slot)
                if 'receiver' in v.dims:
                    data = data[first:min(int(one.file.nrec[slot]), last)]
                if v.name in ('source_line', 'receiver_line'):
                    data = self._renumbered(one, data)
                if 'receiver' in v.dims:
                    block[row, :len(data)] = data
                else:
                    block[row] = data
        return block

    def _renumbered(self, one, numbers):
        """Numbers of lines of an input as numbers of ours."""
        if one.file.lines == self.lines:
            return numbers
        ours = {name: i + 1 for i, name in enumerate(self.lines)}
        new = np.array([0] + [ours.get(name, 0) for name in one.file.lines])
        return new[np.clip(numbers, 0, len(one.file.lines))]

    def _seal(self, temporary):
        header = cdf5.read_header(temporary, ours=True)
        n = header.variables['header_bytes'].begin
        with open(temporary, 'rb') as f:
            crc = zlib.crc32(f.read(n))
        with cli.dataset(temporary, 'r+') as ds:
            ds.set_fill_off()
            ds['header_bytes'][...] = n
            ds['header_crc32'][...] = crc
        os.truncate(temporary, header.total)

    def made_before(self):
        """True of an output of that name that has all these shots, and its journal: a call made it that was killed before the
        next one."""
        for path in (self.path, self.path + '.journal'):
            cli.remove_halves(path)
        if not all(map(os.path.isfile, (self.path, self.path + '.journal'))):
            return False
        try:
            there = Input(self.path)
        except cli.Failure:
            return False
        if there.file.attributes['fingerprint'] != self.attributes['fingerprint'] or list(there.file.record) != self.records:
            return False
        return all(slot in there.done and there.raw('checksum', slot) == c[0].raw('checksum', c[1])
                   for slot, c in enumerate(self.chosen) if c)

    # --- the journal ---

    def left_alone(self):
        """True of a journal that this tool was killed over before it gave the output its name: it tells of the shots that are done
        here, as a run has that models none, and nothing else; so nothing is lost where it is written anew."""
        path = self.path + '.journal'
        if not os.path.isfile(path) or os.path.islink(path):
            return False
        there = Standing(self.path)
        if there.damage or there.fingerprint != self.attributes['fingerprint'] or [run.program for run in there.runs] != [None]:
            return False
        return {(e.event, e.record) for e in there.events} == {('done', r) for r, done in zip(self.records, self.done) if done}

    def journal(self):
        """The lines of a journal as one run would have left it."""
        now = time.strftime(FORM, time.gmtime())
        host = socket.gethostname()[:64] or '-'
        yield f'journal 1 {self.attributes["fingerprint"]} {len(self.records)} {now}'
        yield f'start 0 0 0 {host} 0 {now} '
        for i, (record, chosen) in enumerate(zip(self.records, self.chosen)):
            if not self.done[i]:
                continue
            one, slot = chosen
            event = one.done[slot]
            at = event.at if event else float(one.file.numbers('finished')[slot])
            seconds = event.seconds if event else float(one.file.numbers('seconds')[slot])
            redo = word(event.note, 'redo') if event else None
            yield (f'done {record} 0 {event.worker if event else 0} {event.host if event else "-"} {seconds:.6g} '
                   f'{time.strftime(FORM, time.gmtime(at))} checksum={self.checksum[i]:08x}' + (f' redo={redo}' if redo else ''))
        yield f'stop 0 0 0 {host} 0 {now} exit={0 if all(self.done) else 3}'


def write(outputs):
    """Makes files and journals: all of them, or none. A journal gets its name before its file: a kill in between leaves a journal
    alone, which the same command knows (left_alone), and no file that lacks what the journal would have told."""
    with contextlib.ExitStack() as stack:
        made = [(o, stack.enter_context(cli.new_file(o.path, None)),
                 stack.enter_context(cli.new_file(o.path + '.journal', o.left_alone() or None))) for o in outputs]
        for output, file, journal in made:
            output.write(file)
            with open(journal, 'w', encoding='utf-8') as f:
                f.writelines(f'{zlib.crc32(line.encode()):08x} {line}\n' for line in output.journal())


def keymap_hash(chosen, records):
    """16 digits that differ when a record or a position does: a key-map of these shots has another hash, which a program finds out
    by comparing the shots."""
    sum_ = hashlib.sha256()
    for record, c in zip(records, chosen):
        sum_.update(b'%d' % record)
        for name in GEOMETRY if c else ():
            sum_.update(cdf5.array(c[0].header, c[0].file._map, name)[c[1]].tobytes())
    return sum_.hexdigest()[:16].upper()


def _native(value):
    """The value of an attribute as the library takes it."""
    return value if isinstance(value, str) else np.asarray(value, value.dtype.newbyteorder('='))
