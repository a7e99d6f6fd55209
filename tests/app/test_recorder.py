# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""`dpdk-test-mlx explain FILE`: causes of files made here, and files that cannot be read. Needs no device."""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from e2e import TEST_MLX, check, main  # noqa: E402

HEAD = struct.Struct("=QIIQQ3IIHHB3x64s64s16s64s64s")  # struct mdv_recorder_head
RECORD = struct.Struct("=QIBBHIIIHBB")  # struct mdv_record
MAGIC = int.from_bytes(b"MLXREC01", "little")
MS, SECOND, WRITTEN = 10**6, 10**9, 1795870000 * 10**9
(COMMAND, COMMAND_ERRNO, CALL, EVENT, FATAL, REMOVED, QUIESCED, LINK, PORT, QUEUE, QUEUE_ERROR, REPAIR, SECONDARY,
 DROPS, CLOCK) = range(1, 16)
QUIET, TX = 1, 2
QUERY, CREATE_SQ, MODIFY_RQ, QUERY_SQ = 0x773, 0x904, 0x909, 0x907  # QUERY_Q_COUNTER


def record(ms, kind, op=0, obj=0, value=0, status=0, arg=0, flags=0, took=0):
    return RECORD.pack(10 * SECOND + ms * MS, ms % 2**32 + 1, kind, flags, op, obj, value, took, arg, status, 0)


def recording(rows, mode=0, noted=(0, 0, 0), **change):
    head = {"magic": MAGIC, "version": 2, "records": len(rows), "device": b"0000:c1:00.0", "reason": 0, **change}
    return HEAD.pack(head["magic"], head["version"], head["records"], WRITTEN, 20 * SECOND, *noted, 4711,
                     head["reason"], 3, mode, head["device"], b"mlx5_0", b"eth0", b"22.35.2000",
                     b"net_mlxpmd") + b"".join(rows)


NOTHING = record(0, PORT, 0)
ERROR = record(5000, QUEUE_ERROR, 1, 0x11, 0x57, 4, 2, TX, 12)  # After so many completions.
# Records; mode; cause, words of what happened, rule.
CAUSES = [
    ([NOTHING], 0, "none", "no failure is recorded", None),
    ([], 0, "none", "no failure is recorded", None),
    # Of a device that failed that is the cause, whatever follows.
    ([record(1, FATAL, 1), record(2, REMOVED), record(3, COMMAND_ERRNO, QUERY, value=6), record(4, LINK)], 0,
     "firmware", "fatal error, the kernel resets the device", "on doorbell match port=3 count 1 do fatal syndrome=1"),
    ([record(1, COMMAND, CREATE_SQ, status=9, value=1), record(2, FATAL, 7), record(3, REMOVED)], 1, "health-stalled",
     "health counter stalled", "on doorbell match port=3 count 1 do fatal syndrome=1"),
    ([record(2, FATAL, 8), record(3, REMOVED)], 1, "timeout", "command timeout", "do fatal"),
    ([record(2, FATAL, 5, value=16)], 1, "firmware", "health syndrome 0x10 (HIGH_TEMP)", "do fatal syndrome=16"),
    ([record(2, REMOVED), record(3, CALL, 6, value=5)], 0, "removed", "the device is removed",
     "on doorbell match port=3 count 1 do remove"),
    # Given up is worse than the refusals of its repairs, and its cause is the last error of that queue.
    ([record(1, QUEUE_ERROR, 1, 0x12, 1, 2, 1, TX), ERROR, record(5001, COMMAND, MODIFY_RQ, status=3),
      record(5002, REPAIR, 2, 0x11, arg=2, flags=TX)], 0, "queue-given-up",
     "Tx queue 2 (SQ 0x11): error completion LOCAL_PROT_ERR",
     "on cqe.write match port=3 q=tx2 after 12 do error syndrome=LOCAL_PROT_ERR vendor=0x57"),
    ([ERROR, record(5001, REPAIR, 0, 0x11, 7, arg=2, flags=TX)], 0, "queue",
     "the queue was repaired, 7 packets were lost",
     "on cqe.write match port=3 q=tx2 after 12 count 1 do error syndrome=LOCAL_PROT_ERR vendor=0x57"),
    # Completions of earlier starts, but not those after the first error of this kind.
    ([record(1, QUEUE, 1, 0x10, arg=2, flags=TX, took=7), record(2, QUEUE, 1, 0x10, arg=2, took=100), ERROR,
      record(5001, REPAIR, 0, 0x11, 7, arg=2, flags=TX), record(5002, QUEUE_ERROR, 1, 0x11, 0x57, 4, 2, TX, 3)], 0,
     "queue", "after 12 good completions", "q=tx2 after 19 count 2 do error"),
    ([record(5000, QUEUE_ERROR, 4, 0x11, arg=0, flags=TX)], 0, "queue", "nothing completes any more",
     "on doorbell match port=3 q=tx0 do drop"),
    ([record(5000, QUEUE_ERROR, 2, 0x11, arg=1)], 0, "queue", "Rx queue 1 (RQ 0x11): invalid completion",
     "on cqe.write match port=3 q=rx1 count 1 do corrupt off=63 xor=0x70"),
    ([record(5000, QUEUE_ERROR, 3, 0x11, arg=1)], 0, "queue", "a completion is missing",
     "on cqe.write match port=3 q=rx1 count 1 do drop"),
    # No failure: completions of another format are requested.
    ([record(5000, QUEUE_ERROR, 5, 0x11, arg=1)], 0, "none", "no failure", None),
    # The last incident counts, not an older one.
    ([record(1, COMMAND, CREATE_SQ, status=9, value=1), ERROR], 0, "queue", "Tx queue 2",
     "q=tx2 after 12 count 1 do error"),
    # Within an incident the refusal explains the steps that failed, and it happened twice.
    ([record(1, COMMAND, CREATE_SQ, 7), record(2, COMMAND, CREATE_SQ, 8),
      record(5000, COMMAND, CREATE_SQ, status=15, value=0x99), record(5001, QUEUE, 0, value=11),
      record(5002, PORT, 2, value=11), record(5100, COMMAND, CREATE_SQ, status=15, value=0x99)], 0, "refused",
     "CREATE_SQ refused: NO_RESOURCES (0x0f",
     "on cmd.entry match port=3 op=CREATE_SQ after 2 count 2 do fail status=NO_RESOURCES syndrome=0x99"),
    # A probe for a feature is none.
    ([record(1, COMMAND, QUERY, status=2, value=1, flags=QUIET), record(2, CALL, 17, value=95, flags=QUIET)], 0, "none",
     "no failure", None),
    ([record(1, COMMAND, 0x7fff, status=0x44, value=1)], 0, "refused", "UNKNOWN 0x7fff refused", None),
    ([record(1, COMMAND_ERRNO, CREATE_SQ, value=12)], 0, "refused",
     "CREATE_SQ failed without a status of the firmware: ENOMEM",
     "on ioctl match port=3 method=DEVX_OBJ_CREATE count 1 do fail errno=ENOMEM"),
    ([record(1, CALL, 3, value=1)], 0, "call", "ibv_reg_mr() failed: EPERM",
     "on mr.reg match port=3 count 1 do fail errno=EPERM"),
    ([record(1, CALL, 999, value=4000)], 0, "call", "a call() failed: errno 4000", None),
    ([record(1, PORT, 2, value=12)], 0, "step", "port start failed: ENOMEM", None),
    ([record(1, LINK), record(501, LINK, 1, value=100000)], 0, "link", "link down",
     "on doorbell match port=3 count 1 do link state=down ms=500"),
    ([record(1, EVENT, 10, 1, 2), record(2, LINK), record(31, EVENT, 9, 1, 1)], 0, "link",
     "port error, port 1 of the RDMA device: link down", "do link state=down ms=30"),
    ([record(1, EVENT, 9, value=2), record(31, EVENT, 9, value=1)], 1, "link",
     "event of the device: PORT_CHANGE: link down", "do link state=down ms=30"),
    ([record(1, EVENT, 14)], 0, "none", "no failure", None),
    ([record(1, LINK)], 0, "link", "link down", "on doorbell match port=3 count 1 do link state=down"),
    ([record(1, CLOCK, 0, value=19)], 0, "clock", "timestamps are absent: ENODEV", "do freeze"),
    ([record(1, DROPS, 0, value=2**32 - 1)], 0, "drops", "4294967295 frames were missed", None),
    ([record(1, COMMAND, QUERY, 3, took=2**32 - 1)], 0, "slow", "took 4.3 s or more",
     "on cmd.entry match port=3 op=QUERY_Q_COUNTER count 1 do delay us=4294967"),
]
STORY = [record(0, COMMAND, QUERY, 3), record(1, COMMAND, QUERY, 3), record(2, QUEUE, 0, 0x11, arg=4, flags=TX),
         record(3, COMMAND, CREATE_SQ, 0x11, took=1500), record(4, COMMAND, CREATE_SQ, 0x12),
         record(5, SECONDARY, 1, 99),
         record(6, DROPS, 1, value=3), record(7, DROPS, 1, value=4), record(8, 77, 1), record(9, REMOVED)]
LINES = ["12:46:30.000000      -0.009000   2 queries ok, the last 0.001000 s later", "Tx queue 4 (SQ 0x11): start",
         "CREATE_SQ 0x11 (Tx queue 4) ok, took 1.5 us\n", "CREATE_SQ 0x12 ok\n",
         "secondary process 99 attached",
         "! 3 mbufs were missing when rings were refilled (rx_nombuf); with the following ones 7, ",
         "record of kind 77, which this program does not know", "+0.000000 > the device is removed",
         "(1 earlier queries are overwritten)", "what happened:  the device is removed", "before the file was written"]
# A queue that failed: its query is where the repair begins, which had to wait; meanings are printed once.
REPAIRS = [record(900, COMMAND, QUERY, 3), record(901, COMMAND, QUERY_SQ, 0x11),
           record(902, QUEUE_ERROR, 1, 0x11, 0x57, 4, 2, TX, 1), record(903, COMMAND, QUERY, 3),
           record(904, COMMAND, QUERY_SQ, 0x11), record(905, COMMAND, QUERY, 3), record(906, COMMAND, QUERY_SQ, 0x12),
           record(1902, REPAIR, 0, 0x11, 33, arg=2, flags=TX, took=187900), record(2000, COMMAND, QUERY_SQ, 0x11),
           record(2001, COMMAND, QUERY, 3), record(2002, DROPS, 3, value=33),
           RECORD.pack(15 * SECOND - 400, 9, QUIESCED, 0, 1, 0, 0, 0, 0, 0, 0), ERROR,
           record(5001, QUEUE, 1, 0x11, arg=2, flags=TX, took=2)]
REPAIR_LINES = [
    "2 queries ok, the last 0.001000 s later", "! Tx queue 2 (SQ 0x11): error completion LOCAL_PROT_ERR (0x04), vendor "
    "syndrome 0x57, after 1 good completion\n", "  QUERY_Q_COUNTER 0x3 ok\n", "  QUERY_SQ 0x11 (Tx queue 2) ok\n",
    "Tx queue 2: repaired 1.000 s after the error (at most two repairs of a queue in a second), 33 packets lost, took",
    "! 33 packets were not sent, those lost in repairs included (oerrors)",
    "+0.000000 ! the device does no DMA any more",
    "+0.000000 > Tx queue 2 (SQ 0x11): error completion LOCAL_PROT_ERR (0x04, ", "stop after 2 good completions\n"]
# Commands of the set-up are one line, but for the last before the cause: those of one name, many names, a failure.
NAMES = range(0x904, 0x904 + 4 * 16, 4)  # CREATE_SQ, CREATE_RQ ...
SETUP = [record(1, COMMAND, QUERY, 3), record(2, COMMAND, CREATE_SQ, 0x11), record(3, COMMAND, QUERY, 3),
         record(4, COMMAND, MODIFY_RQ, 0x12), record(5, COMMAND, CREATE_SQ, 0x13), record(6, QUEUE, 0, 0x11),
         record(7, COMMAND, MODIFY_RQ, 0x14), record(8, COMMAND, MODIFY_RQ, 0x14, took=12 * MS),
         record(9, COMMAND, CREATE_SQ, status=15), *(record(20 + i, COMMAND, op, 1) for i, op in enumerate(NAMES)),
         *(record(100 + i, COMMAND, MODIFY_RQ, 0x20 + i) for i in range(8)), ERROR, record(6000, COMMAND, CREATE_SQ, 9)]
SETUP_LINES = ["5 commands ok (2 queries, CREATE_SQ 2 times, MODIFY_RQ), the last 0.004000 s later\n",
               "  MODIFY_RQ 0x14 ok; 2 times, the last 0.001000 s later, the longest took 12.0 ms\n",
               "! CREATE_SQ refused",
               "16 commands ok (CREATE_SQ, CREATE_RQ, ", ", others), the last 0.015000 s later\n",
               "MODIFY_RQ 0x20 ok\n", "MODIFY_RQ 0x27 ok\n", "  CREATE_SQ 0x9 ok\n"]
# By kind: members besides those that all have.
MEMBERS = {
    "command": {"op_mod", "object", "status", "syndrome", "duration_ns", "tried"},
    "queue": {"queue", "direction", "object", "errno", "completions"},
    "queue-error": {"queue", "direction", "object", "syndrome", "vendor_syndrome", "completions"},
    "repair": {"queue", "direction", "object", "packets_lost", "duration_ns"}, "drops": {"packets"}, "quiesced": set(),
    "secondary": {"pid"}, "removed": set(), "unknown": set(),
}
OPS = {"command": {"QUERY_Q_COUNTER", "QUERY_SQ", "CREATE_SQ"}, "queue": {"start", "stop"}, "repair": {"done"},
       "queue-error": {"error-completion"}, "drops": {"rx_nombuf", "oerrors"}, "quiesced": {"quiesced"},
       "secondary": {"attached"}, "removed": {"removed"}, "unknown": {"unknown"}}
GOOD = recording([NOTHING, ERROR])
BAD = [
    (b"", "it is not a file of the recorder"), (b"\x00" * 1000, "it is not a file of the recorder"),
    (GOOD[1:], "it is not a file of the recorder"), (GOOD[:100], "it is damaged: it ends within its header"),
    (GOOD[:-1], "its length is not that of its records"), (GOOD + b"\0", "its length is not that of its records"),
    (recording([NOTHING], records=2), "its length is not that of its records"),
    (recording([NOTHING], records=2**32 - 1), "its length is not that of its records"),
    (recording([NOTHING] * 513), "its length is not that of its records"),
    (recording([NOTHING], version=1), "it has version 1, this program reads 2"),
    (recording([NOTHING], magic=int.from_bytes(b"MLXREC01", "big")), "the other byte order"),
    (recording([NOTHING], device=b"x" * 64), "its header makes no sense"),
    (recording([NOTHING], device=b"\x1b[2J"), "its header makes no sense"),
    (recording([NOTHING], mode=2), "its header makes no sense"),
    (recording([NOTHING], reason=9), "its header makes no sense"),
    (os.urandom(20000), "it is not a file of the recorder"),
]


def explain(path, *options):
    done = subprocess.run([str(TEST_MLX), "explain", str(path), *options], capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check_causes(path):
    for records, mode, cause, words, rule in CAUSES:
        random.Random(1).shuffle(records)  # A file is in no particular order.
        path.write_bytes(recording(records, mode))
        status, out, err = explain(path, "--json")
        check(status == 0 and err == "", f"{words}: {status} {err}")
        check(explain("--json", path)[1] == out, f"{words}: --json first")
        report = json.loads(out)
        check(report["cause"] == cause and words in report["what"], f"{words}: {report['cause']}: {report['what']}")
        line, none = report["reproduce"], report["no_reproduction"]
        check((rule or "") in line and bool(rule) == bool(line) != bool(none), f"{words}: {line} {none}")
        check(len(report["records"]) == len(records) and report["port"] == 3, report)


def check_story(path):
    path.write_bytes(recording(STORY, noted=(129, 2, 256)))
    status, out, _ = explain(path)
    print(out)
    check(status == 0, status)
    for line in LINES:
        check(line in out, f"no line: {line}")
    path.write_bytes(recording(REPAIRS))
    out = explain(path)[1]
    print(out)
    for line in REPAIR_LINES:
        check(line in out, f"no line: {line}")
    path.write_bytes(recording(SETUP))
    story = explain(path)[1]
    print(story)
    for line in SETUP_LINES:
        check(line in story, f"no line: {line}")
    check(out.count("QUERY_SQ 0x11") == 1 and "-0.000000" not in out, "queries that are no repair are one line")
    # A status whose name a file has, too: the file, if it is one of the recorder; a path is a file.
    named = path.parent / "BAD_PARAM"
    for data, want in ((GOOD, "what happened:"), (b"other", "errno")):
        named.write_bytes(data)
        done = subprocess.run([str(TEST_MLX), "explain", "BAD_PARAM"], cwd=path.parent, capture_output=True, text=True,
                              timeout=60, check=False)
        check(want in done.stdout, f"{want}: {done.stdout}")
    named.write_bytes(GOOD)
    check("what happened:" in explain(named)[1], "a path with a slash is a file")


def check_json(path):
    path.write_bytes(recording(STORY + REPAIRS[:-2]))
    report = json.loads(explain(path, "--json")[1])
    for rec in report["records"]:
        kind, members = rec["kind"], rec.keys() - {"time_ns", "relative_s", "kind", "op", "failure", "cause", "text"}
        check(rec["op"] in OPS[kind] and members == MEMBERS[kind], f"{kind}: {rec}")
    cause = [rec for rec in report["records"] if rec["cause"]]
    check(len(cause) == 1 and cause[0]["time_ns"] == report["when_ns"] and cause[0]["relative_s"] == 0, cause)
    check({rec["kind"] for rec in report["records"]} == set(MEMBERS), "all kinds")
    error = next(rec for rec in report["records"] if rec["kind"] == "queue-error")
    check((error["queue"], error["direction"], error["syndrome"], error["completions"]) == (2, "tx", 4, 1), error)


def check_bad(path):
    cases = [(data, want) for data, want in BAD]
    rng = random.Random(7)
    for _ in range(20):  # Damaged anywhere: explained or refused.
        data = bytearray(GOOD)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        cases.append((bytes(data), None))
    for data, want in cases:
        path.write_bytes(data)
        status, out, err = explain(path)
        check(status in ((2,) if want else (0, 2)), f"{want}: {status} {out}")
        if status == 2:
            check(out == "" and err.count("\n") == 1 and (want or "") in err and str(path) in err, f"{want}: {err}")
    status, _, err = explain("--json")
    check(status == 2 and "explain takes" in err, err)
    for other, want in (("/nonexistent/file", "No such file"), ("/dev/null", "not a file of the recorder"),
                        ("/", "not a file of the recorder")):
        status, _, err = explain(other)
        check(status == 2 and want in err and err.count("\n") == 1, f"{other}: {err}")


def run():
    with tempfile.TemporaryDirectory(prefix="mlxrecorder.") as work:
        path = pathlib.Path(work) / "file"
        check_causes(path)
        check_story(path)
        check_json(path)
        check_bad(path)


main(run, needs=[TEST_MLX])
