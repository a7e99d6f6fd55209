/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The run directory of targets that are the kernel's side: made by the first input, removed at exit. */
#ifndef FZ_RUNDIR_H
#define FZ_RUNDIR_H

/** Makes it and sets MLXEMU_DIR for the model. Its path; the process ends if it cannot be made. */
const char *fz_dir(void);

#endif /* FZ_RUNDIR_H */
