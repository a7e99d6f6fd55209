/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Calls of the C library that tests of register dumps replace by the program's own, which count them, and fail them
 * as `accesses` and `host` describe.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "test_fwdump.h"

#define PART_BYTES 100
/* More parts than any dump of these tests has. */
#define PARTS_MAX 10000

struct accesses accesses;
struct host host;

int open64(const char *path, int flags, ...);
ssize_t pread64(int fd, void *buf, size_t len, off64_t off);
ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t off);

static void *
next_of(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* ---- configuration space ---- */

static bool
card_removed(void)
{
	return accesses.removed_at != 0 &&
	       __atomic_load_n(&accesses.count, __ATOMIC_RELAXED) >= accesses.removed_at;
}

static bool
fails(void)
{
	return __atomic_add_fetch(&accesses.count, 1, __ATOMIC_RELAXED) == accesses.fail_at;
}

int
open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	mode_t mode;

	if (next == NULL)
		*(void **)&next = next_of("open64");
	va_start(args, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
	va_end(args);
	errno = host.open_err;
	return host.open_err != 0 && strstr(path, "/config") != NULL ? -1 : next(path, flags, mode);
}

/* Counts a read. True: *value is read instead of what the card has. */
static bool
read_counted_locked(off64_t off, uint32_t *value)
{
	__atomic_add_fetch(&accesses.semaphore, off == VSC(SEMAPHORE), __ATOMIC_RELAXED);
	__atomic_add_fetch(&accesses.address, off == VSC(ADDRESS), __ATOMIC_RELAXED);
	__atomic_add_fetch(&accesses.data, off == VSC(DATA), __ATOMIC_RELAXED);
	if (accesses.config != NULL) {
		memcpy(value, accesses.config + off, sizeof(*value));
		return true;
	}
	if (accesses.read_as.left == 0 || accesses.read_as.off != off)
		return false;
	if (accesses.read_as.after != 0) {
		accesses.read_as.after--;
		return false;
	}
	accesses.read_as.left--;
	*value = accesses.read_as.value;
	return true;
}

/* Users of several threads read the card. */
static pthread_mutex_t accesses_lock = PTHREAD_MUTEX_INITIALIZER;

static bool
read_counted(off64_t off, uint32_t *value)
{
	bool counted;

	pthread_mutex_lock(&accesses_lock);
	counted = read_counted_locked(off, value);
	pthread_mutex_unlock(&accesses_lock);
	return counted;
}

ssize_t
pread64(int fd, void *buf, size_t len, off64_t off)
{
	static ssize_t (*next)(int, void *, size_t, off64_t);

	if (next == NULL)
		*(void **)&next = next_of("pread64");
	errno = EIO;
	if (fails())
		return -1;
	if (accesses.bytes != 0 && off >= (off64_t)accesses.bytes)
		return 0;
	if (card_removed()) {
		memset(buf, 0xff, len);
		return len;
	}
	return len == sizeof(uint32_t) && read_counted(off, buf) ? (ssize_t)len : next(fd, buf, len, off);
}

ssize_t
pwrite64(int fd, const void *buf, size_t len, off64_t off)
{
	static ssize_t (*next)(int, const void *, size_t, off64_t);

	if (next == NULL)
		*(void **)&next = next_of("pwrite64");
	errno = EIO;
	if (fails())
		return -1;
	if (accesses.bytes != 0 && off >= (off64_t)accesses.bytes)
		return 0;
	if (off == VSC(SEMAPHORE) && len == sizeof(uint32_t) && *(const uint32_t *)buf == 0) {
		pthread_mutex_lock(&accesses_lock);
		accesses.released++;
		accesses.data_max = RTE_MAX(accesses.data_max, accesses.data);
		accesses.data = 0;
		pthread_mutex_unlock(&accesses_lock);
	}
	return card_removed() || (accesses.swallow && off == VSC(ADDRESS)) ? (ssize_t)len :
									next(fd, buf, len, off);
}

/* ---- files ---- */

int
flock(int fd, int operation)
{
	static int (*next)(int, int);
	void (*begun)(void) = __atomic_exchange_n(&host.flock_begun, NULL, __ATOMIC_RELAXED);
	int err;

	if (next == NULL)
		*(void **)&next = next_of("flock");
	if (begun != NULL)
		begun();
	if (operation == LOCK_UN)
		return next(fd, operation);
	pthread_mutex_lock(&accesses_lock);
	err = host.flock_err[0];
	host.flock_err[0] = host.flock_err[1];
	host.flock_err[1] = host.flock_err[2];
	host.flock_err[2] = 0;
	pthread_mutex_unlock(&accesses_lock);
	errno = err;
	return err != 0 ? -1 : next(fd, operation);
}

/* Whether a file is in the folder for dumps. */
static bool
is_dump(int fd)
{
	char link[64], path[sizeof(folder)] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strncmp(path, folder, strlen(folder)) == 0;
}

/* Bytes of the next part; 0 if the call is interrupted. */
static size_t
part(size_t bytes)
{
	static unsigned int calls;

	/* An error number of an earlier call is no error of this one. */
	errno = calls < PARTS_MAX ? EINTR : EIO;
	return ++calls % 2 == 0 || calls > PARTS_MAX ? 0 : RTE_MIN(bytes, (size_t)PART_BYTES);
}

ssize_t
write(int fd, const void *buf, size_t bytes)
{
	static ssize_t (*next)(int, const void *, size_t);

	if (next == NULL)
		*(void **)&next = next_of("write");
	if ((!host.parts && host.write_err == 0) || !is_dump(fd))
		return next(fd, buf, bytes);
	if (host.write_err != 0) {
		errno = host.write_err;
		return host.write_err < 0 ? 0 : -1;
	}
	bytes = part(bytes);
	return bytes == 0 ? -1 : next(fd, buf, bytes);
}

ssize_t
read(int fd, void *buf, size_t bytes)
{
	static ssize_t (*next)(int, void *, size_t);

	if (next == NULL)
		*(void **)&next = next_of("read");
	if (!host.parts || !is_dump(fd))
		return next(fd, buf, bytes);
	bytes = part(bytes);
	return bytes == 0 ? -1 : next(fd, buf, bytes);
}

/* ---- time ---- */

int
(nanosleep)(const struct timespec *ts, struct timespec *rest)
{
	static int (*next)(const struct timespec *, struct timespec *);
	long ns = ts->tv_sec * 1000000000 + ts->tv_nsec;

	if (next == NULL)
		*(void **)&next = next_of("nanosleep");
	if (!host.no_sleep)
		return next(ts, rest);
	host.sleep_min_ns = host.sleeps == 0 ? ns : RTE_MIN(host.sleep_min_ns, ns);
	host.sleep_max_ns = RTE_MAX(host.sleep_max_ns, ns);
	host.slept_us += ns / 1000;
	host.sleeps++;
	return 0;
}
