#!/usr/bin/env python3
"""A lock that another user has left in a folder like /tmp, where only its owner may remove it: the job is refused, and told whose it is
and what to do; nothing is tried for ever."""
import os
import subprocess
from pathlib import Path

from check import PATIENCE, claim, done, skip
from minisurvey import PROGRAM, differences, make, run

OWNER, USER = 65534, 64001                      # numbers of two users; only the first need have a name
if os.getuid() != 0:
    skip("only root can act as other users")
    done()
FOLDER = Path("common")
Path().absolute().chmod(0o755)                  # a scratch folder is its owner's alone
READABLE = [p for p in PROGRAM.resolve().parents if not p.stat().st_mode & 0o001]
HERE = [p for p in FOLDER.absolute().parents if not p.stat().st_mode & 0o001]
if READABLE or HERE:
    skip(f"other users cannot reach {(READABLE + HERE)[0]}")
    done()


def as_user(user, *words, umask=0o022):
    """The finished process of another user, in the common folder."""
    return subprocess.run(words, cwd=FOLDER, user=user, group=user, extra_groups=[], umask=umask, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE, env={**os.environ, "TMPDIR": "/tmp", "HOME": "/"})


def job(output):
    """A job of the second user."""
    return as_user(USER, str(PROGRAM.resolve()), "par=../job.par", "keymap=../line.keymap", "vp=../vp.raw", "rho=../rho.raw", f"output={output}")


def names(output):
    return sorted(p.name for p in FOLDER.glob(output + "*"))


# The lock of a process of this machine that has ended: the program itself wrote it, and was killed.
make()
FOLDER.mkdir()
FOLDER.chmod(0o1777)
for name in ("job.par", "line.keymap", "vp.raw", "rho.raw"):
    Path(name).chmod(0o644)
run("par=job.par", "output=whole.nc")
r = job("free.nc")
claim(r.returncode == 0 and not differences("whole.nc", FOLDER / "free.nc"), f"a job of user {USER} in a folder for all: exit status {r.returncode}"
      + (r.stderr[-500:] if r.returncode else ""))
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
SPACE = os.readlink("/proc/self/ns/pid")
TOKEN = "0123456789abcdef"
LINE = f"lock 1 user=nobody host=here since=2026-11-21T09:00:00Z pid={{pid}} here={BOOT}/{SPACE}/1 token={{token}} does=deals beat=000000000001\n"
dead = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True).stdout.strip()


def left_by_other(name, token=TOKEN, umask=0o022):
    """A lock of a dead process of the first user."""
    path = FOLDER / name
    path.write_text(LINE.format(pid=dead, token=token))
    os.chown(path, OWNER, OWNER)
    path.chmod(0o666 & ~umask)


left_by_other("left.nc.lock")
r = job("left.nc")
claim(r.returncode == 1 and "cannot take the lock 'left.nc.lock' of user " in r.stderr and "to remove it, or choose another output" in r.stderr
      and "takes over" not in r.stderr and names("left.nc") == ["left.nc.lock"],
      f"a lock of a dead job of another user: exit status {r.returncode}, only that lock is there {names('left.nc')}: {r.stderr.strip()[-250:]}")
left_by_other("secret.nc.lock", umask=0o077)
r = job("secret.nc")
claim(r.returncode == 1 and "cannot read the lock 'secret.nc.lock': Permission denied: ask its owner" in r.stderr,
      f"one that may not be read: exit status {r.returncode}: {r.stderr.strip()[-200:]}")

# The user's own lock of a dead job, and another user died over taking it: what gives him the right to it may not be removed.
for umask, why in ((0o022, "Operation not permitted"), (0o077, "Permission denied")):
    output = f"heir{umask}.nc"
    (FOLDER / f"{output}.lock").write_text(LINE.format(pid=dead, token="f" * 16))
    os.chown(FOLDER / f"{output}.lock", USER, USER)
    left_by_other(f"{output}.lock.{'f' * 16}.dead", umask=umask)
    r = job(output)
    claim(r.returncode == 1 and f"cannot take the lock '{output}.lock.{'f' * 16}.dead' of user " in r.stderr and why in r.stderr,
          f"another user died as he took it over, {why}: exit status {r.returncode}: {r.stderr.strip()[-250:]}")
r = run("par=job.par", f"output={FOLDER}/left.nc")
claim(r.returncode == 0 and "takes over" in r.stderr and names("left.nc.lock") == [], f"root may: exit status {r.returncode}")
done()
