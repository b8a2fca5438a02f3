"""Exact ground motion in flat layers from a moment tensor: a sum over horizontal wavenumbers of what each layer's waves up and down
must be for a free surface and continuous contacts, solved at once (no exponential grows).

Sources repeat in rings so far away that nothing comes in time, frequencies have a small imaginary part which damps what comes later
still (Bouchon 2003, Pure Appl. Geophys. 160, 445-465). Sources and wave potentials: Aki & Richards 2002, chapters 2 to 4.

Axes x, y, z down; exp(i w t); k: horizontal wavenumber, along the direction theta; u: along k, v: across it, w: down.
"""
import numpy as np

from spltools.cli import fail

PERIODS = 1.6          # of the frequencies' period over the time wanted
DAMPING = 10.0         # exp(-DAMPING) is left after a period
RANGE = 14.0           # exp(-RANGE) of what is evanescent is left out
ORDERS = np.arange(-2, 3)


class Layers:
    """top, vp, vs [m, m/s], rho [kg/m3], qp, qs (infinite where nothing is lost), from the free surface down."""

    def __init__(self, rows, attenuation=True, reference=1.0):
        table = np.array([[*row[:4], *(row[4:6] if attenuation and len(row) >= 6 else (0, 0))] for row in rows], float)
        self.top, self.vp, self.vs, self.rho = table[:, :4].T
        self.q = np.where(table[:, 4:] > 0, table[:, 4:], np.inf)
        self.reference = reference
        if not (self.vs > 0).all():
            fail('a layer is a fluid: exact motion is known to this tool in rock only')

    def velocities(self, omega):
        """Complex ones of constant Q (Kjartansson 1979), phase velocities as given at the reference frequency [Hz]."""
        gamma = np.arctan(1 / self.q) / np.pi
        return np.stack([self.vp, self.vs], 1) * np.cos(np.pi * gamma / 2) * (1j * omega / (2 * np.pi * self.reference)) ** gamma

    def holds(self, z):
        return int(np.searchsorted(self.top, z, 'right')) - 1


def forces(m, k):
    """Of the tensor (xx, yy, zz, xy, xz, yz): (order, direction u, w, v, [plain, by the source's depth], k)."""
    xx, yy, zz, xy, xz, yz = m
    f = np.zeros((5, 3, 2, len(k)), complex)
    f[2, 0, 0] = -1j * k * (xx + yy) / 2
    f[2, 1, 1] = zz
    for n in (-1, 1):
        f[2 + n, 0, 1] = (xz - n * 1j * yz) / 2
        f[2 + n, 2, 1] = (n * 1j * xz + yz) / 2
        f[2 + n, 1, 0] = -1j * k * (xz - n * 1j * yz) / 2
        f[2 + 2 * n, 0, 0] = -1j * k * ((xx - yy) / 4 - n * 1j * xy / 2)
        f[2 + 2 * n, 2, 0] = -1j * k * (n * 1j * (xx - yy) / 4 + xy / 2)
    return f


class Waves:
    """P, SV and SH waves in a layer: motion and traction (u, w, t_uz, t_zz; v, t_vz) of each, down first, (kind, part, k)."""

    def __init__(self, k, omega, a, b, rho):
        self.decay = np.sqrt(k**2 - (omega / a) ** 2), np.sqrt(k**2 - (omega / b) ** 2)
        p, s = self.decay
        self.rho, self.omega, self.mu = rho, omega, rho * b**2
        mu, g = self.mu, self.mu * (2 * k**2 - (omega / b) ** 2)
        self.psv = [np.array([[1j * k, -d * p, -d * 2j * k * p * mu, g], [d * s, 1j * k, -g, -d * 2j * k * s * mu]])
                    for d in (1, -1)]
        self.sh = [np.array([[np.ones_like(s), -d * mu * s]]) for d in (1, -1)]
        self.k = k

    def direct(self, f, down):
        """Amplitudes of P, SV and SH that forces f (order, 3, 2, k) send down or up: (order, 3, k)."""
        p, s = self.decay
        d = 1 if down else -1
        c = 1 / (2 * self.rho * self.omega**2)
        share = np.array([[-1j * self.k / p * c, d * c + 0 * p, 0 * p], [-d * c + 0 * p, -1j * self.k / s * c, 0 * p],
                          [0 * p, 0 * p, 1 / (2 * self.mu * s)]])
        slope = np.array([p, s, s]) * d
        return np.einsum('wdk,odk->owk', share, f[:, :, 0]) + slope * np.einsum('wdk,odk->owk', share, f[:, :, 1])


def response(layers, zs, zr, m, k, omega):
    """Motion (u, w, v) at depth zr for each order: (5, 3, k), per unit moment."""
    n = len(layers.top)
    speed = layers.velocities(omega)
    waves = [Waves(k, omega, speed[j, 0], speed[j, 1], layers.rho[j]) for j in range(n)]
    thick = np.append(np.diff(layers.top), np.inf)
    at, to = layers.holds(zs), layers.holds(zr)
    f = forces(m, k)
    scale = 1 / (layers.rho[0] * layers.vs[0] * abs(omega))
    motion = np.zeros((5, 3, len(k)), complex)
    for kinds, parts in (((0, 1), 4), ((1,), 2)):            # P and SV together, SH by itself
        h, first = parts // 2, 0 if parts == 4 else 2
        units = np.array([1.0] * h + [scale] * h)[:, None]

        def vectors(j, d, z, kinds=kinds, parts=parts, units=units):
            """(kind, part, k) of waves down (d = 0) or up at z, which begin at the layer's top or bottom."""
            way = z - layers.top[j] if d == 0 else layers.top[j] + thick[j] - z
            v = (waves[j].psv if parts == 4 else waves[j].sh)[d]
            return v * units * np.stack([np.exp(-waves[j].decay[q] * way) for q in kinds])[:, None]

        def source(z, kinds=kinds, parts=parts, units=units, first=first):
            """(order, part, k) of what comes straight from the source."""
            d = 0 if z > zs else 1
            v = (waves[at].psv if parts == 4 else waves[at].sh)[d] * units
            amplitude = waves[at].direct(f, d == 0)[:, first:first + len(kinds)]
            amplitude = amplitude * np.stack([np.exp(-waves[at].decay[q] * abs(z - zs)) for q in kinds])
            return np.einsum('owk,wpk->opk', amplitude, v)

        size = 2 * h * (n - 1) + h
        a, b = np.zeros((len(k), size, size), complex), np.zeros((len(k), size, 5), complex)

        def enter(rows, j, z, sign, part, h=h, a=a, b=b):
            for d in range(1 if j == n - 1 else 2):
                columns = slice(2 * h * j + h * d, 2 * h * j + h * d + h)
                a[:, rows, columns] += sign * vectors(j, d, z)[:, part].transpose(2, 1, 0)
            if j == at:
                b[:, rows] -= sign * source(z)[:, part].transpose(2, 1, 0)

        enter(slice(0, h), 0, layers.top[0], 1, slice(h, 2 * h))
        for j in range(n - 1):
            rows = slice(h + 2 * h * j, 3 * h + 2 * h * j)
            enter(rows, j, layers.top[j + 1], 1, slice(0, 2 * h))
            enter(rows, j + 1, layers.top[j + 1], -1, slice(0, 2 * h))
        x = np.linalg.solve(a, b)
        for d in range(1 if to == n - 1 else 2):
            v = vectors(to, d, zr)[:, :h]
            motion[:, first:first + h] += np.einsum('kwo,wpk->opk', x[:, 2 * h * to + h * d:2 * h * to + h * d + h], v)
        if to == at:
            motion[:, first:first + h] += source(zr)[:, :h]
    return motion


def wavenumbers(n, dk):
    """n of them, about dk apart, and weights that make a sum of the integral of k f(k) dk / (2 pi): exact for what lies no farther
    from the axis than 2 pi / dk in all (Frappier & Olivier 1993, Math. Comp. 60, 303-316), where equal steps err at k = 0."""
    from scipy.special import j0, j1

    zero = (np.arange(n) + 0.75) * np.pi
    zero += 1 / (8 * zero)
    for _ in range(3):
        zero += j0(zero) / j1(zero)
    return zero * dk / np.pi, (dk / np.pi / j1(zero)) ** 2 / np.pi


def layered_velocity(layers, zs, m, stations, spectrum, highest, t):
    """Velocity (station, component x y z, time) at the stations (x, y, z from the epicentre [m]), at times t from 0 [s].

    m: moment tensor (xx, yy, zz, xy, xz, yz) [N m]; spectrum(w): of the wavelet [1/s], the history of the moment rate over m;
    highest: frequency beyond which it is nothing [Hz].
    """
    from scipy.special import jv

    stations = np.atleast_2d(np.asarray(stations, float))
    far = np.hypot(stations[:, 0], stations[:, 1])
    azimuth = np.arctan2(stations[:, 1], stations[:, 0])
    apart = np.abs(stations[:, 2] - zs).min()
    if apart < 0.1 * layers.vs.min() / highest:
        fail(f'source and station differ in depth by {apart:g} m: give at least a tenth of the shortest wavelength, '
             f'{0.1 * layers.vs.min() / highest:g} m, or leave such stations out with --channels')
    df = 1 / (PERIODS * t[-1])
    damping = DAMPING * df
    dk = 2 * np.pi / (1.1 * layers.vp.max() * t[-1] + 2 * far.max())
    out = np.zeros((len(stations), 3, len(t)))
    for n in range(int(np.ceil(highest / df)) + 1):
        omega = 2 * np.pi * n * df - 1j * damping
        k, area = wavenumbers(int((1.05 * abs(omega) / layers.vs.min() + RANGE / apart) / dk) + 2, dk)
        wave = spectrum(omega) * np.exp(1j * omega * t) * (1 if n == 0 else 2) * df
        done = {}
        for s, (x, y, z) in enumerate(stations):
            if z not in done:
                done[z] = response(layers, zs, z, m, k, omega)
            u, w, v = done[z].transpose(1, 0, 2)
            bessel = {q: 1j**float(q) * jv(q, k * far[s]) * area * np.exp(1j * q * azimuth[s]) for q in range(-3, 4)}
            plus = sum((u[i] + 1j * v[i]) @ bessel[q + 1] for i, q in enumerate(ORDERS))
            minus = sum((u[i] - 1j * v[i]) @ bessel[q - 1] for i, q in enumerate(ORDERS))
            down = sum(w[i] @ bessel[q] for i, q in enumerate(ORDERS))
            for c, value in enumerate(((plus + minus) / 2, (plus - minus) / 2j, down)):
                out[s, c] += (value * wave).real
    return out
