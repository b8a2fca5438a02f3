"""Files of gathers for the tests of the tools, laid out as the modelling lays them out (fortran/files/fio.f90), with known traces."""
import zlib

import netCDF4
import numpy as np

from spltools.gathers import cdf5

GEOMETRY = ('record nrec source_x source_y source_z receiver_x receiver_y receiver_z channel source_x_used source_z_used '
            'receiver_x_used receiver_z_used').split()
COMPUTED = 'seconds steps cells finished variant device'.split()
UNITS = {'pressure': 'Pa', 'vx': 'm s-1', 'vz': 'm s-1'}
ABOUT = {'source': 'SplFd2dmod 0.1.0', 'wavelet': 'Ricker, peak 25 Hz', 'wavelet_time_zero': 0.0, 'grid_spacing_m': [5.0, 5.0],
         'time_step_s': 0.00125, 'model': 'vp: model.nc', 'model_hash': '0123456789abcdef', 'fingerprint': 'feedbeef'}
PARAMETERS = """wavelet = ricker  # default; volume injection rate Q(t)
fpeak = 25  # line.par:3; peak frequency of the Ricker wavelet
dt = 0.00125  # default; time step
"""


def crc_of(ds, names, slot):
    crc = 0
    for name in names:
        a = np.asarray(ds[name][slot], ds[name].dtype.newbyteorder('>'))
        crc = zlib.crc32(a.tobytes(), crc)
    return crc


def define(ds, components):
    """Dimensions are there: all variables, in the order of the real thing."""
    def var(name, kind, dims, **attributes):
        fill = attributes.pop('fill', None)
        v = ds.createVariable(name, kind, dims, fill_value=fill if fill is not None else False)
        v.setncatts(attributes)
    var('time', 'f8', ('time',), units='s')
    var('record', 'i4', ('shot',))
    var('header_bytes', 'i8', ())
    var('header_crc32', 'u4', ())
    for name in ('status', 'nrec', 'checksum', 'run_checksum', 'seconds', 'steps', 'cells', 'finished'):
        var(name, {'checksum': 'u4', 'run_checksum': 'u4', 'seconds': 'f8', 'cells': 'f8', 'finished': 'f8'}.get(name, 'i4'), ('shot',))
    var('variant', 'S1', ('shot', 'words'))
    var('device', 'S1', ('shot', 'words'))
    for name in ('source_x', 'source_y', 'source_z', 'source_x_used', 'source_z_used'):
        var(name, 'f8', ('shot',), units='m')
    for name in ('receiver_x', 'receiver_y', 'receiver_z', 'receiver_x_used', 'receiver_z_used'):
        var(name, 'f8', ('shot', 'receiver'), units='m', fill=np.nan)
    var('channel', 'i4', ('shot', 'receiver'), fill=-2147483647)
    for name in components:
        var(name, 'f4', ('shot', 'receiver', 'time'), units=UNITS[name], fill=np.float32(np.nan))
    ds['checksum'].order = ' '.join(GEOMETRY + list(components))
    ds['run_checksum'].order = ' '.join(COMPUTED)


def seal(path):
    begin = cdf5.read_header(path).variables['header_bytes'].begin
    with netCDF4.Dataset(path, 'r+') as ds:
        ds['header_bytes'][...] = begin
        ds['header_crc32'][...] = zlib.crc32(open(path, 'rb').read(begin))


def make_gathers(path, shots, nt=50, dt=0.004, components=('pressure',), attributes=None):
    """Writes a file of gathers. shots: list of dicts with record, sx, sz, rx, rz (arrays), traces {variable: (nrec, nt)}, and, where
    they matter, sy, ry, channel, status, sx_used."""
    nrec_max = max(len(s['rx']) for s in shots)
    with netCDF4.Dataset(path, 'w', format='NETCDF3_64BIT_DATA') as ds:
        ds.set_fill_off()
        ds.setncatts({'Conventions': 'CF-1.10', 'format': 'gathers 1', 'components': ','.join(components).replace('pressure', 'p'),
                      'parameters': PARAMETERS, **ABOUT, **(attributes or {})})
        for name, n in (('shot', len(shots)), ('receiver', nrec_max), ('time', nt), ('words', 80)):
            ds.createDimension(name, n)
        define(ds, components)
        ds['time'][:] = np.arange(nt) * dt
        ds['record'][:] = [s['record'] for s in shots]
        for slot, s in enumerate(shots):
            put(ds, slot, s, nrec_max, components)
    seal(path)


def put(ds, slot, s, nrec_max, components):
    def padded(values, missing):
        out = np.full((nrec_max,) + np.shape(values)[1:], missing, np.asarray(values).dtype)
        out[:len(values)] = values
        return out
    n = len(s['rx'])
    ds['status'][slot], ds['nrec'][slot] = s.get('status', 1), n
    for name, value in (('source_x', s['sx']), ('source_y', s.get('sy', 0.0)), ('source_z', s['sz']),
                        ('source_x_used', s.get('sx_used', s['sx'])), ('source_z_used', s['sz'])):
        ds[name][slot] = value
    for name, value in (('receiver_x', s['rx']), ('receiver_y', s.get('ry', np.zeros(n))), ('receiver_z', s['rz']),
                        ('receiver_x_used', s['rx']), ('receiver_z_used', s['rz'])):
        ds[name][slot] = padded(np.asarray(value, float), np.nan)
    ds['channel'][slot] = padded(np.asarray(s.get('channel', np.arange(1, n + 1)), 'i4'), -2147483647)
    for name in components:
        ds[name][slot] = padded(np.asarray(s['traces'][name], 'f4'), np.nan)
    for name, text in (('variant', 'cpu'), ('device', 'a processor')):
        ds[name][slot] = np.frombuffer(text.encode().ljust(80, b'\0'), 'S1')
    ds['seconds'][slot], ds['steps'][slot], ds['cells'][slot], ds['finished'][slot] = 1.5, 1000, 1e6, 1.8e9
    ds.set_auto_mask(False)
    ds['checksum'][slot] = crc_of(ds, ds['checksum'].order.split(), slot)
    ds['run_checksum'][slot] = crc_of(ds, COMPUTED, slot)


def line_of_shots(n=4, nrec=6, nt=50, components=('pressure',), seed=1):
    """A moving streamer with random traces: nothing that a wrong order or position of samples could leave unchanged."""
    rng = np.random.default_rng(seed)
    shots = []
    for i in range(n):
        sx = 1000.25 + 50.0 * i
        shots.append({'record': 101 + 2 * i, 'sx': sx, 'sz': 6.0, 'rx': sx - 100.0 - 12.5 * np.arange(nrec), 'rz': np.full(nrec, 8.5),
                      'traces': {c: rng.standard_normal((nrec, nt)).astype('f4') for c in components}})
    return shots


def ricker(t, f):
    a = (np.pi * f * t) ** 2
    return (1 - 2 * a) * np.exp(-a)


LAYERS = ((400.0, 0.0, 1500.0, 0.35), (800.0, 0.06, 1900.0, 0.2), (1300.0, -0.05, 2400.0, 0.25), (1900.0, 0.03, 3000.0, 0.2))


def marine_model(path, nx=401, nz=151, h=20.0):
    """Water, four dipping layers and a salt body: vp and rho (z, x)."""
    x, z = np.arange(nx) * h, np.arange(nz) * h
    vp = np.full((nz, nx), 1500.0, 'f4')
    for (depth, dip, _, _), below in zip(LAYERS, (1900.0, 2400.0, 3000.0, 3600.0)):
        vp[z[:, None] > depth + dip * (x[None, :] - 4000.0)] = below
    vp[((x[None, :] - 4600.0) / 900.0) ** 2 + ((z[:, None] - 1500.0) / 380.0) ** 2 < 1] = 4500.0
    with netCDF4.Dataset(path, 'w') as ds:
        for name, values in (('z', z), ('x', x)):
            ds.createDimension(name, len(values))
            ds.createVariable(name, 'f8', (name,))[:] = values
            ds[name].units = 'm'
        for name, values, unit in (('vp', vp, 'm/s'), ('rho', np.where(vp > 1500, 310 * vp ** 0.25, 1000.0), 'kg/m3')):
            ds.createVariable(name, 'f4', ('z', 'x'))[:] = values
            ds[name].units = unit


def marine_line(n=12, nrec=96, nt=751, dt=0.004, fpeak=15.0):
    """Gathers by ray theory over the layers of marine_model: direct wave, a hyperbola a layer, a diffraction off the salt."""
    t, shots = np.arange(nt) * dt, []
    for i in range(n):
        sx = 2600.0 + 400.0 * i
        rx = sx - 150.0 - 25.0 * np.arange(nrec)
        offset, middle = np.abs(rx - sx), (rx + sx) / 2
        p = ricker(t - offset[:, None] / 1500.0 - 0.1, fpeak) / np.sqrt(offset[:, None] + 50) * 30
        above, zero = 0.0, 0.0
        for depth, dip, v, r in LAYERS:
            z = depth + dip * (middle - 4000.0)
            zero = zero + 2 * (z - above) / v
            above = z
            arrival = np.sqrt(zero ** 2 + (offset / v) ** 2)
            p += r * ricker(t - arrival[:, None] - 0.1, fpeak) / np.sqrt(arrival[:, None] * v) * 30
        scatter = (np.hypot(sx - 4600.0, 1120.0) + np.hypot(rx - 4600.0, 1120.0)) / 1750.0
        p += 0.25 * ricker(t - scatter[:, None] - 0.1, fpeak) / np.sqrt(scatter[:, None] * 1750.0) * 30
        shots.append({'record': 1001 + i, 'sx': sx, 'sz': 6.0, 'rx': rx, 'rz': np.full(nrec, 8.0), 'traces': {'pressure': p.astype('f4')}})
    return shots, dict(nt=nt, dt=dt)


def snapshots(path, nframes=20, nx=201, nz=101, h=20.0):
    """Rings that grow: pressure (time, z, x)."""
    x, z, t = np.arange(nx) * h + 2000.0, np.arange(nz) * h, np.arange(nframes) * 0.05
    r = np.hypot(x[None, :] - 4000.0, z[:, None] - 20.0)
    with netCDF4.Dataset(path, 'w') as ds:
        for name, values, unit in (('time', t, 's'), ('z', z, 'm'), ('x', x, 'm')):
            ds.createDimension(name, len(values))
            ds.createVariable(name, 'f8', (name,))[:] = values
            ds[name].units = unit
        v = ds.createVariable('pressure', 'f4', ('time', 'z', 'x'))
        v.units = 'Pa'
        for i, ti in enumerate(t):
            v[i] = ricker(ti - r / 1800.0, 10.0) / np.sqrt(r + 100.0) * 1e-2
