/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * What differs between the releases of DPDK that are supported: 22.11 and later. All sources are written for the
 * newest one, and this header gives its names to the older ones; no other file tests RTE_VERSION. When a release is
 * no longer supported its branches here are deleted. Each names the first release that has the newer form.
 */
#ifndef MDV_COMPAT_H
#define MDV_COMPAT_H

#include <pthread.h>
#include <stdint.h>

#include <rte_lcore.h>
#include <rte_thread.h>
#include <rte_version.h>

/* ---- 23.03: rte_telemetry.h has uint where it had u64 ---- */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_array_uint rte_tel_data_add_array_u64
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* ---- 23.11: rte_thread.h creates control threads; a thread returns a number, its name gets the prefix dpdk- ---- */
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
typedef void *mdv_thread_ret;
#else
typedef uint32_t mdv_thread_ret;
#endif

/**
 * Starts a control thread: it runs on the CPUs of no lcore. pthread_join() or pthread_detach() ends it.
 * @param name Of at most 10 bytes; more are cut off.
 * @return 0 or a negative errno; does not log.
 */
static inline int
mdv_thread_create(pthread_t *thread, const char *name, mdv_thread_ret (*run)(void *arg), void *arg)
{
	int ret;
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
	ret = rte_ctrl_thread_create(thread, name, NULL, run, arg);
#else
	rte_thread_t id = { .opaque_id = 0 };

	ret = rte_thread_create_internal_control(&id, name, run, arg);
	/* EAL's Linux part stores a pthread_t in it. */
	*thread = (pthread_t)id.opaque_id;
#endif
	return ret > 0 ? -ret : ret;
}

/* ---- 23.03: rte_flow.h has tables of flows that are inserted by index, and quotas ---- */
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define mdv_flow_table_by_pattern(attr) ((void)(attr), true)
#define mdv_flow_quotas(attr) ((void)(attr), 0u)
#define mdv_flow_quotas_set(attr, n) ((void)(attr))
#else
#define mdv_flow_table_by_pattern(attr) ((attr)->insertion_type == RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
#define mdv_flow_quotas(attr) ((attr)->nb_quotas)
/** For tests. */
#define mdv_flow_quotas_set(attr, n) ((attr)->nb_quotas = (n))
#endif

/* ---- 23.07: rte_flow.h has an item for the send queue ---- */
#if RTE_VERSION < RTE_VERSION_NUM(23, 7, 0, 0)
/** Of the negative types, which are private to drivers there; rte_flow_conv() copies 8 bytes of such an item. */
#define RTE_FLOW_ITEM_TYPE_TX_QUEUE ((enum rte_flow_item_type)-0x4d58)
struct rte_flow_item_tx_queue {
	uint16_t tx_queue;
} __attribute__((aligned(8)));
#endif

/* ---- 24.03: rte_flow_driver.h has the operations of flow queues in a structure of their own ---- */
/**
 * These operations, of functions whose names begin with prefix: MDV_FLOW_OPS_ASYNC() initialises them in struct
 * rte_flow_ops, MDV_FLOW_FP_OPS_SET() gives them to the port. ethdev does not check that there is a function: what the
 * driver has not is ethdev's own there, which refuses.
 */
#define MDV_OP_INIT(member, function) .member = function,
#define MDV_OP_ASSIGN(member, function) ops_.member = function;
#define MDV_FLOW_OPS_QUEUES(op, prefix) \
	op(async_create, prefix##create) \
	op(async_destroy, prefix##destroy) \
	op(push, prefix##push) \
	op(pull, prefix##pull) \
	op(async_action_handle_create, prefix##handle_create) \
	op(async_action_handle_destroy, prefix##handle_destroy) \
	op(async_action_handle_update, prefix##handle_update) \
	op(async_action_handle_query, prefix##handle_query) \
	MDV_FLOW_OPS_BY_INDEX(op, prefix) \
	MDV_FLOW_OPS_ASYNC_UPDATE(op, prefix)
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define MDV_FLOW_OPS_BY_INDEX(op, prefix)
#else
#define MDV_FLOW_OPS_BY_INDEX(op, prefix) op(async_create_by_index, prefix##create_by_index)
#endif
#if RTE_VERSION < RTE_VERSION_NUM(23, 7, 0, 0)
#define MDV_FLOW_OPS_UPDATE(op, prefix)
#define MDV_FLOW_OPS_ASYNC_UPDATE(op, prefix)
/* For tests: what a driver without the operation returns. */
#define rte_flow_actions_update(port_id, flow, actions, error) \
	((void)(flow), (void)(actions), (void)(error), -ENOSYS)
#define rte_flow_async_actions_update(port_id, queue_id, attr, flow, actions, index, user_data, error) \
	((void)(attr), (void)(flow), (void)(actions), (void)(error), -ENOSYS)
#else
#define MDV_FLOW_OPS_UPDATE(op, prefix) op(actions_update, prefix##actions_update)
#define MDV_FLOW_OPS_ASYNC_UPDATE(op, prefix) op(async_actions_update, prefix##actions_update)
#endif
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
#define MDV_FLOW_OPS_ASYNC(prefix) MDV_FLOW_OPS_QUEUES(MDV_OP_INIT, prefix)
#define MDV_FLOW_FP_OPS_SET(eth_dev, prefix)
#else
#define MDV_FLOW_OPS_ASYNC(prefix)
/* All ports have one structure, which is written before the first one uses it. */
#define MDV_FLOW_FP_OPS_SET(eth_dev, prefix) do { \
	static struct rte_flow_fp_ops fp_ops_; \
	struct rte_flow_fp_ops ops_ = rte_flow_fp_default_ops; \
 \
	MDV_FLOW_OPS_QUEUES(MDV_OP_ASSIGN, prefix) \
	if (fp_ops_.push == NULL) \
		fp_ops_ = ops_; \
	(eth_dev)->flow_fp_ops = &fp_ops_; \
} while (0)
#endif

/* ---- 24.03: tables of flows that can be made larger ---- */
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
#define mdv_flow_table_resizable(attr) ((void)(attr), false)
#define mdv_flow_table_resizable_set(attr) ((void)(attr))
#else
#define mdv_flow_table_resizable(attr) (((attr)->specialize & RTE_FLOW_TABLE_SPECIALIZE_RESIZABLE) != 0)
/** For tests. */
#define mdv_flow_table_resizable_set(attr) ((attr)->specialize = RTE_FLOW_TABLE_SPECIALIZE_RESIZABLE)
#endif

/* ---- 23.11: a field of rte_flow has its index apart from the level of encapsulation; 24.03: another name ---- */
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
#define rte_flow_field_data rte_flow_action_modify_data
#endif
/** Index of a tag, which may be given as level still. */
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
#define MDV_FIELD_TAG_INDEX(data) ((data)->level)
#else
#define MDV_FIELD_TAG_INDEX(data) ((uint32_t)((data)->tag_index != 0 ? (data)->tag_index : (data)->level))
#endif

/* ---- 24.03: eth_dev_supported_ptypes_get_t returns the number of packet types, too ---- */
/** Defines the operation op of the installed release by get(), which has the prototype of the newest. */
#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
#define MDV_PTYPES_GET_OP(op, get) \
static const uint32_t * \
op(struct rte_eth_dev *eth_dev) \
{ \
	size_t count; \
 \
	return get(eth_dev, &count); \
}
#else
#define MDV_PTYPES_GET_OP(op, get) \
static const uint32_t * \
op(struct rte_eth_dev *eth_dev, size_t *count) \
{ \
	return get(eth_dev, count); \
}
#endif

/* ---- 26.07: struct eth_dev_ops reads the limit of a send queue's rate ---- */
#if RTE_VERSION < RTE_VERSION_NUM(26, 7, 0, 0)
#define MDV_GET_QUEUE_RATE_LIMIT(get)
#else
#define MDV_GET_QUEUE_RATE_LIMIT(get) .get_queue_rate_limit = get,
#endif

/* ---- 25.07: a driver's name is exported without a number; symbols are exported where they are defined ---- */
#if RTE_VERSION < RTE_VERSION_NUM(25, 7, 0, 0)
#define MDV_PMD_EXPORT_NAME(name) RTE_PMD_EXPORT_NAME(name, __COUNTER__)
#else
#define MDV_PMD_EXPORT_NAME(name) RTE_PMD_EXPORT_NAME(name)
#endif
/* DPDK's build searches the sources for this macro; its own definition, equally empty, is not installed. */
#ifndef RTE_EXPORT_INTERNAL_SYMBOL
#define RTE_EXPORT_INTERNAL_SYMBOL(symbol)
#endif

/* ---- 25.11: eth_stats_get_t gets the counters of queues apart, which may be NULL ---- */
/** As MDV_PTYPES_GET_OP(). Before, struct rte_eth_stats has the queues' members under the same names. */
#if RTE_VERSION < RTE_VERSION_NUM(25, 11, 0, 0)
#define eth_queue_stats rte_eth_stats
#define MDV_STATS_GET_OP(op, get) \
static int \
op(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats) \
{ \
	return get(eth_dev, stats, stats); \
}
#else
#define MDV_STATS_GET_OP(op, get) \
static int \
op(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats, struct eth_queue_stats *queues) \
{ \
	return get(eth_dev, stats, queues); \
}
#endif

/* ---- 25.11: eth_rx_queue_count_t returns int ---- */
#if RTE_VERSION < RTE_VERSION_NUM(25, 11, 0, 0)
typedef uint32_t mdv_rx_queue_count;
#else
typedef int mdv_rx_queue_count;
#endif

/* ---- 26.07: all buses keep their drivers in one kind of list ---- */
/**
 * The driver of a bus that is registered before this one, or NULL; type: rte_pci_driver, rte_auxiliary_driver. The
 * list's head is private to the bus and needs no type of its own: TAILQ_PREV() only wants a structure of that shape.
 */
#if RTE_VERSION < RTE_VERSION_NUM(26, 7, 0, 0)
#define MDV_DRIVER_PREV(type, bus_driver) __extension__ ({ \
	TAILQ_HEAD(mdv_drivers, type); \
	TAILQ_PREV((bus_driver), mdv_drivers, next); })
#else
#define MDV_DRIVER_PREV(type, bus_driver) __extension__ ({ \
	TAILQ_HEAD(mdv_drivers, rte_driver); \
	struct rte_driver *prev_ = TAILQ_PREV(&(bus_driver)->driver, mdv_drivers, next); \
	prev_ == NULL ? NULL : container_of(prev_, struct type, driver); })
#endif

#endif /* MDV_COMPAT_H */
