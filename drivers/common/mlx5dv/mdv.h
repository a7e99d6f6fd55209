/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * mlx5dv common layer: opens DEVX contexts of ConnectX devices through rdma-core, runs firmware
 * commands, creates firmware objects, and registers memory. No ethdev here.
 *
 * Everything returns 0 or a negative errno and sets rte_errno; a failure is logged once, where it
 * happens, with the names of command, status and object. Nothing here is for the fast path but
 * the ring addresses that the queue constructors hand out.
 */
#ifndef MDV_H
#define MDV_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rte_bus_pci.h>
#include <rte_mempool.h>
#include <rte_pci.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ devices and capabilities */

/** Capabilities the layer and its users act on; read once at open, range-checked, host order. */
struct mdv_caps {
	uint16_t pci_device_id, vport_num;
	uint8_t log_max_cq_sz;	/**< log2 of CQEs in a CQ. */
	uint8_t log_max_wq_sz;	/**< log2 of WQEs (RQ) or WQEBBs (SQ). */
	uint8_t log_max_rqt_size;
	uint8_t max_sq_desc_ds; /**< Largest SEND WQE in 16-byte units. */
	uint8_t min_inline_mode; /**< enum of nic_vport_context: 0 none, 1 L2, ... */
	uint8_t num_lag_ports;
	uint16_t max_mtu;
	uint32_t max_lso_bytes;	/**< 0: no TSO. */
	uint32_t device_frequency_khz;
	bool csum, vlan_insert, vlan_strip, scatter_fcs, rss_ipv4_ipv6, tunnel_csum;
	bool mpw, ts_realtime, ts_free_running, umr_relaxed_ordering;
	bool q_counters, vport_counters, access_reg_user;
	uint32_t rx_hash_fields; /**< What a TIR can hash: enum mdv_hash_field bits. */
};

/** One opened device. Fields are read-only for users. */
struct mdv_dev {
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
	uint64_t refused;	/**< Firmware commands refused so far, queries made to ask aside. */
	int netdev_sock;	/**< Socket for the interface's ioctls, -1 without one. */
};

/**
 * Opens the mlx5 device at a PCI address with DEVX, allocates PD, TD and UAR and reads capabilities.
 * @return 0; -ENODEV no RDMA device at that address; -ENOTSUP not mlx5 or no DEVX; or the error of
 *   the step that failed. Nothing is left behind on failure.
 */
int mdv_open(const struct rte_pci_addr *pci, struct mdv_dev **out);
/** Releases everything; every object must have been destroyed. NULL is allowed. */
void mdv_close(struct mdv_dev *dev);

/* ------------------------------------------------------------------ firmware commands, objects */

/**
 * Runs a general command. out must be zeroed by nobody: it is cleared here.
 * @return 0 or -errno of the firmware's status; one log line with names on refusal.
 */
int mdv_cmd(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes);
/** As mdv_cmd() but a refusal is not logged: for asking whether the device can. */
int mdv_cmd_try(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes);

/** A firmware object made by a create command; id is where the command table says it is. */
struct mdv_obj {
	struct mdv_dev *dev;
	struct mlx5dv_devx_obj *devx;
	uint16_t create_opcode;
	uint32_t id;
};
/** The one create engine. NULL with rte_errno set on failure. */
struct mdv_obj *mdv_obj_create(struct mdv_dev *dev, const void *in, size_t in_bytes);
int mdv_obj_modify(struct mdv_obj *obj, const void *in, size_t in_bytes);
int mdv_obj_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out, size_t out_bytes);
/** Destroys; a refusal is logged, the memory is freed in any case and the error returned. NULL is allowed. */
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
};
struct mdv_cq_attr {
	uint8_t log_cqes;
	int socket_id;
	bool overrun_ignore;
};
int mdv_cq_create(struct mdv_dev *dev, const struct mdv_cq_attr *attr, struct mdv_cq *cq);
void mdv_cq_destroy(struct mdv_cq *cq); /**< Idempotent on a zeroed struct; so are all below. */

enum mdv_queue_state { MDV_QS_RST = 0, MDV_QS_RDY = 1, MDV_QS_ERR = 3 };

struct mdv_sq {
	struct mdv_obj *obj;
	struct mdv_ring ring;
	void *wqes;		/**< 64-byte WQEBBs. */
	volatile uint32_t *dbrec; /**< The SQ's producer word (already [1]), big-endian. */
	volatile uint64_t *db_reg; /**< UAR doorbell register: first 8 bytes of the control segment. */
	uint32_t sqn;
	uint8_t log_wqebbs;
	enum mdv_queue_state state;
	struct mlx5dv_devx_uar *uar; /**< Own doorbell register, unless db_shared. */
	bool db_wc;	/**< The register is write-combining: rte_wmb() after the store, or it may linger. */
	bool db_shared; /**< The device's one register: writers of several SQs need a common lock. */
};
struct mdv_sq_attr {
	uint8_t log_wqebbs;
	int socket_id;
	uint32_t cqn, tisn;
};
int mdv_sq_create(struct mdv_dev *dev, const struct mdv_sq_attr *attr, struct mdv_sq *sq);
int mdv_sq_modify(struct mdv_sq *sq, enum mdv_queue_state to);
void mdv_sq_destroy(struct mdv_sq *sq);

struct mdv_rq {
	struct mdv_obj *obj;
	struct mdv_ring ring;
	void *wqes;		/**< 1 << log_wqes entries of 1 << log_stride_bytes bytes of data segments. */
	volatile uint32_t *dbrec; /**< The RQ's producer word ([0]), big-endian. */
	uint32_t rqn;
	uint8_t log_wqes, log_stride_bytes;
	enum mdv_queue_state state;
};
struct mdv_rq_attr {
	uint8_t log_wqes, log_stride_bytes;
	int socket_id;
	uint32_t cqn, counter_set_id;
	bool vlan_strip, scatter_fcs;
};
int mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq);
int mdv_rq_modify(struct mdv_rq *rq, enum mdv_queue_state to);
int mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on);
void mdv_rq_destroy(struct mdv_rq *rq);

struct mdv_obj *mdv_tis_create(struct mdv_dev *dev);
struct mdv_obj *mdv_rqt_create(struct mdv_dev *dev, uint8_t log_max_size, const uint32_t *rqn, unsigned n);
int mdv_rqt_modify(struct mdv_obj *rqt, const uint32_t *rqn, unsigned n);

/** What a TIR may hash; same meaning as rx_hash_field_select. */
enum mdv_hash_field {
	MDV_HASH_SRC_IP = 1 << 0, MDV_HASH_DST_IP = 1 << 1,
	MDV_HASH_SRC_PORT = 1 << 2, MDV_HASH_DST_PORT = 1 << 3,
};
struct mdv_tir_attr {
	uint32_t rqn;		/**< Direct, when rqtn is 0. */
	uint32_t rqtn;
	bool ipv6, udp;		/**< l3_prot_type, l4_prot_type of the selector. */
	uint32_t hash_fields;	/**< 0: no hash, direct or first entry. */
	bool symmetric;
	const uint8_t *key;	/**< 40 bytes, with hash_fields. */
};
struct mdv_obj *mdv_tir_create(struct mdv_dev *dev, const struct mdv_tir_attr *attr);
int mdv_tir_modify_hash(struct mdv_obj *tir, const struct mdv_tir_attr *attr);

struct mdv_obj *mdv_q_counter_create(struct mdv_dev *dev);
int mdv_q_counter_read(struct mdv_obj *counter, uint64_t *out_of_buffer);

/* ------------------------------------------------------------------ memory registration */

/** A registered stretch of host memory; lkey is big-endian, ready for a data segment. */
struct mdv_mr_range {
	uintptr_t start, end;
	uint32_t lkey_be;
};
/** Ranges of one mempool, sorted by start; stays valid until the mempool or the device goes. */
struct mdv_mr_set {
	const struct rte_mempool *mp;
	unsigned n;
	struct mdv_mr_range range[];
};
/**
 * Registers a mempool (all its chunks) or finds it registered. Mempools created later are
 * registered by their ready event, and forgotten by their destroy event.
 * NULL with rte_errno; a failed registration is retried at most once a second.
 */
const struct mdv_mr_set *mdv_mr_mempool(struct mdv_dev *dev, struct rte_mempool *mp);
/** Finds (never registers) the range that holds addr, over all mempools and external memory. NULL if none. */
const struct mdv_mr_range *mdv_mr_find(struct mdv_dev *dev, uintptr_t addr);
/** Memory that is no mempool's: rte_dev_dma_map(). */
int mdv_mr_map_external(struct mdv_dev *dev, void *addr, size_t bytes);
int mdv_mr_unmap_external(struct mdv_dev *dev, void *addr, size_t bytes);
/** Generation, moved when any range goes away: caches of ranges are void then. */
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
	bool match_vlan; uint16_t vlan_id; /**< First tag; match_vlan with vlan_id 0xffff: untagged. */
	struct mdv_obj *tir;	/**< Destination; NULL: drop. */
	uint32_t tag;		/**< Flow tag in the CQE, 0: none. */
};
struct mdv_rule *mdv_rule_create(struct mdv_dev *dev, const struct mdv_rule_attr *attr);
int mdv_rule_destroy(struct mdv_rule *rule);

/* ------------------------------------------------------------------ port */

struct mdv_link { bool up; uint32_t speed_mbps; };
int mdv_port_link(struct mdv_dev *dev, struct mdv_link *link); /**< ibv_query_port */
/** The interface's address where there is one (it is what the vport lets in), else the vport's own. */
int mdv_port_mac(struct mdv_dev *dev, uint8_t mac[6]);
/** The kernel owns the port: these go to its interface. -ENOTSUP when there is none in this netns. */
int mdv_port_mtu_get(struct mdv_dev *dev, uint16_t *mtu);
int mdv_port_mtu_set(struct mdv_dev *dev, uint16_t mtu);
int mdv_port_mac_set(struct mdv_dev *dev, const uint8_t mac[6]);
int mdv_port_promisc_set(struct mdv_dev *dev, bool on);
int mdv_port_allmulti_set(struct mdv_dev *dev, bool on);
int mdv_port_mcast(struct mdv_dev *dev, const uint8_t mac[6], bool add);
int mdv_port_up_set(struct mdv_dev *dev, bool up);

/** Vport and physical counters; names by mdv_counter_name(). */
#define MDV_COUNTERS_MAX 64
unsigned mdv_counters_count(const struct mdv_dev *dev);
const char *mdv_counter_name(const struct mdv_dev *dev, unsigned i); /**< "rx_vport_unicast_packets" */
int mdv_counters_read(struct mdv_dev *dev, uint64_t *values, unsigned n);

/* ------------------------------------------------------------------ clock */

/** One consistent reading of the kernel's clock page, taken with bounded effort. */
struct mdv_clock_point {
	uint64_t ns, cycles, frac, mask;
	uint32_t mult, shift;
	uint64_t window_cycles; /**< |delta| up to which this point may be used: from mult, shift, mask. */
};
int mdv_clock_read(struct mdv_dev *dev, struct mdv_clock_point *point); /**< -EAGAIN busy, -ENOTSUP no page */
int mdv_clock_raw(struct mdv_dev *dev, uint64_t *cycles); /**< Core clock counter (ibv_query_rt_values_ex) */

#ifdef __cplusplus
}
#endif
#endif /* MDV_H */
