#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The RDMA device of a PF in switchdev mode: its ports, as sysfs, netlink and libmlx5 show them.

usage: test_switchdev.py MLXEMU
       test_switchdev.py --inside VFS METADATA    in the emulated program
"""
import ctypes
import errno
import json
import os
import subprocess
import sys

IB = '/sys/class/infiniband/mlx5_0'
NET = '/sys/bus/pci/devices/0000:c1:00.0/net'
UPLINK = 0xffff
# Flags of struct mlx5dv_port (mlx5dv.h).
VPORT, VHCA_ID, REG_C0, OWNER = 1, 2, 16, 32


class Port(ctypes.Structure):
    """struct mlx5dv_port"""
    _fields_ = [('flags', ctypes.c_uint64), ('vport', ctypes.c_uint16), ('vhca_id', ctypes.c_uint16),
                ('owner', ctypes.c_uint16), ('rsvd', ctypes.c_uint16), ('icm_rx', ctypes.c_uint64),
                ('icm_tx', ctypes.c_uint64), ('value', ctypes.c_uint32), ('mask', ctypes.c_uint32)]


def read(path):
    with open(path, encoding='ascii') as f:
        return f.read().strip()


def tool(*args):
    return json.loads(subprocess.run(args, check=True, stdout=subprocess.PIPE, timeout=60).stdout)


def libmlx5(ports):
    """mlx5dv_query_port() of ports 0 to ports + 1: the error, or the reply."""
    verbs, mlx5 = ctypes.CDLL('libibverbs.so.1'), ctypes.CDLL('libmlx5.so.1')
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_open_device.restype = ctypes.c_void_p
    verbs.ibv_open_device.argtypes = [ctypes.c_void_p]
    verbs.ibv_close_device.argtypes = [ctypes.c_void_p]
    query = getattr(mlx5, '_mlx5dv_query_port')
    query.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t]
    devices = verbs.ibv_get_device_list(None)
    context = verbs.ibv_open_device(devices[0])
    verbs.ibv_free_device_list(devices)
    found = []
    for port in range(ports + 2):
        info = Port()
        found.append(query(context, port, ctypes.byref(info), ctypes.sizeof(info)) or info)
    verbs.ibv_close_device(context)
    return found


def inside(vfs, metadata):
    ports = vfs + 2
    assert sorted(map(int, os.listdir(f'{IB}/ports'))) == list(range(1, ports + 1))
    assert [read(f'{IB}/ports/{p}/state') for p in range(1, ports + 1)] == ['1: DOWN'] * (vfs + 1) + ['4: ACTIVE']
    assert not os.path.exists(f'{IB}/ports/{ports}/gids')
    names = {name: read(f'{NET}/{name}/phys_port_name') for name in os.listdir(NET)}
    assert sorted(names.values()) == sorted(['p0'] + [f'pf0vf{vf}' for vf in range(vfs)]), names
    links = {link['port']: link for link in tool('rdma', '-j', 'link', 'show') if link['ifname'] == 'mlx5_0'}
    assert sorted(links) == list(range(1, ports + 1))
    assert {p for p in links if links[p].get('netdev') == 'mlxemu0np0'} == {ports}, links
    assert links[ports]['state'] == 'ACTIVE' and links[1]['state'] == 'DOWN'
    mode = tool('devlink', '-j', 'dev', 'eswitch', 'show', 'pci/0000:c1:00.0')['dev']['pci/0000:c1:00.0']
    assert mode['mode'] == 'switchdev', mode
    found = libmlx5(ports)
    assert found[0] == found[ports + 1] == errno.EINVAL and found[1] == errno.EOPNOTSUPP, found
    source = REG_C0 if metadata else 0
    for port in range(2, ports + 1):
        vport = UPLINK if port == ports else port - 1
        info = found[port]
        assert info.vport == vport and info.owner == 1
        assert info.flags == VPORT | OWNER | source | (VHCA_ID if vport != UPLINK else 0), hex(info.flags)
        assert (info.mask, info.value & ~info.mask) == (0xffff0000 if metadata else 0, 0)
    values = [found[port].value for port in range(2, ports + 1)]
    assert len(set(values)) == (len(values) if metadata else 1) and (0 in values) == (not metadata), values


def main():
    if sys.argv[1] == '--inside':
        inside(int(sys.argv[2]), sys.argv[3] == 'on')
        return
    for vfs, metadata in ((0, 'on'), (2, 'on'), (24, 'on'), (1, 'off')):
        option = f'0,vfs={vfs},metadata={metadata}'
        subprocess.run([sys.argv[1], 'run', '--ports', '2', '--switchdev', option, '--audit', '--', sys.executable,
                        __file__, '--inside', str(vfs), metadata], check=True, timeout=100)
    for bad in ('2', '0,vfs=25', '0,vfs=', '0,', '0,mode=legacy', 'x'):
        run = subprocess.run([sys.argv[1], 'run', '--ports', '2', '--switchdev', bad, '--', 'true'], check=False,
                             stderr=subprocess.PIPE, timeout=60)
        assert run.returncode == 2 and b'--switchdev' in run.stderr, (bad, run)
    for other in (['--vf', '0'], ['--open', 'vfio'], ['--mpfs', '0'], ['--profile', 'cx3']):
        run = subprocess.run([sys.argv[1], 'run', '--switchdev', '0'] + other + ['--', 'true'], check=False,
                             stderr=subprocess.PIPE, timeout=60)
        assert run.returncode == 2, (other, run)
    print("switchdev: ports of the uplink and of representors")


main()
