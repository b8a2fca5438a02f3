"""A file system that fails when told to: badfs.c, built, and its control file."""
import os
from pathlib import Path

from shims import shim


class BadFs:
    """bad.say("full") and all writing to paths with `only` in them fails from now on; bad.say("") and it does not. See badfs.c."""

    def __init__(self, only=".nc"):
        self.control = Path("badfs.word").resolve()
        self.say("")
        self.env = {"LD_PRELOAD": shim("badfs"), "BADFS": str(self.control), "BADFS_ONLY": only}

    def say(self, word):
        new = self.control.with_suffix(".new")
        new.write_text(word)
        os.replace(new, self.control)
