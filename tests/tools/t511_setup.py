#!/usr/bin/env python3
"""The set-up script is quick when nothing is missing, asks apt for what is, and says what to do where it may not."""
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

from check import claim, done, skip

ROOT = Path(os.environ["ROOT"])
HERE = Path.cwd()
BASIC = "bash env cat sed id dirname tr"         # what the script itself may use of the system
BUILD = "make awk gcc gfortran mpifort mpirun nc-config"


def machine(name, programs, **scripts):
    """A folder that stands for a machine: links to programs that exist there, and scripts of our own."""
    folder = HERE / name
    folder.mkdir()
    for p in programs.split():
        (folder / p).symlink_to(shutil.which(p))
    for p, body in scripts.items():
        (folder / p.replace("_", "-")).write_text("#!/bin/bash\n" + body)
        (folder / p.replace("_", "-")).chmod(0o755)
    return folder


def processor_time():
    """Of the children of this process that have ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def setup(folder, *args, python=None):
    """Runs a copy of tools/setup on such a machine, whose Python may be another: exit status, stdout, stderr, seconds of processor time."""
    tree = HERE / f"tree_{folder.name}"
    (tree / "tools").mkdir(parents=True, exist_ok=True)
    text = (ROOT / "tools/setup").read_text()
    (tree / "tools/setup").write_text(text if python is None else text.replace("/usr/bin/python3", python))
    start = processor_time()
    r = subprocess.run([shutil.which("bash"), str(tree / "tools/setup"), *args], env={"PATH": str(folder), "HOME": str(HERE)},
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return r.returncode, r.stdout, r.stderr, processor_time() - start


full = machine("full", f"{BASIC} {BUILD}")
runs = [setup(full, "build") for _ in range(3)]
claim(all(r[:3] == (0, "", "") for r in runs), f"nothing missing: exit 0 and no word (said: {runs[0][2].strip() or 'nothing'})")
claim(min(r[3] for r in runs) < 0.3, f"nothing missing: {min(r[3] for r in runs):.3f} s of processor time, at most 0.3 s")

bare = machine("bare", BASIC + " gcc")
status, _, said, _ = setup(bare, "build")
line = said.strip().split("\n")[-1]
claim(status == 1 and line.startswith("apt-get update && apt-get install -y --no-install-recommends "),
      f"no apt: exit 1 and one line: {line}")
wanted = {"make", "gfortran", "libopenmpi-dev", "openmpi-bin", "libnetcdf-dev"}
claim(wanted <= set(line.split()), f"the line names all of: {' '.join(sorted(wanted))}")
claim("zlib1g-dev" not in line, "and not what is there already (the zlib header)")

# what a tool says where a module is missing installs it; -S: a Python without modules
r = subprocess.run([sys.executable, "-S", str(ROOT / "tools/spl-model"), "info", "none.nc"], env={**os.environ, "SPL_OTHER_PYTHON": "1"},
                   capture_output=True, text=True)
purpose = re.search(r"'numpy' is missing .*: run tools/setup *(\w*), or: apt-get install python3-numpy", r.stderr)
needs = re.search(rf"needs_{purpose and purpose[1] or 'build'}\(\) {{(.*?)\n}}", (ROOT / "tools/setup").read_text(), re.S)[1]
claim("numpy" in needs.split(), f"a tool without its module names what installs it: {r.stderr.strip()}")

log = HERE / "log"
root = 'if [ "$1" = -u ]; then echo 0; fi\n'
apt = f'echo "apt-get $*" >> {log}\n'
full_basic = BASIC.replace("id ", "")
asroot = machine("asroot", f"{full_basic} gcc", id=root, apt_get=apt, apt_cache="exit 0\n")
status, _, said, _ = setup(asroot, "build")
calls = log.read_text().splitlines()
claim(status == 0 and len(calls) == 2 and calls[0].endswith(" update") and " install -y --no-install-recommends " in calls[1],
      f"root: update, then one install without recommended packages: {calls[-1]}")
claim("setup: apt-get install" in said and "gfortran" in said, f"root: it says what it installs: {said.strip().splitlines()[-1]}")

log.unlink()
user = 'if [ "$1" = -u ]; then echo 1000; fi\n'
sudo = f'echo "sudo $*" >> {log}; shift; "$@"\n'
withsudo = machine("withsudo", f"{full_basic} gcc true", id=user, apt_get=apt, apt_cache="exit 0\n", sudo=sudo)
status, _, said, _ = setup(withsudo, "build")
calls = log.read_text().splitlines()
claim(status == 0 and any("DEBIAN_FRONTEND=noninteractive" in c for c in calls),
      "not root, sudo: installs through sudo, without questions")

nosudo = machine("nosudo", f"{full_basic} gcc true", id=user, apt_get=apt, apt_cache="exit 0\n", sudo="exit 1\n")
log.unlink()
status, _, said, _ = setup(nosudo, "build")
claim(status == 1 and not log.exists() and "by hand" in said.lower(),
      "not root, sudo refuses: nothing is called, the line is printed, exit 1")

broken = machine("broken", f"{full_basic} gcc", id=root, apt_get="exit 100\n", apt_cache="exit 0\n")
status, _, said, _ = setup(broken, "build")
claim(status == 1 and "apt-get failed" in said, "apt-get fails: exit 1 and the line to do it by hand")

# A name that other packages alone know, as python3-segyio in Ubuntu 24.04: apt-cache says nothing of it, and is content.
known = f'case $2 in python3-*) ;; *) echo "Package: $2" ;; esac\n{apt}'
unknown = machine("unknown", f"{full_basic} {BUILD} python3", id=root, apt_get=apt, apt_cache=known, realpath="echo /dev/null/venv\n")
log.unlink(missing_ok=True)
status, _, said, _ = setup(unknown, "fuzz")
asked = " ".join(line for line in log.read_text().splitlines() if "install" in line)
claim("python3-atheris" not in asked and re.search("pip install .*atheris", said),
      f"a module whose package is but a name comes from PyPI: {said.strip().splitlines()[-1]}")

status, out, said, _ = setup(full, "biuld")
claim(status == 1 and "biuld" in said and "test" in said, f"an unknown word is refused: {said.strip()}")

r = subprocess.run(["bash", str(ROOT / "tools/setup"), "python"], stdout=subprocess.PIPE, text=True)
python = r.stdout.strip()
works = r.returncode == 0 and subprocess.run([python, "-c", "import numpy, matplotlib, netCDF4, segyio, xarray, meshio, h5py"]).returncode == 0
claim(works, f"python: {python} imports numpy, matplotlib, netCDF4, segyio, xarray, meshio and h5py")

# build/venv goes before the system's interpreter; one without the modules is passed over
tree = HERE / "tree_full"
(tree / "build/venv/bin").mkdir(parents=True)
fake = tree / "build/venv/bin/python"
fake.write_text("#!/bin/bash\nexit 0\n")
fake.chmod(0o755)
claim(setup(full, "python")[1].strip() == str(fake), "python: build/venv is preferred")
modules = "import numpy, matplotlib, netCDF4, segyio, xarray, meshio, h5py, pip"
system = subprocess.run(["/usr/bin/python3", "-c", modules], stderr=subprocess.DEVNULL).returncode == 0
quick = setup(full, "python", "quick")[1].strip()
claim(quick == ("/usr/bin/python3" if system else str(fake)), f"python quick: {quick}, the system's where it has the modules")
fake.write_text("#!/bin/bash\nexit 1\n")
claim(setup(full, "python")[1].strip() != str(fake), "python: a build/venv that lacks modules is passed over")
for word in ("demo", "quick"):
    status, _, said, _ = setup(full, "python", word, python=str(fake))
    advice = (re.findall(r"Run: tools/setup (\w+)", said) or ["nothing"])[0]
    claim(status == 1 and f"needs_{advice}" in (ROOT / "tools/setup").read_text() and advice != "quick",
          f"python {word}: where no Python has the modules it says what installs them: {said.strip()}")

# build/venv may be a link, as to one that several copies of the sources share: modules go where it leads
if subprocess.run(["/usr/bin/python3", "-c", "import ensurepip"], stderr=subprocess.DEVNULL).returncode:
    skip("no /usr/bin/python3 with ensurepip")
    done()
shared, tree = HERE / "shared", HERE / "tree_linked"
(tree / "build").mkdir(parents=True)
(tree / "tools").mkdir()
shared.mkdir()
(tree / "build/venv").symlink_to(shared)
text = (ROOT / "tools/setup").read_text()
(tree / "tools/setup").write_text(text.replace('\nmain "$@"', "\npip_install none-of-this-name"))
r = subprocess.run(["bash", str(tree / "tools/setup")], capture_output=True, text=True, env={**os.environ, "PIP_NO_INDEX": "1"})
claim(text.count('\nmain "$@"') == 1 and (shared / "bin/python").exists() and (tree / "build/venv").is_symlink() and
      "none-of-this-name" in r.stderr.split("into build/venv")[-1], f"build/venv is a link: pip gets to work there: {r.stderr.strip()[-200:]}")
done()
