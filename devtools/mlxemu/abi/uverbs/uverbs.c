/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Opens and closes uverbs devices; dispatches ioctls to methods. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/emu_bond.h"
#include "core/emu_fault.h"
#include "abi/trap_pages.h"
#include "uverbs_obj.h"

/* All open files, for process exit. Protected by the machine's lock. */
static TAILQ_HEAD(, abi_file) abi_files = TAILQ_HEAD_INITIALIZER(abi_files);

static const struct abi_method_table *const abi_tables[] = {
	&abi_device_methods, &abi_devx_methods, &abi_mem_methods, &abi_event_methods,
	&abi_flow_methods,   &abi_flow_action_methods, &abi_cq_methods, &abi_qp_methods,
	&abi_wq_methods,     &abi_srq_methods, &abi_vflow_methods, &abi_mr_methods, &abi_dm_methods,
	&abi_pp_methods,
};

unsigned
abi_uverbs_index(const struct abi_fdobj *obj)
{
	return ((const struct abi_file *)obj)->dev->index;
}

/*
 * Number of mappings of the file by the program (doorbell and clock pages). Uses system calls and no
 * heap, because it also runs at process exit.
 */
static unsigned
abi_file_mappings(const struct abi_file *file)
{
	char buf[4096], tail[64];
	int fd = abi_real_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	unsigned count = 0;
	size_t have = 0;
	ssize_t n;
	char *line, *nl;

	if (fd < 0)
		return 0;
	/* The kernel merges neighbours with equal rights. */
	abi_pages_open(file->dev);
	/* Fields: range, rights, offset, device, inode, name. */
	snprintf(tail, sizeof(tail), " %02x:%02x %" PRIu64 " ",
		 (unsigned)(file->fo.st_dev >> 8) & 0xff, (unsigned)file->fo.st_dev & 0xff, (uint64_t)file->fo.st_ino);
	while ((n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		have += n;
		buf[have] = '\0';
		for (line = buf; (nl = strchr(line, '\n')) != NULL; line = nl + 1) {
			*nl = '\0';
			count += strstr(line, tail) != NULL;
		}
		have -= line - buf;
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			have = 0;
	}
	abi_real_close(fd);
	/* One mapping is the model's own. */
	return count > 0 ? count - 1 - abi_pages_copies(file->map, EMU_FILE_BYTES) : 0;
}

void
abi_uverbs_mapped(struct abi_fdobj *obj, void *at, size_t len, int prot, off64_t offset)
{
	const struct abi_file *file = (const struct abi_file *)obj;
	const struct emu_uar *uar;

	if (offset == EMU_CORE_CLOCK_OFFSET && len == EMU_PAGE_BYTES)
		abi_pages_counter(file->dev, (uintptr_t)at, prot,
				  (uint8_t *)file->map + EMU_CORE_CLOCK_OFFSET);
	if (offset < EMU_UAR_OFFSET)
		return;
	uar = emu_obj_find(file->dev, EMU_OBJ_UAR, (uint32_t)((offset - EMU_UAR_OFFSET) / EMU_PAGE_BYTES));
	abi_pages_doorbells(file->dev, (uintptr_t)at, len, prot, (uint8_t *)file->map + offset, uar != NULL && uar->wc);
}

/* Closes the context, as the release() of the kernel's file does. Lock held. */
static void
abi_file_shut(struct abi_file *file, bool exiting)
{
	/* After removal the mappings are zeroed pages of the kernel. */
	unsigned maps = exiting || emu_dev_unusable(file->dev) ? 0 : abi_file_mappings(file);

	if (file->shut)
		return;
	file->shut = true;
	TAILQ_REMOVE(&abi_files, file, next);
	if (maps != 0)
		emu_audit_left(file->dev, "mapping", maps);
	if (exiting)
		emu_audit_left(file->dev, "open device", 1);
	abi_channels_orphan(file, exiting);
	if (file->ctx != NULL) {
		file->ctx->ops = NULL;
		(void)emu_ctx_close(file->ctx);
		file->ctx = NULL;
	}
	emu_trace_note(file->dev, "%s closed", file->dev->uverbs_name);
	abi_handles_fini(file);
	abi_driver_unlock(file->lock);
}

static void
abi_file_release(struct abi_fdobj *obj)
{
	struct abi_file *file = (struct abi_file *)obj;
	/* May be called for a stale table entry during another call. */
	const bool inside = abi_inside != 0;

	/* The file was shut at the end of the model; its memory may still be mapped. */
	if (!inside && abi_enter() == NULL)
		return;
	abi_file_shut(file, false);
	abi_pages_forget(file->map, EMU_FILE_BYTES);
	if (!inside)
		abi_leave();
	munmap(file->map, EMU_FILE_BYTES);
	free(file);
}

void
abi_uverbs_ledger(struct emu_dev *dev, struct emu_front_ledger *out)
{
	const struct abi_channel *ch;
	const struct abi_sub *sub;
	struct abi_file *file;

	TAILQ_FOREACH(file, &abi_files, next) {
		if (file->dev != dev)
			continue;
		out->files++;
		out->mappings += abi_file_mappings(file);
		TAILQ_FOREACH(ch, &file->channels, next)
			out->channels++;
		TAILQ_FOREACH(sub, &file->subs, next)
			out->subscriptions++;
	}
}

bool abi_removed_any;

void
abi_uverbs_failing(struct emu_dev *dev)
{
	struct abi_file *file;

	TAILQ_FOREACH(file, &abi_files, next)
		if (file->dev == dev)
			abi_channels_failing(file);
}

/*
 * Open files at removal, as in the kernel: fatal event, then end of file on every channel; zeroed pages
 * replace doorbell pages and the counter (core/uverbs_main.c, rdma_umap_fault()). The clock page is
 * memory of the kernel and stays.
 */
void
abi_uverbs_removed(struct emu_dev *dev)
{
	struct abi_file *file;

	abi_removed_any = true;
	TAILQ_FOREACH(file, &abi_files, next) {
		if (file->dev != dev)
			continue;
		abi_channels_removed(file);
		(void)madvise((uint8_t *)file->map + EMU_UAR_OFFSET,
			      EMU_FILE_BYTES - EMU_UAR_OFFSET, MADV_REMOVE);
		(void)madvise((uint8_t *)file->map + EMU_CORE_CLOCK_OFFSET, EMU_PAGE_BYTES,
			      MADV_REMOVE);
	}
}

void
abi_uverbs_exit(void)
{
	while (!TAILQ_EMPTY(&abi_files))
		abi_file_shut(TAILQ_FIRST(&abi_files), true);
}

/* A sparse file: later mmap() calls of the program share it with the model. */
static int
abi_file_make(struct abi_file *file)
{
	int fd = memfd_create(file->dev->uverbs_name, MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, EMU_FILE_BYTES) == 0) {
		file->map = mmap(NULL, EMU_FILE_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (file->map != MAP_FAILED)
			return fd;
	}
	abi_real_close(fd);
	return -ENOMEM;
}

static int
abi_file_open(struct emu_machine *m, unsigned n, int flags, int lock)
{
	struct abi_file *file = calloc(1, sizeof(*file));
	int fd, ret;

	if (file == NULL)
		return -ENOMEM;
	file->fo.kind = ABI_FD_UVERBS;
	file->fo.release = abi_file_release;
	file->dev = &m->dev[n];
	file->lock = lock;
	TAILQ_INIT(&file->channels);
	TAILQ_INIT(&file->subs);
	fd = abi_file_make(file);
	if (fd < 0) {
		free(file);
		return fd;
	}
	if ((flags & O_CLOEXEC) == 0)
		(void)fcntl(fd, F_SETFD, 0);
	ret = abi_fd_add(fd, &file->fo);
	if (ret != 0) {
		munmap(file->map, EMU_FILE_BYTES);
		abi_real_close(fd);
		free(file);
		return ret;
	}
	TAILQ_INSERT_TAIL(&abi_files, file, next);
	emu_trace_note(file->dev, "%s opened", file->dev->uverbs_name);
	return fd;
}

int
abi_uverbs_open(unsigned n, int flags)
{
	struct emu_machine *m;
	int lock = -1, ret = abi_model_start();

	if (ret != 0)
		return abi_model_dead() ? -ENODEV : ret;
	if (emu_fault_at(EMU_ON_ALLOC))
		abi_alloc_watch();
	m = abi_enter();
	if (m == NULL)
		return -ENODEV;
	ret = n < m->ports && !emu_dev_disassociated(&m->dev[n]) ? 0 : -ENOENT;
	if (ret == 0 && ((m->dev[n].fronts & EMU_FRONT_VERBS) == 0 || emu_bond(&m->dev[n]) == EMU_BOND_MEMBER))
		ret = -ENOENT;
	if (ret == 0)
		ret = emu_fault_errno(EMU_ON_OPEN, &m->dev[n], m->dev[n].uverbs_name);
	if (ret == 0)
		ret = lock = abi_driver_lock(&m->dev[n], EMU_FRONT_VERBS);
	if (lock == -EBUSY)
		emu_trace_note(&m->dev[n], "open: %s: in use, by VFIO", m->dev[n].uverbs_name);
	if (ret >= 0)
		ret = abi_file_open(m, n, flags, lock);
	if (ret < 0)
		abi_driver_unlock(lock);
	abi_leave();
	return ret;
}

int
abi_refuse(const struct abi_call *call, int err, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A request for something that is not modelled is no violation: it fails with EOPNOTSUPP. */
	if (err == -EOPNOTSUPP)
		emu_trace_note(call->dev, "%s: %s: not modelled -> EOPNOTSUPP", call->method->name,
			       text);
	else
		emu_audit(call->dev, EMU_AUDIT_BAD_CALL, "%s: %s -> %s", call->method->name, text,
			  strerrorname_np(-err));
	return err;
}

/* The thread that runs the call; the kernel reads its capabilities (capable()). */
static bool
thread_has_net_raw(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_NET_RAW & 1) != 0;
}

int
abi_net_raw_check(const struct abi_call *call)
{
	const char *rule = getenv("MLXEMU_NET_RAW");

	if (rule == NULL || strcmp(rule, "grant") == 0 ||
	    (strcmp(rule, "process") == 0 && thread_has_net_raw()))
		return 0;
	emu_trace_note(call->dev, "%s: without CAP_NET_RAW -> EPERM", call->method->name);
	return -EPERM;
}

const struct abi_method *
abi_method_find(uint16_t object, uint16_t method)
{
	unsigned t, i;

	for (t = 0; t < sizeof(abi_tables) / sizeof(abi_tables[0]); t++)
		for (i = 0; i < abi_tables[t]->count; i++)
			if (abi_tables[t]->methods[i].object == object &&
			    abi_tables[t]->methods[i].method == method)
				return &abi_tables[t]->methods[i];
	return NULL;
}

const struct abi_method *
abi_method_at(unsigned i)
{
	unsigned t;

	for (t = 0; t < sizeof(abi_tables) / sizeof(abi_tables[0]); t++) {
		if (i < abi_tables[t]->count)
			return &abi_tables[t]->methods[i];
		i -= abi_tables[t]->count;
	}
	return NULL;
}

/*
 * Methods that are not modelled are refused with EOPNOTSUPP, not EPROTONOSUPPORT: the latter
 * makes libraries repeat the request by write(), which is not supported. The request is no violation, so
 * this goes to the trace and not to the audit.
 */
static int
abi_call_run(struct abi_call *call, uint16_t object, uint16_t method)
{
	int ret;

	call->method = call->dev->profile->mlx4 ? abi_mlx4_method(object, method)
						: abi_method_find(object, method);
	if (call->method == NULL || call->method->run == NULL) {
		emu_trace_note(call->dev, "call 0x%x.0x%x (%s) is not modelled -> EOPNOTSUPP",
			       object, method, call->method != NULL ? call->method->name : "unknown");
		return -EOPNOTSUPP;
	}
	if (call->method->needs_ctx && call->ctx == NULL)
		return abi_refuse(call, -EINVAL, "before GET_CONTEXT");
	ret = abi_attrs_check(call);
	/* Fault rules name write commands by command: abi_write_command() checks them. */
	if (ret == 0 && call->method->run != abi_write_command)
		ret = emu_fault_errno(EMU_ON_IOCTL, call->dev, call->method->name);
	if (ret == 0)
		ret = emu_dev_disassociated(call->dev) ? -EIO : call->method->run(call);
	if (ret < 0)
		emu_trace_note(call->dev, "call %s -> %s", call->method->name,
			       strerrorname_np(-ret));
	if (emu_fault_set_at(EMU_ON_IOCTL_EXIT)) {
		const struct emu_fault_event e = {
			.kind = EMU_ON_IOCTL_EXIT, .dev = call->dev,
			.name = call->command != NULL ? call->command : call->method->name,
		};

		ret = emu_fault_set_errno(&e, ret);
	}
	return ret;
}

/* A slow command: the caller sleeps with the lock released. */
static void
abi_delay(uint64_t us)
{
	struct timespec left = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	if (us == 0)
		return;
	while (nanosleep(&left, &left) != 0)
		;
}

int
abi_uverbs_ioctl(struct abi_fdobj *obj, void *arg)
{
	struct abi_call call = {.file = (struct abi_file *)obj};
	struct ib_uverbs_ioctl_hdr hdr;
	uint64_t delay_us;
	int ret = abi_copy_from(&hdr, (uintptr_t)arg, sizeof(hdr));

	if (ret != 0)
		return ret;
	if (hdr.length != sizeof(hdr) + hdr.num_attrs * sizeof(struct ib_uverbs_attr) ||
	    hdr.reserved1 != 0 || hdr.reserved2 != 0)
		return -EINVAL;
	if (abi_enter() == NULL)
		return -ENODEV;
	call.dev = call.file->dev;
	call.ctx = call.file->ctx;
	call.attrs = ((struct ib_uverbs_ioctl_hdr *)arg)->attrs;
	call.nattrs = hdr.num_attrs;
	ret = call.file->shut || emu_dev_disassociated(call.dev)
		      ? -EIO
		      : abi_call_run(&call, hdr.object_id, hdr.method_id);
	delay_us = emu_fault_delay_take();
	abi_leave();
	abi_delay(delay_us);
	return ret;
}
