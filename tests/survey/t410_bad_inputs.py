#!/usr/bin/env python3
"""Bad parameters, key-maps, models, geometries, times, wavelets and outputs, each through the whole program.

Each ends with exit status 1 and a sentence with the value and what to do, soon, without a trace of the language's runtime, and
leaves no file behind and none changed. And what looks odd but is right is accepted.
"""
import concurrent.futures
import hashlib
import os
import re
import struct
import subprocess
import threading
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

import minisurvey as ms
from check import PATIENCE, claim, done

SECONDS = 60 if "debug" in os.environ["B"] else 10   # of processor time: a bad input is told within
LINE = 700              # characters of a line at most: longer is no sentence
RUNTIME = re.compile(r"backtrace|at line \d+ of file|fortran runtime|segmentation|sigsegv|sigabrt|sigfpe|error termination|"
                     r"floating-point exception|sanitizer|runtime error|assert|core dumped|0x[0-9a-f]{6}|"
                     r"mpi_abort|\?\?\?|\*\*\*", re.I)
HELPLESS = re.compile(r"^-{9,}\nSorry! +You were supposed to get help about:\n.*?^-{9,}\n\0?", re.M | re.S)   # mpirun that lacks its help texts
NX, NZ, DX = ms.NX, ms.NZ, ms.DX

cases = []
making = threading.Lock()      # the NetCDF library is for one thread at a time


def finished(words, folder):
    """Exit status, stderr, stdout and seconds of processor time, children included, of a program run in a folder."""
    with open(folder.with_suffix(".out"), "w+b") as out, open(folder.with_suffix(".err"), "w+b") as err:
        p = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        overdue = threading.Timer(PATIENCE, p.kill)
        overdue.start()
        _, status, used = os.wait4(p.pid, 0)
        overdue.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (err, out):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return p.returncode, *texts, used.ru_utime + used.ru_stime


class Case:
    """One bad input: a folder with a good survey, what is changed in it, and what the sentence must hold."""

    def __init__(self, title, words, args=(), make=None, deck=None, verb="run", ranks=1, accepted=False, raw=None, lines=None):
        self.title, self.words, self.args, self.make, self.deck = title, words, args, make, deck or {}
        self.verb, self.ranks, self.accepted, self.raw, self.lines = verb, ranks, accepted, raw, lines
        self.folder = Path(f"case{len(cases):03d}")
        cases.append(self)

    def run(self):
        """Prepares the folder and runs the program in it. Fills in status, said, seconds, left."""
        self.folder.mkdir()
        ms.write_model(self.folder)
        ms.write_keymap(3, self.folder)
        ms.write_deck(self.folder, **self.deck)
        if self.make:
            with making:
                self.make(self.folder)
        before = listing(self.folder)
        words = self.raw if self.raw is not None else [self.verb, "par=job.par", *self.args]
        self.status, self.said, self.printed, self.seconds = finished(ms.command(*words, ranks=self.ranks), self.folder)
        after = listing(self.folder)
        self.left = sorted(name for name in set(before) | set(after) if before.get(name) != after.get(name))
        return self

    def judge(self):
        own = "\n".join(line for line in HELPLESS.sub("", self.said).splitlines() if line.strip() and not mpirun_says(line))
        wrong = []
        if self.accepted:
            if self.status != 0:
                wrong.append(f"exit status {self.status}, must be 0")
        else:
            if self.status != 1:
                wrong.append(f"exit status {self.status}, must be 1")
            if self.left:
                wrong.append("left or changed: " + ", ".join(self.left))
            if not own.startswith("error: "):
                wrong.append("does not begin with 'error: '")
            if sum(line.startswith("error: ") for line in own.splitlines()) > 1:
                wrong.append("told more than once")
            if self.lines and len(own.splitlines()) != self.lines:
                wrong.append(f"{len(own.splitlines())} lines, must be {self.lines}")
            if any(len(line) > LINE for line in own.splitlines()):
                wrong.append(f"a line of more than {LINE} characters")
        wrong += [f"lacks '{w}'" for w in self.words if w not in own]
        if RUNTIME.search(own) or RUNTIME.search(self.printed):
            wrong.append("speaks of the runtime: " + (RUNTIME.search(own) or RUNTIME.search(self.printed)).group())
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", own):
            wrong.append("holds control characters")
        if self.seconds > SECONDS:
            wrong.append(f"took {self.seconds:.1f} s of processor time, must take {SECONDS}")
        shown = "" if self.accepted and not wrong else " / ".join(line.strip() for line in own.splitlines())[:900]
        where = f", {self.ranks} processes" if self.ranks > 1 else ""
        claim(not wrong, f"{self.title}{where}: {shown}" + ("" if not wrong else "  <-- " + "; ".join(wrong)))


def mpirun_says(line):
    """mpirun adds words of its own when a program ends with another status than 0."""
    return line.startswith("-----") or re.search(r"You were supposed to get help|Primary job|a non-zero exit code|mpirun detected|the job to be terminated|"
                                                 r"Process name:|Exit code:", line)


def listing(folder):
    """Every file below a folder, with what is in it."""
    return {str(p.relative_to(folder)): hashlib.md5(p.read_bytes()).hexdigest() for p in Path(folder).rglob("*") if p.is_file()}


def bad(title, words, *args, **more):
    return Case(title, [words] if isinstance(words, str) else words, args, **more)


def good(title, *args, **more):
    return Case(title, more.pop("words", []), args, accepted=True, **more)


def text(name, content):
    """Writes a file of the case's folder."""
    def write(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return write


def keymap(content):
    return text("line.keymap", content)


def append(name, content):
    def write(folder):
        with open(folder / name, "ab") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
    return write


def both(*steps):
    def write(folder):
        for step in steps:
            step(folder)
    return write


# --- parameters -------------------------------------------------------------------------------------------------------

bad("misspelt name", ["'halflength'", "half_length?", "command line"], "halflength=4")
bad("short name, nothing near", ["'q9'", "--help"], "q9=4")
bad("unknown name in the file", ["'colour'", "job.par:", "--help"], make=append("job.par", "colour = red\n"))
bad("name twice in a file", ["fpeak", "twice", "job.par:"], make=append("job.par", "fpeak = 13\n"))
bad("name twice on the command line", ["fpeak", "twice", "command line"], "fpeak=10", "fpeak=11")
bad("below the range", ["half_length = 0", "1..8"], "half_length=0")
bad("above the range", ["half_length = 9", "1..8"], "half_length=9")
bad("no number", ["tmax = long", "not a number"], "tmax=long")
bad("no whole number", ["half_length = 4.5", "not a whole number"], "half_length=4.5")
bad("unit behind the number", ["dt_out = 4ms", "number", "s"], "dt_out=4ms")
bad("NaN", ["fpeak = nan", "number"], "fpeak=nan")
bad("infinite", ["fpeak = inf", "number"], "fpeak=inf")
bad("beyond every number", ["fpeak = 1e999", "0"], "fpeak=1e999")
bad("negative frequency", ["fpeak = -12"], "fpeak=-12")
bad("no value", ["fpeak", "no value"], "fpeak=")
bad("word not in the list", ["wavelet = riker", "ricker"], "wavelet=riker")
bad("flag that is neither", ["overwrite = maybe", "yes"], "overwrite=maybe")
bad("variant not in the build", ["variant = tpu", "fortran", "cpu"], "variant=tpu")
bad("dashes before a parameter", ["--fpeak=12", "without dashes"], "--fpeak=12")
bad("word without =", ["'fpeak'", "fpeak=..."], "fpeak")
bad("blanks around =", ["name=value"], "fpeak", "=", "12")
bad("two parameter files", ["second parameter file"], "par=job.par")
ONE = 1                 # fault: no others that only follow from it
bad("parameter file not there", ["jop.par", "no such file"], raw=["run", "par=jop.par"], lines=ONE)
bad("parameter file is a directory", ["directory"], raw=["run", "par=sub"], make=lambda f: (f / "sub").mkdir(), lines=ONE)
bad("parameter file is a model", ["vp.raw", "text"], raw=["run", "par=vp.raw"], lines=ONE)
bad("parameter file is empty", ["empty"], raw=["run", "par=void.par"], make=text("void.par", ""), lines=ONE)
bad("parameter file given as a word", ["par=", "job.par"], raw=["run", "job.par"], lines=ONE)
bad("quote not closed", ["closing quote", "job.par:"], make=append("job.par", "keymap2 = 'line\n"))
bad("line without =", ["job.par:", "name = value"], make=append("job.par", "this is no setting\n"))
bad("line without = is quoted", ["'dt 0.001'", "name = value"], make=append("job.par", "dt 0.001\n"))
bad("two settings on a line", ["second =", "job.par:"], make=append("job.par", "fmax = 30 dt = 0.001\n"))
bad("namelist not closed", ["job.par", "/"], make=text("job.par", "&job\n fpeak = 12\n"))
bad("key-map not given", ["keymap is not given", "keymap=FILE"], deck={"keymap": None})
bad("velocity not given", ["vp is not given", "vp=FILE"], deck={"vp": None})
bad("key-map not there", ["nowhere.keymap", "no such file"], "keymap=nowhere.keymap")
bad("velocity not there", ["nowhere.raw", "no such file"], "vp=nowhere.raw")
bad("velocity is a directory", ["vp = sub", "directory"], "vp=sub", make=lambda f: (f / "sub").mkdir())
bad("velocity is a device", ["/dev/zero", "device"], "vp=/dev/zero")
bad("home not expanded", ["~/vp.raw", "whole path"], "vp=~/vp.raw")
bad("velocity is empty", ["void.raw", "empty"], "vp=void.raw", make=text("void.raw", ""))
bad("velocity and density are one file", ["rho", "velocity model too"], "rho=vp.raw")
bad("key-map is the model", ["keymap", "velocity model too"], "keymap=vp.raw")
bad("raw model without shape", ["model_nx", "model_nz", "raw"], deck={"model_nx": None, "model_nz": None})
bad("components unknown", ["components", "'vy'", "p, vx, vz"], "components=p,vy")
bad("components twice", ["components", "vx twice"], "components=vx,vx")
bad("layers narrower than the differentiators", ["npml = 5", "half_length"], "npml=5")
bad("group in 2D", ["group = 2", "group=1"], "group=2")
bad("GPUs in a build without", ["gpn = 1", "gpn=0"], "gpn=1")
bad("fmax below fpeak", ["fmax = 5", "fpeak"], "fmax=5")
bad("Ormsby out of order", ["f2 = 50", "f3"], "wavelet=ormsby", "f2=50")
bad("Ormsby corners without wavelet=ormsby", ["f3", "wavelet=ormsby"], "f3=30")
bad("aperture below 0", ["aperture = -0.5", "-1"], "aperture=-0.5")
bad("amplitude 0", ["amplitude = 0", "zero"], "amplitude=0")
bad("snapshots of a shot not in the key-map", ["snapshot_shots", "999"], "snapshot=0.1", "snapshot_shots=999")
bad("snapshots beyond counting, before a step is searched for", ["snapshots of shot record 101", "5.78e10 numbers", "at most 2e9", "snapshot_step"],
    "snapshot=0.00125", "dx=0.05", "dz=0.05")
bad("snapshots closer than time steps", ["snapshot = 1e-6 s", "time step, 0.00187"], "snapshot=1e-6")
bad("gathers beyond counting", ["90 receivers x 10000000 samples x 3", "at most 2e9"], "tmax=0.9999999", "dt_out=1e-7",
    "components=p,vx,vz", make=lambda f: keymap(CABLE.replace("=20", "=90").replace("21.7", "1") + "shot 1 600 13 cable\n")(f))
bad("snapshot interval beyond the record", ["snapshot = 2", "tmax"], "snapshot=2")
bad("five faults of five kinds at once", ["5 faults", "fpeek", "tmax = x", "npml = -1", "coeffs = best", "vp = none.raw"],
    "fpeek=1", "tmax=x", "npml=-1", "coeffs=best", "vp=none.raw")
bad("value of two lines", ["fpeak=1?2", "control character"], "fpeak=1\n2")
bad("no name before =", ["'=5'", "name=value"], "=5")
bad("an empty word", ["''", "verb"], raw=[""])
bad("a verb twice", ["'run'", "before all parameters"], "run")
bad("path beyond every limit", ["5003 characters", "4095"], "output=" + 5000 * "a" + ".nc")
bad("name too long for the file system", ["too long"], "output=" + 300 * "a" + ".nc")
bad("key-map is a pipe", ["pipe"], "keymap=pipe", make=lambda f: os.mkfifo(f / "pipe"))
bad("misspelt verb", ["'plam'", "did you mean plan"], raw=["plam", "par=job.par"])
bad("verb after parameters", ["plan", "verb"], raw=["par=job.par", "plan"])
bad("unknown option", ["'--halp'", "--help"], raw=["--halp"])
bad("option among parameters", ["--quiet", "--help"], "--quiet")
bad("--json with run", ["--json", "status"], "--json")
bad("help on an unknown name", ["fpeek", "fpeak"], raw=["--help", "fpeek"])
bad("status of nothing", ["no run of 'none.nc' has begun", "output=FILE"], raw=["status", "output=none.nc"])
bad("plan tells too", ["half_length = 99"], "half_length=99", verb="plan")

# --- key-maps ---------------------------------------------------------------------------------------------------------

CABLE = "spread cable streamer first=50 interval=21.7 channels=20 depth=17.3\n"
bad("key-map without shots", ["no shots", "shot RECORD SX SZ SPREAD"], make=keymap(CABLE))
bad("key-map with all shots skipped", ["skip", "nothing is left"], make=keymap(CABLE + "shot 1 600 13 cable skip\n"))
bad("key-map of blanks only", ["no shots"], make=keymap("\n\n   \n"))
bad("record twice", ["record 7", "line 2 already", "3"], make=keymap(CABLE + "shot 7 600 13 cable\nshot 7 640 13 cable\n"))
bad("spread not defined", ["cabel", "did you mean cable"], make=keymap(CABLE + "shot 1 600 13 cabel\n"))
bad("word unknown", ["'shoot'", "did you mean shot"], make=keymap(CABLE + "shoot 1 600 13 cable\n"))
bad("column missing", ["shot RECORD SX SZ SPREAD"], make=keymap(CABLE + "shot 1 600 cable\n"))
bad("position no number", ["sx", "6oo", "decimal number"], make=keymap(CABLE + "shot 1 6oo 13 cable\n"))
bad("position NaN", ["sx", "nan"], make=keymap(CABLE + "shot 1 nan 13 cable\n"))
bad("decimal comma", ["600,5", "decimal number"], make=keymap(CABLE + "shot 1 600,5 13 cable\n"))
bad("record 0", ["record = 0", "1..2147483647"], make=keymap(CABLE + "shot 0 600 13 cable\n"))
bad("record too large", ["2147483648"], make=keymap(CABLE + "shot 2147483648 600 13 cable\n"))
bad("status unknown", ["'dun'", "todo, skip or redo"], make=keymap(CABLE + "shot 1 600 13 cable dun\n"))
bad("channels 0", ["channels = 0"], make=keymap(CABLE.replace("=20", "=0") + "shot 1 600 13 cable\n"))
bad("interval 0", ["interval = 0"], make=keymap(CABLE.replace("21.7", "0") + "shot 1 600 13 cable\n"))
bad("depth missing", ["depth= is missing"], make=keymap(CABLE.replace("depth=17.3", "") + "shot 1 600 13 cable\n"))
bad("receiver list not there", ["nodes.txt", "no"], make=keymap("spread n list nodes.txt\nshot 1 600 13 n\n"))
bad("receiver list with two channels alike", ["channel 1", "more than once"],
    make=both(keymap("spread n list nodes.txt\nshot 1 600 13 n\n"), text("nodes.txt", "1 500 20\n1 520 20\n")))
bad("receiver list that is none", ["nodes.txt", "1"],
    make=both(keymap("spread n list nodes.txt\nshot 1 600 13 n\n"), text("nodes.txt", "here are my nodes\n")))
bad("key-map is binary", ["line.keymap", "text"], make=keymap(bytes(range(256)) * 4))
bad("key-map is UTF-16", ["line.keymap", "text"], make=keymap((CABLE + "shot 1 600 13 cable\n").encode("utf-16")))
bad("skip of a record not there", ["skip 9", "no such shot"], make=keymap(CABLE + "shot 1 600 13 cable\nskip 9\n"))
bad("sixty faults in a key-map", ["60 faults", "line.keymap, line 2:", "and 10 more"],
    make=keymap(CABLE + "shot x 600 13 cable\n" * 60))

# --- raw models -------------------------------------------------------------------------------------------------------


def vp(change, name="vp.raw", dtype="<f4"):
    """Rewrites a raw model: change(array (nx, nz)) returns the new one."""
    def write(folder):
        a = np.fromfile(folder / name, "<f4").reshape(NX, NZ)
        np.asarray(change(a)).astype(dtype).tofile(folder / name)
    return write


def at(value, i=60, k=30):
    def change(a):
        a[i, k] = value
        return a
    return change


SIZE = 4 * NX * NZ
bad("model cut short", [str(SIZE - 10), str(SIZE), "missing"], make=lambda f: os.truncate(f / "vp.raw", SIZE - 10))
bad("model too long", [str(SIZE + 400), str(SIZE), "too many"], make=append("vp.raw", bytes(400)))
bad("model with marks of a sequential file", ["record marks", "stream"],
    make=lambda f: (f / "vp.raw").write_bytes(struct.pack("<i", SIZE) + (f / "vp.raw").read_bytes() + struct.pack("<i", SIZE)))
bad("model of double precision", ["float64", "model_format=raw64"], make=vp(lambda a: a, dtype="<f8"))
bad("NaN in the model", ["NaN", "(61, 31)", "x = 600 m", "z = 300 m"], make=vp(at(np.nan)))
bad("infinity in the model", ["Inf", "(61, 31)"], make=vp(at(np.inf)))
bad("zero in the model", ["(61, 31)", "is 0", "above 0"], make=vp(at(0)))
bad("negative velocity", ["-1500", "above 0"], make=vp(at(-1500)))
bad("absurd velocity", ["90000", "15000"], make=vp(at(90000)))
bad("model of the other byte order", ["big-endian", "model_endian=big"], make=vp(lambda a: a, dtype=">f4"))
bad("velocity in km/s", ["1.6 .. 2.6", "km/s", "vp_unit=km/s"], make=vp(lambda a: a / 1000))
bad("density in g/cm3", ["1.1 .. 1.9", "g/cm3", "rho_unit=g/cm3"], make=vp(lambda a: a / 1000, "rho.raw"))
bad("velocity said to be km/s but in m/s", ["vp_unit=m/s"], "vp_unit=km/s")
bad("NaN in the density", ["density", "NaN"], make=vp(at(np.nan), "rho.raw"))
bad("density zero everywhere", ["density", "is 0"], make=vp(lambda a: a * 0, "rho.raw"))
bad("shape the wrong way round, another size", ["model_nx", "bytes"], "model_nx=61", "model_nz=120")
bad("NetCDF file taken for raw", ["vp.raw", "model_format=netcdf"], make=lambda f: netcdf(f / "vp.raw"))
bad("SEG-Y given directly", ["vp.segy", "spl-model"], "vp=vp.segy", make=lambda f: (f / "vp.segy").write_bytes(bytes(4000)))
bad("SU given directly", ["vp.su", "spl-model"], "vp=vp.su", make=lambda f: (f / "vp.su").write_bytes(bytes(4000)))
bad("model of one column", ["1 x 7381", "2 x 2"], "model_nx=1", "model_nz=7381", deck={"model_nx": None, "model_nz": None})
bad("model of 10 million by 10 million", ["bytes"], deck={"model_nx": 10000000, "model_nz": 10000000})

# --- NetCDF models ----------------------------------------------------------------------------------------------------


def netcdf(path, x=None, z=None, var="vp", units="m/s", change=None, dims=("z", "x"), fill=None, coords=True, axis_units="m",
           kind="NETCDF3_64BIT_OFFSET"):
    """A NetCDF model, good unless told otherwise."""
    x = np.arange(NX) * DX if x is None else x
    z = np.arange(NZ) * DX if z is None else z
    size = {"x": len(x), "z": len(z), "y": 3}
    with Dataset(path, "w", format=kind) as ds:
        for d in dims:
            ds.createDimension(d, size[d])
            if coords and d in "xz":
                c = ds.createVariable(d, "f8", (d,))
                c.units = axis_units
                c[:] = x if d == "x" else z
        v = ds.createVariable(var, "f4", dims, fill_value=fill)
        if units is not None:
            v.units = units
        a = np.full([size[d] for d in dims], 2000.0 if var != "rho" else 1500.0, "f4")
        v[...] = change(a) if change else a


def nc(**how):
    return lambda folder: netcdf(folder / "vp.nc", **how)


NC = {"vp": "vp.nc", "rho": None, "model_nx": None, "model_nz": None, "model_dx": None, "model_dz": None}


def set_at(value):
    def change(a):
        a[30, 60] = value
        return a
    return change


def scribble(folder):
    """Destroys the end of the first kilobytes, where HDF5 keeps its tables."""
    with open(folder / "vp.nc", "r+b") as f:
        f.seek(600)
        f.write(bytes(range(256)) * 20)


def missing(a):
    a[30, 60] = -999
    return a


bad("NetCDF in name only", ["velocity model", "vp.nc", "NetCDF", "model_format=raw32"], deck=NC,
    make=text("vp.nc", "no NetCDF at all\n" * 100))
bad("NetCDF model cut short", ["vp.nc", "12000 bytes", "cut short"], deck=NC,
    make=both(nc(), lambda f: os.truncate(f / "vp.nc", 12000)))
bad("NetCDF model whose end never reached the disk", ["vp.nc", "zeros", "cut short"], deck=NC,
    make=both(nc(), lambda f: [os.truncate(f / "vp.nc", n) for n in (12000, 31232)]))
bad("NetCDF header cut short", ["velocity model", "vp.nc"], deck=NC, make=both(nc(), lambda f: os.truncate(f / "vp.nc", 60)))
bad("NetCDF-4 model cut short", ["velocity model", "vp.nc"], deck=NC,
    make=both(nc(kind="NETCDF4"), lambda f: os.truncate(f / "vp.nc", 20000)))
bad("NetCDF-4 model with a hole in it", ["velocity model", "vp.nc"], deck=NC, make=both(nc(kind="NETCDF4"), scribble))
bad("no such variable", ["'vp'", "vp_var", "velocity"], deck=NC, make=nc(var="velocity"))
bad("variable without units", ["units", "m/s"], deck=NC, make=nc(units=None))
bad("unknown units", ["'furlong/fortnight'", "m/s"], deck=NC, make=nc(units="furlong/fortnight"))
bad("units belie the values", ["2000", "km/s", "units attribute"], deck=NC, make=nc(units="km/s"))
bad("coordinates not uniform", ["x is not uniform", "resample"], deck=NC, make=nc(x=np.arange(NX) ** 1.1 * DX))
bad("coordinates that fall", ["must increase"], deck=NC, make=nc(x=np.arange(NX)[::-1] * DX))
bad("coordinates NaN", ["coordinate z", "NaN"], deck=NC, make=nc(z=np.where(np.arange(NZ) == 5, np.nan, np.arange(NZ) * DX)))
bad("coordinates without units", ["coordinate", "m or km"], deck=NC, make=nc(axis_units=""))
bad("coordinates missing", ["coordinate variable"], deck=NC, make=nc(coords=False))
bad("NaN in a NetCDF model", ["NaN", "(61, 31)"], deck=NC, make=nc(change=set_at(np.nan)))
bad("values missing", ["missing", "fill"], deck=NC, make=nc(fill=-999.0, change=missing))
bad("1-D variable", ["1 dimension", "2"], deck=NC, make=nc(dims=("z",)))
bad("3-D variable", ["3 dimensions", "2"], deck=NC, make=nc(dims=("y", "z", "x")))
bad("density that does not cover", ["density", "x = 0 .. 1000 m", "cover"], deck={**NC, "rho": "rho.nc"},
    make=both(nc(), lambda f: netcdf(f / "rho.nc", x=np.arange(101) * DX, var="rho", units="kg/m3")))
bad("shape given for a NetCDF model", ["model_nx", "leave it out"], deck={**NC, "model_nx": 121}, make=nc())

# --- geometry ---------------------------------------------------------------------------------------------------------


def shot(sx=600.0, sz=13.0, spread="first=50 interval=20 channels=5 depth=17", record=101, more=""):
    return keymap(f"spread cable streamer {spread}\nshot {record} {sx} {sz} cable\n{more}")


bad("source beside the model", ["record 101", "source", "x = 1300 m", "0 .. 1200 m"], make=shot(sx=1300))
bad("source above the model", ["source", "z = -5 m", "top"], make=shot(sz=-5))
bad("source below the model", ["source", "z = 700 m", "600 m", "deeper model"], make=shot(sz=700))
bad("receivers beside the model", ["receiver 3 of 5", "x = -10 m", "and 2 more"],
    make=shot(sx=60, spread="first=30 interval=20 channels=5 depth=17"))
bad("receivers below the model", ["receiver 1 of 5", "z = 601 m"], make=shot(spread="first=50 interval=20 channels=5 depth=601"))
bad("source below depth=", ["source", "z = 350 m", "depth = 300"], "depth=300", make=shot(sz=350))
bad("source on the free surface", ["source", "z = 0", "free surface"], "top=free", make=shot(sz=0))
bad("samples along x and z exchanged", ["every 61 and not every 121", "exchange model_nx and model_nz"], "model_nx=61", "model_nz=121",
    deck={"model_nx": None, "model_nz": None})
bad("windows beyond every memory", ["600001 nodes", "at most 1e9", "dx"], "dx=0.001", "dz=0.001")
bad("a window beyond every memory behind one that is not, in a model that needs a smaller step", ["record 2", "at most 1e9", "dx"],
    "dx=0.02", "dz=0.02", make=keymap("spread near fixed x0=600 interval=20 channels=2 depth=17\nspread far fixed x0=20 "
                                      "interval=1100 channels=2 depth=17\nshot 1 600 13 near\nshot 2 600 13 far\n"))
bad("grid coarser than the model is wide", ["dx = 5000 m", "1200 m"], "dx=5000")
bad("positions in another origin", ["x = 456789.5 m"], make=shot(sx=456789.5))
bad("three bad shots at once", ["record 101", "record 102", "record 103"],
    make=shot(sx=5000, more="shot 102 6000 13 cable\nshot 103 600 -13 cable\nshot 104 600 13 cable\n"))
bad("hundred bad shots", ["100 faults in the geometry", "record 1:", "and 50 more"],
    make=keymap(CABLE + "shots first_record=1 n=100 x0=5000 dx=10 z=13 spread=cable\n"))

# --- time, grid and wavelet -------------------------------------------------------------------------------------------

bad("time step above the limit", ["dt = 0.003 s", "0.00189", "dt=0"], "dt=0.003")
bad("sample interval beyond the record", ["dt_out = 0.5", "tmax"], "dt_out=0.5")
bad("wavelet after the end of the record", ["the wavelet begins", "0.4 s", "delay (now 10 s)"], "delay=10")
bad("steps beyond counting", ["1e10 steps", "dt = 1e-5", "check dt"], "dt=1e-5", "tmax=1e5", "dt_out=10")
bad("a wavelet beyond counting", ["where the wavelet begins", "its frequency"], "fpeak=1e-6")
bad("samples beyond counting", ["dt_out", "samples"], "dt_out=1e-7", "tmax=1000")
bad("grid too coarse", ["too coarse", "10 x 10 m", "at most", "1600 m/s", "dispersion=warn models"], "fpeak=25")
bad("grid too coarse even with a warning", ["too coarse", "even dispersion=warn"], "fpeak=60")
bad("grid too coarse, warn only", ["dispersion=warn", "points per wavelength"], "fpeak=200", "dispersion=warn")
bad("weights of a half-length too short", ["larger half_length"], "half_length=1", "fpeak=30")
bad("spacings of another world", ["hundredfold"], "dx=5", "dz=0.01")
bad("wavelet file not named", ["wavelet = file", "wavelet_file=FILE"], "wavelet=file")
bad("wavelet file not there", ["none.txt", "no such file"], "wavelet=file", "wavelet_file=none.txt")
bad("wavelet file without wavelet=file", ["wavelet_file", "wavelet=file"], "wavelet_file=w.txt",
    make=text("w.txt", "0\n1\n2\n1\n0\n"))
W = ("wavelet=file", "wavelet_file=w.txt")
bad("wavelet file empty", ["w.txt", "empty"], *W, make=text("w.txt", ""))
bad("wavelet file of comments only", ["w.txt", "0 samples", "at least 4"], *W, make=text("w.txt", "# nothing\n"))
bad("NaN in a wavelet", ["w.txt", "line 3", "nan"], *W, "wavelet_dt=0.004", make=text("w.txt", "0\n1\nnan\n1\n0\n"))
bad("wavelet at odd times", ["w.txt", "line 4", "apart"], *W, make=text("w.txt", "0 0\n0.004 1\n0.008 2\n0.02 1\n0.024 0\n"))
bad("wavelet without interval", ["w.txt", "wavelet_dt"], *W, make=text("w.txt", "0\n1\n2\n1\n0\n"))
bad("wavelet with two intervals", ["wavelet_dt = 0.001", "w.txt", "0.004 s apart"], *W, "wavelet_dt=0.001",
    make=text("w.txt", "0 0\n0.004 1\n0.008 2\n0.012 1\n0.016 0\n"))
bad("wavelet of three columns", ["w.txt", "line 1", "two columns"], *W, make=text("w.txt", "0 1 2\n1 2 3\n"))
bad("wavelet all zero", ["w.txt", "0", "nothing to model"], *W, "wavelet_dt=0.004", make=text("w.txt", "0\n" * 20))
bad("wavelet is binary", ["vp.raw"], "wavelet=file", "wavelet_file=vp.raw", "wavelet_dt=0.004")

# --- output -----------------------------------------------------------------------------------------------------------

bad("output folder not there", ["no directory", "results"], "output=results/out.nc")
for verb in ("run", "plan"):                        # root cannot write there either, though the system says that he may
    bad(f"output where the kernel keeps its files, {verb}", ["output", "in", "the directory /proc ("], "output=/proc/out.nc", verb=verb)
bad("output is a directory", ["directory"], "output=sub", make=lambda f: (f / "sub").mkdir())
bad("output is an input", ["vp", "overwrite an input"], "output=vp.raw")
bad("output is an input by another path", ["overwrite an input"], f"output={Path.cwd() / f'case{len(cases):03d}'}/rho.raw")
bad("output is the parameter file", ["parameter file"], "output=job.par")
bad("output is somebody's file", ["out.nc", "not a file of gathers", "choose another"], make=text("out.nc", "my thesis\n"))
bad("the same with overwrite=y", ["out.nc", "not a file of gathers"], "overwrite=y", make=text("out.nc", "my thesis\n"))
bad("journal of something else", ["out.nc.journal", "was not written by a run"], make=text("out.nc.journal", "dear diary\n" * 5))
bad("output larger than the disk", ["out.nc", "4 TB of disk", " are free", "choose"], "dt_out=1e-6", "tmax=10", make=keymap(
    "spread c streamer first=50 interval=20 channels=5 depth=17\nshots first_record=1 n=20000 x0=601 dx=0.005 z=13 spread=c\n"))
bad("output name empty", ["output", "FILE.nc"], "output=''")
bad("journal name is a directory", ["out.nc.journal"], make=lambda f: (f / "out.nc.journal").mkdir())

# --- some of them on three processes: all end, one sentence -------------------------------------------------------------

bad("misspelt name", ["half_length?"], "halflength=4", ranks=3)
bad("NaN in the model", ["NaN", "(61, 31)"], make=vp(at(np.nan)), ranks=3)
bad("record twice", ["record 7"], make=keymap(CABLE + "shot 7 600 13 cable\nshot 7 640 13 cable\n"), ranks=3)
bad("source beside the model", ["source", "x = 1300 m"], make=shot(sx=1300), ranks=3)
bad("time step above the limit", ["dt = 0.003 s"], "dt=0.003", ranks=3)
bad("output is somebody's file", ["not a file of gathers"], make=text("out.nc", "my thesis\n"), ranks=3)
bad("group larger than the ranks", ["group = 5"], "group=5", ranks=3)
bad("more threads than allowed", ["threads = 5000", "1024"], "threads=5000", ranks=3)
bad("verify with a bad parameter", ["fpeek"], "fpeek=3", verb="verify", ranks=3)

# --- odd but right ----------------------------------------------------------------------------------------------------


def crlf(name):
    def write(folder):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"\n", b"\r\n"))
    return write


def signed(name):
    def write(folder):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    return write


def unicode_name(folder):
    os.rename(folder / "vp.raw", folder / "Geschwindigkeit größer.raw")


good("line ends of Windows everywhere", make=both(crlf("job.par"), crlf("line.keymap")))
good("byte order mark of UTF-8 in both files", make=both(signed("job.par"), signed("line.keymap")))
good("comments in UTF-8", make=both(append("job.par", "# größer als 5 µs\n"), append("line.keymap", "# Schuß 7\n")))
good("lines of 4000 characters", make=both(append("job.par", "# " + 4000 * "x" + "\n"),
                                           append("line.keymap", "#" + 4000 * " y" + "\n"),
                                           append("job.par", "fmax" + 4000 * " " + "= 30" + 4000 * " " + "\n")))
good("no line end at the end", make=append("job.par", "retries = 1"))
good("tabs and capitals", make=both(append("job.par", "\tFMAX\t=\t3.0D1\t\n"),
                                    keymap(CABLE.replace(" ", "\t") + "SHOT\t1 600 13 cable\n")))
good("file name with a blank and an umlaut", "vp='Geschwindigkeit größer.raw'", make=unicode_name)
good("output in another folder", "output=sub/../deep/x.nc",
     make=both(lambda f: (f / "sub").mkdir(), lambda f: (f / "deep").mkdir()))
good("namelist", make=lambda f: text("job.par", "&job\n" + "".join(
    f" {k} = {repr(v) if isinstance(v, str) else v},\n" for k, v in ms.DECK.items()) + "/\n")(f))
good("receivers and source on the edges of the model", make=keymap(
    "spread edge fixed x0=0 interval=1200 channels=2 depth=0\nspread low fixed x0=0 interval=600 channels=3 depth=600\n"
    "shot 1 0 0 edge\nshot 2 1200 600 low\n"))
good("NetCDF-4, coordinates in km, x fastest or z fastest", deck=NC,
     make=nc(kind="NETCDF4", dims=("x", "z"), x=np.arange(NX) * DX / 1000, z=np.arange(NZ) * DX / 1000, axis_units="km"))
good("snapshots of a record written with zeros in front", "snapshot=0.1", "snapshot_shots=0102", words=["3 shots"])
good("receivers much closer than cells: a key-map in km", words=["all sources and receivers lie within 0.13 m", "kilometres?"],
     make=shot(sx=0.6, sz=0.013, spread="first=0.05 interval=0.02 channels=5 depth=0.017"))
good("density on a wider grid than velocity", deck={**NC, "rho": "rho.nc"},
     make=both(nc(), lambda f: netcdf(f / "rho.nc", x=np.arange(-30, 170) * 8.0, var="rho", units="kg m-3")))

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for case, _ in zip(cases, pool.map(Case.run, cases)):          # claims come one by one: in a debug build all take minutes
        case.judge()
wrong = sum(not c.accepted for c in cases)
claim(wrong >= 70, f"{wrong} bad inputs, must be 70 or more; {len(cases) - wrong} odd but right; the slowest "
      f"took {max(c.seconds for c in cases):.1f} s of processor time, bound {SECONDS} s")
done()
