/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The gateway in configuration space: finding it, its lock, its spaces, reading through it. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "mdv_fwdump_int.h"
#include "mdv_vsc.h"

/* Configuration space, PCI Local Bus 3.0: 6.1, 6.7, appendix H. */
#define PCI_VENDOR 0x00u
#define PCI_STATUS_CAP_LIST 0x10u
#define PCI_CAP_POINTER 0x34u
#define PCI_CAP_VENDOR_SPECIFIC 0x09u
#define PCI_CAPS_MAX 48
/* The capability's registers and fields: facts of FreeBSD's mlx5_vsc.c and Linux's pci_vsc.c. */
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
/* Between two tries for the semaphore: as Linux, 1 to 2 ms. */
#define LOCK_PAUSE_US 1000
#define FLAG_PAUSE_EVERY 16
/* Another process of ours that dumps is waited for so long. */
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

/* A file of sysfs gives what it has in one read; less is the end of configuration space. */
static int
config_read(const struct mdv_vsc *vsc, uint32_t off, uint32_t *val)
{
	uint32_t le;
	ssize_t n = pread(vsc->fd, &le, sizeof(le), off);

	*val = 0;
	if (n != (ssize_t)sizeof(le))
		return n < 0 ? -errno : -EACCES; /* the unprivileged see the first 64 bytes */
	*val = rte_le_to_cpu_32(le);
	return 0;
}

/* Of a card that fell off the bus all reads give ones; whether it is that tells what is never so. */
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

/* ------------------------------------------------------------------ finding it */

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

/* Processes of ours stand in line here; the card's lock is for all the others. */
static int
line_up(const struct mdv_vsc *vsc)
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

/* held: it is known to be ours. */
static void
lock_give_back(struct mdv_vsc *vsc, bool held)
{
	uint32_t holder = 0;
	int ret = vsc_get(vsc, VSC_SEMAPHORE, &holder);

	/* Somebody may have taken us for dead; who cannot look gives back what was his, as the kernels do. */
	if ((ret == 0 && holder == vsc->ticket) || (ret != 0 && ret != -ENODEV && held))
		ret = vsc_set(vsc, VSC_SEMAPHORE, 0);
	else if (ret == 0)
		FWDUMP_LOG(WARNING, &vsc->pci, "the lock of the register gateway was taken from us: ticket 0x%x is now 0x%x",
			   vsc->ticket, holder);
	/* With a device that is gone the lock is gone as well. */
	if (ret != 0 && ret != -ENODEV)
		FWDUMP_LOG(WARNING, &vsc->pci, "the lock of the register gateway cannot be given back: %s",
			   rte_strerror(-ret));
	vsc->ticket = 0;
}

/* One try: 0 taken, 1 somebody has it (*holder, or 0 when he was quicker), -errno. */
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
	/* Taken perhaps, but not seen: it must not be left there. */
	if (ret != 0)
		lock_give_back(vsc, false);
	vsc->ticket = 0;
	return ret != 0 ? ret : 1;
}

/** Whoever holds the lock, looked at from outside. */
struct watch {
	uint32_t ticket, address;
	unsigned int moves;	/**< Something changed between two looks. */
};

/* Who lives gives the ticket back, or moves the address: each access goes through that register. */
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

/* All tries found one ticket, whose holder did nothing: it is cleared, as the vendor's tools do. */
static int
lock_take_over(struct mdv_vsc *vsc, uint32_t dead)
{
	uint32_t holder = 0;
	int ret = vsc_get(vsc, VSC_SEMAPHORE, &holder);

	/* Only that ticket, and not one that came a moment ago. */
	if (ret == 0 && holder == dead)
		ret = vsc_set(vsc, VSC_SEMAPHORE, 0);
	if (ret == 0)
		ret = lock_try(vsc, &holder);
	if (ret == 0)
		FWDUMP_LOG(WARNING, &vsc->pci,
			   "the lock of the register gateway was left behind: ticket 0x%x stood there for %u tries and its holder did nothing; cleared, and taken with ticket 0x%x",
			   dead, MDV_VSC_TRIES, vsc->ticket);
	else if (ret > 0)
		FWDUMP_LOG(ERR, &vsc->pci,
			   "the lock of the register gateway cannot be cleared: ticket 0x%x stood there for %u tries, and 0x%x is there now",
			   dead, MDV_VSC_TRIES, holder);
	return ret > 0 ? -EBUSY : ret;
}

int
mdv_vsc_lock(struct mdv_vsc *vsc)
{
	struct watch w = { 0 };
	uint32_t holder;
	int ret = line_up(vsc);

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
	if (ret != 0)
		flock(vsc->fd, LOCK_UN);
	return ret;
}

void
mdv_vsc_unlock(struct mdv_vsc *vsc)
{
	if (vsc->ticket == 0)
		return;
	lock_give_back(vsc, true);
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

int
mdv_vsc_read(struct mdv_vsc *vsc, uint32_t addr, uint32_t *val, uint32_t *next)
{
	uint32_t now = 0;
	int ret = stopped(vsc) ? -ECANCELED : vsc_set(vsc, VSC_ADDRESS, VSC_ADDR(addr));

	for (unsigned int i = 0; ret == 0 && i < MDV_VSC_TRIES; i++) {
		ret = vsc_get(vsc, VSC_ADDRESS, &now);
		if (ret != 0 || (now & VSC_FLAG) != 0)
			break;
		if (i % FLAG_PAUSE_EVERY == FLAG_PAUSE_EVERY - 1)
			pause_us(LOCK_PAUSE_US);
	}
	if (ret == 0 && (now & VSC_FLAG) == 0)
		ret = -ETIMEDOUT;
	if (ret == 0)
		ret = vsc_get(vsc, VSC_DATA, val);
	if (ret != 0)
		return ret;
	if (next != NULL)
		*next = VSC_ADDR(now);
	return (now & VSC_SYNDROME) != 0 ? -EFAULT : 0;
}
