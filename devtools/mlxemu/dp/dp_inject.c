/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Injected frames: generated or from a capture, delivered to a port like frames of the wire. Works while
 * the engine is paused.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emu_cpu.h"
#include "dp_int.h"

#define PROTO_TCP 6u
#define PROTO_UDP 17u
#define PROTO_NONE 253u /* experimental (RFC 3692): unknown to parsers */
#define IPV4_BYTES 20u
#define IPV6_BYTES 40u

/** A kind of frame: its headers. */
static const struct inject_type {
	const char *name;
	bool vlan, fragment;
	uint8_t ip;	 /* 4, 6, 0: none */
	uint8_t proto;
	uint16_t ethertype; /* without IP */
} types[] = {
	{.name = "ipv4-udp", .ip = 4, .proto = PROTO_UDP},
	{.name = "ipv4-tcp", .ip = 4, .proto = PROTO_TCP},
	{.name = "ipv4", .ip = 4, .proto = PROTO_NONE},
	{.name = "ipv4-frag", .ip = 4, .proto = PROTO_UDP, .fragment = true},
	{.name = "ipv6-udp", .ip = 6, .proto = PROTO_UDP},
	{.name = "ipv6-tcp", .ip = 6, .proto = PROTO_TCP},
	{.name = "ipv6", .ip = 6, .proto = PROTO_NONE},
	{.name = "vlan-ipv4-udp", .vlan = true, .ip = 4, .proto = PROTO_UDP},
	{.name = "vlan-ipv6-tcp", .vlan = true, .ip = 6, .proto = PROTO_TCP},
	{.name = "l2", .ethertype = 0x88b5}, /* local experimental */
};
#define TYPES (sizeof(types) / sizeof(types[0]))

int
emu_inject_type(const char *name, const char **known)
{
	static char names[256];

	for (unsigned i = 0; i < TYPES; i++)
		if (strcmp(types[i].name, name) == 0)
			return (int)i;
	names[0] = '\0';
	for (unsigned i = 0, n = 0; i < TYPES && n < sizeof(names); i++)
		n += (unsigned)snprintf(names + n, sizeof(names) - n, "%s%s", i != 0 ? ", " : "",
					types[i].name);
	*known = names;
	return -EINVAL;
}

/* Version, lengths and addresses; the last bytes of the addresses identify the flow. */
static uint32_t
put_ip(uint8_t *p, uint32_t left, const struct inject_type *t, uint32_t flow)
{
	if (t->ip == 4) {
		p[0] = 0x45;
		dp_wr16(p + 2, (uint16_t)left);
		if (t->fragment)
			dp_wr16(p + 6, 0x2000 | 185);
		p[8] = 64;
		p[9] = t->proto;
		memcpy(p + 12, (const uint8_t[]){198, 18, 0, 0, 198, 19, 0, 1}, 8);
		dp_wr16(p + 14, (uint16_t)flow);
		return IPV4_BYTES;
	}
	p[0] = 0x60;
	dp_wr16(p + 4, (uint16_t)(left - IPV6_BYTES));
	p[6] = t->proto == PROTO_NONE ? 59 : t->proto;
	p[7] = 64;
	memcpy(p + 8, (const uint8_t[]){0x20, 0x01, 0x00, 0x02}, 4); /* benchmarking prefix */
	memcpy(p + 24, (const uint8_t[]){0x20, 0x01, 0x00, 0x02}, 4);
	dp_wr16(p + 22, (uint16_t)flow);
	p[39] = 1;
	return IPV6_BYTES;
}

static void
put_l4(uint8_t *p, uint32_t left, const struct inject_type *t, uint32_t flow)
{
	if (t->proto == PROTO_NONE || t->fragment)
		return;
	dp_wr16(p, (uint16_t)(1024 + flow % 60000));
	dp_wr16(p + 2, 9);
	if (t->proto == PROTO_UDP) {
		dp_wr16(p + 4, (uint16_t)left);
		return;
	}
	p[12] = 5 << 4;
	p[13] = 0x10;
	dp_wr16(p + 14, 8192);
}

static void
compose(uint8_t *frame, uint32_t len, const struct inject_type *t, const uint8_t dst[6],
	uint32_t flow)
{
	uint32_t at = DP_ETH_BYTES;
	struct dp_pkt pkt;

	memset(frame, 0, len);
	memcpy(frame, dst, 6);
	memcpy(frame + 6, (const uint8_t[]){0x02, 0, 0, 0, 0, 0x01}, 6);
	if (t->vlan) {
		dp_wr16(frame + 12, DP_ETHERTYPE_CVLAN);
		dp_wr16(frame + 14, 100);
		at += DP_VLAN_BYTES;
	}
	dp_wr16(frame + at - 2, t->ip == 4 ? 0x0800 : t->ip == 6 ? 0x86dd : t->ethertype);
	if (t->ip == 0)
		return;
	/* The shortest frames cannot hold every header: IPv6 with TCP grows. */
	at += put_ip(frame + at, len - at, t, flow);
	put_l4(frame + at, len - at, t, flow);
	dp_parse(&pkt, frame, len, 0);
	dp_tx_checksums(frame, &pkt, PRM_ETH_CS_FLAGS_L3 | PRM_ETH_CS_FLAGS_L4);
}

static uint32_t
least_bytes(const struct inject_type *t)
{
	uint32_t n = DP_ETH_BYTES + (t->vlan ? DP_VLAN_BYTES : 0);

	n += t->ip == 4 ? IPV4_BYTES : t->ip == 6 ? IPV6_BYTES : 0;
	return n + (t->proto == PROTO_TCP ? 20 : t->proto == PROTO_UDP ? 8 : 0);
}

static void
inject_made(struct emu_dev *dev, const struct emu_inject *spec, struct emu_inject_result *result)
{
	uint8_t frame[DP_MAX_FRAME];

	for (uint64_t i = 0; i < spec->frames; i++) {
		const struct inject_type *t = &types[spec->type[i % spec->types]];
		uint32_t len = spec->len;

		if (len < least_bytes(t))
			len = least_bytes(t);
		compose(frame, len, t, dev->vport.mac, (uint32_t)(i % spec->flows));
		emu_dp_ingress(dev, frame, len);
		result->frames++;
	}
}

/** Cache of the capture injected last: callers inject the same one repeatedly. */
static struct {
	char path[4096];
	struct timespec changed;
	uint8_t *bytes;	   /* frames, concatenated */
	uint32_t *end;	   /* end offset of each frame */
	uint32_t frames, room;
	size_t size, bytes_room;
} cache;

static void
cache_clear(void)
{
	free(cache.bytes);
	free(cache.end);
	memset(&cache, 0, sizeof(cache));
}

static bool
cache_add(const uint8_t *data, uint32_t len)
{
	if (cache.frames == cache.room) {
		uint32_t room = cache.room != 0 ? 2 * cache.room : 64;
		uint32_t *p = realloc(cache.end, room * sizeof(*p));

		if (p == NULL)
			return false;
		cache.end = p;
		cache.room = room;
	}
	if (cache.bytes_room - cache.size < len) {
		size_t room = 2 * cache.bytes_room + len;
		uint8_t *p = room > UINT32_MAX ? NULL : realloc(cache.bytes, room);

		if (p == NULL)
			return false;
		cache.bytes = p;
		cache.bytes_room = room;
	}
	memcpy(cache.bytes + cache.size, data, len);
	cache.size += len;
	cache.end[cache.frames++] = (uint32_t)cache.size;
	return true;
}

static int
cache_fill(const char *path, char *err, size_t err_len)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct pcap_pkthdr *header;
	const u_char *data;
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, why);
	int got = 0;

	if (p == NULL || pcap_datalink(p) != DLT_EN10MB) {
		snprintf(err, err_len, "%s: %s", path, p == NULL ? why : "not Ethernet");
		if (p != NULL)
			pcap_close(p);
		return -EINVAL;
	}
	while ((got = pcap_next_ex(p, &header, &data)) == 1)
		if (!cache_add(data, header->caplen)) {
			snprintf(err, err_len, "%s: too large", path);
			break;
		}
	if (got == PCAP_ERROR)
		snprintf(err, err_len, "%s: %s", path, pcap_geterr(p));
	pcap_close(p);
	return got == 1 || got == PCAP_ERROR ? -EIO : 0;
}

static int
cache_get(const char *path, char *err, size_t err_len)
{
	struct stat st;
	int ret;

	/* System call: libc's stat() is interposed, and capture files are not emulated. */
	if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) != 0) {
		snprintf(err, err_len, "%.2000s: %s", path, strerror(errno));
		return -errno;
	}
	if (strcmp(cache.path, path) == 0 &&
	    memcmp(&cache.changed, &st.st_mtim, sizeof(st.st_mtim)) == 0)
		return 0;
	cache_clear();
	ret = cache_fill(path, err, err_len);
	if (ret == 0 && cache.frames == 0) {
		snprintf(err, err_len, "%.2000s: no frame in it", path);
		ret = -EINVAL;
	}
	if (ret != 0) {
		cache_clear();
		return ret;
	}
	snprintf(cache.path, sizeof(cache.path), "%s", path);
	cache.changed = st.st_mtim;
	return 0;
}

int
emu_dp_file_frame(const char *path, uint64_t number, const uint8_t **frame, uint32_t *len, char *err, size_t err_len)
{
	int ret = cache_get(path, err, err_len);

	if (ret != 0)
		return ret;
	if (number == 0 || number > cache.frames) {
		snprintf(err, err_len, "%.2000s: frame %" PRIu64 ": it has 1 to %u", path, number, cache.frames);
		return -EINVAL;
	}
	*frame = cache.bytes + (number > 1 ? cache.end[number - 2] : 0);
	*len = (uint32_t)(cache.bytes + cache.end[number - 1] - *frame);
	return 0;
}

/* Starts again at the first frame if more are requested than the file has. */
static int
inject_file(struct emu_dev *dev, const struct emu_inject *spec, struct emu_inject_result *result,
	    char *err, size_t err_len)
{
	int ret = cache_get(spec->file, err, err_len);
	uint64_t wanted = spec->frames;

	if (ret != 0)
		return ret;
	if (wanted == 0)
		wanted = cache.frames;
	for (uint64_t i = 0; i < wanted; i++) {
		uint32_t n = (uint32_t)(i % cache.frames);
		uint32_t begin = n != 0 ? cache.end[n - 1] : 0;

		emu_dp_ingress(dev, cache.bytes + begin, cache.end[n] - begin);
		result->frames++;
	}
	return 0;
}

static void
demote_cb(struct emu_obj *obj, void *arg)
{
	const struct emu_cq *cq = (const struct emu_cq *)obj;
	size_t bytes = (size_t)1 << (cq->log_size + cq->log_cqe_bytes);

	(void)arg;
	for (size_t at = 0; !obj->unmapped && at < bytes; at += 64)
		emu_cpu_demote(cq->ring + at);
}

int
emu_dp_inject(struct emu_dev *dev, const struct emu_inject *spec, struct emu_inject_result *result,
	      char *err, size_t err_len)
{
	uint64_t before = dev->stats.rx_delivered_frames;
	int ret = 0;

	if (dev->dp == NULL) {
		snprintf(err, err_len, "the port has no data path");
		return -ENODEV;
	}
	dp_batch_begin(dp_port_of(dev)->shared);
	if (spec->file != NULL)
		ret = inject_file(dev, spec, result, err, err_len);
	else
		inject_made(dev, spec, result);
	dp_comp_flush_all(dp_port_of(dev)->shared);
	if (spec->demote)
		emu_obj_foreach(dev, EMU_OBJ_CQ, demote_cb, NULL);
	result->delivered = dev->stats.rx_delivered_frames - before;
	return ret;
}
