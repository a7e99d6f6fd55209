# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The folder that -Dplugin_dir=auto finds is the one from which EAL loads plugins, and a static DPDK is refused.

usage: plugin_dir.py SCRIPT LIBRTE_EAL
"""
import pathlib
import re
import subprocess
import sys

script, eal = sys.argv[1:]
folder = subprocess.run([sys.executable, script, eal], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
log = subprocess.run(["dpdk-testpmd", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf", "-l", "0",
                      "--log-level=lib.eal:debug", "--", "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     text=True, check=False, timeout=60).stdout
opened = {str(pathlib.Path(path).parent) for path in re.findall(r"open shared lib (\S+)", log)}
if opened != {folder}:
    sys.exit(f"{folder} was found, EAL loads from {sorted(opened)}\n{log[-2000:]}")
print(f"EAL loads plugins from {folder}")

refused = subprocess.run([sys.executable, script, "/nonexistent/librte_eal.so"], stderr=subprocess.PIPE, text=True,
                         check=False)
if refused.returncode != 1 or "a static DPDK looks for no plugins" not in refused.stderr:
    sys.exit(f"no library: {refused.returncode} {refused.stderr}")
