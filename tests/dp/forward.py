# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Frames of 64 bytes that DPDK's own mlx5 PMD forwards between two emulated ports, per second.

usage: forward.py [--seconds S] [--rounds N] [--devargs ARGS] [--at-least MPPS]

Two processors: testpmd's forwarding core and the model's thread; what else runs on the machine takes
its share. Each round is a run of its own and the best one counts. Frames circulate, and none is lost
on the cable: what one port sent the other has seen.
"""
import argparse
import pathlib
import sys
import time

for folder in ("pmd", "e2e"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
import pmdlib  # noqa: E402
from e2e import check, testlib  # noqa: E402


def eal(devargs):
    """The stock PMD only: our plugin is not loaded."""
    args = pmdlib.eal(devargs)
    at = args.index("-d")
    return args[:at] + args[at + 2:]


def one_round(options):
    """Frames per second, both directions together."""
    with pmdlib.Testpmd(["--rxd=1024", "--txd=1024", "--burst=32"], wires=["pair:lossless"],
                        eal_args=eal(options.devargs), mbufs=20000) as testpmd:
        # 256 frames a port: more than a burst on the way everywhere, less than a ring.
        testpmd.cmd("start tx_first 8")
        testlib.pass_time(0.5, "warm-up: the rate of the steady state is measured")
        before = [testpmd.stats(port)["RX-packets"] for port in (0, 1)]
        begin = time.monotonic()
        testlib.pass_time(options.seconds, "frames are counted over this time")
        after = [testpmd.stats(port)["RX-packets"] for port in (0, 1)]
        seconds = time.monotonic() - begin
        testpmd.cmd("stop")
        status, report = testpmd.end()
        check(status == 0, f"exit status {status}")
        for port in (0, 1):
            check(report.port(port, "tx_frames") == report.port(1 - port, "rx_frames"),
                  f"port {port}: not all that was sent was seen at the other end")
    return (sum(after) - sum(before)) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--devargs", default="")
    parser.add_argument("--at-least", type=float, default=0, metavar="MPPS")
    options = parser.parse_args()
    rates = [one_round(options) / 1e6 for _ in range(options.rounds)]
    print("forwarded, 64 bytes, Mpps: " + " ".join(f"{r:.2f}" for r in rates) +
          f"; best {max(rates):.2f}")
    if max(rates) < options.at_least:
        print(f"FAIL less than {options.at_least} Mpps", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
