/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Capture files: one is replayed into the port, one records the sent frames. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/emu_audit.h"
#include "wire_int.h"

#define SNAPLEN 262144
/* Replay starts when the steering rules of the port have not changed for this time. */
#define QUIET_NS 300000000ull
/* Programs replace their rules, and may be preempted in between: wait this long before a loss. */
#define SETTLE_NS 1000000000ull
#define FLUSH_NS 200000000ull

struct pcap_wire {
	pcap_t *in, *out_handle;
	pcap_dumper_t *out;
	bool started;
	const uint8_t *frame; /**< Waits for a receive WQE; NULL: none. Memory of libpcap. */
	uint32_t frame_bytes;
	uint64_t checked_ns;  /**< Last check for a receiver. */
	uint64_t read;	      /**< Records read so far. */
	bool dirty;
	bool failed;	      /**< A write has failed: no more is written. */
	uint64_t dirty_ns;
	char in_path[sizeof(((struct emu_wire_plan *)0)->in)];
	char out_path[sizeof(((struct emu_wire_plan *)0)->out)];
};

static pcap_t *
open_in(const char *path, char *err, size_t err_len)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	const char *link;

	if (p == NULL) {
		/* Most messages of libpcap begin with the name, but not all. */
		snprintf(err, err_len, "pcap: cannot read %s: %s", path, why);
		return NULL;
	}
	if (pcap_datalink(p) == DLT_EN10MB)
		return p;
	link = pcap_datalink_val_to_name(pcap_datalink(p));
	snprintf(err, err_len, "pcap: %s has link type %s, only Ethernet (EN10MB) can be replayed",
		 path, link != NULL ? link : "unknown");
	pcap_close(p);
	return NULL;
}

static int
check_out(const char *path, char *err, size_t err_len)
{
	bool existed = access(path, F_OK) == 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), ret = -errno;

	if (fd < 0) {
		snprintf(err, err_len, "pcap: cannot write %s: %s", path, strerror(-ret));
		return ret;
	}
	close(fd);
	if (!existed)
		unlink(path);
	return 0;
}

int
wire_pcap_check(const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	if (plan->in[0] != '\0') {
		pcap_t *p = open_in(plan->in, err, err_len);

		if (p == NULL)
			return -EINVAL;
		pcap_close(p);
	}
	return plan->out[0] != '\0' ? check_out(plan->out, err, err_len) : 0;
}

static void
pcap_wire_free(struct pcap_wire *p)
{
	if (p->in != NULL)
		pcap_close(p->in);
	if (p->out != NULL)
		pcap_dump_close(p->out);
	if (p->out_handle != NULL)
		pcap_close(p->out_handle);
	free(p);
}

static int
open_out(struct pcap_wire *p, const char *path, char *err, size_t err_len)
{
	p->out_handle = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPLEN,
							     PCAP_TSTAMP_PRECISION_NANO);
	if (p->out_handle != NULL)
		p->out = pcap_dump_open(p->out_handle, path);
	if (p->out != NULL)
		return 0;
	snprintf(err, err_len, "pcap: cannot write %s: %s", path,
		 p->out_handle != NULL ? pcap_geterr(p->out_handle) : "no memory");
	return -EIO;
}

static int
pcap_attach(struct emu_wire_port *w, const struct emu_wire_plan *plan, char *err, size_t err_len)
{
	struct pcap_wire *p = calloc(1, sizeof(*p));
	int ret = 0;

	if (p == NULL) {
		snprintf(err, err_len, "pcap: no memory");
		return -ENOMEM;
	}
	snprintf(p->in_path, sizeof(p->in_path), "%s", plan->in);
	snprintf(p->out_path, sizeof(p->out_path), "%s", plan->out);
	if (plan->in[0] != '\0') {
		p->in = open_in(plan->in, err, err_len);
		ret = p->in == NULL ? -EINVAL : 0;
	}
	if (ret == 0 && plan->out[0] != '\0')
		ret = open_out(p, plan->out, err, err_len);
	if (ret != 0) {
		pcap_wire_free(p);
		return ret;
	}
	w->priv = p;
	return 0;
}

/* The error stays: frames after it would make a file with a hole in it. */
static void
write_failed(struct emu_wire_port *w)
{
	struct pcap_wire *p = w->priv;
	int err = errno != 0 ? errno : EIO;

	p->failed = true;
	w->stats.write_errors++;
	emu_audit_lost("port %u: sent frames cannot be written to %s: %s", w->dev->index, p->out_path,
		       strerror(err));
}

static void
flush(struct emu_wire_port *w)
{
	struct pcap_wire *p = w->priv;

	errno = 0;
	if (p->out != NULL && !p->failed && pcap_dump_flush(p->out) != 0)
		write_failed(w);
	p->dirty = false;
}

static enum emu_wire_result
pcap_tx(struct emu_wire_port *w, const uint8_t *frame, uint32_t len)
{
	struct pcap_wire *p = w->priv;
	struct pcap_pkthdr h = {.caplen = len, .len = len};
	struct timespec ts;

	if (p->out == NULL)
		return EMU_WIRE_SENT;
	clock_gettime(CLOCK_REALTIME, &ts);
	h.ts.tv_sec = ts.tv_sec;
	h.ts.tv_usec = ts.tv_nsec; /* nanoseconds in a handle of that precision */
	if (p->failed) {
		w->stats.write_errors++;
		return EMU_WIRE_LOST;
	}
	errno = 0;
	pcap_dump((u_char *)p->out, &h, frame);
	p->dirty = true;
	if (!ferror(pcap_dump_file(p->out)))
		return EMU_WIRE_SENT;
	write_failed(w);
	return EMU_WIRE_LOST;
}

/* Flush, so that a killed program leaves a readable file. */
static void
flush_now_and_then(struct emu_wire_port *w, uint64_t now)
{
	struct pcap_wire *p = w->priv;

	if (!p->dirty || now - p->dirty_ns < FLUSH_NS)
		return;
	flush(w);
	p->dirty_ns = now;
}

static bool
next_frame(struct emu_wire_port *w)
{
	struct pcap_wire *p = w->priv;
	struct pcap_pkthdr *h;
	int ret = pcap_next_ex(p->in, &h, &p->frame);

	if (ret == 1) {
		p->frame_bytes = h->caplen;
		p->read++;
		return true;
	}
	/* pcap_next_ex(3PCAP): PCAP_ERROR_BREAK at the end of the file, PCAP_ERROR if it is damaged. */
	if (ret != PCAP_ERROR_BREAK)
		emu_audit_lost("port %u: %s: record %" PRIu64 " is damaged, the frames from there on were not replayed: %s",
			       w->dev->index, p->in_path, p->read + 1, pcap_geterr(p->in));
	p->frame = NULL;
	pcap_close(p->in);
	p->in = NULL;
	return false;
}

/* False: no rule matches the frame, but rules have changed recently and a matching one may follow. */
static bool
timely(struct emu_wire_port *w, bool unsettled)
{
	const struct pcap_wire *p = w->priv;

	return !unsettled || wire_dp(w->dev)->ruled(w->dev, p->frame, p->frame_bytes);
}

static void
pcap_detach(struct emu_wire_port *w)
{
	flush(w);
	pcap_wire_free(w->priv);
}

static unsigned
pcap_poll(struct emu_wire_port *w, unsigned budget)
{
	struct pcap_wire *p = w->priv;
	uint64_t now = wire_mono_ns();
	unsigned n = 0;
	bool unsettled;

	flush_now_and_then(w, now);
	if (p->in == NULL)
		return 0;
	if (!p->started && now - p->checked_ns > QUIET_NS / 16) {
		p->checked_ns = now;
		p->started = wire_dp(w->dev)->can_receive(w->dev, QUIET_NS);
	}
	if (!p->started)
		return 0;
	unsettled = wire_dp(w->dev)->unsettled(w->dev, now, SETTLE_NS);
	/* A slow receiver blocks no other sender: wait without limit. */
	while (n < budget && (p->frame != NULL || next_frame(w)) && timely(w, unsettled) &&
	       wire_dp(w->dev)->offer(w->dev, p->frame, p->frame_bytes) == EMU_RX_TAKEN) {
		p->frame = NULL;
		w->stats.replayed++;
		n++;
	}
	return n;
}

static bool
pcap_wait(struct emu_wire_port *w, int *fd, uint64_t *ns)
{
	struct pcap_wire *p = w->priv;

	(void)fd;
	(void)ns;
	return p->in == NULL && !p->dirty;
}

const struct wire_ops wire_pcap_ops = {
	.attach = pcap_attach,
	.detach = pcap_detach,
	.tx = pcap_tx,
	.poll = pcap_poll,
	.wait = pcap_wait,
};
