# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Prints the sources of one of DPDK's examples, a path a line, as the meson.build in its folder lists them: the lists
differ between releases."""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
for files in re.findall(r'^sources \+?= files\((.*?)\)', (folder / 'meson.build').read_text(), re.M | re.S):
    for name in re.findall(r"'([^']+\.c)'", files):
        print(folder / name)
