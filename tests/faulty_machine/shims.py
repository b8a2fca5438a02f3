"""Libraries that a job under test is to load first."""
import subprocess
from pathlib import Path


def shim(name, source=None):
    """The library of NAME.c of this folder, or of a source in C, built in the current folder: its whole path."""
    library = Path(name + ".so").resolve()
    if source:
        Path(name + ".c").write_text(source)
    if source or not library.exists():
        code = Path(name + ".c") if source else Path(__file__).with_name(name + ".c")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, code, "-ldl"], check=True)
    return str(library)


def preload(*environments):
    """One environment of several, later ones going before; libraries of all are loaded."""
    libraries = [e["LD_PRELOAD"] for e in environments if e.get("LD_PRELOAD")]
    together = {k: v for e in environments for k, v in e.items()}
    return {**together, "LD_PRELOAD": ":".join(libraries)} if libraries else together
