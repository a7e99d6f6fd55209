#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's command-line tools on emulated devices.

ibv_devices and ibv_devinfo list the devices. The ping-pong tools are two processes, and an RDMA
path between processes is not modelled: each end comes up as far as it can alone (QPs to INIT,
addresses exchanged by a TCP socket), and the sender then reports that its peer does not answer.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
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


CASES = {
    "ibv_devices": (devices, "on ioctl.out match method=nldev_get attr=2 do set off=5 value=0x37"),
    "ibv_devinfo": (devinfo, "on ioctl.out match method=QUERY_PORT do set off=26 value=1"),
    # The peer does not answer in any case: no rule.
    "ibv_rc_pingpong": (pingpong, None),
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
