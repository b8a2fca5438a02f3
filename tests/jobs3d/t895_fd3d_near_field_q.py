#!/usr/bin/env python3
"""3D: velocity and rates of strain within a few cells of a tensor in rock that attenuates are those of the exact solution of constant Q, so
what is added there relaxes as the rock does; receivers on their source are told of as such."""
from pathlib import Path

import numpy as np
from check import claim, done
from exact import Frequencies, constant_q, force_in_rock
from mini3d import run, traces, write_deck

VP, VS, RHO, H = 3000.0, 1750.0, 2400.0, 10.0
FMAX = VS / (8 * H)
FPEAK, TMAX, DT_OUT = FMAX / 2.777, 0.55, 0.003
DELAY = 1.5 / FPEAK
TENSOR = np.array([[1.0, 0.7, -0.5], [0.7, -0.4, 0.9], [-0.5, 0.9, 0.3]]) * 1e12
SOURCE = np.array([213.7, 205.1, 178.3])
FAR = (0.3, 0.8, 1.5, 2.5, 4.0, 5.5)                             # cells
rng = np.random.default_rng(20261127)
WAYS = rng.normal(size=(len(FAR), 3))
PLACES = WAYS / np.linalg.norm(WAYS, axis=1)[:, None] * np.array(FAR)[:, None] * H
FREQUENCIES = Frequencies(TMAX, 3.2 * FMAX, FPEAK, DELAY)
W = FREQUENCIES.w


def slope(f, x, k, h):
    e = np.eye(3)[k] * h
    return (45 * (f(x + e) - f(x - e)) - 9 * (f(x + 2 * e) - f(x - 2 * e)) + (f(x + 3 * e) - f(x - 3 * e))) / (60 * h)


def exact(x, cp, cs, t):
    """vx, vy, vz, exx, exz at x from the tensor."""
    h = 0.03 * np.linalg.norm(x)

    def moved(y):
        return -sum(np.einsum("ijw,j->iw", slope(lambda z: force_in_rock(z, cp, cs, RHO, W), y, k, h), TENSOR[:, k]) for k in range(3)) * FREQUENCIES.q
    dx, dz = slope(moved, x, 0, h), slope(moved, x, 2, h)
    return FREQUENCIES.traces(np.vstack([moved(x), dx[0], (dx[2] + dz[0]) / 2]).T, t)


def compare(qp, qs, reference, most, coarse):
    Path("line.keymap").write_text(f"spread net list stations\nshot 1 {SOURCE[0]} {SOURCE[2]} net y={SOURCE[1]}\n")
    Path("stations").write_text("".join(f"{i + 1} {s[0]!r} {s[2]!r} {s[1]!r}\n" for i, s in enumerate((SOURCE + PLACES).tolist())))
    Path("rock.layers").write_text(f"0 {VP} {VS} {RHO} {qp} {qs}\n")
    r = run("par=job.par", f"q_ref={reference}", "overwrite=y")
    if r.returncode:
        claim(False, f"exit status {r.returncode}: {r.stderr[-500:]}")
        return
    got = np.stack([traces("out.nc", c)[0] for c in ("vx", "vy", "vz", "exx", "exz")], 1)
    t = np.arange(got.shape[-1]) * DT_OUT
    worst = [0.0, 0.0]
    for i, x in enumerate(PLACES):
        want = exact(x, constant_q(VP, qp, W, reference), constant_q(VS, qs, W, reference), t)
        for n, part in enumerate((slice(3), slice(3, 5))):
            worst[n] = max(worst[n], 100 * np.linalg.norm(got[i, part] - want[part]) / np.linalg.norm(want[part]))
    claim(worst[0] < most and worst[1] < most, f"Qp, Qs = {qp:g}, {qs:g}, velocities right at {reference:.3g} Hz, {FAR[0]} to {FAR[-1]} cells away: velocity "
          f"{worst[0]:.2f}, rates of strain {worst[1]:.2f} % from the exact ones, bound {most} %")
    claim(("closer than 6 cells" in r.stderr) is coarse, f"the log {'says' if coarse else 'does not say'} that they are too close")


tensor = {"m" + "xyz"[i] + "xyz"[j]: TENSOR[i, j] for i in range(3) for j in range(i, 3)}
write_deck(layers="rock.layers", dx=H, aperture=45, depth=300, npml=8, half_length=2, top="pml", fpeak=FPEAK, fmax=FMAX, delay=DELAY, tmax=TMAX,
           dt_out=DT_OUT, components="vx,vy,vz,exx,exz", source="moment", q_f1=FMAX / 30, q_f2=FMAX, dispersion="warn", forecast=0, **tensor)
compare(30.0, 15.0, FPEAK, 1.0, False)                                  # 1/Q: 6.7 %
compare(60.0, 40.0, 0.3 * FPEAK, 1.8, True)                            # one mechanism in a cell
Path("stations").write_text("".join(f"{i + 1} {s[0]!r} {s[2]!r} {s[1]!r}\n" for i, s in enumerate([(SOURCE + PLACES[3]).tolist(), SOURCE.tolist()])))
Path("rock.layers").write_text(f"0 {VP} {VS} {RHO} 30 15\n")
said = " ".join(run("plan", "par=job.par").stdout.split())
claim("1 receiver(s) stand on their source, the first of them channel 2 of shot record 1" in said and "closer than 6 cells" not in said,
      "a receiver on its source is told of as such, in a medium that is the same all around")
done()
