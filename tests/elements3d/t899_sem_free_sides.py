#!/usr/bin/env python3
"""What receivers record on and close to a free side is right, and below a sea floor. In water, level or leaning: velocity and pressure on it
and close below, a source of volume deep and close below the surface, at five points per wavelength, compared with the source and its image of
opposite sign in closed form.
In rock, level and elastic or leaning and of low Q, dry or under water: stress, pressure, rates of strain and of rotation on the ground above an
explosion and down to 0.3 edges below it, compared with sums over wavenumbers of its P wave, by Sommerfeld's integral, the P and S waves that
keep the ground free of tractions but the water's, and the sound in this below its surface; velocity in that from 0.001 edges above the floor
on. In rock whose axis of symmetry is vertical, of low Q: on level ground szz = 0, ezz = -c13/c33 (exx + eyy) and horizontal stresses follow from
complex constants at each frequency, those of its isotropic average by constant Q. All places, elements and media are drawn at random."""
import subprocess
from pathlib import Path

import numpy as np
from check import claim, done, drawn, given_seed
from exact import constant_q
from minisem import MESH, run
from netCDF4 import Dataset
from scipy.special import j0, j1

seed = given_seed()
rng = np.random.default_rng(seed)
DT, NT, F = 0.004, 130, 5.0
N, DEEP = 14, 9
LIMIT = 0.012                                   # of the velocity there
c, rho = rng.uniform(1400, 1600), rng.uniform(900, 1100)
edge = c / (2.78 * F) / 1.25
tilt = np.radians(rng.uniform(4, 14))
TURN = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])    # about x; z down


def water(x, source, zero):
    """vx, vy, vz and p (4, NT): v = grad Q(t - r/c)/(-4 pi r), p = rho Q'(t - r/c)/(4 pi r) of the source less those of its image."""
    def ricker(t):
        a = (np.pi * F * (t - zero))**2
        return (1 - 2 * a) * np.exp(-a), -2 * (np.pi * F)**2 * (t - zero) * (3 - 2 * a) * np.exp(-a)

    out = np.zeros((4, NT))
    for sign, z in ((1, source[2]), (-1, -source[2])):
        way = x - [source[0], source[1], z]
        r = np.linalg.norm(way)
        q, slope = ricker(np.arange(NT) * DT - r / c)
        out[:3] += sign * (way / r)[:, None] * (q / r**2 + slope / (c * r)) / (4 * np.pi)
        out[3] += sign * rho * slope / (4 * np.pi * r)
    return out


PIECES = drawn(2, ('leaning', 'leaning_rock', 'leaning_sea_floor', 'layered rock'), seed)


def pieces(name, *words):
    """A job of two ranks a shot records what one rank does."""
    if name not in PIECES:
        return
    short = ('fpeak=8' if w.startswith('fpeak=') else w for w in words)      # the filter of traces needs fewer steps beyond tmax then
    short = (*short, 'tmax=0.06')
    one, two = run(*short, 'output=one.nc', 'overwrite=y'), run(*short, 'group=2', 'output=two.nc', 'overwrite=y', ranks=3)
    if claim(one.returncode == two.returncode == 0, f'{name}: jobs of one and two ranks a shot {(one.stderr + two.stderr)[-300:] if two.returncode else ""}'):
        with Dataset('one.nc') as a, Dataset('two.nc') as b:
            names = [v for v in a.variables if a[v].dimensions[-1:] == ('time',) and a[v].ndim > 1]
            differ = [v for v in names if not np.array_equal(a[v][:], b[v][:])]
        claim(len(names) > 3 and not differ, f'{name}: the same bits {differ or ""}')


def box(name, width, height, n, shake, turn, sea=0):
    """A mesh of n x n x DEEP elements, nodes moved by up to `shake` of an edge, turned about the corner of its upper side; z of turn down. sea: of so
    many metres, its floor plane."""
    blocks = ['--block', 'water:top', '--block', f'rock:{-sea}'] if sea else []
    subprocess.run([MESH, 'box', '-o', f'{name}.exo', '--x', '0', str(width), '--y', '0', repr(width), '--z',
                    str(-height), '0', '--elements', str(n), str(n), str(DEEP), '--shake', shake, *blocks], check=True, capture_output=True)
    with Dataset(f'{name}.exo', 'r+') as file:
        down = np.array([file[f'coord{a}'][:] for a in 'xyz']) * [[1], [1], [-1]]
        down[2][abs(down[2] - sea) < 0.3 * height / DEEP] = sea
        for a, values in zip('xyz', turn @ down * [[1], [1], [-1]]):
            file[f'coord{a}'][:] = values


def shoot(name, depth, turn, shake):
    """The largest misfits on the surface and below, of the velocity there, of the pressure where it is not 0."""
    width, height = N * edge, DEEP * edge
    box(name, width, height, N, shake, turn)
    n = 16
    way, angle = edge * rng.uniform(0, 3.5, n), rng.uniform(0, 2 * np.pi, n)
    source = np.array([*(edge * (N / 2 + rng.uniform(-0.5, 0.5, 2))), edge * depth])
    if depth < 2:
        way += 2.3 * edge
    below = np.where(np.arange(n) < n // 2, 0, edge * 10**rng.uniform(-2, -0.4, n))
    places = np.stack([source[0] + way * np.cos(angle), source[1] + way * np.sin(angle), below], 1)
    places[0, :2] = edge * np.rint(places[0, :2] / edge)             # a corner of elements, where they are not shaken
    asked = places @ turn.T
    Path(f'{name}.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate(asked.tolist())))
    Path(f'{name}.keymap').write_text(f'spread s list {name}.list\nshot 1 {{0}} {{2}} s y={{1}}\n'.format(*(turn @ source).tolist()))
    Path('water').write_text(f'* {c} 0 {rho}\n')
    deck = [f'keymap={name}.keymap', f'mesh={name}.exo', 'materials=water', f'fpeak={F}', f'dt_out={DT}', 'source=volume', 'components=vx,vy,vz,p',
            'dispersion=warn']
    ran = run(*deck, f'tmax={DT * (NT - 1)}', f'output={name}.nc')
    if not claim(ran.returncode == 0, f'{name}: a job {ran.stderr[-300:] if ran.returncode else ""}'):
        return
    with Dataset(f'{name}.nc') as file:
        traces = np.array([file[v][0] for v in ('vx', 'vy', 'vz', 'pressure')], float)
        zero = float(file.wavelet_time_zero)
    traces[:3] = np.einsum('ji,jkt->ikt', turn, traces[:3])
    wrong, pressure = [], []
    for i, x in enumerate(places):
        walls = min(source[0] + x[0], source[1] + x[1], 2 * width - source[0] - x[0], 2 * width - source[1] - x[1], 2 * height - source[2] - x[2])
        end = int((zero + walls / c - 1 / F) / DT)                  # before waves come back from the sides
        e = water(x, source, zero)[:, :end]
        wrong.append(np.linalg.norm(traces[:3, i, :end] - e[:3]) / np.linalg.norm(e[:3]))
        pressure.append(np.linalg.norm(traces[3, i, :end] - e[3]) / (rho * c * np.linalg.norm(e[:3])))
    half = n // 2
    claim(max(wrong) <= LIMIT, f'{name}: velocity on the surface {100 * max(wrong[:half]):.2g} %, down to 0.4 edges below it {100 * max(wrong[half:]):.2g} % '
          f'off, bound {100 * LIMIT:g} %')
    claim(max(pressure[:half]) <= 1e-6 and max(pressure) <= LIMIT, f'{name}: pressure on the surface {max(pressure[:half]):.1g} of rho c v, below '
          f'{100 * max(pressure):.2g} % of it off, bounds 1e-6 and {100 * LIMIT:g} %')
    if name == 'leaning':
        pieces(name, *deck)


for case in drawn(2, (('level', 3 + rng.uniform(-0.5, 0.5), np.eye(3), '0'), ('leaning', 3 + rng.uniform(-0.5, 0.5), TURN, '0.06'),
                      ('shallow', 10**rng.uniform(-1.5, -0.5), np.eye(3), '0')), seed):
    shoot(*case)


# --- rock -------------------------------------------------------------------------------------------------------------------

NR, QP, PAIRS = 16, 1.8, ('xx', 'yy', 'zz', 'xy', 'xz', 'yz')
vs, density = rng.uniform(1500, 2500), rng.uniform(2000, 2800)
vp = vs * rng.uniform(1.6, 1.9)
tilt, azimuth = np.radians(rng.uniform(20, 30)), np.radians(rng.uniform(30, 60))
STEEP = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
AROUND = np.array([[np.cos(azimuth), -np.sin(azimuth), 0], [np.sin(azimuth), np.cos(azimuth), 0], [0, 0, 1]])


def rock(places, depth, zero, q, sea=0):
    """Stress, rate of strain and of rotation (3, 3) of the places, z from the ground, from (0, 0, depth): (place, 3, 3, NT). q: constant, of S.
    sea: metres of water on the ground, whose pressure is `press` times how far that goes down. In it, z < 0: velocity (3, NT)."""
    period = 2 * NT * DT
    damp = np.log(1e4) / period
    omega = 2 * np.pi / period * np.arange(int(4 * F * period)) - 1j * damp
    fine = np.arange(8 * NT) * DT / 8
    y = (np.pi * F * (fine - zero))**2
    rate = np.exp(-1j * np.outer(omega, fine)) @ ((1 - 2 * y) * np.exp(-y)) * DT / 8
    a, b = (constant_q(v, quality, -omega, F) for v, quality in ((vp, QP * q), (vs, q)))
    lam, mu = density * (a**2 - 2 * b**2), density * b**2
    dk = np.pi / (2 * vp * period)
    k = (np.arange(int((20 / depth + 4 * 2 * np.pi * F / vs) / dk)) + 0.5)[:, None] * dk
    na, nb = np.sqrt(k**2 - (omega / a)**2), np.sqrt(k**2 - (omega / b)**2)
    up = -dk * k / na * np.exp(-na * depth) / (4 * np.pi * density * a**2)          # the P wave that comes up, of moment 1
    nc = np.sqrt(k**2 - (omega / c)**2)
    press = rho * omega**2 * np.tanh(nc * sea) / nc
    p, q = lam * (na**2 - k**2) + 2 * mu * na**2, (4 * mu * k**2 * nb + press * (nb**2 - k**2)) * na / (nb**2 + k**2)
    down = -(p + q) / (p - q) * up
    s = -2 * na * (up - down) / (nb**2 + k**2)
    assert np.abs(p * (up + down) - 2 * mu * k**2 * nb * s + press * (na * (up - down) + k**2 * s)).max() < 1e-9 * np.abs(p * up).max()
    out = []
    for x, y, z in places:
        r, angle = np.hypot(x, y), np.arctan2(y, x)
        b0, b1 = j0(k * r), j1(k * r)
        t = np.arange(NT) * DT
        wave = np.exp(1j * np.outer(omega, t)) * 2 / period
        wave[0] /= 2
        if z < 0:
            f = (na * (up - down) + k**2 * s) / np.cosh(nc * sea)
            radial = -(k * f / nc * np.sinh(nc * (sea + z)) * b1).sum(0)
            moves = np.array([np.cos(angle) * radial, np.sin(angle) * radial, (f * np.cosh(nc * (sea + z)) * b0).sum(0)])
            out.append(np.real(moves * rate @ wave))
            continue
        u, d, w = up * np.exp(na * z), down * np.exp(-na * z), s * np.exp(-nb * z)
        radial = -k * (u + d - nb * w)
        rr, around = (radial * (k * b0 - b1 / r)).sum(0), (radial * b1).sum(0) / r
        zz = ((na**2 * (u + d) - k**2 * nb * w) * b0).sum(0)
        rz = -(k * (2 * na * (u - d) + (nb**2 + k**2) * w) * b1).sum(0) / 2
        turn = -(k * (nb**2 - k**2) * w * b1).sum(0) / 2        # (du(r)/dz - du(z)/dr)/2
        e, d = np.cos(angle), np.sin(angle)
        zero_ = 0 * rr
        strain = np.array([[e * e * rr + d * d * around, e * d * (rr - around), e * rz],
                           [e * d * (rr - around), d * d * rr + e * e * around, d * rz], [e * rz, d * rz, zz]])
        stress = 2 * mu * strain + lam * np.trace(strain) * np.eye(3)[:, :, None]
        out.append([np.real(part @ wave) for part in (stress * rate / (1j * omega), strain * rate)]
                   + [np.real(np.array([[zero_, zero_, e * turn], [zero_, zero_, d * turn], [-e * turn, -d * turn, zero_]]) * rate @ wave)])
    return out


def ground(name, shake, q=np.inf, turn=np.eye(3), sea=0):
    """sea: rows of water on the ground."""
    side = min(vs, c if sea else vs) / (2.78 * F) / 1.25
    width, height, n, sea = NR * side, DEEP * side, 10, sea * side
    box(name, width, height, NR, shake, turn, sea)
    source = np.array([*(side * (NR / 2 + rng.uniform(-0.5, 0.5, 2))), side * rng.uniform(3.0, 3.4) + sea])
    way, angle = side * rng.uniform(0.3, 2, n), rng.uniform(0, 2 * np.pi, n)
    below = np.where(np.arange(n) % 2 > 0, side * 10**rng.uniform(-3, -0.5, n), 0)
    places = np.stack([way * np.cos(angle), way * np.sin(angle), below], 1)
    asked = (places + [*source[:2], sea]) @ turn.T
    Path('rock.keymap').write_text('spread s list rock.list\nshot 1 {0} {2} s y={1}\n'.format(*(turn @ source).tolist()))
    Path('rock').write_text((f'water {c} 0 {rho}\n' if sea else '') + f'* {vp} {vs} {density}' + (f' {QP * q} {q}\n' if q < np.inf else '\n'))

    def record(names, asked):
        """Traces by name, and the time of the wavelet's zero; none where the job fails."""
        Path('rock.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate(asked.tolist())))
        ran = run(*deck, 'components=' + ','.join(names), f'tmax={DT * (NT - 1)}', f'output={name}.nc', 'overwrite=y')
        if not claim(ran.returncode == 0, f'{name}: a job {ran.stderr[-300:] if ran.returncode else ""}'):
            return None, 0
        with Dataset(f'{name}.nc') as file:
            return {name: np.array(file['pressure' if name == 'p' else name][0], float) for name in names}, float(file.wavelet_time_zero)

    def walls(place):
        """Samples before waves come back from the sides."""
        x = source[:2] + place[:2]
        way = min(*(source[:2] + x), *(2 * width - source[:2] - x), 2 * height - sea - source[2])
        return int((zero + way / vp - 1 / F) / DT)

    names = [*('s' + a for a in PAIRS), 'p', *('e' + a for a in PAIRS), 'wx', 'wy', 'wz']
    words = ['memory_variables=all', f'q_f1={2.78 * F / 50}', f'q_f2={2.78 * F}', f'q_ref={F}'] if q < np.inf else []
    deck = ['keymap=rock.keymap', f'mesh={name}.exo', 'materials=rock', f'fpeak={F}', f'dt_out={DT}', 'source=explosion', 'm0=1', 'dispersion=warn',
            *words]
    traces, zero = record(names, asked)
    if not traces:
        return
    wrong = {}
    for i, seen in enumerate(rock(places, source[2] - sea, zero, q, sea)):
        stress, strain, spin = (np.einsum('ij,kl,jlt->ikt', turn, turn, part) for part in seen)
        stress, strain = stress.reshape(9, NT), strain.reshape(9, NT)
        end = walls(places[i])
        pick = [3 * 'xyz'.index(a) + 'xyz'.index(b) for a, b in PAIRS]
        spin = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        for what, have, want, of in (('stress', ['s' + a for a in PAIRS], stress[pick], stress),
                                     ('pressure', ['p'], -stress[[0, 4, 8]].sum(0)[None] / 3, stress),
                                     ('strain', ['e' + a for a in PAIRS], strain[pick], strain), ('rotation', ['wx', 'wy', 'wz'], spin, strain)):
            off = np.array([traces[name][i] for name in have])[:, :end] - want[:, :end]
            worst = wrong.setdefault(what, [0, 0])
            worst[i % 2] = max(worst[i % 2], np.linalg.norm(off) / np.linalg.norm(of[:, :end]))
    shown = ', '.join(f'{what} {100 * off[0]:.2g}, {100 * off[1]:.2g} %' for what, off in wrong.items())
    claim((np.array(list(wrong.values())) <= [0.015, 0.02]).all(), f'{name}: on the ground, below it off by {shown}, bounds 1.5 %, 2 %')
    if q < np.inf:
        pieces(name, *deck, 'components=' + ','.join(names))
    elif sea:
        places[:, 2] = -side * 10**rng.uniform(-3, -0.1, n)
        traces, zero = record(['vx', 'vy', 'vz'], places + [*source[:2], sea])
        off = [np.linalg.norm([(traces['v' + a][i] - want[b])[:walls(x)] for b, a in enumerate('xyz')]) / np.linalg.norm(want[:, :walls(x)])
               for i, (x, want) in enumerate(zip(places, rock(places, source[2] - sea, zero, q, sea)))] if traces else [1]
        claim(max(off) <= LIMIT, f'{name}: velocity in the water above it {100 * max(off):.2g} % off, bound {100 * LIMIT:g} %')


for dry in drawn(1, (True, False), seed):
    ground(*(('rock', '0') if dry else ('sea_floor', '0', np.inf, np.eye(3), 2)))
for dry in drawn(1, (False, True), seed // 2):
    ground('leaning_rock' if dry else 'leaning_sea_floor', '0.06', rng.uniform(12, 25), AROUND @ STEEP, 0 if dry else 3)


# --- anisotropic rock of low Q -------------------------------------------------------------------------------------------------

def layered():
    """Traces of a force, times a decay, as spectra."""
    q, epsilon, delta, gamma, n = rng.uniform(12, 20), rng.uniform(0.1, 0.25), rng.uniform(0, 0.1), rng.uniform(0.05, 0.2), 6
    c33, c55 = density * vp**2, density * vs**2
    c11, c66 = c33 * (1 + 2 * epsilon), c55 * (1 + 2 * gamma)
    c12, c13 = c11 - 2 * c66, np.sqrt((c33 - c55) * (c33 - c55 + 2 * delta * c33)) - c55
    mu = (2 * c11 + c33 - c12 - 2 * c13 + 6 * c55 + 3 * c66) / 15        # Voigt's average
    lam = (2 * c11 + c33 + 2 * c12 + 4 * c13) / 9 - 2 * mu / 3
    side = vs / (2.78 * F) / 1.25
    box('layered', 12 * side, DEEP * side, 12, '0', np.eye(3))
    way, angle = side * rng.uniform(0.3, 2.5, n), rng.uniform(0, 2 * np.pi, n)
    x, y = side * (6 + rng.uniform(-0.5, 0.5, (2, 1))) + [way * np.cos(angle), way * np.sin(angle)]
    Path('layered.list').write_text(''.join(f'{i + 1} {a} 0 {b}\n' for i, (a, b) in enumerate(zip(x.tolist(), y.tolist()))))
    Path('layered.keymap').write_text(f'spread s list layered.list\nshot 1 {6 * side} {3.2 * side} s y={6 * side}\n')
    Path('layered').write_text(f'* vti {vp} {vs} {density} {epsilon} {delta} {gamma} {QP * q} {q}\n')
    names = ['exx', 'eyy', 'ezz', 'exy', 'sxx', 'syy', 'szz', 'sxy', 'p']
    deck = ['keymap=layered.keymap', 'mesh=layered.exo', 'materials=layered', f'fpeak={F}', f'dt_out={DT}', 'source=force', 'fx=1', 'fy=-0.5', 'fz=0.8',
            'components=' + ','.join(names), 'dispersion=warn', 'memory_variables=all', f'q_f1={2.78 * F / 50}', f'q_f2={2.78 * F}', f'q_ref={F}']
    ran = run(*deck, f'tmax={DT * (NT - 1)}', 'output=layered.nc')
    if not claim(ran.returncode == 0, f'layered rock: a job {ran.stderr[-300:] if ran.returncode else ""}'):
        return
    omega = np.pi / (4 * NT * DT) * np.arange(1, int(5 * F * 8 * NT * DT)) - 1j * np.log(1e6) / (NT * DT)
    with Dataset('layered.nc') as file:
        exx, eyy, ezz, exy, sxx, syy, szz, sxy, p = (np.array(file['pressure' if name == 'p' else name][0], float)
                                                     @ np.exp(-1j * np.outer(np.arange(NT) * DT, omega)) for name in names)
    sxx, syy, szz, sxy, p = (1j * omega * stress for stress in (sxx, syy, szz, sxy, p))            # their rates, as strains are
    shear = density * constant_q(np.sqrt(mu / density), q, -omega, F)**2 - mu
    even = density * constant_q(np.sqrt((lam + 2 * mu) / density), QP * q, -omega, F)**2 - lam - 2 * mu
    c11, c33, c12, c13, c66 = c11 + even, c33 + even, c12 + even - 2 * shear, c13 + even - 2 * shear, c66 + shear
    up = -c13 / c33 * (exx + eyy)
    want = np.array([c11 * exx + c12 * eyy + c13 * up, c12 * exx + c11 * eyy + c13 * up, 2 * c66 * exy])
    size = np.linalg.norm(want)
    off = [np.linalg.norm(ezz - up) / np.linalg.norm(up), np.linalg.norm([sxx, syy, sxy] - want) / size,
           np.linalg.norm(p + (want[0] + want[1]) / 3) / size, np.linalg.norm(szz) / size]
    claim(off[0] <= 0.005 and max(off[1:3]) <= 0.01 and off[3] <= 1e-5, f'layered rock of Qs = {q:.3g}: on the ground ezz {100 * off[0]:.2g} %, horizontal '
          f'stress {100 * off[1]:.2g} %, pressure {100 * off[2]:.2g} % off, bounds 0.5, 1, 1 %; szz {off[3]:.1g} of horizontal stress, bound 1e-5')
    pieces('layered rock', *deck)


layered()
done()
