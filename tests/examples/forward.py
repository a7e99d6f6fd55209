# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's examples that forward: frames received on one port are sent from the other as the example defines.

Usage: forward.py NAME PROGRAM [MODE]...: NAME is a row of PROGRAMS, MODE verbs or vfio (default: both; in the
short form of the tests one of them).
"""
import dataclasses
import json
import pathlib
import re
import signal
import sys
import tempfile
import time

import exlib
from exlib import WAIT_S, Example, check, e2e
from forwarding import (as_it_is, counters_agree, exactly, fragments, frames_udp, mac_of_l2fwd, routed)
from scapy.layers.inet6 import IPv6

@dataclasses.dataclass
class Program:
    """Arguments, output when it is ready, frames to send to a port, and check of the frames that it sends."""
    args: list
    ready: str
    frames: callable
    look: callable
    count: int = 0            # frames sent for those received on one port; 0: the same number
    ends: str = "closes"      # at SIGINT. dies: has no signal handler; exits: without closing its ports
    options: dict = dataclasses.field(default_factory=dict)
    output: callable = None   # check of its output
    files: dict = dataclasses.field(default_factory=dict)  # that it reads, in the folder {files}
    mode: str = "verbs"       # in the short form of the tests


def hardware_clock(text):
    """rxtx_callbacks -t measures the frequency of rte_eth_read_clock(): that of the device's counter."""
    hz = int(re.search(r"HW Freq ~= (\d+)", text).group(1))
    check(0.5 < hz / 156250000 < 2, f"the clock runs at {hz} Hz")


def ordered(text):
    check(len(re.findall(r"Ro Pkts tx failed:\s+0$", text, re.M)) == 1, "packets were not sent")


def plain(port):
    return frames_udp(port, ["192.0.2.1"])


def to_the_other(port, pattern, **kwargs):
    return frames_udp(port, [pattern.format(1 - port)], **kwargs)


TWO = "entering main loop on lcore 0[^!]*entering main loop on lcore 1|" \
      "entering main loop on lcore 1[^!]*entering main loop on lcore 0"
# The routes of the example's own files.
LPM = {"v4": "R198.18.0.0/24 0\nR198.18.1.0/24 1\n",
       "v6": "R2001:0200:0000:0000:0000:0000:0000:0000/64 0\nR2001:0200:0000:0001:0000:0000:0000:0000/64 1\n"}
LPM_ARGS = ["--rule_ipv4={files}/v4", "--rule_ipv6={files}/v6"]

PROGRAMS = {
    "l2fwd": Program(["-p", "3", "-T", "0"], TWO, plain, exactly(mac_of_l2fwd)),
    "l2fwd-jobstats": Program(["-p", "3", "-q", "1", "-l"], "entering main loop on lcore 1", plain,
                              exactly(mac_of_l2fwd),
                              ends="dies"),
    "l3fwd": Program(["-p", "3", "--config=(0,0,0),(0,1,1),(1,0,0),(1,1,1)", *LPM_ARGS], TWO,
                     lambda port: to_the_other(port, "198.18.{}.1") +
                     to_the_other(port, "2001:200:0:{}::1", network=IPv6), exactly(routed, in_order=False), mode="vfio",
                     files=LPM),
    "l3fwd-fib": Program(["-p", "3", "--config=(0,0,0),(1,0,1)", "--lookup=fib", *LPM_ARGS], TWO,
                         lambda port: to_the_other(port, "198.18.{}.1"), exactly(routed), files=LPM),
    "skeleton": Program([], "Core 0 forwarding packets", plain, exactly(as_it_is), ends="dies",
                        options={"lcores": "0"}, mode="vfio"),
    "rxtx_callbacks": Program(["-t"], "Core 0 forwarding packets", plain, exactly(as_it_is), ends="dies",
                              # clock=raw does not depend on the load of the machine.
                              options={"lcores": "0", "devargs": "clock=raw"}, output=hardware_clock),
    "packet_ordering": Program(["-p", "3"], "REORDERAPP: worker_thread", plain, exactly(as_it_is),
                               # One worker. With two, the example keeps the last packets in its reorder buffer, since
                               # it takes at most 32 out for each burst that it puts in.
                               options={"lcores": "0@0,1@1,2@0"}, output=ordered),
    "ip_fragmentation": Program(["-p", "3", "-q", "1"], TWO,
                                lambda port: frames_udp(port, [f"100.{20 - 10 * port}.0.1"], 20, [4000, 9000, 1600]),
                                fragments, count=7 * 3 + 7 * 7 + 6 * 2, ends="dies", mode="vfio"),
    "symmetric_mp": Program(["-p", "3", "--num-procs=1", "--proc-id=0"], "Lcore 0 using ports", plain,
                            exactly(as_it_is), ends="exits", options={"lcores": "0"}),
}


def end(example, how):
    """End it with SIGINT. It may leave objects, but the audit must have no violations."""
    audit = json.loads(example.ctl("--json", "audit"))
    check(audit["violations"] == 0, f"{audit}")
    if how == "closes":
        example.stop()
    elif how == "dies":
        example.stop(status=128 + signal.SIGINT, audit=None)
    else:
        printed = len(example.log())
        report = example.stop(status=3, audit=None)
        check(re.fullmatch(r"\d+ left, 0 violations", report.get("audit", "")), report.text)
        # The kernel releases its objects. No thread may report a lost device while it exits.
        check("mlxpmd: port" not in example.log()[printed:], example.log())


def forward(name, program, mode, folder):
    case = PROGRAMS[name]
    begin = time.monotonic()
    for file, text in case.files.items():
        (pathlib.Path(folder) / file).write_text(text)
    args = [arg.format(files=folder) for arg in case.args]
    with Example(program, args, mode, **case.options) as example:
        example.wait(case.ready)
        sent = [case.frames(port) for port in (0, 1)]
        for port in (0, 1):
            example.cables[port].send(*sent[port])
        got = [example.cables[port].receive(case.count or len(sent[1 - port]), WAIT_S) for port in (0, 1)]
        got = [frames + example.cables[port].quiet() for port, frames in enumerate(got)]
        case.look(sent, got)
        counters_agree(json.loads(example.ctl("--json", "counters"))["ports"], sent, got)
        end(example, case.ends)
        if case.output is not None:
            case.output(example.log())
    print(f"{name}, {mode}: {sum(map(len, sent))} frames in, {sum(map(len, got))} out, "
          f"{time.monotonic() - begin:.1f} s", flush=True)


def run():
    name, program, *given = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="mlxpmd-ex.") as folder:
        for mode in exlib.modes(given, PROGRAMS[name].mode):
            forward(name, program, mode, folder)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
