# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Compare the telemetry of the clock with the emulator's clocks, for each source, and check the refresh task."""
import json
import time

import pmdlib
from e2e import check, main, testlib
from telemetry_client import Client

FIELDS = {"port", "quality", "source", "unit", "epoch", "frequency_hz", "offset_ns", "drift_ppm", "uncertainty_ns",
          "age_ns", "generation", "steps", "slews", "busy", "expired", "failed", "rejected", "refreshes",
          "refresh_us", "attempts"}
QUALITIES = ("good", "holdover", "unsynced", "broken")
# Tolerances: a busy machine reads the counter late. The changes that are checked are at least ten times as large.
OFFSET_NS, DRIFT_PPM = 5e6, 10.0


def clock(client, port=0):
    """The reply of /mlxpmd/clock; offset and drift, which are strings with a sign, converted to numbers."""
    c = client.query(f"/mlxpmd/clock,{port}")
    check(set(c) == FIELDS and c["port"] == port and c["quality"] in QUALITIES, c)
    for name, kind in (("offset_ns", int), ("drift_ppm", float)):
        check(c[name][0] in "+-", c)
        c[name] = kind(c[name])
    return c


def until(client, what, good, seconds=20):
    """Wait until good(clock) is true and return that clock."""
    clocks = []

    def met():
        clocks.append(clock(client))
        return good(clocks[-1])

    check(testlib.await_until(met, seconds, pause=0.1), f"{what}: {clocks[-1]}")
    return clocks[-1]


def emulated(testpmd, port=0):
    """The emulator's clocks of a port, and the offset of its PTP clock from UTC in ns."""
    t = testpmd.ctl("clock")
    return t["ports"][port], t["ports"][port]["ptp_ns"] - t["utc_ns"]


def start(devargs, lcores=None, emu_args=()):
    args = pmdlib.eal(devargs, telemetry=True)
    if lcores:
        args[args.index("-l"):args.index("-l") + 2] = lcores
    return pmdlib.Testpmd(eal_args=args, emu_args=emu_args)


def check_refreshed(testpmd, client, before):
    """The clock is refreshed. On a busy machine it may have expired; the log and the counter agree on how often."""
    until(client, "not refreshed", lambda c: c["refreshes"] > before["refreshes"] and c["quality"] != "broken")
    c = clock(client)
    check(c["failed"] == 0 and c["refresh_us"] <= 100000, c)
    testpmd.cmd("show port summary 0")
    absent = testpmd.log.count("port 0: timestamps are absent")
    check(c["expired"] <= absent <= clock(client)["expired"], f"{absent} lines: {c}")
    return c


def source(devargs, name, unit, line, emu_args=()):
    """One source: the log line at the start, its telemetry, its frequency, and that it is refreshed."""
    with start(devargs, emu_args=emu_args) as testpmd:
        client = Client()
        check(line in testpmd.started, f"{devargs}: no line '{line}' in {testpmd.started}")
        c = clock(client)
        print(json.dumps(c))
        check(c["source"] == name and c["unit"] == unit and c["epoch"], c)
        c = check_refreshed(testpmd, client, c)
        port, _ = emulated(testpmd)
        check(abs(c["frequency_hz"] / port["hz"] - 1) < 0.01, f"{c} {port}")
        for bad in ("", ",x", ",2", ",0,1"):
            check(client.query("/mlxpmd/clock" + bad) is None, bad)
        check(clock(client, 1)["source"] == name, "port 1")
        testpmd.quit()


def page_changes():
    """The PTP clock steps, drifts and slews: telemetry, xstats and log report it correctly."""
    with start("clock=page") as testpmd:
        client = Client()
        first = until(client, "offset", lambda c: abs(c["offset_ns"]) < OFFSET_NS)
        check(first["steps"] == 0, first)
        check(first["uncertainty_ns"] <= 10, first)
        for step in (50000000, -2000000000):
            _, before = emulated(testpmd)
            testpmd.ctl("clock", "step", str(step))
            _, after = emulated(testpmd)
            check(abs(after - before - step) < 1000, f"the emulator stepped by {after - before}")
            c = until(client, f"step {step}", lambda c: abs(c["offset_ns"] - after) < OFFSET_NS)
        check(c["steps"] == 2 and testpmd.xstats(0)["clock_steps"] == 2, c)
        check(testpmd.log.count("the clock stepped") >= 1, "the step is not logged")
        testpmd.ctl("clock", "drift", "200")
        c = until(client, "drift", lambda c: abs(c["drift_ppm"] - 200) < DRIFT_PPM)
        check(c["steps"] == 2, f"a drift is counted as a step: {c}")
        testpmd.ctl("clock", "drift", "0")
        testpmd.ctl("clock", "slew", "-150000")
        c = until(client, "slew", lambda c: abs(c["drift_ppm"] + 150) < DRIFT_PPM)
        check(c["steps"] == 2 and c["slews"] > first["slews"], f"a slew is counted as a step: {c}")
        testpmd.quit()


def busy():
    """A page whose update never ends is counted as busy; the clock works as long as its last snapshot is valid."""
    with start("clock=page") as testpmd:
        client = Client()
        testpmd.ctl("fault", "add", "on clock.page do tear")
        c = until(client, "busy", lambda c: c["busy"] >= 10)
        until(client, "busy and broken", lambda c: c["quality"] != "broken")
        check(testpmd.xstats(0)["clock_busy"] >= 10, c)
        testpmd.quit()


def once():
    """The control thread refreshes the clock once per period."""
    with start("clock=page") as testpmd:
        client = Client()
        begin, c = time.monotonic(), clock(client)
        task = client.query("/mlxpmd/tasks,0")["clock"]
        shortest = c["refresh_us"]
        while time.monotonic() - begin < 2:
            testlib.pass_time(0.02, "the shortest period of 2 s is sampled")
            d = clock(client)
            shortest = min(shortest, d["refresh_us"])
        after = client.query("/mlxpmd/tasks,0")["clock"]
        done, due = d["attempts"] - c["attempts"], (time.monotonic() - begin) * 1e6 / shortest
        print(f"{done} refreshes, {after['runs'] - task['runs']} runs of the task, {due:.0f} due: {json.dumps(after)}")
        check(0 < done <= due * 1.2 + 3, f"{done} {due}")
        check(abs(after["runs"] - task["runs"] - done) <= 1 and after["thread"] == "mlxpmd-ctrl", after)
        testpmd.quit()


def run():
    source("clock=page", "page", "ns", "port 0: clock page")
    source("clock=host", "host", "ns", "port 0: clock host")
    source("clock=raw", "raw", "ticks", "port 0: clock raw")
    source("clock=realtime", "realtime", "ns", "port 0: clock realtime", ["--clock-format", "both"])
    page_changes()
    busy()
    once()


main(run)
