/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The card's registers: rte_eth_dev_get_reg_info(), a dump when the firmware fails, and telemetry's
 * /mlxpmd/fwdump/take, /get and /reset.
 *
 * Registers are reached beside the open device, so a dump works where the device answers nothing any more. What
 * lasts long is done without any lock of the port's.
 */

#include <ctype.h>
#include <stdlib.h>

#include <rte_telemetry.h>

#include <mdv_fwdump.h>

#include "mlxpmd_ctrl.h"

/* Of one telemetry answer: its buffer has room for so many registers. */
#define PAGE_MAX 200u
#define BOTH (MDV_FWDUMP_READ | MDV_FWDUMP_WRITE)

/* ------------------------------------------------------------------ ethdev */

/*
 * All of them or the part from offset on; a "register" is the pair of address and value. Length 0 is all of
 * them: so DPDK's ethtool example and dpdk-proc-info ask, with room for what the first call told, and the
 * former leaves offset unset.
 */
static int
registers_get(struct mdv_fwdump *h, struct rte_dev_reg_info *info)
{
	const size_t first = info->length != 0 ? info->offset : 0;
	struct mdv_fwdump_reg *all;
	size_t count = 0, filled, n;
	int rc = mdv_fwdump_get_current(h, NULL, 0, &count, NULL);

	if (rc != 0)
		return rc;
	if (info->data == NULL) {
		info->length = count;
		return 0;
	}
	all = calloc(count + 1, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	rc = mdv_fwdump_get_current(h, all, count, &filled, NULL);
	if (rc == 0 && first > filled)
		rc = -EINVAL;
	if (rc == 0) {
		n = filled - first;
		if (info->length != 0 && info->length < n)
			n = info->length;
		memcpy(info->data, all + first, n * sizeof(*all));
		info->length = n;
	}
	free(all);
	return rc;
}

int
mlxpmd_get_reg(struct rte_eth_dev *eth_dev, struct rte_dev_reg_info *info)
{
	const struct mdv_dev *mdv = MLXPMD_PORT(eth_dev)->mdv;
	struct mdv_fwdump *h;
	int rc;

	info->width = sizeof(struct mdv_fwdump_reg);
	info->version = mdv->caps.pci_device_id;
	rc = mdv_fwdump_open(&mdv->pci, BOTH, &h);
	if (rc != 0)
		return rc == -ENOENT ? -ENODEV : rc;
	rc = registers_get(h, info);
	mdv_fwdump_close(h);
	return rc;
}

/* ------------------------------------------------------------------ a device that failed */

void
mlxpmd_fwdump_fatal(struct mlxpmd_port *port, bool (*stop)(const void *arg), const void *arg)
{
	const char *name = port->eth_dev->device->name;
	struct mdv_fwdump_info info;
	struct mdv_fwdump *h;
	int rc;

	/* Unplugged: there is nothing to look at. */
	if (mdv_fwdump_open(&port->mdv->pci, BOTH, &h) != 0)
		return;
	mdv_fwdump_stop_by(h, stop, arg);
	rc = mdv_fwdump_take(h);
	if (rc == 0)
		rc = mdv_fwdump_info(h, &info);
	if (rc == 0)
		MLXPMD_LOG(NOTICE, "port %u: %u registers of %s are kept (%s): dpdk-test-mlx fwdump get %s",
			   port->port_id, info.count, name, mdv_fwdump_route_name(info.route), name);
	else if (rc == -EEXIST)
		MLXPMD_LOG(NOTICE, "port %u: a dump of %s is kept already, its registers are not looked at again",
			   port->port_id, name);
	mdv_fwdump_close(h);
}

/* ------------------------------------------------------------------ telemetry */

/** What is asked: a port's device, and which part of its dump. */
struct question {
	struct rte_pci_addr pci;
	uint32_t first, count;
};

static int
question_port(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	struct question *q = arg;

	q->pci = port->mdv->pci;
	rte_tel_data_add_dict_int(d, "port", port->port_id);
	return 0;
}

/* "PORT", or with parts "PORT[,FIRST[,COUNT]]": digits only. */
static int
question_read(const char *params, struct rte_tel_data *d, bool parts, struct question *q)
{
	char port[8];
	size_t n = params != NULL ? strcspn(params, ",") : 0;
	uint32_t *to[] = { &q->first, &q->count };
	const char *p;

	*q = (struct question){ .count = PAGE_MAX };
	if (n == 0 || n >= sizeof(port) || (!parts && params[n] != '\0'))
		return -EINVAL;
	snprintf(port, sizeof(port), "%.*s", (int)n, params);
	p = params + n;
	for (unsigned int i = 0; *p != '\0'; i++) {
		unsigned long v;
		char *end;

		if (i == RTE_DIM(to) || !isdigit((unsigned char)p[1]))
			return -EINVAL;
		v = strtoul(p + 1, &end, 10);
		if ((*end != '\0' && *end != ',') || v > UINT32_MAX)
			return -EINVAL;
		*to[i] = v;
		p = end;
	}
	if (q->count > PAGE_MAX)
		return -EINVAL;
	return mlxpmd_telemetry_ask(port, d, question_port, q);
}

/* The states of the contract are answers. */
static int
answer(struct rte_tel_data *d, int rc)
{
	static const struct {
		int err;
		const char *name, *text;
	} rows[] = {
		{ 0, "ok", "done" },
		{ EEXIST, "EEXIST", "a dump is kept already" },
		{ ENOENT, "ENOENT", "no dump is kept" },
		{ EIO, "EIO", "there is no way to the registers, or the dump is damaged" },
		{ EBUSY, "EBUSY", "somebody else holds the lock of the register gateway" },
		{ ETIMEDOUT, "ETIMEDOUT", "the register gateway does not answer" },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		if (rows[i].err != -rc)
			continue;
		rte_tel_data_add_dict_string(d, "result", rows[i].name);
		return rte_tel_data_add_dict_string(d, "text", rows[i].text);
	}
	rte_tel_data_add_dict_string(d, "result", "error");
	return rte_tel_data_add_dict_string(d, "text", rte_strerror(-rc));
}

static void
add_info(struct rte_tel_data *d, const struct mdv_fwdump_info *info)
{
	rte_tel_data_add_dict_string(d, "route", mdv_fwdump_route_name(info->route));
	rte_tel_data_add_dict_u64(d, "registers", info->count);
	rte_tel_data_add_dict_u64(d, "unreadable", info->unreadable);
	rte_tel_data_add_dict_u64(d, "taken_s", info->taken_s);
	rte_tel_data_add_dict_u64(d, "process", info->pid);
}

static int
add_values(struct rte_tel_data *d, const struct mdv_fwdump_reg *regs, size_t n)
{
	struct rte_tel_data *c = rte_tel_data_alloc();
	char addr[16], val[16];
	int rc;

	if (c == NULL)
		return -ENOMEM;
	rte_tel_data_start_dict(c);
	for (size_t i = 0; i < n; i++) {
		snprintf(addr, sizeof(addr), "0x%08" PRIx32, regs[i].addr);
		snprintf(val, sizeof(val), "0x%08" PRIx32, regs[i].val);
		rte_tel_data_add_dict_string(c, addr, val);
	}
	rc = rte_tel_data_add_dict_container(d, "values", c, 0);
	if (rc != 0)
		rte_tel_data_free(c);
	return rc;
}

/* The part that is asked for; the whole is read, which is a file in memory. */
static int
dump_part(struct mdv_fwdump *h, const struct question *q, struct rte_tel_data *d)
{
	struct mdv_fwdump_reg *all = NULL;
	struct mdv_fwdump_info info;
	size_t filled = 0, n;
	int rc = mdv_fwdump_info(h, &info);

	if (rc == 0) {
		all = calloc((size_t)info.count + 1, sizeof(*all));
		rc = all != NULL ? mdv_fwdump_get(h, all, info.count, &filled) : -ENOMEM;
	}
	if (rc == 0) {
		n = q->first < filled ? RTE_MIN(filled - q->first, (size_t)q->count) : 0;
		add_info(d, &info);
		rte_tel_data_add_dict_u64(d, "first", q->first);
		rc = add_values(d, n != 0 ? all + q->first : all, n);
	}
	free(all);
	return rc;
}

static int
fwdump_take(struct mdv_fwdump *h, const struct question *q, struct rte_tel_data *d)
{
	struct mdv_fwdump_info info;
	int rc = mdv_fwdump_take(h);

	RTE_SET_USED(q);
	if (rc == 0 && mdv_fwdump_info(h, &info) == 0)
		add_info(d, &info);
	return rc;
}

static int
fwdump_reset(struct mdv_fwdump *h, const struct question *q, struct rte_tel_data *d)
{
	RTE_SET_USED(q);
	RTE_SET_USED(d);
	return mdv_fwdump_reset(h);
}

/* The port may go meanwhile: only its address is needed. */
static int
ask(const char *params, struct rte_tel_data *d, bool parts,
    int (*what)(struct mdv_fwdump *h, const struct question *q, struct rte_tel_data *d))
{
	struct mdv_fwdump *h;
	struct question q;
	int rc = question_read(params, d, parts, &q);

	if (rc != 0)
		return rc;
	rc = mdv_fwdump_open(&q.pci, BOTH, &h);
	if (rc == -ENOENT) {
		rte_tel_data_add_dict_string(d, "result", "ENOENT");
		return rte_tel_data_add_dict_string(d, "text", "there is no such PCI device any more");
	}
	if (rc != 0)
		return answer(d, rc);
	rc = what(h, &q, d);
	mdv_fwdump_close(h);
	return answer(d, rc);
}

static int
telemetry_take(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return ask(params, d, false, fwdump_take);
}

static int
telemetry_get(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return ask(params, d, true, dump_part);
}

static int
telemetry_reset(const char *cmd, const char *params, struct rte_tel_data *d)
{
	RTE_SET_USED(cmd);
	return ask(params, d, false, fwdump_reset);
}

RTE_INIT(mlxpmd_telemetry_fwdump_init)
{
	rte_telemetry_register_cmd("/mlxpmd/fwdump/take", telemetry_take,
				   "Takes a dump of the card's registers and keeps it. Parameters: port id");
	rte_telemetry_register_cmd("/mlxpmd/fwdump/get", telemetry_get,
				   "The dump that is kept, up to 200 registers. Parameters: port id[,first[,count]]");
	rte_telemetry_register_cmd("/mlxpmd/fwdump/reset", telemetry_reset,
				   "Drops the dump that is kept. Parameters: port id");
}
