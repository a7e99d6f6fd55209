# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A copy of the project's files, in which bugs are planted."""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Broken(Exception):
    """The changes cannot be tried."""


def run(command, timeout=900):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, check=False)
    return done.returncode, done.stdout.decode(errors="replace")


def must(command, what, timeout=900):
    status, out = run(command, timeout)
    if status != 0:
        raise Broken(f"{what} failed:\n{out[-3000:]}")


def changed(row, tree):
    """{path: text with the changes of a row in}; each old text has to be there once."""
    texts = {}
    for change in row.get("change", []):
        path = tree / change["file"]
        text = texts.get(path, path.read_text(encoding="utf-8"))
        found = text.count(change["old"])
        if found != 1:
            raise Broken(f"{row['id']}: its text is {found} times in {change['file']}")
        texts[path] = text.replace(change["old"], change["new"])
    return texts


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
