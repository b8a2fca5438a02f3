#!/usr/bin/env python3
"""The lint finds each violation it is there for, at its line, and finds nothing in clean code."""
import os
import subprocess
import sys
from pathlib import Path

from check import claim, done

LINT = os.path.join(os.environ['ROOT'], 'tools/build/lint')
MODULE = 'module a_m\n  implicit none\n  private\ncontains\n  subroutine A()\n%s  end subroutine A\nend module a_m\n'
INTERFACE = ('module a_c\n  use iso_c_binding, only: c_int\n  implicit none\n  interface\n    integer(c_int) function a(n) bind(c)\n'
             '      import :: c_int\n%s      integer(c_int), value :: n\n    end function a\n  end interface\nend module a_c\n')
C = 'int a(void) {\n%s    return 0;\n}\n'
count = 0


def lint(files):
    """Exit status and findings of the lint on a tree of these files; rooms without a README.md get one that names their files."""
    global count
    count += 1
    rooms = {}
    for name in files:
        if name.endswith('.f90') and name.split('/')[0] in ('fortran', 'interfaces'):
            rooms.setdefault(os.path.dirname(name), []).append(os.path.basename(name))
    files = {**{f'{room}/README.md': f'`{"` `".join(names)}`\n' for room, names in rooms.items()}, **files}
    root = Path(f'tree{count}')
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        if text.startswith('#!'):
            (root / name).chmod(0o755)
    r = subprocess.run([sys.executable, LINT, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return r.returncode, r.stdout


def found(rule, line, name, text, **more):
    """Claims that the one violation in the file is found, by that rule, at that line."""
    status, said = lint({name: text, **more})
    findings = said.strip().splitlines()[:-1]
    right = status == 1 and len(findings) == 1 and findings[0].startswith(f'{name}:{line}:') and findings[0].endswith(f'[{rule}]')
    claim(right, f'{rule}: {findings[0] if findings else "found nothing"}' + (f' and {len(findings) - 1} more' if len(findings) > 1 else ''))


def fine(sentence, files):
    status, said = lint(files)
    claim(status == 0, f'{sentence}: {said.strip().splitlines()[0]}')


found('netcdf_in_one_place', 2, 'cuda_c/a.c', C % '    nc_close(1);\n')
found('netcdf_in_one_place', 6, 'fortran/a.f90', MODULE % '    use netcdf\n')
found('nothing_strange', 1, 'numbers.bin', 'x')
found('nothing_strange', 1, 'tests/large.txt', 260000 * 'x\n')
found('c_prints_nothing', 2, 'cuda_c/a.c', C % '    printf("x");\n')
found('c_prints_nothing', 2, 'cuda_c/a.c', C % '    exit(1);\n')
found('c_prints_nothing', 2, 'cuda_c/a.cu', C % '    std::cout << 1;\n')
found('c_knows_no_mpi', 1, 'cuda_c/a.c', '#include <mpi.h>\n')
found('c_knows_no_mpi', 1, 'cuda_c/a.h', '#include "mpi.h"\n')
found('c_knows_no_mpi', 6, 'fortran/a.f90', MODULE % '    call cudaDeviceReset()\n')
found('stop_in_one_place', 6, 'fortran/a.f90', MODULE % '    stop 1\n')
found('stop_in_one_place', 6, 'fortran/a.f90', MODULE % '    if (n > 0) error stop "no"\n')
found('stop_in_one_place', 6, 'fortran/a.f90', MODULE % '    call MPI_Abort(c, 1, e)\n')
found('world_in_one_place', 6, 'fortran/a.f90', MODULE % '    c = MPI_COMM_WORLD\n')
found('messages_in_one_place', 6, 'fortran/a.f90', MODULE % '    call MPI_Send(x, 1, t, 0, 7, c)\n')
found('messages_in_one_place', 6, 'fortran/a.f90', MODULE % '    k = TAG_SHOT\n')
READS = MODULE % '    call fio_get_longs(n)\n%s'
found('numbers_from_outside', 7, 'fortran/a.f90', READS % '    k = int(n(1))\n')
found('numbers_from_outside', 7, 'fortran/a.f90', READS % '    k = nint(min(x, 1.0_dp))\n')
found('numbers_from_outside', 7, 'fortran/a.f90', READS % '    k = product(n)\n')
found('numbers_from_outside', 2, 'cuda_c/a.c', C % '    n = atoi(text);\n')
found('numbers_from_outside', 2, 'cuda_c/a.c', C % '    return __builtin_mul_overflow(a, b, &c);\n')
fine('numbers that are widened, and those of modules that read nothing', {
    'fortran/a.f90': READS % '    k = int(n(1), i8)\n    x = product(real(n, dp))\n', 'fortran/b.f90': MODULE.replace('a_m', 'b_m') % '    k = int(x)\n'})
found('printing_in_one_place', 6, 'fortran/a.f90', MODULE % '    print *, n\n')
found('printing_in_one_place', 7, 'fortran/a.f90', MODULE % '    n = 1\n    write (*, *) n\n')
found('printing_in_one_place', 6, 'fortran/a.f90', MODULE % "    write (error_unit, '(a)') n\n")
found('no_shell', 6, 'fortran/a.f90', MODULE % "    call execute_command_line('rm '//path)\n")
found('no_shell', 2, 'cuda_c/a.c', C % '    system(command);\n')
found('no_shell', 4, 'tools/a.py', 'import subprocess\n\n\nsubprocess.run("ls", shell=True)\n')
found('no_shell', 4, 'tools/a.py', 'import tempfile\n\n\npath = tempfile.mktemp()\n')
found('device_memory_in_one_place', 2, 'cuda_c/a.cu', C % '    cudaMalloc(&p, 4);\n')
found('rooms_list_their_files', 1, 'fortran/base/README.md', '`b.f90`: B\n', **{'fortran/base/a.f90': MODULE % '', 'fortran/base/b.f90':
      (MODULE % '').replace('a_m', 'b_m')})
found('rooms_list_their_files', 2, 'fortran/base/README.md', '`a.f90`: A\n`c.f90`, `signals/c.f90`: C\n', **{'fortran/base/a.f90': MODULE % ''})
found('builds_repeat', 2, 'cuda_c/a.cu', C % '    const char *built = __DATE__;\n')
found('modules_are_closed', 1, 'fortran/a.f90', (MODULE % '').replace('  private\n', ''))
found('modules_are_closed', 1, 'fortran/a.f90', (MODULE % '').replace('  implicit none\n', ''))
found('associated_elements', 6, 'fortran/a.f90', MODULE % '    associate (one => b(Part(n), m(n)))\n')
found('interfaces_are_bare', 5, 'interfaces/a_c.f90', INTERFACE % '')
found('interfaces_are_bare', 2, 'interfaces/a_c.f90', (INTERFACE % '      implicit none\n').replace('iso_c_binding', 'kinds_m'))
found('lines_are_clean', 6, 'fortran/a.f90', MODULE % '    n = 1  \n')
found('lines_are_clean', 6, 'fortran/a.f90', MODULE % '\tn = 1\n')
found('lines_are_clean', 6, 'fortran/a.f90', MODULE % ('    n = 1' + '0' * 124 + '\n'))
found('lines_are_clean', 2, 'cuda_c/a.c', C % ('    a' + 'b' * 115 + ';\n'))
found('lines_are_clean', 8, 'fortran/a.f90', (MODULE % '    n = 1\n')[:-1])
found('no_machine_paths', 1, 'README.md', 'see /' + 'home/somebody/model.nc\n')
found('no_machine_paths', 6, 'fortran/a.f90', MODULE % ("    call Read('/" + "root/x')\n"))
found('scripts_run', 1, 'tests/t900_a.py', 'print(1)\n')
found('scripts_run', 1, 'tests/t9_a.f90', 'end\n')
found('scripts_run', 1, 'tests/t900_a.sh', '#!/bin/sh\ntrue\n', **{'tests/t900_a.f90': 'end\n'})
UP = 'rooms_use_those_below'
found(UP, 2, 'fortran/earth/a.f90', (MODULE % '').replace('  implicit', '  use b_m, only: B\n  implicit', 1),
      **{'fortran/scheme/b.f90': MODULE.replace('a_m', 'b_m') % ''})
found(UP, 2, 'fortran/elastic3d/a.f90', (MODULE % '').replace('  implicit', '  use b_m, only: B\n  implicit', 1),
      **{'fortran/acoustic2d/b.f90': MODULE.replace('a_m', 'b_m') % ''})
found(UP, 1, 'cuda_c/base/a.c', '#include "b.h"\n', **{'cuda_c/gpu/b.h': '#pragma once\n'})
found(UP, 1, 'cuda_c/elastic3d/gpu/a.cu', '#include "b.h"\n', **{'cuda_c/acoustic2d/b.h': '#pragma once\n'})
found(UP, 1, 'cuda_c/cellar/a.c', C % '')
found('framework_knows_no_physics', 6, 'fortran/survey/a.f90', MODULE % '    logical, parameter :: three_d = .true.\n')
found(UP, 2, 'fortran/survey/a.f90', (MODULE % '').replace('  implicit', '  use b_m, only: B\n  implicit', 1),
      **{'fortran/acoustic2d/b.f90': MODULE.replace('a_m', 'b_m') % ''})
found('names_are_unique', 1, 'fortran/sources/a.f90', (MODULE % '').replace('a_m', 'c_m'), **{'fortran/earth/a.f90': MODULE % ''})
fine('a room uses rooms below it', {
    'fortran/scheme/a.f90': (MODULE % '').replace('  implicit', '  use b_m, only: B\n  implicit', 1),
    'fortran/earth/b.f90': MODULE.replace('a_m', 'b_m') % '',
    'cuda_c/elastic3d/gpu/c.cu': '#include "d.h"\n#include "iface.h"\n', 'cuda_c/gpu/d.h': '#pragma once\n'})
if subprocess.run(['bash', '-c', 'command -v shellcheck'], stdout=subprocess.DEVNULL).returncode == 0:
    found('shellcheck', 2, 'tools/a', '#!/bin/bash\necho $1\n')
if subprocess.run([sys.executable, '-c', 'import flake8'], stderr=subprocess.DEVNULL).returncode == 0:
    found('python_check', 1, 'tools/a.py', 'import os\n')

fine('words in comments and strings are not code', {
    'fortran/a.f90': MODULE % "    n = 1   ! we never stop, print * or write (*, *); MPI_COMM_WORLD\n    t = 'stop; print *, nc_open(x)'\n",
    'cuda_c/a.c': C % '    /* printf("x") exit(1)\n       nc_close(1) */\n    a = "cudaMalloc(x)"; // abort()\n'})
fine('what only looks like a violation is none', {
    'fortran/a.f90': MODULE % '    if (stop) return\n    stop = .true.\n    write (unit, *) n\n    write (text, *) n\n    call Stopped()\n',
    'cuda_c/a.c': C % '    snprintf(b, 4, "x");\n    func_close(1);\n    a = "https://x.org/home/me";\n'})
fine('the places allowed are allowed', {
    'fortran/program/spl.f90': MODULE % '    stop 1\n    call MPI_Abort(MPI_COMM_WORLD, 1, e)\n',
    'fortran/ranks/protocol.f90': MODULE % '    call MPI_Send(x, 1, t, 0, TAG_A, MPI_COMM_WORLD)\n',
    'fortran/base/log.f90': MODULE % "    write (error_unit, '(a)') n\n",
    'fortran/parameters/parameters.f90': MODULE % ('    n = 1' + '0' * 150 + '\n'),
    'cuda_c/gpu/devmem.cu': C % '    cudaMalloc(&p, 4);\n', 'cuda_c/netcdf/fio_nc.c': C % '    nc_close(1);\n'})
fine('a program with its own module and an interface with implicit none are fine', {
    'interfaces/a_c.f90': INTERFACE % '      implicit none\n', 'fortran/Spl.f90': 'program Spl\n  use a_m, only: A\n  call A()\nend program Spl\n'})
done()
