/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Statistics and link speed of the kernel interface (SIOCETHTOOL). */

#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "mdv_private.h"

/** Largest number of statistics that is accepted, and space for new ones between two calls: assumed. */
#define MDV_ETHTOOL_STATS_MAX 16384u
#define MDV_ETHTOOL_STATS_SLACK 4096u
/** Largest link_mode_masks_nwords, a signed byte (linux/ethtool.h), for each of three masks. */
#define MDV_LINK_MODE_WORDS_MAX 128

static int
ethtool_ioctl(struct mdv_dev *dev, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	return -mdv_netdev_ioctl(dev, SIOCETHTOOL, &ifr);
}

/* Number of statistics; 0 if it cannot be read. */
static uint32_t
stats_count(struct mdv_dev *dev)
{
	struct ethtool_sset_info *info = calloc(1, sizeof(*info) + sizeof(info->data[0]));
	uint32_t count = 0;

	if (info == NULL)
		return 0;
	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ULL << ETH_SS_STATS;
	if (ethtool_ioctl(dev, info) == 0 && (info->sset_mask & 1ULL << ETH_SS_STATS))
		count = info->data[0];
	free(info);
	return count <= MDV_ETHTOOL_STATS_MAX ? count : 0;
}

uint32_t
mdv_ethtool_find(struct mdv_dev *dev, const char *const *names, unsigned int n, int *index)
{
	struct ethtool_gstrings *strings;
	uint32_t count = stats_count(dev);
	unsigned int i, k;

	for (k = 0; k < n; k++)
		index[k] = -1;
	strings = count != 0 ? calloc(1, sizeof(*strings) + (size_t)ETH_GSTRING_LEN *
				      (count + MDV_ETHTOOL_STATS_SLACK)) : NULL;
	if (strings == NULL)
		return 0;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	if (ethtool_ioctl(dev, strings) != 0 || strings->len != count)
		count = 0;
	for (i = 0; i < count; i++)
		for (k = 0; k < n; k++)
			if (strncmp((const char *)&strings->data[i * ETH_GSTRING_LEN], names[k],
				    ETH_GSTRING_LEN) == 0)
				index[k] = (int)i;
	free(strings);
	return count;
}

int
mdv_ethtool_read(struct mdv_dev *dev, uint32_t count, const int *index, unsigned int n,
		 uint64_t *values)
{
	struct ethtool_stats *stats;
	int rc;

	/* The kernel writes as many values as it has now and ignores n_stats on input. */
	stats = calloc(1, sizeof(*stats) + sizeof(uint64_t) * (count + MDV_ETHTOOL_STATS_SLACK));
	if (stats == NULL)
		return -ENOMEM;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	rc = ethtool_ioctl(dev, stats);
	if (rc == 0 && stats->n_stats != count)
		rc = -ESTALE; /* The indices are no longer valid. */
	for (unsigned int k = 0; rc == 0 && k < n; k++)
		values[k] = index[k] >= 0 ? stats->data[index[k]] : 0;
	free(stats);
	return rc;
}

/* The first call returns the number of mask words, negated; the second one the settings. */
static uint32_t
speed_read(struct mdv_dev *dev, struct ethtool_link_settings *s)
{
	int words;

	s->cmd = ETHTOOL_GLINKSETTINGS;
	if (ethtool_ioctl(dev, s) != 0)
		return 0;
	words = -s->link_mode_masks_nwords;
	if (words <= 0)
		return 0;
	memset(s, 0, sizeof(*s));
	s->cmd = ETHTOOL_GLINKSETTINGS;
	s->link_mode_masks_nwords = words;
	if (ethtool_ioctl(dev, s) != 0 || s->link_mode_masks_nwords != words ||
	    s->speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return s->speed;
}

uint32_t
mdv_ethtool_speed_mbps(struct mdv_dev *dev)
{
	/* The settings, followed by three masks. */
	uint32_t buffer[sizeof(struct ethtool_link_settings) / sizeof(uint32_t) +
		      3 * MDV_LINK_MODE_WORDS_MAX] = { 0 };

	return speed_read(dev, (struct ethtool_link_settings *)(void *)buffer);
}
