/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Fault rules: make the device or the kernel fail, delay, drop or return wrong values.
 *
 *   on EVENT [match KEY=VALUE ...] [after N] [every K] [count C] do ACTION [KEY=VALUE ...]
 *
 * after N: skip the first N matching events. every K: of the rest hit the first and then each K-th.
 * count C: hit at most C times. The first rule that hits decides; a `set` rule changes a value and does
 * not end the search. The rows of the tables in emu_fault_words.c are the events, keys and actions;
 * doc/guide/mlxemu-faults.md describes them.
 *
 * The machine's lock protects rules, counts and log. A launcher without a machine has one thread.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include "emu_obj.h"

struct prm_member;

/** Events that rules match; names in emu_fault_words.c. */
enum emu_fault_kind {
	EMU_ON_CMD_ENTRY,
	EMU_ON_CMD_EXIT,
	EMU_ON_UMEM_REG,
	EMU_ON_MR_REG,
	EMU_ON_DOORBELL,
	EMU_ON_WQE_FETCH,
	EMU_ON_CQE_WRITE,
	EMU_ON_EQE_WRITE,
	EMU_ON_WIRE_RX,
	EMU_ON_WIRE_TX,
	EMU_ON_RX_DELIVER,
	EMU_ON_DMA_READ,
	EMU_ON_CLOCK_PAGE,
	EMU_ON_CLOCK_VALUE,
	EMU_ON_COUNTER_READ,
	EMU_ON_EVENT_FD,
	EMU_ON_IOCTL,
	EMU_ON_IOCTL_OUT,
	EMU_ON_IOCTL_EXIT,
	EMU_ON_OPEN,
	EMU_ON_MMAP,
	EMU_ON_PCI_READ,
	EMU_ON_PCI_WRITE,
	EMU_ON_SYSFS_WRITE,
	EMU_ON_ALLOC,
	EMU_FAULT_KINDS,
};

/** One bit per kind of event: there is a rule that can still hit; there is such a set rule. */
extern uint32_t emu_fault_armed EMU_OWN, emu_fault_sets EMU_OWN;

/** All that an event costs while there is no rule for it. */
static inline bool
emu_fault_at(enum emu_fault_kind kind)
{
	return __builtin_expect((emu_fault_armed >> kind & 1) != 0, 0);
}

/** The same for rules with the action set. */
static inline bool
emu_fault_set_at(enum emu_fault_kind kind)
{
	return __builtin_expect((emu_fault_sets >> kind & 1) != 0, 0);
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
	EMU_ACT_FCS,
	EMU_ACT_DISCARD,
	EMU_ACT_TEAR,
	EMU_ACT_FLIP,
	EMU_ACT_FREEZE,
	EMU_ACT_JUMP,
	EMU_ACT_LINK,
	EMU_ACT_REMOVE,
	EMU_ACT_FATAL,
};

/** off=last of a set rule. */
#define EMU_FAULT_OFF_LAST UINT32_MAX

/** An action with its arguments; those that it does not have are 0. */
struct emu_fault_action {
	enum emu_fault_act act;
	int err;	   /**< fail, set errno=: positive; of set 0: success. */
	uint8_t status;	   /**< fail status= */
	uint32_t syndrome; /**< fail; error: of a CQE; fatal: of the health buffer. */
	uint8_t vendor;	   /**< error vendor= */
	uint32_t off, xor_bits, len;
	uint64_t us;
	int64_t ns;
	bool has_value; /**< set: value= or errno= was given; else the lowest bit is flipped. */
	uint64_t value; /**< set value= */
	char *text;	/**< set value= of a file in /sys. */
	char *field;	/**< set field= of a command: PRM path or the end of it. */
	const struct prm_member *member; /**< set field= of a CQE or EQE. */
	unsigned hi, lo; /**< set bits=: of the little-endian number at off. */
	uint8_t *bytes;	 /**< replace file=: its content, len bytes. */
	bool up;	 /**< link state= */
	uint64_t ms;
	int port; /**< link, remove, fatal: -1: the port of the event. */
};

/** An event; fields that its kind does not have are 0 or NULL. */
struct emu_fault_event {
	enum emu_fault_kind kind;
	struct emu_dev *dev;
	const struct emu_sq *sq;
	const struct emu_rq *rq;
	const struct emu_cq *cq;
	uint32_t opcode;  /**< Command; WQE; CQE. */
	uint32_t type;	  /**< Event type of an EQE. */
	uint32_t len;	  /**< Frame, bytes. */
	uint16_t attr;	  /**< ioctl.out: id of the attribute. */
	bool refused;	  /**< cmd.exit: the reply has a status other than OK. */
	const char *name; /**< Command, method, file or value; in the log instead of a number. */
};

/** Adds a rule. 0; -EINVAL with one line in err that names the wrong word; -ENOMEM; -errno of a file. */
int emu_fault_add(const char *rule, char *err, size_t err_len);
/** Adds the rules of a file, one per line; '#' begins a comment. Returns as emu_fault_add(). */
int emu_fault_add_file(const char *path, char *err, size_t err_len);
/** Called when a rule for allocations is added, if set: they are not watched without one. */
extern void (*emu_fault_alloc_hook)(void);
/** Removes all rules; counts and log stay. */
void emu_fault_clear(void);
/** Seeds chance=: the same seed and the same events give the same hits. */
void emu_fault_seed(uint64_t seed);

/**
 * The first rule other than set that hits the event; NULL: none does. The actions link, remove and fatal are
 * done here and the search goes on. Lock held; call it if emu_fault_at() is true.
 */
const struct emu_fault_action *emu_fault_hit(const struct emu_fault_event *e);
/** cmd.entry. True: refuse the command with *status and *syndrome. dev may be NULL. Lock held. */
bool emu_fault_command(struct emu_dev *dev, uint16_t opcode, uint8_t *status, uint32_t *syndrome);
/** 0, or the negative errno of a fail rule that hits. Lock held. */
int emu_fault_errno(enum emu_fault_kind kind, struct emu_dev *dev, const char *name);
/** Sum of the command delays that hit since the last call, in microseconds; sleep without the lock. */
uint64_t emu_fault_delay_take(void);

/*
 * Set rules: each function applies all that hit the event, in their order. Call it if
 * emu_fault_set_at() is true. Without value= the lowest bit of the value is flipped. Lock held.
 */

/** cmd.exit: changes fields of the reply. in_len, out_len: bytes. */
void emu_fault_set_reply(const struct emu_fault_event *e, const void *in, size_t in_len, void *out,
			 size_t out_len);
/**
 * cqe.write: changes a CQE. cqe: its first 56 bytes; *last: the other 8 as a number in host order,
 * which the caller stores at once because they hold the owner bit.
 */
void emu_fault_set_cqe(struct emu_fault_event *e, void *cqe, uint64_t *last);
/** eqe.write: changes an EQE of 64 bytes. */
void emu_fault_set_eqe(const struct emu_fault_event *e, void *eqe);
/** rx.deliver, dma.read: changes bytes by offset. data: e->len bytes. */
void emu_fault_set_bytes(const struct emu_fault_event *e, uint8_t *data);
/** As emu_fault_set_bytes() in a copy of len bytes, which stays valid for the next 255 calls. */
void *emu_fault_set_copy(struct emu_fault_event *e, void *data, uint64_t len);
/** clock.value, counter.read, pci.read: the value to report instead. */
uint64_t emu_fault_set_value(const struct emu_fault_event *e, uint64_t value);
/** ioctl.out: changes len bytes that a call returns. */
void emu_fault_set_out(const struct emu_fault_event *e, void *data, size_t len);
/** ioctl.exit: what to return instead of ret, 0 or negative errno. */
int emu_fault_set_errno(const struct emu_fault_event *e, int ret);
/** sysfs.write: changes the content of the file e->name. len: size of text. */
void emu_fault_set_file(const struct emu_fault_event *e, char *text, size_t len);

/** Counts of the process: commands, kernel calls, hits of all rules. */
uint64_t emu_fault_commands(void);
uint64_t emu_fault_ioctls(void);
uint64_t emu_fault_hits(void);
/** The i-th line of the log, `fault 1: port 0 CREATE_SQ: RULE`; NULL after the last. */
const char *emu_fault_log(unsigned i);

/** Statistics of a rule. */
struct emu_fault_info {
	const char *text; /**< As it was added. */
	uint64_t seen, hits;
	const char *last; /**< Name of the last event that it hit: a command, a call; "". */
};
/** The i-th rule; false after the last. */
bool emu_fault_info(unsigned i, struct emu_fault_info *info);

/**
 * Prints the events with their keys and actions; with an event the names that `set` and `match` can use
 * there, if they begin with prefix (NULL: all). Returns the number of lines.
 */
unsigned emu_fault_list(const char *event, const char *prefix);

#endif /* EMU_FAULT_H */
