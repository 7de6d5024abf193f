# Three inputs with equal sizes that later differ.
import torch

@torch.compile
def f(a, b, c):
    return a.sum() + b.sum() * 10 + c.sum() * 100

for sizes in ((2, 2, 2), (3, 3, 3), (3, 4, 3), (5, 6, 7), (4, 4, 5)):
    print(f(*[torch.ones(n) for n in sizes]).item())
