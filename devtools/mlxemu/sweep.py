#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""mlxemu sweep: runs a program once to count its requests, then again with each of them refused in turn."""
import argparse
import collections
import concurrent.futures
import ctypes
import dataclasses
import errno
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml

OK, FAILED, USAGE, FOUND, INTERRUPTED = 0, 1, 2, 3, 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
# A rule that counts and never hits.
NEVER = 1 << 62
OUTPUT_KEPT = 4000
# Options of `mlxemu run` that apply to all runs of a sweep.
RUN_OPTIONS = ("ports", "profile", "cap", "open", "vf", "sf", "mpfs", "wire", "fault", "fault-file", "seed",
               "mac", "clock", "clock-hz", "clock-start", "clock-drift", "clock-wander", "clock-kernel", "clock-format")

EXAMPLES = """\
results of a run with one request refused:
  clean      the program ended with another status than without faults, and nothing is wrong
  ignored    it ended as without faults: information, no finding
  unreached  the request was not made in this run
  signal     a signal ended the program (or it returned 128 + N)            finding
  sanitizer  its output has the report of a sanitizer                       finding
  hang       it did not end in time and was killed                          finding
  left       the ledger has more objects, registrations or mappings         finding
             (not after a refused destroy command: the object stays, and what it uses is busy)
  violation  the audit has violations that the run without faults had not   finding
  check      the command of --check failed                                  finding

exit status: 0 no finding; 3 findings; 1 the run without faults is not as expected; 2 bad options; 130 interrupted.

examples:
  mlxemu sweep -- ./my_program
  mlxemu sweep --of commands,ioctls --short -- ./my_program --port 0
  mlxemu sweep --of commands --statuses NO_RESOURCES,BAD_PARAM --junit sweep.xml -- ./my_program
  mlxemu sweep --ports 2 --wire 0=loop --check 'test -s "$MLXEMU_SWEEP_OUTPUT"' -- ./my_program
  mlxemu sweep --short -- dpdk-testpmd --no-huge -m 512 --file-prefix sweep@SLOT@ -a 0000:c1:00.0 -- --tx-first
"""


class Stop(Exception):
    """The sweep ends here: exit status and one line."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Kind:
    """What is refused: events of fault rules, match key of the names, argument of `fail` and its values."""

    events: tuple
    key: str
    argument: str
    ways: tuple


KINDS = {
    "commands": Kind(("cmd.entry",), "op", "status",
                     ("INTERNAL_ERR", "BAD_OP", "BAD_PARAM", "BAD_RES_STATE", "NO_RESOURCES", "EXCEED_LIM",
                      "RESOURCE_BUSY", "BAD_INPUT_LEN")),
    "ioctls": Kind(("ioctl",), "method", "errno", ("EINTR", "EAGAIN", "EIO", "ENODEV", "ENOMEM", "EFAULT")),
    # RLIMIT_MEMLOCK, no permission to lock memory, pages that cannot be pinned: kernel, ib_umem_get().
    "registrations": Kind(("umem.reg", "mr.reg"), None, "errno", ("ENOMEM", "EPERM", "EFAULT")),
    "memory": Kind(("alloc",), "from", "errno", ("ENOMEM",)),
}
FINDINGS = ("signal", "sanitizer", "hang", "left", "violation", "check")
RESULTS = ("clean", "ignored", "unreached") + FINDINGS
# What a program cannot avoid once a request is refused: results, names of requests, why.
EXCUSED = (
    # The object stays, and what it uses is busy. The kernel frees both when the process ends.
    (("left", "violation"), re.compile("DESTROY|DEALLOC|dereg|DETACH", re.I)),
    # libmlx5 opens the device without DEVX and uses DEVX; it creates CQs without a doorbell page.
    (("violation",), re.compile("GET_CONTEXT|UAR_ALLOC")),
)
SANITIZERS = re.compile(rb"ERROR: (?:Address|Leak|HWAddress)Sanitizer|WARNING: (?:Thread|Memory)Sanitizer|"
                        rb": runtime error: ")


@dataclasses.dataclass
class Cell:
    """One request of the program, refused in one way, and what came of it."""

    kind: str
    event: str
    number: int
    way: str
    match: str = ""
    name: str = ""
    result: str = ""
    detail: str = ""
    status: int = 0
    seconds: float = 0.0
    output: str = ""
    reproduce: str = ""

    @property
    def place(self):
        """Of the request: the same for all ways."""
        return self.kind, self.event, self.match, self.number

    def rule(self, name=None, number=None):
        kind = KINDS[self.kind]
        match = f" match {kind.key}={name}" if name else ""
        number = self.number if number is None else number
        after = f" after {number}" if number else ""
        return f"on {self.event}{match or self.match}{after} count 1 do fail {kind.argument}={self.way}"


@dataclasses.dataclass
class Run:
    """What one run of the program left: status, report and output."""

    status: int
    hang: bool
    seconds: float
    output: bytes
    seen: dict
    hit: str
    left: collections.Counter
    violations: collections.Counter
    check: str = ""


class Runner:
    """Runs the program below `mlxemu run`, each run in a folder and a process group of its own."""

    def __init__(self, mlxemu, options, folder):
        self.mlxemu, self.options, self.folder = mlxemu, options, pathlib.Path(folder)
        self.limit = options.limit
        self.slots = list(range(options.jobs))
        self.serial = 0
        self.lock = threading.Lock()
        self.children = set()
        self.stopped = False

    def command(self, rules, *options):
        faults = [word for rule in rules for word in ("--fault", rule)]
        return [self.mlxemu, "run", *self.options.run, *options, *faults, "--"]

    def stop(self):
        """Ends all runs, and starts no more."""
        with self.lock:
            self.stopped = True
            for child in self.children:
                child.kill()

    def run(self, rules, trace=False):
        with self.lock:
            slot, self.serial = self.slots.pop(), self.serial + 1
            folder = self.folder / str(self.serial)
        folder.mkdir()
        try:
            return self.run_in(folder, slot, rules, trace)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            with self.lock:
                self.slots.append(slot)

    def run_in(self, folder, slot, rules, trace):
        report, output, tmp = folder / "report", folder / "output", folder / "t"
        tmp.mkdir()
        env = dict(os.environ, TMPDIR=str(tmp), MLXEMU_SWEEP_SLOT=str(slot))
        options = ["--report", str(report)] + (["--trace", str(folder / "trace")] if trace else [])
        program = [word.replace("@SLOT@", str(slot)) for word in self.options.program]
        begin = time.monotonic()
        with open(output, "wb") as out:
            status, hang = self.wait(self.command(rules, *options) + program, env, out)
        seconds = time.monotonic() - begin
        run = Run(status, hang, seconds, tail(output), *report_read(report, rules[-1]))
        if trace and not run.hit:
            run.hit = trace_hit(folder / "trace", rules[-1])
        if self.options.check and not hang:
            env.update(MLXEMU_SWEEP_STATUS=str(status), MLXEMU_SWEEP_OUTPUT=str(output),
                       MLXEMU_SWEEP_REPORT=str(report), MLXEMU_SWEEP_RULE="; ".join(rules))
            with open(folder / "check", "wb") as out:
                checked, late = self.wait(["sh", "-c", self.options.check], env, out)
            if checked != 0 or late:
                text = tail(folder / "check").decode(errors="replace").strip()
                run.check = "not finished in time" if late else f"status {checked}: {text[-200:]}"
        return run

    def wait(self, command, env, out):
        """Exit status of a command and whether it had to be killed; its children end with it."""
        with self.lock:
            if self.stopped:
                raise KeyboardInterrupt
            # pylint: disable-next=consider-using-with
            child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     start_new_session=True)
            self.children.add(child)
        hang = False
        try:
            child.wait(self.limit)
        except subprocess.TimeoutExpired:
            hang = True
        finally:
            with self.lock:
                self.children.discard(child)
            group_end(child)
        return child.returncode, hang


def group_end(child):
    """Kills what is left of a process group, and waits until nothing of it exists any more."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    try:
        while True:
            os.waitpid(-child.pid, 0)
    except ChildProcessError:
        pass


def tail(path):
    data = path.read_bytes()
    return data if len(data) < 1 << 20 else data[-(1 << 20):]


def report_read(path, rule):
    """Events that each rule saw, what the rule hit, what was left, violations; of all processes."""
    seen, left, violations = {}, collections.Counter(), collections.Counter()
    hit = ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("fault_rule seen "):
            number, text = line[len("fault_rule seen "):].split(": ", 1)
            seen[text] = max(seen.get(text, 0), int(number))
        elif line.startswith("left "):
            found = re.match(r"left port \d+: (\d+) (.*)", line)
            left[found[2]] += int(found[1])
        elif line.startswith("violation total "):
            what, number = line[len("violation total "):].rsplit(" ", 1)
            violations[what] += int(number)
        else:
            hit = hit or hit_name(line, rule)
    return seen, hit, left, violations


def hit_name(line, rule):
    """`fault 1: port 0 ALLOC_PD: on ...`: what the rule hit; `?` without a name."""
    found = re.search(r"fault \d+: port \d+ (?:(.+): )?" + re.escape(rule) + "$", line)
    return (found[1] or "?") if found else ""


def trace_hit(path, rule):
    """A program that was killed leaves no report: what the rule hit by the trace."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return next(filter(None, (hit_name(line, rule) for line in lines)), "")


def more(now, before):
    """What is there beyond the run without faults, in words."""
    return ", ".join(f"{count} {what}" for what, count in (now - before).items())


def evaluate(run, base, ignore):
    """Result and detail of a run with a fault."""
    if run.hang:
        return "hang", "killed when its time was over"
    found = SANITIZERS.search(run.output)
    if found and "sanitizer" not in ignore and not SANITIZERS.search(base.output):
        found = re.compile(rb"SUMMARY: ").search(run.output, found.start()) or found
        line = run.output[found.start():].split(b"\n", 1)[0]
        return "sanitizer", line.decode(errors="replace").strip(": ")[:120]
    number = -run.status if run.status < 0 else run.status - 128
    if 0 < number <= 64 and run.status != base.status:
        return "signal", signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    excused = {result for results, names in EXCUSED for result in results if names.search(run.hit)}
    # What is left is often busy, which is a violation: the cause comes first.
    for result, text in (("left", more(run.left, base.left)), ("violation", more(run.violations, base.violations)),
                         ("check", run.check)):
        if text and result not in excused | ignore:
            return result, text
    if run.status != base.status:
        return "clean", f"status {run.status}"
    return ("ignored" if run.hit else "unreached"), ""


class Progress:
    """A bar on a terminal, else a line every ten seconds."""

    def __init__(self, total, what):
        self.total, self.what, self.done, self.found = total, what, 0, 0
        self.begin = self.last = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, finding):
        self.done += 1
        self.found += finding
        now = time.monotonic()
        if now - self.last < (0.2 if self.terminal else 10) and self.done < self.total:
            return
        self.last = now
        left_s = (now - self.begin) / self.done * (self.total - self.done)
        text = f"{self.done}/{self.total} {self.what}, {self.found} findings, {left_s:.0f} s left"
        if self.terminal:
            filled = 30 * self.done // self.total
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {text}\033[K")
        elif now - self.begin > 2:
            sys.stderr.write(f"mlxemu: sweep: {text}\n")
        sys.stderr.flush()

    def end(self):
        if self.terminal:
            sys.stderr.write("\r\033[K")


class Sweep:
    """The run without faults, the cells, and the findings."""

    def __init__(self, runner, options):
        self.runner, self.options = runner, options
        self.events = [(kind, event, match) for kind in options.of for event in KINDS[kind].events
                       for match in (options.objects if kind == "memory" else ("",))]
        self.ways = {kind: ways_of(kind, options.statuses) for kind in options.of}
        self.requests = collections.Counter()
        self.base, self.cells = None, []

    def count(self):
        """Runs the program without faults; how many requests of each kind it makes."""
        kinds = [(kind, event, match, way) for kind, event, match in self.events for way in self.ways[kind]]
        rules = [Cell(kind, event, NEVER, way, match).rule() for kind, event, match, way in kinds]
        self.refuse_bad_rules(rules)
        (base,) = self.each(self.runner.run, [rules])
        self.base = base
        text = base.output.decode(errors="replace").strip()[-OUTPUT_KEPT:]
        for wrong, what in ((base.hang, f"did not end within {self.runner.limit:g} s (--limit)"),
                            (base.status != self.options.status, f"ended with status {base.status}, "
                             f"not {self.options.status} (--status)"), (base.check, f"--check: {base.check}")):
            if wrong:
                sys.stderr.write(text + "\n" if text else "")
                raise Stop(FAILED, f"without faults the program {what}")
        for (kind, event, match, _), rule in zip(kinds, rules):
            self.requests[kind, event, match] = base.seen.get(rule, 0)
        if not sum(self.requests.values()):
            raise Stop(FAILED, f"the program made no request of {', '.join(self.options.of)}")
        if self.options.limit_default:
            self.runner.limit = 10 + 10 * base.seconds

    def refuse_bad_rules(self, rules):
        """The launcher checks options and names of statuses; its message is the one line."""
        with tempfile.TemporaryDirectory(dir=self.runner.folder) as tmp:
            done = subprocess.run([*self.runner.command(rules), "true"], env=dict(os.environ, TMPDIR=tmp), text=True,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        found = re.search(r"(?:status|errno)='(.*)': invalid value", done.stderr)
        if found:
            raise Stop(USAGE, f"--statuses '{found[1]}': neither a status of commands nor an errno")
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            raise Stop(done.returncode, "")

    def plan(self):
        """Every request in every way; short: each request once, the ways in turn."""
        for kind, event, match in self.events:
            ways = self.ways[kind]
            for number in range(0, self.requests[kind, event, match], self.options.every):
                turn = number // self.options.every
                some = [ways[turn % len(ways)]] if self.options.short else ways
                self.cells += [Cell(kind, event, number, way, match) for way in some]

    def cell_run(self, cell):
        run = self.runner.run([cell.rule()])
        cell.name, cell.status, cell.seconds = run.hit, run.status, round(run.seconds, 3)
        cell.result, cell.detail = evaluate(run, self.base, self.options.ignore)
        if cell.result in FINDINGS:
            cell.output = run.output.decode(errors="replace")[-OUTPUT_KEPT:]
        return cell

    def each(self, work, items, progress=None):
        """Does the work for all items, as many at once as there are jobs; the results as they come."""
        results = []
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            try:
                for future in concurrent.futures.as_completed([pool.submit(work, item) for item in items]):
                    results.append(future.result())
                    if progress:
                        progress.step(results[-1].result in FINDINGS)
            except BaseException:
                self.runner.stop()
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                if progress:
                    progress.end()
        return results

    def names_complete(self):
        """A killed program leaves no report: take the name of the same request from another cell."""
        names = {c.place: c.name for c in self.cells if c.name}
        for cell in self.cells:
            cell.name = cell.name or names.get(cell.place, "?")

    def findings(self):
        """Cells with a finding by request, result and detail: refused in several ways they are one."""
        groups = collections.OrderedDict()
        for cell in self.cells:
            if cell.result in FINDINGS:
                groups.setdefault((*cell.place, cell.result, cell.detail), []).append(cell)
        return list(groups.values())

    def reproduce(self, group):
        """The rule with the request's name, if it has the same result; else the rule by number."""
        cell, rules = group[0], []
        if KINDS[cell.kind].key and cell.name != "?" and self.options.every == 1:
            same = {c.number for c in self.cells if c.kind == cell.kind and c.name == cell.name}
            rules = [cell.rule(cell.name, sum(number < cell.number for number in same))]
        rules.append(cell.rule())
        note = ""
        for rule in rules:
            run = self.runner.run([rule], trace=True)
            if cell.name == "?" and run.hit:
                cell.name = run.hit
            if evaluate(run, self.base, self.options.ignore)[0] == cell.result:
                break
        else:
            note = "   # another result in the second run"
        line = [*self.runner.command([rule], "--audit"), *(w.replace("@SLOT@", "0") for w in self.options.program)]
        line[0] = "mlxemu"
        for one in group:
            one.name, one.reproduce = cell.name, shlex.join(line) + note
        return cell


def ways_of(kind, statuses):
    """Those of --statuses that fit the kind: errnos or statuses of commands; its own if there are none."""
    if kind == "memory":
        return KINDS[kind].ways
    is_errno = KINDS[kind].argument == "errno"
    fitting = tuple(word for word in statuses if hasattr(errno, word) == is_errno)
    return fitting or KINDS[kind].ways


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        words = [str(c).ljust(w) if i < 2 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(words).rstrip())


def print_table(sweep, seconds):
    by_name, places = collections.OrderedDict(), collections.defaultdict(set)
    for cell in sweep.cells:
        total = by_name.setdefault((cell.kind, cell.name), collections.Counter())
        total.update([cell.result, "cells", "finding" if cell.result in FINDINGS else "none"])
        places[cell.kind, cell.name].add(cell.place)
        total["requests"] = len(places[cell.kind, cell.name])
    rows = [("refused", "", "requests", "runs", "clean", "ignored", "unreached", "findings")]
    columns = ("requests", "cells", "clean", "ignored", "unreached", "finding")
    rows += [(kind, name, *(total[column] for column in columns)) for (kind, name), total in by_name.items()]
    totals = sum(by_name.values(), collections.Counter())
    table(rows + [("all", "", *(totals[column] for column in columns))])
    if sweep.base.left:
        print(f"\nleft without faults, and not counted: {more(sweep.base.left, collections.Counter())}")
    found = collections.OrderedDict()
    for group in sweep.findings():
        found.setdefault((group[0].result, group[0].detail), []).append(group)
    for i, (what, groups) in enumerate(found.items()):
        print(f"\n{i + 1}. {': '.join(what)}")
        for group in groups:
            ways = " ".join(cell.way for cell in group[1:])
            print(f"   {group[0].reproduce}" + (f"   # also {ways}" if ways else ""))
    print(f"\n{len(sweep.cells)} runs, {totals['finding']} with findings ({len(found)} different), {seconds:.1f} s")


def write_junit(sweep, path, seconds):
    suites = xml.Element("testsuites")
    for kind in sweep.options.of:
        cells = [cell for cell in sweep.cells if cell.kind == kind]
        suite = xml.SubElement(suites, "testsuite", name=f"mlxemu sweep {kind}", tests=str(len(cells)), errors="0",
                               failures=str(sum(c.result in FINDINGS for c in cells)),
                               skipped=str(sum(c.result == "unreached" for c in cells)),
                               time=f"{sum(c.seconds for c in cells):.3f}")
        for cell in cells:
            case = xml.SubElement(suite, "testcase", classname=f"sweep.{kind}", time=str(cell.seconds),
                                  name=f"{cell.event} {cell.number + 1} {cell.name} {cell.way}")
            if cell.result in FINDINGS:
                text = f"{cell.reproduce}\n\n{cell.output}"
                xml.SubElement(case, "failure", type=cell.result, message=f"{cell.result}: {cell.detail}").text = \
                    re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)
            elif cell.result == "unreached":
                xml.SubElement(case, "skipped", message="the request was not made in this run")
    suites.set("time", f"{seconds:.3f}")
    xml.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def write_json(sweep, path, seconds):
    counts = collections.Counter(cell.result for cell in sweep.cells)
    result = {"program": sweep.options.program, "seconds": round(seconds, 3),
              "requests": {f"{kind} {event}{match}": n for (kind, event, match), n in sweep.requests.items()},
              "results": {name: counts[name] for name in RESULTS},
              "left_without_faults": dict(sweep.base.left),
              "cells": [dict(dataclasses.asdict(cell), rule=cell.rule()) for cell in sweep.cells]}
    pathlib.Path(path).write_text(json.dumps(result, indent=1) + "\n")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Stop(USAGE, f"{message} (mlxemu sweep --help)")


def kinds(text):
    words = list(dict.fromkeys(text.split(",")))
    for word in words:
        if word not in KINDS:
            raise argparse.ArgumentTypeError(f"'{word}': {', '.join(KINDS)}")
    return words


def results(text):
    words = set(text.split(","))
    for word in sorted(words - {"sanitizer", "violation", "left"}):
        raise argparse.ArgumentTypeError(f"'{word}': sanitizer, violation, left")
    return words


def positive(convert):
    def value(text):
        try:
            number = convert(text)
        except ValueError:
            number = 0
        if not number > 0:
            raise argparse.ArgumentTypeError(f"'{text}': a positive number is needed")
        return number
    return value


def output_file(text):
    folder = os.path.dirname(os.path.abspath(text))
    if os.path.isdir(text) or not os.access(text if os.path.exists(text) else folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"'{text}' cannot be written")
    return text


def options_parse(words):
    parser = Parser(prog="mlxemu sweep", usage="mlxemu sweep [options] -- PROGRAM [ARGS...]", allow_abbrev=False,
                    description="Runs PROGRAM once to count its requests to device and kernel, then again with each "
                    "of them refused in turn, and reports how it ended.", epilog=EXAMPLES,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--of", metavar="KINDS", type=kinds, default=[kind for kind in KINDS if kind != "memory"],
        help=f"what is refused: {', '.join(KINDS)}; several with commas (default: all but memory)")
    add("--from", metavar="NAMES", dest="objects", default=[""],
        type=lambda text: [f" match from={word}" for word in text.split(",")],
        help="memory: only allocations by these objects, as libibverbs, libmlx5, the program's name")
    add("--statuses", metavar="NAMES", type=lambda text: text.split(","), default=[],
        help="how: statuses of commands, errnos of the others (default: eight statuses; six errnos of ioctls, three "
        "of registrations)")
    add("--short", action="store_true", help="refuse each request once, the statuses in turn")
    add("--every", metavar="N", type=positive(int), default=1, help="refuse each N-th request only")
    add("--check", metavar="CMD", help="command of the shell that fails if something is wrong after a run; it gets "
        "MLXEMU_SWEEP_STATUS, _RULE, and the files _OUTPUT, _REPORT")
    add("--ignore", metavar="RESULTS", type=results, default=set(),
        help="sanitizer, violation, left: these are no findings, with commas")
    add("--status", metavar="N", type=int, default=0, help="exit status of the program without faults (default 0)")
    add("--limit", metavar="S", type=positive(float), help="seconds that a run may take (default: 60 without faults, "
        "then 10 times as long as that took plus 10)")
    add("--jobs", metavar="N", type=positive(int), default=len(os.sched_getaffinity(0)),
        help="runs at the same time (default: the processors); @SLOT@ in ARGS and MLXEMU_SWEEP_SLOT in the "
        "environment are 0 to N-1, another one in each of them")
    add("--junit", metavar="FILE", type=output_file, help="write the results as JUnit XML")
    add("--json", metavar="FILE", type=output_file, help="write the results as JSON")
    run = parser.add_argument_group("options of `mlxemu run`, for all runs")
    for name in RUN_OPTIONS:
        run.add_argument(f"--{name}", metavar="...", action="append", help=argparse.SUPPRESS)
    run.description = " ".join(f"--{name}" for name in RUN_OPTIONS)
    cut = words.index("--") if "--" in words else len(words)
    if cut == len(words) and not {"-h", "--help"} & set(words):
        raise Stop(USAGE, "no program given (mlxemu sweep [options] -- PROGRAM)")
    options = parser.parse_args(words[:cut])
    options.program = words[cut + 1:]
    if not options.program:
        raise Stop(USAGE, "no program given (mlxemu sweep [options] -- PROGRAM)")
    options.run = [f"--{name}={value}" for name in RUN_OPTIONS
                   for value in getattr(options, name.replace("-", "_")) or []]
    # The runs are compared: all have the same addresses and numbers.
    options.run += [] if options.seed else ["--seed=1"]
    options.limit_default = options.limit is None
    options.limit = options.limit or 60
    return options


def sweep_run(mlxemu, options):
    # Each run has a tree of small files: better in memory than on a disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mlxemu-sweep.", dir=os.environ.get("TMPDIR") or memory) as folder:
        runner = Runner(mlxemu, options, folder)
        sweep = Sweep(runner, options)
        begin = time.monotonic()
        sweep.count()
        sweep.plan()
        sweep.each(sweep.cell_run, sweep.cells, Progress(len(sweep.cells), "runs"))
        sweep.names_complete()
        sweep.each(sweep.reproduce, sweep.findings(), Progress(len(sweep.findings()), "findings once more"))
        seconds = time.monotonic() - begin
        print_table(sweep, seconds)
        if options.junit:
            write_junit(sweep, options.junit, seconds)
        if options.json:
            write_json(sweep, options.json, seconds)
        return FOUND if sweep.findings() else OK


def interrupt(*_):
    """Ends the sweep. Later signals are ignored: they must not interrupt the cleanup."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main():
    # Crashes are expected.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    # Processes of a run whose parent has ended become children of this one, and can be waited for.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in SIGNALS:
        signal.signal(number, interrupt)
    try:
        return sweep_run(sys.argv[1], options_parse(sys.argv[2:]))
    except Stop as stop:
        if str(stop):
            print(f"mlxemu: sweep: {stop}", file=sys.stderr)
        return stop.status
    except KeyboardInterrupt:
        print("mlxemu: sweep: interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
