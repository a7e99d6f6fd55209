# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compare the send times of packets with the times of a capture of the wire, and print the errors.

Usage: sendtime.py PROGRAM

Run the program on a device that supports send times and on one that does not.
"""
import pathlib
import re
import sys
import tempfile

import pmdlib
from e2e import check, emu, main
from scapy.utils import RawPcapNgReader

ETHERTYPE = 0x88b5
TIME_AT = 16
# The first bit waits for a tick of the device's clock, and the last bit is sent 6.7 ns later (short frame, 100 Gb/s).
# The clock page, which converts the send time, may be a few ns off.
ERROR_MIN_NS, ERROR_MAX_NS = -5, 20
NB_PACKETS = 1000


def frames(path):
    """Yield (capture time, send time) in ns of each frame that has a send time."""
    reader = RawPcapNgReader(str(path))
    for data, meta in reader:
        if int.from_bytes(data[12:14], "big") != ETHERTYPE:
            continue
        captured_ns = ((meta.tshigh << 32) + meta.tslow) * 10 ** 9 // meta.tsresol
        send_ns = int.from_bytes(data[TIME_AT:TIME_AT + 8], "big")
        if send_ns:
            yield captured_ns, send_ns
    reader.close()


def distribution(errors):
    errors = sorted(errors)
    at = {name: errors[min(len(errors) - 1, int(len(errors) * part))]
          for name, part in (("median", .5), ("p99", .99))}
    return f"{len(errors)} packets: least {errors[0]} ns, median {at['median']} ns, " \
           f"p99 {at['p99']} ns, most {errors[-1]} ns after their send times"


def run():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="mlxpmd-sendtime.") as work:
        capture = pathlib.Path(work) / "sent.pcapng"
        result = emu([program, *pmdlib.eal("clock=page", lcores="0"), "--", "can"], timeout=120,
                     extra=["--profile", "cx7", "--capture", f"0={capture}:tx"])
        print(result.out[-20000:])
        check(result.status == 0, f"exit status {result.status}")
        good = [range(int(a), int(b)) for a, b in re.findall(r"^batch (\d+) \.\. (\d+)$", result.out, re.M)]
        errors = [captured - send for captured, send in frames(capture) if any(send in b for b in good)]
    check(len(errors) == NB_PACKETS, f"{len(errors)} frames captured")
    print("by the capture:", distribution(errors))
    check(min(errors) >= ERROR_MIN_NS and max(errors) <= ERROR_MAX_NS, "error of the send time out of range")
    result = emu([program, *pmdlib.eal("clock=page", lcores="0"), "--", "cannot"], timeout=120,
                 extra=["--profile", "cx6dx"])
    check(result.status == 0, f"without the capability: {result.out[-2000:]}")


main(run)
