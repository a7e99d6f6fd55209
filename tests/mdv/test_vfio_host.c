/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO: calls of the host that fail while a device is opened and closed, and functions that cannot be opened. The
 * program's own functions replace those of libc.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "mdv_test.h"

/* ------------------------------------------------------------------ functions that cannot be opened */

/* What links of the function in /sys/bus/pci/devices lead to; "": there is no such link. */
static const char *link_driver, *link_group;

/* The program's own readlink() replaces that of libc. */
ssize_t
readlink(const char *path, char *buf, size_t bytes)
{
	static ssize_t (*next)(const char *, char *, size_t);
	const char *to = NULL;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "readlink");
	if (strncmp(path, "/sys/bus/pci/devices/", 21) == 0)
		to = strstr(path, "/driver") != NULL ? link_driver :
		     strstr(path, "/iommu_group") != NULL ? link_group : NULL;
	if (to == NULL)
		return next(path, buf, bytes);
	errno = ENOENT;
	return to[0] == '\0' ? -1 : snprintf(buf, bytes, "../../somewhere/%s", to);
}

/** Driver and IOMMU group of a function that cannot be opened: the line states what is missing. */
void
test_vfio_links(const char *address)
{
	static const struct {
		const char *driver, *group, *line;
	} rows[] = {
		{ "mlx5_core", "", "the function is bound to mlx5_core, not to vfio-pci" },
		{ "mlx5_core", "7", "the function is bound to mlx5_core, not to vfio-pci" },
		{ "", "", "no such function, or no driver and no IOMMU" },
		{ "", "7", "ENODEV (may this process open /dev/vfio/vfio and /dev/vfio/7?" },
		{ "vfio-pci", "", "the function has no IOMMU group" },
		{ "vfio-pci", "7", "ENODEV (may this process open /dev/vfio/vfio and /dev/vfio/7?" },
	};
	const char *text;

	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		link_driver = rows[i].driver;
		link_group = rows[i].group;
		log_begin();
		CHECK(test_open_by(address, MDV_OPEN_VFIO) == NULL);
		CHECK_EQ(rte_errno, ENODEV);
		text = log_end();
		CHECK_EQ(lines_of(text), 1);
		CHECK_EQ(lines_with(text, rows[i].line), 1);
	}
	link_driver = link_group = NULL;
}

/* ------------------------------------------------------------------ failures of the host */

/** Calls of this program, not of libraries, that take a descriptor, all that create a thread, and the failing one. */
static unsigned int host_calls, host_fails_at;
extern const char __executable_start[], etext[];

static bool
host_fails(const void *caller)
{
	if ((const char *)caller < __executable_start || (const char *)caller >= etext || host_fails_at == 0)
		return false;
	errno = EMFILE;
	return ++host_calls == host_fails_at;
}

int
eventfd(unsigned int count, int flags)
{
	static int (*next)(unsigned int, int);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "eventfd");
	return host_fails(__builtin_return_address(0)) ? -1 : next(count, flags);
}

int fcntl64(int fd, int cmd, ...);
int
fcntl64(int fd, int cmd, ...)
{
	static int (*next)(int, int, ...);
	va_list args;
	long arg;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "fcntl64");
	va_start(args, cmd);
	arg = va_arg(args, long);
	va_end(args);
	return cmd == F_DUPFD_CLOEXEC && host_fails(__builtin_return_address(0)) ? -1 : next(fd, cmd, arg);
}

int open64(const char *path, int flags, ...);
int
open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	mode_t mode;

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "open64");
	va_start(args, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;
	va_end(args);
	return strcmp(path, "/") == 0 && host_fails(__builtin_return_address(0)) ? -1 : next(path, flags, mode);
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return host_fails(__executable_start) ? EAGAIN : next(thread, attr, run, arg);
}

static unsigned int
descriptors(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

void
test_vfio_host(const char *address)
{
	struct mdv_dev *dev = test_open_by(address, MDV_OPEN_VFIO);
	unsigned int before, failed = 0, k;

	REQUIRE(dev != NULL);
	mdv_close(dev);
	before = descriptors();
	for (k = 1; host_calls >= k - 1; k++) {
		log_begin();
		host_calls = 0;
		host_fails_at = k;
		dev = test_open_by(address, MDV_OPEN_VFIO);
		host_fails_at = 0;
		failed += dev == NULL;
		CHECK(dev != NULL || rte_errno == EMFILE || rte_errno == EAGAIN);
		CHECK_EQ(lines_of(log_end()), dev == NULL);
		mdv_close(dev);
		CHECK_EQ(descriptors(), before);
	}
	printf("opening failed %u times of %u\n", failed, k);
	CHECK(failed >= 4);
	/* No thread to close the context: it is closed by this one, and can be opened again. */
	dev = test_open_by(address, MDV_OPEN_VFIO);
	REQUIRE(dev != NULL);
	log_begin();
	host_calls = 0;
	host_fails_at = 1;
	mdv_close(dev);
	host_fails_at = 0;
	CHECK_EQ(host_calls, 1);
	CHECK_EQ(lines_of(log_end()), 1);
	CHECK_EQ(descriptors(), before);
	dev = test_open_by(address, MDV_OPEN_VFIO);
	CHECK(dev != NULL);
	log_begin();
	mdv_close(dev);
	CHECK_EQ(lines_of(log_end()), 0);
}
