/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Front ends of the emulator, which stand in for the kernel: common declarations.
 *
 * preload/ replaces libc functions and passes calls on emulated devices to the other folders;
 * paths.c and fds.c determine which calls those are. uverbs/ implements the RDMA ioctl, vfio/ the VFIO
 * ioctls, host/ sysfs, network interfaces, netlink and PCI config space. model.c starts and stops the model.
 */
#ifndef ABI_H
#define ABI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/emu_audit.h"
#include "core/emu_dev.h"
#include "core/emu_obj.h"

/* Device numbers of /dev/infiniband/uverbsN in Linux. */
#define ABI_UVERBS_MAJOR 231
#define ABI_UVERBS_MINOR 192
#define ABI_VFIO_MAJOR 235 /* dynamic in Linux */
/** First interface index of the emulated ports: above the indices that a kernel assigns. */
#define ABI_IFINDEX_BASE 100001
#define ABI_GID_TABLE_LEN 16

/* ---- functions of libc (real_libc.c) ---- */

/** The next definition of name after this library (RTLD_NEXT), cached in slot. Not NULL for libc functions. */
void *abi_real_symbol(const char *name, void *_Atomic *slot);
#define ABI_REAL(name)                                                                             \
	({                                                                                         \
		static void *_Atomic abi_slot;                                                     \
		(__typeof__(&name))abi_real_symbol(#name, &abi_slot);                              \
	})
int abi_real_open(const char *path, int flags, unsigned mode);
int abi_real_close(int fd);
int abi_real_fstat(int fd, struct stat *st);
int abi_real_lstat(const char *path, struct stat *st);
int abi_real_ioctl(int fd, unsigned long request, void *arg);
long abi_real_write(int fd, const void *buf, size_t len);

/** Not 0 while this thread runs model or front-end code: interposers call libc directly then. */
extern __thread unsigned abi_inside __attribute__((tls_model("initial-exec")));

/* ---- paths (paths.c) ---- */

#define ABI_PATH_MAX 4608
/**
 * The path to use instead of path: path itself, or one inside the run directory, written to buf
 * (ABI_PATH_MAX bytes).
 */
const char *abi_path(const char *path, char *buf);
/** Translates a path inside the run directory back to the path that the program uses. In place. */
void abi_path_unmap(char *path);
/* Nodes in /dev: uverbsN is N, vfio/N is ABI_NODE_GROUP + N. */
#define ABI_NODE_NONE -1
#define ABI_NODE_VFIO 0x10000
#define ABI_NODE_GROUP 0x20000
/** The device node of a path inside the run directory. */
int abi_path_node(const char *real_path);
/** The run directory, or NULL if the program does not run under the launcher. */
const char *abi_run_dir(void);
/** Changes a stat result to that of the character device. */
void abi_stat_node(struct stat *st, int node);
/** Its device number. */
dev_t abi_node_rdev(int node);

/* ---- tracked descriptors (fds.c) ---- */

enum abi_fd_kind {
	ABI_FD_NONE,
	ABI_FD_UVERBS,
	ABI_FD_CHANNEL,
	ABI_FD_MODEL,
	ABI_FD_PCICONF,
	ABI_FD_VFIO_CONTAINER,
	ABI_FD_VFIO_GROUP,
	ABI_FD_VFIO_DEVICE,
	ABI_FD_NETLINK,
};

/** Object of one or more descriptors of the program; freed when refs becomes 0. */
struct abi_fdobj {
	enum abi_fd_kind kind;
	unsigned refs; /**< Descriptors plus calls in progress. Protected by the table's lock. */
	dev_t st_dev;  /**< Identity of the open file, to detect a reused number. */
	ino_t st_ino;
	void (*release)(struct abi_fdobj *obj); /**< After the last reference, no lock held. */
};
/** Adds fd; takes a reference. 0, or -EMFILE if the number is beyond the table. */
int abi_fd_add(int fd, struct abi_fdobj *obj);
/** The object of fd with a reference taken, or NULL if there is none of this kind. */
struct abi_fdobj *abi_fd_get(int fd, enum abi_fd_kind kind);
void abi_fd_put(struct abi_fdobj *obj);
/** Takes another reference. */
void abi_fd_ref(struct abi_fdobj *obj);
/** Kind of a descriptor, without taking a reference. */
enum abi_fd_kind abi_fd_kind(int fd);
/** Records that to is a duplicate of from. */
void abi_fd_dup(int from, int to);
/** Removes fd; returns its object, with the reference transferred to the caller, or NULL. */
struct abi_fdobj *abi_fd_take(int fd);
/** Moves fd to a high number for use by the model. Closes fd. Returns the new descriptor or -errno. */
int abi_fd_hide(int fd);
/**
 * Duplicates an eventfd of the program for the model.
 * @return the descriptor; -EBADF: not open; -EINVAL: no eventfd.
 */
int abi_eventfd_take(int fd);
void abi_fd_unhide_close(int fd);
/**
 * TAP descriptors that the launcher has opened for the process that opens a device. They stay open
 * in programs that close all inherited descriptors.
 */
bool abi_fd_guarded(int fd);
void abi_fd_unguard(int fd);
/** Number of open descriptors of the process without those of the model. */
unsigned abi_fd_program(void);
/** Whether any descriptor needs special treatment at close(). */
bool abi_fd_any(void);
/** In the child after fork(): drops all entries, because the model belongs to the parent. */
void abi_fd_reset(void);

/* ---- the model (model.c) ---- */

/** The machine, initialized at first use; NULL if the environment describes none. */
struct emu_machine *abi_machine(void);
/** Starts wires and engine at the first open of a device. 0 or -errno. */
int abi_model_start(void);
/** Reads the fault rules of the environment, once for the process. 0 or -errno. */
int abi_model_faults(void);
/** Enter and leave the model: machine's lock, and interposers disabled for this thread. */
struct emu_machine *abi_enter(void);
void abi_leave(void);
/** Stops the model and writes the report; no effect if the model was not started. */
void abi_model_finish(void);
/** True after the end of the model, and in a child of fork() whose parent ran the model. */
bool abi_model_dead(void);
/** True in a vfork() child, which shares memory with the parent but not descriptors. */
bool abi_model_foreign(void);

/* ---- PCI config space of the ports (host/pci_config.c) ---- */

/** To be called after open() of a file in sysfs. Returns fd, tracked if it is a config file, or -1 and errno. */
int abi_pciconf_opened(int fd, const char *real_path);
/**
 * Reads or writes a config file; off < 0: at the file offset.
 * @return false: fd is no config file. Else *done is the result of the call, with errno.
 */
bool abi_pciconf_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done);

/* ---- processes that use a device by a received descriptor (joined.c) ---- */

/** To be called before mmap() by a descriptor: 0, or -errno if it is that of a device and the kernel would refuse. */
int abi_joined_may_map(int fd, size_t len, int prot, int flags, off64_t offset);
/** To be called after mmap() of shared memory by a descriptor. */
void abi_joined_mapped(int fd);
/** Whether another process has mapped pages of a device of this run; lock held. */
bool abi_joined(void);
/** Whether this process runs under `mlxemu run --join`: it opens no device. */
bool abi_joined_run(void);

/* ---- lock of the bound driver (driver_lock.c) ---- */

/** IOMMU group of port 0; port i has group ABI_VFIO_GROUP_BASE + i. */
#define ABI_VFIO_GROUP_BASE 40u
/** Returned instead of a lock when the device can be opened through one front end only. */
#define ABI_DRIVER_UNLOCKED 0x7fffffff
/**
 * Locks the device for all processes of the run: exclusively for EMU_FRONT_VFIO, shared for
 * EMU_FRONT_VERBS. Returns the argument of abi_driver_unlock(), or -errno; -EBUSY if the other
 * driver has the device.
 */
int abi_driver_lock(const struct emu_dev *dev, uint8_t front);
/** Releases the lock; a negative value is ignored. */
void abi_driver_unlock(int lock);

/* ---- uverbs (uverbs*.c) ---- */

struct abi_file;
/** Opens uverbs device n; returns the program's descriptor or -errno. */
int abi_uverbs_open(unsigned n, int flags);
/** Answers RDMA_VERBS_IOCTL. 0 or -errno. */
int abi_uverbs_ioctl(struct abi_fdobj *obj, void *arg);
/**
 * read() on a channel whose records are kept by the model. True: *ret is the result, bytes or
 * -errno. False: not such a channel.
 */
bool abi_channel_read(int fd, void *buf, size_t len, long *ret);
/** Stops the thread that delivers delayed replies. */
void abi_async_stop(void);
unsigned abi_uverbs_index(const struct abi_fdobj *obj);
/**
 * Whether the kernel would map this part of a device's file, which may be that of another process: 0 or -errno.
 * Linux, hw/mlx5/main.c, mlx5_ib_mmap(); core/ib_core_uverbs.c, rdma_user_mmap_io(); hw/mlx4/main.c, mlx4_ib_mmap().
 */
int abi_uverbs_may_map(const struct emu_dev *dev, int fd, size_t len, int prot, int flags, off64_t offset);
/** To be called after mmap() of a device's file; lock held. */
void abi_uverbs_mapped(struct abi_fdobj *obj, void *at, size_t len, int prot, off64_t offset);
/** Set when the removal of any device has begun. */
extern bool abi_removed_any;
/** The firmware failed: raises the fatal event of the port. */
void abi_uverbs_failing(struct emu_dev *dev);
/** The device was removed: signals its open files. */
void abi_uverbs_removed(struct emu_dev *dev);
/** Adds the open files, mappings and channels of a device to out; lock held. */
void abi_uverbs_ledger(struct emu_dev *dev, struct emu_front_ledger *out);
/** Closes every open device, as the end of the process does; lock held. */
void abi_uverbs_exit(void);

/* ---- VFIO (vfio*.c) ---- */

/** Opens ABI_NODE_VFIO or a group. fd or -errno. */
int abi_vfio_open(int node, int flags);
/** ioctl() of a container, group or device: its result, or -errno. */
int abi_vfio_ioctl(int fd, enum abi_fd_kind kind, unsigned long request, void *arg);
static inline bool
abi_fd_is_vfio(enum abi_fd_kind kind)
{
	return kind >= ABI_FD_VFIO_CONTAINER && kind <= ABI_FD_VFIO_DEVICE;
}
/** pread() and pwrite() of a device's regions. False: fd is no VFIO device. Else *done is the result, with errno. */
bool abi_vfio_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done);
/** As abi_uverbs_may_map(). Linux, vfio_pci_core.c, vfio_pci_core_mmap(). */
int abi_vfio_may_map(size_t len, int flags, off64_t off);
/** mmap() of a device. False: fd is no VFIO device. Else *at is the result, with errno. */
bool abi_vfio_mmap(void *addr, size_t len, int prot, int flags, int fd, off64_t off, void **at);
/** To be called before munmap(), or before mmap() over a range. */
void abi_vfio_unmapped(uint64_t addr, uint64_t len);
/** The same as for uverbs; lock held. */
void abi_vfio_ledger(struct emu_dev *dev, struct emu_front_ledger *out);
void abi_vfio_failing(struct emu_dev *dev);
void abi_vfio_removed(struct emu_dev *dev);
void abi_vfio_exit(void);
/** Raises an interrupt. */
void abi_vfio_msix(struct emu_ctx *ctx, unsigned vector);
/** For the guard: true if the fault at addr was a store to BAR 0, which has been emulated. */
bool abi_vfio_trap(uint64_t addr, void *context);
/** At the end of the model: makes BAR 0 writable, so that later stores of the program do not fault. */
void abi_vfio_trap_end(void);
/** Stops the thread that executes commands. */
void abi_vfio_thread_stop(void);

/* ---- network interfaces of the ports (netdev.c) ---- */

/** 1 if the request was for an emulated interface (result in *ret), else 0. */
int abi_netdev_ioctl(unsigned long request, void *arg, int *ret);
/** Interface index of an emulated interface, 0 for any other name. */
unsigned abi_netdev_index(const char *name);
/** Name of an emulated interface, NULL for any other index. */
const char *abi_netdev_name(unsigned index);

/* ---- forward error correction (ethtool_fec.c); arg is the structure of the request ---- */

/** Sets the bits of a mask of link modes. */
void abi_ethtool_fec_supported(const struct emu_dev *dev, uint32_t *mask);
/** ETHTOOL_GFECPARAM, _SFECPARAM. 0 or -errno. */
int abi_ethtool_fec(const struct emu_dev *dev, void *arg);
int abi_ethtool_set_fec(struct emu_dev *dev, const void *arg);

/* ---- statistics of the interfaces (ethtool_stats.c); arg is the structure of the request ---- */

uint32_t abi_ethtool_stats_count(const struct emu_dev *dev);
/** ETHTOOL_GSSET_INFO, _GSTRINGS, _GSTATS. 0 or -errno. */
int abi_ethtool_sset_info(const struct emu_dev *dev, void *arg);
int abi_ethtool_strings(const struct emu_dev *dev, void *arg);
int abi_ethtool_stats(struct emu_dev *dev, void *arg);

/* ---- control socket of the process (ctl_server.c) ---- */

/** Listens at <dir>/ctl.PID, creates the link <dir>/ctl to it, and starts the thread. 0 or -errno. */
int abi_ctl_start(struct emu_machine *m, const char *dir);
/** Stops the thread and removes the socket; lock not held. No effect if not started. */
void abi_ctl_stop(void);
/** Whether libjansson could be loaded (lazy_jansson.c). */
bool abi_json_loaded(void);

/** Replaces the allocating functions in the imports of the program and its libraries that are loaded now. */
void abi_alloc_watch(void);

#endif /* ABI_H */
