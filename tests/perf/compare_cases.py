# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""The rows that `compare` measures, the settings of both drivers for each, and the goals."""

from dataclasses import dataclass, field
from pathlib import Path

# Default settings. The devargs that the stock driver would choose by itself are explicit, so that they do not depend on
# the number of queues or on the device.
STOCK = {
    'rx_vec_en': 1, 'mprq_en': 0, 'rxq_cqe_comp_en': 0,
    'txqs_min_inline': 8,       # one queue: no inlining
    'tx_db_nc': 1,              # the default on x86, and what mlxpmd does there
}
# Whole completions in both drivers, which compress by default.
MLXPMD = {'rxq_cqe_comp_en': 0}
CHECKSUMS = 'IPV4_CKSUM,UDP_CKSUM,TCP_CKSUM'
RX_OFFLOADS = CHECKSUMS + ',RSS_HASH'
STAMPS = RX_OFFLOADS + ',TIMESTAMP'
FAST = 'MBUF_FAST_FREE'


@dataclass
class Goal:
    """Ratios stock / mlxpmd: the least that is expected, and the goal; instructions of mlxpmd per unit as (must,
    target, stretch); None: no goal."""
    floor: float = None
    goal: float = None
    instr: tuple = None


RECEIVE = {'H': Goal(2.8, 3.6, (32, 25, 20)), 'E': Goal(1.9, 2.5)}
STAMPED = {'H': Goal(2.1, 2.6)}
CONVERTED = {'H': Goal(2.4, 3.2)}
SESSIONS = {'H': Goal(2.4, 3.2, (24, 18, 13))}
SEND = {'H': Goal(1.8, 2.2, (30, 20, 14))}
SEND_ANY = {'H': Goal(1.4, 2.0)}
SEND_CHECKSUMS = {'H': Goal(1.9, 3.0)}
SEND_INLINE = {'H': Goal(2.0, 2.8, (60, 45, 25))}
FORWARD = {'H': Goal(2.5, 2.8), 'E': Goal(1.8, 2.3)}


@dataclass
class Case:
    """One row of the result."""
    id: str
    title: str
    row: str = 'rx'             # row of compare_bench
    stock: dict = field(default_factory=dict)   # device arguments of each driver
    mlxpmd: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)     # of compare_bench; True: without a value
    device: tuple = ()          # options of `mlxemu run`
    cpu: str = ''               # flag of /proc/cpuinfo without which the row is left out
    regimes: str = 'H'
    goal: dict = field(default_factory=dict)    # by regime
    note: str = ''


# Both drivers copy packets into WQEs, with the stock driver's default limit.
INLINE = {'stock': {'txqs_min_inline': 1}, 'mlxpmd': {'txq_inline_mpw': 268, 'txqs_min_inline': 1}}
# Both drivers use the format that they have by default, that of the RSS hash.
COMPRESSED = {'stock': {'rxq_cqe_comp_en': 1}, 'mlxpmd': {'rxq_cqe_comp_en': 1}}
# EAL's default on x86 is 256 bits. A processor without AVX-512 has no other bursts than those of the default rows.
WIDE = {'options': {'simd-bits': 512}, 'cpu': 'avx512vl', 'note': 'EAL allows 512 bits (--force-max-simd-bitwidth=512)'}
NARROW = {'options': {'simd-bits': 128}, 'note': 'EAL allows 128 bits (--force-max-simd-bitwidth=128)'}
AVX2 = {'mlxpmd': {'rx_burst': 'avx2', 'tx_burst': 'avx2'}, 'cpu': 'avx512vl',
        'note': 'as on a processor without AVX-512'}


def _poll(k):
    return Case(f'B6.{k}', f'receive, a poll finds {k}', row='polls',
                options={'queues': 8, 'spread': True, 'ring': 128, 'fill': 8 * k, 'pool': 2047, 'cache': 256},
                goal={'H': Goal(2.8, 4.0)} if k <= 8 else {})


def _queues(n):
    return Case(f'B16.{n}', f'receive 60 B from {n} queue{"s" if n > 1 else ""} in turn', row='rx_queues',
                stock={'txqs_min_inline': 17}, options={'queues': n, 'spread': True})


def _ring(n):
    return Case(f'B1.r{n}', f'receive 60 B, ring {n}', options={'ring': n}, regimes='HE')


def _mprq(n, compressed=False):
    striding = {'mprq_en': 1, 'rxqs_min_mprq': 1, **({'rxq_cqe_comp_en': 1} if compressed else {})}
    return Case(f'B12.{n}' + ('.comp' if compressed else ''),
                f'receive {n} B, MPRQ' + (', compressed CQEs' if compressed else ''), stock=striding, mlxpmd=striding,
                options={'tx-offloads': '', 'frame-bytes': n}, goal={'H': Goal(3.0, 5.0)})


CASES = [
    Case('B1', 'receive 60 B', regimes='HE', goal=RECEIVE),
    Case('B1.512', 'receive 60 B, 512 bits', regimes='HE', **WIDE, goal=RECEIVE),
    Case('B1.avx2', 'receive 60 B, AVX2', **AVX2),
    Case('B1.128', 'receive 60 B, 128 bits', **NARROW),
    *[_ring(n) for n in (256, 4096, 8192)],
    Case('B2', 'receive mixed types and sizes', options={'traffic': 'mixed'}, goal=RECEIVE),
    Case('B3', 'receive 60 B and free', row='rx_free'),
    Case('B4', 'receive 60 B, compressed CQEs', **COMPRESSED, regimes='HE', goal=SESSIONS),
    Case('B4.512', 'receive 60 B, compressed CQEs, 512 bits', **COMPRESSED, **WIDE, goal=SESSIONS),
    Case('B4.128', 'receive 60 B, compressed CQEs, 128 bits', **COMPRESSED, **NARROW),
    Case('B4.enhanced', 'receive 60 B, compressed CQEs, enhanced layout', stock={'rxq_cqe_comp_en': 1},
         mlxpmd={'rxq_cqe_comp_en': 129}, device=('--cap', 'enhanced_cqe_compression=1'),
         note='stock: the enhanced layout from DPDK 23.11 on (--peer), else the basic one'),
    Case('B4.mixed', 'receive mixed types and sizes, compressed CQEs', **COMPRESSED, options={'traffic': 'mixed'}),
    Case('B5.raw', 'receive, raw timestamps', mlxpmd={'clock': 'raw'},
         options={'rx-offloads': STAMPS}),
    Case('B5.raw-ns', 'receive: stock raw, mlxpmd nanoseconds', options={'rx-offloads': STAMPS},
         goal=STAMPED),
    Case('B5.ns', 'receive, nanoseconds', row='rx_ns', options={'rx-offloads': STAMPS},
         goal=CONVERTED,
         note='stock: raw timestamps, the application calls mlx5dv_ts_to_ns() per packet'),
    Case('B5.raw-ns.512', 'receive: stock raw, mlxpmd ns, 512 bits', options={'rx-offloads': STAMPS, **WIDE['options']},
         cpu=WIDE['cpu'], note=WIDE['note'], goal=STAMPED),
    Case('B5.ns.512', 'receive, nanoseconds, 512 bits', row='rx_ns',
         options={'rx-offloads': STAMPS, **WIDE['options']},
         cpu=WIDE['cpu'], note=WIDE['note'], goal=CONVERTED),
    Case('B5.rt', 'receive, real-time timestamps', mlxpmd={'clock': 'realtime'},
         options={'rx-offloads': STAMPS}, device=('--clock-format', 'realtime'),
         note='the device writes seconds and nanoseconds; both drivers convert them to nanoseconds'),
    *[_poll(k) for k in (1, 2, 4, 8, 16)],
    Case('B7', 'empty poll', row='empty', goal={'H': Goal(2.0, 4.0, (120, 81, 50))}),
    Case('B8', 'send 60 B by pointer, fast free', row='tx', goal=SEND),
    Case('B8.512', 'send 60 B by pointer, fast free, 512 bits', row='tx', **WIDE, goal=SEND),
    Case('B8.avx2', 'send 60 B by pointer, fast free, AVX2', row='tx', **AVX2),
    Case('B8.128', 'send 60 B by pointer, fast free, 128 bits', row='tx', **NARROW),
    Case('B8.any', 'send 60 B by pointer, any mbufs', row='tx', options={'tx-offloads': ''}, goal=SEND_ANY),
    Case('B9.60', 'send 60 B inline', row='tx', **INLINE, goal=SEND_INLINE),
    Case('B9.60.512', 'send 60 B inline, 512 bits', row='tx', **INLINE, **WIDE, goal=SEND_INLINE),
    Case('B9.128', 'send 128 B inline', row='tx', **INLINE, options={'frame-bytes': 128}, goal=SEND_INLINE),
    Case('B9.any', 'send 60 B inline, any mbufs', row='tx', **INLINE, options={'tx-offloads': ''},
         goal=SEND_INLINE),
    Case('B10', 'send 60 B, all request checksums', row='tx',
         options={'tx-offloads': FAST + ',' + CHECKSUMS, 'tx-checksums': 'all'},
         goal=SEND_CHECKSUMS),
    Case('B10.alt', 'send 60 B, every second requests checksums', row='tx',
         options={'tx-offloads': FAST + ',' + CHECKSUMS, 'tx-checksums': 'every-second'},
         goal=SEND_ANY),
    Case('B18', 'send 60 B, each with other metadata', row='tx', options={'tx-metadata': True}),
    Case('B17', 'send 1454 B, TSO to 2 segments', row='tx',
         options={'tx-offloads': f'{FAST},{CHECKSUMS},TCP_TSO', 'frame-bytes': 1454, 'tso': 700, 'fill': 256}),
    Case('B11', 'forward 60 B', row='forward', regimes='HE', goal=FORWARD),
    Case('B11.512', 'forward 60 B, 512 bits', row='forward', **WIDE, goal=FORWARD),
    Case('B11.avx2', 'forward 60 B, AVX2', row='forward', **AVX2),
    Case('B11.128', 'forward 60 B, 128 bits', row='forward', **NARROW),
    *[_mprq(n) for n in (60, 1500)],
    _mprq(60, compressed=True),
    *[_queues(n) for n in (1, 2, 4, 8, 16)],
]

REGIMES = {
    'H': "completions written by the driver's own core (its private caches)",
    'X': "written by another core, dirty in that core's private caches",
    'E': "written by another core, which then evicts them from its private caches",
    'L': 'written by another core, which then moves them to the shared cache (cldemote)',
}
LEFT_OUT = [
    ('B4 sessions of a given length', 'the device compresses what arrives together into one session'),
]


def processor_has(flag):
    """Whether /proc/cpuinfo has a flag."""
    return f' {flag} ' in Path('/proc/cpuinfo').read_text().replace('\n', ' ')


def peer_release(release):
    """Adapts the rows to the release of the DPDK that has the stock driver, such as 26.07.0."""
    if [int(n) for n in release.split('.')[:2]] < [23, 11]:
        return
    for case in CASES:
        if case.id == 'B4.enhanced':
            case.stock = dict(case.mlxpmd)


def left_out():
    """[(what, why)] of what is not measured here."""
    cldemote = [] if processor_has('cldemote') else [('regime L', 'the processor has no cldemote; E is similar')]
    return cldemote + LEFT_OUT


def goal_of(case, regime):
    """The goal of a case in a regime: E and L both stand for the shared cache."""
    return case.goal.get('E' if regime == 'L' else regime)


def _devargs(values):
    return ','.join(f'{k}={v}' for k, v in values.items())


def settings_of(case, extra=None):
    """The arguments of compare_bench for a case, except the row. `extra`: {'stock': {...}, 'mlxpmd': {...}, 'options':
    {...}} for all cases; what the case itself sets is stronger."""
    extra = {'stock': {}, 'mlxpmd': {}, 'options': {}, **(extra or {})}
    options = {'rx-offloads': RX_OFFLOADS, 'tx-offloads': FAST, **extra['options'], **case.options}
    args = ['--stock-devargs', _devargs({**STOCK, **extra['stock'], **case.stock})]
    args += ['--devargs', _devargs({**MLXPMD, **extra['mlxpmd'], **case.mlxpmd})]
    for key, value in options.items():
        args += [f'--{key}'] if value is True else [f'--{key}', str(value)]
    return args


def groups(wanted, regimes, extra=None):
    """Group cases with equal settings, which share a process: [(regime, args, [case, ...])]."""
    found = {}
    for regime in regimes:
        for case in wanted:
            # Regimes X and L are measured for the cases that have E.
            if regime in case.regimes or (regime in 'XL' and 'E' in case.regimes):
                key = (regime, tuple(settings_of(case, extra)), case.device)
                found.setdefault(key, []).append(case)
    return [(regime, list(args), cases) for (regime, args, _), cases in found.items()]
