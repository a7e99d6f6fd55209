# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A copy of the project's files, in which bugs are planted."""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def copy_tree(tree, instead=None):
    """
    The files that git knows, as they stand; unchanged ones keep their time for ninja. instead: {name: bytes}, what
    files have in the copy, or new files.
    """
    tree.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"],
                           stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    instead = instead or {}
    known = set()
    for name in sorted({*filter(None, names), *instead}):
        source, copy = ROOT / name, tree / name
        if name not in instead and not source.is_file():
            continue
        known.add(copy)
        data = instead[name] if name in instead else source.read_bytes()
        if copy.is_file() and copy.read_bytes() == data:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data)
        copy.chmod(source.stat().st_mode if source.is_file() else 0o644)
    for copy in tree.rglob("*"):
        if copy.is_file() and copy not in known and not {".dpdk-src", "build"} & set(
                copy.relative_to(tree).parts[:1]):
            copy.unlink()
    if not (tree / ".dpdk-src").exists():
        (tree / ".dpdk-src").symlink_to(ROOT / ".dpdk-src")
