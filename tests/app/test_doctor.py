#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""--doctor on this machine, on the emulator, and without the right to pin memory."""
import re
import subprocess

import apptest
from apptest import check, testlib

MLXEMU = apptest.BUILD / "devtools/mlxemu/mlxemu"


def card():
    """The card as a pattern."""
    one = testlib.default_card(MLXEMU)
    return re.escape(f"{one.name} ({one.pci_id})")


def doctor(*before):
    done = subprocess.run([*map(str, before), str(apptest.PROGRAM), "--doctor"], timeout=30,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(re.search(r"^\d+ good, \d+ notes?, \d+ bad: ", done.stdout, re.M), done.stdout)
    return done


def totals(done):
    """The last line has the numbers of the other lines."""
    counts = [int(n) for n in re.search(r"^(\d+) good, (\d+) notes?, (\d+) bad", done.stdout,
                                        re.M).groups()]
    lines = [len(re.findall(rf"^{word}  ", done.stdout, re.M)) for word in ("good", "note", "BAD ")]
    check(counts == lines, f"{counts} counted, {lines} lines\n{done.stdout}")
    check(done.returncode == (counts[2] > 0), f"exit code {done.returncode}\n{done.stdout}")


def here(_work):
    done = doctor()
    totals(done)
    check(re.search(r"^good  DPDK +DPDK \d+\.\d+", done.stdout, re.M), done.stdout)
    check(re.search(r"^good  rdma-core +\d+\.\d+$", done.stdout, re.M), done.stdout)
    for name in ("memlock", "hugepages", "IOMMU"):
        check(re.search(rf"^(good|note|BAD )  {name} ", done.stdout, re.M), done.stdout)


def emulated(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--ports", 2, "--")
    totals(done)
    for port in (0, 1):
        pci = f"0000:c1:00.{port}"
        for what in (f"{card()}, driver mlx5_core",
                     f"/dev/infiniband/uverbs{port} can be opened", "firmware \\d+\\.",
                     f"mlx5_{port} opens with DEVX", "interface \\w+, link up"):
            check(re.search(rf"^good  {pci} {what}", done.stdout, re.M), f"{what}\n{done.stdout}")
    check(": ready" in done.stdout, done.stdout)


def switchdev(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--ports", 2, "--switchdev", "0,vfs=3", "--")
    totals(done)
    for what in ("mlx5_0 has 5 ports: switchdev mode, of which the uplink is used", "interface mlxemu0np0, link up"):
        check(re.search(rf"^good  0000:c1:00.0 {what}", done.stdout, re.M), f"{what}\n{done.stdout}")
    check(done.stdout.count("switchdev") == 1, done.stdout)


def bond(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--ports", 2, "--bond", "0,1", "--")
    totals(done)
    for port, whose in ((0, "all"), (1, "another of")):
        line = (rf"^BAD   0000:c1:00.{port} interface mlxemu{port}np0 is in the bond mlxemubond0, and the RDMA device "
                rf"is that of {whose} .*\n *-> ip link set mlxemu{port}np0 nomaster")
        check(re.search(line, done.stdout, re.M), done.stdout)


def on_vfio(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--open", "vfio", "--")
    totals(done)
    for what in (f"{card()}, driver vfio-pci: devarg open=vfio",
                 "/dev/vfio/vfio can be opened", "/dev/vfio/40 can be opened"):
        check(re.search(rf"^good  0000:c1:00.0 {what}", done.stdout, re.M), f"{what}\n{done.stdout}")
    check(re.search("^good  IOMMU ", done.stdout, re.M) and re.search("^good  modules", done.stdout, re.M) and
          ": ready" in done.stdout, done.stdout)
    done = doctor(MLXEMU, "run", "--open", "vfio", "--fault",
                  "on open do fail errno=EACCES", "--")
    totals(done)
    check("BAD   0000:c1:00.0 /dev/vfio/40 cannot be opened" in done.stdout, done.stdout)


def without_user_contexts(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--cap", "log_max_uctx=0", "--")
    totals(done)
    check("BAD   0000:c1:00.0 mlx5_0 does not open with DEVX" in done.stdout and
          "mlxconfig -d 0000:c1:00.0 set UCTX_EN=1" in done.stdout and
          "mlxfwreset -d 0000:c1:00.0 reset" in done.stdout, done.stdout)


def connectx3(_work):
    if not MLXEMU.exists():
        return
    done = doctor(MLXEMU, "run", "--profile", "cx3", "--")
    totals(done)
    check("supported by DPDK's net_mlx4" in done.stdout and "no ConnectX" not in done.stdout and
          "no device for mlxpmd" in done.stdout, done.stdout)


def no_memory_to_pin(_work):
    done = doctor("sh", "-c", "ulimit -l 64; exec setpriv --bounding-set -ipc_lock --inh-caps "
                  "-ipc_lock -- \"$@\"", "sh")
    totals(done)
    check("BAD   memlock      only 64 KiB" in done.stdout and "ulimit -l unlimited" in done.stdout,
          done.stdout)
    check(done.returncode == 1, f"exit code {done.returncode}")


if __name__ == "__main__":
    apptest.main(here, emulated, switchdev, bond, on_vfio, without_user_contexts, connectx3, no_memory_to_pin)
