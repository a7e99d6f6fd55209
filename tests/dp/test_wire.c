/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Wires: the options, pairs with and without patience, capture files. */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

static int
parse(unsigned ports, struct emu_wire_plan *plan, const char *specs, char *err)
{
	char copy[512], *list[8];
	unsigned n = 0;

	snprintf(copy, sizeof(copy), "%s", specs);
	for (char *s = strtok(copy, " "); s != NULL; s = strtok(NULL, " "))
		list[n++] = s;
	err[0] = '\0';
	return emu_wire_parse((const char *const *)list, n, ports, plan, err, 512);
}

static void
options(void)
{
	static struct emu_wire_plan p[5];
	char err[512];

	CHECK_EQ(parse(5, p, "", err), 0);
	CHECK(p[0].kind == EMU_WIRE_PAIR && p[0].peer == 1 && p[1].peer == 0 && !p[0].lossless);
	CHECK(p[2].kind == EMU_WIRE_PAIR && p[2].peer == 3 && p[3].peer == 2);
	CHECK(p[4].kind == EMU_WIRE_LOOP && p[4].fd == -1);
	CHECK_EQ(parse(5, p, "pair:lossless 1=tap:tap0@blue 3=pcap:in.pcap,out.pcap", err), 0);
	CHECK(p[0].kind == EMU_WIRE_PAIR && p[0].peer == 2 && p[0].lossless && p[2].peer == 0);
	CHECK(p[1].kind == EMU_WIRE_TAP && strcmp(p[1].ifname, "tap0") == 0 &&
	      strcmp(p[1].netns, "blue") == 0);
	CHECK(p[3].kind == EMU_WIRE_PCAP && strcmp(p[3].in, "in.pcap") == 0 &&
	      strcmp(p[3].out, "out.pcap") == 0);
	CHECK(p[4].kind == EMU_WIRE_LOOP);
	CHECK_EQ(parse(4, p, "3=pair:0:lossless 1=none 2=pcap:,x", err), 0);
	CHECK(p[3].peer == 0 && p[0].peer == 3 && p[0].lossless);
	CHECK(p[1].kind == EMU_WIRE_NONE && p[2].in[0] == '\0' && strcmp(p[2].out, "x") == 0);
	CHECK_EQ(parse(2, p, "0x0=loop 1=loop", err), 0);
	CHECK_EQ(parse(2, p, "loop", err), 0);
	CHECK(p[0].kind == EMU_WIRE_LOOP && p[1].kind == EMU_WIRE_LOOP && p[1].peer == 1);
}

/* Each is refused with one line that names it. */
static void
bad_options(void)
{
	static const char *const bad[] = {
		"2=loop", "0=pair:0", "0=pair:2", "0=pair:", "0=pair", "0=pair:1:lossy", "0=tap:",
		"0=tap:abcdefghijklmnop", "0=tap:a/b", "0=tap:a@", "0=tap:a@x/y", "0=pcap:",
		"0=pcap:,", "x", "pairs", "0=", "=loop", "0=loop 0=none", "0=pair:1 1=loop",
		"1=loop 0=pair:1", "-1=loop", "99=loop", "0y0=loop", "0", "loop:", "none:lossless",
		"18446744073709551616=loop",
	};
	static struct emu_wire_plan p[2];

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char err[512], first[64];

		CHECK_EQ(parse(2, p, bad[i], err), -EINVAL);
		snprintf(first, sizeof(first), "%s", bad[i]);
		strtok(first, " ");
		if (strstr(err, "--wire ") == NULL || strchr(err, '\n') != NULL ||
		    strstr(err, "allowed") == NULL)
			CHECK(!"message");
		if (strchr(bad[i], ' ') == NULL)
			CHECK(strstr(err, first) != NULL);
	}
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Without patience the far end loses what it has no buffer for; the sender never notices. */
static void
lossy_pair(void)
{
	struct rig *r = rig_new(2, NULL);
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 3);
	uint8_t *f = rig_mem(&r->port[0], 64, 64);

	for (unsigned i = 0; i < 20; i++)
		rig_send(sq, f, 64);
	rig_run(r);
	CHECK_EQ(r->port[1].dev->stats.rx_delivered_frames, 8);
	CHECK_EQ(r->port[1].dev->stats.rx_out_of_buffer, 12);
	CHECK_EQ(rx->rq->rq->out_of_buffer, 12);
	CHECK_EQ(r->port[0].dev->stats.tx_frames, 20);
	rig_free(r);
}

/* A port whose PHY returns what it sends neither reaches the other end of its cable nor receives from there. */
static void
phy_loopback(const char *wire)
{
	struct rig *r = rig_new(2, wire);
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	struct rig_sq *peer = rig_sq_new(&r->port[1], rig_cq_new(&r->port[1], 8, 6), 8);
	uint8_t *f = rig_mem(&r->port[0], 64, 64), *g = rig_mem(&r->port[1], 64, 64);

	(void)rig_rx_new(&r->port[0], 3);
	(void)rig_rx_new(&r->port[1], 3);
	r->port[0].dev->loop_on = true;
	for (unsigned i = 0; i < 3; i++) {
		rig_send(sq, f, 64);
		rig_send(peer, g, 64);
	}
	rig_run(r);
	CHECK_EQ(r->port[0].dev->stats.tx_frames, 3);
	CHECK_EQ(r->port[0].dev->stats.rx_delivered_frames, 3);
	CHECK_EQ(r->port[1].dev->stats.tx_frames, 3);
	CHECK_EQ(r->port[1].dev->stats.rx_delivered_frames, 0);
	r->port[0].dev->loop_on = false;
	rig_send(peer, g, 64);
	rig_run(r);
	CHECK_EQ(r->port[0].dev->stats.rx_delivered_frames, 4);
	rig_free(r);
}

static void
loopback(void)
{
	phy_loopback("pair");
	phy_loopback("pair:lossless");
}

/* With patience nothing is lost, whatever the form of the WQE that must wait in the middle. */
static void
lossless_pair(void)
{
	struct rig *r = rig_new(2, "pair:lossless");
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 2);
	struct emu_port_stats *tx = &r->port[0].dev->stats, *in = &r->port[1].dev->stats;
	uint8_t *f[10];
	unsigned got = 0;

	for (unsigned i = 0; i < 10; i++) {
		f[i] = rig_mem(&r->port[0], 64, 64);
		f[i][20] = (uint8_t)(i + 1);
	}
	for (unsigned i = 0; i < 10; i++)
		rig_send(sq, f[i], 64);
	for (unsigned w = 0; w < 4; w++) {
		rig_wqe(sq, PRM_WQE_OPCODE_ENHANCED_MPSW, RIG_CE_CQE);
		rig_wqe_eth(sq, &(struct rig_eth){.vlan = -1});
		for (unsigned i = 0; i < 10; i++)
			rig_wqe_ptr(sq, f[i], 64, sq->port->lkey);
		rig_wqe_end(sq);
	}
	rig_sq_record(sq);
	rig_sq_bell(sq);
	while (got < 50) {
		const struct prm_cqe64 *cqe;

		rig_run(r);
		cqe = rig_cqe(rx->cq);
		CHECK(cqe != NULL);
		if (cqe == NULL)
			break;
		CHECK_EQ(rx->buf[be16toh(cqe->wqe_counter) & 3][20], got % 10 + 1);
		rig_post(rx->rq, rx->buf[got & 3], RIG_BUF_BYTES, r->port[1].lkey);
		got++;
	}
	CHECK(rig_cqe(rx->cq) == NULL);
	CHECK_EQ(tx->tx_frames, 50);
	CHECK_EQ(in->rx_delivered_frames, 50);
	CHECK_EQ(in->rx_out_of_buffer, 0);
	CHECK_EQ(tx->dma_reads, 50); /* looking again is no second read */
	CHECK_EQ(emu_wire_stats(r->port[0].dev)->hold_timeouts, 0);
	CHECK(emu_wire_stats(r->port[0].dev)->holds > 0);
	rig_free(r);
}

/* A receiver that has died is waited for once; then the sender goes on as on a plain cable. */
static void
lossless_is_bounded(void)
{
	struct rig *r = rig_new(2, "pair:lossless");
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	uint8_t *f = rig_mem(&r->port[0], 64, 64);
	uint64_t start = now_ns();

	rig_rx_new(&r->port[1], 2);
	for (unsigned i = 0; i < 104; i++)
		rig_send(sq, f, 64);
	while (sq->sq->ci != sq->sq->hw_pi || sq->sq->ci == 0) {
		emu_dp_poll(&r->m);
		if (now_ns() - start > 3000000000u)
			break;
	}
	CHECK(now_ns() - start > 90000000u && now_ns() - start < 1500000000u);
	CHECK_EQ(r->port[0].dev->stats.tx_frames, 104);
	CHECK_EQ(r->port[1].dev->stats.rx_out_of_buffer, 100);
	CHECK_EQ(emu_wire_stats(r->port[0].dev)->hold_timeouts, 100);
	rig_free(r);
}

/* Each wait has its own bound: a receiver that is merely slow loses nothing. */
static void
patience_is_renewed(void)
{
	struct rig *r = rig_new(2, "pair:lossless");
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 8, 6), 8);
	struct rig_rx *rx = rig_rx_new(&r->port[1], 0);
	uint8_t *f = rig_mem(&r->port[0], 64, 64);

	for (unsigned i = 0; i < 4; i++)
		rig_send(sq, f, 64);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t start = now_ns();

		while (now_ns() - start < 60000000u)
			emu_dp_poll(&r->m);
		CHECK(rig_cqe(rx->cq) != NULL);
		rig_post(rx->rq, rx->buf[0], RIG_BUF_BYTES, r->port[1].lkey);
	}
	CHECK_EQ(r->port[1].dev->stats.rx_out_of_buffer, 0);
	CHECK_EQ(r->port[1].dev->stats.rx_delivered_frames, 4);
	rig_free(r);
}

/* A port without a wire has no carrier and loses what it is given. */
static void
no_wire(void)
{
	struct rig *r = rig_new(2, "0=none 1=none");
	struct rig_sq *sq = rig_sq_new(&r->port[0], rig_cq_new(&r->port[0], 4, 6), 4);

	CHECK(!r->port[0].dev->link_up);
	rig_send(sq, rig_mem(&r->port[0], 64, 64), 64);
	rig_run(r);
	CHECK(rig_cqe(sq->cq) != NULL);
	CHECK_EQ(r->port[0].dev->stats.tx_discards, 1);
	rig_free(r);
}

static char dir[128], path_in[160], path_out[160];

static void
write_capture(const char *path, int link, unsigned frames)
{
	pcap_t *p = pcap_open_dead(link, 65535);
	pcap_dumper_t *d = pcap_dump_open(p, path);
	uint8_t data[1500];

	if (d == NULL)
		exit(2);
	for (unsigned i = 0; i < frames; i++) {
		struct pcap_pkthdr h = {.caplen = 14 + i % 1400, .len = 14 + i % 1400};

		for (unsigned b = 0; b < h.caplen; b++)
			data[b] = (uint8_t)(b * 3 + i);
		data[0] &= 0xfe;
		pcap_dump((u_char *)d, &h, data);
	}
	pcap_dump_close(d);
	pcap_close(p);
}

/* The second file holds the same frames as the first, in nanoseconds of about now. */
static void
same_frames(const char *a, const char *b, unsigned frames)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *x = pcap_open_offline(a, err);
	pcap_t *y = pcap_open_offline_with_tstamp_precision(b, PCAP_TSTAMP_PRECISION_NANO, err);
	struct pcap_pkthdr *hx, *hy;
	const u_char *dx, *dy;
	unsigned n = 0;
	FILE *f = fopen(b, "r");
	uint32_t magic = 0;

	CHECK(f != NULL && fread(&magic, 4, 1, f) == 1 && magic == 0xa1b23c4d);
	if (f != NULL)
		fclose(f);
	CHECK(x != NULL && y != NULL);
	if (x == NULL || y == NULL)
		return;
	while (pcap_next_ex(x, &hx, &dx) == 1) {
		if (pcap_next_ex(y, &hy, &dy) != 1)
			break;
		CHECK(hx->caplen == hy->caplen && memcmp(dx, dy, hx->caplen) == 0);
		CHECK(llabs((long long)hy->ts.tv_sec - (long long)time(NULL)) < 60);
		n++;
	}
	CHECK_EQ(n, frames);
	CHECK(pcap_next_ex(y, &hy, &dy) != 1);
	pcap_close(x);
	pcap_close(y);
}

/* A capture replayed into port 0 is forwarded by hand to port 1, which records it. */
static void
capture_files(void)
{
	char specs[400];
	struct rig *r;
	struct rig_rx *rx;
	struct rig_sq *sq;
	unsigned got = 0;
	uint64_t start = now_ns();
	const unsigned frames = 3000;

	write_capture(path_in, DLT_EN10MB, frames);
	snprintf(specs, sizeof(specs), "0=pcap:%s 1=pcap:,%s", path_in, path_out);
	r = rig_new(2, specs);
	rig_run(r);
	CHECK_EQ(r->port[0].dev->stats.rx_frames, 0); /* no receiver yet */
	rx = rig_rx_new(&r->port[0], 4);
	sq = rig_sq_new(&r->port[1], rig_cq_new(&r->port[1], 4, 6), 4);
	rig_run(r);
	CHECK_EQ(r->port[0].dev->stats.rx_frames, 0); /* rules may still be coming */
	while (got < frames && now_ns() - start < 20000000000u) {
		const struct prm_cqe64 *cqe;

		emu_dp_poll(&r->m);
		while ((cqe = rig_cqe(rx->cq)) != NULL) {
			unsigned at = be16toh(cqe->wqe_counter) & 15, len = be32toh(cqe->byte_cnt);
			uint8_t *copy = r->port[1].arena + (6u << 20);

			memcpy(copy, rx->buf[at], len);
			rig_post(rx->rq, rx->buf[at], RIG_BUF_BYTES, r->port[0].lkey);
			rig_send(sq, copy, len);
			rig_run(r);
			CHECK(rig_cqe(sq->cq) != NULL);
			got++;
		}
	}
	CHECK_EQ(got, frames);
	CHECK_EQ(r->port[0].dev->stats.rx_out_of_buffer, 0);
	CHECK_EQ(emu_wire_stats(r->port[0].dev)->replayed, frames);
	rig_free(r);
	same_frames(path_in, path_out, frames);
	unlink(path_in);
	unlink(path_out);
}

#define LONG_NS 20000000000u

/* How many frames have arrived, received or not, when it is enough or has taken too long. */
static uint64_t
arrived_after(struct rig *r, const struct emu_port_stats *s, uint64_t enough, uint64_t ns)
{
	uint64_t start = now_ns();

	while (s->rx_frames < enough && now_ns() - start < ns)
		emu_dp_poll(&r->m);
	return s->rx_frames;
}

/* While a program replaces its rules, frames without a match wait for a limited time. */
static void
rules_replaced(void)
{
	const struct emu_port_stats *s;
	struct rig_rx *rx;
	char specs[400];
	uint64_t removed_ns;
	struct rig *r;

	write_capture(path_in, DLT_EN10MB, 200);
	snprintf(specs, sizeof(specs), "0=pcap:%s 1=none", path_in);
	r = rig_new(2, specs);
	s = &r->port[0].dev->stats;
	rx = rig_rx_new(&r->port[0], 6);
	CHECK_EQ(arrived_after(r, s, 64, LONG_NS), 64);
	while (rig_cqe(rx->cq) != NULL)
		;
	for (unsigned i = 0; i < 64; i++)
		rig_post(rx->rq, rx->buf[i], RIG_BUF_BYTES, r->port[0].lkey);
	removed_ns = now_ns();
	emu_obj_destroy(rx->flow);
	rig_run(r);
	rx->flow = rig_flow_all(&r->port[0], rx->tir, 0);
	/* On a machine that stalled for longer the frames are lost as specified. */
	if (now_ns() - removed_ns < 900000000u) {
		CHECK_EQ(arrived_after(r, s, 128, LONG_NS), 128);
		CHECK_EQ(s->rx_delivered_frames, 128);
		CHECK_EQ(s->rx_kernel + s->rx_filtered + s->rx_missed, 0);
	}
	emu_obj_destroy(rx->flow);
	CHECK_EQ(arrived_after(r, s, 200, LONG_NS), 200);
	CHECK_EQ(s->rx_kernel + s->rx_filtered + s->rx_missed, 200 - s->rx_delivered_frames);
	rig_free(r);
	unlink(path_in);
}

static void
bad_captures(void)
{
	static struct emu_wire_plan plan[1];
	char err[512], specs[400];
	FILE *f;

	snprintf(specs, sizeof(specs), "0=pcap:%s/none", dir);
	CHECK_EQ(parse(1, plan, specs, err), 0);
	CHECK(emu_wire_open(plan, 1, err, sizeof(err)) < 0 && strstr(err, "none") != NULL);
	write_capture(path_in, DLT_RAW, 1);
	snprintf(specs, sizeof(specs), "0=pcap:%s", path_in);
	CHECK_EQ(parse(1, plan, specs, err), 0);
	CHECK(emu_wire_open(plan, 1, err, sizeof(err)) < 0 && strstr(err, "EN10MB") != NULL);
	f = fopen(path_in, "w");
	fputs("not a capture", f);
	fclose(f);
	CHECK(emu_wire_open(plan, 1, err, sizeof(err)) < 0 && strstr(err, path_in) != NULL);
	CHECK(strchr(err, '\n') == NULL);
	snprintf(specs, sizeof(specs), "0=pcap:,%s/no/such", dir);
	CHECK_EQ(parse(1, plan, specs, err), 0);
	CHECK(emu_wire_open(plan, 1, err, sizeof(err)) < 0 && strstr(err, "no/such") != NULL);
	/* A check of an output file leaves none behind. */
	snprintf(specs, sizeof(specs), "0=pcap:,%s", path_out);
	CHECK_EQ(parse(1, plan, specs, err), 0);
	CHECK_EQ(emu_wire_open(plan, 1, err, sizeof(err)), 0);
	CHECK(access(path_out, F_OK) != 0);
	unlink(path_in);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"options", options},
		{"bad_options", bad_options},
		{"lossy_pair", lossy_pair},
		{"loopback", loopback},
		{"lossless_pair", lossless_pair},
		{"lossless_is_bounded", lossless_is_bounded},
		{"patience_is_renewed", patience_is_renewed},
		{"no_wire", no_wire},
		{"capture_files", capture_files},
		{"rules_replaced", rules_replaced},
		{"bad_captures", bad_captures},
		{NULL, NULL},
	};
	int ret;

	snprintf(dir, sizeof(dir), "%.100s/dp-wire-XXXXXX",
		 getenv("TMPDIR") != NULL ? getenv("TMPDIR") : P_tmpdir);
	if (mkdtemp(dir) == NULL)
		return 2;
	snprintf(path_in, sizeof(path_in), "%s/in", dir);
	snprintf(path_out, sizeof(path_out), "%s/out", dir);
	ret = rig_main(argc, argv, tests);
	rmdir(dir);
	return ret;
}
