#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Commands from a file and from standard input; a failed command is reported with file and line."""
import time

import apptest
from apptest import check, good, run


def script(work, text, *options, vdevs=("net_ring0",), **more):
    path = work / "script"
    path.write_text(text)
    return run(list(vdevs), "--cmds", path, *options, **more)


def everything(work):
    apptest.write_capture(work / "in.pcap", apptest.frames(30))
    result = good(script(work, f"""
# a comment, then an empty line

help
show config
show port info all
set fwd gen
set count 5000
set burst 16
set pkt-len 60-200
start
wait 20
check
show fwd
show clock
show port stats 0
show port xstats all
clear stats all
clear fwd
set mtu 1 1400
set promisc all on
set allmulti 0 off
set mac 1 02:00:00:00:00:77
show port info 1
stop port all
start port all
set fwd rxonly
set count 0
pcap in 0 {work}/in.pcap
pcap out 0 {work}/out.pcap
meta out 0 {work}/meta
start
wait 10
stop
pcap off 0
check
quit
this line is never read
""", "--drain", "0.1", "--topology", "loop", "--gen-ports", "1",
                         vdevs=["net_ring0", "net_null0,no-rx=1"]))
    check(apptest.read_capture(work / "out.pcap") == apptest.frames(30), "the captures differ")
    check(len((work / "meta").read_text().splitlines()) == 30, "metadata lines")
    for text in ("sent 5000 = received 5000 + lost 0", "  result: OK", "MTU 1500", "check: OK",
                 "driver net_ring",
                 "MTU 1400", "address 02:00:00:00:00:77"):
        check(text in result.out, f"no '{text}' in\n{result.out}")


def failing_commands(work):
    for line, word in (("stat", "unknown command"), ("show port stats 7", "no port '7'"),
                       ("show port stats", "wrong arguments"), ("stop", "is not running"),
                       ("set burst 0", "--burst"), ("set mtu 0 12", "not an MTU"),
                       ("pcap in 0 /nonexistent.pcap", "/nonexistent.pcap"),
                       ("sleep long", "not a number"), ("check", "no run to check"),
                       ("set mac 0 xy", "not an Ethernet address"), ("meta in 0 x", "only out is possible"),
                       ("start port x", "no port 'x'"), ("set fwd gem", "gem"), ("clock watch x", "not a number"),
                       ("clock watch 1", "no driver here has"),
                       ("clock record 3 on", "no port '3'"),
                       ("clock verify 0 truth x -", "no recorded packets"),
                       ("clock verify all truth x -", "give one port"),
                       ("clock verify 0 from 4 1 -", "no port '4'"),
                       ("clock verify 0 from 0 0 -", "not a number of packets"),
                       ("clock verify 0 from 0 1 -", "cannot timestamp")):
        result = script(work, f"show config\n\n{line}\nshow fwd\n")
        check(result.status == 1, f"'{line}': exit code {result.status}")
        check(f"{work}/script:3: '{line}'" in result.out, f"'{line}' not named:\n{result.out}")
        check(word in result.out, f"'{line}': no '{word}' in\n{result.out}")
        check("forward statistics" in result.out, "the script did not continue")


def running_and_stopped(work):
    for text, line in (("start\nstart\n", 2), ("start\nset burst 4\n", 2),
                       ("start\nstop port 0\n", 2), ("stop port 0\nstart\n", 2),
                       ("start\npcap off all\n", 2), ("wait\n", 1), ("start\nwait\n", 2), ("start\nclear fwd\n", 2)):
        result = script(work, text)
        check(result.status == 1 and f"script:{line}: " in result.out, f"{text}\n{result.out}")


def check_fails(work):
    result = script(work, "set fwd gen\nset count 10\nset drain 0.1\nstart\nwait 5\ncheck\n",
                    vdevs=["net_null0,no-rx=1"])
    check(result.status == 1, f"exit code {result.status}")
    check("10 packets lost" in result.out and "script:6: 'check': failed" in result.out,
          result.out)


def wait_too_long(work):
    begin = time.monotonic()
    result = script(work, "set fwd rxonly\nset count 10\nstart\nwait 0.3\n")
    check(result.status == 1 and "script:4: 'wait 0.3': failed" in result.out, result.out)
    check(time.monotonic() - begin < 10, "took too long")


def start_stop_100_times(work):
    good(script(work, "set fwd gen\nset count 100\n" + 100 * (
        "stop port all\nstart port all\nstart\nwait 5\ncheck\n"), "--quiet", timeout=120))


def auto_start(work):
    result = good(script(work, "wait 5\nstop\n", "--fwd", "gen", "--count", 1000, "--auto-start",
                         lcores="0-1"))
    check(result.json["check"]["sent"] > 0, f"{result.json['check']}")


def standard_input(_work):
    for lcores in ("0", "0-1"):
        result = good(run(["net_ring0"], "--interactive", "--fwd", "gen", "--count", "1000",
                          stdin=b"start\nwait 5\ncheck\nshow fwd\nquit\n", lcores=lcores))
        check("check: OK" in result.out and result.json["check"]["sent"] == 1000, result.out)
        # the end of the input ends the program
        good(run(["net_ring0"], "--interactive", stdin=b"show config\n", lcores=lcores))


if __name__ == "__main__":
    apptest.main(everything, failing_commands, running_and_stopped, check_fails, wait_too_long,
                 start_stop_100_times, auto_start, standard_input)
