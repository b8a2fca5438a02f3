#!/usr/bin/env python3
"""spl-keymap specfem turns SPECFEM's moment tensors to the axes of the modelling, as geometry says and as SplSemmod itself takes strike,
dip and rake; places, burial, half duration and times are those of the files; what is no such file is refused."""
import math
import os
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import launch
from check import claim, done
from spltools.geometry import keymap
from toolrun import Tool

PROGRAM = Path(os.environ["B"]) / "bin" / "SplSemmod"
tool = Tool("spl-keymap", "bad.keymap")
mesher = Tool("spl-mesh", "bad.exo")
STRIKE, DIP, RAKE, M0 = 33.0, 62.0, -37.0, 2.5e16
HEAD = " PDEW2009  4  6  1 32 39.00  42.33   13.33   8.8 5.9 6.3 CENTRAL ITALY\n"


def slip_tensor():
    """Of a unit double couple along north, east, down, from the normal of the fault and its slip (Aki & Richards 2002, figure 4.20)."""
    s, d, r = (math.radians(v) for v in (STRIKE, DIP, RAKE))
    normal = np.array([-math.sin(d) * math.sin(s), math.sin(d) * math.cos(s), -math.cos(d)])
    slip = np.array([math.cos(r) * math.cos(s) + math.cos(d) * math.sin(r) * math.sin(s),
                     math.cos(r) * math.sin(s) - math.cos(d) * math.sin(r) * math.cos(s), -math.sin(d) * math.sin(r)])
    return np.outer(normal, slip) + np.outer(slip, normal)


def cmt(half=0.05, lat=400.0, lon=300.0, depth=0.3, shift=2.5, more="", head=HEAD, **changes):
    """A CMTSOLUTION of that double couple: up = -down, south = -north."""
    up, south, east = np.array([0, 0, -1.0]), np.array([-1.0, 0, 0]), np.array([0, 1.0, 0])
    m = M0 * 1e7 * slip_tensor()
    parts = dict(Mrr=up @ m @ up, Mtt=south @ m @ south, Mpp=east @ m @ east, Mrt=up @ m @ south, Mrp=up @ m @ east, Mtp=south @ m @ east)
    lines = dict({"event name": "200904060132A", "time shift": shift, "half duration": half, "latorUTM": lat, "longorUTM": lon,
                  "depth": depth}, **parts)
    lines.update(changes)
    return head + "".join(f"{k}: {v if isinstance(v, str) else format(v, '.9e')}\n" for k, v in lines.items() if v is not None) + more


def put(name, text):
    Path(name).write_text(text)


def deck(name):
    """Settings of a parameter file."""
    rows = [line.split("#")[0].split("=") for line in Path(name).read_text().splitlines() if "=" in line.split("#")[0]]
    return {k.strip(): v.strip().strip("'") for k, v in rows}


put("CMTSOLUTION", cmt(more="DATA/stf.dat\n"))
put("STATIONS", "AQU MN 430.0 350.0 710.0 10.0\n# a remark\nX2  DB 200.0  480.0  0.0  0.0\nX3 DB 350.0 120.0 0.0 25.0\n")
said = tool.fine("a CMTSOLUTION and STATIONS in metres", "specfem", "CMTSOLUTION", "STATIONS", "-o", "quake.keymap")
claim("stf.dat" in said and "northing" in said, "it tells what is left out and how coordinates are taken")
shot = keymap.read_map("quake.keymap")[0]
claim((shot.sx, shot.sy, shot.sz) == (300.0, 400.0, 300.0) and list(shot.rx) == [350, 480, 120] and list(shot.ry) == [430, 200, 350]
      and list(shot.rz) == [10, 0, 25] and list(shot.channel) == [1, 2, 3], "x is longitude, y latitude; depth is in km, burial in m")
d = deck("quake.par")
m = M0 * slip_tensor()
NAMES = ("mxx", "myy", "mzz", "mxy", "mxz", "myz")
wanted = [m[1, 1], m[0, 0], m[2, 2], m[0, 1], m[1, 2], m[0, 2]]                       # x east, y north, z down
off = max(abs(float(d[n]) - w) for n, w in zip(NAMES, wanted)) / M0
claim(off < 1e-8, f"the tensor along x east, y north, z down: off by {off:.1e} of the moment")
claim(abs(float(d["sigma"]) - 0.05 / 1.628 / math.sqrt(2)) < 1e-9 and d["wavelet"] == "gauss" and d["source_z"] == "surface",
      "half duration h: exp(-(1.628 t/h)**2)")
claim("2009-04-06T01:32:41.500000" in Path("quake.par").read_text(), "the centroid is the time shift after the origin")
tool.fine("a name with a quote", "specfem", "CMTSOLUTION", "STATIONS", "-o", "l'aquila.keymap")
claim("keymap = 'l''aquila.keymap'\n" in Path("l'aquila.par").read_text(), "a quote within quotes is written twice, as decks have it")
tool.fine("for SplFd3dmod", "specfem", "CMTSOLUTION", "STATIONS", "-o", "fd.keymap", "--for", "SplFd3dmod")
d, shot = deck("fd.par"), keymap.read_map("fd.keymap")[0]
off = max(abs(float(d[n]) - w) for n, w in zip(NAMES, [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]])) / M0
claim(off < 1e-8 and (shot.sx, shot.sy) == (400.0, 300.0) and "source_z" not in d, f"x north, y east: off by {off:.1e} of the moment")
put("DEGREES", cmt(lat=42.87, lon=13.12))
put("NETWORK", "NRCA IV 42.8335 13.1142 927.0 0.0\nCESI IV 43.0049 12.9046 777.0 0.0\nT1213 IV 42.7249 13.1257 860.0 0.0\n")
for more, taken in (((), True), (("--reference", 13.12, 42.87), False)):
    said = tool.fine(f"degrees {more}", "specfem", "DEGREES", "NETWORK", "-o", f"net{taken}.keymap", *more)
    claim(("latitudes up to 43.0049 and longitudes up to 13.1257 look like degrees" in said) == taken, f"are told of where they are taken in metres: {taken}")
    claim("feathering" not in said and "off the line" not in said and "--keep-offset" not in said, "no line is spoken of, which stations do not make")
tool.fine("x turned", "specfem", "CMTSOLUTION", "STATIONS", "-o", "turned.keymap", "--x-azimuth", "65")
d, shot = deck("turned.par"), keymap.read_map("turned.keymap")[0]
x, y = (np.array([math.cos(math.radians(a)), math.sin(math.radians(a)), 0]) for a in (65, -25))
off = max(abs(float(d["mxy"]) - x @ m @ y), abs(float(d["myz"]) - y @ m @ [0, 0, 1]), abs(float(d["mxx"]) - x @ m @ x)) / M0
claim(off < 1e-8 and abs(shot.sx - x @ [400, 300, 0]) < 0.01 and abs(shot.sy - y @ [400, 300, 0]) < 0.01,
      f"x points 65 degrees from north, y to its left: off by {off:.1e} of the moment")

put("GLOBE", cmt(lat=42.33, lon=13.33))
put("NET", "AQU MN 42.354 13.405 710.0 0.0\n")
tool.fine("degrees", "specfem", "GLOBE", "NET", "-o", "globe.keymap", "--reference", "13.3", "42.3")
shot = keymap.read_map("globe.keymap")[0]
# Geodesics of WGS84 (Vincenty 1975): 0.03 degrees along the meridian at 42.315 N, along the parallel there, 0.105 degrees at 42.327 N
off = max(abs(shot.sy - 3332.382), abs(shot.sx - 2473.227), abs(shot.rx[0] - 8654.649))
claim(off < 0.02, f"a plane at a reference: x = {shot.sx:.2f}, y = {shot.sy:.2f} m, off by {off:.3f} m")

put("FORCESOLUTION", "FORCE  001\ntime shift: 0.0\nhdurorf0: 2.5\nlatorUTM: 400.0\nlongorUTM: 300.0\ndepth: 0.3\nsource time function: 1\n"
    "factor force source: 5.d9\ncomponent dir vect source E: 3.d0\ncomponent dir vect source N: -4.d0\ncomponent dir vect source Z_UP: 12\n")
tool.fine("a FORCESOLUTION", "specfem", "FORCESOLUTION", "STATIONS", "-o", "force.keymap")
d = deck("force.par")
off = max(abs(float(d[n]) - 5e9 * w / 13) for n, w in (("fx", 3), ("fy", -4), ("fz", -12))) / 5e9
claim(off < 1e-8 and d["source"] == "force" and d["wavelet"] == "ricker" and float(d["fpeak"]) == 2.5,
      f"a force of that size, z down: off by {off:.1e}; a Ricker wavelet")

# The modelling takes strike, dip and rake as this tensor.
put("S", "A B 430.0 350.0 0.0 10.0\nC D 160.0 440.0 0.0 60.0\n")
tool.fine("a key-map to model", "specfem", "CMTSOLUTION", "S", "-o", "m.keymap")
mesher.fine("a box", "box", "-o", "m.exo", "--x", "0", "600", "--y", "0", "600", "--z", "-600", "0", "--elements", "6", "6", "6")
put("m.materials", "* 3000 1700 2300\n")
more = ["mesh=m.exo", "materials=m.materials", "tmax=0.5", "wavelet=ricker", "fpeak=5", "threads=2"]
r = launch.run(PROGRAM, "par=m.par", *more, "output=moment.nc")
claim(r.returncode == 0, f"the parameters are taken: exit status {r.returncode} {r.stderr[-300:] if r.returncode else ''}")
r = launch.run(PROGRAM, "keymap=m.keymap", *more, "source_z=surface", "receiver_z=surface", "source=dc", f"strike={STRIKE}", f"dip={DIP}",
               f"rake={RAKE}", f"m0={M0}", "output=dc.nc")
with Dataset("moment.nc") as a, Dataset("dc.nc") as b:
    for c in ("vx", "vy", "vz"):
        e = np.linalg.norm(a[c][...] - b[c][...]) / np.linalg.norm(b[c][...])
        claim(e < 1e-5, f"{c} of the tensor is that of strike, dip and rake: {e:.1e} < 1e-5")

for what, words, text in (("an empty file", "holds no", "\n"), ("no head", "begins with", "Mrr: 1\n"), ("a part missing", "Mtp", cmt(Mtp=None)),
                          ("no number", "no number", cmt(Mrr="much")), ("a moment of 0", "moment",
                          cmt(**{n: 0.0 for n in ("Mrr", "Mtt", "Mpp", "Mrt", "Mrp", "Mtp")})), ("a step", "--half-duration", cmt(half=0.0)),
                          ("two sources", "--event", cmt() + cmt()), ("a wrong date", "date", cmt(head=HEAD.replace(" 4  6 ", "14  6 ")))):
    put("BAD", text)
    tool.refused(words, what, "specfem", "BAD", "STATIONS", "-o", "bad.keymap")
Path("CMT8").write_bytes(b"\xef\xbb\xbf" + Path("CMTSOLUTION").read_bytes().replace(b"\n", b"\r\n"))
Path("S8").write_bytes(b"\xef\xbb\xbf" + Path("STATIONS").read_bytes().replace(b"\n", b"\r\n"))
tool.fine("files as editors under Windows save them", "specfem", "CMT8", "S8", "-o", "eight.keymap")
claim(keymap.read_map("eight.keymap")[0].sx == 300.0 and deck("eight.par") == {**deck("quake.par"), "keymap": "eight.keymap"}, "are the same")
put("BAD", cmt() + cmt(lat=410.0))
tool.fine("the second of two sources", "specfem", "BAD", "STATIONS", "-o", "two.keymap", "--event", "2")
claim(keymap.read_map("two.keymap")[0].sy == 410.0, "is that source")
for what, words, text in (("five words", "six", "A B 1 2 3\n"), ("no station", "no station", "#\n"), ("an odd name", "names", "A/B C 1 2 3 4\n")):
    put("BADS", text)
    tool.refused(words, what, "specfem", "CMTSOLUTION", "BADS", "-o", "bad.keymap")
tool.refused("degrees", "metres with a reference", "specfem", "CMTSOLUTION", "STATIONS", "-o", "bad.keymap", "--reference", "1", "2")
done()
