/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Log type of the driver, "pmd.net.mlxpmd", and the macros that all its files log with.
 */
#ifndef MLXPMD_LOG_H
#define MLXPMD_LOG_H

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_log.h>

extern int mlxpmd_logtype;

/** One line with the driver's name. Not for bursts: they count. */
#define MLXPMD_LOG(level, ...) \
	rte_log(RTE_LOG_##level, mlxpmd_logtype, \
		RTE_FMT("mlxpmd: " RTE_FMT_HEAD(__VA_ARGS__,) "\n", RTE_FMT_TAIL(__VA_ARGS__,)))

/** Logs one line at level error, sets rte_errno and returns -err. rte_errno may be passed as err. */
#define MLXPMD_FAIL(err, ...) __extension__({ \
	const int fail_err_ = (err); \
	MLXPMD_LOG(ERR, __VA_ARGS__); \
	rte_errno = fail_err_; \
	-fail_err_; \
})

#endif /* MLXPMD_LOG_H */
