#!/usr/bin/env python3
"""Faults that would only be found after a run are said before it, by plan and run in the same words: as a refusal where nothing of
use would come out, else as a warning with the number that an independent answer then confirms. Nothing is said of jobs in order."""
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

ROOT = Path(os.environ["ROOT"])
import exact  # noqa: E402
import mini3d as m3  # noqa: E402
import minisurvey as m2  # noqa: E402
from check import claim, done, given_seed  # noqa: E402

SEED = given_seed()
rng = np.random.default_rng(SEED)
FRESH = ("are 0", "be 0", "kilometres", "carries waves off", "graze", "stairs", "ft/s", "mixed up", "deeper than the model", "step from",
         "g/cm3")


def lines(text, word):
    """The text behind `word` at the begin of lines."""
    return [m.group(1).strip() for m in re.finditer(rf"^\s*{word}:?\s+(.*)$", text, re.M)]


def refused(sentence, mini, words, *phrases):
    """plan and run refuse alike, and nothing is left behind."""
    for p in Path().glob("out.nc*"):
        p.unlink()
    plan, run = mini.run("plan", "par=job.par", *words), mini.run("par=job.par", *words)
    left = [p.name for p in Path().glob("out.nc*")]
    missing = [p for p in phrases if p not in run.stderr]
    claim(plan.returncode == run.returncode == 1 and plan.stderr == run.stderr and not missing and not left,
          f"{sentence}: exit status {plan.returncode} and {run.returncode}{', lacks ' + repr(missing) if missing else ''}"
          f"{'' if plan.stderr == run.stderr else ', other words in run'}{', left ' + str(left) if left else ''}: "
          f"{run.stderr.strip()[:330]}")


def warned(sentence, mini, words, *phrases):
    """plan says it, and run with the same words; what it modelled is in out.nc."""
    r = mini.run("plan", "par=job.par", "overwrite=y", *words)
    plan = lines(r.stdout, "warning")
    run = mini.run("par=job.par", "overwrite=y", *words)
    here = [w for w in plan if all(p in w for p in phrases)]
    same = [w for w in lines(run.stderr, "warning") if w in here]
    claim(len(here) == 1 == len(same) and run.returncode == 0, f"{sentence}: {len(here)} time(s) in plan, {len(same)} in run: "
          f"{here[0][:400] if here else (r.stderr or str(plan))[:300]}")
    return here[0] if here else ""


def silent(sentence, mini, *words, fresh=FRESH):
    """plan is content and says none of these."""
    r = mini.run("plan", "par=job.par", "overwrite=y", *words)
    said = [line.strip() for line in r.stdout.splitlines() if any(p in line for p in fresh)]
    claim(r.returncode == 0 and not said, f"{sentence}: no word of it {r.stderr.strip() or said or ''}")


def data(path, name):
    with Dataset(path) as ds:
        return ds[name][...].filled(np.nan).astype(float)


def percent(text, behind):
    """The number before ' %' behind some words."""
    m = re.search(re.escape(behind) + r"[^%]*?([0-9.e+-]+) %", text)
    return float(m.group(1)) if m else float("nan")


def folder(name):
    here = TOP / name
    here.mkdir()
    os.chdir(here)


TOP = Path.cwd()

# --- what a free surface makes 0 ----------------------------------------------------------------------------------------

folder("surface2d")
m2.make(shots=2, top="free", npml=20)
x = np.sort(rng.uniform(100, 1100, 7))


def spread(depths):
    Path("n.txt").write_text("".join(f"{i + 1} {a:.3f} {z:.3f}\n" for i, (a, z) in enumerate(zip(x, depths))))
    Path("line.keymap").write_text("spread n list n.txt\nshot 101 600 13.1 n\nshot 102 640 13.1 n\n")


spread([0.0] * 7)
refused("2D, all receivers on the free surface, p", m2, [], "every trace would be 0", "p on the free surface", "give them a depth",
        "components=vz")
refused("the same, p and vx", m2, ["components=p,vx"], "every trace would be 0", "p, vx on the free surface")
w = warned("the same, p, vx and vz", m2, ["components=p,vx,vz"], "28 of 42 traces will be 0", "p, vx on", "channel 1 of shot record 101")
top = [np.abs(data("out.nc", n)).max() for n in ("pressure", "vx", "vz")]
claim(max(top[0] / 1.76e6, top[1]) < 1e-9 * top[2], f"and so it is: largest p, vx, vz there {top}, rounding")
spread([0.0, 20, 20, 0, 20, 20, 20])
warned("two of seven there", m2, [], "4 of 14 traces will be 0", "channel 1")
small = np.abs(data("out.nc", "pressure")).max(-1)
claim((small < 1e-9 * small.max()).tolist() == [[True, False, False, True, False, False, False]] * 2, f"and these are the ones that are 0: {small[0]}")
spread([4.9] * 7)
silent("all 4.9 m deep in cells of 10 m", m2)
refused("and with positions=nearest, which moves them to the top", m2, ["positions=nearest"], "every trace would be 0")
Path("line.keymap").write_text("spread n fixed x0=300 interval=50 channels=4 depth=30\nshot 101 600 4.9 n\n")
refused("a source that positions=nearest moves to the top", m2, ["positions=nearest"], "record 101", "onto the free surface", "positions=exact")
spread([0.0] * 7)
silent("the top absorbs", m2, "top=pml")

folder("surface3d")
WATER, ROCK = "0 1500 0 1000\n200 3000 1500 2200\n", "0 3000 1500 2200\n"


def survey3(layers, z, sz, **deck):
    m3.make(shots=1, layers=layers, top="free", **deck)
    a, b = rng.uniform(150, 350), rng.uniform(20, 45)
    Path("line.keymap").write_text(f"spread c fixed x0={a:.3f} interval={b:.3f} channels=5 depth={z} y=41.7\nshot 11 253.3 {sz} c y=-12.3\n")


survey3(WATER, 0, 111.7, components="p")
refused("3D, receivers of p on the surface of water", m3, [], "every trace would be 0", "p on the free surface")
survey3(WATER, 0, 111.7, components="vx,vy,sxx,syz,exx")
refused("3D, of all else that is 0 there", m3, [], "every trace would be 0", "vx, vy, sxx, syz, exx on")
survey3(ROCK, 0, 111.7, components="szz,sxz,syz")
refused("3D, tractions on the surface of rock", m3, [], "szz, sxz, syz on the free surface")
survey3(ROCK, 0, 111.7, components="p,vx,szz,vz")
warned("3D, szz beside others on rock", m3, [], "5 of 20 traces will be 0", "szz on the free surface")
survey3(ROCK, 0, 111.7, components="p,vx,vz,sxx,sxy,ezz")
silent("3D, p, v, sxx, sxy, ezz on rock", m3, fresh=("be 0",))
survey3(ROCK, 12, 111.7, components="szz")
silent("3D, szz 12 m below", m3, fresh=("be 0",))
DEEP = dict(z=52.3, sz=0)
for name, layers, deck in (("injection of volume in water", WATER, {}), ("explosion in water", WATER, dict(source="explosion", mw=2)),
                           ("horizontal force on water", WATER, dict(source="force", fx=1e9)),
                           ("mxz and myz in rock", ROCK, dict(source="moment", mxz=1e12, myz=-3e11)),
                           ("mzz with just as much of mxx and myy", ROCK, dict(source="moment", mxx=5e11, myy=5e11, mzz=1e12))):
    survey3(layers, **DEEP, **deck)
    refused(f"3D, a source on the surface: {name}", m3, [], "record 11", "lies on the free surface and would radiate nothing", "give it a depth")
for name, layers, deck in (("explosion in rock", ROCK, dict(source="explosion", mw=2)), ("force down on water", WATER, dict(source="force", fz=1e9)),
                           ("horizontal force on rock", ROCK, dict(source="force", fx=1e9)), ("mxy in rock", ROCK, dict(source="moment", mxy=1e12))):
    survey3(layers, **DEEP, **deck)
    silent(f"3D, a source on the surface that does radiate, {name}", m3, fresh=("radiate", "be 0"))

# --- quality factors that give energy ---------------------------------------------------------------------------------------

folder("quality")
GAINS = "0 2700 1620 1800 {} 20\n120 5400 3600 2200 {} 20\n"
for qp, place in (((41.2, 40), "vp = 5400 m/s, vs = 3600 m/s, Qp = 40 and Qs = 20"), ((1e9, 40), "vp = 2700 m/s, vs = 1620 m/s, Qp = 1e9 and Qs = 20")):
    survey3(GAINS.format(*qp), 52.3, 61.7)
    warned(f"3D, Qp = {qp[0]:g} and {qp[1]:g} beside Qs = 20", m3, [], place, "gains energy", "33.75" if "5400" in place else "41.67")
    silent("without attenuation", m3, "attenuation=n", fresh=("gains energy",))
survey3(GAINS.format(41.7, 33.8), 52.3, 61.7)
silent("3D, as much as shear leaves, to rounding", m3, fresh=("gains energy",))
volume = np.full((29, 17, 41), 1500, "<f4")
for name, low, high in (("vp", 1500, 3000), ("vs", 900, 2000), ("rho", 1800, 2200), ("qp", 41.2, 40), ("qs", 20, 20)):
    volume[:9], volume[9:] = low, high
    volume.tofile(f"{name}.raw")
m3.write_deck(vp="vp.raw", vs="vs.raw", rho="rho.raw", qp="qp.raw", qs="qs.raw", layers=None, model_nx=41, model_ny=17, model_nz=29, model_dx=20,
              model_dy=20, model_dz=20, model_order="zyx", dx=None, depth=None, aperture=None)
Path("line.keymap").write_text("spread c fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=141.7\nshot 11 253.3 111.7 c y=112.3\n")
warned("3D, in volumes", m3, [], "vp = 3000 m/s, vs = 2000 m/s, Qp = 40 and Qs = 20", "gains energy")

# --- axes -----------------------------------------------------------------------------------------------------------------

folder("axes")
m2.make(shots=1)
z, x = np.meshgrid(np.arange(m2.NZ), np.arange(m2.NX), indexing="ij")
(1600 + 100 * ((z + x // 9) // 7)).astype("<f4").tofile("vp.raw")
(1600 + 50 * ((z + x // 9) // 7)).astype("<f4").tofile("rho.raw")
refused("x fastest, said to be z fastest", m2, [], "seem to be mixed up", "every 121 and not every 61", "set model_order=xfast", "model_check=warn")
silent("with model_order as it says", m2, "model_order=xfast")
warned("with model_check=warn", m2, ["model_check=warn"], "velocity model 'vp.raw'", "seem to be mixed up", "set model_order=xfast")
orders = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]
volume = np.array([[[1500 + 400 * ((c + a // 5 + b // 9) // 11) for c in range(29)] for b in range(17)] for a in range(41)], "<f4")
m3.write_deck(vp="v.raw", layers=None, model_nx=41, model_ny=17, model_nz=29, model_dx=20, model_dy=20, model_dz=20, dx=None, depth=None, aperture=None)
Path("line.keymap").write_text("spread c fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=141.7\nshot 11 253.3 111.7 c y=112.3\n")
found, pair = [], ("xyz", "zyx")
for true, said in itertools.permutations(orders, 2):
    volume.transpose(["xyz".index(a) for a in true[::-1]]).copy().tofile("v.raw")
    r = m3.run("plan", "par=job.par", f"model_order={said}")
    fits = re.findall(r"model_order=([a-z]{3}(?: or [a-z]{3})*),", r.stderr)
    if r.returncode == 1 and "mixed up" in r.stderr:
        found.append(bool(fits) and true in fits[0].split(" or "))
        pair = true, said
claim(len(found) >= 20 and all(found), f"volumes in any of six orders said to be in any other: {len(found)} of 30 refused, 20 at least, with the "
      f"true order among those offered in {sum(found)}")
true, said = pair
volume.transpose(["xyz".index(a) for a in true[::-1]]).copy().tofile("v.raw")
refused(f"the last of them, {true} said to be {said}", m3, [f"model_order={said}"], "velocity model 'v.raw'", "mixed up", "model_check=warn")
silent("the same in its own order", m3, f"model_order={true}", fresh=("mixed up", "ft/s", "g/cm3"))

# --- units ----------------------------------------------------------------------------------------------------------------

folder("units")
m2.make(shots=1)
vp, rho = np.fromfile("vp.raw", "<f4"), np.fromfile("rho.raw", "<f4")


def rock(low, high, dense=None):
    """The two layers with these velocities, densities as they are or others."""
    np.where(vp > 2000, high, low).astype("<f4").tofile("a.raw")
    np.where(vp > 2000, *(dense or (1900, 1100))).astype("<f4").tofile("r.raw")


FOOT = 0.3048
rock(1500 / FOOT, 3100 / FOOT)
refused("water and rock in ft/s", m2, ["vp=a.raw"], "4921.26 .. 10170.6 m/s look like ft/s", "faster than 9000 m/s", "vp_unit=ft/s", "model_check=warn")
r = m2.run("plan", "par=job.par", "vp=a.raw", "vp_unit=ft/s")
claim(r.returncode == 0 and "1500 .. 3100 m/s" in r.stdout, f"and with vp_unit=ft/s: {lines(r.stdout, 'velocity')} {r.stderr[:200]}")
warned("with model_check=warn", m2, ["vp=a.raw", "model_check=warn"], "look like ft/s")
rock(1500 / FOOT, 2200 / FOOT, (2000, 1030))
refused("the same of soft sediments, with the density of water", m2, ["vp=a.raw", "rho=r.raw"], "look like ft/s", "as light as 1030 kg/m3")
warned("and without densities", m2, ["vp=a.raw", "rho=''", "fpeak=30"], "look like ft/s", "4921.26 ft/s would be water")
rock(1500 / FOOT, 5000 / FOOT)
refused("beyond what rock can be", m2, ["vp=a.raw"], "16404", "must be 50 .. 15000 m/s (ft/s? set vp_unit=ft/s)")
for low, high, what in ((5200, 6500, "granite"), (5800, 8100, "crust on mantle"), (6000, 6000, "one rock"), (4000, 6000, "LOH.1"), (1500, 4700, "marine"),
                        (4900, 4900, "one rock of 4900 m/s"), (5500, 8900, "the deepest lithosphere")):
    rock(low, high, (2700, 2700))
    silent(f"{what}, {low} .. {high} m/s", m2, "vp=a.raw", "rho=r.raw", "fpeak=12", fresh=("ft/s", "km/s", "in its place?"))
heavy = rng.uniform(3750, 4900)
rock(1500, 2600, (heavy, 1500))
warned("densities that were velocities", m2, ["vp=a.raw", "rho=r.raw", "fpeak=12"], f"rho is up to {heavy:.5g} kg/m3", "in its place?")
soft = rng.uniform(300, 880)
rock(1500, 2600, (2000, soft))
warned("those that were S velocities", m2, ["vp=a.raw", "rho=r.raw", "fpeak=12"], f"rho is down to {soft:.4g} kg/m3", "in its place?")
refused("a density of 2.2 kg/m3", m2, ["rho=''", "rho_value=2.2"], "rho_value = 2.2 kg/m3 looks like g/cm3")
np.full(vp.size, 340, "<f4").tofile("air.raw")
silent("air of 1.2 kg/m3", m2, "vp=air.raw", "rho=''", "rho_value=1.2", "fpeak=2", fresh=("g/cm3", "ft/s"))
side = 24
layer = np.broadcast_to(np.where(np.arange(side) < 5, 1500.0, 3000.0), (side, side, side))
DECK3 = dict(layers=None, model_nx=side, model_ny=side, model_nz=side, model_dx=40, model_dy=40, model_dz=40, model_order="zyx", dx=None, depth=None,
             aperture=None)


def volumes(v=1.0, d=1.0):
    (layer * v).astype("<f4").tofile("p.raw")
    (np.where(layer > 2000, 1500, 0) * v).astype("<f4").tofile("s.raw")
    (np.where(layer > 2000, 2200, 1000) * d).astype("<f4").tofile("d.raw")
    m3.write_deck(vp="p.raw", vs="s.raw", rho="d.raw", **DECK3)
    Path("line.keymap").write_text("spread c fixed x0=203.4 interval=43.7 channels=5 depth=252.3 y=341.7\nshot 11 253.3 311.7 c y=312.3\n")


volumes()
silent("3D volumes in SI", m3, fresh=("ft/s", "g/cm3", "km/s", "in its place?"))
for swapped, word in ((rng.uniform(0.72, 0.85), warned), (rng.uniform(0.3, 0.7), silent)):
    np.where(layer > 2000, 3000 * swapped, 0).astype("<f4").tofile("s.raw")
    word(f"vs of {swapped:.3f} vp", m3, *([["dispersion=warn"], f"vs is up to {swapped:.3g} vp", "in its place?"] if word is warned else ["dispersion=warn"]))
volumes(v=1e-3)
refused("3D volumes in km/s", m3, [], "1.5 .. 3 m/s look like km/s: set vp_unit=km/s")
volumes(d=1e-3)
refused("3D volumes in g/cm3", m3, [], "1 .. 2.2 kg/m3 look like g/cm3: set rho_unit=g/cm3")
volumes(v=1 / FOOT)
refused("3D volumes in ft/s", m3, [], "look like ft/s")
silent("and said to be", m3, "vp_unit=ft/s", fresh=("ft/s",))

# --- wavelet files ----------------------------------------------------------------------------------------------------------

folder("wavelet")
np.full(m2.NX * m2.NZ, 2000.0, "<f4").tofile("u.raw")
m2.make(shots=1, vp="u.raw", rho="u.raw", npml=20, tmax=0.9, wavelet="file", wavelet_file="w.txt", wavelet_dt=0.002, delay=0.0, aperture=-1)
m2.write_deck(vp="u.raw", rho=None, rho_value=1500, npml=20, tmax=0.9, wavelet="file", wavelet_file="w.txt", wavelet_dt=0.002, delay=0.0,
              aperture=-1, fmax=40)
Path("line.keymap").write_text("spread n fixed x0=600 interval=100 channels=3 depth=300\nshot 101 300 300 n\n")
t = np.arange(150) * 0.002
rise = 0.5 * (1 + np.vectorize(__import__("math").erf)((t - 0.15) / 0.03))      # to a value that stays


def wavelet(*parts):
    np.savetxt("w.txt", np.concatenate(parts), fmt="%.9f")


wavelet(rise)
refused("a source that goes on, cut at its end", m2, [], "w.txt ends at 1, 100 % of its peak", "let it end at 0", "add a sample of 0")
wavelet(rise[::-1])
refused("one that begins in the midst", m2, [], "w.txt begins at 1, 100 % of its peak", "put a sample of 0 before")
said = percent(m2.run("plan", "par=job.par").stderr, "a pulse of some")
wavelet(rise, [0])
silent("with a sample of 0 the step is meant", m2, fresh=("step from",))
m2.run("par=job.par", "overwrite=y")
cut = data("out.nc", "pressure")[0, 0]
wavelet(rise, np.ones(420))
silent("a source held beyond the end of the record", m2, fresh=("step from",))
m2.run("par=job.par", "overwrite=y")
held = data("out.nc", "pressure")[0, 0]
signal, pulse = np.abs(held).max(), np.abs(cut - held).max()
claim(pulse > 0.5 * signal and 0.7 * said < 100 * pulse / signal < 1.4 * said,
      f"the step radiates {100 * pulse / signal:.0f} % of the signal's {signal:.3g} Pa, told: {said:.0f} %, must be so within 30 %")
late = np.abs(held[200:]).max() / signal
claim(late < 0.25, f"held, it radiates no second pulse: 0.8 s after its begin p is below {100 * late:.0f} % of the signal, the tail of a line in 2D")
tail = rise * 0 + np.exp(-((t - 0.1) / 0.03)**2)
for part, what in ((0.0005, "nothing"), (0.004, "warned")):
    wavelet(tail + part * (t > 0.1) * (1 - tail))
    if what == "nothing":
        silent(f"an end at {part} of the peak", m2, fresh=("step from",))
    else:
        w = warned(f"an end at {part} of the peak", m2, [], "ends at 0.004", "0.4 % of its peak", "step from or to 0")

# --- dispersion -----------------------------------------------------------------------------------------------------------

folder("dispersion")
c, density, fpeak, offset = 2000.0, 1500.0, 10.0, 2600.0
freq = exact.Frequencies(2.0, 4 * fpeak, fpeak, 0.16)
spectrum = exact.full_space(freq, c, density, np.array([offset]), np.array([0.0]))[0]
cases = [(1, 10, {"dispersion": "warn"}), (2, 6, {}), (2, 8, {}), (2, 6, {"coeffs": "taylor", "dispersion": "warn"}), (2, 10, {"coeffs": "taylor"}),
         (4, 3.6, {}), (8, 5, {}), (8, 5, {"time_correction": "no"})]
cases += [(int(rng.integers(2, 4)), float(rng.uniform(5.0, 9.0)), {"dispersion": "warn"}) for _ in range(3)]
for half, points, more in cases:
    h = c / (points * 2.777 * fpeak)
    shape = int(3000 / h) + 1, int(600 / h) + 1
    before = set(Path().glob("run*"))
    t, p, _, _ = exact.shoot(np.full(shape, c), np.full(shape, density), h, (200.0, 300.0), [(200 + offset, 300.0)], fpeak=fpeak, tmax=1.7,
                             dt_out=0.004, delay=0.16, half_length=half, **more)
    here = (set(Path().glob("run*")) - before).pop()
    measured = exact.error(p, freq.traces(spectrum, t))
    w = [x for x in lines((here / "out.nc.log").read_text(), "warning") if "carries waves off" in x]
    number = percent(w[0], "a trace is off by") if w else 0.0
    right = abs(number - measured) <= 0.1 * measured if measured > 5.5 else (not w or 4.5 < measured)
    claim(right, f"half-length {half}, {points:.2f} points per shortest wavelength {more or 'as it comes'}: {measured:.2f} % off the exact trace 2.6 km away, "
          f"told: {number or 'nothing'}, must be within a tenth of it, and told above 5 %")
    if w and "half_length=" in w[0] and half == 2 and points == 6 and not more:
        better = int(re.search(r"half_length=(\d)", w[0]).group(1))
        _, p, _, _ = exact.shoot(np.full(shape, c), np.full(shape, density), h, (200.0, 300.0), [(200 + offset, 300.0)], fpeak=fpeak, tmax=1.7,
                                 dt_out=0.004, delay=0.16, half_length=better)
        got, promised = exact.error(p, freq.traces(spectrum, t)), percent(w[0], f"half_length={better} leaves")
        claim(abs(got - promised) < 0.2 * promised + 0.1, f"its cure, half-length {better}: {got:.2f} %, promised {promised} %")
os.chdir(TOP)

# --- along an absorbing layer -----------------------------------------------------------------------------------------------

folder("grazing")
h, c, fpeak, delay = 7.0, 1500.0, 15.0, 0.11
far = np.array([1000.0, 3000.0, 4500.0])
tmax = 3.2
freq = exact.Frequencies(tmax * 1.02, 4 * fpeak, fpeak, delay)
true = freq.traces(exact.full_space(freq, c, 1000.0, far, 0 * far)[0], np.arange(round(tmax / 0.004) + 1) * 0.004)


def along(z, offsets, **deck):
    """Source and receivers at depth z; what is told, and the largest error of p, of its peak [%]."""
    shape = int((400 + far.max()) / h) + 1, 41
    before = set(Path().glob("run*"))
    t, p, _, _ = exact.shoot(np.full(shape, c), np.full(shape, 1000.0), h, (200.0, z), [(200 + x, z) for x in offsets], fpeak=fpeak, tmax=tmax,
                             dt_out=0.004, delay=delay, **deck)
    here = (set(Path().glob("run*")) - before).pop()
    off = [100 * np.abs(a - b).max() / np.abs(b).max() for a, b in zip(p, true)]
    return [x for x in lines((here / "out.nc.log").read_text(), "warning") if "graze" in x], off


w, off = along(10.0, far)
claim(w == [] and max(off) < 0.2, f"20 cells, source and cable 10 m below them: {', '.join(f'{x:.2f}' for x in off)} % of the peak "
      f"at 1, 3 and 4.5 km, nothing told {w}")
w, off = along(10.0, far, npml=9)
number = percent(w[0], "some") if w else 0
claim(len(w) == 1 and "at the top" in w[0] and "top=free" in w[0] and off[-1] > 2 and 0.5 * off[-1] < number < 2 * off[-1],
      f"the same below 9 cells: {', '.join(f'{x:.2f}' for x in off)} % of the peak at 1, 3 and 4.5 km, told: {w}")
w, off = along(10.0, far[:1], npml=9)
claim(w == [] and off[0] < 0.2, f"at 1 km alone, 85 degrees: {off[0]:.2f} %, nothing told {w}")
w, off = along(10.0, far[:2], npml=9)
claim(w == [] and off[1] < 2, f"at 3 km: {off[1]:.2f} %, nothing told {w}")
w, _ = along(10.0, far, top="free")
claim(w == [], f"below a free surface: nothing told {w}")
m2.write_deck()
os.chdir(TOP)

# --- depth, kilometres ------------------------------------------------------------------------------------------------------

folder("lengths")
m2.make(shots=2)
warned("depth=1e5 of a model 600 m deep", m2, ["depth=1e5"], "depth = 100000 m is deeper than the model, which ends 600 m below its top")
silent("depth=600", m2, "depth=600")
silent("depth=300", m2, "depth=300")
np.full(60 * 30, 3000.0, "<f4").tofile("wide.raw")
WIDE = ("vp=wide.raw", "rho=''", "model_nx=60", "model_nz=30", "model_dx=100", "model_dz=100", "fpeak=3")
Path("line.keymap").write_text("spread c streamer first=50 interval=6 channels=300 depth=17.3\nshots first_record=1 n=3 x0=2500 dx=500 z=13 spread=c\n")
silent("receivers 6 m apart in cells of 100 m", m2, *WIDE, fresh=("kilometres",))
Path("line.keymap").write_text("spread c streamer first=0.05 interval=0.006 channels=300 depth=0.0173\nshots first_record=1 n=3 x0=2.5 dx=0.5 "
                               "z=0.013 spread=c\n")
warned("the same key-map in kilometres", m2, WIDE, "lie within 2.8", "are these kilometres?")
Path("line.keymap").write_text("spread c fixed x0=2500 interval=6 channels=3 depth=517.3\nshot 1 2520 530 c\n")
silent("a few receivers close together in the midst of the model", m2, *WIDE, fresh=("kilometres",))

# --- what 2D ignores ------------------------------------------------------------------------------------------------------------

folder("across")
m2.make(shots=1)
inline, across = np.sort(rng.uniform(60, 400, 5)), rng.uniform(-90, 90, 5)
Path("r.txt").write_text("".join(f"{c} {600 - x:.3f} 17 {4000 + y:.3f}\n" for c, x, y in zip(range(1, 6), inline, across)))
Path("line.keymap").write_text("spread c list r.txt\nshot 1 600 13 c y=4000\n")
w = warned("a feathered streamer in 2D", m2, [], "2D modelling ignores y")
told = [float(n) for n in re.findall(r"up to ([0-9.]+) m", w)]
true = [np.abs(across).max(), (np.hypot(inline, across) - inline).max()]
claim(len(told) == 2 and np.allclose(told, true, rtol=1e-3, atol=1e-3), f"told {told} m, must be {true[0]:.3f} and {true[1]:.3f} m")
Path("line.keymap").write_text("spread c streamer first=50 interval=20 channels=5 depth=17\nshot 1 600 13 c y=4000\n")
silent("a straight one, whatever its y", m2, fresh=("ignores y",))

# --- ground made of stairs ----------------------------------------------------------------------------------------------------

folder("stairs")


def ground(step, points, flat=False):
    """A hill of rock below air; points per shortest S wavelength."""
    nx, nz, vs = 40, 30, 1500.0
    a = np.arange(nx)
    top = np.full((nx, nx), 10) if flat else np.round(10 - 5 * np.exp(-((a[:, None] - 20)**2 + (a - 20)**2) / 40)).astype(int)
    solid = np.arange(nz)[:, None, None] >= top[None]
    (np.where(solid, 2600.0, 0)).astype("<f4").tofile("p.raw")
    (np.where(solid, vs, 0)).astype("<f4").tofile("s.raw")
    (np.where(solid, 2200.0, 0)).astype("<f4").tofile("d.raw")
    fmax = vs / (points * step)
    m3.write_deck(layers=None, vp="p.raw", vs="s.raw", rho="d.raw", model_nx=nx, model_ny=nx, model_nz=nz, model_dx=step, model_dy=step,
                  model_dz=step, model_order="xyz", dx=None, depth=None, aperture=None, half_length=2, fmax=fmax, fpeak=fmax / 2.8, tmax=0.05,
                  source="force", fz=1e9, components="vx,vz")
    Path("line.keymap").write_text(f"spread c fixed x0={10.3 * step} interval={3.1 * step} channels=3 depth={14 * step} y={20 * step}\n"
                                   f"shot 11 {30 * step} {22 * step} c y={20 * step}\n")


for points, off in ((16, 15), (10, 37), (24, 6.8)):
    step = float(rng.uniform(10, 60))
    ground(step, points)
    w = warned(f"a hill at {points} points per shortest S wavelength", m3, [], "stairs of air and rock", f"at {points} points", "32 points 4 %")
    claim(abs(percent(w, "is off by some") - off) <= 0.03 * off + 0.5, f"told: {percent(w, 'is off by some')} %, must be {off}")
ground(25.0, 33)
silent("at 33 points", m3, fresh=("stairs",))
ground(25.0, 24)
soft = np.arange(40) >= 20                                    # a terrace of fast rock before soft ground
solid = np.arange(30)[:, None, None] >= np.where(soft, 10, 8)
for name, v in (("p", np.where(soft, 2600.0, 5200)), ("s", np.where(soft, 1500.0, 3000)), ("d", 2200.0)):
    np.where(solid, v, np.zeros((30, 40, 40))).astype("<f4").tofile(f"{name}.raw")
warned("a step down to soft ground, which counts", m3, [], "at 24 points per shortest S wavelength, vs = 1500 m/s")
ground(25.0, 12, flat=True)
silent("flat ground of air", m3, fresh=("stairs",))

# --- decks that are in order ----------------------------------------------------------------------------------------------------

folder("decks")
for name in ("demo.par", "loh1.par", "loh1.layers", "marine3d.par", "marine3d.layers"):
    shutil.copy(ROOT / "inputs" / name, name)
for name in ("demo12.keymap", "loh1.keymap", "loh1.stations", "marine3d.keymap"):
    shutil.copy(ROOT / "keymaps" / name, name)
subprocess.run([sys.executable, str(ROOT / "tools" / "spl-model"), "demo", "-o", "demo_model.nc"], check=True, stdout=subprocess.DEVNULL)
for name, mini, words in (("demo", m2, []), ("loh1", m3, ["tmax=4", "dt_out=0.02"]), ("marine3d", m3, [])):
    shutil.copy(f"{name}.par", "job.par")
    silent(f"the deck {name}.par", mini, *words)
folder("words")
m2.make(shots=1)
r = m2.run("plan", "par=job.par", "npml=0")
claim("beware" not in r.stdout and "  warning    npml = 0" in r.stdout, "plan calls a warning a warning")
done()
