# Comparison, slicing, unpacking and concatenation of shapes; new_zeros of a shape; sizes that change.
import torch

@torch.compile
def f(x, y):
    same = x.shape == y.shape
    lead = x.shape[:-1]
    z = x.new_zeros(*lead, 2)
    w = torch.ones((*x.shape[1:], 3))
    return z.sum() + w.sum() + (1 if same else 10), tuple(lead), len(x.shape)

for a, b in (((2, 3), (2, 3)), ((4, 3), (4, 3)), ((5, 3), (6, 3)), ((7, 3), (7, 3))):
    y, lead, n = f(torch.ones(a), torch.ones(b))
    print(y.item(), lead, n)
