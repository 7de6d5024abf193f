#!/usr/bin/env python3
"""Random programs of autograd's edges: eager and compiled runs agree in values, flags, aliases, first and second gradients.

usage: gradient_programs.py VITRINE [--first SEED] [--count N] [--jobs N] [--device cpu|cuda] [--show SEED]

In: seeds. Out: a line for each program that differs, a last line of totals (with how many calls fell back to eager), status 1 if one differs.

A function takes leaves, results of earlier ops and views of them, with and without gradients, and writes in place through views (one of several,
too), detaches, leaves regions without gradients, applies a custom Function, and returns values, inputs and views. Compared are: outputs, inputs and
views of inputs taken before the call; which want gradients; what shares memory (each is changed afterwards, and all are looked at again); gradients of
the leaves for a random choice of outputs; their gradients. Where eager raises, compiled code must raise, or know better (a saved value that was changed).
To add a statement: a method `op_NAME` of Builder that appends lines.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PREAMBLE = '''
import torch
import torch.nn.functional as F

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x * 2

def snapshot(tensors):
    return [t.detach().clone() for t in tensors]

def weigh(t, i):
    return (t * torch.linspace(0.5, 1.5 + i, max(t.numel(), 1), dtype=t.dtype)[:t.numel()].reshape(t.shape)).sum()

def play(f, make, used, again):
    leaves, inputs = make()
    views = [t[0] for t in inputs if t.dim() and t.shape[0]]
    result = {}
    try:
        outputs = list(f(*inputs))
    except RuntimeError as error:
        return {"raises": True}
    everything = outputs + inputs + views
    result["values"] = snapshot(everything)
    result["flags"] = [t.requires_grad for t in everything]
    total = None
    for i, t in enumerate(everything):
        if (i in used or i >= len(outputs)) and t.requires_grad:
            part = weigh(t, i)
            total = part if total is None else total + part
    wanted = [t for t in leaves if t.requires_grad]
    if total is not None and wanted:
        try:
            first = torch.autograd.grad(total, wanted, create_graph=again, allow_unused=True)
            result["first"] = [None if g is None else g.detach() for g in first]
            squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
            if again and squares:
                second = torch.autograd.grad(sum(squares), wanted, allow_unused=True)
                result["second"] = [None if g is None else g.detach() for g in second]
        except RuntimeError as error:
            result["backward raises"] = str(error)[:120]
    with torch.no_grad():
        for i, t in enumerate(outputs):
            try:
                t.detach().add_(i + 1)
            except RuntimeError as error:
                result[f"write {i} raises"] = "once"
    result["written"] = snapshot(everything)
    return result

def same(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-7, atol=1e-9, equal_nan=True)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b

def brief(x):
    if isinstance(x, list):
        return "[" + ", ".join(brief(i) for i in x) + "]"
    return str([round(v, 4) for v in x.reshape(-1).tolist()]) if isinstance(x, torch.Tensor) else str(x)

KNOWN = ("old value is gone", "modified by an inplace")

def check(seed, f, make, used, again):
    want = play(f, make, used, again)
    twin = torch.compile(f)
    for call in range(2):
        got = play(twin, make, used, again)
        for key in list(want) + [k for k in got if k not in want]:
            a, b = want.get(key), got.get(key)
            if key == "backward raises" and any(k in str(a) + str(b) for k in KNOWN):
                break
            if not same(a, b):
                if "second derivative" in str(got.get("backward raises")):
                    break
                print(f"{seed}: differs, call {call}, {key}: {brief(a)} against {brief(b)}")
                return
    print(f"{seed}: agrees")

'''


class Value:
    def __init__(self, name, shape, own=False):
        self.name, self.shape, self.own = name, tuple(shape), own


class Builder:
    def __init__(self, seed):
        self.seed, self.r = seed, random.Random(seed * 7919 + 1)
        self.lines, self.values, self.inputs, self.leaves, self.makers = [], [], [], [], []
        self.depth = 0

    def name(self):
        self.depth += 1
        return f'v{self.depth}'

    def line(self, text):
        self.lines.append(text)

    def emit(self, text, shape, own=False):
        value = Value(self.name(), shape, own)
        self.line(f'{value.name} = {text}')
        self.values.append(value)
        return value

    def pick(self, test=lambda v: True):
        fit = [v for v in self.values if test(v)]
        return self.r.choice(fit) if fit else None

    def mate(self, x):
        return self.pick(lambda v: v.shape == x.shape) or x

    # ---- inputs ----
    def add_inputs(self):
        for i in range(self.r.randint(1, 3)):
            shape = self.r.choice(((2, 3), (3, 2), (4,), (2, 2), (3,), (2, 4)))
            wants = self.r.random() < 0.75
            leaf = f'l{i}'
            self.leaves.append(leaf)
            self.makers.append(f'{leaf} = (torch.rand({shape}, dtype=torch.float64) + 0.5).requires_grad_({wants})')
            kind = self.r.randrange(5)
            text = leaf
            if kind == 1:
                text = f'{leaf} * 1.5'
            elif kind == 2 and len(shape) == 2:
                text, shape = f'({leaf} * 1.5)[1]', shape[1:]
            elif kind == 3 and len(shape) == 2:
                text, shape = f'({leaf} * 1.5).t()', shape[::-1]
            elif kind == 4:
                text = f'{leaf}.detach() * 2'
            value = Value('abc'[i], shape)
            self.inputs.append((value, text))
            self.values.append(value)

    # ---- statements ----
    def op_unary(self):
        x = self.pick()
        self.emit(self.r.choice(('{}.sin()', '{} * 2', '{} * {}', 'torch.tanh({})', '{} + 1', 'F.silu({})', '{}.exp() * 0.2', '{}.clone()', '{}.pow(3)')).replace('{}', x.name), x.shape, True)

    def op_binary(self):
        x = self.pick()
        self.emit(f'{x.name} {self.r.choice("+-*")} {self.mate(x).name}', x.shape, True)

    def op_reduce(self):
        x = self.pick(lambda v: v.shape)
        if x:
            self.emit(f'{x.name} * {x.name}.{self.r.choice(("sum", "mean", "amax"))}(0, keepdim=True)', x.shape, True)

    def op_view(self):
        x = self.pick(lambda v: v.shape)
        if not x:
            return
        kind = self.r.randrange(8)
        if kind == 0:
            self.emit(f'{x.name}[{self.r.randrange(x.shape[0])}]', x.shape[1:])
        elif kind == 1 and x.shape[0] > 1:
            self.emit(f'{x.name}[1:]', (x.shape[0] - 1,) + x.shape[1:])
        elif kind == 2 and len(x.shape) == 2:
            self.emit(f'{x.name}.t()', x.shape[::-1])
        elif kind == 3:
            self.emit(f'{x.name}.unsqueeze(0)', (1,) + x.shape)
        elif kind == 4:
            self.emit(f'{x.name}.detach()', x.shape)
        elif kind == 5:
            self.emit(f'{x.name}.unbind(0)[{self.r.randrange(x.shape[0])}]', x.shape[1:])
        elif kind == 6 and x.shape[0] % 2 == 0:
            self.emit(f'{x.name}.chunk(2)[{self.r.randrange(2)}]', (x.shape[0] // 2,) + x.shape[1:])
        elif kind == 7:
            self.emit(f'{x.name}.expand(2, {", ".join(map(str, x.shape))})', (2,) + x.shape)

    def op_write(self):
        x = self.pick(lambda v: v.own) if self.r.random() < 0.5 else self.pick()
        if not x:
            return
        y = self.mate(x)
        self.line(self.r.choice((f'{x.name}.mul_(2)', f'{x.name}.add_({y.name})', f'{x.name}.mul_({y.name})', f'{x.name}.copy_({y.name})', f'{x.name}.sin_()', f'{x.name}.zero_()',
                                 f'{x.name}.fill_(0.5)', f'{x.name}.detach().mul_(3)')))

    def op_write_part(self):
        x = self.pick(lambda v: v.shape and v.shape[0] > 1)
        if not x:
            return
        i = self.r.randrange(x.shape[0])
        self.line(self.r.choice((f'{x.name}[{i}] = 0.25', f'{x.name}[1:] = {x.name}[1:] + {x.name}[:-1]', f'{x.name}[{i}].mul_(2)', f'{x.name}.unbind(0)[{i}].add_(1)', f'{x.name}[:1].sin_()',
                                 f'{x.name}.split(1)[{i}].mul_(3)', f'{x.name}.view(-1)[0] = 2.0', f'{x.name}.transpose(0, -1).mul_(0.5)')))

    def op_no_grad(self):
        x = self.pick()
        y = self.name()
        self.line('with torch.no_grad():')
        self.line(f'    {y} = {x.name} * 2')
        if self.r.random() < 0.4:
            self.line(f'    {self.pick().name}.mul_(1.5)')
        self.values.append(Value(y, x.shape, True))

    def op_custom(self):
        x = self.pick()
        self.emit(f'Twice.apply({x.name})', x.shape, True)

    def op_where(self):
        x = self.pick()
        self.emit(f'torch.where({x.name} > 1, {x.name}, {self.mate(x).name} * 0.5)', x.shape, True)

    def op_list(self):
        x = self.pick(lambda v: v.own)
        if x:
            y = self.name()
            self.line(f'held = [{x.name}]')
            self.line(f'held[0].add_(1)')
            self.line(f'{y} = held[0]')
            self.values.append(Value(y, x.shape, True))

    OPS = (('unary', 8), ('binary', 5), ('reduce', 2), ('view', 6), ('write', 5), ('write_part', 3), ('no_grad', 2), ('custom', 1), ('where', 1), ('list', 1))

    def program(self):
        self.add_inputs()
        names, weights = zip(*self.OPS)
        for _ in range(self.r.randint(2, 8)):
            getattr(self, 'op_' + self.r.choices(names, weights)[0])()
        outputs = [self.values[-1]] + [self.pick() for _ in range(self.r.randrange(3))]
        used = sorted({0} | {i for i in range(len(outputs)) if self.r.random() < 0.6})
        again = self.r.random() < 0.5
        s = self.seed
        lines = [f'def f{s}({", ".join(v.name for v, _ in self.inputs)}):', *('    ' + line for line in self.lines), f'    return ({", ".join(v.name for v in outputs)},)', '',
                 f'def make{s}():', f'    torch.manual_seed({s})', *('    ' + maker for maker in self.makers),
                 f'    return [{", ".join(self.leaves)}], [{", ".join(text for _, text in self.inputs)}]', '', f'check({s}, f{s}, make{s}, {used}, {again})', '']
        return '\n'.join(lines)


def run_batch(vitrine, seeds, device, folder):
    """-> ({seed: what was said}, calls that fell back to eager)"""
    path = pathlib.Path(folder, f'gradients_{seeds[0]}.py')
    path.write_text(PREAMBLE + '\n'.join(Builder(seed).program() for seed in seeds))
    process = subprocess.run([vitrine, '--device', device, str(path)], capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=60 + 10 * len(seeds))
    results = {}
    for line in process.stdout.splitlines():
        seed, colon, what = line.partition(': ')
        if colon and seed.isdigit():
            results[int(seed)] = what
    missing = [seed for seed in seeds if seed not in results]
    fallbacks = process.stderr.count('runs eagerly')
    if missing:
        results[missing[0]] = f'died, status {process.returncode}: ' + ' | '.join((process.stderr.strip().splitlines() or [''])[-3:])[-600:]
        if missing[1:]:
            rest, more = run_batch(vitrine, missing[1:], device, folder)
            results.update(rest)
            fallbacks += more
    return results, fallbacks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--show', type=int)
    options = parser.parse_args()
    if options.show is not None:
        print(PREAMBLE + Builder(options.show).program())
        return 0
    vitrine = os.path.abspath(options.vitrine)
    seeds = list(range(options.first, options.first + options.count))
    batches = [seeds[i:i + 20] for i in range(0, len(seeds), 20)]
    agreeing = fallbacks = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results, eager in pool.map(lambda batch: run_batch(vitrine, batch, options.device, folder), batches):
            fallbacks += eager
            for seed, what in sorted(results.items()):
                agreeing += what == 'agrees'
                if what != 'agrees':
                    print(f'{seed}: {what[:400]}', flush=True)
    print(f'{agreeing} of {len(seeds)} programs of gradients agree; {fallbacks} functions ran eagerly')
    return 0 if agreeing == len(seeds) else 1


if __name__ == '__main__':
    sys.exit(main())
