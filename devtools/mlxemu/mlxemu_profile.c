/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * `mlxemu profile`: profiles made of what devtools/card-check recorded on a card. Such a profile is a text file,
 * `base=CARD` and NAME=VALUE per line; '#' starts a comment.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mlxemu.h"
#include "prm.h"

#define PAGE_BYTES 4096u
#define DUMP_FORMAT 1
#define DUMP_BYTES_MAX (1u << 20)

static const char profile_usage[] =
	"usage: mlxemu profile import FILE [--name NAME] [--output PATH] [--base CARD]\n"
	"       mlxemu profile compare FILE [CARD]\n"
	"\n"
	"FILE is an archive of devtools/card-check, or the file capabilities.json in it.\n"
	"\n"
	"  import           make a profile of the recorded capabilities; it is written to\n"
	"                   $XDG_DATA_HOME/mlxemu/profiles/NAME.profile (~/.local/share without this\n"
	"                   variable) or to PATH, and is used by `mlxemu run --profile NAME` or PATH\n"
	"  compare          print the values that differ from those of a profile\n"
	"  --name NAME      default: the name of the card model with \"-recorded\"\n"
	"  --output PATH    write the profile to PATH, which is overwritten\n"
	"  --base CARD      card model for what is not recorded (default: that of the PCI id)\n"
	"\n"
	"The exit status is 0, 1 if FILE cannot be used, 2 for an invalid command line.\n"
	"\n"
	"examples:\n"
	"  mlxemu profile import card-check.tar.gz --name mycard\n"
	"  mlxemu run --profile mycard -- ibv_devinfo -v\n"
	"  mlxemu profile compare card-check.tar.gz cx6dx\n";

/* Pages that older files lack; the others are in all. */
enum page { PAGE_ALWAYS, PAGE_FLOW_TABLE, PAGE_QOS, PAGES };

/* A recorded file: its text, and pages of it. */
struct recorded {
	const char *path;
	json_t *root;
	uint16_t pci_device_id;
	uint32_t general[PAGE_BYTES / 4], ethernet[PAGE_BYTES / 4], flow_table[PAGE_BYTES / 4];
	uint32_t qos[PAGE_BYTES / 4];
	bool has[PAGES];
};

/** How a capability is read from the recorded pages. */
struct reader {
	const char *name;
	uint64_t (*get)(const struct recorded *r);
	enum page page;
};

#define GENERAL_GET(field, most) \
	static uint64_t get_##field(const struct recorded *r) \
	{ \
		return prm_cmd_hca_cap_get_##field((const void *)r->general); \
	}
#define ETHERNET_GET(field, most) \
	static uint64_t get_##field(const struct recorded *r) \
	{ \
		return prm_per_protocol_networking_offload_caps_get_##field((const void *)r->ethernet); \
	}
#define FLOW_TABLE_GET(field, most) \
	static uint64_t get_##field(const struct recorded *r) \
	{ \
		return prm_flow_table_prop_layout_get_##field( \
			prm_flow_table_nic_cap_flow_table_properties_nic_receive_c((const void *)r->flow_table)); \
	}
#define FLOW_TABLE_TX_GET(field, most) \
	static uint64_t get_tx_##field(const struct recorded *r) \
	{ \
		return prm_flow_table_prop_layout_get_##field( \
			prm_flow_table_nic_cap_flow_table_properties_nic_transmit_c((const void *)r->flow_table)); \
	}
#define QOS_GET(field, most) \
	static uint64_t get_##field(const struct recorded *r) \
	{ \
		return prm_qos_cap_get_##field((const void *)r->qos); \
	}
EMU_PROFILE_GENERAL(GENERAL_GET)
EMU_PROFILE_ETHERNET(ETHERNET_GET)
EMU_PROFILE_FLOW_TABLE(FLOW_TABLE_GET)
EMU_PROFILE_FLOW_TABLE_TX(FLOW_TABLE_TX_GET,)
EMU_PROFILE_QOS(QOS_GET)

static const struct reader readers[] = {
#define READER(field, most) {#field, get_##field, PAGE_ALWAYS},
#define READER_FLOW_TABLE(field, most) {#field, get_##field, PAGE_FLOW_TABLE},
#define READER_QOS(field, most) {#field, get_##field, PAGE_QOS},
	EMU_PROFILE_GENERAL(READER) EMU_PROFILE_ETHERNET(READER) EMU_PROFILE_FLOW_TABLE(READER_FLOW_TABLE)
	EMU_PROFILE_FLOW_TABLE_TX(READER_FLOW_TABLE, tx_) EMU_PROFILE_QOS(READER_QOS)
#undef READER_QOS
#undef READER_FLOW_TABLE
#undef READER
};
#define READERS (sizeof(readers) / sizeof(readers[0]))

/* ------------------------------------------------------------------ reading a recorded file */

/* Standard output of `tar -xOzf PATH PATTERN`; NULL: it cannot be started. */
static FILE *
archive_open(const char *path, pid_t *pid)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) != 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("tar", "tar", "-xOzf", path, "--wildcards", "*capabilities.json", (char *)NULL);
		_exit(MLXEMU_NO_PROGRAM);
	}
	close(fd[1]);
	if (*pid < 0) {
		close(fd[0]);
		return NULL;
	}
	return fdopen(fd[0], "r");
}

/* The JSON text of a file that card-check wrote; NULL: none, or tar failed. */
static json_t *
recorded_json(const char *path)
{
	FILE *f = fopen(path, "r");
	bool archive = false;
	pid_t pid = -1;
	int status = 0;
	json_t *root;

	if (f != NULL && fgetc(f) == 0x1f && fgetc(f) == 0x8b)
		archive = true;
	if (f != NULL)
		rewind(f);
	if (archive) {
		fclose(f);
		f = archive_open(path, &pid);
	}
	if (f == NULL)
		return NULL;
	root = json_loadf(f, JSON_REJECT_DUPLICATES, NULL);
	fclose(f);
	if (archive && (waitpid(pid, &status, 0) != pid || status != 0)) {
		json_decref(root);
		return NULL;
	}
	return root;
}

/* Bytes of hexadecimal text; those that are not there are 0. */
static bool
page_decode(const char *text, uint8_t *page)
{
	size_t n = text != NULL ? strlen(text) : 1;

	if (n == 0 || n % 2 != 0 || n / 2 > PAGE_BYTES || strspn(text, "0123456789abcdef") != n)
		return false;
	for (size_t i = 0; i < n / 2; i++)
		(void)sscanf(text + 2 * i, "%2hhx", &page[i]);
	return true;
}

/* What the function has; without it, what the card can have. */
static bool
page_read(const json_t *root, unsigned type, void *page)
{
	char key[8];
	const json_t *modes;

	snprintf(key, sizeof(key), "0x%x", type);
	modes = json_object_get(json_object_get(root, "pages"), key);
	return page_decode(json_string_value(json_object_get(modes, "current")), page) ||
	       page_decode(json_string_value(json_object_get(modes, "max")), page);
}

static int
recorded_open(const char *path, struct recorded *r)
{
	json_int_t id;

	memset(r, 0, sizeof(*r));
	r->path = path;
	if (access(path, R_OK) != 0)
		return mlxemu_fail(MLXEMU_FAILED, "profile: '%s': %s", path, strerror(errno));
	r->root = recorded_json(path);
	if (r->root == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "profile: '%s': damaged, or not written by card-check", path);
	id = json_integer_value(json_object_get(r->root, "pci_device_id"));
	if (json_integer_value(json_object_get(r->root, "format")) != DUMP_FORMAT)
		return mlxemu_fail(MLXEMU_FAILED, "profile: '%s': not a record of format %d", path, DUMP_FORMAT);
	if (id <= 0 || id > UINT16_MAX)
		return mlxemu_fail(MLXEMU_FAILED, "profile: '%s': damaged: no pci_device_id", path);
	r->pci_device_id = (uint16_t)id;
	if (!page_read(r->root, PRM_HCA_CAP_TYPE_GENERAL, r->general) ||
	    !page_read(r->root, PRM_HCA_CAP_TYPE_ETHERNET_OFFLOADS, r->ethernet))
		return mlxemu_fail(MLXEMU_FAILED, "profile: '%s': damaged: capabilities of page 0 or 1", path);
	r->has[PAGE_ALWAYS] = true;
	r->has[PAGE_FLOW_TABLE] = page_read(r->root, PRM_HCA_CAP_TYPE_FLOW_TABLE, r->flow_table);
	/* The general page announces it. */
	r->has[PAGE_QOS] = !prm_cmd_hca_cap_get_qos((const void *)r->general) ||
			   page_read(r->root, PRM_HCA_CAP_TYPE_QOS, r->qos);
	return MLXEMU_OK;
}

/* The model for what is not recorded. */
static const struct emu_profile *
recorded_base(const struct recorded *r, const char *name)
{
	if (name != NULL && emu_profile_find(name) == NULL) {
		mlxemu_fail(MLXEMU_USAGE, "no profile '%s' (mlxemu profiles lists them)", name);
		return NULL;
	}
	if (name != NULL)
		return emu_profile_find(name);
	for (unsigned i = 0; emu_profiles[i] != NULL; i++)
		if (emu_profiles[i]->pci_device_id == r->pci_device_id)
			return emu_profiles[i];
	mlxemu_fail(MLXEMU_FAILED, "profile: '%s': no card model for PCI id 15b3:%04x: name one", r->path,
		    r->pci_device_id);
	return NULL;
}

/* ------------------------------------------------------------------ import */

/* A line of text that the recorded file has under a name; one that can be written to the profile. */
static const char *
recorded_text(const struct recorded *r, const char *name)
{
	const char *text = json_string_value(json_object_get(r->root, name));

	return text != NULL && text[0] != '\0' && strlen(text) < 32 && strpbrk(text, "#=\n\"\\") == NULL ? text : NULL;
}

static void
import_caps(FILE *f, const struct recorded *r, const struct emu_profile *base)
{
	char line[128], err[256];

	for (size_t i = 0; i < READERS; i++) {
		uint64_t v = readers[i].get(r), most;

		if (!r->has[readers[i].page])
			continue;
		snprintf(line, sizeof(line), "%s=%" PRIu64, readers[i].name, v);
		if (emu_profile_change(base, line, err, sizeof(err)) != NULL) {
			fprintf(f, "%-34s # recorded\n", line);
			continue;
		}
		most = emu_profile_cap_max(readers[i].name);
		fprintf(f, "%s=%-*" PRIu64 " # recorded %" PRIu64 ": the emulator has no more\n", readers[i].name,
			33 - (int)strlen(readers[i].name), most, v);
	}
}

static void
import_write(FILE *f, const struct recorded *r, const struct emu_profile *base, const char *name)
{
	const char *file = strrchr(r->path, '/') != NULL ? strrchr(r->path, '/') + 1 : r->path;
	static const char *const texts[] = {"board_id", "firmware"};
	uint64_t khz = prm_cmd_hca_cap_get_device_frequency_khz((const void *)r->general);
	unsigned format = prm_cmd_hca_cap_get_sq_ts_format((const void *)r->general);
	json_int_t speed = json_integer_value(json_object_get(r->root, "speed_mbps"));

	fprintf(f, "# Profile %s of mlxemu. Source of all values: recorded, %s\n", name, file);
	fprintf(f, "base=%-29s # for what is not recorded\n", base->name);
	fprintf(f, "pci_device_id=0x%-18x # recorded\n", r->pci_device_id);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (recorded_text(r, texts[i]) != NULL)
			fprintf(f, "%s=%-*s # recorded\n", texts[i], 33 - (int)strlen(texts[i]),
				recorded_text(r, texts[i]));
	if (speed >= 1000 && speed <= 800000)
		fprintf(f, "speed_mbps=%-23" JSON_INTEGER_FORMAT " # recorded\n", speed);
	if (khz >= 1000 && khz <= 4000000)
		fprintf(f, "clock_hz=%-25" PRIu64 " # recorded\n", khz * 1000);
	if (format != 0)
		fprintf(f, "# Recorded sq_ts_format %u: mlxemu run --clock-format %s\n", format,
			format == 1 ? "realtime" : "both");
	import_caps(f, r, base);
}

/* $XDG_DATA_HOME/mlxemu/profiles/NAME.profile, with its folders when made. False: too long, or no home. */
static bool
data_path(const char *name, char *path, bool make)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	bool xdg = data != NULL && data[0] == '/';
	int n;

	if (!xdg && (home == NULL || home[0] != '/'))
		return false;
	n = snprintf(path, PATH_MAX, "%s%s/mlxemu/profiles/%s.profile", xdg ? data : home,
		     xdg ? "" : "/.local/share", name);
	if (n <= 0 || n >= PATH_MAX)
		return false;
	for (char *slash = strchr(path + 1, '/'); make && slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	return true;
}

static bool
name_fits(const char *name)
{
	return name[0] != '\0' && strlen(name) < 64 && emu_profile_find(name) == NULL &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(name);
}

static int
profile_import(const struct recorded *r, const char *base_name, const char *name, const char *output)
{
	const struct emu_profile *base = recorded_base(r, base_name);
	char made[64], path[PATH_MAX];
	FILE *f;

	if (base == NULL)
		return MLXEMU_FAILED;
	snprintf(made, sizeof(made), "%s-recorded", base->name);
	name = name != NULL ? name : made;
	if (!name_fits(name))
		return mlxemu_fail(MLXEMU_USAGE, "--name '%s': letters, digits, '-' and '_', and no card model", name);
	if (output == NULL && !data_path(name, path, true))
		return mlxemu_fail(MLXEMU_FAILED, "neither XDG_DATA_HOME nor HOME is set: --output PATH");
	output = output != NULL ? output : path;
	f = fopen(output, "w");
	if (f == NULL)
		return mlxemu_fail(MLXEMU_FAILED, "'%s': %s", output, strerror(errno));
	import_write(f, r, base, name);
	if (fclose(f) != 0)
		return mlxemu_fail(MLXEMU_FAILED, "'%s': %s", output, strerror(errno));
	printf("%s\nuse it: mlxemu run --profile %s -- PROGRAM\n", output, output == path ? name : output);
	return MLXEMU_OK;
}

/* ------------------------------------------------------------------ compare */

static int
profile_compare(const struct recorded *r, const char *base_name)
{
	const struct emu_profile *base = recorded_base(r, base_name);
	unsigned equal = 0, differ = 0, value;
	const char *name;

	if (base == NULL)
		return MLXEMU_FAILED;
	for (unsigned i = 0; (name = emu_profile_cap(base, i, &value)) != NULL; i++)
		for (size_t k = 0; k < READERS; k++) {
			uint64_t v;

			if (strcmp(readers[k].name, name) != 0 || !r->has[readers[k].page])
				continue;
			v = readers[k].get(r);
			/* 0 in a profile: that of the counter. */
			if (v == value || (strcmp(name, "device_frequency_mhz") == 0 && value == 0)) {
				equal++;
				continue;
			}
			differ++;
			printf("%-32s recorded %-8" PRIu64 " %s %u\n", name, v, base->name, value);
		}
	printf("%u values as in %s, %u others\n", equal, base->name, differ);
	return MLXEMU_OK;
}

int
mlxemu_profile(int argc, char **argv)
{
	const char *base = NULL, *name = NULL, *output = NULL;
	static struct recorded r;
	bool import;
	int status;

	if (argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
		fputs(profile_usage, stdout);
		return MLXEMU_OK;
	}
	import = argc >= 2 && strcmp(argv[0], "import") == 0;
	if (!import && !(argc >= 2 && argc <= 3 && strcmp(argv[0], "compare") == 0))
		return mlxemu_fail(MLXEMU_USAGE, "profile takes import FILE or compare FILE (mlxemu profile --help)");
	for (int i = 2; import && i < argc; i += 2) {
		const char **to = strcmp(argv[i], "--base") == 0     ? &base
				  : strcmp(argv[i], "--name") == 0   ? &name
				  : strcmp(argv[i], "--output") == 0 ? &output
								     : NULL;

		if (to == NULL || i + 1 == argc)
			return mlxemu_fail(MLXEMU_USAGE, "profile import: '%s' is not an option, or has no value", argv[i]);
		*to = argv[i + 1];
	}
	status = recorded_open(argv[1], &r);
	if (status == MLXEMU_OK)
		status = import ? profile_import(&r, base, name, output)
				: profile_compare(&r, argc == 3 ? argv[2] : NULL);
	json_decref(r.root);
	return status;
}

/* ------------------------------------------------------------------ use */

/* Removes comment and blanks at both ends. */
static char *
line_trim(char *line)
{
	char *end;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	return line;
}

static int
lines_read(FILE *f, const char *from, const char *path, struct mlxemu_run *run)
{
	char text[256], err[256] = "";
	size_t used = 0;

	for (unsigned n = 1; fgets(text, sizeof(text), f) != NULL; n++) {
		const char *line = line_trim(text);

		if (line[0] == '\0')
			continue;
		if (run->profile == NULL) {
			run->profile = strncmp(line, "base=", 5) == 0 ? emu_profile_find(line + 5) : NULL;
			if (run->profile == NULL)
				return mlxemu_fail(MLXEMU_USAGE, "%s '%s': line %u: base=CARD is needed first", from,
						   path, n);
			continue;
		}
		run->profile = emu_profile_change(run->profile, line, err, sizeof(err));
		if (run->profile == NULL || used + strlen(line) + 2 > sizeof(run->recorded))
			return mlxemu_fail(MLXEMU_USAGE, "%s '%s': line %u: %s", from, path, n,
					   run->profile == NULL ? err : "too long");
		used += (size_t)sprintf(run->recorded + used, "%s%s", used != 0 ? "\n" : "", line);
	}
	if (run->profile == NULL)
		return mlxemu_fail(MLXEMU_USAGE, "%s '%s': empty", from, path);
	return MLXEMU_OK;
}

int
mlxemu_profile_load(const char *from, const char *name, struct mlxemu_run *run)
{
	char path[PATH_MAX];
	bool file = strchr(name, '/') != NULL;
	FILE *f = NULL;
	int status;

	if (file || data_path(name, path, false))
		f = fopen(file ? name : path, "r");
	if (f == NULL)
		return file ? mlxemu_fail(MLXEMU_USAGE, "%s '%s': %s", from, name, strerror(errno)) : -1;
	run->profile = NULL;
	run->recorded[0] = '\0';
	status = lines_read(f, from, name, run);
	fclose(f);
	return status;
}
