/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * Reports as text: port statistics, forward statistics, configuration, the final report.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

void
tm_report_port_stats(const struct tm_app *app, uint16_t port_id, FILE *out)
{
	struct rte_eth_stats e = app->ports[port_id].final_stats;

	(void)rte_eth_stats_get(port_id, &e);
	fprintf(out, "port %u statistics:\n"
		"  RX packets %" PRIu64 ", bytes %" PRIu64 ", missed %" PRIu64 ", errors %" PRIu64
		", no buffer %" PRIu64 "\n"
		"  TX packets %" PRIu64 ", bytes %" PRIu64 ", errors %" PRIu64 "\n",
		port_id, e.ipackets, e.ibytes, e.imissed, e.ierrors, e.rx_nombuf, e.opackets,
		e.obytes, e.oerrors);
}

void
tm_report_port_xstats(uint16_t port_id, bool all, FILE *out)
{
	int n = rte_eth_xstats_get_names(port_id, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;

	if (n <= 0) {
		fprintf(out, "port %u has no extended statistics\n", port_id);
		return;
	}
	names = calloc(n, sizeof(*names));
	values = calloc(n, sizeof(*values));
	if (names != NULL && values != NULL && rte_eth_xstats_get_names(port_id, names, n) == n &&
	    rte_eth_xstats_get(port_id, values, n) == n) {
		fprintf(out, "port %u extended statistics%s:\n", port_id, all ? "" : " (not 0)");
		for (int i = 0; i < n; i++)
			if (all || values[i].value != 0)
				fprintf(out, "  %s: %" PRIu64 "\n", names[values[i].id].name,
					values[i].value);
	}
	free(values);
	free(names);
}

void
tm_report_port_info(const struct tm_app *app, uint16_t port_id, FILE *out)
{
	const struct tm_port *p = &app->ports[port_id];
	char text[256], fw[64] = "";
	struct rte_eth_burst_mode mode;
	struct rte_eth_link link;
	uint16_t mtu = 0;

	fprintf(out, "port %u: %s, driver %s, %s, NUMA node %d, peer port %u\n", port_id, p->name,
		p->info.driver_name, p->started ? "started" : "stopped",
		rte_eth_dev_socket_id(port_id), p->peer);
	if (rte_eth_dev_fw_version_get(port_id, fw, sizeof(fw)) == 0)
		fprintf(out, "  firmware %s\n", fw);
	fprintf(out, "  address " RTE_ETHER_ADDR_PRT_FMT ", promiscuous %s, all-multicast %s\n",
		RTE_ETHER_ADDR_BYTES(&p->mac), rte_eth_promiscuous_get(port_id) == 1 ? "on" : "off",
		rte_eth_allmulticast_get(port_id) == 1 ? "on" : "off");
	if (rte_eth_link_get_nowait(port_id, &link) == 0 &&
	    rte_eth_link_to_str(text, sizeof(text), &link) > 0)
		fprintf(out, "  %s\n", text);
	(void)rte_eth_dev_get_mtu(port_id, &mtu);
	fprintf(out, "  MTU %u (%u to %u)\n", mtu, p->info.min_mtu, p->info.max_mtu);
	fprintf(out, "  Rx queues %u of %u with %u descriptors, Tx queues %u of %u with %u\n",
		p->rxq, p->info.max_rx_queues, p->rxd, p->txq, p->info.max_tx_queues, p->txd);
	fprintf(out, "  Rx offloads on: %s\n",
		tm_offloads_str(true, p->conf.rxmode.offloads, text, sizeof(text)));
	fprintf(out, "  Rx offloads offered: %s\n",
		tm_offloads_str(true, p->info.rx_offload_capa, text, sizeof(text)));
	fprintf(out, "  Tx offloads on: %s\n",
		tm_offloads_str(false, p->conf.txmode.offloads, text, sizeof(text)));
	fprintf(out, "  Tx offloads offered: %s\n",
		tm_offloads_str(false, p->info.tx_offload_capa, text, sizeof(text)));
	if (rte_eth_rx_burst_mode_get(port_id, 0, &mode) == 0)
		fprintf(out, "  Rx burst: %s\n", mode.info);
	if (rte_eth_tx_burst_mode_get(port_id, 0, &mode) == 0)
		fprintf(out, "  Tx burst: %s\n", mode.info);
}

void
tm_report_config(const struct tm_app *app, FILE *out)
{
	static const char *const topologies[] = { "paired", "chained", "loop" };
	const struct tm_config *c = &app->cfg;

	fprintf(out, "mode %s, burst %u, %u Rx and %u Tx queues per port, topology %s\n",
		c->engine->name, c->burst, c->rxq, c->txq, topologies[c->topology]);
	if (c->engine->generates)
		fprintf(out, "packets of %u to %u bytes, %u flows per queue, count %" PRIu64
			", rate %" PRIu64 ", window %u, seed %" PRIu64 "\n", c->len_min,
			c->len_max, c->flows, c->count, c->rate, c->window, c->seed);
	for (uint16_t i = 0; i < app->nb_streams; i++) {
		const struct tm_stream *s = &app->streams[i];

		fprintf(out, "stream %u on lcore %u: Rx port %u queue %u%s -> "
			"Tx port %u queue %u\n",
			i, s->lcore, s->rx_port, s->rx_queue, s->has_rx ? "" : " (none)",
			s->tx_port, s->tx_queue);
	}
}

/* The share of the run in which the lcores slept, their average. */
static void
report_sleep(const struct tm_app *app, const struct tm_stats *st, FILE *out)
{
	double ns = (double)((app->running ? tm_now_ns() : app->stop_ns) - app->start_ns) *
		RTE_MAX(app->nb_workers, 1u);

	fprintf(out, "  Rx interrupts: %" PRIu64 " sleeps, %" PRIu64
		" wake-ups by interrupt, asleep for %.1f %% of the time\n", st->rx_sleeps,
		st->rx_wakes, ns > 0 ? RTE_MIN((double)st->rx_slept_ns * 100 / ns, 100.0) : 0);
}

void
tm_report_forward(const struct tm_app *app, FILE *out)
{
	struct tm_stats rx, tx;

	fprintf(out, "forward statistics (%s):\n", app->cfg.engine->name);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		uint16_t id = app->port_ids[i];

		tm_stats_sum(app, id, -1, &rx);
		tm_stats_sum(app, -1, id, &tx);
		fprintf(out, "  port %u: RX packets %" PRIu64 ", bytes %" PRIu64 "; TX packets %"
			PRIu64 ", bytes %" PRIu64 ", dropped %" PRIu64 ", retries %" PRIu64 "\n",
			id, rx.rx_packets, rx.rx_bytes, tx.tx_packets, tx.tx_bytes, tx.tx_dropped,
			tx.tx_retries);
		if (tx.gen_nombuf + tx.tx_refused + tx.window_stalls > 0)
			fprintf(out, "  port %u: no buffer for a packet %" PRIu64
				", refused by Tx prepare %" PRIu64 ", window stalls %" PRIu64
				"\n", id, tx.gen_nombuf, tx.tx_refused, tx.window_stalls);
	}
	if (app->cfg.rx_intr) {
		tm_stats_sum(app, -1, -1, &rx);
		report_sleep(app, &rx, out);
	}
}

void
tm_report_period(const struct tm_app *app, FILE *out)
{
	double s = (double)(tm_now_ns() - app->start_ns) / 1e9;
	struct tm_stats st;

	fprintf(out, "%8.1f s:", s);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		uint16_t id = app->port_ids[i];

		tm_stats_sum(app, id, -1, &st);
		fprintf(out, "  port %u RX %" PRIu64, id, st.rx_packets);
		tm_stats_sum(app, -1, id, &st);
		fprintf(out, " TX %" PRIu64 " dropped %" PRIu64, st.tx_packets, st.tx_dropped);
	}
	fputc('\n', out);
	fflush(out);
}

void
tm_report_final(struct tm_app *app, FILE *out)
{
	double s = (double)(app->stop_ns - app->start_ns) / 1e9;
	struct tm_stats st;

	fprintf(out, "\n--- final report ---\n");
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		const struct tm_port *p = &app->ports[app->port_ids[i]];

		tm_report_port_stats(app, p->port_id, out);
		tm_report_port_xstats(p->port_id, false, out);
	}
	if (app->run_no > 0) {
		tm_report_forward(app, out);
		tm_stats_sum(app, -1, -1, &st);
		if (s > 0)
			fprintf(out, "  %.3f s, RX %.0f packets/s, TX %.0f packets/s\n", s,
				(double)st.rx_packets / s, (double)st.tx_packets / s);
	}
	tm_check_report(app, out, false);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		const struct tm_port *p = &app->ports[app->port_ids[i]];

		tm_replay_report(p, out);
		if (app->cfg.files[p->port_id].pcap_out != NULL)
			fprintf(out, "port %u: %" PRIu64 " packets written to %s\n", p->port_id,
				p->written_pcap, app->cfg.files[p->port_id].pcap_out);
		if (app->cfg.files[p->port_id].meta_out != NULL)
			fprintf(out, "port %u: %" PRIu64 " packets described in %s\n", p->port_id,
				p->written_meta, app->cfg.files[p->port_id].meta_out);
		tm_report_clock(app, p->port_id, out);
	}
}

void
tm_report_result(const struct tm_app *app, FILE *out)
{
	unsigned int n = RTE_MIN(app->failures, (unsigned int)TM_MAX_REASONS);

	if (app->failures == 0) {
		fprintf(out, "RESULT: OK\n");
		return;
	}
	fprintf(out, "RESULT: FAILED:");
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s %s", i ? ";" : "", app->reasons[i] ? app->reasons[i] : "?");
	fputc('\n', out);
}
