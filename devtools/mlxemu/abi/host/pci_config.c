/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The `config` file of an emulated PCI function. The descriptor is one of a file with the initial
 * content, so the kernel handles size, offset and mmap; reads and writes go to the model.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "core/emu_pci.h"
#include "abi/preload/preload.h"

struct abi_pciconf {
	struct abi_fdobj obj; /* first */
	unsigned index;
};

static void
pciconf_release(struct abi_fdobj *obj)
{
	free(obj);
}

/* Index of the port of a config file; -1: no config file. */
static int
pciconf_index(const char *real_path, const struct emu_machine *m)
{
	static const char tail[] = "/config";
	size_t n = strlen(real_path);
	const char *end = real_path + n - (sizeof(tail) - 1);

	if (n <= sizeof(tail) || strcmp(end, tail) != 0)
		return -1;
	for (unsigned i = 0; m != NULL && i < m->ports; i++) {
		size_t len = strlen(m->dev[i].pci_addr);

		if (m->dev[i].parent == NULL && (size_t)(end - real_path) > len && end[-(long)len - 1] == '/' &&
		    strncmp(end - len, m->dev[i].pci_addr, len) == 0)
			return (int)i;
	}
	return -1;
}

int
abi_pciconf_opened(int fd, const char *real_path)
{
	int index = abi_inside == 0 ? pciconf_index(real_path, abi_machine()) : -1, ret;
	struct abi_pciconf *conf;

	if (fd < 0 || index < 0)
		return fd;
	ret = abi_model_faults();
	conf = ret == 0 ? calloc(1, sizeof(*conf)) : NULL;
	if (conf != NULL) {
		conf->obj = (struct abi_fdobj){.kind = ABI_FD_PCICONF, .release = pciconf_release};
		conf->index = (unsigned)index;
		ret = abi_fd_add(fd, &conf->obj);
		if (ret == 0)
			return fd;
		free(conf);
	}
	abi_real_close(fd);
	errno = ret != 0 ? -ret : ENOMEM;
	return -1;
}

/* Whether the access needs the lock. The space itself needs none. */
static bool
pciconf_locks(const struct abi_pciconf *conf, bool write)
{
	const struct emu_machine *m = abi_machine();

	/* A write to the command register may end the DMA of a failed device. */
	return emu_fault_at(write ? EMU_ON_PCI_WRITE : EMU_ON_PCI_READ) ||
	       (write && m != NULL && m->dev[conf->index].internal_error);
}

static int
pciconf_do(const struct abi_pciconf *conf, bool write, uint32_t off, void *buf, uint32_t len)
{
	const bool rules = pciconf_locks(conf, write);
	struct emu_machine *m = rules ? abi_enter() : abi_machine();
	int ret;

	if (m == NULL)
		return -ENODEV;
	ret = write ? emu_pci_write(&m->dev[conf->index], off, buf, len)
		    : emu_pci_read(&m->dev[conf->index], off, buf, len);
	if (rules)
		abi_leave();
	return ret;
}

bool
abi_pciconf_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done)
{
	struct abi_fdobj *obj;
	bool at_cursor = off < 0;
	int flags, ret = 0;

	if (abi_inside != 0 || abi_fd_kind(fd) != ABI_FD_PCICONF)
		return false;
	obj = abi_fd_get(fd, ABI_FD_PCICONF);
	if (obj == NULL)
		return false;
	flags = ABI_REAL(fcntl)(fd, F_GETFL) & O_ACCMODE;
	if (at_cursor)
		off = ABI_REAL(lseek64)(fd, 0, SEEK_CUR);
	if (off > EMU_PCI_CONFIG_BYTES)
		off = EMU_PCI_CONFIG_BYTES;
	if (len > EMU_PCI_CONFIG_BYTES - (size_t)off)
		len = EMU_PCI_CONFIG_BYTES - (size_t)off;
	/* Access mode 3 permits neither (open(2)). */
	if (flags == (write ? O_RDONLY : O_WRONLY) || flags == O_ACCMODE)
		ret = -EBADF;
	else if (len != 0)
		ret = pciconf_do((const struct abi_pciconf *)obj, write, (uint32_t)off, buf,
				 (uint32_t)len);
	abi_fd_put(obj);
	if (ret == 0 && at_cursor)
		(void)ABI_REAL(lseek64)(fd, off + (off64_t)len, SEEK_SET);
	if (ret != 0)
		errno = -ret;
	*done = ret == 0 ? (ssize_t)len : -1;
	return true;
}

/* Access to a config file or to a region of a VFIO device at an offset. */
static bool
access_at(int fd, bool write, const void *buf, size_t len, off64_t off, ssize_t *done)
{
	void *p = (void *)(uintptr_t)buf;

	return off >= 0 && (abi_pciconf_access(fd, write, p, len, off, done) ||
			    abi_vfio_access(fd, write, p, len, off, done));
}

#define ABI_PREAD(name, type)                                                                      \
	ABI_EXPORT ssize_t name(int fd, void *buf, size_t len, type off)                           \
	{                                                                                          \
		ssize_t done;                                                                      \
                                                                                                   \
		if (access_at(fd, false, buf, len, off, &done))                                    \
			return done;                                                               \
		return ABI_REAL(name)(fd, buf, len, off);                                          \
	}
ABI_PREAD(pread, off_t)
ABI_PREAD(pread64, off64_t)

#define ABI_PREAD_CHK(name, type)                                                                  \
	ABI_EXPORT ssize_t name(int fd, void *buf, size_t len, type off, size_t size)              \
	{                                                                                          \
		ssize_t done;                                                                      \
                                                                                                   \
		if (len <= size && access_at(fd, false, buf, len, off, &done))                     \
			return done;                                                               \
		return ABI_REAL(name)(fd, buf, len, off, size);                                    \
	}
ABI_PREAD_CHK(__pread_chk, off_t)
ABI_PREAD_CHK(__pread64_chk, off64_t)

#define ABI_PWRITE(name, type)                                                                     \
	ABI_EXPORT ssize_t name(int fd, const void *buf, size_t len, type off)                     \
	{                                                                                          \
		ssize_t done;                                                                      \
                                                                                                   \
		if (access_at(fd, true, buf, len, off, &done))                                     \
			return done;                                                               \
		return ABI_REAL(name)(fd, buf, len, off);                                          \
	}
ABI_PWRITE(pwrite, off_t)
ABI_PWRITE(pwrite64, off64_t)
