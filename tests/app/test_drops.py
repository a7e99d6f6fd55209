#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The account of lost packets, of an unmodified testpmd by `dpdk-test-mlx drops`, and of the program's own ports."""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
from pmdlib import check, e2e  # noqa: E402

DROPS = [str(e2e.TEST_MLX), "drops", "--file-prefix", pmdlib.PREFIX]
WAIT_S = 20 * e2e.PATIENCE
DAMAGED, NO_ROOM, INJECTED = 5, 7, 3000
FAULTS = (f"on wire.rx match port=0 count {DAMAGED} do fcs",
          f"on wire.rx match port=0 after {DAMAGED} count {NO_ROOM} do discard")
ROW = re.compile(r"^    ([-= ]) (\w+) +(\d+)", re.M)


def drops(*args, status=0):
    done = subprocess.run([*DROPS, *args], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=WAIT_S,
                          check=False)
    check(done.returncode == status, f"drops {args}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def accounts(text):
    """Rows (sign, place, packets) of each port and direction; their sums close."""
    found = {}
    for part in re.split(r"^port ", text, flags=re.M)[1:]:
        for direction, rows in zip(("received", "sent"), part.split("  sent\n")):
            rows = [(sign, place, int(packets)) for sign, place, packets in ROW.findall(rows)]
            (_, first, begin), rest = rows[0], sum(packets for sign, _, packets in rows[1:] if sign != "=")
            check(begin == rest, f"port {part[0]} {direction}: {first} {begin}, the rest {rest}\n{text}")
            found[int(part[0]), direction] = {place: packets for _, place, packets in rows}
            found[int(part[0]), direction]["begin"] = begin
    return found


def check_watch(testpmd):
    """Each second what has changed; SIGINT ends it."""
    with subprocess.Popen([*DROPS, "--port", "0", "--watch"], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        try:
            check("more packets" in process.stdout.readline(), "no head")
            process.stdout.readline()
            testpmd.ctl("inject", "port=0", "frames=11")
            # The frames of one second, or none: they may be in the next.
            line = ""
            while "wire +11" not in line:
                line = process.stdout.readline()
                check(line, "the watch ended")
        finally:
            process.send_signal(signal.SIGINT)
        check(process.wait(WAIT_S) == 0, f"watch: {process.returncode}")


def of_testpmd():
    with pmdlib.Testpmd(args=["--rxq=2", "--txq=2", "--rxd=512"], eal_args=pmdlib.eal(telemetry=True)) as testpmd:
        pmdlib.circulate(testpmd, 2, 5000, 60)
        for fault in FAULTS:
            testpmd.ctl("fault", "add", fault)
        # Nothing polls, and the rings hold less. The start takes what they have.
        testpmd.ctl("inject", "port=0", f"frames={INJECTED}", "flows=8")
        testpmd.cmd("start")
        testpmd.cmd("stop")
        check(e2e.testlib.await_until(lambda: accounts(drops())[0, "received"]["waiting"] == 0, WAIT_S), drops())
        found, truth = accounts(drops()), testpmd.ctl("drops")["ports"]
        for port in (0, 1):
            stats, received, sent = testpmd.stats(port), found[port, "received"], found[port, "sent"]
            true = truth[port]["received"]
            check(received["application"] == stats["RX-packets"] == true["delivered"], (received, stats))
            check(received["no_buffer"] == stats["RX-missed"] == true["no_buffer"], (received, stats))
            check(received["begin"] == true["arrived"], (received, true))
            check(sent["wire"] == stats["TX-packets"] == truth[port]["sent"]["wire"], (sent, stats))
            check(received["unexplained"] == sent["unexplained"] == 0, found)
        lost = found[0, "received"]
        check((lost["crc_errors"], lost["port_discards"]) == (DAMAGED, NO_ROOM) and lost["no_buffer"] > 0, lost)
        check(set(accounts(drops("--port", "1"))) == {(1, "received"), (1, "sent")}, "--port")
        check_watch(testpmd)
        check("has not this port" in drops("--port", "5", status=2), "port 5")
        testpmd.quit()
    check("no program" in drops(status=2) or "No such" in drops(status=2), "no program")


def of_own_ports():
    with tempfile.NamedTemporaryFile("w", suffix=".cmds") as cmds:
        cmds.write("set count 1000\nstart\nwait 20\nstop\nshow port drops all\ndrops watch 0.1\n")
        cmds.flush()
        program = [str(e2e.TEST_MLX), *pmdlib.eal(telemetry=True), "--", "--fwd", "gen", "--cmds", cmds.name]
        result = e2e.emu(program, faults=FAULTS, timeout=60)
    found = accounts(result.out[result.out.index("show port drops"):result.out.index("drops watch")])
    check(found[1, "sent"]["wire"] == 1000 == found[0, "received"]["begin"], found)
    check(found[0, "received"]["application"] == 1000 - DAMAGED - NO_ROOM, found)
    check(result.out.count("more packets in") == 1, result.out[-3000:])


def run():
    check("Usage: dpdk-test-mlx drops" in drops("--help"), "help")
    check("bad value 'x'" in drops("--port", "x", status=2), "--port x")
    check("unknown argument" in drops("now", status=2), "argument")
    of_testpmd()
    of_own_ports()


e2e.main(run, needs=[e2e.MLXEMU, e2e.PLUGIN, e2e.TEST_MLX])
