/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * The card's registers: rte_eth_dev_get_reg_info(), a dump when the firmware fails, and telemetry's
 * /mlxpmd/fwdump/take, /get and /reset.
 *
 * Registers are read without the open device, so a dump works where the firmware answers no command any more. What
 * takes long is done without a lock of the port.
 */

#include <stdlib.h>

#include <rte_telemetry.h>

#include <mdv_fwdump.h>

#include "mlxpmd_ctrl.h"

/* Registers that fit the buffer of one telemetry reply. */
#define PAGE_MAX 200u
#define BOTH (MDV_FWDUMP_READ | MDV_FWDUMP_WRITE)

/* ------------------------------------------------------------------ ethdev */

/*
 * Copies all registers or the part from offset on; a "register" is a pair of address and value. Length 0 requests
 * all of them: DPDK's ethtool example and dpdk-proc-info pass that, with room for the count that the first call
 * returned, and the example leaves offset unset.
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
	/* A sub-function has no configuration space: the registers are those of its PF. */
	if (mdv->sf)
		return -ENOTSUP;
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

	/* Unplugged: there are no registers to read. */
	if (port->mdv->sf || mdv_fwdump_open(&port->mdv->pci, BOTH, &h) != 0)
		return;
	mdv_fwdump_stop_by(h, stop, arg);
	rc = mdv_fwdump_take(h);
	if (rc == 0)
		rc = mdv_fwdump_info(h, &info);
	if (rc == 0)
		MLXPMD_LOG(NOTICE, "port %u: %u registers of %s are kept (%s): dpdk-test-mlx fwdump get %s",
			   port->port_id, info.count, name, mdv_fwdump_route_name(info.route), name);
	else if (rc == -EEXIST)
		MLXPMD_LOG(NOTICE, "port %u: a dump of %s is kept already, its registers are not read again",
			   port->port_id, name);
	mdv_fwdump_close(h);
}

/* ------------------------------------------------------------------ telemetry */

/** A port's PCI address, and the part of its dump to return. */
struct request {
	struct rte_pci_addr pci;
	bool sf;
	uint32_t first, count;
};

static int
request_port(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	struct request *q = arg;

	q->pci = port->mdv->pci;
	q->sf = port->mdv->sf;
	rte_tel_data_add_dict_int(d, "port", port->port_id);
	return 0;
}

/* PORT[,FIRST[,COUNT]], of which at most words_max are allowed. */
static int
request_parse(const char *params, struct rte_tel_data *d, unsigned int words_max, struct request *q)
{
	unsigned long first = 0, count = PAGE_MAX;
	struct mlxpmd_words words;

	if (mlxpmd_words_split(&words, params) != 0 || words.n > words_max ||
	    (words.n > 1 && mlxpmd_number_parse(words.w[1], 10, UINT32_MAX, &first) != 0) ||
	    (words.n > 2 && mlxpmd_number_parse(words.w[2], 10, PAGE_MAX, &count) != 0))
		return -EINVAL;
	*q = (struct request){ .first = first, .count = count };
	return mlxpmd_telemetry_port(words.w[0], d, request_port, q);
}

static int
add_result(struct rte_tel_data *d, const char *name, const char *text)
{
	rte_tel_data_add_dict_string(d, "result", name);
	return rte_tel_data_add_dict_string(d, "text", text);
}

/* The results that mdv_fwdump.h documents, by name. */
static int
add_errno(struct rte_tel_data *d, int rc)
{
	static const struct {
		int err;
		const char *name, *text;
	} rows[] = {
		{ 0, "ok", "done" },
		{ EEXIST, "EEXIST", "a dump is kept already" },
		{ ENOENT, "ENOENT", "no dump is kept" },
		{ EIO, "EIO", "there is no way to the registers, or the dump is damaged" },
		{ EBUSY, "EBUSY", "another program holds the lock of the register gateway" },
		{ ETIMEDOUT, "ETIMEDOUT", "the register gateway does not answer" },
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		if (rows[i].err == -rc)
			return add_result(d, rows[i].name, rows[i].text);
	return add_result(d, "error", rte_strerror(-rc));
}

static void
add_info(struct rte_tel_data *d, const struct mdv_fwdump_info *info)
{
	rte_tel_data_add_dict_string(d, "route", mdv_fwdump_route_name(info->route));
	rte_tel_data_add_dict_uint(d, "registers", info->count);
	rte_tel_data_add_dict_uint(d, "unreadable", info->unreadable);
	rte_tel_data_add_dict_uint(d, "taken_s", info->taken_s);
	rte_tel_data_add_dict_uint(d, "process", info->pid);
}

static int
add_values(struct rte_tel_data *d, const struct mdv_fwdump_reg *regs, size_t n)
{
	struct rte_tel_data *c = mlxpmd_telemetry_dict(d, "values");
	char addr[16], val[16];

	if (c == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		snprintf(addr, sizeof(addr), "0x%08" PRIx32, regs[i].addr);
		snprintf(val, sizeof(val), "0x%08" PRIx32, regs[i].val);
		rte_tel_data_add_dict_string(c, addr, val);
	}
	return 0;
}

/* Reads the whole dump, which is a file in memory, and adds the requested part. */
static int
fwdump_get(struct mdv_fwdump *h, const struct request *q, struct rte_tel_data *d)
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
		rte_tel_data_add_dict_uint(d, "first", q->first);
		rc = add_values(d, n != 0 ? all + q->first : all, n);
	}
	free(all);
	return rc;
}

static int
fwdump_take(struct mdv_fwdump *h, const struct request *q __rte_unused, struct rte_tel_data *d)
{
	struct mdv_fwdump_info info;
	int rc = mdv_fwdump_take(h);

	if (rc == 0 && mdv_fwdump_info(h, &info) == 0)
		add_info(d, &info);
	return rc;
}

static int
fwdump_reset(struct mdv_fwdump *h, const struct request *q __rte_unused, struct rte_tel_data *d __rte_unused)
{
	return mdv_fwdump_reset(h);
}

static const struct {
	const char *name;
	unsigned int words_max;
	int (*run)(struct mdv_fwdump *h, const struct request *q, struct rte_tel_data *d);
	const char *help;
} commands[] = {
	{ "/mlxpmd/fwdump/take", 1, fwdump_take,
	  "Takes a dump of the card's registers and keeps it. Parameters: port id" },
	{ "/mlxpmd/fwdump/get", 3, fwdump_get,
	  "The dump that is kept, up to 200 registers. Parameters: port id[,first[,count]]" },
	{ "/mlxpmd/fwdump/reset", 1, fwdump_reset, "Drops the dump that is kept. Parameters: port id" },
};

/* Needs only the PCI address of the port, which may be closed meanwhile. */
static int
telemetry_fwdump(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mdv_fwdump *h;
	struct request q;
	unsigned int i = 0;
	int rc;

	while (strcmp(commands[i].name, cmd) != 0)
		i++;
	rc = request_parse(params, d, commands[i].words_max, &q);
	if (rc != 0)
		return rc;
	if (q.sf)
		return add_result(d, "ENOTSUP", "a sub-function has no registers of its own: take those of its PF "
				  "(dpdk-test-mlx fwdump take PCI)");
	rc = mdv_fwdump_open(&q.pci, BOTH, &h);
	if (rc == -ENOENT)
		return add_result(d, "ENOENT", "there is no such PCI device any more");
	if (rc == 0) {
		rc = commands[i].run(h, &q, d);
		mdv_fwdump_close(h);
	}
	return add_errno(d, rc);
}

RTE_INIT(mlxpmd_telemetry_fwdump_init)
{
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, telemetry_fwdump, commands[i].help);
}
