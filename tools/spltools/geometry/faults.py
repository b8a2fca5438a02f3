"""Faults of input files."""

from spltools.cli import fail

FAULTS_SHOWN = 20


class Faults:
    """Faults, told all at once: the first twenty with their lines, and how many more."""

    def __init__(self):
        self.count = 0
        self.lines = []

    def add(self, path, line, sentence):
        self.count += 1
        if self.count <= FAULTS_SHOWN:
            place = f'{path}, line {line}' if line else f'{path}'
            self.lines.append(f'{place}: {sentence}')

    def add_if_none(self, path, sentence):
        """A fault of a whole file that would only be noise beside others."""
        if not self.count:
            self.add(path, 0, sentence)

    def tell(self):
        if self.count == 1:
            fail(self.lines[0])
        if self.count > 1:
            rest = self.count - len(self.lines)
            more = [f'... and {rest} more'] if rest else []
            fail('\n'.join([f'{self.count} faults:'] + self.lines + more))
