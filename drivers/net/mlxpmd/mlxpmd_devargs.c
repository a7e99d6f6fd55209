/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Parses the device arguments, by one table of keys and allowed values. */

#include <ctype.h>
#include <stdlib.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "mlxpmd_ctrl.h"

#define DEVARGS_MAX_VALUES 5
/* Characters that a log line shows of a string from the command line. */
#define DEVARGS_SHOWN 64

/** One key, the words that it takes, and their values. */
struct devarg {
	const char *key;
	const char *allowed;	/**< For messages. */
	const char *word[DEVARGS_MAX_VALUES];
	unsigned int value[DEVARGS_MAX_VALUES];
	size_t offset;		/**< Of the field in struct mlxpmd_devargs: an enumeration or an unsigned int. */
	unsigned int min, max;	/**< Range of numbers; max 0: takes words only. */
};

#define FIELD(name) offsetof(struct mlxpmd_devargs, name)
static const struct devarg devargs_table[] = {
	{ "rx_burst", "auto, scalar", { "auto", "scalar" },
	  { MLXPMD_BURST_AUTO, MLXPMD_BURST_SCALAR }, FIELD(rx_burst) },
	{ "tx_burst", "auto, scalar", { "auto", "scalar" },
	  { MLXPMD_BURST_AUTO, MLXPMD_BURST_SCALAR }, FIELD(tx_burst) },
	{ "clock", "auto, page, host, realtime, raw", { "auto", "page", "host", "realtime", "raw" },
	  { MDV_CLOCK_AUTO, MDV_CLOCK_PAGE, MDV_CLOCK_HOST, MDV_CLOCK_REALTIME, MDV_CLOCK_RAW },
	  FIELD(clock) },
	{ "stats_age_ms", "0, and 10 to 60000", { "0" }, { 0 }, FIELD(stats_age_ms), 10, 60000 },
	{ "open", "verbs, vfio", { "verbs", "vfio" }, { MDV_OPEN_VERBS, MDV_OPEN_VFIO }, FIELD(open) },
};
#define DEVARGS_KNOWN "rx_burst=auto|scalar, tx_burst=auto|scalar, clock=auto|page|host|realtime|raw, stats_age_ms=0|10..60000, open=verbs|vfio"
/* A monitor that reads once a second gets values that are at most a tenth of a second old. */
#define STATS_AGE_MS 100

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

static int
devarg_apply(const char *dev, const struct devarg *arg, const char *value, struct mlxpmd_devargs *out)
{
	unsigned int *field = (unsigned int *)((uint8_t *)out + arg->offset), i;
	unsigned long n;

	for (i = 0; value != NULL && i < DEVARGS_MAX_VALUES && arg->word[i] != NULL; i++) {
		if (strcmp(arg->word[i], value) == 0) {
			*field = arg->value[i];
			return 0;
		}
	}
	if (arg->max != 0 && mlxpmd_number_parse(value, 10, arg->max, &n) == 0 && n >= arg->min) {
		*field = n;
		return 0;
	}
	if (value == NULL)
		MLXPMD_LOG(ERR, "%s: devarg %s has no value: allowed are %s", dev, arg->key, arg->allowed);
	else
		MLXPMD_LOG(ERR, "%s: devarg %s=%.*s: allowed are %s", dev, arg->key, DEVARGS_SHOWN, value, arg->allowed);
	return -EINVAL;
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

	if (rte_kvargs_count(list, key) > 1) {
		MLXPMD_LOG(ERR, "%s: devarg %.*s is given more than once: allowed is once", dev,
			   DEVARGS_SHOWN, key);
		return -EINVAL;
	}
	if (strcmp(key, RTE_DEVARGS_KEY_CLASS) == 0)
		return devarg_generic(dev, key, value, "eth");
	if (strcmp(key, RTE_DEVARGS_KEY_DRIVER) == 0)
		return devarg_generic(dev, key, value, MLXPMD_DRIVER_NAME);
	arg = devarg_find(key);
	if (arg == NULL) {
		MLXPMD_LOG(ERR, "%s: unknown devarg %.*s: allowed are %s", dev, DEVARGS_SHOWN, key,
			   DEVARGS_KNOWN);
		return -EINVAL;
	}
	return devarg_apply(dev, arg, value, out);
}

int
mlxpmd_devargs_parse(const struct rte_devargs *devargs, struct mlxpmd_devargs *out)
{
	struct rte_kvargs *list;
	unsigned int i;
	int rc = 0;

	*out = (struct mlxpmd_devargs){
		.rx_burst = MLXPMD_BURST_AUTO,
		.tx_burst = MLXPMD_BURST_AUTO,
		.clock = MDV_CLOCK_AUTO,
		.stats_age_ms = STATS_AGE_MS,
		.open = MDV_OPEN_VERBS,
	};
	if (devargs == NULL || devargs->args == NULL || devargs->args[0] == '\0')
		return 0;
	list = rte_kvargs_parse(devargs->args, NULL);
	if (list == NULL) {
		MLXPMD_LOG(ERR, "%s: devargs \"%.*s\" cannot be read: allowed are %s, up to %d of them",
			   devargs->name, DEVARGS_SHOWN, devargs->args, DEVARGS_KNOWN, RTE_KVARGS_MAX);
		return -EINVAL;
	}
	for (i = 0; rc == 0 && i < list->count; i++)
		rc = devargs_pair(devargs->name, list, i, out);
	rte_kvargs_free(list);
	return rc;
}
