/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Telemetry: /mlxpmd/caps, /mlxpmd/objects, /mlxpmd/cmd and /mlxpmd/explain: the state of a device's firmware.
 *
 * Issues firmware commands that change nothing, in telemetry's own thread.
 */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include <mdv_inspect.h>
#include <mdv_mlx4.h>

#include "mlxpmd_ctrl.h"

/* Limit of fields in a dictionary, below RTE_TEL_MAX_DICT_ENTRIES. */
#define FIELDS_MAX 240
/*
 * A reply has 16 KiB of JSON at most, of which fields and their names may take so many bytes: DPDK drops a container
 * that does not fit. Lines of hex take 4,400 bytes, the rest a few hundred.
 */
#define FIELDS_BYTES 15000
#define FIELDS_BYTES_HEX 11000
#define OBJECTS_MAX 4096
/* Of a reply in hex: bytes of a line, and lines. */
#define LINE_BYTES 32
#define LINES_MAX 64

/* ------------------------------------------------------------------ replies of the firmware */

struct fields {
	struct rte_tel_data *d;
	unsigned int n, left_out;
	size_t room;	/* In bytes. */
};

/*
 * Telemetry allows neither dots nor brackets in names: "pas[2].low" becomes "pas/2/low". Skips the name of the layout
 * of a page of capabilities, because a page has only one.
 */
static void
field_name(char *name, size_t size, const char *path)
{
	const char *skip = "capability.", *dot;
	size_t n = 0;

	if (strncmp(path, skip, strlen(skip)) == 0) {
		dot = strchr(path + strlen(skip), '.');
		path = dot != NULL ? dot + 1 : path + strlen(skip);
	}
	for (; *path != '\0' && n + 1 < size; path++)
		if (*path != ']')
			name[n++] = *path == '.' || *path == '[' ? '/' : *path;
	name[n] = '\0';
}

static void
add_field(void *arg, const char *path, uint64_t value, const char *value_name)
{
	struct fields *f = arg;
	char name[RTE_TEL_MAX_STRING_LEN], hex[2 + 16 + 1];
	size_t bytes;
	int rc;

	/* Added by add_result(). */
	if (strcmp(path, "status") == 0 || strcmp(path, "syndrome") == 0)
		return;
	if (f->n == FIELDS_MAX) {
		f->left_out++;
		return;
	}
	field_name(name, sizeof(name), path);
	/* JSON readers, jansson among them, refuse integers of more than 63 bits: GUIDs have 64. */
	snprintf(hex, sizeof(hex), "0x%016" PRIx64, value);
	if (value_name == NULL && value > INT64_MAX)
		value_name = hex;
	/* With quotes, colon, comma and space. */
	bytes = strlen(name) + 7;
	bytes += value_name != NULL ? strlen(value_name) : (size_t)snprintf(NULL, 0, "%" PRIu64, value);
	if (bytes > f->room) {
		f->left_out++;
		return;
	}
	f->room -= bytes;
	rc = value_name != NULL ? rte_tel_data_add_dict_string(f->d, name, value_name) :
				  rte_tel_data_add_dict_uint(f->d, name, value);
	f->n += rc == 0;
	f->left_out += rc != 0;
}

static int
add_fields(struct rte_tel_data *d, const struct mdv_request *q, size_t room)
{
	struct fields f = { .d = mlxpmd_telemetry_dict(d, "fields"), .room = room };

	if (f.d == NULL)
		return -ENOMEM;
	mdv_reply_fields(q, add_field, &f);
	if (f.left_out > 0)
		rte_tel_data_add_dict_int(d, "left_out", f.left_out);
	return 0;
}

/* The reply as lines of hex, without the zeros at its end. */
static int
add_hex(struct rte_tel_data *d, const struct mdv_request *q)
{
	const uint8_t *out = (const uint8_t *)q->out;
	struct rte_tel_data *lines;
	size_t end = q->out_bytes;
	char line[2 * LINE_BYTES + 1];

	while (end > 0 && out[end - 1] == 0)
		end--;
	if (end == 0)
		return 0;
	lines = rte_tel_data_alloc();
	if (lines == NULL)
		return -ENOMEM;
	rte_tel_data_start_array(lines, RTE_TEL_STRING_VAL);
	for (size_t at = 0; at < RTE_MIN(end, (size_t)LINE_BYTES * LINES_MAX); at += LINE_BYTES) {
		for (size_t i = 0; i < LINE_BYTES; i++)
			snprintf(&line[2 * i], 3, "%02x", out[at + i]);
		rte_tel_data_add_array_string(lines, line);
	}
	return mlxpmd_telemetry_add(d, "hex", lines);
}

/* Reason of a failure without a reply. The kernel refuses a command that its list does not have with EINVAL. */
static const char *
no_reply_reason(const struct mlxpmd_port *port, int err)
{
	if (err == -ENOENT)
		return "no such object of this port";
	if (mdv_removed(port->mdv) || err == -ENODEV)
		return "the device was removed";
	return err == -EINVAL || err == -EPERM || err == -EACCES || err == -EOPNOTSUPP ?
		       "not permitted by the kernel" : "the device does not answer";
}

static void
add_result(struct rte_tel_data *d, const struct mlxpmd_port *port, const struct mdv_request *q, int err)
{
	struct mdv_explanation e;

	mdv_explain(q->status, q->syndrome, &e);
	rte_tel_data_add_dict_string(d, "answer", err == 0 ? "done" : q->status != 0 ? "refused" :
				     no_reply_reason(port, err));
	if (err == 0)
		return;
	rte_tel_data_add_dict_string(d, "errno", strerrorname_np(-err));
	if (q->status == 0)
		return;
	rte_tel_data_add_dict_string(d, "status", e.name);
	rte_tel_data_add_dict_string(d, "meaning", e.meaning);
	rte_tel_data_add_dict_uint(d, "syndrome", q->syndrome);
	rte_tel_data_add_dict_string(d, "syndrome_meaning", e.syndrome);
}

/* ------------------------------------------------------------------ caps */

static int
add_page_names(struct rte_tel_data *d)
{
	struct rte_tel_data *names = rte_tel_data_alloc();
	const char *name;

	if (names == NULL)
		return -ENOMEM;
	rte_tel_data_start_array(names, RTE_TEL_STRING_VAL);
	for (unsigned int i = 0; (name = mdv_caps_page_name(i)) != NULL; i++)
		rte_tel_data_add_array_string(names, name);
	return mlxpmd_telemetry_add(d, "pages", names);
}

static int
add_caps(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	struct mdv_request *q = arg;
	int err = mdv_request_run(port->mdv, q), rc;

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_string(d, "device", port->mdv->ibdev_name);
	rte_tel_data_add_dict_string(d, "driver", "mlx5");
	add_result(d, port, q, err);
	rc = err == 0 ? add_fields(d, q, FIELDS_BYTES) : 0;
	return rc == 0 ? add_page_names(d) : rc;
}

/* The reply of an mlx4 device, which is no port of this driver: opens it, queries it and closes it. */
static int
caps_of_mlx4(struct rte_tel_data *d, const char *address)
{
	struct mdv_mlx4 mlx4 = { .comp_mask = 0 };
	struct rte_pci_addr pci;
	int rc;

	if (rte_pci_addr_parse(address, &pci) != 0)
		return -EINVAL;
	rc = mdv_mlx4_query(&pci, &mlx4);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "pci", address);
	if (rc != 0) {
		rte_tel_data_add_dict_string(d, "answer", rc == -ENOTSUP ?
					     "no mlx4 device: a port of mlxpmd is given by its id" :
					     rc == -ENODEV ? "no RDMA device there" :
					     "the device does not answer");
		rte_tel_data_add_dict_string(d, "errno", strerrorname_np(-rc));
		return 0;
	}
	rte_tel_data_add_dict_string(d, "device", mlx4.ibdev_name);
	rte_tel_data_add_dict_string(d, "driver", "mlx4");
	rte_tel_data_add_dict_string(d, "answer", "done");
	rte_tel_data_add_dict_string(d, "card", mlx4.card);
	rte_tel_data_add_dict_string(d, "served_by", MDV_MLX4_SERVED_BY);
	rte_tel_data_add_dict_string(d, "firmware", mlx4.fw_version);
	rte_tel_data_add_dict_int(d, "ports", mlx4.ports);
	rte_tel_data_add_dict_int(d, "version", mlx4.version);
	rte_tel_data_add_dict_uint(d, "max_inl_recv_sz", mlx4.max_inl_recv_sz);
	rte_tel_data_add_dict_uint(d, "comp_mask", mlx4.comp_mask);
	return 0;
}

static int
telemetry_caps(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mdv_request *q;
	struct mlxpmd_words words;
	int rc = mlxpmd_words_split(&words, params);

	RTE_SET_USED(cmd);
	if (rc != 0 || words.n > 2)
		return -EINVAL;
	if (words.n == 1 && strchr(words.w[0], ':') != NULL)
		return caps_of_mlx4(d, words.w[0]);
	q = malloc(sizeof(*q));
	if (q == NULL)
		return -ENOMEM;
	if (mdv_request_caps(words.n > 1 ? words.w[1] : "GENERAL", q) == 0) {
		rc = mlxpmd_telemetry_port(words.w[0], d, add_caps, q);
	} else {
		rte_tel_data_start_dict(d);
		rte_tel_data_add_dict_string(d, "answer", "not issued: there is no such page");
		rc = add_page_names(d);
	}
	free(q);
	return rc;
}

/* ------------------------------------------------------------------ objects */

/* Adds all objects of the first one's type, and removes them from the list. */
static int
add_type(struct rte_tel_data *d, struct mdv_obj_info *info, unsigned int n)
{
	struct rte_tel_data *ids = rte_tel_data_alloc();
	const char *type = info[0].type;
	char name[RTE_TEL_MAX_STRING_LEN];

	if (ids == NULL)
		return -ENOMEM;
	rte_tel_data_start_array(ids, RTE_TEL_U64_VAL);
	for (unsigned int i = 0; i < n; i++) {
		if (info[i].type == NULL || strcmp(info[i].type, type) != 0)
			continue;
		rte_tel_data_add_array_uint(ids, info[i].id);
		info[i].type = NULL;
	}
	field_name(name, sizeof(name), type);
	return mlxpmd_telemetry_add(d, name, ids);
}

static int
add_objects(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	struct mdv_obj_info *info = arg;
	unsigned int n = mdv_objects_get(port->mdv, info, OBJECTS_MAX);
	struct rte_tel_data *types;
	int rc = 0;

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_int(d, "objects", n);
	rte_tel_data_add_dict_int(d, "lost", port->mdv->lost);
	rte_tel_data_add_dict_uint(d, "commands_refused",
				  __atomic_load_n(&port->mdv->refused, __ATOMIC_RELAXED));
	types = mlxpmd_telemetry_dict(d, "types");
	if (types == NULL)
		return -ENOMEM;
	n = RTE_MIN(n, (unsigned int)OBJECTS_MAX);
	for (unsigned int i = 0; rc == 0 && i < n; i++)
		if (info[i].type != NULL)
			rc = add_type(types, &info[i], n - i);
	return rc;
}

static int
telemetry_objects(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct mdv_obj_info *info = calloc(OBJECTS_MAX, sizeof(*info));
	int rc;

	RTE_SET_USED(cmd);
	if (info == NULL)
		return -ENOMEM;
	rc = mlxpmd_telemetry_port(params, d, add_objects, info);
	free(info);
	return rc;
}

/* ------------------------------------------------------------------ cmd */

/* Pairs of digits, without anything between: half as many bytes. Their number, or -EINVAL. */
static int
hex_parse(const char *text, uint8_t *bytes)
{
	size_t n = 0;

	for (; text[0] != '\0'; text += 2, n++) {
		const char digits[] = { text[0], text[1], '\0' };

		if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
			return -EINVAL;
		bytes[n] = strtoul(digits, NULL, 16);
	}
	return n;
}

static int
add_command(struct rte_tel_data *d, struct mlxpmd_port *port, void *arg)
{
	struct mdv_request *q = arg;
	int err = mdv_request_run(port->mdv, q), rc;

	rte_tel_data_add_dict_int(d, "port", port->port_id);
	rte_tel_data_add_dict_string(d, "command", q->name);
	rte_tel_data_add_dict_int(d, "opcode", q->opcode);
	add_result(d, port, q, err);
	rc = add_fields(d, q, FIELDS_BYTES_HEX);
	return rc == 0 ? add_hex(d, q) : rc;
}

/* A reply with the reason why a command was not issued; DPDK would reply null for an error. */
static int
add_not_issued(struct rte_tel_data *d, int rc, const char *refused)
{
	char why[RTE_TEL_MAX_STRING_LEN] = "not issued: this command changes something, or may";

	if (refused[0] != '\0')
		snprintf(why, sizeof(why), "not issued: this changes something, or may: %s", refused);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "answer",
				     rc == -EPERM ? why :
				     rc == -EMSGSIZE ? "not issued: too many bytes for this command" :
				     rc == -EINVAL ? "not issued: HEX is two digits a byte and nothing else" :
				     "not issued: there is no such command");
	rte_tel_data_add_dict_string(d, "errno", strerrorname_np(-rc));
	return 0;
}

static int
telemetry_cmd(const char *cmd, const char *params, struct rte_tel_data *d)
{
	uint8_t rest[MLXPMD_WORDS_BYTES / 2];
	struct mdv_request *q;
	struct mlxpmd_words words;
	int rc = mlxpmd_words_split(&words, params), n = 0;

	RTE_SET_USED(cmd);
	if (rc != 0 || words.n < 2 || words.n > 3)
		return -EINVAL;
	if (words.n == 3)
		n = hex_parse(words.w[2], rest);
	if (n < 0)
		return add_not_issued(d, n, "");
	q = malloc(sizeof(*q));
	if (q == NULL)
		return -ENOMEM;
	rc = mdv_request_make(words.w[1], rest, n, q);
	rc = rc == 0 ? mlxpmd_telemetry_port(words.w[0], d, add_command, q) : add_not_issued(d, rc, q->refused);
	free(q);
	return rc;
}

/* ------------------------------------------------------------------ explain */

static int
explain_completion(struct rte_tel_data *d, const char *text)
{
	unsigned long syndrome;

	if (mlxpmd_number_parse(text, 0, UINT8_MAX, &syndrome) != 0)
		return -EINVAL;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "completion", mdv_syndrome_name(syndrome));
	rte_tel_data_add_dict_string(d, "meaning", mdv_syndrome_meaning(syndrome));
	return 0;
}

static int
telemetry_explain(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned long status = 0, syndrome = 0;
	struct mdv_explanation e;
	struct mlxpmd_words words;
	uint8_t found;

	RTE_SET_USED(cmd);
	if (mlxpmd_words_split(&words, params) != 0 || words.n > 2)
		return -EINVAL;
	if (words.n == 2 && strcmp(words.w[0], "cqe") == 0)
		return explain_completion(d, words.w[1]);
	if (mdv_status_find(words.w[0], &found) == 0)
		status = found;
	else if (mlxpmd_number_parse(words.w[0], 0, UINT8_MAX, &status) != 0)
		return -EINVAL;
	if (words.n == 2 && mlxpmd_number_parse(words.w[1], 0, UINT32_MAX, &syndrome) != 0)
		return -EINVAL;
	mdv_explain(status, syndrome, &e);
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "status", e.name);
	rte_tel_data_add_dict_string(d, "errno", e.errno_name);
	rte_tel_data_add_dict_string(d, "meaning", e.meaning);
	if (words.n == 2)
		rte_tel_data_add_dict_string(d, "syndrome_meaning", e.syndrome);
	return 0;
}

RTE_INIT(mlxpmd_telemetry_devx_init)
{
	rte_telemetry_register_cmd("/mlxpmd/caps", telemetry_caps,
				   "A page of the device's capabilities, as the firmware reports it. Parameters: port id[,page], or PCI address of an mlx4 device");
	rte_telemetry_register_cmd("/mlxpmd/objects", telemetry_objects,
				   "Firmware objects of a port by type. Parameters: port id");
	rte_telemetry_register_cmd("/mlxpmd/cmd", telemetry_cmd,
				   "Runs a firmware command that only queries. Parameters: port id,opcode[,hex of inbox from byte 4 on]");
	rte_telemetry_register_cmd("/mlxpmd/explain", telemetry_explain,
				   "What a refusal means. Parameters: status[,syndrome], or cqe,syndrome of an error completion");
}
