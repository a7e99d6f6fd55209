# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Hotplug with testpmd: close a port, detach its device or not, attach it again; the port forwards afterwards.

Usage: hotplug.py verbs|vfio
"""
import os
import sys

import pmdlib
from e2e import check, main

ROUNDS = 2 if os.environ.get("MLXPMD_SHORT") else 4
PACKETS = 2000
SECONDS_MAX = 120
ADDRESS = "0000:c1:00.0"


def run():
    mode = sys.argv[1]
    devargs = "open=vfio" if mode == "vfio" else ""
    again = ",".join(word for word in (ADDRESS, devargs) if word)
    with pmdlib.Testpmd(wires=["pair:lossless"], eal_args=pmdlib.eal(devargs),
                        emu_args=["--seed", "0", *(["--open", "vfio"] if mode == "vfio" else [])]) as testpmd:
        pmdlib.circulate(testpmd, 1, PACKETS, SECONDS_MAX)
        for n in range(ROUNDS):
            testpmd.cmd("port stop all")
            testpmd.cmd("port close 0")
            # Without detaching the device remains probed, and is probed again.
            if n % 2 == 0:
                output = testpmd.cmd(f"device detach {ADDRESS}")
                check("Now total ports is 1" in output, output)
            output = testpmd.cmd(f"port attach {again}")
            check("Port 0 is attached. Now total ports is 2" in output, output)
            output = testpmd.cmd(f"port attach {again}")
            check("is attached" not in output, f"attached twice: {output}")
            output = testpmd.cmd("port start all")
            check("0C:42:A1:4E:D0:00" in output and "0C:42:A1:4E:D0:01" in output, output)
            testpmd.cmd("clear port stats all")
            testpmd.cmd("set fwd io")
            pmdlib.circulate(testpmd, 1, PACKETS, SECONDS_MAX)
            print(f"{mode}, round {n}: attached again, {testpmd.stats(0)['RX-packets']} packets received", flush=True)
        report = testpmd.quit()
    check(report.get("audit") == "clean", report.text)


main(run)
