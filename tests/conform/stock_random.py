# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Random flows and packets on net_mlx5 and mlxpmd: what both accept has the same effect, that of flow_model.py.

flow_play.c plays a script on either driver. First each flow alone, to see who accepts it; then sets of those that
both accept, with packets. Compared are queue, mark, metadata and bytes, or loss, of each packet, and the counters of
each flow.
"""
import os
import random
import tempfile

import flow_model
import pmdlib
import stocklib
from conform import Case
from e2e import BUILD, check, emu

PER_SET = 20
PRIORITIES = 4
# name, driver, devargs, group, options of the emulator
STOCK = [("net_mlx5", "mlx5_pci", "", 0, ()), ("net_mlx5 dv_flow_en=0", "mlx5_pci", "dv_flow_en=0", 0, ())]
OWN = [("net_mlxpmd", "net_mlxpmd", "", 0, ()), ("net_mlxpmd, group 3", "net_mlxpmd", "", 3, ()),
       ("net_mlxpmd open=vfio", "net_mlxpmd", "open=vfio", 0, ("--open", "vfio"))]


def eth_of(flow):
    return next(fields for kind, fields in flow.items if kind == "eth")


def type_alone(flow):
    return "type" in eth_of(flow) and "has_vlan" not in eth_of(flow)


def type_in_part(flow):
    return type_alone(flow) and eth_of(flow)["type"][1] != 0xffff


def type_behind_tag(flow):
    return "type" in eth_of(flow) and eth_of(flow).get("has_vlan") == (1, 1)


def meta_with_gaps(flow):
    """A set_meta behind another one, under a mask whose bits are not all in a row."""
    masks = [change.meta[1] for change in flow.changes if change.meta]
    return any(mask & (mask + (mask & -mask)) for mask in masks[1:])


# Flows with which the stock PMD is wrong by rte_flow's documentation, and which are not compared:
# {driver: [(what, predicate)]}.
STOCK_WRONG = {
    "net_mlx5": [
        # flow_dv_translate_item_eth() requires an untagged packet under mask 0xffff only.
        ("under another mask than 0xffff the type matches what is behind a tag", type_in_part),
        # It returns after the first of both that it knows: types 0x0800 and 0x86dd, else has_vlan.
        ("of type and has_vlan 1 one is not matched", type_behind_tag),
        # flow_dv_convert_modify_action() sets all bits from the first of the mask to the last.
        ("bits of metadata that set_meta leaves out become 0", meta_with_gaps),
    ],
    "net_mlx5 dv_flow_en=0": [
        ("the type of an Ethernet item matches what is behind a tag, where it is the TPID", type_alone),
    ],
}


def random_set(rng):
    """Flows of different priorities, and packets of which more than half are made for one of them."""
    flows = [flow_model.random_flow(rng, n) for n in rng.sample(range(PRIORITIES), rng.randrange(1, PRIORITIES + 1))]
    packets = []
    while len(packets) < PER_SET:
        own = rng.random() < 0.6
        packet = flow_model.packet_for(rng, rng.choice(flows)) if own else flow_model.random_packet(rng)
        packet = flow_model.complete(packet)
        if packet:
            packets.append(packet)
    return flows, packets


def run(setup, driver, lines):
    """What flow_play prints."""
    _, name, devargs, group, emu_args = driver
    args = pmdlib.eal(devargs, lcores="0") if name == "net_mlxpmd" else stocklib.eal(devargs)
    with tempfile.NamedTemporaryFile("w", prefix="mlxpmd-conform.", suffix=".flows") as script:
        script.write("\n".join(lines) + "\n")
        script.flush()
        result = emu([BUILD / "tests/conform/flow_play", *args, "--", name, str(group), script.name], timeout=250,
                     extra=["--seed", "0", *emu_args, *setup.emu_args], audit=False)
    check(result.status == 0, f"{driver[0]}: {result.out[-3000:]}")
    return [line.split() for line in result.out.splitlines() if line.startswith(("flow ", "packet ", "count "))]


def accepted(setup, driver, flows):
    """Indices of flows that a driver accepts, each alone."""
    out = run(setup, driver, [line for flow in flows for line in ("set", flow.line())])
    check(len(out) == len(flows), f"{driver[0]}: {len(out)} answers on {len(flows)} flows")
    return {n for n, words in enumerate(out) if words[1] == "created"}


def script(sets):
    lines = []
    for flows, packets in sets:
        lines += ["set", *(flow.line() for flow in flows)]
        lines += [f"packet {flow_model.frame(packet, n).hex()}" for n, packet in enumerate(packets)]
        lines.append("play")
    return lines


def expected(sets):
    """What flow_play has to print."""
    out = []
    for flows, packets in sets:
        out += [["flow", "created"]] * len(flows)
        hits = [[0, 0] for _ in flows]
        for n, packet in enumerate(packets):
            flow = flow_model.taker(flows, packet)
            out.append(["packet", "0", "-1", "0x0", flow_model.frame(packet, n).hex()] if flow is None else
                       ["packet", "lost"] if flow.queue < 0 else
                       ["packet", str(flow.queue), str(flow.mark), hex(flow_model.changed(packet, flow.changes)[1]),
                        flow_model.changed_frame(packet, flow.changes, n).hex()])
            if flow is not None:
                hits[flows.index(flow)][0] += 1
                hits[flows.index(flow)][1] += len(flow_model.frame(packet, n))
        flow = flow_model.taker(flows, flow_model.MARKER)
        if flow is not None:
            hits[flows.index(flow)][0] += 1
            hits[flows.index(flow)][1] += flow_model.MARKER_BYTES
        out += [["count", str(packets_), str(bytes_)] for packets_, bytes_ in hits]
    return out


def named(sets):
    """What each line of the output is about."""
    for flows, packets in sets:
        for flow in flows:
            yield f"{flow}"
        for packet in packets:
            yield f"{packet} with {flows}"
        for flow in flows:
            yield f"counter of {flow} with {packets}"


def differences(name, found, wanted, sets):
    check(len(found) == len(wanted), f"{name}: {len(found)} lines, not {len(wanted)}")
    return [f"{name}: {' '.join(f)}, not {' '.join(w)}: {what}"
            for f, w, what in zip(found, wanted, named(sets)) if f != w]


def compare(setup, sets, accept, drivers):
    """Plays what all of these drivers accept; pairs of a set and a packet, and differences from the model."""
    both = set.intersection(*(accept[driver[0]] for driver in drivers))
    known = [(what, wrong) for driver in drivers for what, wrong in STOCK_WRONG.get(driver[0], [])]
    for what, wrong in known:
        left_out = {n for n, flow in enumerate(f for flows, _ in sets for f in flows) if n in both and wrong(flow)}
        both -= left_out
        print(f"  {len(left_out)} flows are left out: {what}")
    chosen, at = [], 0
    for flows, packets in sets:
        kept = [flow for n, flow in enumerate(flows) if at + n in both]
        at += len(flows)
        if kept:
            chosen.append((kept, packets))
    wanted, lines = expected(chosen), script(chosen)
    taken = sum(words[0] == "packet" and words[1] != "0" for words in wanted)
    pairs = sum(len(packets) for _, packets in chosen)
    wrong = []
    for driver in drivers:
        wrong += differences(driver[0], run(setup, driver, lines), wanted, chosen)
    print(f"{' = '.join(d[0] for d in drivers)}: {len(both)} flows that all accept in {len(chosen)} sets, {pairs} "
          f"pairs of a set and a packet, {taken} taken by a flow, {len(wrong)} different")
    return pairs, wrong


def random_flows(setup):
    """10,000 pairs, in the short form 1,000."""
    seed = int(os.environ.get("MLXPMD_FLOW_SEED", "1"))
    rng = random.Random(seed)
    count = max(2, int(600 * setup.scale))
    sets = [random_set(rng) for _ in range(count)]
    flows = [flow for some, _ in sets for flow in some]
    accept = {driver[0]: accepted(setup, driver, flows) for driver in [*STOCK, *OWN]}
    for name, some in accept.items():
        print(f"{name}: {len(some)} of {len(flows)} flows accepted, {len(flows) - len(some)} refused (seed {seed})")
    total, wrong = 0, []
    for drivers in [(STOCK[0], OWN[0]), (STOCK[1], OWN[0]), OWN]:
        pairs, differ = compare(setup, sets, accept, drivers)
        total, wrong = total + pairs, wrong + differ
    for text in wrong[:20]:
        print(text)
    check(not wrong, f"{len(wrong)} effects are wrong: {wrong[:1]}")
    return total


CASES = [
    Case("flow-random", "rte_flow: random flows and packets, mlxpmd = net_mlx5 = model", random_flows,
         "on cqe.write do set field=sop_drop_qpn"),
]
