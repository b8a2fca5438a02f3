"""A tool of the project, as its tests run it."""
import os
import subprocess
import sys

from check import claim


class Tool:
    """tool(word, ...) runs it: exit status and what it printed, both streams."""

    def __init__(self, name, unwanted):
        """`unwanted`: the output that a call which is refused must not leave."""
        self.path, self.unwanted = os.path.join(os.environ['ROOT'], 'tools', name), unwanted

    def __call__(self, *arguments):
        command = [os.environ.get('PYTHON', sys.executable), self.path, *map(str, arguments)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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
