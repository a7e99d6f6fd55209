/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Registered memory that the program unmaps or locks away while queues use it. */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/emu_guard.h"
#include "rig.h"

#define PAGE 4096u
#define PAGES 4u

struct bench {
	struct rig *r;
	struct rig_sq *sq;
	struct rig_rx *rx;
	struct emu_mkey *mkey;
	uint8_t *mem; /**< Registered, not of the arena. */
	uint64_t lost;
};

static struct bench
setup(int fd)
{
	struct bench b = {.r = rig_new(2, NULL)};
	struct rig_port *p = &b.r->port[0];

	b.sq = rig_sq_new(p, rig_cq_new(p, 6, 6), 5);
	b.rx = rig_rx_new(&b.r->port[1], 6);
	b.mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		     fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	CHECK(b.mem != MAP_FAILED);
	for (unsigned i = 0; i < PAGES; i++)
		memcpy(b.mem + i * PAGE, b.r->port[1].dev->vport.mac, 6);
	CHECK_EQ(emu_mr_create(p->ctx, p->pd, rig_addr(b.mem), PAGES * PAGE, rig_addr(b.mem), 1,
			       &b.mkey), 0);
	CHECK_EQ(emu_guard_start(&b.r->m), 0);
	b.lost = emu_audit_count(EMU_AUDIT_LOST_MEMORY);
	return b;
}

static void
finish(struct bench *b)
{
	emu_guard_stop();
	munmap(b->mem, PAGES * PAGE);
	rig_free(b->r);
}

/* A frame from the place goes out with a good completion; so many pages were missed by now. */
static void
send_from(struct bench *b, const uint8_t *at, unsigned lost)
{
	uint64_t before = b->r->port[0].dev->stats.tx_frames;

	rig_wqe(b->sq, PRM_WQE_OPCODE_SEND, RIG_CE_CQE);
	rig_wqe_eth(b->sq, &(struct rig_eth){.vlan = -1});
	rig_wqe_ptr(b->sq, at, 64, emu_mkey_key(b->mkey));
	rig_wqe_end(b->sq);
	rig_sq_record(b->sq);
	rig_sq_bell(b->sq);
	rig_run(b->r);
	CHECK(rig_cqe(b->sq->cq) != NULL);
	CHECK_EQ(b->r->port[0].dev->stats.tx_frames, before + 1);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_LOST_MEMORY), b->lost + lost);
}

/* The audit names the registration. */
static void
named(const struct bench *b, const char *what)
{
	char want[64];
	bool found = false;

	snprintf(want, sizeof(want), "mkey 0x%x of 0x%llx", b->mkey->obj.id,
		 (unsigned long long)rig_addr(b->mem));
	for (unsigned i = 0; emu_audit_text(EMU_AUDIT_LOST_MEMORY, i) != NULL; i++) {
		const char *text = emu_audit_text(EMU_AUDIT_LOST_MEMORY, i);

		found |= strcasestr(text, want) != NULL && strstr(text, what) != NULL;
	}
	CHECK(found);
}

static void
unmapped(void)
{
	struct bench b = setup(-1);

	send_from(&b, b.mem + PAGE, 0);
	CHECK_EQ(munmap(b.mem + PAGE, 2 * PAGE), 0);
	send_from(&b, b.mem, 0);
	send_from(&b, b.mem + PAGE, 1);
	named(&b, "unmapped");
	send_from(&b, b.mem + PAGE + 100, 1);
	send_from(&b, b.mem + 2 * PAGE, 2);
	/* Across the edge of two. */
	send_from(&b, b.mem + 3 * PAGE - 10, 2);
	finish(&b);
}

/* Written to by the device, from the middle of one page on. */
static void
unmapped_receive(void)
{
	struct bench b = setup(-1);
	struct rig_rx *rx = rig_rx_new(&b.r->port[0], 2);
	uint8_t frame[1500] = {0};
	const struct prm_cqe64 *cqe;

	/* The four buffers of its own ring first. */
	memcpy(frame, b.r->port[0].dev->vport.mac, 6);
	for (unsigned i = 0; i < 4; i++)
		emu_dp_ingress(b.r->port[0].dev, frame, sizeof(frame));
	for (unsigned i = 0; i < 4; i++)
		CHECK(rig_cqe(rx->cq) != NULL);
	rig_post(rx->rq, b.mem + PAGE - 700, 1500, emu_mkey_key(b.mkey));
	munmap(b.mem, 2 * PAGE);
	emu_dp_ingress(b.r->port[0].dev, frame, sizeof(frame));
	cqe = rig_cqe(rx->cq);
	CHECK(cqe != NULL && be32toh(cqe->byte_cnt) == sizeof(frame));
	CHECK_EQ(emu_audit_count(EMU_AUDIT_LOST_MEMORY), b.lost + 2);
	finish(&b);
}

static void
locked_away(void)
{
	struct bench b = setup(-1);

	CHECK_EQ(mprotect(b.mem + PAGE, PAGE, PROT_NONE), 0);
	send_from(&b, b.mem + PAGE, 1);
	named(&b, "inaccessible");
	send_from(&b, b.mem + PAGE, 1);
	finish(&b);
}

/* A file that became shorter than its mapping: SIGBUS. */
static void
cut_off(void)
{
	int fd = memfd_create("test_guard", MFD_CLOEXEC);
	struct bench b;

	CHECK_EQ(ftruncate(fd, PAGES * PAGE), 0);
	b = setup(fd);
	CHECK_EQ(ftruncate(fd, PAGE), 0);
	send_from(&b, b.mem, 0);
	send_from(&b, b.mem + 2 * PAGE, 1);
	named(&b, "cut off");
	finish(&b);
	close(fd);
}

static sigjmp_buf out;
static volatile sig_atomic_t caught;

static void
program_handler(int sig, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	caught = sig;
	siglongjmp(out, 1);
}

static void
touch(volatile uint8_t *at)
{
	caught = 0;
	if (sigsetjmp(out, 1) == 0)
		*at = 1;
}

/* Faults that are not the model's go where the program wants them. */
static void
programs_own(void)
{
	struct sigaction act = {.sa_sigaction = program_handler, .sa_flags = SA_SIGINFO}, was, old;
	struct bench b = setup(-1);
	uint8_t *other = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(emu_guard_has(SIGSEGV) && emu_guard_has(SIGBUS) && !emu_guard_has(SIGTERM));
	CHECK_EQ(emu_guard_sigaction(SIGSEGV, &act, &was), 0);
	CHECK_EQ(emu_guard_sigaction(SIGSEGV, NULL, &old), 0);
	CHECK(old.sa_sigaction == program_handler);
	/* Its own access to registered memory, and the model's to memory that is not. */
	munmap(b.mem, PAGE);
	emu_unlock(&b.r->m);
	touch(b.mem);
	emu_lock(&b.r->m);
	CHECK_EQ(caught, SIGSEGV);
	touch(other);
	CHECK_EQ(caught, SIGSEGV);
	CHECK_EQ(emu_audit_count(EMU_AUDIT_LOST_MEMORY), b.lost);
	send_from(&b, b.mem, 1);
	CHECK_EQ(emu_guard_sigaction(SIGSEGV, &was, NULL), 0);
	munmap(other, PAGE);
	finish(&b);
	CHECK(!emu_guard_has(SIGSEGV));
	CHECK_EQ(sigaction(SIGSEGV, NULL, &old), 0);
	CHECK(old.sa_handler == was.sa_handler);
}

int
main(int argc, char **argv)
{
	static const struct rig_test tests[] = {
		{"unmapped", unmapped},
		{"unmapped_receive", unmapped_receive},
		{"locked_away", locked_away},
		{"cut_off", cut_off},
		{"programs_own", programs_own},
		{NULL, NULL},
	};

	return rig_main(argc, argv, tests);
}
