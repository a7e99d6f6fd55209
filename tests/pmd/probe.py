# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Probe: refused devargs are logged in one line, and a device whose probe failed is not left to another driver."""
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import unittest.mock

import pmdlib
from e2e import PLUGIN, TEST_MLX, check, emu, main

CASES = [
    # devargs, log line (None: accepted)
    ("rx_burst=scalar,tx_burst=scalar,clock=raw", None),
    ("class=eth,rx_burst=auto", None),
    ("driver=net_mlxpmd", None),
    ("rx_burst=fast", "devarg rx_burst=fast: allowed are auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma"),
    ("clock=", "devarg clock=: allowed are auto|page|host|realtime|raw"),
    ("clock=page,clock=page", "devarg clock is given more than once: allowed is once"),
    ("lro_timeout_usec=1ms", "devarg lro_timeout_usec=1ms: allowed are 0..65535"),
    ("representor=vf0", "devarg representor=vf0: ports of representors are not supported, "
     "only the uplink of a switchdev PF: leave the devarg out"),
    ("rx_vec_en=1", "unknown devarg rx_vec_en: allowed are "
     "rx_burst=auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma, tx_burst=auto|scalar|neon|sse|avx2|avx512vl|avx512, "
     "clock=auto|page|host|realtime|raw, rxq_cqe_comp_en=0..4|128..132, "
     "stats_age_ms=0|10..60000, txq_inline_mpw=0..930, txq_inline_max=0..930, txqs_min_inline=0..1024, "
     "open=verbs|vfio, doorbell=auto|nc|wc, mprq_en=0|1, mprq_log_stride_num=0|3..16, "
     "mprq_log_stride_size=0|6..13, mprq_max_memcpy_len=0..65535, rxqs_min_mprq=0..65535, "
     "lro_timeout_usec=0..65535, recorder=off|on"),
]


def start(devargs, faults=(), simd=None):
    program = ["dpdk-testpmd", *pmdlib.eal(devargs, lcores="0,1", simd=simd), "--log-level=bus.pci:info", "--",
               "--no-mlockall", "--total-num-mbufs=4096", "--tx-first"]
    # testpmd ends at the end of its input, with and without ports.
    return emu(["timeout", "-s", "INT", "60", *program], faults=faults)


def check_devargs(devargs, line, simd=None):
    result = start(devargs, simd=simd)
    ours = re.findall(r"^mlxpmd: 0000:c1:00.0: (.*?)\r?$", result.out, re.M)
    check("driver: mlx5_pci" not in result.out, f"{devargs}: probed by net_mlx5\n{result.out}")
    check("\naudit: clean" in result.out, f"{devargs}: {result.out[-3000:]}")
    if line is None:
        check(result.report.port(0, "tx_frames") > 0, f"{devargs}: no traffic\n{result.out[-3000:]}")
        check(ours == [], f"{devargs}: {ours}")
    else:
        check(ours == [line], f"{devargs}: {ours} instead of {line}\n{result.out[-3000:]}")
        check("No probed ethernet devices" in result.out, result.out[-3000:])
    print(f"{devargs}: {line or 'accepted'}", flush=True)


def check_instruction_sets():
    """Bursts of a named instruction set are used, or refused in one line."""
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii")
    other = "sse" if platform.machine() == "aarch64" else "neon"
    check_devargs(f"tx_burst={other}", "devarg tx_burst: this build has no bursts of that instruction set: use auto")
    if b"Vector AVX2" not in PLUGIN.read_bytes():
        check_devargs("tx_burst=avx2", "devarg tx_burst: this build has no bursts of that instruction set: use auto")
        return
    for words, name, bits in (("sse4_2", "sse", 128), ("avx2", "avx2", 256),
                              ("avx512f avx512bw avx512dq avx512vl", "avx512", 512)):
        for key in ("rx_burst", "tx_burst"):
            has = all(re.search(rf"\b{word}\b", cpu) for word in words.split())
            line = None if has else f"devarg {key}={name}: the CPU does not have the instructions: use auto"
            check_devargs(f"{key}={name}", line, simd=bits)
            if has:
                check_devargs(f"{key}={name}", f"devarg {key}={name}: EAL allows vectors of {bits // 2} bits: "
                              f"use auto, or --force-max-simd-bitwidth={bits}", simd=bits // 2)


def check_failed_probe():
    """A command of the probe is refused: a negative errno, so EAL does not try another driver; a recorder's file."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-probe.") as folder:
        with unittest.mock.patch.dict(os.environ, MLXPMD_FWDUMP_DIR=folder):
            # By the common layer, and by the driver after it.
            for op in ("ALLOC_TRANSPORT_DOMAIN", "CREATE_TIS"):
                check_refused(op, "")
            check_refused("CREATE_TIS", "recorder=off")


def check_refused(op, devargs):
    result = start(devargs, faults=[f"on cmd.entry match op={op} do fail status=NO_RESOURCES"])
    check("driver: mlx5_pci" not in result.out, f"probed by net_mlx5\n{result.out}")
    check(op in result.out and "No probed ethernet devices" in result.out, result.out)
    files = re.findall(r"0000:c1:00.0: the last commands .* recorded: dpdk-test-mlx explain (\S+)", result.out)
    if devargs:
        check(not files and "explain" not in result.out, result.out)
        return
    done = subprocess.run([TEST_MLX, "explain", *files], capture_output=True, text=True, timeout=60, check=False)
    print(done.stdout)
    for words in ("because the probe failed", f"what happened:  {op} refused: NO_RESOURCES", "! port probe failed: "):
        check(done.returncode == 0 and words in done.stdout, f"{files}: {done.stdout}{done.stderr}")
    print(f"{op} refused: no other driver probed the device, {files[0]}", flush=True)


def check_no_privilege(extra, drop=()):
    """Without CAP_NET_RAW the port does not start, and one line names the capability."""
    program = ["dpdk-testpmd", *pmdlib.eal("", lcores="0,1"), "--", "--no-mlockall", "--total-num-mbufs=4096"]
    result = emu(["timeout", "-s", "INT", "60", *drop, *program], extra=extra)
    lines = [line for line in result.out.splitlines() if line.startswith("mlx5dv: 0000:c1:00.0: ")]
    check(len(lines) == 1 and "(CAP_NET_RAW is missing: run as root, or setcap cap_net_raw+ep PROGRAM)" in lines[0],
          f"no CAP_NET_RAW: {lines}\n{result.out[-3000:]}")
    check("\naudit: clean" in result.out, result.out[-3000:])
    print(f"no CAP_NET_RAW, {extra}: {lines[0]}", flush=True)


def check_bond():
    """Both ports of a bond are refused, each in one line that names the bond."""
    program = ["dpdk-testpmd", *pmdlib.eal("", lcores="0,1"), "-a", "0000:c1:00.1", "--", "--no-mlockall",
               "--total-num-mbufs=4096"]
    result = emu(["timeout", "-s", "INT", "60", *program], extra=["--bond", "0,1"])
    for port, words in ((0, "the port is bonded with another of its card, bonded ports are not supported"),
                        (1, "interface mlxemu1np0 is in the bond mlxemubond0, whose ports have the RDMA device of the "
                            "first one; bonded ports are not supported: ip link set mlxemu1np0 nomaster")):
        lines = [line for line in result.out.splitlines() if line.startswith(f"mlx5dv: 0000:c1:00.{port}: ")]
        check(len(lines) == 1 and words in lines[0], f"bond: {lines}\n{result.out[-3000:]}")
        print(lines[0], flush=True)


def check_other_class():
    """The devarg driver=net_mlx5 leaves the device to net_mlx5."""
    result = start("driver=net_mlx5")
    check("driver: mlx5_pci" in result.out, f"not probed by net_mlx5\n{result.out}")
    print("driver=net_mlx5: probed by net_mlx5", flush=True)


def run():
    for devargs, line in CASES:
        check_devargs(devargs, line)
    check_instruction_sets()
    check_failed_probe()
    check_no_privilege(["--net-raw", "deny"])
    # As on a card: the program has lost the capability, and the emulated kernel looks at the thread's.
    drop = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"] if os.geteuid() == 0 else []
    for extra in (["--net-raw", "process"], ["--net-raw", "process", "--switchdev", "0"]):
        check_no_privilege(extra, drop)
    check_bond()
    check_other_class()


main(run)
