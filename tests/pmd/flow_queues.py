# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""testpmd's commands for flows by templates and queues: a flow is pushed, counts frames, and goes.

Usage: flow_queues.py
"""
import pmdlib
from e2e import check, main, testlib

SIZE = 64
# Each command, and what it prints.
COMMANDS = [
    ("flow info 0", "Number of counters: 65535"),
    ("port stop all", "Done"),
    (f"flow configure 0 queues_number 2 queues_size {SIZE} counters_number 0 aging_counters_number 0 "
     "meters_number 0 flags 0", f"number of queues 2 with {SIZE} elements"),
    ("port start all", "Done"),
    ("flow pattern_template 0 create ingress pattern_template_id 1 template eth / ipv4 / udp dst mask 0xffff / end",
     "Pattern template #1 created"),
    ("flow actions_template 0 create ingress actions_template_id 2 template count / queue index 0 / end "
     "mask count / queue / end", "Actions template #2 created"),
    ("flow template_table 0 create table_id 3 group 5 priority 1 ingress rules_number 2 pattern_template 1 "
     "actions_template 2", "Template table #3 created"),
    ("flow create 0 ingress pattern eth / end actions jump group 5 / end", "Flow rule #0 created"),
]
RULE = ("flow queue 0 create 1 template_table 3 pattern_template 0 actions_template 0 postpone yes pattern "
        "eth / ipv4 / udp dst is 9 / end actions count / queue index 1 / end")


def hits(testpmd):
    return int(testpmd.cmd("flow query 0 1 count").partition(" hits: ")[2].split()[0])


def frames(testpmd, count):
    """testpmd's txonly mode sends to UDP port 9 (app/test-pmd/txonly.c)."""
    testpmd.cmd("start")
    testlib.await_until(lambda: testpmd.ctl("counters")["ports"][1]["tx_frames"] >= count, 10)
    testpmd.cmd("stop")


def run():
    with pmdlib.Testpmd(["--rxq=2", "--txq=2", "--forward-mode=txonly"]) as testpmd:
        for command, text in COMMANDS:
            out = testpmd.cmd(command)
            check(text in out, f"{command}: {out}")
        check("Flow rule #1 creation enqueued" in testpmd.cmd(RULE), "not enqueued")
        check("pulled 0 operations" in testpmd.cmd("flow pull 0 queue 1"), "a result before the push")
        check("operations pushed" in testpmd.cmd("flow push 0 queue 1"), "not pushed")
        check("pulled 1 operations (0 failed, 1 succeeded)" in testpmd.cmd("flow pull 0 queue 1"), "no result")
        frames(testpmd, 100)
        testlib.await_until(lambda: hits(testpmd) >= 100, 10)
        check("has 1 flows" in testpmd.cmd("flow template_table 0 destroy table 3"), "a table with a flow goes")
        check("destruction enqueued" in testpmd.cmd("flow queue 0 destroy 1 postpone no rule 1"), "not destroyed")
        check("1 succeeded" in testpmd.cmd("flow pull 0 queue 1"), "no result of the destruction")
        check("destroyed" in testpmd.cmd("flow template_table 0 destroy table 3"), "the table stays")
        testpmd.quit()


main(run)
