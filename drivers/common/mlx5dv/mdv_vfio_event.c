/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* VFIO: the thread that serves requests of the device and polls its health; events of the port. */

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_byteorder.h>

#include "mdv_compat.h"
#include "mdv_vfio.h"

/** log2 of the EQ's size: more port events than are expected between two reads (assumed). */
#define MDV_EVENT_LOG_EQES 8
/*
 * mlx5dv_vfio_process_events() checks the health of the device and calls abort() if reads return all
 * ones, the firmware reports a fatal error, or the health counter did not change in three checks
 * that are a second apart (libmlx5, mlx5_vfio.c). This thread polls the same registers more often,
 * marks a failed device as removed, and does not call libmlx5 any more.
 */
#define MDV_HEALTH_POLL_MS 100
/** Polls per call of libmlx5 if the device has no request; each call writes a doorbell. */
#define MDV_POLLS_PER_SERVE 10
/*
 * libmlx5 aborts 3 s after the counter changed last, or 2 s if the counter is 0 at the first check
 * and another second has not passed. Time in which this thread was not scheduled counts at most
 * MDV_STEP_MAX_MS, because libmlx5 did not check either.
 */
#define MDV_STALLED_MS 2500
#define MDV_STEP_MAX_MS 1000
/* Command timeout of Linux (mlx5_core, MLX5_CMD_TIMEOUT_MSEC). */
#define MDV_CMD_TIMEOUT_MS 60000
/* PCI Local Bus Specification, command register; Bus Master Enable. */
#define MDV_PCI_COMMAND 4
#define MDV_PCI_COMMAND_MASTER 4
/* PRM, initialization segment: nic_interface; three bits, as in mlx5_get_nic_state() of Linux. */
#define MDV_NIC_SHIFT 8
#define MDV_NIC_MASK 7
#define MDV_NIC_DISABLED 1
#define MDV_NIC_RESET 7

/* ------------------------------------------------------------------ end of waits for commands */

/*
 * libmlx5 waits for the end of a command without limit, with poll() on two descriptors: an internal one and that of
 * mlx5dv_vfio_get_events_fd(3). It fails the command if the latter cannot be read. When the device fails, waits_end()
 * replaces that descriptor with dup3() by one of a directory, which is always readable for poll() and whose read()
 * fails with EISDIR. Then it writes to the duplicate of the old one, which wakes the current waiter; that waiter and
 * all later commands fail. libmlx5 closes the descriptor, whose number has not changed.
 */
int
mdv_vfio_waits_up(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	/* Reserve the descriptors now: none may be left when the device fails. */
	v->library_event_fd = fcntl(mlx5dv_vfio_get_events_fd(dev->ibv), F_DUPFD_CLOEXEC, 0);
	if (v->library_event_fd >= 0)
		v->closed_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->closed_fd >= 0)
		return 0;
	(void)MDV_FAIL(dev->name, errno, "no descriptors to end waits for commands: %s", mdv_errno_name(errno));
	mdv_vfio_waits_down(dev);
	return -rte_errno;
}

/** Ends all waits for commands; later commands fail at once. Called once. */
static void
waits_end(struct mdv_dev *dev)
{
	if (dup3(dev->vfio->closed_fd, mlx5dv_vfio_get_events_fd(dev->ibv), O_CLOEXEC) < 0)
		MDV_LOG(ERR, dev->name, "cannot wake threads that wait for commands: %s",
			mdv_errno_name(errno));
	/* Wake after the replacement, so that the waiter reads from the new descriptor. */
	mdv_eventfd_signal(dev->vfio->library_event_fd);
}

void
mdv_vfio_waits_down(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (v->library_event_fd >= 0)
		close(v->library_event_fd);
	if (v->closed_fd >= 0)
		close(v->closed_fd);
	v->library_event_fd = v->closed_fd = -1;
}

/** Returns whether a command has timed out. Event thread only. */
static bool
waits_long(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint64_t now = rte_rdtsc(), step = rte_get_tsc_hz() / 1000 * MDV_STEP_MAX_MS;
	uint32_t ended = __atomic_load_n(&dev->calls_ended, __ATOMIC_ACQUIRE);
	uint32_t begun = __atomic_load_n(&dev->calls_begun, __ATOMIC_ACQUIRE);

	if (begun == ended || ended != v->calls_ended)
		v->calls_stalled_tsc = 0;
	else
		v->calls_stalled_tsc += RTE_MIN(now - v->calls_check_tsc, step);
	v->calls_ended = ended;
	v->calls_check_tsc = now;
	return v->calls_stalled_tsc >= rte_get_tsc_hz() / 1000 * MDV_CMD_TIMEOUT_MS;
}

/* ------------------------------------------------------------------ health */

static enum mdv_fatal
fatal_registers(const struct prm_initial_seg *seg)
{
	const struct prm_health_buffer *health = prm_initial_seg_health_buffer_c(seg);
	uint32_t nic;

	/* PCI reads of a removed device return all ones. */
	if (seg->dw[0] == UINT32_MAX && seg->dw[1] == UINT32_MAX)
		return MDV_FATAL_NO_RESPONSE;
	if (prm_health_buffer_get_fw_version(health) == UINT32_MAX)
		return MDV_FATAL_HEALTH_BUFFER;
	if (prm_health_buffer_get_rfr(health) != 0 && prm_health_buffer_get_synd(health) != 0)
		return prm_health_buffer_get_synd(health) == PRM_HEALTH_SYND_ASYNC_EQ_OVERRUN_ERR ?
			MDV_FATAL_EQ_OVERRUN : MDV_FATAL_FIRMWARE;
	nic = rte_be_to_cpu_32(seg->dw[PRM_INITIAL_SEG_NIC_INTERFACE_DW]) >> MDV_NIC_SHIFT &
	      MDV_NIC_MASK;
	if (nic == MDV_NIC_DISABLED || nic == MDV_NIC_RESET)
		return MDV_FATAL_DISABLED;
	return MDV_FATAL_NONE;
}

/* Acquire: the caller's loads from the segment follow, also if it has read the same registers before. */
static const struct prm_initial_seg *
segment(const struct mdv_dev *dev)
{
	return dev->vfio != NULL ? __atomic_load_n(&dev->vfio->seg, __ATOMIC_ACQUIRE) : NULL;
}

enum mdv_fatal
mdv_vfio_fatal_reason(struct mdv_dev *dev)
{
	const struct prm_initial_seg *seg = segment(dev);

	return seg != NULL ? fatal_registers(seg) : MDV_FATAL_NONE;
}

/** Returns whether the health counter has not changed for MDV_STALLED_MS. Event thread only. */
static bool
health_stalled(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint64_t now = rte_rdtsc(), step = rte_get_tsc_hz() / 1000 * MDV_STEP_MAX_MS;
	const struct prm_initial_seg *seg = segment(dev);
	uint32_t counter;

	if (seg == NULL)
		return false;
	counter = prm_initial_seg_get_health_counter(seg);
	v->health_stalled_tsc += v->health_check_tsc != 0 ? RTE_MIN(now - v->health_check_tsc, step) : step;
	if (counter != v->health_counter)
		v->health_stalled_tsc = 0;
	v->health_counter = counter;
	v->health_check_tsc = now;
	return v->health_stalled_tsc >= rte_get_tsc_hz() / 1000 * MDV_STALLED_MS;
}

static void
device_failed(struct mdv_dev *dev, enum mdv_fatal why)
{
	const struct prm_initial_seg *seg = segment(dev);
	uint32_t synd = 0;

	if (seg != NULL && (why == MDV_FATAL_FIRMWARE || why == MDV_FATAL_EQ_OVERRUN))
		synd = prm_health_buffer_get_synd(prm_initial_seg_health_buffer_c(seg));
	/* Event thread and health checks may find the failure at the same time: log it once. */
	pthread_mutex_lock(&dev->vfio->eq_lock);
	if (!mdv_removed(dev)) {
		MDV_LOG(ERR, dev->name, "device failed: %s", mdv_fatal_name(why));
		MDV_RECORD(dev, .kind = MDV_RECORD_FATAL, .op = why, .value = synd);
		mdv_removed_set(dev);
		waits_end(dev);
		if (dev->event_fd >= 0)
			mdv_eventfd_signal(dev->event_fd);
	}
	pthread_mutex_unlock(&dev->vfio->eq_lock);
}

/* ------------------------------------------------------------------ the event thread */

/** Polls the health and serves requests of the device. False: the device failed. */
static bool
thread_step(struct mdv_dev *dev, bool serve)
{
	enum mdv_fatal why = mdv_vfio_fatal_reason(dev);
	int err = 0;

	if (why == MDV_FATAL_NONE && health_stalled(dev))
		why = MDV_FATAL_STALLED;
	if (why == MDV_FATAL_NONE && waits_long(dev))
		why = MDV_FATAL_TIMEOUT;
	if (why == MDV_FATAL_NONE && serve && !mdv_removed(dev)) {
		err = mdv_positive_errno(mlx5dv_vfio_process_events(dev->ibv));
		if (err != 0 && !mdv_removed(dev))
			MDV_LOG(ERR, dev->name, "cannot serve a request of the device: %s%s",
				mdv_errno_name(err), err == ENOMEM ? " (locked memory limit?)" : "");
	}
	if (why != MDV_FATAL_NONE)
		device_failed(dev, why);
	return !mdv_removed(dev);
}

static mdv_thread_ret
event_thread(void *arg)
{
	struct mdv_dev *dev = arg;
	struct pollfd fds[] = {
		{ .fd = dev->vfio->stop_fd, .events = POLLIN },
		{ .fd = mlx5dv_vfio_get_events_fd(dev->ibv), .events = POLLIN },
	};

	for (unsigned int n = 0; fds[0].revents == 0; n++) {
		if (!thread_step(dev, fds[1].revents != 0 || n % MDV_POLLS_PER_SERVE == 0))
			break;
		(void)poll(fds, RTE_DIM(fds), MDV_HEALTH_POLL_MS);
	}
	return 0;
}

int
mdv_vfio_thread_start(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	sigset_t was;
	int err = 0;

	v->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (v->stop_fd < 0)
		err = errno;
	if (err == 0) {
		/* The thread inherits the blocked signals; they would interrupt commands. */
		mdv_signals_block(dev, &was);
		err = -mdv_thread_create(&v->event_thread, "mdv-vfio", event_thread, dev);
		mdv_signals_restore(dev, &was);
	}
	v->event_thread_runs = err == 0;
	if (err == 0)
		return 0;
	if (v->stop_fd >= 0)
		close(v->stop_fd);
	v->stop_fd = -1;
	return MDV_FAIL(dev->name, err, "cannot create the event thread: %s", mdv_errno_name(err));
}

void
mdv_vfio_thread_stop(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (!v->event_thread_runs)
		return;
	mdv_eventfd_signal(v->stop_fd);
	pthread_join(v->event_thread, NULL);
	close(v->stop_fd);
	v->stop_fd = -1;
	v->event_thread_runs = false;
}

/* ------------------------------------------------------------------ events of the port */

/* The event thread runs already, or still: it must not write to a closed descriptor. */
static void
event_fd_set(struct mdv_dev *dev, int fd)
{
	pthread_mutex_lock(&dev->vfio->eq_lock);
	dev->event_fd = fd;
	pthread_mutex_unlock(&dev->vfio->eq_lock);
}

int
mdv_vfio_events_up(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	if (mdv_msi_alloc(dev, &v->msi) != 0)
		return -rte_errno;
	event_fd_set(dev, v->msi->fd);
	if (mdv_eq_create(dev, v->msi, MDV_EVENT_LOG_EQES, UINT64_C(1) << PRM_EVENT_TYPE_PORT_CHANGE,
			  &v->eq) == 0)
		return 0;
	MDV_UNDO(mdv_vfio_events_down(dev));
	return -rte_errno;
}

void
mdv_vfio_events_down(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;

	event_fd_set(dev, -1);
	(void)mdv_eq_destroy(v->eq);
	(void)mdv_msi_free(v->msi);
}

/* What an event is for the recorder. */
static enum mdv_record_event
port_event(const struct prm_eqe *eqe)
{
	if (eqe->type != PRM_EVENT_TYPE_PORT_CHANGE)
		return MDV_EVENT_OTHER;
	return eqe->sub_type == PRM_PORT_CHANGE_SUBTYPE_ACTIVE ? MDV_EVENT_PORT_UP :
	       eqe->sub_type == PRM_PORT_CHANGE_SUBTYPE_DOWN ? MDV_EVENT_PORT_DOWN : MDV_EVENT_OTHER;
}

uint32_t
mdv_vfio_events_take(struct mdv_dev *dev)
{
	struct mdv_vfio *v = dev->vfio;
	uint32_t events = 0;
	struct prm_eqe eqe;

	pthread_mutex_lock(&v->eq_lock);
	mdv_msi_drain(v->msi);
	while (mdv_eq_take(v->eq, &eqe)) {
		MDV_RECORD(dev, .kind = MDV_RECORD_EVENT, .op = eqe.type, .value = port_event(&eqe));
		if (eqe.type == PRM_EVENT_TYPE_PORT_CHANGE)
			events |= MDV_EVENT_LINK;
	}
	mdv_eq_arm(v->eq);
	if (mdv_removed(dev)) {
		events |= MDV_EVENT_REMOVED;
		/* Keep the descriptor readable, so that every poller notices the removal. */
		mdv_eventfd_signal(dev->event_fd);
	}
	pthread_mutex_unlock(&v->eq_lock);
	return events;
}

int
mdv_vfio_health_check(struct mdv_dev *dev)
{
	enum mdv_fatal why = mdv_vfio_fatal_reason(dev);

	if (why != MDV_FATAL_NONE)
		device_failed(dev, why);
	return mdv_removed(dev) ? ENODEV : 0;
}

/*
 * Clears Bus Master Enable of the function, without which it sends no memory request (PCI Express Base Specification,
 * command register). The reply of the read back does not pass writes that the function sent before (transaction
 * ordering), so none is on its way afterwards. libmlx5 does not give its descriptor of the function to others.
 */
static bool
dma_end(struct mdv_dev *dev)
{
	char path[64];
	uint16_t command = 0;
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/" PCI_PRI_FMT "/config", dev->pci.domain, dev->pci.bus,
		 dev->pci.devid, dev->pci.function);
	fd = open(path, O_RDWR | O_CLOEXEC);
	ok = fd >= 0 && pread(fd, &command, sizeof(command), MDV_PCI_COMMAND) == sizeof(command);
	command &= rte_cpu_to_le_16((uint16_t)~MDV_PCI_COMMAND_MASTER);
	ok = ok && pwrite(fd, &command, sizeof(command), MDV_PCI_COMMAND) == sizeof(command) &&
	     pread(fd, &command, sizeof(command), MDV_PCI_COMMAND) == sizeof(command);
	if (!ok)
		MDV_LOG(ERR, dev->name, "cannot end the DMA of the failed device: %s: %s", path, mdv_errno_name(errno));
	if (fd >= 0)
		close(fd);
	return ok && (command & rte_cpu_to_le_16(MDV_PCI_COMMAND_MASTER)) == 0;
}

/* A device that is off the bus does no DMA. One whose firmware failed may: it is ended, once. */
bool
mdv_vfio_quiesced(struct mdv_dev *dev)
{
	const struct prm_initial_seg *seg = segment(dev);
	bool ended = false;

	if (seg != NULL && seg->dw[0] == UINT32_MAX && seg->dw[1] == UINT32_MAX)
		return true;
	pthread_mutex_lock(&dev->vfio->eq_lock);
	if (!dev->vfio->dma_ended)
		ended = dma_end(dev);
	dev->vfio->dma_ended = true;
	pthread_mutex_unlock(&dev->vfio->eq_lock);
	return ended;
}
