/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Verbs flows: translates a list of header specifications into a matcher and a rule, as mlx5_ib does
 * (hw/mlx5/fs.c, parse_flow_attr()); rules of type "default" into those of create_leftovers_rule(). The
 * destination is the TIR of a raw packet or RSS QP.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uverbs_qp.h"

/* enum ib_flow_spec_type, ib_flow_attr_type */
#define SPEC_ETH 0x20
#define SPEC_IPV4 0x30
#define SPEC_IPV6 0x31
#define SPEC_TCP 0x40
#define SPEC_UDP 0x41
#define SPEC_TAG 0x1000
#define SPEC_DROP 0x1001
#define SPEC_COUNT 0x1003
#define ATTR_NORMAL 0
#define ATTR_ALL_DEFAULT 1
#define ATTR_MC_DEFAULT 2
/* enum ib_flow_flags */
#define FLAG_DONT_TRAP 2u
#define FLAG_EGRESS 4u
#define SPECS_MAX 10
#define CRITERIA_OUTER 1
#define GROUP_BIT 0x01000000u /* of dmac_47_16 */

/** A flow being created: match and actions. */
struct flow_req {
	struct abi_call *call;
	struct prm_fte_match_set_lyr_2_4 mask, value;
	struct emu_flow_attr attr;
	struct abi_handle *counters;
	uint8_t port; /* of the RDMA device */
};

typedef struct prm_fte_match_set_lyr_2_4 match_t;

static uint32_t
be32_at(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint16_t
be16_at(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static void
put_eth(match_t *m, const struct ib_uverbs_flow_eth_filter *f)
{
	uint16_t tci = be16toh(f->vlan_tag);

	prm_fte_match_set_lyr_2_4_set_dmac_47_16(m, be32_at(f->dst_mac));
	prm_fte_match_set_lyr_2_4_set_dmac_15_0(m, be16_at(f->dst_mac + 4));
	prm_fte_match_set_lyr_2_4_set_smac_47_16(m, be32_at(f->src_mac));
	prm_fte_match_set_lyr_2_4_set_smac_15_0(m, be16_at(f->src_mac + 4));
	prm_fte_match_set_lyr_2_4_set_ethertype(m, be16toh(f->ether_type));
	prm_fte_match_set_lyr_2_4_set_first_vid(m, tci & 0xfff);
	prm_fte_match_set_lyr_2_4_set_first_cfi(m, tci >> 12 & 1);
	prm_fte_match_set_lyr_2_4_set_first_prio(m, tci >> 13);
}

static int
spec_eth(struct flow_req *r, const void *spec)
{
	const struct ib_uverbs_flow_spec_eth *s = spec;

	put_eth(&r->mask, &s->mask);
	put_eth(&r->value, &s->val);
	/* A match on VLAN fields implies a match on cvlan_tag. */
	if (s->mask.vlan_tag != 0) {
		prm_fte_match_set_lyr_2_4_set_cvlan_tag(&r->mask, 1);
		prm_fte_match_set_lyr_2_4_set_cvlan_tag(&r->value, 1);
	}
	return 0;
}

static void
put_ip_version(struct flow_req *r, unsigned version)
{
	prm_fte_match_set_lyr_2_4_set_ip_version(&r->mask, 0xf);
	prm_fte_match_set_lyr_2_4_set_ip_version(&r->value, version);
}

static void
put_class(match_t *m, uint8_t tos, uint8_t proto)
{
	prm_fte_match_set_lyr_2_4_set_ip_ecn(m, tos & 3);
	prm_fte_match_set_lyr_2_4_set_ip_dscp(m, tos >> 2);
	prm_fte_match_set_lyr_2_4_set_ip_protocol(m, proto);
}

/* IPv4 addresses are in the last of the four dwords. */
static void
put_ipv4(match_t *m, const struct ib_uverbs_flow_ipv4_filter *f)
{
	m->dw[11] = f->src_ip;
	m->dw[15] = f->dst_ip;
	put_class(m, f->tos, f->proto);
}

static int
spec_ipv4(struct flow_req *r, const void *spec)
{
	const struct ib_uverbs_flow_spec_ipv4 *s = spec;

	if (s->mask.ttl != 0 || s->mask.flags != 0)
		return abi_refuse(r->call, -EOPNOTSUPP, "match of time to live or fragments");
	put_ip_version(r, 4);
	put_ipv4(&r->mask, &s->mask);
	put_ipv4(&r->value, &s->val);
	return 0;
}

static void
put_ipv6(match_t *m, const struct ib_uverbs_flow_ipv6_filter *f)
{
	memcpy(&m->dw[8], f->src_ip, sizeof(f->src_ip));
	memcpy(&m->dw[12], f->dst_ip, sizeof(f->dst_ip));
	put_class(m, f->traffic_class, f->next_hdr);
}

static int
spec_ipv6(struct flow_req *r, const void *spec)
{
	const struct ib_uverbs_flow_spec_ipv6 *s = spec;

	if (s->mask.hop_limit != 0 || s->mask.flow_label != 0)
		return abi_refuse(r->call, -EOPNOTSUPP, "match of hop limit or flow label");
	put_ip_version(r, 6);
	put_ipv6(&r->mask, &s->mask);
	put_ipv6(&r->value, &s->val);
	return 0;
}

/* Ports are in one dword per protocol, destination port in the lower half. */
static int
spec_ports(struct flow_req *r, const void *spec, unsigned dword, uint8_t proto)
{
	const struct ib_uverbs_flow_spec_tcp_udp *s = spec;

	prm_fte_match_set_lyr_2_4_set_ip_protocol(&r->mask, 0xff);
	prm_fte_match_set_lyr_2_4_set_ip_protocol(&r->value, proto);
	r->mask.dw[dword] = htobe32((uint32_t)be16toh(s->mask.src_port) << 16 |
				    be16toh(s->mask.dst_port));
	r->value.dw[dword] = htobe32((uint32_t)be16toh(s->val.src_port) << 16 |
				     be16toh(s->val.dst_port));
	return 0;
}

static int
spec_tcp(struct flow_req *r, const void *spec)
{
	return spec_ports(r, spec, 5, 6);
}

static int
spec_udp(struct flow_req *r, const void *spec)
{
	return spec_ports(r, spec, 7, 17);
}

static int
spec_tag(struct flow_req *r, const void *spec)
{
	const struct ib_uverbs_flow_spec_action_tag *s = spec;

	if (s->tag_id > 0xffffff)
		return abi_refuse(r->call, -EINVAL, "tag 0x%x has more than 24 bits", s->tag_id);
	r->attr.has_tag = true;
	r->attr.tag = s->tag_id;
	return 0;
}

static int
spec_drop(struct flow_req *r, const void *spec)
{
	(void)spec;
	r->attr.drop = true;
	r->attr.dest = NULL;
	return 0;
}

static int
spec_count(struct flow_req *r, const void *spec)
{
	const struct ib_uverbs_flow_spec_action_count *s = spec;

	r->counters = abi_handle_of(r->call, s->handle, UVERBS_OBJECT_COUNTERS);
	return r->counters != NULL ? 0 : -EINVAL;
}

static const struct {
	uint32_t type;
	uint16_t size;
	int (*put)(struct flow_req *r, const void *spec);
} spec_rows[] = {
	{SPEC_ETH, sizeof(struct ib_uverbs_flow_spec_eth), spec_eth},
	{SPEC_IPV4, sizeof(struct ib_uverbs_flow_spec_ipv4), spec_ipv4},
	{SPEC_IPV6, sizeof(struct ib_uverbs_flow_spec_ipv6), spec_ipv6},
	{SPEC_TCP, sizeof(struct ib_uverbs_flow_spec_tcp_udp), spec_tcp},
	{SPEC_UDP, sizeof(struct ib_uverbs_flow_spec_tcp_udp), spec_udp},
	{SPEC_TAG, sizeof(struct ib_uverbs_flow_spec_action_tag), spec_tag},
	{SPEC_DROP, sizeof(struct ib_uverbs_flow_spec_action_drop), spec_drop},
	{SPEC_COUNT, sizeof(struct ib_uverbs_flow_spec_action_count), spec_count},
};

static int
spec_put(struct flow_req *r, const struct ib_uverbs_flow_spec_hdr *hdr)
{
	unsigned i;

	for (i = 0; i < sizeof(spec_rows) / sizeof(spec_rows[0]); i++) {
		if (spec_rows[i].type != hdr->type)
			continue;
		if (hdr->size != spec_rows[i].size)
			return abi_refuse(r->call, -EINVAL, "specification 0x%x of %u bytes",
					  hdr->type, hdr->size);
		return spec_rows[i].put(r, hdr);
	}
	return abi_refuse(r->call, -EOPNOTSUPP, "specification 0x%x", hdr->type);
}

static int
specs_put(struct flow_req *r, const uint8_t *specs, size_t len, unsigned n)
{
	struct ib_uverbs_flow_spec_hdr hdr;
	_Alignas(8) uint8_t spec[128];
	size_t at = 0;
	int ret;

	for (; n != 0; n--) {
		if (len - at < sizeof(hdr))
			return abi_refuse(r->call, -EINVAL, "specifications end early");
		memcpy(&hdr, specs + at, sizeof(hdr));
		if (hdr.size < sizeof(hdr) || hdr.size > len - at || hdr.size > sizeof(spec))
			return abi_refuse(r->call, -EINVAL, "specification of %u bytes", hdr.size);
		memcpy(spec, specs + at, hdr.size);
		ret = spec_put(r, (const void *)spec);
		if (ret != 0)
			return ret;
		at += hdr.size;
	}
	return at == len ? 0 : abi_refuse(r->call, -EINVAL, "%zu bytes too many", len - at);
}

/* The first flow with a counters object fixes the meaning of its indices. */
static int
counters_describe(struct flow_req *r, struct abi_counters *c)
{
	struct mlx5_ib_create_flow head;
	struct mlx5_ib_flow_counters_data data;
	uint8_t uhw[sizeof(head) + sizeof(data)];
	struct mlx5_ib_flow_counters_desc desc;
	unsigned i;
	int ret = abi_in(r->call, UVERBS_ATTR_UHW_IN, uhw, sizeof(uhw));

	memcpy(&head, uhw, sizeof(head));
	memcpy(&data, uhw + sizeof(head), sizeof(data));
	if (ret != 0 || head.ncounters_data == 0)
		return ret;
	if (c->bound || head.ncounters_data > 1 ||
	    data.ncounters > sizeof(c->desc) / sizeof(c->desc[0]))
		return abi_refuse(r->call, -EINVAL, "%u descriptions of counters",
				  data.ncounters);
	for (i = 0; i < data.ncounters; i++) {
		ret = abi_copy_from(&desc, (uintptr_t)data.counters_data + i * sizeof(desc),
				    sizeof(desc));
		if (ret != 0)
			return ret;
		/* Packets, bytes. */
		if (desc.description > 1)
			return abi_refuse(r->call, -EINVAL, "counter of kind %u",
					  desc.description);
		c->desc[i].description = desc.description;
		c->desc[i].index = desc.index;
	}
	c->ndesc = data.ncounters;
	return 0;
}

static int
counters_bind(struct flow_req *r)
{
	struct prm_alloc_flow_counter_in in = {0};
	struct abi_counters *c;
	int ret;

	if (r->counters == NULL)
		return 0;
	c = &r->counters->verbs->counters;
	ret = counters_describe(r, c);
	if (ret == 0 && c->counter == NULL) {
		prm_alloc_flow_counter_in_set_opcode(&in, PRM_CMD_OP_ALLOC_FLOW_COUNTER);
		ret = abi_verbs_create(r->call, r->counters, &in, sizeof(in), &c->counter);
	}
	if (ret != 0)
		return ret;
	c->bound = true;
	r->attr.counter = (struct emu_flow_counter *)c->counter;
	return 0;
}

static int
abi_counters_create(struct abi_call *call)
{
	struct abi_handle *h = abi_verbs_new(call, UVERBS_OBJECT_COUNTERS, 0);

	if (h == NULL)
		return -ENOMEM;
	abi_attr(call, UVERBS_ATTR_CREATE_COUNTERS_HANDLE)->data = h->id;
	return 0;
}

static int
abi_counters_destroy(struct abi_call *call)
{
	return abi_verbs_destroy(call,
				 abi_in_handle(call, UVERBS_ATTR_DESTROY_COUNTERS_HANDLE));
}

static int
counter_query(struct abi_call *call, const struct emu_obj *counter, uint64_t values[2])
{
	struct {
		struct prm_query_flow_counter_out head;
		struct prm_traffic_counter stats;
	} out = {0};
	struct prm_query_flow_counter_in in = {0};
	int ret;

	prm_query_flow_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_FLOW_COUNTER);
	prm_query_flow_counter_in_set_flow_counter_id(&in, counter->id);
	ret = abi_kernel_cmd(call, &in, sizeof(in), &out, sizeof(out), NULL);
	values[0] = prm_traffic_counter_get_packets(&out.stats);
	values[1] = prm_traffic_counter_get_octets(&out.stats);
	return ret;
}

static int
abi_counters_read(struct abi_call *call)
{
	const struct abi_counters *c =
		&abi_verbs_in(call, UVERBS_ATTR_READ_COUNTERS_HANDLE)->counters;
	size_t room = abi_len(call, UVERBS_ATTR_READ_COUNTERS_BUFF) / sizeof(uint64_t);
	uint64_t values[2], *buf;
	unsigned i;
	int ret;

	if (!c->bound || c->counter == NULL)
		return abi_refuse(call, -EINVAL, "nothing counts with these counters");
	ret = counter_query(call, c->counter, values);
	if (ret != 0)
		return ret;
	buf = calloc(room != 0 ? room : 1, sizeof(*buf));
	if (buf == NULL)
		return -ENOMEM;
	for (i = 0; i < c->ndesc; i++)
		if (c->desc[i].index < room)
			buf[c->desc[i].index] += values[c->desc[i].description];
	ret = abi_out(call, UVERBS_ATTR_READ_COUNTERS_BUFF, buf, room * sizeof(*buf));
	free(buf);
	return ret;
}

static bool
is_default(const struct ib_uverbs_flow_attr *a)
{
	return a->type == ATTR_ALL_DEFAULT || a->type == ATTR_MC_DEFAULT;
}

static int
flow_check(struct abi_call *call, const struct ib_uverbs_create_flow *in, const struct abi_qp *qp)
{
	const struct ib_uverbs_flow_attr *a = &in->flow_attr;
	uint16_t vport;

	if (in->comp_mask != 0 || a->num_of_specs > SPECS_MAX)
		return abi_refuse(call, -EINVAL, "%u specifications", a->num_of_specs);
	if (a->port > emu_ib_ports(call->dev) ||
	    (call->dev->eswitch.on && emu_ib_port_vport(call->dev, a->port, &vport) != 0))
		return abi_refuse(call, -EINVAL, "port %u", a->port);
	if (qp->tir == NULL)
		return abi_refuse(call, -EOPNOTSUPP, "the QP receives no raw packets");
	if ((a->flags & ~(FLAG_DONT_TRAP | FLAG_EGRESS)) != 0 ||
	    ((a->flags & FLAG_EGRESS) != 0 && is_default(a)))
		return abi_refuse(call, -EINVAL, "flow type %u, flags 0x%x", a->type, a->flags);
	/*
	 * Sniffing and sharing of packets need capabilities that the card does not have
	 * (allow_sniffer_and_nic_rx_shared_tir, nic_rx_multi_path_tirs); rules for sending are not modelled.
	 */
	if ((a->type != ATTR_NORMAL && !is_default(a)) || a->flags != 0)
		return abi_refuse(call, -EOPNOTSUPP, "flow type %u, flags 0x%x", a->type, a->flags);
	return 0;
}

/* mlx5_ib: flow_is_multicast_only(), which reads the first specification only. */
static enum emu_flow_place
place_of(const uint8_t *specs, size_t len)
{
	struct ib_uverbs_flow_spec_ipv4 ipv4;
	struct ib_uverbs_flow_spec_eth eth;
	struct ib_uverbs_flow_spec_hdr hdr = {0};
	bool multicast = false;

	if (len >= sizeof(hdr))
		memcpy(&hdr, specs, sizeof(hdr));
	if (hdr.type == SPEC_IPV4) {
		memcpy(&ipv4, specs, sizeof(ipv4));
		multicast = be32toh(ipv4.val.dst_ip) >> 28 == 0xe;
	} else if (hdr.type == SPEC_ETH) {
		memcpy(&eth, specs, sizeof(eth));
		multicast = (eth.mask.dst_mac[0] & eth.val.dst_mac[0] & 1) != 0;
	}
	return multicast ? EMU_FLOW_MULTICAST : EMU_FLOW_PRIORITY;
}

/* In switchdev mode rules match the vport of their port: hw/mlx5/fs.c, mlx5_ib_set_rule_source_port(). */
static uint8_t
source_put(const struct flow_req *r, struct prm_fte_match_param *mask, struct prm_fte_match_param *value)
{
	const struct emu_dev *dev = r->call->dev;
	uint16_t vport = 0;

	if (!dev->eswitch.on)
		return 0;
	if (!dev->eswitch.no_metadata) {
		prm_fte_match_set_misc2_set_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(mask),
							     EMU_ESWITCH_METADATA_MASK);
		prm_fte_match_set_misc2_set_metadata_reg_c_0(prm_fte_match_param_misc_parameters_2(value),
							     emu_eswitch_metadata(dev, r->port));
		return PRM_MATCH_CRITERIA_ENABLE_MISC2;
	}
	(void)emu_ib_port_vport(dev, r->port, &vport);
	prm_fte_match_set_misc_set_source_port(prm_fte_match_param_misc_parameters(mask), 0xffff);
	prm_fte_match_set_misc_set_source_port(prm_fte_match_param_misc_parameters(value), vport);
	return PRM_MATCH_CRITERIA_ENABLE_MISC;
}

static int
flow_make(struct flow_req *r, struct abi_handle *h, uint16_t priority)
{
	struct prm_fte_match_param mask = {0}, value = {0};
	struct emu_matcher_attr m = {
		.mask = &mask,
		.mask_len = sizeof(mask),
		.priority = priority,
		.criteria = source_put(r, &mask, &value),
	};
	struct emu_flow_attr attr = r->attr;
	struct emu_obj *matcher, *flow;
	unsigned i;
	int ret;

	for (i = 0; i < sizeof(r->mask.dw) / sizeof(r->mask.dw[0]); i++)
		if (r->mask.dw[i] != 0)
			m.criteria |= CRITERIA_OUTER;
	*prm_fte_match_param_outer_headers(&mask) = r->mask;
	*prm_fte_match_param_outer_headers(&value) = r->value;
	ret = emu_matcher_create(r->call->ctx, &m, &matcher);
	if (ret != 0)
		return ret;
	abi_verbs_part(h, matcher);
	attr.value = &value;
	attr.value_len = sizeof(value);
	ret = abi_kernel_refuses(r->call);
	if (ret == 0)
		ret = emu_flow_create(r->call->ctx, matcher, &attr, &flow);
	if (ret == 0)
		abi_verbs_part(h, flow);
	return ret;
}

/* All frames of one value of the group bit that neither a rule nor the kernel's interface takes. */
static int
leftover_make(struct flow_req *r, struct abi_handle *h, bool multicast)
{
	struct emu_flow_attr attr = {.place = EMU_FLOW_LEFTOVER, .dest = r->attr.dest};

	memset(&r->mask, 0, sizeof(r->mask));
	memset(&r->value, 0, sizeof(r->value));
	prm_fte_match_set_lyr_2_4_set_dmac_47_16(&r->mask, GROUP_BIT);
	prm_fte_match_set_lyr_2_4_set_dmac_47_16(&r->value, multicast ? GROUP_BIT : 0);
	r->attr = attr;
	return flow_make(r, h, 0);
}

static int
rules_make(struct flow_req *r, struct abi_handle *h, const struct ib_uverbs_flow_attr *a)
{
	int ret;

	if (!is_default(a))
		return flow_make(r, h, a->priority);
	ret = leftover_make(r, h, true);
	return ret == 0 && a->type == ATTR_ALL_DEFAULT ? leftover_make(r, h, false) : ret;
}

static int
flow_run(struct abi_call *call, const uint8_t *data, size_t len)
{
	struct ib_uverbs_create_flow_resp resp = {0};
	struct flow_req r = {.call = call};
	struct ib_uverbs_create_flow in;
	struct abi_handle *qp, *h;
	int ret;

	memcpy(&in, data, sizeof(in));
	qp = abi_handle_of(call, in.qp_handle, UVERBS_OBJECT_QP);
	if (qp == NULL)
		return -EINVAL;
	ret = flow_check(call, &in, &qp->verbs->qp);
	if (ret != 0)
		return ret;
	r.port = in.flow_attr.port;
	r.attr.dest = qp->verbs->qp.tir;
	r.attr.place = place_of(data + sizeof(in), len - sizeof(in));
	ret = specs_put(&r, data + sizeof(in), len - sizeof(in), in.flow_attr.num_of_specs);
	if (ret == 0)
		ret = counters_bind(&r);
	if (ret != 0)
		return ret;
	h = abi_verbs_new(call, UVERBS_OBJECT_FLOW, 0);
	if (h == NULL)
		return -ENOMEM;
	abi_verbs_use(h, qp);
	abi_verbs_use(h, r.counters);
	ret = rules_make(&r, h, &in.flow_attr);
	if (ret == 0) {
		resp.flow_handle = h->id;
		ret = abi_out(call, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	}
	return ret != 0 ? abi_verbs_undo(call, h, ret) : 0;
}

int
abi_create_flow(struct abi_call *call)
{
	struct ib_uverbs_create_flow in;
	size_t len;
	void *data;
	int ret = abi_net_raw_check(call);

	if (ret == 0)
		ret = abi_in_alloc(call, UVERBS_ATTR_CORE_IN, &data, &len);
	if (ret != 0)
		return ret;
	memcpy(&in, data, sizeof(in));
	/* There may be unused space after the last specification. */
	if (in.flow_attr.size > len - sizeof(in))
		ret = abi_refuse(call, -EINVAL, "%u bytes of specifications, %zu came",
				 in.flow_attr.size, len - sizeof(in));
	else
		ret = flow_run(call, data, sizeof(in) + in.flow_attr.size);
	free(data);
	return ret;
}

static const struct abi_method abi_methods[] = {
	{UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, "COUNTERS_CREATE",
	 abi_counters_create, true,
	 {ABI_NEW(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS)}},
	{UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, "COUNTERS_DESTROY",
	 abi_counters_destroy, true,
	 {ABI_HANDLE(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS)}},
	{UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, "COUNTERS_READ", abi_counters_read,
	 true,
	 {ABI_HANDLE(UVERBS_ATTR_READ_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS),
	  ABI_OUT(UVERBS_ATTR_READ_COUNTERS_BUFF, 8),
	  ABI_IN_OPT(UVERBS_ATTR_READ_COUNTERS_FLAGS, 4, 8)}},
};

const struct abi_method_table abi_vflow_methods = ABI_METHODS(abi_methods);
