# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
# Shell functions that quickstart and the end-to-end tests share: hugepages, namespaces, reports.
# shellcheck shell=bash

hugepages_nr=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
hugepages_free=/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages
hugepages_before=

# Makes sure that $1 2-MiB pages are free; remembers how many there were. 1: not permitted.
hugepages_take() {
	local want=$1 free nr
	[ -r "$hugepages_free" ] || return 1
	free=$(cat "$hugepages_free") nr=$(cat "$hugepages_nr")
	if [ "$free" -lt "$want" ]; then
		hugepages_before=$nr
		{ echo $((nr + want - free)) >"$hugepages_nr"; } 2>/dev/null || { hugepages_before=; return 1; }
	fi
	[ "$(cat "$hugepages_free")" -ge "$want" ] && return 0
	hugepages_give
	return 1
}

# Back to what there was.
hugepages_give() {
	[ -n "$hugepages_before" ] && echo "$hugepages_before" >"$hugepages_nr"
	hugepages_before=
}

# in_netns NAME COMMAND...: enters only the network namespace. `ip netns exec` and `ip -n` would
# remount /sys as well, which a chroot does not permit.
in_netns() {
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}

# link_counter NAMESPACE INTERFACE rx|tx: packets that the kernel counted.
link_counter() {
	in_netns "$1" ip -s -json link show dev "$2" | /usr/bin/python3 -c '
import json, sys
print(json.load(sys.stdin)[0]["stats64"][sys.argv[1]]["packets"])' "$3"
}

# True where this machine lets us make a network namespace with a TAP device in it.
tap_permitted() {
	local ns=mlxprobe$$ ok=1
	[ -c /dev/net/tun ] || return 1
	command -v ip >/dev/null || return 1
	ip netns add "$ns" 2>/dev/null || return 1
	in_netns "$ns" ip tuntap add dev probe mode tap 2>/dev/null && ok=0
	ip netns del "$ns" 2>/dev/null
	return $ok
}

# report_value FILE PORT COUNTER: a counter out of the emulator's report; 0 where it is not there.
report_value() {
	awk -v port="$2" -v name="$3" '
		$1 == "port" && $2 == port && $3 == name { value = $4 }
		END { print value + 0 }' "$1"
}

# wait_for SECONDS COMMAND...: polls ten times a second until it succeeds.
wait_for() {
	local tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}
