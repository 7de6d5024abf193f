#!/usr/bin/env python3
"""Runs the programs of the table under vitrine and compares what they print with what PyTorch printed.

In: vitrine, the folder of tables. Out: exit status 0 if all agree; each program that differs is printed with its text and the lines that differ.

    compare.py VITRINE [--group random] [--only NAME] [--verbose] [--table FOLDER]

Numbers agree within the tolerance of the dtype that stands before them, relative to the largest number of the line for those that are small
against it; integers, shapes, strides (of dims that have more than one index), names of grad_fn and types of exceptions agree exactly. Zeros
have their sign, but for gradients, where PyTorch's own depends on whether its vectorized or its scalar code came by.

`differences.txt` beside this file lists what differs on purpose, a program a line: its name, what is not compared (names, strides, zeros, lines
that begin so, all), the reason. What is not named there is compared; a program listed that agrees in all is an error, too.
"""
import argparse
import concurrent.futures
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
from programs import GROUPS, read_table, run_batch  # noqa: E402

TOLERANCE = {'f64': 1e-8, 'f32': 2e-5, 'f16': 4e-3, 'b16': 2e-2}
TENSOR = re.compile(r'(f64|f32|f16|b16|i64|i32|i16|i8|u8|b)\[([\d,]*)\](?:/([\d,]+))?([A-Za-z0-9_:]*)((?: [^\s;()]+)*)')
BATCH = 60


def as_number(word):
    try:
        return float(word)
    except ValueError:
        return None


def same_strides(sizes, a, b):
    if a == b:
        return True
    if a is None or b is None:
        return False
    kept = [i for i, n in enumerate(sizes.split(',')) if n != '1']
    a, b = a.split(','), b.split(',')
    return [a[i] for i in kept] == [b[i] for i in kept]


def same_numbers(kind, a, b, lenient=()):
    if a == b:
        return True
    a, b = a.split(), b.split()
    if len(a) != len(b):
        return False
    tolerance = TOLERANCE.get(kind)
    if tolerance is None:
        return a == b
    if a and a[0].startswith('~'):
        left, right, size = float(a[0][1:]), float(b[0][1:]), max(abs(float(b[1])), 1e-30)
        return a[2] == b[2] and abs(left - right) <= tolerance * size * 2 and abs(float(a[1]) - float(b[1])) <= tolerance * size * 2
    finite = [abs(float(w)) for w in b if as_number(w) is not None and math.isfinite(float(w))]
    floor = max(finite, default=0.0) * 0.1
    for left, right in zip(a, b):
        if left == right:
            continue
        x, y = as_number(left), as_number(right)
        if x is None or y is None or not math.isfinite(x) or not math.isfinite(y):
            return False
        if x == 0 and y == 0 and 'zeros' not in lenient:
            return False
        if abs(x - y) > tolerance * max(abs(y), floor):
            return False
    return True


def same_tensor(a, b, lenient):
    return (a.group(1) == b.group(1) and a.group(2) == b.group(2) and ('strides' in lenient or same_strides(b.group(2), a.group(3), b.group(3)))
            and ('names' in lenient or a.group(4) == b.group(4)) and same_numbers(b.group(1), a.group(5), b.group(5), lenient))


def is_gradient(line):
    label = line.partition('[')[0]
    return "'" in label or '.grad' in label or line.startswith('second')


def same_line(a, b, lenient=()):
    if a == b or any(b.startswith(word) for word in lenient):
        return True
    if is_gradient(b):
        lenient = (*lenient, 'zeros')
    left, right = list(TENSOR.finditer(a)), list(TENSOR.finditer(b))
    if len(left) != len(right) or not left:
        return same_words(a, b)
    if TENSOR.sub('#', a) != TENSOR.sub('#', b):
        return False
    return all(same_tensor(x, y, lenient) for x, y in zip(left, right))


def same_words(a, b):
    """Lines without tensors: words, of which numbers (f32:2.5 and plain ones) may be off by little."""
    a, b = a.split(), b.split()
    if len(a) != len(b):
        return False
    for left, right in zip(a, b):
        if left == right:
            continue
        kind, _, value = right.rpartition(':')
        if kind != left.rpartition(':')[0] or not same_numbers(kind or 'f64', left.rpartition(':')[2], value):
            return False
    return True


def labelled(lines):
    """(what a line is of, which time it is said) -> the line; the label is what stands before its first value."""
    found, seen = {}, {}
    for line in lines:
        label = re.split(r' (?=raises |\(|None|none|~|(?:[fiu]\d+|b16|b)[:\[])', line)[0]
        seen[label] = seen.get(label, 0) + 1
        found[label, seen[label]] = line
    return found


def differing(got, expected, lenient=()):
    """Pairs of lines that differ."""
    if 'all' in lenient:
        return []
    got, expected = labelled(got), labelled(expected)
    pairs = [(got.get(label, '(nothing)'), line) for label, line in expected.items() if not same_line(got.get(label, '(nothing)'), line, lenient)]
    pairs += [(line, '(nothing)') for label, line in got.items() if label not in expected and not any(line.startswith(word) for word in lenient)]
    return pairs


def read_differences():
    """name -> what is not compared, of those that differ on purpose: `op/7  names, strides: the reason`."""
    path, listed = HERE / 'differences.txt', {}
    if path.exists():
        for line in path.read_text().split('\n'):
            if line and not line.startswith('#'):
                name, _, rest = line.partition('  ')
                listed[name] = tuple(word.strip() for word in rest.partition(': ')[0].split(','))
    return listed


def compare_group(arguments, name, pool, known):
    """How many were compared; failures; names listed that agree in all; programs without results."""
    table = read_table(arguments.table / f'{name}.txt')
    programs = [p for p in GROUPS[name]() if not arguments.only or arguments.only in p.name]
    stale = [p.name for p in programs if p.name not in table or table[p.name][0] != p.hash()]
    programs = [p for p in programs if p.name not in stale]
    batches = [programs[i:i + BATCH] for i in range(0, len(programs), BATCH)]
    results = {}
    for found in pool.map(lambda batch: run_batch([arguments.vitrine, '--no-cache'], batch), batches):
        results.update(found)
    failures, agreeing = [], []
    for program in programs:
        got, expected = results.get(program.name, ['missing']), table[program.name][1]
        pairs = differing(got, expected, known.get(program.name, ()))
        if pairs:
            failures.append((program, pairs))
        elif program.name in known and not differing(got, expected):
            agreeing.append(program.name)
    return len(programs), failures, agreeing, stale


def report(program, pairs, verbose):
    print(f'\n== {program.name}: {len(pairs)} line{"s" if len(pairs) > 1 else ""} differ')
    if verbose:
        print('\n'.join('    ' + line for line in program.text.split('\n')))
    for got, expected in pairs[:None if verbose else 6]:
        print(f'  vitrine {got[:600]}\n  PyTorch {expected[:600]}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('vitrine')
    parser.add_argument('--table', type=pathlib.Path, default=HERE / 'table')
    parser.add_argument('--group', choices=list(GROUPS))
    parser.add_argument('--only', default='')
    parser.add_argument('--verbose', action='store_true')
    arguments = parser.parse_args()
    known, total, bad = read_differences(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in [arguments.group] if arguments.group else GROUPS:
            count, failures, agreeing, stale = compare_group(arguments, name, pool, known)
            total += count
            bad += len(failures) + len(agreeing)
            for program, pairs in failures:
                report(program, pairs, arguments.verbose or len(failures) <= 10)
            for listed in agreeing:
                print(f'{listed} agrees now: remove it from differences.txt')
            if stale and not arguments.only:
                bad += 1
                print(f'{len(stale)} programs of {name} have no results of PyTorch ({", ".join(stale[:3])} …): run scripts/make-torch-table where PyTorch is')
    print(f'{total - bad} of {total} programs agree with PyTorch ({len(known)} listed as different on purpose)')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
