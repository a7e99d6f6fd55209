/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive interrupts, as DPDK's l3fwd-power uses them: a thread polls; if there is no packet it enables the interrupts
 * of its queues and sleeps. No wake-up may be lost, in particular not during a stop, a repair or a removal.
 *
 * Usage: test_pmd_intr EAL-ARGUMENTS [-- removal]
 * PMD_TEST_ROUNDS: number of frames in races(), and strict limits of the idle cost.
 */

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_interrupts.h>
#include <rte_pause.h>

#include "emu_ctl.h"
#include "recover.h"

#define NB_QUEUES 4
/* A wake-up that has not come by then is lost, even on a busy machine. */
#define LOST_MS 30000
#define ROUNDS_DEFAULT 5000
#define IDLE_MS 1000
#define IDLE_STRICT_MS 10000
#define SETTLE_MS 15000
/*
 * Limits of the processor time in percent of one core. IDLE_PERCENT: a sleeping thread and, in the strict form, the
 * whole process. BUSY_PERCENT: the whole process in the default form, which does not wait until the clock has settled.
 */
#define IDLE_PERCENT 2
#define BUSY_PERCENT 15
/* Period of the imissed queries while all queues sleep: three quarters of ten times the default of stats_age_ms. */
#define MISSED_ASLEEP_US 750000
#define MAX_THREADS 32

static const struct pmd_conf one_queue = { .nb_rxq = 1, .nb_txq = 1, .rxq_intr = true };
static const struct pmd_conf queues = { .nb_rxq = NB_QUEUES, .nb_txq = 1, .rxq_intr = true,
					.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP };

/** A thread that polls, and sleeps while there are no packets. */
struct sleeper {
	pthread_t thread;
	uint16_t nb_queues;
	int epfd;
	_Atomic bool quit;
	_Atomic unsigned int asleep;	/**< How often it went to sleep. */
	_Atomic unsigned int wakes;	/**< How often it returned from the sleep. */
	_Atomic unsigned int lost;	/**< Sleeps that ended by the timeout LOST_MS. */
	_Atomic unsigned int refused;	/**< Failed calls of rte_eth_dev_rx_intr_enable(). */
	_Atomic unsigned int got[NB_QUEUES]; /**< Packets by queue. */
	_Atomic unsigned int invalid;	/**< Events with the data of no queue. */
};

static unsigned int
poll_queues(struct sleeper *s)
{
	struct rte_mbuf *pkts[32];
	unsigned int sum = 0, n;
	uint16_t q;

	for (q = 0; q < s->nb_queues; q++) {
		n = rte_eth_rx_burst(PORT_A, q, pkts, 32);
		rte_pktmbuf_free_bulk(pkts, n);
		s->got[q] += n;
		sum += n;
	}
	return sum;
}

static bool
intr_on(struct sleeper *s)
{
	uint16_t q;

	for (q = 0; q < s->nb_queues; q++) {
		if (rte_eth_dev_rx_intr_enable(PORT_A, q) != 0) {
			s->refused++;
			return false;
		}
	}
	return true;
}

static void
sleep_once(struct sleeper *s)
{
	struct rte_epoll_event events[NB_QUEUES];
	int n, i;

	s->asleep++;
	n = rte_epoll_wait(s->epfd, events, NB_QUEUES, LOST_MS);
	if (n <= 0)
		s->lost++;
	for (i = 0; i < n; i++)
		s->invalid += (uintptr_t)events[i].epdata.data >= s->nb_queues;
	s->wakes++;
}

static void *
sleeper_main(void *arg)
{
	struct sleeper *s = arg;
	uint16_t q;

	while (!s->quit) {
		if (poll_queues(s) != 0)
			continue;
		/* Enabling fails on a stopped queue or port: the thread ends. */
		if (!intr_on(s))
			break;
		sleep_once(s);
		for (q = 0; q < s->nb_queues; q++)
			(void)rte_eth_dev_rx_intr_disable(PORT_A, q);
	}
	return NULL;
}

static void
sleeper_start(struct sleeper *s, uint16_t nb_queues)
{
	uint16_t q;

	*s = (struct sleeper){ .nb_queues = nb_queues, .epfd = epoll_create1(EPOLL_CLOEXEC) };
	for (q = 0; q < nb_queues; q++)
		CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, q, s->epfd, RTE_INTR_EVENT_ADD,
						   (void *)(uintptr_t)q));
	CHECK_OK(pthread_create(&s->thread, NULL, sleeper_main, s));
}

/* Joins a thread that was woken, or will be by a last frame. */
static void
sleeper_join(struct sleeper *s)
{
	uint64_t begin = now_us();

	CHECK_OK(pthread_join(s->thread, NULL));
	CHECK(now_us() - begin < LOST_MS * 1000ull / 2, "the thread was not woken");
	CHECK(s->lost == 0 && s->invalid == 0, "%u wake-ups lost, %u invalid events", s->lost, s->invalid);
}

static void
sleeper_stop(struct sleeper *s)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	uint16_t q;

	s->quit = true;
	CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
	sleeper_join(s);
	(void)pmd_drain(PORT_A, 1, 100, NULL);
	for (q = 0; q < s->nb_queues; q++)
		CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, q, s->epfd, RTE_INTR_EVENT_DEL, NULL));
	close(s->epfd);
}

/* Waits until a counter is at least n. */
static bool
reaches(_Atomic unsigned int *count, unsigned int n)
{
	return AWAIT(*count >= n, LOST_MS);
}

/* Waits until the thread sleeps, as far as that can be observed. */
static void
until_asleep(struct sleeper *s)
{
	CHECK(reaches(&s->asleep, s->wakes + 1), "the thread does not go to sleep");
	pass_us(20000); /* From the increment of the counter to the system call; nothing can be observed in between. */
}

/* ------------------------------------------------------------------ refused calls */

static void
refusals(void)
{
	struct pmd_conf polled = one_queue;
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	polled.rxq_intr = false;
	CHECK_OK(pmd_port_up(PORT_A, &polled));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) == -EINVAL, "not configured");
	CHECK(rte_eth_dev_rx_intr_disable(PORT_A, 0) == -EINVAL, "not configured");
	CHECK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_ADD, NULL) < 0, "not configured");
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) < 0, "not configured");
	pmd_port_down(PORT_A);
	CHECK_OK(pmd_port_configure(PORT_A, &one_queue));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) == -EINVAL, "not started");
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) >= 0, "no descriptor");
	CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
	pmd_port_down(PORT_A);
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) == -EINVAL, "stopped");
	/* Without interrupts again. */
	CHECK_OK(pmd_port_up(PORT_A, &polled));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) == -EINVAL, "no longer configured");
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) < 0, "no longer configured");
	pmd_port_down(PORT_A);
	close(epfd);
}

/* ------------------------------------------------------------------ single packets */

static int
wait_on(int epfd, int ms)
{
	struct rte_epoll_event event;

	return rte_epoll_wait(epfd, &event, 1, ms);
}

/* A packet wakes the thread if the interrupt is enabled, whether it arrives before or after the enabling. */
static void
first_packet(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	int epfd = epoll_create1(EPOLL_CLOEXEC), round;

	pmd_ports_up(&one_queue);
	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_ADD, NULL));
	for (round = 0; round < 5; round++) {
		/* The packet arrives after the interrupt was enabled. */
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, 20) == 0, "woken without a packet");
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken");
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
		CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1, "no packet");
		/* The packet arrives while the interrupt is disabled: no wake-up until it is enabled. */
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		AWAIT_CERTAIN(rte_eth_rx_queue_count(PORT_A, 0) == 1);
		CHECK(wait_on(epfd, 20) == 0, "woken while the interrupt is disabled");
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken");
		/* Enabled again without polling the queue. */
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken again");
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
		CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1, "no packet");
	}
	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_DEL, NULL));
	pmd_ports_down();
	close(epfd);
}

/* An application that reads the event descriptor itself and does not poll is woken again after the next enabling. */
static void
own_reader(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	struct pollfd fd = { .events = POLLIN };
	unsigned int at_once = 0;
	uint64_t events;
	int round;

	pmd_ports_up(&one_queue);
	fd.fd = rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0);
	for (round = 0; round < 3; round++) {
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(poll(&fd, 1, LOST_MS) == 1, "not woken");
		CHECK(read(fd.fd, &events, sizeof(events)) == sizeof(events), "nothing to read");
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		at_once += poll(&fd, 1, 0) == 1;
		CHECK(poll(&fd, 1, LOST_MS) == 1, "not woken again");
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
		CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1, "no packet");
	}
	/*
	 * At least once by the enabling itself: a later wake-up may come from the control thread, which finds waiting
	 * packets.
	 */
	CHECK(pmd_devarg(PORT_A, "open=vfio") || at_once > 0, "never woken at once");
	pmd_ports_down();
}

/* ------------------------------------------------------------------ idle cost */

/** Processor time of a thread. */
struct usage {
	long tid;
	char name[32];
	uint64_t ns;
};

static uint64_t
tid_ns(long tid)
{
	char path[64];
	uint64_t ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", tid);
	f = fopen(path, "r");
	if (f != NULL && fscanf(f, "%" SCNu64, &ns) != 1)
		ns = 0;
	if (f != NULL)
		fclose(f);
	return ns;
}

/* Reads the processor time of all threads of the process, the emulator's included, as top shows it. */
static unsigned int
usage_begin(struct usage *u, unsigned int max)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned int n = 0;
	struct dirent *d;
	char path[64];
	FILE *f;

	while (tasks != NULL && n < max && (d = readdir(tasks)) != NULL) {
		u[n] = (struct usage){ .tid = strtol(d->d_name, NULL, 10) };
		snprintf(path, sizeof(path), "/proc/self/task/%ld/comm", u[n].tid);
		f = u[n].tid != 0 ? fopen(path, "r") : NULL;
		if (f == NULL)
			continue;
		if (fgets(u[n].name, sizeof(u[n].name), f) != NULL)
			u[n].name[strcspn(u[n].name, "\n")] = '\0';
		fclose(f);
		u[n].ns = tid_ns(u[n].tid);
		n++;
	}
	if (tasks != NULL)
		closedir(tasks);
	return n;
}

/* Processor time since usage_begin(): of each thread, of all, and of all but the emulator's threads. */
static void
usage_end(struct usage *u, unsigned int n, uint64_t *all_ns, uint64_t *ours_ns)
{
	unsigned int i;

	*all_ns = *ours_ns = 0;
	for (i = 0; i < n; i++) {
		u[i].ns = tid_ns(u[i].tid) - u[i].ns;
		*all_ns += u[i].ns;
		*ours_ns += strncmp(u[i].name, "mlxemu", 6) != 0 ? u[i].ns : 0;
	}
}

static void
usage_print(const struct usage *u, unsigned int n, unsigned int ms)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		printf("  %-16s %7.3f %%\n", u[i].name, u[i].ns / (ms * 1e4));
}

/* Processor time while the interrupts of all queues of both ports are enabled and no queue is polled. */
static void
idle(bool strict)
{
	const unsigned int ms = strict ? IDLE_STRICT_MS : IDLE_MS;
	uint64_t thread_ns, all_ns, ours_ns, limit_ns = ms * 10000ull * (strict ? IDLE_PERCENT : BUSY_PERCENT);
	struct usage usage[MAX_THREADS];
	struct timespec ts;
	struct sleeper s;
	unsigned int n;
	clockid_t clock;
	uint16_t q;

	pmd_ports_up(&queues);
	sleeper_start(&s, NB_QUEUES);
	until_asleep(&s);
	for (q = 0; q < NB_QUEUES; q++)
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_B, q));
	/* The clock is refreshed more often at first. */
	if (strict)
		pass_us(SETTLE_MS * 1000);
	CHECK_OK(pthread_getcpuclockid(s.thread, &clock));
	CHECK_OK(clock_gettime(clock, &ts));
	thread_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	n = usage_begin(usage, MAX_THREADS);
	pass_us(ms * 1000); /* The measured period. */
	usage_end(usage, n, &all_ns, &ours_ns);
	CHECK_OK(clock_gettime(clock, &ts));
	thread_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec - thread_ns;
	printf("idle for %u ms: the sleeping thread took %.3f %%, all threads %.3f %%, all without the emulator's %.3f %%\n",
	       ms, thread_ns / (ms * 1e4), all_ns / (ms * 1e4), ours_ns / (ms * 1e4));
	if (strict || all_ns >= limit_ns)
		usage_print(usage, n, ms);
	CHECK(thread_ns < ms * 10000ull * IDLE_PERCENT, "%" PRIu64 " ns", thread_ns);
	CHECK(all_ns < limit_ns, "%" PRIu64 " ns", all_ns);
	CHECK(s.asleep == 1 && s.wakes == 0, "%u sleeps, %u wakes", s.asleep, s.wakes);
	for (q = 0; q < NB_QUEUES; q++)
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_B, q));
	sleeper_stop(&s);
	pmd_ports_down();
}

/* Counts the imissed queries for us microseconds; the fault rule only counts. */
static uint64_t
missed_queries(unsigned int us, uint64_t *passed_us)
{
	uint64_t begin = now_us(), hits;

	CHECK_OK(emu_fault("on cmd.entry match op=QUERY_Q_COUNTER port=0 do delay us=1"));
	pass_us(us); /* The period in which queries are counted. */
	hits = emu_fault_hits();
	*passed_us = now_us() - begin;
	emu_fault_clear();
	return hits;
}

/* imissed is queried rarely while the application sleeps on all queues, and at the normal rate if one is awake. */
static void
queried_rarely(void)
{
	uint64_t passed_us, hits;
	uint16_t q;

	pmd_ports_up(&queues);
	for (q = 0; q < NB_QUEUES; q++)
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, q));
	pass_us(200000); /* Queries that were due before the sleep. */
	hits = missed_queries(1500000, &passed_us);
	CHECK(hits > 0 && hits <= passed_us / MISSED_ASLEEP_US + 2, "%" PRIu64 " times in %" PRIu64 " us",
	      hits, passed_us);
	CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
	hits = missed_queries(5 * MISSED_ASLEEP_US / 4, &passed_us);
	CHECK(hits > 2, "%" PRIu64 " times in %" PRIu64 " us", hits, passed_us);
	for (q = 1; q < NB_QUEUES; q++)
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, q));
	pmd_ports_down();
}

/* ------------------------------------------------------------------ races */

/* One frame for each sleep, sent at a random time around the enabling of the interrupt. */
static void
races(unsigned int rounds)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	unsigned int i, spins, random = 1;
	struct sleeper s;
	uint64_t begin;

	pmd_ports_up(&one_queue);
	sleeper_start(&s, 1);
	begin = now_us();
	for (i = 0; i < rounds && s.lost == 0; i++) {
		random = random * 1103515245u + 12345u;
		for (spins = (random >> 16) % 700; spins > 0; spins--)
			rte_pause();
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		if (!reaches(&s.got[0], i + 1))
			break;
	}
	CHECK(i == rounds, "frame %u was not received", i);
	printf("%u frames in %.1f s: %u sleeps, %u wakes, %u lost\n", i, (now_us() - begin) / 1e6, s.asleep,
	       s.wakes, s.lost);
	CHECK(s.wakes >= rounds / 20, "the thread slept only %u times", s.wakes);
	sleeper_stop(&s);
	pmd_ports_down();
}

static void
several_queues(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	struct sleeper s;
	unsigned int i, q;

	pmd_ports_up(&queues);
	sleeper_start(&s, NB_QUEUES);
	for (i = 0; i < 50 * NB_QUEUES; i++) {
		q = i % NB_QUEUES;
		steer_to(q);
		if (i % 3 == 0)
			pass_us(100); /* Varies the phase between the sleep and the frame. */
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[q], i / NB_QUEUES + 1), "frame %u not received on queue %u", i, q);
	}
	steer_to(0);
	sleeper_stop(&s);
	pmd_ports_down();
}

/* ------------------------------------------------------------------ stop, repair, lost events, removal */

/* A stop wakes the thread; a descriptor stays valid in the epoll set and works after the next start. */
static void
stop_start(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	unsigned int round, got;
	struct sleeper s;

	pmd_ports_up(&one_queue);
	sleeper_start(&s, 1);
	for (round = 0; round < 6; round++) {
		until_asleep(&s);
		/* End the thread before the port stops. For a stopped queue it ends because enabling fails. */
		s.quit = round % 2 == 0;
		s.refused = 0;
		CHECK_OK(round % 2 ? rte_eth_dev_rx_queue_stop(PORT_A, 0) : rte_eth_dev_stop(PORT_A));
		sleeper_join(&s);
		CHECK(s.refused == round % 2, "refused %u times", s.refused);
		CHECK_OK(round % 2 ? rte_eth_dev_rx_queue_start(PORT_A, 0) : rte_eth_dev_start(PORT_A));
		s.quit = false;
		CHECK_OK(pthread_create(&s.thread, NULL, sleeper_main, &s));
		/* The thread may be awake or asleep. */
		got = s.got[0];
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[0], got + 1), "not received after start");
	}
	sleeper_stop(&s);
	pmd_ports_down();
}

/* A queue that fails while the application sleeps is repaired without a burst, and its interrupts work afterwards. */
static void
repaired(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	static const char *const faults[] = {
		"on cqe.write match port=0 q=rx1 count 1 do error syndrome=0x04", /* The CQ is kept. */
		"on cqe.write match port=0 q=rx1 count 1 do corrupt off=61 xor=0x55", /* The CQ is replaced. */
	};
	unsigned int i, got;
	struct sleeper s;

	for (i = 0; i < RTE_DIM(faults); i++) {
		pmd_ports_up(&queues);
		steer_to(1);
		sleeper_start(&s, NB_QUEUES);
		until_asleep(&s);
		CHECK_OK(emu_fault("%s", faults[i]));
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		AWAIT_CERTAIN(pmd_xstat(PORT_A, "rx_q1_resets") != 0 || s.lost != 0);
		emu_fault_clear();
		/* The frame with the error is lost, the following ones are not. */
		for (got = s.got[1]; got < 5; got++) {
			pass_us(2000); /* The thread is likely to sleep again. */
			CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
			CHECK(reaches(&s.got[1], got + 1), "%s: not received after the repair", faults[i]);
		}
		steer_to(0);
		sleeper_stop(&s);
		pmd_ports_down();
	}
}

/*
 * A lost event: the control thread finds the waiting packet and wakes the application. Through VFIO the second rule is
 * left out: it could drop the interrupt of a command, which would then never end.
 */
static void
event_lost(void)
{
	static const char *const faults[] = {
		"on eqe.write match port=0 type=0 count 1 do drop", "on event.fd match port=0 count 1 do drop",
	};
	const unsigned int n = RTE_DIM(faults) - (pmd_devarg(PORT_A, "open=vfio") ? 1 : 0);
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	struct sleeper s;
	unsigned int i;

	pmd_ports_up(&one_queue);
	sleeper_start(&s, 1);
	for (i = 0; i < n; i++) {
		until_asleep(&s);
		CHECK_OK(emu_fault("%s", faults[i]));
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[0], 2 * i + 1), "%s: the thread was not woken", faults[i]);
		CHECK(emu_fault_hits() == 1, "%" PRIu64 " hits", emu_fault_hits());
		emu_fault_clear();
		until_asleep(&s);
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[0], 2 * i + 2), "%s: no further interrupts", faults[i]);
	}
	sleeper_stop(&s);
	pmd_ports_down();
}

/* A removal wakes the thread, and interrupts cannot be enabled afterwards. The device does not come back. */
static void
removal(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	struct sleeper s;

	pmd_ports_up(&queues);
	steer_to(2);
	sleeper_start(&s, NB_QUEUES);
	CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
	CHECK(reaches(&s.got[2], 1), "not received");
	until_asleep(&s);
	CHECK_OK(emu_ctl("{\"cmd\":\"remove\",\"port\":0}"));
	sleeper_join(&s);
	CHECK(s.refused != 0, "interrupts can be enabled on a removed device");
	close(s.epfd);
	pmd_ports_down();
}

int
main(int argc, char **argv)
{
	const char *rounds = getenv("PMD_TEST_ROUNDS");

	pmd_init(argc, argv);
	recover_init();
	if (strcmp(argv[argc - 1], "removal") == 0) {
		removal();
		return pmd_fini();
	}
	refusals();
	first_packet();
	own_reader();
	idle(rounds != NULL);
	queried_rarely();
	several_queues();
	stop_start();
	repaired();
	event_lost();
	races(rounds != NULL ? strtoul(rounds, NULL, 0) : ROUNDS_DEFAULT);
	return pmd_fini();
}
