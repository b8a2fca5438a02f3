"""Lines of key-maps and of receiver lists as the modelling reads them (textfile.f90, keymap_line.f90).

Words are parted by blanks; '#' begins a comment; a quoted word may hold both; a word that an '=' follows is a key.
"""

import difflib
import functools
import re

from spltools.cli import check_input, fail

TOKEN = re.compile(r'#.*|"[^"]*"?|\'[^\']*\'?|=|[^ \t\f=#]+')
WHOLE = re.compile(r'[+-]?[0-9]+')
NUMBER = re.compile(r'([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:[eEdD]([+-]?[0-9]+))?')
PARTED = re.compile('^[0-9+.-].*[,;]|^[,;]|[,;]$')  # what commas and semicolons make of columns, not of names
KEYWORD, TITLES = re.compile('[,;][0-9+.-]'), re.compile('[,;]')  # a first word, if others follow it or none
PRINTED, REMARK = re.compile('[\xa0\u202f\u2212\u2013]'), re.compile('[!%]|//')
WORDS_MAX = 16
TINY = 1e-307  # numbers nearer to 0 are refused, and more than 300 digits


def read_lines(path, faults):
    """The lines of a file that hold something."""
    check_input(path)
    with open(path, 'rb') as file:
        text = file.read().decode('utf-8-sig', 'surrogateescape')
    if re.search(r'[\0-\x08\x0b\x0e-\x1f]', text):
        fail(f'{path} is not plain text (ASCII or UTF-8); is this the right file?')
    return _lines(path, text, faults)


def _lines(path, text, faults):
    for number, line in enumerate(re.split('\r\n|\n|\r', text), 1):
        tokens = TOKEN.findall(line)
        if tokens and tokens[-1][0] == '#':
            tokens.pop()
        if tokens:
            yield Line(path, number, tokens, faults)


class Line:
    """One line: `first`, its first word; after read() also its other `words` and its `keys` {key: value}."""

    def __init__(self, path, number, tokens, faults):
        self.path, self.number, self.faults = path, number, faults
        self.tokens = tokens
        self.first = _word(tokens[0])
        self.words, self.keys = [], {}

    def fault(self, sentence):
        self.faults.add(self.path, self.number, sentence + self._advice)

    @functools.cached_property
    def _advice(self):
        """As the modelling has it (textfile.f90), where commas or semicolons seem to part columns, say. Once a line: each word may
        be at fault."""
        words = [token for token in self.tokens if token[0] not in '"\'=']
        first = self.tokens[0]
        alone = TITLES if len(words) == 1 else KEYWORD
        if any(PARTED.search(word) for word in words) or (first in words and alone.search(first)):
            return '; columns are parted by blanks, not by commas or semicolons, and decimals have a point'
        if any(PRINTED.search(word) for word in words):
            return '; a blank or a minus sign there is not ASCII, as in printed texts: write plain ones'
        return '; a remark begins with #' if any(REMARK.match(word) for word in words) else ''

    def rest(self):
        """All that follows the first word, an '=' as a word of its own."""
        return [_word(token) for token in self.tokens[1:]]

    def closed_rest(self):
        """The same, and faults of quotes that do not end."""
        return [self._closed(token) for token in self.tokens[1:]]

    def read(self):
        """Sorts the rest of the line into words and keys; of a key that is given twice the first value counts."""
        tokens = iter(self.tokens[1:] + [None])
        token = next(tokens)
        while token is not None:
            if max(len(self.words), len(self.keys)) == WORDS_MAX:
                self.fault(f'more than {WORDS_MAX} words; is a line end missing?')
                return
            after = next(tokens)
            if after == '=':
                self._key(_word(token).lower(), next(tokens))
                after = next(tokens, None)
            else:
                self.words.append(self._closed(token))
            token = after

    def _key(self, key, value):
        if value is None:
            self.fault(f'a value is missing after {key}=')
        if key in self.keys:
            self.fault(f'{key}= is given twice')
        self.keys.setdefault(key, None if value is None else self._closed(value))

    def _closed(self, token):
        """The word of a token, whose quote must end."""
        if token[0] in '"\'' and not _ends(token):
            self.fault(f'the quote that opens at {shown(_word(token))} is never closed')
        return _word(token)

    def check_keys(self, what, needed, others=()):
        """Faults of keys that are unknown or missing."""
        known = [*needed, *others]
        for key in self.keys:
            if key not in known:
                names = ' '.join(f'{k}=' for k in known)
                self.fault(f'unknown word {shown(key)} in {what}{did_you_mean(key, known, "=")}; known: {names}')
        for key in needed:
            if key not in self.keys:
                self.fault(f'{what} needs ' + ' '.join(f'{k}=' for k in needed) + f'; {key}= is missing')

    def whole_of(self, key, low, high, default=None):
        """The whole number of key= in low..high, None where it is faulty."""
        word = self.keys.get(key)
        return default if word is None else self.whole(word, key, low, high)

    def real_of(self, key, low, high, default=None):
        """The number [m] of key= in low..high, None where it is faulty."""
        word = self.keys.get(key)
        return default if word is None else self.real(word, key, low, high)

    def whole(self, word, name, low, high):
        if not WHOLE.fullmatch(word):
            self.fault(f'{name} is {shown(word)}: a whole number is needed')
            return None
        digits = word.lstrip('+-').lstrip('0')[:19]  # 19 are beyond every limit
        value = int(digits or 0) * (-1 if word[0] == '-' else 1)
        if not low <= value <= high:
            self.fault(f'{name} = {word[:41]} is out of range {low}..{high}')
            return None
        return value

    def real(self, word, name, low, high):
        value = number_of(word)
        if value is None:
            self.fault(f'{name} is {shown(word)}: a finite decimal number is needed')
        elif not low <= value <= high:
            self.fault(f'{name} = {word[:41]} is out of range {short(low)}..{short(high)} m')
            value = None
        return value


def _ends(token):
    return len(token) > 1 and token[-1] == token[0]


def _word(token):
    """A token without its quotes."""
    if token[0] not in '"\'':
        return token
    return token[1:-1] if _ends(token) else token[1:]


def number_of(word):
    """A plain decimal number of moderate size and length; None for anything else."""
    match = NUMBER.fullmatch(word)
    if not match:
        return None
    digits = re.sub('[^0-9]', '', match[1])
    if len(digits) > 300 or float(match[2] or 0) > 300 - len(digits):
        return None
    value = float(f'{match[1]}e{match[2] or 0}')
    return value if abs(value) >= TINY or not digits.strip('0') else None


def short(value):
    """1e8, not 1e+08."""
    return re.sub(r'e\+?0*', 'e', f'{value:g}')


def shown(word):
    """A word as sentences quote it, shortened when very long."""
    return f"'{word}'" if len(word) <= 48 else f"'{word[:40]}...' ({len(word)} characters)"


def did_you_mean(word, known, ending=''):
    near = difflib.get_close_matches(word[:100], known, 1)
    return f' (did you mean {near[0]}{ending}?)' if near else ''
