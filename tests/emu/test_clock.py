#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The device's clock as unmodified rdma-core shows it, compared with the emulator's own values.

usage: test_clock.py MLXEMU

In virtual time, so that numbers are equal and hours pass at once; the program is this file again.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from testlib import FAILED, expect  # noqa: E402

NS = 1_000_000_000
# MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS
REAL_TIME_TS = 1 << 7
# options, frequency, shift, MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS
RUNS = [
    (["--profile", "cx5"], 78125000, 28, False),
    (["--profile", "cx4lx", "--clock-kernel", "old"], 156250000, 23, False),
    (["--profile", "cx6dx", "--clock-start", "wrap", "--clock-drift", "99.5"],
     156250000, 29, False),
    (["--profile", "cx7", "--clock-wander", "50:600"], 312500000, 30, False),
    (["--profile", "cx7", "--clock-format", "both"], 1000000000, 31, True),
    (["--profile", "cx6dx", "--clock-format", "realtime", "--clock-kernel", "old"],
     1000000000, 23, True),
    (["--clock-hz", "0=1000000000", "--clock-drift", "0=-100", "--clock-start", "12345"],
     1000000000, 31, False),
]


class Clock:
    """mlx5_0 by pyverbs, and the truth by the control socket."""

    def __init__(self, mlxemu):
        import verbs_enums
        from pyverbs.providers.mlx5 import mlx5dv
        self.mlxemu = mlxemu
        self.mask = verbs_enums.IBV_VALUES_MASK_RAW_CLOCK
        self.ctx = mlx5dv.Mlx5Context(mlx5dv.Mlx5DVContextAttr(), name="mlx5_0")

    def ctl(self, *words):
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        done = subprocess.run([self.mlxemu, "ctl", "--json", *words], env=env, timeout=60,
                              stdout=subprocess.PIPE, text=True, check=False)
        return json.loads(done.stdout)

    def truth(self, *words):
        answer = self.ctl("clock", *words)
        return {**answer["ports"][0], "utc_ns": answer["utc_ns"]}

    def raw(self):
        return self.ctx.query_rt_values_ex(self.mask)[1]

    def ns(self, raw):
        """By mlx5dv_get_clock_info() and mlx5dv_ts_to_ns()."""
        return self.ctx.device_timestamp_to_ns(self.ctx, raw)


def agree(clock, what, truth):
    raw = clock.raw()
    expect(raw == truth["cycles"], f"{what}: the counter is {raw}, not {truth['cycles']}")
    ns = clock.ns(raw)
    expect(ns == truth["ptp_ns"], f"{what}: the page has {ns}, not {truth['ptp_ns']}")


def ptp(clock, hz):
    before = clock.truth()
    raw, ns = clock.raw(), clock.ns(clock.raw())
    clock.ctl("clock", "step", "-123456789")
    expect(clock.ns(raw) == ns - 123456789, "a step reaches the page at once")
    clock.ctl("clock", "step", "ns=123456789")
    clock.ctl("clock", "slew", "50000")
    expect(abs(clock.ns(raw) - ns) <= 1, "a slew does not break the line")
    after = clock.truth(f"ns={NS}")
    expect(after["slew_ppb"] == 50000, "the slew is reported")
    # Cycles in a second, scaled by mult: a step of the old scale is up to 120 ppb.
    want = (after["cycles"] - before["cycles"]) * NS // hz * (1 + 50e-6)
    expect(abs(clock.ns(clock.raw()) - ns - want) < 130, "the slew bends the line")
    clock.ctl("clock", "slew", "0")


def oscillator(clock, hz):
    clock.ctl("clock", "drift", "ppm=-20.5")
    first = clock.truth()
    second = clock.truth(f"ns={10 * NS}")
    wander = (first["error_ppb"] - first["drift_ppb"]) + (second["error_ppb"] - second["drift_ppb"])
    want = 10 * hz * (1 - 20.5e-6 + wander / 2 * 1e-9)
    expect(abs(second["cycles"] - first["cycles"] - want) < 3 + hz * 1e-8,
           f"the counter ran {second['cycles'] - first['cycles']}, not {want:.0f}")
    agree(clock, "after a change of drift", second)


def busy(clock):
    """A page whose writer never finishes: EBUSY; without the rule it is readable again."""
    clock.ctl("fault", "add", "on clock.page do tear")
    clock.truth("ns=2000000")
    try:
        clock.ns(clock.raw())
        expect(False, "a page that is being written gives no time")
    except Exception as e:  # pyverbs' own type
        expect("busy" in str(e), f"a page that is being written: {e}")
    clock.ctl("fault", "clear")
    agree(clock, "after the next refresh", clock.truth(f"ns={2000 * NS}"))


def child(mlxemu, hz, shift, real):
    clock = Clock(mlxemu)
    flags = clock.ctx.query_mlx5_device().flags
    expect(bool(flags & REAL_TIME_TS) == real, f"context flags 0x{flags:x}")
    core = clock.ctx.query_device_ex().hca_core_clock
    expect(core == hz // 1000, f"hca_core_clock {core}")
    truth = clock.truth()
    expect((truth["hz"], truth["shift"]) == (hz, shift), f"hz and shift: {truth}")
    expect(("real_ns" in truth) == real, "a clock of the card's own")
    agree(clock, "in the beginning", truth)
    ptp(clock, hz)
    oscillator(clock, hz)
    # The counter's mask wraps meanwhile, in the longest steps after hours.
    for seconds in (1, 3, 60, 3600, 6 * 3600):
        agree(clock, f"after {seconds} s", clock.truth(f"ns={seconds * NS}"))
    busy(clock)
    return 1 if FAILED else 0


def answers(mlxemu):
    """The reply of a context that lacks one of the two pages: a number, or the errno."""
    clock = Clock(mlxemu)
    for read in (clock.raw, lambda: clock.ns(0)):
        try:
            print("read" if read() else "0")
        except Exception as e:  # pyverbs' own type
            print(str(e).partition("Errno: ")[2].partition(",")[0])
    return 0


def pages(mlxemu):
    for page, want in (("clock", ["read", "22"]), ("core", ["95", "read"]),
                       ("doorbell", ["read", "read"])):
        rule = f"on mmap match page={page} do fail errno=EPERM"
        done = subprocess.run([mlxemu, "run", "--fault", rule, "--", "/usr/bin/python3", __file__,
                               mlxemu, "answers"], timeout=60, text=True, check=False,
                              stdout=subprocess.PIPE)
        expect(done.stdout.split() == want, f"without the {page} page: {done.stdout.split()}")


def main():
    mlxemu = sys.argv[1]
    if sys.argv[2:] == ["answers"]:
        return answers(mlxemu)
    if len(sys.argv) > 2:
        return child(mlxemu, int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "True")
    for options, hz, shift, real in RUNS:
        done = subprocess.run([mlxemu, "run", "--clock", "virtual", *options, "--",
                               "/usr/bin/python3", __file__, mlxemu, str(hz), str(shift),
                               str(real)], timeout=60, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(f"{' '.join(options)}: {'ok' if done.returncode == 0 else done.stdout}")
        expect(done.returncode == 0, f"{options}: status {done.returncode}")
    pages(mlxemu)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
