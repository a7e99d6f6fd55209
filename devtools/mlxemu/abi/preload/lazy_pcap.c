/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * libpcap, loaded when a wire needs it.
 *
 * The front end is loaded into every process of a run. libpcap depends on a dozen libraries, whose
 * constructors would run in programs without capture files. With these definitions, which are
 * private to the front end and the launcher, libpcap need not be installed for runs without capture files.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <pcap/pcap.h>

static void *
lazy_symbol(const char *name)
{
	static void *lib;

	if (lib == NULL)
		lib = dlopen("libpcap.so.0.8", RTLD_NOW | RTLD_LOCAL);
	return lib != NULL ? dlsym(lib, name) : NULL;
}

/* Definition of a function that calls the library's function of the same name. */
#define LAZY(type, name, parameters, arguments)                                                    \
	type name parameters                                                                       \
	{                                                                                          \
		return ((__typeof__(&name))lazy_symbol(#name))arguments;                           \
	}

pcap_t *
pcap_open_offline_with_tstamp_precision(const char *path, u_int precision, char *err)
{
	__typeof__(&pcap_open_offline_with_tstamp_precision) f =
		lazy_symbol("pcap_open_offline_with_tstamp_precision");

	if (f != NULL)
		return f(path, precision, err);
	snprintf(err, PCAP_ERRBUF_SIZE, "libpcap.so.0.8 cannot be loaded");
	return NULL;
}

pcap_t *
pcap_open_dead_with_tstamp_precision(int linktype, int snaplen, u_int precision)
{
	__typeof__(&pcap_open_dead_with_tstamp_precision) f =
		lazy_symbol("pcap_open_dead_with_tstamp_precision");

	return f != NULL ? f(linktype, snaplen, precision) : NULL;
}

/* The other functions need a handle: the library is loaded when they are called. */

LAZY(int, pcap_datalink, (pcap_t *p), (p))
LAZY(const char *, pcap_datalink_val_to_name, (int dlt), (dlt))
LAZY(int, pcap_next_ex, (pcap_t *p, struct pcap_pkthdr **header, const u_char **data),
     (p, header, data))
LAZY(char *, pcap_geterr, (pcap_t *p), (p))
LAZY(void, pcap_close, (pcap_t *p), (p))
LAZY(pcap_dumper_t *, pcap_dump_open, (pcap_t *p, const char *path), (p, path))
LAZY(void, pcap_dump, (u_char *user, const struct pcap_pkthdr *header, const u_char *data),
     (user, header, data))
LAZY(FILE *, pcap_dump_file, (pcap_dumper_t *d), (d))
LAZY(int, pcap_dump_flush, (pcap_dumper_t *d), (d))
LAZY(void, pcap_dump_close, (pcap_dumper_t *d), (d))
