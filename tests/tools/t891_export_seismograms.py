#!/usr/bin/env python3
"""spl-export makes SAC, miniSEED and StationXML that ObsPy opens: samples bit for bit, up where the modelling has down, times from time
zero of the source, places, codes and units; horizontals turned to the source."""
import argparse
import math
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import boxsurvey
from boxsurvey import SHOTS, STATIONS
from check import claim, claim_fails, done, skip
from spltools import cli
from spltools.gathers import export
from spltools.geometry.globe import offset_of
from toolrun import Tool

try:
    import obspy
except ModuleNotFoundError:
    skip("this Python has no obspy: tools/setup test")
    done()

from spltools.gathers.seismograms import Frame  # noqa: E402, it needs ObsPy

tool = Tool("spl-export", "bad.mseed")
TIME, LON, LAT = "2009-04-06T01:32:41.5", 13.38, 42.34


def refused(words, what, *arguments):
    claim_fails(lambda: export.main([str(a) for a in arguments]), words, what)


boxsurvey.survey()
with Dataset("g.nc") as ds:
    v = {c: np.asarray(ds[c][:], np.float32) for c in ("vx", "vy", "vz", "ux")}
    p, zero, axis = np.asarray(ds["pressure"][:], np.float32), float(ds.wavelet_time_zero), ds["time"][:]

said = tool.fine("miniSEED", "g.nc", "-o", "g.mseed", "--reference", LON, LAT, "--origin-time", TIME)
claim("x points 90 and y 0 degrees" in said, f"it tells where the axes point: {said.strip()[-120:]}")
for slot, record in enumerate(SHOTS):
    st, inv = obspy.read(f"g_{record}.mseed"), obspy.read_inventory(f"g_{record}.xml")
    claim(len(st) == 15 and {t.id for t in st} == {f"SY.S{c:04d}..CX{x}" for c in range(1, 6) for x in "NEZ"}, f"record {record}: 15 traces")
    same = all(np.array_equal(st.select(station=f"S{c + 1:04d}", channel="CX" + x)[0].data, sign * v[n][slot, c])
               for c in range(5) for x, n, sign in (("E", "vx", 1), ("N", "vy", 1), ("Z", "vz", -1)))
    claim(same, f"record {record}: E, N and Z are vx, vy and -vz bit for bit")
    begin = obspy.UTCDateTime(TIME) - zero
    claim(all(abs(t.stats.starttime - begin) < 1e-6 and abs(t.stats.delta - 0.004) < 1e-9 and t.stats.npts == len(axis) for t in st),
          "times: the first sample is so long before the origin as the wavelet has its time zero")
    far = 0
    for c, (x, y, z) in enumerate(STATIONS, 1):
        at = inv.get_coordinates(f"SY.S{c:04d}..CXZ", begin)
        north, east = offset_of(at["longitude"], at["latitude"], LON, LAT)
        far = max(far, abs(east - x), abs(north - y), abs(at["elevation"] + z))
    claim(far < 1e-3, f"StationXML: stations within {far:.1e} m of their places")
    turns = {x: inv.get_orientation(f"SY.S0001..CX{x}", begin) for x in "NEZ"}
    claim([turns[x]["azimuth"] for x in "NE"] == [0, 90] and turns["Z"]["dip"] == -90, "StationXML: N, E and up")
    unit = inv[0][0][0].response.instrument_sensitivity
    claim((unit.value, unit.input_units) == (1.0, "M/S"), "StationXML: m/s, gain 1")
    plain = st.copy().remove_sensitivity(inv)
    claim(all(np.array_equal(a.data, b.data) for a, b in zip(st, plain)), "ObsPy takes the gain away and changes nothing")

tool.fine("miniSEED turned to the source", "g.nc", "-o", "t.mseed", "--turn", "zrt", "--records", "7", "--origin-time", TIME)
st, turned, slot, (sx, sy, _) = obspy.read("g_7.mseed"), obspy.read("t.mseed"), 0, SHOTS[7]
off = quiet = 0
for c, (x, y, z) in enumerate(STATIONS, 1):
    other = st.select(station=f"S{c:04d}").copy()
    for t in other:
        t.data = t.data.astype(float)
    other.rotate("NE->RT", back_azimuth=math.degrees(math.atan2(sx - x, sy - y)) % 360)
    got = {k: turned.select(station=f"S{c:04d}", channel="CX" + k)[0].data for k in "RTZ"}
    peak = np.abs(got["R"]).max()
    off = max(off, *(np.abs(got[k] - other.select(channel="*" + k)[0].data).max() / peak for k in "RT"))
    quiet = max(quiet, np.abs(got["T"]).max() / peak)
claim(off < 1e-6, f"R and T are those of ObsPy: off by {off:.1e} of the largest")
claim(quiet < 0.05, f"an explosion moves away from itself: T is {100 * quiet:.2g} % of R at most; the sides of the box send some back")
away = obspy.read_inventory("t.xml")[0][0].channels[0].azimuth
claim(abs(away - math.degrees(math.atan2(100, 10))) < 1e-6, f"StationXML: R points from the source to the station, {away:.3f} degrees")

tool.fine("SAC", "g.nc", "-o", "g.sac", "--records", "9", "--reference", LON, LAT, "--origin-time", TIME, "--network", "XX", "--location",
          "00")
names = sorted(str(n) for n in Path(".").glob("g.*.sac"))
claim(len(names) == 15 and names[0] == "g.XX.S0001.00.CXE.sac", f"15 files, the first {names[0]}")
sx, sy, sz = SHOTS[9]
wrong = []
for c, (x, y, z) in enumerate(STATIONS):
    for k, n, sign, az, inc in (("E", "vx", 1, 90, 90), ("N", "vy", 1, 0, 90), ("Z", "vz", -1, 0, 0)):
        t = obspy.read(f"g.XX.S{c + 1:04d}.00.CX{k}.sac")[0]
        h = t.stats.sac
        north, east = offset_of(h.stlo, h.stla, LON, LAT)
        good = [np.array_equal(t.data, sign * v[n][1, c]), abs(t.stats.starttime - (obspy.UTCDateTime(TIME) - zero)) < 1e-5,
                abs(h.b + zero) < 1e-6 and abs(h.o) < 1e-9, t.id == f"XX.S{c + 1:04d}.00.CX{k}", abs(east - x) < 1 and abs(north - y) < 1,
                (h.cmpaz, h.cmpinc) == (az, inc), np.allclose((h.user0, h.user1, h.user2, h.user3, h.user4, h.user5), (x, y, z, sx, sy, sz), atol=1e-4),
                abs(h.dist - math.hypot(x - sx, y - sy) / 1e3) < 1e-6, abs(h.az - math.degrees(math.atan2(x - sx, y - sy)) % 360) < 1e-3,
                abs(h.evdp - sz / 1e3) < 1e-6 and abs(h.stel + z) < 1e-4, h.kevnm.strip() == "SHOT 9" and h.kuser0.strip() == "M/S"]
        wrong += [f"{t.id}: {i}" for i, ok in enumerate(good) if not ok]
claim(not wrong, f"SAC: samples, times, codes, places, directions and distances {wrong[:5]}")

Path("STATIONS").write_text("".join(f"AB{c} Q{c % 2} 0 0 0 0\n" for c in range(1, 6)))
tool.fine("names of STATIONS, pressure", "g.nc", "-o", "p.mseed", "--records", "7", "--motion", "p", "--stations", "STATIONS")
st = obspy.read("p.mseed")
claim([t.id for t in st] == [f"Q{c % 2}.AB{c}..CDH" for c in range(1, 6)] and np.array_equal(st[2].data, p[0, 2])
      and obspy.read_inventory("p.xml").get_response("Q1.AB1..CDH", st[0].stats.starttime).instrument_sensitivity.input_units == "PA",
      "codes of the file, pressure in Pa")
tool.fine("one component", "g.nc", "-o", "u.mseed", "--records", "7", "--motion", "u")
claim([t.stats.channel for t in obspy.read("u.mseed")] == ["CX1"] * 5, "x alone is channel 1, with its azimuth")
refused("three components", "turned with one component", "g.nc", "-o", "bad.mseed", "--motion", "u", "--turn", "zrt")
refused("acceleration", "a motion that was not recorded", "g.nc", "-o", "bad.mseed", "--motion", "a")
refused(".segy", "an option of SEG-Y", "g.nc", "-o", "bad.mseed", "--ibm")
refused("two letters", "a long network", "g.nc", "-o", "bad.mseed", "--network", "LONG")
refused("time", "a time that is none", "g.nc", "-o", "bad.mseed", "--origin-time", "yesterday")

refused("file of gathers", "a file without pictures", "g.nc", "-o", "bad.pvd")


class Plain:
    """A file whose y points to the right of x."""
    def __init__(self, azimuth):
        self.azimuth = azimuth

    def text(self, name, default=""):
        return self.azimuth if name == "x_azimuth" else default


def frame(azimuth, y_left=False):
    return Frame(Plain(azimuth), argparse.Namespace(x_azimuth=None, y_left=y_left, reference=None))


claim(frame("0").north_east(3.0, 5.0) == (3.0, 5.0) and frame("90").north_east(3.0, 5.0) == (-5.0, 3.0)
      and frame("90", True).north_east(3.0, 5.0) == (5.0, 3.0), "x north, y east; x east, y south; x east, y north")


class Mapped(Plain):
    """A file whose navigation tells which way x and y point."""
    def text(self, name, default=""):
        return {"x_azimuth": "0", "navigation_azimuth_degrees": self.azimuth, "navigation_y": "left"}.get(name, default)


told = []
warn, cli.warn = cli.warn, told.append
for azimuth, given in (("90", None), ("360", None), ("90", 90.0)):
    found = Frame(Mapped(azimuth), argparse.Namespace(x_azimuth=given, y_left=False, reference=None))
cli.warn = warn
claim(found.north_east(3.0, 5.0) == (5.0, 3.0), "x easting, y northing, as the navigation of the key-map has it: y is north")
claim(len(told) == 1 and "by the navigation of the key-map x points 90 degrees" in told[0], f"where the job has another x it is told: {told}")
n, e = frame("30").north_east(2.0, 0.0)
claim(abs(n - math.sqrt(3)) < 1e-12 and abs(e - 1) < 1e-12, "x points 30 degrees from north")
claim(not list(Path(".").glob("bad*")), "what is refused leaves no file")
done()
