#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Make one reStructuredText file for DPDK's guides from pages of doc/guide; used by devtools/intree."""
import pathlib
import re

HEAD = ".. SPDX-License-Identifier: BSD-3-Clause\n   Copyright 2026 The mlxpmd Authors\n\n"
UNDERLINES = "=-~^"
INLINE = re.compile(r"`([^`]+)`|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)]+)\)|\*\*([^*]+)\*\*|\*([^*\s](?: \* |[^*])*)\*")
# Characters that may stand next to inline markup (docutils, "Inline markup recognition rules").
BEFORE, AFTER = " \n'\"([{<-/:", " \n'\")]}>-/\\:.,;!?"


def anchor(heading):
    """The anchor of a heading, as in links of the pages."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "")).strip().lower().replace(" ", "-")


def escape(text):
    return re.sub(r"_(?!\w)|[\\*`|]", lambda m: "\\" + m.group(0), text)


class Page:
    """One page: its Markdown, and its labels `mlxpmd_PAGE_ANCHOR`."""

    def __init__(self, path, pages):
        self.name, self.pages = path.stem, pages
        self.lines = path.read_text(encoding="utf-8").splitlines()

    def link(self, text, target):
        if "://" in target:
            return f"`{escape(text)} <{target}>`__"
        page, _, part = target.partition("#")
        page = pathlib.Path(page).stem or self.name
        if page in self.pages and "/" not in target:
            plain = text.replace("`", "")
            return f":ref:`{plain} <mlxpmd_{page}{'_' + part if part else ''}>`"
        return f"{self.inline(text)} (``doc/guide/{target.partition('#')[0]}`` of mlxpmd)"

    def inline(self, text):
        out, at = "", 0
        for m in INLINE.finditer(text):
            out += escape(text[at:m.start()])
            code, label, target, bold, italic = m.groups()
            if code:
                part = f"``{code.strip()}``"
            elif label:
                part = self.link(label, target)
            elif "`" in (bold or italic) or "[" in (bold or italic):
                part = self.inline(bold or italic)
            else:
                part = f"**{escape(bold)}**" if bold else f"*{escape(italic)}*"
            if out and out[-1] not in BEFORE:
                out += "\\ "
            at = m.end()
            out += part + ("\\ " if at < len(text) and text[at] not in AFTER else "")
        return out + escape(text[at:])

    def table(self, rows):
        """A list-table: cells may have any length."""
        cells = [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", row.strip()[1:-1])] for row in rows]
        header = any(cells[0])
        out = [".. list-table::", *(["   :header-rows: 1"] if header else []), ""]
        for row in ([cells[0]] if header else []) + cells[2:]:
            out += [f"   {'* -' if i == 0 else '  -'} {self.inline(cell)}".rstrip() for i, cell in enumerate(row)]
        return out + [""]

    def blocks(self):
        """Pairs of kind and lines: code, table, heading, text; code and text with their indentation."""
        kind, found = None, []
        for line in self.lines:
            fence = re.match(r" *```", line)
            if kind == "code":
                if fence:
                    yield kind, found
                    kind, found = None, []
                else:
                    found.append(line)
                continue
            new = "code" if fence else {"|": "table", "#": "heading"}.get(line[:1], "text")
            if (new != kind or new == "heading") and found:
                yield kind, found
                found = []
            kind = new
            found.append(line)
        yield kind, found

    def rst(self, level):
        """Lines of the page; its title has the underline of this level."""
        out = []
        for kind, lines in self.blocks():
            if kind == "code":
                indent = re.match(" *", lines[0]).group(0)
                out += ["", f"{indent}.. code-block:: console", ""]
                out += [(indent + "   " + line.removeprefix(indent)).rstrip() for line in lines[1:]] + [""]
            elif kind == "table":
                out += [""] + self.table(lines)
            elif kind == "heading":
                marks, heading = lines[0].split(" ", 1)
                title = self.inline(heading)
                depth = level + len(marks) - 1
                label = f"mlxpmd_{self.name}" + (f"_{anchor(heading)}" if len(marks) > 1 else "")
                out += ["", f".. _{label}:", "", title, UNDERLINES[min(depth, 3)] * len(title), ""]
            else:
                out += self.text(lines)
        return out

    def text(self, lines):
        """Paragraphs and lists; markup may continue on the next line, and a list begins after a blank line."""
        out = []
        for line in self.inline("\n".join(lines)).split("\n"):
            # The escaping of a bullet is undone; Markdown takes `-` and `*`.
            item = re.match(r" *(-|\d+\.) ", line)
            if item and out and out[-1].strip():
                previous = re.match(r" *((-|\d+\.) )?", out[-1])
                if not previous.group(1) and not out[-1].startswith(" ") or \
                        len(item.group(0)) != len(previous.group(0)) and previous.group(1):
                    out.append("")
            out.append(line.rstrip())
        return out


def convert(folder, names):
    """One file: the first page gives title and first sections, the others a section each."""
    pages = [Page(folder / f"{name}.md", names) for name in names]
    lines = pages[0].rst(0)
    for page in pages[1:]:
        lines += page.rst(1)
    return HEAD + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def table_rows(path, heading):
    """Rows of the first table below a heading, as lists of cells without code marks."""
    text = path.read_text(encoding="utf-8").partition(f"# {heading}\n")[2]
    rows = re.findall(r"^\|(.*)\|$", text.partition("\n#")[0], re.M)
    return [[cell.strip() for cell in row.split("|")] for row in rows[2:]]
