# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Common functions of the tests of dpdk-test-mlx: run it on software devices, write and read captures."""
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import testlib  # noqa: E402

BUILD = pathlib.Path(os.environ.get("MLXPMD_BUILD", "build")).resolve()
PROGRAM = BUILD / "app/dpdk-test-mlx"
PREFIX = testlib.runtime_dir_removed(f"mlxapp{os.getpid()}")

Result = collections.namedtuple("Result", "status out json")


class Failed(Exception):
    """A check of the test did not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def dpdk_release():
    """The release of DPDK that the program was built with, as (26, 7)."""
    found = json.loads((BUILD / "meson-info/intro-dependencies.json").read_text())
    version = next(library["version"] for library in found if library["name"] == "libdpdk")
    return tuple(map(int, version.split(".")[:2]))


def command(vdevs, options, lcores="0", memory_mb=256):
    eal = ["-l", lcores, "--no-huge", "-m", str(memory_mb), "--no-pci", "--no-telemetry",
           "--file-prefix", PREFIX, "--log-level=lib.eal:error"]
    for vdev in vdevs:
        eal += ["--vdev", vdev]
    return [str(PROGRAM), *eal, "--", *map(str, options)]


def run(vdevs, *options, lcores="0", memory_mb=256, timeout=60, stdin=None):
    """Run the program; returns exit code, stdout and stderr, final statistics (None if there are none)."""
    with tempfile.TemporaryDirectory(prefix="mlxapp.") as work:
        final = pathlib.Path(work) / "final.json"
        done = subprocess.run(command(vdevs, [*options, "--json", final], lcores, memory_mb),
                              input=stdin or b"", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=timeout, check=False)
        # UBSan prints errors and continues.
        check(b"runtime error:" not in done.stdout, done.stdout.decode(errors="replace"))
        data = json.loads(final.read_text()) if final.exists() else None
        return Result(done.returncode, done.stdout.decode(errors="replace"), data)


def good(result):
    check(result.status == 0, f"exit code {result.status}\n{result.out[-3000:]}")
    check(result.json["result"] == "ok", f"{result.json['reasons']}")
    check("RESULT: OK" in result.out, result.out[-1000:])
    return result


def frames(count, size=None):
    """Frames of different content, with 60 to 1514 bytes or of one size."""
    made = []
    for n in range(count):
        length = size or 60 + n * 37 % 1455
        head = bytes([2, 0, 0, 0, 0, n % 200, 2, 0, 0, 0, 1, n // 200]) + b"\x08\x00"
        made.append(head + bytes((n + i * 7) & 0xff for i in range(length - len(head))))
    return made


def write_capture(path, packets):
    from scapy.utils import RawPcapWriter
    writer = RawPcapWriter(str(path), linktype=1, sync=True)
    writer.write_header(None)
    for n, packet in enumerate(packets):
        writer.write_packet(packet, sec=1700000000 + n // 1000, usec=n % 1000)
    writer.close()


def read_capture(path):
    from scapy.utils import RawPcapReader
    with contextlib.closing(RawPcapReader(str(path))) as reader:
        return [bytes(data) for data, _ in reader]


def main(*tests):
    """Run each test in a folder of its own; exit with code 1 at the first failed check."""
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="mlxapp.") as work:
            try:
                test(pathlib.Path(work))
            except Failed as err:
                print(f"{test.__name__}: FAILED: {err}")
                sys.exit(1)
            except subprocess.TimeoutExpired as err:
                print(f"{test.__name__}: FAILED: not finished after {err.timeout} s: {err.cmd}")
                print((err.output or b"").decode(errors="replace")[-4000:])
                sys.exit(1)
        print(f"{test.__name__}: ok")
