"""Figures of 3D shots: seismograms of its stations, maps of peak ground velocity, planes of the wavefield."""
import textwrap

import numpy as np

from spltools import cli
from spltools.earth.modelfile import coordinate
from spltools.gathers import cdf5
from spltools.netcdf import open_dataset
from spltools.plot import figures
from spltools.plot.figures import plt

MOST_STATIONS = 60


def add_figures(figure):
    q = figure('stations', stations, 'seismograms of a shot: a panel a component, a line a station, one scale a unit')
    q.add_argument('file', help='file of gathers')
    q.add_argument('--record', help='shot record (default: the middle one of those finished)')
    q.add_argument('--components', metavar='LIST', help='joined by commas (default: all velocities that were recorded)')
    q.add_argument('--channels', metavar='LIST', help=f'only these channels, such as 1-10,20 (default: up to {MOST_STATIONS})')
    q.add_argument('--with', dest='other', metavar='FILE', help='the same stations of another run, drawn over them in red; '
                   'tells the relative L2 of what differs, all components together')
    q = figure('map', map_, 'a map or a plane of a 3D shot: peak ground velocity, or one picture of a film')
    q.add_argument('file', help='file of snapshots of a 3D shot')
    q.add_argument('--variable', help='default: pgv_horizontal, or the first film')
    q.add_argument('--time', type=cli.number(-1e6, 1e6, 's'), help='which picture of a film (default: the strongest)')
    q.add_argument('--gathers', metavar='FILE', help='file of gathers: draw the stations of the shot')
    q.add_argument('--y', choices=('up', 'down'), default='', help='how y runs on the page of a map of x and y (default: as seen '
                   'from above, by the axes that the file tells)')
    q.add_argument('--clip', type=cli.number(0, 100, '%', above=True), default=99.5, help='percentile of the clip (default 99.5)')


def stations(a):
    from spltools.plot.plot import among, finished, one_slot, put
    file, slots = finished(a.file)
    slot = one_slot(file, slots, a.record)
    names = [c for c in ('vx', 'vy', 'vz') if c in file.components] or file.components[:1]
    if a.components:
        names = a.components.split(',')
    for name in names:
        if name not in file.components:
            cli.fail(f"{a.file} has no component '{name}'; it has {', '.join(file.components)}")
    gathers = [file.gather(slot, name) for name in names]
    keep = np.arange(len(gathers[0].channel))
    if a.channels:
        keep = np.flatnonzero(among(gathers[0].channel, a.channels))
        if not len(keep):
            cli.fail(f'shot {gathers[0].record} has none of the channels {a.channels}; it has '
                     f'{gathers[0].channel.min()} .. {gathers[0].channel.max()}')
    keep = keep[:: -(-len(keep) // MOST_STATIONS)]
    level = {}                                     # what has the same unit is drawn on one scale
    for g in gathers:
        level[g.units] = max(level.get(g.units, 0.0), float(np.abs(g.traces[keep]).max()))
    level = {unit: largest or 1.0 for unit, largest in level.items()}
    figure, axes = plt.subplots(1, len(names), figsize=(4.5 * len(names) + 1, 1.5 + 0.45 * max(4, len(keep))), sharex=True,
                                sharey=True, constrained_layout=True, squeeze=False)
    others = other_run(a, gathers, names, keep) if a.other else [None] * len(names)
    for ax, g, other in zip(axes[0], gathers, others):
        for n, r in enumerate(keep):
            ax.plot(g.time, n - 0.9 * g.traces[r] / level[g.units], 'k', lw=0.7)
            if other is not None:
                ax.plot(other.time, n - 0.9 * other.traces[r] / level[g.units], 'r--', lw=0.7)
        ax.set(xlabel='time [s]', xlim=(g.time[0], g.time[-1]))
    for ax, name, g in zip(axes[0], names, gathers):
        factor, unit = figures.prefixed(g.units, level[g.units])
        ax.set_title(f'{figures.QUANTITY[name]}\na line apart is {level[g.units] * factor / 0.9:.3g} {unit}')
    g = gathers[0]
    far = np.hypot(g.rx - g.sx, g.ry - g.sy) / 1000
    axes[0, 0].set_yticks(range(len(keep)), [f'{g.channel[r]}: {far[r]:.2f} km' for r in keep])
    axes[0, 0].set_ylim(len(keep) - 0.3, -0.9)
    axes[0, 0].set_ylabel('channel: horizontal distance')
    figures.head(figure, '', f'record {g.record}', a.file)
    put(figure, a)


def other_run(a, gathers, names, keep):
    """The gathers of another run of this shot; what differs is told."""
    from spltools.gathers.gathers import Gathers
    file = Gathers(a.other)
    if any(name not in file.components for name in names):
        cli.fail(f"{a.other} lacks a component of {','.join(names)}; it has {', '.join(file.components)}")
    slot = file.chosen(str(gathers[0].record))[0][0]
    others = [file.gather(slot, name) for name in names]
    if any(not np.array_equal(g.channel, o.channel) for g, o in zip(gathers, others)):
        cli.fail(f'{a.other}: shot {gathers[0].record} has other channels than in {a.file}')
    for r in keep:
        one = np.stack([g.traces[r] for g in gathers]).astype(float)
        two = np.stack([np.interp(g.time, o.time, o.traces[r].astype(float)) for g, o in zip(gathers, others)])
        off = np.linalg.norm(two - one) / max(np.linalg.norm(one), 1e-300)
        cli.say(f'channel {gathers[0].channel[r]}: {a.other} differs by {100 * off:.2f}%')
    return others


def map_(a):
    from spltools.plot.plot import put
    cdf5.check_sealed(a.file)
    with open_dataset(a.file) as ds:
        found = [n for n, v in ds.variables.items() if v.ndim in (2, 3) and v.dimensions[-1] in 'xy' and v.dimensions[-2] in 'yz']
        name = a.variable or next((n for n in found if n.startswith('pgv')), found[0] if found else None)
        if name not in found:
            cli.fail(f"{a.file} has no map or film {name or ''}; it has {', '.join(found) or 'none'}")
        v = ds[name]
        field = np.ma.filled(v[:], np.nan)
        down, right = v.dimensions[-2:]
        y, x, unit, meaning = coordinate(ds, down), coordinate(ds, right), getattr(v, 'units', ''), getattr(v, 'long_name', name)
        source = {'x': ds.source_x_used, 'y': ds.source_y_used, 'z': ds.source_z_used}
        when = ''
        if field.ndim == 3:
            times = coordinate(ds, 'time')
            i = np.nanmax(np.abs(field).reshape(len(field), -1), 1).argmax() if a.time is None else np.abs(times - a.time).argmin()
            field, when = field[i], f'\nt = {times[i]:.3f} s'
        record = int(ds.record)
        attributes = {n: ds.getncattr(n) for n in figures.MAP_ATTRIBUTES if n in ds.ncattrs()}
    if np.isnan(field).all():
        cli.fail(f'{name} of {a.file} has no point in the mesh: nothing to draw')
    level = figures.clip_of([field[~np.isnan(field)]], a.clip)
    factor, unit = figures.prefixed(unit, level)
    signed = np.nanmin(field) < 0
    ratio = (y[-1] - y[0] + 1e-9) / (x[-1] - x[0] + 1e-9)
    figure, ax = plt.subplots(figsize=(7.5, 1.3 + 6 * np.clip(ratio, 0.3, 1.6)), constrained_layout=True)
    image = ax.pcolormesh(x, y, field * factor, cmap='seismic' if signed else 'hot_r', vmin=-level * factor if signed else 0,
                          vmax=level * factor, shading='nearest', rasterized=True)
    ax.plot(source[right], source[down], '*', ms=12, mfc='w', mec='k', label='source')
    if a.gathers:
        from spltools.gathers.gathers import Gathers
        file = Gathers(a.gathers)
        g = file.gather(file.chosen(str(record))[0][0], file.components[0])
        attributes.update({n: file.text(n) for n in ('navigation_y',) if file.text(n)})
        place = {'x': g.rx, 'y': g.ry, 'z': g.rz}
        ax.plot(place[right], place[down], 'v', ms=6, mfc='none', mec='b', label='stations')
    ax.set(xlabel=f'{right} [m]', ylabel='depth [m]' if down == 'z' else f'{down} [m]', aspect='equal')
    if down == 'z':
        ax.invert_yaxis()
    seen = '' if down == 'z' else '\n' + figures.lay_map(ax, attributes, a.y)
    ax.set_title(textwrap.fill(f'shot record {record}: {meaning}', 66) + when + seen, fontsize=10)
    ax.legend(loc='upper right', fontsize=8)
    label = textwrap.fill(figures.bracketed(figures.quantity(name, meaning), unit), 50)
    figure.colorbar(image, ax=ax, label=f'{label}\n{figures.clip_note(level, factor, unit, a.clip, 0)}', shrink=0.8,
                    extend='both' if signed else 'max')
    put(figure, a)
