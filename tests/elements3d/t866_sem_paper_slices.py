#!/usr/bin/env python3
"""The meshes of tools/bench/paper-slices have the numbers of elements of Komatitsch, Michea & Erlebacher (2009), are right side out
at Gauss points, and fill their slices of the shell between core and surface: solid angle by the triangles of van Oosterom & Strackee
(1983), volume by Gauss's rule, exact for 8 nodes with 8 points and for 27 with 27."""
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from check import claim, done
from netCDF4 import Dataset

ELEMENTS = {1: (7424, 3), 2: (46592, 5.4), 3: (72800, 6.7)}
EARTH, CORE = 6371e3, 3480e3                                # [m]
SCRIPT = Path(os.environ["ROOT"]) / "tools" / "bench" / "paper-slices"
# Exodus II: nodes of HEX27 along xi, eta, zeta
NODES = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1), (0, -1, -1), (1, 0, -1),
                  (0, 1, -1), (-1, 0, -1), (-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0, -1, 1), (1, 0, 1), (0, 1, 1), (-1, 0, 1), (0, 0, 0),
                  (0, 0, -1), (0, 0, 1), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0)])


def slopes(per, place):
    """Derivatives of the functions of nodes at a place, (per, 3), from monomials."""
    powers = [p for p in np.ndindex(3, 3, 3) if per == 27 or max(p) < 2]
    at = NODES[:per].astype(float)
    values = np.array([[np.prod(x**np.array(p)) for p in powers] for x in at])
    wanted = np.array([[p[a] * place[a]**max(p[a] - 1, 0) * np.prod([place[b]**p[b] for b in range(3) if b != a]) for p in powers] for a in range(3)])
    return np.linalg.solve(values.T, wanted.T)


def jacobians(path):
    """Of all elements at the points of Gauss that make volumes exact, 8 or 27, (points, elements), and the weights."""
    with Dataset(path) as file:
        file.set_auto_mask(False)
        nodes = np.stack([file[f"coord{x}"][:] for x in "xyz"], 1)
        parts = [file[name][:] - 1 for name in file.variables if name.startswith("connect")]
    corners = nodes[np.concatenate(parts)]
    n = 3 if corners.shape[1] == 27 else 2
    one, weight = np.polynomial.legendre.leggauss(n)
    det = [np.linalg.det(np.einsum("enx,na->exa", corners, slopes(corners.shape[1], (one[i], one[j], one[k])))) for i, j, k in np.ndindex(n, n, n)]
    return np.array(det), np.array([weight[i] * weight[j] * weight[k] for i, j, k in np.ndindex(n, n, n)])


def solid_angle(degrees):
    """Of a square of great circles, each `degrees` away from the opposite one: two triangles of its corners."""
    t = math.tan(math.radians(degrees / 2))
    a, b, c, d = (np.array((x, y, 1)) / math.sqrt(x * x + y * y + 1) for x, y in ((-t, -t), (t, -t), (t, t), (-t, t)))
    return sum(2 * math.atan2(np.linalg.det([p, q, r]), 1 + p @ q + q @ r + r @ p) for p, q, r in ((a, b, c), (a, c, d)))


def main():
    for per, slices, within in ((8, (1, 2, 3), 1e-4), (27, (1,), 1e-9)):
        r = subprocess.run([sys.executable, str(SCRIPT), "--make", str(per), "--nodes", str(per), "--slices", *map(str, slices)],
                           capture_output=True, text=True)
        claim(r.returncode == 0, f"meshes of {per} nodes are made {r.stderr}")
        for number in slices:
            elements, angle = ELEMENTS[number]
            det, weight = jacobians(f"{per}/slice{number}.exo")
            exact = solid_angle(angle) * (EARTH**3 - CORE**3) / 3
            off = abs((weight @ det).sum() / exact - 1)
            claim(det.shape[1] == elements, f"slice {number}, {per} nodes: {det.shape[1]} elements, the paper has {elements}")
            claim(det.min() > 0, f"slice {number}, {per} nodes: Jacobians {det.min():.3g} .. {det.max():.3g} m3, all above 0; least over greatest of "
                                 f"an element {(det.min(0) / det.max(0)).min():.2f}")
            claim(off <= within, f"slice {number}, {per} nodes: its volume is that of its slice of the shell to {off:.1e}, bound {within:g}")


main()
done()
