#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Checks which source file uses which: symbols of the built objects (nm) and #include lines.

A file must not use a symbol or a header of a higher layer, nor anything of another family (drivers
and emulator have only the generated PRM layouts in common). The program also prints the call
cycles that remain in each component: strongly connected components of its translation units.

Usage: structure.py [--self-test] SOURCE-DIR BUILD-DIR
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# Folder, family, layers of the family from the lowest to the highest. The longest folder that fits counts.
LAYERS = [
    ('drivers/common/mlx5dv/prm', 'prm', 0),
    ('drivers/common/mlx5dv', 'driver', 1),
    ('drivers/net/mlxpmd', 'driver', 2),
    ('app/test-mlx', 'driver', 3),
    ('devtools/mlxemu/core', 'emulator', 1),
    ('devtools/mlxemu/wire', 'emulator', 2),
    ('devtools/mlxemu/dp', 'emulator', 3),
    ('devtools/mlxemu/fw', 'emulator', 4),
    ('devtools/mlxemu/ctl', 'emulator', 5),
    ('devtools/mlxemu/abi', 'emulator', 6),
    ('devtools/mlxemu', 'emulator', 7),
]
# Components whose cycles are printed: name, folders.
COMPONENTS = [
    ('common/mlx5dv', ['drivers/common/mlx5dv', 'drivers/common/mlx5dv/prm']),
    ('net/mlxpmd', ['drivers/net/mlxpmd']),
    ('mlxemu/core', ['devtools/mlxemu/core']),
    ('mlxemu/wire', ['devtools/mlxemu/wire']),
    ('mlxemu/dp', ['devtools/mlxemu/dp']),
    ('mlxemu/fw', ['devtools/mlxemu/fw']),
    ('mlxemu/ctl', ['devtools/mlxemu/ctl']),
    ('mlxemu/abi', ['devtools/mlxemu/abi']),
    ('mlxemu launcher', ['devtools/mlxemu']),
    ('mlxemu, all layers', ['devtools/mlxemu' + d for d in
                            ('', '/core', '/wire', '/dp', '/fw', '/ctl', '/abi')]),
    ('app/test-mlx', ['app/test-mlx']),
]
# Layers of the emulator offer their headers emu_*.h to others, the drivers what `plugin_headers` of their
# meson.build lists; a layer that is not named here offers all of its headers.
PUBLIC_NAME = re.compile(r'emu_.*\.h$')
PUBLIC_BY_NAME = ['devtools/mlxemu/' + d for d in ('core', 'wire', 'dp', 'fw', 'ctl')]
PUBLIC_BY_MESON = ['drivers/common/mlx5dv', 'drivers/net/mlxpmd']
# The driver that others link with.
EXPORTING = 'drivers/common/mlx5dv'
# Definitions in this folder take the place of functions of libc, libpcap and libjansson: a
# reference to such a name is a library call.
STAND_INS = 'devtools/mlxemu/abi/'
OWN_PREFIX = re.compile(r'(abi|emu|mlxemu|wire|dp|fw)_')


def layer_of(path):
    """(folder, family, rank) of a source file, None for a file of no layer."""
    fits = [row for row in LAYERS if path.startswith(row[0] + '/')]
    return max(fits, key=lambda row: len(row[0])) if fits else None


class Tree:
    """Symbols of the objects and included headers, by source file (relative to the source tree)."""

    def __init__(self, source, build):
        self.source, self.build = os.path.realpath(source), os.path.realpath(build)
        self.defined = collections.defaultdict(set)  # symbol -> files
        self.used = collections.defaultdict(set)     # file -> symbols
        self.includes = []                           # (file, header)
        self.missing = []
        self.compiler = None
        with open(os.path.join(build, 'compile_commands.json')) as f:
            self.commands = json.load(f)
        self.headers = collections.defaultdict(set)  # base name -> paths of the layers' headers
        self.installed = {folder: self.read_installed(folder) for folder in PUBLIC_BY_MESON}

    def read_installed(self, folder):
        """Names in `plugin_headers = files(...)` of a driver's meson.build."""
        with open(os.path.join(self.source, folder, 'meson.build')) as f:
            found = re.search(r'^plugin_headers\s*=\s*files\((.*?)\)', f.read(), re.M | re.S)
        return set(re.findall(r"'([^']+\.h)'", found.group(1))) if found else set()

    def relative(self, path):
        """Path below the source tree; a generated file counts as if it were there."""
        path = os.path.realpath(path)
        for base in (self.build, self.source):
            if path.startswith(base + os.sep):
                return path[len(base) + 1:]
        return path

    def read(self):
        for entry in self.commands:
            path = self.relative(os.path.join(entry['directory'], entry['file']))
            if layer_of(path) is None:
                continue
            words = shlex.split(entry['command'])
            output = entry.get('output') or words[words.index('-o') + 1]
            if self.relative(os.path.join(entry['directory'], output)).startswith('tests/'):
                continue  # a test's own copy of the object
            if os.path.basename(words[0]) == 'ccache':
                words = words[1:]
            self.compiler = self.compiler or [words[0]]
            self.read_object(path, os.path.join(entry['directory'], output))
        self.read_headers()

    def read_object(self, path, output):
        if not os.path.exists(output):
            self.missing.append(output)
            return
        text = subprocess.run(['nm', '-P', '-g', output], check=True, capture_output=True,
                              text=True).stdout
        for line in text.splitlines():
            name, kind = line.split()[:2]
            if kind in 'Uwv':
                self.used[path].add(name)
            elif not (path.startswith(STAND_INS) and not OWN_PREFIX.match(name)):
                self.defined[name].add(path)

    def read_headers(self):
        files = []
        for folder in sorted({row[0] for row in LAYERS}):
            for base in (self.source, self.build):
                for top, _, names in os.walk(os.path.join(base, folder)):
                    files += [self.relative(os.path.join(top, n)) for n in names
                              if n.endswith(('.c', '.h'))]
        files = sorted(set(files))
        for path in files:
            if path.endswith('.h'):
                self.headers[os.path.basename(path)].add(path)
        for path in files:
            self.includes += [(path, header) for header in self.read_includes(path)]

    def read_includes(self, path):
        for base in (self.source, self.build):
            try:
                with open(os.path.join(base, path)) as f:
                    text = f.read()
                break
            except FileNotFoundError:
                continue
        for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.M):
            header = self.find_header(path, name)
            if header is not None:
                yield header

    def find_header(self, path, name):
        """The layers' header that an #include line means; None for a foreign one."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        paths = self.headers.get(os.path.basename(name), set())
        if beside in paths:
            return beside
        name = os.path.normpath(name).lstrip('./')
        fits = sorted(p for p in paths if p.endswith('/' + name))
        return fits[0] if fits else None


def violation(user, owner, what):
    """One line when a file may not use something of another file, else None."""
    (_, family, rank), (_, other, other_rank) = layer_of(user), layer_of(owner)
    if other == 'prm' or user == owner:
        return None
    if family != other:
        return f'{user}: uses {what} of {owner}: another family'
    if other_rank > rank:
        return f'{user}: uses {what} of {owner}: a higher layer'
    return None


def hidden(tree, user, header):
    """One line when a header is private to another layer, else None."""
    folder, name = layer_of(header)[0], os.path.basename(header)
    if layer_of(user)[0] == folder:
        return None
    if folder in PUBLIC_BY_MESON:
        public = name in tree.installed[folder]
    else:
        public = folder not in PUBLIC_BY_NAME or PUBLIC_NAME.match(name)
    return None if public else f'{user}: includes {header}: private to its layer'


def calls(tree):
    """(user, owner, symbol) of every reference between files; owners of the user's family first."""
    for user, symbols in tree.used.items():
        family = layer_of(user)[1]
        for symbol in symbols:
            owners = tree.defined.get(symbol, set())
            same = {o for o in owners if layer_of(o)[1] == family}
            for owner in same or owners:
                yield user, owner, symbol


def exports(macros, version_map):
    """Symbols that only one of the two lists has. Up to 25.03 DPDK's build reads version.map; later ones make it from
    the macros in the sources."""
    listed = set(re.findall(r'^\t(\w+);', version_map, re.M))
    marked = set(re.findall(r'^RTE_EXPORT_INTERNAL_SYMBOL\((\w+)\)\n.+\n\1\(', macros, re.M))
    return [f'{EXPORTING}: {name}: in version.map {name in listed}, with RTE_EXPORT_INTERNAL_SYMBOL {name in marked}'
            for name in sorted(listed ^ marked)]


def check_exports(source):
    folder = pathlib.Path(source) / EXPORTING
    return exports('\n'.join(f.read_text() for f in sorted(folder.glob('*.c'))), (folder / 'version.map').read_text())


def check(tree):
    """All violations, sorted."""
    found = {violation(user, owner, symbol) for user, owner, symbol in calls(tree)}
    for user, header in tree.includes:
        found.add(violation(user, header, 'the header'))
        found.add(hidden(tree, user, header))
    return sorted(line for line in found if line is not None)


def cycles(edges):
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on.discard(group[-1])
                    if len(group) > 1:
                        out.append(sorted(group))
    return sorted(out, key=lambda group: (-len(group), group))


def print_cycles(tree):
    edges = collections.defaultdict(set)
    for user, owner, _ in calls(tree):
        edges[user].add(owner)
    for name, folders in COMPONENTS:
        inside = {path for path in tree.used if layer_of(path)[0] in folders}
        part = {path: {o for o in edges[path] if o in inside and o != path} for path in inside}
        groups = cycles(part)
        sizes = ', '.join(str(len(group)) for group in groups) or 'none'
        print(f'{name}: {len(inside)} files, cycles: {sizes}')
        if len(folders) == 1 or name == 'common/mlx5dv':
            for group in groups:
                print('    ' + ' '.join(os.path.basename(path) for path in group))


def plant(tree, path, text, folder):
    """Compiles text as if it were the file path of the tree; returns the violations it adds."""
    planted = Tree(tree.source, tree.build)
    planted.defined, planted.headers = tree.defined, tree.headers
    source, output = os.path.join(folder, 'planted.c'), os.path.join(folder, 'planted.o')
    with open(source, 'w') as f:
        f.write(text)
    subprocess.run(tree.compiler + ['-c', source, '-o', output], check=True)
    planted.read_object(path, output)
    return check(planted)


def symbol_of(tree, folder):
    """A symbol that one file of the folder defines."""
    return min(name for name, files in tree.defined.items()
               if len(files) == 1 and layer_of(min(files))[0] == folder
               and re.match(r'[a-z]\w*$', name))


def self_test(tree):
    """Upward calls, calls across families and includes that must be found, and calls that must not."""
    up = 'void {0}(void);\nvoid planted(void);\nvoid planted(void) {{ {0}(); }}\n'
    # Where the caller is, whose symbol it calls (a folder, or the name), violations expected.
    cases = [
        ('devtools/mlxemu/core', 'devtools/mlxemu/dp', 1),
        ('devtools/mlxemu/wire', 'devtools/mlxemu/fw', 1),
        ('devtools/mlxemu/fw', 'devtools/mlxemu/abi', 1),
        ('devtools/mlxemu/abi', 'devtools/mlxemu/dp', 0),
        ('drivers/common/mlx5dv', 'drivers/net/mlxpmd', 1),
        ('drivers/net/mlxpmd', 'drivers/common/mlx5dv', 0),
        ('drivers/net/mlxpmd', 'devtools/mlxemu/dp', 1),
        ('devtools/mlxemu/fw', 'drivers/net/mlxpmd', 1),
        ('devtools/mlxemu/fw', 'drivers/common/mlx5dv/prm', 0),
        ('devtools/mlxemu/core', 'open', 0),
    ]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for caller, target, expected in cases:
            symbol = target if '/' not in target else symbol_of(tree, target)
            found = plant(tree, caller + '/planted.c', up.format(symbol), folder)
            if len(found) != expected:
                print(f'self-test: {caller} calling {symbol}: {found}, expected {expected}')
                bad += 1
    headers = [
        ('devtools/mlxemu/core/planted.c', 'dp/emu_dp.h', 1),
        ('devtools/mlxemu/fw/planted.c', 'dp/dp_int.h', 1),
        ('devtools/mlxemu/fw/planted.c', 'dp/emu_dp.h', 0),
        ('drivers/net/mlxpmd/planted.c', 'core/emu_dev.h', 1),
        ('drivers/net/mlxpmd/planted.c', 'mdv.h', 0),
        ('drivers/net/mlxpmd/planted.c', 'mdv_private.h', 1),
        ('app/test-mlx/planted.c', 'mlxpmd.h', 1),
        ('devtools/mlxemu/abi/planted.c', 'mdv.h', 1),
        ('devtools/mlxemu/abi/planted.c', 'prm.h', 0),
    ]
    for path, name, expected in headers:
        header = tree.find_header(path, name)
        lines = [] if header is None else [violation(path, header, 'the header'),
                                           hidden(tree, path, header)]
        if header is None or (any(lines) != bool(expected)):
            print(f'self-test: {path} including {name}: {lines}, expected {expected}')
            bad += 1
    if cycles({'a': {'b'}, 'b': {'c'}, 'c': {'a', 'd'}, 'd': set()}) != [['a', 'b', 'c']]:
        print('self-test: the cycle of three files is not found')
        bad += 1
    marked = 'RTE_EXPORT_INTERNAL_SYMBOL({0})\nint\n{0}(void)\n'
    symbols = [
        (marked.format('mdv_a'), '\tmdv_a;\n', 0),
        (marked.format('mdv_a'), '\tmdv_a;\n\tmdv_b;\n', 1),
        (marked.format('mdv_a') + marked.format('mdv_b'), '\tmdv_a;\n', 1),
        (marked.format('mdv_a').replace('int\nmdv_a', 'int\nmdv_b'), '\tmdv_a;\n', 1),
    ]
    for macros, version_map, expected in symbols:
        if len(exports(macros, version_map)) != expected:
            print(f'self-test: exports {macros!r} against {version_map!r}, expected {expected}')
            bad += 1
    print(f'self-test: {len(cases) + len(headers) + 1 + len(symbols)} cases, {bad} failed')
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--self-test', action='store_true',
                        help='plant violations and check that each is found')
    parser.add_argument('source')
    parser.add_argument('build')
    args = parser.parse_args()
    tree = Tree(args.source, args.build)
    tree.read()
    if not tree.used:
        sys.exit('structure: no object of a layer was found')
    if tree.missing:
        sys.exit('structure: not built: ' + ' '.join(sorted(tree.missing)[:8]))
    if args.self_test:
        sys.exit(1 if self_test(tree) else 0)
    print_cycles(tree)
    found = check(tree) + check_exports(args.source)
    for line in found:
        print(line)
    print(f'{len(tree.used)} files, {len(found)} violations')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
