/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The emulated device: its control socket, the CPU of its threads, and the caches that hold its completions. */

#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <immintrin.h>
#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_pause.h>
#include <rte_vect.h>

#include "compare.h"

#define REPLY_MAX (256u << 10)
/* A device that still has work after this many passes never becomes idle. */
#define SETTLE_PASSES 100000u
#define SETTLE_STEP 16u
/* Pause between the device's last write and the driver's first read: write-backs and evictions end within it. */
#define PAUSE_NS 8000u

static int ctl = -1;
static char reply[REPLY_MAX];
static enum cmp_regime regime_now;
static uint64_t pause_ticks;

/* CPUID leaf 7, ECX (Intel SDM, volume 2A). */
#define ECX_CLDEMOTE (1u << 25)

static int
fail(int rc, const char *request, const char *why)
{
	CMP_LOG("the emulator refused or failed %.200s: %s", request, why);
	return rc;
}

/* Sends a request and stores its reply in `reply`. */
static int
exchange(const char *request, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (len != 0) {
		n = send(ctl, request, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		request += n;
		len -= n;
	}
	while (got == 0 || reply[got - 1] != '\n') {
		n = recv(ctl, reply + got, sizeof(reply) - 1 - got, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return got == sizeof(reply) - 1 ? -EMSGSIZE : -EPIPE;
		got += n;
	}
	reply[got] = '\0';
	return 0;
}

/* Sends a request, which ends with a newline. Returns the reply, which the caller frees; NULL if refused. */
static json_t *
request_send(const char *request)
{
	int rc = exchange(request, strlen(request));
	const json_t *error;
	json_t *json;

	if (rc != 0) {
		fail(rc, request, strerror(-rc));
		return NULL;
	}
	json = json_loads(reply, 0, NULL);
	if (json_is_true(json_object_get(json, "ok")))
		return json;
	error = json_object_get(json, "error");
	fail(-EIO, request,
	     json_is_string(error) ? json_string_value(error) : "the reply is not JSON");
	json_decref(json);
	return NULL;
}

/* Sends a request and, unless name is NULL, reads one number of the reply. */
static int
request_number(const char *request, const char *name, double *value)
{
	json_t *json = request_send(request);
	const json_t *item;
	int rc = 0;

	if (json == NULL)
		return -EIO;
	if (name != NULL) {
		item = json_object_get(json, name);
		if (json_is_number(item))
			*value = json_number_value(item);
		else
			rc = fail(-EPROTO, request, "the reply lacks a number");
	}
	json_decref(json);
	return rc;
}

/* Pins all threads of the emulator to one CPU. */
static int
pin_threads(int cpu)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	cpu_set_t cpus;
	char path[300], name[32];
	unsigned int pinned = 0;
	FILE *f;

	if (dir == NULL)
		return -errno;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	while ((e = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL && strncmp(name, "mlxemu", 6) == 0 &&
		    sched_setaffinity(atoi(e->d_name), sizeof(cpus), &cpus) == 0)
			pinned++;
		fclose(f);
	}
	closedir(dir);
	if (pinned != 0)
		return 0;
	CMP_LOG("no thread of the emulator can be pinned to CPU %d", cpu);
	return -ESRCH;
}

int
cmp_device_open(const struct cmp_config *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("MLXEMU_CTL");

	(void)c;
	if (path == NULL || strlen(path) >= sizeof(addr.sun_path)) {
		CMP_LOG("no emulator: run this program with `mlxemu run --ports 2 -- ...`");
		return -ENODEV;
	}
	strcpy(addr.sun_path, path);
	ctl = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ctl < 0 || connect(ctl, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		CMP_LOG("control socket %s: %s", path, strerror(errno));
		return -ENODEV;
	}
	pause_ticks = rte_get_tsc_hz() * PAUSE_NS / 1000000000u;
	return 0;
}

void
cmp_device_close(void)
{
	if (ctl >= 0)
		close(ctl);
	ctl = -1;
	cmp_evictor_stop();
}

int
cmp_device_run(bool run)
{
	return request_number(run ? "{\"cmd\":\"engine\",\"run\":true}\n" :
				"{\"cmd\":\"engine\",\"run\":false}\n", NULL, NULL);
}

/*
 * Some processors switch the upper halves of their 512-bit units off when they are not used, and execute instructions
 * of 512 bits slowly until they are on again (Intel's optimization manual, "Intel AVX-512 power management"). A port
 * that receives all the time keeps them on, and the waits of regimes X, E and L are not part of what is measured.
 */
void
cmp_device_wait(void)
{
	if (rte_vect_get_max_simd_bitwidth() >= RTE_VECT_SIMD_512 &&
	    rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0) {
		__asm__ volatile("vpmaddubsw %%zmm0, %%zmm0, %%zmm0" : : : "xmm0");
		return;
	}
	rte_pause();
}

static void
cache_pause(void)
{
	uint64_t end = rte_rdtsc() + pause_ticks;

	while (rte_rdtsc() < end)
		cmp_device_wait();
}

int
cmp_device_inject(const struct cmp_arm *arm, uint32_t frames, const char *file)
{
	char request[512];
	double delivered;
	int rc;

	snprintf(request, sizeof(request),
		 "{\"cmd\":\"inject\",\"port\":%u,\"frames\":%u,\"file\":\"%s\",\"demote\":%s}\n",
		 arm->emu_port, frames, file, regime_now == CMP_L ? "true" : "false");
	rc = request_number(request, "delivered", &delivered);
	if (rc == 0 && delivered != frames)
		rc = fail(-EIO, request, "not all frames found a receive buffer");
	if (rc != 0)
		return rc;
	if (regime_now == CMP_E)
		cmp_evictor_do(NULL, 0, CMP_E);
	if (regime_now != CMP_H)
		cache_pause();
	return 0;
}

int
cmp_device_settle(void)
{
	char request[64];
	double work = 1;
	uint32_t i;
	int rc = 0;

	snprintf(request, sizeof(request), "{\"cmd\":\"engine.step\",\"polls\":%u}\n", SETTLE_STEP);
	for (i = 0; rc == 0 && work != 0 && i < SETTLE_PASSES; i++)
		rc = request_number(request, "work", &work);
	if (rc == 0 && work != 0)
		rc = fail(-ETIMEDOUT, request, "the device does not become idle");
	return rc;
}

json_t *
cmp_device_counters(const struct cmp_arm *arm)
{
	json_t *json = request_send("{\"cmd\":\"counters\"}\n"), *port;

	if (json == NULL)
		return NULL;
	port = json_incref(json_array_get(json_object_get(json, "ports"), arm->emu_port));
	if (port == NULL)
		fail(-EPROTO, "counters", "the reply lacks the port");
	json_decref(json);
	return port;
}

bool
cmp_device_demotes(void)
{
	unsigned int a, b, ecx = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &ecx, &d) != 0 && (ecx & ECX_CLDEMOTE);
}

int
cmp_device_regime(const struct cmp_config *c, enum cmp_regime regime)
{
	int rc;

	if (regime != CMP_H && c->cpu == c->device_cpu) {
		CMP_LOG("regimes X, E and L need a second CPU");
		return -ENOTSUP;
	}
	if (regime == CMP_L && !cmp_device_demotes()) {
		CMP_LOG("regime L needs a processor with cldemote");
		return -ENOTSUP;
	}
	cmp_evictor_stop();
	rc = pin_threads(regime == CMP_H ? c->cpu : c->device_cpu);
	if (rc == 0 && regime != CMP_H)
		rc = cmp_evictor_start(c->device_cpu);
	regime_now = regime;
	return rc;
}

/* ---- cost of a load in a regime ---- */

#define PROBE_LINES 512u
#define PROBE_TURNS 64u
struct probe_line {
	uint64_t written;	/**< Written by the core that the regime defines. */
	struct probe_line *next;
	uint8_t pad[48];
};

/* Links all lines to one cycle in random order (Sattolo's algorithm), which no prefetcher can follow. */
static void
probe_link(struct probe_line *lines)
{
	uint16_t order[PROBE_LINES], t;
	uint32_t i, j;
	uint64_t seed = 1;

	for (i = 0; i < PROBE_LINES; i++)
		order[i] = i;
	for (i = PROBE_LINES - 1; i > 0; i--) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		j = (uint32_t)(seed >> 33) % i;
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (i = 0; i < PROBE_LINES; i++)
		lines[order[i]].next = &lines[order[(i + 1) % PROBE_LINES]];
}

static void
probe_write(struct probe_line *lines, enum cmp_regime regime)
{
	uint32_t i;

	if (regime == CMP_H || regime == CMP_D) {
		for (i = 0; i < PROBE_LINES; i++)
			*(volatile uint64_t *)&lines[i].written = i;
		for (i = 0; regime == CMP_D && i < PROBE_LINES; i++)
			_mm_clflush(&lines[i]);
		_mm_mfence();
		return;
	}
	cmp_evictor_do((uint8_t *)lines, PROBE_LINES, regime);
	cache_pause();
}

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

double
cmp_device_line_ticks(const struct cmp_config *c, enum cmp_regime regime)
{
	struct probe_line *lines = aligned_alloc(4096, PROBE_LINES * sizeof(*lines));
	const struct probe_line *volatile sink;
	const struct probe_line *p;
	uint64_t from, ticks[PROBE_TURNS];
	uint32_t i, turn;

	if (lines == NULL || cmp_device_regime(c, regime) != 0) {
		free(lines);
		return 0;
	}
	probe_link(lines);
	for (turn = 0; turn < PROBE_TURNS; turn++) {
		probe_write(lines, regime);
		from = rte_rdtsc_precise();
		for (p = lines, i = 0; i < PROBE_LINES; i++)
			p = p->next;
		sink = p;
		ticks[turn] = rte_rdtsc_precise() - from;
	}
	(void)sink;
	free(lines);
	qsort(ticks, PROBE_TURNS, sizeof(ticks[0]), by_value);
	return (double)ticks[PROBE_TURNS / 2] / PROBE_LINES;
}
