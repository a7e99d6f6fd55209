/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * libjansson, loaded at the first control request, so that programs without control requests load
 * nothing but libc (as with libpcap: lazy_pcap.c).
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>

#include <jansson.h>

#include "abi/abi.h"

static void *
lazy_symbol(const char *name)
{
	static void *lib;

	if (lib == NULL)
		lib = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
	return lib != NULL ? dlsym(lib, name) : NULL;
}

/* Definition of a function that calls the library's function of the same name. */
#define LAZY(type, name, parameters, arguments)                                                    \
	type name parameters                                                                       \
	{                                                                                          \
		return ((__typeof__(&name))lazy_symbol(#name))arguments;                           \
	}

bool
abi_json_loaded(void)
{
	return lazy_symbol("json_loadb") != NULL;
}

/* The functions below are called only after abi_json_loaded() has returned true. */

LAZY(json_t *, json_loadb, (const char *buffer, size_t len, size_t flags, json_error_t *error),
     (buffer, len, flags, error))
LAZY(char *, json_dumps, (const json_t *json, size_t flags), (json, flags))
LAZY(void, json_delete, (json_t *json), (json))
LAZY(json_t *, json_object, (void), ())
LAZY(json_t *, json_array, (void), ())
LAZY(json_t *, json_string, (const char *value), (value))
LAZY(json_t *, json_integer, (json_int_t value), (value))
LAZY(json_t *, json_true, (void), ())
LAZY(json_t *, json_false, (void), ())
LAZY(json_t *, json_object_get, (const json_t *object, const char *key), (object, key))
LAZY(int, json_object_set_new, (json_t *object, const char *key, json_t *value),
     (object, key, value))
LAZY(void *, json_object_iter, (json_t *object), (object))
LAZY(void *, json_object_iter_next, (json_t *object, void *at), (object, at))
LAZY(const char *, json_object_iter_key, (void *at), (at))
LAZY(int, json_object_clear, (json_t *object), (object))
LAZY(size_t, json_array_size, (const json_t *array), (array))
LAZY(json_t *, json_array_get, (const json_t *array, size_t index), (array, index))
LAZY(int, json_array_append_new, (json_t *array, json_t *value), (array, value))
LAZY(const char *, json_string_value, (const json_t *string), (string))
LAZY(json_int_t, json_integer_value, (const json_t *integer), (integer))
LAZY(double, json_number_value, (const json_t *number), (number))
