#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""`mlxemu profiles CARD` prints each value as --cap takes it, with its source.

usage: test_profile_sources.py MLXEMU
"""
import re
import subprocess
import sys

MLXEMU = sys.argv[1]
EXPECTED = [
    ("cx4lx", "log_max_qp=17", "trace (current); ucx#9724: max_qp 131072"),
    ("cx4lx", "mini_cqe_resp_flow_tag=0", "trace"),  # one of a group in the comment
    ("cx4lx", "lag_master=1", "assumed; 0 in trace"),
    ("cx4lx", "wait_on_time=0", "assumed"),  # in no initialiser
    ("cx5", "log_max_cq=20", "limit of the model"),
    ("cx5", "scatter_fcs=1", "ompi#6137: EXP_SCATTER_FCS; ucx#10420: scatter FCS"),
    ("cx6dx", "access_register_user=1", "assumed"),
    ("cx7", "wait_on_time=1", "guide, tx_pp: from ConnectX-7 on"),
]


def values(card):
    text = subprocess.run([MLXEMU, "profiles", card], capture_output=True, text=True, timeout=30, check=True).stdout
    lines = [re.fullmatch(r"(\w+=\d+) +(\S.*)", line) for line in text.splitlines()]
    assert len(lines) > 30 and None not in lines, text
    return {match[1]: match[2] for match in lines}


for name, value, source in EXPECTED:
    found = values(name)
    assert found.get(value) == source, (name, value, source, found)
for name in ("cx4lx", "cx5", "cx6dx", "cx7"):
    options = [word for value in values(name) for word in ("--cap", value)]
    done = subprocess.run([MLXEMU, "run", "--profile", name, *options[:20], "--", "true"], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
print(f"{len(EXPECTED)} values with their sources")
