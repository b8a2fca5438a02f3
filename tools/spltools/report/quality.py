"""Quality of shots: each is read whole, in blocks of traces, and compared with its checksum."""
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from spltools.gathers.gathers import DONE
from spltools.plot.figures import tapered

BLOCK = 4000000                    # samples read at once
SPECTRA = 12                       # traces of a shot whose spectra are taken
BINS = 200                         # frequencies kept
TAPER = 0.05                       # of a record: what its end cuts off would else fill all frequencies


class Quality:
    """Of a shot: fault, '' if it is whole; rms, peak, silent (traces that are 0), broken (that are not finite), spectrum (of
    frequencies(): rms of amplitudes, unit of the traces times s), middle (mean frequency, by energy) [Hz]."""


def frequencies(nt, dt):
    """Middles of the bins [Hz], and how many lines of the transform each has."""
    n = length(nt)
    per = max(1, -(-(n // 2) // BINS))
    count = (n // 2) // per
    return (np.arange(count) * per + 0.5 * (per - 1) + 1) / (n * max(dt, 1e-12)), per


def length(nt):
    return 1 << max(3, int(nt - 1).bit_length())


def of_shot(file, slot, component):
    q = Quality()
    q.fault = file.fault(slot)
    if q.fault:
        return q
    raw = file.gather(slot, component).raw
    nrec, nt = raw.shape
    f, per = frequencies(nt, file.dt)
    q.peak, energy, q.silent, q.broken, q.nrec = 0.0, 0.0, 0, 0, nrec
    rows = max(1, BLOCK // nt)
    for first in range(0, nrec, rows):
        block = np.asarray(raw[first:first + rows], np.float32)
        top = np.abs(block).max(axis=1)
        good = np.isfinite(top)
        q.silent += int((top == 0).sum())
        q.broken += int((~good).sum())
        largest = float(top[good].max(initial=0.0))
        q.peak = max(q.peak, largest)
        if largest > 0:
            scaled = (block if good.all() else block[good]) * np.float32(1.0 / max(largest, 1e-37))
            energy += float(np.einsum('ij,ij->i', scaled, scaled).sum(dtype=float)) * largest ** 2
    q.rms = (energy / max(1, nt * (nrec - q.broken))) ** 0.5
    some = np.asarray(raw[np.unique(np.linspace(0, nrec - 1, min(SPECTRA, nrec)).astype(int))] if nrec else raw, float)
    some = tapered(some[np.isfinite(some).all(axis=1)], TAPER)
    power = (np.abs(np.fft.rfft(some, length(nt), axis=1)[:, 1:1 + per * len(f)]) * file.dt) ** 2
    mean = power.mean(axis=0) if len(some) else np.zeros(per * len(f))
    q.spectrum = np.sqrt(mean.reshape(len(f), per).mean(axis=1))
    energies = q.spectrum ** 2
    q.middle = float(f @ energies / energies.sum()) if energies.any() else 0.0
    return q


class Survey:
    """Qualities of the shots of a file {slot: Quality}. A shot is read once: what a later look needs is remembered."""

    def __init__(self):
        self._known, self._map = {}, None

    def map_shots(self, read):
        """What `read` found of the key-map, which is read once."""
        if self._map is None:
            self._map = read()
        return self._map

    def look(self, file, component):
        """Reads the shots that are done and not known yet."""
        sums = file.numbers('checksum')
        done = np.flatnonzero(file.status == DONE)
        new = [s for s in done if self._known.get(s, (None,))[0] != (file.record[s], sums[s], component)]
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            for slot, q in zip(new, pool.map(lambda s: of_shot(file, s, component), new)):
                self._known[slot] = (file.record[slot], sums[slot], component), q
        return {int(s): self._known[s][1] for s in done}


def stand_out(file, qualities):
    """[(record, what)] of shots that differ from the others: damage first, then the largest differences."""
    whole = {s: q for s, q in qualities.items() if not q.fault}
    found = [(0, s, q.fault) for s, q in qualities.items() if q.fault]
    level = np.log10([q.rms for q in whole.values() if q.rms > 0] or [1.0])
    middle = float(np.median(level))
    limit = max(np.log10(3.0), 5 * 1.4826 * float(np.median(np.abs(level - middle))))
    usual = float(np.median([q.middle for q in whole.values()] or [0.0]))
    for s, q in whole.items():
        what, weight = [], 3.0
        if q.broken:
            what.append(f'{q.broken} of {q.nrec} traces have samples that are no numbers')
            weight = 1
        if q.silent:
            what.append(f'{q.silent} of {q.nrec} traces are zero at every sample')
            weight = min(weight, 2)
        if q.rms > 0 and abs(np.log10(q.rms) - middle) > limit:
            what.append(f'root mean square {q.rms / 10 ** middle:.3g} times that of the median shot')
        if usual and q.middle and not 0.6 < q.middle / usual < 1.6:
            what.append(f'mean frequency {q.middle:.3g} Hz, of the median shot {usual:.3g} Hz')
        if what:
            found.append((weight, s, '; '.join(what)))
    return [(int(file.record[s]), what) for _, s, what in sorted(found)]
