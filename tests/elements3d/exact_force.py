"""The exact motion of layers (tools/spltools/reference/layered_motion.py) for a force too: its part of a wavenumber's waves."""
import numpy as np

from spltools.reference import layered_motion

of_moment = layered_motion.forces


def forces(m, k):
    """Of a tensor, or of a force (x, y, z), whose spectrum is that of its rate: (order, direction u, w, v, [plain, by the source's depth], k)."""
    if len(m) == 6:
        return of_moment(m, k)
    x, y, z = m
    f = np.zeros((5, 3, 2, len(k)), complex)
    f[2, 1, 0] = z
    for n in (-1, 1):
        f[2 + n, 0, 0] = (x - n * 1j * y) / 2
        f[2 + n, 2, 0] = (n * 1j * x + y) / 2
    return f


layered_motion.forces = forces
