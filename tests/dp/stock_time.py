# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Time as DPDK's own mlx5 PMD sees it: receive stamps in both formats, and frames sent on time.

usage: stock_time.py

The emulator's captures have the true times: each stamp that testpmd prints must be what the clock read
when the frame arrived, and each scheduled frame must leave at its time.
"""
import pathlib
import re
import sys
import tempfile

from scapy.utils import RawPcapNgReader

for folder in ("pmd", "e2e"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / folder))
import pmdlib  # noqa: E402
from e2e import check, testlib  # noqa: E402

RX_FRAMES = 64
CX7_HZ = 312_500_000
INTER_TICKS, INTRA_TICKS = 1_000_000, 100_000
# Where txonly writes the time of a frame, 8 bytes: after the Ethernet, IPv4 and UDP headers, a signature and indices.
MARK_AT = 14 + 20 + 8 + 8
# The device compares whole ticks, and the first one after the time of the frame ends the WAIT.
ON_TIME_TICKS = 4
# RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP
SEND_ON_TIMESTAMP = 0x200000


def eal():
    """The stock PMD only: our plugin is not loaded. EAL's line on each probe names the driver."""
    args = pmdlib.eal()
    at = args.index("-d")
    return [*args[:at], *args[at + 2:], "--log-level=bus.pci:info"]


def capture(path):
    """(true ns, {word of the comment: number}, data) of each frame."""
    frames = []
    for data, meta in RawPcapNgReader(str(path)):
        # scapy 2.6 and later: a list.
        words = (meta.comment if hasattr(meta, "comment") else meta.comments[0]).split()
        frames.append((meta.tshigh << 32 | meta.tslow,
                       {k.decode(): int(v) for k, v in zip(words[::2], words[1::2])}, data))
    return frames


def printed(text):
    return [int(s) for s in re.findall(r" - timestamp (\d+)", text)]


def receive(work, clock_format, word, drift):
    """rxonly prints the stamp of each frame: the counter, or the card's own time, converted."""
    path = work / f"{clock_format}.pcapng"
    options = ["--clock-format", clock_format, "--clock-drift", drift, "--capture", f"0={path}:rx"]
    with pmdlib.Testpmd(["--forward-mode=rxonly", "--enable-rx-timestamp"], eal_args=eal(),
                        wires=["pair:lossless"], emu_args=options, mbufs=8000) as t:
        check(t.started.count("mlx5_pci") >= 2, f"not the stock PMD: {t.started}")
        t.cmd("set verbose 1")
        t.cmd("start")
        t.ctl("inject", "port=0", f"frames={RX_FRAMES}", "len=100")
        text = t.watch("", lambda text: len(printed(text)) >= RX_FRAMES)
        text += t.cmd("stop")
        t.quit()
    stamps, frames = printed(text), capture(path)
    truth = [words[word] for _, words, _ in frames]
    check(len(frames) == RX_FRAMES, f"{len(frames)} of {RX_FRAMES} frames captured")
    check(stamps == truth, f"{clock_format}: stamps {stamps[:4]}, the clock showed {truth[:4]}")
    print(f"{clock_format}: {len(stamps)} stamps are what the clock showed ({word})")


def send_on_time(work):
    """Bursts of four with fixed distances, held back by WAIT on time."""
    path = work / "sent.pcapng"
    intra = INTRA_TICKS * 1_000_000_000 // CX7_HZ
    inter = INTER_TICKS * 1_000_000_000 // CX7_HZ
    options = ["--profile", "cx7", "--capture", f"0={path}:tx"]
    with pmdlib.Testpmd(["--txd=1024", "--burst=4", f"--tx-offloads={SEND_ON_TIMESTAMP:#x}"],
                        eal_args=eal(), emu_args=options, mbufs=8000) as t:
        text = t.cmd("set fwd txonly") + t.cmd(f"set txtimes {INTER_TICKS},{INTRA_TICKS}")
        text += t.cmd("start")
        testlib.pass_time(1, "the bursts are sent at fixed distances in real time")
        text += t.cmd("stop")
        check("imestamp" not in text, text)  # none of its complaints about the offload
        t.quit()
    frames = capture(path)
    late = [words["cycles"] - int.from_bytes(data[MARK_AT:MARK_AT + 8], "big") for _, words, data in frames]
    # The first frames have times soon after the start of forwarding. Those that are posted later leave at once.
    first = next((i for i, ticks in enumerate(late) if 0 <= ticks <= ON_TIME_TICKS), len(frames))
    check(all(ticks > 0 for ticks in late[:first]), f"sent before the time, by ticks: {late[:first]}")
    times = [ns for ns, _, _ in frames[first:]]
    gaps = [b - a for a, b in zip(times, times[1:])]
    within = [g for g in gaps if abs(g - intra) <= 1]
    between = [g for g in gaps if abs(g - inter) <= 1]
    # What testpmd lost to a full ring.
    odd = [g for g in gaps if abs(g - intra) > 1 and abs(g - inter) > 1 and 100 < g < 10 * inter]
    check(len(within) >= 60 and len(between) >= 20,
          f"{len(within)} gaps of {intra} ns, {len(between)} of {inter} ns: {gaps[:60]}")
    check(len(odd) <= 2, f"unexpected gaps: {odd[:20]}")
    print(f"sent on time: {len(within)} gaps of {intra} ns, {len(between)} of {inter} ns")


def main():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-time.") as work:
        receive(pathlib.Path(work), "free", "cycles", "33.3")
        receive(pathlib.Path(work), "both", "real", "-20")
        receive(pathlib.Path(work), "realtime", "real", "0")
        send_on_time(pathlib.Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
