#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The archive of the emulator runs from any folder: devtools/package tarball.

usage: test_tarball.py PACKAGE BUILDDIR
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# What a minimal Debian has, and the library that the archive contains.
LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libjansson.so.4"}


def run(*argv, **more):
    result = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def check_libraries(top):
    for path in (top / "bin/mlxemu", *top.rglob("libmlxemu.so")):
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path)))
        if not needed <= LIBRARIES:
            sys.exit(f"{path.name} needs {sorted(needed - LIBRARIES)}")
    maps = run(top / "bin/mlxemu", "run", "--", sys.executable, "-c", "print(open('/proc/self/maps').read())")
    if str(next(top.rglob("libmlxemu.so"))) not in maps:
        sys.exit(f"another libmlxemu.so was loaded:\n{maps}")
    loaded = run("ldd", top / "bin/mlxemu")
    if f"=> {top}/" not in loaded.replace("/bin/../", "/"):
        sys.exit(f"libjansson of the system was loaded:\n{loaded}")


def check_folder(top):
    """The emulator in this folder, from another working directory."""
    out = run(top / "bin/mlxemu", "run", "--ports", "2", "--audit", "--", "ibv_devinfo", cwd="/")
    if out.count("hca_id") != 2 or "\naudit: clean" not in out:
        sys.exit(out)
    if "usage: mlxemu sweep" not in run(top / "bin/mlxemu", "sweep", "--help", cwd="/"):
        sys.exit("mlxemu sweep was not found")
    check_libraries(top)


def check_blank(top):
    """A folder whose name LD_PRELOAD cannot contain is refused, before the program runs."""
    result = subprocess.run([top / "bin/mlxemu", "run", "--", "echo", "ran"], capture_output=True, text=True,
                            timeout=60, check=False)
    if result.returncode != 1 or "no blank and no colon" not in result.stderr or "ran" in result.stdout:
        sys.exit(f"{result.returncode}\n{result.stdout}{result.stderr}")


def main(package, builddir):
    with tempfile.TemporaryDirectory() as out:
        folder = pathlib.Path(out)
        run(package, "--out", folder / "out", "--builddir", builddir, "tarball")
        archive = next((folder / "out").glob("mlxemu-*.tar.zst"))
        for name, check in (("a", check_folder), ("b/c", check_folder), ("d e", check_blank)):
            place = folder / name
            place.mkdir(parents=True)
            run("tar", "-xf", archive, "-C", place)
            check(next(place.iterdir()))
            print(f"{name}: {check.__name__}")
        print(f"{archive.stat().st_size} bytes")


main(*sys.argv[1:])
