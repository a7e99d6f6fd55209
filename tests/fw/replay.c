/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Replays on a ConnectX-4 Lx the commands of a kernel's driver, as recorded: lines of recorded.py on stdin, which are
 * `NAME OUT_BYTES HEX_OF_INBOX [HEX_BEFORE]`. The capability page of SET_HCA_CAP is the device's own, with the bits
 * that the recorded driver changed: HEX_BEFORE is the page that it had read.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "vfio_fixture.h"

/* Physical addresses of the recording's host, as IOVAs. */
#define HOST_BYTES (64ull << 30)
#define HOST_LOW (VFIX_IOVA + VFIX_MEM_BYTES)
#define HOST_HOLE 0xf0000000ull /* up to 4 GiB: interrupts */
#define LINE_BYTES (4u * FW_IN_BYTES)
#define CAP_OFFSET 16u

static struct vfix v;

static size_t
bytes_of(const char *hex, uint8_t *to, size_t room)
{
	size_t n = 0;
	unsigned byte;

	for (; n < room && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = (uint8_t)byte;
	return n;
}

static void
own_capabilities(uint8_t *in, const char *before)
{
	struct prm_query_hca_cap_in q = {0};
	static uint8_t read[FW_OUT_BYTES];
	size_t n = bytes_of(before, read, sizeof(read));
	const uint8_t *own = (const uint8_t *)v.out + CAP_OFFSET;

	prm_query_hca_cap_in_set_opcode(&q, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&q, PRM_HCA_CAP_MODE_CUR);
	CHECK_EQ(vfix_exec(&v, &q, sizeof(q)), 0);
	for (size_t i = 0; i < n && i < PRM_CMD_HCA_CAP_BYTES; i++) {
		uint8_t changed = read[i] ^ in[CAP_OFFSET + i];

		in[CAP_OFFSET + i] = (uint8_t)((in[CAP_OFFSET + i] & changed) | (own[i] & ~changed));
	}
}

static void
host_map(uint8_t *host, uint64_t from, uint64_t to)
{
	CHECK(emu_iommu_map(v.iommu, from, host + from, to - from, EMU_IOMMU_READ | EMU_IOMMU_WRITE) == 0);
}

int
main(void)
{
	static char line[LINE_BYTES], hex[LINE_BYTES], before[LINE_BYTES];
	static uint8_t in[FW_IN_BYTES], out[FW_IN_BYTES];
	unsigned all = 0, taken = 0;
	uint8_t *host = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	vfix_profile = emu_profile_find("cx4lx");
	vfix_open(&v);
	CHECK(host != MAP_FAILED);
	host_map(host, HOST_LOW, HOST_HOLE);
	host_map(host, 1ull << 32, HOST_BYTES);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		char name[64];
		size_t in_len, out_len;

		before[0] = '\0';
		if (sscanf(line, "%63s %zu %s %s", name, &out_len, hex, before) < 3 || out_len > sizeof(out))
			break;
		in_len = bytes_of(hex, in, sizeof(in));
		if (before[0] != '\0')
			own_capabilities(in, before);
		emu_lock(&v.m);
		(void)emu_fw_exec(v.ctx, in, in_len, out, out_len, NULL);
		emu_unlock(&v.m);
		all++;
		taken += out[0] == 0;
		printf("%-24s %6zu bytes  %s\n", prm_command_name(fw_opcode(in)), in_len, prm_status_name(out[0]));
	}
	printf("%u of %u accepted\n", taken, all);
	CHECK(all != 0);
	CHECK_EQ(taken, all);
	vfix_close(&v);
	munmap(host, HOST_BYTES);
	return fix_result("replay");
}
