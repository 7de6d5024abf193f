#!/usr/bin/env python3
"""Compares what vitrine's partition saves for backward with what PyTorch's min-cut saved for the same programs.

usage: compare_saved.py VITRINE FOLDER... [--known FILE] [--only PATTERN] [--jobs N] [--verbose]

For each NNN_name.expected.json of a folder, beside its program NNN_name.py, and each compile id in it that has a backward:

  policy   under `:set policy pytorch` the same storages are saved: the same computed ones and the same inputs (dtype and number of elements)
  bytes    by default the backward keeps no more bytes alive beyond inputs and outputs, each storage once
  plan     what the compiled forward allocates for the backward alone is no more than the partition says
  time     by default the predicted time of the backward is at most 1.02 of what it is for the partition of the policy pytorch

PyTorch's side is either its two graphs as printed (`inductor_cuda`: {id: {forward: [lines], backward: [lines]}}), or, more compactly, what crosses
(`partition`: {id: {computed: ["f32[32]", ...], inputs: ["f32[4, 8]", ...], bytes: 128}}; scripts/record_partition writes that).
--known lists exceptions, a line each: NAME ID KIND, then the reason; one that agrees after all is an error too, so the list only shrinks.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import graphs

SLOWER = 1.02


def expected(path):
    """{id: Crossing} of PyTorch, without the ids' numbers of attempts."""
    data = json.loads(path.read_text())
    found = {}
    for name, sides in (data.get('inductor_cuda') or {}).items():
        if sides.get('backward'):
            found[re.sub(r'_\d+$', '', name)] = graphs.crossing(sides['forward'], sides['backward'])
    for name, crossing in (data.get('partition') or {}).items():
        found[name] = graphs.Crossing(sorted(crossing['computed']), sorted(crossing['inputs']), crossing['bytes'])
    return found


def storage(text):
    """An input as the storage that it is: f32[4, 8] and its transpose are one, f32[32]."""
    dtype, sizes = text.rstrip(']').split('[')
    return f'{dtype}[{math.prod(int(n) for n in sizes.split(",") if n.strip())}]' if all(n.strip().isdigit() for n in sizes.split(',') if n.strip()) else text


def device_of(program):
    """Programs of a benchmark's sizes are for a card; without one they are compiled, and not run."""
    return 'cuda' if 'DEVICE = "cuda"' in pathlib.Path(program).read_text() else 'cpu'


def run(vitrine, program, policy, commands):
    """The compiles of the summary, and the documents that the commands printed."""
    with tempfile.NamedTemporaryFile(suffix='.json') as summary:
        words = [vitrine, '--summary', summary.name, '--json', '--keep-going', '--device', device_of(program), '-c', f':set policy {policy}', '-c', f':load {program}']
        for command in commands:
            words += ['-c', command]
        result = subprocess.run(words, capture_output=True, text=True, timeout=600, env=dict(os.environ, OMP_NUM_THREADS='1'))
        documents = [json.loads(line) for line in result.stdout.splitlines() if line.startswith('{"id":')]
        return json.load(open(summary.name))['compiles'], documents


def backward_times(documents):
    """{(id, partition): predicted microseconds of the backward}."""
    return {(d['id'], d['partition']): d['budgets'][0]['backward_us'] for d in documents if 'budgets' in d}


def crossing_of(compiles, name):
    sides = compiles.get(name, {})
    return graphs.crossing(sides['forward'], sides['backward']) if 'backward' in sides else None


def compare(vitrine, path):
    """[(id, kind, agrees, text)] of one program."""
    wanted = expected(path)
    if not wanted:
        return []
    program = str(path).replace('.expected.json', '.py')
    pytorch, _ = run(vitrine, program, 'pytorch', [])
    commands = [f':budget [{name}] {mode} 1' for name in wanted for mode in ('best', 'pytorch')] + [f':saved [{name}]' for name in wanted]
    best, documents = run(vitrine, program, 'best', commands)
    times, results = backward_times(documents), []
    saved = {d['id']: d for d in documents if 'allocated_bytes' in d}
    for name, want in wanted.items():
        ours, mine = crossing_of(pytorch, name), crossing_of(best, name)
        if not ours or not mine:
            results.append((name, 'policy', False, 'no such compile, or no backward'))
            continue
        theirs_read, read = sorted(map(storage, want.inputs)), sorted(map(storage, ours.inputs))
        same = ours.computed == want.computed and read == theirs_read
        results.append((name, 'policy', same, f'PyTorch alone: {graphs.difference(want.computed, ours.computed)} {graphs.difference(theirs_read, read)}; '
                        f'vitrine alone: {graphs.difference(ours.computed, want.computed)} {graphs.difference(read, theirs_read)}'))
        results.append((name, 'bytes', mine.bytes <= want.bytes, f'{mine.bytes} B kept alive, PyTorch {want.bytes} B'))
        said, made = (saved.get(name, {}).get(key) for key in ('storage_bytes', 'allocated_bytes'))
        results.append((name, 'plan', said is not None and made <= said, f'{made} B allocated, {said} B said'))
        us, theirs = times.get((name, 'best')), times.get((name, 'pytorch'))
        results.append((name, 'time', us is not None and theirs is not None and us <= SLOWER * theirs, f'{us} us predicted, PyTorch\'s partition {theirs} us'))
    return results


def read_known(path):
    known = {}
    for line in pathlib.Path(path).read_text().splitlines() if path else []:
        words = line.split(None, 3)
        if words and not line.startswith('#'):
            known[tuple(words[:3])] = words[3] if len(words) > 3 else ''
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('folders', nargs='+')
    parser.add_argument('--known')
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    known, counts, wrong = read_known(options.known), {}, 0
    paths = [path for folder in options.folders for path in sorted(pathlib.Path(folder).glob('*.expected.json')) if options.only in path.name]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, results in zip(paths, pool.map(lambda p: compare(options.vitrine, p), paths)):
            case = path.name.replace('.expected.json', '')
            for name, kind, agrees, text in results:
                excepted = (case.split('_')[0], name, kind) in known
                good, total = counts.get(kind, (0, 0))
                counts[kind] = (good + agrees, total + 1)
                if agrees == excepted:
                    wrong += 1
                    print(f'{case} [{name}] {kind}: {"agrees, and is listed as an exception" if agrees else text}')
                elif options.verbose and excepted:
                    print(f'{case} [{name}] {kind}: {text}\n    {known[(case.split("_")[0], name, kind)]}')
    print(', '.join(f'{kind} {good} of {total}' for kind, (good, total) in counts.items()) + f'; {len(known)} exceptions are listed')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
