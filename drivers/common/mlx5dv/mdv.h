/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * mlx5dv common layer: opens DEVX contexts of ConnectX devices through rdma-core, runs firmware
 * commands, creates firmware objects, and registers memory. No ethdev here.
 *
 * Functions that return int give 0 or a negative errno, those that return a pointer NULL, and both
 * set rte_errno. A failure is logged once, where it happens, with the names of command, status and
 * object; exceptions say so. Nothing here is for the fast path but the ring addresses that the
 * queue constructors hand out, and mdv_mr_find().
 *
 * Threads: different devices are independent. On one device commands, memory registration and
 * rules may run in parallel; a single object or queue belongs to one thread at a time.
 */
#ifndef MDV_H
#define MDV_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rte_bus_pci.h>
#include <rte_compat.h>
#include <rte_mempool.h>
#include <rte_pci.h>

#include "mdv_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ devices and capabilities */

/**
 * Capabilities the layer and its users act on; read once at open, range-checked, host order.
 * Source: QUERY_HCA_CAP (general and Ethernet offload pages), NIC vport context, PMTU register.
 */
struct mdv_caps {
	uint16_t pci_device_id, vport_num;
	uint8_t log_max_cq_sz;	/**< log2 of CQEs in a CQ. */
	uint8_t log_max_wq_sz;	/**< log2 of WQEs (RQ) or WQEBBs (SQ). */
	uint8_t log_max_rqt_size;
	uint8_t log_max_l2_table; /**< Addresses of the card's switch (MPFS); 0: not this function's. */
	uint8_t max_sq_desc_ds; /**< Largest SEND WQE in 16-byte units. */
	uint8_t min_inline_mode; /**< enum of nic_vport_context: 0 none, 1 L2, ... */
	uint8_t num_ports;	/**< Of the function. */
	uint8_t num_lag_ports;	/**< Ports that the device can bond, 0: it cannot bond this one. */
	uint16_t max_mtu;	/**< Largest MTU of the interface, bytes above Ethernet. */
	uint32_t max_lso_bytes;	/**< 0: no TSO. */
	uint32_t device_frequency_khz; /**< 0: the device told nothing that can be a clock. */
	bool csum, vlan_insert, vlan_strip, scatter_fcs, rss_ipv4_ipv6, tunnel_csum;
	bool wait_on_time;	/**< A send queue can wait for a device time (WAIT WQE). */
	bool mpw, ts_realtime, ts_free_running, umr_relaxed_ordering;
	bool q_counters, vport_counters, access_reg_user;
	uint32_t rx_hash_fields; /**< What a TIR can hash: enum mdv_hash_field bits. */
};

/** By which door a device is reached. */
enum mdv_open_mode {
	MDV_OPEN_VERBS, /**< Beside the kernel's driver, which keeps the interface (mlx5_ib). */
	MDV_OPEN_VFIO, /**< In its place: the whole function is the process's own (vfio-pci). */
};

/** One opened device. Fields are read-only for users. */
struct mdv_dev {
	enum mdv_open_mode mode;
	const struct mdv_backend *backend; /**< What differs by mode (mdv_backend.h). */
	struct rte_pci_addr pci;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char netdev_name[16];	/**< Kernel interface of port 1, empty when there is none (here). */
	char fw_version[64];
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	uint32_t pdn, tdn;
	struct mlx5dv_devx_uar *uar; /**< Non-cached doorbell page, shared by control paths. */
	uint32_t eqn;		/**< EQ of completion vector 0, for CQ contexts. */
	struct mdv_caps caps;
	struct mdv_mr_table *mr; /**< Registered mempools (mdv_mr.c). */
	struct mdv_rule_table *rules; /**< Matchers in use (mdv_rule.c). */
	struct mdv_counter_set *counters; /**< Which counters answer (mdv_counters.c). */
	struct mdv_obj *td;
	LIST_HEAD(, mdv_obj) objects; /**< All there are: mdv_objects_get(). */
	pthread_mutex_t objects_lock;
	/** The device's timer registers as the library maps them; NULL until a clock asked, or without. */
	const volatile void *core_clock;
	bool clock_real_time; /**< A clock is open that wants stamps in seconds and nanoseconds. */
	uint64_t refused;	/**< Commands refused so far, without those that only ask. */
	uint32_t lost;		/**< Queues and keys that the device would not destroy. */
	int netdev_sock;	/**< Socket for the interface's ioctls, -1 without one. */
	int netdev_index;	/**< The interface's number: a successor may have its name. */
	bool removed;		/**< Removed: mdv_removed(). */
	bool quiesced;		/**< And writes nothing any more: mdv_quiesced(). */
	uint64_t quiesce_until_tsc; /**< When mdv_quiesce_wait() gives up; 0: nobody waited yet. */
	uint64_t ibdev_inode;	/**< Of the device's folder in sysfs, 0: not known. */
	struct mdv_vfio *vfio;	/**< What only a VFIO context has (mdv_vfio.h), else NULL. */
	bool suspect;		/**< Something answered as if it were: mdv_suspect(). */
	/** Calls of the library that run commands, where the process has the device to itself. */
	uint32_t calls_begun, calls_ended;
};

/**
 * Opens the mlx5 device at a PCI address with DEVX, allocates PD, TD and UAR, reads capabilities
 * and registers the mempools there are.
 *
 * @param pci
 *   Address of the PCI function whose RDMA device is to be opened.
 * @param mode
 *   By which door. MDV_OPEN_VFIO wants a function bound to vfio-pci, whose IOMMU group is the
 *   process's to open.
 * @param[out] out
 *   The device, to be released by mdv_close(); NULL on failure.
 * @return
 *   0; -EINVAL no such mode; -ENODEV no RDMA device at that address; -ENOTSUP not mlx5, no DEVX, not
 *   Ethernet, or a required capability is missing; or the error of the step that failed. Nothing is
 *   left behind on failure.
 */
__rte_internal
int mdv_open(const struct rte_pci_addr *pci, enum mdv_open_mode mode, struct mdv_dev **out);

/** Releases everything; every object must have been destroyed. NULL is allowed. */
__rte_internal
void mdv_close(struct mdv_dev *dev);

/* ------------------------------------------------------------------ firmware commands, objects */

/**
 * Runs a command that concerns no object of ours (mlx5dv_devx_general_cmd).
 *
 * @param in
 *   Inbox, big-endian as the PRM lays it out.
 * @param[out] out
 *   Outbox; cleared here, filled by the device also on refusal.
 * @return
 *   0; or -errno: of the firmware's status where there is one, else the kernel's. One log line
 *   with names on refusal.
 */
__rte_internal
int mdv_cmd(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes);

/** As mdv_cmd() but a refusal is neither logged nor counted: for asking whether the device can. */
__rte_internal
int mdv_cmd_try(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out,
		size_t out_bytes);

/** A firmware object made by a create command; id is where the command table says it is. */
struct mdv_obj {
	struct mdv_dev *dev;
	struct mlx5dv_devx_obj *devx;
	uint16_t create_opcode;
	uint32_t id;
	LIST_ENTRY(mdv_obj) next; /**< Of the device's list. */
};

/**
 * The one create engine: any inbox whose opcode the command table has as a create command.
 *
 * @return
 *   The object, to be released by mdv_obj_destroy(). NULL with rte_errno: EINVAL for an inbox that
 *   is no create command or too short, else as mdv_cmd().
 */
__rte_internal
struct mdv_obj *mdv_obj_create(struct mdv_dev *dev, const void *in, size_t in_bytes);

/** Runs a modify command of the object; the inbox carries the object's id. As mdv_cmd(). */
__rte_internal
int mdv_obj_modify(struct mdv_obj *obj, const void *in, size_t in_bytes);

/** Runs a query command of the object; the inbox carries the object's id. As mdv_cmd(). */
__rte_internal
int mdv_obj_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		  size_t out_bytes);

/**
 * Destroys, trying up to three times within a few milliseconds. A refusal that lasts is logged and
 * returned, and the handle's memory freed in any case: the kernel keeps the object until the device
 * is closed. NULL is allowed.
 */
__rte_internal
int mdv_obj_destroy(struct mdv_obj *obj);

/* ------------------------------------------------------------------ queues */

/** Ring memory: hugepage (or ordinary, with --no-huge) memory registered as umem. */
struct mdv_ring {
	void *addr;
	size_t bytes;
	struct mlx5dv_devx_umem *umem;
};

struct mdv_cq {
	struct mdv_obj *obj;
	struct mdv_ring ring;	/**< CQEs, then the doorbell record. */
	struct mlx5_cqe64 *cqes; /**< Initialised as invalid. */
	volatile uint32_t *dbrec; /**< [0] consumer index, [1] arm; big-endian. */
	uint32_t cqn;
	uint8_t log_cqes;
	bool arm_event;		/**< An event came since it was armed; this and the next: mdv_cq_arm(). */
	uint32_t arm_sn, arm_ci; /**< What it was armed with last. */
	struct mdv_vector *vector; /**< Attached to it; NULL: none. */
};
struct mdv_vector; /* mdv_vector.h */
struct mdv_cq_attr {
	uint8_t log_cqes;
	int socket_id;
	bool overrun_ignore;
	const struct mdv_vector *vector; /**< Whose EQ hears of completions; NULL: event queue 0. */
};

/**
 * Creates a CQ of 64-byte CQEs, not armed.
 *
 * @param[out] cq
 *   Overwritten; zeroed on failure.
 * @return
 *   0; -EINVAL too large; -ENOMEM; or the device's answer.
 */
__rte_internal
int mdv_cq_create(struct mdv_dev *dev, const struct mdv_cq_attr *attr, struct mdv_cq *cq);

/** Idempotent on a zeroed struct; so are all destructors of queues. */
__rte_internal
void mdv_cq_destroy(struct mdv_cq *cq);

enum mdv_queue_state { MDV_QS_RST = 0, MDV_QS_RDY = 1, MDV_QS_ERR = 3 };

struct mdv_sq {
	struct mdv_obj *obj;
	struct mdv_ring ring;
	void *wqes;		/**< 64-byte WQEBBs. */
	volatile uint32_t *dbrec; /**< The SQ's producer word (already [1]), big-endian. */
	volatile uint64_t *db_reg; /**< Doorbell register: first 8 bytes of the control segment. */
	uint32_t sqn;
	uint8_t log_wqebbs;
	enum mdv_queue_state state;
	struct mlx5dv_devx_uar *uar; /**< Own doorbell register, unless db_shared. */
	bool db_wc;	/**< Write-combining: without rte_wmb() after the store it may linger. */
	bool db_shared; /**< The device's one register: writers of several SQs need a lock. */
};
struct mdv_sq_attr {
	uint8_t log_wqebbs;
	int socket_id;
	uint32_t cqn, tisn;
};

/** Creates an SQ in state RST, with a doorbell register of its own. As mdv_cq_create(). */
__rte_internal
int mdv_sq_create(struct mdv_dev *dev, const struct mdv_sq_attr *attr, struct mdv_sq *sq);

/**
 * Moves the queue: RST to RDY, RDY to RST or ERR, ERR to RST.
 *
 * @return
 *   0, with sq->state moved; -EINVAL for any other move; or the device's answer.
 */
__rte_internal
int mdv_sq_modify(struct mdv_sq *sq, enum mdv_queue_state to);

/**
 * Asks the device for the queue's state (QUERY_SQ), which it leaves by itself at an error, so that the
 * next mdv_sq_modify() starts from the right one. 0; -EPROTO for a state that there is not; or the
 * device's answer.
 */
__rte_internal
int mdv_sq_state_read(struct mdv_sq *sq);

/**
 * 0; or what the device answered, when it did not destroy the queue and may still use ring and buffers:
 * the ring is kept then, and the buffers are to be kept as well.
 */
__rte_internal
int mdv_sq_destroy(struct mdv_sq *sq);

struct mdv_rq {
	struct mdv_obj *obj;
	struct mdv_ring ring;
	void *wqes;		/**< 1 << log_wqes WQEs of 1 << log_stride_bytes: data segments. */
	volatile uint32_t *dbrec; /**< The RQ's producer word ([0]), big-endian. */
	uint32_t rqn;
	uint8_t log_wqes, log_stride_bytes;
	bool vlan_strip;	/**< As the device was last told. */
	enum mdv_queue_state state;
};
struct mdv_rq_attr {
	uint8_t log_wqes, log_stride_bytes; /**< Stride 4 (one segment) to 9. */
	int socket_id;
	uint32_t cqn, counter_set_id;
	bool vlan_strip, scatter_fcs;
};

/** Creates an RQ in state RST. As mdv_cq_create(); -ENOTSUP for an offload the device lacks. */
__rte_internal
int mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq);

/** As mdv_sq_modify(). */
__rte_internal
int mdv_rq_modify(struct mdv_rq *rq, enum mdv_queue_state to);

/** As mdv_sq_state_read(), by QUERY_RQ. */
__rte_internal
int mdv_rq_state_read(struct mdv_rq *rq);

/** Turns VLAN stripping on or off in state RDY; -EINVAL in others, where it is for creation. */
__rte_internal
int mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on);

/** As mdv_sq_destroy(). */
__rte_internal
int mdv_rq_destroy(struct mdv_rq *rq);

/** A TIS of priority 0 in the device's transport domain. */
__rte_internal
struct mdv_obj *mdv_tis_create(struct mdv_dev *dev);

/** A table of n RQ numbers, 1 <= n <= 1 << log_max_size, that may grow to 1 << log_max_size. */
__rte_internal
struct mdv_obj *mdv_rqt_create(struct mdv_dev *dev, uint8_t log_max_size, const uint32_t *rqn,
			       unsigned int n);

/** Replaces the whole table. */
__rte_internal
int mdv_rqt_modify(struct mdv_obj *rqt, const uint32_t *rqn, unsigned int n);

/** What a TIR may hash; same meaning as rx_hash_field_select. */
enum mdv_hash_field {
	MDV_HASH_SRC_IP = 1 << 0, MDV_HASH_DST_IP = 1 << 1,
	MDV_HASH_SRC_PORT = 1 << 2, MDV_HASH_DST_PORT = 1 << 3,
};
struct mdv_tir_attr {
	uint32_t rqn;		/**< Direct, when rqtn is 0. */
	uint32_t rqtn;
	bool ipv6, udp;		/**< l3_prot_type, l4_prot_type of the selector. */
	uint32_t hash_fields;	/**< 0: no hash; direct, or over a table of one entry. */
	bool symmetric;
	const uint8_t *key;	/**< 40 bytes, with hash_fields. */
};

/** NULL with EINVAL: hash without a key; ENOTSUP: fields beyond caps.rx_hash_fields. */
__rte_internal
struct mdv_obj *mdv_tir_create(struct mdv_dev *dev, const struct mdv_tir_attr *attr);

/** Changes key, fields and symmetry, and the table to rqtn; with rqtn 0 the destination stays. */
__rte_internal
int mdv_tir_modify_hash(struct mdv_obj *tir, const struct mdv_tir_attr *attr);

/** A set of queue counters for RQs (counter_set_id is the object's id). */
__rte_internal
struct mdv_obj *mdv_q_counter_create(struct mdv_dev *dev);

/**
 * Packets dropped for want of a posted WQE, on all RQs of the set since its creation: a count of 32 bits
 * that wraps. quiet: a refusal is neither logged nor counted. Without waiting: mdv_q_counter_read_async().
 */
__rte_internal
int mdv_q_counter_read(struct mdv_obj *counter, uint32_t *out_of_buffer, bool quiet);

/* ------------------------------------------------------------------ memory registration */

/** A registered stretch of host memory; lkey is big-endian, ready for a data segment. */
struct mdv_mr_range {
	uintptr_t start, end;
	uint32_t lkey_be;
};
/** Ranges of one mempool, sorted by start; stays valid until the mempool or the device goes. */
struct mdv_mr_set {
	const struct rte_mempool *mp;
	unsigned int n;
	struct mdv_mr_range range[];
};

/**
 * Registers a mempool (all its chunks, adjacent ones under one key) or finds it registered.
 *
 * Mempools that exist when the device is opened are registered then, those created later by their
 * ready event; all are forgotten by their destroy event, or when their memory is freed. Objects
 * whose data lies elsewhere (pinned external buffers) need mdv_mr_map_external() as well.
 *
 * @return
 *   The ranges; NULL with rte_errno. A failed registration is retried at most once a second: in
 *   between the old error comes back at once and is not logged again.
 */
__rte_internal
const struct mdv_mr_set *mdv_mr_mempool(struct mdv_dev *dev, struct rte_mempool *mp);

/**
 * Finds (never registers) the range that holds addr, over all mempools and external memory.
 * Takes a read lock that is held for writing for an instant only; may be called from a burst.
 * NULL if none, without logging or rte_errno.
 */
__rte_internal
const struct mdv_mr_range *mdv_mr_find(struct mdv_dev *dev, uintptr_t addr);

/** Registers memory that is no mempool's, for rte_dev_dma_map(). -EEXIST when it is already. */
__rte_internal
int mdv_mr_map_external(struct mdv_dev *dev, void *addr, size_t bytes);

/** Takes the same addr and bytes as were mapped. -ENOENT when they were not. */
__rte_internal
int mdv_mr_unmap_external(struct mdv_dev *dev, void *addr, size_t bytes);

/** Generation, moved when any range goes away: caches of ranges are void then. */
__rte_internal
uint32_t mdv_mr_generation(const struct mdv_dev *dev);

/* ------------------------------------------------------------------ steering */

/** A rule on the port's NIC RX root table, through mlx5dv_create_flow(). */
struct mdv_rule;
struct mdv_rule_attr {
	uint16_t priority;	/**< 0 first. */
	bool match_dmac;
	uint8_t dmac[6], dmac_mask[6];
	uint16_t ethertype;	/**< Host order, 0: any. */
	uint8_t ip_version;	/**< 0 any, 4, 6. */
	uint8_t ip_proto;	/**< 0: any. */
	bool match_frag, frag;	/**< IP fragment or not. */
	bool match_vlan;
	uint16_t vlan_id;	/**< Of the first tag, with match_vlan; 0xffff: untagged. */
	struct mdv_obj *tir;	/**< Destination; NULL: drop. */
	uint32_t tag;		/**< Flow tag in the CQE, 0: none. */
};

/** Rules of equal masks and priority share a matcher. The TIR must outlive its rules. */
__rte_internal
struct mdv_rule *mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr);

/** Removes the rule; as with mdv_obj_destroy() its memory is freed in any case. NULL is allowed. */
__rte_internal
int mdv_rule_destroy(struct mdv_rule *rule);

/* ------------------------------------------------------------------ port */

/** speed_mbps is 0 when unknown; without an interface here 1 Gb/s reads as verbs' one lane of 2.5. */
struct mdv_link {
	bool up;
	uint32_t speed_mbps;
};

/** State as ibv_query_port() tells it, speed as the interface does (ETHTOOL_GLINKSETTINGS), or verbs. */
__rte_internal
int mdv_port_link(struct mdv_dev *dev, struct mdv_link *link);

/**
 * The interface's address where there is one (it is what the vport lets in), else the vport's
 * permanent one (QUERY_NIC_VPORT_CONTEXT).
 */
__rte_internal
int mdv_port_mac(struct mdv_dev *dev, uint8_t mac[6]);

/**
 * Can the port be set from here? Beside the kernel's driver, which owns the port, only through its
 * interface, if that is in this network namespace; else always.
 */
__rte_internal
bool mdv_port_owned(const struct mdv_dev *dev);

/*
 * The port's settings. Beside the kernel's driver the functions below go to its interface
 * (netdevice(7)) and give -ENOTSUP when there is none in this network namespace, else what the
 * ioctl answers.
 */
__rte_internal
int mdv_port_mtu_get(struct mdv_dev *dev, uint16_t *mtu);
__rte_internal
int mdv_port_mtu_set(struct mdv_dev *dev, uint16_t mtu);
__rte_internal
int mdv_port_mac_set(struct mdv_dev *dev, const uint8_t mac[6]);
__rte_internal
int mdv_port_promisc_set(struct mdv_dev *dev, bool on);
__rte_internal
int mdv_port_allmulti_set(struct mdv_dev *dev, bool on);
__rte_internal
int mdv_port_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add);
__rte_internal
int mdv_port_up_get(struct mdv_dev *dev, bool *up);
__rte_internal
int mdv_port_up_set(struct mdv_dev *dev, bool up);

/** Upper bound of mdv_counters_count(). */
#define MDV_COUNTERS_MAX 64

/** How many vport and physical port counters this device answers for; fixed at open. */
__rte_internal
unsigned int mdv_counters_count(const struct mdv_dev *dev);

/** Name as in ethtool -S, such as "rx_vport_unicast_packets"; NULL beyond the last. */
__rte_internal
const char *mdv_counter_name(const struct mdv_dev *dev, unsigned int i);

/**
 * Reads the first n counters, raw: they count since the device started, for all its users. Those whose source
 * does not answer keep their last good values; that is one line until it answers again. Any thread.
 *
 * @return
 *   0; or why the first source that did not answer has not. All n values are set in any case.
 */
__rte_internal
int mdv_counters_read(struct mdv_dev *dev, uint64_t *values, unsigned int n);

/* ------------------------------------------------------------------ events and removal */

/** What mdv_events_take() tells, as bits. */
enum mdv_event {
	MDV_EVENT_LINK = 1 << 0, /**< The port went up or down: ask which. */
	MDV_EVENT_REMOVED = 1 << 1, /**< The device is removed, or past help: mdv_removed() from now on. */
};

/** Descriptor that becomes readable when there are events (ibv_get_async_event(3)); not to be read. */
__rte_internal
int mdv_event_fd(const struct mdv_dev *dev);

/** Takes all events that have come, without waiting. Bits of enum mdv_event. Logs nothing. */
__rte_internal
uint32_t mdv_events_take(struct mdv_dev *dev);

/**
 * The device is not there any more: commands fail, nothing is repeated, and failures are logged for
 * debugging only. What is destroyed is released on the host's side once the device is at rest,
 * whatever the kernel answers.
 */
__rte_internal
bool mdv_removed(const struct mdv_dev *dev);

/**
 * Of a device that is gone: nothing writes to the host's memory for it any more. The kernel answers
 * calls by EIO before it takes queues down, one command each (ib_uverbs_free_hw_resources), so that
 * an EIO proves nothing; IBV_EVENT_DEVICE_FATAL comes after the last of them (since Linux 5.8), and
 * the device's folder in sysfs goes after that.
 */
__rte_internal
bool mdv_quiesced(const struct mdv_dev *dev);

/**
 * Waits for that, for two seconds from the first call for this device on. What is released waits by
 * itself; an application that is to be told of the removal is told afterwards.
 *
 * @return
 *   true: at rest. false: not gone, or the kernel did not say in time.
 */
__rte_internal
bool mdv_quiesce_wait(struct mdv_dev *dev);
__rte_internal
void mdv_removed_set(struct mdv_dev *dev);

/** An answer was EIO or ENODEV without a status of the firmware: mdv_alive() tells what it means. */
__rte_internal
bool mdv_suspect(const struct mdv_dev *dev);

/** Asks the kernel whether the device is there; false makes it gone. Takes back the suspicion. */
__rte_internal
bool mdv_alive(struct mdv_dev *dev);

/**
 * Looks at the kernel's interface without asking the device: does its link run?
 * 0; -ENOTSUP no interface here; -ENODEV it is gone; other -errno. Logs nothing.
 */
__rte_internal
int mdv_port_running(struct mdv_dev *dev, bool *running);

/** Name of an error completion's syndrome, "LOCAL_PROT_ERR"; of unknown ones "UNKNOWN". */
__rte_internal
const char *mdv_syndrome_name(uint8_t syndrome);

#ifdef __cplusplus
}
#endif
#endif /* MDV_H */
