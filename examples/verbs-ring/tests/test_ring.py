# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The program on emulated cards, by the pytest plugin pytest-mlxemu. RING: path of the program."""
import os

import pytest

RING = os.environ.get("RING", "build/verbs-ring")


@pytest.mark.parametrize("profile", ["cx4lx", "cx5", "cx6dx", "cx7"])
def test_cards(mlxemu, profile):
    run = mlxemu(ports=2, profile=profile).run(RING)
    assert run.stdout.startswith("queue pair 0x")
    assert any("CREATE_SQ" in line and " OK " in line for line in run.trace)


def test_one_completion_queue(mlxemu):
    run = mlxemu().run(RING)
    assert sum("CREATE_CQ" in line for line in run.trace) == 1
    assert run.counters[0]["doorbells"] == 0


@pytest.mark.mlxemu_fault("on cmd.entry match op=ALLOC_PD do fail status=NO_RESOURCES",
                          "on cmd.entry match op=CREATE_CQ do fail status=NO_RESOURCES",
                          "on ioctl match method=QP_CREATE do fail errno=ENOMEM")
def test_refused(mlxemu):
    """The program reports the refusal, and leaves nothing behind."""
    run = mlxemu().run(RING, status=1)
    assert run.stderr.startswith("ibv_") and not run.stdout
