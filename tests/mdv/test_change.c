/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Changes of packets: shared contexts, rules that have them, in the root and in further tables. */

#include <errno.h>
#include <string.h>

#include <mdv_private.h>
#include <mdv_rule_int.h>

#include "mdv_test.h"

struct prm_set_add_copy_action_in_auto
test_change_action(unsigned int field, unsigned int bits, uint32_t data)
{
	struct prm_set_add_copy_action_in_auto a = { { 0 } };
	struct prm_set_action_in *s = prm_set_add_copy_action_in_auto_set_action_in(&a);

	prm_set_action_in_set_action_type(s, PRM_ACTION_TYPE_SET);
	prm_set_action_in_set_field(s, field);
	prm_set_action_in_set_length(s, bits % 32);
	prm_set_action_in_set_data(s, data);
	return a;
}

/** A rule with the changes, in a table. */
static void
check_rule(struct mdv_dev *dev, struct mdv_rule_table *table, struct mdv_obj *tir, const struct mdv_change *decap,
	   const struct mdv_change *modify)
{
	const bool pops = table != NULL || dev->mode == MDV_OPEN_VFIO;
	struct mdv_rule_attr attr = {
		.table = table, .ethertype = 0x800, .tir = tir, .tunnel = decap, .modify = modify, .pop_vlan = pops,
	};
	struct mdv_rule *rule = mdv_rule_create(dev, &attr);

	CHECK(rule != NULL);
	CHECK_EQ(mdv_rule_destroy(rule), 0);
	if (pops)
		return;
	attr.pop_vlan = true;
	rte_errno = 0;
	CHECK(mdv_rule_create(dev, &attr) == NULL);
	CHECK_EQ(rte_errno, ENOTSUP);
}

/** Equal changes are one object, those for the kernel's root another one. */
static void
check_sharing(struct mdv_dev *dev)
{
	const struct prm_set_add_copy_action_in_auto a[] = {
		test_change_action(PRM_ACTION_IN_FIELD_OUT_SIPV4, 32, 1),
		test_change_action(PRM_ACTION_IN_FIELD_OUT_SIPV4, 32, 2),
	};
	struct mdv_change *c[] = {
		mdv_change_get(dev, MDV_CHANGE_MODIFY, true, &a[0], sizeof(a[0])),
		mdv_change_get(dev, MDV_CHANGE_MODIFY, true, &a[0], sizeof(a[0])),
		mdv_change_get(dev, MDV_CHANGE_MODIFY, true, &a[1], sizeof(a[1])),
		mdv_change_get(dev, MDV_CHANGE_MODIFY, true, a, sizeof(a)),
		mdv_change_get(dev, MDV_CHANGE_MODIFY, false, &a[0], sizeof(a[0])),
	};

	for (unsigned int i = 0; i < RTE_DIM(c); i++)
		CHECK(c[i] != NULL);
	CHECK(c[0] == c[1]);
	CHECK(c[0] != c[2] && c[0] != c[3] && c[2] != c[3]);
	CHECK((c[0] == c[4]) == (dev->mode == MDV_OPEN_VFIO));
	for (unsigned int i = 0; i < RTE_DIM(c); i++)
		mdv_change_put(c[i]);
	mdv_change_put(NULL);
	CHECK(TAILQ_EMPTY(&dev->rules->changes));
	rte_errno = 0;
	CHECK(mdv_change_get(dev, MDV_CHANGE_MODIFY, false, NULL, 0) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
	rte_errno = 0;
	CHECK(mdv_change_get(dev, MDV_CHANGE_DECAP_L3, false, a, MDV_CHANGE_HEADER_MAX + 1) == NULL);
	CHECK_EQ(rte_errno, EINVAL);
}

static void
check_tables(struct mdv_dev *dev, struct mdv_obj *tir)
{
	const struct prm_set_add_copy_action_in_auto a = test_change_action(PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 8, 9);
	static const uint8_t l2[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0 };
	struct mdv_rule_table *further = mdv_rule_table_create(dev, false, MDV_TABLE_LEVEL_MIN);
	struct mdv_change *modify, *decap, *l3;

	CHECK(further != NULL);
	for (int root = 0; root < 2 && further != NULL; root++) {
		struct mdv_rule_table *table = root ? NULL : further;

		modify = mdv_change_get(dev, MDV_CHANGE_MODIFY, root, &a, sizeof(a));
		decap = mdv_change_get(dev, MDV_CHANGE_DECAP, root, NULL, 0);
		l3 = mdv_change_get(dev, MDV_CHANGE_DECAP_L3, root, l2, sizeof(l2));
		CHECK(modify != NULL && decap != NULL && l3 != NULL);
		check_rule(dev, table, tir, decap, modify);
		check_rule(dev, table, tir, l3, modify);
		check_rule(dev, table, tir, NULL, modify);
		check_rule(dev, table, tir, l3, NULL);
		mdv_change_put(modify);
		mdv_change_put(decap);
		mdv_change_put(l3);
	}
	mdv_rule_table_destroy(further);
}

/** Rules of sent packets that change them, in the root and in a further table; the kernel's root pushes no tags. */
static void
check_sent(struct mdv_dev *dev)
{
	const struct prm_set_add_copy_action_in_auto a = test_change_action(PRM_ACTION_IN_FIELD_OUT_IPV4_TTL, 8, 9);
	static const uint8_t headers[50] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45 };
	struct mdv_rule_table *further = mdv_rule_table_create(dev, true, MDV_TABLE_LEVEL_MIN);
	struct mdv_change_caps caps;

	CHECK_EQ(mdv_change_caps(dev, true, &caps), 0);
	CHECK(caps.encap && caps.encap_l3 && caps.push_vlan && !caps.decap && !caps.pop_vlan);
	CHECK_EQ(caps.encap_bytes, MDV_CHANGE_HEADER_MAX);
	CHECK(further != NULL);
	for (unsigned int i = 0; i < 4 && further != NULL; i++) {
		const bool root = i & 1, push = !root || dev->mode == MDV_OPEN_VFIO;
		struct mdv_change *modify = mdv_change_get(dev, MDV_CHANGE_MODIFY_TX, root, &a, sizeof(a));
		struct mdv_change *encap = mdv_change_get(dev, i & 2 ? MDV_CHANGE_ENCAP_L3 : MDV_CHANGE_ENCAP, root,
							  headers, sizeof(headers));
		struct mdv_rule_attr attr = {
			.table = root ? NULL : further, .egress = true, .ethertype = 0x800, .send = true,
			.tunnel = encap, .modify = modify, .push_vlan = push ? 0x81000005 : 0,
		};
		struct mdv_rule *rule;

		CHECK(modify != NULL && encap != NULL);
		rule = mdv_rule_create(dev, &attr);
		CHECK(rule != NULL);
		CHECK_EQ(mdv_rule_destroy(rule), 0);
		attr.push_vlan = 0x81000005;
		rte_errno = 0;
		rule = push ? NULL : mdv_rule_create(dev, &attr);
		CHECK(rule == NULL && rte_errno == (push ? 0 : ENOTSUP));
		mdv_change_put(encap);
		mdv_change_put(modify);
	}
	mdv_rule_table_destroy(further);
}

/* Tables without decapsulation, which the device would refuse there. */
static void
check_switchdev(struct mdv_dev *dev, const struct mdv_change_caps *caps)
{
	struct mdv_rule_table *table = mdv_rule_table_create(dev, false, MDV_TABLE_LEVEL_MIN);

	CHECK(!caps->decap && !caps->decap_l3);
	CHECK(table != NULL);
	mdv_rule_table_destroy(table);
}

void
test_changes(struct mdv_dev *dev)
{
	const struct mdv_cq_attr cq_attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_rq_attr rq_attr = { .log_wqes = 6, .log_stride_bytes = 4, .socket_id = SOCKET_ID_ANY };
	struct mdv_tir_attr tir_attr = { 0 };
	struct mdv_change_caps caps;
	struct mdv_obj *tir;
	struct mdv_cq cq;
	struct mdv_rq rq;

	CHECK_EQ(mdv_change_caps(dev, false, &caps), 0);
	if (mdv_own(dev)->switchdev)
		check_switchdev(dev, &caps);
	/* A card without them. */
	if (caps.max_modify == 0 || !caps.decap || !caps.decap_l3 || !caps.pop_vlan)
		return;
	check_sent(dev);
	CHECK_EQ(mdv_cq_create(dev, &cq_attr, &cq), 0);
	rq_attr.cqn = cq.cqn;
	CHECK_EQ(mdv_rq_create(dev, &rq_attr, &rq), 0);
	tir_attr.rqn = rq.wq.number;
	tir = mdv_tir_create(dev, &tir_attr);
	CHECK(tir != NULL);
	check_sharing(dev);
	check_tables(dev, tir);
	CHECK_EQ(mdv_obj_destroy(tir), 0);
	CHECK_EQ(mdv_wq_destroy(&rq.wq), 0);
	mdv_cq_destroy(&cq);
}
