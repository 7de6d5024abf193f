# config.assume_static_by_default = False.
import torch

torch._dynamo.config.assume_static_by_default = False

@torch.compile
def f(x):
    return x + x.shape[0]

for n in (2, 3, 4):
    print(f(torch.ones(n)).tolist())
