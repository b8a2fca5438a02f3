#!/usr/bin/env python3
"""A force and an explosion in rock of low Q, in absolute amplitude, against the exact solution for a constant Q (Aki & Richards 2002,
eq. 4.23, with the velocities of Kjartansson 1979, J. Geophys. Res. 84, 4737-4748), at twelve stations off the grid, pairs of which
symmetry makes equal. The model alone decides whether each cell has all mechanisms or one of them.

    t618_fd3d_low_q.py             some seconds: 2 of the shortest wavelengths
    t618_fd3d_low_q.py CELLS       the table of fortran/elastic3d/accuracy.md: Q = 10 .. 100, all ways, stations up to CELLS away, at 10
                                   points per shortest wavelength: so many tenths of wavelengths

B, PYTHONPATH as tests/run sets them."""
import sys
from pathlib import Path

import numpy as np
from netCDF4 import Dataset

from check import claim, done
from exact import Frequencies
from mini3d import run, traces, write_deck

VP, VS, RHO, H = 3000.0, 1700.0, 2300.0, 40.0
FORCE = np.array([1.0, 1.0, 0.7]) * 1e9
PAIRS = np.array([[0.96, 0.19, 0.23], [0.81, 0.55, 0.21], [0.69, 0.28, 0.67], [0.57, 0.53, 0.62], [0.33, 0.17, 0.93],
                  [0.87, 0.07, 0.49]])                         # directions; x and y change places for the others
OF = ("vx", "vy", "vz")


class Case:
    """Rock of one Qp and Qs, stations up to so many cells from the source."""

    def __init__(self, qp, qs, cells, points):
        self.qp, self.qs = qp, qs
        self.fmax = VS / (points * H)
        self.fpeak, self.delay = self.fmax / 2.5, 1.2 * 2.5 / self.fmax
        away = cells * H * np.linspace(0.55, 1, len(PAIRS))[:, None] * PAIRS / np.linalg.norm(PAIRS, axis=1)[:, None]
        self.away = np.concatenate([away, away[:, [1, 0, 2]]])
        self.tmax = 2 * self.delay + 1.1 * cells * H / VS
        self.dt_out = 1 / (5 * self.fmax)
        self.sum = Frequencies(self.tmax, 5 * self.fpeak, self.fpeak, self.delay)
        middle = self.fmax / np.sqrt(50)                       # of the band: there velocities are those of the model
        self.a, self.b = (c * np.cos(0.5 * np.arctan(1 / q)) * (-1j * self.sum.w / (2 * np.pi * middle))**(np.arctan(1 / q) / np.pi)
                          for c, q in ((VP, qp), (VS, qs)))
        self.source = np.full(3, 3.5 * H) + [4.1, 4.1, 9.3]

    def force(self, x):
        """Spectra of velocity (3, frequency) from FORCE, as exp(-i w t)."""
        w, r = self.sum.w, np.linalg.norm(x)
        y = x / r
        a, b = np.exp(1j * w * r / self.a), np.exp(1j * w * r / self.b)
        near = ((1 - 1j * w * r / self.a) * a - (1 - 1j * w * r / self.b) * b) / (-1j * w)**2 / r**3
        along, all_of = y * (y @ FORCE), FORCE
        u = (np.multiply.outer(3 * along - all_of, near) + np.multiply.outer(along, a / (self.a**2 * r))
             + np.multiply.outer(all_of - along, b / (self.b**2 * r))) / (4 * np.pi * RHO)
        return -1j * w * self.sum.q * u

    def explosion(self, x):
        """Likewise from an explosion of 1e15 N m a second: -M d/dr of exp(i k r)/(4 pi rho a^2 r)."""
        r = np.linalg.norm(x)
        k = self.sum.w / self.a
        return np.multiply.outer(x / r, -1e15 * (1j * k - 1 / r) * np.exp(1j * k * r) / (4 * np.pi * RHO * self.a**2 * r)) * self.sum.q

    def compare(self, kind, memory):
        """Per cent: of components off, of symmetry; the way of memory variables that the output tells."""
        Path("stations").write_text("".join(f"{i + 1} {s[0]} {s[2]} {s[1]}\n"
                                            for i, s in enumerate((self.source + self.away).tolist())))
        s = self.source
        Path("line.keymap").write_text(f"spread net list stations\nshot 1 {s[0]} {s[2]} net y={s[1]}\n")
        Path("rock.layers").write_text(f"0 {VP} {VS} {RHO} {self.qp} {self.qs}\n")
        source = {"source": "force", "fx": FORCE[0], "fy": FORCE[1], "fz": FORCE[2]} if kind == "force" else {
            "source": "moment", "mxx": 1e15, "myy": 1e15, "mzz": 1e15, "mxy": 0, "mxz": 0, "myz": 0}
        write_deck(layers="rock.layers", dx=H, aperture=3 * H, depth=float((s + self.away)[:, 2].max() + 4 * H), npml=8, half_length=4,
                   top="pml", fpeak=self.fpeak, fmax=self.fmax, delay=self.delay, tmax=self.tmax, dt_out=self.dt_out, components=",".join(OF),
                   memory_variables=memory, threads=0, **source)
        r = run("par=job.par", "overwrite=y")
        if r.returncode:
            claim(False, f"{kind}, {memory}: exit status {r.returncode}: {r.stderr[-500:]}")
            return np.inf, np.inf, ""
        got = np.stack([traces("out.nc", c)[0] for c in OF], 1)
        t = np.arange(got.shape[-1]) * self.dt_out
        want = np.stack([self.sum.traces(getattr(self, kind)(x).T, t) for x in self.away])
        size = np.linalg.norm(want, axis=2)
        size = np.maximum(size, 0.2 * np.linalg.norm(size, axis=1)[:, None])
        n = len(PAIRS)
        mirrored = np.linalg.norm(got[n:, [1, 0, 2]] - got[:n], axis=2) / size[:n]
        with Dataset("out.nc") as ds:
            way = ds.memory_variables
        return 100 * (np.linalg.norm(got - want, axis=2) / size).max(), 100 * mirrored.max(), way


def table(cells):
    for q in (10.0, 20.0, 40.0, 100.0):
        case = Case(q, q, cells, 10)
        for kind in ("force", "explosion"):
            for memory in ("all", "coarse", "coarse2001"):
                off, mirrored, _ = case.compare(kind, memory)
                print(f"Q = {q:g}, {kind}, {memory}: components within {off:.2f} %, symmetry within {mirrored:.2f} %", flush=True)


if len(sys.argv) > 1:
    table(int(sys.argv[1]))
    sys.exit()
for kind, q, cells, bound, way in (("force", (14.3, 20.0), 20, (1.5, 0.5), "all"), ("explosion", (10.0, 10.0), 16, (3.0, 0.5), "all"),
                                   ("force", (60.0, 40.0), 16, (1.5, 0.5), "coarse")):
    off, mirrored, taken = Case(*q, cells, 8).compare(kind, "auto")
    claim(off <= bound[0] and mirrored <= bound[1] and taken == way, f"{kind}, Qp, Qs = {q[0]:g}, {q[1]:g}, memory_variables={taken}, as "
          f"it must be ({way}): components within {off:.2f} % <= {bound[0]} %, symmetry within {mirrored:.2f} % <= {bound[1]} %")
done()
