# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Opens a device three times with one destroy command refused.

usage: open_sweep.py MLXEMU MDV_DEVICE

A destroy command that is refused once or twice is retried, and nothing is left. If it is always refused, teardown
continues, one log line names the object that stays behind, and exactly that object and those that it depends on are
left. The suite "fault" refuses all other commands of opening in turn.
"""
import os
import subprocess
import sys

# Per command: the log line, and the objects that are left.
DESTROYING = {
    "DEALLOC_TRANSPORT_DOMAIN": ("DEALLOC_TRANSPORT_DOMAIN (0x", ["TD"]),
    "DEALLOC_PD": (": PD 0x", ["PD"]),
    "DESTROY_MKEY": ("ibv_dereg_mr failed", ["mkey", "PD"]),
}


def run(mlxemu, program, rule, leaks=True):
    """Returns exit code, output, and how often the rule was applied."""
    env = dict(os.environ)
    if not leaks:
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    done = subprocess.run([mlxemu, "run", "--ports", "1", "--audit", "--fault", rule, "--",
                           program, "reopen"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False, env=env)
    hits = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("fault_hits ")]
    if len(hits) != 1:
        raise SystemExit(f"{rule}: no report\n{done.stdout}")
    return done.returncode, done.stdout, int(hits[0])


def refuse_destroy(mlxemu, program, command, logged, left):
    """The command succeeds after up to two refusals; after the third the object is left."""
    for count in 1, 2:
        rule = f"on cmd.entry match op={command} count {count} do fail status=BAD_RES_STATE"
        code, text, hits = run(mlxemu, program, rule)
        if code != 0 or hits != count or "stays behind" in text:
            raise SystemExit(f"{rule}: exit {code}, {hits} hits\n{text}")
    rule = f"on cmd.entry match op={command} count 3 do fail status=BAD_RES_STATE"
    # The library keeps its handle of an object that it could not destroy.
    code, text, hits = run(mlxemu, program, rule, leaks=False)
    wanted = [logged, "stays behind -> EINVAL", "opened 3 of 3", f"{len(left)} left, 0 violations"]
    wanted += [f": 1 {what}" for what in left]
    missing = [w for w in wanted if w not in text]
    if code == 0 or hits != 3 or missing or text.count("stays behind") != 1:
        raise SystemExit(f"{rule}: exit {code}, {hits} hits, missing {missing}\n{text}")


def main():
    mlxemu, program = sys.argv[1:3]
    for command, (logged, left) in DESTROYING.items():
        refuse_destroy(mlxemu, program, command, logged, left)


if __name__ == "__main__":
    main()
