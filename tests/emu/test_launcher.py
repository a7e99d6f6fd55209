#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The launcher: bad input, exit statuses, signals, killed programs, what is left behind.

usage: test_launcher.py MLXEMU CLIENT QUIET
"""
import os
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from testlib import FAILED, expect  # noqa: E402


class Run:
    """One run of the launcher in a temporary directory of its own, ended."""

    def __init__(self, mlxemu, *args, env=None, cwd=None):
        with tempfile.TemporaryDirectory() as tmp:
            full = {**os.environ, 'TMPDIR': tmp, **(env or {})}
            got = subprocess.run([mlxemu, *args], env=full, cwd=cwd, text=True, timeout=60,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, check=False)
            self.left = os.listdir(tmp)
        self.status, self.out, self.err = got.returncode, got.stdout, got.stderr
        self.args = ' '.join(args)
        expect(not self.left, f'{self.args}: left {self.left}')


def refused(mlxemu, status, words, *args, **kw):
    """One clear line that has the words in it, the status, nothing on stdout."""
    run = Run(mlxemu, *args, **kw)
    lines = run.err.splitlines()
    expect(run.status == status, f'{run.args}: status {run.status}, not {status}')
    expect(len(lines) == 1 and lines[0].startswith('mlxemu: '), f'{run.args}: printed {run.err!r}')
    for word in words:
        expect(word in run.err, f'{run.args}: {word!r} is not in {run.err!r}')
    expect(run.out == '', f'{run.args}: wrote {run.out!r} to stdout')


def bad_input(mlxemu):
    go = ('--', '/bin/true')
    refused(mlxemu, 2, ['no command'])
    refused(mlxemu, 2, ['jump'], 'jump')
    refused(mlxemu, 2, ['no program'], 'run')
    refused(mlxemu, 2, ['no program'], 'run', '--ports', '2', '--')
    refused(mlxemu, 2, ['ConnectX-3', 'verbs'], 'run', '--profile', 'cx3', '--open', 'vfio', *go)
    refused(mlxemu, 2, ['--open', 'only 1 port'], 'run', '--open', '5=vfio', *go)
    refused(mlxemu, 1, ['zzz', 'mlxemu faults'], 'faults', 'zzz')
    refused(mlxemu, 2, ['--ports'], 'run', '--ports', '0', *go)
    refused(mlxemu, 2, ['--ports', '16'], 'run', '--ports', '17', *go)
    refused(mlxemu, 2, ['--ports', 'two'], 'run', '--ports', 'two', *go)
    refused(mlxemu, 2, ['--ports', 'value'], 'run', '--ports')
    refused(mlxemu, 2, ['--profile', 'cx9', 'cx6dx'], 'run', '--profile', 'cx9', *go)
    refused(mlxemu, 2, ['--frobnicate'], 'run', '--frobnicate', *go)
    refused(mlxemu, 2, ['rope'], 'run', '--wire', 'rope', *go)
    refused(mlxemu, 2, ['7'], 'run', '--wire', '7=loop', *go)
    refused(mlxemu, 2, ['--fault'], 'run', '--fault', 'on a whim do fail', *go)
    refused(mlxemu, 1, ['/nonexistent/in.pcap'], 'run', '--wire', '0=pcap:/nonexistent/in.pcap', *go)
    refused(mlxemu, 1, ['/dev/null'], 'run', '--wire', '0=pcap:/dev/null', *go)
    refused(mlxemu, 1, ['/nonexistent/t'], 'run', '--trace', '/nonexistent/t', *go)
    refused(mlxemu, 1, ['/nonexistent/r'], 'run', '--report', '/nonexistent/r', *go)
    refused(mlxemu, 2, ['this-is-much-too-long'], 'run', '--wire', '0=tap:this-is-much-too-long', *go)
    two = ('--ports', '3', '--sf', '1')
    refused(mlxemu, 2, ['port 0 is no PF'], 'run', *two, '--vf', '0', *go)
    refused(mlxemu, 2, ['port 1 is no PF'], 'run', *two, '--sf', '2,pf=1', *go)
    refused(mlxemu, 2, ['port 1 has another function'], 'run', *two, '--vf', '1', *go)
    refused(mlxemu, 2, ['port 1 has another function'], 'run', *two, '--sf', '1,sfnum=5', *go)
    refused(mlxemu, 2, ['mlx5_core', '--open verbs'], 'run', *two, '--open', '0=vfio', *go)
    refused(mlxemu, 2, ['mlx5_core', '--open verbs'], 'run', *two, '--open', '1=both', *go)
    refused(mlxemu, 2, ['mlx5_core'], 'run', *two, '--profile', 'cx3', *go)
    refused(mlxemu, 2, ['--clock-hz', 'frequency'], 'run', '--clock-hz', '5', *go)
    refused(mlxemu, 2, ['--clock-start', 'wrap'], 'run', '--clock-start', 'soon', *go)
    refused(mlxemu, 2, ['--clock-drift', '3 decimals'], 'run', '--clock-drift', '0.0001', *go)
    refused(mlxemu, 2, ['--clock-wander', 'PERIOD_S'], 'run', '--clock-wander', '1:0', *go)
    refused(mlxemu, 2, ['--clock-kernel', 'old|new'], 'run', '--clock-kernel=6.1', *go)
    refused(mlxemu, 2, ['no port 1'], 'run', '--clock-drift', '1=5', *go)
    refused(mlxemu, 2, ['--clock-format', 'ConnectX-5', 'free'], 'run', '--profile', 'cx5',
            '--clock-format', 'both', *go)
    refused(mlxemu, 2, ['--capture', 'PORT=FILE'], 'run', '--capture', 'x.pcapng', *go)
    refused(mlxemu, 2, ['--capture', 'no such port'], 'run', '--capture', '3=/dev/null', *go)
    refused(mlxemu, 2, ['--capture', 'already'], 'run', '--capture', '0=/dev/null', '--capture',
            '0=/dev/null:rx', *go)
    refused(mlxemu, 1, ['/nonexistent/c'], 'run', '--capture', '0=/nonexistent/c:tx', *go)
    refused(mlxemu, 127, ['no-such-program'], 'run', '--', 'no-such-program')
    refused(mlxemu, 127, ['/etc', 'denied'], 'run', '--', '/etc')
    refused(mlxemu, 1, ['/nonexistent-tmp'], 'run', *go, env={'TMPDIR': '/nonexistent-tmp'})


def refused_makes_nothing(mlxemu):
    """A refused command line creates no file and truncates none, wherever the refused word is."""
    bad = (['--frobnicate'], ['--ports', '0'], ['--wire', '7=loop'], ['--capture', '1=d'], ['--vf', '3'],
           ['--wire', '0=pcap:/nonexistent/in.pcap'], ['--report', '/nonexistent/r'], ['--capture', '0=.'],
           ['--trace', 'r/'], ['--profile', 'cx3', '--open', 'vfio'])
    good = ['--report', 'r', '--trace', 't', '--capture', '0=c']
    for option in bad:
        for args in (good + option, option + good):
            if option[0] in ('--report', '--trace') and args[0] in option:
                continue  # the good one overrides it
            with tempfile.TemporaryDirectory() as here:
                with open(os.path.join(here, 'kept'), 'w', encoding='ascii') as f:
                    f.write('as it was')
                run = Run(mlxemu, 'run', *args, '--capture', '1=kept', '--ports', '2', '--', 'true', cwd=here)
                expect(run.status in (1, 2), f'{run.args}: status {run.status}')
                expect(os.listdir(here) == ['kept'], f'{run.args}: made {os.listdir(here)}')
                expect(os.path.getsize(os.path.join(here, 'kept')) == 9, f'{run.args}: emptied a file')


def numbers(mlxemu):
    """Decimal or 0x, wherever an option has a number; a leading 0 is no octal."""
    run = Run(mlxemu, 'run', '--ports', '0x2', '--vf', '0x1', '--open', '0x0=both', '--wire', '0x0=pair:0x1',
              '--seed', '0x10', '--clock-hz', '0x1=0x9502F90', '--capture', '0x1=/dev/null', '--fault',
              'on wire.tx match len=0x40 every 0x2 do drop',
              '--fault', 'on rx.deliver do set off=0x10 value=0xff', '--fault',
              'on ioctl.out match method=x attr=uhw do set off=0x8 bits=0x3-0x1',
              '--', 'sh', '-c', 'echo $MLXEMU_PORTS $MLXEMU_OPEN')
    expect(run.status == 0 and run.out.startswith('2 31'), f'hexadecimal options: {run.out!r} {run.err!r}')
    expect(Run(mlxemu, 'run', '--ports', '010', '--', 'sh', '-c', 'exit $MLXEMU_PORTS').status == 10, '--ports 010')
    for args in (['--ports', '0x'], ['--ports', '0x11'], ['--ports', '-1'], ['--ports', ' 1'], ['--vf', '0x10'],
                 ['--vf', '0,trust=maybe'], ['--vf', '0,'], ['--sf', '1'], ['--sf', '0'], ['--sf', '1,pf=1'],
                 ['--sf', '1,sfnum=x'], ['--sf', '1,'], ['--sf', '0,pf=16'],
                 ['--seed', '0x10000000000000000'], ['--seed', '5s'], ['--open', '=vfio'], ['--capture', '0x=f'],
                 ['--wire', '0xg=loop'], ['--fault', 'on rx.deliver do set off=5x'],
                 ['--fault', 'on ioctl.out match method=x do set off=8 bits=64'],
                 ['--fault', 'on ioctl.out match method=x do set off=8y'],
                 ['--fault', 'on ioctl.out match method=x attr=zz do set off=8']):
        refused(mlxemu, 2, [args[0]], 'run', *args, '--', '/bin/true')
    for code in ('0xe50103', '15008003'):
        expect('BUSY' in Run(mlxemu, 'explain', code).out, f'explain {code}')


def why(mlxemu, tmp, env):
    """Of a frame in digits, and of each one of a capture, which is named relative to the command's folder."""
    frames = [bytes.fromhex(f'0200000000{n:02x}02000000000986dd') + bytes(50) for n in (1, 2)]
    capture = os.path.join(tmp, 'two:2.pcap')
    with open(capture, 'wb') as file:
        file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame)
    for args, number in ((['1', frames[0].hex()], 1), (['0x1', frames[1].hex(':').upper()], 2),
                         (['0', os.path.relpath(capture)], 1), (['1', f'{capture}:2'], 2),
                         (['port=1', f'file={capture}', 'number=2'], 2)):
        run = Run(mlxemu, 'ctl', 'why', *args, env=env)
        head = (f'bytes 64\nheaders eth 02:00:00:00:00:09 > 02:00:00:00:00:{number:02x} type 0x86dd\n'
                'table 0 of the kernel\n')
        expect(run.status == 0 and run.out.startswith(head), f'{args}: {run.status} {run.out!r} {run.err!r}')
        expect(run.out.endswith('table 0 miss kernel\n'
                                "end left to the kernel's interface, which does not have its address\n"), run.out)
    refused(mlxemu, 1, ['frame 3', '1 to 2'], 'ctl', 'why', '1', capture + ':3', env=env)
    os.unlink(capture)


def control(mlxemu, tmp):
    """To the process that runs below tmp: what is not known is named, with what is; numbers are decimal or 0x."""
    folder = os.path.join(tmp, os.listdir(tmp)[0])
    pid = [name[4:] for name in os.listdir(folder) if name.startswith('ctl.')][0]
    env = {'MLXEMU_CTL': os.path.join(folder, 'ctl')}
    for status, words, args in (
            (1, ["'prot'", 'port, state, ms'], ['link', 'prot=1']),
            (1, ["'x'", 'none'], ['ledger', 'x=1']),
            (1, ["'xyz'", 'addr'], ['register', 'addr=0x10', 'xyz=1']),
            (1, ["'lnk'", 'link', 'inject'], ['lnk']),
            (1, ["'clock.foo'", 'clock.step'], ['clock', 'foo']),
            (1, ['port', '0 to 1'], ['link', 'port=0x2']),
            (1, ['ns'], ['clock', 'step', '--5']),
            (2, ["'port=1'", 'second'], ['link', 'port=0', 'port=1']),
            (2, ["'cmd=help'"], ['link', 'cmd=help']),
            (2, ['ctl link', "'5'", 'KEY=VALUE'], ['link', 'port=0', '5']),
            (1, ['frame', "'0'"], ['why', '1', '02:00:0']), (1, ['nofile', 'No such file'], ['why', '0', 'nofile:1']),
            (1, ['port', '0 to 1'], ['why', '2', '00']), (1, ['no SQ 0x7'], ['why', '0', '00', 'sq=7']),
            (2, ["'0'", 'KEY=VALUE'], ['why', '0']),
            (2, ["'=5'", 'KEY=VALUE'], ['link', '=5'])):
        refused(mlxemu, status, words, 'ctl', *args, env=env)
    for args, out in ((['link', 'port=0x1'], 'link up\n'), (['clock', 'step', '-0x10'], ''),
                      (['register', 'addr=0xf0014'], None), (['clock', 'drift', 'ppm=0.5', 'port=0x0'], ''),
                      (['inject', 'port=01', 'frames=0x0'], None)):
        run = Run(mlxemu, 'ctl', *args, env=env)
        expect(run.status == 0 and out in (None, run.out), f'{args}: {run.status} {run.out!r} {run.err!r}')
    why(mlxemu, tmp, env)
    # By number the socket is looked for below TMPDIR.
    got = subprocess.run([mlxemu, 'ctl', f'--pid={int(pid):#x}', 'link'], timeout=60, check=False,
                         env={**os.environ, 'MLXEMU_CTL': '', 'TMPDIR': tmp}, stdout=subprocess.PIPE)
    expect(got.stdout == b'link up\n', f'--pid in hexadecimal: {got}')


def control_by_pid(mlxemu, client):
    with tempfile.TemporaryDirectory() as tmp:
        with subprocess.Popen([mlxemu, 'run', '--ports', '2', '--', client, 'wait-signal'],
                              env=dict(os.environ, TMPDIR=tmp), text=True, stdout=subprocess.PIPE) as proc:
            try:
                expect(proc.stdout.readline() == 'waiting\n', 'the program waits')
                control(mlxemu, tmp)
            finally:
                proc.terminate()
    for words, args in ((['--pid', 'value'], ['--pid']), (["'no'"], ['--pid', 'no']), (["'*'"], ['--pid=*', 'help']),
                        (['--pidd', '--json'], ['--pidd']), (['no command'], [])):
        refused(mlxemu, 2, words, 'ctl', *args)


def unprivileged(mlxemu):
    """TAPs need a permission that not everybody has."""
    if os.geteuid() != 0:
        return
    with tempfile.TemporaryDirectory() as tmp:
        lost = '-net_admin,-sys_admin'
        got = subprocess.run(['setpriv', f'--bounding-set={lost}', f'--inh-caps={lost}',
                              mlxemu, 'run', '--wire', '0=tap:mlxemutest0', '--', '/bin/true'],
                             env=dict(os.environ, TMPDIR=tmp), text=True, timeout=60,
                             stderr=subprocess.PIPE, check=False)
        expect(not os.listdir(tmp), 'TAP not permitted: left something')
    expect(got.returncode == 1, f'TAP not permitted: status {got.returncode}')
    lines = got.stderr.splitlines()
    expect(len(lines) == 1 and lines[0].startswith('mlxemu: ') and 'mlxemutest0' in lines[0],
           f'TAP not permitted: {got.stderr!r}')


def tap_through_closing_program(mlxemu):
    """The TAP reaches a device opened behind a program that closes all it inherits."""
    if os.geteuid() != 0 or not os.path.exists('/dev/net/tun'):
        return
    code = ("import subprocess,sys; sys.exit(subprocess.run(['ibv_devinfo'], close_fds=True,"
            " stdout=subprocess.DEVNULL).returncode)")
    # What the interpreter leaks is not the point.
    run = Run(mlxemu, 'run', '--audit', '--wire', '0=tap:mlxemutest1', '--', '/usr/bin/python3',
              '-c', code, env={'ASAN_OPTIONS': 'detect_leaks=0'})
    expect(run.status == 0 and run.err.endswith('audit: clean\n'),
           f'TAP through a program: status {run.status}: {run.err}')


def help_pages(mlxemu):
    for args in (['--help'], ['run', '--help']):
        run = Run(mlxemu, *args)
        expect(run.status == 0 and 'usage:' in run.out and 'example' in run.out, f'{args}')
    run = Run(mlxemu, 'run', '--help')
    for option in ('--ports', '--profile', '--wire', '--audit', '--report', '--trace', '--fault'):
        expect(option in run.out, f'run --help names {option}')
    expect('cx6dx' in Run(mlxemu, 'profiles').out, 'profiles')
    expect('BUSY' in Run(mlxemu, 'explain', '0xe50103').out, 'explain')
    expect(Run(mlxemu, 'explain').status == 2, 'explain nothing')


def statuses(mlxemu, quiet):
    expect(Run(mlxemu, 'run', '--', 'sh', '-c', 'exit 7').status == 7, 'status 7')
    expect(Run(mlxemu, 'run', '--', 'sh', '-c', 'kill -9 $$').status == 137, 'status 128 + 9')
    run = Run(mlxemu, 'run', '--audit', '--', quiet)
    expect(run.status == 0, f'a program without RDMA: {run.out}{run.err}')
    expect(run.err == 'audit: clean (no process opened a device)\n', f'printed {run.err!r}')
    # The program's own options are its own, and an existing LD_PRELOAD stays.
    run = Run(mlxemu, 'run', 'echo', '--ports', '99')
    expect(run.out == '--ports 99\n', f'printed {run.out!r}')
    run = Run(mlxemu, 'run', '--', 'sh', '-c', 'echo $LD_PRELOAD', env={'LD_PRELOAD': 'libdl.so.2'})
    # A launcher built with a sanitizer does not start after another preloaded library.
    if 'ASan runtime does not come first' not in run.err:
        expect(run.out.strip().endswith(':libdl.so.2'), f'LD_PRELOAD {run.out!r}')
        expect('libmlxemu.so' in run.out, f'LD_PRELOAD {run.out!r}')


def files(mlxemu, client):
    """--report and --trace, relative names, two processes in one run."""
    with tempfile.TemporaryDirectory() as here:
        run = Run(mlxemu, 'run', '--ports', '2', '--report', 'r', '--trace', 't', '--', 'sh', '-c',
                  f'cd / && {client} objects && {client} device', cwd=here)
        expect(run.status == 0, f'two processes: {run.err}')
        with open(os.path.join(here, 'r'), encoding='ascii') as f:
            report = f.read().splitlines()
        expect(report.count('audit: clean') == 2, f'two reports: {report[-3:]}')
        expect('port 1 tx_frames 0' in report, 'counters in the report')
        with open(os.path.join(here, 't'), encoding='ascii') as f:
            trace = f.read()
        for word in ('CREATE_CQ (0x400) OK', 'log_cq_size=6', 'MODIFY_SQ'):
            expect(word in trace, f'{word} in the trace')
        run = Run(mlxemu, 'run', '--report', 'f', '--fault',
                  'on cmd.entry match op=CREATE_CQ do fail status=NO_RESOURCES syndrome=0x1234',
                  '--', client, 'objects', cwd=here)
        expect(run.status == 1, f'fault: status {run.status}')
        with open(os.path.join(here, 'f'), encoding='ascii') as f:
            expect('fault_hits 1\n' in f.read(), 'fault_hits in the report')


def killed(mlxemu, client):
    run = Run(mlxemu, 'run', '--', client, 'killed')
    expect(run.status == 137, f'killed: status {run.status}')
    expect('without a report' in run.err, f'killed: {run.err!r}')
    run = Run(mlxemu, 'run', '--', 'sh', '-c', f'{client} killed; exit 0')
    expect(run.status == 1, f'a killed child: status {run.status}')
    expect('without a report' in run.err, f'a killed child: {run.err!r}')


def signals(mlxemu, client):
    for sig, status in ((signal.SIGINT, 42), (signal.SIGTERM, 43)):
        with tempfile.TemporaryDirectory() as tmp:
            with subprocess.Popen([mlxemu, 'run', '--audit', '--', client, 'wait-signal'],
                                  env=dict(os.environ, TMPDIR=tmp), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as proc:
                expect(proc.stdout.readline() == 'waiting\n', 'the program waits')
                expect(len(os.listdir(tmp)) == 1, 'a run directory while it runs')
                mode = os.stat(os.path.join(tmp, os.listdir(tmp)[0])).st_mode & 0o777
                expect(mode == 0o700, f'run directory mode {mode:o}')
                proc.send_signal(sig)
                err = proc.communicate(timeout=30)[1]
            expect(proc.returncode == status, f'{sig.name}: status {proc.returncode}: {err}')
            expect('audit: clean' in err, f'{sig.name}: {err}')
            expect(not os.listdir(tmp), f'{sig.name}: left something')


def reader_closed(mlxemu):
    """The report's reader exits: the run directory is removed all the same."""
    with tempfile.TemporaryDirectory() as tmp:
        read_end, write_end = os.pipe()
        os.close(read_end)
        with subprocess.Popen([mlxemu, 'run', '--ports', '16', '--audit', '--', 'ibv_devinfo'],
                              env=dict(os.environ, TMPDIR=tmp), stdout=subprocess.DEVNULL,
                              stderr=write_end) as proc:
            os.close(write_end)
            expect(proc.wait(timeout=60) == 0, f'reader closed: status {proc.returncode}')
        expect(not os.listdir(tmp), 'reader closed: left something')


def raised_again(mlxemu):
    """A handler that restores the default action and raises its signal again: the report is written all the same."""
    code = """
import ctypes, os, signal, sys
verbs = ctypes.CDLL('libibverbs.so.1')
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.argtypes = [ctypes.c_void_p]
verbs.ibv_open_device(verbs.ibv_get_device_list(None)[0])
signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTERM)
"""
    run = Run(mlxemu, 'run', '--audit', '--', '/usr/bin/python3', '-c', code,
              env={'ASAN_OPTIONS': 'detect_leaks=0'})
    expect(run.status == 128 + signal.SIGTERM, f'raised again: status {run.status}: {run.err}')
    expect('left port 0: 1 open device' in run.err and 'without a report' not in run.err,
           f'raised again: {run.err[-300:]}')


def net_raw(mlxemu, client):
    """Rules need CAP_NET_RAW: that of the program if the launcher has it, else no check."""
    drop = ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-net_raw']
    flow = ['--', client, 'flow']

    def status(*args):
        with tempfile.TemporaryDirectory() as here:
            run = Run(mlxemu, 'run', '--trace', 't', *args, cwd=here)
            with open(os.path.join(here, 't'), encoding='ascii') as f:
                refused_so = 'without CAP_NET_RAW -> EPERM' in f.read()
        expect((run.status != 0) == refused_so, f'CAP_NET_RAW, {args}: {run.err}')
        return run.status

    expect(status('--net-raw', 'grant', *flow) == 0, 'CAP_NET_RAW granted')
    expect(status('--net-raw', 'deny', *flow) != 0, 'CAP_NET_RAW denied')
    refused(mlxemu, 2, ["--net-raw 'no'"], 'run', '--net-raw', 'no', '--', 'true')
    if os.geteuid() != 0:
        return
    expect(status(*flow) == 0, 'CAP_NET_RAW of root')
    expect(status('--', *drop, client, 'flow') != 0, 'CAP_NET_RAW dropped by the program')
    got = subprocess.run([*drop, mlxemu, 'run', *flow], timeout=60, check=False)
    expect(got.returncode == 0, 'a launcher without CAP_NET_RAW')


def main():
    mlxemu, client, quiet = (os.path.abspath(path) for path in sys.argv[1:4])
    bad_input(mlxemu)
    refused_makes_nothing(mlxemu)
    numbers(mlxemu)
    control_by_pid(mlxemu, client)
    unprivileged(mlxemu)
    tap_through_closing_program(mlxemu)
    help_pages(mlxemu)
    statuses(mlxemu, quiet)
    files(mlxemu, client)
    killed(mlxemu, client)
    signals(mlxemu, client)
    raised_again(mlxemu)
    net_raw(mlxemu, client)
    reader_closed(mlxemu)
    return 1 if FAILED else 0


if __name__ == '__main__':
    sys.exit(main())
