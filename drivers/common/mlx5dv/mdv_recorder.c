/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* The flight recorder: records of commands, the file, and names for its readers. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "mdv_fwdump_int.h"
#include "mdv_recorder.h"

#define FILE_MODE 0600
/* Refused queries are noted with the events once in so long: a task may repeat them many times a second. */
#define QUERY_FAILED_NS UINT64_C(10000000000)

int
mdv_recorder_up(struct mdv_dev *dev)
{
	dev->recorder = mdv_zalloc_shared(dev->name, sizeof(*dev->recorder), "the recorder");
	return dev->recorder != NULL ? 0 : -ENOMEM;
}

void
mdv_recorder_down(struct mdv_dev *dev)
{
	rte_free(dev->recorder);
	dev->recorder = NULL;
}

/* ------------------------------------------------------------------ commands and calls */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_command_reads)
bool
mdv_command_reads(uint16_t opcode, uint16_t op_mod)
{
	const struct prm_command *cmd = prm_command_find(opcode);

	if (cmd == NULL)
		return false;
	if (opcode == PRM_CMD_OP_ACCESS_REGISTER || opcode == PRM_CMD_OP_ACCESS_REGISTER_USER)
		return op_mod == PRM_ACCESS_REG_OP_READ;
	return cmd->cls == PRM_CMD_QUERY || strncmp(cmd->name, "QUERY_", 6) == 0;
}

/* Whether a refused query goes to the lane of queries, because another one was noted with the events just now. */
static bool
repeats(struct mdv_recorder *rec, uint64_t now_ns)
{
	uint64_t last = __atomic_load_n(&rec->query_failed_ns, __ATOMIC_RELAXED);

	if (last != 0 && now_ns - last < QUERY_FAILED_NS)
		return true;
	__atomic_store_n(&rec->query_failed_ns, now_ns, __ATOMIC_RELAXED);
	return false;
}

void
mdv_record_cmd(struct mdv_dev *dev, struct mdv_record r, bool quiet)
{
	const bool reads = mdv_command_reads(r.op, r.arg), failed = r.status != PRM_STATUS_OK || r.value != 0;
	enum mdv_record_lane lane = MDV_LANE_EVENTS;

	if (dev->recorder == NULL)
		return;
	r.time_ns = mdv_now_ns();
	if (quiet && failed)
		r.flags |= MDV_RECORD_QUIET;
	if (!failed || quiet)
		lane = reads || failed ? MDV_LANE_QUERIES : MDV_LANE_COMMANDS;
	/* Of a removed device every command fails: that must not displace why it was removed. */
	else if (mdv_removed(dev))
		lane = MDV_LANE_COMMANDS;
	else if (reads && repeats(dev->recorder, r.time_ns))
		lane = MDV_LANE_QUERIES;
	mdv_record_lane(dev, lane, r);
}

void
mdv_record_mailboxes(struct mdv_dev *dev, const void *in, size_t in_bytes, const void *out, int err, bool quiet,
		     uint64_t begin_ns)
{
	const uint8_t *i = in, *o = out;
	const uint16_t opcode = (uint16_t)(i[0] << 8 | i[1]);
	const struct prm_command *cmd = prm_command_find(opcode);
	const int failed = o[0] != PRM_STATUS_OK ? EREMOTEIO : err;
	const uint32_t syndrome = (uint32_t)o[4] << 24 | o[5] << 16 | o[6] << 8 | o[7];
	struct mdv_record r = {
		.kind = MDV_RECORD_COMMAND, .op = opcode, .arg = (uint16_t)(i[6] << 8 | i[7]), .status = o[0],
		.value = syndrome, .duration_ns = mdv_duration_ns(begin_ns),
	};

	if (dev->recorder == NULL)
		return;
	if (o[0] == PRM_STATUS_OK) {
		r.kind = err != 0 ? MDV_RECORD_COMMAND_ERRNO : MDV_RECORD_COMMAND;
		r.value = err;
	}
	if (cmd == NULL)
		r.object = 0;
	else if (cmd->cls != PRM_CMD_CREATE && (cmd->in_id.dword + 1u) * 4 <= in_bytes)
		r.object = prm_field_ref_get(in, cmd->in_id);
	else if (cmd->cls == PRM_CMD_CREATE && failed == 0 && cmd->out_id.dword * 4u < MDV_MAILBOX_BYTES_MIN)
		r.object = prm_field_ref_get(out, cmd->out_id);
	mdv_record_cmd(dev, r, quiet);
}

/* By index: the number in files. New ones are added at the end. */
static const char *const calls[] = {
	"a call", "ibv_alloc_pd", "ibv_dealloc_pd", "ibv_reg_mr", "ibv_dereg_mr", "ibv_query_device", "ibv_query_port",
	"ibv_destroy_flow", "ibv_destroy_flow_action", "mlx5dv_open_device", "mlx5dv_create_flow",
	"mlx5dv_create_flow_matcher", "mlx5dv_destroy_flow_matcher", "mlx5dv_create_flow_action_modify_header",
	"mlx5dv_create_flow_action_packet_reformat", "mlx5dv_devx_alloc_uar", "mlx5dv_devx_alloc_msi_vector",
	"mlx5dv_devx_create_cmd_comp", "mlx5dv_devx_create_event_channel", "mlx5dv_devx_destroy_eq",
	"mlx5dv_devx_query_eqn", "mlx5dv_devx_subscribe_devx_event_fd", "mlx5dv_devx_umem_dereg", "mlx5dv_devx_umem_reg",
};

void
mdv_record_call(const struct mdv_dev *dev, const char *call, int err)
{
	uint16_t op = RTE_DIM(calls) - 1;
	const char *at;

	/* Some are macros: in the text there may be something before the name. */
	for (; op > 0; op--) {
		at = strstr(call, calls[op]);
		if (at != NULL && at[strlen(calls[op])] == '(')
			break;
	}
	/* What the kernel or the device does not have is tried, and done without or in another way. */
	mdv_record_lane(dev, mdv_removed(dev) ? MDV_LANE_COMMANDS : MDV_LANE_EVENTS,
			(struct mdv_record){ .kind = MDV_RECORD_CALL, .op = op, .value = err,
					     .flags = err == EOPNOTSUPP ? MDV_RECORD_QUIET : 0 });
}

/* ------------------------------------------------------------------ the file */

/** What is written: at most a header and all records. */
struct image {
	struct mdv_recorder_head head;
	uint64_t words[MDV_RECORDS_MAX][MDV_RECORD_WORDS];
};

/* Copies the records that are complete, and stay so while they are copied. */
static uint32_t
records_copy(const struct mdv_recorder *rec, uint64_t to[][MDV_RECORD_WORDS])
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < MDV_RECORDS_MAX; i++) {
		const uint64_t *from = rec->words[i];
		struct mdv_record r;
		uint64_t before = __atomic_load_n(&from[1], __ATOMIC_ACQUIRE);

		to[n][0] = __atomic_load_n(&from[0], __ATOMIC_ACQUIRE);
		to[n][2] = __atomic_load_n(&from[2], __ATOMIC_ACQUIRE);
		to[n][3] = __atomic_load_n(&from[3], __ATOMIC_ACQUIRE);
		to[n][1] = __atomic_load_n(&from[1], __ATOMIC_ACQUIRE);
		memcpy(&r, to[n], sizeof(r));
		n += r.number != 0 && to[n][1] == before;
	}
	return n;
}

static void
image_fill(const struct mdv_dev *dev, enum mdv_recorder_reason reason, const struct mdv_recorder_owner *owner,
	   struct image *image)
{
	struct mdv_recorder_head *h = &image->head;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*h = (struct mdv_recorder_head){
		.magic = MDV_RECORDER_MAGIC, .version = MDV_RECORDER_VERSION, .pid = getpid(),
		.written_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
		.written_monotonic_ns = mdv_now_ns(), .reason = reason, .port_id = owner->port_id, .mode = dev->mode,
	};
	for (unsigned int i = 0; i < MDV_NB_LANES; i++)
		h->noted[i] = __atomic_load_n(&dev->recorder->noted[i], __ATOMIC_RELAXED);
	snprintf(h->device, sizeof(h->device), "%.63s", dev->name);
	snprintf(h->ibdev, sizeof(h->ibdev), "%.63s", dev->ibdev_name);
	snprintf(h->netdev, sizeof(h->netdev), "%.15s", dev->netdev_name);
	snprintf(h->firmware, sizeof(h->firmware), "%.63s", dev->fw_version);
	snprintf(h->driver, sizeof(h->driver), "%.63s", owner->driver);
	h->records = records_copy(dev->recorder, image->words);
}

/* Creates a file that does not exist, and writes it. 0 or -errno; a file that is not complete is deleted. */
static int
file_write(int dir, const char *name, const struct image *image)
{
	const size_t bytes = sizeof(image->head) + image->head.records * sizeof(image->words[0]);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE), ret;

	if (fd < 0)
		return -errno;
	ret = mdv_write_all(fd, image, bytes);
	if (close(fd) != 0 && ret == 0)
		ret = -errno;
	if (ret != 0)
		(void)unlinkat(dir, name, 0);
	return ret;
}

/* The name of the next file: a number that is free, else that of the oldest file. */
static void
name_choose(int dir, const struct mdv_dev *dev, char *name, size_t bytes)
{
	char each[96];
	struct stat st, oldest = { 0 };
	bool chosen = false;

	for (unsigned int i = 0; i < MDV_RECORDER_FILES; i++) {
		snprintf(each, sizeof(each), "recorder-%s-%u", dev->name, i);
		if (fstatat(dir, each, &st, AT_SYMLINK_NOFOLLOW) != 0) {
			snprintf(name, bytes, "%s", each);
			return;
		}
		if (!chosen || st.st_mtim.tv_sec < oldest.st_mtim.tv_sec ||
		    (st.st_mtim.tv_sec == oldest.st_mtim.tv_sec && st.st_mtim.tv_nsec < oldest.st_mtim.tv_nsec)) {
			snprintf(name, bytes, "%s", each);
			oldest = st;
			chosen = true;
		}
	}
}

/* Into the folder: complete or not at all, by renaming, which replaces a link and not what it points to. */
static int
folder_write(const struct mdv_dev *dev, const struct image *image, char *written)
{
	char folder[512], name[96], fresh[128];
	int dir = mdv_fwdump_folder(&dev->pci, true, folder, sizeof(folder)), ret;

	if (dir < 0)
		return dir;
	snprintf(fresh, sizeof(fresh), "recorder-%s.new.%d", dev->name, (int)getpid());
	ret = file_write(dir, fresh, image);
	/* Of a process of that number that was killed meanwhile. */
	if (ret == -EEXIST && unlinkat(dir, fresh, 0) == 0)
		ret = file_write(dir, fresh, image);
	if (ret == 0) {
		name_choose(dir, dev, name, sizeof(name));
		snprintf(written, MDV_RECORDER_PATH_BYTES, "%s/%s", folder, name);
		if (renameat(dir, fresh, dir, name) != 0)
			ret = -errno;
	}
	if (ret != 0) {
		(void)unlinkat(dir, fresh, 0);
		MDV_LOG(ERR, dev->name, "the recorder cannot be written to %s: %s", folder, rte_strerror(-ret));
	}
	close(dir);
	return ret;
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_recorder_write)
int
mdv_recorder_write(const struct mdv_dev *dev, enum mdv_recorder_reason reason, const struct mdv_recorder_owner *owner,
		   const char *path, char *written)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* Of the names in the folder. */
	struct image *image = malloc(sizeof(*image));
	int ret;

	if (image == NULL)
		return MDV_FAIL(dev->name, ENOMEM, "no memory to write the recorder");
	image_fill(dev, reason, owner, image);
	if (path == NULL) {
		pthread_mutex_lock(&lock);
		ret = folder_write(dev, image, written);
		pthread_mutex_unlock(&lock);
	} else {
		snprintf(written, MDV_RECORDER_PATH_BYTES, "%s", path);
		ret = file_write(AT_FDCWD, path, image);
		if (ret != 0)
			MDV_LOG(ERR, dev->name, "the recorder cannot be written to %s: %s", path, rte_strerror(-ret));
	}
	free(image);
	return ret == 0 ? 0 : mdv_fail(-ret);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_recorder_probe_failed)
void
mdv_recorder_probe_failed(const struct mdv_dev *dev, const struct mdv_recorder_owner *owner, int rc)
{
	char written[MDV_RECORDER_PATH_BYTES];

	if (owner == NULL || dev->recorder == NULL || dev->recorder->noted[MDV_LANE_EVENTS] == 0)
		return;
	MDV_RECORD(dev, .kind = MDV_RECORD_PORT, .op = MDV_PORT_PROBE, .value = -rc);
	if (mdv_recorder_write(dev, MDV_RECORDER_PROBE, owner, NULL, written) == 0)
		MDV_LOG(NOTICE, dev->name, "the last commands and events are recorded: dpdk-test-mlx explain %s",
			written);
}

/* ------------------------------------------------------------------ names */

RTE_EXPORT_INTERNAL_SYMBOL(mdv_command_name)
const char *
mdv_command_name(uint16_t opcode)
{
	return prm_command_name(opcode);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_call_name)
const char *
mdv_call_name(uint16_t call)
{
	return calls[call < RTE_DIM(calls) ? call : 0];
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_fatal_name)
const char *
mdv_fatal_name(enum mdv_fatal why)
{
	static const char *const names[] = {
		[MDV_FATAL_NONE] = "unknown failure",
		[MDV_FATAL_KERNEL] = "fatal error, the kernel resets the device",
		[MDV_FATAL_NO_RESPONSE] = "no response on the PCI bus",
		[MDV_FATAL_HEALTH_BUFFER] = "health buffer not readable",
		[MDV_FATAL_EQ_OVERRUN] = "fatal firmware error: event queue overrun",
		[MDV_FATAL_FIRMWARE] = "fatal firmware error",
		[MDV_FATAL_DISABLED] = "firmware disabled the interface",
		[MDV_FATAL_STALLED] = "health counter stalled",
		[MDV_FATAL_TIMEOUT] = "command timeout",
	};

	return names[(unsigned int)why < RTE_DIM(names) ? why : MDV_FATAL_NONE];
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_event_name)
const char *
mdv_event_name(uint16_t type)
{
	return prm_event_type_name(type);
}

RTE_EXPORT_INTERNAL_SYMBOL(mdv_health_name)
const char *
mdv_health_name(uint8_t syndrome)
{
	return prm_health_synd_name(syndrome);
}
