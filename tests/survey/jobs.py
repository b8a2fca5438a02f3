"""Jobs that tests disturb while they run: start one, find the process of a rank, wait for what its journal says."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from check import PATIENCE, claim
from minisurvey import PROGRAM, command, make, run, write_keymap
from shims import preload, shim

RECOVERY = ("--enable-recovery",)
# not of mpirun, which cannot tell its version where Ubuntu 26.04 lacks its texts
MPIRUN = int((re.findall(r"Open MPI (\d+)", subprocess.run(["mpifort", "--showme:version"], capture_output=True, text=True).stdout) or [0])[0])
OTHERS = set()                 # threads of the kernel and processes of other users, half of what /proc lists: see ranks_here
LOOPS = 17                     # that threads share, of a small shot in 2D, as slow.c counts them


def two_programs():
    """True if mpirun can start two programs in one job: that of Open MPI 5.0.7 crashes."""
    return subprocess.run(["mpirun", "-n", "1", "true", ":", "-n", "1", "true"], capture_output=True).returncode == 0


def slow_machine(loop=20000, **ranks):
    """Environment of jobs whose shots take time, a small one in 2D a third of a second, and hardly any of processors: other tests have
    the cores, and however busy they are a shot takes as long. `loop`: microseconds that each loop over a grid takes longer; `rank3=60`:
    on rank 3 so many times as long."""
    return {"LD_PRELOAD": shim("slow"), "ASAN_OPTIONS": "verify_asan_link_order=0", "SLOW": str(loop),
            **{f"SLOW_{rank.removeprefix('rank')}": str(loop * times) for rank, times in ranks.items()}}


def ranks_here(output=None):
    """{rank: pid} of the program's processes of this folder's jobs, or of the one with that output. Asked many times a second."""
    found, program, here = {}, os.path.realpath(PROGRAM), os.getcwd()
    if not OTHERS:
        OTHERS.update({"0"}, (pid for pid in filter(str.isdigit, os.listdir("/proc")) if not os.access(f"/proc/{pid}/exe", os.F_OK)))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pid in OTHERS or os.readlink(f"/proc/{pid}/exe") != program or os.readlink(f"/proc/{pid}/cwd") != here:
                continue
            if output and f"output={output}".encode() not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                continue
            for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(word.split(b"=")[1])] = int(pid)
        except OSError:
            pass
    return found


def events(output):
    """[(event, record, worker)] of the journal."""
    try:
        lines = Path(output + ".journal").read_text().splitlines()[1:]
    except OSError:
        return []
    words = [line.split() for line in lines]
    return [(w[1], int(w[2]), int(w[4])) for w in words if len(w) > 4]


def count(output, event):
    return sum(e == event for e, _, _ in events(output))


def noted(output):
    """The exit status that the last run noted in the journal; None where it noted none. That of a launcher may be another."""
    found = re.findall(r" stop .* exit=(\d+)", Path(output + ".journal").read_text().splitlines()[-1])
    return int(found[0]) if found else None


def done_once(output, shots):
    """Every shot was written, and once."""
    records = [r for e, r, _ in events(output) if e == "done"]
    return len(records) == shots and len(set(records)) == shots


def wait_until(true, seconds=PATIENCE, process=None):
    """Waits for `true()` for so many seconds, or until the process ends; True if it came true."""
    begin = time.time()
    while time.time() < begin + seconds:
        if true():
            return True
        if process is not None and process.poll() is not None:
            return true()
        time.sleep(min(max(0.005, (time.time() - begin) / 50), 0.05))     # moments matter early on
    return False


def _threads(pid):
    """What the kernel says each thread of a process does, a letter each (man 5 proc); '' = there is no such process."""
    letters = ""
    try:
        stats = list(Path(f"/proc/{pid}/task").glob("*/stat"))
    except OSError:                                        # it went while its threads were listed
        return letters
    for stat in stats:
        try:
            letters += stat.read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            pass
    return letters


def kick(*pids, sig=signal.SIGKILL):
    """Sends a signal to processes, None among them is nobody. Back from SIGKILL when they are dead, from SIGSTOP when they stand still:
    on a busy machine they run on for a while."""
    pids = [pid for pid in pids if pid is not None]
    for pid in pids:
        try:
            os.kill(pid, sig)
        except ProcessLookupError:
            pass
    at_rest = {signal.SIGKILL: "ZX", signal.SIGSTOP: "ZXTt"}.get(sig)
    if at_rest:
        wait_until(lambda: not any(_threads(pid).strip(at_rest) for pid in pids))


def line_with(words, text):
    """The first line of what a program said that holds the words."""
    return next((line.strip() for line in text.splitlines() if words in line), f"no '{words}' in: " + text[-600:])


def closed(output):
    """True if the journal's last word is that its run ended."""
    seen = events(output)
    return bool(seen) and seen[-1][0] == "stop"


def cpu(pid):
    """Seconds of CPU time a process has used, 0 if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


class Gate:
    """Each process of a slow machine stands still once it has done so many small shots in 2D, and loops of its threads, until the gate is
    opened: however late a test comes, it finds it in the midst of the same shot."""

    def __init__(self, name, shots=0.0, loops=0):
        self.path = Path(name + ".gate").resolve()
        self.path.touch()
        for old in self.path.parent.glob(self.path.name + ".*"):
            old.unlink()
        self.env = {"GATE": str(self.path), "GATE_AT": str(int(shots * LOOPS) + loops + 1)}

    def reached(self, rank=0):
        """True if this rank has come so far."""
        return Path(f"{self.path}.{rank}").exists()

    def open(self):
        self.path.unlink(missing_ok=True)


class Job:
    """A run in this folder, on a slow machine unless told otherwise (`machine`, an environment); its stderr in a file of its own, whose
    name has no .nc in it: see badfs.py. `gate`: shots that each process does before it stands still until `job.gate.open()`."""

    def __init__(self, *words, output, ranks, options=(), env=None, machine=None, gate=None, verb="run"):
        self.output = output
        name = output.replace(".nc", "")
        self.log = Path(name + ".err")
        self.err = open(self.log, "w")
        self.gate = None if gate is None else Gate(name, gate)
        self.process = subprocess.Popen(command(verb, "par=job.par", f"output={output}", *words, ranks=ranks, options=options),
                                        stdin=subprocess.DEVNULL, stderr=self.err, start_new_session=True,
                                        env=preload(os.environ, slow_machine() if machine is None else machine, env or {},
                                                    self.gate.env if self.gate else {}))

    def pid(self, rank):
        return ranks_here(self.output).get(rank)

    def until(self, true, seconds=PATIENCE):
        return wait_until(true, seconds, self.process)

    def until_dealt(self, worker, seconds=PATIENCE):
        """Until this worker has a shot; the record, or None."""
        self.until(lambda: any(e == "deal" and w == worker for e, _, w in events(self.output)), seconds)
        return next((r for e, r, w in events(self.output) if e == "deal" and w == worker), None)

    def end(self, seconds=PATIENCE):
        """Exit status, None if it did not end by itself: it is killed then. The gate is open from now on."""
        if self.gate:
            self.gate.open()
        try:
            status = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        self.err.close()
        if status is None:
            kick(self.process.pid)
            self.process.wait()
        kick(*ranks_here(self.output).values())
        return status

    def said(self):
        """Its stderr."""
        return self.log.read_text(errors="replace")


class Pace:
    """Time of a shot here and now, on so many processes of a slow machine [s]: the length of a survey that shall take some seconds goes
    by it."""

    def __init__(self, ranks=1, tried=5, **deck):
        make(shots=tried, **deck)
        begin = time.monotonic()
        run("par=job.par", "output=try.nc", ranks=ranks, env=slow_machine())
        self.seconds = (time.monotonic() - begin) / tried

    def shots(self, seconds, least=8, most=80):
        """Writes the key-map of such a survey; the number of its shots."""
        n = max(least, min(most, int(seconds / self.seconds)))
        write_keymap(n, dx=400.0 / n)
        return n

    def survey(self, seconds):
        """Such a survey from now on: the number of its shots, and its file as one undisturbed process writes it."""
        n = self.shots(seconds)
        r = run("par=job.par", f"output=whole{n}.nc", "overwrite=y")
        claim(r.returncode == 0, f"undisturbed run of {n} shots: exit status {r.returncode}")
        return n, f"whole{n}.nc"
