#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Plant each fault that devtools/check-style reports, and see that it is the only one reported."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEAD_C = "/* SPDX-License-Identifier: BSD-3-Clause */\n/* Copyright 2026 The mlxpmd Authors */\n"
HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n# Copyright 2026 The mlxpmd Authors\n"
GOOD_C = HEAD_C + """/* A file without a fault: "// in a literal", if( in a comment. */

static int
find(const char *name, struct pair *pair, const struct pair *end)
{
	struct pair none = (struct pair){ .n = 0 };

	for (; pair < end; pair++)
		if (strcmp(pair->name, name) == 0 && pair->n * 4 != sizeof(none)) {
			return pair->n;
		} else if (pair->next == NULL) {
			puts("// not a comment, if( nor this");
			continue;
		}
	return -(none.n * 4);
}
"""
GOOD_H = HEAD_C + "#ifndef GOOD_H\n#define GOOD_H\n\nint find(const char *name);\n\n#endif /* GOOD_H */\n"
GOOD_PY = "#!/usr/bin/python3\n" + HEAD + "def one():\n    return 1\n"
GOOD_SH = "#!/bin/bash\n" + HEAD + "if true; then\n\techo 1\nfi\n"

# File, its text without a fault, (text to replace, planted text), part of the message.
FAULTS = [
    ("a.c", GOOD_C, ("return pair->n;", "return pair->n; "), "trailing blank"),
    ("a.c", GOOD_C, ("static int", "<<<<<<< HEAD\nstatic int"), "merge marker"),
    ("a.c", GOOD_C, ("4);\n}\n", "4);\n}"), "no newline at the end"),
    ("a.c", GOOD_C, ("4);\n}\n", "4);\n}\n\n"), "blank line at the end"),
    ("a.c", GOOD_C, ("BSD-3-Clause", "GPL-2.0"), "SPDX"),
    ("a.c", GOOD_C, ("2026 The mlxpmd Authors", "2026 X"), "copyright"),
    ("a.c", GOOD_C, ("none.n * 4", "none.n * 4" + " + 1" * 30), "columns"),
    ("a.c", GOOD_C, ("return -(none", "\n".join(["none.n++;\n\t"] * 700) + "return -(none"), "lines, more than 700"),
    ("a.c", GOOD_C, ("\treturn -(none", "\tnone.n++;\n" * 70 + "\treturn -(none"), "find(): "),
    ("a.c", GOOD_C, ("\tcontinue;", "\tcontinue; // why"), "// comment"),
    ("a.c", GOOD_C, ("else if (", "else if("), "no blank between the keyword"),
    ("a.c", GOOD_C, ("sizeof(none)", "sizeof (none)"), "blank after sizeof"),
    ("a.c", GOOD_C, ("sizeof(none)", "sizeof none"), "sizeof without"),
    ("a.c", GOOD_C, ("sizeof(none)) {", "sizeof(none)){"), "no blank before '{'"),
    ("a.c", GOOD_C, ("} else if", "}else if"), "next to the brace"),
    ("a.c", GOOD_C, ("struct pair *pair", "struct pair* pair"), "belongs to the name"),
    ("a.c", GOOD_C, ("char *name", "char * name"), "between '*' and the name"),
    ("a.c", GOOD_C, ("strcmp(pair", "strcmp( pair"), "blank after '('"),
    ("a.c", GOOD_C, ("name) == 0", "name ) == 0"), "blank before ')'"),
    ("a.c", GOOD_C, ("name, struct", "name,struct"), "no blank after ','"),
    ("a.c", GOOD_C, ("continue;", "continue ;"), "blank before ';'"),
    ("a.c", GOOD_C, ("\tfor", "  \tfor"), "blanks before a tab"),
    ("a.c", GOOD_C, ("-(none.n * 4)", "(none.n)"), "parentheses around the value"),
    ("a.c", GOOD_C, ("static int", "#if RTE_VERSION >= 1\n#endif\nstatic int"), "belong into"),
    ("a.c", GOOD_C, ("return pair->n;", "return RTE_VER_YEAR;"), "belong into"),
    ("a.c", GOOD_C, ("} else if", "}\n\t\telse if"), "'else' belongs"),
    ("a.c", GOOD_C, ("(none)) {", "(none))\n\t\t{"), "'{' belongs to the line"),
    ("a.c", GOOD_C, ("\n\tfor", "\n\n\tfor"), "two blank lines"),
    ("a.c", GOOD_C, ("\n{\n", "\n{\n\n"), "blank line after '{'"),
    ("a.c", GOOD_C, ("4);\n}", "4);\n\n}"), "blank line before '}'"),
    ("a.c", GOOD_C, ("\tfor (; pair", "        for (; pair"), "indentation by blanks"),
    ("a.c", GOOD_C, ("static int\n", "static int "), "a line of its own"),
    ("a.c", GOOD_C, ("end)\n{", "end) {"), "'{' of a function"),
    ("drivers/a.c", GOOD_C.replace("puts(", "log("), ("continue;", "abort();"), "does not end the process"),
    ("drivers/a.c", GOOD_C.replace("puts(", "log("), ("continue;", "printf(name);"), "logs by its log macros"),
    ("drivers/a.c", GOOD_C.replace("puts(", "log("), ("continue;", "strcpy(a, b);"), "strlcpy"),
    ("drivers/a.c", GOOD_C.replace("puts(", "log("), ("continue;", "atoi(name);"), "strtoul"),
    ("drivers/a.c", GOOD_C.replace("puts(", "log("), ("continue;", "__sync_synchronize();"), "__atomic"),
    ("good.h", GOOD_H, ("#define GOOD_H", "#define GOOD"), "include guard"),
    ("a.py", GOOD_PY, ("return 1", "return ("), "syntax"),
    ("a.py", GOOD_PY, ("    return", "\treturn"), "indentation by tabs"),
    ("a.py", GOOD_PY, ("    return 1", "    print(1)\n" * 71 + "    return 1"), "one(): 7"),
    ("a.sh", GOOD_SH, ("fi\n", "\n"), "syntax error"),
    ("tests/a.c", GOOD_C, ("continue;", "usleep(1);"), "a test that sleeps"),
    ("tests/a.c", GOOD_C, ("continue;", "nanosleep(end, NULL);"), "a test that sleeps"),
    ("tests/a.c", GOOD_C, ("continue;", "rte_delay_ms(1);"), "a test that sleeps"),
    ("tests/good.h", GOOD_H, ("int find", "#define NAP() sleep(1)\nint find"), "a test that sleeps"),
    ("tests/a.py", GOOD_PY, ("return 1", "return time.sleep(1)"), "a test that sleeps"),
    ("tests/a.py", GOOD_PY, ("    return 1", "    from time import sleep\n    return 1"), "a test that sleeps"),
    ("tests/a.sh", GOOD_SH, ("\techo 1", "\tsleep 0.1"), "a test that sleeps"),
    ("tests/a.sh", GOOD_SH, ("if true; then", "if sync; sleep 1; then"), "a test that sleeps"),
    ("a.txt", "plain text\n", ("plain", "zzword"), "retired word 'zzword'"),
    ("a.c", GOOD_C, ("none", "zzword_none"), "retired word"),
]

BODY = "\n\nThe reason.\n"
COMMITS = [
    # Message, part of the fault or None.
    ("tests: add a check" + BODY, None),
    ("net/mlxpmd, app/test-mlx: process a word" + BODY + "\nFixes: 0123456789ab (\"tests: add\")\n", None),
    ("mlxemu/dp: feed the queue" + BODY, None),
    ("unknown: add a check" + BODY, "prefix 'unknown'"),
    ("add a check" + BODY, "prefix ''"),
    ("tests: " + "a" * 69 + BODY, "76 characters"),
    ("tests: add a check." + BODY, "dot at the end"),
    ("tests: added a check" + BODY, "'added'"),
    ("tests: adding a check" + BODY, "'adding'"),
    ("tests: adds a check" + BODY, "'adds'"),
    ("tests: Add a check" + BODY, "lower case"),
    ("tests: add a check\n", "no body"),
    ("tests: add a check\n\nSigned-off-by: A <a@b.c>\n", "no body"),
    ("tests: add a check" + BODY + "\nFixes: 0123 (tests: add)\n", "is not 'Fixes:"),
    ("tests: add a check" + BODY + "\nFixes 0123456789ab (\"tests: add\")\n", "is not 'Fixes:"),
]


def git(tree, *args, text=None):
    """Runs git in the tree, with an identity of its own."""
    subprocess.run(["git", "-C", tree, "-c", "user.name=A", "-c", "user.email=a@b.c", *args], check=True,
                   stdout=subprocess.DEVNULL, input=text, text=True)


def check_style(tree, *args):
    """Exit code and lines of the copy in the tree."""
    done = subprocess.run([sys.executable, tree / "devtools/check-style", *args], stdout=subprocess.PIPE, text=True,
                          check=False, cwd=tree)
    return done.returncode, done.stdout.splitlines()[:-1]


def check_faults(tree):
    """Each fault alone is reported, in the lines of its file; without it nothing is."""
    wrong = []
    for name, good, (old, new), message in FAULTS:
        path = tree / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(good)
        if check_style(tree, name) != (0, []):
            wrong.append(f"{name}: {message}: reported without the fault: {check_style(tree, name)}")
        assert old in good, old
        path.write_text(good.replace(old, new))
        code, lines = check_style(tree, name)
        if code != 1 or not any(message in line for line in lines):
            wrong.append(f"{name}: {message}: not reported: {lines}")
        path.unlink()
    return wrong


def check_waiters(tree):
    """The files that implement waiting may sleep, and so may code that is no test."""
    wrong = []
    for name in ("tests/lib/a.py", "devtools/a.py"):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GOOD_PY.replace("return 1", "return time.sleep(1)"))
        if check_style(tree, name) != (0, []):
            wrong.append(f"{name}: a sleep is reported")
        path.unlink()
    return wrong


def check_retired(tree):
    """Exceptions."""
    wrong = []
    (tree / "quoted.txt").write_text("other program: 'no zzword here'\n")
    if check_style(tree, ".") != (0, []):
        wrong.append("an exception is reported")
    (tree / "quoted.txt").write_text("other program: 'no zzword here', zzword\n")
    if len(check_style(tree, ".")[1]) != 1 or len(check_style(tree, "--retired", ".")[1]) != 1:
        wrong.append("an exception permits more than its text")
    return wrong


def check_commits(tree):
    """Each message is reported for its fault."""
    wrong = []
    for message, fault in COMMITS:
        git(tree, "commit", "--allow-empty", "--cleanup=verbatim", "-F", "-", text=message)
        code, lines = check_style(tree, "--commits", "HEAD~1..HEAD")
        if (fault is None) != (code == 0) or (fault is not None and not any(fault in line for line in lines)):
            wrong.append(f"commit {message!r}: {lines}")
    return wrong


def main():
    """Makes a tree of its own with a copy of the script and its lists."""
    script = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="check-style-") as tmp:
        tree = pathlib.Path(tmp)
        (tree / "devtools/style").mkdir(parents=True)
        shutil.copy(script, tree / "devtools/check-style")
        shutil.copy(script.parent / "style/commit-prefixes", tree / "devtools/style")
        (tree / "devtools/style/retired-words").write_text("zzwords?\ta word\n")
        (tree / "devtools/style/retired-exceptions").write_text("quoted.*\tno zzword here\tquoted\n")
        git(tree, "init", "-q")
        git(tree, "add", ".")
        git(tree, "commit", "-q", "-m", "tests: begin")
        wrong = check_faults(tree) + check_waiters(tree) + check_retired(tree) + check_commits(tree)
    print("\n".join(wrong) or f"{len(FAULTS)} faults and {len(COMMITS)} messages: all as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
