/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Write the differences of two clocks as a CSV table, and plot them with gnuplot.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "tm_clock.h"

#define POINTS 5000	/* limit of the upper plot; the histogram has all packets */

static int
csv_write(const char *path, const struct tm_pair *pairs, size_t n)
{
	FILE *f = fopen(path, "w");
	bool bad;

	if (f == NULL) {
		tm_error("cannot write '%s': %s", path, strerror(errno));
		return -errno;
	}
	fprintf(f, "packet,truth_ns,stamp_ns,error_ns\n");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%u,%" PRIu64 ",%" PRIu64 ",%" PRId64 "\n", pairs[i].n, pairs[i].truth_ns,
			pairs[i].stamp_ns, (int64_t)(pairs[i].stamp_ns - pairs[i].truth_ns));
	bad = ferror(f) != 0;
	if (fclose(f) != 0 || bad) {
		tm_error("cannot write '%s'", path);
		return -EIO;
	}
	return 0;
}

/*
 * The plots show errors relative to the median, because the offset of the clocks may be much larger than they.
 * File names are in single quotes, which gnuplot cannot escape: the caller rejects names that contain one.
 */
static void
script_write(FILE *g, const char *csv, const char *svg, const char *title,
	     const struct tm_pair *pairs, size_t n, int64_t median)
{
	const size_t every = n / POINTS + 1;

	fprintf(g, "set terminal svg size 960,720 background rgb 'white'\n"
		"set output '%s'\nset datafile separator ','\nset key off\n"
		"set multiplot layout 2,1 title '%s'\n", svg, title);
	fprintf(g, "set xlabel 'seconds'\nset ylabel 'error - %" PRId64 " ns (median), in ns'\nset grid\n"
		"plot '%s' every %zu::1 using (($2-%" PRIu64 ".0)/1e9):($4-%" PRId64
		".0) with lines lw 0.5 lc rgb '#1f77b4'\n", median, csv, every,
		pairs[0].truth_ns, median);
	fprintf(g, "stats '%s' every ::1 using ($4-%" PRId64 ".0) nooutput\n"
		"w = (STATS_max > STATS_min) ? (STATS_max - STATS_min) / 100.0 : 1.0\n"
		"w = ceil(w)\nset xlabel 'error - median, in ns'\nset ylabel 'packets'\n"
		"set boxwidth w\nset style fill solid 0.6\n"
		"plot '%s' every ::1 using (w*floor(($4-%" PRId64 ".0)/w)+w/2):(1) smooth frequency "
		"with boxes lc rgb '#1f77b4'\nunset multiplot\n", csv, median, csv, median);
}

static int
svg_write(const char *csv, const char *svg, const char *title, const struct tm_pair *pairs, size_t n,
	  int64_t median)
{
	FILE *g = popen("gnuplot >/dev/null 2>&1", "w");
	int status;

	if (g == NULL)
		return -errno;
	script_write(g, csv, svg, title, pairs, n, median);
	status = pclose(g);
	if (status == 0)
		return 0;
	tm_error("'%s' cannot be plotted: %s", svg, WIFEXITED(status) && WEXITSTATUS(status) == 127 ?
		 "gnuplot is not installed (package gnuplot-nox)" : "gnuplot failed");
	return -EIO;
}

int
tm_clock_plot(const char *out, const char *title, const struct tm_pair *pairs, size_t n,
	      int64_t median)
{
	char csv[512], svg[512];
	int ret;

	if (out == NULL)
		return 0;
	if (strlen(out) > sizeof(csv) - 5 || strchr(out, '\'') != NULL || strchr(title, '\'') != NULL) {
		tm_error("clock verify: '%s' is too long for a file name, or has a quote", out);
		return -EINVAL;
	}
	snprintf(csv, sizeof(csv), "%s.csv", out);
	snprintf(svg, sizeof(svg), "%s.svg", out);
	ret = csv_write(csv, pairs, n);
	if (ret == 0)
		ret = svg_write(csv, svg, title, pairs, n, median);
	if (ret == 0)
		printf("  written: %s, %s\n", csv, svg);
	return ret;
}
