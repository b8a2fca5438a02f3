"""A shot in flat layers with stations close to its source."""
import numpy as np
from netCDF4 import Dataset

from check import claim, done
from mini3d import run

TOLD = "receiver(s) are closer than"


def near_shot(layers, place, stations, components, verb=(), ranks=1, **words):
    """Traces by component; with a verb what the program says. layers: depth [m], vp, vs, rho; place, stations [m]. A receiver that is told to
    be too close makes a failed claim."""
    with open("near.layers", "w", encoding="ascii") as f:
        f.writelines(" ".join(map(repr, map(float, row))) + "\n" for row in layers)
    x, y, z = map(float, place)
    with open("near.stations", "w", encoding="ascii") as f:
        f.writelines(f"{i + 1} {x} {z} {y}\n" for i, (x, y, z) in enumerate(np.asarray(stations).tolist()))
    with open("near.keymap", "w", encoding="ascii") as f:
        f.write(f"spread near list near.stations\nshot 1 {x!r} {z!r} near y={y!r}\n")
    words = {"keymap": "near.keymap", "layers": "near.layers", "aperture": 60, "npml": 8, "dispersion": "warn", "threads": 2,
             "components": ",".join(components), "output": "out.nc", "overwrite": "y", **words}
    r = run(*verb, *(f"{k}={v}" for k, v in words.items()), ranks=ranks)
    if r.returncode:
        claim(False, f"exit status {r.returncode}: {r.stderr[-400:]}")
        done()
    if verb:
        return r.stdout + r.stderr
    if TOLD in r.stderr:
        claim(False, "receivers for which all is known are told of")
    with Dataset("out.nc") as ds:
        return {c: ds["pressure" if c == "p" else c][0].filled(0).astype(float) for c in components}
