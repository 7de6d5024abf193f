# An unbacked number with torch._check used as a size.
import torch

torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def f(n):
    k = n.item()
    torch._check(k >= 0)
    return torch.ones(k) * 2

print(f(torch.tensor(3)).tolist(), f(torch.tensor(5)).tolist())
