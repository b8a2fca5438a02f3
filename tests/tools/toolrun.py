"""A tool of the project, as its tests run it."""
import contextlib
import importlib
import os
import runpy
import subprocess
import sys
import tempfile

from check import PATIENCE, claim

_started, _modules = set(), os.environ.get('PYTHONPATH')


def call(path, *words, together=False):
    """The finished run of a tool: returncode, stdout, stderr as text; `together`: all on stdout. The first call in a test starts it as users
    do. Most of the time of a start goes into modules of others: later calls are forks of the test, which has these by then,
    unless PYTHONPATH is another since: a fork does not look there."""
    path, words = str(path), [*map(str, words)]
    if path not in _started or os.environ.get('PYTHONPATH') != _modules:
        _started.add(path)
        return subprocess.run([os.environ.get('PYTHON', sys.executable), path, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT if together else subprocess.PIPE, text=True, timeout=PATIENCE)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as loaded:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _run(path, words, out, out if together else err, loaded)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed = []
        for file in (out, err, loaded):
            file.seek(0)
            printed.append(file.read().decode())
    for name in printed.pop().split():
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    return subprocess.CompletedProcess([path, *words], status, *printed)


def _run(path, words, out, err, loaded):
    """The fork: our own modules are loaded anew, as a test may have changed what they hold."""
    status = 1
    try:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        for name in [name for name in sys.modules if name.partition('.')[0] == 'spltools']:
            del sys.modules[name]
        sys.argv = [path, *words]
        try:
            runpy.run_path(path, run_name='__main__')
        except SystemExit as end:
            status = end.code or 0
        sys.stdout.flush()
        loaded.write('\n'.join(name for name in sys.modules if name.partition('.')[0] not in ('spltools', '__main__')).encode())
        loaded.flush()
    finally:
        os._exit(status)


class Tool:
    """tool(word, ...) runs it: exit status and what it printed, both streams."""

    def __init__(self, name, unwanted):
        """`unwanted`: the output that a call which is refused must not leave."""
        self.path, self.unwanted = os.path.join(os.environ['ROOT'], 'tools', name), unwanted

    def __call__(self, *arguments):
        ran = call(self.path, *arguments, together=True)
        return ran.returncode, ran.stdout

    def fine(self, sentence, *arguments):
        """Claims exit status 0; what was printed."""
        status, text = self(*arguments)
        claim(status == 0, sentence + ('' if status == 0 else f': {text.strip()}'))
        return text

    def refused(self, words, what, *arguments):
        """Claims exit status 1, one "error: ..." with these words, and no output."""
        status, text = self(*arguments)
        told = text.split('error: ')[-1].strip()
        claim(status == 1 and words in told and 'fault in this tool' not in text and not os.path.exists(self.unwanted), f'{what}: {told}')
