/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The audit: violations and objects left behind; writes the report. */
#include "emu_audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu_fault.h"
#include "emu_identity.h"
#include "emu_obj.h"

#define TEXTS_KEPT 16u
#define TEXT_BYTES 192u
#define LEFT_KINDS 64u
/* Two captures and an input for each port, and the trace. */
#define LOST_KEPT (3 * EMU_MAX_PORTS + 1)
#define LOST_BYTES (PATH_MAX + 256)

static const char *const kind_names[EMU_AUDIT_KINDS] = {
	[EMU_AUDIT_BAD_COMMAND] = "bad command",
	[EMU_AUDIT_BAD_STATE] = "bad state",
	[EMU_AUDIT_BAD_KEY] = "bad key",
	[EMU_AUDIT_BAD_WQE] = "bad WQE",
	[EMU_AUDIT_BAD_DOORBELL] = "bad doorbell",
	[EMU_AUDIT_CQ_OVERRUN] = "CQ overrun",
	[EMU_AUDIT_EQ_OVERRUN] = "EQ overrun",
	[EMU_AUDIT_BAD_CALL] = "bad call",
	[EMU_AUDIT_BAD_BUFFER] = "bad buffer",
	[EMU_AUDIT_LOST_MEMORY] = "lost memory",
	[EMU_AUDIT_IOMMU] = "iommu",
	[EMU_AUDIT_GIVEN_BACK] = "DMA to memory given back",
};

/** Objects left behind, of one type at one port. */
struct left_entry {
	unsigned port;
	char what[32];
	uint64_t count;
};

/* One audit per process, like the machine; guarded by the machine's lock. */
static struct {
	uint64_t count[EMU_AUDIT_KINDS];
	char text[EMU_AUDIT_KINDS][TEXTS_KEPT][TEXT_BYTES];
	struct left_entry left[LEFT_KINDS];
	unsigned left_used;
	uint64_t left_total;
} audit;

const char *
emu_audit_kind_name(enum emu_audit_kind kind)
{
	return (unsigned)kind < EMU_AUDIT_KINDS ? kind_names[kind] : "unknown";
}

void
emu_audit(struct emu_dev *dev, enum emu_audit_kind kind, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	int n = snprintf(text, sizeof(text), "port %u: ", dev->index);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (audit.count[kind] < TEXTS_KEPT)
		memcpy(audit.text[kind][audit.count[kind]], text, sizeof(text));
	if (audit.count[kind] < TEXTS_KEPT)
		emu_trace_note(dev, "violation: %s: %s", kind_names[kind], text + n);
	audit.count[kind]++;
}

uint64_t
emu_audit_total(void)
{
	uint64_t total = 0;

	for (unsigned k = 0; k < EMU_AUDIT_KINDS; k++)
		total += audit.count[k];
	return total;
}

uint64_t
emu_audit_count(enum emu_audit_kind kind)
{
	return (unsigned)kind < EMU_AUDIT_KINDS ? audit.count[kind] : 0;
}

uint64_t
emu_audit_left_total(void)
{
	return audit.left_total;
}

void
emu_audit_reset(void)
{
	memset(&audit, 0, sizeof(audit));
}

const char *
emu_audit_text(enum emu_audit_kind kind, unsigned i)
{
	if ((unsigned)kind >= EMU_AUDIT_KINDS || i >= TEXTS_KEPT || i >= audit.count[kind])
		return NULL;
	return audit.text[kind][i];
}

void
emu_audit_left(struct emu_dev *dev, const char *what, unsigned count)
{
	struct left_entry *e = audit.left;
	unsigned i;

	audit.left_total += count;
	for (i = 0; i < audit.left_used; i++)
		if (e[i].port == dev->index && strcmp(e[i].what, what) == 0)
			break;
	if (i == LEFT_KINDS)
		return;
	if (i == audit.left_used) {
		audit.left_used++;
		e[i].port = dev->index;
		snprintf(e[i].what, sizeof(e[i].what), "%s", what);
	}
	e[i].count += count;
}

#define STAT(f) {#f, offsetof(struct emu_port_stats, f)}

static const struct {
	const char *name;
	size_t offset;
} stat_rows[] = {
	STAT(tx_frames), STAT(tx_bytes), STAT(rx_frames), STAT(rx_bytes),
	STAT(tx_mcast_frames), STAT(tx_bcast_frames), STAT(rx_mcast_frames),
	STAT(rx_bcast_frames), STAT(tx_mcast_bytes), STAT(tx_bcast_bytes), STAT(rx_mcast_bytes),
	STAT(rx_bcast_bytes), STAT(rx_delivered_frames), STAT(rx_delivered_bytes),
	STAT(rx_lro_packets), STAT(rx_lro_segments),
	STAT(rx_out_of_buffer), STAT(rx_filtered), STAT(rx_kernel), STAT(rx_dropped_by_rule),
	STAT(rx_missed), STAT(rx_port_discards), STAT(rx_error_frames), STAT(rx_cqes_lost), STAT(rx_fcs_errors),
	STAT(rx_undersize), STAT(rx_oversize), STAT(rx_link_down), STAT(rx_wire_lost), STAT(rx_elsewhere),
	STAT(rx_vport_down), STAT(rx_pause_frames), STAT(tx_errors), STAT(tx_discards), STAT(tx_link_down),
	STAT(tx_vport_down), STAT(tx_oversize),
	STAT(tx_dropped_by_rule), STAT(tx_wire_lost), STAT(tx_spoofed), STAT(tx_unswitched),
	STAT(rx_errors), STAT(doorbells), STAT(late_doorbells), STAT(wqe_fetch_bytes), STAT(cqes), STAT(dma_reads),
	STAT(dma_read_bytes), STAT(dma_writes), STAT(dma_write_bytes),
};

const char *
emu_audit_stat_name(unsigned i)
{
	return i < sizeof(stat_rows) / sizeof(stat_rows[0]) ? stat_rows[i].name : NULL;
}

bool
emu_audit_stat(const struct emu_dev *dev, unsigned i, const char **name, uint64_t *value)
{
	*name = emu_audit_stat_name(i);
	if (*name == NULL)
		return false;
	memcpy(value, (const uint8_t *)&dev->stats + stat_rows[i].offset, sizeof(*value));
	if (emu_fault_set_at(EMU_ON_COUNTER_READ)) {
		const struct emu_fault_event e = {
			.kind = EMU_ON_COUNTER_READ, .dev = (struct emu_dev *)(uintptr_t)dev,
			.name = *name,
		};

		*value = emu_fault_set_value(&e, *value);
	}
	return true;
}

static void
report_stats(FILE *f, const struct emu_dev *dev)
{
	const char *name;
	uint64_t value;

	for (unsigned i = 0; emu_audit_stat(dev, i, &name, &value); i++)
		fprintf(f, "port %u %s %" PRIu64 "\n", dev->index, name, value);
}

/* Numbers of events that the fault rules saw, and each hit. */
static void
report_faults(FILE *f)
{
	struct emu_fault_info info;
	const char *line;

	fprintf(f, "fault_commands %" PRIu64 "\nfault_ioctls %" PRIu64 "\nfault_hits %" PRIu64 "\n",
		emu_fault_commands(), emu_fault_ioctls(), emu_fault_hits());
	for (unsigned i = 0; emu_fault_info(i, &info); i++)
		fprintf(f, "fault_rule seen %" PRIu64 ": %s\n", info.seen, info.text);
	for (unsigned i = 0; (line = emu_fault_log(i)) != NULL; i++)
		fprintf(f, "%s\n", line);
}

/* The lines of the ledger, kept until the report is written. */
static char *ledger_text;

void
emu_audit_set_ledger(char *text)
{
	free(ledger_text);
	ledger_text = text;
}

/* Not part of the audit, which tests and children of fork() clear. */
static char lost_text[LOST_KEPT][LOST_BYTES];
static unsigned lost_used;
static pthread_mutex_t lost_mutex = PTHREAD_MUTEX_INITIALIZER;

void
emu_audit_lost(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	pthread_mutex_lock(&lost_mutex);
	if (lost_used < LOST_KEPT)
		vsnprintf(lost_text[lost_used++], LOST_BYTES, fmt, ap);
	pthread_mutex_unlock(&lost_mutex);
	va_end(ap);
}

static void
report_violations(FILE *f)
{
	for (unsigned k = 0; k < EMU_AUDIT_KINDS; k++) {
		uint64_t kept = audit.count[k] < TEXTS_KEPT ? audit.count[k] : TEXTS_KEPT;

		for (uint64_t i = 0; i < kept; i++)
			fprintf(f, "violation %s: %s\n", kind_names[k], audit.text[k][i]);
		if (audit.count[k] > kept)
			fprintf(f, "violation %s: %" PRIu64 " more\n", kind_names[k],
				audit.count[k] - kept);
		if (audit.count[k] != 0)
			fprintf(f, "violation total %s %" PRIu64 "\n", kind_names[k],
				audit.count[k]);
	}
}

static void
report_compose(FILE *f, struct emu_machine *m)
{
	uint64_t violations = emu_audit_total();

	emu_identity_write(f, m);
	report_faults(f);
	for (unsigned p = 0; p < m->ports; p++)
		report_stats(f, &m->dev[p]);
	if (ledger_text != NULL)
		fputs(ledger_text, f);
	for (unsigned i = 0; i < audit.left_used; i++)
		fprintf(f, "left port %u: %" PRIu64 " %s\n", audit.left[i].port,
			audit.left[i].count, audit.left[i].what);
	report_violations(f);
	for (unsigned i = 0; i < lost_used; i++)
		fprintf(f, "lost evidence: %s\n", lost_text[i]);
	if (violations == 0 && audit.left_total == 0)
		fprintf(f, "audit: clean\n");
	else
		fprintf(f, "audit: %" PRIu64 " left, %" PRIu64 " violations\n", audit.left_total,
			violations);
}

/* System calls: open() and write() of libc are interposed. */
int
emu_file_write(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len != 0) {
		ssize_t n = syscall(SYS_write, fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
file_append(const char *path, const char *text, size_t len)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int ret;

	if (fd < 0)
		return -errno;
	ret = emu_file_write(fd, text, len);
	syscall(SYS_close, fd);
	return ret;
}

int
emu_audit_write(struct emu_machine *m, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	if (f == NULL)
		return -ENOMEM;
	report_compose(f, m);
	ret = fclose(f) == 0 ? file_append(path, text, len) : -ENOMEM;
	free(text);
	if (ret != 0)
		return ret;
	return emu_audit_total() == 0 && audit.left_total == 0 ? 0 : 1;
}
