#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""rdma-core's own tools list the ports: ibv_devices, ibv_devinfo -v, for 1 to 4 ports.

usage: test_devinfo.py MLXEMU
"""
import os
import re
import subprocess
import sys
import tempfile

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


def numbers(mlxemu, *options):
    """Devices of a run, its addresses, the number of its first QP, and the lines of its report."""
    # ibv_rc_pingpong frees nothing when it finds no server; AddressSanitizer would end it before its output is written.
    env = dict(os.environ, ASAN_OPTIONS='detect_leaks=0')
    with tempfile.NamedTemporaryFile('r', suffix='.txt') as report:
        done = subprocess.run(
            [mlxemu, 'run', '--ports', '2', '--report', report.name, *options, '--', 'sh', '-c',
             'ibv_devinfo | grep guid; cat /sys/class/net/mlxemu0np0/address /sys/class/net/mlxemu1np0/address; '
             'ibv_rc_pingpong -g 1 -d mlx5_0 -p 1 127.0.0.1'],  # No server: it prints its QP and ends.
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60, check=False, env=env).stdout
        return done, sorted(line for line in report if line.startswith('identity'))


def identity(mlxemu):
    """Each run has its own, --seed and --mac fix it, and the report has what --seed needs."""
    first, lines = numbers(mlxemu)
    other, _ = numbers(mlxemu)
    bad = check('runs differ', first != other, True)
    qpn = [re.findall('QPN (0x[0-9a-f]+)', text) for text in (first, other)]
    bad += check('numbers of QPs differ', len(qpn[0]) == 1 and qpn[0] != qpn[1], True)
    seed = re.findall(r'identity seed (\d+)', ''.join(lines))[0]
    again, same = numbers(mlxemu, '--seed', seed)
    bad += check('the same GUIDs and addresses again', unrandom(again), unrandom(first))
    bad += check('the same report', set(same), set(lines))
    macs = re.findall(r'^[0-9a-f:]{17}$', first, re.M)
    bad += check('consecutive addresses', int(macs[1].replace(':', ''), 16) - int(macs[0].replace(':', ''), 16), 1)
    half = macs[0].replace(':', '')
    guid = f'{half[:4]}:{half[4:6]}03:00{half[6:8]}:{half[8:]}'
    bad += check('GUIDs of the first port', re.findall(r'guid:\s*(\S+)', first).count(guid), 3)
    given, _ = numbers(mlxemu, '--mac', '1=02:00:00:00:00:AA', '--seed', '0')
    return bad + check('--mac', re.findall(r'^[0-9a-f:]{17}$', given, re.M),
                       ['0c:42:a1:4e:d0:00', '02:00:00:00:00:aa'])


def unrandom(text):
    """Without the packet sequence number, which ibv_rc_pingpong chooses at random."""
    return re.sub(r'PSN 0x[0-9a-f]+', '', text)


def main():
    mlxemu = sys.argv[1]
    bad = identity(mlxemu)
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
