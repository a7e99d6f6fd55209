#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""devtools/test-summary.py: tests that passed, failed, were stopped, and were skipped."""
import json
import subprocess
import sys
import tempfile

TESTS = [
    {"name": "good", "result": "OK", "stdout": "fine"},
    {"name": "check", "result": "FAIL", "stdout": "one\nFAILED: 0 buffers\nport 0 rx_frames 1\n"},
    {"name": "check.h", "result": "FAIL", "stdout": "main: 2 checks\n", "stderr": "t.c:1: f: FAILED: x == 1\n"},
    {"name": "sanitizer", "result": "FAIL", "stdout": "", "stderr": "==1==ERROR: AddressSanitizer: leak\n#0 malloc\n"},
    {"name": "stopped", "result": "TIMEOUT", "stdout": "as far as this\n"},
    {"name": "silent", "result": "FAIL"},
    {"name": "left out", "result": "SKIP", "stdout": "", "stderr": "SKIP: no pages\n"},
]
EXPECTED = """\
failed: check.h: FAIL: t.c:1: f: FAILED: x == 1
failed: check: FAIL: FAILED: 0 buffers
failed: sanitizer: FAIL: ==1==ERROR: AddressSanitizer: leak
failed: silent: FAIL: nothing printed
failed: stopped: TIMEOUT: as far as this
skipped: left out: no pages
1 passed, 5 failed, 1 skipped
"""

with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
    log.write("".join(json.dumps(test) + "\n" for test in TESTS))
    log.flush()
    done = subprocess.run([sys.executable, sys.argv[1], log.name], capture_output=True, text=True, check=False)
print(done.stdout + done.stderr)
sys.exit(0 if done.returncode == 1 and done.stdout == EXPECTED else 1)
