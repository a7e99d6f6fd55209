/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Settings of the kernel's network interface, link state, removal. */
#include <errno.h>
#include <string.h>

#include <prm.h>

#include "emu_audit.h"
#include "emu_dev.h"
#include "emu_pci.h"

/* Smallest MTU of IPv4; the kernel's own lower bound for Ethernet. */
#define MTU_MIN 68u

int
emu_port_set_mtu(struct emu_dev *dev, unsigned mtu)
{
	if (mtu < MTU_MIN || mtu > dev->profile->max_mtu)
		return -EINVAL;
	dev->vport.mtu = (uint16_t)mtu;
	return 0;
}

int
emu_port_set_mac(struct emu_dev *dev, const uint8_t mac[6])
{
	static const uint8_t zero[6];

	if ((mac[0] & 1) != 0 || memcmp(mac, zero, sizeof(zero)) == 0)
		return -EADDRNOTAVAIL;
	memcpy(dev->vport.mac, mac, sizeof(dev->vport.mac));
	return 0;
}

bool
emu_port_roce(const struct emu_dev *dev, unsigned index, struct emu_roce_address *a)
{
	const uint8_t *mac = dev->vport.mac;

	memset(a, 0, sizeof(*a));
	if (index < EMU_ROCE_ADDRESSES && dev->vport.roce[index].written) {
		*a = dev->vport.roce[index];
		return !a->empty;
	}
	if (index >= EMU_PORT_GIDS)
		return false;
	a->version = index == 0 ? PRM_ROCE_VERSION_V1 : PRM_ROCE_VERSION_V2;
	a->l3_type = index == 0 ? 0 : EMU_ROCE_L3_IPV6;
	memcpy(a->mac, mac, sizeof(a->mac));
	a->gid[0] = 0xfe;
	a->gid[1] = 0x80;
	a->gid[8] = mac[0] ^ 2;
	a->gid[9] = mac[1];
	a->gid[10] = mac[2];
	a->gid[11] = 0xff;
	a->gid[12] = 0xfe;
	memcpy(&a->gid[13], &mac[3], 3);
	return true;
}

bool
emu_port_gid(const struct emu_dev *dev, unsigned index, uint8_t gid[16])
{
	struct emu_roce_address a;
	bool there = emu_port_roce(dev, index, &a);

	/* Ports of a switchdev PF have no GIDs: hw/mlx5/main.c, mlx5_port_rep_immutable(). */
	if (dev->eswitch.on) {
		memset(gid, 0, sizeof(a.gid));
		return false;
	}
	memcpy(gid, a.gid, sizeof(a.gid));
	return there;
}

bool
emu_port_is_gid(const struct emu_dev *dev, const uint8_t gid[16], const uint8_t mac[6])
{
	struct emu_roce_address a;

	for (unsigned i = 0; i < EMU_ROCE_ADDRESSES; i++)
		if (emu_port_roce(dev, i, &a) && memcmp(a.gid, gid, sizeof(a.gid)) == 0 &&
		    memcmp(a.mac, mac, sizeof(a.mac)) == 0)
			return true;
	return false;
}

void
emu_port_set_promisc(struct emu_dev *dev, bool promisc, bool allmulti)
{
	dev->vport.promisc_all = promisc;
	dev->vport.promisc_mc = allmulti;
}

/* Adds an address to a list of the vport, or removes it. present, full: what is returned for an addition then. */
static int
list_change(uint8_t (*list)[6], unsigned *count, const uint8_t mac[6], bool add, int present, int full)
{
	unsigned i;

	for (i = 0; i < *count && memcmp(list[i], mac, 6) != 0; i++)
		;
	if (add) {
		if (i < *count)
			return present;
		if (i == EMU_VPORT_LIST_MAX)
			return full;
		memcpy(list[(*count)++], mac, 6);
		return 0;
	}
	if (i == *count)
		return -ENOENT;
	--*count;
	memmove(list[i], list[*count], 6);
	return 0;
}

int
emu_port_ucast(struct emu_dev *dev, const uint8_t mac[6], bool add)
{
	return list_change(dev->vport.uc, &dev->vport.uc_count, mac, add, -EEXIST, -ENOMEM);
}

int
emu_port_mcast(struct emu_dev *dev, const uint8_t mac[6], bool add)
{
	if ((mac[0] & 1) == 0)
		return -EINVAL;
	return list_change(dev->vport.mc, &dev->vport.mc_count, mac, add, 0, -ENOSPC);
}

static void
port_event(struct emu_dev *dev, unsigned sub_type)
{
	struct prm_eqe eqe = {0};
	struct emu_ctx *ctx;

	/* By assignment: members of a union cannot be initialized together. */
	eqe.type = PRM_EVENT_TYPE_PORT_CHANGE;
	eqe.sub_type = (uint8_t)sub_type;
	eqe.port = 1 << PRM_EQE_PORT_PORT_NUM_SHIFT;
	TAILQ_FOREACH(ctx, &dev->contexts, next)
		emu_machine_of(dev)->dp_ops->event(ctx, NULL, PRM_EVENT_TYPE_PORT_CHANGE, &eqe);
}

static void
link_recompute(struct emu_dev *dev)
{
	const struct emu_front_ops *front = emu_machine_of(dev)->front;
	bool port = (dev->vf & EMU_VF_LINK_UP) != 0 || dev->loop_on || (dev->carrier && !dev->unplugged);
	bool up = port && dev->admin_up && !dev->removed && (dev->vf & EMU_VF_LINK_DOWN) == 0;

	if (up == dev->link_up)
		return;
	dev->link_up = up;
	emu_trace_note(dev, "link %s", up ? "up" : "down");
	/* sysfs first: a program that gets the event reads the new state. */
	if (front != NULL && front->port_changed != NULL)
		front->port_changed(dev);
	port_event(dev, up ? PRM_PORT_CHANGE_SUBTYPE_ACTIVE : PRM_PORT_CHANGE_SUBTYPE_DOWN);
}

void
emu_port_cable(struct emu_dev *dev, bool plugged, uint64_t ms)
{
	dev->unplugged = !plugged;
	dev->replug_ns = ms != 0 ? emu_mono_ns() + ms * 1000000u : 0;
	link_recompute(dev);
}

static void
dev_removed(struct emu_dev *dev, bool failed)
{
	const struct emu_front_ops *front = emu_machine_of(dev)->front;

	dev->remove_ns = 0;
	emu_clock_hold(dev);
	dev->removed = true;
	dev->failed = failed;
	emu_clock_release(dev);
	dev->link_up = dev->carrier = false;
	if (front != NULL && front->removed != NULL)
		front->removed(dev);
}

/* A program that has opened the function through VFIO is its driver. */
static bool
is_vfio_owned(const struct emu_dev *dev)
{
	const struct emu_ctx *ctx;

	TAILQ_FOREACH(ctx, &dev->contexts, next)
		if (ctx->iommu != NULL)
			return true;
	return false;
}

void
emu_dev_health(struct emu_dev *dev, uint32_t syndrome, uint64_t ms)
{
	const struct emu_front_ops *front = emu_machine_of(dev)->front;

	emu_trace_note(dev, "health syndrome 0x%x", syndrome);
	(void)emu_cr_write(dev, EMU_CR_HEALTH_SYNDROME, syndrome);
	if (syndrome == 0 || dev->removed || dev->internal_error)
		return;
	dev->internal_error = true;
	if (front != NULL && front->failing != NULL)
		front->failing(dev);
	if (is_vfio_owned(dev))
		return;
	dev->remove_ns = emu_mono_ns() + ms * 1000000u;
	if (ms == 0)
		dev_removed(dev, true);
}

void
emu_pci_mastering(struct emu_dev *dev, bool on)
{
	if (!on && dev->internal_error && !dev->removed && is_vfio_owned(dev)) {
		emu_trace_note(dev, "bus mastering is off: quiesced");
		dev_removed(dev, true);
	}
}

void
emu_dev_remove(struct emu_dev *dev, uint64_t ms)
{
	struct emu_machine *m = emu_machine_of(dev);
	const struct emu_front_ops *front = m->front;

	/* A PF's sub-functions go first (Linux, mlx5/core/sf/dev/dev.c, mlx5_sf_dev_table_destroy()). */
	for (unsigned i = 0; i < m->ports; i++)
		if (m->dev[i].parent == dev)
			emu_dev_remove(&m->dev[i], ms);
	/* A failed card can still be unplugged; the kernel has no objects of it left to destroy. */
	if (dev->removed && !dev->failed)
		return;
	if (ms == 0 || dev->failed) {
		emu_trace_note(dev, "removed");
		dev_removed(dev, false);
		return;
	}
	if (dev->removing)
		return;
	emu_trace_note(dev, "is being removed");
	dev->remove_ns = emu_mono_ns() + ms * 1000000u;
	dev->removing = true;
	if (front != NULL && front->removing != NULL)
		front->removing(dev);
}

void
emu_port_tick(struct emu_dev *dev, uint64_t mono_ns)
{
	if (dev->replug_ns != 0 && mono_ns >= dev->replug_ns)
		emu_port_cable(dev, dev->unplugged, 0);
	if (dev->fatal != 0) {
		dev->remove_ns = 0;
		if (!dev->removed)
			emu_dev_health(dev, dev->fatal, 0);
	}
	dev->fatal = 0;
	if (dev->remove_ns != 0 && mono_ns >= dev->remove_ns) {
		emu_trace_note(dev, dev->removing ? "removed" : "quiesced");
		dev_removed(dev, !dev->removing);
	}
}

/*
 * assumed: a loopback mode is in effect from the next time that the port is set up, around which mlxlink sets it
 * (mstflint, mlxlink_commander.cpp). It needs no cable, and the peer keeps its link. Other reading: it is in effect at
 * once, or the peer has no link. Test: fw/test_registers.c.
 *
 * assumed: the same is true of forward error correction (Linux sets the port down and up: mlx5_toggle_port_link()); the
 * peer follows. Other reading: it is in effect at once, or without the peer's setting there is no link.
 * Test: fw/test_registers.c.
 */
void
emu_port_set_admin(struct emu_dev *dev, bool up)
{
	if (up && !dev->admin_up) {
		dev->loop_on = dev->loop_set;
		emu_fec_begin(dev);
	}
	dev->admin_up = up;
	link_recompute(dev);
}

void
emu_port_vf_link(struct emu_dev *dev, unsigned int link)
{
	dev->vf = (dev->vf & ~(EMU_VF_LINK_UP | EMU_VF_LINK_DOWN)) | link;
	link_recompute(dev);
}

/*
 * assumed: a stop that ends by its time is a transition (rx_pause_transition), as one that a time of 0 ends. Other
 * reading: only the latter. Test: pmd/test_phy.c.
 */
void
emu_port_pfc_settle(struct emu_dev *dev, uint64_t now_ns)
{
	for (unsigned prio = 0; prio < EMU_PRIORITIES; prio++) {
		const uint64_t until_ns = dev->pfc_until_ns[prio];
		uint64_t us;

		if (until_ns == 0)
			continue;
		us = ((now_ns < until_ns ? now_ns : until_ns) - dev->pfc_since_ns[prio]) / 1000;
		dev->stats.rx_pfc_us[prio] += us;
		dev->pfc_since_ns[prio] += us * 1000;
		if (now_ns < until_ns)
			continue;
		dev->pfc_until_ns[prio] = 0;
		dev->stats.rx_pfc_ends[prio]++;
	}
}

bool
emu_port_vport_down(const struct emu_dev *dev)
{
	return dev->vf != 0 && !dev->link_up && dev->carrier && !dev->unplugged;
}

void
emu_port_set_carrier(struct emu_dev *dev, bool carrier)
{
	dev->carrier = carrier;
	link_recompute(dev);
}
