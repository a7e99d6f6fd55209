#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""SIGINT and SIGTERM: stop, receive packets in flight, report, exit with the result of the check."""
import json
import pathlib
import signal
import subprocess
import threading

import apptest
from apptest import check


def interrupt(work, vdevs, options, number, lcores="0"):
    """Start the program, send the signal when it forwards; returns exit code, output, statistics."""
    final = pathlib.Path(work) / "final.json"
    process = subprocess.Popen(apptest.command(vdevs, [*options, "--json", final], lcores),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    guard = threading.Timer(40, process.kill)
    guard.start()
    out = b""
    for line in process.stdout:
        out += line
        if b"forwarding started" in line:
            break
    # Let some traffic pass first.
    try:
        process.wait(0.3)
    except subprocess.TimeoutExpired:
        pass
    process.send_signal(number)
    out += process.stdout.read()
    status = process.wait()
    guard.cancel()
    process.stdout.close()
    return status, out.decode(), json.loads(final.read_text())


def good_run(work):
    for number in (signal.SIGINT, signal.SIGTERM):
        for lcores in ("0", "0-1"):
            status, out, final = interrupt(work, ["net_ring0"], ["--fwd", "gen", "--window", 64],
                                           number, lcores)
            check(status == 0, f"exit code {status}\n{out}")
            c = final["check"]
            check(c["sent"] > 0 and c["sent"] == c["received"], f"{c}")
            check("RESULT: OK" in out and "signal" in out, out)


def check_failed(work):
    status, out, final = interrupt(work, ["net_null0,no-rx=1"],
                                   ["--fwd", "gen", "--rate", 1000, "--drain", "0.2"],
                                   signal.SIGINT)
    check(status == 1, f"exit code {status}\n{out}")
    check(final["check"]["lost"] == final["check"]["sent"] > 0, f"{final['check']}")


def forwarding(work):
    status, out, final = interrupt(work, ["net_null0", "net_null1"], ["--fwd", "io"],
                                   signal.SIGTERM)
    check(status == 0, f"exit code {status}\n{out}")
    for port in final["ports"]:
        check(port["forward"]["rx_packets"] == port["stats"]["ipackets"] > 0, f"{port}")


def in_a_script(work):
    (work / "script").write_text("start\nsleep 1000\nshow fwd\n")
    status, out, _ = interrupt(work, ["net_ring0"], ["--cmds", work / "script"], signal.SIGINT)
    check(status == 0, f"exit code {status}\n{out}")
    check("test-mlx> show fwd" not in out, "the script continued")


if __name__ == "__main__":
    apptest.main(good_run, check_failed, forwarding, in_a_script)
