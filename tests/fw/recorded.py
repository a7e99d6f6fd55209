#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Replay on the emulator what a kernel's mlx5_core sent to a real card when it started.

Usage: recorded.py REPLAY [FILE]

FILE (or the environment variable MLXEMU_RECORDING) is a kernel log with dyndbg="module mlx5_core +p", gzipped or
not, such as src/apps/mellanox/trace-mlx5_core.txt.gz of github.com/snabbco/snabb (ConnectX-4 Lx, firmware 14.12.1220).
Lengths, counts and order are those of the recording. The log has the first mailboxes of a long command only: the rest
of a list of pages continues with other pages, and other commands with zeros.
"""
import gzip
import itertools
import os
import pathlib
import re
import struct
import subprocess
import sys

ENTRY = re.compile(r"dump command .*?\(?(0x[0-9a-f]+)\) (INPUT|OUTPUT)")
WORDS = re.compile(r"\] ([0-9a-f]{3,}): ((?:[0-9a-f]{8} ?){4})\s*$")
BLOCK_BYTES = 512
MANAGE_PAGES, QUERY_HCA_CAP, SET_HCA_CAP = 0x108, 0x100, 0x109
# Pages that the log does not show.
MORE_PAGES = itertools.count(0xc00000000, 4096)


def messages(text):
    """(direction, bytes of the command entry, bytes of its mailboxes) in the order of the log."""
    found = []
    for line in text.splitlines():
        entry, words = ENTRY.search(line), WORDS.search(line)
        if entry:
            found.append([entry[2], [b""]])
        elif "command block" in line and found:
            found[-1][1].append(b"")
        elif words and found:
            found[-1][1][-1] += struct.pack(">4I", *(int(word, 16) for word in words[2].split()))
    for direction, (head, *blocks) in found:
        # The console also has blocks that continue at the entry's dump.
        mail = head[64:] + b"".join(blocks)
        yield direction, head[:64], mail


def unblocked(mail):
    """Data of mailboxes: 512 bytes of each 576."""
    size = BLOCK_BYTES + 64
    return b"".join(mail[at:at + BLOCK_BYTES] for at in range(0, len(mail), size))


def inbox(entry, mail):
    length = int.from_bytes(entry[4:8], "big")
    data = (entry[16:32] + unblocked(mail))[:length]
    opcode = int.from_bytes(data[:2], "big")
    while len(data) < length:
        data += struct.pack(">Q", next(MORE_PAGES)) if opcode == MANAGE_PAGES else bytes(8)
    return opcode, data[:length]


def outbox(entry, mail):
    return (entry[32:48] + unblocked(mail))[:int.from_bytes(entry[60 - 4:60], "big")]


def lines(text):
    read = b""
    opcode, data = 0, b""
    for direction, entry, mail in messages(text):
        if direction == "INPUT":
            opcode, data = inbox(entry, mail)
            before = read[16:].hex() if opcode == SET_HCA_CAP else ""
            yield f"0x{opcode:x} {int.from_bytes(entry[56:60], 'big')} {data.hex()} {before}"
        elif opcode == QUERY_HCA_CAP and data[6:8] == b"\0\1":
            read = outbox(entry, mail)


def main():
    name = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MLXEMU_RECORDING")
    if not name:
        print("skipped: no recording (MLXEMU_RECORDING)")
        return 77
    raw = pathlib.Path(name).read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode(errors="replace")
    return subprocess.run([sys.argv[1]], input="\n".join(lines(text)) + "\n", text=True, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
