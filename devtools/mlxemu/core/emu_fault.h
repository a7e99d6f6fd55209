/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Faults by rule: the device or the kernel, not the driver, is told to fail.
 *
 *   on PLACE [match KEY=VALUE ...] [after N] [every K] [count C] do ACTION [KEY=VALUE ...]
 *
 * after N: the first N matching events pass. every K: of the rest the first and then each K-th.
 * count C: at most C times. Of several rules the first that hits decides. Places, keys and
 * actions are rows of tables in emu_fault_parse.c; the guide has them with their meaning.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "emu_obj.h"

/** Where the model asks whether something should go wrong; names in emu_fault_parse.c. */
enum emu_place {
	EMU_AT_CMD_ENTRY,
	EMU_AT_CMD_EXIT,
	EMU_AT_UMEM_REG,
	EMU_AT_MR_REG,
	EMU_AT_DOORBELL,
	EMU_AT_WQE_FETCH,
	EMU_AT_CQE_WRITE,
	EMU_AT_EQE_WRITE,
	EMU_AT_WIRE_RX,
	EMU_AT_WIRE_TX,
	EMU_AT_CLOCK_PAGE,
	EMU_AT_EVENT_FD,
	EMU_AT_IOCTL,
	EMU_AT_OPEN,
	EMU_AT_MMAP,
	EMU_AT_PCI_READ,
	EMU_AT_PCI_WRITE,
	EMU_PLACES,
};

/** Bit per place that has a rule which can still hit. */
extern uint32_t emu_fault_armed;

/** All that a place costs while no rule is for it. */
static inline bool
emu_fault_at(enum emu_place place)
{
	return __builtin_expect((emu_fault_armed >> place & 1) != 0, 0);
}

enum emu_fault_act {
	EMU_ACT_NONE,
	EMU_ACT_FAIL,
	EMU_ACT_SET,
	EMU_ACT_DELAY,
	EMU_ACT_DROP,
	EMU_ACT_DUP,
	EMU_ACT_CORRUPT,
	EMU_ACT_ERROR,
	EMU_ACT_TRUNCATE,
	EMU_ACT_REPLACE,
	EMU_ACT_TEAR,
	EMU_ACT_FLIP,
	EMU_ACT_FREEZE,
	EMU_ACT_JUMP,
	EMU_ACT_LINK,
	EMU_ACT_REMOVE,
};

/** What is to be done, with its arguments: those of other actions are 0. */
struct emu_fault_action {
	enum emu_fault_act act;
	int err;	   /**< fail errno=: positive. */
	uint8_t status;	   /**< fail status= */
	uint32_t syndrome; /**< fail; error: of a CQE. */
	uint8_t vendor;	   /**< error vendor= */
	uint32_t off, xor_bits, len;
	uint64_t us;
	int64_t ns;
	uint64_t value; /**< set value= */
	char *field;	/**< set field= */
	uint8_t *bytes; /**< replace file=: its content, len bytes. */
	bool up;	/**< link state= */
	uint64_t ms;
	int port;	/**< link, remove: -1: the port where it happened. */
};

/** The event that a place asks about; what does not apply stays 0 or NULL. */
struct emu_fault_query {
	enum emu_place place;
	struct emu_dev *dev;
	const struct emu_sq *sq;
	const struct emu_rq *rq;
	const struct emu_cq *cq;
	uint32_t opcode;  /**< Command; WQE; CQE. */
	uint32_t type;	  /**< Event type. */
	uint32_t len;	  /**< Frame. */
	const char *name; /**< What the hit is called in the log: command, method; else a number. */
};

/** Adds a rule. 0; -EINVAL with one line in err that names the word; -ENOMEM; -errno of a file. */
int emu_fault_add(const char *rule, char *err, size_t err_len);
/** Adds the rules of a file, one a line; '#' begins a comment. As emu_fault_add(). */
int emu_fault_add_file(const char *path, char *err, size_t err_len);
/** Removes all rules; the counts and the log stay. */
void emu_fault_clear(void);
/** Where chances begin: the same seed and the same events give the same hits. */
void emu_fault_seed(uint64_t seed);

/**
 * The first rule that hits, lock held; NULL: go on as ever. link and remove are done here and
 * the next rules asked. Ask only when emu_fault_at() says so.
 */
const struct emu_fault_action *emu_fault_ask(const struct emu_fault_query *q);
/** Asked once per command. True: refuse it with *status and *syndrome. dev may be NULL. */
bool emu_fault_command(struct emu_dev *dev, uint16_t opcode, uint8_t *status, uint32_t *syndrome);
/** 0, or the negative errno of a fail rule that hits. */
int emu_fault_errno(enum emu_place place, struct emu_dev *dev, const char *name);
/** Delays that hit since the last call, in microseconds: what the caller sleeps unlocked. */
uint64_t emu_fault_delay_take(void);

/** Counts of the process: commands and kernel calls asked about, hits of all rules. */
uint64_t emu_fault_commands(void);
uint64_t emu_fault_ioctls(void);
uint64_t emu_fault_hits(void);
/** The i-th line of the log, `fault 1: port 0 CREATE_SQ: RULE`; NULL behind the last kept. */
const char *emu_fault_log(unsigned i);

/** What a rule has done so far. */
struct emu_fault_info {
	const char *text; /**< As it was added. */
	uint64_t seen, hits;
	const char *last; /**< Name of what it hit last: a command, a call; "". */
};
/** The i-th rule; false behind the last. */
bool emu_fault_info(unsigned i, struct emu_fault_info *info);

#endif /* EMU_FAULT_H */
