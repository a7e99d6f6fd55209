/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * dpdk-test-mlx: forward, generate and check packets on any DPDK port.
 */

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_pci.h>

#include "capture.h"
#include "doctor.h"
#include "drops.h"
#include "explain.h"
#include "fwdump.h"
#include "tm.h"
#include "top.h"

static struct tm_app the_app;

static void
on_signal(int number)
{
	the_app.signal = number;
	the_app.quit = true;
	/* A second signal ends the program at once. */
	signal(number, SIG_DFL);
}

/* The index of "--", or argc. */
static int
args_split(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

static bool
option_given(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], option) == 0)
			return true;
	return false;
}

static void
run_once(struct tm_app *app)
{
	if (tm_run_start(app) != 0) {
		tm_fail(app, "forwarding cannot start");
		return;
	}
	tm_run_wait(app, app->cfg.run_s < 0 ? UINT64_MAX : (uint64_t)(app->cfg.run_s * 1e9));
	tm_run_stop(app);
}

/* Is there a port of this device? A device may have several ports, with longer names. */
static bool
device_present(const char *address)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t id;

	RTE_ETH_FOREACH_DEV(id)
		if (rte_eth_dev_get_name_by_port(id, name) == 0 &&
		    strncmp(name, address, strlen(address)) == 0)
			return true;
	return false;
}

/* EAL reports no error if a device named with -a does not exist. */
static int
devices_check(int argc, char **argv)
{
	char name[PCI_PRI_STR_SIZE], address[PCI_PRI_STR_SIZE];
	struct rte_pci_addr pci;
	const char *text;

	for (int i = 1; i < argc; i++) {
		text = NULL;
		if (strcmp(argv[i], "-a") == 0 || strcmp(argv[i], "--allow") == 0)
			text = i + 1 < argc ? argv[i + 1] : NULL;
		else if (strncmp(argv[i], "-a", 2) == 0 || strncmp(argv[i], "--allow=", 8) == 0)
			text = argv[i] + (argv[i][1] == 'a' ? 2 : 8);
		if (text == NULL)
			continue;
		snprintf(address, sizeof(address), "%.*s", (int)strcspn(text, ","), text);
		if (rte_pci_addr_parse(address, &pci) != 0)
			continue;
		rte_pci_device_name(&pci, name, sizeof(name));
		if (!device_present(name)) {
			tm_error("device %s has no Ethernet port: it does not exist, or has no "
				 "driver", name);
			return -ENODEV;
		}
	}
	return 0;
}

/* Run commands from the file, then from the terminal; without either, run once with the options. */
static void
work(struct tm_app *app)
{
	const struct tm_config *cfg = &app->cfg;

	if (cfg->cmds_path == NULL && !cfg->interactive) {
		run_once(app);
		return;
	}
	if (cfg->auto_start && tm_run_start(app) != 0)
		tm_fail(app, "forwarding cannot start");
	if (cfg->cmds_path != NULL)
		tm_cmds_script(app, cfg->cmds_path);
	if (cfg->interactive && !app->quit)
		tm_cmds_interactive(app);
	if (app->running)
		tm_run_stop(app);
}

static void
app_free(struct tm_app *app)
{
	tm_replays_free(app);
	tm_gen_free(app);
	tm_flows_free();
	rte_free(app->streams);
	rte_mempool_free(app->pool);
	tm_config_free(&app->cfg);
	for (unsigned int i = 0; i < TM_MAX_REASONS; i++)
		free(app->reasons[i]);
}

static int
app_main(struct tm_app *app, int eal_argc, char **argv)
{
	int ret = devices_check(eal_argc, argv);

	if (ret == 0)
		ret = tm_ports_setup(app);
	if (ret == 0)
		ret = tm_streams_create(app);
	if (ret == 0) {
		work(app);
		if (app->signal != 0)
			tm_note(app, "signal %d (%s): stopped", app->signal,
				strsignal(app->signal));
		tm_report_final(app, stdout);
		if (app->cfg.json_path != NULL && tm_json_write(app, app->cfg.json_path) != 0)
			tm_fail(app, "no statistics written to '%s'", app->cfg.json_path);
	}
	tm_ports_close(app);
	if (ret != 0)
		return TM_EXIT_SETUP;
	tm_report_result(app, stdout);
	return app->failures == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
}

static int
eal_start(int split, char **argv)
{
	char **copy = calloc(split + 1, sizeof(*copy));
	int ret;

	if (copy == NULL) {
		tm_error("no memory for %d arguments", split);
		return -ENOMEM;
	}
	/* EAL reorders and overwrites arguments: give it a copy, without those of this program. */
	memcpy(copy, argv, split * sizeof(*copy));
	ret = rte_eal_init(split, copy);
	free(copy);
	if (ret < 0)
		tm_error("EAL cannot start: %s (see the lines above; without hugepages give --no-huge)",
			 rte_strerror(rte_errno));
	return ret;
}

int
main(int argc, char **argv)
{
	int split = args_split(argc, argv), ret;
	struct tm_app *app = &the_app;

	if (argc > 1 && strcmp(argv[1], "fwdump") == 0)
		return tm_fwdump(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "capture") == 0)
		return tm_capture(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "drops") == 0)
		return tm_drops(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "top") == 0)
		return tm_top(argc - 1, argv + 1);
	if (option_given(argc, argv, "--help") || option_given(argc, argv, "-h")) {
		tm_help_print(stdout);
		return TM_EXIT_OK;
	}
	if (argc > 1 && strcmp(argv[1], "devx") == 0)
		return tm_explain_main(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "explain") == 0)
		return tm_explain_main(argc - 1, argv + 1);
	if (option_given(argc, argv, "--doctor"))
		return tm_doctor() == 0 ? TM_EXIT_OK : TM_EXIT_FAILED;
	tm_config_defaults(&app->cfg);
	app->ts_offset = -1;
	ret = split < argc ? tm_args_parse(&app->cfg, argc - split - 1, argv + split + 1) : 0;
	if (ret != 0 || eal_start(split, argv) < 0) {
		tm_config_free(&app->cfg);
		return TM_EXIT_SETUP;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	/* For `capture`: processes share memory only with hugepages. */
	if (rte_eal_has_hugepages())
		(void)rte_pdump_init();
	ret = app_main(app, split, argv);
	app_free(app);
	rte_eal_cleanup();
	return ret;
}
