#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compares the PRM description with DPDK's mlx5_prm.h and pyverbs' mlx5_prm_structs.py.

Every field that two of the three have is compared by position and width. The exit status is 0 when
all agree but for the exceptions that crosscheck_tables.py lists for these releases of the peers, and enough
was compared. The release of DPDK is in VERSION of its source tree, that of pyverbs is its package's; that of
a single file is not known."""

import argparse
import functools
import itertools
import os
import re
import subprocess
import sys

import crosscheck_tables as tables
import ifc_parse
import pyverbs_parse

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVED = re.compile(r"^(reserved|rsvd)")
PYVERBS_FILE = "mlx5_prm_structs.py"


def parse_args(argv):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--yaml", required=True, help="folder of the PRM description")
    p.add_argument("--dpdk", required=True, help="DPDK's mlx5_prm.h, or its source tree")
    p.add_argument("--pyverbs", help="mlx5_prm_structs.py[.gz]; default: of package rdma-core's")
    p.add_argument("--prmgen", default=os.path.join(HERE, "../../devtools/prmgen"))
    p.add_argument("--min", type=int, default=0, metavar="N",
                   help="fail when a pair with the description has fewer fields in common")
    p.add_argument("-v", "--verbose", action="store_true",
                   help="list layouts and fields that were not compared")
    return p.parse_args(argv)


def find_pyverbs():
    """The peer's file as Debian ships it: among the tests of rdma-core's documentation."""
    files = []
    for package in ("python3-pyverbs", "rdma-core", "ibverbs-utils"):
        done = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False)
        files += done.stdout.split("\n")
    found = [f for f in files if os.path.basename(f).startswith(PYVERBS_FILE)]
    if not found:
        raise FileNotFoundError(f"{PYVERBS_FILE}: in no installed package (python3-pyverbs has it)")
    if not os.path.exists(found[0]):
        raise FileNotFoundError(f"{found[0]}: left out when its package was installed; "
                                "give a copy by --pyverbs")
    return found[0]


def ours(folder, prmgen):
    """The description as {layout: {field: (bit, bits)}} and {command: opcode}."""
    sys.path.insert(0, prmgen)
    import model as prm_model  # pylint: disable=import-outside-toplevel,import-error
    model = prm_model.load(folder)
    out = {}
    for lay in model.layouts.values():
        out[lay.name] = {f.name: span(f) for f in lay.fields}
        for f in lay.fields:
            out[lay.name].update(inner_spans(f))
    return out, {c.name: c.opcode for c in model.commands.values()}


def span(f):
    """(first bit, number of bits) as the peers count: bit 0 is the first on the wire."""
    if f.kind == "blob":
        return 32 * f.dword + 8 * f.byte, 8 * f.bytes
    if f.kind == "nested":
        return 32 * f.dword, 32 * f.layout.size * f.count
    top = 63 if f.hi > 31 else 31
    return 32 * f.dword + top - f.hi, f.width * f.count


def inner_spans(f):
    """`field[i]` of an array and `field.inner` of a nested layout, for peers that are flat."""
    bit = span(f)[0]
    if f.kind == "scalar" and f.array:
        return {f"{f.name}[{i}]": (bit + i * f.width, f.width) for i in range(f.count)}
    if f.kind == "nested" and not f.array:
        inner = {g.name: span(g) for g in f.layout.fields}
        return {f"{f.name}.{name}": (bit + at, bits) for name, (at, bits) in inner.items()}
    return {}


def peer(layouts, aliases, field_aliases):
    """A peer's layouts under our names; a tuple of our names is a field that we split."""
    out = {}
    for name, layout in layouts.items():
        name = aliases.get(name, name)
        fields = out.setdefault(name, {})
        names = {m.name for m in layout.members}
        for m in layout.members:
            if RESERVED.match(m.name):
                continue
            mine = field_aliases.get((name, m.name), field_aliases.get(("*", m.name), m.name))
            if mine in names:
                mine = m.name  # this release of the peer has both names
            fields[mine] = (m.bit, m.width * m.count)
    return out


def lookup(fields, name):
    """Where a field is; several side by side count as one."""
    if not isinstance(name, tuple):
        return fields.get(name)
    spans = [fields.get(n) for n in name]
    if None in spans:
        return None
    for a, b in itertools.pairwise(spans):
        if a[0] + a[1] != b[0]:
            return None
    return spans[0][0], sum(s[1] for s in spans)


class Report:
    """Counts per pair, and what disagreed."""

    def __init__(self, releases):
        self.counts, self.layouts, self.errors, self.used = {}, {}, [], set()
        self.exceptions, self.required = tables.exceptions(releases)

    def compare(self, pair, layout, field, a, b):
        self.counts[pair] = self.counts.get(pair, 0) + 1
        if a == b or (a[0] == b[0] and 0 in (a[1], b[1])):
            return  # a trailing array has no length of its own: its start is what counts
        key = (layout, field if isinstance(field, str) else "+".join(field))
        if (pair, *key) in self.exceptions:
            self.used.add((pair, *key))
            return
        self.errors.append(f"{pair}: {'.'.join(key)}: bit {a[0]:#x} of {a[1]} bits against "
                           f"bit {b[0]:#x} of {b[1]} bits")


def compare_pair(report, pair, one, two, verbose):
    for layout in sorted(set(one) & set(two)):
        fields = set(two[layout]) | {f for f in one[layout] if isinstance(f, tuple)}
        shared = 0
        for field in sorted(fields, key=str):
            a, b = lookup(one[layout], field), lookup(two[layout], field)
            a = one[layout].get(field) if a is None else a
            b = two[layout].get(field) if b is None else b
            if a is None or b is None:
                if verbose:
                    print(f"  {pair}: {layout}.{field}: only one has it: {a} {b}")
                continue
            shared += 1
            report.compare(pair, layout, field, a, b)
        report.layouts[pair] = report.layouts.get(pair, 0) + (1 if shared else 0)
    if verbose:
        for layout in sorted(set(two) - set(one)):
            print(f"  {pair}: layout {layout}: only the peer has it")


def compare_opcodes(report, pair, mine, theirs):
    for name, opcode in theirs.items():
        name = tables.OPCODE_ALIASES.get(name, name)
        if name not in mine:
            continue
        report.compare(pair, "opcode", name, (mine[name], 16), (opcode, 16))


def dpdk_opcodes(path):
    with open(path, encoding="utf-8") as f:
        found = re.findall(r"MLX5_CMD_OP_(\w+)\s*=\s*(0x[0-9a-fA-F]+)", f.read())
    return {name: int(value, 16) for name, value in found}


def releases(args):
    """The peers' releases, as far as they are known."""
    known = {}
    version = os.path.join(args.dpdk, "VERSION")
    if os.path.exists(version):
        with open(version, encoding="utf-8") as f:
            known["dpdk"] = re.match(r"[\d.]+", f.read())[0]
    if not args.pyverbs:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-pyverbs"], capture_output=True,
                              text=True, check=False)
        known["pyverbs"] = re.match(r"[\d.]+", done.stdout)[0]
    return known


@functools.lru_cache(maxsize=None)
def read_dpdk(path):
    """Layouts and opcodes of DPDK's header."""
    if os.path.isdir(path):
        path = os.path.join(path, "drivers/common/mlx5/mlx5_prm.h")
    raw, skipped = ifc_parse.parse(path)
    if set(skipped) - tables.DPDK_UNREADABLE:
        raise ValueError(f"{path}: cannot read {sorted(skipped)}")
    return peer(raw, tables.DPDK_LAYOUTS, tables.DPDK_FIELDS), dpdk_opcodes(path)


@functools.lru_cache(maxsize=None)
def read_pyverbs(path):
    """Layouts and opcodes of pyverbs' tests."""
    raw, opcodes = pyverbs_parse.parse(path or find_pyverbs())
    return peer(raw, tables.PYVERBS_LAYOUTS, tables.PYVERBS_FIELDS), opcodes


def run(args):
    mine, opcodes = ours(args.yaml, args.prmgen)
    dpdk, dpdk_ops = read_dpdk(args.dpdk)
    pyverbs, pyverbs_ops = read_pyverbs(args.pyverbs)
    report = Report(releases(args))
    compare_pair(report, "prm-dpdk", mine, dpdk, args.verbose)
    compare_pair(report, "prm-pyverbs", mine, pyverbs, args.verbose)
    compare_pair(report, "dpdk-pyverbs", dpdk, pyverbs, args.verbose)
    compare_opcodes(report, "prm-dpdk", opcodes, dpdk_ops)
    compare_opcodes(report, "prm-pyverbs", opcodes, pyverbs_ops)
    return report


def main(argv):
    args = parse_args(argv)
    try:
        report = run(args)
    except Exception as e:  # pylint: disable=broad-except
        print(f"crosscheck: {e}", file=sys.stderr)
        return 1
    for pair, count in report.counts.items():
        print(f"{pair}: {count} fields compared in {report.layouts[pair]} layouts")
    for stale in sorted(report.required - report.used):
        report.errors.append(f"exception without a difference: {stale}")
    for pair in ("prm-dpdk", "prm-pyverbs"):
        if report.counts.get(pair, 0) < args.min:
            report.errors.append(f"{pair}: fewer than {args.min} fields compared")
    for error in report.errors:
        print(f"crosscheck: {error}", file=sys.stderr)
    return 1 if report.errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
