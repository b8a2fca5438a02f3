"""All that a 3D job records of a volume in water over rock, by a sum over horizontal wavenumbers of what is continuous at the floor, and of motion its
differences. Sources repeat in rings so far away that nothing comes in time, frequencies have a small imaginary part (Bouchon 2003, Pure Appl. Geophys.
160, 445-465)."""
import numpy as np
from scipy.special import j0, j1

from exact_layers import AXES, SLOPES
from spltools.reference.layered_motion import DAMPING, PERIODS, wavenumbers

RANGE = 22.0           # exp(-RANGE) of what is evanescent is left out


def amplitudes(water, rock, depth, zs, k, s, free):
    """Decays, and potentials (4, k) of what goes down and up in the water besides what comes from the source, of P and of S in the rock, each where it
    begins, of a source exp(-a |z - zs|)."""
    (c, rho), (vp, vs, rho2) = water, rock
    a, p, q = (np.sqrt(k**2 + (s / v) ** 2) for v in (c, vp, vs))
    mu, comes, back = rho2 * vs**2, np.exp(-a * (depth - zs)), np.exp(-a * depth)
    lhs, rhs = np.zeros((len(k), 4, 4), complex), np.zeros((len(k), 4), complex)

    def equation(row, parts, right, unit=1):
        lhs[:, row], rhs[:, row] = np.stack([part / unit + 0 * a for part in parts], 1), right / unit

    equation(0, (1, back * free, 0, 0), -np.exp(-a * zs) * free)                                         # phi of the surface
    equation(1, (-a * back, a, p, -k), a * comes)                                                        # u_z
    equation(2, (rho * s**2 * back, rho * s**2, -(rho2 * s**2 + 2 * mu * k**2), 2 * mu * k * q), -rho * s**2 * comes, rho2 * abs(s) ** 2 + mu * k**2)
    equation(3, (0, 0, -2 * k * p, q**2 + k**2), 0, 2 * k**2 + abs(s / vs) ** 2)                         # s_Rz
    return (a, p, q), np.linalg.solve(lhs, rhs[..., None])[..., 0].T


def floor_components(water, rock, depth, zs, stations, spectrum, most, times, free, step=0.3):
    """Components by name of each station, (stations, times). water: c, rho; rock: vp, vs, rho; depth of the floor, stations: (n, 3) from the place above
    the source, spectrum: of the rate of volume, most: the highest frequency [Hz], free: a free surface is at depth 0."""
    (c, rho), (vp, vs, rho2) = water, rock
    dt = times[1] - times[0]
    at = (stations[:, None] + step * np.array([[0, 0, 0], *np.eye(3), *-np.eye(3)])).reshape(-1, 3)
    solid = stations[:, 2] > depth
    in_rock = np.repeat(solid, 7)
    far = np.hypot(at[:, 0], at[:, 1])
    way = np.where(in_rock, at[:, 2] - zs, 2 * depth - zs - at[:, 2])
    if free:
        way = np.where(in_rock, way, np.minimum(way, zs + at[:, 2]))
    df = 1 / (PERIODS * times[-1])
    dk = 2 * np.pi / (1.1 * max(vp, c) * times[-1] + 2 * far.max())
    v, div = np.zeros((len(at), 3, len(times))), np.zeros((len(at), len(times)))
    for n in range(int(np.ceil(most / df)) + 1):
        s = 2j * np.pi * n * df + DAMPING * df
        k, area = wavenumbers(int((1.05 * abs(s) / min(vs, c) + RANGE / way.min()) / dk) + 2, dk)
        (a, p, q), (down, up, of_p, of_s) = amplitudes(water, rock, depth, zs, k, s, float(free))
        wave = -spectrum(-1j * s) * np.exp(s * times) * (1 if n == 0 else 2) * df
        for r, (x, y, z) in enumerate(at):
            if in_rock[r]:
                ep, es = of_p * np.exp(-p * (z - depth)), of_s * np.exp(-q * (z - depth))
                parts = k * ep - q * es, -p * ep + k * es, (s / vp) ** 2 * ep
            else:
                ed, eu = down * np.exp(-a * z), up * np.exp(-a * (depth - z))
                parts = k * (ed + eu), a * (eu - ed), (s / c) ** 2 * (ed + eu)
            radial, vertical, total = (part / (2 * a) * area for part in parts)
            radial, vertical, total = -radial @ j1(k * far[r]), vertical @ j0(k * far[r]), total @ j0(k * far[r])
            if not in_rock[r]:                                           # straight from the source
                d = np.hypot(far[r], z - zs)
                h = np.exp(-s / c * d) / (4 * np.pi * d)
                slope = -h * (1 + s / c * d) / d**2
                radial, vertical, total = radial + slope * far[r], vertical + slope * (z - zs), total + (s / c) ** 2 * h
            radial /= max(far[r], 1e-9)
            v[r] += (np.array([radial * x, radial * y, vertical])[:, None] * wave).real
            div[r] += (total * wave).real
    v, div = v.reshape(len(stations), 7, 3, -1), div.reshape(len(stations), 7, -1)[:, 0]
    slope = (v[:, 1:4] - v[:, 4:7]) / (2 * step)
    found = {f"v{name}": v[:, 0, i] for name, i in AXES.items()}
    for e in SLOPES[:6]:
        i, j = AXES[e[1]], AXES[e[2]]
        found[e] = (slope[:, i, j] + slope[:, j, i]) / 2
    for i, name in enumerate(SLOPES[6:]):
        j, m = (i + 1) % 3, (i + 2) % 3
        found[name] = (slope[:, j, m] - slope[:, m, j]) / 2
    mu = np.where(solid, rho2 * vs**2, 0)[:, None]
    lam = np.where(solid, rho2 * (vp**2 - 2 * vs**2), rho * c**2)[:, None]
    for e in SLOPES[:6]:
        rate = 2 * mu * found[e] + (lam * div if e[1] == e[2] else 0)
        found["s" + e[1:]] = np.cumsum(rate, 1) * dt - rate * dt / 2
    rate = -(lam + 2 * mu / 3) * div
    found["p"] = np.cumsum(rate, 1) * dt - rate * dt / 2
    return found
