# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs the tests of a build with one planted fault on, or none, each in namespaces of its own."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

SKIPPED = 77
# Of MUTANT_MAX in mutant_switch.h, after the number that is on.
SWITCH_BYTES = 4 + 65536
# Everything that a test leaves in memory file systems or as a process ends with it.
ISOLATE = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--propagation",
           "private", "sh", "-c", "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev/shm && "
           'mkdir -p /run/netns /run/lock && ip link set lo up; "$@"; exit $?', "sh"]


def isolation():
    """The prefix of a command, or nothing where it is not permitted."""
    done = subprocess.run([*ISOLATE, "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return ISOLATE if done.returncode == 0 else []


class Interrupted(Exception):
    """stop() was called."""


class Trials:
    def __init__(self, build, suites, names=()):
        self.build, self.stopped = build, threading.Event()
        self.isolate = isolation()
        self.tests = {}
        self.products = self.introspect("--targets")
        for test in self.introspect("--tests"):
            if ({s.partition(":")[2] for s in test["suite"]} & set(suites) and
                    (not names or any(name in test["name"] for name in names))):
                self.tests.setdefault(test["name"], test)

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", str(self.build), what], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def targets(self):
        """What the tests start, for ninja; some start products that they do not depend on."""
        needed = {target for test in self.tests.values() for target in test["depends"]}
        return sorted({os.path.relpath(name, self.build) for target in self.products
                       if target["installed"] or target["id"] in needed for name in target["filename"]})

    def stop(self):
        self.stopped.set()

    def run(self, name, number, limit, switch):
        """(result, seconds): "pass", "skip", "fail", "signal", "hang". switch: a file, see reached()."""
        test = self.tests[name]
        switch.write_bytes(number.to_bytes(4, "little") + bytes(SWITCH_BYTES - 4))
        scratch = tempfile.mkdtemp(prefix="mutant-")
        env = {**os.environ, **test["env"], "MUTANT_SWITCH": str(switch), "CHECK_STOP": "1", "MALLOC_PERTURB_": "165",
               "TMPDIR": scratch}
        start = time.monotonic()
        process = subprocess.Popen([*self.isolate, *test["cmd"]], cwd=test["workdir"] or self.build, env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            status = self.wait(process, start + limit)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        seconds = time.monotonic() - start
        if status is None:
            return "hang", seconds
        if status in (0, SKIPPED):
            return ("skip" if status else "pass"), seconds
        return ("signal" if status < 0 or status > 128 else "fail"), seconds

    def wait(self, process, deadline):
        """The exit status; None at the deadline. Interrupted if the run is to stop."""
        while True:
            try:
                return process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                late = time.monotonic() > deadline
                if late or self.stopped.is_set():
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    if not late:
                        raise Interrupted() from None
                    return None

    @staticmethod
    def reached(switch):
        """Numbers of the faults that the last run reached."""
        data = pathlib.Path(switch).read_bytes()
        return [n for n in range(1, SWITCH_BYTES - 4) if data[4 + n]]
