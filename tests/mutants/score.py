#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Plants single faults in a copy of the drivers, or of the emulator, and counts how many the tests notice.

All faults of the sample are compiled into one build, each behind a switch that an environment variable sets
(mutant_switch.h), so that a fault costs a run of the tests and no compilation. One run of every test without a fault
shows which faults it reaches and how long it takes. Then, for each fault, the tests that reach it run, fastest first,
until one fails, ends by a signal, or takes four times as long. A failure of a test that runs other programs counts if
it comes twice.

Results are kept in WORK/score.json after every fault; the same command goes on where it was interrupted, and a larger
--sample adds to the smaller one. Faults in equivalent.yaml change nothing that a program can see, and do not count.
Immediate operands of intrinsics are left alone: no switch can be compiled into them.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import queue
import resource
import subprocess
import sys
import threading
import time

import yaml

import plant
import sites as places
from tree import HERE, ROOT, copy_tree
from trials import Interrupted, Trials

SUITES = ["prm", "burst", "clock", "mdv", "pmd", "fault", "app", "e2e"]
# A test that takes so many times as long as without a fault, and this many seconds more, hangs.
HANG_TIMES, HANG_S = 4, 10
EXAMPLES = """examples:
  tests/mutants/score.py                                  400 faults
  tests/mutants/score.py --sample 1200                    these and 800 more
  tests/mutants/score.py --area hot --sample 300 --kind barrier lock
  tests/mutants/score.py --only mlxpmd_timesync.c --sample 50
  tests/mutants/score.py --again survived "not reached"   after tests were added
  tests/mutants/score.py --report                         table and survivors of what is there
  tests/mutants/score.py --list --only mdv_eq.c           the faults of one file, planting none
  tests/mutants/score.py --only mlxpmd_tirs.c --suites pmd --tests control flow recover
  tests/mutants/score.py --folder devtools/mlxemu --suites dp fw --only dp_match.c
"""


def say(text):
    print(f"score: {text}", flush=True)


class Results:
    """{key of the fault: row}, in a file."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def set(self, key, row):
        with self.lock:
            self.rows[key] = row
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")
            new.replace(self.path)


def find_sites(tree, build, work, folder):
    """All sites, from a cache if the sources below folder are as they were."""
    names = sorted((ROOT / folder).rglob("*.[ch]")) + [HERE / "sites.py"]
    state = digest(names)
    cache = work / f"sites-{folder.replace('/', '-')}.json"
    if cache.exists():
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["state"] == state:
            return [places.Site(*row) for row in kept["sites"]]
    copy_tree(tree)
    if not (build / "build.ninja").exists():
        say("configuring")
        must(["meson", "setup", str(build), str(tree)])
    say("generating the headers")
    must(["ninja", "-C", str(build), "drivers/common/mlx5dv/prm/prm_enums.h", "devtools/mlxemu/profile_sources.h",
          "drivers/net/mlxpmd/mlxpmd_sources.h"])
    found = places.Finder(tree, build, folder).find(
        lambda i, n: say(f"reading source {i + 1} of {n}") if i % 10 == 0 else None)
    cache.write_text(json.dumps({"state": state, "sites": found}), encoding="utf-8")
    return found


def digest(paths):
    """Of the contents of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def must(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:3])}:\n{done.stdout.decode(errors='replace')[-3000:]}")


def wanted(site, args):
    return ((not args.area or site.area in args.area) and (not args.kind or site.kind in args.kind) and
            (not args.only or any(name in site.file for name in args.only)))


def choose(found, args, rows):
    """Sample: of each area the same number, in an order that only seed and faults decide. Again: what has results."""
    left = [(n, s) for n, s in enumerate(found, 1) if (s.key in rows if args.again else wanted(s, args))]
    left.sort(key=lambda item: hashlib.sha256(f"{args.seed}{item[1].key}".encode()).digest())
    areas = {}
    for item in left:
        areas.setdefault(item[1].area, []).append(item)
    chosen, turns = [], [iter(areas[area]) for area in sorted(areas)]
    while turns and len(chosen) < args.sample:
        for turn in list(turns):
            item = next(turn, None)
            if item is None:
                turns.remove(turn)
            elif len(chosen) < args.sample:
                chosen.append(item)
    return chosen


def equivalents():
    """{key: reason}"""
    rows = yaml.safe_load((HERE / "equivalent.yaml").read_text(encoding="utf-8")) or []
    return {key: row["reason"] for row in rows for key in row["faults"]}


class Baseline:
    """Seconds of each test without a fault, and the faults that it reaches."""

    def __init__(self, trials, work, jobs, limit):
        self.trials, self.work, self.jobs, self.limit = trials, work, jobs, limit
        self.seconds, self.reach = {}, collections.defaultdict(list)

    def measure(self, sources):
        """Runs the tests that were not run before with these sources and as they are now."""
        cache = self.work / "baseline.json"
        kept = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
        planted = digest(p for p in sorted(sources.rglob("*")) if p.is_file())
        state = {name: planted + digest(pathlib.Path(word) for word in test["cmd"] if os.path.isfile(word))
                 for name, test in self.trials.tests.items()}
        rows = {name: kept[name] for name in state if name in kept and kept[name]["state"] == state[name] and
                (kept[name]["result"] != "hang" or kept[name]["seconds"] >= self.limit)}
        todo = [name for name in self.trials.tests if name not in rows]
        if todo:
            say(f"{len(todo)} tests without a fault, at most {self.limit} s each")
        for name, result in each(todo, self.jobs, self.work, self.one, self.trials):
            rows[name] = {**result, "state": state[name]}
            print(f"\rscore: {len(rows)} of {len(self.trials.tests)} tests without a fault ", end="", flush=True)
            if result["result"] != "pass":
                print(f"\rscore: left out: {name}: {result['result']} after {result['seconds']:.0f} s")
            cache.write_text(json.dumps({**kept, **rows}), encoding="utf-8")
        print()
        for name, row in rows.items():
            if row["result"] == "pass" and name in self.trials.tests:
                self.seconds[name] = row["seconds"]
                for number in row["reached"]:
                    self.reach[number].append(name)
        for names in self.reach.values():
            names.sort(key=self.seconds.get)

    def one(self, name, switch):
        result, seconds = self.trials.run(name, 0, self.limit, switch)
        reached = self.trials.reached(switch) if result == "pass" else []
        if result == "pass" and reached:
            # A test that fails now and then proves nothing.
            again, more = self.trials.run(name, 0, self.limit, switch)
            result, seconds = (again if again != "pass" else result), max(seconds, more)
        return {"result": result, "seconds": seconds, "reached": reached}


def each(items, jobs, work, function, trials):
    """Yields (item, function(item, switch file)) of parallel runs; ^C ends them."""
    switches = queue.Queue()
    for job in range(jobs):
        switches.put(work / f"switch-{job}")

    def one(item):
        switch = switches.get()
        try:
            return item, function(item, switch)
        finally:
            switches.put(switch)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, item) for item in items]
        try:
            for done in concurrent.futures.as_completed(waiting):
                yield done.result()
        except (KeyboardInterrupt, Interrupted):
            trials.stop()
            for future in waiting:
                future.cancel()
            raise KeyboardInterrupt from None


def decide(number, switch, trials, base, budget):
    """Runs the tests that reach a fault until one notices it."""
    start, spent, ran = time.monotonic(), 0, 0
    for name in base.reach.get(number, []):
        if ran and spent + base.seconds[name] > budget:
            break
        limit = HANG_TIMES * base.seconds[name] + HANG_S
        result, seconds = trials.run(name, number, limit, switch)
        ran, spent = ran + 1, spent + seconds
        if result in ("fail", "signal", "hang") and (base.seconds[name] > 2 or result == "hang"):
            result, seconds = trials.run(name, number, limit, switch)
        if result in ("fail", "signal", "hang"):
            return {"status": "killed", "by": name, "how": result, "tests": ran, "seconds": time.monotonic() - start}
    return {"status": "survived" if ran else "not reached", "tests": ran, "seconds": time.monotonic() - start}


def row_of(site, result):
    return {"area": site.area, "kind": site.kind, "file": site.file, "line": site.line, "function": site.function,
            "old": site.old, "new": site.new, **result}


def report(rows, found, work):
    """Prints the table, writes the survivors to a file. @return whether there are results."""
    known = {site.key for site in found}
    same = equivalents()
    rows = {key: dict(row) for key, row in rows.items() if key in known}
    for key, row in rows.items():
        if key in same and row["status"] in ("survived", "not reached"):
            row["status"] = "equivalent"
    columns = ["killed", "survived", "not reached", "equivalent", "left out"]
    print(f"\n{'area':18}{'faults':>8}{'sample':>8}" + "".join(f"{c:>13}" for c in columns) + f"{'score':>8}")
    for area, title in [*places.AREAS.items(), (None, "all")]:
        count = collections.Counter(row["status"] for row in rows.values() if area in (None, row["area"]))
        sample = sum(count.values()) - count["left out"]
        counted = sample - count["equivalent"]
        score = f"{100 * count['killed'] / counted:6.1f} %" if counted else "-"
        total = sum(area in (None, site.area) for site in found)
        print(f"{title:18}{total:8}{sample:8}" + "".join(f"{count[c]:13}" for c in columns) + f"{score:>8}")
    print("\nkilled of sample by kind: " + ", ".join(
        f"{kind} {sum(r['status'] == 'killed' for r in of)}/{len(of)}" for kind in places.KINDS
        if (of := [r for r in rows.values() if r["kind"] == kind and r["status"] not in ("equivalent", "left out")])))
    lines = [f"{row['status']:12} {row['area']:8} {row['file']}:{row['line']} {row['function']}(): {row['kind']}: "
             f"{row['old']} -> {row['new'] or 'nothing'}" + (f"   # {same[key]}" if key in same else "")
             for key, row in sorted(rows.items(), key=lambda i: (i[1]["status"], i[1]["file"], i[1]["line"]))
             if row["status"] not in ("killed", "left out")]
    (work / "survivors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    say(f"survivors and faults that no test reaches: {work / 'survivors.txt'}; all results: {work / 'score.json'}")


def run(args, work):
    tree, build = work / "tree", work / "tree" / "build"
    results = Results(work / "score.json")
    found = find_sites(tree, build, work, args.folder)
    chosen = choose(found, args, results.rows)
    if args.list:
        for _, site in chosen:
            print(f"{site.file}:{site.line} {site.area} {site.key.partition(': ')[2]}")
        return
    if not args.report:
        sample(args, work, found, chosen, results)
    report(results.rows, found, work)


def sample(args, work, found, chosen, results):
    tree, build = work / "tree", work / "tree" / "build"
    todo = [(n, s) for n, s in chosen if wanted(s, args) and
            results.rows.get(s.key, {"status": "none"})["status"] in (args.again or ("none",))]
    say(f"{len(found)} places for a fault, {len(chosen)} chosen, {len(todo)} to do")
    if not todo:
        return
    if not (build / "build.ninja").exists():
        say("configuring")
        copy_tree(tree)
        must(["meson", "setup", str(build), str(tree)])
    trials = Trials(build, args.suites, args.tests)
    # All of the sample, so that going on compiles nothing.
    plantable = [(n, s) for n, s in chosen if (n, s) in todo or
                 results.rows.get(s.key, {"status": "none"})["status"] != "left out"]
    inside = plant.build_all(ROOT, tree, build, plantable, trials.targets(), say)
    for number, site in todo:
        if number not in inside:
            results.set(site.key, row_of(site, {"status": "left out", "seconds": 0}))
    base = Baseline(trials, work, args.jobs, args.test_seconds)
    base.measure(tree / args.folder)
    if not base.seconds:
        raise RuntimeError("no test passes without a fault")
    attempt({n: s for n, s in todo if n in inside}, args, work, trials, base, results)


def attempt(todo, args, work, trials, base, results):
    start, count = time.monotonic(), collections.Counter()
    for number, result in each(list(todo), args.jobs, work,
                               lambda n, s: decide(n, s, trials, base, args.seconds), trials):
        results.set(todo[number].key, row_of(todo[number], result))
        count[result["status"]] += 1
        done = sum(count.values())
        left = (time.monotonic() - start) / done * (len(todo) - done)
        if result["status"] == "survived":
            print(f"\rscore: survived: {todo[number].key}")
        print(f"\rscore: {done} of {len(todo)}: " + ", ".join(f"{n} {s}" for s, n in count.items()) +
              f"; {left / 60:.0f} min left ", end="", flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES + "\nkinds of faults:\n" + "\n".join(
        f"  {kind:12} {text}" for kind, text in places.KINDS.items()) + "\n\nareas:\n" + "\n".join(
        f"  {area:12} {text}" for area, text in places.AREAS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=400, metavar="N",
                        help="number of faults, of each area the same (400)")
    parser.add_argument("--seed", default="1", metavar="S", help="another seed is another sample (1)")
    parser.add_argument("--area", nargs="+", choices=list(places.AREAS), help="these areas only")
    parser.add_argument("--kind", nargs="+", choices=list(places.KINDS), metavar="KIND",
                        help="these kinds only, see below")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="files whose path contains one of these")
    parser.add_argument("--folder", default="drivers", metavar="FOLDER",
                        help="of the sources (drivers); devtools/mlxemu: of the emulator, for --suites dp fw")
    parser.add_argument("--tests", nargs="+", default=[], metavar="TEST",
                        help="of the suites only tests whose name contains one of these")
    parser.add_argument("--suites", nargs="+", default=SUITES, metavar="SUITE", help=f"tests ({' '.join(SUITES)})")
    parser.add_argument("--test-seconds", type=float, default=20, metavar="S",
                        help="tests that take longer are left out (20)")
    parser.add_argument("--seconds", type=float, default=120, metavar="S",
                        help="of tests for one fault, before it has survived (120)")
    parser.add_argument("--again", nargs="+", default=[], metavar="STATUS",
                        choices=["killed", "survived", "not reached", "left out"],
                        help="instead of new ones run these of the sample again: survived, 'not reached', killed, "
                             "'left out'; --area, --kind and --only limit them")
    parser.add_argument("--jobs", type=int, default=min(4, len(os.sched_getaffinity(0))), help="runs at a time")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build-mutants" / "score",
                        help="copy, build and results go there (build-mutants/score)")
    parser.add_argument("--list", action="store_true", help="print the sample and stop")
    parser.add_argument("--report", action="store_true", help="print the results and stop")
    args = parser.parse_args()
    work = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        run(args, work)
    except (RuntimeError, ImportError) as err:
        hint = " (see devtools/setup --for mutants)" if isinstance(err, ImportError) else ""
        print(f"score: {err}{hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nscore: interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
