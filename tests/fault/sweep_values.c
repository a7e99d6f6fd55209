/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Replies with wrong values: object numbers that no object has, impossible capabilities. A port either
 * comes up and passes frames, or fails with a log line and leaves nothing behind.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "ctl.h"
#include "sweep.h"

#define MOST_VALUES 4

static const struct wrong {
	const char *command, *field;
	unsigned int nb_values;
	uint32_t value[MOST_VALUES];
} wrongs[] = {
	{ "QUERY_HCA_CAP", "log_max_cq_sz", 4, { 0, 1, 16, 31 } },
	{ "QUERY_HCA_CAP", "log_max_wq_sz", 4, { 0, 1, 16, 31 } },
	{ "QUERY_HCA_CAP", "log_max_rqt_size", 4, { 0, 1, 16, 31 } },
	{ "QUERY_HCA_CAP", "max_wqe_sz_sq", 4, { 0, 63, 64, 0xffff } },
	{ "QUERY_HCA_CAP", "max_lso_cap", 4, { 0, 1, 19, 31 } },
	{ "QUERY_HCA_CAP", "device_frequency_khz", 4, { 0, 1, 4000001, UINT32_MAX } },
	{ "QUERY_HCA_CAP", "max_qp_cnt", 2, { 0, 1 } },
	{ "QUERY_HCA_CAP", "port_type", 3, { 0, 2, 3 } },
	{ "QUERY_HCA_CAP", "rq_ts_format", 3, { 1, 2, 3 } },
	{ "QUERY_HCA_CAP", "sq_ts_format", 3, { 1, 2, 3 } },
	{ "QUERY_HCA_CAP", "wqe_inline_mode", 4, { 0, 1, 2, 3 } },
	{ "ALLOC_TRANSPORT_DOMAIN", "transport_domain", 3, { 0, 1, 0xffffff } },
	{ "ALLOC_PD", "pd", 3, { 0, 1, 0xffffff } },
	{ "ALLOC_Q_COUNTER", "counter_set_id", 2, { 0, 0xff } },
	{ "CREATE_TIS", "tisn", 3, { 0, 1, 0xffffff } },
	{ "CREATE_CQ", "cqn", 3, { 0, 1, 0xffffff } },
	{ "CREATE_SQ", "sqn", 3, { 0, 1, 0xffffff } },
	{ "CREATE_RQ", "rqn", 3, { 0, 1, 0xffffff } },
	{ "CREATE_RQT", "rqtn", 3, { 0, 1, 0xffffff } },
	{ "CREATE_TIR", "tirn", 3, { 0, 1, 0xffffff } },
};

struct outcome {
	unsigned int cells, failed, refused;
};

static void
report(const struct wrong *w, uint32_t value, const char *what, int rc)
{
	printf("FAILED value, %s %s=%#" PRIx32 ": %s (%d)\n%s\n", w->command, w->field, value, what,
	       rc, log_text());
}

/* What the port did wrong; NULL: nothing. */
static const char *
port_check(int rc, bool forwards)
{
	const char *line;
	unsigned int n = log_complaints(&line);

	if (rc != 0)
		return n == 0 ? "failed without a line" : NULL;
	return forwards ? NULL : "came up and passes no frames";
}

static const char *
aftermath(const char *before)
{
	char now[SWEEP_TEXT_BYTES];

	if (level_reach(LEVEL_NONE) != 0)
		return "does not go down";
	/* No kernel has the object's right number: the driver keeps the memory of what it could not destroy. */
	if (sweep_vfio())
		ledger_forgive();
	ledger_take(now, sizeof(now));
	if (strcmp(now, before) != 0)
		return "something is left";
	if (level_reach(LEVEL_STARTED) != 0 || !port_forwards(false))
		return "does not work without the rule";
	return level_reach(LEVEL_NONE) != 0 ? "does not go down" : NULL;
}

static void
value_run(const struct wrong *w, uint32_t value, struct outcome *outcome)
{
	char rule[160], before[SWEEP_TEXT_BYTES];
	struct ctl_fault fault;
	const char *problem, *after;
	bool forwards = false;
	int rc;

	(void)level_reach(LEVEL_NONE);
	ledger_take(before, sizeof(before));
	log_clear();
	snprintf(rule, sizeof(rule), "on cmd.exit match op=%s do set field=%s value=%" PRIu32,
		 w->command, w->field, value);
	outcome->cells++;
	if (ctl_fault_add(rule) != 0) {
		outcome->failed++;
		return;
	}
	rc = level_reach(LEVEL_STARTED);
	if (rc == 0)
		forwards = port_forwards(false);
	ctl_fault_get(&fault);
	ctl_fault_clear();
	problem = fault.hits == 0 ? "the rule never hit" : port_check(rc, forwards);
	after = aftermath(before);
	outcome->refused += rc != 0;
	if (problem == NULL && after == NULL)
		return;
	outcome->failed++;
	report(w, value, problem != NULL ? problem : after, rc);
}

unsigned int
values_run(FILE *out)
{
	unsigned int failed = 0;

	for (unsigned int i = 0; i < RTE_DIM(wrongs); i++) {
		struct outcome outcome = { 0 };
		char name[96];
		uint64_t begin = now_ms();

		for (unsigned int v = 0; v < wrongs[i].nb_values; v++)
			value_run(&wrongs[i], wrongs[i].value[v], &outcome);
		snprintf(name, sizeof(name), "%s %s", wrongs[i].command, wrongs[i].field);
		row_write(out, "value", name, outcome.cells, outcome.cells, outcome.failed,
			  outcome.refused, now_ms() - begin);
		failed += outcome.failed != 0;
	}
	return failed;
}
