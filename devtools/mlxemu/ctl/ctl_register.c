/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Control commands for the CR space and for the state of the firmware. */
#include <errno.h>
#include <string.h>

#include "core/emu_pci.h"
#include "emu_ctl.h"

int
emu_ctl_register(struct emu_ctl *c)
{
	uint64_t addr = 0, value = UINT64_MAX;
	struct emu_dev *dev;
	uint32_t now = 0;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_number(c, "addr", false, 0, UINT32_MAX, &addr);
	if (ret == 0)
		ret = emu_ctl_number(c, "value", true, 0, UINT32_MAX, &value);
	if (ret != 0)
		return ret;
	if (value != UINT64_MAX)
		(void)emu_cr_write(dev, (uint32_t)addr, (uint32_t)value);
	if (!emu_cr_read(dev, (uint32_t)addr, &now))
		return emu_ctl_fail(c, -ENOENT, "there is no register 0x%x", (uint32_t)addr);
	emu_ctl_set(c->out, "value", now);
	return 0;
}

int
emu_ctl_health(struct emu_ctl *c)
{
	uint64_t syndrome = UINT64_MAX, ms = 0;
	const char *counter = NULL;
	struct emu_dev *dev;
	uint32_t now = 0;
	int ret = emu_ctl_port(c, &dev);

	if (ret == 0)
		ret = emu_ctl_number(c, "syndrome", true, 0, UINT32_MAX, &syndrome);
	if (ret == 0)
		ret = emu_ctl_number(c, "ms", true, 0, 1000000, &ms);
	if (ret == 0)
		ret = emu_ctl_string(c, "counter", true, &counter);
	if (ret == 0 && counter != NULL && strcmp(counter, "stop") != 0 &&
	    strcmp(counter, "go") != 0)
		ret = emu_ctl_fail(c, -EINVAL, "counter=%s: stop or go", counter);
	if (ret != 0)
		return ret;
	if (counter != NULL)
		dev->health_stopped = strcmp(counter, "stop") == 0;
	if (syndrome != UINT64_MAX)
		emu_dev_health(dev, (uint32_t)syndrome, ms);
	(void)emu_cr_read(dev, EMU_CR_HEALTH_SYNDROME, &now);
	emu_ctl_set(c->out, "syndrome", now);
	return 0;
}
