# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""DPDK's example l3fwd-power, unmodified, in interrupt-only mode: it sleeps without traffic, and packets wake it.

Usage: l3fwd_power.py PROGRAM [--frames N] [--settle SECONDS] [--idle SECONDS] [--threads] [--show] [MODE]...

It sleeps on the descriptors of its queues, for at most 10 ms, a limit of the example.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import time

import exlib
import forwarding
from exlib import WAIT_S, Example, check, e2e

# Two queues per port; each lcore polls one queue of both ports.
ARGS = ["-p", "3", "-P", "--interrupt-only", "--no-numa", "--config", "(0,0,0),(1,0,0),(0,1,1),(1,1,1)"]
# Routes: 1.1.1.0/24 leads to port 0, 2.1.1.0/24 to port 1.
DESTINATIONS = ["2.1.1.1", "1.1.1.1"]
# Limit of the share of a processor that an lcore takes; one that polls takes 1.0.
IDLE_LCORE_MAX = 0.10
# Limit for the process, driver and emulated device included, which takes about 0.07.
IDLE_PROCESS_MAX = 0.15 * e2e.PATIENCE
LOG_MAX = 3000


def cpu_ns(pid):
    """Processor time of each thread: {(name, tid): ns}."""
    times = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        times[(task / "comm").read_text().strip(), task.name] = int((task / "schedstat").read_text().split()[0])
    return times


def idle(example, seconds, threads):
    """Check the share of a processor that the lcores and the whole process take."""
    pid = example.pid()
    before, begin = cpu_ns(pid), time.monotonic()
    e2e.testlib.pass_time(seconds, "processor time is measured without traffic: the threads must sleep")
    passed = (time.monotonic() - begin) * 1e9
    shares = {thread: (ns - before.get(thread, 0)) / passed for thread, ns in cpu_ns(pid).items()}
    lcores = [share for (name, number), share in shares.items()
              if number == str(pid) or name.startswith(("rte-worker", "lcore-worker", "dpdk-worker"))]
    check(len(lcores) == 2, f"threads: {sorted(shares)}")
    print(f"  no traffic for {seconds} s: lcores {', '.join(f'{100 * s:.2f} %' for s in lcores)}, "
          f"the whole process with the emulated device {100 * sum(shares.values()):.2f} % of a processor")
    for (name, _), share in sorted(shares.items(), key=lambda item: -item[1]) if threads else []:
        print(f"    {name}: {100 * share:.2f} %")
    check(max(lcores) < IDLE_LCORE_MAX, "an lcore without packets does not sleep")
    check(sum(shares.values()) < IDLE_PROCESS_MAX, f"a thread does not sleep: {shares}")


def wakes(example):
    return len(re.findall(r"is waked up from rx interrupt on port \d queue \d", example.log()))


def one_by_one(example, count):
    """Frames so far apart that the lcores sleep between them; each is forwarded."""
    rng = random.Random(5)
    ready = [forwarding.frames_udp(port, [DESTINATIONS[port]], count, [60, 1000]) for port in (0, 1)]
    sent, got, waits = [[], []], [[], []], []
    for n in range(count):
        port = rng.randrange(2)
        frame = ready[port][n]
        e2e.testlib.pass_time(rng.uniform(0.002, 0.03), "the lcores must fall asleep")
        begin = time.monotonic()
        example.cables[port].send(frame)
        came = example.cables[1 - port].receive(1)
        waits.append(time.monotonic() - begin)
        check(len(came) == 1, f"frame {n} was not forwarded within {WAIT_S} s")
        sent[port].append(frame)
        got[1 - port] += came
    forwarding.exactly(forwarding.routed)(sent, got)
    print(f"  {count} frames one by one: {wakes(example)} wake-ups by interrupt, "
          f"{1e6 * statistics.median(waits):.0f} us from wire to wire in the median, "
          f"{1e6 * max(waits):.0f} us at most")
    # The lcore also wakes up every 10 ms, so that not every frame causes a wake-up by interrupt.
    check(wakes(example) >= count // 4, "too few wake-ups by interrupt")
    return sent, got


def bursts(example, sent, got):
    """Send many frames at once, with flows for all queues."""
    for port in (0, 1):
        frames = forwarding.frames_udp(port, [DESTINATIONS[port]], 200)
        example.cables[port].send(*frames)
        sent[port] += frames
        came = example.cables[1 - port].receive(len(frames))
        forwarding.exactly(forwarding.routed, in_order=False)(
            [frames if n == port else [] for n in (0, 1)], [came if n != port else [] for n in (0, 1)])
        got[1 - port] += came


def power(program, mode, options):
    begin = time.monotonic()
    with Example(program, ARGS, mode) as example:
        example.wait("entering main interrupt loop on lcore 0")
        example.wait("entering main interrupt loop on lcore 1")
        check("RX interrupt won't enable" not in example.log(), "no interrupts")
        e2e.testlib.pass_time(options.settle, "the work of the start must be over before processor time is measured")
        print(f"l3fwd-power, {mode}:")
        idle(example, options.idle, options.threads)
        sent, got = one_by_one(example, options.frames)
        bursts(example, sent, got)
        queues = {m for m in re.findall(r"rx interrupt on port (\d) queue (\d)", example.log())}
        check(len(queues) == 4, f"woken by queues {sorted(queues)} only")
        forwarding.counters_agree(json.loads(example.ctl("--json", "counters"))["ports"], sent, got)
        if options.show:
            print(example.log()[-LOG_MAX:])
        example.stop()
    print(f"  {sum(map(len, sent))} frames in, {sum(map(len, got))} out, "
          f"{time.monotonic() - begin:.1f} s", flush=True)


def run():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("modes", nargs="*", default=list(exlib.MODES))
    parser.add_argument("--frames", type=int, default=40 if os.environ.get("MLXPMD_SHORT") else 100)
    parser.add_argument("--settle", type=float, default=2.0, help="seconds between start and measurement when idle")
    parser.add_argument("--idle", type=float, default=1.0)
    parser.add_argument("--threads", action="store_true", help="processor time of each thread")
    parser.add_argument("--show", action="store_true", help="print the end of the program's output")
    options = parser.parse_args()
    for mode in options.modes:
        power(options.program, mode, options)


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN])
