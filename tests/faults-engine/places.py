# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Every place of the fault rules, hit through the kernel's interface by unmodified rdma-core.

Runs below `mlxemu run`; one case after the other, each with its rules from the control socket.
"""
import ctypes
import errno
import mmap
import os
import re
import select
import socket
import struct
import sys
import tempfile
import time

from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr, Mlx5UMEM
from pyverbs.pyverbs_error import PyverbsRDMAError

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import testlib  # noqa: E402
import verbs_enums as e  # noqa: E402

from rig import Ctl, Failed, Rig, check

OK, LOC_LEN, LOC_QP_OP, WR_FLUSH, REM_OP = 0, 1, 2, 5, 11


class rules:
    """Rules for the time of a with block; afterwards each must have the expected number of hits."""

    def __init__(self, ctl, *texts, hits=1):
        self.ctl, self.texts, self.hits = ctl, texts, hits

    def __enter__(self):
        for text in self.texts:
            self.ctl("fault.add", rule=text)

    def __exit__(self, kind, *_):
        listed = self.ctl("fault.list")["rules"]
        self.ctl("fault.clear")
        if kind is None:
            check(listed[0]["hits"] == self.hits, listed)


def refused(call, *numbers):
    try:
        call()
    except PyverbsRDMAError as error:
        check(error.error_code in numbers, error, numbers)
        return
    raise Failed(f"nothing failed, expected errno {numbers}")


def healthy(rig):
    sent, got = rig.exchange(2)
    check([d.status for d in sent + got] == [OK] * 4, sent, got)


def cmd_entry(ctl, rig):
    with rules(ctl, "on cmd.entry match op=ALLOC_PD count 1 do fail status=NO_RESOURCES"):
        refused(lambda: PD(rig.context), errno.EAGAIN)
    PD(rig.context).close()


def cmd_exit(ctl, rig):
    before = ctl("ledger")["ports"][0]
    with rules(ctl, "on cmd.exit match op=ALLOC_PD count 1 do fail status=EXCEED_LIM"):
        refused(lambda: PD(rig.context), errno.ENOMEM)
    after = ctl("ledger")["ports"][0]
    check(after["objects"] == before["objects"], after)
    check(after.get("lost_to_faults", 0) == before.get("lost_to_faults", 0) + 1, after)
    with rules(ctl, "on cmd.exit match op=ALLOC_PD do delay us=100000"):
        begin = time.monotonic()
        pd = PD(rig.context)
        check(time.monotonic() - begin >= 0.1, "the answer was not late")
    pd.close()


def umem_reg(ctl, rig):
    with rules(ctl, "on umem.reg do fail errno=ENOMEM"):
        refused(lambda: Mlx5UMEM(rig.context, 4096), errno.ENOMEM)
    Mlx5UMEM(rig.context, 4096).close()


def mr_reg(ctl, rig):
    with rules(ctl, "on mr.reg match port=0 do fail errno=EPERM"):
        refused(lambda: MR(rig.pd, 4096, 1), errno.EPERM)
    with rules(ctl, "on mr.reg match port=1 do fail errno=EPERM", hits=0):
        MR(rig.pd, 4096, 1).close()


def alloc(ctl, rig):
    with rules(ctl, "on alloc match from=libnothing do fail errno=ENOMEM", hits=0):
        PD(rig.context).close()
    for k in range(2):
        with rules(ctl, f"on alloc match from=libmlx5 after {k} count 1 do fail errno=ENOMEM"):
            refused(lambda: QP(rig.pd, QPInitAttr(qp_type=e.IBV_QPT_RAW_PACKET, scq=rig.cq, rcq=rig.cq,
                                                  cap=QPCap(8, 8, 1, 1))), errno.ENOMEM)
    PD(rig.context).close()


def doorbell(ctl, rig):
    with rules(ctl, "on doorbell match q=tx0 count 1 do drop"):
        sent, got = rig.exchange(1, expect=1, wait_s=0.1)
        check(not sent and not got, sent, got)
    sent, got = rig.exchange(1, expect=4)
    check(len(sent) == 2 and len(got) == 2, "the next doorbell did not repair it", sent, got)
    with rules(ctl, "on doorbell count 1 do delay us=150000"):
        begin = time.monotonic()
        sent, got = rig.exchange(1)
        check(len(sent) == 1 and time.monotonic() - begin >= 0.15, sent)


def wqe_fetch(ctl, rig):
    with rules(ctl, "on wqe.fetch match q=tx0 after 1 count 1 do error syndrome=LOCAL_QP_OP_ERR "
                    "vendor=0x77"):
        sent, got = rig.exchange(3)
        check([d.status for d in sent] == [OK, LOC_QP_OP, WR_FLUSH], sent)
        check(sent[1].vendor == 0x77, sent)
        check(len(got) == 1, got)


def wqe_fetch_rx(ctl, rig):
    with rules(ctl, "on wqe.fetch match q=rx0 count 1 do error syndrome=LOCAL_PROT_ERR"):
        _, got = rig.exchange(2)
        check([d.status for d in got] == [4, WR_FLUSH], got)


def cqe_error_tx(ctl, rig):
    with rules(ctl, "on cqe.write match q=tx0 count 1 do error syndrome=REMOTE_OP_ERR vendor=9"):
        sent, _ = rig.exchange(2)
        check([d.status for d in sent] == [REM_OP, WR_FLUSH] and sent[0].vendor == 9, sent)


def cqe_error_rx(ctl, rig):
    with rules(ctl, "on cqe.write match q=rx0 count 1 do error syndrome=LOCAL_LENGTH_ERR"):
        _, got = rig.exchange(2)
        check([d.status for d in got] == [LOC_LEN, OK], "one frame lost, the queue goes on", got)
    with rules(ctl, "on cqe.write match q=rx0 count 1 do error syndrome=LOCAL_QP_OP_ERR"):
        _, got = rig.exchange(2)
        check([d.status for d in got] == [LOC_QP_OP, WR_FLUSH], got)


def cqe_write(ctl, rig):
    with rules(ctl, "on cqe.write match q=rx0 count 1 do drop"):
        sent, got = rig.exchange(2, expect=3)
        check(len(sent) == 2 and len(got) == 1, sent, got)
    # The byte count's lowest byte: 100 becomes 101.
    with rules(ctl, "on cqe.write match q=rx0 count 1 do corrupt off=47 xor=1"):
        _, got = rig.exchange(2)
        check([d.bytes for d in got] == [101, 100], got)
    with rules(ctl, "on cqe.write match q=tx0 opcode=0 count 1 do dup"):
        sent, got = rig.exchange(1, expect=3)
        check(len(sent) == 2 and len(got) == 1, sent, got)


def wire(ctl, rig):
    for place in ("wire.tx", "wire.rx"):
        with rules(ctl, f"on {place} every 2 do drop", hits=2):
            sent, got = rig.exchange(4, expect=6)
            check(len(sent) == 4 and len(got) == 2, place, sent, got)
        rig.send()
        rig.send()
        check(len(rig.poll(4)) == 4, place, "buffers left over")
        with rules(ctl, f"on {place} match len=100 count 1 do corrupt off=20 xor=0x80"):
            _, got = rig.exchange(1)
            check(rig.received(got[0].wr_id, 21)[20] == 0x80 ^ ord("."), place)
        with rules(ctl, f"on {place} count 1 do truncate len=64"):
            _, got = rig.exchange(1)
            check(got[0].bytes == 64, place, got)
        with rules(ctl, f"on {place} count 1 do dup"):
            rig.post(1)
            _, got = rig.exchange(1, expect=3)
            check(len(got) == 2, place, got)
        with rules(ctl, f"on {place} count 1 do delay us=150000"):
            begin = time.monotonic()
            _, got = rig.exchange(1)
            check(len(got) == 1 and time.monotonic() - begin >= 0.15, place, got)
        with tempfile.NamedTemporaryFile() as other:
            other.write(rig.frame(7)[:14] + b"another" * 10)
            other.flush()
            with rules(ctl, f"on {place} count 1 do replace file={other.name}"):
                _, got = rig.exchange(1)
                check(rig.received(got[0].wr_id, 21)[14:] == b"another", place)


def event_channels():
    """Descriptors of the event channels of the process."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        # The model keeps its own ends above 600.
        if fd < 600 and os.path.exists(f"/proc/self/fd/{fd}") and \
                os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            with socket.socket(fileno=os.dup(fd)) as copy:
                if copy.type == socket.SOCK_SEQPACKET:
                    yield fd


def event_waits():
    """Whether an event channel of the process has something to read."""
    return bool(select.select(list(event_channels()), [], [], 0.05)[0])


def events(ctl, rig):
    """Port events: the device's descriptor hears both changes unless one is lost."""
    def changes():
        ctl("link", state="down")
        ctl("link", state="up")
        heard = []
        while event_waits():
            event = rig.context.get_async_event()
            heard.append(event.event_type)
            event.ack()
        return heard
    down, up = e.IBV_EVENT_PORT_ERR, e.IBV_EVENT_PORT_ACTIVE
    check(changes() == [down, up], "port events without a rule")
    with rules(ctl, "on eqe.write match type=9 count 1 do drop"):
        check(changes() == [up], "eqe.write drop")
    with rules(ctl, "on eqe.write match type=9 count 1 do dup"):
        check(changes() == [down, down, up], "eqe.write dup")
    with rules(ctl, "on event.fd count 1 do drop"):
        check(changes() == [up], "event.fd drop")


def clock_page():
    """The kernel's clock page as libmlx5 has it mapped: sign and nanoseconds."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            found = re.match(r"([0-9a-f]+)-[0-9a-f]+ r-\S+ 00700000 .*uverbs0", line)
            if found:
                raw = ctypes.string_at(int(found.group(1), 16), 24)
                return struct.unpack_from("<I4xQQ", raw)
    raise Failed("the clock page is not mapped")


def clock(ctl, _rig):
    """The page is refreshed each millisecond while a rule is about it."""
    def meanwhile(rule):
        ctl("fault.add", rule=rule)
        testlib.pass_time(0.05, "the page is refreshed under the rule, whose effect must last")
        before = clock_page()
        testlib.pass_time(0.05, "a frozen page must not change")
        after = clock_page()
        ctl("fault.clear")
        return before, after
    check(meanwhile("on clock.page do tear")[1][0] % 2 == 1, "the page is not torn")
    before = clock_page()
    _, after = meanwhile("on clock.page count 1 do jump ns=5000000000000")
    check(after[0] % 2 == 0 and after[1] - before[1] > 4 * 10**12, "no jump", before, after)
    before, after = meanwhile("on clock.page do freeze")
    check(before == after, "the page moved although frozen", before, after)
    before, after = meanwhile("on clock.page do flip")
    check(after[0] - before[0] > 1000 and after[1] == before[1], "no flip", before, after)


def kernel_calls(ctl, rig):
    for name in ("EINTR", "EAGAIN", "EIO", "ENODEV", "ENOMEM", "EFAULT"):
        with rules(ctl, f"on ioctl match method=alloc_pd count 1 do fail errno={name}"):
            refused(lambda: PD(rig.context), getattr(errno, name))
    with rules(ctl, "on open count 1 do fail errno=EMFILE"):
        # libibverbs then looks for the node elsewhere and reports that.
        refused(lambda: Context(name="mlx5_0"), errno.EMFILE, errno.ENOENT)
    with rules(ctl, "on ioctl match chance=0 do fail errno=EIO", hits=0):
        PD(rig.context).close()


def maps(ctl, _rig):
    """libmlx5 opens a device with each one of its three pages missing, or reports ENOMEM."""
    for k in range(3):
        with rules(ctl, f"on mmap after {k} count 1 do fail errno=ENOMEM"):
            try:
                Context(name="mlx5_0").close()
            except PyverbsRDMAError as error:
                check(error.error_code == errno.ENOMEM, error)


def link(ctl, rig):
    def state():
        return rig.context.query_port(1).state
    check(state() == e.IBV_PORT_ACTIVE, "the link is down to begin with")
    with rules(ctl, "on cmd.entry match op=ALLOC_PD do link state=down ms=1000"):
        PD(rig.context).close()
    check(state() == e.IBV_PORT_DOWN, state())
    with open("/sys/class/net/mlxemu0np0/carrier", encoding="ascii") as file:
        check(file.read() == "0\n", "carrier in sysfs")
    sent, got = rig.exchange(1, expect=1)
    check(len(sent) == 1 and not got, sent, got)
    check(testlib.await_until(lambda: state() == e.IBV_PORT_ACTIVE, 10), "the link did not come back")


def events_taken(rig):
    """Types of the asynchronous events that wait."""
    heard = []
    while e.IBV_EVENT_DEVICE_FATAL not in heard and event_waits():
        event = rig.context.get_async_event()
        heard.append(event.event_type)
        event.ack()
    return heard


def remove(ctl, rig):
    """The last one: nothing of the device works afterwards."""
    # First calls fail and the device works: the fatal event marks the end of that.
    with rules(ctl, "on doorbell count 1 do remove ms=500"):
        sent, got = rig.exchange(4, expect=4)
        check(len(sent) == 4 and len(got) == 4, sent, got)
    refused(lambda: PD(rig.context), errno.EIO)
    heard = events_taken(rig)
    check(e.IBV_EVENT_DEVICE_FATAL not in heard and os.path.exists("/sys/class/infiniband/mlx5_0"),
          "removed too early", heard)
    testlib.await_until(lambda: not os.path.exists("/sys/class/infiniband/mlx5_0"), 10)
    sent, got = rig.exchange(1, expect=1, wait_s=0.1)
    check(not sent and not got, sent, got)
    heard = events_taken(rig)
    check(e.IBV_EVENT_DEVICE_FATAL in heard, heard)
    refused(lambda: PD(rig.context), errno.EIO)
    fd = next(int(fd) for fd in os.listdir("/proc/self/fd")
              if os.path.exists(f"/proc/self/fd/{fd}") and
              os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:uverbs0"))
    try:
        mmap.mmap(fd, 4096, offset=0x700000)
        check(False, "a page of a removed device was mapped")
    except OSError as error:
        check(error.errno == errno.EIO, error)
    check(not os.path.exists("/sys/class/infiniband/mlx5_0"), "still in sysfs")
    check(not os.path.exists("/dev/infiniband/uverbs0"), "still in /dev")
    check(not os.path.exists("/sys/bus/pci/devices/0000:c1:00.0"), "still on the bus")
    check([d.name for d in get_device_list()] == [b"mlx5_1"], get_device_list())
    left = ctl("ledger")
    check(left["objects"] == 0 and left["ports"][0]["event_channels"] == 0, left)


def fatal_element():
    """Element of the fatal event that comes next, which pyverbs does not return; None: another event."""
    check(testlib.await_until(event_waits, 10), "no event")
    # struct ib_uverbs_async_event_desc
    element, kind, _ = struct.unpack("<QII", os.read(next(event_channels()), 16))
    return element if kind == e.IBV_EVENT_DEVICE_FATAL else None


def fatal(ctl, rig):
    """Fatal error: the event of the port, destroys are answered and not executed, DMA until the device is quiesced."""
    mr = MR(rig.pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
    ctl("health", syndrome=8, ms=1500)
    check(fatal_element() == 1, "not the event of the port")
    refused(lambda: PD(rig.context), errno.ENOLINK)
    refused(lambda: rig.context.query_port(1), errno.ENOLINK)
    refused(lambda: Mlx5UMEM(rig.context, 4096), errno.ENOLINK)
    refused(lambda: Context(name="mlx5_0"), errno.EAGAIN)
    mr.close()
    objects = ctl("ledger")["objects"]
    rig.flow.close()
    check(ctl("ledger")["objects"] == objects, "a flow was destroyed", ctl("ledger"))
    sent, got = rig.exchange(4, expect=8)
    check(len(sent) == 4 and len(got) == 4, "no traffic after the error", sent, got)
    check(os.path.exists("/sys/class/infiniband/mlx5_0"), "removed at once")
    check(testlib.await_until(lambda: not os.path.exists("/sys/class/infiniband/mlx5_0"), 10), "never quiesced")
    check(fatal_element() == 0, "not the event of the device")
    refused(lambda: PD(rig.context), errno.EIO)
    check(os.path.exists("/sys/bus/pci/devices/0000:c1:00.0"), "the PCI function is away")


def given_back(ctl, rig):
    """The use of memory that is deregistered before the device is quiesced is a violation."""
    rig.post(2)
    ctl("health", syndrome=8, ms=60000)
    rig.mr.close()
    check(ctl("audit")["violations"] == 0, ctl("audit"))
    ctl("inject", port=0, frames=1)
    check(ctl("audit")["kinds"] == {"DMA to memory given back": 1}, ctl("audit"))


# Only by name. libmlx5 44 destroys a doorbell page that it could not map by a handle that it has
# not noted yet: the page is left over, which an audit does not forgive. A failed device does not come back.
BY_NAME = {"maps": maps, "fatal": fatal, "given_back": given_back}
AWAY = remove, fatal, given_back

# Each with a queue pair of its own: most leave it in error.
CASES = [cmd_entry, cmd_exit, umem_reg, mr_reg, alloc, doorbell, wqe_fetch, wqe_fetch_rx, cqe_error_tx,
         cqe_error_rx, cqe_write, wire, events, clock, kernel_calls, link]


def main():
    context = Mlx5Context(Mlx5DVContextAttr(flags=e.IBV_ACCESS_LOCAL_WRITE), name="mlx5_0")
    ctl = Ctl()
    failed = 0
    cases = [BY_NAME[name] for name in sys.argv[1:]] or CASES + [remove]
    for case in cases:
        rig = Rig(context)
        try:
            healthy(rig)
            case(ctl, rig)
            print("ok    ", case.__name__)
        except (Failed, PyverbsRDMAError, OSError, IndexError) as error:
            failed += 1
            print("FAILED", case.__name__, error)
            ctl("fault.clear")
        if case not in AWAY:
            rig.close()
    print(f"{len(cases)} cases, {failed} failed")
    sys.stdout.flush()
    # Objects of a removed device cannot be destroyed one by one: close the file instead.
    for fd in os.listdir("/proc/self/fd"):
        if os.path.exists(f"/proc/self/fd/{fd}") and \
                os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:uverbs0"):
            os.close(int(fd))
    os._exit(failed != 0)


if __name__ == "__main__":
    main()
