#!/usr/bin/env python3
"""Stations that alone make the window of a shot large are told of by plan, log and refusals, with their channel, distance and the
window that would do; ordinary surveys hear nothing of it. Windows are counted here from positions alone. A wavelet file that its samples
cannot carry, or the grid, is told of with the part of its spectrum that Fourier sums here confirm; a begun output knows its wavelet file by
each number. Of receivers that stand still from shot to shot each shot counts, and the first is looked up."""
import math
import re
import resource
from pathlib import Path

import numpy as np

import mini3d as m3
import minisurvey as m2
from check import claim, done, given_seed

from spltools import write_model

SEED = given_seed()
rng = np.random.default_rng(SEED)


def stations(xy, name="n.txt"):
    """A list of stations; channels count in a shuffled order, so that no place in the list tells which is far."""
    channel = rng.permutation(len(xy)) + 1
    Path(name).write_text("".join(f"{c} {x:.3f} 52.3 {y:.3f}\n" for c, (x, y) in zip(channel, xy)))
    return channel


def told(mini, *words):
    """What plan says of far stations, which must be what run says."""
    plan = mini.run("plan", "par=job.par", "forecast=0", *words)
    return [w for w in re.findall(r"^\s*warning\s+(.*)$", plan.stdout, re.M) if "makes its window" in w], plan


def cells(low, high, d=40, aperture=100):
    """Whole cells along an axis that cover low - aperture .. high + aperture."""
    return math.ceil((high + aperture) / d) - math.floor((low - aperture) / d)


# --- 3D --------------------------------------------------------------------------------------------------------------------
m3.make(shots=1)
near = rng.uniform([200, -100], [500, 200], (30, 2))


def shot(xy, sx=253.3, sy=-12.3, **deck):
    m3.write_deck(**deck)
    channel = stations(xy)
    Path("line.keymap").write_text(f"spread n list n.txt\nshot 11 {sx} 111.7 n y={sy}\n")
    return channel


far = np.array([253.3, -12.3]) + rng.uniform(6e4, 1e5) * np.array([math.cos(a := rng.uniform(0.2, 1.3)), math.sin(a)])
channel = shot(np.vstack([near, far]))
w, plan = told(m3)
distance = math.dist((*far, 52.3), (253.3, -12.3, 111.7)) / 1000
x, y = (np.append(near[:, i], v) for i, v in ((0, 253.3), (1, -12.3)))
small = [cells(v.min(), v.max()) for v in (x, y)]
large = [cells(min(v.min(), f), max(v.max(), f)) for v, f in ((x, far[0]), (y, far[1]))]
said = w and re.search(r"channel (\d+) of shot record 11 at x = (\S+), y = (\S+) m, (\S+) km from its source, where no wave comes within the "
                       r"record of 0.3 s, makes its window (\S+) times as large, (\d+) x (\d+) x \d+ cells.* where (\d+) x (\d+) x \d+ ", w[0])
claim(len(w) == 1 and said and int(said[1]) == channel[-1] and math.dist((float(said[2]), float(said[3])), far) < 1
      and abs(float(said[4]) / distance - 1) < 1e-3 and [int(v) for v in said.groups()[5:]] == large + small,
      f"3D, one of 31 stations {distance:.1f} km away, of channel {channel[-1]}; windows of {large} and {small} cells: {w or plan.stderr[:300]}")
run = m3.run("par=job.par", "dx=0.5")
claim(run.returncode == 1 and f"channel {channel[-1]} of shot record 11" in run.stderr and "makes it so large" in run.stderr,
      f"a window so large that it is refused names the station: {run.stderr[-420:]}")
w, plan = told(m3, "dx=8")
claim(len(w) == 1 and (plan.returncode == 0 or f" of memory: channel {channel[-1]} of shot" in plan.stderr),
      f"so does one that no memory holds: exit status {plan.returncode}, {plan.stderr[:420]}")
long = distance * 1000 / 3000 + 1
w, plan = told(m3, f"tmax={long}", "dt_out=0.02")
claim(len(w) == 1 and "no wave" not in w[0], f"a record of {long:.0f} s, in which waves come so far: {w or plan.stderr[:300]}")
w, plan = told(m3, "aperture=1e5")
claim(not w and plan.returncode == 0, f"beside an aperture of 100 km the station costs little: {w or plan.stderr[:200]}")

# --- ordinary surveys --------------------------------------------------------------------------------------------------------
grid = np.array([(x, y) for x in np.arange(0, 4000, 150.0) for y in np.arange(0, 3000, 150.0)])
net = rng.uniform(-1, 1, (40, 2)) * 3e4
few = np.array([[0, 0], [300, 100], [900, -400], [2700, 2500], [9000, 7000.0]])
for name, xy, deck in (("an areal spread, its source in a corner", grid, dict()),
                       ("the same, of a record as short as its first waves", grid, dict(tmax=0.1)),
                       ("two swaths 20 km apart", np.vstack([grid, grid + 2e4]), dict(tmax=12, dt_out=0.01)),
                       ("a network of 40 stations", net, dict(tmax=40, dt_out=0.1, dx=400, fpeak=0.3, depth=4000)),
                       ("offsets that double from station to station", np.array([(100 * 2**i, 0) for i in range(10)]), dict(tmax=20, dt_out=.01)),
                       ("five stations", few, dict(tmax=5, dt_out=0.01)), ("one station 10 km away", few[-1:], dict(tmax=0.3))):
    shot(xy, 0, 0, **deck)
    w, plan = told(m3)
    claim(plan.returncode == 0 and not w, f"not told: {name} {w or plan.stderr.strip()[:300]}")


# --- nodes on the sea floor, the same for many shots ---------------------------------------------------------------------------
def said_of_receivers(*words):
    """{what plan says of receivers: of how many}, and the processor time that it took [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    plan = m3.run("plan", "par=job.par", "forecast=0", "model_check=warn", "dispersion=warn", *words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.findall(r"^\s*warning\s+(\d+) (receiver\(s\) of .*?),? the first", plan.stdout, re.M)
    return {what: int(n) for n, what in found}, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def nodes(n):
    return np.column_stack([np.arange(1, n + 1), rng.uniform(0, 1200, n), rng.uniform(130, 290, n), rng.uniform(0, 1200, n)])


def write_lists(**lists):
    Path("n.txt").write_text("".join(f"list {name}\n" + "".join("{:.0f} {:.2f} {:.2f} {:.2f}\n".format(*row) for row in rows)
                                     for name, rows in lists.items()))


def floor(x, y):
    return 210 + 30 * np.sin(x / 150 + 1) * np.cos(y / 200)


m3.make(shots=1, layers="0 1500 0 1000\n210 3000 1500 2200\n300 3700 2000 2400\n", components="vx,vz,p,exx", aperture=100)
at = np.meshgrid(*(np.arange(-160, 1400, 40.0),) * 2, np.arange(-20, 500, 40.0), indexing="ij")
rock = at[2] > floor(*at[:2])
write_model("hills.nc", axes="xyz", spacing=(40, 40, 40), origin=(-160, -160, -20), vp=np.where(rock, 3000.0, 1500), vs=np.where(rock, 1500.0, 0),
            rho=np.where(rock, 2200.0, 1000), units={"vp": "m/s", "vs": "m/s", "rho": "kg/m3"})
many = nodes(3000)
for kind, words in (("flat layers", ()), ("hills", ("layers=", "vp=hills.nc", "vs=hills.nc", "rho=hills.nc"))):
    write_lists(a=nodes(40), b=nodes(40))
    shots = [f"{rng.uniform(-50, 1250):.2f} {rng.choice([50, 330])} {s} y={rng.uniform(0, 1200):.2f}" for s in "aaabbbaaabbb"]
    heard = []
    for order in (range(12), np.reshape(np.arange(12), (2, 2, 3)).transpose(0, 2, 1).ravel()):        # aaabbb..., and abab...
        Path("line.keymap").write_text("lists n.txt\n" + "".join(f"shot {n} {shots[i]}\n" for n, i in enumerate(order, 1)))
        heard.append(said_of_receivers(*words)[0])
    claim(heard[0] == heard[1] and len(heard[0]) > 1, f"{kind}, 12 shots over two lists of nodes: told of {heard[0]}, of the same shots one list "
          f"after the other {heard[1]}")
    write_lists(a=many, b=many[::-1])
    times = []
    for lists in ("aa", "ab"):
        Path("line.keymap").write_text("lists n.txt\n" + "".join(f"shot {i} 600 50 {lists[i % 2]} y=600\n" for i in range(1, 25)))
        times.append(said_of_receivers(*words))
    (same, quick), (other, slow) = times
    claim(same == other and len(same) > 1, f"{kind}, 24 shots into 3,000 nodes that stand still, or change places: the same is told, {same}")
    if not words:                                # hills that the nodes lie close together in are looked up at once
        claim(quick < 0.4 * slow, f"{quick / slow:.2f} of the processor time, bound 0.4")

# --- 2D --------------------------------------------------------------------------------------------------------------------
nx = 6001
for name, v in (("vp.raw", 2000), ("rho.raw", 1500)):
    np.full((nx, 11), v, "<f4").tofile(name)
m2.write_deck(model_nx=nx, model_nz=11)
channel = stations(np.array([(x, 0) for x in (*rng.uniform(500, 1400, 19), 59000 - rng.uniform(0, 50))]))
Path("line.keymap").write_text("spread n list n.txt\nshot 101 600 13.1 n\nshot 102 640 13.1 n\n")
w, plan = told(m2)
claim(len(w) == 1 and f"channel {channel[-1]} of shot record 10" in w[0] and "2 such receivers in 2 shot(s)" in w[0],
      f"2D, one of 20 stations 58 km away in two shots: {w or plan.stderr[:300]}")
run = m2.run("par=job.par", "tmax=0.05")
claim(run.returncode == 0 and run.stderr.count("makes its window") == 1, f"the log says it once: {run.stderr.count('makes its window')}")
for name, text in (("a streamer", "spread s streamer first=50 interval=12.5 channels=480 depth=8\nshots first_record=1 n=9 x0=9000 dx=500 z=8 spread=s\n"),
                   ("a long fixed line of a short record", "spread s fixed x0=0 interval=50 channels=1200 depth=8\nshot 1 30000 8 s\n")):
    Path("line.keymap").write_text(text)
    w, plan = told(m2)
    claim(plan.returncode == 0 and not w, f"not told: 2D, {name} {w or plan.stderr.strip()[:300]}")

# --- wavelet files -----------------------------------------------------------------------------------------------------------
DT = 0.004
m2.make(shots=1, wavelet="file", wavelet_file="w.txt", wavelet_dt=DT, fpeak=None, fmax=12, dispersion="warn")
t = np.arange(-60, 61) * DT


def ricker(f):
    a = (math.pi * f * t)**2
    return (1 - 2 * a) * np.exp(-a)


def near_nyquist(w):
    """The largest amplitude above 0.8 of the Nyquist frequency, of the largest below."""
    a = np.abs(np.fft.rfft(w, 4096))
    f = np.linspace(0, 1, len(a))
    return a[f >= 0.8].max() / a[f < 0.8].max()


def judge(name, w, must):
    np.savetxt("w.txt", w, fmt="%.9f")
    r = m2.run("plan", "par=job.par", "forecast=0")
    said = re.search(r"w.txt has up to (\S+) % of the peak of its spectrum between 100 Hz and 125 Hz, the Nyquist", r.stdout + r.stderr)
    part = 100 * near_nyquist(w)
    right = (said is None) == (must == "nothing") and r.returncode == (must == "refused")
    claim(right and (not said or must == "refused" or abs(float(said[1]) / part - 1) < 0.06),
          f"{name}: {part:.3g} % near the Nyquist frequency, told: {said and said[1]} %, {must} {'' if right else r.stderr[:300]}")


judge("a Ricker wavelet of 8 samples a period", ricker(1 / (8 * DT)), "nothing")
judge("of 5 samples a period", ricker(1 / (5 * DT)), "told")
judge("of some more or less", ricker(rng.uniform(45, 70)), "told")
judge("a spike", (t == 0) * 1.0, "told")
judge("samples that change sign each", np.where(np.arange(len(t)) % 2, 1, -1) * np.exp(-(t / 0.05)**2), "refused")
np.savetxt("w.txt", ricker(12), fmt="%.9f")
beyond = "the wavelet goes on above fmax"
plan = m2.run("plan", "par=job.par", "forecast=0")
claim(plan.returncode == 0 and beyond not in plan.stdout, "a wavelet of 12 Hz on 10 m in 1600 m/s, fmax = 12 Hz: nothing is told")
plan = m2.run("plan", "par=job.par", "forecast=0", "dx=40", "dz=40")
for dt_out, whole in ((0.0013333, False), (0.001333, True), (0.004, True), (2.5e-7, False)):
    told_of = m2.run("plan", "par=job.par", "forecast=0", "model_check=warn", f"dt_out={dt_out}").stdout
    claim("ms; components" in told_of if whole else "no whole microseconds, as SEG-Y and SU need" in told_of, f"dt_out = {dt_out} s fits SEG-Y: {whole}")
said = re.search(beyond + r" = 12 Hz: from (\S+) Hz on, with up to (\S+) % of the peak", plan.stdout)
f = np.array([1600 / 80, 12])
a = np.abs(np.exp(-2j * np.pi * np.outer(f, t)) @ ricker(12))
claim(said and abs(float(said[1]) - 20) < 0.01 and abs(float(said[2]) / (100 * a[0] / a[1]) - 1) < 0.03,
      f"on 40 m, which carry 20 Hz: told {said and said.groups()}, must be 20 Hz and {100 * a[0] / a[1]:.1f} % {'' if said else plan.stderr[:200]}")
m2.make(shots=2, wavelet="file", wavelet_file="w.txt", wavelet_dt=DT, fpeak=None, tmax=0.1)
m2.run("par=job.par", "overwrite=y")
w = ricker(12)
Path("w.txt").write_text("# the same numbers, by other digits\n" + "".join(f"{float(f'{v:.9f}'):.17e}  # {i}\n" for i, v in enumerate(w)))
r = m2.run("par=job.par")
claim(r.returncode == 0, f"the same numbers by other digits, and comments: it goes on, exit status {r.returncode} {r.stderr[-200:] if r.returncode else ''}")
w[50] += 3e-9
np.savetxt("w.txt", w, fmt="%.9f")
r = m2.run("par=job.par")
claim(r.returncode == 1 and "then a wavelet or fault file" in r.stderr, f"one sample by 3e-9 of the peak: status {r.returncode}: {r.stderr[-230:]}")
done()
