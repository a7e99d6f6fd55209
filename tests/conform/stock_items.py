# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Every item and action of rte_flow that doc/guide/flows.md lists, by its effect on frames, with mlxpmd and net_mlx5.

The flows are in flow_items.txt and flow_actions.txt. Each is created in testpmd, the frames are injected into port 0,
and testpmd's lines about them (`set verbose 1`) have queue, mark and hash. Each frame has a length of its
own. A flow that the stock PMD refuses is skipped by its name, and so is one whose field the device of
mlxpmd does not match; mlxpmd has to accept all others.
"""
import copy
import os
import pathlib
import re
from dataclasses import dataclass, field

import frames as plain
import rss
import scapy.all
import stocklib
from conform import Case
from e2e import check
from scapy.contrib.geneve import GENEVE
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS

HERE = pathlib.Path(__file__).resolve().parent
# What the frames of the lists are made of, besides scapy's own classes.
NAMES = {**vars(scapy.all), "GENEVE": GENEVE, "GTP_U_Header": GTP_U_Header, "MPLS": MPLS,
         "DST": plain.DST, "SRC": plain.SRC,
         "eth": scapy.all.Ether(dst=plain.DST, src=plain.SRC), "arp": scapy.all.ARP(), "vlan": scapy.all.Dot1Q(vlan=7),
         "ip": scapy.all.IP(src="10.0.0.1", dst="10.0.0.2"), "ip6": scapy.all.IPv6(src="fd00::1", dst="fd00::2"),
         "frag6": scapy.all.IPv6ExtHdrFragment(m=1, id=5), "udp": scapy.all.UDP(sport=1001, dport=4000),
         "tcp": scapy.all.TCP(sport=1001, dport=4000), "sctp": scapy.all.SCTP(sport=1001, dport=4000)}
MARK, QUEUE = 7, 3
# A firmware that is configured to parse ICMP, GTP-U and the others (flex_parser_protocols).
PARSERS = ["--cap", "flex_parser_protocols=0xfff"]
# Of the frame that ends a round, and the first of the others.
MARKER_BYTES, FIRST_BYTES = 1000, 200
MARKER = bytes(scapy.all.Ether(dst="06:00:00:00:00:00", src="06:00:00:00:00:00", type=0x88b6) /
               bytes(MARKER_BYTES - 14))
TO_QUEUE = f"/ end actions count / mark id {MARK} / queue index {QUEUE} / end"
# Group 3 is reached by all frames; what matches nothing else there arrives unmarked, as in group 0.
IN_GROUP_3 = ["ingress pattern eth / end actions jump group 3 / end",
              "group 3 priority 1000 ingress pattern eth / end actions queue index 0 / end"]
LINE = re.compile(r"src=\S+ - dst=\S+ - pool=\S+ - type=\S+ - length=(\d+).*?Receive queue=0x([0-9a-f]+)"
                  r"\s+ol_flags:(.*)\n")

# Lines in which the stock PMD is wrong by rte_flow's documentation, and why: {driver: {name: why}}.
STOCK_DIFFERS = {
    "net_mlx5": {"vlan has_more_vlan": "it requires an outermost S-VLAN tag (svlan_tag), not a second tag"},
    "net_mlx5 dv_flow_en=0": {"eth type": "the type matches what is behind a tag, where it is the TPID"},
}


@dataclass
class Line:
    """A line of the lists: flows to create, the first one counts; (effect, frame) in their order."""
    name: str
    flows: list
    effects: list
    count: int = None
    device: bool = False  # May be refused by the device.


@dataclass
class Arrival:
    queue: int
    mark: int = None
    flag: bool = False


@dataclass
class Variant:
    """A driver with its devargs, as it is named in the output."""
    name: str
    own: bool
    devargs: str = ""
    emu_args: tuple = ()
    group3: bool = False
    symmetric: bool = False  # The kernel makes the hash symmetric (mlx5_ib, qp.c, create_rss_raw_qp_tir()).
    kernel: bool = True  # There is a kernel's driver that can receive frames, too.


VARIANTS = [
    Variant("net_mlx5", False),
    Variant("net_mlx5 dv_flow_en=0", False, "dv_flow_en=0", symmetric=True),
    Variant("net_mlxpmd", True),
    Variant("net_mlxpmd, group 3", True, group3=True),
    Variant("net_mlxpmd open=vfio", True, "open=vfio", ("--open", "vfio"), kernel=False),
]


@dataclass
class Result:
    frames: int = 0
    refused: dict = field(default_factory=dict)  # {name of a line: why}
    differ: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)


def frame(expression, number):
    """The bytes of a scapy expression, padded to a length of its own."""
    data = bytes(eval(expression, NAMES))  # pylint: disable=eval-used
    return data + bytes(FIRST_BYTES + number - len(data))


def rows(file):
    for text in (HERE / file).read_text(encoding="utf-8").splitlines():
        if text.strip() and not text.startswith("#"):
            yield [column.strip() for column in text.split("|")]


def parts(column):
    return [part.strip() for part in column.split(";") if part.strip()]


def items(group3=False):
    """Patterns with a mark and a queue."""
    for name, pattern, hits, misses in rows("flow_items.txt"):
        effects = [(f"q{QUEUE} mark {MARK}", f) for f in parts(hits)] + [("port", f) for f in parts(misses)]
        flow = f"{'group 3 ' * group3}ingress pattern {pattern} {TO_QUEUE}"
        yield Line(name.lstrip("? "), [flow], effects, len(parts(hits)), name.startswith("?"))


def actions():
    for name, flows, effects in rows("flow_actions.txt"):
        line = Line(name, [flow.replace("KEY", rss.KEY_MICROSOFT.hex()) for flow in parts(flows)], [])
        for part in parts(effects):
            if part.startswith("COUNT"):
                line.count = int(part.split()[1])
            else:
                line.effects.append([word.strip() for word in part.split(":", 1)])
        yield line


class Ports:
    """testpmd with port 0 receiving, and a folder for captures."""

    def __init__(self, testpmd):
        self.t = testpmd
        self.capture = os.path.join(testpmd.work.name, "frames.pcap")

    def inject(self, frames, markers):
        """Frames, then the marker; testpmd's lines until it has printed the marker for the given time."""
        begin = len(self.t.log)
        stocklib.pcap_repeat(self.capture, [*frames, MARKER], len(frames) + 1)
        for _ in range(markers):
            sent = self.t.ctl("inject", "port=0", f"frames={len(frames) + 1}", f"file={self.capture}")
            check(sent["frames"] == len(frames) + 1, sent)
            self.printed(begin)
            # What came before it in another queue is printed before a second one.
            begin, frames = len(self.t.log), []
            stocklib.pcap_repeat(self.capture, [MARKER], 1)

    def printed(self, begin):
        done = re.compile(rf"length={MARKER_BYTES} .*\n\s+ol_flags:.*\n")
        self.t.watch_log(lambda log: done.search(log, begin))

    def arrivals(self, frames):
        """{number of a frame: Arrival}, and how many markers a flow has marked."""
        begin = len(self.t.log)
        self.inject(frames, 2)
        found, markers = {}, 0
        for match in LINE.finditer(self.t.log, begin):
            number = int(match.group(1)) - FIRST_BYTES
            mark = re.search(r"FDIR matched ID=0x([0-9a-f]+)", match.group(0))
            markers += int(match.group(1)) == MARKER_BYTES and mark is not None
            if not 0 <= number < len(frames):
                continue
            check(number not in found, f"frame {number} arrives twice")
            found[number] = Arrival(int(match.group(2), 16), mark and int(mark.group(1), 16),
                                    "RX_FDIR " in match.group(3) + " ")
        return found, markers


def in_tunnel(data):
    """What is hashed by level 2: the frame, or the packet behind another Ethernet header."""
    p = scapy.all.Ether(data)
    inner = (p.getlayer(scapy.all.VXLAN) or p[scapy.all.GRE]).payload
    return bytes(inner if isinstance(inner, scapy.all.Ether) else scapy.all.Ether(type=p[scapy.all.GRE].proto) / inner)


def expected(effect, data, symmetric):
    """([queues] or None: any, mark or None, flagged) of a frame; None: it does not arrive."""
    if effect == "lost":
        return None
    words = effect.split()
    mark = int(words[words.index("mark") + 1], 0) if "mark" in words else None
    queues = [int(words[0][1:])] if words[0][0] == "q" else None
    if words[0].startswith("rss"):
        queues = [int(w) for w in (words[:words.index("mark")] if "mark" in words else words)[1:]]
        l4 = () if words[0][-1] == "3" else ("src", "dst")
        data = in_tunnel(data) if words[0].startswith("rss-inner") else data
        hashed = rss.toeplitz(rss.KEY_MICROSOFT, rss.hash_input(data, l4=l4)) % len(queues)
        queues = queues if symmetric else queues[hashed:hashed + 1]
    return queues, mark, mark is not None or "flag" in words


def wrong_effect(arrival, wanted):
    """What is wrong with a frame, or None."""
    if arrival is None or wanted is None:
        return None if arrival is wanted else f"arrives: {arrival}" if arrival else "does not arrive"
    queues, mark, flag = wanted
    if (queues and arrival.queue not in queues) or arrival.mark != mark or arrival.flag != flag:
        return f"{arrival}, not queue {queues}, mark {mark}, flag {flag}"
    return None


def create(t, line):
    """Ids of the flows, or why one is refused; ids of indirect actions are 4."""
    ids = []
    for flow in line.flows:
        text = t.cmd(flow if flow.startswith("flow ") else f"flow create 0 {flow}")
        made = re.search(r"(Flow rule|Indirect action) #(\d+) (created|updated)", text)
        if not made:
            why = re.search(r"Caught PMD error.*?: (?:cause: 0x[0-9a-f]+, )?(.*)|Bad arguments", text)
            check(why is not None, text)
            return ids, (why.group(1) or "testpmd has no such word").strip()
        if made.group(1) == "Flow rule":
            ids.append(made.group(2))
    return ids, None


def clear(t, line, ids):
    for rule in reversed(ids):
        text = t.cmd(f"flow destroy 0 rule {rule}")
        check("destroyed" in text, text)
    if any("indirect_action" in flow for flow in line.flows):
        t.cmd("flow indirect_action 0 destroy action_id 4")


def counted(t, line, ids):
    """Hits of the first flow, or of the indirect action."""
    if line.flows[0].startswith("flow "):
        text = t.cmd("flow indirect_action 0 query 4")
    else:
        text = t.cmd(f"flow query 0 {ids[0]} count")
    found = re.search(r"[Hh]its: (\d+)", text)
    check(found is not None, text)
    return int(found.group(1))


def play(ports, line, variant):
    """The effect of a line whose flows exist: how many frames took part, what is wrong."""
    sent = [frame(expression, n) for n, (_, expression) in enumerate(line.effects)]
    arrivals, markers = ports.arrivals(sent)
    wrong = []
    for n, (effect, expression) in enumerate(line.effects):
        what = wrong_effect(arrivals.get(n), expected(effect, sent[n], variant.symmetric))
        if what:
            wrong.append(f"{variant.name}: {line.name}: {expression}: {what}")
    return sent, markers, wrong


def play_line(ports, line, variant, result):
    """Creates the flows of a line, checks their effect, and destroys them."""
    ids, refused = create(ports.t, line)
    may = (not variant.own or (line.device and "the device refused the flow" in (refused or "")) or
           (not variant.kernel and "send_to_kernel" in line.flows[0]))
    if refused is None:
        sent, markers, wrong = play(ports, line, variant)
        if line.count is not None:
            hits = counted(ports.t, line, ids) - markers
            if hits != line.count:
                wrong.append(f"{variant.name}: {line.name}: {hits} hits, not {line.count}")
        result.frames += len(sent)
        known = STOCK_DIFFERS.get(variant.name, {})
        if line.name in known:
            result.differ[line.name] = known[line.name]
            wrong = [] if wrong else [f"{variant.name}: {line.name}: as documented, which it was not"]
        result.wrong += wrong
    else:
        result.refused[line.name] = refused
        if not may:
            result.wrong.append(f"{variant.name}: {line.name} is refused: {refused}")
    clear(ports.t, line, ids)


def end(t, variant, refused):
    """Nothing is left behind. The emulator records flows with fields that the card does not have."""
    _, report = t.end()
    bad = re.findall(r"^violation (?!total)(.*)", report.text, re.M)
    total = sum(report.get(f"violation total {what}", 0) for what in ("bad command", "bad call"))
    check(("audit: 0 left" in report.text or "audit: clean" in report.text) and total <= 2 * refused and
          all("CREATE_FLOW_GROUP" in line or "the card has no capability" in line or " more" in line for line in bad),
          report.text)


def all_lines(setup, variant):
    """All lines with one driver."""
    these, result = copy.copy(setup), Result()
    these.own, these.emu_args = variant.own, [*PARSERS, *setup.emu_args, *variant.emu_args]
    lines = list(items(variant.group3)) + ([] if variant.group3 else list(actions()))
    with stocklib.testpmd(these, variant.devargs, ["--rxq=4", "--txq=4", "--forward-mode=rxonly"],
                          wires=["0=loop", "1=loop"]) as t:
        if not variant.own:
            stocklib.took_device(t)
        for flow in IN_GROUP_3 if variant.group3 else []:
            check("created" in t.cmd(f"flow create 0 {flow}"), flow)
        t.cmd("set verbose 1")
        t.cmd("start")
        ports = Ports(t)
        for line in lines:
            play_line(ports, line, variant, result)
        t.cmd("stop")
        t.cmd("flow flush 0")
        end(t, variant, len(result.refused))
    print(f"{variant.name}: {len(lines) - len(result.refused)} of {len(lines)} lines on {result.frames} frames, "
          f"{len(result.refused)} refused, {len(result.differ)} known to be wrong")
    for what, names in (("refused", result.refused), ("wrong", result.differ)):
        for name, why in names.items():
            print(f"  {what}: {name}: {why}")
    return result


def items_and_actions(setup):
    results = [all_lines(setup, variant) for variant in VARIANTS]
    wrong = [text for result in results for text in result.wrong]
    for text in wrong:
        print(text)
    check(not wrong, f"{len(wrong)} effects are wrong: {wrong[:1]}")
    return sum(result.frames for result in results)


CASES = [
    Case("flow-items", "rte_flow: each item and action of the guide, mlxpmd and net_mlx5", items_and_actions,
         "on cqe.write do set field=sop_drop_qpn"),
]
