#!/usr/bin/env python3
"""What a mesh or a survey on it has wrong is told before the first shot: parts that are not joined, by SplSemmod and spl-mesh check alike;
elements numbered upside down; coordinates in kilometres; records that a free side makes 0, level or leaning, and sources there; records that
end before a wave comes. The traces confirm it. Sources and receivers at random places."""
import os
import random
import re
import subprocess
from pathlib import Path

import netCDF4
import numpy as np

from check import claim, done, given_seed
from minisem import run
from meshfiles import EXODUS, places

TOOL = str(Path(os.environ["ROOT"]) / "tools" / "spl-mesh")
SEED = given_seed()
rng = random.Random(SEED)
DECK = dict(keymap="line.keymap", mesh="mesh.exo", materials="materials", components="vx,vz", fpeak=3.5, tmax=1, threads=1, output="out.nc", overwrite="y")
ROCK, WATER = "* 2600 1500 2100\n", "* 1500 0 1000\n"
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])


def box(low, n, size=100.0):
    """Nodes and elements, from 0, of a box of cubes."""
    grid = np.array([(i, j, k) for k in range(n[2] + 1) for j in range(n[1] + 1) for i in range(n[0] + 1)])
    first = np.array([(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])])
    corner = first[:, None] + CORNERS
    return grid * size + np.array(low, float), corner @ [1, n[0] + 1, (n[0] + 1) * (n[1] + 1)]


def box27(low, n, size=100.0):
    """The same of 27 nodes; and which nodes lie in the middle along x."""
    nodes = 2 * np.array(n) + 1
    grid = np.array([(i, j, k) for k in range(nodes[2]) for j in range(nodes[1]) for i in range(nodes[0])])
    first = 2 * np.array([(i, j, k) for k in range(n[2]) for j in range(n[1]) for i in range(n[0])]) + 1
    node = first[:, None] + places(EXODUS, 27)
    return grid * size / 2 + np.array(low, float), node @ [1, nodes[0], nodes[0] * nodes[1]], grid[:, 0] % 2 == 1


def write(*boxes, change=lambda x, e: (x, e), sets=()):
    """mesh.exo of one or several boxes, which have no nodes in common; sets: (name, elements, side), from 1."""
    nodes = np.vstack([x for x, _ in boxes])
    first = np.cumsum([0] + [len(x) for x, _ in boxes])
    nodes, elements = change(nodes, np.vstack([e + f for (_, e), f in zip(boxes, first)]))
    with netCDF4.Dataset("mesh.exo", "w", format="NETCDF3_CLASSIC") as file:
        for name, length in (("num_dim", 3), ("num_nodes", len(nodes)), ("num_elem", len(elements)), ("num_el_blk", 1),
                             ("num_el_in_blk1", len(elements)), ("num_nod_per_el1", elements.shape[1])):
            file.createDimension(name, length)
        for x, values in zip("xyz", nodes.T):
            file.createVariable("coord" + x, "f8", ("num_nodes",))[:] = values
        variable = file.createVariable("connect1", "i4", ("num_el_in_blk1", "num_nod_per_el1"))
        variable.elem_type = f"HEX{elements.shape[1]}"
        variable[:] = elements + 1
        for n, (_, members, side) in enumerate(sets, 1):
            file.createDimension(f"num_side_ss{n}", len(members))
            file.createVariable(f"elem_ss{n}", "i4", (f"num_side_ss{n}",))[:] = members
            file.createVariable(f"side_ss{n}", "i4", (f"num_side_ss{n}",))[:] = side
        if sets:
            file.createDimension("num_side_sets", len(sets))
            file.createDimension("len_name", 33)
            letters = file.createVariable("ss_names", "S1", ("num_side_sets", "len_name"))
            letters[:] = np.array([list(name.ljust(33, "\0")) for name, _, _ in sets], "S1")


def survey(source, *receivers, materials=ROCK):
    """Places x, y, z, z down [m]."""
    Path("materials").write_text(materials)
    Path("c.receivers").write_text("".join(f"{i} {x} {z} {y}\n" for i, (x, y, z) in enumerate(receivers, 1)))
    Path("line.keymap").write_text(f"spread c list c.receivers\nshot 1 {source[0]} {source[2]} c y={source[1]}\n")


def said(*verb, **changes):
    r = run(*verb, *[f"{k}={v}" for k, v in {**DECK, **changes}.items()])
    return r.returncode, r.stdout + r.stderr


def refused(sentence, *phrases, **changes):
    for p in Path().glob("out.nc*"):
        p.unlink()
    status, text = said(**changes)
    missing = [p for p in phrases if p not in text]
    claim(status == 1 and not missing and not Path("out.nc").exists(), f"{sentence}: refused {'lacks ' + repr(missing) if missing else ''}: "
          f"{text.strip()[-330:]}")


def warned(sentence, *phrases, modelled=False, **changes):
    status, text = said(*([] if modelled else ["plan"]), **changes)
    here = [line for line in text.splitlines() if "warning" in line and all(p in line for p in phrases)]
    claim(status == 0 and len(here) == 1, f"{sentence}: {here[0].strip()[:330] if here else text[-400:]}")


def silent(sentence, *phrases, **changes):
    status, text = said("plan", **changes)
    found = [p for p in phrases if p in text]
    claim(status == 0 and not found, f"{sentence}: no word of it {found or ''}{text[-300:] if status else ''}")


def largest(component):
    with netCDF4.Dataset("out.nc") as file:
        return np.abs(file[component][0].filled(np.nan).astype(float)).max(-1)


def within(low, high):
    return round(rng.uniform(low, high), 1)


# --- parts ----------------------------------------------------------------------------------------------------------------

ONE = box((0, 0, -600), (7, 6, 6))
survey((300, 300, 200), (within(50, 650), within(50, 550), 150))
for sentence, gap in (("apart", (within(750, 900), 0, -600)), ("half a metre apart", (700.5, 0, -600)),
                      ("through each other", (within(310, 390), within(10, 90), within(-690, -610)))):
    write(ONE, box(gap, (7, 6, 6)))
    refused(f"two boxes {sentence}", "element 253 of block 1", "in 2 parts that no wave goes between, 252 of 504 elements in the first")
    r = subprocess.run([TOOL, "check", "mesh.exo"], capture_output=True, text=True)
    claim(r.returncode == 1 and "in 2 parts that share no sides, 252 of 504 elements in the first; the next begins with element 253" in r.stderr,
          f"and by spl-mesh check: {r.stderr.strip()[:250]}")
chain = [((k % 5) * 100, (k // 5 % 4) * 100, k // 20 * 100 - 300) for k in rng.sample(range(60), 45)]
corners = (np.array(chain)[:, None] + 100 * CORNERS).reshape(-1, 3)
nodes, number = np.unique(corners, axis=0, return_inverse=True)
write((nodes, number.reshape(-1, 8)))
left, parts = set(map(tuple, np.array(chain) // 100)), 0
while left:                                        # counted by walking through the cubes
    walk, parts = [left.pop()], parts + 1
    while walk:
        here = np.array(walk.pop())
        for step in np.vstack([np.eye(3, dtype=int), -np.eye(3, dtype=int)]):
            if tuple(here + step) in left:
                left.remove(tuple(here + step))
                walk.append(tuple(here + step))
status, text = said("plan")
r = subprocess.run([TOOL, "check", "mesh.exo"], capture_output=True, text=True)
told = [re.findall(r"the mesh is in (\d+) parts", one) or ["1"] for one in (text, r.stderr)]
claim(told == [[str(parts)]] * 2, f"45 of 60 cubes of a box at random: {parts} parts, told {told}")

Path("lossy").write_text("* 2600 1500 2100 1 1\n")

# --- hollows --------------------------------------------------------------------------------------------------------------

CAVE = rng.sample([i + 7 * (j + 6 * k) for i in (1, 3, 5) for j in (1, 4) for k in (1, 3)], 2)    # elements apart from each other and from outside
write(ONE, change=lambda x, e: (x, np.delete(e, CAVE, 0)))
warned("two elements lack", "12 sides in no side set of a name with free or abs lie around hollows inside of the mesh")
write(ONE, change=lambda x, e: (x, np.delete(e, [3, 248], 0)))
silent("elements lack at the outside", "hollow")
write(ONE)
refused("Q of 1", "is too small: 100 % of the modulus would relax", materials="lossy")

# --- upside down, kilometres ---------------------------------------------------------------------------------------------

write(ONE, change=lambda x, e: (x, e[:, [4, 5, 6, 7, 0, 1, 2, 3]]))
refused("all elements upside down", "252 of 252 elements are", "spl-mesh convert turns them")
r = subprocess.run([TOOL, "convert", "mesh.exo", "-o", "turned.exo"], capture_output=True, text=True)
silent("and after spl-mesh convert", "inside out", mesh="turned.exo")
write(ONE, change=lambda x, e: (x / 1000, e))
survey((.3, .3, .2), (.1, .2, .1))
warned("mesh and key-map in kilometres", "the mesh is 0.7 m long", "are these kilometres?")

LAYERS = dict(mesh="layers", layers="tops", mesh_x1=700, mesh_y1=600, mesh_bottom=600, mesh_dx=100, mesh_dy=100, mesh_dz=100)
survey((300, 300, 200), (100, 200, 100), materials="soil 2000 1200 1900\nrock 2600 1500 2100\n")
for metres, word in ((within(1, 4), warned), (within(9, 90), silent)):      # the shortest wave is 1200 m/s over 9.7 Hz long
    Path("tops").write_text(f"soil 0\nrock {metres}\n")
    word(f"soil of {metres:g} m over rock to 600 m", *([f"end within {metres:g} m, of 600 m"] if word is warned else ["kilometres"]), **LAYERS)

# --- memory beside the source ----------------------------------------------------------------------------------------------

write(box((0, 0, -900), (9, 9, 9)))
told = []
for away in (within(105, 140), within(310, 350)):                           # [m] of elements 100 m long; 260 m and more need no help
    survey((440, 460, 455), (440 + away, 460, 455))
    told.append(float(re.search(r"memory +([\d.]+) MB a worker", said("plan", forecast=0)[1])[1]))
claim(3 < told[0] - told[1] < 11, f"plan counts the memory of what is solved around a source: {told[0]} MB a worker, {told[1]} without")

# --- media -----------------------------------------------------------------------------------------------------------------

write(ONE)
survey((300, 300, 200), (100, 200, 100), materials="* 2600 1500 2.1\n")
refused("a density in g/cm3", "line 1: rho = 2.1 kg/m3 with vp = 2600 m/s is that of no rock or fluid (g/cm3?")
survey((300, 300, 200), (100, 200, 100))
np.full(1000, 2000, "f4").tofile("vp.bin")
refused("volumes that no block takes", "vp = vp.bin has no effect", "the word volume", vp="vp.bin",
        **{f"model_{w}{x}": 10 if w == "n" else 100 for w in "nd" for x in "xyz"})
refused("what is told of volumes, without them", "rho_value = 2000", "has no effect: it is of volumes", rho_value=2000)
refused("planes of pictures that are not asked for", "snapshot_planes = surface", "give snapshot=SECONDS too", "pgv_depth = 30", "give pgv=y too",
        snapshot_planes="surface", pgv_depth=30)

for strength in (1e-27, 1e-30):
    refused(f"a force of {strength} N", "too weak for single precision", "model another strength", source="force", fz=strength)
survey((333, 250, 280), (within(50, 650), within(50, 550), 150), materials=WATER)
refused("shear stress in water", "every trace would be 0: all receivers stand in a fluid", components="sxz")
warned("shear stress in water among others", "stand in a fluid, which has no shear stress, the first of them channel 1", components="p,syz")
survey((300, 300, 200), (100, 200, 100))
refused("a moment too weak", "too weak for single precision", source="moment", mxx=1e-30)
near, far = within(10, 41), within(45, 400)            # [m]; a tenth of the wavelength of sound at the peak frequency is 42.9 m
silent(f"an ocean of {near} m", "water of ocean_load", ocean_load=near)
warned(f"one of {far} m", f"the water of ocean_load is up to {far:.4g} m deep, more than a tenth of the wavelength", ocean_load=f"{far}*exp(-(x-300)^2)")

# --- free sides ------------------------------------------------------------------------------------------------------------

ZERO = "traces vanish"
LEVEL = [(within(100, 600), within(100, 500), 0) for _ in range(2)] + [(within(100, 600), within(100, 500), within(100, 300))]
write(ONE)
survey((333, 250, 280), *LEVEL[:2], materials=WATER)
refused("p on the free side of water", "every trace would be 0: p on the free surface", components="p")
refused("and from there as `surface`", "every trace would be 0: p on the free surface", components="p", receiver_z="surface")
survey((333, 250, 280), *LEVEL, materials=WATER)
warned("p, vx, uz there and below", f"4 of 9 {ZERO}: p, vx on", "channel 1", components="p,vx,uz", modelled=True)
zero = [largest(c) for c in ("pressure", "vx")]
scale = zero[0][2], 22 * largest("uz").max()        # 22: 2 pi times 3.5 Hz
claim(all((z[:2] < 1e-3 * one).all() for z, one in zip(zero, scale)) and largest("uz").min() > 0.05 * largest("uz").max(),
      f"and so it is: largest p {zero[0]}, vx {zero[1]}, uz {largest('uz')}")
survey(LEVEL[0], LEVEL[2], materials=WATER)
refused("injection of volume on the free side of water", "lies on a free side and would radiate nothing")
Path("rock").write_text(ROCK)
silent("a force in rock there", "radiate", source="force", fz=1e9, materials="rock")
refused("mxz on that of rock", "would radiate nothing", source="moment", mxz=1e12, materials="rock")
survey((333, 250, 280), *LEVEL)
warned("szz there on rock", f"2 of 6 {ZERO}: szz on", "what is recorded there is rounding", components="szz,vz", modelled=True)
szz = largest("szz")
claim((szz[:2] < 1e-5 * szz[2]).all(), f"and so it is: {szz}")
silent("sxx, vx on rock", ZERO, components="sxx,vx")
silent("szz where an ocean weighs on it", ZERO, components="szz,vz", ocean_load=50)
slope = rng.uniform(0.05, 0.3)
write(ONE, change=lambda x, e: (x + np.outer(slope * x[:, 0] * (1 + x[:, 2] / 600), [0, 0, 1]), e))
survey((333, 250, 280), *LEVEL)
silent(f"szz on a slope of {slope:.3f} of rock", ZERO, components="szz,vz", receiver_z="surface")
survey((333, 250, 280), *LEVEL, materials=WATER)
warned("p and vx on one of water", f"2 of 6 {ZERO}: p on", components="p,vx", receiver_z="surface")
survey((within(100, 600), within(100, 500), 0), LEVEL[2], materials=WATER)
refused("injection of volume on that slope of water", "lies on a free side and would radiate nothing", source_z="surface")
silent("mxz on that slope of rock", "radiate", source="moment", mxz=1e12, source_z="surface", materials="rock")
Path("quality").write_text("block vp vs rho Qkappa Qmu\n* 2600 1500 2100 0.5 40\n")
refused("Qkappa of 0.5", "line 2: quality factors Qkappa = 0.5, Qmu = 40, must be 1 or more", materials="quality")

# --- hydrophones on the sea floor -------------------------------------------------------------------------------------------

subprocess.run([TOOL, "box", "-o", "sea.exo", "--x", "0", "700", "--y", "0", "600", "--z", "-600", "0", "--elements", "7", "6", "6",
                "--block", "water:top", "--block", "rock:-300"], check=True, capture_output=True)
Path("sea.materials").write_text("water 1500 0 1000\nrock 2600 1500 2100\n")
SEA = dict(mesh="sea.exo", materials="sea.materials", components="p,vz", receiver_z="seafloor", tmax=0.7)
at = [(within(450, 600), within(250, 400)) for _ in range(2)]
survey((130, 200, 150), (*at[0], 0), (*at[1], -0.01), (*at[0], -0.01))
warned("a hydrophone on the sea floor, others 1 cm above", "1 receiver(s) of p lie on a contact", "channel 1 of shot record 1", "0.01 m", modelled=True,
       **SEA)
with netCDF4.Dataset("out.nc") as file:
    p, vz = (file[c][0].filled(np.nan).astype(float) for c in ("pressure", "vz"))
off = [np.linalg.norm(a[0] - a[2]) / np.linalg.norm(a[2]) for a in (p, vz)]
claim(off[0] > 0.3 and off[1] < 0.05, f"and so it is: on the floor p differs by {off[0]:.2f} of it, vz by {off[1]:.4f}")
silent("geophones there", "lie on a contact", **SEA | {"components": "vx,vz"})

# --- air guns and explosions there ------------------------------------------------------------------------------------------

SEA |= {"components": "p", "source_z": "seafloor", "receiver_z": "level"}
GUN = "1 source(s) of volume or explosion lie on a contact"
beside = [(x, y, within(60, 200)) for x, y in at]


def gun(z, **source):
    survey((within(130, 200), within(130, 200), z), *beside)
    return SEA | source


warned("an air gun on the sea floor", GUN, "that of shot record 1", "0.01 m", **gun(0))
warned("an explosion there", GUN, **gun(0, source="explosion", m0=1e12))
silent("an air gun 1 cm above", "lie on a contact", **gun(-0.01))
silent("a force there", "lie on a contact", **gun(0, source="force", fz=1e9))
sent = []
for z in (0, -0.01):
    survey((160, 180, z), *beside)
    said(**SEA)
    with netCDF4.Dataset("out.nc") as file:
        sent.append(file["pressure"][0].filled(np.nan).astype(float))
off = np.linalg.norm(sent[0] - sent[1], axis=-1) / np.linalg.norm(sent[1], axis=-1)
claim((off > 0.3).all(), f"and so it is: pressure differs by {off.round(2)} of that which it sends out in the water")

# --- contacts of rock -----------------------------------------------------------------------------------------------------------

subprocess.run([TOOL, "box", "-o", "two.exo", "--x", "0", "700", "--y", "0", "600", "--z", "-600", "0", "--elements", "7", "6", "6",
                "--block", "above:top", "--block", "below:-300"], check=True, capture_output=True)
TWO = dict(mesh="two.exo", materials="two.materials", components="exx,vz", source="moment", mxz=1e12)
SLOPES, MOMENTS = "of stress, pressure, strain or rotation lie within 0.02 edges", "1 source(s) of moment or volume lie within 0.02 edges"
beside = [(450, 350, 300 + side * z) for side in (-1, 1) for z in (within(0, 19) / 10, within(21, 400) / 10)]
for factor, word in ((within(12, 30) / 10, warned), (1.001, silent)):
    Path("two.materials").write_text(f"above 2600 1500 2100\nbelow {2600 * factor} {1500 * factor} 2100\n")
    survey((within(130, 200), 200, 150), *beside)
    word(f"two of four receivers at a contact of rock, {factor:g} times as fast", *(("2 receiver(s) " + SLOPES, "channel 1 of shot record 1")
         if word is warned else (SLOPES,)), **TWO)
    survey((within(130, 200), 200, 300 + within(-19, 19) / 10), beside[1])
    word("a moment there", *((MOMENTS, "that of shot record 1") if word is warned else (MOMENTS,)), **TWO)
Path("two.materials").write_text("above 2600 1500 2100\nbelow 4600 2500 2100\n")
survey((within(130, 200), 200, 300), *beside)
silent("velocity of a force there", "of a contact of rock", **TWO | dict(components="vx", source="force", mxz=0, fx=1e9))
MOTION = "receiver(s) of velocity, displacement or acceleration lie within 0.02 edges of a contact of fluids"
for below, components, word in ((1800, "vz,p", warned), (1800, "p", silent), (1506, "az", silent)):
    Path("two.materials").write_text(f"above 1500 0 1000\nbelow {below} 0 1000\n")
    word(f"{components} at a contact of fluids of 1500 and {below} m/s", *(("2 " + MOTION, "channel 1 of shot record 1") if word is warned else (MOTION,)),
         **TWO | dict(components=components, source="volume", mxz=0))

# --- a layer that damps too thin ---------------------------------------------------------------------------------------------

THIN = "less than 0.75 wavelengths of the fastest P wave, of 742.8 m"
survey((300, 300, 200), (100, 200, 190))
write(ONE)
for sponge, word in ((within(20, 550), warned), (560, silent), (0, silent)):
    word(f"a layer of {sponge} m", THIN, sponge=sponge)
late = []
for sponge in (0, 100):
    said(tmax=1.3, sponge=sponge)
    with netCDF4.Dataset("out.nc") as file:
        vz = np.abs(file["vz"][0, 0].filled(np.nan).astype(float))
    late.append(vz[250:].max() / vz.max())                           # 1 s; the pulse has gone by at 0.7 s
claim(late[1] > 2 * late[0], f"and so it is: of the largest vz {100 * late[0]:.1f} % are left after 1 s, behind a layer of 100 m {100 * late[1]:.1f} %")

# --- sides that absorb, grazed -----------------------------------------------------------------------------------------------

GRAZED = "waves graze sides that absorb, at up to "
write(box((0, 0, -600), (14, 6, 6)))
WET = dict(components="p", tmax=1.4)
from_it, away = within(20, 120), within(1000, 1150)                 # [m]: from the bottom of water, and along it
survey((120, 300, 600 - from_it), (120 + away, 300, 600 - from_it), materials=WATER)
warned("source and receiver close to the bottom", GRAZED, "from source to channel 1 of shot record 1", modelled=True, **WET)
angle, told = (float(v) for v in re.search(GRAZED + r"([\d.]+) degrees.* send back some ([\d.]+) %", said("plan", **WET)[1]).groups())
claim(abs(angle - np.degrees(np.arctan2(away, 2 * from_it))) < 0.1, f"at {angle} degrees, {away} m away and {from_it} m above it")
with netCDF4.Dataset("out.nc") as file:
    trace, time = file["pressure"][0, 0].filled(np.nan).astype(float), file["time"][:].filled(np.nan) - float(file.wavelet_time_zero)
late = time - away / 1500                                           # of the full space's wave: rho dq/dt over 4 pi r
a = (np.pi * 3.5 * late) ** 2
exact = 1000 * 2 * (np.pi * 3.5) ** 2 * late * (2 * a - 3) * np.exp(-a) / (4 * np.pi * away)
before = late < 0.15                                                # what the top sends back comes later
off = 100 * np.linalg.norm((trace - exact)[before]) / np.linalg.norm(exact[before])
claim(0.4 * told < off < 1.5 * told, f"and so it is: some {told} % told, {off:.0f} % in the trace")
silent("a record that ends before that comes", "graze", **WET | {"tmax": 0.6})
silent("a layer that damps", "graze", **WET | {"sponge": 300})
survey((500, 300, 300), (800, 300, 300), materials=WATER)
silent("source and receiver 300 m from all sides, 300 m apart", "graze", **WET)

# --- names of sides ---------------------------------------------------------------------------------------------------------

LAST = 7 * 6 * 5
TOP, INSIDE = [LAST + i for i in rng.sample(range(1, 43), 9)], rng.sample(range(1, LAST + 1), 11)
survey((333, 250, 280), *LEVEL)
write(ONE, sets=[("free", TOP, 6), ("Absorbing bottom", range(1, 43), 5)])
silent("side sets in order", "between elements", "absorb alike")
write(ONE, sets=[("free crack", INSIDE, 6), ("free", TOP, 6)])
warned("a set of sides between elements", "11 sides in side sets of a name with free or abs lie between elements")
write(ONE, sets=[("absorbing", TOP, 6), ("free", TOP[:4], 6), ("wall", TOP, 6)])
warned("sides in two sets", "4 sides are free and absorb alike")
write(ONE, sets=[("free_or_absorbing", TOP, 6)])
warned("a name with both words", "9 sides are free and absorb alike", "free counts where a name has both words")

# --- the record's end ------------------------------------------------------------------------------------------------------

write(box((0, 0, -600), (25, 6, 6)))
far = within(2000, 2400)
way = np.linalg.norm([far - 200, 100, 40])
survey((200, 200, 200), (300, 250, 150), (far, 300, 240))
peak = 0.375                                       # of a Ricker wavelet of 3.5 Hz, whose first sample above 1e-6 of it is at 0
comes = peak + way / 2600
LATE = "the record ends before waves come to"
warned("a record too short for the farther receiver", f"{LATE} 1 of 2 receivers: to channel 2 of shot record 1", tmax=f"{comes - 0.3:.3f}", modelled=True)
whole = largest("vx")
silent("one a little longer than that", LATE, tmax=f"{1.02 * comes:.3f}")
said(tmax=f"{comes + 0.4:.3f}")
claim(whole[1] < 0.05 * largest("vx")[1], f"and so it is: of its largest vx, {largest('vx')[1]:.3g} m/s, {whole[1]:.3g} is recorded")
# --- resolution --------------------------------------------------------------------------------------------------------------

# Edges whose middle nodes lie askew: their points are as far apart as those of edges up to 1.3 times as long.
nodes, elements, middle = box27((0, 0, -600), (6, 5, 6))
survey((300, 300, 200), (within(50, 550), within(50, 450), 150))
for askew in (0, rng.uniform(0.09, 0.15) * rng.choice((-1, 1))):
    moved = nodes.copy()
    moved[middle, 0] += 100 * askew
    write((moved, elements))
    if askew == 0:
        silent("edges of 27 nodes with 5.2 points to the shortest wavelength", "too large for fmax", fpeak=4.2)
    else:
        refused(f"the same with middle nodes {askew:.3f} edges off the middle", "too large for fmax", f"edge of {100 * (1 + 2 * abs(askew)):.4g} m", fpeak=4.2)

done()
