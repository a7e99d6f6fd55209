# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Opens a device with its k-th firmware command refused, for every k and several statuses.

usage: open_sweep.py MLXEMU MDV_DEVICE

Each run must end well by itself: one line and a negative errno, nothing left behind, and the next
opening works. The sweep ends where a refusal no longer meets a command of the first opening.
"""
import subprocess
import sys

STATUSES = ["INT_ERR", "BAD_OP", "NO_RES", "BAD_RES_STATE"]
MOST_COMMANDS = 60
# libibverbs and libmlx5 ask for capabilities too, and these answers we cannot see: a refusal
# there is not ours. What counts is that some of the refusals are.
FEWEST_REFUSED = 4


def run(mlxemu, program, status, after):
    rule = f"on cmd.entry after {after} count 1 do fail status={status}"
    done = subprocess.run([mlxemu, "run", "--ports", "1", "--audit", "--fault", rule, "--",
                           program, "reopen"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False)
    return done.returncode, done.stdout


def sweep(mlxemu, program, status):
    """The number of openings refused, after all k; raises when one run does not end well."""
    refused = 0
    quiet = 0
    for after in range(MOST_COMMANDS):
        code, text = run(mlxemu, program, status, after)
        if code != 0:
            raise SystemExit(f"{status} at command {after}: exit {code}\n{text}")
        hit = any(line.startswith("refused ") for line in text.splitlines())
        refused += hit
        quiet = 0 if hit else quiet + 1
        # Commands of the tolerated kind (counters, registers) come in between.
        if quiet > 12:
            break
    return refused


def main():
    mlxemu, program = sys.argv[1:3]
    for status in STATUSES:
        refused = sweep(mlxemu, program, status)
        print(f"{status}: {refused} openings refused")
        if refused < FEWEST_REFUSED:
            raise SystemExit("the refusals did not reach the commands of opening")


if __name__ == "__main__":
    main()
