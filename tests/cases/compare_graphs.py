#!/usr/bin/env python3
"""Compares the graphs with PyTorch's: the same operations, in the same order, for every compile id.

usage: compare_graphs.py VITRINE FOLDER [--known FILE] [--stages dynamo,joint] [--only PATTERN] [--jobs N] [--verbose] [--write-known]

For each NNN_name.py of FOLDER runs `VITRINE --summary FILE NNN_name.py` and compares with NNN_name.expected.json wherever that has the graph:
  dynamo    `compiles[id].dynamo`. Names of operations are normalized: `a + b`, `a.add(b)` and `torch.add(a, b)` are one `add`. Assignments `x[i] = v` and
            `x += v` have no line in PyTorch's list: where lists differ in indexing and in-place operations alone, they agree.
            `ops_captured` is compared as well, where all that PyTorch counts is in its lists.
  joint     `compiles[id].joint` (without gradients `.forward`, which is all there is then), with `functional` here: both without changes in place.
            `detach` of what is saved is left out, arithmetic on sizes (numbers are expressions here) too; `_unsafe_view` is `view`.
  forward, backward   those of `inductor_cuda`, after decomposition and the cut. These sets of elementary operations differ by design
            (docs/differences.md), so they are for looking at: --stages forward,backward --verbose lists by how many of which.
Ids are matched as they stand; a graph on one side alone is a difference. Captured graphs of programs that PyTorch compiles wrongly
(`counts_apply: false`) are left out.
--known lists what may still differ (`name` or `name:joint` a line, # and the reason behind it); it only shrinks.
"""
import argparse
import ast
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import compare

OPERATORS = {
    ast.Add: 'add', ast.Sub: 'sub', ast.Mult: 'mul', ast.Div: 'truediv', ast.FloorDiv: 'floordiv', ast.Mod: 'mod', ast.Pow: 'pow', ast.MatMult: 'matmul',
    ast.BitAnd: 'and_', ast.BitOr: 'or_', ast.BitXor: 'xor', ast.LShift: 'lshift', ast.RShift: 'rshift', ast.USub: 'neg', ast.Invert: 'invert', ast.Not: 'not_',
    ast.Eq: 'eq', ast.NotEq: 'ne', ast.Lt: 'lt', ast.LtE: 'le', ast.Gt: 'gt', ast.GtE: 'ge',
}
# Two spellings of one operation.
SAME = {'truediv': 'div', 'floordiv': 'floor_divide', 'mod': 'remainder', 'and_': 'bitwise_and', 'or_': 'bitwise_or', 'xor': 'bitwise_xor', 'invert': 'bitwise_not',
        'negative': 'neg', 'multiply': 'mul', 'subtract': 'sub', 'divide': 'div', 'absolute': 'abs', 'greater': 'gt', 'less': 'lt', 'concat': 'cat',
        'lshift': 'bitwise_left_shift', 'rshift': 'bitwise_right_shift', 'lift_fresh_copy': 'tensor'}
INDEXING = ('select', 'slice', 'index', 'getitem')


def operation(node):
    """The name of what an expression's root does; None for a name or a constant."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Compare):
        return OPERATORS[type(node.ops[0])]
    if isinstance(node, ast.Subscript):
        return 'getitem'
    if isinstance(node, ast.Call):
        return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, 'id', 'call')
    if isinstance(node, ast.Attribute):
        return 'get_' + node.attr
    return None


def statement_operations(line):
    """The operations of one line: several where PyTorch writes `a = x.f();  b = y.g()`."""
    try:
        tree = ast.parse(line)
    except SyntaxError:  # a value that has no literal, e.g. <tensor constant>
        called = re.search(r'= (?:\w+\.)*(\w+)\(', line)
        return [called.group(1)] if called else []
    found = []
    for statement in tree.body:
        if isinstance(statement, ast.Return):
            continue
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
            found.append('setitem')
        elif isinstance(statement, ast.AugAssign):
            found.append('i' + OPERATORS[type(statement.op)])
        elif isinstance(statement, (ast.AnnAssign, ast.Assign, ast.Expr)) and statement.value is not None:
            name = operation(statement.value)
            found += [SAME.get(name, name)] if name else []
    return found


def operations(lines):
    """The operations in order. Indexing is one getitem in PyTorch's graph, a chain of views here: x[0, 1:] is select, then slice."""
    found, last = [], None
    for line in lines:
        if line.startswith(('def ', 'return')):
            continue
        names = statement_operations(line)
        indexing = len(names) == 1 and names[0] in INDEXING
        if indexing and last and re.search(rf'= {last}\b', line):
            last = line.split(':')[0]
            continue
        last = line.split(':')[0] if indexing else None
        found += ['getitem'] if indexing else names
    return found


ATEN = re.compile(r'^\s*\w+(?:: "[^"]*")? = torch\.ops\.\w+\.(\w+)')
ATEN_SAME = {'_unsafe_view': 'view', 'reshape': 'view', 'convert_element_type': '_to_copy', '__rshift__': 'bitwise_right_shift', '__lshift__': 'bitwise_left_shift'}
ATEN_LEFT_OUT = ('detach', 'alias', 'lift_fresh_copy', 'sym_size', '_local_scalar_dense')


def aten_operations(lines):
    """The operations of a graph after capture, in order."""
    parts = [part for line in lines for part in line.split(';  ')]
    names = [found.group(1) for found in map(ATEN.match, parts) if found]
    return [ATEN_SAME.get(name, name) for name in names if name not in ATEN_LEFT_OUT]


def graphs(compiles):
    """Compile id -> operations, where there are any. An attempt that PyTorch began again (0/0_1) stands for its id."""
    found = {}
    for where, entry in compiles.items():
        if isinstance(entry, dict) and operations(entry.get('dynamo') or []):
            found[where.partition('_')[0]] = operations(entry['dynamo'])
    return found


def without_stores(names):
    """Without indexing and in-place operations: what a store is made of differs, and PyTorch's list leaves some of it out."""
    return [name for name in names if name != 'getitem' and not name.endswith('_')]


def difference(got, want):
    """Of two lists of operations: None, or where they part."""
    if got == want or got is not None and want is not None and without_stores(got) == without_stores(want):
        return None
    if got is None or want is None:
        return 'no such graph here' if got is None else 'PyTorch has no such graph'
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    part = lambda names: ' '.join(names[max(0, at - 1):at + 3]) or 'the end'
    return f'operation {at + 1} of {len(want)}: got {part(got)}, want {part(want)}'


def tally(got, want):
    """By how many of which operations two lists differ."""
    counts = collections.Counter(got)
    counts.subtract(collections.Counter(want))
    return ' '.join(f'{count:+d} {name}' for name, count in sorted(counts.items()) if count) or 'the order'


def compare_dynamo(read, expected):
    got, want = graphs(read.get('compiles', {})), graphs(expected.get('compiles', {}))
    if not want or not expected.get('counts_apply', True):
        return []
    for where, names in got.items():  # a graph of stores alone has no lines in PyTorch's list
        if where in expected['compiles'] and not without_stores(names):
            want.setdefault(where, [])
    found = [(where, difference(got.get(where), want.get(where))) for where in sorted(set(got) | set(want))]
    found = [f'[{where}] {what}' for where, what in found if what]
    listed = sum(len(names) for names in want.values())  # stores and attempts begun again are counted, and not listed
    if not found and got == want and listed == expected.get('ops_captured') and read.get('ops_captured') != listed:
        found.append(f"ops_captured {read.get('ops_captured')}, want {expected['ops_captured']}")
    return found


def compare_aten(read, expected, stage):
    found = []
    source = expected.get('compiles' if stage == 'joint' else 'inductor_cuda', {})
    for where, entry in sorted(source.items()):
        here = read.get('compiles', {}).get(where, {})
        want = (entry.get('joint') or entry.get('forward')) if stage == 'joint' else entry.get(stage)
        got = here.get('functional' if stage == 'joint' else stage)
        if want and got and aten_operations(got) != aten_operations(want):
            found.append(f'[{where}] {tally(aten_operations(got), aten_operations(want))}')
    return found


def run_case(vitrine, case, stages):
    """-> name, or name:stage -> what differs"""
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder, 'summary.json')
        try:
            subprocess.run([vitrine, '--summary', str(summary), str(case.path)], capture_output=True, stdin=subprocess.DEVNULL, timeout=300 if case.heavy else 60)
        except subprocess.TimeoutExpired:
            return {case.name: ['no end in time']}
        read, trouble = compare.read_summary(summary)
    if trouble:
        return {case.name: [trouble]}
    return {case.name if stage == 'dynamo' else f'{case.name}:{stage}': compare_dynamo(read, case.expected) if stage == 'dynamo' else compare_aten(read, case.expected, stage) for stage in stages}


def write_known(path, differing):
    """Lines of what differs no more go, with their reasons; new ones come without."""
    lines = pathlib.Path(path).read_text().splitlines()
    name = lambda line: line.partition('#')[0].strip()
    kept = [line for line in lines if not name(line) or name(line) in differing]
    new = sorted(differing - {name(line) for line in kept})
    pathlib.Path(path).write_text('\n'.join(kept + new) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('folder')
    parser.add_argument('--known', default='')
    parser.add_argument('--stages', default='dynamo,joint')
    parser.add_argument('--only', default='')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--verbose', action='store_true')
    parser.add_argument('--write-known', action='store_true')
    options = parser.parse_args()
    vitrine, known = os.path.abspath(options.vitrine), compare.read_known(options.known)
    cases = [compare.Case(p) for p in sorted(pathlib.Path(options.folder).glob('[0-9]*.py')) if options.only in p.name and p.with_suffix('.expected.json').exists()]
    differing, wrong, compared = set(), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda c: run_case(vitrine, c, options.stages.split(',')), cases):
            for name, found in results.items():
                compared += 1
                if found:
                    differing.add(name)
                unexpected = bool(found) != (name in known)
                wrong += unexpected
                if unexpected or options.verbose:
                    print(f'{"FAIL" if found and unexpected else "differs (known)" if found else "agrees"} {name} '
                          f'{"remove it from the list" if unexpected and not found else " | ".join(found)}'.rstrip(), flush=True)
    if options.write_known and not options.only:
        write_known(options.known, differing)
    print(f'{compared - len(differing)} of {compared} agree with the graphs that PyTorch has')
    return 1 if wrong or not cases else 0


if __name__ == '__main__':
    sys.exit(main())
