# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""pytest plugin: run programs on emulated ConnectX devices (`mlxemu run`) and check what they leave behind."""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

UNCLEAN = "the audit is not clean"
OUTPUT_LINES = 20
TRACE_LINES = 10
# Commands that return capabilities are lines of some thousand columns.
LINE_COLUMNS = 160
# The launcher collects reports and removes its folder within this time after the program's end.
GRACE_S = 10
# The launcher writes these files before the program starts: no report counts the rule.
UNCOUNTED = re.compile(r"on\s+sysfs\.write\b")


class RunFailed(AssertionError):
    """A run did not end as expected; the text has the reason, the audit and a command line that repeats it."""


class ControlError(Exception):
    """A control command was refused, or there is no process with emulated devices."""


@dataclasses.dataclass(frozen=True)
class Audit:
    """What a program left behind, and what a card or kernel refuses or what breaks silently there."""

    left: tuple
    violations: tuple

    @property
    def clean(self):
        return not self.left and not self.violations

    def __str__(self):
        if self.clean:
            return "audit: clean"
        return "\n".join(("audit: not clean", *(f"  {line}" for line in self.left + self.violations)))


class Report:
    """The text that `mlxemu run --report` writes, a part for each process that opened a device."""

    def __init__(self, text, missing=()):
        """The text; what the launcher wrote about processes without a report, whose audit is unknown."""
        self.text = text
        self.counters = []
        self.hits = []
        self.seen = {}
        left, violations = list(missing), []
        for line in text.splitlines():
            words = line.split()
            if re.match(r"port \d+ \w+ \d+$", line):
                self._count(int(words[1]), words[2], int(words[3]))
            elif re.match(r"fault \d+: ", line):
                self.hits.append(line)
            elif line.startswith("fault_rule seen "):
                number, rule = line[len("fault_rule seen "):].split(": ", 1)
                self.seen[rule] = self.seen.get(rule, 0) + int(number)
            elif line.startswith("left "):
                left.append(line)
            elif line.startswith("violation ") and words[1] != "total":
                violations.append(line)
        self.audit = Audit(tuple(left), tuple(violations))

    def _count(self, port, name, value):
        while len(self.counters) <= port:
            self.counters.append({})
        self.counters[port][name] = self.counters[port].get(name, 0) + value

    def has_hit(self, rule):
        return any(line.endswith(f": {rule}") for line in self.hits)


def _tail(path, lines):
    text = path.read_text(errors="replace").splitlines() if path.exists() else []
    return text[-lines:], len(text)


def _block(title, path, lines):
    tail, total = _tail(path, lines)
    if not tail:
        return []
    if total > len(tail):
        title = f"{title} (last {len(tail)} of {total} lines, all in {path})"
    return [f"{title}:", *(f"  {_cut(line)}" for line in tail)]


def _cut(line):
    return line if len(line) <= LINE_COLUMNS else f"{line[:LINE_COLUMNS]} ..."


def _status_text(status):
    if status is None:
        return "still running"
    if status > 128:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(status - 128).name}"
    return f"exit status {status}"


class Run:
    """One program on emulated devices: running, or ended. Made by `Machine.run()` and `Machine.start()`."""

    def __init__(self, machine, words, faults, folder, **popen):
        self.folder = folder
        self.words = [str(word) for word in words]
        self.options = machine.options(faults)
        self.rules = tuple(faults)
        self.status = None
        self._report = None
        folder.mkdir(parents=True)
        files = ["--report", folder / "report", "--trace", folder / "trace"]
        stdin = popen.pop("input", None)
        (folder / "stdin").write_text(stdin or "")
        with open(folder / "stdin", "rb") as given, open(folder / "stdout", "wb") as out, \
                open(folder / "stderr", "wb") as err:
            # A session of its own: Ctrl-C ends pytest, whose fixture then ends the run.
            self._process = subprocess.Popen([machine.mlxemu, "run", *self.options, *files, "--", *self.words],
                                             stdin=given, stdout=out, stderr=err, start_new_session=True, **popen)

    @property
    def command(self):
        """A line for a shell that repeats the run."""
        return shlex.join(["mlxemu", "run", "--audit", *self.options, "--", *self.words])

    @property
    def stdout(self):
        return (self.folder / "stdout").read_text(errors="replace")

    @property
    def stderr(self):
        return (self.folder / "stderr").read_text(errors="replace")

    @property
    def trace(self):
        """Lines of the trace: each firmware command, decoded, and events at the kernel's interface."""
        path = self.folder / "trace"
        return path.read_text(errors="replace").splitlines() if path.exists() else []

    @property
    def running(self):
        return self.status is None

    @property
    def report(self):
        """The report of a run that has ended."""
        if self.running:
            raise ControlError("the program is running: there is a report when it has ended")
        if self._report is None:
            path = self.folder / "report"
            text = path.read_text(errors="replace") if path.exists() else ""
            missing = re.findall(r"^mlxemu: (process \d+ ended without a report.*)", self.stderr, re.M)
            self._report = Report(text, missing)
        return self._report

    @property
    def counters(self):
        """A dictionary for each port: `counters[0]["rx_frames"]`. Of a running program: now."""
        if self.running:
            return self.ctl("counters")["ports"]
        return self.report.counters

    @property
    def audit(self):
        """The audit at the end; of a running program its violations so far."""
        if self.running:
            return Audit((), tuple(self.ctl("audit")["texts"]))
        return self.report.audit

    def ctl(self, command, wait_s=10, **keys):
        """Send a control command (`"link", port=0, state="down"`) to the process that opened a device last.

        Waits until there is one. Returns the reply as a dictionary.
        """
        with socket.socket(socket.AF_UNIX) as sock:
            self._connect(sock, time.monotonic() + wait_s)
            sock.sendall(json.dumps({"cmd": command, **keys}).encode() + b"\n")
            with sock.makefile("rb") as answers:
                line = answers.readline()
        reply = json.loads(line) if line else {"error": "the process gave no answer"}
        if not reply.pop("ok", False):
            raise ControlError(f"{command}: {reply.get('error', reply)}")
        return reply

    def _connect(self, sock, end):
        while True:
            if self._process.poll() is not None:
                raise ControlError(f"{self.command}: the program has ended\n" +
                                   "\n".join(_block("stderr", self.folder / "stderr", OUTPUT_LINES)))
            for folder in self._run_folders():
                with contextlib.suppress(OSError), _opened(folder) as fd:
                    # The path of a socket has at most 107 bytes.
                    sock.connect(f"/proc/self/fd/{fd}/ctl")
                    return
            if time.monotonic() >= end:
                raise ControlError(f"{self.command}: the program has not opened a device")
            time.sleep(0.02)

    def _children(self):
        pid = self._process.pid
        with contextlib.suppress(OSError):
            return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return []

    def _run_folders(self):
        """The launcher's folder for this run, from the environment of the program."""
        for child in self._children():
            with contextlib.suppress(OSError):
                for entry in pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                    if entry.startswith(b"MLXEMU_DIR="):
                        yield os.fsdecode(entry[len(b"MLXEMU_DIR="):])

    def wait(self, timeout=60, status=0, audit=True):
        """Wait for the end and check it as `Machine.run()` does. Returns the run."""
        __tracebackhide__ = True
        try:
            self.status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.end()
            raise RunFailed(self.describe(f"did not end within {timeout} s")) from None
        self.check(status, audit)
        return self

    def check(self, status=0, audit=True):
        __tracebackhide__ = True
        wrong = []
        if status is not None and self.status != status:
            wrong.append(f"{_status_text(self.status)}, expected {status}")
        if audit and not self.audit.clean:
            wrong.append(UNCLEAN)
        if wrong:
            raise RunFailed(self.describe("; ".join(wrong)))

    def end(self):
        """End a running program by SIGTERM, and by SIGKILL if it does not end. The launcher removes its folder."""
        for kill in (self._process.terminate, self._kill_children, self._process.kill):
            if self._process.poll() is None:
                kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(GRACE_S)
        self.status = self._process.returncode

    def _kill_children(self):
        for child in self._children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    def describe(self, reason=None):
        """What a failed test prints of this run."""
        lines = [f"mlxemu: {reason or _status_text(self.status)}"]
        if not self.running:
            # The reason is the first line of the audit's text, then.
            lines += str(self.audit).splitlines()[(reason or "").endswith(UNCLEAN):]
            lines += self.report.hits
        lines.append(f"again: {self.command}")
        lines += _block("stdout", self.folder / "stdout", OUTPUT_LINES)
        lines += _block("stderr", self.folder / "stderr", OUTPUT_LINES)
        lines += _block("trace", self.folder / "trace", TRACE_LINES)
        return "\n".join(lines)


@contextlib.contextmanager
def _opened(folder):
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _interrupt_later():
    """Delay Ctrl-C to the end of the block: a process that was started but is not in `runs` would never be ended."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    caught = []
    signal.signal(signal.SIGINT, lambda *args: caught.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if caught:
            handler(*caught[0])


def _listed(value):
    return [value] if isinstance(value, str) else list(value or ())


class Machine:
    """Emulated cards of one kind; each program that runs on them has devices of its own."""

    def __init__(self, mlxemu, folder, ports=1, profile="cx6dx", wire=(), faults=(), options=()):
        self.mlxemu = mlxemu
        self.folder = folder
        self.faults = _listed(faults)
        self.runs = []
        self._options = ["--ports", str(ports), "--profile", profile]
        for spec in _listed(wire):
            self._options += ["--wire", spec]
        self._options += [str(word) for word in _listed(options)]

    def options(self, faults):
        words = list(self._options)
        for rule in faults:
            words += ["--fault", rule]
        return words

    def start(self, *words, faults=(), **popen):
        """Start a program and return its `Run`, for `ctl()`, `counters` and `wait()`.

        Further arguments are those of `subprocess.Popen` (`cwd`, `env`), and `input`, the text of standard input.
        """
        folder = self.folder / f"run{len(self.runs) + 1}"
        with _interrupt_later():
            self.runs.append(Run(self, words, self.faults + _listed(faults), folder, **popen))
        return self.runs[-1]

    def run(self, *words, status=0, audit=True, timeout=60, faults=(), **popen):
        """Run a program to its end and return its `Run`.

        RunFailed if it ends with another status (128 + N: by signal N; None: any), if its audit is not clean
        (`audit=False`: not checked), or if it runs longer than `timeout` seconds.
        """
        __tracebackhide__ = True
        return self.start(*words, faults=faults, **popen).wait(timeout, status, audit)

    @property
    def last(self):
        if not self.runs:
            raise ControlError("no program was started on this machine")
        return self.runs[-1]

    def ctl(self, command, **keys):
        """`Run.ctl()` of the program that was started last."""
        return self.last.ctl(command, **keys)

    @property
    def counters(self):
        return self.last.counters

    @property
    def audit(self):
        return self.last.audit


def pytest_addoption(parser):
    parser.getgroup("mlxemu").addoption(
        "--mlxemu", metavar="PATH", help="the mlxemu program (default: environment variable MLXEMU, else from PATH)")


def pytest_configure(config):
    config.addinivalue_line("markers", "mlxemu_fault(RULE, ...): run the test once with each fault rule of mlxemu (a "
                            "tuple: with several at once); each rule has to hit in one of the test's runs")


def _find(config):
    given = config.getoption("--mlxemu") or os.environ.get("MLXEMU")
    found = shutil.which(given or "mlxemu")
    return os.path.abspath(found) if found else None


def pytest_report_header(config):
    return f"mlxemu: {_find(config) or 'not found'}"


def pytest_generate_tests(metafunc):
    rules = [rule for mark in metafunc.definition.iter_markers("mlxemu_fault") for rule in mark.args]
    if not rules:
        return
    if "mlxemu_fault" not in metafunc.fixturenames:
        pytest.fail(f"{metafunc.definition.nodeid}: mark mlxemu_fault: the test does not use the fixture mlxemu",
                    pytrace=False)
    metafunc.parametrize("mlxemu_fault", rules, indirect=True,
                         ids=lambda rule: " + ".join(_listed(rule)) if isinstance(rule, (str, tuple, list)) else None)


@pytest.fixture
def mlxemu_fault(request):
    """The fault rule of `@pytest.mark.mlxemu_fault` that this run of the test has; None without the mark."""
    return getattr(request, "param", None)


@pytest.fixture(scope="session")
def mlxemu_path(pytestconfig):
    """Path of the mlxemu program: option --mlxemu, environment variable MLXEMU, or from PATH."""
    found = _find(pytestconfig)
    if found is None:
        pytest.fail("no mlxemu program: give --mlxemu PATH, set MLXEMU, or install it in the PATH", pytrace=False)
    return found


@pytest.fixture
def mlxemu(request, mlxemu_path, mlxemu_fault, tmp_path):
    """Make machines with emulated ConnectX cards: `mlxemu(ports=2, profile="cx7", wire="0=loop").run("./program")`.

    ports=1, profile="cx6dx", wire (a SPEC or several), faults (a rule or several), options (further words of
    `mlxemu run`). Programs that still run at the end of the test are ended.
    """
    machines = request.node.stash[MACHINES] = []
    rules = _listed(mlxemu_fault)

    def make(ports=1, profile="cx6dx", wire=(), faults=(), options=()):
        folder = tmp_path / f"mlxemu{len(machines) + 1}"
        machines.append(Machine(mlxemu_path, folder, ports, profile, wire, rules + _listed(faults), options))
        return machines[-1]

    yield make
    runs = [run for machine in machines for run in machine.runs]
    for run in runs:
        run.end()
    for rule in rules:
        if not UNCOUNTED.match(rule) and not any(run.report.has_hit(rule) for run in runs) and \
                not request.node.stash.get(FAILED, False):
            seen = sum(run.report.seen.get(rule, 0) for run in runs)
            pytest.fail(f"mlxemu: the fault rule did not hit in any of {len(runs)} runs (matching events: {seen}): "
                        f"{rule}", pytrace=False)


MACHINES = pytest.StashKey()
FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Add what the test's runs did to the report of a test that failed by another assertion."""
    report = (yield).get_result()
    if not report.failed or MACHINES not in item.stash:
        return
    item.stash[FAILED] = True
    if call.excinfo is not None and call.excinfo.errisinstance(RunFailed):
        return
    for machine in item.stash[MACHINES]:
        for run in machine.runs:
            report.sections.append((f"mlxemu {machine.folder.name}, {run.folder.name}", run.describe()))
