#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The sources of the values of emu_profile.c, from the comments beside them, as a C table for `mlxemu profiles CARD`.

Usage: profile_sources.py EMU_PROFILE_C OUTPUT
"""
import pathlib
import re
import sys

COMMON = {"LIMITS": "limit of the model", "CAPS": None}
COMMENT = re.compile(r"/\* (.*?) \*/")


def statements(text):
    """Parts of the file by name: COMMON_LIMITS, COMMON_CAPS and each profile, as lists of lines."""
    part = None
    for line in text.splitlines():
        if match := re.match(r"#define COMMON_(\w+)", line):
            part = f"COMMON_{match[1]}"
        elif match := re.match(r"static const struct emu_profile (\w+) = \{", line):
            part = match[1]
        elif line in ("", "};"):
            part = None
        if part is not None:
            yield part, line


def sources(text):
    """{part: {field: source}}; the macros that a profile uses are among its fields."""
    found = {}
    for part, line in statements(text):
        fields = found.setdefault(part, {})
        comment = COMMENT.search(line)
        default = COMMON.get(part.removeprefix("COMMON_"))
        for name in re.findall(r"\.(\w+) = ", line):
            fields[name] = comment[1] if comment else default
        if match := re.match(r"\tCOMMON_(\w+),$", line):
            fields.update(found[f"COMMON_{match[1]}"])
    # What a recording shows as 0 is in no initialiser.
    for match in re.finditer(r"\* 0 in trace: ([^.]*)", text):
        part = re.findall(r"emu_profile (\w+) = \{", text[:match.start()])[-1]
        names = re.sub(r"\([^)]*\)", "", match[1].replace("\n", " "))
        for name in re.findall(r"\w+\*?", names):
            found[part].setdefault(name, "trace")
    return found


def main():
    """Writes the table."""
    rows = [f'\t{{"{part}", "{name}", "{source}"}},' for part, fields in
            sources(pathlib.Path(sys.argv[1]).read_text()).items() if not part.startswith("COMMON_")
            for name, source in sorted(fields.items()) if source]
    assert len(rows) > 100, len(rows)
    head = "/* Made by profile_sources.py. Do not edit. */\nstatic const struct profile_source {\n" \
           "\tconst char *profile, *field, *source;\n} profile_sources[] = {\n"
    pathlib.Path(sys.argv[2]).write_text(head + "\n".join(rows) + "\n};\n")


if __name__ == "__main__":
    main()
