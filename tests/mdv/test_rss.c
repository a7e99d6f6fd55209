/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* RQ tables, TIRs and rules over a few RQs. */

#include <errno.h>
#include <string.h>

#include <mdv_private.h>
#include <mdv_rule.h>

#include "mdv_test.h"

#define RQS 4
#define TABLE 64

static const uint8_t key[40] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

struct setup {
	struct mdv_cq cq;
	struct mdv_rq rq[RQS];
	uint32_t rqn[TABLE];
	struct mdv_obj *rqt;
};

static bool
setup_create(struct mdv_dev *dev, struct setup *s)
{
	const struct mdv_cq_attr cq_attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_rq_attr rq_attr = { .log_wqes = 6, .log_stride_bytes = 4,
				       .socket_id = SOCKET_ID_ANY };
	bool ok;

	memset(s, 0, sizeof(*s));
	ok = mdv_cq_create(dev, &cq_attr, &s->cq) == 0;
	rq_attr.cqn = s->cq.cqn;
	for (int i = 0; i < RQS && ok; i++)
		ok = mdv_rq_create(dev, &rq_attr, &s->rq[i]) == 0 &&
		     mdv_wq_modify(&s->rq[i].wq, MDV_QS_RDY) == 0;
	for (int i = 0; i < TABLE; i++)
		s->rqn[i] = s->rq[i % RQS].wq.number;
	if (ok)
		s->rqt = mdv_rqt_create(dev, 8, s->rqn, TABLE);
	return ok && s->rqt != NULL;
}

static void
setup_destroy(struct setup *s)
{
	CHECK_EQ(mdv_obj_destroy(s->rqt), 0);
	for (int i = 0; i < RQS; i++)
		mdv_wq_destroy(&s->rq[i].wq);
	mdv_cq_destroy(&s->cq);
}

/** Reads the table from the device: its actual size, and the RQ numbers. */
static uint32_t
rqt_query(struct mdv_obj *rqt, uint32_t *rqn, unsigned int room)
{
	struct prm_query_rqt_in in;
	struct {
		struct prm_query_rqt_out head;
		uint32_t rq_num[TABLE * 2];
	} out;
	const struct prm_rqtc *rqtc;

	memset(&in, 0, sizeof(in));
	prm_query_rqt_in_set_opcode(&in, PRM_CMD_OP_QUERY_RQT);
	prm_query_rqt_in_set_rqtn(&in, rqt->id);
	if (mdv_obj_query(rqt, &in, sizeof(in), &out, sizeof(out)) != 0)
		return 0;
	rqtc = prm_query_rqt_out_rqt_context_c(&out.head);
	for (unsigned int i = 0; i < room && i < prm_rqtc_get_rqt_actual_size(rqtc); i++)
		rqn[i] = prm_rq_num_get_rq_num(prm_rqtc_rq_num_c(rqtc, i));
	return prm_rqtc_get_rqt_actual_size(rqtc);
}

static void
check_rqt(struct mdv_dev *dev, struct setup *s)
{
	uint32_t seen[TABLE], reversed[TABLE];

	CHECK_EQ(rqt_query(s->rqt, seen, TABLE), TABLE);
	CHECK(memcmp(seen, s->rqn, sizeof(seen)) == 0);
	for (int i = 0; i < TABLE; i++)
		reversed[i] = s->rqn[TABLE - 1 - i];
	CHECK_EQ(mdv_rqt_modify(s->rqt, reversed, TABLE), 0);
	CHECK_EQ(rqt_query(s->rqt, seen, TABLE), TABLE);
	CHECK(memcmp(seen, reversed, sizeof(seen)) == 0);
	CHECK_EQ(mdv_rqt_modify(s->rqt, reversed, 2), 0);
	CHECK_EQ(rqt_query(s->rqt, seen, TABLE), 2);
	log_begin();
	CHECK(mdv_rqt_create(dev, dev->caps.log_max_rqt_size + 1, s->rqn, 1) == NULL);
	CHECK(mdv_rqt_create(dev, 1, s->rqn, 3) == NULL);
	CHECK(mdv_rqt_create(dev, 1, s->rqn, 0) == NULL);
	CHECK_EQ(lines_of(log_end()), 3);
}

static bool
tir_query(struct mdv_obj *tir, struct prm_tirc *tirc)
{
	struct prm_query_tir_in in;
	struct prm_query_tir_out out;

	memset(&in, 0, sizeof(in));
	prm_query_tir_in_set_opcode(&in, PRM_CMD_OP_QUERY_TIR);
	prm_query_tir_in_set_tirn(&in, tir->id);
	if (mdv_obj_query(tir, &in, sizeof(in), &out, sizeof(out)) != 0)
		return false;
	*tirc = *prm_query_tir_out_tir_context_c(&out);
	return true;
}

static void
check_selector(const struct prm_tirc *tirc, const struct mdv_tir_attr *attr)
{
	const struct prm_rx_hash_field_select *s = attr->inner ? prm_tirc_rx_hash_field_selector_inner_c(tirc) :
								 prm_tirc_rx_hash_field_selector_outer_c(tirc);

	CHECK_EQ(prm_tirc_get_tunneled_offload_en(tirc), attr->inner);
	CHECK(memcmp(prm_tirc_rx_hash_toeplitz_key_c(tirc), attr->key, sizeof(key)) == 0);
	CHECK_EQ(prm_rx_hash_field_select_get_l3_prot_type(s), attr->ipv6);
	CHECK_EQ(prm_rx_hash_field_select_get_l4_prot_type(s), attr->udp);
	CHECK_EQ(prm_rx_hash_field_select_get_selected_fields(s), attr->hash_fields);
	CHECK_EQ(prm_tirc_get_rx_hash_symmetric(tirc), attr->symmetric);
}

/** With the number of a table, MODIFY_TIR assigns it to the TIR and releases the old one; without, the TIR keeps it. */
static void
check_tir_table(struct mdv_dev *dev, const struct setup *s, struct mdv_obj *tir,
		struct mdv_tir_attr *attr)
{
	struct mdv_obj *one = mdv_rqt_create(dev, 0, s->rqn, 1);
	struct prm_tirc tirc;

	REQUIRE(one != NULL);
	attr->rqtn = one->id;
	CHECK_EQ(mdv_tir_modify_hash(tir, attr), 0);
	REQUIRE(tir_query(tir, &tirc));
	CHECK_EQ(prm_tirc_get_indirect_table(&tirc), one->id);
	attr->rqtn = 0;
	CHECK_EQ(mdv_tir_modify_hash(tir, attr), 0);
	REQUIRE(tir_query(tir, &tirc));
	CHECK_EQ(prm_tirc_get_indirect_table(&tirc), one->id);
	attr->rqtn = s->rqt->id;
	CHECK_EQ(mdv_tir_modify_hash(tir, attr), 0);
	CHECK_EQ(mdv_obj_destroy(one), 0);
}

static void
check_tir(struct mdv_dev *dev, const struct setup *s, bool inner)
{
	uint8_t other_key[sizeof(key)];
	struct mdv_tir_attr attr = { .rqtn = s->rqt->id, .ipv6 = true, .inner = inner, .key = key,
				     .hash_fields = MDV_HASH_SRC_IP | MDV_HASH_DST_PORT };
	struct mdv_obj *tir = mdv_tir_create(dev, &attr);
	struct prm_tirc tirc;

	REQUIRE(tir != NULL);
	REQUIRE(tir_query(tir, &tirc));
	CHECK_EQ(prm_tirc_get_indirect_table(&tirc), s->rqt->id);
	CHECK_EQ(prm_tirc_get_rx_hash_fn(&tirc), PRM_RX_HASH_FN_TOEPLITZ);
	check_selector(&tirc, &attr);
	for (size_t i = 0; i < sizeof(key); i++)
		other_key[i] = i * 7;
	attr.key = other_key;
	attr.ipv6 = false;
	attr.udp = true;
	attr.symmetric = true;
	attr.hash_fields = MDV_HASH_SRC_IP | MDV_HASH_DST_IP;
	CHECK_EQ(mdv_tir_modify_hash(tir, &attr), 0);
	REQUIRE(tir_query(tir, &tirc));
	check_selector(&tirc, &attr);
	/* Each selection of fields. */
	for (attr.hash_fields = 1; attr.hash_fields <= 0xf; attr.hash_fields++) {
		CHECK_EQ(mdv_tir_modify_hash(tir, &attr), 0);
		REQUIRE(tir_query(tir, &tirc));
		check_selector(&tirc, &attr);
	}
	attr.hash_fields = MDV_HASH_SRC_IP | MDV_HASH_DST_IP;
	check_tir_table(dev, s, tir, &attr);
	CHECK_EQ(mdv_obj_destroy(tir), 0);
}

static void
check_bad_tir(struct mdv_dev *dev, const struct setup *s)
{
	struct mdv_tir_attr attr = { .rqtn = s->rqt->id, .hash_fields = MDV_HASH_SRC_IP };

	log_begin();
	CHECK(mdv_tir_create(dev, &attr) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	attr.key = key;
	attr.hash_fields = 1 << 7;
	CHECK(mdv_tir_create(dev, &attr) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
	CHECK_EQ(lines_of(log_end()), 2);
}

void
test_rss(struct mdv_dev *dev)
{
	struct mdv_tir_attr direct = { 0 };
	struct prm_tirc tirc = { 0 };
	struct mdv_obj *tir;
	struct setup s;

	CHECK(setup_create(dev, &s));
	if (s.rqt != NULL) {
		check_rqt(dev, &s);
		check_tir(dev, &s, false);
	check_tir(dev, &s, true);
		check_bad_tir(dev, &s);
		direct.rqn = s.rq[1].wq.number;
		tir = mdv_tir_create(dev, &direct);
		CHECK(tir != NULL && tir_query(tir, &tirc));
		CHECK_EQ(prm_tirc_get_inline_rqn(&tirc), s.rq[1].wq.number);
		CHECK_EQ(mdv_obj_destroy(tir), 0);
	}
	setup_destroy(&s);
}

/* ------------------------------------------------------------------ rules */

static void
check_rules(struct mdv_dev *dev, struct mdv_obj *tir)
{
	const struct mdv_rule_attr attr[] = {
		{ .priority = 0, .match_dmac = true, .dmac = { 2, 0, 0, 0, 0, 1 },
		  .dmac_mask = { 255, 255, 255, 255, 255, 255 }, .tir = tir },
		/* Same mask, same priority: one matcher for both. */
		{ .priority = 0, .match_dmac = true, .dmac = { 2, 0, 0, 0, 0, 2 },
		  .dmac_mask = { 255, 255, 255, 255, 255, 255 }, .tir = tir, .tag = 0x1234 },
		/* All multicast frames; bits of the value outside the mask are ignored. */
		{ .priority = 1, .match_dmac = true, .dmac = { 1, 2, 3, 4, 5, 6 },
		  .dmac_mask = { 1, 0, 0, 0, 0, 0 }, .tir = tir },
		{ .priority = 1, .ethertype = 0x800, .ip_proto = 6, .tir = tir },
		{ .priority = 1, .ip_version = 6, .ip_proto = 17, .match_frag = true, .tir = tir },
		{ .priority = 2, .match_vlan = true, .vlan_id = 5, .tir = tir },
		{ .priority = 2, .match_vlan = true, .vlan_id = 0xffff, .tir = tir },
		{ .priority = 3, .tir = NULL },
	};
	struct mdv_rule *rule[RTE_DIM(attr)];

	for (size_t i = 0; i < RTE_DIM(attr); i++) {
		rule[i] = mdv_rule_create(dev, &attr[i]);
		CHECK(rule[i] != NULL);
	}
	/* In either order of destruction a matcher is destroyed with its last rule. */
	for (size_t i = 0; i < RTE_DIM(attr); i += 2)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
	rule[0] = mdv_rule_create(dev, &attr[0]);
	CHECK(rule[0] != NULL);
	CHECK_EQ(mdv_rule_destroy(rule[0]), 0);
	for (size_t i = 1; i < RTE_DIM(attr); i += 2)
		CHECK_EQ(mdv_rule_destroy(rule[i]), 0);
}

/* A rule of equal match that drops: the kernel's tables have one entry for both. */
static void
check_taken_traffic(struct mdv_dev *dev, struct mdv_obj *tir)
{
	const struct mdv_rule_attr drop = { .ethertype = 0x88b5 }, same = { .ethertype = 0x88b5, .tir = tir };
	struct mdv_rule *rule = mdv_rule_create(dev, &drop);
	const char *log;

	CHECK(rule != NULL);
	log_begin();
	CHECK(mdv_rule_create(dev, &same) == NULL);
	CHECK_EQ(rte_errno, EEXIST);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK(strstr(log, "EEXIST (another program has this traffic)") != NULL);
	CHECK_EQ(mdv_rule_destroy(rule), 0);
}

static void
check_bad_rules(struct mdv_dev *dev, struct mdv_obj *tir)
{
	const struct mdv_rule_attr version = { .ip_version = 5, .tir = tir };
	const struct mdv_rule_attr vlan = { .match_vlan = true, .vlan_id = 4096, .tir = tir };

	log_begin();
	CHECK(mdv_rule_create(dev, &version) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK(mdv_rule_create(dev, &vlan) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	CHECK_EQ(lines_of(log_end()), 2);
}

void
test_rules(struct mdv_dev *dev)
{
	struct mdv_tir_attr attr = { 0 };
	struct mdv_obj *tir;
	struct setup s;

	CHECK(setup_create(dev, &s));
	attr.rqn = s.rq[0].wq.number;
	tir = mdv_tir_create(dev, &attr);
	CHECK(tir != NULL);
	if (tir != NULL) {
		check_rules(dev, tir);
		check_bad_rules(dev, tir);
		if (dev->mode == MDV_OPEN_VERBS)
			check_taken_traffic(dev, tir);
	}
	CHECK_EQ(mdv_obj_destroy(tir), 0);
	setup_destroy(&s);
}
