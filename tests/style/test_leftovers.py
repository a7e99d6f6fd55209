#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Plant each kind of leftover, and see devtools/leftovers report it and nothing else."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def main():
    """All paths are below folders of the test's own."""
    tool = pathlib.Path(sys.argv[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="leftovers-") as work:
        state = pathlib.Path(work) / "state"
        tmp, home = pathlib.Path(work) / "tmp", pathlib.Path(work) / "home"
        for folder in (tmp, home / ".config", home / ".cache"):
            folder.mkdir(parents=True)
        env = {**os.environ, "TMPDIR": str(tmp), "HOME": str(home)}

        def report():
            done = subprocess.run([tool, "--compare", state], env=env, stdout=subprocess.PIPE, text=True, check=False)
            return done.returncode, [line for line in done.stdout.splitlines() if str(work) in line]

        subprocess.run([tool, "--save", state], env=env, check=True)
        if report()[1]:
            wrong.append(f"nothing planted: {report()}")
        for path in (tmp / "mlxemu.XXXXXX", home / "file", home / ".config/matplotlib", home / ".cache/matplotlib"):
            path.mkdir()
            if report() != (1, [f"left behind: {path}"]):
                wrong.append(f"{path}: {report()}")
            shutil.rmtree(path)
        path = home / ".cache/scapy"
        path.mkdir()
        if report()[1] != [f"new, of another program: {path}"]:
            wrong.append(f"{path}: {report()}")
        shutil.rmtree(home)
        home.mkdir()
        subprocess.run([tool, "--save", state], env=env, check=True)
        for path, inside, status in ((home / ".config", None, 0), (home / ".cache", "scapy", 0),
                                     (home / ".local", None, 1)):
            path.mkdir()
            if inside:
                (path / inside).mkdir()
            if report()[0] != status:
                wrong.append(f"{path}, in it {inside}: {report()}")
    print("\n".join(wrong) or "5 leftovers: all reported; scapy's folders are a note")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
