/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright 2026 The mlxpmd Authors */
/*
 * Looks at the fake /sys, /dev and network interfaces with libc alone, by every name under which
 * the front end replaces a function, and checks that the rest of the machine is what it was.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "../check.h"

#define SLOT "/sys/bus/pci/devices/0000:c1:00.0"
#define IBDEV "/sys/class/infiniband/mlx5_0"
#define NODE "/dev/infiniband/uverbs0"

static void
content(const char *path, const char *want)
{
	char buf[256] = "";
	FILE *f = fopen(path, "r");

	CHECK(f != NULL && fgets(buf, sizeof(buf), f) != NULL && strcmp(buf, want) == 0, "%s: '%s', not '%s'",
	      path, buf, want);
	if (f != NULL)
		fclose(f);
}

static void
check_files(void)
{
	char buf[PATH_MAX], *full;
	int dir, fd;

	content(SLOT "/vendor", "0x15b3\n");
	content(SLOT "/device", "0x101d\n");
	content(IBDEV "/node_type", "1: CA\n");
	content(IBDEV "/ports/1/link_layer", "Ethernet\n");
	content("//sys/class/./infiniband/mlx5_0/fw_ver", "22.35.2000\n");
	content("/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	content("/sys/class/net/mlxemu0np0/mtu", "1500\n");
	/* The machine's own files are untouched. */
	CHECK(access("/proc/self/status", R_OK) == 0);
	CHECK(access("/sys/class/net/lo/mtu", R_OK) == 0);
	/* Relative to a directory. */
	dir = open("/sys/class/infiniband_verbs", O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0);
	fd = openat(dir, "uverbs0", O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	close(fd);
	close(dir);
	/* Links and real paths show the emulated files only. */
	CHECK(readlink(IBDEV, buf, sizeof(buf)) > 0);
	full = realpath(IBDEV "/device", NULL);
	CHECK(full != NULL && strcmp(full, "/sys/devices/mlxemu/0000:c1:00.0") == 0);
	CHECK(full != NULL && access(full, F_OK) == 0);
	free(full);
	CHECK(realpath(SLOT "/driver", buf) != NULL);
	CHECK(strcmp(buf, "/sys/bus/pci/drivers/mlx5_core") == 0);
	CHECK(access("/sys/class/infiniband/mlx5_9", F_OK) == -1 && errno == ENOENT);
}

/* Names in a directory that the filter wants, and how many. */
static int
is_mlx5(const struct dirent *e)
{
	return strncmp(e->d_name, "mlx5_", 5) == 0;
}

static void
check_listings(int ports)
{
	struct dirent **list;
	struct dirent *e;
	int n, real = 0, ours = 0;
	glob_t g = {0};
	DIR *d;

	n = scandir("/sys/class/infiniband", &list, is_mlx5, alphasort);
	CHECK(n == ports);
	while (n > 0)
		free(list[--n]);
	free(list);
	CHECK(glob("/sys/class/infiniband/*/ports/1/state", 0, NULL, &g) == 0);
	CHECK((int)g.gl_pathc == ports);
	CHECK(g.gl_pathc > 0 && strcmp(g.gl_pathv[0], IBDEV "/ports/1/state") == 0);
	globfree(&g);
	d = opendir("/sys/bus/pci/devices");
	CHECK(d != NULL);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (strncmp(e->d_name, "0000:c1:", 8) == 0 ||
		    strncmp(e->d_name, "0000:c2:", 8) == 0)
			ours++;
		else
			real++;
	}
	if (d != NULL)
		closedir(d);
	CHECK(ours == ports);
	printf("real PCI functions beside ours: %d\n", real);
}

static void
check_char(const struct stat *st)
{
	CHECK(S_ISCHR(st->st_mode));
	CHECK(st->st_rdev == makedev(231, 192));
}

static void
check_node(void)
{
	struct statx stx;
	struct stat st;
	struct stat64 st64;
	int fd, copy;

	CHECK(stat(NODE, &st) == 0);
	check_char(&st);
	CHECK(lstat(NODE, &st) == 0);
	check_char(&st);
	CHECK(stat64(NODE, &st64) == 0 && S_ISCHR(st64.st_mode));
	CHECK(fstatat(AT_FDCWD, NODE, &st, 0) == 0);
	check_char(&st);
	CHECK(statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &stx) == 0);
	CHECK(S_ISCHR(stx.stx_mode) && stx.stx_rdev_major == 231 && stx.stx_rdev_minor == 192);
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(fstat(fd, &st) == 0);
	check_char(&st);
	CHECK(fstatat(fd, "", &st, AT_EMPTY_PATH) == 0);
	check_char(&st);
	CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	copy = fcntl(fd, F_DUPFD, 300);
	CHECK(copy >= 300);
	CHECK(fstat(copy, &st) == 0);
	check_char(&st);
	CHECK(ioctl(fd, TIOCGWINSZ, &stx) == -1 && errno == ENOTTY);
	CHECK(write(fd, "x", 1) == -1);
	CHECK(close(fd) == 0);
	CHECK(fstat(copy, &st) == 0);
	check_char(&st);
	CHECK(close(copy) == 0);
	CHECK(fstat(copy, &st) == -1 && errno == EBADF);
	CHECK(open("/dev/infiniband/uverbs9", O_RDWR) == -1 && errno == ENOENT);
}

/* A program that closes everything it can see does not cut the model off. */
static void
check_close_all(void)
{
	struct stat st;
	int fd = open(NODE, O_RDWR | O_CLOEXEC), i;

	CHECK(fd >= 0);
	for (i = 3; i < 1024; i++)
		(void)close(i);
	CHECK(fstat(fd, &st) == -1);
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(close_range(3, UINT_MAX, 0) == 0);
	CHECK(fstat(fd, &st) == -1);
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && close(fd) == 0);
}

static int
request(unsigned long req, struct ifreq *ifr)
{
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = ioctl(s, req, ifr);

	close(s);
	return ret;
}

static void
check_ethtool(struct ifreq *ifr)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_cmd cmd = {.cmd = ETHTOOL_GSET};
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};

	ifr->ifr_data = (void *)&info;
	CHECK(request(SIOCETHTOOL, ifr) == 0);
	CHECK(strcmp(info.driver, "mlx5_core") == 0);
	CHECK(strcmp(info.bus_info, "0000:c1:00.0") == 0);
	ifr->ifr_data = (void *)&cmd;
	CHECK(request(SIOCETHTOOL, ifr) == 0);
	ifr->ifr_data = (void *)&link;
	CHECK(request(SIOCETHTOOL, ifr) == 0);
}

static void
check_netdev(void)
{
	struct ifreq ifr = {.ifr_name = "mlxemu0np0"};
	char name[IF_NAMESIZE];
	unsigned index = if_nametoindex("mlxemu0np0");

	CHECK(index != 0);
	CHECK(if_indextoname(index, name) != NULL && strcmp(name, "mlxemu0np0") == 0);
	CHECK(if_nametoindex("mlxemu9np0") == 0);
	CHECK(if_nametoindex("lo") != 0);
	CHECK(request(SIOCGIFINDEX, &ifr) == 0 && ifr.ifr_ifindex == (int)index);
	CHECK(request(SIOCGIFHWADDR, &ifr) == 0);
	CHECK(ifr.ifr_hwaddr.sa_family == ARPHRD_ETHER);
	CHECK(request(SIOCGIFMTU, &ifr) == 0 && ifr.ifr_mtu == 1500);
	ifr.ifr_mtu = 9000;
	CHECK(request(SIOCSIFMTU, &ifr) == 0);
	ifr.ifr_mtu = 0;
	CHECK(request(SIOCGIFMTU, &ifr) == 0 && ifr.ifr_mtu == 9000);
	content("/sys/class/net/mlxemu0np0/mtu", "9000\n");
	ifr.ifr_mtu = 60000;
	CHECK(request(SIOCSIFMTU, &ifr) == -1 && errno == EINVAL);
	CHECK(request(SIOCGIFFLAGS, &ifr) == 0 && (ifr.ifr_flags & IFF_UP) != 0);
	ifr.ifr_flags |= IFF_PROMISC;
	CHECK(request(SIOCSIFFLAGS, &ifr) == 0);
	ifr.ifr_flags = 0;
	CHECK(request(SIOCGIFFLAGS, &ifr) == 0 && (ifr.ifr_flags & IFF_PROMISC) != 0);
	check_ethtool(&ifr);
	strcpy(ifr.ifr_name, "mlxemu9np0");
	CHECK(request(SIOCGIFMTU, &ifr) == -1 && errno == ENODEV);
}

int
main(int argc, char **argv)
{
	int ports = argc == 2 ? atoi(argv[1]) : 1;

	check_files();
	check_listings(ports);
	check_node();
	check_netdev();
	check_close_all();
	return check_exit("interpose");
}
