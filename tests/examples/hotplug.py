# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's hotplug_mp as two processes: either attaches and detaches devices, and both have the same ports.

Usage: hotplug.py HOTPLUG_MP [MODE]...: needs hugepages, which it reserves
"""
import os
import pathlib
import subprocess

import exlib
from exlib import WAIT_S, Example, check, e2e

HUGE_MB = 384
PROMPT = "example> "


class Shell:
    """The prompt of a process: commands go to a pipe, the output to a file."""

    def __init__(self, pipe, log):
        self.pipe, self.log, self.seen = pipe, log, 0

    def output(self):
        """What was printed up to the next prompt."""
        def printed():
            text = self.log.read_text(errors="replace")[self.seen:]
            return text if PROMPT in text else None

        text = e2e.testlib.await_until(printed, WAIT_S)
        check(text, f"no prompt: {self.log.read_text(errors='replace')[self.seen:]}")
        self.seen += text.rindex(PROMPT) + len(PROMPT)
        return text

    def cmd(self, line):
        os.write(self.pipe, f"{line}\n".encode())
        return self.output()


def ports(shell):
    """{port: address} of `list`."""
    lines = [line.split("\t") for line in shell.cmd("list").splitlines() if "\t" in line]
    return {int(port): address for port, address in lines}


def moves(first, second, devargs):
    """Devices come and go, by one process and the other; port numbers are used again."""
    addresses = e2e.PCI[:2]
    there = dict(enumerate(addresses))
    for shell, verb, n in ((second, "detach", 0), (second, "attach", 0), (first, "detach", 0), (first, "detach", 1),
                           (second, "attach", 1), (first, "attach", 0), (second, "detach", 1), (second, "detach", 0),
                           (first, "attach", 0), (first, "attach", 1)):
        address = addresses[n]
        text = shell.cmd(f"{verb} {address}{devargs if verb == 'attach' else ''}")
        check(f"{verb}ed device {address}" in text and "EAL: " not in text.replace("EAL: Probe", ""), text)
        there = {k: v for k, v in there.items() if v != address}
        if verb == "attach":
            there[min({0, 1} - there.keys())] = address
        for name, other in (("primary", first), ("secondary", second)):
            found = ports(other)
            check(found == there, f"{verb} {address}: the {name} process has {found}, not {there}")
    return 10


def both(program, mode):
    read, write = os.pipe()
    with Example(program, None, mode, lcores="0", memory_mb=HUGE_MB - 64, shared=True, stdin=read) as example:
        os.close(read)
        first = Shell(write, example.log_path)
        first.output()
        command = example.again(["--proc-type=secondary"], [])
        command[command.index("-l") + 1] = "1"
        log = pathlib.Path(example.work.name) / "second"
        with open(log, "wb") as out, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, env=example.env,
                                                      stderr=subprocess.STDOUT) as process:
            try:
                second = Shell(process.stdin.fileno(), log)
                second.output()
                n = moves(first, second, ",open=vfio" if mode == "vfio" else "")
                process.stdin.write(b"quit\n")
                process.stdin.flush()
                check(process.wait(WAIT_S) == 0, f"the second process: {process.returncode}")
            finally:
                e2e.end(process)
        os.write(write, b"quit\n")
        example.stop(by=None)
        os.close(write)
    print(f"hotplug_mp, {mode}: {n} times a device attached or detached, the same ports in both processes")


exlib.main_of_two(both, HUGE_MB)
