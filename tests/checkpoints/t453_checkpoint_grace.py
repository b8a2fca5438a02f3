#!/usr/bin/env python3
"""A job that must end keeps the state of the shot it gives up, and the next run goes on from there; so does a shot that cannot be set up
for a while. A worker whose last state is still on its way to the disk is waited for."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from check import PATIENCE, claim, done, unsanitized
from jobs import Gate, Job, count, line_with, slow_machine, wait_until
from minisurvey import command, differences, make, run, write_deck, write_keymap, write_model
from shims import preload, shim

SILENT = 13                                       # seconds: more than one is waited for where nothing is left to do
make(shots=1, tmax=8)
r = run("par=job.par", "output=whole.nc", "checkpoint=0")
claim(r.returncode == 0, f"undisturbed: exit status {r.returncode}")


def stopped(output, ranks):
    """SIGTERM, or under mpirun a stop file, in the midst of the time loop, with no time of grace; exit status and log."""
    gate = Gate("given_up", 2)                    # it stands still in a third of its loops
    p = subprocess.Popen(command("par=job.par", f"output={output}", "checkpoint=10000", "grace=0", ranks=ranks),
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=preload(os.environ, slow_machine(), gate.env))
    wait_until(lambda: gate.reached(ranks - 1), process=p)
    if ranks == 1:
        p.send_signal(signal.SIGTERM)
    else:
        Path(output + ".stop").touch()
        wait_until(lambda: "no more shots" in Path(output + ".log").read_text(), process=p)
    gate.open()
    said = p.communicate(timeout=PATIENCE)[1]
    Path(output + ".stop").unlink(missing_ok=True)
    return p.returncode, said


for ranks in (1, 2):
    output = f"given_up{ranks}.nc"
    status, said = stopped(output, ranks)
    kept = list(Path(output + ".states").glob("*.state"))
    claim(status == 3 and len(kept) == 1, f"{ranks} process(es), told to stop amid a shot: exit status {status}, must be 3; "
          f"{len(kept)} state(s) though the interval is a week, must be 1" + ("" if kept else said[-300:]))
    r = run("par=job.par", f"output={output}", ranks=3 - ranks)
    step = re.search(r"goes on after step (\d+)", r.stderr)
    claim(r.returncode == 0 and step and differences("whole.nc", output) == [],
          f"run again with {3 - ranks} process(es): goes on after step {step and step.group(1)}, the undisturbed traces")

unsanitized()

# --- a shot that cannot be set up for a while ---------------------------------------------------------------------------

write_model()
write_deck(tmax=8)
Path("line.keymap").write_text("spread small streamer first=50 interval=20 channels=4 depth=17\nspread large streamer first=50 interval=20 "
                               "channels=40 depth=17\nshots first_record=1 n=1 x0=200 dx=40 z=13 spread=small\n"
                               "shots first_record=2 n=1 x0=1000 dx=40 z=13 spread=large\n")
r = run("par=job.par", "output=whole2.nc", "checkpoint=0")
status, said = stopped("short.nc", 1)             # of few shots the larger one, 2, goes first
kept = [p.name for p in Path("short.nc.states").glob("*.state")]
gate, hold = Gate("short", 1), Path("hold.0")
with open("short.err", "w") as err:
    p = subprocess.Popen(command("par=job.par", "output=short.nc", "checkpoint=0.0001", "retries=100"), stdin=subprocess.DEVNULL, stderr=err,
                         env=preload(os.environ, slow_machine(), gate.env, {"LD_PRELOAD": shim("hold"), "HOLD": "hold", "OMPI_COMM_WORLD_RANK": "0"}))
    wait_until(lambda: gate.reached(0), process=p)    # in the midst of shot 1
    hold.write_text("memory")
    gate.open()
    lost = wait_until(lambda: "shot 2 lost" in Path("short.err").read_text(), process=p)
    hold.unlink()
    p.wait(PATIENCE)
said = Path("short.err").read_text()
claim(r.returncode == 0 and status == 3 and kept == ["shot2.a.state"] and lost and p.returncode == 0 and "shot 2 goes on after step" in said
      and differences("whole2.nc", "short.nc") == [], f"no memory to set up shot 2, of which there is a state, {kept}: exit status {p.returncode}; "
      "with memory it goes on from there: " + next((s for s in said.splitlines() if "shot 2 goes on" in s or "shot 2 begins" in s), said[-500:]))

# --- the last state takes the disk longer than the rest of the job, and that of a shot longer than a lease as one begins that has a state --

make(shots=1, tmax=8)
os.mkdir("two")
write_keymap(2, folder="two")
TWO = ("keymap=two/line.keymap", "lease=10")
job = Job(*TWO, "checkpoint=10000", "grace=0", output="two.nc", ranks=3, gate=2)
job.until(lambda: job.gate.reached(1) and job.gate.reached(2))
Path("two.nc.stop").touch()
job.until(lambda: "no more shots" in job.said())
job.end()
Path("two.nc.stop").unlink()
Path("two.nc.states/shot102.a.state").unlink()    # so 102 goes first
Path("two.1").write_text("state 1")
two = Job(*TWO, "checkpoint=0.0001", output="two.nc", ranks=2, machine={}, env={"LD_PRELOAD": shim("hold"), "HOLD": "two"})
Path("hold.1").write_text("state 1")              # it stands still in the midst of it
job = Job("checkpoint=0.0001", "lease=2", output="slow.nc", ranks=2, machine={}, env={"LD_PRELOAD": shim("hold"), "HOLD": "hold"})
begun = two.until(lambda: Path("two.1.here").exists() and count("two.nc", "done") == 1)
written = job.until(lambda: Path("hold.1.here").exists() and count("slow.nc", "done") == 1)
time.sleep(SILENT)
alive = job.process.poll() is None
Path("hold.1").unlink()
Path("two.1").unlink()
status = job.end()
claim(written and alive and status == 0 and "lost" not in job.said(), f"all shots are done, the last state is written {SILENT} s later, at a lease of 2 "
      f"s: exit status {status}, nobody is taken for lost: {line_with('worker 1', job.said())}")
status = two.end()
claim(begun and status == 0 and "lost" not in two.said() and "shot 101 goes on after step" in two.said(), "a shot that has a state begins while "
      f"that of the one before is not written yet, for {SILENT} s at a lease of 10: exit status {status}: {line_with('shot 101', two.said())}")
done()
