# A list of tensors that grows, and an empty one.
import torch

@torch.compile
def f(ts):
    total = torch.zeros(2)
    for t in ts:
        total = total + t
    return total

one = torch.ones(2)
for n in (2, 3, 0, 2):
    print(f([one] * n if n else []).tolist())
