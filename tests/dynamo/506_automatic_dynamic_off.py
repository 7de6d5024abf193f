# config.automatic_dynamic_shapes = False.
import torch

torch._dynamo.config.automatic_dynamic_shapes = False

@torch.compile
def f(x):
    return x + 1

for n in (2, 3, 4):
    print(f(torch.ones(n)).tolist())
