#!/usr/bin/env python3
"""Sources of 3D jobs through the whole program, in absolute amplitude: a double couple, a force and an explosion in a homogeneous rock
against the exact solution (Aki & Richards 2002, eq. 4.23 and 4.29); a fault of one point is the point source; strains, rotations and
pressure are what the velocities and stresses make of them; a fault of many points adds up."""
from pathlib import Path

import numpy as np

from check import claim, done
from exact import double_couple, force_in_rock
from mini3d import run, traces, write_deck

VP, VS, RHO, FPEAK, DT_OUT, N = 3000.0, 1700.0, 2300.0, 2.0, 0.004, 226
BOUND = 0.02
SOURCE = np.array([613.0, 571.0, 642.0])
STATIONS = np.array([[713.0, 902.0, 731.0], [289.3, 450.1, 520.2], [811.7, 333.3, 905.5], [622.2, 560.6, 1010.1]])

Path("stations").write_text("".join(f"{i + 1} {s[0]} {s[2]} {s[1]}\n" for i, s in enumerate(STATIONS)))
Path("line.keymap").write_text(f"spread net list stations\nshot 1 {SOURCE[0]} {SOURCE[2]} net y={SOURCE[1]}\n")
Path("rock.layers").write_text(f"0 {VP} {VS} {RHO}\n")
DECK = dict(layers="rock.layers", dx=50, aperture=50, depth=1200, npml=8, half_length=4, coeffs="holberg", top="pml", fpeak=FPEAK,
            tmax=(N - 1) * DT_OUT, dt_out=DT_OUT, components="vx,vy,vz")


def model(output, **words):
    write_deck(**{**DECK, **words})
    r = run("par=job.par", f"output={output}")
    if r.returncode:
        claim(False, f"{output}: exit status {r.returncode}: {r.stderr[-500:]}")
    return output


def velocities(path):
    return np.stack([traces(path, c)[0] for c in ("vx", "vy", "vz")], 1)      # (station, component, time)


# --- exact: spectra of a finely sampled wavelet ------------------------------------------------------------------------

M = 4096
T = np.arange(M) * DT_OUT / 2
W = 2 * np.pi * np.fft.rfftfreq(M, DT_OUT / 2)
W[0] = 1e-3


def wavelet(delay):
    a = (np.pi * FPEAK * (T - delay)) ** 2
    return np.fft.rfft((1 - 2 * a) * np.exp(-a))


def green(x):
    """G_ij (3, 3, frequency): spectrum of the displacement, as exp(i w t)."""
    return force_in_rock(x, VP, VS, RHO, W).conj()


def exact(kind, strength, x, delay):
    """Velocity (3, N) at x from a source at 0."""
    s = wavelet(delay)
    if kind == "force":
        v = np.einsum("ijw,j->iw", green(x), strength) * 1j * W * s
    else:
        h, v = 1.0, 0
        for k in range(3):
            e = np.eye(3)[k] * h
            slope = (8 * (green(x + e) - green(x - e)) - (green(x + 2 * e) - green(x - 2 * e))) / (12 * h)
            v = v - np.einsum("ijw,j->iw", slope, strength[:, k]) * s          # by the source's place: minus; the history is a rate
    v[:, 0] = 0
    return np.fft.irfft(v, M)[:, ::2][:, :N]


def compare(name, path, kind, strength, delay, stations=STATIONS):
    got = velocities(path)
    worst = 0
    for i, s in enumerate(stations):
        want = exact(kind, strength, s - SOURCE, delay)
        worst = max(worst, np.linalg.norm(got[i] - want) / np.linalg.norm(want))
    claim(worst < BOUND, f"{name}: relative L2 of the three components at most {worst:.4f} at {len(stations)} stations, bound {BOUND}")


DELAY = 0.6
common = dict(delay=DELAY)
model("dc.nc", source="dc", strike=35, dip=60, rake=-40, m0=1e15, components="vx,vy,vz,p,sxx,syy,szz,exx,eyy,ezz,exy,wz", **common)
compare("double couple", "dc.nc", "moment", 1e15 * double_couple(35, 60, -40), DELAY)
model("force.nc", source="force", fx=2e9, fy=-1e9, fz=3e9, **common)
compare("force", "force.nc", "force", np.array([2e9, -1e9, 3e9]), DELAY)
model("boom.nc", source="explosion", m0=1e15, **common)
compare("explosion", "boom.nc", "moment", 1e15 * np.eye(3), DELAY)

# --- within five cells of the source -----------------------------------------------------------------------------------

NEAR = SOURCE + np.array([[21.3, -13.1, 9.4], [-60.7, 41.1, -33.3], [92.6, 108.4, 81.9], [-151.3, 122.2, 96.5]])
Path("near").write_text("".join(f"{i + 1} {s[0]} {s[2]} {s[1]}\n" for i, s in enumerate(NEAR)))
Path("near.keymap").write_text(f"spread net list near\nshot 1 {SOURCE[0]} {SOURCE[2]} net y={SOURCE[1]}\n")
near = dict(keymap="near.keymap", aperture=400, **common)
model("near_dc.nc", source="dc", strike=35, dip=60, rake=-40, m0=1e15, **near)
compare("double couple 0.5 to 4.3 cells away", "near_dc.nc", "moment", 1e15 * double_couple(35, 60, -40), DELAY, NEAR)
model("near_force.nc", source="force", fx=2e9, fy=-1e9, fz=3e9, **near)
compare("force 0.5 to 4.3 cells away", "near_force.nc", "force", np.array([2e9, -1e9, 3e9]), DELAY, NEAR)
Path("water.layers").write_text("0 1500 0 1000\n")
model("near_gun.nc", layers="water.layers", source="volume", dx=25, components="p", **near)
got = traces("near_gun.nc", "pressure")[0]
worst = 0
for g, s in zip(got, NEAR):
    r = np.linalg.norm(s - SOURCE)
    want = np.fft.irfft(1j * W * wavelet(DELAY) * np.exp(-1j * W * r / 1500) * 1000 / (4 * np.pi * r), M)[::2][:N]
    worst = max(worst, np.linalg.norm(g - want) / np.linalg.norm(want))
claim(worst < BOUND, f"air gun 1 to 8.6 cells away: relative L2 of the pressure at most {worst:.4f}, bound {BOUND}")

# --- what else is recorded ----------------------------------------------------------------------------------------------

p = traces("dc.nc", "pressure")
s = sum(traces("dc.nc", c) for c in ("sxx", "syy", "szz")) / 3
claim(np.abs(p + s).max() < 1e-5 * np.abs(p).max(), f"p = -(sxx + syy + szz)/3 within {np.abs(p + s).max() / np.abs(p).max():.1e}, bound 1e-5")
e = sum(traces("dc.nc", c) for c in ("exx", "eyy", "ezz"))
bulk = RHO * (VP**2 - 4 / 3 * VS**2)
rate = np.gradient(p, DT_OUT, axis=-1)
off = np.linalg.norm(rate + bulk * e) / np.linalg.norm(rate)
claim(off < 0.01, f"dp/dt = -K (exx + eyy + ezz): relative L2 {off:.4f}, bound 0.01")
want = []
for s in STATIONS:
    h = 5.0
    d = [[(exact("moment", 1e15 * double_couple(35, 60, -40), s - SOURCE + h * np.eye(3)[k], DELAY)[i]
           - exact("moment", 1e15 * double_couple(35, 60, -40), s - SOURCE - h * np.eye(3)[k], DELAY)[i]) / (2 * h) for k in range(3)]
         for i in range(2)]
    want.append([(d[0][1] + d[1][0]) / 2, (d[1][0] - d[0][1]) / 2])
want = np.array(want)
got = np.stack([traces("dc.nc", "exy")[0], traces("dc.nc", "wz")[0]], 1)
off = [np.linalg.norm(got[:, c] - want[:, c]) / np.linalg.norm(want[:, c]) for c in (0, 1)]
claim(max(off) < 0.03, f"rate of strain exy, of rotation wz against the exact solution: relative L2 {off[0]:.4f}, {off[1]:.4f}, bound 0.03")

# --- faults -------------------------------------------------------------------------------------------------------------

dt = 0.002
t = np.arange(0, 1.2, dt)
a = (np.pi * FPEAK * (t - DELAY)) ** 2
ricker = (1 - 2 * a) * np.exp(-a)


def fault(*points, start=0):
    text = ""
    for x, y, z, part in points:
        text += f"dc {x} {y} {z} 35 60 -40 {1e15 * part} {start} {dt} {len(t)}\n" + "\n".join(f"{v:.8g}" for v in ricker) + "\n"
    Path("one.fault").write_text(text)


fault((0, 0, 0, 1))
model("point.nc", source="fault", fault="one.fault", fmax=5.5)
a, b = velocities("point.nc"), velocities("dc.nc")
off = np.linalg.norm(a - b) / np.linalg.norm(b)
claim(off < 0.005, f"a fault of one point against the double couple: relative L2 {off:.4f}, bound 0.005")
fault((0, 0, 0, 0.25), (0, 0, 0, 0.75))
model("parts.nc", source="fault", fault="one.fault", fmax=5.5)
c = velocities("parts.nc")
off = np.linalg.norm(c - a) / np.linalg.norm(a)
claim(off < 1e-5, f"two points with a quarter and three quarters of the moment: {off:.1e}, bound 1e-5")
# time dispersion grows with time: late slip shows whether each history was turned about the start of the modelling
LATE = 1000
fault((0, 0, 0, 1), start=LATE * DT_OUT)
off = {}
for correct in ("yes", "no"):
    model("late.nc", source="fault", fault="one.fault", fmax=5.5, tmax=(LATE + N - 1) * DT_OUT, time_correction=correct, overwrite="y")
    c = velocities("late.nc")
    off[correct] = np.linalg.norm(c[..., LATE:] - a) / np.linalg.norm(a)
claim(off["yes"] < 1e-4 and off["no"] > 10 * off["yes"], f"slip 4 s later moves the same 4 s later: relative L2 {off['yes']:.1e}, bound "
      f"1e-4; without time_correction {off['no']:.1e} off, at least ten times as much")
done()
