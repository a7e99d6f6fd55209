/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * For people who look at a device: which firmware objects there are, commands that only ask, and what
 * refusals mean. Nothing here logs; all of it may be called from any thread while the device is open.
 */
#ifndef MDV_DEVX_H
#define MDV_DEVX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mdv_dev;

/* ------------------------------------------------------------------ objects */

/** One object that mdv_obj_create() made and nobody destroyed yet. */
struct mdv_obj_info {
	const char *type;	/**< "CQ", "TIR": the create command's name without its verb. */
	uint32_t id;
	uint16_t create_opcode;
};

/**
 * Lists the objects of a device, newest first: those of the create engine, not the kernel's (its PD,
 * doorbell pages and memory keys) and not rules.
 *
 * @param[out] info
 *   Room for n; the newest n are filled in.
 * @return
 *   How many objects there are, which may be more than n.
 */
__rte_internal
unsigned int mdv_objects_get(struct mdv_dev *dev, struct mdv_obj_info *info, unsigned int n);

/* ------------------------------------------------------------------ commands that only ask */

#define MDV_REQUEST_IN_BYTES 1024
#define MDV_REQUEST_OUT_BYTES 5120
#define MDV_REFUSED_BYTES 48

/** A command and its answer, as the PRM lays them out (big-endian). */
struct mdv_request {
	const char *name;	/**< "QUERY_HCA_CAP" */
	uint16_t opcode;
	uint32_t in[MDV_REQUEST_IN_BYTES / 4], out[MDV_REQUEST_OUT_BYTES / 4];
	size_t in_bytes, out_bytes;
	/** Of -EPERM: the field that changes something, or may; empty: the command as such. */
	char refused[MDV_REFUSED_BYTES];
	/* Filled in by mdv_request_run(): */
	uint8_t status;		/**< Of the firmware. */
	uint32_t syndrome;
};

/**
 * Makes the inbox of a command.
 *
 * @param command
 *   Name as in the PRM, in any case, or number ("0x100"). Must be one that changes nothing: QUERY_*, NOP,
 *   or ACCESS_REGISTER(_USER) that reads, each by a list of those that are known to.
 * @param rest
 *   The inbox from its second word on (bytes 4 and 5 reserved, 6 and 7 op_mod, then as the command says);
 *   zeros follow. May be NULL with 0 bytes.
 * @param[out] q
 *   The question.
 * @return
 *   0; -ENOENT no such command; -EMSGSIZE rest is longer than MDV_REQUEST_IN_BYTES allows or than the
 *   command; -EPERM it changes something, or may, and q->refused says by what: a counter that is cleared as
 *   it is read, a snapshot that is taken, bits of no known field. No rte_errno.
 */
__rte_internal
int mdv_request_make(const char *command, const uint8_t *rest, size_t rest_bytes,
		      struct mdv_request *q);

/**
 * Asks. A question about an object needs one of this device's own (mdv_objects_get()), others go as
 * general commands, of which the kernel lets pass a list of its own.
 *
 * @return
 *   0; -EPERM as mdv_request_make(); -ENOENT the object is none of ours; or as mdv_cmd(). Where firmware
 *   refused, q->status is not 0 (PRM status OK). Not counted as a refusal. No rte_errno to look at.
 */
__rte_internal
int mdv_request_run(struct mdv_dev *dev, struct mdv_request *q);

/** QUERY_HCA_CAP of a page by its name ("GENERAL", in any case): the current values. -ENOENT no such page. */
__rte_internal
int mdv_request_caps(const char *page, struct mdv_request *q);
/** Name of the i-th page of capabilities; NULL behind the last. */
__rte_internal
const char *mdv_caps_page_name(unsigned int i);

/** One field of an answer; path as "capability.log_max_cq", name of the value where it has one, or NULL. */
typedef void (*mdv_field_cb)(void *arg, const char *path, uint64_t value, const char *name);
/** Calls for each field of the answer that is not 0. */
__rte_internal
void mdv_reply_fields(const struct mdv_request *q, mdv_field_cb cb, void *arg);

/* ------------------------------------------------------------------ refusals */

/** What is known of a refusal; all strings are constants. */
struct mdv_explanation {
	const char *name;	/**< Of the status: "BAD_RES_STATE"; "UNKNOWN". */
	const char *errno_name;	/**< "EINVAL": what this layer gives for it; "0" for OK. */
	const char *meaning;	/**< One sentence. */
	const char *syndrome;	/**< One sentence on firmware's own reason. */
};

__rte_internal
void mdv_explain(uint8_t status, uint32_t syndrome, struct mdv_explanation *e);
/** The status of a name ("BAD_RES_STATE", in any case). -ENOENT there is none. */
__rte_internal
int mdv_status_find(const char *name, uint8_t *status);
/** The same of an error completion's syndrome, mdv_syndrome_name(): what it means, or that it is unknown. */
__rte_internal
const char *mdv_syndrome_meaning(uint8_t syndrome);

#ifdef __cplusplus
}
#endif
#endif /* MDV_DEVX_H */
