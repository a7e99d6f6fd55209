#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Plants one wrong bit at a time in a copy of the PRM description; each must be found."""

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile

import crosscheck

# (file, layout, field, bits to move by): one or more of each family of layouts.
PLANTED = [
    ("cap_general.yaml", "cmd_hca_cap", "log_max_cq", 1),
    ("cap_other.yaml", "per_protocol_networking_offload_caps", "rss_ind_tbl_cap", 1),
    ("cap_other.yaml", "qos_cap", "packet_pacing_max_rate", -1),
    ("cmd_device.yaml", "access_register_in", "argument", -1),
    ("cmd_object.yaml", "general_obj_in_cmd_hdr", "obj_id", -1),
    ("cmd_qp.yaml", "create_mkey_in", "mkey_umem_valid", -1),
    ("cmd_queue.yaml", "create_cq_in", "cq_umem_valid", -1),
    ("ctx_qp.yaml", "qpc", "remote_qpn", 1),
    ("ctx_qp.yaml", "mkc", "translations_octword_size", -1),
    ("ctx_queue.yaml", "cqc", "log_cq_size", 1),
    ("ctx_queue.yaml", "wq", "log_wq_sz", 1),
    ("ctx_queue.yaml", "tirc", "indirect_table", 1),
    ("device.yaml", "initial_seg", "fw_rev_major", -1),
    ("match.yaml", "fte_match_set_lyr_2_4", "tcp_sport", -1),
    ("match.yaml", "fte_match_set_misc", "source_sqn", 1),
    ("registers.yaml", "mtutc_reg", "time_adjustment", -1),
    ("registers.yaml", "paos_reg", "oper_status", 1),
    ("steering.yaml", "flow_context", "flow_tag", 1),
    ("steering.yaml", "create_flow_table_out", "table_id", 1),
    ("vport.yaml", "nic_vport_context", "roce_en", 1),
    ("vport.yaml", "query_q_counter_out", "out_of_buffer", -1),
]
# (file, "opcode", command, wrong opcode)
OPCODES = [("commands.yaml", "opcode", "CREATE_TIS", 0x1912)]


def plant(path, layout, field, move):
    """Moves a row's bits; an overlay row, so that it is the cross-check that must find it."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    start = re.search(rf"^  {layout}:$", text, flags=re.M).start()
    row = re.compile(rf"\[(\d+), (\d+), (\d+), {field}(, \{{(.*)\}})?\]").search(text, start)
    following = re.compile(r"^  \w+:$", flags=re.M).search(text, start + 1)
    if following and row.start() > following.start():
        raise ValueError(f"{layout} has no row {field}")
    hi, lo = int(row[2]), int(row[3])
    # A field that fills its dword cannot move whole: it loses its last bit instead.
    hi, lo = (hi + move, lo + move) if hi + move <= 31 and lo + move >= 0 else (hi, lo - move)
    options = (row[5] + ", " if row[5] else "") + "overlay: true"
    changed = f"[{row[1]}, {hi}, {lo}, {field}, {{{options}}}]"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:row.start()] + changed + text[row.end():])


def plant_opcode(path, name, opcode):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    changed = re.sub(rf"{name}: {{opcode: 0x[0-9a-f]+", f"{name}: {{opcode: {opcode:#x}", text)
    if changed == text:
        raise ValueError(f"no command {name}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(changed)


def check(folder, dpdk):
    """Exit status and messages of the cross-check over a folder."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = crosscheck.main(["--yaml", folder, "--dpdk", dpdk])
    return status, errors.getvalue()


def main(yaml, dpdk):
    failed = 0
    status, errors = check(yaml, dpdk)
    if status != 0:
        print(f"the description as it is does not pass:\n{errors}", file=sys.stderr)
        return 1
    for file, layout, field, change in PLANTED + OPCODES:
        with tempfile.TemporaryDirectory() as tmp:
            folder = shutil.copytree(yaml, os.path.join(tmp, "prm"))
            if layout == "opcode":
                plant_opcode(os.path.join(folder, file), field, change)
            else:
                plant(os.path.join(folder, file), layout, field, change)
            status, errors = check(folder, dpdk)
        found = status == 1 and f" {layout}.{field}: " in errors
        print(f"{'found' if found else 'MISSED'}: {layout}.{field}")
        if not found:
            print(errors, file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
