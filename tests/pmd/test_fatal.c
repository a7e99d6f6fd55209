/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Fatal error of a device under traffic. The device writes to posted buffers until the kernel has reset it, destroy
 * commands are answered with OK without being executed, and all others fail. No ring and no mbuf may be given back
 * before the device is quiesced. A failed device does not come back, so each run has one case: the first argument. The
 * second one is a number that moves the case in time.
 */

#include <pthread.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "emu_ctl.h"
#include "pmd_test.h"

#define NB_DESC 4096
/* The device is quiesced so long after the error. */
#define QUIESCED_MS 300
/* Buffers of which a freed one is recognized when it is written to. */
#define FREE_BYTE 0xa5
#define SEND_US 100

static struct rte_mempool *send_pool;
static _Atomic bool sending, done;
/* The application receives; the callback of the removal ends that before it closes the port. */
static _Atomic bool polling, poll_end;
static _Atomic unsigned int events;
static bool vfio; /* The ports are opened through VFIO: the driver owns the function and ends its DMA itself. */
static unsigned int variant;
static uint64_t begin_us, event_us;

/* ------------------------------------------------------------------ traffic to port A */

static void *
sender(void *arg)
{
	struct rte_mbuf *template = arg, *m;

	while (sending) {
		m = rte_pktmbuf_copy(template, send_pool, 0, UINT32_MAX);
		if (m != NULL && rte_eth_tx_burst(PORT_B, 0, &m, 1) == 0)
			rte_pktmbuf_free(m);
		pass_us(SEND_US); /* The rate of the traffic. */
	}
	return NULL;
}

static uint64_t
delivered(void)
{
	return emu_counter(PORT_A, "rx_delivered_frames");
}

/* ------------------------------------------------------------------ memory that was given back */

static bool
is_untouched(const struct rte_mbuf *m)
{
	const uint8_t *data = m->buf_addr;

	for (unsigned int i = 0; i < m->buf_len; i++)
		if (data[i] != FREE_BYTE)
			return false;
	return true;
}

/* Allocates all free mbufs and checks that nothing is written to them until the device is quiesced for certain. */
static void
free_memory_check(void)
{
	static struct rte_mbuf *m[1 << 14];
	uint64_t until = begin_us + (QUIESCED_MS + 200) * 1000;
	unsigned int n = 0, written = 0;

	while (n < RTE_DIM(m) && (m[n] = rte_pktmbuf_alloc(pmd_pool)) != NULL)
		memset(m[n]->buf_addr, FREE_BYTE, m[n]->buf_len), n++;
	while (now_us() < until)
		pass_us(10000); /* Nothing may be written meanwhile. */
	for (unsigned int i = 0; i < n; i++)
		written += !is_untouched(m[i]);
	CHECK(written == 0, "%u of %u free mbufs were written to", written, n);
	rte_pktmbuf_free_bulk(m, n);
}

/* ------------------------------------------------------------------ cases */

static void
fatal(unsigned int rest_ms)
{
	begin_us = now_us();
	CHECK_OK(emu_ctl("{\"cmd\":\"health\",\"port\":0,\"syndrome\":8,\"ms\":%u}", rest_ms));
}

static void
close_a(void)
{
	CHECK_OK(rte_eth_dev_stop(PORT_A));
	CHECK_OK(rte_eth_dev_close(PORT_A));
}

/* The device wrote after the error, and the memory was kept until that ended. */
static void
closed_check(uint64_t before)
{
	uint64_t took = now_us() - begin_us;

	CHECK(vfio || took >= QUIESCED_MS * 1000, "closed after %" PRIu64 " us, while the device still wrote", took);
	CHECK(took < 9000000, "closed after %" PRIu64 " us", took);
	CHECK(vfio || delivered() > before, "the device did not write after the error");
	free_memory_check();
}

static int
on_rmv_close(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(type);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	event_us = now_us();
	events++;
	poll_end = true;
	CHECK(AWAIT(!polling, 5000), "the application still receives");
	close_a();
	done = true;
	return 0;
}

/* The application polls its queues until it is notified of the failure, and closes the port in the callback. */
static void
notified(void)
{
	struct rte_mbuf *m[32];
	uint64_t before;

	polling = true;
	CHECK_OK(rte_eth_dev_callback_register(PORT_A, RTE_ETH_EVENT_INTR_RMV, on_rmv_close, NULL));
	before = delivered();
	fatal(QUIESCED_MS);
	/* For half of the time only: later the device writes to buffers that are not posted again. */
	while (!poll_end && now_us() - begin_us < QUIESCED_MS * 500)
		rte_pktmbuf_free_bulk(m, rte_eth_rx_burst(PORT_A, 0, m, RTE_DIM(m)));
	polling = false;
	CHECK(AWAIT(done, 20000) && events == 1, "%u removal events", events);
	CHECK(vfio || event_us - begin_us >= QUIESCED_MS * 1000, "reported after %" PRIu64 " us, while the device still wrote",
	      event_us - begin_us);
	closed_check(before);
}

/* The application closes the port at the start of the error, or some time later. */
static void
closed(void)
{
	uint64_t before = delivered();

	fatal(QUIESCED_MS);
	if (variant != 0)
		pass_us(variant * 37 % QUIESCED_MS * 1000); /* Anywhere between the error and the end of the DMA. */
	close_a();
	closed_check(before);
}

/* The error begins with a command of the close, whose answer is the first sign of it. */
static void
during(void)
{
	static const char *const verbs[] = {
		"ioctl match method=FLOW_DESTROY", "cmd.entry match op=MODIFY_RQ", "cmd.entry match op=MODIFY_SQ",
		"cmd.entry match op=DESTROY_RQ", "cmd.entry match op=DESTROY_CQ",
	}, *const exclusive[] = {
		"cmd.entry match op=DELETE_FLOW_TABLE_ENTRY", "cmd.entry match op=MODIFY_RQ", "cmd.entry match op=MODIFY_SQ",
		"cmd.entry match op=DESTROY_RQ", "cmd.entry match op=DESTROY_CQ",
	};
	const unsigned int i = variant % RTE_DIM(verbs);

	begin_us = now_us();
	CHECK_OK(emu_fault("on %s port=0 count 1 do fatal syndrome=8 ms=%u", vfio ? exclusive[i] : verbs[i], QUIESCED_MS));
	close_a();
	CHECK(emu_fault_hits() == 1, "there was no such command");
	emu_fault_clear();
	free_memory_check();
}

/* The kernel does not reset the device, or the function's bus mastering cannot be turned off. */
static void
never(void)
{
	unsigned int kept, before = pmd_rx_held();

	if (vfio)
		CHECK_OK(emu_fault("on pci.write match port=0 do drop"));
	fatal(60000);
	close_a();
	CHECK(now_us() - begin_us < 15000000, "closed after %" PRIu64 " us", now_us() - begin_us);
	free_memory_check();
	kept = pmd_rx_held();
	CHECK(before >= NB_DESC - 64 && kept >= before - 64 && kept <= before + 64, "%u of %u mbufs are kept", kept, before);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool keeps;
} cases[] = {
	{ "notified", notified, false },
	{ "closed", closed, false },
	{ "during", during, false },
	{ "never", never, true },
};

static void
ports_up(void)
{
	struct pmd_conf conf = { .nb_rxq = 1, .nb_txq = 1, .nb_desc = NB_DESC, .port_intr = true };

	CHECK_OK(pmd_port_up(PORT_A, &conf));
	conf.pool = send_pool;
	CHECK_OK(pmd_port_up(PORT_B, &conf));
}

int
main(int argc, char **argv)
{
	struct pmd_frame to_a;
	struct rte_mbuf *template;
	pthread_t thread;
	unsigned int i;

	alarm(100); /* Ends the program after a deadlock. */
	pmd_init(argc, argv);
	vfio = pmd_devarg(PORT_A, "open=vfio");
	variant = atoi(argv[argc - 1]);
	for (i = 0; i < RTE_DIM(cases) && strcmp(argv[argc - 2], cases[i].name) != 0; i++)
		;
	if (i == RTE_DIM(cases)) {
		printf("FAILED there is no case %s\n", argv[argc - 2]);
		return 2;
	}
	send_pool = rte_pktmbuf_pool_create("send", 16383, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	to_a = pmd_frame_udp(PORT_B, PORT_A, 1);
	template = pmd_frame_make(&to_a, 0);
	CHECK(send_pool != NULL && template != NULL, "no mbufs");
	ports_up();
	sending = true;
	CHECK_OK(pthread_create(&thread, NULL, sender, template));
	CHECK(pmd_drain(PORT_A, 32, 20000, NULL) >= 32, "no traffic");
	cases[i].run();
	sending = false;
	pthread_join(thread, NULL);
	rte_pktmbuf_free(template);
	CHECK_OK(rte_eth_dev_stop(PORT_B));
	if (!cases[i].keeps)
		return pmd_fini();
	rte_eal_cleanup();
	return check_exit("fatal");
}
