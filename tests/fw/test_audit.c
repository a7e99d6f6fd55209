/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Report and trace are complete; a clean run is reported as clean. */
#include <stdlib.h>
#include <unistd.h>

#include "fw_fixture.h"

static struct fix f;
static char text[1 << 16];

static const char *
slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	CHECK(file != NULL);
	if (file != NULL)
		fclose(file);
	text[n] = '\0';
	return text;
}

static void
has(const char *needle)
{
	if (strstr(text, needle) == NULL)
		fprintf(stderr, "missing: %s\n", needle);
	CHECK(strstr(text, needle) != NULL);
}

static void
test_report(const char *path)
{
	CHECK(emu_audit_write(&f.m, path) == 0);
	slurp(path);
	has("port 0 tx_frames 0\n");
	has("port 1 dma_write_bytes 0\n");
	CHECK(strcmp(text + strlen(text) - strlen("audit: clean\n"), "audit: clean\n") == 0);
	CHECK(truncate(path, 0) == 0);

	f.dev->stats.rx_out_of_buffer = 12345678901234ull;
	for (unsigned i = 0; i < 20; i++)
		CHECK(fix_simple(&f, PRM_CMD_OP_DESTROY_CQ, 0x77 + i) != 0);
	emu_audit(f.dev, EMU_AUDIT_BAD_KEY, "key 0x%x", 0x1234);
	emu_audit_left(f.dev, "CQ", 2);
	emu_audit_left(f.dev, "CQ", 1);
	CHECK(emu_audit_write(&f.m, path) == 1);
	slurp(path);
	has("port 0 rx_out_of_buffer 12345678901234\n");
	has("left port 0: 3 CQ\n");
	has("violation bad state: port 0: DESTROY_CQ (0x401): BAD_RES, syndrome 0xe50101: ");
	has("violation bad state: 4 more\n");
	has("violation bad key: port 0: key 0x1234\n");
	has("audit: 3 left, 21 violations\n");
	CHECK(emu_audit_write(&f.m, "/nonexistent/report") < 0);
}

static void
test_trace(const char *path)
{
	CHECK(emu_trace_open("/nonexistent/trace") != 0);
	CHECK(emu_trace_open(path) == 0);
	CHECK(fix_cq(&f) != 0);
	CHECK(fix_simple(&f, PRM_CMD_OP_DESTROY_CQ, 0x99999) != 0);
	emu_trace_note(f.dev, "note %d", 7);
	slurp(path);
	has(" port 0 uid 1 CREATE_CQ (0x400) OK in:");
	has(" cq_context.log_cq_size=4");
	has(" out: cqn=0x403");
	has("DESTROY_CQ (0x401) BAD_RES (0x05) syndrome 0xe50101 in: cqn=0x99999");
	has(" port 0 note 7\n");
	/* A line that does not fit is cut, not lost. */
	CHECK(truncate(path, 0) == 0);
	emu_trace_note(f.dev, "%020000d", 1);
	slurp(path);
	CHECK(strlen(text) < 17000 && text[strlen(text) - 1] == '\n');
	has(" ...\n");
}

int
main(void)
{
	char report[] = "/tmp/fw_report_XXXXXX", trace[] = "/tmp/fw_trace_XXXXXX";

	close(mkstemp(report));
	close(mkstemp(trace));
	fix_open(&f);
	test_report(report);
	test_trace(trace);
	fix_close(&f);
	unlink(report);
	unlink(trace);
	return fix_result("audit");
}
