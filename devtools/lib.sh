# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
# Shell functions of quickstart and test: hugepages, namespaces, reports, permissions of folders.
# shellcheck shell=bash

# Reserve $1 hugepages of 2 MiB until hugepages_give. 1: not permitted.
hugepages_take() {
	local answer=
	coproc HUGEPAGES { /usr/bin/python3 devtools/hugepages.py "$1"; }
	read -r answer <&"${HUGEPAGES[0]}"
	[ "$answer" = reserved ]
}

# Give them back, if any are reserved.
hugepages_give() {
	local pid=${HUGEPAGES_PID:-}
	[ -n "$pid" ] || return
	eval "exec ${HUGEPAGES[1]}>&-"
	wait "$pid"
}

# in_netns NAME COMMAND...: enter only the network namespace. `ip netns exec` and `ip -n` also remount
# /sys, which a chroot does not permit.
in_netns() {
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}

# link_counter NAMESPACE INTERFACE rx|tx: number of packets, from the kernel's interface statistics.
link_counter() {
	in_netns "$1" ip -s -json link show dev "$2" | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)[0]["stats64"][sys.argv[1]]["packets"])' "$3"
}

# True if this machine permits a network namespace with a TAP device in it.
tap_permitted() {
	local ns=mlxprobe$$ ok=1
	[ -c /dev/net/tun ] || return 1
	command -v ip >/dev/null || return 1
	ip netns add "$ns" 2>/dev/null || return 1
	in_netns "$ns" ip tuntap add dev probe mode tap 2>/dev/null && ok=0
	ip netns del "$ns" 2>/dev/null
	return $ok
}

# report_value FILE PORT COUNTER: a counter from the emulator's report; 0 if it is absent.
report_value() {
	awk -v port="$2" -v name="$3" '
		$1 == "port" && $2 == port && $3 == name { value = $4 }
		END { print value + 0 }' "$1"
}

# wait_for SECONDS COMMAND...: run the command every 100 ms until it succeeds. 1: it did not in time.
wait_for() {
	local tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# plugin_folder_check FOLDER: EAL refuses plugins below a folder that every user may write to, whatever its
# sticky bit (verify_perms() in lib/eal/common/eal_common_options.c). Print the folder and fail if there is one.
plugin_folder_check() {
	local path
	path=$(realpath -m -- "$1") || return 1
	while [ "$path" != / ]; do
		if [ -d "$path" ] && [ -n "$(find "$path" -maxdepth 0 -perm -o=w)" ]; then
			echo "$path is writable by every user, and DPDK loads no plugin from below such a folder:" \
				"clone (or give --builddir) elsewhere, for example below ~ or /opt" >&2
			return 1
		fi
		path=$(dirname -- "$path")
	done
}
