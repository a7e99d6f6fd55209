#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""MLXEMU_DEFAULT_PROFILE names a card model, or a recorded one by name or path, as --profile does, which goes first.

usage: test_default_profile.py MLXEMU
"""
import os
import pathlib
import subprocess
import sys
import tempfile

MLXEMU = sys.argv[1]
BOARD = ["cat", "/sys/class/infiniband/mlx5_0/board_id"]


def run(default, *options):
    """Exit status and what came out."""
    env = dict(os.environ, XDG_DATA_HOME=work, MLXEMU_DEFAULT_PROFILE=default)
    done = subprocess.run([MLXEMU, "run", *options, "--", *BOARD], env=env, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def check(got, want):
    assert got == want, (got, want)


with tempfile.TemporaryDirectory(prefix="mlxpmd-profile.") as work:
    saved = pathlib.Path(work, "mlxemu/profiles/mine.profile")
    saved.parent.mkdir(parents=True)
    saved.write_text("# recorded\nbase=cx5\nboard_id=TEST_BOARD\n")
    check(run("cx4lx"), (0, "MT_2420110034"))
    check(run(""), (0, "MT_0000000359"))
    check(run("mine"), (0, "TEST_BOARD"))
    check(run(str(saved)), (0, "TEST_BOARD"))
    check(run("mine", "--profile", "cx5"), (0, "MT_0000000008"))
    # Not looked at when --profile is given.
    check(run("cx99", "--profile", "mine"), (0, "TEST_BOARD"))
    check(run("cx99"), (2, "mlxemu: MLXEMU_DEFAULT_PROFILE 'cx99': not known (cx6dx, cx7, cx5, cx4lx, cx3)"))
    check(run("./none"), (2, "mlxemu: MLXEMU_DEFAULT_PROFILE './none': No such file or directory"))
    saved.write_text("board_id=TEST_BOARD\n")
    check(run("mine"), (2, "mlxemu: MLXEMU_DEFAULT_PROFILE 'mine': line 1: base=CARD is needed first"))
print("9 uses of MLXEMU_DEFAULT_PROFILE")
