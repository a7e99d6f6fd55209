# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Prints all that a program can see of a device, so that two runs can be compared."""
import ctypes
import re
import sys

from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr

from rig import Ctl, Rig
import verbs_enums as e

# Opcode 0x100; general capabilities, current values.
QUERY_HCA_CAP = bytes([1, 0, 0, 0, 0, 0, 0, 1]) + bytes(8)


def mapped(offset, length):
    """Bytes of a page of the kernel's that libmlx5 has mapped; the emulator's own mapping is writable."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            found = re.match(rf"([0-9a-f]+)-[0-9a-f]+ .-.. {offset:08x} .*uverbs0", line)
            if found:
                return ctypes.string_at(int(found.group(1), 16), length).hex()
    return "not mapped"


def main():
    rig = Rig(Mlx5Context(Mlx5DVContextAttr(flags=e.MLX5DV_CONTEXT_FLAGS_DEVX), name="mlx5_0"))
    ctl = Ctl()
    attr = rig.context.query_device_ex()
    print("device", hex(attr.orig_attr.node_guid), attr.orig_attr.max_qp, attr.max_dm_size)
    print("guid", open("/sys/class/infiniband/mlx5_0/node_guid", encoding="ascii").read())
    print("mtu", open("/sys/class/net/mlxemu0np0/mtu", encoding="ascii").read())
    print("clock", mapped(0x700000, 56)[48:])
    print("counter", mapped(0x500000, 8) != bytes(8).hex())
    print("caps", rig.context.devx_general_cmd(QUERY_HCA_CAP, 16 + 4096).hex()[:600])
    sent, got = rig.exchange(2, wait_s=0.5)
    print("sent", [(d.wr_id, d.status) for d in sent])
    print("got", [(d.wr_id, d.status, d.bytes) for d in got])
    print("data", [rig.received(d.wr_id, 100).hex() for d in got])
    ctl("link", state="down")
    print("event", rig.context.get_async_event().event_type)
    # Doorbells and fetches depend on when the engine looks.
    print("counters", {name: value for name, value in ctl("counters")["ports"][0].items()
                       if name.endswith(("_frames", "_bytes")) and name != "wqe_fetch_bytes"})
    rig.close()
    rig.context.close()


main()
sys.stdout.flush()
