# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Bugs of DPDK's own mlx5 PMD that its maintainers fixed: present in the releases before, absent in those after.

Each case observes the behaviour and compares it with what the installed release has to show. A case fails if a
release with the commit still shows the bug, and also if a release without it does not: then the emulator hides it.
"""
import os
import pathlib
import re
import subprocess
import tempfile

import e2e
import stocklib
from conform import Case
from e2e import check, testlib
from scapy.all import IP, TCP, UDP, Ether, IPv6

MAINLINE = "main"


def dpdk_version():
    """The installed DPDK, as (series, patch): ("24.11", 4)."""
    year, month, patch = testlib.dpdk_version()
    return f"{year}.{month:02}", patch


def has_fix(fixed):
    """Whether the installed release has a commit; fixed: first release of each series, MAINLINE: first of all."""
    series, patch = dpdk_version()
    if [int(n) for n in series.split(".")] >= [int(n) for n in fixed[MAINLINE].split(".")]:
        return True
    return series in fixed and patch >= fixed[series]


def right(setup, fixed):
    """Whether the PMD has to be right: mlxpmd, or that of a release with the commit."""
    return setup.own or has_fix(fixed)


def stacks():
    """64 frames, 16 of a kind: completions of one kind after the other share a session."""
    four, six = IP(src="10.0.0.1", dst="10.0.0.2"), IPv6(src="fc00::1", dst="fc00::2")
    kinds = [four / UDP(sport=1, dport=2), four / TCP(sport=1, dport=2), six / UDP(sport=1, dport=2),
             six / TCP(sport=1, dport=2)]
    return [bytes(Ether(dst=stocklib.MAC[0], src="02:00:00:00:00:01") / kind / bytes(20))
            for kind in kinds for _ in range(16)]


def packet_types(setup, form, vector):
    """Packet types that testpmd prints for stacks(), and how many CQEs the device wrote."""
    frames = stacks()
    burst = f"rx_burst={('scalar', 'auto')[vector]}" if setup.own else f"rx_vec_en={vector}"
    with stocklib.Replay(frames, len(frames)) as replay:
        with stocklib.testpmd(setup, f"rxq_cqe_comp_en={form},{burst}",
                              ["--forward-mode=rxonly", "--no-flush-rx"], wires=replay.wires) as t:
            if not setup.own:
                stocklib.took_device(t)
            t.cmd("set verbose 1")
            text = t.watch("start", lambda text: text.count(stocklib.VERBOSE) >= len(frames))
            t.watch("stop", lambda text: "Done." in text)
            report = t.quit()
    return re.findall(r"hw ptype: (.*?)\s+- sw ptype", text), report.port(0, "cqes")


def compressed_types(setup):
    """5654f38eba: the scalar receive function read the header byte of a mini CQE from the byte beside it."""
    fixed = {"23.11": 7, "24.11": 5, "25.11": 1, MAINLINE: "26.03"}
    want, _ = packet_types(setup, 0, 0)
    check(len(want) == 64 and len(set(want)) == 4, f"without compression: {want}")
    for form in stocklib.mini_cqe_formats():
        for vector in (0, 1):
            found, cqes = packet_types(setup, form, vector)
            check(cqes < 64, f"format {form}: {cqes} CQEs for 64 packets")
            bug = form == 4 and vector == 0 and not right(setup, fixed)
            check((found == want) != bug, f"format {form}, rx_vec_en={vector}: {found}, without compression {want}")
    return 9 * 64

# op_own of a completion that the device has not written (opcode 0xf).
INVALID = 0xf


class Monitor:
    """monitor.py, which queries the receive queue of port 0: `with Monitor(setup) as m`."""

    def __init__(self, setup):
        self.work = tempfile.TemporaryDirectory(prefix="mlxpmd-conform.")
        program = pathlib.Path(__file__).with_name("monitor.py")
        self.env = {**os.environ, "TMPDIR": self.work.name}
        self.process = subprocess.Popen(
            [str(e2e.MLXEMU), "run", "--ports", "2", *setup.emu_args, "--", "/usr/bin/python3", str(program),
             *stocklib.eal("rxq_cqe_comp_en=0,rx_vec_en=0")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=stocklib.SECONDS_MAX)
        e2e.end(self.process)
        self.work.cleanup()

    def answer(self):
        """(opcode of the next completion, whether a core would sleep)."""
        for line in self.process.stdout:
            if line.startswith("monitor: "):
                value, sleeps = (int(word) for word in line.split()[1:])
                return value >> 4, bool(sleeps)
        raise e2e.Failed("monitor.py ended")

    def again(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.answer()

    def inject(self):
        subprocess.run([str(e2e.MLXEMU), "ctl", "inject", "port=0", "frames=1", "len=60"], env=self.env, check=True,
                       stdout=subprocess.DEVNULL, timeout=60)


def power_monitor(setup):
    """750f635fc6: the owner bit of an invalid completion was trusted, so no core slept after a restart."""
    fixed = {"23.11": 6, "24.11": 4, MAINLINE: "25.11"}
    with Monitor(setup) as m:
        opcode, sleeps = m.answer()
        check(opcode == INVALID, f"opcode {opcode:#x} in an empty queue")
        check(sleeps == right(setup, fixed), f"empty queue: {'sleeps' if sleeps else 'does not sleep'}")
        m.inject()
        testlib.await_until(lambda: m.again()[0] != INVALID, 10)
        opcode, sleeps = m.again()
        check(opcode != INVALID and not sleeps, f"opcode {opcode:#x} after a packet, sleeps: {sleeps}")
    return 1


REFUSED = 0x2b1de


def names_syndrome(text):
    return re.search(f"syndrome[= ]{REFUSED:#x}", text) is not None


def refused_start(setup, command):
    """What the PMD logs when the firmware refuses this command at the start of a port."""
    rule = f"on cmd.entry match op={command} do fail status=0x4 syndrome={REFUSED:#x}"
    with stocklib.testpmd(setup, args=["--disable-device-start"], wires=()) as t:
        t.ctl("fault.add", f"rule={rule}")
        text = t.watch("port start 0", lambda text: "testpmd> " in text)
        t.end()
    return text


def refused_modify(setup):
    """1855b0c11b: of a refused MODIFY_RQ or MODIFY_SQ status and syndrome were not logged."""
    fixed = {"23.11": 7, "24.11": 5, "25.11": 1, MAINLINE: "26.03"}
    check(names_syndrome(refused_start(setup, "CREATE_RQ")), "CREATE_RQ: no syndrome")
    for command in ("MODIFY_RQ", "MODIFY_SQ"):
        text = refused_start(setup, command)
        check(names_syndrome(text) == right(setup, fixed), f"{command}: {text}")
    return 0


# The pools of rules of a port (MLX5_FLOW_TYPE_MAXI of mlx5_flow.h).
FLOW_POOLS = 3


def heap_blocks(t):
    """How many blocks of EAL's heap are allocated."""
    text = t.cmd("dump_socket_mem")
    if "count alloc" not in text:
        text = t.cmd("dump socket_mem")  # from DPDK 25.07
    return int(re.search(r"^Total .*count alloc:\s*(\d+)", text, re.M).group(1))


def failed_probe(setup):
    """093b145b3a: a probe that failed after the pools of rules were made left all of them allocated."""
    fixed = {"23.11": 7, "24.11": 5, "25.11": 1, MAINLINE: "26.03"}
    times = 4
    # Late in a probe: the drop queue of the stock PMD; what mlxpmd sends last.
    command = "ALLOC_TRANSPORT_DOMAIN" if setup.own else "CREATE_RQ"
    with stocklib.testpmd(setup) as t:
        # A device of mlxpmd is probed once more only after it was removed from its bus.
        for line in ("port stop 0", "device detach 0000:c1:00.0" if setup.own else "port close 0"):
            t.cmd(line)
        t.ctl("fault.add", f"rule=on cmd.entry match op={command} do fail status=0x4 syndrome={REFUSED:#x}")
        blocks = []
        for _ in range(times + 1):
            text = t.watch("port attach 0000:c1:00.0", lambda text: "testpmd> " in text)
            check(names_syndrome(text) and "is attached" not in text, f"the probe did not fail: {text}")
            blocks.append(heap_blocks(t))
        t.end()
    left = [after - before for before, after in zip(blocks, blocks[1:])]
    check(all((n < FLOW_POOLS) == right(setup, fixed) for n in left), f"blocks that each failed probe left: {left}")
    return 0


def link_of_removed(setup):
    """85182f9006: when the kernel refused the query (ENODEV: removed), the last link state remained."""
    fixed = {"23.11": 7, "24.11": 5, "25.11": 1, MAINLINE: "26.03"}
    with stocklib.testpmd(setup, args=["--no-lsc-interrupt", "--no-rmv-interrupt"]) as t:
        def up():
            return "Link status: up" in t.cmd("show port info 0")
        check(up(), "down before")
        t.ctl("remove", "port=0")
        text = t.watch("show port info 0", lambda text: "Link status" in text)
        found = re.search(r"Link status: (\w+)", text)
        check(found is not None, text)
        check((found.group(1) == "down") == right(setup, fixed), f"of a removed device: {text}")
    return 0


def own_address(setup):
    """9dd445bddd: 24.11.4 took its correction 8c06434cd9 without it, and a PF made no rule for its own address."""
    series, patch = dpdk_version()
    bug = series == "24.11" and patch >= 4 and not setup.own
    frames = [bytes(Ether(dst=stocklib.MAC[0], src="02:00:00:00:00:01") / IP() / UDP() / bytes(20))] * 32
    with stocklib.Replay(frames, len(frames)) as replay:
        with stocklib.testpmd(setup, args=["--forward-mode=rxonly", "--no-flush-rx"],
                              wires=["0=pcap:,/dev/null", "1=loop"]) as t:
            def received():
                before = stocklib.rx_packets(t)
                t.ctl("inject", "port=0", f"file={replay.inp}", f"frames={len(frames)}")
                return stocklib.settle(lambda: stocklib.rx_packets(t) - before, len(frames), 20, 3.0)

            t.cmd("start")
            every = received()
            t.cmd("set promisc all off")
            own = received()
            t.watch("stop", lambda text: "Done." in text)
            t.quit()
    check(every == len(frames), f"{every} of {len(frames)} packets in promiscuous mode")
    expected = 0 if bug else len(frames)
    check(own == expected, f"{own} of {len(frames)} packets to the port's own address, {expected} expected")
    return every + own


CASES = [
    Case("bug-comp-types", "packet types of compressed completions (5654f38eba)", compressed_types,
         "on cqe.write do set field=l4_hdr_type value=0", own=True),
    Case("bug-monitor", "power monitoring of an empty queue (750f635fc6)", power_monitor, "on cqe.write do drop"),
    Case("bug-modify-log", "syndrome of a refused modification of a queue (1855b0c11b)", refused_modify,
         "on cmd.exit do set field=syndrome value=0", own=True),
    Case("bug-probe-leak", "memory after a failed probe (093b145b3a)", failed_probe,
         "on cmd.exit do set field=syndrome value=0", own=True),
    Case("bug-link", "link of a device that was removed (85182f9006)", link_of_removed,
         "on open do link state=down port=0", own=True),
    Case("bug-own-mac", "reception to the own address (9dd445bddd)", own_address, "on wire.rx do drop", own=True),
]
