/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* A driver of a device behind VFIO, as small as can be: for the target that then spoils what it does. */
#ifndef VFIO_CARD_H
#define VFIO_CARD_H

#include "abi/uverbs/uverbs.h"
#include "abi/vfio/vfio.h"
#include "dp/emu_dp.h"
#include "fz.h"
#include "prm.h"

#define PAGE 4096u
/* What the device may be shown: chunks that are mapped one by one, with nothing around them. */
#define ARENA_BYTES (1u << 19)
#define CHUNK_BYTES (1u << 16)
#define REGION_BYTES (ARENA_BYTES + 2 * CHUNK_BYTES)
#define IOVA 0x10000000ull
/* Places in the arena. */
#define AT_QUEUE 0u
#define AT_IN 0x2000u
#define AT_OUT 0xc000u
#define AT_EQ 0x16000u
#define AT_PAGES 0x20000u
#define AT_QUEUES (AT_PAGES + GIVEN * PAGE)
#define BLOCK_STRIDE 1024u
#define BLOCK_BYTES 512u
#define BLOCKS 40u
#define LOG_EQ 4u
#define GIVEN 72u
#define IDS 16u

struct entry {
	uint8_t type, reserved0[3];
	uint32_t in_len;
	uint64_t in_ptr;
	uint8_t in[16], out[16];
	uint64_t out_ptr;
	uint32_t out_len;
	uint8_t token, signature, reserved1, status_own;
};
struct block {
	uint8_t data[BLOCK_BYTES], reserved0[48];
	uint64_t next;
	uint32_t number;
	uint8_t reserved1, token, ctrl_signature, signature;
};

extern uint8_t *arena;
extern uint32_t ids[IDS], eqn, uar; /* of objects made so far; of the event queue and its page */
extern unsigned nids;
extern uint8_t mbox[AT_EQ - AT_OUT]; /* the next command */

/** The open device, NULL: there is none. The machine's lock is held. */
struct abi_vfio_device *device(void);
void store(uint64_t off, const uint8_t *bytes, unsigned len);
void store32(uint64_t off, uint32_t value);
/** Lets the device do what it was rung for. */
void run(void);

void put_word(uint8_t *at, uint32_t value);
uint32_t get_word(const uint8_t *at);
uint64_t iova_of(uint32_t at);
/** The command in mbox, as an entry of the queue with its mailboxes. */
struct entry *entry_make(unsigned slot, size_t in_len, size_t out_len);
/** Keeps the number of what a command made. */
void remember(const struct entry *e);
/** Up to an open function with an event queue, as libmlx5 comes there, and a CQ of it. */
void boot(int fd);

#endif /* VFIO_CARD_H */
