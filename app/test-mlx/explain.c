/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * `explain`, `devx explain`: print the meaning of a refused firmware command, of an error completion, or of a file of
 * the driver's recorder.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <mdv.h>
#include <mdv_inspect.h>

#include "explain.h"
#include "recorder.h"
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

/* A word that is no status may be the path of a file; one that is may be the name of a recorder's file. */
static bool
is_path(const char *word)
{
	struct recorder r;
	uint64_t status;
	char why[128];
	uint8_t found;

	if (recorder_read(word, &r, why, sizeof(why)) == 0) {
		recorder_free(&r);
		return true;
	}
	return mdv_status_find(word, &found) != 0 && tm_parse_u64(word, 0, UINT64_MAX, &status) != 0 &&
	       (strchr(word, '/') != NULL || access(word, F_OK) == 0);
}

static int
recording(const char *path, bool json)
{
	struct recorder r;
	char why[128];
	int ret = recorder_read(path, &r, why, sizeof(why));

	if (ret != 0) {
		tm_error("explain: '%s': %s", path, why);
		return ret;
	}
	if (json)
		ret = recorder_print_json(stdout, &r);
	else
		recorder_print(stdout, &r);
	if (ret == 0 && fflush(stdout) != 0)
		ret = -errno;
	if (ret != 0)
		tm_error("explain: 'stdout': %s", strerror(-ret));
	recorder_free(&r);
	return ret;
}

int
tm_explain(unsigned int n, const char *const words[])
{
	const bool json = n == 2 && (strcmp(words[0], "--json") == 0 || strcmp(words[1], "--json") == 0);
	const char *path = n > 0 ? words[json && strcmp(words[0], "--json") == 0] : NULL;

	if (n == 1 && strcmp(words[0], "--json") == 0)
		n = 0; /* Without a file. */
	if (json || (n == 1 && is_path(path)))
		return recording(path, json);
	if (n == 2 && strcmp(words[0], "cqe") == 0)
		return completion(words[1]);
	if ((n == 1 && strcmp(words[0], "cqe") != 0) || n == 2)
		return refusal(words[0], n == 2 ? words[1] : NULL);
	tm_error("devx explain takes: STATUS [SYNDROME], cqe SYNDROME, or FILE [--json] (devx explain 9 0x2a3d5c)");
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
	fputs("       dpdk-test-mlx explain STATUS|cqe [SYNDROME]             explain a refused firmware command or a CQE\n"
	      "       dpdk-test-mlx explain FILE [--json]                     explain what the driver's recorder has written\n",
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
