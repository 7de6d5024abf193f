"""The statements of random programs that make views, write through them, and take gradients through both.

In: the variables of a Maker (random_programs.py). Out: `ViewMaker`, a part of it: methods do_view, do_write, do_update, do_fill_op, do_overlap, do_g….

    t1 = t0.as_strided((2, 2), (1, 2), 1);  t1.mul_(2);  t2 = t1.unfold(1, 2, 1)

Invariant: nothing is written through a view of which two indices may be one element, unless PyTorch refuses it; nothing is read while it is
written, unless as a whole.
"""
from common import FLOATS
from shadow import Shadow, broadcast, contiguous_strides, numel

ITEM = {'float64': 8, 'int64': 8, 'float32': 4, 'int32': 4, 'float16': 2, 'bfloat16': 2, 'int16': 2, 'int8': 1, 'uint8': 1, 'bool': 1}
REINTERPRET = {8: ('int64', 'int32', 'int16', 'uint8'), 4: ('int32', 'int16', 'int8', 'uint8'), 2: ('int16', 'int8', 'uint8'), 1: ('int8', 'uint8')}


class ViewMaker:
    # ---- one view of a variable: (shape, stride, offset, expression) ----
    def make_view(self, a):
        makers = [self.view_slice, self.view_transpose, self.view_permute, self.view_select, self.view_unsqueeze, self.view_expand, self.view_strided,
                  self.view_unfold, self.view_diagonal, self.view_reshape, self.view_squeeze, self.view_narrow, self.view_split]
        for _ in range(20):
            made = self.random.pick(makers)(a)
            if made is not None and numel(made[0]) <= 64 and len(made[0]) <= 5:
                return made
        return a.shape, a.stride, a.offset, f'{a.name}.detach()'

    def view_slice(self, a):
        if a.rank == 0:
            return None
        dim, r = self.random.below(a.rank), self.random
        n = a.shape[dim]
        start, stop, step = r.below(n + 1), r.between(0, n + 1), r.pick((1, 1, 2, 3))
        count = max(0, -(-(min(stop, n) - start) // step))
        if count == 0 and r.chance(80):
            return None
        first = str(start - n) if n > 0 and 0 < start < n and r.chance(40) else str(start) if start > 0 or r.chance(50) else ''
        text = f'{first}:{stop}' + (f':{step}' if step > 1 else '')
        shape = a.shape[:dim] + (count,) + a.shape[dim + 1:]
        stride = a.stride[:dim] + (a.stride[dim] * step,) + a.stride[dim + 1:]
        return shape, stride, a.offset + min(start, n) * a.stride[dim], f'{a.name}[{":, " * dim}{text}]'

    def view_transpose(self, a):
        if a.rank < 2:
            return None
        i, j = self.random.shuffled(range(a.rank))[:2]
        order = list(range(a.rank))
        order[i], order[j] = j, i
        word = self.random.pick(('transpose', 'swapaxes', 'transpose'))
        return self.permuted(a, order) + (f'{a.name}.{word}({i}, {j - a.rank})',)

    def view_permute(self, a):
        if a.rank == 0:
            return None
        order = self.random.shuffled(range(a.rank))
        return self.permuted(a, order) + (f'{a.name}.permute({", ".join(map(str, order))})',)

    def permuted(self, a, order):
        return tuple(a.shape[i] for i in order), tuple(a.stride[i] for i in order), a.offset

    def view_select(self, a):
        if a.rank == 0:
            return None
        dim = self.random.below(a.rank)
        if a.shape[dim] == 0:
            return None
        at = self.random.below(a.shape[dim])
        shown = at - a.shape[dim] if self.random.chance(30) else at
        text = self.random.pick((f'{a.name}.select({dim}, {shown})', f'{a.name}[{":, " * dim}{shown}]', f'{a.name}.unbind({dim})[{shown}]'))
        return a.shape[:dim] + a.shape[dim + 1:], a.stride[:dim] + a.stride[dim + 1:], a.offset + at * a.stride[dim], text

    def view_unsqueeze(self, a):
        dim = self.random.below(a.rank + 1)
        step = a.shape[dim] * a.stride[dim] if dim < a.rank else 1
        return a.shape[:dim] + (1,) + a.shape[dim:], a.stride[:dim] + (step,) + a.stride[dim:], a.offset, f'{a.name}.unsqueeze({dim})'

    def view_squeeze(self, a):
        keep = [i for i, n in enumerate(a.shape) if n != 1]
        if len(keep) == a.rank:
            return None
        return self.permuted(a, keep) + (f'{a.name}.squeeze()',)

    def view_expand(self, a):
        shape, stride, r = list(a.shape), list(a.stride), self.random
        words = [str(n) if r.chance(50) else '-1' for n in shape]
        for i, n in enumerate(shape):
            if n == 1 and r.chance(70):
                shape[i], stride[i] = r.between(2, 3), 0
                words[i] = str(shape[i])
        if r.chance(40):
            shape, stride, words = [2] + shape, [0] + stride, ['2'] + words
        if len(shape) == 0:
            return None
        return tuple(shape), tuple(stride), a.offset, f'{a.name}.expand({", ".join(words)})'

    def view_strided(self, a):
        r = self.random
        if a.room == 0 or a.count == 0:
            return None
        rank = r.between(1, 3)
        shape, stride = [r.between(1, 3) for _ in range(rank)], [r.pick((0, 1, 1, 2, 3, 4)) for _ in range(rank)]
        offset = r.below(3)
        while offset + sum((n - 1) * s for n, s in zip(shape, stride)) >= a.room:
            i = r.below(rank)
            shape[i], offset = max(shape[i] - 1, 1), 0
        return tuple(shape), tuple(stride), offset, f'{a.name}.as_strided({tuple(shape)}, {tuple(stride)}, {offset})'

    def view_unfold(self, a):
        if a.rank == 0:
            return None
        dim = self.random.below(a.rank)
        if a.shape[dim] < 1:
            return None
        size = self.random.between(1, min(a.shape[dim], 3))
        step = self.random.between(1, 3)
        count = (a.shape[dim] - size) // step + 1
        shape = a.shape[:dim] + (count,) + a.shape[dim + 1:] + (size,)
        stride = a.stride[:dim] + (a.stride[dim] * step,) + a.stride[dim + 1:] + (a.stride[dim],)
        return shape, stride, a.offset, f'{a.name}.unfold({dim}, {size}, {step})'

    def view_diagonal(self, a):
        if a.rank < 2:
            return None
        i, j = self.random.shuffled(range(a.rank))[:2]
        offset = self.random.between(-1, 1)
        n = max(0, min(a.shape[i], a.shape[j] - offset) if offset >= 0 else min(a.shape[i] + offset, a.shape[j]))
        keep = [d for d in range(a.rank) if d not in (i, j)]
        at = a.offset + (0 if n == 0 else offset * a.stride[j] if offset >= 0 else -offset * a.stride[i])
        shape = tuple(a.shape[d] for d in keep) + (n,)
        return shape, tuple(a.stride[d] for d in keep) + (a.stride[i] + a.stride[j],), at, f'{a.name}.diagonal({offset}, {i}, {j})'

    def view_reshape(self, a):
        if not a.is_contiguous() or a.count == 0:
            return None
        r, left, shape = self.random, a.count, []
        for prime in (2, 3, 5, 2, 2):
            if left % prime == 0 and r.chance(60):
                shape.append(prime)
                left //= prime
        shape.append(left)
        shape = r.shuffled(shape)
        words = [str(n) for n in shape]
        if r.chance(40):
            words[r.below(len(words))] = '-1'
        word = r.pick(('view', 'reshape'))
        return tuple(shape), contiguous_strides(shape), a.offset, f'{a.name}.{word}({", ".join(words)})'

    def view_narrow(self, a):
        if a.rank == 0:
            return None
        dim = self.random.below(a.rank)
        start = self.random.below(a.shape[dim] + 1)
        count = self.random.between(0, a.shape[dim] - start)
        if count == 0 and self.random.chance(80):
            return None
        shape = a.shape[:dim] + (count,) + a.shape[dim + 1:]
        return shape, a.stride, a.offset + start * a.stride[dim], f'{a.name}.narrow({dim}, {start}, {count})'

    def view_split(self, a):
        if a.rank == 0:
            return None
        dim = self.random.below(a.rank)
        n = a.shape[dim]
        if n == 0:
            return None
        size = self.random.between(1, n)
        piece = self.random.below(-(-n // size))
        count = min(size, n - piece * size)
        text = f'torch.split({a.name}, {size}, dim={dim})[{piece}]'
        return a.shape[:dim] + (count,) + a.shape[dim + 1:], a.stride, a.offset + piece * size * a.stride[dim], text

    def do_view(self):
        a = self.any() or self.base()
        if self.random.chance(12) and self.reinterpret(a):
            return
        shape, stride, offset, text = self.make_view(a)
        self.add(a.view(self.name(), shape, stride, offset), text)

    def reinterpret(self, a):
        """view(dtype), where sizes and strides allow it. Reading arbitrary bits as floats is left out: NaN payloads are no one's business."""
        if a.rank == 0 or a.root is not a or not a.is_contiguous() or a.count == 0 or not a.exact:
            return False
        dtype = self.random.pick(REINTERPRET[ITEM[a.dtype]])
        ratio = ITEM[a.dtype] // ITEM[dtype]
        shape = a.shape[:-1] + (a.shape[-1] * ratio,)
        if numel(shape) > 64:
            return False
        made = a.view(self.name(), shape, contiguous_strides(shape), a.offset * ratio, dtype)
        made.room = a.room * ratio
        self.add(made, f'{a.name}.view(torch.{dtype})')
        return True

    def do_probe_view(self):
        a, r = self.any() or self.base(), self.random
        n = a.shape[0] if a.rank > 0 else 1
        self.probe(r.pick((
            f'{a.name}.view(-1)', f'{a.name}.t()', f'{a.name}.view({a.count}, 1).shape', f'{a.name}.reshape(2, -1)', f'{a.name}.expand(3, -1)', f'{a.name}.select(0, {n})',
            f'{a.name}.unsqueeze({a.rank + 1})', f'{a.name}.squeeze({a.rank - 1})', f'{a.name}.permute(0, 0)', f'{a.name}.unfold(0, {n + 1}, 1)', f'{a.name}.narrow(0, 1, {n})',
            f'{a.name}.view(torch.float64).shape', f'{a.name}.view(torch.int16).shape', f'{a.name}.mT', f'{a.name}.flatten(0, 1)', f'{a.name}.as_strided((50,), (9,))', f'{a.name}.split([1, {n}])',
            f'{a.name}.chunk(3)', f'{a.name}.tensor_split(3)', f'{a.name}.unflatten(-1, (2, -1))', f'{a.name}.movedim(0, -1)', f'{a.name}.item()', f'bool({a.name})', f'len({a.name})',
            f'{a.name}.is_contiguous()', f'{a.name}.storage_offset()', f'{a.name}.stride()', f'{a.name}.data_ptr() == {a.root.name}.data_ptr()', f'{a.name}._version', f'int({a.name})')))

    # ---- writes ----
    def writable(self):
        return self.any(lambda v: not v.may_overlap() and v.count > 0)

    def spoil(self, a, exact):
        """What a write makes of the variables that share its storage."""
        for v in self.variables:
            if v.root is a.root and not exact:
                v.exact = False

    def do_write(self):
        a, r = self.writable(), self.random
        if a is None:
            return self.do_base()
        value = self.value(a.dtype)
        self.lines.append(r.pick((f'{a.name}.fill_({value})', f'{a.name}.zero_()', f'{a.name}.copy_({self.source(a)})', f'{a.name}[...] = {self.source(a)}', f'{a.name}.fill_({value})')))

    def source(self, a):
        """An operand that broadcasts to a, of any dtype that casts to a's for any value it has."""
        shape = [1 if self.random.chance(20) else n for n in a.shape[self.random.below(a.rank + 1):]]
        dtype = a.dtype if self.random.chance(60) else self.random.pick(('int64', 'bool', 'int8')) if a.dtype != 'uint8' else 'bool'
        return self.literal(tuple(shape), dtype)

    def do_update(self):
        a, r = self.writable(), self.random
        if a is None:
            return self.do_base()
        b = self.literal(tuple(1 if r.chance(20) else n for n in a.shape), a.dtype if r.chance(50) else r.pick(('bool', 'int8', 'uint8', 'float32', 'float64')))
        if a.dtype == 'bool':
            ops = ('A &= B', 'A |= B', 'A ^= B', 'A.logical_xor_(B)', 'A.add_(B)', 'A.logical_not_()')
        elif a.is_float:
            ops = ('A += B', 'A *= B', 'A.sub_(B, alpha=2)', 'A.div_(B)', 'A.clamp_(-1, 1.5)', 'A.neg_()', 'A.relu_()', 'A.addcmul_(B, B)', 'A -= 0.5', 'A /= 2', 'A.add_(True)', 'A.masked_fill_(A > 1, 9)', 'A.lerp_(A.clone(), 0.5)')
        else:
            ops = ('A += B', 'A *= B', 'A.sub_(B, alpha=2)', 'A.clamp_(-1, 3)', 'A.neg_()', 'A //= 2', 'A %= 3', 'A &= 6', 'A <<= 1', 'A.abs_()', 'A.div_(2)', 'A += 0.5', 'A.bitwise_not_()', 'A.masked_fill_(A > 1, 9)', 'A.eq_(1)')
        line = r.pick(ops).replace('B', b).replace('A', a.name)
        if '=' in line.split('(')[0]:
            target, op, value = line.partition('= ')
            word = {'+': 'add_', '*': 'mul_', '-': 'sub_', '/': 'div_', '//': 'floor_divide_', '%': 'remainder_', '&': 'bitwise_and_', '|': 'bitwise_or_', '^': 'bitwise_xor_', '<<': '__ilshift__'}
            name, sign = target.split(' ')
            if r.chance(50):
                self.lines += ['try:', f'    {line}', 'except Exception as error:', '    print("raises", type(error).__name__)']
                return
            line = f'{name}.{word[sign]}({value})'
        self.probe(line)

    def do_fill_op(self):
        a, r = self.any(lambda v: v.rank > 0 and v.count > 0 and not v.may_overlap()), self.random
        if a is None:
            return self.do_base()
        dim = r.below(a.rank)
        n = a.shape[dim]
        picks = r.shuffled(range(n))[:r.between(1, n)]
        if r.chance(30):
            picks = [p - n for p in picks]
        index = f'torch.tensor({picks})'
        part = a.shape[:dim] + (len(picks),) + a.shape[dim + 1:]
        source = self.literal(part, a.dtype)
        full = tuple(len(picks) if i == dim else m for i, m in enumerate(a.shape))
        places = ', '.join(str(r.below(n)) for _ in range(numel(full)))
        wide = f'torch.tensor([{places}]).reshape({", ".join(map(str, full))})'
        self.probe(r.pick((
            f'{a.name}.index_fill_({dim}, {index}, {self.value(a.dtype)})', f'{a.name}.index_copy_({dim}, {index}, {source})', f'{a.name}.index_add_({dim}, {index}, {source})',
            f'{a.name}.scatter_add_({dim}, {wide}, {source})', f'{a.name}.scatter_({dim}, {wide}, {self.value(a.dtype)})', f'{a.name}.gather({dim}, {wide})',
            f'{a.name}.index_put_(({index},), torch.tensor(1, dtype={a.name}.dtype), accumulate=True)' if a.rank == 1 else f'{a.name}.index_select({dim}, {index})',
            f'{a.name}.scatter_reduce_({dim}, {wide}, {source}, "amax")', f'{a.name}.masked_scatter_({a.name} == {a.name}, {self.literal((a.count,), a.dtype)})',
            f'{a.name}.put_({index}, {self.literal((len(picks),), a.dtype)})' if a.rank == 1 and r.chance(20) else f'torch.take({a.name}, {index})')))

    def do_overlap(self):
        """Writes that PyTorch refuses, or whose operands are the same memory as a whole."""
        r = self.random
        a = self.any(lambda v: v.overlaps())
        if a is not None and r.chance(60):
            return self.probe(r.pick((f'{a.name}.add_(1)', f'{a.name}.zero_()', f'{a.name}.copy_({a.name}.clone())', f'{a.name}.fill_(1)', f'{a.name}.mul_({a.name})')))
        a = self.any(lambda v: v.root is v and v.rank > 0 and v.shape[0] > 1 and v.is_contiguous())
        if a is None:
            return self.do_base()
        self.probe(r.pick((f'{a.name}[1:].add_({a.name}[:-1])', f'{a.name}[1:].copy_({a.name}[:-1])', f'torch.add({a.name}[1:], 1, out={a.name}[:-1])', f'{a.name}.mul_({a.name})',
                           f'torch.add({a.name}, {a.name}, out={a.name})', f'{a.name}[:1].add_({a.name}[1:2])')))

    # ---- gradients ----
    def start_gradient(self):
        self.variables, self.lines, self.made = [], [], 0
        self.leaves = []
        for _ in range(2):
            dtype = self.random.pick(('float64', 'float32', 'float64', 'float32', 'bfloat16'))
            leaf = self.base(self.shape(1, 3), dtype, True)
            self.lines[-1] += '.requires_grad_()'
            leaf.grad = True
            self.leaves.append(leaf)

    def result(self, shape, dtype, text, exact=False):
        return self.add(Shadow(self.name(), shape, dtype, exact=exact, grad=True), text)

    def do_gbinary(self):
        a = self.any()
        b = self.any(lambda v: broadcast(a.shape, v.shape) is not None and numel(broadcast(a.shape, v.shape)) <= 64)
        op = self.random.pick(('A * B', 'A + B', 'A - B * 0.5', 'A / (B * B + 1)', 'torch.maximum(A, B)', 'A * B.sigmoid()', 'torch.where(A > 0, A, B)', 'torch.lerp(A, B, 0.25)'))
        if 'lerp' in op and a.dtype != b.dtype or not (a.exact and b.exact) and ('where' in op or 'maximum' in op):
            op = 'A * B'
        self.result(broadcast(a.shape, b.shape), joined_dtype(a, b), op.replace('A', a.name).replace('B', b.name))

    def do_gunary(self):
        a = self.any()
        op = self.random.pick(('A.relu()', 'A.abs()', 'A.exp()', 'A.tanh()', 'A.clamp(-1, 1)', 'A ** 2', 'A.sigmoid().log()', '(A * A + 1).sqrt()', 'A.sin()', 'A.double()', 'A * 3', '-A', 'A.clone()', 'F.gelu(A)', 'F.softplus(A)'))
        self.result(a.shape, 'float64' if op == 'A.double()' else a.dtype, op.replace('A', a.name))

    def do_gview(self):
        a = self.any()
        shape, stride, offset, text = self.make_view(a)
        made = a.view(self.name(), shape, stride, offset)
        made.grad = True
        self.add(made, text)

    def do_greduce(self):
        a, r = self.any(lambda v: v.count > 0 and v.rank > 0) or self.leaves[0], self.random
        if a.rank == 0 or a.count == 0:
            return
        dim = r.below(a.rank)
        shape = a.shape[:dim] + a.shape[dim + 1:]
        op, kept = r.pick((('sum(D)', shape), ('mean(D)', shape), ('logsumexp(D)', shape), ('softmax(D)', a.shape), ('cumsum(D)', a.shape), ('norm(dim=D)', shape), ('amax(D)', shape), ('log_softmax(D)', a.shape), ('prod(D)', shape), ('sum()', ()), ('flip(D)', a.shape)))
        self.result(kept, a.dtype, f'{a.name}.{op.replace("D", str(dim))}')

    def do_gget(self):
        a = self.any(lambda v: v.rank > 0 and v.count > 0)
        if a is None:
            return
        text, shape, _ = self.make_index(a)
        if numel(shape) <= 64:
            self.result(shape, a.dtype, f'{a.name}[{text}].clone()')

    def do_gmatmul(self):
        a = self.any(lambda v: v.rank == 2 and v.count > 0)
        if a is None:
            return self.do_gunary()
        self.result((a.shape[0], a.shape[0]), a.dtype, f'{a.name} @ {a.name}.t()')

    def do_gwrite(self):
        """A write into a copy or a view of one, which autograd follows; or one that it refuses."""
        a, r = self.any(lambda v: v.count > 0), self.random
        if a is None:
            return
        copy = self.result(a.shape, a.dtype, f'{a.name} * 1.5')
        target = copy
        if r.chance(60) and copy.rank > 0:
            shape, stride, offset, text = self.make_view(copy)
            target = copy.view(self.name(), shape, stride, offset)
            self.add(target, text)
        if target.may_overlap() or target.count == 0:
            return
        b = self.any(lambda v: v.dtype == a.dtype and broadcast(v.shape, target.shape) == target.shape and v.root is not copy)
        self.probe(r.pick(('T.mul_(2)', 'T.add_(B)', 'T.copy_(B)', 'T.zero_()', 'T.relu_()', 'T.fill_(0.5)', 'T.mul_(B)', 'T.exp_()')).replace('T', target.name).replace('B', b.name if b is not None else '0.5' if False else f'torch.ones_like({target.name})'))

    def finish_gradient(self):
        outputs = [v for v in self.variables[2:] if v.count > 0][-3:]
        total = ' + '.join(f'({v.name} * weights({v.name})).sum().double()' for v in outputs) or 'torch.zeros(())'
        self.lines.append(f'attempt("backward", lambda: ({total}).backward())')
        for leaf in self.leaves:
            self.lines.append(f'show("{leaf.name}.grad", {leaf.name}.grad)')


def joined_dtype(a, b):
    order = ('bfloat16', 'float32', 'float64')
    if a.rank == 0 and b.rank > 0:
        return b.dtype
    if b.rank == 0 and a.rank > 0:
        return a.dtype
    return order[max(order.index(a.dtype), order.index(b.dtype))]
