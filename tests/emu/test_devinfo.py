#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's own tools list the ports: ibv_devices, ibv_devinfo -v, for 1 to 4 ports.

usage: test_devinfo.py MLXEMU
"""
import re
import subprocess
import sys

PROFILES = {'cx6dx': ('4125', '22.35.2000', '156250kHZ'),
            'cx5': ('4119', '16.35.2000', '78125kHZ'),
            'cx7': ('4129', '28.35.2000', '312500kHZ'),
            'cx4lx': ('4117', '14.32.1010', '156250kHZ')}


def run(mlxemu, ports, profile, *program, options=()):
    return subprocess.run([mlxemu, 'run', '--audit', '--ports', str(ports), '--profile', profile, *options,
                           '--', *program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=True).stdout


def fields(text):
    """The devices of ibv_devinfo's output: a list of {field: value}."""
    devices = []
    for line in text.splitlines():
        match = re.match(r'\s*(\w[\w ]*):\s+(\S.*)', line)
        if not match:
            continue
        if match.group(1) == 'hca_id':
            devices.append({})
        devices[-1].setdefault(match.group(1), match.group(2).strip())
    return devices


def check(what, got, want):
    if got != want:
        print(f'{what}: {got!r}, not {want!r}')
        return 1
    return 0


def check_device(dev, index, profile):
    part, firmware, clock = PROFILES[profile]
    want = {'hca_id': f'mlx5_{index}', 'transport': 'InfiniBand (0)', 'fw_ver': firmware,
            'vendor_id': '0x02c9', 'vendor_part_id': part, 'phys_port_cnt': '1',
            'state': 'PORT_ACTIVE (4)', 'link_layer': 'Ethernet', 'max_mtu': '4096 (5)',
            'active_mtu': '1024 (3)', 'hca_core_clock': clock, 'phys_state': 'LINK_UP (5)',
            'num_comp_vectors': '16'}
    return sum(check(f'{profile} mlx5_{index} {name}', dev.get(name), value)
               for name, value in want.items())


def main():
    mlxemu = sys.argv[1]
    bad = 0
    runs = [(ports, 'cx6dx') for ports in (1, 2, 3, 4)] + [(1, name) for name in PROFILES]
    for ports, profile in runs:
        names = sorted(re.findall(r'mlx5_\d+', run(mlxemu, ports, profile, 'ibv_devices')))
        bad += check('ibv_devices', names, [f'mlx5_{i}' for i in range(ports)])
        # Libraries list devices in the directory's order, which is arbitrary.
        devices = sorted(fields(run(mlxemu, ports, profile, 'ibv_devinfo', '-v')),
                         key=lambda dev: dev['hca_id'])
        bad += check('devices', len(devices), ports)
        bad += sum(check_device(dev, i, profile) for i, dev in enumerate(devices))
        guids = {dev['node_guid'] for dev in devices}
        bad += check('different GUIDs', len(guids), ports)
    for profile, part in (('cx6dx', '4126'), ('cx5', '4120'), ('cx7', '4126')):
        text = run(mlxemu, 1, profile, 'ibv_devinfo', '-v', options=('--vf', '0'))
        bad += check(f'{profile} virtual function', fields(text)[0]['vendor_part_id'], part)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
