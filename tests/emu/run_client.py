#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs one case of emu_client and checks its exit status and report.

usage: run_client.py MLXEMU PROGRAM CASE STATUS [--opt=OPTION...] [LINE...]

STATUS is the exit status that `mlxemu run --audit` with the OPTIONs must have; each LINE must be found in its
report. The run directory must not exist afterwards.
"""
import os
import subprocess
import sys
import tempfile

# Options of AddressSanitizer, of no effect in other builds. A program that leaves objects behind leaks memory too; a
# child that exits while a thread of its parent has an object does as well. The handler of SIGSEGV is the program's own.
SANITIZER_OPTIONS = {'leave': 'detect_leaks=0', 'leave-exit': 'detect_leaks=0', 'quick-exit': 'detect_leaks=0',
                     'verbs-leave': 'detect_leaks=0', 'fork-busy': 'detect_leaks=0', 'unmapped': 'handle_segv=0'}


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
    options = [arg.removeprefix('--opt=') for arg in sys.argv[5:] if arg.startswith('--opt=')]
    lines = [arg for arg in sys.argv[5:] if not arg.startswith('--opt=')]
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, TMPDIR=tmp)
        if case in SANITIZER_OPTIONS:
            env['ASAN_OPTIONS'] = ':'.join(filter(None, (env.get('ASAN_OPTIONS'), SANITIZER_OPTIONS[case])))
        got = subprocess.run([mlxemu, 'run', '--ports', '2', '--audit', *options, '--', program, case],
                             env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             timeout=60, check=False)
        left = os.listdir(tmp)
    sys.stderr.write(got.stderr)
    return check_run(got, left, int(status), lines)


if __name__ == '__main__':
    sys.exit(main())
