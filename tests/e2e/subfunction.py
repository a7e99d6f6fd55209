# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A sub-function on the auxiliary bus: its place in sysfs, the stock PMD, mlxpmd, what both refuse."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
from e2e import check, emu, main  # noqa: E402

SF = "mlx5_core.sf.1"
MAC = ["0c:42:a1:4e:d0:00", "0c:42:a1:4e:d0:10"]
DEVICE = f"/sys/bus/auxiliary/devices/{SF}"
PF_FOLDER = "/sys/devices/mlxemu/0000:c1:00.0"


def eal(*allowed, plugin=True, pci=False):
    args = pmdlib.eal(lcores="0,1")
    at = args.index("-d")
    head = [*args[:at], *(args[at:at + 2] if plugin else []), "--file-prefix", pmdlib.PREFIX,
            "--log-level=bus.auxiliary:info", "--log-level=pmd.net.mlxpmd:info"]
    return [*head, *([] if pci else ["--no-pci"]), *(word for a in allowed for word in ("-a", a))]


def testpmd(*allowed, **options):
    """A run of testpmd that ends at the end of its input; its output and report."""
    program = ["dpdk-testpmd", *eal(*allowed, **options), "--", "--no-mlockall", "--total-num-mbufs=4096",
               "--tx-first"]
    return emu(["timeout", "-s", "INT", "60", *program], extra=["--sf", "1"], audit=options.get("plugin", True))


def sysfs():
    """What rdma-core and bus drivers read (Linux, drivers/base/auxiliary.c; mlx5/core/sf/dev)."""
    script = (f"realpath {DEVICE}; cat {DEVICE}/uevent {DEVICE}/sfnum; realpath {DEVICE}/driver; "
              f"ls {DEVICE}/infiniband {DEVICE}/net /sys/bus/pci/devices; "
              f"realpath /sys/class/infiniband/mlx5_1/device; "
              f"ls {DEVICE}/config {DEVICE}/numa_node {DEVICE}/modalias; cat {DEVICE}/../numa_node")
    out = emu(["sh", "-c", script], extra=["--sf", "1,sfnum=4711"], audit=False).out
    for line in (f"{PF_FOLDER}/{SF}", "DRIVER=mlx5_core.sf", "MODALIAS=auxiliary:mlx5_core.sf", "4711",
                 "/sys/bus/auxiliary/drivers/mlx5_core.sf", "mlx5_1", "mlxemu1np0", "0000:c1:00.0", "-1"):
        check(re.search(f"^{re.escape(line)}\r?$", out, re.M), f"no line {line}: {out}")
    check("PCI_SLOT_NAME" not in out and "0000:c1:00.1" not in out, f"a PCI function: {out}")
    check(out.count("No such file") == 3 and out.count(f"{PF_FOLDER}/{SF}") == 2, out)
    out = emu(["devlink", "port"], extra=["--sf", "1"], audit=False).out
    check(f"auxiliary/{SF}/131072: type eth netdev mlxemu1np0 flavour virtual" in out, out)
    print("sysfs, devlink: as the kernel shows a sub-function", flush=True)


def stock():
    """DPDK's own PMD takes it, sends, and commits no violation."""
    result = testpmd(f"auxiliary:{SF}", plugin=False)
    check(f"Probe auxiliary driver: mlx5_auxiliary device: {SF}" in result.out, result.out[-3000:])
    check(result.report.port(1, "tx_frames") == 32 and MAC[1].upper() in result.out, result.out[-3000:])
    audit = result.report.get("audit", "")
    check(audit == "clean" or ", 0 violations" in audit, result.report.text)
    print("net_mlx5: started and sent", flush=True)


def ours():
    """PF and sub-function exchange packets through mlxpmd; with its PF the sub-function is removed."""
    args = ["--forward-mode=mac", f"--eth-peer=0,{MAC[0]}", f"--eth-peer=1,{MAC[1]}"]
    allowed = eal(f"auxiliary:{SF}", "0000:c1:00.0", pci=True)
    with pmdlib.Testpmd(args, ["pair:lossless"], allowed, ["--sf", "1"]) as t:
        check(f"Probe auxiliary driver: net_mlxpmd device: {SF}" in t.started, t.started)
        check(f"mlxpmd: port 0: {SF} is mlx5_1, interface mlxemu1np0" in t.started, t.started)
        pmdlib.circulate(t, 2, 20000, 60)
        stats = [pmdlib.check_statistics(t, p) for p in (0, 1)]
        check(stats[0]["RX-packets"] == stats[1]["TX-packets"] > 0, stats)
        report = t.quit()
    # Port 0 of testpmd is port 1 of the emulator: the auxiliary bus is scanned first.
    for p in (0, 1):
        pmdlib.check_report(report, 1 - p, stats[p])
    with pmdlib.Testpmd([], ["pair"], allowed, ["--sf", "1"]) as t:
        t.ctl("remove", "port=0")
        t.watch("", lambda text: t.log.count("was removed") == 2)
        check(f"port 0: {SF} was removed" in t.log, t.log)
        t.quit()
    print("mlxpmd: forwarded, removed", flush=True)


REFUSED = [
    # device, line
    (f"auxiliary:{SF},open=vfio", f"mlx5dv: {SF}: a sub-function cannot be opened through VFIO, it has no PCI function "
     "of its own: leave out devarg open=vfio"),
    (f"auxiliary:{SF},mprq_en=1", f"mlxpmd: {SF}: unknown devarg mprq_en: allowed are "),
]


def refused():
    for device, line in REFUSED:
        result = testpmd(device)
        check(len(re.findall("^" + re.escape(line), result.out, re.M)) == 1, f"{device}: {result.out[-3000:]}")
        check("driver: mlx5_auxiliary" not in result.out, f"{device}: probed by net_mlx5\n{result.out}")
        check("\naudit: clean" in result.out, result.out[-3000:])
        print(f"{device}: {line}", flush=True)


def not_named():
    """Only a device that the user names is taken, and driver= returns it to the stock PMD."""
    for allowed, line in (((), f"mlxpmd: {SF}: left alone, -a auxiliary:{SF} takes it"),
                          ((f"auxiliary:{SF},driver=net_mlx5",), f"mlxpmd: {SF}: left to another driver: ")):
        result = testpmd(*allowed)
        check(re.search("^" + re.escape(line), result.out, re.M), result.out[-3000:])
        check(f"driver: mlx5_auxiliary device: {SF}" in result.out, result.out[-3000:])
        print(line, flush=True)


def run():
    sysfs()
    stock()
    ours()
    refused()
    not_named()


main(run)
