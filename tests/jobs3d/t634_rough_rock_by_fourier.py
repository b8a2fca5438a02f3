#!/usr/bin/env python3
"""Rock whose velocities, density and Q vary by chance from place to place: what a moment and a force between the nodes send through it
in 3D and on a mesh agrees with a Fourier method, whose fields, derivatives and Q share nothing with the programs."""
import functools
import os
import subprocess
from pathlib import Path

import numpy as np
from netCDF4 import Dataset
from scipy import fft
from scipy.interpolate import CubicSpline

import launch
from check import claim, done, drawn, given_seed

SEED = given_seed()
rng = np.random.default_rng(SEED)
BIN = Path(os.environ["B"]) / "bin"
MESH = str(Path(os.environ["ROOT"]) / "tools" / "spl-mesh")
SIDE, N, H = 1536.0, 60, 24.0                                 # the box [m], nodes of the Fourier method along it, spacing of volumes [m]
FPEAK, FMAX, DT, LAST = 4.5, 12.5, 0.0025, 0.47              # Hz, s; LAST: before anything comes round the periodic box
T0 = 0.22                                                     # s, of the middle of the wavelet
NAMES = ("vp", "vs", "rho", "qp", "qs")
MOMENT = dict(mxx=1e13, myy=-0.5e13, mzz=0.2e13, mxy=0.4e13, mxz=-0.3e13, myz=0.7e13)
FORCE = dict(fx=1e9, fy=-0.5e9, fz=0.7e9)


# --- the rock ---------------------------------------------------------------------------------------------------------


def waves():
    """A sum of periodic waves of 1.5 km to 220 m, between -1 and 1."""
    k = rng.integers(-4, 5, (30, 3))
    k = k[np.any(k, axis=1)]
    a, phase = rng.normal(size=len(k)), rng.uniform(0, 2 * np.pi, len(k))
    return lambda x: np.tanh(sum(u * np.cos(2 * np.pi / SIDE * (q[0] * x[0] + q[1] * x[1] + q[2] * x[2]) + p) for u, q, p in zip(a, k, phase))
                             / np.sqrt((a**2).sum() / 2))


PARTS = [waves() for _ in NAMES]


def rock(x):
    """vp, vs [m/s], rho [kg/m3], Qp, Qs at places x(3, ...) [m]. In the middle it is even: a moment on a slope of moduli within a cell
    sends other waves than one in their mean, which the programs warn of."""
    a, b, c, d, e = (part(x) * (1 - np.exp(-((x - SIDE / 2)**2).sum(0) / 110**2)) for part in PARTS)
    qs = 40 * (1 + 0.33 * e)
    return 3000 * (1 + 0.15 * a), 1700 * (1 + 0.15 * b), 2300 * (1 + 0.12 * c), 1.15 * qs * (1 + 0.1 * d), qs


def nodes(n, h):
    return np.stack(np.meshgrid(*3 * [np.arange(n) * h], indexing="ij"))


# --- the Fourier method -----------------------------------------------------------------------------------------------

TAU = 1 / (2 * np.pi * np.geomspace(0.3, 30, 5))              # s, relaxation times


def relaxed(q):
    """Parts of the unrelaxed modulus that relax, of each TAU, for constant Q; and unrelaxed modulus / (rho v**2 at FPEAK)."""
    w = 2 * np.pi * np.geomspace(0.8, FMAX, 40)[:, None]
    y = np.linalg.lstsq((w * TAU + 1 / q) / (1 + (w * TAU)**2) * q, np.ones(len(w)), rcond=None)[0]
    return [*y, np.real((1 - (y / (1 + 2j * np.pi * FPEAK * TAU)).sum())**-0.5)**2]


def of_q(q):
    table = np.geomspace(20, 80, 60)
    return [np.interp(np.log(q), np.log(table), column) for column in np.transpose([relaxed(x) for x in table])]


def single(values):
    return values.astype("f4")


def fourier(source, stations, forces):
    """Velocities (3, stations, time steps) and their times [s]. `forces`: spectra along x, y, z of the unit source as a function of
    wavenumbers; its history is that of the wavelet (force) or its integral (moment). In single precision: it is to be right to 1e-3."""
    x = nodes(N, SIDE / N)
    vp, vs, rho, qp, qs = rock(x)
    *yp, up = of_q(qp)
    *ys, us = of_q(qs)
    mu, stiff = rho * vs**2 * us, rho * vp**2 * up
    soft = [(single(2 * mu * s), single(stiff * p - 2 * mu * s)) for p, s in zip(yp, ys)]
    mu, lam, light = single(mu), single(stiff - 2 * mu), single(DT / rho)
    true = [2 * np.pi * fft.fftfreq(N, SIDE / N)] * 2 + [2 * np.pi * fft.rfftfreq(N, SIDE / N)]
    shape = ((N, 1, 1), (1, N, 1), (1, 1, N // 2 + 1))
    k = [np.where(np.arange(len(t)) == N // 2, 0, 1j * t).reshape(s).astype("c8") for t, s in zip(true, shape)]
    size = np.sqrt(sum(t.reshape(s)**2 for t, s in zip(true, shape))) / (np.pi * N / SIDE)
    unit = functools.reduce(np.multiply, np.ix_(*[np.exp(-1j * t * c) for t, c in zip(true, source)])) * (N / SIDE)**3
    fade = np.clip((size - 0.5) / 0.48, 1e-9, 1 - 1e-9)                      # up to shear waves of FMAX 1, then so smooth that nothing rings
    unit = unit / (1 + np.exp(np.minimum(1 / (1 - fade) - 1 / fade, 700)))
    back = functools.partial(fft.irfftn, s=(N, N, N))
    act = [single(back(f * unit)) for f in forces["of"](k)]
    at = [[np.exp(1j * t * c) for t, c in zip(true, p)] for p in stations]
    twice = np.where(np.isin(np.arange(N // 2 + 1), (0, N // 2)), 1, 2)

    def sample(spectrum):
        return [(((spectrum @ (a[2] * twice)) @ a[1]) @ a[0]).real / N**3 for a in at]

    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    v = np.zeros((3, N, N, N), "f4")
    e, *late = [{p: np.zeros((N, N, N), "f4") for p in pairs} for _ in range(1 + len(TAU))]
    decay = [float(1 - np.exp(-DT / tau)) for tau in TAU]
    got = []
    for it in range(round(LAST / DT)):
        s = {p: 2 * mu * e[p] - sum(m * r[p] for (m, _), r in zip(soft, late)) for p in pairs}
        trace = lam * (e[0, 0] + e[1, 1] + e[2, 2]) - sum(n * (r[0, 0] + r[1, 1] + r[2, 2]) for (_, n), r in zip(soft, late))
        for i in range(3):
            s[i, i] = s[i, i] + trace
        s = {p: fft.rfftn(s[p]) for p in pairs}
        for i in range(3):
            v[i] += light * (back(sum(k[j] * s[min(i, j), max(i, j)] for j in range(3))) + float(forces["history"](it * DT - T0)) * act[i])
        spectra = [fft.rfftn(c) for c in v]
        got.append([*map(sample, spectra)])
        for p in pairs:
            grown = DT * back((k[p[1]] * spectra[p[0]] + k[p[0]] * spectra[p[1]]) / 2)
            e[p] += grown / 2
            for d, r in zip(decay, late):
                r[p] += d * (e[p] - r[p])
            e[p] += grown / 2
    return np.transpose(got, (1, 2, 0)), (np.arange(len(got)) + 0.5) * DT


def ricker(t):
    a = (np.pi * FPEAK * t)**2
    return (1 - 2 * a) * np.exp(-a)


def moment_forces(k):
    m = MOMENT
    return (-(m["mxx"] * k[0] + m["mxy"] * k[1] + m["mxz"] * k[2]), -(m["mxy"] * k[0] + m["myy"] * k[1] + m["myz"] * k[2]),
            -(m["mxz"] * k[0] + m["myz"] * k[1] + m["mzz"] * k[2]))


KINDS = {"moment": (MOMENT, {"of": moment_forces, "history": lambda t: t * np.exp(-(np.pi * FPEAK * t)**2)}),
         "force": (FORCE, {"of": lambda k: [FORCE["fx"], FORCE["fy"], FORCE["fz"]], "history": ricker})}


# --- the programs against it ------------------------------------------------------------------------------------------


def job(program, source, exact, **changes):
    samples = round(SIDE / H) + 1
    words = dict(keymap="line.keymap", output=f"{program}.nc", wavelet="ricker", source=source, fpeak=FPEAK, delay=T0, tmax=LAST, dt_out=0.002,
                 components="vx,vy,vz", overwrite="y", threads=1, q_f1=0.8, q_f2=FMAX, q_ref=FPEAK, model_at="nodes", **{name: f"{name}.raw" for name in NAMES},
                 **{f"model_n{a}": samples for a in "xyz"}, **{f"model_d{a}": H for a in "xyz"}, **changes)
    r = launch.run(BIN / program, *(f"{k}={v}" for k, v in words.items()))
    claim(r.returncode == 0, f"{program}, {source}: exit status {r.returncode} {r.stderr[-300:] if r.returncode else ''}")
    if r.returncode:
        return
    with Dataset(f"{program}.nc") as ds:
        have = np.stack([ds[c][0].filled(np.nan) for c in ("vx", "vy", "vz")])
    traces, times = exact
    t = np.arange(have.shape[2]) * 0.002
    seen = (t > 0.01) & (t < LAST - 0.01)
    have, want = have[..., seen], CubicSpline(times, traces, axis=-1)(t[seen])
    off = np.linalg.norm(have - want, axis=(0, 2)) / np.linalg.norm(want, axis=(0, 2))
    claim(off.max() < 0.035, f"{program}, {source}: velocity of {len(off)} stations is {100 * off.min():.2f} to {100 * off.max():.2f} % off, "
          "bound 3.5 %")


for name, values in zip(NAMES, rock(nodes(round(SIDE / H) + 1, H))):
    np.ascontiguousarray(values.T, dtype="<f4").tofile(f"{name}.raw")
subprocess.run([MESH, "box", "-o", "box.exo", *sum(([f"--{a}", "0", str(SIDE)] for a in "xy"), []), "--z", str(-SIDE), "0", "--elements", "19", "19", "19",
                "--shake", "0.1", "--seed", str(SEED), "--overwrite"], check=True, capture_output=True)
for kind in drawn(1, KINDS, SEED):
    tensor, forces = KINDS[kind]
    source = SIDE / 2 + rng.uniform(-20, 20, 3)
    ways = rng.normal(size=(6, 3))
    stations = source + ways / np.linalg.norm(ways, axis=1)[:, None] * rng.uniform(180, 270, (6, 1))
    Path("line.keymap").write_text(f"spread net list stations\nshot 1 {source[0]} {source[2]} net y={source[1]}\n")
    Path("stations").write_text("".join(f"{i + 1} {p[0]} {p[2]} {p[1]}\n" for i, p in enumerate(stations.tolist())))
    exact = fourier(source, stations, forces)
    job("SplFd3dmod", kind, exact, **tensor, dx=22, dy=22, dz=22, half_length=4, npml=10, aperture=240, top="pml")
    job("SplSemmod", kind, exact, **tensor, mesh="box.exo")
done()
