#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What others leave in a shared folder: control sockets of another user, run folders of a killed launcher.

usage: test_foreign.py MLXEMU CLIENT
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from testlib import FAILED, await_until, expect  # noqa: E402

OTHER_UID = 65534
# Listens on the path as the user of argv[2], and gives each request the same answer.
# It binds as root, because only root can enter TMPDIR.
SERVER = """
import os, socket, sys
path, uid = sys.argv[1].format(pid=os.getpid()), int(sys.argv[2])
s = socket.socket(socket.AF_UNIX)
s.bind(path)
os.chown(path, uid, -1)
os.setuid(uid)
s.listen(5)
print('listening', flush=True)
while True:
    c, _ = s.accept()
    try:
        c.recv(4096)
        c.sendall(sys.argv[3].encode() + b'\\n')
    except OSError:
        pass  # the client closed the connection
    c.close()
"""


@contextlib.contextmanager
def server(path, uid, answer):
    """A process that answers on a socket; gives its number. {pid} in the path is that number."""
    with subprocess.Popen(['/usr/bin/python3', '-c', SERVER, path, str(uid), answer], stdout=subprocess.PIPE,
                          text=True) as proc:
        try:
            expect(proc.stdout.readline() == 'listening\n', f'{path}: the server listens')
            yield proc.pid
        finally:
            proc.kill()


def ctl(mlxemu, tmp, *args, **env):
    got = subprocess.run([mlxemu, 'ctl', *args], timeout=60, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env={**os.environ, 'TMPDIR': tmp, **env})
    return got.returncode, got.stdout, got.stderr


def another_user(mlxemu, tmp):
    """Root uses no socket of another user, in whatever folder."""
    folder = os.path.join(tmp, 'mlxemu.abcdef')
    os.mkdir(folder, 0o755)
    os.chmod(tmp, 0o755)
    os.chown(folder, OTHER_UID, OTHER_UID)
    with server(folder + '/ctl.{pid}', OTHER_UID, '{"ok":true,"x":1}') as pid:
        status, out, err = ctl(mlxemu, tmp, '--pid', str(pid), 'ledger')
        expect((status, out) == (1, b''), f'folder of another user: {status} {out!r}')
        expect(b'no process' in err, f'folder of another user: {err!r}')
        status, out, err = ctl(mlxemu, tmp, 'ledger', MLXEMU_CTL=f'{folder}/ctl.{pid}')
        expect((status, out) == (1, b''), f'MLXEMU_CTL of another user: {status} {out!r}')
        expect(str(OTHER_UID).encode() in err, f'MLXEMU_CTL of another user: {err!r}')
        # A folder of this user that others can write to.
        os.chown(folder, 0, 0)
        status, out, err = ctl(mlxemu, tmp, '--pid', str(pid), 'ledger')
        expect((status, out) == (1, b''), f'socket of another user: {status} {out!r}')
        expect(str(OTHER_UID).encode() in err, f'socket of another user: {err!r}')


def escapes(mlxemu, tmp):
    """Control characters of an answer do not reach the terminal."""
    os.mkdir(os.path.join(tmp, 'mlxemu.abcdeg'), 0o700)
    path = os.path.join(tmp, 'mlxemu.abcdeg', 'ctl.{pid}')
    raw = '{"ok":true,"a\\u001b[2J":"b\\u001b]0;c\\u0007\x7f\u009b1m ü","n":5}'
    for answer, args, words in (
            (raw, (), [b'\\u001b[2J', b'\\u0007', b'\\u007f', b'\\u009b', 'ü'.encode(), b'n 5\n']),
            (raw, ('--json',), [b'\\u001b[2J', b'\\u0007', b'\\u007f', b'\\u009b', 'ü'.encode(), b'"n":5']),
            ('{"ok":false,"error":"\\u001b[31mred \u009b"}', (), [b'?[31mred']),
            ('\x1b[31mred', (), [b'not JSON']), ('\x1b[31mred', ('--json',), [b'not JSON'])):
        with server(path, os.getuid(), answer) as pid:
            status, out, err = ctl(mlxemu, tmp, *args, '--pid', str(pid), 'ledger')
        expect(status == (0 if answer == raw else 1), f'{answer!r}: {status}')
        for word in words:
            expect(word in out + err, f'{answer!r}: no {word!r} in {out + err!r}')
        for bad in (b'\x1b', b'\x07', b'\x7f', b'\xc2\x9b'):
            expect(bad not in out + err, f'{answer!r}: {bad!r} in {out + err!r}')
        if args and answer == raw:
            expect(json.loads(out)['n'] == 5, f'--json: {out!r}')


def run(mlxemu, tmp):
    status = subprocess.run([mlxemu, 'run', '--', 'true'], env={**os.environ, 'TMPDIR': tmp}, timeout=60,
                            check=False).returncode
    expect(status == 0, f'a run: status {status}')


@contextlib.contextmanager
def waiting(mlxemu, client, tmp):
    """A launcher with a program that waits; gives the launcher's process and the run folder."""
    before = set(os.listdir(tmp))
    with subprocess.Popen([mlxemu, 'run', '--', client, 'wait-signal'], env={**os.environ, 'TMPDIR': tmp},
                          stdout=subprocess.PIPE, text=True) as proc:
        try:
            expect(proc.stdout.readline() == 'waiting\n', 'the program waits')
            (folder,) = set(os.listdir(tmp)) - before
            yield proc, os.path.join(tmp, folder)
        finally:
            if proc.poll() is None:
                proc.terminate()


def killed_launcher(mlxemu, client, tmp):
    """The next launcher removes the folder of a killed one, but none that is in use."""
    with waiting(mlxemu, client, tmp) as (_, alive):
        with waiting(mlxemu, client, tmp) as (proc, dead):
            pids = [int(name[7:]) for name in os.listdir(dead) if name.startswith('active.')]
            proc.send_signal(signal.SIGKILL)
            proc.wait()
            expect(os.path.exists(dead), 'a killed launcher leaves its folder')
            expect(await_until(lambda: not any(os.path.exists(f'/proc/{pid}') for pid in pids), 30),
                   'the program of a killed launcher ends')
        other = os.path.join(tmp, 'mlxemu.mine12')
        os.mkdir(other)  # made by another program, or just now by another launcher
        # A process of the run that still lives.
        with open(f'{dead}/active.{os.getpid()}', 'w', encoding='ascii'):
            pass
        run(mlxemu, tmp)
        expect(os.path.exists(dead), 'a folder in use was removed')
        os.unlink(f'{dead}/active.{os.getpid()}')
        if os.geteuid() == 0:
            os.chown(dead, OTHER_UID, OTHER_UID)
            run(mlxemu, tmp)
            expect(os.path.exists(dead), 'a folder of another user was removed')
            os.chown(dead, 0, 0)
        run(mlxemu, tmp)
        expect(not os.path.exists(dead), 'the folder of a killed launcher is left')
        expect(os.path.exists(other), 'a folder without a launcher was removed')
        expect(os.path.exists(alive), 'the folder of a launcher that runs was removed')
        status, _, err = ctl(mlxemu, tmp, 'ledger')
        expect(status == 0, f'a launcher that runs: {err!r}')
        os.rmdir(other)


def main():
    mlxemu, client = (os.path.abspath(path) for path in sys.argv[1:3])
    for case in (another_user, escapes):
        if case is another_user and os.geteuid() != 0:
            print('sockets of another user: not tested, this needs root')
            continue
        with tempfile.TemporaryDirectory() as tmp:
            case(mlxemu, tmp)
    with tempfile.TemporaryDirectory() as tmp:
        killed_launcher(mlxemu, client, tmp)
        expect(not os.listdir(tmp), f'left {os.listdir(tmp)}')
    return 1 if FAILED else 0


if __name__ == '__main__':
    sys.exit(main())
