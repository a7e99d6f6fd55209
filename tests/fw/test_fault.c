/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Fault rules: which ones are accepted, error messages of the others, and which events they hit. */
#include <errno.h>
#include <stdlib.h>

#include "ctl/emu_ctl.h"
#include "core/emu_fault.h"
#include "core/emu_fault_rule.h"
#include "fw_fixture.h"

static struct fix f;

/** A rule that is refused, and a word that the message has to name. */
static const struct refusal {
	const char *rule, *names;
} refusals[] = {
	{"", "on EVENT"},
	{"on", "unknown event"},
	{"on a whim do fail", "'a'"},
	{"do fail status=NO_RESOURCES", "'do'"},
	{"on cmd.entry", "do ACTION"},
	{"on cmd.entry do", "''"},
	{"on cmd.entry do fail", "needs status="},
	{"on cmd.entry do fail status=FINE", "status='FINE'"},
	{"on cmd.entry do fail status=OK", "status='OK'"},
	{"on cmd.entry do fail status=NO_RESOURCES syndrome=-1", "syndrome='-1'"},
	{"on cmd.entry do fail status=NO_RESOURCES errno=EIO", "'errno'"},
	{"on cmd.entry do drop", "'drop'"},
	{"on cmd.entry match op=CREATE_WORLD do fail status=NO_RESOURCES", "CREATE_WORLD"},
	{"on cmd.entry match q=rx0 do fail status=NO_RESOURCES", "'q'"},
	{"on cmd.entry op=CREATE_CQ do fail status=NO_RESOURCES", "'op=CREATE_CQ'"},
	{"on cmd.entry after do fail status=NO_RESOURCES", "after 'do'"},
	{"on cmd.entry after -1 do fail status=NO_RESOURCES", "after '-1'"},
	{"on cmd.entry every 0 do fail status=NO_RESOURCES", "every 0"},
	{"on cmd.entry count 18446744073709551616 do fail status=NO_RESOURCES", "count"},
	{"on pci.read do set", "needs value="},
	{"on cmd.exit do set value=1", "needs field="},
	{"on cqe.write match q=up0 do drop", "q='up0'"},
	{"on cqe.write match q=rx do drop", "q='rx'"},
	{"on cqe.write match chance=2 do drop", "chance='2'"},
	{"on cqe.write do corrupt off=0", "needs xor="},
	{"on cqe.write do corrupt off=0 xor=256", "xor='256'"},
	{"on cqe.write do error syndrome=SADNESS", "syndrome='SADNESS'"},
	{"on ioctl do fail errno=EBOGUS", "errno='EBOGUS'"},
	{"on wire.rx do replace file=/no/such/file", "file='/no/such/file'"},
	{"on clock.page do jump ns=soon", "ns='soon'"},
	{"on open do link state=sideways", "state='sideways'"},
	{"on mmap do remove port=16", "port='16'"},
	{"on mmap match page=last do fail errno=EPERM", "page='last'"},
	{"on open match page=core do fail errno=EPERM", "'page'"},
	{"on doorbell match port= do drop", "port=''"},
};

static void
test_refusals(void)
{
	char err[512];

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		err[0] = '\0';
		CHECK_EQ(-emu_fault_add(refusals[i].rule, err, sizeof(err)), EINVAL);
		if (strstr(err, refusals[i].names) == NULL)
			fprintf(stderr, "'%s': %s\n", refusals[i].rule, err);
		CHECK(strstr(err, refusals[i].names) != NULL);
		/* A short buffer is no reason to write behind it. */
		memset(err, 'x', sizeof(err));
		CHECK_EQ(-emu_fault_add(refusals[i].rule, err, 8), EINVAL);
		CHECK(memchr(err, '\0', 8) != NULL && err[8] == 'x');
	}
	CHECK_EQ(emu_fault_armed, 0);
}

static void
add(const char *rule)
{
	char err[512] = "";

	if (emu_fault_add(rule, err, sizeof(err)) != 0)
		fprintf(stderr, "'%s': %s\n", rule, err);
	CHECK(err[0] == '\0');
}

/* Which of n commands of an opcode are refused, as bits. */
static uint64_t
refused(uint16_t opcode, unsigned n)
{
	uint64_t bits = 0;
	uint32_t syndrome;
	uint8_t status;

	for (unsigned i = 0; i < n; i++)
		bits |= (uint64_t)emu_fault_command(f.dev, opcode, &status, &syndrome) << i;
	return bits;
}

static void
test_counting(void)
{
	add("on cmd.entry match op=CREATE_CQ after 2 every 3 count 2 do fail status=NO_RESOURCES");
	CHECK_EQ(emu_fault_armed, 1u << EMU_ON_CMD_ENTRY);
	CHECK_EQ(refused(PRM_CMD_OP_CREATE_SQ, 4), 0);
	CHECK_EQ(refused(PRM_CMD_OP_CREATE_CQ, 16), 1u << 2 | 1u << 5);
	/* No event is matched after the last hit. */
	CHECK_EQ(emu_fault_armed, 0);
	emu_fault_clear();
	/* The first that hits decides, and those behind it do not see the event. */
	add("on cmd.entry match op=CREATE_CQ every 2 do fail status=NO_RESOURCES");
	add("on cmd.entry match port=0 count 1 do fail status=BAD_PARAM");
	CHECK_EQ(refused(PRM_CMD_OP_CREATE_CQ, 4), 7);
	emu_fault_clear();
	add("on cmd.entry match port=1 do fail status=BAD_PARAM");
	CHECK_EQ(refused(PRM_CMD_OP_CREATE_CQ, 4), 0);
	emu_fault_clear();
}

static void
test_chance(void)
{
	static const char rule[] =
		"on cmd.entry match op=CREATE_CQ chance=0.5 do fail status=NO_RESOURCES";
	uint64_t first, again, other;

	emu_fault_seed(1);
	add(rule);
	first = refused(PRM_CMD_OP_CREATE_CQ, 64);
	emu_fault_clear();
	add(rule);
	again = refused(PRM_CMD_OP_CREATE_CQ, 64);
	emu_fault_clear();
	emu_fault_seed(2);
	add(rule);
	other = refused(PRM_CMD_OP_CREATE_CQ, 64);
	emu_fault_clear();
	emu_fault_seed(1);
	CHECK_EQ(first, again);
	CHECK(first != other);
	CHECK(__builtin_popcountll(first) > 16 && __builtin_popcountll(first) < 48);
}

/* Through the firmware: a changed field, a failure behind the effect. */
static void
test_exit(void)
{
	struct prm_alloc_pd_in in = {0};
	unsigned before = emu_obj_count(f.dev, EMU_OBJ_PD);
	struct prm_place place;

	prm_cmd_in_set_opcode((struct prm_cmd_in *)&in, PRM_CMD_OP_ALLOC_PD);
	add("on cmd.exit match op=ALLOC_PD count 1 do set field=pd value=0x1234567");
	f.ret = emu_fw_exec(f.ctx, &in, sizeof(in), f.out, 16, &f.created);
	CHECK_EQ(f.ret, 0);
	CHECK(prm_locate_out(&in, sizeof(in), f.out, 16, "pd", &place));
	/* As much as the field has room for: 24 bits. */
	CHECK_EQ(emu_place_get(&place), 0x234567);
	CHECK(!prm_locate_out(&in, sizeof(in), f.out, 16, "nothing", &place));
	emu_fault_clear();
	add("on cmd.exit match op=ALLOC_PD do fail status=EXCEED_LIM syndrome=0x77");
	f.ret = emu_fw_exec(f.ctx, &in, sizeof(in), f.out, 16, &f.created);
	CHECK_EQ(-f.ret, EREMOTEIO);
	CHECK(f.created == NULL);
	CHECK_EQ(be32toh(f.out[1]), 0x77);
	CHECK_EQ(emu_obj_count(f.dev, EMU_OBJ_PD), before + 2);
	emu_fault_clear();
}

static int
exit_of(const char *method, int ret)
{
	const struct emu_fault_event e = {.kind = EMU_ON_IOCTL_EXIT, .dev = f.dev, .name = method};

	return emu_fault_set_errno(&e, ret);
}

static void
test_set(void)
{
	static const char *const good[] = {
		"on cqe.write do set field=byte_cnt",
		"on cqe.write do set field=l3_ok value=1",
		"on eqe.write do set field=type value=3",
		"on rx.deliver do set off=last",
		"on rx.deliver do set off=12 value=0xff",
		"on clock.value match name=mult do set",
		"on ioctl.out match method=reg_mr do set off=4",
		"on ioctl.out match method=ex_query_device attr=uhw do set off=8 bits=0-3 value=2",
		"on ioctl.out match method=QUERY_PORT attr=1001 do set off=0 bits=5",
		"on sysfs.write match file=mtu do set value=9000",
		"on counter.read match name=rx_frames do set",
		"on dma.read do set off=0",
		"on cmd.exit match op=QUERY_HCA_CAP do set field=log_max_cq value=0",
		"on cmd.exit match op=ALLOC_PD do set field=pd",
		"on cqe.write do set field=error.op_own.opcode value=0",
		"on cqe.write do set field=error.syndrome",
		"on ioctl.exit match method=reg_mr do set",
		"on ioctl.exit match method=reg_mr do set errno=0",
		"on ioctl.exit match method=QUERY_PORT do set errno=EIO",
	};
	static const char *const bad[] = {
		"on cqe.write do set",
		"on cqe.write do set field=",
		"on cqe.write do set field=colour",
		"on eqe.write do set field=byte_cnt",
		"on rx.deliver do set",
		"on rx.deliver do set off=",
		"on rx.deliver do set off=x",
		"on rx.deliver do set off=-1",
		"on clock.value match name=tick do set",
		"on ioctl.out match method=reg_mr do set",
		"on ioctl.out match method=reg_mr do set off=x",
		"on ioctl.out match method=reg_mr do set off=0 bits=64",
		"on ioctl.out match method=reg_mr attr=zz do set off=0",
		"on counter.read match name=smiles do set",
		"on counter.read match name= do set",
		"on dma.read do set off=key",
		"on cmd.exit match op=ALLOC_PD do set",
		"on cmd.exit match op=ALLOC_WORLD do set field=pd",
		"on cqe.write do set field=byte_cnt value=",
		"on cqe.write do set field=byte_cnt value=many",
		"on sysfs.write match file= do set",
		"on cqe.write do set field=error.checksum",
		"on cqe.write do set field=error.",
		"on eqe.write do set field=error.type",
		"on ioctl.exit match method= do set",
		"on ioctl.exit match method=x do set errno=EODD",
	};
	char err[512];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		add(good[i]);
	CHECK_EQ(exit_of("REG_MR", 0), 0); /* The later one of two. */
	CHECK_EQ(exit_of("reg_mr", -ENOMEM), 0);
	CHECK_EQ(exit_of("QUERY_PORT", 0), -EIO);
	CHECK_EQ(exit_of("create_ah", -EPERM), -EPERM);
	emu_fault_clear();
	CHECK_EQ(emu_fault_sets, 0);
	add("on ioctl.exit match method=reg_mr do set");
	CHECK_EQ(exit_of("reg_mr", 0), -EINVAL);
	CHECK_EQ(exit_of("reg_mr", -ENOMEM), 0);
	emu_fault_clear();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(emu_fault_add(bad[i], err, sizeof(err)) == -EINVAL, "'%s'", bad[i]);
	CHECK_EQ(emu_fault_armed, 0);
}

/* The control commands answer whatever is thrown at them, in JSON. */
static void
test_control(void)
{
	static const char *const requests[] = {
		"", "{", "[]", "7", "{}", "{\"cmd\":7}", "{\"cmd\":\"dance\"}",
		"{\"cmd\":\"fault.add\"}", "{\"cmd\":\"fault.add\",\"rule\":\"on\"}",
		"{\"cmd\":\"link\",\"prot\":1}", "{\"cmd\":\"audit\",\"x\":null}",
		"{\"cmd\":\"link\",\"port\":2}", "{\"cmd\":\"link\",\"state\":\"odd\"}",
		"{\"cmd\":\"engine\",\"run\":1}", "{\"cmd\":\"engine.step\"}",
		"{\"cmd\":\"inject\",\"ptypes\":[]}", "{\"cmd\":\"inject\",\"ptypes\":[\"x\"]}",
		"{\"cmd\":\"inject\",\"len\":59}", "{\"cmd\":\"inject\",\"demote\":1}",
		"{\"cmd\":\"inject\",\"file\":\"/no/file\"}",
		"{\"cmd\":\"clock\",\"ns\":5}", "{\"cmd\":\"ledger\",\"cmd\":\"audit\"}",
	};
	static const char *const lawful[] = {
		"{\"cmd\":\"help\"}", "{\"cmd\":\"ledger\"}", "{\"cmd\":\"audit\"}",
		"{\"cmd\":\"counters\"}", "{\"cmd\":\"fault.list\"}", "{\"cmd\":\"link\"}",
	};
	char *answer;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		answer = emu_ctl_execute(&f.m, requests[i], strlen(requests[i]));
		CHECK(answer != NULL && strstr(answer, "\"ok\":false") != NULL &&
		      strstr(answer, "\"error\":\"") != NULL);
		free(answer);
	}
	for (size_t i = 0; i < sizeof(lawful) / sizeof(lawful[0]); i++) {
		answer = emu_ctl_execute(&f.m, lawful[i], strlen(lawful[i]));
		CHECK(answer != NULL && strstr(answer, "\"ok\":true") != NULL);
		free(answer);
	}
}

int
main(void)
{
	fix_open(&f);
	test_refusals();
	test_counting();
	test_chance();
	test_exit();
	test_set();
	test_control();
	fix_close(&f);
	return check_exit("fault");
}
