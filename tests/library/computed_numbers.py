# Numbers that follow from symbolic sizes and ints: one graph serves all sizes, and its results are eager's.
import math
import torch
import torch._dynamo.testing


def check(f, calls, graphs):
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(f, backend=counter)
    for args in calls:
        want, got = f(*args), compiled(*args)
        assert torch._dynamo.testing.same(want, got), (args, want, got)
        if isinstance(want, torch.Tensor):
            assert want.dtype == got.dtype, (want.dtype, got.dtype)
    assert counter.frame_count == graphs, counter.frame_count


def sized(*shapes):
    return [(torch.arange(math.prod(s)).float().reshape(s) + 1,) for s in shapes]


lines = sized((2,), (3,), (5,), (7,))
squares = sized((2, 3), (3, 4), (5, 6), (7, 8))
check(lambda x: x * (1 / x.shape[0]), lines, 2)
check(lambda x: x.sum() * (1 / x.shape[0]), lines, 2)
check(lambda x: x.half() * (x.shape[0] / 3), lines, 2)
check(lambda x: x.long() * (x.shape[0] / 3), lines, 2)
check(lambda x: x / math.sqrt(x.shape[-1]), squares, 2)
check(lambda x: (x @ x.T) * x.shape[1] ** -0.5, squares, 2)
check(lambda x: x[: int(x.shape[0] * 0.5)] + 1, sized((4,), (6,), (9,), (12,)), 2)
check(lambda x: x + (x.shape[0] & 3) + (x.shape[0] ^ 1) + (x.shape[0] << 2) + (x.shape[0] >> 1), lines, 2)
check(lambda x: x * math.log2(x.shape[0]) + math.floor(x.shape[0] / 2) + math.ceil(x.shape[0] / 2), lines, 2)
check(lambda x: x * abs(x.shape[0] / 2 - 2) + (-(x.shape[0] / 2)), lines, 2)
check(lambda x: (x * 1, x.shape[0] / 2, float(x.shape[0]), round(x.shape[0] * 1.26, 1)), lines, 2)
check(lambda x, n: x[n // 2] * (n / 2) + int(n / 3), [(torch.arange(20).float(), n) for n in (4, 6, 9, 12)], 2)
# a question is guarded by its answer
check(lambda x: x + 1 if x.shape[0] / 2 > 2.6 else x - 1, sized((2,), (3,), (5,), (7,), (4,), (8,)), 3)
# what needs the number itself makes the size a constant
check(lambda x: x + len(str(x.shape[0] / 2)), lines, 4)
check(lambda x: sum([x[i] for i in range(int(x.shape[0] / 2))]), sized((4,), (5,), (6,)), 3)


# over a break, and in a derivative
def broken(x):
    s = 1 / x.shape[0]
    torch._dynamo.graph_break()
    return x * s + s


torch._dynamo.reset()
compiled = torch.compile(broken)
for (x,) in lines:
    assert torch.allclose(compiled(x), broken(x))
squared = torch.compile(lambda x: (x * x * (1 / x.shape[0])).sum())
for n in (2, 3, 5):
    x = torch.ones(n, requires_grad=True)
    squared(x).backward()
    assert torch.allclose(x.grad, torch.full((n,), 2 / n))
for n in (2, 4, 5):  # Python's error is the program's
    try:
        assert torch.compile(lambda x: x * (x.shape[0] / (x.shape[0] - 4)))(torch.ones(n)).shape == (n,)
        assert n != 4
    except ZeroDivisionError:
        assert n == 4
print("ok")
