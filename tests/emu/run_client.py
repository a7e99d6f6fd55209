#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs one case of emu_client and checks its exit status and report.

usage: run_client.py MLXEMU PROGRAM CASE STATUS [LINE...]

STATUS is the exit status that `mlxemu run --audit` must have; each LINE must be found in its
report. The run directory must not exist afterwards.
"""
import os
import subprocess
import sys
import tempfile


def check_run(got, left, status, lines):
    """1, and what is wrong with a run: its exit status, what is left of it, lines that are not there; or 0."""
    bad = []
    if got.returncode != status:
        bad.append(f'exit status {got.returncode}, not {status}')
    if left:
        bad.append(f'left behind: {left}')
    bad += [f'no line "{want}"' for want in lines if want not in got.stderr.splitlines()]
    for text in bad:
        print(text)
    return 1 if bad else 0


def main():
    mlxemu, program, case, status = sys.argv[1:5]
    lines = sys.argv[5:]
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, TMPDIR=tmp)
        # A program that leaves objects behind leaks memory too; in a sanitizer build that is no news.
        if case in ('leave', 'leave-exit', 'quick-exit'):
            env['ASAN_OPTIONS'] = 'detect_leaks=0'
        got = subprocess.run([mlxemu, 'run', '--ports', '2', '--audit', '--', program, case],
                             env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=60, check=False)
        left = os.listdir(tmp)
    sys.stderr.write(got.stderr)
    return check_run(got, left, int(status), lines)


if __name__ == '__main__':
    sys.exit(main())
