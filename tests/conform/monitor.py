# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What the PMD reports for rte_power_monitor() of a receive queue that is empty, and of one with a packet.

Usage: monitor.py EAL-ARGS...

For stock_bugs.py, under `mlxemu run`: no program of DPDK prints it. Prints `monitor: BYTE SLEEPS` for the empty queue
of port 0, again after each line of standard input, and ends with the input. Calls the installed libraries by ctypes.
"""
import ctypes
import pathlib
import subprocess
import sys

DESCRIPTORS = 256
# Larger than struct rte_eth_conf of any release; zeroes are the defaults.
CONF_BYTES = 16384


class MonitorCond(ctypes.Structure):
    """struct rte_power_monitor_cond of rte_power_intrinsics.h."""
    _fields_ = [("addr", ctypes.c_void_p), ("size", ctypes.c_uint8),
                ("fn", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64))),
                ("opaque", ctypes.c_uint64 * 4)]


def library(name):
    """A library of the DPDK that pkg-config finds."""
    folder = subprocess.run(["pkg-config", "--variable=libdir", "libdpdk"], capture_output=True, text=True,
                            check=True).stdout.strip()
    path = min(pathlib.Path(folder).glob(f"librte_{name}.so.*"), key=lambda p: len(p.name))
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def must(ret, what):
    if ret < 0:
        sys.exit(f"{what}: {ret}")


def start(ethdev, mbuf):
    """Port 0 with one queue each way."""
    mbuf.rte_pktmbuf_pool_create.restype = ctypes.c_void_p
    pool = mbuf.rte_pktmbuf_pool_create(b"pool", 4 * DESCRIPTORS, 0, 0, 2176, -1)
    if not pool:
        sys.exit("no mempool")
    must(ethdev.rte_eth_dev_configure(0, 1, 1, bytes(CONF_BYTES)), "configure")
    must(ethdev.rte_eth_rx_queue_setup(0, 0, DESCRIPTORS, -1, None, ctypes.c_void_p(pool)), "rx queue")
    must(ethdev.rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, -1, None), "tx queue")
    must(ethdev.rte_eth_dev_start(0), "start")
    must(ethdev.rte_eth_promiscuous_enable(0), "promiscuous")
    # The PMD invalidates all completions of a queue that it stops, with the owner bit cleared.
    must(ethdev.rte_eth_dev_rx_queue_stop(0, 0), "queue stop")
    must(ethdev.rte_eth_dev_rx_queue_start(0, 0), "queue start")


def main():
    eal, mbuf, ethdev = (library(name) for name in ("eal", "mbuf", "ethdev"))
    words = [b"monitor", *(arg.encode() for arg in sys.argv[1:])]
    must(eal.rte_eal_init(len(words), (ctypes.c_char_p * len(words))(*words)), "EAL")
    start(ethdev, mbuf)
    cond = MonitorCond()
    must(ethdev.rte_eth_get_monitor_addr(0, 0, ctypes.byref(cond)), "monitor address")
    while True:
        value = ctypes.c_uint8.from_address(cond.addr).value
        print(f"monitor: {value} {int(cond.fn(value, cond.opaque) == 0)}", flush=True)
        if not sys.stdin.readline():
            break
    must(ethdev.rte_eth_dev_stop(0), "stop")
    must(ethdev.rte_eth_dev_close(0), "close")
    must(eal.rte_eal_cleanup(), "cleanup")


if __name__ == "__main__":
    main()
