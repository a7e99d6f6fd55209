# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Planted refusals: devtools/refusals finds one without a row, a row without refusal, a limit that is listed as a rule.

Usage: test_refusals.py devtools/refusals
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(sys.argv[1]).resolve()
HEADER = "fw/emu_fw_syndrome.h"
ROW = "\tX(BUSY, 0x"
PLANTED = [
    (HEADER, ROW, "\tX(PLANTED, 0xe5ff01, BAD_PARAM, \"planted\") \\\n" + ROW, "PLANTED: not in the page"),
    (HEADER, ROW, "\tX(BUSIER, 0x", "BUSY: no such refusal in the source"),
    (HEADER, "X(WQ_LINKED) ", "", "WQ_LINKED: FW_LIMITS and the result of the page differ"),
    ("dp/dp_tx.c", "\t\treturn dp_wqe_refuse(", "\t\treturn 0 ? 0 : dp_wqe_refuse(0) + dp_wqe_refuse(",
     "dp/dp_tx.c: 2 refusals in the source, 1 in the page"),
]


def checked(source):
    return subprocess.run([TOOL, "--source", source], capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory(prefix="mlxpmd-refusals.") as work:
    source = pathlib.Path(work) / "mlxemu"
    shutil.copytree(TOOL.parent / "mlxemu", source)
    result = checked(source)
    assert result.returncode == 0, result.stderr
    for name, before, after, message in PLANTED:
        text = (source / name).read_text()
        assert before in text, (name, before)
        (source / name).write_text(text.replace(before, after, 1))
        result = checked(source)
        assert result.returncode == 1 and message in result.stderr, (message, result)
        (source / name).write_text(text)
print(f"{len(PLANTED)} planted refusals found")
