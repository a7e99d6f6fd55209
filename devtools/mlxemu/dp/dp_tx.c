/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Sends frames: offloads, tables of sent packets, wire. */
#include "../wire/emu_wire.h"
#include "dp_csum.h"
#include "dp_fault.h"
#include "dp_time.h"

static void
count_sent(struct emu_port_stats *s, const uint8_t *frame, uint32_t len)
{
	s->tx_frames++;
	s->tx_bytes += len;
	if (DP_LIKELY((frame[0] & 1) == 0))
		return;
	if (memcmp(frame, "\xff\xff\xff\xff\xff\xff", 6) == 0) {
		s->tx_bcast_frames++;
		s->tx_bcast_bytes += len;
	} else {
		s->tx_mcast_frames++;
		s->tx_mcast_bytes += len;
	}
}

/* Sends to the wire; a held frame has not departed. */
static inline enum emu_wire_result
depart(const struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	struct dp_port *port = w->port;
	struct dp_instant before = port->tx;
	enum emu_wire_result result;

	dp_time_departure(port, len, w->depart_ns);
	port->shared->flight = &port->tx;
	result = emu_fault_at(EMU_ON_WIRE_TX) ? dp_fault_wire_tx(port->dev, frame, len)
					      : emu_wire_tx(port->dev, frame, len);
	port->shared->flight = NULL;
	if (DP_UNLIKELY(result == EMU_WIRE_HOLD))
		port->tx = before;
	else if (DP_UNLIKELY(port->capture != NULL))
		dp_capture_frame(port, DP_LEFT, &port->tx, frame, len);
	return result;
}

/*
 * The ingress ACL of the vport drops frames with another source address than the PF gave, after the WQE is complete
 * (Linux, mlx5/core/esw/acl/ingress_lgcy.c, esw_acl_ingress_lgcy_setup()).
 * assumed: the vport's counters have these frames. Other reading: only the ACL's own counter has them. Test:
 * dp/test_send.c.
 */
static bool
spoofed(const struct emu_dev *dev, const uint8_t *frame)
{
	return (dev->vf & EMU_VF_SPOOFCHK) != 0 && memcmp(frame + 6, dev->vport.permanent_mac, 6) != 0;
}

/*
 * assumed: a frame that the eswitch sends to no port completes and is lost; the vport's counters have it. The kernel's
 * last rule (Linux, eswitch_offloads.c, esw_add_fdb_miss_rule()) is for its manager, which is the sender. Other
 * reading: the PF receives it. Test: dp/test_send.c.
 */
static __attribute__((noinline)) bool
unswitched(struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	struct emu_dev *dev = w->port->dev;

	if (dp_steer_to_uplink(dev, w->q->sq, frame, len, NULL))
		return false;
	dev->stats.tx_unswitched++;
	return true;
}

static bool
stays_inside(struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	struct emu_dev *dev = w->port->dev;

	if (dev->vf == 0)
		return unswitched(w, frame, len);
	if (!spoofed(dev, frame))
		return false;
	dev->stats.tx_spoofed++;
	return true;
}

/* A packet that is to be sent, as steering compares it. */
static void
tx_pkt(const struct emu_sq *sq, uint32_t metadata, struct dp_pkt *pkt, struct dp_meta *meta, const uint8_t *frame,
       uint32_t len)
{
	dp_parse(pkt, frame, len, dp_port_of(sq->obj.dev)->rx_tunnels);
	*meta = (struct dp_meta){.reg_a = metadata, .source_sqn = sq->obj.id};
	pkt->meta = meta;
}

/* In the order of dp_tx_frame(). */
void
emu_dp_why_sent(struct emu_sq *sq, const uint8_t *frame, uint32_t len, struct emu_why *why)
{
	struct emu_dev *dev = sq->obj.dev;
	struct dp_steer_result v;
	struct dp_meta meta;
	struct dp_pkt pkt;

	why->end = EMU_WHY_WIRE;
	if (dev->dp == NULL || !dev->link_up) {
		why->end = EMU_WHY_LINK;
	} else if (len < DP_ETH_BYTES || len > dp_frame_limit(dev)) {
		why->end = len < DP_ETH_BYTES ? EMU_WHY_SHORT : EMU_WHY_LONG;
	} else {
		tx_pkt(sq, 0, &pkt, &meta, frame, len);
		dp_why_headers(why, &pkt);
		v = (struct dp_steer_result){.dest = DP_DEST_KERNEL, .pkt = &pkt};
		if (dp_port_of(dev)->tx_ruled)
			dp_steer_tx(dev, &pkt, &v, &why->walk);
		if (v.pkt != &pkt)
			dp_why_changed(why, v.pkt);
		frame = v.pkt->data;
		len = v.pkt->len;
		if (v.dest == DP_DEST_DROP)
			why->end = EMU_WHY_RULE;
		else if (len > dp_frame_limit(dev))
			why->end = EMU_WHY_LONG;
		else if (dev->vf != 0 && spoofed(dev, frame))
			why->end = EMU_WHY_SPOOFED;
		else if (dev->vf == 0 && dev->eswitch.on && !dp_steer_to_uplink(dev, sq, frame, len, &why->walk))
			why->end = EMU_WHY_UNSWITCHED;
	}
}

/* The port, or the vport of a virtual function, does not send the frame: tx_discards counts it, too. */
static __attribute__((noinline)) enum emu_wire_result
discard(struct emu_dev *dev)
{
	if (!dev->link_up) {
		dev->stats.tx_link_down++;
		dev->stats.tx_vport_down += dev->vf != 0;
	} else {
		dev->stats.tx_oversize++;
	}
	return EMU_WIRE_LOST;
}

/* Sends a frame of at most the port's limit. */
static inline enum emu_wire_result
frame_send(struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	struct emu_dev *dev = w->port->dev;
	enum emu_wire_result result;

	if (DP_UNLIKELY(dev->vf != 0 || dev->eswitch.on) && stays_inside(w, frame, len))
		result = EMU_WIRE_SENT;
	else
		result = depart(w, frame, len);
	if (DP_LIKELY(result == EMU_WIRE_SENT))
		count_sent(&dev->stats, frame, len);
	return result;
}

/*
 * assumed: rules see a frame as it would leave, after checksums, segmentation and the tag of the WQE. Other reading:
 * the tag is inserted after them. Test: dp/test_tx_rules.c.
 * assumed: a frame that they make longer than the port's limit is lost. Other reading: it is sent. Test:
 * dp/test_tx_rules.c.
 */
static __attribute__((noinline)) enum emu_wire_result
frame_steer(struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	enum emu_wire_result result = EMU_WIRE_SENT;
	struct dp_steer_result v;
	struct dp_meta meta;
	struct dp_pkt pkt;

	tx_pkt(w->sq, be32toh(w->metadata), &pkt, &meta, frame, len);
	dp_steer_tx(w->port->dev, &pkt, &v, NULL);
	/* A frame that a rule drops reaches neither the vport's counters nor the port. */
	if (v.dest == DP_DEST_DROP)
		w->port->dev->stats.tx_dropped_by_rule++;
	else if (v.pkt->len > dp_frame_limit(w->port->dev))
		result = discard(w->port->dev);
	else
		result = frame_send(w, v.pkt->data, v.pkt->len);
	/* A frame that is held comes here once more. */
	if (result != EMU_WIRE_HOLD)
		dp_steer_count(&v, len);
	return result;
}

enum dp_exec
dp_tx_frame(struct dp_wqe *w, const uint8_t *frame, uint32_t len)
{
	struct emu_dev *dev = w->port->dev;
	enum emu_wire_result result;

	if (DP_UNLIKELY(w->frames < w->q->frames_done)) {
		w->frames++;
		w->bytes += len;
		return DP_DONE;
	}
	if (DP_UNLIKELY(w->sq->pp != NULL) && dp_pace_holds(w, len)) {
		w->q->frames_done = w->frames;
		return DP_HOLD;
	}
	if (DP_LIKELY(dev->link_up && len <= dp_frame_limit(dev)))
		result = DP_UNLIKELY(w->port->tx_ruled) ? frame_steer(w, frame, len) : frame_send(w, frame, len);
	else
		result = discard(dev);
	if (DP_UNLIKELY(result == EMU_WIRE_HOLD)) {
		w->q->frames_done = w->frames;
		return DP_HOLD;
	}
	if (DP_UNLIKELY(w->sq->pp != NULL))
		dp_pace_count(w, len);
	if (DP_UNLIKELY(result != EMU_WIRE_SENT))
		dev->stats.tx_discards++;
	w->frames++;
	w->bytes += len;
	return DP_DONE;
}

/*
 * assumed: the offsets of the software parser replace the device's own parser, and count from the start of the frame as
 * it is in memory, without a tag that the device inserts (Linux, en_accel.h, mlx5e_tx_tunnel_accel()). Other reading:
 * from ConnectX-5 on they only complement it (DPDK, txq_mbuf_to_swp()), so that a wrong offset of what the device finds
 * itself has no effect. Test: dp/test_offload.c.
 */
void
dp_tx_parse(const struct dp_wqe *w, struct dp_pkt *pkt, const uint8_t *frame, uint32_t len)
{
	const uint8_t tag = w->vlan_insert ? DP_VLAN_BYTES / 2 : 0;
	struct dp_swp swp;

	if (DP_LIKELY(!w->swp_on)) {
		dp_parse(pkt, frame, len, w->port->tx_tunnels);
		return;
	}
	swp = w->swp;
	swp.outer_l3 += swp.outer_l3 != 0 ? tag : 0;
	swp.outer_l4 += swp.outer_l4 != 0 ? tag : 0;
	swp.inner_l3 += swp.inner_l3 != 0 ? tag : 0;
	swp.inner_l4 += swp.inner_l4 != 0 ? tag : 0;
	dp_parse_swp(pkt, frame, len, &swp);
}

void
dp_tx_checksums(uint8_t *frame, const struct dp_pkt *pkt, uint8_t cs_flags)
{
	/* Inner checksums first: the outer one covers them. */
	if (pkt->tunneled) {
		if (cs_flags & PRM_ETH_CS_FLAGS_L3_INNER)
			dp_csum_insert_l3(frame, &pkt->inner);
		if (cs_flags & PRM_ETH_CS_FLAGS_L4_INNER)
			dp_csum_insert_l4(frame, &pkt->inner);
	}
	if (cs_flags & PRM_ETH_CS_FLAGS_L3)
		dp_csum_insert_l3(frame, &pkt->outer);
	if (cs_flags & PRM_ETH_CS_FLAGS_L4)
		dp_csum_insert_l4(frame, &pkt->outer);
}

/* Inserts the tag after the addresses. */
static uint32_t
insert_vlan(uint8_t *frame, uint32_t len, uint16_t tpid, uint16_t tci)
{
	memmove(frame + 12 + DP_VLAN_BYTES, frame + 12, len - 12);
	dp_wr16(frame + 12, tpid);
	dp_wr16(frame + 14, tci);
	return len + DP_VLAN_BYTES;
}

enum dp_exec
dp_tx_pieces(struct dp_wqe *w, const struct dp_pieces *p)
{
	uint8_t *frame = w->port->shared->frame;
	uint32_t len = p->bytes;
	struct dp_pkt pkt;

	if (DP_LIKELY(p->n == 1 && w->cs_flags == 0 && !w->vlan_insert))
		return dp_tx_frame(w, p->piece[0].data, len);
	/* The limit of data segments does not include inline headers. */
	if (DP_UNLIKELY(len > DP_MAX_FRAME))
		return dp_wqe_refuse(w, PRM_CQE_SYNDROME_LOCAL_LENGTH_ERR, "message too long");
	dp_pieces_copy(frame, p);
	if (w->vlan_insert)
		len = insert_vlan(frame, len, w->vlan_tpid, w->vlan_tci);
	if (w->cs_flags != 0) {
		dp_tx_parse(w, &pkt, frame, len);
		dp_tx_checksums(frame, &pkt, w->cs_flags);
	}
	return dp_tx_frame(w, frame, len);
}
