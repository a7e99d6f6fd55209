#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The checker detects losses, duplicates, reordering and corruption.

The same seed makes the same packets: a modified capture of them replaces a wire that modifies packets.
"""
import random

import apptest
from apptest import check, run

COUNT = 400
NAMES = ("lost", "duplicate", "reorder", "corrupt", "length", "foreign", "unsent")


def generate(work, packets, *options):
    """A run that sends COUNT packets and receives the given ones."""
    apptest.write_capture(work / "in.pcap", packets)
    return run([f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/sent.pcap"], "--fwd", "gen",
               "--count", COUNT, "--pkt-len", "60-300", "--drain", 0.1, "--run", 20, "--seed", 3,
               "--flows", 4, *options)


def sent_packets(work):
    generate(work, [])
    return apptest.read_capture(work / "sent.pcap")


def expect(what, result, **want):
    got = result.json["check"]
    check(got["sent"] == got["received"] + got["lost"], f"{what}: {got}")
    for name in NAMES:
        check(got[name] == want.get(name, 0), f"{what}: {name} is {got[name]}: {got}")
    failed = any(value for name, value in want.items() if name != "foreign")
    check(result.status == (1 if failed else 0), f"{what}: exit code {result.status}")
    check(("  result: FAILED" if failed else "  result: OK") in result.out, result.out)


def nothing(work):
    expect("nothing", generate(work, sent_packets(work)))


def loss(work):
    sent = sent_packets(work)
    expect("one lost", generate(work, sent[:17] + sent[18:]), lost=1)
    expect("last ones lost", generate(work, sent[:-3]), lost=3)
    expect("all lost", generate(work, []), lost=COUNT)


def duplicate(work):
    sent = sent_packets(work)
    expect("one twice", generate(work, sent[:20] + [sent[19]] + sent[20:]), duplicate=1)
    expect("first at the end", generate(work, sent + [sent[0]]), duplicate=1)
    expect("all twice", generate(work, sent + sent), duplicate=COUNT)


def reorder(work):
    sent = sent_packets(work)
    # flows take turns: packet i and i + 4 are of the same flow
    swapped = list(sent)
    swapped[40], swapped[44] = swapped[44], swapped[40]
    expect("two of one flow swapped", generate(work, swapped), reorder=1)
    swapped = list(sent)
    swapped[40], swapped[41] = swapped[41], swapped[40]
    expect("two of different flows swapped", generate(work, swapped))


def corruption(work):
    sent = sent_packets(work)
    rng = random.Random(5)
    # a byte of every field after the addresses; the TTL is covered by the IP checksum (24)
    for offset in (15, 16, 18, 24, 26, 30, 34, 38, 40, 46, 48, 52, 54, 56, 59):
        n = rng.randrange(COUNT)
        bad = bytearray(sent[n])
        bad[offset] ^= 1 << rng.randrange(8)
        result = generate(work, sent[:n] + [bytes(bad)] + sent[n + 1:])
        got = result.json["check"]
        check(got["lost"] == 1 and result.status == 1, f"offset {offset}: {got}")
        check(got["corrupt"] + got["length"] + got["foreign"] == 1, f"offset {offset}: {got}")
    n = max(range(COUNT), key=lambda i: len(sent[i]))
    bad = bytearray(sent[n])
    bad[-1] ^= 0x80
    expect("last byte", generate(work, sent[:n] + [bytes(bad)] + sent[n + 1:]), lost=1, corrupt=1)


def repaired_checksums(work):
    """A changed payload byte with a correct UDP checksum is detected."""
    from scapy.layers.inet import UDP
    from scapy.layers.l2 import Ether
    sent = sent_packets(work)
    n = next(i for i in range(COUNT) if len(sent[i]) > 200)
    bad = bytearray(sent[n])
    bad[150] ^= 4
    packet = Ether(bytes(bad))
    del packet[UDP].chksum
    expect("repaired", generate(work, sent[:n] + [bytes(packet)] + sent[n + 1:]),
          lost=1, corrupt=1)


def length(work):
    sent = sent_packets(work)
    n = next(i for i in range(COUNT) if len(sent[i]) > 100)
    expect("cut", generate(work, sent[:n] + [sent[n][:-1]] + sent[n + 1:]), lost=1, length=1)
    expect("cut in the headers", generate(work, sent[:n] + [sent[n][:50]] + sent[n + 1:]),
          lost=1, length=1)
    expect("longer", generate(work, sent[:n] + [sent[n] + b"\0"] + sent[n + 1:]), lost=1, length=1)


def foreign(work):
    sent = sent_packets(work)
    expect("foreign", generate(work, sent + apptest.frames(5)), foreign=5)
    result = generate(work, sent, "--seed", 4)
    got = result.json["check"]
    check(got["foreign"] == COUNT and got["lost"] == COUNT, f"another seed's packets: {got}")


def unsent(work):
    """Packets of this run with sequence numbers that it has not sent."""
    sent = sent_packets(work)
    expect("half", generate(work, sent, "--count", COUNT // 2), unsent=COUNT // 2)


if __name__ == "__main__":
    apptest.main(nothing, loss, duplicate, reorder, corruption, repaired_checksums, length,
                 foreign, unsent)
