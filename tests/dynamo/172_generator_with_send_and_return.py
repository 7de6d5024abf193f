# A generator with send, a return value and yield from while tracing.
import torch

def inner(x):
    got = yield x + 1
    yield x * got
    return 7

def outer(x):
    r = yield from inner(x)
    yield x + r

@torch.compile
def f(x):
    g = outer(x)
    a = next(g)
    b = g.send(5)
    c = next(g)
    return a + b * 10 + c * 100

print(f(torch.arange(3).float()).tolist())
