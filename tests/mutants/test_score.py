#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""score.py's parts on a small source (toy.c) whose places for faults, and whose reaction to each, are known."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import plant  # noqa: E402
import score  # noqa: E402
import sites  # noqa: E402
import trials  # noqa: E402

NAME = "drivers/net/mlxpmd/toy.c"
# Of the functions between toy_lock() and main(); the number is that of equal faults.
EXPECTED = """
locks_it: condition: a -> 0
locks_it: condition: a -> 1
locks_it: constant: 2 -> 2 + 1
locks_it: constant: -4 -> -4 + 1
locks_it: lock: toy_lock(); -> nothing
locks_it: lock: toy_unlock(); -> nothing
locks_it: statement: a += 2; -> nothing
locks_it: statement: a = -4; -> nothing
compares: comparison: a != 1 -> a == 1
compares: comparison: a < LIMIT -> a <= LIMIT
compares: constant: 1 -> 1 + 1
compares: constant: LIMIT -> LIMIT + 1
compares: logic: unlikely(a < LIMIT) && a != 1 -> unlikely(a < LIMIT) || a != 1
masks: arithmetic: ~a << table[1] -> ~a >> table[1]
masks: byte order: htobe32((a & 0xff) | ~a << table[1]) -> ((a & 0xff) | ~a << table[1])
masks: constant: 0xff -> 0xff + 1
masks: constant: 1 -> 1 + 1
masks: mask: (a & 0xff) | ~a << table[1] -> (a & 0xff)
masks: mask: a & 0xff -> a
masks: mask: ~a -> a
refuses: constant: 0 -> 0 + 1
refuses: constant: EINVAL -> EINVAL + 1
refuses: error check: bad -> 0
refuses: unwinding: toy_free(); -> nothing
"""
# Nothing that the program prints depends on them.
SAME = {"masks: mask: a & 0xff -> a"}


def check(what, text):
    if not what:
        sys.exit(f"test_score: {text}")


def find(root):
    source = root / NAME
    source.parent.mkdir(parents=True)
    source.write_bytes((HERE / "toy.c").read_bytes())
    build = root / "build"
    build.mkdir()
    (build / "compile_commands.json").write_text(json.dumps([{
        "directory": str(build), "file": str(source), "output": "drivers/toy.o",
        "command": f"ccache cc -Wall -MD -MQ x -MF y -o drivers/toy.o -c {source}"}]))
    found = sites.Finder(root, build).find(lambda i, n: None)
    return [s for s in found if s.function not in ("main", "toy_lock", "toy_unlock", "toy_free")]


def test_sites(found):
    keys = {s.key.removeprefix(NAME + ":") for s in found}
    expected = set(EXPECTED.strip().split("\n"))
    check(keys == expected, f"places: missing {sorted(expected - keys)}, too many {sorted(keys - expected)}")
    areas = {s.area for s in found if s.function == "refuses" and s.kind != "constant" or s.new.startswith("EINVAL")}
    check(areas == {"error"}, f"areas of the refusal: {areas}")
    check(sites.area_of("mlxpmd_tx.c", True) == "hot" and sites.area_of("mdv_clock.c", True) == "error" and
          sites.area_of("mlxpmd_rxq.c", False) == "control", "areas of files")


def prints(program, switch, number):
    switch.write_bytes(number.to_bytes(4, "little") + bytes(trials.SWITCH_BYTES - 4))
    done = subprocess.run([program], env={"MUTANT_SWITCH": str(switch)}, stdout=subprocess.PIPE, check=True)
    return done.stdout


def test_plant(root, found):
    """Each fault alone changes what is printed, and only when it is on."""
    for name, data in plant.planted(root, enumerate(found, 1)).items():
        (root / name).write_bytes(data)
    program, switch = root / "toy", root / "switch"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-o", program, root / NAME], check=True)
    before = subprocess.run([program], env={}, stdout=subprocess.PIPE, check=True).stdout
    check(prints(program, switch, 0) == before, "a fault has an effect without being on")
    reached = trials.Trials.reached(switch)
    check(reached == list(range(1, len(found) + 1)), f"reached: {reached}")
    for number, site in enumerate(found, 1):
        changed = prints(program, switch, number) != before
        check(changed != (site.key.removeprefix(NAME + ":") in SAME), f"{site.key}: changed: {changed}")


def test_errors(root, found):
    """A compiler's error leads to the fault on its line, or is an error."""
    path = root / NAME
    lines = path.read_text().split("\n")
    line = next(i for i, text in enumerate(lines, 1) if "htobe32" in text)
    bad = plant.guilty(f"../{NAME}:{line}:4: error: no", root, root / "build")
    check(bad == {n for n, s in enumerate(found, 1) if s.function == "masks"}, f"faults on an erroneous line: {bad}")
    try:
        plant.guilty("../nothing.c:1:4: error: no", root, root / "build")
    except RuntimeError:
        return
    check(False, "an error outside the faults is no error")


def test_sample(found):
    """The same for the same seed; a larger one begins with the smaller one; all areas have the same number."""
    args = score.argparse.Namespace(area=None, kind=None, only=None, again=[], seed="1", sample=6)
    first = score.choose(found, args, {})
    args.sample = 12
    check(score.choose(found, args, {})[:6] == first, "a larger sample is another one")
    check({s.area for _, s in first} == {"control", "error"}, "an area is missing")
    args.seed = "2"
    check(score.choose(found, args, {})[:6] != first, "another seed is the same sample")
    args.again = ["survived"]
    check([s.key for _, s in score.choose(found, args, {found[3].key: {}})] == [found[3].key], "again runs new faults")


class Machine:
    """Instead of tests: those named fail, hang or pass for a fault."""

    def __init__(self, results):
        self.results, self.calls = results, []

    def run(self, name, number, _limit, _switch):
        self.calls.append(name)
        result = self.results[name]
        return (result.pop(0) if isinstance(result, list) else result), 1


def test_decide():
    base = score.Baseline(None, None, 1, 1)
    base.seconds = {"a": 1, "b": 3, "c": 4, "slow": 200}
    base.reach[7] = ["a", "b", "c", "slow"]
    for results, status, calls in [
            ({"a": "fail"}, "killed", "a"),
            ({"a": "pass", "b": "signal"}, "killed", "abb"),
            ({"a": "pass", "b": ["hang", "pass"], "c": "pass"}, "survived", "abbc"),
            ({"a": "skip", "b": ["fail", "pass"], "c": "fail"}, "killed", "abbcc")]:
        machine = Machine(results)
        row = score.decide(7, None, machine, base, 100)
        check((row["status"], "".join(machine.calls)) == (status, calls), f"{results}: {row}, {machine.calls}")
    check(score.decide(8, None, Machine({}), base, 100)["status"] == "not reached", "a fault that nothing reaches")


def main():
    try:
        from clang import cindex
    except ImportError as err:
        print(f"SKIP: {err} (devtools/setup --for mutants)")
        return 77
    try:
        cindex.Index.create()
    except cindex.LibclangError as err:
        print(f"SKIP: {err} (devtools/setup --for mutants)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        found = find(root)
        test_sites(found)
        test_plant(root, found)
        test_errors(root, found)
        test_sample(found)
    test_decide()
    print("test_score: passed")
    return 0


sys.exit(main())
