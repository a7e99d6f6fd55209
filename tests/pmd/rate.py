# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Limits of Tx queues' rates, set by testpmd's commands: the times of the frames on the wire show them.

Usage: rate.py verbs|vfio

Each phase sends frames of a length of its own. The fastest run of frames among them, by the times of the capture, shows
that the limit is reached and never exceeded, whenever the threads of program and emulator run.
"""
import pathlib
import sys
import tempfile

import pmdlib
from e2e import MLXEMU, PLUGIN, check, main, testlib
from scapy.utils import RawPcapNgReader
from telemetry_client import Client

# Frames of a run: fewer than the ring holds, which is full again and again.
RUN = 500
ARGS = ["--txd=1024", "--rxd=64", "--nb-cores=1"]


def rate(path, length):
    """Mbit/s of the fastest run of frames of that length."""
    reader, times = RawPcapNgReader(str(path)), []
    for data, meta in reader:
        if len(data) == length:
            times.append(((meta.tshigh << 32) + meta.tslow) * 10 ** 9 // meta.tsresol)
    reader.close()
    check(len(times) > 2 * RUN, f"{len(times)} frames of {length} bytes")
    return RUN * length * 8000 / min(b - a for a, b in zip(times, times[RUN:]))


def limit(testpmd, mbps, queue=0):
    text = testpmd.cmd(f"set port 0 queue {queue} rate {mbps}")
    check("failed" not in text and "Invalid" not in text, text)


def packets(client):
    return client.query("/ethdev/stats,0")["opackets"]


def send(testpmd, length, repair=False):
    """Send 4096 frames of one length, with a repair of the queue among them; wait until all are sent."""
    client = Client()
    before = packets(client)
    testpmd.cmd(f"set txpkts {length}")
    testpmd.cmd("start")
    if repair:
        testpmd.ctl("fault", "add", "on wqe.fetch match port=0 q=tx0 count 1 do error syndrome=0x04")
        testpmd.watch_log(lambda log: "reset, " in log and "queue state event" in log)
    testlib.await_until(lambda: packets(client) >= before + 4096, 60)
    testpmd.cmd("stop")
    testlib.await_until(lambda: packets(client) == testpmd.ctl("counters")["ports"][0]["tx_frames"], 60)


def rates_in_use(testpmd):
    return testpmd.ctl("ledger")["ports"][0].get("rates", 0)


def shown(queue="tx0"):
    return Client().query("/mlxpmd/queues,0")[queue]["rate_limit_mbps"]


def one_queue(testpmd):
    """Run the phases; the expected rate of each length of frames, None: more than that of all others."""
    testpmd.cmd("set fwd txonly")
    testpmd.cmd("set portlist 0")
    testpmd.cmd("port stop 0")
    limit(testpmd, 200)
    testpmd.cmd("port start 0")
    check(shown() == 200 and rates_in_use(testpmd) == 1, "a limit before the start")
    send(testpmd, 1000)
    limit(testpmd, 300)
    check(rates_in_use(testpmd) == 1, "another limit while it runs")
    send(testpmd, 1001)
    testpmd.cmd("port stop 0")
    testpmd.cmd("port start 0")
    check(shown() == 300, "after stop and start")
    send(testpmd, 1002)
    send(testpmd, 1003, repair=True)
    check(Client().query("/mlxpmd/queues,0")["tx0"]["resets"] == 1, "no repair")
    send(testpmd, 1004)
    limit(testpmd, 0)
    check(shown() == 0 and rates_in_use(testpmd) == 0, "no limit any more")
    send(testpmd, 1005)
    # One that the end of the program removes.
    limit(testpmd, 200)
    return {1000: 200, 1001: 300, 1002: 300, 1003: 300, 1004: 300, 1005: None}


def two_queues(testpmd):
    """Each has its own rate: together they send the sum."""
    testpmd.cmd("set fwd txonly")
    testpmd.cmd("set portlist 0")
    limit(testpmd, 200)
    limit(testpmd, 200, queue=1)
    check(rates_in_use(testpmd) == 1, "equal rates share an entry")
    limit(testpmd, 800)
    check((shown(), shown("tx1")) == (800, 200) and rates_in_use(testpmd) == 2, "two rates")
    send(testpmd, 1000)
    return {1000: 1000}


def slow(testpmd):
    """Nothing is completed for seconds because of the limit: that is no stall."""
    testpmd.cmd("set fwd txonly")
    testpmd.cmd("set portlist 0")
    limit(testpmd, 1)
    testpmd.cmd("set txpkts 1500")
    testpmd.cmd("start")
    # 2.2 s; a completion is requested after 256 packets.
    testlib.await_until(lambda: testpmd.ctl("counters")["ports"][0]["tx_frames"] >= 180, 60)
    queue = Client().query("/mlxpmd/queues,0")["tx0"]
    check((queue["stalls"], queue["resets"]) == (0, 0), queue)
    testpmd.cmd("stop")
    limit(testpmd, 0)


def refusals(testpmd):
    text = testpmd.cmd("set port 0 queue 0 rate 60000")
    check("a rate of 60000000 Kbit/s: allowed are 1000 to 50000000" in text, text)
    text = testpmd.cmd("set port 0 queue 5 rate 100")
    check("cannot be limited before it is set up" in text, text)


def measure(run, args, **options):
    """Run the phases and compare the rates in the capture."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-rate.") as work:
        capture = pathlib.Path(work) / "sent.pcapng"
        options["emu_args"] = [*options["emu_args"], "--capture", f"0={capture}:tx"]
        with pmdlib.Testpmd([*ARGS, *args], **options) as testpmd:
            expected = run(testpmd)
            testpmd.quit()
        for length, mbps in expected.items():
            got = rate(capture, length)
            print(f"{run.__name__}, {length} bytes: {got:.1f} Mbit/s, limit {mbps}")
            check(got > 500 if mbps is None else abs(got - mbps) < 0.05 * mbps, f"{got} instead of {mbps} Mbit/s")


def run():
    mode = sys.argv[1]
    opens = {"eal_args": pmdlib.eal("open=" + mode, telemetry=True)}
    emu = ["--open", mode]
    measure(one_queue, [], emu_args=emu, **opens)
    measure(two_queues, ["--txq=2", "--rxq=2"], emu_args=emu, **opens)
    with pmdlib.Testpmd([*ARGS, "--txrst=256"], emu_args=emu, **opens) as testpmd:
        slow(testpmd)
        testpmd.quit()
    limits = ["--cap", "packet_pacing_max_rate=50000000", "--cap", "packet_pacing_min_rate=1000"]
    with pmdlib.Testpmd(ARGS, emu_args=[*emu, *limits], **opens) as testpmd:
        refusals(testpmd)
        testpmd.quit()
    with pmdlib.Testpmd(ARGS, emu_args=[*emu, "--cap", "packet_pacing=0"], **opens) as testpmd:
        text = testpmd.cmd("set port 0 queue 0 rate 100")
        check("cannot limit the rate of a queue" in text, text)
        testpmd.quit()


main(run, needs=[MLXEMU, PLUGIN])
