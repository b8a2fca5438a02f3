"""spl-export: gathers to SEG-Y revision 1, SU, SAC or miniSEED; pictures of elements to VTU.

The traces are those of the file, bit for bit (IEEE floats). What does not fit the format's numbers is refused, never wrapped:
samples, sample interval, coordinates, numbers of traces. Damaged and unfinished shots are refused too.
"""
import contextlib
import os
import textwrap

import numpy as np

from spltools import cli
from spltools.gathers import ibmfloat, segyheader
from spltools.gathers.gathers import DONE, Gathers, points_left
from spltools.geometry.navigation import Rule

ABOUT = """Writes gathers as SEG-Y rev 1 (.segy, .sgy), SU (.su), SAC (.sac) or miniSEED (.mseed), and pictures of the
surface or volume of a mesh (OUTPUT.snapN.nc) as VTU for ParaView (.pvd).

  spl-export gathers.nc -o line.segy --component p
  spl-export quake.nc -o quake.mseed --reference 13.4 42.3 --turn zrt
  spl-export quake.nc.snap1.nc -o wave.pvd

SEG-Y and SU: where the file holds navigation, as spl-keymap keeps it, X and Y are easting and northing, elevation and depth are
its heights, offsets its true distances, shot points those of the survey (in bytes 17-20 whole ones, fractions in bytes 197-202
of SEG-Y); lines and stations of receivers stand in bytes 233 and 237. --coordinates model writes the positions of the modelling
instead. Coordinates keep 1 cm or better: the scalar (bytes 69 and 71) is the first of -100, -1000, -10000 that keeps all of them
exactly, else the finest that fits 32 bits.
Receiver group elevation is negative below the sea surface, source depth positive. Offset is signed, in whole metres,
without navigation as modelled: in 2D along x. Y has the sign of a map, where
+Y lies to the left of +X: it is -y of a key-map whose y is positive to the right of +x, as spl-keymap makes them and
3D modelling takes them. SEG-Y holds at most 32767 samples of at most 32767 microseconds; SU 65535 of each, for its
numbers have no sign.

SAC and miniSEED (through ObsPy), StationXML (.xml) beside them: a file a shot, of SAC a file a trace, with the numbers of
the shots in their names where there are several. Channels are N, E and Z, up; R, away from the source, and T, to the right
of it, with --turn zrt. Amplitudes are in m/s, m, m/s2 or Pa. Time 0 of SAC and --origin-time are time zero of the source.
Longitude and latitude are those of a plane along meridian and parallel at --reference (default 0, 0); x, y and z themselves
[m] stand in user0..2 (station) and user3..5 (source) and in StationXML as the site. Elevation is -z. Codes: network SY
(synthetic), station S and the channel of the key-map, or its line in --stations; band by sampling rate, X for modelled."""
PAIRS = ('xx', 'yy', 'zz', 'xy', 'xz', 'yz')
COMPONENT_NAME = {'p': 'PRESSURE', 'vx': 'PARTICLE VELOCITY ALONG X, TO THE RIGHT', 'vz': 'PARTICLE VELOCITY ALONG Z, DOWNWARDS',
                  'vy': 'PARTICLE VELOCITY ALONG Y', **{'s' + c: f'STRESS {c.upper()}, TENSION POSITIVE,' for c in PAIRS},
                  **{'e' + c: f'RATE OF STRAIN {c.upper()}' for c in PAIRS},
                  **{'w' + c: f'RATE OF ROTATION ABOUT {c.upper()}' for c in 'xyz'},
                  **{s + c: f'{name} ALONG {c.upper()}{", DOWNWARDS" * (c == "z")}'
                     for s, name in (('u', 'DISPLACEMENT'), ('a', 'ACCELERATION')) for c in 'xyz'}}
UNIT_CODE = {'Pa': 1, 'm': 5, 'm s-1': 6, 'm s-2': 7}      # bytes 203-204; -1: another, see the textual header
POLARITY = {'p': 2, 'vz': 1, 'uz': 1, 'az': 1}   # 2: more pressure is positive; 1: upward movement is negative
TRACES_MAX = segyheader.LIMIT[4]
METHOD = ('2D ACOUSTIC FINITE DIFFERENCES', '3D ELASTIC FINITE DIFFERENCES', '3D SPECTRAL ELEMENTS')


def arguments(words):
    p = cli.Parser(prog='spl-export', description=ABOUT)
    p.add_argument('file', help='file of gathers, or of pictures')
    p.add_argument('-o', '--output', required=True, metavar='OUT', help='OUT.segy, .sgy, .su, .sac, .mseed or .pvd')
    p.add_argument('--component', choices=tuple(COMPONENT_NAME), help='what to write (default: p, or the only one recorded)')
    p.add_argument('--records', metavar='LIST', help='shot records, such as 1-12,20 or 1-100:10 (default: all)')
    p.add_argument('--done-only', action='store_true', help='leave out (and name) shots that are unfinished or damaged')
    p.add_argument('--positions', choices=('used', 'asked'), default='used',
                   help='positions the modelling used, or those asked for, which differ with positions=nearest (default: used)')
    p.add_argument('--coordinates', choices=('map', 'model'),
                   help='easting and northing of the navigation, or x and y of the modelling (default: map where the file has it)')
    p.add_argument('--y-left', action='store_true',
                   help='the y of the key-map is positive to the left of +x, such as a northing beside an easting (spl-keymap '
                        '--azimuth none), where no navigation tells: Y is y')
    p.add_argument('--ibm', action='store_true', help='SEG-Y: IBM floats (format 1) instead of IEEE (format 5)')
    p.add_argument('--big-endian', action='store_true', help='SU: big-endian (default: little-endian)')
    p.add_argument('--cdp', type=cli.number(0, unit='m', above=True), metavar='SPACING',
                   help='number midpoints along x in bins [m]')
    p.add_argument('--cdp-origin', type=cli.number(unit='m'), metavar='X',
                   help='x of the middle of bin 1 [m] (default: first midpoint)')
    p.add_argument('--split', action='store_true',
                   help='several files OUT_1, OUT_2, ... where one cannot hold all samples or traces')
    p.add_argument('--max-traces', type=cli.number(1, TRACES_MAX, whole=True), default=TRACES_MAX, metavar='N',
                   help=f'traces a file, at most (default {TRACES_MAX}, what fits bytes 5-8)')
    p.add_argument('--overwrite', action='store_true', help='replace OUT if it exists')
    q = p.add_argument_group('SAC and miniSEED')
    q.add_argument('--motion', choices=('v', 'u', 'a', 'p'), help='velocity, displacement, acceleration or pressure (default: the '
                   'first of them that was recorded)')
    q.add_argument('--turn', choices=('zrt',), help='horizontals away from the source and to the right of that')
    q.add_argument('--reference', nargs=2, type=cli.number(-360, 360, 'degrees'), metavar=('LON', 'LAT'),
                   help='where x = 0, y = 0 is')
    q.add_argument('--x-azimuth', type=cli.number(-360, 360, 'degrees'), metavar='DEG',
                   help='where x points, clockwise from north (default: x_azimuth of the job; 90 in 2D)')
    q.add_argument('--origin-time', default='2000-01-01T00:00:00', metavar='TIME', help='default 2000-01-01T00:00:00, UTC')
    q.add_argument('--network', default='SY', metavar='CODE', help='default SY, synthetic')
    q.add_argument('--location', default='', metavar='CODE', help='default none')
    q.add_argument('--stations', metavar='STATIONS', help='file of STATIONS whose lines are the channels: their names and networks')
    return p.parse_args(words)


# Options that concern some formats alone.
ONLY = {'segy su': 'component coordinates ibm big_endian cdp cdp_origin split max_traces',
        'sac mseed': 'motion turn reference x_azimuth origin_time network location stations',
        'segy su sac mseed': 'records done_only positions y_left'}


def main(words):
    a = arguments(words)
    a.kind = kind_of(a)
    if a.kind == 'pvd':
        from spltools.gathers import vtu
        cli.say(vtu.export(a.file, a.output, a.overwrite))
        return
    file = Gathers(a.file)
    if a.kind in ('sac', 'mseed'):
        from spltools.gathers import seismograms
        slots, left = file.chosen(a.records, a.done_only)
        for sentence in left:
            cli.warn(f'left out: {sentence}')
        cli.say(seismograms.export(file, slots, a))
        return
    a.y_left = a.y_left or points_left(file)
    choose_coordinates(file, a)
    if a.component is None:
        a.component = 'p' if 'p' in file.components else file.components[0]
    slots, left = file.chosen(a.records, a.done_only)
    for sentence in left:
        cli.warn(f'left out: {sentence}')
    survey = Survey(file, slots, a)
    parts = plan(survey, a)
    for part in parts:
        cli.check_output(part.path, a.overwrite)
    with contextlib.ExitStack() as stack:
        temporary = [stack.enter_context(cli.new_file(part.path, a.overwrite)) for part in parts]
        for part, name in zip(parts, temporary):
            write(survey, part, name, a)
    if survey.ignored:
        cli.say(f'{survey.ignored}')
    for part in parts:
        cli.say(f'{part.path}: {cli.counted(len(part.slots), "shot")}, {cli.counted(part.traces, "trace")} of {part.n} samples '
                f'at {survey.interval} us')


def choose_coordinates(file, a):
    """Map coordinates where the file has them, unless told otherwise."""
    if a.coordinates == 'map' and not file.navigated:
        cli.fail(f'{file.path} holds no navigation: its key-map had none; leave --coordinates map out, or model with a key-map '
                 'that spl-keymap made from navigation')
    a.coordinates = a.coordinates or ('map' if file.navigated else 'model')


def kind_of(a):
    ending = os.path.splitext(a.output)[1].lower()
    kind = {'.segy': 'segy', '.sgy': 'segy', '.su': 'su', '.sac': 'sac', '.mseed': 'mseed', '.pvd': 'pvd'}.get(ending)
    if not kind:
        cli.fail(f"{a.output}: the ending tells the format and must be .segy, .sgy or .su, .sac or .mseed, or .pvd, not '{ending}'")
    plain = arguments([a.file, '-o', a.output])
    for kinds, options in ONLY.items():
        for name in options.split():
            if kind not in kinds.split() and getattr(a, name) != getattr(plain, name):
                cli.fail(f"--{name.replace('_', '-')} is for .{', .'.join(kinds.split())}: leave it out, or write one of these")
    if kind == 'su' and a.ibm:
        cli.fail('--ibm: SU has IEEE floats only; leave it out or write .segy')
    if kind == 'segy' and a.big_endian:
        cli.fail('--big-endian: SEG-Y is always big-endian; the option is for .su')
    if a.cdp_origin is not None and a.cdp is None:
        cli.fail('--cdp-origin needs --cdp, the spacing of the bins')
    return kind


class Survey:
    """Common parts of all files of an export: the shots, the interval, the scalars, each checked against the format."""

    def __init__(self, file, slots, a):
        self.file, self.slots, self.a = file, slots, a
        self.interval = whole_microseconds(file.dt, a.kind)
        self.mapped = a.coordinates == 'map'
        first = self.gather(slots[0])
        xy, z, points, stations, low, self.traces, across, lines = [], [], [], [], np.inf, 0, 0.0, set()
        receiver_lines = set()
        for slot in slots:
            g = self.gather(slot)
            check_record(g)
            xy += [np.array([g.s_x, g.s_y]), g.r_x, g.r_y]
            z += [np.array([g.s_h]), g.r_h]
            if self.mapped:
                points.append([point_of(g)])
                stations.append(g.navigation.stations)
                lines.add(g.navigation.line)
                receiver_lines.update(g.navigation.lines)
            low = min(low, np.min(g.rx + g.sx, initial=np.inf) / 2)
            across = max(across, np.max(np.abs(g.across()), initial=0.0))
            self.traces += g.nrec
        if not file.three_d:             # a key-map that keeps offsets has moved receivers to the y of their source
            across = max(across, float(np.max(file.attributes.get('ignored_receiver_across_m', 0.0))))
        if self.traces == 0:
            cli.fail(f'{file.path}: the shots chosen have no receivers, nothing to write')
        self.xy_scalar = scalar(np.concatenate(xy), 'coordinate')
        self.z_scalar = scalar(np.concatenate(z), 'depth')
        self.point_scalar = parts_of(np.concatenate(points), 'shot point') if points else 1
        self.station_scalar = parts_of(np.concatenate(stations), 'station') if stations else 1
        self.lines = sorted(lines - {''})
        self.receiver_lines = sorted(receiver_lines - {''})
        self.line_number = line_numbers(self.receiver_lines)
        self.origin = low if a.cdp_origin is None else a.cdp_origin
        self.line_y = self.y_of_line()
        self.units = first.units
        self.ignored = f'2D modelling ignored y: receivers up to {across:.2f} m across from their source' if across > 0.005 \
            and not file.three_d else ''

    def y_of_line(self):
        """y of the line that bins lie on [m]: 0, which spl-keymap puts through the sources, unless all lie to one side of it."""
        y = self.file.numbers('source_y')[self.file.status == DONE]
        return 0.0 if y.min() <= 0 <= y.max() else float(y.mean())

    def whole(self, values):
        """Coordinates as trace headers hold them [whole parts of a metre]."""
        parts = np.rint(values * self.xy_scalar)
        if np.any(np.abs(parts) > segyheader.LIMIT[4]):
            cli.fail(f'the coordinate {np.abs(values).max():.12g} m of a midpoint does not fit the trace header: take '
                     '--coordinates model, or leave --cdp out')
        return parts

    def gather(self, slot):
        """A gather, with s_x, s_y, r_x, r_y, heights s_h, r_h and offsets as trace headers have them: on the map, or of the
        modelling, whose Y then lies to the left of +X as on a map."""
        g, v = self.file.gather(slot, self.a.component, self.a.positions), None
        if self.mapped:
            v = g.navigation
            g.s_x, g.s_y, g.s_h, g.r_x, g.r_y, g.r_h = v.se, v.sn, v.sh, v.re, v.rn, v.rh
            g.offsets = np.where(g.rx < g.sx, -1.0, 1.0) * v.offset()
            if not np.isfinite(np.concatenate([[v.se, v.sn, v.sh], v.re, v.rn, v.rh])).all():
                cli.fail(f'{self.file.path}: shot record {g.record} has no navigation; take --coordinates model')
        else:
            side = 1 if self.a.y_left else -1
            g.s_x, g.s_y, g.s_h, g.r_x, g.r_y, g.r_h = g.sx, side * g.sy, -g.sz, g.rx, side * g.ry, -g.rz
            g.offsets = g.offset()
        if np.any(np.abs(g.offsets) > segyheader.LIMIT[4]):
            cli.fail(f'the offset {np.abs(g.offsets).max():.10g} m of shot record {g.record} does not fit the trace header (up to '
                     f'{segyheader.LIMIT[4]} m)')
        return g

    def midpoints(self, g):
        """X and Y of midpoints; of the middle of their bins on the line, where they are numbered along a line of the map."""
        rule = self.file.rule()
        if not self.mapped or self.a.cdp is None or rule is None:
            return (g.r_x + g.s_x) / 2, (g.r_y + g.s_y) / 2
        return Rule('', *rule).to_map(self.origin + (bins(self, g, self.a.cdp) - 1) * self.a.cdp, self.line_y)


def whole_microseconds(dt, kind):
    """The sample interval as the header's whole number of microseconds, or a sentence."""
    us, limit = dt * 1e6, {'segy': 32767, 'su': 65535}[kind]
    if dt <= 0:
        cli.fail('the gathers have a single sample, so no sample interval; there is nothing to export')
    if round(us) < 1 or abs(us - round(us)) > 1e-9 * us:
        cli.fail(f'the sample interval is {us:.12g} microseconds, the trace header holds whole ones only; model with dt_out in '
                 'whole microseconds')
    if us > limit + 0.5:
        cli.fail(f'the sample interval is {us:.10g} microseconds, {kind.upper()} holds at most {limit}; model with a smaller '
                 'dt_out')
    return int(round(us))


def check_record(g):
    limit = segyheader.LIMIT[4]
    for name, values in (('shot record', [g.record]), ('channel', g.channel)):
        values = np.asarray(values, np.int64)
        if np.any(np.abs(values) > limit):
            worst = values[np.argmax(np.abs(values))]
            cli.fail(f'{name} {worst} of shot record {g.record} does not fit the trace header, which holds up to {limit}; renumber')


def point_of(g):
    """The shot point of a gather with navigation; its record where that names none."""
    return g.record if np.isnan(g.navigation.point) else g.navigation.point


def scalar(values, what):
    """Parts of a metre in which the headers count: 100, 1000 or 10000."""
    values = values[np.isfinite(values)] if len(values) else values
    largest = np.max(np.abs(values), initial=0.0)
    if largest * 100 > segyheader.LIMIT[4]:
        cli.fail(f'the {what} {largest:.12g} m does not fit the trace header: in whole centimetres its 32 bits hold up to '
                 f'{segyheader.LIMIT[4] / 100:.2f} m; shift the origin of the coordinates')
    fitting = [s for s in (100, 1000, 10000) if largest * s <= segyheader.LIMIT[4]]
    for s in fitting:
        if np.all(np.abs(values * s - np.rint(values * s)) <= 1e-6 + 4e-16 * largest * s):
            return s
    return fitting[-1]


def parts_of(numbers, what):
    """Parts in which headers count numbers of a survey, NaN where not known: the first of 1, 100, 10000 that keeps all of them,
    else the finest that fits."""
    known = numbers[np.isfinite(numbers)]
    kept = [p for p in (1, 100, 10000) if np.allclose(known * p, np.rint(known * p), rtol=1e-12, atol=1e-6)]
    parts = kept[0] if kept else 10000
    if parts == 10000 and np.any(np.abs(known) * parts > segyheader.LIMIT[4]):
        parts = 100
    if np.any(np.abs(known) * parts > segyheader.LIMIT[4]):
        cli.fail(f'{what} {known[np.argmax(np.abs(known))]:.12g} does not fit the trace header, which holds up to '
                 f'{segyheader.LIMIT[4] // parts}; take --coordinates model, or renumber in the key-map')
    return parts


def line_numbers(names):
    """{name: number}: names that all are whole numbers, and different ones, keep them, others get 1, 2, ..."""
    fit = all(name.isascii() and name.isdigit() and int(name) <= segyheader.LIMIT[4] for name in names)
    fit = fit and len({int(name) for name in names}) == len(names)           # 7 and 007 are two lines
    return {name: int(name) if fit else i for i, name in enumerate(names, 1)}


class Part:
    """One output file: some of the shots, samples first .. first+n-1 of their traces."""

    def __init__(self, slots, traces, first, n):
        self.slots, self.traces, self.first, self.n, self.path = slots, traces, first, n, None


def plan(survey, a):
    """The files to write: one, or with --split as many as it takes."""
    groups, spans = by_traces(survey, a), by_samples(survey, a)
    parts = [Part(slots, traces, first, n) for slots, traces in groups for first, n in spans]
    if len(parts) > 1 and not a.split:
        cli.fail(f'{survey.traces} traces do not fit one file of at most {cli.counted(a.max_traces, "trace")}; '
                 '--split writes several')
    stem, ending = os.path.splitext(a.output)
    width = len(str(len(parts)))
    for i, part in enumerate(parts, 1):
        part.path = a.output if len(parts) == 1 else f'{stem}_{i:0{width}d}{ending}'
    return parts


def by_traces(survey, a):
    """Shots in order, together as long as their traces fit."""
    groups = []
    for slot in survey.slots:
        n = int(survey.file.nrec[slot])
        if n > a.max_traces:
            cli.fail(f'shot record {survey.file.record[slot]} has {cli.counted(n, "trace")}, a file may have {a.max_traces}')
        if groups and groups[-1][1] + n <= a.max_traces:
            groups[-1] = (groups[-1][0] + [slot], groups[-1][1] + n)
        else:
            groups.append(([slot], n))
    return groups


def by_samples(survey, a):
    """Spans of samples; each begins at a whole millisecond, which is what the delay in bytes 109-110 counts."""
    nt, limit = survey.file.nt, {'segy': 32767, 'su': 65535}[a.kind]
    if nt <= limit:
        return [(0, nt)]
    if not a.split:
        cli.fail(f'a trace has {nt} samples, {a.kind.upper()} holds at most {limit}: --split writes several files along time, or '
                 'model with a larger dt_out')
    step = next((n for n in range(limit, 0, -1) if n * survey.interval % 1000 == 0), 0)
    if step == 0:
        cli.fail(f'a trace of {nt} samples cannot be split: no part of up to {limit} samples of {survey.interval} microseconds '
                 'ends at a whole millisecond; choose another dt_out')
    spans = [(first, min(step, nt - first)) for first in range(0, nt, step)]
    delay = spans[-1][0] * survey.interval // 1000
    if delay > segyheader.LIMIT[2]:
        cli.fail(f'a trace of {nt} samples cannot be split: its last part would begin at {delay} ms, the delay in the trace '
                 f'header holds up to {segyheader.LIMIT[2]} ms')
    return spans


# --- writing ---------------------------------------------------------------------------------------------------------

def write(survey, part, path, a):
    """One file, shot after shot; then its length is compared with what it must be."""
    order = '>' if a.kind == 'segy' or a.big_endian else '<'
    kind = segyheader.trace_type(a.kind, part.n, order)
    with open(path, 'wb') as out:
        if a.kind == 'segy':
            out.write(segyheader.textual(text_lines(survey, part, a)))
            out.write(segyheader.binary(binary_values(survey, part, a)))
        start, done = out.tell(), 0
        for slot in part.slots:
            block = traces(survey, survey.gather(slot), part, done, kind, a)
            out.write(memoryview(block).cast('B') if len(block) else b'')
            done += len(block)
    size, wanted = os.path.getsize(path), start + done * kind.itemsize
    if size != wanted or done != part.traces:
        cli.fail(f'{part.path}: wrote {size} bytes and {cli.counted(done, "trace")}, must be {wanted} and {part.traces}; '
                 'is the disk full?')


def traces(survey, g, part, done, kind, a):
    """The traces of a gather with their headers, ready for the file; `done` traces stand before them."""
    block = np.zeros(g.nrec, kind)
    h, number = block['header'], np.arange(1, g.nrec + 1)
    h['sequence_in_line'] = h['sequence_in_file'] = done + number
    h['field_record'] = g.record
    point = point_of(g) if survey.mapped else g.record
    h['shot_point'] = np.rint(point)
    h['channel'] = g.channel
    h['trace_in_ensemble'] = number if a.cdp is None else 0
    h['trace_code'] = h['summed'] = h['stacked'] = h['data_use'] = 1
    h['offset'] = np.rint(g.offsets)
    h['elevation_scalar'], h['coordinate_scalar'] = -survey.z_scalar, -survey.xy_scalar
    h['receiver_elevation'] = np.rint(g.r_h * survey.z_scalar)
    h['source_depth'] = np.rint(-g.s_h * survey.z_scalar)
    h['source_x'], h['source_y'] = survey.whole(g.s_x), survey.whole(g.s_y)
    h['group_x'], h['group_y'] = survey.whole(g.r_x), survey.whole(g.r_y)
    if survey.mapped:
        h['receiver_line'] = [survey.line_number.get(name, 0) for name in g.navigation.lines]
        h['receiver_station'] = np.rint(np.nan_to_num(g.navigation.stations) * survey.station_scalar)
    h['coordinate_units'] = 1
    h['delay'] = part.first * survey.interval // 1000
    h['samples'], h['interval'] = part.n, survey.interval
    if a.cdp is not None:
        h['ensemble'] = bins(survey, g, a.cdp)
    if a.kind == 'segy':
        h['midpoint_x'], h['midpoint_y'] = (survey.whole(values) for values in survey.midpoints(g))
        h['shot_point_number'] = np.rint(point * survey.point_scalar)
        h['shot_point_scalar'] = 1 if survey.point_scalar == 1 else -survey.point_scalar
        h['units'] = UNIT_CODE.get(g.units, -1)
    samples = g.raw[:, part.first:part.first + part.n]
    block['samples'] = ibmfloat.from_ieee(samples) if a.ibm else samples.view('>u4')
    return block


def bins(survey, g, spacing):
    """Numbers of the midpoint bins, from 1."""
    number = np.floor(((g.rx + g.sx) / 2 - survey.origin) / spacing + 0.5) + 1
    if np.any(np.abs(number) > segyheader.LIMIT[4]):
        cli.fail(f'midpoint bin {number[np.argmax(np.abs(number))]:.0f} does not fit the trace header (up to '
                 f'{segyheader.LIMIT[4]}); use a larger --cdp')
    return number


def binary_values(survey, part, a):
    most = max(int(survey.file.nrec[slot]) for slot in part.slots)
    line = line_numbers(survey.lines)[survey.lines[0]] if len(survey.lines) == 1 else 1
    return {'job': 1, 'line': line, 'reel': 1, 'traces_per_ensemble': most if most <= segyheader.LIMIT[2] else 0,
            'interval': survey.interval, 'interval_field': survey.interval, 'samples': part.n, 'samples_field': part.n,
            'format': 1 if a.ibm else 5, 'fold': 1, 'sorting': 5, 'vertical_sum': 1, 'measurement_system': 1,
            'polarity': POLARITY.get(a.component, 0), 'revision': 0x0100, 'fixed_length': 1}


def text_lines(survey, part, a):
    """The textual header: what the numbers are, in words."""
    f = survey.file
    first, last = (survey.gather(part.slots[i]) for i in (0, -1))
    delay = part.first * survey.interval // 1000
    wavelet = wavelet_words(f)
    return [
        'SYNTHETIC SEISMIC DATA, MODELLED BY ' + f.text('source', 'SplFd2dmod').upper(),
        f'{METHOD[bool(f.text("mesh_z")) + f.three_d]}, COMMON SOURCE GATHERS',
        f'DATA: {COMPONENT_NAME[a.component]} IN {survey.units.upper()}, {"IBM" if a.ibm else "IEEE"} FLOATS, NOT SCALED OR GAINED',
        f'RECORDS {first.record} TO {last.record}: {len(part.slots)} SHOTS, {part.traces} TRACES',
        f'SAMPLES {part.n}, INTERVAL {survey.interval} MICROSECONDS, FIRST SAMPLE AT {delay} MS',
        'TIME ZERO IS TIME ZERO OF THE SOURCE', '',
        *source_words(f), *wavelet, '',
        *(map_lines(survey) if survey.mapped else [
            'COORDINATES IN METRES, X ' + (f'{f.text("x_azimuth")} DEGREES FROM NORTH' if f.three_d else 'ALONG THE LINE')
            + ', Y TO THE LEFT OF IT, Z DOWN']),
        f'  COORDINATE SCALAR {-survey.xy_scalar}, DEPTH SCALAR {-survey.z_scalar}; POSITIONS '
        + ('OF THE NAVIGATION' if survey.mapped else {'used': 'USED BY THE MODELLING', 'asked': 'ASKED FOR'}[a.positions]),
        '  RECEIVER GROUP ELEVATION (41-44) IS ' + ('HEIGHT, SOURCE DEPTH (49-52) -HEIGHT' if survey.mapped else
                                                    '-Z, SOURCE DEPTH (49-52) IS +Z'),
        '  OFFSET (37-40) IS ' + ('TRUE DISTANCE, ' if survey.mapped else 'SIGNED: ') + 'NEGATIVE WHERE RECEIVER X < SOURCE X'
        + ('' if f.three_d or survey.mapped else '; ALONG X'),
        *([f'  {survey.ignored.upper()}'] if survey.ignored else []),
        f'  FIRST SOURCE X {first.sx:.2f} Z {first.sz:.2f}, LAST SOURCE X {last.sx:.2f} Z {last.sz:.2f}',
        '', 'TRACE HEADER BYTES: 9 RECORD  13 CHANNEL  17 AND 197 SHOT POINT  37 OFFSET',
        '  41 RECEIVER ELEVATION  49 SOURCE DEPTH  73/77 SOURCE X/Y  81/85 GROUP X/Y',
        '  115 SAMPLES  117 INTERVAL  181/185 MIDPOINT X/Y  203 UNIT (1 PA, 6 M/S)',
        *(['  233 RECEIVER LINE  237 RECEIVER STATION' + f' TIMES {survey.station_scalar}' * (survey.station_scalar > 1)]
          if survey.mapped else []),
        *([f'  21 MIDPOINT BIN, SPACING {a.cdp:g} M, MIDDLE OF BIN 1 AT X {survey.origin:.2f}'] if a.cdp else []),
        '', *grid_words(f)]


def map_lines(survey):
    """Lines on the map: system of coordinates, the rule of the modelling, names of lines."""
    f, rule = survey.file, survey.file.rule()
    words = f'EASTING AND NORTHING IN METRES: {f.text("navigation_crs")}'.upper()
    lines = textwrap.wrap(words, 76, subsequent_indent='  ')[:3]
    if rule:
        lines.append(f'  MODELLED X ALONG AZIMUTH {rule[2]:.6f} FROM E {rule[0]:.3f} N {rule[1]:.3f}')
        lines.append(f'  Y TO THE {"LEFT" if rule[3] else "RIGHT"} OF +X; OFFSETS {f.text("navigation_offset").upper()}')
    if survey.lines:
        lines.append(f'  LINE {", ".join(survey.lines)}'.upper()[:76])
    if any(str(number) != name for name, number in survey.line_number.items()):
        lines.append(('  RECEIVER LINES ' + ', '.join(f'{i} = {name}' for name, i in survey.line_number.items())).upper()[:76])
    return lines


def source_words(f):
    """Lines on what acts."""
    if f.three_d:
        return ['SOURCE TERM: ' + f.text('source_term').upper()]
    return ['SOURCE TERM: VOLUME INJECTION RATE Q(T) DELTA(X - XS), Q IN M2/S PER METRE',
            '  P = RHO DQ/DT * G, G(R,T) = H(T - R/C) / (2 PI SQRT(T**2 - R**2/C**2))']


def wavelet_words(f):
    """Lines on the wavelet: its name, and the parameters that make it."""
    kind = f.parameters().get('wavelet', '')
    if f.parameters().get('source') == 'fault':
        return [f'WAVELET: {f.text("wavelet")}'.upper()]
    names = {'ricker': ['fpeak'], 'ormsby': ['f1', 'f2', 'f3', 'f4'], 'file': ['wavelet_file']}.get(kind, []) + ['amplitude']
    words = ', '.join(f'{n} {f.text(n)}' for n in names if f.text(n))
    zero = f.text('wavelet_time_zero')
    lines = [f'WAVELET{"" if f.three_d else " Q"}: {f.text("wavelet", "SEE THE NETCDF FILE")}; {words}'.upper()]
    return lines + ([f'  ITS TIME ZERO AT {zero} S' if f.three_d else f'  TIME ZERO OF Q AT {zero} S'] if zero else [])


def grid_words(f):
    """Lines on grid, model and job, as far as the file tells."""
    lines, spacing = [], 'DX, DY, DZ {} M' if f.three_d else 'DX, DZ {} M'
    for title, names in (('GRID', (('grid_spacing_m', spacing), ('time_step_s', 'DT {} S'))),
                         ('SCHEME', (('half_length', 'HALF-LENGTH {}'), ('coeffs', '{} WEIGHTS'), ('top', 'TOP {}'))),
                         ('MODEL', (('model', '{}'), ('model_hash', 'HASH {}'))),
                         ('JOB', (('fingerprint', '{}'), ('keymap_hash', 'KEY-MAP {}')))):
        words = ', '.join(form.format(f.text(n).replace('\n', ' ')) for n, form in names if f.text(n))
        lines += [f'{title}: {words}'.upper()] if words else []
    return lines
