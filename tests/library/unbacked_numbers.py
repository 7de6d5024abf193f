# Numbers that only the graph knows: config.capture_scalar_outputs and capture_dynamic_output_shape_ops, compiled and eager: the same values and gradients.
import torch
import torch._dynamo

torch._dynamo.config.capture_scalar_outputs = True
torch._dynamo.config.capture_dynamic_output_shape_ops = True


def plain(v):
    if isinstance(v, torch.Tensor):
        return v.tolist()
    return [plain(item) for item in v] if isinstance(v, (list, tuple)) else v


def outcome(f, args):
    try:
        return plain(f(*args))
    except Exception as e:
        return type(e).__name__


def check(f, *inputs, backend="inductor"):
    torch._dynamo.reset()
    compiled = torch.compile(f, backend=backend)
    for args in inputs:
        want, got = outcome(f, [a.clone() for a in args]), outcome(compiled, [a.clone() for a in args])
        assert str(want) == str(got), (f.__name__, want, got)


def floats(*rows):
    return [(torch.tensor(row),) for row in rows]


def times_sum(x):
    n = x.sum().item()
    return x * n + 1, n, n + 1, n * 2 - 3, -1.5 + n, n / 4


def integer_tensor_times_float(x):
    n = x.float().mean().item()
    return x * n, x.sum() + n, n * x.float().sum()


def double_times_item(x):
    n = x.max().item()
    return x.double() * n, x.double().sum() * n


def branches(x):
    n = x.sum().item()
    if n > 3:
        return x * 2
    return x - 1


def compared(x):
    n = x.sum().item()
    big = n > 3
    return x + 1, big


def divided(x):
    return x * 2, 1 / x.sum().item()


def whole(x):
    k = x.long().sum().item()
    return x + k, k, k * 2 + 1, k // 2, torch.full((2,), 1.0) * k


def sized(n):
    k = n.item()
    torch._check(k >= 0)
    return torch.ones(k) * 2, torch.arange(k) + 1, torch.zeros(k, 2).shape[0]


def sized_later(n):
    k = (n + 1).item()
    torch._check(k >= 0, lambda: f"{k} is negative")
    torch._check(k < 100)
    return torch.ones(k) * 2, torch.arange(k).sum()


def sliced(x, n):
    k = (n + 0).item()
    torch._check_is_size(k)
    torch._check(k <= x.shape[0])
    return x[:k] * 2, x[k:].sum()


def positions(x):
    i = torch.nonzero(x)
    return i * 2, i.shape[0], i.shape[0] + 1, i.sum() + i.shape[0]


def masked(x):
    y = x[x > 0]
    return y * y, y.sum(), y.shape


def masked_twice(x):
    y = x[x > 0]
    z = y[y < 3]
    return z + 1, (y * 2).sum(), torch.masked_select(y, y > 1)


def branch_on_count(x):
    y = x[x > 0] * 2
    if y.shape[0] > 2:
        return y + 100
    return y - 100


def loop_on_count(x):
    i = torch.nonzero(x)
    out = x * 1
    for _ in range(i.shape[0]):
        out = out + 1
    return out


def others(x):
    return torch.unique(x) * 2, torch.bincount(x.long()) + 1, torch.repeat_interleave(x, x.long()) + 1, torch.where(x > 1)[0] * 3, torch.argwhere(x)


def prints_count(x):
    y = x[x > 0]
    print("count", y.shape[0])
    return y + 1


def changed_in_place(x):
    y = x + 1
    i = torch.nonzero(y)
    y.add_(1)
    return y, i * 2


def item_of_changed_input(n, x):
    n.add_(1)
    return x * n.item(), n * 2


def changed_after(x):
    s, t = x.long().sum(), x.double().sum()
    k, n = s.item(), t.item()
    s.add_(1)
    t.mul_(2)
    return x + k, k, n, s, t, x * n


rows = floats([0.0, 1.0, 2.0, 0.0, 3.0], [1.0, 1.0, 2.0, 5.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 7.0, 0.0, 0.0], [0.5, -1.0, 2.0, 4.0, 0.0])
for f in (times_sum, double_times_item, branches, compared, divided, whole, positions, masked, masked_twice, branch_on_count, loop_on_count, prints_count, changed_in_place, changed_after):
    for backend in ("inductor", "eager", "aot_eager"):
        check(f, *rows, backend=backend)
check(others, *rows[:4])
check(integer_tensor_times_float, *[(torch.tensor(row),) for row in ([1, 2, 3], [4, 5, 6])])
check(sized, *[(torch.tensor(n),) for n in (3, 5, 2, 1, 0, -1)])
check(sized_later, *[(torch.tensor(n),) for n in (3, 5, 2, 0, -1, -2, 120)])
check(sliced, *[(torch.arange(6.0), torch.tensor(n)) for n in (3, 5, 2, 0, 6, 7)])
check(item_of_changed_input, *[(torch.tensor(n), torch.ones(2)) for n in (3, 5)])


def loss(x):
    y = x * 2
    chosen = y[y > 1]
    return (chosen * chosen).sum() * y.max().item()


def gradients(f, row):
    x = torch.tensor(row, requires_grad=True)
    f(x).backward()
    return x.grad.tolist()


torch._dynamo.reset()
compiled = torch.compile(loss)
for row in ([0.0, 1.0, 2.0, 0.0, 3.0], [1.0, 1.0, 2.0, 5.0, 3.0], [0.0, 0.0, 7.0, 0.0, 0.0], [0.0] * 5):
    assert gradients(loss, row) == gradients(compiled, row), (row, gradients(loss, row), gradients(compiled, row))


# fullgraph=True takes both without the settings.
torch._dynamo.config.capture_scalar_outputs = False
torch._dynamo.config.capture_dynamic_output_shape_ops = False
torch._dynamo.reset()
whole_graph = torch.compile(lambda x: (x * x.sum().item(), torch.nonzero(x) + 1), fullgraph=True)
for row in rows:
    assert plain(whole_graph(*row)) == plain((row[0] * row[0].sum().item(), torch.nonzero(row[0]) + 1))
for condition, error in ((torch._check, RuntimeError), (torch._check_value, ValueError), (torch._check_index, IndexError), (torch._check_type, TypeError)):
    condition(True)
    try:
        condition(1 > 2, lambda: "not so")
    except error as e:
        assert str(e) == "not so"
    else:
        assert False
print("ok")
