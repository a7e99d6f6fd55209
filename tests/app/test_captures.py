#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Captures in and out: byte for byte, in order, with timestamps in nanoseconds."""
import contextlib
import json
import time

import apptest
from apptest import check, good, run


def through(work, packets, *options, **more):
    apptest.write_capture(work / "in.pcap", packets)
    return good(run(["net_ring0"], "--fwd", "rxonly", "--topology", "loop", "--pcap-in",
                    f"0={work}/in.pcap", "--pcap-out", f"0={work}/out.pcap", "--meta-out",
                    f"0={work}/meta", "--drain", 0.1, "--run", 30, *options, **more))


def byte_for_byte(work):
    packets = apptest.frames(3000) + [b"\xff" * 14, b"\x01" * 42]
    result = through(work, packets)
    check(apptest.read_capture(work / "out.pcap") == packets, "the captures differ")
    port = result.json["ports"][0]
    check(port["replay"] == {"file": f"{work}/in.pcap", "read": 3002, "sent": 3002,
                             "too_long": 0, "truncated": 0, "done": True}, f"{port['replay']}")
    check(port["written_pcap"] == 3002 and port["written_meta"] == 3002, f"{port}")


def in_segments_on_two_lcores(work):
    packets = apptest.frames(500)
    through(work, packets, "--mbuf-size", 192, "--window", 64, "--drain", 1, lcores="0-1")
    check(apptest.read_capture(work / "out.pcap") == packets, "the captures differ")
    lines = [json.loads(line) for line in (work / "meta").read_text().splitlines()]
    check([line["segs"] for line in lines] == [-(-len(p) // 64) for p in packets],
          "segments are not what the buffers' size makes")


def metadata(work):
    packets = apptest.frames(100)
    through(work, packets)
    lines = [json.loads(line) for line in (work / "meta").read_text().splitlines()]
    check([line["len"] for line in lines] == [len(p) for p in packets], "lengths differ")
    check([line["n"] for line in lines] == list(range(100)), "not numbered")
    for line in lines:
        # net_ring sets no packet metadata
        check(line["ip_cksum"] == "unknown" and line["l4_cksum"] == "unknown", f"{line}")
        check("rss_hash" not in line and "vlan_tci" not in line, f"{line}")
        check(abs(line["host_ns"] - time.time_ns()) < 60e9, f"{line}")


def nanoseconds(work):
    from scapy.utils import RawPcapReader
    through(work, apptest.frames(200))
    with contextlib.closing(RawPcapReader(str(work / "out.pcap"))) as reader:
        check(reader.nano, "the capture is not one of nanoseconds")
        stamps = [meta.sec * 10 ** 9 + meta.usec for _, meta in reader]
    check(all(abs(s - time.time_ns()) < 60e9 for s in stamps), "stamps are not of today")
    check(stamps == sorted(stamps), "stamps go backwards")
    check(any(s % 1000 for s in stamps), "stamps are of microseconds")


def driver_timestamps(work):
    """The net_pcap device stamps packets, in microseconds; after 25.11 its clock is the host's, in nanoseconds."""
    from scapy.utils import RawPcapReader
    apptest.write_capture(work / "in.pcap", apptest.frames(50))
    result = good(run([f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/x.pcap"], "--fwd",
                      "rxonly", "--count", 50, "--run", 10, "--pcap-out", f"0={work}/out.pcap"))
    clock = result.json["ports"][0]["clock"]
    check(clock["readable"] == (apptest.dpdk_release() > (25, 11)), f"{clock}")
    if clock["readable"]:
        check(clock["unit"] == "ns" and clock["epoch"].startswith("1970-01-01 00:00:00"), f"{clock}")
        check(abs(clock["host_offset_ns"]) < 1e9 and abs(clock["hz"] - 1e9) < 1e7, f"{clock}")
    if clock["stamped"]:
        check(clock["stamped"] == 50 and clock["first"] <= clock["last"], f"{clock}")
    with contextlib.closing(RawPcapReader(str(work / "out.pcap"))) as reader:
        check(len(list(reader)) == 50, "not 50 packets")


def rate_and_pairs(work):
    """Out of port 0 at a rate; a ring port receives its own packets, so its peer has none."""
    apptest.write_capture(work / "in.pcap", apptest.frames(200, 100))
    result = good(run(["net_ring0", "net_ring1"], "--fwd", "rxonly", "--pcap-in",
                      f"0={work}/in.pcap", "--rate", 400, "--drain", 0.1, "--run", 20))
    check(0.4 < result.json["seconds"] < 10, f"{result.json['seconds']} s")
    check([p["forward"]["rx_packets"] for p in result.json["ports"]] == [200, 0], "wrong port")


def too_long(work):
    apptest.write_capture(work / "in.pcap", apptest.frames(5, 100) + apptest.frames(2, 3000))
    result = run(["net_ring0"], "--fwd", "rxonly", "--pcap-in", f"0={work}/in.pcap", "--run", 10,
                 "--drain", 0.1)
    check(result.status == 1 and "2 records do not fit port 0's MTU 1500" in result.out,
          result.out)
    good(run(["net_ring0"], "--fwd", "rxonly", "--pcap-in", f"0={work}/in.pcap", "--run", 10,
             "--drain", 0.1, "--mtu", 4000))


def breaks_off(work):
    apptest.write_capture(work / "whole.pcap", apptest.frames(10, 200))
    (work / "in.pcap").write_bytes((work / "whole.pcap").read_bytes()[:-50])
    result = run(["net_ring0"], "--fwd", "rxonly", "--pcap-in", f"0={work}/in.pcap", "--run", 10,
                 "--drain", 0.1)
    check(result.status == 1, result.out)
    check("ends early, after record 9" in result.out, result.out)


def full_disk(work):
    apptest.write_capture(work / "in.pcap", apptest.frames(2000))
    result = run(["net_ring0"], "--fwd", "rxonly", "--pcap-in", f"0={work}/in.pcap", "--run", 10,
                 "--drain", 0.1, "--pcap-out", "0=/dev/full", "--meta-out", "0=/dev/full")
    check(result.status == 1, result.out)
    check(result.out.count("cannot write '/dev/full'") >= 2, result.out)


if __name__ == "__main__":
    apptest.main(byte_for_byte, in_segments_on_two_lcores, metadata, nanoseconds,
                 driver_timestamps, rate_and_pairs, too_long, breaks_off, full_disk)
