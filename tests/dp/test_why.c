/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * `why`: the tables, groups and rules that a frame meets, and its end, which is the one that the frame has when it
 * then arrives; what does not change meanwhile; mistakes.
 */
#include <errno.h>
#include <jansson.h>

#include "ctl/emu_ctl.h"
#include "rig_tables.h"
#include "rig_tunnels.h"

struct bench {
	struct rig *r;
	struct rig_port *p;
	struct rig_rx *rx; /* with a rule of the kernel's for everything */
	struct rig_frame f; /* IPv4, UDP */
	json_t *out;
};

static struct bench
setup(void)
{
	struct bench b = {.r = rig_new(1, "loop")};

	b.p = &b.r->port[0];
	b.rx = rig_rx_new(b.p, 4);
	rig_ip_frame(&b.f, b.p->dev, 4, 17, 64, 0, -1);
	return b;
}

static void
finish(struct bench *b)
{
	json_decref(b->out);
	CHECK_EQ(rig_audit(b->r), 0);
	rig_free(b->r);
}

static void
request(struct bench *b, json_t *in)
{
	char *text, *answer;

	json_object_set_new(in, "cmd", json_string("why"));
	text = json_dumps(in, 0);
	json_decref(in);
	emu_unlock(&b->r->m);
	answer = emu_ctl_execute(&b->r->m, text, strlen(text));
	emu_lock(&b->r->m);
	json_decref(b->out);
	b->out = json_loads(answer, 0, NULL);
	free(text);
	free(answer);
}

/* The report on the frame; as sent by the SQ, unless it is NULL. */
static void
why(struct bench *b, const struct rig_sq *sq)
{
	char *hex = malloc(2 * b->f.len + 1);
	json_t *in = json_object();
	struct emu_port_stats before = b->p->dev->stats;

	for (unsigned i = 0; i < b->f.len; i++)
		sprintf(hex + 2 * i, "%02x", b->f.data[i]);
	hex[2 * b->f.len] = '\0';
	json_object_set_new(in, "frame", json_string(hex));
	free(hex);
	if (sq != NULL)
		json_object_set_new(in, "sq", json_integer(sq->sq->obj.id));
	request(b, in);
	CHECK(json_is_true(json_object_get(b->out, "ok")));
	CHECK_EQ(json_integer_value(json_object_get(b->out, "bytes")), b->f.len);
	CHECK(memcmp(&before, &b->p->dev->stats, sizeof(before)) == 0, "a counter changed");
}

/* A value of the reply as text, by names and indices: "tables/0/rule/index"; "" if there is none. */
static const char *
at(const struct bench *b, const char *path)
{
	static char number[32];
	const json_t *v = b->out;
	char part[64];

	while (*path != '\0') {
		size_t n = strcspn(path, "/");

		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		v = json_is_array(v) ? json_array_get(v, (size_t)atoi(part)) : json_object_get(v, part);
		path += n + (path[n] == '/');
	}
	if (json_is_string(v))
		return json_string_value(v);
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return json_is_integer(v) ? number : "";
}

static size_t
many(const struct bench *b, const char *list)
{
	return json_array_size(json_object_get(b->out, list));
}

static bool
is_id(const char *text, const struct emu_obj *obj)
{
	return strtoul(text, NULL, 0) == obj->id && text[0] != '\0';
}

/* The frame has the fields that its headers show, and is received where the reply has it. */
static void
one_queue(void)
{
	struct bench b = setup();

	why(&b, NULL);
	CHECK_STR(at(&b, "headers"), "eth 02:00:00:00:00:77 > 0c:42:a1:4e:d0:00 type 0x0800 / ipv4 10.1.2.3 > 10.1.2.4 "
				     "protocol 17 / udp 4660 > 22136");
	CHECK(many(&b, "tables") == 1 && many(&b, "receivers") == 1);
	CHECK_STR(at(&b, "tables/0/of"), "the kernel");
	CHECK_STR(at(&b, "tables/0/for"), "received packets");
	CHECK_STR(at(&b, "tables/0/groups/0/of"), "priority 15");
	CHECK_STR(at(&b, "tables/0/groups/0/entries"), "0-9361");
	CHECK_STR(at(&b, "tables/0/groups/0/packet"), "everything");
	CHECK_STR(at(&b, "tables/0/groups/0/match"), "yes");
	CHECK_STR(at(&b, "tables/0/rule/value"), "everything");
	CHECK(is_id(at(&b, "tables/0/rule/tir"), &b.rx->tir->obj));
	CHECK_STR(at(&b, "end"), "to receive queues");
	CHECK(is_id(at(&b, "receivers/0/rq"), &b.rx->rq->rq->obj));
	CHECK_STR(at(&b, "receivers/0/posted"), "16");
	CHECK_STR(at(&b, "receivers/0/lost"), "no");
	CHECK_EQ(rig_taken(b.rx, NULL), 0);
	/* It takes nothing that the frame needs. */
	rig_arrive(b.p, &b.f);
	CHECK_EQ(rig_taken(b.rx, NULL), 1);
	rig_ip_frame(&b.f, b.p->dev, 6, 6, 64, 0, 5);
	why(&b, NULL);
	CHECK_STR(at(&b, "headers"), "eth 02:00:00:00:00:77 > 0c:42:a1:4e:d0:00 / vlan 5 tpid 0x8100 tci 0x5 type 0x86dd / "
				     "ipv6 2021:2223:2425:2627:2829:2a2b:2c2d:2e2f > 3031:3233:3435:3637:3839:3a3b:3c3d:3e3f "
				     "protocol 6 / tcp 4660 > 22136");
	finish(&b);
}

/* From the kernel's table through two tables of a program: by a rule, by a miss, and to the end of the last one. */
static void
jumps(void)
{
	static const struct rig_match udp = {.ip_version = 4, .proto = 17}, tcp = {.ip_version = 4, .proto = 6};
	static const struct rig_match ipv4 = {.ip_version = 4}, vlan = {.vid = 7};
	struct bench b = setup();
	struct emu_obj *t[2] = {rig_table(b.p, 20), rig_table(b.p, 21)}, *counter = rig_flow_counter(b.p);
	struct emu_obj *narrow = rig_group(b.p, t[0], 0, 3, &udp), *wide = rig_group(b.p, t[0], 8, 11, &ipv4);
	struct emu_obj *last = rig_group(b.p, t[1], 0, 0, &vlan);
	struct emu_flow_attr attr = {.dest = t[0]};
	uint32_t mask[16] = {[RIG_DMAC_HI] = 0xffffffff}, value[16] = {[RIG_DMAC_HI] = 0x0c42a14e};
	uint32_t other[16] = {[RIG_DMAC_HI] = 0x02000000}, mask2[16] = {[RIG_SMAC_HI] = 0xff};

	rig_flow(b.p, 0, mask2, (const uint32_t[16]){[RIG_SMAC_HI] = 1}, &(struct emu_flow_attr){.drop = true});
	rig_flow(b.p, 1, mask, value, &attr);
	rig_flow(b.p, 1, mask, other, &(struct emu_flow_attr){.drop = true});
	rig_entry(b.p, t[0], narrow, 1, &tcp, &(struct rig_actions){.dest = NULL});
	rig_entry(b.p, t[0], wide, 9, &ipv4, &(struct rig_actions){.dest = t[1], .tag = 0x123, .counter = counter});
	why(&b, NULL);
	CHECK_EQ(many(&b, "tables"), 3);
	CHECK_STR(at(&b, "tables/0/groups/0/packet"), "outer_headers.smac_47_16=0x0/0xff");
	CHECK_STR(at(&b, "tables/0/groups/0/match"), "no");
	CHECK_STR(at(&b, "tables/0/groups/1/of"), "priority 1");
	CHECK_STR(at(&b, "tables/0/groups/1/rules"), "2");
	CHECK_STR(at(&b, "tables/0/groups/1/match"), "yes");
	CHECK_STR(at(&b, "tables/0/groups/2/match"), ""); /* not searched */
	CHECK_STR(at(&b, "tables/0/rule/value"), "outer_headers.dmac_47_16=0xc42a14e/0xffffffff");
	CHECK(is_id(at(&b, "tables/0/rule/jump"), t[0]));
	CHECK(is_id(at(&b, "tables/1/id"), t[0]) && is_id(at(&b, "tables/1/groups/0/id"), narrow));
	CHECK_STR(at(&b, "tables/1/of"), rig_vfio ? "a program, by VFIO" : "a program, by DEVX");
	CHECK_STR(at(&b, "tables/1/level"), "20");
	CHECK_STR(at(&b, "tables/1/groups/0/packet"),
		  "outer_headers.ip_protocol=0x11/0xff outer_headers.ip_version=0x4/0xf");
	CHECK_STR(at(&b, "tables/1/groups/0/match"), "no");
	CHECK(is_id(at(&b, "tables/1/groups/1/id"), wide));
	CHECK_STR(at(&b, "tables/1/groups/1/entries"), "8-11");
	CHECK_STR(at(&b, "tables/1/rule/index"), "9");
	CHECK_STR(at(&b, "tables/1/rule/tag"), "0x123");
	CHECK(is_id(at(&b, "tables/1/rule/counter"), counter) && is_id(at(&b, "tables/1/rule/jump"), t[1]));
	CHECK(is_id(at(&b, "tables/2/groups/0/id"), last));
	CHECK_STR(at(&b, "tables/2/groups/0/rules"), "0");
	CHECK_STR(at(&b, "tables/2/rule/index"), "");
	CHECK_STR(at(&b, "tables/2/miss"), "drop");
	CHECK_STR(at(&b, "end"), "dropped: no rule of the last table matches");
	CHECK_STR(at(&b, "tag"), "0x123");
	CHECK_EQ(rig_packets(counter), 0);
	/* Groups are shown by their first entry, not by age; a drop is a rule's. */
	rig_entry(b.p, t[0], narrow, 0, &udp, &(struct rig_actions){.dest = NULL});
	why(&b, NULL);
	CHECK_STR(at(&b, "tables/1/rule/to"), "drop");
	CHECK_STR(at(&b, "tables/1/rule/index"), "0");
	CHECK_STR(at(&b, "end"), "dropped by a rule");
	rig_ip_frame(&b.f, b.p->dev, 6, 17, 64, 0, -1);
	rig_miss(b.p, t[0], t[1]);
	rig_entry(b.p, t[1], rig_group(b.p, t[1], 4, 4, &(struct rig_match){0}), 4, &(struct rig_match){0},
		  &(struct rig_actions){.dest = &b.rx->tir->obj});
	why(&b, NULL);
	CHECK(is_id(at(&b, "tables/1/miss"), t[1]) && is_id(at(&b, "tables/2/rule/tir"), &b.rx->tir->obj));
	CHECK_STR(at(&b, "end"), "to receive queues");
	finish(&b);
}

/* The entry of the RQT is that of the hash, for every flow; and the queue the one that gets the frame. */
static void
rss(void)
{
	uint8_t key[40];
	const struct rig_hash hash = {.l3 = PRM_RX_HASH_L3_TYPE_IPV4, .l4 = PRM_RX_HASH_L4_TYPE_UDP, .fields = 0xf,
				      .key = key};
	struct bench b = setup();
	struct rig_rx *rx[3];
	struct rig_rq *rqs[4];
	struct emu_tir *tir;
	unsigned seen = 0;

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 91 + 13);
	for (unsigned i = 0; i < 3; i++) {
		rx[i] = i == 0 ? b.rx : rig_rx_new(b.p, 4);
		rqs[i] = rx[i]->rq;
	}
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(emu_obj_destroy(rx[i]->flow), 0);
	rqs[3] = rqs[0];
	tir = rig_tir_new(b.p, NULL, rig_rqt_new(b.p, rqs, 4), &hash);
	rig_flow_all(b.p, tir, 5);
	for (unsigned i = 0; i < 20; i++) {
		uint32_t value, entry;

		b.f.data[35] = (uint8_t)(i * 37);
		why(&b, NULL);
		value = (uint32_t)strtoul(at(&b, "receivers/0/hash"), NULL, 0);
		entry = (uint32_t)atoi(at(&b, "receivers/0/entry"));
		CHECK_EQ(entry, value % 4);
		CHECK(entry < 4 && is_id(at(&b, "receivers/0/rq"), &rqs[entry]->rq->obj));
		CHECK(is_id(at(&b, "receivers/0/rqt"), &tir->rqt->obj));
		rig_arrive(b.p, &b.f);
		for (unsigned q = 0; q < 3; q++)
			CHECK_EQ(rig_taken(rx[q], NULL), q == entry % 3);
		seen |= 1u << entry;
	}
	CHECK_EQ(seen, 15);
	finish(&b);
}

/* Rules of equal match: all their TIRs get the frame. */
static void
multicast(void)
{
	struct bench b = setup();
	struct rig_rx *second = rig_rx_new(b.p, 4), *third = rig_rx_new(b.p, 0);
	uint32_t mask[16] = {[RIG_DMAC_HI] = 0xffffffff}, value[16] = {[RIG_DMAC_HI] = 0x01005e01};
	struct rig_rx *rx[] = {b.rx, second, third};

	for (unsigned i = 0; i < 3; i++) {
		rig_flow(b.p, 3, mask, value, &(struct emu_flow_attr){.dest = &rx[i]->tir->obj});
		CHECK_EQ(emu_obj_destroy(rx[i]->flow), 0);
	}
	memcpy(b.f.data, "\x01\x00\x5e\x01\x02\x03", 6);
	rig_arrive(b.p, &b.f); /* The third queue had one WQE. */
	why(&b, NULL);
	CHECK_STR(at(&b, "tables/0/groups/0/of"), "multicast");
	CHECK_STR(at(&b, "tables/0/rule/further_tirs"), "2");
	CHECK_EQ(many(&b, "receivers"), 3);
	for (unsigned i = 0; i < 3; i++) {
		char path[32];

		snprintf(path, sizeof(path), "receivers/%u/rq", i);
		CHECK(is_id(at(&b, path), &rx[i]->rq->rq->obj));
		snprintf(path, sizeof(path), "receivers/%u/lost", i);
		CHECK_STR(at(&b, path), i == 2 ? "no WQE is posted for it" : "no");
	}
	CHECK_STR(at(&b, "receivers/1/posted"), "15");
	CHECK_EQ(rig_rq_modify(third->rq, PRM_RQC_STATE_RDY, PRM_RQC_STATE_RST), 0);
	why(&b, NULL);
	CHECK_STR(at(&b, "receivers/2/lost"), "the RQ is not ready");
	finish(&b);
}

/* What a rule changes of the packet, and what it looks like then. */
static void
changes(void)
{
	static const uint32_t mask[16] = {0}, value[16] = {0};
	struct bench b = setup();
	struct {
		struct prm_alloc_modify_header_context_in in;
		struct prm_set_action_in action;
	} cmd = {0};
	struct emu_flow_attr attr = {.dest = &b.rx->tir->obj, .decap = true};
	struct emu_obj *modify;

	prm_alloc_modify_header_context_in_set_opcode(&cmd.in, PRM_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT);
	prm_alloc_modify_header_context_in_set_num_of_actions(&cmd.in, 1);
	prm_set_action_in_set_action_type(&cmd.action, PRM_ACTION_TYPE_SET);
	prm_set_action_in_set_field(&cmd.action, PRM_ACTION_IN_FIELD_OUT_DIPV6_31_0);
	prm_set_action_in_set_data(&cmd.action, 0x01020304); /* length 0: 32 bits */
	modify = rig_make(b.p, &cmd, sizeof(cmd), "modify header context");
	attr.modify = (struct emu_modify_header *)modify;
	rig_flow(b.p, 3, mask, value, &attr);
	rig_tunnel_frame(&b.f, b.p->dev, RIG_VXLAN);
	why(&b, NULL);
	CHECK_STR(at(&b, "tables/0/rule/changes/0"), "decap");
	CHECK(strncmp(at(&b, "tables/0/rule/changes/1"), "modify header by context 0x", 27) == 0);
	CHECK(strstr(at(&b, "headers"), " > 4789") != NULL && strstr(at(&b, "changed"), " > 4789") == NULL);
	CHECK(strstr(at(&b, "changed"), ":3a3b:102:304 ") != NULL, "%s", at(&b, "changed"));
	CHECK_STR(at(&b, "end"), "to receive queues");
	finish(&b);
}

/* Frames that end before or after steering. */
static void
ends(void)
{
	struct bench b = setup();
	uint8_t mac[6];

	b.f.len = 13;
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "dropped: shorter than an Ethernet header");
	CHECK(many(&b, "tables") == 0 && many(&b, "receivers") == 0);
	b.f.len = b.p->dev->vport.mtu + 18;
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "to receive queues");
	b.f.len++;
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "dropped: longer than the MTU allows");
	b.f.len = 60;
	b.p->dev->link_up = false;
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "dropped: the link is down");
	b.p->dev->link_up = true;
	CHECK_EQ(emu_obj_destroy(b.rx->flow), 0);
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "to the kernel's interface");
	CHECK_STR(at(&b, "tables/0/miss"), "kernel");
	memcpy(mac, b.f.data, 6);
	memcpy(b.f.data, "\x02\x00\x00\x00\x00\x09", 6);
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "left to the kernel's interface, which does not have its address");
	b.p->dev->l2.on = true;
	b.p->dev->l2.owned = false; /* The addresses are those of the interface. */
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "not for this function: the card's switch sends its address elsewhere");
	memcpy(b.f.data, mac, 6);
	why(&b, NULL);
	CHECK_STR(at(&b, "end"), "to the kernel's interface");
	b.p->dev->l2.on = false;
	finish(&b);
}

/* As a send queue sends it: the rules of sent packets, and the wire. */
static void
sent(void)
{
	struct bench b = setup();
	struct rig_sq *sq = rig_sq_new(b.p, rig_cq_new(b.p, 4, 6), 4);
	uint32_t mask[16] = {0};
	struct emu_matcher_attr ma = {.mask = mask, .mask_len = sizeof(mask), .criteria = 1, .ft_type = 1};
	struct emu_flow_counter *counter = (struct emu_flow_counter *)rig_flow_counter(b.p);
	struct emu_flow_attr fa = {.value = mask, .value_len = sizeof(mask), .drop = true, .counter = counter};
	struct emu_obj *matcher, *flow;

	why(&b, sq);
	CHECK_STR(at(&b, "end"), "sent to the wire");
	CHECK_EQ(many(&b, "tables"), 0);
	CHECK_EQ(emu_matcher_create(b.p->ctx, &ma, &matcher), 0);
	CHECK_EQ(emu_flow_create(b.p->ctx, matcher, &fa, &flow), 0);
	why(&b, sq);
	CHECK_STR(at(&b, "end"), "dropped by a rule");
	CHECK_STR(at(&b, "tables/0/for"), "sent packets");
	CHECK_STR(at(&b, "tables/0/rule/to"), "drop");
	CHECK_EQ(counter->counts[0].packets, 0);
	b.p->dev->link_up = false;
	why(&b, sq);
	CHECK_STR(at(&b, "end"), "dropped: the link is down");
	b.p->dev->link_up = true;
	b.f.len = 12;
	why(&b, sq);
	CHECK_STR(at(&b, "end"), "dropped: shorter than an Ethernet header");
	finish(&b);
}

static void
mistakes(void)
{
	static const struct {
		const char *in, *reason;
	} rows[] = {
		{"{}", "\"frame\" in hexadecimal digits, or a capture \"file\" is needed"},
		{"{\"frame\": \"00\", \"file\": \"/x\"}", "\"frame\" in hexadecimal digits, or a capture \"file\" is needed"},
		{"{\"frame\": 5}", "\"frame\": a string is needed"},
		{"{\"frame\": \"00:1\"}", "\"frame\": two hexadecimal digits a byte, not '1'"},
		{"{\"frame\": \"0g\"}", "\"frame\": two hexadecimal digits a byte, not '0g'"},
		{"{\"frame\": \"00\", \"port\": 1}", "\"port\": a number from 0 to 0 is needed"},
		{"{\"frame\": \"00\", \"sq\": 77}", "port 0 has no SQ 0x4d (it has none)"},
		{"{\"file\": \"/nonexistent\"}", "/nonexistent: No such file or directory"},
		{"{\"file\": \"/dev/null\", \"number\": 0}", "\"number\": a number from 1 to 4294967295 is needed"},
	};
	struct bench b = setup();
	char *hex = malloc(2 * 16385 + 1);
	json_t *in = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		request(&b, json_loads(rows[i].in, 0, NULL));
		CHECK_STR(at(&b, "error"), rows[i].reason);
	}
	memset(hex, '0', 2 * 16385);
	hex[2 * 16385] = '\0';
	json_object_set_new(in, "frame", json_string(hex));
	request(&b, in);
	CHECK_STR(at(&b, "error"), "\"frame\": more than 16384 bytes");
	free(hex);
	finish(&b);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"one queue", one_queue}, {"jumps", jumps}, {"rss", rss}, {"multicast", multicast},
		{"changes", changes}, {"ends", ends}, {"sent", sent}, {"mistakes", mistakes}, {NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
