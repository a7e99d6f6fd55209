#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Forwarding modes: packets received on one port are sent by the other, with the addresses of the mode."""
import apptest
from apptest import check, good, run

COUNT = 500


def forward(work, mode, *options, lcores="0"):
    """Forward captures through two ports; returns the packets in 0, in 1, out 0, out 1."""
    first, second = apptest.frames(COUNT), apptest.frames(COUNT, 300)
    apptest.write_capture(work / "in0.pcap", first)
    apptest.write_capture(work / "in1.pcap", second)
    vdevs = [f"net_pcap{i},rx_pcap={work}/in{i}.pcap,tx_pcap={work}/out{i}.pcap"
             for i in (0, 1)]
    result = good(run(vdevs, "--fwd", mode, "--count", 2 * COUNT, "--run", 20, *options,
                      lcores=lcores))
    ports = result.json["ports"]
    for port, peer in ((0, 1), (1, 0)):
        check(ports[port]["forward"]["rx_packets"] == COUNT, f"{ports[port]['forward']}")
        check(ports[port]["stats"]["ipackets"] == COUNT, f"{ports[port]['stats']}")
        check(ports[port]["forward"]["tx_packets"] == ports[port]["stats"]["opackets"],
              "forward and port statistics differ")
        check(ports[peer]["forward"]["tx_bytes"] in (0, ports[port]["forward"]["rx_bytes"]),
              "bytes differ")
    return (first, second, apptest.read_capture(work / "out0.pcap"),
            apptest.read_capture(work / "out1.pcap"))


def io(work):
    first, second, out0, out1 = forward(work, "io")
    check(out1 == first and out0 == second, "io changed, lost or swapped packets")


def io_on_a_worker_lcore(work):
    first, second, out0, out1 = forward(work, "io", lcores="0-1")
    check(out1 == first and out0 == second, "io changed, lost or swapped packets")


def io_in_segments(work):
    first, second, out0, out1 = forward(work, "io", "--mbuf-size", 200)
    check(out1 == first and out0 == second, "segments were joined wrongly")


def mac(work):
    first, _, _, out1 = forward(work, "mac", "--peer-mac", "1=02:aa:bb:cc:dd:ee")
    check([p[12:] for p in out1] == [p[12:] for p in first], "mac changed more than addresses")
    check({p[:6].hex(":") for p in out1} == {"02:aa:bb:cc:dd:ee"}, "destination is not --peer-mac")
    check(len({p[6:12] for p in out1}) == 1, "source is not one address")
    check(out1[0][6:12] != first[0][6:12], "source did not change")


def macswap(work):
    first, _, _, out1 = forward(work, "macswap")
    check(out1 == [p[6:12] + p[:6] + p[12:] for p in first], "addresses were not swapped")


def rxonly(work):
    _, _, out0, out1 = forward(work, "rxonly")
    check(out0 == [] and out1 == [], "rxonly sent something")


def txonly(work):
    result = good(run([f"net_pcap0,tx_pcap={work}/out.pcap"], "--fwd", "txonly",
                      "--count", 1000, "--pkt-len", "60-1514", "--run", 20))
    sent = apptest.read_capture(work / "out.pcap")
    check(len(sent) == 1000, f"{len(sent)} packets in the capture")
    check(result.json["ports"][0]["stats"]["opackets"] == 1000, "wrong statistics")
    check(len({len(p) for p in sent}) > 500, "lengths do not vary")
    check(all(60 <= len(p) <= 1514 for p in sent), "length out of range")


def count_not_reached(work):
    apptest.write_capture(work / "in.pcap", apptest.frames(10))
    result = run([f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/out.pcap"],
                 "--fwd", "rxonly", "--count", 11, "--run", 0.5)
    check(result.status == 1, f"exit code {result.status}")
    check("received 10 packets of 11 expected" in result.out, result.out)


def chained(work):
    vdevs = []
    for i in range(3):
        apptest.write_capture(work / f"in{i}.pcap", apptest.frames(20, 100 + i))
        vdevs.append(f"net_pcap{i},rx_pcap={work}/in{i}.pcap,tx_pcap={work}/out{i}.pcap")
    good(run(vdevs, "--fwd", "io", "--topology", "chained", "--count", 60, "--run", 20))
    for i in range(3):
        check(apptest.read_capture(work / f"out{(i + 1) % 3}.pcap") == apptest.frames(20, 100 + i),
              f"port {i} did not forward to its successor")


def strict(work):
    """Queue 1 of the ring is filled and never read, until there is no buffer to receive with."""
    apptest.write_capture(work / "in.pcap", apptest.frames(2000, 60))
    vdevs = ["net_ring0", f"net_pcap0,rx_pcap={work}/in.pcap,"
             f"tx_pcap={work}/a.pcap,tx_pcap={work}/b.pcap"]
    options = ("--fwd", "txonly", "--txq", 2, "--gen-ports", "0x1", "--mbufs", 200, "--run", 0.5)
    result = run(vdevs, *options)
    check(result.status == 0, result.out)
    check(result.json["ports"][1]["stats"]["rx_nombuf"] > 0, f"{result.json['ports'][1]}")
    result = run(vdevs, *options, "--strict")
    check(result.status == 1 and "Rx buffer failures" in result.out, result.out)


def port_that_takes_nothing(_work):
    """The same queue with enough buffers: the program detects that it makes no progress."""
    result = run(["net_ring0"], "--fwd", "txonly", "--txq", 2, "--count", 8000)
    check(result.status == 1, result.out)
    check("does not accept packets" in result.out, result.out)


def queues(_work):
    """As many as ethdev has: with a burst of 32 the count is reached when all were polled six times."""
    result = good(run(["net_null0"], "--fwd", "rxonly", "--rxq", 1024, "--txq", 1024, "--rxd", 8, "--txd", 8,
                      "--mbuf-size", 256, "--mbufs", 40000, "--count", 200000, "--run", 20))
    check(result.json["ports"][0]["forward"]["rx_packets"] >= 200000, f"{result.json['ports']}")


if __name__ == "__main__":
    apptest.main(io, queues, io_on_a_worker_lcore, io_in_segments, mac, macswap, rxonly, txonly,
                 count_not_reached, chained, strict, port_that_takes_nothing)
