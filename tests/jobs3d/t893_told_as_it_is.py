#!/usr/bin/env python3
"""What is wrong with an input is told as it is: a model that rank 0 reads from disk and that is changed while a job runs is told by
its file, no gather is made of two versions of it, and with the old file the survey is completed as if nothing had happened; a volume
that lacks its last byte, a packing that leaves nothing, an SRF file with fewer than 0 samples, too many layers, an empty wavelet file."""
import os
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import jobs
import mini3d
from check import claim, done, skip
from minisurvey import differences
from shims import shim
from spltools import cli, netcdf

jobs.PROGRAM, jobs.command = mini3d.PROGRAM, mini3d.command
N, SHOTS = (30, 26, 22), 8


def refused(sentence, *words, lacks="no such words", **deck):
    """One sentence with the words, exit status 1, nothing left."""
    mini3d.write_deck(**deck)
    r = mini3d.run("par=job.par")
    missing = [w for w in words if w not in r.stderr] + [w for w in (lacks,) if w in r.stderr]
    left = [p.name for p in Path(".").glob("out.nc*")]
    claim(r.returncode == 1 and not missing and not left, f"{sentence}: exit status {r.returncode}, left {left}"
          f"{', not as it should be: ' + repr(missing[0]) if missing else ''}: {r.stderr.strip()[:300]}")


# --- a model on disk is changed while the job runs ------------------------------------------------------------------------

Path("meminfo").write_text("MemTotal: 100000000 kB\nMemAvailable: 100 kB\n")
random = np.random.default_rng(893)
volumes = {"vp": (2800, 4000), "vs": (1400, 1900), "rho": (2000, 2600)}
deck = {"layers": None, "depth": None, "aperture": 150, "tmax": 0.2, "dispersion": "warn", "dy": 40, "dz": 40,
        **{f"model_n{a}": n for a, n in zip("xyz", N)}, **{f"model_d{a}": d for a, d in zip("xyz", (25, 28, 22))},
        "model_x0": -50, "model_y0": -330, "source": "explosion", "m0": 1e15, **{name: f"{name}.raw" for name in volumes}}
for name, (low, high) in volumes.items():
    random.uniform(low, high, N).astype("<f4").transpose(2, 1, 0).tofile(name + ".raw")
old = Path("vp.raw").read_bytes()


def on_disk():
    small = {"LD_PRELOAD": shim("lessmem"), "MEMINFO": str(Path("meminfo").resolve())}
    mini3d.write_keymap(SHOTS)
    mini3d.write_deck(**deck)
    whole = mini3d.run("par=job.par", "output=whole.nc")
    claim(whole.returncode == 0, f"the model in memory: exit status {whole.returncode} {whole.stderr[-300:] if whole.returncode else ''}")
    job = jobs.Job("retries=0", output="disk.nc", ranks=2, env=small, machine=jobs.slow_machine(loop=5000))
    job.until_dealt(1)
    Path("new.raw").write_bytes((np.frombuffer(old, "<f4") * np.float32(1.001)).tobytes())
    os.replace("new.raw", "vp.raw")
    status, said = job.end(), job.said()
    parked = jobs.count("disk.nc", "done") < SHOTS
    claim("parts are read from disk" in said and status == 2 and parked and "the model on disk is not what it was when the job began" in said
          and "of 'vp.raw', 'vs.raw', 'rho.raw': put back the files" in said and "on another machine" not in said,
          f"a volume is replaced when the first shot is dealt: exit status {status}: {jobs.line_with('lost on', said)[:330]}")
    again = mini3d.run("par=job.par", "output=disk.nc")
    claim(again.returncode == 1 and "other here: model" in again.stderr, f"the same command refuses the new volume: exit status {again.returncode}")
    Path("vp.raw").write_bytes(old)
    again = mini3d.run("par=job.par", "output=disk.nc", env=small)
    wrong = differences("whole.nc", "disk.nc") if again.returncode == 0 else again.stderr[-300:]
    claim(not wrong, f"with the old one it goes on to the undisturbed file {wrong}")


if "debug" in os.environ["B"]:
    skip("the shim and the address sanitizer do not go together")
else:
    on_disk()

VOLUME = dict(layers=None, dx=None, depth=None, aperture=None, vp="packed.nc", dispersion="warn")

# --- volumes ----------------------------------------------------------------------------------------------------------------


def volume(path, kind, attributes=(), n=(7, 9, 11), fmt="NETCDF3_64BIT_DATA", records=False):
    """vp alone, whose numbers do not end in zeros, 693 of them: the last one of shorts has two bytes of padding behind it."""
    with Dataset(path, "w", format=fmt) as f:
        for axis, size in zip("zyx", n):
            f.createDimension(axis, None if records and axis == "z" else size)
        for axis, size in zip("zyx", n):
            f.createVariable(axis, "f8", (axis,)).units = "m"
            f[axis][:] = 20 + 40.0 * np.arange(size)
        v = f.createVariable("vp", kind, ("z", "y", "x"))
        v.set_auto_maskandscale(False)
        v.units = "m/s"
        v.setncatts(dict(attributes))
        v[:] = np.full(n, 2999.7 if kind == "f4" else 2001)


def fits(path, cut):
    os.truncate(path, os.path.getsize(path) - cut)
    mini3d.write_deck(**VOLUME, half_length=1)
    Path("line.keymap").write_text("spread one fixed x0=150 interval=10 channels=1 depth=150 y=150\nshot 11 200 160 one y=190\n")
    r = mini3d.run("plan", "par=job.par", f"vp={path}")
    return r.returncode == 0, "was cut short" in r.stderr, r.stderr.strip()[-200:]


for kind, records, cut, whole in (("f4", False, 1, False), ("f4", False, 0, True), ("i2", False, 2, True), ("i2", False, 3, False),
                                  ("f4", True, 1, False), ("f4", True, 0, True)):
    volume("cut.nc", kind, () if kind == "f4" else (("scale_factor", 0.5), ("add_offset", 2000.0)), records=records)
    good, short, said = fits("cut.nc", cut)
    claim(good == whole and short != whole, f"a volume of {kind}{', in records,' if records else ''} without its last {cut} bytes is "
          f"{'whole' if whole else 'cut short'}: {said}")
    try:
        failure = netcdf.check_classic("cut.nc")
    except cli.Failure as problem:
        failure = str(problem)
    claim((failure is None) == whole, f"and for the tools: {failure}")

for name, value, words in (("scale_factor", 0.0, "is 0, must be a number other than 0"), ("scale_factor", np.nan, "is NaN, must be a number"),
                           ("add_offset", np.inf, "is Infinity, must be a number")):
    attributes = {"scale_factor": 0.5, "add_offset": 2000.0, name: value}
    volume("packed.nc", "i2", attributes.items())
    refused(f"{name} = {value}", f"the attribute {name} of vp {words}", "correct it", **VOLUME)

# --- texts --------------------------------------------------------------------------------------------------------------------

mini3d.make(shots=1)
Path("bad.srf").write_text("2.0\nPOINTS 1\n20 45 0.05 90 45 1e8 0.1 0.05 2e5 2.5\n30 200 -5 0 0 0 0\n")
refused("an SRF file with NT1 = -5", "line 4: -5 samples: give 0 or more", source="fault", fault="bad.srf", fmax=5)
Path("earth.layers").write_text("".join(f"{k / 100:.2f} {1500 + k / 100:.2f} 700 1000\n" for k in range(20001)))
refused("20001 layers", "line 20001: more than 20000 layers: give fewer, or volumes")
mini3d.make(shots=1)
Path("empty.txt").write_text("")
refused("an empty wavelet file, told once", "wavelet_file = empty.txt", "the file is empty", lacks="faults in the parameters", wavelet="file",
        wavelet_file="empty.txt", fpeak=None)
done()
