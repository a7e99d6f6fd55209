# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Inspection of the firmware: the command `devx` of dpdk-test-mlx, and /mlxpmd/caps, objects, cmd and explain."""
import pathlib
import random
import subprocess
import tempfile

import pmdlib
from e2e import MLXEMU, TEST_MLX, check, emu, eal as e2e_eal, main, testlib
from telemetry_client import Client

SCRIPT = [
    # command, words of its output, whether it succeeds
    ("devx caps", ["log_max_cq_sz", "22 (0x16)", "port_type", "ETHERNET", "DEV_MEM"], True),
    ("devx caps 1 ethernet_offloads", ["mlx5_1", "csum_cap", "NOT_REQUIRED"], True),
    ("devx caps 0 nonsense", ["there is no such page", "ETHERNET_OFFLOADS"], False),
    ("devx objects 1", ["TRANSPORT_DOMAIN", "RQT", "commands_refused"], True),
    ("devx cmd QUERY_ISSI", ["QUERY_ISSI", "266 (0x10a)", "supported_issi_dw0"], True),
    ("devx cmd 1 0x754", ["QUERY_NIC_VPORT_CONTEXT", "0xb8599f0300000002", "mac_addr_31_0"], True),
    ("devx cmd QUERY_SQ", ["no such object of this port"], False),
    # The field `clear` of QUERY_Q_COUNTER is set.
    ("devx cmd QUERY_Q_COUNTER 00000000" + 16 * "00" + "80000000", ["changes something, or may: clear"],
     False),
    ("devx cmd TEARDOWN_HCA", ["this command changes something", "EPERM"], False),
    ("devx cmd QUERY_ISSI 00" + 40 * "00", ["too many bytes"], False),
    ("devx cmd QUERY_FLIES", ["there is no such command"], False),
    ("devx cmd QUERY_ADAPTER", ["refused", "RESOURCE_BUSY", "locked by something else",
                                "not published"], False),
    ("devx explain 9 0x2a3d5c", ["BAD_RES_STATE", "EINVAL", "still in use"], True),
    ("devx explain NO_RESOURCES", ["EAGAIN", "no room left"], True),
    ("devx explain cqe 4", ["LOCAL_PROT_ERR", "memory key"], True),
    ("devx", ["devx cmd takes:", "devx explain takes:"], False),
    ("devx cmd", ["devx cmd takes: [PORT] OPCODE [HEX]"], False),
    ("devx cmd 0", ["devx cmd takes:"], False),
    ("devx cmd QUERY_ISSI 000", ["HEX is two digits a byte", "EINVAL"], False),
    ("devx cmd QUERY_ISSI 0x00", ["HEX is two digits a byte"], False),
    ("devx cmd QUERY_ISSI 00 00", ["devx cmd takes:"], False),
    ("devx objects 0 1", ["devx objects takes:"], False),
    ("devx caps 0000:c1:00.0 general", ["devx caps takes:"], False),
    ("devx explain", ["devx explain takes:"], False),
    ("devx explain 9 zz", ["'zz' is not a syndrome"], False),
    ("devx explain cqe 256", ["'256' is not a syndrome of a completion"], False),
    ("devx explain WHAT", ["'WHAT' is not a status"], False),
    ("devx cmd 7 NOP", ["no port '7'"], False),
    ("devx caps 5", ["no port '5'"], False),
    ("devx objects 5", ["no port '5'"], False),
    ("devx objects 99", ["no port '99'"], False),
    ("devx explain 1000", ["'1000' is not a status"], False),
]
FAULT = "on cmd.entry match op=QUERY_ADAPTER do fail status=RESOURCE_BUSY syndrome=0x123456"


def check_program():
    """Run all commands of the script; check the output of each and whether it failed."""
    with tempfile.TemporaryDirectory(prefix="mlxpmd-devx.") as work:
        script = pathlib.Path(work) / "script"
        script.write_text("".join(line + "\n" for line, _, _ in SCRIPT))
        eal = [a for a in e2e_eal(2) if a != "--no-telemetry"]
        # GUIDs of these addresses do not fit into 63 bits.
        result = emu([TEST_MLX, *eal, "--file-prefix", pmdlib.PREFIX, "--",
                      "--cmds", script], faults=[FAULT],
                     extra=["--mac", "0=b8:59:9f:00:00:01", "--mac", "1=b8:59:9f:00:00:02"])
    parts = result.out.split("test-mlx> ")
    check(len(parts) == len(SCRIPT) + 1, result.out)
    for part, (line, words, good) in zip(parts[1:], SCRIPT):
        check(part.startswith(line), part)
        for word in words:
            check(word in part, f"no '{word}' in\n{part}")
        check(("': " in part and "script:" in part.split("--- final report")[0]) != good, part)
    # A refused query is not a violation, and no object is left.
    check("\naudit: clean" in result.out, result.out[-3000:])


def check_caps(client):
    caps = client.query("/mlxpmd/caps,1")
    check(caps["port"] == 1 and caps["device"] == "mlx5_1" and caps["driver"] == "mlx5", caps)
    check(caps["fields"]["log_max_cq_sz"] == 22 and "left_out" not in caps, caps)
    for page in caps["pages"]:
        answer = client.query(f"/mlxpmd/caps,0,{page}")
        check(answer["answer"] in ("done", "refused"), answer)
        check("fields" in answer or answer["errno"] == "EINVAL", answer)


def check_objects(client, testpmd):
    running = client.query("/mlxpmd/objects,0")
    check(running["objects"] == sum(len(v) for v in running["types"].values()), running)
    check(len(running["types"]["RQ"]) == 1 and len(running["types"]["SQ"]) == 1, running)
    number = running["types"]["SQ"][0]
    # A queue of the port may be queried; the parameters are op_mod and sqn.
    answer = client.query(f"/mlxpmd/cmd,0,QUERY_SQ,{0:08x}{number:08x}")
    check(answer["answer"] == "done" and answer["fields"]["sq_context/state"] == "RDY", answer)
    check(answer["hex"][0].startswith("00" * 16), answer)
    check(client.query(f"/mlxpmd/cmd,1,QUERY_SQ,{0:08x}{number + 1:08x}")["errno"] == "ENOENT",
          "a queue that does not exist")
    testpmd.cmd("port stop 0")
    stopped = client.query("/mlxpmd/objects,0")
    check("RQ" not in stopped["types"] and stopped["objects"] < running["objects"], stopped)
    testpmd.cmd("port start 0")
    check(client.query("/mlxpmd/objects,0")["objects"] == running["objects"], "after a restart")


def check_invalid(client):
    """Random and invalid parameters are refused."""
    rng = random.Random(1)
    words = ["0", "1", "NOP", "QUERY_ISSI", "general", "9", "0x9", "cqe", "0000", "zz", "", " ",
             "-1", "4294967296", "%s", "QUERY_RQT", "0xfff", "9" * 300, "aa" * 400]
    for command in ("caps", "objects", "cmd", "explain"):
        for _ in range(60):
            params = ",".join(rng.choice(words) for _ in range(rng.randint(0, 5)))
            answer = client.query(f"/mlxpmd/{command},{params}")
            check(answer is None or isinstance(answer, dict), f"{command},{params}: {answer}")
    for bad in ("caps", "caps,2", "caps,x", "caps,0,GENERAL,1", "explain,9,1,2", "objects", "objects,0,0", "cmd,0",
                "cmd,9,NOP", "explain", "explain,256", "explain,9,x", "explain,cqe",
                "explain,cqe,256"):
        check(client.query("/mlxpmd/" + bad) is None, bad)
    for bad in ("xx", "0", "0x00", "00 ", "x0", " 1", "+1", "-1", "00x0"):
        answer = client.query(f"/mlxpmd/cmd,0,NOP,{bad}")
        check(answer["errno"] == "EINVAL" and "two digits a byte" in answer["answer"], answer)


def check_alone():
    """`dpdk-test-mlx devx` without EAL: `explain` works, the other commands require a port."""
    for words, status, want in ((["explain", "9", "0x2a3d5c"], 0, "BAD_RES_STATE"),
                                (["explain", "cqe", "4"], 0, "LOCAL_PROT_ERR"),
                                (["explain"], 2, "devx explain takes:"), (["explain", "x"], 2, "not a status"),
                                (["caps"], 2, "without a port"), ([], 2, "without a port")):
        done = subprocess.run([str(TEST_MLX), "devx", *words], check=False, timeout=60, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(done.returncode == status and want in done.stdout, f"{words}: {done.returncode} {done.stdout}")


def connected(process):
    """Wait until the program has started; a telemetry client of it."""
    def listed():
        check(process.poll() is None, "the program has ended")
        try:
            client = Client()
            if client.query("/mlxpmd/list") != [0, 1]:
                return None
            # The program ends if a port is removed before it is started.
            infos = [client.query(f"/mlxpmd/info,{port}") for port in (0, 1)]
            return client if all(info and info["started"] for info in infos) else None
        except OSError:
            return None

    client = testlib.await_until(listed, 60, pause=0.05)
    check(client, "the program does not start")
    return client


def check_removed():
    """The device was removed and its port is not closed yet: replies state why there is no result."""
    eal = [a for a in e2e_eal(2) if a != "--no-telemetry"]
    command = [MLXEMU, "run", "--ports", "2", "--", TEST_MLX, *eal, "--file-prefix", pmdlib.PREFIX, "--",
               "--interactive"]
    with subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            client = connected(process)
            subprocess.run([str(MLXEMU), "ctl", "--pid", str(client.hello["pid"]), "remove", "port=0"], check=True)
            for command in ("cmd,0,QUERY_ISSI", "caps,0"):
                answer = client.query("/mlxpmd/" + command)
                check(answer["answer"] in ("the device was removed", "the device does not answer"), answer)
            for verb in ("take", "get", "reset"):
                answer = client.query(f"/mlxpmd/fwdump/{verb},0")
                check(answer["result"] == "ENOENT" and "no such PCI device" in answer["text"], answer)
            check(client.query("/mlxpmd/fwdump/get,1")["text"] == "no dump is kept", "the other port")
        finally:
            process.stdin.close()
            process.wait(60)



def run():
    check_alone()
    check_program()
    check_removed()
    with pmdlib.Testpmd(eal_args=pmdlib.eal(telemetry=True)) as testpmd:
        client = Client()
        for name in ("/mlxpmd/caps", "/mlxpmd/objects", "/mlxpmd/cmd", "/mlxpmd/explain"):
            check(client.raw(f"/help,{name}")["/help"], f"no help for {name}")
        check_objects(client, testpmd)
        check_caps(client)
        check_invalid(client)
        testpmd.cmd("port stop 1")
        testpmd.cmd("port close 1")
        check(client.query("/mlxpmd/objects,1") is None, "a closed port replies")
        # Capability pages that the device does not have are refused, which the audit reports as a violation.
        status, report = testpmd.end()
        check(status in (0, 3) and " left" not in report.get("audit", "").replace("0 left", ""),
              report.text)


main(run)
