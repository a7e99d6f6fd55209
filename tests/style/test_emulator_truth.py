# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Planted markers: devtools/emulator-truth refuses those that are not complete, and sees that the page is old.

Usage: test_emulator_truth.py devtools/emulator-truth
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(sys.argv[1]).resolve()
COMPLETE = "/* assumed: a planted one. Other reading: none. Test: fw/test_caps.c. */"
PLANTED = [
    ("/* A guess, assumed. */", "not of the form"),
    (COMPLETE.replace(" Test: fw/test_caps.c.", ""), "not of the form"),
    (COMPLETE.replace("test_caps.c", "test_nothing.c"), "no test tests/fw/test_nothing.c"),
    (COMPLETE, "not up to date"),
    (COMPLETE.replace(" Other", "\n * Other"), "not up to date"),
]


def checked(source):
    return subprocess.run([TOOL, "--check", "--source", source], capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory(prefix="mlxpmd-truth.") as work:
    source = pathlib.Path(work) / "mlxemu"
    shutil.copytree(TOOL.parent / "mlxemu", source)
    result = checked(source)
    assert result.returncode == 0, result.stderr
    for text, message in PLANTED:
        (source / "fw/planted.c").write_text(text + "\n")
        result = checked(source)
        assert result.returncode == 1 and message in result.stderr, (text, result)
print(f"{len(PLANTED)} planted markers found")
