# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""mlxpmd-exporter on testpmd's ports, read by a client, by promtool and by a Prometheus.

Usage: exporter.py EXPORTER
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pmd"))
import pmdlib  # noqa: E402
import telemetry_client  # noqa: E402
from pmdlib import check, e2e  # noqa: E402
from e2e import testlib  # noqa: E402

EXPORTER = pathlib.Path(sys.argv[1]).resolve()
TOOLS = EXPORTER.parent
RULES = TOOLS / "prometheus"
WAIT_S = 30
# A sample of the text format: name, labels, value.
SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$", re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')
ENV = {**os.environ, "PYTHONUNBUFFERED": "1"}


def samples(text):
    """Values by name and labels."""
    return {(name, frozenset(LABEL.findall(labels))): float(value) for name, labels, value in SAMPLE.findall(text)}


def of(found, name, **labels):
    """The value of the only sample with this name and these labels."""
    wanted = {(key, str(value)) for key, value in labels.items()}
    values = [value for (n, have), value in found.items() if n == name and wanted <= have]
    check(len(values) == 1, f"{name} {labels}: {values}")
    return values[0]


def once(*args, expect=0):
    done = subprocess.run([sys.executable, str(EXPORTER), "--once", *args], text=True, capture_output=True,
                          timeout=WAIT_S, env=ENV, check=False)
    check(done.returncode == expect, f"{args}: {done.returncode}\n{done.stdout[-500:]}{done.stderr}")
    return done.stdout, done.stderr


@contextlib.contextmanager
def exporter(*args):
    """A running exporter; its address. Ended by SIGTERM, which is no error."""
    with subprocess.Popen([sys.executable, str(EXPORTER), "--file-prefix", pmdlib.PREFIX, *args], text=True, env=ENV,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            line = process.stdout.readline()
            check(" programs in " in line, line + process.stdout.read() if process.poll() else line)
            yield line.split()[1].rstrip(",")
        finally:
            process.send_signal(signal.SIGTERM)
            check(process.wait(WAIT_S) == 0, f"exporter: {process.returncode}: {process.stdout.read()}")


def get(url, context=None):
    with urllib.request.urlopen(url, timeout=WAIT_S, context=context) as answer:
        return answer.read().decode()


def check_values(text, testpmd):
    """The samples are what the program's own interfaces say."""
    found = samples(text)
    for port in (0, 1):
        stats, xstats = testpmd.stats(port), testpmd.xstats(port)
        labels = {"prefix": pmdlib.PREFIX, "port": port}
        for direction, name in (("rx", "RX"), ("tx", "TX")):
            for metric, key in (("packets", "packets"), ("bytes", "bytes")):
                queues = [of(found, f"mlxpmd_queue_{metric}_total", direction=direction, queue=q, **labels)
                          for q in (0, 1)]
                check(sum(queues) == stats[f"{name}-{key}"] != 0, f"{port} {direction} {metric}: {queues} {stats}")
        check(of(found, "mlxpmd_rx_phy_packets_total", **labels) == xstats["rx_phy_packets"], xstats)
        check(of(found, "mlxpmd_tx_unicast_bytes_total", **labels) == xstats["tx_unicast_bytes"], xstats)
        check(of(found, "mlxpmd_rx_missed_packets_total", **labels) == stats["RX-missed"], stats)
        check(of(found, "mlxpmd_port_started", **labels) == 1, "started")
        check(of(found, "mlxpmd_link_up", **labels) == 1, "link")
        check(of(found, "mlxpmd_link_speed_bytes_per_second", **labels) == 100e9 / 8, "speed")
        check(of(found, "mlxpmd_port_info", pci=e2e.PCI[port], **labels) == 1, "info")
        qualities = [value for (name, have), value in found.items()
                     if name == "mlxpmd_clock_quality" and ("port", str(port)) in have]
        check(sorted(qualities) == [0, 0, 0, 1], qualities)
        check(of(found, "mlxpmd_queue_state", mlxpmd_queue_state="ready", direction="rx", queue=1, **labels) == 1,
              "state")
        for direction, name in (("rx", "RX"), ("tx", "TX")):
            check(of(found, "mlxpmd_drops_packets_total", direction=direction, place="application", **labels) >=
                  stats[f"{name}-packets"] != 0, f"{port} {direction} drops: {stats}")
            check(of(found, "mlxpmd_drops_now_packets", direction=direction, place="unexplained", **labels) == 0,
                  f"{port} {direction} unexplained")
        lost = {**labels, "is": "lost"}
        check(of(found, "mlxpmd_drops_packets_total", place="crc_errors", **lost) == 0, "crc_errors")
        check(of(found, "mlxpmd_flows", **labels) == 0, "flows")
        check(of(found, "mlxpmd_task_runs_total", task="clock", **labels) > 0, "tasks")
    check(of(found, "mlxpmd_up", prefix=pmdlib.PREFIX) == 1, "up")


def check_promtool(text):
    """Names and types are as Prometheus wants them."""
    done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    # A state set's sample has the label that OpenMetrics demands; nothing else may be reported.
    check(done.returncode == 0, done.stdout + done.stderr)


def check_rules():
    for args in (["check", "rules", str(RULES / "mlxpmd-alerts.yaml")],
                 ["test", "rules", str(RULES / "mlxpmd-alerts-test.yaml")]):
        done = subprocess.run(["promtool", *args], text=True, capture_output=True, check=False)
        check(done.returncode == 0, done.stdout + done.stderr)
        print(done.stdout.strip())


def expressions():
    """The expressions of the board, for all programs and ports."""
    board = json.loads((TOOLS / "grafana/mlxpmd.json").read_text(encoding="utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    check(len(found) > 20, found)
    for name, value in (("$prefix", ".*"), ("$port", ".*"), ("$__rate_interval", "1m")):
        found = [expr.replace(name, value) for expr in found]
    check(not any("$" in expr for expr in found), found)
    return found


def check_prometheus(address, folder):
    """A Prometheus scrapes the exporter: each expression of the board has a result in it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "prometheus.yml"
    config.write_text(f"""global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{RULES / 'mlxpmd-alerts.yaml'}]
scrape_configs:
  - job_name: mlxpmd
    static_configs: [{{targets: ['{urllib.parse.urlsplit(address).netloc}']}}]
""", encoding="utf-8")
    url = f"http://127.0.0.1:{port}/api/v1"

    def query(expr):
        answer = json.loads(get(f"{url}/query?{urllib.parse.urlencode({'query': expr})}"))
        check(answer["status"] == "success", f"{expr}: {answer}")
        return answer["data"]["result"]

    def scraped():
        try:
            return len(query("count_over_time(mlxpmd_up[1m]) > 2")) == 1
        except (OSError, urllib.error.URLError):
            return False

    with open(folder / "prometheus.log", "w", encoding="utf-8") as log, \
            subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
                              f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log) as process:
        try:
            check(testlib.await_until(scraped, WAIT_S), (folder / "prometheus.log").read_text(encoding="utf-8"))
            empty = [expr for expr in expressions() if not query(expr)]
            check(not empty, f"no result: {empty}")
            alerts = json.loads(get(f"{url}/rules"))["data"]["groups"][0]["rules"]
            check(len(alerts) >= 10 and all(rule["health"] == "ok" for rule in alerts), alerts)
            check(not any(rule["alerts"] for rule in alerts), [rule for rule in alerts if rule["alerts"]])
            print(f"{len(expressions())} expressions of the board have results, {len(alerts)} alerts are silent")
        finally:
            process.terminate()


def check_tls(folder):
    """Over TLS, and only for a client with a certificate."""
    for name in ("server", "client"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
                       check=True, capture_output=True)
    client = ssl.create_default_context(cafile=folder / "server.pem")
    with exporter("--listen", "127.0.0.1:0", "--tls-cert", str(folder / "server.pem"), "--tls-key",
                  str(folder / "server.key"), "--tls-client-ca", str(folder / "client.pem")) as address:
        check(address.startswith("https://127.0.0.1:"), address)
        try:
            get(address, client)
            check(False, "a client without certificate is served")
        except (urllib.error.URLError, OSError):
            pass
        client.load_cert_chain(folder / "client.pem", folder / "client.key")
        check("mlxpmd_up" in get(address, client), "no metrics over TLS")


def check_hanging(testpmd):
    """A stopped program is down, within the time that is stated, and the others are up."""
    pid = telemetry_client.Client().hello["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        text, errors = once("--file-prefix", pmdlib.PREFIX, "--timeout", "0.5")
    finally:
        os.kill(pid, signal.SIGCONT)
    found = samples(text)
    check(of(found, "mlxpmd_up", prefix=pmdlib.PREFIX) == 0, text)
    check(of(found, "mlxpmd_answer_seconds", prefix=pmdlib.PREFIX) < 10, text)
    check("timed out" in errors, errors)


def check_mistakes(folder):
    """One clear line each."""
    for args, expect, words in (
            (("--listen", "9917"), 2, "is not ADDRESS:PORT"), (("--timeout", "0"), 2, "positive"),
            (("--tls-key", "x"), 2, "need --tls-cert"), (("--runtime-dir", str(folder)), 1, "no DPDK program")):
        check(words in once(*args, expect=expect)[1], (args, words))
    command = [sys.executable, str(EXPORTER), "--listen", "127.0.0.1:0", "--tls-cert", str(folder / "none.pem")]
    done = subprocess.run(command, text=True, capture_output=True, timeout=WAIT_S, env=ENV, check=False)
    check(done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr)


def run():
    if not shutil.which("promtool"):
        e2e.skip("promtool is missing: apt install prometheus")
    check_rules()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_mistakes(folder)
        with pmdlib.Testpmd(args=["--rxq=2", "--txq=2"], eal_args=pmdlib.eal(telemetry=True)) as testpmd:
            pmdlib.circulate(testpmd, 8, 20000, 60)
            for port in (0, 1):
                testpmd.xstats(port)  # Counters of the device may be older than the traffic until then.
            with exporter("--listen", "127.0.0.1:0", "--drops") as address:
                text = get(address)
                check_values(text, testpmd)
                check_promtool(text)
                check("/metrics" in get(address.replace("/metrics", "/")), "no first page")
                check_prometheus(address, folder)
            check_tls(folder)
            check_hanging(testpmd)
            testpmd.quit()


e2e.main(run)
