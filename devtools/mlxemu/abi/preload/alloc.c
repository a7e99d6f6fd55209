/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Event `alloc` of fault rules: allocations by the program and its libraries. Their imports are replaced when such a
 * rule is added, and those of objects loaded since when a device is opened; without such a rule nothing is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "core/emu_fault.h"
#include "imports.h"

/* Objects that are not the program's: what libc allocates for itself, the emulator, runtimes of sanitizers. */
static const char *const spared[] = {
	"libmlxemu.so", "libc.so", "libm.so", "ld-linux", "linux-vdso", "libpthread.so", "libdl.so",
	"libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libclang_rt",
};

static bool
is_program(const char *object, const void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < sizeof(spared) / sizeof(spared[0]); i++)
		if (strncmp(object, spared[i], strlen(spared[i])) == 0)
			return false;
	return true;
}

/* Name of the object with an address: of libmlx5.so.1.24.44.0, and of its other name libmlx5-rdmav34.so, "libmlx5". */
static void
object_name(const void *at, char *name, size_t len)
{
	static const char *const ends[] = {".so", "-rdmav"};
	const char *slash;
	Dl_info info;

	if (dladdr(at, &info) == 0 || info.dli_fname == NULL)
		return;
	slash = strrchr(info.dli_fname, '/');
	snprintf(name, len, "%s", slash != NULL ? slash + 1 : info.dli_fname);
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char *end = strstr(name, ends[i]);

		if (end != NULL)
			*end = '\0';
	}
}

/* Whether a rule refuses this call; from: return address. */
static bool
refused(const void *from)
{
	struct emu_machine *m;
	char name[64] = "";
	int ret, err = errno;

	if (!emu_fault_at(EMU_ON_ALLOC) || abi_inside != 0 || emu_thread_own)
		return false;
	object_name(from, name, sizeof(name));
	m = abi_enter();
	if (m == NULL)
		return false;
	ret = emu_fault_errno(EMU_ON_ALLOC, &m->dev[0], name);
	abi_leave();
	errno = ret != 0 ? -ret : err;
	return ret != 0;
}

/*
 * What is called instead of the function. The function itself is called through this library's own import: dlsym()
 * returns the PLT entry of a program without PIE, which leads back here.
 */
#define FAKE(type, name, failure, params, args) \
	static type \
	fake_##name params \
	{ \
		return refused(__builtin_return_address(0)) ? failure : name args; \
	}
FAKE(void *, malloc, NULL, (size_t n), (n))
FAKE(void *, calloc, NULL, (size_t n, size_t size), (n, size))
FAKE(void *, realloc, NULL, (void *p, size_t n), (p, n))
FAKE(void *, reallocarray, NULL, (void *p, size_t n, size_t size), (p, n, size))
FAKE(void *, memalign, NULL, (size_t align, size_t n), (align, n))
FAKE(void *, aligned_alloc, NULL, (size_t align, size_t n), (align, n))
FAKE(int, posix_memalign, errno, (void **p, size_t align, size_t n), (p, align, n))
FAKE(char *, strdup, NULL, (const char *s), (s))
FAKE(char *, strndup, NULL, (const char *s, size_t n), (s, n))

#define ROW(name) { #name, NULL, (void *)fake_##name }
static const struct abi_import functions[] = {
	ROW(malloc), ROW(calloc), ROW(realloc), ROW(reallocarray), ROW(memalign), ROW(aligned_alloc),
	ROW(posix_memalign), ROW(strdup), ROW(strndup),
};

void
abi_alloc_watch(void)
{
	(void)abi_imports_replace(is_program, NULL, functions, sizeof(functions) / sizeof(functions[0]));
}
