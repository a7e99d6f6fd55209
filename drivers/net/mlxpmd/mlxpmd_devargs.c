/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parses the device arguments, by one table of keys and allowed values. */

#include <ctype.h>
#include <stdlib.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_telemetry.h>

#include "mlxpmd_ctrl.h"

/* Characters that a log line shows of a string from the command line. */
#define DEVARGS_SHOWN 64
/* A monitor that reads once a second gets values that are at most a tenth of a second old. */
#define STATS_AGE_MS 100
/* As the vendor's driver (DPDK mlx5_defs.h, MLX5_MPRQ_MEMCPY_DEFAULT_LEN and MLX5_MPRQ_MIN_RXQS). */
#define MPRQ_MEMCPY_BYTES 128
#define MPRQ_MIN_RXQS 12
/* As net_mlx5 (MLX5_INLINE_MAX_TXQS): with few queues the CPU is the limit, not PCIe. */
#define TXQS_MIN_INLINE 8

struct devarg {
	const char *key;
	const char *allowed;	/**< As in MLXPMD_DEVARGS(). */
	size_t offset;		/**< Of the field in struct mlxpmd_devargs: an enumeration or an unsigned int. */
};

#define SIZED(key, allowed) \
	static_assert(sizeof(((struct mlxpmd_devargs *)0)->key) == sizeof(unsigned int), #key);
MLXPMD_DEVARGS(SIZED)
#define ROW(key, allowed) { #key, allowed, offsetof(struct mlxpmd_devargs, key) },
static const struct devarg devargs_table[] = { MLXPMD_DEVARGS(ROW) };

#define KNOWN(key, allowed) #key "=" allowed ", "
static const char known[] = MLXPMD_DEVARGS(KNOWN);
/* Without the last separator. */
#define KNOWN_LEN ((int)sizeof(known) - 3)

/* The words of an enumeration have its values, in order. */
static_assert(MLXPMD_BURST_AUTO == 0 && MLXPMD_BURST_SCALAR == 1 && MLXPMD_BURST_NEON == 2 &&
	      MLXPMD_BURST_SSE == 3 && MLXPMD_BURST_AVX2 == 4 && MLXPMD_BURST_AVX512VL == 5 &&
	      MLXPMD_BURST_AVX512 == 6 && MLXPMD_BURST_IFMA == 7,
	      "auto|scalar|neon|sse|avx2|avx512vl|avx512|ifma");
static_assert(MDV_CLOCK_AUTO == 0 && MDV_CLOCK_PAGE == 1 && MDV_CLOCK_HOST == 2 && MDV_CLOCK_REALTIME == 3 &&
	      MDV_CLOCK_RAW == 4, "auto|page|host|realtime|raw");
static_assert(MDV_OPEN_VERBS == 0 && MDV_OPEN_VFIO == 1, "verbs|vfio");
static_assert(MLXPMD_DOORBELL_AUTO == 0 && MLXPMD_DOORBELL_NC == 1 && MLXPMD_DOORBELL_WC == 2, "auto|nc|wc");

int
mlxpmd_number_parse(const char *text, int base, unsigned long max, unsigned long *value)
{
	char *end;

	if (text == NULL || !isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*value = strtoul(text, &end, base);
	return *end == '\0' && errno == 0 && *value <= max ? 0 : -EINVAL;
}

static const struct devarg *
devarg_find(const char *key)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(devargs_table); i++)
		if (strcmp(devargs_table[i].key, key) == 0)
			return &devargs_table[i];
	return NULL;
}

/* Whether value is the n-th alternative, of len characters: the same word, or a number within "min..max". */
static bool
alternative_parse(const char *alternative, size_t len, unsigned int n, const char *value, unsigned int *out)
{
	unsigned long number, min, max;

	if (sscanf(alternative, "%lu..%lu", &min, &max) == 2) {
		if (mlxpmd_number_parse(value, strncmp(value, "0x", 2) == 0 ? 16 : 10, max, &number) != 0 ||
		    number < min)
			return false;
		*out = number;
		return true;
	}
	*out = n;
	return strlen(value) == len && strncmp(alternative, value, len) == 0;
}

static int
devarg_apply(const char *dev, const struct devarg *arg, const char *value, struct mlxpmd_devargs *out)
{
	unsigned int *field = (unsigned int *)((uint8_t *)out + arg->offset), n = 0;
	const char *alternative = arg->allowed;
	size_t len;

	for (; value != NULL && *alternative != '\0'; alternative += len + (alternative[len] == '|')) {
		len = strcspn(alternative, "|");
		if (alternative_parse(alternative, len, n++, value, field))
			return 0;
	}
	if (value == NULL)
		return MLXPMD_FAIL(EINVAL, "%s: devarg %s has no value: allowed are %s", dev, arg->key, arg->allowed);
	return MLXPMD_FAIL(EINVAL, "%s: devarg %s=%.*s: allowed are %s", dev, arg->key, DEVARGS_SHOWN, value,
			   arg->allowed);
}

void
mlxpmd_devargs_show(const struct mlxpmd_devargs *args, struct rte_tel_data *dict)
{
	unsigned int i, value, n;
	const char *word;
	char text[16];

	for (i = 0; i < RTE_DIM(devargs_table); i++) {
		value = *(const unsigned int *)((const uint8_t *)args + devargs_table[i].offset);
		word = devargs_table[i].allowed;
		if (isdigit((unsigned char)word[0])) {
			rte_tel_data_add_dict_int(dict, devargs_table[i].key, value);
			continue;
		}
		for (n = 0; n < value; n++)
			word += strcspn(word, "|") + 1;
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "|"), word);
		rte_tel_data_add_dict_string(dict, devargs_table[i].key, text);
	}
}

/* Generic keys of EAL, which select a driver. @return 0 for this one, 1 for another. */
static int
devarg_generic(const char *dev, const char *key, const char *value, const char *mine)
{
	if (value != NULL && strcmp(value, mine) == 0)
		return 0;
	MLXPMD_LOG(INFO, "%s: left to another driver: %s=%.*s is not %s", dev, key, DEVARGS_SHOWN,
		   value != NULL ? value : "", mine);
	return 1;
}

static int
devargs_pair(const char *dev, const struct rte_kvargs *list, unsigned int i,
	     struct mlxpmd_devargs *out)
{
	const char *key = list->pairs[i].key, *value = list->pairs[i].value;
	const struct devarg *arg;

	if (rte_kvargs_count(list, key) > 1)
		return MLXPMD_FAIL(EINVAL, "%s: devarg %.*s is given more than once: allowed is once", dev,
				   DEVARGS_SHOWN, key);
	if (key[0] == '\0')
		return MLXPMD_FAIL(EINVAL, "%s: devarg without a name before \"%.*s\": allowed are %.*s", dev,
				   DEVARGS_SHOWN, value != NULL ? value : "", KNOWN_LEN, known);
	if (strcmp(key, RTE_DEVARGS_KEY_CLASS) == 0)
		return devarg_generic(dev, key, value, "eth");
	if (strcmp(key, RTE_DEVARGS_KEY_DRIVER) == 0)
		return devarg_generic(dev, key, value, MLXPMD_DRIVER_NAME);
	if (strcmp(key, "representor") == 0)
		return MLXPMD_FAIL(ENOTSUP, "%s: devarg representor=%.*s: ports of representors are not supported, "
				   "only the uplink of a switchdev PF: leave the devarg out", dev, DEVARGS_SHOWN,
				   value != NULL ? value : "");
	arg = devarg_find(key);
	if (arg == NULL)
		return MLXPMD_FAIL(EINVAL, "%s: unknown devarg %.*s: allowed are %.*s", dev, DEVARGS_SHOWN, key,
				   KNOWN_LEN, known);
	return devarg_apply(dev, arg, value, out);
}

static int
devargs_read(const struct rte_devargs *devargs, struct mlxpmd_devargs *out)
{
	struct rte_kvargs *list;
	unsigned int i;
	int rc = 0;

	if (devargs == NULL || devargs->args == NULL || devargs->args[0] == '\0')
		return 0;
	list = rte_kvargs_parse(devargs->args, NULL);
	if (list == NULL)
		return MLXPMD_FAIL(EINVAL,
				   "%s: devargs \"%.*s\" cannot be read: allowed are %.*s, up to %d of them",
				   devargs->name, DEVARGS_SHOWN, devargs->args, KNOWN_LEN, known,
				   RTE_KVARGS_MAX);
	for (i = 0; rc == 0 && i < list->count; i++)
		rc = devargs_pair(devargs->name, list, i, out);
	rte_kvargs_free(list);
	return rc;
}

int
mlxpmd_devargs_parse(const struct rte_devargs *devargs, struct mlxpmd_devargs *out)
{
	*out = (struct mlxpmd_devargs){
		.rxq_cqe_comp_en = MDV_MINI_CQE_HASH, /* As net_mlx5 (mlx5.c, mlx5_port_args_config()). */
		.stats_age_ms = STATS_AGE_MS,
		.txqs_min_inline = TXQS_MIN_INLINE,
		.mprq_max_memcpy_len = MPRQ_MEMCPY_BYTES,
		.rxqs_min_mprq = MPRQ_MIN_RXQS,
		.recorder = 1,
	};
	return devargs_read(devargs, out);
}
