/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The estimator of one clock by another: phase and rate, and how well both are known. */

#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "mdv_clock_int.h"

/* Before anything is known: two oscillators at their limits, and a TSC calibrated in a hurry. */
#define RATE_UNKNOWN_PPB 500e3
/* Residuals beyond this many times what is expected of them are not believed at once. */
#define GATE 5.0
/* Residuals of one sign, this many times what is expected on the average: the rate changed. */
#define TREND_GATE 2.3
#define TREND_WEIGHT 0.3
/* A change is noticed after this long or some readings: its size is what was found by then. */
#define NOTICE_S 0.3
#define NOTICE_READINGS 3
#define NIS_WEIGHT 0.05
/* How fast it is learnt that readings are worse than their own scatter tells, and forgotten. */
#define EXCESS_WEIGHT 0.05
/* What is left of the largest residual after each reading. */
#define OFF_KEPT 0.7

void
mdv_clock_track_init(struct mdv_clock_track *t, double tsc_hz, double y_hz, double wander,
		     unsigned int confirm)
{
	memset(t, 0, sizeof(*t));
	t->tsc_hz = tsc_hz;
	t->y_hz = y_hz;
	t->wander = wander;
	t->confirm = confirm;
	t->rate = y_hz / tsc_hz;
	t->rr = RATE_UNKNOWN_PPB * RATE_UNKNOWN_PPB;
}

static double
ns_per_unit(const struct mdv_clock_track *t)
{
	return MDV_NS_PER_S / t->y_hz;
}

/** Moves whole units from the fraction to where they belong. */
static void
carry(uint64_t *y, double *part)
{
	double whole = floor(*part);

	*y += (uint64_t)(int64_t)whole;
	*part -= whole;
}

uint64_t
mdv_clock_track_at(const struct mdv_clock_track *t, uint64_t tsc, double *part)
{
	uint64_t y = t->y;

	*part = t->part + t->rate * (double)(int64_t)(tsc - t->tsc);
	carry(&y, part);
	return y;
}

double
mdv_clock_track_residual(const struct mdv_clock_track *t, uint64_t tsc, uint64_t y)
{
	double part;
	uint64_t expected = mdv_clock_track_at(t, tsc, &part);

	return ((double)(int64_t)(y - expected) - part) * ns_per_unit(t);
}

double
mdv_clock_track_variance(const struct mdv_clock_track *t, double ahead_s)
{
	double s = fabs(ahead_s), walk = t->wander * t->wander;

	return t->pp + 2 * ahead_s * t->pr + s * s * t->rr + walk * s * s * s / 3;
}

/** Moves the reference to a later moment. */
static void
advance(struct mdv_clock_track *t, uint64_t tsc)
{
	double s = (double)(int64_t)(tsc - t->tsc) / t->tsc_hz, walk = t->wander * t->wander;

	t->y = mdv_clock_track_at(t, tsc, &t->part);
	t->tsc = tsc;
	t->pp = mdv_clock_track_variance(t, s);
	t->pr += s * t->rr + walk * s * s / 2;
	t->rr += walk * s;
}

static void
restart(struct mdv_clock_track *t, uint64_t tsc, uint64_t y, double part, double variance)
{
	t->tsc = tsc;
	t->y = y;
	t->part = part;
	carry(&t->y, &t->part);
	t->pp = variance;
	t->pr = 0;
	t->trend = 0;
	t->residual = 0;
	t->nis = 1;
	t->off = 0;
	t->outliers = 0;
	t->good_tsc = tsc;
	t->set = true;
}

/** ppb that the rate must be off for a residual that took so long to gather. */
static double
rate_behind(double residual, double seconds)
{
	return RTE_MIN(fabs(residual) / RTE_MAX(seconds, NOTICE_S), RATE_UNKNOWN_PPB);
}

/** Phase anew; the rate is as far off as would explain what was found since it was last right. */
static void
move(struct mdv_clock_track *t, uint64_t tsc, uint64_t y, double part, double variance,
     double residual)
{
	double off = rate_behind(residual, (double)(int64_t)(tsc - t->good_tsc) / t->tsc_hz);

	t->rr += off * off;
	restart(t, tsc, y, part, variance);
}

static void
correct(struct mdv_clock_track *t, double residual, double variance)
{
	double s = t->pp + variance, phase_gain = t->pp / s, rate_gain = t->pr / s;

	t->part += phase_gain * residual / ns_per_unit(t);
	carry(&t->y, &t->part);
	t->rate += rate_gain * residual * 1e-9 * t->y_hz / t->tsc_hz;
	t->rr -= rate_gain * t->pr;
	t->pr -= phase_gain * t->pr;
	t->pp -= phase_gain * t->pp;
}

/*
 * Residuals that keep to one side mean a rate that is not what it was: it is taken to have changed
 * one reading ago, by about what explains the residual, and phase and rate are free to move so far.
 */
static bool
turned(struct mdv_clock_track *t, double residual, double expected, double since_s)
{
	double normal = residual / expected, off;

	t->trend += TREND_WEIGHT * (normal - t->trend);
	t->nis += NIS_WEIGHT * (normal * normal - t->nis);
	if (fabs(t->trend) < TREND_GATE)
		return false;
	off = rate_behind(residual, NOTICE_READINGS * since_s);
	t->rr += off * off;
	t->pr += off * off * since_s;
	t->pp += off * off * since_s * since_s;
	t->trend = 0;
	return true;
}

/*
 * Readings of one series can be off alike. How far they are, from one series to the next, is learnt
 * from how much residuals differ, those that are not believed included, but not from more than the
 * gate lets pass. Not from the residuals themselves: a rate that changed makes them large, and is
 * no scatter.
 */
static void
learn_excess(struct mdv_clock_track *t, double residual, double variance)
{
	double change = residual - t->residual, found = change * change / 2;

	t->residual = residual;
	found = RTE_MIN(found, GATE * GATE * (variance + t->excess));
	t->excess += EXCESS_WEIGHT * (found - variance - t->excess);
	t->excess = RTE_MAX(t->excess, 0.0);
}

enum mdv_clock_fix
mdv_clock_track_fix(struct mdv_clock_track *t, uint64_t tsc, uint64_t y, double part,
		    double variance)
{
	double residual, scatter, expected, since_s;
	bool turn;

	if (!t->set) {
		restart(t, tsc, y, part, variance);
		return MDV_FIX_MOVED;
	}
	since_s = (double)(int64_t)(tsc - t->tsc) / t->tsc_hz;
	advance(t, tsc);
	residual = mdv_clock_track_residual(t, tsc, y) + part * ns_per_unit(t);
	scatter = variance + t->excess;
	learn_excess(t, residual, variance);
	expected = sqrt(t->pp + scatter);
	t->off = RTE_MAX(t->off * OFF_KEPT, fabs(residual));
	if (fabs(residual) > GATE * expected) {
		if (++t->outliers < t->confirm)
			return MDV_FIX_REJECTED;
		move(t, tsc, y, part, variance, residual);
		return MDV_FIX_MOVED;
	}
	t->outliers = 0;
	t->good_tsc = tsc;
	turn = turned(t, residual, expected, since_s);
	correct(t, residual, scatter);
	return turn ? MDV_FIX_TURNED : MDV_FIX_TAKEN;
}
