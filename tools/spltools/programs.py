"""The programs called from Python: plan, run, status, verify."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, fields
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Tuple, Union

from spltools.cli import Failure

PROGRAM = 'SplFd2dmod'
FOLDER = 'SPL_BIN'  # environment: the folder of the programs
PARKED, STOPPED = 2, 3  # exit statuses

Path = Union[str, 'os.PathLike[str]']
Launcher = Union[str, Sequence[str]]


class ProgramError(Failure):
    """A program ended with another exit status than 0. `text` is all it said on stderr."""

    def __init__(self, sentence: str, exit_status: int, text: str) -> None:
        super().__init__(sentence)
        self.exit_status, self.text = exit_status, text


@dataclass(frozen=True)
class Plan:
    """What a run would be: `rows` {label: value} of its `text`, and what it warns of."""

    text: str
    rows: Dict[str, str]
    warnings: List[str]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Status:
    """How far a survey is: the fields of `status --json` (inputs/running.md); None where there is nothing to say."""

    output: str
    state: str
    cause: Optional[str]
    reason: Optional[str]
    exit_status: Optional[int]
    running: bool
    total: Optional[int]
    done: int
    parked: int
    left: Optional[int]
    runs: int
    started: Optional[str]
    ended: Optional[str]
    group: Optional[int]
    shots_per_hour: Optional[float]
    seconds_left: Optional[float]
    dealt: List[int]
    parked_records: List[int]
    last_loss: Optional[Dict[str, Any]]
    stop_file: bool
    grown: Optional[str]
    next: Optional[str]


@dataclass(frozen=True)
class Run:
    """A run that has ended: 0 all shots are done, 2 some are parked, 3 stopped, and the same call goes on. `status` is that of the
    output, None where output= was not given."""

    exit_status: int
    text: str
    output: Optional[str]
    status: Optional[Status]


@dataclass(frozen=True)
class Verification:
    """What `verify` found on this machine: for each check whether it passed, and its sentence."""

    passed: bool
    checks: List[Tuple[bool, str]]
    text: str

    def __bool__(self) -> bool:
        return self.passed


def find_program(program: Path = PROGRAM) -> str:
    """The path of a program, by its path, else by its name in the folder of the environment's SPL_BIN, else in those of PATH."""
    name = os.fspath(program)
    if os.path.dirname(name):
        if not os.path.isfile(name) or not os.access(name, os.X_OK):
            raise Failure(f'{name} is no program that can be run: build it by make, or give the right path as program=')
        return os.path.abspath(name)
    folder = os.environ.get(FOLDER)
    found = shutil.which(name, path=folder) if folder else shutil.which(name)
    if not found:
        where = f'{folder}, the folder of {FOLDER} in the environment' if folder else 'any folder of PATH'
        raise Failure(f'{name} is not in {where}: install it by make install, or set {FOLDER} to the folder that holds it (after '
                      f'make build/cpu/bin or build/gpu/bin of the sources), or give program=PATH')
    return os.path.abspath(found)


def plan(*, program: Path = PROGRAM, ranks: int = 1, launcher: Launcher = 'mpirun', folder: Optional[Path] = None,
         **parameters: Any) -> Plan:
    """Grid, time step, margins, memory, disk and time of a run with these parameters; models nothing. Every fault of the input is
    told at once, in the sentence of the ProgramError."""
    ended = _call([find_program(program), 'plan', *_words(parameters)], ranks, launcher, folder)
    if ended.returncode:
        _fail('plan', ended.returncode, ended.stderr)
    rows = _rows(ended.stdout)
    return Plan(ended.stdout.rstrip('\n'), rows, _marked(ended.stderr, 'warning: ') + rows.get('warning', '').splitlines())


def run(*, program: Path = PROGRAM, ranks: int = 1, launcher: Launcher = 'mpirun', folder: Optional[Path] = None,
        echo: bool = False, check: bool = True, output: Optional[Path] = None, **parameters: Any) -> Run:
    """Models the shots that are not done, and returns when all are; the same call again goes on after any stop.

    parameters: those of the program (`SplFd2dmod --help`): numbers, texts, paths, True and False; sequences are joined by commas;
    None is left out; par=FILE reads a deck. program: 'SplFd2dmod', 'SplFd3dmod' or 'SplSemmod', or a path. ranks: processes; of
    several the first deals shots and writes, the others model. launcher: 'mpirun', or all words before the program, in which
    {ranks} stands for their number, such as ('srun', '-n', '{ranks}'). folder: where the program starts. echo: what it says goes to
    stderr while it runs.

    Faults of the input are a ProgramError before anything is computed. So are parked shots (exit status 2) and a stop (3), unless
    check=False. KeyboardInterrupt stops the dealing, waits for the shots in flight, and is raised then; the second one ends them.
    """
    if output is not None:
        parameters['output'] = output
    ended = _call([find_program(program), *_words(parameters)], ranks, launcher, folder, echo, patient=True)
    if ended.returncode and (check or ended.returncode not in (PARKED, STOPPED)):
        _fail('run', ended.returncode, ended.stderr)
    name = None if output is None else os.fspath(output)
    return Run(ended.returncode, ended.stderr, name, None if name is None else status(name, program=program, folder=folder))


def status(output: Path, *, program: Path = PROGRAM, folder: Optional[Path] = None) -> Status:
    """How far a survey is, while it runs and after; `state` is 'not_begun' where there is no journal."""
    ended = _call([find_program(program), 'status', *_words({'output': output}), '--json'], 1, 'mpirun', folder)
    try:
        said = json.loads(ended.stdout)
    except ValueError:
        _fail('status', ended.returncode, ended.stderr)
    return Status(**{field.name: said.get(field.name) for field in fields(Status)})


def verify(*, program: Path = PROGRAM, ranks: int = 1, launcher: Launcher = 'mpirun', **parameters: Any) -> Verification:
    """Compares variants, worker counts and the analytic solution on this machine. False where a check fails."""
    ended = _call([find_program(program), 'verify', *_words(parameters)], ranks, launcher, None)
    lines = [line.split(None, 1) for line in ended.stdout.splitlines()]
    checks = [(line[0] == 'pass', line[1]) for line in lines if len(line) == 2 and line[0] in ('pass', 'FAIL', 'fail')]
    if not checks:
        _fail('verify', ended.returncode, ended.stderr)
    return Verification(ended.returncode == 0 and all(ok for ok, _ in checks), checks, ended.stdout.rstrip('\n'))


# --- words down, what was said up -------------------------------------------------------------------------------


def _words(parameters: Dict[str, Any]) -> List[str]:
    return [f'{name}={_text(name, value)}' for name, value in parameters.items() if value is not None]


def _text(name: str, value: Any) -> str:
    if hasattr(value, 'item') and getattr(value, 'ndim', 1) == 0:  # a number of numpy
        value = value.item()
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if hasattr(value, '__iter__'):
        return ','.join(_text(name, one) for one in value)
    raise Failure(f'{name} = {value!r}: must be a number, a text, a path, True or False, or a sequence of them')


def _prefix(ranks: int, launcher: Launcher) -> List[str]:
    """The words before the program."""
    if not isinstance(launcher, str):
        return [str(word).replace('{ranks}', str(ranks)) for word in launcher]
    if isinstance(ranks, str) or not ranks >= 1 or ranks != int(ranks):
        raise Failure(f'ranks = {ranks!r}: must be a whole number, 1 or more')
    if ranks == 1:
        return []
    found = shutil.which(launcher)
    if not found:
        raise Failure(f'{launcher}, which launches several ranks, is in no folder of PATH: install Open MPI (tools/setup build), '
                      "load its module, or give launcher=, such as ('srun', '-n', '{ranks}')")
    return [found, '-n', str(int(ranks))]


def _call(words: List[str], ranks: int, launcher: Launcher, folder: Optional[Path], echo: bool = False,
          patient: bool = False) -> subprocess.CompletedProcess[str]:
    words = _prefix(ranks, launcher) + words
    streams: Dict[str, Any] = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors='replace', cwd=folder)
    try:
        if not patient:
            return subprocess.run(words, check=False, **streams)
        return _wait(words, dict(streams, stdout=subprocess.DEVNULL), echo)
    except (OSError, ValueError) as problem:     # ValueError: words that no program can be given
        raise Failure(f'{words[0]} cannot be started in {folder or "."}: {getattr(problem, "strerror", None) or problem}') from None


def _wait(words: List[str], streams: Dict[str, Any], echo: bool) -> subprocess.CompletedProcess[str]:
    """A run, whose lines are kept, and shown where asked for, until it ends."""
    said: List[str] = []
    interrupted = 0
    with subprocess.Popen(words, start_new_session=True, **streams) as process:     # Ctrl-C of a terminal is ours to hand on
        assert process.stderr is not None
        while True:
            try:
                for line in process.stderr:
                    said.append(line)
                    if echo:
                        sys.stderr.write(line)
                process.wait()
                break
            except KeyboardInterrupt:
                interrupted += 1
                process.send_signal(signal.SIGUSR1 if interrupted == 1 else signal.SIGTERM)
    if interrupted:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(words, process.returncode, '', ''.join(said))


def _rows(text: str) -> Dict[str, str]:
    """The rows "  label  value" of a plan; what follows below a value belongs to it."""
    rows: Dict[str, str] = {}
    label = ''
    for line in text.splitlines():
        if line.startswith('  ') and line.strip() and not line[2:3].isspace():
            label, _, value = line[2:].partition('  ')
            rows[label] = (rows[label] + '\n' if label in rows else '') + value.strip()
        elif label and line.strip():
            rows[label] += '\n' + line.strip()
    return rows


def _marked(text: str, mark: str) -> List[str]:
    return [line.split(mark, 1)[1] for line in text.splitlines() if mark in line]


def _fail(verb: str, exit_status: int, text: str) -> NoReturn:
    """The error that the program told, else how it ended."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if 'error: ' in line), None)
    if at is not None:
        told = lines[at].split('error: ', 1)[1]
        more = []
        for line in lines[at + 1:]:
            if not line.startswith('  '):
                break
            more.append(line)
        sentence = '\n'.join([told, *more])
    else:
        said = '; its last words: ' + ' | '.join(lines[-3:]) if lines else ''
        sentence = f'{verb} ended with exit status {exit_status}{said}'
    if exit_status == PARKED:
        sentence = (f'some shots failed and are parked ({sentence}): the same call tries them again; '
                    'check=False returns all the same')
    elif exit_status == STOPPED:
        sentence = f'the run was stopped ({sentence}): the same call goes on; check=False returns all the same'
    raise ProgramError(sentence, exit_status, text)
