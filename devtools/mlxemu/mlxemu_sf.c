/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/* Option --sf of `mlxemu run`. */
#include "mlxemu.h"

int
mlxemu_sf_option(struct mlxemu_run *run, const char *value)
{
	struct emu_sf sf;

	if (!emu_sf_parse(value, &sf))
		return mlxemu_fail(MLXEMU_USAGE, "--sf '%s': PORT[,pf=PORT][,sfnum=N] is needed, with two different "
				   "ports from 0 to %d", value, EMU_MAX_PORTS - 1);
	if (run->nsfs == MLXEMU_MAX_SPECS)
		return mlxemu_fail(MLXEMU_USAGE, "--sf given more than %d times", MLXEMU_MAX_SPECS);
	run->sfs[run->nsfs++] = value;
	return MLXEMU_OK;
}

/*
 * A sub-function and its PF have the kernel's driver: without mlx5_core there is no auxiliary bus. Only PFs have
 * sub-functions, if the card has them at all (Linux, mlx5/core/sf/dev/dev.c, mlx5_sf_dev_supported()).
 */
static int
sf_check(const struct mlxemu_run *run, const char *text, unsigned *is_sf)
{
	struct emu_sf sf;

	if (!emu_sf_parse(text, &sf) || sf.port >= run->ports || sf.pf >= run->ports)
		return mlxemu_fail(MLXEMU_USAGE, "--sf %s: there %s only %u port%s", text,
				   run->ports == 1 ? "is" : "are", run->ports, run->ports == 1 ? "" : "s");
	if ((*is_sf >> sf.port & 1) != 0 || run->vfs[sf.port] != '0' ||
	    run->switchdev[sf.port] != '0' || (run->mpfs >> sf.port & 1) != 0)
		return mlxemu_fail(MLXEMU_USAGE, "--sf %s: port %u has another function", text, sf.port);
	if (run->profile->mlx4 || run->fronts[sf.port] != '0' + EMU_FRONT_VERBS ||
	    run->fronts[sf.pf] != '0' + EMU_FRONT_VERBS)
		return mlxemu_fail(MLXEMU_USAGE, "--sf %s: a sub-function and its PF need the kernel's driver "
				   "mlx5_core (--open verbs)", text);
	if (!run->profile->sf)
		return mlxemu_fail(MLXEMU_USAGE, "--sf %s: a %s has no sub-functions", text, run->profile->card);
	*is_sf |= 1u << sf.port;
	return MLXEMU_OK;
}

int
mlxemu_sfs_check(const struct mlxemu_run *run)
{
	unsigned is_sf = 0, i;
	int status = MLXEMU_OK;

	for (i = 0; i < run->nsfs && status == MLXEMU_OK; i++)
		status = sf_check(run, run->sfs[i], &is_sf);
	for (i = 0; i < run->nsfs && status == MLXEMU_OK; i++) {
		struct emu_sf sf;

		if (emu_sf_parse(run->sfs[i], &sf) && ((is_sf >> sf.pf & 1) != 0 || run->vfs[sf.pf] != '0'))
			status = mlxemu_fail(MLXEMU_USAGE, "--sf %s: port %u is no PF", run->sfs[i], sf.pf);
	}
	return status;
}
