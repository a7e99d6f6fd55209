/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The emulated machine and its devices: types and functions common to all layers of the emulator.
 *
 * One machine per process holds all emulated ports. One lock protects the whole model: the front
 * end holds it during each kernel call, the engine thread during each batch of work.
 */
#ifndef EMU_DEV_H
#define EMU_DEV_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu_clock.h"
#include "emu_hca.h"

#define EMU_MAX_PORTS 16
/** Of pause frames by priority (IEEE 802.1Qbb). */
#define EMU_PRIORITIES 8
#define EMU_PAGE_BYTES 4096u
/* mmap offsets of special pages of a uverbs device (drivers/infiniband/hw/mlx5/main.c, mlx5_ib_mmap()). */
#define EMU_CLOCK_INFO_OFFSET 0x700000u
#define EMU_CORE_CLOCK_OFFSET 0x500000u
/** Page of the counter's registers in BAR 0: initialisation segment, internal_timer. */
#define EMU_BAR_COUNTER_OFFSET 0x1000u
#define EMU_UAR_OFFSET 0x10000000u /**< UAR page i is at EMU_UAR_OFFSET + i * 4096. */
#define EMU_FILE_BYTES (1u << 30)
/**
 * A byte for each page of the file at which a mapping may begin: its number of pages, or 0. Every process that has the
 * descriptor can read it. First those of device memory, then UAR pages.
 */
#define EMU_MAP_TABLE_OFFSET (EMU_UAR_OFFSET - 0x10000u)
#define EMU_MAP_TABLE_DM 0u
#define EMU_MAP_TABLE_UAR 256u
#define EMU_PP_ENTRIES 128u /**< Most entries of the table of rates, the reserved first one included. */

/** Of variables that every frame reads: in a shared library they are read without their address from a table. */
#define EMU_OWN __attribute__((visibility("hidden")))

struct emu_dev;
struct emu_ctx;
struct emu_obj;
struct emu_iommu;
struct emu_pci;
struct emu_wire_port;

/**
 * Capabilities by which card models differ, by their names in the PRM: X(name, largest value). Commands and the
 * data path refuse what a card without the capability refuses.
 */
#define EMU_PROFILE_GENERAL(X) \
	X(access_register_user, 1) \
	X(cqe_128_always, 1) \
	X(cqe_compression_max_num, 64) \
	X(device_frequency_mhz, UINT16_MAX) /* 0: that of the counter */ \
	X(enhanced_cqe_compression, 1) \
	X(ext_stride_num_range, 1) \
	X(flex_parser_protocols, UINT32_MAX) /* those that are not modelled have no effect */ \
	X(flow_counter_bulk_alloc, UINT8_MAX) /* bit i: bulks of 128 << i */ \
	X(lag_master, 1) \
	X(log_max_flow_counter_bulk, 11) \
	X(log_max_qp, 18) \
	X(log_max_rqt_size, 11) \
	X(log_max_uctx, 15) /* 0: firmware parameter UCTX_EN is off */ \
	X(mini_cqe_resp_flow_tag, 1) \
	X(mini_cqe_resp_l3_l4_tag, 1) \
	X(mini_cqe_resp_stride_index, 1) \
	X(relaxed_ordering_read, 1) \
	X(relaxed_ordering_write, 1) \
	X(steering_format_version, 2) \
	X(wait_on_time, 1) \
	/* Limits: as many as numbers of objects can have bits, and rings that fit into memory. */ \
	X(log_max_cq, 24) \
	X(log_max_cq_sz, 22) \
	X(log_max_mkey, 24) \
	X(log_max_pd, 24) \
	X(log_max_rq, 24) \
	X(log_max_rqt, 24) \
	X(log_max_sq, 24) \
	X(log_max_tir, 24) \
	X(log_max_tis, 24) \
	X(log_max_transport_domain, 24) \
	X(log_max_wq_sz, 15)
/** The same for the page of Ethernet offloads. */
#define EMU_PROFILE_ETHERNET(X) \
	X(cqe_checksum_full, 1) \
	X(enhanced_multi_pkt_send_wqe, 1) \
	X(lro_cap, 1) \
	X(lro_max_msg_sz_mode, 1) /* a packet's size counts 0: from TCP on, 1: from L2 on */ \
	X(lro_min_mss_size, UINT16_MAX) \
	X(lro_psh_flag, 1) \
	X(lro_time_stamp, 1) \
	X(multi_pkt_send_wqe, 1) \
	X(scatter_fcs, 1) \
	X(swp, 1) \
	X(swp_csum, 1) \
	X(swp_lso, 1) \
	X(tunnel_stateless_geneve_rx, 1) \
	X(tunnel_stateless_geneve_tx, 1) \
	X(tunnel_stateless_gre, 1) \
	X(tunnel_stateless_ip_over_ip_rx, 1) \
	X(tunnel_stateless_ip_over_ip_tx, 1) \
	X(wqe_inline_mode, 2) /* 0: L2, 1: as in the vport context, 2: not required */ \
	X(wqe_vlan_insert, 1)
/** The same for the receive tables in the page of flow tables. */
#define EMU_PROFILE_FLOW_TABLE(X) \
	X(decap, 1) \
	X(ignore_flow_level, 1) \
	X(max_modify_header_actions, UINT8_MAX) \
	X(pop_vlan, 1) \
	X(reformat_and_fwd_to_table, 1) \
	X(reformat_and_vlan_action, 1) \
	X(reformat_l3_tunnel_to_l2, 1)
/** The same of the send tables; P: prefix of the names. */
#define EMU_PROFILE_FLOW_TABLE_TX(X, P) \
	X(P##max_modify_header_actions, UINT8_MAX) \
	X(P##push_vlan, 1) \
	X(P##reformat, 1) \
	X(P##reformat_l2_to_l3_tunnel, 1)
/** The same for the page of QoS, which a card without packet_pacing has not. */
#define EMU_PROFILE_QOS(X) \
	X(packet_pacing, 1) \
	X(packet_pacing_burst_bound, 1) \
	X(packet_pacing_max_rate, UINT32_MAX) /* Kbit/s */ \
	X(packet_pacing_min_rate, UINT32_MAX) \
	X(packet_pacing_rate_table_size, EMU_PP_ENTRIES) \
	X(packet_pacing_typical_size, 1) \
	X(packet_pacing_uid, 1)
/** The NIC vport context has the last one. */
#define EMU_PROFILE_CAPS(X) \
	EMU_PROFILE_GENERAL(X) \
	EMU_PROFILE_ETHERNET(X) \
	EMU_PROFILE_FLOW_TABLE(X) \
	EMU_PROFILE_FLOW_TABLE_TX(X, tx_) \
	EMU_PROFILE_QOS(X) \
	X(min_wqe_inline_mode, 3) /* 0: none, 1: L2, 2: IP, 3: TCP or UDP */

/** Data of a card model. */
struct emu_profile {
	const char *name;	/**< "cx6dx" as typed on the command line. */
	const char *card;	/**< "ConnectX-6 Dx" for people. */
	const char *board_id;	/**< PSID as sysfs shows it. */
	uint16_t pci_device_id; /**< Vendor is always 0x15b3. */
	uint16_t fw_major, fw_minor, fw_subminor;
	uint64_t clock_hz; /**< Frequency of the free-running counter. */
	bool real_time;	   /**< Real-time clock: ts_format_cap allows real-time timestamps. */
	bool sf;	   /**< PFs have sub-functions. */
	bool mlx4;	   /**< ConnectX-3: mlx4_core and mlx4_ib, queries only. */
	bool first_match_fields; /**< Steering has not the fields of DP_FIELDS_CX5 (emu_dp_fields.h). */
	uint32_t speed_mbps;
	uint16_t max_mtu; /**< Largest layer-2 payload, e.g. 9978. */
	uint16_t boot_pages, init_pages; /**< Pages for the firmware, before INIT_HCA: QUERY_PAGES. */
#define EMU_PROFILE_FIELD(name, max) uint32_t name;
	EMU_PROFILE_CAPS(EMU_PROFILE_FIELD)
#undef EMU_PROFILE_FIELD
};

extern const struct emu_profile *const emu_profiles[]; /**< NULL-terminated. */
const struct emu_profile *emu_profile_find(const char *name);
/** The card model that MLXEMU_DEFAULT_PROFILE names, else cx6dx. The launcher reads recorded ones itself. */
const struct emu_profile *emu_profile_default(void);
/**
 * A profile with one capability changed, `NAME=VALUE`, or board_id, clock_hz, firmware, pci_device_id or
 * speed_mbps; the changes of earlier calls stay. One profile per process can be changed. NULL: refused, with one line
 * in err.
 */
const struct emu_profile *emu_profile_change(const struct emu_profile *profile, const char *cap,
					     char *err, size_t err_len);
/** The i-th capability, NULL after the last. */
const char *emu_profile_cap(const struct emu_profile *profile, unsigned i, unsigned *value);
/** Its largest value; 0: no such capability. */
uint64_t emu_profile_cap_max(const char *name);

/** Counters of a port; tests compare them. */
struct emu_port_stats {
	uint64_t tx_frames, tx_bytes;	/**< Sent to the wire. */
	uint64_t rx_frames, rx_bytes;	/**< Received from the wire, undamaged. */
	uint64_t tx_mcast_frames, tx_bcast_frames, rx_mcast_frames, rx_bcast_frames;
	uint64_t tx_mcast_bytes, tx_bcast_bytes, rx_mcast_bytes, rx_bcast_bytes;
	uint64_t rx_delivered_frames;	/**< Written into some RQ, once per RQ. */
	uint64_t rx_delivered_bytes;
	uint64_t rx_lro_packets;	/**< In rx_delivered_frames: made of several segments by LRO, */
	uint64_t rx_lro_segments;	/**< and their number. */
	uint64_t rx_out_of_buffer;	/**< No receive WQE posted. */
	uint64_t rx_filtered;		/**< Not for this vport (address, promiscuity). */
	uint64_t rx_kernel;		/**< No steering rule: delivered to the kernel's interface. */
	uint64_t rx_dropped_by_rule;
	uint64_t rx_missed;		/**< No rule of the last table matched, and that is not the kernel's. */
	uint64_t rx_port_discards;	/**< The port had no room (fault rule). */
	uint64_t rx_error_frames;	/**< Frames for which an error CQE was written. */
	uint64_t rx_cqes_lost;		/**< In rx_delivered_frames, but a fault rule dropped the CQE. */
	/* Not in rx_frames. */
	uint64_t rx_fcs_errors;		/**< The FCS was wrong (fault rule). */
	uint64_t rx_damaged_bytes;	/**< Of these and the next two. */
	uint64_t rx_undersize, rx_oversize; /**< Shorter than an Ethernet header; larger than the MTU. */
	uint64_t rx_link_down;
	uint64_t rx_wire_lost;		/**< Lost before the port by a fault rule. */
	uint64_t rx_elsewhere;		/**< In rx_frames, but not forwarded here by L2 table or eswitch. */
	uint64_t rx_vport_down;		/**< In rx_frames: the virtual function's link was down, the port's was not. */
	/* Of these two and rx_port_discards: what the counters of the port have, and those of the vport have not. */
	uint64_t rx_away_ucast_frames, rx_away_mcast_frames, rx_away_bcast_frames;
	uint64_t rx_away_ucast_bytes, rx_away_mcast_bytes, rx_away_bcast_bytes;
	uint64_t rx_pause_frames;	/**< In rx_elsewhere: taken by the MAC, which stopped sending. */
	uint64_t rx_pfc_frames[EMU_PRIORITIES]; /**< In rx_elsewhere: taken by the MAC, by priority that they name. */
	uint64_t rx_pfc_us[EMU_PRIORITIES];	/**< How long they stopped the priority: emu_port_pfc_settle(). */
	uint64_t rx_pfc_ends[EMU_PRIORITIES];	/**< How often it went on after that. */
	uint64_t tx_errors;		/**< WQEs refused: error CQEs on SQs. */
	uint64_t tx_discards;		/**< Sent while the link was down, too long, or the wire could not take it. */
	uint64_t tx_link_down;		/**< In tx_discards. */
	uint64_t tx_vport_down;		/**< Of these: by the vport of a virtual function, before the port. */
	uint64_t tx_oversize;		/**< In tx_discards: larger than the MTU. */
	uint64_t tx_dropped_by_rule;	/**< By the table for sent packets. */
	uint64_t tx_wire_lost;		/**< In tx_frames, but lost behind the port by a fault rule. */
	uint64_t tx_spoofed;		/**< In tx_frames, but dropped by the spoof check of a VF. */
	uint64_t tx_unswitched;		/**< In tx_frames, but no rule of the eswitch sends them to the uplink. */
	uint64_t rx_errors;		/**< Error CQEs on RQs. */
	uint32_t async_eq_overruns, comp_eq_overruns; /**< EQs that ran over. */
	/* PCIe accesses of a card, per port. */
	uint64_t late_doorbells; /**< --order relaxed: stores that left a write-combining buffer by time only. */
	uint64_t doorbells, wqe_fetch_bytes, cqes, dma_reads, dma_read_bytes, dma_writes,
		dma_write_bytes;
};

/** An entry of the RoCE address table (PRM, SET_ROCE_ADDRESS). */
struct emu_roce_address {
	bool written; /**< Else the entry of the kernel for an interface without IP addresses. */
	bool empty;
	uint8_t version, l3_type; /* enum roce_version; 0 IPv4, 1 IPv6 */
	uint8_t gid[16], mac[6];
	uint16_t vlan; /**< VLAN id with bit 12 set, or 0: none. */
};
#define EMU_ROCE_L3_IPV6 1u
#define EMU_ROCE_ADDRESSES 16u /**< roce_cap.roce_address_table_size */

#define EMU_VPORT_LIST_MAX 128u /**< 1 << log_max_current_uc_list and log_max_current_mc_list. */

/** Addresses and modes of the port's vport (PRM, NIC vport context). */
struct emu_vport {
	uint8_t permanent_mac[6];
	uint8_t mac[6];
	bool promisc_uc, promisc_mc, promisc_all;
	unsigned uc_count, mc_count;
	uint8_t uc[EMU_VPORT_LIST_MAX][6], mc[EMU_VPORT_LIST_MAX][6];
	uint16_t mtu; /**< Layer-3 MTU of the kernel's interface (1500). */
	struct emu_roce_address roce[EMU_ROCE_ADDRESSES];
};

/**
 * Unicast addresses by which a card that several functions share finds a frame's (MPFS); how many
 * there can be is made up.
 */
#define EMU_LOG_L2_TABLE 7u
#define EMU_L2_ENTRIES (1u << EMU_LOG_L2_TABLE)
struct emu_l2_entry {
	bool used, vlan_valid;
	uint16_t vlan;
	uint8_t mac[6];
};
struct emu_l2_table {
	bool on;    /**< The card has an MPFS, and the function manages its table (--mpfs). */
	bool owned; /**< A program in VFIO mode manages the table; else the kernel's driver. */
	unsigned last; /**< Last entry found. */
	struct emu_l2_entry entry[EMU_L2_ENTRIES];
};

/** An entry of the table of rates that send queues refer to (PRM, SET_PP_RATE_LIMIT). */
struct emu_pp {
	uint32_t rate_kbps; /**< 0: the entry is free. */
	uint32_t burst_bytes; /**< Most bytes sent at once; 0: one frame. */
	uint16_t uid;	    /**< Its user; EMU_UID_SHARED: all users. */
	uint16_t sqs;	    /**< Send queues that it limits, each by itself. */
};
#define EMU_UID_SHARED 0xffffu /**< MLX5_SHARED_RESOURCE_UID */
/** What mlx5_core remembers of an entry (Linux, mlx5/core/rl.c). */
struct emu_pp_kernel {
	uint8_t context[48]; /**< set_pp_rate_limit_context */
	uint32_t users;	     /**< 0: the kernel may use the entry for another rate. */
	uint16_t uid;
	bool dedicated;	     /**< Equal rates get entries of their own. */
};

/* Front ends of a device: the driver that a host would bind to it. */
#define EMU_FRONT_VERBS 1u /**< mlx5_core and mlx5_ib: uverbs and a network interface. */
#define EMU_FRONT_VFIO 2u  /**< vfio-pci. */

/*
 * A virtual function and what the driver of its PF sets for it by `ip link set dev PF vf N`; untrusted, without
 * spoof check and with the state of the physical port by default (Linux, mlx5/core/esw/legacy.c and eswitch.c).
 */
#define EMU_VF 1u	    /**< The port is a virtual function. */
#define EMU_VF_TRUST 2u	    /**< trust on: promiscuous modes take effect. */
#define EMU_VF_SPOOFCHK 4u  /**< spoofchk on: frames with another source address than the PF gave are dropped. */
#define EMU_VF_LINK_UP 8u   /**< state enable: the link is up without the physical port; */
#define EMU_VF_LINK_DOWN 16u /**< state disable: it is down. Neither: state auto. */
/**
 * With EMU_VF: a sub-function. mlx5_core handles it as a virtual function of the PF's own PCI function: no PF
 * (mlx5_core_is_pf()), no configuration space, device id of the PF (Linux, mlx5/core/sf/dev/driver.c,
 * mlx5_sf_dev_probe(): mdev->pdev is the parent's).
 */
#define EMU_SF 32u

/**
 * The eswitch of a PF in switchdev mode: vport 0 is the PF itself, 1 to vfs are virtual functions, the last one is the
 * uplink. Vport i has port i + 1 of the RDMA device (Linux, mlx5/core/eswitch.c, mlx5_esw_vports_init(), and
 * infiniband/hw/mlx5/ib_rep.c, mlx5_ib_vport_rep_load()); in older kernels the uplink had port 1 (free_port). The PF
 * that manages the eswitch has no representor.
 */
struct emu_eswitch {
	bool on;	  /**< The mode is switchdev, not legacy. */
	bool no_metadata; /**< devlink parameter esw_port_metadata is false: packets carry no vport in register C 0. */
	uint8_t vfs;	  /**< Virtual functions, each with a representor. */
};
#define EMU_VPORT_UPLINK 0xffffu
#define EMU_ESWITCH_VFS_MAX 24u

/** Memory of a cable's module; pages 0 to 3 of a QSFP28, addresses 0xa0 and 0xa2 of an SFP28. */
#define EMU_MODULE_BYTES_MAX 640u

/** Link modes that have a forward error correction of their own, in the order of Linux (mlx5/core/en/port.c). */
enum emu_fec_link {
	EMU_FEC_10G_40G,
	EMU_FEC_25G,
	EMU_FEC_50G,
	EMU_FEC_56G,
	EMU_FEC_100G,
	EMU_FEC_50G_1X, /**< The first one with lanes of 50 Gb/s. */
	EMU_FEC_100G_2X,
	EMU_FEC_200G_4X,
	EMU_FEC_400G_8X,
	EMU_FEC_LINKS,
};

struct emu_dev {
	unsigned index;
	char ibdev_name[16];  /**< "mlx5_0" */
	char uverbs_name[16]; /**< "uverbs0" */
	char pci_addr[16];    /**< "0000:c1:00.0"; of a sub-function: of its parent */
	char name[24];	      /**< On its bus: PCI address, or "mlx5_core.sf.1" */
	char folder[48];      /**< Below the PCI root in sysfs: "0000:c1:00.0", "0000:c1:00.0/mlx5_core.sf.1" */
	char netdev_name[16]; /**< "mlxemu0np0": the kernel's interface. */
	const struct emu_profile *profile;
	struct emu_vport vport;
	struct emu_l2_table l2;
	struct emu_clock clock;
	struct emu_port_stats stats;
	bool admin_up;	/**< The kernel's interface is up. */
	bool carrier;	/**< The wire has carrier. */
	bool link_up;	/**< The wire has carrier and the port is up. */
	bool pause_rx, pause_tx; /**< Flow control (IEEE 802.3, annex 31B): pause frames are obeyed, sent. */
	uint8_t pfc_rx, pfc_tx;	 /**< The same by priority (IEEE 802.1Q, clause 36). All that is sent has priority 0. */
	/** A priority is stopped until then (emu_mono_ns()), 0: it is not; the time before since is in the counter. */
	uint64_t pfc_until_ns[EMU_PRIORITIES], pfc_since_ns[EMU_PRIORITIES];
	bool loop_set, loop_on; /**< The PHY returns sent frames: register PPLR, what is in effect. */
	/** Forward error correction, PRM_PPLM_FEC_*: set by link mode (0: automatic), and of the present link. */
	uint16_t fec_admin[EMU_FEC_LINKS], fec_on;
	bool unplugged; /**< The cable is unplugged by a control command or fault rule. */
	bool removed;	/**< Removed from the bus, or failed: no access works any more. */
	bool health_stopped; /**< The health counter does not increment. */
	uint32_t fatal; /**< Health syndrome of a failure that the next emu_port_tick() begins; 0: none. */
	/**
	 * The firmware failed. In verbs mode this is the state INTERNAL_ERROR of mlx5_core: destroy commands are
	 * answered with OK and not executed, all others fail. The queues run until the device is removed.
	 */
	bool internal_error;
	bool failed;	/**< Removed because the firmware failed: the PCI function still exists. */
	struct emu_eswitch eswitch;
	/** EMU_VF_*: a virtual function, whose configuration space has no gateway; 0: a physical one. */
	uint8_t vf;
	struct emu_dev *parent; /**< Of a sub-function: the device of its PF; else NULL. */
	uint32_t sfnum;		/**< Of a sub-function: the number that its creator gave. */
	uint8_t fronts; /**< EMU_FRONT_*: front ends through which programs may open it. */
	bool removing;	/**< Removal has begun: kernel calls fail with EIO, the device still works. */
	uint64_t remove_ns; /**< When it is removed (CLOCK_MONOTONIC), if removing or internal_error; 0: never. */
	uint64_t replug_ns; /**< When the cable is plugged in again (emu_mono_ns()); 0: never. */
	uint64_t node_guid, sys_image_guid; /**< The latter is that of the card's first port. */
	struct emu_wire_port *wire; /**< Owned by wire/. */
	TAILQ_HEAD(emu_ctx_head, emu_ctx) contexts;
	struct emu_ctx_head orphans; /**< Closed after an internal error: the device still runs their queues. */
	_Atomic bool registers_held; /**< emu_clock_hold() */
	struct emu_obj_table *objs; /**< Firmware objects by type and id (emu_obj.h). */
	struct emu_pp pp[EMU_PP_ENTRIES]; /**< By rate_limit_index. */
	struct emu_pp_kernel pp_kernel[EMU_PP_ENTRIES];
	uint32_t mkey_changes;	    /**< Incremented when a key changes or is destroyed. */
	struct emu_pci *_Atomic pci; /**< Configuration and register space (emu_pci.h). */
	void *dp;		    /**< State of dp/ for this port. */
	void *steer;		    /**< State of dp/ steering for this port. */
};

struct emu_machine {
	unsigned ports;
	struct emu_dev dev[EMU_MAX_PORTS];
	/* The machine's lock is a ticket lock: callers get it in the order of their calls. */
	pthread_mutex_t mutex; /**< Protects the tickets only; held for a short time. */
	pthread_cond_t turn;
	uint64_t next_ticket, now_serving;
	_Atomic pthread_t holder; /**< Holder of the lock; 0: none. */
	_Atomic unsigned waiters; /**< Waiting callers: the engine may end its batch early. */
	_Atomic bool stop;
	/**
	 * The front end traps each load of the counter registers and calls emu_clock_registers()
	 * before it; otherwise the engine writes the registers in each pass.
	 */
	bool counters_live;
	int wake_fd; /**< eventfd of the front end that wakes the engine; -1: short sleeps only. */
	_Atomic bool asleep; /**< The engine waits for wake_fd. */
	_Atomic bool paused;   /**< The data path is paused. */
	pthread_cond_t resume; /**< With mutex: signals the end of a pause. */
	const struct emu_dp_ops *dp_ops;   /**< NULL before emu_dp_init(): no contexts, no wires. */
	const struct emu_front_ops *front; /**< NULL: there is no front end. */
};

/** What became of a frame offered to a port. */
enum emu_rx_result {
	EMU_RX_TAKEN, /**< Delivered, or dropped and counted. */
	EMU_RX_FULL,  /**< Its receive queue has no WQE posted; nothing was done or counted. */
};
/**
 * What core and wire need of the data path, which is a higher layer. emu_dp_init() installs the
 * table; contracts: dp/emu_dp.h. Lock held.
 */
struct emu_dp_ops {
	void (*ingress)(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
	enum emu_rx_result (*offer)(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
	bool (*can_receive)(struct emu_dev *dev, uint64_t quiet_ns);
	bool (*unsettled)(struct emu_dev *dev, uint64_t now_ns, uint64_t quiet_ns);
	bool (*ruled)(struct emu_dev *dev, const uint8_t *frame, uint32_t len);
	void (*event)(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, void *eqe);
	void (*forget)(struct emu_obj *obj);
	void (*given_back)(struct emu_obj *obj);
};

/** Resources that the front end counts. */
struct emu_front_ledger {
	unsigned files, mappings, channels, subscriptions;
};
/** Calls from the model to the front end, lock held; each may be NULL. */
struct emu_front_ops {
	/** Link, address or MTU of the port changed: update sysfs. */
	void (*port_changed)(struct emu_dev *dev);
	void (*ledger)(struct emu_dev *dev, struct emu_front_ledger *out);
	/** Removal of the device has begun: calls fail with EIO from now on. */
	void (*removing)(struct emu_dev *dev);
	/** The firmware failed: raise the event, set the health buffer. */
	void (*failing)(struct emu_dev *dev);
	/** The device is removed: raise events, replace pages, remove names. */
	void (*removed)(struct emu_dev *dev);
	/** Descriptors of the process without the model's own. */
	unsigned (*program_fds)(void);
	/**
	 * Trap the next store to any doorbell page; the trap takes and releases the lock, which wakes
	 * the engine. False: not possible. With --order relaxed called in each pass; also writes out old
	 * write-combining buffers.
	 */
	bool (*doorbells_watch)(struct emu_machine *m);
	/** Raises an interrupt of a VFIO context; no effect if no eventfd is set for the vector. */
	void (*msix)(struct emu_ctx *ctx, unsigned vector);
};

/** Calls from the model to the front end for one context. */
struct emu_ctx_ops {
	/** An affiliated event for obj (its type as PRM event type; eqe is 64 bytes). */
	void (*event)(struct emu_ctx *ctx, struct emu_obj *obj, uint16_t type, const void *eqe);
};

/**
 * One open of a uverbs device, or of a device through VFIO: owner of objects, UARs and memory. With
 * VFIO the program has the role of the kernel's driver.
 */
struct emu_ctx {
	struct emu_dev *dev;
	uint16_t uid;	  /**< Firmware user id, never 0; 0 with VFIO: commands of the function's driver. */
	bool devx;
	void *file;	  /**< Mapping of the uverbs file (EMU_FILE_BYTES) or of BAR 0 in the model. */
	uint64_t uar_base, uar_end; /**< In file: UAR page i is at uar_base + i * 4096. */
	struct emu_iommu *iommu; /**< VFIO: addresses in commands are IOVAs. NULL: process addresses. */
	struct emu_hca hca;	 /**< VFIO: state of the function. */
	unsigned objects;	 /**< Number of owned objects. */
	uint64_t counter_page; /**< In file: the page of the counter's registers. */
	bool orphan;	 /**< In dev->orphans. */
	const struct emu_ctx_ops *ops;
	void *priv;	  /**< State of the front end. */
	TAILQ_HEAD(, emu_obj) owned; /**< Newest first: order of clean-up. */
	TAILQ_ENTRY(emu_ctx) next;
};

/** Creates ports of one profile with permanent addresses and clocks, without wires and threads. */
int emu_machine_init(struct emu_machine *m, unsigned ports, const struct emu_profile *profile);
void emu_machine_fini(struct emu_machine *m);
/**
 * Acquires the machine's lock. Not recursive. Callers get it in order: a thread that releases the
 * lock and acquires it again waits for all earlier callers.
 */
void emu_lock(struct emu_machine *m);
/** Releases the lock and wakes the engine: the caller may have created work for it. */
void emu_unlock(struct emu_machine *m);
/** True when the calling thread has the lock. */
bool emu_lock_is_mine(const struct emu_machine *m);
static inline struct emu_machine *
emu_machine_of(struct emu_dev *dev)
{
	struct emu_dev *first = dev - dev->index;

	return (struct emu_machine *)((uint8_t *)first - offsetof(struct emu_machine, dev));
}
/** Starts a thread of the model: signals blocked except those of the guard, affinity to all processors. 0 or -errno. */
int emu_thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);
/** Whether the calling thread was started by emu_thread_start(). */
extern __thread bool emu_thread_own __attribute__((tls_model("initial-exec")));
/**
 * Sleeps until the lock is released by another thread, one of n descriptors is readable (fds has
 * space for one more), or ns have passed. Called with the lock held; it is released on return.
 */
void emu_engine_sleep(struct emu_machine *m, struct pollfd *fds, unsigned n, uint64_t ns);
/** Wakes the engine; no effect if it is awake. */
void emu_engine_wake(struct emu_machine *m);
/** Pauses or resumes the data path. Lock held; the pause is effective on return. */
void emu_engine_pause(struct emu_machine *m, bool pause);
/** Engine thread, lock not held: waits while the data path is paused. */
void emu_engine_wait(struct emu_machine *m);
static inline bool
emu_engine_paused(struct emu_machine *m)
{
	return atomic_load_explicit(&m->paused, memory_order_relaxed);
}

/** Completion vectors (and event queues) of a device in verbs mode (num_comp_vectors). */
#define EMU_COMP_VECTORS 16
/** MSI-X vectors and maximum number of EQs of a function in VFIO mode. */
#define EMU_MSIX_VECTORS 32
#define EMU_MAX_EQS 32
/** Event queue number of a completion vector; -EINVAL if the vector does not exist. */
int emu_eqn_of_vector(struct emu_dev *dev, unsigned vector);
/** An empty mapping for emu_ctx_open() in tests without a front end. NULL: no memory. */
void *emu_file_map(void);
void emu_file_unmap(void *file);

/** A sub-function, as `--sf PORT[,pf=PORT][,sfnum=N]` describes it. */
struct emu_sf {
	unsigned port, pf; /**< The port that it is, and that of its PF. */
	uint32_t sfnum;
};
/** False: not understood. Whether the ports exist is not checked. */
bool emu_sf_parse(const char *text, struct emu_sf *sf);
/**
 * Makes a port a sub-function. Its number on the auxiliary bus is that of the port: mlx5_core numbers functions in the
 * order of their probing, PFs before their sub-functions (Linux, mlx5/core/dev.c, mlx5_adev_idx_alloc()).
 */
void emu_sf_make(struct emu_machine *m, const struct emu_sf *sf);

/** Opens a context over file, which the front end has mapped. 0 or -errno. */
int emu_ctx_open(struct emu_dev *dev, void *file, bool devx, const struct emu_ctx_ops *ops,
		 struct emu_ctx **out);
/**
 * The same for VFIO: bar is the mapping of BAR 0 in the model, iommu the address space of the
 * container, which must outlive the context. There are no ops: events go to EQs and interrupts.
 */
int emu_ctx_open_vfio(struct emu_dev *dev, void *bar, uint64_t bar_bytes, struct emu_iommu *iommu,
		      struct emu_ctx **out);
/**
 * Destroys the objects that the context still owns, newest first, as the kernel does when a process
 * closes the file. Reports them per type in the audit and returns their number. After an internal error
 * of a device in verbs mode the device keeps the objects, and their memory is given back.
 */
unsigned emu_ctx_close(struct emu_ctx *ctx);
/** The same, but the context stays (TEARDOWN_HCA). */
unsigned emu_ctx_sweep(struct emu_ctx *ctx);

/** Sets dev->eswitch by a character of `mlxemu run --switchdev`: '0', or 'A' + vfs, 'a' + vfs without metadata. */
void emu_eswitch_set(struct emu_dev *dev, char mode);
char emu_eswitch_mode(bool metadata, unsigned vfs);
/** Number of ports of the RDMA device. */
unsigned emu_ib_ports(const struct emu_dev *dev);
/** The port of the RDMA device that has the port's interface. */
unsigned emu_ib_port(const struct emu_dev *dev);
/** Vport of a port of the RDMA device. 0; -EINVAL: no such port; -EOPNOTSUPP: it has no representor. */
int emu_ib_port_vport(const struct emu_dev *dev, uint64_t port, uint16_t *vport);
/** Value of register C 0 in packets from the vport of a port of the RDMA device. 0: there is none. */
uint32_t emu_eswitch_metadata(const struct emu_dev *dev, unsigned port);
#define EMU_ESWITCH_METADATA_MASK 0xffff0000u

/* Port control: settings of the kernel's interface (ioctl, netlink). 0 or -errno. */
#define EMU_L2_OVERHEAD_BYTES 22u /**< Ethernet + VLAN + FCS: device MTU minus interface MTU. */
/**
 * Fills the memory of the module in the port, in the order of ethtool -m.
 *
 * @return Its size: 640 (SFF-8636) or 512 (SFF-8472); 0: no module is plugged in.
 */
unsigned emu_module_image(const struct emu_dev *dev, uint8_t image[EMU_MODULE_BYTES_MAX]);

/* emu_fec.c */
/** Whether the port has link modes with lanes of 50 Gb/s. */
bool emu_fec_lanes_50g(const struct emu_profile *p);
/** PRM_PPLM_FEC_* that a link mode can have; 0: the card does not have the link mode. */
uint16_t emu_fec_caps(const struct emu_profile *p, unsigned link);
/** The port is set up: what is set comes into effect. */
void emu_fec_begin(struct emu_dev *dev);
/** What the link has; 0: it is down. */
uint16_t emu_fec_active(const struct emu_dev *dev);

int emu_port_set_mtu(struct emu_dev *dev, unsigned mtu);
int emu_port_set_mac(struct emu_dev *dev, const uint8_t mac[6]);
/**
 * Entry of the GID table: as written by a program in VFIO mode, else as the kernel fills it for an
 * interface without IP addresses (link-local address, RoCE v1 at index 0, v2 at index 1). False:
 * the entry is empty.
 */
#define EMU_PORT_GIDS 2u /**< Number of entries that the kernel fills. */
bool emu_port_gid(const struct emu_dev *dev, unsigned index, uint8_t gid[16]);
/** The complete entry. */
bool emu_port_roce(const struct emu_dev *dev, unsigned index, struct emu_roce_address *a);
/** Whether packets to this GID and MAC address are for this port. */
bool emu_port_is_gid(const struct emu_dev *dev, const uint8_t gid[16], const uint8_t mac[6]);
void emu_port_set_promisc(struct emu_dev *dev, bool promisc, bool allmulti);
int emu_port_mcast(struct emu_dev *dev, const uint8_t mac[6], bool add);
/** Changes the list of further unicast addresses. 0, -EEXIST, -ENOENT, -ENOMEM (the list of the vport is full). */
int emu_port_ucast(struct emu_dev *dev, const uint8_t mac[6], bool add);
void emu_port_set_admin(struct emu_dev *dev, bool up);
/** Called by wires when carrier changes; recomputes link_up and raises port events. */
void emu_port_set_carrier(struct emu_dev *dev, bool carrier);
/** Sets the state of a virtual function's link: EMU_VF_LINK_UP, EMU_VF_LINK_DOWN, or 0 to follow the physical port. */
void emu_port_vf_link(struct emu_dev *dev, unsigned int link);
/** Is it a virtual function whose vport is down, while its physical port is up? */
bool emu_port_vport_down(const struct emu_dev *dev);
/** Unplugs the cable or plugs it in; reverses this after ms milliseconds unless ms is 0. */
void emu_port_cable(struct emu_dev *dev, bool plugged, uint64_t ms);
/** Counts how long priorities were stopped until now: before a frame changes that, and before the counters are read. */
void emu_port_pfc_settle(struct emu_dev *dev, uint64_t now_ns);
/**
 * Removes the card, as a hot unplug: DMA ends at once, commands fail with EIO, programs get the
 * fatal event, and the device's files and interface disappear. Lock held. May be called from the
 * data path; memory is therefore freed only when programs close their files.
 *
 * @param ms
 *   Duration of the removal in the kernel, which destroys the objects of programs one by one: calls
 *   fail with EIO at once, DMA and names end after this number of milliseconds.
 */
void emu_dev_remove(struct emu_dev *dev, uint64_t ms);
/** Whether calls on the device's open files fail with EIO (kernel: uverbs_main.c, disassociate_srcu). */
static inline bool
emu_dev_disassociated(const struct emu_dev *dev)
{
	return dev->removing || dev->removed;
}
/** Whether programs cannot release what they hold: it is no leak. */
static inline bool
emu_dev_unusable(const struct emu_dev *dev)
{
	return emu_dev_disassociated(dev) || dev->internal_error;
}
/** Called by the engine in each pass: timed changes of the cable and timed removal. */
void emu_port_tick(struct emu_dev *dev, uint64_t mono_ns);

#endif /* EMU_DEV_H */
