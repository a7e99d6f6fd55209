/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Plugin of qemu-user (QEMU documentation, "TCG Plugins") that counts the instructions of an arm64 program between
 * the marks of perf_step.h, whatever library they are in. For the machine on which qemu runs; `devtools/arm64 --counts`
 * builds it. The declarations are those of qemu-plugin.h, which Debian does not package.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perf_mark.h"

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
typedef uint64_t plugin_id;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*call)(unsigned int cpu, void *arg),
					    int flags, void *arg);
int qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc, char **argv);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t count;

static void
step(unsigned int cpu, void *arg)
{
	(void)cpu;
	(void)arg;
	count++;
}

static void
begin(unsigned int cpu, void *arg)
{
	(void)cpu;
	(void)arg;
	count = 0;
}

/* to: the program's perf_steps. */
static void
end(unsigned int cpu, void *to)
{
	(void)cpu;
	memcpy(to, &count, sizeof(count));
}

/* The instruction, and the words behind the end mark: a branch over the distance from itself to perf_steps. */
static void
translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t *at = qemu_plugin_insn_haddr(insn);
		uint32_t opcode;
		int32_t distance;

		memcpy(&opcode, at, sizeof(opcode));
		if (opcode == PERF_MARK_OPCODE(PERF_MARK_END)) {
			memcpy(&distance, at + 8, sizeof(distance));
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end, 0, at + 8 + distance);
		} else {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, opcode == PERF_MARK_OPCODE(PERF_MARK_BEGIN) ?
							       begin : step, 0, NULL);
		}
	}
}

__attribute__((visibility("default"))) int
qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
