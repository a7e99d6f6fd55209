/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Path of a received frame: link, L2 table of the card's switch (if enabled) or eswitch (for a virtual
 * function), size, steering, hash, receive queue. Without both a function gets every frame of the wire;
 * the addresses of the kernel's interface apply only to frames that match no rule.
 */
#include <time.h>

#include "dp_csum.h"
#include "dp_fault.h"
#include "dp_time.h"

static bool
in_list(const uint8_t (*list)[6], unsigned n, const uint8_t *mac)
{
	for (unsigned i = 0; i < n; i++)
		if (memcmp(list[i], mac, 6) == 0)
			return true;
	return false;
}

static bool
is_broadcast(const uint8_t *mac)
{
	return memcmp(mac, "\xff\xff\xff\xff\xff\xff", 6) == 0;
}

/* Whether the kernel's interface would accept the frame. */
static bool
for_us(const struct emu_vport *v, const uint8_t *mac)
{
	if (v->promisc_all)
		return true;
	if ((mac[0] & 1) == 0)
		return memcmp(mac, v->mac, 6) == 0 || v->promisc_uc ||
		       in_list(v->uc, v->uc_count, mac);
	return is_broadcast(mac) || v->promisc_mc || in_list(v->mc, v->mc_count, mac);
}

/* An entry with a VLAN is for frames of that VLAN only. */
static bool
l2_matches(const struct emu_l2_entry *e, const uint8_t *frame)
{
	if (!e->used || memcmp(e->mac, frame, 6) != 0)
		return false;
	return !e->vlan_valid || (frame[12] == 0x81 && frame[13] == 0x00 &&
				  ((frame[14] & 0xf) << 8 | frame[15]) == e->vlan);
}

/* Whether the L2 table forwards the frame to this function; entries are set by SET_L2_TABLE_ENTRY. */
static __attribute__((noinline)) bool
l2_leads_here(struct emu_dev *dev, const uint8_t *frame)
{
	struct emu_l2_table *t = &dev->l2;
	const struct emu_vport *v = &dev->vport;

	if ((frame[0] & 1) != 0 || v->promisc_uc || v->promisc_all)
		return true;
	/* Without a VFIO owner the table has the addresses of the kernel's interface. */
	if (!t->owned)
		return for_us(v, frame);
	if (l2_matches(&t->entry[t->last], frame))
		return true;
	for (unsigned i = 0; i < EMU_L2_ENTRIES; i++)
		if (l2_matches(&t->entry[i], frame)) {
			t->last = i;
			return true;
		}
	return false;
}

/*
 * Whether the eswitch in legacy mode forwards the frame to this virtual function: by the address lists of its vport,
 * and by its promiscuous modes if the PF trusts it; promisc_uc has no effect (Linux, mlx5/core/eswitch.c,
 * esw_update_vport_addr_list() and esw_update_vport_rx_mode()). The kernel's driver of the function writes its own
 * address and broadcast into the lists (en_fs.c, mlx5e_fill_addr_array()); a program in VFIO mode has to do so, too.
 *
 * assumed: to a sub-function, whose eswitch is in switchdev mode, the switch above (OVS) forwards by the same lists.
 * Other reading: only what the rules of its representor name. Test: e2e/subfunction.py.
 */
static __attribute__((noinline)) bool
eswitch_leads_here(const struct emu_dev *dev, const uint8_t *frame)
{
	const struct emu_vport *v = &dev->vport;
	bool group = (frame[0] & 1) != 0;

	if (in_list(group ? v->mc : v->uc, group ? v->mc_count : v->uc_count, frame))
		return true;
	if (!dev->l2.owned && (is_broadcast(frame) || memcmp(frame, v->mac, 6) == 0))
		return true;
	return (dev->vf & EMU_VF_TRUST) != 0 && (v->promisc_all || (group && v->promisc_mc));
}

/* Sets the arrival time; the frame counts as received even if it is dropped later. */
static inline void
note_arrival(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct dp_port *port = dp_port_of(dev);

	dp_time_arrival(port, len);
	if (DP_UNLIKELY(port->capture != NULL))
		dp_capture_frame(port, DP_ARRIVED, &port->rx, frame, len);
}

static inline void
arrived(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct emu_port_stats *s = &dev->stats;

	note_arrival(dev, frame, len);
	s->rx_frames++;
	s->rx_bytes += len;
	if (DP_LIKELY((frame[0] & 1) == 0))
		return;
	if (is_broadcast(frame)) {
		s->rx_bcast_frames++;
		s->rx_bcast_bytes += len;
	} else {
		s->rx_mcast_frames++;
		s->rx_mcast_bytes += len;
	}
}

/*
 * assumed: the port counts such a frame as received, and the vport does not: elsewhere is decided by the eswitch, and a
 * port without room has a good frame to drop (rx_packets_phy, rx_discards_phy; Linux, mlx5/counters.rst). Other
 * reading: a_frames_received_ok does not have what if_in_discards has. Test: pmd/test_drops.c.
 */
static __attribute__((noinline)) void
away(struct emu_dev *dev, const uint8_t *frame, uint32_t len, uint64_t *counter)
{
	struct emu_port_stats *s = &dev->stats;
	const bool group = (frame[0] & 1) != 0, broadcast = group && is_broadcast(frame);

	arrived(dev, frame, len);
	++*counter;
	*(broadcast ? &s->rx_away_bcast_frames : group ? &s->rx_away_mcast_frames : &s->rx_away_ucast_frames) += 1;
	*(broadcast ? &s->rx_away_bcast_bytes : group ? &s->rx_away_mcast_bytes : &s->rx_away_ucast_bytes) += len;
}

/*
 * A frame that the MAC does not accept.
 * assumed: counters of good frames and of the vport do not have it (IEEE 802.3, aFramesReceivedOK). Other reading: the
 * bytes of the port have it. Test: dp/test_send.c.
 */
static __attribute__((noinline)) void
damaged(struct emu_dev *dev, const uint8_t *frame, uint32_t len, uint64_t *counter)
{
	note_arrival(dev, frame, len);
	++*counter;
	dev->stats.rx_damaged_bytes += len;
}

static inline uint32_t
rqt_entry(const struct emu_rqt *rqt, uint32_t hash)
{
	/* Most tables have a power of two of entries; avoid the division then. */
	return DP_LIKELY((rqt->size & (rqt->size - 1)) == 0) ? hash & (rqt->size - 1) : hash % rqt->size;
}

static struct emu_rq *
pick_rq(struct emu_tir *tir, const struct dp_pkt *pkt, struct dp_rx *rx)
{
	if (!tir->indirect)
		return tir->rq;
	if (dp_rss_hashes(tir))
		rx->hash = dp_rss_hash(tir, dp_tir_key(tir), pkt, &rx->hash_type);
	if (tir->rqt == NULL || tir->rqt->size == 0)
		return NULL;
	return tir->rqt->rq[rqt_entry(tir->rqt, rx->hash)];
}

void
dp_rx_out_of_buffer(struct emu_dev *dev, struct emu_rq *rq)
{
	dev->stats.rx_out_of_buffer++;
	if (rq == NULL)
		return;
	rq->out_of_buffer++;
	if (rq->q_counter != NULL)
		rq->q_counter->out_of_buffer++;
}

/* Delivers a frame to the RQ, or counts it as out of buffer. */
static void
to_rq(struct emu_dev *dev, const struct emu_tir *tir, struct emu_rq *rq, bool posted, struct dp_rx *rx)
{
	if (DP_UNLIKELY(!posted)) {
		if (rq != NULL && rq->obj.unmapped)
			dp_unmapped_met(&rq->obj, &rq->obj.unmapped_met);
		dp_rx_out_of_buffer(dev, rq);
		return;
	}
	rx->tunneled = rx->pkt->tunneled && tir->tunneled_offload;
	dp_rq_deliver(rq, rx);
}

static inline bool
can_take(struct emu_rq *rq, const struct dp_pkt *pkt)
{
	if (rq != NULL && DP_UNLIKELY(rq->merging))
		dp_lro_end(rq);
	return rq != NULL && rq->state == EMU_QS_RDY && dp_rq_has_room(rq, pkt);
}

/* Copies to further destinations of the rule. */
static __attribute__((noinline)) void
to_others(struct emu_dev *dev, const struct dp_steer_result *v)
{
	for (unsigned i = 0; i < v->also_n; i++) {
		struct dp_rx rx = {.pkt = v->pkt, .flow_tag = v->tag};
		struct emu_rq *rq = pick_rq(v->also[i], v->pkt, &rx);

		to_rq(dev, v->also[i], rq, can_take(rq, v->pkt), &rx);
	}
}

/* Delivers a frame to an RQ of the TIR, or counts it as out of buffer. */
static inline enum emu_rx_result
to_tir(struct emu_dev *dev, const struct dp_steer_result *v, const struct dp_pkt *pkt, bool may_wait)
{
	struct dp_rx rx = {.pkt = v->pkt, .flow_tag = v->tag};
	struct emu_rq *rq = pick_rq(v->tir, v->pkt, &rx);
	bool merge = DP_UNLIKELY(v->tir->lro_mask != 0) && rq != NULL && dp_lro_wants(rq, v->tir, &rx);
	bool posted = merge || can_take(rq, v->pkt);

	if (DP_UNLIKELY(!posted) && may_wait && rq != NULL && rq->state == EMU_QS_RDY)
		return EMU_RX_FULL;
	arrived(dev, pkt->data, pkt->len);
	dp_steer_count(v, pkt->len);
	if (DP_UNLIKELY(merge))
		dp_lro_add(rq, v->tir, &rx);
	else
		to_rq(dev, v->tir, rq, posted, &rx);
	if (DP_UNLIKELY(v->also_n != 0))
		to_others(dev, v);
	return EMU_RX_TAKEN;
}

/* Rules of type "default" come after the kernel's interface, as its own tables (Linux, fs_core.c, root_fs). */
static void
find_dest(struct emu_dev *dev, const struct dp_pkt *pkt, struct dp_steer_result *v, struct dp_walk *walk)
{
	dp_steer_rx(dev, pkt, v, walk);
	if (DP_UNLIKELY(v->dest == DP_DEST_KERNEL) && !for_us(&dev->vport, v->pkt->data))
		dp_steer_leftover(dev, v->pkt, v, walk);
}

static inline __attribute__((always_inline)) enum emu_rx_result
steer(struct emu_dev *dev, const struct dp_pkt *pkt, bool may_wait)
{
	struct dp_steer_result v;

	find_dest(dev, pkt, &v, NULL);
	if (DP_LIKELY(v.dest == DP_DEST_TIR))
		return to_tir(dev, &v, pkt, may_wait);
	arrived(dev, pkt->data, pkt->len);
	dp_steer_count(&v, pkt->len);
	if (v.dest == DP_DEST_DROP && !v.missed)
		dev->stats.rx_dropped_by_rule++;
	else if (v.dest == DP_DEST_DROP || dev->l2.owned) /* A function with an owner has no interface of the kernel. */
		dev->stats.rx_missed++;
	else if (for_us(&dev->vport, v.pkt->data))
		dev->stats.rx_kernel++;
	else
		dev->stats.rx_filtered++;
	return EMU_RX_TAKEN;
}

/*
 * In switchdev mode the eswitch sends all frames of the uplink to the PF, without comparing addresses (Linux,
 * eswitch_offloads.c, esw_add_fdb_miss_rule()), and marks them (esw/acl/ingress_ofld.c,
 * esw_acl_ingress_mod_metadata_create()). Virtual functions send nothing.
 */
static inline void
parse(const struct emu_dev *dev, struct dp_pkt *pkt, struct dp_meta *meta, const uint8_t *frame, uint32_t len)
{
	dp_parse(pkt, frame, len, dp_port_of(dev)->rx_tunnels);
	if (DP_LIKELY(!dev->eswitch.on))
		return;
	*meta = (struct dp_meta){.reg_c = {emu_eswitch_metadata(dev, emu_ib_port(dev))},
				 .source_port = EMU_VPORT_UPLINK};
	pkt->meta = meta;
}

static inline enum emu_rx_result
receive_here(struct emu_dev *dev, const uint8_t *frame, uint32_t len, bool may_wait)
{
	enum emu_rx_result result;
	struct dp_meta meta;
	struct dp_pkt pkt;

	if (emu_fault_at(EMU_ON_WIRE_RX) && dp_fault_wire_rx(dev, frame, len, may_wait, &result))
		return result;
	if (DP_UNLIKELY(!dev->link_up || dev->dp == NULL)) {
		/*
		 * assumed: the physical port counts a frame for a vport that is down as received. Other reading: its
		 * counters do not have it. Test: pmd/test_drops.c.
		 */
		if (emu_port_vport_down(dev) && len >= DP_ETH_BYTES)
			away(dev, frame, len, &dev->stats.rx_vport_down);
		else
			dev->stats.rx_link_down++;
		return EMU_RX_TAKEN;
	}
	if (DP_UNLIKELY(len < DP_ETH_BYTES || len > dp_frame_limit(dev))) {
		damaged(dev, frame, len, len < DP_ETH_BYTES ? &dev->stats.rx_undersize : &dev->stats.rx_oversize);
		return EMU_RX_TAKEN;
	}
	parse(dev, &pkt, &meta, frame, len);
	return steer(dev, &pkt, may_wait);
}

/* True if L2 table or eswitch do not forward the frame to this function. */
static bool
elsewhere(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	return dev->link_up && dev->dp != NULL && len >= DP_ETH_BYTES + 2 &&
	       !(dev->vf != 0 ? eswitch_leads_here(dev, frame) : l2_leads_here(dev, frame));
}

/*
 * A frame for the MAC, which takes it and stops sending. The vport does not count it.
 *
 * assumed: with flow control off a pause frame is delivered as any multicast frame. Other reading: it is discarded.
 * Test: pmd/test_phy.c.
 */
static __attribute__((noinline)) bool
pause_taken(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	if (!dev->link_up || dev->dp == NULL || !dp_pause_begin(dp_port_of(dev), frame, len))
		return false;
	away(dev, frame, len, &dev->stats.rx_elsewhere);
	return true;
}

static __attribute__((noinline)) enum emu_rx_result
receive(struct emu_dev *dev, const uint8_t *frame, uint32_t len, bool may_wait)
{
	if (DP_UNLIKELY(dev->pause_rx || dev->pfc_rx != 0) && pause_taken(dev, frame, len))
		return EMU_RX_TAKEN;
	if (DP_LIKELY(!dev->l2.on && dev->vf == 0) || !elsewhere(dev, frame, len))
		return receive_here(dev, frame, len, may_wait);
	away(dev, frame, len, &dev->stats.rx_elsewhere);
	return EMU_RX_TAKEN;
}

void
dp_rx_lose(struct emu_dev *dev, const uint8_t *frame, uint32_t len, enum emu_fault_act how)
{
	struct emu_port_stats *s = &dev->stats;

	if (how == EMU_ACT_DROP) {
		s->rx_wire_lost++;
	} else if (!dev->link_up || dev->dp == NULL) {
		s->rx_link_down++;
	} else if (how == EMU_ACT_FCS) {
		damaged(dev, frame, len, &s->rx_fcs_errors);
	} else {
		away(dev, frame, len, &s->rx_port_discards);
	}
}

void
emu_dp_ingress(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	receive(dev, frame, len, false);
}

enum emu_rx_result
emu_dp_offer(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	return receive(dev, frame, len, true);
}

static bool
rq_waits(const struct emu_rq *rq)
{
	return rq != NULL && rq->state == EMU_QS_RDY && dp_rq_posted(rq) != 0;
}

static bool
tir_waits(const struct emu_tir *tir)
{
	if (!tir->indirect)
		return rq_waits(tir->rq);
	for (uint32_t i = 0; tir->rqt != NULL && i < tir->rqt->size; i++)
		if (rq_waits(tir->rqt->rq[i]))
			return true;
	return false;
}

static bool
rule_has_receiver(const struct dp_rule *rule, void *arg)
{
	(void)arg;
	if (rule->tir == NULL)
		return false;
	for (unsigned i = 0; i < rule->also_n; i++)
		if (tir_waits(rule->also[i]))
			return true;
	return tir_waits(rule->tir);
}

bool
emu_dp_can_receive(struct emu_dev *dev, uint64_t quiet_ns)
{
	struct timespec ts;

	if (dev->dp == NULL || !dev->link_up || !dp_steer_any(dev, rule_has_receiver, NULL))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return !emu_dp_unsettled(dev, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec,
				 quiet_ns);
}

bool
emu_dp_unsettled(struct emu_dev *dev, uint64_t now_ns, uint64_t quiet_ns)
{
	return dev->dp != NULL && now_ns - dp_steer_changed_ns(dev) < quiet_ns;
}

bool
emu_dp_ruled(struct emu_dev *dev, const uint8_t *frame, uint32_t len)
{
	struct dp_steer_result v;
	struct dp_meta meta;
	struct dp_pkt pkt;

	/* Such a frame does not reach steering. */
	if (dev->dp == NULL || !dev->link_up || len < DP_ETH_BYTES || len > dp_frame_limit(dev))
		return true;
	parse(dev, &pkt, &meta, frame, len);
	find_dest(dev, &pkt, &v, NULL);
	return v.dest != DP_DEST_KERNEL;
}

static void
why_receiver(struct emu_why *why, struct emu_tir *tir, const struct dp_pkt *pkt)
{
	struct emu_why_receiver *to = &why->receiver[why->receivers++];
	struct dp_rx rx = {.pkt = pkt};
	struct emu_rq *rq = pick_rq(tir, pkt, &rx);

	to->tir = tir;
	to->rq = rq;
	to->hash = rx.hash;
	if (tir->indirect && tir->rqt != NULL && tir->rqt->size != 0)
		to->entry = rqt_entry(tir->rqt, rx.hash);
	if (rq == NULL)
		to->lost = "there is no RQ";
	else if (rq->state != EMU_QS_RDY)
		to->lost = "the RQ is not ready";
	else if (!dp_rq_has_room(rq, pkt))
		to->lost = "no WQE is posted for it";
	if (rq != NULL && rq->state == EMU_QS_RDY)
		to->posted = dp_rq_posted(rq);
}

/* What steering decides. */
static enum emu_why_end
why_steered(struct emu_dev *dev, const struct dp_pkt *pkt, struct emu_why *why)
{
	struct dp_steer_result v;

	find_dest(dev, pkt, &v, &why->walk);
	if (v.pkt != pkt)
		dp_why_changed(why, v.pkt);
	why->tag = v.tag;
	if (v.dest == DP_DEST_DROP && why->walk.steps == DP_STEER_DEPTH)
		return EMU_WHY_CIRCLE;
	if (v.dest == DP_DEST_DROP)
		return why->walk.last != NULL ? EMU_WHY_RULE : EMU_WHY_MISS;
	if (v.dest == DP_DEST_KERNEL)
		return for_us(&dev->vport, v.pkt->data) ? EMU_WHY_KERNEL : EMU_WHY_FILTERED;
	why_receiver(why, v.tir, v.pkt);
	for (unsigned i = 0; i < v.also_n; i++)
		why_receiver(why, v.also[i], v.pkt);
	return EMU_WHY_TAKEN;
}

/* In the order of receive(). */
void
emu_dp_why_received(struct emu_dev *dev, const uint8_t *frame, uint32_t len, struct emu_why *why)
{
	struct dp_meta meta;
	struct dp_pkt pkt;

	if ((dev->l2.on || dev->vf != 0) && elsewhere(dev, frame, len)) {
		why->end = EMU_WHY_ELSEWHERE;
	} else if (!dev->link_up || dev->dp == NULL) {
		why->end = EMU_WHY_LINK;
	} else if (len < DP_ETH_BYTES || len > dp_frame_limit(dev)) {
		why->end = len < DP_ETH_BYTES ? EMU_WHY_SHORT : EMU_WHY_LONG;
	} else {
		parse(dev, &pkt, &meta, frame, len);
		dp_why_headers(why, &pkt);
		why->end = why_steered(dev, &pkt, why);
	}
}
