# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Each feature that DPDK's guide lists for mlxpmd has a test that sees it work, and no other feature has one.

Usage: features.py INI YAML [THEIRS PAGE RELEASE]

INI is made from doc/guide/mlxpmd.md; YAML names the tests. That a port offers what is listed is test_features.c.
The first section of PAGE explains each row of net_mlx5's list, THEIRS, that INI lacks or has in part only; THEIRS is of
DPDK RELEASE. Rows of lists of later releases are only compared with INI.
"""
import configparser
import json
import os
import pathlib
import re
import sys

import yaml


def listed(path):
    """Features with a value; items and actions of flows with the name of their section."""
    parser = configparser.ConfigParser(delimiters="=", comment_prefixes=";")
    parser.optionxform = str
    parser.read(path, encoding="utf-8")
    return {("" if section == "Features" else f"{section}: ") + feature
            for section in parser.sections() for feature, value in parser[section].items() if value}


def values(path):
    """The value of each row, by the names of doc/guide/net-mlx5.md."""
    parser = configparser.ConfigParser(delimiters="=", comment_prefixes=";")
    parser.optionxform = str
    parser.read(path, encoding="utf-8")
    kinds = {"Features": "", "rte_flow items": "items: ", "rte_flow actions": "actions: "}
    return {kinds[section] + row: value for section in kinds for row, value in parser[section].items() if value}


def unexplained(ours, theirs, page, release):
    """Rows of theirs without one of at least that value here and without a reason, and reasons for no such row."""
    # I: also as an indirect action. P: in part.
    worth = {"P": 1, "Y": 2, "I": 3}
    lack = {row for row, value in theirs.items() if worth.get(ours.get(row), 0) < worth[value]}
    # Rows of later lists name the release. "why" and "in DPDK" are of the heads.
    since = dict(re.findall(r"^\| ([\w: -]+?) \| (?!why|in DPDK)(?:(\d\d\.\d\d) \|)?", page, re.M))
    rows = {row for row, first in since.items() if first <= release}
    return ([f"{row}: net_mlx5 has it, and the page does not say why mlxpmd has not" for row in sorted(lack - rows)] +
            [f"{row}: on the page, and not what mlxpmd lacks" for row in sorted(rows - lack)] +
            [f"{row}: on the page, and mlxpmd has it" for row in sorted(since.keys() - rows) if row in ours])


def built(folder):
    """The tests of a build, as `meson introspect --tests` has them, by the names of `meson test --list`."""
    tests = json.loads((pathlib.Path(folder) / "meson-info/intro-tests.json").read_text(encoding="utf-8"))
    return {f"{suite.partition(':')[2]} / {test['name']}" for test in tests for suite in test["suite"]}


def faults(features, named, tests):
    """What differs, a line for each."""
    return ([f"{feature}: listed, but no test sees it work" for feature in sorted(features) if not named.get(feature)] +
            [f"{feature}: has tests, but is not listed" for feature in sorted(named.keys() - features)] +
            [f"{feature}: this build has no test '{test}'" for feature in sorted(named) for test in named[feature]
             if test not in tests])


def planted(features, named, tests):
    """Each difference is found, and no other one."""
    feature, test = "LRO", named["LRO"][0]
    others = {name: [t for t in its if t != test] for name, its in named.items()}
    for what, arguments, wanted in (
            ("no test", (features, {**named, feature: []}, tests), "no test sees it work"),
            ("not named", (features, {k: v for k, v in named.items() if k != feature}, tests), "no test sees it work"),
            ("not listed", (features - {feature}, named, tests), "not listed"),
            ("not built", (features, {**others, feature: [test]}, tests - {test}), "no test '"),
            ("no suite", (features, {**named, feature: ["lro"]}, tests), "no test 'lro'")):
        found = faults(*arguments)
        if len(found) != 1 or not found[0].startswith(f"{feature}: ") or wanted not in found[0]:
            yield f"planted fault '{what}': found {found}"


def main():
    features, tests = listed(sys.argv[1]), built(os.environ["MLXPMD_BUILD"])
    named = yaml.safe_load(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    found = faults(features, named, tests) or list(planted(features, named, tests))
    if len(sys.argv) > 3:
        ours, theirs = values(sys.argv[1]), values(sys.argv[3])
        page = pathlib.Path(sys.argv[4]).read_text(encoding="utf-8").partition("\n## ")[0]
        found += unexplained(ours, theirs, page, sys.argv[5])
        # Planted: a row that is not explained, one that is explained in vain, and one of the latest release.
        if (len(unexplained(ours, {**theirs, "items: x": "Y"}, page, sys.argv[5])) != 1 or
                len(unexplained({**ours, "Shared Rx queue": "Y"}, theirs, page, sys.argv[5])) != 1 or
                len(unexplained({**ours, "Selective Rx": "Y"}, theirs, page, sys.argv[5])) != 1):
            found.append("planted fault of the comparison with net_mlx5: not found")
    print(*found, f"{len(features)} features, {len(found)} faults", sep="\n")
    sys.exit(bool(found))


main()
