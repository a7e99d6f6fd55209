# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's examples that report and configure ports: link state, ethtool, bonding, a flow.

Usage: ports.py link_status_interrupt|ethtool|bond|flow_filtering PROGRAM [MODE]...
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
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether

REGISTERS = 1000
LSC = r"In registered callback\.\.\.\nEvent type: LSC interrupt\nPort 0 Link {}"


def link_status_interrupt(program, mode):
    """Each change of the link is reported once."""
    with Example(program, ["-p", "3", "-q", "1", "-T", "0"], mode, up=False) as example:
        example.wait("entering main loop on lcore 0")
        example.wait("entering main loop on lcore 1")
        for n in range(1, 4):
            for state, move in (("down", example.cables[0].pull_out), ("up at 100 Gbps", example.cables[0].plug_in)):
                after = len(example.log())
                move()
                example.wait(LSC.format(state), after=after)
                count = len(re.findall(LSC.format(state), example.log()))
                check(count == n, f"link {state}: reported {count} times, occurred {n} times")
        sent = forwarding.frames_udp(0, ["192.0.2.1"], 32)
        example.cables[0].send(*sent)
        forwarding.exactly(forwarding.mac_of_l2fwd)([sent, []], [[], example.cables[1].receive(len(sent))])
        example.stop(status=130, audit=None)
    print(f"link_status_interrupt, {mode}: three times down and up, forwards afterwards")


class Shell:
    """An example that reads commands from stdin."""

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

    def run(self, command, pattern):
        """Run one command; returns the match of its output."""
        after = len(self.example.log())
        os.write(self.write, command.encode() + b"\n")
        return self.example.wait(pattern, after=after)


def ethtool(program, mode):
    with Shell(program, mode, "EthApp>") as shell, tempfile.TemporaryDirectory() as work:
        info = shell.run("drvinfo", r"Port 1 driver: net_mlxpmd \(ver: DPDK [^)]*\)\n"
                                    r"firmware-version: ([\d.]+)\nbus-info: 0000:c1:00.1")
        check(info.group(1) == "22.35.2000", info.group(0))
        shell.run("link", r"Port 0: Up\nPort 1: Up")
        shell.run("macaddr 0", "Port 0 MAC Address: 0C:42:A1:4E:D0:00")
        shell.run("macaddr 0 02:00:00:00:aa:01", "MAC address changed")
        shell.run("macaddr 0", "Port 0 MAC Address: 02:00:00:00:AA:01")
        shell.run("mtu 0 2000", "Port 0: MTU set to 2000")
        shell.run("ringparam 0", r"Rx Pending: 1024 \(16384 max\)")
        shell.run("ringparam 0 512 512", "EthApp>")
        shell.run("ringparam 0", r"Rx Pending: 512 ")
        shell.run("rxmode 0", "EthApp>")
        shell.run("vlan 0 add 5", "VLAN vid 5 added")
        shell.run("vlan 0 del 5", "VLAN vid 5 removed")
        shell.run("stop 0", "EthApp>")
        shell.run("open 0", "EthApp>")
        # rte_eth_dev_get_reg_info(): a dump of the card's registers.
        regs = pathlib.Path(work) / "regs"
        size = int(shell.run(f"regs 0 {regs}", r"Port 0: (\d+) bytes").group(1))
        shell.run("pause 0", "Rx pause: off\nTx pause: off")
        shell.run("pause 0 full autoneg off", "Rx pause: on\nTx pause: on")
        shell.run("pause 0", "Rx pause: on\nTx pause: on")
        shell.run("pause 0 none autoneg off", "Rx pause: off\nTx pause: off")
        check(regs.stat().st_size == size > 4 * REGISTERS and any(regs.read_bytes()), f"registers: {size} bytes")
        # Not supported by the driver: ethdev reports ENOTSUP.
        shell.run(f"eeprom 0 {work}/eeprom", "Port 0: Operation not supported")
        # The port still works, with its new address: the program sends back received frames.
        changed = bytes.fromhex("02000000aa01")
        frame = forwarding.frames_udp(0, ["192.0.2.1"], 1)[0]
        shell.example.cables[0].send(changed + frame[6:])
        back = shell.example.cables[0].receive(1)
        check(back == [frame[6:12] + changed + frame[12:]], f"{[f.hex() for f in back]} came back")
        shell.run("portstats 0", r"In: 1 \(60 bytes\)")
        os.write(shell.write, b"quit\n")
        shell.example.stop(None)
    print(f"ethtool, {mode}: all commands as expected")


def arp_from(example, wanted, failure):
    """The first matching ARP message from either port; other frames are ignored."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        for cable in example.cables:
            for frame in map(Ether, cable.quiet(0.05)):
                if ARP in frame and wanted(frame[ARP]):
                    return frame[ARP]
    raise e2e.Failed(f"{failure}\n{example.log()[-1000:]}")


def bond(program, mode):
    """Adaptive load balancing (mode 6) over both ports; the bond replies to ARP requests."""
    with Shell(program, mode, "Starting lcore_main") as shell:
        # "Active_slaves" in DPDK 22.11, "Active_members" from 23.11 on.
        shell.run("show", "s:2 packets received:")
        request = bytes(Ether(dst="ff:ff:ff:ff:ff:ff", src="02:00:00:00:00:01") /
                      ARP(op=1, hwsrc="02:00:00:00:00:01", psrc="7.0.0.9", pdst="7.0.0.10"))
        shell.example.cables[0].send(request)
        answer = arp_from(shell.example, lambda arp: arp.op == 2 and arp.psrc == "7.0.0.10", "no ARP reply")
        check(answer.hwsrc in [m.hex(":") for m in MAC], f"{answer}")
        os.write(shell.write, b"send 7.0.0.77\n")
        arp_from(shell.example, lambda arp: arp.op == 1 and arp.pdst == "7.0.0.77", "no ARP request")
        shell.run("show", r"packets received:Tot:[1-9]\d* Arp:[1-9]")
        # Not `quit`: DPDK then closes the ports while the alarm of the bond may still read them, and may crash.
        shell.example.stop(status=130, audit=None)
    print(f"bond, {mode}: sends ARP replies and requests over two ports")


def flow_filtering(program, mode):
    """Packets to 192.168.1.1 are received on queue 1, others on queue 0."""
    # From DPDK 24.11 on it uses flow templates by default, and creates the flow on flow queue 1 of one.
    option = "--non-template"
    given = [option] if option.encode() in pathlib.Path(program).read_bytes() else []
    with Example(program, given, mode, ports=1) as example:
        example.wait("initializing port: 0 done")
        for last, queue in ((1, 1), (2, 0), (1, 1)):
            after = len(example.log())
            frame = bytes(Ether(dst=MAC[0].hex(":"), src="02:00:00:00:00:01") /
                          IP(src="192.0.2.1", dst=f"192.168.1.{last}") / UDP(sport=1, dport=2))
            example.cables[0].send(frame.ljust(60, b"\0"))
            example.wait(f"src=02:00:00:00:00:01 - dst={MAC[0].hex(':').upper()} - queue=0x{queue}\n", after=after)
        example.stop(status=0)
    print(f"flow_filtering, {mode}: the flow selects its queue")


def run():
    name, program, *given = sys.argv[1:]
    look, short = {"link_status_interrupt": (link_status_interrupt, "vfio"), "ethtool": (ethtool, "verbs"),
                   "bond": (bond, "vfio"), "flow_filtering": (flow_filtering, "verbs")}[name]
    for mode in exlib.modes(given, short):
        begin = time.monotonic()
        look(program, mode)
        print(f"  {time.monotonic() - begin:.1f} s", flush=True)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
