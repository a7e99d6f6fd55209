#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The generator on a device that loses no packets: sent = received, all other counters are 0."""
import apptest
from apptest import check, good, run


def loop(vdevs, count, *options, **more):
    result = good(run(vdevs, "--fwd", "gen", "--count", count, "--run", 40, *options, **more))
    c = result.json["check"]
    check(c["sent"] == count * len(vdevs) and c["received"] == c["sent"], f"{c}")
    for name in ("lost", "duplicate", "reorder", "corrupt", "length", "cksum_wrong", "unsent",
                 "foreign", "untracked"):
        check(c[name] == 0, f"{name}: {c}")
    return result


def one_lcore(_work):
    loop(["net_ring0"], 200000)


def two_lcores(_work):
    loop(["net_ring0"], 200000, lcores="0-1")


def lengths_in_segments(_work):
    loop(["net_ring0"], 20000, "--pkt-len", "60-9000", "--mtu", 9000, "--mbuf-size", 256,
         "--window", 128)


def two_ports_four_queues(_work):
    result = loop(["net_ring0", "net_ring1"], 40001, "--rxq", 4, "--txq", 4, "--flows", 7)
    x = result.json["ports"][0]["xstats"]
    # 40001 = 4 x 10000 + 1
    check([x[f"tx_q{q}_packets"] for q in range(4)] == [10001, 10000, 10000, 10000], f"{x}")


def window_and_odd_burst(_work):
    loop(["net_ring0"], 10007, "--window", 3, "--burst", 7, "--flows", 1)


def rate(_work):
    result = loop(["net_ring0"], 2000, "--rate", 4000)
    check(0.4 < result.json["seconds"] < 10, f"2000 at 4000/s took {result.json['seconds']} s")


def vlan_in_software(work):
    loop(["net_ring0"], 1000, "--vlan", 100, "--pkt-len", "64-200",
         "--pcap-out", f"0={work}/out.pcap")
    packets = apptest.read_capture(work / "out.pcap")
    check(all(p[12:18] == b"\x81\x00\x00\x64\x08\x00" for p in packets), "no tag in the packets")
    check(all(64 <= len(p) <= 200 for p in packets), "wrong lengths")


def checksums_as_scapy_computes_them(work):
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether
    loop(["net_ring0"], 300, "--pkt-len", "60-400", "--pcap-out", f"0={work}/out.pcap")
    for data in apptest.read_capture(work / "out.pcap"):
        again = Ether(data)
        del again[IP].chksum
        del again[UDP].chksum
        check(bytes(again) == data, "scapy computes other checksums")


def same_seed_same_packets(work):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        loop(["net_ring0"], 100, "--seed", seed, "--pcap-out", f"0={work}/{name}.pcap")
    a, b, c = (apptest.read_capture(work / f"{n}.pcap") for n in "abc")
    check(a == b, "the same seed gave different packets")
    check(a != c, "another seed gave the same packets")


def time_limit_without_count(_work):
    result = good(run(["net_ring0"], "--fwd", "gen", "--run", 0.5))
    check(result.json["check"]["sent"] > 0, "nothing sent")
    check(0.4 < result.json["seconds"] < 10, f"{result.json['seconds']} s")


def port_that_drops_everything(_work):
    result = run(["net_null0,no-rx=1"], "--fwd", "gen", "--count", 1000, "--run", 10,
                 "--drain", 0.2)
    check(result.status == 1, f"exit code {result.status}")
    c = result.json["check"]
    check(c["sent"] == 1000 and c["lost"] == 1000 and c["received"] == 0, f"{c}")


def window_over_losses_ends(_work):
    result = run(["net_null0,no-rx=1"], "--fwd", "gen", "--count", 100, "--window", 40,
                 "--drain", 0.2, "--run", 20)
    check(result.status == 1 and result.json["check"]["lost"] == 100, result.out)
    check(result.json["ports"][0]["forward"]["window_stalls"] >= 2, "the window never stalled")


def foreign_packets_do_not_fail(_work):
    result = run(["net_null0,size=64"], "--fwd", "gen", "--count", 10, "--run", 5, "--drain", 0.1)
    check(result.status == 1, "ten packets were lost")
    check(result.json["check"]["foreign"] > 0, "packets of another origin were not counted")
    check(result.json["check"]["corrupt"] == 0, "packets of another origin are not corrupt ones")


if __name__ == "__main__":
    apptest.main(one_lcore, two_lcores, lengths_in_segments, two_ports_four_queues,
                 window_and_odd_burst, rate, vlan_in_software, checksums_as_scapy_computes_them,
                 same_seed_same_packets, time_limit_without_count, port_that_drops_everything,
                 window_over_losses_ends, foreign_packets_do_not_fail)
