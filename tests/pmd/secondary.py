# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Secondary processes, unmodified programs of DPDK, next to a primary dpdk-testpmd on two emulated ports.

Usage: secondary.py [--mode verbs|vfio] [--kills N] [CASE]...: needs hugepages, which it reserves
"""
import argparse
import collections
import errno
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pmdlib
from pmdlib import check, e2e
from scapy.utils import RawPcapNgReader

HUGE_MB = 512
# How far dpdk-dumpcap's conversion of the TSC and the time of the wire may differ: it reads two clocks one after the
# other when it begins, between which a busy machine can run other programs.
CLOCKS_NS = 200_000_000
WAIT_S = 60 * e2e.PATIENCE
# Mempools by whose handler no process waits for another one. With that of rings a process that is killed inside it
# stops all that use the mempool.
LOCK_FREE = ("--mbuf-pool-ops-name=lf_stack",)


def eal(mode, lcore, *more, devargs=()):
    """EAL's arguments of a process: those of all have the same devices and files."""
    devargs = ",".join([*(["open=vfio"] if mode == "vfio" else []), *devargs])
    words = [w for w in e2e.eal(2, devargs, HUGE_MB - 128, str(lcore))
             if w not in ("--no-huge", "--no-shconf")]
    # dpdk-proc-info and dpdk-pdump give lcore and type of the process themselves.
    return [*(words if lcore is not None else words[2:]), "--file-prefix", pmdlib.PREFIX, *more]


def children(pid):
    """Process ids of the children of a process."""
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Primary(pmdlib.Testpmd):
    """testpmd as primary process; its queues are those of --num-procs processes."""

    def __init__(self, mode, *args, wires=(), emu=(), devargs=(), more=()):
        self.mode = mode
        open_as = ("--open", "vfio") if mode == "vfio" else ()
        # No warnings behind the prompt, as of a clock that a busy machine refreshes late.
        quiet = ("--log-level", "pmd.net.mlxpmd:error")
        super().__init__(args, wires, eal(mode, "0,1", *quiet, *more, devargs=devargs), ("--seed", "0", *open_as, *emu),
                         mbufs=16384)

    def pid(self):
        """Of testpmd, the child of the launcher."""
        return children(self.process.pid)[0]

    def joined(self, program, args, lcore=None):
        """The command of a secondary process."""
        kind = ["--proc-type=secondary"] if lcore is not None else []
        return [str(e2e.MLXEMU), "run", "--join", str(self.pid()), "--", program,
                *eal(self.mode, lcore, *kind), "--", *args]

    def secondary(self, program, args, **how):
        """Runs one to its end; its output."""
        done = subprocess.run(self.joined(program, args, **how), env=self.env, timeout=WAIT_S, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode(errors="replace")
        check(done.returncode == 0, f"{program} {' '.join(args)}: exit status {done.returncode}\n{text}")
        return text


def traffic(primary, packets=3000):
    """Sends a number of packets from port to port, then nothing moves."""
    pmdlib.circulate(primary, 1, packets, WAIT_S)


def proc_info(mode, _args):
    """dpdk-proc-info: statistics and information are those that the primary process prints."""
    with Primary(mode, "--txq=2", "--rxq=2") as primary:
        traffic(primary)
        text = primary.secondary("dpdk-proc-info", ["-p", "3", "--stats"])
        found = [int(v) for v in re.findall(r"^  RX-packets:\s*(\d+)", text, re.M)]
        want = [primary.stats(p)["RX-packets"] for p in (0, 1)]
        check(found == want and min(want) > 0, f"proc-info: {found}, testpmd: {want}\n{text}")
        theirs = primary.xstats(0)
        text = primary.secondary("dpdk-proc-info", ["-p", "1", "--xstats"])
        for name in ("rx_good_packets", "tx_good_bytes", "rx_q1_packets", "tx_doorbells", "rx_unicast_packets"):
            value = re.search(rf"^{name}: (\d+)$", text, re.M)
            check(value and int(value[1]) == theirs[name], f"{name}: {value and value[1]}, testpmd: {theirs[name]}")
        text = primary.secondary("dpdk-proc-info", ["--show-port"])
        for word in ("driver net_mlxpmd", "Link up at 100 Gbps", "-- 1 descriptors 0/512", "key len : 40"):
            check(text.count(word) >= 2, f"{word}:\n{text}")
        mode_of = re.search(r"Burst mode: (.*)", primary.cmd("show rxq info 0 0"))[1]
        check(f"burst mode : {mode_of}" in text, f"the primary has {mode_of}\n{text}")
        text = primary.secondary("dpdk-proc-info", ["-p", "3", "--show-port-private"])
        for p in (0, 1):
            found = re.search(rf"^port {p}: {e2e.PCI[p]}, .*? function$.*?^tx1: ready, .*?$", text, re.M | re.S)
            check(found, f"no port {p}:\n{text}")
            received = [int(v) for v in re.findall(r"^rx\d: ready, .* packets (\d+)", found[0], re.M)]
            check(len(received) == 2 and sum(received) == want[p], f"{received}, testpmd: {want[p]}\n{text}")
        primary.quit()


class Secondary(pmdlib.Testpmd):
    """testpmd as secondary process of another one, on queues of its own."""

    def __init__(self, primary, *args, lcores="2@0,3@1"):  # pylint: disable=super-init-not-called
        self.work, self.report_path = tempfile.TemporaryDirectory(prefix="mlxpmd-pmd."), None
        self._start(primary.joined("dpdk-testpmd", ["-i", "--no-mlockall", *args], lcore=lcores), primary.env)

    def pid(self):
        return children(self.process.pid)[0]

    def leave(self):
        """End it; its exit status is 0."""
        os.write(self.fd, b"quit\n")
        while self._read(time.monotonic() + WAIT_S) is not None:
            pass
        status = self.process.wait(timeout=WAIT_S)
        check(status == 0, f"secondary: exit status {status}\n{self.log[-2000:]}")


PROCS = ("--num-procs=2", "--rxq=2", "--txq=2", "--total-num-mbufs=16384")


def xstats_of(testpmd, names):
    """Values of "PORT NAME"; what arrives at port 0 is sent by port 1."""
    found = [dict(re.findall(r"^(\w+): (\d+)$", testpmd.cmd(f"show port xstats {port}"), re.M)) for port in (0, 1)]
    return [int(found[int(port)][key]) for port, key in (name.split() for name in names)]


def forwarding(mode, _args):
    """testpmd as secondary forwards on queues that the primary does not use; both print the same statistics."""
    mine, others = ["1 tx_q1_packets", "0 rx_q1_packets"], ["1 tx_q0_packets", "0 rx_q0_packets"]
    with Primary(mode, *PROCS, "--proc-id=0") as primary:
        with Secondary(primary, *PROCS, "--proc-id=1") as secondary:
            both_forward(primary, secondary)
            for testpmd in (primary, secondary):
                check("Done." in testpmd.cmd("stop"), testpmd.log[-1000:])
            moved = xstats_of(primary, [*mine, *others])
            check(moved == xstats_of(secondary, [*mine, *others]), f"the secondary's statistics are not {moved}")
            refusals(secondary)
            flows(primary, secondary)
            secondary.leave()
        print("queue 1 of the secondary sent and received", moved[:2], "queue 0 of the primary", moved[2:])
        primary.quit()


def striding(mode, _args):
    """Striding queues: the primary process attaches long packets, and a secondary one copies them."""
    with Primary(mode, *PROCS, "--proc-id=0", devargs=("mprq_en=1", "rxqs_min_mprq=1"), more=LOCK_FREE) as primary:
        mode_of = re.search(r"Burst mode: (.*)", primary.cmd("show rxq info 0 1"))[1]
        check("triding" in mode_of, f"the queues are not striding ones: {mode_of}")
        with Secondary(primary, *PROCS, "--proc-id=1") as secondary:
            for length in (64, 128, 129, 1514):
                both_forward(primary, secondary, f"len={length}")
            os.kill(secondary.pid(), signal.SIGKILL)
            secondary.process.wait(timeout=WAIT_S)
        # Another one takes over the queues as they were left.
        with Secondary(primary, *PROCS, "--proc-id=1") as secondary:
            both_forward(primary, secondary, "len=1514")
            for testpmd in (primary, secondary):
                check("Done." in testpmd.cmd("stop"), testpmd.log[-1000:])
            secondary.leave()
        primary.quit()


def both_forward(primary, secondary=None, *frames):
    """Frames of several flows, for both queues, circulate between the ports."""
    for testpmd in filter(None, (primary, secondary)):
        testpmd.cmd("start")
    names = ["0 rx_q0_packets", *(["0 rx_q1_packets"] if secondary else [])]
    before = xstats_of(primary, names)

    def all_forward():
        # Those that a secondary process received before it could send again are lost.
        primary.ctl("inject", "port=0", "frames=64", "flows=64", *frames)
        e2e.testlib.pass_time(0.1, "they circulate")
        return all(now > then + 10000 for now, then in zip(xstats_of(primary, names), before))

    moved = e2e.testlib.await_until(all_forward, WAIT_S)
    check(moved, f"not all forward: {before}, {xstats_of(primary, names)}")


def refusals(secondary):
    """What a secondary process may not do is refused, and changes nothing."""
    before = secondary.cmd("show port info 0")
    for command, answer in (("set promisc 0 off", "not supported|95|failed"),
                            ("set allmulti 0 on", "not supported|95|failed"),
                            ("flow create 0 ingress pattern eth / end actions drop / end", "the primary process"),
                            ("port config mtu 0 1400", "95|not supp")):
        text = secondary.cmd(command)
        check(re.search(answer, text, re.I), f"{command}: {text}")
    check(secondary.cmd("show port info 0") == before, "a refused command has changed the port")


def flows(primary, secondary):
    """A dump is that of the primary process."""
    primary.cmd("flow create 0 ingress pattern eth / ipv4 src is 10.1.2.3 / end actions queue index 1 / end")
    dumps = [dumped(testpmd) for testpmd in (primary, secondary)]
    check(len(dumps[0]) == 1 and dumps[0] == dumps[1], f"flows: {dumps}")


def mempools(mode, args):
    """A secondary process sends packets of mempools that it creates: the primary process has registered them."""
    with Primary(mode, *PROCS, "--proc-id=0") as primary:
        primary.cmd("set fwd rxonly")
        text = primary.secondary(args.program, [], lcore="2@0")
        check("mlxpmd: " not in text, text)
        # Broadcast frames: the RSS table sends them to queue 0 of port 1.
        primary.cmd("start")
        arrived = e2e.testlib.await_until(lambda: primary.stats(1)["RX-packets"] >= 256, WAIT_S)
        check(arrived and primary.stats(0)["TX-errors"] == 0, f"{primary.stats(0)}, {primary.stats(1)}")
        primary.cmd("stop")
        primary.quit()


class Caller:
    """test_secondary as a secondary process that calls functions of rte_flow."""

    def __init__(self, primary, program):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(primary.joined(program, ["flows"], lcore="2@0"), env=primary.env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        check(line == "attached\n", f"test_secondary: {line}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        e2e.end(self.process)

    def line(self, function, address="0x0"):
        """Calls one; the line that it answers."""
        self.process.stdin.write(f"{function} {address}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def fails(self, function, address, rc, message):
        """It fails with the errno and a message that contains this text."""
        line = self.line(function, address)
        check(line.startswith(f"{-rc} ") and message in line, f"{function} {address}: '{line}', not {rc}: {message}")

    def finish(self):
        """Its exit status is 0."""
        text = self.process.communicate(timeout=WAIT_S)[0]
        check(self.process.returncode == 0, f"test_secondary: exit status {self.process.returncode}\n{text}")


REFUSED = "a secondary process queries and dumps flows only: the primary process does this"
FLOW = "flow create 0 ingress pattern eth / %s / end actions %s / queue index 0 / end"
FLOWS = (("ipv4 / udp", "count"), ("ipv4 / tcp", "age timeout 1000"), ("ipv6 / udp", "indirect 0"),
         ("ipv6 / tcp", "mark id 7"))


def dumped(testpmd):
    """Lines of a process's dump, which testpmd of 26.07 writes to files only."""
    path = pathlib.Path(testpmd.work.name) / "flows"
    testpmd.cmd(f"flow dump 0 all {path}")
    return [line for line in path.read_text().splitlines() if line.startswith("flow 0x")]


def flow_queries(mode, args):
    """rte_flow in a secondary process: queries and dumps, in which any number can be a handle; all else is refused."""
    with Primary(mode, *PROCS, "--proc-id=0") as primary:
        primary.cmd("flow indirect_action 0 create ingress action count / end")
        for flow in FLOWS:
            check("created" in primary.cmd(FLOW % flow), primary.log[-500:])
        lines = dumped(primary)
        count, age, indirect, other = (line.split()[1] for line in lines)
        handle = lines[2].split()[-1]
        with Caller(primary, args.program) as caller:
            flows_counted(primary, caller, count, handle)
            check(caller.line("age", age) == "valid 1 aged 0 0 ", "age")
            for line in lines:
                check(caller.line("dump", line.split()[1]) == line and caller.process.stdout.readline() == "0 \n",
                      f"the dump of one flow is not {line}")
            caller.fails("dump_full", count, errno.EIO, "not all of the dump was written")
            check(caller.line("count", indirect).endswith("hits 20 bytes 1920 0 "), "the flow of an indirect action")
            flows_refused(caller, count, handle, other)
            check(dumped(primary) == lines, "a call that was refused has changed flows")
            # Any number; those of flows are not those of indirect actions.
            for address in ("0x0", "0x1", "0xffffffffffffffff", hex(int(count, 16) + 8), hex(int(count, 16) - 1)):
                caller.fails("count", address, errno.ENOENT, "the port has no such flow, or no more")
                caller.fails("handle", address, errno.ENOENT, "the port has no such indirect action, or no more")
            caller.fails("count", handle, errno.ENOENT, "no such flow")
            caller.fails("handle", count, errno.ENOENT, "no such indirect action")
            primary.cmd("flow flush 0")
            caller.fails("count", count, errno.ENOENT, "the port has no such flow, or no more")
            check(caller.line("dump", count) == "0 ", "a flow that was destroyed is dumped")
            os.kill(primary.pid(), signal.SIGKILL)
            primary.process.wait(timeout=WAIT_S)
            begin = time.monotonic()
            for function in ("count", "age", "handle", "dump"):
                answer = caller.line(function, count)
                # Before its end is noticed the request fails; then ethdev gives all errors this number and text.
                check(re.match(r"-5 Input/output error|-\d+ .*primary process", answer), f"{function}: {answer}")
            check(time.monotonic() - begin < 3, "operations wait for a process that has ended")
            caller.finish()


def flows_counted(primary, caller, count, handle):
    """A secondary process finds the counts that the primary one has."""
    check(caller.line("count", count) == "set 1 1 hits 0 bytes 0 0 " and
          caller.line("handle", handle) == "hits 0 bytes 0 0 ", "counts at the beginning")
    for ptype, frames in (("ipv4-udp", 10), ("ipv6-udp", 20)):
        primary.ctl("inject", "port=0", f"frames={frames}", "len=96", f'ptypes=["{ptype}"]')
    found = re.search(r"hits: (\d+)\s+bytes: (\d+)", primary.cmd("flow query 0 0 count"))
    check(int(found[1]) == 10, found[0])
    line = caller.line("count", count)
    check(line == f"set 1 1 hits {found[1]} bytes {found[2]} 0 ", f"'{line}', the primary process: {found[0]}")
    line = caller.line("handle", handle)
    check(line == f"hits 20 bytes {2 * int(found[2])} 0 ", f"'{line}'")


def flows_refused(caller, count, handle, other):
    """What a secondary process does not do."""
    for function in ("create", "validate", "destroy", "flush", "isolate", "aged", "handle_create",
                     "handle_destroy", "handle_update", "queue_create", "queue_destroy", "queue_push", "queue_pull",
                     "queue_handle_create", "queue_handle_destroy", "queue_handle_update", "queue_handle_query"):
        caller.fails(function, handle if "handle" in function else count, errno.ENOTSUP, REFUSED)
    for function, address in (("reset", count), ("handle_reset", handle)):
        caller.fails(function, address, errno.ENOTSUP, "does not reset counters of flows")
    caller.fails("rss", count, errno.ENOTSUP, "of a flow's actions count and age can be queried")
    for function in ("count", "age"):
        caller.fails(function, other, errno.EINVAL, "the flow was created without this action")


def other_build(mode, _args):
    """A plugin of other sources is refused by name of the reason, in one line; the primary process goes on."""
    other = e2e.PLUGIN.with_name("librte_net_mlxpmd_other.so")
    text = e2e.PLUGIN.read_bytes()
    sources = re.search(rb"mlxpmd sources ([0-9a-f]{16})\0", text)
    check(sources, "the plugin does not contain the hash of its sources")
    digit = b"0" if text[sources.start(1):sources.start(1) + 1] != b"0" else b"1"
    try:
        other.write_bytes(text[:sources.start(1)] + digit + text[sources.start(1) + 1:])
        with Primary(mode) as primary:
            command = primary.joined("dpdk-proc-info", ["--stats"])
            done = subprocess.run([str(other) if word == str(e2e.PLUGIN) else word for word in command],
                                  env=primary.env, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            lines = [line for line in done.stdout.splitlines() if "mlxpmd: " in line]
            check(done.returncode != 0 and len(lines) == 2 and
                  all(line.endswith("the primary process has another build of mlxpmd: load the same file in both")
                      for line in lines), f"exit status {done.returncode}\n{done.stdout}")
            primary.secondary("dpdk-proc-info", ["-p", "3", "--stats"])
            primary.quit()
    finally:
        other.unlink(missing_ok=True)


def restart(mode, _args):
    """The primary process stops and starts its ports, whose doorbell pages move: a secondary one sends again."""
    with Primary(mode, *PROCS, "--proc-id=0") as primary, Secondary(primary, *PROCS, "--proc-id=1") as secondary:
        both_forward(primary, secondary)
        for _ in range(3):
            # No process polls a port that is being stopped.
            for testpmd in (primary, secondary):
                testpmd.cmd("stop")
            for command in ("port stop all", "port start all"):
                check("Done" in primary.cmd(command), primary.log[-1000:])
            both_forward(primary, secondary)
        secondary.leave()
        primary.quit()


def close_primary(mode, _args):
    """The primary process closes its ports while a secondary one polls them: that goes on, without packets."""
    with Primary(mode, *PROCS, "--proc-id=0") as primary, Secondary(primary, *PROCS, "--proc-id=1") as secondary:
        both_forward(primary, secondary)
        # No process polls a port that is being stopped.
        for testpmd in (primary, secondary):
            testpmd.cmd("stop")
        primary.cmd("port stop all")
        secondary.cmd("start")
        begin = time.monotonic()
        # The last one frees the memory of ethdev's data, too.
        check("Done" in primary.cmd("port close all"), primary.log[-1000:])
        seconds = time.monotonic() - begin
        secondary.watch_log(lambda log: all(f"port {p}: the primary process closed the port" in log for p in (0, 1)))
        check("has not left the port" not in primary.log, primary.log[-1000:])
        check("Done." in secondary.cmd("stop"), secondary.log[-1000:])
        secondary.cmd("start")
        secondary.cmd("stop")
        for command in ("show port stats 0", "show port xstats 0", "show port info 0", "show rxq info 0 0",
                        "show port 0 rxq 0 desc 0 status"):
            secondary.cmd(command)
        secondary.leave()
        primary.quit()
        print(f"two ports closed in {seconds:.3f} s")


def kill_secondary(mode, args):
    """A secondary process is killed while it forwards: the primary one forwards and answers, the next one attaches."""
    with Primary(mode, *PROCS, "--proc-id=0", more=LOCK_FREE) as primary:
        both_forward(primary)
        for n in range(args.kills):
            with Secondary(primary, *PROCS, "--proc-id=1") as secondary:
                both_forward(primary, secondary)
                e2e.testlib.pass_time(random.random() / 10, "it forwards, and is killed in the middle")
                os.kill(secondary.pid(), signal.SIGKILL)
                secondary.process.wait(timeout=WAIT_S)
            begin = time.monotonic()
            both_forward(primary)
            check(time.monotonic() - begin < WAIT_S / 2, f"kill {n}: forwarding or statistics are slow")
        primary.cmd("stop")
        print(f"{args.kills} secondary processes killed")
        primary.quit()


def kill_primary(mode, args):
    """The primary process is killed: the secondary one logs that within a second, and its calls fail."""
    slowest = 0
    for n in range(args.kills):
        with Primary(mode, *PROCS, "--proc-id=0") as primary:
            with Secondary(primary, *PROCS, "--proc-id=1") as secondary:
                both_forward(primary, secondary)
                os.kill(primary.pid(), signal.SIGKILL)
                begin = time.monotonic()
                secondary.watch_log(lambda log: all(f"port {p}: the primary process ended" in log for p in (0, 1)))
                slowest = max(slowest, time.monotonic() - begin)
                primary.process.wait(timeout=WAIT_S)
                # testpmd itself ends when there is no primary process.
                secondary.process.wait(timeout=WAIT_S)
    check(slowest < 1, f"{slowest:.3f} s until the end of the primary process was noticed")
    print(f"{args.kills} primary processes killed, noticed after at most {slowest * 1000:.0f} ms")


def handlers():
    """Libraries of mempool handlers that testpmd is linked with, as Debian's is. Programs that are not number them in
    another way, and processes that share mempools must have the same numbers (rte_mempool_register_ops())."""
    linked = subprocess.run(["ldd", shutil.which("dpdk-testpmd")], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"^\s*(librte_mempool_\S+)", linked, re.M)


def frames(path):
    """The frames of a capture, sorted."""
    text = subprocess.run(["tcpdump", "-r", path, "-xx", "-t", "-n"], timeout=WAIT_S, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    return sorted("".join(re.findall(r"^\t0x\w{4}:  (.*)$", one, re.M)).replace(" ", "")
                  for one in re.split(r"^(?=\S)", text, flags=re.M) if one.strip())


def stamps(path):
    """{frame: its time stamps in ns, in the order of the file} of a capture in pcapng."""
    found = collections.defaultdict(list)
    for frame, meta in RawPcapNgReader(str(path)):
        found[frame].append((meta.tshigh << 32 | meta.tslow) * 1000000000 // (meta.tsresol or 1000000))
    return found


def stamps_compared(true, got):
    """Each frame was received in a burst some time after it arrived: its stamp is later, by that time."""
    true, got = stamps(true), stamps(got)
    late = [late - early for frame, times in true.items() for early, late in zip(times, got[frame])]
    text = f"stamps {min(late)} to {max(late)} ns later than on the wire"
    check(-CLOCKS_NS < min(late) and max(late) < WAIT_S * 10**9, text)
    print(text)


def captured(mode, program, arguments, ready, preload, compare=None):
    """A secondary process captures what arrives at port 0: all that the emulator captured there, and no more."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-pmd.") as work:
        true, got, log = (pathlib.Path(work) / name for name in ("true.pcapng", "got.pcap", "log"))
        with Primary(mode, "--rxq=2", "--txq=2", emu=("--capture", f"0={true}:rx")) as primary:
            primary.cmd("set fwd rxonly")
            primary.cmd("start")
            with open(log, "wb") as out, subprocess.Popen(
                    ["stdbuf", "-oL", str(e2e.MLXEMU), "run", "--join", str(primary.pid()), "--", program,
                     *arguments(mode, got)],
                    env={**primary.env, "LD_PRELOAD": ":".join([*handlers(), *preload])}, stdin=subprocess.DEVNULL,
                    stdout=out, stderr=subprocess.STDOUT) as process:
                try:
                    printed = e2e.testlib.await_until(
                        lambda: ready in log.read_text() or process.poll() is not None, WAIT_S)
                    check(printed, f"{program} does not print '{ready}': {log.read_text()}")
                    # The line is printed before the packets are taken.
                    e2e.testlib.pass_time(0.5, "the callbacks of the capture are being installed")
                    primary.ctl("inject", "port=0", "frames=500", "flows=16")
                    arrived = e2e.testlib.await_until(lambda: primary.stats(0)["RX-packets"] == 500, WAIT_S)
                    check(arrived, "not received")
                    e2e.testlib.pass_time(0.5, "the capture is written")
                    process.send_signal(signal.SIGINT)
                    check(process.wait(timeout=WAIT_S) == 0, f"{program}: {process.returncode}: {log.read_text()}")
                finally:
                    e2e.end(process)
            primary.cmd("stop")
            primary.quit()
        want, have = frames(true), frames(got)
        check(have == want and len(want) == 500,
              f"{program}: {len(have)} frames, the emulator: {len(want)}\n{log.read_text()}")
        if compare is not None:
            compare(true, got)
        print(program, "captured", len(have), "frames, equal to the emulator's")


def pdump(mode, _args):
    """dpdk-pdump."""
    captured(mode, "dpdk-pdump",
             lambda mode, got: [*eal(mode, None), "--", "--pdump", f"port=0,queue=*,rx-dev={got}"],
             "capture for", [])


def dumpcap(mode, _args):
    """dpdk-dumpcap, which has no argument for a plugin: it finds an installed one."""
    captured(mode, "dpdk-dumpcap", lambda mode, got: ["--file-prefix", pmdlib.PREFIX, "-i", "0", "-w", str(got)],
             "Packets captured", [str(e2e.PLUGIN)],
             # Before 23.11 the date is wrong.
             stamps_compared if e2e.testlib.dpdk_version() >= (23, 11) else None)


CASES = {"proc_info": proc_info, "forwarding": forwarding, "striding": striding, "mempools": mempools,
         "flow_queries": flow_queries, "other_build": other_build, "restart": restart,
         "close_primary": close_primary, "pdump": pdump, "dumpcap": dumpcap, "kill_secondary": kill_secondary,
         "kill_primary": kill_primary}


def run():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", default="verbs", choices=("verbs", "vfio"))
    parser.add_argument("--kills", type=int, default=3, help="processes that are killed (default 3)")
    parser.add_argument("--program", default=str(e2e.BUILD / "tests/pmd/test_secondary"), help="test_secondary")
    parser.add_argument("case", nargs="*", choices=[*CASES, []])
    args = parser.parse_args()
    if not e2e.testlib.hugepages_taken(HUGE_MB):
        e2e.skip(f"processes can share memory only with hugepages, and {HUGE_MB} MiB of them cannot be reserved")
    for name in args.case or CASES:
        CASES[name](args.mode, args)
        print(f"{name}, {args.mode}: passed", flush=True)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
