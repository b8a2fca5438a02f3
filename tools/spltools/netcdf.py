"""NetCDF files of others. The library believes the header of a damaged file of the classic formats and crashes on it, so that the
header is read here before, every length checked: magic, dimensions, attributes, variables (name, dimensions, attributes, type,
size, begin); then come the data, big-endian. CDF-1, CDF-2 and CDF-5 differ in the widths of counts and of offsets. Files of
NetCDF-4 are left to the HDF5 library, which checks what it reads."""
import os
import struct

import numpy as np

from spltools.cli import check_input, fail

HEADER_MAX = 1 << 26
RANK_MAX = 1024
NAME_MAX = 256                                 # bytes of a name; the library has room for no more
FILE_MAX = 1 << 62                             # bytes
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
WORD, LONG = struct.Struct('>i'), struct.Struct('>q')
STREAMING = (4, -1)                            # width and number of records: as many as the file holds
TYPES = {1: '>i1', 2: 'S1', 3: '>i2', 4: '>i4', 5: '>f4', 6: '>f8', 7: '>u1', 8: '>u2', 9: '>u4', 10: '>i8', 11: '>u8'}
CLASSIC_TYPES = 6                              # those of CDF-1 and CDF-2


class Damaged(Exception):
    """The header does not read as one of the classic formats."""


class Variable:
    """Place of a variable in its file, its shape and attributes. `bytes`: of a record where it has records."""

    def __init__(self, name, dims, shape, attributes, dtype, begin):
        self.name, self.dims, self.shape, self.attributes = name, dims, shape, attributes
        self.dtype, self.begin = np.dtype(dtype), begin
        self.in_records = shape[:1] == (0,)
        count = 1
        for n in shape[self.in_records:]:
            count *= n
        self.bytes = count * self.dtype.itemsize


class Header:
    """kind (1, 2, 5), records, dimensions {name: length, 0 of the records}, attributes {name: text or array}, variables
    {name: Variable}, header_bytes, total bytes of the file, and the least: the last padding may be missing."""

    def __init__(self, data):
        self._data, self._at = data, 0
        magic = self._take(4)
        if magic[:3] != b'CDF' or magic[3] not in (1, 2, 5):
            raise Damaged
        self.kind = magic[3]
        self._count, self._offset = (8 if self.kind == 5 else 4), (4 if self.kind == 1 else 8)
        self.records = self._number(self._count)
        if self.records < 0 and (self._count, self.records) != STREAMING:
            raise Damaged
        self._dims = [(self._name(), self._number(self._count)) for _ in range(self._list(DIMENSIONS))]
        if any(n < 0 for _, n in self._dims) or len(dict(self._dims)) < len(self._dims):
            raise Damaged
        self.dimensions = dict(self._dims)
        self.attributes = self._attributes()
        self.variables = {}
        for _ in range(self._list(VARIABLES)):
            v = self._variable()
            if v.name in self.variables:
                raise Damaged
            self.variables[v.name] = v
        self.header_bytes = self._at
        self.total, self.least = self._total()
        del self._data

    def _total(self):
        ends = {v: v.begin + v.bytes for v in self.variables.values()}
        if any(v.begin < self.header_bytes for v in ends) or max(ends.values(), default=0) >= FILE_MAX:
            raise Damaged
        least = max((end for v, end in ends.items() if not v.in_records), default=self.header_bytes)
        total = least + 3 & ~3
        records = [v for v in ends if v.in_records]
        if records and self.records > 0:       # they lie one after the other; those of a single variable are not padded
            step = sum(v.bytes + 3 & ~3 for v in records) if len(records) > 1 else records[0].bytes
            last = (self.records - 1) * step + max(ends[v] for v in records)
            total, least = max(total, last), max(least, last)
        if total >= FILE_MAX:
            raise Damaged
        return total, least

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
        n = self._number(self._count)
        if not 0 < n <= NAME_MAX:
            raise Damaged
        try:
            return self._padded(n).decode()
        except UnicodeDecodeError:
            raise Damaged from None

    def _list(self, tag):
        found, n = self._number(4), self._number(self._count)
        if n < 0 or n > len(self._data) or (found != tag and (found or n)):
            raise Damaged
        return n

    def _type(self):
        kind = self._number(4)
        if kind not in TYPES or (self.kind != 5 and kind > CLASSIC_TYPES):
            raise Damaged
        return TYPES[kind]

    def _attributes(self):
        attributes = {}
        for _ in range(self._list(ATTRIBUTES)):
            name, kind, n = self._name(), self._type(), self._number(self._count)
            raw = self._padded(n * np.dtype(kind).itemsize)
            attributes[name] = raw.decode('utf-8', 'replace') if kind == 'S1' else np.frombuffer(raw, kind)
        return attributes

    def _variable(self):
        name = self._name()
        rank = self._number(self._count)
        if not 0 <= rank <= RANK_MAX:
            raise Damaged
        dims = [self._number(self._count) for _ in range(rank)]
        if any(not 0 <= d < len(self._dims) for d in dims) or any(self._dims[d][1] == 0 for d in dims[1:]):
            raise Damaged
        attributes, kind = self._attributes(), self._type()
        self._number(self._count)              # the size again, padded
        return Variable(name, tuple(self._dims[d][0] for d in dims), tuple(self._dims[d][1] for d in dims), attributes, kind,
                        self._number(self._offset))


def header_of(data):
    """The header at the begin of a file's bytes; Damaged where it is none."""
    try:
        return Header(data)
    except (struct.error, OverflowError, MemoryError):
        raise Damaged from None


def check_classic(path):
    """Fails on a file of a classic format that is damaged or cut."""
    size = os.path.getsize(path)
    with open(path, 'rb') as file:
        if file.read(3) != b'CDF':
            return
        file.seek(0)
        data = file.read(min(size, HEADER_MAX))
    try:
        header = header_of(data)
    except Damaged:
        fail(f'{path} is damaged: its header does not read as NetCDF; restore it from a copy')
    if size < header.least:
        fail(f'{path} was cut short: it has {size} bytes, its header says {header.total}; restore it from a copy')


def open_dataset(path, instead='give a NetCDF file'):
    """A netCDF4.Dataset, to read."""
    import netCDF4

    check_input(path)
    check_classic(path)
    try:
        return netCDF4.Dataset(path)
    except (OSError, RuntimeError, UnicodeDecodeError) as problem:
        fail(f'{path} is no NetCDF file, or is damaged ({getattr(problem, "strerror", "") or problem}); {instead}')
