#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs one case of emu_vfio and checks its exit status and report.

usage: run_vfio.py MLXEMU PROGRAM CASE STATUS [--opt=OPTION ...] [--env=NAME=VALUE ...] [LINE...]

STATUS is the exit status that `mlxemu run --open vfio --audit` with the further OPTIONs must have;
each LINE must be found in its report. The run directory must not exist afterwards.
"""
import os
import subprocess
import sys
import tempfile

from run_client import check_run


def main():
    mlxemu, program, case, status = sys.argv[1:5]
    options = [a[len('--opt='):] for a in sys.argv[5:] if a.startswith('--opt=')]
    extra = [a[len('--env='):].split('=', 1) for a in sys.argv[5:] if a.startswith('--env=')]
    lines = [a for a in sys.argv[5:] if not a.startswith(('--opt=', '--env='))]
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, TMPDIR=tmp, ASAN_OPTIONS='detect_leaks=0',
                   MLXEMU=os.path.abspath(mlxemu), **dict(extra))
        got = subprocess.run([mlxemu, 'run', '--ports', '2', '--open', 'vfio', *options, '--audit',
                              '--', program, case],
                             env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=80, check=False)
        left = os.listdir(tmp)
    sys.stderr.write(got.stdout + got.stderr)
    return check_run(got, left, int(status), lines)


if __name__ == '__main__':
    sys.exit(main())
