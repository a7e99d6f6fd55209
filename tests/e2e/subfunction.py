# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A sub-function on the auxiliary bus: its place in sysfs, the stock PMD, mlxpmd, what both refuse."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
from e2e import MLXEMU, check, emu, main, skip, testlib  # noqa: E402
from telemetry_client import Client  # noqa: E402

SF = "mlx5_core.sf.1"
MAC = ["0c:42:a1:4e:d0:00", "0c:42:a1:4e:d0:01"]  # With --seed 0.
DEVICE = f"/sys/bus/auxiliary/devices/{SF}"
PF_FOLDER = "/sys/devices/mlxemu/0000:c1:00.0"


def eal(*allowed, plugin=True, pci=False, telemetry=False):
    args = pmdlib.eal(lcores="0,1", telemetry=telemetry)
    at = args.index("-d")
    head = [*args[:at], *(args[at:at + 2] if plugin else []), "--file-prefix", pmdlib.PREFIX,
            "--log-level=bus.auxiliary:info", "--log-level=pmd.net.mlxpmd:info"]
    return [*head, *([] if pci else ["--no-pci"]), *(word for a in allowed for word in ("-a", a))]


def testpmd(*allowed, extra=(), **options):
    """A run of testpmd that ends at the end of its input; its output and report."""
    program = ["dpdk-testpmd", *eal(*allowed, **options), "--", "--no-mlockall", "--total-num-mbufs=4096",
               "--tx-first"]
    return emu(["timeout", "-s", "INT", "60", *program], extra=["--seed", "0", "--sf", "1", *extra],
               audit=options.get("plugin", True))


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


def forwarded(plugin, probe_line):
    """PF and sub-function exchange packets; the emulator's report."""
    args = ["--forward-mode=mac", f"--eth-peer=0,{MAC[0]}", f"--eth-peer=1,{MAC[1]}"]
    allowed = eal(f"auxiliary:{SF}", "0000:c1:00.0", pci=True, plugin=plugin)
    with pmdlib.Testpmd(args, ["pair:lossless"], allowed, ["--seed", "0", "--sf", "1"]) as t:
        check(f"Probe auxiliary driver: {probe_line} device: {SF}" in t.started, t.started)
        # Port 0 of testpmd is port 1 of the emulator: the auxiliary bus is scanned first.
        check(f"Port 0: {MAC[1].upper()}" in t.started, t.started)
        pmdlib.circulate(t, 2, 20000, 60)
        stats = [pmdlib.check_statistics(t, p) for p in (0, 1)]
        check(stats[0]["RX-packets"] == stats[1]["TX-packets"] > 0, stats)
        if plugin:
            check(f"mlxpmd: port 0: {SF} is mlx5_1, interface mlxemu1np0" in t.started, t.started)
        status, report = t.end()
    for p in (0, 1):
        pmdlib.check_report(report, 1 - p, stats[p])
    return status, report


def stock():
    """DPDK's own PMD takes it and forwards. The bus of DPDK 22.11 closes no device: what is left is not counted."""
    _, report = forwarded(False, "mlx5_auxiliary")
    audit = report.get("audit", "")
    check(audit == "clean" or audit.endswith(", 0 violations"), report.text)
    print("net_mlx5: forwarded", flush=True)


def ours():
    """The same through mlxpmd; with its PF the sub-function is removed."""
    status, report = forwarded(True, "net_mlxpmd")
    check(status == 0 and report.get("audit") == "clean", report.text)
    allowed = eal(f"auxiliary:{SF}", "0000:c1:00.0", pci=True, telemetry=True)
    with pmdlib.Testpmd([], ["pair"], allowed, ["--sf", "1"]) as t:
        t.cmd("start")
        check(t.log.count("port 0: promiscuous and all-multicast mode of a sub-function do not change") == 1, t.log)
        for verb in ("take", "get", "reset"):
            answer = Client().query(f"/mlxpmd/fwdump/{verb},0")
            check("ENOTSUP" in str(answer) and "those of its PF" in str(answer), f"{verb}: {answer}")
        t.ctl("remove", "port=0")
        t.watch("", lambda text: t.log.count("was removed") == 2)
        check(f"port 0: {SF} was removed" in t.log, t.log)
        t.quit()
    print("mlxpmd: forwarded, removed", flush=True)


REFUSED = [
    # device, line (*: any text; which errno libibverbs returns differs), further options of the emulator
    (f"auxiliary:{SF},open=vfio", f"mlx5dv: {SF}: a sub-function cannot be opened through VFIO, it has no PCI function "
     "of its own: leave out devarg open=vfio", []),
    (f"auxiliary:{SF},rx_vec_en=1", f"mlxpmd: {SF}: unknown devarg rx_vec_en: allowed are ", []),
    (f"auxiliary:{SF}", f"mlx5dv: {SF}: cannot open mlx5_1 with DEVX: *: firmware parameter UCTX_EN may be off: "
     "mlxconfig -d 0000:c1:00.0 set UCTX_EN=1", ["--cap", "log_max_uctx=0"]),
]


def refused():
    for device, line, extra in REFUSED:
        result = testpmd(device, extra=extra)
        lines = re.findall("^" + re.escape(line).replace(r"\*", ".*"), result.out, re.M)
        check(len(lines) == 1, f"{device}: {result.out[-3000:]}")
        check("driver: mlx5_auxiliary" not in result.out, f"{device}: probed by net_mlx5\n{result.out}")
        # DEVX without user contexts is a violation of the emulator's.
        audit = "0 left, 1 violations" if extra else "clean"
        check(f"\naudit: {audit}" in result.out, result.out[-3000:])
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
    if not testlib.default_card(MLXEMU).name.startswith("ConnectX-4"):
        functions()
        return
    result = emu(["true"], extra=["--sf", "1"], audit=False)
    check("mlxemu: --sf 1: a ConnectX-4 Lx has no sub-functions" in result.out, result.out)
    skip("ConnectX-4 Lx has no sub-functions")


def functions():
    sysfs()
    stock()
    ours()
    refused()
    not_named()


main(run)
