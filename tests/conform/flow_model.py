# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Random flows and packets, and which flow a packet matches by rte_flow's documentation.

A flow is a list of items, each with {field: (value, mask)}; a packet is {header: {field: value}}. An item matches if
the packet has its header, and the header's fields have the values under the masks; of the flows of a set that match
the one with the lowest priority takes the packet, and changes it. The values come from small sets, so that many packets
match. Multicast destinations are left out of flows: the kernel keeps such rules behind all others (doc/guide/flows.md).
"""
import copy
import struct
from dataclasses import dataclass, field

import conform  # noqa: F401  (puts the shared modules on the path)
from scapy.all import ICMP, IP, SCTP, TCP, UDP, Dot1Q, Ether, IPv6, IPv6ExtHdrFragment, Raw

# Item: bytes of its structure, {field: (position, bytes, bits to the left)}. DPDK has bit fields behind some headers.
LAYOUT = {
    "eth": (16, {"dst": (0, 6, 0), "src": (6, 6, 0), "type": (12, 2, 0), "has_vlan": (14, 1, 0)}),
    "vlan": (8, {"tci": (0, 2, 0), "inner_type": (2, 2, 0)}),
    "ipv4": (20, {"tos": (1, 1, 0), "frag": (6, 2, 0), "ttl": (8, 1, 0), "proto": (9, 1, 0), "src": (12, 4, 0),
                  "dst": (16, 4, 0)}),
    "ipv6": (44, {"tc": (0, 2, 4), "proto": (6, 1, 0), "hop": (7, 1, 0), "src": (8, 16, 0), "dst": (24, 16, 0),
                  "has_frag": (40, 1, 2)}),
    "udp": (8, {"sport": (0, 2, 0), "dport": (2, 2, 0)}),
    "tcp": (20, {"sport": (0, 2, 0), "dport": (2, 2, 0), "flags": (13, 1, 0)}),
    "icmp": (8, {}),
    "sctp": (12, {}),
}
BITS = {"has_vlan": 1, "has_frag": 1, "tc": 8, "frag": 14}
# Fields that are matched as a whole: a bit, or 0 of all bits.
WHOLE = {"has_vlan", "has_frag", "frag"}
PROTO = {"udp": 17, "tcp": 6, "icmp": 1, "sctp": 132}
MACS = [0x0c42a14ed000, 0x0c42a14ed002, 0x020000000001, 0x020000000003]
V4 = [0x0a000001, 0x0a000002, 0x0a000102, 0xc0a80001]
V6 = [(0xfd << 120) | low for low in (1, 2, 0x102, 1 << 64)]
TYPES = [0x0800, 0x86dd, 0x0806, 0x8809]
PORTS = [1000, 1001, 1008, 4000]
VALUES = {"type": TYPES, "inner_type": TYPES, "has_vlan": [0, 1], "has_frag": [0, 1], "frag": [0],
          "tci": [7, 8, 0xa007],
          "tos": [0, 0x48, 0x49], "tc": [0, 0x48, 0x49], "ttl": [64, 3], "hop": [64, 3], "proto": list(PROTO.values()),
          "sport": PORTS, "dport": PORTS, "flags": [0x02, 0x10, 0x12]}
MARK_MAX = 0xffff00
# The packet that flow_play.c sends behind those of a set: it is counted, but not dropped.
MARKER = {"eth": {"dst": 6 << 40, "src": 6 << 40, "type": 0x88b6, "has_vlan": 0}}
MARKER_BYTES = 64


# modify_field: its fields in the order of flow_play.c: (header, field, bits).
PARTS = [("eth", "src", 48), ("eth", "dst", 48), ("ipv4", "src", 32), ("ipv4", "dst", 32), ("ipv6", "src", 128),
         ("ipv6", "dst", 128), ("ipv4", "ttl", 8), ("ipv6", "hop", 8), ("udp", "sport", 16), ("udp", "dport", 16),
         ("tcp", "sport", 16), ("tcp", "dport", 16)]
SET, ADD, SUB = 0, 1, 2


@dataclass
class Change:
    """An action that changes packets: name and configuration for flow_play.c, and what it does."""
    name: str
    conf: bytes
    parts: list  # (operation, header, field, offset, width, value)
    meta: tuple = None  # (data, mask)


@dataclass
class Flow:
    priority: int
    queue: int  # -1: dropped
    mark: int   # -1: none
    items: list = field(default_factory=list)  # (kind, {field: (value, mask)})
    changes: list = field(default_factory=list)

    def line(self):
        words = [f"{kind} {pack(kind, fields, 0)} {pack(kind, fields, 1)}" for kind, fields in self.items]
        changes = [str(len(self.changes)), *(f"{c.name} {c.conf.hex() or '-'}" for c in self.changes)]
        return f"flow {self.priority} {self.queue} {self.mark} {' '.join(changes + words)}".rstrip()

    def matches(self, packet):
        return all(kind in packet and item_matches(packet[kind], fields) for kind, fields in self.items)


def item_matches(header, fields):
    # In place of the type a tagged packet has the TPID; with has_vlan the type is that behind the tag.
    if header.get("has_vlan") and "type" in fields and "has_vlan" not in fields:
        header = {**header, "type": 0x8100}
    return all((header.get(name, 0) ^ value) & mask == 0 for name, (value, mask) in fields.items())


def values(kind, name):
    if name in ("src", "dst"):
        return {"eth": MACS, "ipv4": V4, "ipv6": V6}[kind]
    return VALUES[name]


def width(kind, name):
    return BITS.get(name, 8 * LAYOUT[kind][1][name][1])


def pack(kind, fields, which):
    """Values or masks as the structure of the item, in hexadecimal."""
    size, places = LAYOUT[kind]
    data = bytearray(size)
    for name, pair in fields.items():
        at, count, shift = places[name]
        for n, byte in enumerate((pair[which] << shift).to_bytes(count, "big")):
            data[at + n] |= byte
    return data.hex() if fields else "-"


def random_mask(random, kind, name):
    bits = width(kind, name)
    full = (1 << bits) - 1
    if name in WHOLE or random.random() < 0.6:
        return full
    if random.random() < 0.5:
        return full & ~((1 << random.randrange(bits)) - 1)
    return random.getrandbits(bits) or full


def random_item(random, kind, most, without=()):
    names = [name for name in LAYOUT[kind][1] if name not in without]
    fields = {}
    for name in random.sample(names, min(len(names), random.randrange(most + 1))):
        mask = random_mask(random, kind, name)
        value = random.choice(values(kind, name))
        # Bits that the mask leaves out are of no account.
        fields[name] = (value if random.random() < 0.5 else value & mask, mask)
    return kind, fields


def random_flow(random, priority):
    tagged, l3 = random.random() < 0.2, random.choice([None, "ipv4", "ipv4", "ipv4", "ipv6", "ipv6"])
    l4 = random.choice([None, "udp", "udp", "tcp", "tcp", "icmp", "sctp"]) if l3 else None
    l4 = None if (l3, l4) == ("ipv6", "icmp") else l4
    # The type before an item is that item's, and the protocol too.
    items = [random_item(random, "eth", 2, {"type"} if tagged or l3 else set())]
    if tagged:
        items.append(random_item(random, "vlan", 1, {"inner_type"} if l3 else set()))
    if l3:
        items.append(random_item(random, l3, 2, {"proto"} if l4 else set()))
    if l4:
        items.append(random_item(random, l4, 2))
    queue = random.choice([1, 2, 3, 1, 2, 3, -1])
    if Flow(0, 0, 0, items).matches(MARKER):
        queue = abs(queue)
    mark = random.randrange(MARK_MAX) if queue >= 0 and random.random() < 0.5 else -1
    count = random.choice([0, 0, 1, 2, 3]) if queue >= 0 else 0
    return Flow(priority, queue, mark, items, [random_change(random, l3, l4) for _ in range(count)])


def random_change(random, l3, l4):
    """An action whose headers the pattern has."""
    names = ["mac", "meta", "modify", "modify", *(["ip", "ttl", "dec", "dscp"] if l3 else []),
             *(["tp"] if l4 in ("udp", "tcp") else []), *(["seq", "ack"] if l4 == "tcp" else [])]
    name, side = random.choice(names), random.choice(["src", "dst"])
    ttl = "hop" if l3 == "ipv6" else "ttl"
    if name == "meta":
        data, mask = random.getrandbits(32), random.choice([(1 << 32) - 1, 0xff00, random.getrandbits(32) | 1])
        return Change("set_meta", struct.pack("=II", data, mask), [], (data, mask))
    if name == "modify":
        return random_modify(random, l3, l4)
    if name == "dec":
        return Change("dec_ttl", b"", [(SUB, l3, ttl, 0, 8, 1)])
    if name in ("seq", "ack"):
        by, what = random.getrandbits(32), {"seq": "inc_tcp_seq", "ack": "dec_tcp_ack"}[name]
        return Change(what, by.to_bytes(4, "big"), [(ADD if name == "seq" else SUB, "tcp", name, 0, 32, by)])
    if name == "dscp":
        value, header = random.getrandbits(6), "tos" if l3 == "ipv4" else "tc"
        return Change(f"set_{l3}_dscp", bytes([value]), [(SET, l3, header, 2, 6, value)])
    what, header, key, bits = {"mac": (f"set_mac_{side}", "eth", side, 48), "ttl": ("set_ttl", l3, ttl, 8),
                               "ip": (f"set_{l3}_{side}", l3, side, 32 if l3 == "ipv4" else 128),
                               "tp": (f"set_tp_{side}", l4, f"{side[0]}port", 16)}[name]
    value = random.getrandbits(bits)
    return Change(what, value.to_bytes(bits // 8, "big"), [(SET, header, key, 0, bits, value)])


def random_modify(random, l3, l4):
    """modify_field, of a part of a field, counted from its first bit; the value is at the same place."""
    at = random.choice([n for n, (header, _, _) in enumerate(PARTS) if header in ("eth", l3, l4)])
    header, key, bits = PARTS[at]
    operation = random.choice([SET, ADD, SUB]) if bits == 8 else SET
    whole = operation != SET or random.random() < 0.5
    offset = 0 if whole else random.randrange(0, bits, 8)
    width = bits if whole else random.randrange(8, bits - offset + 1, 8)
    value = random.getrandbits(width)
    conf = bytes([operation, at, bits - offset - width, width]) + (value << offset).to_bytes(bits // 8, "big")
    return Change("modify_field", conf.ljust(20, b"\0"), [(operation, header, key, offset, width, value)])


def changed(packet, changes):
    """The packet after the actions, and its metadata. Of fragments layer 4 is not changed."""
    packet, meta, what = copy.deepcopy(packet), 0, seen(packet)
    for change in changes:
        if change.meta:
            meta = meta & ~change.meta[1] | change.meta[0] & change.meta[1]
        for operation, header, key, offset, width, value in change.parts:
            if header not in packet or not what[header]:
                continue
            mask, old = (1 << width) - 1 << offset, packet[header].get(key, 0)
            by = {SET: value, ADD: (old >> offset) + value, SUB: (old >> offset) - value}[operation] << offset
            packet[header][key] = old & ~mask | by & mask
    return packet, meta


def changed_frame(packet, changes, number):
    """Bytes of the packet after the actions. The checksum of layer 4 stays as it is in a fragment."""
    before, after = frame(packet, number), frame(changed(packet, changes)[0], number)
    if not is_fragment(packet):
        return after
    at = 14 + 4 * ("vlan" in packet) + (20 if "ipv4" in packet else 48)
    return after[:at] + before[at:]


def random_packet(random):
    l3 = random.choice([None, "ipv4", "ipv4", "ipv6", "ipv6"])
    packet = {"eth": {"dst": random.choice([*MACS, (1 << 48) - 1]), "src": random.choice(MACS[2:])}}
    if random.random() < 0.25:
        packet["vlan"] = {"tci": random.choice(VALUES["tci"])}
    if l3 is None:
        packet["eth"]["type"] = random.choice(TYPES[2:])
        return packet
    packet[l3] = {name: random.choice(values(l3, name)) for name in LAYOUT[l3][1] if name not in ("frag", "has_frag")}
    add_l4(random, packet, random.choice(["udp", "tcp", "udp", "tcp", "sctp", "icmp" if l3 == "ipv4" else "sctp"]))
    packet[l3]["frag" if l3 == "ipv4" else "has_frag"] = int(random.random() < 0.1)
    return packet


def add_l4(random, packet, kind):
    for other in PROTO:
        packet.pop(other, None)
    packet[kind] = {name: random.choice(values(kind, name)) for name in LAYOUT[kind][1]}


def packet_for(random, flow):
    """A packet that the flow matches, unless it demands what no packet has."""
    packet = random_packet(random)
    for kind, fields in flow.items:
        if kind in ("ipv4", "ipv6") and kind not in packet:
            while kind not in packet:
                packet = {**random_packet(random), **{k: v for k, v in packet.items() if k in ("eth", "vlan")}}
            packet["eth"].pop("type", None)
        if kind in PROTO and kind not in packet:
            add_l4(random, packet, kind)
        header = packet.setdefault(kind, {"tci": 7} if kind == "vlan" else {})
        for name, (value, mask) in fields.items():
            header[name] = header.get(name, 0) & ~mask | value & mask
    if packet["eth"].pop("has_vlan", None) == 0 and not any(kind == "vlan" for kind, _ in flow.items):
        packet.pop("vlan", None)
    return packet


def complete(packet):
    """Fields that follow from others; what is not read of fragments. None: there is no such packet."""
    l3 = next((kind for kind in ("ipv4", "ipv6") if kind in packet), None)
    l4 = next((kind for kind in PROTO if kind in packet), None)
    kind = {"ipv4": 0x0800, "ipv6": 0x86dd, None: packet["eth"].get("type", TYPES[2])}[l3]
    if l3 is None and (kind in TYPES[:2] or kind < 0x600 or kind in (0x8100, 0x88a8, 0x88b6) or l4):
        return None
    packet["eth"].update(type=kind, has_vlan=int("vlan" in packet))
    if "vlan" in packet:
        packet["vlan"]["inner_type"] = kind
    if l3 is None:
        return packet
    packet[l3]["proto"] = PROTO[l4]
    return packet


def frame(packet, number):
    """Its bytes; the last two are the number."""
    eth, vlan = packet["eth"], packet.get("vlan")
    p = Ether(dst=eth["dst"].to_bytes(6, "big"), src=eth["src"].to_bytes(6, "big"), type=eth["type"])
    if vlan:
        p.type = 0x8100
        p /= Dot1Q(prio=vlan["tci"] >> 13, id=vlan["tci"] >> 12 & 1, vlan=vlan["tci"] & 0xfff, type=eth["type"])
    if "ipv4" in packet:
        h = packet["ipv4"]
        p /= IP(tos=h["tos"], ttl=h["ttl"], proto=h["proto"], src=".".join(map(str, h["src"].to_bytes(4, "big"))),
                dst=".".join(map(str, h["dst"].to_bytes(4, "big"))), flags="MF" if h["frag"] else 0)
    elif "ipv6" in packet:
        h = packet["ipv6"]
        p /= IPv6(tc=h["tc"], hlim=h["hop"], nh=44 if h["has_frag"] else h["proto"], src=text6(h["src"]),
                  dst=text6(h["dst"]))
        if h["has_frag"]:
            p /= IPv6ExtHdrFragment(nh=h["proto"], m=1, id=5)
    for name, make in (("udp", UDP), ("tcp", TCP)):
        if name in packet:
            p /= make(**{k: v for k, v in packet[name].items()})
    for name, make in (("icmp", ICMP), ("sctp", SCTP)):
        if name in packet:
            p /= make()
    data = bytes(p / Raw(bytes(30)))
    return data + number.to_bytes(2, "big")


def text6(value):
    return ":".join(f"{value >> shift & 0xffff:x}" for shift in range(112, -1, -16))


def is_fragment(packet):
    return bool(packet.get("ipv4", {}).get("frag") or packet.get("ipv6", {}).get("has_frag"))


def seen(packet):
    """What a device matches of it: of fragments no field of layer 4, though the protocol is known."""
    fragment = is_fragment(packet)
    return {kind: {} if fragment and kind in PROTO else fields for kind, fields in packet.items()}


def taker(flows, packet):
    """The flow that takes the packet, or None."""
    found = [flow for flow in flows if flow.matches(seen(packet))]
    return min(found, key=lambda flow: flow.priority) if found else None
