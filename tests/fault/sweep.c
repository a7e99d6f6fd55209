/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs the cells of the fault matrix and prints the result of each; see sweep.h. */

#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "ctl.h"
#include "hostfail.h"
#include "pmd_test.h"
#include "sweep.h"

#define POOL_MBUFS 1023
/* More requests than any operation makes: the loop over k ends before. */
#define MOST_K 2000
/* Failed cells of one operation whose log is shown. */
#define MOST_LOGS 3

/* What is held at each level when nothing was ever refused. */
static char reference[NB_LEVELS][SWEEP_TEXT_BYTES];
static unsigned int failed_rows;
/* Each variant takes every so many k, beginning at another one. 0: so many that each k is taken once. */
static unsigned int stride = 1;

uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------ one cell */

struct cell {
	const struct kind *kind;
	const struct op *op;
	unsigned int k, variant;
	struct hit hit;
	int rc;
	unsigned int audit;
	char state[SWEEP_TEXT_BYTES];  /**< Of the port before. */
	char ledger[SWEEP_TEXT_BYTES]; /**< Before. */
	char why[2 * SWEEP_TEXT_BYTES + 256];	/**< It failed; empty: it did not. */
};

/* The first reason counts. */
static bool __rte_format_printf(3, 4)
expect(struct cell *c, bool holds, const char *fmt, ...)
{
	va_list ap;

	if (holds || c->why[0] != '\0')
		return holds;
	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
	return false;
}

/* Two ledgers are long and nearly the same: from where they differ. */
static bool
same(struct cell *c, const char *when, const char *what, const char *now, const char *want)
{
	size_t from = 0, i;

	for (i = 0; now[i] != '\0' && now[i] == want[i]; i++)
		if (now[i] == ',' || now[i] == '{')
			from = i;
	return expect(c, now[i] == want[i], "%s: %s %.60s instead of %.60s", when, what, now + from,
		      want + from);
}

static void
expect_ledger(struct cell *c, const char *when, const char *want)
{
	char now[SWEEP_TEXT_BYTES];

	ledger_take(now, sizeof(now));
	same(c, when, "held", now, want);
}

static void
expect_state(struct cell *c, const char *when)
{
	char now[SWEEP_TEXT_BYTES];

	port_state_take(now, sizeof(now));
	same(c, when, "port is", now, c->state);
	if (level_now == LEVEL_STARTED)
		expect(c, port_forwards(c->op->one_queue), "%s: frames do not pass", when);
}

/* One line, which names what was refused, and how it was refused or what came of it. */
static void
expect_line(struct cell *c)
{
	const char *line, *name = c->hit.name;
	unsigned int n = log_complaints(&line);

	if (!expect(c, n == 1, "%u lines of log", n))
		return;
	expect(c, strstr(line, SWEEP_PCI) != NULL || strstr(line, "port 0") != NULL,
	       "line without a name: %s", line);
	if (strstr(line, name) != NULL)
		expect(c, strstr(line, c->hit.what) != NULL, "line without %s: %s", c->hit.what, line);
	else
		expect(c, strstr(line, strerrorname_np(c->hit.err)) != NULL ||
			  strstr(line, strerror(c->hit.err)) != NULL ||
			  strstr(line, c->hit.err == ENODEV ? "no RDMA device" : "no memory") != NULL ||
			  strstr(line, "no room") != NULL || strstr(line, "is in use") != NULL ||
			  strstr(line, "cannot be read") != NULL,
		       "line names neither %s nor %s: %s", name, strerrorname_np(c->hit.err), line);
}

static int
operate(const struct op *op)
{
	int rc = op->run();

	if (rc == 0)
		level_now = op->after;
	return rc;
}

static void
check_failure(struct cell *c)
{
	int rc;

	expect(c, !c->op->always && !c->hit.harmless, "failed, which it must not: %d", c->rc);
	expect(c, c->rc == -c->hit.err, "returned %d (%s)", c->rc, strerrorname_np(-c->rc));
	expect_line(c);
	expect_ledger(c, "after the failure", c->ledger);
	if (!c->op->silent)
		expect_state(c, "after the failure");
	if (c->op->change != NULL) {
		rc = c->op->change();
		expect(c, rc == 0, "another change returned %d", rc);
		expect_ledger(c, "after another change", c->ledger);
	}
	rc = operate(c->op);
	expect(c, rc == 0, "second try returned %d", rc);
}

static void
check_success(struct cell *c)
{
	const char *line;
	unsigned int n = log_complaints(&line);

	expect(c, c->op->always || c->hit.harmless || c->kind->tolerated(c->op, c->k, &c->hit),
	       "did not fail");
	/* A leaked object keeps the objects that it needs, and each is reported. */
	if (c->kind->teardown)
		expect(c, n > 0 && n == log_losses(), "%u lines of log, %u of losses", n,
		       log_losses());
	else
		expect(c, n <= 1 || c->kind->lost(&c->hit), "%u lines of log", n);
}

static void
cell_prepare(struct cell *c)
{
	int rc = level_reach(c->op->before);

	if (rc == 0 && c->op->prepare != NULL)
		rc = c->op->prepare();
	expect(c, rc == 0, "not ready: %d", rc);
	ledger_take(c->ledger, sizeof(c->ledger));
	port_state_take(c->state, sizeof(c->state));
	c->audit = audit_take();
}

/* What was lost, or could not be had, is of no matter once the device is closed. */
static void
finish_lost(struct cell *c)
{
	int rc = level_reach(LEVEL_NONE);

	expect(c, rc == 0, "could not be removed: %d", rc);
	if (c->kind->lost(&c->hit))
		ledger_forgive();
	expect_ledger(c, "when the device is closed", reference[LEVEL_NONE]);
}

/* Back to where it began. */
static void
finish_all(struct cell *c)
{
	int rc = 0;

	if (c->op->undo == NULL)
		expect_ledger(c, "afterwards", reference[level_now]);
	else
		rc = c->op->undo();
	expect(c, rc == 0, "could not be undone: %d", rc);
	if (c->op->undo != NULL)
		expect_ledger(c, "when undone", reference[level_now]);
	if (level_now == LEVEL_STARTED)
		expect(c, port_forwards(false), "frames do not pass afterwards");
	expect(c, audit_take() == c->audit, "%u more in the audit", audit_take() - c->audit);
}

static void
cell_finish(struct cell *c)
{
	bool degraded = c->hit.hit && c->rc == 0 && c->op->undo == NULL && !c->op->always;

	if ((c->hit.hit && c->kind->lost(&c->hit)) || degraded)
		finish_lost(c);
	else
		finish_all(c);
	if (c->why[0] != '\0')
		(void)level_reach(LEVEL_NONE);
}

static void
cell_run(struct cell *c)
{
	cell_prepare(c);
	log_clear();
	if (!expect(c, c->kind->arm(c->op, c->k, c->variant) == 0, "could not be armed"))
		return;
	c->rc = operate(c->op);
	c->kind->disarm(c->variant, &c->hit);
	if (!c->hit.hit)
		expect(c, c->rc == 0, "not hit, returned %d", c->rc);
	else if (c->rc != 0)
		check_failure(c);
	else
		check_success(c);
	cell_finish(c);
}

/* ------------------------------------------------------------------ one operation, one kind */

struct row {
	unsigned int requests, cells, failed, refused; /* refused: the operation failed, as it must. */
};

static void
story_print(const struct cell *c)
{
	printf("FAILED %s, %s %u (%s%s%s %s): %s\n", c->op->name, c->kind->name, c->k, c->hit.name,
	       c->hit.by[0] != '\0' ? " by " : "", c->hit.by, c->hit.hit ? c->hit.what : "not hit",
	       c->why);
}

static bool
row_cell(struct row *row, const struct kind *kind, const struct op *op, unsigned int k,
	 unsigned int variant)
{
	static struct cell c;

	memset(&c, 0, sizeof(c));
	c.kind = kind;
	c.op = op;
	c.k = k;
	c.variant = variant;
	cell_run(&c);
	if (c.why[0] != '\0') {
		story_print(&c);
		if (row->failed++ < MOST_LOGS)
			printf("%s\n", log_text());
	}
	row->cells += c.hit.hit || c.why[0] != '\0';
	row->refused += c.hit.hit && c.rc != 0;
	return c.hit.hit;
}

void
row_write(FILE *out, const char *kind, const char *name, unsigned int requests, unsigned int cells,
	  unsigned int failed, unsigned int refused, uint64_t ms)
{
	printf("%-9s %-32s %4u requests, %5u cells, %5u passed, %5u clean errors, %6" PRIu64
	       " ms\n", kind, name, requests, cells, cells - failed, refused, ms);
	if (out != NULL)
		fprintf(out, "{\"kind\": \"%s\", \"operation\": \"%s\", \"requests\": %u, "
			"\"cells\": %u, \"passed\": %u, \"errors\": %u, \"ms\": %" PRIu64 "}\n",
			kind, name, requests, cells, cells - failed, refused, ms);
}

static void
row_run(const struct kind *kind, const struct op *op, FILE *out)
{
	struct row row = { 0 };
	/* Variants of teardown are commands, not ways to refuse one. */
	unsigned int k, step = stride != 0 ? stride : kind->teardown ? 1 : kind->nb_variants;
	uint64_t begin = now_ms();

	for (unsigned int v = 0; v < kind->nb_variants; v++) {
		for (k = v % step; k < MOST_K && row_cell(&row, kind, op, k, v); k += step)
			;
		row.requests = RTE_MAX(row.requests, k);
	}
	failed_rows += row.failed != 0;
	row_write(out, kind->name, op->name, row.requests, row.cells, row.failed, row.refused,
		  now_ms() - begin);
}

/* ------------------------------------------------------------------ main */

/*
 * First-time costs of the libraries are paid after a round or two, and then each level is the same
 * twice.
 */
static int
references_take(void)
{
	char again[SWEEP_TEXT_BYTES];
	int rc = 0;

	for (unsigned int round = 0; rc == 0 && round < 3; round++) {
		for (enum level l = LEVEL_NONE; rc == 0 && l < NB_LEVELS; l++) {
			rc = level_reach(l);
			if (rc == 0 && l == LEVEL_STARTED && !port_forwards(false))
				rc = -EIO;
			ledger_take(again, sizeof(again));
			memcpy(reference[l], again, sizeof(again));
		}
		if (rc == 0)
			rc = level_reach(LEVEL_NONE);
	}
	if (rc != 0)
		printf("FAILED level %d: %d\n%s\n", level_now, rc, log_text());
	return rc;
}

static int
set_up(void)
{
	static const char *const libraries[] = {
		"librte_net_mlxpmd.so", "librte_common_mlx5dv.so", "libibverbs.so", "libmlx5.so",
	};
	uint64_t owner;

	pmd_pool = rte_pktmbuf_pool_create("sweep", POOL_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					   SOCKET_ID_ANY);
	/*
	 * While there is an owner, ethdev keeps its shared data. From 23.11 on it frees them with the last port, and
	 * any look-up of a port makes them again: a memzone more or less that is not the driver's.
	 */
	if (pmd_pool == NULL || rte_eth_dev_owner_new(&owner) != 0 || log_open() != 0)
		return -ENOMEM;
	/* The emulated device comes up with the first probe, and its socket with it. */
	if (level_reach(LEVEL_PROBED) != 0 || ctl_open() != 0) {
		printf("FAILED no device, or no control socket\n%s\n", log_text());
		return -ENODEV;
	}
	/* libmlx5 does not survive everything when it drives the device itself: see calls_of() in sweep_kinds.c. */
	for (unsigned int i = 0; i < (sweep_vfio() ? 2 : RTE_DIM(libraries)); i++) {
		/* The library's ioctl() is the emulated kernel's matter. */
		if (hostfail_attach(libraries[i], i < 2) > 0)
			continue;
		printf("FAILED %s is not loaded\n", libraries[i]);
		return -ENOENT;
	}
	/* Through VFIO a device is open once. */
	if (level_reach(LEVEL_NONE) != 0 || kinds_init() != 0) {
		printf("FAILED the library cannot open the device\n%s\n", log_text());
		return -EIO;
	}
	if (references_take() != 0)
		return -EIO;
	ledger_begin();
	return 0;
}

/* list: names with commas in between. */
static bool
names(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at++)
		if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

static void
sweep(const char *kinds, const char *only, FILE *out)
{
	for (unsigned int i = 0; i < sweep_nb_kinds; i++) {
		if (!names(kinds, sweep_kinds[i].name))
			continue;
		for (unsigned int j = 0; j < sweep_nb_ops; j++)
			if ((only == NULL || names(only, sweep_ops[j].name)) && (sweep_vfio() || !sweep_ops[j].vfio) &&
			    (sweep_ops[j].always || !sweep_kinds[i].teardown))
				row_run(&sweep_kinds[i], &sweep_ops[j], out);
	}
	if (names(kinds, "value"))
		failed_rows += values_run(out);
}

static void
check_nothing_left(void)
{
	char now[SWEEP_TEXT_BYTES];
	int rc = level_reach(LEVEL_NONE);

	ledger_take(now, sizeof(now));
	if (rc == 0 && strcmp(now, reference[LEVEL_NONE]) == 0)
		return;
	failed_rows++;
	printf("FAILED in the end: %d, held %s\n  instead of %s\n", rc, now, reference[LEVEL_NONE]);
}

/* [SWEEP_STRIDE=N] sweep EAL-ARGUMENTS -- KIND[,KIND...] [FILE [OPERATION[,OPERATION...]]] */
int
main(int argc, char **argv)
{
	int used;
	FILE *out;

	setvbuf(stdout, NULL, _IOLBF, 0);
	used = rte_eal_init(argc, argv);
	if (used < 0 || argc - used < 2)
		return 2;
	argv += used + 1;
	argc -= used + 1;
	if (getenv("SWEEP_STRIDE") != NULL)
		stride = strtoul(getenv("SWEEP_STRIDE"), NULL, 10);
	out = argc > 1 && argv[1][0] != '\0' ? fopen(argv[1], "w") : NULL;
	if (set_up() != 0)
		return 2;
	sweep(argv[0], argc > 2 ? argv[2] : NULL, out);
	check_nothing_left();
	if (out != NULL)
		fclose(out);
	rte_mempool_free(pmd_pool);
	rte_eal_cleanup();
	printf("%u rows failed\n", failed_rows);
	return failed_rows != 0;
}
