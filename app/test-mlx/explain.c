/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `devx explain`: print the meaning of a refused firmware command, or of an error completion.
 */

#include <errno.h>
#include <string.h>

#include <mdv.h>
#include <mdv_inspect.h>

#include "explain.h"
#include "tm.h"

static void
line(const char *name, const char *text)
{
	printf("  %-32s %s\n", name, text);
}

static int
completion(const char *word)
{
	uint64_t syndrome;

	if (tm_parse_u64(word, 0, UINT8_MAX, &syndrome) != 0) {
		tm_error("devx explain cqe: '%s' is not a syndrome of a completion (0 to 0xff)", word);
		return -EINVAL;
	}
	line("completion", mdv_syndrome_name(syndrome));
	line("meaning", mdv_syndrome_meaning(syndrome));
	return 0;
}

static int
refusal(const char *word, const char *more)
{
	uint64_t status, syndrome = 0;
	struct mdv_explanation e;
	uint8_t found;

	if (mdv_status_find(word, &found) == 0) {
		status = found;
	} else if (tm_parse_u64(word, 0, UINT8_MAX, &status) != 0) {
		tm_error("devx explain: '%s' is not a status: give a name (BAD_RES_STATE) or a number "
			 "(0 to 0xff)", word);
		return -EINVAL;
	}
	if (more != NULL && tm_parse_u64(more, 0, UINT32_MAX, &syndrome) != 0) {
		tm_error("devx explain: '%s' is not a syndrome (a number of 32 bits)", more);
		return -EINVAL;
	}
	mdv_explain(status, syndrome, &e);
	line("status", e.name);
	line("errno", e.errno_name);
	line("meaning", e.meaning);
	if (more != NULL)
		line("syndrome_meaning", e.syndrome);
	return 0;
}

int
tm_explain(unsigned int n, const char *const words[])
{
	if (n == 2 && strcmp(words[0], "cqe") == 0)
		return completion(words[1]);
	if ((n == 1 && strcmp(words[0], "cqe") != 0) || n == 2)
		return refusal(words[0], n == 2 ? words[1] : NULL);
	tm_error("devx explain takes: STATUS [SYNDROME], or cqe SYNDROME (devx explain 9 0x2a3d5c)");
	return -EINVAL;
}

int
tm_explain_line(const char *rest)
{
	char copy[256], *next = copy, *word;
	const char *words[3];
	unsigned int n = 0;

	snprintf(copy, sizeof(copy), "%s", rest);
	while (n < 3 && (word = strsep(&next, " \t")) != NULL)
		if (word[0] != '\0')
			words[n++] = word;
	return tm_explain(n, words);
}

void
tm_explain_help(FILE *out)
{
	fputs("       dpdk-test-mlx devx explain STATUS|cqe [SYNDROME]        explain a refused firmware command or a CQE\n",
	      out);
}

int
tm_explain_main(int argc, char **argv)
{
	if (argc > 0 && strcmp(argv[0], "explain") == 0)
		return tm_explain(argc - 1, (const char *const *)(argv + 1)) == 0 ? TM_EXIT_OK : TM_EXIT_SETUP;
	tm_error("devx %s: only explain works without a port; give the others as commands "
		 "(--interactive, --cmds FILE)", argc > 0 ? argv[0] : "");
	return TM_EXIT_SETUP;
}
