# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's VFIO test on an Ethernet port: run by pyverbs_vfio.py under the emulator.

usage: vfio_ethernet.py DIRECTORY

The test of the package skips itself on Ethernet: without the kernel the GID table is empty
that verbs would use, and the port's state is read by MADs. Its own resources do all the work here
(context, PD, MR, doorbells, MSI vector and EQ, CQ, QPs, traffic); what is replaced is where GIDs come
from and how one waits for the port.
"""
import importlib.machinery
import os
import sys
import threading
import time
import unittest

sys.path[0] = sys.argv[1]
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
importlib.machinery.SourceFileLoader("tests", os.path.join(sys.argv[1], "__init__.py")).load_module()

from args_parser import parser  # noqa: E402
import testlib  # noqa: E402
import verbs_enums as e  # noqa: E402
from tests import mlx5_prm_structs  # noqa: E402
from tests import test_mlx5_vfio as theirs  # noqa: E402
from tests.mlx5_base import PortStatus  # noqa: E402

PCI = "0000:c1:00.0"
MAC = "0c:42:a1:4e:d0:00"
WAIT_S = 20

EQE_BYTES = 64


class SwEqe(mlx5_prm_structs.SwEqe):
    """Their tests read the first 8 bytes of an entry only, and scapy 2.6 fails where a field has none."""

    def __init__(self, data=b"", **more):
        super().__init__(data.ljust(EQE_BYTES, b"\0") if data else data, **more)


mlx5_prm_structs.SwEqe = SwEqe


class Context(theirs.Mlx5VfioContext):
    """GIDs as the device has them for its own address: index 1 is of RoCE v2."""

    def query_gid_type(self, port_num, index):
        return e.IBV_GID_TYPE_SYSFS_ROCE_V2 if index == 1 else e.IBV_GID_TYPE_SYSFS_IB_ROCE_V1


class Ethernet:
    """Of a resource of theirs: RoCE without the kernel. A context that is given is used, which rdma-core 65 forgets."""

    def __init__(self, *args, ctx=None, **more):
        self.given = ctx
        super().__init__(*args, ctx=ctx, **more)

    def create_context(self):
        self.ctx = self.ctx or self.given
        if not self.ctx:
            attr = theirs.Mlx5VfioAttr(pci_name=self.pci_name)
            attr.pci_name = self.pci_name
            self.ctx = Context(attr=attr)

    def query_gid(self):
        mac = [int(x, 16) for x in MAC.split(":")]
        low = [mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, *mac[3:]]
        address = bytes([0xfe, 0x80, 0, 0, 0, 0, 0, 0, *low])
        self.gid = [int.from_bytes(address[i:i + 4], "big") for i in range(0, 16, 4)]


class Resources(Ethernet, theirs.Mlx5VfioResources):
    pass


class EqResources(Ethernet, theirs.Mlx5VfioEqResources):
    pass


class VfioEthernet(theirs.Mlx5VfioTrafficTest):
    test_mlx5vfio_rc_qp_send_imm_traffic = None
    test_mlx5vfio_async_event = None

    def setUp(self):
        self.ib_port, self.mac_addr = 1, MAC
        self.server = self.client = None
        self.event_ex, self.proc_events, self.caught_event = [], True, False

    def make(self, kind):
        self.server = kind(ib_port=1, pci_name=PCI, gid_index=1)
        self.client = Resources(ib_port=1, pci_name=PCI, gid_index=1, ctx=self.server.ctx)

    def pumped(self, work, *pumps):
        """work() while their threads take the events."""
        threads = [threading.Thread(target=p) for p in pumps]
        for t in threads:
            t.start()
        try:
            work()
        finally:
            self.proc_events = False
            for t in threads:
                t.join()
        self.assertEqual(self.event_ex, [])

    def port_to(self, status):
        self.server.change_port_state_with_registers(status)
        end = time.monotonic() + WAIT_S
        while self.server.query_port_state_with_registers() != (status, status):
            self.assertLess(time.monotonic(), end, "the port does not follow")

    def test_traffic(self):
        self.make(Resources)
        self.pre_run()
        self.pumped(self.send_imm_traffic, self.vfio_process_events)

    def test_event(self):
        self.make(EqResources)
        self.pre_run()

        def work():
            self.port_to(PortStatus.MLX5_PORT_DOWN)
            self.port_to(PortStatus.MLX5_PORT_UP)
            testlib.await_until(lambda: self.caught_event, WAIT_S, pause=0.05)

        self.pumped(work, self.vfio_process_events, self.vfio_process_async_events)
        self.assertTrue(self.caught_event, "no event of the port came by the vector")


if __name__ == "__main__":
    del sys.argv[1:]
    parser.parse_args()
    unittest.main(argv=[sys.argv[0], "-v"])
