#!/usr/bin/env python3
"""Contrasts of density that need a smaller time step are found before any shot, wherever in the model they are, also in models too
large to be looked at in one piece."""
import re
import struct
from pathlib import Path

from check import claim, done
from minisurvey import run

NX, NZ = 60, 40


def column(light):
    """Velocity and density: three samples of water, or of something light at the right end, over rock."""
    return [1900.0] * 3 + [2000.0] * (NZ - 3), [2.0 if light else 1000.0] * 3 + [2000.0] * (NZ - 3)


for name, which in (("vp.raw", 0), ("rho.raw", 1)):
    values = [v for i in range(NX) for v in column(i >= 50)[which]]
    Path(name).write_bytes(struct.pack(f"<{len(values)}f", *values))
Path("job.map").write_text("spread line fixed x0=500 interval=20 channels=10 depth=600\n"
                           "shots first_record=1 n=2 x0=600 dx=20 z=600 spread=line\n")
DECK = ("keymap=job.map", "vp=vp.raw", "rho=rho.raw", f"model_nx={NX}", f"model_nz={NZ}", "model_dx=100", "model_dz=100",
        "model_format=raw32", "regrid=nearest", "aperture=300", "half_length=4", "fpeak=4", "tmax=0.1", "output=out.nc")


def plan(*words):
    return run("plan", *DECK, *words)


def step(text):
    """The step [ms] that the contrasts need, and the one of the velocities alone."""
    found = re.search(r"contrasts of the model .* need a step of ([\d.]+) ms, where the velocities alone would allow ([\d.]+) ms", text)
    return (float(found[1]), float(found[2])) if found else (0, 0)


small = plan("dx=10", "dz=10")
needed, usual = step(small.stdout)
claim(small.returncode == 0 and 0 < needed < 0.95 * usual, f"590 x 390 cells: the contrasts need {needed} ms, velocities alone {usual} ms")
large = plan("dx=2", "dz=2")                  # more than the 4 million that are looked at in one piece
fine, usual_fine = step(large.stdout)
claim(large.returncode == 0 and abs(5 * fine - needed) < 0.02 * needed and abs(5 * usual_fine - usual) < 0.01 * usual,
      f"6 million cells of a fifth of that: {fine} and {usual_fine} ms")
for factor, status in ((0.99, 0), (1.02, 1)):
    r = plan("dx=10", "dz=10", f"dt={factor * needed / 1000:.9f}")
    claim(r.returncode == status and ("set dt to at most" in r.stdout + r.stderr) == (status == 1),
          f"dt of {factor} times the one needed: exit status {r.returncode}, must be {status}")
done()
