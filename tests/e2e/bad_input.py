#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Invalid input causes one clear line and a non-zero exit code, and leaves no files or interfaces."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import e2e

APP = ["--fwd", "io", "--run", "1"]


def run(options, program, env=None, prefix=()):
    command = [*prefix, str(e2e.MLXEMU), "run", *options, "--", *map(str, program)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout.decode(errors="replace")


def expect(name, status, out, words):
    e2e.check(0 < status < 128, f"{name}: exit code {status}\n{out[-2000:]}")
    naming = [line for line in out.splitlines() if all(word in line for word in words)]
    e2e.check(len(naming) == 1, f"{name}: {len(naming)} lines have {words}\n{out[-2000:]}")
    print(f"{name}: exit code {status}: {naming[0].strip()}")


def app(devargs="", args=(), address=None):
    eal = e2e.eal(ports=1, devargs=devargs, memory_mb=256)
    if address:
        eal = eal[:-1] + [address]
    return [e2e.TEST_MLX, *eal, "--", *APP, *args]


def without_net_admin():
    """A prefix that runs a command without the right to create TAP devices, or None."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return None
    return ["setpriv", "--bounding-set", "-net_admin,-sys_admin", "--inh-caps",
            "-net_admin,-sys_admin"]


CASES = [
    # name, mlxemu options, program, words of the one line
    ("missing device", ["--ports", "1"], app(address="0000:c9:00.0"), ["0000:c9:00.0"]),
    ("unknown devarg", ["--ports", "1"], app(devargs="rx_brust=auto"), ["rx_brust", "rx_burst"]),
    ("bad devarg value", ["--ports", "1"], app(devargs="clock=sundial"), ["clock", "page", "raw"]),
    ("duplicate devarg", ["--ports", "1"], app(devargs="clock=raw,clock=page"), ["clock", "more than once"]),
    ("unreadable capture, emulator", ["--ports", "1", "--wire", "0=pcap:/nonexistent.pcap"], app(),
     ["/nonexistent.pcap"]),
    ("unreadable capture, application", ["--ports", "1"],
     app(args=["--pcap-in", "0=/nonexistent.pcap"]), ["/nonexistent.pcap"]),
    ("unknown wire", ["--ports", "1", "--wire", "0=string"], app(), ["string"]),
    ("wire of a port that does not exist", ["--ports", "1", "--wire", "3=loop"], app(), ["3=loop"]),
    ("too many ports", ["--ports", "99"], app(), ["99"]),
    ("unknown profile", ["--profile", "cx99"], app(), ["cx99", "cx6dx"]),
    ("unknown capability", ["--cap", "log_max_utcx=0"], app(), ["log_max_utcx=0", "profiles"]),
    ("firmware without user contexts", ["--ports", "1", "--cap", "log_max_uctx=0"], app(),
     ["DEVX", "mlxconfig -d 0000:c1:00.0 set UCTX_EN=1", "mlxfwreset -d 0000:c1:00.0 reset"]),
    ("bad fault rule", ["--fault", "on tuesday do fail"], app(), ["fault", "tuesday", "cmd.entry"]),
    ("unknown emulator option", ["--prots", "1"], app(), ["--prots"]),
    ("program not found", ["--ports", "1"], ["/nonexistent/program"], ["/nonexistent/program"]),
    ("unknown application option", ["--ports", "1"], app(args=["--frobnicate"]), ["frobnicate"]),
]


def test_tap(env):
    prefix = without_net_admin()
    if prefix is None:
        print("TAP not permitted: not tested: the capability cannot be dropped")
        return
    status, out = run(["--ports", "1", "--wire", "0=tap:mlxnever0"], app(), env, prefix)
    expect("TAP not permitted", status, out, ["mlxnever0"])


def test_no_hugepages(env):
    free = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if not free.exists() or int(free.read_text()) != 0:
        print("no hugepages: not tested, this machine has hugepages")
        return
    program = [e2e.TEST_MLX, "-l", "0", "--in-memory", "-m", "256", "--no-telemetry",
               "-d", e2e.PLUGIN, "-a", e2e.PCI[0], "--", *APP]
    status, out = run(["--ports", "1"], program, env)
    expect("no hugepages", status, out, ["--no-huge"])


def test():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as work:
        env = {"TMPDIR": work}
        before = set(pathlib.Path("/sys/class/net").iterdir())
        for name, options, program, words in CASES:
            status, out = run(options, program, env)
            expect(name, status, out, words)
            e2e.check(not os.listdir(work), f"{name}: left {os.listdir(work)}")
        test_tap(env)
        test_no_hugepages(env)
        e2e.check(not os.listdir(work), f"left {os.listdir(work)}")
        e2e.check(set(pathlib.Path("/sys/class/net").iterdir()) <= before, "an interface is left")


e2e.main(test)
