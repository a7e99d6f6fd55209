/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Compares loads of the device's counter with loads of a copy of its page in memory: results and flags must
 * be equal. Under `mlxemu run --clock virtual` the counter changes by commands only.
 *
 * usage: loads OBJECT...    shared objects with loads_c.c and loads_asm.S, built by test_loads.py
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "client.h"
#include "loads.h"

/* Kernel, drivers/infiniband/hw/mlx5/main.c, get_command(): the command is in bits 8 and up of the page number. */
#define MMAP_CORE_CLOCK (5ull << 8)
#define PAGE 4096u
#define OUT_WORDS 32768u

typedef void *(*load_asm)(void *out, const void *page, uint64_t operand, uint64_t flags);

static uint8_t copy[PAGE] __attribute__((aligned(PAGE)));
static uint64_t live_out[OUT_WORDS], copy_out[OUT_WORDS];
static unsigned long compared;

static void
compare(const char *object, const char *name, unsigned index, const void *live_end, const void *copy_end)
{
	size_t n = (size_t)((const uint64_t *)live_end - live_out);

	CHECK_EQ(n, (size_t)((const uint64_t *)copy_end - copy_out));
	CHECK(n != 0 && n <= OUT_WORDS);
	compared += n;
	for (size_t i = 0; i < n; i++)
		if (live_out[i] != copy_out[i]) {
			printf("%s: %s %u, word %zu: 0x%jx from the counter, 0x%jx from memory\n", object, name,
			       index, i, (uintmax_t)live_out[i], (uintmax_t)copy_out[i]);
			CHECK(live_out[i] == copy_out[i]);
			return;
		}
}

static const uint64_t operands[] = {
	0, 1, UINT64_MAX, 0x8000000080008080, 0x7fffffff7fff7f7f, 0x123456789abcdef0,
};

static void
asm_cases(void *handle, const char *object, const uint8_t *live)
{
	/* DF and TF clear; all arithmetic flags clear and set. */
	static const uint64_t flags[] = {0x202, 0xad7};
	static const struct {
		const char *name;
		int supported;
	} sets[] = {{"loads_base", 1}, {"loads_v3", 3}, {"loads_v4", 4}};

	__builtin_cpu_init();
	for (unsigned s = 0; s < sizeof(sets) / sizeof(sets[0]); s++) {
		load_asm run = (load_asm)dlsym(handle, sets[s].name);

		CHECK(run != NULL);
		if ((sets[s].supported == 3 && !__builtin_cpu_supports("avx2")) ||
		    (sets[s].supported == 4 && !__builtin_cpu_supports("avx512bw")))
			continue;
		for (unsigned i = 0; i < 2 * sizeof(operands) / sizeof(operands[0]); i++)
			compare(object, sets[s].name, i, run(live_out, live, operands[i / 2], flags[i % 2]),
				run(copy_out, copy, operands[i / 2], flags[i % 2]));
	}
}

static void
object_run(const char *object, const uint8_t *live)
{
	void *handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	const load_case *cases;

	if (handle == NULL) {
		printf("%s\n", dlerror());
		CHECK(handle != NULL);
		return;
	}
	cases = dlsym(handle, "load_cases");
	CHECK(cases != NULL);
	for (unsigned c = 0; cases[c] != NULL; c++)
		for (unsigned i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
			compare(object, "case", c, cases[c](live_out, live, 1, operands[i]),
				cases[c](copy_out, copy, 1, operands[i]));
	asm_cases(handle, object, live);
	dlclose(handle);
}

/* Whether each load of the page still faults: it has no rights in that case. */
static bool
trapped(const void *live)
{
	char line[512], want[64];
	FILE *f = fopen("/proc/self/maps", "r");
	bool found = false;

	snprintf(want, sizeof(want), "%jx-%jx ---s", (uintmax_t)(uintptr_t)live, (uintmax_t)(uintptr_t)live + PAGE);
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		found |= strncmp(line, want, strlen(want)) == 0;
	if (f != NULL)
		fclose(f);
	return found;
}

/* A mapping for each object: the emulator keeps a copy of each instruction until the page is unmapped. */
static void
compare_object(struct client *c, const char *object)
{
	volatile uint64_t *live = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, c->ctx->cmd_fd,
				       (off_t)(MMAP_CORE_CLOCK * PAGE));
	struct client_obj td;
	uint64_t before;

	CHECK(live != MAP_FAILED);
	if (live == MAP_FAILED)
		return;
	before = *live;
	td = client_td(c);
	CHECK(*live != before);
	CHECK_EQ(mlx5dv_devx_obj_destroy(td.obj), 0);
	for (unsigned w = 0; w < PAGE / 2 / sizeof(uint64_t); w++)
		((uint64_t *)(void *)copy)[w] = live[w];
	CHECK(*(uint64_t *)(void *)copy != 0);
	object_run(object, (const uint8_t *)live);
	CHECK(trapped((const void *)live));
	munmap((void *)(uintptr_t)live, PAGE);
}

int
main(int argc, char **argv)
{
	struct client c;

	client_open(&c, 0);
	for (int i = 1; i < argc && check_failures == 0; i++) {
		compare_object(&c, argv[i]);
		/* As EAL does; without privileges the limit may not allow it. */
		if (i == 1 && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0)
			printf("mlockall: %s\n", strerror(errno));
	}
	client_close(&c);
	printf("%d objects, %lu words compared\n", argc - 1, compared);
	return check_exit("loads");
}
