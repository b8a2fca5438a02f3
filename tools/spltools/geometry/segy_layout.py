"""Layouts of SEG-Y and SU files and fields of their trace headers, read as bytes: no field is trusted unseen.

Byte positions are counted from 1 as in the standards. The samples are skipped, so that large files are quick.
"""

import os
from dataclasses import dataclass
from typing import Optional

import numpy as np

from spltools.cli import check_input, fail

FOOT, US_FOOT = 0.3048, 1200 / 3937  # [m]; the other one: of the US survey, as in most state plane coordinates
APART = 0.1  # [m] between places in the one and the other foot, from where on it is told
KINDS = {1: 'u4', 2: 'i4', 3: 'i2', 5: 'f4', 6: 'f8', 8: 'i1', 9: 'i8', 10: 'u4', 11: 'u2', 12: 'u8', 16: 'u1'}  # 1: IBM floats
BYTES = {code: int(kind[1]) for code, kind in KINDS.items()}  # of the sample formats of SEG-Y that we know
ANGLES = {2: 'seconds of arc', 3: 'decimal degrees', 4: 'degrees, minutes, seconds'}  # what coordinates may be by bytes 89-90
FIELDS = {  # name: (first byte, bytes)
    'record': (9, 4),
    'channel': (13, 4),
    'source_point': (17, 4),
    'kind': (29, 2),
    'offset': (37, 4),
    'gelev': (41, 4),
    'selev': (45, 4),
    'sdepth': (49, 4),
    'scalel': (69, 2),
    'scalco': (71, 2),
    'sx': (73, 4),
    'sy': (77, 4),
    'gx': (81, 4),
    'gy': (85, 4),
    'units': (89, 2),
    'ns': (115, 2),
    'dt': (117, 2),
    'point': (197, 4),
    'scalpt': (201, 2),
}


@dataclass
class Layout:
    """Layout of the traces: first byte, samples, bytes a sample, byte order, number; format; feet."""

    start: int
    ns: int
    sample: int
    order: str
    traces: int
    code: int
    feet: Optional[bool] = None  # None: the file does not say
    dt: int = 0  # sample interval of the file header
    notes: tuple = ()


def file_options(verb):
    """The words of a command line that name a file of traces and say how its bytes are read."""
    verb.add_argument('file', metavar='FILE')
    verb.add_argument('--format', choices=('auto', 'segy', 'su'), default='auto')
    verb.add_argument('--endian', choices=('auto', 'little', 'big'), default='auto', help='byte order of an SU file')


def position(text, fields):
    """'sx=201:4' -> ('sx', 201, 4), for one of `fields`."""
    name, _, place = text.partition('=')
    first, _, length = place.partition(':')
    if name not in fields:
        fail(f"--byte {text}: unknown field '{name}'; known: {', '.join(fields)}")
    length = length or str(fields[name][1])
    if not (first.isascii() and first.isdigit()) or length not in ('2', '4') or not 1 <= int(first) <= 241 - int(length):
        fail(f'--byte {text}: write FIELD=POS[:LEN] with POS 1..240 and LEN 2 or 4')
    return name, int(first), int(length)


def is_su(path, kind):
    """True where the file is SU: by the option, else by its name."""
    return kind == 'su' or (kind == 'auto' and path.lower().endswith('.su'))


def segy_layout(path):
    """Layout of a SEG-Y file; sentences that say what is odd about it."""
    size = check_input(path)
    if size < 3840:
        fail(f'{path} has {size} bytes, less than the headers of a SEG-Y file (3840)')
    with open(path, 'rb') as file:
        head = file.read(3600)
    order = '<' if head[3296:3300] == b'\x04\x03\x02\x01' else '>'
    notes = []
    codes = {this: int(np.frombuffer(head[3224:3226], dtype=this + 'i2')[0]) for this in '<>'}
    if codes[order] not in BYTES and codes['<'] in BYTES:
        order = '<'
        notes.append(f'byte-swapped: read as little-endian, sample format {codes["<"]}')
    words, code = np.frombuffer(head[3200:3600], dtype=order + 'i2'), codes[order]
    if code not in BYTES:
        fail(
            f'{path}: sample format {code} in bytes 3225-3226; known are {sorted(BYTES)}: is this a'
            ' SEG-Y file?'
        )
    revision = _revision(head, notes)
    start, in_file, size = _segy_start(path, head, order, size, revision)
    with open(path, 'rb') as file:
        file.seek(start)
        trace = np.frombuffer(file.read(240), dtype=order + 'u2')
    if len(trace) < 120:
        fail(f'{path} ends before its first trace, which begins at byte {start + 1}: the file is cut or its headers are wrong')
    in_trace = int(trace[57])
    ns, where = _segy_samples(path, start, size, order, BYTES[code], in_file, in_trace, notes)
    if in_file != in_trace:
        notes.append(
            f'file header says {in_file} samples a trace, trace headers {in_trace}: the size of the file'
            f' agrees with {ns} ({where})'
        )
    feet = {1: False, 2: True}.get(int(words[27]))
    return Layout(start, ns, BYTES[code], order, (size - start) // (240 + ns * BYTES[code]), code, feet, int(words[8]) & 0xFFFF,
                  tuple(notes))


def _revision(head, notes):
    """0, 1 or 2. What stands in bytes 3501-3502 of a file of revision 0 is nobody's matter: blanks, say."""
    major = max(head[3500:3502])  # major and minor number stand in either order
    if major > 2:
        notes.append(f'bytes 3501-3502, {head[3500]} and {head[3501]}, name no revision of SEG-Y: read as revision 0')
    return major if major <= 2 else 0


def _segy_start(path, head, order, size, revision):
    """First byte of the traces, the file header's number of samples and the bytes to the end of the traces; revision 2 (SEG, 2017)
    may say all of it elsewhere."""
    words = np.frombuffer(head[3200:3600], dtype=order + 'i2')
    extended = int(words[152]) if revision else 0
    more, first, ns, behind = 0, 0, 0, 0
    if revision == 2:
        ns, more, behind = (int(np.frombuffer(head[at : at + 4], dtype=order + 'i4')[0]) for at in (3268, 3506, 3528))
        first = int(np.frombuffer(head[3520:3528], dtype=order + 'i8')[0])
    if more:
        fail(
            f'{path}: traces may have {more} additional headers (bytes 3507-3510), which are not read here: write the file'
            ' with one header a trace, as revision 1'
        )
    if extended == -1 and not first:
        fail(
            f'{path} does not say how many extended text headers it has (-1 in bytes 3505-3506, no first trace in'
            ' 3521-3528): write it without them'
        )
    start = first or 3600 + 3200 * extended
    if not 3600 <= start < size:
        what = f'a first trace at byte {first} (bytes 3521-3528)' if first else f'{extended} more text headers (bytes 3505-3506)'
        fail(f'{path}: {what} cannot be in a file of {size} bytes')
    if not 0 <= 3200 * behind < size - start:
        fail(
            f'{path}: {behind} stanzas of 3200 bytes behind the traces (bytes 3529-3532) cannot be in a file of {size} bytes:'
            ' write it without them'
        )
    return start, ns if ns > 0 else int(words[10]) & 0xFFFF, size - 3200 * behind


def _segy_samples(path, start, size, order, width, in_file, in_trace, notes):
    """Samples a trace, and which header says so: the number with which size and every trace header agree."""
    whole = [
        (ns, where)
        for ns, where in dict(((in_file, 'file header'), (in_trace, 'trace headers'))).items()
        if ns > 0 and (size - start) % (240 + ns * width) == 0
    ]
    if not whole:
        fail(
            f'{path}: {size - start} bytes of traces are no whole number of traces of {in_file} (file header)'
            f' or {in_trace} (trace header) samples of {width} bytes: the file is cut or its headers'
            ' are wrong, or its traces differ in length' + ''.join(f' ({note})' for note in notes)
        )
    for ns, where in whole:
        said = column(path, Layout(start, ns, width, order, (size - start) // (240 + ns * width), 0), 'ns') & 0xFFFF
        other = np.flatnonzero(said != in_trace)
        if not len(other):
            return ns, where
    fail(
        f'{path}: the header of the first trace says {in_trace} samples, where trace {other[0] + 1} should be {said[other[0]]}:'
        ' only traces of one length are read; cut or fill them to one'
    )


def su_layout(path, order='auto'):
    """Layout of an SU file: float32 traces, in the byte order that fits the size and every trace."""
    size = check_input(path)
    if size < 244:
        fail(f'{path} has {size} bytes, less than one SU trace')
    fits = []
    for this in ('<', '>'):
        if order != 'auto' and this != {'little': '<', 'big': '>'}[order]:
            continue
        with open(path, 'rb') as file:
            words = np.frombuffer(file.read(240), dtype=this + 'u2')
        ns = int(words[57])
        if ns == 0 or size % (240 + 4 * ns):
            continue
        layout = Layout(0, ns, 4, this, size // (240 + 4 * ns), 5, None, int(words[58]))
        if np.all(column(path, layout, 'ns') & 0xFFFF == ns):
            fits.append(layout)
    if not fits:
        fail(
            f'{path}: no byte order makes this a whole number of SU traces of equal length: is it cut, or no'
            ' SU file?'
        )
    if len(fits) == 2:
        fail(f'{path} can be read in both byte orders: give --endian little or big')
    fits[0].notes = (f"SU, {'little' if fits[0].order == '<' else 'big'} endian",)
    return fits[0]


def column(path, layout, name, fields=None, raw=None):
    """One header field of all traces as int64. `raw`: the headers, where they are at hand."""
    first, length = (fields or FIELDS)[name]
    raw = headers(path, layout) if raw is None else raw
    return (
        np.ascontiguousarray(raw[:, first - 1 : first - 1 + length])
        .view(f'{layout.order}i{length}')[:, 0]
        .astype(np.int64)
    )


def headers(path, layout):
    """The trace headers as bytes, (traces, 240), mapped from the file."""
    stride = 240 + layout.ns * layout.sample
    if os.path.getsize(path) < layout.start + layout.traces * stride:
        fail(f'{path} became shorter while it was read')
    mapped = np.memmap(path, dtype=np.uint8, mode='r', offset=layout.start, shape=(layout.traces, stride))
    return mapped[:, :240]


def angles(units, largest):
    """True where coordinates up to `largest` are no lengths by the codes of bytes 89-90, and what those say, '' if lengths. But
    some files call lengths degrees."""
    codes = sorted(set(units.tolist()) & set(ANGLES))
    if not codes:
        return False, ''
    limit = 1.3e6 if 2 in codes else 360.0
    return codes == [4] or largest <= limit, f'{ANGLES[codes[0]]} (code {codes[0]} in bytes 89-90)'


def metre(layout, lengths):
    """Metres of one unit of the coordinates of a SEG-Y file. Its headers call both feet alike, or say nothing: `lengths` tells."""
    feet = layout.feet or (layout.feet is None and lengths in ('ft', 'us-ft'))
    return (US_FOOT if lengths == 'us-ft' else FOOT) if feet else 1.0


def feet_words(layout, largest, option, lengths):
    """What was made of coordinates up to `largest` that are in feet or whose unit is not told, '' of metres."""
    if layout.feet is None:
        unit = lengths if lengths in ('ft', 'us-ft') else 'm'
        return f' (the file does not say metres or feet: taken as {unit}, see {option})'
    if not layout.feet:
        return ''
    apart = largest * (US_FOOT - FOOT)
    if lengths == 'us-ft' or apart < APART:
        return ' (feet converted)'
    return (f' (feet of {FOOT} m converted; {option} us-ft if they are those of the US survey, which lie up to {apart:.1f} m'
            ' elsewhere)')


def scaled(values, scalars):
    """SEG-Y scalars: positive multiplies, negative divides, 0 stands for 1."""
    s = scalars.astype(float)
    return values * np.where(s > 0, s, 1.0) / np.where(s < 0, -s, 1.0)
