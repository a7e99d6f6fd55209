# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""ConnectX-3: the probe refuses it with one line that names net_mlx4, and `devx caps` prints its capabilities."""
import pathlib
import re
import tempfile

import pmdlib
from e2e import PLUGIN, TEST_MLX, check, emu, main

LINE = ("0000:c1:00.0: ConnectX-3 (15b3:1003) is an mlx4 device: net_mlx4 serves it (-d librte_net_mlx4.so), "
        "mlxpmd does not")
EAL = ["-l", "0", "--no-huge", "--no-shconf", "-m", "256", "-d", str(PLUGIN), "--file-prefix",
       pmdlib.PREFIX]
CAPS_WORDS = ["mlx4_0", "mlx4", "ConnectX-3", "net_mlx4", "2.42.5000", "max_inl_recv_sz", "512 (0x200)"]


def start(*args, profile="cx3"):
    return emu([TEST_MLX, *EAL, *args], ports=1, extra=["--profile", profile])


def ours(result):
    return re.findall(r"^mlxpmd: (.*?)\r?$", result.out, re.M)


def check_refused():
    result = start("-a", "0000:c1:00.0", "--")
    check(ours(result) == [LINE], result.out)
    check(result.status == 2 and "has no Ethernet port" in result.out, result.out)
    check("\naudit: clean" in result.out, result.out[-2000:])


def check_caps():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-mlx4.") as work:
        script = pathlib.Path(work) / "script"
        script.write_text("devx caps 0000:c1:00.0\ndevx caps 0000:c7:00.0\n")
        # -b: no driver probes the device; `devx caps` does not need one.
        result = start("-b", "0000:c1:00.0", "--vdev", "net_ring0", "--", "--cmds", script)
        mlx5 = start("--vdev", "net_ring0", "--", "--cmds", script, profile="cx7")
    parts = result.out.split("test-mlx> ")
    check(len(parts) == 3, result.out)
    for word in CAPS_WORDS:
        check(word in parts[1], f"no '{word}' in\n{parts[1]}")
    check("no RDMA device there" in parts[2] and result.status == 1, parts[2])
    check("\naudit: clean" in result.out, result.out[-2000:])
    check("no mlx4 device" in mlx5.out and "mlx4_" not in mlx5.out, mlx5.out[-3000:])


def check_pci_ids():
    """The plugin's PCI ID table has no mlx4 device."""
    text = PLUGIN.read_bytes()
    table = re.search(rb"PMD_INFO_STRING= (.*?)\0", text).group(1).decode()
    check("4117" in table and "4099" not in table and "4103" not in table, table)


def run():
    check_refused()
    check_caps()
    check_pci_ids()


main(run)
