"""The command-line tools as pip installs them: a procedure each, as in tools/spl-*."""
from spltools.cli import run


def export() -> None:
    run('spltools.gathers.export')


def keymap() -> None:
    run('spltools.geometry.keymap_tool')


def merge() -> None:
    run('spltools.gathers.merge')


def mesh() -> None:
    run('spltools.mesh.mesh_tool')


def model() -> None:
    run('spltools.earth.model_tool')


def plot() -> None:
    run('spltools.plot.plot')


def reference() -> None:
    run('spltools.reference.reference')


def report() -> None:
    run('spltools.report.report')


def split() -> None:
    run('spltools.gathers.split')
