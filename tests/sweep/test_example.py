#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The example project by its own meson.build and tests: they pass, and with the defect the sweep alone fails.

usage: test_example.py MLXEMU FOLDER
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

MLXEMU, FOLDER = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
PLUGIN = FOLDER.parent.parent / "devtools/pytest-mlxemu"


def results(work, name, *options):
    """Names of the project's tests and how they ended."""
    build = pathlib.Path(work) / name
    # Debian's python3, which has the packages of the tests, and the plugin that is not installed.
    env = dict(os.environ, PATH=f"{MLXEMU.parent}:/usr/bin:{os.environ['PATH']}", PYTHONPATH=str(PLUGIN),
               PYTHONDONTWRITEBYTECODE="1", PYTEST_DEBUG_TEMPROOT=str(work))
    subprocess.run(["meson", "setup", "-Dtests=enabled", "-Dwerror=true", *options, build, FOLDER], env=env, check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run(["meson", "test", "-C", build, "--print-errorlogs", "--timeout-multiplier", "4"], env=env,
                          text=True, stdout=subprocess.PIPE, check=False)
    log = (build / "meson-logs/testlog.json").read_text()
    print(done.stdout)
    failures = len(xml.parse(build / "sweep.xml").findall(".//failure"))
    # Newer meson puts the project before each name: "verbs-ring:run".
    return {test["name"].rpartition(":")[2]: test["result"] for test in map(json.loads, log.splitlines())}, failures


def main():
    with tempfile.TemporaryDirectory() as work:
        repaired = results(work, "repaired")
        leaks = results(work, "leaks", "-Dleaks=true")
    passed = {name: "OK" for name in ("run", "two ports", "refused", "sweep")}
    # A test that should fail and does is an expected failure.
    passed["refused"] = "EXPECTEDFAIL"
    if importlib.util.find_spec("pytest"):
        passed["pytest"] = "OK"
    assert repaired == (passed, 0), repaired
    assert leaks == ({**passed, "sweep": "FAIL"}, 3), leaks


main()
