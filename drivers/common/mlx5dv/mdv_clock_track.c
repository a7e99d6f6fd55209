/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Estimator of one clock by another: phase, rate and their covariance. Constants marked "assumed" are
 * explained in mdv_clock_follow.c.
 */

#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "mdv_clock_int.h"

/*
 * Residuals of more standard deviations are outliers. For normally distributed residuals that is one
 * false outlier in 2 days at 10 readings per second (3 to 5; 8 lets through what the test forbids).
 */
#define GATE 5.0
/*
 * The rate changed if the moving average of normalised residuals exceeds TREND_GATE. Its standard
 * deviation is sqrt(w / (2 - w)) = 0.42 for weight w, so the gate is at 5.5 deviations: assumed
 * (more than 1.9, to 3; weight 0.1 to less than 0.6).
 */
#define TREND_GATE 2.3
#define TREND_WEIGHT 0.3
/* Readings until a change of rate is detected: assumed (1 to 10). */
#define NOTICE_READINGS 3
#define NOTICE_S (NOTICE_READINGS * MDV_CLOCK_REFRESH_US / 1e6)
/* Weight of a reading in the slow averages, nis and excess: 20 readings, assumed (0.02 to 0.2). */
#define SLOW_WEIGHT 0.05
/* Decay per reading of the largest residual: to 3 % in a second, assumed (0.3 to 0.9). */
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
	t->rr = MDV_CLOCK_RATE_UNKNOWN_PPB * MDV_CLOCK_RATE_UNKNOWN_PPB;
}

static double
ns_per_unit(const struct mdv_clock_track *t)
{
	return MDV_NS_PER_S / t->y_hz;
}

/** Moves whole units from the fraction to y. */
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
	double s = ahead_s, walk = t->wander * t->wander;

	return t->pp + 2 * s * t->pr + s * s * t->rr + walk * s * s * s / 3;
}

/** Prediction step: moves the reference to a later TSC. */
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

/** Error of the rate in ppb that explains a residual gathered over some seconds. */
static double
rate_behind(double residual, double seconds)
{
	return RTE_MIN(fabs(residual) / RTE_MAX(seconds, NOTICE_S), MDV_CLOCK_RATE_UNKNOWN_PPB);
}

/** Accepts a step: restarts the phase and widens the rate by what explains the residual. */
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
 * Detects a change of rate by residuals of one sign. The change is assumed to have happened one reading
 * ago and to explain the residual; the variances grow accordingly, so that the filter follows.
 */
static bool
turned(struct mdv_clock_track *t, double residual, double expected, double since_s)
{
	double normal = residual / expected, off;

	t->trend += TREND_WEIGHT * (normal - t->trend);
	t->nis += SLOW_WEIGHT * (normal * normal - t->nis);
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
 * Estimates the common error of the readings of a series, which their scatter does not show, from
 * differences of successive residuals (outliers included, limited by the gate). Differences are used
 * because a change of rate makes residuals large without making them scatter.
 */
static void
learn_excess(struct mdv_clock_track *t, double residual, double variance)
{
	double change = residual - t->residual, found = change * change / 2;

	t->residual = residual;
	found = RTE_MIN(found, GATE * GATE * (variance + t->excess));
	t->excess += SLOW_WEIGHT * (found - variance - t->excess);
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
