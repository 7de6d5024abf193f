# functools.wraps, lru_cache, partial of a method, nullcontext and suppress around tensor work.
import contextlib
import functools
import torch

def twice(g):
    @functools.wraps(g)
    def inner(*args, **kwargs):
        return g(*args, **kwargs) * 2
    return inner

@twice
def add(x, k=1):
    return x + k

@functools.lru_cache
def table(n):
    return n * n

@torch.compile
def f(x):
    y = add(x, k=3)
    with contextlib.nullcontext():
        y = y + table(4)
    return y

print(f(torch.arange(3).float()).tolist())
