/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * See telemetry_sim.h. The functions of rte_telemetry.h that build a reply are replaced here (--wrap, see
 * meson.build).
 */

#include <limits.h>

#include <rte_telemetry.h>

#include <mdv_inspect.h>

#include "telemetry_sim.h"

#define MAX_ENTRIES 256 /* RTE_TEL_MAX_DICT_ENTRIES of all releases. */
#define GUARD_BYTES 64 /* Behind a block; no pointer has this value. */

int mlxpmd_logtype;
struct mlxpmd_port port;

/* ------------------------------------------------------------------ memory that can be short */

static unsigned int left = UINT_MAX;	/* Calls until the one that fails. */
const char *hit;
int locks;
static int allocated;		/* Blocks and replies that were not given back. */

static bool
fails(const char *name)
{
	if (hit != NULL || left == UINT_MAX || left-- != 0)
		return false;
	hit = name;
	return true;
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *
__wrap_malloc(size_t n)
{
	if (fails("malloc"))
		return NULL;
	allocated++;
	return __real_malloc(n);
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *
__wrap_calloc(size_t n, size_t bytes)
{
	uint8_t *p;

	if (fails("calloc"))
		return NULL;
	allocated++;
	p = __real_calloc(1, n * bytes + GUARD_BYTES);
	if (p != NULL)
		memset(p + n * bytes, 0xff, GUARD_BYTES);
	return p;
}

void __real_free(void *p);
void __wrap_free(void *p);
void
__wrap_free(void *p)
{
	allocated -= p != NULL;
	__real_free(p);
}

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int
__wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	locks++;
	return __real_pthread_mutex_lock(lock);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);
int
__wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	locks--;
	return __real_pthread_mutex_unlock(lock);
}

/* ------------------------------------------------------------------ replies */

struct rte_tel_data {
	enum { UNSET, DICT, ARRAY } kind;
	enum rte_tel_value_type type;	/**< Of an array. */
	unsigned int n;
	struct {
		char name[2 * RTE_TEL_MAX_STRING_LEN], value[RTE_TEL_MAX_STRING_LEN];
		struct rte_tel_data *child;
	} entry[MAX_ENTRIES];
};

struct rte_tel_data *__wrap_rte_tel_data_alloc(void);
struct rte_tel_data *
__wrap_rte_tel_data_alloc(void)
{
	if (fails("rte_tel_data_alloc"))
		return NULL;
	allocated++;
	return __real_calloc(1, sizeof(struct rte_tel_data));
}

void __wrap_rte_tel_data_free(struct rte_tel_data *d);
void
__wrap_rte_tel_data_free(struct rte_tel_data *d)
{
	for (unsigned int i = 0; i < d->n; i++)
		if (d->entry[i].child != NULL)
			__wrap_rte_tel_data_free(d->entry[i].child);
	__wrap_free(d);
}

int __wrap_rte_tel_data_start_dict(struct rte_tel_data *d);
int
__wrap_rte_tel_data_start_dict(struct rte_tel_data *d)
{
	CHECK(d != NULL && d->kind == UNSET);
	d->kind = DICT;
	return 0;
}

int __wrap_rte_tel_data_start_array(struct rte_tel_data *d, enum rte_tel_value_type type);
int
__wrap_rte_tel_data_start_array(struct rte_tel_data *d, enum rte_tel_value_type type)
{
	CHECK(d != NULL && d->kind == UNSET);
	d->kind = ARRAY;
	d->type = type;
	return 0;
}

static int
add(struct rte_tel_data *d, const char *name, const char *value, struct rte_tel_data *child)
{
	if (d->n == MAX_ENTRIES)
		return -E2BIG;
	if (strcmp(name, "refused") == 0)
		return -EINVAL;
	snprintf(d->entry[d->n].name, sizeof(d->entry[0].name), "%s", name);
	snprintf(d->entry[d->n].value, sizeof(d->entry[0].value), "%s", value);
	d->entry[d->n++].child = child;
	return 0;
}

static int
add_number(struct rte_tel_data *d, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return add(d, name, text, NULL);
}

/* A number of 32 bits is enough here; newer releases pass one of 64. */
int __wrap_rte_tel_data_add_dict_int(struct rte_tel_data *d, const char *name, int value);
int
__wrap_rte_tel_data_add_dict_int(struct rte_tel_data *d, const char *name, int value)
{
	CHECK(d->kind == DICT && value >= 0);
	return add_number(d, name, value);
}

int __wrap_rte_tel_data_add_dict_uint(struct rte_tel_data *d, const char *name, uint64_t value);
int
__wrap_rte_tel_data_add_dict_uint(struct rte_tel_data *d, const char *name, uint64_t value)
{
	CHECK_EQ(d->kind, DICT);
	return add_number(d, name, value);
}

int __wrap_rte_tel_data_add_dict_u64(struct rte_tel_data *d, const char *name, uint64_t value);
int
__wrap_rte_tel_data_add_dict_u64(struct rte_tel_data *d, const char *name, uint64_t value)
{
	return __wrap_rte_tel_data_add_dict_uint(d, name, value);
}

int __wrap_rte_tel_data_add_dict_string(struct rte_tel_data *d, const char *name, const char *value);
int
__wrap_rte_tel_data_add_dict_string(struct rte_tel_data *d, const char *name, const char *value)
{
	CHECK(d->kind == DICT && value != NULL);
	return add(d, name, value, NULL);
}

int __wrap_rte_tel_data_add_dict_container(struct rte_tel_data *d, const char *name, struct rte_tel_data *child,
					   int keep);
int
__wrap_rte_tel_data_add_dict_container(struct rte_tel_data *d, const char *name, struct rte_tel_data *child,
				       int keep)
{
	CHECK(d->kind == DICT && child->kind != UNSET && keep == 0);
	return fails("container") ? -E2BIG : add(d, name, "", child);
}

int __wrap_rte_tel_data_add_array_string(struct rte_tel_data *d, const char *value);
int
__wrap_rte_tel_data_add_array_string(struct rte_tel_data *d, const char *value)
{
	CHECK(d->kind == ARRAY && d->type == RTE_TEL_STRING_VAL);
	return add(d, "", value, NULL);
}

int __wrap_rte_tel_data_add_array_int(struct rte_tel_data *d, int value);
int
__wrap_rte_tel_data_add_array_int(struct rte_tel_data *d, int value)
{
	CHECK(d->kind == ARRAY && d->type == RTE_TEL_INT_VAL);
	return add_number(d, "", value);
}

int __wrap_rte_tel_data_add_array_uint(struct rte_tel_data *d, uint64_t value);
int
__wrap_rte_tel_data_add_array_uint(struct rte_tel_data *d, uint64_t value)
{
	CHECK(d->kind == ARRAY && d->type == RTE_TEL_U64_VAL);
	return add_number(d, "", value);
}

int __wrap_rte_tel_data_add_array_u64(struct rte_tel_data *d, uint64_t value);
int
__wrap_rte_tel_data_add_array_u64(struct rte_tel_data *d, uint64_t value)
{
	return __wrap_rte_tel_data_add_array_uint(d, value);
}

static struct {
	const char *name, *help;
	telemetry_cb fn;
} commands[16];
static unsigned int nb_commands;

int __wrap_rte_telemetry_register_cmd(const char *name, telemetry_cb fn, const char *help);
int
__wrap_rte_telemetry_register_cmd(const char *name, telemetry_cb fn, const char *help)
{
	commands[nb_commands].name = name;
	commands[nb_commands].help = help;
	commands[nb_commands++].fn = fn;
	return 0;
}

/* ------------------------------------------------------------------ explanations */

const char *
mdv_syndrome_name(uint8_t syndrome)
{
	return syndrome == 4 ? "PROT" : "OTHER";
}

const char *
mdv_syndrome_meaning(uint8_t syndrome)
{
	return syndrome == 4 ? "memory key" : "unknown";
}

void
mdv_explain(uint8_t status, uint32_t syndrome, struct mdv_explanation *e)
{
	static char text[32];

	snprintf(text, sizeof(text), "syndrome %#x", syndrome);
	*e = (struct mdv_explanation){ status == 9 ? "NINE" : "UNKNOWN", "EINVAL", "meaning", text };
}

int
mdv_status_find(const char *name, uint8_t *status)
{
	*status = 9;
	return strcmp(name, "NINE") == 0 ? 0 : -ENOENT;
}

/* ------------------------------------------------------------------ a command's reply as lines NAME=VALUE */

char text[65536];

uint16_t
mlxpmd_rxq_lro_us(const struct mlxpmd_port *p)
{
	RTE_SET_USED(p);
	return 32;
}

static void
flatten(const struct rte_tel_data *d, const char *prefix)
{
	char name[512];

	for (unsigned int i = 0; i < d->n; i++) {
		snprintf(name, sizeof(name), "%s%s", prefix, d->entry[i].name);
		if (d->entry[i].child == NULL) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s=%s\n", name, d->entry[i].value);
			continue;
		}
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "/");
		flatten(d->entry[i].child, name);
	}
}

/* The k-th call for memory or room fails. */
int
run_failing(const char *name, const char *params, unsigned int k)
{
	struct rte_tel_data *d = __real_calloc(1, sizeof(*d));
	int before = allocated, rc = -ENOENT;

	text[0] = '\0';
	hit = NULL;
	left = k;
	for (unsigned int i = 0; i < nb_commands; i++)
		if (strcmp(commands[i].name, name) == 0)
			rc = commands[i].fn(name, params, d);
	left = UINT_MAX;
	if (rc == 0)
		flatten(d, "");
	/* DPDK frees the children of a reply, whatever the callback returned. */
	for (unsigned int i = 0; i < d->n; i++)
		if (d->entry[i].child != NULL)
			__wrap_rte_tel_data_free(d->entry[i].child);
	__real_free(d);
	CHECK(allocated == before, "%s, %s %u: %d are left", name, hit, k, allocated - before);
	CHECK(locks == 0, "%s: %d locks", name, locks);
	return rc;
}

void
check_help(void)
{
	CHECK_EQ(nb_commands, 10);
	for (unsigned int i = 0; i < nb_commands; i++)
		CHECK(strlen(commands[i].help) > 20);
}

int
run(const char *name, const char *params)
{
	return run_failing(name, params, UINT_MAX);
}

bool
has(const char *line)
{
	const char *at = strstr(text, line);

	return at != NULL && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}
