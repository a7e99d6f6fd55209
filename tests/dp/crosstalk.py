# SPDX-License-Identifier: BSD-3-Clause
# Copyright 2026 The mlxpmd Authors
"""24 threads in a process, then three such processes joined by sockets: no cross-talk, no leak.

usage: crosstalk.py MLXEMU CROSSTALK [--frames N] [--rounds N]

The same program is then run on cables that repeat and damage a frame, and must say so.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

LIMIT_S = 55


class Failed(Exception):
    """What was to be shown is not so."""


def start(args, me, peers, options, threads=24):
    command = [args.mlxemu, 'run', '--ports', '2', '--audit', *options, '--', args.crosstalk,
               '--me', str(me), '--peers', '%u,%u' % peers, '--threads', str(threads),
               '--rounds', str(args.rounds), '--frames', str(args.frames)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, deadline):
    """Output and exit status; a process that does not end in time is ended."""
    try:
        out, _ = process.communicate(timeout=max(1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
        raise Failed('not done in time:\n' + out)
    return out, process.returncode


def counters(out):
    """Sums over the ports of what the report counts."""
    sums = {}
    for line in out.splitlines():
        words = line.split()
        if len(words) == 4 and words[0] == 'port' and words[3].isdigit():
            sums[words[2]] = sums.get(words[2], 0) + int(words[3])
    return sums


def expect_clean(name, results, frames):
    for i, (out, status) in enumerate(results):
        if status != 0 or 'audit: clean' not in out:
            raise Failed('%s, process %u: exit status %d\n%s' % (name, i, status, out))
        c = counters(out)
        if c['rx_delivered_frames'] < frames or c['rx_out_of_buffer'] or c['tx_discards']:
            raise Failed('%s, process %u: %s' % (name, i, c))
        print('ok   %s, process %u: %u frames delivered, %u sent' % (
            name, i, c['rx_delivered_frames'], c['tx_frames']))


def one_process(args):
    process = start(args, 1, (1, 1), ['--wire', 'pair:lossless'])
    result = finish(process, time.monotonic() + LIMIT_S)
    expect_clean('one process', [result], 24 * args.rounds * args.frames)


def three_processes(args, folder):
    def cable(a, b):
        return 'sock:%s/cable%u%u:lossless' % (folder, a, b)

    deadline = time.monotonic() + LIMIT_S
    running = []
    for me in range(3):
        left, right = (me + 2) % 3, (me + 1) % 3
        running.append(start(args, me, (left, right), [
            '--wire', '0=' + cable(left, me), '--wire', '1=' + cable(me, right)]))
    results = [finish(p, deadline) for p in running]
    expect_clean('three processes', results, 24 * args.rounds * args.frames)
    left = os.listdir(folder)
    if left:
        raise Failed('sockets and locks left behind: %s' % left)


def noticed(args, fault, *words):
    """A cable that misbehaves once is found out, in one of these words."""
    process = start(args, 1, (1, 1), ['--wire', 'pair:lossless', '--fault', fault])
    out, status = finish(process, time.monotonic() + LIMIT_S)
    if status == 0 or not any(word in out for word in words):
        raise Failed('%s: exit status %d, no word of %s\n%s' % (fault, status, words, out))
    print('ok   noticed: %s' % fault)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('mlxemu')
    parser.add_argument('crosstalk')
    parser.add_argument('--frames', type=int, default=1500)
    parser.add_argument('--rounds', type=int, default=3)
    args = parser.parse_args()
    try:
        one_process(args)
        with tempfile.TemporaryDirectory(prefix='mlxemu-') as folder:
            three_processes(args, folder)
        noticed(args, 'on wire.rx match port=0 after 3000 count 3 do dup', 'was to come')
        noticed(args, 'on wire.rx match port=1 after 3000 count 1 do corrupt off=50 xor=1',
                'is damaged')
        # To the neighbour; it may be between two rounds, then the frame is only missed.
        noticed(args, 'on wire.rx match port=0 after 9000 count 1 do corrupt off=3 xor=1',
                'cross-talk', 'was to come')
    except Failed as error:
        print('FAIL %s' % error, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
