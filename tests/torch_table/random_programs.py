"""Random programs over dtypes, views, writes through views, indexing of every kind, promotion, out= and gradients.

In: a seed. Out: a Program of six to sixteen statements, which shows every variable at its end, so that aliasing is seen.

    random_program(7).text   ->   "t0 = torch.tensor([…], dtype=torch.int8).reshape(2, 3)\\nt1 = t0[:, ::2]\\n…"

Invariant: what is assigned to a variable is predicted to be valid; a statement of which that is not known stands in `attempt`. Values are
quarters, so that floor, comparisons and the like are exact; after rounding ops (`exact` false) no step function follows.
To add a statement: a method `do_NAME` of a maker, and its name in a row of KINDS.
"""
from common import DTYPES, FLOATS, INTEGERS, Program, Random
from indexing import IndexMaker
from shadow import Shadow, broadcast, contiguous_strides, numel
from viewing import ViewMaker

CATEGORY = {'bool': 0, 'uint8': 1, 'int8': 1, 'int16': 1, 'int32': 1, 'int64': 1, 'float16': 2, 'bfloat16': 2, 'float32': 2, 'float64': 2}
ITEM = {'float64': 8, 'int64': 8, 'float32': 4, 'int32': 4, 'float16': 2, 'bfloat16': 2, 'int16': 2, 'int8': 1, 'uint8': 1, 'bool': 1}
WIDTH = {'uint8': 0, 'int8': 1, 'int16': 2, 'int32': 3, 'int64': 4}

# The weights of statements in each kind of program.
KINDS = (
    ('views', ('view', 'view', 'view', 'view', 'write', 'write', 'base', 'unary', 'reduce', 'probe_view')),
    ('indexing', ('get', 'get', 'get', 'set', 'set', 'view', 'base', 'probe_index', 'select_op')),
    ('promotion', ('binary', 'binary', 'binary', 'scalar', 'compare', 'base', 'cast', 'choose', 'out', 'update')),
    ('writes', ('view', 'view', 'update', 'update', 'write', 'set', 'fill_op', 'overlap', 'out', 'base')),
    ('shapes', ('join', 'reduce', 'reduce', 'sort', 'scan', 'matmul', 'view', 'binary', 'base', 'arrange')),
    ('gradient', ('gbinary', 'gunary', 'gview', 'greduce', 'gwrite', 'gget', 'gmatmul', 'gbinary')),
)


def promoted(a, b):
    """The dtype of an op over two tensors with dims."""
    if a == b:
        return a
    if CATEGORY[a] != CATEGORY[b]:
        return a if CATEGORY[a] > CATEGORY[b] else b
    if CATEGORY[a] == 2:
        return 'float32' if {a, b} == {'float16', 'bfloat16'} else (a if ITEM[a] > ITEM[b] else b)
    if 'uint8' in (a, b):
        other = b if a == 'uint8' else a
        return 'int16' if other == 'int8' else other
    return a if WIDTH[a] > WIDTH[b] else b


def joined(a, b):
    """The dtype of an op over two variables: one with dims goes before one without, within a category."""
    if a.rank == 0 and b.rank > 0 and CATEGORY[a.dtype] <= CATEGORY[b.dtype]:
        return b.dtype
    if b.rank == 0 and a.rank > 0 and CATEGORY[b.dtype] <= CATEGORY[a.dtype]:
        return a.dtype
    return promoted(a.dtype, b.dtype)


class Maker(IndexMaker, ViewMaker):
    def __init__(self, seed):
        self.random = Random(seed)
        self.lines, self.variables, self.made = [], [], 0
        self.kind, self.statements = KINDS[seed % len(KINDS)]

    # ---- lines and names ----
    def name(self):
        self.made += 1
        return f't{self.made - 1}'

    def add(self, shadow, expression):
        self.lines.append(f'{shadow.name} = {expression}')
        self.variables.append(shadow)
        return shadow

    def probe(self, expression):
        """A statement whose success is PyTorch's to decide. It must not change a variable's layout."""
        self.lines.append(f'attempt("p{len(self.lines)}", lambda: {expression})')

    def any(self, test=lambda v: True):
        found = [v for v in self.variables if test(v)]
        return self.random.pick(found) if found else None

    # ---- values ----
    def shape(self, low=0, high=4):
        r = self.random
        rank = r.pick((0, 1, 1, 2, 2, 2, 2, 3, 3, 4))
        rank = min(max(rank, low), high)
        shape = [r.pick((1, 2, 2, 3, 3, 4, 5)) for _ in range(rank)]
        while numel(shape) > 24:
            shape[r.below(rank)] = r.pick((1, 2))
        if rank > 0 and r.chance(4):
            shape[r.below(rank)] = 0
        return tuple(shape)

    def value(self, dtype, plain=False):
        r = self.random
        if dtype == 'bool':
            return r.pick(('True', 'False'))
        if dtype in FLOATS:
            if not plain and r.chance(6):
                return r.pick(('math.inf', '-math.inf', 'math.nan', '-0.0'))
            return repr((r.below(25) - 12) / 4)
        if dtype == 'uint8':
            return str(r.pick((0, 1, 2, 3, 7, 100, 200, 255)))
        return str(r.pick((-128, 127)) if r.chance(8) else r.between(-6, 9))

    def literal(self, shape, dtype, plain=False):
        values = ', '.join(self.value(dtype, plain) for _ in range(numel(shape)))
        if len(shape) == 0:
            return f'torch.tensor({values}, dtype=torch.{dtype})'
        text = f'torch.tensor([{values}], dtype=torch.{dtype})'
        return text if len(shape) == 1 else f'{text}.reshape({", ".join(map(str, shape))})'

    def base(self, shape=None, dtype=None, plain=False):
        dtype = dtype or self.random.pick(DTYPES)
        shape = self.shape() if shape is None else shape
        return self.add(Shadow(self.name(), shape, dtype), self.literal(shape, dtype, plain))

    def do_base(self):
        self.base()

    def partner(self, shape, dtype=None):
        """A shape that broadcasts with the given one."""
        r = self.random
        shape = list(shape[r.below(len(shape) + 1):]) if r.chance(40) else list(shape)
        shape = [1 if r.chance(25) else n for n in shape]
        return self.base(tuple(shape), dtype)

    # ---- pointwise ----
    def pair(self, test=lambda v: True):
        a = self.any(test) or self.base()
        others = [v for v in self.variables if test(v) and broadcast(a.shape, v.shape) is not None and numel(broadcast(a.shape, v.shape)) <= 64]
        return a, (self.random.pick(others) if others and self.random.chance(60) else self.partner(a.shape))

    def do_binary(self):
        a, b = self.pair(lambda v: v.exact)
        dtype, r = joined(a, b), self.random
        shape = broadcast(a.shape, b.shape)
        if dtype == 'bool':
            op, result = r.pick((('a + b', dtype), ('a * b', dtype), ('a & b', dtype), ('a | b', dtype), ('a ^ b', dtype), ('torch.maximum(a, b)', dtype), ('a / b', 'float32')))
        elif CATEGORY[dtype] == 1:
            op, result = r.pick((('a + b', dtype), ('a - b', dtype), ('a * b', dtype), ('a & b', dtype), ('a ^ b', dtype), ('torch.minimum(a, b)', dtype),
                                 ('a / (b | 1)', 'float32'), ('a // (b | 1)', dtype), ('a % (b | 1)', dtype), ('torch.fmod(a, b | 1)', dtype),
                                 ('torch.div(a, b | 1, rounding_mode="trunc")', dtype), ('torch.add(a, b, alpha=3)', dtype)))
            if 'b | 1' in op and CATEGORY[b.dtype] == 0 or 'bool' in (a.dtype, b.dtype) and op in ('a - b',):
                op, result = 'a + b', dtype
        else:
            op, result = r.pick((('a + b', dtype), ('a - b', dtype), ('a * b', dtype), ('a / b', dtype), ('a // b', dtype), ('a % b', dtype),
                                 ('torch.fmod(a, b)', dtype), ('torch.maximum(a, b)', dtype), ('torch.fmin(a, b)', dtype), ('torch.sub(a, b, alpha=2)', dtype),
                                 ('torch.div(a, b, rounding_mode="trunc")', dtype), ('torch.copysign(a, b)', dtype)))
            if 'bool' in (a.dtype, b.dtype) and op in ('a - b', 'torch.sub(a, b, alpha=2)'):
                op = 'a + b'
        text = op.replace('(a,', f'({a.name},').replace(' b,', f' {b.name},').replace(' b)', f' {b.name})').replace('(b ', f'({b.name} ').replace(', b |', f', {b.name} |')
        text = f'{a.name}{text[1:]}' if text.startswith('a ') else text
        text = f'{text[:-1]}{b.name}' if text.endswith(' b') else text
        self.add(Shadow(self.name(), shape, result), text)

    def do_scalar(self):
        a, r = self.any(lambda v: v.exact) or self.base(), self.random
        number = r.pick(('2', '3', '-1', '0.5', '2.5', 'True', '-0.25', '7'))
        category = 2 if '.' in number else 0 if number == 'True' else 1
        op = r.pick(('+', '*', '-', '//', '%', '/')) if category > 0 and a.dtype != 'bool' else r.pick(('+', '*'))
        dtype = a.dtype if CATEGORY[a.dtype] >= category else 'float32' if category == 2 else 'int64'
        if op == '/' and CATEGORY[dtype] < 2:
            dtype = 'float32'
        text = f'{a.name} {op} {number}' if r.chance(60) or op in ('//', '%', '/') else f'{number} {op} {a.name}'
        self.add(Shadow(self.name(), a.shape, dtype), text)

    def do_compare(self):
        a, b = self.pair(lambda v: v.exact)
        op = self.random.pick(('<', '<=', '==', '!=', '>', '>='))
        self.add(Shadow(self.name(), broadcast(a.shape, b.shape), 'bool'), f'{a.name} {op} {b.name}')

    def do_choose(self):
        a, b = self.pair()
        shape = broadcast(a.shape, b.shape)
        mask = self.base(shape, 'bool')
        self.add(Shadow(self.name(), shape, joined(a, b), exact=a.exact and b.exact), f'torch.where({mask.name}, {a.name}, {b.name})')

    def do_cast(self):
        a, r = self.any(lambda v: v.exact) or self.base(), self.random
        dtype = r.pick(DTYPES)
        if a.is_float and dtype not in FLOATS:  # a number that the integer has, as others are not defined
            self.add(Shadow(self.name(), a.shape, dtype), f'torch.nan_to_num({a.name}, nan=1.0, posinf=5.0, neginf=2.0).clamp(-100, 100).abs().to(torch.{dtype})')
        else:
            self.add(Shadow(self.name(), a.shape, dtype), f'{a.name}.to(torch.{dtype})')

    def do_unary(self):
        a, r = self.any() or self.base(), self.random
        if a.is_float:
            op, exact = r.pick((('neg', 1), ('abs', 1), ('relu', 1), ('floor', 0), ('sqrt', 1), ('exp', 0), ('sigmoid', 0), ('square', 1), ('sign', 0), ('trunc', 0), ('isnan', 0), ('sin', 0)))
            if not a.exact and op in ('floor', 'trunc', 'sign'):
                op = 'tanh'
            dtype = 'bool' if op == 'isnan' else a.dtype
            self.add(Shadow(self.name(), a.shape, dtype, exact=a.exact and (op not in ('exp', 'sigmoid', 'sin', 'tanh'))), f'{a.name}.{op}()')
        elif a.dtype != 'bool':
            op = r.pick(('neg', 'abs', 'square', 'bitwise_not', 'sign', 'relu', 'exp', 'sqrt', 'logical_not', 'floor'))
            dtype = 'float32' if op in ('exp', 'sqrt') else 'bool' if op == 'logical_not' else a.dtype
            self.add(Shadow(self.name(), a.shape, dtype, exact=op not in ('exp', 'sqrt')), f'{a.name}.{op}()')
        else:
            op = r.pick(('logical_not', 'bitwise_not', 'sigmoid'))
            self.add(Shadow(self.name(), a.shape, 'float32' if op == 'sigmoid' else 'bool', exact=op != 'sigmoid'), f'{a.name}.{op}()')

    # ---- reductions, scans, sorts, joins ----
    def do_reduce(self):
        a, r = self.any(lambda v: v.count > 0) or self.base((2, 3)), self.random
        dims = sorted(r.shuffled(range(a.rank))[:r.between(1, a.rank)]) if a.rank > 0 and r.chance(75) else None
        keep = dims is not None and r.chance(40)
        op = r.pick(('sum', 'sum', 'amax', 'amin', 'mean', 'any', 'all', 'prod', 'argmax', 'max', 'std', 'norm', 'count_nonzero', 'logsumexp'))
        if op in ('mean', 'std', 'norm', 'logsumexp') and not a.is_float:
            op = 'sum'
        if op in ('prod', 'argmax', 'max') and dims is not None:
            dims = dims[:1]
        if op == 'logsumexp' and dims is None or op in ('argmax', 'max') and a.dtype == 'bool':
            op = 'amax'
        where = '' if dims is None else (str(dims[0]) if len(dims) == 1 else str(tuple(dims))) if r.chance(80) else f'dim={tuple(d - a.rank for d in dims)}' if len(dims) > 1 else f'dim={dims[0] - a.rank}'
        where = where + (', keepdim=True' if keep and op != 'count_nonzero' else '')
        if op == 'norm':
            where = 'dim=' + str(tuple(dims)) + (', keepdim=True' if keep else '') if dims is not None else ''
        keep = keep and op != 'count_nonzero'
        removed = range(a.rank) if dims is None else dims
        shape = tuple(1 if i in removed else n for i, n in enumerate(a.shape) if keep or i not in removed)
        integral = not a.is_float
        dtype = 'bool' if op in ('any', 'all') else 'int64' if op in ('argmax', 'count_nonzero') or integral and op in ('sum', 'prod') else a.dtype
        if op in ('any', 'all') and a.dtype == 'uint8':
            dtype = 'uint8'
        if op in ('argmax', 'count_nonzero', 'any', 'all') and not a.exact:
            op, dtype = 'amax', a.dtype
        exact = a.exact and (integral or op in ('amax', 'amin', 'any', 'all', 'argmax', 'max'))
        text = f'{a.name}.{op}({where})'
        if op == 'max' and dims is not None:
            text += '.values' if r.chance(50) else '[0]'
        self.add(Shadow(self.name(), shape, dtype, exact=exact), text)

    def do_scan(self):
        a, r = self.any(lambda v: v.rank > 0) or self.base((2, 3)), self.random
        op, dim = r.pick(('cumsum', 'cumprod', 'cummax', 'flip', 'diff')), r.below(a.rank)
        if op == 'diff' and a.shape[dim] < 2 or op == 'cummax' and a.dtype == 'bool':
            op = 'cumsum'
        if op == 'diff':
            shape = tuple(n - 1 if i == dim else n for i, n in enumerate(a.shape))
            self.add(Shadow(self.name(), shape, a.dtype, exact=a.exact), f'{a.name}.diff(dim={dim})')
        elif op == 'flip':
            self.add(Shadow(self.name(), a.shape, a.dtype, exact=a.exact), f'{a.name}.flip({dim})')
        elif op == 'cummax':
            self.add(Shadow(self.name(), a.shape, a.dtype, exact=a.exact), f'{a.name}.cummax({dim}).values')
        else:
            dtype = a.dtype if a.is_float else 'int64'
            self.add(Shadow(self.name(), a.shape, dtype, exact=a.exact and not a.is_float), f'{a.name}.{op}({dim})')

    def do_sort(self):
        a, r = self.any(lambda v: v.rank > 0 and v.count > 0 and v.exact) or self.base((2, 3)), self.random
        dim = r.below(a.rank)
        op = r.pick((f'sort({dim}, stable=True)', f'sort(dim={dim}, descending=True, stable=True)', f'argsort(dim={dim}, stable=True)', f'topk({max(a.shape[dim] - 1, 1)}, dim={dim})[0]'))
        if a.dtype == 'bool' and 'topk' in op:
            op = f'sort({dim}, stable=True)'
        self.probe(f'{a.name}.{op}')

    def do_join(self):
        a, r = self.any(lambda v: v.rank > 0) or self.base((2, 3)), self.random
        dim = r.below(a.rank)
        shape = tuple(r.between(0, 2) if i == dim else n for i, n in enumerate(a.shape))
        b = self.base(shape)
        if r.chance(70):
            total = tuple(n + m if i == dim else n for i, (n, m) in enumerate(zip(a.shape, shape)))
            self.add(Shadow(self.name(), total, promoted(a.dtype, b.dtype), exact=a.exact), f'torch.cat([{a.name}, {b.name}], dim={dim - a.rank if r.chance(30) else dim})')
        else:
            b = self.base(a.shape)
            total = a.shape[:dim] + (2,) + a.shape[dim:]
            self.add(Shadow(self.name(), total, promoted(a.dtype, b.dtype), exact=a.exact), f'torch.stack([{a.name}, {b.name}], dim={dim})')

    def do_matmul(self):
        r = self.random
        k, dtype = r.between(1, 4), r.pick(('float32', 'float64', 'float32', 'int64', 'bfloat16'))
        left, right, out = r.pick((((2, k), (k, 3), (2, 3)), ((k,), (k,), ()), ((k,), (k, 2), (2,)), ((2, k), (k,), (2,)), ((2, 3, k), (k, 2), (2, 3, 2)), ((2, 1, 2, k), (3, k, 2), (2, 3, 2, 2)), ((k,), (2, k, 3), (2, 3))))
        a, b = self.base(left, dtype, True), self.base(right, dtype, True)
        self.add(Shadow(self.name(), out, dtype, exact=dtype == 'int64'), f'{a.name} @ {b.name}')

    def do_arrange(self):
        a, r = self.any(lambda v: v.rank >= 2) or self.base((2, 3)), self.random
        op = r.pick(('tril()', 'triu(1)', 'repeat(2, *[1] * A.dim())', 'roll(1, 0)', 'roll((1, -1), (0, 1))', 'flip(0, 1)', 'rot90()', 'tril(-1)', 'repeat_interleave(2, dim=1)', 'repeat_interleave(2)', 'diagonal().diag_embed()'))
        self.probe(f'{a.name}.{op.replace("A", a.name)}')

    # ---- out= ----
    def do_out(self):
        a, b = self.pair(lambda v: v.exact)
        r, shape = self.random, broadcast(a.shape, b.shape)
        target = self.base(shape if r.chance(75) else self.shape(), r.pick(DTYPES) if r.chance(50) else joined(a, b))
        op = r.pick(('add', 'mul', 'maximum', 'eq', 'bitwise_and', 'logical_or', 'lt'))
        self.lines.append(f'attempt("out", lambda: torch.{op}({a.name}, {b.name}, out={target.name}) is {target.name})')
        self.lines.append(f'show("target", {target.name})')
        self.variables.remove(target)

    # ---- the whole ----
    def make(self):
        for _ in range(2):
            self.base()
        if self.kind == 'gradient':
            self.start_gradient()
        for _ in range(self.random.between(5, 11)):
            getattr(self, 'do_' + self.random.pick(self.statements))()
        if self.kind == 'gradient':
            self.finish_gradient()
        for v in self.variables:
            self.lines.append(f'show("{v.name}", {v.name})')
        return '\n'.join(self.lines)


def random_program(seed):
    maker = Maker(seed)
    return Program(f'random/{seed}-{maker.kind}', maker.make())
