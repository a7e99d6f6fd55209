# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs named cases of rdma-core's own Python tests and writes one JSON line per case.

usage: pyverbs_worker.py DIRECTORY CASES RESULTS [OPTIONS OF THE TESTS]

DIRECTORY holds the tests, CASES their names, one per line ("-" as the only one: all names are
written to RESULTS and nothing runs). A line {"start": NAME} goes ahead of each case, so that the
parent knows which one a crash or a hang belongs to.
"""

import gc
import importlib.machinery
import json
import os
import sys
import traceback
import unittest


class Result(unittest.TestResult):
    """The outcome of one case: the first thing that was not a pass decides."""

    def __init__(self):
        super().__init__()
        self.outcome, self.reason, self.trace = "pass", "", ""
        self.contexts = []

    def stopTest(self, test):
        """Keeps the contexts, which otherwise are closed before objects of them that an exception's frames keep.

        pyverbs then destroys these with the freed context: it crashes if freed memory is overwritten.
        """
        from pyverbs.device import Context

        super().stopTest(test)
        self.contexts = [o for o in gc.get_objects() if isinstance(o, Context)]

    def close_contexts(self):
        """Closes what a case left to the garbage collector before the next one begins, the contexts last."""
        from pyverbs.pyverbs_error import PyverbsError

        gc.collect()
        for context in self.contexts:
            try:
                context.close()
            except PyverbsError as error:
                print(f"close: {error}", file=sys.stderr)
        self.contexts = []

    def note(self, outcome, err):
        if self.outcome in ("fail", "error"):
            return
        self.outcome = outcome
        self.reason = f"{err[0].__name__}: {err[1]}"
        self.trace = "".join(traceback.format_exception(*err))

    def addError(self, test, err):
        self.note("error", err)

    def addFailure(self, test, err):
        self.note("fail", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.note("fail" if issubclass(err[0], test.failureException) else "error", err)

    def addSkip(self, test, reason):
        if self.outcome == "pass":
            self.outcome, self.reason = "skip", reason


def load(directory):
    # In place of this script's own folder, where another pyverbs is.
    sys.path[0] = directory
    module = importlib.machinery.SourceFileLoader(
        "tests", os.path.join(directory, "__init__.py")).load_module()
    from args_parser import parser
    parser.parse_args()
    return module


def names(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from names(test)
        else:
            yield test.id()


def all_names(module):
    loader = unittest.TestLoader()
    for mod in module.__test_modules__:
        yield from names(loader.loadTestsFromModule(mod))


def run_case(name):
    result = Result()
    try:
        unittest.TestLoader().loadTestsFromName(name).run(result)
    except Exception:
        result.note("error", sys.exc_info())
    result.close_contexts()
    return {"case": name, "outcome": result.outcome, "reason": result.reason,
            "trace": result.trace}


def main():
    # Only Result.close_contexts() collects.
    gc.disable()
    directory, cases, results = sys.argv[1:4]
    del sys.argv[1:4]
    module = load(directory)
    with open(cases) as f:
        wanted = f.read().split()
    with open(results, "a", buffering=1) as out:
        if wanted == ["-"]:
            for name in all_names(module):
                out.write(name + "\n")
            return
        pid = os.getpid()
        for name in wanted:
            out.write(json.dumps({"start": name}) + "\n")
            line = run_case(name)
            # A case that forks may come back here in its child.
            if os.getpid() != pid:
                os._exit(0)
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
