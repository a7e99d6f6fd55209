#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Errors that prmgen reports, in one line with their place; and its outputs."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PRMGEN = os.path.join(HERE, "../../devtools/prmgen/prmgen.py")
sys.path.insert(0, os.path.dirname(PRMGEN))
import model as prm_model  # pylint: disable=wrong-import-position
import prmgen as prmgen_main  # pylint: disable=wrong-import-position

YAML = os.path.join(HERE, "../../drivers/common/mlx5dv/prm")


class Done:
    """How a run in this process ended."""

    def __init__(self, args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.returncode = prmgen_main.main(args)
        self.stdout, self.stderr = out.getvalue(), err.getvalue()


def prmgen(*args):
    return Done(list(args))


def prmgen_command(*args):
    return subprocess.run([sys.executable, "-B", PRMGEN, *args], capture_output=True, text=True,
                          check=False)


class Refusals(unittest.TestCase):
    """One error at a time, in a description that is otherwise valid."""

    def refused(self, text, *words):
        with tempfile.TemporaryDirectory() as tmp:
            with open(os.path.join(tmp, "a.yaml"), "w", encoding="utf-8") as f:
                f.write(text)
            done = prmgen("--check", tmp)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("prmgen: a.yaml", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def rows(self, *rows, size=2, extra=""):
        return (f"layouts:\n  inner: {{size: 1, rows: [[0, 31, 0, x]]}}\n  a:\n    size: {size}\n"
                f"    rows:\n" + "".join(f"      - {r}\n" for r in rows) + extra)

    def test_overlap(self):
        self.refused(self.rows("[0, 31, 16, one]", "[0, 16, 0, two]"), "a.two", "overlaps one")

    def test_overlap_of_nested(self):
        self.refused(self.rows("[1, inner, {layout: inner}]", "[1, 0, 0, two]"), "overlaps inner")

    def test_overlap_of_wide(self):
        self.refused(self.rows("[0, 63, 0, one]", "[1, 3, 0, two]"), "overlaps one in dword 1")

    def test_out_of_range(self):
        self.refused(self.rows("[2, 31, 0, one]"), "a.one", "dword 2 is out of range")

    def test_wide_out_of_range(self):
        self.refused(self.rows("[1, 63, 0, one]"), "dword 2 is out of range")

    def test_bits(self):
        self.refused(self.rows("[0, 64, 0, one]"), "a.one", "bits 64..0")
        self.refused(self.rows("[0, 3, 4, one]"), "a.one", "bits 3..4")

    def test_unknown_nested(self):
        self.refused(self.rows("[0, one, {layout: missing}]"), "unknown nested layout 'missing'")

    def test_unknown_enum(self):
        self.refused(self.rows("[0, 3, 0, one, {enum: missing}]"), "unknown enum 'missing'")

    def test_unknown_option(self):
        self.refused(self.rows("[0, 3, 0, one, {enm: x}]"), "unknown option 'enm'")

    def test_duplicate_field(self):
        self.refused(self.rows("[0, 3, 0, one]", "[1, 3, 0, one]"), "a.one", "used twice")

    def test_duplicate_layout(self):
        self.refused(self.rows("[0, 3, 0, one]", extra="  a: {size: 1, rows: []}\n"),
                     "a is given twice")

    def test_malformed_row(self):
        self.refused(self.rows("[0, 3]"), "a row is")
        self.refused(self.rows("[0, 31, one]"), "wrong number of items")
        self.refused(self.rows("[0, 31, 0, 'one two']"), "bad field name")

    def test_no_size(self):
        self.refused("layouts:\n  a: {rows: []}\n", "no size given")

    def test_contains_itself(self):
        self.refused("layouts:\n  a: {size: 1, rows: [[0, b, {layout: b}]]}\n"
                     "  b: {size: 1, rows: [[0, a, {layout: a}]]}\n", "contains itself")

    def test_not_yaml(self):
        self.refused("layouts: [", "")

    def test_unknown_section(self):
        self.refused("layout: {}\n", "unknown section 'layout'")

    def test_array_of_small_scalars(self):
        self.refused(self.rows("[0, 7, 0, one, {count: 2}]"), "elements of 32 or 64 bits")

    def test_select(self):
        self.refused(self.rows("[1, one, {layout: inner, select: two}]"), "inner is none")
        self.refused(self.rows("[1, one, {layout: u, select: two}]",
                               extra="  u: {size: 1, union: true, rows: []}\n"), "no field 'two'")
        self.refused(self.rows("[0, one, {layout: u, select: two}]", "[1, 31, 0, two]",
                               extra="  u: {size: 1, union: true, rows: []}\n"), "has to precede")
        self.refused(self.rows("[0, 63, 0, two]", "[1, one, {layout: u, select: two, overlay: true}]",
                               extra="  u: {size: 1, union: true, rows: []}\n"), "in one dword")
        self.refused(self.rows("[1, one, {layout: inner, when: 1}]"), "members of a union")

    def test_enum(self):
        self.refused("enums:\n  e: {values: {A: 1, B: 1}}\n", "two names for one value")
        self.refused("enums:\n  e: {values: {A: 1}, errno: {A: ENOTHING}}\n", "ENOTHING")
        self.refused("enums:\n  e: {values: {A: 1, B: 2}, text: {A: one}}\n", "no text of B")
        self.refused("enums:\n  e: {values: {A: 1}, text: {A: one, C: two}}\n", "text of C")
        self.refused("enums:\n  e: {}\n", "no values")

    def test_command(self):
        lay = "layouts:\n  x_in: {size: 4, rows: []}\n  x_out: {size: 4, rows: []}\ncommands:\n"
        self.refused(lay + "  X: {opcode: 1, class: odd}\n", "command X", "class 'odd'")
        self.refused(lay + "  X: {opcode: 1, class: query, id: n}\n", "no field 'n'")
        self.refused(lay + "  X: {opcode: 1, class: query, in: y}\n", "unknown layout 'y'")
        self.refused(lay + "  X: {opcode: 1, class: query, destroy: Y}\n", "unknown destroy")
        self.refused(lay + "  X: {opcode: 1, class: query}\n"
                     "  Y: {opcode: 1, class: query, in: x_in, out: x_out}\n", "already that of X")

    def test_struct(self):
        self.refused("structs:\n  s: {bytes: 4, rows: [[2, be32, m]]}\n", "s.m", "beyond the 4")
        self.refused("structs:\n  s: {bytes: 8, rows: [[0, be32, m], [2, be16, n]]}\n",
                     "overlaps the member before")
        self.refused("structs:\n  s: {bytes: 4, rows: [[0, int, m]]}\n", "a row is")


class Header(unittest.TestCase):
    """The rows that every command's mailboxes begin with."""

    STATUS = "enums:\n  status: {values: {OK: 0}}\n"
    COMMAND = "commands:\n  X: {opcode: 1, class: general}\n"

    def fields(self, inbox, outbox):
        with tempfile.TemporaryDirectory() as tmp:
            with open(os.path.join(tmp, "a.yaml"), "w", encoding="utf-8") as f:
                f.write(self.STATUS + f"layouts:\n  x_in: {inbox}\n  x_out: {outbox}\n" + self.COMMAND)
            layouts = prm_model.load(tmp).layouts
        return [[(f.name, f.dword, f.hi, f.lo) for f in layouts[n].fields] for n in ("x_in", "x_out")]

    def test_implied(self):
        inbox, outbox = self.fields("{size: 4, rows: [[2, 7, 0, n]]}", "{size: 4}")
        self.assertEqual(inbox, [("opcode", 0, 31, 16), ("uid", 0, 15, 0), ("vhca_tunnel_id", 1, 31, 16),
                                 ("op_mod", 1, 15, 0), ("n", 2, 7, 0)])
        self.assertEqual(outbox, [("status", 0, 31, 24), ("syndrome", 1, 31, 0)])

    def test_replaced(self):
        """By name (uid is elsewhere) and by bits (obj_type has the place of op_mod)."""
        inbox, outbox = self.fields("{size: 4, rows: [[1, 15, 0, obj_type], [2, 15, 0, uid]]}",
                                    "{size: 4, rows: [[0, 23, 0, address]]}")
        self.assertEqual(inbox, [("opcode", 0, 31, 16), ("vhca_tunnel_id", 1, 31, 16),
                                 ("obj_type", 1, 15, 0), ("uid", 2, 15, 0)])
        self.assertEqual(outbox, [("status", 0, 31, 24), ("address", 0, 23, 0), ("syndrome", 1, 31, 0)])


class Usage(unittest.TestCase):
    """The command line and its outputs."""

    def test_help(self):
        done = prmgen_command("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--check", done.stdout)

    def test_no_folder(self):
        done = prmgen("--check", "/nonexistent")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nonexistent", done.stderr)

    def test_cannot_write(self):
        done = prmgen(YAML, "--out", "/nonexistent")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("/nonexistent", done.stderr)

    def test_same_output_twice(self):
        texts = []
        for run in (prmgen_command, prmgen):
            with tempfile.TemporaryDirectory() as tmp:
                self.assertEqual(run(YAML, "--out", tmp).returncode, 0)
                texts.append({n: open(os.path.join(tmp, n), encoding="utf-8").read()
                              for n in sorted(os.listdir(tmp))})
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(set(texts[0]), {"prm_enums.h", "prm_layouts.h", "prm_names.c",
                                         "prm_tables.c", "prm_wqe.h", "prm-reference.md"})

    def test_reference_names_everything(self):
        with tempfile.TemporaryDirectory() as tmp:
            prmgen(YAML, "--out", tmp, "--only", "prm-reference.md")
            self.assertEqual(os.listdir(tmp), ["prm-reference.md"])
            with open(os.path.join(tmp, "prm-reference.md"), encoding="utf-8") as f:
                text = f.read()
        for word in ("| 0x904 | CREATE_SQ | create | sqn |", "### cqc", "log_cq_size", "### cqe64",
                     "### enum status"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
