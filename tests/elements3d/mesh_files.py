"""Writes the mesh of mesh.txt as Exodus II files: sound ones of each kind, and broken ones.

    mesh_files.py            in the folder of mesh.txt, whose first line is: nodes, elements, nodes of an element, sides of the set;
                             then x y z, then block and nodes, then element and side
"""
import netCDF4
import numpy as np


def read():
    rows = iter(open("mesh.txt").read().split("\n"))
    nodes, elements, per, sides = map(int, next(rows).split())
    x = np.array([next(rows).split() for _ in range(nodes)], float)
    e = np.array([next(rows).split() for _ in range(elements)], int)
    s = np.array([next(rows).split() for _ in range(sides)], int).reshape(sides, 2)
    return x, e, per, s


def put_names(nc, var, dim, names):
    v = nc.createVariable(var, "S1", (dim, "len_name"))
    for i, name in enumerate(names):
        raw = np.zeros(33, "S1")
        raw[:len(name)] = list(name)
        v[i] = raw


def write(path, mesh, kind="NETCDF3_64BIT_OFFSET", joined=False, named=True, shape="HEX8", ints="i4", change=lambda nc: None, **other):
    """other: numbers of dimensions that are not what they must be."""
    x, e, per, s = mesh
    x, s = x.copy(), s.copy()
    blocks = [e[e[:, 0] == b, 1:] for b in (1, 2)]
    nc = netCDF4.Dataset(path, "w", format=kind)
    sizes = dict(len_name=33, num_dim=3, num_nodes=len(x), num_elem=len(e), num_el_blk=3, num_side_sets=2, num_side_ss1=len(s))
    for b, block in enumerate(blocks):
        sizes[f"num_el_in_blk{b + 1}"], sizes[f"num_nod_per_el{b + 1}"] = block.shape
    sizes.update(other)
    for name, n in sizes.items():
        if n is not None:
            nc.createDimension(name, n)
    if "num_dim" not in nc.dimensions or "num_nodes" not in nc.dimensions:
        nc.close()
        return
    if "num_nodes" not in other and "num_dim" not in other:
        if joined:
            nc.createVariable("coord", "f8", ("num_dim", "num_nodes"))[:] = x.T
        else:
            for a in range(3):
                nc.createVariable("coord" + "xyz"[a], "f8", ("num_nodes",))[:] = x[:, a]
    for b, block in enumerate(blocks):
        v = nc.createVariable(f"connect{b + 1}", ints, (f"num_el_in_blk{b + 1}", f"num_nod_per_el{b + 1}"))
        v.elem_type = shape
        if not {f"num_el_in_blk{b + 1}", f"num_nod_per_el{b + 1}"} & other.keys():
            v[:] = block
    v = nc.createVariable("eb_prop1", ints, ("num_el_blk",)), nc.createVariable("ss_prop1", ints, ("num_side_sets",))
    v[0][:], v[1][:] = [10, 20, 30], [7, 8]
    if named:
        put_names(nc, "eb_names", "num_el_blk", ["water", "rock\x1b[2J", "nothing"])
        put_names(nc, "ss_names", "num_side_sets", ["seaside", ""])
    for i, name in enumerate(("elem_ss1", "side_ss1")):
        nc.createVariable(name, ints, ("num_side_ss1",))[:] = s[:, i]
    change(nc)
    nc.close()


def changed(var, at, value):
    def change(nc):
        nc.variables[var][at] = value
    return change


def behind(mesh):
    """behind.exo: all elements are of the second block, the first has none and no dimensions."""
    x, e, per, _ = mesh
    with netCDF4.Dataset("behind.exo", "w", format="NETCDF3_CLASSIC") as nc:
        for name, n in dict(num_dim=3, num_nodes=len(x), num_elem=len(e), num_el_blk=2, num_el_in_blk2=len(e), num_nod_per_el2=per).items():
            nc.createDimension(name, n)
        nc.createVariable("coord", "f8", ("num_dim", "num_nodes"))[:] = x.T
        v = nc.createVariable("connect2", "i4", ("num_el_in_blk2", "num_nod_per_el2"))
        v.elem_type = "HEX"
        v[:] = e[:, 1:]


def main():
    mesh = read()
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"):
        write(kind + ".exo", mesh, kind)
    write("joined.exo", mesh, joined=True)
    write("int64.exo", mesh, "NETCDF4", ints="i8")
    write("unnamed.exo", mesh, named=False)
    behind(mesh)
    write("nodim.exo", mesh, num_dim=None)
    write("flat.exo", mesh, num_dim=2)
    write("tetra.exo", mesh, shape="TETRA4")
    write("twenty.exo", mesh, shape="HEX20", num_nod_per_el2=20)
    write("mixed.exo", mesh, num_nod_per_el2=27)
    write("fewer.exo", mesh, num_elem=len(mesh[1]) - 1)
    write("more.exo", mesh, num_elem=len(mesh[1]) + 1)
    write("huge.exo", mesh, "NETCDF4", num_nodes=899999999)
    write("beyond.exo", mesh, "NETCDF4", num_nodes=2**40)
    write("zero.exo", mesh, change=changed("connect1", (1, 2), 0))
    write("high.exo", mesh, change=changed("connect2", (0, 7), len(mesh[0]) + 1))
    write("nan.exo", mesh, change=changed("coordy", 4, np.nan))
    write("far.exo", mesh, change=changed("coordz", 5, 1e30))
    write("side.exo", mesh, change=changed("side_ss1", 0, 7))
    write("element.exo", mesh, change=changed("elem_ss1", 1, len(mesh[1]) + 1))
    data = open("NETCDF3_64BIT_OFFSET.exo", "rb").read()
    open("cut.exo", "wb").write(data[:len(data) // 2])
    open("text.exo", "w").write("$MeshFormat\n2.2 0 8\n")


main()
