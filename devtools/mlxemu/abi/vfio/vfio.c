/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* VFIO containers and groups: open, close, ioctls (kernel: drivers/vfio/container.c, group.c). */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include "vfio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/emu_fault.h"
#include "abi/uverbs/uverbs.h"

static TAILQ_HEAD(, abi_vfio_container) containers = TAILQ_HEAD_INITIALIZER(containers);
static struct abi_vfio_group *groups[EMU_MAX_PORTS];
static struct abi_vfio_device *devices[EMU_MAX_PORTS];

/* Names of the ioctls, for fault rules and the trace. */
static const struct call_name {
	unsigned long request;
	const char *name;
} call_names[] = {
	{VFIO_GET_API_VERSION, "VFIO_GET_API_VERSION"},
	{VFIO_CHECK_EXTENSION, "VFIO_CHECK_EXTENSION"},
	{VFIO_SET_IOMMU, "VFIO_SET_IOMMU"},
	{VFIO_GROUP_GET_STATUS, "VFIO_GROUP_GET_STATUS"},
	{VFIO_GROUP_SET_CONTAINER, "VFIO_GROUP_SET_CONTAINER"},
	{VFIO_GROUP_UNSET_CONTAINER, "VFIO_GROUP_UNSET_CONTAINER"},
	{VFIO_GROUP_GET_DEVICE_FD, "VFIO_GROUP_GET_DEVICE_FD"},
	{VFIO_DEVICE_GET_INFO, "VFIO_DEVICE_GET_INFO"},
	{VFIO_DEVICE_GET_REGION_INFO, "VFIO_DEVICE_GET_REGION_INFO"},
	{VFIO_DEVICE_GET_IRQ_INFO, "VFIO_DEVICE_GET_IRQ_INFO"},
	{VFIO_DEVICE_SET_IRQS, "VFIO_DEVICE_SET_IRQS"},
	{VFIO_DEVICE_RESET, "VFIO_DEVICE_RESET"},
};
/* Ioctls of a container whose numbers are also ioctls of a device. */
static const struct call_name iommu_names[] = {
	{VFIO_IOMMU_GET_INFO, "VFIO_IOMMU_GET_INFO"},
	{VFIO_IOMMU_MAP_DMA, "VFIO_IOMMU_MAP_DMA"},
	{VFIO_IOMMU_UNMAP_DMA, "VFIO_IOMMU_UNMAP_DMA"},
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *
call_name(enum abi_fd_kind kind, unsigned long request)
{
	for (unsigned i = 0; i < COUNT(iommu_names) && kind == ABI_FD_VFIO_CONTAINER; i++)
		if (iommu_names[i].request == request)
			return iommu_names[i].name;
	for (unsigned i = 0; i < COUNT(call_names); i++)
		if (call_names[i].request == request)
			return call_names[i].name;
	return "VFIO ioctl";
}

struct abi_vfio_device *
abi_vfio_of(const struct emu_dev *dev)
{
	return devices[dev->index];
}

int
abi_vfio_refuse(struct emu_dev *dev, int err, const char *call, const char *fmt, ...)
{
	bool mistake = err == -EINVAL || err == -EFAULT || err == -EEXIST || err == -EBADF;
	char text[160] = "";
	va_list ap;

	va_start(ap, fmt);
	/* Never NULL; the check avoids a warning of gcc with sanitizers. */
	if (fmt != NULL)
		vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (mistake)
		emu_audit(dev, EMU_AUDIT_BAD_CALL, "%s: %s -> %s", call, text,
			  strerrorname_np(-err));
	else
		emu_trace_note(dev, "%s: %s -> %s", call, text, strerrorname_np(-err));
	return err;
}

int
abi_vfio_in(void *out, const void *arg, size_t min)
{
	uint32_t argsz;
	int ret = abi_copy_from(&argsz, (uintptr_t)arg, sizeof(argsz));

	if (ret != 0)
		return ret;
	return argsz < min ? -EINVAL : abi_copy_from(out, (uintptr_t)arg, min);
}

/* A descriptor to reserve a number: calls on it are intercepted. */
static int
fd_make(const char *name, int flags, struct abi_fdobj *fo)
{
	int fd = memfd_create(name, MFD_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	if ((flags & O_CLOEXEC) == 0)
		(void)fcntl(fd, F_SETFD, 0);
	ret = abi_fd_add(fd, fo);
	if (ret != 0)
		abi_real_close(fd);
	return ret != 0 ? ret : fd;
}

/* Enter the model, unless this thread is inside: a stale table entry may be released during a call. */
static bool
enter(bool *entered)
{
	*entered = abi_inside == 0;
	return !*entered || abi_enter() != NULL;
}

static void
leave(bool entered)
{
	if (entered)
		abi_leave();
}

/* Without groups the address space is removed. */
static void
container_drop_iommu(struct abi_vfio_container *c)
{
	unsigned left = c->iommu != NULL ? emu_iommu_count(c->iommu) : 0;

	if (left != 0 && !emu_dev_unusable(c->dev))
		emu_audit_left(c->dev, "IOMMU mapping", left);
	emu_iommu_free(c->iommu);
	c->iommu = NULL;
}

static void
container_release(struct abi_fdobj *obj)
{
	struct abi_vfio_container *c = (struct abi_vfio_container *)obj;
	bool entered;

	if (enter(&entered)) {
		container_drop_iommu(c);
		TAILQ_REMOVE(&containers, c, next);
		leave(entered);
	}
	free(c);
}

static int
container_open(struct emu_machine *m, int flags)
{
	struct abi_vfio_container *c;
	int ret = emu_fault_errno(EMU_ON_OPEN, &m->dev[0], "vfio");

	if (ret != 0)
		return ret;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	c->fo.kind = ABI_FD_VFIO_CONTAINER;
	c->fo.release = container_release;
	ret = fd_make("vfio", flags, &c->fo);
	if (ret < 0)
		free(c);
	else
		TAILQ_INSERT_TAIL(&containers, c, next);
	return ret;
}

static int
extension(unsigned long arg)
{
	return arg == VFIO_TYPE1_IOMMU || arg == VFIO_TYPE1v2_IOMMU || arg == VFIO_UNMAP_ALL ||
	       arg == VFIO_DMA_CC_IOMMU;
}

static int
set_iommu(struct abi_vfio_container *c, unsigned long type)
{
	if (c->groups == 0 || c->iommu != NULL)
		return c->dev == NULL ? -EINVAL
				      : abi_vfio_refuse(c->dev, -EINVAL, "VFIO_SET_IOMMU", "%s",
							c->iommu != NULL ? "set already"
									 : "no group");
	if (type != VFIO_TYPE1_IOMMU && type != VFIO_TYPE1v2_IOMMU)
		return abi_vfio_refuse(c->dev, -ENODEV, "VFIO_SET_IOMMU", "type %lu", type);
	c->iommu = emu_iommu_new(c->dev);
	return c->iommu != NULL ? 0 : -ENOMEM;
}

static int
container_ioctl(struct abi_vfio_container *c, unsigned long request, void *arg)
{
	switch (request) {
	case VFIO_GET_API_VERSION:
		return VFIO_API_VERSION;
	case VFIO_CHECK_EXTENSION:
		return extension((unsigned long)(uintptr_t)arg);
	case VFIO_SET_IOMMU:
		return set_iommu(c, (unsigned long)(uintptr_t)arg);
	default:
		break;
	}
	/* The kernel passes all other ioctls to the IOMMU driver, if there is one. */
	return c->iommu != NULL ? abi_vfio_iommu_ioctl(c, request, arg) : -EINVAL;
}

/* Detach from the container; the caller drops the reference after releasing the lock. */
static struct abi_fdobj *
group_detach(struct abi_vfio_group *g)
{
	struct abi_vfio_container *c = g->container;

	g->container = NULL;
	if (c == NULL)
		return NULL;
	if (--c->groups == 0)
		container_drop_iommu(c);
	return &c->fo;
}

static void
group_release(struct abi_fdobj *obj)
{
	struct abi_vfio_group *g = (struct abi_vfio_group *)obj;
	struct abi_fdobj *container = NULL;
	bool entered;

	if (enter(&entered)) {
		container = group_detach(g);
		if (groups[g->dev->index] == g)
			groups[g->dev->index] = NULL;
		emu_trace_note(g->dev, "IOMMU group %u closed",
			       ABI_VFIO_GROUP_BASE + g->dev->index);
		leave(entered);
	}
	abi_driver_unlock(g->lock);
	abi_fd_put(container);
	free(g);
}

static int
group_new(struct emu_dev *dev, int flags)
{
	struct abi_vfio_group *g = calloc(1, sizeof(*g));
	int ret;

	if (g == NULL)
		return -ENOMEM;
	g->fo.kind = ABI_FD_VFIO_GROUP;
	g->fo.release = group_release;
	g->dev = dev;
	g->lock = abi_driver_lock(dev, EMU_FRONT_VFIO);
	ret = g->lock < 0 ? g->lock : fd_make("vfio-group", flags, &g->fo);
	if (ret < 0) {
		abi_driver_unlock(g->lock);
		free(g);
		return ret;
	}
	groups[dev->index] = g;
	emu_trace_note(dev, "IOMMU group %u opened", ABI_VFIO_GROUP_BASE + dev->index);
	return ret;
}

static int
group_open(struct emu_machine *m, unsigned n, int flags)
{
	struct emu_dev *dev;
	int ret;

	if (n < ABI_VFIO_GROUP_BASE || n - ABI_VFIO_GROUP_BASE >= m->ports)
		return -ENOENT;
	dev = &m->dev[n - ABI_VFIO_GROUP_BASE];
	if (emu_dev_disassociated(dev) || (dev->fronts & EMU_FRONT_VFIO) == 0)
		return -ENOENT;
	ret = emu_fault_errno(EMU_ON_OPEN, dev, "vfio");
	if (ret == 0)
		ret = group_new(dev, flags);
	if (ret == -EBUSY)
		return abi_vfio_refuse(dev, ret, "open", "IOMMU group %u: in use, by VFIO or by verbs",
				       n);
	return ret;
}

static int
group_status(struct abi_vfio_group *g, void *arg)
{
	struct vfio_group_status s;
	int ret = abi_vfio_in(&s, arg, sizeof(s));

	if (ret != 0)
		return abi_vfio_refuse(g->dev, ret, "VFIO_GROUP_GET_STATUS", "argsz");
	/* The lock is exclusive: no process uses the device through the kernel's driver. */
	s.flags = VFIO_GROUP_FLAGS_VIABLE;
	if (g->container != NULL)
		s.flags |= VFIO_GROUP_FLAGS_CONTAINER_SET;
	return abi_copy_to((uintptr_t)arg, &s, sizeof(s));
}

static int
group_set_container(struct abi_vfio_group *g, void *arg)
{
	static const char call[] = "VFIO_GROUP_SET_CONTAINER";
	struct abi_fdobj *fo;
	int32_t fd;
	int ret = abi_copy_from(&fd, (uintptr_t)arg, sizeof(fd));

	if (ret != 0)
		return abi_vfio_refuse(g->dev, ret, call, "no descriptor");
	if (g->container != NULL)
		return abi_vfio_refuse(g->dev, -EINVAL, call, "the group has a container");
	fo = abi_fd_get(fd, ABI_FD_VFIO_CONTAINER);
	if (fo == NULL)
		return abi_vfio_refuse(g->dev, fcntl(fd, F_GETFD) < 0 ? -EBADF : -EINVAL, call,
				       "descriptor %d is no container", fd);
	/* The reference stays with the group. */
	g->container = (struct abi_vfio_container *)fo;
	g->container->groups++;
	if (g->container->dev == NULL)
		g->container->dev = g->dev;
	return 0;
}

static int
group_unset_container(struct abi_vfio_group *g, struct abi_fdobj **drop)
{
	if (g->container == NULL)
		return abi_vfio_refuse(g->dev, -EINVAL, "VFIO_GROUP_UNSET_CONTAINER",
				       "the group has no container");
	if (devices[g->dev->index] != NULL)
		return abi_vfio_refuse(g->dev, -EBUSY, "VFIO_GROUP_UNSET_CONTAINER",
				       "the device is open");
	*drop = group_detach(g);
	return 0;
}

static int
group_device(struct abi_vfio_group *g, const void *arg)
{
	static const char call[] = "VFIO_GROUP_GET_DEVICE_FD";
	struct abi_vfio_device *d = devices[g->dev->index];
	char name[sizeof(g->dev->pci_addr)] = "";
	size_t n = 0;
	int ret = 0, fd = -1;

	if (g->container == NULL || g->container->iommu == NULL)
		return abi_vfio_refuse(g->dev, -EINVAL, call, "no container or no IOMMU type");
	do
		ret = abi_copy_from(&name[n], (uintptr_t)arg + n, 1);
	while (ret == 0 && name[n] != '\0' && ++n < sizeof(name));
	if (ret != 0)
		return abi_vfio_refuse(g->dev, ret, call, "no name");
	if (n == sizeof(name) || strcmp(name, g->dev->pci_addr) != 0)
		return abi_vfio_refuse(g->dev, -ENODEV, call, "no such device in the group");
	if (emu_dev_disassociated(g->dev))
		return -ENODEV;
	if (d == NULL) {
		ret = abi_vfio_device_open(g, &fd);
		return ret != 0 ? ret : fd;
	}
	/* Another descriptor of an open device. */
	fd = ABI_REAL(fcntl)(d->file, F_DUPFD_CLOEXEC, 0);
	ret = fd < 0 ? -errno : abi_fd_add(fd, &d->fo);
	if (ret != 0 && fd >= 0)
		abi_real_close(fd);
	return ret != 0 ? ret : fd;
}

static int
group_ioctl(struct abi_vfio_group *g, unsigned long request, void *arg, struct abi_fdobj **drop)
{
	switch (request) {
	case VFIO_GROUP_GET_STATUS:
		return group_status(g, arg);
	case VFIO_GROUP_SET_CONTAINER:
		return group_set_container(g, arg);
	case VFIO_GROUP_UNSET_CONTAINER:
		return group_unset_container(g, drop);
	case VFIO_GROUP_GET_DEVICE_FD:
		return group_device(g, arg);
	default:
		return abi_vfio_refuse(g->dev, -ENOTTY, "ioctl", "0x%lx of a group", request);
	}
}

int
abi_vfio_open(int node, int flags)
{
	struct emu_machine *m;
	int ret = abi_model_start();

	if (ret != 0)
		return abi_model_dead() ? -ENODEV : ret;
	ret = abi_vfio_thread_start();
	if (ret != 0)
		return ret;
	m = abi_enter();
	if (m == NULL)
		return -ENODEV;
	ret = node == ABI_NODE_VFIO ? container_open(m, flags)
				    : group_open(m, (unsigned)(node - ABI_NODE_GROUP), flags);
	abi_leave();
	return ret;
}

static struct emu_dev *
dev_of(struct abi_fdobj *obj)
{
	if (obj->kind == ABI_FD_VFIO_CONTAINER)
		return ((struct abi_vfio_container *)obj)->dev;
	return obj->kind == ABI_FD_VFIO_GROUP ? ((struct abi_vfio_group *)obj)->dev
					      : ((struct abi_vfio_device *)obj)->dev;
}

static int
ioctl_run(struct abi_fdobj *obj, unsigned long request, void *arg, struct abi_fdobj **drop)
{
	struct emu_dev *dev = dev_of(obj);
	int ret = dev == NULL ? 0
			      : emu_fault_errno(EMU_ON_IOCTL, dev, call_name(obj->kind, request));

	if (ret != 0)
		return ret;
	switch (obj->kind) {
	case ABI_FD_VFIO_CONTAINER:
		return container_ioctl((struct abi_vfio_container *)obj, request, arg);
	case ABI_FD_VFIO_GROUP:
		return group_ioctl((struct abi_vfio_group *)obj, request, arg, drop);
	default:
		return abi_vfio_device_ioctl((struct abi_vfio_device *)obj, request, arg);
	}
}

int
abi_vfio_ioctl(int fd, enum abi_fd_kind kind, unsigned long request, void *arg)
{
	struct abi_fdobj *obj = abi_fd_get(fd, kind), *drop = NULL;
	int ret;

	if (obj == NULL)
		return -EBADF;
	if (abi_enter() == NULL) {
		abi_fd_put(obj);
		return -ENODEV;
	}
	ret = ioctl_run(obj, request, arg, &drop);
	if (ret < 0 && dev_of(obj) != NULL)
		emu_trace_note(dev_of(obj), "%s -> %s", call_name(kind, request),
			       strerrorname_np(-ret));
	abi_leave();
	abi_fd_put(drop);
	abi_fd_put(obj);
	return ret;
}

void
abi_vfio_device_set(struct emu_dev *dev, struct abi_vfio_device *d)
{
	devices[dev->index] = d;
}

void
abi_vfio_ledger(struct emu_dev *dev, struct emu_front_ledger *out)
{
	out->files += devices[dev->index] != NULL;
	out->mappings += abi_vfio_mappings(dev);
}

void
abi_vfio_failing(struct emu_dev *dev)
{
	if (devices[dev->index] != NULL)
		abi_vfio_bar_failing(devices[dev->index]);
}

void
abi_vfio_removed(struct emu_dev *dev)
{
	struct abi_vfio_device *d = devices[dev->index];

	if (d == NULL)
		return;
	abi_vfio_bar_removed(d);
	abi_vfio_irqs_going(d);
}

void
abi_vfio_exit(void)
{
	struct abi_vfio_container *c;

	for (unsigned i = 0; i < EMU_MAX_PORTS; i++)
		if (devices[i] != NULL)
			abi_vfio_device_shut(devices[i], true);
	for (unsigned i = 0; i < EMU_MAX_PORTS; i++)
		if (groups[i] != NULL) {
			abi_driver_unlock(groups[i]->lock);
			groups[i]->lock = -1;
		}
	TAILQ_FOREACH(c, &containers, next)
		container_drop_iommu(c);
}
