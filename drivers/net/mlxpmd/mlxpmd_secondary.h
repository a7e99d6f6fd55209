/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * Secondary processes: messages between them and the primary process, and a port that the primary process owns.
 *
 * The port, its queues and rings, the device's capabilities and the registered ranges are in memory that all processes
 * share at the same addresses. A secondary process reads them, polls queues with burst functions of its own, and issues
 * no command. It takes no lock that the primary process takes: it can be killed at any time.
 */
#ifndef MLXPMD_SECONDARY_H
#define MLXPMD_SECONDARY_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_dev.h>
#include <rte_flow.h>

#include <mdv.h>

struct rte_eth_dev;
struct rte_intr_handle;
struct rte_mempool;
struct mlxpmd_port;

/** Name of the messages (rte_mp_action_register()). */
#define MLXPMD_MESSAGE_NAME "mlxpmd"

enum mlxpmd_message_type {
	MLXPMD_MESSAGE_ATTACH,	/**< The device `name`: port_id, and the descriptors below. */
	MLXPMD_MESSAGE_REGISTER, /**< Registers a mempool that this process created. */
	MLXPMD_MESSAGE_FORGET,	/**< It is about to be freed. */
	MLXPMD_MESSAGE_FLOWS,	/**< A dump of the port's flows, or of one: the answer has the descriptor of a file. */
	MLXPMD_MESSAGE_FLOW_QUERY, /**< Count or age of a flow. */
	MLXPMD_MESSAGE_HANDLE_QUERY, /**< Count of an indirect action. */
	MLXPMD_NB_MESSAGES
};

/** Descriptors in the answer to MLXPMD_MESSAGE_ATTACH. */
enum mlxpmd_message_fd {
	/** Socket: ends when the primary process ends, after a byte if it only closes the port. */
	MLXPMD_FD_ALIVE,
	MLXPMD_FD_DEVICE,	/**< Of the device, to map doorbell pages; not if it is unknown. */
	MLXPMD_NB_FDS
};

/** A request, and its answer with rc. */
struct mlxpmd_message {
	uint64_t layout;	/**< mlxpmd_message_layout(): of what the processes share. */
	uint16_t type;		/**< enum mlxpmd_message_type */
	uint16_t port_id;
	int32_t rc;		/**< Of an answer: 0 or -errno. */
	uint32_t sequence;	/**< Of the requests of a process. */
	uint32_t action;	/**< enum rte_flow_action_type of a query. */
	uint64_t object;	/**< Address of a mempool, a flow (0: all of them) or an indirect action. */
	union {
		char name[RTE_DEV_NAME_MAX_LEN];
		struct rte_flow_query_count count; /**< Of the answer to a query. */
		struct rte_flow_query_age age;
		char why[128];	/**< Of an answer with rc to a request about flows: the explanation, or empty. */
	};
};

/** A primary process that closes a port waits so long for secondary processes to leave it. */
#define MLXPMD_LEAVE_MS 1000

/** Of the sources and of the sizes of structures in shared memory: both processes must have the same build. */
uint64_t mlxpmd_message_layout(void);

/* ---- the primary process (mlxpmd_primary.c) ---- */
/** Stages of probe: answers requests about this port. Without processes that share memory they do nothing. */
int mlxpmd_primary_up(struct mlxpmd_port *port);
/** Also before queues are released: secondary processes leave the port. May be called again. */
void mlxpmd_primary_down(struct mlxpmd_port *port);

/* ---- a secondary process (mlxpmd_request.c, mlxpmd_pages.c, mlxpmd_secondary.c, mlxpmd_secondary_flow.c) ---- */
/**
 * Sends a request and waits for the answer, which replaces it. Logs nothing.
 *
 * @param fds MLXPMD_NB_FDS descriptors, which the caller closes; or NULL.
 * @return 0 or -errno: -EHOSTDOWN the primary process cannot be reached, -ETIMEDOUT it does not answer, -EPROTO its
 *   answer is not one of this driver, -ESTALE it is one to an earlier request; else the answer's.
 */
int mlxpmd_request(struct mlxpmd_message *message, int *fds);
/** What such an error means. */
const char *mlxpmd_request_reason(int rc);

/** Doorbell pages of a port, at the addresses that they have in the primary process. */
struct mlxpmd_pages {
	int device_fd;	/**< -1: without doorbells. Closed with the pages. */
	bool mute;	/**< A page cannot be mapped: nothing is sent. Atomic, as the next. */
	uint32_t epoch;	/**< mlxpmd_port.epoch of the queues whose pages are mapped. */
	struct mdv_doorbell page[MDV_DOORBELLS_MAX]; /**< As mapped; users 0: not. */
};
/** Makes the pages of this process those of the device's table. 0 or -errno, logged. */
int mlxpmd_pages_sync(struct mlxpmd_pages *pages, const struct mlxpmd_port *port);
/** Gives up the device; bursts that have begun may still write to the addresses. */
void mlxpmd_pages_replace(struct mlxpmd_pages *pages);
/** Gives up the device and the addresses. */
void mlxpmd_pages_unmap(struct mlxpmd_pages *pages);

/** As mlxpmd_probe(). */
int mlxpmd_secondary_probe(struct rte_device *device, struct rte_intr_handle *intr_handle);
/** Whether the primary process ended, or closes the port. */
bool mlxpmd_secondary_ended(const struct rte_eth_dev *eth_dev);
struct rte_flow_ops;
/** Gives the port the operations of flow queues, which are refused. */
void mlxpmd_secondary_flow_up(struct rte_eth_dev *eth_dev);
/** As eth_dev_ops.flow_ops_get. */
int mlxpmd_secondary_flow_ops_get(struct rte_eth_dev *eth_dev, const struct rte_flow_ops **ops);
/** Releases what this process has of the port; its bursts must have ended. */
void mlxpmd_secondary_close(struct rte_eth_dev *eth_dev);
/** As mlxpmd_remove(). */
int mlxpmd_secondary_remove(const struct rte_device *device);

#endif /* MLXPMD_SECONDARY_H */
