# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Client of the DPDK telemetry socket of a program that was started with pmdlib's --file-prefix."""
import json
import socket

import pmdlib


class Client:
    def __init__(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(30)
        self.sock.connect(f"/var/run/dpdk/{pmdlib.PREFIX}/dpdk_telemetry.v2")
        self.hello = json.loads(self.sock.recv(16384).decode())

    def raw(self, command):
        """Send a command; the whole reply."""
        self.sock.send(command.encode("latin-1"))
        return json.loads(self.sock.recv(self.hello["max_output_len"]).decode("latin-1"))

    def query(self, command):
        """Send a command; the value of the reply, None if the command failed."""
        answer = self.raw(command)
        return answer[command.split(",")[0]]
