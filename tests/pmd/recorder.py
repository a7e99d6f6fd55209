# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The flight recorder: planted faults are explained rightly, and the line that is printed leads to the same cause.

Usage: recorder.py [--keep DIR] verbs|vfio [CASE]...

--keep DIR  copies the files of the planted faults there, as MODE-CASE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pmdlib
from e2e import MLXEMU, PATIENCE, PLUGIN, TEST_MLX, check, eal, end, main, testlib

# The rule; whether the driver writes the file by itself; what the summary has.
CASES = {
    "fatal": ("on doorbell match port=0 after 20 count 1 do fatal syndrome=8 ms=100", True,
              {"verbs": ["firmware", "fatal error, the kernel resets the device"],
               "vfio": ["firmware", "fatal firmware error, health syndrome 0x8 (HW_UNRECOVERABLE_ERR)"]}),
    "removal": ("on doorbell match port=0 after 20 count 1 do remove", True,
                {"verbs": ["removed", "the device is removed"], "vfio": ["no-response", "no response on the PCI bus"]}),
    "queue": ("on cqe.write match port=0 q=tx0 after 5 do error syndrome=LOCAL_PROT_ERR vendor=0x57", True,
              ["queue-given-up", "Tx queue 0", "LOCAL_PROT_ERR (0x04", "vendor syndrome 0x57", "given up"]),
    "refused": ("on cmd.entry match port=0 op=CREATE_SQ after 1 count 1 do fail status=NO_RESOURCES syndrome=0x2a3d5c",
                False, ["refused", "CREATE_SQ", "NO_RESOURCES (0x0f", "syndrome 0x2a3d5c"]),
    "repaired": ("on cqe.write match port=0 q=rx0 after 5 count 1 do error syndrome=LOCAL_QP_OP_ERR vendor=0x9d", False,
                 ["queue", "Rx queue 0", "LOCAL_QP_OP_ERR (0x02", "vendor syndrome 0x9d", "was repaired, "]),
    "link": ("on doorbell match port=0 after 20 count 1 do link state=down ms=200", False, ["link", ": link down"]),
    "memory": ("on umem.reg match port=0 after 6 count 1 do fail errno=ENOMEM", False,
               ["call", "mlx5dv_devx_umem_reg() failed: ENOMEM"]),
}


def explain(path, *options):
    done = subprocess.run([str(TEST_MLX), "explain", str(path), *options], capture_output=True, text=True, timeout=60,
                          check=False)
    check(done.returncode == 0 and not done.stderr, f"explain {path}: {done.returncode} {done.stderr}")
    return done.stdout


class Program:
    """dpdk-test-mlx on one emulated port whose wire returns what it sends, by commands; MODE: verbs or vfio."""

    def __init__(self, mode, options, work):
        devargs = "open=vfio" if mode == "vfio" else ""
        args = [a for a in eal(1, devargs, 256, "0") if a != "--no-telemetry"]
        command = [MLXEMU, "run", "--ports", "1", "--wire", "0=loop", *options, "--", TEST_MLX, *args, "--file-prefix",
                   pmdlib.PREFIX, "--", "--fwd", "gen", "--topology", "loop", "--rate", "2000", "--rxd", "64", "--txd",
                   "64", "--interactive"]
        self.kept, self.out = work / "kept", open(work / "out", "w+", encoding="utf-8")
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=self.out,
                                        stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, "MLXPMD_FWDUMP_DIR": str(self.kept)})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        end(self.process)
        self.out.seek(0)
        if kind is not None:
            print(self.out.read()[-4000:])
        self.out.close()

    def send(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def files(self):
        return sorted(self.kept.glob("recorder-*-[0-9]"))

    def quit(self):
        self.send("quit")
        self.process.wait(60 * PATIENCE)


def done(report):
    """Whether a file that was requested has the whole incident."""
    if report["cause"] == "link":
        return "ms=" in report["reproduce"]  # The link is up again.
    return report["cause"] != "none"


def recorded(mode, options, by_itself):
    """Run the program, which makes the port fail; the contents of the file, as text and from JSON."""
    with tempfile.TemporaryDirectory(prefix="mlxrecorder.", ignore_cleanup_errors=True) as folder:
        return recorded_in(pathlib.Path(folder), mode, options, by_itself)


def recorded_in(work, mode, options, by_itself):
    with Program(mode, options, work) as program:
        program.send("start", "sleep 0.1", "stop", *2 * ("stop port 0", "start port 0"), "start")

        def written():
            if not by_itself:
                program.send("devx recorder 0")
            files = program.files()
            report = [json.loads(explain(f, "--json")) for f in files]
            return next(((f, t) for f, t in zip(files, report) if by_itself or done(t)), None)

        found = testlib.await_until(written, 30 * PATIENCE, pause=0.3)
        check(found, f"no file of the failure in {program.kept}: {program.files()}")
        check(oct(found[0].stat().st_mode & 0o777) == "0o600", "the mode of the file")
        data = found[0].read_bytes()
        (work / "file").write_bytes(data)
        program.quit()
    return data, explain(work / "file"), json.loads(explain(work / "file", "--json"))


def key(report):
    """What has to be the same when the fault is repeated: cause and text, without times and numbers of objects."""
    changes = r"(queue \d+ \(.Q) 0x\w+|, after \d+ good completions?|, took .*"
    return report["cause"], re.sub(changes, r"\1", report["what"])


def one(mode, case, keep):
    rule, by_itself, want = CASES[case]
    options = ["--open", "vfio"] if mode == "vfio" else []
    data, text, report = recorded(mode, [*options, "--fault", rule], by_itself)
    words = want[mode] if isinstance(want, dict) else want
    check(report["cause"] == words[0] and all(w in report["what"] for w in words[1:]), f"{case}: {report['what']}")
    check(report["mode"] == mode and report["device"] == "0000:c1:00.0" and report["port"] == 0, report)
    print(text)
    check("what happened:" in text and report["what"] in text and report["likely"] and report["todo"] in text, text)
    if keep:
        (pathlib.Path(keep) / f"{mode}-{case}").write_bytes(data)
    line = re.fullmatch(r"mlxemu run (--open vfio )?--fault '([^']*)' -- PROGRAM", report["reproduce"])
    check(line and bool(line[1]) == (mode == "vfio"), report["reproduce"])
    if " q=" in rule:
        # Completions before the error: those of the rule, less those that no burst took before a stop.
        after = re.search(r" after (\d+) ", line[2])
        check(after and (int(after[1]) == 5 or "q=rx" in rule and int(after[1]) < 5), line[2])
    if case == "memory":
        return  # The recorder does not know how many registrations succeeded before: the first one would fail.
    again = recorded(mode, [*options, "--fault", line[2]], by_itself)[2]
    check(key(again) == key(report), f"{line[2]}: {again['what']}, and not {report['what']}")
    print(f"{mode} {case}: {line[2]}: the same", flush=True)


def run():
    args = sys.argv[1:]
    keep = args[1] if args[0] == "--keep" else None
    mode, *cases = args[2:] if keep else args
    for case in cases or CASES:
        # Through VFIO libmlx5 has no call for which the kernel could refuse memory.
        if (mode, case) != ("vfio", "memory"):
            one(mode, case, keep)


main(run, needs=[MLXEMU, PLUGIN, TEST_MLX])
