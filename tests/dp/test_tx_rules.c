/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Rules for sent packets in flow tables of a program: what matches, what becomes of a frame, what is counted. */
#include "rig_tables.h"

struct bench {
	struct rig *r;
	struct rig_port *p; /* sends to the other port */
	struct rig_sq *sq, *other;
	struct rig_rx *rx;
	struct emu_obj *root;
	struct rig_frame *f;
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(2, NULL)};

	b.p = &b.r->port[0];
	b.sq = rig_sq_new(b.p, rig_cq_new(b.p, 6, 6), 6);
	b.other = rig_sq_new(b.p, rig_cq_new(b.p, 6, 6), 6);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	b.root = rig_tx_table(b.p, 1);
	rig_tx_root(b.p, b.root);
	b.f = rig_mem(b.p, sizeof(*b.f), 64);
	return b;
}

/* Sends the frame with this metadata; whether it arrives, which is *as then. */
static bool
sent(struct bench *b, struct rig_sq *sq, uint32_t metadata, struct rig_frame *as)
{
	const struct prm_cqe64 *cqe;
	uint32_t be = htobe32(metadata);
	unsigned at;

	rig_wqe(sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(sq, &(struct rig_eth){.vlan = -1});
	memcpy(sq->wqe + 16 + 8, &be, sizeof(be));
	rig_wqe_ptr(sq, b->f->data, b->f->len, b->p->lkey);
	rig_wqe_end(sq);
	rig_sq_record(sq);
	rig_sq_bell(sq);
	rig_run(b->r);
	CHECK(rig_cqe(sq->cq) != NULL);
	cqe = rig_cqe(b->rx->cq);
	if (cqe == NULL)
		return false;
	at = be16toh(cqe->wqe_counter) & 63;
	if (as != NULL) {
		as->len = be32toh(cqe->byte_cnt);
		memcpy(as->data, b->rx->buf[at], as->len);
	}
	rig_post(b->rx->rq, b->rx->buf[at], RIG_BUF_BYTES, b->rx->rq->port->lkey);
	return true;
}

static bool
leaves(struct bench *b)
{
	return sent(b, b->sq, 0, NULL);
}

static const struct rig_match all = {0}, udp = {.ip_version = 4, .proto = 17};

/* What no entry matches is sent. */
static void
drop_allow_and_miss(void)
{
	struct bench b = setup();
	struct emu_obj *g = rig_group(b.p, b.root, 0, 3, &udp), *n = rig_flow_counter(b.p), *e;

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	CHECK(leaves(&b));
	e = rig_entry(b.p, b.root, g, 0, &udp, &(struct rig_actions){.counter = n});
	CHECK(!leaves(&b));
	CHECK_EQ(b.p->dev->stats.tx_dropped_by_rule, 1);
	CHECK_EQ(rig_packets(n), 1);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 6, 30, 0, -1);
	CHECK(leaves(&b));
	CHECK_EQ(rig_packets(n), 1);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
	rig_entry(b.p, b.root, g, 1, &udp, &(struct rig_actions){.allow = true, .counter = n});
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	CHECK(leaves(&b));
	CHECK_EQ(rig_packets(n), 2);
	CHECK_EQ(b.p->dev->stats.tx_frames, 3);
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

/* The root can be reset, and a destroyed root is none. */
static void
roots(void)
{
	struct bench b = setup();
	struct emu_obj *t = rig_tx_table(b.p, 2), *g = rig_group(b.p, t, 0, 3, &all), *e;

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	e = rig_entry(b.p, t, g, 0, &all, &(struct rig_actions){0});
	CHECK(leaves(&b));
	rig_tx_root(b.p, t);
	CHECK(!leaves(&b));
	/* The roots of the two directions are independent. */
	CHECK(dp_steer_root(b.p->dev, PRM_FLOW_TABLE_TYPE_NIC_RX) == NULL);
	rig_root(b.p, NULL);
	CHECK(!leaves(&b));
	rig_tx_root(b.p, NULL);
	CHECK(leaves(&b));
	rig_tx_root(b.p, t);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, g, NULL, 0), 0);
	CHECK_EQ(emu_fw_destroy(b.p->ctx, t, NULL, 0), 0);
	CHECK(dp_steer_root(b.p->dev, PRM_FLOW_TABLE_TYPE_NIC_TX) == NULL);
	CHECK(leaves(&b));
	rig_free(b.r);
}

static void
jumps(void)
{
	struct bench b = setup();
	struct emu_obj *t = rig_tx_table(b.p, 5), *g = rig_group(b.p, b.root, 0, 3, &all), *n = rig_flow_counter(b.p);

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	rig_entry(b.p, b.root, g, 0, &all, &(struct rig_actions){.dest = t, .counter = n});
	CHECK(leaves(&b));
	rig_entry(b.p, t, rig_group(b.p, t, 0, 3, &udp), 0, &udp, &(struct rig_actions){.counter = n});
	CHECK(!leaves(&b));
	CHECK_EQ(rig_packets(n), 3);
	/* A table to which misses lead. */
	rig_miss(b.p, b.root, t);
	CHECK(!leaves(&b));
	rig_free(b.r);
}

/* The SQ, and the metadata of the WQE. */
static void
sources(void)
{
	struct bench b = setup();
	const struct rig_match sq = {.sqn = b.sq->sq->obj.id}, meta = {.reg_a = 0x12345678};
	struct emu_obj *e;

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	e = rig_entry(b.p, b.root, rig_group(b.p, b.root, 0, 3, &sq), 0, &sq, &(struct rig_actions){0});
	CHECK(!sent(&b, b.sq, 0, NULL));
	CHECK(sent(&b, b.other, 0, NULL));
	CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
	rig_entry(b.p, b.root, rig_group(b.p, b.root, 4, 7, &meta), 4, &meta, &(struct rig_actions){0});
	CHECK(!sent(&b, b.sq, 0x12345678, NULL));
	CHECK(sent(&b, b.sq, 0, NULL));
	CHECK(sent(&b, b.other, 0x12345679, NULL));
	CHECK_EQ(rig_audit(b.r), 0);
	rig_free(b.r);
}

typedef struct prm_set_add_copy_action_in_auto action_t;

static struct emu_obj *
modify(struct bench *b, const action_t *actions, unsigned n)
{
	struct {
		struct prm_alloc_modify_header_context_in in;
		action_t actions[4];
	} cmd = {0};

	prm_alloc_modify_header_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_table_type(&cmd.in, PRM_FLOW_TABLE_TYPE_NIC_TX);
	prm_alloc_modify_header_context_in_set_num_of_actions(&cmd.in, n);
	memcpy(cmd.actions, actions, n * sizeof(actions[0]));
	return rig_make(b->p, &cmd, sizeof(cmd.in) + n * sizeof(actions[0]), "modify header context");
}

static action_t
set(unsigned field, uint32_t data)
{
	action_t a = {{0}};
	struct prm_set_action_in *s = prm_set_add_copy_action_in_auto_set_action_in(&a);

	prm_set_action_in_set_action_type(s, PRM_ACTION_TYPE_SET);
	prm_set_action_in_set_field(s, field);
	prm_set_action_in_set_data(s, data);
	return a;
}

/* Fields, and register A, by which the next table matches. The memory of the program does not change. */
static void
changes(void)
{
	const action_t actions[] = {set(PRM_ACTION_IN_FIELD_OUT_SIPV4, 0xc0000201),
				    set(PRM_ACTION_IN_FIELD_METADATA_REG_A, 0x77)};
	struct bench b = setup();
	const struct rig_match meta = {.reg_a = 0x77};
	struct emu_obj *t = rig_tx_table(b.p, 5), *n = rig_flow_counter(b.p);
	struct rig_frame before, got, want;

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	rig_fix_checksums(b.f, 14);
	before = want = *b.f;
	rig_entry(b.p, b.root, rig_group(b.p, b.root, 0, 3, &all), 0, &all,
		  &(struct rig_actions){.dest = t, .change = PRM_FLOW_ACTION_MOD_HDR,
					.modify_header = modify(&b, actions, 2)});
	rig_entry(b.p, t, rig_group(b.p, t, 0, 3, &meta), 0, &meta, &(struct rig_actions){.allow = true, .counter = n});
	memcpy(want.data + 26, "\xc0\x00\x02\x01", 4);
	rig_fix_checksums(&want, 14);
	CHECK(sent(&b, b.sq, 0, &got));
	CHECK_EQ(got.len, want.len);
	CHECK_EQ(memcmp(got.data, want.data, want.len), 0);
	CHECK_EQ(memcmp(b.f->data, before.data, before.len), 0);
	CHECK_EQ(rig_packets(n), 1);
	rig_free(b.r);
}

static struct emu_obj *
reformat(struct bench *b, unsigned type, const void *data, unsigned bytes)
{
	_Alignas(8) uint8_t cmd[34 + 128] = {0};
	struct prm_packet_reformat_context_in *r =
		prm_alloc_packet_reformat_context_in_packet_reformat_context((void *)cmd);

	prm_alloc_packet_reformat_context_in_set_opcode((void *)cmd, PRM_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT);
	prm_packet_reformat_context_in_set_reformat_type(r, type);
	prm_packet_reformat_context_in_set_reformat_data_size(r, bytes);
	memcpy(cmd + 34, data, bytes);
	return rig_make(b->p, cmd, 34 + bytes, "packet reformat context");
}

/* Outer headers of a tunnel as drivers give them, without lengths and IP checksum; returns their bytes. */
static unsigned
outer_headers(const struct bench *b, unsigned version, uint8_t *to)
{
	struct rig_frame f;
	unsigned l4 = version == 4 ? 34 : 54;

	rig_ip_frame(&f, b->r->port[1].dev, version, 17, 8, 0, -1);
	memcpy(to, f.data, l4 + 16);
	memset(to + l4, 0, 16);
	memcpy(to + l4, "\x30\x39\x12\xb5", 4); /* 12345 to 4789 */
	memcpy(to + l4 + 8, "\x08\0\0\0\0\0\x2a\0", 8);
	if (version == 4) {
		memset(to + 16, 0, 2);
		memset(to + 24, 0, 2);
	} else {
		memset(to + 18, 0, 2);
	}
	return l4 + 16;
}

/* What the device makes of them before so many bytes: lengths, and the checksum of IP. */
static void
outer_complete(uint8_t *h, unsigned version, unsigned bytes, unsigned behind)
{
	unsigned l4 = version == 4 ? 34 : 54, udp = bytes - l4 + behind;
	uint16_t sum;

	h[l4 + 4] = (uint8_t)(udp >> 8);
	h[l4 + 5] = (uint8_t)udp;
	if (version == 6) {
		h[18] = (uint8_t)(udp >> 8);
		h[19] = (uint8_t)udp;
		return;
	}
	h[16] = (uint8_t)((udp + 20) >> 8);
	h[17] = (uint8_t)(udp + 20);
	sum = (uint16_t)~rig_sum16(h + 14, 20, 0);
	h[24] = (uint8_t)(sum >> 8);
	h[25] = (uint8_t)sum;
}

/* Headers before the whole frame, and in place of its Ethernet header and tag; what was added is parsed after that. */
static void
tunnels(void)
{
	struct bench b = setup();
	struct emu_obj *g = rig_group(b.p, b.root, 0, 3, &all), *t = rig_tx_table(b.p, 5), *e;
	struct emu_obj *n = rig_flow_counter(b.p);
	struct rig_frame got, want;
	uint8_t h[128];

	rig_entry(b.p, t, rig_group(b.p, t, 0, 3, &udp), 0, &udp, &(struct rig_actions){.allow = true, .counter = n});
	for (unsigned i = 0; i < 4; i++) {
		unsigned version = i & 1 ? 6 : 4, cut = i & 2 ? 18 : 0, bytes = outer_headers(&b, version, h);
		struct emu_obj *r = reformat(&b, cut != 0 ? PRM_REFORMAT_TYPE_L2_TO_L3_TUNNEL :
							    PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL, h, bytes);

		/* TCP inside: the next table finds UDP. */
		rig_ip_frame(b.f, b.r->port[1].dev, 4, 6, 101 + i, 0, 7);
		e = rig_entry(b.p, b.root, g, 0, &all,
			      &(struct rig_actions){.dest = version == 4 ? t : NULL, .allow = version != 4,
						    .change = PRM_FLOW_ACTION_PACKET_REFORMAT, .reformat = r});
		want.len = bytes + b.f->len - cut;
		outer_complete(h, version, bytes, b.f->len - cut);
		memcpy(want.data, h, bytes);
		memcpy(want.data + bytes, b.f->data + cut, b.f->len - cut);
		CHECK(sent(&b, b.sq, 0, &got));
		CHECK_EQ(got.len, want.len);
		CHECK_EQ(memcmp(got.data, want.data, want.len), 0);
		CHECK_EQ(emu_fw_destroy(b.p->ctx, e, NULL, 0), 0);
		CHECK_EQ(emu_fw_destroy(b.p->ctx, r, NULL, 0), 0);
	}
	CHECK_EQ(rig_packets(n), 2);
	rig_free(b.r);
}

/* Fields change first, then comes the tag, then the tunnel. */
static void
order_of_changes(void)
{
	const action_t action = set(PRM_ACTION_IN_FIELD_OUT_DMAC_47_16, 0x02aabbcc);
	struct bench b = setup();
	struct emu_obj *g = rig_group(b.p, b.root, 0, 3, &all);
	struct rig_frame got, want;
	uint8_t h[128];
	unsigned bytes = outer_headers(&b, 4, h);

	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 60, 0, -1);
	rig_entry(b.p, b.root, g, 0, &all,
		  &(struct rig_actions){.allow = true, .vlan = 0x8100a123, .modify_header = modify(&b, &action, 1),
					.change = PRM_FLOW_ACTION_PACKET_REFORMAT | PRM_FLOW_ACTION_VLAN_PUSH |
						  PRM_FLOW_ACTION_MOD_HDR,
					.reformat = reformat(&b, PRM_REFORMAT_TYPE_L2_TO_L2_TUNNEL, h, bytes)});
	want.len = bytes + b.f->len + 4;
	outer_complete(h, 4, bytes, b.f->len + 4);
	memcpy(want.data, h, bytes);
	memcpy(want.data + bytes, b.f->data, 12);
	memcpy(want.data + bytes, "\x02\xaa\xbb\xcc", 4);
	memcpy(want.data + bytes + 12, "\x81\0\xa1\x23", 4);
	memcpy(want.data + bytes + 16, b.f->data + 12, b.f->len - 12);
	CHECK(sent(&b, b.sq, 0, &got));
	CHECK_EQ(got.len, want.len);
	CHECK_EQ(memcmp(got.data, want.data, want.len), 0);
	rig_free(b.r);
}

/* A tag before the one that is there; a frame that gets longer than the port's limit is lost. */
static void
tags(void)
{
	struct bench b = setup();
	struct emu_obj *n = rig_flow_counter(b.p);
	unsigned limit = b.p->dev->vport.mtu + 18;
	struct rig_frame got;

	rig_entry(b.p, b.root, rig_group(b.p, b.root, 0, 3, &all), 0, &all,
		  &(struct rig_actions){.allow = true, .vlan = 0x88a80005, .change = PRM_FLOW_ACTION_VLAN_PUSH,
					.counter = n});
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 60, 0, 7);
	CHECK(sent(&b, b.sq, 0, &got));
	CHECK_EQ(got.len, b.f->len + 4);
	CHECK_EQ(memcmp(got.data + 12, "\x88\xa8\0\x05\x81\0\0\x07\x08\0", 10), 0);
	CHECK_EQ(b.p->dev->stats.tx_bytes, b.f->len + 4);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, limit - 42 - 4, 0, -1);
	CHECK(leaves(&b));
	b.f->len++;
	CHECK(!leaves(&b));
	CHECK_EQ(rig_packets(n), 3);
	CHECK_EQ(b.p->dev->stats.tx_discards, 1);
	rig_free(b.r);
}

/* Rules see what leaves: with the tag that the WQE inserts, and each segment of a message. */
static void
offloads(void)
{
	struct bench b = setup();
	const struct rig_match tag = {.vid = 0x123};
	struct emu_obj *n = rig_flow_counter(b.p);

	rig_entry(b.p, b.root, rig_group(b.p, b.root, 0, 3, &tag), 0, &tag, &(struct rig_actions){.counter = n});
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	rig_wqe(b.sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = 0x123});
	rig_wqe_ptr(b.sq, b.f->data, b.f->len, b.p->lkey);
	rig_wqe_end(b.sq);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 6, 3000, 0, 0x123);
	rig_wqe(b.sq, PRM_WQE_OPCODE_TSO, RIG_CE_CQE);
	rig_wqe_eth(b.sq, &(struct rig_eth){.vlan = -1, .mss = 1000, .inl = b.f->data, .inl_len = 58});
	rig_wqe_ptr(b.sq, b.f->data + 58, 3000, b.p->lkey);
	rig_wqe_end(b.sq);
	rig_sq_record(b.sq);
	rig_sq_bell(b.sq);
	rig_run(b.r);
	CHECK_EQ(rig_taken(b.rx, NULL), 0);
	CHECK_EQ(rig_packets(n), 4);
	CHECK_EQ(b.p->dev->stats.tx_dropped_by_rule, 4);
	rig_free(b.r);
}

/* The kernel's rules lead to a program's tables of sent packets. */
static void
from_the_kernel(void)
{
	struct bench b = setup();
	uint32_t zero[16] = {0};
	struct emu_matcher_attr ma = {.mask = zero, .mask_len = sizeof(zero), .ft_type = 1};
	struct emu_obj *t = rig_tx_table(b.p, 32), *matcher, *flow;
	struct emu_flow_attr attr = {.dest = t}, miss = {.default_miss = true}, rx = {.dest = rig_table(b.p, 32)};

	rig_tx_root(b.p, NULL);
	rig_ip_frame(b.f, b.r->port[1].dev, 4, 17, 30, 0, -1);
	rig_entry(b.p, t, rig_group(b.p, t, 0, 3, &udp), 0, &udp, &(struct rig_actions){0});
	CHECK(leaves(&b));
	CHECK_EQ(emu_matcher_create(b.p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &miss, &flow), -EOPNOTSUPP);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &rx, &flow), -EINVAL);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &attr, &flow), 0);
	CHECK(!leaves(&b));
	CHECK_EQ(emu_obj_destroy(flow), 0);
	CHECK(leaves(&b));
	rig_free(b.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"drop_allow_and_miss", drop_allow_and_miss}, {"roots", roots}, {"jumps", jumps}, {"sources", sources},
		{"changes", changes}, {"tunnels", tunnels}, {"order_of_changes", order_of_changes}, {"tags", tags},
		{"offloads", offloads}, {"from_the_kernel", from_the_kernel},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
