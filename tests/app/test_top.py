#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""dpdk-test-mlx top on testpmd's ports: values, keys, the terminal (in tmux), the end and the return of the program."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
import telemetry_client  # noqa: E402
from pmdlib import check, e2e  # noqa: E402

TOP = [str(e2e.TEST_MLX), "top", "--file-prefix", pmdlib.PREFIX]
WAIT_S = 20 * e2e.PATIENCE
COLUMNS, ROWS = 120, 50


def testpmd():
    return pmdlib.Testpmd(("--rxq=2", "--txq=2"), eal_args=pmdlib.eal(telemetry=True))


def run(*args, status=0, env=None):
    done = subprocess.run([*TOP, *args], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=WAIT_S,
                          check=False, env={**os.environ, **(env or {})})
    check(done.returncode == status, f"top {args}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Terminal:
    """A shell in a tmux of its own."""

    def __init__(self, folder):
        self.tmux = ["tmux", "-S", f"{folder}/tmux", "-f", "/dev/null"]
        self("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "env", "PS1=prompt> ", "sh")

    def __call__(self, *args):
        return subprocess.run([*self.tmux, *args], text=True, capture_output=True, check=True, timeout=WAIT_S).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self("kill-server")

    def text(self):
        return self("capture-pane", "-p")

    def until(self, what, *keys):
        """Press keys, then wait for a text of the screen that matches; the screen."""
        for key in keys:
            self("send-keys", key)
        last = [""]

        def found():
            last[0] = self.text()
            return re.search(what, last[0], re.M)
        check(e2e.testlib.await_until(found, WAIT_S), f"{keys}: '{what}' is not on the screen:\n{last[0]}")
        return last[0]

    def shell(self, command, what):
        self("send-keys", "-l", command)
        return self.until(what, "Enter")

    def stty(self):
        """The settings of the terminal."""
        self("clear-history")
        text = self.shell("clear; stty -g; echo done=$?", r"^done=0")
        return re.search(r"^[0-9a-f:]{30,}", text.replace("\n", ""), re.M)[0]


def rows(text):
    """{(port, queue): fields} of the queues."""
    return {(m[1], m[2]): m[0].split() for m in re.finditer(r"^ +(\d+) ([rt]x\d+) .*$", text, re.M)}


def check_queues(text, client):
    """Packets and bytes are those of telemetry."""
    found = rows(text)
    for port in (0, 1):
        for name, queue in client.query(f"/mlxpmd/queues,{port}").items():
            row = found[(str(port), name)]
            check(row[2] == queue["state"] and row[6:8] == [str(queue["packets"]), str(queue["bytes"])],
                  f"{row}: {queue}")
    check(len(found) == 8 and sum(int(row[6]) for row in found.values()) > 0, found)


def shows_clock(text, client, port):
    clock = client.query(f"/mlxpmd/clock,{port}")
    return re.search(rf"^ +{port} {clock['quality']} +{clock['source']} +[+-]\d+ +[+-][\d.]+ +\d+ ", text, re.M)


def values(primary, client):
    """Totals, drops and clock are what telemetry reports; rates are those of the counters."""
    pmdlib.circulate(primary, 1, 2000, WAIT_S)
    # Without a reader of the queues, those frames are missed that exceed the ring.
    primary.ctl("inject", "port=0", "frames=2000")
    e2e.testlib.await_until(lambda: client.query("/mlxpmd/stats,0")["missed"] > 0, WAIT_S)
    text = run("--batch", "-n", "1", "--delay", "0.1")
    check_queues(text, client)
    missed = client.query("/mlxpmd/stats,0")["missed"]
    check(re.search(rf"^   0 device   missed +0 +{missed}$", text, re.M) and missed > 0, text)
    # By the driver's account: the frames for which there was no buffer.
    account = run("--batch", "-n", "1", "--delay", "0.1", "--drops", "--port", "0")
    lost = client.query("/mlxpmd/drops,0")["rx"]["no_buffer"]["packets"]
    check(re.search(rf"^   0 rx       no_buffer +0 +{lost}$", account, re.M) and lost >= missed, f"{lost}\n{account}")
    for port in (0, 1):
        # The quality may change between the screen and the query.
        check(e2e.testlib.await_until(
            lambda port=port: shows_clock(run("--batch", "-n", "1", "--delay", "0.1"), client, port), WAIT_S), text)
        check(re.search(rf"^ +{port} clock +mlxpmd-ctrl +\d+ +\d+ ", text, re.M), text)
    primary.cmd("set fwd io")
    primary.cmd("start tx_first 2")
    last = rows(run("--batch", "-n", "2", "--delay", "0.5").split("\n\n" + pmdlib.PREFIX)[1])
    primary.cmd("stop")
    moving = [row for row in last.values() if int(row[3]) > 0]
    check(moving, last)
    for row in moving:
        pps, bps, size = map(int, row[3:6])
        check(size == 64 and abs(bps - pps * 64 * 8) <= 64 * 8, row)


def keys(terminal):
    """Every key, a resize, and scrolling."""
    terminal.shell(" ".join([*TOP, "--delay", "0.2"]), "^PORT INTERRUPTS")
    for key in ("h", "?"):
        terminal.until(r"^ *q, Ctrl-C +quit", key)
        terminal.until(f"^{pmdlib.PREFIX}: dpdk-testpmd, process", "x")
    both, one = r"^ +1 rx0 ", r"; port {}, queues by"
    terminal.until(one.format(0), "n")
    check(not re.search(both, terminal.text(), re.M), "port 1 is shown, too")
    terminal.until(one.format(1), "n")
    terminal.until(both, "N", "N")
    terminal.until(one.format(1), "N")
    terminal.until(r"; all ports, queues by queue", "a")
    for name in ("pps", "packets", "errors", "queue"):
        text = terminal.until(f"queues by {name}", "s")
        packets = [int(row[6]) for row in rows(text).values()]
        check(name != "packets" or packets == sorted(packets, reverse=True), text)
    terminal.until(r"every 0\.4 s", "+")
    terminal.until(r"every 0\.2 s", "-")
    terminal.until(r"^   0 device   missed", "a")
    terminal.until(r"^   0 rx       no_buffer", "d")
    terminal.until(r"^   0 device   missed", "d")
    terminal.until(r"; PAUSED$", "p")
    at = re.search(r"^ +0 queue_watch.*$", terminal.text(), re.M)[0]
    terminal.until(r"^\S+: .* s; \d\d:\d\d:\d\d$", "Space")
    e2e.testlib.await_until(lambda: at not in terminal.text(), WAIT_S)
    for key, heading in zip("12345", ("PORT LINK", "PORT QUEUE", "PORT WHERE", "PORT CLOCK", "PORT INTERRUPTS")):
        hidden = e2e.testlib.await_until(lambda h=heading, k=key: h not in terminal.until(".", k), WAIT_S, 0.5)
        check(hidden, f"{heading} is still shown")
        terminal.until(f"^{heading}", key)
    terminal("resize-window", "-x", "60", "-y", "12")
    check(max(map(len, terminal.until("^PORT QUEUE", "Home").split("\n"))) <= 60, "wider than the terminal")
    terminal.until("^ +1 counters", "End")
    terminal.until("^PORT LINK", "Home")
    terminal.until("^PORT QUEUE  STATE", "Down", "Down", "NPage", "PPage", "Up", "Up")
    terminal("resize-window", "-x", str(COLUMNS), "-y", str(ROWS))
    terminal.until("^PORT INTERRUPTS")


def ends(terminal, before):
    """q, Ctrl-C and a signal end it; the terminal is as it was."""
    for how in ("q", "C-c", "kill"):
        terminal.shell("clear; echo before; " + " ".join(TOP) + "; echo status=$?", "^PORT CLOCK")
        if how == "kill":
            pid = [p.name for p in pathlib.Path("/proc").glob("[0-9]*")
                   if f"top\0--file-prefix\0{pmdlib.PREFIX}\0".encode() in cmdline(p)]
            check(len(pid) == 1, pid)
            os.kill(int(pid[0]), signal.SIGTERM)
        text = terminal.until("^status=0", *([how] if how != "kill" else []))
        check("before" in text and "PORT" not in text, f"{how}: the screen is not restored\n{text}")
        check(terminal.stty() == before, f"{how}: the terminal's settings have changed")


def cmdline(process):
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def program_ends(terminal, primary, client):
    """A program that hangs, ends and returns is noticed."""
    pid = client.hello["pid"]
    terminal.shell(" ".join([*TOP, "--delay", "0.2"]), f"process {pid}, ")
    os.kill(pid, signal.SIGSTOP)
    terminal.until(r"^[\d:]+: the program does not answer; the last")
    os.kill(pid, signal.SIGCONT)
    terminal.until(r"^[\d:]+: the program answers again")
    with subprocess.Popen([*TOP, "--batch", "--delay", "0.2"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as batch:
        batch.stdout.readline()
        client.sock.close()
        primary.quit()
        out = batch.stdout.read()
        check(batch.wait(WAIT_S) == 1 and "top: the program has ended" in out, out)
    # Of the last moment: the ports may be stopped, without queues.
    text = terminal.until(r"^[\d:]+: the program has ended; the last values:")
    check(re.search(r"^ +0 .* mlxemu0np0 ", text, re.M), text)
    run("--batch", status=2)
    with testpmd() as other:
        new = telemetry_client.Client()
        terminal.until(f"^[\\d:]+: the program has returned, as process {new.hello['pid']}$")
        other.quit()
    terminal.until("^prompt> ?$", "q")


def mistakes():
    """Wrong options, and what cannot be shown."""
    text = run("--list")
    check(re.search(rf"^{pmdlib.PREFIX} +\d+ 2$", text, re.M), text)
    for args, message in ((("--port", "x"), "--port: bad value 'x'"), (("--sort", "x"), "allowed: queue pps"),
                          (("--delay", "0"), "0.1 to 60"), (("-n", "1"), "--count needs --batch"),
                          (("word",), "unknown argument 'word'"), (("--file-prefix", "no"), "no program with"),
                          (("--runtime-dir", "/nonexistent"), "no program with"), ((), "not on a terminal")):
        text = run(*args, status=2)
        check(message in text, f"{args}: {text}")
    check("the program has no port 7 of mlxpmd" in run("--port", "7", "--batch", "-n1", "--delay", "0.1"), "port 7")
    check("Usage: dpdk-test-mlx top" in run("--help"), "help")


def test():
    if not shutil.which("tmux"):
        e2e.skip("tmux is not installed")
    with tempfile.TemporaryDirectory(prefix="mlxpmd-top.") as folder, Terminal(folder) as terminal:
        before = terminal.stty()
        with testpmd() as primary:
            client = telemetry_client.Client()
            mistakes()
            values(primary, client)
            keys(terminal)
            terminal.until("^prompt> ?$", "q")
            ends(terminal, before)
            program_ends(terminal, primary, client)


e2e.main(test)
