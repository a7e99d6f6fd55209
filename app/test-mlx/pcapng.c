/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Blocks of pcapng files. Numbers of blocks and options: draft-ietf-opsawg-pcapng, sections 3.5, 4.1, 4.2 and 4.6.
 */

#include <errno.h>
#include <string.h>

#include "pcapng.h"

#define BLOCK_SECTION 0x0A0D0D0Au
#define BLOCK_INTERFACE 1u
#define BLOCK_STATS 5u
#define BYTE_ORDER 0x1A2B3C4Du
#define LINK_ETHERNET 1
#define OPT_END 0
#define OPT_COMMENT 1
#define SHB_HARDWARE 2
#define SHB_SYSTEM 3
#define SHB_PROGRAM 4
#define IF_NAME 2
#define IF_DESCRIPTION 3
#define IF_MAC 6
#define IF_SPEED 8
#define IF_TSRESOL 9
#define IF_FILTER 11
#define IF_HARDWARE 15
#define ISB_START 2
#define ISB_END 3
#define ISB_RECEIVED 4
#define ISB_DROPPED 5
#define ISB_ACCEPTED 6
#define ISB_DELIVERED 8
#define NANOSECONDS 9	/* 10^-9 s */

/* More text than this is cut: a filter or comment of over 1000 bytes. */
#define TEXT_BYTES_MAX 1000
#define BLOCK_BYTES_MAX 8192

struct block {
	uint32_t bytes;
	uint8_t data[BLOCK_BYTES_MAX];
};

static void
add(struct block *b, const void *data, size_t n)
{
	memcpy(b->data + b->bytes, data, n);
	b->bytes += n;
}

static void
add_u32(struct block *b, uint32_t v)
{
	add(b, &v, sizeof(v));
}

static void
add_u16(struct block *b, uint16_t v)
{
	add(b, &v, sizeof(v));
}

static void
begin(struct block *b, uint32_t type)
{
	*b = (struct block) { .bytes = 0 };
	add_u32(b, type);
	add_u32(b, 0);
}

static void
option(struct block *b, uint16_t code, const void *data, uint16_t n)
{
	add_u16(b, code);
	add_u16(b, n);
	add(b, data, n);
	/* Padded to 32 bits by the zeros of begin(). */
	b->bytes = (b->bytes + 3) & ~3u;
}

static void
option_text(struct block *b, uint16_t code, const char *text)
{
	if (text != NULL && text[0] != '\0')
		option(b, code, text, strnlen(text, TEXT_BYTES_MAX));
}

static void
option_u64(struct block *b, uint16_t code, uint64_t v)
{
	option(b, code, &v, sizeof(v));
}

/* Times of options have the high half first, in any byte order. */
static void
option_time(struct block *b, uint16_t code, uint64_t ns)
{
	const uint32_t halves[2] = { ns >> 32, (uint32_t)ns };

	option(b, code, halves, sizeof(halves));
}

static int
end(struct block *b, FILE *out)
{
	uint32_t bytes;

	option(b, OPT_END, "", 0);
	bytes = b->bytes + sizeof(uint32_t);
	add_u32(b, bytes);
	memcpy(b->data + sizeof(uint32_t), &bytes, sizeof(bytes));
	return fwrite(b->data, 1, b->bytes, out) == b->bytes ? 0 : -EIO;
}

int
tm_pcapng_section(FILE *out, const char *hardware, const char *system, const char *program, const char *comment)
{
	struct block b;

	begin(&b, BLOCK_SECTION);
	add_u32(&b, BYTE_ORDER);
	add_u16(&b, 1);
	add_u16(&b, 0);
	/* The length of the section is not known before its end. */
	add_u32(&b, UINT32_MAX);
	add_u32(&b, UINT32_MAX);
	option_text(&b, OPT_COMMENT, comment);
	option_text(&b, SHB_HARDWARE, hardware);
	option_text(&b, SHB_SYSTEM, system);
	option_text(&b, SHB_PROGRAM, program);
	return end(&b, out);
}

int
tm_pcapng_interface(FILE *out, const struct tm_pcapng_interface *i)
{
	static const uint8_t no_mac[sizeof(i->mac)];
	const uint8_t resolution = NANOSECONDS;
	uint8_t filter[1 + TEXT_BYTES_MAX] = { 0 };
	struct block b;
	size_t n;

	begin(&b, BLOCK_INTERFACE);
	add_u16(&b, LINK_ETHERNET);
	add_u16(&b, 0);
	add_u32(&b, i->snaplen);
	option_text(&b, OPT_COMMENT, i->comment);
	option_text(&b, IF_NAME, i->name);
	option_text(&b, IF_DESCRIPTION, i->description);
	option_text(&b, IF_HARDWARE, i->hardware);
	if (memcmp(i->mac, no_mac, sizeof(no_mac)) != 0)
		option(&b, IF_MAC, i->mac, sizeof(i->mac));
	if (i->bits_per_s != 0)
		option_u64(&b, IF_SPEED, i->bits_per_s);
	option(&b, IF_TSRESOL, &resolution, sizeof(resolution));
	if (i->filter != NULL) {
		/* The first byte 0: text, as libpcap compiles it. */
		n = strnlen(i->filter, TEXT_BYTES_MAX);
		memcpy(filter + 1, i->filter, n);
		option(&b, IF_FILTER, filter, 1 + n);
	}
	return end(&b, out);
}

int
tm_pcapng_stats(FILE *out, uint32_t interface, const struct tm_pcapng_stats *s)
{
	struct block b;

	begin(&b, BLOCK_STATS);
	add_u32(&b, interface);
	add_u32(&b, s->end_ns >> 32);
	add_u32(&b, (uint32_t)s->end_ns);
	option_text(&b, OPT_COMMENT, s->comment);
	option_time(&b, ISB_START, s->start_ns);
	option_time(&b, ISB_END, s->end_ns);
	option_u64(&b, ISB_RECEIVED, s->received);
	option_u64(&b, ISB_DROPPED, s->dropped);
	option_u64(&b, ISB_ACCEPTED, s->accepted);
	option_u64(&b, ISB_DELIVERED, s->delivered);
	return end(&b, out);
}
