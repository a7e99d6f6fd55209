/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Inspection of a device by a user: its firmware objects, commands that only read, and explanations
 * of refused commands and error completions.
 *
 * Nothing here logs or sets rte_errno. All functions may be called from any thread while the device
 * is open.
 */
#ifndef MDV_INSPECT_H
#define MDV_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

struct mdv_dev;

/* ------------------------------------------------------------------ objects */

/** An object that mdv_obj_create() created and that still exists. */
struct mdv_obj_info {
	const char *type;	/**< "CQ", "TIR": the create command's name without its verb. */
	uint32_t id;
	uint16_t create_opcode;
};

/**
 * Lists the objects of a device, newest first. Objects that rdma-core or the kernel created (PD, UARs,
 * memory keys) and steering rules are not listed.
 *
 * @param[out] info
 *   Array of n elements; receives the newest n objects.
 * @return
 *   Number of objects, which may be larger than n.
 */
__rte_internal
unsigned int mdv_objects_get(struct mdv_dev *dev, struct mdv_obj_info *info, unsigned int n);

/* ------------------------------------------------------------------ requests */

#define MDV_REQUEST_IN_BYTES 1024
#define MDV_REQUEST_OUT_BYTES 5120
#define MDV_REFUSED_BYTES 48

/** A command that only reads, and its reply; both big-endian, as the PRM lays them out. */
struct mdv_request {
	const char *name;	/**< "QUERY_HCA_CAP" */
	uint16_t opcode;
	uint32_t in[MDV_REQUEST_IN_BYTES / 4], out[MDV_REQUEST_OUT_BYTES / 4];
	size_t in_bytes, out_bytes;
	/** With -EPERM: the field that may change something; empty: the command or register itself. */
	char refused[MDV_REFUSED_BYTES];
	/* Set by mdv_request_run(): */
	uint8_t status;		/**< PRM command status. */
	uint32_t syndrome;
};

/**
 * Builds the inbox of a command that only reads: QUERY_*, NOP, or ACCESS_REGISTER(_USER) in read mode.
 *
 * A command, register or field is accepted only if it is listed as one that changes nothing. A
 * counter that is cleared when read, a snapshot, and bits that belong to no known field are refused.
 *
 * @param command
 *   PRM name in upper or lower case, or opcode ("0x100").
 * @param rest
 *   Inbox from byte 4 on (bytes 4 and 5 reserved, 6 and 7 op_mod, then as the command defines); the
 *   remainder is zero. May be NULL with 0 bytes.
 * @param[out] req
 *   The request.
 * @return
 *   0; -ENOENT unknown command; -EMSGSIZE rest is longer than the command or MDV_REQUEST_IN_BYTES;
 *   -EPERM the request may change something, see req->refused.
 */
__rte_internal
int mdv_request_make(const char *command, const uint8_t *rest, size_t rest_bytes,
		     struct mdv_request *req);

/**
 * Runs a request. A query of an object works for objects of mdv_objects_get() only. Other commands
 * run as general commands, of which the kernel allows a subset (mlx5_ib, devx_is_general_cmd()).
 *
 * @return
 *   0; -EPERM as mdv_request_make(); -ENOENT this device has no such object; or as mdv_cmd(). If the
 *   firmware refused the command, req->status is not 0. Refusals are not counted in dev->refused.
 */
__rte_internal
int mdv_request_run(struct mdv_dev *dev, struct mdv_request *req);

/**
 * Builds QUERY_HCA_CAP for the current values of a capability page.
 *
 * @param page
 *   Name of the page ("GENERAL"), in upper or lower case.
 * @return
 *   0; -ENOENT unknown page.
 */
__rte_internal
int mdv_request_caps(const char *page, struct mdv_request *req);

/** Name of the i-th capability page; NULL beyond the last. */
__rte_internal
const char *mdv_caps_page_name(unsigned int i);

/**
 * One field of a reply.
 *
 * @param path
 *   Field path, such as "capability.log_max_cq".
 * @param name
 *   Name of the value if the layout defines one, else NULL.
 */
typedef void (*mdv_field_cb)(void *arg, const char *path, uint64_t value, const char *name);

/** Calls cb for each field of the reply that is not 0. */
__rte_internal
void mdv_reply_fields(const struct mdv_request *req, mdv_field_cb cb, void *arg);

/* ------------------------------------------------------------------ explanations */

/** Explanation of a refused command; all strings are constants. */
struct mdv_explanation {
	const char *name;	/**< Of the status: "BAD_RES_STATE", or "UNKNOWN". */
	const char *errno_name;	/**< The errno that this layer returns for it: "EINVAL"; "0" for OK. */
	const char *meaning;	/**< One sentence. */
	const char *syndrome;	/**< One sentence on the syndrome. */
};

/** Explains status and syndrome of a command. */
__rte_internal
void mdv_explain(uint8_t status, uint32_t syndrome, struct mdv_explanation *e);

/** Finds a status by its name ("BAD_RES_STATE", in upper or lower case). 0; -ENOENT. */
__rte_internal
int mdv_status_find(const char *name, uint8_t *status);

/** Meaning of the syndrome of an error completion, or that it is unknown. */
__rte_internal
const char *mdv_syndrome_meaning(uint8_t syndrome);

#endif /* MDV_INSPECT_H */
