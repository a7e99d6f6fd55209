/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * The flight recorder: the last commands, failed calls, events and changes of state of a device, in a ring of fixed
 * size, and the file that it is written to.
 *
 * The ring is in memory that processes share. Any thread of any process may add a record at any time: no lock is taken,
 * and a process that is killed while it writes leaves one record that readers skip. Bursts add none.
 *
 * The records have three lanes, so that what is frequent does not displace what is rare.
 */
#ifndef MDV_RECORDER_H
#define MDV_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <rte_compat.h>

#include "mdv.h"

/** What a record is about. The numbers are in files: they are never changed. */
enum mdv_record_kind {
	/** Firmware command. op: opcode; arg: op_mod; object: its number or 0; status; value: syndrome; duration. */
	MDV_RECORD_COMMAND = 1,
	/** Command that failed without a status of the device. As COMMAND, but value: errno. */
	MDV_RECORD_COMMAND_ERRNO,
	/** Call of rdma-core that failed. op: index of mdv_call_name(); value: errno. */
	MDV_RECORD_CALL,
	/**
	 * Event. op: IBV_EVENT_* (verbs) or PRM event type (VFIO); object: port number of a port event; value: enum
	 * mdv_record_event.
	 */
	MDV_RECORD_EVENT,
	MDV_RECORD_FATAL,	/**< The device failed. op: enum mdv_fatal; value: health syndrome or 0. */
	MDV_RECORD_REMOVED,	/**< The device is no longer used; nothing else. */
	MDV_RECORD_QUIESCED,	/**< It does no DMA any more (op 1), or may do permanently (op 0). */
	MDV_RECORD_LINK,	/**< op: 1 up, 0 down; value: Mb/s, 0 unknown. */
	/** Call of the application. op: enum mdv_record_port; value: errno; duration. */
	MDV_RECORD_PORT,
	/** Queue. op: enum mdv_record_queue; arg: queue id; object: rqn or sqn; value: errno; completions. */
	MDV_RECORD_QUEUE,
	/**
	 * Error of a queue. op: enum mdv_record_cause; arg, object as before; status: syndrome of an error completion;
	 * value: its vendor syndrome; completions.
	 */
	MDV_RECORD_QUEUE_ERROR,
	/** Repair of a queue. op: enum mdv_record_repair; arg, object; value: errno, or packets lost; duration. */
	MDV_RECORD_REPAIR,
	/** Secondary process. op: 1 attached, 0 left; object: process id. */
	MDV_RECORD_SECONDARY,
	/** Packets lost since the previous record of that op. op: enum mdv_record_drops; value: number, saturated. */
	MDV_RECORD_DROPS,
	/** Clock. op: 1 timestamps are back, 0 absent. value: errno. */
	MDV_RECORD_CLOCK,
	MDV_RECORD_KINDS
};

enum mdv_record_event { MDV_EVENT_OTHER, MDV_EVENT_PORT_UP, MDV_EVENT_PORT_DOWN };
enum mdv_record_port { MDV_PORT_PROBE, MDV_PORT_CONFIGURE, MDV_PORT_START, MDV_PORT_STOP, MDV_PORT_CLOSE };
enum mdv_record_queue { MDV_QUEUE_START, MDV_QUEUE_STOP };
/** As enum mlxpmd_qcause. */
enum mdv_record_cause { MDV_CAUSE_NONE, MDV_CAUSE_ERROR, MDV_CAUSE_BAD, MDV_CAUSE_LOST, MDV_CAUSE_STALL,
			MDV_CAUSE_FORMAT };
enum mdv_record_repair { MDV_REPAIR_DONE, MDV_REPAIR_FAILED, MDV_REPAIR_GIVEN_UP };
enum mdv_record_drops { MDV_DROPS_MISSED, MDV_DROPS_NOMBUF, MDV_DROPS_RX_ERRORS, MDV_DROPS_TX, MDV_NB_DROPS };

/** Why a device is taken as failed. */
enum mdv_fatal {
	MDV_FATAL_NONE,
	MDV_FATAL_KERNEL,	/**< The kernel has reported a fatal error. */
	MDV_FATAL_NO_RESPONSE,
	MDV_FATAL_HEALTH_BUFFER,
	MDV_FATAL_EQ_OVERRUN,
	MDV_FATAL_FIRMWARE,
	MDV_FATAL_DISABLED,
	MDV_FATAL_STALLED,
	MDV_FATAL_TIMEOUT,
};

#define MDV_RECORD_QUIET 1	/**< A refusal that was expected, as of a probe for a feature. */
#define MDV_RECORD_TX 2		/**< The queue is a send queue. */

/** One record; in host byte order. Written and read as four words. */
struct mdv_record {
	uint64_t time_ns;	/**< CLOCK_MONOTONIC. */
	uint32_t number;	/**< Of the record in its lane, from 1 on; 0: incomplete. Set by mdv_record(). */
	uint8_t kind;		/**< enum mdv_record_kind. */
	uint8_t flags;
	uint16_t op;
	uint32_t object;
	uint32_t value;
	union {
		uint32_t duration_ns;	/**< UINT32_MAX: that or more. */
		/** QUEUE, QUEUE_ERROR: good ones since the start or last repair of the queue, modulo 2^32. */
		uint32_t completions;
	};
	uint16_t arg;
	uint8_t status;
	uint8_t spare;
};
#define MDV_RECORD_WORDS 4
static_assert(sizeof(struct mdv_record) == MDV_RECORD_WORDS * sizeof(uint64_t), "a record has four words");

/** Lanes: queries that succeeded; other commands that succeeded; all else. */
enum mdv_record_lane { MDV_LANE_QUERIES, MDV_LANE_COMMANDS, MDV_LANE_EVENTS, MDV_NB_LANES };
/** log2 of the records of a lane: 16 KiB in all. */
#define MDV_LOG_LANE { 7, 7, 8 }
#define MDV_RECORDS_MAX 512

struct mdv_recorder {
	uint32_t noted[MDV_NB_LANES];	/**< Records so far, modulo 2^32. Atomic. */
	uint64_t query_failed_ns;	/**< When a refused query was last noted with the events. Atomic. */
	uint64_t words[MDV_RECORDS_MAX][MDV_RECORD_WORDS]; /**< The lanes one after the other. */
};

/** CLOCK_MONOTONIC. */
static inline uint64_t
mdv_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint32_t
mdv_duration_ns(uint64_t begin_ns)
{
	uint64_t ns = mdv_now_ns() - begin_ns;

	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/**
 * Adds a record to a lane; sets its time if that is 0. No effect on a device without a recorder, nor while another
 * thread, which was interrupted, still writes the record that this one would replace. A process that is killed in there
 * leaves one place that is not used again.
 */
static inline void
mdv_record_lane(const struct mdv_dev *dev, enum mdv_record_lane lane, struct mdv_record r)
{
	static const uint8_t log_lane[MDV_NB_LANES] = MDV_LOG_LANE;
	struct mdv_recorder *rec = dev->recorder;
	const struct mdv_record writing = { .kind = UINT8_MAX };
	uint32_t first = 0, n;
	uint64_t from[MDV_RECORD_WORDS], busy[MDV_RECORD_WORDS], was, *to;

	if (rec == NULL)
		return;
	for (unsigned int i = 0; i < lane; i++)
		first += 1u << log_lane[i];
	n = __atomic_fetch_add(&rec->noted[lane], 1, __ATOMIC_RELAXED);
	r.number = n + 1;
	if (r.time_ns == 0)
		r.time_ns = mdv_now_ns();
	memcpy(from, &r, sizeof(from));
	to = rec->words[first + (n & ((1u << log_lane[lane]) - 1))];
	/* Word 1 has the number, which is 0 until all words are stored, and the kind, which is 0 in an unused place. */
	memcpy(busy, &writing, sizeof(busy));
	was = __atomic_load_n(&to[1], __ATOMIC_RELAXED);
	if (was == busy[1] ||
	    !__atomic_compare_exchange_n(&to[1], &was, busy[1], false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	/* Release: a reader that gets one of these words also sees that the previous record is incomplete. */
	__atomic_store_n(&to[0], from[0], __ATOMIC_RELEASE);
	__atomic_store_n(&to[2], from[2], __ATOMIC_RELEASE);
	__atomic_store_n(&to[3], from[3], __ATOMIC_RELEASE);
	__atomic_store_n(&to[1], from[1], __ATOMIC_RELEASE);
}

/** mdv_record(dev, .kind = ..., .op = ...): adds a record to the lane of events. */
#define MDV_RECORD(dev, ...) mdv_record_lane(dev, MDV_LANE_EVENTS, (struct mdv_record){ __VA_ARGS__ })

/* ------------------------------------------------------------------ the file */

#define MDV_RECORDER_MAGIC UINT64_C(0x3130434552584c4d) /* "MLXREC01" */
#define MDV_RECORDER_VERSION 2

/** Why a file was written. */
enum mdv_recorder_reason {
	MDV_RECORDER_REQUEST, MDV_RECORDER_DEVICE, MDV_RECORDER_QUEUE, MDV_RECORDER_PROBE, MDV_RECORDER_REASONS
};

/** Whose device it is, for the header of a file. */
struct mdv_recorder_owner {
	char driver[64];	/**< Name and release. */
	uint16_t port_id;	/**< Of ethdev. */
};

/** Header of a file, followed by its records in no particular order. In the byte order of the host that wrote it. */
struct mdv_recorder_head {
	uint64_t magic;
	uint32_t version;	/**< Of header and records; an unknown one cannot be read. */
	uint32_t records;
	uint64_t written_ns;	/**< Nanoseconds since 1970 UTC, */
	uint64_t written_monotonic_ns; /**< and CLOCK_MONOTONIC at that moment. */
	uint32_t noted[MDV_NB_LANES]; /**< Records of each lane since the device was opened. */
	uint32_t pid;		/**< Of the process that wrote it. */
	uint16_t reason;	/**< enum mdv_recorder_reason. */
	uint16_t port_id;	/**< Of ethdev. */
	uint8_t mode;		/**< enum mdv_open_mode. */
	uint8_t spare[3];
	char device[64], ibdev[64], netdev[16], firmware[64], driver[64]; /**< Each ended by 0. */
};
static_assert(sizeof(struct mdv_recorder_head) % sizeof(uint64_t) == 0, "records are aligned");

/** Bytes for the path of a file. */
#define MDV_RECORDER_PATH_BYTES 640
/** Files of a device that are kept in the folder. */
#define MDV_RECORDER_FILES 4

/**
 * Writes the recorder to a file, with mode 0600. May be called from any thread, also in a secondary process.
 *
 * @param path
 *   The file, which must not exist; links are not followed. NULL: one of the MDV_RECORDER_FILES files of this device in
 *   the folder of register dumps (mdv_fwdump.h), the oldest of which is replaced; recorder-DEVICE-NUMBER.
 * @param[out] written
 *   MDV_RECORDER_PATH_BYTES bytes: the path of the file.
 * @return
 *   0; -errno, logged: -EEXIST the file exists; -EACCES others may write to the folder; ...
 */
__rte_internal
int mdv_recorder_write(const struct mdv_dev *dev, enum mdv_recorder_reason reason,
		       const struct mdv_recorder_owner *owner, const char *path, char *written);

/**
 * The probe failed after rc: records it, and writes the recorder to its folder, if it has failures or events; logs the
 * path.
 */
__rte_internal
void mdv_recorder_probe_failed(const struct mdv_dev *dev, const struct mdv_recorder_owner *owner, int rc);

/* ------------------------------------------------------------------ names, for readers of files */

/** "CREATE_SQ"; "UNKNOWN". */
__rte_internal
const char *mdv_command_name(uint16_t opcode);
/** Does the command only read? */
__rte_internal
bool mdv_command_reads(uint16_t opcode, uint16_t op_mod);
/** "ibv_reg_mr", by MDV_RECORD_CALL's op; "a call" if the number is not known. */
__rte_internal
const char *mdv_call_name(uint16_t call);
__rte_internal
const char *mdv_fatal_name(enum mdv_fatal why);
/** "PORT_CHANGE", by the PRM's number; "unknown". */
__rte_internal
const char *mdv_event_name(uint16_t type);
/** Name of a health syndrome; "unknown". */
__rte_internal
const char *mdv_health_name(uint8_t syndrome);

#endif /* MDV_RECORDER_H */
