#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""--doctor in a root folder of made-up files: one row for each result of each check."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import apptest
from apptest import check

PROGRAM = apptest.BUILD / "tests/app/doctor_root"
OTHER_UID = 65534
PCI = "/sys/bus/pci/devices/0000:01:00.0"
FREE = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
TOTAL = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
LOADED = {f"/sys/module/{name}/x": "" for name in ("mlx5_core", "mlx5_ib", "ib_uverbs")}


def link(target):
    return ("link", target)


def mode(bits):
    return ("mode", bits)


def card(driver, device="0x101d"):
    files = {f"{PCI}/vendor": "0x15b3", f"{PCI}/class": "0x020000", f"{PCI}/device": device}
    if driver:
        files[f"{PCI}/driver"] = link(f"../../../bus/pci/drivers/{driver}")
    return files


VERBS = {**card("mlx5_core"), f"{PCI}/infiniband/mlx5_0/fw_ver": "22.35.2000",
         f"{PCI}/infiniband/mlx5_0/ports/1/link_layer": "Ethernet", f"{PCI}/infiniband_verbs/uverbs0/x": "",
         f"{PCI}/net/eth7/x": "", "/sys/class/net/eth7/operstate": "up", f"{PCI}/ptp/ptp3/x": "",
         "/dev/infiniband/uverbs0": mode(0o666)}
VFIO = {**card("vfio-pci"), f"{PCI}/iommu_group": link("../../../../kernel/iommu_groups/7"),
        "/sys/kernel/iommu_groups/7/type": "DMA", "/dev/vfio/vfio": mode(0o666), "/dev/vfio/7": mode(0o666)}
HUGE = {FREE: "8", TOTAL: "16", "/proc/mounts": "none /huge hugetlbfs rw 0 0", "/huge/x": ""}
NODEV = "no device for mlxpmd; mlxemu run"
MAY_LOCK = {"/proc/self/status": "CapEff:\t0000000000004000"}


def without(files, *prefixes):
    return {path: what for path, what in files.items() if not any(path.startswith(start) for start in prefixes)}


# Name, files, user id or memlock limit in bytes, lines that must be printed: all words in one line or its advice.
ROWS = [
    ("nothing", {}, 0, [("note", "devices", "no ConnectX or BlueField", "mlxemu run"),
                        ("note", "modules", "mlx5_core mlx5_ib ib_uverbs"), ("note", "hugepages", "none reserved"),
                        ("note", "netns", "only the loopback"), ("note", "IOMMU", "VFIO is not possible"),
                        ("good", "lockdown", "none"), ("note", "host clock", "is unknown"), (NODEV,)]),
    ("modules without a card", LOADED, 0, [("good", "modules", "are loaded"), (NODEV,)]),
    ("beside the kernel", VERBS, 0, [("good", "ConnectX-6 Dx (15b3:101d), driver mlx5_core"),
                                     ("good", "/dev/infiniband/uverbs0 can be opened"),
                                     ("good", "firmware 22.35.2000 (mlx5_0), port type Ethernet"),
                                     ("good", "interface eth7, link up"), ("good", "PTP clock /dev/ptp3"),
                                     ("good", "modules", "need no other modules"), (": ready",)]),
    ("as another user", VERBS, OTHER_UID, [("good", "/dev/infiniband/uverbs0 can be opened"), (": ready",)]),
    ("no node", without(VERBS, "/dev"), 0, [("BAD ", "uverbs0 cannot be opened: No such file", "udev")]),
    ("no permission", {**VERBS, "/dev/infiniband/uverbs0": mode(0o600)}, OTHER_UID,
     [("BAD ", "uverbs0 cannot be opened: Permission denied", "run as root")]),
    ("no verbs device", without(VERBS, f"{PCI}/infiniband_verbs"), 0,
     [("BAD ", "no verbs device", "modprobe mlx5_ib"), ("BAD ", "modules", "not loaded: mlx5_core mlx5_ib")]),
    ("InfiniBand", {**VERBS, f"{PCI}/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand"}, 0,
     [("good", "port type InfiniBand"), ("BAD ", "port 1 has type InfiniBand", "LINK_TYPE_P1=2")]),
    ("interface elsewhere", without(VERBS, f"{PCI}/net"), 0, [("note", "not in this namespace", "ip link set")]),
    ("no PTP", without(VERBS, f"{PCI}/ptp"), 0, [("note", "no PTP clock", "clock=host")]),
    ("no driver", {**card(None), **LOADED}, 0,
     [("BAD ", "driver none", "modprobe mlx5_core"), ("good", "modules", "are loaded"), ("fix what is BAD",)]),
    ("another driver", card("uio_pci_generic"), 0, [("BAD ", "driver uio_pci_generic", "dpdk-devbind.py")]),
    ("ConnectX-3", card("mlx4_core", "0x1003"), 0,
     [("note", "ConnectX-3 (15b3:1003)", "net_mlx4"), ("note", "devices", "none", "that mlxpmd supports"), (NODEV,)]),
    ("another function of a card", {**card(None), f"{PCI}/class": "0x080100"}, 0, [("note", "no ConnectX")]),
    ("vfio", VFIO, OTHER_UID, [("good", "driver vfio-pci: devarg open=vfio"), ("good", "/dev/vfio/vfio can be opened"),
                            ("good", "/dev/vfio/7 can be opened"), ("good", "IOMMU", "1 groups"), (": ready",)]),
    ("vfio without a group", without(VFIO, f"{PCI}/iommu_group", "/sys/kernel"), 0,
     [("BAD ", "no IOMMU group", "dpdk-devbind.py -b mlx5_core"), ("note", "IOMMU", "not possible")]),
    ("no-IOMMU mode", {**without(VFIO, "/dev/vfio/7"), "/sys/kernel/iommu_groups/7/name": "vfio-noiommu",
                       "/dev/vfio/noiommu-7": mode(0o666),
                       "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode": "Y"}, 0,
     [("BAD ", "/dev/vfio/noiommu-7", "IOMMU of type 1", "dpdk-devbind.py -b mlx5_core"),
      ("note", "IOMMU", "no-IOMMU mode", "type 1")]),
    ("no-IOMMU mode is off", {"/sys/module/vfio/parameters/enable_unsafe_noiommu_mode": "N"}, 0,
     [("note", "IOMMU", "VFIO is not possible")]),
    ("vfio, no nodes", without(VFIO, "/dev"), 0,
     [("BAD ", "/dev/vfio/vfio cannot be opened", "modprobe vfio-pci"), ("BAD ", "/dev/vfio/7 cannot be opened")]),
    ("vfio, no permission", {**VFIO, "/dev/vfio/7": mode(0o600)}, OTHER_UID,
     [("good", "/dev/vfio/vfio"), ("BAD ", "/dev/vfio/7 cannot be opened: Permission denied", "chown")]),
    ("hugepages", HUGE, 0, [("good", "hugepages", "16 of 32 MiB are free")]),
    ("hugepages in use", {**HUGE, FREE: "0"}, 0, [("note", "hugepages", "all 32 MiB are in use")]),
    ("hugepages not mounted", without(HUGE, "/proc"), 0, [("note", "hugepages", "no hugetlbfs", "mount -t hugetlbfs")]),
    ("hugepages not permitted", HUGE, OTHER_UID,
     [("note", "hugepages", "/huge cannot be written: Permission denied")]),
    ("lockdown", {"/sys/kernel/security/lockdown": "none [integrity] confidentiality"}, 0,
     [("note", "lockdown", "[integrity]", "fwdump")]),
    ("no lockdown", {"/sys/kernel/security/lockdown": "[none] integrity confidentiality"}, 0, [("good", "lockdown")]),
    ("own namespace", {"/proc/1/ns/net": "", "/proc/self/ns/net": ""}, 0,
     [("note", "netns", "not that of process 1", "ip link")]),
    ("first namespace", {"/proc/1/ns/net": "", "/proc/self/ns": link("../1/ns"),
                         "/proc/self/net/dev": "Inter-| x\n face |bytes\n    lo: 1 2\n  eth0: 3 4"}, 0,
     [("good", "netns", "that of process 1", "1 interfaces")]),
    ("hidden namespace", {"/proc/self/net/dev": "    lo: 1\n  eth0:3\n  eth1:4"}, 0,
     [("good", "netns", "2 interfaces")]),
    ("TSC", {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc"}, 0,
     [("good", "host clock", "tsc")]),
    ("HPET", {"/sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, 0,
     [("note", "host clock", "hpet", "dmesg")]),
    ("may lock", MAY_LOCK, 0, [("good", "memlock", "CAP_IPC_LOCK")]),
    ("no CAP_NET_RAW", MAY_LOCK, 0, [("note", "privileges", "CAP_NET_RAW is missing", "setcap cap_net_raw+ep")]),
    ("CAP_NET_RAW", {"/proc/self/status": "CapEff:\t0000000000006000"}, 0,
     [("good", "privileges", "CAP_NET_RAW"), ("good", "memlock", "CAP_IPC_LOCK")]),
    ("64 KiB", {}, 64 << 10, [("BAD ", "memlock", "only 64 KiB", "ulimit -l unlimited")]),
    ("1 GiB", {}, 1 << 30, [("note", "memlock", "1024 MiB", "ulimit")]),
]


def build(root, files):
    for path, what in files.items():
        at = root / path[1:]
        at.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, str):
            at.write_text(what + "\n", encoding="ascii")
        elif what[0] == "link":
            at.symlink_to(what[1])
        else:
            at.touch()
            at.chmod(what[1])


def doctor(files, who):
    """who: a user id up to OTHER_UID; above it root with this memlock limit in bytes."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (who, who))) if who > OTHER_UID else None
    with tempfile.TemporaryDirectory(prefix="mlxdoctor.") as folder:
        os.chmod(folder, 0o755)
        build(pathlib.Path(folder), files if who > OTHER_UID else {**MAY_LOCK, **files})
        return subprocess.run([PROGRAM, folder, str(who if who <= OTHER_UID else 0)], timeout=60, text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)


def row(name, files, who, lines):
    done = doctor(files, who)
    if done.returncode == 77:
        print("SKIP: chroot is not permitted")
        sys.exit(77)
    printed = done.stdout.replace("\n                   -> ", " -> ").splitlines()
    for words in lines:
        check(any(all(word in line for word in words) and (words[0] not in ("good", "note", "BAD ") or
                                                           line.startswith(words[0])) for line in printed),
              f"{name}: no line with {words}\n{done.stdout}")
    check(done.returncode == any(line.startswith("BAD ") for line in printed), f"{name}: status {done.returncode}")
    for thing in ("DPDK", "rdma-core", "modules", "privileges", "memlock", "hugepages", "netns",
                  "IOMMU", "lockdown", "host clock"):
        check(sum(line[6:].startswith(thing) for line in printed) == 1,
              f"{name}: one line about {thing}\n{done.stdout}")


def rows(_work):
    most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    for name, files, who, lines in ROWS:
        # A limit above the hard limit of this process cannot be set.
        if who <= OTHER_UID or most == resource.RLIM_INFINITY or who <= most:
            row(name, files, who, lines)


if __name__ == "__main__":
    apptest.main(rows)
