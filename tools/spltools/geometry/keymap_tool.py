"""spl-keymap: key-maps from navigation files, trace headers, SPECFEM's files or a regular line; and what a key-map holds."""

import datetime
import os

import numpy as np

from spltools.cli import Parser, check_output, counted, fail, new_file, number, say, warn
from spltools.geometry import axis, p190, segy_geometry, segy_layout, sps
from spltools.geometry.blanks import refuse_blanks
from spltools.geometry.columns import read_crs
from spltools.geometry.specfem_source import Axes, Projection, read_events, read_stations
from spltools.geometry.navigation import CRS_MAX
from spltools.geometry.keymap import read_map
from spltools.geometry.keymap_writer import write_map
from spltools.geometry.shots import CHANNELS_MAX, RECORD_MAX, TRACES_MAX, Shot

ABOUT = """Makes and shows key-maps: the text files that say which shots to model (keymaps/README.md).

  spl-keymap p190 LINE.p190 --source-depth 7 -o line.keymap     UKOOA P1/90 navigation
  spl-keymap sps  S-FILE R-FILE X-FILE -o line.keymap           SPS revision 0 or 2.1
  spl-keymap segy LINE.segy -o line.keymap                      trace headers of SEG-Y or SU
  spl-keymap line --shots 12 --first-x 3500 ... -o line.keymap  a regular line
  spl-keymap specfem CMTSOLUTION STATIONS -o quake.keymap       SPECFEM's source and stations
  spl-keymap info line.keymap                                   what a key-map holds

Map coordinates are projected to the line: x along it, y across it. Receivers with map coordinates go to a
file of lists beside the key-map (line.receivers), each with its easting and northing. Shot points, lines and stations
are kept too; all of it goes to the output of the modelling and by spl-export to SEG-Y and SU. Metres, z down."""

# Fields of trace headers that may stand elsewhere; where samples are is told by the file as the standard has it.
MOVABLE = {name: place for name, place in segy_layout.FIELDS.items() if name not in ('ns', 'dt')}


def main(arguments):
    parser = Parser(prog='spl-keymap', description=ABOUT)
    verbs = parser.add_subparsers(dest='verb', metavar='VERB', parser_class=Parser)
    _p190_options(verbs)
    _sps_options(verbs)
    _segy_options(verbs)
    _line_options(verbs)
    _specfem_options(verbs)
    verb = verbs.add_parser('info', help='what a key-map holds', description='Prints what a key-map holds.')
    verb.add_argument('map', metavar='MAP')
    verb.add_argument('--shots', action='store_true', help='a line for each shot')
    verb.set_defaults(action=_info)
    options = parser.parse_args(arguments)
    if not options.verb:
        parser.print_help()
        return 0
    return options.action(options)


# --- options ------------------------------------------------------------------------------------------------


def _output_options(verb):
    verb.add_argument('-o', '--output', metavar='MAP', required=True, help='key-map to write, e.g. line.keymap')
    verb.add_argument('--overwrite', action='store_true', help='replace files that exist')


def _axis_options(verb):
    verb.add_argument(
        '--azimuth',
        default='auto',
        metavar='DEG',
        help=(
            'direction of +x, degrees clockwise from north; auto (default): best fit through the sources, '
            'from the first to the last; coordinates with constant y are then kept as they are; none: x and y '
            'are easting and northing of the file, as for a 3D model in map coordinates'
        ),
    )
    verb.add_argument('--origin', nargs=2, type=number(-1e9, 1e9, 'm'), metavar=('E', 'N'),
                      help='map coordinates of x = 0, y = 0; default: the smallest x of any source or receiver becomes 0')
    verb.add_argument('--keep-offset', action='store_true',
                      help='receivers of a feathered streamer at their true distance from the source, instead of its part along x')
    verb.add_argument('--crs', metavar='TEXT',
                      help='system of the map coordinates, best as EPSG:CODE; default: what the file says')
    verb.add_argument('--renumber', action='store_true', help='number the shots 1, 2, ... in the order of the file')


def _p190_options(verbs):
    verb = verbs.add_parser(
        'p190',
        help='from UKOOA P1/90 navigation',
        description='Key-map from a UKOOA P1/90 file: S records are the shots, the R records after each its receivers.',
    )
    verb.add_argument('file', metavar='FILE')
    verb.add_argument('--source-depth', type=number(-1e6, 1e6, 'm'), required=True, metavar='M',
                      help='depth of the source (P1/90 holds none)')
    verb.add_argument('--depth', type=number(-1e6, 1e6, 'm'), metavar='M',
                      help='for blank receiver depths; default: that of the same group in the nearest shot')
    verb.add_argument('--source', metavar='ID', help='source ID (column 18), where a point has several')
    verb.add_argument('--streamer', metavar='ID',
                      help='streamer ID (column 80), where there are several; all: each of them, for modelling in 3D')
    _axis_options(verb)
    _output_options(verb)
    verb.set_defaults(action=_p190)


def _sps_options(verbs):
    verb = verbs.add_parser('sps', help='from SPS source, receiver and relation files',
                            description='Key-map from the three SPS files.')
    verb.add_argument('sources', metavar='S-FILE')
    verb.add_argument('receivers', metavar='R-FILE')
    verb.add_argument('relations', metavar='X-FILE')
    verb.add_argument('--revision', choices=('0', '2.1'), help='default: by header H00 of S-FILE')
    verb.add_argument('--no-elevation', action='store_true',
                      help='depth = point depth; default: point depth - surface elevation')
    verb.add_argument('--skip-missing', action='store_true',
                      help='leave out relations of sources, and channels of receivers, that S-FILE and R-FILE lack')
    verb.add_argument('--on-floor', action='store_true',
                      help='receivers lie on the sea floor: their depth is the water depth of R-FILE')
    _axis_options(verb)
    _output_options(verb)
    verb.set_defaults(action=_sps)


def _segy_options(verbs):
    verb = verbs.add_parser('segy', aliases=['su'], help='from the trace headers of SEG-Y or SU',
                            description='Key-map from trace headers. Files named *.su are SU, others SEG-Y.')
    segy_layout.file_options(verb)
    verb.add_argument(
        '--unit',
        choices=('auto', 'm', 'ft', 'us-ft'),
        default='auto',
        help='unit of lengths; auto: as the file header says, which calls feet of 0.3048 m and of the US survey (us-ft) alike',
    )
    verb.add_argument('--record-field', choices=('record', 'source_point'), default='record',
                      help='what numbers the shots: field record (bytes 9-12) or energy source point (17-20)')
    verb.add_argument('--byte', action='append', default=[], metavar='FIELD=POS[:LEN]',
                      help='other byte position of a field, e.g. sx=201:4; fields: ' + ', '.join(MOVABLE))
    verb.add_argument('--source-depth', type=number(-1e6, 1e6, 'm'), metavar='M', help='instead of that in the headers')
    verb.add_argument('--depth', type=number(-1e6, 1e6, 'm'), metavar='M',
                      help='of receivers, instead of that in the headers')
    verb.add_argument('--shot-interval', type=number(-1e6, 1e6, 'm'), metavar='M',
                      help='where headers hold offsets but no coordinates')
    verb.add_argument('--first-x', type=number(-1e8, 1e8, 'm'), default=0.0, metavar='M',
                      help='... x of the first shot')
    verb.add_argument('--direction', type=int, choices=(-1, 1), default=-1,
                      help='... side of the receivers, if offsets have no sign')
    _axis_options(verb)
    _output_options(verb)
    verb.set_defaults(action=_segy)


def _line_options(verbs):
    verb = verbs.add_parser(
        'line',
        help='a regular line',
        description=(
            'Key-map of a regular line: a streamer that moves with '
            'the source (--first-offset) or a fixed spread (--spread-x).'
        ),
    )
    length = number(-1e8, 1e8, 'm')
    positive = number(1e-3, 1e6, 'm')
    verb.add_argument('--shots', type=number(1, 1000000, whole=True), required=True, metavar='N', help='how many, up to 1000000')
    verb.add_argument('--first-x', type=length, required=True, metavar='M', help='x of the first shot')
    verb.add_argument('--shot-interval', type=length, metavar='M', help='from one shot to the next; may be negative')
    verb.add_argument('--source-depth', type=number(-1e6, 1e6, 'm'), required=True, metavar='M', help='of all shots')
    verb.add_argument('--first-record', type=number(1, RECORD_MAX, whole=True), default=1, metavar='N', help='default 1')
    verb.add_argument('--record-step', type=number(1, RECORD_MAX, whole=True), default=1, metavar='N', help='default 1')
    verb.add_argument('--first-offset', type=length, metavar='M', help='from the source to channel 1 of a streamer')
    verb.add_argument('--direction', type=int, choices=(-1, 1), default=-1,
                      help='receivers at smaller (-1, default) or larger x (1)')
    verb.add_argument('--spread-x', type=length, metavar='M', help='x of channel 1 of a fixed spread')
    verb.add_argument('--interval', type=positive, required=True, metavar='M', help='from one channel to the next')
    verb.add_argument('--channels', type=number(1, CHANNELS_MAX, whole=True), required=True, metavar='N',
                      help=f'of a shot, up to {CHANNELS_MAX}')
    verb.add_argument('--depth', type=number(-1e6, 1e6, 'm'), required=True, metavar='M', help='of the receivers')
    _output_options(verb)
    verb.set_defaults(action=_line)


def _specfem_options(verbs):
    verb = verbs.add_parser(
        'specfem',
        help="from SPECFEM's CMTSOLUTION or FORCESOLUTION, and STATIONS",
        description=(
            'Key-map of an earthquake, and the parameters of its source (MAP.par). Latitude and longitude are '
            'northing and easting in metres unless --reference or --utm is given. Moments are turned from up, south, '
            'east to the axes of the modelling and from dyne cm to N m, forces too. Depth and burial count from the surface '
            '(SplFd3dmod: from z = 0). Channel n of the key-map is line n of STATIONS.'
        ),
    )
    verb.add_argument('source', metavar='SOURCE', help='CMTSOLUTION or FORCESOLUTION')
    verb.add_argument('stations', metavar='STATIONS')
    verb.add_argument('--reference', nargs=2, type=number(-360, 360, 'degrees'), metavar=('LON', 'LAT'),
                      help='x = y = 0, of a plane along meridian and parallel')
    verb.add_argument('--utm', type=number(-60, 60, whole=True), metavar='ZONE', help='UTM by pyproj; negative: south')
    verb.add_argument('--for', dest='program', choices=('SplSemmod', 'SplFd3dmod'), default='SplSemmod',
                      help='whose axes: SplSemmod (default) x east, y north; SplFd3dmod x north, y east')
    verb.add_argument('--x-azimuth', type=number(-360, 360, 'degrees'), metavar='DEG',
                      help='x points elsewhere, clockwise from north; y 90 degrees to its left (SplFd3dmod: right)')
    verb.add_argument('--event', type=number(1, whole=True), metavar='N', help='which of several sources')
    verb.add_argument('--half-duration', type=number(0, 1e4, 's', above=True), metavar='S',
                      help='instead of that of the file')
    verb.add_argument('--record', type=number(1, RECORD_MAX, whole=True), default=1, metavar='N', help='of the shot, default 1')
    _output_options(verb)
    verb.set_defaults(action=_specfem)


# --- verbs --------------------------------------------------------------------------------------------------


def _p190(options):
    shots, groups, notes = p190.read_p190(options.file, options.source_depth, options.depth, options.source,
                                          options.streamer, options.renumber)
    notes.append(f'source depth {options.source_depth:g} m as given (P1/90 holds none)')
    return _finish(options, shots, notes, f'P1/90 file {os.path.basename(options.file)}',
                   read_crs(options.file), groups)


def _sps(options):
    shots, notes = sps.read_sps(options.sources, options.receivers, options.relations, options.revision,
                                not options.no_elevation, options.skip_missing, options.on_floor)
    names = ', '.join(os.path.basename(f) for f in (options.sources, options.receivers, options.relations))
    return _finish(options, shots, notes, f'SPS files {names}', read_crs(options.sources))


def _segy(options):
    kind = 'su' if options.verb == 'su' else options.format
    settings = segy_geometry.Options(options.endian, kind, options.unit, options.record_field,
                                     [segy_layout.position(text, MOVABLE) for text in options.byte],
                                     options.source_depth, options.depth, options.first_x, options.shot_interval,
                                     options.direction)
    shots, notes = segy_geometry.read_geometry(options.file, settings)
    return _finish(options, shots, notes, f'trace headers of {os.path.basename(options.file)}', None if settings.made_up else '')


def _finish(options, shots, notes, origin, crs, groups=None):
    """Projects, writes the key-map, and prints what was found (which also heads the key-map). crs: the system of coordinates,
    '' where the file tells none, None where it has no coordinates, so that the key-map gets no navigation."""
    refuse_blanks(shots)
    if options.renumber:
        notes.append(f'shots renumbered: {shots[0].record} .. {shots[-1].record} became 1 .. {len(shots)}')
        for i, shot in enumerate(shots, 1):
            shot.record = i
    shots = _by_record(shots, notes)
    if options.azimuth == 'none':
        told, rule = axis.keep_map(shots, options.origin, options.keep_offset)
    else:
        azimuth = None if options.azimuth == 'auto' else _azimuth(options.azimuth)
        told, rule = axis.project_shots(shots, azimuth, options.origin, options.keep_offset)
    if crs is None:
        rule = None
    else:
        rule.crs = _crs(options.crs or crs, notes)
    notes += told
    notes += axis.describe(shots, groups, options.azimuth != 'none')
    comments = [f'Key-map from {origin}, made by spl-keymap on {datetime.date.today()}'] + notes
    paths = write_map(options.output, sorted(shots, key=lambda s: s.record), comments, options.overwrite, rule)
    for note in notes:
        say(note)
    say('written: ' + ', '.join(paths))
    return 0


def _by_record(shots, notes):
    """Shots by their records, or as they stand where these fall throughout: the line runs from the first to the last."""
    steps = np.diff([s.record for s in shots])
    if (steps > 0).all() or (steps < 0).all():
        return shots
    notes.append('shots are not in the order of their records: sorted')
    return sorted(shots, key=lambda s: s.record)


def _crs(text, notes):
    """The name of the system of coordinates, as far as a key-map holds it."""
    if not text:
        return 'not told'
    if text[:4].lower() == 'epsg':
        code = text[5:]
        if text[4:5] != ':' or not (code.isascii() and code.isdigit()) or not 1024 <= int(code) <= 32767:
            fail(f'--crs {text}: an EPSG code is written EPSG:1024 .. EPSG:32767')
        text = f'EPSG:{int(code)}'
    elif len(text) > CRS_MAX:
        notes.append(f'system of coordinates cut to {CRS_MAX} characters')
    return text[:CRS_MAX]


def _azimuth(text):
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not -360 <= value <= 360:
        fail(f"--azimuth '{text}': write auto, or degrees clockwise from north (-360 .. 360), or none")
    return value


def _line(options):
    if (options.first_offset is None) == (options.spread_x is None):
        fail('a line needs either --first-offset (a streamer) or --spread-x (a fixed spread)')
    if options.shots > 1 and not options.shot_interval:
        fail(f'{options.shots} shots need --shot-interval, other than 0')
    last = options.first_record + (options.shots - 1) * options.record_step
    if last > RECORD_MAX:
        fail(f'the last record would be {last}, above {RECORD_MAX}: lower --first-record or --record-step')
    if options.shots * options.channels > TRACES_MAX:
        fail(f'{options.shots} shots of {options.channels} channels are more than {TRACES_MAX} traces: make several key-maps')
    c = np.arange(options.channels) * options.interval
    channel, level, depth = np.arange(1, options.channels + 1), np.zeros(len(c)), np.full(len(c), options.depth)
    shots = []
    for i in range(options.shots):
        sx = options.first_x + i * (options.shot_interval or 0.0)
        rx = (
            options.spread_x + c
            if options.first_offset is None
            else sx + options.direction * (options.first_offset + c)
        )
        shots.append(
            Shot(options.first_record + i * options.record_step, sx, 0.0, options.source_depth, channel, rx, level,
                 depth)
        )
    notes = axis.describe(shots)
    comments = [f'Regular line made by spl-keymap on {datetime.date.today()}'] + notes
    paths = write_map(options.output, shots, comments, options.overwrite)
    for note in notes:
        say(note)
    say('written: ' + ', '.join(paths))
    return 0


def _specfem(options):
    if options.reference and options.utm:
        fail('--reference and --utm both tell where x and y begin: give one of them')
    events, stations = read_events(options.source), read_stations(options.stations)
    if options.event is None and len(events) > 1:
        fail(f'{options.source} holds {len(events)} sources; choose one with --event (one key-map each)')
    if (options.event or 1) > len(events):
        fail(f'--event {options.event}: {options.source} holds {len(events)} source(s)')
    event = events[(options.event or 1) - 1]
    if options.half_duration:
        event.half_duration = options.half_duration
    if not event.half_duration > 0 and not event.ricker:
        fail(f'{options.source}: the half duration is 0, a step without end of band: give --half-duration')
    elements = options.program == 'SplSemmod'
    azimuth = options.x_azimuth if options.x_azimuth is not None else 90.0 if elements else 0.0
    axes, plane = Axes(azimuth, left=elements), Projection(options.reference, options.utm)
    places = np.array([axes.place(*plane(s.latitude, s.longitude)) for s in stations])
    sx, sy = axes.place(*plane(event.latitude, event.longitude))
    shot = Shot(options.record, sx, sy, event.depth, np.arange(1, len(stations) + 1), places[:, 0], places[:, 1],
                np.array([s.burial for s in stations]))
    side = 'left' if elements else 'right'
    notes = [
        f'coordinates: {plane.words()}',
        f'x points {azimuth:g} degrees clockwise from north, y 90 degrees to its {side}, z down',
    ] + axis.describe([shot], line=False)
    _doubt_metres(options, plane, [event, *stations])
    path = os.path.splitext(options.output)[0] + '.par'
    if path == options.output:
        fail(f'{path}: this name is wanted for the parameters of the source; name the key-map NAME.keymap')
    check_output(path, options.overwrite)
    names = f'{os.path.basename(options.source)} and {os.path.basename(options.stations)}'
    made = f'made by spl-keymap on {datetime.date.today()}'
    with new_file(path, options.overwrite) as temporary:        # beside the key-map, or neither
        with open(temporary, 'w', encoding='utf-8') as file:
            file.writelines(line + '\n' for line in _specfem_deck(options, event, axes, azimuth, f'{names}, {made}', elements))
        paths = write_map(options.output, [shot], [f'Key-map from {names}, {made}'] + notes, options.overwrite)
    for note in notes:
        say(note)
    say('written: ' + ', '.join(paths + [path]))
    return 0


def _doubt_metres(options, plane, places):
    """Warns of what looks like degrees and is taken in metres."""
    if plane.measured:
        return
    latitude, longitude = (max(abs(getattr(p, name)) for p in places) for name in ('latitude', 'longitude'))
    if latitude <= 90 and longitude <= 360:
        warn(f'{options.stations}: latitudes up to {latitude:g} and longitudes up to {longitude:g} look like degrees, but are taken'
             ' in metres: give --reference LON LAT, or --utm')


def _specfem_deck(options, event, axes, azimuth, origin, elements):
    """The lines of the parameter file."""
    when = event.time.strftime('%Y-%m-%dT%H:%M:%S.%f') if event.time else 'not told'
    yield f'# Source of {origin}; add mesh or model and tmax.'
    yield f'# {event.name or "event without a name"}; centroid time {when}, the time zero of the wavelet (spl-export --origin-time)'
    yield "keymap = '" + options.output.replace("'", "''") + "'"
    if event.force is not None:
        yield 'source = force'
        for name, value in zip(('fx', 'fy', 'fz'), axes.rows @ event.force):
            yield f'{name} = {value:.9g}'
    else:
        yield 'source = moment'
        m = axes.tensor(event.north_east_down())
        for name, (i, k) in zip(('mxx', 'myy', 'mzz', 'mxy', 'mxz', 'myz'), ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            yield f'{name} = {m[i, k]:.9g}'
    if event.ricker:
        yield 'wavelet = ricker'
        yield f'fpeak = {event.ricker:.9g}'
    else:
        yield 'wavelet = gauss'
        yield f'sigma = {event.sigma():.9g}  # half duration {event.half_duration:g} s: exp(-(1.628 t/{event.half_duration:g})**2)'
    yield f'x_azimuth = {azimuth:.10g}'
    if elements:
        yield 'source_z = surface  # a parameter of SplSemmod; for SplFd3dmod make the key-map with --for SplFd3dmod'
        yield 'receiver_z = surface'


def _info(options):
    shots = read_map(options.map)
    todo = [s for s in shots if not s.skip]
    say(f'{options.map}: {counted(len(todo), "shot")} to model, {len(shots) - len(todo)} skipped'
        + (f', {sum(s.redo > 0 for s in todo)} of them again' if any(s.redo for s in todo) else ''))
    for line in axis.describe(todo) if todo else []:
        say('  ' + line)
    if options.shots:
        say(
            f'{"record":>10s} {"sx":>10s} {"sz":>8s} {"sy":>8s} {"channels":>8s} {"offsets":>18s}'
            f' {"receivers x":>22s} {"z":>16s}'
        )
        for s in shots:
            offset = np.hypot(s.rx - s.sx, s.ry - s.sy)
            say(
                f'{s.record:10d} {s.sx:10.2f} {s.sz:8.2f} {s.sy:8.2f} {len(s.rx):8d} {offset.min():8.1f} ..'
                f' {offset.max():6.1f} {s.rx.min():9.1f} .. {s.rx.max():9.1f} {s.rz.min():6.1f} ..'
                f' {s.rz.max():6.1f}{"  skip" if s.skip else "  redo" if s.redo else ""}'
            )
    return 0
