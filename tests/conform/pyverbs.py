#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's own Python tests on emulated devices, compared with a list.

pyverbs.yaml has the expected result of each test of rdma-core 44: pass, skip, or "not modelled" with
the reason; pyverbs-N.yaml has what release N changed. A case that changes side fails the run, and so does one that
the list does not know; of a release without a list, the cases that the list before it knows are run.
With --wrong each passing case runs once more under the fault rule that the list names
for it: then the case has to fail, by itself and in time, and not because it never began.

Few processes do it: one worker for each set of options runs many cases, and a hang or a crash
costs the one case and a new worker.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import testlib  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TESTS = pathlib.Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"
WORKER = HERE / "pyverbs_worker.py"
# Longest time that one case may take; its own limits (polling, joining) are shorter.
CASE_SECONDS = 60
# What their test_domain_dump writes and leaves.
DUMP = pathlib.Path("/tmp/dump.txt")
# What a case may be in the list, and the result that it then must have.
SIDES = {"pass": "pass", "skip": "skip", "not modelled": "skip"}
# The tests read by `ip` the address of the port's interface: the kernel of the worker's own
# network namespace has one of that name. Its MAC is port 0's.
NAMESPACE = """
ip link set lo up
ip tuntap add mlxemu0np0 mode tap
ip link set mlxemu0np0 address $MAC
if [ -n "$ADDRESS" ]; then
    ip addr add $ADDRESS dev mlxemu0np0
    ip link set mlxemu0np0 up
fi
exec "$@"
"""

Outcome = collections.namedtuple("Outcome", "is_ reason trace")


class Runner:
    """Runs cases under the emulator; one directory for all that is temporary."""

    def __init__(self, mlxemu, directory):
        self.mlxemu, self.directory = mlxemu, pathlib.Path(directory)
        self.tests = self.directory / "tests"
        self.unpack()
        self.mac = subprocess.run(
            [mlxemu, "run", "--seed", "0", "--", "cat", "/sys/class/net/mlxemu0np0/address"],
            check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def unpack(self):
        """The package has the tests as documentation, the longer ones compressed."""
        self.tests.mkdir()
        for path in TESTS.iterdir():
            if path.suffix == ".gz":
                (self.tests / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
            elif path.suffix == ".py":
                shutil.copy(path, self.tests)

    def start(self, group, cases, results, extra):
        listing = self.directory / "cases"
        listing.write_text("\n".join(cases))
        results.write_text("")
        command = ["unshare", "-n", "sh", "-ec", NAMESPACE, "sh", self.mlxemu, "run", "--seed", "0",
                   *map(str, group["options"]), *extra, "--", PYTHON, str(WORKER),
                   str(self.tests), str(listing), str(results), *group.get("tests", [])]
        env = dict(os.environ, MAC=self.mac, ADDRESS=group.get("address", ""))
        log = open(self.directory / "log", "w")
        return subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)

    def wait(self, process, results):
        """Until the worker ends or a case takes too long. True when it had to be killed."""
        testlib.await_progress(lambda: results.stat().st_size, lambda _: process.poll() is not None, CASE_SECONDS,
                               pause=0.05)
        if process.poll() is not None:
            return False
        # The worker leads its own session: its children go with it.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True

    def log(self):
        return (self.directory / "log").read_text(errors="replace").strip()[-2000:]

    def run(self, group, cases, extra=()):
        """{case: Outcome}; as many workers as hangs and crashes make necessary."""
        outcomes, todo, results = {}, list(cases), self.directory / "results"
        while todo:
            process = self.start(group, todo, results, list(extra))
            hung = self.wait(process, results)
            current = None
            for line in results.read_text().splitlines():
                entry = json.loads(line)
                current = entry.get("start")
                if current is None:
                    outcomes[entry["case"]] = Outcome(entry["outcome"], entry["reason"],
                                                      entry["trace"])
            if current is not None:
                what = "hang" if hung else "crash"
                outcomes[current] = Outcome(what, f"exit status {process.returncode}", self.log())
            left = [c for c in todo if c not in outcomes]
            if len(left) == len(todo):
                sys.exit(f"the worker ran nothing (status {process.returncode}): {self.log()}")
            todo = left
        return outcomes

    def names(self):
        """Every case that the tests consist of."""
        listing, results = self.directory / "cases", self.directory / "names"
        listing.write_text("-")
        subprocess.run([self.mlxemu, "run", "--", PYTHON, str(WORKER), str(self.tests),
                        str(listing), str(results)], check=True, timeout=120)
        return results.read_text().split()


def row(name, shows, cases, outcome, seconds):
    print("case: " + json.dumps({"name": name, "shows": shows, "packets": cases,
                                 "result": outcome, "seconds": round(seconds, 1)}), flush=True)


def by_key(cases, key):
    parts = collections.defaultdict(list)
    for name, entry in cases.items():
        parts[key(entry)].append(name)
    return parts


def wrong_side(entry, outcome):
    """None, or what is wrong with a result."""
    if outcome.is_ not in (SIDES[entry["is"]], entry.get("may")):
        return f"{outcome.is_} ({outcome.reason}), the list has {entry['is']}"
    return None


def tier_rows(listing, cases, outcomes, wrong, seconds):
    """The table: of each tier, how many passed, were skipped, are not modelled."""
    for tier, names in sorted(by_key(cases, lambda e: e["tier"]).items()):
        counts = collections.Counter(cases[n]["is"] for n in names if n not in wrong)
        bad = sum(n in wrong for n in names)
        shows = (f"{listing['tiers'][tier]}: {len(names)} cases, {counts['pass']} passed, "
                 f"{counts['skip']} skipped, {counts['not modelled']} not modelled"
                 + (f", {bad} WRONG" if bad else ""))
        row(f"pyverbs {tier}", shows, 0, "failed" if bad else "passed",
            seconds * len(names) / len(cases))


def check_list(runner, listing, cases):
    wrong, outcomes, begin = {}, {}, time.monotonic()
    for group, names in by_key(cases, lambda e: e.get("group", "loop")).items():
        outcomes.update(runner.run(listing["groups"][group], names))
    for name, outcome in outcomes.items():
        why = wrong_side(cases[name], outcome)
        if why is not None:
            wrong[name] = why
            print(f"{name}: {why}\n{outcome.trace}")
    tier_rows(listing, cases, outcomes, wrong, time.monotonic() - begin)
    for name, why in wrong.items():
        print(f"wrong: {name}: {why}")
    return not wrong


def missed(entry, outcome):
    """None, or why a result does not show that the case noticed the wrong value."""
    if outcome.is_ not in ("fail", "error"):
        return f"{outcome.is_} ({outcome.reason})"
    if "Failed to open device" in outcome.reason and not entry.get("opens"):
        return f"the device did not open, so the case did not run ({outcome.reason})"
    if re.search(r", in setUp$", outcome.trace, re.MULTILINE):
        return f"failed before it began ({outcome.reason})"
    return None


def check_wrong_values(runner, listing, cases):
    """Each passing case under its fault rule; cases that share one share a worker."""
    passing = {n: e for n, e in cases.items() if e["is"] == "pass"}
    wrong = {n: e for n, e in passing.items() if "wrong" in e}
    none = {n: e["no wrong value"] for n, e in passing.items() if "no wrong value" in e}
    unnoticed, begin = {}, time.monotonic()
    batches = list(by_key(wrong, lambda e: (e.get("group", "loop"), e["wrong"])).items())
    if os.environ.get("MLXPMD_SHORT"):
        batches = batches[::4]
        wrong = {n: e for n, e in wrong.items() if any(n in names for _, names in batches)}
        passing = {**wrong, **none}
    for (group, rule), names in batches:
        for name, outcome in runner.run(listing["groups"][group], names, ["--fault", rule]).items():
            why = missed(cases[name], outcome)
            if why is not None:
                unnoticed[name] = f"--fault {rule!r}: {why}"
    for name in sorted(set(passing) - set(wrong) - set(none)):
        unnoticed[name] = "the list has no rule, nor why there is none"
    for name, why in sorted(none.items()):
        print(f"no wrong value: {name}: {why}")
    for name, why in unnoticed.items():
        print(f"not noticed: {name}: {why}")
    row("pyverbs, wrong values", f"{len(set(wrong) - set(unnoticed))} of {len(passing)} passing cases "
        f"fail by their rule, for {len(none)} there is none", 0,
        "failed" if unnoticed else "noticed", time.monotonic() - begin)
    return not unnoticed


def installed_release():
    """The major release of the installed rdma-core."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-pyverbs"], capture_output=True, text=True,
                          check=True)
    return int(re.match(r"\d+", done.stdout)[0])


def read_listing(release, caps):
    """The list of rdma-core 44, with the changes of each later release up to this one, for a card with these caps."""
    listing = yaml.safe_load((HERE / "pyverbs.yaml").read_text())
    for path in sorted(HERE.glob("pyverbs-*.yaml")):
        changes = yaml.safe_load(path.read_text())
        if changes["release"] > release:
            continue
        listing["release"] = changes["release"]
        listing["cases"] = {n: e for n, e in listing["cases"].items() if n not in changes["removed"]}
        listing["cases"].update(changes["cases"])
    for entry in listing["cases"].values():
        if caps.get(entry.get("needs"), 1) == 0:
            entry["is"] = "skip"
    return listing


def unknown(listing, theirs, release):
    """True for cases that the list or the package does not know, if the list is of this release."""
    ours = set(listing["cases"])
    for name in sorted(ours ^ theirs):
        print(f"{name}: " + ("not in the list" if name in theirs else "not in the package"))
    return listing["release"] == release and ours != theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mlxemu", help="the launcher (default: that of MLXPMD_BUILD)")
    parser.add_argument("--wrong", action="store_true", help="run passing cases under their rules")
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    args = parser.parse_args()
    if os.geteuid() != 0 or not TESTS.is_dir():
        print("needs root (network namespaces) and the tests of python3-pyverbs")
        sys.exit(77)
    mlxemu = args.mlxemu or os.path.join(os.environ["MLXPMD_BUILD"], "devtools/mlxemu/mlxemu")
    release = installed_release()
    listing = read_listing(release, testlib.default_caps(mlxemu))
    with tempfile.TemporaryDirectory(prefix="pyverbs-") as directory:
        runner = Runner(mlxemu, directory)
        theirs = set(runner.names())
        cases = {n: e for n, e in listing["cases"].items() if args.only in n and n in theirs}
        if not cases:
            parser.error(f"--only {args.only}: the list has no such case")
        if not args.only and unknown(listing, theirs, release):
            sys.exit(1)
        kept = DUMP.exists()
        try:
            ok = (check_wrong_values if args.wrong else check_list)(runner, listing, cases)
        finally:
            if not kept:
                DUMP.unlink(missing_ok=True)
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
