# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Finds the places of sources where a single fault can be planted, with libclang."""
import collections
import ctypes
import json
import pathlib
import re
import shlex

# What a fault is put into, and what replaces it. form: an expression, or a statement with its semicolon.
Site = collections.namedtuple("Site", "file function line start end kind area form old new key")

AREAS = {"hot": "burst and clock", "control": "control path", "error": "error paths"}
KINDS = {
    "comparison": "< for <=, == for !=, and vice versa",
    "logic": "&& for ||, and vice versa",
    "condition": "always false, or always true",
    "error check": "the condition of a branch that reports an error is false, or has one operand of && or || only",
    "arithmetic": "+ for -, << for >>, and vice versa",
    "constant": "one more; true for false",
    "mask": "one operand of & or | only; no ~",
    "byte order": "no conversion",
    "statement": "removed",
    "barrier": "removed",
    "lock": "lock or unlock removed",
    "unwinding": "release of a resource removed",
}
_BURST = re.compile(r"mlxpmd_(burst|rx(?!_intr|q)|rxtx|tx(?!q)|ptype|desc_status|clock_(avx|refresh))|"
                    r"mlxpmd_clock\.h|mlxpmd_timesync\.h|mdv_barrier|mdv_vector")
_CLOCK = re.compile(r"_(clock|timesync|sched)")
_ERROR_FILES = re.compile(r"_(error|repair)\.c$")
_ERROR_EXIT = re.compile(r"return\s*\(?\s*(-|NULL|MDV_\w*(FAIL|ERR)|MLXPMD_FAIL|(rc|ret|err)\s*;)|"
                         r"\b(MDV_\w*(FAIL|ERR)\w*|MLXPMD_FAIL|errno\s*=)")
_ERROR_CONDITION = re.compile(r"\b(rc|ret|err|errno|rte_errno)\b\s*(!=\s*0|<\s*0|==\s*-|==\s*E)|"
                              r"\b(MDV_LOG|MLXPMD_LOG)\(ERR")
# What has no effect on the program but a message, and calls that both report an error and log.
_SILENT = re.compile(r"\b(MDV_LOG\w*|MLXPMD_LOG|static_assert|RTE_BUILD_BUG_ON|RTE_SET_USED|"
                     r"rte_prefetch\w+|RTE_LOG\w*)\s*\(")
_FAIL = re.compile(r"\b(MDV_FAIL\w*|MLXPMD_FAIL)\s*\(")
_BARRIER = re.compile(r"(rte_(io_|smp_)?[rw]?mb|rte_atomic_thread_fence|__atomic_thread_fence|mdv_wc_flush|"
                      r"rte_compiler_barrier)\s*\(")
_LOCK = re.compile(r"\w*(_|\b)(un)?lock\w*\s*\(|mdv_\w+_(lock|unlock)\s*\(")
_RELEASE = re.compile(r"(\(void\)\s*)?\w*(free|destroy|close|down|fini|unmap|unregister|remove|release|put|disarm|"
                      r"del|cancel|stop|dealloc|clear)\w*\s*\(")
_BYTE_ORDER = re.compile(r"\b(rte_(?:cpu_to|be|le)_(?:be|le|to_cpu|cpu)_?\w*\d\d|hto[bl]e\d\d|[bl]e\d\dtoh|"
                         r"hton[sl]|ntoh[sl])\s*\(")
_INTRINSICS = [(re.compile(r"\b_mm\w*_" + a + r"\w*\s*\("), a, b) for a, b in (
    ("cmpgt_epi64(?!_mask)", "cmpeq"), ("cmpgt_ep[iu]\\d+_mask", "cmpge"), ("cmplt_ep[iu]\\d+_mask", "cmple"),
    ("cmpeq_ep[iu]\\d+", "cmpgt"), ("cmpneq_ep[iu]\\d+_mask", "cmpeq"), ("(?<!reduce_)add_epi", "sub"),
    ("sub_epi", "add"), ("(?<!d)and_si", "or_si"), ("(?<!x)or_si", "and_si"), ("andnot_si", "and_si"))]
_COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_LOGIC = {"&&": "||", "||": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "<<": ">>", ">>": "<<"}
_KEYWORDS = {"if", "for", "while", "do", "switch", "return", "goto", "break", "continue", "case", "default", "else"}


def area_of(path, error):
    name = pathlib.PurePath(path).name
    if _BURST.search(name) and not _ERROR_FILES.search(name):
        return "hot"
    if error or _ERROR_FILES.search(name):
        return "error"
    return "hot" if _CLOCK.search(name) else "control"


# Intrinsics whose last argument has to be constant for the compiler: no switch can be put there.
_IMMEDIATE = re.compile(r"_mm\d*_(?:maskz?_)?(?:alignr|blend|cmp|extract|insert|permute2x128|permute4x64|permutex|"
                        r"shuffle_epi32|shuffle_i|ternarylogic)_?\w*$")


def is_immediate(text, start, end):
    """Is this the last argument of such an intrinsic?"""
    if not re.compile(r"\s*\)").match(text, end):
        return False
    depth, at = 0, start
    while at > 0 and depth >= 0:
        at -= 1
        depth += {")": 1, "(": -1}.get(text[at], 0)
    return bool(_IMMEDIATE.search(text[max(at - 40, 0):at]))


def blank(text):
    """The text with comments, strings and preprocessor lines blanked; offsets stay."""
    def blanks(match):
        return re.sub(r"[^\n]", " ", match[0]) if match[0][0] != '"' else '"' + " " * (len(match[0]) - 2) + '"'
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?m:^[ \t]*#(?:\\\n|[^\n])*)', blanks, text, flags=re.DOTALL)


def closing(text, start):
    """Offset of the bracket that closes the one at start; -1 if there is none."""
    depth = 0
    for i in range(start, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return -1


def semicolon(text, start):
    """Offset of the semicolon that ends the statement at start; -1 if there is none."""
    while start < len(text) and text[start] not in ")]}":
        if text[start] == ";":
            return start
        last = closing(text, start) if text[start] in "([{" else start
        if last < 0:
            break
        start = last + 1
    return -1


class _File:
    """Sites of one source file; offsets are bytes, so the text is latin-1."""

    def __init__(self, root, name):
        self.name = name
        self.text = (root / name).read_bytes().decode("latin-1")
        self.clean = blank(self.text)
        self.found = {}
        # With the semicolon of a statement; of a call that reports an error, from its message on.
        self.silent = [(m.start(), closing(self.clean, m.end() - 1) + 2) for m in _SILENT.finditer(self.clean)]
        for match in _FAIL.finditer(self.clean):
            last = closing(self.clean, match.end() - 1)
            quote = self.clean.find('"', match.end(), last)
            self.silent.append((quote if quote >= 0 else last, last))

    def add(self, function, span, kind, new, error, form="expression"):
        start, end = span
        old = self.text[start:end]
        if (end <= start or "\n#" in old or any(a <= start and end <= b for a, b in self.silent) or
                old.strip() == new.strip()):
            return
        self.found.setdefault((start, end, new), (function, kind, error, form))

    def sites(self):
        """In the order of the text. The key stays when lines elsewhere change."""
        count = collections.Counter()
        for (start, end, new), (function, kind, error, form) in sorted(self.found.items()):
            old, new = (" ".join(t.split()) for t in (self.text[start:end], new))
            key = f"{self.name}:{function}: {kind}: {old} -> {new or 'nothing'}"
            count[key] += 1
            if count[key] > 1:
                key += f" #{count[key]}"
            yield Site(self.name, function, self.text.count("\n", 0, start) + 1, start, end, kind,
                       area_of(self.name, error), form, old, new, key)


class _Walk:
    """Visits the body of one function."""

    def __init__(self, finder, file, function):
        self.finder, self.file, self.function = finder, file, function
        self.clean = file.clean
        self.kinds = finder.ci.CursorKind

    def add(self, span, kind, new, error, form="expression"):
        self.file.add(self.function, span, kind, new, error, form)

    def span(self, cursor):
        return self.finder.span(cursor, self.clean)

    def body(self, cursor):
        start, end = self.span(cursor)
        self.visit(cursor, False)
        self.calls(start, end)

    def calls(self, start, end):
        """Conversions of byte order and vector instructions are macros or have no operator: by the text."""
        for match in _BYTE_ORDER.finditer(self.clean, start, end):
            last = closing(self.clean, match.end() - 1)
            self.add((match.start(), last + 1), "byte order", self.file.text[match.end() - 1:last + 1], False)
        for pattern, old, new in _INTRINSICS:
            for match in pattern.finditer(self.clean, start, end):
                last = closing(self.clean, match.end() - 1)
                stem = old.split("_ep")[0].split("(?")[0].replace("\\d+", "")
                head = match[0].replace(stem, new, 1) if "(?<" not in old else match[0].replace(
                    old.split(")")[1], new, 1)
                kind = ("comparison" if "cmp" in old else "arithmetic" if "epi" in old else "mask")
                self.add((match.start(), last + 1), kind, head + self.file.text[match.end():last + 1], False)

    def visit(self, cursor, error):
        k, kind = self.kinds, cursor.kind
        if kind in (k.CXX_UNARY_EXPR, k.STATIC_ASSERT, k.ASM_STMT):
            return
        if kind == k.VAR_DECL:
            self.variable(cursor, error)
        elif kind == k.IF_STMT:
            self.branch(cursor, error)
        elif kind in (k.COMPOUND_STMT, k.FOR_STMT, k.WHILE_STMT, k.DO_STMT, k.CASE_STMT, k.DEFAULT_STMT, k.LABEL_STMT):
            self.inner(cursor, error)
        else:
            if kind == k.BINARY_OPERATOR:
                self.operator(cursor, error)
            elif kind == k.UNARY_OPERATOR:
                start, end = self.span(cursor)
                if self.clean[start] == "~":
                    self.add((start, end), "mask", self.file.text[start + 1:end], error)
            elif kind == k.INTEGER_LITERAL:
                self.constant(cursor, error)
            elif kind == k.CONDITIONAL_OPERATOR:
                self.choice(cursor, error)
            for child in cursor.get_children():
                self.visit(child, error)

    def variable(self, cursor, error):
        if cursor.storage_class == self.finder.ci.StorageClass.STATIC:
            return
        array = cursor.type.kind in (self.finder.ci.TypeKind.CONSTANTARRAY, self.finder.ci.TypeKind.INCOMPLETEARRAY)
        for child in cursor.get_children():
            # The size of an array is part of its type; { 0 } has to stay what it is for all types.
            if (array and child.kind != self.kinds.INIT_LIST_EXPR) or (
                    child.kind == self.kinds.INIT_LIST_EXPR and
                    re.fullmatch(r"\{\s*0\s*\}", self.text_of(child))):
                continue
            self.visit(child, error)

    def text_of(self, cursor):
        start, end = self.span(cursor)
        return self.clean[start:end]

    def branch(self, cursor, error):
        children = list(cursor.get_children())
        start, _ = self.span(cursor)
        inner = error
        if self.clean.startswith("if", start) and len(children) >= 2:
            first = self.clean.index("(", start)
            last = closing(self.clean, first)
            condition = self.clean[first + 1:last]
            statements = self.text_of(children[1]).strip("{} \t\n").split("\n")
            inner = bool(error or _ERROR_CONDITION.search(condition) or _ERROR_EXIT.search(
                statements[-1] + ";" if len(statements) == 1 else " ".join(statements[-3:]) + ";"))
            span = (first + 1, last)
            if inner:
                self.add(span, "error check", "0", True)
            elif not re.search(r"[<>]|[!=]=|&&|\|\|", condition):
                self.add(span, "condition", "0", False)
                self.add(span, "condition", "1", False)
            error = inner
        if children:
            self.visit(children[0], error)
        for number, child in enumerate(children[1:]):
            self.statement(child, inner if number == 0 else error)

    def inner(self, cursor, error):
        k = self.kinds
        children = list(cursor.get_children())
        if cursor.kind == k.CASE_STMT:
            children = children[1:]
        for number, child in enumerate(children):
            head = cursor.kind in (k.FOR_STMT, k.WHILE_STMT) and number < len(children) - 1
            if head or (cursor.kind == k.DO_STMT and number == len(children) - 1):
                self.visit(child, error)
            else:
                self.statement(child, error)

    def statement(self, cursor, error):
        k = self.kinds
        start, _ = self.span(cursor)
        word = re.compile(r"[A-Za-z_]\w*").match(self.clean, start)
        skipped = cursor.kind in (k.DECL_STMT, k.COMPOUND_STMT, k.NULL_STMT, k.LABEL_STMT)
        if not skipped and not (word and word[0] in _KEYWORDS):
            end = semicolon(self.clean, start)
            text = self.clean[start:end]
            # A loop that a macro begins has a block and no semicolon.
            if end > start and "{" not in re.sub(r"\(.*\)", "", text, flags=re.DOTALL):
                self.add((start, end + 1), self.removed(text, error), "", error, "statement")
        self.visit(cursor, error)

    @staticmethod
    def removed(text, error):
        if _BARRIER.match(text):
            return "barrier"
        if _LOCK.match(text):
            return "lock"
        return "unwinding" if _RELEASE.match(text) and error else "statement"

    def operator(self, cursor, error):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        (start, left), (right, end) = self.span(children[0]), self.span(children[1])
        if not start < left <= right < end:
            return
        op = self.clean[left:right].strip()
        a, b = self.file.text[start:left], self.file.text[right:end]
        for kind, table in (("comparison", _COMPARISONS), ("logic", _LOGIC), ("arithmetic", _ARITHMETIC)):
            if op in table:
                if kind == "logic" and error:
                    self.add((start, end), "error check", a, error)
                    self.add((start, end), "error check", b, error)
                else:
                    self.add((start, end), kind, f"{a} {table[op]} {b}", error)
        if op in ("&", "|"):
            self.add((start, end), "mask", a, error)

    def choice(self, cursor, error):
        """condition ? a : b; a macro's own has all of it for a condition."""
        children = list(cursor.get_children())
        span = self.span(children[0])
        condition = self.clean[slice(*span)]
        if re.compile(r"[\s)]*\?").match(self.clean, span[1]) and not re.search(r"[<>]|[!=]=", condition):
            self.add(span, "condition", "0", error)

    def constant(self, cursor, error):
        start, end = self.span(cursor)
        # One more than -1 is 0, not -2. A minus after an operand is a subtraction.
        if self.clean[start].isdigit() and re.search(r"([(\[{,;=<>?:&|*/%^~!+-]|\breturn)\s*-$",
                                                     self.clean[max(start - 20, 0):start]):
            start -= 1
        if is_immediate(self.clean, start, end):
            return
        text = self.clean[start:end]
        if text in ("true", "false"):
            self.add((start, end), "constant", "false" if text == "true" else "true", error)
        elif re.fullmatch(r"-?\d\w*|[A-Z_][A-Z0-9_]*", text) and text != "NULL" and "MEMORY_ORDER" not in text and (
                not text.startswith("__ATOMIC")):
            self.add((start, end), "constant", f"{text} + 1", error)


class Finder:
    """All sites of the sources below a folder of root, by the commands that a configured build has for them."""

    def __init__(self, root, build, folder="drivers"):
        import clang.cindex as ci
        self.ci, self.root, self.build, self.folder = ci, root, build, folder
        self.lib = ci.conf.lib
        numbers = [ctypes.POINTER(ctypes.c_uint)] * 3
        self.lib.clang_getFileLocation.argtypes = [ci.SourceLocation, ctypes.POINTER(ci.c_object_p), *numbers]
        self.files, self.done = {}, set()

    def offset(self, location):
        """In the file as written: inside the arguments of a macro as well."""
        file, numbers = self.ci.c_object_p(), [ctypes.c_uint() for _ in range(3)]
        self.lib.clang_getFileLocation(location, ctypes.byref(file), *(ctypes.byref(n) for n in numbers))
        return numbers[2].value

    def span(self, cursor, text=None):
        """Of a macro inside the arguments of another one, libclang gives the end as its start."""
        start, end = self.offset(cursor.extent.start), self.offset(cursor.extent.end)
        word = text and re.compile(r"(?<![\w)\]])[A-Za-z_]\w*").match(text, end)
        if word:
            end = word.end()
            if text.startswith("(", end):
                end = closing(text, end) + 1
        return start, end

    def commands(self):
        """{source: arguments}, of the folder's own libraries; a vector variant for each set of flags."""
        rows = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        for row in rows:
            path = pathlib.Path(row["directory"], row["file"]).resolve()
            output = row.get("output", "")
            if path.is_relative_to(self.root / self.folder) and output.startswith(self.folder + "/"):
                yield path, [f"-working-directory={row['directory']}", *self.flags(shlex.split(row["command"]))]

    @staticmethod
    def flags(words):
        """Without the compiler, its outputs and its warnings."""
        words = iter(words[next(i for i, word in enumerate(words) if word.startswith("-")):])
        for word in words:
            if word in ("-MQ", "-MF", "-o", "-c"):
                next(words)
            elif not word.startswith(("-W", "-MD", "-f", "-O")):
                yield word

    def find(self, progress):
        commands = list(self.commands())
        for number, (path, args) in enumerate(commands):
            progress(number, len(commands))
            self.parse(path, args)
        return [site for name in sorted(self.files) for site in self.files[name].sites()]

    def parse(self, path, args):
        unit = self.ci.Index.create().parse(str(path), args=args)
        errors = [str(d) for d in unit.diagnostics if d.severity >= self.ci.Diagnostic.Error]
        if errors:
            raise RuntimeError(f"{path}: {errors[0]}")
        for cursor in unit.cursor.get_children():
            if (cursor.kind != self.ci.CursorKind.FUNCTION_DECL or not cursor.is_definition() or
                    not cursor.location.file):
                continue
            source = pathlib.Path(cursor.location.file.name).resolve()
            if not source.is_relative_to(self.root / self.folder):
                continue
            name = str(source.relative_to(self.root))
            file = self.files.get(name) or _File(self.root, name)
            self.files[name] = file
            body = [c for c in cursor.get_children() if c.kind == self.ci.CursorKind.COMPOUND_STMT]
            # A template's functions have a name by their parameters; the text of the file is what counts.
            if body and (name, self.span(body[-1]), cursor.spelling) not in self.done:
                self.done.add((name, self.span(body[-1]), cursor.spelling))
                _Walk(self, file, cursor.spelling).body(body[-1])
