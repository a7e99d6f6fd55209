# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Reads the bit-layout structures of an mlx5 C header (one `u8 name[bits];` per field)."""

import re

TOKEN = re.compile(r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+|[{}\[\];*+]")
PREFIX = "mlx5_ifc_"
SUFFIX = "_bits"


class Member:
    """One field: its first bit, how wide an element is, how many, of which layout."""

    def __init__(self, name, bit, width, count=1, nested=None):
        self.name, self.bit, self.width = name, bit, width
        self.count, self.nested = count, nested

    def __repr__(self):
        return f"{self.name}@{self.bit:#x}:{self.width}x{self.count}"


class Layout:
    """A structure or union of fields; `bits` is its fixed part."""

    def __init__(self, name, union=False):
        self.name, self.union = name, union
        self.members, self.bits = [], 0


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", " ", text)


def layout_name(ctag):
    """`mlx5_ifc_cqc_bits` -> `cqc`; None for any other structure."""
    if not ctag.startswith(PREFIX):
        return None
    return ctag[len(PREFIX):].removesuffix(SUFFIX)


class Parser:
    """Recursive descent over one layout's body; nested layouts are resolved by the table given."""

    def __init__(self, layouts, macros):
        self.layouts, self.macros = layouts, macros

    def number(self, tokens):
        """Sizes are numbers, sums and products of numbers and macros."""
        text = "".join(tokens)
        for name, value in self.macros.items():
            text = re.sub(rf"\b{name}\b", str(value), text)
        if not re.fullmatch(r"[0-9a-fA-FxX+*]*", text):
            raise ValueError(f"size {text!r} is not a number")
        return int(eval(text, {}, {})) if text else 0  # pylint: disable=eval-used

    def dimensions(self, toks, i):
        dims = []
        while toks[i] == "[":
            j = toks.index("]", i)
            dims.append(self.number(toks[i + 1:j]))
            i = j + 1
        if toks[i] != ";":
            raise ValueError(f"expected ';' not {toks[i]!r}")
        return dims, i + 1

    def body(self, toks, i, out, base, union):
        """Fields from toks[i] to the closing brace; returns (next token, bits)."""
        size = 0
        while toks[i] != "}":
            at = base if union else base + size
            i, bits = self.member(toks, i, out, at)
            size = max(size, bits) if union else size + bits
        return i + 1, size

    def member(self, toks, i, out, at):
        if toks[i] in ("struct", "union"):
            if toks[i + 1] == "{":
                kind = toks[i] == "union"
                i, bits = self.body(toks, i + 2, out, at, kind)
                while toks[i] != ";":
                    i += 1
                return i + 1, bits
            inner = self.layouts[layout_name(toks[i + 1])]
            name = toks[i + 2]
            dims, i = self.dimensions(toks, i + 3)
            count = dims[0] if dims else 1
            out.members.append(Member(name, at, inner.bits, count, inner.name))
            return i, inner.bits * count
        if toks[i] not in ("u8", "uint8_t"):
            raise ValueError(f"unexpected {toks[i]!r}")
        name = toks[i + 1]
        dims, i = self.dimensions(toks, i + 2)
        count = dims[0] if len(dims) == 2 else 1
        out.members.append(Member(name, at, dims[-1], count))
        return i, dims[-1] * count


def parse(path):
    """All bit layouts of the header at `path`: {name: Layout}, and {name: why} of those unread."""
    with open(path, encoding="utf-8") as f:
        text = strip_comments(f.read())
    macros = {m[1]: m[2] for m in re.finditer(r"^#define\s+(\w+)\s+\(?(0x[0-9a-f]+|\d+)\)?\s*$",
                                             text, flags=re.M)}
    macros["CHAR_BIT"] = "8"
    layouts, skipped = {}, {}
    start = re.compile(r"^(struct|union)\s+(mlx5_ifc_\w+)\s*\{", flags=re.M)
    for m in start.finditer(text):
        name = layout_name(m[2])
        end = re.compile(r"^\}", flags=re.M).search(text, m.end())
        body = re.sub(r"^#.*$", "", text[m.end():end.start()], flags=re.M)
        toks = TOKEN.findall(body) + ["}"]
        layout = Layout(name, m[1] == "union")
        try:
            layout.bits = Parser(layouts, macros).body(toks, 0, layout, 0, layout.union)[1]
        except (KeyError, ValueError, IndexError) as e:
            skipped[name] = str(e)
            continue
        layouts[name] = layout
    return layouts, skipped
