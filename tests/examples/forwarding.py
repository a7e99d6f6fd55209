# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Frames for DPDK's example programs, and checks of the frames that these send."""
import collections
import struct

from exlib import MAC, PEER_MAC, check
from scapy.layers.inet import IP, UDP, defragment
from scapy.layers.l2 import Ether

FRAMES = 64


def mac_text(mac):
    return mac.hex(":")


def frames_udp(port, destinations, count=FRAMES, sizes=(60, 64, 590, 1514), network=IP):
    """UDP frames for a port, each of another flow."""
    source = {"src": "10.9.0.1" if network is IP else "2001:db8::1"}
    frames = []
    for n in range(count):
        size = sizes[n % len(sizes)]
        headers = Ether(dst=mac_text(MAC[port]), src=mac_text(PEER_MAC)) / \
            network(dst=destinations[n % len(destinations)], **source, **({"id": n} if network is IP else {})) / \
            UDP(sport=1024 + n, dport=2000)
        payload = bytes((n + i) & 255 for i in range(max(0, size - len(headers))))
        frames.append(bytes(headers / payload))
    return frames


def as_it_is(port, frame):
    return 1 - port, frame


def mac_of_l2fwd(port, frame):
    """l2fwd and others: destination 02:00:00:00:00:<port>, source the sending port."""
    out = 1 - port
    return out, bytes.fromhex("0200000000") + bytes([out]) + MAC[out] + frame[12:]


def routed(port, frame):
    """As l2fwd; in IPv4 the time to live is decremented and the checksum adjusted."""
    out, frame = mac_of_l2fwd(port, frame)
    if frame[12:14] == b"\x86\xdd":
        return out, frame
    head = bytearray(frame[14:34])
    head[8] -= 1
    head[10:12] = b"\0\0"
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    head[10:12] = struct.pack(">H", 0xffff - ((total & 0xffff) + (total >> 16)))
    return out, frame[:14] + bytes(head) + frame[34:]


def exactly(rule, in_order=True):
    """A check of the frames from both ports: the rule is (port, frame received) -> (port, frame sent)."""
    def look(sent, got):
        want = [[], []]
        for port, frames in enumerate(sent):
            for frame in frames:
                out, frame = rule(port, frame)
                want[out].append(frame)
        for port in (0, 1):
            check(collections.Counter(want[port]) == collections.Counter(got[port]),
                  f"port {port}: {len(got[port])} frames came, {len(want[port])} were due, "
                  f"{sum((collections.Counter(want[port]) & collections.Counter(got[port])).values())} of them right")
            check(not in_order or want[port] == got[port], f"port {port}: the order was changed")
    return look


def fragments(sent, got):
    """ip_fragmentation: complete datagrams of the same content, in frames of at most 1514 bytes."""
    for port in (0, 1):
        came = [Ether(f) for f in got[1 - port]]
        check(all(len(f) <= 1514 for f in got[1 - port]), f"a fragment of {max(map(len, got[1 - port]))} bytes")
        check(all(e.dst == mac_text(bytes.fromhex("0200000000") + bytes([1 - port])) for e in came), "wrong address")
        check(all(e[IP].chksum == IP(bytes(e[IP])[:20]).chksum and header_good(bytes(e)[14:34]) for e in came),
              "a checksum of the IP header is wrong")
        whole = {bytes(d[IP].payload) for d in defragment(came)}
        want = {f[34:] for f in sent[port]}
        check(whole == want,
              f"port {1 - port}: {len(came)} fragments make {len(whole & want)} of {len(want)} datagrams")


def header_good(head):
    total = sum(struct.unpack(">10H", head))
    return (total & 0xffff) + (total >> 16) == 0xffff


def counters_agree(counters, sent, got):
    for n, port in enumerate(counters):
        for name, want in (("rx_frames", len(sent[n])), ("rx_delivered_frames", len(sent[n])),
                           ("rx_bytes", sum(map(len, sent[n]))), ("tx_frames", len(got[n])),
                           ("tx_bytes", sum(map(len, got[n]))), ("rx_out_of_buffer", 0), ("tx_errors", 0),
                           ("tx_discards", 0), ("rx_errors", 0)):
            check(port[name] == want, f"port {n}: {name} {port[name]}, should be {want}")
