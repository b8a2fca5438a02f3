"""Gathers as seismograms with station codes: SAC or miniSEED, and StationXML beside them, through ObsPy."""
import contextlib
import functools
import io
import math
import os
import re

import numpy as np
from obspy import Stream, Trace, UTCDateTime
from obspy.core.inventory import Channel, Inventory, Network, Site, Station
from obspy.core.inventory.response import InstrumentSensitivity, PolesZerosResponseStage, Response
from obspy.io.sac import SACTrace

from spltools import cli
from spltools.gathers.gathers import points_left
from spltools.geometry.globe import place_of

MOTIONS = {'v': ('velocity', 'M/S', 'ivel'), 'u': ('displacement', 'M', 'idisp'), 'a': ('acceleration', 'M/S**2', 'iacc'),
           'p': ('pressure', 'PA', 'iunkn')}
BANDS = ((1000, 'F'), (250, 'C'), (80, 'H'), (10, 'B'), (1.0001, 'M'), (0, 'L'))   # FDSN: least samples a second, broad band
STATIONS_MOST = 99999                                                              # five characters
FAR = 1000e3                                                                       # from the reference [m]: no plane any more
UNLIKE = 0.01                                                                      # directions [degrees]


def export(file, slots, a):
    """Writes the shots of `slots`. Returns what was written, in words."""
    motion, names = recorded(file, a)
    frame = Frame(file, a)
    codes = Codes(a)
    ending = os.path.splitext(a.output)[1].lower()

    def shots():
        """Each with the beginning of its files' names; one at a time, for they may be many."""
        for slot in slots:
            shot = Shot(file, slot, names, motion, frame, codes, a)
            yield shot, os.path.splitext(a.output)[0] + (f'_{shot.record}' if len(slots) > 1 else '')
    paths = []
    for shot, stem in shots():
        paths += [*(shot.sac_paths(stem) if ending == '.sac' else [stem + ending]), stem + '.xml']
    for path in paths:
        cli.check_output(path, a.overwrite)
    traces = 0
    with contextlib.ExitStack() as stack:       # all files, or none

        def put(path, write):
            """By way of memory: what ObsPy does where a file cannot be written differs from format to format."""
            made = io.BytesIO()
            write(made)
            with open(stack.enter_context(cli.new_file(path, a.overwrite)), 'wb') as file:
                file.write(made.getbuffer())

        for shot, stem in shots():
            with_codes = list(shot.all())
            traces += len(with_codes)
            if ending == '.sac':
                for path, (station, channel) in zip(shot.sac_paths(stem), with_codes):
                    put(path, shot.sac(station, channel).write)
            else:
                put(stem + ending, functools.partial(shot.stream().write, format='MSEED', encoding='FLOAT32', reclen=4096))
            put(stem + '.xml', functools.partial(shot.inventory().write, format='STATIONXML', validate=True))
    return (f'{cli.counted(len(slots), "shot")}, {cli.counted(traces, "trace")} of {file.nt} samples, {MOTIONS[motion][0]}; '
            f'{frame.words()}; first file {paths[0]}')


def recorded(file, a):
    """(motion, names): the kind of motion that is wanted, and its components in the file."""
    motion = a.motion or next((m for m in MOTIONS if m in file.components or any(m + x in file.components for x in 'xyz')), None)
    names = [motion + x for x in 'xyz' if motion + x in file.components] if motion in ('v', 'u', 'a') else ['p']
    if motion is None or not names or names[0] not in file.components:
        cli.fail(f"{file.path} has no {MOTIONS[motion or 'v'][0]}; it has {', '.join(file.components)}: choose with --motion")
    if file.dt <= 0:
        cli.fail('the gathers have a single sample, so no sample interval; there is nothing to export')
    if a.turn and [n[1:] for n in names] != ['x', 'y', 'z']:
        wanted = ', '.join((motion if motion != 'p' else 'v') + x for x in 'xyz')
        cli.fail(f"turning to Z, R and T takes three components, {wanted}; {file.path} has {', '.join(file.components)}")
    return motion, names


def origin_time(text):
    try:
        return UTCDateTime(text)
    except Exception:               # ObsPy fails in several ways
        cli.fail(f"--origin-time '{text}' is no time such as 2009-04-06T01:32:41.5")


class Frame:
    """Directions of x and y of the file, degrees clockwise from north, and the place of x = 0, y = 0 on the globe."""

    def __init__(self, file, a):
        self.x = a.x_azimuth if a.x_azimuth is not None else float(file.text('x_azimuth', '90'))
        self.left = a.y_left or points_left(file)
        self.y = self.x + (-90 if self.left else 90)
        self.reference = a.reference or (0.0, 0.0)
        self.given = a.reference is not None
        told = file.text('navigation_azimuth_degrees')
        if a.x_azimuth is None and told and abs((float(told) - self.x + 180) % 360 - 180) > UNLIKE:
            cli.warn(f'north, east and places go by x at {self.x:g} degrees from north, as x_azimuth of the job or 2D has it, but '
                     f'by the navigation of the key-map x points {float(told):.6g} degrees from north: give '
                     f'{cli.named("--x-azimuth", "x_azimuth=")} to go by that')

    def words(self):
        lon, lat = self.reference
        return (f'x points {self.x:g} and y {self.y % 360:g} degrees from north; x = y = 0 at longitude {lon:g}, latitude {lat:g}'
                + ('' if self.given else ' (no --reference: not where they really are)'))

    def north_east(self, x, y):
        """A vector along x and y, along north and east; turns by quarters change no bit."""
        ax, ay = math.radians(self.x), math.radians(self.y)
        n = [exact(math.cos(ax)), exact(math.cos(ay))], [exact(math.sin(ax)), exact(math.sin(ay))]
        return tuple(c[0] * x + c[1] * y for c in n)

    def longitude_latitude(self, x, y):
        north, east = self.north_east(x, y)
        if np.hypot(north, east) > FAR:
            cli.fail(f'a position {np.hypot(north, east) / 1e3:.0f} km from x = y = 0 is too far for a plane, at most '
                     f'{FAR / 1e3:g} km: shift the origin of the coordinates, and give --reference')
        return place_of(north, east, *self.reference)


def flat(unit):
    """The response of an instrument that changes nothing."""
    stage = PolesZerosResponseStage(1, 1.0, 1.0, unit, unit, 'LAPLACE (RADIANS/SECOND)', 1.0, [], [])
    return Response(instrument_sensitivity=InstrumentSensitivity(1.0, 1.0, unit, unit), response_stages=[stage])


def exact(value):
    """Of a turn by a quarter 0 or 1, not almost."""
    return round(value) if abs(value - round(value)) < 1e-12 else value


class Codes:
    """Names of stations and channels."""

    def __init__(self, a):
        self.network, self.location, self.names = a.network, a.location, None
        for what, code, form in (('network', a.network, '[A-Z0-9]{1,2}'), ('location', a.location, '[A-Z0-9]{0,2}')):
            if not re.fullmatch(form, code):
                cli.fail(f"--{what} '{code}': give at most two letters A to Z or digits")
        if a.stations:
            from spltools.geometry.specfem_source import read_stations
            self.names = [(s.name.upper(), s.network.upper()) for s in read_stations(a.stations)]
            for name, network in self.names:
                if not re.fullmatch('[A-Z0-9]{1,5}', name) or not re.fullmatch('[A-Z0-9]{1,2}', network):
                    cli.fail(f'{a.stations}: {network}.{name} is no code of a station: at most five letters or digits, of its '
                             'network two')

    def station(self, channel):
        """Name and network of a channel of the gather, counted from 1."""
        if self.names is not None:
            if not 1 <= channel <= len(self.names):
                cli.fail(f'channel {channel} has no line in the file of --stations, which has {len(self.names)}: the channels are '
                         'its lines, from 1')
            return self.names[channel - 1]
        if not 0 <= channel <= STATIONS_MOST:
            cli.fail(f'channel {channel} makes no station code of at most five characters: give --stations, or other numbers')
        return (f'S{channel:04d}' if channel < 10000 else f'{channel:05d}'), self.network


class Place:
    """A station: codes, where it is, and its data {component: samples} of the file."""


class Shot:
    def __init__(self, file, slot, names, motion, frame, codes, a):
        self.frame, self.codes, self.a, self.motion, self.dt = frame, codes, a, motion, file.dt
        gathers = {n: file.gather(slot, n, a.positions) for n in names}
        g = gathers[names[0]]
        self.record, self.source = g.record, (g.sx, g.sy, g.sz)
        zero = float(np.atleast_1d(file.attributes.get('wavelet_time_zero', 0.0))[0])
        self.begin = float(file.time[0]) - zero                    # of the traces after the origin time [s]
        self.origin = origin_time(a.origin_time)
        rate = 1 / file.dt
        self.band = next(letter for least, letter in BANDS if rate >= least)
        self.stations = []
        seen = {}
        for r in range(g.nrec):
            p = Place()
            p.name, p.network = codes.station(int(g.channel[r]))
            if seen.setdefault((p.network, p.name), int(g.channel[r])) != int(g.channel[r]):
                cli.fail(f'two channels of shot record {g.record} are station {p.network}.{p.name}: give other names by --stations')
            p.x, p.y, p.z = float(g.rx[r]), float(g.ry[r]), float(g.rz[r])
            p.channels = self.channels({n: gathers[n].traces[r] for n in names}, p)
            self.stations.append(p)
        if not self.stations:
            cli.fail(f'shot record {g.record} has no receivers, nothing to write')

    def channels(self, data, p):
        """[(code, azimuth, dip, samples)]: vertical is up, horizontals north and east where both were recorded."""
        if self.motion == 'p':
            return [(self.band + 'DH', 0.0, 0.0, data['p'])]
        out, m = [], self.motion
        if m + 'x' in data and m + 'y' in data:
            x, y = np.asarray(data[m + 'x'], float), np.asarray(data[m + 'y'], float)
            north, east = self.frame.north_east(x, y)
            if self.a.turn == 'zrt':
                away = self.azimuth(p)
                c, s = math.cos(math.radians(away)), math.sin(math.radians(away))
                out += [('R', away, 0.0, c * north + s * east), ('T', (away + 90) % 360, 0.0, c * east - s * north)]
            else:
                out += [('N', 0.0, 0.0, north), ('E', 90.0, 0.0, east)]
        else:
            out += [('1' if c == 'x' else '2', (self.frame.x if c == 'x' else self.frame.y) % 360, 0.0, data[m + c])
                    for c in 'xy' if m + c in data]
        if m + 'z' in data:
            out.append(('Z', 0.0, -90.0, -data[m + 'z']))          # z of the modelling points down
        return [(self.band + 'X' + c, azimuth, dip, samples) for c, azimuth, dip, samples in out]

    def azimuth(self, p):
        """From the source to a station, degrees clockwise from north."""
        north, east = self.frame.north_east(p.x - self.source[0], p.y - self.source[1])
        if math.hypot(north, east) <= 0 and self.a.turn == 'zrt':
            cli.fail(f'station {p.network}.{p.name} stands above the source of shot record {self.record}: there is no direction '
                     'from it that R could point to')
        return math.degrees(math.atan2(east, north)) % 360

    def all(self):
        return ((p, c) for p in self.stations for c in p.channels)

    def sac_paths(self, stem):
        return [f'{stem}.{p.network}.{p.name}.{self.codes.location}.{c[0]}.sac' for p, c in self.all()]

    def stream(self):
        traces = []
        for p, (code, _, _, samples) in self.all():
            t = Trace(np.ascontiguousarray(samples, np.float32))
            t.stats.update(dict(network=p.network, station=p.name, location=self.codes.location, channel=code, delta=self.dt,
                                starttime=self.origin + self.begin))
            traces.append(t)
        return Stream(traces)

    def sac(self, p, channel):
        """Time 0 of the file is the origin time. user0..2: x, y, z of the station, user3..5: of the source [m], z down."""
        code, azimuth, dip, samples = channel
        o, (x, y, z) = self.origin, self.source
        lon, lat = self.frame.longitude_latitude(p.x, p.y)
        source_lon, source_lat = self.frame.longitude_latitude(x, y)
        t = SACTrace(data=np.ascontiguousarray(samples, np.float32), delta=self.dt, b=self.begin, nzyear=o.year, nzjday=o.julday,
                     nzhour=o.hour, nzmin=o.minute, nzsec=o.second, nzmsec=o.microsecond // 1000, iztype='io', lcalda=False)
        t.o = (o.microsecond % 1000) * 1e-6
        t.b = self.begin + t.o
        t.kstnm, t.knetwk, t.khole, t.kcmpnm = p.name, p.network, self.codes.location, code
        t.kevnm = f'SHOT {self.record}'
        t.stla, t.stlo, t.stel, t.evla, t.evlo, t.evdp = lat, lon, 0 - p.z, source_lat, source_lon, z / 1000
        north, east = self.frame.north_east(p.x - x, p.y - y)
        t.dist, t.az = math.hypot(north, east) / 1000, math.degrees(math.atan2(east, north)) % 360
        t.baz = (t.az + 180) % 360
        t.cmpaz, t.cmpinc, t.idep = azimuth, dip + 90, MOTIONS[self.motion][2]
        t.user0, t.user1, t.user2, t.user3, t.user4, t.user5 = p.x, p.y, p.z, x, y, z
        t.kuser0, t.kuser1, t.kuser2 = MOTIONS[self.motion][1], 'XYZ STA', 'XYZ SRC'
        return t

    def inventory(self):
        networks, unit = {}, MOTIONS[self.motion][1]
        for p in self.stations:
            lon, lat = self.frame.longitude_latitude(p.x, p.y)
            station = Station(p.name, lat, lon, -p.z, site=Site(f'x = {p.x:.10g} m, y = {p.y:.10g} m, z = {p.z:.10g} m (down)'),
                              creation_date=self.origin + self.begin)
            for code, azimuth, dip, _ in p.channels:
                station.channels.append(Channel(code, self.codes.location, lat, lon, -p.z, 0.0, azimuth=azimuth, dip=dip,
                                                sample_rate=1 / self.dt, response=flat(unit)))
            networks.setdefault(p.network, []).append(station)
        return Inventory([Network(code, stations) for code, stations in networks.items()], 'SPL', module='spl-export')
