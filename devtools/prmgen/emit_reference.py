# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Writes the reference pages, Markdown."""


def bits(f):
    if f.kind == "blob":
        return f"byte {f.byte}.." if f.trailing else f"bytes {f.byte}..{f.byte + f.bytes - 1}"
    if f.kind == "nested":
        return f"{f.layout.size} dwords"
    return str(f.hi) if f.hi == f.lo else f"{f.hi}:{f.lo}"


def meaning(f):
    parts = []
    if f.kind == "nested":
        parts.append(f"[{f.layout.name}](#{f.layout.name})")
    if f.array:
        parts.append("trailing array" if f.trailing else f"{f.count} elements")
    elif f.trailing:
        parts.append("trailing bytes")
    if f.enum:
        parts.append(f"enum [{f.enum.name}](#enum-{f.enum.name})")
    if f.overlay:
        parts.append("alternative meaning of the bits")
    return ", ".join(parts)


def command_rows(model):
    out = ["| opcode | command | class | id | inbox | outbox | destroyed by |",
           "|---|---|---|---|---|---|---|"]
    for cmd in sorted(model.commands.values(), key=lambda c: c.opcode):
        tail = " + data" if cmd.variable or cmd.inbox.variable else ""
        out.append(f"| {cmd.opcode:#05x} | {cmd.name} | {cmd.cls} | {cmd.id or ''} "
                   f"| [{cmd.inbox.name}](#{cmd.inbox.name}) {4 * cmd.inbox.size} B{tail} "
                   f"| [{cmd.outbox.name}](#{cmd.outbox.name}) {4 * cmd.outbox.size} B "
                   f"| {cmd.destroy or ''} |")
    return out


def reference_md(model):
    out = ["# PRM reference", "", "Generated from `drivers/common/mlx5dv/prm/*.yaml`. Dwords are "
           "big-endian; bit 31 is the first on the wire. Bits without a row are reserved.", "",
           "## Commands", ""] + command_rows(model) + ["", "## Layouts", ""]
    for lay in model.layouts.values():
        kind = "union" if lay.union else "layout"
        out += [f"### {lay.name}", "", f"{kind}, {lay.size} dwords ({4 * lay.size} bytes)", ""]
        if lay.fields:
            out += ["| dword | byte | bits | field | |", "|---|---|---|---|---|"]
        for f in lay.fields:
            out.append(f"| {f.dword} | {4 * f.dword:#04x} | {bits(f)} | {f.name} | {meaning(f)} |")
        out.append("")
    out += ["## Structures", ""]
    for struct in model.structs.values():
        out += [f"### {struct.name}", "", f"{struct.size} bytes", "",
                "| byte | type | member | sub-fields |", "|---|---|---|---|"]
        for r in struct.rows:
            subs = ", ".join(f"{k} {h}:{l}" if h != l else f"{k} {h}"
                             for k, (h, l) in r.bits.items())
            count = f"[{r.count}]" if r.count > 1 else ""
            out.append(f"| {r.offset:#04x} | {r.type}{count} | {r.name} | {subs} |")
        out.append("")
    out += ["## Enumerations", ""]
    for enum in model.enums.values():
        head = ["| value | name |", "|---|---|"]
        if enum.text:
            head = ["| value | name | meaning |", "|---|---|---|"]
        out += [f"### enum {enum.name}", ""] + head
        out += [f"| {v:#x} | {k} |" + (f" {enum.text[k]} |" if enum.text else "")
                for k, v in sorted(enum.values.items(), key=lambda kv: kv[1])]
        out.append("")
    return "\n".join(out)
