#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The GitHub Action: its steps run here as a runner runs them.

usage: test_action.py ACTION-FOLDER PACKAGE BUILDDIR RING RING_LEAKS EXAMPLE-FOLDER
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
FILES = ("GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
PYTEST = """
def test_it(mlxemu):
    assert mlxemu(ports=2).run("ibv_devices").stdout.count("mlx5_") == 2
"""
RECEIVE = """
import subprocess
from pyverbs.device import Context
with Context(name="mlx5_1"):
    subprocess.run(["mlxemu", "ctl", "inject", "port=1", "frames=3"], check=True)
"""
REFUSED = "--fault=on mr.reg do fail errno=ENOMEM"


def check_action(action):
    """Inputs are declared, used and texts; each step has a shell; outputs are those of steps."""
    steps = action["runs"]["steps"]
    used = set(re.findall(r"inputs\.([\w-]+)", yaml.dump(steps)))
    assert action["runs"]["using"] == "composite"
    assert used == set(action["inputs"]), used ^ set(action["inputs"])
    for name, given in action["inputs"].items():
        assert given["description"] and (given.get("required") or isinstance(given["default"], str)), name
    for step in steps:
        assert step["shell"] == "bash" and step["run"], step
    ids = {step["id"] for step in steps}
    for name, given in action["outputs"].items():
        step, key = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", given["value"]).groups()
        assert step in ids and given["description"], name
        assert re.search(rf'"?{key}=', (ACTION / "mlxemu-action").read_text()), key


class Job:
    """A job on a runner: what steps write for later ones applies to those."""

    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, RUNNER_TEMP=str(folder / "temp"), GITHUB_ACTION_PATH=str(ACTION))
        self.env.pop("PYTHONPATH", None)
        # pytest keeps the folders of its last runs.
        self.env["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        (folder / "temp").mkdir(parents=True)
        for name in FILES:
            (folder / name).touch()
            self.env[name] = str(folder / name)
        self.outputs = {}
        self.log = ""

    def shell(self, text, more=(), cwd=None):
        """A step of `shell: bash`; its exit status."""
        (self.folder / "step").write_text(text)
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", self.folder / "step"], text=True,
                              env={**self.env, **dict(more)}, cwd=cwd or self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=240, check=False)
        self.log = done.stdout
        print(done.stdout)
        for name in ("GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT"):
            lines = (self.folder / name).read_text().splitlines()
            (self.folder / name).write_text("")
            for line in lines:
                if name == "GITHUB_PATH":
                    self.env["PATH"] = f"{line}:{self.env['PATH']}"
                else:
                    key, value = line.split("=", 1)
                    (self.env if name == "GITHUB_ENV" else self.outputs)[key] = value
        return done.returncode

    def uses(self, **given):
        """The action's steps; exit status of the last one."""
        inputs = {name: more.get("default", "") for name, more in DECLARED["inputs"].items()}
        inputs.update({name.replace("_", "-"): value for name, value in given.items()})

        def expand(text):
            return EXPRESSION.sub(lambda found: inputs[found[1].removeprefix("inputs.")], text)

        for step in DECLARED["runs"]["steps"]:
            if "if" in step:
                name, = re.fullmatch(r"\$\{\{ inputs\.(\w+) != '' \}\}", step["if"]).groups()
                if not inputs[name]:
                    continue
            env = {key: expand(value) for key, value in step["env"].items()}
            cwd = self.folder / expand(step.get("working-directory", "."))
            status = self.shell(step["run"], env, cwd)
            if status != 0:
                return status
        return 0

    @property
    def summary(self):
        return (self.folder / "GITHUB_STEP_SUMMARY").read_text()


def case_clean(job, archive):
    (job.folder / "below").mkdir()
    status = job.uses(package=str(archive), apt="", ports="2", working_directory="below", trace_lines="5",
                      run=f"pwd; ibv_devices\n{RING} | grep 'queue pair' && echo '<b>&'")
    assert status == 0 and f"{job.folder}/below\n" in job.log and "mlx5_1" in job.log
    assert job.summary.startswith("### mlxemu: passed\n\n<pre>\npwd; ibv_devices\n")
    assert "echo '&lt;b&gt;&amp;'\n</pre>" in job.summary
    assert "<pre>\naudit: clean\n" in job.summary
    assert re.search(r"<summary>trace: last 5 of \d\d+ lines</summary>\n\n<pre>\n([^<]+\n){5}</pre>", job.summary)
    assert job.outputs["status"] == "0"
    assert "audit: clean" in pathlib.Path(job.outputs["report"]).read_text()
    assert "CREATE_CQ" in pathlib.Path(job.outputs["trace"]).read_text()


def case_counters(job, archive):
    (job.folder / "receive.py").write_text(RECEIVE)
    assert job.uses(package=str(archive), apt="", ports="2", run=f"{sys.executable} receive.py") == 0
    assert "| counter | port 0 | port 1 |\n|---|---:|---:|\n" in job.summary
    assert "| rx_frames | 0 | 3 |\n" in job.summary and "| tx_frames |" not in job.summary


def case_audit(job, archive):
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    leaks = f"! {RING_LEAKS}"
    common = {"package": archive.as_uri(), "sha256": checksum, "apt": "", "run": leaks, "profile": "cx7"}
    assert job.uses(**common, options=f"\n{REFUSED}\n--wire=0=loop\n") == 3
    assert "### mlxemu: failed (exit status 3: the audit is not clean" in job.summary
    assert f"\nfault 1: port 0 MR: {REFUSED[8:]}\nleft port 0: 1 PD\naudit: 1 left, 0 violations\n" in job.summary
    assert job.outputs["status"] == "3" and "::error title=mlxemu::exit status 3" in job.log
    assert job.uses(**common, options=REFUSED, audit="false") == 0
    assert job.uses(**common, options="--wire=0=rope") == 2
    assert "--wire 0=rope: not a wire" in job.log
    assert job.uses(**common, audit="perhaps") == 1 and "'audit' is 'perhaps'" in job.log


def case_refused(job, archive):
    assert job.uses(package=str(archive), apt="", sha256="0" * 64) == 1 and "has another checksum" in job.log
    assert job.uses(package="absent.tar.zst", apt="") == 1 and "cannot read the package 'absent.tar.zst'" in job.log
    assert job.uses(package="file:///absent.tar.zst", apt="") == 1 and "cannot read the package" in job.log
    assert job.uses(package="/bin/true", apt="") == 1 and "neither a .deb nor a .tar archive" in job.log
    assert job.uses(package="") == 1 and "'package' is empty" in job.log


def case_pytest(job, archive):
    """Installed only: later steps find the emulator and the plugin."""
    assert job.uses(package=str(archive), apt="") == 0 and "status" not in job.outputs
    (job.folder / "test_it.py").write_text(PYTEST)
    assert job.shell(f"{sys.executable} -m pytest -p no:cacheprovider -p pytest_mlxemu test_it.py") == 0
    assert "1 passed" in job.log and f"mlxemu: {job.outputs['bin']}/mlxemu" in job.log


def fake_apt(job):
    """An apt-get that records its arguments and installs nothing."""
    tools = job.folder / "tools"
    tools.mkdir()
    for name in ("apt-get", "sudo"):
        (tools / name).write_text(f"#!/bin/sh\n[ {name} = sudo ] && exec \"$@\"\necho \"$@\" >>{job.folder}/calls\n")
        (tools / name).chmod(0o755)
    job.env["PATH"] = f"{tools}:{job.env['PATH']}"


def case_deb(job, archive):
    """Packages of the system that are missing are installed, then the .deb."""
    fake_apt(job)
    subprocess.run(["tar", "-xf", archive, "-C", job.folder], check=True)
    installed, = job.folder.glob("mlxemu-*/bin")
    job.env["PATH"] = f"{installed}:{job.env['PATH']}"
    (job.folder / "mlxemu.deb").touch()
    assert job.uses(package="mlxemu.deb", apt="libc6 absent-package", run="ibv_devices") == 0
    install = "install -qq -y --no-install-recommends"
    assert (job.folder / "calls").read_text().splitlines() == [
        "update -qq", f"{install} absent-package", f"{install} {job.folder.resolve()}/mlxemu.deb"]


def case_workflow(job, archive):
    """The example project's workflow, with an apt-get that installs nothing."""
    shutil.copytree(EXAMPLE, job.folder, dirs_exist_ok=True)
    # The python3 that has pytest.
    job.env["PATH"] = f"{pathlib.Path(sys.executable).parent}:{job.env['PATH']}"
    fake_apt(job)
    workflow = yaml.safe_load((EXAMPLE / ".github/workflows/ci.yml").read_text())
    ran = []
    for step in workflow["jobs"]["tests"]["steps"]:
        uses = step.get("uses", "run").split("@")[0]
        if uses.endswith("/devtools/action"):
            assert set(step["with"]) <= set(DECLARED["inputs"]), step
            given = {key.replace("-", "_"): value for key, value in step["with"].items()}
            assert given["package"] == "${{ vars.MLXEMU_PACKAGE }}"
            assert job.uses(**{**given, "package": str(archive), "apt": ""}) == 0
        elif uses == "run":
            assert job.shell(step["run"]) == 0
        ran.append(uses.rsplit("/", 1)[-1])
    assert ran == ["checkout", "run", "run", "action", "run", "upload-artifact"], ran
    results = (job.folder / "build/meson-logs/testlog.txt").read_text()
    assert re.search(r"^Fail: +0\b", results, re.M) and (job.folder / "build/sweep.xml").exists()
    assert re.search(r"\b8 passed", results), results
    assert (job.folder / "calls").read_text().startswith("update -qq\ninstall -qq -y gcc meson ")


def main():
    check_action(DECLARED)
    with tempfile.TemporaryDirectory() as work:
        out = pathlib.Path(work) / "out"
        subprocess.run([PACKAGE, "--out", out, "--builddir", BUILD, "tarball"], check=True)
        archive, = out.glob("mlxemu-*.tar.zst")
        for case in (case_clean, case_counters, case_audit, case_refused, case_pytest, case_deb, case_workflow):
            print(f"== {case.__name__}", flush=True)
            case(Job(pathlib.Path(work) / case.__name__), archive)


if __name__ == "__main__":
    ACTION, PACKAGE, BUILD, RING, RING_LEAKS, EXAMPLE = (pathlib.Path(arg).resolve() for arg in sys.argv[1:7])
    DECLARED = yaml.safe_load((ACTION / "action.yml").read_text())
    main()
