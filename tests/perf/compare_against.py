# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""What changed between two results of `compare`."""

import compare_report as report

ARMS = ('stock', 'mlxpmd')
# Instructions are means over whole bursts; a difference below this is rounding.
INSTR_STEP = 0.05
COUNTER_STEP = 0.0005
# Settings that change what is measured.
SETTINGS = ('dpdk', 'ring', 'burst', 'fill', 'queues', 'mempool_cache', 'hugepages')


def _key(result):
    return result['id'], result['regime']


def _percent(before, now):
    return f'{(now / before - 1) * 100:+.1f} %' if before else '-'


def _spread(result):
    if 'ratio_low' not in result:
        return f"{result['ratio']:.2f}"
    return f"{result['ratio']:.2f} ({result['ratio_low']:.2f}-{result['ratio_high']:.2f})"


def _instructions(before, now):
    """[row of the table] of each driver whose instructions changed."""
    for arm in ARMS:
        old, new = before[arm]['instr'], now[arm]['instr']
        if abs(new - old) >= INSTR_STEP:
            yield [now['id'], now['regime'], arm, f'{old:.1f}', f'{new:.1f}', _percent(old, new)]


def _moved(before, now):
    """How the ratio changed; None if both runs could have had either ratio."""
    if 'ratio_low' not in before or 'ratio_low' not in now:
        return None
    if now['ratio_low'] > before['ratio_high']:
        return 'higher'
    return 'lower' if now['ratio_high'] < before['ratio_low'] else None


def _ratio(before, now):
    if 'ratio' not in before or 'ratio' not in now or _moved(before, now) is None:
        return
    marks = [f'{name} not kept' for name, r in (('before', before), ('now', now)) if not r['kept']]
    yield [now['id'], now['regime'], _spread(before), _spread(now), _percent(before['ratio'], now['ratio']),
           _moved(before, now), ', '.join(marks)]


def _work(result, arm):
    """Counters of the device and modelled bytes on the bus, by heading."""
    if 'device' not in result:
        return {}
    counts = result['device'][arm]
    work = {heading: counts.get(key, 0.0) for key, heading in report.COUNTERS}
    if arm in result.get('pcie', {}):
        work['PCIe up'], work['PCIe down'] = result['pcie'][arm]
    return work


def _device(before, now):
    for arm in ARMS:
        old, new = _work(before, arm), _work(now, arm)
        for heading in sorted(old.keys() & new.keys()):
            if abs(new[heading] - old[heading]) >= COUNTER_STEP:
                yield [now['id'], arm, heading, f'{old[heading]:.3f}', f'{new[heading]:.3f}',
                       _percent(old[heading], new[heading])]


def _settings(base, run):
    """Lines about settings that differ, which may be why results differ."""
    if base.get('machine', {}).get('cpu') != run['machine']['cpu']:
        yield f"another processor: {base.get('machine', {}).get('cpu')}, now {run['machine']['cpu']}"
    if (base['rounds'] == 0) != (run['rounds'] == 0):
        yield 'only one of them is of --counts, whose means are over fewer packets'
    if not base['settings'] or not run['settings']:
        return
    old, new = base['settings'][0], run['settings'][0]
    for name in SETTINGS:
        if old.get(name) != new.get(name):
            yield f'another {name}: {old.get(name)}, now {new.get(name)}'
    variants = {row: s['mlxpmd'] for s in base['settings'] for row in s['rows']}
    for s in run['settings']:
        for row in s['rows']:
            if row in variants and any(variants[row][d] != s['mlxpmd'][d] for d in ('rx_burst', 'tx_burst')):
                yield (f"{row}: other bursts: {variants[row]['rx_burst']}, {variants[row]['tx_burst']}; now "
                       f"{s['mlxpmd']['rx_burst']}, {s['mlxpmd']['tx_burst']}")


def _table(title, header, rows, left):
    if not rows:
        return [f'{title}: no change']
    return [f'{title}:', *report.grid(header, rows, left)]


def changes(base, run):
    """Lines that say what differs in `run` from `base`; both are contents of files of --out."""
    old = {_key(r): r for r in base['results']}
    new = {_key(r): r for r in run['results']}
    both = [(old[k], new[k]) for k in new if k in old]
    lines = [f"From {base.get('commit', 'unknown')} to {run.get('commit', 'unknown')}, {len(both)} rows of both:"]
    lines += _settings(base, run)
    measured = [(b, n) for b, n in both if 'instr' in b.get('mlxpmd', {}) and 'instr' in n.get('mlxpmd', {})]
    lines += _table('Instructions', ['id', 'cache', 'driver', 'before', 'now', 'change'],
                    [row for pair in measured for row in _instructions(*pair)], 3)
    lines += _table('Ratio of ticks, stock / mlxpmd; only where the spreads do not overlap',
                    ['id', 'cache', 'before (spread)', 'now (spread)', 'change', '', ''],
                    [row for pair in both for row in _ratio(*pair)], 2)
    lines += _table('Work of the device per packet', ['id', 'driver', 'what', 'before', 'now', 'change'],
                    [row for pair in both if pair[1]['regime'] == 'H' for row in _device(*pair)], 3)
    for text, keys in (('only before', old.keys() - new.keys()), ('only now', new.keys() - old.keys())):
        if keys:
            lines.append(f"{text}: {' '.join(f'{i}/{regime}' for i, regime in sorted(keys))}")
    return lines
