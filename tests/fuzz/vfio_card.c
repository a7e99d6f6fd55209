/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Command queue, mailboxes and the first commands of a device behind VFIO. */
#include <linux/vfio.h>

#include "vfio_card.h"

uint8_t *arena;
uint32_t ids[IDS], eqn, uar;
unsigned nids;
uint8_t mbox[AT_EQ - AT_OUT];

struct abi_vfio_device *
device(void)
{
	return abi_vfio_of(&abi_machine()->dev[0]);
}

void
run(void)
{
	uint64_t due = UINT64_MAX;

	if (abi_enter() == NULL)
		return;
	if (device() != NULL)
		abi_vfio_device_run(device(), true, &due);
	(void)emu_dp_poll(abi_machine());
	abi_leave();
}

void
store(uint64_t off, const uint8_t *bytes, unsigned len)
{
	if (abi_enter() == NULL)
		return;
	if (device() != NULL)
		abi_vfio_bar_store(device(), off, bytes, len);
	abi_leave();
}

void
store32(uint64_t off, uint32_t value)
{
	uint8_t bytes[4] = {value >> 24, value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff};

	store(off, bytes, sizeof(bytes));
}

void
put_word(uint8_t *at, uint32_t value)
{
	at[0] = value >> 24;
	at[1] = value >> 16 & 0xff;
	at[2] = value >> 8 & 0xff;
	at[3] = value & 0xff;
}

uint32_t
get_word(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

uint64_t
iova_of(uint32_t at)
{
	return IOVA + at;
}

/* Lays out a chain of blocks; data may be NULL. */
static void
chain(uint32_t at, const uint8_t *data, size_t len, uint8_t token)
{
	for (unsigned i = 0; i < BLOCKS && len != 0; i++) {
		struct block *b = (void *)(arena + at + (size_t)i * BLOCK_STRIDE);
		size_t n = len < BLOCK_BYTES ? len : BLOCK_BYTES;

		memset(b, 0, sizeof(*b));
		if (data != NULL)
			memcpy(b->data, data + (size_t)i * BLOCK_BYTES, n);
		len -= n;
		b->number = htobe32(i);
		b->token = token;
		if (len != 0)
			b->next = htobe64(iova_of(at + (i + 1) * BLOCK_STRIDE));
	}
}

struct entry *
entry_make(unsigned slot, size_t in_len, size_t out_len)
{
	struct entry *e = (struct entry *)(void *)(arena + AT_QUEUE) + slot;
	const uint8_t token = (uint8_t)(slot * 3 + 1);

	memset(e, 0, sizeof(*e));
	e->type = 7;
	e->in_len = htobe32((uint32_t)in_len);
	e->out_len = htobe32((uint32_t)out_len);
	memcpy(e->in, mbox, sizeof(e->in));
	e->token = token;
	e->status_own = 1;
	if (in_len > 16) {
		e->in_ptr = htobe64(iova_of(AT_IN));
		chain(AT_IN, mbox + 16, in_len - 16, token);
	}
	if (out_len > 16) {
		e->out_ptr = htobe64(iova_of(AT_OUT));
		chain(AT_OUT, NULL, out_len - 16, token);
	}
	return e;
}

/* The command in mbox. What the device made of it. */
static const struct entry *
command(size_t in_len, size_t out_len)
{
	const struct entry *e = entry_make(0, in_len, out_len);

	store32(0x18, 1);
	run();
	return e;
}

void
remember(const struct entry *e)
{
	if (e->status_own == 0 && e->out[0] == 0)
		ids[nids++ % IDS] = get_word(e->out + 8) & 0xffffff;
}

/* ---- the first commands ---- */

static void
simple(uint16_t opcode, uint16_t op_mod, uint32_t word)
{
	memset(mbox, 0, 16);
	put_word(mbox, (uint32_t)opcode << 16);
	put_word(mbox + 4, op_mod);
	put_word(mbox + 8, word);
	(void)command(16, 16);
}

static void
give_pages(void)
{
	struct prm_manage_pages_in *cmd = (void *)mbox;

	memset(mbox, 0, sizeof(*cmd));
	prm_manage_pages_in_set_opcode(cmd, PRM_CMD_OP_MANAGE_PAGES);
	prm_manage_pages_in_set_op_mod(cmd, 1);
	prm_manage_pages_in_set_input_num_entries(cmd, GIVEN);
	for (unsigned i = 0; i < GIVEN; i++)
		prm_manage_pages_in_set_pas(cmd, i, iova_of(AT_PAGES + i * PAGE));
	(void)command(16 + GIVEN * 8, 16);
}

static void
eq_new(uint64_t bitmask)
{
	struct prm_create_eq_in *cmd = (void *)mbox;
	struct prm_eqc *eqc = prm_create_eq_in_eq_context_entry(cmd);
	size_t len = sizeof(*cmd) + 8;
	const struct entry *e;

	memset(mbox, 0, len);
	prm_create_eq_in_set_opcode(cmd, PRM_CMD_OP_CREATE_EQ);
	prm_create_eq_in_set_event_bitmask(cmd, 0, bitmask);
	prm_create_eq_in_set_pas(cmd, 0, iova_of(AT_EQ));
	prm_eqc_set_log_eq_size(eqc, LOG_EQ);
	prm_eqc_set_uar_page(eqc, uar);
	e = command(len, 16);
	eqn = e->out[11];
	remember(e);
}

/* Memory of queues behind what else is in the arena. */
static uint32_t
umem_new(void)
{
	struct prm_create_umem_in *cmd = (void *)mbox;
	struct prm_umem *umem = prm_create_umem_in_umem(cmd);
	const unsigned pages = (ARENA_BYTES - AT_QUEUES) / PAGE;
	size_t len = sizeof(*cmd) + pages * PRM_MTT_BYTES;
	const struct entry *e;

	memset(mbox, 0, len);
	prm_create_umem_in_set_opcode(cmd, PRM_CMD_OP_CREATE_UMEM);
	prm_umem_set_num_of_mtt(umem, pages);
	for (unsigned i = 0; i < pages; i++) {
		struct prm_mtt *mtt = prm_umem_mtt(umem, i);

		prm_mtt_set_ptag_31_8(mtt, (uint32_t)iova_of(AT_QUEUES + i * PAGE) >> 8);
		prm_mtt_set_rd_en(mtt, 1);
		prm_mtt_set_wr_en(mtt, 1);
	}
	e = command(len, 16);
	remember(e);
	return get_word(e->out + 8) & 0xffffff;
}

static void
cq_new(uint32_t umem)
{
	struct prm_create_cq_in *cmd = (void *)mbox;
	struct prm_cqc *cqc = prm_create_cq_in_cq_context(cmd);

	memset(mbox, 0, sizeof(*cmd));
	prm_create_cq_in_set_opcode(cmd, PRM_CMD_OP_CREATE_CQ);
	prm_create_cq_in_set_cq_umem_id(cmd, umem);
	prm_create_cq_in_set_cq_umem_valid(cmd, 1);
	prm_create_cq_in_set_cq_umem_offset(cmd, PAGE);
	prm_cqc_set_log_cq_size(cqc, 4);
	prm_cqc_set_uar_page(cqc, uar);
	prm_cqc_set_c_eqn(cqc, eqn);
	prm_cqc_set_dbr_umem_id(cqc, umem);
	prm_cqc_set_dbr_umem_valid(cqc, 1);
	remember(command(sizeof(*cmd), 16));
}

void
boot(int fd)
{
	static const uint8_t master[2] = {0x06, 0};
	uint8_t command_register[2];
	const struct entry *e;
	ssize_t done;

	memcpy(command_register, master, sizeof(master));
	(void)abi_vfio_access(fd, true, command_register, 2,
			      (off64_t)VFIO_PCI_CONFIG_REGION_INDEX << ABI_VFIO_REGION_SHIFT | 4, &done);
	store32(0x10, IOVA >> 32);
	store32(0x14, (uint32_t)IOVA + AT_QUEUE);
	simple(PRM_CMD_OP_ENABLE_HCA, 0, 0);
	simple(PRM_CMD_OP_SET_ISSI, 0, 1);
	give_pages();
	simple(PRM_CMD_OP_INIT_HCA, 0, 0);
	simple(PRM_CMD_OP_ALLOC_UAR, 0, 0);
	e = (void *)(arena + AT_QUEUE);
	uar = get_word(e->out + 8) & 0xffffff;
	remember(e);
	simple(PRM_CMD_OP_ALLOC_PD, 0, 0);
	remember(e);
	simple(PRM_CMD_OP_ALLOC_TRANSPORT_DOMAIN, 0, 0);
	remember(e);
	eq_new(~0ull);
	cq_new(umem_new());
	FZ_MUST(e->status_own == 0 && e->out[0] == 0);
}
