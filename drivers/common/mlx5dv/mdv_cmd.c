/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Runs firmware commands: the only caller of mlx5dv_devx_*_cmd and mlx5dv_devx_obj_*. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mdv_private.h"

static uint16_t
mailbox_opcode(const void *in)
{
	const uint8_t *bytes = in;

	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/** Object numbers and states in an inbox, for the log line. */
struct mailbox_names {
	char text[160];
	size_t used;
};

static bool
is_object_number(const char *field)
{
	static const char *const numbers[] = {
		"cqn", "sqn", "rqn", "tirn", "tisn", "rqtn", "mkey_index", "tis_num_0",
		"inline_rqn", "indirect_table", "transport_domain", "pd", "uar_page", "c_eqn",
		"cq_umem_id", "wq_umem_id", "mkey_umem_id", "counter_set_id", "log_cq_size",
		"log_wq_sz", "rqt_actual_size", "vport_number", "register_id", "op_mod",
		"sq_state", "rq_state", "state",
	};

	for (size_t i = 0; i < RTE_DIM(numbers); i++)
		if (strcmp(field, numbers[i]) == 0)
			return true;
	return false;
}

/** Appends text; what does not fit is cut off. */
__rte_format_printf(2, 3)
static void
names_add(struct mailbox_names *names, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	names->used += vsnprintf(names->text + names->used, sizeof(names->text) - names->used, format, ap);
	va_end(ap);
	names->used = RTE_MIN(names->used, sizeof(names->text) - 1);
}

static void
note_object_number(void *arg, const char *path, uint64_t value, const char *enum_name)
{
	struct mailbox_names *names = arg;
	const char *dot = strrchr(path, '.');
	const char *field = dot != NULL ? dot + 1 : path;

	if (!is_object_number(field))
		return;
	if (enum_name != NULL)
		names_add(names, ", %s %s", field, enum_name);
	else
		names_add(names, ", %s 0x%" PRIx64, field, value);
}

static void
describe_inbox(struct mailbox_names *names, const void *in, size_t in_bytes)
{
	names->used = 0;
	names->text[0] = '\0';
	prm_decode_in(in, in_bytes, true, note_object_number, names);
}

static void
log_refusal(struct mdv_dev *dev, const void *in, size_t in_bytes, uint8_t status,
	    uint32_t syndrome, int err)
{
	uint16_t opcode = mailbox_opcode(in);
	struct mailbox_names names;

	__atomic_fetch_add(&dev->refused, 1, __ATOMIC_RELAXED);
	describe_inbox(&names, in, in_bytes);
	if (status != PRM_STATUS_OK)
		MDV_LOG(ERR, dev->name, "%s (0x%x) refused: %s (0x%02x), syndrome 0x%x%s -> %s",
			prm_command_name(opcode), opcode, prm_status_name(status), status, syndrome,
			names.text, mdv_errno_name(err));
	else
		MDV_LOG_ERR(dev, "%s (0x%x) failed without a status of the device%s -> %s",
			    prm_command_name(opcode), opcode, names.text, mdv_errno_name(err));
}

/*
 * For a refused command Linux returns EREMOTEIO and the outbox since 2022; before, it returned some
 * errno with or without the outbox. The outbox is zeroed before the call, and a status in it takes
 * precedence over the errno, even if the call succeeded.
 */
int
mdv_cmd_result(struct mdv_dev *dev, const void *in, size_t in_bytes, const void *out, int sys_err, bool quiet,
	       uint64_t begin_ns)
{
	const uint8_t *bytes = out;
	uint8_t status = bytes[0];
	uint32_t syndrome = (uint32_t)bytes[4] << 24 | bytes[5] << 16 | bytes[6] << 8 | bytes[7];
	int err = sys_err;

	mdv_record_mailboxes(dev, in, in_bytes, out, sys_err, quiet, begin_ns);
	if (status != PRM_STATUS_OK)
		err = prm_status_errno(status);
	else
		mdv_suspect_if(dev, err);
	if (err == 0)
		return 0;
	if (!quiet)
		log_refusal(dev, in, in_bytes, status, syndrome, err);
	return mdv_fail(err);
}

/** The status is read from the outbox and the opcode from the inbox: both need a full header. */
static int
check_mailboxes(struct mdv_dev *dev, size_t in_bytes, size_t out_bytes)
{
	if (in_bytes >= MDV_MAILBOX_BYTES_MIN && out_bytes >= MDV_MAILBOX_BYTES_MIN)
		return 0;
	return MDV_FAIL(dev->name, EINVAL, "command mailboxes of %zu and %zu bytes are shorter than %d",
			in_bytes, out_bytes, MDV_MAILBOX_BYTES_MIN);
}

bool
mdv_unresponsive(struct mdv_dev *dev)
{
	return dev->backend->exclusive && (mdv_removed(dev) || dev->backend->health_check(dev) != 0);
}

void
mdv_signals_block(const struct mdv_dev *dev, sigset_t *was)
{
	/* Blocked synchronous signals would kill the process (sigprocmask(2)). */
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t all;

	if (!dev->backend->exclusive)
		return;
	sigfillset(&all);
	for (size_t i = 0; i < RTE_DIM(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, was);
}

void
mdv_signals_restore(const struct mdv_dev *dev, const sigset_t *was)
{
	if (dev->backend->exclusive)
		pthread_sigmask(SIG_SETMASK, was, NULL);
}

void
mdv_run_begin(struct mdv_dev *dev, sigset_t *was)
{
	mdv_signals_block(dev, was);
	if (dev->backend->exclusive)
		__atomic_fetch_add(&dev->calls_begun, 1, __ATOMIC_ACQ_REL);
}

void
mdv_run_end(struct mdv_dev *dev, const sigset_t *was)
{
	int err = errno;

	if (!dev->backend->exclusive)
		return;
	__atomic_fetch_add(&dev->calls_ended, 1, __ATOMIC_ACQ_REL);
	mdv_signals_restore(dev, was);
	errno = mdv_removed(dev) ? ENODEV : err;
}

int
mdv_run_errno(const struct mdv_dev *dev, int ret)
{
	int err = mdv_positive_errno(ret);

	return err != 0 && dev->backend->exclusive && mdv_removed(dev) ? ENODEV : err;
}

static int
run_general(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes,
	    bool quiet)
{
	const uint64_t begin_ns = mdv_now_ns();
	int err = EINTR;

	if (check_mailboxes(dev, in_bytes, out_bytes) != 0)
		return -rte_errno;
	for (int i = 0; i < MDV_EINTR_TRIES && err == EINTR; i++) {
		memset(out, 0, out_bytes);
		err = MDV_RUN_ERR(dev, mlx5dv_devx_general_cmd(dev->ibv, in, in_bytes, out, out_bytes));
	}
	return mdv_cmd_result(dev, in, in_bytes, out, err, quiet, begin_ns);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_cmd)
int
mdv_cmd(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	return run_general(dev, in, in_bytes, out, out_bytes, false);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_cmd_try)
int
mdv_cmd_try(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	return run_general(dev, in, in_bytes, out, out_bytes, true);
}

struct mlx5dv_devx_obj *
mdv_exec_create(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	struct mlx5dv_devx_obj *devx = NULL;
	const uint64_t begin_ns = mdv_now_ns();
	int err = EINTR;

	if (check_mailboxes(dev, in_bytes, out_bytes) != 0)
		return NULL;
	for (int i = 0; i < MDV_EINTR_TRIES && err == EINTR; i++) {
		memset(out, 0, out_bytes);
		err = ENODEV;
		if (mdv_unresponsive(dev))
			break;
		errno = 0;
		devx = MDV_RUN(dev, mlx5dv_devx_obj_create(dev->ibv, in, in_bytes, out, out_bytes));
		err = devx != NULL ? 0 : errno != 0 ? errno : EIO;
	}
	if (mdv_cmd_result(dev, in, in_bytes, out, err, false, begin_ns) == 0)
		return devx;
	/* A handle with a refusal is not expected. Destroy it, so that nothing leaks. */
	if (devx != NULL)
		MDV_UNDO(MDV_RUN(dev, mlx5dv_devx_obj_destroy(devx)));
	return NULL;
}

/** mlx5dv_devx_obj_modify() and mlx5dv_devx_obj_query(). */
typedef int obj_call(struct mlx5dv_devx_obj *devx, const void *in, size_t in_bytes, void *out, size_t out_bytes);

static int
run_on(struct mdv_obj *obj, obj_call *call, const void *in, size_t in_bytes, void *out, size_t out_bytes,
       bool quiet)
{
	const uint64_t begin_ns = mdv_now_ns();
	int err = EINTR;

	if (check_mailboxes(obj->dev, in_bytes, out_bytes) != 0)
		return -rte_errno;
	for (int i = 0; i < MDV_EINTR_TRIES && err == EINTR; i++) {
		memset(out, 0, out_bytes);
		err = MDV_RUN_ERR(obj->dev, call(obj->devx, in, in_bytes, out, out_bytes));
	}
	return mdv_cmd_result(obj->dev, in, in_bytes, out, err, quiet, begin_ns);
}

int
mdv_exec_modify(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
	return run_on(obj, mlx5dv_devx_obj_modify, in, in_bytes, out, out_bytes, false);
}

int
mdv_exec_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out, size_t out_bytes,
	       bool quiet)
{
	return run_on(obj, mlx5dv_devx_obj_query, in, in_bytes, out, out_bytes, quiet);
}

int
mdv_exec_query_async(struct mdv_obj *obj, const void *in, size_t in_bytes, size_t out_bytes,
		     uint64_t number, struct mlx5dv_devx_cmd_comp *comp, bool quiet)
{
	static const uint8_t no_reply[MDV_MAILBOX_BYTES_MIN];
	const uint64_t begin_ns = mdv_now_ns();
	int err;

	if (check_mailboxes(obj->dev, in_bytes, out_bytes) != 0)
		return -rte_errno;
	/* Without a device: the command is recorded, not the call. */
	err = MDV_RETRY_ERR(NULL, mlx5dv_devx_obj_query_async(obj->devx, in, in_bytes, out_bytes, number,
						  comp));
	if (err == 0)
		return 0;
	mdv_suspect_if(obj->dev, err);
	if (err != EAGAIN)
		mdv_record_mailboxes(obj->dev, in, in_bytes, no_reply, err, quiet, begin_ns);
	if (err != EAGAIN && !quiet)
		log_refusal(obj->dev, in, in_bytes, PRM_STATUS_OK, 0, err);
	return mdv_fail(err);
}

int
mdv_exec_destroy(struct mdv_obj *obj, uint16_t destroy_opcode)
{
	struct mdv_record r = { .kind = MDV_RECORD_COMMAND, .op = destroy_opcode, .object = obj->id };
	const uint64_t begin_ns = mdv_now_ns();
	int err = MDV_DESTROY(obj->dev, mlx5dv_devx_obj_destroy, obj->devx);

	if (err != 0)
		r.kind = MDV_RECORD_COMMAND_ERRNO;
	r.value = err;
	r.duration_ns = mdv_duration_ns(begin_ns);
	mdv_record_cmd(obj->dev, r, false);
	if (err == 0)
		return 0;
	__atomic_fetch_add(&obj->dev->refused, 1, __ATOMIC_RELAXED);
	/* mlx5dv_devx_obj_destroy() returns no outbox, hence no status. */
	return MDV_FAIL_DEV(obj->dev, err, "%s (0x%x) refused, object 0x%x stays behind -> %s",
			    prm_command_name(destroy_opcode), destroy_opcode, obj->id, mdv_errno_name(err));
}

int
mdv_register_access(struct mdv_dev *dev, uint16_t register_id, uint32_t op, void *reg,
		    size_t reg_bytes, bool quiet)
{
	struct {
		struct prm_access_register_in head;
		uint32_t data[PRM_PPCNT_REG_BYTES / 4];
	} in;
	struct {
		struct prm_access_register_out head;
		uint32_t data[PRM_PPCNT_REG_BYTES / 4];
	} out;

	if (reg_bytes > sizeof(in.data))
		return mdv_fail(EINVAL);
	memset(&in, 0, sizeof(in));
	prm_access_register_in_set_opcode(&in.head, dev->backend->register_opcode);
	prm_access_register_in_set_op_mod(&in.head, op);
	prm_access_register_in_set_register_id(&in.head, register_id);
	memcpy(in.data, reg, reg_bytes);
	if (run_general(dev, &in, sizeof(in.head) + reg_bytes, &out,
			sizeof(out.head) + reg_bytes, quiet) != 0)
		return -rte_errno;
	memcpy(reg, out.data, reg_bytes);
	return 0;
}
