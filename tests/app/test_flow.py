#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The flow commands of dpdk-test-mlx, on the emulator: each field of each item as the driver's dump of the flow has it,
each action, what becomes of packets, and mistakes, which are named."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import e2e  # noqa: E402
from e2e import check  # noqa: E402

PROMPT = "test-mlx> "
IP = "eth / ipv4"
# Pattern, and what the dump has of it besides what the headers before the last imply.
FIELDS = (
    ("eth dst is 02:01:02:03:04:05", "dmac_47_16=0x2010203/0xffffffff dmac_15_0=0x405/0xffff"),
    ("eth src spec 02:01:02:03:04:05 src prefix 20", "smac_47_16=0x2010000/0xfffff000"),
    ("eth type is 0x88b5", "ethertype=0x88b5/0xffff"), ("eth has_vlan is 1", "cvlan_tag=0x1/0x1"),
    ("eth has_vlan spec 0 has_vlan mask 1", "cvlan_tag=0x0/0x1"),
    ("eth type is 0x8100", "cvlan_tag=0x1/0x1 svlan_tag=0x0/0x1"),
    ("eth type is 0x88a8 / vlan inner_type is 0x88b5", "cvlan_tag=0x0/0x1 svlan_tag=0x1/0x1 ethertype=0x88b5/0xffff"),
    ("eth / vlan vid is 0x123 pcp is 5 dei is 1", "first_prio=0x5/0x7 first_cfi=0x1/0x1 first_vid=0x123/0xfff"),
    ("eth / vlan tci spec 0x2123 tci mask 0xf0ff", "first_prio=0x1/0x7 first_cfi=0x0/0x1 first_vid=0x23/0xff"),
    ("eth / vlan inner_type is 0x0806", "ethertype=0x806/0xffff"),
    ("eth / vlan has_more_vlan is 1", "misc_parameters.outer_second_cvlan_tag=0x1/0x1"),
    (IP + " src is 10.1.2.3", "src_ipv4_src_ipv6.dword[3]=0xa010203/0xffffffff"),
    (IP + " dst spec 10.1.2.3 dst mask 255.0.0.255", "dst_ipv4_dst_ipv6.dword[3]=0xa000003/0xff0000ff"),
    (IP + " tos spec 0xb9 tos prefix 6 ttl is 64 proto is 89",
     "ip_dscp=0x2e/0x3f ttl_hoplimit=0x40/0xff ip_protocol=0x59/0xff"),
    (IP + " fragment_offset spec 0 fragment_offset mask 0x3fff", "frag=0x0/0x1"),
    (IP + " fragment_offset spec 1 fragment_offset last 0x3fff fragment_offset mask 0x3fff", "frag=0x1/0x1"),
    ("eth / ipv6 src is 2001:db8::1:2", "src_ipv4_src_ipv6.dword[0]=0x20010db8/0xffffffff "
                                        "src_ipv4_src_ipv6.dword[3]=0x10002/0xffffffff"),
    ("eth / ipv6 dst spec 2001:db8:: dst prefix 33", "dst_ipv4_dst_ipv6.dword[0]=0x20010db8/0xffffffff "
                                                     "dst_ipv4_dst_ipv6.dword[1]=0x0/0x80000000"),
    ("eth / ipv6 tc is 0x12 flow is 0x54321 proto is 6 hop is 9 has_frag_ext is 0",
     "ip_dscp=0x4/0x3f ip_ecn=0x2/0x3 misc_parameters.outer_ipv6_flow_label=0x54321/0xfffff ip_protocol=0x6/0xff "
     "ttl_hoplimit=0x9/0xff frag=0x0/0x1"),
    ("eth / ipv6 / ipv6_frag_ext next_hdr is 17", "frag=0x1/0x1 ip_protocol=0x11/0xff"),
    (IP + " / udp src is 1 dst spec 0x1200 dst prefix 8", "udp_sport=0x1/0xffff udp_dport=0x1200/0xff00"),
    (IP + " / tcp src is 1 dst is 2 flags spec 0x12 flags mask 0x3f seq is 0xfeedbeef ack is 7",
     "tcp_sport=0x1/0xffff tcp_dport=0x2/0xffff tcp_flags=0x12/0x3f "
     "misc_parameters_3.outer_tcp_seq_num=0xfeedbeef/0xffffffff misc_parameters_3.outer_tcp_ack_num=0x7/0xffffffff"),
    (IP + " / sctp", "ip_protocol=0x84/0xff"), (IP + " / ah", "ip_protocol=0x33/0xff"),
    (IP + " / icmp type is 8 code is 1 ident is 3 seq is 4",
     "misc_parameters_3.icmp_type=0x8/0xff misc_parameters_3.icmp_code=0x1/0xff "
     "misc_parameters_3.icmp_header_data=0x30004/0xffffffff"),
    ("eth / ipv6 / icmp6 type is 135 code is 2",
     "misc_parameters_3.icmpv6_type=0x87/0xff misc_parameters_3.icmpv6_code=0x2/0xff"),
    (IP + " / esp spi is 0x10", "misc_parameters.outer_esp_spi=0x10/0xffffffff"),
    (IP + " / gre protocol is 0x0800 k_bit is 1 c_bit is 0 s_bit is 1",
     "misc_parameters.gre_protocol=0x800/0xffff misc_parameters.gre_k_present=0x1/0x1 "
     "misc_parameters.gre_c_present=0x0/0x1 misc_parameters.gre_s_present=0x1/0x1"),
    (IP + " / gre / gre_key value is 0x01020304",
     "misc_parameters.gre_key_h=0x10203/0xffffff misc_parameters.gre_key_l=0x4/0xff"),
    (IP + " / nvgre tni is 0x123456", "misc_parameters.gre_key_h=0x123456/0xffffff"),
    (IP + " / udp / vxlan vni is 0x123456", "misc_parameters.vxlan_vni=0x123456/0xffffff"),
    (IP + " / udp / vxlan-gpe vni is 5 protocol is 3 flags is 0xc",
     "misc_parameters_3.outer_vxlan_gpe_vni=0x5/0xffffff misc_parameters_3.outer_vxlan_gpe_next_protocol=0x3/0xff "
     "misc_parameters_3.outer_vxlan_gpe_flags=0xc/0xff"),
    (IP + " / udp / geneve vni is 5 protocol is 0x6558 optlen is 3",
     "misc_parameters.geneve_vni=0x5/0xffffff misc_parameters.geneve_protocol_type=0x6558/0xffff "
     "misc_parameters.geneve_opt_len=0x3/0x3f"),
    (IP + " / udp / gtpu teid is 9 msg_type is 255 v_pt_rsv_flags spec 0x34 v_pt_rsv_flags mask 0x07",
     "misc_parameters_3.gtpu_teid=0x9/0xffffffff misc_parameters_3.gtpu_msg_type=0xff/0xff "
     "misc_parameters_3.gtpu_msg_flags=0x4/0x7"),
    (IP + " / udp / mpls label is 0x12345 tc is 5 s is 0 ttl is 9",
     "misc_parameters_2.outer_first_mpls_over_udp.mpls_label=0x12345/0xfffff "
     "misc_parameters_2.outer_first_mpls_over_udp.mpls_ttl=0x9/0xff"),
    (IP + " / udp / gtp teid is 9", "misc_parameters_3.gtpu_teid=0x9/0xffffffff udp_dport=0x868/0xffff"),
    ("port_id id is 0 / eth type is 0x88b5", "ethertype=0x88b5/0xffff"),
    ("mark id is 5 / eth", "misc_parameters_2.metadata_reg_c_0=0x80000005/0xffffffff"),
    ("tag data is 0x500 index is 3 / eth", "misc_parameters_2.metadata_reg_c_5=0x500/0xffffffff"),
    ("meta data is 0x12345678 / eth", "misc_parameters_2.metadata_reg_c_1=0x12345678/0xffffffff"),
    (IP + " / udp / vxlan / eth / ipv4 src is 10.9.8.7",
     "inner_headers.src_ipv4_src_ipv6.dword[3]=0xa090807/0xffffffff"),
    # Without a mask the one of rte_flow applies, and void is nothing.
    ("void / eth / vlan tci spec 0xf123 / void", "first_vid=0x123/0xfff"),
)
KEY = "".join(f"{n:02x}" for n in range(40))
ACTIONS = (
    ("queue index 3", "action queues 3"), ("drop", "action drop"), ("jump group 70", "action jump 70"),
    ("mark id 0xabc / queue index 0", "action queues 0 tag 0xabd"),
    ("flag / queue index 0", "action queues 0 tag 0xfffffe"),
    ("count / drop", "action drop counter"), ("count identifier 7 / void / drop", "action drop counter"),
    ("rss types ipv4 udp end queues 2 0 end / mark id 1", "action queues 2 0 rss 0x20824 tag 0x2"),
    (f"rss queues 1 2 end func symmetric_toeplitz level 1 key {KEY} types ipv4-udp l3-src-only end",
     "action queues 1 2 rss 0x8000000000000020"),
    ("rss types ipv6-tcp end func toeplitz", "action queues 0 1 2 3 rss 0x400"),
    ("age timeout 10 / drop", "action drop"),
    ("indirect 3", "action queues 1"), ("indirect 9 / drop", "action drop counter"),
)
# Flows of port 1 that change packets: the rest of the command.
CHANGES = (
    "ingress pattern eth / ipv4 / udp dst is 9 / end actions set_mac_src mac_addr 02:00:00:00:00:aa / "
    "set_mac_dst mac_addr 02:00:00:00:00:bb / set_ipv4_src ipv4_addr 192.0.2.1 / set_ipv4_dst ipv4_addr 192.0.2.2 / "
    "set_ipv4_dscp dscp_value 46 / set_ttl ttl_value 7 / set_tp_src port 1111 / set_tp_dst port 2222 / queue index 1 / "
    "end",
    "ingress pattern eth / ipv6 / tcp / end actions set_ipv6_src ipv6_addr 2001:db8::1 / set_ipv6_dst ipv6_addr "
    "2001:db8::2 / set_ipv6_dscp dscp_value 8 / dec_ttl / inc_tcp_seq value 5 / dec_tcp_ack value 3 / modify_field op "
    "set dst_type tcp_port_dst src_type value src_value 04d2 width 16 / queue index 2 / end",
    "ingress pattern eth / vlan vid is 5 / end actions of_set_vlan_vid vlan_vid 77 / queue index 0 / end",
    "ingress pattern eth / vlan vid is 6 / end actions jump group 1 / end",
    "group 1 ingress pattern eth / vlan / end actions of_pop_vlan / queue index 3 / end",
    "ingress pattern eth / ipv4 / udp / vxlan / end actions vxlan_decap / queue index 0 / end",
)
# Those that need no packet: the driver accepts them.
VALID = (
    "ingress pattern eth / ipv4 / gre / ipv4 / end actions raw_decap size 38 / "
    "raw_encap data 0200000000010200000000020800 / queue index 0 / end",
    "ingress pattern eth / ipv4 / nvgre / eth / end actions nvgre_decap / queue index 0 / end",
    "ingress pattern eth / ipv4 / tcp / end actions set_tag data 0x500 mask 0xf00 index 3 / "
    "set_meta data 7 mask 0xff / dec_tcp_seq value 1 / inc_tcp_ack value 1 / jump group 3 / end",
    "ingress pattern eth / ipv4 / udp / end actions "
    "modify_field op add dst_type ipv4_ttl src_type value src_value 03 width 8 / "
    "modify_field op set dst_type udp_port_dst dst_offset 8 src_type udp_port_src src_offset 8 width 8 / "
    "queue index 0 / end",
    "egress group 1 pattern eth / ipv4 / end actions of_push_vlan ethertype 0x8100 / of_set_vlan_vid vlan_vid 7 / "
    "of_set_vlan_pcp vlan_pcp 5 / end",
    "egress pattern eth / end actions nvgre_encap ip-version ipv6 ip-dst 2001:db8::2 ip-src 2001:db8::1 tni 7 eth-dst "
    "02:00:00:00:00:02 / end",
    "egress pattern tx_queue tx_queue_value is 3 / eth / end actions count / drop / end",
)
CREATE = "flow create 0 ingress pattern "
# Line, and what its message has.
MISTAKES = (
    ("flow create", "wrong arguments"), ("flow nothing 0", "wrong arguments"),
    ("flow list x", "port 'x': a number from 0"), ("flow list 7", "no port '7'"),
    ("flow flush 0 x", "'x' behind the end"),
    ("flow create 0 sideways pattern eth / end actions drop / end", "no attribute 'sideways' (group priority"),
    ("flow create 0 ingress", "pattern is missing"), ("flow create 0 group x pattern", "group 'x'"),
    ("flow create 0 priority", "priority is missing"),
    (CREATE + "eht / end actions drop / end", "no item 'eht' (void eth vlan"),
    (CREATE + "eth", "/ is missing"), (CREATE + "eth / end", "actions is missing"),
    (CREATE + "eth /", "an item is missing"),
    (CREATE + "eth / end drop / end", "'drop' in place of actions"),
    (CREATE + "eth dest is 1 / end", "item eth has no field 'dest' (dst src type has_vlan)"),
    (CREATE + "void x is 1 / end", "item void has no field 'x' (it has none)"),
    (CREATE + "eth dst equals 1 / end", "'equals' behind dst: is, spec"), (CREATE + "eth dst is", "a value is missing"),
    (CREATE + "eth dst is 1 / end", "dst '1' is not a value"),
    (CREATE + "eth type is 65536 / end", "type '65536' is not"),
    (CREATE + "eth type is -1 / end", "type '-1' is not"), (CREATE + "eth has_vlan is 2 / end", "has_vlan '2' is not"),
    (CREATE + "eth / vlan vid is 4096 / end", "vid '4096' is not"),
    (CREATE + "eth / ipv4 src is ::1 / end", "src '::1' is not"),
    (CREATE + "eth / ipv6 src is 1.2.3.4 / end", "src '1.2.3.4' is not"),
    (CREATE + "eth / ipv4 src prefix 33 / end", "src prefix '33': 0 to 32 bits"),
    (CREATE + "eth / vlan vid prefix 13 / end", "vid prefix '13': 0 to 12 bits"),
    (CREATE + 16 * "void / " + "end actions drop / end", "more than 15 items"),
    (CREATE + "eth / end actions " + 16 * "void / " + "drop / end", "more than 15 actions"),
    (CREATE + "eth / end actions dorp / end", "no action 'dorp' (void drop queue"),
    (CREATE + "eth / end actions drop", "/ is missing"), (CREATE + "eth / end actions drop /", "an action is missing"),
    (CREATE + "eth / end actions drop x / end", "action drop: 'x' in place of /"),
    (CREATE + "eth / end actions drop / end x", "'x' behind the end"),
    (CREATE + "eth / end actions queue / end", "action queue: index is missing"),
    (CREATE + "eth / end actions queue index 65536 / end", "queue: index '65536' is not"),
    (CREATE + "eth / end actions age 5 / end", "timeout is missing"),
    (CREATE + "eth / end actions age timeout 16777216 / end", "0 to 16777215"),
    (CREATE + "eth / end actions rss types ipx end / end", "no RSS type 'ipx' (none all ip"),
    (CREATE + "eth / end actions rss types ip", "end of the types is missing"),
    (CREATE + "eth / end actions rss queues 0 x end / end", "queue 'x'"),
    (CREATE + "eth / end actions rss queues" + 1025 * " 0" + " end / end", "more than 1024 queues"),
    (CREATE + "eth / end actions rss func crc / end", "function 'crc' is none of"),
    (CREATE + "eth / end actions rss key 012 / end", "RSS key: two"),
    (CREATE + "eth / end actions rss key zz / end", "RSS key"),
    (CREATE + "eth / end actions rss colour 1 / end", "action rss has no 'colour'"),
    (CREATE + "eth / end actions indirect 1 / end", "no indirect action 1"),
    (CREATE + "eth / end actions set_mac_src / end", "set_mac_src: mac_addr is missing"),
    (CREATE + "eth / end actions set_mac_src mac_addr 5 / end", "set_mac_src: mac_addr '5' is not"),
    (CREATE + "eth / end actions set_ttl ttl_value 256 / end", "ttl_value '256' is not"),
    (CREATE + "eth / end actions raw_decap 14 / end", "raw_decap: size is missing"),
    (CREATE + "eth / end actions raw_encap data 0x / end", "data: two hexadecimal digits"),
    (CREATE + "eth / end actions vxlan_encap vni 5 / end",
     "vxlan_encap: ip-version ipv4 or ip-version ipv6 is missing"),
    (CREATE + "eth / end actions vxlan_encap ip-version ipv5 / end", "ip-version ipv4 or"),
    (CREATE + "eth / end actions vxlan_encap ip-version ipv4 tni 5 / end",
     "vxlan_encap has no 'tni' (eth-dst eth-src ip-src ip-dst udp-src udp-dst vni)"),
    (CREATE + "eth / end actions nvgre_encap ip-version ipv6 tni 0x1000000 / end",
     "nvgre_encap: tni '0x1000000' is not"),
    (CREATE + "eth / end actions nvgre_encap ip-version ipv6 ip-src 1.2.3.4 / end", "ip-src '1.2.3.4' is not"),
    (CREATE + "eth / end actions of_push_vlan / end", "of_push_vlan: ethertype is missing"),
    (CREATE + "eth / end actions of_set_vlan_pcp vlan_pcp 8 / end", "vlan_pcp '8' is not"),
    (CREATE + "eth / end actions modify_field op mul / end", "op 'mul' is none of set add sub"),
    (CREATE + "eth / end actions modify_field op set dst_type ttl / end", "type 'ttl' is none of"),
    (CREATE + "eth / end actions modify_field dst_colour 1 / end", "modify_field has no 'dst_colour'"),
    # By the driver.
    (CREATE + "eth / end actions queue index 4 / end", "refused: Rx queue 4 does not exist: the port has 4"),
    ("flow validate 0 egress pattern eth / end actions queue index 0 / end", "refused"),
    ("flow validate 0 egress pattern tx_queue tx_queue_value is 4 / end actions drop / end", "Tx queue 4 of 4"),
    ("flow destroy 0", "rule N is missing"), ("flow destroy 0 5", "'5' in place of rule"),
    ("flow destroy 0 rule 5", "no flow rule #5"), ("flow query 0 5 count", "no flow rule #5"),
    ("flow query 0 0 colour", "count or age, not 'colour'"), ("flow list 0 gruppe 1", "'gruppe' in place of group"),
    ("flow isolate 0 2", "isolate '2'"), ("flow isolate 0 1", "isolate refused"), ("flow dump 0", "all or rule N"),
    ("flow dump 0 rule 9", "no flow rule #9"), ("flow dump 0 all /nonexistent/x", "cannot write"),
    ("flow aged 0 now", "'now' in place of destroy"),
    ("flow indirect_action 0 make", "create, destroy, update or query, not 'make'"),
    ("flow indirect_action 0 create", "action is missing"),
    ("flow indirect_action 0 create ingess", "'ingess': action_id"),
    ("flow indirect_action 0 create ingress action drop / end", "indirect action refused"),
    ("flow indirect_action 0 destroy 1", "action_id N is missing"), ("flow indirect_action 0 query 4", "action #4"),
    ("flow indirect_action 0 update 4 action drop / end", "action #4"),
)


def run(script, *options, devargs="", extra=()):
    """Run the commands on two ports of four queues; returns {number of the line: output} and the whole output."""
    with tempfile.TemporaryDirectory(prefix="mlxapp.") as work:
        path = pathlib.Path(work) / "script"
        path.write_text("\n".join(script) + "\n", encoding="utf-8")
        program = [e2e.TEST_MLX, *e2e.eal(devargs=devargs), "--", "--rxq", "4", "--txq", "4", "--rxd", "512",
                   "--cmds", path, *options]
        result = e2e.emu(program, extra=extra)
    check(result.report.get("audit") == "clean", result.report.text)
    parts = result.out.split(PROMPT)[1:]
    check(len(parts) == len(script), f"{len(parts)} commands of {len(script)} ran\n{result.out[-3000:]}")
    for line, part in zip(script, parts):
        check(part.startswith(line + "\n"), f"{line}: {part}")
    return [part.partition("\n")[2] for part in parts], result


def items():
    """Each field, by the dump of a flow that matches it."""
    script = []
    for pattern, _ in FIELDS:
        script += [f"flow create 0 group 1 ingress pattern {pattern} / end actions drop / end", "flow dump 0 all",
                   "flow flush 0"]
    parts, result = run(script, extra=["--cap", "flex_parser_protocols=0xfff"])
    check(result.status == 0, result.out[-3000:])
    for n, (pattern, fields) in enumerate(FIELDS):
        dump = parts[3 * n + 1].split()
        for field in fields.split():
            path = field if "." in field.split("=")[0].replace(".dword", "") else "outer_headers." + field
            check(path in dump, f"{pattern}: no {path} in {parts[3 * n + 1]}")


def actions():
    script = ["flow indirect_action 0 create action_id 3 ingress action queue index 1 / end",
              "flow indirect_action 0 create action_id 9 ingress action count / end"]
    for text, _ in ACTIONS:
        script += [f"{CREATE}eth / ipv4 / end actions {text} / end", "flow dump 0 all", "flow flush 0"]
    script += ["flow indirect_action 0 query 9", "flow indirect_action 0 query 3",
               "flow indirect_action 0 destroy action_id 3", "flow indirect_action 0 create ingress action count / end"]
    parts, result = run(script)
    check(result.out.count(": failed") == 2 and "#3 is not count" in parts[-3], result.out[-3000:])
    check("hits: 0" in parts[-4] and "action #3 destroyed" in parts[-2] and "action #10 created" in parts[-1],
          parts[-4:])
    for n, (text, dump) in enumerate(ACTIONS):
        check(dump in parts[3 * n + 3], f"{text}: {parts[3 * n + 3]}")


def updates():
    """An indirect action leads a flow to other queues."""
    script = ["flow indirect_action 0 create ingress action rss queues 1 end / end",
              CREATE + "eth / end actions indirect 0 / end", "flow dump 0 all",
              "flow indirect_action 0 update 0 action rss queues 3 2 end / end", "flow dump 0 all",
              "flow indirect_action 0 update 0 action rss queues 1 end level 2 / end",
              "flow indirect_action 0 update 0 action rss queues 4 end / end",
              "flow indirect_action 0 update 0 rss", "flow indirect_action 0 query 0 x"]
    parts, result = run(script)
    check("action queues 1 rss" in parts[2] and parts[3] == "Indirect action #0 updated\n" and
          "action queues 3 2 rss" in parts[4], parts)
    check("refused: RSS level: an update" in parts[5] and "queue 4 does not exist" in parts[6] and
          "action is missing" in parts[7] and "'x' behind the end" in parts[8], parts[5:])
    check(result.status == 1, result.out[-3000:])


def effect():
    """Of 3000 packets of the generator's flows all are counted, and then all are dropped; rules are listed by group."""
    script = ["flow create 1 ingress priority 1 pattern eth / ipv4 dst spec 198.18.0.0 dst prefix 15 / udp dst is 9 / "
              "end actions count / mark id 5 / jump group 2 / end",
              "flow create 1 group 2 ingress pattern eth / end actions age timeout 1 / queue index 2 / end",
              "flow create 1 ingress pattern eth / ipv6 / end actions drop / end",
              "flow validate 1 ingress pattern eth / end actions drop / end", "flow list 1", "flow list 1 group 2",
              "start", "wait 20", "check", "flow query 1 0 count", "flow query 1 1 age", "sleep 3",
              "flow aged 1 destroy", "flow list 1", "set window 0", "start", "wait 20", "stop", "flow query 1 0 count",
              "flow destroy 1 rule 0 rule 2", "flow list 1"]
    parts, result = run(script, "--fwd", "gen", "--count", "3000", "--window", "64", "--gen-ports", "1", "--drain",
                        "0.2")
    for n in range(3):
        check(parts[n] == f"Flow rule #{n} created\n", parts[n])
    check(parts[3] == "Flow rule validated\n", parts[3])
    head = "ID\tGroup\tPrio\tAttr\tRule\n"
    first, second, third = ("0\t0\t1\ti--\tETH IPV4 UDP => COUNT MARK JUMP\n", "1\t2\t0\ti--\tETH => AGE QUEUE\n",
                            "2\t0\t0\ti--\tETH IPV6 => DROP\n")
    check(parts[4] == head + first + second + third and parts[5] == head + second, parts[4:6])
    check("check: OK" in parts[8] and " hits: 3000\n" in parts[9], parts[8:10])
    check(parts[10].startswith("AGE:\n aged: 0\n sec_since_last_hit_valid: 1\n"), parts[10])
    aged = "Port 1 total aged flows: 1\nFlow\t1\t2\t0\tETH => AGE QUEUE\nFlow rule #1 destroyed\n"
    check(parts[12] == aged, parts[12])
    check(parts[13] == head + first + third, parts[13])
    check(" hits: 6000\n" in parts[18] and "3000 packets lost" in result.out, parts[18])
    check(parts[19] == "Flow rule #0 destroyed\nFlow rule #2 destroyed\n", parts[19])
    check(parts[20].startswith(head + "\n"), parts[20])


def changes(work):
    """Packets of a capture arrive as the flows change them."""
    from scapy.all import IP, TCP, UDP, VXLAN, Dot1Q, Ether, IPv6, rdpcap, wrpcap
    inner = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="10.9.9.9") / UDP(sport=3, dport=4)
    eth, ip = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02"), IP(src="10.1.2.3", dst="10.1.2.4", ttl=64)
    wrpcap(str(work / "in"), [
        eth / ip / UDP(sport=1000, dport=9), eth / IPv6(hlim=64) / TCP(sport=1, dport=2, seq=100, ack=200),
        eth / Dot1Q(vlan=5) / ip / UDP(sport=1, dport=2), eth / Dot1Q(vlan=6) / ip / UDP(sport=1, dport=2),
        eth / ip / UDP(sport=1, dport=4789) / VXLAN(vni=5) / inner])
    script = [f"flow create 1 {flow}" for flow in CHANGES]
    script += [f"flow validate 1 {flow}" for flow in VALID]
    script += [f"pcap in 0 {work}/in", f"pcap out 1 {work}/out", "start", "wait 10", "stop"]
    parts, result = run(script, "--fwd", "rxonly", "--drain", "0.5")
    for n, part in enumerate(parts[:len(CHANGES)]):
        check(part == f"Flow rule #{n} created\n", f"{script[n]}: {part}")
    for line, part in zip(script[len(CHANGES):], parts[len(CHANGES):len(CHANGES) + len(VALID)]):
        check(part == "Flow rule validated\n", f"{line}: {part}")
    got = {packet.summary(): packet for packet in rdpcap(str(work / "out"))}
    check(len(got) == 5, f"{list(got)}\n{result.out[-2000:]}")
    udp = next(p for p in got.values() if UDP in p and p[UDP].dport == 2222)
    check((udp.src, udp.dst, udp[IP].src, udp[IP].dst, udp[IP].tos, udp[IP].ttl, udp[UDP].sport) ==
          ("02:00:00:00:00:aa", "02:00:00:00:00:bb", "192.0.2.1", "192.0.2.2", 46 << 2, 7, 1111), udp.show(dump=True))
    tcp = next(p for p in got.values() if TCP in p)
    check((tcp[IPv6].src, tcp[IPv6].dst, tcp[IPv6].tc, tcp[IPv6].hlim, tcp[TCP].seq, tcp[TCP].ack, tcp[TCP].dport) ==
          ("2001:db8::1", "2001:db8::2", 8 << 2, 63, 105, 197, 1234), tcp.show(dump=True))
    check([p[Dot1Q].vlan for p in got.values() if Dot1Q in p] == [77], list(got))
    check(any(bytes(p).startswith(bytes(inner)) for p in got.values()), list(got))


def sent(work):
    """Flows of sent packets add tags and tunnels."""
    from scapy.all import GRE, IP, TCP, UDP, VXLAN, Dot1AD, Ether, IPv6, rdpcap, wrpcap
    eth = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = [eth / IP() / UDP(sport=1, dport=9), eth / IPv6() / UDP(sport=1, dport=9), eth / IP() / TCP(dport=9)]
    wrpcap(str(work / "in"), frames)
    script = ["flow create 0 egress pattern eth / ipv4 / udp dst is 9 / end actions vxlan_encap ip-version ipv4 vni 5 "
              "udp-src 1234 udp-dst 4789 ip-src 192.0.2.1 ip-dst 192.0.2.2 eth-src 02:00:00:00:00:11 eth-dst "
              "02:00:00:00:00:22 / end",
              "flow create 0 egress pattern eth / ipv6 / udp / end actions nvgre_encap ip-version ipv6 tni 0x123456 "
              "ip-src 2001:db8::1 ip-dst 2001:db8::2 eth-dst 02:00:00:00:00:22 / end",
              "flow create 0 egress pattern eth / ipv4 / tcp / end actions jump group 1 / end",
              "flow create 0 egress group 1 pattern eth / end actions of_push_vlan ethertype 0x88a8 / "
              "of_set_vlan_vid vlan_vid 77 / of_set_vlan_pcp vlan_pcp 5 / end",
              f"pcap in 0 {work}/in", f"pcap out 1 {work}/out", "start", "wait 10", "stop"]
    parts, result = run(script, "--fwd", "rxonly", "--drain", "0.5")
    check(parts[:4] == [f"Flow rule #{n} created\n" for n in range(4)], parts[:4])
    got = rdpcap(str(work / "out"))
    check(len(got) == 3, f"{list(got)}\n{result.out[-2000:]}")
    vxlan = next(p for p in got if VXLAN in p)
    check((vxlan.src, vxlan.dst, vxlan[IP].src, vxlan[IP].dst, vxlan[UDP].sport, vxlan[UDP].dport, vxlan[VXLAN].vni) ==
          ("02:00:00:00:00:11", "02:00:00:00:00:22", "192.0.2.1", "192.0.2.2", 1234, 4789, 5), vxlan.show(dump=True))
    check(bytes(vxlan[VXLAN].payload).startswith(bytes(frames[0])), vxlan.show(dump=True))
    nvgre = next(p for p in got if GRE in p)
    check((nvgre[IPv6].src, nvgre[IPv6].dst, nvgre[GRE].key >> 8) == ("2001:db8::1", "2001:db8::2", 0x123456) and
          bytes(nvgre[GRE].payload).startswith(bytes(frames[1])), nvgre.show(dump=True))
    tag = next(p for p in got if TCP in p)
    check((tag.type, tag[Dot1AD].vlan, tag[Dot1AD].prio) == (0x88a8, 77, 5), tag.show(dump=True))


def mistakes():
    script = [f"{CREATE}eth / end actions count / drop / end"]
    for line, _ in MISTAKES:
        script.append(line)
    parts, result = run(script)
    check(result.status == 1, f"exit code {result.status}")
    wrong = [f"'{line}': no '{word}', or no failure of line {number}, in\n{part}"
             for number, ((line, word), part) in enumerate(zip(MISTAKES, parts[1:]), 2)
             if word not in part or f"script:{number}: " not in part]
    check(not wrong, "\n".join(wrong))


if __name__ == "__main__":
    def all_of_them():
        for test in (items, actions, updates, effect, mistakes):
            test()
            print(f"{test.__name__}: ok", flush=True)
        with tempfile.TemporaryDirectory(prefix="mlxapp.") as work:
            changes(pathlib.Path(work))
            sent(pathlib.Path(work))
        print("changes: ok")
    e2e.main(all_of_them)
