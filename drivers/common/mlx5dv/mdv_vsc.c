/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The register gateway of a card: the vendor-specific capability in PCI configuration space, and register
 * dumps through it.
 *
 * Its lock is a semaphore in the card with tickets. The card does not know processes, so a process that
 * is killed leaves it taken. Processes of this driver also lock the config file (flock(2)), which
 * the kernel releases when a process ends.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "mdv_fwdump_int.h"

/* Configuration space, PCI Local Bus 3.0: 6.1, 6.7, appendix H. */
#define PCI_VENDOR 0x00u
#define PCI_STATUS_CAP_LIST 0x10u
#define PCI_CAP_POINTER 0x34u
#define PCI_CAP_VENDOR_SPECIFIC 0x09u
#define PCI_CAPS_MAX 48
/* Registers and fields of the capability, as in FreeBSD's mlx5_vsc.c and Linux's lib/pci_vsc.c. */
#define VSC_CONTROL 0x04u
#define VSC_COUNTER 0x08u
#define VSC_SEMAPHORE 0x0cu
#define VSC_ADDRESS 0x10u
#define VSC_DATA 0x14u
#define VSC_SPACE_MASK 0xffffu
#define VSC_SIZE_VALID (1u << 28)
#define VSC_STATUS(control) ((control) >> 29)
#define VSC_ADDR(address) ((address) & 0x3fffffffu)
#define VSC_SYNDROME (1u << 30)
#define VSC_FLAG (1u << 31)
/* Pause between two attempts at the semaphore: 1 to 2 ms, as in Linux. */
#define LOCK_PAUSE_US 1000
#define FLAG_PAUSE_EVERY 16
/*
 * Registers that are read before the lock is released. The kernel gives up after 2048 attempts, 1 to 2 ms apart
 * (mlx5_vsc_gw_lock()), and needs the gateway when the card has failed.
 */
#define BATCH 512
/* Longest wait for another process of this driver: 30 s, assumed. */
#define FLOCK_TRIES 3000
#define FLOCK_PAUSE_US 10000

static void
pause_us(long us)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
}

static bool
stopped(const struct mdv_vsc *vsc)
{
	return vsc->stop != NULL && mdv_fwdump_stopped(vsc->stop);
}

/* A short read is the end of configuration space, or of the 64 bytes that unprivileged users see. */
static int
config_read(const struct mdv_vsc *vsc, uint32_t off, uint32_t *val)
{
	uint32_t le;
	ssize_t n = pread(vsc->fd, &le, sizeof(le), off);

	*val = 0;
	if (n != (ssize_t)sizeof(le))
		return n < 0 ? -errno : -EACCES;
	*val = rte_le_to_cpu_32(le);
	return 0;
}

/*
 * Reads of a card that is off the bus return all ones. A register may contain that value as well, so
 * check the vendor id, which never does.
 */
static int
config_get(const struct mdv_vsc *vsc, uint32_t off, uint32_t *val)
{
	int ret = config_read(vsc, off, val);
	uint32_t ids;

	if (ret != 0 || *val != UINT32_MAX)
		return ret;
	ret = config_read(vsc, PCI_VENDOR, &ids);
	return ret == 0 && ids == UINT32_MAX ? -ENODEV : ret;
}

static int
config_write(const struct mdv_vsc *vsc, uint32_t off, uint32_t val)
{
	uint32_t le = rte_cpu_to_le_32(val);
	ssize_t n = pwrite(vsc->fd, &le, sizeof(le), off);

	if (n != (ssize_t)sizeof(le))
		return n < 0 ? -errno : -EACCES;
	return 0;
}

static int
vsc_get(const struct mdv_vsc *vsc, uint32_t reg, uint32_t *val)
{
	return config_get(vsc, vsc->cap + reg, val);
}

static int
vsc_set(const struct mdv_vsc *vsc, uint32_t reg, uint32_t val)
{
	return config_write(vsc, vsc->cap + reg, val);
}

/* ------------------------------------------------------------------ capability */

static int
cap_find(struct mdv_vsc *vsc)
{
	uint32_t word, at;
	int ret = config_get(vsc, PCI_VENDOR + 4, &word);

	if (ret == 0 && (word >> 16 & PCI_STATUS_CAP_LIST) == 0)
		return -ENOENT;
	if (ret == 0)
		ret = config_get(vsc, PCI_CAP_POINTER, &word);
	at = word & 0xfc;
	for (int i = 0; ret == 0 && at >= 0x40 && i < PCI_CAPS_MAX; i++) {
		ret = config_get(vsc, at, &word);
		if (ret == 0 && (word & 0xff) == PCI_CAP_VENDOR_SPECIFIC) {
			vsc->cap = at;
			return 0;
		}
		at = word >> 8 & 0xfc;
	}
	return ret != 0 ? ret : -ENOENT;
}

int
mdv_vsc_open(const struct rte_pci_addr *pci, struct mdv_vsc *vsc, bool *has_config)
{
	char path[64];
	int ret;

	*vsc = (struct mdv_vsc){ .pci = *pci };
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/config", pci->domain,
		 pci->bus, pci->devid, pci->function);
	vsc->fd = open(path, O_RDWR | O_CLOEXEC);
	*has_config = vsc->fd >= 0;
	if (vsc->fd < 0)
		return -errno;
	ret = cap_find(vsc);
	if (ret != 0)
		mdv_vsc_close(vsc);
	return ret;
}

void
mdv_vsc_close(struct mdv_vsc *vsc)
{
	mdv_vsc_unlock(vsc);
	if (vsc->fd >= 0)
		close(vsc->fd);
	vsc->fd = -1;
}

/* ------------------------------------------------------------------ the lock */

/* Serialise the processes of this driver by a file lock before they compete for the card's lock. */
static int
file_lock(const struct mdv_vsc *vsc)
{
	for (int i = 0; i < FLOCK_TRIES; i++) {
		if (flock(vsc->fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (stopped(vsc))
			return -ECANCELED;
		pause_us(FLOCK_PAUSE_US);
	}
	return -EBUSY;
}

/* held: the semaphore was seen with this ticket. */
static void
semaphore_release(struct mdv_vsc *vsc, bool held)
{
	uint32_t holder = 0;
	int ret = vsc_get(vsc, VSC_SEMAPHORE, &holder);

	/*
	 * Another process may have cleared the semaphore as stale and taken it: release it only if it
	 * still has this ticket. If it cannot be read, release it, as the kernels do without reading.
	 */
	if ((ret == 0 && holder == vsc->ticket) || (ret != 0 && ret != -ENODEV && held))
		ret = vsc_set(vsc, VSC_SEMAPHORE, 0);
	else if (ret == 0)
		MDV_LOG_PCI(WARNING, &vsc->pci, "the lock of the register gateway was taken by another process: ticket 0x%x is now 0x%x",
			vsc->ticket, holder);
	/* A removed device has no lock. */
	if (ret != 0 && ret != -ENODEV)
		MDV_LOG_PCI(WARNING, &vsc->pci, "cannot release the lock of the register gateway: %s",
			rte_strerror(-ret));
	vsc->ticket = 0;
}

/* One attempt. 0: taken; 1: held by another, *holder its ticket or 0 if it is unknown; -errno. */
static int
lock_try(struct mdv_vsc *vsc, uint32_t *holder)
{
	uint32_t ticket, now;
	int ret = vsc_get(vsc, VSC_SEMAPHORE, holder);

	if (ret != 0 || *holder != 0)
		return ret != 0 ? ret : 1;
	ret = vsc_get(vsc, VSC_COUNTER, &ticket);
	if (ret == 0)
		ret = vsc_set(vsc, VSC_SEMAPHORE, ticket);
	if (ret != 0)
		return ret;
	vsc->ticket = ticket;
	ret = vsc_get(vsc, VSC_SEMAPHORE, &now);
	if (ret == 0 && ticket != 0 && now == ticket)
		return 0;
	/* The semaphore may have been taken although reading it back failed. */
	if (ret != 0)
		semaphore_release(vsc, false);
	vsc->ticket = 0;
	return ret != 0 ? ret : 1;
}

/** Observation of the holder of the lock. */
struct watch {
	uint32_t ticket, address;
	unsigned int moves;	/**< Changes between two observations. */
};

/* A live holder releases the ticket or changes the address register, which every access uses. */
static int
watch_look(struct mdv_vsc *vsc, struct watch *w, uint32_t holder, unsigned int nth)
{
	uint32_t address;
	int ret = vsc_get(vsc, VSC_ADDRESS, &address);

	if (ret != 0)
		return ret;
	w->moves += nth > 0 && (holder != w->ticket || address != w->address);
	w->ticket = holder;
	w->address = address;
	return 0;
}

/*
 * All attempts saw the same ticket and no access. The holder may be dead, or only suspended, so clear it only on
 * request, as mstflint.
 */
static int
lock_take_over(struct mdv_vsc *vsc, uint32_t dead)
{
	uint32_t holder = 0;
	int ret = vsc->force ? vsc_get(vsc, VSC_SEMAPHORE, &holder) : -ESTALE;

	/* Clear only the stale ticket, not a new one. */
	if (ret == 0 && holder == dead)
		ret = vsc_set(vsc, VSC_SEMAPHORE, 0);
	if (ret == 0)
		ret = lock_try(vsc, &holder);
	if (ret == 0)
		MDV_LOG_PCI(WARNING, &vsc->pci,
			"the lock of the register gateway was stale: ticket 0x%x did not change in %u tries and its holder did nothing; cleared as requested, and taken with ticket 0x%x",
			dead, MDV_VSC_TRIES, vsc->ticket);
	else if (ret > 0)
		MDV_LOG_PCI(ERR, &vsc->pci,
			"cannot clear the stale lock of the register gateway: ticket 0x%x did not change in %u tries, and is 0x%x now",
			dead, MDV_VSC_TRIES, holder);
	return ret > 0 ? -EBUSY : ret;
}

int
mdv_vsc_lock(struct mdv_vsc *vsc)
{
	struct watch w = { 0 };
	uint32_t holder;
	int ret = file_lock(vsc);

	for (unsigned int i = 0; ret == 0 && i < MDV_VSC_TRIES; i++) {
		ret = lock_try(vsc, &holder);
		if (ret <= 0)
			break;
		ret = stopped(vsc) ? -ECANCELED : watch_look(vsc, &w, holder, i);
		if (ret == 0)
			pause_us(LOCK_PAUSE_US + rand() % LOCK_PAUSE_US);
	}
	if (vsc->ticket == 0 && ret == 0) {
		if (w.moves == 0)
			ret = lock_take_over(vsc, w.ticket);
		else
			ret = -EBUSY;
	}
	return ret;
}

void
mdv_vsc_unlock(struct mdv_vsc *vsc)
{
	if (vsc->ticket == 0)
		return;
	semaphore_release(vsc, true);
	flock(vsc->fd, LOCK_UN);
}

/* ------------------------------------------------------------------ spaces and registers */

int
mdv_vsc_space(struct mdv_vsc *vsc, uint32_t space, uint32_t *size)
{
	uint32_t control;
	int ret = vsc_get(vsc, VSC_CONTROL, &control);

	*size = 0;
	if (ret == 0)
		ret = vsc_set(vsc, VSC_CONTROL, (control & ~VSC_SPACE_MASK) | space);
	if (ret == 0)
		ret = vsc_get(vsc, VSC_CONTROL, &control);
	if (ret != 0)
		return ret;
	if (VSC_STATUS(control) == 0)
		return -ENOTSUP;
	if ((control & VSC_SIZE_VALID) == 0)
		return 0;
	ret = vsc_get(vsc, VSC_ADDRESS, size);
	*size = VSC_ADDR(*size);
	return ret;
}

/* The flag is set by the end of a read and cleared by the end of a write; *address is what the register has then. */
static int
flag_wait(const struct mdv_vsc *vsc, uint32_t flag, uint32_t *address)
{
	int ret;

	for (unsigned int i = 0; i < MDV_VSC_TRIES; i++) {
		ret = vsc_get(vsc, VSC_ADDRESS, address);
		if (ret != 0 || (*address & VSC_FLAG) == flag)
			return ret;
		if (i % FLAG_PAUSE_EVERY == FLAG_PAUSE_EVERY - 1)
			pause_us(LOCK_PAUSE_US);
	}
	return -ETIMEDOUT;
}

int
mdv_vsc_read(struct mdv_vsc *vsc, uint32_t addr, uint32_t *val, uint32_t *next)
{
	uint32_t now = 0;
	int ret = vsc_set(vsc, VSC_ADDRESS, VSC_ADDR(addr));

	if (ret == 0)
		ret = flag_wait(vsc, VSC_FLAG, &now);
	if (ret == 0)
		ret = vsc_get(vsc, VSC_DATA, val);
	if (ret != 0)
		return ret;
	if (next != NULL)
		*next = VSC_ADDR(now);
	return (now & VSC_SYNDROME) != 0 ? -EFAULT : 0;
}

static int
register_write(struct mdv_vsc *vsc, uint32_t addr, uint32_t val)
{
	uint32_t now;
	int ret = vsc_set(vsc, VSC_DATA, val);

	if (ret == 0)
		ret = vsc_set(vsc, VSC_ADDRESS, addr | VSC_FLAG);
	return ret == 0 ? flag_wait(vsc, 0, &now) : ret;
}

/* ------------------------------------------------------------------ the semaphore of firmware resets */

static int
sw_reset_try(struct mdv_vsc *vsc, uint32_t id)
{
	uint32_t holder = 0;
	int ret = register_write(vsc, MDV_VSC_SW_RESET, id), err;

	if (ret == 0)
		ret = mdv_vsc_read(vsc, MDV_VSC_SW_RESET, &holder, NULL);
	/* It may be held although an access failed. */
	err = ret != 0 ? mdv_vsc_read(vsc, MDV_VSC_SW_RESET, &holder, NULL) : 0;
	vsc->sw_reset = err == 0 && holder == id;
	return ret == 0 && holder != id ? -EALREADY : ret;
}

/* Linux, crdump.c: held during a dump, so that no function resets the firmware. 0; -EALREADY; -errno. */
static int
sw_reset_lock(struct mdv_vsc *vsc)
{
	uint32_t size, id = 0;
	int ret = mdv_vsc_space(vsc, MDV_VSC_SPACE_SEMAPHORES, &size);

	if (ret == 0)
		ret = vsc_get(vsc, VSC_COUNTER, &id);
	if (ret == 0)
		ret = sw_reset_try(vsc, id);
	if (ret != -EALREADY || !vsc->force)
		return ret;
	MDV_LOG_PCI(WARNING, &vsc->pci, "the semaphore of firmware resets was taken: cleared as requested");
	ret = register_write(vsc, MDV_VSC_SW_RESET, 0);
	return ret == 0 ? sw_reset_try(vsc, id) : ret;
}

static void
sw_reset_unlock(struct mdv_vsc *vsc)
{
	uint32_t size;
	int ret;

	if (!vsc->sw_reset)
		return;
	vsc->sw_reset = false;
	ret = mdv_vsc_space(vsc, MDV_VSC_SPACE_SEMAPHORES, &size);
	if (ret == 0)
		ret = register_write(vsc, MDV_VSC_SW_RESET, 0);
	if (ret != 0 && ret != -ENODEV)
		MDV_LOG_PCI(WARNING, &vsc->pci, "cannot release the semaphore of firmware resets: %s", rte_strerror(-ret));
}

/* ------------------------------------------------------------------ register dumps */

/*
 * Adds up to BATCH registers of the scan space, *addr is the next one. The end of the walk is not documented:
 * FreeBSD stops if the next address is 0 or the same, Linux at the size of the space. Stop at either,
 * and at any address that does not increase. 0: not at the end; 1: at the end; -errno.
 */
static int
walk(struct mdv_vsc *vsc, uint32_t *addr, struct mdv_fwdump_set *set)
{
	uint32_t next = 0, size, val;
	int ret = mdv_vsc_space(vsc, MDV_VSC_SPACE_SCAN, &size);

	for (int i = 0; ret == 0 && i < BATCH; i++) {
		ret = stopped(vsc) ? -ECANCELED : mdv_vsc_read(vsc, *addr, &val, &next);
		if (ret == -EFAULT) {
			val = MDV_FWDUMP_UNREADABLE;
			set->unreadable++;
			ret = 0;
		}
		if (ret == 0)
			ret = mdv_fwdump_add(set, *addr, val);
		if (ret == 0 && (next <= *addr || (size != 0 && next >= size)))
			return 1;
		*addr = next;
	}
	return ret;
}

/* As walk(), with the locks, which others get between two calls. */
static int
batch(struct mdv_vsc *vsc, uint32_t *addr, struct mdv_fwdump_set *set)
{
	int ret = mdv_vsc_lock(vsc);

	if (ret == 0)
		ret = sw_reset_lock(vsc);
	if (ret == 0)
		ret = walk(vsc, addr, set);
	sw_reset_unlock(vsc);
	mdv_vsc_unlock(vsc);
	if (ret == 0)
		pause_us(2 * LOCK_PAUSE_US);
	return ret;
}

/* Describes an error and maps it to the errno of mdv_fwdump_take(). */
static int
explain(int ret, bool has_config, char *why)
{
	static const struct {
		int err, taken; /* errno of the gateway; of mdv_fwdump_take() */
		const char *what;
	} rows[] = {
		{ ENOENT, EIO, "the function has no register gateway (a virtual function?)" },
		{ EPERM, EIO, "writing to configuration space is not permitted (kernel lockdown?)" },
		{ EROFS, EIO, "configuration space cannot be opened for writing (read-only /sys, as in containers?)" },
		{ EMFILE, EIO, "the process has no file descriptor left (EMFILE)" },
		{ ENFILE, EIO, "the system has no file descriptor left (ENFILE)" },
		{ EACCES, EIO, "configuration space needs root" },
		{ ENOTSUP, EIO, "the gateway has no scan space, or no semaphores" },
		{ ENODATA, EIO, "the gateway shows none of the registers" },
		{ ENODEV, EIO, "the device does not answer" },
		{ EBUSY, EBUSY, "the gateway's lock is held by another process" },
		{ ESTALE, EBUSY, "the gateway's lock is held, but its holder does nothing: if no program uses the gateway, clear the lock by `dpdk-test-mlx fwdump take --force`" },
		{ EALREADY, EBUSY, "another function of the card takes a dump or resets the firmware" },
		{ ECANCELED, ECANCELED, "the wait was canceled" },
		{ ETIMEDOUT, ETIMEDOUT, "the gateway does not answer: its flag never changes" },
	};
	const char *what = rte_strerror(-ret);
	int err = -ret;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].err == -ret) {
			what = rows[i].what;
			err = rows[i].taken;
		}
	}
	if (ret == -ENOENT && !has_config)
		what = "no configuration space";
	snprintf(why, MDV_FWDUMP_WHY, "%s", what);
	return -err;
}

int
mdv_fwdump_by_vsc(const struct mdv_fwdump *h, struct mdv_fwdump_set *set, char why[MDV_FWDUMP_WHY])
{
	struct mdv_vsc vsc;
	uint32_t addr = 0;
	bool has_config;
	int ret = mdv_vsc_open(&h->pci, &vsc, &has_config);

	if (ret != 0)
		return explain(ret, has_config, why);
	vsc.stop = &h->stop;
	vsc.force = (h->access & MDV_FWDUMP_FORCE) != 0;
	do
		ret = batch(&vsc, &addr, set);
	while (ret == 0);
	if (ret > 0)
		ret = set->unreadable == set->count ? -ENODATA : 0;
	mdv_vsc_close(&vsc);
	set->route = MDV_FWDUMP_VSC;
	return ret == 0 ? 0 : explain(ret, true, why);
}
