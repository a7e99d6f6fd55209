# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A raw Ethernet queue pair on a looped port, through unmodified rdma-core, and the control socket."""
import collections
import json
import os
import socket
import sys
import time

from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.flow import Flow, FlowAttr
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.spec import EthSpec
from pyverbs.wr import SGE, RecvWR, SendWR

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import verbs_enums as e  # noqa: E402

with open("/sys/class/net/mlxemu0np0/address", encoding="ascii") as address:
    MAC = address.read().strip()
DEPTH = 32
BUFFER = 2048
ETHERTYPE = 0x88B5


class Failed(Exception):
    """A check of the test did not hold."""


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(map(str, what)))


class Ctl:
    """The control socket of this process."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.environ["MLXEMU_CTL"])
        self.file = self.socket.makefile("rw")

    def request(self, cmd, **args):
        self.file.write(json.dumps({"cmd": cmd, **args}) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def __call__(self, cmd, **args):
        answer = self.request(cmd, **args)
        check(answer.pop("ok"), cmd, args, answer)
        return answer


Done = collections.namedtuple("Done", "wr_id status opcode bytes vendor")


class Rig:
    """One queue pair that hears what it sends."""

    def __init__(self, context=None):
        self.context = context or Context(name="mlx5_0")
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 4 * DEPTH)
        caps = QPCap(DEPTH, DEPTH, 1, 1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=e.IBV_QPT_RAW_PACKET, scq=self.cq, rcq=self.cq,
                                         cap=caps))
        attr = QPAttr(port_num=1)
        self.qp.to_init(attr)
        self.qp.to_rtr(attr)
        self.qp.to_rts(attr)
        self.mr = MR(self.pd, 2 * DEPTH * BUFFER, e.IBV_ACCESS_LOCAL_WRITE)
        flow = FlowAttr(num_of_specs=1)
        flow.specs.append(EthSpec(dst_mac=MAC, dst_mac_mask="ff:ff:ff:ff:ff:ff"))
        self.flow = Flow(self.qp, flow)
        self.sent = self.posted = 0

    def close(self):
        for thing in (self.flow, self.qp, self.mr, self.cq, self.pd):
            thing.close()

    def address(self, slot):
        return self.mr.buf + slot * BUFFER

    def post(self, count=1):
        for _ in range(count):
            slot = self.posted % DEPTH
            self.qp.post_recv(RecvWR(wr_id=1000 + self.posted, num_sge=1,
                                     sg=[SGE(self.address(slot), BUFFER, self.mr.lkey)]))
            self.posted += 1

    @staticmethod
    def frame(number, length=100):
        head = bytes.fromhex(MAC.replace(":", "")) + bytes([2, 0, 0, 0, 0, 1])
        return (head + ETHERTYPE.to_bytes(2, "big") + number.to_bytes(4, "big")).ljust(length, b".")

    def send(self, length=100):
        slot = DEPTH + self.sent % DEPTH
        self.mr.write(self.frame(self.sent, length), length, slot * BUFFER)
        self.qp.post_send(SendWR(wr_id=self.sent, num_sge=1, opcode=e.IBV_WR_SEND,
                                 send_flags=e.IBV_SEND_SIGNALED,
                                 sg=[SGE(self.address(slot), length, self.mr.lkey)]))
        self.sent += 1

    def poll(self, wanted, wait_s=2.0):
        """Completions until so many came, and a moment longer: there may be too many."""
        done, until = [], time.monotonic() + wait_s
        quiet = None
        while time.monotonic() < (quiet or until):
            for wc in self.cq.poll(num_entries=8)[1]:
                done.append(Done(wc.wr_id, wc.status, wc.opcode, wc.byte_len, wc.vendor_err))
            if len(done) >= wanted and quiet is None:
                quiet = time.monotonic() + 0.02
        return done

    def exchange(self, count=1, expect=None, wait_s=2.0, length=100):
        """Sends frames to itself; completions of sending and of receiving."""
        self.post(count)
        for _ in range(count):
            self.send(length)
        done = self.poll(2 * count if expect is None else expect, wait_s)
        return [d for d in done if d.wr_id < 1000], [d for d in done if d.wr_id >= 1000]

    def received(self, wr_id, length):
        return self.mr.read(length, (wr_id - 1000) % DEPTH * BUFFER)
