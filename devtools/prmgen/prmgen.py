#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Generates C accessors, tables and reference pages from the PRM description."""

import argparse
import os
import sys

import emit_layouts
import emit_reference
import emit_tables
import model as prm_model

OUTPUTS = {
    "prm_enums.h": emit_layouts.enums_h,
    "prm_layouts.h": emit_layouts.layouts_h,
    "prm_wqe.h": emit_layouts.wqe_h,
    "prm_names.c": emit_tables.names_c,
    "prm_tables.c": emit_tables.tables_c,
    "prm-reference.md": emit_reference.reference_md,
}


def parse_args(argv):
    parser = argparse.ArgumentParser(description=__doc__, epilog="Outputs: " + ", ".join(OUTPUTS))
    parser.add_argument("yaml", help="folder of the *.yaml files")
    parser.add_argument("--out", metavar="DIR", help="folder to write to")
    parser.add_argument("--only", metavar="FILE", choices=OUTPUTS, action="append",
                        help="write this output only (may be given again)")
    parser.add_argument("--check", action="store_true", help="check the description, write nothing")
    args = parser.parse_args(argv)
    if not args.check and not args.out:
        parser.error("--out or --check is needed")
    return args


def main(argv):
    args = parse_args(argv)
    try:
        model = prm_model.load(args.yaml)
        texts = {name: emit(model) for name, emit in OUTPUTS.items()
                 if not args.only or name in args.only}
        for name, text in texts.items() if not args.check else ():
            with open(os.path.join(args.out, name), "w", encoding="utf-8") as f:
                f.write(text)
    except prm_model.PrmError as e:
        print(f"prmgen: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"prmgen: {e.filename}: {e.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
