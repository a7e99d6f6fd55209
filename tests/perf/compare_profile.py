# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Profile of a burst: instructions by function, and the instructions that are executed most often."""

import bisect
import subprocess
from functools import lru_cache

from elftools.elf.elffile import ELFFile


@lru_cache
def _functions(path):
    """[(begin, end, name)] of a library; a stripped one has only its exported functions."""
    with open(path, 'rb') as f:
        elf = ELFFile(f)
        table = elf.get_section_by_name('.symtab') or elf.get_section_by_name('.dynsym')
        found = [(s['st_value'], s['st_value'] + s['st_size'], s.name)
                 for s in table.iter_symbols() if s['st_info']['type'] == 'STT_FUNC' and s['st_size']]
    return sorted(found)


def _name(path, offset):
    functions = _functions(path)
    at = bisect.bisect_right(functions, (offset, 1 << 62, '')) - 1
    if at >= 0 and offset < functions[at][1]:
        return functions[at][2]
    return '(no symbol)'


@lru_cache
def _code(path, offset):
    """The instruction at an offset, disassembled by objdump; '' without objdump."""
    try:
        out = subprocess.run(['objdump', '-d', '--no-show-raw-insn', f'--start-address={offset:#x}',
                              f'--stop-address={offset + 15:#x}', path],
                             capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ''
    for line in out.splitlines():
        if line.strip().startswith(f'{offset:x}:'):
            return line.split('\t', 1)[-1].strip()
    return ''


def _sections(record):
    """(heading, units, [(path, offset, count)]) of each arm of each row."""
    heading, units, steps = None, 1, []
    with open(record, encoding='ascii') as f:
        for line in f:
            words = line.split()
            if words[0] == '#':
                if heading:
                    yield heading, units, steps
                heading, units, steps = f'row {words[2]}, {words[4]}', int(words[6]), []
            else:
                steps.append((words[0], int(words[1], 16), int(words[2])))
    if heading:
        yield heading, units, steps


def show(record, top):
    """Print for each row and driver the functions by instructions per unit, and the most executed instructions."""
    for heading, units, steps in _sections(record):
        by_function = {}
        for path, offset, count in steps:
            key = (path.rsplit('/', 1)[-1], _name(path, offset))
            by_function[key] = by_function.get(key, 0) + count
        print(f'\n{heading}: instructions per unit, by function')
        for (library, name), count in sorted(by_function.items(), key=lambda e: -e[1])[:12]:
            print(f'  {count / units:8.2f}  {name}  {library}')
        print(f'{heading}: instructions executed most often')
        for path, offset, count in sorted(steps, key=lambda e: (-e[2], e[1]))[:top]:
            print(f'  {count / units:8.2f}  {offset:#8x}  {_name(path, offset)[:28]:28}  {_code(path, offset)}')
