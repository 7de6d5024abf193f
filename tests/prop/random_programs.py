#!/usr/bin/env python3
"""Random programs: what a function does eagerly and what torch.compile of it does must be the same, in values, gradients and changed inputs.

usage: random_programs.py VITRINE [--first SEED] [--count N] [--batch N] [--jobs N] [--device cpu|cuda] [--show SEED] [--keep FOLDER]

In: seeds. Out: a line for each program that differs, a last line of totals, status 1 if one differs.
    random_programs.py build/vitrine --first 0 --count 300       a longer search
    random_programs.py build/vitrine --show 17 > p.py            program 17, to be reduced by hand

A program is a seed: the same seed makes the same program on every machine (random.Random, standard library only). A function of one
to four tensors (float32, float64, bfloat16, float16, int64, bool; broadcast shapes, transposed and strided inputs) is built op by op
from values in reach, each with the shape and dtype it must have, so that programs are right by construction. Programs compare inside
themselves: same shape and dtype, inf and nan at the same places, the rest within a relative norm of 1e-5 (float32), 2e-2 (16-bit).
To add an op: a method `op_NAME` of Builder that appends a line and returns its value, or nothing where it does not fit.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import tempfile

FLOATS = ('float32', 'float64', 'bfloat16', 'float16')
HALF = ('bfloat16', 'float16')

PREAMBLE = '''
import torch
import torch.nn.functional as F

COMPILE_ONLY = False
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-2}

def difference(a, b, exact=None):
    if a is None or b is None:
        return None if a is b else "one is None"
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{tuple(a.shape)} {a.dtype} against {tuple(b.shape)} {b.dtype}"
    if a.requires_grad != b.requires_grad:
        return f"requires_grad {a.requires_grad} against {b.requires_grad}"
    a, b = a.detach(), b.detach()
    if not a.dtype.is_floating_point:
        return None if torch.equal(a, b) else "values differ"
    tolerance = TOLERANCE[a.dtype]
    a, b = a.double(), b.double()
    if not torch.equal(torch.isnan(a), torch.isnan(b)):
        return "nan at other places"
    if not torch.equal(torch.where(torch.isinf(a), a, 0), torch.where(torch.isinf(b), b, 0)):
        return "inf at other places"
    finite = torch.isfinite(a)
    a, b = torch.where(finite, a, 0), torch.where(finite, b, 0)
    off, size = (a - b).norm().item(), a.norm().item()
    # Values are around one; a sum of them that cancels keeps the rounding of its terms.
    floor = tolerance * (2 if tolerance > 1e-3 else 0.5) * max(a.numel(), 1) ** 0.5
    if off <= tolerance * size + floor:
        return None
    if exact is not None and exact.shape == a.shape:  # both are roundings of one value: no further from it than four times eager's
        exact = torch.where(finite, exact.detach().double(), 0)
        if (b - exact).norm().item() <= 4 * (a - exact).norm().item() + floor:
            return None
    return f"off by {off / max(size, 1e-30):.3g} of {size:.3g}"

def run(f, inputs, wants_gradient):
    outputs = f(*inputs)
    total = None
    for i, out in enumerate(outputs):
        if wants_gradient and out.requires_grad:
            part = (out * torch.linspace(0.5, 1.5 + i, max(out.numel(), 1), device=out.device).to(out.dtype)[:out.numel()].reshape(out.shape)).sum()
            total = part if total is None else total + part
    if total is not None:
        total.backward()
    return outputs

def doubled(t):
    return t.detach().double().requires_grad_(t.requires_grad) if t.dtype.is_floating_point else t.clone()

def check(seed, f, reference, make, wants_gradient):
    plain, compiled, exact = make(), make(), [doubled(t) for t in make()]
    try:
        want = run(f, plain, wants_gradient)
        ideal = run(reference, exact, wants_gradient)
    except Exception as error:
        words = str(error)
        # What was saved has been changed since: eager is right to refuse, and a compiled function that computes it again need not.
        print(f"{seed}: agrees" if "modified by an inplace" in words else f"{seed}: eager raises {type(error).__name__}: {words}")
        return
    try:
        twin = torch.compile(f, fullgraph=True)
        if COMPILE_ONLY:
            run(twin, compiled, wants_gradient)
            print(f"{seed}: agrees")
            return
        for again in range(2):
            inputs = compiled if again == 0 else make()
            got = run(twin, inputs, wants_gradient)
            faults = [f"output {i}: {d}" for i, d in enumerate(difference(a, b, c) for a, b, c in zip(want, got, ideal)) if d]
            faults += [f"input {i} after: {d}" for i, d in enumerate(difference(a, b, c) for a, b, c in zip(plain, inputs, exact)) if d]
            faults += [f"gradient {i}: {d}" for i, d in enumerate(difference(a.grad, b.grad, c.grad) for a, b, c in zip(plain, inputs, exact) if a.is_leaf) if d]
            if faults:
                print(f"{seed}: differs, call {again}: " + "; ".join(faults))
                return
    except Exception as error:
        print(f"{seed}: compiled raises {type(error).__name__}: {error}")
        return
    print(f"{seed}: agrees")

'''


class Value:
    def __init__(self, name, shape, dtype, fresh=False):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.fresh = fresh          # its own memory, written by this program: may be changed in place

    @property
    def rank(self):
        return len(self.shape)

    @property
    def floating(self):
        return self.dtype in FLOATS

    @property
    def numel(self):
        product = 1
        for size in self.shape:
            product *= size
        return product


def broadcast(a, b):
    """The shape of a op b, or None."""
    out = []
    for i in range(max(len(a), len(b))):
        x = a[-1 - i] if i < len(a) else 1
        y = b[-1 - i] if i < len(b) else 1
        if x != y and 1 not in (x, y):
            return None
        out.append(y if x == 1 else x)
    return tuple(reversed(out))


class Builder:
    def __init__(self, seed, device):
        self.r = random.Random(seed)
        self.seed, self.device = seed, device
        self.lines, self.makers, self.values, self.inputs = [], [], [], []
        self.main = self.r.choices(('float32', 'float64', 'bfloat16', 'float16'), (7, 1, 2, 1))[0]
        self.gradient = self.r.random() < 0.6
        self.counter = 0

    # ---- parts ----
    def emit(self, text, shape, dtype, fresh=False):
        name = f'v{self.counter}'
        self.counter += 1
        self.lines.append(f'{name} = {text}')
        value = Value(name, shape, dtype, fresh)
        self.values.append(value)
        return value

    def pick(self, test=lambda v: True):
        fitting = [v for v in self.values if test(v)]
        if not fitting:
            return None
        return self.r.choices(fitting, range(1, len(fitting) + 1))[0]  # later ones more often: deeper graphs

    def floating(self, rank=None):
        return self.pick(lambda v: v.dtype == self.main and (rank is None or v.rank >= rank))

    def partner(self, value, dtype=None):
        return self.pick(lambda v: v.dtype == (dtype or value.dtype) and broadcast(v.shape, value.shape) is not None
                         and len(broadcast(v.shape, value.shape)) <= 4 and (broadcast(v.shape, value.shape) == value.shape or v.numel * value.numel < 60000))

    def scalar(self):
        return self.r.choice(('0.5', '2.0', '-1.5', '0.25', '3', '1', '-2'))

    # ---- inputs ----
    def add_inputs(self):
        base = [self.r.choice((1, 2, 3, 4, 5, 7, 8, 16, 17, 33)) for _ in range(self.r.choice((1, 2, 2, 2, 3, 3)))]
        for i in range(self.r.randint(1, 4)):
            shape = list(base)
            if i:
                for k in range(len(shape)):
                    if self.r.random() < 0.2:
                        shape[k] = 1
                if self.r.random() < 0.2:
                    shape = shape[1:]
            self.add_input(i, shape, self.r.choices((self.main, 'int64', 'bool'), (8, 2, 1))[0] if i else self.main)

    def add_input(self, i, shape, dtype):
        made, place = list(shape), f", device='{self.device}'" if self.device != 'cpu' else ''
        form = self.r.choices(('plain', 'transposed', 'strided', 'offset'), (6, 2, 1, 1))[0] if shape else 'plain'
        if form == 'transposed':
            made = made[::-1]
        elif form == 'strided':
            made[-1] = made[-1] * 2
        elif form == 'offset':
            made[0] += 1
        if dtype in FLOATS:
            text = f'torch.randn({tuple(made)})'
        elif dtype == 'int64':
            text = f'torch.randint(-5, 6, {tuple(made)})'
        else:
            text = f'(torch.rand({tuple(made)}) > 0.5)'
        if dtype in FLOATS and dtype != 'float32':
            text += f'.to(torch.{dtype})'
        if place:
            text += f".to('{self.device}')"
        if form == 'transposed' and len(made) > 1:
            text += f'.permute({", ".join(str(k) for k in range(len(made) - 1, -1, -1))})'
        elif form == 'transposed':
            pass
        elif form == 'strided':
            text += '[..., ::2]'
        elif form == 'offset':
            text += '[1:]'
        name = f'a{i}'
        leaf = dtype in FLOATS and self.gradient and self.r.random() < 0.8
        if leaf:
            text += '.detach().requires_grad_(True)'
        self.makers.append(text)
        value = Value(name, shape, dtype)
        value.leaf = leaf
        self.inputs.append(value)
        self.values.append(value)

    # ---- pointwise ----
    def op_unary(self):
        x = self.floating()
        if not x:
            return None
        text = self.r.choice((
            'torch.sin({x})', 'torch.cos({x})', 'torch.tanh({x})', 'torch.sigmoid({x})', 'torch.exp(torch.clamp({x}, -3, 2))',
            'F.relu({x})', '{x}.abs()', '-{x}', 'torch.sqrt({x}.abs() + 0.5)', 'torch.rsqrt({x} * {x} + 1)', 'torch.log({x}.abs() + 1.25)',
            'torch.erf({x})', 'F.gelu({x})', "F.gelu({x}, approximate='tanh')", 'F.silu({x})', 'F.softplus({x})', 'F.leaky_relu({x}, 0.1)',
            'F.elu({x})', '1.0 / ({x}.abs() + 1)', '({x} ** 2) * 0.25', 'torch.clamp({x}, min=-1.0, max=1.0)', '{x}.clamp(min=-0.5)',
            'torch.log1p({x}.abs())', 'torch.expm1(torch.clamp({x}, -2, 1))', '{x}.square() * 0.125', 'F.hardtanh({x})', 'F.relu6({x})',
            'F.logsigmoid({x})', 'F.mish({x})', 'torch.atan({x})', '{x}.reciprocal().clamp(-2, 2)', '{x}.detach() * 0.5', '{x}.clone()',
            'F.hardswish({x})', 'F.selu({x})', 'torch.nan_to_num({x})', '{x}.pow(3).tanh()', '{x}.neg().exp().clamp(max=4.0)', '{x}.contiguous() + 0.5',
        )).format(x=x.name)
        return self.emit(text, x.shape, x.dtype)

    def op_step(self):
        """Ops with jumps: not in 16 bits, where one rounding more or less puts a value on the other side."""
        x = self.floating()
        if not x or self.main in HALF:
            return None
        text = self.r.choice(('torch.floor({x})', 'torch.round({x})', 'torch.sign({x})', 'torch.trunc({x} * 2)', '{x}.ceil()', '{x} % 1.5', '{x}.detach() // 0.75')).format(x=x.name)
        return self.emit(text, x.shape, x.dtype)

    def op_scalar(self):
        x = self.floating()
        if not x:
            return None
        c = self.scalar()
        text = self.r.choice(('{x} * {c}', '{x} + {c}', '{c} - {x}', '{x} / {c}', 'torch.add({x}, {x}, alpha={c})', 'torch.sub({c}, {x})')).format(x=x.name, c=c)
        return self.emit(text, x.shape, x.dtype)

    def op_binary(self):
        x = self.floating()
        y = x and self.partner(x)
        if not y:
            return None
        text = self.r.choice(('{x} + {y}', '{x} - {y}', '{x} * {y}', '{x} / ({y}.abs() + 1)', 'torch.maximum({x}, {y})', 'torch.minimum({x}, {y})',
                              'torch.add({x}, {y}, alpha=0.5)', 'torch.lerp({x}, {y}, 0.3)' if broadcast(x.shape, y.shape) == x.shape else '{x} + {y}',
                              'torch.hypot({x}, {y})', 'torch.addcmul({x}, {x}, {y}, value=0.5)', 'torch.atan2({x}, {y}.abs() + 0.5)')).format(x=x.name, y=y.name)
        return self.emit(text, broadcast(x.shape, y.shape), x.dtype)

    def op_compare(self):
        x = self.pick(lambda v: v.dtype == 'int64' or (v.dtype == self.main and self.main not in HALF) or v in self.inputs and v.dtype != 'bool')
        if not x:
            return None
        text = self.r.choice(('{x} > {c}', '{x} <= {c}', '{x} != {c}', 'torch.isfinite({x})', '({x} > {c}).logical_not()')).format(x=x.name, c=self.r.choice(('0', '1', '0.25')))
        return self.emit(text, x.shape, 'bool')

    def op_logic(self):
        x = self.pick(lambda v: v.dtype == 'bool')
        y = x and self.partner(x)
        if not y:
            return None
        return self.emit(f'{x.name} {self.r.choice("&|^")} {"~" if self.r.random() < 0.3 else ""}{y.name}', broadcast(x.shape, y.shape), 'bool')

    def op_where(self):
        x = self.floating()
        c = x and self.partner(x, 'bool')
        if not c:
            return None
        shape = broadcast(c.shape, x.shape)
        y = self.pick(lambda v: v.dtype == x.dtype and broadcast(v.shape, shape) == shape)
        kind = self.r.randrange(3)
        if kind == 0 and shape == x.shape:
            return self.emit(f'{x.name}.masked_fill({c.name}, {self.scalar()})', shape, x.dtype)
        if kind == 1:
            return self.emit(f'torch.where({c.name}, {x.name}, {self.scalar()})', shape, x.dtype)
        return y and self.emit(f'torch.where({c.name}, {x.name}, {y.name})', shape, x.dtype)

    def op_integer(self):
        x = self.pick(lambda v: v.dtype == 'int64')
        if not x:
            return None
        y = self.partner(x) or x
        text = self.r.choice(('{x} + {y}', '{x} * {y}', '{x} - {y}', '{x} // 3', '{x} % 4', '{x} // -2', '{x} % -3', '{x} & {y}', '{x} | 5', '{x} ^ {y}', 'torch.maximum({x}, {y})',
                              '({x}.abs() & 7) << 1', '{x} >> 1', '{x}.clamp(-3, 3)', '-{x}', 'torch.where({x} > 0, {x}, {y})', '~{x}', '{x}.abs()')).format(x=x.name, y=y.name)
        shape = broadcast(x.shape, y.shape) if y.name in text else x.shape
        return self.emit(text, shape, 'int64')

    def op_convert(self):
        x = self.pick()
        if x.dtype == self.main and self.main in HALF and self.r.random() < 0.8:
            return self.emit(f'({x.name}.float() * 0.5).to(torch.{self.main})', x.shape, self.main)
        if x.dtype == self.main:
            return self.emit(f'({x.name} * 2).clamp(-50, 50).long()', x.shape, 'int64') if self.main not in HALF and self.r.random() < 0.5 else None
        return self.emit(f'{x.name}.to(torch.{self.main})', x.shape, self.main)

    def op_mixed(self):
        """Type promotion: a float with an integer or a bool."""
        x = self.floating()
        y = x and self.partner(x, self.r.choice(('int64', 'bool')))
        return y and self.emit(f'{x.name} {self.r.choice("+*")} {y.name}', broadcast(x.shape, y.shape), x.dtype)

    # ---- reductions ----
    def reduced(self, x, dims, keep):
        if keep:
            return tuple(1 if i in dims else size for i, size in enumerate(x.shape))
        return tuple(size for i, size in enumerate(x.shape) if i not in dims)

    def op_reduce(self):
        x = self.floating(1)
        if not x:
            return None
        keep = self.r.random() < 0.4
        kind = self.r.choice(('sum', 'mean', 'amax', 'amin', 'sum', 'mean', 'logsumexp', 'var', 'std', 'norm'))
        dims = sorted(self.r.sample(range(x.rank), self.r.randint(1, x.rank if kind in ('sum', 'mean', 'amax', 'amin') else 1)))
        count = 1
        for d in dims:
            count *= x.shape[d]
        if kind in ('var', 'std') and count < 2:
            return None
        if kind in ('std', 'norm'):  # their gradient at a constant has no meaning
            return self.emit(f'({x.name} + torch.arange({x.shape[dims[0]]}, device={x.name}.device).to({x.name}.dtype).reshape({tuple(x.shape[k] if k == dims[0] else 1 for k in range(x.rank))}) * 0.1).{kind}(dim={dims[0]}, keepdim={keep})',
                             self.reduced(x, dims, keep), x.dtype)
        spelled = str(dims[0]) if len(dims) == 1 else str(tuple(dims))
        if self.r.random() < 0.15 and kind in ('sum', 'mean'):
            return self.emit(f'{x.name}.{kind}()', (), x.dtype)
        return self.emit(f'{x.name}.{kind}(dim={spelled}, keepdim={keep})', self.reduced(x, dims, keep), x.dtype)

    def op_normalize(self):
        x = self.floating(1)
        if not x:
            return None
        d = self.r.randrange(x.rank)
        kind = self.r.randrange(4)
        if kind == 0:
            return self.emit(f'F.softmax({x.name}, dim={d})', x.shape, x.dtype)
        if kind == 1:
            return self.emit(f'F.log_softmax({x.name}, dim={d})', x.shape, x.dtype)
        if kind == 2 and x.shape[-1] > 2:
            return self.emit(f'F.layer_norm({x.name}, ({x.shape[-1]},))', x.shape, x.dtype)
        return self.emit(f'{x.name} / ({x.name}.pow(2).mean(-1, keepdim=True) + 0.1).sqrt()', x.shape, x.dtype)

    def op_pick_extreme(self):
        x = self.floating(1)
        if not x or self.main in HALF:
            return None
        d = self.r.randrange(x.rank)
        kind = self.r.randrange(4)
        shape = self.reduced(x, [d], False)
        if kind == 0:
            return self.emit(f'{x.name}.argmax(dim={d})', shape, 'int64')
        if kind == 1:
            return self.emit(f'{x.name}.max(dim={d}).values', shape, x.dtype)
        if kind == 2:
            return self.emit(f'torch.min({x.name}, {d})[0]', shape, x.dtype)
        return self.emit(f'({x.name} > 0).sum(dim={d})', shape, 'int64')

    def op_scan(self):
        x = self.floating(1)
        return x and self.emit(f'{x.name}.cumsum(dim={self.r.randrange(x.rank)})', x.shape, x.dtype)

    def op_any(self):
        x = self.pick(lambda v: v.dtype == 'bool' and v.rank > 0)
        d = x and self.r.randrange(x.rank)
        return x and self.emit(f'{x.name}.{self.r.choice(("any", "all"))}(dim={d})', self.reduced(x, [d], False), 'bool')

    # ---- views ----
    def op_view(self):
        x = self.pick(lambda v: v.rank >= 1)
        if not x:
            return None
        kind, d = self.r.randrange(11), self.r.randrange(x.rank)
        if kind == 0 and x.rank > 1:
            e = self.r.randrange(x.rank)
            shape = list(x.shape)
            shape[d], shape[e] = shape[e], shape[d]
            return self.emit(f'{x.name}.transpose({d}, {e})', shape, x.dtype)
        if kind == 1:
            return self.emit(f'{x.name}.reshape(-1)', (x.numel,), x.dtype)
        if kind == 2 and x.rank < 4:
            return self.emit(f'{x.name}.unsqueeze({d})', x.shape[:d] + (1,) + x.shape[d:], x.dtype)
        if kind == 3 and x.shape[d] > 1:
            low = self.r.randrange(x.shape[d])
            index = ', '.join([':'] * d + [f'{low}:'])
            return self.emit(f'{x.name}[{index}]', x.shape[:d] + (x.shape[d] - low,) + x.shape[d + 1:], x.dtype)
        if kind == 4:
            index = ', '.join([':'] * d + [str(self.r.randrange(-x.shape[d], x.shape[d]))])
            return self.emit(f'{x.name}[{index}]', x.shape[:d] + x.shape[d + 1:], x.dtype)
        if kind == 5:
            index = ', '.join([':'] * d + ['::2'])
            return self.emit(f'{x.name}[{index}]', x.shape[:d] + ((x.shape[d] + 1) // 2,) + x.shape[d + 1:], x.dtype)
        if kind == 6 and x.rank > 1:
            order = self.r.sample(range(x.rank), x.rank)
            return self.emit(f'{x.name}.permute({", ".join(map(str, order))})', [x.shape[k] for k in order], x.dtype)
        if kind == 7 and x.shape[d] == 1:
            shape = list(x.shape)
            shape[d] = self.r.choice((2, 3, 5))
            return self.emit(f'{x.name}.expand({", ".join(map(str, shape))})', shape, x.dtype)
        if kind == 8 and x.shape[d] % 2 == 0:
            return self.emit(f'{x.name}.chunk(2, dim={d})[{self.r.randrange(2)}]', x.shape[:d] + (x.shape[d] // 2,) + x.shape[d + 1:], x.dtype)
        if kind == 9:
            return self.emit(f'{x.name}.flip({d})', x.shape, x.dtype)
        if kind == 10 and x.rank > 1:
            return self.emit(f'{x.name}.flatten(0, 1)', (x.shape[0] * x.shape[1],) + x.shape[2:], x.dtype)
        return None

    def op_join(self):
        x = self.floating(1)
        y = x and self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
        if not y or x.numel > 4000:
            return None
        d = self.r.randrange(x.rank)
        if self.r.random() < 0.6:
            shape = list(x.shape)
            shape[d] *= 2
            return self.emit(f'torch.cat([{x.name}, {y.name}], dim={d})', shape, x.dtype)
        return self.emit(f'torch.stack([{x.name}, {y.name}], dim={d})', x.shape[:d] + (2,) + x.shape[d:], x.dtype) if x.rank < 4 else None

    def op_pad(self):
        x = self.floating(2)
        if not x:
            return None
        if self.r.random() < 0.5:
            return self.emit(f'torch.{self.r.choice(("tril", "triu"))}({x.name}, {self.r.randint(-1, 1)})', x.shape, x.dtype)
        return self.emit(f'F.pad({x.name}, (1, 2), value=0.5)', x.shape[:-1] + (x.shape[-1] + 3,), x.dtype)

    # ---- indexing ----
    def op_index(self):
        x = self.floating(1)
        if not x or x.shape[0] == 0:
            return None
        n = x.shape[0]
        where = [str(self.r.randrange(n)) for _ in range(self.r.randint(1, 5))]
        made = self.pick(lambda v: v.dtype == 'int64' and v.rank == 1)
        if made and self.r.random() < 0.6:
            index, count = f'({made.name} % {n})', made.shape[0]
        else:
            index, count = f"torch.tensor([{', '.join(where)}], device={x.name}.device)", len(where)
        kind = self.r.randrange(5)
        if kind == 0:
            return self.emit(f'{x.name}[{index}]', (count,) + x.shape[1:], x.dtype)
        if kind == 1:
            return self.emit(f'torch.index_select({x.name}, 0, {index})', (count,) + x.shape[1:], x.dtype)
        if kind == 2 and x.rank == 2:
            return self.emit(f'F.embedding({index}, {x.name})', (count, x.shape[1]), x.dtype)
        whole = self.pick(lambda v: v.dtype == 'int64' and v.rank == x.rank and v.rank > 0 and all(a <= b for a, b in zip(v.shape[1:], x.shape[1:])))
        if kind == 3 and whole:
            return self.emit(f'torch.gather({x.name}, 0, {whole.name} % {n})', whole.shape, x.dtype)
        if kind == 4 and whole and whole.shape[0] <= n and whole.shape == x.shape:
            return self.emit(f'torch.zeros_like({x.name}).scatter_add(0, {whole.name} % {n}, {x.name})', x.shape, x.dtype)
        return None

    # ---- products ----
    def op_matmul(self):
        x = self.floating(2)
        if not x:
            return None
        y = self.pick(lambda v: v.dtype == x.dtype and v.rank == 2 and v.shape[0] == x.shape[-1])
        z = self.pick(lambda v: v.dtype == x.dtype and v.rank == 2 and v.shape[1] == x.shape[-1])
        scale = f' * {1.0 / max(x.shape[-1], 1) ** 0.5:.3f}'
        if y and self.r.random() < 0.5:
            return self.emit(f'({x.name} @ {y.name}){scale}', x.shape[:-1] + (y.shape[1],), x.dtype)
        if z and self.r.random() < 0.6:
            return self.emit(f'F.linear({x.name}, {z.name}){scale}', x.shape[:-1] + (z.shape[0],), x.dtype)
        return self.emit(f'({x.name} @ {x.name}.transpose(-2, -1)){scale}', x.shape[:-1] + (x.shape[-2],), x.dtype)

    # ---- in place ----
    def own(self):
        x = self.pick(lambda v: v.fresh and v.dtype == self.main)
        if x and self.r.random() < 0.7:
            return x
        x = self.floating()
        return x and self.emit(f'{x.name}.clone()', x.shape, x.dtype, fresh=True)

    def op_inplace(self):
        x = self.own()
        if not x:
            return None
        kind = self.r.randrange(8)
        y = self.pick(lambda v: v.dtype == x.dtype and v.name != x.name and broadcast(v.shape, x.shape) == x.shape)
        c = self.scalar()
        if kind == 0 and y:
            self.lines.append(f'{x.name}.add_({y.name})')
        elif kind == 1:
            self.lines.append(f'{x.name}.mul_({c})')
        elif kind == 2 and x.rank and x.shape[0] > 1:
            self.lines.append(f'{x.name}[1:] = {x.name}[:-1] * 0.5 + {x.name}[1:]')
        elif kind == 3 and x.rank:
            self.lines.append(f'{x.name}[..., 0] = {c}')
        elif kind == 4 and x.rank:
            self.lines.append(f'{x.name}[0].add_({c})' if x.rank > 1 else f'{x.name}[0] += {c}')
        elif kind == 5 and x.rank > 1:
            self.lines.append(f'{x.name}.transpose(0, 1).sub_(0.25)')
        elif kind == 6 and y:
            self.lines.append(f'{x.name}.copy_({y.name})')
        elif kind == 7 and x.rank:
            self.lines.append(f'{x.name} += {x.name}.mean(dim=0, keepdim=True)')
        else:
            return None
        self.values.append(x)
        return x

    def op_write_input(self):
        x = self.pick(lambda v: v in self.inputs and not v.leaf and v.dtype == self.main)
        if not x:
            return None
        y = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape and v.name != x.name)
        self.lines.append(self.r.choice((f'{x.name}.mul_(0.5)', f'{x.name}.add_(1)', f'{x.name}.copy_({y.name}.detach())' if y else f'{x.name}.neg_()')))
        return x

    # ---- the whole ----
    OPS = (('unary', 10), ('scalar', 4), ('binary', 9), ('compare', 2), ('logic', 1), ('where', 2), ('integer', 2), ('convert', 2), ('mixed', 2), ('step', 1),
           ('reduce', 5), ('normalize', 2), ('pick_extreme', 2), ('scan', 1), ('any', 1), ('view', 8), ('join', 2), ('pad', 1), ('index', 3),
           ('matmul', 2), ('inplace', 3), ('write_input', 1))

    def program(self):
        self.add_inputs()
        wanted, tries = self.r.randint(3, 14), 0
        names, weights = zip(*self.OPS)
        made = 0
        while made < wanted and tries < 200:
            tries += 1
            if getattr(self, 'op_' + self.r.choices(names, weights)[0])() is not None:
                made += 1
        candidates = [v for v in self.values if v not in self.inputs] or self.inputs
        outputs = [candidates[-1]] + [self.r.choice(candidates) for _ in range(self.r.choice((0, 0, 1, 1, 2)))]
        if self.r.random() < 0.05:
            outputs.append(self.inputs[0])
        parameters = ', '.join(v.name for v in self.inputs)
        body = ['    ' + line for line in self.lines] + [f'    return ({", ".join(v.name for v in outputs)},)', '']
        exact = [line.replace(f'torch.{self.main}', 'torch.float64').replace('.float()', '.double()') for line in body]
        lines = [f'def f{self.seed}({parameters}):', *body, f'def r{self.seed}({parameters}):', *exact,
                 f'def make{self.seed}():', f'    torch.manual_seed({self.seed})', f'    return [{", ".join(self.makers)}]', '',
                 f'check({self.seed}, f{self.seed}, r{self.seed}, make{self.seed}, {self.gradient})', '']
        return '\n'.join(lines)


def run_batch(vitrine, seeds, device, folder):
    """-> {seed: what was said}"""
    path = pathlib.Path(folder, f'programs_{seeds[0]}.py')
    path.write_text(PREAMBLE + '\n'.join(Builder(seed, device).program() for seed in seeds))
    try:
        process = subprocess.run([vitrine, str(path)], capture_output=True, text=True, errors='replace', stdin=subprocess.DEVNULL, timeout=60 + 10 * len(seeds))
        said, ended = process.stdout, f'status {process.returncode}: ' + ' | '.join((process.stderr.strip().splitlines() or [''])[-3:])[-600:]
    except subprocess.TimeoutExpired as expired:
        said, ended = (expired.stdout or b'').decode(errors='replace'), 'no end in time'
    results = {}
    for line in said.splitlines():
        seed, colon, what = line.partition(': ')
        if colon and seed.isdigit():
            results[int(seed)] = what
    missing = [seed for seed in seeds if seed not in results]
    if missing:
        results[missing[0]] = 'died, ' + ended
        if missing[1:]:
            results.update(run_batch(vitrine, missing[1:], device, folder))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('vitrine')
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--count', type=int, default=60)
    parser.add_argument('--batch', type=int, default=10)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--device', default='cpu')
    parser.add_argument('--show', type=int)
    parser.add_argument('--keep')
    parser.add_argument('--compile-only', action='store_true', help='with --show: nothing is compared (for machines without a card)')
    options = parser.parse_args()
    if options.show is not None:
        print(PREAMBLE.replace('COMPILE_ONLY = False', f'COMPILE_ONLY = {options.compile_only}') + Builder(options.show, options.device).program())
        return 0
    vitrine = os.path.abspath(options.vitrine)
    seeds = list(range(options.first, options.first + options.count))
    batches = [seeds[i:i + options.batch] for i in range(0, len(seeds), options.batch)]
    agreeing = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda batch: run_batch(vitrine, batch, options.device, options.keep or folder), batches):
            for seed, what in sorted(results.items()):
                agreeing += what == 'agrees'
                if what != 'agrees':
                    print(f'{seed}: {what}', flush=True)
    print(f'{agreeing} of {len(seeds)} random programs agree')
    return 0 if agreeing == len(seeds) else 1


if __name__ == '__main__':
    sys.exit(main())
