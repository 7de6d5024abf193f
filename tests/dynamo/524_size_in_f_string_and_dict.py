# A size as a dict key and in an f-string once it is dynamic.
import torch

@torch.compile
def f(x):
    name = f"n{x.shape[0]}"
    table = {2: 10, 3: 20, 4: 30}
    return x + table[x.shape[0]], name

for n in (2, 3, 4):
    y, name = f(torch.ones(n))
    print(y.tolist(), name)
