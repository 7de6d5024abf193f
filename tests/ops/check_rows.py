#!/usr/bin/env python3
"""Every row of the op table by machine: eager against finite differences, other dtypes, other memory, compiled C, other sizes, CUDA.

usage: check_rows.py VITRINE [--only ROW]… [--update] [--cuda ARCH]… [--no-cpu] [--keep FOLDER] [--verbose]

In: engine/op/ops.def, samples.txt (calls; its head says how they are written), harness.py (what runs before them). Out: a line for each fault, a
table of marks that must be marks.txt (--update writes it), status 1 if something is wrong. A row without a sample is a fault.

For each sample, by vitrine: float64 eager, its first and second derivatives against differences; float32, bfloat16, float16 against float64;
operands in other memory; torch.compile: values, strides, gradients, second derivatives; one function with dynamic sizes: the sample's, each one
larger, none. What the compiled function launches, and how many entries the sizes took, is read from --summary. --cuda: compiles the same functions
for `cuda` tensors by NVRTC, without a card. The marks are docs/ops.md's (scripts/make-docs).
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MARKS = HERE / 'marks.txt'
STRIDED = {'as_strided', 'as_strided_scatter', 'as_strided_backward', 'view', '_unsafe_view', 'view_as', 'view_dtype', 'is_nonzero'}  # a matter of memory
OFFERED_TWICE = {'random'}
BATCH = 24


class Row:
    def __init__(self, family, name, signature, text):
        self.family, self.name, self.signature, self.text = family, name, signature, text

    def has(self, word):
        return re.search(r'\b' + word + r'\b', self.text) is not None


class Sample:
    def __init__(self, number, row, specs, expression):
        self.number, self.row, self.specs, self.expression = number, row, specs, expression
        self.faults, self.facts, self.done = [], set(), False
        self.launches, self.entries, self.whole, self.cuda = [], 0, True, {}


# ---- reading ----
def read_rows():
    text = (ROOT / 'engine/op/ops.def').read_text()
    found = re.findall(r'^OP\(([A-Z]+), "([^"]+)", ((?:"[^"]*"|OPTIONS| )+)(.*?)\)\n(?=OP|\n|/|#)', text + '\n\n', re.M | re.S)
    return {name: Row(family, name, ''.join(re.findall(r'"([^"]*)"', signature)), rest) for family, name, signature, rest in found}


def read_operand(text):
    """'x=i5:3,4!' -> name, kind, [(3, free), (4, fixed)], 5"""
    name, _, sizes = text.partition('=')
    kind, limit = 'f', 0
    match = re.match(r'(i(\d+)|b|p):(.*)', sizes)
    if match:
        kind, limit, sizes = match.group(1)[0], int(match.group(2) or 0), match.group(3)
    dims = [] if sizes == 's' else [(int(d.rstrip('!')), d.endswith('!')) for d in sizes.split(',')]
    return name, kind, dims, limit


def read_samples(rows):
    samples = []
    for line in (HERE / 'samples.txt').read_text().split('\n'):
        if line.strip() and not line.startswith('#'):
            row, operands, expression = (part.strip() for part in line.split(' | '))
            samples.append(Sample(len(samples), row, [read_operand(o) for o in operands.split()], expression))
    given = {s.row for s in samples}
    for row in rows.values():
        if row.name not in given and row.family == 'POINTWISE':
            samples.append(Sample(len(samples), row.name, *usual_call(row)))
    return samples


def usual_call(row):
    """A pointwise row of operands: the later ones broadcast."""
    names = [p.split('=')[0].strip() for p in row.signature.split(',') if '=' not in p and p.strip() != '*']
    shapes = ('3,4', '4', '3,1', '1,4')
    return [read_operand(f'a{i}={shape}') for i, shape in zip(range(len(names)), shapes)], f"aten.{row.name}({', '.join(f'a{i}' for i in range(len(names)))})"


def missing_core(rows):
    """Core operators that are neither a row nor explained."""
    lines = [line for line in (HERE / 'core_aten.txt').read_text().splitlines() if line and not line.startswith('#')]
    return [line.split()[0] for line in lines if ' : ' not in line and (line.split(' = ')[-1].strip() not in rows)]


def without_samples(rows, samples):
    given = {s.row for s in samples}
    return [r.name for r in rows.values() if r.name not in given and not (r.family == 'COMPOSITE' and r.has('HIDDEN'))]


# ---- programs ----
def sizes_of(dims, change):
    return tuple(change(size, fixed) for size, fixed in dims)


def specs_of(sample, change):
    return [(kind, sizes_of(dims, change), limit) for _, kind, dims, limit in sample.specs]


def larger(size, fixed):
    return size if fixed or size == 1 else size + 1


def emptied(sample):
    free = [size for _, _, dims, _ in sample.specs for size, fixed in dims if not fixed and size > 1]
    return lambda size, fixed: 0 if free and not fixed and size == free[0] else size


def function_text(prefix, sample, dtype):
    names = ', '.join([name for name, *_ in sample.specs] + (['D'] if dtype is None else []))
    expression = sample.expression if dtype is None else re.sub(r'\bD\b', dtype, sample.expression)
    return f'def {prefix}{sample.number}({names}):\n    return {expression}\n'


def cpu_text(sample, random, strided):
    n, specs = sample.number, specs_of(sample, lambda size, fixed: size)
    lines = [function_text('e', sample, None), function_text('s', sample, 'torch.float64'), function_text('c', sample, 'torch.float64'),
             function_text('t', sample, 'torch.float32'), function_text('d', sample, 'torch.float32')]
    lines.append(f'specs, more, none = {specs}, {specs_of(sample, larger)}, {specs_of(sample, emptied(sample))}')
    if not random:
        lines.append(f'guarded({n}, "gradient", against_differences, {n}, s{n}, operands(specs, torch.float64))')
        lines.append(f'guarded({n}, "eager", check_eager, {n}, e{n}, specs, {strided})')
    lines.append(f'guarded({n}, "compiled", check_compiled, {n}, s{n}, torch.compile(c{n}), specs, {random})')
    lines.append(f'guarded({n}, "sizes", check_sizes, {n}, t{n}, torch.compile(d{n}, dynamic=True), specs, more, none, {random})')
    lines.append(f'print("{n}|done|")')
    return '\n'.join(lines) + '\n'


def cuda_text(sample):
    n, specs = sample.number, specs_of(sample, lambda size, fixed: size)
    return (function_text('g', sample, 'torch.float32') +
            f'try:\n    xs = leaves_of(operands({specs}, torch.float32))\n    gradients(tensors(torch.compile(g{n})(*xs)), xs)\nexcept Exception as error:\n'
            f'    print("{n}|fact|cuda stops: " + str(error)[:200].replace(chr(10), " "))\nprint("{n}|done|")\n')


def run(vitrine, text, folder, name, options):
    path, summary = pathlib.Path(folder, name + '.py'), pathlib.Path(folder, name + '.json')
    path.write_text((HERE / 'harness.py').read_text() + '\n' + text)
    try:
        process = subprocess.run([vitrine, *options, '--summary', str(summary), str(path)], capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=900)
    except subprocess.TimeoutExpired:
        return '', 'took longer than 900 s', {'compiles': {}, 'breaks': []}
    return process.stdout, process.stderr, json.loads(summary.read_text()) if summary.exists() and summary.stat().st_size else {'compiles': {}, 'breaks': []}


def take_lines(out, samples):
    by_number = {s.number: s for s in samples}
    for line in out.splitlines():
        number, _, rest = line.partition('|')
        if not number.isdigit() or int(number) not in by_number:
            continue
        check, _, what = rest.partition('|')
        sample = by_number[int(number)]
        if check == 'done':
            sample.done = True
        elif check == 'fact':
            sample.facts.add(what)
        else:
            sample.faults.append(f'{check}: {what}')


def functions_of(summary, prefix, number):
    return {key: c for key, c in summary['compiles'].items() if c.get('function') == f'{prefix}{number}'}


def launches_of(summary, prefix, number):
    return [launch for c in functions_of(summary, prefix, number).values() for key in ('launches', 'backward_launches') for launch in c.get(key) or []]


def run_cpu(vitrine, rows, samples, folder, name):
    texts = []
    for s in samples:
        row = rows.get(s.row)
        random = row is not None and (row.family == 'RANDOM' or row.has('TRAIT_RANDOM') or row.name == 'F.rrelu')
        texts.append(cpu_text(s, random, s.row in STRIDED))
    out, err, summary = run(vitrine, '\n'.join(texts), folder, name, [])
    take_lines(out, samples)
    last = ' | '.join(err.strip().splitlines()[-4:])[:500]
    for s in samples:
        found = functions_of(summary, 'c', s.number)
        s.launches, s.entries = launches_of(summary, 'c', s.number), len(functions_of(summary, 'd', s.number))
        if 'a number' not in s.facts and any('joint' not in c for c in found.values()) and all(b['compile'] not in found for b in summary['breaks']):
            s.faults.append('compiled: the graph was not compiled, the function ran eagerly')
        s.whole = len(found) == 1 and not any(b['compile'] in found for b in summary['breaks'])
    missing = [s for s in samples if not s.done]
    if missing:
        missing[0].faults.append('the program ended: ' + last)
        if missing[1:]:
            run_cpu(vitrine, rows, missing[1:], folder, name + 'x')


def run_cuda(vitrine, samples, folder, name, arch):
    out, err, summary = run(vitrine, '\n'.join(cuda_text(s) for s in samples), folder, f'{name}.{arch}', ['--device', 'cuda', '--arch', arch])
    take_lines(out, samples)
    for line in err.splitlines():
        if 'does not compile' in line or 'NVRTC' in line or 'cannot be compiled' in line or 'could not be compiled' in line:
            samples[0].faults.append(f'{arch}: somewhere in this batch: {line[:300]}')
    for s in samples:
        s.cuda[arch] = launches_of(summary, 'g', s.number)
        found = functions_of(summary, 'g', s.number)
        s.whole = s.whole and len(found) == 1 and not any(b['compile'] in found for b in summary['breaks'])


def self_check(vitrine, folder):
    """The harness must see a wrong gradient, a wrong value and a wrong layout."""
    text = ('guarded(0, "gradient", against_differences, 0, lambda x: x.detach() * x, operands([("f", (2, 2), 0)], torch.float64))\n'
            'compare(0, "value", torch.ones(2), torch.zeros(2), 1e-4)\ncompare(0, "strides", torch.ones(2, 3), torch.ones(3, 2).t(), 1e-4, True)\n')
    out = run(vitrine, text, folder, 'self', [])[0]
    return [check for check in ('gradient', 'value', 'strides') if f'0|{check}|' not in out]


# ---- marks ----
def kind_of(launches, whole):
    """How the plan runs a row: kernels of its own, a library's, the eager kernel called, or not at all because capture stops there."""
    if not whole:
        return 'break'
    called = [l for l in launches if l.startswith('extern_') and not re.match(r'extern_(mm|addmm|bmm|baddbmm|dot|mv)\b', l.rsplit('_', 1)[0])]
    if called:
        return 'call'
    return 'library' if any(l.startswith('extern_') for l in launches) else 'kernel' if launches else 'view'


def marks_of(row, samples):
    """eager, gradient, decomposition, symbolic sizes, C, CUDA (None: not looked at in this run)"""
    facts = set().union(*(s.facts for s in samples))
    makes = row is not None and row.family in ('CREATE', 'RANDOM')  # what flows back goes to what it was combined with
    gradient = '-' if makes else 'second' if any('second' in f for f in facts) else 'first' if 'gradient' in facts else '-'
    body = 'body' if row is None or row.has('made_of') or row.family == 'COMPOSITE' else '-'
    sized = [s for s in samples if 'larger' in s.facts]
    symbolic = 'fixed' if not sized else 'yes' if all(s.entries <= 1 + ('empty' in s.facts) for s in sized) else 'again'
    order = ['break', 'call', 'library', 'kernel', 'view']
    c = min((kind_of(s.launches, s.whole) for s in samples), key=order.index)
    card = [s.cuda[arch] for s in samples for arch in sorted(s.cuda)[-1:]]
    cuda = min((kind_of(launches, s.whole) for s, launches in zip(samples, card)), key=order.index) if card else None
    return ['yes', gradient, body, symbolic, c, cuda]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--only', action='append', default=[])
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--cuda', action='append', default=[])
    parser.add_argument('--no-cpu', action='store_true')
    parser.add_argument('--keep')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    vitrine, rows = os.path.abspath(options.vitrine), read_rows()
    samples = read_samples(rows)
    bad = 0
    for name in without_samples(rows, samples):
        bad += 1
        print(f'{name}: the row has no sample in tests/ops/samples.txt ({rows[name].signature})')
    for name in missing_core(rows):
        bad += 1
        print(f'{name}: an operator of core ATen that is no row and is not explained in tests/ops/core_aten.txt')
    for s in samples:
        if s.row not in rows and '.' not in s.row:
            bad += 1
            print(f'{s.row}: there is no such row')
    if options.only:
        samples = [s for s in samples if s.row in options.only]
    batches = [samples[i::max(1, (len(samples) + BATCH - 1) // BATCH)] for i in range(max(1, (len(samples) + BATCH - 1) // BATCH))]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or scratch
        for check in self_check(vitrine, folder):
            bad += 1
            print(f'the harness does not see a wrong {check}')
        jobs = [] if options.no_cpu else [pool.submit(run_cpu, vitrine, rows, batch, folder, f'rows{i}') for i, batch in enumerate(batches)]
        jobs += [pool.submit(run_cuda, vitrine, batch, folder, f'cuda{i}', arch) for arch in options.cuda for i, batch in enumerate(batches)]
        for job in jobs:
            job.result()
    for s in samples:
        for fault in s.faults:
            bad += 1
            print(f'{s.row} | {s.expression} | {fault}', flush=True)
        if options.verbose:
            print(s.row, s.expression, sorted(s.facts), s.launches, s.entries, s.whole, s.cuda)
    marks = {name: marks_of(rows.get(name), [s for s in samples if s.row == name]) for name in sorted({s.row for s in samples})}
    old = dict(line.split(' | ') for line in MARKS.read_text().splitlines()) if MARKS.exists() else {}
    for name, found in marks.items():
        former = (old.get(name, '') + ' ? ? ? ? ? ?').split()[:6]
        now = (former[:5] if options.no_cpu else found[:5]) + [found[5] or former[5]]
        if now != former and not options.update:
            bad += 1
            print(f'{name}: marked "{old.get(name)}" in tests/ops/marks.txt, found "{" ".join(now)}" (--update writes it, then scripts/make-docs)')
        old[name] = ' '.join(now)
    if options.update:
        MARKS.write_text(''.join(f'{name} | {old[name]}\n' for name in sorted(old) if options.only or name in marks))
    print(f'{len(marks)} rows and functions, {len(samples)} samples, {bad} faults')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
