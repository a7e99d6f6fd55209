#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""devtools/test refuses an unknown suite before it sets up or configures anything, and names every suite."""
import json
import pathlib
import subprocess
import sys
import tempfile


def main(script, build):
    introspected = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True, check=True)
    suites = {suite.split(":")[-1] for test in json.loads(introspected.stdout) for suite in test["suite"]}
    with tempfile.TemporaryDirectory() as folder:
        builddir = pathlib.Path(folder, "build")
        argv = [script, "--no-setup", "--builddir", builddir, "prm", "nosuchsuite"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert not builddir.exists(), "a build folder was configured"
    assert done.returncode == 1, f"exit code {done.returncode}"
    assert done.stdout == "", f"printed: {done.stdout}"
    refusal, _, named = done.stderr.partition("; the suites are: ")
    assert refusal == "test: no suite 'nosuchsuite'", done.stderr
    missing = suites - set(named.split())
    assert suites and not missing, f"not named: {sorted(missing)}; named: {named}"


if __name__ == "__main__":
    main(*sys.argv[1:])
