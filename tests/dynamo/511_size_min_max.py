# min, max and abs of sizes.
import torch

@torch.compile
def f(x, y):
    n = min(x.shape[0], y.shape[0])
    m = max(x.shape[0], 4)
    return x[:n] + y[:n] + m

for n, m in ((3, 5), (6, 4), (7, 9), (9, 7)):
    print(f(torch.ones(n), torch.ones(m)).tolist())
