/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Replaces functions in the import tables of loaded objects; calls of other objects are not affected. */
#ifndef ABI_IMPORTS_H
#define ABI_IMPORTS_H

#include <stdbool.h>

/** A function, and what to call instead. */
struct abi_import {
	const char *name;
	void **real; /**< Set to the function itself before the first import is replaced; or NULL. */
	void *fake;
};

/**
 * Replaces the imports of the loaded objects that wanted() selects by file name (without folder; "" is the program).
 * Returns their number; -ENOENT if no object was selected.
 */
int abi_imports_replace(bool (*wanted)(const char *object, const void *arg), const void *arg,
			const struct abi_import *functions, unsigned int count);

#endif /* ABI_IMPORTS_H */
