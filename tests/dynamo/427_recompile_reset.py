# torch._dynamo.reset() forgets all entries.
import torch

@torch.compile
def f(x):
    return x + 1

print(f(torch.ones(2)).tolist(), f(torch.ones(3)).tolist())
torch._dynamo.reset()
print(f(torch.ones(4)).tolist(), f(torch.ones(5)).tolist())
