"""Files of Gmsh through its own Python module, where that is installed: for what meshio does not read."""
import importlib.util

import numpy as np

from spltools.cli import Failure, fail
from spltools.mesh.mesh import Numbers, Raw

HEXAHEDRA = {5: 8, 17: 20, 12: 27}
QUADRILATERALS = {3: 4, 16: 8, 10: 9}
FLAT, SOLID = 2, 3          # dimensions


def is_there():
    return importlib.util.find_spec('gmsh') is not None


def read(path):
    import gmsh

    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber('General.Terminal', 0)
        gmsh.open(path)
        return _raw(path, gmsh.model)
    except Failure:
        raise
    except Exception as problem:        # the module raises nothing finer
        fail(f'{path} cannot be read by Gmsh: {problem}')
    finally:
        gmsh.finalize()


def _raw(path, model):
    numbers, places, _ = model.mesh.getNodes()
    node = Numbers(path, numbers, 'node')
    raw = Raw(path, np.reshape(places, (-1, 3)), 'gmsh')
    names = {(dimension, id_): model.getPhysicalName(dimension, id_) for dimension, id_ in model.getPhysicalGroups()}
    for dimension, entity in model.getEntities():
        groups = [int(id_) for id_ in model.getPhysicalGroupsForEntity(dimension, entity)]
        for kind, _, nodes in zip(*model.mesh.getElements(dimension, entity)):
            per = {**HEXAHEDRA, **QUADRILATERALS}.get(kind)
            if kind in HEXAHEDRA:
                raw.add_elements(node.places(nodes.reshape(-1, per)), groups[0] if groups else 0)
                if groups:
                    raw.blocks[groups[0]] = names[SOLID, groups[0]]
            elif kind in QUADRILATERALS:
                corners = node.places(nodes.reshape(-1, per)[:, :4])
                raw.surfaces += [(id_, names[FLAT, id_], corners) for id_ in groups]
            elif dimension == SOLID:
                raw.others[model.mesh.getElementProperties(kind)[0]] += len(nodes) // model.mesh.getElementProperties(kind)[3]
    return raw
