#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Captures, traces and reports that cannot be written or read are named when the program ends, with exit code 1.

/dev/full is used as a full disk: every write to it fails with ENOSPC.
"""
import os
import pathlib
import struct
import subprocess
import tempfile

import e2e

FRAMES = 3000
FRAME_BYTES = 200
RECORD_BYTES = 16 + FRAME_BYTES
HEADER_BYTES = 24


def capture(path, broken_at=None, cut_at=None):
    """Frames to broadcast. broken_at: this record, from 1, has an absurd length; cut_at: the file ends inside it."""
    data = bytearray(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for n in range(FRAMES):
        frame = b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + n.to_bytes(4, "big")
        data += struct.pack("<IIII", 1700000000, n, FRAME_BYTES, FRAME_BYTES) + frame.ljust(FRAME_BYTES, b"\x5a")
    if broken_at:
        struct.pack_into("<II", data, HEADER_BYTES + (broken_at - 1) * RECORD_BYTES + 8, 0xfffffff0, 0xfffffff0)
    if cut_at:
        del data[HEADER_BYTES + (cut_at - 1) * RECORD_BYTES + 50:]
    path.write_bytes(data)
    return path


def forwarding(count=FRAMES):
    return [e2e.TEST_MLX, *e2e.eal(memory_mb=256), "--", "--fwd", "io", "--promisc", "--run",
            "30" if count == FRAMES else "2", "--count", count]


# Opens a device, and allocates a PD with a limit of file sizes that the trace has reached.
LIMITED = """
import ctypes, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
verbs = ctypes.CDLL('libibverbs.so.1')
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
for name in ('ibv_open_device', 'ibv_close_device', 'ibv_alloc_pd', 'ibv_dealloc_pd'):
    getattr(verbs, name).argtypes = [ctypes.c_void_p]
    getattr(verbs, name).restype = ctypes.c_void_p
context = verbs.ibv_open_device(verbs.ibv_get_device_list(None)[0])
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
pd = verbs.ibv_alloc_pd(context)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
verbs.ibv_dealloc_pd(pd)
verbs.ibv_close_device(context)
"""


def run(options, program):
    command = [str(e2e.MLXEMU), "run", *options, "--", *map(str, program)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120, check=False, env={"ASAN_OPTIONS": "detect_leaks=0", **os.environ})
    return done.returncode, done.stdout.decode(errors="replace")


def lost(name, words, options, program):
    status, out = run(options, program)
    lines = [line for line in out.splitlines() if line.startswith("mlxemu: ") and all(w in line for w in words)]
    e2e.check(len(lines) == 1, f"{name}: exit code {status}, {len(lines)} lines with {words}\n{out[-2000:]}")
    e2e.check(status == 1, f"{name}: exit code {status}\n{out[-2000:]}")
    print(f"{name}: {lines[0]}")


def test():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as folder:
        work = pathlib.Path(folder)
        good = capture(work / "good.pcap")
        wires = ["--ports", "2", "--wire", f"0=pcap:{good}"]
        full = "No space left on device"
        status, out = run([*wires, "--wire", f"1=pcap:,{work}/out.pcap", "--capture", f"0={work}/c",
                           "--trace", f"{work}/t", "--report", f"{work}/r"], forwarding())
        e2e.check(status == 0, f"nothing is lost: exit code {status}\n{out[-2000:]}")
        lost("wire", ["port 1", "/dev/full", full], [*wires, "--wire", "1=pcap:,/dev/full"], forwarding())
        lost("capture", ["capture", "/dev/full", full], [*wires, "--capture", "1=/dev/full"], forwarding())
        lost("trace", ["trace", "/dev/full", full], ["--trace", "/dev/full"], ["ibv_devinfo"])
        lost("report", ["--report", "/dev/full", full], ["--report", "/dev/full"], ["ibv_devinfo"])
        # SIGXFSZ does not end the program.
        lost("limit of file sizes", ["trace", f"{work}/t", "File too large"], ["--trace", f"{work}/t"],
             ["/usr/bin/python3", "-c", LIMITED])
        # Damaged input: the frames before it are replayed.
        broken = capture(work / "broken.pcap", broken_at=21)
        lost("broken record", ["port 0", "broken.pcap", "record 21 "], ["--ports", "2", "--wire", f"0=pcap:{broken}"],
             forwarding(20))
        cut = capture(work / "cut.pcap", cut_at=55)
        lost("cut off", ["port 0", "cut.pcap", "record 55 "], ["--ports", "2", "--wire", f"0=pcap:{cut}"],
             forwarding(54))


e2e.main(test)
