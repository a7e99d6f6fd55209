# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""Tables and chart of the results of compare_bench."""

import math
import os
import tempfile

# PCIe: header, sequence number and CRCs of a memory write or read request with 64-bit address, and of
# a completion with data (PCI Express base specification 3.0: 12..16 bytes of header, 8 around it).
WRITE_OVERHEAD = READ_OVERHEAD = 24
COMPLETION_OVERHEAD = 20
MAX_PAYLOAD = 256
DOORBELL_BYTES = 8
# Bytes of one fetch of WQEs by a card: several WQEs at a time.
RQ_FETCH_BYTES = 64
SQ_FETCH_BYTES = 256


def _parts(bytes_, each):
    """Number of packets of at most MAX_PAYLOAD bytes for `each` transfers of bytes_ bytes in total."""
    return each * math.ceil(bytes_ / each / MAX_PAYLOAD) if each else 0


def pcie(counts, sends):
    """Modelled bytes on the bus per unit: (from the device, to the device)."""
    get = lambda name: counts.get(name, 0.0)
    fetch = SQ_FETCH_BYTES if sends else RQ_FETCH_BYTES
    fetches = get('wqe_fetch_bytes') / fetch
    up = (get('dma_write_bytes') + WRITE_OVERHEAD * _parts(get('dma_write_bytes'), get('dma_writes')) +
          get('cqes') * (64 + WRITE_OVERHEAD) + (get('dma_reads') + fetches) * READ_OVERHEAD)
    down = (get('dma_read_bytes') +
            COMPLETION_OVERHEAD * _parts(get('dma_read_bytes'), get('dma_reads')) +
            get('wqe_fetch_bytes') + fetches * COMPLETION_OVERHEAD +
            get('doorbells') * (DOORBELL_BYTES + WRITE_OVERHEAD))
    return up, down


def _ratio_goal(result):
    goal = result['goal']
    if goal is None or goal['floor'] is None or 'ratio' not in result:
        return '-'
    reached = 'goal' if result['ratio'] >= goal['goal'] else 'floor' if result['ratio'] >= goal['floor'] else 'below'
    return f"{goal['floor']:g}/{goal['goal']:g} {reached}"


def _instr_goal(result):
    goal = result['goal']
    if goal is None or goal['instr'] is None:
        return '-'
    reached = 'below'
    for name, limit in zip(('must', 'target', 'stretch'), goal['instr']):
        if result['mlxpmd']['instr'] <= limit:
            reached = name
    return f"{'/'.join(f'{g:g}' for g in goal['instr'])} {reached}"


def grid(header, rows, left):
    """Lines of a table with aligned columns; the first `left` columns are left-aligned."""
    widths = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]
    for r in [header, *rows]:
        yield '  '.join(c.ljust(w) if i < left else c.rjust(w)
                        for i, (c, w) in enumerate(zip(r, widths))).rstrip()


def _cost_row(result):
    stock, ours = result['stock'], result['mlxpmd']
    timed = 'ratio' in result
    figures = [f'{arm[name]:.1f}' if timed else '-' for arm in (stock, ours) for name in ('min', 'p10', 'median')]
    figures += [f"{result['ratio']:.2f}" if timed else '-', f"{stock['instr']:.1f}", f"{ours['instr']:.1f}",
                f"{stock['instr'] / ours['instr']:.2f}", _ratio_goal(result), _instr_goal(result)]
    mark = '' if result.get('kept', True) else 'not kept: ' + result['why']
    return [result['id'], result['regime'], result['title'], *figures, mark]


def cost_table(results):
    """Ticks and instructions per unit."""
    measured = [r for r in results if 'instr' in r.get('mlxpmd', {})]
    header = ['id', 'cache', 'what', 'stock: min', 'p10', 'median', 'mlxpmd: min', 'p10', 'median', 'ratio',
              'instr: stock', 'mlxpmd', 'ratio', 'goal: ratio', 'goal: instr', '']
    if not measured:
        return []
    rows = [_cost_row(r) for r in measured]
    if not any('ratio' in r for r in measured):
        # Without times: no columns of ticks, and no goal of their ratio.
        header, *rows = [row[:3] + row[10:13] + row[14:15] for row in (header, *rows)]
    return list(grid(header, rows, 3))


COUNTERS = [('doorbells', 'doorbells'), ('wqe_fetch_bytes', 'WQE bytes'), ('cqes', 'CQEs'),
            ('dma_reads', 'reads'), ('dma_read_bytes', 'read bytes'), ('dma_writes', 'writes'),
            ('dma_write_bytes', 'written')]


def device_table(results):
    """B13: work of the device per packet."""
    rows = []
    for r in results:
        if r['regime'] != 'H' or r['unit'] != 'packet' or 'device' not in r:
            continue
        for arm in ('stock', 'mlxpmd'):
            counts = r['device'][arm]
            bus = r.get('pcie', {}).get(arm)
            rows.append([r['id'] if arm == 'stock' else '', arm] +
                        [f'{counts.get(key, 0.0):.3f}'.rstrip('0').rstrip('.') for key, _ in COUNTERS] +
                        ([f'{bus[0]:.1f}', f'{bus[1]:.1f}'] if bus else ['-', '-']))
    header = ['id', 'driver', *[name for _, name in COUNTERS], 'PCIe up', 'PCIe down']
    return list(grid(header, rows, 2)) if rows else []


def _instr_ratio(result):
    return result['stock']['instr'] / result['mlxpmd']['instr']


def _against_floor(measured, ratio, unit):
    """A line about the rows that have a floor, and those whose ratio is below 1."""
    with_floor = [r for r in measured if r['goal'] and r['goal']['floor']]
    below = [f"{r['id']}/{r['regime']} {ratio(r):.2f} of {r['goal']['floor']:g}"
             for r in with_floor if ratio(r) < r['goal']['floor']]
    dearer = [f"{r['id']}/{r['regime']} {ratio(r):.2f}" for r in measured if ratio(r) < 1]
    yield (f"{unit}: {len(with_floor) - len(below)} of {len(with_floor)} rows reach their floor"
           f"{'; below it: ' + ', '.join(below) if below else ''}")
    yield f"{unit}: {len(dearer)} of {len(measured)} rows below 1.0{': ' + ', '.join(dearer) if dearer else ''}"


# A counter that is this much higher is named; less is rounding.
WORK_STEP = 0.005


def _more_work(results):
    """What the device does more of for mlxpmd than for the stock driver: [text]."""
    for r in results:
        if r['regime'] != 'H' or r['unit'] != 'packet' or 'device' not in r:
            continue
        stock, ours = (dict(r['device'][arm]) for arm in ('stock', 'mlxpmd'))
        for arm, counts in (('stock', stock), ('mlxpmd', ours)):
            counts['PCIe up'], counts['PCIe down'] = r.get('pcie', {}).get(arm, (0.0, 0.0))
        for key, name in [('doorbells', 'doorbells'), ('PCIe up', 'PCIe up'), ('PCIe down', 'PCIe down')]:
            if ours.get(key, 0.0) > stock.get(key, 0.0) + WORK_STEP:
                yield f"{r['id']} {name} {ours[key]:.2f} ({stock.get(key, 0.0):.2f})"


def summary(results):
    """Lines that say which rows reach their floors, where mlxpmd is dearer, and where the device has more work."""
    measured = [r for r in results if 'instr' in r.get('mlxpmd', {})]
    timed = [r for r in measured if 'ratio' in r]
    lines = []
    if timed:
        kept = sum(r['kept'] for r in timed)
        lines += _against_floor(timed, lambda r: r['ratio'], 'ticks')
        lines += _against_floor(timed, lambda r: r['stock']['p10'] / r['mlxpmd']['p10'], 'ticks, 10th percentiles')
        lines.append(f'ticks: {len(timed) - kept} of {len(timed)} rows were disturbed')
    if measured:
        lines += _against_floor([r for r in measured if r['regime'] == 'H'], _instr_ratio, 'instructions')
        more = list(_more_work(results))
        lines.append(f"work of the device: more than for the stock driver in {len(more)} figures"
                     f"{': ' + ', '.join(more) if more else ''}")
    return lines


def chart(results, path):
    """Write a bar chart of the ratios and goals. False without matplotlib, and without times."""
    rows = [r for r in results if 'ratio' in r]
    if not rows:
        return False
    with tempfile.TemporaryDirectory(prefix='compare.') as config:
        # matplotlib writes its font cache here; without this variable it writes to HOME.
        os.environ.setdefault('MPLCONFIGDIR', config)
        try:
            import matplotlib
            matplotlib.use('svg')
            from matplotlib import pyplot
        except ImportError:
            return False
    colours = {'H': '#4878a8', 'E': '#d98e48', 'X': '#8a5fa8', 'L': '#6a9a58'}
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.34 * len(rows)))
    for i, r in enumerate(rows):
        y = len(rows) - 1 - i
        axes.barh(y, r['ratio'], height=0.62, color=colours[r['regime']],
                  alpha=1.0 if r['kept'] else 0.35)
        axes.text(r['ratio'] + 0.03, y, f"{r['ratio']:.2f}", va='center', fontsize=8)
        if r['goal'] and r['goal']['floor']:
            axes.plot([r['goal']['floor']] * 2, [y - 0.38, y + 0.38], color='black', lw=1.6)
            axes.plot([r['goal']['goal']] * 2, [y - 0.38, y + 0.38], color='black', lw=1.0, ls=':')
    axes.axvline(1.0, color='#888888', lw=0.8)
    axes.set_yticks(range(len(rows)), [f"{r['title']}  {r['id']} {r['regime']}" for r in reversed(rows)],
                    fontsize=8)
    axes.set_xlabel('TSC ticks: stock net_mlx5 / mlxpmd (more is better for mlxpmd); solid: floor, dotted: '
                    'goal; pale: not kept', fontsize=8)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
    return True


def settings_text(settings):
    """The settings of one process, as lines of text."""
    lines = []
    for arm in ('stock', 'mlxpmd'):
        s = settings[arm]
        lines.append(f"  {arm:7} {s['driver']}, Rx \"{s['rx_burst']}\", Tx \"{s['tx_burst']}\""
                     f"{', ' + s['devargs'] if s['devargs'] else ''}")
    lines.append(f"  both    Rx {','.join(settings['rx_offloads']) or 'no offloads'}; "
                 f"Tx {','.join(settings['tx_offloads']) or 'no offloads'}; "
                 f"ring {settings['ring']:.0f}, fill {settings['fill']:.0f}, burst {settings['burst']:.0f}, "
                 f"queues {settings['queues']:.0f}, mempool {settings['mempool']:.0f} "
                 f"cache {settings['mempool_cache']:.0f}, "
                 f"{'hugepages' if settings['hugepages'] else 'ordinary pages'}")
    return lines
