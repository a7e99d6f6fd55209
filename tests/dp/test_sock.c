/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Cables between machines: two models in turn, joined by a socket. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../await.h"
#include "rig.h"

#define LOG_RING 6u
#define RING (1u << LOG_RING)

static char dir[128], path[160], lock_path[170], spec[200], lossless[200], up_lossless[200];

struct end {
	struct rig *r;
	struct rig_port *p;
	struct rig_sq *sq;
	struct rig_rx *rx;
	uint32_t sent, got;
	uint8_t *frame[RING];
	unsigned flying;
};

static void
end_new(struct end *e, const char *specs)
{
	memset(e, 0, sizeof(*e));
	e->r = rig_new(1, specs);
	e->p = &e->r->port[0];
	e->sq = rig_sq_new(e->p, rig_cq_new(e->p, LOG_RING, 6), LOG_RING);
	e->rx = rig_rx_new(e->p, LOG_RING);
	for (unsigned i = 0; i < RING; i++)
		e->frame[i] = rig_mem(e->p, RIG_BUF_BYTES, 64);
}

static void
both_poll(struct end *a, struct end *b, unsigned n)
{
	/* The socket is looked at again only some microseconds after it was empty. */
	while (n-- != 0) {
		emu_dp_poll(&a->r->m);
		emu_dp_poll(&b->r->m);
		pass_us(20);
	}
}

static bool
meet(struct end *a, struct end *b)
{
	for (unsigned i = 0; i < 2000; i++) {
		both_poll(a, b, 1);
		if (a->p->dev->carrier && b->p->dev->carrier)
			return true;
	}
	return false;
}

/* Sizes and content follow from the number; mark identifies the end. */
static unsigned
make(uint8_t *d, uint32_t number, uint8_t mark)
{
	unsigned len = 60 + number * 37 % 1400;

	memset(d, mark, len);
	d[0] = 0x02;
	memcpy(d + 14, &number, 4);
	memcpy(d + len - 4, &number, 4);
	return len;
}

static void
send_some(struct end *e, uint8_t mark)
{
	while (rig_cqe(e->sq->cq) != NULL)
		e->flying--;
	while (e->flying < RING / 2) {
		unsigned len = make(e->frame[e->sent % RING], e->sent, mark);

		rig_send(e->sq, e->frame[e->sent % RING], len);
		e->sent++;
		e->flying++;
	}
}

static void
receive_some(struct end *e, uint8_t mark)
{
	const struct prm_cqe64 *cqe;

	while ((cqe = rig_cqe(e->rx->cq)) != NULL) {
		uint8_t want[2048], *d = e->rx->buf[be16toh(cqe->wqe_counter) & (RING - 1)];
		unsigned len = make(want, e->got, mark);

		CHECK_EQ(be32toh(cqe->byte_cnt), len);
		CHECK(memcmp(d, want, len) == 0);
		rig_post(e->rx->rq, d, RIG_BUF_BYTES, e->p->lkey);
		e->got++;
	}
}

static void
both_ways(void)
{
	struct end a, b;

	end_new(&a, lossless);
	end_new(&b, lossless);
	CHECK(!a.p->dev->carrier && !b.p->dev->carrier);
	CHECK(meet(&a, &b));
	for (unsigned i = 0; i < 3000 && check_failures == 0; i++) {
		send_some(&a, 0xaa);
		if (i % 3 == 0)
			send_some(&b, 0xbb);
		both_poll(&a, &b, 1);
		receive_some(&a, 0xbb);
		/* A slow receiver loses nothing. */
		if (i % 5 == 0)
			receive_some(&b, 0xaa);
	}
	for (unsigned i = 0; i < 2000 && (a.got != b.sent || b.got != a.sent); i++) {
		both_poll(&a, &b, 1);
		receive_some(&a, 0xbb);
		receive_some(&b, 0xaa);
	}
	CHECK(a.sent > 5000);
	CHECK_EQ(a.got, b.sent);
	CHECK_EQ(b.got, a.sent);
	CHECK_EQ(b.p->dev->stats.rx_out_of_buffer, 0);
	CHECK(emu_wire_stats(b.p->dev)->holds != 0);
	CHECK_EQ(a.p->dev->stats.tx_frames, b.p->dev->stats.rx_frames);
	CHECK_EQ(rig_audit(a.r), 0);
	rig_free(a.r);
	rig_free(b.r);
	CHECK(access(path, F_OK) != 0);
}

/* Without patience what finds no buffer is counted, and sent = delivered + lost. */
static void
lossy(void)
{
	struct emu_port_stats *s;
	struct end a, b;

	end_new(&a, spec);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	for (unsigned i = 0; i < 50; i++) {
		send_some(&a, 0xaa);
		both_poll(&a, &b, 1);
	}
	both_poll(&a, &b, 200);
	s = &b.p->dev->stats;
	CHECK_EQ(s->rx_delivered_frames, RING);
	CHECK(a.sent > RING);
	CHECK_EQ(s->rx_delivered_frames + s->rx_out_of_buffer, a.sent);
	rig_free(a.r);
	rig_free(b.r);
}

static void
comes_and_goes(void)
{
	struct end a, b, c;

	end_new(&a, spec);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	/* Sent without a peer: a discard each. */
	rig_free(b.r);
	for (unsigned i = 0; i < 500 && a.p->dev->carrier; i++)
		both_poll(&a, &a, 1);
	CHECK(!a.p->dev->carrier);
	rig_send(a.sq, a.frame[0], make(a.frame[0], 0, 1));
	rig_run(a.r);
	CHECK_EQ(a.p->dev->stats.tx_discards, 1);
	CHECK(rig_cqe(a.sq->cq) != NULL);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	/* A third has no carrier until one of the two goes: here the one that listens. */
	end_new(&c, spec);
	both_poll(&a, &c, 50);
	CHECK(a.p->dev->carrier && !c.p->dev->carrier);
	rig_free(a.r);
	CHECK(meet(&b, &c));
	rig_free(b.r);
	rig_free(c.r);
	CHECK(access(path, F_OK) != 0);
}

static int
dial(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", path);
	CHECK_EQ(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	return fd;
}

/* A peer with an invalid handshake is disconnected; the port accepts the next one. */
static void
nonsense(void)
{
	static const struct {
		const char *bytes;
		unsigned n;
	} sent[] = {{"GET / HTTP/1.1\r\n\r\n", 18},
		    {"mlxemu wire 1\n\0\0\0\0", 18},
		    {"mlxemu wire 1\n\xff\xff\xff\x7f", 18},
		    {"mlxemu wire 1\n\x00\x01\x01\x00", 18},
		    {"mlxemu wire 1\n\x3c\0\0\0abc", 21}};
	struct end a, b;

	end_new(&a, spec);
	for (unsigned i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		int fd = dial();

		CHECK_EQ(write(fd, sent[i].bytes, sent[i].n), sent[i].n);
		for (unsigned k = 0; k < 30; k++) {
			emu_dp_poll(&a.r->m);
			pass_us(1000); /* The carrier must stay down. */
		}
		close(fd);
		for (unsigned k = 0; k < 30; k++) {
			emu_dp_poll(&a.r->m);
			pass_us(1000);
		}
		CHECK(!a.p->dev->carrier);
	}
	CHECK_EQ(a.p->dev->stats.rx_frames, 0);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	rig_free(a.r);
	rig_free(b.r);
}

static void
names(void)
{
	static struct emu_wire_plan plan[1];
	const char *specs[1] = {spec};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	char err[512], bad[300];
	struct end a, b;
	int fd;

	/* One that died left its socket behind. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", path);
	CHECK_EQ(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
	CHECK_EQ(emu_wire_parse(specs, 1, 1, plan, err, sizeof(err)), 0);
	CHECK_EQ(emu_wire_open(plan, 1, err, sizeof(err)), 0);
	end_new(&a, spec);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	rig_free(a.r);
	rig_free(b.r);
	/* A file, or no folder: refused by name. */
	fclose(fopen(path, "w"));
	CHECK_EQ(emu_wire_open(plan, 1, err, sizeof(err)), -EEXIST);
	CHECK(strstr(err, path) != NULL);
	unlink(path);
	specs[0] = bad;
	snprintf(bad, sizeof(bad), "0=sock:%s/no/such", dir);
	CHECK_EQ(emu_wire_parse(specs, 1, 1, plan, err, sizeof(err)), 0);
	CHECK(emu_wire_open(plan, 1, err, sizeof(err)) < 0 && strstr(err, "no/such") != NULL);
	snprintf(bad, sizeof(bad), "0=sock:%0120d", 1);
	CHECK_EQ(emu_wire_parse(specs, 1, 1, plan, err, sizeof(err)), -EINVAL);
	specs[0] = "0=sock::lossless";
	CHECK_EQ(emu_wire_parse(specs, 1, 1, plan, err, sizeof(err)), -EINVAL);
}

/* 0 or -errno of a port that is connected to spec; at most so many ms. */
static int
attach(const char *specs, char *err, size_t err_len, unsigned limit_ms)
{
	static struct emu_wire_plan plan[1];
	static struct emu_machine m;
	struct timespec begin, end;
	int ret;

	CHECK_EQ(emu_machine_init(&m, 1, emu_profiles[0]), 0);
	CHECK_EQ(emu_wire_parse(&specs, 1, 1, plan, err, err_len), 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ret = emu_wire_attach(&m, plan, err, err_len);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 < limit_ms);
	if (ret == 0)
		emu_wire_detach(&m);
	emu_machine_fini(&m);
	return ret;
}

/* In a shared folder others may hold the lock, or put a link there. */
static void
foreign_lock(void)
{
	char err[512], target[300];
	struct end a, b;
	struct stat st;
	int fd;

	fd = open(lock_path, O_RDWR | O_CREAT, 0666);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	CHECK_EQ(attach(spec, err, sizeof(err), 10000), -EBUSY);
	CHECK(strstr(err, lock_path) != NULL);
	close(fd);
	unlink(lock_path);
	/* The link is not followed, and its target not made. */
	snprintf(target, sizeof(target), "%s/target", dir);
	CHECK_EQ(symlink(target, lock_path), 0);
	CHECK_EQ(attach(spec, err, sizeof(err), 10000), -ELOOP);
	CHECK(strstr(err, lock_path) != NULL);
	CHECK(lstat(target, &st) != 0);
	unlink(lock_path);
	/* Nothing stays, while and after two are connected. */
	end_new(&a, spec);
	end_new(&b, spec);
	CHECK(meet(&a, &b));
	CHECK(access(lock_path, F_OK) != 0);
	/* A lock taken later delays only the search for a peer. */
	fd = open(lock_path, O_RDWR | O_CREAT, 0666);
	CHECK_EQ(flock(fd, LOCK_EX), 0);
	rig_free(a.r);
	both_poll(&b, &b, 2000);
	CHECK(!b.p->dev->carrier);
	close(fd);
	unlink(lock_path);
	end_new(&a, spec);
	CHECK(meet(&a, &b));
	rig_free(a.r);
	rig_free(b.r);
	CHECK(access(lock_path, F_OK) != 0);
}

/* With :up the link is up without a peer, before and after; the first frames wait. */
static void
up(void)
{
	struct end a, b;

	end_new(&a, up_lossless);
	CHECK(a.p->dev->carrier);
	send_some(&a, 0xaa);
	for (unsigned i = 0; i < 20; i++)
		emu_dp_poll(&a.r->m);
	end_new(&b, up_lossless);
	CHECK(b.p->dev->carrier);
	for (unsigned i = 0; i < 2000 && b.got < a.sent; i++) {
		both_poll(&a, &b, 1);
		receive_some(&b, 0xaa);
	}
	CHECK_EQ(b.got, a.sent);
	rig_free(b.r);
	for (unsigned i = 0; i < 20; i++) {
		emu_dp_poll(&a.r->m);
		pass_us(100); /* The carrier must stay up. */
	}
	CHECK(a.p->dev->carrier);
	rig_free(a.r);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"both_ways", both_ways}, {"lossy", lossy}, {"comes_and_goes", comes_and_goes},
		{"nonsense", nonsense}, {"names", names}, {"foreign_lock", foreign_lock}, {"up", up}, {NULL, NULL},
	};
	int ret;

	snprintf(dir, sizeof(dir), "/tmp/dp-sock-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 2;
	snprintf(path, sizeof(path), "%s/cable", dir);
	snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
	snprintf(spec, sizeof(spec), "0=sock:%s", path);
	snprintf(lossless, sizeof(lossless), "0=sock:%s:lossless", path);
	snprintf(up_lossless, sizeof(up_lossless), "0=sock:%s:up:lossless", path);
	ret = rig_main(argc, argv, tests);
	rmdir(dir);
	return ret;
}
