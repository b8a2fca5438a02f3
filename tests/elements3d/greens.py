"""Green's function of an even medium in the frequency domain (Aki & Richards 2002, eq. 4.23)."""
import numpy as np


def green(omega, x, vp, vs, rho):
    """Displacement i by a force j of spectrum 1, (3, 3, omega); time as exp(i omega t), velocities complex where there is Q."""
    r = np.linalg.norm(x)
    g = x / r

    def wave(k):                                # exp(-ikr)/r and its two derivatives along r
        e = np.exp(-1j * k * r)
        return e / r, -e * (1j * k / r + 1 / r**2), e * (-(k**2) / r + 2j * k / r**2 + 2 / r**3)

    (s0, s1, s2), (_, p1, p2) = wave(omega / vs), wave(omega / vp)
    along, across = np.outer(g, g)[:, :, None], (np.eye(3) - np.outer(g, g))[:, :, None]
    return (np.eye(3)[:, :, None] * (omega / vs)**2 * s0 + along * (s2 - p2) + across * (s1 - p1) / r) / (4 * np.pi * rho * omega**2)
