/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/**
 * @file
 * mlx5dv common layer: opens DEVX contexts of ConnectX devices through rdma-core, runs firmware
 * commands, creates firmware objects, and registers memory. No ethdev here.
 *
 * On failure, functions that return int return a negative errno, functions that return a pointer
 * return NULL, and both set rte_errno. A failure is logged once, where it happens, with the names of
 * command, status and object; functions that do not log are documented as such. The fast path uses
 * only the ring addresses that the queue constructors return, and mdv_mr_find().
 *
 * Threads: different devices are independent. On one device, commands, memory registration and
 * rules may run in parallel; an object or queue must be used by one thread at a time.
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
#include <rte_dev.h>
#include <rte_mempool.h>
#include <rte_pci.h>

#include "mdv_clock.h"
#include "mdv_port.h"

/* ------------------------------------------------------------------ devices and capabilities */

/**
 * Format of mini CQEs, which stand for CQEs that hardly differ from the one before them: what they have beside the
 * length (PRM, CQC.mini_cqe_res_format and mini_cqe_res_format_ext).
 */
enum mdv_mini_cqe {
	MDV_MINI_CQE_NONE,	/**< CQEs are not compressed. */
	MDV_MINI_CQE_HASH,	/**< RSS hash. */
	MDV_MINI_CQE_FLOW_TAG,	/**< Flow tag. */
	MDV_MINI_CQE_CSUM,	/**< Checksum of the packet's data. */
	MDV_MINI_CQE_L3_L4,	/**< Types of the L3 and L4 headers. */
	MDV_MINI_CQE_CSUM_STRIDE, /**< Checksum, and index of the first stride: for striding RQs. */
};

/** Number of lro_timer_supported_periods. */
#define MDV_LRO_PERIODS 4
/** log2 of the counters in the smallest bulk (mlx5_ifc.h, MLX5_FC_BULK_SIZE_FACTOR). */
#define MDV_LOG_FLOW_BULK 7

/**
 * Capabilities that the layer and its users need; read once at open, range-checked, host order.
 * Source: QUERY_HCA_CAP (general and Ethernet offload pages), NIC vport context, PMTU register.
 */
struct mdv_caps {
	uint16_t pci_device_id, vport_num;
	bool vf;		/**< A virtual function, by its id, or a sub-function. */
	uint8_t log_max_cq_sz;	/**< log2 of CQEs in a CQ. */
	uint8_t log_max_wq_sz;	/**< log2 of WQEs (RQ) or WQEBBs (SQ). */
	uint8_t log_max_rqt_size;
	uint8_t log_max_l2_table; /**< Entries of the MPFS table; 0: this function may not write it. */
	uint8_t max_sq_desc_ds; /**< Largest SEND WQE in 16-byte units. */
	uint8_t min_inline_mode; /**< Headers that a SEND WQE must carry inline: 0 none, 1 L2, 2 IP, 3 TCP or UDP. */
	uint8_t sq_inline_mode;	/**< The same as an SQ's context has it: 0 unless the vport determines it. */
	uint8_t log_min_strides; /**< Least log_strides of a striding RQ; 0: the device has none. */
	uint32_t max_flow_counters; /**< Of rules. */
	uint8_t flow_counter_bulks; /**< Numbers that can be created and read at once: bit i: 128 << i. */
	uint32_t max_rqs, max_sqs; /**< Queues of the function, each with a CQ of its own. */
	uint8_t num_ports;	/**< Ports of the function. */
	uint8_t num_lag_ports;	/**< Ports that the device can bond; 0: it cannot bond this one. */
	uint16_t max_mtu;	/**< Largest MTU, in bytes of Ethernet payload. */
	uint32_t max_lso_bytes;	/**< 0: no TSO. */
	uint16_t lro_us[MDV_LRO_PERIODS]; /**< Periods of LRO sessions, ascending; the first is 0: no LRO. */
	bool lro_size_l2;	/**< The size of an LRO packet counts from its Ethernet header on, else from TCP. */
	uint32_t device_frequency_khz; /**< 0: not reported, or outside the plausible range. */
	bool csum, vlan_insert, vlan_strip, scatter_fcs, rss_ipv4_ipv6;
	bool tunnel_vxlan, tunnel_gre, tunnel_geneve, tunnel_ipip; /**< Inner headers that it finds when sending. */
	bool swp_csum, swp_lso;	/**< It takes their offsets from the WQE, for checksums; for TSO, too. */
	bool wait_on_time;	/**< A send queue can wait for a device time (WAIT WQE). */
	bool mpw, ts_realtime, ts_free_running, umr_relaxed_ordering;
	bool q_counters, vport_counters, access_reg_user;
	uint32_t rx_hash_fields; /**< What a TIR can hash: enum mdv_hash_field bits. */
	uint8_t mini_cqes;	/**< Formats of compressed CQEs: bits 1 << enum mdv_mini_cqe; 0: none. */
	uint32_t flex_parsers;	/**< Headers that the firmware is configured to parse: enum mdv_flex_parser bits. */
	uint32_t min_rate_kbps, max_rate_kbps; /**< Range of mdv_rate_alloc(). */
	uint16_t num_rates;	/**< Different rates that SQs can have at a time; 0: none can be limited. */
	bool mini_cqes_enhanced; /**< It has the enhanced layout of compressed CQEs, too. */
};

/** Headers that not every firmware configuration parses; numbered as in flex_parser_protocols (mlx5_ifc.h). */
enum mdv_flex_parser {
	MDV_FLEX_GENEVE = 1 << 3, MDV_FLEX_MPLS_GRE = 1 << 4, MDV_FLEX_MPLS_UDP = 1 << 5, MDV_FLEX_VXLAN_GPE = 1 << 7,
	MDV_FLEX_ICMP = 1 << 8, MDV_FLEX_ICMP6 = 1 << 9, MDV_FLEX_GTPU = 1 << 11,
};

/** Way of access to a device. */
enum mdv_open_mode {
	MDV_OPEN_VERBS, /**< Through mlx5_ib, which keeps the kernel interface. */
	MDV_OPEN_VFIO, /**< Through vfio-pci: the process owns the function. */
};

/** One opened device. Fields are read-only for users. */
struct mdv_dev {
	enum mdv_open_mode mode;
	const struct mdv_port_ops *port; /**< Operations of the port. */
	const struct mdv_backend *backend; /**< Operations that differ by mode (mdv_private.h). */
	char name[RTE_DEV_NAME_MAX_LEN + 1]; /**< On its bus: "0000:c1:00.0", "mlx5_core.sf.4". */
	bool sf;		/**< A sub-function, on the auxiliary bus. */
	struct rte_pci_addr pci; /**< Of the function; of a sub-function: of its PF. */
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char netdev_name[16];	/**< Kernel interface of port 1; empty: none in this network namespace. */
	char fw_version[64];
	struct ibv_context *ibv;
	struct ibv_pd *pd;
	uint32_t pdn, tdn;
	struct mlx5dv_devx_uar *uar; /**< Non-cached doorbell page, shared by control paths. */
	uint32_t eqn;		/**< EQ of completion vector 0, for CQ contexts. */
	uint32_t vectors_taken;	/**< Verbs: calls of mdv_vector_alloc(), which take the completion vectors in turn. */
	struct mdv_caps caps;
	struct mdv_mr_table *mr; /**< Registered mempools (mdv_mr.c). */
	struct mdv_rule_table *rules, *tx_rules; /**< Roots of received and sent packets (mdv_rule.c). */
	struct mdv_counter_set *counters; /**< Counters that the device supports (mdv_counters.c). */
	struct mdv_recorder *recorder; /**< The last commands and events (mdv_recorder.h); shared by processes. */
	struct mdv_obj *td;
	LIST_HEAD(, mdv_obj) objects; /**< All existing objects: mdv_objects_get(). */
	pthread_mutex_t objects_lock;
	/** Timer registers, mapped by rdma-core; NULL: no clock opened yet, or not mapped. */
	const volatile void *core_clock;
	bool clock_real_time; /**< The open clock uses timestamps in the real-time format. */
	uint64_t refused;	/**< Commands refused so far, without mdv_cmd_try() and requests. */
	uint32_t lost;		/**< Queues and keys that the device refused to destroy. */
	int netdev_sock;	/**< Socket for ioctls on the interface; -1: no interface. */
	int event_fd;		/**< See mdv_event_fd(); -1: not set up. In VFIO mode of the vector. */
	int netdev_index;	/**< Interface index; another interface may reuse the name. */
	bool removed;		/**< See mdv_removed(). */
	bool quiesced;		/**< See mdv_quiesced(). */
	uint64_t quiesce_begin_tsc; /**< First mdv_quiesce_wait(); 0: not called yet. */
	bool failed;		/**< Removed because of a fatal error, which the kernel handles. */
	bool memory_kept;	/**< See mdv_memory_kept(). */
	uint64_t ibdev_inode;	/**< Inode of the device's sysfs directory; 0: unknown. */
	uint32_t mcast_max;	/**< Addresses that mcast() takes; 0: no limit is known. */
	struct mdv_rate_entry *rates; /**< Of a VFIO context: entries by index (mdv_rate.c); NULL: none was used. */
	struct mdv_vfio *vfio;	/**< State of a VFIO context (mdv_vfio.h), else NULL. */
	bool suspect;		/**< See mdv_suspect(). */
	/** Calls of rdma-core that run commands; counted in VFIO mode only. */
	uint32_t calls_begun, calls_ended;
};

/**
 * Opens the mlx5 device at a PCI address with DEVX, allocates PD, TD and UAR, reads capabilities
 * and registers all existing mempools.
 *
 * @param pci
 *   Address of the PCI function.
 * @param mode
 *   Way of access. MDV_OPEN_VFIO requires a function that is bound to vfio-pci and an IOMMU group
 *   that this process may open.
 * @param[out] out
 *   The device; release it with mdv_close(). NULL on failure.
 * @return
 *   0; -EINVAL no such mode; -ENODEV no RDMA device at that address; -ENOTSUP not mlx5, no DEVX, not
 *   Ethernet, or a required capability is missing; or the error of the step that failed. Nothing is
 *   left behind on failure.
 */
__rte_internal
int mdv_open(const struct rte_pci_addr *pci, enum mdv_open_mode mode, struct mdv_dev **out);

/** Where Linux lists sub-functions, and how their names begin (mlx5/core/sf/dev/dev.c, mlx5_sf_dev_add()). */
#define MDV_SF_FOLDER "/sys/bus/auxiliary/devices"
#define MDV_SF_PREFIX "mlx5_core.sf."

struct mdv_recorder_owner;

/**
 * The same for a device by its name on its bus, as in struct rte_device: a PCI address, or that of a sub-function
 * ("mlx5_core.sf.4"), which only MDV_OPEN_VERBS opens.
 *
 * @param owner
 *   For the file of the recorder (mdv_recorder.h) that is written if a step fails; NULL: none is.
 * @return
 *   As mdv_open(); also -EINVAL neither form of name; -ENOTSUP a sub-function by MDV_OPEN_VFIO.
 */
__rte_internal
int mdv_open_device(const char *name, enum mdv_open_mode mode, const struct mdv_recorder_owner *owner,
		    struct mdv_dev **out);

/** Closes the device. All its objects must have been destroyed before. NULL is allowed. */
__rte_internal
void mdv_close(struct mdv_dev *dev);

/* ------------------------------------------------------------------ firmware commands, objects */

/**
 * Runs a command that addresses no object of this layer (mlx5dv_devx_general_cmd()).
 *
 * @param in
 *   Inbox, big-endian as the PRM lays it out.
 * @param[out] out
 *   Outbox; cleared first, and filled by the device even if it refuses the command.
 * @return
 *   0, or a negative errno: of the firmware status if there is one, else of the kernel.
 */
__rte_internal
int mdv_cmd(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out, size_t out_bytes);

/** As mdv_cmd(), but a refusal is neither logged nor counted. For probing optional features. */
__rte_internal
int mdv_cmd_try(struct mdv_dev *dev, const void *in, size_t in_bytes, void *out,
		size_t out_bytes);

/** A firmware object. */
struct mdv_obj {
	struct mdv_dev *dev;
	struct mlx5dv_devx_obj *devx;
	uint16_t create_opcode;
	uint32_t id;		/**< From the outbox field that the command table names. */
	LIST_ENTRY(mdv_obj) next; /**< In the list of the device. */
};

/**
 * Creates a firmware object of any type.
 *
 * @param in
 *   Inbox of a command that the command table (prm/commands.yaml) lists as a create command.
 * @return
 *   The object; release it with mdv_obj_destroy(). NULL with rte_errno: EINVAL not a create command
 *   or too short, else as mdv_cmd().
 */
__rte_internal
struct mdv_obj *mdv_obj_create(struct mdv_dev *dev, const void *in, size_t in_bytes);

/** Runs a modify command on the object, whose id the inbox must contain. As mdv_cmd(). */
__rte_internal
int mdv_obj_modify(struct mdv_obj *obj, const void *in, size_t in_bytes);

/** Runs a query command on the object, whose id the inbox must contain. As mdv_cmd(). */
__rte_internal
int mdv_obj_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		  size_t out_bytes);

/**
 * Destroys the object, with up to three attempts within a few milliseconds. If all are refused, that
 * is logged and returned; the kernel then keeps the object until the device is closed. The handle
 * is freed in any case. NULL is allowed.
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
	struct mdv_ring ring;	/**< CQEs, followed by the doorbell record. */
	struct mlx5_cqe64 *cqes; /**< Initialised with opcode MLX5_CQE_INVALID. */
	volatile uint32_t *dbrec; /**< [0] consumer index, [1] arm; big-endian. */
	uint32_t cqn;
	uint8_t log_cqes;
	bool enhanced;		/**< Layout of its compressed CQEs. */
	bool arm_event;		/**< An event arrived since the CQ was armed; for mdv_cq_arm(). */
	uint32_t arm_sn, arm_ci; /**< Values of the last arming, for mdv_cq_arm(). */
	struct mdv_vector *vector; /**< Attached vector, or NULL. */
};
struct mdv_vector; /* mdv_vector.h */
struct mdv_cq_attr {
	uint8_t log_cqes;
	int socket_id;
	bool overrun_ignore;
	enum mdv_mini_cqe mini_cqe; /**< Of compressed CQEs, which only an RQ's CQ has. */
	/**
	 * Their enhanced layout: the device writes the number of its pass of the ring, modulo 256, to the signature of
	 * every CQE, and mini CQEs to entries without a title (PRM, CQC.cqe_compression_layout).
	 */
	bool enhanced;
	const struct mdv_vector *vector; /**< Its EQ receives completion events; NULL: EQ of vector 0. */
};

/**
 * Creates a CQ of 64-byte CQEs, not armed.
 *
 * @param[out] cq
 *   Overwritten; zeroed on failure.
 * @return
 *   0; -EINVAL too large; -ENOMEM; or the error of the device.
 */
__rte_internal
int mdv_cq_create(struct mdv_dev *dev, const struct mdv_cq_attr *attr, struct mdv_cq *cq);

/** Destroys the CQ. Like all destructors of queues it accepts a zeroed structure. */
__rte_internal
void mdv_cq_destroy(struct mdv_cq *cq);

/** States of an RQ or SQ (PRM, RQC.state and SQC.state). */
enum mdv_queue_state { MDV_QS_RST = 0, MDV_QS_RDY = 1, MDV_QS_ERR = 3 };

/** Work queue: what RQ and SQ have in common. Read-only for users. */
struct mdv_wq {
	const struct mdv_wq_ops *ops; /**< Commands of RQ or SQ. */
	struct mdv_obj *obj;	/**< NULL: not created. */
	struct mdv_ring ring;	/**< WQEs, then the doorbell record. */
	void *wqes;
	volatile uint32_t *dbrec; /**< Producer index: word [0] of the record for an RQ, [1] for an SQ; big-endian. */
	uint32_t number;	/**< rqn or sqn. */
	uint8_t log_wq_sz;	/**< log2 of WQEs of an RQ, of WQEBBs of an SQ. */
	uint8_t log_wq_stride;	/**< log2 of bytes per WQE or WQEBB. */
	enum mdv_queue_state state; /**< As far as the host knows: mdv_wq_state_read(). */
};

/**
 * Moves the queue by MODIFY_RQ or MODIFY_SQ: RST to RDY, RDY to RST or ERR, ERR to RST.
 *
 * @return
 *   0, with wq->state updated; -EINVAL for any other transition; or the error of the command.
 */
__rte_internal
int mdv_wq_modify(struct mdv_wq *wq, enum mdv_queue_state to);

/**
 * Reads the state from the device (QUERY_RQ, QUERY_SQ) into wq->state, so that the next mdv_wq_modify() starts
 * from the right one: a queue goes to ERR by itself at an error.
 *
 * @return
 *   0; -EPROTO for an undefined state; or the error of the command.
 */
__rte_internal
int mdv_wq_state_read(struct mdv_wq *wq);

/**
 * Reads how many WQEs of an RQ, or WQEBBs of an SQ, the device has consumed since RST, modulo 65536 (PRM, wq context,
 * hw_counter). 0, or the error of the command.
 */
__rte_internal
int mdv_wq_consumed(struct mdv_wq *wq, uint16_t *consumed);

/**
 * Destroys the RQ or SQ that wq is the base of, and zeroes all of it. Idempotent on a zeroed structure.
 *
 * @return
 *   0; or the error of the command when the queue was not destroyed and the device may still access ring and
 *   buffers: then the ring is leaked, and the caller must not free the buffers.
 */
__rte_internal
int mdv_wq_destroy(struct mdv_wq *wq);

/** Mapping of a doorbell page that secondary processes can have at the same address. */
struct mdv_doorbell {
	void *page;
	uint64_t offset;	/**< Of the page in the device's file. */
	unsigned int users;	/**< SQs; 0: the entry is free. Atomic. */
};
/** Entries of the table of a device, in memory that processes share: one for each register that is not shared. */
#define MDV_DOORBELLS_MAX 1024

/** Send queue; its WQEs are WQEBBs of 64 bytes. */
struct mdv_sq {
	struct mdv_wq wq;
	volatile uint64_t *db_reg; /**< Doorbell register: takes the first 8 bytes of the control segment. */
	struct mlx5dv_devx_uar *uar; /**< Page of the register. */
	struct mdv_doorbell *db; /**< The page that db_reg is in; NULL: secondary processes cannot map it. */
	/** Write-combining, and of this SQ alone: a store needs rte_wmb() before and mdv_wc_flush() after it. */
	bool db_wc;
	uint16_t rate_index;	/**< See mdv_sq_set_rate(). */
};
struct mdv_sq_attr {
	uint8_t log_wqebbs;
	int socket_id;
	uint32_t cqn, tisn;
	uint16_t rate_index; /**< Of an mdv_rate; 0: no limit. */
	bool db_wc;	/**< Prefer a write-combining doorbell register to the non-cached one of the context. */
};

/** Descriptor of the device, of which other processes can map doorbell pages. -1: through VFIO it may be unknown. */
__rte_internal
int mdv_device_fd(const struct mdv_dev *dev);
/** The MDV_DOORBELLS_MAX entries of a device; also in a secondary process. */
__rte_internal
const struct mdv_doorbell *mdv_doorbells(const struct mdv_dev *dev);

/** Creates an SQ in state RST. As mdv_cq_create(). */
__rte_internal
int mdv_sq_create(struct mdv_dev *dev, const struct mdv_sq_attr *attr, struct mdv_sq *sq);

/** Entry of the device's table of rates (PRM, SET_PP_RATE_LIMIT). */
struct mdv_rate {
	uint16_t index;		/**< 0: none. */
	struct mlx5dv_pp *pp;	/**< By verbs: its object. */
};

/**
 * Takes an entry for a rate, which is that of each SQ with its index. Equal rates share an entry.
 *
 * @param kbps
 *   Kbit/s of frames without FCS, preamble and gap (assumed).
 * @return
 *   0; -ENOTSUP the device or its kernel driver has no packet pacing; -EINVAL outside caps.min_rate_kbps to
 *   caps.max_rate_kbps; -ENOSPC caps.num_rates different rates are in use; or of the command. Logged.
 */
__rte_internal
int mdv_rate_alloc(struct mdv_dev *dev, uint64_t kbps, struct mdv_rate *rate);
/** Gives it back: no SQ may have its index any more. An empty one is allowed. */
__rte_internal
void mdv_rate_free(struct mdv_dev *dev, struct mdv_rate *rate);
/**
 * Limits the rate of an SQ, or with index 0 removes its limit: in state RDY at once, else when it becomes RDY, as it is
 * not known that the limit outlasts a reset. 0; or -errno of the command, with the limit as before.
 */
__rte_internal
int mdv_sq_set_rate(struct mdv_sq *sq, uint16_t index);

/** Receive queue; its WQEs are arrays of data segments. */
struct mdv_rq {
	struct mdv_wq wq;
	bool vlan_strip;	/**< Last value written to the device. */
};
/**
 * Sizes of a striding RQ (mlx5_ib_query_device() in drivers/infiniband/hw/mlx5/main.c). A WQE's buffer has at least
 * 1 << MDV_LOG_STRIDING_WQE_MIN bytes (DPDK, MLX5_MPRQ_LOG_MIN_STRIDE_WQE_SIZE, for a device that does not report it).
 */
#define MDV_LOG_STRIDES_MAX 16
#define MDV_LOG_STRIDE_MIN 6
#define MDV_LOG_STRIDE_MAX 13
#define MDV_LOG_STRIDING_WQE_MIN 14
/** WQE of a striding RQ: a next segment, which stays 0, and one data segment. */
#define MDV_LOG_STRIDING_WQE_BYTES 5
struct mdv_rq_attr {
	uint8_t log_wqes, log_stride_bytes; /**< Stride 4 (one segment) to 9. */
	/**
	 * Striding RQ: the device writes packets to consecutive strides of a WQE's buffer. Number and size of the
	 * strides; caps.log_min_strides is the least number. 0: an RQ with a WQE for each packet.
	 */
	uint8_t log_strides, log_stride_size;
	int socket_id;
	uint32_t cqn, counter_set_id;
	bool vlan_strip, scatter_fcs;
};

/** Creates an RQ in state RST. As mdv_cq_create(); -ENOTSUP for what the device lacks; -EINVAL for its sizes. */
__rte_internal
int mdv_rq_create(struct mdv_dev *dev, const struct mdv_rq_attr *attr, struct mdv_rq *rq);

/** Turns VLAN stripping on or off in state RDY; -EINVAL in other states, where mdv_rq_attr decides. */
__rte_internal
int mdv_rq_set_vlan_strip(struct mdv_rq *rq, bool on);

/** Creates a TIS of priority 0 in the transport domain of the device. */
__rte_internal
struct mdv_obj *mdv_tis_create(struct mdv_dev *dev);

/** Creates an RQT of n RQ numbers, 1 <= n <= 1 << log_max_size; it can grow to 1 << log_max_size. */
__rte_internal
struct mdv_obj *mdv_rqt_create(struct mdv_dev *dev, uint8_t log_max_size, const uint32_t *rqn,
			       unsigned int n);

/** Replaces the whole table. */
__rte_internal
int mdv_rqt_modify(struct mdv_obj *rqt, const uint32_t *rqn, unsigned int n);

/** Fields that a TIR can hash; numbered as in rx_hash_field_select (PRM, TIR context). */
enum mdv_hash_field {
	MDV_HASH_SRC_IP = 1 << 0, MDV_HASH_DST_IP = 1 << 1,
	MDV_HASH_SRC_PORT = 1 << 2, MDV_HASH_DST_PORT = 1 << 3,
};
struct mdv_tir_attr {
	uint32_t rqn;		/**< Destination if rqtn is 0. */
	uint32_t rqtn;
	bool ipv6, udp;		/**< l3_prot_type, l4_prot_type of the selector. */
	uint32_t hash_fields;	/**< 0: no hash; then rqtn must have one entry. */
	bool symmetric;
	bool inner;		/**< The headers in a tunnel are hashed, and reported in the CQE. Not changed later. */
	const uint8_t *key;	/**< 40 bytes; required if hash_fields is not 0. */
	uint8_t lro_size;	/**< Most bytes of an LRO packet, in MDV_LRO_UNIT; 0: no LRO. Not changed later. */
	uint16_t lro_us;	/**< Of mdv_caps.lro_us: duration of an LRO session. Not changed later. */
};
/** Unit of mdv_tir_attr.lro_size in bytes (DPDK mlx5.h, MLX5_LRO_SEG_CHUNK_SIZE). */
#define MDV_LRO_UNIT 256

/** Creates a TIR. NULL with EINVAL: hash without a key; ENOTSUP: fields not in caps.rx_hash_fields, or LRO. */
__rte_internal
struct mdv_obj *mdv_tir_create(struct mdv_dev *dev, const struct mdv_tir_attr *attr);

/** Changes key, fields and symmetry, and the RQT unless rqtn is 0. */
__rte_internal
int mdv_tir_modify_hash(struct mdv_obj *tir, const struct mdv_tir_attr *attr);

/** Allocates a queue counter set for RQs; its counter_set_id is the id of the object. */
__rte_internal
struct mdv_obj *mdv_q_counter_create(struct mdv_dev *dev);

/**
 * Reads the number of packets that were dropped because an RQ of the set had no WQE posted. The
 * counter has 32 bits and wraps (QUERY_Q_COUNTER, out_of_buffer). mdv_q_counter_read_async() does
 * not wait for the device.
 *
 * @param quiet
 *   Neither log nor count a refusal.
 */
__rte_internal
int mdv_q_counter_read(struct mdv_obj *counter, uint32_t *out_of_buffer, bool quiet);

/* ------------------------------------------------------------------ memory registration */

/** A registered range of host memory; lkey in big-endian, as a data segment has it. */
struct mdv_mr_range {
	uintptr_t start, end;
	uint32_t lkey_be;
};
/** Ranges of a mempool, sorted by start. Valid until the mempool is freed or the device closed. */
struct mdv_mr_set {
	const struct rte_mempool *mp;
	unsigned int n;
	struct mdv_mr_range range[];
};

/**
 * Returns the registered ranges of a mempool and registers the mempool if necessary; adjacent chunks
 * share a memory key.
 *
 * Existing mempools are registered by mdv_open(), later ones at their ready event, those with pinned external
 * buffers by this function: rte_pktmbuf_pool_create_extbuf() pins buffers after that event. Of these mempools the
 * buffers are registered, not the mbufs. They are deregistered at their destroy event or when their memory is freed.
 *
 * @return
 *   The ranges; NULL with rte_errno. A failed registration is retried at most once per second; until
 *   then the same error is returned without a log line.
 */
__rte_internal
const struct mdv_mr_set *mdv_mr_mempool(struct mdv_dev *dev, struct rte_mempool *mp);

/** Has the mempool pinned external buffers (rte_pktmbuf_pool_create_extbuf())? It need not be one of mbufs. */
__rte_internal
bool mdv_mr_pinned(struct rte_mempool *mp);

/**
 * Finds the registered range that contains addr, in mempools and external memory. Takes a read
 * lock that writers hold only briefly; may be called from a burst function. NULL if there is none;
 * neither logs nor sets rte_errno.
 */
__rte_internal
const struct mdv_mr_range *mdv_mr_find(struct mdv_dev *dev, uintptr_t addr);

/**
 * As mdv_mr_find(), in a secondary process too: takes no lock. false: there is none, or the process that registers was
 * killed in the middle of it.
 */
__rte_internal
bool mdv_mr_find_shared(const struct mdv_dev *dev, uintptr_t addr, struct mdv_mr_range *out);

/** Registers all mempools that exist: after mdv_open(), those that other processes created. A failure is logged. */
__rte_internal
void mdv_mr_existing(struct mdv_dev *dev);

/** Deregisters a mempool that is about to be freed by another process. No effect if it is not registered. */
__rte_internal
void mdv_mr_forget(struct mdv_dev *dev, const struct rte_mempool *mp);

/** Registers memory outside mempools, for rte_dev_dma_map(). -EEXIST: already registered. */
__rte_internal
int mdv_mr_map_external(struct mdv_dev *dev, void *addr, size_t bytes);

/** Deregisters it; addr and bytes as in mdv_mr_map_external(). -ENOENT: not registered. */
__rte_internal
int mdv_mr_unmap_external(struct mdv_dev *dev, void *addr, size_t bytes);

/** Generation of the ranges. It changes when a range is deregistered, which invalidates caches. */
__rte_internal
uint32_t mdv_mr_generation(const struct mdv_dev *dev);

/* ------------------------------------------------------------------ port */

/**
 * Returns whether this process can change the settings of the port: in VFIO mode always, in verbs mode
 * if the kernel interface is in this network namespace.
 */
__rte_internal
bool mdv_port_owned(const struct mdv_dev *dev);

/** Upper bound of mdv_counters_count(), and of all counters. */
#define MDV_COUNTERS_MAX 96

/** Number of vport and physical port counters of the device; constant after open. */
__rte_internal
unsigned int mdv_counters_count(const struct mdv_dev *dev);

/** Name of a counter in xstats, such as "rx_unicast_packets"; NULL beyond the last. */
__rte_internal
const char *mdv_counter_name(const struct mdv_dev *dev, unsigned int i);

/**
 * Reads the first n counters. They are raw: they count from the start of the device and for all its
 * users. If a source of counters fails, its counters keep their last values and one line is logged
 * until it succeeds again. May be called from any thread.
 *
 * @return
 *   0, or the error of the first source that failed. All n values are set in any case.
 */
__rte_internal
int mdv_counters_read(struct mdv_dev *dev, uint64_t *values, unsigned int n);
/**
 * The same with further counters, which cost two commands and an ioctl more: rx_phy_undersize_packets (PPCNT, RFC
 * 2819), rx_steer_missed_packets, rx_vport_down_packets, tx_vport_down_packets (QUERY_VNIC_ENV), rx_kernel_packets,
 * tx_kernel_packets (of the kernel interface itself). values: MDV_COUNTERS_MAX of them, by mdv_counters_find().
 */
__rte_internal
int mdv_counters_read_all(struct mdv_dev *dev, uint64_t *values);
/** What they were when the device was opened; valid until it is closed. */
__rte_internal
const uint64_t *mdv_counters_opened(const struct mdv_dev *dev);
/** Index of a counter, or of a further one. -ENOENT: the device, or access to it, does not have it. */
__rte_internal
int mdv_counters_find(const struct mdv_dev *dev, const char *name);

/* ------------------------------------------------------------------ events and removal */

/** Events that mdv_events_take() returns, as bits. */
enum mdv_event {
	MDV_EVENT_LINK = 1 << 0, /**< The link went up or down: read it with mdv_port_ops.link. */
	MDV_EVENT_REMOVED = 1 << 1, /**< The device was removed or failed: mdv_removed() is true. */
};

/** Descriptor that is readable when there are events (ibv_get_async_event(3)). Do not read from it. */
__rte_internal
int mdv_event_fd(const struct mdv_dev *dev);

/** Takes all pending events without waiting. Bits of enum mdv_event. Logs nothing. */
__rte_internal
uint32_t mdv_events_take(struct mdv_dev *dev);

/**
 * Returns whether the device was removed. Commands then fail without being repeated, and failures
 * are logged at level debug only. Destructors release host memory once the device is quiesced,
 * whatever the kernel returns.
 */
__rte_internal
bool mdv_removed(const struct mdv_dev *dev);

/**
 * Returns whether a removed device does no DMA any more. EIO from a call does not prove that: the
 * kernel disassociates the context before it destroys the queues, with one command each (Linux,
 * ib_uverbs_free_hw_resources()). IBV_EVENT_DEVICE_FATAL without a port is reported after the last of these
 * commands (since Linux 5.8), and the sysfs directory of the device is deleted after that.
 *
 * IBV_EVENT_DEVICE_FATAL of port 1 reports the begin of a fatal error (mlx5_ib, mlx5_ib_handle_event()). Destroy
 * commands then succeed without being executed, and the queues may run until mlx5_core has reset the device and
 * unregistered it (mlx5_health_try_recover()). Through VFIO this driver ends the DMA, by the function's Bus Master
 * Enable bit.
 */
__rte_internal
bool mdv_quiesced(const struct mdv_dev *dev);

/**
 * Waits until a removed device is quiesced, up to two seconds after the first call for this device, ten seconds
 * after a fatal error. Destructors of queues call it. An application must be notified of the removal after this wait.
 *
 * @return
 *   true: quiesced. false: the device is not removed, or the time is over: mdv_memory_kept() if it is.
 */
__rte_internal
bool mdv_quiesce_wait(struct mdv_dev *dev);
/**
 * Returns whether memory that the device was given is kept permanently, because the device was not quiesced in time.
 * Logged once.
 */
__rte_internal
bool mdv_memory_kept(const struct mdv_dev *dev);
/** Marks the device as removed. */
__rte_internal
void mdv_removed_set(struct mdv_dev *dev);

/** A call failed like those of a removed device, without firmware status: call mdv_alive() to find out why. */
__rte_internal
bool mdv_suspect(const struct mdv_dev *dev);

/** Checks whether the device is present, marks it as removed if not, and clears mdv_suspect(). */
__rte_internal
bool mdv_alive(struct mdv_dev *dev);

/** Name of the syndrome of an error completion, such as "LOCAL_PROT_ERR"; "UNKNOWN". */
__rte_internal
const char *mdv_syndrome_name(uint8_t syndrome);

/** Reads a decimal or 0x hexadecimal number from a file of sysfs. 0; -EINVAL; or the error of opening it. */
__rte_internal
int mdv_sysfs_number(const char *path, long *number);

#endif /* MDV_H */
