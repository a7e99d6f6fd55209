#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""RDMA netlink and devlink: iproute2's tools, and requests that they do not make.

usage: test_netlink.py MLXEMU
       test_netlink.py --inside    in the emulated program
"""
import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import sys

RDMA, GENERIC = 20, 16
REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
ERROR, DONE = 2, 3
# Client nldev and its commands (rdma_netlink.h); commands of devlink (linux/devlink.h).
NLDEV = 5 << 10
GET, SET, PORT_GET, SYS_GET, RES_GET, CHARDEV = 1, 2, 5, 6, 9, 15
DEVLINK_GET, RELOAD = 1, 37
DEV_INDEX, PORT_INDEX, CHARDEV_TYPE, CHARDEV_NAME = 1, 3, 69, 70
CONTROLLER, GETFAMILY, FAMILY_NAME, FAMILY_ID = 16, 3, 2, 1


def attr(kind, data):
    return struct.pack('HH', 4 + len(data), kind) + data + bytes(-len(data) % 4)


def attrs(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from('HH', data)
        found[kind] = data[4:length]
        data = data[length + 3 & ~3:]
    return found


class Netlink:
    """A socket; replies as (type, payload), up to the acknowledgement or the end of a dump."""

    def __init__(self, protocol):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        self.socket.settimeout(10)
        self.seq = 0

    def request(self, kind, flags, payload=b''):
        self.seq += 1
        self.socket.sendto(struct.pack('IHHII', 16 + len(payload), kind, REQUEST | flags, self.seq, 0) + payload,
                           (0, 0))
        replies = []
        while True:
            data, source = self.socket.recvfrom(16384)
            assert source == (0, 0), source
            length, kind, _, seq, pid = struct.unpack_from('IHHII', data)
            assert (length, seq, pid) == (len(data), self.seq, self.socket.getsockname()[0]), data
            if kind == ERROR:
                return replies, -struct.unpack_from('i', data, 16)[0]
            if kind == DONE:
                return replies, 0
            replies.append((kind, data[16:]))


CHECKS = []


def check(what, got, want):
    CHECKS.append(got == want)
    if got != want:
        print(f'{what}: {got!r}, not {want!r}')


def nldev():
    nl = Netlink(RDMA)
    u32 = struct.Struct('I').pack
    devices, error = nl.request(NLDEV | GET, DUMP)
    check('devices', ([attrs(d)[2] for _, d in devices], error), ([b'mlx5_0\0', b'mlx5_1\0'], 0))
    device, error = nl.request(NLDEV | GET, ACK, attr(DEV_INDEX, u32(1)))
    check('one device', (attrs(device[0][1])[2], error), (b'mlx5_1\0', 0))
    port, _ = nl.request(NLDEV | PORT_GET, ACK, attr(DEV_INDEX, u32(0)) + attr(PORT_INDEX, u32(1)))
    # The kernel gives the reply for one port the type of GET, those of a dump that of PORT_GET.
    check('type of the port', port[0][0], NLDEV | GET)
    ports, _ = nl.request(NLDEV | PORT_GET, DUMP, attr(DEV_INDEX, u32(0)))
    check('type of dumped ports', [kind for kind, _ in ports], [NLDEV | PORT_GET])
    node, _ = nl.request(NLDEV | CHARDEV, ACK, attr(DEV_INDEX, u32(1)) + attr(CHARDEV_TYPE, b'uverbs\0'))
    check('character device', attrs(node[0][1])[CHARDEV_NAME], b'uverbs1\0')
    for what, command, flags, payload, want in [
            ('no index', GET, 0, b'', errno.EINVAL),
            ('no such device', GET, 0, attr(DEV_INDEX, u32(2)), errno.EINVAL),
            ('cut attribute', GET, 0, struct.pack('HHI', 12, DEV_INDEX, 0), errno.EINVAL),
            ('short attribute', GET, 0, attr(DEV_INDEX, b'\0'), errno.EINVAL),
            ('no such port', PORT_GET, 0, attr(DEV_INDEX, u32(0)) + attr(PORT_INDEX, u32(2)), errno.EINVAL),
            ('rdma_cm', CHARDEV, 0, attr(CHARDEV_TYPE, b'rdma_cm\0'), errno.EOPNOTSUPP),
            ('dump of sys', SYS_GET, DUMP, b'', errno.EINVAL),
            ('objects', RES_GET, DUMP, b'', errno.EOPNOTSUPP),
            ('rename', SET, 0, attr(DEV_INDEX, u32(0)), errno.EOPNOTSUPP if os.geteuid() == 0 else errno.EPERM),
            ('unknown command', 900, 0, b'', errno.EINVAL)]:
        check(what, nl.request(NLDEV | command, flags, payload), ([], want))
    nl.socket.sendto(struct.pack('IHHII', 60000, NLDEV | GET, REQUEST | DUMP, 0, 0), (0, 0))
    check('another client', nl.request(2 << 10 | 1, 0), ([], errno.EINVAL))


def genl(command, *attributes):
    return struct.pack('BBH', command, 1, 0) + b''.join(attributes)


def devlink():
    nl = Netlink(GENERIC)
    # The kernel's until devlink is looked up.
    families, error = nl.request(CONTROLLER, ACK, genl(GETFAMILY, attr(FAMILY_NAME, b'nlctrl\0')))
    check('controller', (len(families), error), (1, 0))
    # A message that is longer than what is sent is not read: no reply.
    nl.socket.sendto(struct.pack('IHHII', 60000, CONTROLLER, REQUEST, 0, 0) + genl(GETFAMILY), (0, 0))
    families, error = nl.request(CONTROLLER, ACK, genl(GETFAMILY, attr(FAMILY_NAME, b'devlink\0')))
    family = struct.unpack('H', attrs(families[0][1][4:])[FAMILY_ID])[0]
    devices, error = nl.request(family, DUMP, genl(DEVLINK_GET))
    check('devlink devices', ([attrs(d[4:])[2] for _, d in devices], error),
          ([b'0000:c1:00.0\0', b'0000:c1:00.1\0'], 0))
    for what, kind, payload, want in [
            ('no such family', CONTROLLER, genl(GETFAMILY, attr(FAMILY_NAME, b'nlctrl\0')), errno.ENOENT),
            ('no handle', family, genl(DEVLINK_GET), errno.EINVAL),
            ('no such card', family, genl(DEVLINK_GET, attr(1, b'pci\0'), attr(2, b'0000:c2:00.0\0')), errno.ENODEV),
            ('unended name', family, genl(DEVLINK_GET, attr(1, b'pci'), attr(2, b'0000:c1:00.0\0')), errno.EINVAL),
            ('reload', family, genl(RELOAD, attr(1, b'pci\0'), attr(2, b'0000:c1:00.0\0')), errno.EOPNOTSUPP),
            ('no header', family, b'', errno.EINVAL)]:
        check(what, nl.request(kind, 0, payload), ([], want))


def tool(*command):
    if shutil.which(command[0]) is None:
        print(f'{command[0]}: not installed')
        return None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else done.stderr.strip()


def tools():
    links = tool('rdma', 'link', 'show', '-j')
    if links is not None:
        check('rdma link', [(x['ifname'], x['port'], x['state'], x['netdev']) for x in json.loads(links)],
              [('mlx5_0', 1, 'ACTIVE', 'mlxemu0np0'), ('mlx5_1', 1, 'ACTIVE', 'mlxemu1np0')])
        devices = json.loads(tool('rdma', 'dev', 'show', '-j'))
        check('rdma dev', [(x['ifindex'], x['node_type'], x['fw']) for x in devices],
              [(0, 'ca', '22.35.2000'), (1, 'ca', '22.35.2000')])
    info = tool('devlink', '-j', 'dev', 'info')
    if info is not None:
        cards = json.loads(info)['info']
        check('devlink cards', sorted(cards), ['pci/0000:c1:00.0', 'pci/0000:c1:00.1'])
        check('driver', cards['pci/0000:c1:00.0']['driver'], 'mlx5_core')
        check('firmware', cards['pci/0000:c1:00.1']['versions']['running']['fw'], '22.35.2000')
        roce = tool('devlink', 'dev', 'param', 'show', 'pci/0000:c1:00.0', 'name', 'enable_roce')
        check('enable_roce', 'cmode driverinit value true' in roce, True)
        check('E-Switch', tool('devlink', 'dev', 'eswitch', 'show', 'pci/0000:c1:00.0'),
              'kernel answers: Operation not supported')


def addresses():
    """An interface's address lists by rtnetlink (net/core/rtnetlink.c, rtnl_fdb_add() and what it calls)."""
    nl = Netlink(0)
    index = int(open('/sys/class/net/mlxemu0np0/ifindex', encoding='ascii').read())
    second, group = bytes.fromhex('020000000002'), bytes.fromhex('01005e00000a')
    new, delete, get, create = 28, 29, 30, 0x600
    permanent, itself, lladdr = 0x80, 0x2, 2

    def fdb(kind, mac, flags=ACK, state=permanent, what=itself, to=index):
        ndm = struct.pack('BBHiHBB', socket.AF_BRIDGE, 0, 0, to, state, what, 0)
        replies, error = nl.request(kind, flags, ndm + (attr(lladdr, mac) if mac else b''))
        return error or sorted(attrs(d[12:])[lladdr] for _, d in replies)

    check('no address', fdb(get, None, DUMP), [])
    check('added', fdb(new, second, ACK | create), [])
    check('added again', fdb(new, second, ACK | create), errno.EEXIST)
    check('added again, without NLM_F_EXCL', fdb(new, second), [])
    check('group added', fdb(new, group, ACK | create), [])
    check('addresses', fdb(get, None, DUMP), [group, second])
    check('not static', fdb(new, second, state=0x2), errno.EINVAL)
    check('without an address', fdb(new, None), errno.EINVAL)
    check('seven bytes', fdb(new, second + b'x'), errno.EINVAL)
    check('for a bridge', fdb(new, second, what=0), errno.EOPNOTSUPP)
    check('removed', fdb(delete, second), [])
    check('removed again', fdb(delete, second), errno.ENOENT)
    check('group removed', fdb(delete, group), [])
    check('no address left', fdb(get, None, DUMP), [])
    check('the kernel still answers', fdb(new, second, to=0x7ffffff), errno.ENODEV)


def main():
    if sys.argv[1] != '--inside':
        sys.exit(subprocess.run([sys.argv[1], 'run', '--ports', '2', '--', sys.executable, __file__, '--inside'],
                                timeout=120).returncode)
    nldev()
    devlink()
    tools()
    addresses()
    print(f'{len(CHECKS)} checks, {CHECKS.count(False)} failed')
    sys.exit(0 if all(CHECKS) else 1)


if __name__ == '__main__':
    main()
