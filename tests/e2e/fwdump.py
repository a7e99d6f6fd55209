#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Register dumps by the command line: states, differences after a change, a lock left by a killed process."""
import ctypes
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

from e2e import MLXEMU, TEST_MLX, Failed, check, emu, main

PF, VF = "0000:c1:00.0", "0000:c1:00.1"
CONFIG = f"/sys/bus/pci/devices/{PF}/config"
SEMAPHORE = 0xcc
HEALTH = 0x1f0200


def fwdump(*words, env=None):
    """Run fwdump; returns exit code, stdout, stderr."""
    done = subprocess.run([str(TEST_MLX), "fwdump", *map(str, words)], timeout=60, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, **(env or {})))
    check("runtime error:" not in done.stderr, done.stderr)
    return done.returncode, done.stdout, done.stderr


def expect(status, *words, want="", **more):
    got, out, err = fwdump(*words, **more)
    check(got == status and want in out + err, f"fwdump {words}: {got}, not {status}\n{out}{err}")
    return out


def ctl(*words):
    return subprocess.run([str(MLXEMU), "ctl", *words], check=True, timeout=30,
                          stdout=subprocess.PIPE, text=True).stdout


def dump(path):
    """Take a dump, write it and delete it; returns {address: value}."""
    expect(0, "take", PF, want="registers by vsc")
    expect(0, "get", PF, "-o", path)
    expect(0, "reset", PF)
    lines = path.read_text().splitlines()
    check(all(re.fullmatch(r"0x[0-9a-f]{8}\t0x[0-9a-f]{8}", line) for line in lines), lines[:3])
    return {int(a, 16): int(v, 16) for a, v in (line.split() for line in lines)}


def states(work):
    expect(1, "get", PF, want="no dump is kept")
    expect(1, "reset", PF, want="no dump is kept: nothing to delete")
    out = expect(0, "take", PF)
    check(re.fullmatch(rf"{PF}: \d+ registers by vsc, \d+-\d\d-\d\d .* UTC, process \d+\n", out), out)
    expect(1, "take", PF, want="a dump is kept already")
    text = expect(0, "get", PF)
    expect(0, "get", PF, "-o", work / "a")
    check((work / "a").read_text() == text, "stdout and file differ")
    expect(0, "reset", PF)
    expect(1, "take", VF, want="no register gateway (a virtual function?)")
    expect(1, "take", "0000:fe:1f.7", want="no such PCI device")


def bad_input(work):
    for words in ((), ("take",), ("take", PF, PF), ("give", PF), ("get", PF, "-o"), ("diff", "a"),
                  ("get", PF, "-x", "file"), ("take", "here"), ("take", "0000:c1:00.9x")):
        expect(2, *words, want="fwdump")
    (work / "bad").write_text("0x1 0x2\n0x3 what\n")
    expect(2, "diff", work / "bad", work / "bad", want="bad:2: not 'ADDRESS VALUE'")
    expect(2, "diff", work / "none", work / "bad", want="No such file")
    for words in (("--help",), ("take", "--help"), ("diff", "-h")):
        out = expect(0, *words)
        check("Examples:" in out and "fwdump diff before.txt after.txt" in out and "--fwd" not in out, out)


def texts(work):
    """Edited files: other order, comments, numbers without 0x, missing lines."""
    (work / "a").write_text("0x00000000\t0x00000001\n0x00000004\t0xdeadbeef\n0x00000008\t0x00000003\n")
    (work / "b").write_text("# mine\n  # indented\n8 3 # the last\n\n4 deadbeef\r\n0x0\t0x1")
    out = expect(0, "diff", work / "a", work / "b", want="3 and 3 registers, 0 differ")
    check(out == "", out)
    (work / "b").write_text("0x8 0x4\n0x0 0x1\n0x10 0x2\n")
    out = expect(1, "diff", work / "a", work / "b", want="3 and 3 registers, 3 differ")
    check(out == "0x00000004\t0xdeadbeef\t-\n0x00000008\t0x00000003\t0x00000004\n0x00000010\t-\t0x00000002\n", out)
    for text in ("0x0 0x100000000\n", "0x0\n", "0x0 0x1 0x2\n", "0x0:0x1\n", "x 1\n"):
        (work / "b").write_text(text)
        expect(2, "diff", work / "a", work / "b", want="b:1: not 'ADDRESS VALUE'")
    (work / "b").write_text("")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(TEST_MLX), "fwdump", "diff", str(work / "a"), str(work / "b")], check=False,
                              stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    check(done.returncode == 2 and "No space left" in done.stderr, f"{done.returncode} {done.stderr}")


def changes(work):
    before = dump(work / "before")
    check(len(before) > 900 and before[HEALTH] == 0, len(before))
    for addr in (0, HEALTH, 0xf0014):
        now = int(ctl("register", f"addr={addr}").split()[-1])
        check(now == before[addr], f"register {addr:#x}: {now:#x}, {before[addr]:#x} in the dump")
    expect(0, "diff", work / "before", work / "before", want=", 0 differ")
    ctl("register", f"addr={0x100010}", f"value={0xcafe0001}")
    dump(work / "after")
    out = expect(1, "diff", work / "before", work / "after")
    check(out == f"0x00100010\t{before[0x100010]:#010x}\t0xcafe0001\n", out)
    # The firmware fails; the PCI function still works.
    ctl("health", f"syndrome={0x10}")
    dump(work / "failed")
    out = expect(1, "diff", work / "after", work / "failed")
    check(out == f"{HEALTH:#010x}\t0x00000000\t0x00000010\n", out)


def semaphore():
    fd = os.open(CONFIG, os.O_RDONLY)
    try:
        return struct.unpack("<I", os.pread(fd, 4, SEMAPHORE))[0]
    finally:
        os.close(fd)


def killed(_work):
    """Kill a process that holds the lock: it waits for a flag that is never set."""
    env = dict(os.environ, MLXEMU_FAULTS="on pci.write match reg=address after 1000 do drop")
    with subprocess.Popen([str(TEST_MLX), "fwdump", "take", PF], env=env) as victim:
        end = time.monotonic() + 30
        while semaphore() == 0 and time.monotonic() < end:
            check(victim.poll() is None or semaphore(), "the process ended before it was killed")
        victim.send_signal(signal.SIGKILL)
    ticket = semaphore()
    check(ticket != 0, "the lock is free")
    expect(1, "get", PF, want="no dump is kept")
    expect(1, "take", PF, want="its holder does nothing")
    check(semaphore() == ticket, "the lock was cleared without --force")
    expect(0, "take", PF, "--force", want=f"was stale: ticket {ticket:#x} ")
    check(semaphore() == 0, "the lock is not released")
    expect(0, "reset", PF)


def inside():
    """Runs on the emulator, with the device open: mlxemu ctl needs a process with an open device."""
    verbs = ctypes.CDLL("libibverbs.so.1")
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_open_device.restype = ctypes.c_void_p
    verbs.ibv_open_device.argtypes = [ctypes.c_void_p]
    check(verbs.ibv_open_device(verbs.ibv_get_device_list(None)[0]), "the device cannot be opened")
    for test in (states, bad_input, texts, killed, changes):
        with tempfile.TemporaryDirectory(prefix="mlxfwdump.") as work:
            kept = pathlib.Path(work) / "kept"
            kept.mkdir(mode=0o700)
            os.environ["MLXPMD_FWDUMP_DIR"] = str(kept)
            test(pathlib.Path(work))
            check(not os.listdir(kept), f"{test.__name__}: left {os.listdir(kept)}")
        print(f"{test.__name__}: ok")


def test():
    result = emu([sys.executable, __file__, "inside"], audit=False, extra=["--vf", "1"])
    print(result.out)
    if result.status != 0:
        raise Failed(f"exit code {result.status}")


if __name__ == "__main__":
    main(inside if sys.argv[1:] == ["inside"] else test, needs=(MLXEMU, TEST_MLX))
