# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Segmentation of TCP packets, in tunnels too, by the device for testpmd's csum engine: the frames against scapy's.

Frames from a capture arrive at port 0, most of them longer than the segment size and in several mbufs. All that
port 1 sends must be what TCP would have sent, byte for byte, and the port's counters must count it.
"""
import collections
import pathlib
import tempfile

import pmdlib
from e2e import check, main, testlib
from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw
from scapy.utils import RawPcapReader, RawPcapWriter

SOURCE, PEER = "02:00:00:00:00:01", "02:00:00:00:00:01"  # PEER: whom testpmd's port 1 sends to.
STALL_S = 20
# With a destination, which is changed later: without one scapy sends ARP requests.
ETHER = Ether(src=SOURCE, dst=PEER)
TCP_OPTIONS = [("NOP", None), ("NOP", None), ("Timestamp", (0x01020304, 0x05060708))]


def payload(n):
    return Raw(bytes((n * 7 + i * 31 + (i >> 8)) & 255 for i in range(n)))


def tcp_packets(mss):
    """Lengths around multiples of the segment size; flags, sequence numbers and IDs that wrap; options; a tag; IPv6."""
    sizes = [1, mss - 1, mss, mss + 1, 2 * mss - 1, 2 * mss, 2 * mss + 1, 5 * mss + 7, 8900]
    for n, size in enumerate(s for s in sizes if s <= 8900):
        tcp = TCP(sport=1000 + n, dport=80, seq=0xffffff00 + n, ack=n, window=1000 + n, flags="FPACE"[n % 3:])
        options = TCP(sport=2000 + n, dport=80, seq=n, ack=1, flags="PA", options=TCP_OPTIONS)
        ipv4 = IP(src=f"10.0.0.{n + 1}", dst="10.1.0.1", id=65535 - n % 3, flags="DF" if n & 1 else 0)
        ipv6 = IPv6(src=f"2001:db8::{n:x}", dst="2001:db8:1::1")
        for part in (ipv4 / tcp, ipv4 / options, ipv6 / tcp, ipv6 / options):
            yield ETHER / part / payload(size)
        yield ETHER / Dot1Q(vlan=n + 1) / ipv4 / tcp / payload(size)


def others():
    for n in range(40):
        yield ETHER / IP(dst=f"10.2.0.{n}") / UDP(sport=n, dport=9) / payload(10 + 30 * n)


def rebuilt(p):
    """All lengths and checksums by scapy."""
    for layer in (IP, TCP, UDP):
        if layer in p:
            del p[layer].chksum
    for layer, field in ((IP, "len"), (IPv6, "plen")):
        if layer in p:
            delattr(p[layer], field)
    return bytes(p)


def segments(p, mss):
    """The frames of a packet, as TCP would have made them."""
    if TCP not in p:
        return [rebuilt(p)]
    data, flags, out = bytes(p[TCP].payload), str(p[TCP].flags), []
    for n, at in enumerate(range(0, len(data), mss)):
        q = p.copy()
        q[TCP].remove_payload()
        q = q / Raw(data[at:at + mss])
        q[TCP].seq = (p[TCP].seq + at) & 0xffffffff
        q[TCP].flags = "".join(f for f in flags if (f not in "FP" or at + mss >= len(data)) and (f != "C" or n == 0))
        if IP in q:
            q[IP].id = (p[IP].id + n) & 0xffff
        out.append(rebuilt(q))
    return out


class Tunnel:
    """One kind: protocol or UDP port, and the header before an Ethernet frame (inner None) or before an IP packet."""

    def __init__(self, number, header, inner=None):
        self.number, self.header, self.inner = number, header, inner

    def outers(self):
        """IPv4, IPv6, and IPv4 behind a tag."""
        ips = [IP(src="10.9.0.1", dst="10.9.0.2", id=65534), IPv6(src="2001:db8:9::1", dst="2001:db8:9::2")]
        for ether, ip in ((ETHER, ips[0]), (ETHER, ips[1]), (ETHER / Dot1Q(vlan=77), ips[0])):
            if self.number > 255:
                yield ether / ip / UDP(sport=5555, dport=self.number, chksum=0)
            else:
                setattr(ip, "proto" if IP in ip else "nh", self.number)
                yield ether / ip

    def carries(self, p):
        return self.inner in (None, p.type)

    def frame(self, outer, n, inner):
        """The n-th frame of a packet. The outer UDP checksum stays 0."""
        q = outer.copy()
        content = self.header + (inner if self.inner is None else inner[14:])
        if IP in q:
            q[IP].id = (q[IP].id + n) & 0xffff
        if UDP in q:
            q[UDP].len = 8 + len(content)
        return bytes(q / Raw(content))


KINDS = {
    "VXLAN": [Tunnel(4789, b"\x08\0\0\0\0\x12\x34\0")],
    "GENEVE": [Tunnel(6081, b"\0\0\x65\x58\0\x12\x34\0"), Tunnel(6081, b"\x01\0\x86\xdd" + bytes(8), 0x86dd)],
    "GRE": [Tunnel(47, b"\0\0\x65\x58"), Tunnel(47, b"\x20\0\x08\0\0\0\0\x09", 0x800)],
    "IPIP": [Tunnel(4, b"", 0x800)],
}


def tunnelled(packets, kind):
    """(tunnel, outer header, inner packet); each inner one is sent with each outer header."""
    for tunnel in KINDS[kind]:
        outers = list(tunnel.outers())
        for n, p in enumerate(packets):
            if len(p) < 8900 and tunnel.carries(p):
                p.dst = f"02:00:00:00:bb:{n & 255:02x}"
                for outer in outers:
                    yield tunnel, outer, p


def expectation(packets, mss, mac):
    """The frames by their number. A packet is one of scapy's, or a tuple from tunnelled()."""
    wanted = collections.Counter()
    for p in packets:
        tunnel, outer, inner = p if isinstance(p, tuple) else (None, None, p)
        q, frames = (outer or inner).copy(), []
        q.src, q.dst = mac, PEER
        if outer is None:
            frames = segments(Ether(bytes(q)), mss)
        else:
            frames = [tunnel.frame(q, n, f) for n, f in enumerate(segments(Ether(bytes(inner)), mss))]
        wanted.update(frames)
    return wanted


def compare(sent, wanted):
    for what, some in (("not expected", sent - wanted), ("missing", wanted - sent)):
        for frame, count in some.most_common(3):
            print(f"{what}, {count} times: {Ether(frame)!r}")
    check(sent == wanted, f"{sum((sent - wanted).values())} frames not as expected, "
          f"{sum((wanted - sent).values())} missing")


def mac_of(testpmd, port):
    return testpmd.cmd(f"show port info {port}").partition("MAC address: ")[2].split()[0].lower()


def packets_for(mac, mss, tunnels=None):
    """What arrives at port 0, and the same as bytes."""
    packets = [*tcp_packets(mss), *others()]
    packets = [*tunnelled(packets, tunnels)] if tunnels else packets * 3
    for p in packets:
        (p[1] if tunnels else p).dst = mac
    return packets, [p[0].frame(p[1], 0, bytes(p[2])) if tunnels else bytes(p) for p in packets]


def segment(testpmd, packets, mss, tunnels=None):
    """Forwards packets until port 1 has sent all segments; these."""
    wanted = expectation(packets, mss, mac_of(testpmd, 1))
    commands = [f"tso set {mss} 1", *(f"csum set {what} hw 1" for what in ("ip", "udp", "tcp"))]
    if tunnels:
        commands += ["csum parse-tunnel on 1", "csum set outer-ip hw 1", f"tunnel_tso set {mss} 1"]
    for command in [*commands, "port start all", "set fwd csum retry", "set burst tx delay 20 retry 50000", "start"]:
        testpmd.cmd(command)
    total = sum(wanted.values())
    testlib.await_progress(lambda: testpmd.ctl("counters")["ports"][1]["tx_frames"],
                           lambda sent: sent >= total, STALL_S)
    testpmd.cmd("stop")
    return wanted


ARGS = ["--txd=1024", "--rxd=4096", "--enable-scatter", "--max-pkt-len=9022", "--no-flush-rx", "--disable-device-start"]


def run_one(mss, devargs, profile, tunnels=None):
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        inp, out = pathlib.Path(work) / "in.pcap", pathlib.Path(work) / "out.pcap"
        # The addresses of the emulated ports are known before the emulator starts.
        packets, frames = packets_for("0c:42:a1:4e:d0:00", mss, tunnels)
        writer = RawPcapWriter(str(inp), linktype=1, sync=True)
        writer.write_header(None)
        for frame in frames:
            writer.write_packet(frame, sec=0, usec=0)
        writer.close()
        with pmdlib.Testpmd(ARGS, wires=[f"0=pcap:{inp}", f"1=pcap:,{out}"], eal_args=pmdlib.eal(devargs),
                            emu_args=["--seed", "0", *(["--profile", profile] if profile else [])]) as testpmd:
            wanted = segment(testpmd, packets, mss, tunnels)
            burst = testpmd.cmd("show txq info 1 0")
            stats = pmdlib.check_statistics(testpmd, 1, [("TX-packets", "tx_unicast_packets")])
            testpmd.quit()
        sent = collections.Counter(bytes(data) for data, _ in RawPcapReader(str(out)))
    compare(sent, wanted)
    total = sum(wanted.values())
    check("TSO" in burst, burst)
    check(stats["TX-packets"] == total, f"{stats['TX-packets']} packets counted, {total} sent")
    length = sum(len(frame) * n for frame, n in wanted.items())
    check(stats["TX-bytes"] == length, f"{stats['TX-bytes']} bytes counted, {length} sent")
    print(f"segments of {mss} bytes, {devargs or 'no devargs'}, {profile or 'default card'}, "
          f"{tunnels or 'no tunnels'}: "
          f"{len(packets)} packets, {total} frames, as scapy's", flush=True)


def run():
    run_one(1000, "", None)
    run_one(1448, "tx_burst=scalar", None)
    run_one(1200, "mprq_en=1,rxqs_min_mprq=0,txq_inline_mpw=128,txq_inline_max=256,txqs_min_inline=0", None)
    run_one(137, "", "cx4lx")
    run_one(1000, "", None, tunnels="VXLAN")
    run_one(1000, "mprq_en=1,rxqs_min_mprq=0,mprq_max_memcpy_len=0", None, tunnels="VXLAN")
    run_one(1398, "tx_burst=scalar", "cx4lx", tunnels="VXLAN")
    run_one(1000, "", "cx4lx", tunnels="GRE")
    # ConnectX-5 needs offsets for the last two, later cards do not.
    for profile in ("cx5", None):
        for kind in ("GRE", "GENEVE", "IPIP"):
            run_one(1300, "", profile, tunnels=kind)


if __name__ == "__main__":
    main(run)
