# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Large receive offload: TCP segments that scapy made arrive as few long packets, which leave as the same segments.

testpmd's csum engine hands each packet to the other port for segmentation (TSO), so headers that the driver updated
wrongly, or bytes of a stream that differ, make frames that scapy did not make. When sessions end. What a queue refuses,
and why.
"""
import collections
import functools
import pathlib
import tempfile

import pmdlib
from e2e import TEST_MLX, check, emu, main, testlib
from scapy.all import IP, TCP, UDP, Dot1Q, Ether, IPv6, Raw
from scapy.utils import RawPcapReader, RawPcapWriter
from telemetry_client import Client

MSS = 1400
STALL_S = 20
OWN, SOURCE, PEER = "0c:42:a1:4e:d0:00", "02:00:00:00:00:01", "02:00:00:00:00:01"
MPRQ = "mprq_en=1,rxqs_min_mprq=0"
LRO = ["--enable-lro", "--max-lro-pkt-size=65280", "--enable-scatter"]
STAMP = [("NOP", None), ("NOP", None), ("Timestamp", (0x01020304, 0x05060708))]


def stream(n, segments, version=4, options=(), vlan=None, push=False, vary=0):
    """Consecutive segments of a connection. vary: acknowledgement number and window rise, TTL falls by it each time."""
    ether = Ether(src=SOURCE, dst=OWN) if vlan is None else Ether(src=SOURCE, dst=OWN) / Dot1Q(vlan=vlan)
    for i in range(segments):
        size = MSS if i < segments - 1 else 700
        ip = IP(src=f"10.0.{n}.1", dst="10.1.0.1", id=65500 + i & 0xffff, flags="DF", ttl=64 - vary * i) \
            if version == 4 else IPv6(src=f"2001:db8::{n:x}", dst="2001:db8:1::1", hlim=64 - vary * i)
        tcp = TCP(sport=1000 + n, dport=80, seq=0xffff0000 + i * MSS & 0xffffffff, ack=77 + n + vary * i,
                  window=4000 + vary * i, flags="PA" if push or i == segments - 1 else "A", options=list(options))
        yield ether / ip / tcp / Raw(bytes((n * 7 + (i * MSS + k) * 31 + (k >> 8)) & 255 for k in range(size)))


@functools.cache
def frames_in():
    """Streams one after the other, two that alternate, and what is no segment in the middle of a stream."""
    frames = []
    for n, segments in enumerate((2, 3, 12, 50, 100)):
        for k, kinds in enumerate(({}, {"version": 6}, {"options": STAMP}, {"vlan": 5, "options": STAMP},
                                   {"vlan": 6, "version": 6}, {"push": True})):
            frames += stream(n * 10 + k, segments, **kinds)
    for pair in zip(stream(100, 20), stream(101, 20, version=6)):
        frames += pair
    held = list(stream(102, 30))
    udp = Ether(src=SOURCE, dst=OWN) / IP(src="10.0.0.9", dst="10.1.0.9") / UDP(sport=9, dport=9) / Raw(bytes(100))
    frames += held[:10] + [udp] + held[10:20] + [held[21], held[20]] + held[22:]
    return [bytes(p) for p in frames]


def forwarded(frame, mac):
    """As the csum engine forwards it."""
    p = Ether(frame)
    p.src, p.dst = mac, PEER
    return bytes(p)


@functools.cache
def frames_out(mac):
    return collections.Counter(forwarded(frame, mac) for frame in frames_in())


def write_pcap(path, frames):
    writer = RawPcapWriter(str(path), linktype=1, sync=True)
    writer.write_header(None)
    for p in frames:
        writer.write_packet(bytes(p), sec=0, usec=0)
    writer.close()


def forward(testpmd, count):
    """Forwards frames until so many have left port 1; packets received, the emulator's report, and port 1's address."""
    mac = testpmd.cmd("show port info 1").partition("MAC address: ")[2].split()[0].lower()
    for command in [f"tso set {MSS} 1", "csum set ip hw 1", "csum set tcp hw 1", "csum set udp hw 1",
                    "port start all", "set fwd csum retry", "set burst tx delay 20 retry 50000", "start"]:
        testpmd.cmd(command)
    testlib.await_progress(lambda: testpmd.ctl("counters")["ports"][1]["tx_frames"],
                           lambda sent: sent >= count, STALL_S)
    testpmd.cmd("stop")
    return testpmd.stats(0)["RX-packets"], testpmd.quit(), mac


def compare(out, mac, received, report, merges=True):
    """The frames that left against those that came, and the packets in between."""
    sent = collections.Counter(bytes(data) for data, _ in RawPcapReader(str(out)))
    wanted, total = frames_out(mac), len(frames_in())
    for what, some in (("not expected", sent - wanted), ("missing", wanted - sent)):
        for frame, count in some.most_common(2):
            print(f"{what}, {count} times: {Ether(frame)!r}")
    check(sent == wanted, f"{sum((sent - wanted).values())} frames not as expected, "
          f"{sum((wanted - sent).values())} missing")
    packets, segments = report.port(0, "rx_lro_packets"), report.port(0, "rx_lro_segments")
    check(received == total - segments + packets,
          f"{received} packets received of {total} segments: {segments} were merged into {packets}")
    check(packets > 20 and segments > 4 * packets if merges else packets == 0,
          f"{segments} segments merged into {packets} packets")


def merged(segments):
    """The packet that the device makes of segments, by scapy: the first one's headers, brought up to date."""
    q, last = Ether(bytes(segments[0])), segments[-1]
    q[TCP].remove_payload()
    q = q / Raw(b"".join(bytes(p[Raw]) for p in segments))
    q[TCP].ack, q[TCP].window = last[TCP].ack, last[TCP].window
    if any("P" in str(p[TCP].flags) for p in segments):
        q[TCP].flags |= "P"
    del q[TCP].chksum
    if IP in q:
        q[IP].ttl = min(p[IP].ttl for p in segments)
        del q[IP].len, q[IP].chksum
    else:
        q[IPv6].hlim = min(p[IPv6].hlim for p in segments)
        del q[IPv6].plen
    return bytes(q)


def headers(devargs):
    """Each received packet against the segments of which it was made, and the number of its segments."""
    frames = []
    for n, segments in enumerate((2, 3, 7, 20, 60)):
        for k, kinds in enumerate(({}, {"version": 6}, {"options": STAMP}, {"vlan": 5, "options": STAMP},
                                   {"vlan": 6, "version": 6}, {"push": True})):
            frames += stream(n * 10 + k, segments, vary=1, **kinds)
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        inp, out = pathlib.Path(work) / "in.pcap", pathlib.Path(work) / "out.pcap"
        write_pcap(inp, frames)
        # The longest packet is then the longest frame.
        result = emu([TEST_MLX, *pmdlib.eal(devargs, lcores="0"), "--", "--fwd", "rxonly", "--run", "3",
                      "--mtu", "9000", "--rxd", "4096", "--rx-offloads", "lro,scatter", "--pcap-out", f"0={out}"],
                     wires=[f"0=pcap:{inp}", "1=none"], extra=["--seed", "0"])
        check(result.status == 0, f"exit status {result.status}\n{result.out[-3000:]}")
        packets = [bytes(data) for data, _ in RawPcapReader(str(out))]
    at = 0
    for n, packet in enumerate(packets):
        size = len(Ether(packet)[TCP].payload)
        group = []
        while sum(len(p[Raw]) for p in group) < size and at < len(frames):
            group.append(frames[at])
            at += 1
        wanted = merged(group) if len(group) > 1 else bytes(frames[at - 1])
        check(packet == wanted, f"packet {n} of {len(group)} segments:\n{Ether(packet)!r}\n{Ether(wanted)!r}")
    check(at == len(frames) and len(packets) * 2 < at, f"{at} of {len(frames)} segments in {len(packets)} packets")
    segments = result.report.port(0, "rx_lro_segments") - result.report.port(0, "rx_lro_packets")
    check(len(packets) + segments == len(frames), f"{segments} segments fewer by the device, {len(packets)} packets")
    print(f"{devargs}: {len(packets)} packets of {len(frames)} segments, headers as scapy's", flush=True)


def run_one(devargs, args, merges=True):
    frames = frames_in()
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        inp, out = pathlib.Path(work) / "in.pcap", pathlib.Path(work) / "out.pcap"
        write_pcap(inp, frames)
        with pmdlib.Testpmd(["--txd=1024", "--rxd=1024", "--no-flush-rx", "--disable-device-start", *args],
                            wires=[f"0=pcap:{inp}", f"1=pcap:,{out}"], eal_args=pmdlib.eal(devargs),
                            emu_args=["--seed", "0"]) as testpmd:
            received, report, mac = forward(testpmd, len(frames))
        compare(out, mac, received, report, merges)
    print(f"{devargs}, {' '.join(args)}: {len(frames)} segments in {received} packets, the same segments out",
          flush=True)


@functools.cache
def one_stream():
    return [bytes(Ether(src=SOURCE, dst=OWN) / IP(src="10.0.0.1", dst="10.1.0.1") /
                  TCP(sport=1000, dport=80, seq=1 + i * 100, ack=7, flags="A") / Raw(bytes(100))) for i in range(2000)]


def period(devarg, period_us, notice):
    """One stream in virtual time, in which a frame takes 100 ns: a session has ten segments per microsecond, up to 255.

    The emulator ends it with the 64 frames of a pass, so it may have as many more.
    """
    frames = one_stream()
    count = len(frames)
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        inp = pathlib.Path(work) / "in.pcap"
        write_pcap(inp, frames)
        with pmdlib.Testpmd([*LRO, "--rxd=4096", "--forward-mode=rxonly", "--no-flush-rx"],
                            wires=[f"0=pcap:{inp}", "1=none"],
                            eal_args=pmdlib.eal(f"{MPRQ},clock=raw{devarg}", telemetry=True),
                            emu_args=["--seed", "0", "--clock", "virtual", "--cap", "lro_min_mss_size=100"]) as testpmd:
            used_us = Client().query("/mlxpmd/queues,0")["rx0"]["striding"]["lro_timeout_us"]
            lines = [line for line in testpmd.started.splitlines() if "port 0: lro_timeout_usec" in line]
            testpmd.cmd("start")
            testlib.await_progress(lambda: testpmd.ctl("counters")["ports"][0]["rx_frames"], lambda n: n >= count,
                                   STALL_S)
            testpmd.cmd("stop")
            report = testpmd.quit()
    check(used_us == period_us, f"{devarg}: {used_us} us")
    wanted = [f"mlxpmd: port 0: {devarg[1:]}: LRO sessions end after {period_us} us, the device has 8, 16, 32 and 1024"]
    check(lines == wanted * notice, f"{devarg}: {lines}")
    check(report.port(0, "rx_lro_segments") == count, report)
    mean = count / report.port(0, "rx_lro_packets")
    check(min(10 * period_us, 250) <= mean < min(20 * period_us, 256), f"{devarg}: {mean} segments in a packet")
    print(f"{devarg or 'default'}: {used_us} us, {mean:.0f} segments in a packet", flush=True)


def periods():
    for devarg, period_us, notice in (("", 8, False), (",lro_timeout_usec=0", 8, False),
                                        (",lro_timeout_usec=1", 8, True), (",lro_timeout_usec=8", 8, False),
                                        (",lro_timeout_usec=31", 16, True), (",lro_timeout_usec=32", 32, False),
                                        (",lro_timeout_usec=65535", 1024, True)):
        period(devarg, period_us, notice)


def refused(devargs, args, why):
    with pmdlib.Testpmd(["--disable-device-start", *args], eal_args=pmdlib.eal(devargs)) as testpmd:
        text = testpmd.cmd("port start 0")
        check(why in text, f"not refused as {why!r}: {text}")
        testpmd.quit()


def run():
    headers(MPRQ)
    headers(f"{MPRQ},mprq_max_memcpy_len=65535")
    run_one(MPRQ, LRO)
    run_one(f"{MPRQ},mprq_max_memcpy_len=65535", LRO)
    run_one(f"{MPRQ},mprq_log_stride_num=4,mprq_log_stride_size=11", LRO)
    run_one(MPRQ, ["--enable-scatter"], merges=False)
    periods()
    refused("mprq_en=1", LRO, "rxqs_min_mprq")
    refused(MPRQ, ["--enable-lro", "--max-lro-pkt-size=300"], "max_lro_pkt_size of at least 318")
    refused(MPRQ, ["--enable-lro", "--max-lro-pkt-size=9000"], "needs Rx offload scatter")
    refused(MPRQ, [*LRO, "--disable-crc-strip"], "excludes Rx offload keep CRC")


if __name__ == "__main__":
    main(run)
