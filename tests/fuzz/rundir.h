/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The run directory of targets that are the kernel's side: made by the first input, gone at exit. */
#ifndef FZ_RUNDIR_H
#define FZ_RUNDIR_H

/** Makes it and tells the model of it (MLXEMU_DIR). Its path; the process ends if it cannot be made. */
const char *fz_dir(void);

#endif /* FZ_RUNDIR_H */
