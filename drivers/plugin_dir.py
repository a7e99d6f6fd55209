#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Print the folder in which an installed librte_eal.so looks for plugins: plugin_dir.py FILE"""
import pathlib
import re
import sys

try:
    found = re.search(rb"DPDK_PLUGIN_PATH=([^\0]+)\0", pathlib.Path(sys.argv[1]).read_bytes())
except OSError as error:
    sys.exit(f"{error}: a static DPDK looks for no plugins")
if found is None:
    sys.exit(f"{sys.argv[1]} was built to look for no plugins: give -Dplugin_dir a path")
print(found[1].decode())
