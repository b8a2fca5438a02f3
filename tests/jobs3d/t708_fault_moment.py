#!/usr/bin/env python3
"""A fault releases dt * sum(rate) at each point, whatever its histories begin and end with: plan and log say the moment that numpy makes
of the file's text, what is used and what is not, and where slip and history disagree; the static displacement is that of the moment."""
import re
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, drawn, given_seed
from exact import double_couple
from mini3d import make, run, traces, write_deck
from spltools.reference.layered_motion import Layers, layered_velocity

SEED = given_seed()
rng = np.random.default_rng(SEED)
TOP, BELOW = (1700.0, 2300.0), (2100.0, 2500.0)              # vs, density; the second from 240 m on
EARTH = f"0 3000 {TOP[0]} {TOP[1]}\n240 3800 {BELOW[0]} {BELOW[1]}\n"
DECK = dict(source="fault", fmax=5.0, npml=6, components="vx,vy,vz", fault_lon=20, fault_lat=45, tmax=4.0, dt_out=0.02)
SHOT = 111.7                                                  # depth of the first shot of mini3d


# --- SRF text, and what numpy makes of it --------------------------------------------------------------------------------


def history(n):
    """n samples [cm/s] that need not begin or end with 0."""
    rate = rng.uniform(0, 300, n) * rng.choice([0, 1], n, p=[0.1, 0.9])
    if n > 2 and rng.random() < 0.5:
        rate[0] = 0
    if n and not rate.any():
        rate[rng.integers(n)] = 50
    return rate


def srf(points, version, wrap=6):
    """points: dicts of strike, dip, rake, area [cm2], dt, tinit, depth [km], slips and rates of each direction, told or not."""
    text = f"{version}\nPLANE 1\n 20 45 2 1 4 4\n 0 75 3 -1 1\nPOINTS {len(points)}\n"
    for p in points:
        tail = f" {p['vs']:.6e} {p['rho']:.5e}" if "vs" in p else ""
        text += (f"{p['lon']:.7f} {p['lat']:.7f} {p['depth']:.5f} {p['strike']} {p['dip']} {p['area']:.6e} {p['tinit']:.5f} "
                 f"{p['dt']:.6e}{tail}\n{p['rake']}")
        for rate, slip in zip(p["rates"], p["slips"]):
            text += f" {slip:.4f} {len(rate)}"
        text += "\n"
        for rate in p["rates"]:
            for i in range(0, len(rate), wrap):
                text += " ".join(f"{v:.5e}" for v in rate[i:i + wrap]) + "\n"
    return text


def integrate(text, shot_depth=SHOT):
    """Moments of the text alone: sum of the tensors, sum of the scalar moments, points that slip."""
    words = [line.split() for line in text.split("\n")]
    at = [w[0] if w else "" for w in words].index("POINTS")
    total, scalars, used = np.zeros((3, 3)), 0.0, 0
    n, row = int(words[at][1]), at + 1
    for _ in range(n):
        head, slip = [float(w) for w in words[row]], [float(w) for w in words[row + 1]]
        row += 2
        vs, rho = (head[8] / 100, head[9] * 1000) if len(head) > 8 else (TOP if 1000 * head[2] + shot_depth < 240 else BELOW)
        m = np.zeros((3, 3))
        for d, turn in ((0, 0), (1, 90)):
            rate = []
            while len(rate) < int(slip[2 * d + 2]):
                rate += [float(w) for w in words[row]]
                row += 1
            m += rho * vs**2 * head[5] * 1e-4 * 0.01 * head[7] * np.sum(rate) * double_couple(head[3], head[4], slip[0] + turn)
        total += m
        scalars += np.sqrt((m * m).sum() / 2)
        used += m.any()
    return np.sqrt((total * total).sum() / 2), scalars, used, n


def point(n1, n2=0, told=True, **change):
    dt = rng.choice([0.0005, 0.01, 0.025, 0.1])               # smaller and larger than the step of the modelling
    p = dict(lon=20 + rng.uniform(-4e-4, 4e-4), lat=45 + rng.uniform(-4e-4, 4e-4), depth=rng.choice([0.03, 0.06, 0.15, 0.2]),
             strike=rng.integers(360), dip=rng.integers(1, 91), rake=rng.integers(-180, 180), area=rng.uniform(1e7, 1e9), dt=dt,
             tinit=rng.uniform(0, 1), rates=[history(n1), history(n2), []])
    if told:
        p.update(vs=100 * rng.uniform(1500, 3000), rho=rng.uniform(2.0, 3.0))
    p.update(change)
    p["slips"] = change.get("slips", [p["dt"] * float(np.sum(np.round(r, 8))) for r in p["rates"]])
    return p


def plan(**deck):
    make(shots=deck.pop("shots", 1), layers=deck.pop("layers", EARTH), **{**DECK, **deck})
    r = run("plan", "par=job.par")
    claim(r.returncode == 0, f"plan of {deck.get('fault')}: exit status {r.returncode} {r.stderr.strip()[-300:]}")
    return r.stdout


SAID = re.compile(r"moment .*?([\d.e]+) N m \(Mw ([\d.]+)\) of the sum of all tensors, \|sum M\|/sqrt\(2\); the points' scalar moments sum to "
                  r"([\d.e]+) N m \(Mw ([\d.]+)\)")


def compare(name, text, said, shot_depth=SHOT):
    """Claims that the words of plan or log are what numpy makes of the file."""
    norm, scalars, used, n = integrate(text, shot_depth)
    m = SAID.search(said)
    if not m:
        claim(False, f"{name}: no moment is told in: {said[:600]}")
        return
    got = [float(g) for g in m.groups()]
    off = max(abs(got[0] / norm - 1), abs(got[2] / scalars - 1))
    mw = [2 / 3 * (np.log10(v) - 9.1) for v in (norm, scalars)]
    claim(off < 1e-4 and abs(got[1] - mw[0]) < 0.006 and abs(got[3] - mw[1]) < 0.006,
          f"{name}: {got[0]:.4e} and {got[2]:.4e} N m, Mw {got[1]} and {got[3]}; numpy makes {norm:.4e} and {scalars:.4e}, "
          f"Mw {mw[0]:.3f} and {mw[1]:.3f}: off by {off:.1e}, bound 1e-4")
    claim(f"{used} of {n} points used" in said, f"{name}: {used} of {n} points used")


LENGTHS = [(1, 0), (2, 0), (0, 1), (1, 2), (3, 3), (40, 0), (7, 90)]
cases = {
    "moments2.srf": ("2.0", [point(a, b) for a, b in LENGTHS * 3], "rigidity from the file;"),
    "moments1.srf": ("1.0", [point(a, b, told=False) for a, b in LENGTHS * 3], "rigidity from the model;"),
    "mixed.srf": ("2.0", [point(a, b, told=i % 2 == 0) for i, (a, b) in enumerate(LENGTHS * 2)], "or from the model where the file has none"),
}
for name, (version, points, words) in cases.items():
    Path(name).write_text(srf(points, version, wrap=int(rng.integers(1, 9))))
    said = plan(fault=name)
    compare(name, Path(name).read_text(), said)
    claim(words in said and "differs from" not in said and "dropped" not in said, f"{name}: '{words}', nothing dropped, nothing odd")

# --- the log and the file of gathers say the same --------------------------------------------------------------------------

make(shots=1, layers=EARTH, **{**DECK, "fault": "moments1.srf"})
r = run("par=job.par")
compare("the log", Path("moments1.srf").read_text(), Path("out.nc.log").read_text() if r.returncode == 0 else r.stderr)
with Dataset("out.nc") as f:
    compare("the output", Path("moments1.srf").read_text(), f.source_term)

r = run("par=job.par", "output=two.nc", ranks=2)
same = r.returncode == 0 and all(np.array_equal(traces("two.nc", c), traces("out.nc", c)) for c in ("vx", "vy", "vz"))
claim(same, f"a worker that hears of the fault from rank 0 makes the same bits {r.stderr.strip()[-200:] if r.returncode else ''}")

# --- where the shots stand in another rock ---------------------------------------------------------------------------------

text = srf([point(2, 0, told=False, depth=0.05), point(1, 0, told=False, depth=0.05)], "1.0")
Path("deep.srf").write_text(text)
make(shots=1, layers=EARTH, **{**DECK, "fault": "deep.srf"})
Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=41.7\n"
                               "shot 11 253.3 111.7 cable y=-12.3\nshot 12 253.3 211.7 cable y=-12.3\n")
r = run("plan", "par=job.par")
lines = [line for line in r.stdout.split("\n") if "moment of shot record" in line]
for record, depth in ((11, 111.7), (12, 211.7)):
    norm = integrate(text, depth)[0]
    said = [float(v) for line in lines for v in re.findall(rf"moment of shot record {record}\b.*?: ([\d.e]+) N m \(Mw", line)]
    claim(len(said) == 1 and abs(said[0] / norm - 1) < 1e-4, f"rigidity where shot record {record} stands: {said} N m, must be {norm:.4e}")

# --- where it lies -----------------------------------------------------------------------------------------------------------

Path("placed.fault").write_text("dc 0 0 20 30 40 50 1e15 0 0.1 3\n0 1 0\ndc 40 -30 100 30 40 50 1e15 0 0.1 3\n0 1 0\n")
said = plan(fault="placed.fault")
where = ("the fault lies at x = 253.3 .. 293.3, y = -42.3 .. -12.3, z = 131.7 .. 211.7 m of the model: its file counts from the position of "
         "shot record 11, x = 253.3, y = -12.3, z = 111.7 m, so it lies 111.7 m deeper than the file says")
claim(said.count(where + "\n") == 1, f"plan says once where the fault lies: {''.join(re.findall('.*the fault lies.*', said))}")
said = plan(fault="placed.fault", shots=2)
claim(said.count(where + "; with other shots it moves\n") == 1, "and that another shot has it elsewhere")
make(shots=1, layers=EARTH, **{**DECK, "fault": "placed.fault", "tmax": 0.1, "output": "placed.nc"})
Path("line.keymap").write_text(Path("line.keymap").read_text().replace("z=111.7", "z=0"))
r = run("par=job.par")
said = Path("placed.nc.log").read_text()
claim(r.returncode == 0 and said.count("z = 20 .. 100 m of the model") == 1 and "than the file says" not in said,
      f"the log says so too; a shot at z = 0 has the depths of the file: {''.join(re.findall('.*the fault lies.*', said))}")

# --- what is not used, and why ---------------------------------------------------------------------------------------------

points = [point(5), point(0), point(0), point(0), point(4, rates=[np.zeros(4), [], []]), point(3, area=0), point(0, slips=[20, 0, 0]), point(1)]
Path("drop.srf").write_text(srf(points, "2.0"))
said = plan(fault="drop.srf")
compare("drop.srf", srf(points, "2.0"), said)
claim("dropped: 4 without slip, 1 with a slip but without history, 1 of area 0" in said, "reasons: " + "".join(re.findall("dropped:.*", said)))
claim("1 of 8 points have histories" in said and "the worst is point 7, slip 20 cm, dt * sum(rate) 0 cm" in said,
      "a slip without history is warned of")
for name, text, word in (("zero.fault", "tensor 0 0 0 0 0 0 0 0 0 0 0.1 2\n1 1\ndc 0 0 0 1 2 3 0 0 0.1 1\n1\n"
                          "dc 0 0 0 1 2 3 1e15 0 0.1 2\n0 0\ndc 0 0 0 1 2 3 1e15 0 0.1 1\n10\n",
                          "1 of 4 points used, dropped: 1 without slip, 2 whose tensor is 0"),
                         ("more.srf", srf([point(2, told=False)], "1.0") + "20 45 1 2 3 4 5 6\n",
                          "goes on at line 9 after the 1 points that it announces")):
    Path(name).write_text(text)
    said = plan(fault=name)
    claim(word in said, f"{name}: {word}")
Path("none.srf").write_text(srf([point(0), point(3, area=0)], "2.0"))
make(shots=1, layers=EARTH, **{**DECK, "fault": "none.srf"})
r = run("plan", "par=job.par")
claim(r.returncode == 1 and "no point that slips: 2 point(s), 1 without slip, 1 of area 0" in r.stderr, f"nothing acts: {r.stderr.strip()[:300]}")

# --- slip and history --------------------------------------------------------------------------------------------------------

# the two points of 20 cm that lost three quarters: dt 0.1
plain = dict(dt=0.1, area=1e8, vs=2e5, rho=2.5)
two = [point(0, **plain, slips=[20, 0, 0], rates=[[0, 200], [], []]), point(0, **plain, slips=[20, 0, 0], rates=[[200], [], []])]
two[1].update({k: two[0][k] for k in ("strike", "dip", "rake")})
Path("two.srf").write_text(srf(two, "2.0"))
said = plan(fault="two.srf")
m = SAID.search(said)
claim(m and abs(float(m[1]) / (2 * 1e10 * 1e4 * 0.2) - 1) < 1e-4 and "differs from" not in said,
      f"two points of 20 cm, histories '0 200' and '200': {m and m[1]} N m, must be {2 * 1e10 * 1e4 * 0.2:.4e}")
two[0]["rates"][0], two[1]["rates"][0] = [0, 201], [200, -6]
Path("two.srf").write_text(srf(two, "2.0"))
said = plan(fault="two.srf")
claim("1 of 2 points have histories" in said and "the worst is point 2, slip 20 cm, dt * sum(rate) 19.4 cm" in said,
      "a history 0.5 % off its slip goes without a word, one 3 % off is told: " + "".join(re.findall("fault file two.srf.*", said)))
two = [point(0, dt=0.025, slips=[s, 0, 0], rates=[[r], [], []]) for s, r in ((0.01, 0.56), (-3, -120), (0.0, 0.1))]
Path("tiny.srf").write_text(srf(two, "1.0"))
said = plan(fault="tiny.srf")
claim("differs from" not in said, "slips rounded to a hundredth of a centimetre, backward slip: nothing to warn of")
two[1]["rates"][1] = [7.0]
two[1]["slips"][2] = 3.0
Path("other.srf").write_text(srf(two, "1.0"))
said = plan(fault="other.srf")
claim("1 of 3 points have histories" in said and "the worst is point 2, slip" in said, "slip2 and slip3 are compared too")

# --- NetCDF and plain text mean the same -------------------------------------------------------------------------------------

M0, DT = [3e15, 5e15, 2e15], 0.1
RATE = np.array([[2.0, 0, 0, 0, 0, 0], [4, 3, 2, 1, 0, 0], [0, 0, 0, 0, 0, 10.0]])
TEXT = "".join(f"dc 0 0 0 35 60 -40 {m:g} {0.3 + 0.1 * i} {DT} {len(r)}\n{' '.join(map(str, r))}\n" for i, (m, r) in enumerate(zip(M0, RATE)))
Path("same.fault").write_text(TEXT)
with Dataset("same.nc", "w", format="NETCDF3_64BIT_DATA") as f:
    f.createDimension("point", 3)
    f.createDimension("time", RATE.shape[1])
    columns = dict(x=("m", 0), y=("m", 0), z=("m", 0), strike=("degrees", 35), dip=("degrees", 60), rake=("degrees", -40), m0=("N m", M0),
                   onset=("s", 0.3 + 0.1 * np.arange(3)), time=("s", DT * np.arange(RATE.shape[1])))
    for name, (unit, values) in columns.items():
        v = f.createVariable(name, "f8", ("time" if name == "time" else "point",))
        v.units = unit
        v[:] = values
    v = f.createVariable("rate", "f8", ("point", "time"))
    v.units = "s-1"
    v[:] = RATE
want = (np.array(M0) * RATE.sum(1) * DT).sum()
shaken = []
for name in ("same.fault", "same.nc"):
    said = plan(fault=name, tmax=2.0, output=name + ".out")
    m = SAID.search(said)
    claim(m and abs(float(m[1]) / want - 1) < 1e-4 and abs(float(m[3]) / want - 1) < 1e-4, f"{name}: {m and m[1]} N m, must be {want:.4e}")
    r = run("par=job.par")
    shaken.append(np.stack([traces(name + ".out", c)[0] for c in ("vx", "vy", "vz")]))
off = np.linalg.norm(shaken[1] - shaken[0]) / np.linalg.norm(shaken[0])
claim(off < 1e-5, f"and shakes the same: relative L2 {off:.1e}, bound 1e-5")

# --- rigidity from the model and from the file, where waves attenuate --------------------------------------------------------

Q = f"0 3000 {TOP[0]} {TOP[1]} 40 20\n"
told = [point(3, dt=0.05, area=1e9, vs=100 * TOP[0], rho=TOP[1] / 1000)]
for name, version in (("q1.srf", "1.0"), ("q2.srf", "2.0")):
    Path(name).write_text(srf([{k: v for k, v in p.items() if version == "2.0" or k not in ("vs", "rho")} for p in told], version))
    make(shots=1, layers=Q, **{**DECK, "fault": name, "tmax": 2.0, "output": name + ".nc"})
    r = run("par=job.par")
shaken = [np.stack([traces(n, c)[0] for c in ("vx", "vy", "vz")]) for n in ("q1.srf.nc", "q2.srf.nc")]
off = np.linalg.norm(shaken[1] - shaken[0]) / np.linalg.norm(shaken[1])
claim(off < 1e-5, f"SRF 1.0 in a rock of Q 40 and 20 against SRF 2.0 that tells this rock: relative L2 {off:.1e}, bound 1e-5")

# --- the moment that is in the ground: static displacement in a homogeneous rock (Kelvin's solution) --------------------------

VP, VS, RHO = 3000.0, 1700.0, 2300.0
MU, LAMBDA2MU = RHO * VS**2, RHO * VP**2
SOURCE = np.array([613.0, 571.0, 642.0])
STATIONS = SOURCE + np.array([[310.0, -190.0, 135.0], [-240.7, 361.1, -200.3], [138.6, 312.4, 362.9]])
M = np.array([[1, 0.3, -0.5], [0.3, -2, 0.7], [-0.5, 0.7, 1]]) * 1e15
SIX = " ".join(f"{M[i, j]:g}" for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
TMAX, DT_OUT = 6.0, 0.02


def kelvin(x):
    a = 1 - MU / LAMBDA2MU
    r = np.linalg.norm(x)
    return ((2 - a) * np.eye(3) + a * np.outer(x, x) / r**2) / (8 * np.pi * MU * r)


def static(x, h=1.0):
    """Displacement at x of the tensor M at 0: minus the slope by the place of the receiver."""
    u = np.zeros(3)
    for k in range(3):
        e = np.eye(3)[k] * h
        u -= (8 * (kelvin(x + e) - kelvin(x - e)) - (kelvin(x + 2 * e) - kelvin(x - 2 * e))) / (12 * h) @ M[:, k]
    return u


WANT = np.array([static(s - SOURCE) for s in STATIONS])
Path("stations").write_text("".join(f"{i + 1} {s[0]} {s[2]} {s[1]}\n" for i, s in enumerate(STATIONS)))
Path("space.keymap").write_text(f"spread net list stations\nshot 1 {SOURCE[0]} {SOURCE[2]} net y={SOURCE[1]}\n")
Path("rock.layers").write_text(f"0 {VP} {VS} {RHO}\n")


def space(name, lines, components="vx,vy,vz", **more):
    Path(name + ".fault").write_text(lines)
    write_deck(**{**dict(keymap="space.keymap", layers="rock.layers", dx=80, aperture=350, depth=1400, npml=8, half_length=4, top="pml", fmax=2.5,
                         fpeak=None, tmax=TMAX, dt_out=DT_OUT, source="fault", components=components, fault=name + ".fault"), **more})
    r = run("par=job.par", f"output={name}.nc")
    if r.returncode:
        claim(False, f"{name}: exit status {r.returncode}: {r.stderr[-500:]}")
    return np.stack([traces(name + ".nc", c)[0] for c in components.split(",")], 1), r.stderr


def lines(dt, rate, t0=3.0):
    rate = np.array(rate, float) / np.sum(rate) / dt
    return f"tensor 0 0 0 {SIX} {t0:.6f} {dt:.6g} {len(rate)}\n" + " ".join(f"{v:.9g}" for v in rate) + "\n"


smooth = np.exp(-((np.arange(81) - 40) / 10) ** 2 / 2)
u = {}
for name, correct, text in (("smooth", "y", lines(0.01, smooth)), ("one", "y", lines(0.02, [1], 3 + rng.uniform(0, 0.01))),
                            *drawn(2, (("one_n", "n", lines(0.02, [1], 3 + rng.uniform(0, 0.01))), ("second", "y", lines(0.4, [0, 1])),
                                       ("box", "y", lines(0.0005, np.ones(600))), ("random", "n", lines(0.11, history(5) + 1))), SEED)):
    v, _ = space(name, text, time_correction=correct)
    u[name] = v.sum(-1) * DT_OUT
    off = np.linalg.norm(u[name] - WANT) / np.linalg.norm(WANT)
    claim(off < 0.005, f"static displacement of the history '{name}' against the exact one: relative L2 {off:.5f}, bound 0.005")
off = np.linalg.norm(u["one"] - u["smooth"]) / np.linalg.norm(WANT)
claim(off < 0.004, f"one sample moves the ground as far as a smooth history of the same moment: {off:.5f} off, bound 0.004")

# slip before t = 0: stress stays behind
late, _ = space("late", lines(0.3, [2, 1], 3.0), "sxx,sxy,szz")
early, said = space("early", lines(0.3, [2, 1], -2.5), "sxx,sxy,szz")
off = np.linalg.norm(early[..., -20:].mean(-1) - late[..., -20:].mean(-1)) / np.linalg.norm(late[..., -20:].mean(-1))
claim(off < 0.01 and "begins to slip at -2.5 s" in said, f"slip 2.5 s before t = 0 leaves the stress that slip at 3 s leaves: {off:.4f} off, bound "
      "0.01, and the log says that it begins there")

# --- slip after the record ----------------------------------------------------------------------------------------------------

rest = lines(0.5, [1, 1, 1, 1], 5.5) + lines(0.5, [1, 1], 1)
_, said = space("rest", rest, dx=140, fmax=1.2)
share = [float(v) for v in re.findall(r"([\d.]+) % of the moment of the fault is released after the end of the record at 6 s, by 1 of its points", said)]
# until 6 s the rate of the first point falls from twice its samples to once: 1.5 of the 4 parts, of half of the moment
claim(len(share) == 1 and abs(share[0] - 100 * (1 - 1.5 / 4) / 2) < 0.1, f"what the record does not hold: {share} %, must be 31.25 %")
Path("never.fault").write_text(lines(0.1, [1], 6.5))
write_deck(**{**dict(keymap="space.keymap", layers="rock.layers", dx=80, aperture=350, depth=1400, fmax=2.5, fpeak=None, tmax=TMAX, source="fault",
                     fault="never.fault", output="never.nc")})
r = run("par=job.par")
claim(r.returncode == 1 and "begins to slip at 6.5 s, after the record's end at 6 s" in r.stderr and not Path("never.nc").exists(),
      f"a fault that begins after the record is refused: {r.stderr.strip()[:200]}")

# --- waves of an SRF file in layers, in absolute amplitude, against the sum over wavenumbers of each point ---------------------

ROWS = [[0, 2800, 1500, 2200], [900, 4200, 2400, 2600]]
AXIS, T = round(float(rng.uniform(0, 360)), 3), np.arange(201) * 0.02
TURN = np.array([[np.cos(a := np.radians(AXIS)), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])       # from north, east, down to x, y, z
NORTH, EAST = 6378137 * 0.00669437999014, 1 - 0.00669437999014 * np.sin(np.radians(45)) ** 2                  # of WGS 84, below
NORTH, EAST = np.radians((6378137 - NORTH) / EAST**1.5), np.radians(6378137 / np.sqrt(EAST)) * np.cos(np.radians(45))
STATIONS = np.array([[1200, 300, 0], [-700, 900, 0], [200, -1300, 300]], float)
points, want = [], np.zeros((3, 3, len(T)))
version = float(rng.choice([1, 2]))
for _ in range(4):
    north, east = rng.uniform(-400, 400, 2)
    depth, strike, dip, rake, tinit = round(float(rng.choice([rng.uniform(500, 800), rng.uniform(1100, 1600)])), 2), *rng.integers(1, 90, 3), 0.5
    tinit = round(float(rng.uniform(0.2, 1.2)), 4)
    rate = np.round(np.sin(np.pi * np.arange(33) / 32) ** 4 * rng.uniform(1, 30), 4)
    vs, rho = ROWS[depth > 900][2:]
    p = point(0, lon=20 + east / EAST, lat=45 + north / NORTH, depth=depth / 1000, strike=strike, dip=dip, rake=rake, dt=0.05, tinit=tinit,
              rates=[rate, [], []], vs=100 * vs, rho=rho / 1000, slips=[0.05 * rate.sum(), 0, 0])
    points.append(p if version == 2 else {k: v for k, v in p.items() if k not in ("vs", "rho")})
    m = TURN @ double_couple(strike, dip, rake) @ TURN.T * rho * vs**2 * p["area"] * 1e-4
    steps = tinit + 0.05 * np.arange(len(rate))
    want += layered_velocity(Layers(ROWS), depth, m[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], STATIONS - TURN @ [north, east, 0],
                             lambda w, r=rate, at=steps: 0.01 * 0.05 * np.sinc(w * 0.05 / 2 / np.pi) ** 2 * (r @ np.exp(-1j * w * at)), 6.0, T)
Path("waves.srf").write_text(srf(points, version))
Path("waves.stations").write_text("".join(f"{i + 1} {x + 100} {z} {y - 50}\n" for i, (x, y, z) in enumerate(STATIONS)))
Path("waves.keymap").write_text("spread net list waves.stations\nshot 1 100 0 net y=-50\n")
Path("two.layers").write_text("".join(" ".join(map(str, row)) + "\n" for row in ROWS))
r = run("keymap=waves.keymap", "layers=two.layers", "dx=100", "aperture=500", "depth=2400", "half_length=4", "npml=10", "fmax=1.5", "tmax=4", "dt_out=0.02",
        "source=fault", "fault=waves.srf", "fault_lon=20", "fault_lat=45", f"x_azimuth={AXIS}", "output=waves.nc", "dispersion=warn")
claim(r.returncode == 0, f"a fault in layers: exit status {r.returncode} {r.stderr.strip()[-300:] * bool(r.returncode)}")
got = np.stack([traces("waves.nc", c)[0] for c in ("vx", "vy", "vz")], 1)
off = np.linalg.norm(got - want, axis=(1, 2)) / np.linalg.norm(want, axis=(1, 2))
claim(off.max() < 0.04, f"waves of four points of SRF {version}, x towards {AXIS} degrees: {100 * off.max():.2f} % from exact ones at most, bound 4 %")
done()
