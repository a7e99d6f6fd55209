# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What all Python tests share: checks, waiting in one place, EAL's runtime directories, and hugepages."""
import atexit
import collections
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "devtools"))
import hugepages  # noqa: E402  pylint: disable=wrong-import-position

# The checks of expect() that failed.
FAILED = []


def expect(ok, what):
    """Records and prints a check that failed, and goes on; the program ends with `return 1 if FAILED else 0`."""
    if not ok:
        FAILED.append(what)
        print("not so:", what)


def await_until(condition, seconds, pause=0.02):
    """Polls until the condition is true or the time is over; its last value."""
    end = time.monotonic() + seconds
    while True:
        late = time.monotonic() >= end
        value = condition()
        if value or late:
            return value
        time.sleep(pause)


def await_progress(value, done, quiet, seconds=float("inf"), pause=0.1):
    """Polls until done(value()), until value() has not changed for `quiet` seconds, or until the time is over.

    Its last value.
    """
    begin = since = time.monotonic()
    last = value()
    while not done(last) and time.monotonic() - begin < seconds and time.monotonic() - since < quiet:
        time.sleep(pause)
        now = value()
        if now != last:
            last, since = now, time.monotonic()
    return last


def pass_time(seconds, reason):
    """Lets time pass, where time is what is tested; the reason states what must, or must not, happen meanwhile."""
    assert reason
    time.sleep(max(0.0, seconds))


def runtime_dir_removed(prefix):
    """The --file-prefix, whose runtime directory is removed when the test ends: EAL never does that itself."""
    for base in ("/run", os.environ.get("XDG_RUNTIME_DIR") or "/tmp"):
        atexit.register(shutil.rmtree, f"{base}/dpdk/{prefix}", ignore_errors=True)
    return prefix


CLONE_NEWNS = 0x20000  # unshare(2)


def hugepages_taken(megabytes):
    """Whether this test and its programs have so many free hugepages, reserved and mounted until the test ends."""
    pages = hugepages.Reservation((megabytes + 1) // 2)
    atexit.register(pages.release)
    if not pages.ok:
        return False
    try:
        if "hugetlbfs" in pathlib.Path("/proc/mounts").read_text():
            return True
        # Mounted in a namespace of this process and its children, and so for as long as they run.
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
            return False
        folder = tempfile.mkdtemp(prefix="mlxpmd-huge.")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        atexit.register(subprocess.run, ["umount", folder], check=False)
        return (subprocess.run(["mount", "--make-rprivate", "/"], check=False).returncode == 0 and
                subprocess.run(["mount", "-t", "hugetlbfs", "none", folder], check=False).returncode == 0)
    except (OSError, ValueError):
        return False


def dpdk_version():
    """The installed DPDK: (24, 11, 4)."""
    text = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True, timeout=30,
                          check=True).stdout
    return tuple(int(number) for number in re.match(r"(\d+)\.(\d+)\.(\d+)", text).groups())


Card = collections.namedtuple("Card", "name pci_id clock_hz")


def default_card(mlxemu):
    """The card that the emulator is without --profile, from the table that it prints."""
    profile = os.environ.get("MLXEMU_DEFAULT_PROFILE", "cx6dx")
    table = subprocess.run([mlxemu, "profiles"], capture_output=True, text=True, timeout=30, check=True).stdout
    row = re.search(rf"^{profile} +(\S.*?)  +(\S+) .* (\d+)$", table, re.M)
    return Card(row[1], row[2], int(row[3]))


def default_caps(mlxemu):
    """{name: value} of the capabilities of that card."""
    profile = os.environ.get("MLXEMU_DEFAULT_PROFILE", "cx6dx")
    text = subprocess.run([mlxemu, "profiles", profile], capture_output=True, text=True, timeout=30, check=True).stdout
    return {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)\b", text, re.M)}
