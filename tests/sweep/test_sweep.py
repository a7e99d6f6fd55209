#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""`mlxemu sweep`: finds planted defects and nothing else; its options, output files and end.

usage: test_sweep.py MLXEMU LEAKS REPAIRED TARGET [TARGET_WITH_SANITIZER]
SWEEP_CASES=NAME,NAME runs some of the cases.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import testlib  # noqa: E402
from testlib import FAILED, expect  # noqa: E402

MLXEMU, LEAKS, REPAIRED, TARGET, *SANITIZED = sys.argv[1:]
# Each run has a tree of small files: in memory, not on a disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Sweep:
    """One sweep with a temporary directory of its own, ended; .json is its result."""

    def __init__(self, *args, result=True):
        with tempfile.TemporaryDirectory(dir=MEMORY) as tmp, tempfile.TemporaryDirectory() as out:
            file = os.path.join(out, "result.json")
            done = subprocess.run([MLXEMU, "sweep", *(["--json", file] if result else []), *args],
                                  env=dict(os.environ, TMPDIR=tmp), text=True, timeout=400, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.json = json.loads(pathlib.Path(file).read_text()) if os.path.exists(file) else None
            expect(not os.listdir(tmp), f"{args}: left {os.listdir(tmp)}")

    def found(self):
        return [cell for cell in self.json["cells"]
                if cell["result"] not in ("clean", "ignored", "unreached")] if self.json else None


def planted():
    """Red: the PD that the example leaks, by each request that makes the MR. The lines reproduce it."""
    with tempfile.TemporaryDirectory() as out:
        junit = os.path.join(out, "junit.xml")
        sweep = Sweep("--short", "--junit", junit, "--", LEAKS)
        suites = xml.parse(junit).getroot()
    expect(sweep.status == 3, f"status {sweep.status}: {sweep.err}")
    found = sweep.found()
    expect([(c["kind"], c["name"], c["result"], c["detail"]) for c in found] ==
           [("commands", "CREATE_MKEY", "left", "1 PD"), ("ioctls", "reg_mr", "left", "1 PD"),
            ("registrations", "MR", "left", "1 PD")], sweep.out)
    cells = sweep.json["cells"]
    expect(len(suites.findall("testsuite")) == 3 and len(suites.findall(".//testcase")) == len(cells) > 30 and
           len(suites.findall(".//failure")) == 3, "JUnit: three suites, each cell, three failures")
    expect(sum(sweep.json["results"].values()) == len(cells), sweep.json["results"])
    path = f"{os.path.dirname(MLXEMU)}:{os.environ['PATH']}"
    for cell in found:
        expect(cell["reproduce"] in sweep.out, f"{cell['reproduce']} in the output")
        done = subprocess.run(["sh", "-c", cell["reproduce"]], env=dict(os.environ, PATH=path), text=True,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        expect("left port 0: 1 PD\n" in done.stderr, f"{cell['reproduce']}: {done.stderr}")
    expect("match op=CREATE_MKEY count 1" in sweep.out, "the request by its name")


def repaired():
    """Green: the same program without the defect."""
    sweep = Sweep("--short", "--", REPAIRED)
    expect(sweep.status == 0 and not sweep.found(), f"status {sweep.status}: {sweep.out}{sweep.err}")
    expect(sweep.json["results"]["clean"] > 20, sweep.json["results"])


def defects():
    """Every other result, each by a program that has just that."""
    of_pd = ("--of", "commands", "--statuses", "NO_RESOURCES")
    for defect, status, result, detail in (
            ("crash", 3, "signal", "SIGSEGV"), ("hang", 3, "hang", ""), ("open", 3, "left", "1 open device"),
            ("undefined", 3, "sanitizer", "null pointer"),
            ("ignore", 0, "ignored", ""), ("none", 0, "clean", "status 1")):
        sweep = Sweep(*of_pd, "--limit", "10", "--", TARGET, defect, "/dev/null")
        expect(sweep.status == status, f"{defect}: status {sweep.status}: {sweep.out}{sweep.err}")
        cells = [c for c in sweep.json["cells"] if c["name"] == "ALLOC_PD"]
        expect([c["result"] for c in cells] == [result] and detail in cells[0]["detail"], f"{defect}: {cells}")
        if defect in ("open", "undefined"):
            sweep = Sweep(*of_pd, "--ignore", f"violation,{result}", "--", TARGET, defect)
            expect(sweep.status == 0 and sweep.json["results"]["clean"], f"--ignore {result}: {sweep.out}{sweep.err}")
        rest = {c["result"] for c in sweep.json["cells"] if c["name"] != "ALLOC_PD"}
        expect(rest <= {"clean", "ignored"}, f"{defect}: others {rest}")


def sanitized():
    """A program built with AddressSanitizer runs as it is."""
    if not SANITIZED:
        return
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    sweep = Sweep("--of", "commands,memory", "--short", "--", SANITIZED[0], "freed")
    found = [(c["name"], c["result"]) for c in sweep.found() or []]
    expect(("ALLOC_PD", "sanitizer") in found, f"{sweep.out}{sweep.err}")
    expect("heap-use-after-free" in sweep.out, sweep.out)
    sweep = Sweep("--of", "commands", "--short", "--", SANITIZED[0])
    expect(sweep.status == 0, f"{sweep.out}{sweep.err}")
    del os.environ["ASAN_OPTIONS"]


def memory():
    """Allocations of the program's libraries after the device was opened; of all or of one of them."""
    sweep = Sweep("--of", "memory", "--short", "--", REPAIRED)
    names = {c["name"] for c in sweep.json["cells"]}
    expect(names >= {"libibverbs", "libmlx5"}, f"names {names}")
    # libmlx5 goes on without a doorbell page, and the kernel refuses the CQ.
    expect({c["result"] for c in sweep.found()} <= {"violation"} and sweep.json["results"]["clean"] > 10, sweep.out)
    some = Sweep("--of", "memory", "--from", "libibverbs", "--", REPAIRED)
    expect(some.status == 0 and {c["name"] for c in some.json["cells"]} - {"?"} == {"libibverbs"} and
           len(some.json["cells"]) < len(sweep.json["cells"]), some.out)


def checked():
    """A command of the user's decides too; slots differ; what the program returns without faults is as stated."""
    sweep = Sweep("--of", "commands", "--short", "--jobs", "2", "--check", 'test "$MLXEMU_SWEEP_STATUS" = 0 || '
                  '{ echo no; exit 5; }', "--", TARGET)
    found = sweep.found()
    expect(sweep.status == 3 and found and {(c["name"], c["result"]) for c in found} == {("ALLOC_PD", "check")} and
           "status 5: no" in found[0]["detail"], sweep.out)
    sweep = Sweep("--of", "registrations", "--jobs", "3", "--", "sh", "-c",
                  f"test $MLXEMU_SWEEP_SLOT = @SLOT@ || kill -9 $$; {REPAIRED}")
    expect(sweep.status == 0 and sweep.json["results"]["clean"] > 9, f"slots: {sweep.out}{sweep.err}")
    sweep = Sweep("--of", "commands", "--every", "3", "--status", "7", "--", "sh", "-c", f"{TARGET} && exit 7")
    expect(sweep.status == 0 and sweep.json["requests"]["commands cmd.entry"] > len(sweep.json["cells"]) / 8 > 1,
           f"--every, --status: {sweep.out}{sweep.err}")
    expect({c["number"] % 3 for c in sweep.json["cells"]} == {0}, "--every 3")


def bad_options():
    """One clear line and the status; no file is made."""
    for status, words, args in (
            (2, ["no program", "-- PROGRAM"], []), (2, ["no program"], ["true"]),
            (2, ["no program"], ["--short", "--"]),
            (2, ["--of", "'x'", "ioctls"], ["--of", "x", "--", "true"]),
            (2, ["--statuses", "'NO_SUCH'"], ["--statuses", "ENOMEM,NO_SUCH", "--", "true"]),
            (2, ["--ignore", "'hang'", "left"], ["--ignore", "left,hang", "--", "true"]),
            (2, ["--jobs", "'0'"], ["--jobs", "0", "--", "true"]),
            (2, ["--limit", "'x'"], ["--limit", "x", "--", "true"]),
            (2, ["--frob"], ["--frob", "--", "true"]), (2, ["--ports", "16"], ["--ports", "0", "--", "true"]),
            (2, ["--junit", "/nonexistent/x"], ["--junit", "/nonexistent/x", "--", "true"]),
            (1, ["no request", "commands"], ["--", "true"]),
            (1, ["status 1, not 0"], ["--", "false"]), (1, ["within 0.5 s"], ["--limit", "0.5", "--", "sleep", "60"])):
        sweep = Sweep(*args, result=False)
        lines = sweep.err.splitlines()
        expect(sweep.status == status and len(lines) == 1 and lines[0].startswith("mlxemu: ") and not sweep.out and
               all(word in lines[0] for word in words), f"{args}: status {sweep.status}: {sweep.out}{sweep.err}")
    sweep = Sweep("--help", result=False)
    expect(sweep.status == 0 and "examples:" in sweep.out, "--help")
    for option in ("--of", "--statuses", "--short", "--every", "--from", "--ignore", "--check", "--limit", "--jobs",
                   "--junit", "--json"):
        expect(option in sweep.out, f"--help names {option}")


def interrupted():
    """SIGINT while a run hangs: it is killed, and nothing is left."""
    with tempfile.TemporaryDirectory() as tmp, tempfile.TemporaryDirectory() as out:
        file = os.path.join(out, "pid")
        with subprocess.Popen([MLXEMU, "sweep", "--of", "commands", "--limit", "300", "--", TARGET, "hang", file],
                              env=dict(os.environ, TMPDIR=tmp), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as proc:
            pid = testlib.await_until(lambda: os.path.exists(file) and pathlib.Path(file).read_text().strip(), 120)
            expect(pid, "a run hangs")
            expect(os.listdir(tmp), "a folder while the sweep runs")
            proc.send_signal(signal.SIGINT)
            err = proc.communicate(timeout=60)[1]
        expect(proc.returncode == 130 and "Traceback" not in err, f"status {proc.returncode}: {err}")
        expect(not os.listdir(tmp), f"left {os.listdir(tmp)}")
        expect(not os.path.exists(f"/proc/{pid}"), f"process {pid} still runs")


def main():
    cases = (planted, repaired, defects, sanitized, memory, checked, bad_options, interrupted)
    some = os.environ.get("SWEEP_CASES")
    for case in [case for case in cases if not some or case.__name__ in some.split(",")]:
        before = len(FAILED)
        case()
        print("ok" if len(FAILED) == before else "FAILED", case.__name__, flush=True)
    return 1 if FAILED else 0


sys.exit(main())
