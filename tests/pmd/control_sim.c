/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* See control_sim.h. */

#include <limits.h>

#include <rte_malloc.h>

#include <mdv_rule.h>

#include "control_sim.h"

#define MAX_RULES 8192

int mlxpmd_logtype;
struct sim_device device;
struct mlxpmd_port port;
struct rte_eth_dev eth_dev;
struct rte_eth_dev_data data;
struct mdv_dev mdv;
struct mlxpmd_rxq rxqs[SIM_QUEUES];
bool owned, removed;
static const uint8_t own[6] = { 0x02, 0, 0, 0, 0, 0x0a };

/* ------------------------------------------------------------------ failures, memory, log, time */

unsigned int sim_left, sim_requests;
int sim_err;
const char *sim_hit;

void
sim_arm(unsigned int left, int err)
{
	sim_left = left;
	sim_err = err;
	sim_hit = NULL;
	sim_requests = 0;
}

void
sim_disarm(void)
{
	sim_left = UINT_MAX;
}

static int
request(const char *name)
{
	sim_requests++;
	if (sim_hit != NULL || sim_left == UINT_MAX || sim_left-- != 0)
		return 0;
	sim_hit = name;
	rte_errno = sim_err;
	return -sim_err;
}

int allocated;

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *
__wrap_calloc(size_t n, size_t bytes)
{
	if (request("calloc") != 0)
		return NULL;
	allocated++;
	return __real_calloc(n, bytes);
}

void __real_free(void *p);
void __wrap_free(void *p);
void
__wrap_free(void *p)
{
	allocated -= p != NULL;
	__real_free(p);
}

char log_text[4096];
unsigned int log_lines, log_errors, log_notices;

void
log_begin(void)
{
	log_text[0] = '\0';
	log_lines = log_errors = log_notices = 0;
}

int __wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...) __rte_format_printf(3, 4);
int
__wrap_rte_log(uint32_t level, uint32_t type, const char *format, ...)
{
	size_t used = strlen(log_text);
	va_list ap;

	CHECK_EQ(type, mlxpmd_logtype);
	log_lines++;
	log_errors += level == RTE_LOG_ERR;
	log_notices += level == RTE_LOG_NOTICE;
	va_start(ap, format);
	vsnprintf(log_text + used, sizeof(log_text) - used, format, ap);
	va_end(ap);
	return 0;
}

uint64_t slept_ms, link_up_ms;
uint32_t link_mbps;

void __wrap_rte_delay_us_sleep(unsigned int us);
void
__wrap_rte_delay_us_sleep(unsigned int us)
{
	CHECK_EQ(us % 1000, 0);
	slept_ms += us / 1000;
}

/* ------------------------------------------------------------------ the interface */

static bool
list_find(const struct sim_list *list, const uint8_t addr[6], unsigned int *at)
{
	for (*at = 0; *at < list->n && memcmp(list->addr[*at], addr, 6) < 0; (*at)++)
		;
	return *at < list->n && memcmp(list->addr[*at], addr, 6) == 0;
}

static void
list_change(struct sim_list *list, const uint8_t addr[6], bool add)
{
	unsigned int at;

	if (list_find(list, addr, &at) == add) {
		CHECK(false, "address ..%02x is %s", addr[5], add ? "there" : "absent");
		return;
	}
	if (add) {
		memmove(list->addr[at + 1], list->addr[at], (list->n++ - at) * 6);
		memcpy(list->addr[at], addr, 6);
	} else {
		memmove(list->addr[at], list->addr[at + 1], (--list->n - at) * 6);
		memset(list->addr[list->n], 0, 6);
	}
}

/* A request of the interface that sets something. */
#define SETS(name, params, statement) \
	static int \
	sim_##name params \
	{ \
		int rc = request(#name); \
	\
		CHECK(dev == &mdv && (owned || strcmp(#name, "mac_get") == 0)); \
		if (rc == 0) \
			statement; \
		return rc; \
	}

SETS(mac_set, (struct mdv_dev *dev, const uint8_t mac[6]), memcpy(device.mac, mac, 6))
SETS(mac_get, (struct mdv_dev *dev, uint8_t mac[6]), memcpy(mac, device.mac, 6))
SETS(mtu_set, (struct mdv_dev *dev, uint16_t mtu), device.mtu = mtu)
SETS(mtu_get, (struct mdv_dev *dev, uint16_t *mtu), *mtu = device.mtu)
SETS(up_set, (struct mdv_dev *dev, bool up), device.up = up)
SETS(up_get, (struct mdv_dev *dev, bool *up), *up = device.up)
SETS(promisc_set, (struct mdv_dev *dev, bool on), device.promisc = on)
SETS(allmulti_set, (struct mdv_dev *dev, bool on), device.allmulti = on)
SETS(ucast, (struct mdv_dev *dev, const uint8_t mac[6], bool add), list_change(&device.uc, mac, add))

static int
sim_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add)
{
	int rc = request("mcast");

	CHECK(dev == &mdv && owned);
	CHECK(!add || mdv.mcast_max == 0 || device.mc.n < mdv.mcast_max, "%u addresses of %u", device.mc.n + 1,
	      mdv.mcast_max);
	if (rc == 0)
		list_change(&device.mc, mac, add);
	return rc;
}

static int
sim_link(struct mdv_dev *dev, struct mdv_link *link)
{
	int rc = request("link");

	CHECK(dev == &mdv);
	link->up = slept_ms >= link_up_ms;
	link->speed_mbps = link_mbps;
	return rc;
}

static const struct mdv_port_ops port_ops = {
	.link = sim_link, .mac_get = sim_mac_get, .mac_set = sim_mac_set, .mtu_get = sim_mtu_get,
	.mtu_set = sim_mtu_set, .promisc_set = sim_promisc_set, .allmulti_set = sim_allmulti_set,
	.mcast = sim_mcast, .ucast = sim_ucast, .up_get = sim_up_get, .up_set = sim_up_set,
};

bool
mdv_port_owned(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	return owned;
}

bool
mdv_removed(const struct mdv_dev *dev)
{
	CHECK(dev == &mdv);
	return removed;
}

/* ------------------------------------------------------------------ objects */

static struct mdv_obj objects[SIM_OBJECTS];

static struct sim_object *
object_of(const struct mdv_obj *obj, int kind)
{
	CHECK(obj >= objects && obj < &objects[SIM_OBJECTS]);
	CHECK(kind < 0 || (int)device.object[obj - objects].kind == kind);
	return &device.object[obj - objects];
}

static struct mdv_obj *
object_new(const char *name, int kind)
{
	unsigned int i = 0;

	if (request(name) != 0)
		return NULL;
	while (i < SIM_OBJECTS && device.object[i].kind != SIM_NONE)
		i++;
	if (i == SIM_OBJECTS) {
		CHECK(false, "more objects than a port has");
		return NULL;
	}
	device.object[i].kind = kind;
	objects[i].id = 100 + i;
	return &objects[i];
}

static bool
lock_held(void)
{
	int rc = pthread_mutex_trylock(&port.lock);

	if (rc == 0)
		pthread_mutex_unlock(&port.lock);
	return rc != 0;
}

const struct sim_object *
sim_rqt(uint32_t id)
{
	return id < 100 || id >= 100 + SIM_OBJECTS ? NULL : &device.object[id - 100];
}

struct mdv_obj *
mdv_rqt_create(struct mdv_dev *dev, uint8_t log_max_size, const uint32_t *rqn, unsigned int n)
{
	struct mdv_obj *obj = object_new("rqt_create", SIM_RQT);
	struct sim_object *o;

	CHECK(dev == &mdv && n >= 1 && n <= RTE_BIT32(log_max_size));
	if (obj == NULL)
		return NULL;
	o = object_of(obj, SIM_RQT);
	o->max = RTE_BIT32(log_max_size);
	o->n = n;
	memcpy(o->rqn, rqn, n * sizeof(rqn[0]));
	return obj;
}

int
mdv_rqt_modify(struct mdv_obj *rqt, const uint32_t *rqn, unsigned int n)
{
	struct sim_object *o = object_of(rqt, SIM_RQT);
	int rc = request("rqt_modify");

	CHECK(lock_held());
	CHECK_EQ(n, o->n);
	if (rc == 0)
		memcpy(o->rqn, rqn, n * sizeof(rqn[0]));
	return rc;
}

static void
tir_set(struct sim_object *o, const struct mdv_tir_attr *attr)
{
	uint32_t rqtn = attr->rqtn != 0 ? attr->rqtn : o->tir.rqtn;

	/* Field by field: padding is compared, too. */
	o->tir.rqtn = rqtn;
	o->tir.ipv6 = attr->ipv6;
	o->tir.udp = attr->udp;
	o->tir.hash_fields = attr->hash_fields;
	if (attr->key != NULL)
		memcpy(o->key, attr->key, sizeof(o->key));
	CHECK(rqtn >= 100 && sim_rqt(rqtn)->kind == SIM_RQT);
	/* Without a hash a table of more entries is not documented. */
	CHECK(attr->hash_fields != 0 || sim_rqt(rqtn)->max == 1);
}

struct mdv_obj *
mdv_tir_create(struct mdv_dev *dev, const struct mdv_tir_attr *attr)
{
	struct mdv_obj *obj = object_new("tir_create", SIM_TIR);

	CHECK(dev == &mdv && attr->rqn == 0 && !attr->symmetric && attr->rqtn != 0);
	if (obj != NULL)
		tir_set(object_of(obj, SIM_TIR), attr);
	return obj;
}

int
mdv_tir_modify_hash(struct mdv_obj *tir, const struct mdv_tir_attr *attr)
{
	struct sim_object *o = object_of(tir, SIM_TIR);
	int rc = request("tir_modify");

	CHECK(lock_held());
	CHECK(attr->ipv6 == o->tir.ipv6 && attr->udp == o->tir.udp && !attr->symmetric && attr->rqn == 0);
	/* The table is part of the command only if it changes. */
	CHECK(attr->rqtn == 0 || attr->rqtn != o->tir.rqtn);
	if (rc == 0)
		tir_set(o, attr);
	return rc;
}

/* ------------------------------------------------------------------ rules */

struct mdv_rule {
	bool used;
	struct mdv_rule_attr attr;
};
/* None was used from end on. */
static struct mdv_rule rules[MAX_RULES], *rules_end = rules;

/* Padding does not count. */
static uint64_t
rule_hash(const struct mdv_rule_attr *attr)
{
	char text[160];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	int n = snprintf(text, sizeof(text), "%u %d %d %u %u %d %u %p", attr->priority, attr->match_dmac,
			 attr->match_vlan, attr->ip_version, attr->ip_proto, attr->match_frag, attr->vlan_id,
			 (void *)attr->tir);

	memcpy(&text[n], attr->dmac, 6);
	memcpy(&text[n + 6], attr->dmac_mask, 6);
	for (int i = 0; i < n + 12; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

struct mdv_rule *
mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr)
{
	const struct sim_object *tir = object_of(attr->tir, SIM_TIR);
	struct mdv_rule *rule = rules;

	CHECK(dev == &mdv && !attr->frag && attr->ethertype == 0 && attr->tag == 0);
	/* The last priorities, from narrow to wide. Fragments, which lack the ports, do not match a protocol. */
	CHECK_EQ(attr->priority, MDV_ROOT_PRIORITIES - (attr->ip_proto != 0 ? 3 : attr->ip_version != 0 ? 2 : 1));
	CHECK_EQ(attr->match_frag, attr->ip_proto != 0);
	CHECK(tir->tir.ipv6 == (attr->ip_version == 6) && tir->tir.udp == (attr->ip_proto == IPPROTO_UDP));
	for (unsigned int i = 0; i < 6; i++)
		CHECK_EQ(attr->dmac[i] & ~attr->dmac_mask[i], 0);
	if (request("rule_create") != 0)
		return NULL;
	if (device.rules == MAX_RULES) {
		CHECK(false, "too many rules");
		return NULL;
	}
	while (rule->used)
		rule++;
	rules_end = RTE_MAX(rules_end, rule + 1);
	*rule = (struct mdv_rule){ true, *attr };
	device.rules++;
	device.rules_sum += rule_hash(attr);
	return rule;
}

void
mdv_rule_match(const struct mdv_rule_attr *attr, struct mdv_match *match)
{
	RTE_SET_USED(attr);
	RTE_SET_USED(match);
}

/* There are no flows. */
bool
mlxpmd_flows_multicast(const struct mlxpmd_port *port)
{
	RTE_SET_USED(port);
	return false;
}

bool
mlxpmd_flows_have(const struct mlxpmd_port *port, const struct mdv_match *match)
{
	RTE_SET_USED(port);
	RTE_SET_USED(match);
	return false;
}

int
mdv_rule_destroy(struct mdv_rule *rule)
{
	if (rule == NULL)
		return 0;
	CHECK(rule->used, "destroyed twice");
	rule->used = false;
	device.rules--;
	device.rules_sum -= rule_hash(&rule->attr);
	return 0;
}

unsigned int
sim_matches(const uint8_t dst[6], uint16_t vlan)
{
	unsigned int n = 0;

	for (const struct mdv_rule *r = rules; r < rules_end; r++) {
		bool matches = r->used && (!r->attr.match_vlan || r->attr.vlan_id == vlan);

		for (unsigned int i = 0; matches && r->attr.match_dmac && i < 6; i++)
			matches = (dst[i] & r->attr.dmac_mask[i]) == r->attr.dmac[i];
		n += matches;
	}
	return n;
}

const struct sim_object *
sim_tir(uint8_t ip_version, uint8_t ip_proto)
{
	const struct mdv_obj *tir = NULL;

	for (const struct mdv_rule *r = rules; r < rules_end; r++) {
		if (!r->used || r->attr.ip_version != ip_version || r->attr.ip_proto != ip_proto)
			continue;
		CHECK(tir == NULL || tir == r->attr.tir);
		tir = r->attr.tir;
	}
	return tir != NULL ? object_of(tir, SIM_TIR) : NULL;
}

/* What refers to an object is destroyed before it. */
int
mdv_obj_destroy(struct mdv_obj *obj)
{
	struct sim_object *o;

	if (obj == NULL)
		return 0;
	o = object_of(obj, -1);
	CHECK(o->kind != SIM_NONE, "destroyed twice");
	for (unsigned int i = 0; i < SIM_OBJECTS; i++)
		CHECK(device.object[i].kind != SIM_TIR || device.object[i].tir.rqtn != obj->id, "in use");
	for (const struct mdv_rule *r = rules; r < rules_end; r++)
		if (r->used && r->attr.tir == obj)
			CHECK(false, "in use by a rule");
	memset(o, 0, sizeof(*o));
	return 0;
}

/* ------------------------------------------------------------------ queues */

int
mdv_wq_state_read(struct mdv_wq *wq)
{
	CHECK(wq->obj != NULL);
	return request("state_read");
}

int
mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on)
{
	struct mlxpmd_rxq *rxq = container_of(rq, struct mlxpmd_rxq, q.hw.rq);
	int rc = request("strip");

	CHECK(lock_held());
	CHECK_EQ(rq->wq.state, MDV_QS_RDY);
	if (rc == 0)
		device.strip[rxq - rxqs] = on;
	return rc;
}

/* As with mbufs of 2048 bytes, of which a frame may take eight. */
int
mlxpmd_rxq_log_segs(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	CHECK(rxq >= rxqs && rxq < &rxqs[SIM_QUEUES]);
	return mtu <= 2000 ? 0 : mtu <= 4000 ? 1 : mtu <= 8000 ? 2 : -EINVAL;
}

int
mlxpmd_rxq_log_stride_size(const struct mlxpmd_rxq *rxq, uint16_t mtu)
{
	CHECK(rxq >= rxqs && rxq < &rxqs[SIM_QUEUES]);
	return mtu <= 2000 ? 11 : -EINVAL;
}

uint8_t
mlxpmd_rxq_lro_size(const struct mlxpmd_port *port)
{
	RTE_SET_USED(port);
	return 0;
}

uint16_t
mlxpmd_rxq_lro_us(const struct mlxpmd_port *port)
{
	RTE_SET_USED(port);
	return 0;
}

/* ------------------------------------------------------------------ the port */

void
sim_reset(void)
{
	static void *queues[SIM_QUEUES];
	static struct mdv_obj rq;
	static struct rte_eth_dev_data no_data;
	static pthread_mutexattr_t checked;

	sim_disarm();
	memset(&device, 0, sizeof(device));
	memset(rules, 0, (rules_end - rules) * sizeof(*rules));
	rules_end = rules;
	memset(&port, 0, sizeof(port));
	memset(&mdv, 0, sizeof(mdv));
	memset(rxqs, 0, sizeof(rxqs));
	memcpy(&data, &no_data, sizeof(data));
	memcpy(device.mac, own, sizeof(own));
	device.mtu = 1500;
	device.up = true;
	owned = true;
	removed = false;
	slept_ms = link_up_ms = 0;
	link_mbps = 100000;
	mdv.port = &port_ops;
	mdv.caps = (struct mdv_caps){
		.log_max_rqt_size = 3, .rss_ipv4_ipv6 = true, .rx_hash_fields = 15, .vlan_strip = true,
	};
	port.mdv = &mdv;
	port.eth_dev = &eth_dev;
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&port.lock, &checked);
	eth_dev.data = &data;
	data.dev_private = &port;
	data.nb_rx_queues = SIM_QUEUES;
	data.rx_queues = queues;
	data.dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	data.dev_conf.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6;
	for (unsigned int i = 0; i < SIM_QUEUES; i++) {
		queues[i] = &rxqs[i];
		rxqs[i].q.port = &port;
		rxqs[i].q.queue_id = i;
		rxqs[i].q.state = MLXPMD_QS_READY;
		rxqs[i].q.hw.rq.wq.obj = &rq;
		rxqs[i].q.hw.rq.wq.number = 0x1000 + i;
		rxqs[i].q.hw.rq.wq.state = MDV_QS_RDY;
	}
	log_begin();
}

void
port_unlocked(void)
{
	int rc = pthread_mutex_trylock(&port.lock);

	CHECK_EQ(rc, 0);
	if (rc == 0)
		pthread_mutex_unlock(&port.lock);
}

int
port_start(void)
{
	int rc = mlxpmd_netdev_up(&port);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&port.lock);
	rc = mlxpmd_steer_up(&port);
	pthread_mutex_unlock(&port.lock);
	if (rc != 0)
		mlxpmd_netdev_down(&port);
	data.dev_started = rc == 0;
	return rc;
}

void
port_stop(void)
{
	mlxpmd_steer_down(&port);
	mlxpmd_netdev_down(&port);
	data.dev_started = 0;
}

/* A started port; its application requested nothing. */
void
port_up(bool rss)
{
	sim_reset();
	if (!rss)
		data.dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	CHECK_OK(mlxpmd_mac_up(&port));
	CHECK_OK(mlxpmd_mtu_remember(&port));
	CHECK_OK(mlxpmd_rss_configure(&port));
	CHECK_OK(port_start());
	log_begin();
}

void
port_down(void)
{
	if (port.steer != NULL)
		port_stop();
	mlxpmd_mtu_restore(&port);
	mlxpmd_mac_down(&port);
	port_unlocked();
	CHECK_EQ(allocated, 0);
	CHECK_EQ(device.rules, 0);
	for (unsigned int i = 0; i < SIM_OBJECTS; i++)
		CHECK_EQ(device.object[i].kind, SIM_NONE);
	CHECK(device.uc.n == 0 && device.mc.n == 0 && !device.promisc && !device.allmulti);
	CHECK_EQ(device.mtu, 1500);
	CHECK(memcmp(device.mac, own, sizeof(own)) == 0);
	CHECK(data.mac_addrs == NULL && port.steer == NULL);
}

int
port_hash(void)
{
	static uint8_t key[MLXPMD_RSS_KEY_BYTES] = { 1, 2, 3 };
	struct rte_eth_rss_conf conf = {
		.rss_key = key, .rss_key_len = sizeof(key), .rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV6_TCP,
	};

	return mlxpmd_rss_hash_update(&eth_dev, &conf);
}

int
port_reta(void)
{
	struct rte_eth_rss_reta_entry64 table = { .mask = 0x83, .reta = { 3, 2, 1, 1, 1, 1, 1, 0 } };

	return mlxpmd_reta_update(&eth_dev, &table, 8);
}
