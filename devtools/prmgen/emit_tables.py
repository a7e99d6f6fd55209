# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Writes prm_names.c (names of values) and prm_tables.c (layouts, commands, registers)."""

from emit_layouts import HEAD
from model import REQUEST

KINDS = {"scalar": "PRM_FIELD_SCALAR", "nested": "PRM_FIELD_NESTED", "blob": "PRM_FIELD_BLOB"}
CLASS = {"create": "PRM_CMD_CREATE", "modify": "PRM_CMD_MODIFY", "query": "PRM_CMD_QUERY",
         "destroy": "PRM_CMD_DESTROY", "general": "PRM_CMD_GENERAL"}


def names_c(model):
    out = ["#include <errno.h>", "", '#include "prm.h"', ""]
    for enum in (e for e in model.enums.values() if e.named):
        out += ["const char *", f"prm_{enum.name}_name(unsigned int value)", "{",
                "\tswitch (value) {"]
        for key, value in sorted(enum.values.items(), key=lambda kv: kv[1]):
            out.append(f"\tcase {value:#x}: return \"{key}\";")
        out += ["\tdefault: return \"UNKNOWN\";", "\t}", "}", ""]
    for enum in (e for e in model.enums.values() if e.errno):
        out += errno_function(enum)
    for enum in (e for e in model.enums.values() if e.text):
        out += text_function(enum)
    return HEAD.format(purpose="Names of the values of enumerations.") + "\n".join(out)


def errno_function(enum):
    out = ["int", f"prm_{enum.name}_errno(uint8_t value)", "{", "\tswitch (value) {"]
    for key, value in sorted(enum.values.items(), key=lambda kv: kv[1]):
        out.append(f"\tcase {value:#x}: return {enum.errno.get(key, '0')};")
    return out + [f"\tdefault: return {enum.errno_default or 'EIO'};", "\t}", "}", ""]


def text_function(enum):
    out = ["const char *", f"prm_{enum.name}_text(unsigned int value)", "{", "\tswitch (value) {"]
    for key, value in sorted(enum.values.items(), key=lambda kv: kv[1]):
        out.append(f"\tcase {value:#x}: return \"{enum.text[key]}\";")
    return out + ["\tdefault: return NULL;", "\t}", "}", ""]


def flag(value):
    return "true" if value else "false"


def select_index(layout, f):
    if f.select is None:
        return "PRM_SELECT_NONE"
    if f.select == REQUEST:
        return "PRM_SELECT_REQUEST"
    return str(layout.fields.index(layout.field(f.select)))


def field_row(layout, f):
    count = f.bytes if f.kind == "blob" else f.count
    nested = f"&prm_layout_{f.layout.name}" if f.layout else "NULL"
    enum = f"&enum_{f.enum.name}" if f.enum else "NULL"
    hi, lo = (f.hi, f.lo) if f.kind == "scalar" else (31, 0)
    return (f"\t{{ \"{f.name}\", {nested}, {enum}, {f.dword}, {count}, {KINDS[f.kind]}, "
            f"{hi}, {lo}, {f.byte}, {flag(f.array)}, {flag(f.overlay)}, "
            f"{select_index(layout, f)}, {-1 if f.when is None else f.when} }},")


def enum_tables(model):
    used = {f.enum.name for lay in model.layouts.values() for f in lay.fields if f.enum}
    out = []
    for enum in (e for e in model.enums.values() if e.name in used):
        pairs = sorted(enum.values.items(), key=lambda kv: kv[1])
        out.append(f"static const struct prm_enum_value values_{enum.name}[] = {{")
        out += [f"\t{{ \"{k}\", {v:#x} }}," for k, v in pairs]
        out += ["};", f"static const struct prm_enum enum_{enum.name} = {{",
                f"\t\"{enum.name}\", values_{enum.name}, {len(pairs)}, {flag(enum.strict)}, "
                f"{flag(enum.flags)},", "};", ""]
    return out


def layout_table(lay):
    out = []
    fields = valid = default = "NULL"
    if lay.fields:
        fields = f"fields_{lay.name}"
        out.append(f"static const struct prm_field {fields}[] = {{")
        out += [field_row(lay, f) for f in lay.fields]
        out.append("};")
    if not lay.union:
        valid = f"valid_{lay.name}"
        masks = [f"{m:#010x}," for m in lay.valid_masks()]
        out.append(f"static const uint32_t {valid}[] = {{")
        out += ["\t" + " ".join(masks[i:i + 8]) for i in range(0, len(masks), 8)]
        out.append("};")
    if lay.default:
        default = f'"{lay.default}"'
    out += [f"const struct prm_layout prm_layout_{lay.name} = {{",
            f"\t\"{lay.name}\", {fields}, {valid}, {default}, {lay.size}, {len(lay.fields)}, "
            f"{flag(lay.union)}, {flag(lay.variable)},", "};", ""]
    return out


def field_ref(layout, name):
    if not name:
        return "{ 0, 0, 1 }"
    f = layout.field(name)
    return f"{{ {f.dword}, {f.hi}, {f.lo} }}"


def command_row(cmd, model):
    destroy = model.commands[cmd.destroy].opcode if cmd.destroy else 0
    create = model.commands[cmd.create].opcode if cmd.create else 0
    in_min = cmd.in_min or 4 * cmd.inbox.size
    out_min = cmd.out_min or 4 * cmd.outbox.size
    in_id = field_ref(cmd.inbox, None if cmd.cls == "create" else cmd.id)
    out_id = field_ref(cmd.outbox, cmd.id if cmd.cls == "create" else None)
    return [f"\t{{ \"{cmd.name}\", &prm_layout_{cmd.inbox.name}, &prm_layout_{cmd.outbox.name}, "
            f"{cmd.opcode:#x},",
            f"\t  {in_min}, {out_min}, {destroy:#x}, {create:#x}, {in_id}, {out_id}, "
            f"{CLASS[cmd.cls]},",
            f"\t  {field_ref(cmd.inbox, cmd.request)}, {cmd.request_shift}, "
            f"{flag(cmd.variable or cmd.inbox.variable)} }},"]


def register_rows(model):
    """The registers that have a layout: enum value QPTS is layout qpts_reg."""
    enum = model.enums.get("reg")
    for key, value in (enum.values.items() if enum else ()):
        name = key.lower() + "_reg"
        if name in model.layouts:
            yield f"\t{{ {value:#x}, &prm_layout_{name} }},"


TYPE_BYTES = {"u8": 1, "be16": 2, "be32": 4, "be64": 8}


def member_rows(model):
    """Members of plain structures and their parts: structure, name, offset, bytes, bits."""
    for struct in model.structs.values():
        for r in struct.rows:
            size = TYPE_BYTES[r.type]
            parts = [(f"{r.name}.{sub}", hi, lo) for sub, (hi, lo) in r.bits.items()]
            if r.count == 1:
                parts.insert(0, (r.name, 8 * size - 1, 0))
            for name, hi, lo in parts:
                yield (f'\t{{ "{struct.name}", "{name}", {r.offset}, {size}, {hi}, {lo}, '
                       f'{flag(r.overlay)} }},')


def tables_c(model):
    out = ['#include "prm.h"', ""]
    out += enum_tables(model)
    for lay in model.layouts.values():
        out += layout_table(lay)
    out.append("const struct prm_command prm_commands[] = {")
    for cmd in sorted(model.commands.values(), key=lambda c: c.opcode):
        out += command_row(cmd, model)
    out += ["};", f"const unsigned int prm_commands_count = {len(model.commands)};", ""]
    rows = list(register_rows(model))
    out += ["const struct prm_register prm_registers[] = {"] + rows + \
           ["};", f"const unsigned int prm_registers_count = {len(rows)};", ""]
    rows = list(member_rows(model))
    out += ["const struct prm_member prm_members[] = {"] + rows + \
           ["};", f"const unsigned int prm_members_count = {len(rows)};", ""]
    return HEAD.format(purpose="Tables of layouts, commands and registers.") + "\n".join(out)
