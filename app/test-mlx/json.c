/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */

/**
 * @file
 * --json: the final statistics as one JSON object.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static void
json_eth_stats(const struct rte_eth_stats *e, FILE *out)
{
	fprintf(out, "{\"ipackets\": %" PRIu64 ", \"opackets\": %" PRIu64 ", \"ibytes\": %" PRIu64
		", \"obytes\": %" PRIu64 ", \"imissed\": %" PRIu64 ", \"ierrors\": %" PRIu64
		", \"oerrors\": %" PRIu64 ", \"rx_nombuf\": %" PRIu64 "}", e->ipackets, e->opackets,
		e->ibytes, e->obytes, e->imissed, e->ierrors, e->oerrors, e->rx_nombuf);
}

static void
json_xstats(uint16_t port_id, FILE *out)
{
	int n = rte_eth_xstats_get_names(port_id, NULL, 0);
	struct rte_eth_xstat_name *names = n > 0 ? calloc(n, sizeof(*names)) : NULL;
	struct rte_eth_xstat *values = n > 0 ? calloc(n, sizeof(*values)) : NULL;

	fputc('{', out);
	if (names != NULL && values != NULL && rte_eth_xstats_get_names(port_id, names, n) == n &&
	    rte_eth_xstats_get(port_id, values, n) == n) {
		for (int i = 0; i < n; i++) {
			fputs(i > 0 ? ", " : "", out);
			tm_json_string(out, names[values[i].id].name);
			fprintf(out, ": %" PRIu64, values[i].value);
		}
	}
	fputc('}', out);
	free(values);
	free(names);
}

static void
json_clock(const struct tm_app *app, const struct tm_port *p, FILE *out)
{
	struct tm_stamps s;

	tm_stamps_sum(app, p->port_id, &s);
	fprintf(out, "{\"unit\": \"%s\", \"epoch\": \"%s\", \"readable\": %s, \"hz\": %.0f, "
		"\"host_offset_ns\": %" PRId64 ", \"stamped\": %" PRIu64 ", \"first\": %" PRIu64
		", \"last\": %" PRIu64 ", \"backwards\": %" PRIu64 "}",
		tm_clock_unit_str(&p->clock), tm_clock_epoch_str(&p->clock),
		p->clock.readable ? "true" : "false", p->clock.hz, p->clock.offset_ns, s.count,
		s.first, s.last, s.backwards);
}

static void
json_forward(const struct tm_app *app, uint16_t port_id, FILE *out)
{
	struct tm_stats rx, tx;

	tm_stats_sum(app, port_id, -1, &rx);
	tm_stats_sum(app, -1, port_id, &tx);
	fprintf(out, "{\"rx_packets\": %" PRIu64 ", \"rx_bytes\": %" PRIu64 ", \"tx_packets\": %"
		PRIu64 ", \"tx_bytes\": %" PRIu64 ", \"tx_dropped\": %" PRIu64
		", \"tx_retries\": %" PRIu64 ", \"tx_refused\": %" PRIu64
		", \"gen_nombuf\": %" PRIu64 ", \"window_stalls\": %" PRIu64
		", \"rx_sleeps\": %" PRIu64 ", \"rx_wakes\": %" PRIu64 ", \"rx_slept_ns\": %" PRIu64 "}",
		rx.rx_packets, rx.rx_bytes, tx.tx_packets,
		tx.tx_bytes, tx.tx_dropped, tx.tx_retries, tx.tx_refused, tx.gen_nombuf,
		tx.window_stalls, rx.rx_sleeps, rx.rx_wakes, rx.rx_slept_ns);
}

static void
json_rss_key(const struct tm_port *p, FILE *out)
{
	uint8_t key[UINT8_MAX];
	struct rte_eth_rss_conf rss = { .rss_key = key, .rss_key_len = sizeof(key) };

	if (p->info.hash_key_size == 0 || rte_eth_dev_rss_hash_conf_get(p->port_id, &rss) != 0 ||
	    rss.rss_key == NULL)
		return;
	fprintf(out, ", \"rss_key\": \"");
	for (unsigned int i = 0; i < p->info.hash_key_size; i++)
		fprintf(out, "%02x", rss.rss_key[i]);
	fprintf(out, "\", \"rss_hf\": %" PRIu64, rss.rss_hf);
}

static void
json_port(const struct tm_app *app, const struct tm_port *p, FILE *out)
{
	struct rte_eth_stats e = p->final_stats;

	(void)rte_eth_stats_get(p->port_id, &e);
	fprintf(out, "{\"port\": %u, \"name\": ", p->port_id);
	tm_json_string(out, p->name);
	fprintf(out, ", \"driver\": ");
	tm_json_string(out, p->info.driver_name);
	fprintf(out, ", \"mac\": \"" RTE_ETHER_ADDR_PRT_FMT "\", \"mtu\": %u",
		RTE_ETHER_ADDR_BYTES(&p->mac), p->mtu);
	json_rss_key(p, out);
	fprintf(out, ", \"written_pcap\": %" PRIu64 ", \"written_meta\": %" PRIu64
		",\n   \"stats\": ", p->written_pcap, p->written_meta);
	json_eth_stats(&e, out);
	fprintf(out, ",\n   \"forward\": ");
	json_forward(app, p->port_id, out);
	fprintf(out, ",\n   \"clock\": ");
	json_clock(app, p, out);
	fprintf(out, ",\n   \"xstats\": ");
	json_xstats(p->port_id, out);
	if (p->replay != NULL) {
		fprintf(out, ",\n   \"replay\": ");
		tm_replay_json(p, out);
	}
	fputc('}', out);
}

static void
json_reasons(const struct tm_app *app, FILE *out)
{
	fprintf(out, "\"result\": \"%s\", \"reasons\": [", app->failures ? "failed" : "ok");
	for (unsigned int i = 0; i < RTE_MIN(app->failures, (unsigned int)TM_MAX_REASONS); i++) {
		fputs(i > 0 ? ", " : "", out);
		tm_json_string(out, app->reasons[i] != NULL ? app->reasons[i] : "?");
	}
	fputc(']', out);
}

int
tm_json_write(const struct tm_app *app, const char *path)
{
	FILE *out = fopen(path, "w");
	int ret = 0;

	if (out == NULL) {
		ret = -errno;
		tm_error("cannot write '%s': %s", path, strerror(errno));
		return ret;
	}
	fprintf(out, "{\"program\": \"" TM_NAME "\", \"mode\": \"%s\", \"seconds\": %.6f,\n"
		" \"ports\": [", app->cfg.engine->name,
		(double)(app->stop_ns - app->start_ns) / 1e9);
	for (uint16_t i = 0; i < app->nb_ports; i++) {
		fputs(i > 0 ? ",\n  " : "\n  ", out);
		json_port(app, &app->ports[app->port_ids[i]], out);
	}
	fprintf(out, "],\n ");
	if (app->gen != NULL && app->gen->checks) {
		fprintf(out, "\"check\": ");
		tm_check_json(app, out);
		fprintf(out, ",\n ");
	}
	json_reasons(app, out);
	fprintf(out, "}\n");
	if (ferror(out))
		ret = -EIO;
	if (fclose(out) != 0)
		ret = -errno;
	if (ret != 0)
		tm_error("cannot write '%s': %s", path, strerror(-ret));
	return ret;
}
