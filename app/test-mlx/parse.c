/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Text to values and back: numbers, ranges, names of offloads, JSON strings.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tm.h"

int
tm_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	/* strtoull() accepts "-1" and leading space: reject them */
	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0' || v < min || v > max)
		return -EINVAL;
	*value = v;
	return 0;
}

int
tm_parse_number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	if (tm_parse_u64(text, min, max, value) == 0)
		return 0;
	tm_error("%s: bad value '%s', allowed: %" PRIu64 " to %" PRIu64, name, text, min, max);
	return -EINVAL;
}

int
tm_parse_seconds(const char *text, double *value)
{
	char *end;
	double v;

	if (text[0] != '.' && (text[0] < '0' || text[0] > '9'))
		return -EINVAL;
	v = strtod(text, &end);
	if (*end != '\0' || !isfinite(v) || v < 0 || v > 1e8)
		return -EINVAL;
	*value = v;
	return 0;
}

int
tm_parse_len(const char *text, uint16_t *min, uint16_t *max)
{
	char first[16];
	const char *dash = strchr(text, '-');
	size_t n = dash != NULL ? (size_t)(dash - text) : strlen(text);
	uint64_t lo, hi;

	if (n >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, n);
	first[n] = '\0';
	if (tm_parse_u64(first, TM_MIN_FRAME, 65000, &lo) != 0)
		return -EINVAL;
	hi = lo;
	if (dash != NULL && tm_parse_u64(dash + 1, lo, 65000, &hi) != 0)
		return -EINVAL;
	*min = lo;
	*max = hi;
	return 0;
}

struct offload_name {
	const char *name;
	uint64_t bits;
};

static const struct offload_name rx_names[] = {
	{ "none", 0 },
	{ "checksum", RTE_ETH_RX_OFFLOAD_CHECKSUM },
	{ "ipv4-cksum", RTE_ETH_RX_OFFLOAD_IPV4_CKSUM },
	{ "udp-cksum", RTE_ETH_RX_OFFLOAD_UDP_CKSUM },
	{ "tcp-cksum", RTE_ETH_RX_OFFLOAD_TCP_CKSUM },
	{ "vlan-strip", RTE_ETH_RX_OFFLOAD_VLAN_STRIP },
	{ "vlan-filter", RTE_ETH_RX_OFFLOAD_VLAN_FILTER },
	{ "qinq-strip", RTE_ETH_RX_OFFLOAD_QINQ_STRIP },
	{ "timestamp", RTE_ETH_RX_OFFLOAD_TIMESTAMP },
	{ "rss-hash", RTE_ETH_RX_OFFLOAD_RSS_HASH },
	{ "scatter", RTE_ETH_RX_OFFLOAD_SCATTER },
	{ "keep-crc", RTE_ETH_RX_OFFLOAD_KEEP_CRC },
	{ "lro", RTE_ETH_RX_OFFLOAD_TCP_LRO },
};

static const struct offload_name tx_names[] = {
	{ "none", 0 },
	{ "checksum", RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
	  RTE_ETH_TX_OFFLOAD_TCP_CKSUM },
	{ "ipv4-cksum", RTE_ETH_TX_OFFLOAD_IPV4_CKSUM },
	{ "udp-cksum", RTE_ETH_TX_OFFLOAD_UDP_CKSUM },
	{ "tcp-cksum", RTE_ETH_TX_OFFLOAD_TCP_CKSUM },
	{ "vlan-insert", RTE_ETH_TX_OFFLOAD_VLAN_INSERT },
	{ "multi-segs", RTE_ETH_TX_OFFLOAD_MULTI_SEGS },
	{ "mbuf-fast-free", RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE },
	{ "tcp-tso", RTE_ETH_TX_OFFLOAD_TCP_TSO },
};

static const struct offload_name *
offload_table(bool rx, unsigned int *n)
{
	*n = rx ? RTE_DIM(rx_names) : RTE_DIM(tx_names);
	return rx ? rx_names : tx_names;
}

int
tm_offloads_parse(bool rx, const char *list, uint64_t *bits)
{
	char *copy = strdup(list), *save = NULL, *word, known[256] = "";
	const struct offload_name *t;
	unsigned int n, i;
	int ret = copy == NULL ? -ENOMEM : 0;

	t = offload_table(rx, &n);
	*bits = 0;
	for (word = copy ? strtok_r(copy, ",", &save) : NULL; word != NULL && ret == 0;
	     word = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < n && strcmp(t[i].name, word) != 0; i++)
			;
		if (i < n) {
			*bits |= t[i].bits;
			continue;
		}
		for (i = 0; i < n; i++) {
			strncat(known, i ? " " : "", sizeof(known) - strlen(known) - 1);
			strncat(known, t[i].name, sizeof(known) - strlen(known) - 1);
		}
		tm_error("unknown %s offload '%s', known are: %s", rx ? "Rx" : "Tx", word, known);
		ret = -EINVAL;
	}
	free(copy);
	return ret;
}

const char *
tm_offloads_str(bool rx, uint64_t bits, char *buf, size_t size)
{
	const struct offload_name *t;
	unsigned int n;
	size_t used = 0;

	t = offload_table(rx, &n);
	buf[0] = '\0';
	for (unsigned int i = 0; i < n; i++) {
		/* Skip "none" and names of several bits. */
		if (__builtin_popcountll(t[i].bits) != 1 || (bits & t[i].bits) == 0)
			continue;
		used += snprintf(buf + used, size - used, "%s%s", used ? "," : "", t[i].name);
		if (used >= size)
			break;
		bits &= ~t[i].bits;
	}
	if (bits != 0 && used < size)
		snprintf(buf + used, size - used, "%s0x%" PRIx64, used ? "," : "", bits);
	return buf[0] != '\0' ? buf : "none";
}

void
tm_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}
