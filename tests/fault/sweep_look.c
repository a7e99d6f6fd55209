/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Checks after each cell: the log, objects held, values of the port, and whether it forwards. */

#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "ctl.h"
#include "pmd_test.h"
#include "sweep.h"

#define TRAFFIC_FRAMES 8
/* EtherType for local experiments (IEEE 802): no hash, so the first queue. */
#define ETHER_TYPE_LOCAL 0x88b5

/* ------------------------------------------------------------------ log */

static char log_buf[1 << 16], log_last[1024];
static size_t log_used;
static unsigned int log_ours, log_lost;

static bool
is_ours(const char *line)
{
	return strncmp(line, "mlx5dv: ", 8) == 0 || strncmp(line, "mlxpmd: ", 8) == 0;
}

/* Called once for each message: the stream has no buffer. */
static ssize_t
log_write(void *cookie, const char *text, size_t bytes)
{
	size_t n = RTE_MIN(bytes, sizeof(log_buf) - 1 - log_used);

	(void)cookie;
	memcpy(log_buf + log_used, text, n);
	log_buf[log_used + n] = '\0';
	if (is_ours(log_buf + log_used) && rte_log_cur_msg_loglevel() <= (int)RTE_LOG_WARNING) {
		log_ours++;
		snprintf(log_last, sizeof(log_last), "%.*s", (int)bytes, text);
		log_last[strcspn(log_last, "\n")] = '\0';
		log_lost += strstr(log_last, "stays behind") != NULL ||
			    strstr(log_last, " is left to ") != NULL;
	}
	log_used += n;
	return bytes;
}

int
log_open(void)
{
	static const cookie_io_functions_t functions = { .write = log_write };
	static char line[4096];
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream == NULL)
		return -errno;
	/* rte_vlog() flushes behind each message. */
	setvbuf(stream, line, _IOFBF, sizeof(line));
	return rte_openlog_stream(stream);
}

void
log_clear(void)
{
	log_used = 0;
	log_ours = log_lost = 0;
	log_buf[0] = '\0';
	log_last[0] = '\0';
}

unsigned int
log_complaints(const char **last)
{
	*last = log_last;
	return log_ours;
}

unsigned int
log_losses(void)
{
	return log_lost;
}

const char *
log_text(void)
{
	return log_buf;
}

/* ------------------------------------------------------------------ ledger */

static unsigned int
entries_of(const char *folder)
{
	DIR *dir = opendir(folder);
	unsigned int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

static void
count_memzone(const struct rte_memzone *zone, void *arg)
{
	(void)zone;
	(*(unsigned int *)arg)++;
}

/*
 * Pieces, not bytes: what is left of a block, too small for a piece, is given along. Memory that the
 * device may still write to, as its object could not be destroyed, is never given back.
 */
static unsigned int pieces_at_first, pieces_lost;

static unsigned int
heap_pieces(void)
{
	struct rte_malloc_socket_stats heap;

	rte_malloc_get_socket_stats(0, &heap);
	return heap.alloc_count;
}

void
ledger_begin(void)
{
	pieces_at_first = heap_pieces();
}

void
ledger_forgive(void)
{
	pieces_lost = heap_pieces() - pieces_at_first;
}

static size_t
heap_ledger(char *text, size_t bytes)
{
	unsigned int zones = 0;

	rte_memzone_walk(count_memzone, &zones);
	return snprintf(text, bytes,
			"descriptors %u, threads %u, EAL heap %u pieces, memzones %u, ",
			entries_of("/proc/self/fd"), entries_of("/proc/self/task"),
			heap_pieces() - pieces_lost, zones);
}

/* The library keeps the UARs of send queues for the next ones until the device is closed. */
static void
without_kept(json_t *ledger)
{
	json_t *port;
	size_t i;

	json_object_del(ledger, "objects");
	json_array_foreach(json_object_get(ledger, "ports"), i, port) {
		json_object_del(port, "mappings");
		json_object_del(json_object_get(port, "objects"), "UAR");
	}
}

void
ledger_take(char *text, size_t bytes)
{
	json_t *reply = ctl_request("ledger", NULL, NULL);
	size_t used = heap_ledger(text, bytes);
	char *device;

	if (level_now != LEVEL_NONE)
		without_kept(reply);
	device = reply != NULL ? json_dumps(reply, JSON_COMPACT) : NULL;

	/* Rings of a started port hold mbufs, how many depends on what went through them. */
	if (level_now != LEVEL_STARTED)
		used += snprintf(text + used, bytes - used, "mbufs %u, ",
				 rte_mempool_in_use_count(pmd_pool));
	snprintf(text + used, bytes - used, "device %s", device != NULL ? device : "?");
	free(device);
	json_decref(reply);
}

unsigned int
audit_take(void)
{
	json_t *reply = ctl_request("audit", NULL, NULL);
	unsigned int n = json_integer_value(json_object_get(reply, "left")) +
			 json_integer_value(json_object_get(reply, "violations"));

	json_decref(reply);
	return n;
}

/* ------------------------------------------------------------------ the port */

static size_t
rss_state(char *text, size_t bytes)
{
	struct rte_eth_rss_reta_entry64 table[8];
	struct rte_eth_rss_conf hash = { 0 };
	struct rte_eth_dev_info info;
	unsigned int sum = 0;

	memset(table, 0, sizeof(table));
	for (unsigned int i = 0; i < RTE_DIM(table); i++)
		table[i].mask = UINT64_MAX;
	if (rte_eth_dev_info_get(SWEEP_PORT, &info) != 0 ||
	    info.reta_size > RTE_DIM(table) * RTE_ETH_RETA_GROUP_SIZE ||
	    rte_eth_dev_rss_reta_query(SWEEP_PORT, table, info.reta_size) != 0 ||
	    rte_eth_dev_rss_hash_conf_get(SWEEP_PORT, &hash) != 0)
		return snprintf(text, bytes, "no RSS, ");
	for (unsigned int i = 0; i < info.reta_size; i++)
		sum += (i + 1) * table[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	return snprintf(text, bytes, "RSS %#" PRIx64 " table %u, ", hash.rss_hf, sum);
}

/* What the driver gave the kernel's interface. */
static size_t
interface_state(char *text, size_t bytes)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), flags = -1, mtu = -1;
	struct rte_eth_dev_info info;
	struct ifreq ifr = { 0 };
	uint8_t mac[6] = { 0 };

	if (rte_eth_dev_info_get(SWEEP_PORT, &info) == 0 && if_indextoname(info.if_index, ifr.ifr_name) != NULL) {
		if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0)
			flags = ifr.ifr_flags & (IFF_UP | IFF_PROMISC | IFF_ALLMULTI);
		if (ioctl(fd, SIOCGIFMTU, &ifr) == 0)
			mtu = ifr.ifr_mtu;
		if (ioctl(fd, SIOCGIFHWADDR, &ifr) == 0)
			memcpy(mac, ifr.ifr_hwaddr.sa_data, sizeof(mac));
	}
	close(fd);
	return snprintf(text, bytes, "interface %02x:%02x:%02x:%02x:%02x:%02x, MTU %d, flags %#x, ", mac[0], mac[1], mac[2],
			mac[3], mac[4], mac[5], mtu, flags);
}

void
port_state_take(char *text, size_t bytes)
{
	struct rte_eth_fc_conf pause = { 0 };
	struct rte_ether_addr mac;
	uint16_t mtu = 0;
	size_t used;

	text[0] = '\0';
	if (level_now == LEVEL_NONE) {
		snprintf(text, bytes, "ports %u", rte_eth_dev_count_total());
		return;
	}
	if (rte_eth_macaddr_get(SWEEP_PORT, &mac) != 0 || rte_eth_dev_get_mtu(SWEEP_PORT, &mtu) != 0)
		return;
	used = snprintf(text, bytes, "ports %u, " RTE_ETHER_ADDR_PRT_FMT
			", MTU %u, promiscuous %d, all multicast %d, ", rte_eth_dev_count_total(),
			RTE_ETHER_ADDR_BYTES(&mac), mtu, rte_eth_promiscuous_get(SWEEP_PORT),
			rte_eth_allmulticast_get(SWEEP_PORT));
	used += interface_state(text + used, bytes - used);
	(void)rte_eth_dev_flow_ctrl_get(SWEEP_PORT, &pause);
	used += snprintf(text + used, bytes - used, "pause %d, flows %u, ", pause.mode, flows_count());
	if (level_now > LEVEL_PROBED)
		rss_state(text + used, bytes - used);
}

bool
port_forwards(bool one_queue)
{
	struct pmd_frame frame;
	unsigned int i, sent = 0;

	for (i = 0; i < TRAFFIC_FRAMES; i++) {
		frame = pmd_frame_udp(SWEEP_PORT, SWEEP_PORT, i);
		if (one_queue)
			frame.ether_type = ETHER_TYPE_LOCAL;
		sent += pmd_send(SWEEP_PORT, 0, &frame);
	}
	return sent == TRAFFIC_FRAMES && pmd_drain(SWEEP_PORT, sent, 2000, NULL) == sent;
}
