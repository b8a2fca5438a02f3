"""SplSemmod and the tool for its meshes, as tests start them."""
import functools
import os
from pathlib import Path

import launch

PROGRAM = Path(os.environ["B"]) / "bin" / "SplSemmod"
MESH = str(Path(os.environ["ROOT"]) / "tools" / "spl-mesh")
run = functools.partial(launch.run, PROGRAM)
