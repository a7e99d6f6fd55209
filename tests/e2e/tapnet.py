# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Two network namespaces with TAP devices, connected by two emulated ports that forward."""
import json
import os
import pathlib
import signal
import subprocess

from scapy.utils import RawPcapReader

import e2e


def ip(*args):
    subprocess.run(["ip", *args], check=True)


def inside(name):
    """The prefix of a command in a namespace. `ip -n` remounts /sys, which a chroot does not permit."""
    return ["nsenter", f"--net=/run/netns/{name}"]


def run_inside(name, *command):
    subprocess.run([*inside(name), *command], check=True)


def permitted():
    """Are network namespaces and TAP devices permitted?"""
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        return False
    probe = f"mlxe{os.getpid()}p"
    if subprocess.run(["ip", "netns", "add", probe], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        return False
    done = subprocess.run([*inside(probe), "ip", "tuntap", "add", "dev", "probe", "mode", "tap"],
                          stderr=subprocess.DEVNULL, check=False)
    ip("netns", "del", probe)
    return done.returncode == 0


def wait_for(what, condition, seconds=20):
    e2e.check(e2e.testlib.await_until(condition, seconds, pause=0.1), f"{what}: not within {seconds} s")


class TapNet:
    """with TapNet(work) as net: net.run(side, command...), net.capture(side), net.stop()

    program: another one than dpdk-test-mlx, with its arguments; it forwards when a ping is answered, and ends on
    "quit". mtu: of the TAP devices. The devices' addresses are in macs.
    """

    def __init__(self, work, app_args=("--fwd", "io", "--promisc"), program=None, mtu=1500):
        self.work = pathlib.Path(work)
        pid = os.getpid()
        self.sides = [(f"mlxe{pid}a", "mlxe2e0", "198.18.0.1"),
                      (f"mlxe{pid}b", "mlxe2e1", "198.18.0.2")]
        self.program = program or [str(e2e.TEST_MLX), *e2e.eal(), "--", *app_args]
        self.log_shows, self.mtu = program is None, mtu
        self.macs = [f"02:00:00:00:aa:{n:02x}" for n in (0, 1)]
        self.app = None
        self.dumps = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [self.app, *self.dumps]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        for side in self.sides:
            subprocess.run(["ip", "netns", "del", side[0]], stderr=subprocess.DEVNULL, check=False)

    def _start(self):
        for name, _, _ in self.sides:
            ip("netns", "add", name)
            # No router solicitations: only the packets of the test are captured.
            subprocess.run([*inside(name), "sh", "-c",
                            "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6"], check=False)
        wires = [word for n, (name, link, _) in enumerate(self.sides)
                 for word in ("--wire", f"{n}=tap:{link}@{name}")]
        with open(self.work / "log", "wb") as log:
            self.app = subprocess.Popen(
                [str(e2e.MLXEMU), "run", "--ports", "2", "--audit", "--report",
                 str(self.work / "report"), *wires, "--", *self.program],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.PIPE)
        for (name, link, address), mac in zip(self.sides, self.macs):
            show = [*inside(name), "ip", "link", "show", link]
            wait_for(f"TAP {link}", lambda show=show: subprocess.run(
                show, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False).returncode == 0)
            run_inside(name, "ip", "addr", "add", address + "/24", "dev", link)
            run_inside(name, "ip", "link", "set", link, "address", mac, "mtu", str(self.mtu), "up")
        ping = [*inside(self.sides[0][0]), "ping", "-c1", "-W1", self.sides[1][2]]
        wait_for("forwarding", (lambda: "forwarding started" in self.log()) if self.log_shows else
                 lambda: subprocess.run(ping, stdout=subprocess.DEVNULL, check=False).returncode == 0)

    def log(self):
        return (self.work / "log").read_text(errors="replace")

    def run(self, side, *command, **kwargs):
        return subprocess.Popen([*inside(self.sides[side][0]), *command], **kwargs)

    def capture(self):
        """Start captures on both sides, into side0.pcap and side1.pcap."""
        for n, (_, link, _) in enumerate(self.sides):
            log = self.work / f"tcpdump{n}"
            with open(log, "w", encoding="utf-8") as file:
                self.dumps.append(self.run(n, "tcpdump", "-i", link, "-w", str(self.work / f"side{n}.pcap"),
                                           "-B", "65536", "-U", stderr=file))
            wait_for(f"tcpdump on {link}", lambda log=log: "listening on" in log.read_text())

    def tcp(self, seconds, rate):
        """A TCP transfer from side 0 to 1; returns the report of iperf3."""
        server = self.run(1, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
        listening = [*inside(self.sides[1][0]), "ss", "-Hltn", "sport = :5201"]
        wait_for("iperf3 server", lambda: subprocess.run(listening, stdout=subprocess.PIPE, check=True).stdout)
        client = self.run(0, "iperf3", "-c", self.sides[1][2], "-t", str(seconds), "-b", rate,
                          "-i", "1", "-J", stdout=subprocess.PIPE)
        out, _ = client.communicate(timeout=seconds + 30)
        server.wait(timeout=10)
        result = json.loads(out)
        e2e.check("error" not in result, f"iperf3: {result.get('error')}")
        return result

    def captured_tcp(self, seconds, rate):
        """A TCP transfer as of tcp() that does not stall, captured on both sides; ends the application."""
        self.capture()
        result = self.tcp(seconds, rate)
        self.stop()
        stalls = [i for i in result["intervals"] if i["sum"]["bytes"] == 0]
        e2e.check(not stalls, f"{len(stalls)} seconds without progress")
        received = result["end"]["sum_received"]
        print(f"TCP: {received['bytes']} bytes in {received['seconds']:.1f} s")

    def stop(self):
        """Stop captures and application; checks exit code and audit, returns the report."""
        captures = [self.work / f"side{n}.pcap" for n in range(len(self.dumps))]
        e2e.testlib.await_progress(lambda: [path.stat().st_size for path in captures], lambda _: False, quiet=1,
                                   seconds=20)
        for dump in self.dumps:
            dump.send_signal(signal.SIGINT)
            dump.wait(timeout=20)
        if self.log_shows:
            self.app.send_signal(signal.SIGINT)
        else:
            self.app.stdin.write(b"quit\n")
            self.app.stdin.flush()
        status = self.app.wait(timeout=20)
        e2e.check(status == 0, f"the application ended with {status}\n{self.log()[-3000:]}")
        report = e2e.Report(self.work / "report")
        e2e.check(report.get("audit") == "clean", f"audit\n{report.text}")
        return report

    def frames(self, captured_at, sent_by):
        """The IPv4 frames in a side's capture with the source address of a side, in order."""
        sender = bytes(map(int, self.sides[sent_by][2].split(".")))
        return [bytes(data) for data, _ in RawPcapReader(str(self.work / f"side{captured_at}.pcap"))
                if data[12:14] == b"\x08\x00" and data[26:30] == sender]
