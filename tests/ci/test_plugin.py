# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""pytest-mlxemu: each test writes a test file of a user, and runs pytest on it in a process of its own.

environment: MLXEMU, RING, RING_LEAKS, HOLDER: the programs; PLUGIN: folder of pytest_mlxemu.py
"""
import os
import pathlib
import signal
import subprocess
import sys
import time
import zipfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from testlib import await_until  # noqa: E402

pytest_plugins = "pytester"
NAMES = {name: os.environ[name] for name in ("RING", "RING_LEAKS", "HOLDER")}
HEAD = "import pytest, pytest_mlxemu\n" + "".join(f"{name} = {path!r}\n" for name, path in NAMES.items())
REFUSED = "on mr.reg do fail errno=ENOMEM"


@pytest.fixture
def pytest_run(pytester, monkeypatch):
    """Run pytest on a text; its result."""
    monkeypatch.setenv("PYTHONPATH", os.environ["PLUGIN"])

    def run(text, *args):
        pytester.makepyfile(HEAD + text)
        return pytester.runpytest_subprocess("-p", "pytest_mlxemu", "-p", "no:cacheprovider", "-rA", *args)

    return run


def test_run(pytest_run):
    result = pytest_run("""
def test_ring(mlxemu):
    emu = mlxemu(ports=2, profile="cx7", wire="0=loop")
    run = emu.run(RING)
    assert run.status == 0 and run.stdout.startswith("queue pair 0x") and run.stderr == ""
    assert len(run.counters) == 2 and run.counters[1]["rx_frames"] == 0 and emu.counters == run.counters
    assert run.audit.clean and str(emu.audit) == "audit: clean"
    assert any("ALLOC_PD (0x800) OK" in line for line in run.trace)
    assert run.command == f"mlxemu run --audit --ports 2 --profile cx7 --wire 0=loop -- {RING}"

def test_two_machines(mlxemu):
    old, new = mlxemu(profile="cx5"), mlxemu(profile="cx7", ports=3, wire=["0=pair:1", "2=none"])
    assert "22.35" not in old.run("ibv_devinfo").stdout
    assert new.run("ibv_devinfo").stdout.count("28.35.2000") == 3
    assert old.run("cat", input="text").stdout == "text"
""")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"mlxemu: {os.environ['MLXEMU']}"])


def test_failure_shows_the_audit(pytest_run):
    result = pytest_run(f"""
def test_left(mlxemu):
    mlxemu().run(RING_LEAKS, status=1, faults="{REFUSED}")

def test_status(mlxemu):
    mlxemu().run(RING, faults="{REFUSED}")

def test_signal(mlxemu):
    mlxemu().run("sh", "-c", "kill -SEGV $$")

def test_own_assertion(mlxemu):
    run = mlxemu(options=["--seed", 2]).run(RING_LEAKS, status=None, audit=False, faults="{REFUSED}")
    assert run.status == 77

def test_no_program(mlxemu):
    mlxemu().run("./absent")
""")
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines([
        "E *RunFailed: mlxemu: the audit is not clean",
        "E *   left port 0: 1 PD",
        f"E * fault 1: port 0 MR: {REFUSED}",
        f"E * again: mlxemu run --audit --ports 1 --profile cx6dx --fault '{REFUSED}' -- {NAMES['RING_LEAKS']}",
        "E * stderr:",
        "E *   ibv_reg_mr: Cannot allocate memory",
        "E * trace (last 10 of * lines, all in */mlxemu1/run1/trace):",
        "E *   * QUERY_HCA_CAP * ...",
        "E *RunFailed: mlxemu: exit status 1, expected 0",
        "E *RunFailed: mlxemu: ended by SIGSEGV, expected 0",
        "E *assert 1 == 77",
        "*- mlxemu mlxemu1, run1 -*",
        "audit: not clean",
        "  left port 0: 1 PD",
        "again: mlxemu run --audit * --seed 2 --fault *",
        "E *RunFailed: mlxemu: exit status 127, expected 0",
        "E *mlxemu: cannot run './absent': No such file or directory",
    ])


def test_fault_mark(pytest_run):
    result = pytest_run(f"""
@pytest.mark.mlxemu_fault("on mr.reg do fail errno=ENOMEM",
                          "on cmd.entry match op=CREATE_MKEY do fail status=NO_RESOURCES",
                          ("on cmd.entry match op=CREATE_CQ do delay us=10", "on mr.reg after 1 do fail errno=EPERM"))
def test_refused(mlxemu, mlxemu_fault):
    run = mlxemu().run(RING, status=0 if isinstance(mlxemu_fault, tuple) else 1)
    assert run.report.hits

@pytest.mark.mlxemu_fault("on sysfs.write match file=mtu do set value=9000")
def test_value(mlxemu):
    assert mlxemu().run("cat", "/sys/class/net/mlxemu0np0/mtu").stdout == "9000\\n"

def test_none(mlxemu, mlxemu_fault):
    assert mlxemu_fault is None

@pytest.mark.mlxemu_fault("on wire.tx do drop")
def test_failed_anyway(mlxemu):
    mlxemu().run(RING, status=9)
""")
    # The rule `after 1` does not hit: the program registers memory once.
    result.assert_outcomes(passed=5, failed=1, errors=1)
    result.stdout.fnmatch_lines([
        "mlxemu: the fault rule did not hit in any of 1 runs (matching events: 1): on mr.reg after 1 do fail *",
        "PASSED *test_refused?on mr.reg do fail errno=ENOMEM?",
    ])


def test_fault_mark_without_fixture(pytest_run):
    result = pytest_run("""
@pytest.mark.mlxemu_fault("on mr.reg do fail errno=ENOMEM")
def test_it():
    pass
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*::test_it: mark mlxemu_fault: the test does not use the fixture mlxemu"])


def test_control(pytest_run):
    result = pytest_run("""
def test_live(mlxemu):
    emu = mlxemu(ports=2)
    run = emu.start(HOLDER)
    assert run.ctl("inject", port=1, frames=4)["frames"] == 4
    assert emu.counters[1]["rx_frames"] == 4 and emu.counters[0]["rx_frames"] == 0
    assert emu.audit.clean and run.running
    assert emu.ctl("link", port=0, state="down")["link"] == "down"
    with pytest.raises(pytest_mlxemu.ControlError, match="link: .*port"):
        emu.ctl("link", port=7)
    run.end()
    assert run.status == 0 and run.audit.clean and run.counters[1]["rx_frames"] == 4

def test_two_at_once(mlxemu):
    runs = [mlxemu().start(HOLDER) for _ in range(2)]
    runs[0].ctl("inject", port=0, frames=2)
    assert [run.counters[0]["rx_frames"] for run in runs] == [2, 0]

def test_ended(mlxemu):
    run = mlxemu().start("false")
    with pytest.raises(pytest_mlxemu.ControlError, match="the program has ended"):
        run.ctl("counters")
    with pytest.raises(pytest_mlxemu.ControlError, match="no program was started"):
        mlxemu().ctl("counters")

def test_no_device(mlxemu):
    with pytest.raises(pytest_mlxemu.ControlError, match="has not opened a device"):
        mlxemu().start("sleep", "600").ctl("counters", wait_s=0.5)
""")
    result.assert_outcomes(passed=4)


def test_timeout_leaves_nothing(pytest_run, tmp_path, monkeypatch):
    """A program that ignores SIGTERM is killed; the launcher removes its folder, and the audit is not clean."""
    (tmp_path / "t").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    begin = time.monotonic()
    result = pytest_run("""
pytest_mlxemu.GRACE_S = 1

def test_hang(mlxemu):
    mlxemu().run(HOLDER, "stubborn", timeout=3)

def test_killed(mlxemu):
    mlxemu().run("sh", "-c", f"{HOLDER} stubborn & sleep 1; kill -KILL $!", status=None)
""", "--basetemp", str(tmp_path / "b"))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E *RunFailed: mlxemu: did not end within 3 s", "E *   ready",
                                 "E *RunFailed: mlxemu: the audit is not clean",
                                 "E *   process * ended without a report*"])
    assert time.monotonic() - begin < 120
    assert not list((tmp_path / "t").glob("mlxemu.*"))


def test_interrupt_leaves_nothing(pytester, tmp_path):
    """Ctrl-C ends pytest, which ends the program that runs."""
    pytester.makepyfile(HEAD + "def test_it(mlxemu):\n    mlxemu().run(HOLDER, timeout=600)\n")
    env = dict(os.environ, PYTHONPATH=os.environ["PLUGIN"], TMPDIR=str(tmp_path))
    with subprocess.Popen([sys.executable, "-m", "pytest", "-p", "pytest_mlxemu", "-p", "no:cacheprovider",
                           "--basetemp", tmp_path / "b"], env=env,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                          stdout=subprocess.PIPE, text=True) as child:
        assert await_until(lambda: list(tmp_path.glob("mlxemu.*/ctl.*")), 60)
        child.send_signal(signal.SIGINT)
        output = child.communicate(timeout=60)[0]
    assert child.returncode == 2 and "KeyboardInterrupt" in output
    assert not list(tmp_path.glob("mlxemu.*"))
    run = next((tmp_path / "b").glob("*/mlxemu1/run1"))
    assert (run / "report").read_text().endswith("audit: clean\n")


def test_where_mlxemu_is_found(pytest_run, monkeypatch, tmp_path):
    text = "def test_it(mlxemu):\n    mlxemu().run('true')\n"
    program = os.environ["MLXEMU"]
    monkeypatch.setenv("MLXEMU", "/absent")
    result = pytest_run(text)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["mlxemu: not found",
                                 "no mlxemu program: give --mlxemu PATH, set MLXEMU, or install it in the PATH"])
    pytest_run(text, "--mlxemu", program).assert_outcomes(passed=1)
    monkeypatch.delenv("MLXEMU")
    monkeypatch.setenv("PATH", f"{pathlib.Path(program).parent}:{os.environ['PATH']}")
    pytest_run(text).assert_outcomes(passed=1)


def test_package(tmp_path, pytester, monkeypatch):
    """The wheel, built without network, is a plugin that needs no option."""
    copy = tmp_path / "source"
    copy.mkdir()
    for path in pathlib.Path(os.environ["PLUGIN"]).iterdir():
        if path.is_file():
            (copy / path.name).write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps",
                    "--wheel-dir", tmp_path, copy], check=True)
    wheel, = tmp_path.glob("pytest_mlxemu-*-py3-none-any.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    pytester.makepyfile("def test_it(mlxemu):\n    mlxemu().run('ibv_devices')\n")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "pytest_mlxemu").assert_outcomes(passed=1)
