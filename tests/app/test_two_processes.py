#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""One process generates and checks packets, another one sends them back, over shared memory (memif)."""
import signal
import subprocess
import sys
import threading

import apptest
from apptest import check, good, run


def over_memif(work):
    socket = work / "memif.sock"
    mirror = apptest.command([f"net_memif0,role=server,socket={socket},socket-abstract=no"],
                             ["--fwd", "macswap", "--topology", "loop"])
    # The two programs need different run-time folders.
    mirror[mirror.index("--file-prefix") + 1] = apptest.testlib.runtime_dir_removed(apptest.PREFIX + "b")
    process = subprocess.Popen(mirror, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    guard = threading.Timer(60, process.kill)
    guard.start()
    try:
        # The client connects only while it waits for the link: wait for the server's socket.
        apptest.testlib.await_until(lambda: socket.exists() or process.poll() is not None, 30)
        if not socket.exists() and process.poll() is not None:
            text = process.stdout.read().decode(errors="replace")
            if 'failed to parse device "net_memif0"' in text:
                print("SKIP: the installed DPDK was built without net_memif")
                sys.exit(77)
            check(False, f"the server ended:\n{text}")
        check(socket.exists(), "the server makes no socket")
        result = good(run([f"net_memif0,role=client,socket={socket},socket-abstract=no"],
                          "--fwd", "gen", "--topology", "loop", "--count", 50000, "--window", 256,
                          "--pkt-len", "60-1514", "--run", 40, "--drain", 5))
    finally:
        process.send_signal(signal.SIGINT)
        out = process.stdout.read().decode()
        status = process.wait()
        guard.cancel()
        process.stdout.close()
    check(result.json["check"]["received"] == 50000, f"{result.json['check']}")
    check(status == 0, f"the mirror's exit code {status}\n{out}")
    check("port 0: RX packets 50000" in out and "TX packets 50000" in out, out)


if __name__ == "__main__":
    apptest.main(over_memif)
