/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* emu_vfio CASE: runs one case on port 0 and exits 0 when all its checks held. */
#include <sys/wait.h>
#include <unistd.h>

#include "vfio.h"

static const struct {
	const char *name;
	void (*run)(unsigned port);
} cases[] = {
	{"open", case_vfio_open},
	{"traffic", case_vfio_traffic},
	{"unmapped", case_vfio_unmapped},
	{"pages", case_vfio_pages},
	{"tables", case_vfio_tables},
	{"raw", case_vfio_raw},
	{"busy", case_vfio_busy},
	{"request", case_vfio_request},
	{"lost", case_vfio_lost},
	{"stores", case_vfio_stores},
	{"faults", case_vfio_faults},
	{"threads", case_vfio_threads},
	{"fatal", case_vfio_fatal},
	{"remove", case_vfio_remove},
	{"leave", case_vfio_leave},
	{"late", case_vfio_late},
	{"both", case_vfio_both},
	{"shut", case_vfio_shut},
};

const char *
vfio_address(unsigned port)
{
	static char address[32];

	snprintf(address, sizeof(address), "0000:%02x:00.%u", 0xc1 + port / 2, port % 2);
	return address;
}

struct ibv_context *
vfio_open(unsigned port)
{
	return vfio_open_flags(port, 0);
}

struct ibv_context *
vfio_open_flags(unsigned port, uint32_t flags)
{
	struct mlx5dv_vfio_context_attr attr = {.pci_name = vfio_address(port), .flags = flags};
	struct ibv_device **list = mlx5dv_get_vfio_device_list(&attr);
	struct ibv_context *ctx = list != NULL ? ibv_open_device(list[0]) : NULL;
	int err = errno;

	if (list != NULL)
		ibv_free_device_list(list);
	errno = err;
	return ctx;
}

void
vfio_elsewhere(const char *name)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/proc/self/exe", "emu_vfio", name, NULL);
		_exit(127);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

int
vfio_query_caps(struct ibv_context *ctx)
{
	static struct prm_query_hca_cap_out out;
	struct prm_query_hca_cap_in in = {0};

	prm_query_hca_cap_in_set_opcode(&in, PRM_CMD_OP_QUERY_HCA_CAP);
	prm_query_hca_cap_in_set_op_mod(&in, 1);
	memset(&out, 0, sizeof(out));
	return mlx5dv_devx_general_cmd(ctx, &in, sizeof(in), &out, sizeof(out));
}

int
main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run(0);
			return check_exit(argv[1]);
		}
	fprintf(stderr, "usage: %s CASE\n", argv[0]);
	return 2;
}
