"""Exact answers in double precision by numpy alone, by other means than the program and its own checks use: integrals over
frequency and wavenumber, and a pseudospectral solver. And a way to run one shot in a model made of arrays.

Frequencies are complex, w + i eps: what arrives after the period of the sum comes back damped by exp(-eps period). Convention
exp(-i w t). Source: volume injection rate Q(t) per metre of line."""
import itertools
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from minisurvey import run

COMPONENTS = ("pressure", "vx", "vz")
_number = itertools.count(1)


def shoot(vp, rho, h, source, receivers, **deck):
    """Runs one shot in arrays vp, rho (nx, nz) of spacing h; returns times and traces of pressure, vx, vz (receiver, time)."""
    folder = Path(f"run{next(_number)}").resolve()
    folder.mkdir()
    np.asarray(vp, "<f4").tofile(folder / "vp.raw")
    np.asarray(rho, "<f4").tofile(folder / "rho.raw")
    lines = [f"{i + 1} {x} {z}\n" for i, (x, z) in enumerate(np.asarray(receivers, float).tolist())]
    (folder / "nodes.txt").write_text("list nodes\n" + "".join(lines))
    (folder / "k.map").write_text(f"spread nodes list nodes.txt\nshot 1 {float(source[0])} {float(source[1])} nodes\n")
    deck = {"keymap": folder / "k.map", "vp": folder / "vp.raw", "rho": folder / "rho.raw", "model_nx": np.shape(vp)[0],
            "model_nz": np.shape(vp)[1], "model_dx": h, "model_dz": h,
            "output": folder / "out.nc", "threads": 1, "components": "p,vx,vz", **deck}
    (folder / "job.par").write_text("".join(f"{k} = {v}\n" for k, v in deck.items()))
    r = run(f"par={folder / 'job.par'}")
    if r.returncode:
        raise RuntimeError(r.stderr[-800:])
    with Dataset(folder / "out.nc") as ds:
        ds.set_auto_mask(False)
        return ds["time"][:], *(ds[name][0].astype(float) for name in COMPONENTS)


def double_couple(strike, dip, rake):
    """Twice the symmetric part of slip times normal, of Aki & Richards (2002, eq. 4.88 and 4.89); degrees; x north, y east, z down."""
    s, d, r = np.radians([strike, dip, rake])
    u = np.array([np.cos(r) * np.cos(s) + np.cos(d) * np.sin(r) * np.sin(s), np.cos(r) * np.sin(s) - np.cos(d) * np.sin(r) * np.cos(s),
                  -np.sin(d) * np.sin(r)])
    n = np.array([-np.sin(d) * np.sin(s), np.sin(d) * np.cos(s), -np.cos(d)])
    return np.outer(u, n) + np.outer(n, u)


def error(a, exact):
    """Relative L2 difference, largest over the traces [%]."""
    return 100 * float(np.max(np.linalg.norm(a - exact, axis=-1) / np.linalg.norm(exact, axis=-1)))


def ricker(t, fpeak, t0):
    a = (np.pi * fpeak * (t - t0))**2
    return (1 - 2 * a) * np.exp(-a)


class Frequencies:
    """Sum over complex frequencies up to fend for times up to tmax."""

    def __init__(self, tmax, fend, fpeak, t0):
        period = 5 * tmax
        self.dw = 2 * np.pi / period
        self.w = np.arange(int(fend * period) + 1) * self.dw + 16j / period
        wp = 2 * np.pi * fpeak
        self.q = 4 * np.pi * self.w**2 / (np.sqrt(np.pi) * wp**3) * np.exp(-(self.w / wp)**2 + 1j * self.w * t0)

    def traces(self, spectra, t):
        """(receiver, time) from spectra (frequency, receiver)."""
        wave = np.exp(-1j * np.outer(t, self.w))
        wave[:, 0] /= 2
        return (np.real(wave @ spectra) * self.dw / np.pi).T


def hankel(z):
    """Hankel functions H0, H1 of the first kind, Im z >= 0: the trapezoidal rule along a path on which exp(i z cosh u) decays."""
    step = 0.02
    s = np.arange(0, 9, step)
    flat = np.ravel(z)
    h0, h1 = np.empty(flat.shape, complex), np.empty(flat.shape, complex)
    for i, one in enumerate(flat):
        turn = 0.5 * np.pi - np.angle(one)
        c = np.cosh(s + 1j * turn * np.tanh(s))
        e = np.exp(1j * one * c) * (1 + 1j * turn / np.cosh(s)**2) * step
        e[0] /= 2
        h0[i], h1[i] = 2 / (1j * np.pi) * e.sum(), -2 / np.pi * (c * e).sum()
    return h0.reshape(np.shape(z)), h1.reshape(np.shape(z))


def full_space(f, c, rho, dx, dz):
    """Spectra of pressure, vx, vz at receivers (dx, dz) from the source."""
    r = np.hypot(dx, dz)
    w, q = f.w[:, None], f.q[:, None]
    h0, h1 = hankel(w / c * r)
    v = 0.25j * q * w / c * h1 / r
    return 0.25 * rho * w * q * h0, v * dx, v * dz


def constant_q(c, q, w, at):
    """Complex velocity where Q is the same at all frequencies w (Kjartansson 1979, J. Geophys. Res. 84, 4737-4748); c: phase velocity at
    `at` Hz."""
    power = np.arctan(1 / q) / np.pi
    return c * np.cos(np.pi * power / 2) * (-1j * w / (2 * np.pi * at))**power


def force_in_rock(x, vp, vs, rho, w):
    """Displacement (3, 3, frequency) at x from a force at 0 (Aki & Richards 2002, eq. 4.23); vp, vs may be complex."""
    r = np.linalg.norm(x)
    d = np.outer(x, x) / r**2
    a, b = np.exp(1j * w * r / vp), np.exp(1j * w * r / vs)
    # (3 d - 1)/r^3 times the integral of tau over the two arrivals, then both far fields
    near = ((1 - 1j * w * r / vp) * a - (1 - 1j * w * r / vs) * b) / (-1j * w)**2
    return (np.multiply.outer(3 * d - np.eye(3), near / r**3) + np.multiply.outer(d, a / (vp**2 * r))
            + np.multiply.outer(np.eye(3) - d, b / (vs**2 * r))) / (4 * np.pi * rho)


def two_half_spaces(f, upper, lower, zi, source, receivers, length, kmax):
    """Spectra of pressure, vx, vz for half-spaces (c, rho) in contact at depth zi, the source in the upper: integral over the
    wavenumber along the contact, in steps 2 pi/length."""
    (c1, r1), (c2, r2) = upper, lower
    k = (np.arange(int(kmax * length / (2 * np.pi))) + 0.5) * 2 * np.pi / length
    dx, z, sz = receivers[:, 0] - source[0], receivers[:, 1], source[1]
    above = z <= zi
    out = np.zeros((3, len(f.w), len(z)), complex)
    cosine, sine = np.cos(np.outer(k, dx)), np.sin(np.outer(k, dx))
    for i, w in enumerate(f.w):
        k1, k2 = np.sqrt(w**2 / c1**2 - k**2 + 0j), np.sqrt(w**2 / c2**2 - k**2 + 0j)
        k1, k2 = np.where(k1.imag < 0, -k1, k1)[:, None], np.where(k2.imag < 0, -k2, k2)[:, None]
        a = r1 * w * f.q[i] / (k1 * length)                       # of the source: rho (-i w) Q (i/2) / k1, dk/pi
        down = 2 * r2 * k1 / (r2 * k1 + r1 * k2) * np.exp(1j * (k1 * (zi - sz) + k2 * np.maximum(z - zi, 0)))
        up = (r2 * k1 - r1 * k2) / (r2 * k1 + r1 * k2) * np.exp(1j * k1 * (2 * zi - sz - np.minimum(z, zi)))
        p = a * np.where(above, up, down)
        rho = np.where(above, r1, r2)
        out[0, i] = (p * cosine).sum(0)
        out[1, i] = -(k[:, None] * p * sine).sum(0) / (1j * w * rho)
        out[2, i] = (np.where(above, -k1, k2) * p * cosine).sum(0) / (w * rho)
    if above.any():
        out[:, :, above] += full_space(f, c1, r1, dx[above], z[above] - sz)
    return out


def pseudospectral(vp, rho, h, source, receivers, rate, dt, steps, every):
    """Pressure, vx, vz (3, receiver, time) in a periodic square model by Fourier derivatives and fourth-order Runge-Kutta steps."""
    n = len(vp)
    kx, kz = 2 * np.pi * np.fft.fftfreq(n, h), 2 * np.pi * np.fft.rfftfreq(n, h)
    dx, dz = 1j * kx[:, None], 1j * kz[None, :]
    dx[n // 2], dz[:, -1] = 0, 0
    twice = np.where((np.arange(len(kz)) == 0) | (kz == kz[-1]), 1.0, 2.0) / n**2
    at_x, at_z = np.exp(1j * np.outer(receivers[:, 0], kx)), np.exp(1j * np.outer(receivers[:, 1], kz)) * twice
    k, b = rho * vp**2, 1 / rho
    smooth = np.exp(-(np.hypot(kx[:, None], kz) / (0.8 * np.pi / h))**10)
    delta = np.fft.irfft2(np.exp(-1j * (kx[:, None] * source[0] + kz * source[1])) * smooth, (n, n)) / h**2
    k_source = np.real(np.exp(1j * source[0] * kx) @ np.fft.rfft2(k) @ (np.exp(1j * source[1] * kz) * twice))

    def change(u, t):
        p = np.fft.rfft2(u[0])
        divergence = np.fft.irfft2(dx * np.fft.rfft2(u[1]) + dz * np.fft.rfft2(u[2]), (n, n))
        return np.stack([k_source * rate(t) * delta - k * divergence, -b * np.fft.irfft2(dx * p, (n, n)),
                         -b * np.fft.irfft2(dz * p, (n, n))])

    u = np.zeros((3, n, n))
    out = np.zeros((3, len(receivers), steps // every + 1))
    for i in range(steps):
        t = i * dt
        k1 = change(u, t)
        k2 = change(u + dt / 2 * k1, t + dt / 2)
        k3 = change(u + dt / 2 * k2, t + dt / 2)
        u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + change(u + dt * k3, t + dt))
        if (i + 1) % every == 0:
            for c in range(3):
                out[c, :, (i + 1) // every] = np.real(((at_x @ np.fft.rfft2(u[c])) * at_z).sum(1))
    return out
