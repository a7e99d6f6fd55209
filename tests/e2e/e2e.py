# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Common functions of the end-to-end tests: start programs on the emulator, read its report."""
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import testlib  # noqa: E402

SKIP = 77
BUILD = pathlib.Path(os.environ.get("MLXPMD_BUILD", "build")).resolve()
MLXEMU = BUILD / "devtools/mlxemu/mlxemu"
TEST_MLX = BUILD / "app/dpdk-test-mlx"
PLUGIN = BUILD / "drivers/librte_net_mlxpmd.so"
# The driver keeps a register dump of a failed device: keep it in the build tree, not in /run.
os.environ.setdefault("MLXPMD_FWDUMP_DIR", str(BUILD / "fwdump"))
# Widest registers that EAL allows: selects the variant of the bursts, where a test does not.
SIMD_BITS = os.environ.get("MLXPMD_TEST_SIMD_BITS")
PCI = ["0000:c1:00.0", "0000:c1:00.1", "0000:c2:00.0", "0000:c2:00.1"]


class Failed(Exception):
    """A check of the test did not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def eal(ports=2, devargs="", memory_mb=512, lcores="0", simd=SIMD_BITS):
    """EAL arguments: no hugepages, only the emulated devices, the plugin of this build.

    simd: width of the widest registers in bits; None: the default of EAL.
    """
    # With more lcores than processors: "0@0,2@1", LCORE@PROCESSOR.
    args = ["--lcores" if "@" in lcores else "-l", lcores, "--no-huge", "--no-shconf",
            "-m", str(memory_mb), "--no-telemetry", "-d", str(PLUGIN)]
    for address in PCI[:ports]:
        args += ["-a", address + ("," + devargs if devargs else "")]
    if simd:
        args.append(f"--force-max-simd-bitwidth={simd}")
    return args


class Report(dict):
    """The emulator's report: report["port 0 tx_frames"], report["audit"]."""

    def __init__(self, path):
        super().__init__()
        self.text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in self.text.splitlines():
            if line.startswith("audit:"):
                self["audit"] = line.split(":", 1)[1].strip()
                continue
            words = line.rsplit(None, 1)
            if len(words) == 2 and words[1].isdigit():
                self[words[0]] = self.get(words[0], 0) + int(words[1])

    def port(self, port, name):
        return self.get(f"port {port} {name}", 0)


Result = collections.namedtuple("Result", "status out report")


# Factor of all time limits: the short form of the tests runs on machines of unknown speed.
PATIENCE = 3 if os.environ.get("MLXPMD_SHORT") else 1


def finish(command, timeout):
    """Run a command; returns exit code and output. After the time limit kill it and all that it started."""
    timeout *= PATIENCE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, out.decode(errors="replace")


def end(process):
    """Terminate a program that may still be running; kill it if it has not cleaned up after 5 s."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def emu(program, ports=2, wires=(), faults=(), timeout=120, audit=True, extra=()):
    """Run a program on emulated ports; returns exit code, stdout with stderr, and the emulator's report."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-e2e.") as work:
        report = pathlib.Path(work) / "report"
        command = [str(MLXEMU), "run", "--ports", str(ports), "--report", str(report)]
        command += ["--audit"] if audit else []
        for wire in wires:
            command += ["--wire", wire]
        for fault in faults:
            command += ["--fault", fault]
        command += [*extra, "--", *map(str, program)]
        status, out = finish(command, timeout)
        return Result(status, out, Report(report))


def main(test, needs=(MLXEMU, TEST_MLX, PLUGIN)):
    """Run test(); a failed check or a time-out prints one line and exits with code 1."""
    # meson ends a test at its time limit by SIGTERM: exit normally, so that programs are ended as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for program in needs:
        if not program.exists():
            sys.exit(f"{program} is not built: set MLXPMD_BUILD to the build folder")
    try:
        test()
    except Failed as err:
        print(f"FAILED: {err}")
        sys.exit(1)
    except subprocess.TimeoutExpired as err:
        print(f"FAILED: not finished after {err.timeout} s: {' '.join(map(str, err.cmd))}")
        if err.output:
            print(err.output.decode(errors="replace")[-4000:])
        sys.exit(1)
