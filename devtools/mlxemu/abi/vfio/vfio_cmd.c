/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * BAR 0 in the device: initialization segment, command queue, health. Offsets and layouts: PRM,
 * initialization segment and command interface.
 *
 * A doorbell store returns at once, as on a card, and wakes a thread. The thread reads command queue
 * entries and mailboxes through the IOMMU, executes the command and returns the entry to software.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/pci_regs.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/emu_fault.h"
#include "dp/emu_dp.h"
#include "fw/emu_fw.h"
#include "prm.h"
#include "vfio.h"

/* Initialization segment. */
#define SEG(field) (4 * PRM_INITIAL_SEG_##field##_DW)
#define SEG_FW_REV SEG(FW_REV_MINOR)
#define SEG_CMDIF SEG(CMD_INTERFACE_REV)
#define SEG_CMDQ_HI SEG(CMDQ_PHY_ADDR_63_32)
#define SEG_CMDQ_LO SEG(CMDQ_PHY_ADDR_31_12)
#define SEG_DOORBELL SEG(COMMAND_DOORBELL_VECTOR)
#define SEG_HEALTH_COUNTER SEG(HEALTH_COUNTER)
#define CMDIF_REV 5u
#define LOG_SLOTS 5u
#define LOG_STRIDE 6u
#define NIC_IFC_MASK 0x700u
#define CMDQ_LO_FIXED (LOG_SLOTS << 4 | LOG_STRIDE)
#define DOORBELL_PAGES 2u /* pages of the segment; UAR pages follow */

#define ENTRY_PCIE 7u
#define INLINE_BYTES sizeof(((struct prm_cmd_entry *)0)->in)
#define BLOCK_BYTES sizeof(((struct prm_cmd_mailbox *)0)->data)
#define ENTRY_OWNER PRM_CMD_ENTRY_STATUS_OWN_OWNERSHIP_MASK
/* Maximum length of a mailbox. */
#define MAILBOX_MAX (1u << 17)

#define TICK_NS 50000000

static struct {
	pthread_mutex_t mutex; /* start and stop */
	pthread_t thread;
	bool runs;
	_Atomic bool stop;
	sem_t bell;
} worker = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void
seg_write(struct abi_vfio_device *d, unsigned off, uint32_t value)
{
	atomic_store_explicit((_Atomic uint32_t *)(d->bar + off), htobe32(value),
			      memory_order_relaxed);
}

static uint32_t
seg_read(const struct abi_vfio_device *d, unsigned off)
{
	return be32toh(atomic_load_explicit((_Atomic uint32_t *)(d->bar + off),
					    memory_order_relaxed));
}

void
abi_vfio_bar_reset(struct abi_vfio_device *d)
{
	const struct emu_profile *p = d->dev->profile;

	seg_write(d, SEG_FW_REV, (uint32_t)p->fw_minor << 16 | p->fw_major);
	seg_write(d, SEG_CMDIF, CMDIF_REV << 16 | p->fw_subminor);
	seg_write(d, SEG_CMDQ_HI, 0);
	seg_write(d, SEG_CMDQ_LO, CMDQ_LO_FIXED);
	d->cmdq = 0;
	d->doorbells = 0;
}

void
abi_vfio_bar_removed(struct abi_vfio_device *d)
{
	if (!d->dev->failed)
		memset(d->bar, 0xff, ABI_VFIO_BAR_BYTES);
}

void
abi_vfio_bar_failing(struct abi_vfio_device *d)
{
	struct prm_health_buffer *health;
	uint32_t syndrome = 0;

	(void)emu_cr_read(d->dev, EMU_CR_HEALTH_SYNDROME, &syndrome);
	health = prm_initial_seg_health_buffer((struct prm_initial_seg *)d->bar);
	memset(&health->dw[PRM_HEALTH_BUFFER_RFR_DW], 0, sizeof(health->dw[0]));
	prm_health_buffer_set_rfr(health, 1);
	prm_health_buffer_set_synd(health, (uint8_t)syndrome);
}

static void
health_tick(struct abi_vfio_device *d)
{
	seg_write(d, SEG_HEALTH_COUNTER, ++d->health & 0xffffff);
}

/* Only three words of the segment are writable. */
static void
seg_store(struct abi_vfio_device *d, uint64_t off, uint32_t value)
{
	switch (off) {
	case SEG_CMDQ_HI:
		seg_write(d, SEG_CMDQ_HI, value);
		break;
	case SEG_CMDQ_LO:
		seg_write(d, SEG_CMDQ_LO,
			  (value & ~(EMU_PAGE_BYTES - 1)) | (value & NIC_IFC_MASK) | CMDQ_LO_FIXED);
		break;
	case SEG_DOORBELL:
		d->doorbells |= value;
		sem_post(&worker.bell);
		break;
	default:
		emu_audit(d->dev, EMU_AUDIT_BAD_DOORBELL,
			  "store to 0x%" PRIx64 " of the initialisation segment", off);
		break;
	}
}

static void
uar_store(struct abi_vfio_device *d, uint64_t off, const uint8_t *bytes, unsigned len)
{
	uint64_t value = 0;
	const struct emu_obj *uar =
		emu_obj_find(d->dev, EMU_OBJ_UAR, (uint32_t)(off / EMU_PAGE_BYTES));

	if (uar == NULL || uar->ctx != d->ctx) {
		emu_audit(d->dev, EMU_AUDIT_BAD_DOORBELL,
			  "store to page 0x%" PRIx64 " of BAR 0, which is no UAR",
			  off / EMU_PAGE_BYTES);
		return;
	}
	if (len <= sizeof(value)) {
		memcpy(&value, bytes, len);
		if (emu_dp_uar_store(d->ctx, off, value, len))
			return;
	}
	/* Leave it to the engine, which polls the UAR pages. */
	if (len == 8)
		atomic_store_explicit((_Atomic uint64_t *)(d->bar + off), value,
				      memory_order_release);
	else
		memcpy(d->bar + off, bytes, len);
}

void
abi_vfio_bar_store(struct abi_vfio_device *d, uint64_t off, const uint8_t *bytes, unsigned len)
{
	uint32_t word;

	if (d->ctx == NULL || d->dev->removed || off + len > ABI_VFIO_BAR_BYTES)
		return;
	if (off >= DOORBELL_PAGES * EMU_PAGE_BYTES) {
		uar_store(d, off, bytes, len);
		return;
	}
	for (unsigned i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		seg_store(d, off + i, be32toh(word));
	}
}

/** Iterator over a chain of mailbox blocks. */
struct chain {
	struct abi_vfio_device *d;
	uint64_t iova;
	uint32_t number;
	uint8_t token;
	bool write;
};

/* The next mailbox block of a chain, for len bytes. NULL: *why is the reason. */
static struct prm_cmd_mailbox *
chain_next(struct chain *c, enum prm_cmd_delivery *why)
{
	struct prm_cmd_mailbox *b;

	*why = c->write ? PRM_CMD_DELIVERY_BAD_OUT_PTR : PRM_CMD_DELIVERY_BAD_IN_PTR;
	/* The low bits of the pointer are reserved. */
	if ((c->iova & (BLOCK_BYTES - 1)) != 0)
		return NULL;
	b = emu_iommu_at(c->d->ctx->iommu, c->iova, sizeof(*b), c->write);
	if (b == NULL)
		return NULL;
	*why = PRM_CMD_DELIVERY_TOKEN_ERR;
	if (b->token != c->token)
		return NULL;
	*why = PRM_CMD_DELIVERY_BAD_BLOCK_NUM;
	if (be32toh(b->number) != c->number)
		return NULL;
	c->number++;
	c->iova = be64toh(b->next);
	*why = PRM_CMD_DELIVERY_OK;
	return b;
}

static enum prm_cmd_delivery
chain_copy(struct abi_vfio_device *d, const struct prm_cmd_entry *e, bool write, uint8_t *data, size_t len)
{
	struct chain c = {.d = d, .token = e->token, .write = write};
	enum prm_cmd_delivery why = PRM_CMD_DELIVERY_OK;

	c.iova = be64toh(write ? e->out_ptr : e->in_ptr);
	while (len != 0) {
		size_t n = len < BLOCK_BYTES ? len : BLOCK_BYTES;
		struct prm_cmd_mailbox *b = chain_next(&c, &why);

		if (b == NULL)
			return why;
		if (write)
			memcpy(b->data, data, n);
		else
			memcpy(data, b->data, n);
		data += n;
		len -= n;
	}
	return why;
}

static enum prm_cmd_delivery
input_read(struct abi_vfio_device *d, const struct prm_cmd_entry *e, uint8_t *in, size_t len)
{
	size_t n = len < INLINE_BYTES ? len : INLINE_BYTES;

	memcpy(in, e->in, n);
	return chain_copy(d, e, false, in + n, len - n);
}

static enum prm_cmd_delivery
output_write(struct abi_vfio_device *d, struct prm_cmd_entry *e, uint8_t *out, size_t len)
{
	size_t n = len < INLINE_BYTES ? len : INLINE_BYTES;

	memcpy(e->out, out, n);
	return chain_copy(d, e, true, out + n, len - n);
}

/* PCI command register, bit 2: without it a device cannot reach memory. */
static bool
bus_master(struct abi_vfio_device *d)
{
	uint8_t command[2] = {0};

	if (emu_pci_read(d->dev, PCI_COMMAND, command, sizeof(command)) == 0 &&
	    (command[0] & PCI_COMMAND_MASTER) != 0)
		return true;
	emu_audit(d->dev, EMU_AUDIT_IOMMU, "DMA while bus mastering is off: command queue");
	return false;
}

static struct prm_cmd_entry *
entry_at(struct abi_vfio_device *d, unsigned slot)
{
	uint64_t queue = (uint64_t)seg_read(d, SEG_CMDQ_HI) << 32 |
			 (seg_read(d, SEG_CMDQ_LO) & ~(EMU_PAGE_BYTES - 1));

	return emu_iommu_at(d->ctx->iommu, queue + ((uint64_t)slot << LOG_STRIDE),
			    sizeof(struct prm_cmd_entry), true);
}

/* Complete the entry: reply, then ownership bit, then event. */
static void
complete(struct abi_vfio_device *d, unsigned slot, uint8_t *out, size_t out_len, uint8_t delivery)
{
	enum prm_cmd_delivery why = delivery;
	struct prm_cmd_entry *e;

	/* A fault rule may have removed the device. */
	e = d->dev->removed || d->dev->internal_error ? NULL : entry_at(d, slot);
	if (e == NULL)
		return;
	if (why == PRM_CMD_DELIVERY_OK)
		why = output_write(d, e, out, out_len);
	if (why != PRM_CMD_DELIVERY_OK)
		emu_audit(d->dev, EMU_AUDIT_BAD_COMMAND, "slot %u: delivery status 0x%x", slot,
			  why);
	atomic_store_explicit((_Atomic uint8_t *)&e->status_own,
			      (uint8_t)(why << PRM_CMD_ENTRY_STATUS_OWN_STATUS_SHIFT),
			      memory_order_release);
	(void)emu_fw_command_done(d->ctx, 1u << slot);
}

static enum prm_cmd_delivery
lengths_check(size_t in_len, size_t out_len)
{
	if (in_len < INLINE_BYTES || in_len > MAILBOX_MAX)
		return PRM_CMD_DELIVERY_IN_LEN_ERR;
	return out_len < INLINE_BYTES / 2 || out_len > MAILBOX_MAX ? PRM_CMD_DELIVERY_OUT_LEN_ERR
								   : PRM_CMD_DELIVERY_OK;
}

/* Allocated reply of a command; NULL: no reply. */
static uint8_t *
execute(struct abi_vfio_device *d, const struct prm_cmd_entry *e, size_t *out_len, enum prm_cmd_delivery *why)
{
	size_t in_len = be32toh(e->in_len);
	uint8_t *in, *out;
	int ret = 0;

	*out_len = be32toh(e->out_len);
	*why = e->type == ENTRY_PCIE ? lengths_check(in_len, *out_len) : PRM_CMD_DELIVERY_CMD_DESCR_ERR;
	if (*why != PRM_CMD_DELIVERY_OK)
		in_len = *out_len = INLINE_BYTES;
	in = malloc(in_len);
	/* The buffer for the firmware has at least the size of a header. */
	out = calloc(1, *out_len < INLINE_BYTES ? INLINE_BYTES : *out_len);
	if (in != NULL && out != NULL && *why == PRM_CMD_DELIVERY_OK)
		*why = input_read(d, e, in, in_len);
	if (in != NULL && out != NULL && *why == PRM_CMD_DELIVERY_OK)
		ret = emu_fw_exec(d->ctx, in, in_len, out,
				  *out_len < INLINE_BYTES ? INLINE_BYTES : *out_len, NULL);
	free(in);
	/* A removed device sends no replies. */
	if (in != NULL && ret != -EIO)
		return out;
	free(out);
	return NULL;
}

static void
slot_run(struct abi_vfio_device *d, unsigned slot)
{
	struct prm_cmd_entry *e = bus_master(d) ? entry_at(d, slot) : NULL;
	enum prm_cmd_delivery why;
	size_t out_len;
	uint64_t delay_us;
	uint8_t *out;

	if (e == NULL)
		return;
	if ((atomic_load_explicit((_Atomic uint8_t *)&e->status_own, memory_order_acquire) &
	     ENTRY_OWNER) == 0 ||
	    d->late[slot].out != NULL) {
		emu_audit(d->dev, EMU_AUDIT_BAD_DOORBELL, "command slot %u rang, but %s", slot,
			  d->late[slot].out != NULL ? "its command is being executed"
						    : "is not the device's");
		return;
	}
	out = execute(d, e, &out_len, &why);
	if (out == NULL)
		return;
	delay_us = emu_fault_delay_take();
	if (delay_us != 0) {
		d->late[slot] = (struct abi_vfio_late){out, out_len, (uint8_t)why,
						       emu_mono_ns() + delay_us * 1000};
		return;
	}
	complete(d, slot, out, out_len, (uint8_t)why);
	free(out);
}

/* Deliver delayed replies that are due; reduce *due_ns to the time of the next one. */
static void
delayed_run(struct abi_vfio_device *d, uint64_t *due_ns)
{
	uint64_t now = emu_mono_ns();

	for (unsigned i = 0; i < ABI_VFIO_SLOTS; i++) {
		struct abi_vfio_late *l = &d->late[i], done = *l;

		if (l->out == NULL)
			continue;
		if (l->due_ns > now) {
			*due_ns = l->due_ns < *due_ns ? l->due_ns : *due_ns;
			continue;
		}
		l->out = NULL;
		complete(d, i, done.out, done.out_len, done.delivery);
		free(done.out);
	}
}

void
abi_vfio_device_run(struct abi_vfio_device *d, bool tick, uint64_t *due_ns)
{
	uint32_t bells = d->doorbells;

	/*
	 * assumed: failed firmware answers no command, while the queues go on. Other reading: it answers with an error.
	 * Test: pmd/fatal.py.
	 */
	if (d->dev->removed || d->dev->internal_error)
		return;
	d->doorbells = 0;
	for (unsigned i = 0; bells != 0; i++, bells >>= 1)
		if ((bells & 1) != 0)
			slot_run(d, i);
	delayed_run(d, due_ns);
	if (tick && !d->dev->health_stopped)
		health_tick(d);
}

static void *
work(void *arg)
{
	struct emu_machine *m = arg;
	uint64_t tick_ns = 0;

	abi_inside++;
	while (!atomic_load_explicit(&worker.stop, memory_order_acquire)) {
		uint64_t now = emu_mono_ns(), due_ns = now + TICK_NS;
		bool tick = now - tick_ns >= TICK_NS;
		struct timespec until;

		if (tick)
			tick_ns = now;
		emu_lock(m);
		for (unsigned i = 0; i < m->ports; i++)
			if (abi_vfio_of(&m->dev[i]) != NULL)
				abi_vfio_device_run(abi_vfio_of(&m->dev[i]), tick, &due_ns);
		emu_unlock(m);
		until.tv_sec = (time_t)(due_ns / 1000000000u);
		until.tv_nsec = (long)(due_ns % 1000000000u);
		(void)sem_clockwait(&worker.bell, CLOCK_MONOTONIC, &until);
	}
	return NULL;
}

int
abi_vfio_thread_start(void)
{
	struct emu_machine *m = abi_machine();
	int ret = 0;

	if (m == NULL)
		return -ENODEV;
	abi_inside++;
	pthread_mutex_lock(&worker.mutex);
	if (!worker.runs) {
		sem_init(&worker.bell, 0, 0);
		atomic_store(&worker.stop, false);
		ret = emu_thread_start(&worker.thread, "mlxemu-cmd", work, m);
		worker.runs = ret == 0;
	}
	pthread_mutex_unlock(&worker.mutex);
	abi_inside--;
	return ret;
}

void
abi_vfio_thread_stop(void)
{
	if (!worker.runs)
		return;
	atomic_store_explicit(&worker.stop, true, memory_order_release);
	sem_post(&worker.bell);
	pthread_join(worker.thread, NULL);
	worker.runs = false;
}
