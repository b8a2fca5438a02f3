#!/usr/bin/env python3
"""The same mesh of water over rock with nodes and elements numbered and turned at random gives the same traces but for rounding; one
that comes from files of Gmsh 2.2 and 4.1, text and binary, and from a folder of SPECFEM gives the same bits. SEED may be given."""
import os
import subprocess
import sys
from pathlib import Path

import meshfiles
import numpy as np
from check import claim, done, given_seed
from minisem import run
from netCDF4 import Dataset
from spltools.mesh import exodus, hexahedron
from spltools.mesh.mesh import Block, Mesh


MESH = [sys.executable, str(Path(os.environ["ROOT"]) / "tools" / "spl-mesh")]
SEED = given_seed()


def mesh_tool(*words):
    r = subprocess.run([*MESH, *map(str, words), "--overwrite"], capture_output=True, text=True)
    claim(r.returncode == 0, f"spl-mesh {words[0]}: exit status {r.returncode} {r.stderr}")


def traces(mesh, **deck):
    r = run(f"mesh={mesh}", f"output={mesh}.nc", *[f"{k}={v}" for k, v in deck.items()], "threads=2", "components=vx,vy,vz", "overwrite=y")
    if r.returncode:
        claim(False, f"{mesh}: exit status {r.returncode} {r.stderr[-400:]}")
        return np.full((3, 1, 1, 1), np.nan)
    with Dataset(f"{mesh}.nc") as file:
        return np.stack([file[c][...].filled(np.nan) for c in ("vx", "vy", "vz")])


def renumbered(source, target, dice):
    """Nodes and elements in random order, each element turned at random; without the sets of sides, which the solver does not need."""
    with Dataset(source) as file:
        file.set_auto_mask(False)
        nodes = np.stack([file[f"coord{x}"][:] for x in "xyz"], 1)
        parts = [file[f"connect{b}"][:] - 1 for b in (1, 2)]
    place = dice.permutation(len(nodes))
    moved = np.empty_like(nodes)
    moved[place] = nodes
    corners = hexahedron.CORNERS
    turns = [[int(np.flatnonzero((corners == corner @ turn).all(1))[0]) for corner in corners]
             for turn in (np.eye(3, dtype=int)[list(axes)] * (1 - 2 * np.array(signs)) for axes in
                          ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)) for signs in np.ndindex(2, 2, 2))
             if np.linalg.det(turn) > 0]
    rows = [np.stack([place[e][turns[dice.integers(24)]] for e in part[dice.permutation(len(part))]]) for part in parts]
    block = np.repeat([0, 1], [len(part) for part in rows])
    exodus.write(target, Mesh(moved, np.concatenate(rows), block, [Block(1, "water"), Block(2, "rock")], []), "renumbered", True)


def test_renumbered():
    mesh_tool("box", "-o", "box.exo", "--x", 0, 700, "--y", 0, 700, "--z", -700, 0, "--elements", 7, 7, 7, "--shake", 0.1, "--seed", SEED,
              "--block", "water:top", "--block", "rock:-300")
    Path("box.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100\n")
    Path("box.keymap").write_text("spread cable fixed x0=203.4 interval=143.7 channels=4 depth=370.7 y=341.7\n"
                                  "shots first_record=1 n=1 x0=353.3 dx=1 z=151.7 y=512.3 spread=cable\n")
    deck = dict(keymap="box.keymap", materials="box.materials", fpeak=3.5, tmax=0.7)
    renumbered("box.exo", "mixed.exo", np.random.default_rng(SEED))
    one, other = traces("box.exo", **deck), traces("mixed.exo", **deck)
    off = np.linalg.norm(one - other) / np.linalg.norm(one)
    claim(off <= 1e-5 and np.abs(one).max() > 0, f"nodes and elements renumbered and turned at random, seed {SEED}: traces differ by "
                                                 f"{off:.1e}, bound 1e-5")


def test_files():
    mesh = meshfiles.Bent(8)
    Path("specfem").mkdir()
    meshfiles.write_specfem(mesh, lambda name, text: (Path("specfem") / name).write_text(text))
    sources = ["specfem"]
    for version, write in (("2.2", meshfiles.write_msh22), ("4.1", meshfiles.write_msh41)):
        for binary in (False, True):
            sources.append(f"{version}_{'binary' if binary else 'text'}.msh")
            write(sources[-1], mesh, binary)
    Path("bent.materials").write_text("1 3000 1700 2300\n2 2600 1500 2100\n")
    x, y = 1800 * np.cos(0.5), 1800 * np.sin(0.5)
    Path("bent.keymap").write_text(f"spread cable fixed x0={x} interval=90 channels=3 depth=200 y={y}\n"
                                   f"shots first_record=1 n=1 x0={x - 210} dx=1 z=400 y={y + 30} spread=cable\n")
    first = None
    for source in sources:
        mesh_tool("convert", source, "-o", f"{source}.exo")
        got = traces(f"{source}.exo", keymap="bent.keymap", materials="bent.materials", source="explosion", m0=1e15, fpeak=0.5, tmax=3,
                     dt_out=0.02)
        first = got if first is None else first
        claim(got.size > 3 and np.abs(got).max() > 0 and np.array_equal(got, first), f"traces on the mesh of {source}: the same bits")


test_renumbered()
test_files()
done()
