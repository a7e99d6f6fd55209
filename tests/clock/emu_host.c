/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The calibrated clock on an emulated device, through rdma-core's mappings. The emulator's clock page follows true
  * time except for the given drift, so page and host must agree on each timestamp.
 *
 * emu_host SECONDS DRIFT_PPM
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "../mdv/mdv_test.h"

#define LOCK_S 3.0
#define STAMPS_MAX 100000

struct watch {
	struct mdv_dev *dev;
	struct mdv_clock *host, *page;
	struct mdv_clock_state h, p;
	double off[STAMPS_MAX];	  /**< Value of host minus value of page, ns. */
	double drift[STAMPS_MAX]; /**< Drift of the counter that the clock reported at that time, ppm. */
	double published[STAMPS_MAX];  /**< Uncertainty that the clock published, ns. */
	unsigned int n, absent;
};
static struct watch w;

static int
by_size(const void *a, const void *b)
{
	const double *l = a, *r = b;

	return (*l > *r) - (*l < *r);
}

/** Converts a timestamp taken now with both clocks. */
static void
timestamp(double since_s, double drift_ppm)
{
	uint64_t ticks, host, page;

	if (mdv_clock_raw(w.dev, &ticks) != 0 || w.n == STAMPS_MAX)
		return;
	if ((int64_t)(w.h.valid_tsc - rte_rdtsc()) <= 0 ||
	    !mdv_clock_line_convert(&w.h.line, ticks, &host) ||
	    !mdv_clock_line_convert(&w.p.line, ticks, &page)) {
		w.absent++;
		return;
	}
	w.off[w.n] = (double)(int64_t)(host - page) + drift_ppm * since_s * 1e3;
	w.drift[w.n] = w.h.drift_ppm;
	w.published[w.n] = (double)w.h.uncertainty_ns;
	w.n++;
}

static void
watch(double seconds, double drift_ppm)
{
	uint64_t begin = rte_rdtsc();
	double hz = rte_get_tsc_hz(), since = 0;

	while (since < LOCK_S + seconds) {
		mdv_clock_refresh(w.page, &w.p);
		mdv_clock_refresh(w.host, &w.h);
		for (int i = 0; i < 10; i++) {
			pass_us(w.h.next_us / 10); /* Timestamps at ten points of a refresh period. */
			since = (rte_rdtsc() - begin) / hz;
			if (since >= LOCK_S)
				timestamp(since, drift_ppm);
		}
	}
}

/*
 * The two clocks have a constant difference. On a busy machine a single timestamp may be inaccurate, so all are
 * compared with their median.
 */
static double
middle_off(void)
{
	static double sorted[STAMPS_MAX];

	memcpy(sorted, w.off, w.n * sizeof(sorted[0]));
	qsort(sorted, w.n, sizeof(sorted[0]), by_size);
	return sorted[w.n / 2];
}

static void
report(double drift_ppm)
{
	const struct mdv_clock_state *h = &w.h;
	double worst = 0, middle;
	unsigned int uncovered = 0;

	REQUIRE(w.n > 100);
	middle = middle_off();
	for (unsigned int i = 0; i < w.n; i++) {
		const double off = fabs(w.off[i] - middle);

		/* gcc 12 for arm64 fails at a loop that also has fmax(). */
		if (off > worst)
			worst = off;
		uncovered += off > w.published[i];
	}
	qsort(w.off, w.n, sizeof(w.off[0]), by_size);
	qsort(w.drift, w.n, sizeof(w.drift[0]), by_size);
	printf("%u timestamps, %u absent, %u beyond what was published\n", w.n, w.absent, uncovered);
	printf("host less page: middle %.0f ns, half within %.0f ns, worst %.0f ns off it\n",
	       middle, (w.off[w.n * 3 / 4] - w.off[w.n / 4]) / 2, worst);
	printf("drift %.3f ppm, published %lu ns, quality %s, %lu refreshes, %lu busy, "
	       "%lu rejected\n", w.drift[w.n / 2], (unsigned long)h->uncertainty_ns,
	       mdv_clock_quality_name(h->quality),
	       (unsigned long)h->refreshes, (unsigned long)h->busy, (unsigned long)h->rejected);
	CHECK(fabs(w.drift[w.n / 2] - drift_ppm) < 1);
	CHECK(w.absent * 20 < w.n);
	/* The bounds are checked in virtual time (test_host.c); here the load of the machine affects the values. */
	CHECK(uncovered * 20 < w.n);
}

static void
run(double seconds, double drift_ppm)
{
	struct rte_pci_addr pci;
	char why[200];

	REQUIRE(test_device(0, &pci) == 0);
	REQUIRE(mdv_open(&pci, MDV_OPEN_VERBS, &w.dev) == 0);
	CHECK_EQ(mdv_clock_open(w.dev, MDV_CLOCK_PAGE, &w.page, why, sizeof(why)), 0);
	/* On a busy machine the calibration may fail when the clock is opened; source page is then selected. */
	for (int i = 0; i < 5 && (w.host == NULL || strstr(why, "clock host") == NULL); i++) {
		mdv_clock_close(w.host);
		CHECK_EQ(mdv_clock_open(w.dev, MDV_CLOCK_AUTO, &w.host, why, sizeof(why)), 0);
		printf("%s\n", why);
	}
	REQUIRE(w.page != NULL && w.host != NULL);
	watch(seconds, drift_ppm);
	CHECK_EQ(w.h.source, MDV_CLOCK_HOST);
	report(drift_ppm);
	mdv_clock_close(w.host);
	mdv_clock_close(w.page);
	mdv_close(w.dev);
}

int
main(int argc, char **argv)
{
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "--no-pci" },
			(char[]){ "--no-telemetry" }, (char[]){ "--no-shconf" }, (char[]){ "-m64" },
			(char[]){ "--iova-mode=va" } };

	if (argc != 3 || rte_eal_init(RTE_DIM(eal), eal) < 0) {
		fprintf(stderr, "usage: %s SECONDS DRIFT_PPM\n", argv[0]);
		return 2;
	}
	run(atof(argv[1]), atof(argv[2]));
	rte_eal_cleanup();
	return check_exit("emu_host");
}
