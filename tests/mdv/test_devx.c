/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Inspection of a device: list of its objects, commands that only read, explanations. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mdv_inspect.h>

#include "mdv_test.h"

#define MAX_OBJS 256

static unsigned int
count_of(struct mdv_dev *dev, const char *type, uint32_t id)
{
	struct mdv_obj_info info[MAX_OBJS];
	unsigned int n = mdv_objects_get(dev, info, MAX_OBJS), found = 0;

	for (unsigned int i = 0; i < n && i < MAX_OBJS; i++)
		found += strcmp(info[i].type, type) == 0 && info[i].id == id;
	return found;
}

static void
test_list(struct mdv_dev *dev)
{
	const unsigned int before = mdv_objects_get(dev, NULL, 0);
	struct mdv_obj *tis[3], *counter;
	struct mdv_obj_info newest;

	CHECK(count_of(dev, "TRANSPORT_DOMAIN", dev->tdn) == 1);
	for (unsigned int i = 0; i < RTE_DIM(tis); i++) {
		tis[i] = mdv_tis_create(dev);
		REQUIRE(tis[i] != NULL);
		CHECK_EQ(count_of(dev, "TIS", tis[i]->id), 1);
	}
	counter = mdv_q_counter_create(dev);
	REQUIRE(counter != NULL);
	CHECK_EQ(mdv_objects_get(dev, NULL, 0), before + 4);
	/* Newest first, and not more than the array holds. */
	CHECK_EQ(mdv_objects_get(dev, &newest, 1), before + 4);
	CHECK(strcmp(newest.type, "Q_COUNTER") == 0 && newest.id == counter->id);
	CHECK_EQ(newest.create_opcode, PRM_CMD_OP_ALLOC_Q_COUNTER);
	CHECK_EQ(mdv_obj_destroy(tis[1]), 0);
	CHECK_EQ(count_of(dev, "TIS", tis[0]->id) + count_of(dev, "TIS", tis[2]->id), 2);
	CHECK_EQ(mdv_obj_destroy(counter), 0);
	CHECK_EQ(mdv_obj_destroy(tis[0]), 0);
	CHECK_EQ(mdv_obj_destroy(tis[2]), 0);
	CHECK_EQ(mdv_objects_get(dev, NULL, 0), before);
}

struct looker {
	struct mdv_dev *dev;
	bool stop;
	uint64_t queries, errors;
};

/** Lists and queries while other threads create and destroy: the object is found, or does not exist. */
static void *
list_and_query(void *arg)
{
	struct looker *l = arg;
	struct mdv_request *q = malloc(sizeof(*q));
	struct mdv_obj_info info[MAX_OBJS];
	int ret;

	while (q != NULL && !__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		unsigned int n = mdv_objects_get(l->dev, info, MAX_OBJS);

		for (unsigned int i = 0; i < n && i < MAX_OBJS; i++) {
			uint8_t rest[8] = { [4] = 0, info[i].id >> 16, info[i].id >> 8, info[i].id };

			if (strcmp(info[i].type, "TIS") != 0)
				continue;
			l->errors += mdv_request_make("QUERY_TIS", rest, sizeof(rest), q) != 0;
			ret = mdv_request_run(l->dev, q);
			l->errors += ret != 0 && ret != -ENOENT;
			l->queries++;
		}
	}
	free(q);
	return NULL;
}

static void
test_list_threads(struct mdv_dev *dev)
{
	struct looker looker = { .dev = dev };
	struct mdv_obj *tis;
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, list_and_query, &looker) == 0);
	for (unsigned int i = 0; i < 300; i++) {
		tis = mdv_tis_create(dev);
		CHECK(tis != NULL);
		CHECK_EQ(mdv_obj_destroy(tis), 0);
	}
	__atomic_store_n(&looker.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_EQ(looker.errors, 0);
}

struct seen {
	const char *path;
	uint64_t value;
	unsigned int fields;
};

static void
field_seen(void *arg, const char *path, uint64_t value, const char *name)
{
	struct seen *s = arg;
	const char *dot = strrchr(path, '.');

	RTE_SET_USED(name);
	if (strcmp(dot != NULL ? dot + 1 : path, s->path) == 0)
		s->value = value;
	s->fields++;
}

static void
test_queries(struct mdv_dev *dev, struct mdv_request *q)
{
	struct seen seen = { .path = "log_max_cq_sz" };

	CHECK_EQ(mdv_request_caps("general", q), 0);
	CHECK_EQ(mdv_request_run(dev, q), 0);
	mdv_reply_fields(q, field_seen, &seen);
	CHECK_EQ(seen.value, dev->caps.log_max_cq_sz);
	CHECK(seen.fields > 50);
	CHECK_EQ(mdv_request_caps("no page", q), -ENOENT);
	CHECK_EQ(mdv_request_make("QUERY_TIS", NULL, 0, q), 0);
	CHECK_EQ(mdv_request_run(dev, q), -ENOENT);
	CHECK_EQ(q->status, 0);
}

static void
test_not_permitted(struct mdv_request *q)
{
	static const char *const changing[] = {
		"CREATE_CQ", "MODIFY_SQ", "DESTROY_TIR", "MODIFY_NIC_VPORT_CONTEXT", "TEARDOWN_HCA",
		"ALLOC_PD", "MANAGE_PAGES", "0x104", "ACCESS_REGISTER_USER", "ACCESS_REGISTER",
	};
	uint8_t rest[MDV_REQUEST_IN_BYTES] = { 0 };

	for (unsigned int i = 0; i < RTE_DIM(changing); i++)
		CHECK_EQ(mdv_request_make(changing[i], NULL, 0, q), -EPERM);
	CHECK_EQ(mdv_request_make("", NULL, 0, q), -ENOENT);
	CHECK_EQ(mdv_request_make("QUERY_NOTHING", NULL, 0, q), -ENOENT);
	CHECK_EQ(mdv_request_make("0x10100", NULL, 0, q), -ENOENT);
	CHECK_EQ(mdv_request_make("QUERY_HCA_CAP", rest, sizeof(rest), q), -EMSGSIZE);
	CHECK_EQ(mdv_request_make("NOP", rest, 64, q), -EMSGSIZE);
	CHECK_EQ(mdv_request_make("NOP", rest, 12, q), 0);
}

/** Sets the highest bit of a dword of the inbox; the command is refused, and the field named. */
static void
refused_bit(const char *command, uint8_t *rest, unsigned int bytes, unsigned int dword, uint8_t bits,
	    const char *field, struct mdv_request *q)
{
	int ret;

	CHECK_EQ(mdv_request_make(command, rest, bytes, q), 0);
	CHECK(q->refused[0] == '\0');
	rest[4 * dword - 4] = bits;
	ret = mdv_request_make(command, rest, bytes, q);
	CHECK_EQ(ret, -EPERM);
	if (strcmp(q->refused, field) != 0)
		printf("%s: '%s', not '%s'\n", command, q->refused, field);
	CHECK(strcmp(q->refused, field) == 0);
	if (ret == -EPERM)
		CHECK_EQ(mdv_request_run(NULL, q), -EPERM);
	rest[4 * dword - 4] = 0;
}

/* Fields that give a query a side effect. */
static void
test_changing_bits(struct mdv_request *q)
{
	static const struct { const char *command; uint8_t dword, bits; const char *field; } bits[] = {
		{ "QUERY_Q_COUNTER", 6, 0x80, "clear" },
		{ "QUERY_VPORT_COUNTER", 6, 0x80, "clear" },
		{ "QUERY_CONG_STATISTICS", 2, 0x80, "clear" },
		{ "QUERY_FLOW_COUNTER", 3, 0x10, "mkey" },
		{ "QUERY_FLOW_COUNTER", 6, 0x80, "clear" },
		{ "QUERY_FLOW_COUNTER", 6, 0x40, "dump_to_memory" },
		/* Unknown bits may have any effect. */
		{ "QUERY_SQ", 2, 0x80, "bits of no known field" },
		{ "NOP", 2, 0x80, "bits of no known field" },
	};
	uint8_t rest[MDV_REQUEST_IN_BYTES] = { 0 };

	for (unsigned int i = 0; i < RTE_DIM(bits); i++)
		refused_bit(bits[i].command, rest, 4 * bits[i].dword, bits[i].dword, bits[i].bits,
			    bits[i].field, q);
}

/** A command may be issued if and only if the command table marks it as a query, or if it is NOP. */
static void
test_all_commands(struct mdv_request *q)
{
	const struct prm_command *cmd;

	for (unsigned int i = 0; (cmd = prm_command_at(i)) != NULL; i++)
		CHECK_EQ(mdv_request_make(cmd->name, NULL, 0, q),
			 cmd->cls == PRM_CMD_QUERY || cmd->opcode == PRM_CMD_OP_NOP ? 0 : -EPERM);
}

/* Registers that are read: known ones only, and only with fields that select what is read. */
static void
test_registers(struct mdv_request *q)
{
	static const struct { uint16_t id; uint8_t dword, bits; const char *field; } regs[] = {
		{ PRM_REG_PPCNT, 1, 0x80, "clr" }, { PRM_REG_MPCNT, 1, 0x80, "clr" },
		{ PRM_REG_SBPR, 4, 0x80, "clr" }, { PRM_REG_SBCM, 5, 0x80, "clr" },
		{ PRM_REG_SBPR, 0, 0x40, "snap" }, { PRM_REG_SBCM, 0, 0x40, "snap" },
		{ PRM_REG_MTMP, 2, 0x40, "mtr" }, { PRM_REG_PAOS, 1, 0x80, "ase" },
	};
	uint8_t rest[12 + 32] = { [3] = PRM_ACCESS_REG_OP_READ, [6] = 0xff, [7] = 0xff };

	CHECK_EQ(mdv_request_make("ACCESS_REGISTER_USER", rest, 12, q), -EPERM);
	rest[6] = PRM_REG_MCIA >> 8;
	rest[7] = PRM_REG_MCIA & 0xff;
	CHECK_EQ(mdv_request_make("ACCESS_REGISTER_USER", rest, 12, q), -EPERM);
	for (unsigned int i = 0; i < RTE_DIM(regs); i++) {
		rest[6] = regs[i].id >> 8;
		rest[7] = regs[i].id & 0xff;
		CHECK_EQ(mdv_request_make("ACCESS_REGISTER_USER", rest, 12, q), 0);
		refused_bit("ACCESS_REGISTER_USER", rest, sizeof(rest), 4 + regs[i].dword, regs[i].bits,
			    regs[i].field, q);
		refused_bit("ACCESS_REGISTER", rest, sizeof(rest), 4 + regs[i].dword, regs[i].bits,
			    regs[i].field, q);
		rest[3] = PRM_ACCESS_REG_OP_WRITE;
		CHECK_EQ(mdv_request_make("ACCESS_REGISTER_USER", rest, 12, q), -EPERM);
		rest[3] = PRM_ACCESS_REG_OP_READ;
	}
}

static void
test_explanations(void)
{
	struct mdv_explanation e;
	uint8_t status;

	CHECK_EQ(mdv_status_find("bad_res_state", &status), 0);
	CHECK_EQ(status, PRM_STATUS_BAD_RES_STATE);
	CHECK_EQ(mdv_status_find("UNKNOWN", &status), -ENOENT);
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		mdv_explain(i, 0x2a3d5c, &e);
		CHECK(e.name != NULL && e.errno_name != NULL && e.meaning[0] != '\0');
		CHECK(strstr(e.syndrome, "not published") != NULL);
		CHECK(mdv_syndrome_meaning(i)[0] != '\0');
	}
	mdv_explain(PRM_STATUS_NO_RESOURCES, 0, &e);
	CHECK(strcmp(e.name, "NO_RESOURCES") == 0 && strcmp(e.errno_name, "EAGAIN") == 0);
	mdv_explain(PRM_STATUS_OK, PRM_SYNDROME_MKEY_UMEM_PAGE, &e);
	CHECK(strcmp(e.errno_name, "0") == 0 && strstr(e.syndrome, "CREATE_MKEY") != NULL);
}

void
test_devx(struct mdv_dev *dev)
{
	struct mdv_request *q = malloc(sizeof(*q));

	REQUIRE(q != NULL);
	test_list(dev);
	test_list_threads(dev);
	test_not_permitted(q);
	test_changing_bits(q);
	test_all_commands(q);
	test_registers(q);
	test_queries(dev, q);
	test_explanations();
	free(q);
}

/** A fault rule refuses QUERY_ISSI: the caller gets the refusal; it is neither logged nor counted. */
void
test_devx_refused(struct mdv_dev *dev)
{
	struct mdv_request *q = malloc(sizeof(*q));

	REQUIRE(q != NULL);
	CHECK_EQ(mdv_request_make("query_issi", NULL, 0, q), 0);
	log_begin();
	CHECK_EQ(mdv_request_run(dev, q), -EBUSY);
	CHECK_EQ(lines_of(log_end()), 0);
	CHECK_EQ(q->status, PRM_STATUS_RESOURCE_BUSY);
	CHECK_EQ(q->syndrome, 0x2a3d5c);
	CHECK_EQ(dev->refused, 0);
	free(q);
}
