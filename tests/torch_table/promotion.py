"""Promotion: the result's dtype of every binary op over all pairs of dtypes and kinds of scalars, casts, and what may be written in place and to out=.

In: nothing. Out: `promotion_programs()`.

    add f64: f64 f64 f64 f64 f64 …     one line a dtype of the left operand, one word a dtype of the right one
"""
from common import Program

OPS = ('add', 'sub', 'mul', 'div', 'floor_divide', 'true_divide', 'remainder', 'fmod', 'pow', 'maximum', 'minimum', 'fmax', 'fmin', 'atan2', 'hypot', 'copysign', 'xlogy', 'logaddexp', 'eq', 'lt', 'ge', 'ne',
       'logical_and', 'logical_xor', 'bitwise_and', 'bitwise_or', 'bitwise_xor', 'bitwise_left_shift', 'bitwise_right_shift', 'heaviside', 'isclose', 'rsub', 'float_power', 'ldexp', 'nextafter', 'gcd')

KINDS = '''
def kind(function):
    try:
        value = function()
    except Exception as error:
        return type(error).__name__[:4]
    return SHORT[value.dtype] + ":" + number(flat(value.tolist())[0], "f16")
def row(label, functions):
    print(label, " ".join([kind(f) for f in functions]))
'''

TEXT = '''
OP = torch.NAME
left = [torch.tensor([3]).to(d) for d in DTYPES]
right = [torch.tensor([2, 1]).to(d) for d in DTYPES]
zero = [torch.tensor(2).to(d) for d in DTYPES]
for a in left:
    row(SHORT[a.dtype], [lambda b=b: OP(a, b) for b in right])
for a in zero:
    row("0-dim " + SHORT[a.dtype], [lambda b=b: OP(a, b) for b in left])
for a in zero:
    row("both " + SHORT[a.dtype], [lambda b=b: OP(a, b) for b in zero])
for s in (True, 2, 2.5):
    row("scalar " + str(s), [lambda a=a: OP(a, s) for a in left])
    row("0-dim scalar " + str(s), [lambda a=a: OP(a, s) for a in zero])
    row("reversed " + str(s), [lambda a=a: OP(s, a) for a in left])
'''

INPLACE = ('add_', 'sub_', 'mul_', 'div_', 'floor_divide_', 'remainder_', 'pow_', 'bitwise_and_', 'logical_or_', 'eq_', 'copy_', 'fmod_', 'atan2_', 'copysign_', 'lt_')

INPLACE_TEXT = '''
for d in DTYPES:
    row(SHORT[d], [lambda e=e: torch.tensor([3, 5]).to(d).NAME(torch.tensor([2]).to(e)) for e in DTYPES])
for d in DTYPES:
    row("0-dim " + SHORT[d], [lambda e=e: torch.tensor([3, 5]).to(d).NAME(torch.tensor(2).to(e)) for e in DTYPES])
for d in DTYPES:
    row("into 0-dim " + SHORT[d], [lambda e=e: torch.tensor(3).to(d).NAME(torch.tensor(2).to(e)) for e in DTYPES])
for s in (True, 2, 2.5):
    row("scalar " + str(s), [lambda d=d: torch.tensor([3, 5]).to(d).NAME(s) for d in DTYPES])
'''

OUT_TEXT = '''
for d in DTYPES:
    row(SHORT[d], [lambda e=e: CALL for e in DTYPES])
'''

OUTS = (('add', 'torch.add(torch.tensor([3]).to(d), torch.tensor([2]).to(d), out=torch.zeros(1, dtype=e))'), ('div', 'torch.div(torch.tensor([3]).to(d), torch.tensor([2]).to(d), out=torch.zeros(1, dtype=e))'),
        ('eq', 'torch.eq(torch.tensor([3]).to(d), torch.tensor([2]).to(d), out=torch.zeros(1, dtype=e))'), ('exp', 'torch.exp(torch.tensor([3]).to(d), out=torch.zeros(1, dtype=e))'), ('abs', 'torch.abs(torch.tensor([3]).to(d), out=torch.zeros(1, dtype=e))'),
        ('sum', 'torch.sum(torch.tensor([3, 4]).to(d), 0, out=torch.zeros((), dtype=e))'), ('mm', 'torch.mm(torch.tensor([[3]]).to(d), torch.tensor([[2]]).to(d), out=torch.zeros(1, 1, dtype=e))'), ('cat', 'torch.cat([torch.tensor([3]).to(d), torch.tensor([3]).to(d)], out=torch.zeros(2, dtype=e))'),
        ('where', 'torch.where(torch.tensor([True]), torch.tensor([3]).to(d), torch.tensor([2]).to(e))'), ('cat_pair', 'torch.cat([torch.tensor([3]).to(d), torch.tensor([3]).to(e)])'), ('stack_pair', 'torch.stack([torch.tensor([3]).to(d), torch.tensor([3]).to(e)])'), ('to', 'torch.tensor([3]).to(d).to(e)'), ('type_as', 'torch.tensor([3]).to(d).type_as(torch.zeros(1, dtype=e))'),
        ('result_type', 'torch.zeros((), dtype=torch.result_type(torch.zeros(1, dtype=d), torch.zeros((), dtype=e)))'), ('promote_types', 'torch.zeros((), dtype=torch.promote_types(d, e))'), ('can_cast', 'torch.tensor(torch.can_cast(d, e))'), ('sum_dtype', 'torch.tensor([3, 4]).to(d).sum(dtype=e)'), ('cumsum_dtype', 'torch.tensor([3, 4]).to(d).cumsum(0, dtype=e)'), ('prod_dtype', 'torch.tensor([3, 4]).to(d).prod(dtype=e)'),
        ('mean_dtype', 'torch.tensor([3, 4]).to(d).mean(dtype=e)'), ('matmul', 'torch.tensor([[3]]).to(d) @ torch.tensor([[2]]).to(e)'), ('dot', 'torch.tensor([3]).to(d).dot(torch.tensor([2]).to(e))'), ('bmm', 'torch.bmm(torch.ones(1, 2, 2).to(d), torch.ones(1, 2, 2).to(e))'), ('addmm', 'torch.addmm(torch.ones(2, 2).to(d), torch.ones(2, 2).to(e), torch.ones(2, 2).to(e))'), ('linear', 'F.linear(torch.ones(2, 2).to(d), torch.ones(2, 2).to(e))'), ('lerp', 'torch.lerp(torch.tensor([3]).to(d), torch.tensor([5]).to(e), 0.5)'),
        ('addcmul', 'torch.addcmul(torch.tensor([3]).to(d), torch.tensor([5]).to(e), torch.tensor([5]).to(e))'), ('addcdiv', 'torch.addcdiv(torch.tensor([3]).to(d), torch.tensor([5]).to(e), torch.tensor([5]).to(e))'), ('index_put', 'torch.zeros(2, dtype=d).index_put((torch.tensor([1]),), torch.tensor([3]).to(e))'), ('setitem_mask', 'torch.zeros(2, dtype=d).masked_fill_(torch.tensor([True, False]), torch.tensor(3).to(e))'), ('index_add', 'torch.zeros(2, dtype=d).index_add(0, torch.tensor([0]), torch.tensor([3]).to(e))'),
        ('scatter', 'torch.zeros(2, dtype=d).scatter(0, torch.tensor([0]), torch.tensor([3]).to(e))'), ('scatter_add', 'torch.zeros(2, dtype=d).scatter_add(0, torch.tensor([0]), torch.tensor([3]).to(e))'), ('clamp', 'torch.clamp(torch.tensor([3]).to(d), torch.tensor([1]).to(e), torch.tensor([2]).to(e))'), ('index', 'torch.arange(2).to(d)[torch.tensor([1]).to(e)]'), ('gather', 'torch.arange(2).to(d).gather(0, torch.tensor([1]).to(e))'), ('searchsorted', 'torch.searchsorted(torch.arange(4).to(d), torch.tensor([2]).to(e))'),
        ('mse', 'F.mse_loss(torch.tensor([3]).to(d), torch.tensor([1]).to(e))'), ('l1', 'F.l1_loss(torch.tensor([3]).to(d), torch.tensor([1]).to(e))'), ('bce', 'F.binary_cross_entropy(torch.tensor([1]).to(d), torch.tensor([1]).to(e))'), ('bce_logits', 'F.binary_cross_entropy_with_logits(torch.tensor([1]).to(d), torch.tensor([1]).to(e))'), ('cross_entropy', 'F.cross_entropy(torch.tensor([[1, 2]]).to(d), torch.tensor([1]).to(e))'), ('view', 'torch.zeros(8, dtype=d).view(e)'), ('isin', 'torch.isin(torch.tensor([3]).to(d), torch.tensor([3]).to(e))'), ('outer', 'torch.outer(torch.tensor([3]).to(d), torch.tensor([3]).to(e))'),
        ('setitem', 'assigned(torch.zeros(2, dtype=d), torch.tensor([3, 4]).to(e))'), ('setitem_index', 'assigned_at(torch.zeros(2, dtype=d), torch.tensor([0]), torch.tensor([3]).to(e))'), ('masked_scatter', 'torch.zeros(2, dtype=d).masked_scatter(torch.tensor([True, False]), torch.tensor([3]).to(e))'), ('embedding', 'F.embedding(torch.tensor([1]).to(e), torch.ones(2, 2).to(d))'), ('bucketize', 'torch.bucketize(torch.tensor([2]).to(d), torch.arange(4).to(e))'))

ASSIGN = '''
def assigned(t, value):
    t[:] = value
    return t
def assigned_at(t, index, value):
    t[index] = value
    return t
'''

# One operand and no second one: the dtype that a function gives for each dtype.
SINGLE = ('abs(a)', 'neg(a)', 'exp(a)', 'sqrt(a)', 'floor(a)', 'round(a)', 'sign(a)', 'sum(a)', 'prod(a)', 'mean(a)', 'std(a)', 'max(a)', 'argmax(a)', 'any(a)', 'all(a)', 'cumsum(a, 0)', 'cumprod(a, 0)', 'norm(a)', 'sort(a)[0]', 'square(a)', 'reciprocal(a)', 'bitwise_not(a)', 'logical_not(a)',
          'relu(a)', 'sigmoid(a)', 'tanh(a)', 'softmax(a, 0)', 'logsumexp(a, 0)', 'clamp(a, 0, 1)', 'clamp(a, 0.5, 1.5)', 'clamp(a, min=1)', 'nan_to_num(a)', 'trunc(a)', 'ceil(a)', 'frac(a)', 'diff(a)', 'median(a)', 'amax(a)', 'nansum(a)', 'count_nonzero(a)', 'unique(a)', 'bincount(a)', 'topk(a, 1)[0]', 'tril(a.reshape(1, 2))', 'flip(a, [0])', 'zeros_like(a)',
          'full_like(a, 2.5)', 'full_like(a, True)', 'rand_like(a) * 0', 'arange(a[1])', 'dot(a, a)', 'mm(a.reshape(1, 2), a.reshape(2, 1))', 'matmul(a, a)', 'einsum("i,i->", a, a)', 'where(a > 1, a, 2.5)', 'where(a > 1, 2, a)', 'where(a > 1, 1, 2.5)', 'lerp(a, a, 0.5)', 'isnan(a)', 'signbit(a)', 'erf(a)', 'rsqrt(a)', 'log1p(a)', 'deg2rad(a)', 'var(a)', 'logcumsumexp(a, 0)',
          'nn.functional.gelu(a)', 'nn.functional.elu(a)', 'nn.functional.leaky_relu(a)', 'nn.functional.softplus(a)', 'nn.functional.hardtanh(a)', 'nn.functional.relu6(a)', 'nn.functional.silu(a)', 'nn.functional.hardswish(a)', 'nn.functional.hardsigmoid(a)', 'nn.functional.mish(a)', 'nn.functional.softsign(a)', 'nn.functional.logsigmoid(a)', 'nn.functional.hardshrink(a)', 'nn.functional.softshrink(a)', 'nn.functional.threshold(a, 1, 2)', 'nn.functional.selu(a)',
          'nn.functional.celu(a)', 'nn.functional.layer_norm(a, (2,))', 'nn.functional.log_softmax(a, 0)', 'nn.functional.normalize(a, dim=0)', 'nn.functional.one_hot(a)', 'nn.functional.pad(a, (1, 1))', 'nn.functional.tanhshrink(a)', 'nn.functional.dropout(a, 0.5, False)', 'isin(a, 2)', 'aminmax(a)[0]', 'cummax(a, 0)[0]', 'quantile(a, 0.5)', 'kthvalue(a, 1)[0]', 'histc(a, 3)', 'trapezoid(a)', 'roll(a, 1)', 'cov(a)')

LITERALS = ('True', '1', '2.5', '[1, 2]', '[1, 2.5]', '[True, 2]', '[True, False]', '[True, 2.5]', '[]', '[[1], [2.0]]', 'math.nan', '[torch.tensor(1), 2]', 'torch.tensor(3.0)', '2**40', '-2**63', '[float(1)]', '1e400', '[[1, 2], [3]]', '[None]', '"a"', 'range(3)', '(1, 2)', '[(1, 2), (3, 4)]')


def promotion_programs():
    made = [Program(f'promotion/{name}', KINDS + TEXT.replace('NAME', name)) for name in OPS]
    made += [Program(f'promotion/{name}', KINDS + INPLACE_TEXT.replace('NAME', name)) for name in INPLACE]
    made += [Program(f'promotion/pair_{name}', KINDS + (ASSIGN if 'assigned' in call else '') + OUT_TEXT.replace('CALL', call)) for name, call in OUTS]
    for i in range(0, len(SINGLE), 12):
        lines = ''.join(f"row({call!r}, [lambda a=a: torch.{call} for a in values])\n" for call in SINGLE[i:i + 12])
        made.append(Program(f'promotion/single_{i // 12}', KINDS + 'values = [torch.tensor([1, 2]).to(d) for d in DTYPES]\n' + lines))
    lines = ''.join(f'attempt({text!r}, lambda: torch.tensor({text}))\n' for text in LITERALS)
    made.append(Program('promotion/literals', lines))
    lines = ''.join(f'attempt("{d}", lambda: torch.tensor({text}, dtype=torch.{d}))\n' for text in ('[0, 1, 2, 255]', '[0.5, -1.5, 2.0]', '[True, False]', '300', '-1', 'math.inf', '1e10') for d in ('float32', 'float16', 'bfloat16', 'int64', 'int32', 'int8', 'uint8', 'bool'))
    made.append(Program('promotion/literals_to', lines))
    return made
