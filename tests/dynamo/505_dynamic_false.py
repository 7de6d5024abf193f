# dynamic=False: every size is an entry.
import torch

@torch.compile(dynamic=False)
def f(x):
    return x + x.shape[0]

for n in (2, 3, 4, 2):
    print(f(torch.ones(n)).tolist())
