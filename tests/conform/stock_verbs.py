# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Cases of the stock PMD with dv_flow_en=0: queues and rules by the verbs of the kernel."""
import stock_flow
import stock_forward
import stocklib
from conform import Case
from stocklib import forwarded, queues

MILLION = 1_000_000
VERBS = "dv_flow_en=0"


def verbs_forward(setup):
    """Queue pairs, work queues and completion queues that the kernel makes."""
    count = forwarded(setup, "io", 0.6 * MILLION, VERBS)
    count += forwarded(setup, "mac", 0.4 * MILLION, VERBS, queues(4))
    return count + forwarded(setup, "io", 0.2 * MILLION, f"{VERBS},rx_vec_en=0,txq_mpw_en=0")


VARIANTS = [
    (VERBS, queues(4), 60, "Vector SSE"),
    (f"{VERBS},rxq_cqe_comp_en=0,rx_vec_en=0", queues(1), 60, "Scalar"),
]


def verbs_receive(setup):
    # net_mlx5 requests the format of striding queues by default, whatever the device has.
    plain = "" if stocklib.caps()["mini_cqe_resp_stride_index"] else ",rxq_cqe_comp_en=0"
    variants = [*VARIANTS, (f"{VERBS},{stock_forward.MPRQ}{plain}", queues(1), 60, "MPRQ Vector SSE")]
    return stock_forward.received_variants(setup, variants, 1.2 * MILLION)


def verbs_rules(setup):
    return stock_flow.root_rules(setup, VERBS)


CASES = [
    Case("verbs", "dv_flow_en=0: io and mac, one queue and four", verbs_forward, "on rx.deliver do set off=0"),
    Case("verbs-rx", "dv_flow_en=0: rxonly, vector, scalar, MPRQ", verbs_receive, "on cqe.write do set field=byte_cnt"),
    Case("verbs-flow", "dv_flow_en=0: rte_flow queue, rss, drop, count", verbs_rules,
         "on ioctl.out match method=COUNTERS_READ do set off=0 value=7"),
]
