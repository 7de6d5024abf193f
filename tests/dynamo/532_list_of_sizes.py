# A list of tensors whose sizes change separately.
import torch

@torch.compile
def f(ts):
    return sum(t.sum() * t.shape[0] for t in ts)

for sizes in ((2, 3), (4, 3), (4, 5), (6, 7)):
    print(f([torch.ones(n) for n in sizes]).item())
