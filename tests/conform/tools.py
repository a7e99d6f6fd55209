#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's command-line tools, perftest and UCX on emulated devices.

ibv_devices and ibv_devinfo list the devices. The ping-pong tools are two processes, and an RDMA
path between processes is not modelled: each end comes up as far as it can alone (QPs to INIT,
addresses exchanged by a TCP socket), and the sender then reports that its peer does not answer.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import testlib  # noqa: E402

MLXEMU = os.path.join(os.environ.get("MLXPMD_BUILD", "build"), "devtools/mlxemu/mlxemu")
SECONDS = 60


def check(condition, text):
    if not condition:
        sys.exit(f"not so: {text}")


def run(*command, options=()):
    return subprocess.run([MLXEMU, "run", *options, "--", *command], text=True, timeout=SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def devices(options=()):
    """three devices by name and GUID"""
    done = run("ibv_devices", options=["--ports", "3", *options])
    check(done.returncode == 0, done.stdout)
    names = re.findall(r"^\s+(mlx5_\d)\s+[0-9a-f]{16}$", done.stdout, re.M)
    check(names == ["mlx5_0", "mlx5_1", "mlx5_2"], f"three devices in {done.stdout}")


def devinfo(options=()):
    """attributes of device and port"""
    done = run("ibv_devinfo", "-v", options=options)
    check(done.returncode == 0, done.stdout)
    for text in ("transport:\t\t\tInfiniBand (0)", "atomic_cap:\t\t\tATOMIC_HCA",
                 "link_layer:\t\tEthernet", "state:\t\t\tPORT_ACTIVE (4)"):
        check(text in done.stdout, f"{text!r} in {done.stdout}")


def connect(args):
    """The client; again while the server does not listen yet."""
    clients = []

    def connected():
        clients.append(run(*args, "127.0.0.1"))
        return "Couldn't connect" not in clients[-1].stdout

    testlib.await_until(connected, SECONDS, pause=0.2)
    return clients[-1]


def pingpong():
    """server and client in two processes: the peer does not answer, and the tool reports it"""
    args = ["ibv_rc_pingpong", "-g", "1", "-d", "mlx5_0", "-p", "18517", "-n", "1"]
    server = subprocess.Popen([MLXEMU, "run", "--", *args], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    try:
        client = connect(args)
        check("local address:" in client.stdout and "remote address:" in client.stdout,
              client.stdout)
        check(client.returncode == 1 and "transport retry counter exceeded" in client.stdout,
              f"the peer does not answer: {client.stdout}")
    finally:
        server.terminate()  # Not kill(): the launcher removes its run directory.
        server.communicate()


def clean(done):
    """The program passed without violations."""
    check(done.returncode == 0 and "audit: clean" in done.stdout, done.stdout)


def rc_mlx5(options=()):
    """QPs that write short data to their completions (cs_req, cs_res)"""
    for test in ("am_lat", "put_lat", "get -D bcopy", "add_lat"):
        clean(run("ucx_perftest", "-l", "-x", "rc_mlx5", "-d", "mlx5_0:1", "-n", "50", "-w", "1", "-t", *test.split(),
                  options=["--audit", *options]))


def promiscuous(options=()):
    """a flow of type ALL_DEFAULT takes the frames that no rule and no interface takes"""
    mac = "02:00:00:00:00:09"
    with tempfile.NamedTemporaryFile(suffix=".pcap") as frames:
        frame = bytes.fromhex(mac.replace(":", "") * 2 + "0800") + bytes(50)
        frames.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        frames.write((struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame) * 100)
        frames.flush()
        clean(run("raw_ethernet_bw", "--server", "-d", "mlx5_0", "-E", mac, "-B", mac, "-s", "64", "-n", "100",
                  "--promiscuous", options=["--audit", "--wire", f"0=pcap:{frames.name}", *options]))


CASES = {
    "ibv_devices": (devices, "on ioctl.out match method=nldev_get attr=2 do set off=5 value=0x37"),
    "ibv_devinfo": (devinfo, "on ioctl.out match method=QUERY_PORT do set off=26 value=1"),
    # The peer does not answer in any case: no rule.
    "ibv_rc_pingpong": (pingpong, None),
    "ucx_rc_mlx5": (rc_mlx5, None),
    "raw_ethernet_promiscuous": (promiscuous, "on cmd.entry match op=CREATE_TIR do fail status=NO_RESOURCES"),
}


def main():
    name = sys.argv[1]
    case, rule = CASES[name]
    begin = time.monotonic()
    case()
    print("case: " + json.dumps({"name": name, "shows": case.__doc__,
                                 "packets": 0, "result": "passed",
                                 "seconds": round(time.monotonic() - begin, 1)}))
    if rule is None:
        return
    try:
        case(["--fault", rule])
    except SystemExit as noticed:
        print(f"noticed: {str(noticed).splitlines()[0]}")
        return
    sys.exit(f"passes with --fault '{rule}'")


if __name__ == "__main__":
    main()
