# A closure cell that the function itself increases.
import torch

def make():
    n = 0

    @torch.compile
    def f(x):
        nonlocal n
        n += 1
        return x + n

    return f

f = make()
for _ in range(4):
    print(f(torch.zeros(2)).tolist())
