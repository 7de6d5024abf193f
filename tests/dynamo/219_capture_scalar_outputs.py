# config.capture_scalar_outputs keeps .item() in the graph, without a break.
import torch

torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def f(x):
    n = x.sum().item()
    return x * n + 1

for k in (1, 2):
    print(f(torch.arange(3).float() * k).tolist())
