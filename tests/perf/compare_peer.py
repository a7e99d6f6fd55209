# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""A build against another DPDK, whose net_mlx5 is then the stock driver."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ('devtools/mlxemu/mlxemu', 'devtools/mlxemu/libmlxemu.so', 'tests/perf/compare_bench',
           'drivers/librte_net_mlxpmd.so')


class Failure(Exception):
    """Why there is no such build, in one line."""


def _variable(env, *what):
    try:
        return subprocess.run(['pkg-config', *what, 'libdpdk'], stdout=subprocess.PIPE, text=True, check=True,
                              env=env).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as e:
        raise Failure('--peer: pkg-config failed') from e


def _run(*cmd, env):
    status = subprocess.run([str(c) for c in cmd], env=env, stdout=sys.stderr, check=False).returncode
    if status != 0:
        raise Failure(f'--peer: {cmd[0]} {cmd[1]}: status {status}')


def build(builddir, folder, source):
    """Build against the DPDK of the .pc files in `folder`, with driver headers of `source` (None: those of
    devtools/setup). (build directory, environment for its programs, release)."""
    if not (folder / 'libdpdk.pc').exists():
        raise Failure(f'--peer {folder}: no libdpdk.pc there')
    env = {**os.environ,
           'PKG_CONFIG_PATH': ':'.join(p for p in (str(folder), os.environ.get('PKG_CONFIG_PATH', '')) if p)}
    release = _variable(env, '--modversion')
    path = builddir.resolve().with_name(f'{builddir.resolve().name}-dpdk-{release}')
    libraries = [_variable(env, '--variable=libdir'), os.environ.get('LD_LIBRARY_PATH', '')]
    env['LD_LIBRARY_PATH'] = ':'.join(p for p in libraries if p)
    if not (path / 'build.ninja').exists():
        options = [f'-Ddpdk_source={Path(source).resolve()}'] if source else []
        _run('meson', 'setup', path, ROOT, *options, env=env)
    _run('ninja', '-C', path, *TARGETS, env=env)
    return path, env, release
