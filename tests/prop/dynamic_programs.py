#!/usr/bin/env python3
"""Random programs at many sizes: a function compiled once with symbolic sizes must do at every size what it does eagerly, in values, strides and gradients.

usage: dynamic_programs.py VITRINE [--first SEED] [--count N] [--batch N] [--jobs N] [--show SEED]

In: seeds. Out: a line for each program that differs, a last line of totals, status 1 if one differs.

A program is a seed (random.Random, standard library only): a function of x[n, m] and y[n, m] built op by op from values in reach, whose sizes are
known as expressions of n and m. It is called at small, equal, odd, prime, empty and larger sizes; most calls meet an entry that is there already, and
the program fails too when there were more compiles than sizes that ask for one. To add an op: a line in `Builder.step`.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

SIZES = [(5, 6), (7, 3), (7, 7), (12, 8), (1, 4), (0, 5), (13, 1), (31, 17), (6, 6), (64, 40), (2, 9)]

PREAMBLE = '''
import torch
import torch.nn.functional as F

def same(a, b):
    if not isinstance(a, torch.Tensor): return a == b
    if a.shape != b.shape or a.dtype != b.dtype or a.stride() != b.stride(): return False
    return torch.allclose(a.detach().double(), b.detach().double(), rtol=1e-4, atol=1e-4, equal_nan=True)

def run(f, n, m):
    torch.manual_seed(n * 100 + m)
    x, y = torch.randn(n, m, requires_grad=GRAD), torch.randn(n, m, requires_grad=GRAD)
    try:
        outs = f(x, y)
        if GRAD:
            loss = sum([(o * torch.arange(o.numel()).reshape(o.shape).cos()).sum() for o in outs if isinstance(o, torch.Tensor) and o.requires_grad])
            if isinstance(loss, torch.Tensor): loss.backward()
        return [*outs, x.grad if GRAD and x.grad is not None else 0, y.grad if GRAD and y.grad is not None else 0]
    except Exception as e:
        return [type(e).__name__]

def check(f, seed, dynamic):
    g = torch.compile(f, dynamic=dynamic)
    for n, m in SIZES:
        a, b = run(f, n, m), run(g, n, m)
        for i, (p, q) in enumerate(zip(a, b)):
            if not same(p, q):
                what = (tuple(p.shape), p.stride(), tuple(q.shape), q.stride()) if isinstance(p, torch.Tensor) and isinstance(q, torch.Tensor) else (p, q)
                print(f"DIFF seed {seed} dynamic={dynamic} n={n} m={m} output {i} of {len(a)}: {what}")
                return
        if len(a) != len(b):
            print(f"DIFF seed {seed} dynamic={dynamic} n={n} m={m}: {a if len(a) == 1 else len(a)} against {b if len(b) == 1 else len(b)}")
            return
'''


class Builder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.values = [('x', ('n', 'm')), ('y', ('n', 'm'))]

    def pick(self, rank=None):
        fits = [v for v in self.values if rank is None or len(v[1]) == rank]
        return self.random.choice(fits[-6:]) if fits else None

    def add(self, text, shape):
        name = f'v{len(self.lines)}'
        self.lines.append(f'{name} = {text}')
        self.values.append((name, tuple(shape)))

    def unary(self):
        name, shape = self.pick()
        self.add(self.random.choice([f'{name}.relu()', f'{name}.sin()', f'{name} * 0.5 + 1', f'torch.sigmoid({name})', f'{name}.abs()', f'{name} * x.shape[0]',
                                     f'{name} / (x.shape[1] + 1)', f'F.gelu({name})', f'torch.where({name} > 0, {name}, -{name})']), shape)

    def binary(self):
        a = self.pick()
        fits = [v for v in self.values if v[1] == a[1]]
        b = self.random.choice(fits)
        self.add(f'{a[0]} {self.random.choice("+-*")} {b[0]}', a[1])

    def broadcast(self):
        a = self.pick(2)
        if not a: return
        name, (p, q) = a
        self.add(self.random.choice([f'{name} - {name}.mean(1, keepdim=True)', f'{name} * {name}.sum(0)', f'{name} + {name}[:, :1]', f'{name} + torch.arange({q})',
                                     f'{name} * torch.ones({p}, 1)']), (p, q))

    def reduce(self):
        a = self.pick(2)
        if not a: return
        name, (p, q) = a
        d = self.random.randrange(2)
        self.add(self.random.choice([f'{name}.sum({d})', f'{name}.mean({d})', f'{name}.logsumexp({d})', f'{name}.pow(2).sum({d}).sqrt()']), (a[1][1 - d],))

    def keep(self):
        a = self.pick(2)
        if not a: return
        d = self.random.randrange(2)
        self.add(self.random.choice([f'torch.softmax({a[0]}, {d})', f'F.log_softmax({a[0]}, {d})', f'{a[0]}.cumsum({d})', f'{a[0]}.flip({d})', f'F.layer_norm({a[0]}, ({a[1][1]},))']), a[1])

    def move(self):
        a = self.pick(2)
        if not a: return
        name, (p, q) = a
        options = [(f'{name}.t()', (q, p)), (f'{name}.t().contiguous()', (q, p)), (f'{name}.reshape(-1)', (f'({p}) * ({q})',)), (f'{name}[:, None]', (p, '1', q)),
                   (f'{name}[1:]', (f'max({p} - 1, 0)', q)), (f'{name}[:, ::2]', (p, f'({q} + 1) // 2')), (f'{name}[: x.shape[0] // 2]', (f'min({p}, n // 2)', q)),
                   (f'torch.cat([{name}, {name} * 2])', (f'2 * ({p})', q)), (f'torch.cat([{name}, {name}], 1)', (p, f'2 * ({q})')), (f'{name}.repeat(2, 1)', (f'2 * ({p})', q)),
                   (f'F.pad({name}, (1, 2))', (p, f'{q} + 3')), (f'{name}.unsqueeze(0).expand(3, {p}, {q})', ('3', p, q)), (f'torch.stack([{name}, {name}.sin()])', ('2', p, q)),
                   (f'{name}.chunk(2, 1)[0]', (p, f'({q} + 1) // 2'))]
        self.add(*self.random.choice(options))

    def back(self):
        a = self.pick(3)
        if not a: return
        self.add(*self.random.choice([(f'{a[0]}.sum(0)', a[1][1:]), (f'{a[0]}.transpose(1, 2).sum(2)', a[1][:2]), (f'{a[0]}.permute(1, 0, 2).reshape({a[1][1]}, -1)', (a[1][1], f'({a[1][0]}) * ({a[1][2]})'))]))

    def product(self):
        a = self.pick(2)
        if not a: return
        name, (p, q) = a
        self.add(*self.random.choice([(f'{name} @ {name}.t()', (p, p)), (f'{name}.t() @ {name}', (q, q)), (f'{name} @ torch.arange(3 * ({q})).reshape({q}, 3).cos()', (p, '3'))]))

    def branch(self):
        a = self.pick()
        test = self.random.choice(['n > 4', 'n % 2 == 0', 'm < 10', 'n == m', 'n * m > 40', 'n // 3 > 1', 'min(n, m) > 2'])
        self.add(f'{a[0]} + 1 if {test} else {a[0]} * 2', a[1])

    def store(self):
        a = self.pick(2)
        if not a: return
        name = f'v{len(self.lines)}'
        self.lines += [f'{name} = {a[0]}.clone()', self.random.choice([f'{name}[:, 0] = 1.0', f'{name}.mul_(2)', f'{name}[1:] += 1'])]
        self.values.append((name, a[1]))

    def step(self):
        getattr(self, self.random.choices(['unary', 'binary', 'broadcast', 'reduce', 'keep', 'move', 'back', 'product', 'branch', 'store'], [5, 3, 3, 2, 3, 5, 2, 1, 2, 1])[0])()

    def program(self, seed):
        for _ in range(self.random.randint(2, 7)): self.step()
        chosen = [v[0] for v in self.values[2:]][-3:] or ['x * 2']
        if self.random.random() < 0.3: chosen.append(self.random.choice(['n * 2 + m', 'x.shape', f'{chosen[-1]}.numel()']))
        body = '\n'.join('    ' + line for line in ['n, m = x.shape', *self.lines])
        grad = self.random.random() < 0.5
        return f'GRAD = {grad}\ndef f{seed}(x, y):\n{body}\n    return {", ".join(chosen)},\ncheck(f{seed}, {seed}, {self.random.choice([None, True])})\n'


def source(seeds):
    return PREAMBLE + f'\nSIZES = {SIZES}\n' + '\n'.join(Builder(seed).program(seed) for seed in seeds)


def run_batch(vitrine, seeds):
    with tempfile.TemporaryDirectory() as folder:
        path, summary = os.path.join(folder, 'p.py'), os.path.join(folder, 's.json')
        with open(path, 'w') as f: f.write(source(seeds))
        p = subprocess.run([vitrine, '--summary', summary, path], capture_output=True, text=True, timeout=600)
        lines = [line for line in p.stdout.splitlines() if line.startswith('DIFF')]
        if p.returncode:
            if len(seeds) > 1:
                return [line for seed in seeds for line in run_batch(vitrine, [seed])]
            lines.append(f'DIED seed {seeds[0]} status {p.returncode}: {(p.stderr.strip().splitlines() or [""])[-1][:200]}')
            return lines
        per = {}
        for id, c in json.load(open(summary))['compiles'].items(): per.setdefault(c['function'], []).append(id)
        lines += [f'MANY {name}: {len(ids)} compiles' for name, ids in per.items() if len(ids) > len(SIZES) - 2]
        return lines


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('vitrine')
    ap.add_argument('--first', type=int, default=0)
    ap.add_argument('--count', type=int, default=40)
    ap.add_argument('--batch', type=int, default=5)
    ap.add_argument('--jobs', type=int, default=2)
    ap.add_argument('--show', type=int)
    a = ap.parse_args()
    if a.show is not None:
        print(source([a.show]))
        return 0
    seeds = list(range(a.first, a.first + a.count))
    batches = [seeds[i:i + a.batch] for i in range(0, len(seeds), a.batch)]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for lines in pool.map(lambda batch: run_batch(a.vitrine, batch), batches):
            bad += len(lines)
            for line in lines: print(line, flush=True)
    print(f'{len(seeds)} programs at {len(SIZES)} sizes, {bad} differ')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
