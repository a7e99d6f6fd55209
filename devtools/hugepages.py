#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Reserve hugepages of 2 MiB among programs that do so at the same time.

Usage: hugepages.py PAGES: prints "reserved" or "not permitted", keeps them until its input ends, as lib.sh does
"""
import contextlib
import fcntl
import os
import pathlib
import signal
import sys

NUMBERS = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
# Two locks: to change the number, and, shared, to use pages. The kernel releases both when a process is killed.
LOCKS = "/run/lock/mlxpmd-hugepages."


def number(name):
    """One of the kernel's numbers: nr_hugepages, free_hugepages."""
    return int((NUMBERS / name).read_text())


def lock_file(name):
    """A descriptor for flock(); a file of another user need not be writable."""
    os.makedirs(os.path.dirname(LOCKS), exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        return os.open(LOCKS + name, os.O_RDONLY)
    return os.open(LOCKS + name, os.O_RDONLY | os.O_CREAT, 0o644)


@contextlib.contextmanager
def changing():
    """No other program changes the number meanwhile."""
    fd = lock_file("change")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def used_by_others(fd):
    """Whether programs have pages reserved; fd is that of the lock "use", which is not held afterwards."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def in_use():
    """Whether a program has pages reserved at present."""
    try:
        fd = lock_file("use")
    except OSError:
        return False
    try:
        return used_by_others(fd)
    finally:
        os.close(fd)


class Reservation:
    """Pages for this process and its children; `ok` is whether there are enough. release() may be called again."""

    def __init__(self, pages):
        self.added, self.ok, self.use = 0, False, None
        try:
            with changing():
                self.use = lock_file("use")
                # Free pages can be those that another program has reserved and not used yet: do not count on them.
                lack = pages if used_by_others(self.use) else max(0, pages - number("free_hugepages"))
                if lack:
                    before = number("nr_hugepages")
                    (NUMBERS / "nr_hugepages").write_text(str(before + lack))
                    self.added = number("nr_hugepages") - before
                self.ok = self.added >= lack
                fcntl.flock(self.use, fcntl.LOCK_SH)
        except (OSError, ValueError):
            pass
        if not self.ok:
            self.release()

    def release(self):
        """Takes back what was added, and no more: others may have added pages since."""
        if self.use is None:
            return
        with changing():
            if self.added:
                (NUMBERS / "nr_hugepages").write_text(str(number("nr_hugepages") - self.added))
            os.close(self.use)
        self.added, self.use = 0, None


def main():
    """0: the pages were reserved."""
    if len(sys.argv) != 2 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pages = Reservation(int(sys.argv[1]))
    print("reserved" if pages.ok else "not permitted", flush=True)
    if pages.ok:
        sys.stdin.read()
    pages.release()
    return 0 if pages.ok else 1


if __name__ == "__main__":
    sys.exit(main())
