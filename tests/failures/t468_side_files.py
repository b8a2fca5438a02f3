#!/usr/bin/env python3
"""The files that a run writes beside its output are never ones that it reads, by any of their names, nor ones that no run wrote:
refused before anything is opened for writing, whatever the verb, and with overwrite=y too. Those of runs go on as ever."""
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import mini3d
from check import claim, done, given_seed, skip
from jobs import Gate, kick, slow_machine, wait_until
from minisurvey import SLOW, command, differences, make, run
from shims import preload

SEED = given_seed()
chance = random.Random(SEED)
HERE = Path.cwd()
LATE = 20 * SLOW                # a refusal waits for nobody


def listing(folder):
    """Kind and content of everything below a folder; a pipe is not opened."""
    found = {}
    for p in sorted(Path(folder).rglob("*")):
        kind = os.readlink(p) if p.is_symlink() else oct(p.stat().st_mode)
        found[str(p)] = kind, hashlib.md5(p.read_bytes()).hexdigest() if p.is_file() and not p.is_symlink() else ""
    return found


def fresh():
    """An empty folder with the good survey of three shots, and in it."""
    os.chdir(HERE)
    shutil.rmtree("case", ignore_errors=True)
    os.mkdir("case")
    os.chdir("case")
    make(shots=3, tmax=0.1)
    t = [f"{0.004 * i:.3f} {a}\n" for i, a in enumerate((0, 1, 4, 1, -4, -2, 0))]
    Path("wave.txt").write_text("".join(t))
    Path("nodes.txt").write_text("1 500 20\n2 550 20\n")


def refused(call, words):
    """The fault of a call that must be refused, '' if there is none."""
    before = listing(".")
    try:
        r = call(timeout=LATE)
    except subprocess.TimeoutExpired:
        return "it hangs"
    wrong = []
    if r.returncode != 1:
        wrong.append(f"exit status {r.returncode}, must be 1")
    if listing(".") != before:
        now = listing(".")
        wrong.append("changed: " + ", ".join(sorted(k for k in set(now) | set(before) if now.get(k) != before.get(k))))
    if len(re.findall("^error: ", r.stderr, re.M)) != 1 or len(r.stderr) > 900:
        wrong.append(f"not one sentence: {r.stderr[:200]!r}")
    wrong += [f"lacks '{w}' in {r.stderr[:200]!r}" for w in words if w not in r.stderr]
    return "; ".join(wrong)


# --- what is read ------------------------------------------------------------------------------------------------------

# Each ending, and what the message calls it.
ENDINGS = {"": "", ".journal": "the journal", ".lock": "the lock", ".log": "the log", ".par": "the record", ".stop": "the stop file",
           ".snap101.nc": "snapshots", ".snap7.nc": "snapshots", ".lock.0123456789abcdef": "the lock",
           ".0123456789abcdef.half": "not whole", ".par.0123456789abcdef.half": "not whole", ".states/own": "states"}
# Those of which a run has any number, so that none has the number of a hard link.
MANY = (".lock.0123456789abcdef", ".0123456789abcdef.half", ".par.0123456789abcdef.half", ".states/own")
INPUTS = {"par": "job.par", "keymap": "line.keymap", "vp": "vp.raw", "rho": "rho.raw", "wavelet_file": "wave.txt", "list": "nodes.txt"}


def aliases(name):
    """Other ways to call a file: (how, name), made where they need something made."""
    folder, base = os.path.split(name)
    Path("deep").mkdir(exist_ok=True)
    if not os.path.lexists("link"):
        os.symlink(".", "link")
    yield "the same name", name
    yield "./", "./" + name
    yield "..", "deep/../" + name
    yield "an absolute name", str(Path.cwd() / name)
    yield "a folder by a link", "link/" + name
    os.symlink(name, "soft")
    yield "a symbolic link", "soft"
    os.link(name, "hard")
    yield "a hard link", "hard"


def clash(verb, ending, parameter, how):
    """An input that has one of the names that a run writes: what is wrong with the refusal."""
    fresh()
    taken = "o" + ending
    if "/" in taken:
        Path(taken).parent.mkdir()
    os.rename(INPUTS[parameter], taken)
    named = dict(aliases(taken))[how]
    words = ["par=job.par", "output=o"]
    if parameter == "par":
        words[0] = f"par={named}"
    elif parameter == "list":
        Path("line.keymap").write_text(f"lists {named}\nshot 101 600 13 mine\n")
        Path(taken).write_text("list mine\n1 500 20\n2 550 20\n")
    else:
        words.append(f"{parameter}={named}")
        if parameter == "wavelet_file":
            words.append("wavelet=file")
    overwrite = chance.random() < 0.3
    if overwrite:
        words.append("overwrite=y")
    remedy = "another name" if parameter == "par" and ending == "" else "another output"
    expected = [remedy, "" if parameter == "list" else ENDINGS[ending]]
    return refused(lambda timeout: run(verb, *words, timeout=timeout), expected)


ways = ["the same name", "./", "..", "an absolute name", "a folder by a link", "a symbolic link", "a hard link"]
for verb in ("run", "plan", "status", "verify"):
    wrong, tried = [], 0
    read = [parameter for parameter in INPUTS if parameter != "list" or verb in ("run", "plan")]
    for ending in ENDINGS:
        for parameter in read if verb == "run" else chance.sample(read, 2):
            how = chance.choice(ways[:-1] if ending in MANY else ways)
            why = clash(verb, ending, parameter, how)
            tried += 1
            if why:
                wrong.append(f"{parameter} = o{ending} by {how}: {why}")
    claim(not wrong, f"{verb}: {tried} inputs that have the name of a file of the run are refused, nothing is touched (seed "
          f"{SEED}){': ' + wrong[0] if wrong else ''}")
wrong = [f"{how}: {why}" for how in ways for ending in (".log", ".par") for why in [clash("run", ending, "keymap", how)] if why]
claim(not wrong, f"o.log and o.par as the key-map by each of {len(ways)} names{': ' + wrong[0] if wrong else ''}")

os.chdir(HERE)
mini3d.make(shots=1, layers="0 2500 1200 2000\n200 3000 1500 2200\n", output="three.nc")
deck = Path("job.par").read_text()
layers = re.search(r"layers = '?([^'\n]*)", deck)[1].strip()
os.rename(layers, "3.log")
why = refused(lambda timeout: mini3d.run("par=job.par", "layers=3.log", "output=3", timeout=timeout), ["the log", "layers = 3.log"])
claim(not why, f"layers of a 3D job as its own log: {why or 'refused'}")

# --- what lies there ---------------------------------------------------------------------------------------------------


def foreign(name, what):
    """Puts something there that no run wrote."""
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    if what == "a text":
        path.write_text("my notes of the survey\nSplFd2dmod was run on Monday\n")
    elif what == "a text without an end":
        path.write_text("lock")
    elif what == "a folder":
        path.mkdir()
        (path / "mine").write_text("mine")
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a link that leads nowhere":
        os.symlink("nowhere", path)
    elif what == "a link to a device":
        os.symlink("/dev/null", path)
    else:
        path.write_bytes(Path("vp.raw").read_bytes())


KINDS = ("a text", "a folder", "a pipe", "a link that leads nowhere", "a link to a device", "a model")
for verb in ("run", "plan"):
    wrong, tried = [], 0
    for name in ("o", "o.journal", "o.lock", "o.log", "o.par", "o.states", "o.states/shot101.a.state", "o.states/shot7.b.state",
                 "o.snap101.nc"):
        for what in KINDS:
            if name == "o.states" and what == "a folder":
                continue
            fresh()
            foreign(name, what)
            words = ["par=job.par", "output=o", "snapshot=0.05"] + ["overwrite=y"] * (chance.random() < 0.5)
            why = refused(lambda timeout: run(verb, *words, timeout=timeout), [os.path.basename(name)])
            tried += 1
            if why:
                wrong.append(f"{name} is {what}, {words[-1]}: {why}")
    claim(not wrong, f"{verb}: {tried} files that no run wrote are refused by name and stay (seed {SEED})"
          f"{': ' + ' / '.join(wrong[:3]) if wrong else ''}")

# --- a survey whose files were exchanged, and overwrite=y -----------------------------------------------------------------

fresh()
claim(run("par=job.par", "output=o").returncode == 0, "a survey of three shots")
kept = {p.name: p.read_bytes() for p in Path(".").glob("o*")}
claim(sorted(kept) == ["o", "o.journal", "o.log", "o.par"], f"its files: {sorted(kept)}")


def exchanged(name, content):
    for each, data in kept.items():
        Path(each).write_bytes(data)
    Path(name).write_bytes(content)


for name, content in (("o", b"my thesis\n"), ("o", Path("vp.raw").read_bytes()), ("o.journal", b"dear diary\n" * 5),
                      ("o.journal", b"2026\nnotes of the line\n"), ("o.journal", b"\nnotes of the line\n"),
                      ("o.log", b"dear diary\n"), ("o.par", b"fpeak = 12\n"), ("o.par", kept["o.par"].replace(b"= 12 ", b"= 13 "))):
    exchanged(name, content)
    why = refused(lambda timeout: run("par=job.par", "output=o", "overwrite=y", timeout=timeout), [name])
    claim(not why, f"{name} exchanged for {content[:12]!r}, with overwrite=y: {why or 'refused, and it stays'}")
for name in ("o.journal", "o.par"):
    exchanged(name, b"")
    os.truncate(name, 2**42)
    r = run("par=job.par", "output=o", "overwrite=y")
    claim(r.returncode == 1 and f"'{name}', the name of the" in r.stderr and "was not written by a run" in r.stderr and os.path.getsize(name) == 2**42,
          f"{name} exchanged for a file that no memory holds: exit status {r.returncode} {r.stderr[-200:]}")
for name, content in (("o", b""), ("o", kept["o"][:3000]), ("o.journal", b""), ("o.journal", b"0" + kept["o.journal"][1:]),
                      ("o.journal", b"\xff" * 60 + kept["o.journal"][60:]), ("o.log", b"")):
    exchanged(name, content)
    r = run("par=job.par", "output=o", "overwrite=y")
    claim(r.returncode == 0, f"{name} damaged to {len(content)} bytes, {content[:4]!r}: overwrite=y starts anew, exit status {r.returncode} "
          f"{r.stderr[-200:] if r.returncode else ''}")

# --- an output by a link ---------------------------------------------------------------------------------------------------

exchanged("o.par", kept["o.par"])
Path("far").mkdir()
os.rename("o", "far/o")
os.symlink("far/o", "o")
before = Path("far/o").read_bytes()
r = run("par=job.par", "output=o")
claim(r.returncode == 0 and "3 shots are done already" in r.stderr, f"it goes on where it is: exit status {r.returncode}")
r = run("par=job.par", "output=o", "overwrite=y")
claim(r.returncode == 1 and "'o' is a link, in whose place overwrite=y would put a new file" in r.stderr and os.path.islink("o")
      and Path("far/o").read_bytes() == before, f"overwrite=y does not put a file in place of the link: {r.stderr.strip()}")
os.rename("o.journal", "far/o.journal")
r = run("par=job.par", "output=o")
claim(r.returncode == 1 and "'o' is a link, and its journal is not beside the link: give the output by the name of the file itself" in r.stderr,
      f"a link to an output with its journal: {r.stderr.strip()}")
os.rename("far/o.journal", "o.journal")
os.symlink("far/none", "loose")
r = run("par=job.par", "output=loose")
claim(r.returncode == 1 and "'loose' is a link that leads nowhere" in r.stderr, f"an output that would be made by a link: {r.stderr.strip()}")
os.remove("o")

# --- what runs wrote themselves -------------------------------------------------------------------------------------------

exchanged("o.log", kept["o.log"])
for words in (("par=job.par", "output=o"), ("par=o.par",), ("par=./o.par", "output=o"), ("status", "par=o.par"), ("plan", "par=o.par"),
              ("par=o.par", "overwrite=y"), ("par=o.par",)):
    r = run(*words)
    claim(r.returncode == 0, f"{' '.join(words)} goes on with its own files: exit status {r.returncode} {r.stderr[-200:] if r.returncode else ''}")
log = Path("o.log").read_bytes()
claim(log.startswith(kept["o.log"]), "the log is added to")
shutil.copy("o.par", "copy.par")
r = run("par=copy.par", "output=copy")
claim(r.returncode == 0, f"a copy of the record under the name of another run's, unchanged: exit status {r.returncode}")
record = Path("o.par").read_text()
Path("o.par").write_text(re.sub(r"(fpeak +=) 12 ", r"\1 14 ", record) + "# my own notes\n")
why = refused(lambda timeout: run("par=o.par", timeout=timeout), ["o.par", "changed since", "another name"])
claim(not why, f"a record that was edited is not replaced: {why or 'refused'}")
os.rename("o.par", "mine.par")
r = run("par=mine.par", "output=fourteen")
claim(r.returncode == 0 and "# my own notes" in Path("mine.par").read_text() and "fpeak            = 14" in Path("fourteen.par").read_text(),
      f"under a name of its own it is taken: exit status {r.returncode}")
os.symlink("o.journal", "moved")
os.rename("o.log", "log.of.o")
os.symlink("log.of.o", "o.log")
r = run("par=job.par", "output=o")
claim(r.returncode == 0 and os.path.islink("o.log") and Path("log.of.o").read_bytes().startswith(log), "a log that lies elsewhere, by a link, "
      f"is added to: exit status {r.returncode}")

# --- names of what is not whole yet ---------------------------------------------------------------------------------------

fresh()
OWN = ("o.tmp", "o.par.new", "o.notes.half", "o.0123456789abcdeg.half", "o.log.0123456789abcdef.half", "o.lock.1.old")
for name in OWN:
    Path(name).write_text("mine")
os.symlink("precious", "o.snap101.nc.tmp")
LEFT = ("o.0123456789abcdef.half", "o.par.fedcba9876543210.half", "o.snap12.nc.00000000000000ff.half")
for name in LEFT:
    Path(name).write_text("half")
r = run("par=job.par", "output=o", "snapshot=0.05")
claim(r.returncode == 0 and all(Path(n).read_text() == "mine" for n in OWN) and os.path.islink("o.snap101.nc.tmp"),
      f"files whose names begin as the output's stay: exit status {r.returncode}, gone: {[n for n in OWN if not os.path.exists(n)]}")
claim(not any(os.path.exists(n) for n in LEFT), "what a killed run left half-made is removed by the next")
claim(not [p.name for p in Path(".").glob("*.half") if p.name not in OWN], "and nothing is left of this one")

# --- what may not be read -------------------------------------------------------------------------------------------------

if os.getuid() == 0:
    fresh()
    run("par=job.par", "output=o")
    there = Path(tempfile.mkdtemp())               # one that another user reaches
    shutil.copytree(".", there, dirs_exist_ok=True)
    for p in (there, *there.iterdir()):
        os.chown(p, 65534, 65534)
    try:
        for ending in ("journal", "log", "par"):
            closed = there / f"o.{ending}"
            closed.chmod(0)
            r = subprocess.run(command("par=job.par", "output=o"), capture_output=True, text=True, cwd=there, user=65534, group=65534, extra_groups=[])
            closed.chmod(0o644)
            claim(r.returncode == 1 and f"cannot read 'o.{ending}': Permission denied" in r.stderr and "was not written" not in r.stderr,
                  f"o.{ending} of a run that may not be read is not taken for another file: {r.stderr.strip()[-170:]}")
        there.chmod(0)
        r = subprocess.run(command("status", f"output={there}/o"), capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
        claim(r.returncode == 1 and "Permission denied" in r.stderr and "has begun" not in r.stderr,
              f"status of a run in a folder that may not be entered: {r.stderr.strip()[-120:]}")
        r = subprocess.run(command("par=job.par", f"output={there}/in/o"), capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
        claim(r.returncode == 1 and "Permission denied" in r.stderr and "there is no directory" not in r.stderr,
              f"an output in a folder of such a folder: {r.stderr.strip()[-170:]}")
    except PermissionError:
        skip("another user may not run the program here")
    shutil.rmtree(there)

# --- states ---------------------------------------------------------------------------------------------------------------

fresh()
Path("o.states").mkdir()
MINE = ("stations.state", "shot.state", "shot12.state", "shot1.c.state", "notes.half", "shot1.a.state.bak")
for name in MINE:
    (Path("o.states") / name).write_text("mine")
r = run("par=job.par", "output=o", "checkpoint=1e-9", "overwrite=y")
left = sorted(p.name for p in Path("o.states").iterdir())
claim(r.returncode == 0 and left == sorted(MINE), f"what the user keeps in the folder of states stays: {left}")

fresh()
make(shots=1)
LONG = ("checkpoint=0.0002", "tmax=60", "fpeak=10")              # a state every 12 ms
gate = Gate("o", 6)                                              # it stands still after a hundred loops of more, each of which takes 5 ms
p = subprocess.Popen(command("par=job.par", "output=o", *LONG), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                     env=preload(os.environ, slow_machine(5000), gate.env))
wait_until(gate.reached, process=p)
kick(p.pid, sig=signal.SIGSTOP)
gate.open()
before = listing("o.states")
r = run("par=job.par", "output=o", *LONG, "overwrite=y")
claim(len(before) >= 2 and r.returncode == 1 and "in use" in r.stderr and listing("o.states") == before,
      f"a second job with overwrite=y is refused and leaves the {len(before)} files of states of the first: exit status {r.returncode}: "
      f"{r.stderr.strip()[-120:]}")
p.kill()
p.wait()
r = run("par=job.par", "output=o", *LONG, timeout=400)
claim(r.returncode == 0 and "goes on after step" in r.stderr, f"killed, the same command goes on from a state: exit status {r.returncode}")
r = run("par=job.par", "output=again", "checkpoint=0", *LONG[1:], timeout=400)
claim(r.returncode == 0 and differences("o", "again") == [], "the same bits as without a stop")
done()
