# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Runs the fault engine's tests: run.py MLXEMU CASE."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MLXEMU = sys.argv[1]


def check(condition, what):
    if not condition:
        print("FAILED:", what)
        sys.exit(1)


def run(script, *options, args=(), ports=2, status=0):
    wires = [word for port in range(ports) for word in ("--wire", f"{port}=loop")]
    command = [MLXEMU, "run", "--ports", str(ports), *wires, *options, "--", "/usr/bin/python3",
               "-B", str(HERE / script), *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, check=False)
    check(done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def places():
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as report:
        out = run("places.py", "--audit", "--report", report.name)
        text = report.read()
    out += run("places.py", args=["maps"]) + run("places.py", "--audit", args=["fatal"])
    lost = run("places.py", "--audit", args=["given_back"], status=3)
    check("violation DMA to memory given back: port 0: DMA write" in lost and "1 violations" in lost, lost)
    out += lost
    hits = re.findall(r"^fault \d+: port \d (.*)", text, re.M)
    check(f"fault_hits {len(hits)}\n" in text or len(hits) == 1024, "hits and the log differ")
    print("\n".join(line for line in out.splitlines() if line.startswith(("ok", "FAILED"))))
    print(f"{len(hits)} hits logged")


def determinism():
    first = run("determinism.py", "--clock", "virtual", "--seed", "7")
    again = run("determinism.py", "--clock", "virtual", "--seed", "7")
    other = run("determinism.py", "--clock", "virtual", "--seed", "8")
    check(first == again, f"two runs differ:\n{first}\n{again}")
    check(first != other, "another seed changes nothing")
    check(len(re.findall(r"^fault ", first, re.M)) > 10, first)
    print(f"{len(first.splitlines())} lines equal in two runs, other ones with another seed")


WRONG_VALUES = [
    "on cqe.write do set field=byte_cnt", "on cqe.write do set field=wqe_counter",
    "on rx.deliver do set off=last", "on rx.deliver do set off=14",
    "on clock.value match name=mult do set", "on clock.value match name=core do set value=0",
    "on cmd.exit match op=QUERY_HCA_CAP do set field=log_max_cq",
    "on ioctl.out match method=ex_query_device do set off=8",
    "on sysfs.write match file=mtu do set value=9000",
    "on sysfs.write match file=node_guid do set",
    "on counter.read match name=tx_frames do set", "on dma.read do set off=0",
    "on eqe.write do set field=sub_type value=4"]


def values():
    """look.py prints something else with each rule, and the same in two runs without."""
    # The seed fixes what else differs from run to run: addresses, GUIDs, numbers of objects.
    options = ["--clock", "virtual", "--seed", "7"]
    right = run("look.py", *options, ports=1)
    check(right == run("look.py", *options, ports=1), "two runs without rules differ")
    for rule in WRONG_VALUES:
        wrong = run("look.py", *options, "--fault", rule, ports=1)
        changed = [b for a, b in zip(right.splitlines(), wrong.splitlines()) if a != b]
        check(changed, f"no effect: {rule}")
        print(f"{rule:60} {changed[0][:90]}")
    done = subprocess.run([MLXEMU, "run", "--fault", "on colour do set", "--", "true"], text=True,
                          stderr=subprocess.PIPE, check=False)
    check(done.returncode == 2 and "cmd.exit" in done.stderr, done.stderr)


def command_line():
    """mlxemu ctl: to a process found by itself, by number, by the environment; mistakes."""
    script = ("import sys; sys.path.insert(0, sys.argv[1]); from rig import Rig; r = Rig(); "
              "print('up', flush=True); sys.stdin.read(); r.close(); r.context.close()")
    with tempfile.TemporaryDirectory(prefix="ctl.") as tmp:
        env = dict(os.environ, TMPDIR=tmp)

        def ctl(*words, status=0):
            done = subprocess.run([MLXEMU, "ctl", *words], env=env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            check(done.returncode == status, f"ctl {words}: {done.returncode} {done.stdout}")
            return done.stdout
        check("no process" in ctl("ledger", status=1), "no process")
        with subprocess.Popen([MLXEMU, "run", "--wire", "loop", "--audit", "--", "/usr/bin/python3",
                               "-B", "-c", script, str(HERE)], env=env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as up:
            up.stdout.readline()
            check("port 0 objects SQ 1\n" in ctl("ledger"), ctl("ledger"))
            pid = os.path.basename(next(pathlib.Path(tmp).glob("*/ctl.*"))).split(".")[1]
            check("port 0 tx_frames 0\n" in ctl("--pid", pid, "counters"), "counters")
            check("link down" in ctl("link", "port=0", "state=down"), "link")
            ctl("fault", "add", "on ioctl do link state=up")
            check("rule 0 hits 0\n" in ctl("fault", "list"), ctl("fault", "list"))
            check('"ok":true' in ctl("--json", "fault", "clear"), "json")
            check("'bogus'" in ctl("bogus", status=1), "unknown command")
            check("pause it first" in ctl("engine.step", status=1), "running engine")
            check("KEY=VALUE" in ctl("link", "state", status=2), "not KEY=VALUE")
            check("a number from 0 to 0" in ctl("link", "port=1", status=1), "port out of range")
            up.stdin.close()
            check(up.wait() == 0, "the audit is not clean")
    print("mlxemu ctl: ok")


CASES = {"places": places, "determinism": determinism, "values": values, "ctl": command_line}
CASES[sys.argv[2]]()
