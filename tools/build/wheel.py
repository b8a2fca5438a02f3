"""Builds the Python package for pip (PEP 517, PEP 660): a wheel is an archive of the sources with a few lines about them.

It needs Python alone, so that `pip install ./tools` works where nothing can be fetched, and it writes nothing into the sources.
"""
import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME, TAG = 'spltools', 'py3-none-any'
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same sources make the same bytes
SCRIPTS = ('run-until-done',)


def read(*path):
    with open(os.path.join(HERE, *path), encoding='utf-8') as file:
        return file.read()


def version():
    return re.search(r"^__version__ = '([^']+)'", read(NAME, '__init__.py'), re.MULTILINE).group(1)


def section(name):
    """The lines of a section of pyproject.toml: {key: text, or list of texts}. It is ours, and plain; tomllib is not everywhere."""
    body = re.search(rf'(?ms)^\[{re.escape(name)}\]\n(.*?)(?=^\[|\Z)', read('pyproject.toml')).group(1)
    found = {}
    for key, value in re.findall(r'(?m)^([\w-]+) = (.*)$', body):
        texts = re.findall(r'"([^"]*)"', value)
        found[key] = texts if value.startswith('[') else texts[0]
    return found


def metadata():
    about = section('project')
    lines = ['Metadata-Version: 2.1', f'Name: {NAME}', f'Version: {version()}', f"Summary: {about['description']}",
             f"License: {about['license']}", f"Requires-Python: {about['requires-python']}"]
    lines += [f'Requires-Dist: {name}' for name in about['dependencies']]
    for extra, names in section('project.optional-dependencies').items():
        lines += [f'Provides-Extra: {extra}'] + [f"Requires-Dist: {name}; extra == '{extra}'" for name in names]
    return '\n'.join(lines + ['Description-Content-Type: text/markdown', '', read(*about['readme'].split('/'))])


def information():
    """{name in the .dist-info folder: text}"""
    scripts = ''.join(f'{name} = {target}\n' for name, target in section('project.scripts').items())
    return {
        'METADATA': metadata(),
        'WHEEL': f'Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: true\nTag: {TAG}\n',
        'entry_points.txt': f'[console_scripts]\n{scripts}',
    }


def sources():
    """Files of the package, by their paths from the folder of pyproject.toml."""
    for folder, folders, files in os.walk(os.path.join(HERE, NAME)):
        folders[:] = sorted(name for name in folders if name != '__pycache__')
        for file in sorted(files):
            if file.endswith(('.py', '.md')) or file == 'py.typed':
                yield os.path.relpath(os.path.join(folder, file), HERE)


def write_wheel(folder, content):
    """content: {path in the wheel: bytes}. Returns the name of the file."""
    info = f'{NAME}-{version()}.dist-info'
    content.update({f'{info}/{name}': text.encode() for name, text in information().items()})
    record = ''
    for path, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += f'{path},sha256={digest},{len(data)}\n'
    content[f'{info}/RECORD'] = f'{record}{info}/RECORD,,\n'.encode()
    name = f'{NAME}-{version()}-{TAG}.whl'
    with zipfile.ZipFile(os.path.join(folder, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if '/scripts/' in path else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def scripts():
    """Programs that are no part of the package; pip gives them the Python they are installed for."""
    found = {}
    for name in SCRIPTS:
        with open(os.path.join(HERE, name), 'rb') as file:
            found[f'{NAME}-{version()}.data/scripts/{name}'] = re.sub(rb'\A#!.*python3?', b'#!python', file.read())
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    content = {}
    for path in sources():
        with open(os.path.join(HERE, path), 'rb') as file:
            content[path.replace(os.sep, '/')] = file.read()
    return write_wheel(wheel_directory, {**content, **scripts()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {f'{NAME}.pth': (HERE + '\n').encode(), **scripts()})


def build_sdist(sdist_directory, config_settings=None):
    top = f'{NAME}-{version()}'
    with tarfile.open(os.path.join(sdist_directory, top + '.tar.gz'), 'w:gz', format=tarfile.PAX_FORMAT) as archive:
        for path in [*sources(), 'pyproject.toml', 'build/wheel.py', *SCRIPTS]:
            archive.add(os.path.join(HERE, path), f'{top}/{path}')
        data = metadata().encode()
        entry = tarfile.TarInfo(f'{top}/PKG-INFO')
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return top + '.tar.gz'
