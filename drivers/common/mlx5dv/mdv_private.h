/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* What the files of the common layer share and nobody else sees. */
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
#include "mdv_backend.h"

/** Unit of all page sizes the device is told of, whatever the host's page (PRM: 4 KiB). */
#define MDV_ADAPTER_PAGE_BYTES 4096u
/** A doorbell record has a cache line of its own. */
#define MDV_DBREC_BYTES 64u
#define MDV_CQE_BYTES 64u
#define MDV_LOG_WQEBB_BYTES 6
/** Smallest receive WQE: one data segment. */
#define MDV_LOG_RQ_STRIDE_MIN 4
#define MDV_LOG_RQ_STRIDE_MAX 9

/** One RDMA port per PCI function on all devices this layer opens. */
#define MDV_IB_PORT 1

extern int mdv_logtype;

/** One line, beginning with the device's PCI address. */
#define MDV_LOG(level, pci, fmt, ...) \
	rte_log(RTE_LOG_##level, mdv_logtype, "mlx5dv: " PCI_PRI_FMT ": " fmt "\n", \
		(pci)->domain, (pci)->bus, (pci)->devid, (pci)->function, ##__VA_ARGS__)

/** As MDV_LOG(ERR), but of a removed device, where everything fails, only for who looks closely. */
#define MDV_LOG_ERR(dev, fmt, ...) \
	rte_log(mdv_removed(dev) ? RTE_LOG_DEBUG : RTE_LOG_ERR, mdv_logtype, \
		"mlx5dv: " PCI_PRI_FMT ": " fmt "\n", (dev)->pci.domain, (dev)->pci.bus, \
		(dev)->pci.devid, (dev)->pci.function, ##__VA_ARGS__)

/** Sets rte_errno and returns -err: the end of every failing path. */
static inline int
mdv_fail(int err)
{
	rte_errno = err;
	return -err;
}

/** "EINVAL"; a number's name unknown to the host comes as "errno". */
const char *mdv_errno_name(int err);

/** What a library call says of failure, as a positive errno: some give that, some -1 and errno. */
static inline int
mdv_positive_errno(int ret)
{
	if (ret == -1)
		return errno != 0 ? errno : EIO;
	return ret < 0 ? -ret : ret;
}

/** A system call that a signal interrupted is repeated, but not for ever. */
#define MDV_EINTR_TRIES 100

/**
 * Would a call of the library that runs a command wait for ever? A device that went does not
 * answer, and where the process has it to itself, nobody does in its place. Looks at the device.
 */
bool mdv_unresponsive(struct mdv_dev *dev);
/** Keeps signals from this thread, where they would break into a command (struct mdv_backend). */
void mdv_signals_block(const struct mdv_dev *dev, sigset_t *was);
void mdv_signals_restore(const struct mdv_dev *dev, const sigset_t *was);

/** Around such a call: signals, and how many there are (struct mdv_dev, calls_begun). */
void mdv_run_begin(struct mdv_dev *dev, sigset_t *was);
/** Sets errno to ENODEV if the device went meanwhile: the library's own says nothing then. */
void mdv_run_end(struct mdv_dev *dev, const sigset_t *was);

/** Makes a call of the library that runs a command, without signals where it cannot bear them. */
#define MDV_RUN(dev, call) __extension__({ \
	sigset_t run_was_; \
	mdv_run_begin(dev, &run_was_); \
	__auto_type run_ret_ = (call); \
	mdv_run_end(dev, &run_was_); \
	run_ret_; \
})

/** The same of a call that gives an error number, if it can come to an end: a positive errno, or 0. */
#define MDV_RUN_ERR(dev, call) \
	(mdv_unresponsive(dev) ? ENODEV : mdv_run_errno(dev, MDV_RUN(dev, call)))
int mdv_run_errno(const struct mdv_dev *dev, int ret);

/** Makes a call again that a signal interrupted: one that gives a pointer, NULL and errno. */
#define MDV_RETRY_PTR(call) __extension__({ \
	__auto_type make_ret_ = (call); \
	for (int make_n_ = 1; make_ret_ == NULL && errno == EINTR && make_n_ < MDV_EINTR_TRIES; \
	     make_n_++) \
		make_ret_ = (call); \
	make_ret_; \
})

/** The same of a call that gives an error number: the positive errno, or 0. */
#define MDV_RETRY_ERR(call) __extension__({ \
	int ask_err_ = EINTR; \
	for (int ask_n_ = 0; ask_err_ == EINTR && ask_n_ < MDV_EINTR_TRIES; ask_n_++) \
		ask_err_ = mdv_positive_errno(call); \
	ask_err_; \
})

/**
 * Runs a call that takes something down, up to three times, a millisecond apart: one refusal that
 * passes would otherwise strand all that the object stands on. The last positive errno, or 0.
 */
#define MDV_RUN_DESTROY(dev, call) __extension__({ \
	int undo_err_, undo_tries_ = 0; \
	do { \
		if (undo_tries_ > 0) \
			rte_delay_us_sleep(1000); \
		undo_err_ = MDV_RUN_ERR(dev, call); \
	} while (undo_err_ != 0 && undo_err_ != ENODEV && !mdv_removed(dev) && ++undo_tries_ < 3); \
	mdv_suspect_if(dev, undo_err_); \
	undo_err_; \
})

/* ------------------------------------------------------------------ mdv_event.c */

/** How long the kernel is given to take a removed device's objects down. */
#define MDV_QUIESCE_MS 2000
void mdv_quiesced_set(struct mdv_dev *dev);
/** Remembers that an answer was one of a device that is not there: mdv_suspect(). */
void mdv_suspect_if(struct mdv_dev *dev, int err);

/* ------------------------------------------------------------------ mdv_port.c */

/** The own vport's context, without its lists. As mdv_cmd(). */
int mdv_vport_query(struct mdv_dev *dev, struct prm_query_nic_vport_context_out *out);
/** The own vport's address. As mdv_cmd(). */
int mdv_vport_mac(struct mdv_dev *dev, uint8_t mac[6]);

/* ------------------------------------------------------------------ mdv_verbs_port.c */

struct ifreq;
/**
 * An ioctl on the device's interface; fills in its name. Logs nothing. 0 or a positive errno: ENOTSUP
 * no interface here; ENODEV it is gone, even if another has its name by now.
 */
int mdv_netdev_ioctl(const struct mdv_dev *dev, unsigned long request, struct ifreq *ifr);

/* ------------------------------------------------------------------ mdv_ethtool.c: logs nothing */

/**
 * Looks up statistics of the interface by name; index[k] is -1 for those that there are not.
 * @return How many statistics the interface has, 0: none can be read.
 */
uint32_t mdv_ethtool_find(struct mdv_dev *dev, const char *const *names, unsigned int n, int *index);
/** Reads them. 0; -ESTALE when there are more or fewer by now; other -errno. */
int mdv_ethtool_read(struct mdv_dev *dev, uint32_t count, const int *index, unsigned int n,
		     uint64_t *values);
/** 0: not known, or no interface here. */
uint32_t mdv_ethtool_speed_mbps(struct mdv_dev *dev);

/* ------------------------------------------------------------------ mdv_cmd.c */

/** Both mailboxes of a command hold at least their common head. */
#define MDV_MAILBOX_BYTES_MIN 16
/** What the outbox and the system call say together. Logs unless quiet. 0 or -errno. */
int mdv_cmd_result(struct mdv_dev *dev, const void *in, size_t in_bytes, const void *out,
		int sys_err, bool quiet);
struct mlx5dv_devx_obj *mdv_exec_create(struct mdv_dev *dev, const void *in, size_t in_bytes,
					void *out, size_t out_bytes);
int mdv_exec_modify(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		    size_t out_bytes);
int mdv_exec_query(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		   size_t out_bytes);
/** Hands a query over; -EAGAIN is not logged. */
int mdv_exec_query_async(struct mdv_obj *obj, const void *in, size_t in_bytes, size_t out_bytes,
			 uint64_t number, struct mlx5dv_devx_cmd_comp *comp, bool quiet);
/** May the inbox be a query of this object? 0; -EINVAL and one line. */
int mdv_obj_query_check(const struct mdv_obj *obj, const void *in, size_t in_bytes);
/** As mdv_exec_query() but a refusal is neither logged nor counted. */
int mdv_exec_query_try(struct mdv_obj *obj, const void *in, size_t in_bytes, void *out,
		       size_t out_bytes);
int mdv_exec_destroy(struct mdv_obj *obj, uint16_t destroy_opcode);
/** Reads a register, by the command that the door has for it; quiet: no line when it is declined. */
int mdv_register_read(struct mdv_dev *dev, uint16_t register_id, void *reg, size_t reg_bytes,
		      bool quiet);
/** Writes one, which a user of the kernel's driver may not. As mdv_cmd(); reg: as it was answered. */
int mdv_register_write(struct mdv_dev *dev, uint16_t register_id, void *reg, size_t reg_bytes);

struct ibv_device;
/** The PCI function behind an RDMA device; -ENOENT for a device that has none; other -errno. */
int mdv_ibdev_pci(const struct ibv_device *ibdev, struct rte_pci_addr *pci);

/* ------------------------------------------------------------------ mdv_obj.c */

/**
 * Runs a query command on the object of this device that its inbox names. A refusal is neither
 * logged nor counted. 0; -ENOENT no such object; or as mdv_obj_query().
 */
int mdv_objects_query(struct mdv_dev *dev, const struct prm_command *cmd, const void *in,
		      size_t in_bytes, void *out, size_t out_bytes);

/* ------------------------------------------------------------------ mdv_caps.c */

/** Queries, checks and stores capabilities. -ENOTSUP when the device cannot be used. */
int mdv_caps_read(struct mdv_dev *dev);

/**
 * Refuses a port that is bonded in the device with another: queues without a port of their own to
 * send by would share the bond's. A device that does not answer has no bond. 0, -ENOTSUP.
 */
int mdv_lag_check(struct mdv_dev *dev);
/** What QUERY_LAG's good answer means: 0, or -ENOTSUP and one line when the bond is active. */
int mdv_lag_reply_check(const struct rte_pci_addr *pci, const struct prm_query_lag_out *out);

/** One limit told by the device: below min it cannot be used, above max it is not believed. */
struct mdv_cap_limit {
	const char *name;
	uint32_t min, max;
};
/** Brings *value into the limit, with one line if it must. 0; -ENOTSUP when it is below min. */
int mdv_cap_check(const struct rte_pci_addr *pci, const struct mdv_cap_limit *limit,
		  uint32_t *value);

/* ------------------------------------------------------------------ the rest */

/** Copies NAME= of a sysfs uevent file. 0, -ENOENT, or what opening the file says. */
int mdv_uevent_read(const char *path, const char *name, char *value, size_t bytes);

int mdv_ring_alloc(struct mdv_dev *dev, const char *what, size_t bytes, int socket_id,
		   struct mdv_ring *ring);
void mdv_ring_free(struct mdv_dev *dev, struct mdv_ring *ring);
/**
 * Destroys a queue's object and frees its ring; when the device refuses, and is not at rest either, the
 * ring stays where it is, because the device may still write there, and is lost until the process ends.
 * 0 or -errno.
 */
int mdv_ring_release(struct mdv_obj *obj, struct mdv_ring *ring);

/** Timestamp format a queue asks for: the clock's; without one free running, if the device can. */
uint32_t mdv_ts_format(const struct mdv_dev *dev);

/** Common part of a send or receive queue's work queue context. */
struct mdv_wq_place {
	const struct mdv_ring *ring;
	size_t dbrec_offset; /**< Of the pair of words, from the start of the ring. */
	uint8_t log_stride_bytes, log_entries;
};
void mdv_wq_fill(const struct mdv_dev *dev, struct prm_wq *wq, const struct mdv_wq_place *place);

/** May a queue go from one state to the other by one MODIFY command? 0 or -EINVAL, logged. */
int mdv_queue_transition(const struct mdv_dev *dev, const char *what, uint32_t number,
			 enum mdv_queue_state from, enum mdv_queue_state to);
/** Takes a state that the device told; -EPROTO and one line when it is none. */
int mdv_queue_state_take(const struct mdv_dev *dev, const char *what, uint32_t number,
			 uint32_t told, enum mdv_queue_state *state);

int mdv_port_open(struct mdv_dev *dev);
void mdv_port_close(struct mdv_dev *dev);
int mdv_counters_open(struct mdv_dev *dev);
void mdv_counters_close(struct mdv_dev *dev);
/** Rows of the counter table that name a field no layout has; 0, or the table is wrong. */
unsigned int mdv_counters_unknown(void);
int mdv_mr_open(struct mdv_dev *dev);
void mdv_mr_close(struct mdv_dev *dev);
int mdv_rules_open(struct mdv_dev *dev);
void mdv_rules_close(struct mdv_dev *dev);

/** Two registers of the device as one number that does not change from one to the other. */
uint64_t mdv_clock_pair(const volatile void *registers);
/** |delta| up to which 64-bit delta * mult + frac neither wraps nor crosses half of the mask. */
uint64_t mdv_clock_window(const struct mdv_clock_point *point);

#endif /* MDV_PRIVATE_H */
