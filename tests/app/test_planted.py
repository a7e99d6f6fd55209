#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The checker finds what was done to packets on their way.

The same seed makes the same packets, so a capture of them, with one thing done to it, stands for
a wire that does this thing.
"""
import random

import apptest
from apptest import check, run

COUNT = 400
NAMES = ("lost", "duplicate", "reorder", "corrupt", "length", "foreign", "unsent")


def generate(work, packets, *options):
    """A run that sends COUNT packets and receives those given."""
    apptest.write_capture(work / "in.pcap", packets)
    return run([f"net_pcap0,rx_pcap={work}/in.pcap,tx_pcap={work}/sent.pcap"], "--fwd", "gen",
               "--count", COUNT, "--pkt-len", "60-300", "--drain", 0.1, "--run", 20, "--seed", 3,
               "--flows", 4, *options)


def sent_packets(work):
    generate(work, [])
    return apptest.read_capture(work / "sent.pcap")


def judge(what, result, **want):
    got = result.json["check"]
    check(got["sent"] == got["received"] + got["lost"], f"{what}: {got}")
    for name in NAMES:
        check(got[name] == want.get(name, 0), f"{what}: {name} is {got[name]}: {got}")
    failed = any(value for name, value in want.items() if name != "foreign")
    check(result.status == (1 if failed else 0), f"{what}: exit code {result.status}")
    check(("  result: FAILED" if failed else "  result: OK") in result.out, result.out)


def nothing(work):
    judge("nothing", generate(work, sent_packets(work)))


def loss(work):
    sent = sent_packets(work)
    judge("one lost", generate(work, sent[:17] + sent[18:]), lost=1)
    judge("last ones lost", generate(work, sent[:-3]), lost=3)
    judge("all lost", generate(work, []), lost=COUNT)


def duplicate(work):
    sent = sent_packets(work)
    judge("one twice", generate(work, sent[:20] + [sent[19]] + sent[20:]), duplicate=1)
    judge("first at the end", generate(work, sent + [sent[0]]), duplicate=1)
    judge("all twice", generate(work, sent + sent), duplicate=COUNT)


def reorder(work):
    sent = sent_packets(work)
    # flows take turns: packet i and i + 4 are of the same flow
    swapped = list(sent)
    swapped[40], swapped[44] = swapped[44], swapped[40]
    judge("two of one flow swapped", generate(work, swapped), reorder=1)
    swapped = list(sent)
    swapped[40], swapped[41] = swapped[41], swapped[40]
    judge("two of different flows swapped", generate(work, swapped))


def corruption(work):
    sent = sent_packets(work)
    rng = random.Random(5)
    # every field behind the addresses but the TTL (24), the IP checksum catches that one, too
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
    judge("last byte", generate(work, sent[:n] + [bytes(bad)] + sent[n + 1:]), lost=1, corrupt=1)


def repaired_checksums(work):
    """A payload byte changed and the UDP checksum made right again: still found."""
    from scapy.layers.inet import UDP
    from scapy.layers.l2 import Ether
    sent = sent_packets(work)
    n = next(i for i in range(COUNT) if len(sent[i]) > 200)
    bad = bytearray(sent[n])
    bad[150] ^= 4
    packet = Ether(bytes(bad))
    del packet[UDP].chksum
    judge("repaired", generate(work, sent[:n] + [bytes(packet)] + sent[n + 1:]),
          lost=1, corrupt=1)


def length(work):
    sent = sent_packets(work)
    n = next(i for i in range(COUNT) if len(sent[i]) > 100)
    judge("cut", generate(work, sent[:n] + [sent[n][:-1]] + sent[n + 1:]), lost=1, length=1)
    judge("cut in the headers", generate(work, sent[:n] + [sent[n][:50]] + sent[n + 1:]),
          lost=1, length=1)
    judge("longer", generate(work, sent[:n] + [sent[n] + b"\0"] + sent[n + 1:]), lost=1, length=1)


def foreign(work):
    sent = sent_packets(work)
    judge("foreign", generate(work, sent + apptest.frames(5)), foreign=5)
    result = generate(work, sent, "--seed", 4)
    got = result.json["check"]
    check(got["foreign"] == COUNT and got["lost"] == COUNT, f"another seed's packets: {got}")


def unsent(work):
    """Packets of this run that were not sent by it (their maker made more)."""
    sent = sent_packets(work)
    judge("half", generate(work, sent, "--count", COUNT // 2), unsent=COUNT // 2)


if __name__ == "__main__":
    apptest.main(nothing, loss, duplicate, reorder, corruption, repaired_checksums, length,
                 foreign, unsent)
