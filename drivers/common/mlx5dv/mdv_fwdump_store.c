/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Collects the registers of a dump, and keeps it in a file, one per device, in a directory of the user.
 *
 * NAME.new is the dump that is being taken. The process that holds its lock takes it; the kernel releases
 * the lock when the process ends. NAME is the dump that is kept. link(2) creates it, so that it is
 * complete and never replaces another.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mdv_fwdump_int.h"

#define STORE_MAGIC 0x3150445746584c4dull /* "MLXFWDP1" */
#define STORE_MODE 0600
/* Longest wait for another process: 60 s, longer than the waits at the gateway. */
#define BUSY_TRIES 6000
#define BUSY_PAUSE_NS 10000000

/** Header of the file, followed by the registers; in host byte order. */
struct store_head {
	uint64_t magic, taken_s;
	uint32_t route, count, unreadable, pid;
};

int
mdv_fwdump_add(struct mdv_fwdump_set *set, uint32_t addr, uint32_t val)
{
	if (set->count == set->size) {
		size_t size = set->size != 0 ? 2 * set->size : 1024;
		void *more;

		if (set->size >= MDV_FWDUMP_MAX)
			return -EOVERFLOW;
		more = realloc(set->regs, size * sizeof(*set->regs));
		if (more == NULL)
			return -ENOMEM;
		set->regs = more;
		set->size = size;
	}
	set->regs[set->count++] = (struct mdv_fwdump_reg){ addr, val };
	return 0;
}

/* The directory: MLXPMD_FWDUMP_DIR; /run for root; the user's run directory; /tmp. */
static int
folder_path(char *path, size_t bytes)
{
	const char *dir = getenv("MLXPMD_FWDUMP_DIR"), *run = getenv("XDG_RUNTIME_DIR");
	int n;

	if (dir != NULL && dir[0] != '\0')
		n = snprintf(path, bytes, "%s", dir);
	else if (geteuid() == 0)
		n = snprintf(path, bytes, "/run/mlxpmd");
	else if (run != NULL && run[0] == '/')
		n = snprintf(path, bytes, "%s/mlxpmd", run);
	else
		n = snprintf(path, bytes, "/tmp/mlxpmd-%u", (unsigned int)geteuid());
	return n > 0 && (size_t)n < bytes ? 0 : -ENAMETOOLONG;
}

/* Refuse a directory in which other users could place a forged dump. */
static int
folder_check(int dir)
{
	struct stat st;

	if (fstat(dir, &st) != 0)
		return -errno;
	return st.st_uid == geteuid() && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -EACCES;
}

int
mdv_fwdump_folder(const struct rte_pci_addr *pci, bool make, char *path, size_t bytes)
{
	int dir = -1, ret = folder_path(path, bytes);

	if (ret == 0 && make && mkdir(path, 0700) != 0 && errno != EEXIST)
		ret = -errno;
	if (ret == 0) {
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ret = dir >= 0 ? folder_check(dir) : -errno;
	}
	if (ret == 0)
		return dir;
	if (dir >= 0)
		close(dir);
	if (ret != -ENOENT || make)
		MDV_LOG_PCI(ERR, pci, "a dump cannot be kept in %s: %s", path,
			ret == -EACCES && dir >= 0 ? "others may write there" : rte_strerror(-ret));
	return ret;
}

static int
folder_open(const struct mdv_fwdump *h, bool make)
{
	char path[512] = "";

	return mdv_fwdump_folder(&h->pci, make, path, sizeof(path));
}

/* ENOENT means that no dump is kept; use ENOTDIR if the directory cannot be created. */
static int
no_directory(int ret)
{
	return ret == -ENOENT ? -ENOTDIR : ret;
}

static void
new_name(const struct mdv_fwdump *h, char *name, size_t bytes)
{
	snprintf(name, bytes, "%s.new", h->name);
}

/* Opens NAME.new and locks it; -EAGAIN if it is locked, or was replaced meanwhile. */
static int
busy_try(int dir, const char *name)
{
	struct stat mine, there;
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, STORE_MODE), ret = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		ret = errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN : -errno;
	/* The previous holder may have linked or deleted it. */
	else if (fstat(fd, &mine) != 0 || fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) != 0 ||
		 mine.st_ino != there.st_ino || mine.st_dev != there.st_dev)
		ret = -EAGAIN;
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

int
mdv_fwdump_store_begin(const struct mdv_fwdump *h, struct mdv_fwdump_store *store)
{
	const struct timespec pause = { .tv_nsec = BUSY_PAUSE_NS };
	char name[128];
	int ret = -EAGAIN;

	store->busy = -1;
	store->dir = folder_open(h, true);
	if (store->dir < 0)
		return no_directory(store->dir);
	new_name(h, name, sizeof(name));
	for (int i = 0; ret == -EAGAIN && i < BUSY_TRIES; i++) {
		ret = busy_try(store->dir, name);
		if (ret == -EAGAIN && mdv_fwdump_stopped(&h->stop))
			ret = -ECANCELED;
		if (ret == -EAGAIN)
			nanosleep(&pause, NULL);
	}
	if (ret < 0) {
		close(store->dir);
		MDV_LOG_PCI(ERR, &h->pci, "a dump cannot be begun: %s",
			ret == -EAGAIN ? "another process makes one and does not end" :
			ret == -ECANCELED ? "another process makes one, and is not waited for any longer" :
					       rte_strerror(-ret));
		return ret == -EAGAIN ? -EBUSY : no_directory(ret);
	}
	store->busy = ret;
	if (faccessat(store->dir, h->name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	mdv_fwdump_store_end(h, store);
	return -EEXIST;
}

int
mdv_write_all(int fd, const void *from, size_t bytes)
{
	const uint8_t *p = from;

	while (bytes != 0) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		p += n;
		bytes -= n;
	}
	return 0;
}

int
mdv_fwdump_store_keep(const struct mdv_fwdump *h, struct mdv_fwdump_store *store,
		      const struct mdv_fwdump_set *set)
{
	const struct store_head head = {
		.magic = STORE_MAGIC, .taken_s = time(NULL), .route = set->route,
		.count = set->count, .unreadable = set->unreadable, .pid = getpid(),
	};
	char name[128];
	int ret;

	new_name(h, name, sizeof(name));
	ret = ftruncate(store->busy, 0) == 0 ? 0 : -errno;
	if (ret == 0)
		ret = mdv_write_all(store->busy, &head, sizeof(head));
	if (ret == 0)
		ret = mdv_write_all(store->busy, set->regs, set->count * sizeof(*set->regs));
	if (ret == 0 && linkat(store->dir, name, store->dir, h->name, 0) != 0)
		ret = -errno;
	if (ret != 0 && ret != -EEXIST)
		MDV_LOG_PCI(ERR, &h->pci, "the dump cannot be kept: %s", rte_strerror(-ret));
	return ret;
}

void
mdv_fwdump_store_end(const struct mdv_fwdump *h, struct mdv_fwdump_store *store)
{
	char name[128];

	new_name(h, name, sizeof(name));
	(void)unlinkat(store->dir, name, 0);
	close(store->busy); /* and with it the lock */
	close(store->dir);
}

static int
read_all(int fd, void *to, size_t bytes)
{
	uint8_t *p = to;

	while (bytes != 0) {
		ssize_t n = read(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		bytes -= n;
	}
	return 0;
}

/* The contents of the file are not trusted. */
static int
head_check(int fd, const struct store_head *head)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || head->magic != STORE_MAGIC || head->route >= MDV_FWDUMP_ROUTES ||
	    (uint64_t)st.st_size != sizeof(*head) + head->count * sizeof(struct mdv_fwdump_reg))
		return -EIO;
	return 0;
}

int
mdv_fwdump_store_read(const struct mdv_fwdump *h, struct mdv_fwdump_info *info,
		      struct mdv_fwdump_reg *regs, size_t count, size_t *filled)
{
	int dir = folder_open(h, false), fd, ret;
	struct store_head head;

	if (dir < 0)
		return dir;
	fd = openat(dir, h->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ret = fd >= 0 ? 0 : -errno;
	close(dir);
	if (ret == -ENOENT)
		return ret;
	if (ret == 0)
		ret = read_all(fd, &head, sizeof(head));
	if (ret == 0)
		ret = head_check(fd, &head);
	if (ret == 0) {
		*info = (struct mdv_fwdump_info){
			.route = head.route, .count = head.count, .unreadable = head.unreadable,
			.pid = head.pid, .taken_s = head.taken_s,
		};
		*filled = regs != NULL && count < head.count ? count : head.count;
		ret = regs != NULL ? read_all(fd, regs, *filled * sizeof(*regs)) : 0;
	}
	if (fd >= 0)
		close(fd);
	if (ret == 0)
		return 0;
	*filled = 0;
	MDV_LOG_PCI(ERR, &h->pci, "the dump that is kept cannot be read: %s",
		    ret == -EIO ? "it is damaged" : rte_strerror(-ret));
	return mdv_fail(EIO);
}

int
mdv_fwdump_sys_reset(struct mdv_fwdump *h)
{
	int dir = folder_open(h, false), ret;

	if (dir < 0)
		return dir;
	ret = unlinkat(dir, h->name, 0) == 0 ? 0 : -errno;
	close(dir);
	if (ret != 0 && ret != -ENOENT)
		MDV_LOG_PCI(ERR, &h->pci, "the dump cannot be dropped: %s", rte_strerror(-ret));
	return ret;
}
