/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Register dumps as text: two columns, the format of FreeBSD's mlx5tool(8).
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fwdump.h"

int
fwdump_text_write(FILE *out, const struct mdv_fwdump_reg *regs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fprintf(out, "0x%08" PRIx32 "\t0x%08" PRIx32 "\n", regs[i].addr, regs[i].val) < 0)
			return errno != 0 ? -errno : -EIO;
	return fflush(out) == 0 ? 0 : -errno;
}

/* Read a hexadecimal number of 32 bits at *at, and advance; false if there is none. */
static bool
word_read(char **at, uint32_t *to)
{
	char *end;
	unsigned long long v;

	*at += strspn(*at, " \t");
	if (!isxdigit((unsigned char)**at))
		return false;
	v = strtoull(*at, &end, 16);
	*at = end;
	*to = (uint32_t)v;
	return v <= UINT32_MAX;
}

static int
line_read(struct fwdump_text *text, size_t *size, char *line)
{
	struct mdv_fwdump_reg reg, *more;

	line[strcspn(line, "#\r\n")] = '\0';
	if (line[strspn(line, " \t")] == '\0')
		return 0;
	if (!word_read(&line, &reg.addr) || !word_read(&line, &reg.val) ||
	    line[strspn(line, " \t")] != '\0')
		return -EINVAL;
	if (text->count == *size) {
		*size = *size != 0 ? 2 * *size : 1024;
		more = realloc(text->regs, *size * sizeof(*more));
		if (more == NULL)
			return -ENOMEM;
		text->regs = more;
	}
	text->regs[text->count++] = reg;
	return 0;
}

static int
by_address(const void *a, const void *b)
{
	const struct mdv_fwdump_reg *ra = a, *rb = b;

	return (ra->addr > rb->addr) - (ra->addr < rb->addr);
}

int
fwdump_text_read(const char *path, struct fwdump_text *text, unsigned int *line)
{
	FILE *f = fopen(path, "re");
	size_t room = 0, size = 0;
	char *buf = NULL;
	int ret = 0;

	memset(text, 0, sizeof(*text));
	*line = 0;
	if (f == NULL)
		return -errno;
	while (ret == 0 && getline(&buf, &size, f) >= 0) {
		++*line;
		ret = line_read(text, &room, buf);
	}
	if (ret == 0 && ferror(f))
		ret = -EIO;
	free(buf);
	fclose(f);
	if (text->count != 0)
		qsort(text->regs, text->count, sizeof(*text->regs), by_address);
	return ret;
}

void
fwdump_text_free(struct fwdump_text *text)
{
	free(text->regs);
	memset(text, 0, sizeof(*text));
}

static void
difference(FILE *out, uint32_t addr, const struct mdv_fwdump_reg *before,
	   const struct mdv_fwdump_reg *after)
{
	fprintf(out, "0x%08" PRIx32, addr);
	if (before != NULL)
		fprintf(out, "\t0x%08" PRIx32, before->val);
	else
		fprintf(out, "\t-");
	if (after != NULL)
		fprintf(out, "\t0x%08" PRIx32 "\n", after->val);
	else
		fprintf(out, "\t-\n");
}

size_t
fwdump_text_diff(FILE *out, const struct fwdump_text *before, const struct fwdump_text *after)
{
	size_t a = 0, b = 0, found = 0;

	while (a < before->count || b < after->count) {
		const struct mdv_fwdump_reg *ra = a < before->count ? &before->regs[a] : NULL;
		const struct mdv_fwdump_reg *rb = b < after->count ? &after->regs[b] : NULL;

		if (ra != NULL && rb != NULL && ra->addr != rb->addr) {
			if (ra->addr < rb->addr)
				rb = NULL;
			else
				ra = NULL;
		}
		a += ra != NULL;
		b += rb != NULL;
		if (ra != NULL && rb != NULL && ra->val == rb->val)
			continue;
		difference(out, ra != NULL ? ra->addr : rb->addr, ra, rb);
		found++;
	}
	return found;
}
