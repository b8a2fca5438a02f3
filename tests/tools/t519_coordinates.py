#!/usr/bin/env python3
"""Navigation comes through: P1/90 or SPS -> key-map -> modelling -> SEG-Y and SU, to 1 cm, and back to the same survey.

P1/90, SPS, SEG-Y and SU are written and read here by code of its own; no formula is shared with what is tested.
"""
import math
import os
import re
import struct
import sys

import numpy as np
import segyio
from netCDF4 import Dataset

sys.path[:0] = [os.path.join(os.environ['ROOT'], 'tests', room) for room in ('survey', 'jobs3d')]
from check import claim, done, given_seed  # noqa: E402
from toolrun import Tool  # noqa: E402
import minisurvey  # noqa: E402
from spltools import cli  # noqa: E402
from spltools.geometry import keymap  # noqa: E402

F = segyio.TraceField
CENTIMETRE = 0.01
seed = given_seed()
rng = np.random.default_rng(seed)
keymap_tool, export = Tool('spl-keymap', 'bad.keymap'), Tool('spl-export', 'bad.segy')


# --- navigation, written and read with columns counted here -----------------------------------------------------------


def made_line(north, decimals, shots=4, groups=9):
    """(sources, receivers (shots, groups)) as easting + i northing: a bent, feathered streamer at any azimuth, a boat that strays."""
    heading = np.exp(1j * rng.uniform(0, 2 * np.pi))
    boat = 412345.67 + 1j * north + heading * (50.0 * np.arange(shots) + 1j * rng.uniform(-6, 6, shots))
    angle = np.radians(rng.choice([-1, 1]) * rng.uniform(4, 12)) + 2e-4 * np.arange(groups)
    cable = boat[:, None] - heading * np.exp(1j * angle) * (120.0 + 12.5 * np.arange(groups) + rng.uniform(-1, 1, groups))
    return np.round(boat, decimals), np.round(cable, decimals)


def write_p190(path, boat, cable, decimals, first=2001):
    lines = [f'{"H1500GEODETIC DATUM AS PLOTTED":<32s}WGS-84', f'{"H2000GRID UNITS":<32s}1METRES                   1.000000000000',
             f'{"H2001HEIGHT UNITS":<32s}1METRES                   1.000000000000']
    for i, (s, groups) in enumerate(zip(boat, cable)):
        row = list(' ' * 80)

        def put(first_column, text, row=row):
            row[first_column - 1 : first_column - 1 + len(text)] = text

        put(1, 'S')
        put(2, 'LINE 7A')
        put(18, '1')
        put(20, f'{first + i:6d}')
        put(47, f'{s.real:9.{decimals}f}{s.imag:9.{decimals}f}  50.0')
        lines.append(''.join(row))
        numbers = range(len(groups), 0, -1)                       # the last group first, as vessels write them
        for k in range(0, len(groups), 3):
            some = [(n, groups[n - 1]) for n in list(numbers)[k : k + 3]]
            text = 'R' + ''.join(f'{n:4d}{g.real:9.{decimals}f}{g.imag:9.{decimals}f} 8.5' for n, g in some)
            lines.append(f'{text:<79s}3')
    with open(path, 'w', encoding='ascii') as file:
        file.write('\n'.join(lines) + '\n')


def read_p190(path):
    """{point: (source, {group: position})}, positions as easting + i northing."""
    survey, groups = {}, None
    for line in open(path, encoding='latin-1'):
        if line[0] == 'S':
            groups = {}
            survey[int(line[19:25])] = complex(float(line[46:55]), float(line[55:64])), groups
        if line[0] == 'R':
            for start in (1, 27, 53):
                if line[start : start + 4].strip():
                    at = start + 4
                    groups[int(line[start:at])] = complex(float(line[at : at + 9]), float(line[at + 9 : at + 18]))
    return survey


# --- what is compared -----------------------------------------------------------------------------------------------------


def segy_headers(path):
    """Header words by name, (traces)."""
    words = {'record': F.FieldRecord, 'channel': F.TraceNumber, 'point': F.EnergySourcePoint, 'sx': F.SourceX, 'sy': F.SourceY,
             'gx': F.GroupX, 'gy': F.GroupY, 'cdp': F.CDP, 'cdpx': F.CDP_X, 'cdpy': F.CDP_Y, 'offset': F.offset,
             'scalar': F.SourceGroupScalar, 'height': F.ReceiverGroupElevation, 'depth': F.SourceDepth, 'zscalar': F.ElevationScalar,
             'units': F.CoordinateUnits, 'point2': F.ShotPoint, 'pscalar': F.ShotPointScalar}
    with segyio.open(path, ignore_geometry=True) as f:
        return {name: np.array(f.attributes(word)[:], float) for name, word in words.items()}


def su_headers(path, nt):
    found, size = [], 240 + 4 * nt
    data = open(path, 'rb').read()
    for at in range(0, len(data), size):
        i4, i2 = (lambda b, a=at: struct.unpack('<i', data[a + b - 1 : a + b + 3])[0]), \
                 (lambda b, a=at: struct.unpack('<h', data[a + b - 1 : a + b + 1])[0])
        found.append((i4(9), i4(13), i4(17), i4(73), i4(77), i4(81), i4(85), i4(37), i2(71), i2(89), i4(41), i4(49), i2(69), i4(233)))
    names = 'record channel point sx sy gx gy offset scalar units height depth zscalar line'.split()
    return {name: np.array(values, float) for name, values in zip(names, zip(*found))}


def compare(p190, h, what, source_depth):
    """Claims that trace headers are the navigation of a P1/90 file: every trace of it, to 1 cm."""
    survey = read_p190(p190)
    scale = np.where(h['scalar'] < 0, -1 / h['scalar'], h['scalar'])
    true_s = np.array([survey[int(p)][0] for p in h['point']])
    true_g = np.array([survey[int(p)][1][int(c)] for p, c in zip(h['point'], h['channel'])])
    s, g = (h['sx'] + 1j * h['sy']) * scale, (h['gx'] + 1j * h['gy']) * scale
    pairs = {(int(p), int(c)) for p, c in zip(h['point'], h['channel'])}
    wanted = {(p, c) for p, (_, groups) in survey.items() for c in groups}
    off = [np.abs(s - true_s).max(), np.abs(g - true_g).max(), np.abs(np.abs(g - s) - np.abs(true_g - true_s)).max(),
           (np.abs(np.abs(h['offset']) - np.abs(true_g - true_s))).max()]
    claim(pairs == wanted and len(h['point']) == len(wanted) and set(h['units']) == {1.0} and max(off[:3]) < CENTIMETRE and off[3] <= 0.501,
          f'{what}: {len(wanted)} traces by shot point and group; sources, receivers, offsets to {off[0]:.4f}, {off[1]:.4f}, {off[2]:.4f} m, '
          f'offset words to {off[3]:.2f} m, scalar {h["scalar"][0]:.0f}')
    zscale = np.where(h['zscalar'] < 0, -1 / h['zscalar'], h['zscalar'])
    claim(np.abs(h['depth'] * zscale - source_depth).max() < CENTIMETRE and h['height'].max() < 0, f'{what}: sources {source_depth} m deep, '
          f'receivers at heights {(h["height"] * zscale).min():.2f} .. {(h["height"] * zscale).max():.2f} m')
    return true_s, true_g


def positions(path):
    """[(record, channel, x, y)] of a key-map's shots and receivers, read here: of maps with lists, as spl-keymap writes them."""
    lists, name, shots = {}, None, []
    for line in open(os.path.splitext(path)[0] + '.receivers', encoding='utf-8'):
        words = line.split('#')[0].split()
        if words and words[0] == 'list':
            name = words[1]
        elif words:
            lists.setdefault(name, []).append((int(words[0]), float(words[1]), float(words[3])))
    for line in open(path, encoding='utf-8'):
        words = line.split('#')[0].split()
        if words and words[0] == 'shot':
            y = next((float(w[2:]) for w in words if w.startswith('y=')), 0.0)
            shots += [(int(words[1]), 0, float(words[2]), y)] + [(int(words[1]), *r) for r in lists[words[4]]]
    return np.array(sorted(shots))


def not_mirrored(name, what, h):
    """Claims that positions of the modelling in SEG-Y are those of the map, shifted and turned: Y lies to the left of X there, too."""
    export.fine(f'{what}: positions of the modelling', name + '.nc', '-o', 'model.segy', '--coordinates', 'model', '--overwrite')
    model, mapped = (np.concatenate([w['sx'] + 1j * w['sy'], w['gx'] + 1j * w['gy']]) / np.tile(-w['scalar'], 2)
                     for w in (segy_headers('model.segy'), h))
    model, mapped = model - model.mean(), mapped - mapped.mean()
    turn = np.vdot(model, mapped)
    off = np.abs(mapped - model * turn / abs(turn)).max()
    claim(off < 2 * CENTIMETRE, f'{what}: those of the modelling are the same survey, shifted and turned, to {off:.4f} m')


def test_line(north, decimals, kept):
    """A 2D line, modelled with offsets projected or kept."""
    boat, cable = made_line(north, decimals)
    write_p190('line.p190', boat, cable, decimals)
    how = ['--keep-offset'] if kept else []
    what = f'northing {north:.2f}, offsets {"kept" if kept else "projected"}'
    name = 'kept' if kept else f'line{decimals}'
    keymap_tool.fine(f'seed {seed}: {what}: a key-map of P1/90', 'p190', 'line.p190', '--overwrite', '--source-depth', 6.25, '--crs', 'EPSG:32618', *how,
                     '-o', name + '.keymap')
    minisurvey.write_model()
    minisurvey.write_deck(keymap=name + '.keymap', output=name + '.nc', tmax=0.1, aperture=50)
    ran = minisurvey.run('par=job.par')
    claim(ran.returncode == 0, f'{what}: is modelled: {(ran.stderr or "fine").strip()[-300:]}')
    for tool_output in (name + '.segy', name + '.su'):
        export.fine(f'{what}: goes to {tool_output}', name + '.nc', '-o', tool_output)
    h = segy_headers(name + '.segy')
    true_s, true_g = compare('line.p190', h, 'SEG-Y, ' + what, 6.25)
    with Dataset(name + '.nc') as ds:
        nt = len(ds.dimensions['time'])
        held = np.abs(np.asarray(ds['receiver_easting'][:]) + 1j * np.asarray(ds['receiver_northing'][:]) - cable[:, ::-1]).max()
        words = [bytes(row.compressed().tobytes() if np.ma.isMaskedArray(row) else row.tobytes()).split(b'\0')[0].decode()
                 for row in ds['line_name'][:]]
        from_line = words[int(ds['source_line'][0]) - 1], words[int(ds['receiver_line'][0, 0]) - 1]
        facts = {n: ds.getncattr(n) for n in ds.ncattrs()}
        claim(held < 1e-3 and from_line == ('LINE 7A', '3') and list(ds['shot_point'][:]) == list(range(2001, 2005))
              and facts['navigation_crs'] == 'EPSG:32618' and facts['navigation_offset'] == ('kept' if kept else 'projected'),
              f'{what}: the output holds positions to {held:.6f} m, lines {from_line}, shot points and the rule')
        # x of the modelling by its rule, seen from outside: distances along the line, or true ones
        along = np.exp(1j * np.radians(90 - facts['navigation_azimuth_degrees']))
        x = np.asarray(ds['receiver_x'][:]) - np.asarray(ds['source_x'][:])[:, None]
        step = (cable[:, ::-1] - boat[:, None]) / along
        wanted = -np.abs(step) if kept else step.real
        claim(np.abs(x - wanted).max() < CENTIMETRE, f'{what}: modelled offsets are {"true" if kept else "along the line"}, to '
              f'{np.abs(x - wanted).max():.4f} m')
        origin = complex(*facts['navigation_origin_m'])
        ignored = [facts['ignored_' + n] for n in ('source_across_m', 'receiver_across_m', 'feathering_degrees', 'offset_m')]
        far = np.abs(step).argmax(axis=1)
        angle = np.degrees(np.abs(np.angle(-step[np.arange(len(far)), far])))
        wanted = [np.abs(((boat - origin) / along).imag).max(), np.abs(step.imag).max(), angle.max(), (np.abs(step) - np.abs(step.real)).max()]
        told = re.search(r'line +y left out.*receivers up to ([0-9.]+) m across', open(name + '.nc.log').read())
        claim(np.allclose(ignored, wanted, atol=2 * CENTIMETRE) and told is not None
              and abs(float(told.group(1)) - wanted[1]) < 2 * CENTIMETRE,
              f'{what}: left out: sources {ignored[0]:.2f} m off the line, receivers {ignored[1]:.2f} m across, feathering '
              f'{ignored[2]:.2f} degrees, offsets {ignored[3]:.2f} m, in file and log')
    if not kept:
        not_mirrored(name, what, h)
    compare('line.p190', su_headers(name + '.su', nt), 'SU, ' + what, 6.25)
    claim(set(su_headers(name + '.su', nt)['line']) == {3.0} and set(h['point2'] * np.where(h['pscalar'] < 0, -1 / h['pscalar'], 1)) ==
          {2001.0, 2002.0, 2003.0, 2004.0}, f'{what}: streamer 3 in bytes 233, shot points in bytes 197 too')
    middle = (h['cdpx'] + 1j * h['cdpy']) / -h['scalar'][0]
    claim(np.abs(middle - (true_s + true_g) / 2).max() < CENTIMETRE, f'{what}: CDP X and Y are midpoints on the map')
    keymap_tool.fine(f'{what}: the export is read back', 'segy', name + '.segy', *how, '-o', 'back.keymap', '--overwrite')
    one, two = positions(name + '.keymap'), positions('back.keymap')
    off = np.abs(one - two).max() if one.shape == two.shape else np.inf
    claim(off < CENTIMETRE, f'{what}: and is the same survey to {off:.4f} m')
    export.fine('midpoints numbered', name + '.nc', '-o', 'cdp.segy', '--cdp', 6.25, '--overwrite')
    c = segy_headers('cdp.segy')
    place = ((c['cdpx'] + 1j * c['cdpy']) / -c['scalar'][0] - origin) / along
    claim(np.abs(place.imag).max() < CENTIMETRE and np.abs(place.real - place.real[0] - 6.25 * (c['cdp'] - c['cdp'][0])).max() < 2 * CENTIMETRE,
          f'{what}: bins of --cdp lie on the line, 6.25 m apart, at most {np.abs(place.imag).max():.4f} m off it')


def test_bins_along_east():
    """Where x and y stay easting and northing, bins of --cdp lie at the northing of the sources, not at 0."""
    with open('east.keymap', 'w') as file:
        file.write('navigation crs=EPSG:32618 e0=0 n0=0 azimuth=90 y=left\nspread c streamer first=50 interval=20 channels=3 depth=8\n'
                   + ''.join(f'shot {i} {500 + 40 * i} 13 c y=4512345.67\n' for i in (1, 2, 3)))
    minisurvey.write_model()
    minisurvey.write_deck(keymap='east.keymap', output='east.nc', tmax=0.05, aperture=50)
    claim(minisurvey.run('par=job.par').returncode == 0, 'a line to the east is modelled')
    export.fine('and goes to SEG-Y', 'east.nc', '-o', 'east.segy', '--cdp', 10)
    c = segy_headers('east.segy')
    off = np.abs(c['cdpx'] - (c['sx'] + c['gx']) / 2).max() / -c['scalar'][0]
    claim(set(c['cdpy']) == {451234567.0} and off < 5 + CENTIMETRE, f'bins lie at northing {set(c["cdpy"] / -c["scalar"])}, at most half a '
          f'bin from midpoints: {off:.2f} m')


def test_3d():
    """Stations of an SPS survey with lines and half points, for 3D at any azimuth, and as easting and northing."""
    import mini3d
    heading = np.exp(1j * rng.uniform(0, 2 * np.pi))
    corner = 701234.5 + 5812345.6j
    sources = np.round(corner + heading * np.array([180 - 220j, 260 - 160j]), 1)
    at = np.array([[140 + 60 * p - 1j * (150 + 80 * k) for p in range(3)] for k in range(2)])
    spread = np.round(corner + heading * at, 1)

    def point(kind, line, number, position, depth, height):
        return (f'{kind}{line:10.2f}{number:10.2f}  1{kind}1{"":4s}{depth:4.1f}'.ljust(46)
                + f'{position.real:9.1f}{position.imag:10.1f}{height:6.1f}'.ljust(34) + '\n')

    head = f'{"H00 SPS format version num.":<32s}SPS 2.1\n'
    with open('s.sps', 'w') as file:
        file.write(head + f'{"H18 Projection":<32s}UTM 33\n' + ''.join(point('S', 12, 501.5 + i, p, 2.0, -10.0) for i, p in enumerate(sources)))
    with open('r.rps', 'w') as file:
        file.write(head + ''.join(point('R', 100 + k, 7001 + p, spread[k, p], 0.0, -15.5) for k in range(2) for p in range(3)))
    with open('x.xps', 'w') as file:
        for i in range(2):
            for k in range(2):
                row = f'X{"":6s}{11 + i:8d}11{12:10.2f}{501.5 + i:10.2f}1{3 * k + 1:5d}{3 * k + 3:5d}1{100 + k:10.2f}{7001:10.2f}{7003:10.2f}1'
                file.write(row + '\n')
    for name, how in (('turned', []), ('axes', ['--azimuth', 'none', '--origin', 701000, 5812000])):
        azimuth = math.degrees(math.atan2(heading.real, heading.imag))
        how = how or ['--azimuth', f'{azimuth:.6f}', '--origin', f'{corner.real:.2f}', f'{corner.imag:.2f}']
        keymap_tool.fine(f'{name}: a key-map of SPS', 'sps', 's.sps', 'r.rps', 'x.xps', *how, '-o', name + '.keymap')
        reach = np.abs(positions(name + '.keymap')[:, 2:]).max()
        claim(reach < 1e4, f'{name}: positions near 0, {reach:.1f} m at most')
        mini3d.make(shots=1, keymap=name + '.keymap', output=name + '.nc', tmax=0.05)
        ran = mini3d.run('par=job.par')
        claim(ran.returncode == 0, f'{name}: is modelled in 3D: {(ran.stderr or "fine").strip()[-300:]}')
        export.fine(f'{name}: goes to SEG-Y', name + '.nc', '-o', name + '.segy')
        h = segy_headers(name + '.segy')
        s, g = (h['sx'] + 1j * h['sy']) / -h['scalar'], (h['gx'] + 1j * h['gy']) / -h['scalar']
        off = max(np.abs(s - np.repeat(sources, 6)).max(), np.abs(g - np.tile(spread.ravel(), 2)).max())
        points = h['point2'] / -h['pscalar']
        not_mirrored(name, name, h)
        claim(off < CENTIMETRE and list(points) == [501.5] * 6 + [502.5] * 6, f'{name}: to {off:.4f} m on the map, shot points {set(points)}')
        claim(np.all(h['height'] / -h['zscalar'] == -15.5) and np.all(h['depth'] / -h['zscalar'] == 12.0),
              f'{name}: heights of sea floor {set(h["height"])} and depths of sources {set(h["depth"])}, scalar {set(h["zscalar"])}')
        with open(name + '.segy', 'rb') as file:
            raw = file.read()
            nt = struct.unpack('>h', raw[3220:3222])[0]
            tail = [struct.unpack('>ii', raw[at + 232 : at + 240]) for at in range(3600, len(raw), 240 + 4 * nt)]
        with Dataset(name + '.nc') as ds:
            stations = np.asarray(ds['receiver_station'][:])
        claim([s for _, s in tail] == [7001, 7002, 7003] * 4 and np.all(stations == [7001, 7002, 7003] * 2)
              and len({l for l, _ in tail}) == 2, f'{name}: lines and stations of receivers: {tail[:4]}')
        keymap_tool.fine(f'{name}: the export is read back', 'segy', name + '.segy', *how, '-o', 'back.keymap', '--overwrite')
        one, two = positions(name + '.keymap'), positions('back.keymap')
        claim(one.shape == two.shape and np.abs(one - two).max() < CENTIMETRE, f'{name}: and is the same survey to 1 cm')


def judged(path):
    """Exit status and words that spl-keymap would have for a map."""
    cli.inputs.clear()
    try:
        keymap.read_map(path)
    except cli.Failure as failure:
        return 1, str(failure)
    return 0, ''


def test_faults():
    """Navigation that is wrong is refused by the modelling and by the tool, each fault with its line."""
    rule = 'navigation crs=EPSG:32618 e0=400000 n0=6000000 azimuth=30\n'
    spread = 'spread c streamer first=50 interval=20 channels=5 depth=8\n'
    shot = 'shot 1 600 13 c'
    with open('own.receivers', 'w') as file:
        file.write('list a\n1 500 8 0 400250.0 6000433.013 - L1 17.5\n2 520 8 0 400260 6000450.333\nlist b\n1 500 8 0 400250 6000433.013\n'
                   '2 520 8 0\nlist w\n1 500 8 0 400250 6000433.03\n')
    lists = 'lists own.receivers\n'
    cases = {
        True: [rule + spread + shot, rule + lists + 'shot 1 600 13 a point=7 line="LINE 1"', rule + spread + shot + ' e=400300 n=6000519.615',
               'navigation crs="Gauss-Krueger 4"\n' + lists + 'shot 1 600 13 a e=1 n=2 h=-3',
               spread + shot],
        False: [spread + shot + ' e=400300 n=6000519.615', spread + shot + ' point=3', lists + 'shot 1 600 13 a',
                rule + rule + spread + shot, rule.replace('n0=6000000', '') + spread + shot, rule.replace('EPSG:32618', 'EPSG:7') + spread + shot,
                rule.replace('azimuth=30', 'azimuth=400') + spread + shot, rule.replace('azimuth=30', 'azimuth=30 offset=moved') + spread + shot,
                rule + spread + shot + ' e=400300', rule + spread + shot + ' e=400300 n=6000519.64', rule + lists + 'shot 1 600 13 b',
                rule + lists + 'shot 1 600 13 w', 'navigation crs=local\n' + spread + shot, 'navigation crs=local y=left\n' + spread + shot,
                'navigation e0=1 n0=1 azimuth=1\n' + spread + shot, rule + spread + shot + ' point=x',
                rule.replace('azimuth=30', 'azimuth=30 offset=kept') + lists + 'shot 1 600 13 a\nshot 2 650 13 a y=30']}
    minisurvey.write_model()
    minisurvey.write_deck(keymap='case.keymap', output='case.nc', tmax=0.01)
    for right, maps in cases.items():
        for i, text in enumerate(maps):
            with open('case.keymap', 'w') as file:
                file.write(text + '\n')
            ran, (status, said) = minisurvey.run('par=job.par', 'overwrite=y'), judged('case.keymap')
            told = [line for line in (ran.stdout + ran.stderr).splitlines() if 'line ' in line and ('keymap' in line or 'receivers' in line)]
            claim((ran.returncode == 0) == right == (status == 0) and 'Traceback' not in said and (right or told),
                  f'{"taken" if right else "refused"} by both, case {i}: {(told or ["fine"])[-1].strip()[:150]}'
                  + ('' if (ran.returncode == 0) == right == (status == 0) else f' MODELLING {ran.stdout + ran.stderr} TOOL {said}'))


def test_restart():
    """An output without navigation goes on under a key-map that has it; one with another navigation of finished shots does not."""
    spread, shots = 'spread c streamer first=50 interval=20 channels=5 depth=8\n', 'shot 1 600 13 c{}\nshot 2 650 13 c{}\n'
    rule = 'navigation crs=EPSG:32618 e0=400000 n0=6000000 azimuth=30\n'
    minisurvey.write_deck(keymap='old.keymap', output='old.nc', tmax=0.05)

    def go(text, *more):
        with open('old.keymap', 'w') as file:
            file.write(text)
        ran = minisurvey.run('par=job.par', *more)
        return ran.returncode, ran.stdout + ran.stderr

    plain = spread + shots.format('', '')
    status, said = go(plain)
    with Dataset('old.nc') as ds:
        claim(status == 0 and 'source_easting' not in ds.variables and 'navigation_hash' not in ds.ncattrs()
              and 'easting' not in ds['checksum'].order, f'a key-map without navigation: an output as before {said if status else ""}')
    status, said = go(rule + plain)
    claim(status == 0 and 'begun without navigation' in said and 'shots to do: 0 of 2' in said,
          'the old output goes on under a key-map that has navigation now, and says so')
    status, said = go(rule + spread + shots.format(' point=1', ' point=2'), 'output=new.nc')
    status2, said2 = go(rule + spread + shots.format(' point=1', ' point=2'), 'output=new.nc')
    claim(status == status2 == 0 and 'shots to do: 0 of 2' in said2, 'an output with navigation is complete, and goes on')
    status, said = go(rule + spread + shots.format(' point=1', ' point=3'), 'output=new.nc')
    claim(status == 1 and 'is finished' in said and 'with shot point' in said, f'another shot point: refused: {said.strip()[-120:]}')
    status, said = go(plain, 'output=new.nc')
    claim(status == 1 and 'holds the navigation' in said, 'navigation gone: refused')
    status, said = keymap_tool('info', 'old.keymap')
    os.rename('new.nc', 'there.nc')
    with open('there.nc', 'r+b') as file:      # a flipped bit in an easting shows
        with Dataset('new2.nc', 'w'):
            pass
        data = bytearray(file.read())
        value = struct.pack('>d', 400000 + 600 * math.sin(math.radians(30)))
        where = data.find(value[:7])
        data[where + 7] ^= 1
        file.seek(0)
        file.write(data)
    ran = minisurvey.run('verify', 'output=there.nc')
    status, said = export('there.nc', '-o', 'bad.segy')
    claim(where > 0 and status == 1 and 'damaged' in said, f'a flipped bit of an easting is seen: {said.strip()[:120]} {ran.returncode}')


test_line(6712345.6, 1, False)
test_line(512345.67, 2, False)
test_line(512345.67, 2, True)
test_bins_along_east()
test_3d()
test_faults()
test_restart()
done()
