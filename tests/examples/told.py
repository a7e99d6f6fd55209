# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's examples that tell of ports: links that come and go, what ethtool's port asks, a bond of two.

Usage: told.py link_status_interrupt|ethtool|bond PROGRAM [MODE]...
"""
import os
import pathlib
import re
import sys
import tempfile
import time

import exlib
import forwarding
from exlib import MAC, WAIT_S, Example, check, e2e
from scapy.layers.l2 import ARP, Ether

REGISTERS = 1000
LSC = r"In registered callback\.\.\.\nEvent type: LSC interrupt\nPort 0 Link {}"


def link_status_interrupt(program, mode):
    """Each time that the cable is pulled or plugged in is told once."""
    with Example(program, ["-p", "3", "-q", "1", "-T", "0"], mode, up=False) as example:
        example.wait("entering main loop on lcore 0")
        example.wait("entering main loop on lcore 1")
        for n in range(1, 4):
            for state, move in (("down", example.cables[0].pull_out), ("up at 100 Gbps", example.cables[0].plug_in)):
                after = len(example.log())
                move()
                example.wait(LSC.format(state), after=after)
                told = len(re.findall(LSC.format(state), example.log()))
                check(told == n, f"link {state}: told {told} times, was {n} times")
        sent = forwarding.frames_udp(0, ["192.0.2.1"], 32)
        example.cables[0].send(*sent)
        forwarding.exactly(forwarding.mac_of_l2fwd)([sent, []], [[], example.cables[1].receive(len(sent))])
        example.stop(status=130, audit=None)
    print(f"link_status_interrupt, {mode}: three times down and up, forwards afterwards")


class Shell:
    """An example that takes commands."""

    def __init__(self, program, mode, prompt):
        self.read, self.write = os.pipe()
        self.prompt = prompt
        self.example = Example(program, None, mode, stdin=self.read)

    def __enter__(self):
        self.example.__enter__()
        os.close(self.read)
        self.example.wait(self.prompt)
        return self

    def __exit__(self, *what):
        os.close(self.write)
        self.example.__exit__(*what)

    def ask(self, command, pattern):
        """One command; the match of what it must print."""
        after = len(self.example.log())
        os.write(self.write, command.encode() + b"\n")
        return self.example.wait(pattern, after=after)


def ethtool(program, mode):
    with Shell(program, mode, "EthApp>") as shell, tempfile.TemporaryDirectory() as work:
        said = shell.ask("drvinfo", r"Port 1 driver: net_mlxpmd \(ver: DPDK [^)]*\)\n"
                                    r"firmware-version: ([\d.]+)\nbus-info: 0000:c1:00.1")
        check(said.group(1) == "22.35.2000", said.group(0))
        shell.ask("link", r"Port 0: Up\nPort 1: Up")
        shell.ask("macaddr 0", "Port 0 MAC Address: 0C:42:A1:4E:D0:00")
        shell.ask("macaddr 0 02:00:00:00:aa:01", "MAC address changed")
        shell.ask("macaddr 0", "Port 0 MAC Address: 02:00:00:00:AA:01")
        shell.ask("mtu 0 2000", "Port 0: MTU set to 2000")
        shell.ask("ringparam 0", r"Rx Pending: 1024 \(16384 max\)")
        shell.ask("ringparam 0 512 512", "EthApp>")
        shell.ask("ringparam 0", r"Rx Pending: 512 ")
        shell.ask("rxmode 0", "EthApp>")
        shell.ask("vlan 0 add 5", "VLAN vid 5 added")
        shell.ask("vlan 0 del 5", "VLAN vid 5 removed")
        shell.ask("stop 0", "EthApp>")
        shell.ask("open 0", "EthApp>")
        # What rte_eth_dev_get_reg_info() gives: the dump of the card's registers.
        regs = pathlib.Path(work) / "regs"
        size = int(shell.ask(f"regs 0 {regs}", r"Port 0: (\d+) bytes").group(1))
        # Not there, and said so by ethdev's own words.
        shell.ask("pause 0", "Port 0: Operation not supported")
        check(regs.stat().st_size == size > 4 * REGISTERS and any(regs.read_bytes()), f"registers: {size} bytes")
        shell.ask(f"eeprom 0 {work}/eeprom", "Port 0: Operation not supported")
        # The port works on with its new address: the program sends back what it gets.
        changed = bytes.fromhex("02000000aa01")
        frame = forwarding.frames_udp(0, ["192.0.2.1"], 1)[0]
        shell.example.cables[0].send(changed + frame[6:])
        back = shell.example.cables[0].receive(1)
        check(back == [frame[6:12] + changed + frame[12:]], f"{[f.hex() for f in back]} came back")
        shell.ask("portstats 0", r"In: 1 \(60 bytes\)")
        os.write(shell.write, b"quit\n")
        shell.example.stop(None)
    print(f"ethtool, {mode}: as ethtool's port would have it")


def arp_from(example, wanted, failure):
    """The first such ARP message that comes out of either port; whatever else comes is skipped."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        for cable in example.cables:
            for frame in map(Ether, cable.quiet(0.05)):
                if ARP in frame and wanted(frame[ARP]):
                    return frame[ARP]
    raise e2e.Failed(f"{failure}\n{example.log()[-1000:]}")


def bond(program, mode):
    """Adaptive load balancing (mode 6) over both ports; answers who asks for its address."""
    with Shell(program, mode, "Starting lcore_main") as shell:
        shell.ask("show", "Active_slaves:2 ")
        asked = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01") /
                      ARP(op=1, hwsrc="02:00:00:00:00:01", psrc="7.0.0.9", pdst="7.0.0.10"))
        shell.example.cables[0].send(asked)
        answer = arp_from(shell.example, lambda arp: arp.op == 2 and arp.psrc == "7.0.0.10", "nobody answers")
        check(answer.hwsrc in [m.hex(":") for m in MAC], f"{answer}")
        os.write(shell.write, b"send 7.0.0.77\n")
        arp_from(shell.example, lambda arp: arp.op == 1 and arp.pdst == "7.0.0.77", "nobody is asked")
        shell.ask("show", r"packets received:Tot:[1-9]\d* Arp:[1-9]")
        # At `quit` DPDK closes the ports under its bond, whose alarm may still look at them: a crash of theirs.
        shell.example.stop(status=130, audit=None)
    print(f"bond, {mode}: answers and asks over two ports")


def run():
    name, program, *asked = sys.argv[1:]
    look, short = {"link_status_interrupt": (link_status_interrupt, "vfio"), "ethtool": (ethtool, "verbs"),
                   "bond": (bond, "vfio")}[name]
    for mode in exlib.modes(asked, short):
        begin = time.monotonic()
        look(program, mode)
        print(f"  {time.monotonic() - begin:.1f} s", flush=True)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
