# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compressed receive completions under testpmd: no frame is lost and all counters agree, in each format and width, of
ordinary and striding queues.

Usage: cqe_compression.py [--long]

A burst circulates between the two connected ports. At the end testpmd's statistics, the PMD's extended statistics and
the emulator's report are equal, and the device must have written fewer completions than frames. Then the reasons not
to compress. --long forwards 10 million packets in the common format, and 1 million by striding queues.
"""
import pmdlib
from e2e import check, main
from telemetry_client import Client

LONG = pmdlib.long_run()
FORMATS = {1: "hash", 2: "flow tag", 3: "checksum", 4: "L3/L4 header"}
RINGS = ["--rxd=256", "--txd=256", "--forward-mode=macswap"]


STRIDING = "mprq_en=1,rxqs_min_mprq=0,mprq_log_stride_num=5"
# Fewer queues than rxqs_min_mprq: ordinary ones.
TOO_FEW = "mprq_en=1"


# A card with the enhanced layout.
ENHANCED = ["--profile", "cx7"]


def forwarded(form, simd, queues, target, devargs="", emu_args=()):
    args = [*RINGS, f"--rxq={queues}", f"--txq={queues}"]
    value = 128 + form if emu_args else form
    devargs = f"rxq_cqe_comp_en={value}" + (devargs and "," + devargs)
    eal = pmdlib.eal(devargs, telemetry=True, simd=simd)
    with pmdlib.Testpmd(args, wires=["pair:lossless"], eal_args=eal, emu_args=emu_args) as testpmd:
        mode = testpmd.cmd("show rxq info 0 0")
        check("Hash Compressed" in mode if queues > 1 else "Compressed" in mode, mode)
        check(("Striding" in mode) == (STRIDING in devargs), mode)
        check("not compressed" not in testpmd.started, testpmd.started)
        compression = Client().query("/mlxpmd/info,0")["rx_compression"]
        check(compression == {"name": FORMATS[form] + ", enhanced layout" * bool(emu_args),
                              "why": "format of rxq_cqe_comp_en: nothing needs whole completions"}, compression)
        pmdlib.circulate(testpmd, 2, target, 3000 if LONG else 120)
        stats = [pmdlib.check_statistics(testpmd, port) for port in (0, 1)]
        report = testpmd.quit()
    for port in (0, 1):
        check(stats[port]["RX-packets"] == stats[1 - port]["TX-packets"], stats)
        pmdlib.check_report(report, port, stats[port])
        # The completions of sent packets are among them, one per 32 packets and more.
        cqes = report.port(port, "cqes")
        check(cqes < 0.6 * stats[port]["RX-packets"], f"format {form}: {cqes} completions for {stats[port]}")
    total = sum(s["RX-packets"] for s in stats)
    print(f"{compression['name']}, {simd} bits, {queues} queues, {devargs}: {total} packets, none lost", flush=True)


def not_compressed(form, reason, args=(), emu_args=()):
    line = f"mlxpmd: port 0: rxq_cqe_comp_en={form}: completions are not compressed: {reason}"
    with pmdlib.Testpmd([*RINGS, *args], wires=["pair:lossless"], eal_args=pmdlib.eal(f"rxq_cqe_comp_en={form}"),
                        emu_args=emu_args) as testpmd:
        check(line in testpmd.started, testpmd.started)
        pmdlib.circulate(testpmd, 2, 2000, 120)
        stats = [pmdlib.check_statistics(testpmd, port) for port in (0, 1)]
        report = testpmd.quit()
    for port in (0, 1):
        check(report.port(port, "cqes") >= stats[port]["RX-packets"], f"{reason}: compressed")
    print(line, flush=True)


def run():
    for form in FORMATS:
        for simd in (64, 128, 256, 512):
            forwarded(form, simd, 1 + form % 2 * 3, 10_500_000 if LONG and form == 1 and simd != 64 else 20_000)
        for simd in (64, 512):
            forwarded(form, simd, 1 + form % 2 * 3, 1_050_000 if LONG and form == 1 else 20_000, STRIDING)
    forwarded(1, 512, 1, 20_000, TOO_FEW)
    for form, simd in ((1, 64), (1, 128), (1, 256), (1, 512), (2, 512), (3, 256), (4, 512)):
        forwarded(form, simd, 1 + form % 2 * 3, 10_500_000 if LONG and form == 1 and simd != 64 else 20_000,
                  emu_args=ENHANCED)
    for form in (1, 3):
        forwarded(form, 512, 4, 1_050_000 if LONG else 20_000, STRIDING, ENHANCED)
    not_compressed(1, "Rx offload TIMESTAMP, and compressed completions have no timestamps", ["--rx-offloads=0x4000"])
    not_compressed(2, "the device does not have this format", emu_args=["--profile", "cx4lx"])


main(run)
