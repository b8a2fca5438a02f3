#!/usr/bin/env python3
"""Groups of ranks model shots with the same bits as single ranks, each rank with the media of its own piece: volumes in NetCDF that are
regridded, on a hill below air, with Q; flat layers; a fault that takes its rigidity from the model, films and receivers close to the
source."""
import numpy as np
import xarray as xr

from check import claim, done
from mini3d import make, run, write_deck, write_keymap
from minisurvey import differences

CUTS = ((2, "2x1x1"), (2, "1x1x2"), (4, "2x2x1"))


def compare(name, *files, groups=1, cuts=CUTS, **words):
    """The job in job.par by single ranks and by groups."""
    more = [f"{k}={v}" for k, v in words.items()]
    r = run("par=job.par", f"output={name}.nc", *more)
    claim(r.returncode == 0, f"{name}: single ranks: exit status {r.returncode} {r.stderr[-500:] if r.returncode else ''}")
    for n, parts in cuts:
        said = f"{name}.{parts}.nc"
        r = run("par=job.par", f"output={said}", f"group={n}", f"decomposition={parts}", *more, ranks=1 + groups * n)
        wrong = [] if r.returncode else [w for f in ("", *files) for w in differences(f"{name}.nc{f}", f"{said}{f}")]
        claim(r.returncode == 0 and not wrong, f"{name}: {groups} group(s) of {n}, cut {parts}: the same file: {wrong}"
              f"{r.stderr[-800:] if r.returncode else ''}")


def volumes():
    """Rough rock of Q 20 to 60 below a hill, on 30 m, for a grid of 40 m."""
    rng = np.random.default_rng(7)
    n = 26
    x = (np.arange(n) + 0.5) * 30 - 60
    z = (np.arange(24) + 0.5) * 30 - 120
    rough = rng.uniform(0.93, 1.07, (z.size, n, n))
    rock = z[:, None, None] > 20 * np.sin(x[None, :, None] / 90) + 15 * np.cos(x[None, None, :] / 70)
    axes = {"z": ("z", z, {"units": "m", "positive": "down", "axis": "Z"}), "y": ("y", x, {"units": "m", "axis": "Y"}),
            "x": ("x", x, {"units": "m", "axis": "X"})}
    values = {"vp": (3000, "m/s"), "vs": (1700, "m/s"), "rho": (2200, "kg/m3"), "qp": (60, "1"), "qs": (30, "1")}
    xr.Dataset({k: (("z", "y", "x"), np.where(rock, v * rough, 0).astype("f4"), {"units": u}) for k, (v, u) in values.items()},
               coords=axes).to_netcdf("rock.nc", format="NETCDF3_64BIT")


FILMS = dict(snapshot=0.1, snapshot_planes="top,y20,x300,z250", snapshot_fields="vz,p")

make(shots=1, components="vx,vy,vz,p,szz,exy,wz", **FILMS)
compare("layers", ".snap11.nc", cuts=((2, "2x1x1"), (4, "2x2x1")))
make(shots=5, tmax=0.15, npml=4)
compare("shared", groups=2, cuts=((2, "1x2x1"),))

make(shots=1, layers="0 3000 1700 2200 60 30\n150 3500 2000 2300 200 100\n", components="vx,vz", source="explosion", m0="1e14", tmax=0.2)
with open("line.keymap", "a") as f:                       # close to the source in even rock: gets what the grid lacks
    f.write("spread close fixed x0=300 interval=23.3 channels=4 depth=331.2 y=11\nshot 40 310 341 close y=3\n")
compare("close", cuts=((2, "1x1x2"),))
make(shots=1, layers="0 3000 1700 2200\n80 3500 2000 2300\n", components="vx,p,exz", depth=3000, tmax=0.1)
compare("tall", cuts=((3, "1x1x3"),))                       # source and receivers where the lower pieces know no medium

volumes()
srf = "1.0\nPOINTS 2\n" + "".join(f"20 45 {z} 35 60 1e9 0 0.02\n-40 40 4 0 0 0 0\n0 20 20 10\n" for z in (0.0, 0.045))
with open("a.srf", "w") as f:
    f.write(srf)
write_keymap(1)
write_deck(layers=None, vp="rock.nc", vs="rock.nc", rho="rock.nc", qp="rock.nc", qs="rock.nc", model_format="netcdf", top="pml", dy=40, dz=40,
           source="fault", fault="a.srf", fault_lon=20, fault_lat=45, fmax=6, fpeak=None, components="vx,vy,vz", depth=None, aperture=160,
           **FILMS)
compare("volumes", ".snap11.nc", cuts=((2, "2x1x1"), (4, "1x2x2")))
done()
