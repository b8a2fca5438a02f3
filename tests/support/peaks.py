"""The most memory that each rank of a job held: ranks run under this file, which notes it. A test cannot note it itself: what it held
when it started them counts as theirs."""
import os
import resource
import subprocess
import sys
from pathlib import Path

from launch import run


def run_watched(program, *words, ranks):
    """As `run`; then `peaks` are there."""
    return run(sys.executable, __file__, str(program), *words, ranks=ranks)


def peaks(ranks):
    """Of each rank [MB]."""
    return [float(Path(f"peak{rank}").read_text()) for rank in range(ranks)]


if __name__ == "__main__":
    status = subprocess.run(sys.argv[1:]).returncode
    Path("peak" + os.environ.get("OMPI_COMM_WORLD_RANK", "0")).write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024e-6))
    sys.exit(status)
