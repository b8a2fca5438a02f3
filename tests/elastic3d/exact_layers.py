"""All that a 3D job records of a moment in flat layers, by the exact motion of layers (tools/spltools/reference/layered_motion.py) and its
differences."""
import numpy as np

from spltools.reference.layered_motion import Layers, layered_velocity

AXES = {"x": 0, "y": 1, "z": 2}
VELOCITY = ("vx", "vy", "vz")
STRESS = ("sxx", "syy", "szz", "sxy", "sxz", "syz")
SLOPES = ("exx", "eyy", "ezz", "exy", "exz", "eyz", "wx", "wy", "wz")


def exact_components(rows, source, m, stations, spectrum, most, times, step=1.0):
    """Components by name of each station, (stations, times): motion, and by differences over twice a step [m] within the medium of the station
    the rest. source: depth [m], m: tensor [N m], stations: (n, 3) from the place above it, spectrum: of the moment rate, most: the highest
    frequency [Hz], times: evenly spaced [s]."""
    layers, dt = Layers(rows), times[1] - times[0]
    at = stations[:, None] + step * np.array([[0, 0, 0], *np.eye(3), *-np.eye(3)])
    v = layered_velocity(layers, source, m, at.reshape(-1, 3), spectrum, most, times).reshape(len(stations), 7, 3, len(times))
    slope = (v[:, 1:4] - v[:, 4:7]) / (2 * step)                        # (station, along, component, time)
    found = {f"v{c}": v[:, 0, a] for c, a in AXES.items()}
    for e in SLOPES[:6]:
        a, b = AXES[e[1]], AXES[e[2]]
        found[e] = (slope[:, a, b] + slope[:, b, a]) / 2
    for a, name in enumerate(SLOPES[6:]):
        b, c = (a + 1) % 3, (a + 2) % 3
        found[name] = (slope[:, b, c] - slope[:, c, b]) / 2
    here = [layers.holds(z) for z in stations[:, 2]]
    mu = (layers.rho * layers.vs**2)[here][:, None]
    lam = (layers.rho * layers.vp**2)[here][:, None] - 2 * mu
    for s in STRESS:
        rate = 2 * mu * found["e" + s[1:]] + (lam * sum(found[f"e{c}{c}"] for c in "xyz") if s[1] == s[2] else 0)
        found[s] = np.cumsum(rate, 1) * dt - rate * dt / 2
    found["p"] = -(found["sxx"] + found["syy"] + found["szz"]) / 3
    return found
