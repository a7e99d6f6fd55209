/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Failures of the host: each call that an operation makes for memory, to the kernel or to rdma-core fails in turn.
 * The linker gives these calls of the common layer to the functions of this file (--wrap, see meson.build).
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include <mdv_async.h>
#include <mdv_vector.h>

#include "mdv_test.h"

#define BYTES 4096
/** More calls than any operation makes. */
#define CALLS_MAX 400

/** Ways to fail. */
enum way {
	REFUSED,     /**< With an errno. */
	INTERRUPTED, /**< EINTR: of the calls of rdma-core. */
	SILENT,	     /**< NULL without an errno: of the calls of rdma-core that make an object. */
	WAYS,
};

#define REAL(name) extern __typeof__(name) __real_##name, __wrap_##name

REAL(close);

/** Calls of this thread may fail. */
static __thread bool armed;
static struct {
	enum way way;
	unsigned int left; /**< Calls until the one that fails. */
	const char *hit;  /**< The function that failed. */
	int err;	  /**< Its errno. */
	bool zero;	  /**< Descriptor 0 is one of the operation's. */
	const char *stuck; /**< The function that refuses to destroy, whether armed or not. */
	unsigned int refusals; /**< How often it refuses. */
	int blocks;	  /**< Memory allocated and not freed since the beginning of the operation. */
} host;

/** Whether this is the call that fails; last: the last way in which calls of this function fail. */
static bool
fails(const char *name, int err, enum way last)
{
	if (!armed || host.hit != NULL || host.way > last || host.left-- != 0)
		return false;
	host.hit = name;
	host.err = host.way == REFUSED ? err : host.way == INTERRUPTED ? EINTR : EIO;
	if (host.way != SILENT)
		errno = rte_errno = host.err;
	return true;
}

/** A new descriptor: 0, unless it is taken. The operation has not closed its own 0, and takes no 0 of others. */
static int
zero_of(int fd)
{
	if (fd < 0 || !armed || host.zero)
		return fd;
	host.zero = true;
	dup2(fd, 0);
	__real_close(fd);
	return 0;
}

/* ------------------------------------------------------------------ the functions */

/** The function `name` returns `failure` with errno if it is the one that fails. */
#define WRAP(last, err, type, failure, name, params, args) \
	REAL(name); \
	type __wrap_##name params { return fails(#name, err, last) ? failure : __real_##name args; }
#define HOST_PTR(err, type, name, params, args) WRAP(REFUSED, err, type *, NULL, name, params, args)
#define HOST_INT(err, name, params, args) WRAP(REFUSED, err, int, -1, name, params, args)
#define HOST_FD(name, params, args) \
	REAL(name); \
	int __wrap_##name params { return fails(#name, EMFILE, REFUSED) ? -1 : zero_of(__real_##name args); }
#define RDMA_PTR(type, name, params, args) WRAP(SILENT, EUSERS, type *, NULL, name, params, args)
#define RDMA_INT(name, params, args) WRAP(INTERRUPTED, EUSERS, int, host.err, name, params, args)

/** The thread that closes a context frees memory, too. */
static void
blocks_add(int n)
{
	__atomic_add_fetch(&host.blocks, n, __ATOMIC_RELAXED);
}

REAL(malloc);
REAL(calloc);
REAL(realloc);
REAL(free);

void *
__wrap_malloc(size_t n)
{
	void *p = fails("malloc", ENOMEM, REFUSED) ? NULL : __real_malloc(n);

	blocks_add(p != NULL);
	return p;
}

void *
__wrap_calloc(size_t n, size_t bytes)
{
	void *p = fails("calloc", ENOMEM, REFUSED) ? NULL : __real_calloc(n, bytes);

	blocks_add(p != NULL);
	return p;
}

void *
__wrap_realloc(void *was, size_t n)
{
	void *p = fails("realloc", ENOMEM, REFUSED) ? NULL : __real_realloc(was, n);

	blocks_add(was == NULL && p != NULL);
	return p;
}

void
__wrap_free(void *p)
{
	blocks_add(-(p != NULL));
	__real_free(p);
}

/* Closing 0 leaves an unused descriptor in its place. */
int
__wrap_close(int fd)
{
	if (fd != 0 || !host.zero)
		return __real_close(fd);
	host.zero = false;
	return dup2(STDERR_FILENO, 0) == 0 ? 0 : -1;
}

extern __typeof__(open) __real_open64, __wrap_open64;
extern __typeof__(fopen) __real_fopen64, __wrap_fopen64;
extern __typeof__(fcntl) __real_fcntl64, __wrap_fcntl64;
extern __typeof__(ioctl) __real_ioctl, __wrap_ioctl;

int
__wrap_open64(const char *path, int flags, ...)
{
	return fails("open", EMFILE, REFUSED) ? -1 : zero_of(__real_open64(path, flags, 0));
}

FILE *
__wrap_fopen64(const char *path, const char *mode)
{
	return fails("fopen", EMFILE, REFUSED) ? NULL : __real_fopen64(path, mode);
}

int
__wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	int arg;

	va_start(ap, cmd);
	arg = va_arg(ap, int);
	va_end(ap);
	return fails("fcntl", EUSERS, REFUSED) ? -1 : __real_fcntl64(fd, cmd, arg);
}

int
__wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fails("ioctl", EUSERS, REFUSED) ? -1 : __real_ioctl(fd, request, arg);
}

HOST_PTR(EMFILE, DIR, opendir, (const char *path), (path))
HOST_FD(socket, (int domain, int type, int protocol), (domain, type, protocol))
HOST_FD(eventfd, (unsigned int value, int flags), (value, flags))
HOST_PTR(ENOMEM, void, rte_zmalloc_socket, (const char *type, size_t n, unsigned int align, int socket_id),
	 (type, n, align, socket_id))
HOST_INT(EUSERS, rte_mem_event_callback_register, (const char *name, rte_mem_event_callback_t fn, void *arg),
	 (name, fn, arg))
HOST_INT(EUSERS, rte_mempool_event_callback_register, (rte_mempool_event_callback *fn, void *arg), (fn, arg))
/* Neither waits in the kernel. */
HOST_PTR(EUSERS, struct ibv_device *, ibv_get_device_list, (int *n), (n))
WRAP(REFUSED, EUSERS, int, host.err, mlx5dv_init_obj, (struct mlx5dv_obj *obj, uint64_t type), (obj, type))
RDMA_PTR(struct ibv_context, mlx5dv_open_device, (struct ibv_device *ibdev, struct mlx5dv_context_attr *attr),
	 (ibdev, attr))
RDMA_PTR(struct ibv_pd, ibv_alloc_pd, (struct ibv_context *ctx), (ctx))
RDMA_INT(ibv_query_device, (struct ibv_context *ctx, struct ibv_device_attr *attr), (ctx, attr))
RDMA_PTR(struct mlx5dv_devx_uar, mlx5dv_devx_alloc_uar, (struct ibv_context *ctx, uint32_t flags), (ctx, flags))
RDMA_INT(mlx5dv_devx_query_eqn, (struct ibv_context *ctx, uint32_t vector, uint32_t *eqn), (ctx, vector, eqn))
RDMA_PTR(struct mlx5dv_devx_umem, mlx5dv_devx_umem_reg,
	 (struct ibv_context *ctx, void *addr, size_t n, uint32_t access), (ctx, addr, n, access))
RDMA_PTR(struct mlx5dv_devx_obj, mlx5dv_devx_obj_create,
	 (struct ibv_context *ctx, const void *in, size_t n, void *out, size_t m), (ctx, in, n, out, m))
RDMA_INT(mlx5dv_devx_obj_modify, (struct mlx5dv_devx_obj *obj, const void *in, size_t n, void *out, size_t m),
	 (obj, in, n, out, m))
RDMA_INT(mlx5dv_devx_obj_query, (struct mlx5dv_devx_obj *obj, const void *in, size_t n, void *out, size_t m),
	 (obj, in, n, out, m))
RDMA_INT(mlx5dv_devx_general_cmd, (struct ibv_context *ctx, const void *in, size_t n, void *out, size_t m),
	 (ctx, in, n, out, m))
RDMA_PTR(struct mlx5dv_devx_cmd_comp, mlx5dv_devx_create_cmd_comp, (struct ibv_context *ctx), (ctx))
RDMA_INT(mlx5dv_devx_obj_query_async,
	 (struct mlx5dv_devx_obj *obj, const void *in, size_t n, size_t m, uint64_t wr_id,
	  struct mlx5dv_devx_cmd_comp *comp), (obj, in, n, m, wr_id, comp))
RDMA_INT(mlx5dv_devx_get_async_cmd_comp,
	 (struct mlx5dv_devx_cmd_comp *comp, struct mlx5dv_devx_async_cmd_hdr *head, size_t n), (comp, head, n))
RDMA_PTR(struct mlx5dv_devx_event_channel, mlx5dv_devx_create_event_channel,
	 (struct ibv_context *ctx, enum mlx5dv_devx_create_event_channel_flags flags), (ctx, flags))
RDMA_INT(mlx5dv_devx_subscribe_devx_event_fd,
	 (struct mlx5dv_devx_event_channel *channel, int fd, struct mlx5dv_devx_obj *obj, uint16_t event),
	 (channel, fd, obj, event))
RDMA_PTR(struct mlx5dv_flow_matcher, mlx5dv_create_flow_matcher,
	 (struct ibv_context *ctx, struct mlx5dv_flow_matcher_attr *attr), (ctx, attr))
#ifdef mlx5dv_create_flow /* A macro, since rdma-core 65 at the latest. */
RDMA_PTR(struct ibv_flow, __mlx5dv_create_flow,
	 (struct mlx5dv_flow_matcher *matcher, struct mlx5dv_flow_match_parameters *value, size_t n,
	  struct mlx5dv_flow_action_attr actions[], size_t action_bytes), (matcher, value, n, actions, action_bytes))
#else
RDMA_PTR(struct ibv_flow, mlx5dv_create_flow,
	 (struct mlx5dv_flow_matcher *matcher, struct mlx5dv_flow_match_parameters *value, size_t n,
	  struct mlx5dv_flow_action_attr *actions), (matcher, value, n, actions))
#endif
RDMA_PTR(struct ibv_mr, ibv_reg_mr_iova2, (struct ibv_pd *pd, void *addr, size_t n, uint64_t iova, unsigned int access),
	 (pd, addr, n, iova, access))

/** A function that destroys. */
#define RDMA_END(type, name) \
	REAL(name); \
	int __wrap_##name(type *object) { return refuses(#name) ? EUSERS : __real_##name(object); }

static bool
refuses(const char *name)
{
	if (host.stuck == NULL || strcmp(host.stuck, name) != 0 || host.refusals == 0)
		return false;
	host.refusals--;
	return true;
}

RDMA_END(struct mlx5dv_devx_obj, mlx5dv_devx_obj_destroy)
RDMA_END(struct mlx5dv_devx_umem, mlx5dv_devx_umem_dereg)
RDMA_END(struct mlx5dv_flow_matcher, mlx5dv_destroy_flow_matcher)
RDMA_END(struct ibv_mr, ibv_dereg_mr)
RDMA_END(struct ibv_pd, ibv_dealloc_pd)

/* ------------------------------------------------------------------ operations */

static struct rte_pci_addr address;

static int
op_open(struct mdv_dev *dev)
{
	int ret = mdv_open(&address, MDV_OPEN_VERBS, &dev);

	CHECK_EQ(dev == NULL, ret != 0);
	mdv_close(dev);
	return ret;
}

static int
op_async(struct mdv_dev *dev)
{
	static uint64_t buf[MDV_ASYNC_REPLY_BYTES(sizeof(struct prm_query_q_counter_out)) / 8 + 1];
	struct mdv_obj *counter = mdv_q_counter_create(dev);
	struct prm_query_q_counter_in in = { 0 };
	struct mdv_async_reply reply;
	struct mdv_async *async;
	struct pollfd p;
	int ret;

	if (counter == NULL)
		return -rte_errno;
	prm_query_q_counter_in_set_opcode(&in, PRM_CMD_OP_QUERY_Q_COUNTER);
	prm_query_q_counter_in_set_counter_set_id(&in, counter->id);
	ret = mdv_async_open(dev, &async);
	CHECK_EQ(async == NULL, ret != 0);
	if (ret == 0)
		ret = mdv_async_query(async, counter, &in, sizeof(in), sizeof(struct prm_query_q_counter_out), 1);
	if (ret == 0) {
		p = (struct pollfd){ .fd = mdv_async_fd(async), .events = POLLIN };
		while (poll(&p, 1, -1) < 0)
			;
		ret = mdv_async_take(async, buf, sizeof(buf), &reply);
	}
	if (async != NULL)
		CHECK_EQ(mdv_async_outstanding(async), ret != 0 && strstr(host.hit, "get_async") != NULL);
	mdv_async_close(async);
	MDV_UNDO(mdv_obj_destroy(counter));
	return ret;
}

static int
op_vector(struct mdv_dev *dev)
{
	struct mdv_cq_attr attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_vector *vector;
	struct mdv_cq cq = { 0 };
	int ret = mdv_vector_alloc(dev, &vector);

	CHECK_EQ(vector == NULL, ret != 0);
	attr.vector = vector;
	if (ret == 0)
		ret = mdv_cq_create(dev, &attr, &cq);
	if (ret == 0)
		ret = mdv_vector_attach(vector, &cq);
	CHECK_EQ(cq.vector != NULL, ret == 0);
	mdv_cq_destroy(&cq);
	mdv_vector_free(vector);
	return ret;
}

static int
op_external(struct mdv_dev *dev)
{
	static _Alignas(BYTES) char memory[2 * BYTES];
	int ret = mdv_mr_map_external(dev, memory, sizeof(memory));

	CHECK_EQ(mdv_mr_find(dev, (uintptr_t)memory) != NULL, ret == 0);
	return ret != 0 ? ret : mdv_mr_unmap_external(dev, memory, sizeof(memory));
}

static int
op_mempool(struct mdv_dev *dev)
{
	struct rte_mempool *mp = rte_pktmbuf_pool_create("host", 63, 0, 0, 128, SOCKET_ID_ANY);
	int ret = 0;

	if (mp == NULL)
		return -rte_errno;
	rte_errno = 0;
	if (mdv_mr_mempool(dev, mp) == NULL)
		ret = -rte_errno;
	rte_mempool_free(mp);
	return ret;
}

static int
op_counters(struct mdv_dev *dev)
{
	uint64_t values[MDV_COUNTERS_MAX];
	int ret = mdv_counters_read(dev, values, mdv_counters_count(dev));

	/* The next failure is logged again only after a success. */
	if (ret != 0)
		CHECK_EQ(mdv_counters_read(dev, values, mdv_counters_count(dev)), 0);
	return ret;
}

static int
op_port(struct mdv_dev *dev)
{
	static const uint8_t group[6] = { 0x01, 0x00, 0x5e, 0x01, 0x02, 0x03 };
	struct mdv_link link;
	uint8_t mac[6];
	uint16_t mtu;
	bool up;
	int ret = dev->port->mtu_get(dev, &mtu);

	if (ret == 0)
		ret = dev->port->mac_get(dev, mac);
	if (ret == 0)
		ret = dev->port->up_get(dev, &up);
	if (ret == 0)
		ret = dev->port->mcast(dev, group, true);
	if (ret == 0)
		ret = dev->port->mcast(dev, group, false);
	return ret == 0 ? dev->port->link(dev, &link) : ret;
}

static const struct operation {
	const char *name;
	int (*run)(struct mdv_dev *dev);
	unsigned int refused, silent; /**< Calls that may fail so, and it succeeds all the same. */
	unsigned int logged;	      /**< Of refused: those that are logged, with one line. */
} operations[] = {
	/*
	 * The largest MTU, LAG, the non-cached doorbell page, the three sources of counters, pause frames and the three
	 * priorities that have some (test_counters.c), and the list of the interface's statistics: memory for it,
	 * and requests, each after one for the interface's index. Then the counters are read: eleven calls may fail,
	 * and that is logged.
	 */
	{ "open", op_open, 29, 1, 11 },
	/* The write-combining doorbell page. */
	{ "queues", test_queues_make, 1, 1 },
	{ "async", op_async, 0, 0 },
	{ "vector", op_vector, 0, 0 },
	{ "external", op_external, 0, 0 },
	{ "mempool", op_mempool, 0, 0 },
	{ "counters", op_counters, 0, 0 },
	/* The speed of the interface: two requests, each after one for the interface's index. */
	{ "port", op_port, 4, 0 },
};

static unsigned int
descriptors(void)
{
	DIR *dir = __real_opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

/** Runs the operation with its k-th call failing. */
static int
run_failing(struct mdv_dev *dev, const struct operation *op, unsigned int k, enum way way)
{
	int ret;

	memset(&host, 0, sizeof(host));
	host.left = k;
	host.way = way;
	armed = true;
	errno = EUSERS;
	ret = op->run(dev);
	armed = false;
	CHECK(!host.zero, "%s: %s, call %u: descriptor 0 is left", op->name, host.hit, k);
	CHECK(host.blocks == 0, "%s: %s, call %u: %d blocks of memory are left", op->name, host.hit, k, host.blocks);
	return ret;
}

/**
 * A failure is returned and logged with one line, and nothing is left. Returns whether the call was tolerated; logged
 * counts those that were logged all the same.
 */
static bool
check_call(struct mdv_dev *dev, const struct operation *op, unsigned int k, enum way way, unsigned int *logged)
{
	unsigned int fds = descriptors();
	const char *text, *reason;
	int ret, err;

	log_begin();
	ret = run_failing(dev, op, k, way);
	err = rte_errno;
	text = log_end();
	CHECK(descriptors() == fds, "%s: %s, call %u", op->name, host.hit, k);
	if (ret == 0) {
		CHECK(lines_of(text) <= (op->logged != 0), "%s: %s, call %u: %s", op->name, host.hit, k, text);
		*logged += lines_of(text);
		return host.hit != NULL;
	}
	CHECK(host.hit != NULL && ret == -host.err && err == host.err, "%s: %s, call %u: %d, rte_errno %d", op->name,
	      host.hit, k, ret, err);
	reason = host.err == ENOMEM ? "no memory for" : mdv_errno_name(host.err);
	CHECK(lines_of(text) == 1 && lines_with(text, reason) == 1, "%s: %s, call %u: %s", op->name, host.hit, k, text);
	return false;
}

static void
check_way(struct mdv_dev *dev, const struct operation *op, enum way way)
{
	unsigned int calls = 0, tolerated = 0, logged = 0;

	do
		tolerated += check_call(dev, op, calls, way, &logged);
	while (host.hit != NULL && calls++ < CALLS_MAX);
	/* An interrupted call is repeated. */
	CHECK(tolerated == (way == REFUSED ? op->refused : way == SILENT ? op->silent : calls),
	      "%s, way %d: %u of %u calls may fail", op->name, way, tolerated, calls);
	CHECK(logged == (way == REFUSED ? op->logged : 0), "%s, way %d: %u of them are logged", op->name, way, logged);
	CHECK(calls < CALLS_MAX, "%s, way %d", op->name, way);
}

void
test_host(struct mdv_dev *dev, const struct rte_pci_addr *other)
{
	address = *other;
	for (size_t i = 0; i < RTE_DIM(operations); i++) {
		/* The first one takes memory that the device keeps. */
		CHECK_EQ(operations[i].run(dev), 0);
		for (enum way way = REFUSED; way < WAYS; way++)
			check_way(dev, &operations[i], way);
	}
}

/* ------------------------------------------------------------------ objects that cannot be destroyed */

static int
op_cq(struct mdv_dev *dev)
{
	const struct mdv_cq_attr attr = { .log_cqes = 6, .socket_id = SOCKET_ID_ANY };
	struct mdv_cq cq;
	int ret = mdv_cq_create(dev, &attr, &cq);

	mdv_cq_destroy(&cq);
	CHECK(cq.obj == NULL && cq.ring.addr == NULL);
	return ret;
}

static int
op_counter(struct mdv_dev *dev)
{
	struct mdv_obj *counter = mdv_q_counter_create(dev);

	return counter == NULL ? -rte_errno : mdv_obj_destroy(counter);
}

static int
op_nothing(struct mdv_dev *dev)
{
	RTE_SET_USED(dev);
	return 0;
}

static const struct lost {
	const char *stuck;
	int (*run)(struct mdv_dev *dev);
	int ret;	    /**< Of the operation. */
	const char *line;   /**< Of the operation, or of the close. */
	unsigned int lost;  /**< Queues and keys. */
	uint64_t refused;   /**< Commands. */
	bool uplink;	    /**< Of a PF in switchdev mode only. */
} losts[] = {
	{ "mlx5dv_devx_obj_destroy", op_cq, 0, "DESTROY_CQ (0x401) refused, object 0x", 1, 1 },
	{ "mlx5dv_devx_obj_destroy", op_counter, -EUSERS, "DEALLOC_Q_COUNTER (0x772) refused, object 0x", 0, 1 },
	{ "mlx5dv_devx_umem_dereg", op_cq, 0, "umem of a ring of 8192 bytes cannot be released: its memory is leaked", 0, 0 },
	{ "mlx5dv_destroy_flow_matcher", test_queues_make, 0, "mlx5dv_destroy_flow_matcher of priority 0 failed", 0, 0 },
	{ "ibv_dereg_mr", op_external, 0, "ibv_dereg_mr failed, the memory region stays behind", 1, 0 },
	{ "ibv_dealloc_pd", op_nothing, 0, ": PD 0x", 0, 0 },
	{ "mlx5dv_destroy_flow_matcher", op_nothing, 0, "mlx5dv_destroy_flow_matcher of the uplink failed", 0, 0, true },
};

/** The object is refused so often; three times are too often, and it is left to the kernel. */
static void
check_lost(const struct rte_pci_addr *pci, const struct lost *l, unsigned int refusals)
{
	unsigned int lost = refusals < 3 ? 0 : l->lost, lines = refusals < 3 ? 0 : 1 + l->lost;
	struct mdv_dev *dev;
	const char *text;

	memset(&host, 0, sizeof(host));
	REQUIRE(mdv_open(pci, MDV_OPEN_VERBS, &dev) == 0);
	if (l->uplink && mdv_own(dev)->uplink == NULL) {
		mdv_close(dev);
		return;
	}
	host.stuck = l->stuck;
	host.refusals = refusals;
	log_begin();
	CHECK_EQ(l->run(dev), refusals < 3 ? 0 : l->ret);
	CHECK_EQ(dev->lost, lost);
	CHECK_EQ(dev->refused, refusals < 3 ? 0 : l->refused);
	mdv_close(dev);
	text = log_end();
	CHECK(host.refusals == 0, "%s: %u refusals left", l->stuck, host.refusals);
	CHECK(lines_of(text) == lines && lines_with(text, l->line) == (refusals == 3), "%s: %u refusals: %s", l->stuck,
	      refusals, text);
	CHECK_EQ(lines_with(text, " is left to the kernel with 1 lost objects"), lost);
	if (refusals == 3)
		CHECK_EQ(lines_with(text, "EUSERS"), 1);
}

void
test_objects_lost(const struct rte_pci_addr *pci)
{
	for (size_t i = 0; i < RTE_DIM(losts); i++)
		for (unsigned int refusals = 1; refusals <= 3; refusals++)
			check_lost(pci, &losts[i], refusals);
}
