/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Internal declarations of the common layer. */
#ifndef MDV_PRIVATE_H
#define MDV_PRIVATE_H

#include <errno.h>
#include <signal.h>

#include <rte_bus_pci.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_pci.h>

#include <prm.h>

#include "mdv.h"
#include "mdv_compat.h"
#include "mdv_recorder.h"
#include "mdv_vector.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define MDV_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define MDV_ASAN
#endif
#ifdef MDV_ASAN
#include <sanitizer/lsan_interface.h>
#endif

/** Unit of page sizes in commands, independent of the host's page size (PRM: adapter page, 4 KiB). */
#define MDV_ADAPTER_PAGE_BYTES 4096u
/** A doorbell record has its own cache line. */
#define MDV_DBREC_BYTES 64u
#define MDV_CQE_BYTES 64u
#define MDV_LOG_WQEBB_BYTES 6
/** Smallest receive WQE: one data segment of 16 bytes. */
#define MDV_LOG_RQ_STRIDE_MIN 4
#define MDV_LOG_RQ_STRIDE_MAX 9
/** Base of the number of strides in a WQ context; without ext_stride_num_range also the least number. */
#define MDV_LOG_STRIDES_BASE 9

/** Ethernet header, VLAN tag and FCS, which PMTU includes and the MTU of an interface does not. */
#define MDV_L2_OVERHEAD_BYTES 22

extern int mdv_logtype;

/** Logs one line that begins with the PCI address of the device. */
#define MDV_LOG(level, name, fmt, ...) \
	rte_log(RTE_LOG_##level, mdv_logtype, "mlx5dv: %s: " fmt "\n", name, ##__VA_ARGS__)
/** The same for a function that is not open, by its address. */
#define MDV_LOG_PCI(level, pci, fmt, ...) \
	rte_log(RTE_LOG_##level, mdv_logtype, "mlx5dv: " PCI_PRI_FMT ": " fmt "\n", \
		(pci)->domain, (pci)->bus, (pci)->devid, (pci)->function, ##__VA_ARGS__)

/** As MDV_LOG(ERR), but at level debug for a removed device, of which every call fails. */
#define MDV_LOG_ERR(dev, fmt, ...) \
	rte_log(mdv_removed(dev) ? RTE_LOG_DEBUG : RTE_LOG_ERR, mdv_logtype, \
		"mlx5dv: %s: " fmt "\n", (dev)->name, ##__VA_ARGS__)

/** Sets rte_errno and returns -err. */
static inline int
mdv_fail(int err)
{
	rte_errno = err;
	return -err;
}

/** Logs one line at level error, then as mdv_fail(). errno and rte_errno may be passed as err. */
#define MDV_FAIL(name, err, ...) __extension__({ \
	const int fail_err_ = (err); \
	MDV_LOG(ERR, name, __VA_ARGS__); \
	mdv_fail(fail_err_); \
})

/** As MDV_FAIL(), but logs as MDV_LOG_ERR(). */
#define MDV_FAIL_DEV(dev, err, ...) __extension__({ \
	const int fail_err_ = (err); \
	MDV_LOG_ERR(dev, __VA_ARGS__); \
	mdv_fail(fail_err_); \
})

/** As MDV_FAIL(), for a function that returns a pointer: NULL. */
#define MDV_FAIL_NULL(...) ((void)MDV_FAIL(__VA_ARGS__), NULL)

/** Undoes a step after a failure, whose rte_errno it keeps. */
#define MDV_UNDO(call) do { \
	const int undo_errno_ = rte_errno; \
	(void)(call); \
	rte_errno = undo_errno_; \
} while (0)

/** Operations that differ between a verbs and a VFIO context. */
struct mdv_backend {
	const char *name;
	/** ACCESS_REGISTER or, for users of mlx5_ib, ACCESS_REGISTER_USER. */
	uint16_t register_opcode;
	/**
	 * No kernel driver uses the function. libmlx5 then waits for the completion of a command
	 * without limit, also if the device was removed, and a signal that interrupts the wait
	 * leaves the command outstanding in the device (libmlx5, mlx5_vfio.c).
	 */
	bool exclusive;
	/** Finds and opens the device: dev->ibv, ibdev_name. 0 or -errno, logged. */
	int (*open)(struct mdv_dev *dev);
	void (*close)(struct mdv_dev *dev);
	/** caps.pci_device_id, caps.vport_num, fw_version. 0 or -errno, logged. */
	int (*identify)(struct mdv_dev *dev);
	/** Finds the interface of the port (verbs) or writes its MPFS entry (VFIO). 0 or -errno, logged. */
	int (*port_up)(struct mdv_dev *dev);
	void (*port_down)(struct mdv_dev *dev);
	/** Sets dev->event_fd; called after the UAR was allocated. 0 or -errno, logged. */
	int (*events_up)(struct mdv_dev *dev);
	void (*events_down)(struct mdv_dev *dev); /**< May be NULL. */
	uint32_t (*events_take)(struct mdv_dev *dev);
	/** 0; EIO, ENODEV, ENOLINK or ENXIO: the device was removed or failed; other positive errno. */
	int (*health_check)(struct mdv_dev *dev);
	/** Returns whether a removed device certainly does no DMA any more; an owner of the function ends its DMA. */
	bool (*quiesced)(struct mdv_dev *dev);
	/** Reads the free-running counter. 0 or a positive errno; logs nothing. */
	int (*counter)(struct mdv_dev *dev, uint64_t *cycles);
	/** Mapped registers from internal_timer_h on; NULL: not mapped. */
	const volatile void *(*core_clock)(struct mdv_dev *dev);
	/** Sets fd and eqn. 0 or -errno, logged. */
	int (*vector_up)(struct mdv_vector *vector);
	void (*vector_down)(struct mdv_vector *vector);
	/** 0 or -errno, logged. NULL: the EQ in the CQ context is enough. */
	int (*vector_attach)(struct mdv_vector *vector, struct mdv_cq *cq);
	/** Consumes pending events and re-arms the descriptor. Returns whether there were any. NULL: none. */
	bool (*vector_drain)(struct mdv_vector *vector);
	const struct mdv_port_ops *port;
};

extern const struct mdv_backend mdv_backend_verbs, mdv_backend_vfio;

/** Name of an errno, such as "EINVAL"; "errno" if libc does not know the number. */
const char *mdv_errno_name(int err);
/** Zeroed memory, to be released with free(). NULL with ENOMEM, logged with the name of what it is for. */
void *mdv_zalloc(const char *name, size_t bytes, const char *what);
/** The same in memory that secondary processes share, to be released with rte_free(). */
void *mdv_zalloc_shared(const char *name, size_t bytes, const char *what);
/** Makes an eventfd readable. EAGAIN means that its counter is at the limit, and the descriptor readable. */
void mdv_eventfd_signal(int fd);
/** Sets O_NONBLOCK. 0 or -errno, logged with the name of the descriptor. */
int mdv_fd_nonblock(const struct mdv_dev *dev, int fd, const char *what);

/** Positive errno of a call of rdma-core: some return it, some its negative, some -1 and set errno. */
static inline int
mdv_positive_errno(int ret)
{
	if (ret == -1)
		return errno != 0 ? errno : EIO;
	return ret < 0 ? -ret : ret;
}

/** Attempts of a call that fails with EINTR. */
#define MDV_EINTR_TRIES 100

/**
 * Returns whether a command would never complete. In VFIO mode libmlx5 waits for a completion without
 * limit, so commands must not be sent to a removed or failed device. Runs the health check.
 */
bool mdv_unresponsive(struct mdv_dev *dev);
/** In VFIO mode blocks the signals that would interrupt a command (struct mdv_backend, exclusive). */
void mdv_signals_block(const struct mdv_dev *dev, sigset_t *was);
/** Restores the signal mask that mdv_signals_block() saved. */
void mdv_signals_restore(const struct mdv_dev *dev, const sigset_t *was);

/** Before a call that runs a command: blocks signals and counts calls_begun. */
void mdv_run_begin(struct mdv_dev *dev, sigset_t *was);
/** After it. Sets errno to ENODEV if the device was removed meanwhile; libmlx5 sets others. */
void mdv_run_end(struct mdv_dev *dev, const sigset_t *was);

/** Calls a function of rdma-core that runs a command. */
#define MDV_RUN(dev, call) __extension__({ \
	sigset_t run_was_; \
	mdv_run_begin(dev, &run_was_); \
	__auto_type run_ret_ = (call); \
	mdv_run_end(dev, &run_was_); \
	run_ret_; \
})

/** MDV_RUN() for a call that returns an error number. Positive errno or 0; ENODEV without the call if
 * the device is unresponsive.
 */
#define MDV_RUN_ERR(dev, call) \
	(mdv_unresponsive(dev) ? ENODEV : mdv_run_errno(dev, MDV_RUN(dev, call)))
int mdv_run_errno(const struct mdv_dev *dev, int ret);

/** Records a call of rdma-core that failed; no effect without a device. text: the call in the source. */
#define MDV_CALL_FAILED(dev, text, err) do { \
	const struct mdv_dev *const failed_dev_ = (dev); \
	if (failed_dev_ != NULL) \
		mdv_record_call(failed_dev_, text, err); \
} while (0)

/**
 * Repeats a call that returns a pointer while it fails with EINTR. NULL: errno is the reason, never 0, and recorded
 * for the device, which may be NULL.
 */
#define MDV_RETRY_PTR(dev, call) __extension__({ \
	errno = 0; \
	__auto_type make_ret_ = (call); \
	for (int make_n_ = 1; make_ret_ == NULL && errno == EINTR && make_n_ < MDV_EINTR_TRIES; \
	     make_n_++) \
		make_ret_ = (call); \
	if (make_ret_ == NULL && errno == 0) \
		errno = EIO; \
	if (make_ret_ == NULL) \
		MDV_CALL_FAILED(dev, #call, errno); \
	make_ret_; \
})

/** Repeats a call that returns an error number while it is EINTR. Positive errno, recorded, or 0. */
#define MDV_RETRY_ERR(dev, call) __extension__({ \
	int retry_err_ = EINTR; \
	for (int retry_n_ = 0; retry_err_ == EINTR && retry_n_ < MDV_EINTR_TRIES; retry_n_++) \
		retry_err_ = mdv_positive_errno(call); \
	if (retry_err_ != 0) \
		MDV_CALL_FAILED(dev, #call, retry_err_); \
	retry_err_; \
})

/** As MDV_RETRY_PTR(), for a call that runs a command. ENODEV without the call if the device is unresponsive. */
#define MDV_RUN_PTR(dev, call) \
	(mdv_unresponsive(dev) ? (errno = ENODEV, NULL) : MDV_RETRY_PTR(dev, MDV_RUN(dev, call)))

/**
 * Memory of rdma-core that the driver cannot free: LeakSanitizer is not to report it. rdma-core frees the memory of an
 * object only after kernel or device have destroyed the object (providers/mlx5/verbs.c, _mlx5dv_devx_obj_destroy()).
 */
#ifdef MDV_ASAN
#define MDV_LEFT(object) __lsan_ignore_object(object)
#else
#define MDV_LEFT(object) RTE_SET_USED(object)
#endif

/**
 * Calls destroy(object), with up to three attempts, 1 ms apart: a single temporary refusal would leave
 * the object and everything it refers to. The last positive errno, or 0.
 */
#define MDV_DESTROY(dev, destroy, object) __extension__({ \
	int undo_err_, undo_tries_ = 0; \
	do { \
		if (undo_tries_ > 0) \
			rte_delay_us_sleep(1000); \
		undo_err_ = MDV_RUN_ERR(dev, destroy(object)); \
	} while (undo_err_ != 0 && undo_err_ != ENODEV && !mdv_removed(dev) && ++undo_tries_ < 3); \
	mdv_suspect_if(dev, undo_err_); \
	if (undo_err_ != 0) \
		MDV_LEFT(object); \
	undo_err_; \
})
/** As MDV_DESTROY(), and records a failure as that of a call. */
#define MDV_RUN_DESTROY(dev, destroy, object) __extension__({ \
	const int destroy_err_ = MDV_DESTROY(dev, destroy, object); \
	if (destroy_err_ != 0) \
		MDV_CALL_FAILED(dev, #destroy "(", destroy_err_); \
	destroy_err_; \
})

/* ------------------------------------------------------------------ mdv_recorder.c */

/** Stage of opening: the recorder is there before the first command. */
int mdv_recorder_up(struct mdv_dev *dev);
void mdv_recorder_down(struct mdv_dev *dev);
/** Records a command by its mailboxes; err: the errno that it has without a status. quiet: a refusal is expected. */
void mdv_record_mailboxes(struct mdv_dev *dev, const void *in, size_t in_bytes, const void *out, int err, bool quiet,
			  uint64_t begin_ns);
/** Records a command; the lane depends on what it is and whether it succeeded. */
void mdv_record_cmd(struct mdv_dev *dev, struct mdv_record r, bool quiet);
/** Records a call of rdma-core that failed with a positive errno. */
void mdv_record_call(const struct mdv_dev *dev, const char *call, int err);

/* ------------------------------------------------------------------ mdv_event.c */

/** Time for the kernel to destroy the objects of a removed device: assumed, commands take ms. */
#define MDV_QUIESCE_MS 2000
/**
 * Time for the kernel to handle a fatal error, assumed: it dumps the registers, waits up to 2 s for the reset
 * (mlx5/core/lib/tout.c, PCI_TOGGLE) and unloads. Only while another function resets the card it takes up to a minute.
 */
#define MDV_QUIESCE_FAILED_MS 10000
void mdv_quiesced_set(struct mdv_dev *dev);
/** Marks the device as removed by a fatal error. */
void mdv_failed_set(struct mdv_dev *dev);
/** Sets mdv_suspect() if calls on a removed device fail with err. */
void mdv_suspect_if(struct mdv_dev *dev, int err);
/**
 * Returns whether the device does not access the memory of an object whose destruction returned destroy_err; of a
 * removed device only after mdv_quiesce_wait(). False: the memory must not be reused, nor deregistered.
 */
bool mdv_may_release(struct mdv_dev *dev, int destroy_err);

/* ------------------------------------------------------------------ mdv_verbs_port.c */

/**
 * Looks up statistics of the interface by name; index[k] is -1 if names[k] does not exist.
 *
 * @return
 *   Number of statistics of the interface; 0: none, or they cannot be read.
 */
uint32_t mdv_ethtool_find(struct mdv_dev *dev, const char *const *names, unsigned int n, int *index);
/** Reads them. 0; -ESTALE their number changed since mdv_ethtool_find(); other -errno. */
int mdv_ethtool_read(struct mdv_dev *dev, uint32_t count, const int *index, unsigned int n,
		     uint64_t *values);
#define MDV_LINK_MODE_WORDS 3
/** Reads the speed of the interface (0: unknown) and the first words of its supported link modes. 0 or -errno. */
int mdv_ethtool_link(struct mdv_dev *dev, uint32_t *speed_mbps, uint32_t supported[MDV_LINK_MODE_WORDS]);
struct ifreq;
/** An ioctl on the interface, to which ifr_name is given. 0 or -errno, logged: "interface ... refused to <what>". */
int mdv_netdev_ioctl(struct mdv_dev *dev, unsigned long request, const char *what, struct ifreq *ifr);
/* As in struct mdv_port_ops (mdv_fec.c). */
int mdv_verbs_fec_caps(struct mdv_dev *dev, struct mdv_fec_cap caps[MDV_FEC_SPEEDS]);
int mdv_verbs_fec_get(struct mdv_dev *dev, uint32_t *mode);
int mdv_verbs_fec_set(struct mdv_dev *dev, uint32_t mode);

/* ------------------------------------------------------------------ mdv_cmd.c */

/** Smallest inbox and outbox: the header that all commands share (PRM, command interface). */
#define MDV_MAILBOX_BYTES_MIN 16
/**
 * Result of a command that began at begin_ns (mdv_now_ns()), from its outbox and the errno of the call. Records it, and
 * logs a failure unless quiet. 0 or -errno.
 */
int mdv_cmd_result(struct mdv_dev *dev, const void *in, size_t in_bytes, const void *out, int sys_err, bool quiet,
		   uint64_t begin_ns);
struct mlx5dv_devx_obj *mdv_exec_create(struct mdv_dev *dev, const void *in, size_t in_bytes,
					void *out, size_t out_bytes);
int mdv_exec_modify(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		    size_t out_bytes);
/** quiet: neither log nor count a refusal. */
int mdv_exec_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		   size_t out_bytes, bool quiet);
/** Starts an asynchronous query, see mdv_async_query(). -EAGAIN is not logged. */
int mdv_exec_query_async(struct mdv_obj *obj, const void *in, size_t in_bytes, size_t out_bytes,
			 uint64_t number, struct mlx5dv_devx_cmd_comp *comp, bool quiet);
/** Checks that the inbox is a query of this object. 0; -EINVAL, logged. */
int mdv_obj_query_check(const struct mdv_obj *obj, const void *in, size_t in_bytes);
int mdv_exec_destroy(struct mdv_obj *obj, uint16_t destroy_opcode);
/**
 * Reads a register (op PRM_ACCESS_REG_OP_READ), or writes it in VFIO mode (PRM_ACCESS_REG_OP_WRITE), with the
 * command of the backend. reg receives the reply. quiet: neither log nor count a refusal. As mdv_cmd().
 */
int mdv_register_access(struct mdv_dev *dev, uint16_t register_id, uint32_t op, void *reg,
			size_t reg_bytes, bool quiet);

/* ------------------------------------------------------------------ mdv_verbs*.c */

extern const struct mdv_port_ops mdv_verbs_port;
int mdv_verbs_port_up(struct mdv_dev *dev);
void mdv_verbs_port_down(struct mdv_dev *dev);

/** Copies the value of NAME= in a uevent file of sysfs. 0; -ENOENT; or the error of opening it. */
int mdv_uevent_read(const char *path, const char *name, char *value, size_t bytes);
/** Sets the PCI device id of the capabilities, and whether it is that of a virtual function. */
void mdv_pci_id_set(struct mdv_dev *dev, uint16_t id);
/** Last component of the target of a symbolic link in a function's sysfs directory; "" if none. */
void mdv_pci_link(const struct rte_pci_addr *pci, const char *file, char *name, size_t bytes);
/** PCI address of the PF of a sub-function. 0; -ENODEV: there is no such sub-function, logged. */
int mdv_sf_pci(const char *name, struct rte_pci_addr *pci);
struct ibv_device;
/** PCI address of an RDMA device; -ENOENT if it has none; other -errno. */
int mdv_ibdev_pci(const struct ibv_device *ibdev, struct rte_pci_addr *pci);

/* ------------------------------------------------------------------ mdv_obj.c */

/**
 * Runs a query command on the object of this device that its inbox names. A refusal is neither
 * logged nor counted. 0; -ENOENT no such object; or as mdv_obj_query().
 */
int mdv_objects_query(struct mdv_dev *dev, const struct prm_command *cmd, const void *in,
		      size_t in_bytes, void *out, size_t out_bytes);

/* ------------------------------------------------------------------ mdv_uplink.c */

/** What only this layer needs of a device, behind what its users read. */
struct mdv_dev_own {
	struct mdv_dev dev; /**< First. */
	uint8_t ib_port;    /**< Verbs: port of the RDMA device that is used. */
	bool switchdev;	    /**< Verbs: the port is the uplink of a PF in switchdev mode. */
	uint32_t source_value, source_mask; /**< Register C 0 of frames from the uplink; mask 0: frames have none. */
	struct mdv_uplink *uplink; /**< Switchdev: rules for sending, else NULL. */
	struct mdv_doorbell doorbells[MDV_DOORBELLS_MAX]; /**< mdv_doorbell.c */
};

/** @return the private part of a device, which dev is the first member of. DPDK's own build refuses a cast of const. */
static inline struct mdv_dev_own *
mdv_own(const struct mdv_dev *dev)
{
	return (struct mdv_dev_own *)(uintptr_t)dev;
}

/**
 * Finds the port of the RDMA device to use: the only one, or the uplink of a PF in switchdev mode. Sets the fields of
 * struct mdv_dev_own and caps.vport_num. 0; -ENOTSUP, logged.
 */
int mdv_uplink_find(struct mdv_dev *dev, unsigned int ports);
/** Adds a match of the uplink to a rule on received packets; no effect on other ports. */
void mdv_uplink_match(const struct mdv_dev *dev, struct prm_fte_match_param *mask, struct prm_fte_match_param *value);
/** Makes what SQs of an uplink need to send; no effect on other ports. 0 or -errno, logged. */
int mdv_uplink_open(struct mdv_dev *dev);
void mdv_uplink_close(struct mdv_dev *dev);
/** Makes the eswitch send the frames of an SQ to the uplink; no effect on other ports. 0 or -errno, logged. */
int mdv_uplink_connect(struct mdv_dev *dev, uint32_t sqn);
/** Undoes it, before the SQ is destroyed. */
void mdv_uplink_disconnect(struct mdv_dev *dev, uint32_t sqn);

/* ------------------------------------------------------------------ mdv_doorbell.c */

/** Moves sq->db_reg to a mapping of its page that secondary processes can have, too, if that is possible. */
void mdv_doorbell_map(struct mdv_dev *dev, struct mdv_sq *sq);
/** To be called before the UAR is freed. */
void mdv_doorbell_unmap(struct mdv_sq *sq);

/* ------------------------------------------------------------------ mdv_caps.c */

/** Queries the current values of a capability page. As mdv_cmd(). */
int mdv_caps_page(struct mdv_dev *dev, uint16_t type, struct prm_query_hca_cap_out *out);
/** Queries the context of the function's own vport, without its address lists. As mdv_cmd(). */
int mdv_vport_query(struct mdv_dev *dev, struct prm_query_nic_vport_context_out *out);
/** Reads the permanent address of the function's own vport. As mdv_cmd(). */
int mdv_vport_mac(struct mdv_dev *dev, uint8_t mac[6]);
void mdv_mac_fill(struct prm_mac_address_layout *addr, const uint8_t mac[6]);
/** Queries, checks and stores capabilities. -ENOTSUP: the device lacks a required one. */
int mdv_caps_read(struct mdv_dev *dev);

/**
 * Refuses a port that is part of an active LAG: its queues would use the ports of the LAG. A device
 * that refuses QUERY_LAG has no LAG. 0; -ENOTSUP.
 */
int mdv_lag_check(struct mdv_dev *dev);
/** Evaluates a successful reply of QUERY_LAG. 0; -ENOTSUP, logged: the LAG is active. */
int mdv_lag_reply_check(const char *name, const struct prm_query_lag_out *out);

/** Range of a capability: below min the device cannot be used, values above max become max. */
struct mdv_cap_limit {
	const char *name;
	uint32_t min, max;
};
/** Reduces *value to the maximum, logged. 0; -ENOTSUP, logged: it is below the minimum. */
int mdv_cap_check(const char *name, const struct mdv_cap_limit *limit,
		  uint32_t *value);

/* ------------------------------------------------------------------ the rest */

int mdv_ring_alloc(struct mdv_dev *dev, const char *what, size_t bytes, int socket_id,
		   struct mdv_ring *ring);
void mdv_ring_free(struct mdv_dev *dev, struct mdv_ring *ring);
/**
 * Destroys a queue's object and frees its ring. If it is not certain that the object was destroyed and the device is
 * not quiesced, the ring is leaked, because the device may still write to it. 0 or -errno.
 */
int mdv_ring_release(struct mdv_obj *obj, struct mdv_ring *ring);

/** Timestamp format of queues: real time if the clock uses it, or if the device has no free-running format. */
uint32_t mdv_ts_format(const struct mdv_dev *dev);

/** Does one MODIFY command lead from one state to the other? 0; or -EINVAL, logged. */
int mdv_wq_transition(const struct mdv_dev *dev, const char *name, uint32_t number, enum mdv_queue_state from,
		      enum mdv_queue_state to);

/* ------------------------------------------------------------------ the rest */

int mdv_counters_open(struct mdv_dev *dev);
void mdv_counters_close(struct mdv_dev *dev);
/** Number of rows of the counter table whose field is in no layout; must be 0. */
unsigned int mdv_counters_unknown(void);
int mdv_mr_open(struct mdv_dev *dev);
void mdv_mr_close(struct mdv_dev *dev);
int mdv_rules_open(struct mdv_dev *dev);
void mdv_rules_close(struct mdv_dev *dev);

/** Reads a 64-bit value of two 32-bit device registers consistently. */
uint64_t mdv_clock_pair(const volatile void *registers);
/** Largest |delta| for which delta * mult + frac fits in 64 bits and delta in half of the mask. */
uint64_t mdv_clock_window(const struct mdv_clock_point *point);

#endif /* MDV_PRIVATE_H */
