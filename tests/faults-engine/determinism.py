# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A run under virtual time is a function of seed and rules: prints its fault log and its clock."""
import sys

from rig import Ctl, Rig

RULES = ["on wire.tx match chance=0.3 do drop", "on wire.rx match chance=0.2 do truncate len=70",
         "on cqe.write match q=rx0 chance=0.1 do drop", "on doorbell every 7 do delay us=3"]


def main():
    rig = Rig()
    ctl = Ctl()
    ctl("engine", run=False)
    for rule in RULES:
        ctl("fault.add", rule=rule)
    print("begin", ctl("clock")["now_ns"])
    got = []
    for _ in range(60):
        rig.post()
        rig.send()
        ctl("engine.step", polls=3)
        ctl("clock", ns=1000)
        got += [(wc.wr_id, wc.status, wc.byte_len) for wc in rig.cq.poll(num_entries=8)[1]
                if wc.wr_id >= 1000]
    print("got", got)
    print("\n".join(ctl("fault.log")["lines"]))
    print("end", ctl("clock")["now_ns"])
    ctl("engine", run=True)
    rig.close()
    rig.context.close()
    return 0


sys.exit(main())
