"""NetCDF CDF-5 files read as the bytes they are: nothing trusted, arrays mapped instead of copied.

The library reads a truncated or bit-flipped CDF-5 file without complaint, so the reader of our gathers starts from the bytes.
"""
import os
import zlib

import numpy as np

from spltools.cli import check_input, fail
from spltools.netcdf import HEADER_MAX, Damaged, header_of

SMALLEST = 8192                                # bytes the library writes at least


def read_header(path, ours=False):
    """The header of a CDF-5 file whose length is what the header says; else a sentence. `ours`: just written here; the library may
    have left it longer by a block, which is cut off."""
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
        header = header_of(data)
        if header.records or not all(header.dimensions.values()):      # the modelling writes none
            raise Damaged
    except Damaged:
        fail(f'{path} is damaged: its header does not read as CDF-5; restore it from a copy, or model again with overwrite=y')
    if ours and size > header.total:
        os.truncate(path, header.total)
        size = header.total
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
