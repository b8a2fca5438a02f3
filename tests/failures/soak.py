#!/usr/bin/env python3
"""A survey in bad weather: kills of workers, of the fast worker, of the master, of mpirun and of everything, stalls, torn journals
and full disks, each at a random time; the same command is started again until all shots are done. Then every shot must have been
written exactly once and the output be that of an undisturbed run, byte for byte.

    make soak                        200 shots, 50 kills, 5 of each of the others: some minutes
    make soak SOAK="--seed 7"        another run of luck; the seed is printed

A fast worker stands in for one with a GPU: on a slow machine (slow.c) the others take three times as long. On a machine with a GPU
`--gpn 1` makes it one. Needs B, the build folder; works in the current folder.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / place) for place in ("tests/faulty_machine", "tests/survey", "tests/support", "tools")]
from badfs import BadFs  # noqa: E402
from check import claim, done, skip  # noqa: E402
from jobs import kick, ranks_here, slow_machine  # noqa: E402
from minisurvey import PROGRAM, make, statuses, write_keymap  # noqa: E402
from shims import preload  # noqa: E402
from spltools.netcdf import Header  # noqa: E402

TIMES = ("seconds", "finished", "device", "run_checksum")      # when, how fast and where a shot was modelled
WHO = ("worker", "fast worker", "master", "mpirun", "all")
PATIENCE = 30            # seconds without a line in the journal after which a launch is taken for stuck, however busy the machine


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, what in (("shots", 200, "of the survey"), ("kills", 50, "with SIGKILL"), ("stalls", 5, "of a worker, by SIGSTOP"),
                              ("torn", 5, "last lines of the journal"), ("full", 5, "times the disk is full"), ("ranks", 4, "of the job"),
                              ("gpn", 0, "GPUs to use"), ("seed", None, "of all that is random"), ("tmax", 0.5, "seconds a trace")):
        parser.add_argument(f"--{name}", type=float if name == "tmax" else int, default=value, help=f"{what} ({value})")
    args = parser.parse_args()
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1_000_000)
    return args


def masked(path):
    """The bytes of the file with those blanked that tell when, how fast and where shots were modelled."""
    data = bytearray(Path(path).read_bytes())
    for name in TIMES:
        v = Header(bytes(data[:1 << 22])).variables[name]
        data[v.begin:v.begin + v.bytes] = bytes(v.bytes)
    return data


class Weather:
    """The survey under way: launches, what happens to it, and what was seen."""

    def __init__(self, args):
        self.args, self.luck, self.bad = args, random.Random(args.seed), BadFs()
        known = subprocess.run([PROGRAM, "--help", "lease"], capture_output=True, text=True)
        self.recovery = known.returncode == 0       # the job outlives a lost worker
        self.lease = 2.0
        self.p, self.launches, self.counts, self.statuses, self.cuts, self.stuck = None, 0, {}, {}, 0, 0
        self.surveys, self.deals, self.wrong = 0, 0, []
        self.loop = 4000             # microseconds

    def command(self, output):
        words = [str(PROGRAM), "par=job.par", f"output={output}", f"gpn={self.args.gpn}"]
        words += [f"lease={self.lease}"] if self.recovery else []
        flags = ["--enable-recovery"] if self.recovery else []
        return ["mpirun", *flags, "-n", str(self.args.ranks), *words]

    def environment(self):
        """Of a machine so slow that the survey takes as long as is wanted."""
        return slow_machine(self.loop, **{f"rank{r}": 3 for r in range(2, self.args.ranks)})

    def launch(self):
        self.launches += 1
        self.p = subprocess.Popen(self.command("out.nc"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=open("soak.err", "a"), env=preload(os.environ, self.environment(), self.bad.env), start_new_session=True)

    def alive(self):
        return self.p is not None and self.p.poll() is None

    def done(self):
        journal = Path("out.nc.journal")
        return journal.read_bytes().count(b" checksum=") if journal.exists() else 0

    def until(self, condition, seconds=PATIENCE):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            if condition():
                return True
            time.sleep(0.01)
        return False

    def weather(self, condition):
        """Waits for the condition or the end of the launch. One that writes nothing any more is ended: a rank killed while the ranks
        find each other keeps the others waiting in there."""
        journal, size, limit = Path("out.nc.journal"), -1, 0
        while self.alive() and not condition():
            now = journal.stat().st_size if journal.exists() else 0
            if now != size:
                size, limit = now, time.monotonic() + PATIENCE
            if time.monotonic() > limit:
                self.stuck += 1
                kick(self.p.pid)
                self.end_all()
                self.p.wait()
            time.sleep(0.01)

    def ended(self):
        """Notes how a launch ended, and waits for the last rank to go."""
        try:
            status = self.p.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.stuck += 1
            self.p.kill()
            status = self.p.wait()
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.end_all()
        self.p = None
        return status

    def end_all(self):
        self.until(lambda: not ranks_here(), 3)      # without a launcher ranks end by themselves, or are ended
        while left := ranks_here():
            kick(*left.values())
            time.sleep(0.02)

    # --- what happens --------------------------------------------------------------------------------------------------

    def kill(self):
        who = self.luck.choice(WHO)
        ranks = ranks_here()
        slow = [r for r in ranks if r > 1]
        victims = {"worker": [ranks[self.luck.choice(slow)]] if slow else [], "fast worker": [ranks.get(1)],
                   "master": [ranks.get(0)], "mpirun": [self.p.pid], "all": [self.p.pid, *ranks.values()]}[who]
        if not victims or None in victims or not self.alive():
            return None
        kick(*victims)
        if who in ("mpirun", "all", "master") or not self.recovery:
            if who == "master" and self.recovery:    # nobody is left to tell the launcher
                self.until(lambda: not self.alive(), 2 * self.lease)
                kick(self.p.pid, sig=signal.SIGTERM)
            self.ended()
        return f"kill of {who}"

    def stall(self):
        workers = [pid for rank, pid in ranks_here().items() if rank > 0]
        if not workers:
            return None
        pid = self.luck.choice(workers)
        kick(pid, sig=signal.SIGSTOP)
        time.sleep(2 * self.lease)
        kick(pid, sig=signal.SIGCONT)
        return "stall"

    def tear(self):
        """Everything ends; the last line of the journal was being written, or the last line that tells of a shot done."""
        if not self.alive() or self.done() < 1:
            return None
        kick(self.p.pid, *ranks_here().values())
        self.ended()
        path = Path("out.nc.journal")
        text = path.read_bytes()
        finished = text.rfind(b" done ") if self.luck.random() < 0.5 else -1
        last = text.rfind(b"\n", 0, len(text) - 1 if finished < 0 else finished) + 1
        if last <= 0 or text[:last].count(b"\n") < 2:
            return None
        path.write_bytes(text[:self.luck.randrange(last, text.index(b"\n", last) if b"\n" in text[last:] else len(text))])
        self.cuts += b" done " in text[last:]
        return "torn journal"

    def fill(self):
        before = self.pauses()
        self.bad.say("full")
        hit = self.until(lambda: self.pauses() > before or not self.alive())
        time.sleep(self.luck.uniform(0, 2.0))
        self.bad.say("")
        return "full disk" if hit and self.pauses() > before else None

    def pauses(self):
        return Path("soak.err").read_text(errors="replace").count("dealing pauses")

    # --- the whole -----------------------------------------------------------------------------------------------------

    def run(self):
        a = self.args
        plan = [self.kill] * a.kills + [self.stall] * a.stalls + [self.tear] * a.torn + [self.fill] * a.full
        self.luck.shuffle(plan)
        n, planned, failed = 0, len(plan), 0
        while plan and failed < 5:
            if self.done() >= a.shots:                # sooner than all could happen: another survey
                self.finish()
                planned, n = len(plan), 0
            if not self.alive():
                if self.p is not None and self.ended() not in (0, 3):
                    failed += 1
                self.launch()
            due = min(a.shots * n // (planned + 1), a.shots - 3)
            early = self.luck.random() < 0.25         # at the start of a run too, whatever that has done
            if early:
                self.until(lambda: not self.alive(), self.luck.uniform(0, 1.5))
            else:
                self.weather(lambda: self.done() >= max(due, 1))
                time.sleep(self.luck.uniform(0, 0.3))
            what = plan[-1]() if self.alive() else None
            if what:
                plan.pop()
                n += 1
                failed = 0
                self.counts[what] = self.counts.get(what, 0) + 1
        self.finish()
        return plan

    def finish(self):
        """Fair weather to the end of the survey, which is then judged and put aside."""
        for _ in range(8):
            if not self.alive():
                if self.p is not None and self.ended() == 0 and self.done() >= self.args.shots:     # a recovery ends with 0, whatever is left
                    break
                self.launch()
            self.weather(lambda: False)
        self.judge()
        self.surveys += 1
        for path in Path(".").glob("out.nc*"):
            path.rename(f"survey{self.surveys}{path.name}")

    def judge(self):
        lines = [line.split() for line in Path("out.nc.journal").read_text().splitlines()]
        times = [sum(w[1] == "done" and w[2] == str(101 + i) for w in lines) for i in range(self.args.shots)]
        todo = sum(w[1] == "todo" and "damaged" in w for w in lines)
        self.deals += sum(w[1] == "deal" for w in lines)
        if statuses("out.nc") != [1] * self.args.shots or times != [1] * self.args.shots or todo:
            self.wrong.append(f"survey {self.surveys + 1}: shots written {min(times)} to {max(times)} times, {todo} damaged")
        if masked("out.nc") != masked("fair/out.nc"):
            self.wrong.append(f"survey {self.surveys + 1}: its output differs")


def main():
    args = options()
    if "debug" in os.environ["B"]:
        skip("the shim and the address sanitizer do not go together")
        done()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                      PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
                      OMPI_MCA_mpi_yield_when_idle="1")
    print(f"seed {args.seed}", flush=True)
    weather = Weather(args)
    events = args.kills + args.stalls + args.torn + args.full
    fair = 0
    while fair < 1.5 * events:                        # long enough for all that is to happen, however fast the machine
        weather.loop = int(weather.loop * (min(8, max(1.5, 2.2 * events / fair)) if fair else 1))
        for path in Path(".").glob("out.nc*"):
            path.unlink()
        make(tmax=args.tmax, output="out.nc")
        write_keymap(args.shots, dx=200 / args.shots)
        begin = time.monotonic()
        r = subprocess.run(weather.command("out.nc"), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                           env=preload(os.environ, weather.environment()))
        fair = time.monotonic() - begin
        if r.returncode:
            break
    os.makedirs("fair", exist_ok=True)
    claim(r.returncode == 0, f"fair weather: {args.shots} shots of {args.tmax:.2g} s in {fair:.1f} s, exit status {r.returncode} "
          + (r.stderr[-300:] if r.returncode else ""))
    for path in Path(".").glob("out.nc*"):
        path.rename(Path("fair") / path.name)

    begin = time.monotonic()
    left = weather.run()
    bad = time.monotonic() - begin
    text = Path("soak.err").read_text(errors="replace")
    kills = sum(n for what, n in weather.counts.items() if what.startswith("kill"))
    claim(not left and kills == args.kills, f"{weather.counts}, {weather.launches} launches, which ended {weather.statuses}; "
          f"{weather.stuck} of them stuck and ended by hand; events that did not come about: {len(left)}; the dealing paused {weather.pauses()} times, "
          f"{text.count('takes over')} locks of the dead were taken over, {text.count('is dead: process')} workers were seen to be dead, "
          f"{text.count('is taken for lost')} missed")
    claim(not weather.wrong, f"{weather.surveys} survey(s): each of {args.shots} shots was written exactly once by the journal "
          f"({weather.cuts} stood in torn lines before) and none was damaged; the output is that of fair weather, "
          f"{os.path.getsize('fair/out.nc')} bytes, times aside {weather.wrong}")
    odd = re.findall(r"^(?:Fortran runtime error|.*damaged|.*Segmentation|\*\*\*.*).*$", text, re.MULTILINE)
    claim(not odd, f"nothing odd was said {odd[:3] if odd else ''}")
    shots = weather.surveys * args.shots
    claim(True, f"bad weather took {bad:.1f} s, {bad / fair / max(weather.surveys, 1):.2f} times fair weather; {weather.deals - shots} of "
          f"{weather.deals} dealt shots were modelled in vain; seed {args.seed}")
    done()


main()
