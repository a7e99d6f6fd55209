/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Import tables of the loaded objects: ELF gABI, dynamic section and relocations. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "imports.h"

/* The relocation types of an imported function's slot. */
#if defined(__x86_64__)
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#error "which relocations are imports here?"
#endif

struct search {
	bool (*wanted)(const char *object, const void *arg);
	const void *arg;
	const struct abi_import *functions;
	unsigned int count;
	int found; /* -ENOENT: no object selected yet. */
};

static bool
slot_replace(const struct search *search, void **slot, const char *name)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)slot & ~(page_bytes - 1);
	const struct abi_import *f;

	for (f = search->functions; f < search->functions + search->count; f++) {
		if (strcmp(f->name, name) != 0)
			continue;
		if (*slot == f->fake)
			return true;
		if (f->real != NULL && *f->real == NULL)
			*f->real = dlsym(RTLD_DEFAULT, name);
		/* Import tables of objects bound at once are read-only. */
		if ((f->real != NULL && *f->real == NULL) ||
		    mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE) != 0)
			return false;
		__atomic_store_n(slot, f->fake, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static int
table_replace(const struct search *search, const struct dl_phdr_info *info, const ElfW(Rela) *rela,
	      size_t bytes, const ElfW(Sym) *symbols, const char *names)
{
	int found = 0;

	for (size_t i = 0; i < bytes / sizeof(*rela); i++) {
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(rela[i].r_info)];

		if (IS_IMPORT(ELF64_R_TYPE(rela[i].r_info)))
			found += slot_replace(search, (void **)(info->dlpi_addr + rela[i].r_offset),
					      names + symbol->st_name);
	}
	return found;
}

static int
object_replace(const struct search *search, const struct dl_phdr_info *info, const ElfW(Dyn) *dyn)
{
	const void *symbols = NULL, *names = NULL, *plt = NULL, *data = NULL;
	size_t plt_bytes = 0, data_bytes = 0;

	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB: symbols = (void *)dyn->d_un.d_ptr; break;
		case DT_STRTAB: names = (void *)dyn->d_un.d_ptr; break;
		case DT_JMPREL: plt = (void *)dyn->d_un.d_ptr; break;
		case DT_PLTRELSZ: plt_bytes = dyn->d_un.d_val; break;
		case DT_RELA: data = (void *)dyn->d_un.d_ptr; break;
		case DT_RELASZ: data_bytes = dyn->d_un.d_val; break;
		}
	}
	return table_replace(search, info, plt, plt_bytes, symbols, names) +
	       table_replace(search, info, data, data_bytes, symbols, names);
}

static int
each_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	struct search *search = arg;

	(void)size;
	if (!search->wanted(slash != NULL ? slash + 1 : info->dlpi_name, search->arg))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			search->found = (search->found < 0 ? 0 : search->found) +
				object_replace(search, info,
					       (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	return 0;
}

int
abi_imports_replace(bool (*wanted)(const char *object, const void *arg), const void *arg,
		    const struct abi_import *functions, unsigned int count)
{
	struct search search = { wanted, arg, functions, count, -ENOENT };

	dl_iterate_phdr(each_object, &search);
	return search.found;
}
