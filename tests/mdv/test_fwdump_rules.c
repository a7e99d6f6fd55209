/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Register dumps of a card that fails by a fault rule, which meson.build passes to the emulator. */

#include <mdv_fwdump_int.h>

#include "test_fwdump.h"

/* on pci.write do fail errno=EPERM */
void
rule_lockdown(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;

	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EIO);
	log = log_end();
	CHECK_EQ(lines_of(log), 1);
	CHECK_EQ(lines_with(log, "not permitted (kernel lockdown?)"), 1);
	CHECK_EQ(lines_with(log, "devlink: "), 1);
	mdv_fwdump_close(h);
}

/* on pci.read match reg=semaphore do set value=0x77 */
void
rule_stuck(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	const char *log;

	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	CHECK_EQ(lines_with(log_end(), "its holder does nothing"), 1);
	mdv_fwdump_close(h);
	h = opened(&pf, BOTH | MDV_FWDUMP_FORCE);
	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EBUSY);
	log = log_end();
	CHECK_EQ(lines_with(log, "cannot clear the stale lock of the register gateway: ticket 0x77"), 1);
	mdv_fwdump_close(h);
}

/* on pci.write match reg=address after 2 count 1 do drop */
void
rule_flag(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);

	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -ETIMEDOUT);
	CHECK_EQ(lines_with(log_end(), "its flag never changes"), 1);
	CHECK_EQ(config_get(VSC(SEMAPHORE)), 0);
	CHECK_EQ(mdv_fwdump_take(h), 0);
	CHECK_EQ(mdv_fwdump_reset(h), 0);
	mdv_fwdump_close(h);
}

/* on pci.read match reg=address after 3 do set value=0xffffffff */
void
rule_nothing(void)
{
	struct mdv_fwdump *h = opened(&pf, BOTH);
	size_t n;

	log_begin();
	CHECK_EQ(mdv_fwdump_take(h), -EIO);
	CHECK_EQ(lines_with(log_end(), "the gateway shows none of the registers"), 1);
	CHECK_EQ(mdv_fwdump_get(h, regs, MAX_REGS, &n), -ENOENT);
	mdv_fwdump_close(h);
}
