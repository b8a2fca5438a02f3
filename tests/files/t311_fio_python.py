#!/usr/bin/env python3
"""Python reads a file of gathers: header and slots recompute to their checksums, units stand on everything, xarray opens it."""
import os
import subprocess
import sys
import zlib

import numpy as np
from netCDF4 import Dataset

failed = 0


def claim(ok, sentence):
    global failed
    failed += not ok
    print(("ok   - " if ok else "FAIL - ") + sentence)


maker = os.path.join(os.environ["B"], "tests", "t310_fio_roundtrip")
subprocess.run([maker], stdout=subprocess.DEVNULL, check=True)
ds = Dataset("gathers.nc")
ds.set_auto_mask(False)
claim(ds.data_model == "NETCDF3_64BIT_DATA", f"the file is CDF-5: {ds.data_model}")

n, crc = int(ds["header_bytes"][...]), int(ds["header_crc32"][...])
found = zlib.crc32(open("gathers.nc", "rb").read(n))
claim(found == crc, f"CRC-32 of the first {n} bytes is {found:08x}, header_crc32 {crc:08x}")

for name in ("checksum", "run_checksum"):
    for slot in range(ds.dimensions["shot"].size):
        crc = 0
        for part in ds[name].order.split():
            v = ds[part]
            crc = zlib.crc32(np.asarray(v[slot], v.dtype.newbyteorder(">")).tobytes(), crc)
        claim(crc == ds[name][slot], f"{name} of slot {slot} recomputes to {crc:08x}, stored {ds[name][slot]:08x}")

nrec = ds["nrec"][:]
p = ds["pressure"][:]
claim(p.shape == (3, 5, 41) and p.dtype == np.float32, f"pressure is (shot, receiver, time) = {p.shape}, {p.dtype}")
claim(all(np.isnan(p[i, k:]).all() and np.isfinite(p[i, :k]).all() for i, k in enumerate(nrec)),
      f"receivers beyond nrec = {nrec} are NaN, the others numbers")
i = np.arange(1, 42)[None] * np.arange(1, 4)[:, None]
worst = np.abs(p[2, :3] - (np.sin(np.float32(0.1) * i) + 3)).max()
claim(worst < 1e-5, f"values of shot 309 are those put: largest difference {worst:.1e}, at most 1e-5")
claim(np.allclose(ds["time"][:], 0.004 * np.arange(41)), "time runs from 0 in steps of 0.004 s")
without = [v for v in ds.variables if not hasattr(ds[v], "long_name")]
claim(not without, f"variables without long_name: {without}, must be none")
physical = [v for v in ds.variables if ds[v].dtype.kind == "f" and v != "cells" and not hasattr(ds[v], "units")]
claim(not physical, f"physical variables without units: {physical}, must be none")
claim(ds["pressure"].units == "Pa" and ds["vz"].units == "m s-1", f"units {ds['pressure'].units} and {ds['vz'].units}")
claim(ds.title == "three small shots" and np.allclose(ds.weights, [1.125, -1 / 24]), "global attributes come back")
ds.close()

try:
    import xarray
except ImportError:
    print("SKIP - xarray is not installed")
else:
    with xarray.open_dataset("gathers.nc") as x:
        claim(x["pressure"].dims == ("shot", "receiver", "time") and x["time"].dtype == float
              and x["variant"].values[0] == b"fortran" and "receiver_x_used" in x["pressure"].coords,
              f"xarray opens it: {dict(x.sizes)}")
sys.exit(failed > 0)
