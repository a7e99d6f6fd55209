#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""TCP between two network namespaces through two TAP wires, captured on both sides.

The host's TCP stack is on both sides of two emulated ports between which dpdk-test-mlx forwards. The transfer
must not stall (no second without progress), and the captures of both sides must have the same packets in each
direction. Arguments: seconds (default 10, in the short form of the tests 4), rate (default 200M).
"""
import os
import sys
import tempfile

import e2e
import tapnet

SECONDS = int(sys.argv[1]) if len(sys.argv) > 1 else 4 if os.environ.get("MLXPMD_SHORT") else 10
# Slow enough for tcpdump to capture all packets.
RATE = sys.argv[2] if len(sys.argv) > 2 else "200M"


def compare(net):
    for sender in (0, 1):
        here, there = net.frames(sender, sender), net.frames(1 - sender, sender)
        e2e.check(len(here) > 100, f"side {sender} sent only {len(here)} frames")
        e2e.check(len(here) == len(there),
                  f"side {sender} sent {len(here)} frames, {len(there)} arrived")
        # With one queue the order must be the same as well.
        for n, (sent, arrived) in enumerate(zip(here, there)):
            e2e.check(sent == arrived, f"frame {n} of side {sender} differs")
        print(f"side {sender}: {len(here)} frames, the same on both sides")


def test():
    if not tapnet.permitted():
        e2e.skip("network namespaces or TAP devices are not permitted here")
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as work:
        with tapnet.TapNet(work) as net:
            net.captured_tcp(SECONDS, RATE)
            compare(net)


e2e.main(test)
