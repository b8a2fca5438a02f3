"""Starts the programs for tests."""
import os
import subprocess

from check import PATIENCE


def settings(*decks, **changes):
    """name=value of each parameter; later decks and changes go before, None leaves one out."""
    deck = {k: v for d in (*decks, changes) for k, v in d.items()}
    return [f"{k}={v}" for k, v in deck.items() if v is not None]


def command(program, *words, ranks=1, options=()):
    """`options`: of mpirun. plan does not model shots to forecast the time, unless a test asks for it."""
    if words[:1] == ("plan",) and not any(w.startswith("forecast=") for w in words):
        words = (*words, "forecast=0")
    launch = ["mpirun", *options, "-n", str(ranks)] if ranks > 1 else []
    return [*launch, str(program), *words]


def run(program, *words, ranks=1, timeout=PATIENCE, env=None):
    """The finished process: returncode, stdout, stderr as text."""
    return subprocess.run(command(program, *words, ranks=ranks), capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
