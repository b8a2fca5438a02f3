"""Navigation files with fixed columns, counted from 1: their lines, fields and system of coordinates."""

import re

import numpy as np

from spltools.cli import check_input, fail
from spltools.geometry.shots import RECORD_MAX

LARGEST = 1e15  # of any number in these columns
FOOT, FEET_DIFFER = 0.3048, 1e-4  # [m]; those of all countries are alike to this
CRS = ('H1500', 'H12', r'H18(00|[ 0]\D)', r'H19(00|[ 0]\D)', r'H220(0|\D)')  # datum, projection, zone, central meridian


def read_lines(path):
    """Lines of a text file without their ends; old files may hold any 8-bit characters in comments."""
    check_input(path)
    with open(path, encoding='latin-1', newline=None) as file:
        text = file.read()
    if '\0' in text:
        fail(f'{path} is not a text file of fixed columns; is this the right file?')
    return text.removeprefix('\xef\xbb\xbf').split('\n')  # the mark of UTF-8, which some editors write


def unit_factor(header, text, other=False):
    """Factor to metres in the `text` of a header, 1 where it has none; refuses feet, or units that are `other` than metres,
    without theirs."""
    numbers = re.findall(r'[0-9]*\.[0-9]+|[0-9]+', text.replace(',', '.'))
    factor = float(numbers[-1]) if numbers else 0.0
    if not 0 <= factor < 10:
        fail(f"header {header} gives the factor {factor} to metres, which cannot be: '{' '.join(text.split())}'")
    if re.search(r'FEET|FOOT|\bFT\b', text, re.IGNORECASE):
        if abs(factor - FOOT) > FEET_DIFFER:
            told = f'the factor {factor:g}' if factor else 'no factor'
            fail(f"header {header} says feet, '{' '.join(text.split())}', and {told} "
                 f'to metres: write there that of these feet, {FOOT} or 0.304800609601')
    elif other and not factor:
        fail(f"header {header} says units other than metres, '{' '.join(text.split())}', and no factor to metres: write it there")
    return factor or 1.0


class Columns:
    """Fields of one line by their columns; a field that is no number becomes a fault with its line."""

    def __init__(self, path, number, line, faults):
        self.path, self.number, self.line, self.faults = path, number, line, faults
        if '\t' in line:
            faults.add(path, number, 'a tab, behind which columns are not known: let `expand FILE > NEW` write blanks for tabs')
        if line[:1] in ('S', 'R', 'X') and re.search('[\xc2-\xf4][\x80-\xbf]', line):
            faults.add(path, number,
                       'a letter of two bytes or more (UTF-8), behind which columns are not known: write ASCII letters')

    def text(self, first, last):
        return self.line[first - 1 : last].strip()

    def real(self, first, last, name, blank=None):
        """Number in these columns; `blank` where they are empty, which is a fault where it is None."""
        word = self.text(first, last)
        if not word and blank is not None:
            return blank
        try:
            value = float(word)
            if abs(value) <= LARGEST and not re.search('[a-df-zA-DF-Z_]', word):
                return value
        except ValueError:
            pass
        what = f"'{word}' is no number up to {LARGEST:g}" if word else 'is blank'
        self.faults.add(self.path, self.number, f'{name} (columns {first}-{last}): {what}')
        return np.nan

    def whole(self, first, last, name, blank=None):
        value = self.real(first, last, name, blank)
        if np.isnan(value) or (value == int(value) and abs(value) <= RECORD_MAX):
            return 0 if np.isnan(value) else int(value)
        self.faults.add(self.path, self.number,
                        f"{name} (columns {first}-{last}): '{self.text(first, last)}' is no whole number up to {RECORD_MAX}")
        return 0


def read_crs(path):
    """System of coordinates by the headers of a P1/90 or SPS file, as words; '' where they tell none."""
    headers = [line for line in read_lines(path) if line[:1] == 'H']
    words = [' '.join(next((h[32:] for h in headers if re.match(code, h)), '').split()).rstrip(';') for code in CRS]
    return ', '.join(word for word in words if not re.fullmatch(r'(N/A|NONE|[\s,])*', word, re.IGNORECASE))
