# Sums, products, floor division and powers of sizes in tensor arithmetic.
import torch

@torch.compile
def f(x):
    n, m = x.shape
    return x * (n + m) - n * m + n // 2 + (n - m) ** 2

for n, m in ((4, 3), (6, 3), (7, 5), (9, 2)):
    print(f(torch.ones(n, m)).sum().item())
