#!/usr/bin/env python3
"""A fault in the input of a 3D job gives one sentence with value, limit and cure, exit status 1, and nothing is written, whatever
a worker would else find in the midst of the job."""
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done, given_seed
from mini3d import LAYERS, make, run, write_deck, write_keymap

N = (24, 24, 20)
KEYMAP = ("spread cable fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=341.7\n"
          "shots first_record=11 n=1 x0=253.3 dx=31.1 z=111.7 y=312.3 spread=cable\n")
WATER, ROCK = "0 1500 0 1000\n", "0 3000 1500 2200\n"


def refused(sentence, *words, layers=None, keymap=None, **deck):
    """Claims exit status 1, the words in the message, no output."""
    if "vp" not in deck:
        make(shots=1, **({"layers": layers} if layers else {}), **deck)
    else:
        write_deck(**{"layers": None, "dx": None, "aperture": None, "depth": None, "vs": "m.nc", "rho": "m.nc", **deck})
        Path("line.keymap").write_text(keymap or KEYMAP)
    r = run("par=job.par")
    missing = [w for w in words if w not in r.stderr]
    left = [q.name for q in Path(".").glob("out.nc*")]
    for q in left:
        Path(q).unlink()
    claim(r.returncode == 1 and not missing and not left and "error:" in r.stderr and "lost" not in r.stderr,
          f"{sentence}: exit status {r.returncode}{', lacks ' + repr(missing[0]) if missing else ''}"
          f"{', left ' + ' '.join(left) if left else ''}: {r.stderr.strip()[:400]}")


def volume(**change):
    """m.nc: water over rock; a change is (value, where) or an array for all."""
    nx, ny, nz = N
    z = np.broadcast_to((20 + 40.0 * np.arange(nz))[:, None, None], (nz, ny, nx))
    water = z < 200
    m = dict(vp=np.where(water, 1500.0, 3000.0), vs=np.where(water, 0.0, 1500.0), rho=np.where(water, 1000.0, 2200.0),
             qs=np.where(water, 0.0, 50.0))
    with Dataset("m.nc", "w", format="NETCDF3_64BIT_DATA") as f:
        for axis, n in (("z", nz), ("y", ny), ("x", nx)):
            f.createDimension(axis, n)
            v = f.createVariable(axis, "f8", (axis,))
            v.units = "m"
            v[:] = 20 + 40.0 * np.arange(n)
        for name, unit in (("vp", "m/s"), ("vs", "m/s"), ("rho", "kg/m3"), ("qs", "1")):
            a = m[name].copy()
            if name in change:
                value, where = change[name]
                a[where(z)] = value
            v = f.createVariable(name, "f4", ("z", "y", "x"))
            v.units = unit
            v[:] = a


# --- layers, numbers, places -------------------------------------------------------------------------------------------

refused("S velocity too near that of P", "line 1: vs = 1400", "less than 0.866 vp = 1299", layers="0 1500 1400 1000\n" + "200 3000 1500 2200\n")
refused("depths that do not rise", "line 3: top = 100 m", "below the layer before, 200 m",
        layers="0 1500 0 1000\n200 3000 1500 2200\n100 3000 1500 2200\n")
refused("Q = 0", "Qs = 0, must be 1 or more", layers="0 1500 700 1000 100 0\n")
refused("negative Q", "Qp = -5, Qs = 50, must be", layers="0 1500 700 1000 -5 50\n")
refused("a Q too small", "smallest Q of the model is 1.5", "at least 10", "attenuation=n", layers="0 1500 700 1000 100 1.5\n")
refused("not a number in a table", "'nan' is no number", layers="0 nan 0 1000\n")
refused("kilometres a second", "vp = 1.5 m/s", "must be 50 .. 15000", "km/s? give m/s", layers="0 1.5 0 1\n")
refused("grams", "densities 1 .. 2.2 kg/m3 look like g/cm3", "give them in kg/m3", layers="0 1500 0 1\n200 3000 1500 2.2\n")
refused("negative dt", "dt = -0.001 s", "out of range", dt=-0.001)
refused("a frequency too high for the slowest wave", "too coarse for fmax = 80 Hz where v = 1500", "use a spacing of at most", fmax=80)
refused("a variant that is none", "variant = gpu", "must be one of", variant="gpu")
refused("a source below the bottom", "the source at x = 253.3", "z = 0 .. 100 m", "raise depth, now 100 m", depth=100)
refused("a double couple in water", "lies in a fluid", "cannot shear", source="dc", mw=4)
refused("a shear moment in water", "lies in a fluid", source="moment", mxz=1e15)
refused("a force too weak for its numbers", "too weak for single precision", "(0, 0, 1e-30) N", source="force", fz=1e-30)
refused("a grid too thin for a one-way bottom", "4 cells along z are too few", depth=160, bottom="one-way", layers=WATER)
refused("shear stress in water", "shot record 11: every trace would be 0", "has no shear stress", components="sxz,syz")
make(shots=1, components="p,sxz")
r = run("plan", "par=job.par")
claim(r.returncode == 0 and "5 receiver(s) stand in a fluid, which has no shear stress, the first of them channel 1 of shot record 11" in r.stdout,
      f"shear stress among other components in water is told of {r.stderr[-300:]}")
refused("strain at the end of a grid without layers", "receivers of exx", "too close to the end of the window", npml=0, aperture=60,
        components="vx,exx")
refused("a plane outside", "'z5000' lies outside the window of shot record 11, 0 .. 440 m along z", snapshot=0.1,
        snapshot_planes="top,z5000")
refused("two planes in the same cells", "'z101' and another plane lie in the same cells of shot record 11", "leave one", snapshot=0.1,
        snapshot_planes="top,z-0,x100,z100,z101")
refused("a plane and a field twice", "holds top twice", "holds vz twice", snapshot=0.1, snapshot_planes="top,top", snapshot_fields="vz,p,vz")
refused("too many pictures", "are too large, at most 2e9", layers=ROCK, snapshot=0.0005, tmax=400, dt_out=0.02, snapshot_planes="top,y20,x300",
        dt=0.0005, depth=1200, aperture=900)
refused("a map below the window", "pgv_depth = 9000 m lies below", pgv="y", pgv_depth=9000)

# --- faults ------------------------------------------------------------------------------------------------------------


Path("deep.fault").write_text("dc 0 0 100 30 40 50 1e15 0 0.1 3\n0 1 0\ndc 0 0 4000 30 40 50 1e15 0 0.1 3\n0 1 0\n")
refused("a point of a fault below the window", "point 2 of the fault", "z = 4111.7 m (by the fault file x = 0, y = 0, z = 4000 m from the shot's position) "
        "lies outside the window", "look at the shot's place", source="fault", fault="deep.fault", fmax=5)
Path("high.fault").write_text("dc 0 0 -200 30 40 50 1e15 0 0.1 3\n0 1 0\n")
refused("a point of a fault above the surface", "point 1 of the fault", "lies above the top of the model, z = 0 m: lower it, its file counts from the "
        "depth of the shot", source="fault", fault="high.fault", fmax=5)
Path("wet.fault").write_text("dc 0 0 0 30 40 50 1e15 0 0.1 3\n0 1 0\n")
refused("a point of a fault in water", "point 1 of the fault", "by the fault file x = 0, y = 0, z = 0 m", "in a fluid", source="fault",
        fault="wet.fault", fmax=5)
Path("cut.srf").write_text("2.0\nPOINTS 1\n20 45 1.5 90 45 1e8 0.5 0.1 2e5 2.5\n30 200 5 0 0 0 0\n0 500\n")
refused("a truncated SRF file", "ends after 2 of 5 samples", source="fault", fault="cut.srf", fmax=5)

Path("far.srf").write_text("2.0\nPOINTS 1\n20 45 0.05 90 45 1e8 0.1 0.1 2e5 2.5\n30 200 5 0 0 0 0\n0 500 1000 500 0\n")
refused("an SRF file without its origin", "point 1 of the fault", "look at the shot's place, fault_lon and fault_lat", source="fault",
        fault="far.srf", fmax=5)

# --- volumes -----------------------------------------------------------------------------------------------------------

V = dict(vp="m.nc")
one = (slice(2, 3), slice(3, 4), slice(10, 11))


def there(z):
    a = np.zeros(z.shape, bool)
    a[one] = True
    return a


volume(vp=(np.nan, there))
refused("not a number in a volume", "sample (11, 4, 3) is NaN", "must be 0 or 20 .. 15000", **V)
volume(vs=(1400.0, there))
refused("a volume's S velocity too high", "sample (11, 4, 3) has vp = 1500 and vs = 1400", "below 0.866 vp", **V)
volume(rho=(0.0, there))
refused("velocity without density", "sample (11, 4, 3) has a velocity but no density", **V)
volume(qs=(-5.0, lambda z: z > 700))
refused("negative Q of water", "line 1: Qp = -5, must be 1 or more", layers="0 1500 0 1000 -5 50\n")
refused("negative Q in a volume", "sample (1, 1, 19) is -5", qs="m.nc", **V)
volume(qs=(np.nan, lambda z: z > 700))
refused("no Q in rock", "sample (1, 1, 19) is missing or no number", qs="m.nc", **V)
volume(qs=(0.0, lambda z: z > 700))
refused("Q = 0 in rock", "sample (1, 1, 19) is 0 in rock (vs = 1500 m/s)", "1e9 for none", qs="m.nc", **V)

# Qs says nothing in water and air: whatever stands there is no fault, and no Q of the model
seed = given_seed()
junk = np.random.default_rng(seed).choice([0, -999, 1, 3, 9999, np.nan, 1e38])
MISSING = 9.969209968386869e36                          # NetCDF has it where nothing was written


def taken(sentence, least=40):
    r = run("plan", "par=job.par")
    claim(r.returncode == 0 and f"Q from {least} on" in r.stdout, f"{sentence}: taken{': ' + (r.stdout + r.stderr).strip()[-300:] if r.returncode else ''}")


for water in ("100 0", "0 -1", "9999 1"):
    make(shots=1, layers=f"0 1500 0 1000 {water}\n200 3000 1500 2200 90 40\n")
    taken(f"Qp, Qs = {water} of a layer of water")
Path("line.keymap").write_text(KEYMAP)
volume(qs=(40.0, lambda z: z >= 200), vp=(0.0, lambda z: z < 50))
for qs in (junk, MISSING):
    with Dataset("m.nc", "a") as f:
        f["qs"].set_auto_mask(False)
        f["qs"][:5] = np.full(f["qs"][:5].shape, qs)
    write_deck(layers=None, dx=None, aperture=None, depth=None, vs="m.nc", rho="m.nc", qs="m.nc", **V)
    taken(f"Qs = {qs:g} in water and air (SEED={seed})")
volume(qs=(10.0, lambda z: z >= 200))
write_deck(layers=None, dx=None, aperture=None, depth=None, vs="m.nc", rho="m.nc", qs="m.nc", **V)
taken("Qs = 10, the least, whose inverse single precision has a little larger,", 10)
volume(vp=(0.0, lambda z: z < 150))
refused("a source in the air", "the source at x = 253.3", "lies in the air", "begins at z = 160 m", **V)
volume(vp=(0.0, lambda z: z < 70))
refused("receivers in the air", "5 receiver(s), the first of them channel 1", "stand in the air", "begins at z = 80 m",
        keymap="spread cable fixed x0=203.4 interval=43.7 channels=5 depth=12.3 y=341.7\n"
        "shots first_record=11 n=1 x0=253.3 dx=31.1 z=111.7 y=312.3 spread=cable\n", **V)
volume()
with Dataset("m.nc", "a") as f:
    f["rho"].valid_range = np.array([900, 2000], "f4")
refused("a density beyond its valid range", "of rho is missing", "the file holds 2200 there", "valid_range, 900 .. 2000", **V)
volume()
with Dataset("m.nc", "a") as f:
    f["vs"].scale_factor = "2"
refused("a packing in words", "attribute scale_factor of vs is '2', a text", "correct it", **V)
volume()
refused("a model smaller than the survey", "lies outside the model, x = 0 .. 960", "larger model",
        keymap="spread cable fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=341.7\nshot 11 1200 100 cable y=300\n", **V)

# Samples 33.3 m apart, written in km: the faces of the model come out with rounding, and what stands on them is inside.
with Dataset("km.nc", "w", format="NETCDF3_CLASSIC") as ds:
    for axis in "xyz":
        ds.createDimension(axis, 30)
        ds.createVariable(axis, "f8", (axis,)).units = "km"
        ds[axis][:] = (np.arange(30) + 0.5) * 33.3 / 1000
    ds.createVariable("vp", "f4", ("z", "y", "x")).units = "m/s"
    ds["vp"][:] = 1500
make(shots=1, vp="km.nc", layers="", fpeak=1, dx=None, depth=None, aperture=None)
Path("faces.list").write_text("1 0 300 0\n2 999 400 999\n3 500 0 0\n4 999 999 500\n")
Path("line.keymap").write_text("spread net list faces.list\nshot 11 500 300 net y=500\nshot 12 0 999 net y=0\n")
Path("job.par").write_text(Path("job.par").read_text().replace("layers = earth.layers\n", ""))
r = run("plan", "par=job.par")
claim(r.returncode == 0 and "shots      2" in r.stdout, f"sources and receivers on the faces of a model in km {r.stderr.strip()[:300]}")

# --- what is allowed, but said -----------------------------------------------------------------------------------------

make(shots=1)
said = {npml: "longest wavelength at the peak frequency, 1000 m" in run("plan", "par=job.par", "absorb=sponge", f"npml={npml}").stdout
        for npml in (12, 13)}
claim(said == {12: True, 13: False}, f"a sponge of less than half a wavelength is told of, a wider one is not: {said}")
fluid = "neither vs nor vp_vs is given: all that m.nc tells of is a fluid"
volume()
write_deck(layers=None, dx=None, aperture=None, depth=None, vp="m.nc", rho="m.nc", dispersion="warn")
Path("line.keymap").write_text("spread cable fixed x0=203.4 interval=43.7 channels=5 depth=52.3 y=341.7\nshot 11 253.3 111.7 cable y=312.3\n")
said = [fluid in run("plan", "par=job.par", *more).stdout for more in ((), ("vs=m.nc",), ("vp_vs=2",))]
claim(said == [True, False, False], f"rock without S waves is told of, with them it is not: {said}")
TWO_ROCKS = LAYERS + "280 4000 2300 2500\n"                       # beside a sea floor over one rock what the grid lacks is known
make(shots=1, layers=TWO_ROCKS)
write_keymap(shots=1, channels=8)                                # 1 to 6 are within 5 cells, 7 is 5.67 and 8 is 6.72 away
r = run("plan", "par=job.par")
claim(r.returncode == 0 and "7 receiver(s) are closer than 6 cells to their source, the first of them channel 1 of shot record 11, 94.5"
      in r.stdout, "plan says that receivers are too close to their source")
make(shots=1, half_length=2, coeffs="holberg", coeffs_error=5)
r = run("plan", "par=job.par")
claim("a smaller coeffs_error, now 5 %, makes it less" in r.stdout and "half the spacing leaves" not in r.stdout,
      "weights of a large error in all wavelengths: half the spacing, which is no better, is not given as the cure")
make(shots=1, layers=TWO_ROCKS, half_length=1, fpeak=2, dispersion="warn")
r = run("plan", "par=job.par")
claim(r.returncode == 0 and "5 receiver(s) are closer than 10 cells to their source" in r.stdout and "from 6 cells on with half-length 1" in r.stdout,
      f"with half-length 1 those closer than 10 cells {r.stderr[-300:]}")
make(shots=1, layers="0 3000 1500 2200\n", top="pml")
r = run("plan", "par=job.par")
claim(r.returncode == 0 and "receiver(s) are closer" not in r.stdout, "not so where what the grid lacks there is added")
done()
