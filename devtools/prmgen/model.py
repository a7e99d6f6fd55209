# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Reads and validates the PRM description (YAML)."""

import errno
import glob
import os
import re

import yaml

NAME = re.compile(r"^[A-Za-z0-9_]+$")
VALUE_NAME = re.compile(r"^[A-Z0-9_]+$")
CLASSES = ("create", "modify", "query", "destroy", "general")
STRUCT_TYPES = {"u8": 1, "be16": 2, "be32": 4, "be64": 8}
TRAILING = "trailing"
REQUEST = "request"
# Rows that the mailboxes of every command begin with: dword, high bit, low bit, name, enum.
HEADER = {
    "inbox": ((0, 31, 16, "opcode", "cmd_op"), (0, 15, 0, "uid"),
              (1, 31, 16, "vhca_tunnel_id"), (1, 15, 0, "op_mod")),
    "outbox": ((0, 31, 24, "status", "status"), (1, 31, 0, "syndrome")),
}


class PrmError(Exception):
    """Error in the description; the text names file, layout and row."""


class Field:
    """One row. kind is scalar, nested or blob; count 0: a trailing array."""

    def __init__(self, name, kind, dword):
        self.name, self.kind, self.dword = name, kind, dword
        self.hi, self.lo = 31, 0
        self.count, self.array = 1, False
        self.layout = None
        self.enum = None
        self.bytes, self.byte = 0, 0
        self.select, self.when = None, None
        self.overlay = False
        self.where = ""

    @property
    def trailing(self):
        return self.count == 0

    @property
    def width(self):
        return self.hi - self.lo + 1

    @property
    def stride(self):
        """Dwords from one element to the next."""
        if self.kind == "nested":
            return self.layout.size
        return 2 if self.hi > 31 else 1

    def masks(self):
        """{dword: mask} of the bits of this row, arrays of fixed length included."""
        if self.kind == "blob":
            return self.blob_masks()
        out = {}
        for i in range(self.count):
            base = self.dword + i * self.stride
            if self.kind == "nested":
                out.update({base + d: 0xffffffff for d in range(self.layout.size)})
                continue
            mask = ((1 << self.width) - 1) << self.lo
            if self.hi > 31:
                out[base], out[base + 1] = mask >> 32, mask & 0xffffffff
            else:
                out[base] = mask
        return {d: m for d, m in out.items() if m}

    def blob_masks(self):
        out = {}
        for b in range(self.byte, self.byte + self.bytes):
            dword = self.dword + b // 4
            out[dword] = out.get(dword, 0) | 0xff << (24 - 8 * (b % 4))
        return out


class Layout:
    """Rows over `size` dwords; the members of a union all read the same dwords."""

    def __init__(self, name, size, union, where):
        self.name, self.size, self.union, self.where = name, size, union, where
        self.default = None
        self.fields = []

    def field(self, name):
        return next((f for f in self.fields if f.name == name), None)

    @property
    def variable(self):
        """Does a trailing array follow, of this layout or of a nested one at its end?"""
        for f in self.fields:
            if f.trailing:
                return True
            if f.kind == "nested" and not f.array and f.layout.variable and \
               f.dword + f.layout.size == self.size:
                return True
        return False

    def valid_masks(self):
        """Per dword the bits that have a row."""
        masks = [0] * self.size
        for f in self.fields:
            for dword, mask in f.masks().items():
                masks[dword] |= mask
        return masks


class Enum:
    """A named set of values."""

    def __init__(self, name, values, where):
        self.name, self.values, self.where = name, values, where
        self.named = self.strict = self.flags = False
        self.errno, self.errno_default = {}, None
        self.text = {}


class Command:
    """One opcode of the command interface."""

    def __init__(self, name, opcode, cls, where):
        self.name, self.opcode, self.cls, self.where = name, opcode, cls, where
        self.inbox = self.outbox = None
        self.id = None
        self.destroy = self.create = None
        self.variable = False
        self.in_min = 0
        self.out_min = 0
        self.request, self.request_shift = None, 0


class StructRow:
    """One member of a plain structure: byte offset, type, name."""

    def __init__(self, offset, ctype, name):
        self.offset, self.type, self.name = offset, ctype, name
        self.count, self.overlay, self.bits = 1, False, {}

    @property
    def bytes(self):
        return STRUCT_TYPES[self.type] * self.count


class Struct:
    """A plain structure (WQE, CQE, EQE)."""

    def __init__(self, name, size, where):
        self.name, self.size, self.where, self.rows = name, size, where, []


class Model:
    """The whole description."""

    def __init__(self):
        self.layouts, self.enums, self.commands, self.structs = {}, {}, {}, {}
        self.files = []


def fail(where, text):
    raise PrmError(f"{where}: {text}")


def take(opts, key, kind, where, default=None):
    """Removes one option and checks its type."""
    if key not in opts:
        return default
    value = opts.pop(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        fail(where, f"option '{key}' has a wrong value {value!r}")
    return value


def no_more(opts, where):
    if opts:
        fail(where, f"unknown option '{sorted(opts)[0]}'")


def take_count(f, opts):
    if "count" not in opts:
        return
    count = opts.pop("count")
    if count == TRAILING:
        count = 0
    elif not isinstance(count, int) or isinstance(count, bool) or count < 1:
        fail(f.where, f"option 'count' has a wrong value {count!r}")
    f.count, f.array = count, True


def read_row(row, layout, path):
    """A YAML row to a Field; nested layouts and enums stay names until link()."""
    where = f"{path}: {layout.name}: row {row}"
    if not isinstance(row, list) or len(row) < 3 or not isinstance(row[0], int):
        fail(where, "a row is [dword, hi, lo, name] or [dword, name, {layout: L}] or "
                    "[dword, name, {bytes: N}]")
    opts = {}
    if isinstance(row[-1], dict):
        opts = dict(row[-1])
        row = row[:-1]
    if len(row) == 4:
        f = Field(row[3], "scalar", row[0])
        f.hi, f.lo = row[1], row[2]
    elif len(row) == 2:
        f = Field(row[1], "nested" if "layout" in opts else "blob", row[0])
    else:
        fail(where, "wrong number of items")
    f.where = f"{path}: {layout.name}.{f.name}"
    if not isinstance(f.name, str) or not NAME.match(f.name):
        fail(where, f"bad field name {f.name!r}")
    f.overlay = take(opts, "overlay", bool, f.where, False)
    read_kind(f, opts)
    no_more(opts, f.where)
    return f


def read_kind(f, opts):
    """The options that belong to each kind of row."""
    if f.kind == "scalar":
        if not all(isinstance(b, int) for b in (f.hi, f.lo)) or not 0 <= f.lo <= f.hi <= 63:
            fail(f.where, f"bits {f.hi}..{f.lo} are not 63..0 high to low")
        f.enum = take(opts, "enum", str, f.where)
        take_count(f, opts)
        if f.array and f.width not in (32, 64):
            fail(f.where, "an array of scalars has elements of 32 or 64 bits")
    elif f.kind == "nested":
        f.layout = take(opts, "layout", str, f.where)
        f.select = take(opts, "select", str, f.where)
        f.when = take(opts, "when", int, f.where)
        take_count(f, opts)
    else:
        if "bytes" not in opts:
            fail(f.where, "neither bits, layout nor bytes given")
        size = opts.pop("bytes")
        f.count = 0 if size == TRAILING else 1
        if size != TRAILING and (not isinstance(size, int) or size < 1):
            fail(f.where, f"option 'bytes' has a wrong value {size!r}")
        f.bytes = 0 if f.trailing else size
        f.byte = take(opts, "byte", int, f.where, 0)
        if not 0 <= f.byte <= 3:
            fail(f.where, "option 'byte' is 0..3")


def read_layout(name, spec, path, model):
    where = f"{path}: {name}"
    if name in model.layouts:
        fail(where, f"layout declared twice, first in {model.layouts[name].where}")
    if not NAME.match(str(name)) or not isinstance(spec, dict):
        fail(where, "a layout is a lower-case name with size and rows")
    spec = dict(spec)
    size = take(spec, "size", int, where)
    if not size or size < 1:
        fail(where, "no size given (dwords)")
    layout = Layout(name, size, take(spec, "union", bool, where, False), where)
    layout.default = take(spec, "default", str, where)
    rows = take(spec, "rows", list, where, [])
    no_more(spec, where)
    layout.fields = [read_row(r, layout, path) for r in rows]
    model.layouts[name] = layout


def read_enum(name, spec, path, model):
    where = f"{path}: enum {name}"
    if name in model.enums:
        fail(where, f"enum declared twice, first in {model.enums[name].where}")
    if not NAME.match(str(name)) or not isinstance(spec, dict):
        fail(where, "an enum is a lower-case name with values")
    spec = dict(spec)
    values = take(spec, "values", dict, where)
    if not values:
        fail(where, "no values")
    for key, value in values.items():
        if not VALUE_NAME.match(str(key)) or not isinstance(value, int):
            fail(where, f"bad value {key!r}: {value!r}")
    enum = Enum(name, {str(k): v for k, v in values.items()}, where)
    if len(set(enum.values.values())) != len(enum.values):
        fail(where, "two names for one value")
    for flag in ("named", "strict", "flags"):
        setattr(enum, flag, take(spec, flag, bool, where, False))
    enum.errno = take(spec, "errno", dict, where, {})
    enum.errno_default = take(spec, "errno_default", str, where)
    for key, code in enum.errno.items():
        if key not in enum.values or not hasattr(errno, str(code)):
            fail(where, f"errno of {key} is {code}: no such value or errno")
    enum.text = take(spec, "text", dict, where, {})
    for key, text in enum.text.items():
        if key not in enum.values or not isinstance(text, str) or '"' in text:
            fail(where, f"text of {key} is {text!r}: no such value, or no plain text")
    if enum.text and set(enum.text) != set(enum.values):
        fail(where, f"no text of {', '.join(sorted(set(enum.values) - set(enum.text)))}")
    no_more(spec, where)
    model.enums[name] = enum


def read_command(name, spec, path, model):
    where = f"{path}: command {name}"
    if name in model.commands:
        fail(where, "command declared twice")
    spec = dict(spec)
    cmd = Command(name, take(spec, "opcode", int, where), take(spec, "class", str, where), where)
    if cmd.cls not in CLASSES:
        fail(where, f"class {cmd.cls!r} is none of {', '.join(CLASSES)}")
    other = next((c for c in model.commands.values() if c.opcode == cmd.opcode), None)
    if cmd.opcode is None or other:
        fail(where, f"opcode missing or already that of {other.name if other else 'none'}")
    cmd.inbox = take(spec, "in", str, where, name.lower() + "_in")
    cmd.outbox = take(spec, "out", str, where, name.lower() + "_out")
    cmd.id = take(spec, "id", str, where)
    cmd.destroy = take(spec, "destroy", str, where)
    cmd.variable = take(spec, "variable", bool, where, False)
    cmd.in_min = take(spec, "in_min", int, where, 0)
    cmd.out_min = take(spec, "out_min", int, where, 0)
    cmd.request = take(spec, "request", str, where)
    cmd.request_shift = take(spec, "request_shift", int, where, 0)
    no_more(spec, where)
    model.commands[name] = cmd


def read_struct(name, spec, path, model):
    where = f"{path}: struct {name}"
    if name in model.structs:
        fail(where, "struct declared twice")
    spec = dict(spec)
    struct = Struct(name, take(spec, "bytes", int, where), where)
    for row in take(spec, "rows", list, where, []):
        opts = dict(row[3]) if len(row) > 3 else {}
        if len(row) < 3 or row[1] not in STRUCT_TYPES or not NAME.match(str(row[2])):
            fail(where, f"row {row}: a row is [offset, u8|be16|be32|be64, name]")
        r = StructRow(*row[:3])
        r.count = take(opts, "count", int, where, 1)
        r.overlay = take(opts, "overlay", bool, where, False)
        r.bits = take(opts, "bits", dict, where, {})
        no_more(opts, f"{where}.{r.name}")
        struct.rows.append(r)
    no_more(spec, where)
    check_struct(struct)
    model.structs[name] = struct


def check_struct(struct):
    end, names = 0, set()
    for r in struct.rows:
        where = f"{struct.where}.{r.name}"
        if r.name in names:
            fail(where, "name used twice")
        names.add(r.name)
        if r.offset + r.bytes > struct.size:
            fail(where, f"ends beyond the {struct.size} bytes of its structure")
        for sub, (hi, lo) in r.bits.items():
            if not 0 <= lo <= hi < 8 * STRUCT_TYPES[r.type]:
                fail(where, f"sub-field {sub} bits {hi}..{lo} are outside its member")
        if r.overlay:
            continue
        if r.offset < end:
            fail(where, "overlaps the member before it")
        end = r.offset + r.bytes


READERS = {"layouts": read_layout, "enums": read_enum, "commands": read_command,
           "structs": read_struct}


class UniqueLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A loader that rejects duplicate keys."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                mark = key_node.start_mark
                raise PrmError(f"{os.path.basename(mark.name)}: line {mark.line + 1}: "
                               f"{key} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_file(path, model):
    name = os.path.basename(path)
    try:
        with open(path, encoding="utf-8") as f:
            doc = yaml.load(f, Loader=UniqueLoader)  # a SafeLoader
    except OSError as e:
        fail(name, e.strerror)
    except yaml.YAMLError as e:
        fail(name, " ".join(str(e).split()))
    if not isinstance(doc, dict):
        fail(name, "not a mapping of layouts, enums, commands or structs")
    for section, content in doc.items():
        if section not in READERS or not isinstance(content, dict):
            fail(name, f"unknown section '{section}'")
        for key, spec in content.items():
            READERS[section](str(key), spec, name, model)
    model.files.append(name)


def link(model):
    """Resolves names: nested layouts, enums, commands' layouts and counterparts."""
    add_cmd_op(model)
    for cmd in model.commands.values():
        link_command(cmd, model)
    for layout in model.layouts.values():
        for f in layout.fields:
            if f.kind == "nested":
                if f.layout not in model.layouts:
                    fail(f.where, f"unknown nested layout '{f.layout}'")
                f.layout = model.layouts[f.layout]
            if f.enum is not None:
                if f.enum not in model.enums:
                    fail(f.where, f"unknown enum '{f.enum}'")
                f.enum = model.enums[f.enum]


def add_cmd_op(model):
    """Adds an enum of the opcodes, for the field `opcode`."""
    if not model.commands:
        return
    enum = Enum("cmd_op", {c.name: c.opcode for c in model.commands.values()}, "commands")
    enum.named = True
    model.enums["cmd_op"] = enum


def link_command(cmd, model):
    for attr in ("inbox", "outbox"):
        name = getattr(cmd, attr)
        if name not in model.layouts:
            fail(cmd.where, f"unknown layout '{name}'")
        setattr(cmd, attr, model.layouts[name])
        imply_header(model.layouts[name], HEADER[attr])
    if cmd.id and not (cmd.outbox if cmd.cls == "create" else cmd.inbox).field(cmd.id):
        fail(cmd.where, f"no field '{cmd.id}' for the object's id")
    if cmd.request and not cmd.inbox.field(cmd.request):
        fail(cmd.where, f"no request field '{cmd.request}'")
    if cmd.destroy:
        if cmd.destroy not in model.commands:
            fail(cmd.where, f"unknown destroy command '{cmd.destroy}'")
        model.commands[cmd.destroy].create = cmd.name


def imply_header(layout, header):
    """Adds the header rows whose name and bits the layout itself does not use, in the order of the bits."""
    names = {f.name for f in layout.fields}
    used = {}
    for f in (f for f in layout.fields if f.kind == "scalar" and f.dword < 2):
        for dword, mask in f.masks().items():
            used[dword] = used.get(dword, 0) | mask
    for dword, hi, lo, name, *enum in header:
        f = Field(name, "scalar", dword)
        f.hi, f.lo, f.enum, f.where = hi, lo, enum[0] if enum else None, layout.where
        if name not in names and not f.masks()[dword] & used.get(dword, 0):
            layout.fields.append(f)
    layout.fields.sort(key=lambda f: (f.dword, -f.hi) if f.dword < 2 else (2, 0))


def check_layout(layout):
    """Checks that names are unique, rows inside the layout, and bits used once (except overlays)."""
    names, owner = set(), {}
    for f in layout.fields:
        if f.name in names:
            fail(f.where, "name used twice in its layout")
        names.add(f.name)
        for dword, mask in f.masks().items():
            if dword >= layout.size:
                fail(f.where, f"dword {dword} is out of range: {layout.name} has {layout.size}")
            if layout.union or f.overlay:
                continue
            clash = next((o for o, m in owner.get(dword, []) if m & mask), None)
            if clash:
                fail(f.where, f"overlaps {clash} in dword {dword}")
            owner.setdefault(dword, []).append((f.name, mask))
        if f.trailing and not f.overlay and f.dword < layout.size and f.kind != "blob":
            fail(f.where, f"a trailing array starts where its layout ends ({layout.size})")
        check_select(layout, f)
        if layout.union and (f.kind != "nested" or f.dword or f.array):
            fail(f.where, "a union has nested layouts at dword 0 only")
    if layout.default and layout.default not in names:
        fail(layout.where, f"no member '{layout.default}' for the default")


def check_select(layout, f):
    """`select` names what selects the member of a union: a field of the same layout, or the request."""
    if f.select:
        chooser = layout.field(f.select)
        if not f.layout.union:
            fail(f.where, f"'select' needs a union, {f.layout.name} is none")
        if f.select != REQUEST and (not chooser or chooser.kind != "scalar" or chooser.array):
            fail(f.where, f"no field '{f.select}' to select by")
        if f.select != REQUEST and (chooser.hi > 31 or chooser.dword >= f.dword):
            fail(f.where, f"'{f.select}' has to precede the union, in one dword")
    if f.when is not None and not layout.union:
        fail(f.where, "'when' belongs to the members of a union")


def check_acyclic(model):
    """Rejects a layout that contains itself."""
    done = set()

    def visit(layout, path):
        if layout.name in path:
            fail(layout.where, "contains itself: " + " > ".join(path + [layout.name]))
        if layout.name in done:
            return
        for f in layout.fields:
            if f.kind == "nested":
                visit(f.layout, path + [layout.name])
        done.add(layout.name)

    for layout in model.layouts.values():
        visit(layout, [])


def load(folder):
    """Loads all *.yaml files of a folder; raises PrmError if one is invalid."""
    paths = sorted(glob.glob(os.path.join(folder, "*.yaml")))
    if not paths:
        fail(folder, "no *.yaml file there")
    model = Model()
    for path in paths:
        load_file(path, model)
    link(model)
    check_acyclic(model)
    for layout in model.layouts.values():
        check_layout(layout)
    return model
