"""The headers of SEG-Y revision 1 (SEG Technical Standards Committee, 2002) and SU: where each number stands and how wide it is."""
import re
import textwrap

import numpy as np

# name as in the standard: (first byte counted from 1, bytes)
TRACE = {
    'sequence_in_line': (1, 4), 'sequence_in_file': (5, 4), 'field_record': (9, 4), 'channel': (13, 4), 'shot_point': (17, 4),
    'ensemble': (21, 4), 'trace_in_ensemble': (25, 4), 'trace_code': (29, 2), 'summed': (31, 2), 'stacked': (33, 2),
    'data_use': (35, 2), 'offset': (37, 4), 'receiver_elevation': (41, 4), 'source_surface_elevation': (45, 4),
    'source_depth': (49, 4), 'elevation_scalar': (69, 2), 'coordinate_scalar': (71, 2), 'source_x': (73, 4), 'source_y': (77, 4),
    'group_x': (81, 4), 'group_y': (85, 4), 'coordinate_units': (89, 2), 'delay': (109, 2), 'samples': (115, 2),
    'interval': (117, 2)}
# SU uses the bytes from 181 on for other things
TRACE_SEGY = {'midpoint_x': (181, 4), 'midpoint_y': (185, 4), 'shot_point_number': (197, 4), 'shot_point_scalar': (201, 2),
              'units': (203, 2)}
# neither assigns these
TRACE_FREE = {'receiver_line': (233, 4), 'receiver_station': (237, 4)}
BINARY = {
    'job': (3201, 4), 'line': (3205, 4), 'reel': (3209, 4), 'traces_per_ensemble': (3213, 2), 'auxiliary_per_ensemble': (3215, 2),
    'interval': (3217, 2), 'interval_field': (3219, 2), 'samples': (3221, 2), 'samples_field': (3223, 2), 'format': (3225, 2),
    'fold': (3227, 2), 'sorting': (3229, 2), 'vertical_sum': (3231, 2), 'measurement_system': (3255, 2), 'polarity': (3257, 2),
    'revision': (3501, 2), 'fixed_length': (3503, 2), 'extended_headers': (3505, 2)}
WIDE = 76   # characters of a line of text behind its number
LIMIT = {2: 32767, 4: 2147483647}


def layout(fields, length, order, first=1, unsigned=()):
    """A numpy type of `length` bytes with the fields at their places. order: '>' or '<'."""
    kinds = [order + ('u' if name in unsigned else 'i') + str(width) for name, (_, width) in fields.items()]
    return np.dtype({'names': list(fields), 'formats': kinds, 'offsets': [byte - first for byte, _ in fields.values()],
                     'itemsize': length})


def trace_type(kind, nt, order):
    """A trace with its header and nt samples: SEG-Y or SU. SU's counts of samples and microseconds are unsigned."""
    fields = {**TRACE, **(TRACE_SEGY if kind == 'segy' else {}), **TRACE_FREE}     # in the order of their bytes
    header = layout(fields, 240, order, unsigned=('samples', 'interval') if kind == 'su' else ())
    return np.dtype([('header', header), ('samples', order + 'u4', (nt,))])


def textual(lines):
    """3200 bytes of EBCDIC: 40 lines of 80 characters, the last two as revision 1 demands. Square brackets become round ones; what
    is longer than a line goes on in the next, and blank lines give way to it; of a longer text than three lines its begin."""
    lines = [line.translate({ord('['): '(', ord(']'): ')'}) for line in lines]
    lines = [re.sub(r"[^\w \-+*/.,:;()=<>&%'?]", '?', line, flags=re.ASCII) for line in lines]         # alike in all EBCDICs
    more = {'subsequent_indent': '    ', 'break_on_hyphens': False, 'max_lines': 3, 'placeholder': ' ...'}
    lines = [part for line in lines for part in textwrap.wrap(line, WIDE, **more) or ['']]
    while len(lines) > 38 and '' in lines:
        lines.remove('')
    lines = lines[:38]
    lines += [''] * (38 - len(lines)) + ['SEG Y REV1', 'END TEXTUAL HEADER']
    return ''.join(f'C{n:2d} {line}'[:80].ljust(80) for n, line in enumerate(lines, 1)).encode('cp037')


def binary(values):
    """400 bytes, big-endian."""
    header = np.zeros(1, layout(BINARY, 400, '>', first=3201))
    for name, value in values.items():
        header[name] = value
    return header.tobytes()
