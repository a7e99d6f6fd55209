#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Wrong arguments and impossible requests: one line that names the cause, exit code 2."""
import os
import pathlib
import subprocess

import apptest
from apptest import check, run

RING = ["net_ring0"]


def refused(vdevs, options, words, **more):
    result = run(vdevs, *options, **more)
    check(result.status == 2, f"{options}: exit code {result.status}\n{result.out[-2000:]}")
    naming = [line for line in result.out.splitlines()
              if line.startswith("dpdk-test-mlx: ") and all(w in line for w in words)]
    check(len(naming) == 1, f"{options}: {len(naming)} lines have {words}\n{result.out[-2000:]}")


def options(_work):
    for given, words in (
            (["--frobnicate"], ["--frobnicate"]),
            (["stray"], ["stray"]),
            (["--fwd", "fly"], ["fly", "macswap"]),
            (["--burst", "0"], ["--burst", "512"]),
            (["--burst", "513"], ["--burst", "512"]),
            (["--burst", "-1"], ["--burst", "-1"]),
            (["--burst", "ten"], ["--burst", "ten"]),
            (["--count", "x"], ["--count", "0 to 18446744073709551615"]),
            (["--rxq=0"], ["--rxq"]), (["--rxq", "1025"], ["--rxq", "1 to 1024"]), (["--txq=1025"], ["--txq"]),
            (["--pkt-len", "100-60"], ["--pkt-len", "100-60"]),
            (["--pkt-len", "59"], ["--pkt-len", "59"]),
            (["--run", "soon"], ["--run", "soon"]),
            (["--run", "-1"], ["--run"]),
            (["--rx-offloads", "checksum,warp"], ["warp", "timestamp"]),
            (["--tx-offloads", "warp"], ["warp", "multi-segs"]),
            (["--topology", "ring"], ["ring", "chained"]),
            (["--pcap-in", "file"], ["--pcap-in", "file"]),
            (["--pcap-in", "0="], ["--pcap-in"]),
            (["--peer-mac", "0=zz"], ["--peer-mac", "zz"]),
            (["--interactive=yes"], ["--interactive"]),
            (["--mtu", "1500", "--max-pkt-len", "1518"], ["--mtu", "--max-pkt-len"]),
            (["--rx-intr", "--fwd", "gen"], ["--rx-intr", "gen"]),
            (["--vlan", "5", "--fwd", "gen"], ["--vlan", "64"])):
        refused(RING, given, words)


def value_missing(_work):
    done = subprocess.run([str(apptest.PROGRAM), "--", "--fwd"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=20, check=False)
    check(done.returncode == 2 and b"--fwd needs a value" in done.stdout, done.stdout)
    check(len(done.stdout.splitlines()) == 1, done.stdout)


def files(work):
    missing = str(work / "missing")
    refused(RING, ["--pcap-in", f"0={missing}"], [missing, "No such file"])
    refused(RING, ["--cmds", missing], [missing, "No such file"])
    text = work / "text"
    text.write_text("this is not a capture, but long enough to be looked at\n")
    refused(RING, ["--pcap-in", f"0={text}"], [str(text)])
    # a capture of another link type: 113 is Linux cooked
    apptest.write_capture(work / "cooked", [])
    data = bytearray((work / "cooked").read_bytes())
    data[20:24] = (113).to_bytes(4, "little")
    (work / "cooked").write_bytes(data)
    refused(RING, ["--pcap-in", f"0={work}/cooked"], ["cooked", "not of Ethernet"])


def unwritable(work):
    target = work / "no" / "folder"
    result = run(RING, "--fwd", "rxonly", "--run", "0.1", "--pcap-out", f"0={target}")
    check(result.status == 1 and str(target) in result.out, result.out)
    result = run(RING, "--fwd", "rxonly", "--run", "0.1", "--meta-out", f"0={target}")
    check(result.status == 1 and str(target) in result.out, result.out)


def devices(_work):
    refused([], [], ["no Ethernet port"])
    refused(RING, ["--portmask", "0x2"], ["port 1", "--portmask"])
    refused(RING, ["--rxq", "17", "--txq", "17"], ["port 0", "17"])
    refused(RING, ["--rx-offloads", "timestamp"], ["port 0", "timestamp"])
    refused(RING, ["--fwd", "gen", "--pkt-len", "9000"], ["port 0", "9000", "--mtu"])
    done = subprocess.run([str(apptest.PROGRAM), "--no-huge", "-m", "64", "--no-telemetry",
                           "--file-prefix", apptest.PREFIX, "-a", "0000:fe:1f.7", "--"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                          check=False)
    lines = [s for s in done.stdout.decode().splitlines() if "0000:fe:1f.7" in s]
    check(done.returncode == 2 and len(lines) == 1, done.stdout)


def port_of_a_file(work):
    apptest.write_capture(work / "in.pcap", apptest.frames(1))
    result = run(RING, "--pcap-in", f"3={work}/in.pcap", "--run", "0.1")
    check(result.status == 1 and "port 3 does not exist" in result.out, result.out)


def memory(_work):
    refused(RING, ["--mbufs", "1000000"], ["1000000", "memory"], memory_mb=64)
    refused(RING, ["--mbufs", "64", "--burst", "64"], ["--mbufs", "--burst"])


def no_hugepages(_work):
    free = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if free.exists() and int(free.read_text()) != 0:
        print("no_hugepages: not tested, this machine has hugepages")
        return
    done = subprocess.run([str(apptest.PROGRAM), "--in-memory", "-m", "64", "--no-pci", "--"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20,
                          check=False)
    lines = [s for s in done.stdout.decode().splitlines()
             if s.startswith("dpdk-test-mlx: ") and "--no-huge" in s]
    check(done.returncode == 2 and len(lines) == 1, done.stdout)


def help_needs_nothing(_work):
    done = subprocess.run([str(apptest.PROGRAM), "--help"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=20, check=False)
    check(done.returncode == 0 and done.stderr == b"", done.stderr)
    for word in (b"--pcap-in", b"--cmds", b"Examples:", b"macswap", b"Exit code"):
        check(word in done.stdout, f"help does not have {word}")


if __name__ == "__main__":
    apptest.main(options, value_missing, files, unwritable, devices, port_of_a_file, memory,
                 no_hugepages, help_needs_nothing)
