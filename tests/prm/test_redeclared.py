#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Finds constants that the PRM description has and that C code declares a second time.

A #define or enumerator is a second declaration if its value is that of a generated constant and both names end with
the same words: MDV_EVENT_TYPE_COMP and PRM_EVENT_TYPE_COMP. A definition by the generated name has no number and is
no declaration. See "One declaration per fact" in drivers/common/mlx5dv/prm/README.md."""

import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(ROOT, "devtools/prmgen"))
import model as prm_model  # pylint: disable=wrong-import-position

FOLDERS = ("drivers", "devtools/mlxemu", "app")
DECLARED = re.compile(r"^\s*(?:#define\s+([A-Z]\w+)\s+|([A-Z]\w+)\s*=\s*)"
                      r"\(?(?:UINT\d+_C\()?(0x[0-9a-fA-F]+|0|[1-9]\d*)[uUlL]*\)*\s*(?:,|/\*.*|$)", re.M)
WORDS = 2  # that must be the same at the end of both names


def generated(model):
    """{last words: {value: name}} of the constants of named enumerations."""
    out = {}
    for enum in model.enums.values():
        for key, value in enum.values.items():
            name = f"PRM_{enum.name}_{key}".upper()
            out.setdefault(last_words(name), {})[value] = name
    return out


def last_words(name):
    return tuple(name.split("_")[-WORDS:])


def redeclared(text, known):
    """(name, generated name) of each constant in the text that is declared a second time."""
    for match in DECLARED.finditer(text):
        name = match[1] or match[2]
        twin = known.get(last_words(name), {}).get(int(match[3], 0))
        if twin and not name.startswith("PRM_"):
            yield name, twin


def sources():
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (os.path.join(path, n) for n in names if n.endswith((".c", ".h")))


class Redeclared(unittest.TestCase):
    """The tree, and planted declarations."""

    known = generated(prm_model.load(os.path.join(ROOT, "drivers/common/mlx5dv/prm")))

    def test_tree(self):
        found, files = [], 0
        for path in sources():
            with open(path, encoding="utf-8") as f:
                found += [f"{os.path.relpath(path, ROOT)}: {name} is {twin}"
                          for name, twin in redeclared(f.read(), self.known)]
            files += 1
        self.assertGreater(files, 200)
        self.assertEqual(found, [])

    def test_planted(self):
        for text in ("#define MDV_EVENT_TYPE_COMP 0\n", "#define OPCODE_ENHANCED_MPSW 0x29u /* send */\n",
                     "enum x {\n\tDP_CYCLIC_SMALLER = 5,\n};\n"):
            self.assertEqual(len(list(redeclared(text, self.known))), 1, text)
        for text in ("#define MDV_EVENT_TYPE_COMP 7\n", "#define EVENT_TYPE_COMP PRM_EVENT_TYPE_COMP\n"):
            self.assertEqual(list(redeclared(text, self.known)), [], text)


if __name__ == "__main__":
    unittest.main()
