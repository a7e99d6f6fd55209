/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Tables of set-up stages: run in order, unwound in reverse order.
 */
#ifndef MDV_STAGE_H
#define MDV_STAGE_H

#include <stddef.h>

/**
 * Defines struct prefix_stage, prefix_stages_up() and prefix_stages_down() for objects of one type.
 *
 * prefix_stages_up() runs the stages in the order of the table and returns 0. If a stage fails, it
 * calls prefix_stage_failed(), which must be declared before and only logs, unwinds the stages that
 * succeeded, and returns the negative errno of the failed stage. A stage's down() is not called if
 * its own up() failed.
 */
#define MDV_STAGES_DEFINE(prefix, type) \
struct prefix##_stage { \
	const char *name; \
	int (*up)(type *obj);	 /* 0 or a negative errno */ \
	void (*down)(type *obj); /* NULL: nothing to undo */ \
}; \
static inline void \
prefix##_stages_down(type *obj, const struct prefix##_stage *stages, size_t n) \
{ \
	while (n-- > 0) \
		if (stages[n].down != NULL) \
			stages[n].down(obj); \
} \
static inline int \
prefix##_stages_up(type *obj, const struct prefix##_stage *stages, size_t n) \
{ \
	for (size_t i = 0; i < n; i++) { \
		int ret = stages[i].up(obj); \
\
		if (ret == 0) \
			continue; \
		prefix##_stage_failed(obj, stages[i].name, ret); \
		prefix##_stages_down(obj, stages, i); \
		return ret; \
	} \
	return 0; \
}

#endif /* MDV_STAGE_H */
