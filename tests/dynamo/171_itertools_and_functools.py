# itertools.chain, product, islice, accumulate, count; functools.partial and reduce.
import functools
import itertools
import torch

def weigh(a, b, k):
    return a + b * k

@torch.compile
def f(x):
    for i in itertools.chain([1, 2], (3,)):
        x = x + i
    for i, j in itertools.product([1, 2], [3, 4]):
        x = x + i * j
    for v in itertools.islice(itertools.count(5), 2):
        x = x + v
    p = functools.partial(weigh, k=10)
    return p(x, functools.reduce(lambda a, b: a * b, [1, 2, 3]))

print(f(torch.arange(3).float()).tolist())
