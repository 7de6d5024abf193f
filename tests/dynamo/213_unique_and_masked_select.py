# unique, masked_select and boolean indexing.
import torch

@torch.compile
def f(x):
    a = torch.unique(x)
    b = torch.masked_select(x, x > 1)
    c = x[x > 0]
    return a + 1, b * 2, c.sum()

for v in ([0.0, 1.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]):
    print([t.tolist() for t in f(torch.tensor(v))])
