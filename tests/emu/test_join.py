#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""`mlxemu run --join`: two processes and one device, verbs.

usage: test_join.py MLXEMU EMU_JOIN
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from testlib import FAILED, await_until, expect  # noqa: E402

LIMIT_S = 60


def launch(mlxemu, env, *words):
    return subprocess.Popen([mlxemu, 'run', *words], env=env, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)


def ended(process, status, words=()):
    out = process.communicate(timeout=LIMIT_S)[0]
    expect(process.returncode == status, f'{process.args}: status {process.returncode}, not {status}: {out}')
    for word in words:
        expect(word in out, f'{process.args}: {word!r} is not in {out!r}')


def refused(mlxemu, env):
    """Options of which each gives one line."""
    go = ('--', '/bin/true')
    ended(launch(mlxemu, env, '--join', '1', *go), 1, ['no process 1'])
    ended(launch(mlxemu, env, '--join', '/nonexistent', *go), 1, ['/nonexistent', 'No such file'])
    ended(launch(mlxemu, env, '--join', env['TMPDIR'] + '/', *go), 1, ['/environment', 'No such file'])
    ended(launch(mlxemu, env, '--join', '1', '--ports', '2', *go), 2, ['--join', 'no other option'])


def main():
    mlxemu, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, TMPDIR=tmp)
        refused(mlxemu, env)
        path = f'{tmp}/socket'
        first = launch(mlxemu, env, '--audit', '--seed', '0', '--', program, 'give', path)
        expect(await_until(lambda: os.path.exists(path) or first.poll() is not None, LIMIT_S), 'no socket')
        runs = list(pathlib.Path(tmp).glob('mlxemu.*'))
        expect(len(runs) == 1, f'{runs}')
        pid = next(runs[0].glob('ctl.[0-9]*')).suffix[1:]
        # The sysfs of the run; by the directory, and by the process.
        ended(launch(mlxemu, env, '--join', str(runs[0]), '--', 'cat', '/sys/class/net/mlxemu0np0/address'), 0,
              ['0c:42:a1:4e:d0:00'])
        ended(launch(mlxemu, env, '--join', pid, '--', program, 'open', path), 0, ['--join', 'cannot be opened here'])
        for _ in range(2):
            ended(launch(mlxemu, env, '--join', pid, '--', program, 'take', path), 0)
        ended(first, 0, ['audit: clean'])
        expect(not list(pathlib.Path(tmp).glob('mlxemu.*')), f'left {os.listdir(tmp)}')
    return 1 if FAILED else 0


sys.exit(main())
