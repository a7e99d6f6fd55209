/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The kernel's side of the emulator: what the preloaded front end's files share.
 *
 * preload_*.c replace libc functions and only decide whether a call is about the emulated
 * devices; paths.c and fds.c hold that decision; uverbs_*.c answer the RDMA ioctl; netdev.c
 * answers for the ports' network interfaces; model.c starts and stops the model behind it all.
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
/** First interface index of the emulated ports: far above what a kernel hands out. */
#define ABI_IFINDEX_BASE 100001
#define ABI_GID_TABLE_LEN 16

/* ---- the real libc (real_libc.c) ---- */

/** The next definition of name after ours; caches it in slot. Never NULL for libc's own. */
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

/** Non-zero while this thread runs model or front-end code: interposers then step aside. */
extern __thread unsigned abi_inside __attribute__((tls_model("initial-exec")));

/* ---- paths (paths.c) ---- */

#define ABI_PATH_MAX 4608
/**
 * The path that the call should really use: path itself, or one inside the run directory
 * written to buf (ABI_PATH_MAX bytes).
 */
const char *abi_path(const char *path, char *buf);
/** Turns a path inside the run directory back into what the program believes in. In place. */
void abi_path_unmap(char *path);
/* Nodes in /dev: uverbsN is N, vfio/N is ABI_NODE_GROUP + N. */
#define ABI_NODE_NONE -1
#define ABI_NODE_VFIO 0x10000
#define ABI_NODE_GROUP 0x20000
/** The node that a path inside the run directory stands for. */
int abi_path_node(const char *real_path);
/** The run directory, or NULL when the program does not run under the launcher. */
const char *abi_run_dir(void);
/** Makes a stat result look like the character device. */
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
};

/** Something behind one or more of the program's descriptors; lives while refs is not 0. */
struct abi_fdobj {
	enum abi_fd_kind kind;
	unsigned refs; /**< Descriptors plus calls under way. Under the table's lock. */
	dev_t st_dev;  /**< Identity of the open file, to notice a reused number. */
	ino_t st_ino;
	void (*release)(struct abi_fdobj *obj); /**< After the last reference, no lock held. */
};
/** Enters fd; takes a reference. 0 or -EMFILE when the number is beyond the table. */
int abi_fd_add(int fd, struct abi_fdobj *obj);
/** The object behind fd with a reference taken, or NULL when there is none of that kind. */
struct abi_fdobj *abi_fd_get(int fd, enum abi_fd_kind kind);
void abi_fd_put(struct abi_fdobj *obj);
/** Another reference, for somebody who keeps the object. */
void abi_fd_ref(struct abi_fdobj *obj);
/** Quick look without a reference. */
enum abi_fd_kind abi_fd_kind(int fd);
/** A duplicate of from came to be at to. */
void abi_fd_dup(int from, int to);
/** Forgets fd, returns its object (reference now the caller's) or NULL. */
struct abi_fdobj *abi_fd_take(int fd);
/** A descriptor for the model's own use, out of the program's way. Closes fd. */
int abi_fd_hide(int fd);
/**
 * The model's own copy of the program's eventfd.
 * @return -EBADF: no descriptor, -EINVAL: another kind of one.
 */
int abi_eventfd_take(int fd);
void abi_fd_unhide_close(int fd);
/**
 * TAP descriptors on their way from the launcher to the process that will open a device: they
 * survive programs that close everything they inherit.
 */
bool abi_fd_guarded(int fd);
void abi_fd_unguard(int fd);
/** Open descriptors of the process without the model's own. */
unsigned abi_fd_program(void);
/** Any descriptor that close() has to look at? */
bool abi_fd_any(void);
/** After fork in the child: forget everything, the model is the parent's. */
void abi_fd_reset(void);

/* ---- the model (model.c) ---- */

/** The machine, initialised at first use; NULL when the environment names none. */
struct emu_machine *abi_machine(void);
/** Starts wires and engine at the first open of a device. 0 or -errno. */
int abi_model_start(void);
/** Reads the fault rules of the environment, once for the process. 0 or -errno. */
int abi_model_faults(void);
/** Enter and leave the model: lock, and interposers stand aside. */
struct emu_machine *abi_enter(void);
void abi_leave(void);
/** Stops the model and writes the report; harmless when nothing was started. */
void abi_model_finish(void);
/** True after the model's end, and in a child of fork() whose parent owned it. */
bool abi_model_dead(void);
/** True in a vfork() child: the memory is the parent's, the descriptors are not. */
bool abi_model_foreign(void);

/* ---- configuration space of the ports' PCI functions (pci_config.c) ---- */

/** A file of the fake tree was opened: gives fd, tracked when it is a config file; or -1 and errno. */
int abi_pciconf_opened(int fd, const char *real_path);
/**
 * Reads or writes a config file; off below 0 means its own offset.
 * @return False: the descriptor is none. Else *done is what the call returns, with errno.
 */
bool abi_pciconf_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done);

/* ---- one driver at a time (driver_lock.c) ---- */

/** IOMMU group of port 0; port i has the i-th after it. */
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
 * read() on a channel whose records do not lie in the descriptor itself: true when it is one, with
 * what to return, bytes or -errno, in *ret.
 */
bool abi_channel_read(int fd, void *buf, size_t len, long *ret);
/** Ends the thread that hands out answers later. */
void abi_async_stop(void);
unsigned abi_uverbs_index(const struct abi_fdobj *obj);
/** The program mapped a part of a device's file; lock held. */
void abi_uverbs_mapped(struct abi_fdobj *obj, void *at, size_t len, int prot, off64_t offset);
/** Some device is gone. */
extern bool abi_removed_any;
/** The device is gone: what its open files notice of it. */
void abi_uverbs_removed(struct emu_dev *dev);
/** What programs hold at this device beside objects; lock held. */
void abi_uverbs_ledger(struct emu_dev *dev, struct emu_front_ledger *out);
/** Closes every open device, as the end of the process does; lock held. */
void abi_uverbs_exit(void);

/* ---- VFIO (vfio*.c) ---- */

/** Opens ABI_NODE_VFIO or a group. fd or -errno. */
int abi_vfio_open(int node, int flags);
/** A call on a container, group or device: what it returns, or -errno. */
int abi_vfio_ioctl(int fd, enum abi_fd_kind kind, unsigned long request, void *arg);
static inline bool
abi_fd_is_vfio(enum abi_fd_kind kind)
{
	return kind >= ABI_FD_VFIO_CONTAINER && kind <= ABI_FD_VFIO_DEVICE;
}
/** pread() and pwrite() of a device's regions. False: not of a device. Else *done and errno. */
bool abi_vfio_access(int fd, bool write, void *buf, size_t len, off64_t off, ssize_t *done);
/** mmap() of a device. False: not of a device. Else *at is what it returns, with errno. */
bool abi_vfio_mmap(void *addr, size_t len, int prot, int flags, int fd, off64_t off, void **at);
/** The program unmapped a range, or mapped something else over it. */
void abi_vfio_unmapped(uint64_t addr, uint64_t len);
/** As with uverbs: what is held, the end of a device, the end of the process; lock held. */
void abi_vfio_ledger(struct emu_dev *dev, struct emu_front_ledger *out);
void abi_vfio_removed(struct emu_dev *dev);
void abi_vfio_exit(void);
/** An interrupt. */
void abi_vfio_msix(struct emu_ctx *ctx, unsigned vector);
/** For the guard: a fault at addr was a store into BAR 0, and has been done. */
bool abi_vfio_trap(uint64_t addr, void *context);
/** The model's end: stores into BAR 0 of threads that still run are nobody's, and no faults any more. */
void abi_vfio_trap_end(void);
/** Ends the thread that executes commands. */
void abi_vfio_thread_stop(void);

/* ---- network interfaces of the ports (netdev.c) ---- */

/** 1 when the request was about an emulated interface (result in *ret), 0 when it was not. */
int abi_netdev_ioctl(unsigned long request, void *arg, int *ret);
/** Interface index of an emulated name, 0 when the name is not ours. */
unsigned abi_netdev_index(const char *name);
/** Name of an emulated interface, NULL when the index is not ours. */
const char *abi_netdev_name(unsigned index);

/* ---- statistics of the interfaces (ethtool_stats.c); arg is the request's own structure ---- */

uint32_t abi_ethtool_stats_count(void);
/** ETHTOOL_GSSET_INFO, _GSTRINGS, _GSTATS. 0 or -errno. */
int abi_ethtool_sset_info(void *arg);
int abi_ethtool_strings(void *arg);
int abi_ethtool_stats(const struct emu_dev *dev, void *arg);

#endif /* ABI_H */
