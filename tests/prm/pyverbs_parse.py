# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Reads the layouts of pyverbs' mlx5_prm_structs.py, with small stand-ins for scapy's classes."""

import gzip
import re
import sys
import types

from ifc_parse import Layout, Member


class Recorded:
    """A field of the peer's file: name, width of one element in bits, count, nested class."""

    def __init__(self, name, width, count=1, nested=None):
        self.name, self.width, self.count, self.nested = name, width, count, nested


def fixed(width):
    return lambda name, default=None, *a, **k: Recorded(name, width)


def bit_field(name, default, size, **_):
    return Recorded(name, size)


def str_fixed(name, default=None, length=None, **_):
    return Recorded(name, 8 * length)


def packet_field(name, default, cls=None, **_):
    return Recorded(name, None, 1, cls)


def packet_list(name, default, cls=None, count_from=None, **_):
    return Recorded(name, None, count_from(None) if count_from else len(default or []), cls)


def field_list(name, default, field, count_from=None, **_):
    return Recorded(name, field.width, count_from(None) if count_from else len(default or []))


class Zero(int):
    """A packet whose every field is 0, also those of packets in it: the peer's conditions are called with it."""

    def __getattr__(self, name):
        return Zero()


def conditional(field, condition):
    """A field that exists only if the condition holds; alternatives have the same position."""
    return field if condition(Zero()) else None


def padded(field, *_, **__):
    return field


def multiple(choices, default):
    """MultipleTypeField: the default alternative."""
    return default


class Packet:
    """Base of the peer's classes."""

    fields_desc = []

    def __init__(self, *_, **__):
        pass


def stand_ins():
    fields = types.ModuleType("scapy.fields")
    widths = {"ByteField": 8, "ShortField": 16, "IntField": 32, "LongField": 64, "IPField": 32,
              "MACField": 48}
    for name, width in widths.items():
        setattr(fields, name, fixed(width))
    fields.BitField, fields.StrFixedLenField = bit_field, str_fixed
    fields.PacketField, fields.PacketListField = packet_field, packet_list
    fields.FieldListField, fields.MultipleTypeField = field_list, multiple
    fields.ConditionalField, fields.PadField = conditional, padded
    packet = types.ModuleType("scapy.packet")
    packet.Packet = Packet
    inet6 = types.ModuleType("scapy.layers.inet6")
    inet6.IP6Field = fixed(128)
    return {"scapy": types.ModuleType("scapy"), "scapy.packet": packet, "scapy.fields": fields,
            "scapy.layers": types.ModuleType("scapy.layers"), "scapy.layers.inet6": inet6}


def load(path):
    """Executes the peer's file; returns its global names."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        code = compile(f.read(), path, "exec")
    fakes = stand_ins()
    kept = {name: sys.modules.get(name) for name in fakes}
    sys.modules.update(fakes)
    try:
        names = {}
        exec(code, names)  # pylint: disable=exec-used
    finally:
        for name, module in kept.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return names


def snake(name):
    """`SwCqc` -> `cqc`, `CreateCqIn` -> `create_cq_in`."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=[0-9])", "_", name).lower()
    return name.removeprefix("sw_")


def layout_of(cls, cache):
    if cls in cache:
        return cache[cls]
    layout = Layout(snake(cls.__name__))
    cache[cls] = layout
    for r in (r for r in cls.fields_desc if r is not None):
        inner = layout_of(r.nested, cache) if r.nested else None
        width = inner.bits if inner else r.width
        layout.members.append(Member(r.name, layout.bits, width, r.count,
                                     inner.name if inner else None))
        layout.bits += width * r.count
    return layout


def parse(path):
    """({name: Layout}, {opcode name: value}) of the file at `path`."""
    names = load(path)
    cache = {}
    for value in list(names.values()):
        if isinstance(value, type) and issubclass(value, Packet) and value is not Packet:
            layout_of(value, cache)
    ops = {k.removeprefix("MLX5_CMD_OP_"): v for k, v in vars(names["DevxOps"]).items()
           if k.startswith("MLX5_CMD_OP_")}
    return {layout.name: layout for layout in cache.values()}, ops
