# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Register dumps and files of the recorder by telemetry, and the dump that the driver takes when the firmware fails."""
import glob
import os
import pathlib
import struct
import tempfile
import time

import pmdlib
from e2e import PATIENCE, check, main, testlib
from telemetry_client import Client

HEALTH = "0x001f0200"
BAD = ["", ",", ",x", ",-1", ",2", ",0x0", ",0 ", ", 0", ",31", ",65536", "," + "9" * 500]


def state(client, verb, result, port=0):
    """Send take, get or reset; the reply, whose result must be as given."""
    answer = client.query(f"/mlxpmd/fwdump/{verb},{port}")
    check(answer["port"] == port and answer["result"] == result and answer["text"], answer)
    return answer


def whole(client):
    """Read all registers of the dump, page by page."""
    values, first = {}, 0
    while True:
        answer = client.query(f"/mlxpmd/fwdump/get,0,{first}")
        check(answer["result"] == "ok" and answer["first"] == first, answer)
        if not answer["values"]:
            check(len(values) == answer["registers"], f"{len(values)} of {answer['registers']}")
            return values
        values.update(answer["values"])
        first += len(answer["values"])


def states(client, testpmd):
    """take, get and reset with and without a dump; a second dump has the values of its time."""
    state(client, "get", "ENOENT")
    state(client, "reset", "ENOENT")
    answer = state(client, "take", "ok")
    check(answer["route"] == "vsc" and answer["unreadable"] == 0, answer)
    check(abs(answer["taken_s"] - time.time()) < 60 * PATIENCE, answer)
    state(client, "take", "EEXIST")
    before = whole(client)
    check(len(before) == answer["registers"] and before[HEALTH] == "0x00000000", len(before))
    page = client.query("/mlxpmd/fwdump/get,0,3,2")["values"]
    check(page == dict(list(before.items())[3:5]), page)
    check(client.query("/mlxpmd/fwdump/get,0,99999")["values"] == {}, "registers after the last")
    state(client, "reset", "ok")
    testpmd.ctl("register", "addr=1048576", "value=1")
    state(client, "take", "ok")
    after = whole(client)
    state(client, "reset", "ok")
    changed = {a for a in before if after.get(a) != before[a]}
    check(changed == {"0x00100000"} and after["0x00100000"] == "0x00000001", changed)
    # A VF has no register gateway.
    state(client, "take", "EIO", port=1)


def bad_input(client):
    for verb in ("take", "get", "reset"):
        for bad in BAD:
            answer = client.query(f"/mlxpmd/fwdump/{verb}{bad}")
            check(answer is None, f"{verb}{bad}: {answer}")
    for bad in ("0,", "0,x", "0,0,", "0,0,201", "0,0,1,1", "0,-1", "0,4294967296"):
        answer = client.query(f"/mlxpmd/fwdump/get,{bad}")
        check(answer is None, f"get,{bad}: {answer}")
    check(client.query("/mlxpmd/fwdump/take,0,0") is None, "take has one parameter")


def recorder(client, kept):
    """Files of the recorder on request, which devarg recorder=off does not prevent."""
    path = f"{kept}/recorded"
    answer = client.query(f"/mlxpmd/recorder,0,{path}")
    check(answer == {"port": 0, "file": path} and os.stat(path).st_mode & 0o777 == 0o600, answer)
    answer = client.query(f"/mlxpmd/recorder,0,{path}")
    check(answer == {"port": 0, "errno": "EEXIST"}, answer)
    answer = client.query("/mlxpmd/recorder,1")
    check(answer == {"port": 1, "file": f"{kept}/recorder-0000:c1:00.1-0"}, answer)
    for bad in (*BAD, ",0,", ",0,recorded", ",0,/a,/b", ",0,/" + 700 * "x"):
        check(client.query(f"/mlxpmd/recorder{bad}") is None, f"recorder{bad}")
    os.unlink(path)
    os.unlink(answer["file"])


def failure(testpmd, kept):
    """The firmware fails: the driver writes one dump to a file, which is kept when testpmd closes the port."""
    testpmd.ctl("health", "syndrome=16")
    testlib.await_until(lambda: glob.glob(f"{kept}/fwdump-0000:c1:00.0-" + "?" * 16), 10 * PATIENCE)
    files = glob.glob(kept + "/*[!w]")
    check(len(files) == 1, os.listdir(kept))
    data = pathlib.Path(files[0]).read_bytes()
    values = dict(struct.iter_unpack("=II", data[32:]))
    check(values[int(HEALTH, 16)] == 0x10, "the syndrome is not in the dump")
    # The file may exist before the line is logged.
    testpmd.watch("", lambda text: "are kept" in text, 10 * PATIENCE)
    check("port 0: 0000:c1:00.0 was removed" in testpmd.log, testpmd.log)
    check(testpmd.log.count("registers of 0000:c1:00.0 are kept (vsc): dpdk-test-mlx fwdump get") == 1, testpmd.log)
    os.unlink(files[0])


def run():
    with tempfile.TemporaryDirectory(prefix="mlxfwdump.") as kept:
        os.environ["MLXPMD_FWDUMP_DIR"] = kept
        with pmdlib.Testpmd(eal_args=pmdlib.eal("recorder=off", telemetry=True), emu_args=["--vf", "1"]) as testpmd:
            client = Client()
            states(client, testpmd)
            bad_input(client)
            recorder(client, kept)
            failure(testpmd, kept)
            testpmd.quit()
        check(os.listdir(kept) == [], os.listdir(kept))


main(run)
