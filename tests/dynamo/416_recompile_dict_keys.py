# A dict with other keys, another order, more keys of which only one is read.
import torch

@torch.compile
def f(d):
    return d["a"] * 2

@torch.compile
def g(d):
    total = 0
    for k, v in d.items():
        total = total * 2 + v
    return total

t, u = torch.ones(2), torch.ones(2) * 3
for d in ({"a": t}, {"a": t, "b": u}, {"b": u, "a": t}):
    print(f(d).tolist(), g(d).tolist())
