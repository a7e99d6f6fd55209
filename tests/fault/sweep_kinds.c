/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The kinds of faults, what each must come out as, and what may fail without harm. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rte_common.h>

#include "ctl.h"
#include "hostfail.h"
#include "sweep.h"

/* Something that may be refused without failing an operation; NULL: any. */
struct spared {
	const char *op, *name, *by;
};

static const char *
requests_of(const struct op *op)
{
	return op->as != NULL ? op->as : op->name;
}

static bool
listed(const struct spared *list, size_t n, const struct op *op, const struct hit *hit)
{
	for (size_t i = 0; i < n; i++)
		if ((list[i].op == NULL || strcmp(list[i].op, requests_of(op)) == 0) &&
		    strcmp(list[i].name, hit->name) == 0 &&
		    (list[i].by == NULL || strncmp(hit->by, list[i].by, strlen(list[i].by)) == 0))
			return true;
	return false;
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* An errno of Linux and its name. */
struct named {
	const char *name;
	int err;
};

static void
rule_disarm(const struct named *variant, struct hit *hit)
{
	struct ctl_fault fault;

	ctl_fault_get(&fault);
	ctl_fault_clear();
	hit->hit = fault.hits != 0;
	hit->err = variant->err;
	hit->what = variant->name;
	snprintf(hit->name, sizeof(hit->name), "%s", fault.last);
}

/* ------------------------------------------------------------------ firmware commands */

/* Linux' errno of each status (mlx5_core, cmd_status_to_err), not taken from the code under test. */
static const struct named statuses[] = {
	{ "INTERNAL_ERR", EIO },    { "BAD_OP", EINVAL },	 { "BAD_PARAM", EINVAL },
	{ "BAD_RES_STATE", EINVAL }, { "NO_RESOURCES", EAGAIN }, { "EXCEED_LIM", ENOMEM },
	{ "RESOURCE_BUSY", EBUSY },  { "BAD_INPUT_LEN", EIO },
};
/* Commands and calls of probe that are the library's own: it goes on without the answers. */
static unsigned int library_commands, library_calls;

static const char *
command_variant(unsigned int i)
{
	return statuses[i].name;
}

static int
command_arm(const struct op *op, unsigned int k, unsigned int i)
{
	char rule[128];

	(void)op;
	snprintf(rule, sizeof(rule), "on cmd.entry after %u count 1 do fail status=%s", k,
		 statuses[i].name);
	return ctl_fault_add(rule);
}

static void
command_disarm(unsigned int i, struct hit *hit)
{
	rule_disarm(&statuses[i], hit);
}

static bool
command_destroys(const struct hit *hit)
{
	return begins(hit->name, "DESTROY_") || begins(hit->name, "DEALLOC_") || begins(hit->name, "DELETE_");
}

/* Through VFIO link and counters are read from the device: unknown then. What sets a register must not be refused. */
static bool
read_tolerated(const struct hit *hit)
{
	const char *line;

	if (strcmp(hit->name, "ACCESS_REGISTER") == 0)
		return log_complaints(&line) == 0 || strstr(line, "op_mod READ") != NULL;
	return strcmp(hit->name, "QUERY_VPORT_STATE") == 0;
}

static bool
command_tolerated(const struct op *op, unsigned int k, const struct hit *hit)
{
	static const struct spared spared[] = {
		{ "probe", "QUERY_LAG" },	      /* No answer about bonds: no bond. */
		{ "probe", "QUERY_VPORT_COUNTER" },  /* Then xstats lack these counters. */
		{ "probe", "QUERY_VNIC_ENV" },	      /* The same. */
		{ "probe", "ACCESS_REGISTER_USER" }, /* The same; the largest MTU is ethdev's. */
		{ "probe", "CREATE_MKEY" },	      /* Done again when the mempool is used. */
		{ "rx queue stop", "QUERY_RQ" },     /* Reset from the state that is remembered. */
		{ "tx queue stop", "QUERY_SQ" },
		{ "stats", "QUERY_Q_COUNTER" },	      /* The count stays as it was. */
		{ "stats reset", "QUERY_Q_COUNTER" },
		{ "xstats", "QUERY_Q_COUNTER" },
		{ "xstats", "QUERY_VPORT_COUNTER" },
		{ "xstats", "ACCESS_REGISTER_USER" },
		{ "xstats reset", "QUERY_Q_COUNTER" },
		{ "xstats reset", "QUERY_VPORT_COUNTER" },
		{ "xstats reset", "ACCESS_REGISTER_USER" },
		{ "rate limit off", "SET_PP_RATE_LIMIT" }, /* The kernel gives its entry back: no answer. */
	};

	if (strcmp(requests_of(op), "probe") == 0 && k < library_commands)
		return true;
	if (sweep_vfio() && read_tolerated(hit))
		return true;
	/* What is taken down is taken down again. */
	return command_destroys(hit) || listed(spared, RTE_DIM(spared), op, hit);
}

/*
 * libibverbs takes EIO of a destroy for a removed device, and returns success. Of its own objects libmlx5 tries once,
 * when a device is closed that it has opened through VFIO.
 */
static bool
command_lost(const struct hit *hit)
{
	if (sweep_vfio() && (strcmp(hit->name, "DEALLOC_UAR") == 0 || strcmp(hit->name, "DESTROY_EQ") == 0))
		return true;
	return command_destroys(hit) && hit->err == EIO;
}

/* ------------------------------------------------------------------ system calls */

static const struct named ioctl_errors[] = {
	{ "EINTR", EINTR }, { "EAGAIN", EAGAIN }, { "EIO", EIO },
	{ "ENODEV", ENODEV }, { "ENOMEM", ENOMEM }, { "EFAULT", EFAULT },
};

/*
 * Through VFIO: memory for the device. Not while libmlx5 opens it, which uses a buffer of commands that it has freed
 * if it cannot map the larger one instead (mlx5_vfio.c, mlx5_vfio_enlarge_cmd_msg()), and not unmapping, for which it
 * has no way to fail.
 */
static const char *
calls_of(void)
{
	return sweep_vfio() ? "match method=VFIO_IOMMU_MAP_DMA" : "";
}

static const char *
ioctl_variant(unsigned int i)
{
	return ioctl_errors[i].name;
}

static int
ioctl_arm(const struct op *op, unsigned int k, unsigned int i)
{
	char rule[128];

	if (sweep_vfio() && strcmp(requests_of(op), "probe") == 0)
		k += library_calls;
	snprintf(rule, sizeof(rule), "on ioctl %s after %u count 1 do fail errno=%s", calls_of(), k,
		 ioctl_errors[i].name);
	return ctl_fault_add(rule);
}

static void
ioctl_disarm(unsigned int i, struct hit *hit)
{
	rule_disarm(&ioctl_errors[i], hit);
	/* A signal interrupted it: it is made again. */
	hit->harmless = hit->err == EINTR;
	if (strcmp(hit->name, "GET_CONTEXT") == 0) {
		hit->harmless = false;
		hit->err = EOPNOTSUPP; /* What the library makes of all that. */
		hit->what = "EOPNOTSUPP";
	}
}

static bool
ioctl_destroys(const struct hit *hit)
{
	return strstr(hit->name, "DESTROY") != NULL || strstr(hit->name, "DEREG") != NULL ||
	       strstr(hit->name, "DEALLOC") != NULL;
}

/* Which command it was is the other kind's matter: the commands of probe that may fail are not distinguished. */
static bool
ioctl_tolerated(const struct op *op, unsigned int k, const struct hit *hit)
{
	static const struct spared spared[] = {
		{ NULL, "QUERY_PORT" }, /* ethdev reads the speeds before anything else. */
		{ NULL, "UAR_ALLOC" },	/* There is another kind of UAR. */
		{ "probe", "ex_query_device" },
		{ "probe", "MLX5_QUERY_PORT" }, /* Then the vport is the first. */
		{ "probe", "reg_mr" },		/* Done again when the mempool is used. */
		{ "probe", "VFIO_IOMMU_MAP_DMA" }, /* The same. */
		{ "probe", "DEVX_GENERAL_CMD" },
		{ "rx queue stop", "DEVX_OBJ_QUERY" }, /* Reset from the state that is remembered. */
		{ "tx queue stop", "DEVX_OBJ_QUERY" },
		{ "stats", "DEVX_OBJ_QUERY" }, /* The count stays as it was. */
		{ "stats reset", "DEVX_OBJ_QUERY" },
		{ "xstats", "DEVX_OBJ_QUERY" },
		{ "xstats", "DEVX_GENERAL_CMD" },
		{ "xstats reset", "DEVX_OBJ_QUERY" },
		{ "xstats reset", "DEVX_GENERAL_CMD" },
	};

	if (!sweep_vfio() && strcmp(requests_of(op), "probe") == 0 && k < library_calls)
		return true;
	return ioctl_destroys(hit) || listed(spared, RTE_DIM(spared), op, hit);
}

/*
 * libibverbs takes EIO for a removed device, the driver takes ENODEV for it. The library reports
 * nothing of UARs and packet pacing entries, whose functions are void. And it tries once more in the way of older
 * kernels when it opens a device.
 */
static bool
ioctl_lost(const struct hit *hit)
{
	return (ioctl_destroys(hit) && (hit->err == EIO || hit->err == ENODEV)) ||
	       strcmp(hit->name, "UAR_DESTROY") == 0 || strcmp(hit->name, "PP_DESTROY") == 0 ||
	       strcmp(hit->name, "GET_CONTEXT") == 0;
}

/* ------------------------------------------------------------------ the kernel's interface */

static const struct named interface_errors[] = {
	{ "EPERM", EPERM }, { "EBUSY", EBUSY }, { "ENOMEM", ENOMEM }, { "ENODEV", ENODEV },
	{ "EIO", EIO },
};

static const char *
interface_variant(unsigned int i)
{
	return interface_errors[i].name;
}

static int
interface_arm(const struct op *op, unsigned int k, unsigned int i)
{
	(void)op;
	hostfail_arm(k, interface_errors[i].err);
	return 0;
}

static void
hostfail_result(unsigned int i, struct hit *hit)
{
	struct hostfail_hit host;

	(void)i;
	hostfail_disarm(&host);
	hit->hit = host.name != NULL;
	hit->err = host.err;
	hit->what = strerrorname_np(host.err);
	snprintf(hit->name, sizeof(hit->name), "%s", host.name != NULL ? host.name : "");
	snprintf(hit->by, sizeof(hit->by), "%s", host.caller);
}

static bool
interface_tolerated(const struct op *op, unsigned int k, const struct hit *hit)
{
	/* Operations whose requests to the interface are all needed. */
	static const char *const needs_all[] = {
		"probe", "promiscuous on", "promiscuous off", "allmulticast on", "allmulticast off", "link down",
	};
	bool may_spare = true;

	/* Speed and physical counters: the device's registers have them, too. */
	if (strcmp(hit->name, "SIOCETHTOOL") == 0)
		return true;
	/* The first ones of probe are ahead of requests for its statistics. */
	if (strcmp(requests_of(op), "probe") == 0 && strcmp(hit->name, "SIOCGIFINDEX") == 0 && k % 2 == 1 && k <= 5)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(needs_all); i++)
		may_spare = may_spare && strcmp(requests_of(op), needs_all[i]) != 0;
	/* Whether it is still the same interface, ahead of such a question. */
	if (may_spare && strcmp(hit->name, "SIOCGIFINDEX") == 0)
		return true;
	/* The first question of probe: an interface of another network namespace is left alone. */
	return strcmp(requests_of(op), "probe") == 0 && k == 0 && hit->err == ENODEV;
}

static bool
never(const struct hit *hit)
{
	(void)hit;
	return false;
}

/* ------------------------------------------------------------------ the host */

static const char *
host_variant(unsigned int i)
{
	(void)i;
	return "none left";
}

static int
host_arm(const struct op *op, unsigned int k, unsigned int i)
{
	(void)op;
	(void)i;
	hostfail_arm(k, 0);
	return 0;
}

static bool
host_tolerated(const struct op *op, unsigned int k, const struct hit *hit)
{
	static const struct spared spared[] = {
		{ NULL, "fopen", "libmlx5" }, /* Settings, in sysfs and elsewhere: defaults. */
		{ NULL, "fopen", "libibverbs" },
		{ "probe", "malloc", "libibverbs" },
		{ "probe", "openat", "libibverbs" },
		{ NULL, "calloc", "libmlx5" }, /* Another kind of UAR, or no clock. */
		{ NULL, "mmap", "libmlx5" },
		{ "probe", "rte_zmalloc_socket", "librte_net_mlxpmd" }, /* The other socket's. */
		/* The mempool's keys: tried again when it is used. */
		{ "probe", "malloc", "librte_common_mlx5dv" },
		{ "probe", "calloc", "librte_common_mlx5dv" },
		{ "probe", "realloc", "librte_common_mlx5dv" },
		/* The interface's statistics: the last values. */
		{ "xstats", "calloc", "librte_common_mlx5dv" },
		{ "xstats reset", "calloc", "librte_common_mlx5dv" },
	};
	/* The device's descriptor and registers: without events of its release, and without its clock. */
	static const struct spared spared_vfio[] = {
		{ "probe", "opendir", "librte_common_mlx5dv" },
		{ "probe", "fopen64", "librte_common_mlx5dv" },
	};

	(void)k;
	if (sweep_vfio() && listed(spared_vfio, RTE_DIM(spared_vfio), op, hit))
		return true;
	return listed(spared, RTE_DIM(spared), op, hit);
}

/* libmlx5 44 destroys a UAR without a number when it cannot map one that it has. */
static bool
host_lost(const struct hit *hit)
{
	return strcmp(hit->name, "mmap") == 0 && begins(hit->by, "libmlx5");
}

/* libibverbs reports its own failures with another errno. */
static void
library_errno(struct hit *hit)
{
	static const struct {
		const char *name;
		int err;
	} reported[] = {
		{ "opendir", ENODEV }, /* Nothing to list: no device. */
		{ "openat", ENODEV },
		{ "open", ENOENT },
	};

	for (size_t i = 0; i < RTE_DIM(reported); i++)
		if (begins(hit->by, "libibverbs") && strcmp(hit->name, reported[i].name) == 0)
			hit->err = reported[i].err;
	/* A device that it has no memory for is missing from its list: the driver finds none. */
	if (begins(hit->by, "libibverbs") && strcmp(hit->name, "calloc") == 0 &&
	    strstr(log_text(), "no RDMA device") != NULL)
		hit->err = ENODEV;
	hit->what = strerrorname_np(hit->err);
}

static void
host_disarm(unsigned int i, struct hit *hit)
{
	hostfail_result(i, hit);
	library_errno(hit);
}

/* ------------------------------------------------------------------ teardown refused permanently */

/* The driver tries three times; TIRs and RQTs hold what they lead to. */
static const char *const destroys[] = {
	"DESTROY_SQ", "DESTROY_RQ", "DESTROY_CQ", "DESTROY_TIR", "DESTROY_RQT", "DESTROY_TIS",
	"DESTROY_MKEY", "DEALLOC_Q_COUNTER", "DEALLOC_TRANSPORT_DOMAIN", "DEALLOC_PD", "DESTROY_FLOW_GROUP",
	"DESTROY_FLOW_TABLE",
};

static const char *
destroy_variant(unsigned int i)
{
	return destroys[i];
}

static int
destroy_arm(const struct op *op, unsigned int k, unsigned int i)
{
	char rule[128];

	(void)op;
	snprintf(rule, sizeof(rule), "on cmd.entry match op=%s after %u count 3 do fail "
		 "status=BAD_RES_STATE", destroys[i], k);
	return ctl_fault_add(rule);
}

static void
destroy_disarm(unsigned int i, struct hit *hit)
{
	static const struct named refused = { "BAD_RES_STATE", EINVAL };

	(void)i;
	rule_disarm(&refused, hit);
}

static bool
destroy_tolerated(const struct op *op, unsigned int k, const struct hit *hit)
{
	(void)k;
	(void)hit;
	return op->always;
}

static bool
destroy_lost(const struct hit *hit)
{
	return hit->hit;
}

const struct kind sweep_kinds[] = {
	{ "command", RTE_DIM(statuses), command_variant, command_arm, command_disarm,
	  command_tolerated, command_lost },
	{ "ioctl", RTE_DIM(ioctl_errors), ioctl_variant, ioctl_arm, ioctl_disarm,
	  ioctl_tolerated, ioctl_lost },
	{ "interface", RTE_DIM(interface_errors), interface_variant, interface_arm,
	  hostfail_result, interface_tolerated, never },
	{ "host", 1, host_variant, host_arm, host_disarm, host_tolerated, host_lost },
	{ "destroy", RTE_DIM(destroys), destroy_variant, destroy_arm, destroy_disarm,
	  destroy_tolerated, destroy_lost, .teardown = true },
};
const unsigned int sweep_nb_kinds = RTE_DIM(sweep_kinds);

/* How often the library comes by a place when it opens the device. */
static int
count_opening(const char *rule, unsigned int *seen)
{
	struct ctl_fault fault;
	struct ibv_context *context = ctl_fault_add(rule) == 0 ? library_open() : NULL;

	ctl_fault_get(&fault);
	ctl_fault_clear();
	*seen = fault.seen;
	return context != NULL ? -ibv_close_device(context) : -ENODEV;
}

int
kinds_init(void)
{
	char calls[128];
	int rc = count_opening("on cmd.entry after 1000000 do fail status=BAD_OP", &library_commands);

	snprintf(calls, sizeof(calls), "on ioctl %s after 1000000 do fail errno=EIO", calls_of());
	return rc != 0 ? rc : count_opening(calls, &library_calls);
}
