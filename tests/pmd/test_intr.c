/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Receive interrupts, as DPDK's l3fwd-power uses them: a thread polls, and when nothing comes orders an
 * interrupt and sleeps. No wake-up may be lost, whatever happens meanwhile.
 *
 * test_pmd_intr [removal]; PMD_TEST_ROUNDS: sleeps in the races.
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
/* A wake-up that has not come by then is lost, however busy the machine is. */
#define LOST_MS 30000
#define ROUNDS_DEFAULT 5000
#define IDLE_MS 1000
#define IDLE_STRICT_MS 10000
#define SETTLE_MS 15000
/*
 * Of the time, in hundredths: what a sleeping thread may take, and the whole process once it has
 * settled; at first, and on a machine with much else to do, it is more, but nothing spins.
 */
#define IDLE_PERCENT 2
/* By default: three quarters of ten times stats_age_ms. */
#define MISSED_ASLEEP_US 750000
#define BUSY_PERCENT 15
#define MAX_THREADS 32

static const struct pmd_conf one_queue = { .nb_rxq = 1, .nb_txq = 1, .rxq_intr = true };
static const struct pmd_conf queues = { .nb_rxq = NB_QUEUES, .nb_txq = 1, .rxq_intr = true,
					.rss_hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP };

/** A thread that polls, and sleeps in between. */
struct sleeper {
	pthread_t thread;
	uint16_t nb_queues;
	int epfd;
	volatile bool quit;
	volatile unsigned int asleep;	/**< Times that it went to sleep, */
	volatile unsigned int wakes;	/**< and woke. */
	volatile unsigned int lost, refused, got[NB_QUEUES], strange;
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
		s->strange += (uintptr_t)events[i].epdata.data >= s->nb_queues;
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
		/* A port that is stopped lets nobody sleep: who goes on has nothing to do there. */
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

/* Joins a thread that something has woken, or a last frame will. */
static void
sleeper_join(struct sleeper *s)
{
	uint64_t begin = now_us();

	CHECK_OK(pthread_join(s->thread, NULL));
	CHECK(now_us() - begin < LOST_MS * 1000ull / 2, "it slept on");
	CHECK(s->lost == 0 && s->strange == 0, "%u wake-ups lost, %u strange", s->lost, s->strange);
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

/* Waits until a number is at least so large. */
static bool
reaches(volatile unsigned int *what, unsigned int n)
{
	return AWAIT(*what >= n, LOST_MS);
}

/* It is going to sleep, and had time to. */
static void
until_asleep(struct sleeper *s)
{
	CHECK(reaches(&s->asleep, s->wakes + 1), "it does not go to sleep");
	pass_us(20000); /* Between the flag and the system call nothing can be observed. */
}

/* ------------------------------------------------------------------ what is refused */

static void
refusals(void)
{
	struct pmd_conf polled = one_queue;
	int epfd = epoll_create1(EPOLL_CLOEXEC);

	polled.rxq_intr = false;
	CHECK_OK(pmd_port_up(PORT_A, &polled));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) < 0, "not configured");
	CHECK(rte_eth_dev_rx_intr_disable(PORT_A, 0) < 0, "not configured");
	CHECK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_ADD, NULL) < 0, "not configured");
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) < 0, "not configured");
	pmd_port_down(PORT_A);
	CHECK_OK(pmd_port_configure(PORT_A, &one_queue));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) < 0, "not started");
	CHECK_OK(rte_eth_dev_start(PORT_A));
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) >= 0, "no descriptor");
	CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
	CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
	pmd_port_down(PORT_A);
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) < 0, "stopped");
	/* And back. */
	CHECK_OK(pmd_port_up(PORT_A, &polled));
	CHECK(rte_eth_dev_rx_intr_enable(PORT_A, 0) < 0, "not configured any more");
	CHECK(rte_eth_dev_rx_intr_ctl_q_get_fd(PORT_A, 0) < 0, "not configured any more");
	pmd_port_down(PORT_A);
	close(epfd);
}

/* ------------------------------------------------------------------ first packet, and none */

static int
wait_on(int epfd, int ms)
{
	struct rte_epoll_event event;

	return rte_epoll_wait(epfd, &event, 1, ms);
}

static void
first_packet(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	int epfd = epoll_create1(EPOLL_CLOEXEC), round;

	pmd_ports_up(&one_queue);
	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_ADD, NULL));
	for (round = 0; round < 5; round++) {
		/* Asleep before it comes. */
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, 20) == 0, "woken by nothing");
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken");
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
		CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1, "no packet");
		/* Not ordered: it wakes nobody. There already when ordered: it wakes at once. */
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		AWAIT_CERTAIN(rte_eth_rx_queue_count(PORT_A, 0) == 1);
		CHECK(wait_on(epfd, 20) == 0, "woken though not ordered");
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken");
		/* Ordered once more without a look at the queue. */
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, 0));
		CHECK(wait_on(epfd, LOST_MS) == 1, "not woken again");
		CHECK_OK(rte_eth_dev_rx_intr_disable(PORT_A, 0));
		CHECK(pmd_drain(PORT_A, 1, 1000, NULL) == 1, "no packet");
	}
	CHECK_OK(rte_eth_dev_rx_intr_ctl_q(PORT_A, 0, epfd, RTE_INTR_EVENT_DEL, NULL));
	pmd_ports_down();
	close(epfd);
}

/* Who reads the descriptor himself, and does not poll, is woken again by the next order. */
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
	/* And not only by the control thread, which on a slow machine may have come before the order. */
	CHECK(pmd_devarg(PORT_A, "open=vfio") || at_once > 0, "never woken at once");
	pmd_ports_down();
}

/* ------------------------------------------------------------------ what idleness costs */

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

/* All threads of the process, the emulator's as well: that is what a user sees in top. */
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

/* What each took since; the sums of all, and of all but the emulator's, which on a card are not there. */
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

/* Both ports' queues have their interrupts ordered; nobody polls. */
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
	/* Clocks are looked at more often at first. */
	if (strict)
		pass_us(SETTLE_MS * 1000);
	CHECK_OK(pthread_getcpuclockid(s.thread, &clock));
	CHECK_OK(clock_gettime(clock, &ts));
	thread_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	n = usage_begin(usage, MAX_THREADS);
	pass_us(ms * 1000); /* The period that is measured. */
	usage_end(usage, n, &all_ns, &ours_ns);
	CHECK_OK(clock_gettime(clock, &ts));
	thread_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec - thread_ns;
	printf("idle for %u ms: the sleeping thread took %.3f %%, all threads together %.3f %%, without the emulator's %.3f %%\n",
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

/* How often the device is asked for what its queues missed. The rule does nothing but count. */
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

/* Of queues that all sleep little is asked, until one is awake. */
static void
asked_seldom(void)
{
	uint64_t passed_us, hits;
	uint16_t q;

	pmd_ports_up(&queues);
	for (q = 0; q < NB_QUEUES; q++)
		CHECK_OK(rte_eth_dev_rx_intr_enable(PORT_A, q));
	pass_us(200000); /* The rate before does not count. */
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

/* A frame for each sleep, sent at any moment around the order. */
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
	CHECK(s.wakes >= rounds / 20, "it slept %u times only", s.wakes);
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
			pass_us(100); /* Another phase between the sleeper and the frame. */
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[q], i / NB_QUEUES + 1), "frame %u did not come to queue %u", i, q);
	}
	steer_to(0);
	sleeper_stop(&s);
	pmd_ports_down();
}

/* ------------------------------------------------------------------ what happens to sleepers */

/* Stop wakes; what is in an epoll set stays there for the next start, and works. */
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
		/* A port that is stopped may not be polled, and the thread knows; of a queue it is told. */
		s.quit = round % 2 == 0;
		s.refused = 0;
		CHECK_OK(round % 2 ? rte_eth_dev_rx_queue_stop(PORT_A, 0) : rte_eth_dev_stop(PORT_A));
		sleeper_join(&s);
		CHECK(s.refused == round % 2, "refused %u times", s.refused);
		CHECK_OK(round % 2 ? rte_eth_dev_rx_queue_start(PORT_A, 0) : rte_eth_dev_start(PORT_A));
		s.quit = false;
		CHECK_OK(pthread_create(&s.thread, NULL, sleeper_main, &s));
		/* Awake or asleep, whichever it is by now. */
		got = s.got[0];
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[0], got + 1), "not received after start");
	}
	sleeper_stop(&s);
	pmd_ports_down();
}

/* A queue that fails under a sleeper is repaired though nobody polls, and goes on to wake. */
static void
repaired(void)
{
	struct pmd_frame frame = pmd_frame_udp(PORT_B, PORT_A, 0);
	static const char *const faults[] = {
		"on cqe.write match port=0 q=rx1 count 1 do error syndrome=0x04", /* Its CQ goes on. */
		"on cqe.write match port=0 q=rx1 count 1 do corrupt off=61 xor=0x55", /* A new CQ. */
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
		/* That frame is lost, further ones are not. */
		for (got = s.got[1]; got < 5; got++) {
			pass_us(2000); /* The queue's thread is likely to sleep again. */
			CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
			CHECK(reaches(&s.got[1], got + 1), "%s: not received after the repair", faults[i]);
		}
		steer_to(0);
		sleeper_stop(&s);
		pmd_ports_down();
	}
}

/*
 * An event that gets lost on its way: the driver sees that a packet waits. Of the interrupts of a device
 * without the kernel's driver one may as well be that of a command, which would never end.
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
		CHECK(reaches(&s.got[0], 2 * i + 1), "%s: it slept on", faults[i]);
		CHECK(emu_fault_hits() == 1, "%" PRIu64 " hits", emu_fault_hits());
		emu_fault_clear();
		until_asleep(&s);
		CHECK(pmd_send(PORT_B, 0, &frame) == 1, "not sent");
		CHECK(reaches(&s.got[0], 2 * i + 2), "%s: no interrupts any more", faults[i]);
	}
	sleeper_stop(&s);
	pmd_ports_down();
}

/* The last act of a run: a removed device does not come back. */
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
	CHECK(s.refused != 0, "it may sleep on a device that is gone");
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
	asked_seldom();
	several_queues();
	stop_start();
	repaired();
	event_lost();
	races(rounds != NULL ? strtoul(rounds, NULL, 0) : ROUNDS_DEFAULT);
	return pmd_fini();
}
