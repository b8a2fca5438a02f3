"""A file system that fails when told to: badfs.c, built, and its control file."""
import os
import subprocess
from pathlib import Path


class BadFs:
    """bad.say("full") and all writing to paths with `only` in them fails from now on; bad.say("") and it does not. See badfs.c."""

    def __init__(self, only=".nc"):
        self.control = Path("badfs.word").resolve()
        library = Path("badfs.so").resolve()
        if not library.exists():
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(Path(__file__).with_name("badfs.c")),
                            "-ldl"], check=True)
        self.say("")
        self.env = {"LD_PRELOAD": str(library), "BADFS": str(self.control), "BADFS_ONLY": only}

    def say(self, word):
        new = self.control.with_suffix(".new")
        new.write_text(word)
        os.replace(new, self.control)
