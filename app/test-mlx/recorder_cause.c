/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * What happened, by the records of a file: the cause, why it is likely, what to do.
 *
 * A device that failed or was removed, and a queue that was given up, are the cause whatever else happened. Otherwise
 * it is the last incident: of the failures within a second before the last one, the gravest, and of equal ones the
 * first.
 */

#include <inttypes.h>
#include <string.h>

#include <mdv_inspect.h>

#include "recorder.h"

#define INCIDENT_NS UINT64_C(1000000000)
/* A command that took so long, which no busy host explains: the longest time that a record has. */
#define SLOW_NS UINT32_MAX

/** Gravity of a failure. */
enum gravity { NOTHING, SLOW, DROPS, CLOCK, LINK_DOWN, MINOR_LAST = LINK_DOWN, STEP_FAILED, CALL_FAILED, QUEUE_ERROR,
	       REFUSED, INCIDENT_LAST = REFUSED, GIVEN_UP, REMOVED, FATAL };

/** What is printed about a cause. */
struct advice {
	const char *id, *likely, *todo;
};

static const struct advice advice[] = {
	[NOTHING] = { "none", "nothing that the recorder notes has failed",
		      "compare the counters of the port (xstats, /mlxpmd/stats) with what is missing" },
	[DROPS] = { "drops", "the application does not receive fast enough, its mempool is too small, or it sends what "
		    "cannot be sent", "imissed: more queues or cores, larger rings; rx_nombuf: more mbufs; oerrors: see "
		    "tx_q*_dropped and the log" },
	[LINK_DOWN] = { "link", "cable, transceiver, or the other side; or `ip link set ... down`",
			"ethtool -m and the log of the other side; a link that goes up again needs nothing" },
	[CLOCK] = { "clock", "the source of timestamps stopped: the kernel's clock page is not updated, or the clock "
		    "steps too often", "/mlxpmd/clock, and the programs that set the card's PTP clock (ptp4l, phc2sys)" },
	[SLOW] = { "slow", "the firmware was busy, or waited for another command",
		   "watch whether it happens again; if so, report command and firmware version to the vendor's support" },
	[CALL_FAILED] = { "call", "the kernel refused a call of rdma-core: limits of the process, or of the card",
			  "ENOMEM: ulimit -l and free hugepages; EPERM: the capabilities of the process; else dmesg" },
	[STEP_FAILED] = { "step", "the configuration is not possible, or memory is short: the line in the log at this "
			  "time has the reason", "read the log of the application at this time" },
	[QUEUE_ERROR] = { "queue", NULL, NULL },
	[REFUSED] = { "refused", "see status and syndrome: a limit of the card is reached, or the configuration needs what "
		      "this firmware does not have", "dpdk-test-mlx devx caps shows the limits, devx objects what is in use; "
		      "the vendor's support can interpret a syndrome that is not published" },
	[GIVEN_UP] = { "queue-given-up", NULL, NULL },
	[REMOVED] = { "removed", "the PCI function was unplugged, its driver was unbound, or another program reset the card; "
		      "after a failure of the device the kernel returns ENXIO or ENOLINK",
		      "dmesg (pciehp, AER, mlx5_core) and the log of what manages devices at this time; close the port, "
		      "and attach the device again when it is back" },
	[FATAL] = { "firmware", NULL, NULL },
};

static const struct advice fatal_advice[] = {
	[MDV_FATAL_KERNEL] = { NULL, "the firmware or the hardware failed; the kernel resets the device",
		"dmesg (mlx5_core: health) has the health syndrome; keep the registers (dpdk-test-mlx fwdump get DEVICE, "
		"devlink health dump show); restart the application when the device is back; if it happens again, update "
		"the firmware" },
	[MDV_FATAL_NO_RESPONSE] = { "no-response", "the card was unplugged, lost power, or its PCI link failed",
		"dmesg (pciehp, AER) and the slot; a reset of the slot or of the host" },
	[MDV_FATAL_HEALTH_BUFFER] = { NULL, "the firmware does not run: the card is being reset, or failed",
		"wait for the end of a reset (mlxfwreset), else reset the slot" },
	[MDV_FATAL_EQ_OVERRUN] = { NULL, "the firmware wrote more events than its queue holds",
		"reset the function and start again; if it happens again, report it with this file" },
	[MDV_FATAL_FIRMWARE] = { NULL, "the firmware or the hardware failed; the health syndrome names the part",
		"keep the registers (dpdk-test-mlx fwdump get DEVICE) for the vendor's support, reset the function "
		"(echo 1 > /sys/bus/pci/devices/DEVICE/reset), start again; if it happens again, update the firmware; "
		"HIGH_TEMP: cooling" },
	[MDV_FATAL_DISABLED] = { NULL, "another program or the host's management reset the card (mlxfwreset)",
		"wait for the end of the reset, and start again" },
	[MDV_FATAL_STALLED] = { "health-stalled", "the firmware hangs", "as for a fatal firmware error: keep the registers, "
		"reset the function; update the firmware if it happens again" },
	[MDV_FATAL_TIMEOUT] = { "timeout", "the firmware does not complete commands any more: it hangs",
		"as for a fatal firmware error: keep the registers, reset the function; report the command" },
};

/** Of a queue, by cause; of error completions by syndrome. */
static const struct {
	uint8_t cause, syndrome;
	const char *likely, *todo;
} queue_advice[] = {
	{ MDV_CAUSE_ERROR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
	  "a packet is longer than the buffers of its WQE, or a WQE gives a wrong length",
	  "compare the MTU with the size of the mbufs" },
	{ MDV_CAUSE_ERROR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
	  "the device cannot execute a WQE: offload flags or lengths of an mbuf are wrong (l2_len, l3_len, tso_segsz)", "call rte_eth_tx_prepare() before bursts, and check the mbufs "
	  "that are sent; if they are right, report it with this file" },
	{ MDV_CAUSE_ERROR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, "the device was given an address that its memory key does not "
	  "cover: memory of mbufs was freed, or external buffers were not registered (rte_dev_dma_map())",
	  "check that mempools and external buffers live as long as packets are sent from them" },
	{ MDV_CAUSE_ERROR, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR, "as for LOCAL_PROT_ERR: memory that the device may not "
	  "access", "check that mempools and external buffers live as long as the device uses them" },
	{ MDV_CAUSE_ERROR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, "the queue was in error already: what put it there came before",
	  "look at the records before; a command of another program may have changed the queue" },
	{ MDV_CAUSE_ERROR, 0, "the device stopped the queue: see the syndrome",
	  "report it with this file, and the vendor syndrome to the vendor's support" },
	{ MDV_CAUSE_BAD, 0, "a completion made no sense: memory of the completion queue was overwritten, or the device is "
	  "faulty", "look for writes beyond buffers in the application (build it with AddressSanitizer); if there are none, "
	  "test the card" },
	{ MDV_CAUSE_LOST, 0, "a completion is missing before one that came: the device did not write it, or it was "
	  "overwritten", "as for invalid completions" },
	{ MDV_CAUSE_STALL, 0, "the device did not complete what was sent: pause frames of the other side, a link that is "
	  "down, or a doorbell that did not arrive", "ethtool -S (rx_pause), link state; ethtool -A ... rx off" },
};

static enum gravity
gravity_of(const struct recorder *r, const struct mdv_record *rec)
{
	static const uint8_t by_kind[MDV_RECORD_KINDS] = {
		[MDV_RECORD_COMMAND] = REFUSED, [MDV_RECORD_COMMAND_ERRNO] = REFUSED, [MDV_RECORD_CALL] = CALL_FAILED,
		[MDV_RECORD_FATAL] = FATAL, [MDV_RECORD_REMOVED] = REMOVED, [MDV_RECORD_LINK] = LINK_DOWN,
		[MDV_RECORD_EVENT] = LINK_DOWN,
		[MDV_RECORD_PORT] = STEP_FAILED, [MDV_RECORD_QUEUE] = STEP_FAILED,
		[MDV_RECORD_QUEUE_ERROR] = QUEUE_ERROR, [MDV_RECORD_REPAIR] = QUEUE_ERROR,
		[MDV_RECORD_DROPS] = DROPS, [MDV_RECORD_CLOCK] = CLOCK,
	};

	if (!recorder_is_failure(r, rec))
		return rec->kind == MDV_RECORD_COMMAND && rec->duration_ns == SLOW_NS ? SLOW : NOTHING;
	if (rec->kind == MDV_RECORD_REPAIR && rec->op == MDV_REPAIR_GIVEN_UP)
		return GIVEN_UP;
	/* Of a failure or removal: the driver records which. */
	if (rec->kind == MDV_RECORD_EVENT && rec->value != MDV_EVENT_PORT_DOWN)
		return NOTHING;
	return rec->kind < RTE_DIM(by_kind) ? (enum gravity)by_kind[rec->kind] : NOTHING;
}

/* The gravest record of indices i to last, last included, within limits of gravity; the first of equal ones. */
static const struct mdv_record *
gravest(const struct recorder *r, unsigned int i, unsigned int last, enum gravity min, enum gravity max)
{
	const struct mdv_record *found = NULL;
	enum gravity g, best = NOTHING;

	for (; i <= last && i < r->n; i++) {
		g = gravity_of(r, &r->records[i]);
		if (g >= min && g <= max && g > best) {
			best = g;
			found = &r->records[i];
		}
	}
	return found;
}

static const struct mdv_record *
cause_record(const struct recorder *r)
{
	const struct mdv_record *found = gravest(r, 0, r->n, GIVEN_UP, FATAL);
	unsigned int last = r->n, first;

	if (found != NULL)
		return found;
	while (last > 0 && (gravity_of(r, &r->records[last - 1]) <= MINOR_LAST))
		last--;
	if (last == 0)
		return gravest(r, 0, r->n, SLOW, MINOR_LAST);
	for (first = last - 1; first > 0; first--)
		if (r->records[last - 1].time_ns - r->records[first - 1].time_ns > INCIDENT_NS)
			break;
	return gravest(r, first, last - 1, STEP_FAILED, INCIDENT_LAST);
}

/* The last error of the queue up to a record of it; that record if there is none. */
static const struct mdv_record *
queue_error_of(const struct recorder *r, const struct mdv_record *rec)
{
	const struct mdv_record *found = rec;

	for (const struct mdv_record *q = r->records; q <= rec; q++)
		if (q->kind == MDV_RECORD_QUEUE_ERROR && recorder_same_queue(q, rec))
			found = q;
	return found;
}

/* What became of the queue after an error: its next repair, unless it failed again before. */
static void
outcome(const struct recorder *r, const struct mdv_record *error, char *text, size_t size)
{
	const struct mdv_record *rec = error + 1;

	while (rec < &r->records[r->n] && !(recorder_same_queue(rec, error) && (rec->kind == MDV_RECORD_REPAIR ||
										rec->kind == MDV_RECORD_QUEUE_ERROR)))
		rec++;
	if (rec == &r->records[r->n] || rec->kind != MDV_RECORD_REPAIR)
		snprintf(text, size, "the queue was to be repaired");
	else if (rec->op == MDV_REPAIR_DONE)
		snprintf(text, size, "the queue was repaired, %" PRIu32 " packets were lost", rec->value);
	else
		snprintf(text, size, "its repair failed");
}

static void
queue_cause(const struct recorder *r, struct recorder_cause *cause)
{
	const struct mdv_record *error = queue_error_of(r, cause->at);
	char text[320], became[64];
	unsigned int i;

	recorder_describe(r, error, false, text, sizeof(text));
	if (gravity_of(r, cause->at) == GIVEN_UP) {
		snprintf(cause->what, sizeof(cause->what), "%s; it was given up at the fifth failure in ten seconds "
			 "since its start: rte_eth_dev_%s_queue_stop() and _start() try again", text,
			 error->flags & MDV_RECORD_TX ? "tx" : "rx");
	} else {
		outcome(r, error, became, sizeof(became));
		snprintf(cause->what, sizeof(cause->what), "%s; %s", text, became);
	}
	cause->at = error;
	for (i = 0; i < RTE_DIM(queue_advice) - 1; i++)
		if (queue_advice[i].cause == error->op && (queue_advice[i].syndrome == 0 ||
							   queue_advice[i].syndrome == error->status))
			break;
	cause->likely = queue_advice[i].likely;
	cause->todo = queue_advice[i].todo;
}

void
recorder_cause_find(const struct recorder *r, struct recorder_cause *cause)
{
	enum gravity g;

	memset(cause, 0, sizeof(*cause));
	cause->at = cause_record(r);
	g = cause->at != NULL ? gravity_of(r, cause->at) : NOTHING;
	cause->id = advice[g].id;
	cause->likely = advice[g].likely;
	cause->todo = advice[g].todo;
	if (g == NOTHING)
		snprintf(cause->what, sizeof(cause->what), "no failure is recorded");
	else if (g == GIVEN_UP || cause->at->kind == MDV_RECORD_QUEUE_ERROR || cause->at->kind == MDV_RECORD_REPAIR)
		queue_cause(r, cause);
	else
		recorder_describe(r, cause->at, false, cause->what, sizeof(cause->what));
	if (g == FATAL) {
		const unsigned int why = cause->at->op < RTE_DIM(fatal_advice) && cause->at->op != 0 ? cause->at->op :
					 MDV_FATAL_FIRMWARE;

		if (fatal_advice[why].id != NULL)
			cause->id = fatal_advice[why].id;
		cause->likely = fatal_advice[why].likely;
		cause->todo = fatal_advice[why].todo;
	}
	recorder_command_find(r, cause);
}
