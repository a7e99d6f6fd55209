/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * VFIO backend: libmlx5 takes the place of the kernel driver (mlx5dv_get_vfio_device_list(3)). Its
 * context has no port queries, no clock and only non-cached UARs, but commands have the same rights
 * as those of the kernel driver.
 */

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mdv_compat.h"
#include "mdv_vfio.h"

#define MDV_PATH_BYTES 128
/* Closing a working device takes tens of ms, at most 3 s (measured on the emulator under load). */
#define MDV_CLOSE_MS 4000
/** Revision of the command interface of ConnectX-4 and later (PRM, cmd_interface_rev). */
#define MDV_CMD_INTERFACE_REV 5
/** Part of the initialization segment that is used: up to real_time. */
#define MDV_SEGMENT_BYTES ((PRM_INITIAL_SEG_REAL_TIME_DW + 2) * 4)

/* ------------------------------------------------------------------ finding and opening */

/** Logs the probable cause of a failed open, of which libmlx5 reports only an errno. */
static int
explain(const struct mdv_dev *dev, const char *what, int err)
{
	char driver[64], group[32];

	mdv_pci_link(&dev->pci, "driver", driver, sizeof(driver));
	mdv_pci_link(&dev->pci, "iommu_group", group, sizeof(group));
	/* A VFIO group can be opened only once, for all of its functions. */
	if (err == EBUSY)
		MDV_LOG(ERR, dev->name, "%s: the function is in use, by another program or by EAL "
			"(/dev/vfio/%s)", what, group);
	else if (driver[0] != '\0' && strcmp(driver, "vfio-pci") != 0)
		MDV_LOG(ERR, dev->name, "%s: the function is bound to %s, not to vfio-pci", what,
			driver);
	else if (driver[0] == '\0' && group[0] == '\0')
		MDV_LOG(ERR, dev->name, "%s: no such function, or no driver and no IOMMU", what);
	else if (group[0] == '\0')
		MDV_LOG(ERR, dev->name, "%s: the function has no IOMMU group (is an IOMMU on?)",
			what);
	else
		MDV_LOG(ERR, dev->name, "%s: %s (may this process open /dev/vfio/vfio and "
			"/dev/vfio/%s? are all functions of the group bound to vfio-pci? "
			"locked memory limit?)", what, mdv_errno_name(err), group);
	return mdv_fail(err);
}

/** Descriptors of VFIO devices of a process. */
struct device_fds {
	int fd[64];
	unsigned int n;
};

/* Linux, vfio_device_open_file(): anon_inode_getfile("[vfio-device]"). */
static void
device_fds_get(struct device_fds *fds)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[32], target[64], *end;
	struct dirent *entry;
	unsigned long fd;
	ssize_t len;

	fds->n = 0;
	while (dir != NULL && fds->n < RTE_DIM(fds->fd) && (entry = readdir(dir)) != NULL) {
		fd = strtoul(entry->d_name, &end, 10);
		if (*end != '\0')
			continue; /* "." and "..". */
		snprintf(path, sizeof(path), "/proc/self/fd/%lu", fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		if (strcmp(target, "anon_inode:[vfio-device]") == 0)
			fds->fd[fds->n++] = fd;
	}
	if (dir != NULL)
		closedir(dir);
}

/*
 * The descriptor that libmlx5 has for the device, and does not return: the only one that is there since `before`. -1:
 * another thread has opened a device meanwhile, or there are more than the list has room for.
 */
static int
device_fd_since(const struct device_fds *before)
{
	struct device_fds now;
	unsigned int i, k;
	int found = -1;

	device_fds_get(&now);
	/* The list may be cut. */
	if (now.n == RTE_DIM(now.fd))
		return -1;
	for (i = 0; i < now.n; i++) {
		for (k = 0; k < before->n && before->fd[k] != now.fd[i]; k++)
			;
		if (k < before->n)
			continue;
		if (found >= 0)
			return -1;
		found = now.fd[i];
	}
	return found;
}

static int
context_open(struct mdv_dev *dev)
{
	char name[PCI_PRI_STR_SIZE + 1];
	struct mlx5dv_vfio_context_attr attr = { .pci_name = name };
	struct ibv_device **list;
	struct device_fds before;
	int err;

	rte_pci_device_name(&dev->pci, name, sizeof(name));
	snprintf(dev->ibdev_name, sizeof(dev->ibdev_name), "mlx5_vfio");
	errno = 0;
	list = mlx5dv_get_vfio_device_list(&attr);
	if (list == NULL) {
		/* libmlx5 sets no errno if it does not find the function. */
		err = errno == ENOMEM ? ENOMEM : ENODEV;
		return explain(dev, "no mlx5 device through VFIO", err);
	}
	device_fds_get(&before);
	errno = 0;
	dev->ibv = MDV_RUN(dev, ibv_open_device(list[0]));
	err = errno != 0 ? errno : EIO;
	ibv_free_device_list(list);
	if (dev->ibv != NULL)
		dev->vfio->device_fd = device_fd_since(&before);
	return dev->ibv != NULL ? 0 : explain(dev, "cannot open the device through VFIO", err);
}

/* ------------------------------------------------------------------ closing */

static mdv_thread_ret
closer(void *ibv)
{
	(void)ibv_close_device(ibv);
	return 0;
}

static int
closer_start(struct mdv_dev *dev, pthread_t *thread)
{
	sigset_t was;
	int ret;

	mdv_signals_block(dev, &was);
	ret = mdv_thread_create(thread, "mdv-close", closer, dev->ibv);
	mdv_signals_restore(dev, &was);
	return ret;
}

/* Waits for MDV_CLOSE_MS, also if the time of day is set meanwhile. Returns whether the context is closed. */
static bool
closer_join(pthread_t thread)
{
	uint64_t until = rte_rdtsc() + rte_get_tsc_hz() / 1000 * MDV_CLOSE_MS;

	while (pthread_tryjoin_np(thread, NULL) != 0) {
		if (rte_rdtsc() >= until)
			return false;
		rte_delay_us_sleep(1000);
	}
	return true;
}

/*
 * Closing runs four commands, for each of which libmlx5 polls up to a minute in a busy loop. The
 * context of an unresponsive device must be closed as well, because until then the kernel does not
 * release the function. A detached thread of scheduling class SCHED_IDLE does that.
 */
static void
close_context(struct mdv_dev *dev)
{
	const struct sched_param none = { 0 };
	bool unresponsive = mdv_unresponsive(dev);
	pthread_t thread;

	/* A thread that is still inside libmlx5 uses the context. */
	if (__atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE) !=
	    __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE)) {
		MDV_LOG(ERR, dev->name, "a command is still running: the context stays open until "
			"the process ends");
		MDV_LEFT(dev->ibv);
		return;
	}
	if (closer_start(dev, &thread) != 0) {
		MDV_LOG(WARNING, dev->name, "no thread to close the context%s",
			unresponsive ? ": it stays open until the process ends" : "");
		if (!unresponsive)
			(void)MDV_RUN(dev, ibv_close_device(dev->ibv));
		return;
	}
	if (unresponsive || !closer_join(thread)) {
		MDV_LOG(NOTICE, dev->name, "device unresponsive: its context is closed in the "
			"background, which takes up to four minutes");
		(void)pthread_setschedparam(thread, SCHED_IDLE, &none);
		pthread_detach(thread);
	}
}

/* ------------------------------------------------------------------ opening */

static void
vfio_free(struct mdv_dev *dev)
{
	mdv_vfio_waits_down(dev);
	pthread_mutex_destroy(&dev->vfio->eq_lock);
	free(dev->vfio);
	dev->vfio = NULL;
}

/* After the last command: without the event thread a command may wait forever. */
static void
vfio_close(struct mdv_dev *dev)
{
	mdv_vfio_thread_stop(dev);
	close_context(dev);
	vfio_free(dev);
}

static int
vfio_open(struct mdv_dev *dev)
{
	int ret;

	dev->vfio = mdv_zalloc(dev->name, sizeof(*dev->vfio), "a VFIO context");
	if (dev->vfio == NULL)
		return -ENOMEM;
	dev->vfio->stop_fd = dev->vfio->library_event_fd = dev->vfio->closed_fd = dev->vfio->device_fd = -1;
	dev->vfio->l2_index = MDV_L2_NONE;
	pthread_mutex_init(&dev->vfio->eq_lock, NULL);
	ret = context_open(dev);
	if (ret != 0) {
		vfio_free(dev);
		return mdv_fail(-ret);
	}
	ret = mdv_vfio_waits_up(dev);
	if (ret == 0)
		ret = mdv_vfio_thread_start(dev);
	if (ret == 0)
		return 0;
	vfio_close(dev);
	return mdv_fail(-ret);
}

/* ------------------------------------------------------------------ identification */

/** A line of /proc/self/maps, proc(5). */
struct mapping {
	unsigned long end, offset, inode;
	char perms[8], dev[16];
};

/* The rest of an overlong line does not match the format and is skipped. */
static bool
next_mapping(FILE *maps, unsigned long *start, struct mapping *m)
{
	char line[512];

	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx %7s %lx %15s %lu", start, &m->end, m->perms, &m->offset,
			   m->dev, &m->inode) == 6)
			return true;
	return false;
}

/* Joins adjacent parts of one mapping that differ in their permissions. */
static bool
mapping_of(uintptr_t addr, struct mapping *m)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct mapping next;
	unsigned long start;
	bool found = false;

	while (maps != NULL && !found && next_mapping(maps, &start, m))
		found = addr >= start && addr < m->end;
	if (found)
		m->offset += addr - start;
	while (found && next_mapping(maps, &start, &next) && start == m->end &&
	       next.inode == m->inode && strcmp(next.dev, m->dev) == 0 &&
	       next.offset == m->offset + (start - addr))
		m->end = next.end;
	if (maps != NULL)
		fclose(maps);
	return found;
}

/*
 * libmlx5 maps BAR 0 as a whole, and UAR page n is at n * 4 KiB of BAR 0 (PRM, UAR pages). Verify
 * both in /proc/self/maps and in the segment itself before use.
 */
static const struct prm_initial_seg *
segment_of(const struct mdv_dev *dev)
{
	uintptr_t uar = (uintptr_t)dev->uar->base_addr;
	size_t place = (size_t)dev->uar->page_id * MDV_ADAPTER_PAGE_BYTES;
	const struct prm_initial_seg *seg = (const void *)(uar - place);
	struct mapping head, page;

	if (uar <= place || !mapping_of(uar - place, &head) || !mapping_of(uar, &page) ||
	    page.offset != head.offset + place || page.inode != head.inode ||
	    strcmp(page.dev, head.dev) != 0 || head.perms[0] != 'r' ||
	    head.end - (uar - place) < MDV_SEGMENT_BYTES)
		return NULL;
	if (prm_initial_seg_get_cmd_interface_rev(seg) != MDV_CMD_INTERFACE_REV ||
	    prm_initial_seg_get_initializing(seg) != 0)
		return NULL;
	return seg;
}

static int
vfio_identify(struct mdv_dev *dev)
{
	char path[MDV_PATH_BYTES];
	long id = 0;

	if (dev->caps.num_ports != 1)
		return MDV_FAIL(dev->name, ENOTSUP, "the function has %u ports; only functions of one port are "
				"supported", dev->caps.num_ports);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/device", dev->pci.domain,
		 dev->pci.bus, dev->pci.devid, dev->pci.function);
	if (mdv_sysfs_number(path, &id) != 0)
		MDV_LOG(DEBUG, dev->name, "cannot read %s", path);
	mdv_pci_id_set(dev, id);
	/* vfio_events_up() reads it from the initialization segment, which needs a UAR. */
	snprintf(dev->fw_version, sizeof(dev->fw_version), "unknown");
	return 0;
}

/* ------------------------------------------------------------------ free-running counter */

static int
vfio_counter(struct mdv_dev *dev, uint64_t *cycles)
{
	const struct prm_initial_seg *seg = dev->vfio->seg;

	if (seg == NULL)
		return ENOTSUP;
	*cycles = mdv_clock_pair(&seg->dw[PRM_INITIAL_SEG_INTERNAL_TIMER_H_DW]);
	return 0;
}

static const volatile void *
vfio_core_clock(struct mdv_dev *dev)
{
	const struct prm_initial_seg *seg = dev->vfio->seg;

	return seg != NULL ? &seg->dw[PRM_INITIAL_SEG_INTERNAL_TIMER_H_DW] : NULL;
}

/* ------------------------------------------------------------------ events */

static void
read_fw_version(struct mdv_dev *dev)
{
	const struct prm_initial_seg *seg = dev->vfio->seg;

	if (seg == NULL)
		MDV_LOG(NOTICE, dev->name, "initialization segment not accessible: no device clock, "
			"and libmlx5 aborts the process on a fatal error");
	else
		snprintf(dev->fw_version, sizeof(dev->fw_version), "%u.%u.%04u",
			 prm_initial_seg_get_fw_rev_major(seg),
			 prm_initial_seg_get_fw_rev_minor(seg),
			 prm_initial_seg_get_fw_rev_subminor(seg));
}

static int
vfio_events_up(struct mdv_dev *dev)
{
	__atomic_store_n(&dev->vfio->seg, segment_of(dev), __ATOMIC_RELEASE);
	read_fw_version(dev);
	return mdv_vfio_events_up(dev);
}

const struct mdv_backend mdv_backend_vfio = {
	.name = "vfio",
	.register_opcode = PRM_CMD_OP_ACCESS_REGISTER,
	.exclusive = true,
	.open = vfio_open,
	.close = vfio_close,
	.identify = vfio_identify,
	.port_up = mdv_vfio_port_up,
	.port_down = mdv_vfio_port_down,
	.events_up = vfio_events_up,
	.events_down = mdv_vfio_events_down,
	.events_take = mdv_vfio_events_take,
	.health_check = mdv_vfio_health_check,
	.quiesced = mdv_vfio_quiesced,
	.counter = vfio_counter,
	.core_clock = vfio_core_clock,
	.vector_up = mdv_vfio_vector_up,
	.vector_down = mdv_vfio_vector_down,
	.vector_drain = mdv_vfio_vector_drain,
	.port = &mdv_vfio_port,
};
