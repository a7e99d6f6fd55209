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

#include "abi/ctl_server.h"

static void *
lazy_symbol(const char *name)
{
	static void *lib;

	if (lib == NULL)
		lib = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
	return lib != NULL ? dlsym(lib, name) : NULL;
}

#define LAZY(name) ((__typeof__(&name))lazy_symbol(#name))

bool
abi_json_loaded(void)
{
	return lazy_symbol("json_loadb") != NULL;
}

/* The functions below are called only after abi_json_loaded() has returned true. */

json_t *
json_loadb(const char *buffer, size_t len, size_t flags, json_error_t *error)
{
	return LAZY(json_loadb)(buffer, len, flags, error);
}

char *
json_dumps(const json_t *json, size_t flags)
{
	return LAZY(json_dumps)(json, flags);
}

void
json_delete(json_t *json)
{
	LAZY(json_delete)(json);
}

json_t *
json_object(void)
{
	return LAZY(json_object)();
}

json_t *
json_array(void)
{
	return LAZY(json_array)();
}

json_t *
json_string(const char *value)
{
	return LAZY(json_string)(value);
}

json_t *
json_integer(json_int_t value)
{
	return LAZY(json_integer)(value);
}

json_t *
json_true(void)
{
	return LAZY(json_true)();
}

json_t *
json_false(void)
{
	return LAZY(json_false)();
}

json_t *
json_object_get(const json_t *object, const char *key)
{
	return LAZY(json_object_get)(object, key);
}

int
json_object_set_new(json_t *object, const char *key, json_t *value)
{
	return LAZY(json_object_set_new)(object, key, value);
}

void *
json_object_iter(json_t *object)
{
	return LAZY(json_object_iter)(object);
}

void *
json_object_iter_next(json_t *object, void *at)
{
	return LAZY(json_object_iter_next)(object, at);
}

const char *
json_object_iter_key(void *at)
{
	return LAZY(json_object_iter_key)(at);
}

int
json_object_clear(json_t *object)
{
	return LAZY(json_object_clear)(object);
}

size_t
json_array_size(const json_t *array)
{
	return LAZY(json_array_size)(array);
}

json_t *
json_array_get(const json_t *array, size_t index)
{
	return LAZY(json_array_get)(array, index);
}

int
json_array_append_new(json_t *array, json_t *value)
{
	return LAZY(json_array_append_new)(array, value);
}

const char *
json_string_value(const json_t *string)
{
	return LAZY(json_string_value)(string);
}

json_int_t
json_integer_value(const json_t *integer)
{
	return LAZY(json_integer_value)(integer);
}

double
json_number_value(const json_t *number)
{
	return LAZY(json_number_value)(number);
}
