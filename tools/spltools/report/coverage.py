"""Geometry of a survey: positions, midpoints, fold, offsets; of shots done by the file, of the others by the key-map."""
import numpy as np

from spltools import cli
from spltools.gathers.gathers import DONE, PARKED
from spltools.geometry import keymap

TRACES_MOST = 4000000              # midpoints looked at; of more every n-th
DRAWN_MOST = 20000                 # receivers on the map
BINS_MOST = 2000                   # along a line
BINS_3D = 160                      # along the longer side of a map
NICE = np.array([1.0, 1.25, 2.0, 2.5, 5.0, 6.25, 10.0])


class Coverage:
    """source (shots, 3) and status (shots) of the shots that are known, record (shots); receiver (n, 3), thinned; of midpoints
    (n): x, y, offset (signed in 2D), azimuth [degrees], shot, planned (shot not done), each counting for `weight` traces.
    three_d; attributes: of the file; interval: the distance of neighbouring receivers [m], 0 where they have no
    usual one; note: what is missing."""


def planned(path):
    """The shots of a key-map that are to be modelled {record: shot}, or a sentence why they are not known."""
    if not path:
        return {}, 'the key-map is not where the job read it: shots to do are not on the map'
    try:
        return {s.record: s for s in keymap.read_map(path) if not s.skip}, ''
    except (cli.Failure, OSError) as problem:
        return {}, f'shots to do are not on the map: {problem}'


def look(file, map_shots, note=''):
    """map_shots {record: shot} of the key-map."""
    c = Coverage()
    status = file.status
    known = [i for i in range(file.nshots) if status[i] == DONE or int(file.record[i]) in map_shots]
    spreads = [spread_of(file, i, status[i], map_shots) for i in known]
    c.record, c.status, c.three_d, c.note = file.record[known], status[known], file.three_d, note
    c.attributes = file.attributes
    c.source = np.array([s[0] for s in spreads]).reshape(-1, 3)
    counts = np.array([len(s[1][0]) for s in spreads], int)
    every = max(1, -(-int(counts.sum()) // TRACES_MOST))
    c.weight, c.traces = every, int(counts.sum())
    c.interval = interval_of([s[1] for s in spreads[::max(1, len(spreads) // 200)]], file.three_d)
    r = [np.stack([a[i % every::every] for a in s[1]]) for i, s in enumerate(spreads)]
    c.shot = np.repeat(np.arange(len(r)), [a.shape[1] for a in r])
    flat = np.concatenate([a.astype(float) for a in r], axis=1) if r else np.zeros((3, 0))
    dx, dy = flat[0] - c.source[c.shot, 0], flat[1] - c.source[c.shot, 1]
    c.x, c.y = flat[0] - 0.5 * dx, flat[1] - 0.5 * dy
    c.offset = np.hypot(dx, dy) if file.three_d else dx
    c.azimuth = np.degrees(np.arctan2(dx, dy)) % 360
    c.to_do = c.status[c.shot] != DONE
    c.spread = [(s[1][0].min(), s[1][0].max()) if len(s[1][0]) else (np.nan, np.nan) for s in spreads]
    points = np.unique(np.round(flat.T, 2), axis=0)
    c.positions = len(points)
    c.receiver = points[:: max(1, -(-len(points) // DRAWN_MOST))]
    return c


def spread_of(file, slot, status, map_shots):
    """((sx, sy, sz), (rx, ry, rz)) of a shot."""
    if status == DONE:
        g = file.gather(slot, file.components[0])
        return (g.sx, g.sy, g.sz), (g.rx, g.ry, g.rz)
    s = map_shots[int(file.record[slot])]
    return (s.sx, s.sy, s.sz), (np.asarray(s.rx, float), np.asarray(s.ry, float), np.asarray(s.rz, float))


def interval_of(receivers, three_d):
    """The distance that most neighbours of a spread have; 0 where there is none such, as of stations here and there."""
    steps = [np.hypot(np.diff(r[0]), np.diff(r[1]) if three_d else 0.0) for r in receivers if len(r[0]) > 1]
    steps = np.concatenate(steps) if steps else np.zeros(0)
    middle = float(np.median(steps)) if len(steps) else 0.0
    return middle if len(steps) and (np.abs(steps - middle) < 0.2 * middle).mean() > 0.6 else 0.0


def nice(width):
    """The smallest round number that is not smaller."""
    size = 10.0 ** np.floor(np.log10(max(width, 1e-6)))
    return float(size * NICE[np.searchsorted(NICE, width / size * (1 - 1e-9))])


def fold_2d(c):
    """(places x, fold done, fold of all, bin width) along x. Bins are half the receiver interval; of very many the largest fold of
    neighbours is kept."""
    width = max(c.interval / 2 or nice(np.ptp(c.x) / BINS_MOST), np.ptp(c.x) / 4e6, 1e-3)
    first = np.floor(c.x.min() / width + 0.5)
    at = (np.floor(c.x / width + 0.5) - first).astype(int)
    every = np.bincount(at) * c.weight
    done = np.bincount(at[~c.to_do], minlength=len(every)) * c.weight
    many = -(-len(every) // BINS_MOST)
    every, done = (np.pad(v, (0, -len(v) % many)).reshape(-1, many).max(axis=1) for v in (every, done))
    return (first + many * np.arange(len(every)) + 0.5 * (many - 1)) * width, done, every, width


def fold_3d(c):
    """(x edges, y edges, fold (ny, nx) of shots done, NaN where there is none)."""
    bins = float(np.clip(2 * np.sqrt(len(c.x)), 12, BINS_3D))
    width = max(nice(max(np.ptp(c.x), np.ptp(c.y), 1.0) / bins), c.interval / 2)
    edges = [np.arange(np.floor(a.min() / width), np.floor(a.max() / width) + 2) * width for a in (c.x, c.y)]
    h = np.histogram2d(c.x[~c.to_do], c.y[~c.to_do], edges)[0].T * c.weight
    return edges[0], edges[1], np.where(h > 0, h, np.nan)


def tally(file):
    """Shots done and parked by the file itself."""
    status = file.status
    return int((status == DONE).sum()), [int(r) for r in file.record[status == PARKED]]
