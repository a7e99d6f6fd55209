/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * /mlxpmd/drops: where packets are lost between wire and application, in one reading.
 *
 * The places of a direction add up: the first is what came in, the last what went out, those between are lost packets,
 * and "unexplained" is the rest. All are from the probe on; starts, stops and resets of statistics do not change them.
 * The counters of received packets are read from the application to the wire, those of sent packets the other way
 * round: what moves meanwhile seems to be under way, and no place has more than those before it.
 */

#include <stdarg.h>

#include <rte_telemetry.h>

#include "mlxpmd_flow.h"
#include "mlxpmd_rx_comp.h"
#include "mlxpmd_tx.h"

/* A reply of telemetry has 16 KiB at most: so many rules. */
#define RULES_SHOWN 16u
/* Multi-packet WQEs have at least so many bytes for a packet: bound of packets in a WQEBB. */
#define MPW_PACKET_BYTES 16u

/* One reading. */
struct reading {
	struct mlxpmd_queue_stats rx, tx;
	uint64_t waiting, in_flight;	/* At most; packets in rings. */
	uint64_t missed;
	uint64_t counters[MDV_COUNTERS_MAX];
	uint64_t moved;			/* Packets that bursts moved meanwhile. */
	uint64_t begin_ns, end_ns;
	int rc;
};

/* The sum of one direction. */
struct account {
	struct rte_tel_data *d;
	FILE *file;			/* Instead of d: the places that have packets. */
	uint64_t rest;			/* Packets that no place has yet. */
	int rc;
};

static uint64_t
sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* ------------------------------------------------------------------ places */

/* is: "begin", "lost", "kept", "passed" or "end". means: at most 127 characters. */
static void __rte_format_printf(5, 6)
place(struct account *a, const char *is, uint64_t packets, const char *means, const char *format, ...)
{
	struct rte_tel_data *p;
	char name[32];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (a->file != NULL) {
		if (packets != 0)
			fprintf(a->file, "  %-20s %20" PRIu64 "  %s\n", name, packets, means);
		return;
	}
	p = mlxpmd_telemetry_dict(a->d, name);
	if (p == NULL) {
		a->rc = -ENOMEM;
		return;
	}
	rte_tel_data_add_dict_uint(p, "packets", packets);
	rte_tel_data_add_dict_string(p, "is", is);
	rte_tel_data_add_dict_string(p, "means", means);
}

static void
begin(struct account *a, const char *name, uint64_t packets, const char *means)
{
	a->rest = packets;
	place(a, "begin", packets, means, "%s", name);
}

static void
lost(struct account *a, const char *name, uint64_t packets, const char *means)
{
	a->rest = sub(a->rest, packets);
	place(a, "lost", packets, means, "%s", name);
}

static void
kept(struct account *a, const char *name, uint64_t packets, const char *means)
{
	a->rest = sub(a->rest, packets);
	place(a, "kept", packets, means, "%s", name);
}

static void
end(struct account *a, const char *name, uint64_t packets, const char *means)
{
	a->rest = sub(a->rest, packets);
	place(a, "end", packets, means, "%s", name);
	place(a, "lost", a->rest, "no counter has them: more than what moved during the reading is a loss worth a report",
	     "unexplained");
}

/* ------------------------------------------------------------------ the device's counters */

/* Counts from the probe. False: the device has no such counter, or does not let it be read. */
static bool
counter(const struct mlxpmd_port *port, const struct reading *r, const char *name, uint64_t *packets)
{
	int i = mdv_counters_find(port->mdv, name);

	*packets = i < 0 ? 0 : sub(r->counters[i], mdv_counters_opened(port->mdv)[i]);
	return i >= 0;
}

struct counter_place {
	const char *name, *counter, *means;
};

static const struct counter_place damaged_places[] = {
	{ "crc_errors", "rx_phy_crc_errors", "the FCS is wrong: look at cable, transceiver and the sender's port" },
	{ "too_long", "rx_phy_oversize_packets", "longer than the MTU allows: raise the port's MTU, or lower the sender's" },
	{ "too_short", "rx_phy_undersize_packets", "shorter than a frame may be: the sender is broken" },
	{ "length_errors", "rx_phy_in_range_len_errors", "the length field is not the length: the sender is broken" },
};

/* Lost packets that the device counts; those it cannot count have no place. */
static void
counter_places(struct account *a, const struct mlxpmd_port *port, const struct reading *r,
	       const struct counter_place *places, unsigned int n)
{
	uint64_t packets;

	for (unsigned int i = 0; i < n; i++)
		if (counter(port, r, places[i].counter, &packets))
			lost(a, places[i].name, packets, places[i].means);
}

/* Frames that the vport received or sent. */
static bool
vport_frames(const struct mlxpmd_port *port, const struct reading *r, bool tx, uint64_t *packets)
{
	static const char *const names[2][3] = {
		{ "rx_unicast_packets", "rx_multicast_packets", "rx_broadcast_packets" },
		{ "tx_unicast_packets", "tx_multicast_packets", "tx_broadcast_packets" },
	};
	uint64_t one;

	*packets = 0;
	for (unsigned int i = 0; i < RTE_DIM(names[tx]); i++) {
		if (!counter(port, r, names[tx][i], &one))
			return false;
		*packets += one;
	}
	return true;
}

/* ------------------------------------------------------------------ rules */

/* The packets of a counter that were dropped and are in no place yet. False: there are none to be had. */
static bool
rule_packets(struct mlxpmd_flow_counter *c, bool egress, uint64_t now_ns, uint64_t *packets)
{
	if (c == NULL || !mlxpmd_flow_counter_drops(c, egress) || c->seen == now_ns ||
	    mlxpmd_flow_counter_read(c, now_ns, packets) != 0)
		return false;
	c->seen = now_ns;
	*packets -= c->begin;
	return true;
}

static void
rule_places(struct account *a, const struct mlxpmd_port *port, bool egress, uint64_t now_ns)
{
	const struct rte_flow_action_handle *handle;
	uint64_t packets, others = 0;
	const struct rte_flow *flow;
	unsigned int shown = 0, n = 0;

	TAILQ_FOREACH(flow, &port->flows->list, next) {
		if (rule_packets(flow->counter, egress, now_ns, &packets)) {
			if (shown++ < RULES_SHOWN) {
				a->rest = sub(a->rest, packets);
				place(a, "lost", packets, "the application's flow rule of this number drops them: /mlxpmd/flows",
				     "rule_%u", n);
			} else {
				others += packets;
			}
		}
		n++;
	}
	TAILQ_FOREACH(handle, &port->flows->handles, next)
		if (rule_packets(handle->counter, egress, now_ns, &packets))
			others += packets;
	lost(a, "rules_others", others + port->flows->dropped[egress],
	     "further flow rules that drop and count, and those that were destroyed");
}

/* Flows that drop packets without an own counter. */
static unsigned int
rules_uncounted(const struct mlxpmd_port *port, bool egress)
{
	const struct rte_flow *flow;
	unsigned int n = 0;

	TAILQ_FOREACH(flow, &port->flows->list, next)
		n += flow->egress == egress && flow->target == MLXPMD_TARGET_DROP &&
		     (flow->counter == NULL || !mlxpmd_flow_counter_drops(flow->counter, egress));
	return n;
}

/* ------------------------------------------------------------------ error completions */

static const struct {
	const char *name, *means;
} classes[MLXPMD_NB_SYN + 1] = {
	[MLXPMD_SYN_UNKNOWN] = { "error_unknown", "error completion of no known syndrome: /mlxpmd/queues, report it" },
	[MLXPMD_SYN_LENGTH] = { "error_length", "LOCAL_LENGTH_ERR: longer than the buffers of a WQE; larger mbufs, or scatter" },
	[MLXPMD_SYN_OPERATION] = { "error_operation", "LOCAL_QP_OP_ERR: the device refused a WQE; report it" },
	[MLXPMD_SYN_PROTECTION] = { "error_protection", "LOCAL_PROT_ERR: a buffer in memory that is not registered" },
	[MLXPMD_SYN_FLUSH] = { "error_flush", "WR_FLUSH_ERR: they were behind a packet that failed" },
	[MLXPMD_SYN_REMOTE] = { "error_remote", "a syndrome of connected queue pairs: report it" },
	[MLXPMD_SYN_RETRY] = { "error_retry", "a syndrome of connected queue pairs: report it" },
	[MLXPMD_NB_SYN] = { "error_none", "the queue was reset without an error completion: /mlxpmd/queues, the log" },
};

/* ------------------------------------------------------------------ received packets */

/* Frames of all priorities that found their buffers full. False: only the kernel's interface has them. */
static bool
priority_frames(const struct mlxpmd_port *port, const struct reading *r, const char *what, uint64_t *packets)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];
	bool any = false;
	uint64_t one;

	*packets = 0;
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "rx_prio%u_%s_discard_packets", i, what);
		any |= counter(port, r, name, &one);
		*packets += one;
	}
	return any;
}

static void
rx_wire_places(struct account *a, const struct mlxpmd_port *port, const struct reading *r, uint64_t vport)
{
	uint64_t wire, one, down;
	bool phy = counter(port, r, "rx_phy_packets", &wire), has_down;

	has_down = counter(port, r, "rx_vport_down_packets", &down);
	for (unsigned int i = 0; i < RTE_DIM(damaged_places); i++) {
		counter(port, r, damaged_places[i].counter, &one);
		wire += one;
	}
	begin(a, phy ? "wire" : "vport", phy ? wire : vport + down,
	      phy ? "frames that reached the port, damaged ones included" :
		    "frames that the card gave to this function; what the port loses cannot be read");
	if (!phy && has_down)
		lost(a, "vport_down", down, "this function's link state is down: ip link set PF vf N state");
	if (!phy)
		return;
	counter_places(a, port, r, damaged_places, RTE_DIM(damaged_places));
	if (counter(port, r, "rx_phy_discard_packets", &one))
		lost(a, "port_discards", one, "the card had no room: PCIe or memory is slower than the wire; pause frames");
	if (priority_frames(port, r, "buf", &one))
		lost(a, "priority_discards", one, "the buffer of their priority was full: pause frames of priorities, or its size");
	if (priority_frames(port, r, "cong", &one))
		lost(a, "congestion_discards", one, "the card drops early, as its buffer of the priority fills: as before");
	if (has_down)
		lost(a, "vport_down", down, "this function's link state is down: ip link set PF vf N state");
	lost(a, "elsewhere", sub(a->rest, vport),
	     "the card's switch gave them to another function or to none: add the address, promiscuous mode");
	place(a, "passed", vport, "frames that the card gave to this function", "vport");
}

static void
rx_places(struct account *a, struct mlxpmd_port *port, const struct reading *r)
{
	static const struct counter_place steering[] = {
		{ "no_rule", "rx_steer_missed_packets", "no rule wants them: wrong address or VLAN, or the port was stopped" },
		{ "kernel", "rx_kernel_packets", "no rule of the port wants them: the kernel's interface received them" },
	};
	uint64_t vport;
	bool has_vport = vport_frames(port, r, false, &vport);

	if (has_vport)
		rx_wire_places(a, port, r, vport);
	else
		begin(a, "queues", r->rx.packets + r->rx.merged + r->missed, "packets that reached receive queues");
	if (has_vport) {
		counter_places(a, port, r, steering, RTE_DIM(steering));
		rule_places(a, port, false, r->begin_ns);
	}
	if (port->q_counter != NULL)
		lost(a, "no_buffer", r->missed,
		     "no WQE was posted: more descriptors or mbufs, poll more often, more queues");
	for (unsigned int i = 0; i < MLXPMD_NB_SYN; i++)
		if (i != MLXPMD_SYN_FLUSH)
			lost(a, classes[i].name, r->rx.syndromes[i], classes[i].means);
	lost(a, "refused_completions", r->rx.cqe_bad, "invalid or missing completions: the queue was reset; report it");
	lost(a, "no_mbuf_chain", r->rx.unplaced, "striding queues: the mempool had too few mbufs for a packet");
	lost(a, "discarded", r->rx.discarded, "no burst took them before their queue was stopped or reset");
	kept(a, "waiting", RTE_MIN(r->waiting, sub(a->rest, r->rx.packets + r->rx.merged)),
	     "in receive queues: the application has not polled them yet");
	end(a, "application", r->rx.packets + r->rx.merged, "frames that bursts returned; LRO's are counted before merging");
}

/* ------------------------------------------------------------------ sent packets */

/* Frames of the port's queues that left, as far as counters of the device show it. */
static bool
tx_left(const struct mlxpmd_port *port, const struct reading *r, uint64_t *left)
{
	uint64_t phy, vport, kernel;
	bool has_phy = counter(port, r, "tx_phy_packets", &phy), has_vport = vport_frames(port, r, true, &vport);

	counter(port, r, "tx_kernel_packets", &kernel);
	*left = has_phy && has_vport ? RTE_MIN(phy, vport) : has_phy ? phy : vport;
	*left = RTE_MIN(sub(*left, kernel), r->tx.packets);
	return has_phy || has_vport;
}

/* Lost packets, but not more than are missing: others of the function or the port lose packets, too. */
static void
tx_counter_place(struct account *a, const struct mlxpmd_port *port, const struct reading *r, uint64_t left,
		 const struct counter_place *p)
{
	uint64_t packets;

	if (counter(port, r, p->counter, &packets))
		lost(a, p->name, RTE_MIN(packets, sub(a->rest, left)), p->means);
}

static void
tx_places(struct account *a, struct mlxpmd_port *port, const struct reading *r)
{
	static const struct counter_place device[] = {
		{ "vport_down", "tx_vport_down_packets", "this function's link state is down: ip link set PF vf N state" },
		{ "port_discards", "tx_phy_discard_packets", "the port did not send them: the link is down, or the peer pauses" },
		{ "port_errors", "tx_phy_errors", "the port could not send them" },
	};
	uint64_t offered = r->tx.packets + r->tx.dropped + r->tx.refused, left, vport;
	bool known = tx_left(port, r, &left);

	for (unsigned int i = 0; i <= MLXPMD_NB_SYN; i++)
		offered += r->tx.lost[i];
	begin(a, "application", offered, "frames given to bursts; those of a packet to be segmented (TSO) are counted one by one");
	kept(a, "refused", r->tx.refused, "the ring was full or the queue not ready: the application keeps them, and may try again");
	lost(a, "unsendable", r->tx.dropped, "empty, too many segments, or memory that is not registered: rte_eth_tx_prepare()");
	for (unsigned int i = 0; i <= MLXPMD_NB_SYN; i++)
		lost(a, classes[i].name, r->tx.lost[i], classes[i].means);
	if (!known) {
		end(a, "queues", r->tx.packets, "frames given to the device");
		return;
	}
	rule_places(a, port, true, r->begin_ns);
	if (vport_frames(port, r, true, &vport))
		place(a, "passed", vport, "frames that the vport sent, those of the kernel included", "vport");
	for (unsigned int i = 0; i < RTE_DIM(device); i++)
		tx_counter_place(a, port, r, left, &device[i]);
	kept(a, "in_flight", RTE_MIN(r->in_flight, sub(a->rest, left)), "in send queues: the device has not sent them yet");
	end(a, "wire", left, "frames that left");
}

/* ------------------------------------------------------------------ a reading */

static uint64_t
waiting(const struct mlxpmd_port *port)
{
	const struct mlxpmd_queue *q;
	uint64_t n = 0;

	TAILQ_FOREACH(q, &port->queues[MLXPMD_RX], next)
		if (mlxpmd_queue_state(q) != MLXPMD_QS_SETUP)
			n += mlxpmd_rx_queue_count((void *)(uintptr_t)q);
	return n;
}

/* Bound of the packets between pi and what the device has executed. */
static uint64_t
in_flight(const struct mlxpmd_port *port)
{
	struct mlxpmd_queue *q;
	uint16_t consumed, left;
	uint64_t n = 0;

	TAILQ_FOREACH(q, &port->queues[MLXPMD_TX], next) {
		if (mlxpmd_queue_state(q) == MLXPMD_QS_SETUP || mlxpmd_queue_state(q) == MLXPMD_QS_RESET ||
		    mdv_wq_consumed(&q->hw.wq, &consumed) != 0)
			continue;
		left = (uint16_t)(MLXPMD_SHARED_GET(q->pi) - consumed);
		/* The number of frames of a packet to be segmented is in its mbuf. */
		n += q->offloads & MLXPMD_TX_TUNNEL_OFFLOADS && left != 0 ? UINT32_MAX :
		     (uint64_t)left * (MLX5_SEND_WQE_BB / MPW_PACKET_BYTES);
	}
	return n;
}

/* The lock is held. After a removal the device's counters keep their last values. */
static void
reading_take(struct mlxpmd_port *port, struct reading *r)
{
	struct mlxpmd_queue_stats rx, tx;
	struct mlxpmd_counts missed;
	const bool removed = mdv_removed(port->mdv);

	r->begin_ns = mlxpmd_now_ns();
	mlxpmd_queue_stats_total(port, MLXPMD_RX, &r->rx);
	mlxpmd_queue_stats_total(port, MLXPMD_TX, &tx);
	r->waiting = waiting(port);
	if (!removed)
		mlxpmd_counts_read(port, MLXPMD_MISSED, &missed);
	else
		mlxpmd_counts_get(port, MLXPMD_MISSED, &missed);
	r->missed = missed.missed;
	r->rc = mdv_counters_read_all(port->mdv, r->counters);
	r->in_flight = removed ? 0 : in_flight(port);
	mlxpmd_queue_stats_total(port, MLXPMD_TX, &r->tx);
	mlxpmd_queue_stats_total(port, MLXPMD_RX, &rx);
	r->moved = rx.packets - r->rx.packets + sub(r->tx.packets, tx.packets);
	r->end_ns = mlxpmd_now_ns();
}

/* ------------------------------------------------------------------ the reply */

/* Places that cannot be shown here, and why. */
static int
add_absent(struct rte_tel_data *d, const struct mlxpmd_port *port, const struct reading *r)
{
	static const struct counter_place places[] = {
		{ "rx/wire", "rx_phy_packets", "the card refuses PPCNT, and no interface of the kernel has its counters" },
		{ "rx/vport", "rx_unicast_packets", "the card has no vport counters" },
		{ "rx/no_rule", "rx_steer_missed_packets", "the card does not answer QUERY_VNIC_ENV" },
		{ "rx/kernel", "rx_kernel_packets", "there is no interface of the kernel (VFIO, other network namespace)" },
		{ "tx/port_discards", "tx_phy_discard_packets", "the card refuses PPCNT, and no interface of the kernel has its counters" },
	};
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "absent");
	uint64_t packets;

	if (c == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < RTE_DIM(places); i++)
		if (!counter(port, r, places[i].counter, &packets))
			rte_tel_data_add_dict_string(c, places[i].name, places[i].means);
	if (port->q_counter == NULL)
		rte_tel_data_add_dict_string(c, "rx/no_buffer", "the card has no queue counters");
	return 0;
}

/* What explains places, but counts no packets of the sums. */
static int
add_causes(struct rte_tel_data *d, const struct mlxpmd_port *port, const struct reading *r)
{
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "causes");

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_uint(c, "rx_mbufs_missing", r->rx.nombuf);
	rte_tel_data_add_dict_uint(c, "rx_queue_resets", r->rx.resets);
	rte_tel_data_add_dict_uint(c, "rx_rules_without_count", rules_uncounted(port, false));
	rte_tel_data_add_dict_uint(c, "tx_rules_without_count", rules_uncounted(port, true));
	rte_tel_data_add_dict_uint(c, "tx_queue_resets", r->tx.resets);
	rte_tel_data_add_dict_uint(c, "tx_stalls", r->tx.stalls);
	return 0;
}

static int
add_direction(struct rte_tel_data *d, const char *name, struct mlxpmd_port *port, const struct reading *r,
	      void (*places)(struct account *a, struct mlxpmd_port *port, const struct reading *r))
{
	struct account a = { .d = mlxpmd_telemetry_dict(d, name) };

	if (a.d == NULL)
		return -ENOMEM;
	places(&a, port, r);
	return a.rc;
}

int
mlxpmd_drops_print(struct mlxpmd_port *port, FILE *file)
{
	struct account a = { .file = file };
	struct reading r = { .rc = 0 };

	reading_take(port, &r);
	fprintf(file, "received packets:\n");
	rx_places(&a, port, &r);
	fprintf(file, "sent packets:\n");
	tx_places(&a, port, &r);
	return r.rc;
}

/* Waits for the device: the places are of one reading. */
static int
drops_add(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg __rte_unused)
{
	struct reading r = { .rc = 0 };
	int rc;

	pthread_mutex_lock(&port->lock);
	reading_take(port, &r);
	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_uint(d, "epoch", ++port->stats_base->epoch);
	rte_tel_data_add_dict_uint(d, "reading_us", (r.end_ns - r.begin_ns) / MLXPMD_NS_PER_US);
	rte_tel_data_add_dict_uint(d, "moved", r.moved);
	rc = add_direction(d, "rx", port, &r, rx_places);
	if (rc == 0)
		rc = add_direction(d, "tx", port, &r, tx_places);
	if (rc == 0)
		rc = add_causes(d, port, &r);
	if (rc == 0)
		rc = add_absent(d, port, &r);
	pthread_mutex_unlock(&port->lock);
	return rc == 0 ? r.rc : rc;
}

static int
telemetry_drops(const char *cmd __rte_unused, const char *params, struct rte_tel_data *d)
{
	return mlxpmd_telemetry_port(params, d, drops_add, NULL);
}

RTE_INIT(mlxpmd_drops_init)
{
	rte_telemetry_register_cmd("/mlxpmd/drops", telemetry_drops,
				   "Where packets are lost between wire and application, and what to do. Parameters: port id");
}
