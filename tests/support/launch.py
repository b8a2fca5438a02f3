"""Starts the programs for tests."""
import os
import subprocess

from check import PATIENCE

# Open MPI gives a process without mpirun a daemon and a folder, for more processes to come: more than half of the time of a small run.
# None come. Jobs that tests disturb (jobs.py) have them, as users' have.
ALONE = {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_orte_create_session_dirs": "0"}


def command(program, *words, ranks=1, options=()):
    """`options`: of mpirun."""
    launch = ["mpirun", *options, "-n", str(ranks)] if ranks > 1 else []
    return [*launch, str(program), *words]


def run(program, *words, ranks=1, timeout=PATIENCE, env=None):
    """The finished process: returncode, stdout, stderr as text."""
    return subprocess.run(command(program, *words, ranks=ranks), capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(ALONE if ranks == 1 else {}), **(env or {})})
