# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Telemetry: the replies of /mlxpmd/*, and that invalid parameters are refused."""
import json
import random
import time

import pmdlib
from e2e import check, main, testlib
from telemetry_client import Client

BAD = ["", ",", ",x", ",0x0", ",-1", ",+0", ", 0", ",0 ", ",0,1", ",00000000000000000000000000001x",
       ",2", ",31", ",32", ",65536", ",4294967296", ",18446744073709551616", "," + "9" * 500,
       ",%s%n", ",\xff"]

# Clocks of the emulated cards: ConnectX-5, ConnectX-4 Lx and ConnectX-6 Dx, ConnectX-7.
FREQUENCIES_HZ = (78125000, 156250000, 312500000)


def check_info(client, port):
    info = client.query(f"/mlxpmd/info,{port}")
    check(info["port"] == port, info)
    check(info["pci"] == f"0000:c1:00.{port}", info)
    check(info["device"] == f"mlx5_{port}", info)
    check(info["firmware"].count(".") == 2, info)
    check(info["started"] == 1, info)
    check(info["commands_refused"] == 0, info)
    check(info["timestamp_unit"] == "ns", info)
    check(info["devargs"] == {"rx_burst": "scalar", "tx_burst": "auto", "clock": "auto", "rxq_cqe_comp_en": 1,
                               "stats_age_ms": 100, "txq_inline_mpw": 0, "txq_inline_max": 0,
                               "txqs_min_inline": 8, "open": "verbs", "doorbell": "auto", "mprq_en": 0,
                               "mprq_log_stride_num": 0, "mprq_log_stride_size": 0,
                               "mprq_max_memcpy_len": 128, "rxqs_min_mprq": 12, "lro_timeout_usec": 0,
                               "recorder": "on"}, info)
    for direction in ("rx_burst", "tx_burst"):
        check(info[direction]["name"] not in ("", "none") and info[direction]["why"], info)
    check(info["rx_compression"] == {"name": "hash",
                                      "why": "format of rxq_cqe_comp_en: nothing needs whole completions"}, info)
    capabilities = info["capabilities"]
    check(capabilities["checksum"] == 1 and capabilities["device_frequency_khz"] > 0, info)
    return info


def check_queues(client, port):
    queues = client.query(f"/mlxpmd/queues,{port}")
    print(json.dumps(queues, indent=1))
    check(sorted(queues) == ["rx0", "tx0"], queues)
    for queue in queues.values():
        check(queue["state"] == "ready" and queue["resets"] == 0, queues)
        check(queue["completions_refused"] == 0 and queue["last_syndrome"] == "none", queues)
    check(queues["tx0"]["inline_mpw"] == queues["tx0"]["inline_max"] == 0, queues)
    check(queues["tx0"]["inline_why"] == "txq_inline_mpw and txq_inline_max are 0", queues)


def check_many():
    """A reply has 16 queues of each kind."""
    with pmdlib.Testpmd(args=["--rxq=20", "--txq=20"], eal_args=pmdlib.eal(telemetry=True)) as testpmd:
        client = Client()
        first, rest = client.query("/mlxpmd/queues,0"), client.query("/mlxpmd/queues,0,16")
        check(set(first) == {f"{d}{n}" for d in ("rx", "tx") for n in range(16)} | {"next"}, sorted(first))
        check(first["next"] == 16, first["next"])
        check(set(rest) == {f"{d}{n}" for d in ("rx", "tx") for n in range(16, 20)}, sorted(rest))
        testpmd.quit()


def check_stats(client, testpmd, port):
    """Device counters, their ages and the figures of their queries."""
    testpmd.xstats(port)
    stats = client.query(f"/mlxpmd/stats,{port}")
    print(json.dumps(stats, indent=1))
    check(stats["stats_age_ms"] == 100 and stats["missed_by"] == "asynchronous query", stats)
    check(stats["missed"] == 0 and stats["missed_readings"] > 0, stats)
    check(stats["counters_readings"] > 0 and stats["unanswered"] <= 1, stats)
    check(stats["missed_failures"] == stats["counters_failures"] == 0, stats)
    check(stats["missed_age_us"] < 60e6 and stats["counters_age_us"] < 60e6, stats)
    check(stats["counters"]["rx_unicast_packets"] == 0, stats)


def check_ages(client, port):
    """A client that reads repeatedly gets values that are at most stats_age_ms old."""
    young, rounds = 0, 6
    for _ in range(rounds):
        testlib.pass_time(0.25, "the values must be refreshed")
        stats = client.query(f"/mlxpmd/stats,{port}")
        young += max(stats["missed_age_us"], stats["counters_age_us"]) <= 1000 * stats["stats_age_ms"]
    print(f"{young} of {rounds} replies at most stats_age_ms old")
    check(young > 0, stats)


def check_slow(client, testpmd, port):
    """Each firmware command takes half a second: telemetry does not wait for one."""
    waits = []
    testpmd.ctl("fault", "add", f"on cmd.entry match port={port} do delay us=500000")
    check(testlib.await_until(lambda: testpmd.ctl("fault.list")["rules"][0]["hits"] > 0, 20), "no command is delayed")
    for _ in range(60):
        for command in ("/ethdev/stats", "/ethdev/xstats", "/mlxpmd/stats"):
            begin = time.monotonic()
            answer = client.query(f"{command},{port}")
            waits.append(time.monotonic() - begin)
            check(answer, command)
        testlib.pass_time(0.01, "the queries must spread over more than one delayed command")
    stats = client.query(f"/mlxpmd/stats,{port}")
    testpmd.ctl("fault.clear")
    waits.sort()
    print(f"{len(waits)} replies while a command takes 500 ms: median {1000 * waits[len(waits) // 2]:.2f} ms, "
          f"longest {1000 * waits[-1]:.1f} ms")
    # A busy machine may delay a tenth of the replies.
    check(waits[len(waits) * 9 // 10] < 0.25, waits)
    check(stats["counters_age_us"] > 1000 * stats["stats_age_ms"], stats)


def check_tasks(client, port):
    """Names, threads and figures of the scheduled tasks."""
    tasks = client.query(f"/mlxpmd/tasks,{port}")
    print(json.dumps(tasks, indent=1))
    worker = f"mlxpmd-{port}"
    check({name: task["thread"] for name, task in tasks.items()} == {
        "imissed": "mlxpmd-ctrl", "clock": "mlxpmd-ctrl", "notify": "mlxpmd-ctrl", "events": "mlxpmd-ctrl",
        "interface": "mlxpmd-ctrl", "queue_watch": "mlxpmd-ctrl", "imissed_wait": worker, "counters": worker,
        "link": worker, "queue_repair": worker, "flow_age": worker, "health": worker}, tasks)
    for task in tasks.values():
        check(sorted(task) == ["due_in_us", "last_ns", "late_max_us", "max_ns", "mean_ns", "period_us", "runs",
                               "thread"], task)
        check(task["last_ns"] <= task["max_ns"] and task["mean_ns"] <= task["max_ns"], task)
        check(task["due_in_us"] == "never" or task["due_in_us"] <= task["period_us"], task)
    check(tasks["interface"]["period_us"] == 1000000 and tasks["queue_watch"]["period_us"] == 2000, tasks)
    for name in ("clock", "queue_watch", "imissed", "counters"):
        check(tasks[name]["runs"] > 0 and tasks[name]["period_us"] > 0 and tasks[name]["max_ns"] > 0, tasks[name])
    for name in ("queue_repair", "imissed_wait", "flow_age"):
        check(tasks[name]["runs"] == 0 and tasks[name]["due_in_us"] == "never", tasks[name])
    for name in ("clock", "queue_watch"):
        check(testlib.await_until(lambda name=name: client.query(f"/mlxpmd/tasks,{port}")[name]["runs"] >
                                  tasks[name]["runs"], 10), client.query(f"/mlxpmd/tasks,{port}"))


def check_clock(client, port):
    """What the last refresh found."""
    # On a busy machine the first readings may be outliers: until one is accepted there are no timestamps.
    testlib.await_until(lambda: client.query(f"/mlxpmd/clock,{port}")["refreshes"] > 0, 10)
    clock = client.query(f"/mlxpmd/clock,{port}")
    print(json.dumps(clock, indent=1))
    check(clock["port"] == port and clock["source"] == "host" and clock["unit"] == "ns", clock)
    check(clock["quality"] in ("good", "holdover", "unsynced") and clock["epoch"] == "host realtime", clock)
    check(any(abs(clock["frequency_hz"] / hz - 1) < 0.05 for hz in FREQUENCIES_HZ), clock)
    check(clock["attempts"] > 0 and clock["refreshes"] > 0 and 0 < clock["refresh_us"] <= 100000, clock)
    check(float(clock["drift_ppm"]) < 10000 and clock["failed"] == clock["steps"] == 0, clock)


def check_flows(client, testpmd):
    """What flows match and do, and what they counted."""
    check(client.query("/mlxpmd/flows,0") == {"flows": 0, "groups": 0, "isolated": 0, "applied": 1},
          client.query("/mlxpmd/flows,0"))
    for command in ("flow create 0 ingress priority 2 pattern eth / ipv4 dst is 192.0.2.1 / udp dst is 4660 / end "
                    "actions count / mark id 7 / jump group 5 / end",
                    "flow create 0 ingress group 5 pattern eth / end actions queue index 0 / end"):
        output = testpmd.cmd(command)
        check("created" in output, output)
    flows = client.query("/mlxpmd/flows,0")
    print(json.dumps(flows, indent=1))
    check((flows["flows"], flows["groups"]) == (2, 1), flows)
    first, second = flows["0"], flows["1"]
    check(first["match"] == {"outer_headers/ip_protocol": "0x11/0xff", "outer_headers/ip_version": "0x4/0xf",
                             "outer_headers/udp_dport": "0x1234/0xffff",
                             "outer_headers/dst_ipv4_dst_ipv6/dword_3_": "0xc0000201/0xffffffff"}, first)
    check((first["group"], first["priority"], first["action"], first["tag"]) == (0, 2, "jump 5", 8), first)
    check((first["packets"], first["bytes"]) == (0, 0), first)
    check(second == {"egress": 0, "group": 5, "priority": 0, "match": {}, "action": "queues 0", "tag": 0}, second)
    check(client.query("/mlxpmd/flows,0,1") == {key: flows[key] for key in flows if key != "0"}, flows)
    for n in range(2, 35):
        testpmd.cmd(f"flow create 0 ingress group 5 priority {n} pattern eth / end actions queue index 0 / end")
    seen = [client.query(f"/mlxpmd/flows,0,{n}") for n in (0, 16, 32, 35)]
    shown = [[int(key) for key in reply if key.isdigit()] for reply in seen]
    check(shown == [list(range(16)), list(range(16, 32)), [32, 33, 34], []], shown)
    check([reply.get("next") for reply in seen] == [16, 32, None, None], seen)
    check(all(reply["flows"] == 35 for reply in seen) and seen[2]["34"]["priority"] == 34, seen)
    testpmd.cmd("flow flush 0")
    check(client.query("/mlxpmd/flows,0")["flows"] == 0, client.query("/mlxpmd/flows,0"))


def check_inline():
    """Tx queues report their limits of inline data, and why there is none."""
    headers = "the device requires inline headers"
    for profile, devargs, mpw, send, why in (
            ("cx6dx", "txq_inline_mpw=128", 0, 0, "fewer Tx queues than txqs_min_inline"),
            ("cx6dx", "txq_inline_mpw=128,txqs_min_inline=1", 128, 0, "selected by devargs"),
            ("cx4lx", "txq_inline_mpw=128,txqs_min_inline=1", 0, 0, headers + " and txq_inline_max is 0"),
            ("cx4lx", "txq_inline_mpw=128,txq_inline_max=90,txqs_min_inline=1", 0, 90,
             "selected by devargs; " + headers)):
        with pmdlib.Testpmd(eal_args=pmdlib.eal(devargs, telemetry=True), emu_args=["--profile", profile]) as testpmd:
            client = Client()
            queue = client.query("/mlxpmd/queues,0")["tx0"]
            check((queue["inline_mpw"], queue["inline_max"], queue["inline_why"]) == (mpw, send, why), queue)
            burst = client.query("/mlxpmd/info,0")["tx_burst"]
            check(("Inline-data" in burst["name"]) == (mpw != 0), burst)
            testpmd.quit()


def run():
    args = pmdlib.eal("rx_burst=scalar", telemetry=True)
    with pmdlib.Testpmd(eal_args=args) as testpmd:
        client = Client()
        commands = client.query("/")
        for name in ("/mlxpmd/list", "/mlxpmd/info", "/mlxpmd/queues", "/mlxpmd/clock",
                     "/mlxpmd/stats", "/mlxpmd/tasks", "/mlxpmd/flows", "/mlxpmd/drops"):
            check(name in commands, f"{name} is not listed")
            check(client.raw(f"/help,{name}")["/help"], f"{name} has no help")
        check(client.query("/mlxpmd/list") == [0, 1], client.query("/mlxpmd/list"))
        for port in (0, 1):
            print(json.dumps(check_info(client, port), indent=1))
        check_queues(client, 0)
        check_clock(client, 0)
        check_tasks(client, 0)
        check_flows(client, testpmd)
        check_stats(client, testpmd, 1)
        check_ages(client, 1)
        check_slow(client, testpmd, 1)
        for bad in BAD:
            for command in ("/mlxpmd/info", "/mlxpmd/queues", "/mlxpmd/clock", "/mlxpmd/stats",
                            "/mlxpmd/tasks", "/mlxpmd/flows", "/mlxpmd/drops"):
                # The second number of these is a queue or flow.
                if command in ("/mlxpmd/queues", "/mlxpmd/flows") and bad == ",0,1":
                    continue
                answer = client.query(command + bad)
                check(answer is None, f"{command}{bad}: {answer}")
        for bad in (",0,", ",0,1024", ",0,x", ",0,0,0", ",0,-1"):
            check(client.query("/mlxpmd/queues" + bad) is None, bad)
            check(client.query("/mlxpmd/flows" + bad.replace("1024", "4294967296")) is None, bad)
        check(client.query("/mlxpmd/list,0") is None, "/mlxpmd/list takes no parameter")
        rng = random.Random(1)
        for _ in range(2000):
            bad = "".join(rng.choice("0123456789,x- %\x7f") for _ in range(rng.randint(1, 40)))
            answer = client.query("/mlxpmd/info," + bad)
            check(answer is None or bad.lstrip("0") in ("", "1"), f"/mlxpmd/info,{bad}: {answer}")
        # A closed port is not listed and has no replies.
        testpmd.cmd("port stop 1")
        testpmd.cmd("port close 1")
        check(client.query("/mlxpmd/list") == [0], client.query("/mlxpmd/list"))
        check(client.query("/mlxpmd/info,1") is None, "a closed port replies")
        check(client.query("/mlxpmd/clock,1") is None, "a closed port's clock replies")
        check_info(client, 0)
        testpmd.quit()
    check_inline()
    check_many()


main(run)
