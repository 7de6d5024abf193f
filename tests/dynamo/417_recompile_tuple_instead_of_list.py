# A tuple in place of a list, a subclass of dict in place of a dict.
import collections
import torch

@torch.compile
def f(c):
    return c[0] + c[1]

t = torch.ones(2)
print(f([t, t * 2]).tolist(), f((t, t * 2)).tolist(), f({0: t, 1: t * 2}).tolist(), f(collections.OrderedDict([(0, t), (1, t * 2)])).tolist())
