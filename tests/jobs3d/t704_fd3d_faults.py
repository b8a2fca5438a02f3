#!/usr/bin/env python3
"""A fault is the same fault from an SRF file, from NetCDF, by tensors or by angles, and from plain text; a NetCDF file with one long time
axis takes no more memory than its slip; what is wrong with a file is told before anything is computed."""
import os
import re
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, skip
from exact import double_couple
from mini3d import PROGRAM, make, run, traces
from peaks import peaks, run_watched

ROCK = "0 3000 1700 2300\n"
DECK = dict(source="fault", fmax=5.0, npml=6, components="vx,vy,vz")
VS, RHO, AREA, DT = 1700.0, 2300.0, 40000.0, 0.02
STRIKE, DIP = [35.0, 80.0], [60.0, 45.0]
RAKE, DEPTH, ONSET, SLIP = [-40.0, 90.0], [0.0, 45.0], [0.0, 0.06], [0.4, 0.7]
RATE = [np.array([0, 1, 2.5, 3, 1.5, 0.5, 0]), np.array([0, 4, 1, 0.25, 0])]       # cm/s in the SRF file
M0 = [VS**2 * RHO * AREA * 0.01 * r.sum() * DT for r in RATE]


def write_srf():
    text = "2.0\nPOINTS 2\n"
    for i in (0, 1):
        text += f"20 45 {DEPTH[i] / 1000} {STRIKE[i]} {DIP[i]} {AREA * 1e4:.9g} {ONSET[i]} {DT} {VS * 100} {RHO / 1000}\n"
        text += f"{RAKE[i]} {SLIP[i] * 100} {len(RATE[i])} 0 0 0 0\n" + " ".join(map(str, RATE[i])) + "\n"
    Path("a.srf").write_text(text)


def write_plain():
    text = "# the same\n"
    for i in (0, 1):
        text += f"dc 0 0 {DEPTH[i]} {STRIKE[i]} {DIP[i]} {RAKE[i]} {M0[i]:.9g} {ONSET[i]} {DT} {len(RATE[i])}\n"
        text += " ".join(f"{v / RATE[i].sum() / DT:.9g}" for v in RATE[i]) + "\n"
    Path("a.fault").write_text(text)


def write_nc(path, by="tensor", nt=40, points=2, late=0, skip=(), kind="NETCDF3_64BIT_DATA", **change):
    """change: name=units or name=(units, values)."""
    with Dataset(path, "w", format=kind) as f:
        f.createDimension("point", points)
        f.createDimension("time", nt)
        which = [i % 2 for i in range(points)]
        m = [double_couple(STRIKE[i], DIP[i], RAKE[i]) * M0[i] * 2 / points * change.get("sign", 1) for i in which]
        columns = dict(x=("m", [0.0] * points), y=("m", [0.0] * points), z=("km", [DEPTH[i] / 1000 for i in which]),
                       onset=("s", [ONSET[i] - late * DT for i in which]))
        if by == "tensor":
            pairs = dict(xx=(0, 0), yy=(1, 1), zz=(2, 2), xy=(0, 1), xz=(0, 2), yz=(1, 2))
            columns.update({"m" + p: ("N m", [a[ij] for a in m]) for p, ij in pairs.items()})
        else:
            columns.update(strike=("degrees", [STRIKE[i] for i in which]), dip=("degrees", [DIP[i] for i in which]),
                           rake=("degrees", [RAKE[i] for i in which]), m0=("N m", [M0[i] for i in which]))
        columns["time"] = ("s", DT * np.arange(nt))
        for name, (units, values) in {**columns, **{k: v for k, v in change.items() if isinstance(v, tuple) and k != "order"}}.items():
            if name in skip:
                continue
            v = f.createVariable(name, "f8", ("time" if name == "time" else "point",))
            units = change.get(name, units) if isinstance(change.get(name, units), str) else units
            if units:
                v.units = units
            v[:] = values
        if "rate" in skip:
            return
        order = change.get("order", ("point", "time"))
        v = f.createVariable("rate", "f4", order, **({"zlib": True, "chunksizes": (1, nt)} if kind == "NETCDF4" else {}))
        v.units = change.get("rate", "s-1")
        for i, w in enumerate(which):
            row = np.zeros(nt, "f4")
            row[late:late + len(RATE[w])] = RATE[w] / RATE[w].sum() / DT * change.get("sign", 1)
            if change.get("hole") == i:
                row[late + 1] = np.nan
            if order[0] == "point":
                v[i] = row
            else:
                v[:, i] = row


def model(fault, output, **more):
    make(shots=1, layers=ROCK, **{**DECK, "fault": fault, "output": output, "fault_lon": 20, "fault_lat": 45, **more})
    r = run("par=job.par")
    if r.returncode:
        claim(False, f"{fault}: exit status {r.returncode}: {r.stderr[-400:]}")
    return np.stack([traces(output, c)[0] for c in ("vx", "vy", "vz")])


# --- memory --------------------------------------------------------------------------------------------------------------

write_nc("long.nc", nt=1000000, points=40, late=999980, kind="NETCDF4")
make(shots=1, layers=ROCK, **{**DECK, "fault": "long.nc"})
r = run_watched(PROGRAM, "plan", "par=job.par", "forecast=0.05", ranks=1)
claim(r.returncode == 0 and "fault of 40 points" in r.stdout, f"40 points on a common axis of 1,000,000 samples {r.stderr[-300:]}")
if "debug" in os.environ["B"]:
    skip("memory of those 160 MB: a sanitized build takes what it likes")
else:
    claim(peaks(1)[0] < 120, f"of those 160 MB: peak memory {peaks(1)[0]:.0f} MB, bound 120 MB")

# --- the same fault ------------------------------------------------------------------------------------------------------

write_srf()
write_plain()
write_nc("tensor.nc")
write_nc("angles.nc", by="angles", kind="NETCDF4", late=9)
want = model("a.srf", "srf.nc")
claim(np.abs(want).max() > 1e-6, f"the fault shakes: {np.abs(want).max():.2e} m/s")
for path in ("tensor.nc", "angles.nc", "a.fault"):
    got = model(path, "got_" + path.replace(".nc", "") + ".nc")
    off = np.linalg.norm(got - want) / np.linalg.norm(want)
    claim(off < 1e-5, f"{path} against the SRF file: relative L2 {off:.1e}, bound 1e-5")

write_nc("back.nc", sign=-1)
got = model("back.nc", "got_back.nc")
off = np.linalg.norm(got - want) / np.linalg.norm(want)
claim(off < 1e-5, f"histories and tensors turned about: the same, relative L2 {off:.1e}, bound 1e-5")

# --- another fault under the same name ------------------------------------------------------------------------------------

POINT = "tensor {z} 0 0 1e17 1e17 1e17 0 0 0 {t0} {dt} 4\n{rate}\n"
SAME = dict(z=0, t0=0, dt=0.1, rate="0 5 5 0")


def again(**change):
    Path("one.fault").write_text(POINT.format(**{**SAME, **change}))
    make(shots=1, layers=ROCK, **{**DECK, "fault": "one.fault", "output": "one.nc", "fmax": 2.5, "fpeak": 25})
    return run("par=job.par")


r = again()
claim(r.returncode == 0 and "1 shot in" in r.stdout + r.stderr, f"a fault needs no fpeak below its fmax {r.stderr[-200:]}")
for change in (dict(z=0.01), dict(t0=0.02), dict(dt=0.099), dict(rate="0 0 10 0")):
    r = again(**change)
    claim(r.returncode == 1 and "other here: parameters (all as before: then a wavelet or fault file" in r.stderr,
          f"the output of a fault is not taken for that of another one, {change}: {r.stderr.strip()[-130:]}")
r = again()
claim(r.returncode == 0 and "shots to do: 0 of 1" in r.stdout + r.stderr, "of the same fault it is")

# --- broken files --------------------------------------------------------------------------------------------------------


def refused(sentence, *words, **how):
    if how:
        write_nc("bad.nc", **how)
    make(shots=1, layers=ROCK, **{**DECK, "fault": "bad.nc"})
    for q in Path(".").glob("out.nc*"):
        q.unlink()
    r = run("par=job.par")
    missing = [w for w in words if w not in r.stderr]
    claim(r.returncode == 1 and not missing and not list(Path(".").glob("out.nc*")),
          f"{sentence}: exit status {r.returncode}{', lacks ' + repr(missing[0]) if missing else ''}: {r.stderr.strip()[:300]}")


refused("no histories", "no variable rate", skip=("rate",))
refused("histories the other way round", "rate lies on (time, point), must be on (point, time)", order=("time", "point"))
refused("a unit of something else", "the units of rate are 'm/s', must be s-1 or 1/s", rate="m/s")
refused("no depth", "no variable z", skip=("z",))
refused("depth in feet", "the units of z are 'ft', must be m or km", z="ft")
refused("both tensor and angles", "tells the mechanism twice", strike=("degrees", [0.0, 0.0]))
refused("no mechanism", "tells no mechanism", skip=("mxx", "myy", "mzz", "mxy", "mxz", "myz"))
refused("angles without a moment", "no variable m0", by="angles", skip=("m0",))
refused("a hole in a history", "number 2 of rate is NaN", "(point 2)", hole=1)
refused("a place that is no number", "number 2 of x is", x=("m", [0.0, np.inf]))
refused("times not equally spaced", "time is not equally spaced: sample 2", time=("s", np.arange(40.0) ** 2))
refused("a time that stands still", "must increase", time=("s", np.zeros(40)))
write_nc("bad.nc")
Path("bad.nc").write_bytes(Path("bad.nc").read_bytes()[:700])
refused("a file cut short", "fault file")

# --- the example of the page: a double couple of 1e16 N m and an explosion of 1e15 N m, whose tensors are orthogonal ---------
page = (Path(os.environ["ROOT"]) / "inputs/faults.md").read_text()
Path("page.fault").write_text(re.search(r"## Plain text\n\n((?:    .*\n)+)", page).group(1))
make(shots=1, layers=ROCK, **{**DECK, "fault": "page.fault", "aperture": 700, "fmax": 2})
r = run("plan", "par=job.par", "forecast=0")
told = float(re.search(r"moment (\S+) N m", r.stdout + " moment 0 N m").group(1))
claim(r.returncode == 0 and abs(told / np.sqrt(1e32 + 1.5e30) - 1) < 1e-4 and "2 of 2 points used" in r.stdout,
      f"inputs/faults.md: its example is a fault of {told:.5g} N m {r.stderr[-200:]}")
done()
