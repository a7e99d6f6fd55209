# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""devtools/card-check on emulated ports as if they were a card: its archive names no card, and becomes a profile.

Usage: card_check.py [destructive]
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

from e2e import BUILD, MLXEMU, PCI, check, finish, main

CARD_CHECK = pathlib.Path(__file__).resolve().parents[2] / "devtools/card-check"
# Differs from the profile in limits, features and the clock.
CHANGED = ["--profile", "cx6dx", "--cap", "log_max_cq=24", "--cap", "cqe_compression_max_num=16", "--cap",
           "scatter_fcs=0", "--clock-hz", "312500000"]
MACS = ["b8:59:9f:12:34:56", "b8:59:9f:12:34:57"]
ADDRESSES = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![0-9a-f])|[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b|"
                       rb"b8599f|123456|(?:[0-9a-f]{4}:){3}[0-9a-f]{4}|fe80:", re.I)


def card_check(work, name, *args, emu=(), status=0):
    """Runs it on two emulated ports; the files of its archive."""
    archive = pathlib.Path(work) / name
    command = [str(MLXEMU), "run", "--ports", "2", "--wire", "pair:lossless", *emu, "--", "/usr/bin/python3", "-B",
               str(CARD_CHECK), *PCI[:2], "--builddir", str(BUILD), "--no-huge", "--seconds", "1", "--output",
               str(archive), *args]
    done, out = finish(command, 400)
    check(done == status, f"exit status {done}:\n{out[-3000:]}")
    with tarfile.open(archive) as tar:
        return archive, {member.name: tar.extractfile(member).read() for member in tar.getmembers()}, out


def row(out, name, result):
    check(re.search(rf"^{name} +{result} ", out, re.M), f"{name} is not {result}:\n{out[-3000:]}")


def anonymous(files):
    """No address, GUID, PCI address or host name in any file."""
    host = subprocess.run(["hostname"], capture_output=True, check=True).stdout.strip()
    for name, data in files.items():
        found = ADDRESSES.search(data)
        check(not found, f"{name}: {found and data[max(0, found.start() - 60):found.end() + 20]}")
        check(len(host) < 3 or host not in data, f"{name} has the name of the host")
        check(str(pathlib.Path.home()).encode() + b"/" not in data, f"{name} has the user's folder")
    check(b"PCI-1" in files["card-check/doctor.log"], "nothing replaced")


def imported(work, archive, pages):
    """A profile of the archive: a run with it has the same capabilities."""
    profile = pathlib.Path(work) / "card.profile"
    done = subprocess.run([MLXEMU, "profile", "import", archive, "--name", "mycard", "--output", profile],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, done.stderr)
    text = profile.read_text()
    check(re.search(r"^log_max_cq=24 +# recorded$", text, re.M) and "recorded, card.tar.gz" in text, text)
    _, files, _ = card_check(work, "again.tar.gz", "--read-only", emu=["--profile", str(profile)])
    again = json.loads(files["card-check/capabilities.json"])
    check(again["pages"] == pages["pages"], "capabilities differ with the imported profile")
    check(again == pages, f"{again['board_id']} {again['firmware']} {pages['board_id']} {pages['firmware']}")


def damaged(work, archive):
    """One line, and no profile."""
    whole = archive.read_bytes()
    cut, noise = pathlib.Path(work) / "cut.tar.gz", pathlib.Path(work) / "noise.json"
    cut.write_bytes(whole[:len(whole) // 3])
    noise.write_text('{"format": 1, "pci_device_id": 4125, "pages": {"0x0": {"max": "zz"}}}')
    for path in (cut, noise, pathlib.Path(work) / "absent"):
        done = subprocess.run([MLXEMU, "profile", "import", path, "--output", f"{work}/none"],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 1 and done.stderr.count("\n") == 1 and path.name in done.stderr, f"{path}: {done}")
        check(not pathlib.Path(work, "none").exists(), "a profile of a damaged file")


def masked(work):
    """A serial number of the VPD, names and addresses of other forms."""
    loader = importlib.machinery.SourceFileLoader("card_check_tool", str(CARD_CHECK))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("card_check_tool", loader))
    loader.exec_module(tool)
    tool.SYS = pathlib.Path(work) / "sys"
    folder = tool.SYS / "0000:08:00.0"
    folder.mkdir(parents=True)
    (folder / "vpd").write_bytes(b"\x82\x04\x00Card\x90\x20\x00PN\x04ABCDSN\x0cMT2134X12345V3\x20" +
                                b"0123456789abcdef" * 2)
    mask = tool.Mask()
    tool.Card("0000:08:00.0").hide(mask)
    text = mask.text("sn MT2134x12345, uuid 0123456789abcdef0123456789abcdef, gid fe80::ba59:9fff:fe12:3456, "
                     "08:00.1 0000:08:00.0 b8:59:9F:12:34:56, again mt2134X12345, at 12:30:45, version 22.35.2000")
    check(text == "sn SERIAL-2, uuid SERIAL-1, gid GID-1, PCI-1 PCI-2 MAC-1, again SERIAL-2, at 12:30:45, "
          "version 22.35.2000", text)


def whole():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-card.") as work:
        masked(work)
        archive, files, out = card_check(work, "card.tar.gz",
                                         emu=[*CHANGED, "--mac", f"0={MACS[0]}", "--mac", f"1={MACS[1]}"])
        for name in ("capabilities", "profile", "traffic", "queues", "vlan", "jumbo", "restart", "clock",
                     "clock_verify", "perf"):
            row(out, name, "passed")
        check("scatter_fcs                      recorded 0        cx6dx 1" in files["card-check/profile.log"].decode(),
              files["card-check/profile.log"])
        anonymous(files)
        imported(work, archive, json.loads(files["card-check/capabilities.json"]))
        damaged(work, archive)


def destructive():
    with tempfile.TemporaryDirectory(prefix="mlxpmd-card.") as work:
        _, files, out = card_check(work, "card.tar.gz", "--destructive")
        row(out, "fatal", "passed")
        row(out, "removal", "passed")
        anonymous(files)


main(destructive if sys.argv[1:] == ["destructive"] else whole)
