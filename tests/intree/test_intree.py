# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Put the drivers into a copy of DPDK's source and build them there: test_intree.py INTREE DPDK_SOURCE COPY"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

INTREE, SOURCE, COPY = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
TEMPORARY = COPY.with_name("tmp")
SHORT = bool(os.environ.get("MLXPMD_SHORT"))


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def run(*args, ok=True):
    # DPDK's build takes the first python3, which needs elftools, and leaves files in TMPDIR.
    env = {**os.environ, "PATH": "/usr/bin:" + os.environ["PATH"], "TMPDIR": str(TEMPORARY)}
    result = subprocess.run(args, cwd=COPY, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check((result.returncode == 0) == ok, f"{' '.join(map(str, args))}: status {result.returncode}\n"
          f"{result.stdout[-6000:]}")
    return result.stdout


def content():
    """Every file and link, with its digest; folders are listed, too."""
    return {str(path.relative_to(COPY)): os.readlink(path) if path.is_symlink() else
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in COPY.rglob("*")}


def intree(*options, ok=True):
    return run(INTREE, *options, COPY, ok=ok)


def add_and_remove():
    before = content()
    for option in ((), ("--copy",)):
        intree(*option)
        first = content()
        intree(*option)
        check(content() == first, f"a second `intree {' '.join(option)}` changes the tree")
        check("drivers/common/mlx5dv/mdv.h" in first or not option, "nothing is copied")
    intree()
    intree("--undo")
    check(content() == before, "--undo does not leave the tree as it was")
    # A file that was changed meanwhile stays.
    intree("--copy")
    changed = COPY / "drivers/common/mlx5dv/mdv.h"
    changed.write_text(changed.read_text() + "\n")
    check("mdv.h" in intree("--undo", ok=False) and changed.is_file(), "a changed file is removed, or not named")
    check("mdv.h" in intree(ok=False), "a changed file is not in the way")
    changed.unlink()
    intree("--undo")
    check(content() == before, "something is left after the changed file was moved away")


def build():
    """Static libraries, and the check of exported symbols that a shared one depends on in a git tree."""
    intree()
    run("meson", "setup", "build", "-Denable_drivers=common/mlx5dv,net/mlxpmd,bus/pci", "-Denable_apps=test-pmd",
        "-Dtests=false", "-Ddeveloper_mode=enabled", "-Dwerror=true")
    names = ["common_mlx5dv"] + ([] if SHORT else ["net_mlxpmd"])
    run("ninja", "-C", "build", *[f"drivers/librte_{name}.a" for name in names], "drivers/rte_common_mlx5dv.sym_chk")
    symbols = run("nm", "-g", "--defined-only", "build/drivers/librte_common_mlx5dv.a")
    check(" T mdv_open\n" in symbols and " T prm_" in symbols, "functions are missing in the static library")


shutil.rmtree(COPY, ignore_errors=True)
shutil.copytree(SOURCE, COPY, symlinks=True, ignore=shutil.ignore_patterns(".git"))
TEMPORARY.mkdir(exist_ok=True)
try:
    add_and_remove()
    build()
finally:
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.rmtree(TEMPORARY, ignore_errors=True)
