"""Command lines of the tools: how they start, fail, and write files.

A tool is three lines: put its folder on the path, import `run`, call run('spltools.SUBJECT'); commands.py has the same for pip.
The module SUBJECT has a procedure main(arguments) that returns an exit status or None.
"""

import argparse
import contextlib
import difflib
import errno
import importlib
import math
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
import zlib
from typing import NoReturn

PACKAGES = {
    'numpy': 'python3-numpy',
    'netCDF4': 'python3-netcdf4',
    'segyio': 'python3-segyio',
    'matplotlib': 'python3-matplotlib',
    'PIL': 'python3-pil',
    'scipy': 'python3-scipy',
    'meshio': 'python3-meshio',
    'h5py': 'python3-h5py',
    'obspy': 'python3-obspy',
    'pyproj': 'python3-pyproj',
    'xarray': 'python3-xarray',
}
FULL = (errno.ENOSPC, errno.EDQUOT)
NO_MEMORY = 'not enough memory for this file; take a part of it, or a machine with more'
PIP = ('obspy',)  # few releases of Debian have them

as_lines = True  # warnings are lines of stderr; False once a name of the package itself was asked for, as only Python programs do
inputs: set = set()  # every file that was read, for no output may take the place of one


class Unwritten(OSError):
    """A file in the making cannot be written."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, of `kill` or of a batch system: files in the making go, as they do after Ctrl-C."""


class Failure(Exception):
    """One sentence for the user: the value, the limit and what to do."""


def fail(sentence: str) -> NoReturn:
    """Ends the tool: the sentence goes to stderr as "error: ...", the exit status is 1."""
    raise Failure(sentence)


def warn(sentence):
    """Something the user should know, on stderr; the tool goes on. A Python program gets a Python warning."""
    if as_lines:
        print('warning: ' + sentence, file=sys.stderr)
    else:
        warnings.warn(sentence, stacklevel=3)


def counted(n, one, many='', form=''):
    """'1 shot', '12 shots'; `many` where that is not `one` with an s."""
    return f'{n:{form}} ' + (one if n == 1 else many or one + 's')


def say(sentence=''):
    """Prints the answer to the user on stdout."""
    with _stdout_named():
        print(sentence)


@contextlib.contextmanager
def _stdout_named():
    """Says of stdout that it cannot be written, as of a file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        _drop_stdout()
        raise OSError(problem.errno, problem.strerror, 'cannot write to standard output') from problem


def _drop_stdout():
    """What is still to be printed goes nowhere: at its end Python would try once more, and say that it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def named(option, word):
    """A choice by the name that the user has for it: an option of a command line, or a word of a Python program."""
    return option if as_lines else word


def run(module):
    """Imports `module`, calls its main(arguments) and exits; whatever goes wrong becomes a sentence."""
    signal.signal(signal.SIGTERM, _terminate)
    _set_streams()
    try:
        _check_words(sys.argv[1:])
        status = importlib.import_module(module).main(sys.argv[1:]) or 0
        with _stdout_named():
            sys.stdout.flush()
    except Failure as failure:
        status = _told(str(failure))
    except ModuleNotFoundError as missing:
        _try_other_python(missing.name)
        status = _told(_missing_module(missing.name))
    except BrokenPipeError:  # the reader of our output, e.g. `head`, has seen enough
        _drop_stdout()
        status = 0
    except OSError as problem:
        status = _told(NO_MEMORY if problem.errno == errno.ENOMEM else os_sentence(problem))
    except MemoryError:
        status = _told(NO_MEMORY)
    except KeyboardInterrupt as stop:
        by, status = stopped_by(stop)
        _told(f'stopped by {by}; no output file was left behind')
    except Exception as problem:  # a fault of ours: still one sentence, the trace on demand
        if os.environ.get('SPL_TRACE'):
            traceback.print_exc()
        status = _told(
            f'fault in this tool: {type(problem).__name__}: {problem} '
            '(run again with SPL_TRACE=1 in the environment and report what it prints)'
        )
    sys.exit(status)


def _set_streams():
    """Names and files are UTF-8 whatever the locale: where Python was told another encoding it is started once more. What stdout
    cannot show is told by its code. Streams that the caller has closed lead nowhere, lest a file get their numbers."""
    if sys.getfilesystemencoding() != 'utf-8':
        os.execv(sys.executable, [sys.executable, '-X', 'utf8', *sys.argv])
    for name in ('stdin', 'stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'r' if name == 'stdin' else 'w', encoding='utf-8'))
    sys.stdout.reconfigure(errors='backslashreplace')


def _terminate(*_):
    raise Terminated


def stopped_by(interrupt):
    """Who stopped the tool, in words, and its exit status."""
    return ('SIGTERM', 143) if isinstance(interrupt, Terminated) else ('the keyboard', 130)


def _check_words(words):
    """Neither NetCDF nor a text of ours can hold bytes that are no text."""
    for word in words:
        _check_name(word)


def _check_name(path):
    try:
        shown = os.fsencode(path).decode(errors='backslashreplace')
    except UnicodeEncodeError:
        fail(f"'{path}' cannot be named in the {sys.getfilesystemencoding()} encoding of this Python: start it with PYTHONUTF8=1")
    try:
        os.fsdecode(path).encode()
    except UnicodeEncodeError:
        fail(f"'{shown}' is no text in UTF-8; give the file another name")


def os_sentence(problem):
    """The sentence of an OSError: file and reason."""
    reason = problem.strerror or str(problem)
    return f'{problem.filename}: {reason}' if problem.filename else reason


def _told(sentence, status=1):
    print('error: ' + sentence, file=sys.stderr)
    return status


def _missing_module(name):
    whole = (name or '').split('.')[0]
    how = ''
    if whole in PACKAGES:
        how = ': run tools/setup test, or: ' + (f'pip install {whole}' if whole in PIP else f'apt-get install {PACKAGES[whole]}')
    return f"the Python module '{name}' is missing for {sys.executable}{how}"


def _try_other_python(name):
    """A python3 first on PATH (conda, pyenv) may lack what the system's has: go there once."""
    if (name or '').split('.')[0] not in PACKAGES or os.environ.get('SPL_OTHER_PYTHON'):
        return
    beside = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if os.path.dirname(os.path.realpath(sys.argv[0])) != beside:  # installed by pip: the other Python may not have this package
        return
    root = os.path.dirname(beside)
    for python in (os.path.join(root, 'build', 'venv', 'bin', 'python'), '/usr/bin/python3'):
        if os.access(python, os.X_OK) and python != sys.executable:  # that of build/venv may be a link to the system's
            sys.stderr.flush()
            os.execve(python, [python] + sys.argv, dict(os.environ, SPL_OTHER_PYTHON='1'))


class Print(argparse.Action):
    """Prints a text that is made of the parser, as --help does."""

    def __init__(self, of, **words):
        super().__init__(nargs=0, default=argparse.SUPPRESS, **words)
        self.of = of

    def __call__(self, parser, namespace, values, option_string=None):
        with _stdout_named():
            print(getattr(importlib.import_module('spltools.manual'), self.of)(parser), flush=True)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """argparse with our way of failing: one sentence, the nearest option, exit status 1."""

    def __init__(self, **words):
        words.setdefault('formatter_class', argparse.RawDescriptionHelpFormatter)
        super().__init__(allow_abbrev=False, **words)
        self._negative_number_matcher = re.compile(r'-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$')      # argparse's has no -1e4
        if ' ' not in self.prog:  # no verb of a tool
            self.add_argument('--man', action=Print, of='page', help='print the manual page (man -l -) and exit')
            self.add_argument('--completion', action=Print, of='completion',
                              help='print what bash needs to complete words, and exit')

    def _print_message(self, message, file=None):
        with _stdout_named() if file is sys.stdout else contextlib.nullcontext():
            super()._print_message(message, file)
            if file is sys.stdout:
                file.flush()

    def parse_known_args(self, args=None, namespace=None):
        self.given = list(args or [])
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:  # told here, where the options of this verb are known
            self.error(f'unrecognized arguments: {" ".join(unknown)}')
        return found, unknown

    def error(self, message):
        fail(f'{message}{self._nearest(message)}; see {self.prog} --help')

    def _nearest(self, message):
        """The option or word that a misspelt one was meant to be."""
        wrong = re.search("invalid choice: '([^']*)' \\(choose from (.*)\\)", message)
        if wrong:
            near = difflib.get_close_matches(wrong[1], re.findall("[^', ]+", wrong[2]), 1)
            return f': did you mean {near[0]}?' if near else ''
        known = [s for action in self._actions for s in action.option_strings]
        for word in (w.split('=')[0] for w in self.given):
            near = difflib.get_close_matches(word, known, 1)
            if word.startswith('--') and word not in known and near:
                return f' (unknown option {word}: did you mean {near[0]}?)'
        return ''


def number(lo=-math.inf, hi=math.inf, unit='', above=False, whole=False):
    """An argparse type: a finite number in lo..hi (`above`: > lo), or a sentence with the limits."""

    def convert(text):
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            kind = 'whole number' if whole else 'number'
            how = ', write decimals with a point' if ',' in text else f', give it alone, in {unit}' if unit else ''
            raise argparse.ArgumentTypeError(f"'{text}' is no {kind}{how}") from None
        if not math.isfinite(value) or value > hi or value < lo or (above and value == lo):
            limits = f'> {lo:g}' if above else f'>= {lo:g}'
            limits = limits if hi == math.inf else f'{limits} and <= {hi:.10g}'
            raise argparse.ArgumentTypeError(f'{text} is out of range: {limits} {unit}'.rstrip())
        return value

    return convert


def check_output(path, overwrite):
    """Fails early, before any work, where `path` cannot become a new file. overwrite=None: the tool replaces no file."""
    if not path:
        fail('the name of the output is empty; give the name of a file')
    _check_name(path)
    folder = os.path.dirname(path) or '.'
    if not os.path.isdir(folder):
        fail(f"{path}: the folder '{folder}' does not exist; make it first")
    if os.path.isdir(path):
        fail(f'{path} is a folder; give the name of a file')
    remove_halves(path)
    if _is_input(path):
        fail(f'{path} would overwrite an input: choose another name')
    if os.path.lexists(path) and not os.path.isfile(path) and not os.path.islink(path):
        fail(f'{path} is a device or a pipe, which a file would take the place of; give the name of a file')
    if os.path.lexists(path) and not overwrite:
        fail(f'{path} exists already; {_instead(overwrite)}')
    if not os.access(folder, os.W_OK):
        fail(f"{path}: no permission to write in '{folder}'")


def _instead(overwrite):
    return 'give another name' + ('' if overwrite is None else ' or ' + named('--overwrite', 'overwrite=True'))


def _is_input(path):
    """Whether `path` is a file that was read, by this name, another one or a link."""
    return os.path.exists(path) and any(os.path.exists(one) and os.path.samefile(path, one) for one in inputs)


def check_input(path):
    """Fails with a sentence where `path` is no readable, non-empty file. Returns its size in bytes."""
    _check_name(path)
    inputs.add(path)
    if os.path.isdir(path):
        fail(f'{path} is a folder; give a file')
    if not os.path.exists(path):
        fail(f'{path}: no such file; check the name')
    if not os.path.isfile(path):
        fail(f'{path} is a pipe or a device; give a file')
    if not os.access(path, os.R_OK):
        fail(f'{path}: no permission to read it')
    size = os.path.getsize(path)
    if size == 0:
        fail(f'{path} is empty')
    return size


@contextlib.contextmanager
def new_file(path, overwrite=False):
    """Gives a temporary name beside `path`; the file becomes `path` (synced, renamed) if all went well."""
    check_output(path, overwrite)
    temporary = _temporary(path)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes files that only their owner can read
        _sync(temporary)
        if overwrite:
            os.replace(temporary, path)
        else:
            try:
                _appear(temporary, path)
            except FileExistsError:
                fail(f'{path} appeared while this tool was working; {_instead(overwrite)}')
        _sync(os.path.dirname(path) or '.')
    except (OSError, RuntimeError) as problem:
        if not isinstance(problem, Unwritten) or problem.filename == temporary:     # else it is of another one
            _full(path, problem)
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _appear(temporary, path):
    """A file gets its name, which unlike rename refuses one that came meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # file systems without hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            os.replace(temporary, path)
        except OSError:
            os.unlink(path)
            raise


def _started(pid):
    """When a process of this machine has started, in the kernel's count; None: there is none."""
    try:
        with open(f'/proc/{pid}/stat', encoding='latin-1') as file:
            return int(file.read().rpartition(')')[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _machine():
    """The running system and the process space in it, within which numbers of processes tell; '' where that is unknown."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as file:
            return f'{zlib.crc32((file.read() + os.readlink("/proc/self/ns/pid")).encode()):08x}'
    except OSError:
        return ''


def remove_halves(path):
    """Removes the files that processes of this machine and user which were killed had begun for an output of that name."""
    folder, name = os.path.split(path)
    form = re.compile(re.escape(f'.{name}.{_machine() or "-"}-') + r'([0-9a-f]+)-([0-9a-f]+)\.[^.]{8}\.tmp')
    with contextlib.suppress(OSError):
        for left in filter(None, map(form.fullmatch, os.listdir(folder or '.'))):
            file = os.path.join(folder, left[0])
            if os.lstat(file).st_uid == os.geteuid() and _started(int(left[1], 16)) != int(left[2], 16):
                os.unlink(file)


def _temporary(path):
    """A new file beside `path`, which has the process in its name."""
    folder, name = os.path.split(path)
    mine = f'{_machine()}-{os.getpid():x}-{_started(os.getpid()):x}.' if _machine() else ''
    if len(os.fsencode(name)) + len(mine) > 240:               # a name has 255 bytes
        mine = ''
    handle, temporary = tempfile.mkstemp(prefix=f'.{name}.{mine}', suffix='.tmp', dir=folder or '.')
    os.close(handle)
    return temporary


@contextlib.contextmanager
def new_dataset(path, overwrite=False, **words):
    """The same as an open netCDF4.Dataset; `words` are of netCDF4.Dataset."""
    with new_file(path, overwrite) as temporary, dataset(temporary, 'w', **words) as file:
        yield file


@contextlib.contextmanager
def dataset(path, mode, **words):
    """netCDF4.Dataset, to write: after a failure the library has let go of the file, and crashes where Python closes it again."""
    import netCDF4

    file = netCDF4.Dataset(path, mode, **words)
    try:
        yield file
        file.close()
    except BaseException as problem:
        file._isopen = 0
        if isinstance(problem, RuntimeError):  # of the library, which calls a full disk by other names
            raise Unwritten(errno.EIO, _refusal(path) or str(problem), path) from problem
        raise


def _refusal(path):
    """The system's reason not to let a file grow, None if it may."""
    try:
        with open(path, 'ab') as file:
            file.write(bytes(1 << 16))
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        return problem.strerror
    return None


def _full(path, problem):
    """Fails with a sentence where a file could not be written, mostly for want of room."""
    text = problem.strerror if isinstance(problem, OSError) else str(problem)
    if text == os.strerror(errno.EFBIG):
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        known = '' if limit == resource.RLIM_INFINITY else f': this process may write {limit / 1e6:.3g} MB a file (ulimit -f)'
        fail(f'{path} cannot be written: {text}{known}; raise that limit, or write elsewhere')
    if isinstance(problem, Unwritten) or getattr(problem, 'errno', 0) in FULL or text in map(os.strerror, FULL):
        folder = os.path.dirname(path) or '.'
        free = shutil.disk_usage(folder).free
        fail(f"{path} cannot be written: {text}; '{folder}' has {free / 1e6:.3g} MB free: make room there, or write elsewhere")


def _sync(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:  # some file systems cannot sync a folder
        if not os.path.isdir(path):
            raise
    finally:
        os.close(handle)
