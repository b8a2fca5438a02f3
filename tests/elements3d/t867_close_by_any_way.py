#!/usr/bin/env python3
"""Receivers of spectral elements within two edges of their source are right where the medium around both is even, on meshes of distorted
elements, sources and stations at random places, corners and faces too: a volume in water, deep and below its surface, against its closed
form; a force in rock that attenuates against Green's function of constant Q (Aki & Richards 2002, eq. 4.23; Kjartansson 1979); any source
below a plane ground of rock or beside a plane contact of rock, a volume in water over a plane floor of rock, level or leaning, against
sums over wavenumbers. A group of ranks has the bits of one. On their source they are told of, and next to a side that absorbs. Shots
into the same receivers, one after the other, have the bits of each alone."""
import re
import subprocess
from pathlib import Path

import exact_force  # noqa: F401  (the exact motion of a force)
import numpy as np
from check import ALL, claim, done, given_seed
from exact_floor import floor_components
from exact_layers import STRESS, exact_components
from greens import green
from minisem import MESH, run as model
from netCDF4 import Dataset

seed = given_seed()
rng = np.random.default_rng(seed)
N, F, DT, NT = 12, 5.0, 0.004, 100
away = np.array([0.04, 0.12, 0.3, 0.5, 0.8, 1.0, 1.3, 1.6, 1.9])


def mesh(edge, *blocks):
    side = str(N * edge)
    Path('box.exo').unlink(missing_ok=True)
    subprocess.run([MESH, 'box', '-o', 'box.exo', '--x', '0', side, '--y', '0', side, '--z', '-' + side, '0',
                    '--elements', *3 * [str(N)], '--shake', '0.1', *blocks], check=True, capture_output=True)


def shot(edge, words, components, shallow=False):
    """A job of stations around a source, which is in an element, in a face or at a corner, nearly: ran, source, places of stations from it."""
    global count
    count += 1
    source = edge * (N / 2 + rng.choice([0.0, 0.5, rng.uniform(-0.5, 0.5)], 3))
    directions = rng.normal(size=(len(away), 3))
    if shallow:
        source[2] = edge * rng.uniform(0.1, 1.5)
    places = edge * away[:, None] * directions / np.linalg.norm(directions, axis=1)[:, None]
    places[:, 2] = np.where(places[:, 2] + source[2] > 0.02 * edge, places[:, 2], abs(places[:, 2]))      # none above the ground
    Path('near.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate((source + places).tolist())))
    Path('near.keymap').write_text('spread near list near.list\nshot 3 {0} {2} near y={1}\n'.format(*source.tolist()))
    return run(words, components), source, places


def run(words, components, ranks=1, verb=(), output=None):
    return model(*verb, 'keymap=near.keymap', 'mesh=box.exo', 'materials=box.materials', f'fpeak={F}', f'tmax={DT * (NT - 1)}',
                 f'dt_out={DT}', 'dispersion=warn', 'components=' + ','.join(components), f'output={output or f"shot{count}.nc"}', *words, ranks=ranks)


count = 0
told = re.compile(r'(\d+) receiver\(s\) are closer to their source than 2 edges')

# --- water ------------------------------------------------------------------------------------------------------------------

NAMES = ['vx', 'vy', 'vz', 'ux', 'az', 'p']


def water(what, words, shallow):
    """A volume in water, deep or below its surface."""
    ran, source, places = shot(edge, ['source=volume', *words], NAMES, shallow)
    if not claim(ran.returncode == 0 and not told.search(ran.stderr), f'{what}: a job of {N}**3 elements of {edge:.1f} m, told of no receiver '
                 f'{ran.stderr[-300:] if ran.returncode else ""}'):
        return
    with Dataset(f'shot{count}.nc') as file:
        traces = {n: np.array(file['pressure' if n == 'p' else n][0], float) for n in NAMES}
        zero = float(file.wavelet_time_zero)
    fine = np.linspace(0, DT * NT, 16 * NT + 1)
    a = (np.pi * F * (fine - zero))**2
    history = {0: (1 - 2 * a) * np.exp(-a)}         # the wavelet is the volume's rate: the volume, its rate, and the derivatives of that
    history[-1] = np.concatenate([[0], np.cumsum((history[0][1:] + history[0][:-1]) / 2 * np.diff(fine))])
    for order in (1, 2):
        history[order] = np.gradient(history[order - 1], fine)
    wrong = {n: [] for n in ('v', 'u', 'a', 'p')}
    for i, x in enumerate(places):
        sides = np.concatenate([2 * source + x, 2 * N * edge - 2 * source - x])
        if shallow:
            sides[2] = np.inf                       # the image is the wave from there
        end = min(NT, int((zero + sides.min() / c - 1 / F) / DT))

        def field(order):
            """The vector of motion, and the derivative that makes the pressure."""
            total, pressure = np.zeros((3, end)), np.zeros(end)
            for sign, y in ((1, x), (-1, x + [0, 0, 2 * source[2]])):
                if sign < 0 and not shallow:
                    continue
                r = np.linalg.norm(y)
                early, late = (np.interp(np.arange(end) * DT - r / c, fine, history[k], left=0) for k in (order, order + 1))
                total += sign * np.outer(y / r, (early / r + late / c) / (4 * np.pi * r))
                pressure += sign * rho * late / (4 * np.pi * r)
            return total, pressure

        (v, p), u, a = field(0), field(-1)[0], field(1)[0]
        for n, got, exact, whole in (('v', [traces['v' + axis][i, :end] for axis in 'xyz'], v, v), ('p', [traces['p'][i, :end]], p, p),
                                     ('u', [traces['ux'][i, :end]], u[:1], u), ('a', [traces['az'][i, :end]], a[2:], a)):
            wrong[n].append(100 * float(np.linalg.norm(np.array(got) - exact) / np.linalg.norm(whole)))
    for n, is_of in (('v', 'velocity'), ('p', 'pressure'), ('u', 'displacement along x'), ('a', 'acceleration along z')):
        claim(max(wrong[n]) <= 1.5, f'{what}: {is_of} is off by at most {max(wrong[n]):.2g} %, bound 1.5 % ({", ".join(f"{w:.2g}" for w in wrong[n])})')
    same = run(['source=volume', *words, 'group=2'], NAMES, 3, output=f'group{count}.nc')
    if claim(same.returncode == 0, f'{what}: a job of a group of two ranks {same.stderr[-300:] if same.returncode else ""}'):
        with Dataset(f'group{count}.nc') as file:
            off = max(float(np.abs(np.array(file['pressure' if n == 'p' else n][0], float) - traces[n]).max() / np.abs(traces[n]).max()) for n in NAMES)
        claim(off <= 0, f'its traces are those of one rank: they differ by {off:.2g}, bound 0')


c, rho = rng.uniform(1400, 1600), rng.uniform(990, 1040)
edge = c / (2.78 * F) / rng.uniform(1.5, 1.7)
mesh(edge)
Path('box.materials').write_text(f'* {c} 0 {rho}\n')
water('water', [], False)
water('below the surface', [], True)

# --- rock that attenuates ---------------------------------------------------------------------------------------------------

vp = rng.uniform(3000, 4500)
vs, rho, quality = vp / rng.uniform(1.6, 1.9), rng.uniform(1800, 2800), rng.uniform(30, 60)
edge = vs / (2.78 * F) / rng.uniform(1.5, 1.7)
mesh(edge)
Path('box.materials').write_text(f'* {vp} {vs} {rho} {1.8 * quality} {quality}\n')
ran, source, places = shot(edge, ['source=force', 'fx=1', 'fy=-0.5', 'fz=0.7', f'q_ref={F}'], ['vx', 'vy', 'vz'])


def complex_velocity(v, q, omega):
    """Of constant Q, v at F."""
    gamma = np.arctan(1 / q) / np.pi
    return v * (1j * omega / (2 * np.pi * F))**gamma * np.cos(np.pi * gamma / 2)


if claim(ran.returncode == 0 and not told.search(ran.stderr), f'rock of Q {quality:.0f}: told of no receiver {ran.stderr[-300:] if ran.returncode else ""}'):
    with Dataset(f'shot{count}.nc') as file:
        traces, zero = np.array([file[n][0] for n in ('vx', 'vy', 'vz')], float), float(file.wavelet_time_zero)
    over, n = 8, 8192
    t = np.arange(n) * DT / over
    a = (np.pi * F * (t - zero))**2
    omega, wrong = 2 * np.pi * np.fft.rfftfreq(n, DT / over), []
    for i, x in enumerate(places):
        spectrum = np.zeros((3, len(omega)), complex)
        velocities = complex_velocity(vp, 1.8 * quality, omega[1:]), complex_velocity(vs, quality, omega[1:])
        motion = 1j * omega[1:] * np.einsum('ijw,j->iw', green(omega[1:], x, *velocities, rho), [1, -0.5, 0.7])
        spectrum[:, 1:] = motion * np.fft.rfft((1 - 2 * a) * np.exp(-a))[1:]
        end = min(NT, int((zero + min([*(2 * source + x), *(2 * N * edge - 2 * source - x)]) / vp - 1 / F) / DT))
        exact = np.fft.irfft(spectrum, n)[:, ::over][:, :end]
        wrong.append(100 * float(np.linalg.norm(traces[:, i, :end] - exact) / np.linalg.norm(exact)))
    claim(max(wrong) <= 2, f'rock of Q {quality:.0f}: velocity is off by at most {max(wrong):.2g} %, bound 2 % ({", ".join(f"{w:.2g}" for w in wrong)})')

# --- told -------------------------------------------------------------------------------------------------------------------

Path('near.list').write_text('1 {0} {2} {1}\n2 {0} {3} {1}\n'.format(*source.tolist(), source[2] + 0.5 * edge))
ran = run(['source=volume'], ['vx'], verb=['plan'])
claim(told.findall(ran.stdout + ran.stderr) == ['1'] and 'channel 1 of shot record 3' in ran.stdout + ran.stderr, 'a receiver on its source is told of')
Path('near.list').write_text('1 {0} {2} {1}\n'.format(edge, source[1], source[2]))
Path('near.keymap').write_text('spread near list near.list\nshot 3 {0} {2} near y={1}\n'.format(0.6 * edge, source[1], source[2]))
ran = run(['source=volume'], ['vx'], verb=['plan'])
claim(told.findall(ran.stdout + ran.stderr) == ['1'], 'a receiver next to its source and a side that absorbs is told of')

# --- below the ground, beside a contact -------------------------------------------------------------------------------------------------------


def turned(angle, axis):
    """The matrix that turns by an angle about x or y."""
    i, j = [k for k in range(3) if k != axis]
    matrix = np.eye(3)
    matrix[[i, j], [i, j]], matrix[i, j], matrix[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
    return matrix


def lean(matrix):
    """Turns the mesh about the origin; its z is up."""
    with Dataset('box.exo', 'a') as file:
        names = [n for n in ('coordx', 'coordy', 'coordz') if n in file.variables]
        up = np.diag([1, 1, -1])
        x = up @ matrix @ up @ np.array([file[n][:] for n in names])
        for n, row in zip(names, x):
            file[n][:] = row


def tensors(parts):
    """(3, 3, ...) of xx, yy, zz, xy, xz, yz."""
    return np.array([parts[n] for n in (0, 3, 4, 3, 1, 5, 4, 5, 2)]).reshape(3, 3, *np.shape(parts)[1:])


def rock(contact):
    """A source of any kind up to two edges below a ground of rock, or beside a contact; stations next to that and farther away."""
    global count
    count += 1
    vs, rho = rng.uniform(1300, 1900), rng.uniform(1900, 2500)
    vp = vs * rng.uniform(1.6, 2.1)
    edge = vs / (2.78 * F) / rng.uniform(1.5, 1.7)
    media, level = [(vp, vs, rho)], 0
    if contact:
        factor, level = rng.uniform(1.2, 1.7), N / 2 * edge
        media = [media[0], (vs * factor * rng.uniform(1.6, 2.1), vs * factor, rho * factor**0.4)][::rng.choice([-1, 1])]
        mesh(edge, '--block', 'upper:top', '--block', f'lower:{-level}')
        with Dataset('box.exo', 'a') as file:
            file['coordz'][:] = [-level if abs(z + level) < 0.3 * edge else z for z in file['coordz'][:]]
    else:
        mesh(edge)
    Path('box.materials').write_text(''.join(f'{name} {vp} {vs} {rho}\n' for name, (vp, vs, rho) in zip(['upper', 'lower'] if contact else '*', media)))
    matrix = turned(rng.uniform(-0.4, 0.4), int(rng.integers(2))) if rng.integers(2) else np.eye(3)
    lean(matrix)
    source = edge * np.array([*(N / 2 + rng.choice([0, 0.5, rng.uniform(-0.5, 0.5)], 2)), rng.choice([0, 0.5, 1, rng.uniform(0, 2)])])
    if contact:
        source[2] = level + edge * rng.uniform(0.05, 0.5) * rng.choice([-1, 1])
    vp, vs, rho = media[-1 if source[2] > level else 0]
    kind = rng.choice(['force', 'moment', 'volume'])
    if kind != 'force':
        source[2] = max(source[2], 0.05 * edge)
    step = 0.003 * edge
    z = edge * np.concatenate([[0.05, -0.05][::rng.choice([-1, 1])], rng.uniform(-1, 1, 40)]) + level if contact else np.concatenate(
        [[step], edge * rng.uniform(0.02, 2.3, 40)])
    z = z[abs(z - source[2]) > 0.15 * edge][:2]                      # where the sum converges
    apart = np.sqrt((np.repeat(z, 4) - source[2])**2 + (edge * np.tile([0.2, 0.6, 1.1, 1.7], 2) * rng.uniform(0.8, 1.2, 8))**2)
    far, azimuth = np.sqrt(apart**2 - (np.repeat(z, 4) - source[2])**2), rng.uniform(0, 2 * np.pi, 8)
    stations = np.column_stack([far * np.cos(azimuth), far * np.sin(azimuth), np.repeat(z, 4)])
    places, at = (stations + [source[0], source[1], 0]) @ matrix.T, matrix @ source
    Path('near.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate(places.tolist())))
    Path('near.keymap').write_text('spread near list near.list\nshot 3 {0} {2} near y={1}\n'.format(*at.tolist()))
    if kind == 'force':
        m = rng.uniform(-1, 1, 3)
        words = [f'f{c}={v}' for c, v in zip('xyz', (matrix @ m).tolist())]
    elif kind == 'moment':
        m = 1e12 * rng.uniform(-1, 1, 6)
        words = [f'm{c}={v}' for c, v in zip(('xx', 'yy', 'zz', 'xy', 'xz', 'yz'), (matrix @ tensors(m) @ matrix.T)[*zip(*PAIRS)].tolist())]
    else:
        m, words = rho * (vp**2 - 4 / 3 * vs**2) * np.array([1, 1, 1, 0, 0, 0]), []
    names = ['vx', 'vy', 'vz', *STRESS]
    ran = run([f'source={kind}', *words], names)
    what = f'{kind} {(source[2] - level) / edge:.2f} edges below a {"contact" if contact else "ground"} {"that leans" if matrix[2, 2] < 1 else "that is level"}'
    if not claim(ran.returncode == 0 and 'are closer' not in ran.stderr, f'{what}: told of no receiver {ran.stderr[-300:] if ran.returncode else ""}'):
        return
    with Dataset(f'shot{count}.nc') as file:
        v, s = (np.array([file[n][0] for n in some], float) for some in (names[:3], names[3:]))
        zero = float(file.wavelet_time_zero)
    v, s = np.einsum('ji,jrt->irt', matrix, v), np.einsum('ki,klrt,lj->ijrt', matrix, tensors(s), matrix)
    peak = 2 * np.pi * F
    deep = 2e5 - level if contact else 0             # below a ground so far above that nothing comes from it
    rows = [(0, *media[0])] + [(2e5, *media[-1])] * contact
    exact = exact_components(rows, source[2] + deep, m, stations + [0, 0, deep], lambda w: 4 * np.sqrt(np.pi) * w**2 / peak**3 * np.exp(
        -w**2 / peak**2 - 1j * w * zero) * (1j * w if kind == 'force' else 1), 3.4 * F, DT * np.arange(NT), step)
    side, wrong = N * edge, {'velocity': [], 'stress': []}
    for i, x in enumerate(stations):
        far = [*(2 * source[:2] + x[:2]), *(2 * side - 2 * source[:2] - x[:2]), 2 * side - source[2] - x[2]]
        if contact:
            far.append(source[2] + x[2])
        end = min(NT, int((zero + min(far) / max(row[0] for row in media) - 1 / F) / DT))
        for n, got, right in (('velocity', v[:, i], np.array([exact[n][i] for n in names[:3]])),
                              ('stress', s[:, :, i], tensors(np.array([exact[n][i] for n in STRESS])))):
            wrong[n].append(100 * float(np.linalg.norm((got - right)[..., :end]) / np.linalg.norm(right[..., :end])))
    for n, errors in wrong.items():
        bound = 3 if n == 'velocity' else 2.5
        claim(max(errors) <= bound, f'{what}: {n} is off by at most {max(errors):.2g} %, bound {bound} % '
              f'({", ".join(f"{r / edge:.2f}: {w:.2g}" for r, w in zip(apart, errors))})')
    if not contact:
        return
    same = run([f'source={kind}', *words, 'group=2'], names, 3, output=f'group{count}.nc')
    if claim(same.returncode == 0, f'{what}: a job of a group of two ranks {same.stderr[-300:] if same.returncode else ""}'):
        with Dataset(f'group{count}.nc') as one, Dataset(f'shot{count}.nc') as two:
            claim(all(np.array_equal(one[n][0], two[n][0]) for n in names), 'its traces are those of one rank')


def sea_floor(free):
    """A volume in water up to one and a half edges above a plane floor of rock, below a free surface or deep; stations in water and in rock."""
    global count
    count += 1
    water, rho = rng.uniform(1430, 1600), rng.uniform(990, 1100)
    vs, deep = rng.uniform(600, 2500), int(rng.integers(1, 4)) if free else N // 2
    vp, dense = max(vs * rng.uniform(1.6, 2.2), 1.05 * water), rng.uniform(1500, 2600)
    edge = min(water, vs) / (2.78 * F) / rng.uniform(1.5, 1.7)
    level = deep * edge
    mesh(edge, '--block', 'water:top', '--block', f'rock:{-level}')
    with Dataset('box.exo', 'a') as file:
        file['coordz'][:] = [-level if abs(z + level) < 0.3 * edge else z for z in file['coordz'][:]]
    Path('box.materials').write_text(f'water {water} 0 {rho}\nrock {vp} {vs} {dense}\n')
    matrix = turned(rng.uniform(-0.4, 0.4), int(rng.integers(2))) if rng.integers(2) else np.eye(3)
    lean(matrix)
    source = np.array([*(edge * (N / 2 + rng.choice([0, 0.5, rng.uniform(-0.5, 0.5)], 2))), level - edge * rng.uniform(0.05, min(1.5, deep - 0.1))])
    stations = []
    for solid in (False, True):
        for apart in (0.25, 0.6, 1.1, 1.8):
            while True:
                way = rng.normal(size=3)
                x = source + way / np.linalg.norm(way) * edge * apart * rng.uniform(0.8, 1.05)
                room = x[2] - source[2] if solid else 2 * level - source[2] - x[2]                     # of waves that the sum converges with
                if (x[2] > level) == solid and x[2] > 0.1 * edge and room > 0.1 * edge:
                    break
                if rng.integers(5) == 0:
                    apart += 0.1
            stations.append(x)
    stations = np.array(stations)
    Path('near.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate((stations @ matrix.T).tolist())))
    Path('near.keymap').write_text('spread near list near.list\nshot 3 {0} {2} near y={1}\n'.format(*(matrix @ source).tolist()))
    names = ['vx', 'vy', 'vz', *STRESS, 'p']
    ran = run(['source=volume'], names)
    what = f'volume {(level - source[2]) / edge:.2f} edges above rock of {vp:.0f}, {vs:.0f} m/s{f", {deep} edges of water" if free else ""}'
    if not claim(ran.returncode == 0 and 'are closer' not in ran.stderr, f'{what}: told of no receiver {ran.stderr[-300:]}'):
        return
    with Dataset(f'shot{count}.nc') as file:
        v, s = (np.array([file[n][0] for n in some], float) for some in (names[:3], names[3:9]))
        p = np.array(file['pressure'][0], float)
        zero = float(file.wavelet_time_zero)
    v, s = np.einsum('ji,jrt->irt', matrix, v), np.einsum('ki,klrt,lj->ijrt', matrix, tensors(s), matrix)
    peak = 2 * np.pi * F
    exact = floor_components((water, rho), (vp, vs, dense), level, source[2], stations - [*source[:2], 0], lambda w: 4 * np.sqrt(
        np.pi) * w**2 / peak**3 * np.exp(-w**2 / peak**2 - 1j * w * zero), 3.4 * F, DT * np.arange(NT), free, 0.003 * edge)
    side, wrong = N * edge, {}
    for i, x in enumerate(stations):
        far = [*(source[:2] + x[:2]), *(2 * side - source[:2] - x[:2]), 2 * side - source[2] - x[2]] + ([] if free else [source[2] + x[2]])
        end = min(NT, int((zero + min(far) / max(vp, water) - 1 / F) / DT))
        for n, got, right in (('velocity', v[:, i], np.array([exact[n][i] for n in names[:3]])), ('pressure', p[i], exact['p'][i]),
                              ('stress', s[:, :, i], tensors(np.array([exact[n][i] for n in STRESS])))):
            error = 100 * float(np.linalg.norm((got - right)[..., :end]) / np.linalg.norm(right[..., :end]))
            wrong.setdefault((n, 'rock' if x[2] > level else 'water'), []).append(error)
    for (n, where), errors in wrong.items():
        bound = 4 if where == 'rock' and n != 'velocity' else 2
        claim(max(errors) <= bound, f'{what}: {n} in {where} is off by at most {max(errors):.2g} %, bound {bound} % ({", ".join(f"{w:.2g}" for w in errors)})')
    if not free:
        return
    same = run(['source=volume', 'group=2'], names, 3, output=f'group{count}.nc')
    if claim(same.returncode == 0, f'{what}: a job of a group of two ranks {same.stderr[-300:] if same.returncode else ""}'):
        with Dataset(f'group{count}.nc') as one, Dataset(f'shot{count}.nc') as two:
            claim(all(np.array_equal(one[n][0], two[n][0]) for n in [*names[:9], 'pressure']), 'its traces are those of one rank')


def same_receivers():
    """Three shots into one spread: far from its receivers, between them, far again; in even rock."""
    global count
    mesh(edge)
    Path('box.materials').write_text('* 3000 1700 2200\n')
    places = edge * rng.uniform([3, 3, 0.1], [9, 9, 3], (12, 3))
    shots = edge * np.array([[1.3, 1.4, 6.2], [*rng.uniform(5, 7, 2), 1.5], [10.7, 10.1, 7.3]])
    Path('near.list').write_text(''.join(f'{i + 1} {x} {z} {y}\n' for i, (x, y, z) in enumerate(places.tolist())))
    traces = []
    for some in ([0, 1, 2], [0], [1], [2]):
        count += 1
        Path('near.keymap').write_text('spread near list near.list\n' + ''.join(
            f'shot {i + 1} {shots[i, 0]} {shots[i, 2]} near y={shots[i, 1]}\n' for i in some))
        ran = run(['source=force', 'fz=1'], ['vx', 'p'])
        if not claim(ran.returncode == 0, f'shots {some} into one spread {ran.stderr[-300:] if ran.returncode else ""}'):
            return
        with Dataset(f'shot{count}.nc') as file:
            traces.append([np.array(file[n][:], float) for n in ('vx', 'pressure')])
    claim(all(np.array_equal(traces[0][n][i], traces[1 + i][n][0]) and np.abs(traces[0][n][i]).max() > 0 for n in range(2) for i in range(3)),
          'three shots into one spread have the bits of each alone')


PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
for _ in range(6 if ALL else 1):
    rock(False)
    rock(True)
    sea_floor(False)
    sea_floor(True)
same_receivers()
done()
