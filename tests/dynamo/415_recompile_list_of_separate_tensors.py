# Separate tensors in the list, then the same tensor twice.
import torch

@torch.compile
def f(ts):
    return ts[0] * 10 + ts[1]

a, b = torch.ones(2), torch.ones(2) * 2
print(f([a, b]).tolist(), f([a, a]).tolist(), f([b, a]).tolist())
