#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""dpdk-test-mlx --rx-intr: all packets are forwarded, and without packets the lcore sleeps."""
import json
import pathlib
import tempfile

from scapy.utils import RawPcapReader, RawPcapWriter

import e2e

COUNT = 300
RUN_S = 3


def write_capture(path, frames):
    writer = RawPcapWriter(str(path), linktype=1, sync=True)
    writer.write_header(None)
    for frame in frames:
        writer.write_packet(frame, sec=1700000000, usec=0)
    writer.close()


def run(work, queues, lcores, *options):
    capture, out, final = work / "in.pcap", work / "out.pcap", work / "json"
    frames = [bytes.fromhex("ffffffffffff020000000001" "88b5") + n.to_bytes(46, "big")
              for n in range(COUNT)]
    write_capture(capture, frames)
    program = [e2e.TEST_MLX, *e2e.eal(lcores=lcores), "--", "--rx-intr", "--rxq", queues, "--txq", queues,
               "--json", final, "--run", RUN_S, *options]
    result = e2e.emu(program, wires=[f"0=pcap:{capture}", f"1=pcap:,{out}"])
    return result, frames, out, final


def sleeps(work, queues, lcores):
    result, frames, out, final = run(work, queues, lcores, "--fwd", "io")
    print("\n".join(line for line in result.out.splitlines() if "Rx interrupts" in line))
    e2e.check(result.status == 0, f"exit code {result.status}\n{result.out[-3000:]}")
    e2e.check(result.report.get("audit") == "clean", result.report.text)
    e2e.check([bytes(data) for data, _ in RawPcapReader(str(out))] == frames, "not all received frames were forwarded")
    ports = json.loads(final.read_text())["ports"]
    stats = [p["forward"] for p in ports]
    slept = sum(s["rx_slept_ns"] for s in stats)
    e2e.check(sum(s["rx_wakes"] for s in stats) >= 1, "no wake-up by an interrupt")
    # The frames arrive within some milliseconds, on a busy machine later.
    e2e.check(slept > RUN_S * 1e9 / 2, f"asleep for {slept} ns of {RUN_S} s")


def refused(work):
    result, _, _, _ = run(work, 1, "0", "--fwd", "gen")
    e2e.check(result.status != 0 and "gen sends packets without receiving any, and cannot sleep" in result.out,
              result.out[-3000:])


def main():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as work:
        work = pathlib.Path(work)
        sleeps(work, 1, "0")
        sleeps(work, 4, "0,1")
        refused(work)


e2e.main(main)
