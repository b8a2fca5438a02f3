"""NetCDF CDF-5 files read as the bytes they are: every length checked, nothing trusted, arrays mapped instead of copied.

The library reads a truncated or bit-flipped CDF-5 file without complaint, so the reader of our gathers starts from the bytes:
magic, dimensions, attributes, variables (name, dimensions, attributes, type, size, begin), then the data, big-endian.
"""
import os
import struct
import zlib

import numpy as np

from spltools.cli import check_input, fail

HEADER_MAX = 1 << 26
RANK_MAX = 1024
SMALLEST = 8192                                # bytes the library writes at least
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
WORD, LONG = struct.Struct('>i'), struct.Struct('>q')
TYPES = {1: '>i1', 2: 'S1', 3: '>i2', 4: '>i4', 5: '>f4', 6: '>f8', 7: '>u1', 8: '>u2', 9: '>u4', 10: '>i8', 11: '>u8'}


class Damaged(Exception):
    """The header does not read as CDF-5."""


class Variable:
    """Place of a variable in its file, its shape and attributes."""

    def __init__(self, name, dims, shape, attributes, dtype, begin):
        self.name, self.dims, self.shape, self.attributes = name, dims, shape, attributes
        self.dtype, self.begin = np.dtype(dtype), begin
        count = 1
        for n in shape:
            count *= n
        self.bytes = count * self.dtype.itemsize


class Header:
    """dimensions {name: length}, attributes {name: text or array}, variables {name: Variable}, total bytes of the file."""

    def __init__(self, data):
        self._data, self._at = data, 0
        if self._take(4) != b'CDF\x05' or self._number(8) != 0:
            raise Damaged
        self._dims = [(self._name(), self._number(8)) for _ in range(self._list(DIMENSIONS))]
        if any(n <= 0 for _, n in self._dims):
            raise Damaged
        self.dimensions = dict(self._dims)
        self.attributes = self._attributes()
        self.variables = {}
        for _ in range(self._list(VARIABLES)):
            v = self._variable()
            self.variables[v.name] = v
        self.header_bytes = self._at
        ends = [v.begin + v.bytes for v in self.variables.values()]
        if any(v.begin < self._at for v in self.variables.values()) or max(ends, default=0) >= 1 << 62:
            raise Damaged
        self.total = max((end + 3 & ~3 for end in ends), default=self._at)
        del self._data

    def _take(self, n):
        if not 0 <= n <= len(self._data) - self._at:
            raise Damaged
        self._at += n
        return self._data[self._at - n:self._at]

    def _number(self, width):
        at = self._at
        if at + width > len(self._data):
            raise Damaged
        self._at = at + width
        return (WORD if width == 4 else LONG).unpack_from(self._data, at)[0]

    def _padded(self, n):
        if n < 0:
            raise Damaged
        return self._take(n + 3 & ~3)[:n]

    def _name(self):
        return self._padded(self._number(8)).decode('utf-8', 'replace')

    def _list(self, tag):
        found, n = self._number(4), self._number(8)
        if n < 0 or n > len(self._data) or (found != tag and (found or n)):
            raise Damaged
        return n

    def _attributes(self):
        attributes = {}
        for _ in range(self._list(ATTRIBUTES)):
            name, kind, n = self._name(), self._number(4), self._number(8)
            if kind not in TYPES:
                raise Damaged
            raw = self._padded(n * np.dtype(TYPES[kind]).itemsize)
            attributes[name] = raw.decode('utf-8', 'replace') if kind == 2 else np.frombuffer(raw, TYPES[kind])
        return attributes

    def _variable(self):
        name = self._name()
        rank = self._number(8)
        if not 0 <= rank <= RANK_MAX:
            raise Damaged
        dims = [self._number(8) for _ in range(rank)]
        if any(not 0 <= d < len(self._dims) for d in dims):
            raise Damaged
        attributes = self._attributes()
        kind = self._number(4)
        self._number(8)                         # the size again, padded
        begin = self._number(8)
        if kind not in TYPES:
            raise Damaged
        return Variable(name, tuple(self._dims[d][0] for d in dims), tuple(self._dims[d][1] for d in dims), attributes,
                        TYPES[kind], begin)


def read_header(path):
    """The header of a CDF-5 file whose length is what the header says; else a sentence."""
    size = os.path.getsize(path)
    with open(path, 'rb') as f:
        data = f.read(min(size, HEADER_MAX))
    if data[:4] == b'\x89HDF' or data[:4] in (b'CDF\x01', b'CDF\x02'):
        kind = 'NetCDF-3' if data[:1] == b'C' else 'NetCDF-4'
        fail(f'{path} is NetCDF, but no file of gathers (those are CDF-5, here is {kind}); '
             'give the file that the modelling wrote, not a converted copy')
    if data[:4] != b'CDF\x05':
        fail(f'{path} is no file of gathers: it does not begin as NetCDF CDF-5 does; give the file that the modelling wrote')
    try:
        header = Header(data)
    except (Damaged, struct.error, OverflowError, MemoryError):
        fail(f'{path} is damaged: its header does not read as CDF-5; restore it from a copy, or model again with overwrite=y')
    if size != header.total and not header.total < SMALLEST == size:
        fail(f'{path} is damaged: it has {size} bytes, its header says {header.total}; restore it from a copy, or model again '
             'with overwrite=y')
    return header


def array(header, mapped, name):
    """A variable as it stands in the file: big-endian, mapped."""
    v = header.variables[name]
    return mapped[v.begin:v.begin + v.bytes].view(v.dtype).reshape(v.shape)


def check_seal(path, header, mapped):
    """Everything before header_bytes is sealed by header_crc32; a sentence where it is not whole."""
    n, crc = int(array(header, mapped, 'header_bytes')), int(array(header, mapped, 'header_crc32'))
    begin = header.variables['header_bytes'].begin
    if n != begin:
        fail(f'{path} is damaged: header_bytes is {n}, must be {begin}; restore it from a copy, or model again with overwrite=y')
    found = zlib.crc32(mapped[:n])
    if found != crc:
        fail(f'{path} is damaged: the checksum of its first {n} bytes is {found:08x}, must be {crc:08x}; restore it from a '
             'copy, or model again with overwrite=y')


def check_sealed(path):
    """Checks length, header and data of a file of snapshots; a file of other makers has no seals and passes."""
    check_input(path)
    with open(path, 'rb') as f:
        if f.read(4) != b'CDF\x05':
            return
    header = read_header(path)
    if not {'header_bytes', 'header_crc32'} <= set(header.variables):
        return
    if {'record', 'status'} <= set(header.variables):
        fail(f'{path} is a file of gathers: give the file of the snapshots of a shot, {path}.snapRECORD.nc, which a job with '
             'snapshot= (of 3D also pgv=) writes')
    mapped = np.memmap(path, np.uint8, 'r')
    check_seal(path, header, mapped)
    for name in header.variables:
        data = 'pressure' if name == 'checksum' else name[:-len('_checksum')] if name.endswith('_checksum') else ''
        if data not in header.variables:
            continue
        if header.variables[name].shape != ():
            fail(f'{path} is damaged: {name} must be one number; model that shot again')
        found, stored = zlib.crc32(array(header, mapped, data).reshape(-1).view(np.uint8)), int(array(header, mapped, name))
        if found != stored:
            fail(f'{path} is damaged: the checksum of {data} is {found:08x}, must be {stored:08x}; model that shot again')
