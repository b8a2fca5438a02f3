"""Surveys from Python: models and key-maps from arrays, runs of the programs, and their gathers.

    import spltools as spl
    spl.write_model('model.nc', vp=vp, axes='xz', spacing=10)
    spl.write_keymap('line.keymap', sources, receivers)
    spl.run(keymap='line.keymap', vp='model.nc', fpeak=12, tmax=2, output='line.nc', ranks=4)
    spl.open_survey('line.nc').pressure.sel(record=1)

README.md beside this file tells the whole. Whatever is wrong is a spltools.Error whose text is one sentence. The command-line tools
(spl-model, spl-keymap, ...) are in the same package; each subject has a folder here.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

from spltools import cli

__version__ = '0.1.0'       # of the programs too: the one place, from which make takes it

if TYPE_CHECKING:
    from spltools.cli import Failure as Error
    from spltools.earth.from_arrays import write_model
    from spltools.gathers.dataset import done, open_survey
    from spltools.gathers.gathers import Gather, Gathers, Navigation
    from spltools.gathers.read import read_gather, read_gathers, read_stream
    from spltools.geometry.from_arrays import write_keymap
    from spltools.programs import Plan, ProgramError, Run, Status, Verification, find_program, plan, run, status, verify

__all__ = ['Error', 'Gather', 'Gathers', 'Navigation', 'Plan', 'ProgramError', 'Run', 'Status', 'Verification', 'done',
           'find_program', 'open_survey', 'plan', 'read_gather', 'read_gathers', 'read_stream', 'run', 'status', 'verify',
           'write_keymap', 'write_model']

# Modules are imported when a name of theirs is asked for: a tool that draws needs no xarray.
_HOME = {
    'spltools.cli': ['Error'],
    'spltools.earth.from_arrays': ['write_model'],
    'spltools.gathers.dataset': ['done', 'open_survey'],
    'spltools.gathers.gathers': ['Gather', 'Gathers', 'Navigation'],
    'spltools.gathers.read': ['read_gather', 'read_gathers', 'read_stream'],
    'spltools.geometry.from_arrays': ['write_keymap'],
    'spltools.programs': ['Plan', 'ProgramError', 'Run', 'Status', 'Verification', 'find_program', 'plan', 'run', 'status',
                          'verify'],
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'spltools' has no attribute '{name}'")
    cli.as_lines = False
    value = getattr(importlib.import_module(_MODULE[name]), 'Failure' if name == 'Error' else name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
