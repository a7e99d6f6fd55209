# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Open vSwitch loses packets at each place that it can reach: /mlxpmd/drops has them there, and its sums close.

Usage: ovs_drops.py

Debian's ovs-vswitchd with DPDK (openvswitch-switch-dpdk), unmodified, takes what port 0 receives and sends it by port
1. The databases are in a folder of the test's own; a running Open vSwitch of the machine is not touched.
"""
import contextlib
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
import telemetry_client  # noqa: E402
from pmdlib import check, e2e  # noqa: E402

VSWITCHD = pathlib.Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
SCHEMA = pathlib.Path("/usr/share/openvswitch/vswitch.ovsschema")
WAIT_S = 30 * e2e.PATIENCE
OTHERS = 32  # Frames behind those that are lost, which arrive.
RING = 256  # Descriptors of a queue.
BEHIND = 3  # Completions behind one that is lost.
BRIDGE = f"mlxpmd{os.getpid()}"


class Ovs:
    """ovsdb-server, and ovs-vswitchd on two emulated ports, in a folder."""

    def __init__(self, work, stack, emu_args):
        self.work, self.stack = pathlib.Path(work), stack
        self.log, self.forwards = self.work / "log", False
        self.env = {**os.environ, "OVS_RUNDIR": work, "OVS_LOGDIR": work, "OVS_DBDIR": work, "OVS_SYSCONFDIR": work,
                    "TMPDIR": work}
        self.db = f"unix:{work}/db.sock"
        self.tool("ovsdb-tool", "create", f"{work}/conf.db", str(SCHEMA))
        self.start("ovsdb-server", f"{work}/conf.db", f"--remote=p{self.db}", f"--unixctl={work}/db.ctl")
        check(e2e.testlib.await_until((self.work / "db.sock").exists, WAIT_S), "no database")
        # Its own words for EAL: no hugepages, the plugin, the emulated ports, telemetry.
        words = [w for w in e2e.eal(2, "clock=page", 1024, "0") if w != "--no-telemetry" and w != "--no-shconf"]
        # Without the second word Open vSwitch adds one that excludes the first.
        extra = " ".join([*words[2:], "--legacy-mem", "--telemetry", "--file-prefix", pmdlib.PREFIX])
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   "other_config:dpdk-lcore-mask=0x1", "other_config:pmd-cpu-mask=0x1",
                   f'other_config:dpdk-extra="{extra}"')
        # The bridge's TAP devices are in a network namespace, and end with it.
        self.start("unshare", "--net", str(e2e.MLXEMU), "run", "--ports", "2", *emu_args,
                   "--wire", f"0=pcap:,{work}/0.pcap", "--wire", f"1=pcap:,{work}/1.pcap",
                   "--", str(VSWITCHD), self.db, f"--unixctl={work}/ovs.ctl", "--pidfile")

    def connected(self):
        """Whether the ports are probed."""
        try:
            self.client = telemetry_client.Client()
        except OSError:
            return False
        return self.client.query("/mlxpmd/drops,1") is not None

    def start(self, *command):
        with open(self.log, "ab") as log:
            process = self.stack.enter_context(subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL,
                                                                stdout=log, stderr=log))
        self.stack.callback(e2e.end, process)

    def tool(self, *command):
        done = subprocess.run(command, env=self.env, text=True, capture_output=True, timeout=WAIT_S, check=False)
        check(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def vsctl(self, *words):
        return self.tool("ovs-vsctl", f"--db={self.db}", "--timeout=60", *words)

    def ctl(self, *words):
        return self.tool(str(e2e.MLXEMU), "ctl", "--json", *words)

    def appctl(self, *words):
        return self.tool("ovs-appctl", "-t", f"{self.work}/ovs.ctl", *words)

    def bridge(self):
        """A bridge that sends by port 1 what comes in at port 0, and drops the rest."""
        self.vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev", "fail_mode=secure")
        for port in (0, 1):
            self.vsctl("add-port", BRIDGE, f"p{port}", "--", "set", "Interface", f"p{port}", "type=dpdk",
                       f"options:dpdk-devargs={e2e.PCI[port]}", f"options:n_rxq_desc={RING}",
                       f"options:n_txq_desc={RING}", f"ofport_request={port + 1}")
            error = self.vsctl("get", "Interface", f"p{port}", "error")
            check(error.strip() == "[]", f"p{port}: {error}")
        self.tool("ovs-ofctl", "add-flow", f"unix:{self.work}/{BRIDGE}.mgmt", "in_port=1,actions=output:2")
        self.forwards = True

    def dropped(self):
        """Packets that Open vSwitch could not send by port 1, of its own statistics."""
        text = self.tool("ovs-ofctl", "dump-ports", f"unix:{self.work}/{BRIDGE}.mgmt", "2")
        return int(re.search(r"tx pkts=\d+, bytes=\d+, drop=(\d+)", text)[1])

    def polls(self, whether):
        """Whether the only thread polls port 0: not while it is for the queue of port 1 alone."""
        self.vsctl(*(("remove", "Interface", "p1", "other_config", "pmd-rxq-affinity") if whether else
                     ("set", "Interface", "p1", "other_config:pmd-rxq-affinity=0:0")))
        done = e2e.testlib.await_until(
            lambda: ("port: p0" in self.appctl("dpif-netdev/pmd-rxq-show")) == whether, WAIT_S)
        check(done, f"polled: {not whether}")

    def queues_ready(self):
        return all(queue["state"] == "ready" for port in (0, 1) if self.forwards
                   for queue in self.client.query(f"/mlxpmd/queues,{port}").values())

    def truth(self):
        """What the emulator has of each port."""
        return json.loads(self.ctl("drops"))["ports"]

    def inject(self, frames, *how):
        self.ctl("inject", "port=0", f"frames={frames}", *how)

    def end(self):
        self.appctl("exit", "--cleanup")


class Account:
    """What /mlxpmd/drops of both ports and the emulator have, when nothing moves any more."""

    def __init__(self, ovs, settle=True):
        def settled():
            self.read(ovs)
            if not settle:
                return True
            moving = [self.row(port, way, row) for port in (0, 1)
                      for way, row in (("rx", "waiting"), ("tx", "in_flight"))]
            return not any(moving) and all(self.closes(port, way) for port in (0, 1) for way in ("rx", "tx"))

        check(e2e.testlib.await_until(settled, WAIT_S, 0.1), f"does not close: {self.places}")

    def read(self, ovs):
        self.places = [ovs.client.query(f"/mlxpmd/drops,{port}") for port in (0, 1)]
        self.true = ovs.truth()

    def row(self, port, way, name):
        return self.places[port][way].get(name, {"packets": 0})["packets"]

    def closes(self, port, way):
        rows = self.places[port][way].values()
        begin = sum(row["packets"] for row in rows if row["is"] == "begin")
        return begin == sum(row["packets"] for row in rows if row["is"] not in ("begin", "passed")) and \
            self.row(port, way, "unexplained") == 0

    def lost(self):
        """Packets by port, direction and place, of those places where they end."""
        return {(port, way, name): row["packets"] for port in (0, 1) for way in ("rx", "tx")
                for name, row in self.places[port][way].items()
                if row["is"] in ("lost", "kept") and name not in ("waiting", "in_flight")}


# ------------------------------------------------------------------ losses: each returns how many packets it lost

def lost_of(ovs, place, n):
    """Waits until the emulator has n more packets at a place (port, direction, place) than before the loss."""
    def more():
        port, way, name = place
        return ovs.truth()[port][way][name] - ovs.true[port][way][name]

    check(e2e.testlib.await_until(lambda: more() >= n, WAIT_S), f"{place}: {more()} of {n}")
    return more()


def by_rule(ovs, n, rule):
    ovs.ctl("fault", "add", rule.format(n=n))
    ovs.inject(n)
    return n


def by_nothing(ovs, n, _rule):
    """What receives the frames is left to the state of the port."""
    ovs.inject(n)
    return n


def by_length(ovs, n, _rule):
    """A capture of frames that are longer than the MTU."""
    frame = bytes.fromhex("0c42a14ed000") + bytes(6) + b"\x88\xb5" + bytes(3000)
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path = ovs.work / "long.pcap"
    path.write_bytes(head + n * (struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame))
    ovs.inject(n, f"file={path}")
    return n


def by_link(ovs, n, port):
    """The cable of a port is unplugged meanwhile."""
    ovs.ctl("link", f"port={port}", "state=down")
    ovs.inject(n)
    lost_of(ovs, (port, "sent" if port else "received", "link_down"), n)
    ovs.ctl("link", f"port={port}", "state=up")
    return n


def by_vf_state(ovs, n, port):
    """The link of a virtual function is set down, that of its port is not."""
    ovs.ctl("link", f"port={port}", "vf=disable")
    ovs.inject(n)
    lost_of(ovs, (port, "sent", "link_down") if port else (port, "received", "vport_down"), n)
    ovs.ctl("link", f"port={port}", "vf=auto")
    return n


def by_full_ring(ovs, n, _rule):
    """Nothing polls, and the ring has fewer buffers."""
    ovs.polls(False)
    ovs.inject(n)
    ovs.polls(True)
    return lost_of(ovs, (0, "received", "no_buffer"), 1)


def by_stop(ovs, n, _rule):
    """Nothing polls until the queue is replaced by a longer one."""
    ovs.polls(False)
    ovs.inject(n)
    ovs.vsctl("set", "Interface", "p0", f"options:n_rxq_desc={2 * RING}")
    check(e2e.testlib.await_until(lambda: Account(ovs, False).row(*RX0, "waiting") == 0, WAIT_S), "not stopped")
    ovs.polls(True)
    return n


def by_completion(ovs, n, rule):
    """A completion that never comes: it is missed when those behind it come."""
    ovs.ctl("fault", "add", rule)
    ovs.inject(n + BEHIND)
    return n


def by_full_send_ring(ovs, n, rule):
    """The doorbells of port 1 come late: what exceeds the ring is refused."""
    before = ovs.dropped()
    ovs.ctl("fault", "add", rule)
    ovs.inject(n)
    check(e2e.testlib.await_until(lambda: ovs.dropped() > before, WAIT_S), "nothing was refused")
    ovs.ctl("fault", "clear")
    Account(ovs)
    # Each attempt counts: Open vSwitch gives what is left of a burst once more, and then drops it.
    return range(ovs.dropped() - before, 2 * (ovs.dropped() - before) + 1)


def by_tx_error(ovs, n, rule):
    """The error is found by the burst that comes next."""
    ovs.ctl("fault", "add", rule)
    ovs.inject(n)
    hit = e2e.testlib.await_until(lambda: json.loads(ovs.ctl("fault", "list"))["rules"][0]["hits"] == n, WAIT_S)
    check(hit, f"{rule}: not hit: {ovs.ctl('fault', 'list')}")
    ovs.inject(OTHERS)
    return n


RX0, TX1 = (0, "rx"), (1, "tx")
FETCH = "on wqe.fetch match port={port} count {n} do error syndrome=LOCAL_{error}"
# What; how, how many, with what; the place in the account (None: the card does not see them); the emulator's, if it is
# a single one.
LOSSES = (
    ("port not yet in a bridge", by_nothing, 11, None, (*RX0, "kernel"), (0, "received", "kernel")),
    ("lost on the cable", by_rule, 3, "on wire.tx match port=1 count {n} do drop", None, (1, "sent", "wire_lost")),
    ("cable of the receiver unplugged", by_link, 4, 0, None, (0, "received", "link_down")),
    ("wrong FCS", by_rule, 5, "on wire.rx match port=0 count {n} do fcs", (*RX0, "crc_errors"),
     (0, "received", "fcs_error")),
    ("longer than the MTU", by_length, 6, None, (*RX0, "too_long"), (0, "received", "oversize")),
    ("shorter than a frame", by_rule, 7, "on wire.rx match port=0 count {n} do truncate len=10", (*RX0, "too_short"),
     (0, "received", "undersize")),
    ("no room in the port", by_rule, 8, "on wire.rx match port=0 count {n} do discard", (*RX0, "port_discards"),
     (0, "received", "port_discard")),
    ("application does not poll", by_full_ring, RING + 14, None, (*RX0, "no_buffer"), (0, "received", "no_buffer")),
    ("queue stopped before the poll", by_stop, 16, None, (*RX0, "discarded"), None),
    ("buffers too small", by_rule, 15, FETCH.format(port=0, n="{n}", error="LENGTH_ERR"), (*RX0, "error_length"),
     (0, "received", "error_completion")),
    ("buffer not registered", by_rule, 1, FETCH.format(port=0, n=1, error="PROT_ERR"), (*RX0, "error_protection"),
     (0, "received", "error_completion")),
    ("receive WQE refused", by_rule, 1, FETCH.format(port=0, n=1, error="QP_OP_ERR"), (*RX0, "error_operation"),
     (0, "received", "error_completion")),
    ("completion invalid", by_rule, 1, "on cqe.write match port=0 q=rx0 count {n} do corrupt off=63 xor=0x10",
     (*RX0, "refused_completions"), None),
    ("completion lost", by_completion, 1, "on cqe.write match port=0 q=rx0 count 1 do drop",
     (*RX0, "refused_completions"), (0, "received", "completion_lost")),
    ("send ring full", by_full_send_ring, RING + 40, "on doorbell match port=1 do delay us=300000", (*TX1, "refused"),
     None),
    ("sent memory not registered", by_tx_error, 1, FETCH.format(port=1, n=1, error="PROT_ERR"),
     (*TX1, "error_protection"), None),
    ("send WQE refused", by_tx_error, 1, FETCH.format(port=1, n=1, error="QP_OP_ERR"), (*TX1, "error_operation"), None),
    ("cable of the sender unplugged", by_link, 18, 1, (*TX1, "port_discards"), (1, "sent", "link_down")),
)
# On virtual functions.
LOSSES_VF = (
    ("receiver's VF disabled", by_vf_state, 22, 0, (*RX0, "vport_down"), (0, "received", "vport_down")),
    ("sender's VF disabled", by_vf_state, 23, 1, (*TX1, "vport_down"), (1, "sent", "link_down")),
    ("cable of the sender unplugged", by_link, 18, 1, (*TX1, "vport_down"), (1, "sent", "link_down")),
)
# What is lost besides: behind the completion that is missing, and while the send queue is repaired.
ALSO = {
    "completion lost": ((*RX0, "discarded"), range(BEHIND, BEHIND + 1)),
    "sent memory not registered": ((*TX1, "refused"), range(1, 2 * OTHERS + 1)),
    "send WQE refused": ((*TX1, "refused"), range(1, 2 * OTHERS + 1)),
}


def others_pass(ovs, before, place):
    """The error of a queue is found, and it is repaired, before others come. The account afterwards."""
    if place is not None:
        found = e2e.testlib.await_until(
            lambda: Account(ovs, False).row(*place) > before.row(*place) and ovs.queues_ready(), WAIT_S)
        check(found, f"{place}: nothing")
    ovs.ctl("fault", "clear")
    was = Account(ovs).row(*TX1, "wire")
    if ovs.forwards:
        ovs.inject(OTHERS)
        sent = e2e.testlib.await_until(lambda: Account(ovs).row(*TX1, "wire") == was + OTHERS, WAIT_S)
        check(sent, f"{place}: not sent afterwards")
    return Account(ovs)


def loss_run(ovs, what, how, n, rule, place, true_place):
    """One row of the table; prints it."""
    before = ovs.account
    ovs.true = before.true
    lost = how(ovs, n, rule)
    if true_place is not None:
        lost_of(ovs, true_place, lost)
    after = ovs.account = others_pass(ovs, before, place)
    more = {key: packets - before.lost().get(key, 0) for key, packets in after.lost().items()}
    more = {key: packets for key, packets in more.items() if packets}
    expected = {place: lost if isinstance(lost, range) else range(lost, lost + 1)} if place is not None else {}
    expected.update([ALSO[what]] if what in ALSO else [])
    right = more.keys() == expected.keys() and all(more[key] in expected[key] for key in more)
    check(right, f"{what}: {more}, not {expected}")
    if true_place is not None:
        port, way, name = true_place
        true = after.true[port][way][name] - before.true[port][way][name]
        check(true == lost, f"{what}: the emulator has {true} at {true_place}, not {lost}")
    received = after.true[0]["received"]
    check(after.row(*RX0, "wire") == received["arrived"] - received["link_down"], f"{what}: {received}")
    places = [f"port {port} {way} {name} {count}" for (port, way, name), count in more.items()]
    print(f"{what:<31} {', '.join(places) or f'not seen by the card: {lost}'}", flush=True)


def losses_run(losses, *emu_args):
    """Losses of an Open vSwitch of their own."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-ovs.") as work, contextlib.ExitStack() as stack:
        ovs = Ovs(work, stack, emu_args)
        try:
            check(e2e.testlib.await_until(ovs.connected, WAIT_S), "no telemetry, or no ports")
            for loss in losses:
                if loss[1] is not by_nothing and not ovs.forwards:
                    ovs.bridge()
                ovs.account = Account(ovs)
                loss_run(ovs, *loss)
            ovs.end()
        except BaseException:
            print(ovs.log.read_text(encoding="utf-8", errors="replace")[-4000:])
            raise


def run():
    if not VSWITCHD.exists():
        e2e.skip(f"{VSWITCHD} (package openvswitch-switch-dpdk) is not installed")
    losses_run(LOSSES)
    losses_run(LOSSES_VF, "--vf", "0", "--vf", "1")
    print(f"{len(LOSSES) + len(LOSSES_VF)} losses, all sums close")


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
